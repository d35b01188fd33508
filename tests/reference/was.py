# SPDX-License-Identifier: BSD-3-Clause
"""Plain Python twin of the sampler of sentence topic models, and enumeration of tiny ones.

Everything follows from `options`, the law of the next word's seat given all words before
it: the joint probability of a document's seats is the product of these along the round
robin, and a sweep looks at that product anew for each word. Nothing is kept up to date.
"""

from functools import cache
from itertools import product
from math import exp, lgamma, log
from typing import NamedTuple

import numpy as np

from streamtopics.was import ICD, WAS, Franchise
from tests.reference.left_to_right import MASK, Stream, mix

NEW = -1


def stick(values, j):
    """The j-th parameter, the last repeated."""
    return values[min(j, len(values) - 1)] if isinstance(values, tuple) else values


class Buffet(NamedTuple):
    """The ICD when the weights phi_l are known, and log chances that unused dishes are there."""

    phi: list
    log_presence: list


def buffet_at_start(prior):
    """The means of what there can be."""
    grid, n = prior.grid(), prior.truncation
    phi = (grid.weights * np.exp(grid.log_p_weights)).sum()
    return Buffet([phi] * n, [log((grid.inclusion * np.exp(grid.log_p_inclusion)).sum())] * n)


def buffet_given_seats(prior, document, stream):
    """Draw r_l and phi_l of each dish from their law given the words of each sentence."""
    grid = prior.grid()
    sentences = [s for s in sorted(set(document.sentence)) if document.tables(s)]
    start = np.add.outer(grid.log_p_inclusion, grid.log_p_weights).ravel()
    phi, log_presence = [], []
    for dish in range(prior.truncation):
        sizes = [sum(g for _, g, d in document.tables(s) if d == dish) for s in sentences]
        log_p = start + sum(on_grid(prior, g) for g in sizes)
        r, f = divmod(choose(np.exp(log_p - log_p.max()), stream), len(grid.weights))
        r, f = grid.inclusion[r], grid.weights[f]
        phi.append(f)
        log_presence.append(log(r) - f * log(2) - log_of_size(0, r, f))
    return Buffet(phi, log_presence)


@cache
def on_grid(prior, g):
    """`log_of_size` for all pairs of the grid."""
    grid = prior.grid()
    return np.array([log_of_size(g, r, f) for r, f in product(grid.inclusion, grid.weights)])


def log_of_size(g, r, f):
    """log p of certain g words of a dish in a sentence, given r and f, up to a factor."""
    if g > 0:
        return log(r) - f * log(2) + lgamma(f + g) - lgamma(f)
    return log(1 - r * (1 - 2.0**-f))


def options(prior, own, others):
    """(probability, table or NEW, dish or NEW) of the next word of a sentence.

    `own` are the tables of the sentence in the order of their first words, as tuples
    (first word, size, dish); `others` are the dishes of all tables of other sentences.
    """
    n = sum(size for _, size, _ in own)
    dishes = others + [dish for _, _, dish in own]
    if isinstance(prior, Franchise):
        tables = [float(prior.join_table(np.float64(size))) for _, size, _ in own]
        opening = float(prior.open_table(np.float64(n), len(own)))
        served = {dish: float(prior.join_dish(np.float64(dishes.count(dish)))) for dish in dishes}
        unserved = float(prior.open_dish(np.float64(len(dishes)), len(served)))
        scale = 1 / (sum(tables) + opening)
        found = [
            (scale * weight, first, dish)
            for weight, (first, _, dish) in zip(tables, own, strict=True)
        ]
        share = scale * opening / (sum(served.values()) + unserved)
        found += [(share * served[dish], NEW, dish) for dish in sorted(served)]
        return [*found, (share * unserved, NEW, NEW)]
    found, left = [], 1.0
    if isinstance(prior, WAS):
        for j, (first, g, dish) in enumerate(own):
            a, b, h = stick(prior.a, j), stick(prior.b, j), sum(t[1] for t in own[j + 1 :])
            mu = (a + g - 1) / (a + b + g + h - 1)
            found.append((left * mu, first, dish))
            left *= 1 - mu
        candidates = sorted(set(others) - {dish for _, _, dish in own})
        share = left / (len(candidates) + prior.zeta)
        found += [(share, NEW, dish) for dish in candidates]
        return [*found, (share * prior.zeta, NEW, NEW)]
    if isinstance(prior, Buffet):
        seats = {dish: (first, size) for first, size, dish in own}
        best = max(prior.log_presence) if not own else 0.0
        for dish, (phi, log_presence) in enumerate(zip(*prior, strict=True)):
            first, g = seats.get(dish, (NEW, 0))
            weight = phi + g if g > 0 else phi * np.exp(log_presence - best)
            found.append((weight, first, dish))
        total = sum(weight for weight, _, _ in found)
        return [(weight / total, first, dish) for weight, first, dish in found]
    for dish in range(prior.truncation):
        a, b = stick(prior.a, dish), stick(prior.b, dish)
        first, g = next(((first, size) for first, size, d in own if d == dish), (NEW, 0))
        h = sum(size for _, size, d in own if d > dish)
        nu = (a + g) / (a + b + g + h) if dish < prior.truncation - 1 else 1.0
        found.append((left * nu, first, dish))
        left *= 1 - nu
    return found


