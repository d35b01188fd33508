# SPDX-License-Identifier: BSD-3-Clause
"""Inference in rated reviews: the bound, the statistics, and what the source prints."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import digamma

from streamtopics.families import dirichlet
from streamtopics.kernels import variational
from streamtopics.local.step import minibatch_of
from streamtopics.messages import Statistics, Topics
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.reviews.inference import (
    RatedLDA,
    Reviews,
    mean_log,
    mean_log_share,
    reviews_by_profile,
)
from streamtopics.updates.doc_topic import solve_alpha
from streamtopics.utils.parallel import SERIAL
from tests.reference import profiles as reference

ALPHA, OMEGA = np.array([0.4, 0.9]), np.array([2.0, 1.0])
TOPICS = np.random.default_rng(0).dirichlet(np.full(4, 0.6), 4)
DOCUMENTS = [([0, 1, 1], 1), ([2, 3], -1), ([0, 2], 1)]
X = sparse.csr_matrix([np.bincount(t, minlength=4) for t, _ in DOCUMENTS], dtype=np.float64)
SIGNS = np.array([s for _, s in DOCUMENTS], dtype=np.int8)
MODEL = RatedLDA(2, 0.0, 500)


def known_topics():
    weights = np.zeros((4, variational.padded_width(4)))
    weights[:, :4] = TOPICS.T
    return Topics(weights, np.concatenate([ALPHA, OMEGA]))


def one_review(counts):
    return Reviews(minibatch_of(sparse.csr_matrix(counts)), np.array([0, 1], np.int32), SIGNS[:1])


def inferred(reviews, topics, prior=ALPHA, model=MODEL):
    """What inference finds, and its bounds."""
    prior = np.tile(prior, (reviews.n_profiles, 1))
    found = model.infer(reviews, topics, prior, SERIAL)
    return found, model.bounds(reviews, found, prior, topics, fixed=False)


@pytest.mark.parametrize("profile", [[0, 1, 2], [0, 0, 1], [0, 0, 0]])
def test_the_bound_is_just_under_the_enumerated_likelihood(profile):
    profile = np.array(profile)
    _, bounds = inferred(reviews_by_profile(X, profile, SIGNS), known_topics())
    for g, bound in enumerate(bounds):
        members = [DOCUMENTS[d] for d in np.flatnonzero(profile == g)]
        psi = {1: TOPICS[2], -1: TOPICS[3]}
        exact = reference.log_likelihood(members, TOPICS[:2], psi, ALPHA, OMEGA)
        assert exact - 1.5 < bound < exact


def test_a_review_without_a_sign_among_others_has_the_bound_that_it_has_alone():
    def bounds(rows, signs):
        reviews = reviews_by_profile(X[rows], np.arange(len(rows)), np.array(signs, np.int8))
        known = known_topics()
        return inferred(reviews, Topics(known.weights[reviews.minibatch.words], known.alpha))[1]

    together = bounds([0, 1, 2], [1, 0, -1])
    alone = [bounds([d], [sign])[0] for d, sign in enumerate([1, 0, -1])]
    assert_allclose(together, alone)


def test_the_bound_is_exact_where_nothing_is_shared():
    """With one topic and one word to a document, theta is known and the bound is tight in m."""
    weights = np.zeros((4, variational.padded_width(3)))
    weights[:, :3] = TOPICS.T[:, [0, 2, 3]]
    topics, single = Topics(weights, np.array([1.0, 1e8, 1e8])), RatedLDA(1, 0.0, 500)
    _, bound = inferred(one_review(X[[0]].sign()), topics, np.ones(1), single)
    exact = np.log(0.5 * TOPICS[0, :2] + 0.5 * TOPICS[2, :2]).sum()
    assert_allclose(bound[0], exact, atol=1e-6)


def general_bound(parameters, counts, weights, qualitative):
    """The bound of one document for any q(theta) q(p) q(z, m), by its definition."""
    U, K = weights.shape
    gamma, pi = np.exp(parameters[:K]), np.exp(parameters[K : K + 2])
    logits = parameters[K + 2 :].reshape(U, K + 1)
    q = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    log_theta, log_p = (digamma(x) - digamma(x.sum()) for x in (gamma, pi))
    joint = np.column_stack(
        [log_p[0] + log_theta + np.log(weights), log_p[1] + np.log(qualitative)]
    )
    value = counts @ (q * (joint - np.log(q))).sum(axis=1)
    return value - dirichlet.kl(gamma, ALPHA) - dirichlet.kl(pi, OMEGA)


def test_the_fixed_point_is_where_an_optimizer_ends():
    counts, words = np.array([1.0, 2.0]), np.array([0, 1])
    weights, qualitative = TOPICS[:2, words].T, TOPICS[2, words]
    found, bound = inferred(one_review(X[[0]]), known_topics())
    best = minimize(lambda x: -general_bound(x, counts, weights, qualitative), np.zeros(10))
    assert_allclose(bound[0], -best.fun, atol=1e-6)
    assert_allclose(found.gamma[0], np.exp(best.x[:2]), rtol=1e-3)
    assert_allclose(found.pi[0], np.exp(best.x[2:4]), rtol=1e-3)


def mean_field_bound(theta, pi, mu, alpha, counts, log_phi, log_psi):
    """The source's bound of one document: q(z) and q(m) independent, theta given."""
    log_p = digamma(pi) - digamma(pi.sum())
    terms = (
        mu @ log_p
        + mu[:, 0] * (alpha * log_phi).sum(axis=1)
        + mu[:, 1] * log_psi
        + (alpha * (np.log(theta) - np.log(alpha))).sum(axis=1)
        - (mu * np.log(mu)).sum(axis=1)
    )
    return counts @ terms - dirichlet.kl(pi, OMEGA)


