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
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from streamtopics.kernels import rows
from streamtopics.kernels import was as kernel
from streamtopics.parallel import SERIAL, Workers
from streamtopics.was.prior import HDP, WAS, Prior, check_positive, stick_parameters

# Of blocks swept side by side. After 100 sweeps over 18,000 and 230,000 words of source code,
# held-out perplexity was that of one block for blocks from 500 and from 20,000 words on.
WORDS_PER_BLOCK = 20_000
# Of documents folded in by one job.
WORDS_PER_JOB = 5_000
# That a particle reads before its weight is compared with the others'.
WORDS_PER_COMPARISON = 8

# Their numbers are 32-bit integers.
MOST_WORDS = 2**31 - 1


@dataclass(frozen=True)
class Corpus:
    """Words in sentences in documents.

    Attributes
    ----------
    words : ndarray of shape (n_words,), int32
        Columns of the vocabulary.
    sentences : ndarray of shape (n_sentences + 1,), intp
        Where each sentence begins in `words`, and the end.
    documents : ndarray of shape (n_documents + 1,), intp
        Where each document begins among the sentences, and the end.
    """

    words: np.ndarray
    sentences: np.ndarray
    documents: np.ndarray

    @property
    def n_documents(self) -> int:
        return len(self.documents) - 1

    @property
    def n_sentences(self) -> int:
        return len(self.sentences) - 1

    @property
    def n_words(self) -> int:
        return len(self.words)

    @property
    def bounds(self) -> np.ndarray:
        """Where each document begins in `words`, and the end."""
        return self.sentences[self.documents]

    @property
    def longest(self) -> int:
        """Words of the longest sentence."""
        return int(np.diff(self.sentences).max(initial=0))

    def part(self, first: int, last: int) -> Corpus:
        """The documents first .. last - 1."""
        sentences = self.sentences[self.documents[first] : self.documents[last] + 1]
        return Corpus(
            self.words[sentences[0] : sentences[-1]],
            sentences - sentences[0],
            self.documents[first : last + 1] - self.documents[first],
        )


@dataclass(frozen=True)
class State:
    """What the sampler says of each word, arrays of shape (n_words,) of int32.

    Attributes
    ----------
    topic : ndarray
        Its topic.
    table : ndarray
        Its table, named by the number, in the document, of the table's first word; -1
        for a word that has no seat yet.
    dish : ndarray
        The table's dish, a number within the document.
    """

    topic: np.ndarray
    table: np.ndarray
    dish: np.ndarray

    @classmethod
    def empty(cls, n_words: int) -> State:
        """No word has a seat."""
        return cls(*np.full((3, n_words), -1, np.int32))

    @classmethod
    def joined(cls, parts: Sequence[State]) -> State:
        """The states of corpora that follow each other."""
        columns = zip(*((part.topic, part.table, part.dish) for part in parts), strict=True)
        return cls(*(np.concatenate(column) for column in columns))

    def part(self, first: int, last: int) -> State:
        """A copy for the words first .. last - 1."""
        span = slice(first, last)
        return State(self.topic[span].copy(), self.table[span].copy(), self.dish[span].copy())


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
    def none(cls, n_features: int, n_topics: int, eta: float) -> TopicCounts:
        """Counts of no words, under a symmetric prior."""
        return cls(
            np.zeros((n_features, n_topics)),
            np.zeros(n_topics),
            np.full(n_features, float(eta)),
            float(eta) * n_features,
        )

    @property
    def topic_word(self) -> np.ndarray:
        """E[topics], of shape (K, n_features)."""
        return np.ascontiguousarray(((self.counts + self.eta[:, None]) / self._totals).T)

    @property
    def _totals(self) -> np.ndarray:
        return self.mass + self.eta_mass

    def rows(self, words: np.ndarray) -> TopicCounts:
        """A copy, for some of the words."""
        return TopicCounts(self.counts[words], self.mass.copy(), self.eta[words], self.eta_mass)


@dataclass(frozen=True)
class Averages:
    """Posterior means over the sweeps that were kept.

    Attributes
    ----------
    state : State
        After the last sweep.
    word_topic : ndarray of shape (n_words, K)
        p(topic) of each word of the corpus.
    sentence_topic : ndarray of shape (n_sentences, K)
        E[topic proportions] of each sentence.
    n_tables : ndarray of shape (n_sentences,)
    n_dishes : ndarray of shape (n_documents,)
    """

    state: State
    word_topic: np.ndarray
    sentence_topic: np.ndarray
    n_tables: np.ndarray
    n_dishes: np.ndarray


