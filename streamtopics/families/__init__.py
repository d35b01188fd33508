# SPDX-License-Identifier: BSD-3-Clause
"""Exponential families, each a module of pure functions of its natural parameter.

The conjugate families have the density h(b) exp(<eta, t(b)> - A(eta)). Natural parameters eta,
arrays of float64 of shape (..., n), are pseudo-counts: the posterior is the prior plus statistics
of the data. All have the same functions, with results of shape (...), without the last axis:

    from_parameters(...)       eta of the usual parameters, array-likes that broadcast
    parameters(eta)            the usual parameters; for a Dirichlet eta itself
    expected_statistics(eta)   E[t(b)], the gradient of A, of shape (..., n)
    log_normalizer(eta)        A, in nats
    kl(eta, other)             KL(q || p), in nats, q of parameter eta, p of other; they broadcast
    mass(eta)                  effective sample size: linear in eta
    marginals(eta)             frozen distributions of scipy.stats by name, of the numbers in b
    valid(eta)                 bool: whether eta is the parameter of a density, with the n of one

`valid` is the only function with checks. The module's docstring has an example.
"""
