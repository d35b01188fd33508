# SPDX-License-Identifier: BSD-3-Clause
"""Values from their descriptions: the other way of `describing`.

Nothing is looked up by a name but the classes and functions in `known`, none of which is called
with what a file says: objects are made empty and given their attributes, and those that are made
of parts are put together by `parts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from streamtopics.saving.fields import check_fields, with_defaults
from streamtopics.saving.known import named
from streamtopics.saving.parts import PARTS
from streamtopics.saving.upgrades import renamed_fields

PLAIN = frozenset({type(None), bool, int, float, str})
PENDING = object()


class Rebuilder:
    """Makes values from descriptions.

    Parameters
    ----------
    arrays : sequence of ndarray
        That the descriptions refer to.
    """

    def __init__(self, arrays: Sequence[np.ndarray]) -> None:
        self._arrays = arrays
        self._made: list[Any] = []

    def value(self, description: Any) -> Any:
        """Return what a description says.

        Raises
        ------
        ValueError, TypeError
            If it says nothing valid; also others, from what objects check themselves.
        """
        if type(description) in PLAIN:
            return description
        if type(description) is list:
            items: list[Any] = []
            self._made.append(items)
            items.extend(map(self.value, description))
            return items
        ((kind, content),) = description.items()
        if kind not in KINDS:
            raise ValueError(f"there is no kind {kind!r} of values")
        return KINDS[kind](self, content)

    def _begun(self, made: Any = PENDING) -> int:
        """The number of a value that begins, and that may be complete only later."""
        self._made.append(made)
        return len(self._made) - 1

    def _values(self, descriptions: dict[str, Any]) -> dict[str, Any]:
        return {name: self.value(one) for name, one in descriptions.items()}

    def _items(self, descriptions: list[Any]) -> list[Any]:
        if type(descriptions) is not list:
            raise TypeError(f"{descriptions!r} is no list of values")
        return [self.value(one) for one in descriptions]

    def _again(self, number: int) -> Any:
        if type(number) is not int or not 0 <= number < len(self._made):
            raise ValueError(f"there is no value {number!r} yet")
        if self._made[number] is PENDING:
            raise ValueError(f"the value {number} is a part of itself")
        return self._made[number]

    def _name(self, name: str) -> Any:
        return named(name)

    def _scalar(self, place: int) -> Any:
        return self._arrays[place][()]

    def _array(self, place: int) -> np.ndarray:
        self._begun(self._arrays[place])
        return self._arrays[place]

    def _objects(self, content: list[Any]) -> Any:
        shape, descriptions = content
        number = self._begun()
        made = np.empty(len(descriptions), object)
        for place, item in enumerate(self._items(descriptions)):
            made[place] = item
        self._made[number] = made.reshape(shape)
        return self._made[number]

    def _bytes(self, place: int) -> Any:
        self._begun(self._arrays[place].tobytes())
        return self._made[-1]

    def _tuple(self, descriptions: list[Any]) -> Any:
        return self._of_items(tuple, descriptions)

    def _set(self, descriptions: list[Any]) -> Any:
        return self._of_items(set, descriptions)

    def _frozenset(self, descriptions: list[Any]) -> Any:
        return self._of_items(frozenset, descriptions)

    def _of_items(self, kind: Callable[[list[Any]], Any], descriptions: list[Any]) -> Any:
        number = self._begun()
        self._made[number] = kind(self._items(descriptions))
        return self._made[number]

    def _dict(self, pairs: list[Any]) -> Any:
        made: dict[Any, Any] = {}
        self._begun(made)
        for key, value in pairs:
            known = self.value(key)
            made[known] = self.value(value)
        return made

    def _names(self, descriptions: dict[str, Any]) -> Any:
        made: dict[str, Any] = {}
        self._begun(made)
        for name, description in descriptions.items():
            made[name] = self.value(description)
        return made

    def _parts(self, content: list[Any]) -> Any:
        number, (name, descriptions) = self._begun(), content
        parts = PARTS[named(name)]
        self._made[number] = parts.whole(**self._values(descriptions))
        return self._made[number]

    def _object(self, content: list[Any]) -> Any:
        name, descriptions = content
        kind = named(name)
        if not isinstance(kind, type) or kind in PARTS:
            raise TypeError(f"{name!r} is no class of objects with attributes")
        if issubclass(kind, tuple):
            number = self._begun()
            self._made[number] = kind(**self._checked(kind, descriptions))
            return self._made[number]
        made: Any = kind.__new__(kind)
        self._begun(made)
        state = self._checked(kind, descriptions)
        if hasattr(kind, "__setstate__"):
            made.__setstate__(state)
        else:
            vars(made).update(state)
        return made

    def _checked(self, kind: type, descriptions: dict[str, Any]) -> dict[str, Any]:
        """The attributes of an object, which must be of the kinds that its class says."""
        state = with_defaults(kind, renamed_fields(kind, self._values(descriptions)))
        check_fields(kind, state)
        return state


# By the key of a description, what makes the value.
KINDS: dict[Any, Callable[..., Any]] = {
    "again": Rebuilder._again,
    "name": Rebuilder._name,
    "scalar": Rebuilder._scalar,
    "array": Rebuilder._array,
    "objects": Rebuilder._objects,
    "bytes": Rebuilder._bytes,
    "tuple": Rebuilder._tuple,
    "set": Rebuilder._set,
    "frozenset": Rebuilder._frozenset,
    "dict": Rebuilder._dict,
    "names": Rebuilder._names,
    "parts": Rebuilder._parts,
    "object": Rebuilder._object,
}
