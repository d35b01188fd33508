# SPDX-License-Identifier: BSD-3-Clause
"""Records exchanged between the global and the local side of an estimator.

A local step takes a `Minibatch` and `Topics`, a view of the global parameters, and returns
`Statistics`. All hold only the words of the minibatch: their size is independent of the vocabulary.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class Minibatch:
    """Word counts of documents as a CSR matrix, with a column for each word that occurs.

    Document d has ``counts[i:j]`` tokens of ``words[indices[i:j]]``, with ``i, j = indptr[d],
    indptr[d + 1]``.
    """

    words: np.ndarray  #: (n_words,), int32: occurring columns of the vocabulary, sorted
    indptr: np.ndarray  #: (n_documents + 1,), int32: where the counts of each document begin
    indices: np.ndarray  #: (nnz,), int32: for each count the index of its word in `words`
    counts: np.ndarray  #: (nnz,): tokens, whole or not; float64 if X is float64, else float32
    #: (n_documents, n_components): pseudo-tokens of topics from seeds or labels
    hints: sparse.csr_matrix | None = None
    #: (n_documents, n_dimensions): vectors of length 1; zeros for a document without a vector
    vectors: np.ndarray | None = None

    @property
    def n_documents(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_tokens(self) -> float:
        return float(self.counts.sum(dtype=np.float64))

    @property
    def word_counts(self) -> np.ndarray:
        """Number of tokens of each word, of shape (n_words,), float64."""
        return _sums(self.indices, self.counts, len(self.words))

    @cached_property
    def lengths(self) -> np.ndarray:
        """Number of tokens of each document, of shape (n_documents,), float64."""
        document = np.arange(self.n_documents).repeat(self.indptr[1:] - self.indptr[:-1])
        return _sums(document, self.counts, self.n_documents)

    @cached_property
    def informative(self) -> np.ndarray:
        """Whether each document has words or a vector, of shape (n_documents,)."""
        has_words: np.ndarray = self.lengths > 0
        return has_words if self.vectors is None else has_words | self.vectors.any(axis=1)

    def matrix(self, values: np.ndarray) -> sparse.csr_matrix:
        """Return a CSR matrix (n_documents, n_words) with `values` in place of `counts`."""
        shape = self.n_documents, len(self.words)
        return sparse.csr_matrix((values, self.indices, self.indptr), shape)


@dataclass(frozen=True)
class SentenceBatch:
    """Documents of sentences: document d has rows ``starts[d]:starts[d + 1]`` of `sentences`."""

    sentences: Minibatch  #: With a row for each sentence
    starts: np.ndarray  #: (n_documents + 1,), int64

    @property
    def n_documents(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Number of tokens of each document, of shape (n_documents,), float64."""
        before = np.concatenate([np.zeros(1), np.cumsum(self.sentences.lengths)])
        return np.diff(before[self.starts])


@dataclass(frozen=True)
class Groups:
    """Documents of a minibatch unlike all topics, by possible new topics."""

    counts: np.ndarray  #: (n_words, n_groups): tokens of the documents of each group
    documents: np.ndarray  #: (n_groups,): number of documents
    members: np.ndarray  #: (n_documents,): the group of each document, -1 for none
    #: (n_groups, n_dimensions + 1): sums of the vectors of the documents, and numbers of vectors
    directions: np.ndarray | None = None
    needed: float = 0.0  #: Documents each needs to become a topic


@dataclass(frozen=True)
class WordLists:
    """Weights of words in topics: prior_w base_k + scale_k n_wk, n_wk > 0 in a list alone."""

    places: np.ndarray  #: (n_words, 2), int64: where each list begins, and its length
    topics: np.ndarray  #: int32, ascending in each list, and n_wk
    counts: np.ndarray
    scale: np.ndarray  #: (n_components,)
    base: np.ndarray  #: (n_components,)
    prior: np.ndarray  #: (n_words,): pseudo-counts of the words
    least: float  #: Tokens below which a count is rounded at random


