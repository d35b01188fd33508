# SPDX-License-Identifier: BSD-3-Clause
"""Determinantal point processes over ground sets of any size, such as all sentences.

A set X of points, for example the sentences of a document, has the probability ``P(X) = det L_X /
det(L + I)``, with L of `LowRankDPP`. L without the noise is the low-rank part. The normaliser needs
only ``Sigma = sum_x p(x) phi(x) phi(x)'``, in closed form: the ground set is never listed.

    measures    ground sets: p, features, Sigma, exact draws
    totals      measures learnt from sets
    noise       points in addition to the low-rank part
    sets        sets as users pass them; `batches` of equal size
    kernel      A, the process, conditioning, the normaliser
    marginal    probabilities of points and words
    likelihood  of observed sets, with derivatives
    learning    U, theta, gamma and the noise
    sampling    exact draws
    summarizer  summaries, by a `summary_kernel`

Source: Dupuy (2017), chapter 4.
"""

from streamtopics.dpp.batches import batch_sets
from streamtopics.dpp.kernel import Kernel, Process
from streamtopics.dpp.likelihood import Parameters
from streamtopics.dpp.measures import (
    Bernoulli,
    Fourier,
    Gaussian,
    Items,
    LengthMultinomial,
    Poisson,
    Weighted,
)
from streamtopics.dpp.noise import Background, Counting
from streamtopics.dpp.sets import PointSets

__all__ = [
    "Background", "Bernoulli", "Counting", "Fourier", "Gaussian", "Items", "Kernel",
    "LengthMultinomial", "Parameters", "PointSets", "Poisson", "Process", "Weighted", "batch_sets",
]  # fmt: skip
