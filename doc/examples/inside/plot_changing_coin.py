# SPDX-License-Identifier: BSD-3-Clause
"""
A changing coin
===============

The smallest drifting stream: minibatches of a hundred flips of a coin. The probability of heads
jumps from 0.2 to 0.5 and to 0.8, as in section 6.1 of Masegosa et al. (2020). Only the
coin is inferred, so rules differ only in forgetting.
"""

# %%
# Each rule turns the posterior and the statistics of a minibatch into the coefficients of one
# update, ``lam <- retain * lam + gain * s + prior * eta``.
import numpy as np

from streamtopics.inspection import plot_curves
from streamtopics.models import BetaBinomial
from streamtopics.updates import SVB, HierarchicalPowerPrior, PopulationVB, PowerPrior

probability = np.repeat([0.2, 0.5, 0.8], [30, 30, 40])
flips = np.random.default_rng(0).random((len(probability), 100)) < probability[:, None]
rules = {
    "SVB": SVB(),
    "power prior, rho = 0.9": PowerPrior(0.9),
    "population of 1,000, nu = 0.1": PopulationVB(1000, 0.1),
    "hierarchical power prior": HierarchicalPowerPrior(),
    "restart with every minibatch": PowerPrior(0.0),
}
means, sizes, kept = {}, {}, {}
for name, rule in rules.items():
    model = BetaBinomial(heads=1.0, tails=1.0)
    posterior = model.posterior(flips[0][:, None])
    means[name], sizes[name], kept[name] = [], [], []
    for batch in flips:
        blend, _ = rule.step(posterior, model.learner(posterior, batch[:, None]), None)
        posterior.blend(blend)
        means[name].append(model.mean(posterior)[0])
        sizes[name].append(posterior.mass[0])
        kept[name].append(float(np.ravel(blend.retain)[0]))

# %%
# The mean of the posterior. SVB ends in the middle of all probabilities so far. A fixed rate comes
# back after the length of the memory. The learnt rate comes back at once.
batches = np.arange(1, len(probability) + 1)
truth = {"the coin": probability} | means
ax = plot_curves(truth, x=batches, xlabel="minibatch", ylabel="mean probability of heads")

# %%
# The cost while nothing changes: the learnt rate remembers only three minibatches, however long the
# coin is constant. A fixed 0.9 remembers ten.
still, after = {}, {}
for name in rules:
    error = np.abs(np.array(means[name]) - probability)
    still[name], after[name] = error[10:30].mean(), error[[30, 31, 32, 60, 61, 62]].mean()
    print(
        f"{name:30} error while still {still[name]:.3f}, after a jump {after[name]:.3f}, "
        f"flips it stands for {sizes[name][-1]:6.0f}"
    )
assert min(still, key=still.__getitem__) == "SVB"
assert min(after, key=after.__getitem__) == "hierarchical power prior"

# %%
# The retained share of the posterior: about two thirds while the coin is constant, and next to
# nothing after a jump.
ax = plot_curves(kept, x=batches, xlabel="minibatch", ylabel="share of the posterior kept")
