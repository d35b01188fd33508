# SPDX-License-Identifier: BSD-3-Clause
"""Any model of the dense kind, learnt from a stream by any update rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import ClassifierTags, RegressorTags, Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from streamtopics.base.drift import KEPT_MINIBATCHES
from streamtopics.base.frame import (
    NO_WEIGHTS,
    Commit,
    StreamingEstimator,
    check_same_state,
    check_update,
    warn_of_no_boost,
)
from streamtopics.base.glossary import documented
from streamtopics.base.typing import OptionalArray, RandomState
from streamtopics.base.validation import POSITIVE_INT
from streamtopics.models.dense_model import DenseModel, check_codes
from streamtopics.posteriors import DensePosterior
from streamtopics.updates import SVB
from streamtopics.updates.rule import Rule
from streamtopics.utils.checks import check_not_masked
from streamtopics.utils.output import labelled, row_labels
from streamtopics.utils.parallel import Workers
from streamtopics.utils.records import is_record, same
from streamtopics.utils.structure import check_structure

# Greater numbers have squares and sums that could overflow.
MOST = 1e75
DEGENERATE = (
    "columns of X depend on each other but for rounding, or lie far from 0 for their spread; "
    "centre and scale them"
)


def _model_can(method: str) -> Callable[[StreamingBayes], bool]:
    """Whether the model has a method; for `available_if`."""
    return lambda estimator: _has(_known_model(estimator), method)


def _has(model: object, method: str) -> bool:
    return getattr(model, method, None) is not None


def _n_classes(model: object) -> int | None:
    """Number of classes that a model has targets of, numbered from 0; None for another model."""
    found = getattr(model, "n_classes", None)
    return found if getattr(model, "needs_target", False) and _has(model, "predict_proba") else None


def _known_model(estimator: StreamingBayes) -> Any:
    """The model that an estimator has learnt by, or else its parameter."""
    return vars(estimator).get("model_", estimator.model)


def _transforms_if_its_model_does(cls: type[StreamingBayes]) -> type[StreamingBayes]:
    """Take the methods of transformers from objects whose model has no `transform`.

    Not at the methods themselves: scikit-learn's wrapper for `set_output` would undo it.
    """
    offered: dict[str, Callable[[StreamingBayes], bool]] = {
        # A pipeline looks for it before it fits by the parameter.
        "transform": lambda one: _has(one.model, "transform") or _model_can("transform")(one),
        "fit_transform": lambda one: _has(one.model, "transform"),
        "get_feature_names_out": _model_can("transform"),
    }
    for name, check in offered.items():
        setattr(cls, name, available_if(check)(getattr(cls, name)))
    return cls


@dataclass(frozen=True)
class Samples:
    """Samples to learn from, with targets where the model has any."""

    X: np.ndarray
    y: np.ndarray | None

    @property
    def n_documents(self) -> int:
        return len(self.X)

    @property
    def n_tokens(self) -> float:
        return float(self.X.size)

    def cut(self, size: int) -> Iterator[Samples]:
        """Batches of `size` samples, in order."""
        for start in range(0, len(self.X), size):
            rows = slice(start, start + size)
            yield Samples(self.X[rows], None if self.y is None else self.y[rows])


@dataclass(frozen=True)
class BayesCommit(Commit):
    """All that a step changes: also the shares retained by the last thousand minibatches."""

    _holds = "retentions: nan"
    retentions: tuple[np.ndarray, ...] = ()


@documented
@_transforms_if_its_model_does
class StreamingBayes(TransformerMixin, ClassNamePrefixFeaturesOutMixin, StreamingEstimator):
    """A Bayesian model whose posterior follows a stream.

    The model says what a minibatch means, the rule how the posterior takes it in: all of
    it (`SVB`), at a fixed rate of forgetting (`PowerPrior`, `PopulationVB`), or at rates
    that it learns from the stream (`HierarchicalPowerPrior`). Their fields are parameters
    of this estimator: ``update__rho``, ``model__n_components``.

    Parameters
    ----------
    model : BetaBinomial, LinearRegression, GaussianMixture or another model
        A frozen record of `streamtopics.models`, or one of your own with the same
        methods.
    update : rule of `streamtopics.updates`, default=None
        A frozen record as well; None stands for ``SVB()``.
    boosted_prior : object, default=None
        A model of the same kind and `coordinates` as `model`, whose prior is what the update
        boosts, if it boosts; None for that of `model`, which the stream starts from and forgets to.
    batch_size : int, default=1000
        Rows of a minibatch in `fit`.
    max_iter : int, default=1
        Passes over the data in `fit`. More than one count the data as often.
    random_state : int, RandomState instance or None, default=None
        Of the random start that mixtures need.
    verbose : int, default=0
        1 shows how far `fit` has come.

    Attributes
    ----------
    posterior_ : DensePosterior
        Natural parameters of the model's nodes.
    model_, boosted_prior_ : object
        The model that it belongs to, and the one whose prior it boosts.
    retention_ : ndarray of shape (n_nodes,)
        Share of each node that the last minibatch left.
    retention_history_ : ndarray of shape (n_minibatches, n_nodes)
        The same for each of the last thousand minibatches.
    effective_sample_size_ : ndarray of shape (n_nodes,)
        Samples that each node stands for, its prior's included.
    classes_ : ndarray of shape (n_classes,)
        Numbers of the classes, from 0 on, whether or not they came: of a model with classes only.
    n_batch_iter_ : int
        Minibatches learnt from.
    n_samples_seen_ : int
        Samples learnt from, counting repeated passes.
    n_iter_ : int
        Passes that `fit` finished.
    n_features_in_ : int
        Columns of X.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X had any.

    See Also
    --------
    SVBHPP : Topics that drift.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import StreamingBayes
    >>> from streamtopics.models import LinearRegression
    >>> from streamtopics.updates import HierarchicalPowerPrior
    >>> rng = np.random.default_rng(0)
    >>> model = StreamingBayes(LinearRegression(), HierarchicalPowerPrior())
    >>> for slope in (1.0, 1.0, 1.0, -1.0):
    ...     X = rng.normal(size=(100, 3))
    ...     model = model.partial_fit(X, slope * X[:, 0] + 0.1 * rng.normal(size=100))
    >>> model.retention_history_.ravel().round(1)
    array([1., 1., 1., 0.])
    >>> model.predict([[2.0, 0.0, 0.0]]).round()
    array([-2.])
    """

    __metadata_request__score: ClassVar[dict[str, Any]] = NO_WEIGHTS
    _units = ("samples", "values")
    model_: Any
    boosted_prior_: Any
    _records: ClassVar[dict[str, dict[str, Any]]] = {"model": {}, "update": {}, "boosted_prior": {}}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "model": "no_validation",
        "update": "no_validation",
        "boosted_prior": "no_validation",
        "batch_size": [POSITIVE_INT],
        "max_iter": [POSITIVE_INT],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        model: DenseModel,
        update: Rule | None = None,
        *,
        boosted_prior: DenseModel | None = None,
        batch_size: int = 1000,
        max_iter: int = 1,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.update = update
        self.boosted_prior = boosted_prior
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    # Learning

    def fit(self, X: ArrayLike, y: OptionalArray = None) -> Self:
        """Learn from data, in minibatches of `batch_size` rows, in order.

        {learns_corpus}

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Samples; NaN for missing values, if the model allows them.
        y : array-like of shape (n_samples,), default=None
            Targets, if the model has any.

        {returns_self}
        """
        return self._fit(X=X, y=y)

    def partial_fit(
        self, X: ArrayLike, y: OptionalArray = None, classes: OptionalArray = None
    ) -> Self:
        """Learn from one minibatch: one step of the update rule.

        {learns_minibatch}

        {samples}
        y : array-like of shape (n_samples,), default=None
            Targets, where the model has any.
        classes : array-like of shape (n_classes,), default=None
            Classes that may come in the stream, as scikit-learn tells them to classifiers. The
            model knows them: they only have to be among its own.

        Returns
        -------
        self : object
            The estimator.
        """
        return self._partial_fit(X=X, y=y, classes=classes)

    def _read(self, method: str, *, reset: bool, X: Any, y: Any, classes: Any = None) -> Samples:
        model = self.model if reset else _known_model(self)
        if classes is not None:
            _check_classes(classes, model, f"{type(self).__name__}.{method}")
        target = model.needs_target
        return Samples(*self._data(method, model, X, y, target=target, reset=reset))

    def _check(self, before: BayesCommit | None) -> None:
        for name in ("model", "boosted_prior"):
            value = getattr(self, name)
            given = value is not None or name == "model"
            if given and not (is_record(value) and hasattr(value, "log_predictive")):
                raise TypeError(
                    f"{name} must be a record with the method 'log_predictive', such as "
                    f"LinearRegression(); got {value!r}"
                )
        offers = DensePosterior.offers | {"local_bound"}  # Models report their bound.
        check_update(
            self.update, None, self._rule, offers, f"the posterior of {type(self.model).__name__}"
        )
        if before is None:
            return
        for name, started in (("model", self.model_), ("boosted_prior", self.boosted_prior_)):
            now = getattr(self, name)
            if not same(now, started):
                raise ValueError(
                    f"{name} is {now} now, but the stream was started with {started}; set it back, "
                    "or start anew with fit"
                )
        check_same_state(self._rule, before.update, before.state, before.posterior)

    def _start(self, batch: Samples) -> None:
        self.seed_ = self._draw_seed()
        self.model_, self.boosted_prior_ = self.model, self.boosted_prior
        posterior = self.model.posterior(batch.X)
        if self.boosted_prior is not None:
            self._check_coordinates()
            posterior = posterior.boosting(self.boosted_prior.posterior(batch.X))
        posterior.seed = self.seed_
        # Refuses what it cannot learn from, while nothing is learnt.
        self.model.learner(posterior, batch.X, batch.y, self.seed_)
        self._commit = BayesCommit(posterior, self._rule.init(posterior), 0, self._rule)

    def _check_coordinates(self) -> None:
        """Refuse two priors whose natural parameters do not mean the same."""
        model, other = self.model, self.boosted_prior
        means = [attrgetter(path) for path in model.coordinates]
        if type(other) is not type(model) or any(own(other) != own(model) for own in means):
            raise ValueError(
                f"boosted_prior must be a {type(model).__name__} like model, with the same "
                f"{[*model.coordinates]}; got {other!r}"
            )

    def _learn(self, batch: Samples, pool: Workers) -> None:
        commit, rule = self._commit, self._rule
        posterior = commit.posterior
        try:
            learn = self.model_.learner(posterior, batch.X, batch.y, self.seed_)
            blend, state = rule.step(posterior, learn, commit.state)
        except np.linalg.LinAlgError as error:
            name = type(self.model_).__name__
            raise ValueError(f"{name} found no solution: {DEGENERATE}") from error
        if self.boosted_prior is not None:
            warn_of_no_boost(blend, "an update with a boost, such as PowerPrior(0.9, Boost(0.1))")
        retained = np.broadcast_to(blend.retain, posterior.n_nodes).astype(np.float64)
        kept = (*commit.retentions[1 - KEPT_MINIBATCHES :], retained)
        new = replace(commit, state=state, update=rule, retentions=kept)
        posterior.blend(blend, [(vars(self), "_commit", new)])

    @property
    def _rule(self) -> Rule:
        return SVB() if self.update is None else self.update

    def _data(
        self,
        method: str,
        model: DenseModel,
        X: Any,
        y: OptionalArray = None,
        *,
        target: bool = False,
        reset: bool = False,
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """X and y as arrays of float64, y None unless it is asked for."""
        targets = {"y": y} if target else {}
        caller = f"{type(self).__name__}.{method}"
        check_structure(X, caller)
        if target:
            check_not_masked(y, caller, "y")
        found = validate_data(
            self,
            X,
            **targets,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            ensure_min_samples=0 if method == "partial_fit" else 1,
        )
        X, y = (found[0], _numbers(found[1], "y")) if target else (found, None)
        if not model.allows_missing and np.isnan(X).any():
            raise ValueError(
                f"X contains NaN, but {type(model).__name__} cannot leave out what is missing; "
                "impute it, or leave those rows out"
            )
        for name, values in (("X", X), ("y", y)):
            if values is not None and (np.abs(values) > MOST).any():
                raise ValueError(f"{name} has values beyond {MOST:g}; scale it")
        return X, y

    # Prediction

    def fit_transform(self, X: ArrayLike, y: OptionalArray = None) -> np.ndarray:
        """`fit`, then `transform` of the same samples.

        {samples_and_targets}

        Returns
        -------
        representation : ndarray of shape (n_samples, n)
        """
        return self.fit(X, y).transform(X)

    def score_samples(self, X: ArrayLike, y: OptionalArray = None) -> np.ndarray:
        """Log density of each sample under the posterior predictive distribution.

        Targets that are not given are integrated out: what is left is the density of the
        inputs, and for a model that has none of these, such as `LinearRegression`, 0.

        {samples_and_targets}

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            In nats.
        """
        check_is_fitted(self)
        target = y is not None and self.model_.needs_target
        X, y = self._data("score_samples", self.model_, X, y, target=target)
        return self._whole(lambda: self.model_.log_predictive(self.posterior_, X, y))

    def score(self, X: ArrayLike, y: OptionalArray = None) -> float:
        """Log predictive density, in nats per sample; higher is better.

        {samples_and_targets}

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        X, y = self._data("score", self.model_, X, y, target=self.model_.needs_target)
        density = self._whole(lambda: self.model_.log_predictive(self.posterior_, X, y))
        return float(density.mean())

    @available_if(_model_can("predict"))
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict a target, or the most probable component or class.

        {samples}

        Returns
        -------
        prediction : ndarray of shape (n_samples,)
        """
        return self._predicted(X, "predict")

    @available_if(_model_can("predict_proba"))
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Probability of each component or class.

        {samples}

        Returns
        -------
        probability : ndarray of shape (n_samples, n)
            Rows sum to 1.
        """
        return self._predicted(X, "predict_proba")

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Transform samples as the model does, such as into memberships in components.

        {samples}

        Returns
        -------
        representation : ndarray of shape (n_samples, n)
        """
        return labelled(self, self._predicted(X, "transform"), row_labels(X))

    @property
    def _n_features_out(self) -> int:
        one = np.zeros((1, self.n_features_in_))
        return int(self.model_.transform(self.posterior_, one).shape[1])

    def _predicted(self, X: Any, method: str) -> np.ndarray:
        check_is_fitted(self)
        X, _ = self._data(method, self.model_, X)
        return np.asarray(getattr(self.model_, method)(self.posterior_, X))

    # What was learnt

    @property
    def classes_(self) -> np.ndarray:
        """Numbers of the classes of the model, from 0 on."""
        check_is_fitted(self)
        n_classes = _n_classes(self.model_)
        if n_classes is None:
            raise AttributeError(
                f"{type(self).__name__} has no attribute 'classes_' with {self.model_}, which has "
                "no classes; use a model such as NaiveBayesMixture"
            )
        return np.arange(n_classes)

    @property
    def retention_(self) -> np.ndarray:
        """Share of each node that the last minibatch left; 1 before there was any."""
        check_is_fitted(self)
        records = self._commit.retentions
        return records[-1].copy() if records else np.ones(self.posterior_.n_nodes)

    @property
    def retention_history_(self) -> np.ndarray:
        """`retention_` after each of the last thousand minibatches."""
        check_is_fitted(self)
        records = self._commit.retentions
        return np.reshape(records, (len(records), self.posterior_.n_nodes))

    @property
    def effective_sample_size_(self) -> np.ndarray:
        """Samples that each node stands for, its prior's included."""
        return np.asarray(self.posterior_.mass)

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learnt from, counting repeated passes."""
        return int(self.posterior_.n_documents)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        model = self.model
        tags.target_tags.required = bool(getattr(model, "needs_target", False))
        tags.input_tags.allow_nan = bool(getattr(model, "allows_missing", False))
        if n_classes := _n_classes(model):
            tags.estimator_type = "classifier"
            # As below.
            tags.classifier_tags = ClassifierTags(poor_score=True, multi_class=n_classes > 2)
        elif tags.target_tags.required and not hasattr(model, "predict_proba"):
            tags.estimator_type = "regressor"
            # `score` is a log density, which has no scale of its own.
            tags.regressor_tags = RegressorTags(poor_score=True)
        if not hasattr(model, "transform"):
            tags.transformer_tags = None  # type: ignore[assignment]
        return tags


def _check_classes(classes: OptionalArray, model: object, caller: str) -> None:
    """Refuse classes of a stream that the model does not have."""
    n_classes = _n_classes(model)
    if n_classes is None:
        raise ValueError(
            f"classes, passed to {caller}, is {classes!r:.60}, but {type(model).__name__} has no "
            "classes; leave it out"
        )
    check_not_masked(classes, caller, "classes")
    codes = _numbers(np.asarray(classes), "classes")
    check_codes(codes, n_classes, f"classes, passed to {caller},")


def _numbers(y: np.ndarray, name: str) -> np.ndarray:
    """Targets or classes as float64."""
    # Dates would be days since 1970, and complex numbers would lose a part.
    numbers = y.astype(np.float64) if y.dtype.kind in "biufO" else np.array([np.nan])
    if np.isnan(numbers).any():
        raise ValueError(f"{name} must hold numbers; got {y!r:.60}")
    return numbers
