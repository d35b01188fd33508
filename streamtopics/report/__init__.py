# SPDX-License-Identifier: BSD-3-Clause
"""Reports of a topic model: one HTML file that needs no network."""

from streamtopics.report.data import ReportData, report_data
from streamtopics.report.documents import whole_of
from streamtopics.report.settings import ReportSettings
from streamtopics.report.whole import Whole
from streamtopics.report.writing import page, report

__all__ = ["ReportData", "ReportSettings", "Whole", "page", "report", "report_data", "whole_of"]
