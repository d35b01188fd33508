# SPDX-License-Identifier: BSD-3-Clause
"""Unit vectors of documents as further data about their topics: von Mises-Fisher.

A document of topic k has a vector e_d of length 1 with p(e_d | k) = C(kappa) exp(kappa mu_k' e_d),
mu_k the direction of the topic. Topics share the concentration kappa. The statistics of a topic,
`directions`, are M_k = sum_d q_dk e_d and n_k = sum_d q_dk, with q_dk the probability of the topic.
The posterior of mu_k is von Mises-Fisher around M_k with concentration kappa |M_k|:

    E[mu_k] = A(kappa |M_k|) M_k / |M_k|,   A(x) = I_{d/2}(x) / I_{d/2 - 1}(x),
    kappa = R (d - R^2) / (1 - R^2),   R = sum_k |M_k| / sum_k n_k.

Banerjee, Dhillon, Ghosh and Sra (2005), Eq. 4.4; for A the bound of Amos (1974), Eq. 11.
"""

import numpy as np

from streamtopics.kernels import rows
from streamtopics.utils.parallel import Workers, spans

# Documents, and entries of vectors, worth a job.
DOCUMENTS_PER_JOB, ENTRIES_PER_JOB = 160, 50_000
# Equal vectors would have an infinite concentration.
MOST_RESULTANT = 0.999


def concentration(directions: np.ndarray) -> float:
    """Concentration kappa by the statistics of topics, (n_topics, d + 1)."""
    sums, number = directions[:, :-1], float(directions[:, -1].sum())
    d, length = sums.shape[1], float(np.linalg.norm(sums, axis=1).sum())
    resultant = min(length / number, MOST_RESULTANT) if number > 0 else 0.0
    return float(resultant * (d - resultant**2) / (1.0 - resultant**2))


def expected(directions: np.ndarray) -> np.ndarray:
    """kappa E[mu_k] of each topic, (n_topics, d); 0 without documents."""
    kappa, sums = concentration(directions), directions[:, :-1]
    lengths, order = np.linalg.norm(sums, axis=1, keepdims=True), 0.5 * sums.shape[1]
    # A(x) / |M| with x = kappa |M|.
    root = np.sqrt((order + 0.5) ** 2 + (kappa * lengths) ** 2)
    return sums * (kappa**2 / (order - 0.5 + root))


def explained(vectors: np.ndarray, means: np.ndarray, workers: Workers) -> np.ndarray:
    """Products of vectors of documents and rows of `means`, (n_documents, n_topics)."""
    n, columns = len(vectors), np.ascontiguousarray(means.T)
    out = np.empty((n, len(means)), vectors.dtype)
    parts = (slice(*span) for span in spans(n, DOCUMENTS_PER_JOB))
    workers.share(_multiply, ((vectors[part], columns, out[part]) for part in parts))
    return out


def summed(vectors: np.ndarray, q: np.ndarray, workers: Workers) -> np.ndarray:
    """Statistics of topics, (n_topics, d + 1), by q of shape (n_documents, n_topics)."""
    (n, d), known = vectors.shape, vectors.any(axis=1)
    out = np.empty((d, q.shape[1]), vectors.dtype)
    parts = (slice(*span) for span in spans(d, max(1, ENTRIES_PER_JOB // max(n, 1))))
    workers.share(_multiply, ((vectors.T[part], q, out[part]) for part in parts))
    return np.column_stack((out.T, q[known].sum(axis=0, dtype=np.float64)))


def _multiply(rows_of: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """Write a product of dense matrices, each row by itself.

    With BLAS the last digits depend on the number of rows, or of threads.
    """
    n, k = rows_of.shape
    indptr = np.arange(n + 1, dtype=np.int32) * np.int32(k)
    indices = np.tile(np.arange(k, dtype=np.int32), n)
    rows.multiply(indptr, indices, np.ascontiguousarray(rows_of).ravel(), x, 0, n, out)
