# SPDX-License-Identifier: BSD-3-Clause
"""The low-rank determinantal point process as an estimator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state, check_scalar
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from streamtopics.base.frame import unchanged_unless_learnt
from streamtopics.dpp import conditioning, learning, marginal, sampling
from streamtopics.dpp.arrays import Floats
from streamtopics.dpp.batches import batch_sets
from streamtopics.dpp.forms import SENTENCES, Form
from streamtopics.dpp.kernel import Process
from streamtopics.dpp.learning import Online, Settings
from streamtopics.dpp.likelihood import Parameters, check_possible, log_likelihood
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.multiplicative import theta_steps
from streamtopics.dpp.noise import Background, Counting, Noise, check_listed
from streamtopics.dpp.penalty import active
from streamtopics.dpp.sets import PointSets
from streamtopics.dpp.totals import LEARNT, Known, Totals
from streamtopics.dpp.words import embedding_cosines, telling_words
from streamtopics.parallel import Workers, workers
from streamtopics.progress import progress
from streamtopics.validation import (
    COMMON_CONSTRAINTS,
    HasMethods,
    Interval,
    StrOptions,
    check_column_names,
    check_feature_names,
)

NOISES: dict[str, type[Background | Counting]] = {"background": Background, "counting": Counting}
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
LEAST_MEAN_SIZE = 1e-3


@dataclass(frozen=True, eq=False)
class Learnt:
    """The state of a fitted estimator.

    Attributes
    ----------
    online : Online
        U, the mean theta, gamma and the noise, and what the next minibatch needs.
    totals : Totals
        Over the points seen.
    measure : BaseMeasure
        Made of them.
    objective : tuple of float
        After each round of `fit`; empty after `partial_fit`.
    n_batches, n_sets, n_points : int
    """

    online: Online
    totals: Totals
    measure: BaseMeasure
    objective: tuple[float, ...]
    n_batches: int
    n_sets: int
    n_points: int

    @property
    def parameters(self) -> Parameters:
        return self.online.parameters


class LowRankDPP(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Sets that repel their like: documents as sets of sentences, baskets as sets of items.

    A document is a draw of sentences from all that there could be, 2^V of V words, that
    are unlike each other. The kernel is noise + Diag(p)^{1/2} Phi A Phi' Diag(p)^{1/2} with
    A = gamma I + U Diag(theta) U': p and the features Phi belong to the ground set, U embeds
    the words, and each document has its own theta.

    Parameters
    ----------
    ground_set : {"bernoulli", "poisson", "multinomial", "items", "gaussian"} or measure, \
            default="bernoulli"
        The points that sets consist of. Sentences: as sets of independent words, as independent
        counts of words, or as a length with words divided by it; items of a list; vectors.
        Its probabilities are learnt from all points seen. Or a base measure that is
        known, such as ``streamtopics.dpp.Fourier(2, 4)``, the unit square.
    n_components : int, default=10
        Number r of columns of U. The penalty takes out those not needed, so give two to
        six times as many as are wanted.
    noise : {"auto", "background", "counting"} or noise, default="auto"
        Points beside those of the low-rank part, without which a repeated or an empty
        sentence, or more sentences than the rank, are impossible. "background" are
        independent points of the ground set's own law, a Poisson number of them;
        "counting", for ground sets that can be listed, lets each other item join with the
        same probability. "auto" is "counting" for items and "background" otherwise. Or a
        record such as ``streamtopics.dpp.Background(2.0)``, from whose level learning starts.
    noise_level : float or None, default=None
        Their level; None learns it, and what is 0 stays 0. On real text most sentences go
        to the background.
    gamma : float or None, default=None
        Weight of the features themselves in A; None learns it, from 1 / V, or less where
        features are large. For items it is the same as "counting" noise, and None is 0.
        What is 0 stays 0.
    theta : {"shared", "document"}, default="shared"
        Whether U is learnt with one theta for all sets, or with one for each. With one for
        all only the space of U is determined, not its columns; with one for each `score`,
        which is under their mean, is far lower.
    penalty : float, default=0.001
        Weight of the mean sum of theta and the squared sum of the lengths of the columns
        of U, in nats per set; it makes columns vanish. On film reviews 0.01 left hardly
        any, and with 0 held-out sets were worse off.
    max_iter : int, default=10
        Most rounds of `fit`: 20 iterations of L-BFGS on U, then the rest.
    tol : float, default=0.01
        Least gain of a round to go on, in nats per set.
    max_local_iter : int, default=30
        Steps on the theta of a set.
    batch_size : int, default=256
        Sets in a minibatch, as `fit` takes it to be when it sets the steps of a later
        `partial_fit`.
    step_size : float, default=0.3
        First step of AdaGrad in `partial_fit`, relative to the entries of the first U.
    kappa : float, default=0.5
        In `partial_fit` gamma, the noise and the mean theta go (t + 1)^-kappa of the way at
        the t-th minibatch, in (0, 1].
    n_jobs : int or None, default=None
        Threads; -1 is all processors. The result is the same bits for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of the first U.
    verbose : int, default=0
        1 shows how far `fit` has come.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, V)
        U', whose rows are known up to sign; 0 for those taken out.
    theta_ : ndarray of shape (n_components,)
        Weights of the columns: the one theta, or the mean of those of the sets.
    gamma_ : float
        Weight of the features themselves.
    noise_level_ : float
        Of "background" the expected number of its points in a set, of items that of each.
    measure_ : BaseMeasure
        The ground set with its probabilities.
    expected_size_ : float
        Expected number of points of a set under `theta_`.
    n_active_components_ : int
        Number of columns of at least 1 % of the strength of the strongest.
    objective_ : list of float
        The objective of `fit`, at the start and after each round, in nats per set.
    n_iter_ : int
        Rounds of `fit`.
    n_batch_iter_, n_documents_seen_, n_sentences_seen_ : int
        Minibatches, sets and points learnt from.
    n_features_in_ : int
        Columns of the points; for items, of X.

    See Also
    --------
    DPPSummarizer : Picks sentences of raw documents.
    streamtopics.text.SentenceVectorizer : Makes sentences of raw documents.
    streamtopics.dpp : The functions that this is made of.

    Notes
    -----
    Sentences of one text are more alike than those of several, not less. So on text the
    background takes most of the sentences, what is gained over independent sentences is
    small, and with the fixed noise of the source the model is far worse than these: see
    `gain_over_independent`.

    (U D, D^-2 theta) is the same model for any diagonal D; the scales of least penalty are
    chosen. theta is a local optimum, since no part of the problem is convex.

    References
    ----------
    C. Dupuy (2017), "Inference and applications for topic models", chapter 4.

    Examples
    --------
    >>> from streamtopics import LowRankDPP
    >>> from streamtopics.text import SentenceVectorizer
    >>> reviews = ["The soup was good. Service was slow.", "Slow service! The soup was cold."]
    >>> X = SentenceVectorizer().fit_transform(reviews * 20)
    >>> model = LowRankDPP(n_components=3, random_state=0).fit(X)
    >>> model.transform(X[:2]).shape
    (2, 3)
    >>> model.sample(2, random_state=0)[0].shape[1]  # A matrix of sentences by words.
    7
    """

    _parameter_constraints = {
        name: COMMON_CONSTRAINTS[name]
        for name in (
            "n_components", "max_iter", "tol", "max_local_iter", "batch_size", "kappa", "n_jobs",
            "random_state", "verbose",
        )
    } | {
        "ground_set": [StrOptions(set(LEARNT)), HasMethods(["features", "log_p", "sample_tilted"])],
        "noise": [StrOptions({"auto", *NOISES}), HasMethods(["at", "diagonal", "draw_exactly"])],
        "noise_level": [None, NOT_NEGATIVE],
        "gamma": [None, NOT_NEGATIVE],
        "theta": [StrOptions({"shared", "document"})],
        "penalty": [NOT_NEGATIVE],
        "step_size": [Interval(Real, 0, None, closed="neither")],
    }  # fmt: skip

    def __init__(
        self,
        ground_set: str | BaseMeasure = "bernoulli",
        n_components: int = 10,
        *,
        noise: str | Noise = "auto",
        noise_level: float | None = None,
        gamma: float | None = None,
        theta: str = "shared",
        penalty: float = 0.001,
        max_iter: int = 10,
        tol: float = 0.01,
        max_local_iter: int = 30,
        batch_size: int = 256,
        step_size: float = 0.3,
        kappa: float = 0.5,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.ground_set = ground_set
        self.n_components = n_components
        self.noise = noise
        self.noise_level = noise_level
        self.gamma = gamma
        self.theta = theta
        self.penalty = penalty
        self.max_iter = max_iter
        self.tol = tol
        self.max_local_iter = max_local_iter
        self.batch_size = batch_size
        self.step_size = step_size
        self.kappa = kappa
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # Learning

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from all sets together, by L-BFGS. Forgets what was learnt before.

        Parameters
        ----------
        X : sequence of matrices, or matrix
            One matrix of shape (n_points, n_features) for each set, or one for all with
            `groups`: sentences as counts of words, as `SentenceVectorizer` makes them, or
            vectors. For items one matrix of shape (n_sets, n_items), in which the items
            of a set are above 0.
        y : None
            Ignored.
        groups : array-like of shape (n_points,) or None, default=None
            The set of each row of X, if that is one matrix of points.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If X is not of this form, or a set has the probability 0 because the noise is 0.
        """
        with self._learning("fit", X, groups, start=True) as (sets, totals, pool):
            self.learnt_ = self._learn_together(sets, totals, pool)
        return self

    def partial_fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from one minibatch, by a step of AdaGrad on U.

        When it fails or is interrupted nothing has changed. Of a minibatch without sets
        nothing is learnt; the first one has to have a point. Parameters that were changed
        take effect, but for `ground_set`, `noise` and `n_components`, which need a new start.

        Parameters
        ----------
        X, y, groups
            As in `fit`.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If X is not of this form, a set has the probability 0 because the noise is 0, or
            a parameter is another one that cannot change.
        """
        first = not self.__sklearn_is_fitted__()
        with self._learning("partial_fit", X, groups, start=first) as (sets, totals, pool):
            if len(sets) and (sets.sizes.any() or not first):
                self.learnt_ = self._learn_minibatch(sets, totals, pool, first)
        return self

    @contextmanager
    def _learning(
        self, method: str, X: Any, groups: Any, *, start: bool
    ) -> Iterator[tuple[PointSets, Totals, Workers]]:
        """The sets, the totals with them, and the workers; all is undone if it fails.

        SetBatches of sets are what is shared out: threads of the linear algebra itself would
        wait for each other over small matrices.
        """
        one_thread = threadpool_limits(1, user_api="blas")
        with unchanged_unless_learnt(self), self._workers() as pool, one_thread:
            if start:
                self.__dict__.pop("learnt_", None)
                sets = self._start(X, groups, method)
                before = self._totals_of_none(self.n_features_in_)
            else:
                self._check_unchanged()
                sets, before = self._sets(X, groups, method), self.learnt_.totals
            yield sets, before.plus(sets), pool

    def _start(self, X: Any, groups: Any, method: str) -> PointSets:
        X = list(X) if isinstance(X, Iterator) else X
        width = self._known.n_columns if self._known else None
        sets, n_columns = self._form.read(X, groups, width, self._caller(method))
        if method == "fit" and len(sets) == 0:
            raise ValueError(
                f"X, passed to {self._caller(method)}, has no sets: found 0 sample(s), but a "
                "minimum of 1 is required"
            )
        self.n_features_in_ = n_columns
        check_column_names(self, X, reset=True)
        return sets

    def _check_unchanged(self) -> None:
        totals, parameters = self.learnt_.totals, self.learnt_.parameters
        if isinstance(self.ground_set, str):
            same = isinstance(totals, LEARNT[self.ground_set])
        else:
            same = totals.measure is self.ground_set
        unchanged = {
            "ground_set": same,
            "n_components": self.n_components == parameters.U.shape[1],
            "noise": type(self._first_noise(totals.measure, 0.0)) is type(parameters.noise),
        }
        for name, is_so in unchanged.items():
            if not is_so:
                raise ValueError(
                    f"{name} is {getattr(self, name)!r} now, but the model was learnt with another "
                    "one; set it back, or start anew with fit"
                )

    def _learn_together(self, sets: PointSets, totals: Totals, pool: Workers) -> Learnt:
        measure, n = totals.measure, len(sets)
        data, at = batch_sets(measure, sets), self._first(measure, sets)
        if self.theta == "document":
            at = replace(at, theta=np.tile(at.theta, (n, 1)))
        with progress(
            "LowRankDPP", self.max_iter * n, enabled=self.verbose > 0, units=("sets", "sets")
        ) as line:
            found = learning.fit(
                measure,
                data,
                at,
                self._settings(),
                report=lambda value: line.advance(n, float(n)),
                workers=pool,
            )
        parameters = found.parameters
        mean = replace(parameters, theta=np.atleast_2d(parameters.theta).mean(axis=0))
        minibatches = (
            batch_sets(measure, sets.cut(start, start + self.batch_size))
            for start in range(0, n, self.batch_size)
        )
        online = learning.resume(measure, minibatches, mean, self._settings(), workers=pool)
        return Learnt(online, totals, measure, found.objective, 1, n, int(sets.indptr[-1]))

    def _learn_minibatch(
        self, sets: PointSets, totals: Totals, pool: Workers, first: bool
    ) -> Learnt:
        measure = totals.measure
        if first:
            before = Learnt(Online.of(self._first(measure, sets)), totals, measure, (), 0, 0, 0)
        else:
            before = self.learnt_
        online = replace(
            before.online,
            parameters=self._as_given(before.parameters),
            n_batches=before.n_sets / len(sets),
        )
        data = batch_sets(measure, sets)
        online = learning.learn_minibatch(measure, data, online, self._settings(), workers=pool)
        return Learnt(
            learning.balance_online(online),
            totals,
            measure,
            (),
            before.n_batches + 1,
            before.n_sets + len(sets),
            before.n_points + int(sets.indptr[-1]),
        )

    def _settings(self) -> Settings:
        return Settings(
            penalty=self.penalty,
            n_theta=self.max_local_iter,
            learn_gamma=self.gamma is None,
            learn_level=self.noise_level is None,
            max_iter=self.max_iter,
            tol=self.tol,
            own_theta=self.theta == "document",
            step_size=self.step_size,
            kappa=self.kappa,
        )

    def _first(self, measure: BaseMeasure, sets: PointSets) -> Parameters:
        """Return where learning starts: half of the points from the noise, half from U."""
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        half = max(float(sets.sizes.mean()), LEAST_MEAN_SIZE) / 2
        noise = self._first_noise(measure, half)
        trace = measure.v.sum() + (measure.w0**2).sum()
        gamma = 0.0 if measure.form.one_matrix else float(min(1 / len(measure.v), half / trace))
        rng = np.random.default_rng(seed)
        first = learning.start(measure, self.n_components, half, noise, rng, gamma=gamma)
        return self._as_given(first)

    def _as_given(self, parameters: Parameters) -> Parameters:
        """Set gamma and the level of the noise, where they are not to be learnt."""
        gamma, level = self.gamma, self.noise_level
        return replace(
            parameters,
            gamma=parameters.gamma if gamma is None else float(gamma),
            noise=parameters.noise if level is None else parameters.noise.at(float(level)),
        )

    def _first_noise(self, measure: BaseMeasure, n_points: float) -> Noise:
        """Return the noise of the start; one that is named is expected to give `n_points`."""
        chosen: str | Noise = self.noise
        if chosen == "auto":
            chosen = "counting" if measure.form.one_matrix else "background"
        noise = NOISES[chosen].expecting(measure, n_points) if isinstance(chosen, str) else chosen
        check_listed(noise, measure)
        return noise

    # Inference

    def transform(self, X: Any, groups: Any = None) -> Floats:
        """Return theta of each set, by steps from `theta_`.

        No step lowers the log-likelihood less `penalty` times the sum of theta.
        Deterministic, and each set by itself. There may be other local optima. A set
        without points gets zeros.

        Parameters
        ----------
        X, groups
            As in `fit`. Sets come in the order of their first rows.

        Returns
        -------
        theta : ndarray of shape (n_sets, n_components), float64

        Raises
        ------
        ValueError
            If a set has the probability 0, which takes a `noise_level` of 0.
        """
        check_is_fitted(self)
        with self._workers() as pool:
            data = batch_sets(self.measure_, self._sets(X, groups, "transform"))
            parameters = self.learnt_.parameters
            if parameters.noise.level == 0:
                check_possible(self.measure_, data, parameters)
            return theta_steps(
                self.measure_,
                data,
                parameters,
                penalty=self.penalty,
                n_steps=self.max_local_iter,
                workers=pool,
            )

    def score_samples(self, X: Any, groups: Any = None) -> Floats:
        """Return the log-likelihood of each set under `theta_`.

        Parameters
        ----------
        X, groups
            As in `fit`.

        Returns
        -------
        log_likelihood : ndarray of shape (n_sets,)
            In nats, of densities where the ground set has one; -inf for a set that cannot be.
        """
        return self._log_likelihood(X, groups, "score_samples", independent=False)

    def score(self, X: Any, y: Any = None, groups: Any = None) -> float:
        """Return the mean log-likelihood of a set under `theta_`, in nats; higher is better.

        Parameters
        ----------
        X, y, groups
            As in `fit`.

        Returns
        -------
        score : float
        """
        values = self._log_likelihood(X, groups, "score", independent=False)
        return float(values.mean()) if len(values) else np.nan

    def gain_over_independent(self, X: Any, groups: Any = None) -> Floats:
        """Return the log-likelihood of each set, less that of independent points.

        These are a Poisson number of draws from the ground set's own law, with the mean
        size of the sets seen; for "items", each with its own share of the sets seen.

        Parameters
        ----------
        X, groups
            As in `fit`.

        Returns
        -------
        gain : ndarray of shape (n_sets,)
            In nats; above 0 where the model is better. 0 for a set that neither can give, such
            as a sentence of a length that "multinomial" rules out.
        """
        return self._log_likelihood(X, groups, "gain_over_independent", independent=True)

    def _log_likelihood(self, X: Any, groups: Any, method: str, *, independent: bool) -> Floats:
        check_is_fitted(self)
        with self._workers() as pool:
            sets, learnt = self._sets(X, groups, method), self.learnt_
            data = batch_sets(self.measure_, sets)
            values = log_likelihood(self.measure_, data, learnt.parameters, workers=pool)
            if not independent:
                return values
            shares = learnt.totals.independent_log_likelihood(sets)
            if shares is not None:
                return values - shares
            mean_size = max(learnt.n_points / learnt.n_sets, LEAST_MEAN_SIZE)
            nothing = np.zeros((len(self.measure_.v), 1))
            noise = Background(mean_size / self.measure_.mass)
            alone = Parameters(nothing, np.zeros(1), 0.0, noise)
            others = log_likelihood(self.measure_, data, alone, workers=pool)
            possible = np.isfinite(values) | np.isfinite(others)
            return np.subtract(values, others, where=possible, out=np.zeros(len(values)))

    # The process

    def process(self, theta: Any = None, given: Any = None) -> Process:
        """Return the process itself, for the functions of `streamtopics.dpp`.

        Parameters
        ----------
        theta : array-like of shape (n_components,) or None, default=None
            Such as a row of `transform`; None is `theta_`.
        given : points or None, default=None
            As in `condition`.

        Returns
        -------
        process : Process
        """
        check_is_fitted(self)
        theta = self.theta_ if theta is None else np.asarray(theta, dtype=np.float64)
        process = self.learnt_.parameters.process(self.measure_, theta)
        return process if given is None else self._condition(process, given)

    def _condition(self, process: Process, points: Any) -> Process:
        return conditioning.condition(process, self._points(points, "condition"))

    def condition(self, points: Any, theta: Any = None) -> Process:
        """Return the process of the further points of a set, of which some are given.

        Parameters
        ----------
        points : matrix of shape (n_points, n_features)
            Sentences or vectors; for items their column numbers, 1-D.
        theta : array-like of shape (n_components,) or None, default=None
            None is `theta_`.

        Returns
        -------
        process : Process
            For the functions of `streamtopics.dpp`; `sample` and `marginals` do this
            themselves with ``given=points``.

        Raises
        ------
        ValueError
            If the given points cannot all be in a set.
        """
        return self._condition(self.process(theta), points)

    def sample(
        self, n_sets: int = 1, theta: Any = None, *, given: Any = None, random_state: Any = None
    ) -> Any:
        """Draw sets, exactly.

        Parameters
        ----------
        n_sets : int, default=1
        theta : array-like of shape (n_components,) or None, default=None
            None is `theta_`.
        given : points or None, default=None
            Draw the further points of sets in which these are; as in `condition`.
        random_state : int, RandomState instance or None, default=None
            Pass an int for the same sets each time.

        Returns
        -------
        sets : ndarray of shape (n_sets,), of objects, or CSR matrix of shape (n_sets, n_items)
            In the form that `fit` takes: a matrix for each set, or a row of items.
        """
        check_scalar(n_sets, "n_sets", Integral, min_val=0)
        process = self.process(theta, given)
        sets = sampling.sample(process, n_sets, _generator(random_state))
        return self._form.write(sets, self.n_features_in_)

    def sample_k(
        self,
        k: int,
        n_sets: int = 1,
        theta: Any = None,
        *,
        given: Any = None,
        random_state: Any = None,
    ) -> Any:
        """Draw sets of exactly k points.

        Parameters
        ----------
        k : int
            Points of each set; beside those given.
        n_sets : int, default=1
        theta, given
            As in `sample`.
        random_state : int, RandomState instance or None, default=None
            Pass an int for the same sets each time.

        Returns
        -------
        sets : ndarray of shape (n_sets,), of objects, or CSR matrix of shape (n_sets, n_items)
            As from `sample`.
        """
        check_scalar(k, "k", Integral, min_val=0)
        check_scalar(n_sets, "n_sets", Integral, min_val=0)
        process = self.process(theta, given)
        sets = sampling.sample_k(process, k, n_sets, _generator(random_state))
        return self._form.write(sets, self.n_features_in_)

    def marginals(self, points: Any, theta: Any = None, *, given: Any = None) -> Floats:
        """Return the probability that each point is in a set; of vectors its density.

        Parameters
        ----------
        points : matrix of shape (n_points, n_features)
            Sentences or vectors; for items their column numbers, 1-D.
        theta, given
            As in `sample`.

        Returns
        -------
        marginals : ndarray of shape (n_points,)
            With "background" noise the expected number of times, since a point can come
            again.
        """
        process = self.process(theta, given)
        return marginal.marginals(process, self._points(points, "marginals"))

    # What was learnt

    @property
    def components_(self) -> Floats:
        """U', of shape (n_components, V)."""
        return self._learnt.parameters.U.T.copy()

    @property
    def theta_(self) -> Floats:
        """The one theta, or the mean of those of the sets, of shape (n_components,)."""
        return self._learnt.parameters.theta.copy()

    @property
    def gamma_(self) -> float:
        """Weight of the features themselves."""
        return self._learnt.parameters.gamma

    @property
    def noise_level_(self) -> float:
        """Level of the noise."""
        return self._learnt.parameters.noise.level

    @property
    def measure_(self) -> BaseMeasure:
        """The ground set with its probabilities."""
        return self._learnt.measure

    @property
    def expected_size_(self) -> float:
        """Expected number of points of a set under `theta_`."""
        return marginal.expected_size(self.process())

    @property
    def n_active_components_(self) -> int:
        """Number of columns of U in use."""
        parameters = self._learnt.parameters
        return int(active(parameters.U, parameters.theta).sum())

    @property
    def objective_(self) -> list[float]:
        """Objective of `fit` at the start and after each round, in nats per set."""
        return list(self._learnt.objective)

    @property
    def n_iter_(self) -> int:
        """Rounds of `fit`; 0 after `partial_fit`."""
        return max(len(self._learnt.objective) - 1, 0)

    @property
    def n_batch_iter_(self) -> int:
        """Minibatches learnt from; all of `fit` is one."""
        return self._learnt.n_batches

    @property
    def n_documents_seen_(self) -> int:
        """Sets learnt from."""
        return self._learnt.n_sets

    @property
    def n_sentences_seen_(self) -> int:
        """Points learnt from."""
        return self._learnt.n_points

    def word_marginals(self, theta: Any = None) -> Floats:
        """Return the expected number of sentences of the low-rank part that have each word.

        Parameters
        ----------
        theta : array-like of shape (n_components,) or None, default=None
            None is `theta_`.

        Returns
        -------
        expected : ndarray of shape (V,)
            Of items, how often each is expected. What the noise adds is not in it.
        """
        return marginal.expected_with_word(self.process(theta))

    def top_words(self, feature_names: Any = None, n: int = 10) -> list[list[Any]]:
        """Return the most typical words of each column of U.

        A column alone makes a law of sentences, p(x) (u_k'phi(x))^2. Its words come in the
        order of what they add to the divergence from the same law of no column: frequent
        under the column, and more so than else.

        Parameters
        ----------
        feature_names : array-like of shape (n_features,), default=None
            Words of the columns; None for the names seen in `fit`, or else their numbers.
        n : int, default=10
            How many.

        Returns
        -------
        words : list of n_components lists
            Each of min(n, n_features) words; empty for a column taken out.
        """
        check_scalar(n, "n", Integral, min_val=1)
        names = self._column_names(feature_names)
        places = telling_words(self.measure_, self.components_, n)
        return [list(names[each]) for each in places]

    def embedding_similarity(self, words: Any, feature_names: Any = None) -> Floats:
        """Return the cosines of the embeddings of some words with those of all.

        Embeddings are the rows of U Diag(theta)^{1/2}.

        Parameters
        ----------
        words : sequence of n_words names, or of column numbers where columns have no names
        feature_names : array-like of shape (n_features,), default=None
            Words of the columns; None for the names seen in `fit`, or else the
            numbers of the columns.

        Returns
        -------
        similarity : ndarray of shape (n_words, n_features)
            Near 1 for words that repel each other as if they were one; 0 for a word
            without embedding.

        Raises
        ------
        ValueError
            If a word is not among the names.
        """
        check_is_fitted(self)
        self.measure_.absence()  # Raises for a ground set without words.
        if isinstance(words, str):
            raise TypeError(f"words must be a list of words; got the text {words!r}")
        columns = {name: column for column, name in enumerate(self._column_names(feature_names))}
        unknown = [word for word in words if word not in columns]
        if unknown:
            raise ValueError(
                f"words has {unknown[:5]!r}, not among the names of the columns; pass names that "
                "are, or the names as feature_names"
            )
        places = np.array([columns[word] for word in words], dtype=np.intp)
        embedding = self.process().kernel.scaled
        return embedding_cosines(embedding[places], embedding)

    # Parts

    @property
    def _learnt(self) -> Learnt:
        check_is_fitted(self)
        return self.learnt_

    @property
    def _known(self) -> Known | None:
        return None if isinstance(self.ground_set, str) else Known(self.ground_set)

    @property
    def _form(self) -> Form:
        if self.__sklearn_is_fitted__():
            return self.learnt_.totals.form
        return self._totals_of_none(0).form

    @property
    def _n_features_out(self) -> int:
        result: int = self.learnt_.parameters.U.shape[1]
        return result

    def _totals_of_none(self, n_columns: int) -> Totals:
        if isinstance(self.ground_set, str):
            return LEARNT[self.ground_set].none(n_columns)
        return Known(self.ground_set)

    def _sets(self, X: Any, groups: Any, method: str) -> PointSets:
        X = list(X) if isinstance(X, Iterator) else X
        sets, _ = self._form.read(X, groups, self.n_features_in_, self._caller(method))
        check_column_names(self, X, reset=False)
        return sets

    def _points(self, points: Any, method: str) -> Any:
        return self._form.points(points, self.n_features_in_, self._caller(method))

    def _caller(self, method: str) -> str:
        return f"{type(self).__name__}.{method}"

    def _column_names(self, feature_names: Any) -> NDArray[Any]:
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        return check_feature_names(feature_names, self.n_features_in_)

    @contextmanager
    def _workers(self) -> Iterator[Workers]:
        self._validate_params()
        with workers(self.n_jobs) as pool:
            yield pool

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "learnt_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        is_known = not isinstance(self.ground_set, str) or self.ground_set in LEARNT
        form = self._form if is_known else SENTENCES
        tags.input_tags.sparse = form.one_matrix
        tags.input_tags.two_d_array = form.one_matrix
        tags.input_tags.three_d_array = not form.one_matrix
        tags.input_tags.positive_only = not form.signed
        return tags


def _generator(random_state: Any) -> Generator:
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=4)
    return np.random.default_rng(seed)
