# SPDX-License-Identifier: BSD-3-Clause
"""Several posteriors of topics over the same words, with common updates.

Topics and coefficients are flat arrays over all parts. Only the first `n_boosted` parts are
boosted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from streamtopics.posteriors.protocol import Blend, Swap
from streamtopics.posteriors.topics import Proposal, TopicPosterior, blend_together, forget_together


class Stacked:
    """Several posteriors of topics, used as one; the last part sees all documents."""

    _holds = (
        "self: V K; parts: V *; n_nodes: =K; prior_mass: K >0; boosted_mass: K >0; n_boosted: >=0"
    )
    offers: ClassVar[frozenset[str]] = frozenset({"divergences", "slopes"})

    def __init__(self, parts: Sequence[TopicPosterior], n_boosted: int):
        self.parts = tuple(parts)
        self.n_boosted = n_boosted
        # Places of the topics of each part among all topics.
        ends = np.cumsum([0, *(part.n_nodes for part in self.parts)]).tolist()
        self.places = [slice(*ends) for ends in pairwise(ends)]
        self.n_nodes: int = ends[-1]
        self.shape = self.parts[0].shape[0], self.n_nodes
        self.seed = self.parts[-1].seed
        self.prior_mass = np.concatenate([part.prior_mass for part in self.parts])
        self.boosted_mass = np.concatenate([part.boosted_mass for part in self.parts])

    def pooled(self, mass: np.ndarray) -> float:
        return float(mass[: self.places[self.n_boosted].start].sum())

    @property
    def alpha(self) -> np.ndarray:
        return np.concatenate([part.alpha for part in self.parts])

    @property
    def n_batches(self) -> int:
        return self.parts[-1].n_batches

    @property
    def n_documents(self) -> int:
        return self.parts[-1].n_documents

    @property
    def n_tokens(self) -> float:
        return self.parts[-1].n_tokens

    @property
    def prior_part(self) -> np.ndarray:
        return np.concatenate([part.prior_part for part in self.parts])

    @property
    def learnt_part(self) -> np.ndarray:
        return np.concatenate([part.learnt_part for part in self.parts])

    @property
    def mass(self) -> np.ndarray:
        return np.concatenate([part.mass for part in self.parts])

    def dense(self) -> np.ndarray:
        return np.concatenate([part.dense() for part in self.parts], axis=1)

    def after(self, blend: Blend) -> SideBySideProposal:
        parts = tuple(part.after(own) for part, own in self._split(blend))
        return SideBySideProposal(parts, self.alpha)

    def divergences(self, blend: Blend) -> tuple[np.ndarray, np.ndarray]:
        found = [part.divergences(own) for part, own in self._split(blend)]
        from_posterior, from_prior = (np.concatenate(side) for side in zip(*found, strict=True))
        return from_posterior, from_prior

    def slopes(self, blend: Blend) -> Callable[[np.ndarray], np.ndarray]:
        found = [part.slopes(own) for part, own in self._split(blend)]
        places = self.places

        def slope(rho: np.ndarray) -> np.ndarray:
            pairs = zip(found, places, strict=True)
            return np.concatenate([of_part(rho[place]) for of_part, place in pairs])

        return slope

    def blend(self, blend: Blend, swaps: Sequence[Swap] = ()) -> None:
        blend_together(self._split(blend), swaps)

    def forget(self, words: np.ndarray, swaps: Sequence[Swap] = ()) -> None:
        parts = [(part, part.never_seen(words)) for part in self.parts]
        forget_together(parts, words, swaps)

    def _split(self, blend: Blend) -> list[tuple[TopicPosterior, Blend]]:
        coefficients = blend.retain, blend.gain, blend.prior, blend.boost
        flat = [np.broadcast_to(values, self.n_nodes) for values in coefficients]
        split = []
        for i, (part, place) in enumerate(zip(self.parts, self.places, strict=True)):
            retain, gain, prior, boost = (values[place] for values in flat)
            own = Blend(retain, gain, prior, blend.statistics.parts[i], blend.alpha, blend.noise)
            split.append((part, replace(own, boost=boost) if i < self.n_boosted else own))
        return split


@dataclass(frozen=True)
class SideBySideProposal:
    parts: tuple[Proposal | TopicPosterior, ...]
    alpha: np.ndarray

    @property
    def mass(self) -> np.ndarray:
        return np.concatenate([part.mass for part in self.parts])
