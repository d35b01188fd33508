# SPDX-License-Identifier: BSD-3-Clause
"""Topics of the sentences of documents, for the estimators that read sentences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.glossary import documented
from streamtopics.base.inputs import SentenceDocuments, SentencesInput
from streamtopics.base.topics import LearntTopics
from streamtopics.metrics import predictive
from streamtopics.parallel import Workers
from streamtopics.sentences import Sentences


@documented
class SentenceTopics(LearntTopics, SentencesInput):
    """Base of the estimators of topics of sentences; `_sentence_topic` is its hook."""

    fit: Callable[..., Any]

    def _sentence_topic(self, batch: SentenceDocuments, pool: Workers) -> np.ndarray:
        """Topic proportions of the sentences, of shape (n_sentences, n_components)."""
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None, groups: Any = None) -> np.ndarray:
        """`fit`, then `transform` of the same documents.

        Parameters
        ----------
        {X_sentences}
        {y_ignored}
        {groups}

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_components), float64
        """
        doc_topic: np.ndarray = self.fit(X, groups=groups).transform(X, groups)
        return doc_topic

    def transform_sentences(self, X: Any, groups: Any = None) -> np.ndarray:
        """Topic proportions of sentences: their posterior mean.

        A sentence without words has what is expected of one in its document.

        Parameters
        ----------
        {X_sentences}
        {groups}

        Returns
        -------
        sentence_topic : ndarray of shape (n_sentences, n_components), float64
            A row for each row of X, or for each sentence, document after document; rows sum
            to 1.
        """
        check_is_fitted(self)
        batch = self._read("transform_sentences", X=X, groups=groups)
        theta = self._inferred(lambda pool: self._sentence_topic(batch, pool))
        return batch.sentences.as_passed(theta)

    def score_samples(self, X: Any, groups: Any = None) -> np.ndarray:
        """Log predictive probability of the held-out tokens of each document.

        One token in five of each sentence is held out, by a rule that depends on the
        sentence alone; its topics are inferred from the others of the document.

        Parameters
        ----------
        {X_sentences}
        {groups}

        Returns
        -------
        log_probability : ndarray of shape (n_documents,)
            In nats, summed over the document's held-out tokens; 0 for a document that has
            none.
        """
        check_is_fitted(self)
        return self._completion(X, groups, "score_samples")[0]

    def score(self, X: Any, y: Any = None, groups: Any = None) -> float:
        """Log predictive probability per held-out token, by completion of the sentences.

        Parameters
        ----------
        {X_sentences}
        {y_ignored}
        {groups}

        Returns
        -------
        score : float
            Nats per token, higher is better; NaN if no token is held out.
        """
        check_is_fitted(self)
        return predictive.per_token(*self._completion(X, groups, "score"))

    def _completion(self, X: Any, groups: Any, method: str) -> tuple[np.ndarray, float]:
        """Summed log probability of each document's held-out tokens, and their number."""
        sentences = self._read(method, X=X, groups=groups).sentences
        observed, held_out = predictive.completion_split(sentences.counts)
        rest = SentenceDocuments(Sentences(observed, sentences.starts))
        words = np.unique(held_out.indices).astype(np.int32)
        theta, topic_word = self._inferred(
            lambda pool: (self._sentence_topic(rest, pool), self._topics_of(words))
        )
        log_probability = predictive.token_log_probability(theta, topic_word, held_out[:, words])
        of_documents = np.bincount(sentences.documents, log_probability, sentences.n_documents)
        return of_documents, float(held_out.sum(dtype=np.float64))
