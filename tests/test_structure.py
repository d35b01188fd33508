# SPDX-License-Identifier: BSD-3-Clause
"""Matrices whose arrays or counts do not fit are refused by name wherever they come in."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from streamtopics import GibbsOnlineEM


def test_everything_public_that_takes_a_matrix_looks_at_its_arrays_and_counts(python):
    """In a process of its own, since what is not refused may end it."""
    with python(["-m", "tests.malformed"]) as process:
        out, errors = process.communicate()
    lines = [json.loads(line) for line in out.splitlines()]
    assert process.wait() == 0, (lines[-1:], errors[-2000:])
    found = [line for line in lines if "error" in line]
    assert [line for line in found if line["case"] == "right" and line["error"] != "none"] == []
    spoilt = [line for line in found if line["case"] != "right"]
    assert [line for line in spoilt if line["error"] not in {"TypeError", "ValueError"}] == []
    doors = {line["door"] for line in found}
    assert {"class_words_prior", "iter_minibatches", "left_to_right", "SVBLDA.score"} <= doors
    assert len(spoilt) >= 10 * len(doors) > 1000
    counts = {line["door"] for line in found if line["case"] == "a count of 1e-40"}
    assert {"completion_split", "topic_coherence", "AspectSentimentModel.score", "report"} <= counts
    assert len(counts) > 100


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_an_order_that_scipy_remembers_is_not_believed(kind):
    """It is of the arrays before: SciPy does not look again when these are set."""
    X = kind(np.random.default_rng(0).poisson(1.0, (12, 6)) + np.ones((12, 6)))
    assert X.has_canonical_format
    X.indices = np.array([5, 3, 1, 0, 2, 4])[X.indices].astype(np.int32)
    fresh = kind((X.data, X.indices, X.indptr), shape=X.shape)
    model = GibbsOnlineEM(3, random_state=0).fit(fresh)
    before = X.indices.copy()
    assert_array_equal(GibbsOnlineEM(3, random_state=0).fit(X).components_, model.components_)
    assert_array_equal(model.transform(X), model.transform(fresh))
    assert_array_equal(X.indices, before)
