# SPDX-License-Identifier: BSD-3-Clause
"""Base of the estimators of a hierarchical Dirichlet process."""

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from streamtopics.base.composition import Composition
from streamtopics.base.inputs import Documents
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.base.typing import WordPriorLike
from streamtopics.base.validation import Interval
from streamtopics.estimators.births_and_deaths import ReportsLifetimes
from streamtopics.local import Gibbs
from streamtopics.models import HDP
from streamtopics.models.lda import mean
from streamtopics.updates import Rule
from streamtopics.updates.births import Lifetimes, followed
from streamtopics.updates.hdp import apply_update
from streamtopics.utils.parallel import Workers

POSITIVE = Interval(Real, 1e-3, 1e6, closed="both")
# Share of the tokens that a topic needs to be called active.
ACTIVE = 0.01


class HDPModel(ReportsLifetimes, StreamingTopicModel):
    """Base of the estimators that find the number of topics.

    A subclass says what its weights of topics are, and whether it is Bayesian.
    """

    _holds = "_commit.posterior: V K; _commit.state: K >=0"
    _parameter_constraints: ClassVar[dict[str, Any]] = (
        StreamingTopicModel._parameter_constraints
        | {
            "concentration": [POSITIVE],
            "doc_concentration": [POSITIVE],
        }
    )
    _records: ClassVar[dict[str, dict[str, Any]]] = {"update": {}} | StreamingTopicModel._records
    _bayesian = False
    kappa: float
    tau: float
    n_sweeps: int
    concentration: float
    doc_concentration: float
    topic_word_prior: WordPriorLike
    _topics_have_priors = False

    def _weights(self, tables: np.ndarray, gain: float) -> np.ndarray:
        """pi, from the running tables; `gain` is what a document's counted."""
        raise NotImplementedError

    @property
    def n_topics_(self) -> int:
        """Number of topics represented, with those that hardly any word belongs to."""
        return self._n_features_out

    @property
    def n_active_topics_(self) -> int:
        """Number of topics with more than 1 % of the tokens learnt from."""
        return int((self.topic_weights_ > ACTIVE).sum())

    @property
    def topic_ids_(self) -> np.ndarray:
        """Numbers of the topics by which `births_` calls them, of shape (n_topics,)."""
        return self._lifetimes().ids.copy()

    def _check_forgets(self) -> None:
        raise AttributeError(
            f"{type(self).__name__} has no report of drift: its topics have no fixed places; see "
            "births_report"
        )

    def _rule(self) -> Rule:
        """The rule, from the parameters as they are now."""
        raise NotImplementedError

    def _composition(self) -> Composition:
        return Composition(self._rule(), Gibbs(self.n_sweeps), mean)

    def _check_places(self, name: str) -> None:
        raise TypeError(f"{type(self).__name__} cannot be merged: its topics have no fixed places")

    def _started(self) -> dict[str, Any]:
        # n_components is for the start only.
        return {}

    def _first_doc_topic_prior(self) -> np.ndarray:
        each = float(self.doc_concentration) / (self.n_components + float(self.concentration))
        return np.full(self.n_components, each)

    def _start(self, batch: Documents) -> None:
        super()._start(batch)
        # The state are the running tables of the topics.
        K = self.n_components
        tables = np.zeros(K)
        lifetimes = Lifetimes(tables, ids=np.arange(K), n_ids=K)
        self._commit = replace(self._commit, state=tables, lifetimes=lifetimes)

    def _state_of_rule(self) -> None:
        """None: the tables are those of the model."""

    def _state_without(self, words: np.ndarray) -> np.ndarray:
        """The tables, which are of topics."""
        tables: np.ndarray = self._commit.state
        return tables

    def _learn(self, batch: Documents, pool: Workers) -> None:
        commit, averaged = self._commit, Gibbs(self.n_sweeps).averaged
        rule = self._rule()
        if rule.for_part(0.5) is None or rule.init(commit.posterior) is not None:
            raise ValueError(
                "update must be a rule of one step and no state, such as PowerPrior(0.9); got "
                f"{rule!r}"
            )
        model = HDP(
            float(self.concentration), float(self.doc_concentration), self.n_sweeps, averaged,
            self.seed_, self._bayesian,
        )  # fmt: skip
        statistics = model.learn(commit.posterior, batch.minibatch, commit.state)
        posterior, blend, tables, topics = apply_update(
            commit.posterior, statistics, rule, commit.state, self._weights,
            self.doc_concentration,
        )  # fmt: skip
        lifetimes = commit.lifetimes
        if lifetimes is not None:
            before, found = commit.posterior, blend.statistics
            lifetimes = followed(lifetimes, before, commit.state, topics, found, batch.time)
        new = replace(commit, posterior=posterior, state=tables, lifetimes=lifetimes)
        posterior.blend(blend, [(vars(self), "_commit", new)])
