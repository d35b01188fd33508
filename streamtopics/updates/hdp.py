# SPDX-License-Identifier: BSD-3-Clause
"""Weights of the topics of a hierarchical Dirichlet process, from numbers of tables.

In the Chinese restaurant franchise a table of a document stands for one draw from the
weights pi of the topics, so that with S_k tables of topic k in all the documents

    (pi_1 .. pi_T, pi_u) ~ Dirichlet(S_1 .. S_T, concentration),

where pi_u is what is left for topics not represented. The running tables follow the
same affine rule as lam.
"""

from dataclasses import dataclass

import numpy as np

from streamtopics.updates.doc_topic import Fixed


@dataclass(frozen=True)
class Tables(Fixed):
    """What is remembered are the running tables; the weights are set once lam has moved."""

    def memory_size(self, n_components: int) -> int:
        """A number for each topic."""
        return n_components


def mean_weights(tables: np.ndarray, concentration: float) -> np.ndarray:
    """E[pi_k] under that Dirichlet: the M-step, and one that cannot lower the likelihood."""
    return tables / (tables.sum() + concentration)


def stick_weights(tables: np.ndarray, concentration: float) -> np.ndarray:
    """prod of E[sticks] where pibar_k ~ Beta(1 + S_k, concentration + sum_{j>k} S_j)."""
    a = 1 + tables
    b = concentration + np.cumsum(tables[::-1])[::-1] - tables
    stick = a / (a + b)
    return stick * np.cumprod(np.append(1.0, 1 - stick[:-1]))
