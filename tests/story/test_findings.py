# SPDX-License-Identifier: BSD-3-Clause
"""The rate of false findings, and what is said of groups."""

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binom, hypergeom, norm

from streamtopics.story import evidence
from streamtopics.story.cells import Period, Totals
from streamtopics.story.findings import _same_time, _together, find

# Two words, which two topics have alike.
EVEN = np.full((2, 2), 0.5)


def totals_of(n, sums, holders, groups=("",), of_groups=None):
    """Days with documents of one topic each, and words."""
    start = np.datetime64("2024-01-01")
    periods = tuple(Period(str(start + i), start + i, "day") for i in range(len(n)))
    of_groups = np.zeros((len(groups), holders.shape[1])) if of_groups is None else of_groups
    return Totals(periods, groups, n, sums, sums, sums, holders, of_groups)


def found_in(totals, of_words, level=0.05):
    n_topics, n_words = of_words.shape
    none = np.zeros(0, np.intp)
    sample = sample_of(np.zeros((0, n_words)), np.zeros((0, n_topics)), none, none)
    return find(totals, topics_of(of_words), sample, level)


def sample_of(has, shares, period, group):
    return evidence.Sample(sparse.csr_matrix(has), shares, period, group, ["text"] * len(has))


def topics_of(of_words):
    names = [f"w{i}" for i in range(of_words.shape[1])]
    return evidence.Topics([["a"]] * len(of_words), names, of_words)


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
    found = found_in(groups_of([early, late]), EVEN)
    one = next(one for one in found if one.group == "a" and one.topic == 0)
    assert one.kind == "more"
    assert one.share == pytest.approx(270 / 1000)
    assert one.share_before == pytest.approx((900 * 0.05 + 100 * 0.6) / 1000)


def test_what_is_rare_at_the_beginning_only_is_new_since_then():
    """The beginning is the stretch that stands out, but what is told is what came."""
    n, holders, topic = np.full((20, 1), 200.0), np.full((20, 2), 10.0), np.full(20, 60.0)
    holders[:3, 0], topic[1:4] = 0.0, 12.0
    topic[0] = n[0] = 0.0
    sums = np.stack([topic, n[:, 0] - topic], axis=1)[:, None]
    found = found_in(totals_of(n, sums, holders), EVEN)
    (word,) = (one for one in found if one.word == "w0")
    assert (word.kind, word.periods, word.came) == ("new", (3, 19), ("w0",))
    assert (word.share, word.share_before, word.surprise > 0) == (0.05, 0.0, True)
    assert str(word).startswith("*w0* is new since 4 January 2024: ")
    (grown,) = (one for one in found if one.topic == 0 and one.word is None)
    assert (grown.kind, grown.periods) == ("grown", (4, 19))
    sums = np.array([[[5.0, 0.0]], *[[[0.0, 5.0]]] * 3])
    found = found_in(totals_of(n[:4] * 0 + 5, sums, holders[:4] * 0), EVEN)
    assert [(one.kind, one.periods) for one in found if one.topic == 0] == [("grown", (0, 0))]


def test_of_two_words_the_one_that_comes_is_told_to_come():
    """Whichever leads: each may stand out more at the beginning."""
    n, one_topic = np.full((20, 1), 200.0), np.array([[0.9, 0.9], [0.1, 0.1]])
    for early in (50.0, 90.0):
        holders = np.full((20, 2), 20.0)
        holders[:3] = 0.0, early
        found = found_in(totals_of(n, np.full((20, 1, 2), 100.0), holders), one_topic)
        assert [(one.kind, one.came, one.left) for one in found] == [("changed", ("w0",), ("w1",))]
        assert found[0].periods == (3, 19)


def test_a_word_that_lacks_at_first_is_no_larger_than_a_burst():
    """Of 20 more and 20 fewer documents than expected the more surprising is first."""
    n, holders = np.full((80, 1), 200.0), np.full((80, 2), 20.0)
    holders[0, 0], holders[40, 1] = 0.0, 55.0
    found = found_in(totals_of(n, np.full((80, 1, 2), 100.0), holders), EVEN)
    assert [one.word for one in found] == ["w1", "w0"]


def test_periods_without_other_documents_say_nothing_of_a_group():
    alone = [(0, 0), (500, 10), (0, 0)]
    both = [(0, 0), (300, 150), (300, 30)]
    found = found_in(groups_of([alone, both]), EVEN)
    one = next(one for one in found if one.group == "a" and one.topic == 0)
    assert (one.kind, one.n_all, one.share, one.share_before) == ("more", 300, 0.5, 0.1)
    assert "* in periods with other groups: 50.0% on average" in str(one)


