# SPDX-License-Identifier: BSD-3-Clause
"""The frame of all estimators, and what estimators of topics share."""
