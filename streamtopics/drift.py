# SPDX-License-Identifier: BSD-3-Clause
"""What a minibatch did to the topics of a model that forgets.

`Forgetting` is mixed into estimators whose rule may keep less than all of the
posterior: it notes, for each of the last minibatches, how much was kept and where
the topics moved, and calls back when one is about to be forgotten.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from streamtopics.messages import Minibatch
from streamtopics.parallel import Workers
from streamtopics.posterior import TOO_EXTREME, Blend, LazyPosterior
from streamtopics.validation import Interval

DRIFT_CONSTRAINTS = {
    "drift_threshold": [Interval(Real, 0, 1, closed="both")],
    "on_drift": [callable, None],
}
KEPT_MINIBATCHES = 1000
TOP_WORDS = 10


@dataclass(frozen=True)
class Drift:
    """What one minibatch did.

    Attributes
    ----------
    batch : int
        Its number, from 1.
    time : object
        As passed to `partial_fit`; None otherwise.
    retention : ndarray of shape (n_components,)
        Share of the posterior before it that was kept.
    effective_sample_size : ndarray of shape (n_components,)
        Mass of the posterior after it, in tokens, the prior's included.
    moved : ndarray of shape (n_components,)
        Total variation distance between a topic's mean before and after, in [0, 1].
    top_words : ndarray of shape (n_components, n)
        Columns of the most probable words after it, the most probable first.
    """

    batch: int
    time: Any
    retention: np.ndarray
    effective_sample_size: np.ndarray
    moved: np.ndarray
    top_words: np.ndarray


class DriftRow(NamedTuple):
    """One topic in one minibatch, for people or for a DataFrame."""

    batch: int
    time: Any
    topic: int
    retention: float
    effective_sample_size: float
    moved: float
    gained: list
    lost: list


def observe(posterior: LazyPosterior, blend: Blend, time: Any) -> Drift:
    """What `blend` is about to do to a posterior."""
    old_mass, mass = posterior.mass, posterior.after(blend).mass
    if not np.isfinite(mass).all():
        raise ValueError(TOO_EXTREME)
    n = min(TOP_WORDS, posterior.shape[0])
    moved, least = np.zeros((2, len(mass)))
    leaders = []
    for words, before, after in posterior.changes(blend):
        before /= old_mass
        moved += np.abs(after / mass - before).sum(axis=0)
        if len(words) >= n:
            nth = np.partition(after, len(words) - n, axis=0)[len(words) - n]
            least = np.maximum(least, nth)
        places, topics = np.nonzero(after >= least)
        leaders.append((topics, words[places], after[places, topics]))
    return Drift(
        posterior.n_batches + 1,
        time,
        np.broadcast_to(np.asarray(blend.retain, dtype=np.float64), mass.shape).copy(),
        mass,
        0.5 * moved,
        _leading(*map(np.concatenate, zip(*leaders, strict=True)), n),
    )


def _leading(topics: np.ndarray, words: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    """The n words of the largest values of each topic, of equal ones the first."""
    order = np.lexsort((words, -values, topics))
    first = np.searchsorted(topics[order], np.arange(topics.max() + 1))
    return words[order][first[:, None] + np.arange(n)]


def drift_table(records: Sequence[Drift], names: np.ndarray) -> list[DriftRow]:
    """A row for each minibatch and topic; words are gained and lost among the top ones."""
    rows = []
    for last, record in zip([None, *records], records, strict=False):
        for k, words in enumerate(record.top_words):
            old = words if last is None else last.top_words[k]
            gained, lost = np.setdiff1d(words, old), np.setdiff1d(old, words)
            rows.append(
                DriftRow(
                    record.batch,
                    record.time,
                    k,
                    float(record.retention[k]),
                    float(record.effective_sample_size[k]),
                    float(record.moved[k]),
                    list(names[gained]),
                    list(names[lost]),
                )
            )
    return rows


class Forgetting:
    """Adds retention, a report of drift and a warning to an estimator of topics."""

    # `time` is not for meta-estimators to route.
    __metadata_request__partial_fit: ClassVar[dict] = {"time": UNUSED}

    drift_threshold: float
    on_drift: Callable[[Drift], None] | None

    def _start(self, X: sparse.csr_matrix) -> None:
        super()._start(X)
        self._drift_records = []

    def partial_fit(self, X: Any, y: Any = None, *, time: Any = None) -> Self:
        """Learn from one minibatch: one step of the update rule.

        When it fails nothing has changed. When it is interrupted, either nothing has
        changed or all of the minibatch was learnt, as `n_batch_iter_` tells. What
        `on_drift` raises comes through, and then the minibatch is learnt. The first call
        fixes the number of topics and the priors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Non-negative word counts; fractions are legal.
        y : None
            Ignored.
        time : object, default=None
            When the documents are from: kept for `drift_report`.

        Returns
        -------
        self : object
            The estimator.
        """
        return self._partial_fit(X, partial(self._learn, time=time))

    def drift_report(self, feature_names: Any = None) -> list[DriftRow]:
        """How much of each topic was kept with each minibatch, and where it moved.

        Parameters
        ----------
        feature_names : array-like of shape (n_features,), default=None
            As in `top_words`.

        Returns
        -------
        report : list of DriftRow
            A row for each of the last thousand minibatches and each topic, with the words
            that came among its ten most probable ones and those that left them; as a frame
            by `pandas.DataFrame(report)`.
        """
        return drift_table(self.drift_, self._column_names(feature_names))

    def _learn(self, minibatch: Minibatch, pool: Workers, time: Any = None) -> None:
        learn = self._model().learner(self.posterior_, minibatch, pool)
        blend = self._rule().step(self.posterior_, learn)
        record = observe(self.posterior_, blend, time)
        self._drift_records = [*self.drift_[1 - KEPT_MINIBATCHES :], record]
        self.posterior_.blend(blend)
        if self.on_drift is not None and record.retention.min() < self.drift_threshold:
            self.on_drift(record)

    @property
    def drift_(self) -> list[Drift]:
        """Records of the last thousand minibatches, the oldest first."""
        check_is_fitted(self)
        return [record for record in self._drift_records if record.batch <= self.n_batch_iter_]

    @property
    def retention_(self) -> np.ndarray:
        """Share of each topic that the last minibatch left, of shape (n_components,)."""
        records = self.drift_
        return records[-1].retention.copy() if records else np.ones(self.posterior_.shape[1])

    @property
    def retention_history_(self) -> np.ndarray:
        """`retention_` after each of the last thousand minibatches."""
        return np.array([record.retention for record in self.drift_])

    @property
    def effective_sample_size_(self) -> np.ndarray:
        """Tokens that each topic stands for, its prior's included."""
        check_is_fitted(self)
        return self.posterior_.mass
