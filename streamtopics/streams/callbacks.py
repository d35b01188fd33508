# SPDX-License-Identifier: BSD-3-Clause
"""Callbacks of a stream: the record that they are given, scores and progress."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from streamtopics.streams.batches import Learner
from streamtopics.utils.progress import Progress

# Rows of scores that are kept.
MAX_ROWS = 10_000
# Types of times that JSON has.
PLAIN = {type(None), bool, int, float, str}


class BatchInfo(NamedTuple):
    """A minibatch that a model has just learnt from.

    Attributes
    ----------
    batch : int
        Its place in the stream, from 1.
    X, time : object
        The minibatch, and when it is from, or None.
    n_documents, n_tokens : int, float
        Learnt from it; NaN tokens if the model counts none.
    n_documents_seen, n_tokens_seen : int, float
        Learnt by the model so far, also before the stream.
    score : float
        `score` of the minibatch before it was learnt, or NaN.
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


@contextmanager
def finish_all(model: Learner, callbacks: Sequence[object]) -> Iterator[None]:
    """Call each `finish` at the end, and raise the first error."""
    first: BaseException | None = None
    try:
        yield
    except BaseException as error:
        first = error
    # Those that learn come last: a checkpoint is of the model that the callbacks were shown.
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
    """Refuse what cannot be called, two that learn, and a checkpoint of what comes after it."""
    for place, callback in enumerate(callbacks):
        called = callable(callback) or has(callback, "on_batch") or has(callback, "learn")
        if isinstance(callback, type) or not called:
            raise TypeError(
                "a callback must be a function of model and info, or an object with on_batch or "
                f"learn, such as ScoreHistory(); got {callback!r}"
            )
        kept = {id(one) for one in has(callback, "also") or ()}
        if kept & {id(later) for later in callbacks[place + 1 :] if has(later, "on_batch")}:
            raise ValueError(
                f"callbacks has {type(callback).__name__} before one that it keeps, which has "
                f"not seen the minibatch then; put {type(callback).__name__} last"
            )
    names = [type(callback).__name__ for callback in callbacks if has(callback, "learn")]
    if len(names) > 1:
        raise TypeError(f"one callback can learn in the place of partial_fit; got {names}")


# Scores


class ScoreHistory:
    """Keeps the score of each minibatch before it was learnt, as in the example of `stream`.

    Attributes
    ----------
    rows : list of BatchInfo
        The last 10,000, without X; ``pandas.DataFrame(history.rows)`` makes a table of them.
    """

    needs_score = True

    def __init__(self) -> None:
        self.rows: list[BatchInfo] = []

    def on_batch(self, model: Learner, info: BatchInfo) -> None:
        """Keep the score of a minibatch."""
        self.rows.append(info._replace(X=None))
        del self.rows[:-MAX_ROWS]

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, with the rows in one array."""
        return {**self.__dict__, "rows": packed(self.rows, (row.time for row in self.rows))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what `__getstate__` has returned."""
        self.__dict__ |= state | {"rows": [BatchInfo(*row) for row in unpacked(state["rows"])]}


def mean_score(rows: Sequence[BatchInfo]) -> tuple[float, float]:
    """The mean of scores, weighted by tokens or else documents, and its standard error.

    Rows without a score or a weight are left out; NaN is the mean of none, and the error of one.
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
    variance = n / (n - 1) * np.sum((weights * (scores - mean)) ** 2) if n > 1 else np.nan
    return mean, float(np.sqrt(variance))


# Rows that a callback keeps, as one array of bytes: a checkpoint of thousands is small and quick.


def packed(rows: Sequence[Any], times: Iterable[object]) -> Any:
    """Rows of numbers and texts as bytes of JSON; as they are if a time is of another type."""
    if not PLAIN.issuperset(map(type, times)):
        return rows
    content = json.dumps(rows, ensure_ascii=False, default=lambda number: number.item())
    return np.frombuffer(content.encode("utf-8", "surrogatepass"), np.uint8)


def unpacked(found: Any) -> list[Any]:
    """What was packed, with lists in place of tuples."""
    if not isinstance(found, np.ndarray):
        return list(found)
    return list(json.loads(found.tobytes().decode("utf-8", "surrogatepass")))


# Progress


class ProgressReport:
    """Shows documents and tokens per second and the score, by a bar of tqdm on standard error.

    The score, if ``stream(..., score=True)`` takes it, is a running mean in which each minibatch
    counts a fifth.

    Parameters
    ----------
    total : int or None, default=None
        Documents in the stream; needed for a bar and the time left.
    title : str, default="stream"

    Attributes
    ----------
    n_documents : int
        Documents of the stream that were learnt so far.

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
