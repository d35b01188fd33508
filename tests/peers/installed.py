# SPDX-License-Identifier: BSD-3-Clause
"""Tests that another package is installed with, of what is of this one in the place of its own."""

import importlib.util
import sys
from typing import Any

import pytest


def tests_of(
    module: str, differences: dict[str, str], without: tuple[str, ...], **instead: Any
) -> type:
    """The tests of an installed module as a class, with others `instead` while they are read.

    `differences` says why tests are to fail, by regular expressions of how their names begin: one
    that passes all the same is an error. Tests `without` are left out.
    """
    found = importlib.util.find_spec(module)
    assert found is not None
    assert found.loader is not None
    made = importlib.util.module_from_spec(found)
    with pytest.MonkeyPatch.context() as patches:
        for name, ours in instead.items():
            patches.setattr(f"{module.partition('.tests.')[0]}.{name}", ours)
        # Where pickles look for what it defines, also later.
        sys.modules[module] = made
        found.loader.exec_module(made)
    names = [name for name in vars(made) if name.startswith("test_") and name not in without]
    tests = {name: staticmethod(vars(made)[name]) for name in names}
    return type("Tests", (), {**tests, "differences": differences})
