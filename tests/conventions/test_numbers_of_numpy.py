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

from streamtopics.distributed.fitting import Plan
from streamtopics.local import Gibbs
from streamtopics.updates import Decay
from tests.conventions.every import EVERY, Case
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


def test_fields_of_records_are_numbers_of_python():
    step = Gibbs(np.uint8(5), np.int8(2))
    assert [type(step.n_sweeps), type(step.n_averaged)] == [int, int]
    assert Gibbs(np.uint8(5)).averaged == 2
    assert type(Decay(np.float32(0.5)).kappa) is float
    assert Plan(1, np.uint8(1), batch_size=np.uint8(200)).learns_here(0)
