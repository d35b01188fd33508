# SPDX-License-Identifier: BSD-3-Clause
"""Whether the attributes of an object are of the kinds that its class says."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache, partial
from numbers import Number
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

# What passes for what: one number may be another or that of NumPy, and an array a list.
NUMBERS = {bool: bool, int: Number, float: Number}
SEQUENCES = (list, tuple, np.ndarray)


def check_fields(kind: type, state: Mapping[str, Any]) -> None:
    """Refuse attributes that a class does not have, or that are of another kind.

    Raises
    ------
    TypeError, ValueError
        Which name the attribute.
    """
    hints = _fields_of(kind)
    for name, value in state.items():
        if hints is None:
            if callable(getattr(kind, name, None)):
                raise ValueError(f"{name!r} is a method of {kind.__name__}, not an attribute")
        elif name not in hints:
            raise ValueError(f"{kind.__name__} has no field {name!r}")
        elif not _fits(value, hints[name]):
            raise TypeError(
                f"the field {name!r} of {kind.__name__} is a {type(value).__name__}, and must be "
                f"{hints[name]}"
            )
    missing = (hints or {}).keys() - state.keys()
    if missing:
        raise ValueError(f"the fields {sorted(missing)} of {kind.__name__} are missing")


def with_defaults(kind: type, state: dict[str, Any]) -> dict[str, Any]:
    """Attributes, and the defaults of parameters and fields that a file does not have yet."""
    return {**state, **{k: v for k, v in _defaults_of(kind).items() if k not in state}}


@cache
def _fields_of(kind: type) -> dict[str, Any] | None:
    """Types of the fields of a record; None if it is no record."""
    if not is_dataclass(kind) and not hasattr(kind, "_fields"):
        return None
    names = [f.name for f in fields(kind)] if is_dataclass(kind) else kind._fields
    try:
        hints = get_type_hints(kind)
    except NameError:
        # Names that are imported for type checkers only.
        hints = {}
    return {name: hints.get(name, Any) for name in names}


@cache
def _defaults_of(kind: type) -> dict[str, Any]:
    """Defaults of fields or parameters that cannot change in place."""
    if is_dataclass(kind):
        return {f.name: f.default for f in fields(kind) if f.default is not MISSING}
    if hasattr(kind, "_field_defaults"):
        return dict(kind._field_defaults)
    if not hasattr(kind, "get_params"):
        return {}
    known = inspect.signature(kind).parameters.values()
    return {p.name: p.default for p in known if p.default is not p.empty}


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value may be of a type; True for types that say nothing that can be checked."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        # No generator, which cannot end but with some memory.
        return any(map(partial(_fits, value), get_args(hint)))
    if origin is Literal:
        return value in get_args(hint)
    hint = origin or hint
    if hint is Any:
        return True
    if hint is None or hint is type(None):
        return value is None
    if hint in NUMBERS:
        is_number = isinstance(value, NUMBERS[hint] | np.generic)
        return is_number or (isinstance(value, np.ndarray) and value.ndim == 0)
    if hint in SEQUENCES:
        return isinstance(value, SEQUENCES)
    checkable = isinstance(hint, type) and not getattr(hint, "_is_protocol", False)
    return isinstance(value, hint) if checkable else True
