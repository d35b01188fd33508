# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of documents: their words and sentences, coloured by topic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.inspection.documents import topic_shares
from streamtopics.inspection.plots.axes import colour, one_axes
from streamtopics.utils.checks import SUM_TOLERANCE, check_integer, floats, is_number
from streamtopics.utils.steps import last_step, names_of, steps_before
from streamtopics.utils.structure import has_entries

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIECE = re.compile(r"\w+|[^\w\s]+|\s+")
# In units of the font's size.
LINE = 1.7
LEAST_SHARE = 0.01
# Points, more than a letter for a page.
MOST_FONT_SIZE = 1000


def plot_document(
    estimator: Any,
    text: str,
    *,
    labels: Sequence[str] | None = None,
    n_topics: int = 6,
    font_size: float = 10.0,
    ax: Axes | None = None,
) -> Axes:
    """Draw a text whose words are coloured by their topic.

    Parameters
    ----------
    estimator : Pipeline
        Fitted: a vectorizer of words, and an estimator of topics as last step.
    text : str
        What to draw; what does not go into the Axes is cut off, and ends in "...".
    labels : sequence of str, default=None
        What topics are called; None is their three most probable words.
    n_topics : int, default=6
        Most topics with a colour: the largest of the document, of at least 1 % of it.
    font_size : float, default=10.0
        Of the text, in points.
    ax : Axes, default=None
        Where to draw.

    Returns
    -------
    ax : Axes
        A word has the colour of the topic that it is most probably of, in this document, and the
        stronger the surer that is. Words that the model does not know have none.

    Raises
    ------
    TypeError
        If `estimator` is no pipeline of words and topics, or `text` is no str.
    ValueError
        If `labels` are not one for each topic.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from streamtopics import StreamingLDA
    >>> from streamtopics.inspection import plot_document
    >>> texts = ["wind over the sea", "bread with salt", "salt in the sea"]
    >>> model = make_pipeline(CountVectorizer(), StreamingLDA(2, random_state=0)).fit(texts)
    >>> ax = plot_document(model, "Wind, sea and salt.")
    """
    _check_font_size(font_size)
    if not isinstance(text, str):
        raise TypeError(f"text must be a str; got {text!r:.60}")
    topics = last_step(estimator)
    is_fitted = steps_before(estimator) and hasattr(topics, "topic_word_")
    names = names_of(estimator) if is_fitted else None
    if names is None:
        raise TypeError(
            "estimator must be a fitted pipeline of a vectorizer and an estimator of topics; got "
            f"{estimator!r:.60}"
        )
    shares = topic_shares(estimator, [text])[0]
    shown = [k for k in np.argsort(-shares, kind="stable")[:n_topics] if shares[k] >= LEAST_SHARE]
    colours = {int(k): colour(place) for place, k in enumerate(shown)}
    if labels is None:
        labels = [" ".join(map(str, words)) for words in topics.top_words(names, 3)]
    else:
        _check_labels(labels, len(shares))
    pieces = PIECE.findall(text)
    column = {str(name): j for j, name in enumerate(names)}
    weights = shares[:, None] * topics.topic_word_
    backgrounds: list[Any] = []
    for piece in pieces:
        j = column.get(piece, column.get(piece.lower()))
        k = -1 if j is None else int(weights[:, j].argmax())
        sure = 0.0 if j is None else weights[k, j] / weights[:, j].sum()
        backgrounds.append((*colours[k], 0.15 + 0.6 * sure) if k in colours else None)
    ax = one_axes(ax, (8.0, 4.0))
    _write(ax, pieces, backgrounds, font_size)
    _name_colours(ax, {f"{shares[k]:.0%} {labels[k]}": colours[int(k)] for k in shown})
    return ax


