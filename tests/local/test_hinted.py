# SPDX-License-Identifier: BSD-3-Clause
"""Hints: inference is that under the prior alpha + hints of each document."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import digamma

from streamtopics.local import Gibbs, OneTopic, SemiSupervised, Variational, WithPseudoTokens
from streamtopics.local.hinted import OneOrMixed
from streamtopics.utils.parallel import SERIAL, workers
from tests.local.test_one_topic import SHARES_REPORT, minibatch_of, plain, topics_of
from tests.reference import gibbs as reference

LOG_THETA = frozenset({"log_theta"})
EXACT = Variational(tol=1e-13, max_iter=5000)


def random_case(seed=0, n_documents=12, n_words=20, n_components=4):
    """Counts, weights, alpha and hints; document 3 is empty, 4 has nothing but a hint."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.4, (n_documents, n_words)).astype(float)
    counts[3:5] = 0
    weights = rng.gamma(0.5, 1.0, (n_words, n_components)) + 1e-3
    hints = rng.gamma(1.0, 3.0, (n_documents, n_components)) * (
        rng.random((n_documents, n_components)) < 0.3
    )
    hints[[0, 3]] = 0
    hints[4] = [0, 2.5, 0, 0.25]
    hints[5] = [0, 0, 0, 2000.0]
    return counts, weights, rng.gamma(1.0, 0.5, n_components) + 0.05, hints


def hinted_minibatch(counts, hints, dtype=np.float64):
    """The minibatch with its hints."""
    return replace(minibatch_of(counts, dtype), hints=sparse.csr_matrix(hints.astype(dtype)))


def seeds_of(n, seed=0):
    return np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64)


def ascent(row, weights, prior, n_sweeps=20_000, tol=1e-14):
    """gamma and phi (n_words, K) of one document under Dir(prior)."""
    gamma = prior + row.sum() / len(prior)
    for _ in range(n_sweeps):
        phi = weights * np.exp(digamma(gamma))
        phi /= phi.sum(axis=1, keepdims=True)
        new = prior + row @ phi
        if np.abs(new - gamma).sum() < tol * (1 + row.sum()):
            break
        gamma = new
    return new, phi


@pytest.mark.parametrize("seed", range(3))
def test_variational_inference_is_that_under_alpha_and_the_hints(seed):
    counts, weights, alpha, hints = random_case(seed)
    hints[4] = 0
    minibatch, topics = hinted_minibatch(counts, hints), topics_of(weights, alpha)
    seeds = seeds_of(len(counts))
    theta = WithPseudoTokens(EXACT).doc_topic(minibatch, topics, seeds, SERIAL)
    statistics, _ = WithPseudoTokens(EXACT).step(minibatch, topics, seeds, SERIAL, report=LOG_THETA)
    expected, log_theta = np.zeros_like(weights), []
    for d, row in enumerate(counts):
        gamma, phi = ascent(row, weights, alpha + hints[d])
        assert_allclose(theta[d], gamma / gamma.sum(), rtol=1e-7)
        expected += row[:, None] * phi
        if row.sum() > 0:
            log_theta.append(digamma(gamma) - digamma(gamma.sum()))
    assert_allclose(statistics.counts, expected, rtol=1e-6, atol=1e-9)
    assert_allclose(statistics.log_theta, np.mean(log_theta, axis=0), rtol=1e-6)


@pytest.mark.parametrize("step", [EXACT, Gibbs(5), Gibbs(4, 0)], ids=str)
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-6), (np.float32, 1e-5)])
def test_the_statistics_are_of_the_tokens_alone(step, dtype, rtol):
    counts, weights, alpha, hints = random_case()
    counts = np.round(counts)
    minibatch, topics = hinted_minibatch(counts, hints, dtype), topics_of(weights, alpha, dtype)
    statistics, _ = WithPseudoTokens(step).step(minibatch, topics, seeds_of(len(counts)), SERIAL)
    assert statistics.counts.shape == weights.shape
    assert statistics.counts.dtype == dtype
    assert_array_equal(statistics.words, minibatch.words)
    assert_allclose(statistics.counts.sum(axis=1), counts.sum(axis=0), rtol=rtol)
    assert_allclose(statistics.lengths, counts.sum(axis=1), rtol=rtol)


@pytest.mark.parametrize("step", [EXACT, Gibbs(40, 30)], ids=str)
def test_a_document_of_nothing_but_hints_has_their_shares(step):
    counts, weights, alpha, hints = random_case()
    minibatch, topics = hinted_minibatch(counts, hints), topics_of(weights, alpha)
    theta = WithPseudoTokens(step).doc_topic(minibatch, topics, seeds_of(len(counts)), SERIAL)
    for d in (3, 4):
        expected = alpha + hints[d]
        assert_allclose(theta[d], expected / expected.sum(), rtol=1e-9)
    assert_allclose(theta.sum(axis=1), 1)


