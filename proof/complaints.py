# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong in a call without an exception: numbers that NumPy warns of, errors ignored."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import GeneratorType
from typing import Any
from unittest import mock

import numpy as np

import streamtopics

PACKAGE = Path(streamtopics.__file__).parent


@contextmanager
def complaints() -> Iterator[list[str]]:
    """A list of floating-point warnings of the package's lines, and of errors that were ignored.

    An exception in what cannot raise one, such as a `noexcept` kernel or a destructor, is told to
    `sys.unraisablehook`; generators of other packages are theirs. That Python found no memory to
    end a generator that is given up is no error: it is ended all the same.
    """
    found: list[str] = []

    def ignored(told: Any) -> None:
        ended = told.exc_type is MemoryError and isinstance(told.object, GeneratorType)
        if not (ended or _is_of_another(told.object)):
            found.append(f"ignored {told.exc_type.__name__} in {_name_of(told.object)}")

    with (
        np.errstate(all="warn", under="ignore"),
        warnings.catch_warnings(record=True) as heard,
        mock.patch.object(sys, "unraisablehook", ignored),
    ):
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", RuntimeWarning)
        yield found
        for warning in heard:
            path = Path(warning.filename)
            if path.is_relative_to(PACKAGE):
                place = f"{path.relative_to(PACKAGE)}:{warning.lineno}"
                found.append(f"{place}: {warning.message}")


def _is_of_another(place: Any) -> bool:
    """Whether it is a function or generator that is written in Python, and not in the package."""
    code = getattr(place, "gi_code", getattr(place, "__code__", None))
    return code is not None and not Path(code.co_filename).is_relative_to(PACKAGE)


def _name_of(place: Any) -> str:
    """Where an error was ignored, without addresses."""
    return place if isinstance(place, str) else getattr(place, "__qualname__", type(place).__name__)
