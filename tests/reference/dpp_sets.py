# SPDX-License-Identifier: BSD-3-Clause
"""Sets drawn exactly from a determinantal point process of which the kernel is known.

After Dupuy (2017), section 4.5.1, without the discretisation: the ground set may have 2^500
sentences or be a whole cube.
"""

import numpy as np
from sklearn.utils import Bunch, check_random_state

from streamtopics.dpp.kernel import Kernel, Process
from streamtopics.dpp.measures import Bernoulli, Fourier, Items
from streamtopics.dpp.noise import Background, Counting
from streamtopics.dpp.sampling import sample
from streamtopics.dpp.sets import PointSets, stack

DEFAULT_FEATURES = {"items": 100, "exponential": 10, "fourier": 9}


def make_dpp_sets(
    n_sets=1000, ground_set="items", *, n_features=None, n_components=None, strength=5.0,
    noise=1e-5, own_theta=False, random_state=None,
):  # fmt: skip
    """Draw sets from a low-rank determinantal point process.

    The ground set is a list of items; or all sentences, {0, 1}^V, of independent words; or the
    square [0, 1]^2. `strength` is the expected eigenvalue of each column of U, on the square the
    largest; `own_theta` gives each set weights of its own, exponential of mean 1. A is
    gamma I + U Diag(theta) U'.
    """
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=4)
    rng = np.random.default_rng(seed)
    measure, U, gamma, noise_ = _truth(ground_set, n_features, n_components, strength, noise, rng)
    theta = rng.exponential(size=(n_sets, U.shape[1])) if own_theta else np.ones(U.shape[1])
    runs = [(row, 1) for row in theta] if own_theta else [(theta, n_sets)]
    each = [sample(Process(measure, Kernel(U, row, gamma), noise_), n, rng) for row, n in runs]
    sizes = np.concatenate([sets.sizes for sets in each])
    sets = PointSets(stack([sets.points for sets in each]), np.append(0, np.cumsum(sizes)))
    groups = np.repeat(np.arange(n_sets), sizes)
    return Bunch(
        sets=sets, groups=groups, U=U, theta=theta, gamma=gamma, measure=measure, noise=noise_
    )


def _truth(ground_set, n_features, n_components, strength, noise, rng):
    """The measure, U, gamma and the noise. Columns of a Gaussian U have E u'Sigma u = strength."""
    V = DEFAULT_FEATURES[ground_set] if n_features is None else n_features
    if ground_set == "fourier":
        square = Fourier(2, V // 2)
        # A_ii is strength / f^2 for each frequency f > 0 of the feature: a kernel of x - y.
        spectrum = strength / np.maximum(square.frequencies, 1).prod(axis=1).astype(float) ** 2
        return square, np.diag(np.sqrt(spectrum)), 0.0, Background(noise)
    is_list = ground_set == "items"
    if is_list:
        measure = Items.of(V)
    else:
        measure = Bernoulli(rng.uniform(0.1, 0.5, V) if V <= 20 else rng.uniform(1 / V, 5 / V, V))
    r = (5 if is_list else 2) if n_components is None else n_components
    trace = measure.v.sum() + (measure.w0**2).sum()
    U = rng.standard_normal((V, r)) * np.sqrt(strength / trace)
    return measure, U, 0.0 if is_list else 1 / V, (Counting if is_list else Background)(noise)
