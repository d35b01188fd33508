# SPDX-License-Identifier: BSD-3-Clause
"""Exponential families, each a module of pure functions of its natural parameter.

The conjugate families have the density h(b) exp(<eta, t(b)> - A(eta)) and the same
functions:

    expected_statistics(eta)   E[t(b)], the gradient of A
    log_normalizer(eta)        A
    kl(eta, other)             KL(q || p) in nats, q of parameter eta, p of other
    mass(eta)                  effective sample size: linear in eta
    valid(eta)                 whether eta is the parameter of a density
    parameters(eta), from_parameters(...)    the usual parameters and back

The natural parameters are pseudo-counts: those of the posterior are those of the
prior plus statistics of the data. They lie on the last axis, and the functions work
over all axes before it. `valid` is the only function that checks anything.
"""