def corpus_of(X: Any, sentences_per_document: Any) -> Corpus:
    """Sentences given by their counts as words, in the order of their columns.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_sentences, n_features)
        Whole numbers; a count of c becomes c words in a row.
    sentences_per_document : array-like of shape (n_documents,), int
        Of how many of the sentences each document consists, in order; 0 is legal.

    Raises
    ------
    ValueError
        If a count is negative or not whole, or the documents do not fit the sentences.
    """
    X = sparse.csr_matrix(X, copy=True)
    X.sum_duplicates()
    counts = X.data.astype(np.int64)
    if (counts < 0).any() or (counts != X.data).any():
        worst = X.data[(counts < 0) | (counts != X.data)][0]
        raise ValueError(
            f"X holds the count {worst:g}, but sentences are made of whole words; pass counts "
            "that are 0, 1, 2, ..., not weights such as those of tf-idf"
        )
    n_sentences = np.asarray(sentences_per_document)
    whole = n_sentences.ndim == 1 and n_sentences.dtype.kind in "iu" and (n_sentences >= 0).all()
    if not (whole and n_sentences.sum() == X.shape[0]):
        raise ValueError(
            "sentences_per_document must hold non-negative integers that add up to the "
            f"{X.shape[0]} rows of X; got {sentences_per_document!r}"
        )
    total = np.concatenate([[0], np.cumsum(counts)])
    if total[-1] > MOST_WORDS:
        raise ValueError(
            f"X holds {total[-1]:,} words, more than the {MOST_WORDS:,} that are sampled at once; "
            "check the counts, or pass fewer documents at a time"
        )
    return Corpus(
        np.repeat(X.indices.astype(np.int32), counts),
        total[X.indptr].astype(np.intp),
        np.concatenate([[0], np.cumsum(n_sentences)]).astype(np.intp),
    )


def document_seeds(seed: int, n_before: int, n_documents: int) -> np.ndarray:
    """Seeds of documents by their place in a stream, of shape (n_documents,)."""
    return kernel.document_seeds(seed, n_before, n_documents)


def content_seeds(corpus: Corpus, words: np.ndarray) -> np.ndarray:
    """Seeds of documents that depend on their sentences alone, of shape (n_documents,).

    The corpus is one over `words`, columns of the vocabulary.
    """
    return kernel.content_seeds(corpus.documents, corpus.sentences, words[corpus.words])


def start(
    corpus: Corpus, prior: Prior, kappa: float, topics: TopicCounts, seeds: np.ndarray
) -> tuple[State, TopicCounts]:
    """Seat the words of each document given those before it, document after document.

    Parameters
    ----------
    corpus : Corpus
    prior : WAS, HDP or SBP
        Of the sentences.
    kappa : float
        Dirichlet parameter of the dishes.
    topics : TopicCounts
        Of the words of other documents.
    seeds : ndarray of shape (n_documents,), uint64

    Returns
    -------
    state : State
    topics : TopicCounts
        With the words of these documents.
    """
    words, own = own_words(corpus)
    local = topics.rows(words)
    state, _ = _seat(own, prior, kappa, local, seeds)
    return state, _merged(topics, [(words, local)])


def sweep(
    corpus: Corpus,
    state: State,
    prior: Prior,
    kappa: float,
    topics: TopicCounts,
    seeds: np.ndarray,
    number: int,
    workers: Workers = SERIAL,
    *,
    words_per_block: int = WORDS_PER_BLOCK,
) -> tuple[State, TopicCounts]:
    """Sweep over all words, with topics integrated out.

    Parameters
    ----------
    corpus : Corpus
    state : State
    prior : WAS, HDP or SBP
    kappa : float
    topics : TopicCounts
        Of these and all other documents.
    seeds : ndarray of shape (n_documents,), uint64
    number : int
        Of the sweep, 0, 1, ...; a sweep is a function of it and the rest.
    workers : Workers
    words_per_block : int
        Blocks of documents see each other's changes after the sweep. With as many as
        the corpus has, the sweep is one of collapsed Gibbs sampling.

    Returns
    -------
    state : State
    topics : TopicCounts
    """
    blocks = _spans(corpus.bounds, words_per_block)
    bounds = corpus.bounds

    def job(first: int, last: int) -> tuple:
        words, own = own_words(corpus.part(first, last))
        part = state.part(bounds[first], bounds[last])
        return own, part, prior, kappa, words, topics.rows(words), seeds[first:last], number

    results = workers.send(_sweep_block, (job(*span) for span in blocks))
    merged = _merged(topics, [(words, local) for words, local, _ in results])
    return State.joined([part for *_, part in results]), merged


