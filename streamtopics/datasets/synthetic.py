# SPDX-License-Identifier: BSD-3-Clause
"""A corpus drawn from LDA, with known truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import Bunch, check_random_state

from streamtopics.utils.checks import check_integer


def make_lda_corpus(
    n_documents: int = 1000,
    n_components: int = 10,
    n_features: int = 1000,
    *,
    mean_length: float = 60,
    doc_topic_prior: ArrayLike | None = None,
    topic_word_prior: ArrayLike = 0.1,
    topic_word: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Draw a corpus from latent Dirichlet allocation.

    A token of document d has topic k with probability theta_dk, where theta_d ~ Dirichlet(alpha).
    A token of topic k is word v with probability beta_kv, where beta_k ~ Dirichlet(eta).

    Parameters
    ----------
    n_documents : int, default=1000
    n_components, n_features : int, default=10 and 1000
        Topics, and words in the vocabulary; not used if `topic_word` is given.
    mean_length : float, default=60
        Mean number of tokens of a document. The number has a Poisson distribution, so may be 0.
    doc_topic_prior : float, array-like of shape (n_components,) or None, default=None
        alpha. None is 1 / n_components: with 10 topics, most documents have 2 to 4 topics.
    topic_word_prior : float, array-like, default=0.1
        eta: one number, one for each word, or one for each topic and word. Not used if `topic_word`
        is given.
    topic_word : array-like of shape (n_components, n_features) or None, default=None
        Word probabilities of the topics. None draws topics.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    corpus : Bunch
        With the attributes

        X : csr_matrix of shape (n_documents, n_features), int64
            Word counts.
        topic_word : ndarray of shape (n_components, n_features)
            beta.
        doc_topic : ndarray of shape (n_documents, n_components)
            theta.
        doc_topic_prior : ndarray of shape (n_components,)
            alpha.

    Examples
    --------
    >>> from streamtopics.datasets import make_lda_corpus
    >>> corpus = make_lda_corpus(200, n_components=5, n_features=50, random_state=0)
    >>> corpus.X.shape, corpus.topic_word.shape, corpus.doc_topic.shape
    ((200, 50), (5, 50), (200, 5))
    """
    check_integer(n_documents=n_documents, n_components=n_components, n_features=n_features)
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=4)
    rng = np.random.default_rng(seed)
    if topic_word is None:
        shape = n_components, n_features
        eta = np.broadcast_to(np.asarray(topic_word_prior, dtype=float), shape)
        topic_word = np.array([rng.dirichlet(row) for row in eta])
    else:
        topic_word = np.array(topic_word, dtype=float)
        with np.errstate(invalid="raise", divide="raise"):
            topic_word /= topic_word.sum(axis=1, keepdims=True)
    n_components = len(topic_word)
    alpha = 1 / n_components if doc_topic_prior is None else doc_topic_prior
    alpha = np.broadcast_to(np.asarray(alpha, dtype=float), (n_components,)).copy()
    doc_topic = rng.dirichlet(alpha, size=n_documents)
    lengths = rng.poisson(mean_length, size=n_documents)
    topic_counts = rng.multinomial(lengths, doc_topic).T
    shape = len(doc_topic), topic_word.shape[1]
    documents = [np.repeat(np.arange(shape[0]), counts) for counts in topic_counts]
    words = [
        rng.choice(shape[1], size=counts.sum(), p=probabilities)
        for counts, probabilities in zip(topic_counts, topic_word, strict=True)
    ]
    places = np.concatenate(documents), np.concatenate(words)
    ones = np.ones(len(places[0]), dtype=np.int64)
    return Bunch(
        X=sparse.coo_matrix((ones, places), shape=shape).tocsr(),
        topic_word=topic_word,
        doc_topic=doc_topic,
        doc_topic_prior=alpha,
    )
