# SPDX-License-Identifier: BSD-3-Clause
"""Protocol of local steps, and common work on minibatches and seeds."""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from streamtopics.kernels import minibatch as kernel
from streamtopics.kernels import rows
from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.utils.checks import MOST_WHOLE
from streamtopics.utils.parallel import Workers, spans

NOTHING: frozenset[str] = frozenset()
# Most tokens of a count, and relative rounding of whole counts.
MOST_TOKENS, TOLERANCE = 1024, 1e-6


class Source(Protocol):
    """Topics for a local step: a posterior, a proposed update, an average, or a start."""

    @property
    def alpha(self) -> np.ndarray:
        """Dirichlet parameter of the documents' topic proportions."""

    @property
    def mass(self) -> np.ndarray:
        """Sum of lam over the words, for each topic."""

    def rows(self, words: np.ndarray) -> np.ndarray:
        """Dirichlet parameters lam of words in topics, (len(words), n_components)."""


@runtime_checkable
class LocalStep(Protocol):
    """Base class of local steps, which infer the topics of documents.

    Subclasses define `step` and `doc_topic`. The random draws for a document must come from its
    seed in `seeds`, so that the result does not depend on other documents.
    """

    #: Reports of the step besides counts: "log_theta", "shares", "local_bound"
    reports: ClassVar[frozenset[str]] = NOTHING

    @property
    def n_background(self) -> int:
        """Number of background topics: the first topics, with the same shares in all documents."""
        return 0

    @abstractmethod
    def step(
        self,
        minibatch: Minibatch,
        topics: Topics,
        seeds: np.ndarray,
        workers: Workers,
        documents: Any = None,
        report: frozenset[str] = NOTHING,
    ) -> tuple[Statistics, Any]:
        """Return the expected statistics of a minibatch, and the state of the inference.

        The statistics hold expected counts of words in topics, and the results named in `report`.
        To continue the inference, call `step` with the state as `documents`, and with new seeds.
        """

    @abstractmethod
    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        """Return posterior means of topic proportions, of shape (n_documents, n_topics)."""

    def thorough(self) -> LocalStep:
        """Return a step of more exact inference; by default the step itself."""
        return self

    def applied(self) -> LocalStep:
        """Return the step used by `transform` and `score`; by default the result of `thorough`."""
        return self.thorough()


def cut(minibatch: Minibatch) -> tuple[np.ndarray, np.ndarray]:
    """Number and weight of the tokens of each count, for samplers.

    A count c is ceil(c) tokens of equal weight, but at most 1024.
    """
    whole = np.ceil(minibatch.counts * (1 - TOLERANCE))
    n_tokens = np.minimum(whole, MOST_TOKENS).astype(np.int32)
    return n_tokens, minibatch.counts / np.maximum(n_tokens, 1.0)


def minibatch_of(X: sparse.csr_matrix) -> Minibatch:
    if X.indptr[-1] > MOST_WHOLE:
        raise ValueError(
            f"a minibatch of X has {X.indptr[-1]:,} stored entries, more than {MOST_WHOLE:,}; pass "
            "fewer documents at a time, or make batch_size smaller"
        )
    words, places = rows.used_columns(X.indices, X.shape[1])
    return Minibatch(words, X.indptr.astype(np.int32), places, X.data)


def equal_parts(minibatch: Minibatch, least: int) -> list[tuple[int, int]]:
    """Cut the documents into at most 32 equal parts, of `least` entries or more."""
    ends = [stop for _, stop in spans(len(minibatch.indices), least)]
    if len(ends) == 1:
        return [(0, minibatch.n_documents)]
    inner = np.searchsorted(minibatch.indptr, ends[:-1]).tolist()
    edges = [0, *inner, minibatch.n_documents]
    return [(start, stop) for start, stop in pairwise(edges) if start < stop]


def part(minibatch: Minibatch, start: int, stop: int) -> tuple[Minibatch, np.ndarray]:
    """Documents start .. stop - 1 over their own words, and the indices of these words."""
    span = slice(minibatch.indptr[start], minibatch.indptr[stop])
    used, places = rows.used_columns(minibatch.indices[span], len(minibatch.words))
    indptr = minibatch.indptr[start : stop + 1] - minibatch.indptr[start]
    hints = None if minibatch.hints is None else minibatch.hints[start:stop]
    vectors = None if minibatch.vectors is None else minibatch.vectors[start:stop]
    own = minibatch.words[used], indptr, places, minibatch.counts[span], hints, vectors
    return Minibatch(*own), used


def of_rows(minibatch: Minibatch, chosen: np.ndarray) -> tuple[Minibatch, np.ndarray]:
    lengths = np.diff(minibatch.indptr)[chosen]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    entries = np.repeat(minibatch.indptr[chosen] - indptr[:-1], lengths) + np.arange(indptr[-1])
    used, places = rows.used_columns(minibatch.indices[entries], len(minibatch.words))
    return Minibatch(minibatch.words[used], indptr, places, minibatch.counts[entries]), used


def by_word(minibatch: Minibatch, values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sort values (nnz,) by word: starts of words, documents, and values."""
    starts = np.empty(len(minibatch.words) + 1, np.int32)
    documents, found = np.empty_like(minibatch.indices), np.empty_like(values)
    rows.by_column(minibatch.indptr, minibatch.indices, values, starts, documents, found)
    return starts, documents, found


def times(minibatch: Minibatch, x: np.ndarray, start: int, stop: int) -> np.ndarray:
    out = np.empty((stop - start, x.shape[1]), x.dtype)
    rows.multiply(minibatch.indptr, minibatch.indices, minibatch.counts, x, start, stop, out)
    return out


LOW_HALVES = np.uint64(0x0000FFFF0000FFFF)
# Of a seed, the number of documents before, and the number of documents.
document_seeds = kernel.document_seeds


def standard_noise(seed: int, words: np.ndarray, n_components: int) -> np.ndarray:
    """Standardised sums of four uniforms, hashes of (seed, word, topic)."""
    cells: np.ndarray = words.astype(np.uint64)[:, None] * np.uint64(n_components)
    cells = cells + np.arange(n_components, dtype=np.uint64)
    bits = mix(cells ^ mix(np.array([seed], dtype=np.uint64)))
    pairs = (bits & LOW_HALVES) + ((bits >> np.uint64(16)) & LOW_HALVES)
    uniforms = (pairs & np.uint64(0xFFFFFFFF)) + (pairs >> np.uint64(32))
    return (uniforms / 2.0**16 - 2.0) * 3.0**0.5


def mix(x: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014), elementwise."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def content_seeds(minibatch: Minibatch) -> np.ndarray:
    bits = minibatch.counts.astype(np.float32).astype(np.float64).view(np.uint64)
    entries = mix(bits ^ mix(minibatch.words.astype(np.uint64))[minibatch.indices])
    entries[minibatch.counts == 0] = 0
    running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return mix(np.diff(running[minibatch.indptr]))
