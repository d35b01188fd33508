# SPDX-License-Identifier: BSD-3-Clause
"""An interrupt at any line that is not of a kernel or a local step leaves one whole state."""

import pickle
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

import streamtopics
from streamtopics import (
    AspectSentimentModel,
    DPPSummarizer,
    GibbsOnlineEM,
    HDPGibbsOnlineEM,
    HiddenFactorsTopics,
    LowRankDPP,
    MultiViewLDA,
    RatingLDA,
    StreamingBayes,
    StreamingLDA,
    SupervisedLDA,
    WASTopicModel,
)
from streamtopics.datasets import make_rated_reviews
from streamtopics.estimators import Schedule
from streamtopics.models import BetaBinomial
from streamtopics.updates import BPS, Boost, PowerPrior, Window
from tests.interrupts import Lines
from tests.saving.state import parts_of

FOLDER = Path(streamtopics.__file__).parent
ROOMS = ("base", "posteriors", "estimators", "dpp", "was", "reviews", "text")
TRACED = tuple(str(FOLDER / room) for room in ROOMS)
SAMPLES, LAST = 14, 16

COUNTS = list(np.random.default_rng(0).poisson(1.0, (3, 6, 8)) + 1.0 * np.eye(6, 8))
LABELS = np.array(["a", "b", "a", "b", "a", "b"])
OF_COUNTS = [{"X": batch} for batch in COUNTS]
OF_CLASSES = [{"X": batch, "y": LABELS, "classes": ["a", "b"]} for batch in COUNTS]
OF_SENTENCES = [{"X": [batch[:3], batch[3:]]} for batch in COUNTS]
OF_NODES = [{"X": np.minimum(batch, 1.0)[:, :2]} for batch in COUNTS]
OF_SETS = [{"X": [np.minimum(one, 1.0) for one in given["X"]]} for given in OF_SENTENCES]
TEXTS = [{"raw_documents": ["The soup was hot. The bread was fresh!", "Our waiter was kind."]}] * 3
DATA = make_rated_reviews(12, n_items=3, n_users=3, n_features=9, n_components=2, random_state=0)
RATED = [{"X": DATA.X, "y": DATA.ratings}] * 3
REVIEWS = [RATED[0] | {"items": DATA.item, "users": DATA.user}] * 3
SEED = {"random_state": 0}
FEW = {"n_components": 2, "max_iter": 1, **SEED}
CASES = {
    "forgetting": (StreamingLDA(2, update=PowerPrior(0.9, Boost(0.1)), **SEED), OF_COUNTS),
    "with a state": (StreamingLDA(2, update=Window(1), **SEED), OF_COUNTS),
    "averaging": (GibbsOnlineEM(2, schedule=Schedule(averaging="linear"), **SEED), OF_COUNTS),
    "HDP": (HDPGibbsOnlineEM(2, n_sweeps=3, **SEED), OF_COUNTS),
    "classes": (MultiViewLDA(1, 1, update=BPS(0.1), **SEED), OF_CLASSES),
    "sentences": (AspectSentimentModel(1, **SEED), OF_SENTENCES),
    "nodes": (StreamingBayes(BetaBinomial(), PowerPrior(0.9), **SEED), OF_NODES),
    "sets": (LowRankDPP(n_components=2, **SEED), OF_SETS),
    "sets, each": (LowRankDPP(n_components=2, theta="document", **SEED), OF_SETS),
    "words": (DPPSummarizer(2, vectorizer=CountVectorizer()), TEXTS),
    "thesis": (DPPSummarizer(2, quality="thesis", n_components=2, **SEED), TEXTS),
    "words of sentences": (WASTopicModel(2, n_sweeps=2, n_burn_in=1, **SEED), OF_SENTENCES),
    "ratings": (RatingLDA(profile="item", learn_priors=True, **FEW), REVIEWS),
    "response": (SupervisedLDA(learn_priors=True, **FEW), RATED),
    "factors": (HiddenFactorsTopics(max_gradient_iter=1, **FEW), REVIEWS),
}


@pytest.mark.parametrize("n_before", [0, 2])
@pytest.mark.parametrize(("given", "batches"), CASES.values(), ids=CASES)
def test_an_interrupt_at_any_line_is_before_or_after(given, batches, n_before, monkeypatch):
    monkeypatch.setattr("streamtopics.reviews.hidden_factors.ROUNDS_OF_START", 1)
    model = clone(given)
    for batch in batches[:n_before]:
        model.partial_fit(**batch)
    start, kept = parts_of(model), pickle.dumps(model)
    # Of a copy too, as parameters that were checked before are not checked again.
    model, means = pickle.loads(kept), Lines(within=TRACED)
    n_lines = means.during(partial(model.partial_fit, **batches[n_before]))
    end = parts_of(model)
    assert start != end
    assert n_lines > 60
    outcomes = {"before": 0, "after": 0, "finished": 0}
    # All of the last lines, where the state changes, and some of the others.
    lines = np.unique(np.linspace(1, n_lines, SAMPLES).astype(int))
    lines = sorted({*lines.tolist(), *range(max(1, n_lines - LAST), n_lines + 1)})
    for at in lines:
        model = pickle.loads(kept)
        # Python does not leave a `with np.errstate` that is interrupted on the way out of it.
        with np.errstate(), suppress(KeyboardInterrupt):
            means.during(partial(model.partial_fit, **batches[n_before]), at)
        found = parts_of(model)
        assert found in (start, end), (at, n_lines)
        if not means.struck:
            assert found == end
            outcomes["finished"] += 1
        else:
            outcomes["before" if found == start else "after"] += 1
        if found == start and at % 4 == 0:
            model.partial_fit(**batches[n_before])
            assert parts_of(model) == end, at
    assert outcomes["before"] > 0.4 * len(lines)
    assert outcomes["after"] > 0
    assert outcomes["finished"] <= 1
