# SPDX-License-Identifier: BSD-3-Clause
"""Estimators of methods that have a name: `StreamingLDA` with a rule that is fixed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from streamtopics.base.composition import Composition
from streamtopics.estimators.streaming_lda import StreamingLDA
from streamtopics.local import LocalStep, OneTopic, Variational
from streamtopics.updates import MeanDecay, OnlineEM, Rule


class BayesianLDA(StreamingLDA):
    """Base of the classes with a posterior of the topics, by variational Bayes in the source."""

    def _composition(self) -> Composition:
        found = super()._composition()
        if isinstance(found.inference, Variational):
            found = replace(found, transform_inference=found.inference)
        return found


class OnlineEMLDA(StreamingLDA):
    """Base of online EM, which reads documents by one local step unless they are short."""

    kappa: float
    tau: float
    update_each_sweep: bool
    view = "auto"
    # The parameter that has the number of sweeps.
    _sweeps_in: str

    def _rule(self) -> Rule:
        return OnlineEM(MeanDecay(self.kappa, self.tau))

    def _sweeps(self, n_sweeps: int) -> LocalStep:
        """The local step with so many sweeps."""
        raise NotImplementedError

    def _local_step(self) -> Any:
        suited = super()._local_step()
        if isinstance(suited, OneTopic) and not self.update_each_sweep:
            return suited
        return self._sweeps(1 if self.update_each_sweep else getattr(self, self._sweeps_in))

    def _composition(self) -> Composition:
        found = super()._composition()
        doc_topic: Any = found.doc_topic
        if hasattr(doc_topic, "step_size"):
            doc_topic = replace(doc_topic, step_size=MeanDecay(self.kappa, self.tau))
            found = replace(found, doc_topic=doc_topic)
        if self.update_each_sweep:
            n_rounds = getattr(self, self._sweeps_in)
            rounds = replace(found.schedule, n_rounds=n_rounds, n_start_rounds=1, warm_rounds=True)
            found = replace(found, schedule=rounds)
        return found
