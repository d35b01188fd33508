# SPDX-License-Identifier: BSD-3-Clause
"""Divergences, distances and slopes of an update of topics, as sums over all words.

These are sums over the whole vocabulary of functions of lam before and after it. Where the priors
are the same for all words they need not read the words that the minibatch lacks: these stand in
bins by their counts; see `posteriors.bins`. The bins of a state are kept on the posterior, and
are brought along when an update is carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import digamma, gammaln

from streamtopics.kernels import dirichlet as kernel
from streamtopics.posteriors.bins import (
    LEAST_WORDS,
    SHARE,
    Bins,
    Nodes,
    binned,
    exponent_of,
    nodes,
)
from streamtopics.posteriors.protocol import Blend, Coefficient, Swap, within_reach
from streamtopics.posteriors.rows import Rows
from streamtopics.posteriors.state import State

if TYPE_CHECKING:
    from streamtopics.posteriors.topics import TopicPosterior

# Words of which divergences are summed at once: enough rows to fill a cache.
WORDS_AT_ONCE = 512
# Words to a word with statistics up to which a sum over all of S is read rather than kept.
SHARE_TO_READ = 16


def counts_of(blend: Blend) -> np.ndarray:
    """The counts of the statistics, as the kernels read them."""
    counts = np.asarray(blend.statistics.counts)
    if counts.dtype not in (np.float32, np.float64) or not counts.flags.c_contiguous:
        counts = np.ascontiguousarray(counts, np.float64)
    return counts


def prior_at(prior: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Rows of a prior, of which an axis of length 1 stands for equal ones."""
    return prior[words] if len(prior) > 1 else prior


