# SPDX-License-Identifier: BSD-3-Clause
"""Sums over documents by time and group, and findings from them in sentences."""

from streamtopics.story.cells import Period, Totals
from streamtopics.story.findings import Finding, Findings
from streamtopics.story.shares import ShareRow

__all__ = ["Finding", "Findings", "Period", "ShareRow", "Totals"]
