# SPDX-License-Identifier: BSD-3-Clause
"""Attributes of estimators of topics over words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import NO_WEIGHTS, StreamingEstimator
from streamtopics.base.inputs import check_feature_names
from streamtopics.base.typing import OptionalArray
from streamtopics.metrics.relevance import most_probable, relevant_words
from streamtopics.utils.checks import check_integer, check_not_masked
from streamtopics.utils.parallel import lock_of
from streamtopics.utils.records import of_record


class LearntTopics(ClassNamePrefixFeaturesOutMixin, StreamingEstimator):
    """Base of estimators with topics over words as `posterior_`."""

    _holds = "_commit.posterior: V *; n_features_in_: =V"
    _records: ClassVar[dict[str, dict[Any, Any]]] = {"topic_word_prior": {}, "boosted_prior": {}}
    __metadata_request__score: ClassVar[dict[str, Any]] = NO_WEIGHTS
    # Number of background topics, the first of the posterior; hidden from users.
    _n_hidden = 0

    @property
    def _learnt(self) -> Any:
        """The posterior, or the average of its iterates."""
        return self.posterior_

    @property
    def components_(self) -> np.ndarray:
        """Dirichlet parameters of the topics, of shape (n_components, n_features)."""
        return self._whole(lambda: self._learnt.dense().T[self._n_hidden :])

    @property
    def topic_word_(self) -> np.ndarray:
        """Word probabilities of the topics, of shape (n_components, n_features)."""

        def mean() -> np.ndarray:
            topics: np.ndarray = self._learnt.dense()
            topics /= self._learnt.mass
            return topics.T[self._n_hidden :]

        return self._whole(mean)

    @property
    def topic_weights_(self) -> np.ndarray:
        """Share of each topic in the learnt tokens; sums to 1."""
        learnt = self._whole(lambda: self._learnt.learnt_part[self._n_hidden :])
        total = learnt.sum()
        return learnt / total if total > 0 else np.full(len(learnt), 1 / len(learnt))

    @property
    def hidden_topics_(self) -> np.ndarray:
        """Always empty, because topics of this estimator cannot be hidden."""
        return np.empty(0, np.intp)

    @property
    def prior_retention_(self) -> np.ndarray:
        """Share of each topic's Dirichlet parameters that comes from the prior."""
        own = slice(self._n_hidden, None)
        return self._whole(lambda: self._learnt.prior_part[own] / self._learnt.mass[own])

    @property
    def doc_topic_prior_(self) -> np.ndarray:
        """Dirichlet parameter of the topic proportions, as learnt, of shape (n_components,)."""
        return np.array(self.posterior_.alpha[self._n_hidden :])

    n_documents_seen_ = of_record("posterior.n_documents", "Documents learnt, in all passes.", int)
    n_tokens_seen_ = of_record("posterior.n_tokens", "Tokens learnt, in all passes.", float)

    @property
    def _n_features_out(self) -> int:
        return int(self._commit.posterior.shape[1]) - self._n_hidden

    def _topics_of(self, words: np.ndarray) -> np.ndarray:
        return np.asarray((self._learnt.rows(words) / self._learnt.mass).T)

    def top_words(
        self, feature_names: OptionalArray = None, n_words: int = 10, *, relevance: float = 0.6
    ) -> list[list[Any]]:
        """Return the words of each topic, the most characteristic first.

        Parameters
        ----------
        feature_names : array-like of shape (n_features,), default=None
            Words of the columns. None takes the names seen in `fit`, or else column numbers.
        n_words : int, default=10
            Number of words.
        relevance : float in [0, 1], default=0.6
            1 orders words by probability in the topic; smaller values prefer words rare in other
            topics. See `streamtopics.metrics.relevant_words`.

        Returns
        -------
        words : list of n_components lists
            A list of min(n_words, n_features) words for each topic.
        """
        names = self._column_names(feature_names)
        check_integer(n_words=n_words)
        if relevance == 1 and hasattr(self._learnt, "top_candidates"):
            leading = self._whole(lambda: most_probable(self._learnt, n_words)[self._n_hidden :])
            return [list(names[words]) for words in leading]
        topics, weights = self._whole(lambda: (self.topic_word_, self.topic_weights_))
        columns = relevant_words(topics, weights, n_words, relevance=relevance)
        return [list(names[k]) for k in columns]

    def forget_words(self, columns: ArrayLike, words: OptionalArray = None) -> Self:
        """Reset columns of words to the prior, so that new words can use the columns.

        The numbers of documents, tokens and minibatches seen stay the same.

        Parameters
        ----------
        columns : array-like of int
            Columns of the counts, for example `recycled_` of a
            `~streamtopics.text.StreamingCountVectorizer`.
        words : array-like of shape (n_columns,), default=None
            The forgotten words, for the records in `births_` of a model with births of topics.

        Returns
        -------
        self : object
            The estimator.
        """
        check_is_fitted(self)
        check_not_masked(columns, "forget_words", "columns")
        own, given = np.unique(np.ravel(columns)), np.ravel(columns).tolist()
        most = self.n_features_in_ - 1
        if own.size and not (own.dtype.kind in "iu" and own[0] >= 0 and own[-1] <= most):
            raise ValueError(f"columns must be whole numbers from 0 to {most}; got {columns!r:.60}")
        told = [None] * len(given) if words is None else np.asarray(words, dtype=object).tolist()
        names = dict(zip(given, told, strict=True))
        with lock_of(self):
            if own.size:
                own = own.astype(np.int32)
                commit = self._commit_without(own, names)
                self._learnt.forget(own, [self._swap(commit)])
        return self

    def _commit_without(self, words: np.ndarray, names: dict[int, Any]) -> Any:
        return replace(self._commit, state=self._state_without(words))

    def _state_without(self, words: np.ndarray) -> Any:
        rule = self._commit.update
        return self._commit.state if rule is None else rule.without_words(self._commit.state, words)

    def _column_names(self, feature_names: OptionalArray) -> np.ndarray:
        check_is_fitted(self)
        names = self._names_seen if feature_names is None else feature_names
        names = np.arange(self.n_features_in_) if names is None else names
        return check_feature_names(names, self.n_features_in_)
