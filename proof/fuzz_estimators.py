# SPDX-License-Identifier: BSD-3-Clause
"""Every public estimator, with parameters drawn from its own documentation, right and wrong."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import get_tags
from sklearn.utils._param_validation import Interval, Options

import streamtopics
from proof import fuzz_inputs as inputs
from proof.fuzz_inputs import Rng, chance, junk, pick
from streamtopics import local, models, priors, text, updates

# Values with which an episode is short; of others a parameter has its default.
SHORT: dict[str, Any] = {
    "n_components": 2, "n_aspects": 2, "n_local_topics": 2, "n_global_topics": 2, "max_iter": 2,
    "n_sweeps": 3, "n_burn_in": 1, "n_local_sweeps": 2, "n_start_rounds": 1,
    "max_gradient_iter": 2, "max_local_iter": 5, "n_sentences": 2, "batch_size": 5,
    "random_state": 0, "max_features": 6,
}  # fmt: skip
# Numbers of things are small where they are right: there is work in proportion to them.
SMALL = (1, 2, 3, np.int64(2), np.int8(3))
# Numbers of few bits wrap around, and round what they meet, where they are not converted.
OF_NUMPY = (np.int64, np.int8, np.uint8, np.int16, np.float64, np.float32, np.float16)
# More processes would be started than there is work for.
JOBS = (None, 1, 0, True, 1.5, "a", np.nan)
RECORDS = (updates, local, priors, models)
PARAMETER = re.compile(r"^\s*(\w+(?:, \w+)*) : (.+?)(?:, default=.*)?$", re.MULTILINE)
QUOTED = re.compile(r'"(\w+)"')


def required() -> dict[str, Callable[[], Any]]:
    """What some estimators cannot be made without, by the name of its parameter."""
    return {
        "seeds": lambda: {"one": ["a"], "two": ["b"]},
        "model": lambda: models.GaussianMixture(2),
        "steps": lambda: [
            ("words", text.StreamingCountVectorizer(max_features=inputs.WIDTH)),
            ("topics", streamtopics.SVBLDA(2, random_state=0)),
        ],
    }


@cache
def input_of(kind: type) -> Callable[[Rng], Any]:
    """How to draw X for an estimator, by what it says that it takes."""
    takes = get_tags(plain(kind)).input_tags
    if issubclass(kind, streamtopics.GuidedTopics):
        return inputs.named
    if takes.string:
        return inputs.texts
    if takes.three_d_array:
        return inputs.sentences
    if not takes.sparse:
        return numbers
    return inputs.counts


@cache
def needed_by(kind: type) -> tuple[str, ...]:
    """What methods of an estimator say that they cannot do without."""
    if is_classifier(plain(kind)):
        return ("y", "classes")
    return ("y",) if get_tags(plain(kind)).target_tags.required else ()


def plain(kind: type) -> Any:
    """An estimator with parameters as they are by default."""
    taken = taken_by(kind)
    return kind(**{key: make() for key, make in required().items() if _needs(taken, key)})


@cache
def taken_by(kind: type) -> Mapping[str, inspect.Parameter]:
    """Parameters of a class, by name."""
    return inspect.signature(kind).parameters


def numbers(rng: Rng) -> Any:
    """A matrix of numbers that may be negative."""
    return inputs.counts(rng, whole=chance(rng, 0.3))


@cache
def choices_of(kind: type) -> dict[str, list[str]]:
    """Words that the documentation of a class names for its parameters."""
    found: dict[str, list[str]] = {}
    for names, allowed in PARAMETER.findall(kind.__doc__ or ""):
        for name in names.split(", "):
            found[name] = QUOTED.findall(allowed)
    return found


def record(rng: Rng) -> Any:
    """A record of the package, such as a rule or a prior, made with drawn fields."""
    room = pick(rng, RECORDS)
    kind = getattr(room, pick(rng, room.__all__))
    if not isinstance(kind, type):
        return kind
    fields = {}
    with suppress(ValueError, TypeError, AttributeError):
        for name, field in taken_by(kind).items():
            if field.default is inspect.Parameter.empty or chance(rng, 0.2):
                fields[name] = some_field(rng, name)
        return kind(**fields)
    return updates.SVB()


def some_field(rng: Rng, name: str) -> Any:
    """A field of a record."""
    if name in ("update", "step_of"):
        return updates.SVB() if name == "update" else local.Gibbs(2)
    if name == "doc_topic":
        return updates.FixedPoint()
    found = pick(rng, (1, 2, 3, 0.5, 0.1, 10.0, 5))
    if inputs.FAR_OUT.get() and chance(rng, 0.5):
        found = pick(rng, (0.0, 1.0, 0.999, 1e-10, 1e10, 1e-50, 1e50))
    return as_kind(found, pick(rng, OF_NUMPY)) if chance(rng, 0.2) else found


def within(rng: Rng, name: str, constraints: Any) -> Any:
    """A value that the constraints of a parameter allow; without any, something short.

    A number is within its bounds, sometimes at one.
    """
    if name in SHORT and name not in ("random_state", "max_features"):
        return pick(rng, SMALL)
    allowed = [*chain(*(values_of(one) for one in constraints or ()))]
    bounds = [one for one in constraints or () if isinstance(one, Interval)]
    if not bounds or (allowed and chance(rng, 0.3)):
        return pick(rng, allowed or (1, 2, 0.5, 0.1, True, False, None, 3.0))
    interval = pick(rng, bounds)
    left = -1e3 if interval.left is None else float(interval.left)
    right = 1e3 if interval.right is None else float(interval.right)
    inside = (left + 0.5, left + 1, left + 3.0, min(right, left + 100), (left + min(right, 5)) / 2)
    ends = (left, left, right, right) if inputs.FAR_OUT.get() else (left, *inside)
    value = pick(rng, (*ends, *inside)) if right > 5 else float(rng.uniform(left, right))
    return int(min(value, 20)) if "Integral" in str(interval.type) else value


def values_of(constraint: Any) -> tuple[Any, ...]:
    """Values that a constraint of scikit-learn's allows, but for numbers."""
    if isinstance(constraint, Options):
        return (*constraint.options,)
    if isinstance(constraint, str):
        known = {
            "boolean": (True, False), "verbose": (0, 1), "array-like": ((9.0, 1.0), [0.5, 0.5]),
        }  # fmt: skip
        return known.get(constraint, ())
    return {None: (None,), tuple: ((1, 1), (1, 2)), list: (["a", "rain"],)}.get(constraint, ())


