# SPDX-License-Identifier: BSD-3-Clause
"""The methods of the literature, as rows of one table of parameters of `StreamingLDA`.

Settings are those of the sources. A class with a row has the same by its `preset`; its defaults are
others.
"""

from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True)
class Preset:
    """A method of the literature; `name` is that of its class too, if it has one."""

    name: str
    title: str
    source: str
    parameters: dict[str, Any]  # Of `StreamingLDA`
    # Of its class, in the place of those that it lacks or calls otherwise
    of_class: dict[str, Any] = field(default_factory=dict)


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
POINT: dict[str, Any] = AS_PUBLISHED | {
    "view": "mean",
    "topic_word_prior": 0.005,
}
SQUARE_ROOT: dict[str, Any] = {
    "update": OnlineEM(MeanDecay(0.5)),
    "doc_topic_prior_update": FixedPoint(step_size=MeanDecay(0.5)),
}

ROWS = (
    Preset(
        "SVBLDA",
        "streaming variational Bayes (SVB)",
        "Broderick et al. (2013)",
        BAYESIAN | {"update": SVB()},
        {"inference": "variational"},
    ),
    Preset(
        "BPSLDA",
        "boosted prior knowledge (BPS)",
        "Nguyen et al. (2020)",
        BAYESIAN | {"update": BPS(0.1)},
        {"inference": "variational"},
    ),
    Preset(
        "SVBHPP",
        "hierarchical power prior, learns how much to forget (SVB-HPP)",
        "Masegosa et al. (2020), algorithm 1",
        BAYESIAN | {"update": HierarchicalPowerPrior()},
        {"inference": "variational", "rate_starts": (0.5,)},
    ),
    Preset(
        "PowerPriorLDA",
        "power prior, forgets at a fixed rate (SVB-PP)",
        "Masegosa et al. (2020), equation 23",
        BAYESIAN | {"update": PowerPrior(0.9)},
    ),
    Preset(
        "PopulationVBLDA",
        "population variational Bayes (PVB)",
        "McInerney, Ranganath and Blei (2015)",
        BAYESIAN | {"update": PopulationVB(10_000, 0.1)},
    ),
    Preset(
        "OnlineVBLDA",
        "stochastic variational inference (OLDA, SVI)",
        "Hoffman, Bach and Blei (2010)",
        BAYESIAN | {"update": StochasticVI(Decay(0.7)), "batch_size": 1000},
    ),
    Preset(
        "VarGibbsLDA",
        "sparse stochastic inference (VarGibbs)",
        "Mimno, Hoffman and Blei (2012)",
        BAYESIAN
        | {
            "update": StochasticVI(Decay(0.7)),
            "inference": Gibbs(5),
            "doc_topic_prior": None,
            "batch_size": 1000,
        },
    ),
    Preset(
        "GibbsOnlineEM",
        "online EM with Gibbs sampling (G-OEM)",
        "Dupuy and Bach (2017)",
        POINT | SQUARE_ROOT | {"inference": Gibbs(20)},
        {"inference": "gibbs", "kappa": 0.5, "n_sweeps": 20},
    ),
    Preset(
        "VariationalOnlineEM",
        "online EM with variational inference (V-OEM)",
        "Dupuy and Bach (2017)",
        POINT | SQUARE_ROOT | {"inference": Variational(0.0, 20)},
        {"inference": "variational", "kappa": 0.5, "local_tol": 0.0},
    ),
    Preset(
        "SinglePassLDA",
        "single-pass incremental EM (SPLDA)",
        "Sato, Kurihara and Nakagawa (2010), as in Dupuy (2017)",
        POINT
        | {
            "update": OnlineEM(MeanDecay(1.0)),
            "inference": Variational(1e-3, 1),
            "doc_topic_prior_update": GammaPrior(step_size=MeanDecay(1.0)),
            "schedule": replace(PLAIN, n_rounds=20, warm_rounds=True),
        },
    ),
    Preset(
        "StreamingGibbsLDA",
        "streaming Gibbs sampling (SGS)",
        "Gao, Chen and Zhu (2016), as in Dupuy (2017)",
        POINT
        | {
            "update": OnlineEM(MeanDecay(1.0)),
            "inference": Gibbs(20, 0),
            "doc_topic_prior_update": "fixed",
            "topic_word_prior": 0.05,
        },
    ),
    Preset(
        "LangevinLDA",
        "stochastic gradient Langevin dynamics (LDS)",
        "Patterson and Teh (2013)",
        POINT
        | {
            "update": Langevin(),
            "inference": Gibbs(200),
            "doc_topic_prior_update": "fixed",
            "topic_word_prior": None,
        },
    ),
)
PRESETS = {row.name: row for row in ROWS}