def over_words(prior: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Sum of a prior over the words, for each topic."""
    n_words, n_components = shape
    total = prior.sum(axis=0) * (n_words // len(prior))
    return np.broadcast_to(total, n_components).astype(np.float64)


def changes(
    posterior: TopicPosterior, blend: Blend, some: np.ndarray | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Some words at a time until it is all, or `some`, and their rows before and after."""
    known, counts = blend.statistics.words, blend.statistics.counts
    n_words = posterior.shape[0] if some is None else len(some)
    for start in range(0, n_words, WORDS_AT_ONCE):
        stop = min(start + WORDS_AT_ONCE, n_words)
        words = np.arange(start, stop, dtype=np.int32) if some is None else some[start:stop]
        before = posterior.rows(words)
        after = blend.retain * before
        after += blend.prior * prior_at(posterior.eta, words)
        if np.any(blend.boost):
            after += blend.boost * prior_at(posterior.boosted, words)
        first, last = np.searchsorted(known, [words[0], words[-1] + 1])
        own = np.searchsorted(words, known[first:last])
        seen = words[np.minimum(own, len(words) - 1)] == known[first:last]
        after[own[seen]] += blend.gain * counts[first:last][seen]
        yield words, before, after


def faded(
    posterior: TopicPosterior, blend: Blend, words: np.ndarray, topics: np.ndarray
) -> np.ndarray:
    """Cells of lam after `blend`, but for its statistics, as `changes` has them."""
    state = posterior._state

    def of(prior: np.ndarray) -> Any:
        return np.broadcast_to(prior, posterior.shape)[words, topics]

    def by_topic(coefficient: Coefficient) -> Any:
        return np.broadcast_to(coefficient, posterior.n_nodes)[topics]

    learnt = state.a[topics] * state.S.cells(words, topics)
    before = state.c[topics] * of(posterior.eta) + learnt
    if posterior.xi is not None:
        before += state.b[topics] * of(posterior.xi)
    after: np.ndarray = by_topic(blend.retain) * before
    after += by_topic(blend.prior) * of(posterior.eta)
    if np.any(blend.boost):
        after += by_topic(blend.boost) * of(posterior.boosted)
    return after


class Kept:
    """The bins of a state, and the nodes of its words that a minibatch lacks, to save work.

    Attributes
    ----------
    bins : tuple (State, Bins) or None
    nodes : tuple (State, words, Nodes or None, Bins of the words or None) or None
    """

    def __init__(self) -> None:
        self.bins: tuple[State, Bins] | None = None
        self.nodes: tuple[State, np.ndarray, Nodes | None, Bins | None] | None = None

    def __reduce__(self) -> tuple[type[Kept], tuple[()]]:
        """Nothing of it is saved or copied."""
        return Kept, ()


def of_prior(posterior: TopicPosterior, state: State) -> np.ndarray:
    """The prior's part of a cell of lam over the weight of S, where priors are alike."""
    xi = posterior.xi
    prior = state.c * posterior.eta[0] + (0.0 if xi is None else state.b * xi[0])
    sigma: np.ndarray = prior / state.a
    return sigma


def elsewhere(posterior: TopicPosterior, words: np.ndarray, share: int) -> Nodes | None:
    """Nodes for the rows of S but those of `words`; None where reading all is as good.

    That is where less than `share` times as many words are left, or bins are of no use.
    """
    if not posterior.is_alike or posterior.shape[0] < share * len(words) + LEAST_WORDS:
        return None
    state, kept = posterior._state, posterior.kept
    if kept.nodes is None or kept.nodes[0] is not state or kept.nodes[1] is not words:
        sigma = of_prior(posterior, state)
        exponent, found, own = exponent_of(sigma), None, None
        if exponent is not None:
            if kept.bins is None or kept.bins[0] is not state:
                kept.bins = state, _of_all(state.S, exponent)
            counts, rows = state.S.located(words)
            own = binned(counts, rows, exponent)
            found = nodes(kept.bins[1], own, sigma)
        kept.nodes = state, words, found, own
    return kept.nodes[2]


def _of_all(S: Rows, exponent: int) -> Bins:
    """The bins of all words, seen or not."""
    return binned(S.counts, S.used, exponent, S.shape[0] + 1 - S.n_used)


def kept_bins(
    posterior: TopicPosterior, state: State, words: np.ndarray
) -> tuple[tuple[Any, ...], list[Swap]]:
    """Arguments that make the writer keep the bins through an update to `state`, and swaps.

    Nothing, if there are no bins or they will be of no use again.
    """
    kept, old = posterior.kept, posterior._state
    if kept.bins is None or kept.bins[0] is not old:
        return (), []
    bins, fits = kept.bins[1], posterior.shape[0] >= SHARE * len(words) + LEAST_WORDS
    if not fits or exponent_of(of_prior(posterior, state)) != bins.exponent:
        return (), []
    known, own = kept.nodes, None
    if known and known[0] is old and known[1] is words and known[3]:
        own = known[3].sums
    return (bins.sums, bins.exponent, own), [(vars(kept), "bins", (state, bins))]


def moved(
    posterior: TopicPosterior, blend: Blend, least: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far `blend` moves each topic's mean, and the words that may lead after it.

    The first is the total variation distance. The words are those with statistics of which
    lam comes to `least` or more in some topic. Priors must be the same for all words. In
    large vocabularies a part of 2 ** -36 of the distance is lost, and one in 10,000 where a
    topic has many words that just begin to lose.
    """
    state, mass, old_mass = posterior._state, posterior.after(blend).mass, posterior.mass
    words, eta, boosted = blend.statistics.words, posterior.eta[0], posterior.boosted[0]
    prior = of_prior(posterior, state) * state.a
    shrinks = blend.retain / mass - 1.0 / old_mass
    offset = shrinks * prior + (blend.prior * eta + blend.boost * boosted) / mass
    slope, rest = shrinks * state.a, elsewhere(posterior, words, SHARE_TO_READ)
    bound = least * (1.0 - 1e-9) / mass - prior / old_mass
    coefficients = np.array((offset, slope, blend.gain / mass, bound, state.a / old_mass))
    distance, leads = np.zeros(posterior.n_nodes), np.empty(len(words), np.int8)
    given = state.S.counts, state.S.places, words, counts_of(blend), coefficients, rest is None
    kernel.add_distances(*given, distance, leads)
    if rest is not None:
        distance += (rest.weights * np.abs(offset + slope * rest.counts)).sum(axis=0)
    return 0.5 * distance, words[leads != 0]


def divergences(posterior: TopicPosterior, blend: Blend) -> tuple[np.ndarray, np.ndarray]:
    """KL from q to lam, and from q to eta, in nats: see `Posterior`."""
    mass = within_reach(posterior.after(blend).mass)
    from_posterior, from_prior = np.zeros((2, posterior.n_nodes))
    boosted = np.any(blend.boost)
    rest = elsewhere(posterior, blend.statistics.words, SHARE)
    if rest is not None:
        _add_divergences(posterior, blend, rest, from_posterior, from_prior)
    for words, before, after in changes(posterior, blend) if rest is None else ():
        eta = prior_at(posterior.eta, words)
        if boosted:
            boost = blend.boost * prior_at(posterior.boosted, words)
            eta = np.ascontiguousarray(eta + boost)
            before += boost
            from_prior += gammaln(eta).sum(axis=0) * (len(words) // len(eta))
        kernel.add_divergences(after, before, eta, from_posterior, from_prior)
    if not boosted:
        from_prior += posterior.log_gamma_prior
    boost = blend.boost * posterior.boosted_mass
    masses = posterior.mass + boost, posterior.prior_mass + boost
    for found, other in zip((from_posterior, from_prior), masses, strict=True):
        found -= gammaln(other) - gammaln(mass) + (mass - other) * digamma(mass)
    return np.maximum(from_posterior, 0.0), np.maximum(from_prior, 0.0)


def _add_divergences(
    posterior: TopicPosterior,
    blend: Blend,
    rest: Nodes,
    from_posterior: np.ndarray,
    from_prior: np.ndarray,
) -> None:
    """Add the terms of the divergences of all words, most of which `rest` stands for."""
    state, k = posterior._state, posterior.n_nodes
    boost = blend.boost * posterior.boosted[0]
    eta = np.broadcast_to(posterior.eta[0] + boost, k).astype(np.float64)
    prior = of_prior(posterior, state) * state.a
    p = prior + boost, state.a
    q = blend.retain * prior + blend.prior * posterior.eta[0] + boost, blend.retain * state.a
    six = np.array([np.broadcast_to(c, k) for c in (*p, *q, blend.gain, eta)], np.float64)
    given = *state.S.located(blend.statistics.words), counts_of(blend), six
    kernel.add_divergences_of_rows(*given, from_posterior, from_prior)
    at_nodes = (c[0] + c[1] * rest.counts for c in (q, p))
    kernel.add_divergences(*at_nodes, eta[None], from_posterior, from_prior, rest.weights)
    if np.any(blend.boost):
        from_prior += posterior.shape[0] * gammaln(eta)


def slopes(posterior: TopicPosterior, blend: Blend) -> Callable[[np.ndarray], np.ndarray]:
    """Slope of E_q[log Dir(beta_k | p(rho))] in rho, in nats: see `Posterior`.

    With p(rho) = rho lam + (1 - rho) eta + boost xi this is

        sum over the words of (lam - eta) (E_q[log beta] - E_p(rho)[log beta]).
    """
    everything = np.arange(posterior.shape[0], dtype=np.int32)
    eta = posterior.prior_rows(everything)
    beyond, base = posterior.rows(everything) - eta, eta
    if np.any(blend.boost):
        base = eta + blend.boost * posterior.boosted_rows(everything)
    mass = posterior.mass - posterior.prior_mass
    base_mass = posterior.prior_mass + blend.boost * posterior.boosted_mass
    expected = -mass * digamma(within_reach(posterior.after(blend).mass))
    for words, _, after in changes(posterior, blend):
        expected += (beyond[words] * digamma(after)).sum(axis=0)

    def slope(rho: np.ndarray) -> np.ndarray:
        of_words = (beyond * digamma(base + rho * beyond)).sum(axis=0)
        found: np.ndarray = expected - of_words + mass * digamma(base_mass + rho * mass)
        return found

    return slope
