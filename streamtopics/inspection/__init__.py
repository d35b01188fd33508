# SPDX-License-Identifier: BSD-3-Clause
"""Tables and pictures of what a model has learnt, and of how many topics it should have."""

from streamtopics.inspection.documents import (
    SharesOverTime,
    SimilarDocument,
    TopicDocument,
    documents_of,
    shares_over_time,
    similar_documents,
)
from streamtopics.inspection.frames import document_frame, to_frame, topic_frame
from streamtopics.inspection.labels import TopicLabel, label_topics
from streamtopics.inspection.n_components import (
    NComponentsComparison,
    NComponentsRow,
    compare_n_components,
)
from streamtopics.inspection.plots import (
    picture_formats,
    plot_curves,
    plot_document,
    plot_drift,
    plot_n_components,
    plot_prior_retention,
    plot_scores,
    plot_sentences,
    plot_shares,
    plot_topic_map,
    plot_topics,
)
from streamtopics.inspection.posterior import PosteriorRow, posterior_table
from streamtopics.inspection.tables import TopicRow, format_topics, topic_table

__all__ = [
    "NComponentsComparison",
    "NComponentsRow",
    "PosteriorRow",
    "SharesOverTime",
    "SimilarDocument",
    "TopicDocument",
    "TopicLabel",
    "TopicRow",
    "compare_n_components",
    "document_frame",
    "documents_of",
    "format_topics",
    "label_topics",
    "picture_formats",
    "plot_curves",
    "plot_document",
    "plot_drift",
    "plot_n_components",
    "plot_prior_retention",
    "plot_scores",
    "plot_sentences",
    "plot_shares",
    "plot_topic_map",
    "plot_topics",
    "posterior_table",
    "shares_over_time",
    "similar_documents",
    "to_frame",
    "topic_frame",
    "topic_table",
]
