# SPDX-License-Identifier: BSD-3-Clause
"""LDA by rules that keep a posterior of the topics: `StreamingLDA` with a fixed rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from streamtopics.base.composition import Composition, Schedule
from streamtopics.base.glossary import documented
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.base.validation import Interval, StrOptions
from streamtopics.estimators.streaming_lda import StreamingLDA
from streamtopics.local import LocalStep, Variational
from streamtopics.models.lda import Start, TopicView
from streamtopics.updates import (
    BPS,
    SVB,
    Boost,
    EmpiricalPowerPrior,
    HierarchicalPowerPrior,
    Rule,
)
from streamtopics.updates.doc_topic import DocTopicUpdate
from streamtopics.updates.rates import Exponential, Normal
from streamtopics.utils.checks import MOST_WHOLE
from streamtopics.utils.records import keep


class BayesianLDA(StreamingLDA):
    """Base of the three: `transform` stops where learning does, as in the sources."""

    def _composition(self) -> Composition:
        found = super()._composition()
        if isinstance(found.inference, Variational):
            found = replace(found, transform_inference=found.inference)
        return found


@documented
class SVBLDA(BayesianLDA):
    """Latent Dirichlet allocation by streaming variational Bayes.

    The posterior after each minibatch is the prior of the next::

        lam_t = lam_{t-1} + s_t

    where s_t are the expected counts of words in topics. Nothing is forgotten.

    {by_default}

    Parameters
    ----------
    {n_components}
    {as_streaming_lda}

    Attributes
    ----------
    {dirichlet_components}
    {common_attributes}

    References
    ----------
    T. Broderick, N. Boyd, A. Wibisono, A. C. Wilson and M. I. Jordan (2013), "Streaming variational
    Bayes".

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
    """Latent Dirichlet allocation whose prior knowledge is boosted on the stream.

    Each minibatch adds the prior again, in proportion to its counts::

        lam_t = lam_{t-1} + s_t + r_t eta,    r_t = scale * |s_t| / |eta|

    The share of the prior in the topics stays near scale / (1 + scale) on a long stream. This
    helps if the prior carries knowledge that the data lack, and harms if it is wrong.

    {by_default}

    Parameters
    ----------
    {n_components}
    boosting_scale : float, default=0.1
        Pseudo-counts of the prior added for each token (the source's s); 0 is `SVBLDA`.
    boosting_norm : {"whole", "topic"}, default="whole"
        "whole" boosts all topics alike, as in the source, and pulls rare topics hardest. "topic"
        boosts each topic in proportion to its own tokens.
    {boosted_prior}
    {as_streaming_lda}

    Attributes
    ----------
    {dirichlet_components}
    {common_attributes}

    See Also
    --------
    streamtopics.priors : Priors from Zipf's law and from seed words.

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
    >>> round(float(learnt / model.n_tokens_seen_), 3)
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
    """Latent Dirichlet allocation that learns how much to forget (SVB-HPP, SVB-MHPP).

    With each minibatch the posterior loses a share, and the prior gets it back::

        lam_t = E[rho_t] lam_{t-1} + (1 - E[rho_t]) eta + s_t

    q(rho_t) is found with lam_t, by how much better yesterday's topics explain the minibatch than
    no topics would. Use it for few large minibatches and for sudden changes. It mostly misses a
    slow drift: ``StreamingLDA(update=PowerPrior(Memory(20_000)))`` predicts better there.

    {by_default}

    Parameters
    ----------
    {n_components}
    rate : {"shared", "topic"}, default="shared"
        One retention rate for all topics (HPP), or one for each (MHPP).
    rate_estimate : {"posterior", "point"}, default="posterior"
        "posterior" is the mean of q(rho), by a double bound, as in the source. "point" is the rate
        of the greatest bound, without a prior; it also finds rates in the middle.
    rate_prior : float, Exponential or Normal, default=-0.1
        Prior of the rates. A number is the parameter gamma of `Exponential`, the density
        proportional to exp(gamma rho) on [0, 1]; -0.1 is the source's, close to uniform.
    rate_starts : tuple of float, default=(0.05, 0.95)
        Mean rates that the rounds in a minibatch start from; the result with the greatest bound
        is taken. The source's single 0.5 often misses a change of some topics.
    boosting_scale : float, default=0.0
        Pseudo-counts of `boosted_prior` that are added for each token, as in `BPSLDA`.
    max_rounds : int, default=10
        Largest number of rounds in a minibatch for each start; at least 2.
    {boosted_prior}
    {as_streaming_lda}

    Attributes
    ----------
    {dirichlet_components}
    {drift_attributes}
    {common_attributes}

    References
    ----------
    A. Masegosa, D. Ramos-Lopez, A. Salmeron, H. Langseth and T. D. Nielsen (2020),
    "Variational inference over nonstationary data streams for exponential family
    models", algorithm 1.

    Examples
    --------
    >>> from streamtopics import SVBHPP
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X, Y = (make_lda_corpus(200, n_features=200, random_state=seed).X for seed in (0, 1))
    >>> model = SVBHPP(n_components=5, random_state=0)
    >>> for batch in (X[:100], X[100:], Y):
    ...     model = model.partial_fit(batch)
    >>> model.retention_history_.mean(axis=1).round(2)
    array([1., 1., 0.])
    """

    rate: Literal["shared", "topic"]
    rate_estimate: Literal["posterior", "point"]
    rate_prior: float | Exponential | Normal
    rate_starts: Sequence[float]
    boosting_scale: float
    max_rounds: int

    _parameter_constraints: ClassVar[dict[str, Any]] = BayesianLDA._parameter_constraints | {
        "rate": [StrOptions({"shared", "topic"})],
        "rate_estimate": [StrOptions({"posterior", "point"})],
        "rate_prior": [Interval(Real, None, None, closed="neither"), Exponential, Normal],
        "rate_starts": [tuple, list],
        "max_rounds": [Interval(Integral, 2, MOST_WHOLE, closed="both")],
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
        max_rounds: int = 10,
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
            return EmpiricalPowerPrior(self.rate, boost, self.max_rounds)
        prior = self.rate_prior
        prior = prior if isinstance(prior, Exponential | Normal) else Exponential(prior)
        starts = tuple(self.rate_starts)
        return HierarchicalPowerPrior(self.rate, prior, starts, boost, self.max_rounds)
