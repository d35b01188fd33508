# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of every generated call: what it leaves, and what it returns."""

import dataclasses
import io
import math
import pickle
import re
import traceback
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.pipeline import Pipeline

import streamtopics
from streamtopics.utils.structure import check_structure

DEEPEST = 8
MANY_TOKENS = 20
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

PACKAGE = Path(streamtopics.__file__).parent
# What no argument may cause: a kernel that broke Python's rules, and mistakes of the package's own.
NEVER = (SystemError, AssertionError, NameError, RecursionError)


def place_of(error: BaseException) -> str:
    """File and function where an error was raised, and the last of the package on the way."""
    frames = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    own = [code for code in frames if Path(code.co_filename).is_relative_to(PACKAGE)]
    places = [f"{Path(code.co_filename).name}:{code.co_name}" for code in (*own[-1:], frames[-1])]
    return " > ".join(dict.fromkeys(places))


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
