# SPDX-License-Identifier: BSD-3-Clause
"""Sums of the statistics of several minibatches."""

import numpy as np

from streamtopics.kernels import minibatch as kernel
from streamtopics.messages import Statistics


def add_scaled(
    total: np.ndarray, words: np.ndarray, scale: np.ndarray, statistics: Statistics
) -> None:
    """Add `scale` times the counts of statistics to `total`, the counts of `words`.

    Parameters
    ----------
    total : ndarray of shape (n_words, n_components), float64
        Written in place.
    words : ndarray of shape (n_words,), int32
        Sorted; those of the statistics are among them.
    scale : ndarray of shape (n_components,), float64
    statistics : Statistics
    """
    places, counts = np.searchsorted(words, statistics.words), np.asarray(statistics.counts)
    if counts.dtype not in (np.float32, np.float64) or not counts.flags.c_contiguous:
        counts = np.ascontiguousarray(counts, np.float64)
    kernel.add_scaled(total, places.astype(np.int32), scale, counts)
