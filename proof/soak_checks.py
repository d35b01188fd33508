# SPDX-License-Identifier: BSD-3-Clause
"""What has to hold of the streams of `proof.soak`: of a model, and of the rows of a stream.

Each check returns what is wrong, and "" if nothing is. Memory may grow by `LEAK` bytes a token,
and by some bytes in the second half of a stream: `SLACK`, which is what an allocator keeps, or
`COMINGS` where processes begin again and again, with threads that read and save. A stream may
become slower by `SLOWER`, apart from what topics cost that were born meanwhile.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import theilslopes

Rows = Sequence[Mapping[str, Any]]
LEAK, SLACK, COMINGS = 0.1, 20e6, 100e6
SLOWER = 1.25
# Quarters that took less, in seconds of the processor, do not tell how fast a stream is.
LEAST_SECONDS = 5.0
# The model's own copies of a column of float64 for each topic.
COPIES = 4


# A model


def wrong_proportions(rows: np.ndarray) -> str:
    """Tell whether rows are not proportions."""
    sums = rows.sum(axis=1)
    if not np.isfinite(rows).all() or rows.min() < 0:
        return "proportions below 0, or not finite"
    return "" if np.abs(sums - 1).max() < 1e-6 else f"proportions that sum to {sums.max()}"


def wrong_topics(topics: Any, seen: tuple[int, int]) -> str:
    """Tell whether a model has seen other minibatches and documents, or parts of it do not fit."""
    counters = topics.n_batch_iter_, topics.n_documents_seen_
    if counters != seen:
        return f"{counters} minibatches and documents seen, not {seen}"
    if not np.isfinite(topics.components_).all():
        return "components that are not finite"
    posterior = topics.posterior_
    if not np.allclose(posterior.S.sum(axis=0), posterior.learnt_mass, rtol=1e-6, atol=1e-6):
        return "counts of words that do not sum to what was learnt"
    # They are divided by a mass that is kept beside the counts.
    return wrong_proportions(topics.topic_word_)


def wrong_tokens(model: Any, texts: list[str], n_tokens: float) -> str:
    """Tell whether another number of tokens was learnt than the texts of the last minibatch have.

    The columns of the words are those that the minibatch was learnt with.
    """
    counted = float(model.steps[0][1].transform(texts).sum())
    return "" if counted == n_tokens else f"{n_tokens} tokens learnt of {counted}"


# The rows of a stream


def column(rows: Rows, name: str) -> np.ndarray:
    """A column of rows."""
    return np.array([float(row[name]) for row in rows])


def quarters(rows: Rows, name: str) -> list[float]:
    """How much a sum has grown in each quarter."""
    return [part.sum() for part in np.array_split(np.diff(column(rows, name), prepend=0.0), 4)]


def speeds(rows: Rows) -> list[float]:
    """Tokens for each second of learning, by quarters."""
    pairs = zip(quarters(rows, "tokens"), quarters(rows, "seconds"), strict=True)
    return [tokens / max(seconds, 1e-3) for tokens, seconds in pairs]


def slower(rows: Rows) -> str:
    """Tell whether the last quarter was slower than the second."""
    seconds = quarters(rows, "seconds")
    if min(seconds[1], seconds[3]) < LEAST_SECONDS:
        return ""
    topics = [part.mean() for part in np.array_split(column(rows, "topics"), 4)]
    of_all = speeds(rows)
    if of_all[1] <= SLOWER * max(1.0, topics[3] / topics[1]) * of_all[3]:
        return ""
    return f"{of_all[3]:,.0f} tokens a second in the last quarter, {of_all[1]:,.0f} in the second"


def leaking(rows: Rows, n_columns: int, slack: float = SLACK) -> str:
    """Tell whether memory grew in the second half, by the median slope between its rows."""
    late = rows[len(rows) // 2 :]
    tokens = column(late, "tokens")
    n_bytes = 1e6 * column(late, "megabytes") - 8 * COPIES * n_columns * column(late, "topics")
    span = tokens[-1] - tokens[0]
    slope = float(theilslopes(n_bytes, tokens).slope)
    if slope * span <= max(slack, LEAK * span):
        return ""
    return f"memory grew by {slope:.2g} bytes a token, {slope * span / 1e6:.0f} MB in the last half"
