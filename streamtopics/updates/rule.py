# SPDX-License-Identifier: BSD-3-Clause
"""Update rules and additions to rules."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from operator import call
from typing import Any, Literal

import numpy as np

from streamtopics.messages import AnyStatistics, Statistics
from streamtopics.posteriors import Blend, Learn, Posterior, TopicPosterior, View
from streamtopics.posteriors.lists import joined
from streamtopics.posteriors.protocol import Counters
from streamtopics.posteriors.rows import add_scaled
from streamtopics.utils.checks import check_method, check_range, check_whole

MergeMethod = Literal["sum", "mean", "decayed mean", "in order"] | None
# Merging of rules with a running mean over documents as posterior.
MEANS = ("mean", "decayed mean")


@dataclass(frozen=True)
class Traits:
    """Properties of an update rule: what the rule needs, and which options suit the rule."""

    #: Needs from a posterior: "divergences", "slopes", "dense", "smoothing", "alpha" or "noise";
    #: from the local step: "log_theta", "shares" or "local_bound"
    needs: frozenset[str] = frozenset()
    forgets: bool = False  #: Whether the rule may retain less than all of the posterior
    merges: MergeMethod = None  #: How posteriors of two parts of a stream merge, if possible
    #: Whether `step` adds the statistics with weight 1, as `Growing` needs
    adds: bool = False
    #: Whether `for_rate` makes a rule for parts of a minibatch
    learns_rate: bool = False
    #: Whether all topics keep the same share and the rule adds no noise; averages of posteriors
    #: along the stream require this
    retains_alike: bool = True


NO_TRAITS = Traits()


class Rule(ABC):
    """Base class of update rules. A rule is a frozen dataclass of parameters that defines `step`.

    What a rule remembers between minibatches is a state, which `step` takes and returns. No method
    changes a state in place.
    """

    @property
    def traits(self) -> Traits:
        return NO_TRAITS

    def init(self, posterior: Posterior) -> Any:
        """Return the state before the first minibatch; None if the rule has no state."""
        return None

    @abstractmethod
    def step(self, posterior: Posterior, learn: Learn, state: Any) -> tuple[Blend, Any]:
        """Return the change of the posterior by a minibatch, and the state for the next minibatch.

        The change is a `Blend`. `learn(posterior)` infers the topics of the minibatch's documents
        under a posterior, and returns the expected statistics.
        """

    def decay(self, before: Counters, after: Counters) -> tuple[float, float]:
        """Return the weights of an earlier posterior and of the statistics learnt since.

        The posterior is of the time `before`, and the weights are for the time `after`: numbers of
        minibatches, documents and tokens. Merging of models uses the weights.
        """
        return 1.0, 1.0

    def for_part(self, share: float, first: bool = True) -> "Rule | None":
        """Return the rule for one part of a minibatch, or None if the rule needs whole minibatches.

        The part has the share `share` of the documents. `first` says whether no part came before.
        """
        return None

    def for_rate(self, posterior: Posterior, learn: Learn) -> "Rule":
        """Learn a rate of forgetting from a minibatch; return a rule with this rate.

        The minibatch is then learnt part by part with the new rule. A rule without a rate to learn
        returns itself. `learn` is as in `step`.
        """
        return self

    def without_words(self, state: Any, words: np.ndarray) -> Any:
        """Return `state` without the statistics of the columns `words`, now free for new words."""
        return state


@dataclass(frozen=True)
class Wrapper(Rule):
    update: Rule

    @property
    def traits(self) -> Traits:
        return self.update.traits

    def init(self, posterior: Posterior) -> Any:
        return self.update.init(posterior)

    def decay(self, before: Counters, after: Counters) -> tuple[float, float]:
        return self.update.decay(before, after)

    def for_part(self, share: float, first: bool = True) -> Rule | None:
        inner = self.update.for_part(share, first)
        if inner is None or inner is self.update:
            return None if inner is None else self
        return replace(self, update=inner)

    def for_rate(self, posterior: Posterior, learn: Learn) -> Rule:
        return replace(self, update=self.update.for_rate(posterior, learn))

    def without_words(self, state: Any, words: np.ndarray) -> Any:
        return self.update.without_words(state, words)


@dataclass(frozen=True)
class Rounds(Wrapper):
    """The rule `update`, with several rounds in each minibatch.

    A round infers the documents under the topics of the round before. Then `update` learns topics.

    Parameters
    ----------
    update : Rule
        Rule of each round.
    n_rounds : int
        Rounds in each minibatch.
    n_start_rounds : int
        Least number of rounds in each of the first `n_start_batches` minibatches.
    n_start_batches : int
        Number of minibatches with at least `n_start_rounds` rounds.
    warm : bool
        Whether the inference of a document starts from the result of the round before.
    """

    n_rounds: int = 1
    n_start_rounds: int = 1
    n_start_batches: int = 3
    warm: bool = False

    def __post_init__(self) -> None:
        check_method(self, "step", "SVB()", update=self.update)
        check_whole(self, n_rounds=self.n_rounds, n_start_rounds=self.n_start_rounds)
        check_whole(self, least=0, n_start_batches=self.n_start_batches)

    def n_rounds_of(self, n_batches: int) -> int:
        starts = n_batches < self.n_start_batches
        return max(self.n_rounds, self.n_start_rounds) if starts else self.n_rounds

    def step(self, posterior: Posterior, learn: Learn, state: Any) -> tuple[Blend, Any]:
        with naming(self.update):
            blend, new = self.update.step(posterior, learn, state)
            for _ in range(self.n_rounds_of(posterior.n_batches) - 1):
                new_learn = _with_view(learn, posterior, posterior.after(blend), self.warm)
                blend, new = self.update.step(posterior, new_learn, state)
        return blend, new


@contextmanager
def naming(rule: Rule) -> Iterator[None]:
    """Add the name of a user's rule to an error."""
    try:
        yield
    except Exception as error:
        while isinstance(rule, Wrapper):
            rule = rule.update
        if not type(rule).__module__.startswith("streamtopics."):
            error.add_note(f"This minibatch was learnt by the rule {rule!r}")
        raise


