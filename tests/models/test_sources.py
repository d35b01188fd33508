# SPDX-License-Identifier: BSD-3-Clause
"""Starts and the limit of the prior, against their formulas."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics.estimators import Schedule, StreamingLDA
from streamtopics.messages import Statistics
from streamtopics.models.lda import BoundedPrior
from streamtopics.models.sources import HintedStart
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.updates import BPS, SVB, PowerPrior
from tests.local.test_one_topic import minibatch_of
from tests.updates.given import given, take

V, K = 30, 4
WORDS = np.arange(V, dtype=np.int32)


def learnt(rule, tokens, flat=False, n=3, boosts=False):
    """A posterior that has learnt so many tokens in all, most of them in the first topic."""
    rng = np.random.default_rng(0)
    eta = np.full((1, 1), 0.5) if flat else rng.uniform(0.1, 1.0, (V, K))
    posterior = TopicPosterior(eta, (V, K), xi=eta if boosts else None)
    for _ in range(n):
        counts = rng.gamma(0.3, 1.0, (V, K)) * [10.0, 1.0, 1.0, 0.1]
        counts *= tokens / n / counts.sum()
        take(rule, posterior, given(Statistics(WORDS, counts, np.full(2, counts.sum() / 2))))
    return posterior


@pytest.mark.parametrize("rule", [SVB(), BPS(0.5), PowerPrior(0.6)], ids=str)
@pytest.mark.parametrize(("flat", "boosts"), [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("tokens", [0.5, 10.0, 100.0])
@pytest.mark.parametrize("share", [0.01, 0.3])
def test_the_prior_is_taken_back_to_its_share(rule, flat, tokens, share, boosts):
    posterior = learnt(rule, tokens, flat, boosts=boosts)
    before, limited = pickle.dumps(posterior), BoundedPrior(posterior, share)
    eta = posterior.prior_rows(WORDS)
    x = (posterior.rows(WORDS) - limited.rows(WORDS)) / eta
    assert_allclose(x, np.broadcast_to(x[:1], x.shape), rtol=1e-9)
    assert np.all(x[0] > 0)
    owed = posterior.mass.sum() - posterior.learnt_part.sum()
    left = owed - (x * eta).sum()
    assert_allclose(left, share * posterior.learnt_part.sum(), rtol=1e-9)
    assert np.all(limited.rows(WORDS) > 0)
    assert pickle.dumps(posterior) == before
    nothing = Blend(1.0, 1.0, 0.0, Statistics(WORDS, np.zeros((V, K)), np.zeros(1)))
    proposed = BoundedPrior(posterior.after(nothing), share)
    assert_allclose(proposed.rows(WORDS), limited.rows(WORDS), rtol=1e-9)


def test_topics_of_few_tokens_stay_apart():
    """The ratio of a word's mean in the topic that has it to one that does not."""
    counts = np.zeros((V, 2))
    counts[0, 0] = counts[1, 1] = 3.0
    posterior = TopicPosterior(np.full((1, 1), 10.0), (V, 2))
    take(SVB(), posterior, given(Statistics(WORDS, counts, np.full(2, 3.0))))

    def ratio(source):
        row = source.rows(WORDS[:1])[0] / source.mass
        return row[0] / row[1]

    assert_allclose(ratio(posterior), 13 / 10)
    # The prior's mass is 0.3 of six tokens: .03 for each of 30 words in two topics.
    assert_allclose(ratio(BoundedPrior(posterior, 0.3)), 3.03 / 0.03)


def documents(n):
    """Counts of documents of eight tokens, no two alike."""
    rng = np.random.default_rng(0)
    return rng.multinomial(8, rng.dirichlet(np.full(V, 1.0)), n).astype(float)


def hinted(counts, hints):
    return replace(minibatch_of(counts), hints=sparse.csr_matrix(hints))


def test_topics_are_the_prior_and_the_documents_hinted_at():
    counts, rng = documents(n=20), np.random.default_rng(1)
    eta = rng.uniform(0.1, 1.0, (V, K))
    prior = TopicPosterior(eta, (V, K))
    hints = rng.uniform(0, 1, (20, K)) * (rng.random((20, K)) < 0.5)
    hints[:, 0] += 0.1
    hints[15:] = 0
    source = HintedStart()(prior, hinted(counts, hints), 0)
    expected = eta.copy()
    for d in range(15):
        expected += np.outer(counts[d], hints[d] / hints[d].sum())
    assert_allclose(source.rows(WORDS), expected, rtol=1e-9)
    assert_allclose(source.mass, expected.sum(axis=0), rtol=1e-9)


