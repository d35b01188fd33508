# SPDX-License-Identifier: BSD-3-Clause
"""Plain Python twin of the sampler of the HDP, and what it should find, by enumeration."""

from itertools import product
from math import ceil, cos, log, pi, sqrt

import numpy as np
from scipy.special import digamma, gammaln, logsumexp

from tests.reference.left_to_right import Stream, mix
from tests.reference.profiles import log_dirichlet_multinomial

MOST_TOKENS = 1024


def normal(stream):
    radius = sqrt(-2 * log(1 - stream.uniform()))
    return radius * cos(2 * pi * stream.uniform())


def gamma(shape, stream):
    """Marsaglia and Tsang (2000)."""
    boost = 1.0
    if shape < 1:
        boost = (1 - stream.uniform()) ** (1 / shape)
        shape += 1
    d = shape - 1 / 3
    while True:
        x = normal(stream)
        v = (1 + x / sqrt(9 * d)) ** 3
        if v > 0 and log(1 - stream.uniform()) < 0.5 * x * x + d * (1 - v + log(v)):
            return boost * d * v


def beta(a, b, stream):
    x = gamma(a, stream)
    return x / (x + gamma(b, stream))


def draw_tables(c, n, stream):
    """Customer i opens a table with probability c / (c + i)."""
    last = min(ceil(n * (1 - 1e-9)), MOST_TOKENS)
    drawn = sum(stream.uniform() * (c + i) < c for i in range(last))
    return drawn + (c * (digamma(c + n) - digamma(c + last)) if n > MOST_TOKENS else 0.0)


class Topic:
    """A topic: its lam, b pi, and the tokens it has in the document at hand."""

    def __init__(self, lam, mass, alpha, counts_always, born):
        self.lam, self.mass, self.alpha = np.array(lam), mass, alpha
        self.counts_always, self.born = counts_always, born
        self.here, self.n_tokens, self.tables_here, self.tables = [], 0, 0.0, 0.0
        self.statistics = np.zeros(len(lam))
        self.average = np.zeros(len(lam))

    @property
    def count(self):
        return sum(size for _, size in self.here)

    @property
    def is_of_document(self):
        """Whether it was born in the document at hand."""
        return self.born and self.n_tokens == len(self.here)


