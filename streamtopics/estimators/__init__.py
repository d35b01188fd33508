# SPDX-License-Identifier: BSD-3-Clause
"""Estimators, and the table of the methods of the literature."""

from streamtopics.base.composition import Schedule
from streamtopics.estimators.aspect_sentiment import AspectSentimentModel
from streamtopics.estimators.bps_lda import BPSLDA
from streamtopics.estimators.gibbs_online_em import GibbsOnlineEM
from streamtopics.estimators.guided_topics import GuidedTopics
from streamtopics.estimators.hdp_gibbs_online_em import HDPGibbsOnlineEM
from streamtopics.estimators.hdp_var_gibbs import HDPVarGibbs
from streamtopics.estimators.multi_view_lda import MultiViewLDA
from streamtopics.estimators.streaming_bayes import StreamingBayes
from streamtopics.estimators.streaming_lda import StreamingLDA
from streamtopics.estimators.streaming_mixture import StreamingMixture
from streamtopics.estimators.svb_hpp import SVBHPP
from streamtopics.estimators.svb_lda import SVBLDA
from streamtopics.estimators.variational_online_em import VariationalOnlineEM

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
