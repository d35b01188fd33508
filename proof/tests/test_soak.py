# SPDX-License-Identifier: BSD-3-Clause
"""A short stream of the endurance run, and that what goes wrong in one is found."""

import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.results import read
from proof import soak as module
from proof import soak_streams
from proof.soak import ALONE, SERVICE, is_whole, soak
from proof.soak_checks import leaking, slower, speeds, wrong_topics
from proof.soak_page import table
from proof.soak_streams import (
    BARE,
    ENORMOUS,
    SINGLE,
    WAYS,
    Reader,
    Way,
    minibatch,
    minibatches,
    pipeline,
    seen_from,
    seen_until,
)
from streamtopics import SVBLDA, StreamingLDA
from streamtopics.estimators import Schedule
from tests import plain

TABLE = Path(__file__).parents[2] / "doc" / "soak_table.rst"
N_TOKENS = 8_000


def small(n_jobs):
    """A stream that learns in moments."""
    return pipeline(SVBLDA(3, random_state=0, n_jobs=n_jobs), n_columns=100)


WAY = Way("small", small, 1.0, 0, n_documents=10, n_columns=100, part=None)


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    monkeypatch.setattr(soak_streams, "ROWS", 8)


def as_read(rows):
    """Rows as a file has them."""
    return [{name: str(value) for name, value in row.items()} for row in rows]


@pytest.mark.skipif(
    "coverage" in sys.modules, reason="an interrupt could leave a lock of the tracer closed"
)
def test_a_stream_with_faults_ends_in_the_bits_of_the_other(tmp_path, monkeypatch):
    def slow(*given):
        for texts in minibatches(*given):
            time.sleep(0.2)
            yield texts

    monkeypatch.setattr(module, "minibatches", slow)
    monkeypatch.setattr(module, "DELAY", 0.01)
    rows, problems = soak(WAY, N_TOKENS, 2, 0, tmp_path)
    assert problems == []
    service, alone = ([row for row in rows if row["part"] == part] for part in (SERVICE, ALONE))
    assert [row["score"] for row in service] == [row["score"] for row in alone]
    assert [row["batch"] for row in alone] == list(range(1, 9))
    assert alone[-1]["tokens"] < N_TOKENS
    kept = as_read(rows)
    assert "small" in table(kept)
    assert is_whole(kept, WAY, (N_TOKENS, 0, 2))
    assert not is_whole(kept, WAY, (10 * N_TOKENS, 0, 2))
    assert not is_whole(kept, WAY, (N_TOKENS, 1, 2))
    assert not is_whole(kept[:-1], WAY, (N_TOKENS, 0, 2))


def test_another_end_is_found(tmp_path):
    def other(n_jobs):
        return pipeline(SVBLDA(3, random_state=n_jobs, n_jobs=n_jobs), n_columns=100)

    _, problems = soak(replace(WAY, make=other), N_TOKENS, 0, 0, tmp_path)
    assert any("other bits" in one for one in problems)
    assert any("other scores" in one for one in problems)


def test_a_stream_that_leaks_is_found(tmp_path, monkeypatch):
    """40 MB with each minibatch: more than an allocator takes from what was freed before."""
    kept, learn = [], SVBLDA.partial_fit

    def leaking(self, X, y=None, *, time=None):
        kept.append(np.ones(5_000_000))
        return learn(self, X, y, time=time)

    monkeypatch.setattr(SVBLDA, "partial_fit", leaking)
    _, problems = soak(WAY, N_TOKENS, 0, 0, tmp_path)
    assert ["memory grew" in one for one in problems] == [True, True]


def test_documents_that_are_lost_are_found_by_the_stream_and_by_the_reader(tmp_path, monkeypatch):
    right = SVBLDA.n_documents_seen_
    wrong = property(lambda self: right.fget(self) - 1)
    monkeypatch.setattr(SVBLDA, "n_documents_seen_", wrong)
    _, problems = soak(WAY, N_TOKENS, 0, 0, tmp_path)
    found = "small, alone: (1, 9) minibatches and documents seen, not (1, 10) (minibatch 1)"
    assert found in problems
    model = WAY.make(1).partial_fit(minibatch(WAY, 0, 8))
    sent, until = [], time.monotonic() + 60
    with Reader(WAY, model, minibatch(WAY, 0, 8), sent.append):
        while not sent and time.monotonic() < until:
            time.sleep(0.01)
    assert "documents seen" in sent[0]["problem"]


