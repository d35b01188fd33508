# SPDX-License-Identifier: BSD-3-Clause
"""Topics followed through a stream: snapshots, what became of each, and news."""
