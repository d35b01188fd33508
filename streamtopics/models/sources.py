# SPDX-License-Identifier: BSD-3-Clause
"""Topics for a local step in the place of a posterior: a start, or a prior of less weight."""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from streamtopics.local.directions import explained, summed
from streamtopics.local.hinted import shares_of_hints
from streamtopics.local.minibatches import standard_noise
from streamtopics.local.step import Source as Source
from streamtopics.messages import Minibatch
from streamtopics.posteriors import TopicPosterior
from streamtopics.utils.checks import EXCLUDED
from streamtopics.utils.parallel import SERIAL

# The least of a prior that is left of it.
ROUNDING = 1e-13


class HasPrior(Source, Protocol):
    """A source that tells its prior apart: a posterior or a proposal."""

    @property
    def c(self) -> np.ndarray:
        """Weight of the prior in each topic."""

    @property
    def prior_mass(self) -> np.ndarray:
        """Pseudo-counts of the prior, for each topic."""

    def prior_rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of the prior."""


class Start(Protocol):
    """Function that makes the topics that the first minibatch is seen with.

    Attributes
    ----------
    of_seed : bool
        Whether the seed alone makes them, so that two streams with one seed start alike.
    of_corpus : bool, optional
        Whether `fit` gives it the whole corpus, not the first part of the first minibatch.
    """

    of_seed: ClassVar[bool]

    def __call__(
        self, prior: TopicPosterior, minibatch: Minibatch, seed: int, n_background: int = 0
    ) -> Source:
        """The topics, of the first minibatch and a seed; the first `n_background` are of all."""


@dataclass(frozen=True)
class RandomStart:
    """Topics that differ from each other at random, for the first minibatch.

    Under a prior that is the same for all topics nothing tells them apart. The
    first local step therefore sees these rows instead of the prior's; they leave
    no trace in the posterior, which starts from the prior exactly. The entry of
    a word in a topic is a hash of (seed, word, topic): it does not depend on the
    minibatch, so two streams with one seed start from the same topics.
    """

    prior: TopicPosterior
    seed: int

    @property
    def alpha(self) -> np.ndarray:
        return self.prior.alpha

    @property
    def mass(self) -> np.ndarray:
        """Ones: the same mass for all topics."""
        return np.ones(self.prior.shape[1])

    def prior_rows(self, words: np.ndarray) -> np.ndarray:
        return self.prior.prior_rows(words)

    def rows(self, words: np.ndarray) -> np.ndarray:
        """100 (1 + eta) (1 + spread z), with z a sum of four uniforms, standardised.

        They are near 0 for words that the prior excludes; see `allowed`. The spread, 0.02 times
        the root of the number of topics but between 0.1 and 0.28, is what did well with 2 to 100
        topics: less leaves the first statistics without shape, more makes them a firm guess that
        later ones hardly correct.
        """
        n_components = self.prior.shape[1]
        spread = min(max(0.1, 0.02 * n_components**0.5), 0.28)
        z = standard_noise(self.seed, words, n_components)
        eta = self.prior.prior_rows(words)
        found: np.ndarray = 100.0 * (1.0 + eta) * (1.0 + spread * z)
        found *= allowed(eta)
        return found


def allowed(eta: np.ndarray) -> np.ndarray:
    """Factors by which a prior excludes words from topics, from its rows; else ones.

    It does where a topic has less than a thousandth of the pseudo-count that another has of the
    word. The factor is the square of this share in thousandths, so that it has no jump.
    """
    if not eta.strides[1]:  # All topics have one prior.
        return np.ones((1, 1))
    factors: np.ndarray = np.minimum(1.0, eta / (EXCLUDED * eta.max(axis=1, keepdims=True))) ** 2
    return factors


@dataclass(frozen=True)
class Table:
    """Rows that are kept, of some words."""

    words: np.ndarray  # (n_words,): their columns, sorted
    values: np.ndarray  # (n_words, n_components)
    alpha: np.ndarray  # (n_components,)
    mass: np.ndarray
    # (n_components, n_dimensions + 1): sums of the documents' vectors and numbers of documents, if
    # there are vectors
    directions: np.ndarray | None = None

    def rows(self, words: np.ndarray) -> np.ndarray:
        return self.values[np.searchsorted(self.words, words)]


@dataclass(frozen=True)
class NoiseStart:
    """Topics that differ at random; see `RandomStart`."""

    of_seed: ClassVar[bool] = True

    def __call__(
        self, prior: TopicPosterior, minibatch: Minibatch, seed: int, n_background: int = 0
    ) -> Source:
        return RandomStart(prior, seed)


@dataclass(frozen=True)
class HintedStart:
    """Topics start from the documents with hints of them, as naive Bayes would.

    A document is divided among topics as its hints are. One without, if it has a vector, is of the
    topic whose direction is nearest: that of its name, or else of its documents with hints. Where
    a topic has no documents, nothing tells what a name means, and such a topic starts from the
    prior, with little to take; one without a name is there to take the rest, and starts from the
    words of the minibatch. Both differ at random.

    Parameters
    ----------
    n_named : int
        Topics that have names; the first ones.
    """

    n_named: int = 0
    of_seed: ClassVar[bool] = True

    def __call__(
        self, prior: TopicPosterior, minibatch: Minibatch, seed: int, n_background: int = 0
    ) -> Source:
        """Rows eta and the tokens of the documents that are hinted at."""
        random, told = RandomStart(prior, seed), prior.directions
        own = shares_of_hints(minibatch, prior.n_nodes)
        if minibatch.vectors is not None and told is not None:
            own = _with_nearest(minibatch.vectors, own, told)
        if not own.any():
            return random
        counts = minibatch.matrix(minibatch.counts).T.astype(np.float64) @ own
        unnamed = np.arange(prior.n_nodes) >= self.n_named
        lacking = counts.sum(axis=0) == 0
        share = counts.sum() / max(minibatch.n_tokens, 1.0) / prior.n_nodes
        counts[:, lacking & unnamed] = minibatch.word_counts[:, None] * share
        eta = prior.prior_rows(minibatch.words)
        values = eta + counts
        values[:, lacking] *= random.rows(minibatch.words)[:, lacking] / (
            100.0 * (1.0 + eta[:, lacking])
        )
        mass = prior.prior_mass + counts.sum(axis=0)
        if minibatch.vectors is not None and told is not None:
            own[:, lacking & unnamed] = own.sum() / len(own) / prior.n_nodes
            told = told + summed(minibatch.vectors, own.astype(minibatch.vectors.dtype), SERIAL)
        return Table(minibatch.words, values, prior.alpha, mass, told)


def _with_nearest(vectors: np.ndarray, own: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Shares of topics in documents, in those without any of the topic of the nearest direction."""
    hinted = summed(vectors, own.astype(vectors.dtype), SERIAL)[:, :-1]
    sums = np.where(prior[:, :-1].any(axis=1, keepdims=True), prior[:, :-1], hinted)
    known = np.flatnonzero(sums.any(axis=1))
    rest = np.flatnonzero(~own.any(axis=1) & vectors.any(axis=1))
    found = own.copy()
    if len(known):
        toward = sums[known] / np.linalg.norm(sums[known], axis=1, keepdims=True)
        close = explained(vectors[rest], toward.astype(vectors.dtype), SERIAL)
        found[rest, known[close.argmax(axis=1)]] = 1.0
    return found


