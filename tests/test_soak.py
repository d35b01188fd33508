# SPDX-License-Identifier: BSD-3-Clause
"""A short stream of the endurance run, and that what goes wrong in one is found."""

import time
from dataclasses import replace

import numpy as np
import pytest

from benchmarks import soak as module
from benchmarks.soak import ALONE, SERVICE, Watch, soak
from benchmarks.soak_page import table
from benchmarks.soak_streams import (
    BARE,
    ENORMOUS,
    SINGLE,
    WAYS,
    Way,
    documents_until,
    minibatch,
    minibatches,
    pipeline,
    wrong_proportions,
)
from streamtopics import SVBLDA


def small(n_jobs):
    """A stream that learns in moments."""
    return pipeline(SVBLDA(3, random_state=0, n_jobs=n_jobs))


WAY = Way("small", small, 1.0, 0, n_documents=10)


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    monkeypatch.setattr(module, "ROWS", 8)


def test_a_stream_with_faults_ends_in_the_bits_of_the_other(tmp_path, monkeypatch):
    def slow(*given):
        for texts in minibatches(*given):
            time.sleep(0.05)
            yield texts

    monkeypatch.setattr(module, "minibatches", slow)
    monkeypatch.setattr(module, "DELAY", 0.01)
    rows, wrong = soak(WAY, 8_000, 2, 0, tmp_path)
    assert wrong == []
    parts = {part: [row for row in rows if row["part"] == part] for part in (SERVICE, ALONE)}
    assert [row["score"] for row in parts[SERVICE]] == [row["score"] for row in parts[ALONE]]
    done = parts[SERVICE][-1]
    assert done["kills"] + done["interrupts"] >= 1
    assert "small" in table([{name: str(value) for name, value in row.items()} for row in rows])


def test_another_end_is_found(tmp_path):
    def other(n_jobs):
        return pipeline(SVBLDA(3, random_state=n_jobs, n_jobs=n_jobs))

    _, wrong = soak(replace(WAY, make=other), 8_000, 0, 0, tmp_path)
    assert any("other" in one for one in wrong)


def test_a_stream_that_fails_is_found(tmp_path):
    def broken(n_jobs):
        return pipeline(SVBLDA(3, topic_word_prior=-1.0))

    _, wrong = soak(replace(WAY, make=broken), 8_000, 0, 0, tmp_path)
    assert any("topic_word_prior" in one for one in wrong)


def test_a_silent_stream_is_found(monkeypatch):
    monkeypatch.setattr(module, "SILENCE", 0.2)
    watch = Watch(WAY, SERVICE)
    assert not watch.follow(lambda send: module.signal.pause(), [], np.random.default_rng(0))
    assert "silent" in watch.wrong[0]


def test_what_a_check_of_a_model_tells():
    watch = Watch(WAY, SERVICE)
    told = {"batch": 1, "tokens": 1, "score": -1.0, "megabytes": 1, "topics": 3, "reads": 0}
    watch.take(told | {"wrong": "5 documents seen, not 4"})
    watch.take(told | {"score": -2.0})
    assert len(watch.wrong) == 2
    assert wrong_proportions(np.array([[0.5, 0.5]])) == ""
    assert wrong_proportions(np.array([[0.5, np.nan]]))
    assert wrong_proportions(np.array([[0.5, 0.6]]))


@pytest.mark.parametrize("number", [0, ENORMOUS - 1, BARE - 1, SINGLE - 1])
def test_minibatches_are_the_same_when_asked_for_again_and_as_large_as_said(number):
    way = WAYS["HDP"]
    texts = minibatch(way, number, 100)
    assert texts == minibatch(way, number, 100)
    assert len(texts) == documents_until(way, number + 1) - documents_until(way, number)
