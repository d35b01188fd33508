# SPDX-License-Identifier: BSD-3-Clause
"""Coins against closed forms."""

from itertools import product

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import betaln

from streamtopics.models import BetaBinomial
from tests.models.learning import assert_bound_is_greatest, assert_predictives_multiply_to, learnt

MODEL = BetaBinomial(2.0, 0.5)


def flips(n=30, seed=0, theta=(0.2, 0.9)):
    return (np.random.default_rng(seed).random((n, len(theta))) < theta).astype(float)


def log_evidence(X):
    heads = X.sum(axis=0)
    return (betaln(2.0 + heads, 0.5 + len(X) - heads) - betaln(2.0, 0.5)).sum()


def test_one_step_predictives_multiply_to_the_evidence():
    assert_predictives_multiply_to(log_evidence(flips()), MODEL, flips())


def test_the_bound_is_the_evidence_at_the_posterior_and_less_elsewhere():
    assert_bound_is_greatest(log_evidence(flips()), MODEL, flips())


def test_predictions_sum_to_one():
    posterior = learnt(MODEL, flips(), size=10)
    outcomes = np.array(list(product([0, 1], repeat=2)))
    probabilities = np.exp(MODEL.log_predictive(posterior, outcomes))
    assert_allclose(probabilities.sum(), 1.0)
    assert_allclose(probabilities[2:].sum(), MODEL.mean(posterior)[0])
