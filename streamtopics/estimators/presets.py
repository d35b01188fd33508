# SPDX-License-Identifier: BSD-3-Clause
"""Parameters of `StreamingLDA` for each published method.

A class of the same name takes these by `preset` only.
"""

from dataclasses import replace
from typing import Any

from streamtopics.base.composition import PLAIN
from streamtopics.local import Gibbs, Variational
from streamtopics.priors import Symmetric
from streamtopics.updates import (
    BPS,
    SVB,
    Decay,
    FixedPoint,
    GammaPrior,
    HierarchicalPowerPrior,
    Langevin,
    MeanDecay,
    OnlineEM,
    PopulationVB,
    PowerPrior,
    StochasticVI,
)

AS_PUBLISHED: dict[str, Any] = {
    "start": "noise",
    "schedule": PLAIN,
    "batch_size": 100,
    "max_iter": 1,
    "doc_topic_prior_update": "fixed_point",
}
BAYESIAN: dict[str, Any] = AS_PUBLISHED | {
    "inference": Variational(1e-3, 100),
    "view": "geometric_mean",
    "doc_topic_prior": Symmetric(10.0),
    "doc_topic_prior_update": "fixed",
    "topic_word_prior": None,
    "batch_size": 1200,
}
POINT: dict[str, Any] = AS_PUBLISHED | {"view": "mean", "topic_word_prior": 0.005}
SQUARE_ROOT: dict[str, Any] = {
    "update": OnlineEM(MeanDecay(0.5)),
    "doc_topic_prior_update": FixedPoint(step_size=MeanDecay(0.5)),
}

PRESETS: dict[str, dict[str, Any]] = {
    # Broderick et al. (2013)
    "SVBLDA": BAYESIAN | {"update": SVB()},
    # Nguyen et al. (2020)
    "BPSLDA": BAYESIAN | {"update": BPS(0.1)},
    # Masegosa et al. (2020), algorithm 1 and equation 23
    "SVBHPP": BAYESIAN | {"update": HierarchicalPowerPrior()},
    "PowerPriorLDA": BAYESIAN | {"update": PowerPrior(0.9)},
    # McInerney, Ranganath and Blei (2015)
    "PopulationVBLDA": BAYESIAN | {"update": PopulationVB(10_000, 0.1)},
    # Hoffman, Bach and Blei (2010)
    "OnlineVBLDA": BAYESIAN | {"update": StochasticVI(Decay(0.7)), "batch_size": 1000},
    # Mimno, Hoffman and Blei (2012)
    "VarGibbsLDA": BAYESIAN
    | {
        "update": StochasticVI(Decay(0.7)),
        "inference": Gibbs(5),
        "doc_topic_prior": None,
        "batch_size": 1000,
    },
    # Dupuy and Bach (2017)
    "GibbsOnlineEM": POINT | SQUARE_ROOT | {"inference": Gibbs(20)},
    "VariationalOnlineEM": POINT | SQUARE_ROOT | {"inference": Variational(0.0, 20)},
    # Sato, Kurihara and Nakagawa (2010), as in Dupuy (2017)
    "SinglePassLDA": POINT
    | {
        "update": OnlineEM(MeanDecay(1.0)),
        "inference": Variational(1e-3, 1),
        "doc_topic_prior_update": GammaPrior(step_size=MeanDecay(1.0)),
        "schedule": replace(PLAIN, n_rounds=20, warm_rounds=True),
    },
    # Gao, Chen and Zhu (2016), as in Dupuy (2017)
    "StreamingGibbsLDA": POINT
    | {
        "update": OnlineEM(MeanDecay(1.0)),
        "inference": Gibbs(20, 0),
        "doc_topic_prior_update": "fixed",
        "topic_word_prior": 0.05,
    },
    # Patterson and Teh (2013)
    "LangevinLDA": POINT
    | {
        "update": Langevin(),
        "inference": Gibbs(200),
        "doc_topic_prior_update": "fixed",
        "topic_word_prior": None,
    },
}
# Parameters set otherwise in some classes.
OF_CLASSES: dict[str, dict[str, Any]] = {
    "SVBHPP": {"rate_starts": (0.5,)},
    "GibbsOnlineEM": {"inference": "gibbs", "kappa": 0.5, "n_sweeps": 20},
    "VariationalOnlineEM": {"inference": "variational", "kappa": 0.5, "local_tol": 0.0},
}
