# SPDX-License-Identifier: BSD-3-Clause
"""Tables and pictures of fitted models, and the choice of the number of topics."""

from streamtopics.inspection.documents import (
    SharesOverTime,
    SimilarDocument,
    TopicDocument,
    documents_of,
    shares_over_time,
    similar_documents,
)
from streamtopics.inspection.n_components import (
    NComponentsComparison,
    NComponentsRow,
    compare_n_components,
)
from streamtopics.inspection.plots.curves import plot_curves, plot_n_components, plot_scores
from streamtopics.inspection.plots.streams import plot_drift, plot_shares
from streamtopics.inspection.plots.topics import plot_topic_map, plot_topics
from streamtopics.inspection.tables import TopicRow, format_topics, topic_table

__all__ = [
    "NComponentsComparison",
    "NComponentsRow",
    "SharesOverTime",
    "SimilarDocument",
    "TopicDocument",
    "TopicRow",
    "compare_n_components",
    "documents_of",
    "format_topics",
    "plot_curves",
    "plot_drift",
    "plot_n_components",
    "plot_scores",
    "plot_shares",
    "plot_topic_map",
    "plot_topics",
    "shares_over_time",
    "similar_documents",
    "topic_table",
]
