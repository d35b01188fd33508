# SPDX-License-Identifier: BSD-3-Clause
"""Reports of a topic model: one HTML file that needs no network."""

from streamtopics.report.data import Report
from streamtopics.report.writing import page, report

__all__ = ["Report", "page", "report"]
