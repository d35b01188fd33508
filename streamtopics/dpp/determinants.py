# SPDX-License-Identifier: BSD-3-Clause
"""Determinants of positive semidefinite matrices, many at once.

What is found for a matrix does not depend on those beside it.
"""

import numpy as np

from streamtopics.dpp.arrays import Floats


def pivots(S: Floats) -> Floats:
    """Return squares of the diagonal of the Cholesky factor, whose product is the determinant.

    S, of shape (..., n, n), is symmetric; of a matrix that rounding has made indefinite the
    eigenvalues are returned.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp.determinants import pivots
    >>> pivots(np.array([[[4.0, 2.0], [2.0, 3.0]], [[0.0, 1.0], [1.0, 0.0]]]))
    array([[ 4.,  2.],
           [-1.,  1.]])
    """
    try:
        return np.diagonal(np.linalg.cholesky(S), axis1=-2, axis2=-1) ** 2
    except np.linalg.LinAlgError:
        if S.ndim == 2:
            return np.linalg.eigvalsh(S)
        return np.stack([pivots(each) for each in S])


def log_det_positive(L: Floats) -> Floats:
    """Return log det of positive semidefinite matrices, in nats; -inf if singular up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp.determinants import log_det_positive
    >>> log_det_positive(np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.1, 0.3], [0.3, 0.9]]]))
    array([  0., -inf])
    """
    diagonal = np.diagonal(L, axis1=-2, axis2=-1)
    scale = np.where(diagonal > 0, diagonal, 1.0)
    root = np.sqrt(scale)
    correlation = L / root[..., :, None]
    correlation /= root[..., None, :]
    found = pivots(correlation)
    possible = (found > 4 * L.shape[-1] * np.finfo(float).eps).all(axis=-1)
    terms = np.log(scale).sum(axis=-1) + np.log(np.maximum(found, 1e-300)).sum(axis=-1)
    return np.where(possible, terms, -np.inf)


def solve_positive(L: Floats, B: Floats) -> Floats:
    """Solve L X = B for positive semidefinite matrices; by least squares where L is singular.

    Where a tiny level of noise is lost by rounding, least squares give the limit without it.
    L is of shape (..., n, n); B, of shape (..., n, k), in its span, up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.dpp.determinants import solve_positive
    >>> solve_positive(np.ones((2, 2)), np.ones((2, 1))).round(6)
    array([[0.5],
           [0.5]])
    """
    try:
        return np.linalg.solve(L, B)
    except np.linalg.LinAlgError:
        if L.ndim == 2:
            return np.linalg.pinv(L, hermitian=True) @ B
        return np.stack([solve_positive(*each) for each in zip(L, B, strict=True)])
