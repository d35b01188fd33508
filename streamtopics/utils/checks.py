# SPDX-License-Identifier: BSD-3-Clause
"""Checks of the fields of records, such as rules and models, and of arguments of functions.

Each error names the record, the field or argument, what came and what would be right. Numbers
that are checked as fields are Python's own from then on: those of NumPy wrap around, or are rounded
to 32 bits, or refuse a power, where they meet others.
"""

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from inspect import signature
from numbers import Integral, Real
from pathlib import Path
from traceback import walk_stack
from typing import Any, TypeGuard

import numpy as np

# More rounds than a kernel can count, and more documents than a double can.
MOST_WHOLE = 2**31 - 1
MOST_DOCUMENTS = 10**15
# Seeds that NumPy's RandomState takes.
MOST_SEED = 2**32 - 1
# Samples of the topics of a document, beyond which nothing is more exact.
MOST_PARTICLES = 1_000_000
# Pseudo-counts that a prior may have.
LEAST_PRIOR, MOST_PRIOR = 1e-10, 1e10
# Share of the greatest pseudo-count of a word below which the prior of a topic excludes it.
EXCLUDED = 1e-3
# What has the units of data, such as a rate or a precision.
LEAST_SCALE, MOST_SCALE = 1e-50, 1e50
# How far the sum of probabilities may be from 1.
SUM_TOLERANCE = 1e-6
# Characters of a value in a message.
LONG = 200
# Packages between a line of a user's and what it brings about.
BETWEEN = ("streamtopics", "sklearn", "joblib")
# Warnings that this process has shown, and where.
_SHOWN: set[tuple[str, str, int]] = set()


def warn_of_no_effect(estimator: Any, *names: str) -> None:
    """Warn of parameters that were set and that `fit` does not read, if the estimator has them."""
    parameters = signature(type(estimator)).parameters
    for name in names:
        if name in parameters and (value := getattr(estimator, name)) != parameters[name].default:
            text = f"{name}={value!r} of {type(estimator).__name__} has no effect in fit, only in"
            remedy = "leave it at its default, or learn by partial_fit"
            warn_once(f"{text} partial_fit; {remedy}", UserWarning)


def warn_once(text: str, category: type[Warning]) -> None:
    """Warn once for a line of the caller's, unless filters ask for it always or as an error.

    Python forgets what it has shown when a search of scikit-learn sets the filters for each fit.
    """
    stack = [(frame, frame.f_globals.get("__name__", "")) for frame, _ in walk_stack(None)]
    outside = (one for one in stack if one[1].partition(".")[0] not in BETWEEN)
    frame, module = next(outside, stack[-1])
    key = text, frame.f_code.co_filename, frame.f_lineno
    filters = (one for one in warnings.filters if issubclass(category, one[2]))
    action = next((one[0] for one in filters if re.match(one[1] or "", text)), "default")
    if action in ("always", "all", "error") or (action != "ignore" and key not in _SHOWN):
        _SHOWN.add(key)
        warnings.warn_explicit(text, category, *key[1:], module)


def check_range(record: object, least: float, most: float, **values: Any) -> None:
    """Refuse fields that are not numbers from `least` to `most`, infinity never."""
    for name, value in values.items():
        number = plain(value)
        if not (is_number(number) and least <= number <= most and abs(number) < np.inf):
            allowed = f"a finite number of at least {least:g}"
            if most < np.inf:
                allowed = f"a number in [{least:g}, {most:g}]"
            elif least == -np.inf:
                allowed = "a finite number"
            _refuse(record, name, value, allowed)
        _hold(record, name, value)


def check_positive(record: object, **values: Any) -> None:
    """Refuse fields that are not positive numbers."""
    for name, value in values.items():
        number = plain(value)
        if not (is_number(number) and 0 < number < np.inf):
            _refuse(record, name, value, "positive")
        _hold(record, name, value)


def check_pseudo_counts(record: object, **values: Any) -> None:
    """Refuse fields that are no pseudo-counts of a prior."""
    check_range(record, LEAST_PRIOR, MOST_PRIOR, **values)


def check_scales(record: object, **values: Any) -> None:
    """Refuse fields that no data can have the scale of."""
    check_range(record, LEAST_SCALE, MOST_SCALE, **values)


def check_whole(record: object, least: int = 1, most: int = MOST_WHOLE, **values: Any) -> None:
    """Refuse fields that are not whole numbers from `least` to `most`."""
    for name, value in values.items():
        if not (is_whole(value) and int(value) >= least):
            _refuse(record, name, value, f"a whole number of at least {least}")
        if int(value) > most:
            _refuse(record, name, value, f"a whole number of at most {most:,}")
        _hold(record, name, value)


def check_choice(record: object, choices: tuple[str, ...], **values: Any) -> None:
    """Refuse fields that are none of the choices."""
    for name, value in values.items():
        if not (isinstance(value, str) and value in choices):
            _refuse(record, name, value, " or ".join(map(repr, choices)))