def plot_sentences(
    sentences: Sequence[str],
    shares: ArrayLike,
    *,
    labels: Sequence[str] | None = None,
    n_topics: int = 6,
    font_size: float = 10.0,
    ax: Axes | None = None,
) -> Axes:
    """Draw sentences coloured by their topics.

    Parameters
    ----------
    sentences : sequence of n_sentences str
        In order; what does not go into the Axes is cut off, and ends in "...".
    shares : array-like of shape (n_sentences, n_topics)
        Shares of topics in each sentence.
    labels : sequence of str, default=None
        What topics are called; None is their numbers.
    n_topics : int, default=6
        Topics with a colour: the largest over all sentences.
    font_size : float, default=10.0
        Of the text, in points.
    ax : Axes, default=None
        Where to draw.

    Returns
    -------
    ax : Axes
        A sentence has the colour of its largest topic, the stronger the larger that is.

    Raises
    ------
    TypeError
        If `sentences` is no list of str, or `n_topics` is no integer.
    ValueError
        If `shares` have not a row for each sentence or have no topic, `labels` are not one for each
        topic, a share is not from 0 to 1, `n_topics` is less than 1, or `font_size` is not
        positive or beyond 1000.
    """
    _check_font_size(font_size)
    check_integer(n_topics=n_topics)
    if not has_entries(sentences) or not all(isinstance(one, str) for one in sentences):
        raise TypeError(f"sentences must be a list of str; got {sentences!r:.60}")
    shares = floats(shares, "shares")
    if shares.ndim != 2 or len(shares) != len(sentences) or shares.shape[1] == 0:
        raise ValueError(
            f"shares must have a row for each of the {len(sentences)} sentences, and a column for "
            f"each topic; got shape {shares.shape}"
        )
    right = (shares >= -SUM_TOLERANCE) & (shares <= 1 + SUM_TOLERANCE)
    if not right.all():
        raise ValueError(f"shares must be in [0, 1]; got {shares[~right][0]:g}. Divide by the sums")
    n = shares.shape[1]
    names = [f"topic {k}" for k in range(n)] if labels is None else labels
    _check_labels(names, n)
    shown = np.argsort(-shares.sum(axis=0), kind="stable")[:n_topics]
    colours = {int(k): colour(place) for place, k in enumerate(shown)}
    pieces: list[str] = []
    backgrounds: list[Any] = []
    for sentence, row in zip(sentences, shares, strict=True):
        k = int(row.argmax())
        found = PIECE.findall(sentence.strip() + " ")
        pieces += found
        background = (*colours[k], 0.15 + 0.6 * row[k]) if k in colours else None
        backgrounds += [background] * (len(found) - 1) + [None]
    ax = one_axes(ax, (8.0, 4.0))
    _write(ax, pieces, backgrounds, font_size)
    _name_colours(ax, {names[k]: colours[int(k)] for k in shown})
    return ax


def _check_labels(labels: Any, n_topics: int) -> None:
    if not has_entries(labels) or getattr(labels, "ndim", 1) != 1:
        raise TypeError(f"labels must be a sequence; got {labels!r:.60}")
    if len(labels) != n_topics:
        raise ValueError(f"labels must be one for each of {n_topics} topics; got {len(labels)}")


def _check_font_size(font_size: Any) -> None:
    if not (is_number(font_size) and 0 < font_size <= MOST_FONT_SIZE):
        raise ValueError(
            f"font_size must be a positive number of points, at most {MOST_FONT_SIZE:,}; got "
            f"{font_size!r:.60}"
        )


def _write(ax: Axes, pieces: list[str], backgrounds: list[Any], font_size: float) -> None:
    """Write pieces of text into Axes in lines, each with its background."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.patches import Rectangle
    from matplotlib.textpath import TextPath

    ax.set_axis_off()
    figure = ax.figure
    figure.canvas.draw()
    box = ax.get_window_extent()
    # Points, the unit of fonts.
    width, height = (72 / figure.dpi * side for side in (box.width, box.height))
    ax.set_xlim(0, width)
    ax.set_ylim(height, 0)
    font, step = FontProperties(size=font_size), LINE * font_size
    known: dict[str, float] = {" ": 0.32 * font_size}
    x, y = 0.0, step
    for piece, background in zip(pieces, backgrounds, strict=True):
        if piece.isspace():
            piece = " "
        if piece not in known:
            known[piece] = float(
                TextPath((0, 0), piece.replace("$", r"\$"), prop=font).get_extents().x1
            )
        if x + known[piece] > width and x > 0:
            x, y = 0.0, y + step
            if y > height - step:
                ax.text(0, y, "...", fontproperties=font)
                return
            if piece == " ":
                continue
        if background is not None:
            place = (x - 1, y - 0.95 * font_size)
            size = (known[piece] + 2, 1.3 * font_size)
            ax.add_patch(Rectangle(place, *size, color=background, linewidth=0, clip_on=False))
        if piece != " ":
            ax.text(x, y, piece.replace("$", r"\$"), fontproperties=font)
        x += known[piece] + (0.0 if piece == " " else 0.08 * font_size)


def _name_colours(ax: Axes, colours: dict[str, Any]) -> None:
    """A legend of the topics below the text."""
    from matplotlib.patches import Patch

    handles = [Patch(color=(*rgb, 0.75), label=name) for name, rgb in colours.items()]
    ax.legend(
        handles=handles, loc="upper left", bbox_to_anchor=(0.0, 0.0), ncols=2, frameon=False,
        fontsize=8, borderaxespad=0.0,
    )  # fmt: skip
