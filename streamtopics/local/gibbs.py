# SPDX-License-Identifier: BSD-3-Clause
"""Collapsed Gibbs sampling in the documents of latent Dirichlet allocation."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import digamma

from streamtopics.kernels import gibbs
from streamtopics.local.step import NOTHING, LocalStep, by_word, cut, equal_parts
from streamtopics.messages import Minibatch, Statistics, Topics
from streamtopics.utils.checks import check_whole
from streamtopics.utils.parallel import Workers, spans

ENTRIES_PER_JOB = 4096
WORDS_PER_JOB = 1024
MOST_IN_A_JOB = 2**31 - 1


@dataclass(frozen=True)
class Gibbs(LocalStep):
    """Collapsed Gibbs sampling of each document, averaged over the last sweeps.

    Fractional counts are sampled as whole tokens of smaller weight.

    Parameters
    ----------
    n_sweeps : int
        Sweeps over a document.
    n_averaged : int or None
        Last sweeps in the averages; None is a quarter, rounded up. 0 takes the last sample's
        counts.
    """

    n_sweeps: int = 5
    n_averaged: int | None = None

    reports: ClassVar[frozenset[str]] = frozenset({"log_theta"})

    def __post_init__(self) -> None:
        check_whole(self, n_sweeps=self.n_sweeps)
        if self.n_averaged is not None:
            check_whole(self, least=0, most=self.n_sweeps, n_averaged=self.n_averaged)

    @property
    def averaged(self) -> int:
        return -(-self.n_sweeps // 4) if self.n_averaged is None else self.n_averaged

    def thorough(self) -> "Gibbs":
        """Return the step of 40 sweeps, averaged over the last 30."""
        return THOROUGH

    def applied(self) -> "Gibbs":
        """Return the step of 20 sweeps, averaged over the last 15; a thorough step stays."""
        return self if self == THOROUGH else APPLIED

    def step(
        self,
        minibatch: Minibatch,
        topics: Topics,
        seeds: np.ndarray,
        workers: Workers,
        documents: np.ndarray | None = None,
        report: frozenset[str] = NOTHING,
    ) -> tuple[Statistics, np.ndarray]:
        # The state is the topic of each token, in CSR order.
        log_theta = "log_theta" in report
        parts = self._run(minibatch, topics, seeds, workers, documents, True, log_theta)
        z = np.concatenate([part.z for part in parts])
        shape = len(minibatch.words), len(topics.alpha)
        counts = np.empty(shape, minibatch.counts.dtype)
        if self.averaged > 0:
            _average(minibatch, topics, parts, workers, counts)
        else:
            _count(minibatch, z, counts)
        mean = self._mean_log_theta(minibatch, topics, parts) if log_theta else None
        return Statistics(minibatch.words, counts, minibatch.lengths, mean), z

    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        parts = self._run(minibatch, topics, seeds, workers, None, False, False)
        gamma = topics.alpha + np.concatenate([part.mean_counts for part in parts])
        gamma /= gamma.sum(axis=1, keepdims=True)
        return gamma.astype(minibatch.counts.dtype, copy=False)

    def _run(
        self,
        minibatch: Minibatch,
        topics: Topics,
        seeds: np.ndarray,
        workers: Workers,
        documents: np.ndarray | None,
        learns: bool,
        log_theta: bool,
    ) -> list["_Chains"]:
        weights = topics.weights.astype(np.float32, copy=False)
        prior = np.zeros(weights.shape[1], np.float32)
        prior[: len(topics.alpha)] = topics.alpha
        mass = np.empty((len(weights), gibbs.n_parts(len(prior))), np.float32)
        gibbs.prior_mass(weights, prior, 0, len(weights), mass)
        n_tokens, token_weight = cut(minibatch)
        first_token = np.concatenate([[0], np.cumsum(n_tokens, dtype=np.int64)])

        def sample(start: int, stop: int) -> "_Chains":
            first, last = minibatch.indptr[start], minibatch.indptr[stop]
            own_token = first_token[first : last + 1] - first_token[first]
            if own_token[-1] > MOST_IN_A_JOB:
                raise ValueError(
                    f"some documents of a minibatch have {own_token[-1]:,} tokens together, more "
                    "than a sampler can number; cut them into smaller documents"
                )
            n, n_topics, warm = stop - start, len(topics.alpha), documents is not None
            z = np.empty(own_token[-1], np.int32)
            if documents is not None:
                z[:] = documents[first_token[first] : first_token[last]]
            inverse = np.zeros(last - first, np.float32)
            first_column, first_value = np.full((2, n), -1, np.int64)
            mean_counts = np.zeros((0 if learns else n, n_topics))
            sums = np.zeros(2 * n_topics + 1 if log_theta else 0)
            columns, values = gibbs.sample_documents(
                minibatch.indptr[start : stop + 1] - first, minibatch.indices[first:last],
                own_token.astype(np.int32), token_weight[first:last], seeds[start:stop], weights,
                prior, mass, topics.alpha, self.n_sweeps, self.averaged, warm, learns, z,
                inverse, first_column, first_value, mean_counts.ravel(), sums,
            )  # fmt: skip
            return _Chains(
                z, inverse, first_column, first_value, columns, values, mean_counts, sums
            )

        return workers.share(sample, equal_parts(minibatch, ENTRIES_PER_JOB))

    def _mean_log_theta(
        self, minibatch: Minibatch, topics: Topics, parts: list["_Chains"]
    ) -> np.ndarray | None:
        """Mean of digamma(alpha + N_d) - digamma(alpha_0 + N_d.) over documents with tokens."""
        n = np.count_nonzero(minibatch.lengths) * max(self.averaged, 1)
        if n == 0:
            return None
        total: Any = sum(part.log_theta for part in parts)
        held, elsewhere = total[:-1].reshape(2, -1)
        return (held + (n - elsewhere) * digamma(topics.alpha) - total[-1]) / n


THOROUGH, APPLIED = Gibbs(n_sweeps=40, n_averaged=30), Gibbs(n_sweeps=20, n_averaged=15)


@dataclass(frozen=True)
class _Chains:
    z: np.ndarray
    inverse: np.ndarray
    first_column: np.ndarray
    first_value: np.ndarray
    columns: np.ndarray
    values: np.ndarray
    mean_counts: np.ndarray
    log_theta: np.ndarray


def _average(
    minibatch: Minibatch, topics: Topics, parts: list[_Chains], workers: Workers, counts: np.ndarray
) -> None:
    """Write the expected tokens of each word in each topic, (n_words, K), into `counts`."""
    n_words, n_entries = len(minibatch.words), len(minibatch.indices)
    prior = np.zeros(topics.weights.shape[1], np.float32)
    prior[: len(topics.alpha)] = topics.alpha
    given = (
        *by_word(minibatch, np.arange(n_entries, dtype=np.int32)), minibatch.indptr,
        topics.weights.astype(np.float32, copy=False), prior,
        np.concatenate([part.inverse for part in parts]),
        np.concatenate([_addresses(part.columns, part.first_column) for part in parts]),
        np.concatenate([_addresses(part.values, part.first_value) for part in parts]),
    )  # fmt: skip
    jobs = ((*given, *span, counts) for span in spans(n_words, WORDS_PER_JOB))
    workers.share(gibbs.word_statistics, jobs)


def _addresses(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Memory addresses of places of an array; 0 for the place -1."""
    return (values.ctypes.data + values.itemsize * places) * (places >= 0)


def _count(minibatch: Minibatch, z: np.ndarray, counts: np.ndarray) -> None:
    """Write the sampled tokens of each word in each topic, (n_words, K), into `counts`."""
    n_tokens, token_weight = cut(minibatch)
    n_words, n_topics = counts.shape
    cells = np.repeat(minibatch.indices.astype(np.int64) * n_topics, n_tokens) + z
    weights = np.repeat(token_weight, n_tokens)
    counts[:] = np.bincount(cells, weights, n_words * n_topics).reshape(counts.shape)
