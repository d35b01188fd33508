# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of topics over time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.inspection.periods import MOST_PERIODS, periods_of
from streamtopics.inspection.plots.axes import COLORS, color, one_axes, plain, several_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_LABELS = 12


def plot_shares(
    times: Sequence[Any],
    shares: ArrayLike,
    labels: Sequence[str],
    *,
    n_topics: int = 12,
    n_documents: ArrayLike | None = None,
    ylabel: str = "mean share in the documents",
    ax: Axes | None = None,
) -> Axes:
    """Draw the shares of topics over time as stacked bands.

    Parameters
    ----------
    times : sequence of n_times numbers, dates or str
        Times in order, from `shares_over_time` or a `TopicTracker`. Shares of more than 80 dates
        are averaged over calendar periods.
    shares : array-like of shape (n_times, n_topics)
        Shares of the topics at each time.
    labels : sequence of n_topics str
        Names of the topics.
    n_topics : int, default=12
        Number of largest topics to draw. A gray band is the sum of all other topics.
    n_documents : array-like of shape (n_times,), default=None
        Numbers of documents from `shares_over_time`, the weights of dates in the mean of a period.
        None is equal weights.
    ylabel : str, default="mean share in the documents"
        Label of the vertical axis; for a `TopicTracker`, for example "share of the tokens".
    ax : Axes, default=None
        Axes to draw on.

    Returns
    -------
    ax : Axes
    """
    shares = np.asarray(shares, np.float64)
    if shares.shape != (len(times), len(labels)):
        raise ValueError(
            f"shares must have a row for each of the {len(times)} times and a column for each of "
            f"the {len(labels)} labels; got shape {shares.shape}"
        )
    # By position, for any index of a series.
    labels = list(labels)
    times, shares = _few_dates(times, np.nan_to_num(shares), n_documents)
    drawn = np.sort(np.argsort(-shares.sum(axis=0), kind="stable")[:n_topics])
    ax = one_axes(ax, (9.0, 4.5))
    x, ticks = _places_of(times)
    rest = np.delete(shares, drawn, axis=1).sum(axis=1)
    layers = [*shares[:, drawn].T, rest] if rest.any() else list(shares[:, drawn].T)
    colors = [color(i) for i in range(len(drawn))] + ["gray"] * (len(layers) - len(drawn))
    names = [str(labels[k]) for k in drawn] + ["others"] * (len(layers) - len(drawn))
    ax.stackplot(x, layers, colors=colors, labels=names, linewidth=0)
    # From the top down, in the order of the bands.
    ax.legend(reverse=True, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    ax.margins(x=0, y=0)
    ax.set_ylabel(ylabel)
    _label_times(ax, ticks, whole=np.asarray(times).dtype.kind in "iu")
    plain(ax)
    return ax


def _few_dates(
    times: Sequence[Any], shares: np.ndarray, n_documents: ArrayLike | None
) -> tuple[Sequence[Any], np.ndarray]:
    """Times and shares, of periods if there are too many dates."""
    weights = np.ones(len(times)) if n_documents is None else np.asarray(n_documents, np.float64)
    if len(times) <= MOST_PERIODS or not _are_dates(times):
        return times, shares
    periods = periods_of(times)
    known = periods.of >= 0
    used, place = np.unique(periods.of[known], return_inverse=True)
    totals = np.bincount(place, weights[known])
    means = np.zeros((len(used), shares.shape[1]))
    np.add.at(means, place, (shares * weights[:, None])[known])
    means /= np.where(totals > 0, totals, 1.0)[:, None]
    starts: Any = periods.edges[used]
    return starts, means


def _are_dates(times: Sequence[Any]) -> bool:
    return np.asarray(times).dtype.kind == "M" or isinstance(next(iter(times)), date)


def _places_of(times: Sequence[Any]) -> tuple[Any, list[str] | None]:
    values = np.asarray(times)
    if values.dtype.kind in "iuf" or (len(times) and _are_dates(times)):
        return values, None
    return np.arange(len(times)), [str(time) for time in times]


def _label_times(ax: Axes, names: list[str] | None, *, whole: bool = False) -> None:
    dates: Any = import_module("matplotlib.dates")
    if names is not None:
        places = np.unique(np.linspace(0, len(names) - 1, N_LABELS).astype(int))
        ax.set_xticks(places, [names[place] for place in places], rotation=45, fontsize=8)
    elif isinstance(ax.xaxis.get_major_locator(), dates.AutoDateLocator):
        ticks = dates.AutoDateLocator(minticks=2, maxticks=N_LABELS)
        ax.xaxis.set_major_locator(ticks)
        ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(ticks))
    else:
        ax.locator_params(axis="x", nbins=N_LABELS, integer=whole)


def plot_drift(estimator: Any, *, ax: Iterable[Axes] | None = None) -> np.ndarray:
    """Draw the retained share of each topic's counts by minibatch, and effective sample sizes.

    Parameters
    ----------
    estimator : object
        A fitted estimator with forgetting, for example ``StreamingLDA(update="power_prior")``.
    ax : pair of Axes, default=None
        Axes to draw on.

    Returns
    -------
    ax : ndarray of two Axes
        The first image shows `retention_history_`: the share of a topic's earlier counts kept at a
        minibatch. The second image shows effective sample sizes in tokens. Rows are topics, and
        columns the last thousand minibatches, labelled by time or number. If the shares are equal
        for all topics, a line replaces the first image.
    """
    records = estimator.drift_
    if not records:
        raise ValueError(
            "plot_drift needs a minibatch since the last merge or split of topics; call partial_fit"
        )
    axes = several_axes(ax, 2, (2, 1), (9.0, 6.0))
    names = [str(record.batch if record.time is None else record.time) for record in records]
    kept = estimator.retention_history_
    sizes = np.array([record.effective_sample_size for record in records])
    title = "share of the topic that was kept"
    if (kept == kept[:, :1]).all():
        axes[0].plot(range(len(kept)), kept[:, 0], marker=".", color=COLORS[0])
        axes[0].set_ylim(0, 1.05)
        axes[0].set_title(f"{title}, the same of all topics", fontsize=10)
        axes[0].margins(x=0)
        plain(axes[0])
    else:
        _image(axes[0], kept, 1.0, "magma", title)
    _image(axes[1], sizes, sizes.max(), "viridis", "tokens that it stands for")
    for each in axes:
        _label_times(each, names)
    return axes


def _image(ax: Axes, values: np.ndarray, most: float, colors: str, title: str) -> None:
    image = ax.imshow(
        values.T, aspect="auto", vmin=0.0, vmax=most, cmap=colors, interpolation="nearest"
    )
    ax.set_title(title, fontsize=10)
    ax.set_ylabel("topic")
    ax.locator_params(axis="y", integer=True)
    ax.figure.colorbar(image, ax=ax)
