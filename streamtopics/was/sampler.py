# SPDX-License-Identifier: BSD-3-Clause
"""Gibbs sampling of sentence topic models over a corpus.

Topics are shared by all documents, all else belongs to one: with given topics the
documents are independent. With topics that are integrated out, blocks of documents
are swept side by side; each sees the counts of the topics as they were before the
sweep, and its own changes, as in Newman et al. (2009). The blocks depend on the
corpus alone, and so do the results, whatever the number of workers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from streamtopics.parallel import SERIAL, Workers
from streamtopics.was.corpus import MOST_WORDS, SentenceCorpus, document_seeds, own_words
from streamtopics.was.prior import SentencePrior, check_positive, check_prior

# A block of documents that are swept one after the other. After 100 sweeps over 18,000 and
# 230,000 words of source code, held-out perplexity was that of one block for blocks from 500 and
# from 20,000 words on.
WORDS_PER_BLOCK = 20_000
# Documents that one job folds in.
WORDS_PER_JOB = 5_000
# What a particle reads before its weight is compared with the others'.
WORDS_PER_COMPARISON = 8


@dataclass(frozen=True)
class Assignments:
    """The topic, table and dish of each word, arrays of shape (n_words,) of int32.

    Attributes
    ----------
    topic : ndarray
    table : ndarray
        A table is named by the number, in the document, of its first word; -1 for a word
        that has no seat yet.
    dish : ndarray
        The table's dish, a number within the document.
    """

    topic: np.ndarray
    table: np.ndarray
    dish: np.ndarray

    @classmethod
    def empty(cls, n_words: int) -> Self:
        """Return those of words without a seat."""
        return cls(*np.full((3, n_words), -1, np.int32))

    @classmethod
    def joined(cls, parts: Sequence[Assignments]) -> Self:
        """Return those of corpora that follow each other."""
        columns = zip(*((part.topic, part.table, part.dish) for part in parts), strict=True)
        return cls(*(np.concatenate(column) for column in columns))

    def part(self, first: int, last: int) -> Assignments:
        """Return a copy for the words first .. last - 1."""
        span = slice(first, last)
        return Assignments(self.topic[span].copy(), self.table[span].copy(), self.dish[span].copy())


@dataclass(frozen=True)
class TopicCounts:
    """The words of each topic, and the prior of the topics.

    Attributes
    ----------
    counts : ndarray of shape (n_features, K), float64
    mass : ndarray of shape (K,), float64
        Sums of the columns of the counts, over the whole vocabulary.
    eta : ndarray of shape (n_features,), float64
    eta_mass : float
        Sum of eta over the whole vocabulary.
    """

    counts: np.ndarray
    mass: np.ndarray
    eta: np.ndarray
    eta_mass: float

    @classmethod
    def none(cls, n_features: int, n_topics: int, eta: float) -> Self:
        """Return counts of no words, under a symmetric prior."""
        return cls(
            np.zeros((n_features, n_topics)),
            np.zeros(n_topics),
            np.full(n_features, float(eta)),
            float(eta) * n_features,
        )

    @property
    def topic_word(self) -> np.ndarray:
        """E[topics], of shape (K, n_features)."""
        total = self.mass + self.eta_mass
        return np.ascontiguousarray(((self.counts + self.eta[:, None]) / total).T)

    def rows(self, words: np.ndarray) -> TopicCounts:
        """Return a copy for some of the words."""
        return TopicCounts(self.counts[words], self.mass.copy(), self.eta[words], self.eta_mass)


class GivenTopics(NamedTuple):
    """Topics that are known: `counts` has the weight of each word in each, (n_words, K)."""

    counts: np.ndarray
    mass: None = None
    eta: None = None
    eta_mass: float = 0.0


@dataclass(frozen=True)
class Averages:
    """Posterior means over the sweeps that were kept.

    Attributes
    ----------
    state : Assignments
        After the last sweep.
    word_topic : ndarray of shape (n_words, K)
        p(topic) of each word of the corpus.
    sentence_topic : ndarray of shape (n_sentences, K)
        E[topic proportions] of each sentence.
    n_tables : ndarray of shape (n_sentences,)
    n_dishes : ndarray of shape (n_documents,)
    """

    state: Assignments
    word_topic: np.ndarray
    sentence_topic: np.ndarray
    n_tables: np.ndarray
    n_dishes: np.ndarray


def start(
    corpus: SentenceCorpus,
    prior: SentencePrior,
    atom_prior: float,
    topics: TopicCounts,
    seeds: np.ndarray,
) -> tuple[Assignments, TopicCounts]:
    """Seat the words of each document given those before it, document after document.

    Parameters
    ----------
    corpus : SentenceCorpus
    prior : SentencePrior
    atom_prior : float
        Dirichlet parameter of the dishes.
    topics : TopicCounts
        Those of the words of other documents.
    seeds : ndarray of shape (n_documents,), uint64

    Returns
    -------
    state : Assignments
    topics : TopicCounts
        With the words of these documents.
    """
    words, own = own_words(corpus)
    local = topics.rows(words)
    state = _seat(own, prior, atom_prior, local, seeds)
    return state, _merged(topics, [(words, local)])


def sweep(
    corpus: SentenceCorpus,
    state: Assignments,
    prior: SentencePrior,
    atom_prior: float,
    topics: TopicCounts,
    seeds: np.ndarray,
    number: int,
    workers: Workers = SERIAL,
    *,
    words_per_block: int = WORDS_PER_BLOCK,
) -> tuple[Assignments, TopicCounts]:
    """Sweep over all words, with topics integrated out.

    Parameters
    ----------
    corpus : SentenceCorpus
    state : Assignments
    prior : SentencePrior
    atom_prior : float
    topics : TopicCounts
        Those of the words of these and all other documents.
    seeds : ndarray of shape (n_documents,), uint64
    number : int
        Number of the sweep, 0, 1, ...; a sweep is a function of it and the rest.
    workers : Workers
    words_per_block : int
        Blocks of documents see each other's changes after the sweep. With as many as
        the corpus has, the sweep is one of collapsed Gibbs sampling.

    Returns
    -------
    state : Assignments
    topics : TopicCounts
    """
    bounds = corpus.bounds

    def job(first: int, last: int) -> tuple[Any, ...]:
        words, own = own_words(corpus.part(first, last))
        part = state.part(bounds[first], bounds[last])
        return own, part, prior, atom_prior, words, topics.rows(words), seeds[first:last], number

    results = workers.send(_sweep_block, (job(*span) for span in corpus.spans(words_per_block)))
    merged = _merged(topics, [(words, local) for words, local, _ in results])
    return Assignments.joined([part for *_, part in results]), merged


def fold_in(
    corpus: SentenceCorpus,
    prior: SentencePrior,
    atom_prior: float,
    weights: np.ndarray,
    seeds: np.ndarray,
    *,
    n_sweeps: int = 30,
    n_averaged: int = 15,
    state: Assignments | None = None,
    first_sweep: int = 0,
    workers: Workers = SERIAL,
) -> Averages:
    """Sample documents under given topics.

    Parameters
    ----------
    corpus : SentenceCorpus
    prior : SentencePrior
    atom_prior : float
    weights : ndarray of shape (n_features, K)
        Probability of each word in each topic, up to a factor for each word.
    seeds : ndarray of shape (n_documents,), uint64
    n_sweeps, n_averaged : int
        Sweeps, and how many of the last to average over.
    state : Assignments or None
        Where to go on from; None is the sequential start.
    first_sweep : int
        Number of the first sweep, to go on with other random numbers.
    workers : Workers

    Returns
    -------
    averages : Averages
        Those of a document depend on it and its seed alone.
    """
    if not 0 <= n_averaged <= n_sweeps:
        raise ValueError(
            "n_averaged must lie between 0 and n_sweeps; got "
            f"n_averaged={n_averaged} and n_sweeps={n_sweeps}"
        )
    bounds = corpus.bounds

    def job(first: int, last: int) -> tuple[Any, ...]:
        words, own = own_words(corpus.part(first, last))
        part = None if state is None else state.part(bounds[first], bounds[last])
        given = GivenTopics(_positive(weights[words], words))
        sweeps = first_sweep, n_sweeps, n_averaged
        return own, part, prior, atom_prior, given, seeds[first:last], *sweeps

    jobs = (job(*span) for span in corpus.spans(WORDS_PER_JOB))
    return _joined(workers.send(_fold_in_block, jobs))


def log_likelihood(
    corpus: SentenceCorpus,
    prior: SentencePrior,
    atom_prior: float,
    weights: np.ndarray,
    seeds: np.ndarray,
    *,
    n_particles: int = 100,
    workers: Workers = SERIAL,
) -> np.ndarray:
    """Estimate log p(words of each document) by a particle filter.

    Particles seat the words in the order of the process, each given those before it.
    When their weights have become uneven, they are drawn anew in proportion to them. The
    exponential is an unbiased estimate.

    Parameters
    ----------
    corpus : SentenceCorpus
    prior : SentencePrior
    atom_prior : float
    weights : ndarray of shape (n_features, K)
        Word probabilities of the topics.
    seeds : ndarray of shape (n_documents,), uint64
    n_particles : int
    workers : Workers

    Returns
    -------
    log_likelihood : ndarray of shape (n_documents,)
        In nats; 0 for a document without words.
    """
    if n_particles < 1:
        raise ValueError(f"n_particles must be a positive integer; got {n_particles!r}")
    longest = int(np.diff(corpus.bounds).max(initial=0))
    if longest * n_particles > MOST_WORDS:
        raise ValueError(
            f"n_particles={n_particles} copies of a document of {longest:,} words are more than "
            f"the {MOST_WORDS:,} words that are sampled at once; take fewer particles, or cut the "
            "document into parts"
        )

    def job(d: int) -> tuple[Any, ...]:
        words, own = own_words(corpus.part(d, d + 1))
        given = GivenTopics(_positive(weights[words], words))
        return own, prior, atom_prior, given, int(seeds[d]), n_particles

    jobs = (job(d) for d in range(corpus.n_documents))
    return np.array(workers.send(_filter, jobs), dtype=np.float64)


def word_statistics(corpus: SentenceCorpus, word_topic: np.ndarray, n_features: int) -> np.ndarray:
    """Return the expected counts of the vocabulary in topics, of shape (n_features, K)."""
    places = np.arange(corpus.n_words + 1)
    by_word = sparse.csr_matrix(
        (np.ones(corpus.n_words), corpus.words, places), shape=(corpus.n_words, n_features)
    )
    return np.asarray(by_word.T @ word_topic)


def _positive(weights: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Return the weights as float64; each word needs a topic that can bring it forth."""
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    fits = (weights >= 0).all(axis=1) & (weights.sum(axis=1) > 0) & np.isfinite(weights).all(axis=1)
    if not fits.all():
        raise ValueError(
            f"weights must be finite and not negative, and positive in some topic for each word "
            f"that occurs; word {words[~fits][0]} has {weights[~fits][0]}. Smooth the topics"
        )
    return weights


