# SPDX-License-Identifier: BSD-3-Clause
"""Topic models of sentences by enumeration: joint, posterior, likelihood, draws from the prior.

A document is a list of sentences, each of which has tables at which its words sit; a
table has a dish, a distribution over topics that is Dirichlet(kappa) and shared by the
tables of the document with that dish. A word has a topic, drawn from the dish of its
table, and is drawn from the topic. Three priors say who sits where and what is served:

WAS
    The weight-agnostic hierarchical stick-breaking process of Das and Bhattacharyya:
    Eqs 9 to 11 are its construction, Theorem 4 its predictive probabilities. Words come
    in rounds, the first of each sentence, then the second of each, and so on.
HDP
    The hierarchical Dirichlet process of Teh et al. (2006), as the Chinese restaurant
    franchise, with the sentences as groups and one base measure for each document.
SBP
    A stick-breaking process with n_atoms atoms (Ishwaran and James, 2001), shared by the
    sentences of a document, in which tables and dishes are the atoms themselves.

Words, topics and tables are nested lists, by document, sentence and position; dishes
are lists by document and sentence of a mapping (or list) from table to dish. Words and
topics are integers from 0; tables may have any labels in a sentence, and dishes in a
document, except for SBP: there both are the number of the atom.
"""

from bisect import bisect
from functools import lru_cache
from itertools import accumulate, chain, product
from math import exp, log
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, gammaln, logsumexp


def entry(values, j):
    """The j-th of a sequence of parameters, the last for all beyond; or the only one."""
    return values if isinstance(values, float | int) else values[min(j, len(values) - 1)]


def rounds(lengths):
    """(position, sentence) of all words of a document, in their order of time."""
    return sorted((n, s) for s, length in enumerate(lengths) for n in range(length))


def lengths_of(document):
    return [len(sentence) for sentence in document]


def flat(nested):
    return list(chain.from_iterable(nested))


def by_appearance(labels):
    """Labels without duplicates, in order of appearance."""
    return list(dict.fromkeys(labels))


def sizes(tables):
    """The number of words at each table of a sentence, in order of appearance."""
    return [tables.count(t) for t in by_appearance(tables)]


def walk(sticks, rng, a, b):
    """The stick at which a customer stops, where those that no one met before are broken."""
    j = 0
    while True:
        if j == len(sticks):
            sticks.append(rng.beta(entry(a, j), entry(b, j)))
        if rng.random() < sticks[j]:
            return j
        j += 1


def seatings(lengths, repeats):
    """All (tables, dishes) of a document, with canonical labels.

    repeats says whether two tables of a sentence may have the same dish.
    """

    def extend(order, tables, dishes):
        if not order:
            yield tables, dishes
            return
        (_, s), *later = order
        n_dishes = len(set(flat(dishes)))
        for t in range(len(dishes[s]) + 1):
            seated = [*tables[:s], [*tables[s], t], *tables[s + 1 :]]
            if t < len(dishes[s]):
                yield from extend(later, seated, dishes)
                continue
            for dish in range(n_dishes + 1):
                if repeats or dish not in dishes[s]:
                    served = [*dishes[:s], [*dishes[s], dish], *dishes[s + 1 :]]
                    yield from extend(later, seated, served)

    empty = [[] for _ in lengths]
    return extend(rounds(lengths), empty, empty)


def canonical(tables, dishes):
    """Tables numbered by their first word in the sentence, dishes by that in the document."""
    numbers = {}
    for n, s in rounds(lengths_of(tables)):
        numbers.setdefault(dishes[s][tables[s][n]], len(numbers))
    seated, served = [], []
    for sentence, own in zip(tables, dishes, strict=True):
        names = by_appearance(sentence)
        seated.append(tuple(map(names.index, sentence)))
        served.append(tuple(numbers[own[t]] for t in names))
    return tuple(seated), tuple(served)


