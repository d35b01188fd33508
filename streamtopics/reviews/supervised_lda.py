# SPDX-License-Identifier: BSD-3-Clause
"""Supervised LDA: a response linear in the topics of a document's words.

    theta_d ~ Dirichlet(alpha),  z_dn ~ theta_d,  w_dn ~ beta_{z_dn},
    y_d ~ N(x' zbar_d, variance),   zbar_d = mean of the topics z_dn.

The coefficients x and the variance maximise the bound, with a penalty on the distance of x from the
mean response. Both depend on the documents by `ResponseMoments` alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.special import digamma
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.glossary import documented
from streamtopics.base.inputs import Documents
from streamtopics.base.topic_model import check_doc_topic_prior
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.base.validation import check_word_prior
from streamtopics.families import dirichlet
from streamtopics.kernels import supervised as kernel
from streamtopics.local.step import cut
from streamtopics.messages import Minibatch, Statistics
from streamtopics.metrics import predictive
from streamtopics.models.lda import geometric_mean, visible_topics
from streamtopics.models.sources import RandomStart
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.reviews.base import CONSTRAINTS, POSITIVE, Column, RatedCommit, RatedTopicModel
from streamtopics.reviews.batch_em import EMResult, EStep
from streamtopics.reviews.inference import mean_log, normalised
from streamtopics.utils.parallel import Workers, spans
from streamtopics.utils.records import keep, of_record

LEAST_DOCUMENTS, MOST_PARTS = 64, 8
# Share of the variance of the responses, and of the mass of the prior; less is rounding.
LEAST_VARIANCE = 1e-6
LEAST_LENGTH = 1e-4
# Largest rounding of a mean of equal ratings, as a share of the mean.
ROUNDING = 8 * np.finfo(float).eps


@dataclass(frozen=True, kw_only=True)
class SupervisedCommit(RatedCommit):
    _holds = (
        "posterior: V K; offset:; response.coefficients: K; response.variance: >0; response.mean:; "
        "moments.n: >=0; moments.squares: >=0; moments.total:; "
        "moments.topics: K; moments.products: K; moments.second: K K"
    )
    offset: float = 0.0  # Origin of the ratings, the mean of the first.
    response: Response
    moments: ResponseMoments


@documented
class SupervisedLDA(RatedTopicModel):
    """Supervised LDA: topics that predict a rating, or another number, for each document.

    The rating of a document is normal around a linear function of the topic shares of its words, to
    which `transform` adds the prior. Topics are learnt to separate good and bad ratings.

    {parameters, n_components}
    response_penalty : float, default=1.0
        Weight, in documents, of a ridge penalty that shrinks `coef_` towards the mean rating.
    {stream_kappa, em_doc_topic_prior, em_topic_word_prior}
    learn_priors : bool, default=False
        Whether to learn `doc_topic_prior` and, in `fit`, a scalar `topic_word_prior`. Learning
        starts from the given values.
    max_iter : int, default=50
        Maximal rounds of variational EM.
    {em_tol}
    max_local_iter : int, default=20
        Maximal sweeps of inference over a document in a round.
    local_tol : float, default=1e-3
        Stop when a sweep over a document moves less than this share of its tokens between topics.
    {common_parameters}

    {attributes, dirichlet_components}
    coef_ : ndarray of shape (n_components,)
        Expected rating of a document with this topic alone.
    noise_variance_ : float
        Variance of the ratings around their expectations.
    topic_word_prior_ : ndarray of shape (n_features,)
        Dirichlet parameter of the topics, in tokens.
    objective_ : list of float
        The lower bound on ``log p(words, ratings)``, less the penalty, in nats after each round.
    {common_attributes}

    Notes
    -----
    `score` is about words. To score ratings, use a scorer of `predict`, such as ``scoring="r2"``.

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

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS | {
        "response_penalty": [POSITIVE]
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
        """Learn from all documents, from scratch. A failed call changes nothing.

        {X_to_learn, ratings}

        {returns_self}
        """
        return self._fit(X=X, y=y)

    def partial_fit(self, X: Any, y: Column = None) -> Self:
        """Learn from one minibatch by online EM. The first minibatch is learnt as in `fit`.

        A failed call changes nothing. Minibatches before the first one with words are skipped.

        {X_to_learn, ratings}

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
            response=first_response(np.empty(0), K),
            moments=no_moments(K),
        )

    def _at_once(self, batch: Documents, pool: Workers) -> SupervisedCommit:
        # Shares of topics sum to 1: nothing but rounding depends on where ratings are 0.
        ratings: Any = batch.columns["y"]
        K, offset = self.n_components, float(ratings.mean())
        y = distances(ratings, offset)
        with self._rounds(batch.n_tokens) as em:
            result: EMResult = em(
                self._commit.posterior,
                self._e_step(batch.minibatch, y, pool),
                lambda alpha, statistics, _: self._solved(alpha, statistics.log_theta),
                documents=(None, first_response(y, K), no_moments(K)),
            )
        _, response, moments = result.documents
        found: SupervisedCommit = self._commit_of(result, batch)
        log_theta = result.statistics.log_theta
        return replace(
            found, log_theta=log_theta, offset=offset, response=response, moments=moments
        )

    def _e_step(self, minibatch: Minibatch, y: np.ndarray, pool: Workers) -> EStep:
        model = ResponseLDA(self.local_tol, self.max_local_iter)
        penalty = float(self.response_penalty)

        def step(source: Any, documents: Any) -> tuple[Statistics, Any]:
            gamma, response, _ = documents
            statistics, moments, gamma = model.step(source, minibatch, y, response, pool, gamma)
            bound = statistics.local_bound - response.penalty(penalty)
            response = solve_response(moments, penalty, response)
            return replace(statistics, local_bound=bound), (gamma, response, moments)

        return step

    def _stepped(self, batch: Documents, pool: Workers) -> tuple[Blend, SupervisedCommit]:
        commit, posterior = self._commit, self._commit.posterior
        y = distances(batch.columns["y"], commit.offset)
        model = ResponseLDA(self.local_tol, self.max_local_iter)
        statistics, moments, _ = model.step(posterior, batch.minibatch, y, commit.response, pool)
        if not np.isfinite(statistics.counts).all():
            raise ValueError(
                f"y, passed to {self._caller('partial_fit')}, has a rating too far from the mean "
                "of the first ones"
            )
        step, new = self._moved(statistics.n_documents, statistics.log_theta)
        pairs: Any = zip(commit.moments, moments, strict=True)
        moments = ResponseMoments._make(step.retain * old + step.gain * more for old, more in pairs)
        response = solve_response(moments, float(self.response_penalty), commit.response)
        alpha = self._solved(posterior.alpha, new.log_theta)
        return step.blend(statistics, alpha), replace(new, response=response, moments=moments)

    # What was learnt

    @property
    def coef_(self) -> np.ndarray:
        check_is_fitted(self)
        commit = self._commit
        return commit.offset + commit.response.coefficients

    noise_variance_ = of_record("response.variance", "Variance of ratings around expected ratings.")

    # Inference

    def predict(self, X: Any) -> np.ndarray:
        """Predict the ratings of documents.

        {X}

        Returns
        -------
        y : ndarray of shape (n_documents,), float64
            Expected ratings.
        """
        batch = self._checked_documents("predict", X)
        return self._inferred(lambda pool: self._predicted(batch, pool))

    def _predicted(self, batch: Documents, pool: Workers) -> np.ndarray:
        commit, alpha = self._commit, self.doc_topic_prior_
        X = rescale_short(batch.X, alpha)
        counts = np.maximum(self._gamma(X, geometric_mean, pool) - alpha, 0.0)
        # Documents without words have the mean under alpha.
        counts = np.where(_lengths(X)[:, None] > 0, counts, alpha)
        ratings = counts / counts.sum(axis=1, keepdims=True) * commit.response.coefficients
        return np.asarray(commit.offset + ratings.sum(axis=1))

    def transform(self, X: Any) -> np.ndarray:
        """Return the posterior mean of topic proportions, from the words of documents alone.

        {X}

        {doc_topic}
        """
        return self._transformed(X)

    def _shares(self, batch: Documents, pool: Workers) -> np.ndarray:
        return normalised(self._gamma(batch.X, geometric_mean, pool))

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log predictive probability of the held-out tokens of each document.

        {X}

        {log_probability}
        """
        return self._completion("score_samples", X)[0]

    def score(self, X: Any, y: Column = None) -> float:
        """Return the log predictive probability per held-out token, by document completion.

        {X, y_ignored}

        {score}
        """
        return predictive.per_token(*self._completion("score", X))


# The response


def distances(ratings: Any, offset: float) -> np.ndarray:
    found = ratings - offset
    return np.where(np.abs(found) > ROUNDING * abs(offset), found, 0.0)


class ResponseMoments(NamedTuple):
    """Sums of 1, y, y^2, ``E[zbar]``, ``y E[zbar]`` and ``E[zbar zbar']`` over documents."""

    n: float
    total: float
    squares: float
    topics: np.ndarray
    products: np.ndarray
    second: np.ndarray


@dataclass(frozen=True)
class Response:
    """A linear function of topics, its variance, and the mean of the coefficients' prior."""

    coefficients: np.ndarray
    variance: float
    mean: float

    def penalty(self, weight: float) -> float:
        return weight * float(((self.coefficients - self.mean) ** 2).sum()) / (2 * self.variance)


def no_moments(n_components: int) -> ResponseMoments:
    zeros = np.zeros(n_components)
    return ResponseMoments(0.0, 0.0, 0.0, zeros, zeros, np.zeros((n_components, n_components)))


def first_response(y: np.ndarray, n_components: int) -> Response:
    mean, variance = (float(y.mean()), float(y.var())) if len(y) else (0.0, 1.0)
    return Response(np.full(n_components, mean), max(variance, np.finfo(float).tiny ** 0.5), mean)


def solve_response(moments: ResponseMoments, penalty: float, before: Response) -> Response:
    """Return coefficients and variance of greatest penalised likelihood."""
    if moments.n == 0:
        return before
    mean = moments.total / moments.n
    system = moments.second + penalty * np.eye(len(moments.topics))
    deviation = np.linalg.solve(system, moments.products - mean * moments.topics)
    x = mean + deviation
    squares = moments.squares - 2 * x @ moments.products + x @ moments.second @ x
    squares += penalty * deviation @ deviation
    spread = moments.squares / moments.n - mean**2
    least = max(LEAST_VARIANCE * spread, np.finfo(float).tiny ** 0.5, 1e-12 * mean**2)
    return Response(x, max(float(squares) / moments.n, least), mean)


@dataclass(frozen=True)
class ResponseLDA:
    """Inference in documents with a response, until a sweep moves less than `tol` of the tokens."""

    tol: float
    max_iter: int

    def step(
        self, source: TopicPosterior | RandomStart, minibatch: Minibatch, y: np.ndarray,
        response: Response, workers: Workers, start: np.ndarray | None = None,
    ) -> tuple[Statistics, ResponseMoments, np.ndarray]:  # fmt: skip
        """Return expected statistics with the bound, moments, and gamma."""
        log = geometric_mean.log
        topics = visible_topics(geometric_mean, source, minibatch, workers, log=log)
        K, n, lengths = len(topics.alpha), minibatch.n_documents, minibatch.lengths
        weights = np.ascontiguousarray(topics.weights[:, :K], dtype=np.float64)
        gamma = topics.alpha + lengths[:, None] / K if start is None else start.copy()
        topic_counts, bounds = np.zeros((n, K)), np.zeros(n)
        n_tokens, token_weight = cut(minibatch)
        given = (
            minibatch.indptr, minibatch.indices, n_tokens, token_weight.astype(np.float64), weights,
            topics.alpha, response.coefficients, response.variance, y,
        )  # fmt: skip

        def job(first: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
            counts, within = np.zeros((len(minibatch.words), K)), np.zeros((K, K))
            kernel.infer_supervised(
                *given, first, stop, self.tol, self.max_iter, gamma, topic_counts, bounds, counts,
                within,
            )  # fmt: skip
            return counts, within

        parts = workers.share(job, spans(n, max(LEAST_DOCUMENTS, n // MOST_PARTS)))
        counts, within = (sum(part[i] for part in parts) for i in range(2))
        bound = bounds.sum() - lengths @ digamma(gamma.sum(axis=1))
        bound -= dirichlet.kl(gamma, topics.alpha).sum()
        bound += topics.log_factors @ minibatch.word_counts
        known = lengths > 0
        log_theta = mean_log(gamma[known])
        statistics = Statistics(minibatch.words, counts, lengths, log_theta, float(bound))
        topic_means, y = topic_counts[known] / lengths[known, None], y[known]
        moments = ResponseMoments(
            float(len(y)), float(y.sum()), float((y**2).sum()), topic_means.sum(axis=0),
            y @ topic_means, topic_means.T @ topic_means + within,
        )  # fmt: skip
        return statistics, moments, gamma


def rescale_short(X: sparse.csr_matrix, alpha: np.ndarray) -> sparse.csr_matrix:
    """Return counts, the shortest documents scaled up so that gamma - alpha keeps its digits."""
    lengths, least = _lengths(X), LEAST_LENGTH * alpha.sum()
    short = (lengths > 0) & (lengths < least)
    if not short.any():
        return X
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    inside, X = short[row], X.copy()
    shares = X.data[inside].astype(np.float64) / lengths[row[inside]]
    X.data[inside] = shares * least
    return X


def _lengths(X: sparse.csr_matrix) -> np.ndarray:
    return np.asarray(X.sum(axis=1, dtype=np.float64)).ravel()
