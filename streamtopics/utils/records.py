# SPDX-License-Identifier: BSD-3-Clause
"""Frozen records: fields by path, such as `boost__scale`, and estimators with records."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import fields, is_dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeGuard

from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def nested_fields(record: object) -> Iterator[tuple[str, Any]]:
    """Paths and values of the fields of a record, and of records within."""
    for name, value in fields_of(record).items() if is_record(record) else ():
        yield name, value
        for path, inner in nested_fields(value):
            yield f"{name}__{path}", inner


def fields_of(record: "DataclassInstance") -> dict[str, Any]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def replaced(record: Any, values: Mapping[str, Any], name: str) -> Any:
    """The record with other values, by path; `name` is for messages."""
    own: dict[str, Any] = {}
    inner: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        field, _, rest = path.partition("__")
        if rest:
            inner.setdefault(field, {})[rest] = value
        else:
            own[field] = value
    known = fields_of(record) if is_record(record) else {}
    if unknown := {*own, *inner} - {*known}:
        raise ValueError(
            f"{name}, {record!r}, has no parameter {min(unknown)!r}; it has {[*known]}"
        )
    for field, below in inner.items():
        own[field] = replaced(own.get(field, known[field]), below, f"{name}__{field}")
    return replace(record, **own)


def is_record(value: object) -> TypeGuard["DataclassInstance"]:
    return is_dataclass(value) and not isinstance(value, type)


def keep(estimator: object, given: Mapping[str, object]) -> None:
    """Store the parameters of an estimator, the `locals()` of its `__init__`."""
    for name, value in given.items():
        if name != "self":
            setattr(estimator, name, value)


def of_record(field: str, doc: str, kind: Callable[[Any], Any] = lambda value: value) -> Any:
    """A property for a field of an estimator's `_commit`; `kind` makes a copy."""

    def read(self: Any) -> Any:
        check_is_fitted(self)
        return kind(attrgetter(field)(self._commit))

    return property(read, doc=doc)


def without_owner(model: Any, state: dict[str, Any]) -> dict[str, Any]:
    """A copy of the state; requests of metadata name their estimator, as files have no circles."""
    state = dict(state)
    if requests := state.get("_metadata_request"):
        state["_metadata_request"] = deepcopy(requests, {id(requests.owner): type(model).__name__})
    return state
