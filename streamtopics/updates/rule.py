# SPDX-License-Identifier: BSD-3-Clause
"""Protocol of update rules, what is put around one, and rounds of it over a minibatch."""

from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from streamtopics.messages import AnyStatistics
from streamtopics.posteriors import Blend, Learn, Posterior, TopicPosterior, View
from streamtopics.posteriors.protocol import Counters
from streamtopics.updates.composite import Composite
from streamtopics.utils.checks import check_able, check_whole

NOTHING: frozenset[str] = frozenset()
# How posteriors of two parts of a stream are made one, if they can be.
Merging = Literal["sum", "mean", "decayed mean", "in order"] | None
# What tells a rule how late in a stream it is.


@runtime_checkable
class Rule(Protocol):
    """An update rule: frozen hyper-parameters, and a step over the posterior and a state.

    The state is anything that is not changed in place: None where there is none. A rule
    derives from this class and defines `step`; the rest has defaults.
    """

    @property
    def needs(self) -> frozenset[str]:
        """Names of what it asks of a posterior or of the local step.

        Of a posterior "divergences", "slopes", "dense", "smoothing", "alpha" or "noise", of
        the local step "log_theta" or "local_bound".
        """
        return NOTHING

    @property
    def forgets(self) -> bool:
        """Whether it may retain less than all of the posterior, as a report of drift shows."""
        return False

    @property
    def merges(self) -> Merging:
        """Way to make one of the posteriors of two parts of a stream; None if there is none.

        Where there is one, `retained` and `weight` say what minibatches count after others.
        """
        return None

    def retained(self, before: Counters, after: Counters) -> float:
        """Share of a posterior that the minibatches between two states of a stream leave."""
        return 1.0

    def weight(self, before: Counters, after: Counters) -> float:
        """Weight of the minibatches between two states, against those between any other two."""
        return 1.0

    def delayed(
        self, composite: Composite, posterior: TopicPosterior, state: Any
    ) -> tuple[Blend, Any]:
        """The blend that takes in minibatches learnt from an older posterior, and the state after.

        Where nothing was learnt in between, it is what their own steps made.
        """
        blend, before, now = composite.blend, composite.before, posterior.counters
        if composite.is_of(now):
            return blend, composite.states[1]
        then, later = before.plus(blend), now.plus(blend)
        kept, scale = self._kept(composite, then, now, later), self._scale(before, then, now, later)
        boosts = blend.prior - (1.0 - blend.retain)
        prior = 1.0 - kept + scale * boosts
        return replace(
            blend, retain=kept, gain=scale * blend.gain, prior=prior, boost=scale * blend.boost
        ), state

    def _kept(self, composite: Composite, then: Counters, now: Counters, later: Counters) -> Any:
        """Share that the minibatches leave now, by what they left.

        Under rules that retain the same at any time it is the same, whatever parts they came in.
        """
        was, is_now = self.retained(composite.before, then), self.retained(now, later)
        return composite.blend.retain * (is_now / was) if was > 0 else is_now

    def _scale(self, before: Counters, then: Counters, now: Counters, later: Counters) -> float:
        """Weight of minibatches now, by what it was."""
        weight = self.weight(before, then)
        return self.weight(now, later) / weight if weight > 0 else 1.0

    @property
    def adds(self) -> bool:
        """Whether a minibatch is added once to what is kept, so that weights may grow."""
        return self.merges == "sum"

    @property
    def settles(self) -> bool:
        """Whether `settled` makes a rule of it whose minibatches can be cut."""
        return False

    def settled(self, posterior: Posterior, learn: Learn) -> "Rule":
        """The rule of the parts of a minibatch, with what this one settles over the whole of it."""
        return self

    def merged_weights(
        self, mine: Posterior, theirs: Posterior, base: Posterior | None
    ) -> tuple[float, float, float]:
        """Weights of what two posteriors and their ancestor learnt, where `merges` is "sum"."""
        return 1.0, 1.0, -1.0

    def divided(self, share: float, first: bool = True) -> "Rule | None":
        """The rule of a part with this share of a minibatch, the first one or another.

        None if it takes only whole ones.
        """
        return None

    @property
    def retains_alike(self) -> bool:
        """Whether it retains the same of all topics and adds no noise, as averages need it."""
        return True

    def init(self, posterior: Posterior) -> Any:
        """The state before the first minibatch; None says that the rule has no state."""
        return None

    def step(self, posterior: Posterior, learn: Learn, state: Any) -> tuple[Blend, Any]:
        """The blend that takes in the current minibatch, and the state after it."""

    def without_words(self, state: Any, words: np.ndarray) -> Any:
        """The state without what it has of some words, columns of the posterior.

        A rule whose state is about words defines it, so that words can be forgotten.
        """
        return state


