# SPDX-License-Identifier: BSD-3-Clause
"""The counts of topics, with a row for each seen word.

`places` has the row of each word, in order of appearance; row 0 is zeros, for all unseen words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma, gammaln

from streamtopics.kernels import dirichlet, minibatch
from streamtopics.kernels import rows as kernel
from streamtopics.messages import Statistics, in_full
from streamtopics.posteriors.bins import BinCache, Nodes, binned, exponent_of, nodes
from streamtopics.posteriors.lists import Lists
from streamtopics.posteriors.protocol import Blend, State, StatePosterior, Swap, swap, within_reach

GROWTH = 1.5
# Reserved cells at the start; memory is taken as cells are written.
LEAST_CELLS = 2**20
# Words of a long computation at once, to fit the processor's cache.
ROWS_AT_ONCE = WORDS_AT_ONCE = 512
# Words to a word with statistics, and further words, from which on bins are worth the cost.
SHARE, LEAST_WORDS = 2, 2000


class Rows:
    """Counts of words by topic; updates change rows in place."""

    _holds = "counts: R *; places: V i4 >=0 <R"

    def __init__(self, n_words: int, n_components: int):
        self.places = np.zeros(n_words, np.int32)  # Row of each word; 0 if unseen
        # (n, n_components): row 0 is zeros, and so are unused rows
        self.counts = np.zeros((1, n_components))
        self.n_used = 1  # Rows in use, with row 0

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.places), self.counts.shape[1]

    @property
    def words(self) -> np.ndarray:
        return np.flatnonzero(self.places).astype(np.int32)

    @property
    def used(self) -> np.ndarray:
        return np.arange(1, self.n_used, dtype=np.int32)

    def find(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        counts = self.counts
        return counts, kernel.locate(self.places, words, len(counts))

    def rows(self, words: np.ndarray) -> np.ndarray:
        counts, rows = self.find(words)
        return counts[rows]

    def column(self, topic: int) -> np.ndarray:
        return self.counts[:, topic][self.places]

    def dense(self) -> np.ndarray:
        dense: np.ndarray = self.counts[self.places]
        dense.flags.writeable = False
        return dense

    def only(self, words: np.ndarray, dtype: Any = np.float64) -> Rows:
        counts, rows = self.find(words)
        some = np.zeros((len(words) + 1, counts.shape[1]), dtype)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            places = rows[start : start + ROWS_AT_ONCE]
            some[start + 1 : start + 1 + len(places)] = counts[places]
        return Rows(len(words), counts.shape[1])._set_rows(np.arange(len(words)), some)

    def copy(self) -> Rows:
        out = Rows(0, self.counts.shape[1])
        out.places, out.n_used = self.places.copy(), self.n_used
        out.counts = self.counts[: self.n_used].copy()
        return out

    def allocate(self, words: np.ndarray) -> RowAllocation:
        store = self if self.counts.flags.writeable and self.places.flags.writeable else self.copy()
        counts, rows = store.find(words)
        new = rows == 0
        n_used = store.n_used + int(np.count_nonzero(new))
        rows[new] = np.arange(store.n_used, n_used)
        if n_used > len(counts):
            capacity = max(int(GROWTH * len(counts)), LEAST_CELLS // counts.shape[1])
            capacity = max(n_used, min(capacity, len(store.places) + 1))
            larger = np.zeros((capacity, counts.shape[1]))
            larger[: store.n_used] = counts[: store.n_used]
            counts = larger
        return RowAllocation(store, counts, rows, n_used)

    def _set_rows(self, words: np.ndarray, counts: np.ndarray) -> Rows:
        self.places[words] = np.arange(1, len(counts), dtype=np.int32)
        self.counts, self.n_used = counts, len(counts)
        return self

    def __getstate__(self) -> dict[str, Any]:
        words = self.words
        in_order = np.empty(len(words), np.int32)
        in_order[self.places[words] - 1] = words
        return {
            "n_words": len(self.places),
            "words": in_order,
            "counts": self.counts[: self.n_used],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.places = np.zeros(state["n_words"], np.int32)
        self._set_rows(state["words"], np.asarray(state["counts"], np.float64))

    def check_held(self) -> None:
        if np.count_nonzero(self.places) != self.n_used - 1:
            raise ValueError("each word must have a row of its own")


class RowAllocation(NamedTuple):
    """Rows of words after a planned change."""

    store: Rows
    # (n, n_components): the store's array of counts then: the same, or a larger copy
    counts: np.ndarray
    rows: np.ndarray  # Of each word
    n_used: int  # The store's `n_used` then

    def change(self, words: np.ndarray) -> tuple[np.ndarray, ...]:
        return self.counts[: self.n_used], self.store.places, words, self.rows

    @property
    def swaps(self) -> list[Swap]:
        store = self.store
        return [swap(store, "counts", self.counts), swap(store, "n_used", self.n_used)]


def from_counts(n_words: int, words: np.ndarray, counts: np.ndarray) -> Rows:
    counts = np.concatenate([np.zeros((1, counts.shape[1])), counts])
    return Rows(n_words, counts.shape[1])._set_rows(words, counts)


def in_rows(store: Rows | Lists) -> Rows:
    """A copy of a store with a row for each word."""
    return from_counts(store.shape[0], store.words, store.rows(store.words))


def seen_in(parts: Sequence[Rows]) -> np.ndarray:
    """Words with a row in any of `parts`, sorted."""
    seen = np.zeros(parts[0].shape[0], bool)
    for store in parts:
        seen[store.words] = True
    return np.flatnonzero(seen).astype(np.int32)


def added(parts: Sequence[tuple[Rows, np.ndarray]]) -> Rows:
    words = seen_in([store for store, _ in parts])
    total: Any = sum(weights * store.rows(words) for store, weights in parts)
    return from_counts(parts[0][0].shape[0], words, total)


def add_scaled(
    total: np.ndarray, words: np.ndarray, scale: np.ndarray, statistics: Statistics
) -> None:
    """Add `scale` times the statistics' counts to `total`, with rows of sorted `words`."""
    places = np.searchsorted(words, statistics.words).astype(np.int32)
    minibatch.add_scaled(total, places, scale, counts_of(statistics))


