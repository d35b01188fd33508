# SPDX-License-Identifier: BSD-3-Clause
"""The conjugate families, each with what the tests need to know of it from elsewhere."""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import mpmath as mp
import numpy as np
from scipy import stats

from streamtopics.families import (
    beta,
    dirichlet,
    gamma,
    gaussian,
    normal_gamma,
    normal_gamma_regression,
)


@dataclass(frozen=True)
class Case:
    """A family, its log normalizer in mpmath, its density, and natural parameters.

    `density(eta)` returns (draw, log_pdf, statistics, log_base) of the density as SciPy
    knows it: a sampler, its log density, t(b) and ln h(b).
    """

    family: ModuleType
    log_normalizer: Callable
    density: Callable
    ordinary: list
    extreme: list

    def __str__(self):
        return self.family.__name__.rsplit(".", 1)[1]


def _dirichlet(eta):
    return sum(mp.loggamma(x) for x in eta) - mp.loggamma(sum(eta))


def _gamma(a, b):
    return mp.loggamma(a) - a * mp.log(b)


def _gaussian(eta):
    return (eta[0] ** 2 / eta[1] + mp.log(2 * mp.pi / eta[1])) / 2


def _normal_gamma(eta):
    b = (eta[2] - eta[0] ** 2 / eta[1]) / 2
    return _gamma(eta[3] / 2, b) + mp.log(2 * mp.pi / eta[1]) / 2


def _regression(eta):
    p = next(p for p in range(1, 9) if p + p * p + 2 == len(eta))
    L, e1 = mp.matrix(p, p), mp.matrix(eta[:p])
    for i, x in enumerate(eta[p:-2]):
        L[i // p, i % p] = x
    m = mp.lu_solve(L, e1)
    b = (eta[-2] - sum(x * y for x, y in zip(e1, m, strict=True))) / 2
    return _gamma(eta[-1] / 2, b) + (p * mp.log(2 * mp.pi) - mp.log(mp.det(L))) / 2


def _of(law, statistics, log_base):
    """The density of a law of SciPy."""
    return lambda rng: np.squeeze(law.rvs(random_state=rng)), law.logpdf, statistics, log_base


def _density_dirichlet(eta):
    return _of(stats.dirichlet(eta), np.log, lambda x: -np.log(x).sum())


def _density_beta(eta):
    def statistics(x):
        return np.array([np.log(x), np.log1p(-x)])

    return _of(stats.beta(*eta), statistics, lambda x: -statistics(x).sum())


def _density_gamma(eta):
    law = stats.gamma(eta[0] / 2, scale=2 / eta[1])
    return _of(law, lambda g: np.array([np.log(g) / 2, -g / 2]), lambda g: -np.log(g))


def _density_gaussian(eta):
    law = stats.norm(eta[0] / eta[1], eta[1] ** -0.5)
    return _of(law, lambda x: np.array([x, -x * x / 2]), lambda x: 0.0)


def _density_regression(eta):
    p = normal_gamma_regression.n_coefficients(len(eta))
    m, L = np.linalg.solve(eta[p:-2].reshape(p, p), eta[:p]), eta[p:-2].reshape(p, p)
    of_g = stats.gamma(eta[-1] / 2, scale=2 / (eta[-2] - eta[:p] @ m))

    def of_w(g):
        return stats.multivariate_normal(m, np.linalg.inv(g * L))

    def draw(rng):
        g = of_g.rvs(random_state=rng)
        return np.atleast_1d(of_w(g).rvs(random_state=rng)), g

    def log_pdf(wg):
        return of_w(wg[1]).logpdf(wg[0]) + of_g.logpdf(wg[1])

    def statistics(wg):
        w, g = wg
        return np.concatenate([g * w, -g * np.outer(w, w).ravel() / 2, [-g / 2, np.log(g) / 2]])

    return draw, log_pdf, statistics, lambda wg: (p / 2 - 1) * np.log(wg[1])


def regression_eta(p, seed, scale=1.0, n=5.0):
    """A natural parameter with coefficients of size `scale` and as of about n data."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((p + 3, p))
    m, a, b = scale * rng.standard_normal(p), n * rng.uniform(1, 2), n * rng.uniform(1, 2)
    return normal_gamma_regression.from_parameters(m, n * X.T @ X, a, b)


def arrays(*rows):
    return [np.array(row, dtype=np.float64) for row in rows]


CASES = [
    Case(
        dirichlet, _dirichlet, _density_dirichlet,
        arrays([1.0, 2.0, 3.0], [0.4, 0.1, 1.5], [12.0, 9.0, 31.0], [0.5, 0.5, 0.5]),
        arrays([1e6, 3e6, 2e6], [1e12, 2e12, 1e-2], [1e-6, 2e-6, 1e-6], [1e-6, 1.0, 1e12]),
    ),
    Case(
        beta, _dirichlet, _density_beta,
        arrays([1.0, 1.0], [0.3, 2.0], [30.0, 11.0]),
        arrays([1e6, 3e6], [1e12, 1e12], [1e-6, 1e-6], [1e-6, 1e12]),
    ),
    Case(
        gamma, lambda eta: _gamma(eta[0] / 2, eta[1] / 2), _density_gamma,
        arrays([2.0, 2.0], [0.6, 5.0], [40.0, 3.0]),
        arrays([1e6, 3e6], [1e12, 1e12], [1e-6, 1e-6], [1e-6, 1e12], [1e12, 1e-6]),
    ),
    Case(
        gaussian, _gaussian, _density_gaussian,
        arrays([0.0, 1.0], [-3.0, 2.0], [4.0, 0.3]),
        arrays([1e6, 1e6], [-1e12, 1e6], [1e-6, 1e-6], [1e6, 1e-6], [1e-9, 1e12]),
    ),
    Case(
        normal_gamma, _normal_gamma, _density_regression,
        arrays([0.0, 1.0, 2.0, 2.0], [-3.0, 2.0, 9.0, 3.0], [4.0, 0.5, 40.0, 7.0]),
        arrays(
            [1e6, 1e6, 2e6, 1e6], [-1e12, 1e12, 3e12, 1e12], [1e-6, 1e-6, 3e-6, 1e-6],
            [0.0, 1e-10, 1e-10, 1e-10],
        ),
    ),
    Case(
        normal_gamma_regression, _regression, _density_regression,
        [regression_eta(2, 0), regression_eta(2, 1), regression_eta(2, 2, 3.0, 20.0)],
        [
            regression_eta(2, 3, 1.0, 1e6), regression_eta(2, 4, 1.0, 1e12),
            regression_eta(2, 5, 1.0, 1e-6),
            np.array([0, 0, 1e-10, 0, 0, 1e-10, 1e-10, 1e-10]),
        ],
    ),
]  # fmt: skip


def exactly(eta):
    """As mpmath numbers, without a change."""
    return [mp.mpf(float(x)) for x in eta]


def gradient(f, eta):
    """Of f, which takes a list, by differences in the precision of mpmath."""
    return [
        mp.diff(lambda x, i=i: f([*eta[:i], x, *eta[i + 1 :]]), eta[i], h=eta_step(eta))
        for i in range(len(eta))
    ]


def eta_step(eta):
    """A step that is small beside all of eta and large beside the precision."""
    return min(abs(x) for x in eta if x) * mp.mpf(10) ** (-mp.mp.dps // 3)


def divergence(f, eta, other):
    """f(other) - f(eta) - <other - eta, gradient>: KL(q || p) by its definition."""
    slope = gradient(f, eta)
    terms = ((p - q) * g for p, q, g in zip(other, eta, slope, strict=True))
    return f(other) - f(eta) - sum(terms)
