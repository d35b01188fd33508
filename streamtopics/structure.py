# SPDX-License-Identifier: BSD-3-Clause
"""Whether the arrays of a sparse matrix fit; SciPy reads beyond them where they do not.

Everything public that takes X asks here before SciPy or a kernel sees it.
"""

from typing import Any

import numpy as np
from scipy import sparse


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array."""
    return bool(sparse.issparse(X))


def check_structure(X: Any, caller: str, name: str = "X") -> None:
    """Refuse a sparse matrix put together from arrays that do not fit."""
    if not is_sparse(X) or X.ndim != 2:
        return
    what = f"{name}, a {X.format.upper()} matrix passed to {caller},"
    if X.format in ("csr", "csc", "bsr"):
        _check_compressed(X, what)
    elif X.format == "coo":
        _check_coordinates(X, what)


def _check_compressed(X: Any, what: str) -> None:
    n_major, n_minor = X.shape if X.format != "csc" else X.shape[::-1]
    if X.format == "bsr":
        n_major, n_minor = n_major // X.blocksize[0], n_minor // X.blocksize[1]
    indptr, indices, n_stored = X.indptr, X.indices, len(X.indices)
    fits = len(indptr) == n_major + 1 and indptr[0] == 0 and indptr[-1] == n_stored
    if not fits or len(X.data) != n_stored or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(
            f"{what} has pointers that do not fit its {n_stored} stored entries; "
            "build it anew, for example from (data, (row, column))"
        )
    axis = {"csr": "column", "csc": "row", "bsr": "column of blocks"}[X.format]
    _check_places(indices, n_minor, axis, what)


def _check_coordinates(X: Any, what: str) -> None:
    if not len(X.row) == len(X.col) == len(X.data):
        raise ValueError(
            f"{what} has coordinates that do not fit its {len(X.data)} stored entries; "
            "build it anew from (data, (row, column))"
        )
    _check_places(X.row, X.shape[0], "row", what)
    _check_places(X.col, X.shape[1], "column", what)


def _check_places(places: np.ndarray, n: int, axis: str, what: str) -> None:
    if len(places) and not (places.min() >= 0 and places.max() < n):
        worst = places.min() if places.min() < 0 else places.max()
        raise ValueError(
            f"{what} has an entry in {axis} {worst}, but only {n} "
            f"{axis}s; give it the shape of the vocabulary"
        )
