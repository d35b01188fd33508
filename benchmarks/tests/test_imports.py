# SPDX-License-Identifier: BSD-3-Clause
"""Each benchmark can be started as its page says: `python -m benchmarks.NAME`."""

from importlib import import_module
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent
NAMES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem != "__init__")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_a_module_that_starts(name):
    assert import_module(f"benchmarks.{name}").__doc__
