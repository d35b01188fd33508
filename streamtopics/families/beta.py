# SPDX-License-Identifier: BSD-3-Clause
"""The beta family: the Dirichlet family of two outcomes.

The natural parameter is (a, b), counts of both outcomes with those of the prior; the
statistics are (log x, log(1 - x)).

Source: Johnson, Kotz and Balakrishnan (1995), "Continuous univariate distributions",
volume 2, chapter 25.
"""

import numpy as np

from streamtopics.families import dirichlet
from streamtopics.families.dirichlet import expected_statistics, kl, log_normalizer, mass

__all__ = [
    "expected_statistics",
    "from_parameters",
    "kl",
    "log_normalizer",
    "mass",
    "parameters",
    "valid",
]


def from_parameters(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The natural parameter (a, b).

    Parameters
    ----------
    a, b : array-like of shapes that broadcast
        The density is proportional to x^(a-1) (1-x)^(b-1).

    Returns
    -------
    eta : ndarray of shape (..., 2)

    Examples
    --------
    >>> from streamtopics.families import beta
    >>> beta.from_parameters([1.0, 2.0], 3.0)
    array([[1., 3.],
           [2., 3.]])
    """
    return np.stack(np.broadcast_arrays(a, b), axis=-1).astype(np.float64)


def parameters(eta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a and b.

    Parameters
    ----------
    eta : ndarray of shape (..., 2)

    Returns
    -------
    a, b : ndarrays of shape (...)

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.families import beta
    >>> a, b = beta.parameters(np.array([[1.0, 3.0], [2.0, 3.0]]))
    >>> a / (a + b)
    array([0.25, 0.4 ])
    """
    eta = np.asarray(eta, dtype=np.float64)
    return eta[..., 0], eta[..., 1]


def valid(eta: np.ndarray) -> np.ndarray:
    """Whether a and b are positive and finite, and nothing else is there.

    Parameters
    ----------
    eta : ndarray of shape (..., n)

    Returns
    -------
    valid : ndarray of shape (...), bool

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.families import beta
    >>> beta.valid(np.array([[1.0, 3.0], [0.0, 3.0]]))
    array([ True, False])
    """
    return dirichlet.valid(eta) & (np.shape(eta)[-1] == 2)
