# SPDX-License-Identifier: BSD-3-Clause
"""The format of files, and how those of earlier formats become what this one reads.

A new format has the next number and one function here, which makes a description of the one
before into its own. A class that moves or is renamed keeps its name in files: see `RENAMED`; a
parameter, attribute or field that is renamed has its earlier name in `RENAMED_FIELDS`. A new one
needs nothing if its default is what was done before. A field that is gone is left out
if it has the value in `GONE_FIELDS`, and refused if it has another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FORMAT = 1
# By format, what makes a description of it one of the next.
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
# Names in files of what is called otherwise now, as in `known`.
RENAMED: dict[str, str] = {}
# By the present name of a class, what its attributes are called in earlier files, and now.
LOCAL_TOL = {"tol": "local_tol"}
RENAMED_FIELDS: dict[str, dict[str, str]] = {
    "streamtopics.estimators.aspect_sentiment.AspectSentimentModel": {
        **LOCAL_TOL, "local_step": "inference",
    },
    "streamtopics.estimators.bps_lda.BPSLDA": LOCAL_TOL,
    "streamtopics.estimators.multi_view_lda.MultiViewLDA": LOCAL_TOL,
    "streamtopics.estimators.svb_hpp.SVBHPP": LOCAL_TOL,
    "streamtopics.estimators.svb_lda.SVBLDA": LOCAL_TOL,
    "streamtopics.estimators.variational_online_em.VariationalOnlineEM": LOCAL_TOL,
    "streamtopics.streams.callbacks.EarlyStopping": {"tolerance": "tol"},
    "streamtopics.streams.tracking.tracker.TopicTracker": {"n_documents": "max_documents"},
    "streamtopics.updates.window.Window": {"length": "n_minibatches"},
}  # fmt: skip

# By a class, its and its subclasses' fields in earlier files that are gone, and their default.
GONE_FIELDS: dict[str, dict[str, Any]] = {"streamtopics.base.frame.Commit": {"uncounted": (0, 0.0)}}


def upgraded(description: dict[str, Any], format_number: int) -> dict[str, Any]:
    """Return a description of an earlier format as one of the present format."""
    for number in range(format_number, FORMAT):
        description = UPGRADES[number](description)
    return description


def renamed_fields(kind: type, state: dict[str, Any]) -> dict[str, Any]:
    """Return attributes of an object of a class by their present names."""
    places = [f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__]
    names = RENAMED_FIELDS.get(places[0], {})
    gone = {k: v for place in places for k, v in GONE_FIELDS.get(place, {}).items()}
    kept = {k: v for k, v in state.items() if k not in gone or v != gone[k]}
    return {names.get(name, name): value for name, value in kept.items()}
