# SPDX-License-Identifier: BSD-3-Clause
"""The posterior of topics over words: lam = c * eta + b * xi + a * S.

`lam` is the natural parameter (pseudo-counts), `eta` that of the prior that a stream starts
from and forgets to, `xi` the knowledge that is boosted, `S` the counts learnt so far; the
scalars `c`, `b` and `a`, one of each per topic, say how much of each is left. An update

    lam <- retain * lam + gain * s + prior * eta + boost * xi

changes the scalars and the rows of `S` for the words in `s`; nothing else is
read or written, so its cost does not depend on the vocabulary. Mostly there is one
prior for both, xi = eta, and then all of its weight is in c. The prior of the
documents' topic proportions, which some rules re-estimate, is kept beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.special import digamma, gammaln

from streamtopics.kernels import dirichlet as kernel_of_dirichlet
from streamtopics.kernels import rows as kernel
from streamtopics.posteriors.bins import (
    LEAST_WORDS,
    SHARE,
    Bins,
    Nodes,
    binned,
    exponent_of,
    nodes,
)
from streamtopics.posteriors.protocol import (
    TOO_EXTREME,
    Blend,
    Coefficient,
    Noise,
    Swap,
    check_finite,
    within_reach,
)
from streamtopics.posteriors.state import EMPTY, State, StatePosterior, StateProposal

# Below this weight of S, the weight is multiplied into S.
LEAST_WEIGHT = 1e-20
# Share of a mass of which, when so much is left of it, nothing is left but for rounding.
ROUNDING = 1e-12
# Words of which divergences are summed at once: enough rows to fill a cache.
WORDS_AT_ONCE = 512
# Words to a word with statistics up to which a sum over all of S is read rather than kept.
SHARE_TO_READ = 16

# Arguments of the compiled writer of rows, and attributes that are set together with them.
Prepared = tuple[tuple[Any, ...], list[Swap]]


class TopicPosterior(StatePosterior):
    """Dirichlet parameters of topics over words, stored by word.

    Parameters
    ----------
    eta : ndarray of shape (n_words or 1, n_components or 1)
        Prior pseudo-counts, positive; an axis of length 1 stands for equal ones.
    shape : tuple (n_words, n_components)
    alpha : ndarray of shape (n_components,), default=None
        Dirichlet parameter of the topic proportions; None where there are none.
    xi : ndarray of shape (n_words or 1, n_components or 1), default=None
        Pseudo-counts that a boost adds; None for those of `eta`.
    seed : int, default=0
        Of what a rule draws at random.
    """

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
    ):
        n_words, n_components = int(shape[0]), int(shape[1])
        self.shape, self.n_nodes = (n_words, n_components), n_components
        self.eta, self.xi, self.seed = eta, xi, seed
        self.prior_mass = _over_words(eta, shape)
        self.boosted_mass = self.prior_mass if xi is None else _over_words(xi, shape)
        zeros, ones = np.zeros(n_components), np.ones(n_components)
        alpha = EMPTY if alpha is None else np.array(alpha, dtype=np.float64)
        self._state = State(np.zeros(shape), ones, ones, zeros, zeros, alpha)
        self._bins: tuple[State, Bins] | None = None
        self._nodes: tuple[State, np.ndarray, Nodes | None, Bins | None] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """All but what is kept to save work."""
        return vars(self) | {"_bins": None, "_nodes": None}

    @property
    def S(self) -> np.ndarray:
        """Counts learnt, of shape (n_words, n_components), to be scaled by `a`."""
        S: np.ndarray = self._state.S
        return S

    def pooled(self, mass: np.ndarray) -> float:
        """The sum of the masses of all topics."""
        return float(mass.sum())

    @property
    def _boosted(self) -> np.ndarray:
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

    @property
    def knows_nothing(self) -> bool:
        """Whether lam is still the prior, up to its weight."""
        return not self.learnt_mass.any()

    def rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of lam, of shape (len(words), n_components)."""
        state = self._state
        out = np.empty((len(words), len(state.a)))
        kernel.gather_rows(state.S, words, state.a, state.c, self.eta, out)
        if self.xi is not None:
            out += state.b * _at(self.xi, words)
        return out

    def prior_rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of eta, of shape (len(words), n_components)."""
        return np.broadcast_to(_at(self.eta, words), (len(words), self.n_nodes))

    def boosted_rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of what a boost adds, of shape (len(words), n_components)."""
        return np.broadcast_to(_at(self._boosted, words), (len(words), self.n_nodes))

    def dense(self) -> np.ndarray:
        """The whole of lam, of shape (n_words, n_components)."""
        state = self._state
        lam = state.c * self.eta + state.a * state.S
        found: np.ndarray = lam if self.xi is None else lam + state.b * self.xi
        return found

    def after(self, blend: Blend) -> Proposal:
        """The rows and masses that lam would have after `blend`."""
        return Proposal(self, blend)

    @cached_property
    def _log_gamma_prior(self) -> np.ndarray:
        """Sum of log Gamma(eta) over the words, for each topic."""
        return _over_words(gammaln(self.eta), self.shape)

    @property
    def is_alike(self) -> bool:
        """Whether the priors are the same for all words."""
        return len(self.eta) == 1 and len(self._boosted) == 1

    def _sigma(self, state: State) -> np.ndarray:
        """The prior's part of a cell of lam over the weight of S, where priors are alike."""
        prior = state.c * self.eta[0] + (0.0 if self.xi is None else state.b * self.xi[0])
        sigma: np.ndarray = prior / state.a
        return sigma

    def _elsewhere(self, words: np.ndarray, share: int) -> Nodes | None:
        """Nodes for the rows of S but those of `words`; None where reading all is as good.

        That is where less than `share` times as many words are left, or bins are of no use.
        """
        if not self.is_alike or self.shape[0] < share * len(words) + LEAST_WORDS:
            return None
        state, kept = self._state, self._nodes
        if kept is None or kept[0] is not state or kept[1] is not words:
            sigma = self._sigma(state)
            exponent, found, own = exponent_of(sigma), None, None
            if exponent is not None:
                if self._bins is None or self._bins[0] is not state:
                    everything = np.arange(self.shape[0], dtype=np.int32)
                    self._bins = state, binned(state.S, everything, exponent)
                own = binned(state.S, words, exponent)
                found = nodes(self._bins[1], own, sigma)
            self._nodes = kept = state, words, found, own
        return kept[2]

    def _kept_bins(self, state: State, words: np.ndarray) -> Prepared:
        """Arguments that make the writer keep the bins through an update to `state`, and swaps.

        Nothing, if there are no bins or they will be of no use again.
        """
        if self._bins is None or self._bins[0] is not self._state:
            return (), []
        bins, fits = self._bins[1], self.shape[0] >= SHARE * len(words) + LEAST_WORDS
        if not fits or exponent_of(self._sigma(state)) != bins.exponent:
            return (), []
        known, own = self._nodes, None
        if known and known[0] is self._state and known[1] is words and known[3]:
            own = known[3].sums
        return (bins.sums, bins.exponent, own), [(vars(self), "_bins", (state, bins))]

    def changes(
        self, blend: Blend, some: np.ndarray | None = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Some words at a time until it is all, or `some`, and their rows before and after."""
        known, counts = blend.statistics.words, blend.statistics.counts
        everything = np.arange(self.S.shape[0], dtype=np.int32) if some is None else some
        for start in range(0, len(everything), WORDS_AT_ONCE):
            words = everything[start : start + WORDS_AT_ONCE]
            before = self.rows(words)
            after = blend.retain * before
            after += blend.prior * _at(self.eta, words)
            if np.any(blend.boost):
                after += blend.boost * _at(self._boosted, words)
            first, stop = np.searchsorted(known, [words[0], words[-1] + 1])
            own = np.searchsorted(words, known[first:stop])
            seen = words[np.minimum(own, len(words) - 1)] == known[first:stop]
            after[own[seen]] += blend.gain * counts[first:stop][seen]
            yield words, before, after

    def faded(self, blend: Blend, words: np.ndarray, topics: np.ndarray) -> np.ndarray:
        """Cells of lam after `blend`, but for its statistics, as `changes` has them."""
        state = self._state
        cells = (words, topics)

        def of(prior: np.ndarray) -> Any:
            return np.broadcast_to(prior, self.shape)[cells]

        def by_topic(coefficient: Coefficient) -> Any:
            return np.broadcast_to(coefficient, self.n_nodes)[topics]

        before = state.c[topics] * of(self.eta) + state.a[topics] * state.S[cells]
        if self.xi is not None:
            before += state.b[topics] * of(self.xi)
        after: np.ndarray = by_topic(blend.retain) * before
        after += by_topic(blend.prior) * of(self.eta)
        if np.any(blend.boost):
            after += by_topic(blend.boost) * of(self._boosted)
        return after

    def moved(self, blend: Blend, least: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how far `blend` moves each topic's mean, and the words that may lead after it.

        The first is the total variation distance. The words are those with statistics of which
        lam comes to `least` or more in some topic. Priors must be the same for all words. In
        large vocabularies a part of 2 ** -36 of the distance is lost, and one in 10,000 where a
        topic has many words that just begin to lose.
        """
        state, mass, old_mass = self._state, self.after(blend).mass, self.mass
        words, boosted = blend.statistics.words, self._boosted[0]
        prior = self._sigma(state) * state.a
        shrinks = blend.retain / mass - 1.0 / old_mass
        offset = shrinks * prior + (blend.prior * self.eta[0] + blend.boost * boosted) / mass
        slope, rest = shrinks * state.a, self._elsewhere(words, SHARE_TO_READ)
        bound = least * (1.0 - 1e-9) / mass - prior / old_mass
        coefficients = offset, slope, blend.gain / mass, bound, state.a / old_mass
        moved, leads = np.zeros(self.n_nodes), np.empty(len(words), np.int8)
        kernel_of_dirichlet.add_distances(
            state.S, words, _counts_of(blend), np.array(coefficients), rest is None, moved, leads
        )
        if rest is not None:
            moved += (rest.weights * np.abs(offset + slope * rest.counts)).sum(axis=0)
        return 0.5 * moved, words[leads != 0]

    def divergences(self, blend: Blend) -> tuple[np.ndarray, np.ndarray]:
        """KL from q to lam, and from q to eta, in nats: see `Posterior`."""
        mass = within_reach(self.after(blend).mass)
        from_posterior, from_prior = np.zeros((2, self.S.shape[1]))
        boosted = np.any(blend.boost)
        rest = self._elsewhere(blend.statistics.words, SHARE)
        if rest is not None:
            self._add_divergences(blend, rest, from_posterior, from_prior)
        for words, before, after in self.changes(blend) if rest is None else ():
            eta = _at(self.eta, words)
            if boosted:
                boost = blend.boost * _at(self._boosted, words)
                eta = np.ascontiguousarray(eta + boost)
                before += boost
                from_prior += gammaln(eta).sum(axis=0) * (len(words) // len(eta))
            kernel_of_dirichlet.add_divergences(after, before, eta, from_posterior, from_prior)
        if not boosted:
            from_prior += self._log_gamma_prior
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
        boost = blend.boost * self._boosted[0]
        eta = np.broadcast_to(self.eta[0] + boost, k).astype(np.float64)
        prior = self._sigma(state) * state.a
        p = prior + boost, state.a
        q = blend.retain * prior + blend.prior * self.eta[0] + boost, blend.retain * state.a
        six = np.array([np.broadcast_to(c, k) for c in (*p, *q, blend.gain, eta)], np.float64)
        given = state.S, blend.statistics.words, _counts_of(blend), six
        kernel_of_dirichlet.add_divergences_of_rows(*given, from_posterior, from_prior)
        at_nodes = (c[0] + c[1] * rest.counts for c in (q, p))
        kernel_of_dirichlet.add_divergences(
            *at_nodes, eta[None], from_posterior, from_prior, rest.weights
        )
        if np.any(blend.boost):
            from_prior += self.shape[0] * gammaln(eta)

    def slopes(self, blend: Blend) -> Callable[[np.ndarray], np.ndarray]:
        """Slope of E_q[log Dir(beta_k | p(rho))] in rho, in nats: see `Posterior`.

        With p(rho) = rho lam + (1 - rho) eta + boost xi this is

            sum over the words of (lam - eta) (E_q[log beta] - E_p(rho)[log beta]).
        """
        everything = np.arange(self.S.shape[0], dtype=np.int32)
        eta = self.prior_rows(everything)
        beyond, base = self.rows(everything) - eta, eta
        if np.any(blend.boost):
            base = eta + blend.boost * self.boosted_rows(everything)
        mass = self.mass - self.prior_mass
        base_mass = self.prior_mass + blend.boost * self.boosted_mass
        expected = -mass * digamma(within_reach(self.after(blend).mass))
        for words, _, after in self.changes(blend):
            expected += (beyond[words] * digamma(after)).sum(axis=0)

        def slope(rho: np.ndarray) -> np.ndarray:
            of_words = (beyond * digamma(base + rho * beyond)).sum(axis=0)
            found: np.ndarray = expected - of_words + mass * digamma(base_mass + rho * mass)
            return found

        return slope

    def blend(self, blend: Blend, swaps: Sequence[Swap] = ()) -> None:
        """Carry out an update, and set the attributes in `swaps` together with it, or neither."""
        if blend.noise is None:
            blend_together([(self, blend)], swaps)
        else:
            kernel.write([], [(vars(self), "_state", self._diffused(blend, blend.noise)), *swaps])

    def _prepared(self, blend: Blend) -> Prepared:
        """Arguments of the compiled writer and what is to be set then, when all is checked."""
        if blend.noise is not None:
            raise ValueError("an update with noise cannot be carried out together with others")
        statistics, old, k = blend.statistics, self._state, self.n_nodes
        self._check(blend)
        c, b = blend.retain * old.c + blend.prior, old.b
        if self.xi is None:
            c = blend.retain * old.c + (blend.prior + blend.boost)
        else:
            b = blend.retain * old.b + blend.boost
        a = blend.retain * old.a
        small = a < LEAST_WEIGHT
        # Before the first minibatch there is nothing in S to multiply by it.
        fold = np.where(small & (old.n_batches > 0), a, 1.0)
        a = np.where(small, 1.0, a)
        scale = np.ascontiguousarray(np.broadcast_to(blend.gain / a, k))
        new = State(
            old.S if old.S.flags.writeable else np.array(old.S), c, a, np.empty(k), b,
            old.alpha if blend.alpha is None else blend.alpha, **old.counted(statistics),
        )  # fmt: skip
        prior = c * self.prior_mass + b * self.boosted_mass
        weights = (c, a, b, fold, scale, prior, new.alpha, new.n_tokens)
        if not all(np.isfinite(values).all() for values in weights):
            raise ValueError(TOO_EXTREME)
        counts = _counts_of(blend)
        if statistics.takes_back:
            # Rounding must not take back more than was learnt.
            learnt = fold * old.S[statistics.words] / scale
            counts = np.maximum(counts, -learnt, dtype=np.float64)
        given = new.S, statistics.words, counts, scale, fold, old.learnt_mass, new.learnt_mass
        bins, kept = self._kept_bins(new, statistics.words)
        if (fold != 1.0).any():
            bins, kept = (), []
        return (*given, *bins), [(vars(self), "_state", new), *kept]

    def forget(self, words: np.ndarray, swaps: Sequence[Swap] = ()) -> None:
        """Leave of words what there would be if they had never occurred: the prior's part.

        And set the attributes in `swaps` together with it, or neither.
        """
        forget_together([(self, self.never_seen(words))], words, swaps)

    def never_seen(self, words: np.ndarray) -> Any:
        """Rows of S of words that never occurred: after noise S is all of lam, its prior too."""
        prior_is_apart = self.c.any() or self.b.any()
        return 0.0 if prior_is_apart else self.prior_rows(words) / self.a

    def _forgetting(self, words: np.ndarray, left: Any) -> Prepared:
        """Arguments of the compiled writer and the swaps that leave `left` of the words in S."""
        old, k = self._state, self.n_nodes
        S = old.S if old.S.flags.writeable else np.array(old.S)
        change = np.ascontiguousarray(left - old.S[words])
        mass = old.learnt_mass + change.sum(axis=0)
        mass[np.abs(mass) <= ROUNDING * np.abs(old.learnt_mass)] = 0.0
        arguments = S, words, change, np.ones(k), np.ones(k), old.learnt_mass, np.empty(k)
        return arguments, [(vars(self), "_state", old._replace(S=S, learnt_mass=mass))]

    def _check(self, blend: Blend) -> None:
        """Refuse statistics and an alpha that do not fit."""
        statistics, shape = blend.statistics, (len(blend.statistics.words), self.n_nodes)
        if np.shape(statistics.counts) != shape:
            raise ValueError(
                f"the statistics must have counts of shape {shape}, (words, topics); "
                f"got {np.shape(statistics.counts)}"
            )
        check_finite(statistics.counts)
        if blend.alpha is not None and np.shape(blend.alpha) != np.shape(self.alpha):
            raise ValueError(
                f"alpha has {len(self.alpha)} entries, but the update gave {np.shape(blend.alpha)}"
            )

    def _diffused(self, blend: Blend, noise: Noise) -> State:
        """The state after an update with noise, where S is all that there is of lam."""
        self._check(blend)
        before, statistics, old = self.dense(), blend.statistics, self._state
        if np.any((statistics.words < 0) | (statistics.words >= len(before))):
            raise IndexError(f"a word is outside of the vocabulary of {len(before)} words")
        lam = blend.retain * before + blend.prior * self.eta
        if np.any(blend.boost):
            lam += blend.boost * self._boosted
        lam[statistics.words] += blend.gain * statistics.counts
        lam = noise.added(lam, before)
        zeros, ones = np.zeros(self.n_nodes), np.ones(self.n_nodes)
        alpha = old.alpha if blend.alpha is None else blend.alpha
        new = State(lam, zeros, ones, lam.sum(axis=0), zeros, alpha, **old.counted(statistics))
        if not all(np.isfinite(values).all() for values in (lam, alpha, new.n_tokens)):
            raise ValueError(TOO_EXTREME)
        return new

    def _with(self, state: State) -> TopicPosterior:
        """A posterior with the same priors, in another state."""
        out = copy(self)
        out._state = state
        return out

    def _learnt(self, *shares: tuple[TopicPosterior, Any]) -> dict[str, Any]:
        """Return the counts of a sum of posteriors, each times its share, as fields of a state."""
        return {
            "S": sum((share * p.a) * p.S for p, share in shares),
            "a": np.ones(self.n_nodes),
            "learnt_mass": sum(share * p.learnt_part for p, share in shares),
        }

    def of_words(self, words: np.ndarray) -> TopicPosterior:
        """A copy with the rows of some words, sorted, alone; masses are still those of all."""
        return _OfWords(self, words)

    def plus(self, other: TopicPosterior, scale: float) -> TopicPosterior:
        """Return lam + scale * other, at the cost of the whole vocabulary."""
        c, b = self.c + scale * other.c, self.b + scale * other.b
        learnt = self._learnt((self, 1.0), (other, scale))
        return self._with(self._state._replace(c=c, b=b, **learnt))

    def with_topics(self, places: np.ndarray, alpha: np.ndarray | None) -> TopicPosterior:
        """A copy with other topics: those at `places`, and for -1 one that knows nothing."""
        if self.xi is not None:
            raise ValueError("topics cannot come and go while another prior than theirs is boosted")
        known, old = places >= 0, self._state
        out = TopicPosterior(self.eta, (self.shape[0], len(places)), alpha, seed=self.seed)
        S = out.S
        S[:, known] = old.S[:, places[known]]
        c = np.where(known, old.c[places], old.c[0])
        a = np.where(known, old.a[places], 1.0)
        learnt = np.where(known, old.learnt_mass[places], 0.0)
        return out._with(State(S, c, a, learnt, np.zeros(len(places)), out.alpha, *old[6:]))

    def set_back(self, n_batches: int, kept: float = 1.0) -> TopicPosterior:
        """A copy that counts `n_batches`, and this share of what was learnt, boosts and tokens."""
        old = self._state
        return self._with(
            old._replace(
                S=old.S.copy(),
                c=kept * old.c + (1.0 - kept),
                a=kept * old.a,
                b=kept * old.b,
                n_batches=n_batches,
                n_tokens=kept * old.n_tokens,
            )
        )

    # Merging

    def follows(self, base: TopicPosterior) -> bool:
        """Whether this posterior has seen at least as much as `base`."""
        counters = zip(self._state[6:], base._state[6:], strict=True)
        return all(mine >= before for mine, before in counters)

    def continues(self, base: TopicPosterior) -> bool:
        """Whether this posterior can have grown out of `base` by adding to it."""
        learnt, before = self.a * self.S, base.a * base.S
        boosted = (self.c >= base.c).all() and (self.b >= base.b).all()
        return bool(self.follows(base) and boosted and (learnt >= before * (1 - 1e-9)).all())

    def is_learnt_from(self, *parts: TopicPosterior) -> bool:
        """Whether no count is negative by more than rounding, as a sum of these parts has it."""
        rounding = sum(1e-9 * (part.a * part.S) for part in parts)
        return bool((self.a * self.S >= -rounding).all())

    def added_to(
        self,
        other: TopicPosterior,
        base: TopicPosterior | None,
        alpha: np.ndarray | None = None,
        weights: tuple[float, float, float] = (1.0, 1.0, -1.0),
    ) -> TopicPosterior:
        """Return lam + lam of other - lam of base, which counts what both share once.

        `base` is the posterior that both started from; None for the prior. `alpha` is that of
        the result; None keeps this one's. `weights` are those of what each of the three learnt.
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
        """The average of two running means of statistics, which counts what both share once.

        Where nothing is forgotten each mean weighs by its minibatches, and that of
        `base` is taken out again: exact. Else it weighs by the 1 / c documents that it
        stands for, and what is left of `base` in both counts twice. `alpha` is that of the
        result.
        """
        k = self.n_nodes
        signs = _signed(self, other, base)
        parts = signs[:2] if forgets else signs
        weights = [1.0 / p.c if forgets else np.full(k, float(p.n_batches)) for p, _ in parts]
        total: Any = sum(sign * w for (_, sign), w in zip(parts, weights, strict=True))
        if not (total > 0).all():
            return self
        shares = [(p, sign * w / total) for (p, sign), w in zip(parts, weights, strict=True)]
        c: Any = sum(np.sign(share) * share**2 * p.c for p, share in shares)
        return self._with(_summed(signs)._replace(c=c, alpha=alpha, **self._learnt(*shares)))


def _signed(
    one: TopicPosterior, other: TopicPosterior, base: TopicPosterior | None
) -> list[tuple[TopicPosterior, float]]:
    """Both, and what they share taken out once."""
    return [(one, 1.0), (other, 1.0)] + ([] if base is None else [(base, -1.0)])


def _summed(parts: Sequence[tuple[TopicPosterior, float]]) -> State:
    """The first posterior's state, with the signed sums of the weights and counters of all."""
    first = parts[0][0]._state
    sums = {
        name: sum(sign * getattr(p._state, name) for p, sign in parts)
        for name in ("c", "b", "n_batches", "n_documents", "n_tokens")
    }
    sums |= {name: int(sums[name]) for name in ("n_batches", "n_documents")}
    return first._replace(**sums)


def _counts_of(blend: Blend) -> np.ndarray:
    """The counts of the statistics, as the kernels read them."""
    counts = np.asarray(blend.statistics.counts)
    if counts.dtype not in (np.float32, np.float64) or not counts.flags.c_contiguous:
        counts = np.ascontiguousarray(counts, np.float64)
    return counts


def _at(prior: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Rows of a prior, of which an axis of length 1 stands for equal ones."""
    return prior[words] if len(prior) > 1 else prior


def _over_words(prior: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Sum of a prior over the words, for each topic."""
    n_words, n_components = shape
    total = prior.sum(axis=0) * (n_words // len(prior))
    return np.broadcast_to(total, n_components).astype(np.float64)


def blend_together(
    updates: Sequence[tuple[TopicPosterior, Blend]], swaps: Sequence[Swap] = ()
) -> None:
    """Carry out updates of several posteriors, and set attributes: all of them, or none."""
    prepared = [posterior._prepared(blend) for posterior, blend in updates]
    _write(prepared, swaps)


def forget_together(
    parts: Sequence[tuple[TopicPosterior, Any]], words: np.ndarray, swaps: Sequence[Swap] = ()
) -> None:
    """Leave some rows in S of posteriors, and set attributes: all, or none.

    `parts` are posteriors and what is left in each of the words, which are distinct, int32.
    """
    prepared = [posterior._forgetting(words, left) for posterior, left in parts]
    _write(prepared, swaps)


def _write(prepared: Sequence[Prepared], swaps: Sequence[Swap]) -> None:
    """Change the rows of posteriors, and attributes, in one call."""
    own = [swap for _, states in prepared for swap in states]
    kernel.write([arguments for arguments, _ in prepared], [*own, *swaps])


class _OfWords(TopicPosterior):
    """See `TopicPosterior.of_words`; it offers nothing that needs all words."""

    offers: ClassVar[frozenset[str]] = frozenset({"smoothing", "alpha"})

    def __init__(self, posterior: TopicPosterior, words: np.ndarray):
        vars(self).update(vars(posterior))
        self._words = words
        self._state = posterior._state._replace(S=posterior.S[words])
        self.eta = _at(posterior.eta, words)
        self.xi = None if posterior.xi is None else _at(posterior.xi, words)

    def _places(self, words: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._words, words).astype(np.int32)

    def rows(self, words: np.ndarray) -> np.ndarray:
        return super().rows(self._places(words))

    def prior_rows(self, words: np.ndarray) -> np.ndarray:
        return super().prior_rows(self._places(words))

    def boosted_rows(self, words: np.ndarray) -> np.ndarray:
        return super().boosted_rows(self._places(words))

    def _prepared(self, blend: Blend) -> Prepared:
        statistics = replace(blend.statistics, words=self._places(blend.statistics.words))
        return super()._prepared(replace(blend, statistics=statistics))


class Proposal(StateProposal[TopicPosterior]):
    """Topics as they would stand after a blend that was not carried out."""

    @property
    def c(self) -> np.ndarray:
        """Weight of the prior in each topic, and of its boosts where that is what is boosted."""
        blend, boost = self._blend, self._blend.boost if self._posterior.xi is None else 0.0
        weight: np.ndarray = blend.retain * self._posterior.c + blend.prior + boost
        return weight

    @property
    def prior_mass(self) -> np.ndarray:
        """Pseudo-counts of eta, for each topic."""
        return self._posterior.prior_mass

    def prior_rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of eta."""
        return self._posterior.prior_rows(words)

    def rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of lam for `words`, which must be among those of the statistics."""
        blend, posterior = self._blend, self._posterior
        known = blend.statistics.words
        places = np.searchsorted(known, words)
        if not np.array_equal(known[np.minimum(places, len(known) - 1)], words):
            raise IndexError("a proposal only has the rows of the words in its statistics")
        found: np.ndarray = (
            blend.retain * posterior.rows(words)
            + blend.gain * blend.statistics.counts[places].astype(np.float64)
            + blend.prior * posterior.prior_rows(words)
            + blend.boost * posterior.boosted_rows(words)
        )
        return found