@dataclass(frozen=True)
class Topics:
    """Input of a local step (the inference of documents): weights of words in topics.

    The topics are the columns ``weights[:, : len(alpha)]``. Further columns are 0 and only fill up
    the vector length of the processor.
    """

    #: (n_words, width), dtype of the counts: exp(E[log beta]) of the minibatch's words in topics,
    #: each row divided by a factor of its word. `Gibbs` alone may get `WordLists` instead
    weights: Any
    alpha: np.ndarray  #: (n_components,): Dirichlet parameter of the documents' proportions
    #: (n_components, n_dimensions): expected directions of vectors, times their concentration
    means: np.ndarray | None = None
    #: (n_words,): log of the factors of the rows of `weights`; empty if no rule needs "local_bound"
    log_factors: np.ndarray = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True)
class Statistics:
    """Expected sufficient statistics of a minibatch; optional fields are None if not needed.

    `counts` of shape (n_words, n_components) has the expected tokens of the words `words` in each
    topic. `lengths` of shape (n_documents,) has the tokens of each document.
    """

    _holds = "words: W i4 >=0; counts: f W K; lengths: * >=0; log_theta: K; alpha: K"
    words: np.ndarray  #: (n_words,), int32: the words of the rows of `counts`, sorted
    #: (n_words, n_components): expected tokens of each word in each topic; an array, or a
    #: csr_array, in which a row may have several entries of a topic, to be summed
    counts: Any
    lengths: np.ndarray  #: (n_documents,): tokens; their sum is that of `counts`, but for rounding
    #: (n_components,): E[log theta] of the topic proportions theta, the mean over documents with
    #: words; None if no document has words
    log_theta: np.ndarray | None = None
    #: E_q[log p(x, z | beta)] - E_q[log q(z)] in nats, summed over documents. The word
    #: weights are made from the q(beta) of the expectation
    local_bound: float | None = None
    #: (n_components,): Dirichlet parameter of the proportions in the local step
    alpha: np.ndarray | None = None
    takes_back: bool = False  #: Whether counts of earlier documents are subtracted
    #: (n_components,): expected proportions, the mean over documents with words or a vector
    shares: np.ndarray | None = None
    n_batches: int = 1
    #: (n_components, n_dimensions + 1): expected sum of the documents' vectors, and number of
    #: vectors
    directions: np.ndarray | None = None
    n_empty: int = 0  #: Documents with a vector and no words

    @property
    def n_documents(self) -> int:
        return len(self.lengths)

    @property
    def n_informative(self) -> int:
        """Number of documents with words or a vector."""
        return int(np.count_nonzero(self.lengths)) + self.n_empty

    @cached_property
    def n_tokens(self) -> float:
        return float(self.lengths.sum())

    @cached_property
    def mass(self) -> np.ndarray:
        """Expected number of tokens of each topic, of shape (n_components,)."""
        return self.counts.sum(axis=0, dtype=np.float64)

    def plus(self, other: "Statistics", scale: float) -> "Statistics":
        """Return a copy with `scale` times the counts and vector sums of `other` added.

        The result has the words of both. Fields of documents, such as `lengths`, stay the same.
        """
        words = np.union1d(self.words, other.words)
        counts = np.zeros((len(words), self.counts.shape[1]))
        counts[np.searchsorted(words, self.words)] = in_full(self.counts)
        counts[np.searchsorted(words, other.words)] += scale * in_full(other.counts)
        takes_back, directions = self.takes_back or scale < 0, self.directions
        if directions is not None and other.directions is not None:
            directions = directions + scale * other.directions
        return replace(
            self, words=words, counts=counts, takes_back=takes_back, directions=directions
        )

    def without(self, words: np.ndarray) -> "Statistics":
        """Return a copy without the counts of `words`, an array of column numbers."""
        kept = ~np.isin(self.words, words)
        return replace(self, words=self.words[kept], counts=self.counts[kept])


