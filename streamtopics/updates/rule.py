# SPDX-License-Identifier: BSD-3-Clause
"""What an update rule is, what is put around one, and rounds of it over a minibatch."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from streamtopics.messages import AnyStatistics
from streamtopics.posteriors import Blend, Learn, Posterior, View
from streamtopics.posteriors.protocol import Counters
from streamtopics.utils.checks import check_able, check_whole

Merging = Literal["sum", "mean", "decayed mean", "in order"] | None
# Ways of merging of rules whose posterior is a running mean over documents.
MEANS = ("mean", "decayed mean")


@dataclass(frozen=True)
class Traits:
    """What has to be known of a rule before it steps.

    Parameters
    ----------
    needs : frozenset of str
        What it asks of a posterior, "divergences", "slopes", "dense", "smoothing", "alpha" or
        "noise", and of the local step, "log_theta", "shares" or "local_bound".
    forgets : bool
        Whether it may retain less than all of the posterior, as a report of drift shows.
    merges : {"sum", "mean", "decayed mean", "in order"} or None
        How posteriors of two parts of a stream are made one; None if they cannot be.
    adds : bool
        Whether a minibatch is added once, with a gain of 1, to what is kept, so that weights of
        minibatches may grow.
    learns_rate : bool
        Whether `for_rate` makes a rule of it whose minibatches can be cut.
    retains_alike : bool
        Whether it retains the same of all topics and adds no noise, as averages need it.
    """

    needs: frozenset[str] = frozenset()
    forgets: bool = False
    merges: Merging = None
    adds: bool = False
    learns_rate: bool = False
    retains_alike: bool = True


NO_TRAITS = Traits()


class Rule(ABC):
    """An update rule: frozen hyper-parameters, and a step over the posterior and a state.

    The state is anything that is not changed in place: None where there is none. A rule
    derives from this class and defines `step`; the rest has defaults.
    """

    @property
    def traits(self) -> Traits:
        """What has to be known of it before it steps."""
        return NO_TRAITS

    def init(self, posterior: Posterior) -> Any:
        """The state before the first minibatch; None says that the rule has no state."""
        return None

    @abstractmethod
    def step(self, posterior: Posterior, learn: Learn, state: Any) -> tuple[Blend, Any]:
        """The blend that takes in the current minibatch, and the state after it."""

    def decay(self, before: Counters, after: Counters) -> tuple[float, float]:
        """What the minibatches between two states of a stream count, for rules that merge.

        The share of a posterior that they leave of it, and the weight that their statistics
        have in it, up to a factor that is the same everywhere.
        """
        return 1.0, 1.0

    def for_part(self, share: float, first: bool = True) -> "Rule | None":
        """The rule of a part with this share of a minibatch, the first one or another.

        None if it takes only whole ones.
        """
        return None

    def for_rate(self, posterior: Posterior, learn: Learn) -> "Rule":
        """The rule of the parts of a minibatch, at the rate that it learns of the whole."""
        return self

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
    def traits(self) -> Traits:
        """Those of the inner rule."""
        return self.update.traits

    def init(self, posterior: Posterior) -> Any:
        """The first state of the inner rule."""
        return self.update.init(posterior)

    def decay(self, before: Counters, after: Counters) -> tuple[float, float]:
        """What minibatches count under the inner rule."""
        return self.update.decay(before, after)

    def for_part(self, share: float, first: bool = True) -> Rule | None:
        """The same around the inner rule of a part."""
        inner = self.update.for_part(share, first)
        if inner is None or inner is self.update:
            return None if inner is None else self
        return replace(self, update=inner)

    def for_rate(self, posterior: Posterior, learn: Learn) -> Rule:
        """The same around the inner rule at its rate."""
        return replace(self, update=self.update.for_rate(posterior, learn))

    def without_words(self, state: Any, words: np.ndarray) -> Any:
        """The state of the inner rule without them."""
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
