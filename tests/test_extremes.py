# SPDX-License-Identifier: BSD-3-Clause
"""Data and parameters far out, where numbers have no room: learnt without a warning, or refused."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import streamtopics as st
from streamtopics.estimators import Schedule
from streamtopics.updates import Window

X = np.random.default_rng(0).poisson(1.0, (8, 6)).astype(float)


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@pytest.mark.parametrize(("count", "prior"), [(1e15, 0.01), (1e9, 1e-8), (1e6, 1e-10)])
def test_what_a_window_takes_out_leaves_no_trace(count, prior):
    large = count * (0.5 + 0.5 * np.random.default_rng(1).random((5, 6)))
    model = st.StreamingLDA(
        3, update=Window(1), topic_word_prior=prior, schedule=Schedule(growth=1), random_state=0
    )
    for part in (large, large[::-1], np.zeros((3, 6))):
        model.partial_fit(part)
    # What is left is the prior.
    assert_allclose(model.components_, prior, rtol=1e-6)
    assert_allclose(model.transform(X).sum(axis=1), 1)
