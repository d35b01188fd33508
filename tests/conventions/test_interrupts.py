# SPDX-License-Identifier: BSD-3-Clause
"""An interrupt at any line of a step leaves all of a minibatch, or nothing of it."""

import pickle

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import streamtopics as st
from streamtopics.datasets import make_rated_reviews
from tests.interrupts import Lines

N_PLACES = 30
RNG = np.random.default_rng(0)
SETS = {"X": [RNG.integers(0, 2, (RNG.integers(1, 5), 6)).astype(float) for _ in range(5)]}
TEXTS = {"raw_documents": ["The soup was hot. The bread was fresh!", "Our waiter was kind."]}
DATA = make_rated_reviews(12, n_items=3, n_users=3, n_features=9, n_components=2, random_state=0)
RATED = {"X": DATA.X, "y": DATA.ratings}
REVIEWS = RATED | {"items": DATA.item, "users": DATA.user}
FEW = {"n_components": 2, "max_iter": 1, "random_state": 0}
MODELS = {
    "sets": (st.LowRankDPP(n_components=2, random_state=0), SETS),
    "sets, each": (st.LowRankDPP(n_components=2, theta="document", random_state=0), SETS),
    "words": (st.DPPSummarizer(2, vectorizer=CountVectorizer()), TEXTS),
    "thesis": (st.DPPSummarizer(2, quality="thesis", n_components=2, random_state=0), TEXTS),
    "sentences": (st.WASTopicModel(2, n_sweeps=2, n_burn_in=1, random_state=0), SETS),
    "ratings": (st.RatingLDA(profile="item", learn_priors=True, **FEW), REVIEWS),
    "response": (st.SupervisedLDA(learn_priors=True, **FEW), RATED),
    "factors": (st.HiddenFactorsTopics(max_gradient_iter=1, **FEW), REVIEWS),
}


def public(model):
    """All that can be read off a model, as bytes; None before any learning."""
    if not model.__sklearn_is_fitted__():
        return None
    names = [name for name in dir(type(model)) if name.endswith("_") and name[0] != "_"]
    hidden = {"posterior_", "vectorizer_", "thesis_"}
    found = {name: pickle.dumps(getattr(model, name)) for name in names if name not in hidden}
    thesis = model.thesis_ if "thesis_" in names else None
    return found | {"thesis": thesis and public(thesis)}


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_all_of_a_minibatch_or_nothing(name, begun, monkeypatch):
    monkeypatch.setattr("streamtopics.reviews.hidden_factors.ROUNDS_OF_START", 1)
    model, data = MODELS[name]
    model = pickle.loads(pickle.dumps(model))
    if begun:
        model.partial_fit(**data)
    start, before = pickle.dumps(model), public(model)
    whole = pickle.loads(start)
    n_lines = Lines().during(lambda: whole.partial_fit(**data))
    after, found = public(whole), []
    for line in np.linspace(1, n_lines, N_PLACES, dtype=int):
        model = pickle.loads(start)
        # Python does not leave a `with np.errstate` that is interrupted on the way out of it.
        with np.errstate(), pytest.raises(KeyboardInterrupt):
            Lines().during(lambda model=model: model.partial_fit(**data), int(line))
        found.append([before, after].index(public(model)))
    assert found == sorted(found)
    assert found[0] == 0
