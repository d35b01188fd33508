# SPDX-License-Identifier: BSD-3-Clause
"""Callbacks of a stream: the record that they are given, scores, the early end and progress."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from streamtopics.streams.batches import Learner
from streamtopics.streams.packing import packed, unpacked
from streamtopics.utils.checks import check_integer
from streamtopics.utils.progress import Progress


class BatchInfo(NamedTuple):
    """A minibatch that a model has just learnt from.

    Attributes
    ----------
    batch : int
        Its place in the stream, from 1.
    X, time : object
        The minibatch as the model was given it, and when it is from; None if not said.
    n_documents, n_tokens : int, float
        Documents and tokens in it that were learnt; tokens are NaN for a model that counts none.
    n_documents_seen, n_tokens_seen : int, float
        What the model has learnt from so far, also before the stream.
    score : float
        The model's `score` of the minibatch before it was learnt, nats per token for most models;
        NaN where it was not asked for or there was nothing to score.
    """

    batch: int
    X: Any
    time: object
    n_documents: int
    n_tokens: float
    n_documents_seen: int
    n_tokens_seen: float
    score: float


# Calling them


def has(callback: object, name: str) -> Any:
    """What a callback has of this name; None if it has none."""
    return getattr(callback, name, None)


def learner_of(callbacks: Sequence[object]) -> Any:
    """The callback that learns in the place of `partial_fit`; None if there is none."""
    return next((callback for callback in callbacks if has(callback, "learn")), None)


def call(callback: object, model: Learner, info: BatchInfo) -> bool:
    """Call a callback, and return whether it ends the stream, which only True does."""
    called = has(callback, "on_batch") or callback
    verdict = called(model, info) if callable(called) else None
    return isinstance(verdict, bool | np.bool_) and bool(verdict)


def finish_all(model: Learner, callbacks: Sequence[object], first: BaseException | None) -> None:
    """Call each `finish`; raise the first that fails, unless an error is on its way already.

    Those that learn come last: a checkpoint is of the model that the callbacks were shown.
    """
    failed = first
    for callback in sorted(callbacks, key=lambda callback: has(callback, "learn") is not None):
        try:
            if finish := has(callback, "finish"):
                finish(model)
        except BaseException as error:
            if failed is None:
                failed = error
            else:
                failed.add_note(f"Then {type(callback).__name__}.finish failed: {error!r}")
    if failed is not None and first is None:
        raise failed


def check_callbacks(callbacks: Sequence[object]) -> None:
    """Refuse what cannot be called, two that learn, and a checkpoint of what comes after it."""
    for place, callback in enumerate(callbacks):
        called = callable(callback) or has(callback, "on_batch") or has(callback, "learn")
        if isinstance(callback, type) or not called:
            raise TypeError(
                "a callback must be callable as callback(model, info), or be an object with "
                f"on_batch or learn, such as ScoreHistory(); got {callback!r}"
            )
        kept = {id(one) for one in has(callback, "also") or ()}
        if kept & {id(later) for later in callbacks[place + 1 :] if has(later, "on_batch")}:
            raise ValueError(
                f"callbacks has {type(callback).__name__} before one that it keeps, which has "
                f"not seen the minibatch then; put {type(callback).__name__} last"
            )
    learners = [type(callback).__name__ for callback in callbacks if has(callback, "learn")]
    if len(learners) > 1:
        raise TypeError(f"one callback can learn in the place of partial_fit; got {learners}")


# Scores


class ScoreHistory:
    """Keeps the score of each minibatch before it was learnt, for `stream`.

    Parameters
    ----------
    max_rows : int or None, default=10_000
        Rows that are kept, the last ones; None keeps all.

    Attributes
    ----------
    rows : list of BatchInfo
        Without X, the oldest first; ``pandas.DataFrame(history.rows)`` makes a table of them.

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
        self.max_rows = max_rows
        self.rows: list[BatchInfo] = []

    def on_batch(self, model: Learner, info: BatchInfo) -> None:
        """Keep the score of a minibatch."""
        self.rows.append(info._replace(X=None))
        if self.max_rows is not None:
            del self.rows[: -self.max_rows]

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, with the rows in one array."""
        return {**self.__dict__, "rows": packed(self.rows, (row.time for row in self.rows))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what `__getstate__` has returned."""
        self.__dict__ |= state | {"rows": [BatchInfo(*row) for row in unpacked(state["rows"])]}