HINTS = [[0.0, 1.0], [2.5, 0.5], [0.0, 3.0, 0.0], [1.0, 0.0, 0.3], [0.0, 0.0, 20.0]]


@pytest.mark.parametrize("hint", HINTS)
def test_sampling_has_the_law_under_alpha_and_the_hints(hint):
    """Three tokens, 4,000 independent chains: means within 4.5 standard errors."""
    alpha = np.array([0.5, 0.8] if len(hint) == 2 else [0.2, 0.4, 0.7])
    hint, n = np.array(hint), 4000
    weights = np.array([[1.0, 0.3, 0.5], [0.2, 1.0, 0.4], [0.6, 0.5, 1.0]])[:, : len(alpha)]
    exact, unhinted = (
        reference.expectations(reference.posterior([0, 1, 2], weights, prior), np.ones(3), prior)
        for prior in (alpha + hint, alpha)
    )
    theta, at = exact.theta, exact.tokens
    minibatch = hinted_minibatch(np.ones((n, 3)), np.tile(hint, (n, 1)))
    topics, seeds = topics_of(weights, alpha), seeds_of(n, 1)
    found = WithPseudoTokens(Gibbs(25, 1)).doc_topic(minibatch, topics, seeds, SERIAL)
    # `doc_topic` is of the thorough or of this step: in both, rows are independent.
    error = found.std(axis=0) / n**0.5
    assert np.all(np.abs(found.mean(axis=0) - theta) < 4.5 * error + 1e-12)
    statistics, _ = WithPseudoTokens(Gibbs(25, 0)).step(minibatch, topics, seeds, SERIAL)
    error = np.sqrt(at * (1 - at) / n)
    assert np.all(np.abs(statistics.counts / n - at) < 4.5 * error + 1e-12)
    # The test can tell: without the hint all this is far away.
    assert np.abs(unhinted.theta - theta).max() > 10 * (found.std(axis=0) / n**0.5).max()


@pytest.mark.parametrize("step", [Variational(), Gibbs(5)], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_without_hints_it_is_the_step_itself_bit_for_bit(step, dtype):
    counts, weights, alpha, _ = random_case()
    minibatch, topics = minibatch_of(counts, dtype), topics_of(weights, alpha, dtype)
    seeds = seeds_of(len(counts))
    given, wrapped = (minibatch, topics, seeds, SERIAL), WithPseudoTokens(step)
    plainly, documents = step.step(*given, report=LOG_THETA)
    found, found_documents = wrapped.step(*given, report=LOG_THETA)
    assert_array_equal(found.counts, plainly.counts)
    assert_array_equal(found.log_theta, plainly.log_theta)
    assert_array_equal(found_documents, documents)
    assert_array_equal(wrapped.doc_topic(*given), step.doc_topic(*given))


REPORTS = {
    WithPseudoTokens(Variational()): "log_theta", WithPseudoTokens(Gibbs(5)): "log_theta",
    SemiSupervised(OneTopic(1.0)): "shares", OneTopic(0.7): "shares",
}  # fmt: skip


@pytest.mark.parametrize(("step", "report"), REPORTS.items(), ids=str)
def test_the_bits_do_not_depend_on_n_jobs(step, report):
    counts, weights, alpha, hints = random_case(n_documents=500)
    given = hinted_minibatch(counts, hints), topics_of(weights, alpha), seeds_of(500)
    expected, _ = step.step(*given, SERIAL, report=frozenset({report}))
    with workers(3) as several:
        found, _ = step.step(*given, several, report=frozenset({report}))
    assert_array_equal(found.counts, expected.counts)
    assert_array_equal(getattr(found, report), getattr(expected, report))


@pytest.mark.parametrize("step", [EXACT, Gibbs(30, 1)], ids=str)
def test_documents_go_on_from_their_state(step):
    """The state may be passed again; hints still count."""
    counts, weights, alpha, hints = random_case()
    minibatch, topics = hinted_minibatch(counts, hints), topics_of(weights, alpha)
    step = WithPseudoTokens(step)
    first, state = step.step(minibatch, topics, seeds_of(len(counts)), SERIAL)
    again, _ = step.step(minibatch, topics, seeds_of(len(counts), 1), SERIAL, state)
    assert_allclose(again.counts.sum(axis=1), first.counts.sum(axis=1))
    if step == WithPseudoTokens(EXACT):
        assert_allclose(again.counts, first.counts, rtol=1e-6, atol=1e-9)


# Documents that something is told of have the topics of their hints, the others the step's

TOLD = SemiSupervised(OneTopic(1.0))


def step_of(counts, weights, alpha, hints, dtype=np.float64):
    """The statistics."""
    minibatch, topics = hinted_minibatch(counts, hints, dtype), topics_of(weights, alpha, dtype)
    return TOLD.step(minibatch, topics, seeds_of(len(counts)), SERIAL, report=SHARES_REPORT)[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-9), (np.float32, 1e-4)])
