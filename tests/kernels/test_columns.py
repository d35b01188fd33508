# SPDX-License-Identifier: BSD-3-Clause
"""The columns of a stream at the cost of a minibatch, against passes over all words."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from streamtopics.kernels import tokens
from tests.reference import columns as reference


def check(found, expected):
    for mine, theirs in zip(found.arrays(), expected, strict=True):
        assert mine.dtype == theirs.dtype
        assert_array_equal(mine, theirs)
    n_held = np.count_nonzero(expected.owner >= 0)
    sizes = len(expected.frequency), n_held, len(expected.owner)
    assert (found.n_words, found.n_held, found.n_columns) == sizes


def minibatch(rng, n_words, n_documents):
    """Some of the words, by Zipf's law or one as well as another, and new ones."""
    n, most = int(rng.integers(0, 60)), n_words + int(rng.integers(0, 30))
    if rng.random() < 0.5:
        drawn = np.minimum(rng.zipf(1.3, n), max(n_words, 1)) - 1
    else:
        drawn = rng.integers(0, max(n_words, 1), n)
    places = np.union1d(drawn[drawn < n_words], np.arange(n_words, most)).astype(np.int32)
    # Few numbers, so that many words tie.
    return places, np.minimum(rng.zipf(2.0, len(places)), n_documents).astype(np.float64)


SETTINGS = {
    "forgets": (0.5 ** (1 / 40), 1.0, np.inf),
    "forgets nothing": (1.0, 1.0, np.inf),
    "at least two": (0.5 ** (1 / 100), 2.0, np.inf),
    "two to nine": (0.5 ** (1 / 20), 2.0, 9.0),
    "forgets all": (0.0, 1.0, 3.0),
}


@pytest.mark.parametrize("pool", [1, 5, 1024])
@pytest.mark.parametrize("margin", [1.0, 1.5])
@pytest.mark.parametrize("name", SETTINGS)
def test_steps(name, margin, pool):
    """The same bits after each step, however far the pools reach; and branches of a stream."""
    rng = np.random.default_rng(pool)
    decay, low, high = SETTINGS[name]
    expected = reference.empty(90)
    found = tokens.Columns(*expected, pool=pool)
    n_lost, seen, kept = 0, 0, []
    for t in range(300):
        places, counts = minibatch(rng, len(expected.frequency), 10)
        if t == 100:
            high = 5.0
        if t == 200:
            low, high = 3.0, 1e9
        gives = 0.0 if t % 50 == 7 else margin
        how = places, counts, decay, low, high, gives
        after = found.step(*how, seen, seen + 10)
        if t % 20 == 3:
            # The state before is still there, and another step from it is the same.
            check(found, expected)
            found.step(places[:0], counts[:0], 0.5, low, high, margin, seen, seen + 10)
            check(found.step(*how, seen, seen + 10), reference.step(expected, *how, seen + 10)[0])
            kept.append((found, expected))
        expected, lost = reference.step(expected, *how, seen + 10)
        changed, had = after.changed()
        assert_array_equal(changed, np.flatnonzero(expected.since == seen + 10) if gives else [])
        assert_array_equal(changed[had], lost)
        for n in (seen - 30, seen, seen + 10):
            assert_array_equal(after.changed_since(n), np.flatnonzero(expected.since > n))
        if t % 10 == 0:
            check(after, expected)
        found, seen, n_lost = after, seen + 10, n_lost + len(lost)
    check(found, expected)
    for state, was in kept:
        check(state, was)
    assert n_lost > (0 if name == "forgets nothing" else 100)


def test_after_many_steps():
    """All words were brought to date several times."""
    expected = reference.empty(4)
    found = tokens.Columns(*expected)
    rng = np.random.default_rng(0)
    for t in range(600):
        places = np.array([rng.integers(min(t + 1, 9))], np.int32)
        places = np.minimum(places, len(expected.frequency)).astype(np.int32)
        how = places, np.ones(1), 0.999, 0.5, 1e9, 1.5
        found = found.step(*how, t, t + 1)
        expected, _ = reference.step(expected, *how, t + 1)
    check(found, expected)


def test_words_and_columns():
    state = tokens.Columns(
        np.array([3.0, 2.0, 1.0]), np.array([1, -1, 0], np.int32), np.array([2, 0, -1], np.int32),
        np.zeros(3, np.int64),
    )  # fmt: skip
    assert_array_equal(state.of_words(np.array([0, 1, 2, 3, -1], np.int32)), [1, -1, 0, -1, -1])
    owners, frequencies = state.owners(np.array([2, 0, 1]))
    assert_array_equal(owners, [-1, 2, 0])
    assert_array_equal(frequencies, [0, 1, 3])
    with pytest.raises(IndexError, match="column 3"):
        state.owners(np.array([3]))
    for places in ([-1], [4]):
        with pytest.raises(IndexError, match="of 3"):
            state.step(np.array(places, np.int32), np.ones(1), 1, 1, 9, 1, 0, 1)
    with pytest.raises(ValueError, match="2 counts of 1 words"):
        state.step(np.array([0], np.int32), np.ones(2), 1, 1, 9, 1, 0, 1)
    with pytest.raises(ValueError, match="3 frequencies and 2 columns"):
        tokens.Columns(np.ones(3), np.zeros(2, np.int32), np.zeros(2, np.int32), np.zeros(2, int))
