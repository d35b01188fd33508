# SPDX-License-Identifier: BSD-3-Clause
"""Hidden factors as topics, as an estimator."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.glossary import documented
from streamtopics.base.inputs import Documents
from streamtopics.base.typing import RandomState, WordPriorLike
from streamtopics.base.validation import POSITIVE_INT, check_word_prior
from streamtopics.local.step import minibatch_of
from streamtopics.messages import Statistics
from streamtopics.models.lda import mean
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.reviews import factors as hft
from streamtopics.reviews.base import (
    CONSTRAINTS,
    POSITIVE,
    Column,
    Labels,
    RatedCommit,
    UserItemModel,
    check_labels,
)
from streamtopics.reviews.batch_em import fresh, run_em
from streamtopics.reviews.effects import Table, empty_table
from streamtopics.reviews.factors import Factors, Ratings
from streamtopics.reviews.inference import RatedLDA, Reviews, normalised
from streamtopics.updates.doc_topic import LEAST_LOG_THETA, solve_alpha
from streamtopics.utils.checks import check_integer
from streamtopics.utils.parallel import Workers
from streamtopics.utils.progress import Progress
from streamtopics.utils.records import keep, of_record

SWEEPS_OF_START, ROUNDS_OF_START, ROUNDS_OF_STEP = 20, 20, 2


@dataclass(frozen=True, kw_only=True)
class FactorsCommit(RatedCommit):
    _holds = "shared_user: K; offset:; peakedness:"
    items: Table  # Bias, factors, number of ratings, and expected tokens of each topic.
    users: Table  # Bias, factors, number of ratings.
    shared_user: np.ndarray  # Of unknown users, (1 + K,).
    offset: float = 0.0
    peakedness: float = 1.0

    @property
    def labels(self) -> dict[str, np.ndarray]:
        return {"items": self.items.labels, "users": self.users.labels}


class Recommendation(NamedTuple):
    """An item and its expected rating."""

    item: int | str
    rating: float


# Factors, the statistics of words, and the expected tokens of items in topics, (n_items, K).
Fitted = tuple[Factors, Statistics, np.ndarray]


@documented
class HiddenFactorsTopics(UserItemModel):
    """Recommender and topic model in one: hidden factors as topics (HFT).

    A rating is the sum of an offset, a bias of the user, a bias of the item, and the inner product
    of the user's factors and the item's factors. The topic proportions of an item's reviews are
    proportional to ``exp(peakedness_ * factors)``. So words help to predict ratings of items with
    few ratings.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics, and of factors of each user and item.
    text_weight : float, default=0.1
        Weight of the log likelihood of words (the paper's mu) against squared errors of ratings.
    factor_penalty : float, default=1.0
        Weight of squared biases and factors against squared errors of ratings. The paper has no
        penalty on the factors of items.
    {stream_kappa, em_topic_word_prior}
    max_iter : int, default=50
        Maximal number of rounds of `fit` after a start by LDA. A round infers the topics of
        tokens, then updates the topics and the factors.
    max_gradient_iter : int, default=10
        Iterations of L-BFGS on the factors in a round.
    tol : float, default=1e-4
        `fit` stops when a round lowers `objective_` by less than this share of its value.
    local_tol : float, default=1e-3
        For a review of an unknown item, inference stops when a sweep moves less than this share of
        the review's tokens between topics.
    {common_parameters}

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Expected tokens of each word in each topic, plus the prior; not normalised.
    items_, users_ : Table
        Row i of `values` belongs to the item or user ``labels[i]``. Columns are the bias, factors,
        number of ratings and, for items, the expected tokens of each topic.
    offset_ : float
        Constant term of all expected ratings.
    peakedness_ : float
        Multiplier of items' factors in their log topic proportions (the paper's kappa).
    objective_ : list of float
        Squared errors and penalties, minus the weighted log likelihood of words and log prior of
        topics, in each round of `fit`.
    {common_attributes}

    Notes
    -----
    `score` is about words. To score ratings, use a scorer of `predict`, such as ``scoring="r2"``.

    The paper samples the topics of tokens; here expectations are used. In `partial_fit` the factors
    of items and users with many ratings move little, and `peakedness_` is fixed. Without `items`
    each review is an item of its own; without `users` all reviews have one user. An unknown user
    has the mean factors of all users. The factors of an unknown item are inferred from the review.

    References
    ----------
    J. McAuley and J. Leskovec (2013), "Hidden factors and hidden topics: understanding rating
    dimensions with review text".

    Examples
    --------
    >>> from streamtopics import HiddenFactorsTopics
    >>> from streamtopics.datasets import make_rated_reviews
    >>> data = make_rated_reviews(600, n_features=100, n_components=3, random_state=0)
    >>> model = HiddenFactorsTopics(3, random_state=0)
    >>> model = model.fit(data.X, data.ratings, items=data.item, users=data.user)
    >>> model.predict(items=data.item[:2], users=data.user[:2]).shape
    (2,)
    >>> [best] = model.recommend(data.user[0], n_items=1)
    >>> best.item, round(best.rating, 1)
    (49, 8.1)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS | {
        "text_weight": [POSITIVE],
        "factor_penalty": [POSITIVE],
        "max_gradient_iter": [POSITIVE_INT],
    }
    text_weight: float
    factor_penalty: float
    max_gradient_iter: int
    _commit: FactorsCommit

    def __init__(
        self,
        n_components: int = 10,
        *,
        text_weight: float = 0.1,
        factor_penalty: float = 1.0,
        kappa: float = 0.7,
        topic_word_prior: WordPriorLike = None,
        max_iter: int = 50,
        max_gradient_iter: int = 10,
        tol: float = 1e-4,
        local_tol: float = 1e-3,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    # Learning

    def _start(self, batch: Documents) -> None:
        K = self.n_components
        eta = check_word_prior(self, "topic_word_prior", batch.X, None)
        self.seed_ = self._draw_seed()
        self._commit = FactorsCommit(
            TopicPosterior(eta, (self.n_features_in_, K), _alpha(None, K)),
            items=empty_table(2 + 2 * K),
            users=empty_table(2 + K),
            shared_user=np.zeros(1 + K),
        )

    def _at_once(self, batch: Documents, pool: Workers) -> FactorsCommit:
        y: Any = batch.columns["y"]
        commit = replace(self._commit, offset=float(y.mean()))
        ratings = self._ratings(batch, commit)
        levels, (factors, statistics, counts) = self._rounds_of_fit(ratings, pool)
        log_theta = _mean_log(factors.proportions[ratings.words.lengths > 0])
        # By item; these are the shares of the documents.
        statistics = replace(statistics, lengths=batch.minibatch.lengths)
        nothing = commit.posterior
        alpha = _alpha(log_theta, self.n_components)
        return replace(
            self._with(commit, ratings, factors, counts),
            posterior=fresh(nothing.eta, nothing.shape, alpha, statistics),
            n_iter=len(levels),
            log_theta=log_theta,
            remembered=float(batch.n_documents),
            objective=tuple(levels),
        )

    def _rounds_of_fit(self, ratings: Ratings, pool: Workers) -> tuple[list[float], Fitted]:
        """Return the objective in each round, and the last results."""
        posterior, factors = self._led_by_text(ratings, pool)
        levels: list[float] = []
        shown, name = self.verbose > 0, type(self).__name__
        with Progress(name, self.max_iter, enabled=shown, units=self._units) as line:
            for _ in range(self.max_iter):
                theta = factors.proportions
                statistics, counts = hft.expected_topics(posterior, ratings.words, theta, pool)
                of_ratings = hft.objective(factors, ratings, np.zeros_like(counts), 0.0)[0]
                of_words: Any = statistics.local_bound
                of_words += hft.log_prior(posterior)
                levels.append(float(of_ratings - float(self.text_weight) * of_words))
                line.update(1, statistics.n_tokens)
                posterior = fresh(posterior.eta, posterior.shape, None, statistics)
                factors = self._fit_factors(factors, ratings, counts, learn_peakedness=True)
                if len(levels) > 1 and levels[-2] - levels[-1] < float(self.tol) * abs(levels[-1]):
                    break
        return levels, (factors, statistics, counts)

    def _led_by_text(self, ratings: Ratings, pool: Workers) -> tuple[TopicPosterior, Factors]:
        """Return topics and items' factors by LDA of the items' reviews."""
        K, n_items, nothing = self.n_components, len(ratings.counts), self._commit.posterior
        signs = np.zeros(n_items, np.int8)
        whole = Reviews(ratings.words, np.arange(n_items + 1, dtype=np.int32), signs)
        model = RatedLDA(K, self.local_tol, SWEEPS_OF_START)
        result = run_em(
            nothing,
            lambda source, found: model.step(source, whole, pool, start=found),
            lambda alpha, *_: alpha,
            seed=self.seed_, learn_eta=False, max_iter=ROUNDS_OF_START, tol=float(self.tol),
            report=lambda bound: None,
        )  # fmt: skip
        posterior = fresh(nothing.eta, nothing.shape, None, result.statistics)
        counts = np.maximum(result.documents.gamma.astype(np.float64) - nothing.alpha, 0.0)
        return posterior, hft.led_by_text(ratings.before, counts)

    def _fit_factors(
        self, factors: Factors, ratings: Ratings, counts: np.ndarray, *, learn_peakedness: bool
    ) -> Factors:
        return hft.fit_factors(
            factors, ratings, ratings.counts + counts, float(self.text_weight),
            self.max_gradient_iter, learn_peakedness=learn_peakedness,
        )  # fmt: skip

    def _stepped(self, batch: Documents, pool: Workers) -> tuple[Blend, FactorsCommit]:
        posterior, ratings = self._commit.posterior, self._ratings(batch, self._commit)
        factors = ratings.before
        for _ in range(ROUNDS_OF_STEP):
            theta = factors.proportions
            statistics, counts = hft.expected_topics(posterior, ratings.words, theta, pool)
            factors = self._fit_factors(factors, ratings, counts, learn_peakedness=False)
        observed = _mean_log(factors.proportions[ratings.words.lengths > 0])
        step, new = self._moved(batch.n_documents, observed)
        statistics = replace(statistics, lengths=batch.minibatch.lengths)
        blend = step.blend(statistics, _alpha(new.log_theta, self.n_components))
        return blend, self._with(new, ratings, factors, counts)

    def _ratings(self, batch: Documents, commit: FactorsCommit) -> Ratings:
        K, n, n_before = self.n_components, batch.n_documents, commit.posterior.n_documents
        y: Any = batch.columns["y"]
        item_labels, item = _codes(batch.columns["items"], np.arange(n))
        user_labels, user = _codes(batch.columns["users"], np.zeros(n, np.intp))
        of_items = _rows(commit.items, item_labels, n)
        of_users = _rows(commit.users, user_labels, 1)
        if user_labels is None:
            of_users[0] = np.append(commit.shared_user, n_before)
        own = of_users[:, : 1 + K], of_items[:, : 1 + K]
        before = Factors(commit.offset, commit.peakedness, *own)
        of_user, of_item = (float(self.factor_penalty) + x[:, 1 + K] for x in (of_users, of_items))
        X = sparse.csr_matrix(hft.summed(item, batch.X, len(of_items), np.ones(n, batch.X.dtype)))
        X.sort_indices()
        return Ratings(
            y, user, item, before, n_before, of_user, of_item, of_items[:, 2 + K :],
            minibatch_of(X), user_labels, item_labels,
        )  # fmt: skip

    def _with(
        self, commit: FactorsCommit, ratings: Ratings, factors: Factors, counts: np.ndarray
    ) -> FactorsCommit:
        counts = ratings.counts + counts
        items = _updated(commit.items, ratings.item_labels, ratings.item, factors.items, counts)
        users = _updated(commit.users, ratings.user_labels, ratings.user, factors.users)
        shared_user = factors.users[0]
        if ratings.user_labels is not None:
            shared_user = users.values[:, :-1].sum(axis=0) / max(len(users.values), 1)
        return replace(
            commit, items=items, users=users, shared_user=shared_user, offset=factors.offset,
            peakedness=factors.peakedness,
        )  # fmt: skip

    # What was learnt

    items_ = of_record("items", "Each item's bias, factors, number of ratings and tokens by topic.")
    users_ = of_record("users", "Bias, factors and number of ratings of each user.")
    offset_ = of_record("offset", "Constant term of all expected ratings.")
    peakedness_ = of_record("peakedness", "Multiplier of items' factors in log topic proportions.")

    # Inference

    def _profiles(self, labels: Labels, n: int) -> tuple[np.ndarray, np.ndarray]:
        commit, alpha, width = self._commit, self.doc_topic_prior_, 1 + self.posterior_.shape[1]
        places = commit.items.places(labels["items"], n)
        out, known = np.tile(alpha / alpha.sum(), (n, 1)), places >= 0
        own = commit.items.values[places[known], :width]
        out[known] = Factors(0.0, commit.peakedness, np.zeros((0, width)), own).proportions
        return out, known

    def _shares(self, batch: Documents, pool: Workers) -> np.ndarray:
        out, known = self._profiles(batch.columns, batch.n_documents)
        out[~known] = normalised(self._gamma(batch.X[~known], mean, pool))
        return out

    def predict(self, X: Any = None, items: Column = None, users: Column = None) -> np.ndarray:
        """Predict ratings from users and items; for unknown items from users and words.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features), default=None
            Word counts of the reviews, used if an item is unknown. None if reviews have no text.
        {items_and_users}

        Returns
        -------
        y : ndarray of shape (n_documents,), float64
            Expected ratings.
        """
        if X is None:
            check_is_fitted(self)
            given = users if items is None else items
            if given is None:
                raise ValueError("predict needs X, items or users, to know of how many ratings")
            n, labels = np.size(given), {"items": items, "users": users}
            known = self._labels(labels, n, "predict", self._commit.labels)
            batch = Documents(sparse.csr_matrix((n, self.n_features_in_)), known)
        else:
            batch = self._checked_documents("predict", X, items=items, users=users)
        return self._inferred(lambda pool: self._predicted(batch, pool))

    def recommend(
        self, user: int | str, n_items: int = 10, *, exclude: Iterable[Any] = ()
    ) -> list[Recommendation]:
        """Return the items with the highest expected ratings by a user.

        Parameters
        ----------
        user : int or str
            Label of the user. An unknown user has the mean factors of all users.
        n_items : int, default=10
            Maximal number of items.
        exclude : iterable of labels, default=()
            Items to leave out. The model does not remember the items rated by a user.

        Returns
        -------
        items : list of Recommendation
            Items with expected ratings, the best first; equal ratings in the order of the labels.
        """
        check_is_fitted(self)
        check_integer(least=0, n_items=n_items)
        known = self._commit.labels
        label = check_labels([user], "user", 1, "recommend", known["users"])
        left_out = [exclude] if isinstance(exclude, str) else list(exclude)
        excluded = check_labels(left_out, "exclude", len(left_out), "recommend", known["items"])
        items = np.setdiff1d(known["items"], excluded)
        ratings = self.predict(items=items, users=np.repeat(label, len(items)))
        order = np.argsort(-ratings, kind="stable")[:n_items]
        return [Recommendation(items[i].item(), float(ratings[i])) for i in order]

    def _predicted(self, batch: Documents, pool: Workers) -> np.ndarray:
        commit, n = self._commit, batch.n_documents
        theta = self._shares(batch, pool)
        logs = np.log(np.maximum(theta, np.finfo(float).tiny)) / commit.peakedness
        of_items = np.column_stack([np.zeros(n), logs - logs.mean(axis=1, keepdims=True)])
        of_users = np.tile(commit.shared_user, (n, 1))
        of_items = commit.items.lookup(batch.columns["items"], of_items)
        of_users = commit.users.lookup(batch.columns["users"], of_users)
        factors = Factors(commit.offset, commit.peakedness, of_users, of_items)
        return factors.ratings(np.arange(n), np.arange(n))


def _codes(labels: np.ndarray | None, codes: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """Return unique labels and the place of each label."""
    return (None, codes) if labels is None else np.unique(labels, return_inverse=True)


def _rows(table: Table, labels: np.ndarray | None, n: int) -> np.ndarray:
    """Return rows of a table by label; n rows of zeros without labels."""
    n = n if labels is None else len(labels)
    return table.lookup(labels, np.zeros((n, table.values.shape[1])))


def _updated(
    table: Table, labels: np.ndarray | None, codes: np.ndarray, factors: np.ndarray, *more: Any
) -> Table:
    """Return a table with factors and further columns, and one more rating per code."""
    if labels is None:
        return table
    table = table.extended(labels)
    places = table.places(labels)
    n = table.values[places, factors.shape[1]] + np.bincount(codes, minlength=len(places))
    return table.replaced(places, np.column_stack([factors, n, *more]))


def _mean_log(theta: np.ndarray) -> np.ndarray | None:
    """Return the mean of log theta over rows, floored as in `solve_alpha`."""
    if not len(theta):
        return None
    logs = np.log(np.maximum(theta, np.finfo(float).tiny))
    return np.asarray(np.maximum(logs, LEAST_LOG_THETA).mean(axis=0))


def _alpha(log_theta: np.ndarray | None, n_components: int) -> np.ndarray:
    """Return the Dirichlet parameter with these mean logarithms."""
    if log_theta is None or n_components == 1:
        return np.full(n_components, 3.0 / n_components)
    return solve_alpha(log_theta, np.full(n_components, 1.0))
