# SPDX-License-Identifier: BSD-3-Clause
"""Determinants of positive semidefinite matrices, many at once, each by itself."""

import numpy as np

from streamtopics.dpp.arrays import Floats, products


def pivots(S: Floats) -> Floats:
    """Return squares of the diagonals of Cholesky factors, whose product is the determinant.

    S is of shape (..., n, n); of a matrix that rounding has made indefinite, the eigenvalues.
    """
    try:
        return np.diagonal(np.linalg.cholesky(S), axis1=-2, axis2=-1) ** 2
    except np.linalg.LinAlgError:
        if S.ndim == 2:
            return np.linalg.eigvalsh(S)
        return np.stack([pivots(each) for each in S])


def log_det_positive(L: Floats) -> Floats:
    """Return log det of positive semidefinite matrices, in nats; -inf if singular."""
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
    """Solve L X = B for positive semidefinite matrices, with B in their span up to rounding.

    Least squares where L is singular, as by a level of noise that is lost to rounding.
    """
    try:
        return np.linalg.solve(L, B)
    except np.linalg.LinAlgError:
        if L.ndim == 2:
            return products(np.linalg.pinv(L, hermitian=True), B)
        return np.stack([solve_positive(*each) for each in zip(L, B, strict=True)])
