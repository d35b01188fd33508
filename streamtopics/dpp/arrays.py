# SPDX-License-Identifier: BSD-3-Clause
"""Types of arrays, and determinants of many positive semidefinite matrices at once."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.floating[Any]]
Places: TypeAlias = NDArray[np.integer[Any]]
# Rows or numbers, dense or sparse, depending on the measure.
Points: TypeAlias = Any


def dense(x: Any) -> Floats:
    return np.asarray(x.toarray() if hasattr(x, "toarray") else x)


def products(A: Floats, B: Floats) -> Floats:
    """Return A B of each pair of matrices, with the same bits for any alignment in memory.

    BLAS without AVX rounds products with one column by their alignment.
    """
    if B.shape[-1] == 1:
        return np.asarray(np.einsum("...ij,...jk->...ik", A, B))
    return np.asarray(A @ B)


def squares(x: Any) -> Any:
    return x.multiply(x) if hasattr(x, "multiply") else x**2


def squared_diagonal(S: Floats) -> Floats:
    """Return n numbers with the product det S, for each matrix S of shape (n, n).

    The numbers are squared diagonals of Cholesky factors; eigenvalues if rounding made S
    indefinite.
    """
    try:
        return np.diagonal(np.linalg.cholesky(S), axis1=-2, axis2=-1) ** 2
    except np.linalg.LinAlgError:
        if S.ndim == 2:
            return np.linalg.eigvalsh(S)
        return np.stack([squared_diagonal(each) for each in S])


def log_det_positive(L: Floats) -> Floats:
    """Return log det of positive semidefinite matrices, in nats; -inf if singular."""
    diagonal = np.diagonal(L, axis1=-2, axis2=-1)
    scale = np.where(diagonal > 0, diagonal, 1.0)
    root = np.sqrt(scale)
    correlation = L / root[..., :, None]
    correlation /= root[..., None, :]
    found = squared_diagonal(correlation)
    possible = (found > 4 * L.shape[-1] * np.finfo(float).eps).all(axis=-1)
    terms = np.log(scale).sum(axis=-1) + np.log(np.maximum(found, 1e-300)).sum(axis=-1)
    return np.where(possible, terms, -np.inf)


def solve_positive(L: Floats, B: Floats) -> Floats:
    """Solve L X = B for positive semidefinite L; by least squares if L is singular."""
    try:
        return np.linalg.solve(L, B)
    except np.linalg.LinAlgError:
        if L.ndim == 2:
            return products(np.linalg.pinv(L, hermitian=True), B)
        return np.stack([solve_positive(*each) for each in zip(L, B, strict=True)])
