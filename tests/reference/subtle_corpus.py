# SPDX-License-Identifier: BSD-3-Clause
"""A corpus of sentences with topics that are rare and fill the sentences they are in."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch, check_random_state


def make_subtle_corpus(
    n_documents: int = 200,
    *,
    n_topics: int = 8,
    n_subtle: int = 2,
    n_features: int = 300,
    n_sentences: int = 12,
    sentence_length: int = 8,
    subtle_share: float = 0.01,
    purity: float = 0.9,
    topic_word_prior: float = 0.05,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Draw documents of sentences, some of whose topics, the last ones, are subtle.

    Each document has two major topics. A sentence is made of one of them up to ``1 - purity`` of
    the other, or, so often that each subtle topic has `subtle_share` of the words, of a subtle
    topic.
    """
    rng = check_random_state(random_state)
    topic_word = _draw_topics(n_topics, n_features, topic_word_prior, rng)
    n_major = n_topics - n_subtle
    shape = n_documents, n_sentences
    majors = np.stack([rng.permutation(n_major)[:2] for _ in range(n_documents)])
    which = rng.randint(2, size=shape)
    own = np.take_along_axis(majors, which, axis=1)
    other = np.take_along_axis(majors, 1 - which, axis=1)
    place = rng.random_sample(shape)
    is_subtle = place < n_subtle * subtle_share / purity
    subtle = n_major + (place / subtle_share * purity).astype(np.int64)
    sentence_topic = np.where(is_subtle, subtle, own)
    strange = rng.random_sample((*shape, sentence_length)) >= purity
    topic = np.where(strange, other[..., None], sentence_topic[..., None]).reshape(n_documents, -1)
    words = np.empty(topic.shape, np.int64)
    for k, distribution in enumerate(topic_word):
        words[topic == k] = rng.choice(n_features, np.sum(topic == k), p=distribution)
    return Bunch(
        X=_counts(words, np.repeat(np.arange(n_sentences), sentence_length), n_features),
        topic_word=topic_word,
        sentence_topic=sentence_topic,
        subtle=np.arange(n_major, n_topics),
    )


def _draw_topics(
    n_topics: int, n_features: int, prior: float, rng: np.random.RandomState
) -> np.ndarray:
    """Topics whose rows sum to 1, also where all that is drawn for one is rounded to 0."""
    topics: np.ndarray = rng.dirichlet(np.full(n_features, float(prior)), n_topics)
    lost = np.flatnonzero(~np.isclose(topics.sum(axis=1), 1))
    topics[lost] = 0
    topics[lost, rng.randint(n_features, size=len(lost))] = 1
    return topics


def _counts(words: np.ndarray, sentence: np.ndarray, n_features: int) -> np.ndarray:
    """A matrix of counts for each document, from its words and their sentences."""
    X, shape = np.empty(len(words), dtype=object), (sentence[-1] + 1, n_features)
    for d, own in enumerate(words):
        counts = np.ones(len(sentence), np.int64), (sentence, own)
        X[d] = sparse.coo_matrix(counts, shape=shape).tocsr()
    return X
