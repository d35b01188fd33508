# SPDX-License-Identifier: BSD-3-Clause
"""Checks, before objects are loaded, of all that compiled code relies on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from streamtopics.posteriors.rows import Rows
from streamtopics.posteriors.topics import TopicPosterior

MOST_WORDS = 2**31 - 1


def check_rows(state: dict[str, Any]) -> None:
    """Refuse a store in which words have no row of their own, or are outside the vocabulary."""
    n_words, words, counts = state["n_words"], state["words"], state["counts"]
    if type(n_words) is not int or not 0 <= n_words <= MOST_WORDS:
        raise ValueError(f"n_words must be at most {MOST_WORDS}; got {n_words!r}")
    check_array(words, np.int32, (len(words),))
    check_array(counts, np.float64, (len(words) + 1, counts.shape[1]))
    if len(words) and (words.min() < 0 or words.max() >= n_words):
        raise ValueError(f"words must be less than n_words, which is {n_words}")
    if len(np.unique(words)) < len(words):
        raise ValueError("words must be distinct")


def check_topics(state: dict[str, Any]) -> None:
    """Refuse topics whose arrays are not of one size."""
    now, (n_words, k) = state["_state"], state["shape"]
    if not isinstance(now.S, Rows) or now.S.shape != (n_words, k):
        raise ValueError(f"the store of counts must have the shape {(n_words, k)}")
    for name in ("c", "a", "b", "learnt_mass"):
        check_array(getattr(now, name), np.float64, (k,))


def check_array(array: Any, dtype: Any, shape: tuple[int, ...]) -> None:
    """Refuse what is not an array of this type and shape, row by row."""
    is_one = isinstance(array, np.ndarray) and array.flags.c_contiguous
    if not is_one or array.dtype != dtype or array.shape != shape:
        raise ValueError(f"there must be an array of {np.dtype(dtype)} and shape {shape}")


CHECKS: dict[type, Callable[[dict[str, Any]], None]] = {
    Rows: check_rows,
    TopicPosterior: check_topics,
}
