# SPDX-License-Identifier: BSD-3-Clause
"""Reports of a topic model: HTML files, readable without a network."""

from streamtopics.report.data import Report, report
from streamtopics.report.writing import page

__all__ = ["Report", "page", "report"]
