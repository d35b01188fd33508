# SPDX-License-Identifier: BSD-3-Clause
"""Reports of a topic model: one HTML file that needs no network."""

from streamtopics.report.data import ReportData, report_data
from streamtopics.report.settings import ReportSettings
from streamtopics.report.writing import page, report

__all__ = ["ReportData", "ReportSettings", "page", "report", "report_data"]