class Document:
    """The seats of some of a document's words."""

    def __init__(self, lengths, topic=None, table=None, dish=None):
        self.sentence = [s for s, n in enumerate(lengths) for _ in range(n)]
        n = len(self.sentence)
        self.topic, self.table, self.dish = (
            [-1] * n if given is None else [int(x) for x in given] for given in (topic, table, dish)
        )
        place = [self.sentence[:i].count(s) for i, s in enumerate(self.sentence)]
        self.order = sorted(range(n), key=lambda i: (place[i], self.sentence[i]))

    def copy(self):
        other = Document([])
        other.sentence, other.order = self.sentence, self.order
        other.topic, other.table, other.dish = self.topic[:], self.table[:], self.dish[:]
        return other

    def tables(self, s):
        """(first word, size, dish) of a sentence's tables, by first word."""
        firsts = sorted(
            {t for t, r in zip(self.table, self.sentence, strict=True) if r == s} - {NEW}
        )
        return [(first, self.table.count(first), self.dish[first]) for first in firsts]

    def others(self, s):
        """Dishes of the tables of other sentences."""
        return [self.dish[i] for i, t in enumerate(self.table) if t == i and self.sentence[i] != s]

    def options(self, prior, i):
        s = self.sentence[i]
        return options(prior, self.tables(s), self.others(s))

    def unseat(self, i):
        """Take a word out; its table is named by the first that is left."""
        left = [j for j, t in enumerate(self.table) if t == self.table[i] and j != i]
        self.table[i] = NEW
        for j in left:
            self.table[j] = left[0]

    def seat(self, i, first, dish, k):
        """Seat a word at a table, or a new one; a new dish is the first that is free."""
        used = {self.dish[j] for j, t in enumerate(self.table) if t >= 0}
        dish = min(set(range(len(used) + 1)) - used) if dish == NEW else dish
        members = [] if first == NEW else [j for j, t in enumerate(self.table) if t == first]
        for j in [*members, i]:
            self.table[j] = min([*members, i])
        self.dish[i], self.topic[i] = dish, k

    def log_joint(self, prior):
        """log p(seats and dishes), along the round robin."""
        so_far, total = Document([]), 0.0
        n = len(self.sentence)
        so_far.sentence, so_far.order = self.sentence, self.order
        so_far.topic, so_far.table, so_far.dish = [-1] * n, [-1] * n, [-1] * n
        for i in self.order:
            if self.table[i] == NEW:
                continue
            mates = [j for j, t in enumerate(self.table) if t == self.table[i]]
            first = next((so_far.table[j] for j in mates if so_far.table[j] >= 0), NEW)
            known = self.dish[i] in {so_far.dish[j] for j in range(n)}
            for p, table, dish in so_far.options(prior, i):
                same = dish == self.dish[i] or (dish == NEW and not known)
                if table == first and same:
                    total += log(p)
            so_far.seat(i, first, self.dish[i], 0)
        return total

    def counts(self, n_topics):
        """Topic counts of each dish."""
        found = {}
        for i, t in enumerate(self.table):
            if t >= 0:
                found.setdefault(self.dish[i], np.zeros(n_topics))[self.topic[i]] += 1
        return found


