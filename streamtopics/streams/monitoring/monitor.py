# SPDX-License-Identifier: BSD-3-Clause
"""An alarm with a stated rate of false alarms."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from streamtopics.kernels import rows as kernel
from streamtopics.streams import batches
from streamtopics.streams.batches import Documents, Learner, n_learnt, together
from streamtopics.streams.monitoring import alarm, statistics
from streamtopics.streams.monitoring.alarm import Alarm, DriftTest
from streamtopics.streams.stream import packed, unpacked
from streamtopics.utils.checks import check_integer, check_number
from streamtopics.utils.output import ShownAsTable
from streamtopics.utils.parallel import lock_of
from streamtopics.utils.progress import LOG
from streamtopics.utils.steps import check_not_frozen, last_step, names_of
from streamtopics.utils.structure import in_memory, number_of_rows, take_rows
from streamtopics.utils.times import without_pandas

# Statistics of a test: surprise, use and words, with a third of the level each. In the chart words
# get a tenth of a third, because streams have bursts of words.
FAMILY = 3
TIMES = np.array([3.0, 3.0, 30.0])
# Held-back share of a minibatch, and number of minibatches until it is learnt.
HELD_BACK, RING = 0.2, 8
# Most and fewest tests in the chart.
PAST, LEAST_PAST = 20, 3
# Numbers of kept tests and alarms.
KEPT = 1000
# Most compared documents on each side, and fewest relabellings.
MAX_DOCUMENTS, N_PERMUTATIONS = 2000, 399


class DriftMonitor(ShownAsTable):
    """A callback of `stream` that tests each minibatch for changes, and lets the model learn.

    A fifth of each minibatch is held back, and learnt eight minibatches later or after an alarm. A
    new minibatch is compared with the documents held back. Streams always move, so an alarm needs
    two tests: a permutation test for any difference, and a control chart for a difference larger
    than usual in this stream.

    Parameters
    ----------
    alpha : float, default=0.01
        Approximate share of minibatches with a false alarm, in [1e-5, 0.5], if documents come in
        random order or drift steadily.
    random_state : int, default=0
        Seed of the choice of documents to hold back and of the permutations.

    Attributes
    ----------
    alarms, tests : tuple of Alarm, tuple of DriftTest
        The last thousand of each, the oldest first.
    n_batches, n_held_back : int
        Minibatches so far, and documents currently held back.
    past : ndarray of shape (n_past, 3)
        Statistics of the last twenty tests, used by the control chart. Columns measure changes of
        the words within topics, of the topics' shares, and of the frequencies of single words.

    Notes
    -----
    Tests begin with the third minibatch, and alarms with the sixth. After `finish`, which `stream`
    calls at its end, one minibatch is not tested: resume from a `Checkpointer`. Minibatches should
    have equal size, some hundred documents. Slow changes and changes of few documents are missed.

    Examples
    --------
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.streams import DriftMonitor
    >>> old = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> new = make_lda_corpus(n_documents=200, n_features=200, random_state=1).X
    >>> model, monitor = GibbsOnlineEM(5, random_state=0), DriftMonitor()
    >>> for X in (*(old[i : i + 200] for i in range(0, 2000, 200)), new):
    ...     monitor.learn(model, X)
    >>> [alarm.batch for alarm in monitor.alarms]
    [11]
    """

    def __init__(self, alpha: float = 0.01, *, random_state: int = 0) -> None:
        check_number(least=1e-5, most=0.5, alpha=alpha)
        check_integer(least=0, random_state=random_state)
        self.alpha, self.random_state = float(alpha), random_state
        self.alarms: tuple[Alarm, ...] = ()
        self.tests: tuple[DriftTest, ...] = ()
        self.n_batches = 0
        self.past = np.empty((0, FAMILY))
        self.documents: tuple[Documents, ...] = ()

    @property
    def n_held_back(self) -> int:
        return sum(map(number_of_rows, self.documents))

    def _table(self) -> tuple[str, tuple[str, ...], list[Any]]:
        n, n_batches = len(self.alarms), self.n_batches
        said = f"{n} alarm{'s' * (n != 1)} in {n_batches} minibatches"
        rows = [
            (one.batch, one.time, max(one.p_exact, one.p_chart), [word.word for word in one.words])
            for one in reversed(self.alarms)
        ]
        held = f"{said}, {self.n_held_back} documents held back"
        return held, ("minibatch", "time", "p", "new words"), rows

    def learn(self, model: Learner, X: Any, *, time: object = None) -> None:
        """Test a minibatch, and learn from it instead of ``model.partial_fit(X)``.

        Parameters
        ----------
        model : estimator or StreamingPipeline
            A topic model, or a pipeline that ends in one; the same in each call. If a call raises
            an error, at most the first steps of a pipeline have changed.
        X : {array-like, sparse matrix} of shape (n_documents, n_features) or iterable of str
            Word counts, or texts for a pipeline.
        time : object, default=None
            Passed to `partial_fit` if given.
        """
        batches.check_has_topics(model)
        check_not_frozen(model)
        with lock_of(model):
            number, time = {"n_batches": self.n_batches + 1}, without_pandas(time)
            if n_learnt(model) == 0:
                # An iterator can be read only once.
                X = in_memory(X)
                self._learn(model, X, time, number)
                return
            documents = batches.as_documents(model, X)
            n = number_of_rows(documents)
            rng = np.random.default_rng([self.random_state, self.n_batches])
            held = np.sort(rng.permutation(n)[: min(round(HELD_BACK * n), max(n - 1, 0))])
            rest = take_rows(documents, np.delete(np.arange(n), held))
            kept = (*self.documents, take_rows(documents, held))
            after = number | self._test(model, documents, time, rng)
            n_kept = 1 if "alarms" in after else RING
            after["documents"] = tuple(part for part in kept[-n_kept:] if number_of_rows(part))
            whole = batches.named(model, together([rest, *kept[:-n_kept]]))
            self._learn(model, whole, time, after)

    def finish(self, model: Learner) -> None:
        """Learn from the documents still held back, without a time."""
        with lock_of(model):
            if self.documents:
                *old, last = self.documents
                whole = batches.named(model, together([last, *old]))
                self._learn(model, whole, None, {"documents": ()})

    # Keeping

    def __getstate__(self) -> dict[str, Any]:
        return {
            **self.__dict__,
            "tests": packed(self.tests, (test.time for test in self.tests)),
            "alarms": packed(self.alarms, (one.time for one in self.alarms)),
            "documents": [packed(d, d) if isinstance(d, list) else d for d in self.documents],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        tests = tuple(DriftTest(*test) for test in unpacked(state["tests"]))
        alarms = tuple(map(alarm.alarm_of, unpacked(state["alarms"])))
        kept = state["documents"]
        documents = tuple(unpacked(d) if isinstance(d, np.ndarray) else d for d in kept)
        self.__dict__ |= state | {"tests": tests, "alarms": alarms, "documents": documents}

    # Testing

    def _test(
        self, model: Learner, documents: Documents, time: object, rng: np.random.Generator
    ) -> dict[str, Any]:
        if not self.documents or not number_of_rows(documents):
            return {}
        (some, places), (others, _) = (
            _some(part, rng) for part in (documents, together(self.documents))
        )
        new, before = batches.counts_of(model, some), batches.counts_of(model, others)
        counts = sparse.vstack([new, before], format="csr")
        features = statistics.block_features(last_step(model), counts, new.shape[0], rng)
        # With less than 3 / alpha relabellings the exact test cannot reach the level.
        n = max(N_PERMUTATIONS, round((FAMILY + 1) / self.alpha) - 1)
        found = statistics.compare(features, n, rng)
        p_exact, p_chart = min(1.0, FAMILY * float(found.p.min())), np.nan
        if len(self.past) >= LEAST_PAST:
            p_chart = min(1.0, float((TIMES * statistics.chart_p(self.past, found.z)).min()))
        both = p_exact < self.alpha and p_chart < self.alpha
        test = DriftTest(self.n_batches + 1, time, p_exact, p_chart, both)
        after: dict[str, Any] = {
            "tests": (*self.tests, test)[-KEPT:],
            "past": np.vstack([self.past, found.z])[-PAST:],
        }
        if test.alarm:
            names = names_of(model)
            top_words = last_step(model).top_words(names, alarm.N_TOP)
            rung = Alarm(
                *test[:-1], new.shape[0], before.shape[0],
                alarm.changed_topics(found, self.alpha, top_words),
                alarm.new_words(new, before, self.alpha, names),
                alarm.new_topics(new, before, self.alpha, names, places),
            )  # fmt: skip
            after["alarms"] = (*self.alarms, rung)[-KEPT:]
            LOG.info("%s", rung)
        return after

    def _learn(self, model: Learner, X: Any, time: object, after: dict[str, Any]) -> None:
        """Learn; change the monitor only if the model has learnt."""
        before = n_learnt(model)
        try:
            model.partial_fit(X, **({} if time is None else {"time": time}))
            self._set(after)
        except BaseException:
            if n_learnt(model) != before:
                self._set(after)
            raise

    def _set(self, after: dict[str, Any]) -> None:
        """Change the monitor in one step, without signals in between."""
        kernel.write([], [(self.__dict__, name, value) for name, value in after.items()])


def _some(documents: Documents, rng: np.random.Generator) -> tuple[Documents, np.ndarray]:
    """At most `MAX_DOCUMENTS` documents at random, and their places."""
    n = number_of_rows(documents)
    if n <= MAX_DOCUMENTS:
        return documents, np.arange(n)
    places = np.sort(rng.permutation(n)[:MAX_DOCUMENTS])
    return take_rows(documents, places), places
