# SPDX-License-Identifier: BSD-3-Clause
"""An alarm for streams that change, with a stated rate of false alarms.

A share of each minibatch is held back for some minibatches before it is learnt. So there are always
earlier documents that the model has not learnt, and a minibatch is compared with them before it is
learnt: `features` says by what, `relabelling` whether they differ, `chart` whether they differ by
more than this stream does anyway. The alarm rings where both say so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from streamtopics.kernels import rows as kernel
from streamtopics.streams.batches import (
    Documents,
    Learner,
    as_documents,
    check_has_topics,
    chosen,
    counts_of,
    n_learnt,
    named,
    together,
)
from streamtopics.streams.callbacks import packed, unpacked
from streamtopics.streams.monitoring.alarm import (
    N_TOP,
    Alarm,
    DriftTest,
    alarm_of,
    changed_topics,
    new_words,
)
from streamtopics.streams.monitoring.chart import chart_p
from streamtopics.streams.monitoring.features import document_features
from streamtopics.streams.monitoring.novelty import new_topics
from streamtopics.streams.monitoring.relabelling import Comparison, compare, relabelled
from streamtopics.utils.checks import check_integer
from streamtopics.utils.parallel import lock_of
from streamtopics.utils.steps import check_not_frozen, last_step, names_of
from streamtopics.utils.structure import number_of_rows

# Statistics of a test: surprise, use and words. Each has a third of the level. In the chart words
# have a tenth of that, since every stream in order of time has bursts of words.
FAMILY = 3
TIMES = np.array([3.0, 3.0, 30.0])
# Tests that the chart keeps, and the fewest it needs.
PAST, LEAST_PAST = 20, 3
# Tests and alarms that are kept.
KEPT = 1000
# The most documents of a minibatch, and of those held back, that are compared, and the fewest
# relabellings of the exact test.
MAX_DOCUMENTS, N_RELABELLINGS = 2000, 399


class DriftMonitor:
    """Learns from a stream and says when it has changed, in which topics and words.

    Each minibatch is tested before it is learnt, beside documents of the last minibatches that were
    held back. An alarm needs two small p-values: of an exact test that both are alike, and of a
    chart of its statistic along the stream, since streams always move a little. What is held back
    is learnt some minibatches later; nothing is lost.

    Parameters
    ----------
    alpha : float, default=0.01
        Level of the alarm, in (0, 0.5]: the share of false alarms on a stream whose documents come
        in random order, or that moves by about as much each time.
    ring : int, default=8
        Minibatches for which documents are held back.
    held_back : float, default=0.2
        Share of the documents of each minibatch that is held back, at random, in (0, 0.5].
        Beside documents that were learnt any minibatch would look changed.
    random_state : int, default=0
        Seed of what is held back, drawn and relabelled.

    Attributes
    ----------
    alarms : tuple of Alarm
        The last thousand, the oldest first. As a str each is a few lines to read.
    tests : tuple of DriftTest
        The last thousand tests, the oldest first.
    n_batches, n_held_back : int
        Minibatches that it was given, and documents that are held back now.
    past : ndarray of shape (n_past, 3)
        Statistics of the chart, of surprise, use and words; at most twenty.

    Notes
    -----
    The first minibatch starts the model and is learnt whole; the second is held back from; tests
    begin with the third, and alarms with the sixth.

    It cannot see a change of few documents (a twentieth of a minibatch seldom), topics that die
    slowly, a drift as slow as the stream moves anyway, and words that are not in the vocabulary.
    Minibatches are to be of about one size, and of some hundred documents.

    Any estimator of topics over words of this package serves, without labels or ratings, and a
    `StreamingPipeline` over texts. At most 2,000 documents of the minibatch, and of those held
    back, are compared, drawn at random. After an alarm the documents held back are learnt at once.

    Examples
    --------
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.streams import DriftMonitor
    >>> old = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> new = make_lda_corpus(n_documents=400, n_features=200, random_state=1).X
    >>> model, monitor = GibbsOnlineEM(5, random_state=0), DriftMonitor()
    >>> for X in (*(old[i : i + 200] for i in range(0, 2000, 200)), new[:200], new[200:]):
    ...     monitor.learn(model, X)
    >>> monitor.finish(model)
    >>> [alarm.batch for alarm in monitor.alarms], model.n_documents_seen_
    ([11], 2400)
    """

    def __init__(
        self,
        alpha: float = 0.01,
        ring: int = 8,
        held_back: float = 0.2,
        *,
        random_state: int = 0,
    ) -> None:
        if not (1e-5 <= alpha <= 0.5 and 0 < held_back <= 0.5):
            raise ValueError(
                f"alpha must be in [1e-5, 0.5] and held_back in (0, 0.5]; got {alpha!r} and "
                f"{held_back!r}"
            )
        check_integer(ring=ring)
        check_integer(least=0, random_state=random_state)
        self.alpha, self.ring, self.held_back = float(alpha), int(ring), float(held_back)
        self.random_state = random_state
        self.alarms: tuple[Alarm, ...] = ()
        self.tests: tuple[DriftTest, ...] = ()
        self.n_batches = 0
        self.past = np.empty((0, FAMILY))
        self.documents: tuple[Documents, ...] = ()

    @property
    def n_held_back(self) -> int:
        """Documents that are held back now."""
        return sum(map(number_of_rows, self.documents))

    def learn(self, model: Learner, X: Any, *, time: object = None) -> None:
        """Test a minibatch, and learn from it in the place of ``model.partial_fit(X)``.

        When it fails or is interrupted, either nothing has changed in both objects, but for steps
        of a pipeline, or all of the minibatch was learnt.

        Parameters
        ----------
        model : estimator of topics or StreamingPipeline
            The same one for all of the stream.
        X : {array-like, sparse matrix} of shape (n_documents, n_features) or iterable of str
            Word counts, or texts for a pipeline.
        time : object, default=None
            When it is from: kept in the records, and passed to `partial_fit` if given.
        """
        check_has_topics(model)
        check_not_frozen(model)
        with lock_of(model):
            number = {"n_batches": self.n_batches + 1}
            if n_learnt(model) == 0:
                # An iterator can be read once.
                X = list(X) if isinstance(X, Iterator) else X
                self._step(model, number, lambda: model.partial_fit(X, **_at(time)))
                return
            documents = as_documents(model, X)
            n = number_of_rows(documents)
            rng = np.random.default_rng([self.random_state, self.n_batches])
            held = np.sort(rng.permutation(n)[: min(round(self.held_back * n), max(n - 1, 0))])
            rest = chosen(documents, np.delete(np.arange(n), held))
            kept = (*self.documents, chosen(documents, held))
            after = number | self._tested(model, documents, time, rng)
            if "alarms" in after:
                old, now = self.documents, kept[-1:]
            else:
                old, now = kept[: -self.ring], kept[-self.ring :]
            after["documents"] = tuple(part for part in now if number_of_rows(part))
            self._learn(model, rest, old, time, after)

    def finish(self, model: Learner) -> None:
        """Learn from the documents that are still held back, at the end of the stream."""
        with lock_of(model):
            if self.documents:
                *old, last = self.documents
                self._learn(model, last, old, None, {"documents": ()})

    # Keeping

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes, with the records in one array each."""
        tests, alarms = [astuple(test) for test in self.tests], [*map(asdict, self.alarms)]
        return {
            **self.__dict__,
            "tests": packed(tests, (test.time for test in self.tests)),
            "alarms": packed(alarms, (alarm.time for alarm in self.alarms)),
            "documents": [packed(d, d) if isinstance(d, list) else d for d in self.documents],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take over what `__getstate__` has returned."""
        tests = tuple(DriftTest(*test) for test in unpacked(state["tests"]))
        alarms = tuple(map(alarm_of, unpacked(state["alarms"])))
        kept = state["documents"]
        documents = tuple(unpacked(d) if isinstance(d, np.ndarray) else d for d in kept)
        self.__dict__ |= state | {"tests": tests, "alarms": alarms, "documents": documents}

    # Testing

    def _tested(
        self, model: Learner, documents: Documents, time: object, rng: np.random.Generator
    ) -> dict[str, Any]:
        """Test a minibatch: returns new values of attributes, "alarms" among them if it rings."""
        found = self._compared(model, documents, rng)
        if found is None:
            return {}
        comparison, new, before, places = found
        p_exact = min(1.0, FAMILY * float(comparison.p.min()))
        p_chart = np.nan
        if len(self.past) >= LEAST_PAST:
            p_chart = min(1.0, float((TIMES * chart_p(self.past, comparison.z)).min()))
        rings = max(p_exact, p_chart) < self.alpha if p_chart == p_chart else False
        test = DriftTest(self.n_batches + 1, time, p_exact, p_chart, rings)
        after: dict[str, Any] = {
            "tests": (*self.tests, test)[-KEPT:],
            "past": np.vstack([self.past, comparison.z])[-PAST:],
        }
        if not rings:
            return after
        names = names_of(model)
        top_words = last_step(model).top_words(names, N_TOP)
        alarm = Alarm(
            test.batch, time, p_exact, p_chart, new.shape[0], before.shape[0],
            changed_topics(comparison, self.alpha, top_words),
            new_words(new, before, self.alpha, names),
            new_topics(new, before, self.alpha, names, places),
        )  # fmt: skip
        return after | {"alarms": (*self.alarms, alarm)[-KEPT:]}

    def _compared(
        self, model: Learner, documents: Documents, rng: np.random.Generator
    ) -> Compared | None:
        """Compare a minibatch with what is held back; None where either has no documents."""
        if not self.documents or not number_of_rows(documents):
            return None
        parts = documents, together(self.documents)
        places = [_some(number_of_rows(part), rng) for part in parts]
        new, before = (
            counts_of(model, chosen(part, place)) for part, place in zip(parts, places, strict=True)
        )
        counts = sparse.vstack([new, before], format="csr")
        features = document_features(last_step(model), counts)
        # The exact test cannot reach the level with less than 3 / alpha.
        n = max(N_RELABELLINGS, round((FAMILY + 1) / self.alpha) - 1)
        labels = relabelled(new.shape[0], before.shape[0], n, rng)
        return Compared(compare(*features.linear(), counts, labels), new, before, places[0])

    # Learning

    def _learn(
        self, model: Learner, documents: Documents, old: Sequence[Documents], time: object,
        after: dict[str, Any],
    ) -> None:  # fmt: skip
        """Learn from documents of this minibatch, and from old ones with them."""
        whole = named(model, together([documents, *old]))
        self._step(model, after, lambda: model.partial_fit(whole, **_at(time)))

    def _step(self, model: Learner, after: dict[str, Any], learn: Callable[[], Any]) -> None:
        """Learn, and change this object if and only if the model has learnt."""
        before = n_learnt(model)
        try:
            learn()
            self._set(after)
        except BaseException:
            if n_learnt(model) != before:
                self._set(after)
            raise

    def _set(self, after: dict[str, Any]) -> None:
        """Change this object, so that no signal handler runs in between."""
        kernel.write([], [(self.__dict__, name, value) for name, value in after.items()])


class Compared(NamedTuple):
    """A comparison, the counts of the documents that were compared, and places of the new."""

    comparison: Comparison
    new: sparse.csr_matrix
    before: sparse.csr_matrix
    places: np.ndarray


def _some(n: int, rng: np.random.Generator) -> np.ndarray:
    """Places of at most `MAX_DOCUMENTS` of n documents, at random."""
    return np.arange(n) if n <= MAX_DOCUMENTS else np.sort(rng.permutation(n)[:MAX_DOCUMENTS])


def _at(time: object) -> dict[str, object]:
    """Arguments of `partial_fit` for a minibatch of some time."""
    return {} if time is None else {"time": time}
