# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the fields of records, such as rules and models, and of arguments of functions.

The functions `check_*` raise errors with the name, the value and the remedy. Checked numbers become
Python numbers, because NumPy's numbers wrap around.
"""

import sys
import warnings
from collections.abc import Callable, Iterable
from inspect import signature
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike

# More rounds than a kernel can count, and more documents than a double can.
MOST_WHOLE = 2**31 - 1
MOST_DOCUMENTS = 10**15
# Most samples of the topics of a document; more would not be more exact.
MOST_PARTICLES = 1_000_000
# Range of the pseudo-counts of a prior.
LEAST_PRIOR, MOST_PRIOR = 1e-10, 1e10
# A word with a smaller share of its greatest pseudo-count is excluded from a topic.
EXCLUDED = 1e-3
# Range of numbers in units of data, such as a rate or a precision.
LEAST_SCALE, MOST_SCALE = 1e-50, 1e50
# Largest error of a sum of probabilities.
SUM_TOLERANCE = 1e-6


def warn_of_no_effect(estimator: Any, *names: str) -> None:
    """Warn of parameters that were set but have no effect in `fit`."""
    parameters, values = signature(type(estimator)).parameters, estimator.get_params(deep=False)
    for name in names:
        if name in values and (value := values[name]) != parameters[name].default:
            message = f"{name}={value!r} of {type(estimator).__name__} has no effect in fit"
            warnings.warn(f"{message}, only in partial_fit", UserWarning, stacklevel=3)


def check_range(record: object, least: float, most: float, **values: float) -> None:
    for name, value in values.items():
        number = plain(value)
        if not (is_number(number) and least <= number <= most and abs(number) < np.inf):
            at_least = f"a finite number of at least {least:g}"
            allowed = f"a number in [{least:g}, {most:g}]" if most < np.inf else at_least
            _fail(record, name, value, allowed)
        _store(record, name, value)


def check_positive(record: object, **values: float) -> None:
    for name, value in values.items():
        if not (is_number(plain(value)) and 0 < value < np.inf):
            _fail(record, name, value, "positive")
        _store(record, name, value)


def check_pseudo_counts(record: object, **values: float) -> None:
    check_range(record, LEAST_PRIOR, MOST_PRIOR, **values)


def check_scales(record: object, **values: float) -> None:
    check_range(record, LEAST_SCALE, MOST_SCALE, **values)


def check_whole(record: object, least: int = 1, most: int = MOST_WHOLE, **values: int) -> None:
    for name, value in values.items():
        if not (is_whole(value) and least <= int(value) <= most):
            _fail(record, name, value, f"a whole number from {least} to {most:,}")
        _store(record, name, value)


def check_method(record: object, method: str, example: str, **values: object) -> None:
    for name, value in values.items():
        if not callable(getattr(value, method, None)):
            _fail(record, name, value, f"a record such as {example}")


def check_integer(
    *, least: int = 1, most: int = sys.maxsize, reason: str = "", **values: int
) -> None:
    """Refuse arguments that are no integers from `least` to `most`; `reason` is for `least`."""
    for name, value in values.items():
        if not is_whole(value):
            raise TypeError(f"{name} must be an integer; got {value!r:.60}")
        if not least <= value <= most:
            allowed = f"at least {least}{reason}" if value < least else f"at most {most:,}"
            raise ValueError(f"{name} must be {allowed}; got {value!r:.60}")


def check_number(*, least: float, most: float, **values: float) -> None:
    for name, value in values.items():
        if not (is_number(value) and least <= plain(value) <= most):
            raise ValueError(f"{name} must be a number in [{least:g}, {most:g}]; got {value!r:.60}")


def check_tokens(**values: float) -> None:
    check_number(least=LEAST_PRIOR, most=MOST_PRIOR, **values)


def check_one_of(choices: Iterable[str], **values: str) -> None:
    for name, value in values.items():
        if not (isinstance(value, str) and value in choices):
            allowed = ", ".join(map(repr, choices))
            raise ValueError(f"{name} must be one of {allowed}; got {value!r:.60}")


def is_masked(values: object) -> bool:
    # NumPy's own function would ask a frame for a column called _mask.
    return isinstance(values, np.ma.MaskedArray) and bool(np.ma.is_masked(values))


def check_not_masked(values: object, caller: str, name: str) -> None:
    if is_masked(values):
        raise ValueError(f"{name}, passed to {caller}, is a masked array with masked entries")


def floats(values: ArrayLike, name: str) -> np.ndarray:
    """A new array of float64; masked entries, dates and complex numbers are refused."""
    check_not_masked(values, "streamtopics", name)
    if np.asarray(values).dtype.kind in "mMc":
        raise TypeError(f"{name} must hold real numbers; got {np.asarray(values).dtype}")
    return np.array(values, dtype=np.float64)


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, not a bool or a span of time."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number in the range of floats, not a bool."""
    if is_whole(value):
        return abs(int(value)) <= sys.float_info.max
    return isinstance(value, Real) and not isinstance(value, Integral)


def plain(value: Any) -> Any:
    """A number of NumPy as a Python number; other values unchanged."""
    if isinstance(value, np.integer) and is_whole(value):
        return int(value)
    return float(value) if isinstance(value, np.floating) else value


class HoldsPlainNumbers:
    """An estimator that converts parameters from NumPy's numbers to Python's."""

    _get_param_names: Callable[[], list[str]]

    def __setattr__(self, name: str, value: object) -> None:
        if isinstance(value, np.number) and name in self._get_param_names():
            value = plain(value)
        super().__setattr__(name, value)


def _store(record: object, name: str, value: object) -> None:
    if isinstance(value, np.generic) and getattr(record, name, None) is value:
        object.__setattr__(record, name, plain(value))


def _fail(record: object, name: str, value: object, allowed: str) -> None:
    raise ValueError(f"{name} of {type(record).__name__} must be {allowed}; got {value!r:.200}")
