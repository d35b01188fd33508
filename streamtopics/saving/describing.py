# SPDX-License-Identifier: BSD-3-Clause
"""Values as a description that JSON can hold, and the arrays that it refers to.

None, truth values, numbers and texts are described by themselves and lists by lists. Everything
else is an object of JSON with one key that says what it is, see `KINDS` in `rebuilding`. Lists
and these objects are numbered in the order in which they begin, so that what is referred to
twice is described once, and then as ``{"again": number}``; but for what cannot change and is
known by its values, so that a file does not tell a default of a class from an equal record.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from streamtopics.saving.fields import check_fields
from streamtopics.saving.known import name_of
from streamtopics.saving.parts import PARTS

PLAIN = frozenset({type(None), bool, int, float, str})
# scikit-learn's note of where in memory the stop words were that it has checked; it checks anew.
ADDRESSES = frozenset({"_stop_words_id"})


class Describer:
    """Describes values; what it has described must not change before it is written.

    Attributes
    ----------
    arrays : list of ndarray
        That the descriptions refer to, by their place.
    """

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._numbers: dict[int, int] = {}
        self._n_begun = 0
        # So that no other object takes the place of one in memory.
        self._described: list[Any] = []
        self._open: set[int] = set()

    def described(self, value: Any, where: str) -> Any:
        """Return the description of a value.

        Parameters
        ----------
        value : object
        where : str
            What it is, for messages.

        Raises
        ------
        TypeError
            If it, or something in it, cannot be kept.
        """
        kind = type(value)
        if kind in PLAIN:
            return value
        if isinstance(value, np.generic):
            return self._scalar(value, where)
        if isinstance(value, type) or (callable(value) and name_of(kind) is None):
            return {"name": _checked_name(value, where)}
        if id(value) in self._numbers:
            if id(value) in self._open:
                raise TypeError(f"{where} refers to itself, which cannot be kept; use pickle")
            return {"again": self._numbers[id(value)]}
        if not _is_plain_record(value):
            self._numbers[id(value)] = self._n_begun
            self._described.append(value)
        self._n_begun += 1
        if kind is list:
            return self._items(value, where)
        if kind is dict:
            return self._dict(value, where)
        if kind in (np.ndarray, np.memmap):
            return self._array(value, where)
        self._open.add(id(value))
        found = self._object(value, where)
        self._open.discard(id(value))
        return found

    def _object(self, value: Any, where: str) -> dict[str, Any]:
        """Describe what is neither a list, a dict nor an array."""
        kind = type(value)
        if kind in (tuple, set, frozenset):
            items = value if kind is tuple else _in_order(value)
            return {kind.__name__: self._items(items, where)}
        if kind is bytes:
            self.arrays.append(np.frombuffer(value, np.uint8))
            return {"bytes": len(self.arrays) - 1}
        name = _checked_name(kind, where, value)
        if kind in PARTS:
            try:
                parts = PARTS[kind].of(value)
            except TypeError as error:
                raise TypeError(f"{where} cannot be kept: {error}; use pickle") from None
            return {"parts": [name, self._values(parts, where)]}
        # Other than what is made of parts, it may refer to itself.
        self._open.discard(id(value))
        if issubclass(kind, tuple):
            self._open.add(id(value))
            state = value._asdict()
        else:
            state = self._state(value, where)
        try:
            check_fields(kind, state)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"{where} cannot be kept: {error}; set it right, or use pickle"
            ) from None
        return {"object": [name, self._values(state, where)]}

    def _state(self, value: Any, where: str) -> dict[str, Any]:
        """The attributes of an object."""
        if is_dataclass(value) and "__getstate__" not in vars(type(value)):
            return {field.name: getattr(value, field.name) for field in fields(value)}
        state = value.__getstate__()
        if state is None:
            return {}
        if type(state) is not dict or not all(type(name) is str for name in state):
            raise TypeError(
                f"{where} cannot be kept: its state is no dict of attributes; use pickle"
            )
        state = {name: part for name, part in state.items() if name not in ADDRESSES}
        self._described.append(state)
        return state

    def _values(self, values: dict[str, Any], where: str) -> dict[str, Any]:
        """Describe the values of a dict by name."""
        self._described.append(values)
        return {name: self.described(value, f"{where}.{name}") for name, value in values.items()}

    def _items(self, values: Any, where: str) -> list[Any]:
        """Describe what is in a list, tuple or set."""
        if PLAIN.issuperset(map(type, values)):
            return list(values)
        return [self.described(value, f"{where}[{i}]") for i, value in enumerate(values)]

    def _dict(self, values: dict[Any, Any], where: str) -> dict[str, Any]:
        """Describe a dict."""
        if not all(type(key) is str for key in values):
            pairs = [
                [self.described(key, f"a key of {where}"), self.described(v, f"{where}[{key!r}]")]
                for key, v in values.items()
            ]
            return {"dict": pairs}
        if PLAIN.issuperset(map(type, values.values())):
            return {"names": dict(values)}
        return {"names": {k: self.described(v, f"{where}[{k!r}]") for k, v in values.items()}}

    def _array(self, value: np.ndarray, where: str) -> dict[str, Any]:
        """Describe an array."""
        if value.dtype == object:
            return {"objects": [list(value.shape), self._items(value.ravel().tolist(), where)]}
        if value.dtype.kind not in "biufcSUmM":
            raise TypeError(f"{where} is an array of {value.dtype}, which cannot be kept")
        if value.dtype.itemsize == 0:
            # Empty texts, of which NumPy cannot make such an array again.
            value = value.astype(f"{value.dtype.kind}1")
        self.arrays.append(value)
        return {"array": len(self.arrays) - 1}

    def _scalar(self, value: Any, where: str) -> Any:
        """Describe a number, text or time of NumPy."""
        if isinstance(value, np.str_):
            return str(value)
        if value.dtype.kind not in "biufcmM":
            raise TypeError(f"{where} is a {value.dtype}, which cannot be kept")
        self.arrays.append(np.asarray(value))
        return {"scalar": len(self.arrays) - 1}


def _in_order(values: Any) -> Any:
    """Return the members of a set in an order that is the same in every process."""
    return sorted(values) if {str}.issuperset(map(type, values)) else values


def _is_plain_record(value: Any) -> bool:
    """Whether it is a tuple or a frozen record of nothing but plain values."""
    kind = type(value)
    if kind is tuple:
        return PLAIN.issuperset(map(type, value))
    record = getattr(kind, "__dataclass_params__", None)
    if record is None or not record.frozen or "__getstate__" in vars(kind):
        return False
    return PLAIN.issuperset(type(getattr(value, one.name)) for one in fields(kind))


def _checked_name(known: Any, where: str, value: Any = None) -> str:
    """The name of a class or function that is known; an error that says what to do if not.

    `value` is what is of that class, where it is not the class itself that is to be kept.
    """
    name = name_of(known)
    if name is not None:
        return name
    shown = repr(known if value is None else value)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    if value is None:
        what = "classes of your own are" if isinstance(known, type) else "functions are"
        remedy = "set it to None before, and pass it again after loading"
    else:
        what = f"objects of {known.__module__}.{known.__qualname__} are"
        remedy = "keep it apart, or use pickle or joblib, which keep classes that are not ours"
    raise TypeError(f"{where} is {shown}, and {what} not kept in files; {remedy}")
