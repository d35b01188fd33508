# SPDX-License-Identifier: BSD-3-Clause
"""Features of documents that a model has not learnt: use of topics, and surprise in them.

With the proportions theta of a document and the topics phi, a word is of topic k with probability
r_dwk = theta_dk phi_kw / p_dw, p_dw being the sum of theta_dj phi_jw over j. Then

    u_dk = sum_w n_dw r_dwk                 use of topic k,
    s_dk = sum_w n_dw r_dwk (-log phi_kw)   surprise in topic k.

To compare two sets of documents, ratios of sums are made linear, with the totals of both sets:

    u_dk - (u_k / n) n_d,   s_dk - (s_k / u_k) u_dk,

each over sqrt(n_d), as long documents vary more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from streamtopics.local import Gibbs
from streamtopics.metrics.predictive import token_probability
from streamtopics.utils.parallel import workers

# Short chains: proportions may be rough, as long as they are so for all documents alike.
FAST = Gibbs(n_sweeps=8, n_averaged=6)
# No word is less probable, even under topics that were not smoothed.
LEAST = 1e-12


@dataclass(frozen=True)
class DocumentFeatures:
    """Tokens of documents, and use of and surprise in each topic under a model."""

    n_tokens: np.ndarray
    use: np.ndarray
    surprise: np.ndarray

    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Surprise and use, (n, n_topics), made linear and scaled by length."""
        scale = np.sqrt(np.maximum(self.n_tokens, 1.0))[:, None]
        use = without_ratio(self.use, self.n_tokens[:, None]) / scale
        return without_ratio(self.surprise, self.use) / scale, use


def without_ratio(values: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Values less their sizes times the ratio of the sums of both; 0 where all sizes are."""
    total = sizes.sum(axis=0)
    ratio = np.divide(values.sum(axis=0), total, where=total > 0, out=np.zeros(values.shape[1]))
    linear: np.ndarray = values - ratio * sizes
    return linear


def document_features(model: Any, X: sparse.csr_matrix) -> DocumentFeatures:
    """Features of documents, row by row, under a fitted model, which does not learn."""
    X = X if X.dtype.kind == "f" else X.astype(np.float32)
    words, places = np.unique(X.indices, return_inverse=True)
    own = sparse.csr_matrix((X.data, places, X.indptr), shape=(X.shape[0], len(words)))
    doc_topic, topic_word, n_hidden = _proportions_and_topics(model, X, words)
    topic_word = np.maximum(topic_word, LEAST)
    of_tokens = token_probability(doc_topic, topic_word, own)
    weights = sparse.csr_matrix((own.data / of_tokens, own.indices, own.indptr), shape=own.shape)
    shown = slice(n_hidden, None)
    theta, phi = doc_topic[:, shown], np.ascontiguousarray(topic_word[shown].T)
    return DocumentFeatures(
        np.asarray(X.sum(axis=1, dtype=np.float64)).ravel(),
        theta * (weights @ phi),
        theta * (weights @ (-phi * np.log(phi))),
    )


def _proportions_and_topics(
    model: Any, X: sparse.csr_matrix, words: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Proportions of documents, columns of the topics, and how many of these are hidden."""
    model._validate()
    composition = model._composed()
    model._check_background(composition)
    thorough = composition.transform_inference or composition.inference.thorough()
    if isinstance(thorough, Gibbs):
        composition = replace(composition, transform_inference=FAST)
    with workers(model.n_jobs) as pool:
        found = composition.model(model.seed_).infer(model._learnt, model._minibatch(X), pool)
    topic_word = model._topics_of(words.astype(np.int32))
    return found.astype(np.float64), topic_word, model._n_hidden
