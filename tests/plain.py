# SPDX-License-Identifier: BSD-3-Clause
"""The methods that have a name as their equations alone make them, with no piece around them.

`plain.SVBLDA(5)` is an `SVBLDA` whose first topics are noise and whose minibatches are whole and
count alike; of online EM minibatches have 100 documents, and the step size decays by .7. Figures
of methods by their names are of these, unless a page says that they are of the defaults, and
tests of equations compare these with them.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import streamtopics
from streamtopics.estimators.presets import PLAIN as WHOLE
from streamtopics.priors import Symmetric

PLAIN: dict[str, Any] = {"start": "noise", "schedule": WHOLE, "max_iter": 1}
BAYESIAN = PLAIN | {
    "inference": "variational",
    "view": "geometric_mean",
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
SAMPLED = MEANS | {"inference": "gibbs", "schedule": replace(WHOLE, n_start_rounds=10)}


def plain(kind: type, settings: dict[str, Any]) -> Callable[..., Any]:
    """Return what makes an estimator of a class with the settings and others, also nested ones."""

    def made(n_components: int = 10, **others: Any) -> Any:
        return kind(n_components, **settings).set_params(**others)

    return made


SVBLDA = plain(streamtopics.SVBLDA, BAYESIAN)
BPSLDA = plain(streamtopics.BPSLDA, BAYESIAN)
SVBHPP = plain(streamtopics.SVBHPP, BAYESIAN)
VariationalOnlineEM = plain(streamtopics.VariationalOnlineEM, MEANS | {"inference": "variational"})
GibbsOnlineEM = plain(streamtopics.GibbsOnlineEM, SAMPLED)
