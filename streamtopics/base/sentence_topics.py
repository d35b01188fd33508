# SPDX-License-Identifier: BSD-3-Clause
"""Topics of the sentences of documents, for the estimators that read sentences."""

from __future__ import annotations

from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.glossary import documented
from streamtopics.base.inputs import SentenceDocuments, SentencesInput
from streamtopics.base.sentences import Sentences
from streamtopics.base.topics import LearntTopics
from streamtopics.base.typing import OptionalArray, SentencesLike
from streamtopics.metrics import predictive
from streamtopics.utils.parallel import Workers


@documented
class SentenceTopics(LearntTopics, SentencesInput):
    """Base of the estimators of topics of sentences; `_sentence_topic` is its hook."""

    def transform(self, X: SentencesLike, groups: OptionalArray = None) -> np.ndarray:
        """Topic proportions of documents."""
        raise NotImplementedError

    def _asked(self, method: str, X: object, groups: OptionalArray) -> SentenceDocuments:
        """The documents to infer, when they have been checked."""
        check_is_fitted(self)
        return self._read(method, X=X, groups=groups)

    def _sentence_topic(self, batch: SentenceDocuments, pool: Workers) -> np.ndarray:
        """Topic proportions of the sentences, of shape (n_sentences, n_components)."""
        raise NotImplementedError

    def fit(self, X: SentencesLike, y: OptionalArray = None, groups: OptionalArray = None) -> Self:
        """Learn from a corpus. Forgets what was learnt before.

        When it is interrupted, or comes to a minibatch that has no finite answer, the model
        has learnt from the minibatches before.

        {sentences_and_y}

        {returns_self}

        Warns
        -----
        ConvergenceWarning
            If the corpus is cut into so few minibatches that the topics hardly leave their
            random start.
        """
        return self._fit(X=X, groups=groups)

    def partial_fit(
        self, X: SentencesLike, y: OptionalArray = None, groups: OptionalArray = None
    ) -> Self:
        """Learn from one minibatch.

        {learns_minibatch}

        {sentences_and_y}

        {returns_self}
        """
        return self._partial_fit(X=X, groups=groups)

    def fit_transform(
        self, X: SentencesLike, y: OptionalArray = None, groups: OptionalArray = None
    ) -> np.ndarray:
        """`fit`, then `transform` of the same documents.

        {sentences_and_y}

        Returns
        -------
        doc_topic : ndarray of shape (n_documents, n_components), float64
        """
        return self.fit(X, groups=groups).transform(X, groups)

    def transform_sentences(self, X: SentencesLike, groups: OptionalArray = None) -> np.ndarray:
        """Topic proportions of sentences: their posterior mean.

        A sentence without words has what is expected of one in its document.

        {sentences}

        Returns
        -------
        sentence_topic : ndarray of shape (n_sentences, n_components), float64
            A row for each row of X, or for each sentence, document after document; rows sum
            to 1.
        """
        batch = self._asked("transform_sentences", X, groups)
        theta = self._inferred(lambda pool: self._sentence_topic(batch, pool))
        return batch.sentences.as_passed(theta)

    def score_samples(self, X: SentencesLike, groups: OptionalArray = None) -> np.ndarray:
        """Log predictive probability of the held-out tokens of each document.

        One token in five of each sentence is held out, by a rule that depends on the
        sentence alone; its topics are inferred from the others of the document.

        {sentences}

        {log_probability}
        """
        return self._completion(X, groups, "score_samples")[0]

    def score(
        self, X: SentencesLike, y: OptionalArray = None, groups: OptionalArray = None
    ) -> float:
        """Log predictive probability per held-out token, higher is better, by completion.

        {sentences_and_y}

        {score}
        """
        return predictive.per_token(*self._completion(X, groups, "score"))

    def _completion(
        self, X: object, groups: OptionalArray, method: str
    ) -> tuple[np.ndarray, float]:
        """Summed log probability of each document's held-out tokens, and their number."""
        sentences = self._asked(method, X, groups).sentences
        observed, held_out = predictive.completion_split(sentences.counts)
        rest = SentenceDocuments(Sentences(observed, sentences.starts))
        words = np.unique(held_out.indices).astype(np.int32)
        theta, topic_word = self._inferred(
            lambda pool: (self._sentence_topic(rest, pool), self._topics_of(words))
        )
        log_probability = predictive.token_log_probability(theta, topic_word, held_out[:, words])
        of_documents = np.bincount(sentences.documents, log_probability, sentences.n_documents)
        return of_documents.astype(np.float64, copy=False), float(held_out.sum(dtype=np.float64))
