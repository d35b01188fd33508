# SPDX-License-Identifier: BSD-3-Clause
"""Frozen records as parameters of an estimator: their fields are parameters too.

A path names a field of a record within records by double underscores, as scikit-learn
does: `boost__scale`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeGuard

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


class RecordParameters:
    """Adds the fields of an estimator's records to its parameters.

    `_records` names the parameters that are records, or may be, where the estimator has them,
    with the words, or None, that stand for some of them.
    """

    _records: ClassVar[Mapping[str, Mapping[Any, Any]]]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, and where `deep` the fields of records such as the rule.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        params : dict
        """
        estimator: Any = super()
        params: dict[str, Any] = estimator.get_params(deep=False)
        if deep:
            for name in self._records:
                inner = nested_fields(self._record(name, params.get(name)))
                params |= {f"{name}__{path}": value for path, value in inner}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of records as ``update__rho``.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self : object
        """
        own = {name: value for name, value in params.items() if not self._nested_in(name)}
        for record in self._records:
            values = {
                name.removeprefix(f"{record}__"): value
                for name, value in params.items()
                if self._nested_in(name) == record
            }
            if values:
                now = self._record(record, own.get(record, getattr(self, record)))
                own[record] = replaced(now, values, record)
        estimator: Any = super()
        changed: Self = estimator.set_params(**own)
        return changed

    def _record(self, name: str, value: object) -> Any:
        """The record that a word stands for, or the value itself."""
        is_word = value is None or isinstance(value, str)
        return self._records[name].get(value, value) if is_word else value

    def _nested_in(self, name: str) -> str | None:
        """The parameter that is a record and has a field of this name."""
        record, separator, _ = name.partition("__")
        return record if separator and record in self._records and hasattr(self, record) else None


def nested_fields(record: object) -> Iterator[tuple[str, Any]]:
    """Paths and values of the fields of a record, and of the records in it."""
    if not is_record(record):
        return
    for field in fields(record):
        value = getattr(record, field.name)
        yield field.name, value
        for path, inner in nested_fields(value):
            yield f"{field.name}__{path}", inner


def replaced(record: Any, values: Mapping[str, Any], name: str) -> Any:
    """The record with other values, by path; `name` is its own, for messages."""
    own: dict[str, Any] = {}
    inner: dict[str, dict[str, Any]] = {}
    for path, value in values.items():
        field, _, rest = path.partition("__")
        if rest:
            inner.setdefault(field, {})[rest] = value
        else:
            own[field] = value
    known = [field.name for field in fields(record)] if is_record(record) else []
    if unknown := {*own, *inner} - {*known}:
        raise ValueError(f"{name}, {record!r}, has no parameter {min(unknown)!r}; it has {known}")
    for field, deeper in inner.items():
        own[field] = replaced(own.get(field, getattr(record, field)), deeper, f"{name}__{field}")
    return replace(record, **own)


def is_record(value: object) -> TypeGuard["DataclassInstance"]:
    """Whether this is an instance of a dataclass."""
    return is_dataclass(value) and not isinstance(value, type)


def same(one: object, other: object) -> bool:
    """Whether two records are of one class and have the same fields, which may be arrays."""
    if type(one) is not type(other):
        return False
    pairs = zip(nested_fields(one), nested_fields(other), strict=True)
    return all(
        path == path_ and (is_record(value) or np.array_equal(value, value_))
        for (path, value), (path_, value_) in pairs
    )


def keep(estimator: object, given: Mapping[str, object]) -> None:
    """Keep the parameters of an estimator: `given` has the `locals()` of its `__init__`."""
    for name, value in given.items():
        if name != "self":
            setattr(estimator, name, value)


def of_record(field: str, doc: str, kind: Callable[[Any], Any] | None = None) -> Any:
    """A property that reads a field of an estimator's `_commit`; `kind` makes a copy of it."""

    def read(self: Any) -> Any:
        check_is_fitted(self)
        value = attrgetter(field)(self._commit)
        return value if kind is None else kind(value)

    return property(read, doc=doc)
