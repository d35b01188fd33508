# SPDX-License-Identifier: BSD-3-Clause
"""What proves rather than measures: generated calls, faults, kills, calibration, endurance."""
