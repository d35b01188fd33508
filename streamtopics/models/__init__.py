# SPDX-License-Identifier: BSD-3-Clause
"""Models: the local side of learning, given a posterior of the global parameters."""

from streamtopics.models.asum import ASUM
from streamtopics.models.beta_binomial import BetaBinomial
from streamtopics.models.gaussian_mixture import GaussianMixture
from streamtopics.models.hdp import HDP
from streamtopics.models.lda import LDA
from streamtopics.models.linear_regression import LinearRegression
from streamtopics.models.mean_field_regression import MeanFieldRegression
from streamtopics.models.multi_view import MultiView
from streamtopics.models.naive_bayes_mixture import NaiveBayesMixture

__all__ = [
    "ASUM",
    "HDP",
    "LDA",
    "BetaBinomial",
    "GaussianMixture",
    "LinearRegression",
    "MeanFieldRegression",
    "MultiView",
    "NaiveBayesMixture",
]
