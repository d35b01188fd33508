# SPDX-License-Identifier: BSD-3-Clause
"""Update rules: how a posterior takes in what a minibatch says.

A rule is a frozen dataclass of its hyper-parameters with one method,

    step(posterior, learn) -> Blend

where `learn(view)` returns the expected statistics of the current minibatch
under a posterior, or a proposal of one. A rule sees no documents.
"""

from streamtopics.updates.bps import BPS, Boost
from streamtopics.updates.empirical_power_prior import EmpiricalPowerPrior
from streamtopics.updates.hierarchical_power_prior import HierarchicalPowerPrior
from streamtopics.updates.langevin import Langevin
from streamtopics.updates.online_em import OnlineEM
from streamtopics.updates.population import PopulationVB
from streamtopics.updates.power_prior import PowerPrior
from streamtopics.updates.stochastic import StochasticVI
from streamtopics.updates.svb import SVB

__all__ = [
    "BPS",
    "SVB",
    "Boost",
    "EmpiricalPowerPrior",
    "HierarchicalPowerPrior",
    "Langevin",
    "OnlineEM",
    "PopulationVB",
    "PowerPrior",
    "StochasticVI",
]