def two_hinted_topics():
    """Counts, and the minibatch in which nine documents are hinted to be of topics 0 and 2."""
    counts, hints = documents(n=20), np.zeros((20, K))
    hints[:5, 0] = hints[5:9, 2] = 1.0
    return counts, hinted(counts, hints)


def test_topics_without_hints_start_from_the_words_at_random():
    counts, minibatch = two_hinted_topics()
    prior = TopicPosterior(np.full((1, 1), 0.1), (V, K))

    def rows(seed):
        return HintedStart()(prior, minibatch, seed).rows(WORDS)

    assert_allclose(rows(0)[:, 0], 0.1 + counts[:5].sum(axis=0))
    assert_allclose(rows(0)[:, 2], 0.1 + counts[5:9].sum(axis=0))
    for k in (1, 3):
        words = counts.sum(axis=0)
        assert np.corrcoef(rows(0)[:, k], words)[0, 1] > 0.8
        assert np.abs(rows(0)[:, k] - rows(1)[:, k]).max() > 0
    assert np.abs(rows(0)[:, 1] - rows(0)[:, 3]).max() > 0
    assert np.all(rows(0) > 0)


def test_names_without_hints_start_from_the_prior_at_random():
    """The first three have names; what nothing is known of should not take the documents."""
    _, minibatch = two_hinted_topics()
    eta = np.random.default_rng(1).uniform(0.1, 1.0, (V, K))
    prior = TopicPosterior(eta, (V, K))
    named, unnamed, other = (
        HintedStart(n_named)(prior, minibatch, seed).rows(WORDS)
        for n_named, seed in ((3, 0), (0, 0), (3, 1))
    )
    assert_array_equal(named[:, [0, 2, 3]], unnamed[:, [0, 2, 3]])
    assert np.abs(named[:, 1] / eta[:, 1] - 1).max() < 0.5
    assert (named[:, 1] / eta[:, 1]).std() > 0.03
    assert np.abs(named[:, 1] - other[:, 1]).max() > 0


def short_documents(n_copies, n_words=400, n_documents=600):
    """Documents of six words, some of them all the same."""
    rng = np.random.default_rng(4)
    rows = np.array(
        [np.bincount(rng.integers(0, n_words, 6), minlength=n_words) for _ in range(n_documents)]
    )
    rows[rng.permutation(n_documents)[:n_copies]] = rows[0]
    return rows.astype(np.float64)


@pytest.mark.parametrize("inference", ["one_topic", "variational"])
@pytest.mark.parametrize("n_copies", [0, 200])
@pytest.mark.parametrize("n_components", [20, 120])
def test_no_two_topics_are_alike(inference, n_copies, n_components):
    """Neither where documents are, nor where those of the first part are few.

    Of topics that start from a document each, one may come to the same words as another.
    """
    model = StreamingLDA(
        n_components, inference=inference, schedule=Schedule(inner_batch_size=50), random_state=1
    )
    model.fit(short_documents(n_copies))
    # Topics that no document is of have the words of all, each the same share of them.
    learnt = model.posterior_.learnt_part[-n_components:]
    topics = model.topic_word_[learnt > 0.3 * learnt.mean()]
    assert len(np.unique(topics.round(9), axis=0)) >= 0.99 * len(topics) > 0.9 * n_components


@pytest.mark.parametrize("inference", ["gibbs", "variational"])
def test_topics_are_where_the_prior_has_their_words(inference):
    """Four topics of five words each; the prior knows one word of each, in another order."""
    rng, order, prior = np.random.default_rng(0), [2, 0, 3, 1], np.full((4, 20), 0.02)
    beta = np.kron(np.eye(4), np.full(5, 0.2))
    counts = np.array([rng.multinomial(9, beta[z]) for z in rng.integers(0, 4, 400)], float)
    prior[range(4), 5 * np.array(order)] = 5.0
    model = StreamingLDA(4, inference=inference, topic_word_prior=prior, random_state=0)
    shares = model.fit(sparse.csr_matrix(counts)).topic_word_.reshape(4, 4, 5).sum(axis=2)
    assert shares.argmax(axis=1).tolist() == order
    assert shares.max(axis=1).min() > 0.6
