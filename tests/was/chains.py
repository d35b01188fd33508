# SPDX-License-Identifier: BSD-3-Clause
"""Long chains of the sampler of sentence topic models, and what is counted in their states."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.was.corpus import SentenceCorpus
from streamtopics.was.sampler import SentenceSampler

COMPARED = 50


def copies(lengths, words, n=1):
    """A corpus of the same document n times."""
    starts = np.add.outer(len(words) * np.arange(n), np.cumsum([0, *lengths[:-1]]))
    return SentenceCorpus(
        np.tile(np.array(words, np.int32), n),
        np.append(starts, n * len(words)).astype(np.intp),
        len(lengths) * np.arange(n + 1),
    )


class Chain:
    """Sweeps by one compiled sampler, in place, where `SentenceSampler` makes one for each.

    The first are compared with its own, bit for bit.
    """

    def __init__(self, prior, atom_prior, corpus, state, topics, seeds):
        self.sampler = SentenceSampler(prior, atom_prior)
        self.compiled = prior.sampler(topics, atom_prior)
        self.corpus, self.state, self.topics, self.seeds = corpus, state, topics, seeds

    def sweep(self, number):
        """Change the state and the topics by one sweep."""
        arguments = self.corpus, self.state, self.topics, self.seeds, number
        compared = self.sampler.sweep(*arguments) if number < COMPARED else None
        self.compiled.sweep(self.corpus, self.seeds, self.state, number, number + 1)
        if compared is not None:
            state, topics = compared
            for one, other in zip(state, self.state, strict=True):
                assert_array_equal(one, other)
            assert_array_equal(topics.counts, self.topics.counts)
            assert_allclose(topics.mass, self.topics.mass, rtol=1e-12)


def states(prior, atom_prior, corpus, topics, seeds, n_sweeps):
    """Table, dish and topic of all words after each sweep, (3, n_sweeps, n_words)."""
    state, topics = SentenceSampler(prior, atom_prior).start(corpus, topics, seeds)
    chain = Chain(prior, atom_prior, corpus, state, topics, seeds)
    found = np.empty((3, n_sweeps, corpus.n_words), np.int32)
    for number in range(n_sweeps):
        chain.sweep(number)
        found[0, number], found[1, number], found[2, number] = state.table, state.dish, state.topic
    return found


def first_ones(labels):
    """Whether each entry of a row is the first with its label."""
    return ~np.tril(labels[:, :, None] == labels[:, None], -1).any(axis=2)


def pairs(labels):
    """How many pairs of a row have the same label."""
    one, other = np.triu_indices(labels.shape[1], 1)
    return (labels[:, one] == labels[:, other]).sum(axis=1)


def in_common(labels, n):
    """How many labels the first n entries of a row share with the others."""
    there = (labels[:, :n, None] == labels[:, None, n:]).any(axis=2)
    return (first_ones(labels[:, :n]) & there).sum(axis=1)
