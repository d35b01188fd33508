# SPDX-License-Identifier: BSD-3-Clause
"""Events are planted as they are described, in a small corpus that needs no data."""

from collections import Counter
from datetime import date, timedelta

import numpy as np
import pytest

from benchmarks import planted as module
from benchmarks.planted import GROUPS, KINDS, SHARES, Material, events, planted_in, shuffled

OWN = ["ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"]
N = 6000


def given(period, n_subject=2000):
    """Documents of a year, and a subject whose documents hold its own words alone."""
    rng = np.random.default_rng(0)
    days = np.sort(rng.integers(0, 365, N))
    texts = [" ".join(rng.choice(["red", "green", "blue"], 4)) for _ in days]
    subject = [" ".join(rng.choice(OWN, 5)) for _ in range(n_subject)]
    rare = ["anvil", "bellows", "cinder", "damask", "ermine", "girdle"]
    times = [date(2001, 1, 1) + timedelta(int(day)) for day in days]
    return Material(texts, times, period, subject, ["red owl"] * 9, rare)


def made(kind, seed=0, period="month"):
    return planted_in(given(period), kind, np.random.default_rng(seed))


def subject_of(planted, words=OWN):
    """Which documents hold a word of the subject."""
    return np.array([not set(words).isdisjoint(text.split()) for text in planted.texts])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", ["burst", "birth", "death"])
def test_the_subject_is_there_within_the_window_alone(kind, seed):
    planted = made(kind, seed)
    own, times = subject_of(planted), np.array(planted.times)
    first, last = planted.event.when
    assert planted.times == sorted(planted.times)
    assert np.array_equal(planted.event.rows, np.flatnonzero(own))
    assert set(planted.event.words) == set(OWN)
    inside = (times >= first) & (times <= last)
    assert not (own & ~inside).any()
    (low, high), share = SHARES[kind], own.sum() / inside.sum()
    assert own.sum() == module.LEAST_DOCUMENTS or low - 1e-3 < share < high + 1e-3
    if kind != "death":
        assert first.day == 1
    if kind == "burst":
        assert (last - first).days < 92
    else:
        change = np.mean(times < first) if kind == "birth" else np.mean(times <= last)
        assert 0.28 < change < 0.72
        assert (last == times[-1]) if kind == "birth" else (first == times[0])


@pytest.mark.parametrize("seed", range(5))
def test_weeks_begin_on_mondays(seed):
    first, last = made("birth", seed, "week").event.when
    assert first.weekday() == 0
    assert last == date(2001, 12, 31)


@pytest.mark.parametrize("seed", range(5))
def test_words_are_replaced_from_a_time_on(seed):
    planted = made("words", seed)
    event, first = planted.event, planted.event.when[0]
    assert 3 <= len(event.swapped) <= 5
    assert event.swapped.keys() <= set(OWN)
    assert event.words == tuple(event.swapped.values())
    late = np.array(planted.times) >= first
    went, came = (subject_of(planted, words) for words in (event.swapped, event.words))
    assert went[~late].any()
    assert not went[late].any()
    assert np.array_equal(event.rows, np.flatnonzero(came))
    assert late[came].all()


@pytest.mark.parametrize("seed", range(5))
def test_the_subject_falls_more_often_into_one_group(seed):
    planted = made("group", seed)
    own, groups = subject_of(planted), np.array(planted.groups)
    assert planted.event.when is None
    assert np.array_equal(planted.event.rows, np.flatnonzero(own & (groups == planted.event.group)))
    assert SHARES["group"][0] - 1e-3 <= own.mean() <= SHARES["group"][1] + 1e-3
    shares = Counter(groups[~own])
    chance = shares[planted.event.group] / (~own).sum()
    ratio = len(planted.event.rows) / own.sum() / chance
    assert 0.75 * module.TIMES_AS_OFTEN[0] < ratio < 1.25 * module.TIMES_AS_OFTEN[1]
    assert shares.keys() == GROUPS.keys()
    # The other kinds have groups at random, and do not name one.
    assert made("birth", seed).event.group is None


@pytest.mark.parametrize("kind", KINDS)
def test_shuffled_documents_are_the_same_at_random_times_in_random_groups(kind):
    planted = made(kind)
    mixed = shuffled(planted, 1)
    assert mixed.times == planted.times
    for one, other in ((mixed.texts, planted.texts), (mixed.groups, planted.groups)):
        assert Counter(one) == Counter(other)
    rows, groups = mixed.event.rows, np.array(mixed.groups)
    carried = Counter(planted.texts[i] for i in planted.event.rows)
    assert Counter(mixed.texts[i] for i in rows) == carried
    # Shares of the first half and of each group are within four standard errors of chance.
    for there in (np.arange(len(groups)) < len(groups) / 2, *(groups == g for g in GROUPS)):
        error = (there.mean() * (1 - there.mean()) / len(rows)) ** 0.5
        assert abs(there[rows].mean() - there.mean()) < 4 * error


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_the_same_documents(kind):
    one, same, other = (made(kind, seed) for seed in (3, 3, 4))
    assert (one.texts, one.times, one.groups) == (same.texts, same.times, same.groups)
    assert np.array_equal(one.event.rows, same.event.rows)
    assert one.texts != other.texts


def test_a_subject_with_too_few_documents_is_refused():
    with pytest.raises(ValueError, match="the subject has 30 documents"):
        planted_in(given("month", 30), "words", np.random.default_rng(0))


def test_events_are_balanced():
    found = list(events(50))
    assert Counter(kind for _, kind, _ in found) == dict.fromkeys(KINDS, 10)
    assert sorted(Counter(corpus for corpus, _, _ in found).values()) == [16, 17, 17]
    assert len({(kind, corpus) for corpus, kind, _ in found}) == 15
    assert len(set(found)) == 50
