# SPDX-License-Identifier: BSD-3-Clause
"""The mass of the default prior."""

MASS_PER_WORD = 0.05