def mean_score(rows: Sequence[BatchInfo]) -> tuple[float, float]:
    """The mean of scores, weighted by tokens, or documents without tokens, and its standard error.

    With weights w of sum 1 the variance of the mean m is n / (n - 1) sum w**2 (score - m)**2. Rows
    without a score or a weight are left out; the mean of none is NaN, and the error of less than
    two.
    """
    scores = np.array([row.score for row in rows])
    sizes = [row.n_documents if np.isnan(row.n_tokens) else row.n_tokens for row in rows]
    weights = np.array(sizes, np.float64)
    counts = ~np.isnan(scores) & (weights > 0)
    scores, weights, n = scores[counts], weights[counts], int(counts.sum())
    if n == 0:
        return np.nan, np.nan
    weights = weights / weights.sum()
    mean = float(weights @ scores)
    if n == 1:
        return mean, np.nan
    return mean, float(np.sqrt(n / (n - 1) * np.sum((weights * (scores - mean)) ** 2)))


class EarlyStopping:
    """Ends a stream when the score of minibatches before they are learnt no longer rises.

    The t-th score moves a running mean m by ``max(1 / t, 2 / (p + 1)) * (score - m)``: it is the
    plain mean at first and then that of about the last p scores. The stream ends when it has not
    been more than `tol` above the best one for `patience` scores.

    Parameters
    ----------
    patience : int, default=20
        Scores without a gain after which the stream ends, and p above. Minibatches without a
        finite score do not count.
    tol : float, default=0.0
        What a gain must exceed, in units of the score: nats per token for most models.

    Attributes
    ----------
    mean, best : float
        The running mean, and the one that the last gain led to; NaN before the first score.
    n_scores, n_without_gain : int
        Scores taken in, and those since the last gain.

    Notes
    -----
    Leave it out where a stream changes: a change lowers the score, and the stream would end when
    there is most to learn. Of three corpora of 10,000 to 30,000 documents in random order and two
    models, `patience` 5 gave up 0.00 to 0.26 nats per token of what the end of the corpus would
    have brought, 20 at most 0.04.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import iter_minibatches, make_lda_corpus
    >>> from streamtopics.streams import EarlyStopping, stream
    >>> X = make_lda_corpus(n_documents=3000, n_features=50, random_state=0).X
    >>> stopping = EarlyStopping(patience=3, tol=0.01)
    >>> model = stream(
    ...     SVBLDA(5, random_state=0), iter_minibatches(X, 100), callbacks=[stopping]
    ... )
    >>> model.n_documents_seen_ < 3000, stopping.n_without_gain
    (True, 3)
    """

    needs_score = True

    def __init__(self, patience: int = 20, tol: float = 0.0) -> None:
        check_integer(patience=patience)
        if not 0 <= tol < np.inf:
            raise ValueError(f"tol must be finite and at least 0; got {tol}")
        self.patience, self.tol = int(patience), float(tol)
        self.mean, self.best = np.nan, np.nan
        self.n_scores = self.n_without_gain = 0

    def on_batch(self, model: Learner, info: BatchInfo) -> bool:
        """Take in a score, and return whether there was no gain for `patience` scores."""
        if not np.isfinite(info.score):
            return False
        self.n_scores += 1
        if self.n_scores == 1:
            self.mean = self.best = info.score
            return False
        self.mean += max(1 / self.n_scores, 2 / (self.patience + 1)) * (info.score - self.mean)
        if self.mean > self.best + self.tol:
            self.best, self.n_without_gain = self.mean, 0
        else:
            self.n_without_gain += 1
        return self.n_without_gain >= self.patience


# Progress


class ProgressReport:
    """Shows documents and tokens per second and the score, by a bar of tqdm on standard error.

    Parameters
    ----------
    total : int or None, default=None
        Documents in the stream, where that is known; it is needed for a bar and the time left.
    title : str, default="stream"

    Attributes
    ----------
    n_documents : int
        Documents of the stream that were learnt so far.

    Notes
    -----
    The score, where ``stream(..., score=True)`` takes it, is a running mean in which each
    minibatch counts a fifth.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import iter_minibatches, make_lda_corpus
    >>> from streamtopics.streams import ProgressReport, stream
    >>> X = make_lda_corpus(n_documents=300, n_features=100, random_state=0).X
    >>> report = ProgressReport(total=300)
    >>> model = stream(SVBLDA(5, random_state=0), iter_minibatches(X), callbacks=[report])
    >>> report.n_documents
    300
    """

    def __init__(self, total: int | None = None, title: str = "stream") -> None:
        self.total, self.title = total, title
        self.n_documents = 0
        self._bar: Progress | None = None

    def on_batch(self, model: Learner, info: BatchInfo) -> None:
        """Show that a minibatch was learnt."""
        self.n_documents += info.n_documents
        if self._bar is None:
            # How long the first minibatch took is not known, so it counts for no speed.
            self._bar = Progress(self.title, self.total, n_done=self.n_documents)
            self._bar.score(info.score)
        else:
            self._bar.score(info.score)
            self._bar.advance(info.n_documents, np.nan_to_num(info.n_tokens))

    def finish(self, model: Learner) -> None:
        """End the bar; a stream that goes on has another one."""
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.finish()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a stream that goes on needs: all but the bar on the screen."""
        return {**self.__dict__, "_bar": None}
