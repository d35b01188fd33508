# SPDX-License-Identifier: BSD-3-Clause
"""Whether a matrix can be computed with: its arrays fit, and its counts are within reach.

Everything public that takes X asks here before SciPy or a kernel sees it; SciPy reads beyond
arrays that do not fit. A count is 0 or within [LEAST_COUNT, MOST_COUNT], wherever counts are read.
And whether the labels of its rows have an order.
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from numbers import Real
from operator import index
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array

from streamtopics.utils.checks import check_not_masked, within_floats

# Products of lesser counts with probabilities are not numbers of full precision any more.
LEAST_COUNT, MOST_COUNT = 1e-30, 1e15
# Kernels number columns in 32 bits.
MOST_COLUMNS = 2**31 - 1
# How the names of types of double precision begin in data frames.
DOUBLES = ("float64", "double", ">f8", "<f8", "object", "decimal")


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array."""
    return bool(sparse.issparse(X))


def has_entries(value: Any) -> bool:
    """Whether it can be gone through; a text is one thing, and so is an array without axes."""
    is_one = isinstance(value, str | bytes) or getattr(value, "ndim", 1) == 0
    return isinstance(value, Iterable) and not is_one


def holds_text(X: Any) -> bool:
    """Whether X, or the first thing in it, is a text."""
    for _ in range(3):
        if isinstance(X, str | bytes):
            return True
        if is_sparse(X) or getattr(getattr(X, "dtype", None), "kind", "O") in "biuf":
            return False
        try:
            X = X.iloc[0] if hasattr(X, "iloc") else X[0]
        except (TypeError, IndexError, KeyError):
            return False
    return isinstance(X, str | bytes)


def from_arrow(values: Any) -> Any:
    """An array of Arrow as a list of Python's own objects; a table or anything else stays."""
    is_array = hasattr(values, "to_pylist") and not hasattr(type(values), "columns")
    return values.to_pylist() if is_array else values


def check_one_kind(labels: Any, name: str, caller: str) -> None:
    """Refuse labels of which some are missing, or some are text and some are not."""
    if is_sparse(labels) or not has_entries(labels):
        raise TypeError(f"{name}, passed to {caller}, must be a list of labels; got {labels!r:.60}")
    own = getattr(labels, "dtype", None)
    if isinstance(own, np.dtype) and own.kind in "biuSU":
        return
    entries = list(from_arrow(labels))
    if missing := next(([entry] for entry in entries if is_missing(entry)), None):
        raise ValueError(
            f"{name}, passed to {caller}, has labels that are {missing[0]}; leave out documents "
            "without one"
        )
    found = {type(entry) for entry in entries}
    if odd := next((kind for kind in found if hasattr(kind, "as_py")), None):
        raise TypeError(
            f"{name}, passed to {caller}, has labels of the type {odd.__name__} of PyArrow; pass "
            "the array itself, or its to_pylist()"
        )
    kinds = {str if issubclass(kind, str) else kind for kind in found}
    if len(kinds) > 1 and str in kinds:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ValueError(
            f"{name}, passed to {caller}, mixes labels of the types {names}, which have no order; "
            "make all of them strings"
        )


def is_missing(value: Any) -> bool:
    """Whether this stands for no value: None, NaN, NaT, NA of pandas or a masked entry."""
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)
    except TypeError:
        # Nobody knows whether NA differs from itself.
        return True
    except ValueError:
        # An array, which is no single value.
        return False


def number_of_rows(X: Any) -> int:
    """The number of documents in X, whatever holds them."""
    shape = getattr(X, "shape", None)
    if isinstance(X, type) or shape == () or (shape is None and not hasattr(X, "__len__")):
        raise TypeError(f"X must have a row for each document; got {X!r:.60}")
    return len(X) if shape is None else int(shape[0])


def total(X: Any) -> float:
    """The sum of all entries of X. SciPy's own adds up duplicates in X itself."""
    return float(np.sum(X.data if is_sparse(X) else np.asarray(X), dtype=np.float64))


def check_structure(X: Any, caller: str, name: str = "X") -> None:
    """Refuse a sparse matrix of arrays that do not fit or too many columns, and an empty frame.

    A lazy frame is refused before it is asked for columns, of which it warns.
    """
    if hasattr(type(X), "collect") and hasattr(type(X), "collect_schema"):
        raise TypeError(f"{name}, passed to {caller}, is a lazy frame; pass {name}.collect()")
    # A data frame of no columns, whose type of numbers nobody knows.
    if hasattr(X, "columns") and len(X.columns) == 0:
        raise ValueError(
            f"{name}, a data frame passed to {caller}, has no columns; it needs one for each "
            "feature, such as a word"
        )
    check_not_masked(X, caller, name)
    _check_no_times(X, caller, name)
    if not is_sparse(X):
        return
    if X.ndim != 2:
        raise ValueError(
            f"{name}, passed to {caller}, must be a 2-D matrix, with a row for each document; got "
            f"a sparse array of shape {X.shape}"
        )
    what = f"{name}, a {X.format.upper()} matrix passed to {caller},"
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(
            f"{what} has {X.shape[1]:,} columns, more than {MOST_COLUMNS:,}; use a smaller "
            "vocabulary, or hash words to fewer columns"
        )
    if X.format in ("csr", "csc", "bsr"):
        _check_compressed(X, what)
    elif X.format == "coo":
        _check_coordinates(X, what)
    elif X.format == "lil":
        _check_lists(X, what)
    elif X.format == "dia":
        _check_diagonals(X, what)
    elif X.format == "dok":
        for axis, places in zip(("row", "column"), zip(*X.keys(), strict=True), strict=False):
            _check_places(np.array(places), X.shape[axis == "column"], axis, what)