def _sampler(prior: SentencePrior, atom_prior: float, topics: TopicCounts | GivenTopics) -> Any:
    """Make the prior's sampler, which changes the counts of the topics in place."""
    check_prior(prior)
    check_positive("atom_prior", atom_prior)
    return prior.sampler(topics, float(atom_prior))


def _seat(
    corpus: SentenceCorpus,
    prior: SentencePrior,
    atom_prior: float,
    topics: TopicCounts | GivenTopics,
    seeds: np.ndarray,
) -> Assignments:
    """Seat the words one by one."""
    state = Assignments.empty(corpus.n_words)
    sampler = _sampler(prior, atom_prior, topics)
    sampler.start(corpus, seeds, state, 0, corpus.n_words, np.zeros(len(seeds)))
    return state


def _sweep_block(
    corpus: SentenceCorpus,
    state: Assignments,
    prior: SentencePrior,
    atom_prior: float,
    words: np.ndarray,
    topics: TopicCounts,
    seeds: np.ndarray,
    number: int,
) -> tuple[np.ndarray, TopicCounts, Assignments]:
    """Sweep once over a block; `words` and the topics' rows are its own."""
    sampler = _sampler(prior, atom_prior, topics)
    sampler.sweep(corpus, seeds, state, number, number + 1)
    return words, topics, state


