# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of few bits, of the other order of bytes, or with a mask: they count as what they equal,
or are refused by name."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from streamtopics import SVBLDA
from streamtopics.base.sentences import read_sentences
from streamtopics.datasets import iter_minibatches
from streamtopics.metrics import completion_split, log_predictive_probability
from streamtopics.priors import class_words_prior
from streamtopics.report import page, report
from streamtopics.streams import TopicTracker, stream
from streamtopics.text import NamedCounts
from streamtopics.was.corpus import corpus_of
from tests.conventions.every import COUNTS, V

# Each stored three, two and one times: in 8 bits their sums are others.
ROWS, COLUMNS = np.array([0, 0, 0, 0, 0, 1]), np.array([0, 0, 0, 1, 1, 2])
NARROW = ("uint8", "int8", "bool")


@pytest.mark.parametrize("container", ["coo", "csr"])
@pytest.mark.parametrize("kind", NARROW)
def test_entries_that_are_stored_twice_are_added_up_in_wide_numbers(kind, container):
    count = 1 if kind == "bool" else 100
    values, expected = np.full(6, count, kind), count * np.array([[3, 2, 0], [0, 0, 1]])
    X = sparse.coo_matrix((values, (ROWS, COLUMNS)), shape=(2, 3))
    if container == "csr":
        X = sparse.csr_matrix((values, COLUMNS, [0, 5, 6]), shape=(2, 3))
    before = X.copy()
    wide = SVBLDA(2, random_state=0).fit(expected).components_
    assert_array_equal(SVBLDA(2, random_state=0).fit(X).components_, wide)
    assert_array_equal(NamedCounts.of(X, ["a", "b", "c"]).toarray(), expected)
    assert len(corpus_of(X, [2]).words) == expected.sum()
    assert_array_equal(
        class_words_prior(X, ["a", "b"], n_seeds=1),
        class_words_prior(expected.astype(np.float64), ["a", "b"], n_seeds=1),
    )
    assert X.dtype == before.dtype
    assert_array_equal(X.data, before.data)


class Holder:
    """An object that NumPy makes an array of, as it does of a tensor."""

    dtype = "float64"

    def __init__(self, X):
        self.X = np.asarray(X)
        self.shape = self.X.shape

    def __array__(self, dtype=None, copy=None):
        return self.X if dtype is None else self.X.astype(dtype)


# Between two numbers of 32 bits.
ODD = np.array([[2.0**24 + 1, 0.1], [3, 1]])
AS = {
    "list": ODD.tolist(),
    "tuple": tuple(map(tuple, ODD.tolist())),
    "object": ODD.astype(object),
    "frame of objects": pd.DataFrame(ODD.astype(object), columns=["a", "b"]),
    "array": Holder(ODD),
}


@pytest.mark.parametrize("kind", AS)
def test_doubles_stay_doubles_whatever_holds_them(kind):
    X = AS[kind]
    model, expected = SVBLDA(2, random_state=0).fit(X), SVBLDA(2, random_state=0).fit(ODD)
    assert_array_equal(model.components_, expected.components_)
    assert model.transform(X).dtype == np.float64
    scores = log_predictive_probability(model, X), log_predictive_probability(expected, ODD)
    assert_array_equal(*scores)
    assert_array_equal(read_sentences(X, [0, 1]).counts.toarray(), ODD)
    assert_array_equal(read_sentences([X, X]).counts.toarray(), [*ODD, *ODD])


@pytest.mark.parametrize("kind", ["float16", ">f8", ">f4", ">i4", "object", "longdouble"])
def test_all_numbers_are_read_by_all_that_reads_counts(kind):
    X = COUNTS.astype(kind)
    frame = pd.DataFrame(X)
    model = SVBLDA(3, random_state=0).fit(COUNTS)
    expected, shown = model.components_, page(report(model, X=COUNTS))
    for given in (X, frame):
        found = SVBLDA(3, random_state=0).fit(given).components_
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        observed, held_out = completion_split(given)
        assert_array_equal((observed + held_out).toarray(), COUNTS)
        assert_array_equal(NamedCounts.of(given, [f"w{j}" for j in range(V)]).toarray(), COUNTS)
        assert page(report(model, X=given)) == shown
    tracker = TopicTracker()
    stream(SVBLDA(3, random_state=0), iter_minibatches(X, 8), callbacks=[tracker])
    assert tracker.n_batches_ == 3
