# SPDX-License-Identifier: BSD-3-Clause
"""The posterior of topics over words: lam = c * eta + b * xi + a * S.

`S` are the learnt counts; `c`, `b` and `a` are weights of each topic. An update changes the weights
and the rows of `S` for the words in the minibatch, at a cost independent of the vocabulary. Without
xi, lam = c * eta + a * S, and `b` is the part of `c` from boosts.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from streamtopics.kernels import rows as kernel
from streamtopics.messages import SummedStatistics, WordLists, in_full
from streamtopics.posteriors.bins import BinCache
from streamtopics.posteriors.lists import Lists
from streamtopics.posteriors.protocol import (
    EMPTY,
    NO_DIRECTIONS,
    Blend,
    Noise,
    State,
    StateProposal,
    Swap,
    check_finite,
    check_not_extreme,
    swap,
)
from streamtopics.posteriors.rows import (
    ROWS_AT_ONCE,
    OverWords,
    Rows,
    added,
    counts_of,
    from_counts,
    over_words,
    prior_at,
    seen_in,
)

# Below this weight, the weight of S is multiplied into S.
LEAST_WEIGHT = 1e-20
# Share of a mass due to rounding.
TOLERANCE = 1e-12

# Arguments of the compiled writer of rows, and attributes to set in the same step.
Plan = tuple[tuple[Any, ...], list[Swap]]


class TopicPosterior(OverWords):
    """Dirichlet parameters lam of topics over words, with the methods of `Posterior`.

    ``dense()`` returns lam, of shape (n_words, n_components), and ``rows(words)`` returns the rows
    of some words.

    Parameters
    ----------
    eta : ndarray of shape (n_words or 1, n_components or 1)
        Prior pseudo-counts, positive; an axis of length 1 stands for equal values.
    shape : tuple (n_words, n_components)
    alpha : ndarray of shape (n_components,), default=None
        Dirichlet parameter of the topic proportions; None without proportions.
    xi : ndarray of shape (n_words or 1, n_components or 1), default=None
        Pseudo-counts added by a boost (see `Blend`); None for `eta`.
    seed : int, default=0
        Seed for update rules with random draws.
    prior_directions : ndarray of shape (n_components, n_dimensions + 1), default=None
        For each topic the prior sum of the vectors of its documents and, in the last column, its
        prior number of documents; None without vectors.
    least : float, default=0
        0 stores a count for each word and topic. A larger value rounds counts of fewer than `least`
        tokens at random to `least` or 0, and stores only positive counts.
    """

    prior_directions: np.ndarray | None = None
    _holds = (
        "_state.S: V K; self: V K; n_nodes: =K; eta: V|1 K|1 >0; xi: V|1 K|1 >0; c: K; a: K >0; "
        "b: K; prior_mass: K >0; boosted_mass: K >0; learnt_mass: K; alpha: K|0 >=0; "
        "prior_directions: K N; _state.directions: K|0 N"
    )
    offers: ClassVar[frozenset[str]] = frozenset(
        {"divergences", "slopes", "dense", "smoothing", "alpha", "noise"}
    )

    def __init__(
        self,
        eta: np.ndarray,
        shape: tuple[int, int],
        alpha: np.ndarray | None = None,
        xi: np.ndarray | None = None,
        seed: int = 0,
        prior_directions: np.ndarray | None = None,
        least: float = 0.0,
    ):
        n_words, n_components = int(shape[0]), int(shape[1])
        self.shape, self.n_nodes = (n_words, n_components), n_components
        self.eta, self.xi, self.seed = eta, xi, seed
        self.prior_mass = over_words(eta, shape)
        self.boosted_mass = self.prior_mass if xi is None else over_words(xi, shape)
        zeros, ones = np.zeros(n_components), np.ones(n_components)
        alpha = EMPTY if alpha is None else np.array(alpha, dtype=np.float64)
        learnt = NO_DIRECTIONS
        if prior_directions is not None:
            self.prior_directions, learnt = prior_directions, np.zeros_like(prior_directions)
        S = Lists(*self.shape, least) if least > 0 else Rows(*self.shape)
        self._state = State(S, ones, ones, zeros, zeros, alpha, directions=learnt)
        self.bin_cache = BinCache()

    @property
    def S(self) -> np.ndarray:
        """Learnt counts before scaling by `a`, a new array of shape (n_words, n_components)."""
        return self._state.S.dense()

    def counts_in(self, topic: int) -> np.ndarray:
        return self._state.S.column(topic)

    def pooled(self, mass: np.ndarray) -> float:
        return float(mass.sum())

    @property
    def knows_nothing(self) -> bool:
        """Whether lam is still the prior, up to its weight."""
        return not (self.learnt_mass.any() or self._state.directions.any())

    @property
    def n_dimensions(self) -> int:
        return 0 if self.prior_directions is None else self.prior_directions.shape[1] - 1

    @property
    def directions(self) -> np.ndarray | None:
        """Sums of vectors and numbers of documents, with the prior; None without vectors."""
        return self.with_prior(self.c, self.b, self._state.directions)

    def with_prior(self, c: np.ndarray, b: np.ndarray, learnt: np.ndarray) -> np.ndarray | None:
        prior = self.prior_directions
        # Boosts are of words alone.
        weights = c - b if self.xi is None else c
        return None if prior is None else weights[:, None] * prior + learnt

    def directions_after(self, blend: Blend) -> np.ndarray:
        old, found = self._state.directions, blend.statistics.directions
        if self.prior_directions is None:
            return old
        kept: np.ndarray = np.reshape(blend.retain, (-1, 1)) * old
        return kept if found is None else kept + np.reshape(blend.gain, (-1, 1)) * found

    def top_candidates(self, n: int) -> np.ndarray:
        """Return sorted words that include the n leading words of each topic."""
        seen, n_words = self._state.S.words, self._state.S.shape[0]
        if not self.is_alike:
            return np.arange(n_words, dtype=np.int32)
        # As many first words include n unseen words, if there are n.
        unseen = np.ones(min(n + len(seen), n_words), np.bool_)
        unseen[seen[seen < len(unseen)]] = False
        return np.sort(np.concatenate([seen, np.flatnonzero(unseen)[:n].astype(np.int32)]))

    def dense(self) -> np.ndarray:
        state = self._state
        words, lam = state.S.words, np.empty(state.S.shape)
        lam[:] = state.c * self.eta
        lam[words] += state.a * state.S.rows(words)
        if self.xi is not None:
            lam += state.b * self.xi
        return lam

    def lists(self, words: np.ndarray) -> WordLists | None:
        """Rows of lam for `words` as lists; None if they are not kept so."""
        S, state = self._state.S, self._state
        if not isinstance(S, Lists):
            return None
        prior = np.broadcast_to(prior_at(self.eta, words)[:, 0], len(words))
        return WordLists(S.places[words], S.topics, S.counts, state.a, state.c, prior, S.least)

    def after(self, blend: Blend) -> Proposal | TopicPosterior:
        if blend.noise is not None:
            return self._with(self._with_noise(blend, blend.noise))
        if self.has_lists:
            after = self.of_words(blend.statistics.words)
            after.blend(blend)
            return after
        return Proposal(self, blend)

    def weights_after(self, blend: Blend) -> tuple[np.ndarray, np.ndarray]:
        """`c` and `b` after an update."""
        prior = blend.prior + blend.boost if self.xi is None else blend.prior
        return blend.retain * self.c + prior, blend.retain * self.b + blend.boost

    def blend(self, blend: Blend, swaps: Sequence[Swap] = ()) -> None:
        if blend.noise is None:
            blend_together([(self, blend)], swaps)
        else:
            kernel.write([], [swap(self, "_state", self._with_noise(blend, blend.noise)), *swaps])

    def _plan(self, blend: Blend) -> Plan:
        """Arguments of the compiled writer and attributes to set, after checks."""
        if blend.noise is not None:
            raise ValueError("an update with noise cannot be carried out together with others")
        statistics, old, k = blend.statistics, self._state, self.n_nodes
        self._check(blend)
        c, b = self.weights_after(blend)
        a = blend.retain * old.a
        fold, scale = np.ones((2, k))
        folds = bool(a.min() < LEAST_WEIGHT)
        if folds:
            small = a < LEAST_WEIGHT
            # Before the first minibatch S is empty or a start, which stays for all its parts.
            fold = np.where(small & (old.n_batches > 0), a, 1.0)
            a = np.where(small, 1.0, a)
        np.divide(blend.gain, a, out=scale)
        allocation = None if self.has_lists else old.S.allocate(statistics.words)
        new = State(
            allocation.store if allocation else old.S, c, a, np.empty(k), b,
            old.alpha if blend.alpha is None else blend.alpha, **old.counted(statistics),
            directions=self.directions_after(blend),
        )  # fmt: skip
        prior, told = c * self.prior_mass + b * self.boosted_mass, new.directions.ravel()
        weights = np.concatenate((c, a, b, fold, scale, prior, new.alpha, [new.n_tokens], told))
        check_not_extreme(np.isfinite(weights).all())
        if allocation is None:
            return self._plan_lists(new, statistics, fold, scale)
        counts = counts_of(statistics)
        if statistics.takes_back and np.all(scale > 0):
            # Rounding must not take back more than was learnt.
            learnt = fold * old.S.rows(statistics.words) / scale
            counts = np.maximum(counts, -learnt, dtype=np.float64)
        given = counts, scale, fold, old.learnt_mass, new.learnt_mass
        bins, kept = self._kept_bins(new, statistics.words)
        if folds and (fold != 1.0).any():
            bins, kept = (), []
        swaps = [swap(self, "_state", new), *allocation.swaps, *kept]
        return (*allocation.change(statistics.words), *given, *bins), swaps

    def _plan_lists(self, new: State, statistics: Any, fold: np.ndarray, scale: np.ndarray) -> Plan:
        old, S, words = self._state, self._state.S, statistics.words
        if np.any((words < 0) | (words >= S.shape[0])):
            raise IndexError(f"a word is outside of the vocabulary of {S.shape[0]} words")
        if (fold != 1.0).any():
            S = Lists.of(S.matrix(np.arange(S.shape[0]), fold), S.least)
        # Of parts of a minibatch and of all of it, too.
        seed = self.seed, old.n_batches, statistics.n_batches
        # A mean over documents counts as many tokens as its prior weighs less.
        unit = new.a / np.where(new.c > 0, new.c, 1.0)
        change, mass, swaps = S.plan(words, statistics.counts, scale, unit, seed)
        new = new._replace(S=S, learnt_mass=fold * old.learnt_mass + mass)
        return change, [*swaps, swap(self, "_state", new)]

    def forget(self, words: np.ndarray, swaps: Sequence[Swap] = ()) -> None:
        """Reset the rows of `words` to the prior, and set `swaps` as `Posterior.blend` does."""
        forget_together([(self, self.never_seen(words))], words, swaps)

    def never_seen(self, words: np.ndarray) -> Any:
        """Return rows of S for words never seen: 0, or the prior if noise has put it into S."""
        return 0.0 if self.c.any() or self.b.any() else self.prior_rows(words) / self.a

    def _plan_forget(self, words: np.ndarray, left: Any) -> Plan:
        old, k = self._state, self.n_nodes
        if self.has_lists:
            planned, mass, swaps = old.S.plan(words, -old.S.matrix(words), *np.ones((2, k)))
            new = old._replace(learnt_mass=np.maximum(old.learnt_mass + mass, 0.0))
            return planned, [*swaps, swap(self, "_state", new)]
        change = left - old.S.rows(words)
        mass = old.learnt_mass + change.sum(axis=0)
        mass[np.abs(mass) <= TOLERANCE * np.abs(old.learnt_mass)] = 0.0
        # Unchanged words need no row.
        changes = change.any(axis=1)
        words, change = words[changes], np.ascontiguousarray(change[changes])
        allocation = old.S.allocate(words)
        new = old._replace(S=allocation.store, learnt_mass=mass)
        given = change, np.ones(k), np.ones(k), old.learnt_mass, np.empty(k)
        return (*allocation.change(words), *given), [swap(self, "_state", new), *allocation.swaps]

    def _check(self, blend: Blend) -> None:
        statistics, shape = blend.statistics, (len(blend.statistics.words), self.n_nodes)
        alpha = self.alpha if blend.alpha is None else blend.alpha
        given = ("counts", statistics.counts, shape), ("alpha", alpha, np.shape(self.alpha))
        for name, values, expected in given:
            if np.shape(values) != expected:
                raise ValueError(
                    f"{name} of the update must have shape {expected}; got {np.shape(values)}"
                )
        counts = statistics.counts
        check_finite(counts.data if isinstance(counts, csr_array) else counts)

    def _with_noise(self, blend: Blend, noise: Noise) -> State:
        """The state after an update with noise; S then is lam."""
        self._check(blend)
        before, statistics, old = self.dense(), blend.statistics, self._state
        if np.any((statistics.words < 0) | (statistics.words >= len(before))):
            raise IndexError(f"a word is outside of the vocabulary of {len(before)} words")
        lam = blend.retain * before + blend.prior * self.eta
        if np.any(blend.boost):
            lam += blend.boost * self.boosted
        lam[statistics.words] += blend.gain * in_full(statistics.counts)
        lam = noise.added(lam, before)
        zeros, ones = np.zeros(self.n_nodes), np.ones(self.n_nodes)
        alpha = old.alpha if blend.alpha is None else blend.alpha
        S = from_counts(len(lam), np.arange(len(lam)), lam)
        new = State(
            S, zeros, ones, lam.sum(axis=0), zeros, alpha, **old.counted(statistics),
            directions=self.directions_after(blend),
        )  # fmt: skip
        check_not_extreme(all(np.isfinite(values).all() for values in (lam, alpha, new.n_tokens)))
        return new

    def _with(self, state: State) -> TopicPosterior:
        out = copy(self)
        out._state, out.bin_cache = state, BinCache()
        return out

    def _learnt(self, *shares: tuple[TopicPosterior, Any]) -> dict[str, Any]:
        S: Any = added([(p._state.S, share * p.a) for p, share in shares])
        mass: Any = sum(share * p.learnt_part for p, share in shares)
        if self.has_lists:
            # Rounding may have taken more from a part than the whole has.
            found = csr_array(np.maximum(S.dense(), 0.0))
            S, mass = Lists.of(found, self._state.S.least), found.sum(axis=0)
        return {
            "S": S,
            "a": np.ones(self.n_nodes),
            "learnt_mass": mass,
            "directions": NO_DIRECTIONS
            if self.prior_directions is None
            else sum(np.reshape(share, (-1, 1)) * p._state.directions for p, share in shares),
        }

    def since(self, base: TopicPosterior, kept: Any, dtype: Any = np.float64) -> Blend:
        """Return the blend that leads from `base` to this posterior and retains `kept`."""
        old, new = base._state, self._state
        words = seen_in([new.S, old.S])
        counts = np.empty((len(words), self.n_nodes), dtype)
        for start in range(0, len(words), ROWS_AT_ONCE):
            some = words[start : start + ROWS_AT_ONCE]
            left = kept * old.a * old.S.rows(some)
            change = new.a * new.S.rows(some) - left
            np.copyto(change, 0.0, where=np.abs(change) <= TOLERANCE * left)
            counts[start : start + ROWS_AT_ONCE] = change
        changed = counts.any(axis=1)
        found = SummedStatistics(
            self._named(words[changed]),
            counts if changed.all() else counts[changed],
            new.n_batches - old.n_batches,
            new.n_documents - old.n_documents,
            new.n_tokens - old.n_tokens,
            None if self.prior_directions is None
            else new.directions - np.reshape(kept, (-1, 1)) * old.directions,
        )  # fmt: skip
        prior, boost = new.c - kept * old.c, new.b - kept * old.b
        if self.xi is None:
            prior -= boost
        return Blend(kept, 1.0, prior, found, alpha=self.alpha, boost=boost)

    def _named(self, places: np.ndarray) -> np.ndarray:
        return places

    def _places(self, words: np.ndarray) -> np.ndarray:
        return words

    def of_words(self, words: np.ndarray, dtype: Any = np.float64) -> TopicPosterior:
        """Return a copy with the rows of the sorted `words` alone; `mass` is of all words."""
        return _OfWords(self, words, dtype)

    def plus(self, other: TopicPosterior, scale: float) -> TopicPosterior:
        c, b = self.c + scale * other.c, self.b + scale * other.b
        learnt = self._learnt((self, 1.0), (other, scale))
        return self._with(self._state._replace(c=c, b=b, **learnt))

    def with_topics(self, places: np.ndarray, alpha: np.ndarray | None) -> TopicPosterior:
        """Return a copy with the topics numbered in `places`; -1 makes a topic without data."""
        known, old = places >= 0, self._state
        out = TopicPosterior(self.eta, (self.shape[0], len(places)), alpha, seed=self.seed)
        words = old.S.words
        counts = np.zeros((len(words), len(places)))
        counts[:, known] = old.S.rows(words)[:, places[known]]
        S = from_counts(self.shape[0], words, counts)
        c, b = np.where(known, (old.c[places], old.b[places]), [[old.c[0] - old.b[0]], [0.0]])
        a = np.where(known, old.a[places], 1.0)
        learnt = np.where(known, old.learnt_mass[places], 0.0)
        return out._with(State(S, c, a, learnt, b, out.alpha, *old[6:9]))

    def is_after(self, base: TopicPosterior) -> bool:
        counters = zip(self._state[6:9], base._state[6:9], strict=True)
        return all(mine >= before for mine, before in counters)

    def is_extension_of(self, base: TopicPosterior) -> bool:
        """Whether this posterior may come from `base` by additions."""
        words = seen_in([self._state.S, base._state.S])
        learnt, before = (p.a * p._state.S.rows(words) for p in (self, base))
        boosted = (self.c >= base.c).all() and (self.b >= base.b).all()
        kept = (learnt >= before * (1 - 1e-9) - self._rounded).all()
        return bool(self.is_after(base) and boosted and kept)

    @property
    def _rounded(self) -> float:
        """Largest amount by which rounding at random lowered a count."""
        return float(2 * self._state.S.least * self.c.max()) if self.has_lists else 0.0

    def is_learnt_from(self, *parts: TopicPosterior) -> bool:
        """Whether the counts are at least 0, but for rounding of the `parts` summed to them."""
        words = seen_in([p._state.S for p in (self, *parts)])
        tolerance = sum(1e-9 * (part.a * part._state.S.rows(words)) for part in parts)
        return bool((self.a * self._state.S.rows(words) >= -tolerance - self._rounded).all())

    def added_to(
        self,
        other: TopicPosterior,
        base: TopicPosterior | None,
        alpha: np.ndarray | None = None,
        weights: tuple[float, float, float] = (1.0, 1.0, -1.0),
    ) -> TopicPosterior:
        """Return the sum of two posteriors less their common start `base` (None for the prior).

        `alpha` is that of the result; `weights` are for the counts of self, other and base.
        """
        parts = [(p, w) for p, w in zip((self, other, base), weights, strict=True) if p]
        c: Any = sum(w * p.c for p, w in parts) + (1.0 - sum(w for _, w in parts))
        b: Any = sum(w * p.b for p, w in parts)
        alpha = self.alpha if alpha is None else alpha
        summed = _summed(_signed(self, other, base))
        return self._with(summed._replace(c=c, b=b, alpha=alpha, **self._learnt(*parts)))

    def averaged_with(
        self,
        other: TopicPosterior,
        base: TopicPosterior | None,
        *,
        forgets: bool,
        alpha: np.ndarray,
    ) -> TopicPosterior:
        """Return the average of two running means of statistics.

        Without forgetting the weights are numbers of minibatches, and the common start `base` is
        subtracted exactly. Otherwise the weights are 1 / c, and the rest of `base` counts twice.
        """
        k = self.n_nodes
        signs = _signed(self, other, base)
        parts = signs[:2] if forgets else signs
        weights = [1.0 / p.c if forgets else np.full(k, float(p.n_batches)) for p, _ in parts]
        total: Any = sum(sign * w for (_, sign), w in zip(parts, weights, strict=True))
        if not (total > 0).all():
            return self
        shares = [(p, sign * w / total) for (p, sign), w in zip(parts, weights, strict=True)]
        squares = [(p, np.sign(share) * share**2) for p, share in shares]
        c, b = (sum(w * getattr(p, name) for p, w in squares) for name in "cb")
        return self._with(_summed(signs)._replace(c=c, b=b, alpha=alpha, **self._learnt(*shares)))


def _signed(
    one: TopicPosterior, other: TopicPosterior, base: TopicPosterior | None
) -> list[tuple[TopicPosterior, float]]:
    return [(one, 1.0), (other, 1.0)] + ([] if base is None else [(base, -1.0)])


def _summed(parts: Sequence[tuple[TopicPosterior, float]]) -> State:
    total: Any = sum(sign * np.array(p.counters[:3]) for p, sign in parts)
    n_batches, n_documents, n_tokens = total.tolist()
    return parts[0][0]._state._replace(
        n_batches=int(n_batches), n_documents=int(n_documents), n_tokens=n_tokens
    )


def blend_together(
    updates: Sequence[tuple[TopicPosterior, Blend]], swaps: Sequence[Swap] = ()
) -> None:
    tasks = [posterior._plan(blend) for posterior, blend in updates]
    _write(tasks, swaps)


def forget_together(
    parts: Sequence[tuple[TopicPosterior, Any]], words: np.ndarray, swaps: Sequence[Swap] = ()
) -> None:
    """Replace rows of words in S of each posterior, and set attributes."""
    tasks = [posterior._plan_forget(words, left) for posterior, left in parts]
    _write(tasks, swaps)


def _write(tasks: Sequence[Plan], swaps: Sequence[Swap]) -> None:
    own = [swap for _, states in tasks for swap in states]
    kernel.write([arguments for arguments, _ in tasks], [*own, *swaps])


class _OfWords(TopicPosterior):
    offers: ClassVar[frozenset[str]] = frozenset({"smoothing", "alpha"})

    def __init__(self, posterior: TopicPosterior, words: np.ndarray, dtype: Any):
        vars(self).update(vars(posterior))
        places = posterior._places(words)
        self._words, self.bin_cache = words, BinCache()
        self._state = posterior._state._replace(S=posterior._state.S.only(places, dtype))
        self.eta = prior_at(posterior.eta, places)
        self.xi = None if posterior.xi is None else prior_at(posterior.xi, places)

    def _places(self, words: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._words, words).astype(np.int32)

    def _named(self, places: np.ndarray) -> np.ndarray:
        return self._words[places]

    def rows(self, words: np.ndarray) -> np.ndarray:
        return super().rows(self._places(words))

    def lists(self, words: np.ndarray) -> WordLists | None:
        return super().lists(self._places(words))

    def prior_rows(self, words: np.ndarray) -> np.ndarray:
        return super().prior_rows(self._places(words))

    def boosted_rows(self, words: np.ndarray) -> np.ndarray:
        return super().boosted_rows(self._places(words))

    def _plan(self, blend: Blend) -> Plan:
        statistics = replace(blend.statistics, words=self._places(blend.statistics.words))
        return super()._plan(replace(blend, statistics=statistics))


class Proposal(StateProposal[TopicPosterior]):
    """The topics as they would be after an update."""

    def __init__(self, posterior: TopicPosterior, blend: Blend):
        super().__init__(posterior, blend)
        self.c, self.b = posterior.weights_after(blend)
        self.xi, self.prior_mass = posterior.xi, posterior.prior_mass
        self.boosted_mass = posterior.boosted_mass
        self.prior_rows, self.boosted_rows = posterior.prior_rows, posterior.boosted_rows
        learnt = posterior.directions_after(blend)
        self.directions = posterior.with_prior(self.c, self.b, learnt)

    def rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of lam for `words`, all among the words of the statistics."""
        blend, posterior = self._blend, self._posterior
        known = blend.statistics.words
        places = np.searchsorted(known, words)
        if not np.array_equal(known[np.minimum(places, len(known) - 1)], words):
            raise IndexError("a proposal only has the rows of the words in its statistics")
        counts: Any = blend.statistics.counts
        if len(words) and np.all(np.diff(places) == 1):
            counts = counts[places[0] : places[-1] + 1]
        else:
            counts = counts[places]
        found: np.ndarray = posterior.rows(words)
        found *= blend.retain
        found += np.multiply(counts, blend.gain, dtype=np.float64)
        # One row stands for all equal rows.
        some = words[:1] if posterior.is_alike else words
        if np.any(blend.prior):
            found += blend.prior * posterior.prior_rows(some)
        if np.any(blend.boost):
            found += blend.boost * posterior.boosted_rows(some)
        return found


def first_of_equals(values: np.ndarray, least: np.ndarray, n: int) -> np.ndarray:
    """Whether values exceed their column's `least`, or are among the first n equal to it."""
    chosen: np.ndarray = values >= least
    if np.count_nonzero(chosen) > 4 * n * len(least):
        equal = values == least
        chosen &= ~equal | (np.cumsum(equal, axis=0) <= n)
    return chosen


def leading(n: int, topics: np.ndarray, words: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The n words with the largest values of each topic; of equal values the first."""
    order = np.lexsort((words, -values, topics))
    first = np.searchsorted(topics[order], np.arange(topics.max() + 1))
    return np.asarray(words[order][first[:, None] + np.arange(n)])
