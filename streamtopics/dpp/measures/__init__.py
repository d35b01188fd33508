# SPDX-License-Identifier: BSD-3-Clause
"""Ground sets: frozen records with a measure p, features phi and ``Sigma = Diag(v) + w0 w0'``."""

from streamtopics.dpp.measures.bags import LengthMultinomial, Poisson
from streamtopics.dpp.measures.base import BaseMeasure
from streamtopics.dpp.measures.bernoulli import Bernoulli
from streamtopics.dpp.measures.items import Items
from streamtopics.dpp.measures.vectors import Fourier, Gaussian
from streamtopics.dpp.measures.weighted import Weighted

__all__ = [
    "BaseMeasure", "Bernoulli", "Fourier", "Gaussian", "Items", "LengthMultinomial", "Poisson",
    "Weighted",
]  # fmt: skip
