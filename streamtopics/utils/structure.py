# SPDX-License-Identifier: BSD-3-Clause
"""Checks of matrices on input: arrays that fit together, and counts within range.

SciPy and kernels read beyond the end of arrays that do not fit.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from copy import copy
from importlib import import_module
from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_array, check_non_negative

from streamtopics.utils.checks import check_not_masked

# Products of smaller counts with probabilities are not of full precision any more.
LEAST_COUNT, MOST_COUNT = 1e-30, 1e15
# Kernels number columns in 32 bits.
MOST_COLUMNS = 2**31 - 1
# Beginnings of the names of types of double precision in data frames.
DOUBLE_TYPES = ("float64", "double", "object", "decimal")
# Types of matrices, without subclasses, that need no conversion if they hold doubles.
PLAIN = (sparse.csr_matrix, sparse.csr_array, np.ndarray)


def is_sparse(X: object) -> bool:
    return bool(sparse.issparse(X))


def is_pandas(X: object) -> bool:
    return hasattr(X, "iloc")


def take_rows(X: Any, which: Any) -> Any:
    """Rows of a matrix, pandas object or table of Arrow, or entries of a list or Arrow array."""
    if isinstance(X, list | tuple) and isinstance(which, np.ndarray):
        return [X[i] for i in which]
    if isinstance(which, np.ndarray) and hasattr(X, "to_pylist"):
        return X.take(which)
    return X.iloc[which] if is_pandas(X) else X[which]


def shape_of(X: object) -> tuple[int, ...] | None:
    return getattr(X, "shape", None)


def kinds_of(X: Any) -> list[str]:
    """NumPy's letters for the types of X, one for each column of a frame; "" if unknown."""
    types = X.dtypes if is_frame(X) else [getattr(X, "dtype", None)]
    return [getattr(dtype, "kind", "") for dtype in types]


def column_names(X: object) -> Any:
    """Names of the columns of a frame or of `NamedCounts`; otherwise None."""
    if is_sparse(X):
        return getattr(X, "feature_names", None)
    # Tables of pyarrow call their names so, and their data "columns".
    return getattr(X, "column_names" if hasattr(type(X), "column_names") else "columns", None)


def text_names(X: object) -> Any:
    """`column_names` if they are texts; otherwise None."""
    names = column_names(X)
    return names if names is not None and len(names) and isinstance(names[0], str) else None


def has_entries(value: object) -> bool:
    """Whether a value has entries, unlike a text or an array without axes."""
    is_one = isinstance(value, str | bytes) or shape_of(value) == ()
    return isinstance(value, Iterable) and not is_one


def holds_text(X: Any) -> bool:
    """Whether X, or its first entry, is a text."""
    for _ in range(2):
        if not (isinstance(X, str | bytes) or is_sparse(X)):
            with suppress(TypeError, IndexError, KeyError):
                X = take_rows(X, 0)
    return isinstance(X, str | bytes)


def from_arrow(values: Any) -> Any:
    """An array of Arrow as a list; other objects unchanged."""
    is_array = hasattr(values, "to_pylist") and shape_of(values) is None
    return values.to_pylist() if is_array else values


def in_memory(values: Any) -> Any:
    """An iterator as a list; other objects unchanged."""
    return list(values) if isinstance(values, Iterator) else values


def check_one_kind(labels: Any, name: str, caller: str) -> None:
    entries = list(from_arrow(labels))
    kinds = {isinstance(entry, str) for entry in entries}
    if any(map(is_missing, entries)) or len(kinds) > 1:
        raise ValueError(f"{name}, passed to {caller}, has missing labels, or texts and others")


def is_missing(value: object) -> bool:
    """Whether a value is None, NaN, NaT, NA of pandas or a masked entry."""
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return True
    return not isinstance(value, np.ndarray) and bool(value != value)


def number_of_rows(X: Any) -> int:
    shape = shape_of(X)
    return len(X) if shape is None else int(shape[0])


def total(X: Any) -> float:
    """The sum of all entries of X. SciPy's own sum would change X."""
    return float(np.sum(X.data if is_sparse(X) else np.asarray(X), dtype=np.float64))


def check_structure(X: Any, caller: str, name: str = "X") -> None:
    """Refuse a sparse matrix of unfit arrays, masked entries, and dates for numbers."""
    check_not_masked(X, caller, name)
    if not {"m", "M"}.isdisjoint(kinds_of(X)):
        raise TypeError(f"{name}, passed to {caller}, holds dates or spans of time; pass numbers")
    if not is_sparse(X):
        return
    what = f"{name}, a {X.format.upper()} matrix passed to {caller},"
    if X.ndim != 2 or X.shape[1] > MOST_COLUMNS:
        raise ValueError(f"{what} must have 2 axes and at most {MOST_COLUMNS:,} columns")
    try:
        if X.format in ("csr", "csc", "bsr"):
            copy(X).check_format()  # check_format would set narrower arrays in X itself.
        elif X.format == "coo":
            sparse.coo_matrix((X.data, (X.row, X.col)), shape=X.shape)
        elif X.format == "dia":
            sparse.dia_matrix((X.data, X.offsets), shape=X.shape)
        elif X.format == "lil":
            X.tocsr().check_format()
    except ValueError as error:
        raise ValueError(f"{what} has arrays that do not fit: {error}") from error


