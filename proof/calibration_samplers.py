# SPDX-License-Identifier: BSD-3-Clause
"""Samplers of documents of LDA and of the HDP, with topics that are given.

Geweke's test (2004): from a draw of the prior, with its data, the sampler makes a few sweeps, and
between them the data are drawn anew given where it got to. Its end has the law of the prior again.
It is looked at after a sweep, with the data that the sweep was given: what is drawn anew fits even
to what a wrong sampler has found. Tokens and topics are drawn here, the sweeps are the package's.
A sampler that never moves keeps that law, too. So there are chains as well that begin with all
tokens in one topic, which they have to forget.

The sampler of the HDP cannot be started from a given state. It runs from its own start until that
is forgotten, on words of which the topics are known here: what it then says of the topics has, over
all such words, the law of the prior. That is so for the first document of a minibatch only.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.random import Generator
from scipy import sparse
from scipy.special import gammaln
from scipy.stats import ttest_1samp

from proof.calibration_tests import PValues, Subject, alike, means
from streamtopics.kernels import hdp as hdp_kernel
from streamtopics.local import Gibbs
from streamtopics.local.step import cut
from streamtopics.messages import Minibatch, Topics
from streamtopics.metrics import left_to_right
from streamtopics.utils.parallel import SERIAL

N_SWEEPS = 5
# After which it is forgotten that all began in one topic.
FORGOTTEN = 40
TOPIC_WORD = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
ALPHA = np.array([0.3, 0.5, 1.2])
N_TOKENS = 6
# Topics beside the three that matter, so that the sampler works on more than one vector.
MORE_TOPICS = 37
DOCUMENTS_PER_BATCH = 20


class Chain(Protocol):
    """A model and its sampler, for n replicates side by side."""

    def draw(self, n: int, rng: Generator) -> Any:
        """Draw states and data from the prior."""

    def elsewhere(self, state: Any) -> Any:
        """The same data, all in one topic."""

    def sweep(self, state: Any, rng: Generator, n_sweeps: int = 1) -> Any:
        """Let the sampler go on from there."""

    def renew(self, state: Any, rng: Generator) -> Any:
        """Draw the data anew."""

    def statistics(self, state: Any) -> dict[str, np.ndarray]:
        """Numbers of each replicate."""


def geweke(chain: Chain, n: int, rng: Generator) -> PValues:
    """Compare the ends of n chains with as many draws of the prior."""
    state = chain.sweep(chain.draw(n, rng), rng)
    for _ in range(N_SWEEPS - 1):
        state = chain.sweep(chain.renew(state, rng), rng)
    return as_drawn(chain, state, n, rng)


def settled(chain: Chain, n: int, rng: Generator) -> PValues:
    """Compare the ends of n chains that began in one topic with as many draws of the prior."""
    start = chain.elsewhere(chain.draw(n, rng))
    return as_drawn(chain, chain.sweep(start, rng, FORGOTTEN), n, rng)


def as_drawn(chain: Chain, state: Any, n: int, rng: Generator) -> PValues:
    """Compare states with draws of the prior."""
    ends, drawn = chain.statistics(state), chain.statistics(chain.draw(n, rng))
    return {name: alike(ends[name], drawn[name], rng) for name in ends}


def categorical(p: np.ndarray, rng: Generator) -> np.ndarray:
    """One draw of each distribution along the last axis."""
    levels = p.cumsum(axis=-1)
    found: np.ndarray = (levels[..., :-1] <= rng.random(p.shape[:-1])[..., None]).sum(axis=-1)
    return found


def random_seeds(n: int, rng: Generator) -> np.ndarray:
    return rng.integers(0, 2**64, n, np.uint64)


# Latent Dirichlet allocation


class Tokens(NamedTuple):
    """Words and topics of tokens, of shape (n, tokens)."""

    x: np.ndarray
    z: np.ndarray


def minibatch_of(x: np.ndarray, n_words: int, dtype: Any) -> Minibatch:
    """Documents of sorted words."""
    first = np.ones(x.shape, bool)
    first[:, 1:] = x[:, 1:] != x[:, :-1]
    places = np.flatnonzero(first)
    counts = np.diff(np.append(places, x.size)).astype(dtype)
    indptr = np.concatenate([[0], first.sum(axis=1).cumsum()]).astype(np.int32)
    indices = x.ravel()[places].astype(np.int32)
    return Minibatch(np.arange(n_words, dtype=np.int32), indptr, indices, counts)


def weights_of(topic_word: np.ndarray, alpha: np.ndarray, dtype: Any) -> Topics:
    """Padded to whole vectors."""
    weights = np.zeros((topic_word.shape[1], -(-len(alpha) // 16) * 16), dtype)
    weights[:, : len(alpha)] = topic_word.T
    return Topics(weights, alpha)


def in_order(state: Tokens, rng: Generator) -> Tokens:
    """The tokens of each document by their words, in random order where these are equal.

    That they are random matters: topics that were drawn from the first token on, of sorted words,
    differ by place. The law of the model does not.
    """
    order = np.lexsort((rng.random(state.x.shape), state.x), axis=1)
    return Tokens(*(np.take_along_axis(values, order, axis=1) for values in state))


@dataclass(frozen=True)
class LDA:
    """Documents with given topics, by `streamtopics.local.Gibbs`."""

    alpha: np.ndarray = field(default_factory=lambda: ALPHA)
    topic_word: np.ndarray = field(default_factory=lambda: TOPIC_WORD)
    dtype: Any = np.float32

    @classmethod
    def wide(cls) -> "LDA":
        """With many topics."""
        rng = np.random.default_rng(0)
        more = rng.dirichlet(np.ones(3), MORE_TOPICS)
        alpha = np.append(ALPHA, np.full(MORE_TOPICS, 0.02))
        return cls(alpha, np.concatenate([TOPIC_WORD, more]))

    def draw(self, n: int, rng: Generator) -> Tokens:
        theta = rng.dirichlet(self.alpha, n)
        z = categorical(np.repeat(theta[:, None], N_TOKENS, axis=1), rng)
        return Tokens(categorical(self.topic_word[z], rng), z)

    def elsewhere(self, state: Tokens) -> Tokens:
        return Tokens(state.x, np.zeros_like(state.z))

    def sweep(self, state: Tokens, rng: Generator, n_sweeps: int = 1) -> Tokens:
        state = in_order(state, rng)
        topics = weights_of(self.topic_word, self.alpha, self.dtype)
        batch = minibatch_of(state.x, self.topic_word.shape[1], self.dtype)
        z, seeds = state.z.astype(np.int32).ravel(), random_seeds(len(state.x), rng)
        _, z = Gibbs(n_sweeps, 0).step(batch, topics, seeds, SERIAL, z)
        return Tokens(state.x, z.reshape(state.x.shape))

    def renew(self, state: Tokens, rng: Generator) -> Tokens:
        return Tokens(categorical(self.topic_word[state.z], rng), state.z)

    def statistics(self, state: Tokens) -> dict[str, np.ndarray]:
        counts = (state.z[..., None] == np.arange(len(self.alpha))).sum(axis=1)
        likelihood = np.log(self.topic_word[state.z, state.x]).sum(axis=1)
        return {
            "tokens of a topic": counts[:, 0],
            "pairs of a topic": (counts**2).sum(axis=1),
            "a word in a topic": ((state.z == 2) & (state.x == 0)).sum(axis=1),
            "log joint": likelihood + gammaln(counts + self.alpha).sum(axis=1),
        }


def averages(n: int, rng: Generator) -> PValues:
    """Means over minibatches of what the last sweeps from one topic average: those of the prior."""
    chain, found, drawn = LDA(dtype=np.float64), list[Any](), list[Any]()
    topics = weights_of(chain.topic_word, chain.alpha, chain.dtype)
    for _ in range(n):
        x, _ = in_order(chain.draw(DOCUMENTS_PER_BATCH, rng), rng)
        batch, seeds = minibatch_of(x, 3, chain.dtype), random_seeds(len(x), rng)
        start, report = np.zeros(x.size, np.int32), frozenset({"log_theta"})
        learnt, _ = Gibbs(FORGOTTEN, 2).step(batch, topics, seeds, SERIAL, start, report)
        missing = 3 - len(learnt.counts)
        counts = np.pad(learnt.counts, ((0, missing), (0, 0)))
        assert learnt.log_theta is not None
        found.append([counts[0, 2], counts[2, 0], *learnt.log_theta])
        x, z = chain.draw(DOCUMENTS_PER_BATCH, rng)
        log_theta = np.log(np.maximum(rng.dirichlet(ALPHA, DOCUMENTS_PER_BATCH), 1e-300))
        pairs = ((x == 0) & (z == 2)).sum(), ((x == 2) & (z == 0)).sum()
        drawn.append([*pairs, *log_theta.mean(axis=0)])
    names = "word 0 in topic 2", "word 2 in topic 0", "log theta 0", "log theta 1", "log theta 2"
    return dict(zip(names, map(means, np.array(found).T, np.array(drawn).T), strict=True))


def likelihood(x: np.ndarray) -> np.ndarray:
    """p(x) of documents (n, words), by all topics that their words may have."""
    z = np.array(list(product(range(len(ALPHA)), repeat=x.shape[1])))
    counts = (z[..., None] == np.arange(len(ALPHA))).sum(axis=1)
    of_topics = np.exp((gammaln(counts + ALPHA) - gammaln(ALPHA)).sum(axis=1))
    of_topics *= np.exp(gammaln(ALPHA.sum()) - gammaln(ALPHA.sum() + x.shape[1]))
    found: np.ndarray = TOPIC_WORD[z, x[:, None]].prod(axis=2) @ of_topics
    return found


def left_to_right_mean(n: int, rng: Generator) -> PValues:
    """p-hat(x) / p(x) has the mean 1, whatever x is."""
    x = rng.integers(0, 3, (n, 4))
    X = sparse.csr_matrix((x[..., None] == np.arange(3)).sum(axis=1))
    # Documents of equal words have equal random numbers: each its own call.
    found = [
        np.exp(left_to_right(X[d], TOPIC_WORD, ALPHA, n_particles=2, random_state=r).log_likelihood)
        for d, r in enumerate(rng.integers(0, 2**31, n).tolist())
    ]
    return {"mean": float(ttest_1samp(np.ravel(found) / likelihood(x), 1.0).pvalue)}


# The hierarchical Dirichlet process


@dataclass(frozen=True)
class Restaurant:
    """A document of an HDP of which some topics are known.

    With `tables` the document has weights of topics of its own, and words of known topics count.
    """

    lam: np.ndarray
    tables: np.ndarray | None
    concentration: float
    b: float = 2.0
    share: tuple[float, ...] = (0.4,)
    eta: float = 0.5

    def weights(self, rng: Generator) -> np.ndarray:
        """Of the known topics, times b."""
        if self.tables is None:
            return self.b * np.array(self.share)
        later = self.concentration + np.append(np.cumsum(self.tables[:0:-1])[::-1], 0.0)
        sticks = rng.beta(1 + self.tables, later)
        found: np.ndarray = self.b * sticks * np.cumprod(np.append(1.0, 1 - sticks[:-1]))
        return found

    def draw(self, rng: Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Words, topics and weights, token by token; a new topic breaks its weight off the rest."""
        weights = self.weights(rng).tolist()
        n_known, words, topics = len(weights), list[int](), list[int]()
        urns = [self.lam[:, k].copy() for k in range(n_known)]
        for _ in range(N_TOKENS):
            seats = np.bincount(topics, minlength=len(weights)) + weights
            p = np.append(seats, self.b - sum(weights))
            k = int(categorical(p / p.sum(), rng))
            if k == len(weights):
                weights.append(rng.beta(1, self.concentration) * (self.b - sum(weights)))
                urns.append(np.full(len(self.lam), self.eta))
            x = int(categorical(urns[k] / urns[k].sum(), rng))
            if self.tables is not None or k >= n_known:
                urns[k][x] += 1
            words.append(x)
            topics.append(k)
        return np.array(words), np.array(topics), np.array(weights)

    def infer(self, words: np.ndarray, rng: Generator) -> np.ndarray:
        """The weights of the topics after some sweeps."""
        batch = minibatch_of(np.sort(words)[None], len(self.lam), np.float64)
        alpha = self.b * np.array(self.share)
        sampler = hdp_kernel.Sampler(
            self.lam, self.lam.sum(axis=0), len(alpha), np.full(len(self.lam), self.eta),
            self.eta * len(self.lam), alpha, self.concentration, self.b, self.tables,
            self.tables is not None,
        )  # fmt: skip
        seeds = random_seeds(1, rng)
        sampler.sample(batch.indptr, batch.indices, *cut(batch), seeds, 0, 1, 40, 1)
        weights: np.ndarray = sampler.results()[2]
        return weights


