# SPDX-License-Identifier: BSD-3-Clause
"""Estimators of topic models."""

from streamtopics.base.composition import Schedule
from streamtopics.estimators.aspect_sentiment import AspectSentimentModel
from streamtopics.estimators.guided_topics import GuidedTopics
from streamtopics.estimators.hdp import HDPGibbsOnlineEM, HDPVarGibbs
from streamtopics.estimators.multi_view_lda import MultiViewLDA
from streamtopics.estimators.named import BPSLDA, SVBHPP, SVBLDA, GibbsOnlineEM, VariationalOnlineEM
from streamtopics.estimators.streaming_bayes import StreamingBayes
from streamtopics.estimators.streaming_lda import StreamingLDA
from streamtopics.estimators.streaming_mixture import StreamingMixture

__all__ = [
    "BPSLDA",
    "SVBHPP",
    "SVBLDA",
    "AspectSentimentModel",
    "GibbsOnlineEM",
    "GuidedTopics",
    "HDPGibbsOnlineEM",
    "HDPVarGibbs",
    "MultiViewLDA",
    "Schedule",
    "StreamingBayes",
    "StreamingLDA",
    "StreamingMixture",
    "VariationalOnlineEM",
]