@dataclass(frozen=True)
class Around(Rule):
    """Base of what is put around a rule: but for its step it is as that rule.

    Parameters
    ----------
    update : Rule
        The rule.
    """

    update: Rule

    @property
    def needs(self) -> frozenset[str]:
        """Needs of the inner rule."""
        return self.update.needs

    @property
    def forgets(self) -> bool:
        """Whether the inner rule forgets."""
        return self.update.forgets

    @property
    def merges(self) -> Merging:
        """Way of merging of the inner rule."""
        return self.update.merges

    @property
    def adds(self) -> bool:
        """Whether the inner rule does."""
        return self.update.adds

    @property
    def settles(self) -> bool:
        """Whether the inner rule does."""
        return self.update.settles

    def settled(self, posterior: Posterior, learn: Learn) -> Rule:
        """The same around what the inner rule settles."""
        return replace(self, update=self.update.settled(posterior, learn))

    def merged_weights(
        self, mine: Posterior, theirs: Posterior, base: Posterior | None
    ) -> tuple[float, float, float]:
        """Return the weights of the inner rule."""
        return self.update.merged_weights(mine, theirs, base)

    def retained(self, before: Counters, after: Counters) -> float:
        """Return the share of the inner rule."""
        return self.update.retained(before, after)

    def weight(self, before: Counters, after: Counters) -> float:
        """Return the weight of the inner rule."""
        return self.update.weight(before, after)

    def delayed(
        self, composite: Composite, posterior: TopicPosterior, state: Any
    ) -> tuple[Blend, Any]:
        """Return the blend and the state of the inner rule."""
        return self.update.delayed(composite, posterior, state)

    def divided(self, share: float, first: bool = True) -> Rule | None:
        """The same around the inner rule of a part."""
        inner = self.update.divided(share, first)
        if inner is None or inner is self.update:
            return None if inner is None else self
        return replace(self, update=inner)

    @property
    def retains_alike(self) -> bool:
        """Whether the inner rule does."""
        return self.update.retains_alike

    def init(self, posterior: Posterior) -> Any:
        """Return the first state of the inner rule."""
        return self.update.init(posterior)

    def without_words(self, state: Any, words: np.ndarray) -> Any:
        """Return the state of the inner rule without them."""
        return self.update.without_words(state, words)


@dataclass(frozen=True)
class Rounds(Around):
    """Coordinate ascent between the local step and a rule inside each minibatch.

    The first round sees the posterior as it was before the minibatch; each further
    one sees what the last would make of it.

    Parameters
    ----------
    update
        As of `Around`.
    n_rounds : int
        Rounds in each minibatch; at least 1.
    n_start_rounds : int
        Rounds in each of the first minibatches, if that is more.
    n_start_batches : int
        How many minibatches are the first ones.
    warm : bool
        Whether a further round goes on from where the last one left the documents.
    """

    n_rounds: int = 1
    n_start_rounds: int = 1
    n_start_batches: int = 3
    warm: bool = False

    def __post_init__(self) -> None:
        check_able(self, "step", "SVB()", update=self.update)
        check_whole(self, n_rounds=self.n_rounds, n_start_rounds=self.n_start_rounds)
        check_whole(self, least=0, n_start_batches=self.n_start_batches)

    def n_rounds_of(self, n_batches: int) -> int:
        """Rounds in the minibatch after `n_batches` others."""
        starts = n_batches < self.n_start_batches
        return max(self.n_rounds, self.n_start_rounds) if starts else self.n_rounds

    def step(self, posterior: Posterior, learn: Learn, state: Any) -> tuple[Blend, Any]:
        """The blend and the state of the last round."""
        blend, new = self.update.step(posterior, learn, state)
        for _ in range(self.n_rounds_of(posterior.n_batches) - 1):
            again = _seeing(learn, posterior, posterior.after(blend), self.warm)
            blend, new = self.update.step(posterior, again, state)
        return blend, new


def _seeing(learn: Learn, posterior: Posterior, seen: View, warm: bool) -> Learn:
    """`learn` that sees `seen` in the place of the posterior."""
    always = warm

    def again(view: View, *, warm: bool = False) -> AnyStatistics:
        statistics: AnyStatistics = learn(seen if view is posterior else view, warm=warm or always)
        return statistics

    return again
