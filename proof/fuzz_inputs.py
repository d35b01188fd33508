# SPDX-License-Identifier: BSD-3-Clause
"""What generated calls are made with: matrices, sentences and texts, right and wrong, and junk."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from streamtopics.utils.structure import LEAST_COUNT, MOST_COUNT

Rng = np.random.Generator

WIDTH = 6
LENGTHS = (0, 1, 2, 5, 12)
TYPES = (
    "float64", "float32", "float16", "longdouble", "int64", "int32", "int8", "uint8", "uint64",
    "bool", "complex128", "object", "str",
)  # fmt: skip
STRANGE = (-1.0, np.nan, np.inf, -np.inf, 1e-310, 1e-40, 1e-7, 0.5, 2000.0, 1e16, 1e300)
# Counts at the ends of what is promised, and what others are multiplied with.
FAR = (1e-30, 1e-29, 1e-20, 1e-12, 1e-7, 1e-3, 0.5, 2000.0, 1e9, 1e12, 1e14, 9e14)
SCALES = (1e-20, 1e-9, 1e10)
# Whether data and parameters of this episode are far out, though right.
FAR_OUT = ContextVar("FAR_OUT", default=False)
HUGE = (10**400, -(10**30), 2**63, None, "x")
FORMATS = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
WORDS = ("a", "b", "c", "d", "e", "f", "soup", "tea", "cold", "rain", "not", "don't", "Dr.")
MARKS = (". ", "! ", "? ", " ", "\n\n", "... ", ' "', ", ", "", "\0", "\u00e9 ", "\U0001f600 ")


def pick(rng: Rng, values: Any) -> Any:
    """One of some values, as it is."""
    return values[int(rng.integers(len(values)))]


def chance(rng: Rng, share: float) -> bool:
    """Whether something that has this chance happens."""
    return bool(rng.random() < share)


@contextmanager
def far_out(is_far: bool) -> Iterator[None]:
    """Draw counts and parameters that are far out, or not."""
    before = FAR_OUT.set(is_far)
    try:
        yield
    finally:
        FAR_OUT.reset(before)


class Nameless:
    """Something that nobody expects."""


def junk(rng: Rng) -> Any:
    """A value that is seldom right."""
    return pick(rng, every_junk())


def every_junk() -> list[Any]:
    """Values that are seldom right: of other types, too large, too small, no number."""
    return [
        None, True, False, -1, 0, 1, 3, 2**31, 2**63, 10**30, -(10**30), 1.5, -0.5, 1e300, 1e-300,
        np.nan, np.inf, -np.inf, 1j, "x", "", "\u00e9", b"x", (), [], {}, {"a": 1}, {"a": ["b"]},
        [1, 2], ["a", "b"], [["a"], ["b"]], [None], [np.nan], [-1.0], np.array([]), np.array(3),
        np.arange(3), np.array(["a"]), np.int64(2), np.float32(0.5), np.bool_(True),
        np.ones((2, 3)), *_tables(), Nameless(), Nameless, range(3), frozenset("a"), iter([1, 2]),
        slice(2),
    ]  # fmt: skip


@cache
def _tables() -> tuple[Any, Any]:
    """A sparse matrix and a data frame, which take long to make; nothing may change them."""
    return sparse.csr_matrix((2, 3)), pd.DataFrame({"a": [1]})


# Counts


def values_of(rng: Rng, n: int, width: int, *, whole: bool) -> np.ndarray:
    """Numbers as they should be, sometimes with alike, empty or strange ones."""
    found = rng.poisson(1.0, (n, width)) if whole else rng.normal(0, 2, (n, width))
    found = found.astype(np.float64)
    if n and width and whole and FAR_OUT.get():
        for value in rng.choice(FAR, size=int(rng.integers(4))):
            found[int(rng.integers(n)), int(rng.integers(width))] = value
        found *= pick(rng, SCALES) if chance(rng, 0.1) else 1.0
        return np.where(found > 0, np.clip(found, LEAST_COUNT, MOST_COUNT), 0.0)
    if n and width:
        if chance(rng, 0.1):
            found[int(rng.integers(n))] = 0.0
        if chance(rng, 0.1):
            found[:] = found[0]
        if chance(rng, 0.05):
            found[:] = 0.0
        if chance(rng, 0.2):
            found[int(rng.integers(n)), int(rng.integers(width))] = pick(rng, STRANGE)
    return found


def shape_of(rng: Rng) -> tuple[int, int]:
    """A number of rows and columns; mostly those of all calls of an episode."""
    width = pick(rng, (0, 1, WIDTH - 1, WIDTH + 1, 40)) if chance(rng, 0.08) else WIDTH
    n = pick(rng, LENGTHS) if chance(rng, 0.4) else 8
    return n, width


def counts(rng: Rng, *, whole: bool = True, n: int | None = None) -> Any:
    """A matrix in one of many containers and types; seldom something else."""
    if chance(rng, 0.03):
        return junk(rng)
    rows, width = shape_of(rng)
    values = values_of(rng, rows if n is None else n, width, whole=whole)
    if chance(rng, 0.3):
        kind = pick(rng, TYPES)
        with np.errstate(all="ignore"), suppress(ValueError, OverflowError):
            values = values.astype(kind)
        if values.dtype == object and values.size and chance(rng, 0.2):
            values.flat[0] = pick(rng, HUGE)
    return contained(rng, values)


def contained(rng: Rng, values: np.ndarray) -> Any:
    """Values in a container."""
    way = pick(rng, DENSE) if values.dtype.kind not in "biuf" or chance(rng, 0.45) else stored
    try:
        return way(rng, values)
    except (TypeError, ValueError, NotImplementedError, OverflowError):
        # Not every container holds every type.
        return values


def as_list(rng: Rng, values: np.ndarray) -> Any:
    return values.tolist()


def as_array(rng: Rng, values: np.ndarray) -> Any:
    return values


def in_columns(rng: Rng, values: np.ndarray) -> Any:
    return np.asfortranarray(values)


def with_gaps(rng: Rng, values: np.ndarray) -> Any:
    return np.repeat(values, 2, axis=1)[:, ::2]


def read_only(rng: Rng, values: np.ndarray) -> Any:
    values = values.copy()
    values.flags.writeable = False
    return values


def of_another_depth(rng: Rng, values: np.ndarray) -> Any:
    return pick(rng, [values[:1].ravel(), values[None], values.sum()])


def as_frame(rng: Rng, values: np.ndarray) -> Any:
    """A data frame, of numbered or named columns, sometimes a sparse one or one of polars."""
    names = [f"w{j}" for j in range(values.shape[1])]
    if chance(rng, 0.3):
        with suppress(ImportError):
            return import_module("polars").DataFrame(values, schema=names)
    if chance(rng, 0.1):
        with suppress(ImportError):
            return import_module("pyarrow").table(dict(zip(names, values.T, strict=True)))
    frame = pd.DataFrame(values, columns=names if chance(rng, 0.5) else None)
    if values.dtype.kind in "if" and values.shape[1] and chance(rng, 0.3):
        return frame.astype(pd.SparseDtype(values.dtype, 0))
    return frame


DENSE = (as_array, as_array, as_list, in_columns, with_gaps, read_only, of_another_depth, as_frame)


# Sparse matrices


def stored(rng: Rng, values: np.ndarray) -> Any:
    """A sparse matrix or array, as it should be or with arrays of another order, type or reach."""
    kind = "csr" if chance(rng, 0.5) else pick(rng, FORMATS)
    form = pick(rng, ("matrix", "array"))
    X = getattr(sparse, f"{kind}_{form}")(values)
    if kind in ("csr", "csc", "bsr"):
        for change, share in ((wide_indices, 0.2), (unsorted, 0.2), (with_zeros, 0.15)):
            if chance(rng, share):
                change(rng, X)
        if chance(rng, 0.12) and X.nnz:
            pick(rng, SPOILT)(rng, X)
        elif chance(rng, 0.1) and X.nnz and kind != "bsr":
            twice(X)
    elif kind == "coo" and X.nnz and chance(rng, 0.1):
        X.row[0] = pick(rng, (-5, 10**8))
    elif kind == "lil" and X.nnz and chance(rng, 0.2):
        X.rows[0], X.data[0] = [pick(rng, (-(10**6), X.shape[1], 10**8))], [1.0]
    elif kind == "dia" and X.nnz and chance(rng, 0.2):
        X.offsets = X.offsets[:-1]
    return X


def wide_indices(rng: Rng, X: Any) -> None:
    """Indices of 64 bits, of both arrays or of one."""
    X.indices = X.indices.astype(np.int64)
    if chance(rng, 0.7):
        X.indptr = X.indptr.astype(np.int64)


def unsorted(rng: Rng, X: Any) -> None:
    """Entries of each row in another order."""
    for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        X.indices[start:end] = X.indices[start:end][::-1].copy()
        X.data[start:end] = X.data[start:end][::-1].copy()
    X.has_sorted_indices = False


def with_zeros(rng: Rng, X: Any) -> None:
    """Zeros that are stored."""
    if X.nnz:
        X.data[int(rng.integers(len(X.data)))] = 0


def twice(X: Any) -> None:
    """Each entry stored twice."""
    X.indices, X.data, X.indptr = np.repeat(X.indices, 2), np.repeat(X.data, 2), 2 * X.indptr
    X.has_canonical_format = False


def index_beyond(rng: Rng, X: Any) -> None:
    X.indices[0] = pick(rng, (10**8, X.shape[1], 2**31 - 1))


def negative_index(rng: Rng, X: Any) -> None:
    X.indices[-1] = pick(rng, (-1, -(10**6)))


def pointer_beyond(rng: Rng, X: Any) -> None:
    X.indptr[len(X.indptr) // 2] = 10**8


def falling_pointers(rng: Rng, X: Any) -> None:
    X.indptr[len(X.indptr) // 2] = -1


def late_start(rng: Rng, X: Any) -> None:
    X.indptr[0] = 1


def too_few_data(rng: Rng, X: Any) -> None:
    X.data = X.data[:-1]


def too_few_indices(rng: Rng, X: Any) -> None:
    X.indices = X.indices[:-1]


def too_few_pointers(rng: Rng, X: Any) -> None:
    X.indptr = X.indptr[:-1]


SPOILT: tuple[Callable[[Rng, Any], None], ...] = (
    index_beyond, negative_index, pointer_beyond, falling_pointers, late_start, too_few_data,
    too_few_indices, too_few_pointers,
)  # fmt: skip


# Sentences, named counts and texts


def sentences(rng: Rng) -> Any:
    """Documents as matrices of sentences; seldom one matrix or something else."""
    if chance(rng, 0.15):
        return counts(rng)
    if chance(rng, 0.03):
        return junk(rng)
    found = [
        counts(rng, n=pick(rng, (0, 1, 2, 3)))
        if chance(rng, 0.15)
        else sparse.csr_matrix(rng.poisson(1.0, (int(rng.integers(1, 4)), WIDTH)), dtype=float)
        for _ in range(pick(rng, (0, 1, 2, 5)))
    ]
    return pick(rng, (list, list, tuple))(found)


def named(rng: Rng) -> Any:
    """Counts that know their words, mostly."""
    from streamtopics.text import NamedCounts

    X = counts(rng)
    names = np.array(list("abcdefgh"), dtype=object)
    if isinstance(X, np.ndarray | sparse.spmatrix) and len(X.shape) == 2 and chance(rng, 0.8):
        with suppress(TypeError, ValueError):
            return NamedCounts.of(X, names[: X.shape[1]])
    return X


def one_text(rng: Rng) -> Any:
    """A text, of words and marks; seldom something else."""
    if chance(rng, 0.03):
        return junk(rng)
    n = pick(rng, (0, 1, 8, 8, 8, 40))
    return "".join(pick(rng, WORDS) + pick(rng, MARKS) for _ in range(n))


def texts(rng: Rng) -> Any:
    """Texts in a container; seldom something else."""
    if chance(rng, 0.05):
        return junk(rng)
    found = [one_text(rng) for _ in range(pick(rng, (0, 1, 4, 8, 8)))]
    return pick(rng, (list, list, list, tuple, as_objects, pd.Series, iter, as_one))(found)


def as_objects(found: list[Any]) -> Any:
    """An array of whatever these are."""
    out = np.empty(len(found), dtype=object)
    out[:] = found
    return out


def as_one(found: list[Any]) -> Any:
    """The first alone, where a list is due."""
    return found[0] if found else ""


# Numbers beside X


def labels(rng: Rng, n: int, *, whole: bool = False) -> Any:
    """A value for each of n rows, mostly; classes, names, and unless `whole` ratings or times."""
    n += pick(rng, (-1, 1)) if chance(rng, 0.05) and n else 0
    kinds: tuple[Any, ...] = (np.arange(n) % 2, [str(i % 2) for i in range(n)], np.arange(n))
    if not whole:
        numbers = (np.arange(n) % 3 + 1.0, np.zeros(n), rng.normal(size=n))
        kinds += (*numbers, np.arange(n, dtype=np.float32))
    found = pick(rng, kinds)
    if chance(rng, 0.05) and n:
        found = np.asarray(found, dtype=object)
        found[0] = pick(rng, (np.nan, np.inf, None, "x", -1, 1e300, 2**70))
    if chance(rng, 0.05):
        return pick(rng, (np.asarray(found)[:, None], pd.Series(found), None))
    return junk(rng) if chance(rng, 0.03) else found
