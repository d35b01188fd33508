# SPDX-License-Identifier: BSD-3-Clause
"""A check of objects that were read from a file.

Compiled code reads arrays without bounds checks and trusts their numbers. A class whose objects are
saved declares in `_holds`, a str, what its attributes are: "path: words; ...".

    "V K >0"         an array of V rows and K columns of positive numbers; a number if no axis is
                     named; an object with a `shape`; None; or a dict, list or tuple of these
    "V|1 *"          an axis of length V or 1, and one of any length
    "i4 C >=-1 <V"   int32, from -1 to V - 1
    "=V"             a number that is V

Letters are sizes, the same throughout an object. Arrays are float64 unless another type is named.
All numbers are finite except those of "nan". A method `check_held` may check the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import eq, ge, gt, le, lt
from types import ModuleType
from typing import Any

import numpy as np
from scipy import sparse

PLAIN = frozenset({type(None), bool, int, float, complex, str, bytes})
SIGNS = {">": gt, ">=": ge, "<": lt, "<=": le, "=": eq}
TYPES = {"f": np.floating, "i": np.integer, "i4": np.int32, "i8": np.int64, "any": np.generic}


def check_held(value: object) -> None:
    """Refuse a value in which an object does not hold what its class declares."""
    seen: dict[int, object] = {}
    for one in objects_in(value, seen):
        sizes: dict[str, Any] = {}
        wrong = _own_error(one)
        for kind, path, said, found in declared_of(one):
            if said == "nan":
                seen[id(found)] = found
            elif wrong is None and (error := _value_error(found, said, sizes)):
                wrong = f"{path} of {kind.__name__} {error}"
        if wrong is not None:
            raise ValueError(wrong)
        if hasattr(type(one), "check_held"):
            one.check_held()


def objects_in(value: object, seen: dict[int, object]) -> Iterator[Any]:
    """A value and all that is in it, each once, without the objects in `seen`, by their `id`."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if type(one) not in PLAIN and id(one) not in seen:
            # Kept, so that no other object gets its number.
            seen[id(one)] = one
            yield one
            waiting.extend(_parts(one))


def declared_of(one: object) -> Iterator[tuple[type, str, str, Any]]:
    """The class, path and words of each declaration for an object, and what is there."""
    for kind in type(one).__mro__:
        for declared in filter(None, kind.__dict__.get("_holds", "").split("; ")):
            path, _, said = declared.partition(":")
            found = one
            for name in path.split(".") if path != "self" else ():
                # None if it was not learnt yet.
                found = getattr(found, name, None)
            yield kind, path, said.strip(), found


def _attributes(one: object) -> dict[str, Any]:
    return {} if isinstance(one, type | ModuleType) else getattr(one, "__dict__", {})


def _parts(one: object) -> Iterable[Any]:
    """What an object is made of."""
    if isinstance(one, np.ndarray):
        return one.ravel().tolist() if one.dtype == object else ()
    if isinstance(one, dict):
        one = (*one, *one.values())
    if isinstance(one, list | tuple | set | frozenset):
        return () if PLAIN.issuperset(map(type, one)) else one
    return _attributes(one).values()


def _own_error(one: Any) -> str | None:
    """What is wrong with an object by itself, if anything."""
    if isinstance(one, np.ndarray) and one.dtype.kind in "fc" and not np.isfinite(one).all():
        return "an array has numbers that are not finite"
    if sparse.issparse(one):
        one.check_format(full_check=True)  # type: ignore[attr-defined]
    if type(one).__module__.startswith("sklearn.") and hasattr(one, "_parameter_constraints"):
        # Their compiled code divides by parameters that only `fit` checks.
        one._validate_params()
    # The columns that scikit-learn's vectorizers write to.
    columns = _attributes(one).get("vocabulary_") or {}
    if {*columns.values()} != {*range(len(columns))}:
        return "the columns of vocabulary_ must be those from 0 on, each once"
    return None


def _value_error(value: Any, said: str, sizes: dict[str, Any]) -> str | None:
    """What is wrong with a declared value, if anything; new sizes are noted."""
    if value is None:
        return None
    if isinstance(value, dict | tuple | list):
        parts = value.values() if isinstance(value, dict) else value
        return next(filter(None, (_value_error(part, said, sizes) for part in parts)), None)
    words = [word for word in said.split() if word not in TYPES]
    shape = np.shape(value)
    if not _is_shape(shape, [word for word in words if word[0] not in SIGNS], sizes):
        return f"must be of the shape ({said}) with {sizes}; got {shape}"
    dtype = next((TYPES[word] for word in said.split() if word in TYPES), np.float64)
    if isinstance(value, np.ndarray) and shape and not np.issubdtype(value.dtype, dtype):
        return f"must be of {dtype.__name__}; got {value.dtype}"
    if not shape and not np.isfinite(value):
        return f"must be finite; got {value!r}"
    for word in words:
        bound = word.lstrip("<>=")
        if bound != word and (isinstance(value, np.ndarray) or not shape):
            limit = sizes.setdefault(bound, value) if bound.isalpha() else float(bound)
            if not np.all(SIGNS[word.removesuffix(bound)](value, limit)):
                return f"must be {word} with {sizes}; got another number"
    return None


def _is_shape(shape: tuple[int, ...], named: list[str], sizes: dict[str, Any]) -> bool:
    """Whether a shape is the one that is named; a new letter stands for any length."""
    if len(named) != len(shape):
        return False
    for names, length in zip(named, shape, strict=True):
        if names.isalpha():
            sizes.setdefault(names, length)
        known = [str(sizes.get(name, name)) for name in names.split("|")]
        if names != "*" and str(length) not in known:
            return False
    return True
