# SPDX-License-Identifier: BSD-3-Clause
"""What is checked once is checked again as soon as it is not the same any more."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from streamtopics import SVBLDA, GibbsOnlineEM, StreamingLDA, StreamingMixture
from streamtopics.estimators import Schedule
from streamtopics.metrics import relevant_words
from streamtopics.updates import PowerPrior
from tests import plain

X = sparse.csr_matrix(np.random.default_rng(0).poisson(1.0, (20, 12)).astype(np.float32))


@pytest.mark.parametrize(("name", "value", "kind"), [
    ("batch_size", 0, ValueError),
    ("batch_size", 2.0, ValueError),
    ("n_components", 3, ValueError),
    ("view", "none", TypeError),
])  # fmt: skip
def test_a_parameter_that_changes_is_checked(name, value, kind):
    model = SVBLDA(2, random_state=0).partial_fit(X).partial_fit(X)
    before = model.components_
    setattr(model, name, value)
    with pytest.raises(kind, match=name):
        model.partial_fit(X)
    assert_array_equal(model.components_, before)
    with pytest.raises(kind, match=name):
        model.partial_fit(X)


def test_a_parameter_that_changes_counts_from_the_next_minibatch():
    model = StreamingLDA(2, update=PowerPrior(0.5), random_state=0).partial_fit(X).partial_fit(X)
    assert model.retention_[0] == 0.5
    assert model.set_params(update__rho=0.25).partial_fit(X).retention_[0] == 0.25
    model.update = PowerPrior(0.75)
    assert model.partial_fit(X).retention_[0] == 0.75


@pytest.mark.parametrize("unusual", [
    lambda Y: setattr(Y, "indptr", Y.indptr.astype(np.int64)),
    lambda Y: setattr(Y, "data", np.repeat(Y.data, 2)[::2]),
    lambda Y: setattr(Y, "data", Y.data.astype(">f4")),
    lambda Y: setattr(Y, "data", Y.data.astype(np.int16)),
], ids=["indices of two types", "strides", "bytes the other way round", "integers"])  # fmt: skip
def test_arrays_that_the_quick_check_cannot_read_are_read_by_the_others(unusual):
    Y = X.copy()
    unusual(Y)
    one = SVBLDA(2, random_state=0).partial_fit(X).partial_fit(Y)
    other = SVBLDA(2, random_state=0).partial_fit(X).partial_fit(X)
    assert_array_equal(one.components_, other.components_)


def changed(part, value):
    """X with something wrong in one of its arrays."""
    other = X.copy()
    getattr(other, part)[3] = value
    return other


@pytest.mark.parametrize(("wrong", "message"), [
    (changed("data", np.nan), "NaN"),
    (changed("data", np.inf), "infinity"),
    (changed("data", -1.0), "Negative"),
    (changed("data", 1e30), "must have counts from"),
    (changed("data", 1e-37), "must have counts from"),
    (changed("indices", 50), "indices must be"),
    (changed("indices", -1), "indices must be"),
    (X[:, :7], "features"),
])  # fmt: skip
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_a_matrix_that_is_not_clean_is_refused_in_a_later_minibatch(wrong, message, kind):
    model = SVBLDA(2, random_state=0).partial_fit(X)
    given = kind(X.shape if wrong.shape == X.shape else wrong.shape, dtype=np.float32)
    given.data, given.indices, given.indptr = wrong.data, wrong.indices, wrong.indptr
    before = model.components_
    with pytest.raises(ValueError, match=message):
        model.partial_fit(given)
    assert_array_equal(model.components_, before)


@pytest.mark.parametrize("model", [
    SVBLDA(5, random_state=0),
    GibbsOnlineEM(5, schedule=Schedule(averaging="linear"), random_state=0),
    StreamingMixture(5, random_state=0),
    StreamingLDA(5, topic_word_prior=np.linspace(0.01, 0.1, 12), random_state=0),
], ids=lambda model: type(model).__name__)  # fmt: skip
@pytest.mark.parametrize("n", [1, 5, 12, 40])
def test_top_words_are_those_of_the_whole_matrix(model, n):
    model.partial_fit(X)
    by_probability = relevant_words(model.topic_word_, None, n)
    assert_array_equal(model.top_words(n_words=n, relevance=1), by_probability)


def test_top_words_of_many_words_and_of_topics_that_know_nothing():
    rng = np.random.default_rng(1)
    wide = sparse.random_array((40, 6000), density=0.01, random_state=rng, dtype=np.float32)
    model = plain.SVBLDA(3, random_state=0).partial_fit(10 * wide.tocsr())
    assert_array_equal(model.top_words(relevance=1), relevant_words(model.topic_word_, None, 10))
    empty = plain.SVBLDA(3, random_state=0).partial_fit(np.zeros((0, 6000)))
    assert_array_equal(empty.top_words(relevance=1), np.tile(np.arange(10), (3, 1)))
