# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the topics of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from streamtopics.inspection.plots.axes import COLOURS, one_axes, plain, several_axes
from streamtopics.inspection.tables import topic_names, topic_table
from streamtopics.metrics.similarity import affinities
from streamtopics.metrics.similarity import places as places_of
from streamtopics.utils.checks import check_integer
from streamtopics.utils.steps import last_step

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_topics(
    estimator: Any,
    feature_names: Any = None,
    *,
    n_words: int = 8,
    n_topics: int = 20,
    relevance: float = 1.0,
    ax: Any = None,
) -> np.ndarray:
    """Draw the heaviest topics as small bar charts of their words' probabilities.

    Parameters
    ----------
    estimator : object
        A fitted estimator of streamtopics, or a pipeline that ends in one.
    feature_names : array-like of shape (n_features,), default=None
        As in `top_words`; None takes the words of a pipeline.
    n_words : int, default=8
        Words in each chart.
    n_topics : int, default=20
        Charts, at most.
    relevance : float in [0, 1], default=1.0
        Chooses the words, as in `top_words`. The chosen ones are in the order of probability.
    ax : sequence of Axes, default=None
        Where to draw, one for each chart.

    Returns
    -------
    ax : ndarray of Axes
        One for each topic drawn, with its name (of a sentiment and aspect, of `GuidedTopics`) or
        number. Save the picture with ``ax[0].figure.savefig(path)``.

    Raises
    ------
    TypeError, ValueError
        As `topic_table`; also if `n_topics` is no integer or less than 1, or there are too few
        `ax`.
    """
    check_integer(n_words=n_words, n_topics=n_topics)
    table = topic_table(estimator, feature_names, n_words, relevance=relevance)[:n_topics]
    n_rows = -(-len(table) // 5)
    n_columns = -(-len(table) // n_rows)
    size = (2.6 * n_columns, (0.6 + 0.2 * len(table[0].words)) * n_rows)
    axes = several_axes(ax, len(table), (n_rows, n_columns), size)
    called = topic_names(estimator)
    for panel, row in zip(axes, table, strict=True):
        order = np.argsort(-np.array(row.probabilities), kind="stable")
        words = [str(row.words[i]) for i in order]
        panel.barh(range(len(words)), np.array(row.probabilities)[order], color=COLOURS[0])
        panel.set_yticks(range(len(words)), words, fontsize=8)
        panel.invert_yaxis()
        panel.set_title(f"{called[row.topic]}: {row.weight:.1%} of tokens", fontsize=9)
        panel.locator_params(axis="x", nbins=4)
        panel.tick_params(axis="x", labelsize=7)
    plain(*axes)
    return axes


def plot_prior_retention(
    estimator: Any,
    feature_names: Any = None,
    *,
    n_topics: int = 30,
    ax: Axes | None = None,
) -> Axes:
    """Draw how much of each topic its prior is, the heaviest topics first.

    Parameters
    ----------
    estimator : object
        A fitted estimator of streamtopics, or a pipeline that ends in one.
    feature_names : array-like of shape (n_features,), default=None
        As in `top_words`; None takes the words of a pipeline.
    n_topics : int, default=30
        Most topics.
    ax : Axes, default=None
        Where to draw.

    Returns
    -------
    ax : Axes
        Topics that are mostly prior have learnt little: what they show is the prior's words.

    Raises
    ------
    TypeError, ValueError
        As `topic_table`.
    """
    check_integer(n_topics=n_topics)
    table = topic_table(estimator, feature_names, 3)[:n_topics]
    ax = one_axes(ax, (7.0, 1.0 + 0.22 * len(table)))
    names = [f"{row.topic}: {' '.join(str(word) for word in row.words)}" for row in table]
    ax.barh(range(len(table)), [row.prior_retention for row in table], color=COLOURS[1])
    ax.set_yticks(range(len(table)), names, fontsize=8)
    ax.invert_yaxis()
    ax.set_xlim(0, min(1.0, 1.1 * max(0.05, *(row.prior_retention for row in table))))
    ax.set_xlabel("share of the topic that is its prior")
    plain(ax)
    return ax


def plot_topic_map(
    estimator: Any,
    feature_names: Any = None,
    *,
    n_words: int = 2,
    ax: Axes | None = None,
) -> Axes:
    """Draw topics as discs whose distances follow those of their words.

    Parameters
    ----------
    estimator : object
        A fitted estimator of streamtopics, or a pipeline that ends in one.
    feature_names : array-like of shape (n_features,), default=None
        As in `top_words`; None takes the words of a pipeline.
    n_words : int, default=2
        Words beside each disc.
    ax : Axes, default=None
        Where to draw.

    Returns
    -------
    ax : Axes
        Areas of discs are shares of tokens. Places are principal coordinates, of the Hellinger
        distances of the topics.

    Raises
    ------
    TypeError, ValueError
        As `topic_table`.
    """
    check_integer(n_words=n_words)
    table = topic_table(estimator, feature_names, n_words)
    ax = one_axes(ax, (7.0, 6.0))
    places = places_of(affinities(last_step(estimator).topic_word_))[[row.topic for row in table]]
    weights = np.array([row.weight for row in table])
    areas = 3000 * weights / weights.max()
    ax.scatter(places[:, 0], places[:, 1], s=areas, color=COLOURS[0], alpha=0.5, linewidths=0)
    for row, place in zip(table, places, strict=True):
        words = "\n".join(str(word) for word in row.words)
        ax.annotate(f"{row.topic} {words}", place, ha="center", va="center", fontsize=7)
    ax.set_aspect("equal", adjustable="datalim")
    ax.margins(0.12)
    ax.set_axis_off()
    return ax
