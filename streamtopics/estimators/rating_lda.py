# SPDX-License-Identifier: BSD-3-Clause
"""Topics of reviews with ratings: what is described, and what is praised or blamed."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import unchanged_unless_learnt
from streamtopics.base.glossary import documented
from streamtopics.estimators.batch_em import AlphaStep, Climbed, EStep, climb
from streamtopics.estimators.online import first_step, moved, step_by_documents
from streamtopics.estimators.rated import (
    DOCUMENTS_AT_ONCE,
    SWEEPS_OF_TRANSFORM,
    RatedTopicModel,
    check_labels,
    check_ratings,
)
from streamtopics.estimators.rated_likelihood import (
    Mixed,
    log_likelihood_by_particles,
    log_likelihood_of_profiles,
)
from streamtopics.messages import Statistics
from streamtopics.metrics import predictive
from streamtopics.models.rated_lda import (
    Inferred,
    RatedLDA,
    Reviews,
    mean_log,
    mean_log_share,
    reviews_by_profile,
    single_reviews,
)
from streamtopics.models.rating_effects import (
    NO_EFFECTS,
    Table,
    empty_table,
    learn_effects,
    probability_of_positive,
)
from streamtopics.parallel import Workers
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.progress import progress
from streamtopics.updates.doc_topic import solve_alpha
from streamtopics.validation import (
    COMMON_CONSTRAINTS,
    LEAST_PRIOR,
    MOST_PRIOR,
    Interval,
    StrOptions,
    check_doc_topic_prior,
    check_word_prior,
)


@documented
class RatingLDA(RatedTopicModel):
    """Topics of reviews beside one of praise and one of blame, found by the ratings.

    Of each review a share of the words comes from the positive topic, if its rating is not
    below what its user gives on average, or else from the negative one; the others come
    from `n_components` descriptive topics, in proportions that belong to the review, to its
    item or to its user. These are the models of the source:

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
        Number K of descriptive topics.
    profile : {"document", "item", "user"}, default="document"
        Whose the proportions of the descriptive topics are. A profile is inferred from all
        reviews of its item or user together, and predicts the words of the next one.
    qualitative : bool, default=True
        Whether there are the positive and the negative topic, which ratings are needed for.
    refine : bool, default=False
        Whether proportions go on being learnt once there are qualitative topics. In the
        source they stay what LDA without ratings made of them.
    qualitative_prior : tuple of two floats, default=(9.0, 1.0)
        Dirichlet parameter (the source's omega) of the shares of descriptive and of
        qualitative words in a review, in tokens, to start from.
    effect_penalty : float, default=5.0
        Weight of the squares of the effects of users and items on ratings, in ratings: so
        many of the average rating are added to those of each.
    kappa : float, default=0.7
        How fast `partial_fit` forgets, in (0, 1]. The step size of a minibatch of B documents
        after N others is (B / (N + B))^kappa; 1 weighs all documents alike.
    doc_topic_prior : float, array-like of shape (n_components,) or None, default=None
        Dirichlet parameter of the proportions (the source's alpha), in tokens, to start from.
        None is 10 / n_components.
    topic_word_prior : float, array-like of shape (n_features,), WordPrior, callable or None, \
            default=None
        Dirichlet parameter of all topics (the source's eta) to start from: a pseudo-count,
        in tokens, for every word. None is 0.05 for each.
    learn_priors : bool, default=False
        Whether these three priors are learnt: by Newton's method in each round of `fit`, eta
        only if it is one number; in `partial_fit` from running means, but for eta. The source
        learns them; but alpha comes out too small, and with many topics new reviews are
        predicted worse.
    max_iter : int, default=50
        Rounds of variational EM over the corpus, at most, without ratings, and as many with.
    tol : float, default=1e-4
        A round that gains less than this part of the bound is the last, but for the first
        eleven from a random start, ten of which leave the priors alone.
    max_local_iter : int, default=20
        Sweeps over a profile in a round, at most; the next round goes on from there.
    local_tol : float, default=1e-3
        A profile is done when a sweep moves less than this share of its tokens.
    n_jobs : int or None, default=None
        Threads; None is 1 and -1 all processors. The results are the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the topics that the first round starts from.
    verbose : int, default=0
        1 shows the rounds of `fit` with the bound in nats per token.

    Attributes
    ----------
    components_ : ndarray of shape (n_components + 2, n_features)
        Dirichlet parameters of the topics: pseudo-counts, not normalised. The last two are
        the positive and the negative topic; without these there are n_components.
    qualitative_prior_ : ndarray of shape (2,)
        omega as it is; its second part over its sum is the expected share of
        qualitative words.
    topic_word_prior_ : ndarray of shape (n_features,)
        eta as it is.
    effects_ : Effects
        Of users and items on ratings: `mean`, and the tables `users` and `items`.
    profiles_ : Table
        Of each item or user the expected tokens of each descriptive topic, of shape
        (n_profiles, n_components), by `labels`. Empty for documents.
    bounds_ : list of float
        The bound on log p(words | ratings) in nats after each round with the final kind of
        topics.
    {common_attributes}

    See Also
    --------
    SupervisedLDA : Ratings as a response to topics.
    HiddenFactorsTopics : Proportions from the factors of a recommender.

    Notes
    -----
    The family is tighter than the source's, in which whether a word is qualitative is
    independent of its topic; and what is printed there for that independence leaves out the
    weights of the topics and sums over both signs. Chapter "Bringing knowledge in" has more.

    Without `users` a review is positive if its rating is not below the mean of all. Items
    and users that were not seen while learning have no effect and no profile: their reviews
    are positive as often as others, and their proportions are inferred from the review, or
    are those that the prior expects.

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
    >>> praise = model.topic_word_[3]
    >>> bool(abs(praise - data.topic_word[3]).sum() / 2 < 0.2)
    True
    """

    _parameter_constraints = {
        name: COMMON_CONSTRAINTS[name]
        for name in (
            "n_components", "kappa", "doc_topic_prior", "topic_word_prior", "max_iter", "tol",
            "max_local_iter", "n_jobs", "random_state", "verbose",
        )
    } | {
        "profile": [StrOptions({"document", "item", "user"})],
        "qualitative": ["boolean"],
        "refine": ["boolean"],
        "qualitative_prior": ["array-like"],
        "effect_penalty": [Interval(Real, 0, None, closed="neither")],
        "learn_priors": ["boolean"],
        "local_tol": COMMON_CONSTRAINTS["tol"],
    }  # fmt: skip

    def __init__(
        self,
        n_components=10,
        *,
        profile="document",
        qualitative=True,
        refine=False,
        qualitative_prior=(9.0, 1.0),
        effect_penalty=5.0,
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
        self.profile = profile
        self.qualitative = qualitative
        self.refine = refine
        self.qualitative_prior = qualitative_prior
        self.effect_penalty = effect_penalty
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

    def fit(self, X: Any, y: Any = None, items: Any = None, users: Any = None) -> Self:
        """Learn from all reviews together. Forgets what was learnt before.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Non-negative word counts; fractions are legal.
        y : array-like of shape (n_documents,)
            Ratings, on any scale. Not used without qualitative topics.
        items, users : array-like of shape (n_documents,) or None, default=None
            What each review is about, and who wrote it: integers or strings. Needed where
            profiles belong to them; else they sharpen which reviews are positive.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with unchanged_unless_learnt(self), self._workers() as pool:
            X = self._counts(X, "fit", reset=True)
            ratings = self._read(X, y, items, users, "fit", first=True)
            self._start(X, *ratings, pool)
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
        shares : ndarray of shape (n_documents, n_components + 2)
            What `transform` returns.
        """
        return self.fit(X, y, items=items, users=users).transform(X, items=items, users=users)

    def partial_fit(self, X: Any, y: Any = None, items: Any = None, users: Any = None) -> Self:
        """Learn from one minibatch: the first one as `fit` does, others by a step of online EM.

        When it fails nothing has changed. Of a minibatch without rows nothing is learnt, and
        those without a word that come before the first with one are forgotten. The effects of
        users and items, and the profiles, are added to without forgetting.

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
            ratings = self._read(X, y, items, users, "partial_fit", first=first)
            # Minibatches without words leave no topics to go on from.
            if first:
                self._start(X, *ratings, pool)
                self.n_iter_ = 0
            elif X.shape[0]:
                self._continue(X, *ratings, pool)
        return self

    def _check_continuable(self) -> None:
        was = self._kind
        now = self.n_components, self.profile, self.qualitative
        names = "n_components", "profile", "qualitative"
        for name, before, value in zip(names, was, now, strict=True):
            if before != value:
                raise ValueError(
                    f"{name} is {value!r} now, but the model was started with {before!r}; set it "
                    "back, or start anew with fit"
                )

    def _read(
        self, X: sparse.csr_matrix, y: Any, items: Any, users: Any, method: str, *, first: bool
    ) -> tuple[np.ndarray | None, np.ndarray | None, np.ndarray | None]:
        """Ratings, items and users, checked."""
        caller = f"{type(self).__name__}.{method}"
        if self.qualitative:
            y = check_ratings(y, X, caller, "Or use qualitative=False, which needs none")
        else:
            y = None
        items, users = self._labels(X.shape[0], items, users, method, first=first)
        for kind, labels in (("item", items), ("user", users)):
            if self.profile == kind and labels is None:
                raise ValueError(
                    f"profile='{kind}' needs {kind}s=, one for each row of X, in {caller}; or use "
                    "profile='document'"
                )
        return y, items, users

    def _labels(
        self, n: int, items: Any, users: Any, method: str, *, first: bool
    ) -> tuple[np.ndarray | None, np.ndarray | None]:
        caller = f"{type(self).__name__}.{method}"
        found = []
        for name, kind, labels in (("items", "item", items), ("users", "user", users)):
            known = None if first else getattr(self.effects_, name).labels
            if not first and self.profile == kind:
                known = self.profiles_.labels
            found.append(check_labels(labels, name, n, caller, known))
        return found[0], found[1]

    def _start(
        self,
        X: sparse.csr_matrix,
        y: np.ndarray | None,
        items: np.ndarray | None,
        users: np.ndarray | None,
        pool: Workers,
    ) -> None:
        """Learn from nothing, from a whole corpus."""
        alpha = check_doc_topic_prior(self.doc_topic_prior, self.n_components, 10.0)
        omega = check_qualitative_prior(self.qualitative_prior)
        eta = check_word_prior(self, "topic_word_prior", X, None)
        seed = self._draw_seed()
        effects, signs = NO_EFFECTS, np.zeros(X.shape[0], np.int8)
        if self.qualitative:
            effects, signs = learn_effects(NO_EFFECTS, y, users, items, self.effect_penalty)
        labels = {"document": None, "item": items, "user": users}[self.profile]
        profiles = empty_table(self.n_components)
        if labels is None:
            reviews = single_reviews(X, signs)
        else:
            profiles = profiles.extended(labels)
            reviews = reviews_by_profile(X, profiles.places(labels), signs)
        climbed = self._climb(reviews, alpha, omega, eta, seed, pool)
        if labels is not None:
            learnt = climbed.documents.gamma.astype(np.float64)
            profiles = Table(profiles.labels, np.maximum(learnt - self._alpha_of(climbed), 0.0))
        posterior = self._finished(climbed, reviews)
        vars(self).update(
            seed_=seed,
            _kind=(self.n_components, self.profile, self.qualitative),
            effects_=effects,
            profiles_=profiles,
            bounds_=list(climbed.bounds),
            n_iter_=climbed.n_rounds,
            posterior_=posterior,
        )

    def _alpha_of(self, climbed: Climbed) -> np.ndarray:
        return climbed.posterior.alpha[: self.n_components]

    def _climb(
        self,
        reviews: Reviews,
        alpha: np.ndarray,
        omega: np.ndarray,
        eta: np.ndarray,
        seed: int,
        pool: Workers,
    ) -> Climbed:
        """LDA without ratings, and then with the qualitative topics."""
        K, n_features = self.n_components, self.n_features_in_
        plain = replace(reviews, signs=np.zeros_like(reviews.signs))
        n_tokens = max(reviews.minibatch.n_tokens, 1.0)
        n_stages = 2 if self.qualitative else 1
        units, total = ("rounds", "tokens"), n_stages * self.max_iter
        shows = self.verbose > 0
        with progress(type(self).__name__, total, enabled=shows, units=units) as p:

            def report(bound: float) -> None:
                p.score(bound / n_tokens)
                p.advance(1, n_tokens)

            settings = {
                "learn_eta": self.learn_priors and eta.shape == (1, 1),
                "max_iter": self.max_iter,
                "tol": self.tol,
                "report": report,
            }

            climbed = climb(
                TopicPosterior(eta, (n_features, K), alpha),
                seed,
                self._e_step(plain, pool),
                self._alpha_step(plain),
                **settings,
            )
            if not self.qualitative:
                return climbed
            gamma = climbed.documents.gamma
            theta = None if self.refine else gamma / gamma.sum(axis=1, keepdims=True)

            rated = climb(
                _with_qualitative(climbed, reviews, omega),
                seed,
                self._e_step(reviews, pool, theta),
                self._alpha_step(reviews),
                **settings,
            )
        if theta is not None:
            rated = replace(rated, documents=replace(rated.documents, gamma=gamma))
        return replace(rated, n_rounds=climbed.n_rounds + rated.n_rounds)

    def _e_step(self, reviews: Reviews, pool: Workers, theta: np.ndarray | None = None) -> EStep:
        """Inference in a round, with the proportions as they are where they are given."""
        model = self._model(self.max_local_iter)

        def step(source: Any, found: Inferred | None) -> tuple[Statistics, Inferred]:
            return model.step(source, reviews, pool, theta=theta, start=found)

        return step

    def _alpha_step(self, reviews: Reviews) -> AlphaStep:
        """How alpha and omega are learnt in a round."""

        def step(alpha: np.ndarray, statistics: Statistics, found: Inferred) -> np.ndarray:
            if not self.learn_priors:
                return alpha
            log_p = mean_log_share(reviews, found) if self.qualitative else None
            return self._solved(alpha, statistics.log_theta, log_p)

        return step

    def _solved(
        self, alpha: np.ndarray, log_theta: np.ndarray | None, log_p: np.ndarray | None
    ) -> np.ndarray:
        """alpha and omega by Newton's method, where there is anything on them."""
        K, alpha = self.n_components, alpha.copy()
        if log_theta is not None and K > 1:
            alpha[:K] = solve_alpha(log_theta, alpha[:K])
        if log_p is not None and len(alpha) > K:
            alpha[K:] = solve_alpha(log_p, alpha[K:])
        return alpha

    def _finished(self, climbed: Climbed, reviews: Reviews) -> TopicPosterior:
        """The posterior with what a stream needs to go on."""
        K, alpha = self.n_components, climbed.posterior.alpha
        gamma, pi = climbed.documents.gamma, climbed.documents.pi
        means = np.zeros(len(alpha))
        of_profiles = mean_log(gamma[reviews.tokens > 0])
        if of_profiles is not None:
            means[:K] = of_profiles
        rated = (reviews.minibatch.lengths > 0) & (reviews.signs != 0)
        if rated.any() and self.qualitative:
            means[K:] = mean_log(pi[rated])
        statistics = replace(climbed.statistics, lengths=reviews.minibatch.lengths)
        eta, shape = climbed.posterior.eta, climbed.posterior.shape
        return first_step(eta, shape, statistics, alpha, means)

    def _continue(
        self,
        X: sparse.csr_matrix,
        y: np.ndarray | None,
        items: np.ndarray | None,
        users: np.ndarray | None,
        pool: Workers,
    ) -> None:
        """One step of online EM."""
        K, posterior = self.n_components, self.posterior_
        effects, signs = self.effects_, np.zeros(X.shape[0], np.int8)
        if self.qualitative:
            effects, signs = learn_effects(effects, y, users, items, self.effect_penalty)
        labels = {"document": None, "item": items, "user": users}[self.profile]
        profiles, model = self.profiles_, self._model(self.max_local_iter)
        if labels is None:
            statistics, found = model.step(posterior, reviews := single_reviews(X, signs), pool)
        else:
            profiles = profiles.extended(labels)
            places, own = np.unique(profiles.places(labels), return_inverse=True)
            reviews = reviews_by_profile(X, own, signs)
            prior = posterior.alpha[:K] + profiles.values[places]
            statistics, found = model.step(posterior, reviews, pool, prior=prior)
            learnt = found.gamma.astype(np.float64) - posterior.alpha[:K]
            profiles = profiles.replaced(places, np.maximum(learnt, 0.0))
        blend = self._blend(posterior, statistics, mean_log_share(reviews, found))
        vars(self).update(effects_=effects, profiles_=profiles)
        posterior.blend(blend)

    def _blend(
        self, posterior: TopicPosterior, statistics: Statistics, log_p: np.ndarray | None
    ) -> Blend:
        """A step of online EM, with the priors learnt from running means."""
        K = self.n_components
        step = step_by_documents(posterior, statistics.n_documents, self.kappa)
        memory = posterior.proportions.memory
        of_theta = moved(memory[:K], statistics.log_theta, step.rate)
        of_p = moved(memory[K:-1], log_p, step.rate)
        alpha = posterior.alpha
        if self.learn_priors:
            alpha = self._solved(alpha, _known(of_theta), _known(of_p))
        memory = np.concatenate([of_theta, of_p, [step.remembered]])
        return step.blend(statistics, Proportions(alpha, memory))

    def _model(self, max_iter: int) -> RatedLDA:
        return RatedLDA(self.n_components, self.local_tol, max_iter)

    # Inference

    @property
    def doc_topic_prior_(self) -> np.ndarray:
        """Dirichlet parameter of the proportions of the descriptive topics, as of now."""
        check_is_fitted(self)
        return self.posterior_.alpha[: self._kind[0]].copy()

    @property
    def qualitative_prior_(self) -> np.ndarray:
        """Dirichlet parameter of the shares of descriptive and of qualitative words, as of now."""
        check_is_fitted(self)
        return self.posterior_.alpha[self._kind[0] :].copy()

    def transform(self, X: Any, items: Any = None, users: Any = None) -> np.ndarray:
        """Share of each topic in the tokens of each review, whose rating is not known.

        Deterministic, and each row depends on its own review only. The proportions of the
        descriptive topics are those of its item's or user's profile; without one they are
        inferred from the review.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.
        items, users : array-like of shape (n_documents,) or None, default=None
            As in `fit`. Those not seen there are legal.

        Returns
        -------
        shares : ndarray of shape (n_documents, n_components + 2)
            The last two are the positive and the negative topic. Rows sum to 1; float64 for
            float64 input, else float32.
        """
        check_is_fitted(self)
        X = self._counts(X, "transform")
        items, users = self._labels(X.shape[0], items, users, "transform", first=False)
        with self._workers() as pool:
            return self._shares(X, items, users, pool).astype(X.dtype)

    def _shares(
        self,
        X: sparse.csr_matrix,
        items: np.ndarray | None,
        users: np.ndarray | None,
        pool: Workers,
    ) -> np.ndarray:
        positive = self._positive(items, X.shape[0])
        places = self._profile_places(items, users, X.shape[0])
        theta = self._theta(places)
        model = self._model(SWEEPS_OF_TRANSFORM)
        out = np.empty((X.shape[0], self.posterior_.shape[1]))
        for known in (True, False):
            those = np.flatnonzero((places >= 0) == known)
            for start in range(0, len(those), DOCUMENTS_AT_ONCE):
                some = those[start : start + DOCUMENTS_AT_ONCE]
                out[some] = model.shares(
                    self.posterior_, X[some], theta[some] if known else None, positive[some], pool
                )
        return out

    def _positive(self, items: np.ndarray | None, n: int) -> np.ndarray:
        """Probability of a positive review, kept away from 0 and 1."""
        share = probability_of_positive(self.effects_, items, n)
        least = 1 / (2 + self.effects_.n)
        return np.clip(share, least, 1 - least)

    def _profile_places(
        self, items: np.ndarray | None, users: np.ndarray | None, n: int
    ) -> np.ndarray:
        labels = {"document": None, "item": items, "user": users}[self._kind[1]]
        return np.full(n, -1) if labels is None else self.profiles_.places(labels)

    def _theta(self, places: np.ndarray) -> np.ndarray:
        """Mean proportions of profiles; for -1 those that the prior expects."""
        alpha = self.doc_topic_prior_
        gamma = np.tile(alpha, (len(places), 1))
        known = places >= 0
        gamma[known] += self.profiles_.values[places[known]]
        return gamma / gamma.sum(axis=1, keepdims=True)

    def predict_words(self, items: Any = None, users: Any = None) -> np.ndarray:
        """Word probabilities of a review that is yet to be written.

        Parameters
        ----------
        items, users : array-like of shape (n_reviews,) or None, default=None
            What the reviews are about, and by whom; one of them at least. Those not seen
            while learning are legal.

        Returns
        -------
        probabilities : ndarray of shape (n_reviews, n_features)
            Rows sum to 1.
        """
        check_is_fitted(self)
        given = items if items is not None else users
        if given is None:
            raise ValueError("predict_words needs items, users or both, to know for how many")
        n = np.size(given)
        items, users = self._labels(n, items, users, "predict_words", first=False)
        shares = self._theta(self._profile_places(items, users, n))
        if self._kind[2]:
            omega, positive = self.qualitative_prior_, self._positive(items, n)
            p = omega[1] / omega.sum()
            shares = np.column_stack([(1 - p) * shares, p * positive, p * (1 - positive)])
        return shares @ self.topic_word_

    def score_samples(self, X: Any, items: Any = None, users: Any = None) -> np.ndarray:
        """Log predictive probability of the held-out tokens of each review.

        One token in five is held out, by a rule that depends on the review alone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.
        items, users : array-like of shape (n_documents,) or None, default=None
            As in `transform`.

        Returns
        -------
        log_probability : ndarray of shape (n_documents,)
            In nats, summed over the review's held-out tokens; 0 for one that has none.
        """
        return self._completion(X, items, users, "score_samples")[0]

    def score(self, X: Any, y: Any = None, items: Any = None, users: Any = None) -> float:
        """Log predictive probability per held-out token, by document completion.

        Comparable between models, numbers of topics and sizes of test sets; higher is better.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Word counts.
        y : None
            Ignored: the rating of a review that is to be predicted is not known.
        items, users : array-like of shape (n_documents,) or None, default=None
            As in `transform`.

        Returns
        -------
        score : float
            Nats per token; NaN if no token is held out.
        """
        return predictive.per_token(*self._completion(X, items, users, "score"))

    def _completion(self, X: Any, items: Any, users: Any, method: str) -> tuple[np.ndarray, float]:
        check_is_fitted(self)
        X = self._counts(X, method)
        items, users = self._labels(X.shape[0], items, users, method, first=False)
        with self._workers() as pool:
            return self._per_document(
                X, lambda counts: self._shares(counts, items, users, pool), self._topics_of
            )

    def log_likelihood(
        self,
        X: Any,
        items: Any = None,
        users: Any = None,
        *,
        n_particles: int = 100,
        seed: int = 0,
    ) -> np.ndarray:
        """log p(words of each review) given the topics, by left-to-right evaluation.

        A review of a known profile needs no particles: with its proportions, what is left to
        integrate is its share of qualitative words, which quadrature does.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_documents, n_features)
            Whole numbers of tokens.
        items, users : array-like of shape (n_documents,) or None, default=None
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
        items, users = self._labels(n, items, users, "log_likelihood", first=False)
        places, positive = self._profile_places(items, users, n), self._positive(items, n)
        topics = Mixed(self.topic_word_, self._kind[0], self.qualitative_prior_)
        out, known = np.empty(n), places >= 0
        out[known] = log_likelihood_of_profiles(
            X[known], topics, self._theta(places[known]), positive[known]
        )
        out[~known] = log_likelihood_by_particles(
            X[~known], topics, self.doc_topic_prior_, positive[~known],
            n_particles=n_particles, seed=seed, n_jobs=self.n_jobs,
        )  # fmt: skip
        return out

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = bool(self.qualitative)
        return tags


def check_qualitative_prior(prior: Any) -> np.ndarray:
    """omega as an array of shape (2,)."""
    try:
        omega = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        omega = np.empty(0)
    if omega.shape != (2,) or not ((omega >= LEAST_PRIOR) & (omega <= MOST_PRIOR)).all():
        raise ValueError(
            "qualitative_prior must be two positive numbers, for descriptive and for qualitative "
            f"words, such as (9.0, 1.0); got {prior!r}"
        )
    return omega


def _with_qualitative(climbed: Climbed, reviews: Reviews, omega: np.ndarray) -> TopicPosterior:
    """The topics learnt without ratings, and two of the words that are too frequent in a sign.

    A topic of a sign starts with the counts by which its words exceed what the share of that
    sign among all tokens lets expect.
    """
    minibatch, before = reviews.minibatch, climbed.posterior
    sign = np.repeat(reviews.signs, np.diff(minibatch.indptr))
    n_words = len(minibatch.words)
    counts = [
        np.bincount(minibatch.indices, minibatch.counts * (sign == s), n_words) for s in (1, -1)
    ]
    total = counts[0] + counts[1]
    expected = [total * (own.sum() / max(total.sum(), 1.0)) for own in counts]
    excess = [np.maximum(own - level, 0.0) for own, level in zip(counts, expected, strict=True)]
    learnt = np.column_stack([climbed.statistics.counts, *excess])
    posterior = TopicPosterior(
        before.eta,
        (before.shape[0], before.shape[1] + 2),
        np.concatenate([before.alpha, omega]),
    )
    statistics = Statistics(minibatch.words, learnt.astype(np.float64), minibatch.lengths)
    posterior.blend(Blend(1.0, 1.0, 0.0, statistics))
    return posterior


def _known(memory: np.ndarray) -> np.ndarray | None:
    """A running mean, if there is one yet."""
    return memory if memory.any() else None
