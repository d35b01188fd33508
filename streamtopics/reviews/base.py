# SPDX-License-Identifier: BSD-3-Clause
"""Shared parts of the models of ratings.

A subclass has `_start`, `_at_once`, `_stepped` and `_shares`.

After N documents, a minibatch of B documents moves the mean statistics of a document by the part
``r = (B / (N + B))^kappa``. The topics are the prior plus the mean times n_t, the number of
documents in the mean: ``1 / n_t = (1 - r)^2 / n_{t-1} + r^2 / B``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import RegressorTags
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from streamtopics.base.frame import Commit, check_same
from streamtopics.base.glossary import documented
from streamtopics.base.inputs import CountsInput, Documents
from streamtopics.base.topic_model import DOCUMENTS_AT_ONCE
from streamtopics.base.topics import LearntTopics
from streamtopics.base.typing import DocTopicPriorLike, WordPriorLike
from streamtopics.base.validation import COMMON_CONSTRAINTS, LEAST_PRIOR, MOST_PRIOR, Interval
from streamtopics.messages import Statistics
from streamtopics.metrics import predictive
from streamtopics.models.lda import TopicView, visible_topics
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.reviews.batch_em import EMResult, run_em
from streamtopics.reviews.inference import RatedLDA, single_reviews
from streamtopics.updates.doc_topic import solve_alpha
from streamtopics.utils.checks import check_not_masked
from streamtopics.utils.parallel import Workers
from streamtopics.utils.progress import Progress
from streamtopics.utils.records import of_record
from streamtopics.utils.structure import check_structure, labelled, row_labels

SWEEPS_OF_TRANSFORM = 100
# Penalties and weights.
POSITIVE = Interval(Real, LEAST_PRIOR, MOST_PRIOR, closed="both")
CONSTRAINTS: dict[str, Any] = COMMON_CONSTRAINTS | {
    "kappa": [Interval(Real, 0, 1, closed="right")],
    "learn_priors": ["boolean"],
}
Labels = dict[str, np.ndarray | None]
# Ratings, items or users, one for each document.
Column = ArrayLike | None
# Squares of larger ratings would overflow.
MOST_RATING = 1e100


@dataclass(frozen=True)
class RatedCommit(Commit):
    """Learnt state of a model of ratings."""

    _holds = "log_theta: *; remembered: >=0"
    posterior: TopicPosterior
    log_theta: np.ndarray | None = None  # The running mean of E[log theta], if any.
    remembered: float = 0.0  # n_t.
    objective: tuple[float, ...] = ()

    @property
    def labels(self) -> dict[str, np.ndarray]:
        return {}


@dataclass(frozen=True)
class Step:
    """A step of online EM: r, the weights of past and minibatch, and n_t."""

    rate: float
    retain: float
    gain: float
    remembered: float

    @classmethod
    def by_documents(cls, n_before: int, remembered: float, n_documents: int, kappa: float) -> Step:
        rate = (n_documents / (n_before + n_documents)) ** kappa
        effective = 1 / ((1 - rate) ** 2 / remembered + rate**2 / n_documents)
        retain = (1 - rate) * effective / remembered
        return cls(rate, retain, rate * effective / n_documents, effective)

    def blend(self, statistics: Statistics, alpha: np.ndarray) -> Blend:
        return Blend(self.retain, self.gain, 1 - self.retain, statistics, alpha)


def moved(mean: np.ndarray | None, observed: np.ndarray | None, rate: float) -> np.ndarray | None:
    """Return `mean` moved towards `observed`; if either is None, the other."""
    if mean is None or observed is None:
        return mean if observed is None else observed
    return np.asarray(mean + rate * (observed - mean))


def check_ratings(y: ArrayLike | None, X: sparse.csr_matrix, caller: str) -> np.ndarray:
    if y is None:
        raise ValueError(
            f"{caller} requires y to be passed, but the target y is None; y are the ratings. "
            "Without ratings use RatingLDA(qualitative=False)"
        )
    check_structure(y, caller, "y")
    ratings: np.ndarray = check_array(
        column_or_1d(y, warn=True), ensure_2d=False, dtype=np.float64, ensure_min_samples=0,
        input_name="y", estimator=caller,
    )  # fmt: skip
    check_consistent_length(X, ratings)
    if np.abs(ratings).max(initial=0.0) > MOST_RATING:
        raise ValueError(f"y, passed to {caller}, has ratings beyond {MOST_RATING:g}; rescale it")
    return ratings


def check_labels(
    labels: ArrayLike, name: str, n: int, caller: str, known: np.ndarray | None
) -> np.ndarray:
    """Return n labels of users or items as int64 or str, of the type of `known`."""
    check_not_masked(labels, caller, name)
    # Of a list with strings and NaN NumPy would make strings.
    found = np.asarray(labels, dtype=None if isinstance(labels, np.ndarray) else object)
    if found.size == 0:
        found = found.astype(np.int64 if known is None or not len(known) else known.dtype)
    elif found.dtype == object:
        kinds = set(map(type, found.ravel().tolist()))
        if all(issubclass(kind, str) for kind in kinds):
            found = found.astype(str)
        elif all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
            found = found.astype(np.int64)
    too_large = found.dtype.kind == "u" and found.max(initial=0) > np.iinfo(np.int64).max
    if too_large or found.dtype.kind not in "iuU" or found.shape != (n,):
        raise ValueError(
            f"{name} must be integers or strings, none missing or too large, of shape ({n},); "
            f"{caller} got {found.dtype} and {found.shape}"
        )
    if found.dtype.kind != "U":
        found = found.astype(np.int64)
    if known is not None and len(known) and n and known.dtype.kind != found.dtype.kind:
        raise ValueError(f"{name} were {known.dtype} before, but {caller} got {found.dtype}")
    return found


class RatedTopicModel(LearntTopics, CountsInput):
    """Base of the topic models with ratings."""

    n_components: int
    kappa: float
    doc_topic_prior: DocTopicPriorLike
    topic_word_prior: WordPriorLike
    tol: float
    max_local_iter: int
    local_tol: float
    learn_priors: bool
    _commit: RatedCommit
    _units = ("rounds", "tokens")
    _needs_ratings = True

    # Hooks

    def _at_once(self, batch: Documents, pool: Workers) -> RatedCommit:
        """Return the state learnt from a corpus, from scratch."""
        raise NotImplementedError

    def _stepped(self, batch: Documents, pool: Workers) -> tuple[Blend, RatedCommit]:
        """Return the change of topics by a minibatch, and the new state."""
        raise NotImplementedError

    def _shares(self, batch: Documents, pool: Workers) -> np.ndarray:
        """Return the share of each topic in each document, as float64."""
        raise NotImplementedError

    # Input

    def _read(self, method: str, *, reset: bool, **data: Any) -> Documents:
        known = self._commit.labels if self._begun and not reset else {}
        X, y = self._counts(data.pop("X"), method, reset=reset), data.pop("y", None)
        if self._needs_ratings:
            y = check_ratings(y, X, self._caller(method))
        own = {"y": y if self._needs_ratings else None}
        return Documents(X, self._labels(data, X.shape[0], method, known) | own)

    def _checked_documents(self, method: str, X: Any, **columns: Any) -> Documents:
        check_is_fitted(self)
        X = self._counts(X, method)
        return Documents(X, self._labels(columns, X.shape[0], method, self._commit.labels))

    def _labels(
        self, columns: Mapping[str, Column], n: int, method: str, known: dict[str, np.ndarray]
    ) -> Labels:
        caller = self._caller(method)
        return {
            k: None if v is None else check_labels(v, k, n, caller, known.get(k))
            for k, v in columns.items()
        }

    def _caller(self, method: str) -> str:
        return f"{type(self).__name__}.{method}"

    # Learning

    def _moved(self, n: int, log_theta: np.ndarray | None) -> tuple[Step, Any]:
        """Return the step of n documents, and the state with the moved mean."""
        commit = self._commit
        n_before, kappa = commit.posterior.n_documents, float(self.kappa)
        step = Step.by_documents(n_before, commit.remembered, n, kappa)
        log_theta = moved(commit.log_theta, log_theta, step.rate)
        return step, replace(commit, log_theta=log_theta, remembered=step.remembered)

    def _solved(self, alpha: np.ndarray, *mean_logs: np.ndarray | None) -> np.ndarray:
        """Return the priors alpha and omega, by Newton's method if learnt and observed."""
        solved, K = alpha.copy(), self.n_components
        for part, mean_log in zip((np.s_[:K], np.s_[K:]), mean_logs, strict=False):
            if self.learn_priors and mean_log is not None and len(alpha[part]) > 1:
                solved[part] = solve_alpha(mean_log, alpha[part])
        return solved

    def _check(self, before: Any) -> None:
        if before is not None:
            check_same(self, n_components=before.posterior.shape[1])

    @property
    def _begun(self) -> bool:
        """Whether words were seen. Before, small steps would keep topics equal."""
        return super()._begun and not self._commit.posterior.knows_nothing

    def _learn_all(self, batch: Documents, pool: Workers) -> None:
        self._commit = self._at_once(batch, pool)

    def _learn(self, batch: Documents, pool: Workers) -> None:
        if self._begun:
            blend, new = self._stepped(batch, pool)
            new.posterior.blend(blend, [(self.__dict__, "_commit", new)])
        else:
            self._commit = replace(self._at_once(batch, pool), n_iter=0)

    @contextmanager
    def _rounds(self, n_tokens: float, n_stages: int = 1) -> Iterator[Callable[..., EMResult]]:
        eta, n_tokens = self._commit.posterior.eta, max(n_tokens, 1.0)
        total, shown = n_stages * self.max_iter, self.verbose > 0
        with Progress(type(self).__name__, total, enabled=shown, units=self._units) as line:

            def report(bound: float) -> None:
                line.score(bound / n_tokens)
                line.update(1, n_tokens)

            yield partial(
                run_em, seed=self.seed_, learn_eta=self.learn_priors and eta.shape == (1, 1),
                max_iter=self.max_iter, tol=float(self.tol), report=report,
            )  # fmt: skip

    def _commit_of(self, result: EMResult, batch: Documents) -> Any:
        return replace(
            self._commit, posterior=result.posterior, n_iter=result.n_rounds,
            remembered=float(batch.n_documents), objective=result.bounds,
        )  # fmt: skip

    # Inference

    objective_ = of_record("objective", "The lower bound (or loss) after each EM round.", list)

    @property
    def topic_word_prior_(self) -> np.ndarray:
        """Prior pseudo-count of each word in every topic, of shape (n_features,)."""
        posterior = self.posterior_
        return np.broadcast_to(posterior.eta[:, 0], posterior.shape[:1]).copy()

    def _transformed(self, X: Any, **columns: Any) -> np.ndarray:
        batch = self._checked_documents("transform", X, **columns)
        shares = self._inferred(lambda pool: self._shares(batch, pool))
        return labelled(self, shares.astype(batch.X.dtype), row_labels(X))

    def _completion(self, method: str, X: Any, **columns: Any) -> tuple[np.ndarray, float]:
        batch = self._checked_documents(method, X, **columns)
        observed, held_out = predictive.completion_split(batch.X)
        words = np.unique(held_out.indices).astype(np.int32)
        shares, topic_word = self._inferred(
            lambda pool: (self._shares(replace(batch, X=observed), pool), self._topics_of(words))
        )
        log_probability = predictive.token_log_probability(shares, topic_word, held_out[:, words])
        return log_probability, float(held_out.sum(dtype=np.float64))

    def _gamma(self, X: sparse.csr_matrix, view: TopicView, pool: Workers) -> np.ndarray:
        """Return Dirichlet parameters of topic proportions, by LDA."""
        n_topics = self.posterior_.shape[1]
        model = RatedLDA(n_topics, self.local_tol, SWEEPS_OF_TRANSFORM)
        out = np.empty((X.shape[0], n_topics))
        for start in range(0, X.shape[0], DOCUMENTS_AT_ONCE):
            some = X[start : start + DOCUMENTS_AT_ONCE]
            reviews = single_reviews(some, np.zeros(some.shape[0], np.int8))
            topics = visible_topics(view, self.posterior_, reviews.minibatch, pool)
            prior = np.tile(topics.alpha, (some.shape[0], 1))
            out[start : start + DOCUMENTS_AT_ONCE] = model.infer(reviews, topics, prior, pool).gamma
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._needs_ratings
        if hasattr(self, "predict"):
            tags.estimator_type = "regressor"
            # `score` is about the words.
            tags.regressor_tags = RegressorTags(poor_score=True)
        return tags


