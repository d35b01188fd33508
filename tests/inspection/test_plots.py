# SPDX-License-Identifier: BSD-3-Clause
"""Pictures: what they show is what the model says, on the Axes that are given."""

import sys
from collections import namedtuple
from datetime import date, datetime, timedelta
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose, assert_array_equal

import streamtopics as st
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.inspection import (
    plot_curves,
    plot_drift,
    plot_scores,
    plot_shares,
    plot_topic_map,
    plot_topics,
    shares_over_time,
)
from streamtopics.inspection.plots.axes import COLORS, color, line
from streamtopics.inspection.tables import topic_names
from streamtopics.metrics.similarity import affinities, places
from streamtopics.streams import ScoreHistory, stream
from streamtopics.text import NamedCounts
from tests.small import COUNTS

NAMES = [f"word{i}" for i in range(50)]
X = make_lda_corpus(n_documents=300, n_components=4, n_features=50, random_state=0).X
Scored = namedtuple("Scored", "n_documents_seen score")


@pytest.fixture(scope="module")
def model():
    return st.SVBLDA(4, schedule=Schedule(n_rounds=5), random_state=0).fit(X)


@pytest.fixture(scope="module")
def forgetting():
    model, rng = st.SVBHPP(3, rate="topic", random_state=0), np.random.default_rng(0)
    for year in (1999, 2000, 2001, 2002):
        model.partial_fit(rng.poisson(0.5, (30, 50)), time=year)
    return model


def test_each_picture_is_drawn_on_the_axes_given_and_returns_them(model, forgetting):
    one = [
        lambda ax: plot_curves({"a": [1, 2]}, x=[1, 2], xlabel="x", ylabel="y", ax=ax),
        lambda ax: plot_scores([Scored(1, -7.0)], ax=ax),
        lambda ax: plot_shares([1, 2], [[0.5, 0.5], [0.2, 0.8]], ["a", "b"], ax=ax),
        lambda ax: plot_topic_map(model, NAMES, ax=ax),
    ]
    for draw in one:
        figure, ax = pyplot.subplots()
        assert draw(ax) is ax is figure.axes[0]
        assert draw(None) is not ax
        pyplot.close("all")
    several = [(4, lambda ax: plot_topics(model, NAMES, ax=ax)),
               (2, lambda ax: plot_drift(forgetting, ax=ax))]  # fmt: skip
    for n, draw in several:
        _, axes = pyplot.subplots(1, n)
        assert_array_equal(draw(axes), axes)
        assert len(draw(None)) == n
        pyplot.close("all")


def test_charts_are_as_high_as_there_are_words(model):
    """However many were asked for."""
    charts = [plot_topics(model, NAMES, n_words=n)[0].figure for n in (50, 51, sys.maxsize)]
    assert len({chart.get_figheight() for chart in charts}) == 1


