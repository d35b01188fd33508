# SPDX-License-Identifier: BSD-3-Clause
"""Models of rows and targets that learn, and the bound of what they learn."""

import numpy as np
from numpy.testing import assert_allclose

from streamtopics.updates import SVB
from tests.updates.given import given, take


def learnt(model, *data, rule=None, size, posterior=None, **settings):
    """The posterior after minibatches of so many rows of X, and of y if there is one."""
    posterior = posterior or model.posterior(data[0])
    for start in range(0, len(data[0]), size):
        rows = [array[start : start + size] for array in data]
        take(rule or SVB(), posterior, model.learner(posterior, *rows, **settings))
    return posterior


def bounds_of_passes(model, posterior, *data, n):
    """The bound after each pass of SVB over a minibatch."""
    learn = model.learner(posterior, *data)
    seen, bounds = posterior, []
    for _ in range(n):
        blend = SVB().step(posterior, given(learn(seen)), None)[0]
        seen = posterior.after(blend)
        bounds.append(learn(seen).local_bound - posterior.divergences(blend)[0].sum())
    return np.array(bounds)


def assert_predictives_multiply_to(log_evidence, model, *data):
    """The densities of the rows, each before it is learnt."""
    posterior, total = model.posterior(data[0]), 0.0
    for i in range(len(data[0])):
        row = [array[i : i + 1] for array in data]
        total += model.log_predictive(posterior, *row)[0]
        learnt(model, *row, size=1, posterior=posterior)
    assert_allclose(total, log_evidence, rtol=1e-9)


def assert_bound_is_greatest(log_evidence, model, *data):
    """Of a model of one block: it is the evidence at the posterior, and less elsewhere."""
    prior, posterior = model.posterior(data[0]), learnt(model, *data, size=len(data[0]))
    learn, ((name, block),) = model.learner(prior, *data), prior.blocks.items()
    for weight in (1.0, 0.5, 0.9, 1.1):
        lam = prior[name] + weight * (posterior[name] - prior[name])
        bound = learn({name: lam}).local_bound - block.family.kl(lam, prior[name]).sum()
        if weight == 1.0:
            assert_allclose(bound, log_evidence, rtol=1e-9)
        else:
            assert bound < log_evidence - 1e-3
