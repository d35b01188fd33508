# SPDX-License-Identifier: BSD-3-Clause
"""What happens along a stream and between groups: sums over documents, and sentences of them."""

from streamtopics.story.cells import Period, Totals
from streamtopics.story.findings import Finding, Findings
from streamtopics.story.shares import ShareRow

__all__ = ["Finding", "Findings", "Period", "ShareRow", "Totals"]
