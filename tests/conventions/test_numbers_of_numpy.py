# SPDX-License-Identifier: BSD-3-Clause
"""Parameters that are numbers of NumPy, as grids of `np.arange` and `np.linspace` give them.

Those of few bits wrap around, -1 of them is 255, and those of 32 bits round what they meet: each
must count as the number of Python that it equals.
"""

import warnings
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import pytest

from streamtopics import HDPGibbsOnlineEM, LowRankDPP
from streamtopics.datasets import make_rated_reviews
from streamtopics.distributed.fitting import Plan
from streamtopics.dpp import Fourier
from streamtopics.local import Gibbs
from streamtopics.metrics import topic_coherence
from streamtopics.priors import seed_prior
from streamtopics.text import StreamingCountVectorizer
from streamtopics.updates import Decay, PowerPrior, ScaledDecay
from tests.conventions.every import COUNTS, EVERY, SENTENCES, Case, N
from tests.conventions.test_every_estimator import bits


def whole(kind: type) -> Callable[[Any], Any]:
    """Whole numbers that `kind` can hold as such; others stay."""
    least, most = np.iinfo(kind).min, np.iinfo(kind).max
    return lambda value: kind(value) if isinstance(value, int) and least <= value <= most else value


def rounded(kind: type) -> Callable[[Any], Any]:
    return lambda value: kind(value) if isinstance(value, float) else value


CASTS = {
    "uint8": (lambda value: value, whole(np.uint8)),
    "float32": (rounded(lambda value: float(np.float32(value))), rounded(np.float32)),
}


def cast(value: Any, one: Callable[[Any], Any]) -> Any:
    """The numbers of a parameter, those of a record or a tuple too."""
    if isinstance(value, tuple):
        return tuple(cast(item, one) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        given = {at.name: getattr(value, at.name) for at in fields(value) if at.init}
        return replace(value, **{name: cast(item, one) for name, item in given.items()})
    return value if isinstance(value, bool) else one(value)


def learnt(case: Case, one: Callable[[Any], Any]) -> list[bytes]:
    """What a model finds, and all arrays that it has learnt, as bits."""
    model = case.made
    given = model.get_params(deep=False)
    model.set_params(**{k: cast(v, one) for k, v in given.items()})
    with warnings.catch_warnings():
        # Integers that wrap around.
        warnings.simplefilter("error", RuntimeWarning)
        case.taught(model, "fit")
        found = model.transform(case.X, **case.given) if case.y is None else model.components_
        public = sorted(k for k in vars(model) if k.endswith("_") and not k.startswith("_"))
        arrays = [getattr(model, k) for k in public]
    return bits(found) + [a.tobytes() for a in arrays if isinstance(a, np.ndarray)]


# A default in single precision is another number, of which `fit` may tell.
@pytest.mark.filterwarnings("ignore:.*has no effect in fit")
@pytest.mark.parametrize("kind", CASTS)
@pytest.mark.parametrize("name", EVERY)
def test_they_count_as_those_of_python(name, kind):
    as_python, as_numpy = CASTS[kind]
    assert learnt(EVERY[name], as_numpy) == learnt(EVERY[name], as_python)


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float32])
def test_a_step_size_has_any_power(kind):
    assert Decay(kind(1), kind(200))(100) == Decay(1, 200)(100)
    assert ScaledDecay(kind(2), kind(1))(3) == 0.5


def test_fields_of_records_are_numbers_of_python():
    step = Gibbs(np.uint8(5), np.int8(2))
    assert [type(step.n_sweeps), type(step.n_averaged)] == [int, int]
    assert Gibbs(np.uint8(5)).averaged == 2
    assert type(Decay(np.float32(0.5)).kappa) is float
    assert Plan(1, np.uint8(1), batch_size=np.uint8(200)).learns_here(0)


def few(name: str, **parameters: Any) -> Callable[[Any], Any]:
    """Fit an estimator whose parameters are made of a number that is to be counted with."""

    def fitted(number: Callable[[Any], Any]) -> Any:
        case = EVERY[name]
        model = case.made.set_params(**{k: cast(v, number) for k, v in parameters.items()})
        case.taught(model)
        return case.taught(model).transform(case.X, **case.given)

    return fitted


def births(number: Callable[[Any], Any]) -> Any:
    model = HDPGibbsOnlineEM(
        number(250), update=PowerPrior(0.3), concentration=100.0, doc_concentration=100.0,
        n_sweeps=number(5), random_state=0,
    )  # fmt: skip
    for _ in range(6):
        model.partial_fit(COUNTS)
    return model.topic_ids_


def words_of_a_stream(number: Callable[[Any], Any]) -> Any:
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i}" for i in rng.zipf(1.4, 60) % 400) for _ in range(300)]
    model = StreamingCountVectorizer(max_features=number(100), n_candidates=number(120))
    for at in range(0, 300, 50):
        model.partial_fit(texts[at : at + 50])
    return model.transform(texts)


def cube(number: Callable[[Any], Any]) -> Any:
    rng = np.random.default_rng(0)
    sets = [rng.random((4, 3)) for _ in range(5)]
    measure = Fourier(number(3), number(7))
    return LowRankDPP(measure, number(2), random_state=0, max_iter=number(1)).fit(sets).theta_


def labels(number: Callable[[Any], Any]) -> Any:
    """Topics of documents of which some have a label, whose weight is a number."""
    case, y = EVERY["GuidedTopics"], ["a", None, None] * (N // 3)
    model = case.made.set_params(label_weight=number(7.3), seed_weight=number(1.7))
    return model.fit(case.X, y).transform(case.X)


def reviews(number: Callable[[Any], Any]) -> Any:
    settings = {"n_components": number(3), "qualitative_share": number(0.3), "random_state": 0}
    return make_rated_reviews(number(100), **settings).X


# What wrapped around, or was rounded, in other ways than the rest.
SINGLE: dict[str, Callable[[Any], Any]] = {
    "parts of a minibatch": few("StreamingLDA", schedule__inner_batch_size=5, batch_size=12),
    "a first part": few("StreamingMixture", n_components=30, schedule__inner_batch_size=5),
    "factors": few("HiddenFactorsTopics", n_components=127),
    "aspects": few("AspectSentimentModel", n_aspects=100),
    "labels": labels,
    "rates of topics": few("SVBHPP", rate="topic", rate_starts=(0.1, 0.7)),
    "births": births,
    "words of a stream": words_of_a_stream,
    "a cube": cube,
    "reviews": reviews,
    "coherence": lambda number: topic_coherence(
        [[0, 1], [1, 2]], COUNTS, measure="umass", epsilon=number(0.003)
    ),
    "particles": lambda number: EVERY["WASTopicModel"].fitted.log_likelihood(
        SENTENCES, n_particles=number(100), random_state=number(7)
    ),
    "seeds": lambda number: seed_prior({"a": ["w"]}, ["w", "x"], number(5.3), base=number(0.07)),
}


@pytest.mark.parametrize("kind", CASTS)
@pytest.mark.parametrize("name", SINGLE)
def test_so_they_do_in_what_is_learnt_along_a_stream(name, kind):
    as_python, as_numpy = CASTS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert bits(SINGLE[name](as_numpy)) == bits(SINGLE[name](as_python))