class WAS(NamedTuple):
    """Sticks Beta(a_j, b_j); zeta is the weight of a new dish against one for each other."""

    a: object
    b: object
    zeta: float

    def log_probability(self, tables, dishes):
        """log p(tables, dishes) of a document.

        All who come after table j was opened pass it or sit at it, and who opens it is
        not counted: with g words at it and h at later ones, the stick v_j is in the
        probability as v_j^(g - 1) (1 - v_j)^h, which is integrated under its Beta.
        """
        total = 0.0
        for sentence in tables:
            g = sizes(sentence)
            for j in range(len(g)):
                a, b = entry(self.a, j), entry(self.b, j)
                total += betaln(a + g[j] - 1, b + sum(g[j + 1 :])) - betaln(a, b)
        served = [[] for _ in tables]
        opened = [set() for _ in tables]
        for n, s in rounds(lengths_of(tables)):
            table = tables[s][n]
            if table in opened[s]:
                continue
            dish, known = dishes[s][table], set(flat(served))
            assert dish not in served[s], "a dish is at most once in a sentence"
            weight = 1.0 if dish in known else self.zeta
            total += log(weight) - log(len(known) - len(served[s]) + self.zeta)
            served[s].append(dish)
            opened[s].add(table)
        return total

    def configurations(self, lengths):
        return seatings(lengths, repeats=False)

    def canonical(self, tables, dishes):
        return canonical(tables, dishes)

    def simulate(self, lengths, rng):
        """Tables and dishes from Eqs 9 to 11, with explicit sticks."""
        sticks = [[] for _ in lengths]
        tables = [[] for _ in lengths]
        dishes = [[] for _ in lengths]
        for _, s in rounds(lengths):
            sits = (j for j, v in enumerate(sticks[s]) if rng.random() < v)
            j = next(sits, len(sticks[s]))
            tables[s].append(j)
            if j < len(sticks[s]):
                continue
            sticks[s].append(rng.beta(entry(self.a, j), entry(self.b, j)))
            known = by_appearance(flat(dishes))
            others = [dish for dish in known if dish not in dishes[s]]
            place = rng.random() * (len(others) + self.zeta)
            dishes[s].append(others[int(place)] if place < len(others) else len(known))
        return tables, dishes


class HDP(NamedTuple):
    """Concentrations gamma of the sentences and alpha of the document."""

    gamma: float
    alpha: float

    def log_probability(self, tables, dishes):
        """log p(tables, dishes): a restaurant process of words, and one of tables."""
        served = [
            dishes[s][t] for s, sentence in enumerate(tables) for t in by_appearance(sentence)
        ]
        total = sum(log_restaurant(sizes(sentence), self.gamma) for sentence in tables)
        return total + log_restaurant(sizes(served), self.alpha)

    def configurations(self, lengths):
        return seatings(lengths, repeats=True)

    def canonical(self, tables, dishes):
        return canonical(tables, dishes)

    def simulate(self, lengths, rng):
        """Tables and dishes from sticks of the sentences, whose atoms are from the document's."""
        base, tables, dishes = [], [], []
        for length in lengths:
            sticks, served = [], {}
            tables.append([walk(sticks, rng, 1.0, self.gamma) for _ in range(length)])
            for table in by_appearance(tables[-1]):
                served[table] = walk(base, rng, 1.0, self.alpha)
            dishes.append(served)
        return tables, dishes


class SBP(NamedTuple):
    """Sticks Beta(a_j, b_j) of each sentence, over the same n_atoms atoms."""

    a: object
    b: object
    n_atoms: int

    def log_probability(self, tables, dishes):
        """log p(tables, dishes): the last stick is 1, every word counts."""
        total = 0.0
        for sentence, served in zip(tables, dishes, strict=True):
            assert all(served[t] == t for t in sentence), "tables are the atoms"
            for j in range(self.n_atoms - 1):
                g, h = sentence.count(j), sum(t > j for t in sentence)
                a, b = entry(self.a, j), entry(self.b, j)
                total += betaln(a + g, b + h) - betaln(a, b)
        return total

    def configurations(self, lengths):
        atoms = list(range(self.n_atoms))
        sentences = ([list(z) for z in product(atoms, repeat=length)] for length in lengths)
        for tables in product(*sentences):
            yield list(tables), [atoms for _ in lengths]

    def canonical(self, tables, dishes):
        """As they are: atoms have names."""
        served = tuple(tuple(by_appearance(sentence)) for sentence in tables)
        return tuple(map(tuple, tables)), served

    def simulate(self, lengths, rng):
        tables = []
        for length in lengths:
            sticks = [rng.beta(entry(self.a, j), entry(self.b, j)) for j in range(self.n_atoms - 1)]
            tables.append([walk([*sticks, 1.0], rng, self.a, self.b) for _ in range(length)])
        return tables, [list(range(self.n_atoms)) for _ in lengths]


