# SPDX-License-Identifier: BSD-3-Clause
"""Which words occur in each window of consecutive tokens that slides over documents."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from streamtopics.utils.structure import has_entries

WINDOWS_AT_ONCE = 1 << 16


def window_counts(
    documents: Iterable[Sequence[Any]], column: Mapping[Any, int], window: int
) -> Iterator[sparse.csr_matrix]:
    """Counts of words in windows, of shape (n_windows, len(column)), some documents at a time.

    A document of N tokens has N - window + 1 windows, or one of all its tokens if it is shorter.
    Tokens without a column have their place in windows.
    """
    places: list[np.ndarray] = []
    words: list[np.ndarray] = []
    n = 0
    for document in documents:
        if not has_entries(document):
            raise TypeError(
                "X must be a sequence of documents, each a sequence of tokens, where window is "
                f"given; got the document {document!r:.60}. Split texts into words first"
            )
        tokens = list(document)
        width = min(window, len(tokens))
        n_windows = max(1, len(tokens) - window + 1)
        known = np.array([p for p, token in enumerate(tokens) if token in column], dtype=np.int64)
        starts = known[:, None] - np.arange(width)
        token, step = np.nonzero((starts >= 0) & (starts < n_windows))
        places.append(n + starts[token, step])
        words.append(np.array([column[tokens[p]] for p in known], dtype=np.int64)[token])
        n += n_windows
        if n >= WINDOWS_AT_ONCE:
            yield _matrix(places, words, (n, len(column)))
            places, words, n = [], [], 0
    if n:
        yield _matrix(places, words, (n, len(column)))


def _matrix(
    places: list[np.ndarray], words: list[np.ndarray], shape: tuple[int, int]
) -> sparse.csr_matrix:
    row, word = np.concatenate(places), np.concatenate(words)
    return sparse.csr_matrix((np.ones(len(row)), (row, word)), shape=shape)
