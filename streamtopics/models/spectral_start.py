# SPDX-License-Identifier: BSD-3-Clause
"""A start from clusters of documents, by vectors of their words.

With B = (X > 0), L_d the distinct words of document d and W = diag(1 / max(L_d - 1, 1)), the
contexts of a word are C = B' W B without the diagonal. f is the share of each word in B, and n_w
the number of documents with word w. Vectors of words are the leading left singular vectors, times
the roots of the singular values and scaled to length 1, of

    M_w = sqrt(log(1 + n_w)) (C_w / |C_w|_1 - f) / |C_w / |C_w|_1 - f|_2.

A round of subspace iteration (Halko, Martinsson and Tropp, 2011) starts from M times random signs.
A document is the sum of its words' vectors, times counts and log(D / n_w); k-means follows.
"""

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning

from streamtopics.local.step import Source, content_seeds, mix, standard_noise
from streamtopics.messages import Minibatch, Statistics
from streamtopics.models.sources import RandomStart
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.posteriors.rows import prior_at
from streamtopics.utils.parallel import one_thread

# Columns of signs, dimensions of the vectors, and columns of the subspace.
N_SIGNS, N_DIMENSIONS, N_SUBSPACE = 320, 50, 64
# Most documents of k-means, which starts on a sample; a few rounds with all documents follow.
MOST_DOCUMENTS, SAMPLE, SAMPLE_OF_CLUSTER = 20_000, 5_000, 20
N_STARTS, N_ROUNDS = 3, 30
LEAST = 1e-9


@dataclass(frozen=True)
class SpectralStart:
    """Each topic starts as the words of a cluster of documents.

    Clusters depend on neither a seed nor the order of documents. Topics are random if the prior
    tells topics apart.
    """

    of_seed: ClassVar[bool] = False
    of_corpus: ClassVar[bool] = True

    def __call__(
        self, prior: TopicPosterior, minibatch: Minibatch, seed: int, n_background: int = 0
    ) -> Source:
        known = (prior_at(given, minibatch.words) for given in (prior.eta, prior.boosted))
        known_apart = any(np.any(rows[:, n_background:] != rows[:, -1:]) for rows in known)
        if known_apart or not minibatch.informative.any():
            return RandomStart(prior, seed)
        kept, member = members(minibatch, prior.n_nodes - n_background)
        counts: Any
        directions = None
        if prior.has_lists:
            # Empty clusters have the prior.
            counts = sparse.csr_array((member @ minibatch.matrix(minibatch.counts)[kept]).T)
        else:
            counts = np.zeros((len(minibatch.words), prior.n_nodes))
            counts[:, n_background:] = cluster_counts(minibatch, kept, member)
            counts[:, :n_background] = minibatch.word_counts[:, None]
        if minibatch.vectors is not None:
            own = minibatch.vectors[kept]
            directions = np.zeros((prior.n_nodes, own.shape[1] + 1))
            directions[n_background:] = member @ np.column_stack((own, own.any(axis=1)))
        start = prior.of_words(minibatch.words)
        # Without minibatches and documents: counters continue unchanged.
        statistics = Statistics(
            minibatch.words, counts, np.zeros(0), n_batches=0, directions=directions
        )
        start.blend(Blend(1.0, 1.0, 0.0, statistics))
        return start


def members(minibatch: Minibatch, n_clusters: int) -> tuple[np.ndarray, sparse.csr_matrix]:
    """Documents, (n,), and the 0/1 matrix of their clusters, (n_clusters, n).

    If most documents have a vector and no words, the vectors are clustered.
    """
    X = minibatch.matrix(minibatch.counts).astype(np.float64)
    X.eliminate_zeros()
    # Hashes of contents order the documents: the order of arrival does not matter.
    keys, usable, vectors = content_seeds(minibatch), minibatch.lengths > 0, minibatch.vectors
    n_informative = np.count_nonzero(minibatch.informative)
    if vectors is not None and 2 * np.count_nonzero(usable) < n_informative:
        usable = np.asarray(vectors.any(axis=1))
        keys = np.unique(vectors, axis=0, return_inverse=True)[1]
    else:
        vectors = None
    order = np.argsort(keys, kind="stable")
    order = order[usable[order]]
    kept = order[np.linspace(0, len(order) - 1, min(len(order), MOST_DOCUMENTS)).astype(int)]
    X = X[kept]
    n_found = min(n_clusters, len(np.unique(keys[kept])))
    E = vectors_of(X, minibatch.words) if vectors is None else vectors[kept]
    labels = k_means(E, n_found).labels_
    shape = n_clusters, len(kept)
    return kept, sparse.csr_matrix((np.ones(len(kept)), (labels, np.arange(len(kept)))), shape)


def vectors_of(X: sparse.csr_matrix, words: np.ndarray) -> np.ndarray:
    with one_thread():
        return document_vectors(X, word_vectors(X, words))