def log_restaurant(sizes, concentration):
    """log p of a partition under the Chinese restaurant process."""
    c, n = concentration, sum(sizes)
    return len(sizes) * log(c) + gammaln(sizes).sum() + gammaln(c) - gammaln(c + n)


class FixedTopics(NamedTuple):
    """Topics that are known, (K, V)."""

    topic_word: np.ndarray

    @property
    def n_topics(self):
        return len(self.topic_word)

    def log_probability(self, words, topics):
        """log p(words | topics) of all tokens."""
        with np.errstate(divide="ignore"):
            return np.log(self.topic_word[topics, words]).sum()


class IntegratedTopics(NamedTuple):
    """Topics that are Dirichlet(eta) over n_words words, integrated out."""

    n_topics: int
    n_words: int
    eta: float

    def log_probability(self, words, topics):
        """log p(words | topics) of all tokens, of all documents."""
        counts = np.zeros((self.n_topics, self.n_words))
        np.add.at(counts, (topics, words), 1.0)
        return log_dirichlet_multinomial(counts, self.eta)


def log_dirichlet_multinomial(counts, prior):
    """log p of sequences with these counts, one for each row, under Dirichlet(prior)."""
    mass = prior * counts.shape[1]
    by_row = gammaln(mass) - gammaln(mass + counts.sum(axis=1))
    return by_row.sum() + (gammaln(prior + counts) - gammaln(prior)).sum()


def log_topics(topics, tables, dishes, kappa, n_topics):
    """log p(topics | tables, dishes) of a document, with the dishes' proportions integrated."""
    counts = {}
    for s, sentence in enumerate(tables):
        for n, table in enumerate(sentence):
            counts.setdefault(dishes[s][table], np.zeros(n_topics))[topics[s][n]] += 1
    table = np.array(list(counts.values())).reshape(-1, n_topics)
    return log_dirichlet_multinomial(table, kappa)


def log_joint(words, topics, tables, dishes, prior, kappa, topic_law):
    """log p(words, topics, tables, dishes) of all documents."""
    tokens = flat(flat(words)), flat(flat(topics))
    total = topic_law.log_probability(*(np.array(some, int) for some in tokens))
    for y, z, served in zip(topics, tables, dishes, strict=True):
        total += prior.log_probability(z, served)
        total += log_topics(y, z, served, kappa, topic_law.n_topics)
    return total


def topic_assignments(lengths, n_topics):
    """All topics of the words of a document."""
    return list(
        map(list, product(*(product(range(n_topics), repeat=length) for length in lengths)))
    )


def law(words, prior, kappa, topic_law):
    """Posterior probability of every (topics, tables, dishes) of one document.

    The keys are nested tuples, with labels as `prior.canonical` gives them.
    """
    lengths = lengths_of(words)
    states = {}
    for tables, dishes in prior.configurations(lengths):
        for topics in topic_assignments(lengths, topic_law.n_topics):
            key = (tuple(topics), *prior.canonical(tables, dishes))
            states[key] = log_joint([words], [topics], [tables], [dishes], prior, kappa, topic_law)
    total = logsumexp(list(states.values()))
    return {state: exp(value - total) for state, value in states.items()}


class Posterior(NamedTuple):
    """Exact posterior expectations, of documents with n tokens together.

    Tokens are in order of document, sentence and position. Tables are counted in every
    sentence that has words, dishes in every document.
    """

    log_evidence: float  # log p(words), of the documents together
    n_tables: np.ndarray  # (n_documents,)
    n_dishes: np.ndarray  # (n_documents,)
    same_table: np.ndarray  # (n, n), probability that two words of a sentence share a table
    same_dish: np.ndarray  # (n, n), that two words of a document share a dish
    same_topic: np.ndarray  # (n, n)
    topic: np.ndarray  # (n, n_topics)


