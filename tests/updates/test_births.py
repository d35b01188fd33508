# SPDX-License-Identifier: BSD-3-Clause
"""Counts of documents beside a rule, and what a minibatch makes of the clusters that live."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.messages import Statistics, TableStatistics
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.updates import BPS, SVB, DirichletProcess, OnlineEM, PowerPrior
from streamtopics.updates.births import (
    KEPT_LIFETIMES,
    Lifetimes,
    Seeds,
    Tallies,
    documents_of,
    finish,
    update_lifetimes,
)
from tests.updates.given import take

V, K = 6, 4
WORDS = np.arange(2, dtype=np.int32)
PROCESS, ADDS = DirichletProcess(), SVB()
NOBODY = Seeds(np.empty(0, np.int64), np.empty(0), 8)


def statistics(documents, background=0.0, n_empty=0):
    """Of documents of two words, as many of each cluster as given, and some without words."""
    documents = np.asarray(documents, float)
    n = int(documents.sum())
    counts = np.zeros((V, len(documents)))
    for k, many in enumerate(documents):
        counts[k][k] = counts[k + 1][k] = many
    shares = (1 - background) * documents / n
    if background:
        counts = np.hstack([np.ones((V, 1)), counts])
        shares = np.append(background, shares)
    lengths = np.concatenate([np.full(n, 2.0), np.zeros(n_empty)])
    return Statistics(np.arange(V, dtype=np.int32), counts, lengths, shares=shares)


def seen(documents):
    """The local step, whatever it sees of the topics."""
    return lambda _, warm=False: statistics(documents)


def posterior(documents):
    """A posterior that has learnt from some documents, by adding up."""
    found = TopicPosterior(np.full((1, 1), 0.1), (V, K), np.zeros(K))
    take(Tallies(SVB()), found, seen(documents))
    return found


def after(before, documents, seeds=NOBODY, lives=None, update=ADDS):
    """Posterior, record and blend after one more minibatch."""
    blend, _ = Tallies(update).step(before, seen(documents), None)
    lives = Lifetimes(np.zeros(K)) if lives is None else lives
    blend, lives = finish(PROCESS, lives, before, blend, seeds, 0, 1.0, "now")
    before.blend(blend)
    return before, lives, blend


@pytest.mark.parametrize(
    ("update", "expected"),
    [(SVB(), [[3, 1], [8, 1]]), (PowerPrior(0.5), [[3, 1], [6.5, 0.5]]),
     (OnlineEM(), [[0.75, 0.25], None])],
)  # fmt: skip
def test_documents_follow_the_rule_of_their_words(update, expected):
    found = TopicPosterior(np.full((1, 1), 0.1), (V, 2), np.zeros(2))
    for documents, alpha in zip([[3, 1], [5, 0]], expected, strict=True):
        before = found.alpha
        blend, _ = Tallies(update).step(found, seen(documents), None)
        found.blend(blend)
        if alpha is None:
            alpha = blend.retain * before + blend.gain * np.array(documents)
        assert_allclose(found.alpha, alpha)
        # Each document has two words.
        assert_allclose(found.learnt_part, 2 * found.alpha)


def test_a_background_and_empty_documents_do_not_count():
    assert_allclose(documents_of(statistics([3, 1], 0.2, n_empty=5), 1), [3, 1])
    nothing = replace(statistics([3, 1], 0.2), shares=None)
    assert_array_equal(documents_of(nothing, 1), [0, 0])


def test_seeds_leave_and_births_stay():
    before, seeds = posterior([20, 20, 0, 0]), Seeds(np.array([2]), np.array([30.0]), 8)
    alpha = before.alpha.copy()
    alpha[2] = 30.0
    seeded = before.of_words(np.arange(V, dtype=np.int32))
    seeded.blend(Blend(1.0, 1.0, 0.0, statistics([0, 0, 1, 0]), alpha=alpha))
    blend, _ = Tallies(SVB()).step(seeded, seen([20, 20, 9, 0]), None)
    blend, lives = finish(PROCESS, Lifetimes(np.zeros(K)), before, blend, seeds, 0, 1.0, 1)
    before.blend(blend)
    assert_allclose(before.alpha, [40, 40, 9, 0])
    (life,) = lives.alive
    assert (life.topic, life.born, life.documents, life.words) == (2, 1, 9.0, (2, 3))


def test_a_birth_with_too_few_documents_is_undone():
    before, seeds = posterior([20, 20, 0, 0]), Seeds(np.array([2]), np.array([0.0]), 8)
    found, lives, _ = after(before, [20, 20, 7, 0], seeds)
    assert lives.alive == ()
    assert_array_equal(found.alpha, [40, 40, 0, 0])
    assert_array_equal(found.learnt_part[2], 0)
    assert_allclose(found.mass[2], 0.1 * V)


def test_silence_adds_up_until_death():
    found, lives = posterior([30, 10, 0, 0]), Lifetimes(np.zeros(K))
    silences = []
    for _ in range(3):
        found, lives, blend = after(found, [20, 0, 0, 0], lives=lives)
        silences.append(lives.silence[1])
    # Of 20 documents a quarter, a sixth and an eighth should have been of it: 5, 3.3 and 2.5.
    assert_allclose(silences, [5, 5 + 10 / 3, 5 + 10 / 3 + 2.5])
    found, lives, blend = after(found, [20, 0, 0, 0], lives=lives)
    assert found.alpha[1] == 0
    assert lives.silence[1] == 0
    assert_array_equal(blend.retain, [1, 0, 1, 1])
    assert_allclose(found.c, 1)
    assert_allclose(found.dense()[:, 1], 0.1)


def test_the_last_cluster_does_not_die():
    found, _, _ = after(posterior([3, 0, 0, 0]), [1, 0, 0, 0], update=PowerPrior(0.0))
    found, _, _ = after(found, [1, 0, 0, 0], update=PowerPrior(0.0))
    assert (found.alpha > 0).tolist() == [True, False, False, False]
    nothing = replace(statistics([1, 0, 0, 0]), shares=None)
    blend = Blend(0.0, 1.0, 1.0, nothing, alpha=0.1 * found.alpha)
    blend, _ = finish(PROCESS, Lifetimes(np.zeros(K)), found, blend, NOBODY, 0, 1.0, None)
    assert blend.alpha[0] > 0


def test_the_forgotten_die():
    found, _, _ = after(posterior([30, 9, 0, 0]), [20, 0, 0, 0], update=PowerPrior(0.1))
    assert (found.alpha > 0).tolist() == [True, False, False, False]
    found = after(posterior([30, 9, 0, 0]), [20, 9, 0, 0], update=BPS(0.2))[0]
    found = after(found, [20, 0, 0, 0], update=PowerPrior(0.01))[0]
    assert_allclose(found.c - found.b, 1.0)


def test_only_so_many_lives_are_kept():
    lives = Lifetimes(np.zeros(1))
    for _ in range(KEPT_LIFETIMES + 5):
        lives = lives.after({0: (9.0, np.array([1]))}, {}, None)
        lives = lives.after({}, {0: np.array([2])}, None)
    assert len(lives.dead) == KEPT_LIFETIMES == 1000
    assert (lives.dead[-1].born, lives.dead[-1].died) == (lives.n_batches - 1, lives.n_batches)
    named = lives.dead[-1].named({1: "b"})
    assert (named.words, named.last_words) == (("b",), (2,))


@pytest.mark.parametrize(
    ("tables", "mass", "lives_again"), [(8, 5, True), (7, 5, False), (8, 4, False)]
)
def test_the_dead_come_back_with_eight_tables_and_half_of_their_share(tables, mass, lives_again):
    """Of two topics that have learnt alike; 20 tokens, of which 10 are to be expected."""
    before = TopicPosterior(np.full((1, 1), 0.1), (2, 2), np.ones(2))
    before.blend(Blend(1.0, 1.0, 0.0, Statistics(WORDS, np.eye(2) * 50, np.full(1, 100.0))))
    lives = Lifetimes(np.zeros(2), ids=np.arange(2), n_ids=2).after({0: (9.0, WORDS)}, {}, "then")
    counts = np.diag([20.0 - mass, mass])
    found = TableStatistics(WORDS, counts, np.full(1, 20.0), tables=np.array([20.0, tables]))
    lives = update_lifetimes(lives, before, np.full(2, 9.0), np.arange(2), found, "now")
    assert [life.topic for life in lives.alive] == [0, 1][: 1 + lives_again]
