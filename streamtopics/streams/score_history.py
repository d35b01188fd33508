# SPDX-License-Identifier: BSD-3-Clause
"""Keeps the score of each minibatch of a stream before it was learnt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from streamtopics.streams.callbacks import BatchInfo
from streamtopics.utils.checks import check_integer


class ScoreRow(NamedTuple):
    """The score of a minibatch.

    Attributes
    ----------
    batch : int
        Its place in the stream, from 1.
    time : object
        When it is from; None where the stream does not say.
    n_documents : int
        Documents in it.
    n_tokens : float
        Tokens in it, of the words that the model knows; NaN for a model that counts none.
    score : float
        Of the model before it learnt the minibatch; NaN where there was nothing to score.
    """

    batch: int
    time: Any
    n_documents: int
    n_tokens: float
    score: float


class ScoreHistory:
    """Keeps the score of each minibatch before it was learnt, for `stream`.

    Parameters
    ----------
    max_rows : int or None, default=10_000
        Rows that are kept, the last ones; a row takes some 300 bytes. None keeps all of them,
        which an endless stream has no memory for.

    Attributes
    ----------
    rows : list of ScoreRow
        The oldest first; ``pandas.DataFrame(history.rows)`` makes a table of them.

    See Also
    --------
    prequential_score : Rows and mean of a model that learns anew.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import iter_minibatches, make_lda_corpus
    >>> from streamtopics.streams import ScoreHistory, stream
    >>> X = make_lda_corpus(n_documents=300, n_features=100, random_state=0).X
    >>> history = ScoreHistory()
    >>> model = stream(
    ...     SVBLDA(5, random_state=0), iter_minibatches(X, 100), callbacks=[history]
    ... )
    >>> [row.batch for row in history.rows if row.score < 0]
    [2, 3]
    """

    needs_score = True

    def __init__(self, max_rows: int | None = 10_000) -> None:
        if max_rows is not None:
            check_integer(max_rows=max_rows)
        self.max_rows = None if max_rows is None else int(max_rows)
        self.rows: list[ScoreRow] = []

    def on_batch(self, model: Any, info: BatchInfo) -> None:
        """Take in a minibatch.

        Parameters
        ----------
        model : estimator
            Not looked at.
        info : BatchInfo
            Of the minibatch.
        """
        row = ScoreRow(info.batch, info.time, info.n_documents, info.n_tokens, info.score)
        self.rows.append(row)
        if self.max_rows is not None:
            del self.rows[: -self.max_rows]


def mean_score(rows: Sequence[ScoreRow]) -> tuple[float, float]:
    """Return the mean of scores and its standard error, by minibatch.

    A minibatch weighs as much as it has tokens, or documents where tokens are not counted. With
    weights w of sum 1 the variance of the mean m is n / (n - 1) sum w**2 (score - m)**2. Rows
    without a score or a weight are left out; the mean of none is NaN, and the error of less than
    two.
    """
    found = [(row.score, weight_of(row)) for row in rows if not np.isnan(row.score)]
    scores, weights = np.array([pair for pair in found if pair[1] > 0]).reshape(-1, 2).T
    n = len(scores)
    if n == 0:
        return np.nan, np.nan
    weights = weights / weights.sum()
    mean = float(weights @ scores)
    if n == 1:
        return mean, np.nan
    return mean, float(np.sqrt(n / (n - 1) * np.sum((weights * (scores - mean)) ** 2)))


def weight_of(row: ScoreRow) -> float:
    """Return the tokens of a minibatch, or its documents where tokens are not counted."""
    return row.n_documents if np.isnan(row.n_tokens) else row.n_tokens
