# SPDX-License-Identifier: BSD-3-Clause
"""Estimators, one class in each file."""

from streamtopics.estimators.bps_lda import BPSLDA
from streamtopics.estimators.svb_lda import SVBLDA

__all__ = ["BPSLDA", "SVBLDA"]
