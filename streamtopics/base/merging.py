# SPDX-License-Identifier: BSD-3-Clause
"""Models that learnt from different parts of a stream, made one."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import StreamingEstimator, locks_of
from streamtopics.updates.composite import Composite, rebased
from streamtopics.updates.doc_topic import FIXED
from streamtopics.updates.rule import merged_weights

# Ways of merging that take the minibatches of one part in after those of the other.
IN_ORDER = ("decayed mean", "in order")
NO_ANCESTOR = (
    "base must be the model that both others were copied from, but one of them has not learnt all "
    "that base has"
)


def _merges(estimator: Any) -> bool:
    """Whether the rule says how posteriors are made one; for `available_if`."""
    estimator._validate()
    rule = estimator._composed().update
    if rule.traits.merges is None:
        raise AttributeError(
            f"{rule} does not say how models of two parts of a stream are made one (its `merges` "
            "is None); use a rule such as SVB() or OnlineEM()"
        )
    return True


class Mergeable(StreamingEstimator):
    """Adds `merge` to estimators of topics whose rule says how."""

    _composed: Callable[[], Any]
    _n_features_out: int

    @available_if(_merges)
    def merge(self, other: Self, *, base: Self | None = None) -> Self:
        """Take in what another model has learnt.

        The posteriors are added and what both share is subtracted once: the prior, or all of
        `base`. Topics are matched by position, so the models must have started alike: from copies
        of one model that has seen a first part of the stream (pass that one as `base`), or, less
        reliably, from the same integer `random_state`.

        Of rules that add up counts, and of running means that forget nothing, the order does not
        matter and the result is exact. Under rules that forget, what the other one learnt since
        `base` is taken in as if its minibatches came after those of this model.

        Parameters
        ----------
        other : object
            A fitted estimator of the same class, prior and features.
        base : object or None, default=None
            The common ancestor, when it had already learnt something.

        Returns
        -------
        self : object
            This estimator, changed in place; `other` and `base` stay as they were.
        """
        with locks_of(self, other, base):
            self._check_mergeable("this model", self)
            self._check_mergeable("other", other)
            if base is not None:
                self._check_mergeable("base", base)
                self._check_ancestor(base, other)
            if self.seed_ != other.seed_ and self._n_features_out > 1:
                raise ValueError(
                    "other started from other random topics, so its topics are not these; start "
                    "both from one integer random_state, or from copies of one model and pass it "
                    "as base"
                )
            if base is None and self._composed().traits.merges == "in order":
                raise ValueError(
                    f"models under {self._composed().update} are merged by what the other one "
                    "learnt since both were copies of a model; pass that as base, or learn with "
                    "SVB()"
                )
            apart = base is None or base.posterior_.knows_nothing
            # Of the start that they had, whatever the parameter is now.
            alike = self._commit.update.start.of_seed
            if apart and self._n_features_out > 1 and not alike:
                raise ValueError(
                    "both models started from documents of their own, so that their topics are "
                    "not the same; start both from copies of one model that has learnt something "
                    "and pass it as base, or set start='noise'"
                )
            self._commit = self._merged(other, base)
        return self

    def _continued(self, other: Self, base: Self) -> Any:
        """The commit record with the other's minibatches after one's own."""
        theirs, old = other._commit, base._commit
        if theirs.posterior.n_batches == old.posterior.n_batches:
            return self._commit
        composition = theirs.update
        rule = composition.rule
        parts = composition.update.for_part(0.5, first=False)
        if composition.inner_batch_size is not None and parts != composition.update:
            raise ValueError(
                f"{composition.update} retains the same of each minibatch, however many parts it "
                "is learnt in, and how many minibatches other has learnt in parts is not known; "
                "learn with schedule=Schedule(None), or under a rule such as SVB() or "
                "PowerPrior(Memory(20_000))"
            )
        posterior, before = deepcopy(self.posterior_), old.posterior.counters
        kept, _ = rule.decay(before, theirs.posterior.counters)
        blend = theirs.posterior.since(old.posterior, kept)
        if blend.statistics.counts.size and blend.statistics.counts.min() < 0:
            raise ValueError(NO_ANCESTOR)
        states = old.state, theirs.state
        composite = Composite(blend, before, old.posterior.alpha, states)
        blend, state = rebased(
            rule, composition.doc_topic, composite, posterior, self._commit.state
        )
        posterior.blend(blend)
        return replace(self._commit, posterior=posterior, state=state)

    def _merged(self, other: Self, model: Self | None) -> Any:
        """The commit record of both; `model` is their ancestor."""
        composition = self._composed()
        merges = composition.traits.merges
        mine, theirs = self.posterior_, other.posterior_
        if merges in IN_ORDER and model is not None:
            return self._continued(other, model)
        base = None if model is None else model.posterior_
        share = self._share_of_means(other, base)
        (state, memory), (_, their_memory) = self._commit.state, other._commit.state
        if memory is None:
            memory = their_memory
        elif their_memory is not None:
            memory = share * memory + (1 - share) * their_memory
        alpha = share * mine.alpha + (1 - share) * theirs.alpha
        if merges == "sum":
            alpha = mine.alpha if np.array_equal(mine.alpha, theirs.alpha) else alpha
            weights = merged_weights(composition.growth, mine, theirs, base)
            posterior = mine.added_to(theirs, base, alpha, weights)
        else:
            forgets = merges == "decayed mean"
            posterior = mine.averaged_with(theirs, base, forgets=forgets, alpha=alpha)
        if not posterior.is_learnt_from(mine, theirs):
            raise ValueError(NO_ANCESTOR)
        return replace(self._commit, posterior=posterior, state=(state, memory))

    def _share_of_means(self, other: Self, base: Any) -> float:
        """Weight of this model's alpha, by minibatches; that of one if the other learnt none."""
        knows = [model._commit.state[1] is not None for model in (self, other)]
        if knows[0] != knows[1]:
            return float(knows[0])
        before = 0 if base is None else base.n_batches
        own = [model.posterior_.n_batches - before for model in (self, other)]
        return own[0] / sum(own) if sum(own) > 0 else 0.5

    def _check_ancestor(self, base: Self, other: Self) -> None:
        composition = self._composed()
        adds = composition.traits.merges == "sum" and composition.growth == 1
        for model in (self, other):
            mine, shared = model.posterior_, base.posterior_
            if not (mine.continues(shared) if adds else mine.follows(shared)):
                raise ValueError(NO_ANCESTOR)

    def _check_places(self, name: str) -> None:
        """Refuse to merge where a topic has no place of its own, or is an average."""
        if self._composed().schedule.averaging is not None:
            raise ValueError(
                f"{name} averages its iterates, which cannot be merged; learn "
                "without averaging in schedule"
            )

    def _check_mergeable(self, name: str, model: object) -> None:
        if type(model) is not type(self):
            raise TypeError(
                f"{name} must be a {type(self).__name__} like the model it is merged into; "
                f"got {type(model).__name__}"
            )
        check_is_fitted(model, msg=f"{name} has learnt nothing yet, which is needed for merge")
        try:
            model._validate(model._commit)
        except (TypeError, ValueError) as error:
            error.args = (f"{name}: {error}",)
            raise
        model._check_places(name)
        mine, theirs = self.posterior_, model.posterior_
        merges = [one._composed().traits.merges for one in (self, model)]
        names = [getattr(one, "feature_names_in_", np.empty(0)) for one in (self, model)]
        learns = self._composed().doc_topic != FIXED
        same_words = np.array_equal(mine.eta, theirs.eta) and np.array_equal(mine.xi, theirs.xi)
        for same, what in (
            (merges[0] == merges[1], "way to merge, by its rule"),
            (mine.shape == theirs.shape, "number of features or of topics"),
            (np.array_equal(names[0], names[1]), "set of feature names"),
            (
                np.array_equal(mine.prior_directions, theirs.prior_directions),
                "kind of vectors, or of vectors of names",
            ),
            (same_words and (learns or np.array_equal(mine.alpha, theirs.alpha)), "prior"),
        ):
            if not same:
                raise ValueError(
                    f"{name} has another {what}; only models of the same can be merged; start both "
                    "with the same parameters, priors as numbers or arrays, over one vocabulary"
                )
