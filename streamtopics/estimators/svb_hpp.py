# SPDX-License-Identifier: BSD-3-Clause
"""LDA that learns from the stream how much to forget."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from streamtopics.base.composition import Schedule
from streamtopics.base.glossary import documented
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.base.validation import Interval, StrOptions
from streamtopics.estimators.named import BayesianLDA
from streamtopics.local import LocalStep
from streamtopics.models.lda import Start, TopicView
from streamtopics.updates import Boost, EmpiricalPowerPrior, HierarchicalPowerPrior
from streamtopics.updates.doc_topic import DocTopicUpdate
from streamtopics.updates.rates import Exponential, Normal
from streamtopics.updates.rule import Rule
from streamtopics.utils.checks import MOST_WHOLE
from streamtopics.utils.records import keep


@documented
class SVBHPP(BayesianLDA):
    """Latent Dirichlet allocation that learns how much to forget (SVB-HPP, SVB-MHPP).

    With each minibatch the posterior loses a share, and the prior gets it back::

        lam_t = E[rho_t] lam_{t-1} + (1 - E[rho_t]) eta + s_t

    where q(rho_t) is found with lam_t, by how much better yesterday's topics explain the
    minibatch than no topics would. One rate for all topics notices that the stream has
    changed; a rate for each topic also which topics have.

    It is made for few large minibatches, each of which takes several rounds, and for changes of
    all there is. A slow drift it mostly does not notice; where prediction counts,
    ``StreamingLDA(update=PowerPrior(Memory(20_000)))`` is better.

    {by_default}

    Parameters
    ----------
    {n_components}
    rate : {"shared", "topic"}, default="shared"
        One retention rate for all topics (HPP), or one for each (MHPP).
    rate_estimate : {"posterior", "point"}, default="posterior"
        "posterior" is the source's: q(rho) and the mean of it, by a double bound. "point" is
        the rate that makes the topics most probable, by the bound itself: it has no prior and
        no second basin, and finds rates in the middle.
    rate_prior : float, Exponential or Normal, default=-0.1
        Prior of the rates. A number is the parameter gamma of `Exponential`, the density
        proportional to exp(gamma rho) on [0, 1]; -0.1 is the source's, close to uniform.
    rate_starts : tuple of float, default=(0.05, 0.95)
        Mean rates that the rounds in a minibatch start from; of several results the one
        with the greatest bound is taken. From the source's single 0.5 a change of some topics
        is often missed; but where a stream drifts slowly the greatest bound forgets too much.
    boosting_scale : float, default=0.0
        Pseudo-counts of `boosted_prior` that are added for each token on top, as in `BPSLDA`.
    max_rounds : int, default=10
        Rounds in a minibatch for each start, at most; at least 2.
    {boosted_prior}
    {as_streaming_lda}

    Attributes
    ----------
    {dirichlet_components}
    {drift_attributes}
    {common_attributes}

    See Also
    --------
    StreamingLDA : Forgets at a fixed rate with ``update=PowerPrior(0.9)``.

    References
    ----------
    A. Masegosa, D. Ramos-Lopez, A. Salmeron, H. Langseth and T. D. Nielsen (2020),
    "Variational inference over nonstationary data streams for exponential family
    models", algorithm 1.

    Examples
    --------
    >>> from streamtopics import SVBHPP
    >>> from streamtopics.datasets import make_lda_corpus
    >>> X = make_lda_corpus(n_documents=400, n_features=200, random_state=0).X
    >>> Y = make_lda_corpus(n_documents=200, n_features=200, random_state=1).X
    >>> model = SVBHPP(n_components=5, random_state=0)
    >>> for batch in (X[:200], X[200:], Y):
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