def _merged(topics: TopicCounts, changed: list[tuple[np.ndarray, TopicCounts]]) -> TopicCounts:
    """Add the changes of all blocks to the counts, in their order."""
    counts, mass = topics.counts.copy(), topics.mass.copy()
    for words, local in changed:
        counts[words] += local.counts - topics.counts[words]
        mass += local.mass - topics.mass
    return replace(topics, counts=counts, mass=mass)


def _fold_in_block(
    corpus: SentenceCorpus,
    state: Assignments | None,
    prior: SentencePrior,
    atom_prior: float,
    topics: GivenTopics,
    seeds: np.ndarray,
    first_sweep: int,
    n_sweeps: int,
    n_averaged: int,
) -> Averages:
    """Sweep over some documents under given topics."""
    if state is None:
        state = _seat(corpus, prior, atom_prior, topics, seeds)
    n_topics = topics.counts.shape[1]
    means = Averages(
        state,
        np.zeros((corpus.n_words, n_topics)),
        np.zeros((corpus.n_sentences, n_topics)),
        np.zeros(corpus.n_sentences),
        np.zeros(corpus.n_documents),
    )
    sampler = _sampler(prior, atom_prior, topics)
    last_sweep = first_sweep + n_sweeps
    sampler.sweep(corpus, seeds, state, first_sweep, last_sweep, n_averaged, means)
    return means


