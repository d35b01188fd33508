# SPDX-License-Identifier: BSD-3-Clause
"""Subjects whose posterior is exact, and a few whose posterior is not.

The truth is drawn from the prior, then a stream of three minibatches, of which the package learns.
Where a rule forgets or boosts, it says what the next minibatch's parameter is drawn from: under
`PowerPrior(rho)` the law of natural parameter rho eta + (1 - rho) eta_0, with eta that of today's
posterior; under `BPS(s)` that of eta + s m / m_0 eta_0, with m and m_0 the masses of the minibatch
and of the prior. So it is drawn here, and the posterior is exact again. After three minibatches
`Window(2)` knows two.

Beside the parameters two functions of parameter and data are ranked: the log joint density, up to
the base measure, and the log likelihood of the last minibatch. A posterior that has lost data shows
in these only. All that comes from the package is the natural parameter of the posterior, which is
known: it is compared, too. Where it is another, that has the p-value 0; where it is not, none, as
there is no chance in it.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.stats import norm

from proof.calibration_tests import N_DRAWS, PValues, Subject, ranks, uniform
from proof.calibration_worlds import Batch, Drawn, World, families, worlds
from streamtopics import StreamingBayes
from streamtopics.models import GaussianMixture, MeanFieldRegression
from streamtopics.updates import BPS, SVB, Boost, HierarchicalPowerPrior, PowerPrior, Window

N_MINIBATCHES = 3
EXACTLY = "natural parameter"
RHO, SCALE = 0.6, 0.5

# (natural parameter of today's posterior, that of the prior, relative mass) -> tomorrow's prior
Drift = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


class Process(NamedTuple):
    """A rule, what it says of parameters to come (None: they stay), and minibatches it knows.

    `exact` is whether its posterior is that of the parameters that were drawn.
    """

    rule: Any
    drift: Drift | None = None
    known: int = N_MINIBATCHES
    exact: bool = True


class Stream(NamedTuple):
    """The last parameter, the minibatches, and the natural parameter of the exact posterior."""

    truth: Drawn
    batches: list[Batch]
    eta: np.ndarray


PROCESSES = {
    "SVB": Process(SVB()),
    "PowerPrior": Process(
        PowerPrior(RHO), lambda eta, prior, mass: RHO * eta + (1 - RHO) * prior
    ),
    "BPS": Process(BPS(SCALE), lambda eta, prior, mass: eta + SCALE * mass * prior),
    "PowerPrior, boost": Process(
        PowerPrior(RHO, Boost(SCALE)),
        lambda eta, prior, mass: RHO * eta + (1 - RHO + SCALE * mass) * prior,
    ),
    "Window": Process(Window(2), known=2),
}  # fmt: skip


def stream(world: World, process: Process, n: int, rng: Generator) -> Stream:
    """Draw n parameters, and minibatches, which are all of one size."""
    prior = np.tile(world.prior, (n, 1))
    truth = world.draw(prior, (), rng)
    said, known = world.mass(world.data(truth, rng).statistics), world.mass(prior)
    share = said.sum() / known.sum() if world.together else said / known
    mass, eta, batches = np.reshape(share, (-1, 1)), prior, list[Batch]()
    for _ in range(N_MINIBATCHES):
        if process.drift is not None:
            # The first minibatch, too, comes with a step of the rule.
            eta = process.drift(eta, prior, mass)
            truth = world.draw(eta, (), rng)
        batches.append(world.data(truth, rng))
        eta = eta + batches[-1].statistics
    if process.drift is None:
        eta = prior + sum(batch.statistics for batch in batches[-process.known :])
    return Stream(truth, batches, eta)


def ranked(world: World, process: Process, n: int, rng: Generator) -> PValues:
    """Ranks of the truth among draws of the posterior that the package has learnt."""
    truth, batches, eta = stream(world, process, n, rng)
    learnt = world.learn(process.rule, batches)
    draws = world.draw(learnt, (N_DRAWS,), rng)
    others = draws.numbers()
    pairs = {name: (values, others[name]) for name, values in truth.numbers().items()}
    of_data = {"log joint": eta, "log likelihood": batches[-1].statistics}
    for name, values in of_data.items():
        pairs[name] = (truth.t * values).sum(axis=-1), (draws.t * values).sum(axis=-1)
    found = {name: ranks(*pair, rng) for name, pair in pairs.items()}
    if process.exact and not np.allclose(learnt, eta, rtol=1e-7, atol=1e-9):
        found[EXACTLY] = 0.0
    return found


def cumulated(world: World, n: int, rng: Generator) -> PValues:
    """The truth's place in the family's own marginals after a conjugate update."""
    truth, batches, _ = stream(world, PROCESSES["SVB"], n, rng)
    laws = world.family.marginals(world.learn(None, batches))
    places = {name: law.cdf(truth.named[name]).reshape(n, -1).T for name, law in laws.items()}
    return {
        f"{name} {j}": uniform(column)
        for name, columns in places.items()
        for j, column in enumerate(columns)
    }


def of_regression(n: int, rng: Generator) -> PValues:
    """Mean-field regression: coefficients and noise are correlated, which it leaves out."""
    model, found = MeanFieldRegression(precision=0.5, shape=3.0), list[list[float]]()
    for _ in range(n):
        w, g = rng.normal(0.0, 0.5**-0.5, 3), rng.gamma(3.0)
        estimator = StreamingBayes(model, SVB())
        for _ in range(N_MINIBATCHES):
            X = rng.standard_normal((4, 2))
            estimator.partial_fit(X, X @ w[:2] + w[2] + rng.standard_normal(4) / np.sqrt(g))
        blocks, posterior = estimator.posterior_.blocks, estimator.posterior_
        of_w, of_g = (
            blocks[name].family.marginals(posterior[name])["value"]
            for name in ("coefficients", "noise")
        )
        found.append([*of_w.cdf(w), float(of_g.cdf(g))])
    names = "slope 0", "slope 1", "intercept", "precision"
    return dict(zip(names, map(uniform, np.array(found).T), strict=True))


def of_mixture(apart: float, n: int, rng: Generator) -> PValues:
    """Means of two components of 500 samples, and how often their intervals cover.

    The ascent finds the samples' components, and then takes them for known.
    """
    places, covered = [], []
    truth = np.array([-apart / 2, apart / 2])
    for _ in range(n):
        X = truth[rng.integers(2, size=500)] + rng.normal(size=500)
        model = StreamingBayes(GaussianMixture(2), random_state=0).fit(X[:, None])
        family = model.posterior_.blocks["components"].family
        law = family.marginals(model.posterior_["components"])["mean"]
        origin = model.model_.mean
        means = law.mean().ravel() + origin
        order = np.argsort(means)
        low, high = (end.ravel()[order] + origin for end in law.interval(0.95))
        covered += ((low <= truth) & (truth <= high)).tolist()
        places.append(norm.cdf((truth - means[order]) / law.std().ravel()[order]))
    names = (f"mean {k}, 95 % intervals cover {np.mean(covered[k::2]):.2f}" for k in range(2))
    return dict(zip(names, map(uniform, np.array(places).T), strict=True))


def subjects() -> list[Subject]:
    """All of them."""
    found = [
        Subject(f"families.{name}", partial(cumulated, world)) for name, world in families().items()
    ]
    for name, world in worlds().items():
        replicates = 5000 if world.together else 500
        for rule, process in PROCESSES.items():
            run = partial(ranked, world, process)
            found.append(Subject(f"{name}, {rule}", run, replicates))
    learnt = Process(HierarchicalPowerPrior(), exact=False)
    for name in ("BetaBinomial", "GaussianMixture(1)"):
        run = partial(ranked, worlds()[name], learnt)
        found.append(Subject(f"{name}, HierarchicalPowerPrior", run, exact=False))
    for apart in (1.5, 2.5, 4.0):
        name = f"GaussianMixture(2), {apart:g} sd apart"
        found.append(Subject(name, partial(of_mixture, apart), 300, exact=False))
    return [*found, Subject("MeanFieldRegression, SVB", of_regression, 500, exact=False)]
