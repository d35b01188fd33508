# SPDX-License-Identifier: BSD-3-Clause
"""Local steps: what the documents of a minibatch say, given the topics.

A local step is a frozen dataclass of its settings with two methods,

    infer(minibatch, topics, workers) -> doc_topic parameters
    statistics(minibatch, topics, doc_topic, workers) -> Statistics

It never sees the posterior, the prior or a step size.
"""

from streamtopics.local.variational import Variational

__all__ = ["Variational"]
