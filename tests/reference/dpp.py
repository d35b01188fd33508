# SPDX-License-Identifier: BSD-3-Clause
"""Determinantal point processes by enumeration: dense kernels, all sets, naive greedy."""

import itertools
from math import factorial

import numpy as np
from scipy.special import gammaln


def sentences(V):
    """All 2^V binary rows; row i has the bits of i, the lowest first."""
    return (np.arange(2**V)[:, None] >> np.arange(V) & 1).astype(float)


def bags(V, longest):
    """All rows of counts with a sum of at most `longest`."""
    rows = itertools.product(range(longest + 1), repeat=V)
    return np.array([row for row in rows if sum(row) <= longest], dtype=float)


def bernoulli_p(X, pi):
    return np.prod(np.where(X > 0, pi, 1 - pi), axis=1)


def multinomial_p(X, pi):
    """P(x | its length)."""
    n = X.sum(axis=1)
    return np.exp(gammaln(n + 1) - gammaln(X + 1).sum(axis=1)) * np.prod(pi**X, axis=1)


def moment(p, Phi):
    """Sigma, the sum of p phi phi'."""
    return (p[:, None] * Phi).T @ Phi


def parameter(U, theta, gamma):
    """A = gamma I + U Diag(theta) U'."""
    return gamma * np.eye(len(U)) + U @ np.diag(theta) @ U.T


def dense(p, Phi, A, alpha=0.0):
    """L over the whole ground set."""
    root = np.sqrt(p)[:, None] * Phi
    return alpha * np.eye(len(p)) + root @ A @ root.T


def marginal(L):
    """K = I - (L + I)^-1."""
    return np.eye(len(L)) - np.linalg.inv(L + np.eye(len(L)))


def subsets(n):
    """All subsets of range(n); subset i has the bits of i."""
    return [[j for j in range(n) if i >> j & 1] for i in range(2**n)]


def determinants(L):
    """det L_X of all subsets X."""
    return np.array([np.linalg.det(L[np.ix_(X, X)]) for X in subsets(len(L))])


def probabilities(L):
    """P(X) of all subsets X."""
    return np.maximum(determinants(L), 0.0) / np.linalg.det(L + np.eye(len(L)))


def conditioned(probabilities, given):
    """P(X without the given items | they are in X), for all subsets."""
    mask = sum(1 << i for i in given)
    result = np.zeros(len(probabilities))
    for i, p in enumerate(probabilities):
        if i & mask == mask:
            result[i & ~mask] += p
    return result / result.sum()


def background_probabilities(p, Phi, A, beta):
    """P(X) of all subsets X without repeats, where draws from p join; the rest is repeats."""
    normaliser = np.exp(beta) * np.linalg.det(np.eye(len(A)) + A @ moment(p, Phi))
    return determinants(dense(p, Phi, A) + beta * np.diag(p)) / normaliser


def background_multiset(p, Phi, A, beta, X):
    """P of a list of items, in which some may repeat."""
    rows = Phi[X]
    orders = np.prod([factorial(X.count(i)) for i in set(X)])
    janossy = np.linalg.det(beta * np.eye(len(X)) + rows @ A @ rows.T) * np.prod(p[X])
    normaliser = np.exp(beta * p.sum()) * np.linalg.det(np.eye(len(A)) + A @ moment(p, Phi))
    return janossy / orders / normaliser


def tilted(p, Phi, h):
    """p(x) (h'phi(x))^2, of sum 1."""
    weight = p * (Phi @ h) ** 2
    return weight / weight.sum()


def greedy(L, n):
    """Items taken one by one, each to the largest determinant."""
    chosen = []
    for _ in range(n):
        values = [
            -np.inf if i in chosen else np.linalg.slogdet(L[np.ix_([*chosen, i], [*chosen, i])])[1]
            for i in range(len(L))
        ]
        chosen.append(int(np.argmax(values)))
    return chosen


def theta_steps(Q, P, penalty, n_steps, theta):
    """Multiplicative steps for one set, each by dense inverses."""
    first, identity = theta.copy(), np.eye(len(theta))
    for _ in range(n_steps):
        up = np.diag(np.linalg.inv(identity + Q @ np.diag(theta - first)) @ Q)
        down = np.diag(np.linalg.inv(identity + P @ np.diag(theta)) @ P) + penalty
        theta = np.where(down > 0, theta * up / np.where(down > 0, down, 1.0), theta)
    return theta


def kernel_matrix(B, Sigma, sigma):
    """A = (1 - sigma)^-2 (I - B Sigma / (1 - sigma))^-1 B, of a B that may be singular."""
    return np.linalg.solve(np.eye(len(B)) - B @ Sigma / (1 - sigma), B) / (1 - sigma) ** 2
