# SPDX-License-Identifier: BSD-3-Clause
"""Hierarchical Dirichlet processes."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from streamtopics.base.composition import Composition
from streamtopics.base.glossary import documented
from streamtopics.base.inputs import Documents
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.base.typing import RandomState, WordPriorLike
from streamtopics.base.validation import Interval
from streamtopics.estimators.births_and_deaths import ReportsLifetimes
from streamtopics.local import Gibbs
from streamtopics.models import HDP
from streamtopics.models.hdp import apply_update, mean_weights, stick_weights
from streamtopics.models.lda import mean
from streamtopics.updates import Decay, MeanDecay, OnlineEM, Rule, StochasticVI
from streamtopics.updates.births import Lifetimes, update_lifetimes
from streamtopics.utils.parallel import Workers
from streamtopics.utils.records import keep

POSITIVE = Interval(Real, 1e-3, 1e6, closed="both")
# Smallest share of the tokens of an active topic.
ACTIVE = 0.01


class HDPModel(ReportsLifetimes):
    _holds = "_commit.posterior: V K; _commit.state: K >=0"
    _parameter_constraints: ClassVar[dict[str, Any]] = (
        StreamingTopicModel._parameter_constraints
        | {"concentration": [POSITIVE], "doc_concentration": [POSITIVE]}
    )
    _records: ClassVar[dict[str, dict[str, Any]]] = {"update": {}} | StreamingTopicModel._records
    _topics_have_priors = False
    # Whether topics and sticks have variational posteriors.
    _bayesian = False
    kappa: float
    tau: float
    n_sweeps: int
    concentration: float
    doc_concentration: float

    def _rule(self) -> Any:
        """The update rule."""

    def _weights(self, tables: np.ndarray, gain: float) -> Any:
        """The topic weights pi."""

    @property
    def n_topics_(self) -> int:
        return self._n_features_out

    @property
    def n_active_topics_(self) -> int:
        return int((self.topic_weights_ > ACTIVE).sum())

    @property
    def topic_ids_(self) -> np.ndarray:
        return self._lifetimes().ids.copy()

    def _check_forgets(self) -> None:
        raise AttributeError(f"{type(self).__name__} has no report of drift; see births_report")

    def _composition(self) -> Composition:
        return Composition(self._rule(), Gibbs(self.n_sweeps, rounding=0), mean)

    def _started(self) -> dict[str, Any]:
        # n_components is for the start only.
        return {}

    def _first_doc_topic_prior(self) -> np.ndarray:
        each = float(self.doc_concentration) / (self.n_components + float(self.concentration))
        return np.full(self.n_components, each)

    def _start(self, batch: Documents) -> None:
        super()._start(batch)
        n = self.n_components
        lifetimes = Lifetimes(np.zeros(n), ids=np.arange(n), n_ids=n)
        self._commit = replace(self._commit, state=np.zeros(n), lifetimes=lifetimes)

    def _state_without(self, words: np.ndarray) -> Any:
        return self._commit.state

    def _learn(self, batch: Documents, pool: Workers) -> None:
        commit, rule = self._commit, self._rule()
        if rule.for_part(0.5) is None or rule.init(commit.posterior) is not None:
            raise ValueError(f"update must have one step and no state; got {rule!r}")
        model = HDP(
            float(self.concentration), float(self.doc_concentration), self.n_sweeps,
            Gibbs(self.n_sweeps).averaged, self.seed_, self._bayesian,
        )  # fmt: skip
        statistics = model.learn(commit.posterior, batch.minibatch, commit.state)
        posterior, blend, tables, topics = apply_update(
            commit.posterior, statistics, rule, commit.state, self._weights,
            self.doc_concentration,
        )  # fmt: skip
        lifetimes = commit.lifetimes and update_lifetimes(
            commit.lifetimes, commit.posterior, commit.state, topics, blend.statistics, batch.time
        )
        new = replace(commit, posterior=posterior, state=tables, lifetimes=lifetimes)
        posterior.blend(blend, [self._swap(new)])


@documented
class HDPGibbsOnlineEM(HDPModel):
    """Hierarchical Dirichlet process by Gibbs online EM: the number of topics is learnt.

    Topics of tokens are sampled, and topics are running means, as in `GibbsOnlineEM`. A token may
    also open a new topic. A topic that weighs less than one token of the current minibatch is
    dropped. The topic weights pi come from the expected numbers S of tables in the Chinese
    restaurant franchise::

        pi_k = S_k / (sum_j S_j + concentration),    doc_topic_prior_ = doc_concentration * pi

    Topics that have become alike are not merged. In the first hundreds of minibatches up to twice
    as many topics as needed are active.

    {parameters, first_n_components}
    update : Rule or None, default=None
        How topics and tables learn a minibatch. None is online EM with `kappa` and `tau`. A rule
        with forgetting, for example ``PowerPrior(Memory(10_000))``, drops old topics.
    {kappa, tau, hdp_documents}
    topic_word_prior : float, array-like of shape (n_features,), WordPrior or callable, default=0.01
        Pseudo-count of every word in every topic, in tokens. With 0.05 or more, some different
        topics are learnt as one.
    {small_batches, max_iter, common_parameters}

    {attributes, hdp_attributes, mean_components}
        With a rule other than online EM: pseudo-counts, as in `StreamingLDA`.
    {common_attributes}

    References
    ----------
    C. Dupuy (2017), "Inference and applications for topic models", section 3.4.

    Y. W. Teh et al. (2006), "Hierarchical Dirichlet processes".

    Examples
    --------
    >>> from streamtopics import HDPGibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> HDPGibbsOnlineEM(random_state=0).fit(X).n_active_topics_ > 2
    True
    """

    update: Rule | None

    def __init__(
        self,
        n_components: int = 2,
        *,
        update: Rule | None = None,
        kappa: float = 0.7,
        tau: float = 0,
        n_sweeps: int = 20,
        concentration: float = 1.0,
        doc_concentration: float = 2.0,
        topic_word_prior: WordPriorLike = 0.01,
        batch_size: int = 100,
        max_iter: int = 1,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _rule(self) -> Rule:
        return OnlineEM(MeanDecay(self.kappa, self.tau)) if self.update is None else self.update

    def _weights(self, tables: np.ndarray, gain: float) -> np.ndarray:
        return mean_weights(tables, gain * float(self.concentration))


@documented
class HDPVarGibbs(HDPModel):
    """Hierarchical Dirichlet process by Gibbs sampling within variational inference.

    The number of topics is learnt, as in `HDPGibbsOnlineEM`. Topics and stick-breaking weights have
    variational posteriors. Each document draws its own topic weights after every sweep.

    {parameters, first_n_components, kappa}
    tau : float, default=0
        Delay of the step size, in minibatches.
    n_documents : int or None, default=None
        Size of the corpus (the paper's D). None is the number of documents seen so far.
    {hdp_documents}
    topic_word_prior : float, array-like of shape (n_features,), WordPrior, callable or None, \
            default=None
        Dirichlet parameter of the topics (the paper's eta), in tokens. None is 0.05 for each word.
    {small_batches, max_iter, common_parameters}

    {attributes, hdp_attributes, dirichlet_components, common_attributes}

    References
    ----------
    C. Wang and D. M. Blei (2012), "Truncation-free online variational inference for Bayesian
    nonparametric models".

    Examples
    --------
    >>> from streamtopics import HDPVarGibbs
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> HDPVarGibbs(random_state=0).fit(X).n_active_topics_ > 2
    True
    """

    n_documents: int | None
    _bayesian = True

    def __init__(
        self,
        n_components: int = 2,
        *,
        kappa: float = 0.7,
        tau: float = 0,
        n_documents: int | None = None,
        n_sweeps: int = 20,
        concentration: float = 1.0,
        doc_concentration: float = 2.0,
        topic_word_prior: WordPriorLike = None,
        batch_size: int = 100,
        max_iter: int = 1,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _rule(self) -> StochasticVI:
        return StochasticVI(Decay(self.kappa, self.tau), self.n_documents)

    def _weights(self, tables: np.ndarray, gain: float) -> np.ndarray:
        return stick_weights(tables, float(self.concentration))
