# SPDX-License-Identifier: BSD-3-Clause
"""Topics of praise, of blame and of description in rated reviews."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import check_same
from streamtopics.base.glossary import documented
from streamtopics.base.inputs import Documents
from streamtopics.base.topic_model import DOCUMENTS_AT_ONCE, check_doc_topic_prior
from streamtopics.base.typing import DocTopicPriorLike, RandomState, WordPriorLike
from streamtopics.base.validation import StrOptions, check_word_prior
from streamtopics.messages import Statistics
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.reviews import inference
from streamtopics.reviews.base import (
    CONSTRAINTS,
    SWEEPS_OF_TRANSFORM,
    Labels,
    RatedCommit,
    UserItemModel,
    moved,
)
from streamtopics.reviews.batch_em import AlphaStep, EMResult, EStep, fresh
from streamtopics.reviews.effects import (
    NO_EFFECTS,
    Effects,
    Table,
    empty_table,
    learn_effects,
    probability_of_positive,
)
from streamtopics.reviews.inference import Inferred, RatedLDA, Reviews
from streamtopics.utils.parallel import Workers
from streamtopics.utils.records import keep, of_record

# Pseudo-counts of descriptive and of qualitative words in a review, in tokens.
OMEGA = (9.0, 1.0)
# Weight of the squares of the effects of users and items on ratings, in ratings.
EFFECT_PENALTY = 5.0


@dataclass(frozen=True, kw_only=True)
class RatingCommit(RatedCommit):
    _holds = "log_share: 2"
    effects: Effects = NO_EFFECTS
    profiles: Table
    profile: str
    log_share: np.ndarray | None = None  # The running mean of E[log(1 - p)] and E[log p], if any.

    @property
    def n_descriptive(self) -> int:
        return int(self.profiles.values.shape[1])

    @property
    def qualitative(self) -> bool:
        return self.posterior.shape[1] > self.n_descriptive

    @property
    def labels(self) -> dict[str, np.ndarray]:
        effects = {"items": self.effects.items.labels, "users": self.effects.users.labels}
        return effects | {f"{self.profile}s": self.profiles.labels}


@documented
class RatingLDA(UserItemModel):
    """Topic model of rated reviews, with a positive topic (praise) and a negative topic (blame).

    A share of the words of a review comes from the positive topic if the rating is at least the
    user's average rating, otherwise from the negative topic. All other words come from descriptive
    topics, in the proportions of the review, item or user. Dupuy (2017) names the variants:

    =============  ======================  ===================
    `profile`      `qualitative=False`     `qualitative=True`
    =============  ======================  ===================
    "document"     LDA-0                   LDA-R
    "item"         LDA-C                   LDA-R-C
    "user"         LDA-U                   LDA-R-U
    =============  ======================  ===================

    Parameters
    ----------
    n_components : int, default=10
        Number of descriptive topics.
    profile : {"document", "item", "user"}, default="document"
        Whether each review, each item or each user has topic proportions of its own. "item" needs
        `items` in `fit` and `partial_fit`, "user" needs `users`.
    qualitative : bool, default=True
        Whether to learn the positive and the negative topic, from ratings. False ignores `y`.
    refine : bool, default=False
        Whether topic proportions are learnt again together with the positive and the negative
        topic. False keeps the proportions learnt before, without ratings, as in Dupuy (2017).
    {stream_kappa, em_doc_topic_prior, em_topic_word_prior}
    learn_priors : bool, default=False
        Whether to learn `doc_topic_prior`, `qualitative_prior_` and, in `fit`, a scalar
        `topic_word_prior`, as in Dupuy (2017). Learning starts from the given values.
    max_iter : int, default=50
        Maximal rounds of variational EM without ratings. With `qualitative`, at most `max_iter`
        rounds with ratings follow.
    {em_tol}
    max_local_iter : int, default=20
        Maximal sweeps, in a round, over a review or over all reviews of an item or user (see
        `profile`).
    local_tol : float, default=1e-3
        Stop when a sweep moves less than this share of the tokens between topics.
    {common_parameters}

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Dirichlet parameters of the topics: pseudo-counts, not normalised. With `qualitative` the
        positive and the negative topic are two further rows at the end, also in `topic_word_`,
        `topic_weights_` and `prior_retention_`.
    qualitative_prior_ : ndarray of shape (2,)
        Dirichlet parameter of the share of descriptive words in a review, and of the share of words
        from the positive or negative topic; (9, 1) unless learnt.
    topic_word_prior_ : ndarray of shape (n_features,)
        Dirichlet parameter of the topics, in tokens.
    effects_ : Effects
        The `mean` rating, and the tables `users` and `items` with the effects on ratings.
    profiles_ : Table
        Row i of `values` has the expected tokens of each descriptive topic for the item or user
        ``labels[i]``.
    objective_ : list of float
        The lower bound on ``log p(words | ratings)``, in nats, after each round; with
        `qualitative`, after the rounds with ratings only.
    {common_attributes}

    Notes
    -----
    Without `users`, ratings are compared with `effects_.mean`. `transform` and `predict_words` do
    not see ratings: the probability of praise comes from the item's effect, or for an unknown item
    from the share of positive reviews.

    References
    ----------
    C. Dupuy (2017), "Inference and applications for topic models", chapter 2.

    Examples
    --------
    >>> from streamtopics import RatingLDA
    >>> from streamtopics.datasets import make_rated_reviews
    >>> data = make_rated_reviews(600, n_features=100, n_components=3, random_state=0)
    >>> model = RatingLDA(3, profile="item", random_state=0)
    >>> model = model.fit(data.X, data.ratings, items=data.item, users=data.user)
    >>> model.predict_words(items=[4], users=[7]).shape
    (1, 100)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS | {
        "profile": [StrOptions({"document", "item", "user"})],
        "qualitative": ["boolean"],
        "refine": ["boolean"],
    }
    profile: str
    qualitative: bool
    refine: bool
    _commit: RatingCommit

    def __init__(
        self,
        n_components: int = 10,
        *,
        profile: str = "document",
        qualitative: bool = True,
        refine: bool = False,
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

    @property
    def _needs_ratings(self) -> bool:  # type: ignore[override]
        return isinstance(self.qualitative, bool | np.bool_) and bool(self.qualitative)

    def _read(self, method: str, *, reset: bool, **data: Any) -> Documents:
        batch = super()._read(method, reset=reset, **data)
        if self.profile != "document" and batch.columns[f"{self.profile}s"] is None:
            raise ValueError(
                f"profile='{self.profile}' needs {self.profile}s= in {self._caller(method)}; or "
                "use profile='document'"
            )
        return batch

    def _check(self, before: RatingCommit | None) -> None:
        if before is not None:
            names = {"profile": before.profile, "qualitative": before.qualitative}
            check_same(self, n_components=before.n_descriptive, **names)

    def _start(self, batch: Documents) -> None:
        K = self.n_components
        alpha = check_doc_topic_prior(self.doc_topic_prior, K, 10.0)
        eta = check_word_prior(self, "topic_word_prior", batch.X, None)
        self.seed_ = self._draw_seed()
        alpha = np.append(alpha, OMEGA) if self.qualitative else alpha
        posterior = TopicPosterior(eta, (self.n_features_in_, len(alpha)), alpha)
        self._commit = RatingCommit(posterior, profiles=empty_table(K), profile=self.profile)

    def _at_once(self, batch: Documents, pool: Workers) -> RatingCommit:
        effects, signs = self._rated(batch)
        reviews, profiles, places = self._grouped(batch, signs)
        result = self._run_em(reviews, pool)
        found, alpha = result.documents, result.posterior.alpha[: self.n_components]
        learnt: RatingCommit = self._commit_of(result, batch)
        return replace(
            learnt,
            log_theta=inference.mean_log(found.gamma[reviews.tokens > 0]),
            log_share=inference.mean_log_share(reviews, found) if self.qualitative else None,
            effects=effects,
            profiles=_with_counts(profiles, places, found, alpha),
        )

    def _rated(self, batch: Documents) -> tuple[Effects, np.ndarray]:
        y, users, items = (batch.columns[name] for name in ("y", "users", "items"))
        if y is None:
            return self._commit.effects, np.zeros(batch.n_documents, np.int8)
        return learn_effects(self._commit.effects, y, users, items, EFFECT_PENALTY)

    def _grouped(
        self, batch: Documents, signs: np.ndarray
    ) -> tuple[Reviews, Table, np.ndarray | None]:
        """Return reviews by profile, the table of profiles, and the rows of occurring profiles."""
        labels, profiles = batch.columns.get(f"{self.profile}s"), self._commit.profiles
        if labels is None:
            return inference.single_reviews(batch.X, signs), profiles, None
        profiles = profiles.extended(labels)
        places, own = np.unique(profiles.places(labels), return_inverse=True)
        return inference.reviews_by_profile(batch.X, own, signs), profiles, places

    def _run_em(self, reviews: Reviews, pool: Workers) -> EMResult:
        K, nothing = self.n_components, self._commit.posterior
        start = TopicPosterior(nothing.eta, (nothing.shape[0], K), nothing.alpha[:K])
        unsigned = replace(reviews, signs=np.zeros_like(reviews.signs))
        with self._rounds(reviews.minibatch.n_tokens, 2 if self.qualitative else 1) as em:
            plain = em(start, *self._steps(unsigned, pool))
            if not self.qualitative:
                return plain
            # Unless refined, proportions stay as learnt without ratings.
            gamma = plain.documents.gamma
            theta = None if self.refine else gamma / gamma.sum(axis=1, keepdims=True)
            start = _with_qualitative(plain, reviews, nothing.alpha[K:])
            found = em(start, *self._steps(reviews, pool, theta))
        if theta is not None:
            found = replace(found, documents=replace(found.documents, gamma=gamma))
        return found

    def _steps(
        self, reviews: Reviews, pool: Workers, theta: np.ndarray | None = None
    ) -> tuple[EStep, AlphaStep]:
        """Return the steps of a round: inference, also of theta unless given, and priors."""
        model = RatedLDA(self.n_components, self.local_tol, self.max_local_iter)

        def alpha_step(alpha: np.ndarray, statistics: Statistics, found: Inferred) -> np.ndarray:
            log_share = inference.mean_log_share(reviews, found) if self.qualitative else None
            return self._solved(alpha, statistics.log_theta, log_share)

        return (
            lambda source, found: model.step(source, reviews, pool, theta=theta, start=found),
            alpha_step,
        )

    def _stepped(self, batch: Documents, pool: Workers) -> tuple[Blend, RatingCommit]:
        K, commit, posterior = self.n_components, self._commit, self._commit.posterior
        effects, signs = self._rated(batch)
        reviews, profiles, places = self._grouped(batch, signs)
        before, prior = posterior.alpha, None
        if places is not None:
            prior = before[:K] + profiles.values[places]
        model = RatedLDA(K, self.local_tol, self.max_local_iter)
        statistics, found = model.step(posterior, reviews, pool, prior=prior)
        step, new = self._moved(statistics.n_documents, statistics.log_theta)
        log_share = moved(commit.log_share, inference.mean_log_share(reviews, found), step.rate)
        profiles = _with_counts(profiles, places, found, before[:K])
        new = replace(new, log_share=log_share, effects=effects, profiles=profiles)
        return step.blend(statistics, self._solved(before, new.log_theta, log_share)), new

    # What was learnt

    effects_ = of_record("effects", "The mean rating, and how users and items differ from it.")
    profiles_ = of_record("profiles", "Table of expected tokens of each topic, by item or user.")

    @property
    def doc_topic_prior_(self) -> np.ndarray:
        check_is_fitted(self)
        return self._commit.posterior.alpha[: self._commit.n_descriptive].copy()

    @property
    def qualitative_prior_(self) -> np.ndarray:
        check_is_fitted(self)
        return self._commit.posterior.alpha[self._commit.n_descriptive :].copy()

    # Inference

    def _shares(self, batch: Documents, pool: Workers) -> np.ndarray:
        n, posterior = batch.n_documents, self.posterior_
        theta, is_known = self._profiles(batch.columns, n)
        positive = self._positive(batch.columns, n)
        model = RatedLDA(self._commit.n_descriptive, self.local_tol, SWEEPS_OF_TRANSFORM)
        out = np.empty((n, posterior.shape[1]))
        for known in (True, False):
            rows = np.flatnonzero(is_known == known)
            for start in range(0, len(rows), DOCUMENTS_AT_ONCE):
                some = rows[start : start + DOCUMENTS_AT_ONCE]
                out[some] = model.shares(
                    posterior, batch.X[some], theta[some] if known else None, positive[some], pool
                )
        return out

    def _positive(self, labels: Labels, n: int) -> np.ndarray:
        """Return the probability of praise, kept away from 0 and 1."""
        effects = self._commit.effects
        least = 1 / (2 + effects.n)
        share: np.ndarray = probability_of_positive(effects, labels["items"], n)
        return share.clip(least, 1 - least)

    def _profiles(self, labels: Labels, n: int) -> tuple[np.ndarray, np.ndarray]:
        commit = self._commit
        places = commit.profiles.places(labels.get(f"{commit.profile}s"), n)
        gamma, known = np.tile(self.doc_topic_prior_, (n, 1)), places >= 0
        gamma[known] += commit.profiles.values[places[known]]
        return inference.normalised(gamma), known

    def _expected_shares(self, labels: Labels, n: int) -> np.ndarray:
        theta = super()._expected_shares(labels, n)
        if not self._commit.qualitative:
            return theta
        omega, positive = self.qualitative_prior_, self._positive(labels, n)
        p = omega[1] / omega.sum()
        return np.column_stack([(1 - p) * theta, p * positive, p * (1 - positive)])


def _with_counts(
    profiles: Table, places: np.ndarray | None, found: Inferred, alpha: np.ndarray
) -> Table:
    if places is None:
        return profiles
    return profiles.replaced(places, np.maximum(found.gamma.astype(np.float64) - alpha, 0.0))


def _with_qualitative(result: EMResult, reviews: Reviews, omega: np.ndarray) -> TopicPosterior:
    """Return the learnt topics, and two of the words more frequent in each sign than expected."""
    minibatch, before = reviews.minibatch, result.posterior
    counts = reviews.by_sign(minibatch.counts)
    total = counts[0] + counts[1]
    expected = [total * (own.sum() / max(total.sum(), 1.0)) for own in counts]
    residuals = [np.maximum(own - level, 0.0) for own, level in zip(counts, expected, strict=True)]
    learnt = np.column_stack([result.statistics.counts, *residuals]).astype(np.float64)
    shape, alpha = (before.shape[0], before.shape[1] + 2), np.concatenate([before.alpha, omega])
    statistics = Statistics(minibatch.words, learnt, minibatch.lengths)
    return fresh(before.eta, shape, alpha, statistics)