def test_the_printed_update_of_mu_lowers_the_printed_bound():
    """Sections 2.A.1: mu_1 lacks the weights alpha_nk, and mu_2 sums over both signs."""
    rng = np.random.default_rng(1)
    counts = np.array([1.0, 2.0, 1.0])
    log_phi, log_psi, log_other = np.log(rng.dirichlet(np.ones(20), (3, 3))[..., :3])
    log_psi, log_other = log_psi[:, 0], log_other[:, 0]
    theta = np.array([0.2, 0.5, 0.3])
    pi, mu = OMEGA + counts.sum() / 2, np.full((3, 2), 0.5)
    for _ in range(200):
        alpha = theta * np.exp(mu[:, :1] * log_phi)
        alpha /= alpha.sum(axis=1, keepdims=True)
        mu = np.exp(digamma(pi) + np.column_stack([(alpha * log_phi).sum(axis=1), log_psi]))
        mu /= mu.sum(axis=1, keepdims=True)
        pi = OMEGA + counts @ mu
    level = mean_field_bound(theta, pi, mu, alpha, counts, log_phi, log_psi)
    printed = np.exp(digamma(pi) + np.column_stack([log_phi.sum(axis=1), log_psi + log_other]))
    printed /= printed.sum(axis=1, keepdims=True)
    assert mean_field_bound(theta, pi, printed, alpha, counts, log_phi, log_psi) < level - 0.1
    # The family of this package, with z and m together, has the greater bound.
    weights = np.zeros((3, variational.padded_width(5)))
    weights[:, :3], weights[:, 3] = np.exp(log_phi), np.exp(log_psi)
    topics = Topics(weights, np.concatenate([np.ones(3), OMEGA]))
    reviews, model, prior = one_review(counts), RatedLDA(3, 0.0, 500), np.ones((1, 3))
    found = model.infer(reviews, topics, prior, SERIAL, theta=theta[None, :])
    ours = model.bounds(reviews, found, prior, topics, fixed=True)[0]
    assert ours > level + 0.01


def test_statistics_keep_the_tokens():
    posterior = TopicPosterior(np.full((1, 1), 0.1), (4, 4), np.concatenate([ALPHA, OMEGA]))
    counts = np.random.default_rng(0).gamma(1.0, 3.0, (4, 4))
    words = np.arange(4, dtype=np.int32)
    posterior.blend(Blend(1.0, 1.0, 0.0, Statistics(words, counts, np.ones(3))))
    reviews = reviews_by_profile(X, np.array([1, 0, 1]), SIGNS)
    statistics, found = MODEL.step(posterior, reviews, SERIAL)
    assert_allclose(statistics.counts.sum(axis=1), np.asarray(X.sum(axis=0)).ravel(), rtol=1e-9)
    assert_allclose(found.pi.sum(axis=1), OMEGA.sum() + reviews.minibatch.lengths)
    qualitative = found.pi[:, 1] - OMEGA[1]
    by_sign = [qualitative[reviews.signs == sign].sum() for sign in (1, -1)]
    assert_allclose(statistics.counts[:, 2:].sum(axis=0), by_sign, rtol=1e-6)
    assert_allclose(found.gamma.sum(), 2 * ALPHA.sum() + statistics.counts[:, :2].sum(), rtol=1e-9)


@pytest.mark.parametrize("place", [slice(0, 2), slice(2, 4)], ids=["alpha", "omega"])
def test_newton_ends_where_the_bound_is_flat(place):
    """The slopes of the bound in alpha and omega, by finite differences, at their solutions."""
    rng = np.random.default_rng(2)
    counts = sparse.csr_matrix(rng.poisson(1.5, (40, 4)), dtype=np.float64)
    signs = rng.choice([1, -1], 40).astype(np.int8)
    reviews = reviews_by_profile(counts, np.arange(40) // 2, signs)
    start = known_topics()
    found, _ = inferred(reviews, start)
    told = mean_log(found.gamma) if place.start == 0 else mean_log_share(reviews, found)
    alpha = start.alpha.copy()
    alpha[place] = solve_alpha(told, alpha[place])

    def bound(alpha):
        prior, topics = np.tile(alpha[:2], (20, 1)), Topics(start.weights, alpha)
        return MODEL.bounds(reviews, found, prior, topics, fixed=False).sum()

    for k in range(place.start, place.stop):
        h = 1e-4 * np.eye(4)[k]
        slope, before = ((bound(a + h) - bound(a - h)) / 2e-4 for a in (alpha, start.alpha))
        assert abs(slope) < 1e-4 < abs(before)
    assert bound(alpha) > bound(start.alpha)
