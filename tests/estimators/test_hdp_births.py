# SPDX-License-Identifier: BSD-3-Clause
"""Topics of a hierarchical Dirichlet process that come and go along a stream that forgets."""

import numpy as np
import pytest
from scipy import sparse

from streamtopics import HDPGibbsOnlineEM
from streamtopics.updates import SVB, Memory, OnlineEM, PowerPrior

V, BLOCK = 200, 20
FORGETS = PowerPrior(Memory(800))
# Topics 0 to 4; 0 goes with the fifth minibatch and 5 comes with the eighth.
STREAM = [(0, 1, 2, 3, 4)] * 4 + [(1, 2, 3, 4)] * 3 + [(1, 2, 3, 4, 5)] * 3


def minibatch(topics, seed, n=200, length=30):
    """Documents of a few of these topics of twenty words each."""
    rng = np.random.default_rng(seed)
    beta = np.kron(np.eye(10), np.full(BLOCK, 1 / BLOCK))[list(topics)]
    theta = rng.dirichlet(np.full(len(topics), 0.2), n)
    return sparse.csr_matrix(rng.multinomial(length, theta @ beta).astype(float))


def streamed(stream=STREAM, n_components=2, seed=0, **given):
    model = HDPGibbsOnlineEM(n_components, random_state=seed, **{"update": FORGETS} | given)
    for t, topics in enumerate(stream):
        model.partial_fit(minibatch(topics, t), time=f"day {t + 1}")
    return model


def own(life):
    return int(np.bincount(np.array(life.words) // BLOCK).argmax())


def large(lives):
    """Lifetimes of more than fleeting topics."""
    return [life for life in lives if life.documents > 30]


@pytest.mark.parametrize("update", [FORGETS, OnlineEM()], ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_topics_that_come_and_go_are_reported_when_they_do(update, seed):
    """The first minibatch splits some topics and leaves a few as one; one of these goes on."""
    model = streamed(n_components=10, seed=seed, update=update)
    lives = model.births_
    assert {own(life) for life in lives if life.born == 1} == set(range(5))
    new = [life for life in large(lives) if life.born > 1]
    assert [(own(life), life.born, life.born_time) for life in new] == [(5, 8, "day 8")]
    dead = [life for life in lives if life.died is not None]
    assert large(dead)
    assert {own(life) for life in dead} == {0}
    assert {(life.died, life.died_time) for life in dead} <= {(5, "day 5"), (6, "day 6")}


def test_forgotten_topics_are_dropped_where_the_rule_forgets():
    stream = [*STREAM[:4], *[(1, 2, 3, 4)] * 12]
    forgets, keeps = (
        streamed(stream, update=rule).topic_word_[:, :BLOCK].sum(axis=1).max()
        for rule in (PowerPrior(Memory(150)), SVB())
    )
    assert forgets < 0.3
    assert keeps > 0.8


def test_rows_are_called_by_their_numbers():
    model = streamed()
    ids = model.topic_ids_
    assert len(ids) == len(np.unique(ids)) == model.n_topics_
    for life in model.births_:
        if life.died is None and life.born == 8:
            (row,) = np.flatnonzero(ids == life.topic)
            assert model.topic_word_[row, 5 * BLOCK : 6 * BLOCK].sum() > 0.5
    ids[:] = -1
    assert (model.topic_ids_ >= 0).all()


def test_on_a_stream_that_stays_the_same_none_of_any_size_comes_or_goes():
    model = streamed([tuple(range(5))] * 8, n_components=10)
    assert [life for life in model.births_ if life.died is not None] == []
    assert [life for life in large(model.births_) if life.born > 1] == []


def test_words_are_reported():
    names = np.array([f"w{v}" for v in range(V)])
    rows = streamed().births_report(names)
    dead = max((row for row in rows if row.died), key=lambda row: row.documents)
    for words in (dead.words, dead.last_words):
        assert len(set(names[:BLOCK]).intersection(words)) >= 8
