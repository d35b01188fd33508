# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a model: an estimator, or a pipeline with nested or frozen steps."""

from typing import Any

from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline

from streamtopics.utils.structure import from_arrow


def steps_of(model: object) -> list[tuple[str, Any]]:
    """Names and single steps of a model in order; steps of a frozen pipeline are frozen."""
    found: list[tuple[str, Any]] = []
    for name, step in getattr(model, "steps", ()):
        if is_frozen(model) and not _is_idle(step):
            step = FrozenEstimator(step)
        inner = steps_of(step)
        found += [(name, step)] if inner == [(type(step).__name__, step)] else inner
    return found or [(type(model).__name__, model)]


def last_step(model: object) -> Any:
    """The last step for reading, usually the topic model, also out of a frozen step."""
    return unwrap(steps_of(model)[-1][1])


def steps_before(model: object) -> list[tuple[str, Any]]:
    """Names and steps before the last, without "passthrough"."""
    return [(name, step) for name, step in steps_of(model)[:-1] if not _is_idle(step)]


def counted(model: object, documents: Any) -> Any:
    """Documents in the form for the last step: texts become counts."""
    documents = from_arrow(documents)
    for _, step in steps_before(model):
        documents = step.transform(documents)
    return documents


def names_of(model: object) -> Any:
    """Words of the columns for the last step, or None if unknown."""
    before = steps_before(model)
    names = None if before else getattr(last_step(model), "feature_names_in_", None)
    for _, step in before:
        names_out = getattr(step, "get_feature_names_out", None)
        names = None if names_out is None else names_out(names)
    return names


def as_found(model: object) -> Any:
    """The model, with the best estimator in place of a fitted search as last step."""
    best = getattr(last_step(model), "best_estimator_", None)
    return model if best is None else as_found(Pipeline([*steps_before(model), ("best", best)]))


def is_frozen(step: object) -> bool:
    """Whether a step never learns (scikit-learn's `FrozenEstimator`)."""
    return isinstance(step, FrozenEstimator)


def unwrap(step: Any) -> Any:
    return unwrap(step.estimator) if is_frozen(step) else step


def learns(step: object) -> bool:
    return hasattr(step, "partial_fit") and not is_frozen(step)


def check_not_frozen(model: object) -> None:
    if is_frozen(steps_of(model)[-1][1]):
        raise TypeError(f"model must learn, but its last step is frozen: {model!r:.80}")


def _is_idle(step: object) -> bool:
    return step is None or step == "passthrough"
