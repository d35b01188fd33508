# SPDX-License-Identifier: BSD-3-Clause
"""Exponential families, each a module of pure functions of the natural parameter eta.

A family has the densities h(b) exp(<eta, t(b)> - A(eta)) of b. If conjugate, eta of the posterior
is eta of the prior plus statistics of the data. eta is a float64 array of shape (..., n), and
results have shape (...):

    from_parameters(...)       eta of the usual parameters, array-likes that broadcast
    parameters(eta)            the usual parameters; for a Dirichlet eta itself
    expected_statistics(eta)   E[t(b)], the gradient of A, of shape (..., n)
    log_normalizer(eta)        A, in nats
    kl(eta, other)             KL(q || p), in nats, q of parameter eta, p of other; they broadcast
    mass(eta)                  effective sample size: linear in eta
    marginals(eta)             frozen distributions of scipy.stats by name, of the numbers in b
    valid(eta)                 bool: whether eta is the parameter of a density, with the right n

A posterior calls `expected_statistics`, `kl`, `mass` and `valid`; models and users call the rest.
Only `valid` checks arguments. In the formulas lnG is the log-gamma function and psi its derivative.

Modules: beta, dirichlet, gamma, gaussian, log_gamma, normal_gamma, normal_gamma_regression,
truncated_exponential, truncated_normal.
"""