def is_frame(X: Any) -> bool:
    return is_pandas(X) and X.ndim == 2


def kept_types(X: Any, default: type) -> list[type]:
    """Types of numbers that stay; others become the first: float64 for doubles, or `default`."""
    own = None if is_frame(X) else X.dtype
    kinds = list(X.dtypes) if own is None else [own]
    names = [str(getattr(kind, "subtype", kind)).lower() for kind in kinds]
    # Also in the other order of bytes, and longer numbers.
    is_double = isinstance(own, np.dtype) and own.kind == "f" and own.itemsize >= 8
    is_double |= any(name.startswith(DOUBLE_TYPES) for name in names)
    return [np.float64 if is_double else default, np.float32, np.float64]


def in_wide_numbers(X: Any) -> Any:
    """X, with small integers as int64, because SciPy adds duplicates in their type."""
    is_small = is_sparse(X) and X.dtype.kind in "biu" and X.dtype.itemsize < 4
    return X.astype(np.int64) if is_small else X


def for_scipy(X: Any) -> Any:
    """A sparse matrix by `in_wide_numbers`; other objects as an array of numbers for SciPy."""
    if is_sparse(X):
        return in_wide_numbers(X)
    found = np.asarray(X)
    is_odd = found.dtype.kind in "fO" and found.dtype not in (np.float32, np.float64)
    return found.astype(np.float64 if is_odd else found.dtype.newbyteorder("="), copy=False)


def as_csr(X: Any) -> sparse.csr_matrix:
    if isinstance(X, np.ndarray):
        return sparse.csr_matrix(X)
    return sparse.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)


def to_csr(
    X: Any, caller: str, name: str = "X", *, default: type | None = np.float32, **checks: Any
) -> sparse.csr_matrix:
    """A 2-D matrix of any kind as CSR, float64 if the input was; values unchecked.

    Other types than float64 and float32 become `default`. `checks` are for `check_array`.
    """
    allowed = {"ensure_all_finite": False, "ensure_min_samples": 0, "ensure_min_features": 0}
    check_structure(X, caller, name)
    if not checks and type(X) in PLAIN and X.ndim == 2 and X.dtype in (np.float32, np.float64):
        return as_csr(X)  # scikit-learn takes long to find nothing to do.
    if not (is_sparse(X) or isinstance(X, np.ndarray) or is_pandas(X)):
        X = np.asarray(X)  # A list, a tensor, or a frame unknown to scikit-learn.
    X = in_wide_numbers(X)
    if is_sparse(X) and X.format == "csr":
        X = as_csr(X)
    with np.errstate(over="ignore"):
        X = check_array(
            X,
            accept_sparse="csr",
            dtype=default and kept_types(X, default),
            input_name=name,
            **allowed | checks,
        )
    return sparse.csr_matrix(for_scipy(X))


def in_order(X: sparse.csr_matrix) -> sparse.csr_matrix:
    """X if the columns of each row rise; otherwise a sorted copy, duplicates summed."""
    # SciPy's note of the order is about the arrays at the time.
    increasing = X.indices[1:] > X.indices[:-1]
    starts = X.indptr[1:-1]
    increasing[starts[(starts > 0) & (starts < len(X.indices))] - 1] = True
    if increasing.all():
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def check_reach(X: sparse.csr_matrix, caller: str, name: str = "X") -> None:
    if not len(X.data) or (X.data.min() >= LEAST_COUNT and X.data.max() <= MOST_COUNT):
        return
    assert_all_finite(X.data, input_name=name)
    check_non_negative(X.data, f"{caller}, of which {name} must hold counts")
    counts = X.data[X.data > 0]
    if len(counts) and not (counts.min() >= LEAST_COUNT and counts.max() <= MOST_COUNT):
        raise ValueError(
            f"{name}, passed to {caller}, must have counts from {LEAST_COUNT:g} to {MOST_COUNT:g}, "
            f"or 0; it has {counts.min():g} and {counts.max():g}"
        )


# Labels of results


def row_labels(X: object) -> Any:
    """Labels of rows, from pandas or from counts of labelled texts; otherwise None."""
    return getattr(X, "index", None) if is_pandas(X) or is_sparse(X) else None


def document_labels(X: object, groups: Any) -> Any:
    """Labels of documents; if rows are sentences, the labels of first sentences."""
    labels = row_labels(X)
    if groups is None or labels is None:
        return labels
    first: dict[Any, int] = {}
    for row, group in enumerate(groups):
        first.setdefault(group, row)
    return labels[[*first.values()]]


def outputs_pandas(estimator: object) -> bool:
    return bool(_get_output_config("transform", estimator)["dense"] == "pandas")


def labelled(estimator: object, values: np.ndarray, labels: object) -> np.ndarray:
    """Values as a data frame with these labels of rows, if pandas output was requested."""
    if labels is None or not outputs_pandas(estimator):
        return values
    # scikit-learn names the columns of an existing frame; its own frame would lack the labels.
    return cast("np.ndarray", import_module("pandas").DataFrame(values, index=labels))
