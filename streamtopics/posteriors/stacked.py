# SPDX-License-Identifier: BSD-3-Clause
"""Several posteriors of topics over the same words, which an update changes together.

Each part has priors, documents and a start of its own. Over all parts the topics are
counted flat, in the order of the parts, and so are the coefficients of an update and the
masses: rules read and write this posterior as they do a `TopicPosterior`. Only the first
parts are boosted; a boost compares masses over their topics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from streamtopics.posteriors.protocol import Blend, Swap
from streamtopics.posteriors.topics import Proposal, TopicPosterior, blend_together, forget_together

COEFFICIENTS = ("retain", "gain", "prior", "boost")


class Stacked:
    """Dirichlet parameters of topics that come in parts.

    Parameters
    ----------
    parts : sequence of TopicPosterior
        Of the same words. The last one sees all documents.
    n_boosted : int
        How many of them, the first, a boost adds to.
    """

    _holds = (
        "self: V K; parts: V *; n_nodes: =K; prior_mass: K >0; boosted_mass: K >0; n_boosted: >=0"
    )
    offers: ClassVar[frozenset[str]] = frozenset({"divergences", "slopes"})

    def __init__(self, parts: Sequence[TopicPosterior], n_boosted: int):
        self.parts = tuple(parts)
        self.n_boosted = n_boosted
        # Places of the topics of each part among all.
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
        """Carry out an update in all parts, or in none."""
        if blend.noise is not None or blend.alpha is not None:
            raise ValueError("posteriors side by side take no noise, and their alpha stays")
        blend_together(self._split(blend), swaps)

    def forget(self, words: np.ndarray, swaps: Sequence[Swap] = ()) -> None:
        """Leave of words the prior's part, in all parts."""
        parts = [(part, part.never_seen(words)) for part in self.parts]
        forget_together(parts, words, swaps)

    def _split(self, blend: Blend) -> list[tuple[TopicPosterior, Blend]]:
        flat = {name: np.broadcast_to(getattr(blend, name), self.n_nodes) for name in COEFFICIENTS}
        split = []
        for i, (part, place) in enumerate(zip(self.parts, self.places, strict=True)):
            own: dict[str, Any] = {name: values[place] for name, values in flat.items()}
            if i >= self.n_boosted:
                own["boost"] = 0.0
            split.append((part, replace(blend, statistics=blend.statistics.parts[i], **own)))
        return split


@dataclass(frozen=True)
class SideBySideProposal:
    """Parts as they would stand after a blend that was not carried out; alpha is as before."""

    parts: tuple[Proposal | TopicPosterior, ...]
    alpha: np.ndarray

    @property
    def mass(self) -> np.ndarray:
        return np.concatenate([part.mass for part in self.parts])