def counts_of(statistics: Any) -> np.ndarray:
    counts = np.asarray(in_full(statistics.counts))
    if counts.dtype not in (np.float32, np.float64) or not counts.flags.c_contiguous:
        counts = np.ascontiguousarray(counts, np.float64)
    return counts


def prior_at(prior: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Rows of a prior; an axis of length 1 stands for equal rows."""
    return prior[words] if len(prior) > 1 else prior


def over_words(prior: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    n_words, n_components = shape
    total = prior.sum(axis=0) * (n_words // len(prior))
    return np.broadcast_to(total, n_components).astype(np.float64)


class OverWords(StatePosterior):
    """A posterior of topics, read by rows of lam and by sums over words."""

    # (n_words or 1, n_components or 1): the prior, and the boosted prior if different
    eta: np.ndarray
    xi: np.ndarray | None
    shape: tuple[int, int]  # (n_words, n_components)
    n_nodes: int
    bin_cache: BinCache

    @property
    def boosted(self) -> np.ndarray:
        return self.eta if self.xi is None else self.xi

    @property
    def a(self) -> np.ndarray:
        return self._state.a

    @property
    def learnt_mass(self) -> np.ndarray:
        return self._state.learnt_mass

    @property
    def learnt_part(self) -> np.ndarray:
        return self.a * self.learnt_mass

    @property
    def prior_part(self) -> np.ndarray:
        part = self.c * self.prior_mass
        return part if self.xi is None else part + self.b * self.boosted_mass

    @property
    def mass(self) -> np.ndarray:
        return self.prior_part + self.learnt_part

    def rows(self, words: np.ndarray) -> np.ndarray:
        state = self._state
        out = np.empty((len(words), len(state.a)))
        counts, rows = state.S.find(words)
        kernel.gather_rows(counts, rows, words, state.a, state.c, self.eta, out)
        if self.xi is not None:
            out += state.b * prior_at(self.xi, words)
        return out

    def prior_rows(self, words: np.ndarray) -> np.ndarray:
        return np.broadcast_to(prior_at(self.eta, words), (len(words), self.n_nodes))

    def boosted_rows(self, words: np.ndarray) -> np.ndarray:
        return np.broadcast_to(prior_at(self.boosted, words), (len(words), self.n_nodes))

    @cached_property
    def log_gamma_prior(self) -> np.ndarray:
        return over_words(gammaln(self.eta), self.shape)

    @property
    def is_alike(self) -> bool:
        return len(self.eta) == 1 and len(self.boosted) == 1

    @property
    def has_lists(self) -> bool:
        """Whether a word has counts of the topics in its list alone."""
        return isinstance(self._state.S, Lists)

    def changes(self, blend: Blend) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield words, rows of lam, and rows of lam after `blend`, some words at a time."""
        known, counts = blend.statistics.words, blend.statistics.counts
        for start in range(0, self.shape[0], WORDS_AT_ONCE):
            stop = min(start + WORDS_AT_ONCE, self.shape[0])
            words = np.arange(start, stop, dtype=np.int32)
            before = self.rows(words)
            after = blend.retain * before
            after += blend.prior * prior_at(self.eta, words)
            if np.any(blend.boost):
                after += blend.boost * prior_at(self.boosted, words)
            first, last = np.searchsorted(known, [start, stop])
            after[known[first:last] - start] += blend.gain * in_full(counts[first:last])
            yield words, before, after

    def _prior_over_a(self, state: State) -> np.ndarray:
        """The prior's part of lam over `a`, if all words have equal priors."""
        xi = self.xi
        return (state.c * self.eta[0] + (0.0 if xi is None else state.b * xi[0])) / state.a

    def _elsewhere(self, words: np.ndarray) -> Nodes | None:
        """Nodes for all rows of S but `words`; None if reading all rows is as fast."""
        few = self.has_lists or self.shape[0] < SHARE * len(words) + LEAST_WORDS
        if few or not self.is_alike:
            return None
        state, kept = self._state, self.bin_cache
        if kept.nodes is None or kept.nodes[0] is not state or kept.nodes[1] is not words:
            sigma = self._prior_over_a(state)
            exponent, found, own = exponent_of(sigma), None, None
            if exponent is not None:
                if kept.bins is None or kept.bins[0] is not state:
                    S = state.S
                    kept.bins = state, binned(S.counts, S.used, exponent, S.shape[0] + 1 - S.n_used)
                counts, rows = state.S.find(words)
                own = binned(counts, rows, exponent)
                found = nodes(kept.bins[1], own, sigma)
            kept.nodes = state, words, found, own
        return kept.nodes[2]

    def _kept_bins(self, state: State, words: np.ndarray) -> tuple[tuple[Any, ...], list[Swap]]:
        """Arguments of the writer to update the bins, and swaps."""
        kept, old = self.bin_cache, self._state
        if kept.bins is None or kept.bins[0] is not old:
            return (), []
        bins, fits = kept.bins[1], self.shape[0] >= SHARE * len(words) + LEAST_WORDS
        if not fits or exponent_of(self._prior_over_a(state)) != bins.exponent:
            return (), []
        known, own = kept.nodes, None
        if known and known[0] is old and known[1] is words and known[3]:
            own = known[3].sums
        return (bins.sums, bins.exponent, own), [swap(kept, "bins", (state, bins))]

    def divergences(self, blend: Blend) -> tuple[np.ndarray, np.ndarray]:
        mass = within_reach(self.mass_after(blend))
        from_posterior, from_prior, lacking, unused = np.zeros((4, self.n_nodes))
        boosted = np.any(blend.boost)
        rest = self._elsewhere(blend.statistics.words)
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
            dirichlet.add_divergences(before, before, eta, lacking, unused)
        from_posterior -= lacking
        if not boosted:
            from_prior += self.log_gamma_prior
        boost = blend.boost * self.boosted_mass
        sums = self.mass + boost, self.prior_mass + boost
        for found, other in zip((from_posterior, from_prior), sums, strict=True):
            found -= gammaln(other) - gammaln(mass) + (mass - other) * digamma(mass)
        return np.maximum(from_posterior, 0.0), np.maximum(from_prior, 0.0)

    def _add_divergences(
        self, blend: Blend, rest: Nodes, from_posterior: np.ndarray, from_prior: np.ndarray
    ) -> None:
        """Add the divergences of all words; `rest` stands for most words."""
        state, kept, boost = self._state, self.bin_cache, blend.boost * self.boosted[0]
        prior = self._prior_over_a(state) * state.a
        given = np.empty((6, self.n_nodes))
        given[0], given[1] = prior + boost, state.a
        given[2] = blend.retain * prior + blend.prior * self.eta[0] + boost
        given[3], given[4], given[5] = blend.retain * state.a, blend.gain, self.eta[0] + boost
        of_words = *state.S.find(blend.statistics.words), counts_of(blend.statistics)
        nodes = np.repeat(rest.counts, self.n_nodes, axis=1)
        of_nodes = nodes, np.arange(len(nodes), dtype=np.int32), np.zeros_like(nodes)

        def add(*coefficients_and_sums: np.ndarray) -> None:
            dirichlet.add_divergences_of_rows(*of_words, *coefficients_and_sums)
            dirichlet.add_divergences_of_rows(*of_nodes, *coefficients_and_sums, rest.weights)

        add(given, from_posterior, from_prior)
        if not (kept.lam and kept.lam[0] is rest and np.array_equal(kept.lam[1], boost)):
            # What depends on lam alone is the same in all rounds in a minibatch.
            of_lam, (lacking, unused) = given.copy(), np.zeros((2, self.n_nodes))
            of_lam[2:4], of_lam[4] = given[:2], 0.0
            add(of_lam, lacking, unused)
            kept.lam = rest, boost, lacking
        from_posterior -= kept.lam[2]
        if np.any(blend.boost):
            from_prior += self.shape[0] * gammaln(given[5])

    def slopes(self, blend: Blend) -> Callable[[np.ndarray], np.ndarray]:
        # Sum over words of (lam - eta) (E_q[log beta] - E_p(rho)[log beta]).
        all_words = np.arange(self.shape[0], dtype=np.int32)
        eta = self.prior_rows(all_words)
        increase, base = self.rows(all_words) - eta, eta
        if np.any(blend.boost):
            base = eta + blend.boost * self.boosted_rows(all_words)
        mass = self.mass - self.prior_mass
        base_mass = self.prior_mass + blend.boost * self.boosted_mass
        expected = -mass * digamma(within_reach(self.mass_after(blend)))
        for words, _, after in self.changes(blend):
            expected += (increase[words] * digamma(after)).sum(axis=0)

        def slope(rho: np.ndarray) -> np.ndarray:
            of_words = (increase * digamma(base + rho * increase)).sum(axis=0)
            return expected - of_words + mass * digamma(base_mass + rho * mass)

        return slope
