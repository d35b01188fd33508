# SPDX-License-Identifier: BSD-3-Clause
"""What every room needs: checks, times, records, threads, progress."""
