# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of figures along a stream, or by the number of topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.inspection.n_components import NComponentsComparison
from streamtopics.inspection.plots.axes import COLOURS, legend, line, one_axes, plain, several_axes
from streamtopics.utils.checks import check_integer, floats, within_floats
from streamtopics.utils.structure import has_entries

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_curves(
    curves: Mapping[str, ArrayLike],
    *,
    x: ArrayLike,
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
) -> Axes:
    """Draw named curves over the stream, for example of `prior_retention_` or `score`.

    Parameters
    ----------
    curves : mapping of label to values
        All of the length of `x`.
    x : sequence of float
        For example documents seen.
    xlabel, ylabel : str
        What the axes show, with the unit.
    ax : Axes, default=None
        Where to draw.

    Returns
    -------
    ax : Axes

    Raises
    ------
    TypeError
        If `curves` is no mapping.
    ValueError
        If `x` is not 1-D, or a curve is not of its length.
    """
    if not isinstance(curves, Mapping):
        raise TypeError(f"curves must map labels to values, as a dict does; got {curves!r:.60}")
    n = _shape(x, "x")
    if len(n) != 1:
        raise ValueError(f"x must be 1-D; got {x!r:.60}")
    for label, values in curves.items():
        if (found := _shape(values, f"curves[{label!r}]")) != n:
            raise ValueError(f"curves[{label!r}] must have the shape {n} of x; got {found}")
    ax = one_axes(ax)
    for k, (label, values) in enumerate(curves.items()):
        with within_floats(f"x or curves[{label!r}]"):
            ax.plot(x, values, label=label, **line(k))
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    legend(ax, len(curves))
    plain(ax)
    return ax


def _shape(values: Any, name: str) -> tuple[int, ...]:
    try:
        return np.shape(values)
    except ValueError as error:
        raise ValueError(
            f"{name} must be 1-D, but its entries are of several lengths: {values!r:.60}"
        ) from error


def plot_scores(rows: Iterable[Any], *, window: int = 10, ax: Axes | None = None) -> Axes:
    """Draw the test-then-train score along a stream, and its running mean.

    Parameters
    ----------
    rows : iterable
        A row with `n_documents` and `score` for each minibatch, in order, such as the `rows` of a
        `streams.ScoreHistory`.
    window : int, default=10
        Minibatches of the running mean.
    ax : Axes, default=None
        Where to draw.

    Returns
    -------
    ax : Axes

    Raises
    ------
    TypeError
        If rows have no `n_documents` or `score`, or `window` is no integer.
    ValueError
        If there is no row with a score, or `window` is less than 1.
    """
    rows = list(rows) if has_entries(rows) else [rows]
    if not all(hasattr(row, "n_documents") and hasattr(row, "score") for row in rows):
        raise TypeError(
            "rows must have n_documents and score, as the `rows` of a ScoreHistory; got "
            f"{rows!r:.60}"
        )
    pairs = [(row.n_documents, row.score) for row in rows]
    found = np.reshape(floats(pairs, "rows"), (-1, 2))
    check_integer(window=window)
    scored = ~np.isnan(found[:, 1])
    if not scored.any():
        raise ValueError("rows must have a score; got none that is a number")
    seen, scores = np.cumsum(found[:, 0])[scored], found[scored, 1]
    ax = one_axes(ax)
    ax.plot(seen, scores, ".", color=COLOURS[4], markersize=4, label="minibatch")
    ax.plot(
        seen, _running_mean(scores, window), color=COLOURS[0], label=f"mean of {window} minibatches"
    )
    ax.set_xlabel("documents seen")
    ax.set_ylabel("score before learning (nats per held-out token)")
    legend(ax, 2)
    plain(ax)
    return ax


def _running_mean(values: np.ndarray, window: int) -> np.ndarray:
    """Mean of each value and those before it, at most `window` of them."""
    window = min(window, len(values))
    # Infinities of both signs have no mean.
    with np.errstate(invalid="ignore"):
        full = np.lib.stride_tricks.sliding_window_view(values, window).mean(axis=1)
        first = np.cumsum(values[: window - 1]) / np.arange(1, window)
    return np.concatenate([first, full])


def plot_n_components(found: NComponentsComparison, *, ax: Any = None) -> np.ndarray:
    """Draw what `compare_n_components` found, by the number of topics.

    Parameters
    ----------
    found : NComponentsComparison
        As returned.
    ax : pair of Axes, default=None
        Where to draw.

    Returns
    -------
    ax : ndarray of two Axes
        The held-out score with a standard error up and down; stability, the worth as a share of
        the highest, and coherence. A line is at the number that is chosen, the first peak of the
        worth that lasts.

    Raises
    ------
    TypeError
        If `found` is something else.
    """
    if not isinstance(found, NComponentsComparison):
        raise TypeError(f"found must be what compare_n_components returns; got {found!r:.60}")
    numbers = [row.n_components for row in found.rows]
    axes = several_axes(ax, 2, (1, 2), (9.0, 3.6))
    left, right = axes
    scores, errors = np.array([(row.score, row.score_error) for row in found.rows]).T
    left.errorbar(numbers, scores, errors, marker="o", capsize=3, color=COLOURS[0])
    left.set_ylabel("score (nats per held-out token)")
    highest = max(row.worth for row in found.rows)
    values = {
        "stability": [row.stability for row in found.rows],
        "gain x stability, of the highest": [row.worth / (highest or 1.0) for row in found.rows],
        "coherence": [row.coherence for row in found.rows],
    }
    for k, (name, marker) in enumerate(zip(values, "D^s", strict=True)):
        right.plot(numbers, values[name], marker=marker, label=name, color=COLOURS[k])
    for panel in axes:
        panel.axvline(found.chosen, color="gray", linewidth=1, label=f"chosen: {found.chosen}")
    left.legend(frameon=False)
    right.set_ylim(top=1.35)
    right.legend(frameon=False, fontsize="small")
    for panel in axes:
        panel.set_xscale("log")
        panel.set_xticks(numbers, [str(number) for number in numbers])
        panel.minorticks_off()
        panel.set_xlabel("number of topics")
    plain(*axes)
    return axes
