# SPDX-License-Identifier: BSD-3-Clause
"""Update rules: how a posterior learns a minibatch."""

from streamtopics.updates.average import IterateAverage
from streamtopics.updates.births import DirichletProcess
from streamtopics.updates.bps import BPS, SVB, Boost
from streamtopics.updates.budgeted_power_prior import BudgetedPowerPrior
from streamtopics.updates.doc_topic import (
    DampedNewton,
    Fixed,
    FixedPoint,
    GammaPrior,
    LearnsDocTopicPrior,
    Shares,
)
from streamtopics.updates.empirical_power_prior import EmpiricalPowerPrior
from streamtopics.updates.hierarchical_power_prior import HierarchicalPowerPrior
from streamtopics.updates.langevin import Langevin
from streamtopics.updates.online_em import OnlineEM
from streamtopics.updates.power_prior import Memory, PowerPrior
from streamtopics.updates.rates import Decay, Exponential, MeanDecay, Normal, ScaledDecay
from streamtopics.updates.rule import Growing, Rounds, Rule, Traits
from streamtopics.updates.stochastic import PopulationVB, StochasticVI
from streamtopics.updates.window import Window

__all__ = [
    "BPS",
    "SVB",
    "Boost",
    "BudgetedPowerPrior",
    "DampedNewton",
    "Decay",
    "DirichletProcess",
    "EmpiricalPowerPrior",
    "Exponential",
    "Fixed",
    "FixedPoint",
    "GammaPrior",
    "Growing",
    "HierarchicalPowerPrior",
    "IterateAverage",
    "Langevin",
    "LearnsDocTopicPrior",
    "MeanDecay",
    "Memory",
    "Normal",
    "OnlineEM",
    "PopulationVB",
    "PowerPrior",
    "Rounds",
    "Rule",
    "ScaledDecay",
    "Shares",
    "StochasticVI",
    "Traits",
    "Window",
]
