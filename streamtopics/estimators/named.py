# SPDX-License-Identifier: BSD-3-Clause
"""Estimators of methods that have a name: `StreamingLDA` with a rule that is fixed."""

from __future__ import annotations

from dataclasses import replace
from inspect import signature
from typing import Any, Self

from streamtopics.base.composition import Composition
from streamtopics.base.glossary import documented
from streamtopics.checks import check_one_of
from streamtopics.estimators.presets import PRESETS
from streamtopics.estimators.streaming_lda import StreamingLDA
from streamtopics.local import LocalStep, OneTopic, Variational
from streamtopics.models.views import geometric_mean, mean
from streamtopics.updates import MeanDecay, OnlineEM
from streamtopics.updates.rule import Rule


@documented
class NamedLDA(StreamingLDA):
    """Base of the classes of `StreamingLDA` whose rule is that of a publication."""

    _doc_topic_mass = 10.0
    view: Any
    local_tol: float
    max_local_iter: int

    @classmethod
    def preset(cls, name: str, n_components: int = 10, **parameters: Any) -> Self:
        """Return the estimator with the settings of its source.

        Parameters
        ----------
        name : str
            Of the class, which is a row of `streamtopics.estimators.presets.PRESETS`.
            ``StreamingLDA.preset`` makes the same of it.
        n_components : int, default=10
            Number of topics.
        **parameters : dict
            Other parameters than the preset's.

        Returns
        -------
        model : object
            Of this class.
        """
        check_one_of([kind.__name__ for kind in cls.__mro__ if kind.__name__ in PRESETS], name=name)
        row, known = PRESETS[name], signature(cls).parameters
        own = {k: v for k, v in (row.parameters | row.of_class).items() if k in known}
        return cls(n_components, **own).set_params(**parameters)

    def _rule(self) -> Rule:
        """The rule, of the parameters as they are now."""
        raise NotImplementedError

    def _parts(self) -> dict[str, Any]:
        return super()._parts() | {"update": self._rule()}

    def _own(self, inference: LocalStep) -> LocalStep:
        own = Variational(self.local_tol, self.max_local_iter)
        return own if isinstance(inference, Variational) else inference

    def _composition(self) -> Composition:
        found = super()._composition()
        if found.view is None:  # As the sources have it.
            bounded = "local_bound" in getattr(found.inference, "reports", ())
            found = replace(found, view=geometric_mean if bounded else mean)
        return found


class OnlineEMLDA(NamedLDA):
    """Base of online EM, which reads documents by one local step unless they are short."""

    _doc_topic_mass = 3.0
    kappa: float
    tau: float
    update_each_sweep: bool

    def _rule(self) -> Rule:
        return OnlineEM(MeanDecay(self.kappa, self.tau))

    def _parts(self) -> dict[str, Any]:
        return super()._parts() | {"view": "auto"}

    def _sweeps(self, n_sweeps: int) -> LocalStep:
        """The local step with so many sweeps."""
        raise NotImplementedError

    @property
    def _n_sweeps(self) -> int:
        raise NotImplementedError

    def _own(self, inference: LocalStep) -> LocalStep:
        if self.update_each_sweep:
            return self._sweeps(1)
        return inference if isinstance(inference, OneTopic) else self._sweeps(self._n_sweeps)

    def _composition(self) -> Composition:
        found = super()._composition()
        doc_topic: Any = found.doc_topic
        if hasattr(doc_topic, "step_size"):
            step_size = MeanDecay(self.kappa, self.tau)
            found = replace(found, doc_topic=replace(doc_topic, step_size=step_size))
        if not self.update_each_sweep:
            return found
        return replace(found, n_rounds=self._n_sweeps, n_start_rounds=1, warm_rounds=True)
