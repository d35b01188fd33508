# SPDX-License-Identifier: BSD-3-Clause
"""An interrupt anywhere in `partial_fit` leaves all of the minibatch, or nothing of it."""

import pickle
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import DPPSummarizer, LowRankDPP

N_PLACES = 30
RNG = np.random.default_rng(0)
SETS = [(RNG.random((RNG.integers(1, 5), 6)) < 0.4).astype(float) for _ in range(5)]
TEXTS = ["The soup was hot. The bread was fresh!", "Our waiter was kind. The soup was cold."]
ESTIMATORS = {
    "shared": (LowRankDPP(n_components=2, random_state=0), SETS),
    "document": (LowRankDPP(n_components=2, theta="document", random_state=0), SETS),
    "words": (DPPSummarizer(2, vectorizer=CountVectorizer()), TEXTS),
    "thesis": (DPPSummarizer(2, quality="thesis", n_components=2, random_state=0), TEXTS),
}


@contextmanager
def interrupted_at(line):
    """Raise KeyboardInterrupt at the n-th line of streamtopics that is run; count the lines."""
    seen, before = [], sys.gettrace()

    def trace(frame, event, arg):
        if frame.f_globals.get("__name__", "").partition(".")[0] != "streamtopics":
            return None
        if event == "line":
            seen.append(frame.f_lineno)
            if len(seen) == line:
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        yield seen
    finally:
        sys.settrace(before)


def state(model):
    """What was learnt, as bytes; None before any learning."""
    if not model.__sklearn_is_fitted__():
        return None
    if isinstance(model, LowRankDPP):
        return model.n_batch_iter_, model.components_.tobytes(), model.measure_.pi.tobytes()
    thesis = model.thesis_ and state(model.thesis_)
    return model.n_batch_iter_, model.document_frequency_.tobytes(), thesis


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_interrupt_leaves_all_of_a_minibatch_or_nothing(name, later):
    model, data = ESTIMATORS[name]
    model = pickle.loads(pickle.dumps(model))
    if later:
        model.partial_fit(data)
    start = pickle.dumps(model)
    before, attributes = state(model), vars(model).keys()
    whole = pickle.loads(start)
    with interrupted_at(None) as lines:
        whole.partial_fit(data)
    for line in np.linspace(1, len(lines), N_PLACES, dtype=int):
        model = pickle.loads(start)
        # Python does not leave a `with np.errstate` that is interrupted on the way out of it.
        with np.errstate(), pytest.raises(KeyboardInterrupt), interrupted_at(line):
            model.partial_fit(data)
        if state(model) == before:
            assert vars(model).keys() == attributes
            model.partial_fit(data)
        assert state(model) == state(whole)
