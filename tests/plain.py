# SPDX-License-Identifier: BSD-3-Clause
"""The methods that have a name as their equations alone make them, with no piece around them.

`plain.SVBLDA(5)` is an `SVBLDA` whose first topics are noise and whose minibatches are whole and
count alike; of online EM minibatches have 100 documents, and the step size decays by .7. Figures
of methods by their names are of these, unless a page says that they are of the defaults, and
tests of equations compare these with them.
"""

from functools import partial
from typing import Any

import streamtopics
from streamtopics.priors import Symmetric

PLAIN: dict[str, Any] = {
    "start": "noise",
    "prior_limit": None,
    "inner_batch_size": None,
    "max_iter": 1,
}
BAYESIAN = PLAIN | {
    "inference": "variational",
    "view": None,
    "growth": 1.0,
    "doc_topic_prior": Symmetric(10.0),
    "doc_topic_prior_update": "fixed",
    "topic_word_prior": None,
}
MEANS = PLAIN | {
    "doc_topic_prior_update": "fixed_point",
    "topic_word_prior": 0.005,
    "kappa": 0.7,
    "batch_size": 100,
}

SVBLDA = partial(streamtopics.SVBLDA, **BAYESIAN)
BPSLDA = partial(streamtopics.BPSLDA, **BAYESIAN)
SVBHPP = partial(streamtopics.SVBHPP, **BAYESIAN)
VariationalOnlineEM = partial(streamtopics.VariationalOnlineEM, **MEANS, inference="variational")
GibbsOnlineEM = partial(streamtopics.GibbsOnlineEM, **MEANS, inference="gibbs")
