# SPDX-License-Identifier: BSD-3-Clause
"""Merging of models that learnt from different parts of a stream."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import StreamingEstimator
from streamtopics.updates.composite import Composite, apply_composite
from streamtopics.updates.doc_topic import FIXED
from streamtopics.updates.drift import kept_records
from streamtopics.updates.rule import merged_weights
from streamtopics.utils.parallel import held, lock_of


def _merges(estimator: Any) -> bool:
    estimator._validate()
    rule = estimator._composed().update
    if rule.traits.merges is None:
        raise AttributeError(
            f"{rule} does not define merging (`merges` is None); use a rule such as SVB() or "
            "OnlineEM()"
        )
    return True


class Mergeable(StreamingEstimator):
    _composed: Callable[[], Any]
    _n_features_out: int

    @available_if(_merges)
    def merge(self, other: Self, *, base: Self | None = None) -> Self:
        """Merge another model, for example of a different part of a stream, into this model.

        Topics are matched by row, so the models must have started alike: as copies of one model,
        passed as `base`, or, less reliably, from one integer `random_state`. The prior, or all of
        `base`, counts once. Counts are added, and running means without forgetting are averaged.
        If the rule forgets, minibatches of `other` since `base` count as learnt after this model's.

        Parameters
        ----------
        other : object
            A fitted estimator of the same class, prior and features.
        base : object or None, default=None
            The model of which both models were copies, if it had learnt before.

        Returns
        -------
        self : object
            This estimator, changed in place.
        """
        # In a fixed order against deadlocks; other objects than estimators are refused below.
        known = {id(e): e for e in (self, other, base) if isinstance(e, StreamingEstimator)}
        with held([lock_of(known[number]) for number in sorted(known)]):
            for name, model in (("this model", self), ("other", other), ("base", base)):
                if model is not None or name == "other":
                    self._check_mergeable(name, model)
            composition = self._composed()
            if base is not None:
                adds = composition.traits.merges == "sum" and composition.growth == 1
                shared = base.posterior_
                for mine in (self.posterior_, other.posterior_):
                    _check_ancestor(mine.is_extension_of(shared) if adds else mine.is_after(shared))
            several = self._n_features_out > 1
            apart = several and (base is None or base.posterior_.knows_nothing)
            trouble = ""
            if several and self.seed_ != other.seed_:
                trouble = "other started from other random topics, so its topics are not these"
            elif base is None and composition.traits.merges == "in order":
                trouble = f"{composition.update} takes in what was learnt since both were one model"
            elif apart and not all(m._commit.update.start.of_seed for m in (self, other)):
                # Of the common start, whatever the parameter is now.
                trouble = "a model started from documents of its own, so the topics differ"
            if trouble:
                raise ValueError(
                    f"{trouble}; start both from copies of one learnt model, and pass this model "
                    "as base"
                )
            self._commit = replace(self._merged(other, base), begun=None)
        return self

    def _merged_after(self, other: Self, base: Self) -> Any:
        """The commit record with the other's minibatches after the own."""
        theirs, old = other._commit, base._commit
        if theirs.posterior.n_batches == old.posterior.n_batches:
            return self._commit
        composition = theirs.update
        parts = composition.update.for_part(0.5, first=False)
        if composition.inner_batch_size is not None and parts != composition.update:
            raise ValueError(
                f"{composition.update} forgets at each part of a minibatch, but the number of "
                "parts learnt by other is unknown; learn with schedule=Schedule(None), or a rule "
                "such as SVB() or PowerPrior(Memory(20_000))"
            )
        posterior, before = deepcopy(self.posterior_), old.posterior.counters
        kept, _ = composition.rule.decay(before, theirs.posterior.counters)
        blend = theirs.posterior.since(old.posterior, kept)
        _check_ancestor(blend.statistics.counts.min(initial=0.0) >= -theirs.posterior._rounded)
        composite = Composite(blend, before, old.posterior.alpha, (old.state, theirs.state))
        blend, state = apply_composite(
            composition.rule, composition.doc_topic, composite, posterior, self._commit.state
        )
        posterior.blend(blend)
        drift, last = self._commit.drift, old.drift[-1].batch if old.drift else 0
        for record in theirs.drift:
            if record.batch > last:
                batch = drift[-1].batch + 1 if drift else record.batch
                drift = kept_records(drift, replace(record, batch=batch))
        return replace(self._commit, posterior=posterior, state=state, drift=drift)

    def _merged(self, other: Self, model: Self | None) -> Any:
        composition = self._composed()
        merges = composition.traits.merges
        if model is not None and merges in ("decayed mean", "in order"):
            return self._merged_after(other, model)
        mine, theirs = self.posterior_, other.posterior_
        base = None if model is None else model.posterior_
        (state, memory), (_, their_memory) = self._commit.state, other._commit.state
        # Weight of this model's alpha, by minibatches; 1 if the other has learnt none.
        before = 0 if base is None else base.n_batches
        own, both = mine.n_batches - before, mine.n_batches + theirs.n_batches - 2 * before
        share = own / both if both > 0 else 0.5
        if (memory is None) != (their_memory is None):
            share = float(memory is not None)
            memory = their_memory if memory is None else memory
        elif memory is not None:
            memory = share * memory + (1 - share) * their_memory
        alpha = share * mine.alpha + (1 - share) * theirs.alpha
        if merges == "sum":
            alpha = mine.alpha if np.array_equal(mine.alpha, theirs.alpha) else alpha
            weights = merged_weights(composition.growth, mine, theirs, base)
            posterior = mine.added_to(theirs, base, alpha, weights)
        else:
            forgets = merges == "decayed mean"
            posterior = mine.averaged_with(theirs, base, forgets=forgets, alpha=alpha)
        _check_ancestor(posterior.is_learnt_from(mine, theirs))
        return replace(self._commit, posterior=posterior, state=(state, memory))

    def _check_places(self, name: str) -> None:
        """Refuse to merge topics without fixed rows, or averages."""
        if self._composed().schedule.averaging is not None:
            raise ValueError(f"{name} averages its iterates, and averages cannot be merged")

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
            raise ValueError(f"{name}: {error}") from error
        model._check_places(name)
        mine, theirs = self.posterior_, model.posterior_
        merges = [one._composed().traits.merges for one in (self, model)]
        names: Any = self._names_seen, model._names_seen
        learns = self._composed().doc_topic != FIXED
        alike = learns or np.array_equal(mine.alpha, theirs.alpha)
        priors = (mine.eta, theirs.eta), (mine.xi, theirs.xi)
        directions = mine.prior_directions, theirs.prior_directions
        for same, what in (
            (merges[0] == merges[1], "way to merge, by its rule"),
            (mine.shape == theirs.shape, "number of features or of topics"),
            (np.array_equal(*names), "set of feature names"),
            (np.array_equal(*directions), "kind of vectors, or of vectors of names"),
            (alike and all(np.array_equal(*pair) for pair in priors), "prior"),
        ):
            if not same:
                raise ValueError(
                    f"{name} has another {what}, so the models cannot be merged; start both with "
                    "equal parameters, priors as numbers or arrays, an integer random_state, and "
                    "one vocabulary"
                )


def _check_ancestor(holds: bool) -> None:
    if not holds:
        raise ValueError(
            "base must be the common ancestor of both models, but one model has learnt less than "
            "base"
        )