def sample(documents, lam, mass, n_known, eta, eta_mass, alpha, concentration, b, tables,
           own_counts, seeds, n_sweeps, n_averaged):  # fmt: skip
    """Counts, tables and alpha of the topics in use; `documents` are lists of (word, count)."""
    given = [Topic(lam[:, k], mass[k], alpha[k], k >= n_known, False) for k in range(len(alpha))]
    sticks = [0.0] * len(alpha) if tables is None else tables
    topics, alpha_new = list(given), b - sum(alpha)

    def alive():
        return [t for t in topics if t is not None]

    def move(topic, word, size, sign):
        if sign > 0:
            topic.here.append((word, size))
        else:
            topic.here.remove((word, size))
        topic.n_tokens += sign
        if topic.counts_always or own_counts:
            topic.lam[word] += sign * size
            topic.mass += sign * size

    def draw_sticks(stream):
        """Topics that were there before the document first, with the prior of their sticks."""
        nonlocal alpha_new
        before = [t for t in alive() if not t.is_of_document]
        born = [t for t in alive() if t.is_of_document]
        known = [*sticks, *np.zeros(len(topics))]
        total = [t.tables_here + s for t, s in zip([*before, *born], known, strict=False)]
        rest = b
        for place, topic in enumerate([*before, *born]):
            a = 1 + total[place] if place < len(before) else max(total[place], 1.0)
            topic.alpha = rest * beta(a, concentration + sum(total[place + 1 :]), stream)
            rest -= topic.alpha
        alpha_new = rest

    def choose(weights, stream):
        running = np.cumsum(weights)
        return int(np.searchsorted(running, stream.uniform() * running[-1], side="right"))

    for document, seed in zip(documents, seeds, strict=True):
        if not document:
            continue
        stream = Stream(mix(int(seed)))
        tokens = []
        for word, count in document:
            parts = min(ceil(count * (1 - 1e-6)), MOST_TOKENS)
            tokens += [(word, count / parts)] * parts
        if tables is not None:
            draw_sticks(stream)
        z = []
        for word, size in tokens:
            weights = [0.0 if t is None else t.alpha * t.lam[word] / t.mass for t in topics]
            z.append(topics[choose(weights, stream)])
            move(z[-1], word, size, 1)
        for sweep in range(n_sweeps):
            averaged = sweep >= n_sweeps - n_averaged
            for n, (word, size) in enumerate(tokens):
                move(z[n], word, size, -1)
                if z[n].born and z[n].n_tokens == 0:
                    alpha_new += z[n].alpha
                    topics[topics.index(z[n])] = None
                weights = [
                    0.0 if t is None else (t.count + t.alpha) * t.lam[word] / t.mass for t in topics
                ]
                if averaged and sum(weights) > 0:
                    for topic, weight in zip(topics, weights, strict=True):
                        if topic is not None:
                            topic.average[word] += size * weight / sum(weights)
                k = choose([*weights, alpha_new * eta[word] / eta_mass], stream)
                if k == len(topics):
                    share = beta(1, concentration, stream) * alpha_new
                    alpha_new -= share
                    k = topics.index(None) if None in topics else k
                    topics[k : k + 1] = [Topic(eta, eta_mass, share, True, True)]
                z[n] = topics[k]
                move(z[n], word, size, 1)
            for topic in alive():
                c, n = topic.alpha, topic.count
                if not topic.here:
                    topic.tables_here = 0.0
                elif tables is not None:
                    topic.tables_here = draw_tables(c, n, stream)
                else:
                    topic.tables_here = c * (digamma(c + n) - digamma(c))
                topic.tables += topic.tables_here * averaged / n_averaged
            if tables is not None:
                draw_sticks(stream)
        for word, count in document:
            total = sum(t.average[word] for t in alive())
            for topic in alive():
                topic.statistics[word] += count * topic.average[word] / total if total else 0.0
                topic.average[word] = 0.0
        for k, topic in enumerate(alive()):
            topic.here, topic.tables_here = [], 0.0
            if own_counts and not topic.counts_always:
                topic.lam, topic.mass = np.array(lam[:, k]), mass[k]
    topics = alive()
    return (
        np.array([t.statistics for t in topics]).T,
        np.array([t.tables for t in topics]),
        np.array([t.alpha for t in topics]),
    )


def expected_counts(tokens, topic_word, alphas, weights):
    """E[S_kw] of a document, by summing over all assignments and over the alphas.

    `alphas` (n, K) with `weights` (n,) stand for the prior of alpha.
    """
    n_topics, n_words = topic_word.shape
    logs, values = [], []
    for z in product(range(n_topics), repeat=len(tokens)):
        counts = np.bincount(z, minlength=n_topics)
        likelihood = np.log(topic_word[list(z), tokens]).sum()
        prior = logsumexp([log_dirichlet_multinomial(alpha, counts) for alpha in alphas], b=weights)
        table = np.zeros((n_words, n_topics))
        np.add.at(table, (tokens, list(z)), 1.0)
        logs.append(likelihood + prior)
        values.append(table)
    p = np.exp(np.array(logs) - logsumexp(logs))
    return np.tensordot(p, np.array(values), axes=1)


def table_distribution(c, n):
    """p(s | n customers, concentration c) for s = 0 .. n, by Antoniak's formula."""
    stirling = np.zeros(n + 1)
    stirling[0] = 1.0
    for i in range(n):
        stirling = np.append(0.0, stirling[:-1]) + i * stirling
    s = np.arange(n + 1)
    return stirling * c**s * np.exp(gammaln(c) - gammaln(c + n))
