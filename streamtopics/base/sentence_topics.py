# SPDX-License-Identifier: BSD-3-Clause
"""Topics of the sentences of documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.glossary import documented
from streamtopics.base.inputs import check_column_names
from streamtopics.base.sentences import Sentences, read_sentences
from streamtopics.base.topics import LearntTopics
from streamtopics.base.typing import OptionalArray, SentencesLike
from streamtopics.metrics import predictive
from streamtopics.utils.structure import in_memory


@documented
class SentenceTopics(TransformerMixin, LearntTopics):
    """Base of the estimators of topics of sentences."""

    # Whether counts must be whole numbers.
    _whole_counts = False
    transform: Callable[..., np.ndarray]
    # Maps a batch and workers to topic proportions of the sentences, (n_sentences, n_components).
    _sentence_topic: Callable[..., np.ndarray]

    def _read(
        self, method: str, *, reset: bool = False, X: object, groups: object = None
    ) -> Sentences:
        if not reset:
            check_is_fitted(self)
        n_words = None if reset else self.n_features_in_
        caller = f"{type(self).__name__}.{method}"
        X = in_memory(X)
        # First the names, because values in wrong columns are wrong for another reason.
        check_column_names(self, X, reset=reset)
        sentences = read_sentences(
            X, groups, n_words=n_words, whole=self._whole_counts, caller=caller
        )
        if method == "fit" and sentences.n_documents == 0:
            raise ValueError(f"X, passed to {caller}, has no documents; fit needs at least one")
        if reset:
            self.n_features_in_ = sentences.n_words
        return replace(sentences, is_corpus=method == "fit")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        tags.input_tags.positive_only = True
        return tags

    def fit(self, X: SentencesLike, y: OptionalArray = None, groups: OptionalArray = None) -> Self:
        """Learn from a corpus.

        {learns_corpus}
        Warns if there are too few minibatches to find topics from a random start.

        {sentences, y_ignored, groups}

        {returns_self}
        """
        return self._fit(X=X, groups=groups)

    def partial_fit(
        self, X: SentencesLike, y: OptionalArray = None, groups: OptionalArray = None
    ) -> Self:
        """Learn from one minibatch.

        {learns_minibatch}

        {sentences, y_ignored, groups}

        {returns_self}
        """
        return self._partial_fit(X=X, groups=groups)

    def fit_transform(
        self, X: SentencesLike, y: OptionalArray = None, groups: OptionalArray = None
    ) -> np.ndarray:
        """Fit, and return `transform` of the same documents.

        {sentences, y_ignored, groups}

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_components), float64
        """
        X, groups = in_memory(X), in_memory(groups)
        return self.fit(X, groups=groups).transform(X, groups)

    def transform_sentences(self, X: SentencesLike, groups: OptionalArray = None) -> np.ndarray:
        """Return the posterior mean of the topic proportions of each sentence.

        A sentence without words gets the expected proportions of a sentence of its document.

        {sentences, groups}

        Returns
        -------
        sentence_topic : ndarray of shape (n_sentences, n_components), float64
            Rows are in the order of X and sum to 1. In models with one topic for each sentence,
            a row has the probability of each topic.
        """
        batch = self._read("transform_sentences", X=X, groups=groups)
        return batch.as_passed(self._inferred(lambda pool: self._sentence_topic(batch, pool)))

    def score_samples(self, X: SentencesLike, groups: OptionalArray = None) -> np.ndarray:
        """Return the log predictive probability of each document's held-out tokens.

        A fifth of each sentence's tokens is predicted from the document's other tokens.

        {sentences, groups}

        {log_probability}
        """
        return self._completion(X, groups, "score_samples")[0]

    def score(
        self, X: SentencesLike, y: OptionalArray = None, groups: OptionalArray = None
    ) -> float:
        """Return the log predictive probability per held-out token; higher is better.

        {sentences, y_ignored, groups}

        {score}
        """
        return predictive.per_token(*self._completion(X, groups, "score"))

    def _completion(
        self, X: object, groups: OptionalArray, method: str
    ) -> tuple[np.ndarray, float]:
        sentences = self._read(method, X=X, groups=groups)
        observed, held_out = predictive.completion_split(sentences.counts)
        rest = Sentences(observed, sentences.starts)
        words = np.unique(held_out.indices).astype(np.int32)
        theta, topic_word = self._inferred(
            lambda pool: (self._sentence_topic(rest, pool), self._topics_of(words))
        )
        log_probability = predictive.token_log_probability(theta, topic_word, held_out[:, words])
        of_documents = np.bincount(sentences.documents, log_probability, sentences.n_documents)
        return of_documents.astype(np.float64, copy=False), float(held_out.sum(dtype=np.float64))
