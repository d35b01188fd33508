# SPDX-License-Identifier: BSD-3-Clause
"""Documents that something is told of have the topics of their hints, the others the step's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.local import OneTopic, SemiSupervised, Variational, WithPseudoTokens
from streamtopics.local.hinted import OneOrMixed
from streamtopics.utils.parallel import SERIAL, workers
from tests.local.test_hinted import hinted_minibatch, random_case, seeds_of
from tests.local.test_one_topic import SHARES_REPORT, minibatch_of, plain, topics_of

TOLD = SemiSupervised(OneTopic(1.0))


def step_of(counts, weights, alpha, hints, dtype=np.float64, with_workers=SERIAL, step=TOLD):
    """The statistics."""
    minibatch, topics = hinted_minibatch(counts, hints, dtype), topics_of(weights, alpha, dtype)
    seeds = seeds_of(len(counts))
    return step.step(minibatch, topics, seeds, with_workers, report=SHARES_REPORT)[0]


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


def test_the_bits_do_not_depend_on_n_jobs():
    counts, weights, alpha, hints = random_case(n_documents=500)
    expected = step_of(counts, weights, alpha, hints)
    with workers(3) as several:
        found = step_of(counts, weights, alpha, hints, with_workers=several)
    assert_array_equal(found.counts, expected.counts)
    assert_array_equal(found.shares, expected.shares)


# What is read as of one topic and as a mixture


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_words", [0.5, 20.0, 1e9])
@pytest.mark.parametrize("hinted", [True, False])
def test_documents_are_read_by_the_formulas(seed, n_words, hinted):
    counts, weights, alpha, hints = random_case(seed)
    hints = hints if hinted else 0 * hints
    minibatch = hinted_minibatch(counts, hints) if hinted else minibatch_of(counts)
    topics, seeds = topics_of(weights, alpha), seeds_of(len(counts))
    found = OneOrMixed(n_words=n_words).doc_topic(minibatch, topics, seeds, SERIAL)
    mixed = WithPseudoTokens(Variational()).doc_topic(minibatch, topics, seeds, SERIAL)
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
