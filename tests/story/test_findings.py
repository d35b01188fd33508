# SPDX-License-Identifier: BSD-3-Clause
"""The rate of false findings, and what is said of groups."""

import numpy as np
import pytest
from scipy import sparse

from streamtopics.story.cells import Period, Totals
from streamtopics.story.findings import Sample, Topics, find


def totals_of(n, sums, holders, groups=("",), squares=None):
    """Days with documents of one topic each, and words."""
    start = np.datetime64("2024-01-01")
    periods = tuple(Period(str(start + i), start + i, "day") for i in range(len(n)))
    squares = sums if squares is None else squares
    return Totals(periods, groups, n, sums, squares, sums, holders)


def found_in(totals, of_words, level=0.05):
    n_topics, n_words = of_words.shape
    none = np.zeros(0, np.intp)
    sample = Sample(sparse.csr_matrix((0, n_words)), np.zeros((0, n_topics)), none, none, [])
    names = [f"w{i}" for i in range(n_words)]
    return find(totals, Topics([["a"]] * n_topics, names, of_words), sample, level)


@pytest.mark.statistical
def test_large_events_make_no_small_findings_less_sure():
    """Three events of 30 words each, and 2,900 words of which nothing is to be said."""
    n_periods, n_words, n_found, n_false = 24, 3000, 0, 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = rng.integers(150, 250, n_periods)
        holders = rng.binomial(n[:, None], 10 ** rng.uniform(-2.5, -0.7, n_words)).astype(float)
        of_words = np.full((4, n_words), 0.25)
        for event in range(3):
            words, t = slice(30 * event, 30 * event + 30), rng.integers(3, n_periods - 3)
            more = rng.binomial(n[t : t + 2, None], 0.12, (2, 30))
            holders[t : t + 2, words] = np.minimum(holders[t : t + 2, words] + more, n[t, None])
            of_words[:, words] = 0.01
            of_words[event, words] = 0.9
        sums = rng.multinomial(n, [0.25] * 4)[:, None].astype(float)
        found = found_in(totals_of(n[:, None].astype(float), sums, holders), of_words)
        n_found += len(found)
        n_false += sum(one.word is None or int(one.word[1:]) >= 90 for one in found)
    assert n_found >= 88
    assert n_false / n_found <= 0.05


def groups_of(table):
    """Totals of (documents, of them with topic 0) by period and group."""
    table = np.array(table, float)
    n, own = table[..., 0], table[..., 1]
    return totals_of(n, np.stack([own, n - own], axis=2), np.zeros((len(n), 2)), ("", "a", "b"))


def test_what_others_have_is_of_the_same_time():
    """Group a has more than others at any time, and was there when all had little."""
    early, late = [(0, 0), (900, 180), (100, 5)], [(0, 0), (100, 90), (900, 540)]
    found = found_in(groups_of([early, late]), np.full((2, 2), 0.5))
    one = next(one for one in found if one.group == "a" and one.topic == 0)
    assert one.kind == "more"
    assert one.share == pytest.approx(270 / 1000)
    assert one.share_before == pytest.approx((900 * 0.05 + 100 * 0.6) / 1000)


def test_periods_without_other_documents_say_nothing_of_a_group():
    alone = [(0, 0), (500, 10), (0, 0)]
    both = [(0, 0), (300, 150), (300, 30)]
    found = found_in(groups_of([alone, both]), np.full((2, 2), 0.5))
    one = next(one for one in found if one.group == "a" and one.topic == 0)
    assert (one.kind, one.n_all, one.share, one.share_before) == ("more", 300, 0.5, 0.1)
