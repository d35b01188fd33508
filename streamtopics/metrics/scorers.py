# SPDX-License-Identifier: BSD-3-Clause
"""Scorers for scikit-learn's `GridSearchCV`, `cross_validate` and the like.

Each is a callable (estimator, X, y=None) -> float, higher is better, made from its
options; it can be compared and pickled. Of a `Pipeline` the last step is scored, on X as the
steps before it transform it; of a fitted search, what it found to be best.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from streamtopics.metrics.coherence import MEASURES, topic_coherence, topic_diversity
from streamtopics.metrics.left_to_right import left_to_right
from streamtopics.metrics.predictive import (
    check_components,
    log_predictive_probability,
    per_token,
    perplexity,
)
from streamtopics.metrics.relevance import relevant_words
from streamtopics.utils.checks import check_integer, check_one_of, within_floats
from streamtopics.utils.steps import as_found, counted, last_step
from streamtopics.utils.structure import check_structure, is_sparse


@dataclass(frozen=True)
class PredictiveScorer:
    """Scorer by `log_predictive_probability`, nats per held-out token.

    The one to choose hyper-parameters by: comparable between all topic models. NaN if X has no
    tokens to hold out.

    Parameters
    ----------
    random_state : int, default=0
        Of the split of each test document's tokens.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.model_selection import GridSearchCV
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.metrics import PredictiveScorer
    >>> X = np.kron(np.eye(2), np.full((20, 5), 10.0))  # two topics that share no word
    >>> X = X[np.random.default_rng(0).permutation(40)]
    >>> model = SVBLDA(random_state=0)
    >>> search = GridSearchCV(model, {"n_components": [1, 2, 3]}, scoring=PredictiveScorer())
    >>> search.fit(X).best_params_
    {'n_components': 2}
    """

    random_state: int = 0

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        return log_predictive_probability(
            *_model_and_counts(estimator, X), random_state=self.random_state
        )


@dataclass(frozen=True)
class PerplexityScorer:
    """Scorer by `perplexity`, negated; it ranks models on a test set as `PredictiveScorer` does.

    NaN if X has no tokens to hold out.

    Parameters
    ----------
    random_state : int, default=0
        Of the split of each test document's tokens.

    Examples
    --------
    >>> from sklearn.decomposition import LatentDirichletAllocation
    >>> from streamtopics.metrics import perplexity, PerplexityScorer
    >>> X = [[4, 3, 0, 1], [0, 1, 5, 4]]
    >>> model = LatentDirichletAllocation(n_components=2, random_state=0).fit(X)
    >>> PerplexityScorer()(model, X) == -perplexity(model, X)
    True
    """

    random_state: int = 0

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        return -perplexity(*_model_and_counts(estimator, X), random_state=self.random_state)


@dataclass(frozen=True)
class LeftToRightScorer:
    """Scorer by `left_to_right`, nats per token; for estimators with `doc_topic_prior_`.

    NaN if X has no tokens.

    Parameters
    ----------
    n_particles : int, default=20
        Fewer than the function's: a mean over many documents needs less.
    n_resampled : int or None, default=5
        As in `left_to_right`.
    random_state : int, default=0
        As in `left_to_right`.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.metrics import LeftToRightScorer
    >>> X = [[1, 0, 2], [0, 3, 1]]
    >>> LeftToRightScorer()(SVBLDA(n_components=1).fit(X), X) < 0
    True
    """

    n_particles: int = 20
    n_resampled: int | None = 5
    random_state: int = 0

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        model, counts = _model_and_counts(estimator, X)
        components = check_components(model)
        result = left_to_right(
            counts,
            components / components.sum(axis=1, keepdims=True),
            model.doc_topic_prior_,
            n_particles=self.n_particles,
            n_resampled=self.n_resampled,
            random_state=self.random_state,
        )
        return per_token(result.log_likelihood, _n_tokens(counts))


@dataclass(frozen=True)
class ParticleScorer:
    """Scorer by the particle estimate of the likelihood, nats per token, for `WASTopicModel`.

    Unlike `score` it asks for whole documents. NaN if they have no tokens.

    Parameters
    ----------
    n_particles : int, default=100
        More make it dearer and less low.
    random_state : int, default=0
        Of the particles.

    Examples
    --------
    >>> from streamtopics import WASTopicModel
    >>> from streamtopics.metrics import ParticleScorer
    >>> documents = [[[1, 0, 2], [0, 3, 0]], [[1, 1, 1]]]
    >>> model = WASTopicModel(1, n_sweeps=2, n_burn_in=1, random_state=0).fit(documents)
    >>> ParticleScorer()(model, documents) < 0
    True
    """

    n_particles: int = 100
    random_state: int = 0

    def __post_init__(self) -> None:
        check_integer(n_particles=self.n_particles)

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        model, documents = _model_and_counts(estimator, X)
        if is_sparse(documents):
            raise TypeError(
                "X must be documents, each as a matrix of its sentences; got one sparse matrix of "
                f"shape {documents.shape}. Pass a list of such matrices"
            )
        if not hasattr(model, "log_likelihood"):
            raise TypeError(
                "estimator must be a fitted model with log_likelihood, such as WASTopicModel, or a "
                f"search with refit=True that found one; got {type(model).__name__}"
            )
        documents = list(documents)
        found = model.log_likelihood(
            documents, n_particles=self.n_particles, random_state=self.random_state
        )
        n_tokens = sum(np.sum(document) for document in documents)
        return per_token(found, float(n_tokens))


@dataclass(frozen=True)
class CoherenceScorer:
    """Scorer by the mean of `topic_coherence` over topics, on the test documents.

    It does not say how many topics there should be, and is noisy on small test sets.

    Parameters
    ----------
    measure : {"npmi", "c_v", "umass", "uci"}, default="npmi"
        See `topic_coherence`.
    n_words : int, default=10
        Top words of each topic, at least 2; at most the number of features are taken.

    Raises
    ------
    TypeError
        If `n_words` is no integer.
    ValueError
        If `measure` is unknown or `n_words` is less than 2.

    Examples
    --------
    >>> from sklearn.decomposition import LatentDirichletAllocation
    >>> from streamtopics.metrics import CoherenceScorer
    >>> X = [[4, 3, 0, 0], [2, 2, 0, 0], [0, 0, 5, 4]]
    >>> model = LatentDirichletAllocation(n_components=2, random_state=0).fit(X)
    >>> round(CoherenceScorer(n_words=2)(model, X), 4)
    1.0
    """

    measure: str = "npmi"
    n_words: int = 10

    def __post_init__(self) -> None:
        check_one_of(MEASURES, measure=self.measure)
        check_integer(least=2, n_words=self.n_words)

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        model, X = _model_and_counts(estimator, X)
        return float(
            topic_coherence(_top_columns(model, self.n_words), X, measure=self.measure).mean()
        )


@dataclass(frozen=True)
class DiversityScorer:
    """Scorer by `topic_diversity`; the test documents do not matter to it.

    Parameters
    ----------
    n_words : int, default=10
        Top words of each topic; at most the number of features are taken.

    Raises
    ------
    TypeError
        If `n_words` is no integer.
    ValueError
        If `n_words` is less than 1.

    Examples
    --------
    >>> from sklearn.decomposition import LatentDirichletAllocation
    >>> from streamtopics.metrics import DiversityScorer
    >>> X = [[4, 3, 0, 0], [2, 2, 0, 0], [0, 0, 5, 4]]
    >>> model = LatentDirichletAllocation(n_components=2, random_state=0).fit(X)
    >>> DiversityScorer(n_words=2)(model, X)
    1.0
    """

    n_words: int = 10

    def __post_init__(self) -> None:
        check_integer(n_words=self.n_words)

    def __call__(self, estimator: Any, X: Any = None, y: Any = None) -> float:
        return topic_diversity(_top_columns(last_step(as_found(estimator)), self.n_words))


def _model_and_counts(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The topic model, and X as it sees it."""
    check_structure(X, "a scorer")
    estimator = as_found(estimator)
    return last_step(estimator), counted(estimator, X)


def _n_tokens(counts: Any) -> float:
    """The sum of counts; SciPy's own may put the entries of what was passed in order."""
    with within_floats("X"):
        counts = check_array(counts, accept_sparse="csr", dtype=np.float64, ensure_min_samples=0)
    return float(np.sum(counts.data if is_sparse(counts) else counts))


def _top_columns(model: Any, n_words: int) -> np.ndarray:
    """Columns of the most probable words of each topic, `n_words` or all there are."""
    return relevant_words(check_components(model), n_words=n_words)
