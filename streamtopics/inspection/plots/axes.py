# SPDX-License-Identifier: BSD-3-Clause
"""Axes to draw on, and colours that most people can distinguish."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# M. Okabe and K. Ito (2008), "Color universal design", with the olive of P. Tol (2021), "Colour
# schemes", for the yellow, and without black.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999933")
LINES = ("-", "--", ":", "-.")
# Width and height of a panel, in inches.
FIGURE_SIZE = (7.0, 4.0)


def pyplot() -> Any:
    """Import `matplotlib.pyplot`, or raise an error with the remedy."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("pictures need matplotlib; run `pip install matplotlib`") from error
    return pyplot


def one_axes(ax: Axes | None, size: tuple[float, float] = FIGURE_SIZE) -> Axes:
    return pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def several_axes(
    ax: Iterable[Axes] | None, n: int, shape: tuple[int, int], size: tuple[float, float]
) -> np.ndarray:
    """The given Axes, or `n` panels of a new figure, in `shape` rows and columns."""
    if ax is not None:
        return np.array(ax, dtype=object).ravel()
    settings = {"squeeze": False, "figsize": size, "layout": "constrained"}
    grid: np.ndarray = pyplot().subplots(*shape, **settings)[1].ravel()
    for unused in grid[n:]:
        unused.set_visible(False)
    return grid[:n]


def color(k: int) -> Any:
    """The k-th colour: seven colours, then lighter ones."""
    from matplotlib.colors import to_rgb

    white = 0.45 * (k // len(COLORS) % 2)
    return tuple(x + white * (1 - x) for x in to_rgb(COLORS[k % len(COLORS)]))


def line(k: int) -> dict[str, Any]:
    """Style of the k-th line, visible also if two lines coincide."""
    return {"color": COLORS[k % len(COLORS)], "linestyle": LINES[k % len(LINES)]}


def plain(*axes: Axes) -> None:
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)


def labelled(ax: Axes, xlabel: str, ylabel: str, n: int) -> Axes:
    """The Axes with labels, and with a legend of n lines."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if n <= 2:
        ax.legend(frameon=False)
    else:
        ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    plain(ax)
    return ax