def _with_view(learn: Learn, posterior: Posterior, seen: View, warm_start: bool) -> Learn:
    def new_learn(view: View, *, warm: bool = False) -> AnyStatistics:
        return learn(seen if view is posterior else view, warm=warm or warm_start)

    return new_learn


@dataclass(frozen=True)
class Growing(Wrapper):
    """The rule `update`, but later minibatches weigh more, so that the first vague topics fade.

    The first t minibatches have N_t tokens. With h = `power`, minibatch t weighs
    ``N_t^h - N_{t-1}^h``, and all weights are scaled to the sum N_t. With posterior parameters lam,
    the prior eta, and statistics s_t of minibatch t (with a boost of the prior added, if any)::

        lam_t = eta + k (lam_{t-1} - eta) + g s_t,   r = 1 - (N_{t-1} / N_t)^h,
        g = r N_t / (N_t - N_{t-1}),   k = (1 - r) N_t / N_{t-1}

    If `update` forgets, k is multiplied by the share kept.

    Parameters
    ----------
    update : Rule
        A rule that adds s_t with weight 1.
    power : float
        The power h, at least 1; 1 gives equal weights. With 3, the first third of a stream has 4 %
        of the weight.
    """

    power: float = 3.0

    def __post_init__(self) -> None:
        check_range(self, 1, 100, power=self.power)

    @property
    def traits(self) -> Traits:
        return replace(self.update.traits, adds=False)

    def decay(self, before: Counters, after: Counters) -> tuple[float, float]:
        kept, weight = self.update.decay(before, after)
        old, now = before.n_tokens, after.n_tokens
        if old > 0:
            kept = float(kept * (old / now) ** (self.power - 1))
        if now > old > 0:
            weight = weight * (1.0 - (old / now) ** self.power) * now / (now - old)
        return kept, weight

    def step(self, posterior: Posterior, learn: Learn, state: Any) -> tuple[Blend, Any]:
        blend, state = self.update.step(posterior, learn, state)
        before, new = posterior.n_tokens, blend.statistics.n_tokens
        if self.power == 1 or before == 0 or new == 0:
            return blend, state
        now = before + new
        rate = 1.0 - (before / now) ** self.power
        gain, keep = rate * now / new, (1.0 - rate) * now / before
        scaled = replace(
            blend,
            retain=keep * blend.retain,
            retention=blend.reported_retention,
            gain=gain * blend.gain,
            prior=blend.prior + blend.retain * (1.0 - keep),
            boost=gain * blend.boost,
        )
        return scaled, state