def test_a_model_that_learns_minibatches_in_parts_has_seen_whole_ones(tmp_path):
    """Its own minibatches are more than those of the stream."""

    def in_parts(n_jobs):
        return pipeline(
            StreamingLDA(3, schedule=Schedule(inner_batch_size=5), random_state=0, n_jobs=n_jobs),
            n_columns=100,
        )

    way = replace(WAY, make=in_parts, part=5)
    assert [seen_until(way, n) for n in (0, 1, SINGLE - 1)] == [(0, 0), (2, 10), (56, 280)]
    assert [seen_until(way, n) for n in (SINGLE, SINGLE + 1)] == [(57, 281), (59, 291)]
    assert [seen_from(way, n) for n in (0, 9, 10, 11)] == [(0, 0), (2, 10), (2, 10), (4, 20)]
    _, problems = soak(way, N_TOKENS, 0, 0, tmp_path)
    assert problems == []


def test_counts_that_do_not_fit_their_sum_are_found():
    model = plain.SVBLDA(3, random_state=0).partial_fit(np.eye(5))
    assert wrong_topics(model, (1, 5)) == ""
    assert "minibatches" in wrong_topics(model, (2, 5))
    model.posterior_._state = model.posterior_._state._replace(learnt_mass=np.ones(3))
    assert "do not sum" in wrong_topics(model, (1, 5))


# The rows


def test_the_table_of_the_page_is_that_of_the_rows():
    found = read(module.OUTPUT)
    assert {row["stream"] for row in found} == set(WAYS)
    assert TABLE.read_text(encoding="utf-8") == table(found), "run proof.soak --page doc"


def rows_of(tokens, seconds=None, megabytes=None, topics=None):
    """Rows of a stream, 100 where nothing is said."""
    columns = {"tokens": tokens, "seconds": seconds, "megabytes": megabytes, "topics": topics}
    filled = {k: np.full(40, 100.0) if v is None else v for k, v in columns.items()}
    return [dict(zip(filled, row, strict=True)) for row in zip(*filled.values(), strict=True)]


MILLIONS = 1e7 * np.arange(1, 41)


def test_memory_that_grows_with_tokens_is_found():
    noise = np.random.default_rng(0).normal(0, 5, 40)
    for bytes_a_token, problem in ((0.0, False), (0.05, False), (0.2, True)):
        rows = rows_of(MILLIONS, megabytes=400 + noise + bytes_a_token * MILLIONS / 1e6)
        assert bool(leaking(rows, 20_000)) is problem
    # Half of what there was at first, in steps of a tenth between quarters.
    assert leaking(rows_of(MILLIONS, megabytes=np.linspace(400, 600, 40)), 20_000)
    topics = np.linspace(5, 200, 40)
    assert not leaking(rows_of(MILLIONS, megabytes=400 + 0.5 * topics, topics=topics), 20_000)


def test_a_stream_that_becomes_slower_is_found():
    steady, slowing = np.linspace(10, 400, 40), np.linspace(3, 20, 40) ** 2
    assert slower(rows_of(MILLIONS, steady)) == ""
    assert "in the last quarter" in slower(rows_of(MILLIONS, slowing))
    assert slower(rows_of(MILLIONS, slowing, topics=np.linspace(5, 200, 40))) == ""
    assert slower(rows_of(MILLIONS, slowing / 100)) == ""
    assert speeds(rows_of(MILLIONS, steady)) == pytest.approx([1e6] * 4)


@pytest.mark.parametrize("number", [0, ENORMOUS - 1, BARE - 1, SINGLE - 1])
def test_minibatches_are_the_same_when_asked_for_again_and_as_large_as_said(number):
    way = WAYS["HDP"]
    texts = minibatch(way, number, 100)
    assert texts == minibatch(way, number, 100)
    assert len(texts) == seen_until(way, number + 1)[1] - seen_until(way, number)[1]
