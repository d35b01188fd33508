# SPDX-License-Identifier: BSD-3-Clause
"""What is read of topics: rows of lam, and divergences, distances and slopes as sums of all words.

These sums are of functions of lam before and after an update. Where the priors are the same for
all words they need not read the words that the minibatch lacks. The counts S of a topic fall into
bins that double from a least value on, two to each power of two, with one more for all that is
below. Of each bin are kept the sums over its words of the Chebyshev polynomials T_0 .. T_7 at the
place x of S in it. They say what the sum over the words of any polynomial of degree 7 is, in form
of weights at the eight roots of T_8,

    sum_w f(S_w) = sum over bins and roots of weight * f(root),

so that of an f whose nearest singularity is at S <= 0 the relative error is about 1e-8, and 1e-10
where S is not far above sigma, the nearest one being at -sigma. For a posterior c eta + a S that
is sigma = c eta / a. Sums are kept as whole multiples of 2^-36: what is added and taken away
again leaves nothing, and they depend on S alone, not on how it came about. The bins of a state
are kept on the posterior, and are brought along when an update is carried out.

What a function of all words costs is therefore that of about 500 words, and a change of S twice
eight additions a cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln

from streamtopics.kernels import dirichlet
from streamtopics.kernels import rows as kernel
from streamtopics.posteriors.protocol import (
    Blend,
    Coefficient,
    State,
    StatePosterior,
    Swap,
    within_reach,
)
from streamtopics.posteriors.rows import Rows

# Words of which divergences are summed at once: enough rows to fill a cache.
WORDS_AT_ONCE = 512
# Words to a word with statistics up to which a sum over all of S is read rather than kept.
SHARE_TO_READ = 16
UNIT = 2.0**-36
N_MOMENTS = kernel.N_MOMENTS
PLACES = np.cos(np.pi * (np.arange(N_MOMENTS) + 0.5) / N_MOMENTS)
# From sums of the polynomials to weights at their roots.
TO_WEIGHTS = np.polynomial.chebyshev.chebvander(PLACES, N_MOMENTS - 1).T * 2 / N_MOMENTS
TO_WEIGHTS[0] /= 2
# The least value is a power of two to a multiple of this, so that it seldom changes.
STEP = 16
# Words to a word with statistics, and words on top, from which on bins are worth their cost.
SHARE, LEAST_WORDS = 2, 2000
# Beyond these powers of two nothing is known of rounding.
REACH = 900


@dataclass(frozen=True)
class Bins:
    """Moments of the counts of topics by bins."""

    exponent: int  # The least value is 2 to this power
    # (N_BINS, n_components, N_MOMENTS): in units of 2^-36; the last bin holds what is too large for
    # the others
    sums: np.ndarray


@dataclass(frozen=True)
class Nodes:
    """Counts that stand for those of many words, and how many each of them stands for."""

    counts: np.ndarray  # (n, 1)
    weights: np.ndarray  # (n, n_components): they may be negative


def exponent_of(sigma: np.ndarray) -> int | None:
    """Exponent of the least value, a quarter of sigma or less; None if it is out of reach."""
    least = sigma.min()
    if not (least > 2.0**-REACH and sigma.max() < 2.0**REACH):
        return None
    return STEP * int((np.frexp(least)[1] - 3) // STEP)


def binned(S: np.ndarray, rows: np.ndarray, exponent: int, n_empty: int = 0) -> Bins:
    """The bins of some rows of S, and of so many more rows of zeros."""
    sums, of_empty = np.zeros((2, kernel.N_BINS, S.shape[1], N_MOMENTS), np.int64)
    kernel.count_in_bins(S, rows, exponent, sums)
    if n_empty:
        kernel.count_in_bins(np.zeros((1, S.shape[1])), np.zeros(1, np.int32), exponent, of_empty)
        sums += n_empty * of_empty
    return Bins(exponent, sums)


def nodes(bins: Bins, without: Bins, sigma: np.ndarray) -> Nodes | None:
    """Nodes of what is in `bins` but not in `without`; None if something is too large for them.

    All bins below a quarter of sigma are made one.
    """
    if bins.sums[-1].any():
        return None
    used = np.flatnonzero(bins.sums[:, :, 0].any(axis=1))
    stop, n_topics = int(used[-1]) + 1, bins.sums.shape[1]
    sums = (bins.sums[:stop] - without.sums[:stop]) * UNIT
    lowest = min(1 + 2 * (int(np.frexp(sigma.min())[1]) - 3 - bins.exponent), stop)
    values, weights = _values(), sums @ TO_WEIGHTS
    low = weights[:lowest].swapaxes(1, 2).reshape(lowest * N_MOMENTS, n_topics)
    top = 2.0 ** (lowest // 2)
    places = 2.0 * values[:lowest].ravel() / top - 1.0
    moments = np.polynomial.chebyshev.chebvander(places, N_MOMENTS - 1).T @ low
    high = weights[lowest:].swapaxes(1, 2).reshape((stop - lowest) * N_MOMENTS, n_topics)
    counts = np.concatenate([(PLACES + 1.0) * top / 2, values[lowest:stop].ravel()])
    return Nodes(
        np.ldexp(counts, bins.exponent)[:, None], np.concatenate([TO_WEIGHTS.T @ moments, high])
    )


@cache
def _values() -> np.ndarray:
    """Values at the roots in each bin but the last, as multiples of the least value."""
    e = np.repeat(np.arange((kernel.N_BINS - 2) // 2), 2)
    upper = np.tile([0.0, 1.0], len(e) // 2)
    above = 2.0 ** e[:, None] * (1.25 + 0.5 * upper[:, None] + PLACES / 4)
    return np.concatenate([(PLACES + 1.0)[None] / 2, above])


def _of_all(S: Rows, exponent: int) -> Bins:
    """The bins of all words, seen or not."""
    return binned(S.counts, S.used, exponent, S.shape[0] + 1 - S.n_used)


class Kept:
    """The bins of a state, and the nodes of its words that a minibatch lacks, to save work."""

    def __init__(self) -> None:
        self.bins: tuple[State, Bins] | None = None
        self.nodes: tuple[State, np.ndarray, Nodes | None, Bins | None] | None = None

    def __reduce__(self) -> tuple[type[Kept], tuple[()]]:
        """Nothing of it is saved or copied."""
        return Kept, ()


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


class OverWords(StatePosterior):
    """What is read of a posterior of topics: rows of lam, and sums over all words."""

    # (n_words or 1, n_components or 1): of the prior, and what a boost adds if it is another
    eta: np.ndarray
    xi: np.ndarray | None
    shape: tuple[int, int]  # (n_words, n_components)
    n_nodes: int
    kept: Kept

    @property
    def boosted(self) -> np.ndarray:
        """The pseudo-counts that a boost adds, as `eta` and `xi` are given."""
        return self.eta if self.xi is None else self.xi

    @property
    def a(self) -> np.ndarray:
        """Weight of `S` in each topic."""
        return self._state.a

    @property
    def learnt_mass(self) -> np.ndarray:
        """Sum of `S` over the words, for each topic; scaled by `a` in `mass`."""
        return self._state.learnt_mass

    @property
    def learnt_part(self) -> np.ndarray:
        """Mass in each topic that was learnt."""
        learnt_part: np.ndarray = self.a * self.learnt_mass
        return learnt_part

    @property
    def mass(self) -> np.ndarray:
        """Sum of lam over the words, for each topic."""
        mass: np.ndarray = self.prior_part + self.learnt_part
        return mass

    def rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of lam, of shape (len(words), n_components)."""
        state = self._state
        out = np.empty((len(words), len(state.a)))
        counts, rows = state.S.located(words)
        kernel.gather_rows(counts, rows, words, state.a, state.c, self.eta, out)
        if self.xi is not None:
            out += state.b * prior_at(self.xi, words)
        return out

    def prior_rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of eta, of shape (len(words), n_components)."""
        return np.broadcast_to(prior_at(self.eta, words), (len(words), self.n_nodes))

    def boosted_rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of what a boost adds, of shape (len(words), n_components)."""
        return np.broadcast_to(prior_at(self.boosted, words), (len(words), self.n_nodes))

    @cached_property
    def log_gamma_prior(self) -> np.ndarray:
        """Sum of log Gamma(eta) over the words, for each topic."""
        return over_words(gammaln(self.eta), self.shape)

    @property
    def is_alike(self) -> bool:
        """Whether the priors are the same for all words."""
        return len(self.eta) == 1 and len(self.boosted) == 1

    def changes(
        self, blend: Blend, some: np.ndarray | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Some words at a time until it is all, or `some`, and their rows before and after."""
        known, counts = blend.statistics.words, blend.statistics.counts
        n_words = self.shape[0] if some is None else len(some)
        for start in range(0, n_words, WORDS_AT_ONCE):
            stop = min(start + WORDS_AT_ONCE, n_words)
            words = np.arange(start, stop, dtype=np.int32) if some is None else some[start:stop]
            before = self.rows(words)
            after = blend.retain * before
            after += blend.prior * prior_at(self.eta, words)
            if np.any(blend.boost):
                after += blend.boost * prior_at(self.boosted, words)
            first, last = np.searchsorted(known, [words[0], words[-1] + 1])
            own = np.searchsorted(words, known[first:last])
            seen = words[np.minimum(own, len(words) - 1)] == known[first:last]
            after[own[seen]] += blend.gain * counts[first:last][seen]
            yield words, before, after

    def faded(self, blend: Blend, words: np.ndarray, topics: np.ndarray) -> np.ndarray:
        """Cells of lam after `blend`, but for its statistics, as `changes` has them."""
        state = self._state

        def of(prior: np.ndarray) -> Any:
            return np.broadcast_to(prior, self.shape)[words, topics]

        def by_topic(coefficient: Coefficient) -> Any:
            return np.broadcast_to(coefficient, self.n_nodes)[topics]

        learnt = state.a[topics] * state.S.cells(words, topics)
        before = state.c[topics] * of(self.eta) + learnt
        if self.xi is not None:
            before += state.b[topics] * of(self.xi)
        after: np.ndarray = by_topic(blend.retain) * before
        after += by_topic(blend.prior) * of(self.eta)
        if np.any(blend.boost):
            after += by_topic(blend.boost) * of(self.boosted)
        return after

    def _prior_over_a(self, state: State) -> np.ndarray:
        """The prior's part of a cell of lam over the weight of S, where priors are alike."""
        xi = self.xi
        prior = state.c * self.eta[0] + (0.0 if xi is None else state.b * xi[0])
        sigma: np.ndarray = prior / state.a
        return sigma

    def _elsewhere(self, words: np.ndarray, share: int) -> Nodes | None:
        """Nodes for the rows of S but those of `words`; None where reading all is as good.

        That is where less than `share` times as many words are left, or bins are of no use.
        """
        if not self.is_alike or self.shape[0] < share * len(words) + LEAST_WORDS:
            return None
        state, kept = self._state, self.kept
        if kept.nodes is None or kept.nodes[0] is not state or kept.nodes[1] is not words:
            sigma = self._prior_over_a(state)
            exponent, found, own = exponent_of(sigma), None, None
            if exponent is not None:
                if kept.bins is None or kept.bins[0] is not state:
                    kept.bins = state, _of_all(state.S, exponent)
                counts, rows = state.S.located(words)
                own = binned(counts, rows, exponent)
                found = nodes(kept.bins[1], own, sigma)
            kept.nodes = state, words, found, own
        return kept.nodes[2]

    def _kept_bins(self, state: State, words: np.ndarray) -> tuple[tuple[Any, ...], list[Swap]]:
        """Arguments that make the writer keep the bins through an update to `state`, and swaps.

        Nothing, if there are no bins or they will be of no use again.
        """
        kept, old = self.kept, self._state
        if kept.bins is None or kept.bins[0] is not old:
            return (), []
        bins, fits = kept.bins[1], self.shape[0] >= SHARE * len(words) + LEAST_WORDS
        if not fits or exponent_of(self._prior_over_a(state)) != bins.exponent:
            return (), []
        known, own = kept.nodes, None
        if known and known[0] is old and known[1] is words and known[3]:
            own = known[3].sums
        return (bins.sums, bins.exponent, own), [(vars(kept), "bins", (state, bins))]

    def moved(self, blend: Blend, least: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how far `blend` moves each topic's mean, and the words that may lead after it.

        The first is the total variation distance. The words are those with statistics of which
        lam comes to `least` or more in some topic. Priors must be the same for all words. In
        large vocabularies a part of 2 ** -36 of the distance is lost, and one in 10,000 where a
        topic has many words that just begin to lose.
        """
        state, mass, old_mass = self._state, self.mass_after(blend), self.mass
        words, eta, boosted = blend.statistics.words, self.eta[0], self.boosted[0]
        prior = self._prior_over_a(state) * state.a
        shrinks = blend.retain / mass - 1.0 / old_mass
        offset = shrinks * prior + (blend.prior * eta + blend.boost * boosted) / mass
        slope, rest = shrinks * state.a, self._elsewhere(words, SHARE_TO_READ)
        bound = least * (1.0 - 1e-9) / mass - prior / old_mass
        coefficients = np.array((offset, slope, blend.gain / mass, bound, state.a / old_mass))
        distance, leads = np.zeros(self.n_nodes), np.empty(len(words), np.int8)
        given = state.S.counts, state.S.places, words, counts_of(blend), coefficients, rest is None
        dirichlet.add_distances(*given, distance, leads)
        if rest is not None:
            distance += (rest.weights * np.abs(offset + slope * rest.counts)).sum(axis=0)
        return 0.5 * distance, words[leads != 0]

    def divergences(self, blend: Blend) -> tuple[np.ndarray, np.ndarray]:
        """KL from q to lam, and from q to eta, in nats: see `Posterior`."""
        mass = within_reach(self.mass_after(blend))
        from_posterior, from_prior = np.zeros((2, self.n_nodes))
        boosted = np.any(blend.boost)
        rest = self._elsewhere(blend.statistics.words, SHARE)
        if rest is not None:
            self._add_divergences(blend, rest, from_posterior, from_prior)
        for words, before, after in self.changes(blend) if rest is None else ():
            eta = prior_at(self.eta, words)
            if boosted:
                boost = blend.boost * prior_at(self.boosted, words)
                eta = np.ascontiguousarray(eta + boost)
                before += boost
                from_prior += gammaln(eta).sum(axis=0) * (len(words) // len(eta))
            dirichlet.add_divergences(after, before, eta, from_posterior, from_prior)
        if not boosted:
            from_prior += self.log_gamma_prior
        boost = blend.boost * self.boosted_mass
        masses = self.mass + boost, self.prior_mass + boost
        for found, other in zip((from_posterior, from_prior), masses, strict=True):
            found -= gammaln(other) - gammaln(mass) + (mass - other) * digamma(mass)
        return np.maximum(from_posterior, 0.0), np.maximum(from_prior, 0.0)

    def _add_divergences(
        self, blend: Blend, rest: Nodes, from_posterior: np.ndarray, from_prior: np.ndarray
    ) -> None:
        """Add the terms of the divergences of all words, most of which `rest` stands for."""
        state, k = self._state, self.n_nodes
        boost = blend.boost * self.boosted[0]
        eta = np.broadcast_to(self.eta[0] + boost, k).astype(np.float64)
        prior = self._prior_over_a(state) * state.a
        p = prior + boost, state.a
        q = blend.retain * prior + blend.prior * self.eta[0] + boost, blend.retain * state.a
        six = np.array([np.broadcast_to(c, k) for c in (*p, *q, blend.gain, eta)], np.float64)
        given = *state.S.located(blend.statistics.words), counts_of(blend), six
        dirichlet.add_divergences_of_rows(*given, from_posterior, from_prior)
        at_nodes = (c[0] + c[1] * rest.counts for c in (q, p))
        dirichlet.add_divergences(*at_nodes, eta[None], from_posterior, from_prior, rest.weights)
        if np.any(blend.boost):
            from_prior += self.shape[0] * gammaln(eta)

    def slopes(self, blend: Blend) -> Callable[[np.ndarray], np.ndarray]:
        """Slope of E_q[log Dir(beta_k | p(rho))] in rho, in nats: see `Posterior`.

        With p(rho) = rho lam + (1 - rho) eta + boost xi this is

            sum over the words of (lam - eta) (E_q[log beta] - E_p(rho)[log beta]).
        """
        everything = np.arange(self.shape[0], dtype=np.int32)
        eta = self.prior_rows(everything)
        beyond, base = self.rows(everything) - eta, eta
        if np.any(blend.boost):
            base = eta + blend.boost * self.boosted_rows(everything)
        mass = self.mass - self.prior_mass
        base_mass = self.prior_mass + blend.boost * self.boosted_mass
        expected = -mass * digamma(within_reach(self.mass_after(blend)))
        for words, _, after in self.changes(blend):
            expected += (beyond[words] * digamma(after)).sum(axis=0)

        def slope(rho: np.ndarray) -> np.ndarray:
            of_words = (beyond * digamma(base + rho * beyond)).sum(axis=0)
            found: np.ndarray = expected - of_words + mass * digamma(base_mass + rho * mass)
            return found

        return slope
