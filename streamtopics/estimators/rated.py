# SPDX-License-Identifier: BSD-3-Clause
"""What the models of reviews with ratings share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from streamtopics.base.topics import LearntTopics
from streamtopics.metrics import predictive
from streamtopics.models.lda import visible_topics
from streamtopics.models.rated_lda import RatedLDA, single_reviews
from streamtopics.parallel import Workers, workers
from streamtopics.records import RecordParameters
from streamtopics.validation import check_counts

# Squares of larger ratings would overflow.
MOST_RATING = 1e100
MOST_LABEL = np.iinfo(np.int64).max
SWEEPS_OF_TRANSFORM = 100
DOCUMENTS_AT_ONCE = 4096


class RatedTopicModel(RecordParameters, LearntTopics, TransformerMixin, BaseEstimator):
    """Base of the models of reviews with ratings: checks, workers and scores."""

    @contextmanager
    def _workers(self) -> Iterator[Workers]:
        self._validate_params()
        with workers(self.n_jobs) as pool:
            yield pool

    def _counts(self, X: Any, method: str, *, reset: bool = False) -> sparse.csr_matrix:
        caller = f"{type(self).__name__}.{method}"
        return check_counts(self, X, reset=reset, caller=caller, allow_no_documents=method != "fit")

    def _check_continuable(self) -> None:
        """Whether the parameters still fit the posterior."""
        n_topics = self.posterior_.shape[1]
        if self.n_components != n_topics:
            raise ValueError(
                f"n_components is {self.n_components} now, but the model has {n_topics} topics; "
                "set it back, or start anew with fit"
            )

    @property
    def topic_word_prior_(self) -> np.ndarray:
        """Pseudo-counts of words in each topic before any is seen, of shape (n_features,)."""
        check_is_fitted(self)
        return np.broadcast_to(self.posterior_.eta[:, 0], self.posterior_.shape[:1]).copy()

    def _gamma(self, X: sparse.csr_matrix, view: Callable, pool: Workers) -> np.ndarray:
        """Dirichlet parameters of q(theta) of documents, with nothing but plain topics."""
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

    def _draw_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _per_document(
        self, X: sparse.csr_matrix, shares_of: Any, topic_word: Any
    ) -> tuple[np.ndarray, float]:
        """Summed log probability of each document's held-out tokens, and their number.

        `shares_of` makes proportions of counts, `topic_word` rows of topics of words.
        """
        observed, held_out = predictive.completion_split(X)
        words = np.unique(held_out.indices).astype(np.int32)
        log_probability = predictive.token_log_probability(
            shares_of(observed), topic_word(words), held_out[:, words]
        )
        return log_probability, float(held_out.sum(dtype=np.float64))

    def _topics_of(self, words: np.ndarray) -> np.ndarray:
        """Columns of `topic_word_`."""
        return (self.posterior_.rows(words) / self.posterior_.mass).T

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def check_ratings(y: Any, X: sparse.csr_matrix, caller: str, remedy: str) -> np.ndarray:
    """Ratings as float64, one for each row of X; `remedy` is what to do without."""
    if y is None:
        raise ValueError(
            f"{caller} requires y to be passed, but the target y is None; y are the ratings, "
            f"one for each row of X. {remedy}"
        )
    try:
        y = check_array(
            y, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=0
        )
    except ValueError as error:
        raise ValueError(
            f"{error}; y, passed to {caller}, must be ratings, one number for each row of X"
        ) from error
    y = column_or_1d(y, warn=True)
    check_consistent_length(X, y)
    if not np.isfinite(y).all():
        place = int(np.flatnonzero(~np.isfinite(y))[0])
        raise ValueError(
            f"Input y contains {'NaN' if np.isnan(y[place]) else 'infinity'}, first at {place}: "
            f"{caller} needs a rating of each review; leave out those without"
        )
    if np.abs(y).max(initial=0.0) > MOST_RATING:
        raise ValueError(
            f"y, passed to {caller}, has a rating of {np.abs(y).max():g} in size, more than "
            f"{MOST_RATING:g}; check how y was made, or rescale it"
        )
    return y


def check_labels(
    labels: Any, name: str, n: int, caller: str, known: np.ndarray | None
) -> np.ndarray | None:
    """Names of users or items as int64 or str, one for each of n rows; None for none.

    `known` are those seen before, which must be of the same kind.
    """
    if labels is None:
        return None
    # Of a list with strings and NaN numpy would make strings.
    labels = np.asarray(labels, dtype=None if hasattr(labels, "__array__") else object)
    if labels.dtype.kind in "Ou":
        labels = _narrowed(labels, name, caller)
    if labels.size == 0:
        labels = labels.astype(np.int64 if known is None or not len(known) else known.dtype)
    if labels.dtype.kind not in "iuU":
        raise ValueError(
            f"{name} must be integers or strings, without missing ones; {caller} got {labels.dtype}"
        )
    if labels.shape != (n,):
        raise ValueError(
            f"{name} must have one entry for each row of X, shape ({n},); {caller} got "
            f"{labels.shape}"
        )
    if labels.dtype.kind != "U":
        labels = labels.astype(np.int64)
    if known is not None and len(known) and n and known.dtype.kind != labels.dtype.kind:
        kinds = {"i": "integers", "U": "strings"}
        raise ValueError(
            f"{name} were {kinds[known.dtype.kind]} before, but {caller} got "
            f"{kinds[labels.dtype.kind]}; name them as in the first minibatch"
        )
    return labels


def _narrowed(labels: np.ndarray, name: str, caller: str) -> np.ndarray:
    """As str or int64, if all are of that kind; else as they were."""
    values = labels.ravel().tolist()
    kinds = {type(value) for value in values}
    if kinds and all(issubclass(kind, str) for kind in kinds):
        return labels.astype(str)
    if kinds and all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        largest = max(values, key=abs)
        if abs(largest) > MOST_LABEL:
            raise ValueError(
                f"{name} must be integers of 64 bits or strings; {caller} got {largest}: name "
                "them by strings"
            )
        return labels.astype(np.int64)
    return labels
