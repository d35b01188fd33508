# SPDX-License-Identifier: BSD-3-Clause
"""Topics followed through a stream: snapshots, births and deaths, and news."""