def test_the_statistics_are_those_of_the_formulas(seed, dtype, rtol):
    counts, weights, alpha, hints = random_case(seed)
    found = step_of(counts, weights, alpha, hints, dtype)
    q, _ = plain(counts, weights, alpha, 1)
    for d, row in enumerate(hints):
        q[d] = row / row.sum() if row.sum() > 0 else q[d]
    assert_allclose(found.counts, counts.T @ q, rtol=rtol, atol=rtol)
    assert found.counts.dtype == dtype
    assert_allclose(found.shares, q[counts.sum(axis=1) > 0].mean(axis=0), rtol=rtol)
    assert_allclose(found.lengths, counts.sum(axis=1), rtol=rtol)
    assert_array_equal(found.words, minibatch_of(counts).words)
    assert_allclose(found.counts.sum(axis=1), counts.sum(axis=0), rtol=rtol)


def test_where_all_is_told_the_topics_have_no_say():
    counts, weights, alpha, hints = random_case()
    hints += 0.5
    found = step_of(counts, weights, alpha, hints)
    shares = hints / hints.sum(axis=1, keepdims=True)
    assert_allclose(found.counts, counts.T @ shares)
    other = step_of(counts, weights[::-1], alpha[::-1], hints)
    assert_array_equal(other.counts, found.counts)
    assert_array_equal(other.shares, found.shares)


def test_documents_are_read_without_hints():
    counts, weights, alpha, hints = random_case()
    topics, seeds = topics_of(weights, alpha), seeds_of(len(counts))
    found = TOLD.doc_topic(hinted_minibatch(counts, hints), topics, seeds, SERIAL)
    assert_array_equal(found, OneTopic(1.0).doc_topic(minibatch_of(counts), topics, seeds, SERIAL))
    assert TOLD.thorough() == OneTopic(1.0)


def test_shares_are_reported_where_they_are_asked_for_and_there_are_words():
    counts, weights, alpha, hints = random_case()
    minibatch, topics = hinted_minibatch(counts, hints), topics_of(weights, alpha)
    assert TOLD.step(minibatch, topics, seeds_of(len(counts)), SERIAL)[0].shares is None
    assert step_of(0 * counts, weights, alpha, hints).shares is None
    # Documents without words, told or not, have no part in them.
    hints[3] = [0, 0, 9.0, 0]
    with_words = counts.sum(axis=1) > 0
    every = step_of(counts, weights, alpha, hints)
    some = step_of(counts[with_words], weights, alpha, hints[with_words])
    assert_allclose(every.shares, some.shares, rtol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_words", [0.5, 20.0, 1e9])
@pytest.mark.parametrize("hinted", [True, False])
def test_documents_are_read_by_the_formulas(seed, n_words, hinted):
    counts, weights, alpha, hints = random_case(seed)
    hints = hints if hinted else 0 * hints
    minibatch = hinted_minibatch(counts, hints) if hinted else minibatch_of(counts)
    topics, seeds = topics_of(weights, alpha), seeds_of(len(counts))
    found = OneOrMixed(n_words=n_words).doc_topic(minibatch, topics, seeds, SERIAL)
    mixed = WithPseudoTokens(Variational(1e-4)).doc_topic(minibatch, topics, seeds, SERIAL)
    beta = topics.weights[:, : len(alpha)]
    for d, row in enumerate(counts[:, minibatch.words]):
        length = row.sum()
        damped = row * min(1.0, n_words / length) if length else row
        log_q = np.log(alpha + hints[d]) + damped @ np.log(np.maximum(beta, 1e-30))
        q = np.exp(log_q - log_q.max())
        expected = (n_words * q / q.sum() + length * mixed[d]) / (n_words + length)
        assert_allclose(found[d], expected, rtol=1e-7, atol=1e-12)
    assert_allclose(found.sum(axis=1), 1, rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_how_a_document_is_read_does_not_depend_on_the_others_or_the_workers(dtype):
    counts, weights, alpha, hints = random_case(n_documents=300)
    topics, seeds = topics_of(weights, alpha, dtype), seeds_of(300)
    minibatch, step = hinted_minibatch(counts, hints, dtype), OneOrMixed()
    found = step.doc_topic(minibatch, topics, seeds, SERIAL)
    with workers(3) as pool:
        assert_array_equal(step.doc_topic(minibatch, topics, seeds, pool), found)
    assert np.isfinite(found).all()
