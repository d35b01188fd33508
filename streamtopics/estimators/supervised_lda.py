# SPDX-License-Identifier: BSD-3-Clause
"""Supervised LDA with a Gaussian response."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import unchanged_unless_learnt
from streamtopics.base.glossary import documented
from streamtopics.estimators.batch_em import Climbed, climb
from streamtopics.estimators.online import first_step, moved, step_by_documents
from streamtopics.estimators.rated import RatedTopicModel, check_ratings
from streamtopics.local.minibatches import minibatch_of
from streamtopics.messages import Minibatch, Statistics
from streamtopics.metrics import left_to_right, predictive
from streamtopics.models import supervised_lda as engine
from streamtopics.models.supervised_lda import (
    first_response,
    mean_topics,
    no_moments,
    solve_response,
)
from streamtopics.models.views import geometric_mean
from streamtopics.parallel import Workers
from streamtopics.posteriors import TopicPosterior
from streamtopics.progress import progress
from streamtopics.updates.doc_topic import solve_alpha
from streamtopics.validation import (
    COMMON_CONSTRAINTS,
    Interval,
    check_doc_topic_prior,
    check_word_prior,
)


@documented
class SupervisedLDA(RatedTopicModel):
    """Topics that predict a number: supervised LDA with a Gaussian response.

    The rating of a document is normal around a linear function of the shares of topics in
    it, and is learnt with the topics, so that these tell good ratings from bad ones.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics.
    response_penalty : float, default=1.0
        Weight of the squares of the coefficients' distances from the mean rating, in
        documents. The source has none; it keeps the first rounds, in which topics are still
        alike, from large coefficients.
    kappa : float, default=0.7
        How fast `partial_fit` forgets, in (0, 1]. The step size of a minibatch of B documents
        after N others is (B / (N + B))^kappa; 1 weighs all documents alike.
    doc_topic_prior : float, array-like of shape (n_components,) or None, default=None
        Dirichlet parameter of the documents' topic proportions, in tokens, to start from.
        None is 10 / n_components.
    topic_word_prior : float, array-like of shape (n_features,), WordPrior, callable or None, \
            default=None
        Dirichlet parameter of the topics to start from: a pseudo-count, in tokens, for every
        word. None is 0.05 for each.
    learn_priors : bool, default=False
        Whether these two are learnt: by Newton's method in each round of `fit`, the second
        only if it is one number; in `partial_fit` the first from a running mean. The first
        comes out too small, and new documents are predicted worse.
    max_iter : int, default=50
        Rounds of variational EM over the corpus, at most.
    tol : float, default=1e-4
        A round that gains less than this part of the bound is the last, but for the first
        eleven from a random start, ten of which leave the priors alone.
    max_local_iter : int, default=20
        Sweeps over a document in a round, at most.
    local_tol : float, default=1e-3
        A document is done when a sweep moves less than this share of its tokens.
    n_jobs : int or None, default=None
        Threads; None is 1 and -1 all processors. The results are the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the topics that the first round starts from.
    verbose : int, default=0
        1 shows the rounds of `fit` with the bound in nats per token.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Dirichlet parameters of the topics: pseudo-counts, not normalised.
    coef_ : ndarray of shape (n_components,)
        The rating of a document that is all of one topic.
    noise_variance_ : float
        Of the ratings around what the topics let expect.
    topic_word_prior_ : ndarray of shape (n_features,)
        The prior of the topics in use.
    bounds_ : list of float
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

    _parameter_constraints = {
        name: COMMON_CONSTRAINTS[name]
        for name in (
            "n_components", "kappa", "doc_topic_prior", "topic_word_prior", "max_iter", "tol",
            "max_local_iter", "n_jobs", "random_state", "verbose",
        )
    } | {
        "response_penalty": [Interval(Real, 0, None, closed="neither")],
        "learn_priors": ["boolean"],
        "local_tol": COMMON_CONSTRAINTS["tol"],
    }  # fmt: skip

    def __init__(
        self,
        n_components=10,
        *,
        response_penalty=1.0,
        kappa=0.7,
        doc_topic_prior=None,
        topic_word_prior=None,
        learn_priors=False,
        max_iter=50,
        tol=1e-4,
        max_local_iter=20,
        local_tol=1e-3,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.response_penalty = response_penalty
        self.kappa = kappa
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.learn_priors = learn_priors
        self.max_iter = max_iter
        self.tol = tol
        self.max_local_iter = max_local_iter
        self.local_tol = local_tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # Learning

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from all documents together. Forgets what was learnt before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Non-negative word counts; fractions are legal.
        y : array-like of shape (n_documents,)
            Ratings, on any scale.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with unchanged_unless_learnt(self), self._workers() as pool:
            X = self._counts(X, "fit", reset=True)
            self._start(X, self._ratings(y, X, "fit"), pool)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from one minibatch: the first one as `fit` does, others by a step of online EM.

        When it fails nothing has changed. Of a minibatch without rows nothing is learnt, and
        those without a word that come before the first with one are forgotten.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Non-negative word counts; fractions are legal.
        y : array-like of shape (n_documents,)
            Ratings, on the scale of those before.

        Returns
        -------
        self : object
            The estimator.
        """
        with unchanged_unless_learnt(self), self._workers() as pool:
            unfitted = not self.__sklearn_is_fitted__()
            X = self._counts(X, "partial_fit", reset=unfitted)
            first = unfitted or self.posterior_.knows_nothing
            if not first:
                self._check_continuable()
            y = self._ratings(y, X, "partial_fit")
            # Minibatches without words leave no topics to go on from.
            if first:
                self._start(X, y, pool)
                self.n_iter_ = 0
            elif X.shape[0]:
                self._continue(X, y, pool)
        return self

    def _ratings(self, y: Any, X: sparse.csr_matrix, method: str) -> np.ndarray:
        caller = f"{type(self).__name__}.{method}"
        return check_ratings(y, X, caller, "Without ratings use VariationalOnlineEM")

    def _start(self, X: sparse.csr_matrix, y: np.ndarray, pool: Workers) -> None:
        """Learn from nothing, from a whole corpus."""
        K = self.n_components
        alpha = check_doc_topic_prior(self.doc_topic_prior, K, 10.0)
        eta = check_word_prior(self, "topic_word_prior", X, None)
        seed = self._draw_seed()
        # Shares of topics sum to 1: nothing but rounding depends on where ratings are 0.
        origin = float(y.mean()) if len(y) else 0.0
        nothing = TopicPosterior(eta, (self.n_features_in_, K), alpha)
        climbed = self._climb(nothing, minibatch_of(X), y - origin, seed, pool)
        _, response, moments = climbed.documents
        log_theta = climbed.statistics.log_theta
        log_theta = np.zeros(K) if log_theta is None else log_theta
        last = climbed.posterior
        posterior = first_step(last.eta, last.shape, climbed.statistics, last.alpha, log_theta)
        vars(self).update(
            seed_=seed,
            _origin=origin,
            _response=response,
            _moments=moments,
            bounds_=list(climbed.bounds),
            n_iter_=climbed.n_rounds,
            posterior_=posterior,
        )

    def _climb(
        self,
        nothing: TopicPosterior,
        minibatch: Minibatch,
        y: np.ndarray,
        seed: int,
        pool: Workers,
    ) -> Climbed:
        """Rounds of EM, whose documents are gamma, the response and the moments."""
        model, n_tokens = self._model(), max(minibatch.n_tokens, 1.0)

        def e_step(source: Any, documents: Any) -> tuple[Statistics, Any]:
            gamma, response, _ = documents
            statistics, moments, gamma = model.step(source, minibatch, y, response, pool, gamma)
            bound = statistics.local_bound - response.penalty(self.response_penalty)
            statistics = replace(statistics, local_bound=bound)
            response = solve_response(moments, self.response_penalty, response)
            return statistics, (gamma, response, moments)

        def alpha_step(alpha: np.ndarray, statistics: Statistics, _: Any) -> np.ndarray:
            return self._solved(alpha, statistics.log_theta)

        units, shows = ("rounds", "tokens"), self.verbose > 0
        with progress(type(self).__name__, self.max_iter, enabled=shows, units=units) as shown:

            def report(bound: float) -> None:
                shown.score(bound / n_tokens)
                shown.advance(1, n_tokens)

            K = self.n_components
            return climb(
                nothing,
                seed,
                e_step,
                alpha_step,
                documents=(None, first_response(y, K), no_moments(K)),
                learn_eta=self.learn_priors and nothing.eta.shape == (1, 1),
                max_iter=self.max_iter,
                tol=self.tol,
                report=report,
            )

    def _continue(self, X: sparse.csr_matrix, y: np.ndarray, pool: Workers) -> None:
        """One step of online EM."""
        posterior = self.posterior_
        statistics, moments, _ = self._model().step(
            posterior, minibatch_of(X), y - self._origin, self._response, pool
        )
        step = step_by_documents(posterior, statistics.n_documents, self.kappa)
        log_theta = moved(posterior.proportions.memory[:-1], statistics.log_theta, step.rate)
        alpha = self._solved(posterior.alpha, log_theta if log_theta.any() else None)
        memory = np.append(log_theta, step.remembered)
        moments = self._moments.blended(step.retain, step.gain, moments)
        response = solve_response(moments, self.response_penalty, self._response)
        vars(self).update(_response=response, _moments=moments)
        posterior.blend(step.blend(statistics, Proportions(alpha, memory)))

    def _solved(self, alpha: np.ndarray, log_theta: np.ndarray | None) -> np.ndarray:
        """alpha by Newton's method, where there is anything on it."""
        if not self.learn_priors or log_theta is None or len(alpha) == 1:
            return alpha
        return solve_alpha(log_theta, alpha)

    def _model(self) -> engine.SupervisedLDA:
        return engine.SupervisedLDA(self.local_tol, self.max_local_iter)

    # Inference

    @property
    def coef_(self) -> np.ndarray:
        """The rating of a document that is all of one topic, for each topic."""
        check_is_fitted(self)
        return self._origin + self._response.coefficients

    @property
    def noise_variance_(self) -> float:
        """Variance of the ratings around what the topics let expect."""
        check_is_fitted(self)
        return self._response.variance

    def predict(self, X: Any) -> np.ndarray:
        """Expected ratings of documents.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.

        Returns
        -------
        y : ndarray of shape (n_documents,), float64
        """
        check_is_fitted(self)
        X = self._counts(X, "predict")
        with self._workers() as pool:
            gamma = self._gamma(X, geometric_mean, pool)
        zbar = mean_topics(gamma, self.posterior_.alpha, X)
        return self._origin + (zbar * self._response.coefficients).sum(axis=1)

    def transform(self, X: Any) -> np.ndarray:
        """Topic proportions of documents of unknown rating: their posterior mean.

        Deterministic, and each row depends on its own document only.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_components)
            Rows sum to 1; float64 for float64 input, else float32.
        """
        check_is_fitted(self)
        X = self._counts(X, "transform")
        with self._workers() as pool:
            return self._proportions(X, pool).astype(X.dtype)

    def _proportions(self, X: sparse.csr_matrix, pool: Workers) -> np.ndarray:
        gamma = self._gamma(X, geometric_mean, pool)
        return gamma / gamma.sum(axis=1, keepdims=True)

    def score_samples(self, X: Any) -> np.ndarray:
        """Log predictive probability of the held-out tokens of each document.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.

        Returns
        -------
        log_probability : ndarray of shape (n_documents,)
            In nats, summed over the document's held-out tokens; 0 for one that has none.
        """
        return self._completion(X, "score_samples")[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Log predictive probability per held-out token, by document completion.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.
        y : None
            Ignored: this is how well words are predicted.

        Returns
        -------
        score : float
            Nats per token; NaN if no token is held out.
        """
        return predictive.per_token(*self._completion(X, "score"))

    def _completion(self, X: Any, method: str) -> tuple[np.ndarray, float]:
        check_is_fitted(self)
        X = self._counts(X, method)
        with self._workers() as pool:
            return self._per_document(
                X, lambda counts: self._proportions(counts, pool), self._topics_of
            )

    def log_likelihood(self, X: Any, *, n_particles: int = 100, seed: int = 0) -> np.ndarray:
        """log p(words of each document) given the topics, by left-to-right evaluation.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Whole numbers of tokens.
        n_particles : int, default=100
        seed : int, default=0
            Of the particles; documents do not depend on each other.

        Returns
        -------
        log_likelihood : ndarray of shape (n_documents,), float64
            In nats; 0 for a document without words.
        """
        check_is_fitted(self)
        return left_to_right(
            self._counts(X, "log_likelihood"),
            self.topic_word_,
            self.doc_topic_prior_,
            n_particles=n_particles,
            seed=seed,
            n_jobs=self.n_jobs,
        ).log_likelihood

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
