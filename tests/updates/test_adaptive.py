# SPDX-License-Identifier: BSD-3-Clause
"""The adaptive rate against a plain twin of its algorithm."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.messages import Statistics
from streamtopics.posteriors import TopicPosterior
from streamtopics.updates import AdaptiveRate
from tests.updates.given import given

V, K = 12, 3
ETA = np.random.default_rng(1).uniform(0.1, 1.0, (V, K))


def topics(seed):
    return np.random.default_rng(seed).dirichlet(np.full(V, 0.3), K)


def stream(n, beta, seed=0):
    """Minibatches of 10 documents, over the words that they have."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        counts = np.stack([rng.multinomial(60, p) for p in beta], axis=1).astype(float)
        words = np.flatnonzero(counts.any(axis=1)).astype(np.int32)
        yield Statistics(words, counts[words], np.full(10, 18.0))


def run(rule, parts, posterior=None):
    """The rates, and lam after each minibatch."""
    posterior = TopicPosterior(ETA, (V, K)) if posterior is None else posterior
    state, rates, iterates = rule.init(posterior), [], []
    for s in parts:
        blend, state = rule.step(posterior, given(s), state)
        posterior.blend(blend)
        rates.append(1 - blend.retain)
        iterates.append(posterior.dense())
    return rates, iterates


def twin(parts, n_documents, tau):
    """Algorithm 1 of Ranganath et al. (2013); the means start from the first minibatch."""
    lam, g_bar, h_bar, seen = ETA.copy(), None, None, 0
    for s in parts:
        seen += s.n_documents
        counts = np.zeros((V, K))
        counts[s.words] = s.counts
        scale = (seen if n_documents is None else n_documents) / s.n_documents
        g = (ETA + scale * counts - lam).ravel()
        if g_bar is None:
            g_bar, h_bar, rho = g, g @ g, 1.0
        else:
            g_bar = (1 - 1 / tau) * g_bar + g / tau
            h_bar = (1 - 1 / tau) * h_bar + (g @ g) / tau
            rho = g_bar @ g_bar / h_bar
            tau = tau * (1 - rho) + 1
        lam = (1 - rho) * lam + rho * (ETA + scale * counts)
        yield rho, lam


@pytest.mark.parametrize("memory", [2.0, 10.0, 50.0])
@pytest.mark.parametrize("n_documents", [None, 10, 1000])
def test_follows_the_algorithm(memory, n_documents):
    parts = list(stream(40, topics(0)))
    rates, iterates = run(AdaptiveRate(n_documents, memory), parts)
    expected_rates, expected = zip(*twin(parts, n_documents, memory), strict=True)
    assert_allclose(rates, expected_rates, rtol=1e-9)
    for lam, wanted in zip(iterates, expected, strict=True):
        assert_allclose(lam, wanted, rtol=1e-9)


def test_steps_shrink_where_nothing_changes_and_grow_where_it_does():
    parts = [*stream(80, topics(0)), *stream(15, topics(5), seed=1)]
    rates, _ = run(AdaptiveRate(1000), parts)
    assert rates[0] == 1.0
    assert max(rates[40:80]) < 0.12
    assert np.mean(rates[60:80]) < np.mean(rates[5:15]) / 2
    assert max(rates[80:]) > 3 * max(rates[70:80])
    assert all(0 < rate <= 1 for rate in rates)


def test_what_leads_to_words_that_are_no_more_is_forgotten():
    posterior, rule = TopicPosterior(ETA, (V, K)), AdaptiveRate(100)
    state = rule.init(posterior)
    assert rule.without_words(state, np.array([1])) == state
    for part in stream(3, topics(0)):
        blend, state = rule.step(posterior, given(part), state)
        posterior.blend(blend)
    before = state.mean.copy()
    after = rule.without_words(state, np.array([1, 4]))
    expected = before.copy()
    expected[[1, 4]] = 0.0
    assert before[[1, 4]].any(axis=1).all()
    assert_array_equal(after.mean, expected)
    assert after[1:] == state[1:]
    assert_array_equal(state.mean, before)
