# SPDX-License-Identifier: BSD-3-Clause
"""Frozen records as parameters of an estimator: their fields are parameters too.

A path names a field of a record within records by double underscores, as scikit-learn
does: `boost__scale`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np


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
                own[record] = replaced(now, values, record, self._records[record])
        estimator: Any = super()
        changed: Self = estimator.set_params(**own)
        return changed

    def _record(self, name: str, value: Any) -> Any:
        """The record that a word stands for, or the value itself."""
        is_word = value is None or isinstance(value, str)
        return self._records[name].get(value, value) if is_word else value

    def _nested_in(self, name: str) -> str | None:
        """The parameter that is a record and has a field of this name."""
        record, separator, _ = name.partition("__")
        return record if separator and record in self._records and hasattr(self, record) else None


def nested_fields(record: Any) -> Iterator[tuple[str, Any]]:
    """Paths and values of the fields of a record, and of the records in it."""
    if not is_record(record):
        return
    for field in fields(record):
        value = getattr(record, field.name)
        yield field.name, value
        for path, inner in nested_fields(value):
            yield f"{field.name}__{path}", inner


def replaced(
    record: Any, values: dict[str, Any], name: str, words: Mapping[Any, Any] | None = None
) -> Any:
    """The record with other values, by path; `name` is its own, for messages.

    So are the `words` that stand for records which may have the field that this one lacks.
    """
    own = {path: value for path, value in values.items() if "__" not in path}
    known = [field.name for field in fields(record)] if is_record(record) else []
    inner: dict[str, dict[str, Any]] = {}
    for path in values.keys() - own.keys():
        field, _, rest = path.partition("__")
        inner.setdefault(field, {})[rest] = values[path]
    for field in (*own, *inner):
        if field not in known:
            raise ValueError(
                f"{name}, {record!r}, has no parameter {field!r}; it has {known or 'none'}"
                f"{_remedy(name, field, words or {})}"
            )
    for field, deeper in inner.items():
        own[field] = replaced(own.get(field, getattr(record, field)), deeper, f"{name}__{field}")
    return replace(record, **own) if own else record


def _remedy(name: str, field: str, words: Mapping[Any, Any]) -> str:
    """Which word, or record, to set first, where one has the field."""
    for word, record in words.items():
        if is_record(record) and field in (own.name for own in fields(record)):
            return f"; set {name}={word!r} or a record such as {record!r} first"
    return ""


def is_record(value: Any) -> bool:
    """Whether this is an instance of a dataclass."""
    return is_dataclass(value) and not isinstance(value, type)


def same(one: Any, other: Any) -> bool:
    """Whether two records are of one class and have the same fields, which may be arrays."""
    if type(one) is not type(other):
        return False
    pairs = zip(nested_fields(one), nested_fields(other), strict=True)
    return all(
        path == path_ and (is_record(value) or np.array_equal(value, value_))
        for (path, value), (path_, value_) in pairs
    )


def keep(estimator: Any, given: dict[str, Any]) -> None:
    """Keep the parameters of an estimator: `given` has the `locals()` of its `__init__`."""
    for name, value in given.items():
        if name != "self":
            setattr(estimator, name, value)
