# SPDX-License-Identifier: BSD-3-Clause
"""Streaming topic models with compiled kernels, for scikit-learn.

Names are imported at their first use, so the help of the command comes at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

# Rooms are named twice, a sign to type checkers that a room is public.
if TYPE_CHECKING:
    from streamtopics import datasets as datasets
    from streamtopics import distributed as distributed
    from streamtopics import dpp as dpp
    from streamtopics import editing as editing
    from streamtopics import inspection as inspection
    from streamtopics import metrics as metrics
    from streamtopics import priors as priors
    from streamtopics import saving as saving
    from streamtopics import story as story
    from streamtopics import streams as streams
    from streamtopics import text as text
    from streamtopics import updates as updates
    from streamtopics import was as was
    from streamtopics.dpp.estimator import LowRankDPP
    from streamtopics.dpp.summarizer import DPPSummarizer
    from streamtopics.estimators import (
        BPSLDA,
        SVBHPP,
        SVBLDA,
        AspectSentimentModel,
        GibbsOnlineEM,
        GuidedTopics,
        HDPGibbsOnlineEM,
        HDPVarGibbs,
        MultiViewLDA,
        StreamingBayes,
        StreamingLDA,
        StreamingMixture,
        VariationalOnlineEM,
    )
    from streamtopics.reviews import HiddenFactorsTopics, RatingLDA, SupervisedLDA
    from streamtopics.saving import load, save
    from streamtopics.topic_stream import TopicStream
    from streamtopics.was import WASTopicModel

__all__ = [
    "BPSLDA",
    "SVBHPP",
    "SVBLDA",
    "AspectSentimentModel",
    "DPPSummarizer",
    "GibbsOnlineEM",
    "GuidedTopics",
    "HDPGibbsOnlineEM",
    "HDPVarGibbs",
    "HiddenFactorsTopics",
    "LowRankDPP",
    "MultiViewLDA",
    "RatingLDA",
    "StreamingBayes",
    "StreamingLDA",
    "StreamingMixture",
    "SupervisedLDA",
    "TopicStream",
    "VariationalOnlineEM",
    "WASTopicModel",
    "load",
    "save",
]

__version__ = "0.1.0.dev0"

# The names above by place, and the rooms in `import streamtopics`.
PLACES = {
    "streamtopics.dpp.estimator": ("LowRankDPP",),
    "streamtopics.dpp.summarizer": ("DPPSummarizer",),
    "streamtopics.estimators": (
        "BPSLDA", "SVBHPP", "SVBLDA", "AspectSentimentModel", "GibbsOnlineEM", "GuidedTopics",
        "HDPGibbsOnlineEM", "HDPVarGibbs", "MultiViewLDA", "StreamingBayes", "StreamingLDA",
        "StreamingMixture", "VariationalOnlineEM",
    ),
    "streamtopics.reviews": ("HiddenFactorsTopics", "RatingLDA", "SupervisedLDA"),
    "streamtopics.saving": ("load", "save"),
    "streamtopics.topic_stream": ("TopicStream",),
    "streamtopics.was": ("WASTopicModel",),
}  # fmt: skip
ROOMS = (
    "base", "datasets", "distributed", "dpp", "editing", "estimators", "families", "inspection",
    "kernels", "local", "messages", "metrics", "models", "posteriors", "priors", "report",
    "reviews", "saving", "story", "streams", "text", "updates", "utils", "was",
)  # fmt: skip
PLACE_OF = {name: module for module, names in PLACES.items() for name in names}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in PLACE_OF:
            value = globals()[name] = getattr(import_module(PLACE_OF[name]), name)
            return value
        if name in ROOMS:
            return import_module(f"{__name__}.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, *ROOMS})
