# SPDX-License-Identifier: BSD-3-Clause
"""Forks a stream at an alarm, with a model whose clock was set back, and keeps the better one.

At the alarm the stream forks for one minibatch: a copy whose clock was set back and one that
goes on both learn it. Both are scored on the next minibatch before it is learnt, and the better
one is kept. So a false alarm, or a change of too little to forget for, costs nothing that lasts.
"""

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.kernels import rows as kernel
from streamtopics.locks import lock_of
from streamtopics.posteriors.protocol import Swap
from streamtopics.streams.clock import check_has_clock, check_n_documents, set_back

Alarm = Callable[[Any, Any], bool]


class Choice(NamedTuple):
    """The end of a fork.

    Attributes
    ----------
    batch : int
        Minibatches learnt from when it was made.
    score_set_back, score_as_it_was : float
        Held-out score of the next minibatch under either model, nats per token.
    set_back : bool
        Whether the one whose clock was set back was kept: that with the higher score, or if they
        are the same the other one.
    """

    batch: int
    score_set_back: float
    score_as_it_was: float
    set_back: bool


class AlarmFork:
    """Learns from a stream, and sets the clock of a model back at alarms where that pays.

    Parameters
    ----------
    alarm : callable
        ``alarm(model, X)`` is asked before a minibatch is learnt, and returns whether the stream
        has changed: a monitor, a detector such as ADWIN that is fed ``model.score(X)``, or what
        you know. It must not learn.
    n_documents : int, default=1500
        Documents that count after an alarm; see `set_back`. Changes are followed best with few,
        and what is not meant to be forgotten costs less with more.
    fork : bool, default=True
        Whether to try; False sets the clock back at every alarm.

    Attributes
    ----------
    other : estimator or None
        The copy that goes on as it was, in the middle of a fork.
    choices : tuple of Choice
        How the forks have ended, the oldest first.

    Notes
    -----
    A fork costs a second model, the learning of one minibatch and two scores of the next. While
    there is no token to score, both go on learning. Pickle the model and this object together,
    and a stream that was stopped goes on to the same bits.

    Examples
    --------
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.streams import AlarmFork
    >>> old = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> new = make_lda_corpus(n_documents=400, n_features=200, random_state=1).X
    >>> model = GibbsOnlineEM(5, random_state=0)
    >>> fork = AlarmFork(lambda model, X: model.score(X) < -5.0, n_documents=200)
    >>> for X in (*(old[i : i + 200] for i in range(0, 2000, 200)), new[:200], new[200:]):
    ...     fork.learn(model, X)
    >>> [(choice.batch, choice.set_back) for choice in fork.choices]
    [(11, True)]
    """

    def __init__(self, alarm: Alarm, *, n_documents: int = 1500, fork: bool = True) -> None:
        if not callable(alarm):
            raise TypeError(f"alarm must be callable as alarm(model, X) -> bool; got {alarm!r}")
        check_n_documents(n_documents)
        self.alarm, self.n_documents, self.fork = alarm, n_documents, fork
        self.other: StreamingTopicModel | None = None
        self.choices: tuple[Choice, ...] = ()

    def learn(self, model: StreamingTopicModel, X: Any, *, time: object = None) -> None:
        """Learn from one minibatch, in the place of ``model.partial_fit(X)``.

        When it fails nothing has changed in either object. When it is interrupted, either nothing
        has changed or all of the minibatch was learnt.

        Parameters
        ----------
        model : estimator of topics
            As in `set_back`; the same one for all of the stream. It is changed in place.
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.
        time : object, default=None
            As in `partial_fit`.
        """
        check_has_clock(model)
        with lock_of(model):
            before = vars(model).get("_commit")
            was = before, self.other, self.choices
            if before is None or before.n_batches == 0:
                model.partial_fit(X, time=time)
                return
            chosen = before
            try:
                self._choose(model, X)
                chosen = model._commit
                if self.alarm(model, X):
                    self._split(model, X, time)
                    return
                if self.other is not None:
                    # Nothing to choose by yet.
                    other = copy(self.other).partial_fit(X, time=time)
                    self._set(model, copy(model).partial_fit(X, time=time)._commit, other)
                else:
                    model.partial_fit(X, time=time)
            except BaseException:
                if model._commit is chosen or model._commit is before:
                    self._set(model, *was)
                raise

    def _choose(self, model: StreamingTopicModel, X: Any) -> None:
        """End a fork, if there is a token to score."""
        if self.other is None:
            return
        if self.other.n_documents_seen_ != model.n_documents_seen_:
            raise ValueError(
                f"the model has learnt from {model.n_documents_seen_} documents, the copy of it "
                f"that was kept at the last alarm from {self.other.n_documents_seen_}; pass the "
                "same model for each minibatch, and let only AlarmFork.learn teach it"
            )
        scores = model.score(X), self.other.score(X)
        if np.isnan(scores).any():
            return
        better = scores[0] > scores[1]
        choice = Choice(model.n_batch_iter_, *scores, better)
        self._set(model, (model if better else self.other)._commit, None, (*self.choices, choice))

    def _split(self, model: StreamingTopicModel, X: Any, time: object) -> None:
        """Learn with the clock set back, and as it was."""
        new = set_back(model, self.n_documents).partial_fit(X, time=time)
        as_it_was = model if self.other is None else self.other
        other = copy(as_it_was).partial_fit(X, time=time) if self.fork else None
        self._set(model, new._commit, other)

    def _set(
        self,
        model: StreamingTopicModel,
        commit: Any,
        other: StreamingTopicModel | None,
        choices: tuple[Choice, ...] | None = None,
    ) -> None:
        """Change both objects, so that no signal handler runs in between."""
        mine: list[Swap] = [(vars(self), "other", other)]
        if choices is not None:
            mine.append((vars(self), "choices", choices))
        kernel.write([], [(vars(model), "_commit", commit), *mine])
