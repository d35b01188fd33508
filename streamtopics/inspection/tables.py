# SPDX-License-Identifier: BSD-3-Clause
"""What a topic model has learnt, as rows for people or for a DataFrame."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from streamtopics.base import StreamingTopicModel


class TopicRow(NamedTuple):
    """One topic: its position, share of the tokens, share of prior and words."""

    topic: int
    weight: float
    prior_retention: float
    words: list


def topic_table(
    estimator: StreamingTopicModel, feature_names: Any = None, n: int = 10
) -> list[TopicRow]:
    """The topics of a fitted model, the heaviest first.

    Parameters
    ----------
    estimator : object
        A fitted estimator of streamtopics.
    feature_names : array-like of shape (n_features,), default=None
        As in `top_words`.
    n : int, default=10
        How many words for each topic.

    Returns
    -------
    table : list of TopicRow
        `str.join` its lines with `format_topics`, or pass it to
        `pandas.DataFrame`.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.inspection import format_topics, topic_table
    >>> model = SVBLDA(n_components=2, random_state=0).fit([[4, 0, 1], [0, 3, 0]])
    >>> table = topic_table(model, ["sea", "sky", "sun"], n=2)
    >>> [row.topic for row in table] in ([0, 1], [1, 0])
    True
    """
    words = estimator.top_words(feature_names, n)
    weights, retention = estimator.topic_weights_, estimator.prior_retention_
    order = np.argsort(-weights, kind="stable")
    return [TopicRow(int(k), float(weights[k]), float(retention[k]), words[k]) for k in order]


def format_topics(table: Sequence[TopicRow], width: int = 100) -> str:
    """A table of topics as text, cut to `width` characters a line."""
    lines = [f"{'topic':>5}  {'weight':>6}  {'prior':>6}  words"]
    for row in table:
        words = " ".join(str(word) for word in row.words)
        line = f"{row.topic:>5}  {row.weight:>6.1%}  {row.prior_retention:>6.1%}  {words}"
        lines.append(line[:width])
    return "\n".join(lines)
