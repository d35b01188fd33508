# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of scores along a stream, or by the number of topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.inspection.n_components import NComponentsComparison
from streamtopics.inspection.plots.axes import COLORS, labelled, line, one_axes, plain, several_axes
from streamtopics.streams import BatchInfo
from streamtopics.utils.checks import check_integer

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
    """Draw one or more named curves along a stream, for example of scores.

    Parameters
    ----------
    curves : mapping of str to array-like of shape (n_points,)
        Values of each curve, by label.
    x : array-like of shape (n_points,)
        Places of the values, for example numbers of documents seen.
    xlabel, ylabel : str
        Labels of the axes.
    ax : Axes, default=None
        Axes to draw on.

    Returns
    -------
    ax : Axes
    """
    ax = one_axes(ax)
    for k, (label, values) in enumerate(curves.items()):
        ax.plot(x, values, label=label, **line(k))
    return labelled(ax, xlabel, ylabel, len(curves))


def plot_scores(rows: Iterable[BatchInfo], *, window: int = 10, ax: Axes | None = None) -> Axes:
    """Draw the scores of minibatches, each computed before learning, and a running mean.

    Parameters
    ----------
    rows : iterable of BatchInfo
        Rows of a `streams.ScoreHistory`.
    window : int, default=10
        Number of minibatches in the running mean.
    ax : Axes, default=None
        Axes to draw on.

    Returns
    -------
    ax : Axes
    """
    check_integer(window=window)
    found = np.array([(row.n_documents_seen, row.score) for row in rows]).reshape(-1, 2)
    seen, scores = found[~np.isnan(found[:, 1])].T
    # Infinities of both signs have no mean.
    with np.errstate(invalid="ignore"):
        means = [scores[max(0, i + 1 - window) : i + 1].mean() for i in range(len(scores))]
    ax = one_axes(ax)
    ax.plot(seen, scores, ".", color=COLORS[4], markersize=4, label="minibatch")
    ax.plot(seen, means, color=COLORS[0], label=f"mean of {window} minibatches")
    return labelled(ax, "documents seen", "score before learning (nats per held-out token)", 2)


def plot_n_components(
    found: NComponentsComparison, *, ax: Iterable[Axes] | None = None
) -> np.ndarray:
    """Draw the results of `compare_n_components` by the number of topics.

    Parameters
    ----------
    found : NComponentsComparison
        Result of `compare_n_components`.
    ax : pair of Axes, default=None
        Axes to draw on.

    Returns
    -------
    ax : ndarray of two Axes
        The left axes show the score with standard errors. The right axes show stability, coherence,
        and the worth (see the notes of `compare_n_components`) divided by the highest worth. A line
        marks the chosen number.
    """
    numbers = [row.n_components for row in found.rows]
    axes = several_axes(ax, 2, (1, 2), (9.0, 3.6))
    left, right = axes
    scores, errors = np.array([(row.score, row.score_error) for row in found.rows]).T
    left.errorbar(numbers, scores, errors, marker="o", capsize=3, color=COLORS[0])
    left.set_ylabel("score (nats per held-out token)")
    highest = max(row.worth for row in found.rows)
    values = {
        "stability": [row.stability for row in found.rows],
        "gain x stability, of the highest": [row.worth / (highest or 1.0) for row in found.rows],
        "coherence": [row.coherence for row in found.rows],
    }
    for k, (name, shape) in enumerate(zip(values, "D^s", strict=True)):
        right.plot(numbers, values[name], marker=shape, label=name, color=COLORS[k])
    for each in axes:
        each.axvline(found.chosen, color="gray", linewidth=1, label=f"chosen: {found.chosen}")
        each.set_xscale("log")
        each.set_xticks(numbers, [str(number) for number in numbers])
        each.minorticks_off()
        each.set_xlabel("number of topics")
    left.legend(frameon=False)
    right.set_ylim(top=1.35)
    right.legend(frameon=False, fontsize="small")
    plain(*axes)
    return axes
