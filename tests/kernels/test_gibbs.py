# SPDX-License-Identifier: BSD-3-Clause
"""The Gibbs step: bookkeeping, reproducibility, and exact posteriors of tiny documents."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import digamma

from streamtopics.kernels import variational
from streamtopics.local import Gibbs, gibbs
from streamtopics.messages import Minibatch, Topics
from streamtopics.utils.parallel import SERIAL, workers
from tests.kernels.variants import variants
from tests.local.test_one_topic import minibatch_of, topics_of
from tests.reference import gibbs as reference

KERNELS = variants("gibbs")


@pytest.fixture(params=KERNELS.values(), ids=KERNELS)
def each_kernel(request, monkeypatch):
    """The step with the kernel of each instruction set in turn."""
    monkeypatch.setattr(gibbs, "gibbs", request.param)


def make_topics(rng, n_words, n_components, alpha=None):
    weights = rng.gamma(0.1, 1.0, (n_words, n_components)) + 1e-9
    weights /= weights.max(axis=1, keepdims=True)
    alpha = np.full(n_components, 2.0 / n_components) if alpha is None else alpha
    return topics_of(weights, alpha, np.float32)


def make_minibatch(documents, dtype=np.float32):
    """A minibatch from arrays of counts of all words."""
    return minibatch_of(np.array(documents, np.float64), dtype)


def mixed_minibatch(rng, n_documents=20, n_words=60):
    """Short and long documents, an empty one, fractions, and a heavy word."""
    documents = rng.poisson(1.0, (n_documents, n_words)).astype(float)
    documents[1] = 0
    documents[2] *= 0.37
    documents[3, :4] = [1e9, 2.0, 1e5, 1.0]
    documents[4, :] = 0
    documents[4, 7] = 1
    return make_minibatch(documents)


def random_seeds(n, seed=0):
    return np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64)


LOG_THETA = frozenset({"log_theta"})


def run(step, minibatch, topics, documents=None, with_workers=SERIAL, report=frozenset()):
    seeds = random_seeds(minibatch.n_documents)
    return step.step(minibatch, topics, seeds, with_workers, documents, report)


def one_document(minibatch, d):
    """Document d of a minibatch, over the same words."""
    span = slice(minibatch.indptr[d], minibatch.indptr[d + 1])
    indptr = np.array([0, span.stop - span.start], np.int32)
    return Minibatch(minibatch.words, indptr, minibatch.indices[span], minibatch.counts[span])


def tokens_of(minibatch):
    """How many tokens stand for each count."""
    return np.minimum(np.ceil(minibatch.counts), 1024).astype(int)


def word_totals(minibatch):
    return np.bincount(minibatch.indices, minibatch.counts, len(minibatch.words))


@pytest.mark.parametrize("n_components", [3, 50, 300])
def test_last_sample(n_components):
    """With n_averaged = 0 everything is a function of z."""
    rng = np.random.default_rng(1)
    minibatch, topics = mixed_minibatch(rng), make_topics(rng, 60, n_components)
    statistics, z = run(Gibbs(4, 0), minibatch, topics, report=LOG_THETA)
    tokens = tokens_of(minibatch)
    weight = np.repeat(minibatch.counts.astype(float) / tokens, tokens)
    document = np.repeat(np.repeat(np.arange(20), np.diff(minibatch.indptr)), tokens)
    by_topic = np.zeros((20, n_components))
    np.add.at(by_topic, (document, z), weight)
    counts = np.zeros((60, n_components))
    np.add.at(counts, (np.repeat(minibatch.indices, tokens), z), weight)
    assert_allclose(statistics.counts, counts, rtol=1e-6)
    gamma = topics.alpha + by_topic
    log_theta = digamma(gamma) - digamma(gamma.sum(axis=1, keepdims=True))
    assert run(Gibbs(4, 0), minibatch, topics)[0].log_theta is None
    kept = minibatch.lengths > 0
    assert_allclose(statistics.log_theta, log_theta[kept].mean(axis=0), rtol=1e-9)
    theta = Gibbs(4, 0).doc_topic(minibatch, topics, random_seeds(20), SERIAL)
    assert_allclose(theta, gamma / gamma.sum(axis=1, keepdims=True), rtol=1e-5)


def test_no_tokens():
    minibatch = make_minibatch(np.zeros((3, 4)))
    topics = make_topics(np.random.default_rng(0), 4, 5)
    for n_averaged in (0, 2):
        statistics, z = run(Gibbs(2, n_averaged), minibatch, topics, report=LOG_THETA)
        assert not statistics.counts.any()
        assert statistics.log_theta is None
        assert len(z) == 0
    theta = Gibbs(2, 1).doc_topic(minibatch, topics, random_seeds(3), SERIAL)
    assert_allclose(theta, 0.2, rtol=1e-6)


@pytest.mark.parametrize("n_components", [10, 100, 300])
@pytest.mark.parametrize("n_repeats", [1, 100_000, 1000])
def test_long_document(n_components, n_repeats):
    rng = np.random.default_rng(2)
    words = np.full((1, 1 if n_repeats == 100_000 else 100_000 // n_repeats), float(n_repeats))
    minibatch = make_minibatch(words)
    few = make_topics(rng, min(1000, words.shape[1]), n_components)
    weights = np.resize(few.weights, (words.shape[1], few.weights.shape[1]))
    topics = Topics(weights, few.alpha)
    statistics, _ = run(Gibbs(3, 2), minibatch, topics)
    assert_allclose(statistics.counts.sum(axis=1), words[0], rtol=3e-6)


@pytest.mark.usefixtures("each_kernel")
def test_a_token_of_next_to_no_weight_keeps_its_topic():
    """Less than the last bit of the document's length, so that counts do not show it."""
    rng = np.random.default_rng(1)
    n_words, n_components = 50, 65
    weights = np.zeros((n_words, variational.padded_width(n_components)), np.float32)
    for row in weights:
        row[rng.choice(n_components, 20, replace=False)] = rng.uniform(0.01, 1, 20)
    topics = Topics(weights, np.full(n_components, 0.1))
    counts = np.where(np.arange(n_words) % 3 > 0, 1e-18, 1.0)
    minibatch = make_minibatch(counts[None], np.float64)
    for seed in range(20):
        _, z = Gibbs(6, 0).step(minibatch, topics, np.array([seed], np.uint64), SERIAL)
        assert (weights[np.arange(n_words), z] > 0).all()


