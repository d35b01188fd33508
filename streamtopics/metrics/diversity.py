# SPDX-License-Identifier: BSD-3-Clause
"""Diversity of topics: how little their top words overlap.

    |union over k of W_k| / sum over k of |W_k|,

with W_k the top words of topic k (Dieng et al. 2020).
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np


def topic_diversity(topics: Sequence[Sequence[Any]] | np.ndarray) -> float:
    """Share of distinct words among the top words of all topics; to read with coherence.

    Parameters
    ----------
    topics : sequence of n_topics sequences of words
        The top words of each topic, as words or as numbers of columns. The paper takes 25 of
        each; the fewer, the higher the value, so compare only equal numbers.

    Returns
    -------
    diversity : float
        In (0, 1]: 1 if no word comes twice, 1 / n_topics if all topics have the
        same words. Higher is better.

    Raises
    ------
    TypeError
        If `topics` is a string or a sequence of strings or numbers.
    ValueError
        If there are no words.

    References
    ----------
    A. B. Dieng, F. J. R. Ruiz, D. M. Blei (2020). Topic modeling in embedding
    spaces. TACL 8, 439-453.

    Examples
    --------
    >>> from streamtopics.metrics import topic_diversity
    >>> topic_diversity([["ship", "sea", "wind"], ["tax", "law", "sea"]])
    0.8333333333333334
    """
    if any(isinstance(topic, str) or not hasattr(topic, "__iter__") for topic in topics):
        raise TypeError(
            f"topics must be a sequence of topics, each a sequence of words; got {topics!r}. Put "
            "a single topic into a list"
        )
    words = list(chain.from_iterable(topics))
    if not words:
        raise ValueError(
            f"topics must have words; got {topics!r}. Pass at least one word of one topic"
        )
    return len(set(words)) / len(words)
