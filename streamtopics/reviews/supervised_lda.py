# SPDX-License-Identifier: BSD-3-Clause
"""Supervised LDA with a Gaussian response."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.glossary import documented
from streamtopics.base.inputs import Documents
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.base.validation import check_doc_topic_prior, check_word_prior
from streamtopics.messages import Minibatch, Statistics
from streamtopics.metrics import predictive
from streamtopics.models.lda import geometric_mean
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.reviews import response as slda
from streamtopics.reviews.base import (
    EM_CONSTRAINTS,
    POSITIVE,
    Column,
    RatedCommit,
    RatedTopicModel,
)
from streamtopics.reviews.batch_em import Climbed, EStep
from streamtopics.reviews.inference import normalised
from streamtopics.reviews.response import Moments, Response, ResponseLDA
from streamtopics.utils.parallel import Workers
from streamtopics.utils.records import keep, of_record


@dataclass(frozen=True, kw_only=True)
class SupervisedCommit(RatedCommit):
    """All that a step changes. Ratings are measured from `origin`, the mean of the first."""

    _holds = (
        "posterior: V K; origin:; response.coefficients: K; response.variance: >0; response.mean:; "
        "moments.n: >=0; moments.squares: >=0; moments.total:; "
        "moments.topics: K; moments.products: K; moments.second: K K"
    )
    origin: float = 0.0
    response: Response
    moments: Moments


@documented
class SupervisedLDA(RatedTopicModel):
    """Topics that predict a number: supervised LDA with a Gaussian response.

    The rating of a document is normal around a linear function of the shares of topics in
    it, and is learnt with the topics, so that these separate good ratings from bad ones.

    Parameters
    ----------
    {n_components}
    response_penalty : float, default=1.0
        Weight of the squares of the coefficients' distances from the mean rating, in
        documents, from 1e-10 to 1e10. The source has none.
    {stream_kappa}
    {em_doc_topic_prior}
    {em_topic_word_prior}
    learn_priors : bool, default=False
        Whether `doc_topic_prior`, and in `fit` `topic_word_prior` if it is one number, are
        learnt. New documents are predicted worse.
    max_iter : int, default=50
        Most rounds of variational EM over the corpus.
    {em_tol}
    max_local_iter : int, default=20
        Sweeps over a document in a round, at most.
    local_tol : float, default=1e-3
        A document is done when a sweep moves less than this share of its tokens.
    {em_parameters}

    Attributes
    ----------
    {dirichlet_components}
    coef_ : ndarray of shape (n_components,)
        The rating of a document that is all of one topic.
    noise_variance_ : float
        Variance of the ratings around those expected from the topics.
    topic_word_prior_ : ndarray of shape (n_features,)
        The prior of the topics in use.
    objective_ : list of float
        The penalised bound on log p(words, ratings) in nats after each round.
    {common_attributes}

    See Also
    --------
    RatingLDA : Topics of praise and blame beside descriptive ones.

    Notes
    -----
    `score` is that of the words, as for all topic models here. For that of the ratings use a
    scorer on `predict`, such as ``scoring="r2"``.

    References
    ----------
    J. McAuliffe and D. Blei (2008), "Supervised topic models".

    Examples
    --------
    >>> from streamtopics import SupervisedLDA
    >>> from streamtopics.datasets import make_rated_reviews
    >>> data = make_rated_reviews(600, n_features=100, n_components=3, random_state=0)
    >>> model = SupervisedLDA(5, random_state=0).fit(data.X, data.ratings)
    >>> model.predict(data.X[:2]).shape
    (2,)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = EM_CONSTRAINTS | {
        "response_penalty": [POSITIVE],
    }
    response_penalty: float
    _commit: SupervisedCommit

    def __init__(
        self,
        n_components: int = 10,
        *,
        response_penalty: float = 1.0,
        kappa: float = 0.7,
        doc_topic_prior: DocTopicPriorLike = None,
        topic_word_prior: WordPriorLike = None,
        learn_priors: bool = False,
        max_iter: int = 50,
        tol: float = 1e-4,
        max_local_iter: int = 20,
        local_tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    # Learning

    def fit(self, X: Any, y: Column = None) -> Self:
        """Learn from all documents together. Forgets what was learnt before.

        When it fails or is interrupted, nothing has changed.

        {X_to_learn}
        {ratings}

        {returns_self}
        """
        return self._fit(X=X, y=y)

    def partial_fit(self, X: Any, y: Column = None) -> Self:
        """Learn from one minibatch: the first one as `fit` does, others by a step of online EM.

        When it fails nothing has changed; when it is interrupted, nothing or all of it was
        learnt. Minibatches without a word that come before the first with one are forgotten.

        {X_to_learn}
        {ratings}

        {returns_self}
        """
        return self._partial_fit(X=X, y=y)

    def _start(self, batch: Documents) -> None:
        K = self.n_components
        alpha = check_doc_topic_prior(self.doc_topic_prior, K, 10.0)
        eta = check_word_prior(self, "topic_word_prior", batch.X, None)
        self.seed_ = self._draw_seed()
        self._commit = SupervisedCommit(
            TopicPosterior(eta, (self.n_features_in_, K), alpha),
            response=slda.first_response(np.empty(0), K),
            moments=slda.no_moments(K),
        )

    def _at_once(self, batch: Documents, pool: Workers) -> SupervisedCommit:
        # Shares of topics sum to 1: nothing but rounding depends on where ratings are 0.
        ratings: Any = batch.columns["y"]
        K, origin = self.n_components, float(ratings.mean())
        y = ratings - origin
        with self._rounds(batch.n_tokens) as climb:
            climbed: Climbed = climb(
                self._commit.posterior,
                self._e_step(batch.minibatch, y, pool),
                lambda alpha, statistics, _: self._solved(alpha, statistics.log_theta),
                documents=(None, slda.first_response(y, K), slda.no_moments(K)),
            )
        _, response, moments = climbed.documents
        found: SupervisedCommit = self._commit_of(climbed, batch)
        log_theta = climbed.statistics.log_theta
        return replace(
            found, log_theta=log_theta, origin=origin, response=response, moments=moments
        )

    def _e_step(self, minibatch: Minibatch, y: np.ndarray, pool: Workers) -> EStep:
        """Inference in a round; its documents are gamma, the response and the moments."""
        model = ResponseLDA(self.local_tol, self.max_local_iter)
        penalty = float(self.response_penalty)

        def step(source: Any, documents: Any) -> tuple[Statistics, Any]:
            gamma, response, _ = documents
            statistics, moments, gamma = model.step(source, minibatch, y, response, pool, gamma)
            bound = statistics.local_bound - response.penalty(penalty)
            response = slda.solve_response(moments, penalty, response)
            return replace(statistics, local_bound=bound), (gamma, response, moments)

        return step

    def _stepped(self, batch: Documents, pool: Workers) -> tuple[Blend, SupervisedCommit]:
        commit, posterior = self._commit, self._commit.posterior
        from_mean: Any = batch.columns["y"] - commit.origin
        model = ResponseLDA(self.local_tol, self.max_local_iter)
        statistics, moments, _ = model.step(
            posterior, batch.minibatch, from_mean, commit.response, pool
        )
        if not np.isfinite(statistics.counts).all():
            raise ValueError(
                f"y, passed to {self._caller('partial_fit')}, has a rating too far from the mean "
                "of the first ones; check how y was made, or start anew with fit"
            )
        step, new = self._moved(statistics.n_documents, statistics.log_theta)
        moments = commit.moments.blended(step.retain, step.gain, moments)
        response = slda.solve_response(moments, float(self.response_penalty), commit.response)
        alpha = self._solved(posterior.alpha, new.log_theta)
        return step.blend(statistics, alpha), replace(new, response=response, moments=moments)

    # What was learnt

    @property
    def coef_(self) -> np.ndarray:
        """The rating of a document that is all of one topic, for each topic."""
        check_is_fitted(self)
        commit = self._commit
        return commit.origin + commit.response.coefficients

    noise_variance_ = of_record("response.variance", "Variance of ratings around those expected.")

    # Inference

    def predict(self, X: Any) -> np.ndarray:
        """Predict the ratings of documents.

        {X}

        Returns
        -------
        y : ndarray of shape (n_documents,), float64
            Expected ratings.
        """
        batch = self._asked("predict", X)
        return self._inferred(lambda pool: self._predicted(batch, pool))

    def _predicted(self, batch: Documents, pool: Workers) -> np.ndarray:
        commit, alpha = self._commit, self.doc_topic_prior_
        X = slda.legible(batch.X, alpha)
        zbar = slda.mean_topics(self._gamma(X, geometric_mean, pool), alpha, X)
        return np.asarray(commit.origin + (zbar * commit.response.coefficients).sum(axis=1))

    def transform(self, X: Any) -> np.ndarray:
        """Infer the topic proportions of documents of unknown rating: their posterior mean.

        {X}

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_components)
            Rows sum to 1; float64 for float64 input, else float32.
        """
        return self._transformed(X)

    def _shares(self, batch: Documents, pool: Workers) -> np.ndarray:
        return normalised(self._gamma(batch.X, geometric_mean, pool))

    def score_samples(self, X: Any) -> np.ndarray:
        """Log predictive probability of the held-out tokens of each document.

        {X}

        {log_probability}
        """
        return self._completion("score_samples", X)[0]

    def score(self, X: Any, y: Column = None) -> float:
        """Log predictive probability per held-out token, by document completion.

        {X}
        {y_ignored}

        {score}
        """
        return predictive.per_token(*self._completion("score", X))
