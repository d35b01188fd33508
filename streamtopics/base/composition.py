# SPDX-License-Identifier: BSD-3-Clause
"""A method of learning topics: a rule, a local step, a view, and the pieces around a rule.

Each part declares what it needs and what it offers; `check_contracts` refuses a mismatch by
the names of both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from streamtopics.local import Gibbs, LocalStep, Variational
from streamtopics.models import LDA
from streamtopics.models.views import TopicView, geometric_mean, mean
from streamtopics.posteriors import Blend
from streamtopics.updates import (
    BPS,
    SVB,
    HierarchicalPowerPrior,
    MeanDecay,
    OnlineEM,
    PopulationVB,
    PowerPrior,
    StochasticVI,
)
from streamtopics.updates.doc_topic import (
    FIXED,
    DocTopicUpdate,
    Fixed,
    FixedPoint,
    GammaPrior,
    LearnsDocTopicPrior,
)
from streamtopics.updates.rule import Rounds, Rule

UPDATES = {
    "online_em": OnlineEM(),
    "svb": SVB(),
    "bps": BPS(0.1),
    "power_prior": PowerPrior(0.9),
    "hpp": HierarchicalPowerPrior(),
    "mhpp": HierarchicalPowerPrior("topic"),
    "population_vb": PopulationVB(10_000, 0.1),
    "svi": StochasticVI(),
}
INFERENCE = {"gibbs": Gibbs(), "variational": Variational()}
VIEWS = {"mean": mean, "geometric_mean": geometric_mean}
DOC_TOPIC_UPDATES = {"fixed": Fixed(), "fixed_point": FixedPoint(), "gamma": GammaPrior()}
Averaging = Literal["linear", "uniform"] | None

REMEDIES = {
    "log_theta": 'doc_topic_prior_update="fixed", or another inference',
    "local_bound": "a single rate start, or variational inference with view='geometric_mean'",
}


@dataclass(frozen=True)
class Composition:
    """The parts of a method.

    Attributes
    ----------
    update : Rule
        How the posterior takes in a minibatch.
    inference : LocalStep
        How the topics of a minibatch's documents are found in learning.
    view : TopicView
        What it sees of the topics.
    transform_inference : LocalStep or None
        How the topics of given documents are found; None is a thorough `inference`.
    doc_topic : DocTopicUpdate
        How the documents' prior is learnt.
    n_rounds, n_start_rounds : int
        Rounds in each minibatch, and in each of the first three.
    warm_rounds : bool
        Whether a further round goes on from where the last one left the documents.
    averaging : {"linear", "uniform"} or None
        Weights of the iterates whose average the topics are; None for the last one.
    """

    update: Rule
    inference: LocalStep
    view: TopicView
    transform_inference: LocalStep | None = None
    doc_topic: DocTopicUpdate = FIXED
    n_rounds: int = 1
    n_start_rounds: int = 1
    warm_rounds: bool = False
    averaging: Averaging = None

    @cached_property
    def rule(self) -> Rounds:
        """The rule with all pieces around it."""
        learns = LearnsDocTopicPrior(self.update, self.doc_topic)
        return Rounds(learns, self.n_rounds, self.n_start_rounds, warm=self.warm_rounds)

    def model(self, seed: int) -> LDA:
        """The local side of the method."""
        found = self.transform_inference or self.inference.thorough()
        return LDA(self.view, self.inference, found, seed, self.rule.needs & self.inference.reports)


def bayesian(estimator: Any, update: Rule) -> Composition:
    """The composition of an estimator with a posterior of the topics, of its parameters."""
    inference, view = estimator.inference, estimator.view
    if isinstance(inference, str) and inference in INFERENCE:
        own = {"variational": Variational(estimator.tol, estimator.max_local_iter)}
        inference = (INFERENCE | own)[inference]
    if view is None:
        bounded = "local_bound" in getattr(inference, "reports", ())
        view = "geometric_mean" if bounded else "mean"
    return Composition(
        update,
        inference,
        word(VIEWS, view),
        inference if isinstance(inference, Variational) else None,
        word(DOC_TOPIC_UPDATES, estimator.doc_topic_prior_update),
        getattr(estimator, "n_rounds", 1),
        estimator.n_start_rounds,
    )


def of_online_em(
    estimator: Any, inference: LocalStep, n_sweeps: int, n_start_rounds: int
) -> Composition:
    """The composition of an estimator of online EM, of its parameters."""
    step_size = MeanDecay(estimator.kappa, estimator.tau)
    doc_topic = word(DOC_TOPIC_UPDATES, estimator.doc_topic_prior_update)
    if hasattr(doc_topic, "step_size"):
        doc_topic = replace(doc_topic, step_size=step_size)
    each_sweep = estimator.update_each_sweep
    return Composition(
        OnlineEM(step_size),
        inference,
        mean,
        doc_topic=doc_topic,
        n_rounds=n_sweeps if each_sweep else 1,
        n_start_rounds=1 if each_sweep else n_start_rounds,
        warm_rounds=each_sweep,
        averaging=estimator.averaging,
    )


def word(options: dict[str, Any], value: Any) -> Any:
    """The record that a word stands for, or the value itself."""
    return options.get(value, value) if isinstance(value, str) else value


def check_contracts(composition: Composition, posterior: Any) -> None:
    """Refuse parts that do not fit each other, or a kind of posterior."""
    _check_kind("update", composition.update, Rule, UPDATES, "PowerPrior(0.9)")
    for name in ("inference", "transform_inference"):
        step = getattr(composition, name)
        if step is not None or name == "inference":
            _check_kind(name, step, LocalStep, INFERENCE, "Gibbs(n_sweeps=10)")
    view, doc_topic = composition.view, composition.doc_topic
    if isinstance(view, type) or not (callable(view) and hasattr(view, "keeps_bound")):
        raise TypeError(
            f"view must be one of {list(VIEWS)}, or a view of your own: a record with "
            "__call__(rows, mass, out) and the class attribute keeps_bound, which is False unless "
            f"the bound of variational Bayes holds for its weights; got {view!r}"
        )
    steps_alpha = callable(getattr(doc_topic, "step", None)) and not isinstance(doc_topic, Rule)
    if isinstance(doc_topic, type) or not steps_alpha:
        raise TypeError(
            f"doc_topic_prior_update must be one of {sorted(DOC_TOPIC_UPDATES)} or a record of "
            f"streamtopics.updates such as FixedPoint(); got {doc_topic!r}"
        )
    check_needs(composition, posterior)
    check_averageable(composition)


def check_needs(composition: Composition, posterior: Any) -> None:
    """Refuse a rule that needs what neither the posterior nor the local step has."""
    rule, inference, view = composition.rule, composition.inference, composition.view
    reports = set(inference.reports)
    if not view.keeps_bound:
        reports.discard("local_bound")
    for need in sorted(rule.needs - posterior.offers - reports):
        lacking = f"{posterior.__name__} does not offer"
        if need in ("log_theta", "local_bound"):
            by_view = need in inference.reports
            part = type(view if by_view else inference).__name__
            lacking = f"{part} does not {'keep' if by_view else 'report'}"
        remedy = REMEDIES.get(need, "another update")
        own = need in composition.update.needs
        asking = composition.update if own else composition.doc_topic
        raise ValueError(
            f"{type(asking).__name__} as set here needs {need!r}, which {lacking}; use {remedy}"
        )


def check_averageable(composition: Composition, blend: Blend | None = None) -> None:
    """Refuse an average of iterates that the rule, or a blend of it, does not allow."""
    alike = composition.update.retains_alike
    if blend is not None:
        alike = alike and blend.noise is None and not np.ndim(blend.retain)
    if composition.averaging is not None and not alike:
        raise ValueError(
            f"{type(composition.update).__name__} as set here retains another share of each topic, "
            f"or adds noise, which averaging={composition.averaging!r} does not allow; use another "
            "update, or averaging=None"
        )


def _check_kind(name: str, value: Any, kind: type, words: dict[str, Any], example: str) -> None:
    if isinstance(value, type) or not isinstance(value, kind):
        got = f"the class {value.__name__}" if isinstance(value, type) else repr(value)
        raise TypeError(
            f"{name} must be one of {list(words)}, a record such as {example}, or one of your own "
            f"that derives from {kind.__name__}; got {got}"
        )
