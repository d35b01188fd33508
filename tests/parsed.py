# SPDX-License-Identifier: BSD-3-Clause
"""The documentation of installed packages, which takes seconds to parse, parsed once."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

from streamtopics.datasets import docstrings
from streamtopics.datasets.docstrings import read_packages


@contextmanager
def packages_parsed_once() -> Iterator[None]:
    """Have `load_docstrings` take within what it, or another test, has parsed before."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(docstrings, "read_packages", _read)
        yield


def _read(packages: list[str], _: Any) -> Iterator[tuple[Any, ...]]:
    return ((i, *one) for i, package in enumerate(packages) for one in _documented(package))


@cache
def _documented(package: str) -> list[tuple[Any, ...]]:
    """What an installed package documents."""
    return [found[1:] for found in read_packages([package], docstrings._documented)]
