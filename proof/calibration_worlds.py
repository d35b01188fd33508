# SPDX-License-Identifier: BSD-3-Clause
"""Conjugate worlds: parameters and data are drawn here, and learnt by the package.

Replicates are nodes side by side, such as the coins of a beta-binomial model, or models one after
another; arrays of natural parameters have the shape (replicates, m) in both cases. Draws and
statistics are written anew, from the densities in the docstrings of `streamtopics.families`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator

from streamtopics import StreamingBayes, StreamingLDA, StreamingMixture
from streamtopics.estimators.presets import PLAIN
from streamtopics.families import (
    beta,
    dirichlet,
    gamma,
    gaussian,
    normal_gamma,
    normal_gamma_regression,
)
from streamtopics.models import BetaBinomial, GaussianMixture, LinearRegression, NaiveBayesMixture

# One value in so many is missing.
GAPS = 3
# Words of the documents of a minibatch.
LENGTHS = np.array([2, 5, 1])
# Coefficients of the regression: two columns and an intercept.
SLOPES = 3
WORDS = np.array([0.5, 1.0, 2.5, 0.2])


class Batch(NamedTuple):
    """A minibatch, and its statistics, of shape (replicates, m)."""

    data: Any
    statistics: np.ndarray


class Drawn(NamedTuple):
    """Parameters.

    `named` has those that the family's `marginals` have, of shape (..., replicates), or with an
    axis more where there are several; t is t(b), of shape (..., replicates, m).
    """

    named: dict[str, np.ndarray]
    t: np.ndarray

    def numbers(self) -> dict[str, np.ndarray]:
        """Each number, of shape (..., replicates)."""
        found = {}
        for name, values in self.named.items():
            several = values.ndim == self.t.ndim
            columns = {f"{name} {j}": values[..., j] for j in range(values.shape[-1])}
            found.update(columns if several else {name: values})
        return found


@dataclass(frozen=True)
class World:
    """A conjugate model.

    Attributes
    ----------
    family : module
    prior : ndarray of shape (m,)
        Natural parameter.
    draw : callable
        (natural parameters (replicates, m), shape of what goes before, rng) -> `Drawn`.
    data : callable
        (`Drawn` of one parameter each, rng) -> `Batch`.
    learn : callable
        (rule, minibatches) -> natural parameters of the posterior, (replicates, m).
    together : bool
        Whether all replicates are one model, whose masses are pooled.
    """

    family: Any
    prior: np.ndarray
    draw: Callable[[np.ndarray, tuple[int, ...], Generator], Drawn]
    data: Callable[[Drawn, Generator], Batch]
    learn: Callable[[Any, Sequence[Batch]], np.ndarray]
    together: bool = True

    def mass(self, eta: np.ndarray) -> np.ndarray:
        """How many observations natural parameters, or statistics, stand for."""
        if self.family in (beta, dirichlet):
            found: np.ndarray = eta.sum(axis=-1)
        else:
            found = eta[..., {gamma: 0, gaussian: 1, normal_gamma: 1}.get(self.family, -1)]
        return found


# Parameters


def draw_beta(eta: np.ndarray, shape: tuple[int, ...], rng: Generator) -> Drawn:
    p = np.clip(rng.beta(eta[:, 0], eta[:, 1], (*shape, len(eta))), 1e-300, 1 - 1e-16)
    return Drawn({"probability": p}, np.stack([np.log(p), np.log1p(-p)], axis=-1))


def draw_dirichlet(eta: np.ndarray, shape: tuple[int, ...], rng: Generator) -> Drawn:
    g = rng.gamma(eta, size=(*shape, *eta.shape))
    p = np.maximum(g / g.sum(axis=-1, keepdims=True), 1e-300)
    return Drawn({"probability": p}, np.log(p))


def draw_gamma(eta: np.ndarray, shape: tuple[int, ...], rng: Generator) -> Drawn:
    g = rng.gamma(eta[:, 0] / 2, 2 / eta[:, 1], (*shape, len(eta)))
    return Drawn({"value": g}, np.stack([np.log(g) / 2, -g / 2], axis=-1))


def draw_gaussian(eta: np.ndarray, shape: tuple[int, ...], rng: Generator) -> Drawn:
    x = rng.normal(eta[:, 0] / eta[:, 1], eta[:, 1] ** -0.5, (*shape, len(eta)))
    return Drawn({"value": x}, np.stack([x, -x * x / 2], axis=-1))


def draw_normal_gamma(eta: np.ndarray, shape: tuple[int, ...], rng: Generator) -> Drawn:
    m, k = eta[:, 0] / eta[:, 1], eta[:, 1]
    g = rng.gamma(eta[:, 3] / 2, 2 / (eta[:, 2] - m * eta[:, 0]), (*shape, len(eta)))
    mu = rng.normal(m, (k * g) ** -0.5)
    t = np.stack([g * mu, -g * mu * mu / 2, -g / 2, np.log(g) / 2], axis=-1)
    return Drawn({"mean": mu, "precision": g}, t)


def draw_regression(eta: np.ndarray, shape: tuple[int, ...], rng: Generator) -> Drawn:
    p, n = SLOPES, len(eta)
    L, e1 = eta[:, p:-2].reshape(n, p, p), eta[:, :p]
    m = np.linalg.solve(L, e1[..., None])[..., 0]
    g = rng.gamma(eta[:, -1] / 2, 2 / (eta[:, -2] - (m * e1).sum(axis=1)), (*shape, n))
    root = np.linalg.inv(np.linalg.cholesky(L))
    z = np.einsum("nji,...nj->...ni", root, rng.standard_normal((*shape, n, p)))
    w = m + z / np.sqrt(g)[..., None]
    squares = (w[..., :, None] * w[..., None, :]).reshape(*g.shape, p * p)
    t = np.concatenate(
        [
            g[..., None] * w,
            -g[..., None] * squares / 2,
            -g[..., None] / 2,
            np.log(g)[..., None] / 2,
        ],
        axis=-1,
    )
    return Drawn({"coefficient": w, "precision": g}, t)


# Data


def flips(drawn: Drawn, rng: Generator, n: int = 4) -> Batch:
    p = drawn.named["probability"]
    X = (rng.random((n, len(p))) < p).astype(float)
    return Batch(X, np.stack([X.sum(axis=0), n - X.sum(axis=0)], axis=-1))


def words(drawn: Drawn, rng: Generator) -> Batch:
    """Counts of three documents for each replicate."""
    p = np.exp(drawn.t)
    X = rng.multinomial(LENGTHS, (p / p.sum(axis=1, keepdims=True))[:, None]).astype(float)
    return Batch(X, X.sum(axis=1))


def squares(drawn: Drawn, rng: Generator, n: int = 4) -> Batch:
    """Gaussian numbers about 0, of unknown precision."""
    g = drawn.named["value"]
    X = rng.standard_normal((n, len(g))) / np.sqrt(g)
    return Batch(X, np.stack([np.full(len(g), float(n)), (X**2).sum(axis=0)], axis=-1))


def shifted(drawn: Drawn, rng: Generator, n: int = 4) -> Batch:
    """Gaussian numbers of precision 1, of unknown mean."""
    x = drawn.named["value"]
    X = rng.normal(x, 1.0, (n, len(x)))
    return Batch(X, np.stack([X.sum(axis=0), np.full(len(x), float(n))], axis=-1))


def numbers(drawn: Drawn, rng: Generator, n: int = 5, gaps: bool = False) -> Batch:
    mu, g = drawn.named["mean"], drawn.named["precision"]
    X = rng.normal(mu, g**-0.5, (n, len(mu)))
    if gaps:
        X[np.add.outer(np.arange(n), np.arange(len(mu))) % GAPS == 0] = np.nan
    sizes = np.count_nonzero(~np.isnan(X), axis=0).astype(float)
    sums = np.nansum(X, axis=0), sizes, np.nansum(X**2, axis=0), sizes
    return Batch(X, np.stack(sums, axis=-1))


def gaps(drawn: Drawn, rng: Generator) -> Batch:
    return numbers(drawn, rng, gaps=True)


def classes(drawn: Drawn, rng: Generator, n: int = 10) -> Batch:
    """Samples of two classes, which are known; the first half of the replicates is of the first."""
    y = rng.permutation(np.arange(n) % 2)
    mu, g = (drawn.named[name].reshape(2, -1)[y] for name in ("mean", "precision"))
    X = rng.normal(mu, g**-0.5)
    parts = [X[y == c] for c in (0, 1)]
    sizes = [np.full(X.shape[1], float(len(part))) for part in parts]
    sums = [
        np.stack([part.sum(axis=0), size, (part**2).sum(axis=0), size], axis=-1)
        for part, size in zip(parts, sizes, strict=True)
    ]
    return Batch((X, y), np.concatenate(sums))


def regressions(drawn: Drawn, rng: Generator, n: int = 5) -> Batch:
    """X with an intercept, of shape (replicates, n, coefficients), and y."""
    g = drawn.named["precision"]
    w = drawn.named["coefficient"]
    X = rng.standard_normal((len(g), n, SLOPES))
    X[..., -1] = 1.0
    y = np.einsum("rnp,rp->rn", X, w) + rng.standard_normal((len(g), n)) / np.sqrt(g)[:, None]
    sums = (
        np.einsum("rnp,rn->rp", X, y),
        np.einsum("rnp,rnq->rpq", X, X).reshape(len(g), -1),
        (y**2).sum(axis=1, keepdims=True),
        np.full((len(g), 1), float(n)),
    )
    return Batch((X, y), np.concatenate(sums, axis=1))


def labels(drawn: Drawn, rng: Generator, n: int = 5) -> Batch:
    """Classes of n samples for each replicate."""
    p = drawn.named["probability"]
    y = (p.cumsum(axis=1)[:, None, :-1] < rng.random((len(p), n, 1))).sum(axis=2)
    return Batch(y, (y[..., None] == np.arange(p.shape[1])).sum(axis=1).astype(float))


# Learning


def stacked(model: Any, block: str) -> Callable[[Any, Sequence[Batch]], np.ndarray]:
    """All replicates in one model, whose columns do not depend on each other."""

    def learn(rule: Any, batches: Sequence[Batch]) -> np.ndarray:
        estimator = StreamingBayes(model, rule, random_state=0)
        for batch in batches:
            data = batch.data if isinstance(batch.data, tuple) else (batch.data,)
            estimator.partial_fit(*data)
        eta = estimator.posterior_[block]
        return np.array(eta.reshape(-1, eta.shape[-1]))

    return learn


def one_by_one(fit: Callable[[Any, list[Any]], np.ndarray]) -> Any:
    """A model for each replicate, of its own part of each minibatch."""

    def learn(rule: Any, batches: Sequence[Batch]) -> np.ndarray:
        parts = [
            zip(*b.data, strict=True) if isinstance(b.data, tuple) else b.data for b in batches
        ]
        return np.array([fit(rule, list(own)) for own in zip(*parts, strict=True)])

    return learn


def fit_regression(rule: Any, batches: list[Any]) -> np.ndarray:
    estimator = StreamingBayes(LinearRegression(intercept_precision=0.3, shape=3.0), rule)
    for X, y in batches:
        estimator.partial_fit(X[:, :-1], y)
    return np.array(estimator.posterior_["regression"])


def fit_classes(rule: Any, batches: list[Any]) -> np.ndarray:
    estimator = StreamingBayes(NaiveBayesMixture(3, GaussianMixture(1)), rule, random_state=0)
    for y in batches:
        estimator.partial_fit(y[:, None].astype(float), y)
    return np.array(estimator.posterior_["classes"])


def fit_topic(make: Callable[[Any], Any]) -> Callable[[Any, list[Any]], np.ndarray]:
    """LDA of one topic: a Dirichlet and its words."""

    def fit(rule: Any, batches: list[Any]) -> np.ndarray:
        estimator = make(rule)
        for X in batches:
            estimator.partial_fit(X)
        return np.array(estimator.posterior_.dense()[:, 0])

    return fit


def lda(inference: str) -> Callable[[Any], Any]:
    """LDA that weighs all minibatches alike and takes them whole."""
    plain: dict[str, Any] = {"schedule": PLAIN, "random_state": 0}
    return lambda rule: StreamingLDA(
        1, update=rule, inference=inference, topic_word_prior=WORDS, **plain
    )


def mixture(rule: Any) -> Any:
    """A mixture of one cluster, without a background."""
    plain: dict[str, Any] = {"schedule": PLAIN, "random_state": 0}
    return StreamingMixture(1, update=rule, background=0.0, topic_word_prior=WORDS, **plain)


def added(prior: np.ndarray) -> Callable[[Any, Sequence[Batch]], np.ndarray]:
    """The conjugate update itself."""
    return lambda rule, batches: prior + sum(batch.statistics for batch in batches)


def worlds() -> dict[str, World]:
    """Estimators with exact posteriors."""
    coin = BetaBinomial(heads=0.8, tails=1.5)
    normal = GaussianMixture(1, mean_mass=0.5, shape=2.0, rate=1.5)
    of_coin, of_normal = np.array([0.8, 1.5]), np.array([0.0, 0.5, 3.0, 4.0])
    precisions = np.diag([1.0, 1.0, 0.3]).ravel()
    of_line = np.concatenate([np.zeros(SLOPES), precisions, [2.0, 6.0]])
    in_columns = stacked(normal, "components")
    bayes = stacked(NaiveBayesMixture(2, normal), "components")
    found = {
        "BetaBinomial": World(
            beta, of_coin, draw_beta, flips, stacked(coin, "coins")
        ),
        "GaussianMixture(1)": World(
            normal_gamma, of_normal, draw_normal_gamma, numbers, in_columns
        ),
        "GaussianMixture(1), missing": World(
            normal_gamma, of_normal, draw_normal_gamma, gaps, in_columns
        ),
        "NaiveBayesMixture": World(normal_gamma, of_normal, draw_normal_gamma, classes, bayes),
        "LinearRegression": World(
            normal_gamma_regression, of_line, draw_regression, regressions,
            one_by_one(fit_regression), together=False,
        ),
        "NaiveBayesMixture, classes": World(
            dirichlet, np.ones(3), draw_dirichlet, labels, one_by_one(fit_classes), together=False
        ),
    }  # fmt: skip
    topics = {
        "StreamingLDA(1), gibbs": lda("gibbs"),
        "StreamingLDA(1), variational": lda("variational"),
        "StreamingMixture(1)": mixture,
    }
    for name, make in topics.items():
        learn = one_by_one(fit_topic(make))
        found[name] = World(dirichlet, WORDS, draw_dirichlet, words, learn, together=False)
    return found


def families() -> dict[str, World]:
    """The conjugate families by themselves."""
    priors = {
        "beta": (beta, [0.8, 1.5], draw_beta, flips),
        "dirichlet": (dirichlet, WORDS, draw_dirichlet, words),
        "gamma": (gamma, [4.0, 3.0], draw_gamma, squares),
        "gaussian": (gaussian, [0.3, 0.5], draw_gaussian, shifted),
        "normal_gamma": (normal_gamma, [0.2, 0.5, 3.0, 4.0], draw_normal_gamma, numbers),
        "normal_gamma_regression": (
            normal_gamma_regression,
            [0.0] * SLOPES + np.eye(SLOPES).ravel().tolist() + [2.0, 6.0],
            draw_regression,
            regressions,
        ),
    }
    return {
        name: World(family, np.array(eta), draw, data, added(np.array(eta)))
        for name, (family, eta, draw, data) in priors.items()
    }
