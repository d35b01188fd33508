# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the topics of a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from streamtopics.inspection.plots.axes import COLORS, one_axes, plain, pyplot, several_axes
from streamtopics.inspection.tables import topic_names, topic_table
from streamtopics.metrics.similarity import affinities
from streamtopics.metrics.similarity import places as places_of
from streamtopics.utils.steps import last_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Words of a list, of which pictures show the first, as tables do.
LISTED = 10
# Radii of the largest disc of a map and of a label, as shares of the width, and rounds of moving.
LARGEST_DISC, LABEL, ROUNDS = 0.085, 0.055, 300


def plot_topics(
    estimator: BaseEstimator,
    feature_names: ArrayLike | None = None,
    *,
    n_words: int = 8,
    n_topics: int = 20,
    relevance: float = 0.6,
    ax: Iterable[Axes] | None = None,
) -> np.ndarray:
    """Draw the heaviest topics as bar charts of word probabilities.

    Parameters
    ----------
    estimator, feature_names
        As in `topic_table`.
    n_words : int, default=8
        Words per chart.
    n_topics : int, default=20
        Largest number of charts.
    relevance : float in [0, 1], default=0.6
        Selects the words, as in `topic_table`. The bars are in order of probability.
    ax : sequence of Axes, default=None
        Axes to draw on, one for each chart.

    Returns
    -------
    ax : ndarray of Axes
        Axes of each chart. ``ax[0].figure.savefig(path)`` saves the picture.
    """
    table = topic_table(estimator, feature_names, max(n_words, LISTED), relevance=relevance)
    table = table[:n_topics]
    n_rows = -(-len(table) // 5)
    n_columns = -(-len(table) // n_rows)
    size = (2.6 * n_columns, (0.6 + 0.2 * len(table[0].words[:n_words])) * n_rows)
    axes = several_axes(ax, len(table), (n_rows, n_columns), size)
    names = topic_names(estimator)
    for each, row in zip(axes, table, strict=True):
        p = np.array(row.probabilities[:n_words])
        order = np.argsort(-p, kind="stable")
        words = [str(row.words[i]) for i in order]
        each.barh(range(len(words)), p[order], color=COLORS[0])
        each.set_yticks(range(len(words)), words, fontsize=8)
        each.invert_yaxis()
        each.set_title(f"{names[row.topic]}: {row.weight:.1%} of tokens", fontsize=9)
        each.locator_params(axis="x", nbins=4)
        each.tick_params(axis="x", labelsize=7)
    plain(*axes)
    return axes


def plot_topic_map(
    estimator: BaseEstimator,
    feature_names: ArrayLike | None = None,
    *,
    n_words: int = 2,
    ax: Axes | None = None,
) -> Axes:
    """Draw topics as discs on a map: similar topics are near each other.

    Parameters
    ----------
    estimator, feature_names
        As in `topic_table`.
    n_words : int, default=2
        Words beside each disc; a topic with a name has its name.
    ax : Axes, default=None
        Axes to draw on.

    Returns
    -------
    ax : Axes
        The area of a disc is proportional to the topic's share of tokens. Positions are principal
        coordinates of the Hellinger distances of topics, moved until discs do not overlap.
    """
    table = topic_table(estimator, feature_names, max(n_words, LISTED))
    ax = one_axes(ax, (7.0, 6.0))
    places = places_of(affinities(last_step(estimator).topic_word_))[[row.topic for row in table]]
    weights = np.array([row.weight for row in table])
    span = float(np.ptp(places, axis=0).max()) or 1.0
    radii = LARGEST_DISC * span * np.sqrt(weights / weights.max())
    places = apart(places, np.maximum(radii, LABEL * span))
    for row, place, radius in zip(table, places, radii, strict=True):
        # In the units of the axes, so the frame cuts none.
        ax.add_patch(pyplot().Circle(place, radius, color=COLORS[0], alpha=0.5, linewidth=0))
        words = row.name or "\n".join(str(word) for word in row.words[:n_words])
        ax.annotate(f"{row.topic} {words}", place, ha="center", va="center", fontsize=7)
    ax.set_aspect("equal", adjustable="datalim")
    ax.autoscale_view()
    ax.set_axis_off()
    return ax


def apart(places: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Positions of discs, moved until the discs do not overlap."""
    angles = np.arange(len(places))
    # Discs at the same place go in different directions.
    places = places + 1e-3 * radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    least = np.add.outer(radii, radii) - np.diag(2.0 * radii)
    for _ in range(ROUNDS):
        away = places[:, None] - places
        far = np.maximum(np.linalg.norm(away, axis=2), np.finfo(np.float64).tiny)
        places = places + (0.4 * np.maximum(least / far - 1.0, 0.0)[..., None] * away).sum(axis=1)
    return places
