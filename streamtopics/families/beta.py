# SPDX-License-Identifier: BSD-3-Clause
"""The beta family: the Dirichlet family of two outcomes.

The density is proportional to x^(a-1) (1-x)^(b-1). The natural parameter is (a, b), counts of both
outcomes with the prior's counts; the statistics are (log x, log(1 - x)).

Examples
--------
>>> import numpy as np
>>> from streamtopics.families import beta
>>> eta = beta.from_parameters([1.0, 2.0], 3.0)
>>> eta
array([[1., 3.],
       [2., 3.]])
>>> a, b = beta.parameters(eta)
>>> a / (a + b)
array([0.25, 0.4 ])
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta as beta_distribution

from streamtopics.families import dirichlet
from streamtopics.families.dirichlet import expected_statistics as expected_statistics
from streamtopics.families.dirichlet import kl as kl
from streamtopics.families.dirichlet import log_normalizer as log_normalizer
from streamtopics.families.dirichlet import mass as mass


def from_parameters(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """The natural parameter (a, b)."""
    return np.stack(np.broadcast_arrays(a, b), axis=-1).astype(np.float64)


def parameters(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    eta = np.asarray(eta, dtype=np.float64)
    return eta[..., 0], eta[..., 1]


def marginals(eta: np.ndarray) -> dict[str, Any]:
    return {"probability": beta_distribution(*parameters(eta))}


def valid(eta: np.ndarray) -> np.ndarray:
    """Whether a and b are positive and finite, and the last axis has length 2."""
    return dirichlet.valid(eta) & (np.shape(eta)[-1] == 2)
