# SPDX-License-Identifier: BSD-3-Clause
"""Sentence topic models: the weight-agnostic hierarchical stick-breaking process and others.

`prior` has the laws of the sentences, `sampler` the inference, `estimator` the
scikit-learn face.
"""

from streamtopics.was.estimator import WASTopicModel
from streamtopics.was.prior import HDP, SBP, WAS, simulate, weight_correlation
from streamtopics.was.subtle import specific_comment_scores

__all__ = [
    "HDP",
    "SBP",
    "WAS",
    "WASTopicModel",
    "simulate",
    "specific_comment_scores",
    "weight_correlation",
]