def restaurants(model: Restaurant, n: int, rng: Generator) -> PValues:
    """Births and weights after sweeps over drawn words, and those that were drawn."""
    found, drawn = list[Any](), list[Any]()
    for _ in range(n):
        words, *_ = model.draw(rng)
        weights = model.infer(words, rng)
        found.append(_of_weights(model, words, weights))
        words, _, weights = model.draw(rng)
        drawn.append(_of_weights(model, words, weights))
    names = "births", "weight of the rest", "first weight", "births and a word", "weight and a word"
    columns = zip(np.array(found).T, np.array(drawn).T, strict=True)
    return {
        name: alike(one, other, rng)
        for name, (one, other) in zip(names, columns, strict=True)
        if np.ptp(np.append(one, other)) > 1e-4
    }


def _of_weights(model: Restaurant, words: np.ndarray, weights: np.ndarray) -> list[float]:
    births, last = len(weights) - len(model.share), np.count_nonzero(words == 2)
    rest = model.b - weights.sum()
    return [births, rest, weights[0], births * last, weights[0] * last]


ONE_KNOWN = np.array([[0.7], [0.2], [0.1]])
TWO_LEARNT = np.array([[3.0, 1.0], [1.0, 1.0], [0.5, 3.0]])
RESTAURANTS = {
    "births": Restaurant(ONE_KNOWN, None, 1.5),
    "own sticks": Restaurant(TWO_LEARNT, np.array([1.5, 2.0]), 1e-7, share=(0.5, 0.5)),
    "own sticks and births": Restaurant(TWO_LEARNT, np.array([1.5, 2.0]), 1.5, share=(0.4, 0.3)),
}


def subjects() -> list[Subject]:
    """All of them."""
    chains: dict[str, Callable[[], LDA]] = {
        "float32": LDA,
        "float64": partial(LDA, dtype=np.float64),
        f"{3 + MORE_TOPICS} topics": LDA.wide,
    }
    found = []
    for name, make in chains.items():
        found += [
            Subject(f"local.Gibbs, {name}", partial(geweke, make()), 50_000),
            Subject(f"local.Gibbs, {name}, from one topic", partial(settled, make()), 20_000),
        ]
    found += [
        Subject("local.Gibbs, averages", averages, 2000),
        Subject("metrics.left_to_right", left_to_right_mean, 3000),
    ]
    for name, model in RESTAURANTS.items():
        found.append(Subject(f"kernels.hdp, {name}", partial(restaurants, model), 5000))
    return found
