# SPDX-License-Identifier: BSD-3-Clause
"""Local steps: statistics of the documents of a minibatch, given the topics."""

from streamtopics.local.gibbs import Gibbs
from streamtopics.local.hinted import SemiSupervised, WithPseudoTokens
from streamtopics.local.one_topic import OneTopic
from streamtopics.local.step import LocalStep
from streamtopics.local.variational import Variational

__all__ = ["Gibbs", "LocalStep", "OneTopic", "SemiSupervised", "Variational", "WithPseudoTokens"]
