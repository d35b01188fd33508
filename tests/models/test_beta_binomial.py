# SPDX-License-Identifier: BSD-3-Clause
"""Coins against closed forms."""

from itertools import product

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import betaln

from streamtopics.families import beta
from streamtopics.models import BetaBinomial
from streamtopics.updates import SVB, HierarchicalPowerPrior

MODEL = BetaBinomial(2.0, 0.5)


def flips(n=30, seed=0, theta=(0.2, 0.9)):
    return (np.random.default_rng(seed).random((n, len(theta))) < theta).astype(float)


def learnt(X, size=10, rule=None):
    posterior = MODEL.posterior(X)
    for start in range(0, len(X), size):
        learn = MODEL.learner(posterior, X[start : start + size])
        posterior.blend((rule or SVB()).step(posterior, learn, None)[0])
    return posterior


def log_evidence(X):
    heads = X.sum(axis=0)
    return (betaln(2.0 + heads, 0.5 + len(X) - heads) - betaln(2.0, 0.5)).sum()


def test_one_step_predictives_multiply_to_the_evidence():
    X = flips()
    posterior, total = MODEL.posterior(X), 0.0
    for row in X[:, None]:
        total += MODEL.log_predictive(posterior, row)[0]
        posterior.blend(SVB().step(posterior, MODEL.learner(posterior, row), None)[0])
    assert_allclose(total, log_evidence(X))


def test_the_bound_is_the_evidence_at_the_posterior_and_less_elsewhere():
    X = flips()
    prior, posterior = MODEL.posterior(X), learnt(X)
    learn = MODEL.learner(prior, X)

    def bound(lam):
        return learn({"coins": lam}).local_bound - beta.kl(lam, prior["coins"]).sum()

    assert_allclose(bound(posterior["coins"]), log_evidence(X))
    for weight in (0.5, 0.9, 1.1):
        lam = prior["coins"] + weight * (posterior["coins"] - prior["coins"])
        assert bound(lam) < log_evidence(X) - 1e-3


def test_predictions_sum_to_one():
    posterior = learnt(flips())
    outcomes = np.array(list(product([0, 1], repeat=2)))
    probabilities = np.exp(MODEL.log_predictive(posterior, outcomes))
    assert_allclose(probabilities.sum(), 1.0)
    assert_allclose(probabilities[2:].sum(), MODEL.mean(posterior)[0])


def test_a_rate_for_each_coin_finds_the_one_that_changes():
    rule = HierarchicalPowerPrior("topic", rate_starts=(0.05, 0.95))
    posterior = learnt(flips(400), 100, rule)
    blend = rule.step(posterior, MODEL.learner(posterior, flips(100, 7, (0.8, 0.9))), None)[0]
    assert blend.retain[0] < 0.1
    assert blend.retain[1] > 0.5