def _joined(parts: list[Averages]) -> Averages:
    """Join the averages of corpora that follow each other."""
    return Averages(
        Assignments.joined([part.state for part in parts]),
        np.concatenate([part.word_topic for part in parts]),
        np.concatenate([part.sentence_topic for part in parts]),
        np.concatenate([part.n_tables for part in parts]),
        np.concatenate([part.n_dishes for part in parts]),
    )


def _filter(
    corpus: SentenceCorpus,
    prior: SentencePrior,
    atom_prior: float,
    topics: GivenTopics,
    seed: int,
    n_particles: int,
) -> float:
    """Estimate log p of one document, from particles that are copies of it."""
    n = corpus.n_words
    copies, seeds = corpus.copies(n_particles), document_seeds(seed, 0, n_particles)
    state, log_p = Assignments.empty(n * n_particles), np.empty(n_particles)
    fields = [field.reshape(n_particles, n) for field in (state.topic, state.table, state.dish)]
    sampler = _sampler(prior, atom_prior, topics)
    rng = np.random.default_rng(seed)
    log_weight, total = np.zeros(n_particles), 0.0
    for first in range(0, n, WORDS_PER_COMPARISON):
        sampler.start(copies, seeds, state, first, first + WORDS_PER_COMPARISON, log_p)
        log_weight += log_p
        weight = np.exp(log_weight - logsumexp(log_weight))
        if 1 / (weight**2).sum() < n_particles / 2:
            total += logsumexp(log_weight) - np.log(n_particles)
            log_weight[:] = 0.0
            ancestors = _systematic(weight, rng.random())
            for field in fields:
                field[:] = field[ancestors]
    return float(total + logsumexp(log_weight) - np.log(n_particles))


def _systematic(weight: np.ndarray, u: float) -> np.ndarray:
    """Draw as many places as there are, each weight * n times on average."""
    points = (u + np.arange(len(weight))) / len(weight)
    return np.minimum(np.searchsorted(np.cumsum(weight), points), len(weight) - 1)
