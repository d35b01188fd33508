# SPDX-License-Identifier: BSD-3-Clause
"""Determinantal point processes over ground sets of any size, such as all sentences.

A set X of points, such as the sentences of a document, has the probability

    P(X) = det L_X / det(L + I),    L = noise + Diag(p)^{1/2} Phi A Phi' Diag(p)^{1/2},

with A = gamma I + U Diag(theta) U' of low rank. The sum over all sets needs only
Sigma = sum_x p(x) phi(x) phi(x)', which the measures know in closed form, so that the
ground set, of 2^V sentences or a cube, is never listed.

    measures    ground sets: p, features, Sigma, exact draws
    noise       points beside the low-rank part
    kernel      A, and the process that it makes
    low_rank    the normaliser and its derivatives
    spectrum    eigenvalues, law of the size
    marginal    probabilities of points, sizes, words; quality and diversity
    likelihood  of observed sets, with gradients
    learning    U by L-BFGS or AdaGrad; theta, gamma and the noise by monotone steps
    sampling    exact, of any size or a given one; conditioning
    selection   greedy maximisation
    summarizer  summaries of documents, by summary_kernel or thesis_kernel

Source: Dupuy (2017), "Inference and applications for topic models", chapter 4.
"""
