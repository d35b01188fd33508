# SPDX-License-Identifier: BSD-3-Clause
"""The leading words of topics among some that are read, in one order."""

import numpy as np


def first_of_equals(values: np.ndarray, least: np.ndarray, n: int) -> np.ndarray:
    """Which values are at least the `least` of their column; of those equal to it, n do."""
    chosen: np.ndarray = values >= least
    if np.count_nonzero(chosen) > 4 * n * len(least):
        equal = values == least
        chosen &= ~equal | (np.cumsum(equal, axis=0) <= n)
    return chosen


def leading(n: int, topics: np.ndarray, words: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The n words of the largest values of each topic, of equal ones the first."""
    order = np.lexsort((words, -values, topics))
    first = np.searchsorted(topics[order], np.arange(topics.max() + 1))
    found: np.ndarray = words[order][first[:, None] + np.arange(n)]
    return found
