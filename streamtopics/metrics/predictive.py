# SPDX-License-Identifier: BSD-3-Clause
"""Log predictive probability by document completion, and perplexity.

The tokens of each test document are split 1 : 4; from the four parts the topic
proportions theta are inferred, and the fifth part is scored by

    sum_w n_w log sum_k E[theta_k] E[beta_kw],

in nats. No term of the prior enters, so scores of different models and different
test sets can be compared (Broderick et al. 2013; section 5.3 of Nguyen et al.
2020).
"""

from typing import Any

import numpy as np
from scipy import sparse

HELD_OUT_SHARE = 5
MONITORED = 256
ENTRIES_AT_ONCE = 1 << 16


def completion_split(
    X: sparse.csr_matrix, seed: int = 0
) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Split the tokens of each document into observed and held-out ones, 4 : 1.

    The tokens of a document, in the order of its columns, are numbered from a
    start in 0 .. 4 that is a hash of the seed and the document; every fifth is
    held out. So a document is split in the same way wherever it stands, and the
    held-out tokens of all documents are a fifth of all but for rounding.

    Parameters
    ----------
    X : sparse matrix of shape (n_documents, n_features), CSR
        Token counts. Of a fractional count at most itself is held out.
    seed : int, default=0
        Another seed, another split.

    Returns
    -------
    observed, held_out : CSR matrices of the shape and dtype of X
        Their sum is X.

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> from streamtopics.metrics import completion_split
    >>> observed, held_out = completion_split(csr_matrix([[4.0, 6.0, 0.0], [0.0, 3.0, 2.0]]))
    >>> held_out.sum(axis=1).ravel().tolist()
    [[2.0, 1.0]]
    """
    X = sparse.csr_matrix(X, copy=True)
    X.sum_duplicates()
    counts = X.data.astype(np.float64)
    through = np.concatenate([[0.0], np.cumsum(counts)])
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    before_row = through[X.indptr[:-1]][row]
    first = _row_hash(X, row, seed)[row]
    upto = np.floor((through[1:] - before_row + first) / HELD_OUT_SHARE)
    since = np.floor((through[:-1] - before_row + first) / HELD_OUT_SHARE)
    held_out = np.minimum(upto - since, counts).astype(X.dtype)
    parts = []
    for data in (X.data - held_out, held_out):
        part = sparse.csr_matrix((data, X.indices.copy(), X.indptr.copy()), shape=X.shape)
        part.eliminate_zeros()
        parts.append(part)
    return parts[0], parts[1]


def _row_hash(X: sparse.csr_matrix, row: np.ndarray, seed: int) -> np.ndarray:
    """A number in 0 .. 4 for each row, from its entries."""
    entries = (X.indices.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    entries ^= X.data.astype(np.float64).view(np.uint64) * np.uint64(0xD1342543DE82EF95)
    total = np.full(X.shape[0], np.uint64(seed) + np.uint64(1), dtype=np.uint64)
    np.add.at(total, row, entries)
    total = (total ^ (total >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (total >> np.uint64(33)) % np.uint64(HELD_OUT_SHARE)


def token_log_probability(
    doc_topic: np.ndarray, topic_word: np.ndarray, X: sparse.csr_matrix
) -> np.ndarray:
    """Log probability of each document's tokens, given proportions and topics.

    Parameters
    ----------
    doc_topic : ndarray of shape (n_documents, n_components)
        Rows sum to 1.
    topic_word : ndarray of shape (n_components, n_features)
        Rows are distributions, or parts of them.
    X : sparse matrix of shape (n_documents, n_features), CSR
        Counts of the tokens to score.

    Returns
    -------
    log_probability : ndarray of shape (n_documents,)
        In nats, summed over tokens.
    """
    word_topic = np.ascontiguousarray(topic_word.T)
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    log_probability = np.empty(X.nnz)
    for start in range(0, X.nnz, ENTRIES_AT_ONCE):
        span = slice(start, start + ENTRIES_AT_ONCE)
        probability = np.einsum(
            "ik,ik->i", doc_topic[row[span]], word_topic[X.indices[span]], dtype=np.float64
        )
        log_probability[span] = X.data[span] * np.log(probability)
    return np.bincount(row, weights=log_probability, minlength=X.shape[0])


def per_token(log_probability: np.ndarray, n_tokens: float) -> float:
    """Mean over tokens; NaN where there are none."""
    return float(log_probability.sum()) / n_tokens if n_tokens > 0 else np.nan
