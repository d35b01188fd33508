# SPDX-License-Identifier: BSD-3-Clause
"""Passes a stream of minibatches to a model and to callbacks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import numpy as np

from streamtopics.streams.batches import (
    Learner,
    after,
    as_documents,
    check_model,
    counts_of,
    learn,
    read_batch,
    score_before,
    seen_by,
)
from streamtopics.utils.output import ShownAsTable
from streamtopics.utils.progress import LOG, Progress
from streamtopics.utils.structure import number_of_rows

Model = TypeVar("Model", bound=Learner)
# Kept rows of scores.
MAX_ROWS = 10_000
# Types of times in JSON.
PLAIN = {type(None), bool, int, float, str}


class BatchInfo(NamedTuple):
    """A minibatch just learnt by a model, as passed to callbacks of `stream`.

    Attributes
    ----------
    batch, X, time : int, object, object
        Number in the stream, from 1; documents of the minibatch; and time of the minibatch or None.
    n_documents, n_tokens, n_documents_seen, n_tokens_seen : int, float, int, float
        Documents and tokens in the minibatch, and all learnt so far. Tokens are NaN if the model
        counts none.
    score : float
        The model's score of the minibatch before learning, or NaN if not requested.
    """

    batch: int
    X: Any
    time: object
    n_documents: int
    n_tokens: float
    n_documents_seen: int
    n_tokens_seen: float
    score: float


def stream(
    model: Model,
    batches: Iterable[Any],
    *,
    callbacks: Sequence[Any] = (),
    score: bool = False,
    skip: int = 0,
) -> Model:
    """Let a model learn from a stream of minibatches, and call callbacks after each minibatch.

    Parameters
    ----------
    model : estimator with partial_fit
        An estimator of this package, or a `StreamingPipeline` that ends in one.
    batches : iterable
        Minibatches, each X for `partial_fit` or a `TimedBatch`.
    callbacks : sequence, default=()
        Functions ``callback(model, info)`` or objects with ``on_batch(model, info)``; ``info`` is a
        `BatchInfo`. The stream ends if a callback returns True. An object's ``finish(model)``, if
        defined, is called at the end, also after an error. One object, such as a `DriftMonitor`,
        may have ``learn(model, X, *, time=None)``; the stream then calls `learn` instead of
        `partial_fit`.
    score : bool, default=False
        Whether to score each minibatch before learning. A callback with ``needs_score = True`` also
        requests scores.
    skip : int, default=0
        Number of minibatches, already learnt, to leave out at the start.

    Returns
    -------
    model : estimator
        The same object. After an error the model has learnt whole minibatches. The first steps of a
        pipeline may have learnt one minibatch more, so continue from a saved pipeline.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.streams import ScoreHistory, stream
    >>> history = ScoreHistory()
    >>> model = stream(SVBLDA(2), [np.eye(9), np.eye(9)], callbacks=[history])
    >>> [(row.batch, row.n_documents) for row in history.rows]
    [(1, 9), (2, 9)]
    """
    callbacks = tuple(callbacks)
    check_model(model)
    check_callbacks(callbacks)
    score = score or any(has(callback, "needs_score") for callback in callbacks)
    left = after(batches, skip)
    with finish_all(model, callbacks):
        for number, item in enumerate(left, start=int(skip) + 1):
            # The callback that learns in place of `partial_fit`.
            learner = next((callback for callback in callbacks if has(callback, "learn")), None)
            info = _learn(model, item, number, learner, score)
            # All callbacks are called, also if an earlier one ends the stream.
            ends = [call(callback, model, info) for callback in callbacks] if info else []
            if any(ends):
                break
    return model


def _learn(
    model: Learner, item: object, number: int, learner: object, score: bool
) -> BatchInfo | None:
    """Score and learn a minibatch; None before the first document."""
    batch, before = read_batch(item), seen_by(model)
    try:
        value = score_before(model, batch) if score else np.nan
        learn(model, batch, learner)
    except Exception as error:
        error.add_note(f"This was minibatch {number} of the stream.")
        raise
    seen = seen_by(model)
    if seen.n_documents == 0:
        return None
    new = seen.n_documents - before.n_documents, seen.n_tokens - before.n_tokens
    if learner is not None or hasattr(model, "monitor_"):  # Others may be held back, or learnt.
        some = as_documents(model, batch.X)
        new = number_of_rows(some), float(counts_of(model, some).sum())
    LOG.debug("minibatch %d: %d documents, %.3f nats/token", number, new[0], value)
    return BatchInfo(number, batch.X, batch.time, *new, *seen, value)


# Callbacks


def has(callback: object, name: str) -> Any:
    return getattr(callback, name, None)


def call(callback: object, model: Learner, info: BatchInfo) -> bool:
    """Call a callback, and return whether the stream must end."""
    method = has(callback, "on_batch") or callback
    verdict = method(model, info) if callable(method) else None
    return isinstance(verdict, bool | np.bool_) and bool(verdict)


@contextmanager
def finish_all(model: Learner, callbacks: Sequence[object]) -> Iterator[None]:
    """Call each `finish` at the end, and raise the first error."""
    first: BaseException | None = None
    try:
        yield
    except BaseException as error:
        first = error
    # Learning callbacks come last: a checkpoint has the model as shown to the callbacks.
    for callback in sorted(callbacks, key=lambda callback: has(callback, "learn") is not None):
        try:
            if finish := has(callback, "finish"):
                finish(model)
        except BaseException as error:
            if first is None:
                first = error
            else:
                first.add_note(f"Then {type(callback).__name__}.finish failed: {error!r}")
    if first is not None:
        raise first


def check_callbacks(callbacks: Sequence[object]) -> None:
    """Refuse invalid callbacks, two that learn, and saved callbacks after a `Checkpointer`."""
    for place, callback in enumerate(callbacks):
        method = has(callback, "on_batch") or has(callback, "learn")
        if isinstance(callback, type) or not (callable(callback) or method):
            raise TypeError(
                "a callback must be a function of model and info, or an object with on_batch or "
                f"learn, such as ScoreHistory(); got {callback!r}"
            )
        kept = {id(one) for one in has(callback, "also") or ()}
        if kept & {id(other) for other in callbacks[place + 1 :] if has(other, "on_batch")}:
            raise ValueError(
                f"callbacks has {type(callback).__name__} before a callback that it saves; put "
                f"{type(callback).__name__} last"
            )
    names = [type(callback).__name__ for callback in callbacks if has(callback, "learn")]
    if len(names) > 1:
        raise TypeError(f"only one callback can learn instead of partial_fit; got {names}")


# Scores


class ScoreHistory(ShownAsTable):
    """A callback of `stream` that keeps the score of each minibatch before learning.

    Attributes
    ----------
    rows : list of BatchInfo
        The last 10,000 minibatches, without X; ``pandas.DataFrame(history.rows)`` makes a table.
    mean, standard_error : float
        Mean of the scores, weighted by tokens, or by documents if the model counts no tokens; and
        the mean's standard error for independent minibatches. NaN without scores.
    """

    needs_score = True

    def __init__(self) -> None:
        self.rows: list[BatchInfo] = []

    @property
    def mean(self) -> float:
        return mean_score(self.rows)[0]

    @property
    def standard_error(self) -> float:
        return mean_score(self.rows)[1]

    def on_batch(self, model: Learner, info: BatchInfo) -> None:
        """Keep the score of a minibatch."""
        self.rows.append(info._replace(X=None))
        del self.rows[:-MAX_ROWS]

    def _table(self) -> tuple[str, tuple[str, ...], list[Any]]:
        rows = [(one.batch, one.time, one.n_documents, one.score) for one in reversed(self.rows)]
        said = f"{len(rows)} minibatches, {self.mean:.3f} nats per token"
        return said, ("minibatch", "time", "documents", "score"), rows

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "rows": packed(self.rows, (row.time for row in self.rows))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__ |= state | {"rows": [BatchInfo(*row) for row in unpacked(state["rows"])]}


def mean_score(rows: Sequence[BatchInfo]) -> tuple[float, float]:
    scores = np.array([row.score for row in rows])
    sizes = [row.n_documents if np.isnan(row.n_tokens) else row.n_tokens for row in rows]
    weights = np.array(sizes, np.float64)
    counts = ~np.isnan(scores) & (weights > 0)
    scores, weights, n = scores[counts], weights[counts], int(counts.sum())
    if n == 0:
        return np.nan, np.nan
    weights = weights / weights.sum()
    mean = float(weights @ scores)
    variance = n / (n - 1) * np.sum((weights * (scores - mean)) ** 2) if n > 1 else np.nan
    return mean, float(np.sqrt(variance))


# Kept rows of a callback, as one array of bytes: a checkpoint of thousands is small and quick.


def packed(rows: Sequence[Any], times: Iterable[object]) -> Any:
    """Rows as bytes of JSON, or unchanged with other times."""
    if not PLAIN.issuperset(map(type, times)):
        return rows
    content = json.dumps(rows, ensure_ascii=False, default=lambda number: number.item())
    return np.frombuffer(content.encode("utf-8", "surrogatepass"), np.uint8)


def unpacked(found: Any) -> list[Any]:
    if not isinstance(found, np.ndarray):
        return list(found)
    return list(json.loads(found.tobytes().decode("utf-8", "surrogatepass")))


# Progress


class ProgressReport:
    """A callback of `stream` that shows documents and tokens per second on standard error.

    The mean score is shown if minibatches are scored.

    Parameters
    ----------
    total : int or None, default=None
        Number of documents in the stream, for a bar and the time left.
    title : str, default="stream"
        Label at the beginning of the progress line.

    Attributes
    ----------
    n_documents : int
        Documents learnt so far.
    """

    def __init__(self, total: int | None = None, title: str = "stream") -> None:
        self.total, self.title = total, title
        self.n_documents = 0
        self._bar: Progress | None = None

    def on_batch(self, model: Learner, info: BatchInfo) -> None:
        """Add a learnt minibatch to the progress line."""
        self.n_documents += info.n_documents
        if self._bar is None:
            # The first minibatch has an unknown duration, so it counts for no speed.
            self._bar = Progress(self.title, self.total, n_done=self.n_documents)
            self._bar.score(info.score)
        else:
            self._bar.score(info.score)
            self._bar.update(info.n_documents, np.nan_to_num(info.n_tokens))

    def finish(self, model: Learner) -> None:
        """End the progress bar."""
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.finish()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_bar": None}
