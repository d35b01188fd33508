# SPDX-License-Identifier: BSD-3-Clause
"""What the words that users pass as parameters stand for."""

from streamtopics.updates.doc_topic import Fixed, FixedPoint, GammaPrior

DOC_TOPIC_UPDATES = {"fixed": Fixed(), "fixed_point": FixedPoint(), "gamma": GammaPrior()}


def averaged(n_sweeps: int) -> int:
    """Sweeps to average over: the last quarter, rounded up."""
    return -(-n_sweeps // 4)
