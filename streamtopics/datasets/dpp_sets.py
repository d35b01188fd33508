# SPDX-License-Identifier: BSD-3-Clause
"""Sets drawn exactly from a determinantal point process of which the kernel is known.

After Dupuy (2017), section 4.5.1, without the discretisation: the ground set may have 2^500
sentences or be a whole cube.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch, check_random_state

from streamtopics.dpp.kernel import Kernel, Process
from streamtopics.dpp.measures import Bernoulli, Fourier, Items
from streamtopics.dpp.measures.base import BaseMeasure
from streamtopics.dpp.noise import Background, Counting, Noise
from streamtopics.dpp.sampling import sample
from streamtopics.dpp.sets import PointSets, stack
from streamtopics.utils.checks import check_integer, check_one_of

DEFAULT_FEATURES = {"items": 100, "exponential": 10, "fourier": 9}


def make_dpp_sets(
    n_sets: int = 1000,
    ground_set: str = "items",
    *,
    n_features: int | None = None,
    n_components: int | None = None,
    strength: float = 5.0,
    noise: float = 1e-5,
    own_theta: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Draw sets from a low-rank determinantal point process.

    Parameters
    ----------
    n_sets : int, default=1000
    ground_set : {"items", "exponential", "fourier"}, default="items"
        A list of items; all sentences, {0, 1}^V, of independent words with probabilities drawn
        from [0.1, 0.5], or from [1 / V, 5 / V] for more than 20 words; or the square [0, 1]^2.
    n_features : int or None, default=None
        Number V of items or words; None is 100 items or 10 words. On the square the features of
        each coordinate, one less if it is even; None is 9.
    n_components : int or None, default=None
        Number r of columns of U; None is 5 for items and 2 for sentences. Not used on the square,
        where A is diagonal.
    strength : float, default=5.0
        Expected eigenvalue of each column of U; on the square the largest eigenvalue. With
        5, a column gives 5 / 6 of a point.
    noise : float, default=1e-5
        For items a multiple of the identity in L, otherwise the expected number of points drawn
        from the base measure.
    own_theta : bool, default=False
        Whether each set has its own theta, exponential of mean 1, instead of ones.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    data : Bunch
        With the attributes

        sets : PointSets
            The sets: places of items, rows of words or points of the square.
        groups : ndarray of shape (n_points,), int
            The set of each row of `sets.points`.
        U : ndarray of shape (V, r)
            The embedding.
        theta : ndarray of shape (r,) or (n_sets, r)
            Weights of its columns.
        gamma : float
            A = gamma I + U Diag(theta) U'. It is 1 / V for sentences, otherwise 0.
        measure, noise : Items, Bernoulli or Fourier, and Counting or Background
            The ground set, and what stands beside the low-rank part.

    Examples
    --------
    >>> from streamtopics.datasets import make_dpp_sets
    >>> baskets = make_dpp_sets(200, random_state=0)
    >>> len(baskets.sets), baskets.U.shape
    (200, (100, 5))
    """
    check_integer(n_sets=n_sets)
    check_one_of(DEFAULT_FEATURES, ground_set=ground_set)
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


def _truth(
    ground_set: str,
    n_features: int | None,
    n_components: int | None,
    strength: float,
    noise: float,
    rng: np.random.Generator,
) -> tuple[BaseMeasure, np.ndarray, float, Noise]:
    """The measure, U, gamma and the noise. Columns of a Gaussian U have E u'Sigma u = strength."""
    V = DEFAULT_FEATURES[ground_set] if n_features is None else n_features
    check_integer(n_features=V)
    if ground_set == "fourier":
        square = Fourier(2, V // 2)
        # A_ii is strength / f^2 for each frequency f > 0 of the feature: a kernel of x - y.
        spectrum = strength / np.maximum(square.frequencies, 1).prod(axis=1).astype(float) ** 2
        return square, np.diag(np.sqrt(spectrum)), 0.0, Background(noise)
    is_list = ground_set == "items"
    measure: BaseMeasure
    if is_list:
        measure = Items.of(V)
    else:
        measure = Bernoulli(rng.uniform(0.1, 0.5, V) if V <= 20 else rng.uniform(1 / V, 5 / V, V))
    r = (5 if is_list else 2) if n_components is None else n_components
    check_integer(n_components=r)
    trace = measure.v.sum() + (measure.w0**2).sum()
    U = rng.standard_normal((V, r)) * np.sqrt(strength / trace)
    return measure, U, 0.0 if is_list else 1 / V, (Counting if is_list else Background)(noise)
