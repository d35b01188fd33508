# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a model: those that make counts of documents, and the estimator of topics.

A model is an estimator, or a pipeline that ends in one, of scikit-learn or of `streamtopics.text`.
Steps of a pipeline may be pipelines; these are taken apart.
"""

from typing import Any


def steps_of(model: Any) -> list[tuple[str, Any]]:
    """Names and steps of a model in order, each step a single one; a model alone is one step."""
    found: list[tuple[str, Any]] = []
    for name, step in getattr(model, "steps", ()):
        found += steps_of(step) if hasattr(step, "steps") else [(name, step)]
    return found or [(type(model).__name__, model)]


def last_step(model: Any) -> Any:
    """The last step: of a topic model, the estimator of topics."""
    return steps_of(model)[-1][1]


def steps_before(model: Any) -> list[tuple[str, Any]]:
    """Names and steps before the last one, without those that change nothing."""
    before = steps_of(model)[:-1]
    return [(name, step) for name, step in before if step is not None and step != "passthrough"]


def counted(model: Any, documents: Any) -> Any:
    """Documents as the last step of a model is given them: counts, where these are texts."""
    for _, step in steps_before(model):
        documents = step.transform(documents)
    return documents


def names_of(model: Any) -> Any:
    """Words of the columns that the last step is given, or None where they are not known."""
    before = steps_before(model)
    if not before:
        return getattr(last_step(model), "feature_names_in_", None)
    names = None
    for _, step in before:
        names = (
            step.get_feature_names_out(names) if hasattr(step, "get_feature_names_out") else None
        )
    return names
