# SPDX-License-Identifier: BSD-3-Clause
"""Estimators, one class in each file."""

from streamtopics.estimators.aspect_sentiment import AspectSentimentModel
from streamtopics.estimators.bps_lda import BPSLDA
from streamtopics.estimators.gibbs_online_em import GibbsOnlineEM
from streamtopics.estimators.hdp_gibbs_online_em import HDPGibbsOnlineEM
from streamtopics.estimators.hdp_var_gibbs import HDPVarGibbs
from streamtopics.estimators.hidden_factors import HiddenFactorsTopics
from streamtopics.estimators.langevin_lda import LangevinLDA
from streamtopics.estimators.multi_view_lda import MultiViewLDA
from streamtopics.estimators.online_vb_lda import OnlineVBLDA
from streamtopics.estimators.population_vb_lda import PopulationVBLDA
from streamtopics.estimators.power_prior_lda import PowerPriorLDA
from streamtopics.estimators.rating_lda import RatingLDA
from streamtopics.estimators.single_pass_lda import SinglePassLDA
from streamtopics.estimators.streaming_bayes import StreamingBayes
from streamtopics.estimators.streaming_gibbs_lda import StreamingGibbsLDA
from streamtopics.estimators.supervised_lda import SupervisedLDA
from streamtopics.estimators.svb_hpp import SVBHPP
from streamtopics.estimators.svb_lda import SVBLDA
from streamtopics.estimators.var_gibbs_lda import VarGibbsLDA
from streamtopics.estimators.variational_online_em import VariationalOnlineEM

__all__ = [
    "BPSLDA",
    "SVBHPP",
    "SVBLDA",
    "AspectSentimentModel",
    "GibbsOnlineEM",
    "HDPGibbsOnlineEM",
    "HDPVarGibbs",
    "HiddenFactorsTopics",
    "LangevinLDA",
    "MultiViewLDA",
    "OnlineVBLDA",
    "PopulationVBLDA",
    "PowerPriorLDA",
    "RatingLDA",
    "SinglePassLDA",
    "StreamingBayes",
    "StreamingGibbsLDA",
    "SupervisedLDA",
    "VarGibbsLDA",
    "VariationalOnlineEM",
]