def fold_in(
    corpus: Corpus,
    prior: Prior,
    kappa: float,
    weights: np.ndarray,
    seeds: np.ndarray,
    *,
    n_sweeps: int = 30,
    n_averaged: int = 15,
    state: State | None = None,
    first_sweep: int = 0,
    workers: Workers = SERIAL,
) -> Averages:
    """Sample documents under given topics.

    Parameters
    ----------
    corpus : Corpus
    prior : WAS, HDP or SBP
    kappa : float
    weights : ndarray of shape (n_features, K)
        Probability of each word in each topic, up to a factor for each word.
    seeds : ndarray of shape (n_documents,), uint64
    n_sweeps, n_averaged : int
        Sweeps, and how many of the last to average over.
    state : State or None
        Where to go on from; None is the sequential start.
    first_sweep : int
        Number of the first sweep, to go on with other random numbers.
    workers : Workers

    Returns
    -------
    averages : Averages
        The sweeps' results for a document depend on it and its seed alone.
    """
    if not 0 <= n_averaged <= n_sweeps:
        raise ValueError(
            "n_averaged must lie between 0 and n_sweeps; got "
            f"n_averaged={n_averaged} and n_sweeps={n_sweeps}"
        )
    bounds = corpus.bounds

    def job(first: int, last: int) -> tuple:
        words, own = own_words(corpus.part(first, last))
        part = None if state is None else state.part(bounds[first], bounds[last])
        given = _positive(weights[words], words)
        return own, part, prior, kappa, given, seeds[first:last], first_sweep, n_sweeps, n_averaged

    jobs = (job(*span) for span in _spans(bounds, WORDS_PER_JOB))
    return _joined(workers.send(_fold_in_block, jobs))


def log_likelihood(
    corpus: Corpus,
    prior: Prior,
    kappa: float,
    weights: np.ndarray,
    seeds: np.ndarray,
    *,
    n_particles: int = 100,
    workers: Workers = SERIAL,
) -> np.ndarray:
    """log p(words of each document), by a particle filter.

    Particles seat the words in the order of the process, each given those before it.
    When their weights have become uneven, they are drawn anew in proportion to them. The
    exponential is an unbiased estimate.

    Parameters
    ----------
    corpus : Corpus
    prior : WAS, HDP or SBP
    kappa : float
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

    def job(d: int) -> tuple:
        words, own = own_words(corpus.part(d, d + 1))
        given = _positive(weights[words], words)
        return own, prior, kappa, given, int(seeds[d]), n_particles

    jobs = (job(d) for d in range(corpus.n_documents))
    return np.array(workers.send(_filter, jobs), dtype=np.float64)


def word_statistics(corpus: Corpus, word_topic: np.ndarray, n_features: int) -> np.ndarray:
    """Expected counts of the vocabulary in topics, of shape (n_features, K)."""
    places = np.arange(corpus.n_words + 1)
    by_word = sparse.csr_matrix(
        (np.ones(corpus.n_words), corpus.words, places), shape=(corpus.n_words, n_features)
    )
    return np.asarray(by_word.T @ word_topic)


def _spans(bounds: np.ndarray, words_per_part: int) -> list[tuple[int, int]]:
    """Cut documents into parts of about equal numbers of words; it depends on them alone."""
    n_documents, n_words = len(bounds) - 1, int(bounds[-1])
    n_parts = max(1, min(n_documents, round(n_words / words_per_part)))
    targets = n_words * np.arange(1, n_parts) / n_parts
    cuts = np.unique(np.searchsorted(bounds, targets)).tolist()
    edges = [0, *(cut for cut in cuts if 0 < cut < n_documents), n_documents]
    return list(pairwise(edges))


def own_words(corpus: Corpus) -> tuple[np.ndarray, Corpus]:
    """The columns that occur, and the corpus with places in them for its words."""
    n_features = int(corpus.words.max(initial=-1)) + 1
    words, places = rows.used_columns(corpus.words, n_features)
    return words, replace(corpus, words=places)


def _positive(weights: np.ndarray, words: np.ndarray) -> np.ndarray:
    """The weights as float64; each word needs a topic that can bring it forth."""
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    fits = (weights >= 0).all(axis=1) & (weights.sum(axis=1) > 0) & np.isfinite(weights).all(axis=1)
    if not fits.all():
        raise ValueError(
            f"weights must be finite and not negative, and positive in some topic for each word "
            f"that occurs; word {words[~fits][0]} has {weights[~fits][0]}. Smooth the topics"
        )
    return weights


def _sampler(
    prior: Prior, kappa: float, longest: int, topics: TopicCounts | np.ndarray
) -> kernel.Sampler:
    """The kernel's sampler of these sentences, which changes the counts in place."""
    check_positive("kappa", kappa)
    a, b, zeta, gamma, exact = np.ones(1), np.ones(1), 1.0, 1.0, False
    if isinstance(prior, WAS):
        kind, zeta, exact = kernel.Prior.WAS, prior.zeta, bool(prior.exact)
        a, b = stick_parameters(prior.a, prior.b)
    elif isinstance(prior, HDP):
        kind = kernel.Prior.HDP
        zeta, gamma = prior.dish_concentration, prior.table_concentration
    else:
        kind = kernel.Prior.SBP
        a, b = stick_parameters(prior.a, prior.b, prior.truncation)
    if isinstance(topics, TopicCounts):
        given = topics.counts, topics.mass, topics.eta, topics.eta_mass
    else:
        given = topics, None, None, 0.0
    return kernel.Sampler(kind, kappa, a, b, zeta, gamma, exact, longest, *given)


