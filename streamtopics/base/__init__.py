# SPDX-License-Identifier: BSD-3-Clause
"""The frame of all estimators, and shared parts of estimators of topics."""
