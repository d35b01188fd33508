# SPDX-License-Identifier: BSD-3-Clause
"""The global state of a streaming method: lam = c * eta + b * xi + a * S.

`lam` is the natural parameter of the posterior (pseudo-counts), `eta` that of
the prior that a stream starts from and forgets to, `xi` the knowledge that is
boosted, `S` the counts learnt so far; the scalars `c`, `b` and `a`, one of each
per topic, say how much of each is left. An update of the form

    lam <- retain * lam + gain * s + prior * eta + boost * xi

changes the scalars and the rows of `S` for the words in `s`; nothing else is
read or written, so its cost does not depend on the vocabulary. Mostly there is one
prior for both, xi = eta, and then all of its weight is in c. The prior of the
documents' topic proportions, which some rules re-estimate, is kept beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import digamma, gammaln

from streamtopics.kernels import dirichlet as kernel_of_dirichlet
from streamtopics.kernels import rows as kernel
from streamtopics.messages import Statistics

# Below this weight of S, the weight is multiplied into S.
LEAST_WEIGHT = 1e-20
TOO_EXTREME = (
    "the update would make the posterior infinite or undefined; the step size, the boosting scale "
    "or the prior is too extreme"
)
# Greater masses have no divergences in double precision.
MOST_MASS = 1e290
# Words of which divergences are summed at once: enough rows to fill a cache.
WORDS_AT_ONCE = 512
# Where noise would reflect lam to less, it stays here.
LEAST_NOISY = 1e-100


@dataclass(frozen=True)
class Proportions:
    """What is known of the topic proportions of documents in general.

    Attributes
    ----------
    alpha : ndarray of shape (n_components,), float64
        The Dirichlet parameter they are drawn from.
    memory : ndarray of shape (m,), float64
        What the update that re-estimates `alpha` remembers of the stream.
    """

    alpha: np.ndarray
    memory: np.ndarray


@dataclass(frozen=True)
class Noise:
    """What an update adds at random, of a variance in proportion to lam before it.

    lam <- |update(lam) + sqrt(variance lam) xi|, xi ~ N(0, 1) drawn from `seed`.
    """

    variance: float
    seed: tuple[int, ...]

    def added(self, updated: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """The update of `lam` after the noise."""
        xi = np.random.default_rng(self.seed).standard_normal(lam.shape)
        return np.maximum(np.abs(updated + np.sqrt(self.variance * lam) * xi), LEAST_NOISY)


@dataclass(frozen=True)
class Blend:
    """The coefficients of one update, each a number or one per topic.

    `proportions` is what the update makes of them; None leaves them as they are.
    `noise` is added afterwards, to all of lam; `boost` is the weight of xi.
    """

    retain: float | np.ndarray
    gain: float | np.ndarray
    prior: float | np.ndarray
    statistics: Statistics
    proportions: Proportions | None = None
    noise: Noise | None = None
    boost: float | np.ndarray = 0.0


class LazyPosterior:
    """Dirichlet parameters of topics over words, stored by word.

    Parameters
    ----------
    eta : ndarray of shape (n_words or 1, n_components or 1)
        Prior pseudo-counts, positive; an axis of length 1 stands for equal ones.
    shape : tuple (n_words, n_components)
    alpha : ndarray of shape (n_components,), default=None
        Dirichlet parameter of the topic proportions; None where there are none.
    memory_size : int, default=0
        Numbers that the update of `alpha` remembers; they start at zero.
    xi : ndarray of shape (n_words or 1, n_components or 1), default=None
        Pseudo-counts that a boost adds; None for those of `eta`.
    """

    def __init__(
        self,
        eta: np.ndarray,
        shape: tuple[int, int],
        alpha: np.ndarray | None = None,
        memory_size: int = 0,
        xi: np.ndarray | None = None,
    ):
        n_components = shape[1]
        self.eta, self.xi = eta, xi
        self.S = np.zeros(shape)
        self.prior_mass = _over_words(eta, shape)
        self.boosted_mass = self.prior_mass if xi is None else _over_words(xi, shape)
        alpha = np.empty(0) if alpha is None else alpha
        topics = np.ones(2 * n_components), np.zeros(2 * n_components)
        self._state = np.concatenate([*topics, alpha, np.zeros(memory_size), np.zeros(3)])
        self._n_alpha = len(alpha)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of words and of topics."""
        return self.S.shape

    @property
    def n_nodes(self) -> int:
        """Distributions that make up the posterior: one for each topic."""
        return self.S.shape[1]

    def pooled(self, mass: np.ndarray) -> float:
        """What all topics have together, of masses of each."""
        return float(mass.sum())

    @property
    def _boosted(self) -> np.ndarray:
        return self.eta if self.xi is None else self.xi

    def _part(self, i: int) -> np.ndarray:
        k = self.S.shape[1]
        return self._state[i * k : (i + 1) * k]

    @property
    def c(self) -> np.ndarray:
        """Weight of `eta` in each topic."""
        return self._part(0)

    @property
    def a(self) -> np.ndarray:
        """Weight of `S` in each topic."""
        return self._part(1)

    @property
    def learnt_mass(self) -> np.ndarray:
        """Sum of `S` over the words, for each topic; scaled by `a` in `mass`."""
        return self._part(2)

    @property
    def b(self) -> np.ndarray:
        """Weight of `xi` in each topic; 0 where it is not another prior than `eta`."""
        return self._part(3)

    @property
    def alpha(self) -> np.ndarray:
        """Dirichlet parameter of the documents' topic proportions."""
        return self.proportions.alpha

    @property
    def proportions(self) -> Proportions:
        """The documents' topic proportions in general, as of now."""
        kept = self._state[4 * self.S.shape[1] : -3]
        return Proportions(kept[: self._n_alpha], kept[self._n_alpha :])

    @property
    def n_batches(self) -> int:
        """Minibatches blended in so far."""
        return int(self._state[-3])

    @property
    def n_documents(self) -> int:
        """Documents blended in so far."""
        return int(self._state[-2])

    @property
    def n_tokens(self) -> float:
        """Tokens blended in so far."""
        return float(self._state[-1])

    @property
    def prior_part(self) -> np.ndarray:
        """Mass in each topic that is owed to the prior and to its boosts."""
        return self.c * self.prior_mass + self.b * self.boosted_mass

    @property
    def learnt_part(self) -> np.ndarray:
        """Mass in each topic that was learnt."""
        return self.a * self.learnt_mass

    @property
    def mass(self) -> np.ndarray:
        """Sum of lam over the words, for each topic."""
        return self.prior_part + self.learnt_part

    @property
    def knows_nothing(self) -> bool:
        """Whether lam is still the prior, up to its weight."""
        return not self.learnt_mass.any()

    def rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of lam, of shape (len(words), n_components)."""
        out = np.empty((len(words), self.S.shape[1]))
        kernel.gather_rows(self.S, words, self.a, self.c, self.eta, out)
        if self.xi is not None:
            out += self.b * _at(self.xi, words)
        return out

    def prior_rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of eta, of shape (len(words), n_components)."""
        return np.broadcast_to(_at(self.eta, words), (len(words), self.S.shape[1]))

    def boosted_rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of what a boost adds, of shape (len(words), n_components)."""
        return np.broadcast_to(_at(self._boosted, words), (len(words), self.S.shape[1]))

    def dense(self) -> np.ndarray:
        """The whole of lam, of shape (n_words, n_components)."""
        lam = self.c * self.eta + self.a * self.S
        return lam if self.xi is None else lam + self.b * self.xi

    def after(self, blend: Blend) -> Proposal:
        """The rows and masses that lam would have after `blend`."""
        return Proposal(self, blend)

    @cached_property
    def _log_gamma_prior(self) -> np.ndarray:
        """Sum of log Gamma(eta) over the words, for each topic."""
        n_words, k = self.S.shape
        return np.broadcast_to(gammaln(self.eta).sum(axis=0) * (n_words // len(self.eta)), k)

    def changes(self, blend: Blend) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Some words at a time until it is all, and their rows before and after `blend`."""
        statistics = blend.statistics
        for start in range(0, self.S.shape[0], WORDS_AT_ONCE):
            stop = min(start + WORDS_AT_ONCE, self.S.shape[0])
            words = np.arange(start, stop, dtype=np.int32)
            before = self.rows(words)
            after = blend.retain * before
            after += blend.prior * _at(self.eta, words)
            if np.any(blend.boost):
                after += blend.boost * _at(self._boosted, words)
            seen = slice(*np.searchsorted(statistics.words, [start, stop]))
            after[statistics.words[seen] - start] += blend.gain * statistics.counts[seen]
            yield words, before, after

    def divergences(self, blend: Blend) -> tuple[np.ndarray, np.ndarray]:
        """KL from q to lam, and from q to eta, with q what `blend` would make of lam.

        At the cost of the whole vocabulary. With a boost, the divergences are those to
        lam + boost xi and to eta + boost xi.

        Returns
        -------
        from_posterior, from_prior : ndarray of shape (n_components,), float64
            KL(Dir(q_k) || Dir(lam_k)) and KL(Dir(q_k) || Dir(eta_k)), in nats.
        """
        mass = within_reach(self.after(blend).mass)
        from_posterior, from_prior = np.zeros((2, self.S.shape[1]))
        boosted = np.any(blend.boost)
        for words, before, after in self.changes(blend):
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

    def slopes(self, blend: Blend) -> Callable[[np.ndarray], np.ndarray]:
        """How E_q[log Dir(beta_k | p(rho))] changes with rho, q being what `blend` would make.

        With p(rho) = rho lam + (1 - rho) eta + boost xi this is

            sum over the words of (lam - eta) (E_q[log beta] - E_p(rho)[log beta]),

        at the cost of the whole vocabulary.

        Returns
        -------
        slope : callable
            From rho of shape (n_components,) to the slopes, of the same shape, in nats.
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
            return expected - of_words + mass * digamma(base_mass + rho * mass)

        return slope

    def blend(self, blend: Blend) -> None:
        """Carry out an update; the only writer of the state.

        Nothing is changed when it raises, and no signal handler can run between
        the parts of the change.
        """
        if blend.noise is None:
            blend_together([(self, blend)])
        else:
            self._diffuse(blend)

    def _prepared(self, blend: Blend) -> tuple:
        """Arguments of the compiled writer, when all has been checked."""
        if blend.noise is not None:
            raise ValueError("an update with noise cannot be carried out together with others")
        statistics = blend.statistics
        k = self.S.shape[1]
        state = self._state.copy()
        if self.xi is None:
            state[:k] = blend.retain * self.c + (blend.prior + blend.boost)
        else:
            state[:k] = blend.retain * self.c + blend.prior
            state[3 * k : 4 * k] = blend.retain * self.b + blend.boost
        a = blend.retain * self.a
        fold = np.where(a < LEAST_WEIGHT, a, 1.0)
        state[k : 2 * k] = a = np.where(a < LEAST_WEIGHT, 1.0, a)
        scale = np.ascontiguousarray(np.broadcast_to(blend.gain / a, k))
        state[-3:] += 1, statistics.n_documents, statistics.n_tokens
        state = self._with_proportions(state, blend)
        prior = state[:k] * self.prior_mass + state[3 * k : 4 * k] * self.boosted_mass
        if not (np.isfinite(state).all() and np.isfinite(scale).all() and np.isfinite(prior).all()):
            raise ValueError(TOO_EXTREME)
        self._own()
        return (
            self.S, statistics.words, statistics.counts, scale, fold, self._state[2 * k : 3 * k],
            self._state, state,
        )  # fmt: skip

    def _with_proportions(self, state: np.ndarray, blend: Blend) -> np.ndarray:
        """`state` with the proportions that the blend asks for."""
        if blend.proportions is not None:
            new = np.concatenate([blend.proportions.alpha, blend.proportions.memory])
            place = slice(4 * self.S.shape[1], len(state) - 3)
            if len(new) != place.stop - place.start:
                raise ValueError(
                    f"the posterior keeps {place.stop - place.start} numbers on the proportions, "
                    f"but the update gave {len(new)}"
                )
            state[place] = new
        return state

    def _diffuse(self, blend: Blend) -> None:
        """Carry out an update with noise; it makes S all that there is of lam."""
        before, statistics = self.dense(), blend.statistics
        lam = blend.retain * before + blend.prior * self.eta
        if np.any(blend.boost):
            lam += blend.boost * self._boosted
        lam[statistics.words] += blend.gain * statistics.counts
        lam = blend.noise.added(lam, before)
        if not np.isfinite(lam).all():
            raise ValueError(TOO_EXTREME)
        k = self.S.shape[1]
        state = self._with_proportions(self._state.copy(), blend)
        state[:k], state[k : 2 * k], state[2 * k : 3 * k] = 0.0, 1.0, lam.sum(axis=0)
        state[3 * k : 4 * k] = 0.0
        state[-3:] += 1, statistics.n_documents, statistics.n_tokens
        vars(self).update(S=lam, _state=state)

    def plus(self, other: LazyPosterior, scale: float, proportions: Proportions) -> LazyPosterior:
        """lam + scale * other, at the cost of the whole vocabulary."""
        k = self.S.shape[1]
        state = self._state.copy()
        state[:k] += scale * other.c
        state[k : 2 * k] = 1.0
        state[2 * k : 3 * k] = self.learnt_part + scale * other.learnt_part
        state[3 * k : 4 * k] += scale * other.b
        state[4 * k : -3] = np.concatenate([proportions.alpha, proportions.memory])
        out = copy(self)
        vars(out).update(S=self.a * self.S + scale * other.a * other.S, _state=state)
        return out

    def follows(self, base: LazyPosterior) -> bool:
        """Whether this posterior has seen at least as much as `base`."""
        return bool((self._state[-3:] >= base._state[-3:]).all())

    def with_topics(self, places: np.ndarray, alpha: np.ndarray) -> LazyPosterior:
        """A copy with other topics: those at `places`, and for -1 one that knows nothing.

        The memory of what makes alpha must have a number for each topic; that of a new
        one is 0.
        """
        n_words, k = self.S.shape[0], len(places)
        memory = self.proportions.memory
        if self.xi is not None:
            raise ValueError("topics cannot come and go while another prior than theirs is boosted")
        out = LazyPosterior(self.eta, (n_words, k), alpha, k)
        known = places >= 0
        out.S[:, known] = self.S[:, places[known]]
        parts = [
            np.where(known, self.c[places], self.c[0]),
            np.where(known, self.a[places], 1.0),
            np.where(known, self.learnt_mass[places], 0.0),
            np.zeros(k),
        ]
        memory = np.where(known, memory[places], 0.0)
        out._state = np.concatenate([*parts, alpha, memory, self._state[-3:]])
        return out

    def continues(self, base: LazyPosterior) -> bool:
        """Whether this posterior can have grown out of `base` by adding to it."""
        learnt, before = self.a * self.S, base.a * base.S
        boosted = (self.c >= base.c).all() and (self.b >= base.b).all()
        return bool(self.follows(base) and boosted and (learnt >= before * (1 - 1e-9)).all())

    def _own(self) -> None:
        """Copy what cannot be written to, as in a process that was sent a memory map."""
        if not self.S.flags.writeable:
            self.S = np.array(self.S)
        if not self._state.flags.writeable:
            self._state = np.array(self._state)

    def absorb(self, other: LazyPosterior, base: LazyPosterior | None) -> None:
        """lam <- lam + other - base, counting what both share once.

        `base` is the posterior that both started from; None for the prior.
        """
        k = self.S.shape[1]
        S = self.a * self.S + other.a * other.S
        state = self._state + other._state
        state[2 * k : 3 * k] = self.a * self.learnt_mass + other.a * other.learnt_mass
        if base is None:
            state[:k] -= 1.0
        else:
            S -= base.a * base.S
            state -= base._state
            state[2 * k : 3 * k] -= base.a * base.learnt_mass - base.learnt_mass
        state[k : 2 * k] = 1.0
        state[4 * k : -3] = self._state[4 * k : -3]
        vars(self).update(S=S, _state=state)

    def pool(self, other: LazyPosterior, base: LazyPosterior | None, *, forgets: bool) -> None:
        """Average two running means of statistics, counting what both share once.

        Where nothing is forgotten each mean weighs by its minibatches, and that of
        `base` is taken out again: exact. Else it weighs by the 1 / c documents that it
        stands for, and what is left of `base` in both counts twice.
        """
        k = self.S.shape[1]
        signs = [(self, 1.0), (other, 1.0)] + ([] if base is None else [(base, -1.0)])
        parts = signs[:2] if forgets else signs
        weights = [1.0 / p.c if forgets else np.full(k, float(p.n_batches)) for p, _ in parts]
        total = sum(sign * w for (_, sign), w in zip(parts, weights, strict=True))
        if not (total > 0).all():
            return
        shares = [(p, sign * w / total) for (p, sign), w in zip(parts, weights, strict=True)]
        state = sum(sign * p._state for p, sign in signs)
        state[:k] = sum(np.sign(share) * share**2 * p.c for p, share in shares)
        state[k : 2 * k] = 1.0
        state[2 * k : 3 * k] = sum(share * p.learnt_part for p, share in shares)
        own = [p.n_batches - (0 if base is None else base.n_batches) for p, _ in signs[:2]]
        state[4 * k : -3] = self._pooled_proportions(other, own)
        S = sum((share * p.a) * p.S for p, share in shares)
        vars(self).update(S=S, _state=state)

    def _pooled_proportions(self, other: LazyPosterior, n_batches: list[int]) -> np.ndarray:
        """alpha and memory of both, by their minibatches; of one, if the other has none yet."""
        k = self.S.shape[1]
        mine, theirs = self.proportions.memory.any(), other.proportions.memory.any()
        share = n_batches[0] / sum(n_batches) if sum(n_batches) > 0 else 0.5
        if mine != theirs:
            share = float(mine)
        return share * self._state[4 * k : -3] + (1 - share) * other._state[4 * k : -3]


def _at(prior: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Rows of a prior, of which an axis of length 1 stands for equal ones."""
    return prior[words] if len(prior) > 1 else prior


