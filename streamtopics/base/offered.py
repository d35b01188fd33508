# SPDX-License-Identifier: BSD-3-Clause
"""Methods that an estimator has only with some of its parameters."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, Protocol, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])


class Decorator(Protocol):
    """A decorator that leaves the type of a method as it is."""

    def __call__(self, method: Method, /) -> Method:
        """Return the method, or what stands for it."""


class _Offered:
    """A method that is there where a check of the estimator raises nothing.

    Unlike that of scikit-learn's `available_if`, the error is the check's own, with a remedy.
    """

    def __init__(self, fn: Callable[..., Any], check: Callable[[Any], None]) -> None:
        self.fn, self.check = fn, check

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        if estimator is None:
            return self.fn
        self.check(estimator)
        return MethodType(self.fn, estimator)


def offered_where(check: Callable[[Any], None]) -> Decorator:
    """Return a decorator of methods; `check` raises AttributeError where there is none."""

    def offered(method: Method, /) -> Method:
        return cast(Method, _Offered(method, check))

    return offered


def composition_of(estimator: Any) -> Any:
    """The composition of an estimator; AttributeError where its parameters make none."""
    try:
        return estimator._checked_composition()
    except MemoryError:
        raise
    except Exception as error:
        raise AttributeError(f"parameters without a method of learning: {error}") from error
