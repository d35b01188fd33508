# SPDX-License-Identifier: BSD-3-Clause
"""The score of a model along a stream: each minibatch is scored, then learnt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sklearn.base import clone

from streamtopics.streams.score_history import ScoreHistory, ScoreRow, mean_score
from streamtopics.streams.stream import stream


class Prequential(NamedTuple):
    """The score of a model along a stream.

    Attributes
    ----------
    mean : float
        Mean score, weighted by tokens, or documents for a model that does not count tokens. Nats
        per token for most models, as of their `score`; NaN if there are none.
    standard_error : float
        Of the mean, from how much minibatches differ; NaN of less than two scores.
    rows : list of ScoreRow
        One for each minibatch, those without a score too, such as the first.
    """

    mean: float
    standard_error: float
    rows: list[ScoreRow]


def prequential_score(model: Any, batches: Iterable[Any]) -> Prequential:
    """Score a model along a stream: each minibatch is scored before it is learnt.

    Parameters
    ----------
    model : estimator with partial_fit and score
        As of `stream`. A clone of it learns, from nothing, and the model itself is left as it is,
        as by :func:`~sklearn.model_selection.cross_val_score`. For a model that goes on learning
        take `stream` with a `ScoreHistory`.
    batches : iterable
        Minibatches, as of `stream`.

    Returns
    -------
    result : Prequential
        Mean, standard error and the rows they were made of.

    Notes
    -----
    Of each minibatch the model knows nothing but what came before, so the stream need not be
    split; and the score says how well a model learns as well as how good it is at last. The first
    minibatch has no score.

    The standard error takes minibatches for independent. It is too small where the stream moves
    slowly, and it has the learning curve in it. Two models on the same minibatches are compared
    by their differences, ``[a.score - b.score for a, b in zip(first.rows, second.rows)]``, which
    vary much less.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import iter_minibatches, make_lda_corpus
    >>> from streamtopics.streams import prequential_score
    >>> X = make_lda_corpus(n_documents=1000, n_features=100, random_state=0).X
    >>> few, many = (
    ...     prequential_score(SVBLDA(K, random_state=0), iter_minibatches(X, 200)) for K in (1, 10)
    ... )
    >>> many.mean > few.mean, len(many.rows)
    (True, 5)
    """
    history = ScoreHistory(max_rows=None)
    stream(clone(model), batches, callbacks=[history])
    return Prequential(*mean_score(history.rows), history.rows)