@pytest.mark.statistical
def test_a_group_of_few_authors_is_not_found_by_their_swings():
    """Each month 40 documents of a group are one author's, of one topic: 24 authors in all."""
    n_found = np.zeros(2)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        own = 40 * np.eye(2)[(rng.random(24) < 0.7).astype(int)]
        others = rng.multinomial(160, [0.3, 0.7], 24)
        lasting = rng.multinomial(40, [0.6, 0.4], 24)
        for i, rows in enumerate((own, lasting)):
            tables = np.stack([0 * rows, rows, others], axis=1)
            table = np.stack([tables.sum(axis=2), tables[..., 0]], axis=2)
            n_found[i] += any(one.group for one in found_in(groups_of(table), EVEN))
    assert n_found[0] <= 12
    assert n_found[1] == 100


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
    shares = np.eye(3)[rng.integers(0, 3, len(period))]
    holders = counts.reshape(n_periods, each, 800).sum(axis=1)
    sums = shares.reshape(n_periods, each, 3).sum(axis=1)[:, None]
    n, none = np.full((n_periods, 1), float(each)), np.zeros(len(period), np.intp)
    sample = sample_of(counts, shares, period, none)
    return find(totals_of(n, sums, holders), topics_of(np.full((3, 800), 1 / 3)), sample, 0.05)


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
    words = [evidence.Change(i, *(int(t) for t in np.sort(rng.integers(1, 30, 2))), 3.0, p)
             for i, p in enumerate(rng.uniform(size=500))]  # fmt: skip
    own = [evidence.Change(i, 4, 5, 5.0, 1e-3) for i in range(3)]
    apart, same = np.diag([4.0] * 3), np.full((3, 3), 4.0)
    part = np.mean([_same_time(own[0], one) for one in words])
    each = [
        (2 * 500 * 1e-3) ** j * part ** (j - 1) / math.factorial(j - 1) / 500 for j in (1, 2, 3)
    ]
    assert _together(own, apart, words) == pytest.approx(min(each))
    assert _together(own, same, words) == pytest.approx(each[0])
    # Nor words of which too few documents are kept to say.
    assert _together(own, np.zeros((3, 3)), words) == pytest.approx(each[0])


def grouped(has, period, group, names):
    """All that findings are made of, of documents with words, each kept."""
    n_periods, has = int(period.max()) + 1, np.asarray(has, float)
    n, holders = np.zeros((n_periods, len(names))), np.zeros((n_periods, has.shape[1]))
    np.add.at(n, (period, group), 1)
    np.add.at(holders, period, has)
    of_groups = np.array([has[group == g].sum(axis=0) for g in range(len(names))])
    totals = totals_of(n, n[..., None], holders, names, of_groups=of_groups)
    sample = sample_of(has, np.ones((len(has), 1)), period, group)
    return evidence.Data(totals, topics_of(np.ones((1, has.shape[1]))), sample, np.ones(1))


NAMES = ["", "a", "b", "c"]


def documents(seed, n=600, n_words=40, n_periods=12):
    """Rare and frequent words; groups that come and go."""
    rng = np.random.default_rng(seed)
    period = rng.integers(0, n_periods, n)
    share = np.where(period[:, None] < 6, [0.1, 0.5, 0.3, 0.1], [0.1, 0.2, 0.3, 0.4])
    group = (rng.random((n, 1)) > share.cumsum(axis=1)).sum(axis=1)
    has = rng.random((n, n_words)) < 10 ** rng.uniform(-2.2, -0.3, n_words)
    return has, period, group


