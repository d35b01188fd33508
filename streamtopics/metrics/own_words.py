# SPDX-License-Identifier: BSD-3-Clause
"""Words of a document that come again: of N observed tokens, n of them w, and p(w) by its topics,

    p(w | document) = (weight p(w) + n) / (weight + N),

as a Dirichlet process of concentration `weight`, in tokens, predicts if each observed token is a
draw; with one topic the Dirichlet compound multinomial (Madsen, Kauchak and Elkan 2005, ICML).
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.optimize import minimize_scalar

# Logarithms of weights that are tried; with the greatest the topics predict alone.
LOG_WEIGHTS = (-5.0, 25.0)


class OwnWords(NamedTuple):
    """Probabilities and counts of held-out words; each array has shape (n_entries,)."""

    probability: np.ndarray
    n: np.ndarray
    total: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, probability: np.ndarray, observed: sparse.csr_matrix, held_out: Any) -> Self:
        """Look up what was observed of the held-out words, in CSR."""
        row = np.repeat(np.arange(held_out.shape[0]), np.diff(held_out.indptr))
        # Of no entries there is a sparse matrix.
        n = np.asarray(observed[row, held_out.indices] if len(row) else [], np.float64)
        total = np.asarray(observed.sum(axis=1, dtype=np.float64)).reshape(-1)[row]
        return cls(probability, n.reshape(-1), total, held_out.data.astype(np.float64))

    def log_probability(self, weight: float) -> float:
        """Log probability of the held-out tokens, in nats."""
        with np.errstate(divide="ignore"):
            logs = np.log((weight * self.probability + self.n) / (weight + self.total))
        return float(self.counts @ logs)

    def fitted_weight(self) -> float:
        """Return the weight under which the held-out tokens are likeliest."""
        found = minimize_scalar(
            lambda log: -self.log_probability(np.exp(log)), bounds=LOG_WEIGHTS, method="bounded"
        )
        return float(np.exp(found.x))
