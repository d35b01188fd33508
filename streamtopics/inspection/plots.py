# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of topic models; they need matplotlib (the extra `plot`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.inspection.n_components import NComponentsComparison
from streamtopics.inspection.tables import check_whole, topic_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib; install it with `pip install streamtopics[plot]`"
        ) from error
    return pyplot


def _new_axes(n_rows: int, n_columns: int, size: tuple[float, float]) -> tuple[Figure, Any]:
    settings = {"squeeze": False, "figsize": size, "layout": "constrained"}
    axes: tuple[Figure, Any] = _pyplot().subplots(n_rows, n_columns, **settings)
    return axes


def picture_formats() -> list[str]:
    """Endings of the files that a picture can be saved to."""
    figure, _ = _new_axes(1, 1, (1.0, 1.0))
    known = sorted(figure.canvas.get_supported_filetypes())
    _pyplot().close(figure)
    return known


def plot_topics(
    estimator: StreamingTopicModel, feature_names: Any = None, *, n_words: int = 8,
    n_topics: int = 20, relevance: float = 1.0,
) -> Figure:  # fmt: skip
    """The heaviest topics as small bar charts of their words' probabilities.

    Parameters
    ----------
    estimator : object
        A fitted estimator of streamtopics.
    feature_names : array-like of shape (n_features,), default=None
        As in `top_words`.
    n_words : int, default=8
        Words in each chart.
    n_topics : int, default=20
        Charts, at most.
    relevance : float in [0, 1], default=1.0
        As in `top_words`.

    Returns
    -------
    figure : matplotlib.figure.Figure
        Save it with `figure.savefig(path)`.

    Raises
    ------
    TypeError, ValueError
        As `topic_table`; also if `n_words` or `n_topics` is not a positive whole number.
    """
    check_whole(n_words=n_words, n_topics=n_topics)
    table = topic_table(estimator, feature_names, n_words, relevance=relevance)[:n_topics]
    n_columns = min(5, len(table))
    n_rows = -(-len(table) // n_columns)
    size = (2.6 * n_columns, (0.6 + 0.2 * n_words) * n_rows)
    figure, axes = _new_axes(n_rows, n_columns, size)
    for ax in axes.flat[len(table) :]:
        ax.set_visible(False)
    for ax, row in zip(axes.flat, table, strict=False):
        ax.barh(range(len(row.words)), row.probabilities, color="tab:blue", height=0.7)
        ax.set_yticks(range(len(row.words)), [str(word) for word in row.words], fontsize=8)
        ax.invert_yaxis()
        ax.set_title(f"topic {row.topic}: {row.weight:.1%} of tokens", fontsize=9)
        ax.locator_params(axis="x", nbins=4)
        ax.tick_params(axis="x", labelsize=7)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def plot_curves(
    curves: Mapping[str, ArrayLike], *, x: ArrayLike, xlabel: str, ylabel: str
) -> Figure:
    """Named curves over the stream, for example of `prior_retention_` or `score`.

    Parameters
    ----------
    curves : mapping of label to values
        All of the length of `x`.
    x : sequence of float
        For example documents seen.
    xlabel, ylabel : str
        What the axes show, with the unit.

    Returns
    -------
    figure : matplotlib.figure.Figure
    """
    figure, axes = _new_axes(1, 1, (7.0, 4.0))
    ax = axes[0, 0]
    for label, values in curves.items():
        ax.plot(x, values, label=label)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


def plot_n_components(found: NComponentsComparison) -> Figure:
    """Draw what `compare_n_components` found, by the number of topics.

    Parameters
    ----------
    found : NComponentsComparison
        As returned.

    Returns
    -------
    figure : matplotlib.figure.Figure
        Two panels: the held-out score with a standard error up and down, and the number that
        is chosen, the smallest not below the dotted line; coherence, diversity and stability.

    Raises
    ------
    TypeError
        If `found` is something else.
    """
    if not isinstance(found, NComponentsComparison):
        raise TypeError(f"found must be what compare_n_components returns; got {found!r:.60}")
    numbers = [row.n_components for row in found.rows]
    best = next(row for row in found.rows if row.n_components == found.best)
    figure, axes = _new_axes(1, 2, (9.0, 3.6))
    left, right = axes[0]
    scores, errors = np.array([(row.score, row.score_error) for row in found.rows]).T
    left.errorbar(numbers, scores, errors, marker="o", capsize=3, color="tab:blue")
    left.axhline(best.score - best.score_error, linestyle=":", color="gray", linewidth=1)
    left.axvline(found.chosen, color="tab:orange", linewidth=1, label=f"chosen: {found.chosen}")
    left.set_ylabel("score (nats per held-out token)")
    left.legend(frameon=False)
    for name, marker in (("coherence", "s"), ("diversity", "^"), ("stability", "D")):
        values = [getattr(row, name) for row in found.rows]
        right.plot(numbers, values, marker=marker, label=name)
    right.legend(frameon=False)
    for ax in (left, right):
        ax.set_xscale("log")
        ax.set_xticks(numbers, [str(number) for number in numbers])
        ax.minorticks_off()
        ax.set_xlabel("number of topics")
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def plot_drift(estimator: Any) -> Figure:
    """Draw how much of each topic was kept with each minibatch, and how far the topics moved.

    Parameters
    ----------
    estimator : object
        A fitted `SVBHPP`, `PowerPriorLDA` or `PopulationVBLDA`.

    Returns
    -------
    figure : matplotlib.figure.Figure
        Two panels, a row for each topic and a column for each of the last thousand
        minibatches, with the `time` that `partial_fit` was given, or their numbers. The scale
        of how far topics moved leaves out the first, in which they leave their random start.

    Raises
    ------
    TypeError
        If `estimator` is of another kind.
    ValueError
        If no minibatch was learnt.
    """
    if not hasattr(type(estimator), "drift_"):
        raise TypeError(
            "plot_drift needs an estimator with drift_, such as SVBHPP, PowerPriorLDA or "
            f"PopulationVBLDA; got {estimator!r:.60}"
        )
    records = estimator.drift_
    if not records:
        raise ValueError("plot_drift needs a model that has learnt from a minibatch; it has not")
    figure, axes = _new_axes(2, 1, (9.0, 6.0))
    names = [str(record.batch if record.time is None else record.time) for record in records]
    moved = np.array([record.moved for record in records])
    most = moved[records[0].batch == 1 :].max(initial=0.0)
    panels = {
        "share of the topic that was kept": (estimator.retention_history_, 1.0, "magma"),
        "how far it moved (total variation)": (moved, most or 1.0, "viridis"),
    }
    for ax, (title, (values, most, colours)) in zip(axes[:, 0], panels.items(), strict=True):
        image = ax.imshow(
            values.T, aspect="auto", vmin=0.0, vmax=most, cmap=colours, interpolation="nearest"
        )
        ax.set_title(title, fontsize=10)
        ax.set_ylabel("topic")
        ax.locator_params(axis="y", integer=True)
        figure.colorbar(image, ax=ax)
        places = np.unique(np.linspace(0, len(names) - 1, 12).astype(int))
        ax.set_xticks(places, [names[place] for place in places], rotation=45, fontsize=8)
    return figure