def test_words_of_groups_against_a_table_of_all_documents():
    has, period, group = documents(0)
    rng = np.random.default_rng(1)
    has[:, 3] |= (group == 2) & (rng.random(600) < 0.1)
    # In one period only, as of one author.
    has[:, 4] |= (group == 3) & (period == 7) & (rng.random(600) < 0.8)
    found = evidence.words_of_groups(grouped(has, period, group, NAMES))
    assert [one.place for one in found] == np.flatnonzero(has.sum(axis=0) >= 5).tolist()
    for one in found:
        each = []
        for g in (1, 2, 3):
            x, total = has[group == g, one.place].sum(), has[:, one.place].sum()
            usual = [
                has[period == t, one.place].sum() * np.mean(group[period == t] == g)
                for t in range(12)
            ]
            q, up = sum(usual) / total, x > sum(usual)
            parts = ((x, x / sum(usual)), (total - x, (total - x) / (total - sum(usual))))
            root = np.sqrt(2 * sum(a * np.log(b) for a, b in parts if a))
            p = binom.sf(x - 1, total, q) if up else binom.cdf(x, total, q)
            p = 6 * max(p, norm.sf(root))
            swings = []
            for t, expected in enumerate(usual):
                own = has[(group == g) & (period == t), one.place].sum()
                m, r = expected * x / sum(usual), np.mean(group[period == t] == g)
                swings.append((own - m) ** 2 / (m * (1 - r) + 0.5))
            swing = np.sqrt(max(sum(swings) / 11, 1)) if p < 0.05 else 1.0
            each.append((root, g, up, root / swing, min(max(p, 6 * norm.sf(root / swing)), 1)))
        _, g, up, z, p = max(each)
        assert (one.first, one.last, one.z > 0) == (g, g, up)
        assert (abs(one.z), one.p) == pytest.approx((z, p))
    assert min(found, key=lambda one: one.p).place == 3
    assert next(one for one in found if one.place == 4).p > 1e-4


def test_tails_of_words_of_groups_are_at_least_those_of_all_cases():
    """Given the numbers of documents by period, group and word (Hoeffding 1956)."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        n = rng.integers(5, 30, 4)
        own, holders = rng.binomial(n, 0.3), rng.binomial(n, rng.uniform(0.05, 0.9))
        exact = np.ones(1)
        for a, b, c in zip(n, own, holders, strict=True):
            exact = np.convolve(exact, hypergeom.pmf(np.arange(c + 1), a, b, c))
        total, expected = holders.sum(), (holders * own / n).sum()
        upper = np.cumsum(exact[::-1])[::-1]
        bound = binom.sf(np.arange(total + 1) - 1, total, expected / max(total, 1))
        far = np.arange(total + 1) >= expected + 1
        assert (upper[far] <= bound[far] * (1 + 1e-9)).all()


@pytest.mark.statistical
def test_words_of_groups_are_seldom_found_by_chance():
    p, n_found = [], 0
    for seed in range(40):
        data = grouped(*documents(seed, n_words=200), NAMES)
        p += [one.p for one in evidence.words_of_groups(data)]
        n_found += bool(find(data.totals, data.topics, data.sample, 0.05))
    for level in (0.05, 0.01, 0.001):
        assert np.mean(np.array(p) <= level) <= level
    assert n_found <= 5


def test_of_two_groups_that_with_more_is_named():
    has = np.zeros((400, 2), bool)
    period, group = np.arange(400) % 4, np.repeat([0, 1], 200)
    has[:30, 0], has[300:, 1] = True, True
    found = evidence.words_of_groups(grouped(has, period, group, ["a", "b"]))
    assert [(one.first, one.z > 0) for one in found] == [(0, True), (1, True)]


def test_what_others_have_of_a_word_is_of_the_same_time():
    """Group a came when the word did; of others each tenth had it then, and none before."""
    period, group = np.repeat([0, 1], 1000), np.append(np.full(1000, 1), np.arange(1000) % 2)
    has = np.zeros((2000, 1), bool)
    has[1000:1400:2] = has[1001:1101:2] = True
    data = grouped(has, period, group, ["a", "b"])
    one = next(o for o in find(data.totals, data.topics, data.sample, 0.05) if o.group)
    assert (one.kind, one.group, one.word) == ("more", "a", "w0")
    assert (one.n_documents, one.n_all) == (200, 500)
    assert one.share == pytest.approx(0.4)
    # The share that is usual, 250 of 1,000, times 50 documents of others for 125 that are usual.
    assert one.share_before == pytest.approx(0.25 * 50 / 125)
    assert has[list(one.documents), 0].all()
    assert str(one).startswith("a has more of *w0*: “w0” is in 200 of 500 documents (40.0%; 95 %")


def test_documents_that_are_kept_do_not_confirm_what_learning_made():
    has, period, group = documents(2)
    has[:, 0] = np.random.default_rng(3).random(600) < 0.2
    data = grouped(has, period, group, NAMES)
    change = evidence.Change(0, 2, 2, 6.0, 1e-9)
    assert evidence.again_in_groups(change, data) > 0.05
    has[:, 0] |= (group == 2) & (np.random.default_rng(4).random(600) < 0.3)
    data = grouped(has, period, group, NAMES)
    assert evidence.again_in_groups(change, data) < 1e-4
    assert evidence.again_in_groups(change._replace(z=-6.0), data) == 1.0
