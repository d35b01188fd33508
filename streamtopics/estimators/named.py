# SPDX-License-Identifier: BSD-3-Clause
"""`StreamingLDA` with the rules of papers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal

from streamtopics.base.composition import LONG, Composition, Schedule
from streamtopics.base.glossary import documented
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.base.validation import Interval, StrOptions
from streamtopics.estimators.streaming_lda import StreamingLDA
from streamtopics.local import Gibbs, LocalStep, OneTopic, Variational
from streamtopics.models.lda import Start, TopicView
from streamtopics.updates import (
    BPS,
    SVB,
    Boost,
    DampedNewton,
    EmpiricalPowerPrior,
    HierarchicalPowerPrior,
    MeanDecay,
    OnlineEM,
    Rule,
)
from streamtopics.updates.doc_topic import DocTopicUpdate, RunningMean
from streamtopics.updates.rates import Exponential, Normal
from streamtopics.utils.records import keep


class BayesianLDA(StreamingLDA):
    """Base of classes with equal iterations in `transform`."""

    def _composition(self) -> Composition:
        found = super()._composition()
        if isinstance(found.inference, Variational):
            found = replace(found, transform_inference=found.inference)
        return found


@documented
class SVBLDA(BayesianLDA):
    """Latent Dirichlet allocation by streaming variational Bayes, without forgetting.

    The posterior after each minibatch is the prior of the next, if ``schedule__growth=1``::

        lam_t = lam_{t-1} + s_t

    Here lam_t are the Dirichlet parameters of the topics after minibatch t, and s_t the expected
    counts of words in topics. By default (`growth` is 3) later minibatches weigh more.

    {by_default}

    {parameters, n_components, as_streaming_lda}

    {attributes, dirichlet_components, common_attributes}

    References
    ----------
    T. Broderick et al. (2013), "Streaming variational Bayes".

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = SVBLDA(n_components=5, random_state=0).partial_fit(X[:100]).partial_fit(X[100:200])
    >>> model.n_batch_iter_, model.n_documents_seen_
    (2, 200)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "auto",
        topic_word_prior: WordPriorLike | Literal["auto"] = "auto",
        inference: str | LocalStep = "auto",
        view: str | TopicView = "auto",
        start: str | Start = "spectral",
        schedule: Schedule | None = None,
        batch_size: int = 1200,
        max_iter: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _rule(self) -> SVB:
        return SVB()


