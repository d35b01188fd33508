# SPDX-License-Identifier: BSD-3-Clause
"""The low-rank determinantal point process as an estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import NO_WEIGHTS, Commit, StreamingEstimator, check_same, same
from streamtopics.base.glossary import documented
from streamtopics.base.inputs import check_column_names, check_feature_names
from streamtopics.base.typing import RandomState
from streamtopics.base.validation import (
    COMMON_CONSTRAINTS,
    LEAST_PRIOR,
    MOST_PRIOR,
    HasMethods,
    Interval,
    StrOptions,
)
from streamtopics.dpp import learning, marginal, sampling
from streamtopics.dpp.arrays import Floats, Points
from streamtopics.dpp.batches import SetBatches, batch_sets
from streamtopics.dpp.kernel import Process, condition
from streamtopics.dpp.learning import Online, Settings, active, theta_steps
from streamtopics.dpp.likelihood import Parameters, check_possible, log_density, log_likelihood
from streamtopics.dpp.measures import BaseMeasure
from streamtopics.dpp.noise import Background, Counting, Noise, check_listed
from streamtopics.dpp.sets import SENTENCES, Form, PointSets
from streamtopics.dpp.totals import LEARNT, FixedMeasure, Totals
from streamtopics.utils.parallel import Workers, one_blas_thread
from streamtopics.utils.records import keep, of_record
from streamtopics.utils.structure import column_names, document_labels, in_memory, labelled

NOISES: dict[str, type[Background | Counting]] = {"background": Background, "counting": Counting}
NOT_NEGATIVE = Interval(Real, 0, MOST_PRIOR, closed="both")
LEAST_MEAN_SIZE = 1e-3
# Larger steps lead U to matrices without an inverse.
MOST_STEP = 100


@dataclass(frozen=True, eq=False, kw_only=True)
class Learnt(Commit):
    """Learnt state of `LowRankDPP`."""

    totals: Totals
    measure: BaseMeasure
    objective: tuple[float, ...] = ()
    n_batches: int = 0
    n_sets: int = 0
    n_points: int = 0

    @property
    def parameters(self) -> Parameters:
        parameters: Parameters = self.posterior.parameters
        return parameters

    def after(self, sets: PointSets, totals: Totals, measure: BaseMeasure, online: Online) -> Self:
        return replace(
            self, posterior=online, n_iter=0, totals=totals, measure=measure, objective=(),
            n_batches=self.n_batches + 1, n_sets=self.n_sets + len(sets),
            n_points=self.n_points + int(sets.n_tokens),
        )  # fmt: skip


@documented
class LowRankDPP(TransformerMixin, ClassNamePrefixFeaturesOutMixin, StreamingEstimator):
    """Determinantal point process with a low-rank kernel, learnt from sets of points.

    Points are, for example, sentences of a document; similar points rarely occur in one set. The
    probability of a set S is proportional to the determinant of the rows and columns S of

        L = noise + Diag(p)^{1/2} Phi A Phi' Diag(p)^{1/2},   A = gamma I + U Diag(theta) U'.

    Point x has a base probability p(x) and V features phi(x), a row of Phi: words, items or
    coordinates. U has V rows and r columns. theta has a weight for each column.

    Parameters
    ----------
    ground_set : {"bernoulli", "poisson", "multinomial", "items", "gaussian"} or measure, \
            default="bernoulli"
        The kind of points. Sentences are sets of words ("bernoulli"), word counts ("poisson") or
        word counts divided by the length ("multinomial"). Other points are "items" or vectors
        ("gaussian"). p is learnt if the kind is given by name. A measure, for example
        ``streamtopics.dpp.Fourier(2, 4)``, has a fixed p.
    n_components : int, default=10
        Number r of columns of U. Take two to six times as many as needed: the penalty removes
        columns.
    noise : {"auto", "background", "counting"} or noise, default="auto"
        Random points added to a set drawn without noise. "background" adds a Poisson number of
        draws from p. With "counting" each item not yet in the set joins with the same probability.
        "auto" is "counting" for items, else "background". Learning starts from the level of a noise
        object, such as ``streamtopics.dpp.Background(2.0)``.
    noise_level : float or None, default=None
        Fixed level of the noise, at most 1e10. None learns the level, but the level 0 of a noise
        object stays 0.
    gamma : float or None, default=None
        Fixed gamma, at most 1e10. None learns gamma, starting at 1 / V or less. For "items"
        None is 0, because "counting" noise has the same role.
    theta : {"shared", "document"}, default="shared"
        "shared" learns U with one theta for all sets, "document" with one theta for each set.
        Scores are far lower with "document".
    penalty : float, default=0.001
        Weight of the penalty: the sum of theta, averaged over sets, plus the square of the summed
        lengths of U's columns.
    max_iter : int, default=100
        Maximal number of rounds of `fit`. A round has 20 iterations of L-BFGS on U, then steps on
        theta, gamma and the noise level.
    tol : float, default=0.001
        `fit` stops when a round gains less than `tol`, in nats per set.
    max_local_iter : int, default=30
        Number of steps to infer the theta of a set.
    batch_size : int, default=256
        Number of sets in a minibatch. The sets of `fit` are counted as minibatches of this size
        when a later `partial_fit` chooses its step size.
    step_size : float, default=0.3
        First step of AdaGrad in `partial_fit`, relative to the size of the entries of U at the
        start.
    kappa : float, default=0.5
        Decay of the steps on theta, gamma and the noise level, in (0, 1]. The t-th minibatch of
        `partial_fit` takes the part ``(t + 1)^-kappa`` of a full step.
    {common_parameters}

    Attributes
    ----------
    components_ : ndarray of shape (n_components, V)
        U transposed. Signs of rows are arbitrary; rows of columns that the penalty removed are 0.
    theta_ : ndarray of shape (n_components,)
        The theta shared by all sets, or, with ``theta="document"``, the mean over sets.
    gamma_, noise_level_ : float
        Learnt gamma and noise level. With "background" the level is the expected number of noise
        points in a set, for items divided by the number of items.
    measure_ : BaseMeasure
        The kind of points, with p.
    expected_size_ : float
        Expected number of points of a set under `theta_`.
    n_active_components_ : int
        Number of columns of U whose length times ``theta^{1/2}`` is above 1 % of the largest such
        product.
    objective_ : list of float
        Penalty minus log-likelihood at the start of `fit` and after each round, in nats per set.
    n_iter_ : int
        Number of rounds of `fit`.
    n_batch_iter_, n_documents_seen_, n_sentences_seen_ : int
        Numbers of learnt minibatches, sets and points.
    n_features_in_ : int
        Number of words, coordinates or items of X.

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

    ground_set: str | BaseMeasure
    n_components: int
    noise: str | Noise
    noise_level: float | None
    gamma: float | None
    theta: str
    penalty: float
    tol: float
    max_local_iter: int
    step_size: float
    kappa: float
    __metadata_request__score: ClassVar[dict[str, Any]] = NO_WEIGHTS
    _units = ("sets", "points")
    _holds = (
        "_commit.totals.sums: V; _commit.totals.counts: V; _commit.totals.mean: V; "
        "n_features_in_: =V"
    )
    _commit: Learnt
    _records: ClassVar[dict[str, dict[Any, Any]]] = {"ground_set": {}, "noise": {}}
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS | {
        "ground_set": [StrOptions(set(LEARNT)), HasMethods(["features", "log_p", "sample_tilted"])],
        "noise": [StrOptions({"auto", *NOISES}), HasMethods(["at", "diagonal", "draw_exactly"])],
        "noise_level": [None, NOT_NEGATIVE],
        "gamma": [None, NOT_NEGATIVE],
        "theta": [StrOptions({"shared", "document"})],
        "penalty": [NOT_NEGATIVE],
        "step_size": [Interval(Real, LEAST_PRIOR, MOST_STEP, closed="both")],
        "kappa": [Interval(Real, 0, 1, closed="right")],
    }

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
        max_iter: int = 100,
        tol: float = 0.001,
        max_local_iter: int = 30,
        batch_size: int = 256,
        step_size: float = 0.3,
        kappa: float = 0.5,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        keep(self, locals())

    # Learning

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from all sets by L-BFGS, from scratch. A failed call changes nothing.

        {sets, y_ignored, groups_of_points}

        {returns_self}
        """
        return self._fit(X=X, groups=groups)

    def partial_fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from one minibatch by a step of AdaGrad on U. A failed call changes nothing.

        `ground_set`, `noise` and `n_components` must stay as in the first call.

        {sets, y_ignored, groups_of_points}

        {returns_self}
        """
        return self._partial_fit(X=X, groups=groups)

    @contextmanager
    def _learning(self, reset: bool = False) -> Iterator[Workers]:
        # Threads of the linear algebra itself would wait for each other over small matrices.
        with super()._learning(reset) as pool, one_blas_thread():
            yield pool

    def _read(self, method: str, *, reset: bool = False, X: Any, groups: Any) -> PointSets:
        X = in_memory(X)
        caller = f"{type(self).__name__}.{method}"
        totals = self._no_totals(0) if reset else self._commit.totals
        width = None if reset else self.n_features_in_
        if reset and isinstance(totals, FixedMeasure):
            width = totals.n_columns
        check_column_names(self, X, reset=reset)
        sets, n_columns = totals.form.read(X, groups, width, caller)
        if method == "fit" and len(sets) == 0:
            raise ValueError(
                f"X, passed to {caller}, has no sets: found 0 sample(s), while a minimum of 1 is "
                "required"
            )
        if reset:
            self.n_features_in_ = n_columns
        return sets

    @property
    def _begun(self) -> bool:
        return super()._begun and self._commit.n_points > 0

    def _start(self, batch: PointSets) -> None:
        totals = self._no_totals(self.n_features_in_)
        measure = totals.plus(batch).measure
        mean = batch.sizes.sum() / max(len(batch.sizes), 1)
        half = max(float(mean), LEAST_MEAN_SIZE) / 2
        noise = self._first_noise(measure, half)
        trace = measure.v.sum() + (measure.w0**2).sum()
        gamma = 0.0 if measure.form.one_matrix else float(min(1 / len(measure.v), half / trace))
        rng = np.random.default_rng(self._draw_seed())
        first = learning.start(measure, self.n_components, half, noise, rng, gamma=gamma)
        online = Online.of(self._as_given(first))
        self._commit = Learnt(online, totals=totals, measure=measure)

    def _check(self, before: Learnt | None) -> None:
        if before is None:
            return
        totals, parameters = before.totals, before.parameters
        check_same(self, n_components=parameters.U.shape[1])
        if isinstance(self.ground_set, str):
            is_same = isinstance(totals, LEARNT[self.ground_set])
        else:
            is_same = isinstance(totals, FixedMeasure) and same(totals.measure, self.ground_set)
        noise = type(self._first_noise(totals.measure, 0.0))
        if not (is_same and noise is type(parameters.noise)):
            raise ValueError(
                f"ground_set is {self.ground_set!r} and noise {self.noise!r} now, but the model "
                f"was learnt with {type(totals.measure).__name__} and "
                f"{type(parameters.noise).__name__}; set both back, or start anew with fit"
            )

    def _learn_all(self, batch: PointSets, pool: Workers) -> None:
        commit, n, settings = self._commit, len(batch), self._settings()
        totals = commit.totals.plus(batch)
        data, at = batch_sets(totals.measure, batch, pool), commit.parameters
        if self.theta == "document":
            at = replace(at, theta=np.tile(at.theta, (n, 1)))
        with self._progress(batch) as line:
            found = learning.fit(
                data, at, settings, report=lambda value: line.update(n, batch.n_tokens)
            )
        theta = np.atleast_2d(found.parameters.theta).mean(axis=0)
        minibatches = (batch_sets(data.measure, part, pool) for part in batch.cut(self.batch_size))
        online = learning.resume(minibatches, replace(found.parameters, theta=theta), settings)
        learnt, values = commit.after(batch, totals, data.measure, online), found.objective
        self._commit = replace(learnt, objective=values, n_iter=len(values) - 1)

    def _learn(self, batch: PointSets, pool: Workers) -> None:
        commit = self._commit
        totals = commit.totals.plus(batch)
        data = batch_sets(totals.measure, batch, pool)
        at, n_batches = self._as_given(commit.parameters), commit.n_sets / len(batch)
        online = replace(commit.posterior, parameters=at, n_batches=n_batches)
        online = learning.balance_online(learning.learn_minibatch(data, online, self._settings()))
        self._commit = commit.after(batch, totals, data.measure, online)

    def _settings(self) -> Settings:
        return Settings(
            penalty=float(self.penalty), n_theta=self.max_local_iter, max_iter=self.max_iter,
            learn_gamma=self.gamma is None, learn_level=self.noise_level is None,
            tol=float(self.tol), own_theta=self.theta == "document",
            step_size=float(self.step_size), kappa=float(self.kappa),
        )  # fmt: skip

    def _as_given(self, parameters: Parameters) -> Parameters:
        gamma, level = self.gamma, self.noise_level
        if gamma is not None:
            parameters = replace(parameters, gamma=float(gamma))
        if level is not None:
            parameters = replace(parameters, noise=parameters.noise.at(float(level)))
        return parameters

    def _first_noise(self, measure: BaseMeasure, n_points: float) -> Noise:
        chosen: str | Noise = self.noise
        if chosen == "auto":
            chosen = "counting" if measure.form.one_matrix else "background"
        noise = NOISES[chosen].expecting(measure, n_points) if isinstance(chosen, str) else chosen
        check_listed(noise, measure)
        return noise

    # Inference

    def transform(self, X: Any, groups: Any = None) -> Floats:
        """Infer the weights theta of the columns of U for each set.

        The result is a local maximum of the penalised likelihood. The search starts at `theta_`.

        {sets, groups_of_points}

        Returns
        -------
        theta : ndarray of shape (n_sets, n_components), float64
            Weights theta of each set; 0 for an empty set.
        """
        groups = in_memory(groups)
        theta = self._inferred_of("transform", X, groups, self._own_theta)
        return labelled(self, theta, document_labels(X, groups))

    def fit_transform(self, X: Any, y: Any = None, groups: Any = None) -> Floats:
        """Call `fit`, and return the result of `transform` on the same sets."""
        X, groups = in_memory(X), in_memory(groups)
        return self.fit(X, groups=groups).transform(X, groups)

    def score_samples(self, X: Any, groups: Any = None) -> Floats:
        """Return the log-likelihood of each set under `theta_`.

        Points of a set have no order, so log m! is subtracted for m equal points.

        {sets, groups_of_points}

        Returns
        -------
        log_likelihood : ndarray of shape (n_sets,)
            Log probability in nats, for vectors a log density; -inf for an impossible set.
        """
        return self._inferred_of(
            "score_samples", X, groups, lambda learnt, data: log_likelihood(data, learnt.parameters)
        )

    def score(self, X: Any, y: Any = None, groups: Any = None) -> float:
        """Return the mean of `score_samples` over the sets: the log-likelihood per set, in nats.

        {sets, y_ignored, groups_of_points}

        Returns
        -------
        score : float
            Mean log-likelihood; NaN without sets, -inf if a set is impossible.
        """
        values = self.score_samples(X, groups)
        return float(values.mean()) if len(values) else np.nan

    def gain_over_independent(self, X: Any, groups: Any = None) -> Floats:
        """Return the log-likelihood of each set, minus the log-likelihood of independent points.

        A set of independent points has a Poisson number of draws from p. Its expected size is the
        mean size of the learnt sets. With ``ground_set="items"``, each item is in the set
        independently, with probability ``(n + 1/2) / (N + 1)`` if n of N sets have the item.

        {sets, groups_of_points}

        Returns
        -------
        gain : ndarray of shape (n_sets,)
            Difference in nats; 0 for a set that is impossible under both models.
        """
        return self._inferred_of("gain_over_independent", X, groups, _gain)

    def _inferred_of(
        self, method: str, X: Any, groups: Any, infer: Callable[[Learnt, SetBatches], Floats]
    ) -> Floats:
        check_is_fitted(self)
        sets = self._read(method, X=X, groups=groups)

        def inferred(pool: Workers) -> Floats:
            learnt = self._commit
            return infer(learnt, batch_sets(learnt.measure, sets, pool))

        return self._inferred(inferred)

    def _own_theta(self, learnt: Learnt, data: SetBatches) -> Floats:
        parameters = learnt.parameters
        if parameters.noise.level == 0:
            check_possible(data, parameters)
        penalty, n_steps = float(self.penalty), self.max_local_iter
        return theta_steps(data, parameters, penalty=penalty, n_steps=n_steps)

    # The process

    def process(self, theta: ArrayLike | None = None) -> Process:
        """Return the learnt point process, for example for `streamtopics.dpp.sampling.sample`.

        {parameters, theta_of_process}

        {returns_process}
        """
        learnt = self._learnt
        theta = learnt.parameters.theta if theta is None else np.asarray(theta, dtype=np.float64)
        return learnt.parameters.process(learnt.measure, theta)

    def sample(
        self,
        n_sets: int = 1,
        theta: ArrayLike | None = None,
        *,
        k: int | None = None,
        given: Points = None,
        random_state: RandomState = None,
    ) -> Any:
        """Draw sets from the learnt process, by an exact algorithm.

        Parameters
        ----------
        n_sets : int, default=1
            Number of sets.
        {theta_of_process}
        k : int or None, default=None
            Number of points of each set, `given` not counted. None draws the size at random.
        {given_points}
            The result is the rest of the set, without `given`.
        random_state : int, RandomState instance or None, default=None
            Pass an int for the same sets each time.

        Returns
        -------
        sets : ndarray of shape (n_sets,), of objects, or CSR matrix of shape (n_sets, n_items)
            A matrix of points for each set; or, if points are items, a row for each set.
        """
        seed = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=4)
        process, rng = self.process(theta), np.random.default_rng(seed)
        if given is not None:
            process = condition(process, self._points(given, "given"))
        return self._form.write(sampling.sample(process, n_sets, rng, k=k), self.n_features_in_)

    def marginals(
        self, points: Points, theta: ArrayLike | None = None, *, given: Points = None
    ) -> Floats:
        """Return the probability of each point to be in a set of the learnt process.

        {parameters, points, theta_of_process, given_points}
            Marginals are then probabilities of further points. With "counting" noise the marginal
            of an item of `given` is 0.

        Returns
        -------
        marginals : ndarray of shape (n_points,)
            Probabilities. With "background" noise, expected numbers. For vectors, densities.
        """
        given = None if given is None else self._points(given, "given")
        return marginal.marginals(self.process(theta), self._points(points, "marginals"), given)

    # What was learnt

    components_ = of_record("parameters.U", "The matrix U transposed.", lambda U: U.T.copy())
    theta_ = of_record("parameters.theta", "Mean weights theta of the columns of U.", np.copy)
    gamma_ = of_record("parameters.gamma", "Weight gamma of the identity matrix in the kernel.")
    noise_level_ = of_record("parameters.noise.level", "Learnt or given level of the noise.")
    measure_ = of_record("measure", "The kind of points, with their base probabilities.")
    objective_ = of_record("objective", "Penalty minus log-likelihood per set, by round.", list)
    n_documents_seen_ = of_record("n_sets", "Number of learnt sets.")
    n_sentences_seen_ = of_record("n_points", "Number of points in the learnt sets.")

    @property
    def expected_size_(self) -> float:
        return marginal.expected_size(self.process())

    @property
    def n_active_components_(self) -> int:
        return int(active(self._learnt.parameters.U, self.theta_).sum())

    def top_words(
        self, feature_names: ArrayLike | None = None, n_words: int = 10
    ) -> list[list[Any]]:
        """Return the most typical words of each column u of the matrix U.

        Words are ordered by ``P log(P / P0)``. P is the probability that a sentence x has the word
        if x is drawn with weight ``p(x) (u'phi(x))^2``. P0 is the same probability for the weight
        ``p(x) |phi(x)|^2``.

        Parameters
        ----------
        feature_names : array-like of shape (n_features,), default=None
            Words of the columns of X. None takes the names seen in `fit`, or else column numbers.
        n_words : int, default=10
            Maximal number of words for a column.

        Returns
        -------
        words : list of n_components lists
            The most typical word first; empty for a removed column.
        """
        found = marginal.telling_words(self.measure_, self.components_, n_words)
        names = self._names_seen if feature_names is None else feature_names
        names = np.arange(self.n_features_in_) if names is None else names
        names = check_feature_names(names, self.n_features_in_)
        return [list(names[places]) for places in found]

    # Parts

    @property
    def _learnt(self) -> Learnt:
        check_is_fitted(self)
        return self._commit

    @property
    def _form(self) -> Form:
        fitted = self.__sklearn_is_fitted__()
        return (self._commit.totals if fitted else self._no_totals(0)).form

    @property
    def _n_features_out(self) -> int:
        return len(self.theta_)

    def _no_totals(self, n_columns: int) -> Totals:
        if isinstance(self.ground_set, str):
            return LEARNT[self.ground_set].none(n_columns)
        return FixedMeasure(self.ground_set)

    def _points(self, points: Points, method: str) -> Points:
        if column_names(points) is not None:
            check_column_names(self, points, reset=False)
        return self._form.points(points, self.n_features_in_, f"{type(self).__name__}.{method}")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        given = self.ground_set
        is_known = given in LEARNT if isinstance(given, str) else hasattr(given, "form")
        form = self._form if is_known else SENTENCES
        tags.input_tags.sparse = tags.input_tags.two_d_array = form.one_matrix
        tags.input_tags.three_d_array = not form.one_matrix
        tags.input_tags.positive_only = not form.signed
        return tags


def _gain(learnt: Learnt, data: SetBatches) -> Floats:
    values = log_density(data, learnt.parameters)
    others = learnt.totals.independent_log_likelihood(data.sets)
    if others is None:
        mean_size = max(learnt.n_points / max(learnt.n_sets, 1), LEAST_MEAN_SIZE)
        noise = Background(mean_size / data.measure.mass)
        nothing = Parameters(np.zeros((len(data.measure.v), 1)), np.zeros(1), 0.0, noise)
        others = log_density(data, nothing)
    possible = np.isfinite(values) | np.isfinite(others)
    return np.subtract(values, others, where=possible, out=np.zeros(len(values)))
