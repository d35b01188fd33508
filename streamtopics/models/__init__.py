# SPDX-License-Identifier: BSD-3-Clause
"""Models: what a minibatch means, given a posterior over the global parameters."""

from streamtopics.models.beta_binomial import BetaBinomial
from streamtopics.models.hdp import HDP
from streamtopics.models.lda import LDA

__all__ = ["HDP", "LDA", "BetaBinomial"]
