# SPDX-License-Identifier: BSD-3-Clause
"""The methods that all checks are made for: each row of the table of presets, and each class."""

from collections.abc import Iterable
from typing import Any

from streamtopics import GuidedTopics, StreamingLDA, estimators
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.estimators.hdp import HDPModel
from streamtopics.estimators.presets import PLAIN as WHOLE
from streamtopics.estimators.presets import PRESETS
from streamtopics.local import Gibbs

# So that a check of a row takes no longer than one of the others.
QUICKER: dict[str, dict[str, Any]] = {
    "LangevinLDA": {"inference__n_sweeps": 6, "update__n_documents": 700},
    "SinglePassLDA": {"schedule__n_rounds": 4},
    "StreamingGibbsLDA": {"inference__n_sweeps": 10},
    "PopulationVBLDA": {"update__population_size": 500},
    "StreamingMixture": {"max_iter": 1},
}
# `StreamingLDA` as its parts alone make it, with none of the pieces around them.
PLAIN: dict[str, Any] = {
    "inference": "gibbs",
    "view": "mean",
    "doc_topic_prior_update": "fixed_point",
    "topic_word_prior": 0.005,
    "schedule": WHOLE,
    "start": "noise",
    "max_iter": 1,
}
# The classes of topics of counts; those of the HDP, and with names, have checks of their own.
CLASSES: dict[str, type[StreamingTopicModel]] = {
    name: found
    for name in estimators.__all__
    if issubclass(found := getattr(estimators, name), StreamingTopicModel)
    and found is not StreamingLDA
    and not issubclass(found, GuidedTopics | HDPModel)
}


def rows(n_components: int = 7, **parameters: Any) -> list[StreamingTopicModel]:
    """Each row of the table as an estimator, and what is made without one."""
    presets = [
        StreamingLDA.preset(name, n_components, **QUICKER.get(name, {}) | parameters)
        for name in PRESETS
    ]
    # As `partial_fit` has it, also where `fit` has few documents.
    own = {"max_iter": 1, "topic_word_prior": 0.02}
    return [*presets, StreamingLDA(n_components, **own | parameters)]


def name_of(estimator: StreamingTopicModel) -> str:
    """The class, or the rule, of an estimator, and its number of topics."""
    name = type(estimator).__name__
    if type(estimator) is StreamingLDA:
        parts = estimator._composition()
        name = f"{type(parts.update).__name__}-{type(parts.inference).__name__}"
    return f"{name}-{estimator.n_components}"


def by_merging(
    estimators: Iterable[StreamingTopicModel], *kinds: str | None
) -> list[StreamingTopicModel]:
    """Those whose posteriors are made one in one of these ways."""
    return [e for e in estimators if e._composition().rule.traits.merges in kinds]


def is_sampled(estimator: StreamingTopicModel) -> bool:
    """Whether rounding decides which topics are drawn."""
    parts = estimator._composition()
    return isinstance(parts.inference, Gibbs) or "noise" in parts.rule.traits.needs
