# SPDX-License-Identifier: BSD-3-Clause
"""Bayesian models of dense samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import ClassifierTags, RegressorTags, Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from streamtopics.base.frame import NO_WEIGHTS, Commit
from streamtopics.base.glossary import documented
from streamtopics.base.retention import ReportsRetention
from streamtopics.base.typing import OptionalArray, RandomState
from streamtopics.base.validation import COMMON_CONSTRAINTS
from streamtopics.estimators.by_rule import LearnsByRule
from streamtopics.models.dense_model import DenseModel
from streamtopics.posteriors import Blend, DensePosterior, Learn
from streamtopics.updates import SVB
from streamtopics.updates.drift import drift_of, kept_records
from streamtopics.updates.rule import Rule
from streamtopics.utils.parallel import Workers
from streamtopics.utils.records import is_record, keep, of_record
from streamtopics.utils.structure import check_structure, labelled, row_labels

# Methods with required targets, if the model has targets.
NEED_TARGETS = "fit", "partial_fit", "score"
# Greater numbers have squares and sums that could overflow.
MOST = 1e75


def _model_can(method: str) -> Callable[[StreamingBayes], bool]:
    return lambda estimator: getattr(estimator.model, method, None) is not None


@dataclass(frozen=True)
class Samples:
    X: np.ndarray
    y: np.ndarray | None

    @property
    def n_documents(self) -> int:
        return len(self.X)

    @property
    def n_tokens(self) -> float:
        return float(self.X.size)

    def cut(self, size: int) -> Iterator[Samples]:
        for start in range(0, len(self.X), size):
            rows = slice(start, start + size)
            yield Samples(self.X[rows], None if self.y is None else self.y[rows])


@documented
class StreamingBayes(
    TransformerMixin, ClassNamePrefixFeaturesOutMixin, ReportsRetention, LearnsByRule
):
    """A Bayesian model of dense samples with a posterior that follows a stream.

    At each minibatch the update rule keeps all of the posterior (`SVB`), a fixed share
    (`PowerPrior`, `PopulationVB`), or a share learnt from the stream (`HierarchicalPowerPrior`).
    Fields of the model and of the rule are parameters: ``model__n_components``, ``update__rho``.

    Parameters
    ----------
    model : BetaBinomial, LinearRegression, GaussianMixture or another model
        A dataclass of `streamtopics.models`, or your own subclass of
        `streamtopics.models.dense_model.DenseModel`.
    update : rule of `streamtopics.updates`, default=None
        How the posterior learns a minibatch. None is ``SVB()``.
    boosted_prior : object, default=None
        A model of the same class as `model`, with the same `fit_intercept` or `mean`, if any. A
        rule that boosts adds the prior of `boosted_prior` with every minibatch. None is `model`.
        The stream starts from the prior of `model`, and forgetting leads back to this prior.
    batch_size : int, default=1000
        Rows of a minibatch in `fit`.
    max_iter : int, default=1
        Passes of `fit` over the data. Each pass after the first counts the data again.
    random_state : int, RandomState instance or None, default=None
        Seed of the random start of mixtures.
    verbose : int, default=0
        1 shows the progress of `fit`.

    Attributes
    ----------
    posterior_ : DensePosterior
        Natural parameters of the nodes. A node is a distribution of the model, such as a component
        of a mixture.
    model_, boosted_prior_ : object
        The values of `model` and `boosted_prior` at the first minibatch, used ever since.
    retention_ : ndarray of shape (n_nodes,)
        Share of each node's earlier counts that the rule kept at the last minibatch.
    retention_history_ : ndarray of shape (n_minibatches, n_nodes)
        `retention_` after each of the last thousand minibatches.
    effective_sample_size_ : ndarray of shape (n_nodes,)
        Weight of each node's posterior, with the prior, in samples; precision of Gaussian nodes.
    classes_ : ndarray of shape (n_classes,)
        Numbers of the classes, from 0 on, if the model has classes.
    n_batch_iter_, n_samples_seen_, n_iter_ : int
        Numbers of minibatches and samples learnt in all passes, and of passes of `fit`.
    n_features_in_, feature_names_in_ : int, ndarray of shape (n_features,)
        Number of columns of X, and names if X had names.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import StreamingBayes
    >>> from streamtopics.models import LinearRegression
    >>> from streamtopics.updates import HierarchicalPowerPrior
    >>> rng = np.random.default_rng(0)
    >>> model = StreamingBayes(LinearRegression(), HierarchicalPowerPrior())
    >>> for slope in (1.0, 1.0, 1.0, -1.0):  # The rule forgets when the slope changes.
    ...     X = rng.normal(size=(100, 3))
    ...     model = model.partial_fit(X, slope * X[:, 0] + 0.1 * rng.normal(size=100))
    >>> model.retention_history_.ravel().round(1)
    array([1., 1., 1., 0.])
    """

    __metadata_request__score: ClassVar[dict[str, Any]] = NO_WEIGHTS
    _units = ("samples", "values")
    model_: Any
    boosted_prior_: Any
    _records: ClassVar[dict[str, dict[Any, Any]]] = {
        "model": {},
        "update": {None: SVB()},
        "boosted_prior": {},
    }
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS | {
        "model": "no_validation",
        "boosted_prior": "no_validation",
    }
    model: DenseModel

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
        keep(self, locals())

    def fit(self, X: ArrayLike, y: OptionalArray = None) -> Self:
        """Learn from data, in minibatches of `batch_size` rows.

        {learns_corpus}

        {samples, targets}

        {returns_self}
        """
        return self._fit(X=X, y=y)

    def partial_fit(
        self, X: ArrayLike, y: OptionalArray = None, classes: OptionalArray = None
    ) -> Self:
        """Learn from one minibatch by one step of the update rule.

        {learns_minibatch}

        {samples, targets}
        classes : array-like of shape (n_classes,), default=None
            Ignored: the model gives the number of classes.

        {returns_self}
        """
        return self._partial_fit(X=X, y=y)

    def _read(self, method: str, *, reset: bool = False, X: Any, y: Any = None) -> Samples:
        if not reset:
            check_is_fitted(self)
        model, caller = self.model if reset else self.model_, f"{type(self).__name__}.{method}"
        targets = {}
        if model.needs_target and (y is not None or method in NEED_TARGETS):
            check_structure(y, caller, "y")
            targets = {"y": y, "y_numeric": True}
        check_structure(X, caller)
        found = validate_data(
            self,
            X,
            **targets,
            reset=reset,
            dtype=np.float64,
            ensure_all_finite="allow-nan",
            ensure_min_samples=0 if method == "partial_fit" else 1,
        )
        X, y = (found[0], found[1].astype(np.float64)) if targets else (found, None)
        if not model.accepts_missing and np.isnan(X).any():
            raise ValueError(
                f"X contains NaN, but {type(model).__name__} cannot learn with missing values; "
                "impute values, or leave these rows out"
            )
        for name, values in (("X", X), ("y", y)):
            if values is not None and (np.abs(values) > MOST).any():
                raise ValueError(f"{name} has values beyond {MOST:g}; scale {name}")
        return Samples(X, y)

    def _check(self, before: Commit | None) -> None:
        if not (is_record(self.model) and isinstance(self.model, DenseModel)):
            raise TypeError(
                "model must be a record that derives from DenseModel, such as LinearRegression(); "
                f"got {self.model!r}"
            )
        offers = DensePosterior.offers | {"local_bound"}  # Models report their bound.
        started = {}
        if before is not None:
            started = {"model": self.model_, "boosted_prior": self.boosted_prior_}
        self._check_rule(before, offers, f"the posterior of {type(self.model).__name__}", **started)

    def _start(self, batch: Samples) -> None:
        self.seed_ = self._draw_seed()
        self.model_, self.boosted_prior_ = model, boosted = self.model, self.boosted_prior
        posterior = model.posterior(batch.X)
        if boosted is not None:
            means = [attrgetter(path) for path in model.coordinates]
            if type(boosted) is not type(model) or any(own(boosted) != own(model) for own in means):
                raise ValueError(
                    f"boosted_prior must be a {type(model).__name__} like model, with the same "
                    f"{[*model.coordinates]}; got {boosted!r}"
                )
            posterior = posterior.boosting(boosted.posterior(batch.X))
        posterior.seed = self.seed_
        # Refuses bad samples before anything is learnt.
        model.learner(posterior, batch.X, batch.y, self.seed_)
        self._commit = self._first_commit(posterior)

    def _learner(self, batch: Samples, pool: Workers) -> Learn:
        learn: Learn = self.model_.learner(self.posterior_, batch.X, batch.y, self.seed_)
        return learn

    def _learn(self, batch: Samples, pool: Workers) -> None:
        try:
            super()._learn(batch, pool)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                f"{type(self.model_).__name__} found no solution: columns of X depend on each "
                "other but for rounding, or lie far from 0 for their spread; centre and scale them"
            ) from error

    def _reported(self, blend: Blend) -> dict[str, Any]:
        record = drift_of(self.posterior_, blend, None)
        return {"drift": kept_records(self._commit.drift, record)}

    def score_samples(self, X: ArrayLike, y: OptionalArray = None) -> np.ndarray:
        """Return the log density of each sample under the posterior predictive distribution.

        Without `y` the result is the log density of X alone. For a model of
        targets only, such as `LinearRegression`, this log density is 0.

        {samples, targets}

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
            Log densities in nats.
        """
        return self._density("score_samples", X, y)

    def score(self, X: ArrayLike, y: OptionalArray = None) -> float:
        """Return the mean log predictive density of the samples, in nats.

        {samples, targets}

        Returns
        -------
        score : float
            Mean of `score_samples`.
        """
        return float(self._density("score", X, y).mean())

    def _density(self, method: str, X: ArrayLike, y: OptionalArray) -> np.ndarray:
        batch = self._read(method, X=X, y=y)
        return self._whole(lambda: self.model_.log_predictive(self.posterior_, batch.X, batch.y))

    @available_if(_model_can("predict"))
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Return the expected target, or the most probable component or class, of each sample.

        {samples}

        Returns
        -------
        prediction : ndarray of shape (n_samples,)
        """
        return self._predicted(X, "predict")

    @available_if(_model_can("predict_proba"))
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Return the probability of each component of a mixture, or of each class.

        {samples}

        Returns
        -------
        probability : ndarray of shape (n_samples, n_components or n_classes)
            Rows sum to 1.
        """
        return self._predicted(X, "predict_proba")

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return the probability of each component, or the result of your own model's `transform`.

        {samples}

        Returns
        -------
        representation : ndarray of shape (n_samples, n_features_out)
            For a mixture, a column for each component; rows sum to 1.
        """
        return labelled(self, self._predicted(X, "transform"), row_labels(X))

    @property
    def _n_features_out(self) -> int:
        if self.model_.transform is None:  # `dir` asks for every attribute.
            raise AttributeError("the model has no transform")
        one = np.zeros((1, self.n_features_in_))
        return int(self.model_.transform(self.posterior_, one).shape[1])

    def _predicted(self, X: Any, method: str) -> np.ndarray:
        batch = self._read(method, X=X)
        predicted = self._whole(lambda: getattr(self.model_, method)(self.posterior_, batch.X))
        return np.asarray(predicted)

    @property
    def classes_(self) -> np.ndarray:
        check_is_fitted(self)
        if self.model_.n_classes is None:
            raise AttributeError(f"{self.model_} has no classes; use NaiveBayesMixture")
        return np.arange(self.model_.n_classes)

    effective_sample_size_ = of_record(
        "posterior.mass", "Weight of each node, with its prior, in samples, or its precision."
    )
    n_samples_seen_ = of_record("posterior.n_documents", "Number of learnt samples, in all passes.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        model = self.model
        tags.target_tags.required = model.needs_target
        tags.input_tags.allow_nan = model.accepts_missing
        # Scores are log densities without a scale of their own.
        if model.n_classes is not None:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags(poor_score=True, multi_class=model.n_classes > 2)
        elif model.needs_target and model.predict_proba is None:
            tags.estimator_type = "regressor"
            tags.regressor_tags = RegressorTags(poor_score=True)
        if model.transform is None:
            tags.transformer_tags = None  # type: ignore[assignment]
        return tags


# Here, because scikit-learn's wrapper for `set_output` would undo it at the methods.
for _name in ("transform", "fit_transform", "get_feature_names_out"):
    _method = getattr(StreamingBayes, _name)
    setattr(StreamingBayes, _name, available_if(_model_can("transform"))(_method))
