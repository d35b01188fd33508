# SPDX-License-Identifier: BSD-3-Clause
"""Several posteriors of topics over the same words, which an update changes together.

Each block has priors, documents and a start of its own. Over all blocks the topics are
counted flat, in the order of the blocks, and so are the coefficients of an update and the
masses: rules read and write this posterior as they do a `LazyPosterior`. Only the first
blocks are boosted; what a boost compares masses over are their topics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from streamtopics.messages import Statistics
from streamtopics.posterior import Blend, LazyPosterior, Proposal, blend_together

COEFFICIENTS = ("retain", "gain", "prior", "boost")


@dataclass(frozen=True)
class StatisticsOfBlocks:
    """What a minibatch says, block by block.

    Attributes
    ----------
    blocks : tuple of Statistics
        Of the documents of each block; the last block has a part in all of them.
    """

    blocks: tuple[Statistics, ...]

    @property
    def n_documents(self) -> int:
        return self.blocks[-1].n_documents

    @property
    def n_tokens(self) -> float:
        return self.blocks[-1].n_tokens

    @cached_property
    def mass(self) -> np.ndarray:
        """Expected number of tokens of each topic, of shape (n_components,)."""
        return np.concatenate([block.mass for block in self.blocks])


class BlockPosterior:
    """Dirichlet parameters of topics that come in blocks.

    Parameters
    ----------
    blocks : sequence of LazyPosterior
        Of the same words. The last one sees all documents.
    n_boosted : int
        How many of them, the first, a boost adds to.
    """

    def __init__(self, blocks: Sequence[LazyPosterior], n_boosted: int):
        self.blocks = tuple(blocks)
        self.n_boosted = n_boosted

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of words and of topics."""
        return self.blocks[0].shape[0], sum(block.shape[1] for block in self.blocks)

    @property
    def n_nodes(self) -> int:
        """Distributions that make up the posterior: one for each topic."""
        return self.shape[1]

    @property
    def places(self) -> list[slice]:
        """Where the topics of each block are among all."""
        ends = np.cumsum([0, *(block.shape[1] for block in self.blocks)]).tolist()
        return [slice(*ends) for ends in pairwise(ends)]

    def pooled(self, mass: np.ndarray) -> float:
        """What the topics that are boosted have together, of masses of each."""
        return float(mass[: self.places[self.n_boosted].start].sum())

    @property
    def alpha(self) -> np.ndarray:
        """Dirichlet parameters of the documents' proportions within each block."""
        return np.concatenate([block.alpha for block in self.blocks])

    @property
    def n_batches(self) -> int:
        """Minibatches blended in so far."""
        return self.blocks[-1].n_batches

    @property
    def n_documents(self) -> int:
        """Documents blended in so far."""
        return self.blocks[-1].n_documents

    @property
    def n_tokens(self) -> float:
        """Tokens blended in so far."""
        return self.blocks[-1].n_tokens

    @property
    def boosted_mass(self) -> np.ndarray:
        """Sum over the words of what a boost adds, for each topic."""
        return np.concatenate([block.boosted_mass for block in self.blocks])

    @property
    def prior_part(self) -> np.ndarray:
        """Mass in each topic that is owed to the prior and to its boosts."""
        return np.concatenate([block.prior_part for block in self.blocks])

    @property
    def learnt_part(self) -> np.ndarray:
        """Mass in each topic that was learnt."""
        return np.concatenate([block.learnt_part for block in self.blocks])

    @property
    def mass(self) -> np.ndarray:
        """Sum of lam over the words, for each topic."""
        return np.concatenate([block.mass for block in self.blocks])

    def dense(self) -> np.ndarray:
        """The whole of lam, of shape (n_words, n_components)."""
        return np.concatenate([block.dense() for block in self.blocks], axis=1)

    def after(self, blend: Blend) -> ProposalOfBlocks:
        """The rows and masses that lam would have after `blend`."""
        return ProposalOfBlocks(
            tuple(block.after(part) for block, part in self._parts(blend)), self.alpha
        )

    def blend(self, blend: Blend) -> None:
        """Carry out an update in all blocks, or in none."""
        blend_together(self._parts(blend))

    def _parts(self, blend: Blend) -> list[tuple[LazyPosterior, Blend]]:
        """Each block and its part of the update."""
        flat = {name: np.broadcast_to(getattr(blend, name), self.n_nodes) for name in COEFFICIENTS}
        parts = []
        for i, (block, place) in enumerate(zip(self.blocks, self.places, strict=True)):
            own = {name: values[place] for name, values in flat.items()}
            if i >= self.n_boosted:
                own["boost"] = 0.0
            parts.append((block, replace(blend, statistics=blend.statistics.blocks[i], **own)))
        return parts


@dataclass(frozen=True)
class ProposalOfBlocks:
    """Blocks as they would stand after a blend that was not carried out.

    Attributes
    ----------
    blocks : tuple of Proposal
    alpha : ndarray of shape (n_components,)
        As before it.
    """

    blocks: tuple[Proposal, ...]
    alpha: np.ndarray
