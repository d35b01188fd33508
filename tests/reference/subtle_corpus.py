# SPDX-License-Identifier: BSD-3-Clause
"""A corpus of sentences with topics that are rare and fill the sentences they are in."""

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch, check_random_state

# Of a document, and of a sentence.
N_SENTENCES, N_WORDS = 12, 8


def make_subtle_corpus(
    n_documents=200, *, n_topics=8, n_subtle=2, n_features=300, subtle_share=0.01, purity=0.9,
    random_state=None,
):  # fmt: skip
    """Draw documents of sentences, some of whose topics, the last ones, are subtle.

    Each document has two major topics. A sentence is made of one of them up to ``1 - purity`` of
    the other, or, so often that each subtle topic has `subtle_share` of the words, of a subtle
    topic.
    """
    rng = check_random_state(random_state)
    topic_word = rng.dirichlet(np.full(n_features, 0.05), n_topics)
    n_major = n_topics - n_subtle
    shape = n_documents, N_SENTENCES
    majors = np.stack([rng.permutation(n_major)[:2] for _ in range(n_documents)])
    which = rng.randint(2, size=shape)
    own = np.take_along_axis(majors, which, axis=1)
    other = np.take_along_axis(majors, 1 - which, axis=1)
    place = rng.random_sample(shape)
    is_subtle = place < n_subtle * subtle_share / purity
    subtle = n_major + (place / subtle_share * purity).astype(np.int64)
    sentence_topic = np.where(is_subtle, subtle, own)
    strange = rng.random_sample((*shape, N_WORDS)) >= purity
    topic = np.where(strange, other[..., None], sentence_topic[..., None]).reshape(n_documents, -1)
    words = np.empty(topic.shape, np.int64)
    for k, distribution in enumerate(topic_word):
        words[topic == k] = rng.choice(n_features, np.sum(topic == k), p=distribution)
    sentence = np.repeat(np.arange(N_SENTENCES), N_WORDS)
    X = np.empty(n_documents, dtype=object)
    for d, own in enumerate(words):
        counts = np.ones(len(own), np.int64), (sentence, own)
        X[d] = sparse.coo_matrix(counts, shape=(N_SENTENCES, n_features)).tocsr()
    return Bunch(
        X=X,
        topic_word=topic_word,
        sentence_topic=sentence_topic,
        subtle=np.arange(n_major, n_topics),
    )
