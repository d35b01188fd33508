# SPDX-License-Identifier: BSD-3-Clause
"""Hidden factors as topics: ratings and words from the same factors of items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import unchanged_unless_learnt
from streamtopics.base.glossary import documented
from streamtopics.estimators.batch_em import climb
from streamtopics.estimators.online import first_step, step_by_documents
from streamtopics.estimators.rated import RatedTopicModel, check_labels, check_ratings
from streamtopics.local.minibatches import minibatch_of
from streamtopics.messages import Minibatch, Statistics
from streamtopics.metrics import left_to_right, predictive
from streamtopics.models.hidden_factors import (
    Factors,
    Ratings,
    descend,
    expected_topics,
    first_factors,
    led_by_text,
    log_prior,
    objective,
)
from streamtopics.models.rated_lda import RatedLDA, Reviews
from streamtopics.models.rating_effects import Table, empty_table
from streamtopics.models.views import mean
from streamtopics.parallel import Workers
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.progress import progress
from streamtopics.updates.doc_topic import LEAST_LOG_THETA, solve_alpha
from streamtopics.validation import (
    COMMON_CONSTRAINTS,
    Interval,
    check_word_prior,
)

SWEEPS_OF_START, ROUNDS_OF_START = 20, 20
POSITIVE = Interval(Real, 0, None, closed="neither")


@dataclass(frozen=True)
class Pairs:
    """The ratings of some reviews, with rows of their users and items.

    Attributes
    ----------
    ratings : Ratings
    counts : ndarray of shape (n_items, K)
        Expected tokens of each item in each topic before these reviews.
    user_labels, item_labels : ndarray or None
        Of the rows; None for one user of all, and for an item of each review.
    """

    ratings: Ratings
    counts: np.ndarray
    user_labels: np.ndarray | None
    item_labels: np.ndarray | None


@documented
class HiddenFactorsTopics(RatedTopicModel):
    """Recommender and topic model in one: hidden factors as topics (HFT).

    A rating is an offset, a bias of the user and one of the item, and the product of their
    factors. The factors of an item are at the same time the logarithms of the proportions of
    topics in its reviews, so that words help to predict ratings, above all of items with few.

    Parameters
    ----------
    n_components : int, default=10
        Number of factors, and of topics.
    text_weight : float, default=0.1
        Weight of the log likelihood of the words (the source's mu) against the squared errors
        of the ratings.
    factor_penalty : float, default=1.0
        Weight of the squares of biases and factors, in ratings. The source has none on the
        factors of items.
    kappa : float, default=0.7
        How fast `partial_fit` forgets, in (0, 1]. The step size of a minibatch of B documents
        after N others is (B / (N + B))^kappa; 1 weighs all documents alike.
    topic_word_prior : float, array-like of shape (n_features,), WordPrior, callable or None, \
            default=None
        Pseudo-count of every word in every topic, in tokens. None is 0.05 for each.
    max_iter : int, default=50
        Rounds of `fit`, at most: topics of words, then topics, then factors. They start from
        LDA of the items' reviews.
    max_gradient_iter : int, default=10
        Iterations of L-BFGS on the factors in a round.
    tol : float, default=1e-4
        A round that gains less than this part of the objective is the last.
    local_tol : float, default=1e-3
        The topics of a review of an unknown item are found when a sweep moves less than this
        share of its tokens.
    n_jobs : int or None, default=None
        Threads; None is 1 and -1 all processors. The results are the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the topics that the first round starts from.
    verbose : int, default=0
        1 shows the rounds of `fit`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Expected tokens of each word in each topic, with the pseudo-counts; not normalised.
    items_, users_ : Table
        By `labels` the bias, the factors and the number of ratings; of items also the expected
        tokens of each topic. Empty where none were named.
    offset_, peakedness_ : float
        The offset of the ratings, and how peaked the proportions are for given factors (the
        source's kappa).
    objective_ : list of float
        What `fit` minimised, after each round.
    {common_attributes}

    See Also
    --------
    RatingLDA : Topics of praise and blame beside descriptive ones.

    Notes
    -----
    The source draws the topics of words at random; here their expectations take part, which
    makes `fit` deterministic but for its start, and the objective fall in every round.

    Without `items` each review is an item of its own, whose factors are forgotten afterwards;
    without `users` all are of one user. The proportions of an item that was not seen are
    drawn from the Dirichlet distribution that suits those seen, and its factors are read off
    the topics of the review.

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
    >>> model.predict(data.X[:2], items=data.item[:2], users=data.user[:2]).shape
    (2,)
    """

    _parameter_constraints = {
        name: COMMON_CONSTRAINTS[name]
        for name in (
            "n_components", "kappa", "topic_word_prior", "max_iter", "tol", "n_jobs",
            "random_state", "verbose",
        )
    } | {
        "text_weight": [POSITIVE],
        "factor_penalty": [POSITIVE],
        "max_gradient_iter": [Interval(Integral, 1, None, closed="left")],
        "local_tol": COMMON_CONSTRAINTS["tol"],
    }  # fmt: skip

    def __init__(
        self,
        n_components=10,
        *,
        text_weight=0.1,
        factor_penalty=1.0,
        kappa=0.7,
        topic_word_prior=None,
        max_iter=50,
        max_gradient_iter=10,
        tol=1e-4,
        local_tol=1e-3,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.text_weight = text_weight
        self.factor_penalty = factor_penalty
        self.kappa = kappa
        self.topic_word_prior = topic_word_prior
        self.max_iter = max_iter
        self.max_gradient_iter = max_gradient_iter
        self.tol = tol
        self.local_tol = local_tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # Learning

    def fit(self, X: Any, y: Any = None, items: Any = None, users: Any = None) -> Self:
        """Learn from all reviews together. Forgets what was learnt before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Non-negative word counts; fractions are legal.
        y : array-like of shape (n_documents,)
            Ratings. The larger their scale, the less the words weigh beside them.
        items, users : array-like of shape (n_documents,) or None, default=None
            What each review is about, and who wrote it: integers or strings.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with unchanged_unless_learnt(self), self._workers() as pool:
            X = self._counts(X, "fit", reset=True)
            y, items, users = self._read(X, y, items, users, "fit", first=True)
            self._start(X, y, items, users, pool)
        return self

    def fit_transform(
        self, X: Any, y: Any = None, items: Any = None, users: Any = None
    ) -> np.ndarray:
        """`fit`, and then `transform` of the same reviews, of the same items and users.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Non-negative word counts.
        y : array-like of shape (n_documents,)
            Ratings.
        items, users : array-like of shape (n_documents,) or None, default=None
            As in `fit`.

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_components)
            What `transform` returns.
        """
        return self.fit(X, y, items=items, users=users).transform(X, items=items, users=users)

    def partial_fit(self, X: Any, y: Any = None, items: Any = None, users: Any = None) -> Self:
        """Learn from one minibatch: the first one as `fit` does, others by a step of online EM.

        When it fails nothing has changed. Of a minibatch without rows nothing is learnt, and
        those without a word that come before the first with one are forgotten. Users and items
        that were seen before are held to their factors by as many ratings as they had; how
        peaked the proportions are stays as it was.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Non-negative word counts; fractions are legal.
        y : array-like of shape (n_documents,)
            Ratings, on the scale of those before.
        items, users : array-like of shape (n_documents,) or None, default=None
            As in `fit`; they may be new.

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
            y, items, users = self._read(X, y, items, users, "partial_fit", first=first)
            # Minibatches without words leave no topics to go on from.
            if first:
                self._start(X, y, items, users, pool)
                self.n_iter_ = 0
            elif X.shape[0]:
                self._continue(X, y, items, users, pool)
        return self

    def _read(
        self, X: sparse.csr_matrix, y: Any, items: Any, users: Any, method: str, *, first: bool
    ) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None]:
        caller = f"{type(self).__name__}.{method}"
        y = check_ratings(y, X, caller, "Without ratings use VariationalOnlineEM")
        return y, *self._labels(X.shape[0], items, users, caller, first=first)

    def _labels(
        self, n: int, items: Any, users: Any, caller: str, *, first: bool
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        return (
            check_labels(items, "items", n, caller, None if first else self.items_.labels),
            check_labels(users, "users", n, caller, None if first else self.users_.labels),
        )

    def _start(
        self,
        X: sparse.csr_matrix,
        y: np.ndarray,
        items: np.ndarray | None,
        users: np.ndarray | None,
        pool: Workers,
    ) -> None:
        """Learn from nothing, from a whole corpus."""
        K, n_features = self.n_components, self.n_features_in_
        eta = check_word_prior(self, "topic_word_prior", X, None)
        seed = self._draw_seed()
        tables = empty_table(2 + 2 * K), empty_table(2 + K)
        start = first_factors(float(y.mean()) if len(y) else 0.0, 0, 0, K)
        pairs = self._pairs(y, items, users, tables, start, 0.0)
        reviews = minibatch_of(_summed(X, pairs.ratings.item, len(pairs.counts)))
        posterior, factors = self._led_by_text(pairs, reviews, eta, seed, pool)
        levels: list[float] = []
        units, shows = ("rounds", "tokens"), self.verbose > 0
        with progress(type(self).__name__, self.max_iter, enabled=shows, units=units) as shown:
            for _ in range(self.max_iter):
                statistics, counts = expected_topics(posterior, reviews, factors.proportions, pool)
                levels.append(self._level(statistics, posterior, factors, pairs.ratings))
                shown.advance(1, statistics.n_tokens)
                posterior = TopicPosterior(eta, (n_features, K))
                posterior.blend(Blend(1.0, 1.0, 0.0, statistics))
                factors = self._descended(factors, pairs, counts, learn_kappa=True)
                if len(levels) > 1 and levels[-2] - levels[-1] < self.tol * abs(levels[-1]):
                    break
        mean_log = _mean_log(factors.proportions[counts.sum(axis=1) > 0])
        mean_log = np.zeros(K) if mean_log is None else mean_log
        statistics = replace(statistics, lengths=minibatch_of(X).lengths)
        final = first_step(eta, (n_features, K), statistics, _alpha(mean_log), mean_log)
        item_table, user_table = self._tables(tables, pairs, factors, counts)
        vars(self).update(
            seed_=seed,
            items_=item_table,
            users_=user_table,
            _shared_user=_shared(factors, pairs, user_table),
            offset_=factors.offset,
            peakedness_=factors.kappa,
            objective_=levels,
            n_iter_=len(levels),
            posterior_=final,
        )

    def _led_by_text(
        self, pairs: Pairs, reviews: Minibatch, eta: np.ndarray, seed: int, pool: Workers
    ) -> tuple[TopicPosterior, Factors]:
        """Topics and items' factors as LDA of the items' reviews makes them."""
        K, n_items = self.n_components, len(pairs.counts)
        signs = np.zeros(n_items, np.int8)
        whole = Reviews(reviews, np.arange(n_items + 1, dtype=np.int32), signs)
        model = RatedLDA(K, self.local_tol, SWEEPS_OF_START)

        def e_step(source: Any, found: Any) -> tuple[Statistics, Any]:
            return model.step(source, whole, pool, start=found)

        def alpha_step(alpha: np.ndarray, statistics: Statistics, found: Any) -> np.ndarray:
            return alpha

        shape, alpha = (self.n_features_in_, K), np.full(K, 3.0 / K)
        climbed = climb(
            TopicPosterior(eta, shape, alpha),
            seed,
            e_step,
            alpha_step,
            learn_eta=False,
            max_iter=ROUNDS_OF_START,
            tol=self.tol,
            report=lambda bound: None,
        )
        posterior = TopicPosterior(eta, shape)
        posterior.blend(Blend(1.0, 1.0, 0.0, climbed.statistics))
        counts = np.maximum(climbed.documents.gamma.astype(np.float64) - alpha, 0.0)
        return posterior, led_by_text(pairs.ratings.before, counts)

    def _level(
        self,
        statistics: Statistics,
        posterior: TopicPosterior,
        factors: Factors,
        ratings: Ratings,
    ) -> float:
        """What `fit` minimises."""
        nothing = np.zeros((len(factors.items), self.n_components))
        of_ratings = objective(factors, ratings, nothing, 0.0)[0]
        return of_ratings - self.text_weight * (statistics.local_bound + log_prior(posterior))

    def _descended(
        self, factors: Factors, pairs: Pairs, counts: np.ndarray, *, learn_kappa: bool
    ) -> Factors:
        return descend(
            factors,
            pairs.ratings,
            pairs.counts + counts,
            self.text_weight,
            n_steps=self.max_gradient_iter,
            learn_kappa=learn_kappa,
        )

    def _continue(
        self,
        X: sparse.csr_matrix,
        y: np.ndarray,
        items: np.ndarray | None,
        users: np.ndarray | None,
        pool: Workers,
    ) -> None:
        """One step of online EM."""
        K, posterior, tables = self.n_components, self.posterior_, (self.items_, self.users_)
        shared = replace(self._shared_user, offset=self.offset_, kappa=self.peakedness_)
        pairs = self._pairs(y, items, users, tables, shared, posterior.n_documents)
        reviews = minibatch_of(_summed(X, pairs.ratings.item, len(pairs.counts)))
        factors = pairs.ratings.before
        for _ in range(2):
            statistics, counts = expected_topics(posterior, reviews, factors.proportions, pool)
            factors = self._descended(factors, pairs, counts, learn_kappa=False)
        statistics = replace(statistics, lengths=minibatch_of(X).lengths)
        step = step_by_documents(posterior, statistics.n_documents, self.kappa)
        memory = posterior.proportions.memory.copy()
        mean_log = _mean_log(factors.proportions[reviews.lengths > 0])
        if mean_log is not None:
            rate = step.rate if memory[:K].any() else 1.0
            memory[:K] += rate * (mean_log - memory[:K])
        memory[-1] = step.remembered
        item_table, user_table = self._tables(tables, pairs, factors, counts)
        vars(self).update(
            items_=item_table,
            users_=user_table,
            _shared_user=_shared(factors, pairs, user_table),
            offset_=factors.offset,
        )
        posterior.blend(step.blend(statistics, Proportions(_alpha(memory[:K]), memory)))

    def _pairs(
        self,
        y: np.ndarray,
        items: np.ndarray | None,
        users: np.ndarray | None,
        tables: tuple[Table, Table],
        shared: Factors,
        n_before: float,
    ) -> Pairs:
        """The ratings with what is known of their users and items."""
        K, n = self.n_components, len(y)
        item_labels, item = (None, np.arange(n)) if items is None else _codes(items)
        user_labels, user = (None, np.zeros(n, np.intp)) if users is None else _codes(users)
        of_items = _rows(tables[0], item_labels, n)
        of_users = _rows(tables[1], user_labels, 1)
        if users is None and len(shared.users):
            of_users[0, : 1 + K], of_users[0, -1] = shared.users[0], n_before
        before = Factors(shared.offset, shared.kappa, of_users[:, : 1 + K], of_items[:, : 1 + K])
        seen_users, seen_items = of_users[:, 1 + K], of_items[:, 1 + K]
        ratings = Ratings(
            y, user, item, before, n_before, self.factor_penalty + seen_users,
            self.factor_penalty + seen_items,
        )  # fmt: skip
        return Pairs(ratings, of_items[:, 2 + K :], user_labels, item_labels)

    def _tables(
        self, tables: tuple[Table, Table], pairs: Pairs, factors: Factors, counts: np.ndarray
    ) -> tuple[Table, Table]:
        """The tables of items and users with what was learnt of some."""
        ratings, K = pairs.ratings, self.n_components
        item_table, user_table = tables
        if pairs.item_labels is not None:
            item_table = item_table.extended(pairs.item_labels)
            places = item_table.places(pairs.item_labels)
            n = item_table.values[places, 1 + K] + np.bincount(ratings.item, minlength=len(places))
            values = np.column_stack([factors.items, n, pairs.counts + counts])
            item_table = item_table.replaced(places, values)
        if pairs.user_labels is not None:
            user_table = user_table.extended(pairs.user_labels)
            places = user_table.places(pairs.user_labels)
            n = user_table.values[places, 1 + K] + np.bincount(ratings.user, minlength=len(places))
            user_table = user_table.replaced(places, np.column_stack([factors.users, n]))
        return item_table, user_table

    # Inference

    def transform(self, X: Any, items: Any = None, users: Any = None) -> np.ndarray:
        """Topic proportions of reviews: those of their items, or else what their words tell.

        Deterministic, and each row depends on its own review only.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.
        items : array-like of shape (n_documents,) or None, default=None
            As in `fit`. Those not seen there are legal.
        users : array-like of shape (n_documents,) or None, default=None
            Ignored: proportions belong to items.

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_components)
            Rows sum to 1; float64 for float64 input, else float32.
        """
        check_is_fitted(self)
        X = self._counts(X, "transform")
        items, _ = self._labels(X.shape[0], items, users, self._caller("transform"), first=False)
        with self._workers() as pool:
            return self._proportions(X, items, pool).astype(X.dtype)

    def _caller(self, method: str) -> str:
        return f"{type(self).__name__}.{method}"

    def _item_places(self, items: np.ndarray | None, n: int) -> np.ndarray:
        return np.full(n, -1) if items is None else self.items_.places(items)

    def _theta(self, places: np.ndarray) -> np.ndarray:
        """Proportions of items; for -1 those that the prior expects."""
        K, alpha = self.posterior_.shape[1], self.doc_topic_prior_
        out = np.tile(alpha / alpha.sum(), (len(places), 1))
        known = places >= 0
        own = self.items_.values[places[known], : 1 + K]
        out[known] = Factors(0.0, self.peakedness_, np.zeros((0, 1 + K)), own).proportions
        return out

    def _proportions(
        self, X: sparse.csr_matrix, items: np.ndarray | None, pool: Workers
    ) -> np.ndarray:
        places = self._item_places(items, X.shape[0])
        out = self._theta(places)
        unknown = np.flatnonzero(places < 0)
        gamma = self._gamma(X[unknown], mean, pool)
        out[unknown] = gamma / gamma.sum(axis=1, keepdims=True)
        return out

    def predict(self, X: Any, items: Any = None, users: Any = None) -> np.ndarray:
        """Expected ratings.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts; only those of items that were not seen matter.
        items, users : array-like of shape (n_documents,) or None, default=None
            As in `fit`. Those not seen there are legal and have no bias; without `users`
            ratings are those of the user that all reviews without one are by.

        Returns
        -------
        y : ndarray of shape (n_documents,), float64
        """
        check_is_fitted(self)
        X = self._counts(X, "predict")
        n, K = X.shape[0], self.posterior_.shape[1]
        items, users = self._labels(n, items, users, self._caller("predict"), first=False)
        places = self._item_places(items, n)
        with self._workers() as pool:
            theta = self._proportions(X, items, pool)
        logs = np.log(np.maximum(theta, np.finfo(float).tiny)) / self.peakedness_
        of_items = np.zeros((n, 1 + K))
        of_items[:, 1:] = logs - logs.mean(axis=1, keepdims=True)
        known = places >= 0
        of_items[known] = self.items_.values[places[known], : 1 + K]
        of_users = np.tile(self._shared_user.users[0], (n, 1))
        if users is not None:
            rows = self.users_.places(users)
            of_users[rows >= 0] = self.users_.values[rows[rows >= 0], : 1 + K]
        factors = Factors(self.offset_, self.peakedness_, of_users, of_items)
        return factors.ratings(np.arange(n), np.arange(n))

    def predict_words(self, items: Any) -> np.ndarray:
        """Word probabilities of a review of each item that is yet to be written.

        Parameters
        ----------
        items : array-like of shape (n_reviews,)
            Those not seen while learning are legal.

        Returns
        -------
        probabilities : ndarray of shape (n_reviews, n_features)
            Rows sum to 1.
        """
        check_is_fitted(self)
        caller = self._caller("predict_words")
        if items is None:
            raise ValueError(f"{caller} needs items, to know for how many")
        items, _ = self._labels(np.size(items), items, None, caller, first=False)
        return self._theta(self._item_places(items, len(items))) @ self.topic_word_

    def score_samples(self, X: Any, items: Any = None) -> np.ndarray:
        """Log predictive probability of the held-out tokens of each review.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.
        items : array-like of shape (n_documents,) or None, default=None
            As in `transform`.

        Returns
        -------
        log_probability : ndarray of shape (n_documents,)
            In nats, summed over the review's held-out tokens; 0 for one that has none.
        """
        return self._completion(X, items, "score_samples")[0]

    def score(self, X: Any, y: Any = None, items: Any = None, users: Any = None) -> float:
        """Log predictive probability per held-out token, by document completion.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.
        y : None
            Ignored: this is how well words are predicted.
        items : array-like of shape (n_documents,) or None, default=None
            As in `transform`.
        users : array-like of shape (n_documents,) or None, default=None
            Ignored: proportions belong to items.

        Returns
        -------
        score : float
            Nats per token; NaN if no token is held out.
        """
        return predictive.per_token(*self._completion(X, items, "score"))

    def _completion(self, X: Any, items: Any, method: str) -> tuple[np.ndarray, float]:
        check_is_fitted(self)
        X = self._counts(X, method)
        items, _ = self._labels(X.shape[0], items, None, self._caller(method), first=False)
        with self._workers() as pool:
            return self._per_document(
                X, lambda counts: self._proportions(counts, items, pool), self._topics_of
            )

    def log_likelihood(
        self, X: Any, items: Any = None, *, n_particles: int = 100, seed: int = 0
    ) -> np.ndarray:
        """log p(words of each review): given its item, or else by left-to-right evaluation.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Whole numbers of tokens.
        items : array-like of shape (n_documents,) or None, default=None
            As in `transform`.
        n_particles : int, default=100
        seed : int, default=0
            Of the particles; reviews do not depend on each other.

        Returns
        -------
        log_likelihood : ndarray of shape (n_documents,), float64
            In nats; 0 for a review without words.
        """
        check_is_fitted(self)
        X = self._counts(X, "log_likelihood")
        n = X.shape[0]
        items, _ = self._labels(n, items, None, self._caller("log_likelihood"), first=False)
        places = self._item_places(items, n)
        known, out = places >= 0, np.empty(n)
        out[known] = predictive.token_log_probability(
            self._theta(places[known]), self.topic_word_, X[known]
        )
        out[~known] = left_to_right(
            X[~known],
            self.topic_word_,
            self.doc_topic_prior_,
            n_particles=n_particles,
            seed=seed,
            n_jobs=self.n_jobs,
        ).log_likelihood
        return out

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _codes(labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(labels, return_inverse=True)


def _rows(table: Table, labels: np.ndarray | None, n: int) -> np.ndarray:
    """Rows of a table by label; zeros for those unknown, and n of zeros without labels."""
    if labels is None:
        return np.zeros((n, table.values.shape[1]))
    out, places = np.zeros((len(labels), table.values.shape[1])), table.places(labels)
    out[places >= 0] = table.values[places[places >= 0]]
    return out


def _summed(X: sparse.csr_matrix, place: np.ndarray, n: int) -> sparse.csr_matrix:
    """Sums of rows of X by place."""
    ones = np.ones(len(place), X.dtype)
    by_place = sparse.csr_matrix((ones, (place, np.arange(len(place)))), shape=(n, len(place)))
    total = sparse.csr_matrix(by_place @ X)
    total.sort_indices()
    return total


def _shared(factors: Factors, pairs: Pairs, users: Table) -> Factors:
    """The user that reviews without one are by: the only one, or the mean of those known."""
    width = factors.users.shape[1]
    if pairs.user_labels is None:
        row = factors.users[:1]
    else:
        row = users.values[:, :width].sum(axis=0, keepdims=True) / max(len(users.values), 1)
    return Factors(factors.offset, factors.kappa, row, np.zeros((0, width)))


def _mean_log(theta: np.ndarray) -> np.ndarray | None:
    """Mean of log theta over the rows, above what alpha could explain; None if there are none."""
    if not len(theta):
        return None
    logs = np.log(np.maximum(theta, np.finfo(float).tiny))
    return np.maximum(logs, LEAST_LOG_THETA).mean(axis=0)


def _alpha(mean_log_theta: np.ndarray) -> np.ndarray:
    """The Dirichlet parameter of proportions with these mean logarithms."""
    K = len(mean_log_theta)
    if K == 1 or not mean_log_theta.any():
        return np.full(K, 3.0 / K)
    return solve_alpha(mean_log_theta, np.full(K, 1.0))