class Topics:
    """Topics with counts, or with given weights of shape (n_words, K)."""

    def __init__(self, counts, eta=None):
        self.counts, self.eta = np.array(counts, dtype=float), eta

    def weights(self, word):
        if self.eta is None:
            return self.counts[word]
        total = self.counts.sum(axis=0) + self.eta.sum()
        return (self.counts[word] + self.eta[word]) / total

    def learn(self, word, k, sign):
        if self.eta is not None:
            self.counts[word, k] += sign


def choose(weights, stream):
    """A place in proportion to the weights."""
    running = np.cumsum(weights)
    return int(np.searchsorted(running[:-1], stream.uniform() * running[-1], side="right"))


def draw(document, i, word, topics, prior, kappa, stream):
    """(table, dish, topic, p of (word at) the dish) of a word, and p(word)."""
    found = document.options(prior, i)
    f = topics.weights(word)
    counts = document.counts(len(f))
    dishes = [*sorted({dish for _, _, dish in found} - {NEW}), NEW]
    priors = [sum(p for p, _, d in found if d == dish) for dish in dishes]
    rows = [(counts.get(dish, np.zeros(len(f))) + kappa) * f for dish in dishes]
    mass = [counts.get(dish, np.zeros(1)).sum() + kappa * len(f) for dish in dishes]
    q = [row.sum() / m for row, m in zip(rows, mass, strict=True)]
    weights = np.array(priors) * q
    row = choose(weights, stream)
    dish, k = dishes[row], choose(rows[row], stream)
    tables = [(p, table) for p, table, d in found if d == dish]
    if isinstance(prior, Franchise):
        table = tables[choose([p for p, _ in tables], stream)][1]
    else:
        table = tables[0][1]
    return table, dish, k, dict(zip(dishes, priors, strict=True)), weights.sum()


def start(lengths, words, topics, prior, kappa, seed):
    """The sequential start, and log p of all words along it."""
    document, stream, total = Document(lengths), Stream(mix(mix(seed))), 0.0
    prior = buffet_at_start(prior) if isinstance(prior, ICD) else prior
    for i in document.order:
        table, dish, k, _, p = draw(document, i, words[i], topics, prior, kappa, stream)
        document.seat(i, table, dish, k)
        topics.learn(words[i], k, 1)
        total += log(p)
    return document, total


def sweep(document, words, topics, prior, kappa, seed, number):
    """One sweep over the words, and one over the tables; p(topic | dish) of each word."""
    stream = Stream(mix((mix(seed) + 2 * number + 1) & MASK))
    if isinstance(prior, ICD):
        prior = document.buffet = buffet_given_seats(prior, document, stream)
    exact = isinstance(prior, WAS) and prior.exact
    expected = np.zeros((len(words), topics.counts.shape[1]))
    for i, word in enumerate(words):
        if document.table[i] >= 0:
            expected[i] = sample_word(document, i, word, topics, prior, kappa, stream, exact)
    if isinstance(prior, Franchise | WAS):
        for first in [i for i in range(len(words)) if document.table[i] == i]:
            sample_dish(document, first, topics.counts.shape[1], prior, kappa, stream, exact)
    return expected


def sample_word(document, i, word, topics, prior, kappa, stream, exact):
    old = document.copy()
    topics.learn(word, document.topic[i], -1)
    document.unseat(i)
    table, dish, k, proposal, _ = draw(document, i, word, topics, prior, kappa, stream)
    new = document.copy()
    new.seat(i, table, dish, k)
    if exact:
        alive = {document.dish[j] for j, t in enumerate(document.table) if t >= 0}
        before = old.dish[i] if old.dish[i] in alive else NEW
        plain = old.table[i] < i and new.table[i] < i
        if before != dish and not plain:
            ratio = new.log_joint(prior) - log(proposal[dish])
            ratio -= old.log_joint(prior) - log(proposal[before])
            if log(max(stream.uniform(), 1e-300)) >= ratio:
                new = old
    f = topics.weights(word)
    weights = (document.counts(len(f)).get(new.dish[i], np.zeros(len(f))) + kappa) * f
    document.__dict__.update(new.__dict__)
    topics.learn(word, document.topic[i], 1)
    return weights / weights.sum()


