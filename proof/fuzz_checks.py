# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of every generated call: how it refuses, what it leaves, what it returns."""

import ast
import dataclasses
import io
import math
import pickle
import re
import traceback
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.pipeline import Pipeline

import streamtopics
from streamtopics.distributed import PartitionError
from streamtopics.utils.structure import check_structure

# An OSError is of a file that is not there.
REFUSALS = (
    ValueError, TypeError, NotFittedError, AttributeError, LookupError, OSError, PartitionError,
)  # fmt: skip
PACKAGE, VALIDATION = Path(streamtopics.__file__).parent, Path(sklearn.__file__).parent
TEXTS = VALIDATION / "feature_extraction"
LIBRARIES = (VALIDATION, Path(np.__file__).parent, Path(sparse.__file__).parents[1])
HERE = Path(__file__).parent
DEEPEST = 8
MANY_TOKENS = 20
# How Python says that a type is wrong, and NumPy and SciPy that there are no numbers.
OF_TYPE = re.compile(
    r"'(?:\w+\.)*(\w+)' object|not '?(?:\w+\.)*(\w+)'?|got '?(?:\w+\.)*(\w+)'?|"
    r"<class '(?:\w+\.)*(\w+)'>|type object '(?:\w+\.)*(\w+)'|of type '(\w+)'|"
    r"of '(?:\w+\.)*(\w+)' and '(?:\w+\.)*(\w+)'|unhashable type: '(?:\w+\.)*(\w+)'"
)
OF_NUMBERS = re.compile(
    "could not convert string to float|setting an array element|float.. argument|does not support "
    "dtype|arrays don't yet support|Seed must be|truth value of an|missing . required positional|"
    "slice indices must be integers|invalid literal for int|0-d array|unsized object|"
    "unknown encoding"
)
# How Python says that a function of the caller's does not take what it is passed.
OF_FUNCTION = re.compile(
    r"missing \d+ required (?:positional|keyword-only) argument|takes (?:.*positional|no) argument|"
    r"got an unexpected keyword argument"
)
OF_NOTHING = re.compile(r"NaN\s+(?:if|where)\s[^.;]*?\b(?:no|none|nothing)\b")
# Types whose values stay as they are.
UNCHANGING = (type(None), bool, int, float, complex, str, bytes, type)
# What scikit-learn notes in an estimator for its callbacks, as long as `fit` takes.
OF_CALLBACKS = {"_callback_fit_ctx", "_parent_callback_ctx", "_skl_callbacks_to_teardown"}
NAMES_OF = {
    "nan": re.compile(r"\bNaN\b"),
    "inf": re.compile(r"-?\binf\b|\binfinity\b|\binfinite\b"),
}


# Refusals


class Frame(NamedTuple):
    """A place that an error went through."""

    filename: str
    lineno: int
    name: str


def frames_of(error: BaseException) -> list[Frame]:
    """Where an error went through, the last one where it was raised."""
    return [
        Frame(frame.f_code.co_filename, lineno, frame.f_code.co_name)
        for frame, lineno in traceback.walk_tb(error.__traceback__)
    ]


def last_frame(error: BaseException) -> Frame:
    """Where an error was raised; of what a wrapper raised from it, where the wrapper did."""
    return frames_of(error)[-1]


@cache
def lines_that_raise(path: str) -> frozenset[int]:
    """Lines at which statements that raise begin, in a file of Python or Cython."""
    text = Path(path).read_text(encoding="utf-8")
    try:
        nodes = ast.walk(ast.parse(text))
        return frozenset(node.lineno for node in nodes if isinstance(node, ast.Raise | ast.Assert))
    except SyntaxError:
        rows = enumerate(text.splitlines(), 1)
        return frozenset(number for number, row in rows if row.strip().startswith("raise"))


@cache
def lines_of(filename: str) -> frozenset[int]:
    """Lines that raise, of a file of the package, of scikit-learn or of these tools."""
    path = Path(filename)
    if not path.exists():
        path = PACKAGE.parent / path
    ours = any(path.is_relative_to(place) for place in (PACKAGE, VALIDATION, HERE))
    return lines_that_raise(str(path)) if ours and path.exists() else frozenset()


