# SPDX-License-Identifier: BSD-3-Clause
"""Estimators that learn by one rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from streamtopics.base.frame import (
    Commit,
    StreamingEstimator,
    check_same,
    check_same_state,
    check_update,
    warn_of_no_boost,
)
from streamtopics.posteriors import Blend, Posterior
from streamtopics.updates.rule import Rule, naming
from streamtopics.utils.parallel import Workers


class LearnsByRule(StreamingEstimator):
    update: Rule | None
    boosted_prior: Any = None

    @property
    def _rule(self) -> Any:
        return self._record("update", self.update)

    def _learner(self, batch: Any, pool: Workers) -> Any:
        """The function `learn` called by the rule."""

    def _check_rule(
        self, before: Commit | None, offers: frozenset[str], name: str, **started: object
    ) -> None:
        check_update(self._rule, offers, name)
        if before is not None:
            check_same(self, **started)
            check_same_state(self._rule, before.update, before.state, before.posterior)

    def _first_commit(self, posterior: Posterior) -> Commit:
        return Commit(posterior, self._rule.init(posterior), 0, self._rule)

    def _learn(self, batch: Any, pool: Workers) -> None:
        commit, rule = self._commit, self._rule
        with naming(rule):
            blend, state = rule.step(commit.posterior, self._learner(batch, pool), commit.state)
        if self.boosted_prior is not None:
            warn_of_no_boost(blend, "an update with a boost, such as PowerPrior(0.9, Boost(0.1))")
        new = replace(commit, state=state, update=rule, **self._reported(blend))
        commit.posterior.blend(blend, [self._swap(new)])

    def _reported(self, blend: Blend) -> dict[str, Any]:
        return {}