def merged_weights(
    power: float, mine: TopicPosterior, theirs: TopicPosterior, base: TopicPosterior | None
) -> tuple[float, float, float]:
    """Weights of two learnt parts and of their ancestor `base`."""
    if base is None or power == 1 or not base.n_tokens > 0:
        return 1.0, 1.0, -1.0
    before, parts = base.n_tokens, (mine, theirs)
    own = [part.n_tokens - before for part in parts]
    if not sum(own) > 0:
        return 1.0, 1.0, -1.0
    now = before + sum(own)
    decayed = [(before / part.n_tokens) ** (power - 1) for part in parts]
    left = (before / now) ** (power - 1)
    weights = [
        (now - left * before) * tokens / sum(own) / (part.n_tokens - kept * before)
        if tokens > 0
        else 0.0
        for part, tokens, kept in zip(parts, own, decayed, strict=True)
    ]
    of_base = left - sum(w * kept for w, kept in zip(weights, decayed, strict=True))
    return weights[0], weights[1], of_base


LEAST_KEPT = 1e-50

Share = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], list[Any]]


def in_parts(
    parts: Iterable[tuple[Rule, Learn]],
    scratch: TopicPosterior,
    words: np.ndarray,
    state: Any,
    share: Share,
) -> tuple[Blend, Any]:
    """The blend of all parts of a minibatch together, and the state afterwards.

    Each part sees the posterior proposed by the earlier parts, written to `scratch`.
    """
    # The kept share of the counts is multiplied in at the end, or before it gets too small.
    lists: list[Any] | None = [] if scratch.has_lists else None
    counts: Any = np.zeros((len(words) if lists is None else 0, scratch.n_nodes))
    kept = np.ones(scratch.n_nodes)
    retain: Any = 1.0
    retention: Any = 1.0
    prior: Any = 0.0
    boost: Any = 0.0
    lengths, shares, n_empty = [], [], 0
    directions: Any = 0.0
    for rule, learn in parts:
        blend, state = rule.step(scratch, learn, state)
        kept = kept * blend.retain
        if kept.min() < LEAST_KEPT:
            counts *= kept
            lists = lists and [(*part, factor * kept) for *part, factor in lists]
            kept = np.ones(scratch.n_nodes)
        found = blend.statistics
        # Both write to memory of their own, one of them without the GIL.
        if lists is None:
            summed = add_scaled, counts, words, blend.gain / kept, found
            share(call, [(scratch.blend, blend), summed])
        else:
            scratch.blend(blend)
            lists.append((found.words, found.counts, blend.gain / kept))
        retain = blend.retain * retain
        retention = blend.reported_retention * retention
        prior = blend.retain * prior + blend.prior
        boost = blend.retain * boost + blend.boost
        lengths.append(found.lengths)
        n_empty += found.n_empty
        if found.shares is not None:
            shares.append(found.n_informative * found.shares)
        if found.directions is not None:
            new = np.reshape(blend.gain, (-1, 1)) * found.directions
            directions = np.reshape(blend.retain, (-1, 1)) * directions + new
    counts = counts * kept if lists is None else joined(lists, words, kept)
    whole = np.concatenate(lengths)
    mean = sum(shares) / (np.count_nonzero(whole) + n_empty) if shares else None
    statistics = Statistics(
        words, counts, whole, shares=mean, n_batches=len(lengths),
        directions=directions if np.ndim(directions) else None, n_empty=n_empty,
    )  # fmt: skip
    return replace(blend, retain=retain, retention=retention, gain=1.0, prior=prior, boost=boost,
                   statistics=statistics, alpha=scratch.alpha), state  # fmt: skip
