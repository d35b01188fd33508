# SPDX-License-Identifier: BSD-3-Clause
"""The rate of false findings, and what is said of groups."""

import math

import numpy as np
import pytest
from scipy import sparse

from streamtopics.story.cells import Period, Totals
from streamtopics.story.findings import Change, Sample, Topics, _same_time, _together, find


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


@pytest.mark.statistical
def test_a_group_of_few_authors_is_not_found_by_their_swings():
    """Each month 40 documents of a group are one author's, of one topic: 24 authors in all."""
    n_found = n_hits = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        own = 40 * np.eye(2)[(rng.random(24) < 0.7).astype(int)]
        others = rng.multinomial(160, [0.3, 0.7], 24)
        lasting = rng.multinomial(40, [0.6, 0.4], 24)
        for rows, n in ((own, "found"), (lasting, "hits")):
            tables = np.stack([0 * rows, rows, others], axis=1)
            table = np.stack([tables.sum(axis=2), tables[..., 0]], axis=2)
            found = any(one.group for one in found_in(groups_of(table), np.full((2, 2), 0.5)))
            n_found, n_hits = n_found + (found and n == "found"), n_hits + (found and n == "hits")
    assert n_found <= 12
    assert n_hits == 100


def weak_words(seed, *, planted):
    """300 documents a month; in two months each of 24 has one of four rare words."""
    rng, n_periods, each = np.random.default_rng(seed), 36, 300
    period = np.repeat(np.arange(n_periods), each)
    counts = (rng.random((len(period), 800)) < 10 ** rng.uniform(-3.3, -1.5, 800)).astype(float)
    if planted:
        counts[:, :4] = 0.0
        rows = rng.choice(np.flatnonzero((period == 9) | (period == 10)), 24, replace=False)
        counts[rows, np.arange(24) % 4] = 1.0
        others = rng.choice(len(period), 8, replace=False)
        counts[others, np.arange(8) % 4] = 1.0
    holders = np.array([counts[period == t].sum(axis=0) for t in range(n_periods)])
    shares = np.eye(3)[rng.integers(0, 3, len(period))]
    sums = np.array([shares[period == t].sum(axis=0) for t in range(n_periods)])[:, None]
    n, none = np.full((n_periods, 1), float(each)), np.zeros(len(period), np.intp)
    sample = Sample(sparse.csr_matrix(counts), shares, period, none, ["text"] * len(period))
    names = [f"w{i}" for i in range(800)]
    topics = Topics([["a"]] * 3, names, np.full((3, 800), 1 / 3))
    return find(totals_of(n, sums, holders), topics, sample, 0.05)


@pytest.mark.statistical
def test_rare_words_of_one_time_are_a_finding_together():
    """None of them would be one by itself, and by chance there are not so many at once."""
    n_hits = n_false = 0
    for seed in range(20):
        found = weak_words(seed, planted=True)
        n_hits += any({*one.came} >= {"w0", "w1"} and one.periods == (9, 10) for one in found)
        n_false += bool(weak_words(seed + 100, planted=False))
    assert n_hits >= 8
    assert n_false <= 4


def test_words_of_the_same_documents_count_once():
    rng = np.random.default_rng(0)
    words = [Change(i, *(int(t) for t in np.sort(rng.integers(1, 30, 2))), 3.0, p)
             for i, p in enumerate(rng.uniform(size=500))]  # fmt: skip
    own = [Change(i, 4, 5, 5.0, 1e-3) for i in range(3)]
    apart, same = np.diag([4.0] * 3), np.full((3, 3), 4.0)
    part = np.mean([_same_time(own[0], one) for one in words])
    each = [
        (2 * 500 * 1e-3) ** j * part ** (j - 1) / math.factorial(j - 1) / 500 for j in (1, 2, 3)
    ]
    assert _together(own, apart, words) == pytest.approx(min(each))
    assert _together(own, same, words) == pytest.approx(each[0])
    # Nor words of which too few documents are kept to say.
    assert _together(own, np.zeros((3, 3)), words) == pytest.approx(each[0])
