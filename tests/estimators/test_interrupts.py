# SPDX-License-Identifier: BSD-3-Clause
"""An interrupt at any line of the frame and of the posteriors leaves one whole state."""

import pickle
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import streamtopics
from streamtopics import (
    AspectSentimentModel,
    GibbsOnlineEM,
    HDPGibbsOnlineEM,
    MultiViewLDA,
    StreamingBayes,
    StreamingLDA,
)
from streamtopics.estimators import Schedule
from streamtopics.models import BetaBinomial
from streamtopics.updates import BPS, Boost, PowerPrior, Window
from tests.interrupts import Lines
from tests.saving.state import parts_of

FOLDER = Path(streamtopics.__file__).parent
TRACED = (str(FOLDER / "base"), str(FOLDER / "posteriors"), str(FOLDER / "estimators"))
SAMPLES, LAST = 14, 16

COUNTS = list(np.random.default_rng(0).poisson(1.0, (3, 6, 8)) + 1.0 * np.eye(6, 8))
LABELS = np.array(["a", "b", "a", "b", "a", "b"])
OF_COUNTS = [(batch,) for batch in COUNTS]
OF_CLASSES = [(batch, LABELS, ["a", "b"]) for batch in COUNTS]
OF_SENTENCES = [([batch[:3], batch[3:]],) for batch in COUNTS]
OF_NODES = [(np.minimum(batch, 1.0)[:, :2],) for batch in COUNTS]
SEED = {"random_state": 0}
CASES = {
    "forgetting": (StreamingLDA(2, update=PowerPrior(0.9, Boost(0.1)), **SEED), OF_COUNTS),
    "with a state": (StreamingLDA(2, update=Window(1), **SEED), OF_COUNTS),
    "averaging": (GibbsOnlineEM(2, schedule=Schedule(averaging="linear"), **SEED), OF_COUNTS),
    "HDP": (HDPGibbsOnlineEM(2, n_sweeps=3, **SEED), OF_COUNTS),
    "classes": (MultiViewLDA(1, 1, update=BPS(0.1), **SEED), OF_CLASSES),
    "sentences": (AspectSentimentModel(1, **SEED), OF_SENTENCES),
    "nodes": (StreamingBayes(BetaBinomial(), PowerPrior(0.9), **SEED), OF_NODES),
}


@pytest.mark.parametrize("n_before", [0, 2])
@pytest.mark.parametrize(("given", "batches"), CASES.values(), ids=CASES)
def test_an_interrupt_at_any_line_is_before_or_after(given, batches, n_before):
    model = clone(given)
    for batch in batches[:n_before]:
        model.partial_fit(*batch)
    start, kept = parts_of(model), pickle.dumps(model)
    # Of a copy too, as parameters that were checked before are not checked again.
    model, means = pickle.loads(kept), Lines(within=TRACED)
    n_lines = means.during(partial(model.partial_fit, *batches[n_before]))
    end = parts_of(model)
    assert start != end
    assert n_lines > 60
    outcomes = {"before": 0, "after": 0, "finished": 0}
    # All of the last lines, where the state changes, and some of the others.
    lines = np.unique(np.linspace(1, n_lines, SAMPLES).astype(int))
    lines = sorted({*lines.tolist(), *range(max(1, n_lines - LAST), n_lines + 1)})
    for at in lines:
        model = pickle.loads(kept)
        with suppress(KeyboardInterrupt):
            means.during(partial(model.partial_fit, *batches[n_before]), at)
        found = parts_of(model)
        assert found in (start, end), (at, n_lines)
        if not means.struck:
            assert found == end
            outcomes["finished"] += 1
        else:
            outcomes["before" if found == start else "after"] += 1
        if found == start and at % 4 == 0:
            model.partial_fit(*batches[n_before])
            assert parts_of(model) == end, at
    assert outcomes["before"] > 0.4 * len(lines)
    assert outcomes["after"] > 0
    assert outcomes["finished"] <= 1
