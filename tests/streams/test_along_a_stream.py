# SPDX-License-Identifier: BSD-3-Clause
"""What goes along a stream: scores and progress."""

import io
import pickle
import sys
from contextlib import redirect_stderr
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from streamtopics import SVBLDA
from streamtopics.datasets import make_lda_corpus
from streamtopics.streams import BatchInfo, ProgressReport, ScoreHistory, TimedBatch, stream
from streamtopics.streams.stream import mean_score

X = make_lda_corpus(n_documents=300, n_features=80, random_state=0).X
BATCHES = [X[i : i + 60] for i in range(0, 300, 60)]


def lda():
    return SVBLDA(3, random_state=0)


def info(batch=1, score=np.nan, n_documents=10, n_tokens=100.0, time=None):
    return BatchInfo(batch, None, time, n_documents, n_tokens, 0, 0.0, score)


def test_a_history_has_a_row_for_each_minibatch_and_its_score_is_of_what_comes():
    history = ScoreHistory()
    stream(lda(), map(TimedBatch, BATCHES, range(5)), callbacks=[history])
    loop, scores = lda(), [np.nan]
    for batch, ahead in pairwise(BATCHES):
        scores.append(loop.partial_fit(batch).score(ahead))
    tokens = [batch.sum() for batch in BATCHES]
    np.testing.assert_equal(
        history.rows,
        [
            BatchInfo(i + 1, None, i, 60, tokens[i], 60 * (i + 1), sum(tokens[: i + 1]), scores[i])
            for i in range(5)
        ],
    )
    assert history.mean == pytest.approx(np.average(scores[1:], weights=tokens[1:]))
    assert 0 < history.standard_error < 0.1


def test_a_history_keeps_the_last_rows(monkeypatch):
    monkeypatch.setattr(sys.modules[mean_score.__module__], "MAX_ROWS", 3)
    history = ScoreHistory()
    for batch in range(1, 8):
        history.on_batch(None, info(batch))
    assert [row.batch for row in history.rows] == [5, 6, 7]
    assert pd.DataFrame(history.rows).columns.tolist() == list(history.rows[0]._fields)


def rows(scores, tokens):
    return [info(1, score, 7, n) for score, n in zip(scores, tokens, strict=True)]


def test_the_mean_of_equal_minibatches_has_the_common_standard_error():
    scores = np.random.default_rng(0).normal(size=20)
    mean, error = mean_score(rows(scores, [5.0] * 20))
    np.testing.assert_allclose([mean, error], [scores.mean(), scores.std(ddof=1) / np.sqrt(20)])


def test_minibatches_weigh_what_they_have_of_tokens():
    """A minibatch of twice the tokens moves the mean like two."""
    mean, error = mean_score(rows([1.0, 4.0], [20.0, 10.0]))
    assert mean == pytest.approx(2.0)
    assert error == pytest.approx(np.sqrt(2 * ((2 / 3 * 1) ** 2 + (1 / 3 * 2) ** 2)))
    uncounted = [info(1, score, n, np.nan) for n, score in ((20, 1.0), (10, 4.0))]
    assert mean_score(uncounted) == (mean, error)


def test_minibatches_without_a_score_are_left_out():
    assert mean_score(rows([np.nan, 3.0, 3.0], [1e9, 5.0, 5.0])) == (3.0, 0.0)
    np.testing.assert_equal(mean_score(rows([np.nan, 3.0], [5.0, 5.0])), (3.0, np.nan))
    np.testing.assert_equal(mean_score(rows([np.nan], [5.0])), (np.nan, np.nan))
    np.testing.assert_equal(mean_score([]), (np.nan, np.nan))
    assert mean_score(rows([9.0, 3.0, 3.0], [0.0, 5.0, 5.0])) == (3.0, 0.0)
    np.testing.assert_equal(mean_score(rows([9.0], [0.0])), (np.nan, np.nan))


def test_the_error_is_that_of_means_of_streams():
    """Means of many streams of minibatches of random sizes scatter as it says."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(2000):
        sizes = rng.integers(50, 150, 30)
        found.append(mean_score(rows(rng.normal(0, 3 / np.sqrt(sizes)), sizes)))
    means, errors = np.array(found).T
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(means.std(), rel=0.06)


def shown(*callbacks, skip=0):
    with redirect_stderr(io.StringIO()) as out:
        stream(lda(), BATCHES, callbacks=callbacks, skip=skip)
    return out.getvalue()


def test_progress_shows_documents_and_the_score():
    history = ScoreHistory()
    text = shown(ProgressReport(300, title="reading"), history)
    mean = history.rows[1].score
    for row in history.rows[2:]:
        mean = 0.8 * mean + 0.2 * row.score
    assert text.startswith("\rreading")
    last = text.rpartition("\r")[2]
    assert all(part in last for part in ("100%", "300", "documents/s", f"{mean:.3f}"))
    assert text.endswith("\n")


@pytest.mark.parametrize("total", [None, 100])
def test_progress_without_a_total_or_beyond_it_has_no_share_nor_a_score(total):
    last = shown(ProgressReport(total)).rpartition("\r")[2]
    assert "300" in last
    assert "%" not in last
    assert "-3." not in last


def test_progress_goes_on_where_a_stream_was_cut():
    report = ProgressReport(300)
    with redirect_stderr(io.StringIO()):
        stream(lda(), BATCHES[:3], callbacks=[report])
    again = pickle.loads(pickle.dumps(report))
    assert again.n_documents == 180
    text = shown(again, skip=3)
    assert "80%" in text.split("\r")[1]
    assert "100%" in text.rpartition("\r")[2]
    assert again.n_documents == 300


class Closed(io.StringIO):
    """Standard error that nobody reads any more."""

    def write(self, *text):
        raise BrokenPipeError(32, "Broken pipe")

    flush = write


@pytest.mark.parametrize("error", [Closed(), None])
def test_progress_that_nobody_reads_fails_nothing(error, monkeypatch):
    monkeypatch.setattr(sys, "stderr", error)
    model = stream(lda(), BATCHES, callbacks=[ProgressReport(300)])
    assert model.n_documents_seen_ == 300