def is_clear(error: BaseException, given: Mapping[str, Any], *, strict: bool) -> bool:
    """Whether a refusal is one: of the right type, and said by the package or scikit-learn.

    A message of NumPy, SciPy or Python itself comes out of a line that does not raise. It is clear
    where a file is named that cannot be read, and where scikit-learn reads arrays or texts, or,
    unless `strict`, wherever it names the type of an argument or says that it holds no numbers, or
    comes of the lines of the function itself that was called, of a wrong type.
    What the caller's own functions raise is the caller's, also where they do not take what they
    are passed, and what a vectorizer of scikit-learn says of texts; what an inherited method says
    without the package is scikit-learn's.
    """
    if not isinstance(error, REFUSALS) or not str(error).strip():
        return False
    if isinstance(error, OSError) and error.filename is not None:
        return True
    known = frames_of(error)
    if known[-1].lineno in lines_of(known[-1].filename):
        return True
    frames, said = [Path(frame.filename) for frame in known], str(error)
    path = frames[-1] if frames[-1].exists() else PACKAGE.parent / frames[-1]
    if _is_of_function(said, given) or any(place.is_relative_to(TEXTS) for place in frames):
        return True
    through = [place.is_relative_to(PACKAGE) or not place.exists() for place in frames]
    validated = any(place.is_relative_to(VALIDATION) for place in frames)
    beyond = [place for place in frames if not place.is_relative_to(HERE)]
    if validated and not any(through):
        return all(any(place.is_relative_to(known) for known in LIBRARIES) for place in beyond)
    if path.is_relative_to(VALIDATION):
        return bool(OF_NUMBERS.search(said) or names_in(said) - {"NoneType"})
    if validated and OF_NUMBERS.search(said):
        return True
    if not strict and isinstance(error, TypeError) and sum(through) == 1:
        return True
    return not strict and bool(
        OF_NUMBERS.search(said) or names_in(said) & set().union(*map(types_in, given.values()))
    )


def _is_of_function(said: str, given: Mapping[str, Any]) -> bool:
    """Whether Python says that a function among the arguments does not take what it is passed."""
    if not OF_FUNCTION.search(said):
        return False
    name = said.partition("(")[0].rpartition(" ")[2]
    parts = [*given.values()]
    for _ in range(2):
        parts += [within for part in parts for within in _parts(part)[:MANY_TOKENS]]
    known = {getattr(part, "__qualname__", "") for part in parts}
    classes = {kind.__name__ for part in parts for kind in type(part).__mro__}
    return name in known or name.partition(".")[0] in classes


def names_in(said: str) -> set[str]:
    """Types that a message of Python names."""
    return {name for names in OF_TYPE.findall(said) for name in names if name}


def types_in(value: Any) -> set[str]:
    """Names of the types of an argument and of what it holds, and of classes that it has."""
    parts = (value, *_parts(value)[:MANY_TOKENS])
    classes = {part.__name__ for part in parts if isinstance(part, type)}
    return {type(part).__name__ for part in parts} | classes


def place_of(error: BaseException) -> str:
    """File and function where an error was raised, and the last of the package on the way."""
    frames = frames_of(error)
    own = [f for f in frames if _is_own(f.filename)]
    last, ours = frames[-1], own[-1] if own else None
    place = f"{Path(last.filename).name}:{last.name}"
    if ours is None or ours is last:
        return place if ours is None else f"{_within(ours.filename)}:{ours.name}"
    return f"{_within(ours.filename)}:{ours.name} > {place}"


@cache
def _is_own(path: str) -> bool:
    return Path(path).is_relative_to(PACKAGE)


def _within(path: str) -> str:
    return str(Path(path).relative_to(PACKAGE))


