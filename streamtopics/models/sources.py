# SPDX-License-Identifier: BSD-3-Clause
"""Starts: topics for the first minibatch."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from streamtopics.local.directions import explained, summed
from streamtopics.local.hinted import shares_of_hints
from streamtopics.local.step import Source, standard_noise
from streamtopics.messages import Minibatch
from streamtopics.models.lda import allowed
from streamtopics.posteriors import TopicPosterior
from streamtopics.utils.parallel import SERIAL


@dataclass(frozen=True)
class RandomStart:
    """Topics with random differences, hashes of (seed, word, topic)."""

    prior: TopicPosterior
    seed: int
    scaled: bool = False  # Whether `mass` is right, to compete with learnt topics

    @property
    def alpha(self) -> np.ndarray:
        return self.prior.alpha

    @property
    def mass(self) -> np.ndarray:
        n_words, n_components = self.prior.shape
        if self.scaled:
            return 100.0 * (n_words + self.prior.prior_mass)
        return np.ones(n_components)

    def prior_rows(self, words: np.ndarray) -> np.ndarray:
        return self.prior.prior_rows(words)

    def rows(self, words: np.ndarray) -> np.ndarray:
        """100 (1 + eta) (1 + spread z), z about normal; near 0 for excluded words."""
        # This spread worked well with 2 to 100 topics.
        n_components = self.prior.shape[1]
        spread = min(max(0.1, 0.02 * n_components**0.5), 0.28)
        z = standard_noise(self.seed, words, n_components)
        eta = self.prior.prior_rows(words)
        found: np.ndarray = 100.0 * (1.0 + eta) * (1.0 + spread * z)
        found *= allowed(eta)
        return found


@dataclass(frozen=True)
class Table:
    words: np.ndarray  # (n_words,): columns of the words, sorted
    values: np.ndarray  # (n_words, n_components)
    alpha: np.ndarray  # (n_components,)
    mass: np.ndarray
    # (n_components, n_dimensions + 1): sums of the documents' vectors, and numbers, if any
    directions: np.ndarray | None = None

    def rows(self, words: np.ndarray) -> np.ndarray:
        return self.values[np.searchsorted(self.words, words)]


@dataclass(frozen=True)
class NoiseStart:
    of_seed: ClassVar[bool] = True

    def __call__(
        self, prior: TopicPosterior, minibatch: Minibatch, seed: int, n_background: int = 0
    ) -> Source:
        return RandomStart(prior, seed)


@dataclass(frozen=True)
class HintedStart:
    """Topics start from documents with known topics (hints), as in naive Bayes.

    A document with a vector but without hints goes to the topic of the nearest direction. A topic
    without documents starts from the prior if the topic has a name, else from the words of the
    minibatch, with random differences.
    """

    n_named: int = 0  # Number of named topics, the first ones
    of_seed: ClassVar[bool] = True

    def __call__(
        self, prior: TopicPosterior, minibatch: Minibatch, seed: int, n_background: int = 0
    ) -> Source:
        random, told = RandomStart(prior, seed), prior.directions
        own = shares_of_hints(minibatch, prior.n_nodes)
        if minibatch.vectors is not None and told is not None:
            own = _with_nearest(minibatch.vectors, own, told)
        if not own.any():
            return random
        counts = minibatch.matrix(minibatch.counts).T.astype(np.float64) @ own
        free = np.arange(prior.n_nodes) >= self.n_named
        lacking = counts.sum(axis=0) == 0
        share = counts.sum() / max(minibatch.n_tokens, 1.0) / prior.n_nodes
        counts[:, lacking & free] = minibatch.word_counts[:, None] * share
        eta = prior.prior_rows(minibatch.words)
        values = eta + counts
        values[:, lacking] *= random.rows(minibatch.words)[:, lacking] / (
            100.0 * (1.0 + eta[:, lacking])
        )
        mass = prior.prior_mass + counts.sum(axis=0)
        if minibatch.vectors is not None and told is not None:
            own[:, lacking & free] = own.sum() / len(own) / prior.n_nodes
            told = told + summed(minibatch.vectors, own.astype(minibatch.vectors.dtype), SERIAL)
        return Table(minibatch.words, values, prior.alpha, mass, told)


def _with_nearest(vectors: np.ndarray, own: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Topic shares by hints; documents without hints get the topic nearest to their vector."""
    hinted = summed(vectors, own.astype(vectors.dtype), SERIAL)[:, :-1]
    sums = np.where(prior[:, :-1].any(axis=1, keepdims=True), prior[:, :-1], hinted)
    known = np.flatnonzero(sums.any(axis=1))
    rest = np.flatnonzero(~own.any(axis=1) & vectors.any(axis=1))
    found = own.copy()
    if len(known):
        centers = sums[known] / np.linalg.norm(sums[known], axis=1, keepdims=True)
        close = explained(vectors[rest], centers.astype(vectors.dtype), SERIAL)
        found[rest, known[close.argmax(axis=1)]] = 1.0
    return found


NOISE = NoiseStart()
