# SPDX-License-Identifier: BSD-3-Clause
"""Tests here have the options and fixtures of those of the package."""

from tests.conftest import *  # noqa: F403