def parameters(rng: Rng, kind: type) -> dict[str, Any]:
    """Parameters of an estimator: mostly few that differ from what makes an episode short."""
    taken, given = taken_by(kind), short_parameters(kind)
    words, bounds = choices_of(kind), getattr(kind, "_parameter_constraints", {})
    wrong = chance(rng, 0.25)
    for key in taken:
        if chance(rng, 0.3 if inputs.FAR_OUT.get() else 0.12):
            given[key] = drawn(rng, key, words.get(key, []), bounds.get(key))
        elif wrong and chance(rng, 0.06):
            given[key] = lasting(junk(rng))
    if "n_jobs" in given:
        given["n_jobs"] = pick(rng, JOBS)
    if chance(rng, 0.2):
        kind = pick(rng, OF_NUMPY)
        given = {key: as_kind(value, kind) for key, value in given.items()}
    return given


def as_kind(value: Any, kind: type[np.number]) -> Any:
    """A number of Python as one of NumPy that equals it, or about; anything else as it is."""
    if type(value) is int and issubclass(kind, np.integer):
        least, most = np.iinfo(kind).min, np.iinfo(kind).max
        return kind(value) if least <= value <= most else value
    if type(value) is float and issubclass(kind, np.floating):
        return kind(value) if abs(value) <= np.finfo(kind).max else value
    return value


def lasting(value: Any) -> Any:
    """The value, unless it can be read but once, which is no parameter of an estimator."""
    return None if isinstance(value, Iterator) else value


def short_parameters(kind: type) -> dict[str, Any]:
    """Parameters with which an episode is short, all of them right."""
    taken = taken_by(kind)
    given = {key: make() for key, make in required().items() if _needs(taken, key)}
    return given | {key: value for key, value in SHORT.items() if key in taken}


def _needs(taken: Any, key: str) -> bool:
    return key in taken and taken[key].default is inspect.Parameter.empty


def drawn(rng: Rng, key: str, words: list[str], constraints: Any) -> Any:
    """A value for a parameter that may be right."""
    if key in ("seeds", "name_vectors", "model", "steps", "missing", "vectorizer"):
        return _special(rng, key)
    if key == "input":
        return "content"
    if key == "update" and chance(rng, 0.5):
        return pick(rng, (updates.PowerPrior(0.9), updates.SVB(), updates.OnlineEM()))
    if key == "random_state":
        return pick(rng, (0, 1, 7, 2**32 - 1, np.int64(3)))
    if key in ("splitter", "preprocessor"):
        return pick(rng, (None, quiet))
    if words and chance(rng, 0.7):
        return pick(rng, words)
    if key.endswith("prior") and chance(rng, 0.4):
        shape = pick(rng, ((2,), (inputs.WIDTH,), (2, inputs.WIDTH), (3, 1), ()))
        return rng.uniform(0.01, 2, shape) if chance(rng, 0.7) else record(rng)
    if not constraints or constraints == "no_validation":
        return record(rng) if chance(rng, 0.6) else within(rng, key, None)
    return within(rng, key, constraints)


def _special(rng: Rng, key: str) -> Any:
    if key == "seeds":
        return pick(rng, ({"one": ["a"], "two": []}, {"one": ["zz"]}, {"one": "ab"}, {0: ["a"]}))
    if key == "name_vectors":
        by_name = {"one": [1.0, 0.0, 1.0]}
        return pick(rng, (None, np.eye(2, 3), by_name, by_name | {"two": [0.0, 2.0, 1.0]}))
    if key == "model":
        kinds = (models.BetaBinomial, models.LinearRegression, models.MeanFieldRegression)
        return pick(rng, (*kinds, models.GaussianMixture, models.NaiveBayesMixture))()
    if key == "steps":
        words = text.StreamingCountVectorizer()
        return pick(
            rng,
            (
                [("words", words), ("topics", streamtopics.GibbsOnlineEM(2, random_state=0))],
                [],
                None,
            ),
        )
    if key == "vectorizer":
        return pick(
            rng, (None, text.StreamingCountVectorizer(), streamtopics.SVBLDA(2, random_state=0))
        )
    return pick(rng, ("error", "ignore"))


def quiet(told: Any) -> Any:
    """A callback that returns what it was told, as a list."""
    return [told]