def posterior(words, prior, kappa, topic_law):
    """Expectations of what `Posterior` lists, by the sum over all configurations.

    Given the topics, documents are independent: each is summed over its tables and
    dishes by itself, and then all are summed over the topics together.
    """
    n_documents, n_topics = len(words), topic_law.n_topics
    tokens = np.array(flat(flat(words)), int)
    n = len(tokens)
    lengths = [tuple(lengths_of(document)) for document in words]
    given = [given_topics(own, prior, kappa, n_topics) for own in lengths]
    logs, expectations = [], []
    for assignment in product(*given):
        topics = np.array([y for part in assignment for y in part.topics], int)
        logs.append(
            sum(part.log_probability for part in assignment)
            + topic_law.log_probability(tokens, topics)
        )
        one_hot = np.eye(n_topics)[topics]
        tables, dishes = np.zeros((n, n)), np.zeros((n, n))
        start = 0
        for part in assignment:
            stop = start + len(part.topics)
            tables[start:stop, start:stop] = part.same_table
            dishes[start:stop, start:stop] = part.same_dish
            start = stop
        numbers = [part.n_tables for part in assignment], [part.n_dishes for part in assignment]
        values = [*numbers, tables, dishes, one_hot @ one_hot.T, one_hot]
        expectations.append(np.concatenate([np.ravel(value) for value in values]))
    p = np.exp(np.array(logs) - logsumexp(logs))
    shapes = [(n_documents,)] * 2 + [(n, n)] * 3 + [(n, n_topics)]
    ends = np.cumsum([np.prod(shape, dtype=int) for shape in shapes])
    means = np.split(p @ np.array(expectations), ends[:-1])
    means = [mean.reshape(shape) for mean, shape in zip(means, shapes, strict=True)]
    return Posterior(float(logsumexp(logs)), *means)


class GivenTopics(NamedTuple):
    """Prior probability of the topics of a document, and expectations given them."""

    topics: list
    log_probability: float
    n_tables: float
    n_dishes: float
    same_table: np.ndarray
    same_dish: np.ndarray


# Documents with other words have the same; a prior is not another one that has its values.
@lru_cache(typed=True)
def given_topics(lengths, prior, kappa, n_topics):
    """`GivenTopics` for all topics of the words of a document."""
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    together = sentence[:, None] == sentence
    configurations = []
    for tables, dishes in prior.configurations(lengths):
        table = np.array(flat(tables), int)
        dish = np.array([dishes[s][t] for s in range(len(lengths)) for t in tables[s]], int)
        indicators = (
            sum(len(set(own)) for own in tables),
            len(set(dish)),
            together & (table[:, None] == table),
            dish[:, None] == dish,
        )
        configurations.append((prior.log_probability(tables, dishes), tables, dishes, indicators))
    out = []
    for topics in topic_assignments(lengths, n_topics):
        logs = [
            log_p + log_topics(topics, tables, dishes, kappa, n_topics)
            for log_p, tables, dishes, _ in configurations
        ]
        p = np.exp(np.array(logs) - logsumexp(logs))
        columns = zip(*(indicators for *_, indicators in configurations), strict=True)
        means = [np.tensordot(p, np.array(column, float), axes=1) for column in columns]
        out.append(GivenTopics(flat(topics), logsumexp(logs), *means))
    return out


def log_likelihood(document, prior, kappa, topic_word):
    """log p(words of a document | topics), as sequences."""
    return posterior([document], prior, kappa, FixedTopics(topic_word)).log_evidence


def simulate(lengths, prior, kappa, topic_word, rng):
    """Words, topics, tables and dishes of a document, from the model with these topics.

    Sticks and the dishes' proportions are drawn: nothing is integrated out.
    """
    n_topics = len(topic_word)
    tables, dishes = prior.simulate(lengths, rng)
    proportions = {}
    words, topics = [], []
    for sentence, served in zip(tables, dishes, strict=True):
        for dish in [served[t] for t in sentence]:
            if dish not in proportions:
                proportions[dish] = rng.dirichlet(np.full(n_topics, kappa))
        of_words = [proportions[served[t]] for t in sentence]
        topics.append([choice(theta, rng) for theta in of_words])
        words.append([choice(topic_word[k], rng) for k in topics[-1]])
    return words, topics, tables, dishes


def choice(p, rng):
    """`rng.choice` of places by their probabilities, with less ado."""
    running = list(accumulate(p.tolist()))
    return bisect(running, rng.random() * running[-1])
