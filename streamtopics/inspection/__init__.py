# SPDX-License-Identifier: BSD-3-Clause
"""Tables and pictures of what a model has learnt."""

from streamtopics.inspection.plots import picture_formats, plot_curves, plot_drift, plot_topics
from streamtopics.inspection.tables import TopicRow, format_topics, topic_table

__all__ = [
    "TopicRow",
    "format_topics",
    "picture_formats",
    "plot_curves",
    "plot_drift",
    "plot_topics",
    "topic_table",
]
