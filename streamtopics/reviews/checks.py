# SPDX-License-Identifier: BSD-3-Clause
"""Checks of ratings, and of the labels of users and items."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d

from streamtopics.utils.checks import check_not_masked

# Squares of larger ratings would overflow.
MOST_RATING = 1e100
MOST_LABEL = np.iinfo(np.int64).max


def check_ratings(y: Any, X: Any, caller: str, remedy: str) -> np.ndarray:
    """Ratings as float64, one for each row of X; `remedy` is what to do without."""
    if y is None:
        raise ValueError(
            f"{caller} requires y to be passed, but the target y is None; y are the ratings, "
            f"one for each row of X. {remedy}"
        )
    check_not_masked(y, caller, "y")
    try:
        values = np.asarray(y)
        # With a time zone they are objects.
        if values.dtype.kind in "mM" or any(isinstance(one, date) for one in values.ravel()[:1]):
            raise TypeError("dates and spans of time are no ratings")
        # What is too large for 64 bits is infinite, and refused.
        with np.errstate(over="ignore"):
            y = check_array(
                y, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0
            )
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"{error}; y, passed to {caller}, must be ratings, one number for each row of X"
        ) from error
    ratings: np.ndarray = column_or_1d(y, warn=True)
    check_consistent_length(X, ratings)
    if not np.isfinite(ratings).all():
        place = int(np.flatnonzero(~np.isfinite(ratings))[0])
        raise ValueError(
            f"Input y contains {'NaN' if np.isnan(ratings[place]) else 'infinity'}, first at "
            f"{place}: {caller} needs a rating of each review; leave out those without"
        )
    if np.abs(ratings).max(initial=0.0) > MOST_RATING:
        raise ValueError(
            f"y, passed to {caller}, has a rating of {np.abs(ratings).max():g} in size, more than "
            f"{MOST_RATING:g}; check how y was made, or rescale it"
        )
    return ratings


def check_whose(
    labels: Any, name: str, n: int, caller: str, known: np.ndarray | None
) -> np.ndarray:
    """Labels of users or items as int64 or str, one for each of n rows.

    `known` are those seen before, which must be of the same kind.
    """
    found = _one_kind(labels, name, caller)
    if found.size == 0:
        found = found.astype(np.int64 if known is None or not len(known) else known.dtype)
    if found.dtype.kind not in "iuU":
        raise ValueError(
            f"{name} must be integers or strings, without missing ones; {caller} got {found.dtype}"
        )
    if found.shape != (n,):
        raise ValueError(
            f"{name} must have one entry for each row of X, shape ({n},); {caller} got "
            f"{found.shape}"
        )
    if found.dtype.kind != "U":
        found = found.astype(np.int64)
    if known is not None and len(known) and n and known.dtype.kind != found.dtype.kind:
        kinds = {"i": "integers", "U": "strings"}
        raise ValueError(
            f"{name} were {kinds[known.dtype.kind]} before, but {caller} got "
            f"{kinds[found.dtype.kind]}; name them as in the first minibatch"
        )
    return found


def _one_kind(labels: Any, name: str, caller: str) -> np.ndarray:
    """Labels as an array, of str or int64 if all are of that kind."""
    check_not_masked(labels, caller, name)
    # Of a list with strings and NaN numpy would make strings.
    found: np.ndarray = np.asarray(labels, dtype=None if hasattr(labels, "__array__") else object)
    if found.dtype.kind not in "Ou":
        return found
    values = found.ravel().tolist()
    kinds = {type(value) for value in values}
    if kinds and all(issubclass(kind, str) for kind in kinds):
        if cut := [value for value in values if value.endswith("\0")]:
            raise ValueError(
                f"{name} must not end in a NUL, which NumPy drops; {caller} got {cut[0]!r:.60}: "
                "leave it out"
            )
        return found.astype(str)
    if kinds and all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        largest = max(values, key=abs)
        if abs(largest) > MOST_LABEL:
            raise ValueError(
                f"{name} must be integers of 64 bits or strings; {caller} got {largest}: name "
                "them by strings"
            )
        return found.astype(np.int64)
    return found
