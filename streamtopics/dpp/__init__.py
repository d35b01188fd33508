# SPDX-License-Identifier: BSD-3-Clause
"""Determinantal point processes over ground sets of any size, such as all sentences.

A set X of points, such as the sentences of a document, has the probability

    P(X) = det L_X / det(L + I),    L = noise + Diag(p)^{1/2} Phi A Phi' Diag(p)^{1/2},

with A = gamma I + U Diag(theta) U' of low rank. The normaliser needs only Sigma = sum_x p(x) phi(x)
phi(x)', known in closed form. So the ground set, of 2^V sentences or a cube, is never listed.

    measures    ground sets: p, features, Sigma, exact draws
    totals      measures learnt from the sets seen
    noise       points beside the low-rank part
    sets        sets of points, as users pass them; `batches` of equal size
    kernel      A, the process that it makes, conditioning, the normaliser
    marginal    probabilities of points and words, sizes
    likelihood  of observed sets, with gradients
    learning    U by L-BFGS or AdaGrad; theta, gamma and the noise by monotone steps
    sampling    exact, of any size or a given one, and the law of the size
    summarizer  summaries of documents, by a kernel of `summary_kernel`

Source: Dupuy (2017), "Inference and applications for topic models", chapter 4.
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
