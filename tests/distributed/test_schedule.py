# SPDX-License-Identifier: BSD-3-Clause
"""Rounds and how many are under way, by the place in a stream."""

import pytest

from streamtopics.distributed.fitting import ENOUGH, ENOUGH_DOCUMENTS, WARMUP, Plan


def run(schedule, n_minibatches, before=0):
    """Places where rounds begin, and the oldest place that each is learnt from."""
    place, ends, seen = 0, [], []
    while place < n_minibatches:
        late = schedule.under_way(place, place + before)
        length = min(schedule.length(place, place + before), n_minibatches - place)
        known = ([0, *ends])[-1 - late] if late < len(ends) + 1 else 0
        seen.append((place, length, known))
        place += length
        ends.append(place)
    return seen


@pytest.mark.parametrize("staleness", [1, 2, 8])
@pytest.mark.parametrize("rounds", [1, 8, 64])
def test_a_round_is_learnt_from_nearly_all_that_came_before(rounds, staleness):
    found = run(Plan(rounds, staleness), 3000)
    assert sum(length for _, length, _ in found) == 3000
    for place, length, known in found:
        assert 1 <= length <= rounds
        assert place - known <= max(place / WARMUP, 0)
    if WARMUP * rounds * staleness < 2500:
        assert found[-2][1] == rounds


@pytest.mark.parametrize("rounds", [1, 8, 64])
def test_without_staleness_rounds_are_long_from_the_start(rounds):
    found = run(Plan(rounds, 0), 640)
    assert {length for _, length, _ in found} == {rounds}
    assert all(place == known for place, _, known in found)


@pytest.mark.parametrize("staleness", [1, 2, 8])
@pytest.mark.parametrize("rounds", [1, 4, 8, 64])
@pytest.mark.parametrize("batch_size", [20, 500, 1200])
def test_the_client_learns_until_rounds_are_worth_their_way(rounds, staleness, batch_size):
    schedule = Plan(rounds, staleness, batch_size=batch_size)
    first = next(n for n in range(10**5) if not schedule.learns_here(n))
    assert all(schedule.learns_here(n) for n in range(first))
    length = schedule.length(first, first)
    documents = -(-ENOUGH_DOCUMENTS // batch_size)
    assert length == min(rounds, ENOUGH, documents)
    assert not schedule.learns_here(10**6)
    assert not Plan(rounds, 0).learns_here(0)


def test_a_model_that_has_learnt_before_begins_with_long_rounds():
    assert run(Plan(8, 2), 100, before=1000)[0][1] == 8
    assert run(Plan(8, 2), 100)[0][1] == 1


def test_at_checkpoints_nothing_is_under_way():
    schedule = Plan(8, 2, every=50)
    found = run(schedule, 1000)
    starts = {place for place, _, _ in found}
    assert set(range(0, 1000, 50)) <= starts
    assert all(schedule.under_way(place, place) == 0 for place in range(0, 1000, 50))
    assert any(schedule.under_way(place, place) == 2 for place in starts)
