# SPDX-License-Identifier: BSD-3-Clause
"""Views: the weights that a local step sees instead of the topics' posterior.

A view is a function (rows, mass, out) that turns rows of lam, and its sums over
all words, into weights of words in topics. A factor for each word cancels in
every local step; it is chosen such that the largest weight of each row is 1.
"""

import numpy as np
from scipy.special import digamma

from streamtopics.kernels import rows as kernel
from streamtopics.kernels import variational


def geometric_mean(rows: np.ndarray, mass: np.ndarray, out: np.ndarray) -> None:
    """exp(E[log beta]) under q(beta | lam): the Bayesian view."""
    variational.exp_digamma_rows(rows, digamma(mass), out)


def mean(rows: np.ndarray, mass: np.ndarray, out: np.ndarray) -> None:
    """E[beta] = lam / mass, which is the M-step's beta: the frequentist view."""
    kernel.scale_rows(rows, 1.0 / mass, out)