@pytest.mark.parametrize("n_components", [2, 33, 65, 300])
@pytest.mark.parametrize("low", [-10, 0, 10])
@pytest.mark.parametrize("high", [-10, 10])
def test_extremes(each_kernel, n_components, low, high):
    rng = np.random.default_rng(3)
    alpha = 10.0 ** rng.permutation(np.linspace(low, high, n_components))
    weights = make_topics(rng, 60, n_components).weights
    weights[:, :n_components] = 10.0 ** rng.uniform(-30, 0, (60, n_components))
    weights[::2, :n_components] *= rng.random((30, n_components)) < 0.1
    weights[np.arange(60), rng.integers(n_components, size=60)] = 1
    minibatch, topics = mixed_minibatch(rng), Topics(weights, alpha)
    statistics, z = run(Gibbs(4, 2), minibatch, topics, report=LOG_THETA)
    assert_allclose(statistics.counts.sum(axis=1), word_totals(minibatch), rtol=1e-5)
    assert np.isfinite(statistics.log_theta).all()
    tokens = tokens_of(minibatch)
    assert np.all(weights[np.repeat(minibatch.indices, tokens), z] > 0)
    theta = Gibbs(4, 2).doc_topic(minibatch, topics, random_seeds(20), SERIAL)
    assert_allclose(theta.sum(axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("n_components", [20, 100, 300])
def test_workers(n_components):
    rng = np.random.default_rng(4)
    minibatch = mixed_minibatch(rng, n_documents=300)
    topics = make_topics(rng, 60, n_components)
    step = Gibbs(3, 2)
    alone, z = run(step, minibatch, topics, report=LOG_THETA)
    for n_jobs in (2, 3):
        with workers(n_jobs) as threads:
            found, own_z = run(step, minibatch, topics, None, threads, LOG_THETA)
        assert_array_equal(found.counts, alone.counts)
        assert_array_equal(found.log_theta, alone.log_theta)
        assert_array_equal(own_z, z)


@pytest.mark.parametrize("n_components", [20, 100, 300])
def test_documents_alone(n_components):
    rng = np.random.default_rng(6)
    minibatch, topics = mixed_minibatch(rng), make_topics(rng, 60, n_components)
    seeds, step = random_seeds(20), Gibbs(4, 2)
    statistics, z = step.step(minibatch, topics, seeds, SERIAL)
    theta = step.doc_topic(minibatch, topics, seeds, SERIAL)
    total, own_z = 0, []
    for d in range(20):
        alone = one_document(minibatch, d)
        part, state = step.step(alone, topics, seeds[d : d + 1], SERIAL)
        total = total + part.counts.astype(float)
        own_z.append(state)
        own_theta = step.doc_topic(alone, topics, seeds[d : d + 1], SERIAL)
        assert_array_equal(theta[d : d + 1], own_theta)
    assert_array_equal(z, np.concatenate(own_z))
    assert_allclose(statistics.counts, total, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("n_components", [5, 50, 250])
def test_going_on(n_components):
    """A chain goes on from the topics that are passed, and leaves them as they are."""
    rng = np.random.default_rng(7)
    minibatch = mixed_minibatch(rng)
    certain = np.zeros((60, n_components))
    certain[np.arange(60), rng.integers(n_components, size=60)] = 1
    free, fixed = make_topics(rng, 60, n_components), make_topics(rng, 60, n_components)
    fixed.weights[:, :n_components] = certain
    z = run(Gibbs(2, 0), minibatch, free)[1]
    held = z.copy()
    moved = run(Gibbs(1, 0), minibatch, fixed, z)[1]
    tokens = tokens_of(minibatch)
    assert_array_equal(moved, certain.argmax(axis=1)[np.repeat(minibatch.indices, tokens)])
    assert_array_equal(z, held)
    again = [run(Gibbs(2, 1), minibatch, free, z)[1] for _ in range(2)]
    assert_array_equal(*again)


def posterior(counts, weights, alpha):
    """Expected counts, E[log theta] and E[theta] of a document by enumeration."""
    words = np.repeat(np.arange(len(counts)), counts)
    law = reference.posterior(words, weights, alpha)
    exact = reference.expectations(law, np.ones(len(words)), alpha)
    return reference.by_word(exact.tokens, words, len(counts)), exact.log_theta, exact.theta


@cache
def enumerated(n_components, counts):
    """Topics, and `posterior` under them."""
    rng = np.random.default_rng(n_components)
    alpha = rng.gamma(1.0, 1.0 / n_components, n_components) + 0.02
    topics = make_topics(rng, len(counts), n_components, alpha)
    weights = topics.weights[:, :n_components] + np.float32(0.02)
    topics.weights[:, :n_components] = weights
    return topics, *posterior(counts, weights.astype(float), topics.alpha)


@pytest.mark.parametrize(
    ("n_components", "counts"),
    [(2, (3, 2, 2)), (5, (1, 2, 1)), (40, (1, 2)), (70, (1, 1)), (205, (1, 1))],
)
def test_posterior(each_kernel, n_components, counts):
    topics, *expected = enumerated(n_components, counts)
    assert_posterior(Gibbs(20, 15), topics, counts, 20_000, *expected)


def assert_posterior(step, topics, counts, n_documents, expected, log_theta, mean):
    """That as many chains have these means of counts, log theta and theta."""
    minibatch = make_minibatch(np.tile(counts, (n_documents, 1)))
    statistics, _ = run(step, minibatch, topics, report=LOG_THETA)
    theta = step.doc_topic(minibatch, topics, random_seeds(n_documents), SERIAL).mean(axis=0)
    counts = statistics.counts / n_documents
    assert_allclose(counts.toarray() if sparse.issparse(counts) else counts, expected, atol=0.01)
    assert_allclose(theta, mean, atol=0.004)
    spread = np.sqrt(1 + topics.alpha**-2)
    assert np.all(np.abs(statistics.log_theta - log_theta) < 0.02 * spread)
