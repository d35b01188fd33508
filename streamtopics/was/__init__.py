# SPDX-License-Identifier: BSD-3-Clause
"""Sentence topic models by the weight-agnostic hierarchical stick-breaking process and others.

`prior` is the protocol of priors of sentences, followed by `weight_agnostic`, `franchise`,
`stick_breaking` and `compound`; `sampler` infers over a `corpus`.
"""

from streamtopics.was.compound import ICD
from streamtopics.was.estimator import WASTopicModel
from streamtopics.was.franchise import Franchise, HDPFranchise
from streamtopics.was.stick_breaking import SBP
from streamtopics.was.weight_agnostic import WAS

__all__ = ["ICD", "SBP", "WAS", "Franchise", "HDPFranchise", "WASTopicModel"]
