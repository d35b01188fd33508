# SPDX-License-Identifier: BSD-3-Clause
"""What the words that users pass as parameters stand for."""

from streamtopics.local import Gibbs
from streamtopics.updates.doc_topic import Fixed, FixedPoint, GammaPrior

# How `transform` finds the topics of documents, and how long if it is not by sampling.
BY_GIBBS = Gibbs(n_sweeps=40, n_averaged=30)
SWEEPS_OF_TRANSFORM = 100

DOC_TOPIC_UPDATES = {"fixed": Fixed(), "fixed_point": FixedPoint(), "gamma": GammaPrior()}


def averaged(n_sweeps: int) -> int:
    """Sweeps to average over: the last quarter, rounded up."""
    return -(-n_sweeps // 4)