def check_able(record: object, method: str, example: str, **values: Any) -> None:
    """Refuse fields without a method."""
    for name, value in values.items():
        if not callable(getattr(value, method, None)):
            _refuse(record, name, value, f"a record such as {example}")


def check_integer(*, least: int = 1, most: int = sys.maxsize, why: str = "", **values: Any) -> None:
    """Refuse arguments that are not integers from `least` to `most`; `why` tells of the least."""
    for name, value in values.items():
        if not is_whole(value):
            raise TypeError(f"{name} must be an integer; got {value!r:.{LONG}}")
        if value < least:
            raise ValueError(f"{name} must be at least {least}{why}; got {value!r:.{LONG}}")
        if value > most:
            raise ValueError(f"{name} must be at most {most:,}; got {value!r:.{LONG}}")


def check_one_of(choices: Iterable[str], **values: Any) -> None:
    """Refuse arguments that are none of the words."""
    for name, value in values.items():
        if not (isinstance(value, str) and value in choices):
            allowed = ", ".join(map(repr, choices))
            raise ValueError(f"{name} must be one of {allowed}; got {value!r:.{LONG}}")


def check_truth(**values: Any) -> None:
    """Refuse arguments that are neither True nor False."""
    for name, value in values.items():
        if not isinstance(value, bool | np.bool_):
            raise TypeError(f"{name} must be True or False; got {value!r:.60}")


def is_masked(values: Any) -> bool:
    """Whether it is an array with masked entries, which NumPy would read as if they were not."""
    # Of a frame NumPy's own function would ask a column that is called _mask.
    return isinstance(values, np.ma.MaskedArray) and bool(np.ma.is_masked(values))


def check_not_masked(values: Any, caller: str, name: str) -> None:
    """Refuse an array with masked entries."""
    if is_masked(values):
        raise ValueError(
            f"{name}, passed to {caller}, is a masked array with masked entries, which no result "
            f"may hang on; leave them out, or pass {name}.filled(...)"
        )


def path_of(path: Any, name: str = "path") -> Path:
    """A path as one of pathlib; what no file can be called is refused by name."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str):
        raise TypeError(f"{name} must be a text or a path; got {path!r:.60}")
    try:
        sound = b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        sound = False
    if not sound:
        raise ValueError(f"{name} must be what a file can be called; got {path!r:.60}")
    return Path(text)


@contextmanager
def within_floats(name: str) -> Iterator[None]:
    """Name the argument that holds a whole number beyond floating point, which NumPy does not."""
    try:
        yield
    except OverflowError as error:
        raise ValueError(
            f"{name} must hold numbers of at most {sys.float_info.max:.1e} in size, the most of "
            "floating point, but a whole number in it is larger; scale it, or check how it was made"
        ) from error


def floats(values: Any, name: str) -> np.ndarray:
    """An array of float64, of its own; masked entries are refused."""
    if is_masked(values):
        raise ValueError(f"{name} is a masked array with masked entries; leave them out")
    with within_floats(name):
        try:
            if np.asarray(values).dtype.kind in "mM":
                raise TypeError("dates and spans of time are no numbers")
            return np.array(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise TypeError(f"{name} must hold numbers; got {values!r:.60}") from error


def check_seed(random_state: Any) -> None:
    """Refuse what scikit-learn's `check_random_state` would not take."""
    is_seed = is_whole(random_state) and 0 <= int(random_state) <= MOST_SEED
    has_state = random_state is np.random or isinstance(random_state, np.random.RandomState)
    if not (random_state is None or is_seed or has_state):
        raise ValueError(
            f"random_state must be None, a whole number from 0 to {MOST_SEED:,} or a RandomState; "
            f"got {random_state!r:.{LONG}}"
        )


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether this is a whole number, however large; no truth value is, and no span of time."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether this is a number that floating point can hold; no truth value is."""
    if is_whole(value):
        return abs(int(value)) <= sys.float_info.max
    return isinstance(value, Real) and not isinstance(value, Integral)


def plain(value: Any) -> Any:
    """A number of NumPy as one of Python, anything else as it is."""
    if isinstance(value, np.integer) and is_whole(value):
        return int(value)
    return float(value) if isinstance(value, np.floating) else value


class HoldsPlainNumbers:
    """An estimator whose parameters are numbers of Python from when they are set, if they are any.

    Those of NumPy would wrap around or be rounded in all that is counted by them.
    """

    _get_param_names: Callable[[], list[str]]

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; one that is no parameter stays as it is."""
        if isinstance(value, np.number) and name in self._get_param_names():
            value = plain(value)
        super().__setattr__(name, value)


def _hold(record: object, name: str, value: Any) -> None:
    """Let a field hold the number as one of Python."""
    if isinstance(value, np.generic) and getattr(record, name, None) is value:
        object.__setattr__(record, name, plain(value))


def _refuse(record: object, name: str, value: Any, allowed: str) -> None:
    value = repr(value) if len(repr(value)) < LONG else f"{repr(value)[:LONG]}..."
    raise ValueError(f"{name} of {type(record).__name__} must be {allowed}; got {value}")