def sample_dish(document, first, n_topics, prior, kappa, stream, exact):
    """Another dish for a table, given the topics of its words."""
    members = [i for i, t in enumerate(document.table) if t == first]
    old, s = document.copy(), document.sentence[first]
    for i in members:
        document.table[i] = NEW
    counts, others = document.counts(n_topics), document.others(s)
    own = [dish for _, _, dish in document.tables(s)]
    dishes = sorted(set(others + own))
    if isinstance(prior, Franchise):
        served = [np.float64((others + own).count(dish)) for dish in dishes]
        weights = [float(prior.join_dish(n)) for n in served]
        weights.append(float(prior.open_dish(sum(served), len(dishes))))
    else:
        weights = [float(dish not in own) for dish in dishes] + [prior.zeta]
    c = np.bincount([document.topic[i] for i in members], minlength=n_topics)
    logs = [
        log_polya(c, counts.get(dish, np.zeros(n_topics)) + kappa) if weight > 0 else -np.inf
        for dish, weight in zip([*dishes, NEW], weights, strict=True)
    ]
    likelihood = np.exp(np.array(logs) - max(logs))
    chosen = choose(np.array(weights) * likelihood, stream)
    dish = [*dishes, NEW][chosen]
    before = old.dish[first] if old.dish[first] in dishes else NEW
    new_dish = min(set(range(len(dishes) + 1)) - set(dishes)) if dish == NEW else dish
    for i in members:
        document.table[i], document.dish[i] = first, new_dish
    if exact and before != dish:
        ratio = document.log_joint(prior) - log(weights[chosen])
        ratio -= old.log_joint(prior) - log(weights[[*dishes, NEW].index(before)])
        if log(max(stream.uniform(), 1e-300)) >= ratio:
            document.__dict__.update(old.__dict__)


def sentence_topic(document, s, prior, kappa, n_topics):
    """E[topic] of the next word of a sentence."""
    counts, total = document.counts(n_topics), np.zeros(n_topics)
    prior = document.buffet if isinstance(prior, ICD) else prior
    for p, _, dish in options(prior, document.tables(s), document.others(s)):
        row = counts.get(dish, np.zeros(n_topics)) + kappa
        total += p * row / row.sum()
    return total


def log_polya(counts, alpha):
    """log p of a sequence with these counts under Dirichlet(alpha)."""
    total = lgamma(sum(alpha)) - lgamma(sum(alpha) + sum(counts))
    return total + sum(lgamma(a + c) - lgamma(a) for a, c in zip(alpha, counts, strict=True))


def configurations(lengths, prior):
    """(p, table, dish) of all seats of a document, dishes numbered as they come up."""

    def go(document, todo, p):
        if not todo:
            yield p, tuple(document.table), tuple(document.dish)
            return
        for q, table, dish in document.options(prior, todo[0]):
            if q == 0:
                continue
            following = document.copy()
            following.seat(todo[0], table, dish, 0)
            yield from go(following, todo[1:], p * q)

    document = Document(lengths)
    yield from go(document, document.order, 1.0)


def posterior(lengths, words, prior, kappa, n_topics, n_features, eta=None, topic_word=None):
    """All (p, table, dish, topic), and p(words); topics are integrated out unless given."""
    states = []
    for p, table, dish in configurations(lengths, prior):
        for topic in product(range(n_topics), repeat=len(words)):
            counts = np.zeros((max(dish, default=0) + 1, n_topics))
            np.add.at(counts, (list(dish), list(topic)), 1)
            value = log(p) + sum(log_polya(row, np.full(n_topics, kappa)) for row in counts)
            if topic_word is None:
                of_topic = np.zeros((n_topics, n_features))
                np.add.at(of_topic, (list(topic), list(words)), 1)
                value += sum(log_polya(row, np.full(n_features, eta)) for row in of_topic)
            else:
                value += sum(log(topic_word[k][w]) for k, w in zip(topic, words, strict=True))
            states.append((exp(value), table, dish, topic))
    total = sum(state[0] for state in states)
    return [(p / total, *rest) for p, *rest in states], total
