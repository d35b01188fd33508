# SPDX-License-Identifier: BSD-3-Clause
"""Scorers for scikit-learn's `GridSearchCV`, `cross_validate` and similar functions.

The scorers take the last step of a `Pipeline`, and the best estimator of a fitted search.
"""

from dataclasses import dataclass

from streamtopics.metrics.coherence import topic_coherence
from streamtopics.metrics.predictive import (
    check_components,
    check_same_names,
    log_predictive_probability,
)
from streamtopics.metrics.relevance import relevant_words
from streamtopics.metrics.similarity import topic_diversity
from streamtopics.utils.steps import as_found, counted, last_step


@dataclass(frozen=True)
class PredictiveScorer:
    """Scorer by `log_predictive_probability`; NaN without held-out tokens.

    Choose hyper-parameters by this scorer. Compare only models for the same columns of X.

    Parameters
    ----------
    random_state : int, default=0
        Seed of `completion_split`.

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

    def __call__(self, estimator: object, X: object, y: object = None) -> float:
        return log_predictive_probability(as_found(estimator), X, random_state=self.random_state)


@dataclass(frozen=True)
class CoherenceScorer:
    """Scorer by the mean `topic_coherence` of all topics on the test documents.

    Do not choose the number of topics by coherence, because scores of small test sets are noisy.

    Parameters
    ----------
    measure : {"npmi", "c_v", "umass", "uci"}, default="npmi"
        As in `topic_coherence`.
    n_words : int, default=10
        Top words per topic, at least 2.

    Examples
    --------
    >>> from sklearn.decomposition import LatentDirichletAllocation
    >>> from streamtopics.metrics import CoherenceScorer
    >>> X = [[4, 3, 0, 0], [2, 2, 0, 0], [0, 0, 5, 4]]
    >>> model = LatentDirichletAllocation(n_components=2, random_state=0).fit(X)
    >>> round(CoherenceScorer(n_words=2)(model, X), 4)  # top words always occur together
    1.0
    """

    measure: str = "npmi"
    n_words: int = 10

    def __call__(self, estimator: object, X: object, y: object = None) -> float:
        estimator = as_found(estimator)
        model, X = last_step(estimator), counted(estimator, X)
        check_same_names(model, X)
        columns = relevant_words(check_components(model), n_words=self.n_words)
        return float(topic_coherence(columns, X, measure=self.measure).mean())


@dataclass(frozen=True)
class DiversityScorer:
    """Scorer by `topic_diversity`; the test documents are not used.

    Parameters
    ----------
    n_words : int, default=10
        Top words per topic, at least 1.
    """

    n_words: int = 10

    def __call__(self, estimator: object, X: object = None, y: object = None) -> float:
        components = check_components(last_step(as_found(estimator)))
        return topic_diversity(relevant_words(components, n_words=self.n_words))
