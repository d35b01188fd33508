# SPDX-License-Identifier: BSD-3-Clause
"""
A drifting regression
=====================

A linear regression on a stream with a slope that wanders slowly and then jumps. The rules are the
same as for the topic models. Each minibatch is scored before learning.
"""

# %%
# The slope wanders for sixty minibatches, and jumps to the opposite side at the fortieth.
import numpy as np

from streamtopics import StreamingBayes
from streamtopics.inspection import plot_curves
from streamtopics.models import LinearRegression
from streamtopics.updates import SVB, EmpiricalPowerPrior, HierarchicalPowerPrior, PowerPrior

rng = np.random.default_rng(0)
slopes = 1.0 + np.cumsum(0.08 * rng.normal(size=60))
slopes[40:] -= 3.0

# %%
# Four rules. The first never forgets, and two rules learn the rate: by the posterior of the rate
# and a second bound, and by a point estimate under the bound itself.
models = {
    "keeps all": StreamingBayes(LinearRegression(), SVB()),
    "keeps 0.7": StreamingBayes(LinearRegression(), PowerPrior(0.7)),
    "posterior of the rate": StreamingBayes(LinearRegression(), HierarchicalPowerPrior()),
    "point estimate": StreamingBayes(LinearRegression(), EmpiricalPowerPrior()),
}
scores = {name: [] for name in models}
slope_of = {"the slope": list(slopes[:-1])} | {name: [] for name in models}
for t, slope in enumerate(slopes):
    X = rng.normal(size=(40, 1))
    y = slope * X[:, 0] + 0.5 * rng.normal(size=40)
    for name, model in models.items():
        if t > 0:
            scores[name].append(model.score(X, y))
            line = model.predict(np.array([[0.0], [1.0]]))
            slope_of[name].append(line[1] - line[0])
        model.partial_fit(X, y)

# %%
# The slope estimated by each rule, before the minibatch.
batches = np.arange(1, len(slopes))
ax = plot_curves(slope_of, x=batches, xlabel="minibatch", ylabel="slope")

# %%
# The log density of the next minibatch can choose between the rules.
for name, values in scores.items():
    print(f"{name:24} {np.mean(values):7.3f} nats per sample to come")
assert min(scores, key=lambda name: np.mean(scores[name])) == "keeps all"

# %%
# And how much was kept.
kept = {name: model.retention_history_.ravel() for name, model in models.items()}
ax = plot_curves(
    kept, x=np.arange(1, len(slopes) + 1), xlabel="minibatch", ylabel="share of the posterior kept"
)
