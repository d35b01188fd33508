# SPDX-License-Identifier: BSD-3-Clause
"""Collapsed Gibbs sampling in the documents of latent Dirichlet allocation."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import digamma

from streamtopics.kernels import gibbs
from streamtopics.local.step import NOTHING, LocalStep, by_word, cut, equal_parts, mix
from streamtopics.messages import Minibatch, Statistics, Topics, WordLists
from streamtopics.utils.checks import check_range, check_whole
from streamtopics.utils.parallel import Workers, spans

ENTRIES_PER_JOB = 4096
WORDS_PER_JOB = 1024
MOST_IN_A_JOB = 2**31 - 1
# Topics from which on counts are in lists by default, and tokens below which they are rounded then;
# topics that lists need.
MANY_TOPICS, ROUNDING, LEAST_TOPICS = 2000, 0.01, 33
# Share of these tokens that statistics are rounded to: a minibatch counts up to three times.
IN_STATISTICS = 1 / 3


@dataclass(frozen=True)
class Gibbs(LocalStep):
    """Collapsed Gibbs sampling of each document's topics, averaged over the last sweeps.

    A fractional count c is sampled as ceil(c) tokens of weight c / ceil(c).

    Parameters
    ----------
    n_sweeps : int
        Sweeps over a document.
    n_averaged : int or None
        Number of last sweeps over which the topic probabilities of the tokens are averaged. None is
        a quarter of the sweeps, rounded up. 0 takes the topics drawn in the last sweep instead.
    rounding : float or "auto"
        An expected count of a word in a topic below `rounding` becomes `rounding` or 0 at random,
        with the same mean. So a word has counts in few of many topics. 0 rounds nothing; "auto" is
        0.01 from 2000 topics on, else 0. Nothing is rounded below 33 topics, with averages, with
        rules that forget or add noise, if priors differ between topics, or `view` is not `Mean`.
    """

    n_sweeps: int = 5
    n_averaged: int | None = None
    rounding: float | Literal["auto"] = "auto"

    reports: ClassVar[frozenset[str]] = frozenset({"log_theta"})

    def __post_init__(self) -> None:
        check_whole(self, n_sweeps=self.n_sweeps)
        if self.n_averaged is not None:
            check_whole(self, least=0, most=self.n_sweeps, n_averaged=self.n_averaged)
        if self.rounding != "auto":
            check_range(self, 0, 1, rounding=self.rounding)

    def rounding_of(self, n_components: int) -> float:
        """Tokens below which counts are rounded; 0 for none."""
        if self.rounding != "auto":
            return self.rounding if n_components >= LEAST_TOPICS else 0.0
        return ROUNDING if n_components >= MANY_TOPICS else 0.0

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
        seen = _Seen.of(topics, workers)
        parts = self._run(minibatch, topics, seen, seeds, workers, documents, True, log_theta)
        z = np.concatenate([part.z for part in parts])
        if self.averaged == 0:
            counts: Any = _count(minibatch, z, len(topics.alpha), seen.lists is not None)
        else:
            counts = _average(minibatch, topics, seen, parts, seeds, workers)
        mean = self._mean_log_theta(minibatch, topics, parts) if log_theta else None
        return Statistics(minibatch.words, counts, minibatch.lengths, mean), z

    def doc_topic(
        self, minibatch: Minibatch, topics: Topics, seeds: np.ndarray, workers: Workers
    ) -> np.ndarray:
        seen = _Seen.of(topics, workers)
        parts = self._run(minibatch, topics, seen, seeds, workers, None, False, False)
        gamma = topics.alpha + np.concatenate([part.mean_counts for part in parts])
        gamma /= gamma.sum(axis=1, keepdims=True)
        return gamma.astype(minibatch.counts.dtype, copy=False)

    def _run(
        self,
        minibatch: Minibatch,
        topics: Topics,
        seen: "_Seen",
        seeds: np.ndarray,
        workers: Workers,
        documents: np.ndarray | None,
        learns: bool,
        log_theta: bool,
    ) -> list["_Chains"]:
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
                own_token.astype(np.int32), token_weight[first:last], seeds[start:stop],
                seen.weights, seen.prior, seen.mass, topics.alpha, self.n_sweeps, self.averaged,
                warm, learns, z, inverse, first_column, first_value, mean_counts.ravel(), sums,
                seen.lists,
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


class _Seen(NamedTuple):
    """The weights of words in topics, as the kernel reads them: rows, or lists in their place."""

    weights: np.ndarray | None
    prior: np.ndarray | None
    mass: np.ndarray | None
    lists: Any

    @classmethod
    def of(cls, topics: Topics, workers: Workers) -> "_Seen":
        own, alpha = topics.weights, topics.alpha.astype(np.float32)
        if isinstance(own, WordLists):
            scaled, sums = own.scale * topics.alpha, np.cumsum(own.base * topics.alpha)
            of_topics = np.array((own.scale, own.base, topics.alpha, scaled, sums), np.float32)
            prior = own.prior.astype(np.float32)
            lists = gibbs.Lists(own.places, own.topics, own.counts, prior, of_topics)
            workers.share(lists.prepare, spans(len(own.places), WORDS_PER_JOB))
            return cls(None, None, None, lists)
        weights = own.astype(np.float32, copy=False)
        prior = np.zeros(weights.shape[1], np.float32)
        prior[: len(alpha)] = alpha
        mass = np.empty((len(weights), gibbs.n_parts(len(prior))), np.float32)
        gibbs.prior_mass(weights, prior, 0, len(weights), mass)
        return cls(weights, prior, mass, None)


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
    minibatch: Minibatch, topics: Topics, seen: _Seen, parts: list[_Chains], seeds: np.ndarray,
    workers: Workers,
) -> Any:  # fmt: skip
    """Return the expected tokens of each word in each topic, (n_words, K), or lists of them."""
    shape = len(minibatch.words), len(topics.alpha)
    rounding: tuple[Any, ...] = ()
    listed = seen.lists is not None
    out = np.empty((0, 0) if listed else shape, minibatch.counts.dtype)
    lengths = np.zeros(shape[0], np.int32)
    if listed and shape[0]:
        # The first document tells minibatches apart.
        of_words = mix(minibatch.words.astype(np.uint64) ^ seeds[:1])
        least = topics.weights.least
        rounding = seen.lists, of_words, least, IN_STATISTICS * least, lengths
    given = (
        *by_word(minibatch, np.arange(len(minibatch.indices), dtype=np.int32)), minibatch.indptr,
        seen.weights, seen.prior,
        np.concatenate([part.inverse for part in parts]),
        np.concatenate([_addresses(part.columns, part.first_column) for part in parts]),
        np.concatenate([_addresses(part.values, part.first_value) for part in parts]),
    )  # fmt: skip
    jobs = ((*given, *span, out, *rounding) for span in spans(shape[0], WORDS_PER_JOB))
    lists = workers.share(gibbs.word_statistics, jobs)
    if not rounding:
        return sparse.csr_array(shape) if listed else out
    topics_of, values = (np.concatenate(arrays) for arrays in zip(*lists, strict=True))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return sparse.csr_array((values, topics_of, indptr), shape)


def _addresses(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Memory addresses of places of an array; 0 for the place -1."""
    return (values.ctypes.data + values.itemsize * places) * (places >= 0)


def _count(minibatch: Minibatch, z: np.ndarray, n_topics: int, listed: bool) -> Any:
    """Return the sampled tokens of each word in each topic, (n_words, K), or lists of them."""
    n_tokens, token_weight = cut(minibatch)
    weights, words = (np.repeat(x, n_tokens) for x in (token_weight, minibatch.indices))
    found = sparse.coo_array((weights, (words, z)), (len(minibatch.words), n_topics))
    return found.tocsr() if listed else found.toarray().astype(minibatch.counts.dtype)
