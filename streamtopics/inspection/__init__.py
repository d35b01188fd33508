# SPDX-License-Identifier: BSD-3-Clause
"""Tables and pictures of what a model has learnt, and of how many topics it should have."""

from streamtopics.inspection.n_components import (
    NComponentsComparison,
    NComponentsRow,
    compare_n_components,
)
from streamtopics.inspection.plots import (
    picture_formats,
    plot_curves,
    plot_drift,
    plot_n_components,
    plot_topics,
)
from streamtopics.inspection.tables import TopicRow, format_topics, topic_table

__all__ = [
    "NComponentsComparison",
    "NComponentsRow",
    "TopicRow",
    "compare_n_components",
    "format_topics",
    "picture_formats",
    "plot_curves",
    "plot_drift",
    "plot_n_components",
    "plot_topics",
    "topic_table",
]
