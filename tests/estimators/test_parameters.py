# SPDX-License-Identifier: BSD-3-Clause
"""Wrong parameters: clear errors, and nothing is changed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from streamtopics import BPSLDA, SVBLDA

X = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])

WRONG = [
    ("n_components", 0),
    *(("doc_topic_prior", a) for a in (0.0, np.inf, "auto", [0.1, 0.1, 0.1], [0.1, 0.0])),
    *(("topic_word_prior", eta) for eta in ([1.0, np.nan, 1.0], [1.0, -1.0, 1.0])),
    *(("topic_word_prior", np.ones(shape)) for shape in ((3, 2), (1, 2, 3))),
    *(("boosting_scale", s) for s in (-0.1, np.nan)),
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
    rates = np.kron(np.eye(2), np.full((40, 2), 3.0))
    documents = np.random.default_rng(0).poisson(rates)
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