@documented
class UserItemModel(RatedTopicModel):
    """Base of models with items and users."""

    def fit(self, X: Any, y: Column = None, items: Column = None, users: Column = None) -> Self:
        """Learn from all reviews, from scratch. A failed call changes nothing.

        {X_to_learn, ratings, items_and_users}

        {returns_self}
        """
        return self._fit(X=X, y=y, items=items, users=users)

    def fit_transform(
        self, X: Any, y: Column = None, items: Column = None, users: Column = None
    ) -> np.ndarray:
        """Call `fit`, then return `transform` of the same X, items and users."""
        return self.fit(X, y, items=items, users=users).transform(X, items=items, users=users)

    def partial_fit(
        self, X: Any, y: Column = None, items: Column = None, users: Column = None
    ) -> Self:
        """Learn from one minibatch by online EM. The first minibatch is learnt as in `fit`.

        A failed call changes nothing. Minibatches before the first one with words are skipped.

        {X_to_learn, ratings, items_and_users}

        {returns_self}
        """
        return self._partial_fit(X=X, y=y, items=items, users=users)

    def transform(self, X: Any, items: Column = None, users: Column = None) -> np.ndarray:
        """Return the share of each topic in reviews of unknown rating.

        Known items or users have learnt topic proportions. For all other reviews, proportions are
        inferred from the words.

        {X, items_and_users}

        Returns
        -------
        shares : ndarray of shape (n_documents, n_topics)
            Rows sum to 1; columns are topics as in `components_`. float64 if X is, else float32.
        """
        return self._transformed(X, items=items, users=users)

    def predict_words(self, items: Column = None, users: Column = None) -> np.ndarray:
        """Return word probabilities of unwritten reviews, from items, users or both.

        {parameters, items_and_users}

        Returns
        -------
        probabilities : ndarray of shape (n_documents, n_features)
            Probability of each word in each review; rows sum to 1.
        """
        check_is_fitted(self)
        given = items if items is not None else users
        if given is None:
            raise ValueError("predict_words needs items, users or both, to know for how many")
        n, columns = np.size(given), {"items": items, "users": users}
        labels = self._labels(columns, n, "predict_words", self._commit.labels)
        return self._whole(lambda: self._expected_shares(labels, n) @ self.topic_word_)

    def _profiles(self, labels: Labels, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return topic proportions by item or user, the prior's if unknown, and which are known."""
        raise NotImplementedError

    def _expected_shares(self, labels: Labels, n: int) -> np.ndarray:
        """Return the share of each topic in unread reviews."""
        return self._profiles(labels, n)[0]

    def score_samples(self, X: Any, items: Column = None, users: Column = None) -> np.ndarray:
        """Return the log predictive probability of the held-out tokens of each review.

        {X, items_and_users}

        {log_probability}
        """
        return self._completion("score_samples", X, items=items, users=users)[0]

    def score(self, X: Any, y: Column = None, items: Column = None, users: Column = None) -> float:
        """Return the log predictive probability per held-out token, given the other tokens.

        {X, y_ignored, items_and_users}

        {score}
        """
        return predictive.per_token(*self._completion("score", X, items=items, users=users))