@documented
class BPSLDA(BayesianLDA):
    """Latent Dirichlet allocation with a prior that is added again and again (a boost).

    Each minibatch adds the prior in proportion to the tokens; if minibatches have equal weights::

        lam_t = lam_{t-1} + s_t + r_t eta,    r_t = boosting_scale * |s_t| / |eta|

    Here lam_t are the Dirichlet parameters of the topics after minibatch t, s_t the expected counts
    of words in topics, eta the prior, and ``|.|`` the sum of all entries. On a long stream the
    prior's share in lam_t is near ``boosting_scale / (1 + boosting_scale)``. Boosting helps if the
    prior knows more than the data; a wrong prior does harm.

    {by_default}

    {parameters, n_components}
    boosting_scale : float, default=0.1
        Pseudo-counts of the prior added for each token. 0 adds nothing, as in `SVBLDA`.
    boosting_norm : {"whole", "topic"}, default="whole"
        "whole" has one r_t for all topics, as in the paper, so rare topics change most. "topic" has
        an r_t for each topic, from ``|s_t|`` and ``|eta|`` of this topic.
    {boosted_prior, as_streaming_lda}

    {attributes, dirichlet_components, common_attributes}

    References
    ----------
    D. A. Nguyen, V. L. Ngo, K. A. Nguyen, C. H. Nguyen and K. Than (2020), "Boosting prior
    knowledge in streaming variational Bayes", equations 34 and 43, algorithm 8.

    Examples
    --------
    >>> from streamtopics import BPSLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=500, n_features=200, random_state=0).X
    >>> model = BPSLDA(5, boosting_scale=0.25, topic_word_prior=0.05, random_state=0).fit(X)
    >>> learnt = model.components_.sum() - 5 * 200 * 0.05
    >>> round(float(learnt / model.n_tokens_seen_), 3)  # 1 for a token, and boosting_scale
    1.25
    """

    boosting_scale: float
    boosting_norm: Literal["whole", "topic"]

    def __init__(
        self,
        n_components: int = 10,
        *,
        boosting_scale: float = 0.1,
        boosting_norm: Literal["whole", "topic"] = "whole",
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "auto",
        topic_word_prior: WordPriorLike | Literal["auto"] = "auto",
        boosted_prior: WordPriorLike = None,
        inference: str | LocalStep = "auto",
        view: str | TopicView = "auto",
        start: str | Start = "spectral",
        schedule: Schedule | None = None,
        batch_size: int = 1200,
        max_iter: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _rule(self) -> BPS:
        return BPS(self.boosting_scale, self.boosting_norm)


@documented
class SVBHPP(BayesianLDA):
    """Latent Dirichlet allocation with a learnt rate of forgetting (SVB-HPP, SVB-MHPP).

    Each minibatch replaces a share of the posterior by the prior. For minibatches of equal weight
    (``schedule__growth=1``)::

        lam_t = E[rho_t] lam_{t-1} + (1 - E[rho_t]) eta + s_t

    Here lam_t are the Dirichlet parameters of the topics after minibatch t, s_t the expected counts
    of words in topics, eta the prior, and rho_t the retention rate. The rate is high if the earlier
    topics explain the minibatch better than the prior does. Use SVBHPP for large minibatches and
    sudden changes; for slow drift ``StreamingLDA(update=PowerPrior(Memory(20_000)))`` is better.

    {by_default}

    {parameters, n_components}
    rate : {"shared", "topic"}, default="shared"
        One retention rate for all topics (HPP), or one for each (MHPP).
    rate_estimate : {"posterior", "point"}, default="posterior"
        "posterior" is the posterior mean of rho_t, by the double lower bound of the paper. "point"
        is the rho_t that makes new topics most probable; it ignores `rate_prior` and `rate_starts`.
    rate_prior : float, Exponential or Normal, default=-0.1
        Prior of the rates. A number is gamma of `Exponential`, with density proportional to
        ``exp(gamma rho)`` on [0, 1]; -0.1 of the paper is close to uniform.
    rate_starts : tuple of float, default=(0.05, 0.95)
        Initial values of E[rho_t]; the result with the greatest evidence bound is taken. The single
        initial value 0.5 of the paper often misses a change of some topics.
    boosting_scale : float, default=0.0
        Pseudo-counts of `boosted_prior` added for each token.
    {boosted_prior, as_streaming_lda}

    {attributes, dirichlet_components, drift_attributes, common_attributes}

    References
    ----------
    A. Masegosa et al. (2020), "Variational inference over nonstationary data streams for
    exponential family models", algorithm 1.

    Examples
    --------
    >>> from streamtopics import SVBHPP
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X, Y = (make_lda_corpus(200, n_features=200, random_state=seed).X for seed in (0, 1))
    >>> model = SVBHPP(n_components=5, random_state=0)
    >>> for batch in (X[:100], X[100:], Y):  # Y has other topics
    ...     model = model.partial_fit(batch)
    >>> model.retention_history_.mean(axis=1).round(2)
    array([1., 1., 0.])
    """

    rate: Literal["shared", "topic"]
    rate_estimate: Literal["posterior", "point"]
    rate_prior: float | Exponential | Normal
    rate_starts: Sequence[float]
    boosting_scale: float

    _parameter_constraints: ClassVar[dict[str, Any]] = BayesianLDA._parameter_constraints | {
        "rate": [StrOptions({"shared", "topic"})],
        "rate_estimate": [StrOptions({"posterior", "point"})],
        "rate_prior": [Interval(Real, None, None, closed="neither"), Exponential, Normal],
        "rate_starts": [tuple, list],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        rate: Literal["shared", "topic"] = "shared",
        rate_estimate: Literal["posterior", "point"] = "posterior",
        rate_prior: float | Exponential | Normal = -0.1,
        rate_starts: Sequence[float] = (0.05, 0.95),
        boosting_scale: float = 0.0,
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "auto",
        topic_word_prior: WordPriorLike | Literal["auto"] = "auto",
        boosted_prior: WordPriorLike = None,
        inference: str | LocalStep = "auto",
        view: str | TopicView = "auto",
        start: str | Start = "spectral",
        schedule: Schedule | None = None,
        batch_size: int = 1200,
        max_iter: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _rule(self) -> Rule:
        boost = Boost(self.boosting_scale)
        if self.rate_estimate == "point":
            return EmpiricalPowerPrior(self.rate, boost)
        prior = self.rate_prior
        prior = prior if isinstance(prior, Exponential | Normal) else Exponential(prior)
        return HierarchicalPowerPrior(self.rate, prior, tuple(self.rate_starts), boost)


class OnlineEMLDA(StreamingLDA):
    kappa: float
    tau: float
    n_sweeps: int
    update_each_sweep: bool
    view = "auto"

    def _rule(self) -> Rule:
        return OnlineEM(MeanDecay(self.kappa, self.tau))

    def _sweeps(self, n_sweeps: int) -> Any:
        """The inference with `n_sweeps` sweeps."""

    def _local_step(self) -> Any:
        if self.update_each_sweep:
            return self._sweeps(1)
        suited = super()._local_step()
        return suited if isinstance(suited, OneTopic) else self._sweeps(self.n_sweeps)

    def _composition(self) -> Composition:
        found = super()._composition()
        if isinstance(found.doc_topic, RunningMean | DampedNewton):
            learns: Any = found.doc_topic
            learns = replace(learns, step_size=MeanDecay(self.kappa, self.tau))
            found = replace(found, doc_topic=learns)
        if self.update_each_sweep:
            n = self.n_sweeps
            rounds = replace(found.schedule, n_rounds=n, n_start_rounds=1, warm_rounds=True)
            found = replace(found, schedule=rounds)
        return found


@documented
class GibbsOnlineEM(OnlineEMLDA):
    """Latent Dirichlet allocation by Gibbs online EM (G-OEM).

    Minibatch t has B documents and the step size r_t. Collapsed Gibbs sampling with Rao-Blackwell
    averages finds S_t, the expected counts of words in topics. The topics beta come from s_t, the
    running mean of counts per document::

        s_t = (1 - r_t) s_{t-1} + r_t S_t / B,    beta = s_t normalised

    A count c is sampled as ``ceil(c)`` tokens of weight ``c / ceil(c)``. TF-IDF rows of norm 1
    hardly count beside the learnt prior of topic proportions; give counts or larger rows.

    {by_default}

    {parameters, n_components, part_kappa, tau}
    n_sweeps : int, default=5
        Gibbs sweeps over each document; the last quarter is averaged.
    {update_each_sweep, mean_topic_word_prior}
    inference : {"auto", "gibbs"}, default="auto"
        "auto" is Gibbs sampling, or one topic and a background for each document if the mean length
        is less than 12 words (without `update_each_sweep`).
    schedule : Schedule or None, default=None
        As in `StreamingLDA`; None is ``Schedule(n_start_rounds=10)``: topics take shape before
        anything is forgotten.
    {as_streaming_mean}

    {attributes, mean_components, common_attributes}

    References
    ----------
    C. Dupuy and F. Bach (2017), "Online but accurate inference for latent variable
    models with local Gibbs sampling", section 3.

    Examples
    --------
    >>> from streamtopics import GibbsOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> GibbsOnlineEM(n_components=5, random_state=0).fit(X).transform(X[:3]).shape
    (3, 5)
    """

    _records = OnlineEMLDA._records | {"schedule": {None: Schedule(n_start_rounds=10)}}
    _parameter_constraints: ClassVar[dict[str, Any]] = OnlineEMLDA._parameter_constraints | {
        "inference": [StrOptions({"auto", "gibbs"})]
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        kappa: float = 0.85,
        tau: float = 0,
        n_sweeps: int = 5,
        update_each_sweep: bool = False,
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "auto",
        topic_word_prior: WordPriorLike = 0.02,
        inference: Literal["auto", "gibbs"] = "auto",
        start: str | Start = "spectral",
        schedule: Schedule | None = None,
        batch_size: int = 1200,
        max_iter: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    def _sweeps(self, n_sweeps: int) -> Gibbs:
        return Gibbs(n_sweeps)


@documented
class VariationalOnlineEM(OnlineEMLDA):
    """Latent Dirichlet allocation by variational online EM (V-OEM).

    The method is `GibbsOnlineEM`, but mean-field inference finds the expected counts. The counts
    are biased, but not random.

    {by_default}

    {parameters, n_components, part_kappa, tau}
    max_local_iter : int, default=20
        Largest number of sweeps over a document in learning. With `update_each_sweep` the exact
        number.
    local_tol : float, default=1e-3
        Stop when a sweep over a document moves less than this share of the tokens between topics.
        With `update_each_sweep` only `transform` stops so.
    {update_each_sweep, mean_topic_word_prior}
    inference : {"auto", "variational"}, default="auto"
        "auto" is variational inference, or one topic and a background for each document if the mean
        length is less than 60 words (without `update_each_sweep`).
    {schedule, as_streaming_mean}

    {attributes, mean_components, common_attributes}

    Examples
    --------
    >>> from streamtopics import VariationalOnlineEM
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=2000, n_features=200, random_state=0).X
    >>> VariationalOnlineEM(n_components=5, random_state=0).fit(X).transform(X[:3]).shape
    (3, 5)
    """

    max_local_iter: int
    local_tol: float

    # Mean-field inference of shorter documents is worse than one topic for each.
    _one_topic_below = LONG
    _parameter_constraints: ClassVar[dict[str, Any]] = OnlineEMLDA._parameter_constraints | {
        "inference": [StrOptions({"auto", "variational"})]
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        kappa: float = 0.85,
        tau: float = 0,
        max_local_iter: int = 20,
        local_tol: float = 1e-3,
        update_each_sweep: bool = False,
        doc_topic_prior: DocTopicPriorLike = None,
        doc_topic_prior_update: str | DocTopicUpdate = "auto",
        topic_word_prior: WordPriorLike = 0.02,
        inference: Literal["auto", "variational"] = "auto",
        start: str | Start = "spectral",
        schedule: Schedule | None = None,
        batch_size: int = 1200,
        max_iter: int | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    @property
    def n_sweeps(self) -> int:  # type: ignore[override]
        """Largest number of sweeps over a document: another name of `max_local_iter`."""
        return self.max_local_iter

    def _sweeps(self, n_sweeps: int) -> Variational:
        return Variational(self.local_tol, n_sweeps)