NOISE = NoiseStart()


class LimitedPrior:
    """Topics whose prior weighs at most some share of what was learnt.

    Where a vocabulary is large, the pseudo-counts of all words of a topic can be more than the
    tokens that it has yet: topics with few tokens then look alike, and those with many take all.
    Only what the local step sees in learning is changed, not the posterior.

    Parameters
    ----------
    source : HasPrior
        The topics.
    share : float
        The most that the prior's mass may be of the mass learnt, over all topics together.
    """

    def __init__(self, source: HasPrior, share: float):
        self._source, self.alpha, self.c = source, source.alpha, source.c
        self.directions: np.ndarray | None = getattr(source, "directions", None)
        owed = source.c * source.prior_mass
        learnt = float((source.mass - owed).sum())
        # Topics of which alpha is 0 are none yet.
        alive = source.alpha > 0 if len(source.alpha) else slice(None)
        total = float(owed[alive].sum())
        self._limits = learnt > 0 and share * learnt < total
        # Less of the prior would be lost in what is taken off it.
        kept = max(share * learnt / total, ROUNDING) if self._limits else 1.0
        self._withheld = (1.0 - kept) * source.c
        self.mass: np.ndarray = source.mass - self._withheld * source.prior_mass

    def rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of the source, with less of the prior."""
        found: np.ndarray = self._source.rows(words)
        if self._limits:
            found = found - self._withheld * self._source.prior_rows(words)
        return found