def _arguments(corpus: Corpus, seeds: np.ndarray, state: State) -> tuple:
    """What each method of the kernel's sampler begins with."""
    seeds = np.ascontiguousarray(seeds, dtype=np.uint64)
    documents = corpus.documents, corpus.sentences, corpus.words
    return *documents, seeds, state.topic, state.table, state.dish


def _seat(
    corpus: Corpus,
    prior: Prior,
    kappa: float,
    topics: TopicCounts | np.ndarray,
    seeds: np.ndarray,
) -> tuple[State, np.ndarray]:
    """The sequential start, and the log probabilities along it."""
    state, log_p = State.empty(corpus.n_words), np.zeros(corpus.n_documents)
    sampler = _sampler(prior, kappa, corpus.longest, topics)
    sampler.start(*_arguments(corpus, seeds, state), 0, corpus.n_words, log_p)
    return state, log_p


def _sweep_block(
    corpus: Corpus,
    state: State,
    prior: Prior,
    kappa: float,
    words: np.ndarray,
    topics: TopicCounts,
    seeds: np.ndarray,
    number: int,
) -> tuple[np.ndarray, TopicCounts, State]:
    """One sweep over a block; `words` and the topics' rows are its own."""
    sampler = _sampler(prior, kappa, corpus.longest, topics)
    nothing = np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0), np.zeros(0)
    sampler.sweep(*_arguments(corpus, seeds, state), number, number + 1, 0, *nothing)
    return words, topics, state


def _merged(topics: TopicCounts, changed: list[tuple[np.ndarray, TopicCounts]]) -> TopicCounts:
    """The counts with the changes of all blocks, in their order."""
    counts, mass = topics.counts.copy(), topics.mass.copy()
    for words, local in changed:
        counts[words] += local.counts - topics.counts[words]
        mass += local.mass - topics.mass
    return replace(topics, counts=counts, mass=mass)


def _fold_in_block(
    corpus: Corpus,
    state: State | None,
    prior: Prior,
    kappa: float,
    weights: np.ndarray,
    seeds: np.ndarray,
    first_sweep: int,
    n_sweeps: int,
    n_averaged: int,
) -> Averages:
    """Sweeps over some documents under given topics."""
    if state is None:
        state, _ = _seat(corpus, prior, kappa, weights, seeds)
    n_topics = weights.shape[1]
    means = (
        np.zeros((corpus.n_words, n_topics)),
        np.zeros((corpus.n_sentences, n_topics)),
        np.zeros(corpus.n_sentences),
        np.zeros(corpus.n_documents),
    )
    sampler = _sampler(prior, kappa, corpus.longest, weights)
    sweeps = first_sweep, first_sweep + n_sweeps, n_averaged
    sampler.sweep(*_arguments(corpus, seeds, state), *sweeps, *means)
    return Averages(state, *means)


def _joined(parts: list[Averages]) -> Averages:
    """The averages of corpora that follow each other."""
    return Averages(
        State.joined([part.state for part in parts]),
        np.concatenate([part.word_topic for part in parts]),
        np.concatenate([part.sentence_topic for part in parts]),
        np.concatenate([part.n_tables for part in parts]),
        np.concatenate([part.n_dishes for part in parts]),
    )


def _filter(
    corpus: Corpus, prior: Prior, kappa: float, weights: np.ndarray, seed: int, n_particles: int
) -> float:
    """log p of one document, from particles that are copies of it."""
    n = corpus.n_words
    copies = Corpus(
        np.tile(corpus.words, n_particles),
        np.append(np.add.outer(n * np.arange(n_particles), corpus.sentences[:-1]), n * n_particles),
        corpus.n_sentences * np.arange(n_particles + 1),
    )
    state, log_p = State.empty(n * n_particles), np.empty(n_particles)
    arguments = _arguments(copies, document_seeds(seed, 0, n_particles), state)
    fields = [field.reshape(n_particles, n) for field in (state.topic, state.table, state.dish)]
    sampler = _sampler(prior, kappa, corpus.longest, weights)
    rng = np.random.default_rng(seed)
    log_weight, total = np.zeros(n_particles), 0.0
    for first in range(0, n, WORDS_PER_COMPARISON):
        sampler.start(*arguments, first, first + WORDS_PER_COMPARISON, log_p)
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
    """As many places as there are, each drawn weight * n times on average."""
    points = (u + np.arange(len(weight))) / len(weight)
    return np.minimum(np.searchsorted(np.cumsum(weight), points), len(weight) - 1)
