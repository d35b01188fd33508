# SPDX-License-Identifier: BSD-3-Clause
"""An interrupt at any line of a step leaves all of it or nothing, in public attributes too."""

import copy
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from streamtopics import HiddenFactorsTopics, RatingLDA, SupervisedLDA
from streamtopics.base import frame
from streamtopics.datasets import make_rated_reviews

DATA = make_rated_reviews(12, n_items=3, n_users=3, n_features=9, n_components=2, random_state=0)
WHOSE = {"items": DATA.item, "users": DATA.user}
SETTINGS = {"n_components": 2, "max_iter": 1, "random_state": 0}
MODELS = {
    "RatingLDA": (RatingLDA(profile="item", learn_priors=True, **SETTINGS), WHOSE),
    "SupervisedLDA": (SupervisedLDA(learn_priors=True, **SETTINGS), {}),
    "HiddenFactorsTopics": (HiddenFactorsTopics(max_gradient_iter=1, **SETTINGS), WHOSE),
}
# The lines that a step runs: those of the wing, and of the frame around it.
FILES = {
    str(path)
    for path in [
        Path(frame.__file__),
        *(Path(frame.__file__).parents[1] / "reviews").glob("*.py"),
    ]
}
# Of the lines that a call runs, the share that it is interrupted at, to be done in seconds.
EVERY = {"partial_fit": 3, "fit": 12}
AT_THE_END = 20


def minibatch(whose, rows):
    labels = {name: values[rows] for name, values in whose.items()}
    return {"X": DATA.X[rows].toarray().astype(float), "y": DATA.ratings[rows]} | labels


def traced(call, at=None):
    """The lines that a call runs, one by one; a KeyboardInterrupt comes before number `at`."""
    seen = []

    def local(code, event, _):
        if event == "line":
            seen.append((code.f_code, code.f_lineno))
            if len(seen) - 1 == at:
                raise KeyboardInterrupt
        return local

    before = sys.gettrace()
    sys.settrace(lambda code, *_: local if code.f_code.co_filename in FILES else None)
    try:
        call()
    finally:
        sys.settrace(before)
    return seen


def places(lines, every):
    """Where to interrupt: some of the lines, when they are run first, and all of the last."""
    first = {line: place for place, line in reversed([*enumerate(lines)])}
    return sorted({*sorted(first.values())[::every], *range(len(lines) - AT_THE_END, len(lines))})


def public(model):
    """All that can be read off a model, as bytes."""
    if not model.__sklearn_is_fitted__():
        return sorted(vars(model))
    names = [name for name in dir(type(model)) if name.endswith("_") and name[0] != "_"]
    values = {name: getattr(model, name) for name in names if name != "posterior_"}
    return {name: flat(value) for name, value in values.items()} | {"names": sorted(vars(model))}


def flat(value):
    parts = vars(value).values() if hasattr(value, "__dict__") else [value]
    return [flat(part) if hasattr(part, "__dict__") else np.asarray(part).tobytes()
            for part in parts]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "begun"), [("partial_fit", False), ("partial_fit", True), ("fit", True)]
)
@pytest.mark.parametrize("name", MODELS)
def test_all_or_nothing(name, method, begun, monkeypatch):
    monkeypatch.setattr("streamtopics.reviews.hidden_factors.ROUNDS_OF_START", 1)
    model, whose = MODELS[name]
    started = copy.deepcopy(model)
    if begun:
        started.partial_fit(**minibatch(whose, slice(0, 7)))

    def learnt(at=None):
        own = copy.deepcopy(started)
        call = partial(getattr(own, method), **minibatch(whose, slice(7, 12)))
        with pytest.raises(KeyboardInterrupt) if at is not None else nullcontext():
            lines.append(traced(call, at))
        return public(own)

    lines = []
    before, after = public(started), learnt()
    found = [[before, after].index(learnt(at)) for at in places(lines[0], EVERY[method])]
    assert found == sorted(found)
    assert set(found) == {0, 1}
    assert len(found) > 30
