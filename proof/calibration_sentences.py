# SPDX-License-Identifier: BSD-3-Clause
"""Samplers of sentence topic models: each prior, with topics given or integrated out.

Geweke's test as in `proof.calibration_samplers`. Seats are drawn by the priors' own
`draw_seats`, which are compared with the samplers' sequential start, too; those of `ICD` here,
since its `draw_seats` is a chain itself. Documents have two sentences, of three words and of two.

The online step is seen from outside: in documents that are drawn from the topics that a
`WASTopicModel` has, it has to find as many atoms and tables as were drawn. The estimator reads the
words of a sentence in the order of their columns, which makes no difference to priors with
exchangeable words; with WAS it is not exact.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.stats import ttest_1samp

from proof.calibration_samplers import categorical, geweke, random_seeds, settled
from proof.calibration_tests import PValues, Subject, alike, means
from streamtopics import WASTopicModel
from streamtopics.was import ICD, SBP, WAS, HDPFranchise
from streamtopics.was.corpus import SentenceCorpus
from streamtopics.was.prior import SentencePrior
from streamtopics.was.sampler import SamplerState, SentenceSampler, TopicCounts

LENGTHS = [3, 2]
N_TOKENS = sum(LENGTHS)
STARTS = np.cumsum([0, *LENGTHS])
TOPIC_WORD = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
ATOM_PRIOR, ETA = 0.5, 0.3
PRIORS: dict[str, SentencePrior] = {
    "WAS": WAS(),
    "WAS, uneven": WAS(a=(0.5, 1.5, 3.0), b=(1.0, 2.0, 0.3), zeta=0.5),
    "HDP": HDPFranchise(2.0, 3.0),
    "SBP": SBP((0.5, 2.0), 1.5, truncation=3),
    "ICD": ICD(2.0, 1.5, truncation=3),
}
# Proposals for each document of ICD that is asked for.
PROPOSALS = 200


class State(NamedTuple):
    """Words, topics, tables and dishes, of shape (n, words)."""

    words: np.ndarray
    topic: np.ndarray
    table: np.ndarray
    dish: np.ndarray


def seats(prior: SentencePrior, n: int, rng: Generator) -> tuple[np.ndarray, np.ndarray]:
    """Tables and dishes of n documents."""
    if isinstance(prior, ICD):
        return seats_of_compound(prior, n, rng)
    drawn = [prior.draw_seats(LENGTHS, rng) for _ in range(n)]
    return np.array([s.table for s in drawn]), np.array([s.dish for s in drawn])


def seats_of_compound(prior: ICD, n: int, rng: Generator) -> tuple[np.ndarray, np.ndarray]:
    """Those with the right lengths, of documents of any.

    A sentence has the dish l with chance r_l, and then NB(phi_l, 1/2) words of it.
    """
    J, dishes = prior.truncation, np.zeros((0, N_TOKENS), np.intp)
    while len(dishes) < n:
        chances = rng.beta(prior.concentration / J, 1, (PROPOSALS * n, J))
        weights = rng.gamma(prior.shape, size=chances.shape)
        fits = np.ones(len(chances), bool)
        sizes = []
        for length in LENGTHS:
            has = rng.random(chances.shape) < chances
            sizes.append(has * rng.poisson(rng.gamma(weights)))
            fits &= sizes[-1].sum(axis=1) == length
        rows = [np.repeat(np.tile(np.arange(J), fits.sum()), s[fits].ravel()) for s in sizes]
        parts = [row.reshape(-1, n) for row, n in zip(rows, LENGTHS, strict=True)]
        mixed = [rng.permuted(part, axis=1) for part in parts]
        dishes = np.concatenate([dishes, np.concatenate(mixed, axis=1)])
    dish: np.ndarray = dishes[:n]
    return tables_of(dish), dish


def tables_of(dish: np.ndarray) -> np.ndarray:
    """The first word of its sentence that has the dish of each word."""
    same = dish[:, :, None] == dish[:, None, :]
    sentence = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
    found: np.ndarray = (same & (sentence[:, None] == sentence)).argmax(axis=2)
    return found


def at_one_table(state: State) -> State:
    """The same words, all of one topic and dish, at one table in each sentence."""
    nothing = np.zeros_like(state.dish)
    return State(state.words, nothing, tables_of(nothing), nothing)


def corpus_of(words: np.ndarray) -> SentenceCorpus:
    """Documents (n, words)."""
    n = len(words)
    starts = np.add.outer(N_TOKENS * np.arange(n), STARTS[:-1])
    return SentenceCorpus(
        words.ravel().astype(np.int32),
        np.append(starts, N_TOKENS * n).astype(np.intp),
        (len(LENGTHS) * np.arange(n + 1)).astype(np.intp),
    )


def assignments(state: State) -> SamplerState:
    """As the sampler has them."""
    return SamplerState(*(column.astype(np.int32).ravel() for column in state[1:]))


def statistics(state: State) -> dict[str, np.ndarray]:
    """Numbers of a document."""

    def pairs(one: np.ndarray) -> np.ndarray:
        same: np.ndarray = one[:, :, None] == one[:, None, :]
        return same

    dishes, topics = pairs(state.dish), pairs(state.topic)
    across = dishes[:, : LENGTHS[0], LENGTHS[0] :].any(axis=2).sum(axis=1)
    return {
        "tables": (state.table == np.arange(N_TOKENS)).sum(axis=1),
        "dishes": (dishes.argmax(axis=2) == np.arange(N_TOKENS)).sum(axis=1),
        "words of a dish of both": across,
        "pairs of a topic": topics.sum(axis=(1, 2)),
        "pairs of a dish and a word": (dishes & pairs(state.words)).sum(axis=(1, 2)),
    }


@dataclass(frozen=True)
class Given:
    """Documents with given topics."""

    prior: SentencePrior

    def draw(self, n: int, rng: Generator) -> State:
        table, dish = seats(self.prior, n, rng)
        proportions = rng.dirichlet(np.full(2, ATOM_PRIOR), (n, int(dish.max()) + 1))
        topic = categorical(np.take_along_axis(proportions, dish[..., None], axis=1), rng)
        return State(categorical(TOPIC_WORD[topic], rng), topic, table, dish)

    def elsewhere(self, state: State) -> State:
        return at_one_table(state)

    def sweep(self, state: State, rng: Generator, n_sweeps: int = 1) -> State:
        sampler, weights = SentenceSampler(self.prior, ATOM_PRIOR), TOPIC_WORD.T.copy()
        found = sampler.fold_in(
            corpus_of(state.words), weights, random_seeds(len(state.words), rng),
            n_sweeps=n_sweeps, n_averaged=0, state=assignments(state),
        ).state  # fmt: skip
        return State(state.words, *(column.reshape(state.words.shape) for column in found))

    def renew(self, state: State, rng: Generator) -> State:
        return state._replace(words=categorical(TOPIC_WORD[state.topic], rng))

    def statistics(self, state: State) -> dict[str, np.ndarray]:
        likelihood = np.log(TOPIC_WORD[state.topic, state.words]).sum(axis=1)
        return statistics(state) | {"log likelihood": likelihood}


@dataclass(frozen=True)
class Integrated:
    """Two documents, whose topics are integrated out; a replicate is both."""

    prior: SentencePrior
    # Documents that the sampler sees at a time.
    together: int = 2

    def draw(self, n: int, rng: Generator) -> State:
        state = Given(self.prior).draw(2 * n, rng)
        return state._replace(words=self.words(state.topic, rng))

    def words(self, topic: np.ndarray, rng: Generator) -> np.ndarray:
        """Words of topics that are drawn anew for each two documents."""
        topic_word = rng.dirichlet(np.full(3, ETA), (len(topic) // 2, 2))
        p = topic_word.repeat(2, axis=0)[np.arange(len(topic))[:, None], topic]
        return categorical(p, rng)

    def renew(self, state: State, rng: Generator) -> State:
        return state._replace(words=self.words(state.topic, rng))

    def elsewhere(self, state: State) -> State:
        return at_one_table(state)

    def sweep(self, state: State, rng: Generator, n_sweeps: int = 1) -> State:
        for _ in range(n_sweeps):
            state = self.swept(state, rng)
        return state

    def swept(self, state: State, rng: Generator) -> State:
        n, sampler = len(state.words), SentenceSampler(self.prior, ATOM_PRIOR)
        seeds, moved = random_seeds(n, rng), list[Any]()
        for first in range(0, n, self.together):
            part = slice(first, first + self.together)
            own = State(*(column[part] for column in state))
            counts = np.zeros((3, 2))
            np.add.at(counts, (own.words, own.topic), 1.0)
            topics = TopicCounts(counts, counts.sum(axis=0), np.full(3, ETA), 3 * ETA)
            given = corpus_of(own.words), assignments(own), topics, seeds[part]
            moved.append(sampler.sweep(*given, number=0)[0])
        return State(state.words, *(np.reshape(c, (n, -1)) for c in zip(*moved, strict=True)))

    def statistics(self, state: State) -> dict[str, np.ndarray]:
        first = statistics(State(*(column[::2] for column in state)))
        same = [c[::2, :, None] == c[1::2, None, :] for c in (state.topic, state.words)]
        return first | {"pairs of a topic and a word": (same[0] & same[1]).sum(axis=(1, 2))}


def sequential(prior: SentencePrior, n: int, rng: Generator) -> PValues:
    """Seats drawn word by word by the sampler, where words say nothing, and those of the prior."""
    words = np.zeros((n, N_TOKENS), int)
    start = SentenceSampler(prior, ATOM_PRIOR).fold_in(
        corpus_of(words), np.ones((1, 2)), random_seeds(n, rng), n_sweeps=0, n_averaged=0
    )
    state = State(words, *(column.reshape(n, N_TOKENS) for column in start.state))
    found, drawn = statistics(state), statistics(Given(prior).draw(n, rng))
    names = "tables", "dishes", "words of a dish of both", "pairs of a topic"
    return {name: alike(found[name], drawn[name], rng) for name in names}


def drawn_by_a_chain(n: int, rng: Generator) -> PValues:
    """Seats of `ICD.draw_seats`, fifty sweeps of a chain, and those of the law."""
    prior = PRIORS["ICD"]
    drawn = [prior.draw_seats(LENGTHS, rng) for _ in range(n)]
    dish = np.array([s.dish for s in drawn])
    words = np.zeros_like(dish)
    found = statistics(State(words, words, np.array([s.table for s in drawn]), dish))
    table, dish = seats(prior, n, rng)
    others = statistics(State(words, words, table, dish))
    names = "tables", "dishes", "words of a dish of both"
    return {name: alike(found[name], others[name], rng) for name in names}


def particles(prior: SentencePrior, n: int, rng: Generator) -> PValues:
    """p-hat(words) / p(words) for words from the uniform law has the mean that p sums to: 1.

    It does so under any prior: what this finds is an estimate with another mean.
    """
    words, seeds = rng.integers(0, 3, (n, N_TOKENS)), random_seeds(n, rng)
    found = SentenceSampler(prior, ATOM_PRIOR).log_likelihood(
        corpus_of(words), TOPIC_WORD.T.copy(), seeds, n_particles=3
    )
    return {"mean": float(ttest_1samp(np.exp(found) * 3.0**N_TOKENS, 1.0).pvalue)}


def online_step(prior: SentencePrior, n: int, rng: Generator) -> PValues:
    """Means over the documents of a minibatch, of a model that learns its second."""
    first, second, other = (Given(prior).draw(n, rng) for _ in range(3))
    model = WASTopicModel(
        2, prior=prior, atom_prior=ATOM_PRIOR, n_sweeps=20, n_burn_in=10, n_local_sweeps=60,
        random_state=int(rng.integers(2**31)),
    )  # fmt: skip
    topic_word = model.partial_fit(**_counts_of(first.words)).topic_word_
    second = second._replace(words=categorical(topic_word[second.topic], rng))
    model.partial_fit(**_counts_of(second.words))
    drawn = statistics(other)
    return {
        "atoms": means(model.n_atoms_, drawn["dishes"]),
        "tables": means(model.n_tables_, drawn["tables"]),
    }


def _counts_of(words: np.ndarray) -> dict[str, np.ndarray]:
    """Counts of all sentences, and the document of each, as arguments."""
    one = (words[..., None] == np.arange(3)).astype(float)
    rows = np.stack([part.sum(axis=1) for part in np.split(one, STARTS[1:-1], axis=1)], axis=1)
    groups = np.repeat(np.arange(len(words)), len(LENGTHS))
    return {"X": rows.reshape(-1, 3), "groups": groups}


def subjects() -> list[Subject]:
    """All of them."""
    found = []
    for name, prior in PRIORS.items():
        found += [
            Subject(f"was.{name}, given topics", partial(geweke, Given(prior)), 10_000),
            Subject(f"was.{name}, from one table", partial(settled, Given(prior)), 3000),
            Subject(f"was.{name}, integrated topics", partial(geweke, Integrated(prior)), 3000),
            Subject(f"was.{name}, both from one table", partial(settled, Integrated(prior)), 300),
        ]
        if not isinstance(prior, ICD):
            found.append(Subject(f"was.{name}, start", partial(sequential, prior), 10_000))
            found.append(Subject(f"was.{name}, particles", partial(particles, prior), 5000))
        exact = not isinstance(prior, WAS)
        found.append(Subject(f"was.{name}, online step", partial(online_step, prior), 2000, exact))
    return [*found, Subject("was.ICD, draw_seats", drawn_by_a_chain, 500, exact=False)]