def check_rows(X: Any, caller: str) -> None:
    """Refuse documents of which one is a matrix, such as of its sentences, and not a row of counts.

    NumPy would speak of sequences.
    """
    if not (isinstance(X, list | tuple) or len(getattr(X, "shape", ())) == 1):
        return
    place = next((d for d, document in enumerate(X) if _is_matrix(document)), None)
    if place is not None:
        raise TypeError(
            f"X, passed to {caller}, must have a row of counts for each document, but document "
            f"{place} is a matrix, as of its sentences; add up its rows, or score the model by its "
            "own `score`"
        )


def _is_matrix(document: Any) -> bool:
    """Whether this has rows, and is none itself."""
    if isinstance(document, list | tuple):
        return len(document) > 0 and has_entries(document[0])
    return len(getattr(document, "shape", ())) > 1


def _check_no_times(X: Any, caller: str, name: str) -> None:
    """Refuse dates and spans of time, which NumPy would read as numbers of days or so."""
    if getattr(getattr(X, "dtype", None), "kind", "O") in "mM":
        raise TypeError(f"{name}, passed to {caller}, holds dates or spans of time, no numbers")
    for column, kind in types_of_columns(X).items():
        if kind.startswith(("date", "time", "duration", "period")):
            raise TypeError(
                f"{name}, a data frame passed to {caller}, has in its column {column!r} dates or "
                "spans of time, no numbers; leave it out"
            )


def types_of_columns(X: Any) -> dict[str, str]:
    """Names of the types of a data frame's columns, in small letters; of others nothing."""
    if not hasattr(X, "columns"):
        return {}
    schema = getattr(X, "schema", None)
    types = getattr(X, "dtypes", getattr(schema, "types", None))
    if types is None and isinstance(schema, Mapping):
        types = schema.values()
    names = getattr(X, "column_names", X.columns)
    shown = [] if types is None else [str(getattr(t, "subtype", t)).lower() for t in types]
    return dict(zip(map(str, names), shown, strict=False))


def in_wide_numbers(X: Any) -> Any:
    """X, with stored integers of few bits and truth values as int64.

    An entry that is stored twice is the sum of both, which SciPy adds up in the type of X.
    """
    is_narrow = is_sparse(X) and X.dtype.kind in "biu" and X.dtype.itemsize < 4
    return X.astype(np.int64) if is_narrow else X


def for_scipy(X: Any) -> Any:
    """A sparse matrix in wide numbers; anything else as an array of numbers that SciPy has."""
    if is_sparse(X):
        return in_wide_numbers(X)
    found = np.asarray(X)
    if found.dtype == object and not all(isinstance(value, Real) for value in found.flat):
        raise TypeError("some entries are no numbers")
    is_odd = found.dtype.kind == "f" and found.dtype.itemsize not in (4, 8)
    if is_odd or found.dtype == object:
        try:
            return found.astype(np.float64)
        except OverflowError as error:
            raise ValueError("an entry is too large for a number of 64 bits") from error
    return found.astype(found.dtype.newbyteorder("="), copy=False)


def in_wide_indices(X: Any) -> Any:
    """X, of which a CSR matrix has indices of 32 or 64 bits, as SciPy makes them."""
    if not is_sparse(X) or X.format != "csr":
        return X
    types = {X.indices.dtype, X.indptr.dtype}
    if types in ({np.dtype(np.int32)}, {np.dtype(np.int64)}):
        return X
    return sparse.csr_matrix((X.data, X.indices, X.indptr), shape=X.shape)


def to_sparse(X: Any, caller: str, kind: Any = sparse.csr_matrix) -> Any:
    """X as a sparse matrix of a kind, with arrays of its own; what holds no numbers is refused."""
    check_structure(X, caller)
    try:
        if np.ndim(X) != 2:
            raise TypeError(f"it must be 2-D, a row for each document; got {np.ndim(X)} axes")
        found = kind(in_wide_indices(for_scipy(X)), copy=True)
        if found.dtype.kind == "c":
            raise TypeError("Complex data not supported")
        return found
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X, passed to {caller}, cannot be read as a matrix of numbers: {error}"
        ) from error


