# SPDX-License-Identifier: BSD-3-Clause
"""Gibbs sampling of sentence topic models over a corpus.

Blocks of documents are swept in parallel. Each block sees the topic counts before the sweep and its
own changes (Newman et al., 2009). Blocks depend on the corpus alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from streamtopics.utils.checks import check_range
from streamtopics.utils.parallel import SERIAL, Workers
from streamtopics.was.corpus import MOST_WORDS, SentenceCorpus, document_seeds, own_words
from streamtopics.was.prior import LEAST, MOST, SentencePrior

# Words of a block of documents swept one after the other. After 100 sweeps over 18,000 and 230,000
# words of source code, held-out perplexity equals one block for blocks from 500 and 20,000 words
# on.
WORDS_PER_BLOCK = 20_000
# Documents that one job folds in.
WORDS_PER_JOB = 5_000
# Words read by a particle before its weight is compared.
WORDS_PER_COMPARISON = 8


class SamplerState(NamedTuple):
    """Topic, table and dish of each word, int32 arrays of shape (n_words,).

    A table is numbered by its first word in the document; -1 without a seat.
    """

    topic: np.ndarray
    table: np.ndarray
    dish: np.ndarray

    @classmethod
    def empty(cls, n_words: int) -> Self:
        return cls(*np.full((3, n_words), -1, np.int32))

    @classmethod
    def joined(cls, parts: Sequence[SamplerState]) -> Self:
        return cls(*map(np.concatenate, zip(*parts, strict=True)))

    def part(self, first: int, last: int) -> SamplerState:
        return SamplerState(*(field[first:last].copy() for field in self))


class TopicCounts(NamedTuple):
    counts: np.ndarray  # (n_features, K).
    mass: np.ndarray  # Sums over the whole vocabulary, (K,).
    eta: np.ndarray  # (n_features,).
    eta_mass: float

    @classmethod
    def none(cls, n_features: int, n_topics: int, eta: float) -> Self:
        nothing, every = np.zeros((n_features, n_topics)), np.full(n_features, float(eta))
        return cls(nothing, np.zeros(n_topics), every, float(eta) * n_features)

    def rows(self, words: np.ndarray) -> TopicCounts:
        return TopicCounts(self.counts[words], self.mass.copy(), self.eta[words], self.eta_mass)

    def changed(self, parts: Sequence[tuple[np.ndarray, TopicCounts]]) -> TopicCounts:
        counts, mass = self.counts.copy(), self.mass.copy()
        for words, local in parts:
            counts[words] += local.counts - self.counts[words]
            mass += local.mass - self.mass
        return self._replace(counts=counts, mass=mass)


class GivenTopics(NamedTuple):
    """Fixed topics: `counts` are weights of words in topics, (n_words, K)."""

    counts: np.ndarray
    mass: None = None
    eta: None = None
    eta_mass: float = 0.0


class Averages(NamedTuple):
    """Posterior means over the averaged sweeps, and the last seats."""

    state: SamplerState
    word_topic: np.ndarray  # p(topic) of each word, (n_words, K).
    sentence_topic: np.ndarray  # E[topic proportions], (n_sentences, K).
    n_tables: np.ndarray  # By sentence.
    n_dishes: np.ndarray  # By document.

    @classmethod
    def joined(cls, parts: Sequence[Averages]) -> Self:
        states, *means = zip(*parts, strict=True)
        return cls(SamplerState.joined(states), *map(np.concatenate, means))


@dataclass(frozen=True)
class SentenceSampler:
    """Samples the topics, tables and dishes of documents under a prior.

    `seeds` are uint64, one for each document.
    """

    prior: SentencePrior
    atom_prior: float

    def __post_init__(self) -> None:
        check_range(self, LEAST, MOST, atom_prior=self.atom_prior)

    # Topics integrated out

    def start(
        self, corpus: SentenceCorpus, topics: TopicCounts, seeds: np.ndarray
    ) -> tuple[SamplerState, TopicCounts]:
        """Seat each word given the earlier words of the document, and add the words to `topics`."""
        words, own = own_words(corpus)
        local = topics.rows(words)
        return self._assign(own, local, seeds), topics.changed([(words, local)])

    def sweep(
        self,
        corpus: SentenceCorpus,
        state: SamplerState,
        topics: TopicCounts,
        seeds: np.ndarray,
        number: int,
        workers: Workers = SERIAL,
        *,
        words_per_block: int = WORDS_PER_BLOCK,
    ) -> tuple[SamplerState, TopicCounts]:
        """Sweep over all words, given the topics of all other words.

        A single block is exact collapsed Gibbs sampling.
        """
        bounds = corpus.bounds

        def job(first: int, last: int) -> tuple[Any, ...]:
            words, own = own_words(corpus.part(first, last))
            part = state.part(bounds[first], bounds[last])
            return own, part, words, topics.rows(words), seeds[first:last], number

        jobs = (job(*span) for span in corpus.spans(words_per_block))
        results = workers.share(self._sweep_block, jobs)
        merged = topics.changed([(words, local) for words, local, _ in results])
        return SamplerState.joined([part for *_, part in results]), merged

    def _assign(
        self, corpus: SentenceCorpus, topics: TopicCounts | GivenTopics, seeds: np.ndarray
    ) -> SamplerState:
        state, log_p = SamplerState.empty(corpus.n_words), np.zeros(corpus.n_documents)
        self._compiled(topics).start(corpus, seeds, state, 0, corpus.n_words, log_p)
        return state

    def _sweep_block(
        self,
        corpus: SentenceCorpus,
        state: SamplerState,
        words: np.ndarray,
        topics: TopicCounts,
        seeds: np.ndarray,
        number: int,
    ) -> tuple[np.ndarray, TopicCounts, SamplerState]:
        self._compiled(topics).sweep(corpus, seeds, state, number, number + 1)
        return words, topics, state

    def _compiled(self, topics: TopicCounts | GivenTopics) -> Any:
        return self.prior.sampler(topics, float(self.atom_prior))

    # Given topics

    def fold_in(
        self,
        corpus: SentenceCorpus,
        weights: np.ndarray,
        seeds: np.ndarray,
        *,
        n_sweeps: int = 30,
        n_averaged: int = 15,
        state: SamplerState | None = None,
        first_sweep: int = 0,
        workers: Workers = SERIAL,
    ) -> Averages:
        """Sample each document under fixed topics, and average the last sweeps.

        `weights`, (n_features, K), are p(word | topic) up to a factor for each word.
        """
        bounds, sweeps = corpus.bounds, (first_sweep, first_sweep + n_sweeps, n_averaged)

        def job(first: int, last: int) -> tuple[Any, ...]:
            words, own = own_words(corpus.part(first, last))
            part = None if state is None else state.part(bounds[first], bounds[last])
            return own, part, _given(weights, words), seeds[first:last], sweeps

        jobs = (job(*span) for span in corpus.spans(WORDS_PER_JOB))
        return Averages.joined(workers.share(self._fold_in_block, jobs))

    def log_likelihood(
        self,
        corpus: SentenceCorpus,
        weights: np.ndarray,
        seeds: np.ndarray,
        *,
        n_particles: int = 100,
        workers: Workers = SERIAL,
    ) -> np.ndarray:
        """Estimate log p(words of each document) in nats by a particle filter.

        A particle seats each word given the earlier words. The exponential is unbiased.
        """
        longest = int(np.diff(corpus.bounds).max(initial=0))
        if not self.prior.sequential or longest * n_particles > MOST_WORDS:
            raise ValueError(
                f"log_likelihood reads sentences word by word, in n_particles={n_particles} copies "
                f"of up to {MOST_WORDS:,} words; {self.prior!r} or a document of {longest:,} "
                "words does not allow this. Use score"
            )

        def job(d: int) -> tuple[Any, ...]:
            words, own = own_words(corpus.part(d, d + 1))
            return own, _given(weights, words), int(seeds[d]), n_particles

        jobs = (job(d) for d in range(corpus.n_documents))
        return np.array(workers.share(self._filter, jobs), dtype=np.float64)

    def _fold_in_block(
        self,
        corpus: SentenceCorpus,
        state: SamplerState | None,
        topics: GivenTopics,
        seeds: np.ndarray,
        sweeps: tuple[int, int, int],
    ) -> Averages:
        state = self._assign(corpus, topics, seeds) if state is None else state
        K, sizes = topics.counts.shape[1], (corpus.n_sentences, corpus.n_documents)
        of_topics = (np.zeros((n, K)) for n in (corpus.n_words, corpus.n_sentences))
        means = Averages(state, *of_topics, *map(np.zeros, sizes))
        self._compiled(topics).sweep(corpus, seeds, state, *sweeps, means)
        return means

    def _filter(
        self, corpus: SentenceCorpus, topics: GivenTopics, seed: int, n_particles: int
    ) -> float:
        n = corpus.n_words
        repeated, seeds = corpus.repeat(n_particles), document_seeds(seed, 0, n_particles)
        state, log_p = SamplerState.empty(n * n_particles), np.empty(n_particles)
        fields = [field.reshape(n_particles, n) for field in state]
        sampler = self._compiled(topics)
        rng = np.random.default_rng(seed)
        log_weight, total = np.zeros(n_particles), 0.0
        for first in range(0, n, WORDS_PER_COMPARISON):
            sampler.start(repeated, seeds, state, first, first + WORDS_PER_COMPARISON, log_p)
            log_weight += log_p
            weight = np.exp(log_weight - logsumexp(log_weight))
            if 1 / (weight**2).sum() < n_particles / 2:
                total += logsumexp(log_weight) - np.log(n_particles)
                log_weight[:] = 0.0
                ancestors = _systematic(weight, rng.random())
                for field in fields:
                    field[:] = field[ancestors]
        return float(total + logsumexp(log_weight) - np.log(n_particles))


def word_statistics(corpus: SentenceCorpus, word_topic: np.ndarray, n_features: int) -> np.ndarray:
    places = np.arange(corpus.n_words + 1)
    by_word = sparse.csr_matrix(
        (np.ones(corpus.n_words), corpus.words, places), shape=(corpus.n_words, n_features)
    )
    return np.asarray(by_word.T @ word_topic)


def _given(weights: np.ndarray, words: np.ndarray) -> GivenTopics:
    return GivenTopics(np.ascontiguousarray(weights[words], dtype=np.float64))


def _systematic(weight: np.ndarray, u: float) -> np.ndarray:
    """Draw n of n indices, index i weight[i] * n times on average."""
    points = (u + np.arange(len(weight))) / len(weight)
    return np.minimum(np.searchsorted(np.cumsum(weight), points), len(weight) - 1)
