# SPDX-License-Identifier: BSD-3-Clause
"""Wrong parameters: clear errors, and nothing is changed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from streamtopics import (
    BPSLDA,
    SVBLDA,
)

X = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])

WRONG = [
    ("n_components", 0),
    ("doc_topic_prior", 0.0),
    ("doc_topic_prior", np.inf),
    ("doc_topic_prior", "auto"),
    ("doc_topic_prior", [0.1, 0.1, 0.1]),
    ("doc_topic_prior", [0.1, 0.0]),
    ("topic_word_prior", [1.0, np.nan, 1.0]),
    ("topic_word_prior", [1.0, -1.0, 1.0]),
    ("topic_word_prior", np.ones((3, 2))),
    ("topic_word_prior", np.ones((1, 2, 3))),
    ("boosting_scale", -0.1),
    ("boosting_scale", np.nan),
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_wrong_parameter(name, value, method):
    model = BPSLDA(n_components=2).set_params(**{name: value})
    with pytest.raises((ValueError, TypeError), match=name):
        getattr(model, method)(X)
    assert not model.__sklearn_is_fitted__()


def test_the_prior_is_copied():
    prior = np.ones((2, 3))
    model = SVBLDA(n_components=2, topic_word_prior=prior, random_state=0).partial_fit(X)
    before = model.components_
    prior[:] = 100.0
    assert_allclose(model.components_, before)


def test_seeds_in_the_prior_decide_the_topics_of_the_first_minibatch():
    rng = np.random.default_rng(0)
    halves = [
        rng.poisson([3.0, 3.0, 0.0, 0.0], (40, 4)),
        rng.poisson([0.0, 0.0, 3.0, 3.0], (40, 4)),
    ]
    documents = np.vstack(halves)
    for first, second in [(0, 2), (3, 1)]:
        prior = np.full((2, 4), 0.1)
        prior[0, first] += 20
        prior[1, second] += 20
        model = SVBLDA(n_components=2, topic_word_prior=prior, random_state=0).fit(documents)
        learnt = model.components_ - prior
        assert learnt[0, first] > 10 * learnt[0, second]
        assert learnt[1, second] > 10 * learnt[1, first]


def test_what_would_overflow_is_refused():
    model = BPSLDA(n_components=2, random_state=0).partial_fit(X)
    before = model.components_
    with pytest.raises(ValueError, match="boosting_scale"):
        model.set_params(boosting_scale=1e308).partial_fit(X * 1e6)
    with pytest.raises(ValueError, match="must have counts from"):
        model.set_params(boosting_scale=0.1).partial_fit(np.where(X > 2, 1e25, X))
    assert_allclose(model.components_, before)
    assert model.n_batch_iter_ == 1
