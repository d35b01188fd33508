# SPDX-License-Identifier: BSD-3-Clause
"""A start from groups of documents: against its formula, and where it is that of documents."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.models import group_start
from streamtopics.models.group_start import GroupStart
from streamtopics.models.sources import DocumentStart, NoiseStart
from streamtopics.posteriors import TopicPosterior
from streamtopics.seeds import content_seeds, mix
from tests.local.test_groups import V, base_of, blocks, by_loops
from tests.local.test_one_topic import minibatch_of

WORDS = np.arange(V, dtype=np.int32)


def flat_prior(n_topics, n_background=0):
    return TopicPosterior(np.full((1, 1), 0.1), (V, n_topics + n_background))


def start(D, n_topics, seed=0, n_background=0, of=None):
    prior = flat_prior(n_topics, n_background)
    return (of or GroupStart(0.8))(prior, minibatch_of(D), seed, n_background).rows(WORDS)


def of_documents(D, rows):
    """p(w | group) of each column, of rows 100 (1 + .3 / .7 p(w | group) / p(w))."""
    p = D.sum(axis=0) / D.sum()
    return (rows / 100 - 1) * 0.7 / 0.3 * p[:, None]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_background", [0, 1])
def test_rows_are_those_of_the_groups(seed, n_background):
    D, _ = blocks(40, seed=seed)
    order = np.argsort(mix(content_seeds(minibatch_of(D)) ^ mix(np.array([seed], np.uint64))))
    groups = by_loops(D[order], np.full(40, -np.inf), base_of(D, 4.0), 2)[:4]
    tokens = np.array([D[order][members].sum(axis=0) for members in groups])
    rows = start(D, 4, seed, n_background)
    found = of_documents(D, rows[:, n_background:][:, : len(groups)]).T
    assert_allclose(found, tokens / tokens.sum(axis=1, keepdims=True), atol=1e-9)
    if n_background:
        assert_allclose(rows[:, 0], 100.0)


@pytest.mark.parametrize("seed", range(5))
def test_each_block_has_a_topic(seed):
    """Four single documents are of four blocks with probability .09."""
    D, _ = blocks(120, 4, seed=seed)
    of_block = of_documents(D, start(D, 4, seed))[:32].reshape(4, 8, 4).sum(axis=1)
    assert set(of_block.argmax(axis=0)) == set(range(4))


def test_topics_without_a_group_start_from_documents():
    D, _ = blocks(60)
    many, documents = start(D, 30), start(D, 30, of=DocumentStart())
    same = np.isclose(many, documents).all(axis=0)
    assert 0 < same.sum() < 30
    assert_array_equal(np.flatnonzero(same), np.arange(30 - same.sum(), 30))


def test_the_order_of_documents_does_not_matter():
    D, _ = blocks(60)
    order = np.random.default_rng(0).permutation(60)
    assert_allclose(start(D[order], 4), start(D, 4), rtol=1e-12)


def test_thirty_documents_for_each_topic_are_looked_at(monkeypatch):
    """Empty ones are none."""
    sizes, plainly = [], group_start.find_groups

    def counted(X, *args):
        sizes.append(X.shape[0])
        return plainly(X, *args)

    monkeypatch.setattr(group_start, "find_groups", counted)
    D = np.vstack([np.zeros((100, V)), blocks(200)[0]])
    start(D, 2)
    start(D[:150], 2)
    assert sizes == [60, 50]


def test_what_has_no_start_from_documents_is_noise():
    short, _ = blocks(60, length=4)
    assert_array_equal(start(short, 4), start(short, 4, of=NoiseStart()))
    eta = np.random.default_rng(0).uniform(0.1, 1.0, (V, 4))
    prior, D = TopicPosterior(eta, (V, 4)), minibatch_of(blocks(60)[0])
    assert_array_equal(GroupStart()(prior, D, 0).rows(WORDS), NoiseStart()(prior, D, 0).rows(WORDS))
