# SPDX-License-Identifier: BSD-3-Clause
"""The global state of a stream, with a single writer."""

from streamtopics.posteriors.dense import Block, DensePosterior, DenseView
from streamtopics.posteriors.protocol import TOO_EXTREME, Blend, Learn, Noise, Posterior, Swap, View
from streamtopics.posteriors.stacked import SideBySideProposal, Stacked
from streamtopics.posteriors.topics import Proposal, TopicPosterior, blend_together

__all__ = [
    "TOO_EXTREME",
    "Blend",
    "Block",
    "DensePosterior",
    "DenseView",
    "Learn",
    "Noise",
    "Posterior",
    "Proposal",
    "SideBySideProposal",
    "Stacked",
    "Swap",
    "TopicPosterior",
    "View",
    "blend_together",
]
