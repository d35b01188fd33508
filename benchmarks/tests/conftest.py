# SPDX-License-Identifier: BSD-3-Clause
"""Tests here have what those of the package have."""

from tests.conftest import (  # noqa: F401
    browser,
    no_traces,
    pytest_addoption,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_runtest_protocol,
    python,
    small_jobs_are_handed_over,
    switching_often,
)
