# SPDX-License-Identifier: BSD-3-Clause
"""
Samples of a determinantal point process on a square
====================================================

Exact samples of a determinantal point process on the unit square, and the same number of
independent points for comparison.
"""

# %%
# A process on a square
# ---------------------
# Features of a point are products of sines and cosines of the coordinates. The kernel weighs
# features by frequency, as in figure 22 of Dupuy (2017). The figure has a grid; here coordinates
# are continuous, drawn one after another from the exact law.
import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial import cKDTree

from streamtopics.dpp.kernel import Kernel, Process
from streamtopics.dpp.marginal import expected_size
from streamtopics.dpp.measures import Fourier
from streamtopics.dpp.noise import Background
from streamtopics.dpp.sampling import sample

square = Fourier(2, 8)
weights = 60 / np.maximum(square.frequencies, 1).prod(axis=1) ** 2.0
process = Process(square, Kernel(np.diag(np.sqrt(weights)), np.ones(len(weights))), Background(0))
print(f"{len(weights)} features, {expected_size(process):.1f} points expected")

rng = np.random.default_rng(0)
sets = sample(process, 20, rng)
repelling = sets[0]
uniform = rng.random(repelling.shape)

figure, axes = plt.subplots(1, 2, figsize=(8, 4), sharex=True, sharey=True)
for axis, points, title in zip(axes, (repelling, uniform), ("repelling", "uniform"), strict=True):
    axis.scatter(*points.T, s=18)
    axis.set(title=f"{title}: {len(points)} points", aspect="equal", xlim=(0, 1), ylim=(0, 1))
figure.tight_layout()


# %%
# Distances to the nearest point
# ------------------------------
# The process leaves few points close to each other. Distances to the nearest point, over twenty
# draws, and over the same number of uniform points.
def to_the_next(points):
    distances, _ = cKDTree(points).query(points, k=2)
    return np.asarray(distances)[:, 1]


draws = [sets[i] for i in range(20)]
for name, drawn in (("repelling", draws), ("uniform", [rng.random(x.shape) for x in draws])):
    low, middle = np.quantile(np.concatenate([to_the_next(x) for x in drawn]), [0.05, 0.5])
    print(f"{name:>10}: one in twenty below {low:.3f}, half below {middle:.3f}")

# %%
# Numbers of points hardly vary either: each column of the kernel gives one point or none.
sizes = sample(process, 200, rng).sizes
print(
    f"mean {sizes.mean():.1f}, variance {sizes.var():.1f}; independent points would have both equal"
)
assert sizes.var() < sizes.mean()