def text_of(error: BaseException) -> str:
    """An error in one line, with its traceback forgotten."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"


# States


class _Plain(pickle.Pickler):
    """Pickles values without regard to which of them are one object, and without what is cached.

    What is read once is pickled as nothing.
    """

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.fast = True

    def reducer_override(self, value: Any) -> Any:
        kind = type(value)
        if _is_read_once(kind):
            return str, ()
        if isinstance(value, type) or not _cached(kind) or not hasattr(value, "__dict__"):
            return NotImplemented
        return object.__new__, (kind,), _state(value)


@cache
def _is_read_once(kind: type) -> bool:
    return issubclass(kind, Iterator | np.random.Generator)


@cache
def _cached(kind: type) -> frozenset[str]:
    """Names of attributes that are made when they are first asked for."""
    found = {
        name
        for base in kind.__mro__
        for name, value in vars(base).items()
        if isinstance(value, cached_property)
    }
    if issubclass(kind, CountVectorizer | HashingVectorizer):
        # What it knows of its stop words.
        found.add("_stop_words_id")
    if issubclass(kind, sparse.spmatrix | sparse.sparray):
        # What was found out of its order.
        found.update(("_has_sorted_indices", "_has_canonical_format"))
    return frozenset(found)


def fingerprint(value: Any) -> bytes:
    """Bytes that are the same if all that can be read of a value is."""
    file = io.BytesIO()
    try:
        _Plain(file).dump(value)
    except (ValueError, RecursionError):
        # What refers to itself cannot be written without that regard.
        return pickle.dumps(pickle.loads(pickle.dumps(value)))
    return file.getvalue()


def difference(before: Any, after: Any) -> str:
    """Names of attributes that differ between two estimators."""
    then, now = _state(before), _state(after)
    names = sorted(then.keys() | now.keys())
    return ", ".join(
        name
        for name in names
        if name not in then or name not in now or fingerprint(then[name]) != fingerprint(now[name])
    )


def _state(value: Any) -> dict[str, Any]:
    found = value.__getstate__() if isinstance(value, BaseEstimator) else vars(value)
    if isinstance(value, Pipeline) and isinstance(value.steps, tuple):
        # Becomes a list in `fit`.
        found = {**found, "steps": list(value.steps)}
    return {
        name: found[name] for name in sorted(found.keys() - _cached(type(value)) - OF_CALLBACKS)
    }


def print_of(value: Any) -> bytes:
    """The fingerprint of what was passed; nothing of what cannot be pickled, or cannot change."""
    if type(value) in UNCHANGING:
        return b""
    try:
        return fingerprint(value)
    except Exception:
        # Each library has an error of its own for this.
        parts = list(value.values()) if isinstance(value, dict) else value
        return b"|".join(map(print_of, parts)) if isinstance(parts, list | tuple) else b""


# Results


def strange_numbers(value: Any, depth: int = 0) -> set[str]:
    """Which of "nan" and "inf" a result holds, however deep."""
    if isinstance(value, float | np.floating):
        return {"nan"} if math.isnan(value) else {"inf"} if math.isinf(value) else set()
    if type(value) in UNCHANGING:
        return set()
    if isinstance(value, np.ndarray) and value.dtype != object:
        return _strange(value) if value.dtype.kind in "fc" else set()
    if sparse.issparse(value):
        # The arrays themselves may not fit each other.
        return strange_numbers(value.data if hasattr(value, "data") else value.tocoo().data, depth)
    found: set[str] = set()
    for part in _parts(value) if depth < DEEPEST else ():
        found |= strange_numbers(part, depth + 1)
    return found


def _strange(values: np.ndarray) -> set[str]:
    tests = {"nan": np.isnan, "inf": np.isinf}
    return {name for name, test in tests.items() if test(values).any()}


def _parts(value: Any) -> list[Any]:
    kind = type(value)
    if isinstance(value, Mapping):
        return list(value.values())
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if isinstance(value, np.ndarray):
        return list(value.ravel())
    if isinstance(value, pd.Series):
        return [value.to_numpy()]
    if isinstance(value, pd.DataFrame):
        return [value.iloc[:, j].to_numpy() for j in range(value.shape[1])]
    if kind.__module__.startswith("polars") and hasattr(value, "to_dict"):
        return list(value.to_dict(as_series=False).values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in dataclasses.fields(value)]
    if kind.__module__.startswith("streamtopics."):
        state = value.__getstate__()
        return [state] if isinstance(state, dict | tuple) else []
    return []


def allowed_by(door: Any, found: Any, documents: Any = None) -> frozenset[str]:
    """Which of "nan" and "inf" the documentation allows a function, or a record, to return.

    A NaN that is said to be of what has no tokens is not allowed if the documents have many.
    """
    kinds = [door, vars(type(door)).get("__call__")]
    if type(found).__module__.startswith("streamtopics."):
        kinds.append(type(found))
    if isinstance(owner := getattr(door, "__self__", None), Pipeline) and len(owner.steps):
        # What the last step returns.
        kinds.append(getattr(owner.steps[-1][1], door.__name__, None))
    if dataclasses.is_dataclass(door):
        kinds.append(type(door))
    said = " ".join(getattr(kind, "__doc__", None) or "" for kind in kinds)
    return words_in(OF_NOTHING.sub("", said) if has_many_tokens(documents) else said)


def has_many_tokens(documents: Any) -> bool:
    """Whether it is a matrix with a document of which words can be held out."""
    try:
        check_structure(documents, "has_many_tokens")
        X = documents.toarray() if sparse.issparse(documents) else np.asarray(documents, float)
        sums = X.astype(float).sum(axis=1)
    except (TypeError, ValueError, IndexError, OverflowError):
        return False
    return bool(sums.ndim == 1 and np.isfinite(sums).all() and (sums >= MANY_TOKENS).any())


@cache
def words_in(text: str) -> frozenset[str]:
    """Which of "nan" and "inf" a text names."""
    said = text.replace("Never NaN or infinite", "")
    return frozenset(name for name, word in NAMES_OF.items() if word.search(said))


# What was learnt


def properties_of(model: Any) -> dict[str, property]:
    """Public properties of an estimator, by name; not those that scikit-learn has for it."""
    return {
        name: value
        for kind in reversed(type(model).__mro__)
        if not kind.__module__.startswith("sklearn.")
        for name, value in vars(kind).items()
        if not name.startswith("_") and isinstance(value, property)
    }


@cache
def allowed_in(kind: type, name: str) -> frozenset[str]:
    """Which of "nan" and "inf" the documentation of an estimator allows an attribute to hold."""
    value = getattr(kind, name, None)
    pattern = rf"^ *(?:\w+, )*{name}\b.* : .*\n(?: {{8,}}.*\n)*"
    row = re.search(pattern, kind.__doc__ or "", re.MULTILINE)
    said = value.__doc__ if isinstance(value, property) else ""
    return words_in(f"{said} {row[0] if row else ''}")