def in_full(counts: Any) -> np.ndarray:
    """Counts as an array."""
    return np.asarray(counts.toarray() if isinstance(counts, sparse.csr_array) else counts)


@dataclass(frozen=True)
class SummedStatistics:
    """Statistics summed over several minibatches, without those of single documents."""

    takes_back: ClassVar[bool] = False
    local_bound: ClassVar[None] = None

    words: np.ndarray  #: (n_words,): the words of the rows of `counts`, sorted
    counts: Any  #: (n_words, n_components): weighted sum of the counts
    n_batches: int  #: Minibatches and documents in the sum
    n_documents: int
    n_tokens: float  #: Tokens of these documents
    #: (n_components, n_dimensions + 1): weighted sum of the directions
    directions: np.ndarray | None = None

    @cached_property
    def mass(self) -> np.ndarray:
        """Sum of the counts of each topic, of shape (n_components,)."""
        return self.counts.sum(axis=0, dtype=np.float64)


@dataclass(frozen=True)
class TableStatistics(Statistics):
    """Statistics; the last columns may be topics new to the posterior."""

    #: (n_components,): tables of each topic in the Chinese restaurant franchise, over documents
    tables: np.ndarray = field(kw_only=True)

    def of(self, topics: np.ndarray) -> "TableStatistics":
        """Return the statistics of some of the topics."""
        counts = np.ascontiguousarray(self.counts[:, topics])
        alpha = None if self.alpha is None else self.alpha[topics]
        return replace(self, counts=counts, tables=self.tables[topics], alpha=alpha)


@dataclass(frozen=True)
class NodeStatistics:
    """Expected sufficient statistics of a minibatch, for a `DensePosterior`."""

    n_batches: ClassVar[int] = 1

    additions: dict[str, np.ndarray]  #: By block, the additions to natural parameters
    n_documents: int  #: Samples in the minibatch
    mass: np.ndarray  #: (n_nodes,): expected number of samples of each node, or a precision
    n_tokens: float  #: Expected number of samples, summed over the nodes without a precision
    #: As in `Statistics`; None if unknown to the model
    local_bound: float | None = None

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Files of earlier versions have no n_tokens.
        self.__dict__.update({"n_tokens": float(state["mass"].sum())} | state)

    def plus(self, other: "NodeStatistics", scale: float) -> "NodeStatistics":
        """Return a copy with `scale` times `additions` and `mass` of `other` added.

        `n_documents` and `n_tokens` stay the same.
        """
        additions = {
            name: mine + scale * other.additions[name] for name, mine in self.additions.items()
        }
        return replace(self, additions=additions, mass=self.mass + scale * other.mass)


@dataclass(frozen=True)
class StackedStatistics:
    """Statistics of topics in several parts; the last part has a share in all documents."""

    # Not reported by the local step.
    local_bound: ClassVar[None] = None
    n_batches: ClassVar[int] = 1

    parts: tuple[Statistics, ...]

    @property
    def n_documents(self) -> int:
        return self.parts[-1].n_documents

    @property
    def n_tokens(self) -> float:
        return self.parts[-1].n_tokens

    @cached_property
    def mass(self) -> np.ndarray:
        """Expected number of tokens of each topic, of shape (n_components,)."""
        return np.concatenate([part.mass for part in self.parts])

    def plus(self, other: "StackedStatistics", scale: float) -> "StackedStatistics":
        pairs = zip(self.parts, other.parts, strict=True)
        return StackedStatistics(tuple(mine.plus(theirs, scale) for mine, theirs in pairs))

    def without(self, words: np.ndarray) -> "StackedStatistics":
        return StackedStatistics(tuple(part.without(words) for part in self.parts))


AnyStatistics = Statistics | SummedStatistics | NodeStatistics | StackedStatistics


def _sums(places: np.ndarray, values: np.ndarray, n: int) -> np.ndarray:
    """Sums of values by place, (n,), in doubles, because bincount of nothing returns integers."""
    return np.bincount(places, weights=values, minlength=n).astype(np.float64, copy=False)
