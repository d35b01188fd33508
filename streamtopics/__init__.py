# SPDX-License-Identifier: BSD-3-Clause
"""Streaming topic models with compiled kernels, for scikit-learn."""

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
    "VariationalOnlineEM",
    "WASTopicModel",
    "load",
    "save",
]

__version__ = "0.1.0.dev0"
