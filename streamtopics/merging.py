# SPDX-License-Identifier: BSD-3-Clause
"""Models that learnt from different parts of a stream, made one."""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from streamtopics.updates.doc_topic import FIXED


class Mergeable:
    """Adds `merge` to an estimator whose posterior is a sum or a running mean."""

    _keeps_means = False

    @property
    def _forgets_nothing(self) -> bool:
        return True

    def merge(self, other: Self, *, base: Self | None = None) -> Self:
        """Take in what another model has learnt.

        The posteriors are added and what both share is subtracted once: the
        prior, or all of `base`. The order in which several models are merged
        does not matter. Topics are matched by position, so the models must have
        started alike: from copies of one model that has seen a first part of
        the stream (pass that one as `base`), or, less reliably, from the same
        integer `random_state`.

        Running means of statistics, as online EM keeps them, are averaged by the
        number of minibatches; exactly if none is forgotten (kappa of 1). Else they are
        averaged by the documents that each stands for, so that what is left of
        `base` in both counts twice.

        Parameters
        ----------
        other : object
            A fitted estimator of the same class, prior and features.
        base : object or None, default=None
            The common ancestor, when it had already learnt something: what it knows
            is in both models and would count twice.

        Returns
        -------
        self : object
            This estimator, changed in place; `other` and `base` stay as they were.

        Raises
        ------
        TypeError
            If the classes differ.
        ValueError
            If the numbers of topics or features, the feature names, the priors or the
            seeds differ, or `base` is not an ancestor of both.
        """
        check_is_fitted(self)
        self._check_mergeable("this model", self)
        self._check_mergeable("other", other)
        if base is not None:
            self._check_mergeable("base", base)
            for model in (self, other):
                mine, shared = model.posterior_, base.posterior_
                if not (mine.follows(shared) if self._keeps_means else mine.continues(shared)):
                    raise ValueError(
                        "base must be the model that both others were copied from, but one of "
                        "them has not learnt all that base has"
                    )
        if self.seed_ != other.seed_ and self.n_components > 1:
            raise ValueError(
                "other started from other random topics, so its topics are not these; start both "
                "from one integer random_state, or from copies of one model and pass it as base"
            )
        shared = None if base is None else base.posterior_
        if self._keeps_means:
            self.posterior_.pool(other.posterior_, shared, forgets=not self._forgets_nothing)
        else:
            self.posterior_.absorb(other.posterior_, shared)
        return self

    def _check_mergeable(self, name: str, model: Any) -> None:
        if type(model) is not type(self):
            raise TypeError(
                f"{name} must be a {type(self).__name__} like the model it is merged into; "
                f"got {type(model).__name__}"
            )
        check_is_fitted(model)
        if hasattr(model, "average_"):
            raise ValueError(
                f"{name} averages its iterates, which cannot be merged; learn with averaging=False"
            )
        mine, theirs = self.posterior_, model.posterior_
        if mine.shape != theirs.shape:
            raise ValueError(
                f"{name} must have the same features and topics; it has (n_features, n_components) "
                f"= {theirs.shape}, this model {mine.shape}"
            )
        names = [getattr(m, "feature_names_in_", np.empty(0)) for m in (self, model)]
        if not np.array_equal(*names):
            raise ValueError(f"{name} was fitted on other feature names; use one vocabulary")
        learnt_alpha = self._doc_topic_update() != FIXED
        same_alpha = learnt_alpha or np.array_equal(mine.alpha, theirs.alpha)
        same_words = np.array_equal(mine.eta, theirs.eta) and np.array_equal(mine.xi, theirs.xi)
        if not (same_words and same_alpha):
            raise ValueError(f"{name} has another prior; only models that share one can be merged")