def in_order(X: sparse.csr_matrix) -> sparse.csr_matrix:
    """X itself if the columns of each row rise; else a copy in which they do, duplicates added up.

    What SciPy remembers of the order is not asked: it is of the arrays that X had then.
    """
    rises = X.indices[1:] > X.indices[:-1]
    starts = X.indptr[1:-1]
    rises[starts[(starts > 0) & (starts < len(X.indices))] - 1] = True
    if rises.all():
        return X
    X = X.copy()
    X.sum_duplicates()
    return X


def check_reach(X: Any, caller: str, name: str = "X") -> None:
    """Refuse stored values that are no counts, or none that can be computed with."""
    counts, what = X.data, f"{name}, passed to {caller}, has"
    if not np.isfinite(counts).all():
        raise ValueError(
            f"{what} values that are infinite or NaN, which no counts of words are; check how it "
            "was made"
        )
    if len(counts) and counts.min() < 0:
        raise ValueError(
            f"Negative values in data passed to {caller}: {name} has {counts.min():g}, but counts "
            "of words are 0 or more; check how it was made"
        )
    if len(counts) and counts.max() > MOST_COUNT:
        raise ValueError(
            f"{what} a count of {counts.max():g}, more than {MOST_COUNT:g}, which cannot be "
            "right; check how it was made"
        )
    if len(small := counts[(counts > 0) & (counts < LEAST_COUNT)]):
        raise ValueError(
            f"{what} a count of {small.min():g}, less than {LEAST_COUNT:g}, which is lost in "
            "rounding; set such counts to 0, or scale X"
        )


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


def _check_lists(X: Any, what: str) -> None:
    try:
        lengths = [[*map(len, lists)] for lists in (X.rows, X.data)]
        columns = np.array([*map(index, chain.from_iterable(X.rows))])
    except TypeError:
        lengths = [[], []]
    if lengths[0] != lengths[1] or len(lengths[0]) != X.shape[0]:
        raise ValueError(
            f"{what} has lists of columns that do not fit its lists of values or its "
            f"{X.shape[0]} rows; build it anew, for example from a dense array"
        )
    _check_places(columns, X.shape[1], "column", what)


def _check_diagonals(X: Any, what: str) -> None:
    if X.data.ndim != 2 or X.offsets.shape != X.data.shape[:1]:
        raise ValueError(
            f"{what} has {X.offsets.size} offsets that do not fit its diagonals, of shape "
            f"{X.data.shape}; build it anew from (diagonals, offsets)"
        )


def _check_places(places: np.ndarray, n: int, axis: str, what: str) -> None:
    if len(places) and not (places.min() >= 0 and places.max() < n):
        worst = places.min() if places.min() < 0 else places.max()
        raise ValueError(
            f"{what} has an entry in {axis} {worst}, but only {n} "
            f"{axis}s; give it the shape of the vocabulary"
        )


def with_type(X: Any) -> Any:
    """A list, a tensor or what else has no type of NumPy's as an array; frames stay."""
    has_type = isinstance(getattr(X, "dtype", None), np.dtype) or hasattr(X, "columns")
    return X if has_type else np.asarray(X)


def kept_types(X: Any, otherwise: type) -> list[type]:
    """Types of numbers that stay; the first is what all else becomes.

    Of a data frame with a column of double precision that is float64, whatever the library
    calls it. Numbers of Python, which objects may be, have that precision.
    """
    names = types_of_columns(X).values()
    own = getattr(X, "dtype", None)
    # Also in the other order of bytes, and what is longer.
    is_double = isinstance(own, np.dtype) and own.kind in "fO" and own.itemsize >= 8
    is_double |= any(name.startswith(DOUBLES) for name in names)
    return [np.float64 if is_double else otherwise, np.float32, np.float64]


def to_csr(X: Any, caller: str, name: str, *, otherwise: type = np.float32) -> sparse.csr_matrix:
    """A 2-D matrix of any kind as CSR, float64 if it was that; values unchecked.

    What was neither float64 nor float32, such as integers, becomes `otherwise`.
    """
    check_structure(X, caller, name)
    if is_sparse(X):
        X = in_wide_indices(in_wide_numbers(X))
        if X.dtype.kind not in "biuf":
            raise ValueError(
                f"{name}, passed to {caller}, must be a 2-D matrix of real numbers; got a sparse "
                f"one of shape {X.shape} and dtype {X.dtype}"
            )
        first, *kept = kept_types(X, otherwise)
        with np.errstate(over="ignore"):
            return sparse.csr_matrix(X, dtype=X.dtype if X.dtype in kept else first)
    try:
        with np.errstate(over="ignore"), within_floats(name):
            X = with_type(X)
            X = check_array(
                X,
                accept_sparse="csr",
                dtype=kept_types(X, otherwise),
                ensure_all_finite=False,
                ensure_min_samples=0,
                ensure_min_features=0,
                input_name=name,
            )
    except ValueError as error:
        raise ValueError(
            f"{name}, passed to {caller}, cannot be read as a matrix of numbers: {error}"
        ) from error
    return sparse.csr_matrix(for_scipy(X))
