# SPDX-License-Identifier: BSD-3-Clause
"""Exponential families, each a module of pure functions of its natural parameter.

A conjugate family has the density h(b) exp(<eta, t(b)> - A(eta)). The posterior's natural parameter
eta is the prior's plus statistics of the data. eta is a float64 array of shape (..., n), and
results have shape (...):

    from_parameters(...)       eta of the usual parameters, array-likes that broadcast
    parameters(eta)            the usual parameters; for a Dirichlet eta itself
    expected_statistics(eta)   E[t(b)], the gradient of A, of shape (..., n)
    log_normalizer(eta)        A, in nats
    kl(eta, other)             KL(q || p), in nats, q of parameter eta, p of other; they broadcast
    mass(eta)                  effective sample size: linear in eta
    marginals(eta)             frozen distributions of scipy.stats by name, of the numbers in b
    valid(eta)                 bool: whether eta is the parameter of a density, with the right n

Only `valid` checks arguments. In the formulas lnG is the log-gamma function and psi its derivative.
"""
