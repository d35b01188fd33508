# SPDX-License-Identifier: BSD-3-Clause
"""Latent Dirichlet allocation: a view of the topics, and a local step.

A view turns lam, the Dirichlet parameters of the topics, into word weights for a local step. The
largest weight of each word is 1: a factor common to all topics cancels.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy.special import digamma

from streamtopics.kernels import rows as kernel
from streamtopics.kernels import variational
from streamtopics.local.directions import expected
from streamtopics.local.gibbs import Gibbs
from streamtopics.local.step import NOTHING, LocalStep, Source, content_seeds, document_seeds, mix
from streamtopics.messages import Minibatch, Statistics, Topics, WordLists
from streamtopics.posteriors import Learn, Proposal, TopicPosterior
from streamtopics.utils.checks import EXCLUDED
from streamtopics.utils.parallel import Workers, spans

# Number of weights worth a job.
CELLS_PER_JOB = 40_000
# Least factor of a prior.
TOLERANCE = 1e-13


# Expected log of weights, of cells of lam and the masses of their topics.
Log = Callable[[np.ndarray, np.ndarray], np.ndarray]


@runtime_checkable
class TopicView(Protocol):
    """A function from Dirichlet parameters of the topics to word weights."""

    #: Whether a local step's bound on the evidence holds for its weights
    keeps_bound: ClassVar[bool]

    def __call__(self, rows: np.ndarray, mass: np.ndarray, out: np.ndarray) -> None:
        """Write the weights of words into the first n_components columns of `out`.

        `rows`, (n_words, n_components), are lam; `mass`, (n_components,), sums lam over all words.
        Rows of `out` may be padded with further columns; write 0 there.
        """


@dataclass(frozen=True)
class GeometricMean:
    """Word weights for inference (`view`): exp(E[log beta]) of topics beta ~ Dirichlet(lam)."""

    keeps_bound: ClassVar[bool] = True

    def __call__(self, rows: np.ndarray, mass: np.ndarray, out: np.ndarray) -> None:
        variational.exp_digamma_rows(rows, digamma(mass), out)

    def log(self, lam: np.ndarray, mass: np.ndarray) -> np.ndarray:
        return digamma(lam) - digamma(mass)


@dataclass(frozen=True)
class Mean:
    """Word weights for inference (`view`): means lam / sum(lam) of topics beta ~ Dirichlet(lam)."""

    keeps_bound: ClassVar[bool] = False

    def __call__(self, rows: np.ndarray, mass: np.ndarray, out: np.ndarray) -> None:
        kernel.scale_rows(rows, 1.0 / mass, out)

    def log(self, lam: np.ndarray, mass: np.ndarray) -> np.ndarray:
        return np.log(lam / mass)


@dataclass(frozen=True)
class CorrectedMean:
    """Word weights for inference (`view`): exp(psi(lam + 1/2)) / sum(lam).

    Topics are beta ~ Dirichlet(lam), and psi is the digamma function. For lam above 1 the weights
    equal E[beta] to second order in 1 / lam. A word new to a topic, with lam near 0, has the weight
    .14 / sum(lam). With exp(psi(lam)) the weight would be nearly 0, and the word never learnt.
    """

    keeps_bound: ClassVar[bool] = False

    def __call__(self, rows: np.ndarray, mass: np.ndarray, out: np.ndarray) -> None:
        variational.exp_digamma_rows(rows + 0.5, np.log(mass), out)


corrected_mean, geometric_mean, mean = CorrectedMean(), GeometricMean(), Mean()


@runtime_checkable
class Start(Protocol):
    """A function from a prior and the first minibatch to the first topics.

    A start with the class attribute `of_corpus` = True gets the whole corpus in `fit`.
    """

    #: Whether the topics depend on the seed alone, so two streams with one seed start alike
    of_seed: ClassVar[bool]

    def __call__(
        self, prior: TopicPosterior, minibatch: Minibatch, seed: int, n_background: int = 0
    ) -> Source:
        """First topics; the first `n_background` of them are background topics."""


@dataclass(frozen=True)
class LDA:
    """Documents as mixtures of topics."""

    view: TopicView  # View of the topics in the local step
    local: LocalStep  # Local step in learning
    inference: LocalStep  # Local step for the topics of given documents
    seed: int  # Seed of the start and of the local step
    start: Start  # Maker of the first topics
    report: frozenset[str] = NOTHING  # Reports of the local step besides counts
    # Largest weight of the prior in learning, as a share of the learnt mass
    prior_limit: float | None = None
    # Documents of the stream before a minibatch, not yet learnt by the posterior
    n_ahead: int = 0
    # Whether the learnt part is a mean over 1 / c documents, c the weight of the prior
    per_document: bool = False

    def topics(
        self, source: Source, minibatch: Minibatch, workers: Workers, prior: Any = None,
        log: Log | None = None,
    ) -> Topics:  # fmt: skip
        """Return word weights of topics in a minibatch; lower if `prior` excludes a word."""
        words = minibatch.words
        samples = all(isinstance(step, Gibbs) for step in (self.local, self.inference))
        if samples and self.view == mean and isinstance(source, TopicPosterior | BoundedPrior):
            lists = source.lists(words)
            if lists is not None:
                # Of the size of counts, so that none is too large or small in single precision.
                unit = source.mass.min() / source.mass
                scaled = replace(lists, scale=lists.scale * unit, base=lists.base * unit)
                return Topics(scaled, source.alpha)
        topics = visible_topics(self.view, source, minibatch, workers, self.per_document, log)
        factors = None if prior is None else allowed(prior.prior_rows(words))
        # exp(E[log beta]) excludes words without help.
        if factors is not None and not self.view.keeps_bound and np.any(factors < 1.0):
            rows, half = source.rows(words), 0.5 * prior.c
            topics.weights[:, : len(half)] *= (rows + factors * half) / (rows + half)
        return topics

    def learner(
        self,
        posterior: TopicPosterior,
        minibatch: Minibatch,
        workers: Workers,
        first: Source | None = None,
    ) -> Learn:
        """The function `learn` of a rule; `first` are the topics if the posterior has no data."""
        documents: Any = None
        seeds: np.ndarray | None = None
        begun: tuple[Statistics, Any] | None = None
        n_before, n = posterior.n_documents + self.n_ahead, minibatch.n_documents

        def learn(given: TopicPosterior | Proposal, *, warm: bool = False) -> Statistics:
            nonlocal documents, seeds, begun
            if begun is not None and given is posterior and not warm:
                # Ascents from several starts; a step with a bound draws nothing.
                found, documents = begun
                return found
            source: Source = given
            if given is posterior and posterior.knows_nothing:
                source = first or self.first_topics(posterior, minibatch)
            elif self.prior_limit is not None:
                source = BoundedPrior(given, self.prior_limit)
            seeds = document_seeds(self.seed, n_before, n) if seeds is None else mix(seeds)
            log = geometric_mean.log if "local_bound" in self.report else None
            topics = self.topics(source, minibatch, workers, given, log)
            statistics, documents = self.local.step(
                minibatch, topics, seeds, workers, documents if warm else None, self.report
            )
            bound = statistics.local_bound
            if bound is not None:
                bound += float(topics.log_factors @ minibatch.word_counts)
            found = replace(statistics, local_bound=bound, alpha=topics.alpha)
            if "local_bound" in self.report and given is posterior and not warm:
                begun = found, documents
            return found

        return learn

    def first_topics(self, posterior: TopicPosterior, minibatch: Minibatch) -> Source:
        return self.start(posterior, minibatch, self.seed, self.local.n_background)

    def infer(self, posterior: Source, minibatch: Minibatch, workers: Workers) -> np.ndarray:
        told = self.view == corrected_mean and hasattr(posterior, "prior_rows")
        topics = self.topics(posterior, minibatch, workers, posterior if told else None)
        return self.inference.doc_topic(minibatch, topics, content_seeds(minibatch), workers)


def visible_topics(
    view: TopicView,
    source: Source,
    minibatch: Minibatch,
    workers: Workers,
    per_document: bool = False,
    log: Log | None = None,
) -> Topics:
    """Weights of words under a view, with each word's factor if `log` is given."""
    words, mass, alpha = minibatch.words, source.mass, source.alpha
    width = variational.padded_width(len(alpha))
    weights = np.empty((len(words), width), minibatch.counts.dtype)
    factors = np.empty(0 if log is None else len(words))

    def fill(start: int, stop: int) -> None:
        rows, out = source.rows(words[start:stop]), weights[start:stop]
        view(rows, mass, out)
        if log is not None:
            best = out.argmax(axis=1)
            cells = np.arange(len(out)), best
            exact = log(rows[cells], mass[best])
            factors[start:stop] = exact - np.log(out[cells].astype(np.float64))

    workers.share(fill, spans(len(words), max(1, CELLS_PER_JOB // width)))
    vectors = getattr(source, "posterior", source)
    directions, c = getattr(vectors, "directions", None), getattr(vectors, "c", None)
    if per_document and directions is not None and c is not None:
        directions = directions / c[:, None]
    return Topics(weights, alpha, None if directions is None else expected(directions), factors)


def allowed(eta: np.ndarray) -> np.ndarray:
    """Factors for cells of the prior: below 1 for excluded words, else 1.

    A topic excludes a word with less than a thousandth of the word's largest pseudo-count. The
    factor is the square of the ratio to this limit.
    """
    if not eta.strides[1]:  # All topics have one prior.
        return np.ones((1, 1))
    return np.minimum(1.0, eta / (EXCLUDED * eta.max(axis=1, keepdims=True))) ** 2


class BoundedPrior:
    """Topics with the prior's mass limited to a `share` of the learnt tokens."""

    def __init__(self, source: TopicPosterior | Proposal, share: float):
        self._source, self.alpha, self.c = source, source.alpha, source.c
        self.directions = source.directions
        # Weight, mass and rows of each prior.
        self._priors = [(source.c, source.prior_mass, source.prior_rows)]
        if source.xi is not None:
            self._priors.append((source.b, source.boosted_mass, source.boosted_rows))
        prior_part: Any = sum(weight * mass for weight, mass, _ in self._priors)
        learnt = float((source.mass - prior_part).sum())
        # Topics with an alpha of 0 do not exist yet.
        active = source.alpha > 0 if len(source.alpha) else slice(None)
        total = float(prior_part[active].sum())
        # A smaller prior would be lost in the subtraction.
        kept = max(share * learnt / total, TOLERANCE) if 0 < share * learnt < total else 1.0
        self._removed = 1.0 - kept
        removed: Any = sum(self._removed * weight * mass for weight, mass, _ in self._priors)
        self.mass: np.ndarray = source.mass - removed

    def lists(self, words: np.ndarray) -> WordLists | None:
        own = self._source.lists(words) if isinstance(self._source, TopicPosterior) else None
        return own and replace(own, base=own.base - self._removed * self.c)

    def rows(self, words: np.ndarray) -> np.ndarray:
        found: np.ndarray = self._source.rows(words)
        for weight, _, rows in self._priors if self._removed else ():
            found = found - self._removed * weight * rows(words)
        return found
