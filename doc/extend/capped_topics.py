# SPDX-License-Identifier: BSD-3-Clause
"""Topics in a plain array; each topic holds a limited number of tokens."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from streamtopics.families import dirichlet
from streamtopics.kernels import rows


@dataclass
class CappedTopics:
    """Topics of at most `capacity` tokens. The prior eta has the shape (n_words, n_components)."""

    offers: ClassVar[frozenset[str]] = frozenset({"divergences", "alpha"})
    eta: np.ndarray
    alpha: np.ndarray
    capacity: float
    lam: np.ndarray | None = None
    n_batches: int = 0
    n_documents: int = 0
    n_tokens: float = 0.0
    seed: int = 0

    def __post_init__(self):
        self.lam = self.eta if self.lam is None else self.lam
        self.n_nodes, self.shape, self.xi = len(self.alpha), self.eta.shape, None
        self.mass, self.prior_mass = self.lam.sum(axis=0), self.eta.sum(axis=0)
        self.boosted_mass = self.prior_part = self.prior_mass
        self.learnt_part = self.mass - self.prior_part
        self.knows_nothing = np.allclose(self.lam, self.eta)
        self.dense, self.pooled = self.lam.copy, np.sum

    def after(self, blend):  # the posterior as it would be after `blend`
        s = blend.statistics
        lam = blend.retain * self.lam + (blend.prior + blend.boost) * self.eta
        lam[s.words] += blend.gain * s.counts
        kept = np.minimum(1.0, self.capacity / (lam - self.eta).sum(axis=0))
        return replace(
            self, lam=self.eta + kept * (lam - self.eta), n_batches=self.n_batches + 1,
            n_documents=self.n_documents + s.n_documents, n_tokens=self.n_tokens + s.n_tokens,
            alpha=self.alpha if blend.alpha is None else blend.alpha,
        )  # fmt: skip

    def divergences(self, blend):  # from lam and from eta, each with the boost added
        q, boost = self.after(blend).lam.T, blend.boost * self.eta
        return dirichlet.kl(q, (self.lam + boost).T), dirichlet.kl(q, (self.eta + boost).T)

    def blend(self, blend, swaps=()):  # writes all fields in one call that cannot be interrupted
        own = [(vars(self), *item) for item in vars(self.after(blend)).items()]
        rows.write([], [*own, *swaps])

    def rows(self, words):  # LDA reads only these rows, and those of the prior
        return self.lam[words]

    def prior_rows(self, words):
        return self.eta[words]
