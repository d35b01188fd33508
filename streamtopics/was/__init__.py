# SPDX-License-Identifier: BSD-3-Clause
"""Topic models of sentences."""

from streamtopics.was.compound import ICD
from streamtopics.was.estimator import WASTopicModel
from streamtopics.was.franchise import Franchise, HDPFranchise
from streamtopics.was.stick_breaking import SBP
from streamtopics.was.weight_agnostic import WAS

__all__ = ["ICD", "SBP", "WAS", "Franchise", "HDPFranchise", "WASTopicModel"]
