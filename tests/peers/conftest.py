# SPDX-License-Identifier: BSD-3-Clause
"""What tests of other packages ask for, and which of them are to fail here."""

import re

import numpy as np
import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "thread_unsafe: of scikit-learn")
    config.addinivalue_line("filterwarnings", "ignore:Passing a non-Collection iterable")


@pytest.fixture(params=[np.float32, np.float64], ids=["float32", "float64"])
def global_dtype(request):
    return request.param


@pytest.fixture
def global_random_seed():
    return 42


def pytest_collection_modifyitems(items):
    for item in items:
        differences = getattr(getattr(item, "cls", None), "differences", {})
        for name, reason in differences.items():
            if re.match(name, item.name):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