def _over_words(prior: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Sum of a prior over the words, for each topic."""
    n_words, n_components = shape
    total = prior.sum(axis=0) * (n_words // len(prior))
    return np.broadcast_to(total, n_components).astype(np.float64)


def within_reach(mass: np.ndarray) -> np.ndarray:
    """The masses that an update leads to, where these are not too extreme."""
    if not (mass < MOST_MASS).all():
        raise ValueError(TOO_EXTREME)
    return mass


def blend_together(updates: list[tuple[LazyPosterior, Blend]]) -> None:
    """Carry out updates of several posteriors: all of them, or none."""
    kernel.add_rows_of_each([posterior._prepared(blend) for posterior, blend in updates])


class Proposal:
    """A posterior as it would stand after a blend that was not carried out."""

    def __init__(self, posterior: LazyPosterior, blend: Blend):
        self._posterior = posterior
        self._blend = blend

    @property
    def alpha(self) -> np.ndarray:
        """Dirichlet parameter of the documents' topic proportions."""
        return (self._blend.proportions or self._posterior.proportions).alpha

    @property
    def mass(self) -> np.ndarray:
        """Sum of lam over the words, for each topic."""
        blend, posterior = self._blend, self._posterior
        return (
            blend.retain * posterior.mass
            + blend.gain * blend.statistics.mass
            + blend.prior * posterior.prior_mass
            + blend.boost * posterior.boosted_mass
        )

    def rows(self, words: np.ndarray) -> np.ndarray:
        """Rows of lam for `words`, which must be among those of the statistics."""
        blend, posterior = self._blend, self._posterior
        known = blend.statistics.words
        places = np.searchsorted(known, words)
        if not np.array_equal(known[np.minimum(places, len(known) - 1)], words):
            raise IndexError("a proposal only has the rows of the words in its statistics")
        return (
            blend.retain * posterior.rows(words)
            + blend.gain * blend.statistics.counts[places].astype(np.float64)
            + blend.prior * posterior.prior_rows(words)
            + blend.boost * posterior.boosted_rows(words)
        )
