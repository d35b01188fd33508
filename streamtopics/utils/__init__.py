# SPDX-License-Identifier: BSD-3-Clause
"""Checks, times, records, threads and progress for every room."""
