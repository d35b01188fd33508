# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of topic models; they need matplotlib (the extra `plot`).

Each draws on the Axes that it is given as `ax`, or on those of a new figure, and returns them.
Colours of text and lines are matplotlib's own, so that styles such as "dark_background" work.
"""

from streamtopics.inspection.plots.axes import picture_formats
from streamtopics.inspection.plots.curves import plot_curves, plot_n_components, plot_scores
from streamtopics.inspection.plots.streams import plot_drift, plot_shares
from streamtopics.inspection.plots.topics import plot_topic_map, plot_topics

__all__ = [
    "picture_formats",
    "plot_curves",
    "plot_drift",
    "plot_n_components",
    "plot_scores",
    "plot_shares",
    "plot_topic_map",
    "plot_topics",
]
