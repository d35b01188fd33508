# SPDX-License-Identifier: BSD-3-Clause
"""A check of loaded objects, because compiled code trusts the shapes and numbers of arrays.

A class declares its attributes in `_holds`, a str: "path: words; ...".

    "V K >0"         an array of V rows and K columns of positive numbers; without letters, a number
    "V|1 *"          an axis of length V or 1, and one of any length
    "i4 C >=-1 <V"   int32, from -1 to V - 1
    "=V"             a number that is V

Letters are sizes, the same within an object. Without a type arrays are float64; without "nan"
numbers are finite. None and collections of valid arrays are valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from gc import get_referents
from operator import eq, ge, gt, le, lt
from types import ModuleType
from typing import Any

import numpy as np
from scipy import sparse

PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})
SIGNS = {">": gt, ">=": ge, "<": lt, "<=": le, "=": eq}
TYPES = {"f": np.floating, "i": np.integer, "i4": np.int32, "i8": np.int64, "any": np.generic}


def check_held(value: object) -> None:
    """Refuse a value with an object that breaks the declarations of its class."""
    seen: dict[int, object] = {}
    for one in objects_in(value, seen):
        sizes: dict[str, Any] = {}
        for kind, path, said, found in declared_of(one):
            if said == "nan":
                seen[id(found)] = found
            else:
                _check_value(f"{path} of {kind.__name__}", found, said, sizes)
        _check_alone(one)
        if hasattr(type(one), "check_held"):
            one.check_held()


def objects_in(value: object, seen: dict[int, object]) -> Iterator[Any]:
    """A value and its parts, each once."""
    waiting = [value]
    while waiting:
        one: Any = waiting.pop()
        if type(one) in PLAIN or id(one) in seen:
            continue
        # Functions refer to all of their module.
        if isinstance(one, type | ModuleType) or hasattr(type(one), "__globals__"):
            continue
        # Kept, so no other object gets its number.
        seen[id(one)] = one
        yield one
        waiting += get_referents(one)
        if isinstance(one, np.ndarray) and one.dtype == object:
            waiting += np.asarray(one).ravel().tolist()


def declared_of(one: object) -> Iterator[tuple[type, str, str, Any]]:
    """Class, path and words of each declaration, and the declared value."""
    for kind in type(one).__mro__:
        for declared in filter(None, kind.__dict__.get("_holds", "").split("; ")):
            path, _, said = declared.partition(":")
            found = one
            for name in path.split(".") if path != "self" else ():
                # None before learning.
                found = getattr(found, name, None)
            yield kind, path, said.strip(), found


def _check_alone(one: Any) -> None:
    if isinstance(one, np.ndarray) and one.dtype.kind in "fc" and not np.isfinite(one).all():
        raise ValueError("an array has numbers that are not finite")
    if sparse.issparse(one):
        one.check_format(full_check=True)  # type: ignore[attr-defined]
    if type(one).__module__.startswith("sklearn.") and hasattr(one, "_parameter_constraints"):
        # Compiled code divides by parameters that only `fit` checks.
        one._validate_params()
    # The columns that scikit-learn's vectorizers write to.
    columns = getattr(one, "__dict__", {}).get("vocabulary_") or {}
    if {*columns.values()} != {*range(len(columns))}:
        raise ValueError("the columns of vocabulary_ must be those from 0 on, each once")


def _check_value(name: str, value: Any, said: str, sizes: dict[str, Any]) -> None:
    if isinstance(value, dict | tuple | list):
        for part in value.values() if isinstance(value, dict) else value:
            _check_value(name, part, said, sizes)
    elif value is not None and not _fits(value, said.split(), sizes):
        raise ValueError(
            f"{name} must be ({said}) with {sizes}; got {value!r:.60} of shape {np.shape(value)}"
        )


def _fits(value: Any, words: list[str], sizes: dict[str, Any]) -> bool:
    """Whether a value fits the words of a declaration; a new letter takes any size."""
    shape = np.shape(value)
    axes = [word for word in words if word not in TYPES and word[0] not in SIGNS]
    if len(axes) != len(shape):
        return False
    for axis, length in zip(axes, shape, strict=True):
        if axis.isalpha():
            sizes.setdefault(axis, length)
        allowed = [str(sizes.get(name, name)) for name in axis.split("|")]
        if axis != "*" and str(length) not in allowed:
            return False
    if shape and not isinstance(value, np.ndarray):
        return True
    dtype = next((TYPES[word] for word in words if word in TYPES), np.float64)
    if not (np.issubdtype(value.dtype, dtype) if shape else np.isfinite(value)):
        return False
    for word in words:
        bound = word.lstrip("<>=")
        if bound != word:
            limit = sizes.setdefault(bound, value) if bound.isalpha() else float(bound)
            if not np.all(SIGNS[word.removesuffix(bound)](value, limit)):
                return False
    return True
