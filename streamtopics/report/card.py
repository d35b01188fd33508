# SPDX-License-Identifier: BSD-3-Clause
"""The model's card: its parameters, what it has seen, scores and versions."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from numbers import Real
from typing import Any

import numpy as np

import streamtopics
from streamtopics.report.source import Source
from streamtopics.report.words import shortened
from streamtopics.utils.steps import steps_before
from streamtopics.utils.structure import total
from streamtopics.utils.times import Periods

LONGEST_VALUE = 200
MOST_SCORES, MOST_POINTS = 20, 200
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True)
class Score:
    """A figure, or one figure after each of several minibatches.

    Attributes
    ----------
    name : str
    values : list of float or None
        None where there was nothing to score; the last `MOST_POINTS`.
    """

    name: str
    values: list[float | None]


def card(
    source: Source, periods: Periods | None, date: str | None, intake: Mapping[str, str] | None
) -> list[tuple[str, list[tuple[str, str]]]]:
    """Sections of names and values, without what differs between runs."""
    model = source.model
    seen = {
        "Documents learnt from, in all passes": getattr(model, "n_documents_seen_", None),
        "Tokens learnt from, in all passes": getattr(model, "n_tokens_seen_", None),
        "Minibatches": getattr(model, "n_batch_iter_", None),
        "Topics": len(source.weights),
        "Columns (words)": len(source.names),
    }
    sections = [
        ("Model", [("Class", type(model).__name__), *_parameters(model)]),
        ("What it has learnt from", [(k, _number(v)) for k, v in seen.items() if v is not None]),
        ("Read and left out", _intake(intake)),
        ("Documents of this report", _documents(source, periods)),
        ("Versions", _versions()),
    ]
    if source.pipeline is not None:
        steps = [(name, _value(step)) for name, step in steps_before(source.pipeline)]
        sections.insert(1, ("Steps before it", steps))
    if date is not None:
        sections.append(("Report", [("Date", date)]))
    return [(name, rows) for name, rows in sections if rows]


def scores_of(scores: Mapping[str, Any] | None) -> list[Score]:
    """Named figures, or sequences of figures along a stream."""
    if scores is None:
        return []
    if not isinstance(scores, Mapping):
        raise TypeError(
            "scores must be a mapping of names to numbers or to sequences of numbers, such as "
            f"{{'held-out score': -6.8}}; got {scores!r:.60}"
        )
    found = []
    for name, value in list(scores.items())[:MOST_SCORES]:
        values = np.atleast_1d([value] if isinstance(value, Real) else np.asarray(value))
        if values.ndim != 1 or values.dtype.kind not in "iufb" or not len(values):
            raise TypeError(
                f"scores[{name!r}] must be a number or a sequence of numbers; got {value!r:.60}"
            )
        last = [float(f"{v:.6g}") if np.isfinite(v) else None for v in values[-MOST_POINTS:]]
        found.append(Score(shortened(str(name), LONGEST_VALUE), last))
    return found


def _intake(intake: Mapping[str, str] | None) -> list[tuple[str, str]]:
    if intake is not None and not isinstance(intake, Mapping):
        raise TypeError(
            "intake must be a mapping of names to texts, such as {'Documents read': '1,200'}; got "
            f"{intake!r:.60}"
        )
    return [(str(name), str(value)) for name, value in (intake or {}).items()]


def _parameters(estimator: Any) -> list[tuple[str, str]]:
    return [(name, _value(value)) for name, value in sorted(estimator.get_params(False).items())]


def _value(value: Any) -> str:
    """A parameter, in one line, without addresses of memory."""
    if isinstance(value, np.ndarray) or hasattr(value, "nnz"):
        return f"{type(value).__name__} of shape {value.shape}"
    return shortened(ADDRESS.sub("", " ".join(repr(value).split())), LONGEST_VALUE)


def _number(value: float) -> str:
    return f"{value:,.0f}"


def _documents(source: Source, periods: Periods | None) -> list[tuple[str, str]]:
    if source.documents is None:
        return []
    rows = [
        ("Documents", _number(source.counts.shape[0])),
        ("Tokens", _number(total(source.counts))),
    ]
    if periods is not None:
        rows += [("First period", periods.labels[0]), ("Last period", periods.labels[-1])]
    return rows


def _versions() -> list[tuple[str, str]]:
    found = [("streamtopics", streamtopics.__version__), ("Python", platform.python_version())]
    for name in ("numpy", "scipy", "scikit-learn"):
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found