def k_means(vectors: np.ndarray, n_clusters: int) -> KMeans:
    n = min(len(vectors), max(SAMPLE, SAMPLE_OF_CLUSTER * n_clusters))
    sample = vectors[np.linspace(0, len(vectors) - 1, n).astype(int)]
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # In float64, because scikit-learn copies float32 in each step of k-means++.
        wide, rng = sample.astype(np.float64), np.random.RandomState(0)
        centers = [kmeans_plusplus(wide, n_clusters, random_state=rng)[0] for _ in range(N_STARTS)]
        runs = [KMeans(n_clusters, init=init, n_init=1).fit(sample) for init in centers]
        found = min(runs, key=lambda run: float(run.inertia_))
        if n == len(vectors):
            return found
        rest = KMeans(n_clusters, init=found.cluster_centers_, n_init=1, max_iter=N_ROUNDS)
        return rest.fit(vectors)


def cluster_counts(minibatch: Minibatch, kept: np.ndarray, member: sparse.csr_matrix) -> np.ndarray:
    """Tokens of each word in each cluster; empty clusters have all words, with noise."""
    X, n_clusters = minibatch.matrix(minibatch.counts).astype(np.float64), member.shape[0]
    counts: np.ndarray = (member @ X[kept]).toarray().T
    lacking = counts.sum(axis=0) == 0
    if lacking.any():
        noise = 1.0 + 0.2 * standard_noise(0, minibatch.words, n_clusters)[:, lacking]
        counts[:, lacking] = noise * (minibatch.word_counts / n_clusters)[:, None]
    return counts


def word_vectors(X: sparse.csr_matrix, words: np.ndarray) -> np.ndarray:
    contexts = Contexts.of(X)
    # Random signs of words, (n_words, N_SIGNS), hashed from their columns.
    cells = words.astype(np.uint64)[:, None] * np.uint64(N_SIGNS // 64)
    bits = mix(cells + np.arange(N_SIGNS // 64, dtype=np.uint64))
    signs = 2 * np.unpackbits(bits.view(np.uint8), axis=1).astype(np.float32) - 1
    # Blocks of columns, of which a processor's cache holds more rows.
    blocks = np.hsplit(signs, N_SIGNS // N_SUBSPACE)
    drawn = np.hstack([contexts.times(block) for block in blocks])
    lengths = np.linalg.norm(drawn, axis=1) / np.sqrt(signs.shape[1])
    weight = np.sqrt(np.log1p(contexts.n_documents)) / np.maximum(lengths, LEAST)
    weight = weight[:, None].astype(np.float32)
    basis = orthonormal(weight * drawn[:, :N_SUBSPACE])
    basis = orthonormal(contexts.transposed(weight * basis))
    basis = orthonormal(weight * contexts.times(basis))
    rest = contexts.transposed(weight * basis)
    squares, eigenvectors = np.linalg.eigh(rest.T @ rest)
    leading = slice(None, -1 - min(N_DIMENSIONS, len(squares)), -1)
    return unit(basis @ (eigenvectors[:, leading] * np.maximum(squares[leading], 0.0) ** 0.25))


@dataclass(frozen=True)
class Contexts:
    """The matrix C_w / |C_w|_1 - f for all words w, never made in full."""

    has: sparse.csr_matrix
    spread: sparse.csr_matrix
    own: np.ndarray
    mass: np.ndarray
    expected: np.ndarray
    n_documents: np.ndarray

    @classmethod
    def of(cls, X: sparse.csr_matrix) -> Self:
        has = X.astype(np.float32)
        has.eliminate_zeros()
        has.data[:] = 1
        n_words = np.asarray(has.sum(axis=1)).ravel()
        spread = sparse.diags_array(1 / np.maximum(n_words - 1, 1), dtype=np.float32) @ has
        own, n_documents = (np.asarray(part.sum(axis=0)).ravel() for part in (spread, has))
        mass = np.maximum(spread.T @ n_words - own, LEAST)
        expected = n_documents / n_documents.sum()
        return cls(has, spread.tocsr(), own[:, None], mass[:, None], expected, n_documents)

    def times(self, right: np.ndarray) -> np.ndarray:
        found: np.ndarray = self.has.T @ (self.spread @ right) - self.own * right
        return np.asarray(found / self.mass - self.expected @ right)

    def transposed(self, right: np.ndarray) -> np.ndarray:
        shared = right / self.mass
        found = self.has.T @ (self.spread @ shared) - self.own * shared
        return np.asarray(found - self.expected[:, None] * right.sum(axis=0))


def document_vectors(X: sparse.csr_matrix, vectors: np.ndarray) -> np.ndarray:
    idf = np.log(X.shape[0] / np.maximum(X.getnnz(axis=0), 1))
    # If every document has all of its words, no word is rare.
    found: np.ndarray = unit(X.astype(np.float32) @ (vectors * idf[:, None]))
    return found.astype(np.float32)


def orthonormal(columns: np.ndarray) -> np.ndarray:
    """Columns with the same span, a tenth of the time of LAPACK's QR."""
    squares, vectors = np.linalg.eigh(np.matmul(columns.T, columns, dtype=np.float64))
    scale = np.sqrt(np.maximum(squares, LEAST * max(squares[-1], LEAST)))
    return columns @ (vectors / scale).astype(columns.dtype)


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), LEAST)


SPECTRAL = SpectralStart()