def test_pictures_without_matplotlib_say_how_to_install_it(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pictures need matplotlib; run `pip install matplotlib`"):
        plot_topics(model, NAMES)


@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_pictures_are_saved_in_light_and_dark(style, model, forgetting, tmp_path):
    with pyplot.style.context(style):
        axes = [
            plot_topics(model, NAMES)[0],
            plot_topic_map(model, NAMES),
            plot_drift(forgetting)[0],
            plot_shares(["a", "b"], [[0.5, 0.5], [0.2, 0.8]], ["a", "b"]),
        ]
        text = to_rgb(pyplot.rcParams["text.color"])
        for ax in axes:
            ax.figure.savefig(tmp_path / "picture.png")
            assert all(to_rgb(found.get_color()) == text for found in ax.texts)
    assert (tmp_path / "picture.png").stat().st_size > 3000


def test_bars_of_topics_fall_and_are_those_of_the_words(model):
    axes = plot_topics(model, NAMES, n_words=4, n_topics=3, relevance=0.3)
    assert len(axes) == 3
    heaviest = np.argsort(-model.topic_weights_)[:3]
    for ax, k in zip(axes, heaviest, strict=True):
        lengths = [bar.get_width() for bar in ax.patches]
        words = [label.get_text() for label in ax.get_yticklabels()]
        assert lengths == sorted(lengths, reverse=True)
        assert set(words) == set(model.top_words(NAMES, relevance=0.3)[k][:4])
        assert_allclose(lengths, model.topic_word_[k, [NAMES.index(word) for word in words]])
        assert ax.get_title().startswith(f"topic {k}:")


def test_curves_have_labels_and_differ():
    curves = {name: np.arange(3.0) for name in "abcdefghijkl"}
    ax = plot_curves(curves, x=[1, 2, 3], xlabel="documents", ylabel="nats")
    assert [drawn.get_label() for drawn in ax.lines] == list("abcdefghijkl")
    assert len({(d.get_color(), d.get_linestyle()) for d in ax.lines}) == 12
    ax.figure.canvas.draw()
    # With many entries the legend lies beside the curves.
    legend = ax.get_legend().get_window_extent()
    assert legend.x0 >= ax.get_window_extent().x1 - 1
    assert len({tuple(line(k).values()) for k in range(28)}) == 28


def test_colours_of_many_topics_are_lighter():
    assert color(0) == to_rgb(COLORS[0])
    assert len({color(k) for k in range(14)}) == 14
    assert all(a >= b for a, b in zip(color(7), color(0), strict=True))


def test_scores_and_their_running_mean():
    scores = [-8.0, float("nan"), -7.0, -6.0]
    ax = plot_scores([Scored(100 * i, s) for i, s in enumerate(scores, 1)], window=2)
    dots, mean = ax.lines
    assert_array_equal(dots.get_xdata(), [100, 300, 400])
    assert_array_equal(mean.get_ydata(), [-8.0, -7.5, -6.5])


@pytest.mark.parametrize("window", [1, 2, 3, 10])
@pytest.mark.parametrize("at", [0, 1, 4, 7])
def test_one_infinite_score_is_in_the_means_of_its_window_only(window, at):
    scores = -np.arange(1.0, 9.0)
    scores[at] = -np.inf
    rows = [Scored(100 * i, s) for i, s in enumerate(scores, 1)]
    _, mean = plot_scores(rows, window=window).lines
    expected = [np.mean(scores[max(0, end - window) : end]) for end in range(1, 9)]
    assert_allclose(mean.get_ydata(), expected)


def test_shares_over_time_are_means():
    model = st.GibbsOnlineEM(4, random_state=0).fit(X)
    years = np.repeat([2001, 1999, 2000], 100)
    found = shares_over_time(model, X, years)
    assert found.times == [1999, 2000, 2001]
    assert found.n_documents.tolist() == [100] * 3
    shares = model.transform(X)
    for time, row in zip(found.times, found.shares, strict=True):
        assert_allclose(row, shares[years == time].mean(axis=0), rtol=1e-6)
    days = np.array(["2026-11-21", "2026-11-22", "2026-11-21"], "datetime64[ns]")
    assert [moment.day for moment in shares_over_time(model, X[:3], days).times] == [21, 22]
    with pytest.raises(ValueError, match=r"times must have one entry for each of the 300 docum"):
        shares_over_time(model, X, years[1:])


def test_large_whole_numbers_are_different_times(model):
    times = np.array([10**20, 2 * 10**20, 10**19], object)
    found = shares_over_time(model, np.eye(3, len(NAMES)), times)
    assert found.times == [10**19, 10**20, 2 * 10**20]


def test_labels_of_a_series_are_taken_by_their_places():
    labels = pd.Series(["big", "small"], index=[1, 0])
    ax = plot_shares(pd.Series([*"abc"], index=[5, 6, 7]), [[0.9, 0.1]] * 3, labels)
    assert [entry.get_text() for entry in ax.get_legend().get_texts()] == ["small", "big"]


TIMES = {
    "NaN": np.array([2024, np.nan, 2025]),
    "NaT": np.array(["2024", "NaT", "2025"], dtype="M8[Y]"),
    "None": np.array([2024, None, 2025], dtype=object),
    "NaN of objects": np.array([2024, np.nan, 2025], dtype=object),
    "masked": np.ma.array([2024, 2026, 2025], mask=[False, True, False]),
    "NaN among texts": ["2024-05", float("nan"), "2024-06"],
    "NA": [2024, pd.NA, 2025],
    "NA of pandas": pd.Series([2024, None, 2025], dtype="Int64"),
}


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
def test_documents_without_a_time_are_in_none(times, model):
    X = np.eye(3, len(NAMES))
    found = shares_over_time(model, X, times)
    expected = shares_over_time(model, X[::2], list(times)[::2])
    assert found.times == expected.times
    assert len(found.times) == 2
    assert_array_equal(found.shares, expected.shares)
    assert_array_equal(found.n_documents, [1, 1])


@pytest.mark.parametrize(
    "times", [[1, 2, 3], list("abc"), [date(2026, 11, d) for d in (1, 2, 3)], np.arange(3.0)]
)
def test_a_stream_of_shares_ends_at_one(times):
    shares = np.random.default_rng(0).dirichlet(np.ones(5), size=3)
    ax = plot_shares(times, shares, list("abcde"), n_topics=3)
    labels = [entry.get_text() for entry in ax.get_legend().get_texts()]
    largest = sorted(np.argsort(-shares.sum(axis=0))[:3])
    assert labels == ["others", *("abcde"[k] for k in largest[::-1])]
    ax.figure.canvas.draw()
    assert_allclose(ax.get_ylim(), (0, 1))


def first_band(ax):
    """Times and heights of the lowest band."""
    corners = ax.collections[0].get_paths()[0].vertices
    times = np.unique(corners[:, 0])
    return times, [corners[corners[:, 0] == time, 1].max() for time in times]


def test_many_dates_are_drawn_by_periods():
    n = 3 * 365
    dates = [datetime(2020, 1, 1) + timedelta(days=day) for day in range(n)]
    shares = np.random.default_rng(0).dirichlet(np.ones(2), size=n)
    months = np.array([date.month - 1 + 12 * (date.year - 2020) for date in dates])
    sizes = np.arange(1, n + 1)
    for weights, given in ((sizes, sizes), (np.ones(n), None)):
        times, heights = first_band(plot_shares(dates, shares, "ab", n_documents=given))
        expected = np.bincount(months, shares[:, 0] * weights) / np.bincount(months, weights)
        assert len(times) == 36
        assert_allclose(heights, expected)
    assert len(first_band(plot_shares(dates[:40], shares[:40], "ab"))[0]) == 40


def test_shares_must_fit():
    with pytest.raises(ValueError, match=r"for each of the 2 times and a column for each of the 3"):
        plot_shares([1, 2], np.ones((2, 2)), list("abc"))


def test_picture_of_drift(forgetting):
    axes = plot_drift(forgetting)
    assert [ax.images[0].get_array().shape for ax in axes] == [(3, 4), (3, 4)]
    assert_array_equal(axes[0].images[0].get_array(), forgetting.retention_history_.T)
    assert [label.get_text() for label in axes[0].get_xticklabels()][-1] == "2002"
    with pytest.raises(ValueError, match="needs a minibatch since"):
        plot_drift(st.SVBHPP(3, inference="gibbs").partial_fit(np.zeros((0, 50))))


def test_one_share_of_all_topics_is_a_line():
    model = st.StreamingLDA(3, update="power_prior", random_state=0)
    for start in range(0, 300, 100):
        model.partial_fit(X[start : start + 100])
    axes = plot_drift(model)
    assert_allclose(axes[0].lines[0].get_ydata(), model.retention_history_[:, 0])
    assert len(axes[1].images) == 1


def test_distances_on_the_map_are_those_of_hellinger_where_two_axes_suffice():
    rng = np.random.default_rng(0)
    # Square roots on a circle of the sphere lie in a plane.
    angles = rng.uniform(0, 1.5, 5)
    roots = np.column_stack([np.cos(angles) * 0.6, np.sin(angles) * 0.6, np.full(5, 0.8)])
    found = places(affinities(roots**2))
    expected = np.linalg.norm(roots[:, None] - roots, axis=2) / np.sqrt(2)
    assert_allclose(np.linalg.norm(found[:, None] - found, axis=2), expected, atol=1e-12)
    assert_allclose(found.mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("size", [(3, 3), (9, 2)])
def test_the_frame_of_a_map_cuts_no_disc_and_none_covers_another(size):
    """Of twelve topics, though the corpus has four."""
    model = st.SVBLDA(12, random_state=0).partial_fit(X[:40])
    ax = plot_topic_map(model, NAMES, ax=pyplot.subplots(figsize=size)[1])
    ax.figure.canvas.draw()
    inside, discs = ax.get_window_extent(), ax.patches
    for disc in discs:
        box = disc.get_window_extent()
        assert inside.x0 <= box.x0 < box.x1 <= inside.x1
        assert inside.y0 <= box.y0 < box.y1 <= inside.y1
    for one, other in combinations(discs, 2):
        far = np.hypot(*np.subtract(one.center, other.center))
        assert far > 0.97 * (one.radius + other.radius)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_topics_have_a_map(n):
    plot_topic_map(st.SVBLDA(n, random_state=0).fit(X), NAMES)


def test_charts_are_called_by_the_names_of_topics():
    X = NamedCounts.of([[2, 1, 0, 0], [0, 0, 1, 2]] * 20, ["sea", "ship", "plane", "sky"])
    seeds = {"water": ["sea"], "air": ["sky"]}
    guided = st.GuidedTopics(seeds, n_unseeded=1, random_state=0).fit(X)
    assert topic_names(guided) == ["water", "air", "topic 2"]
    titles = {panel.get_title().split(":")[0] for panel in plot_topics(guided)}
    assert titles == set(topic_names(guided))
    assert {"0 water", "1 air"} < {text.get_text() for text in plot_topic_map(guided).texts}
    sentences = [X[:3], X[3:4]] * 6
    moods = st.AspectSentimentModel(1, batch_size=2, random_state=0).fit(sentences)
    assert topic_names(moods) == ["positive_0", "negative_0"]
    assert topic_names(st.StreamingLDA(2, random_state=0).fit(X)) == ["topic 0", "topic 1"]


@pytest.mark.parametrize(("n", "shape"), [(4, (1, 4)), (6, (2, 3)), (11, (3, 4))])
def test_charts_of_topics_fill_their_rows(n, shape):
    X = make_lda_corpus(30, n_components=3, n_features=20, random_state=0).X
    axes = plot_topics(st.StreamingLDA(n, random_state=0).fit(X))
    assert axes[0].get_gridspec().get_geometry() == shape


def test_colours_are_seen_on_white_and_on_black():
    """Contrast as in WCAG 2."""
    for name in COLORS:
        rgb = np.array(to_rgb(name))
        linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
        luminance = linear @ [0.2126, 0.7152, 0.0722]
        assert 1.05 / (luminance + 0.05) > 2
        assert (luminance + 0.05) / 0.05 > 3


def test_scores_are_drawn_at_the_documents_seen():
    history, model = ScoreHistory(), st.SVBLDA(2, random_state=0)
    stream(model, [COUNTS], callbacks=[history])
    assert plot_scores(history.rows).lines[0].get_xdata().size == 0
    stream(model, [COUNTS] * 2, callbacks=[history])
    assert plot_scores(history.rows).lines[0].get_xdata().tolist() == [80, 120]
