# SPDX-License-Identifier: BSD-3-Clause
"""Ground sets small enough to list, processes on them, and a chi-square test."""

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.stats import chi2

from streamtopics.dpp.kernel import Kernel, Process
from streamtopics.dpp.measures import Bernoulli, Items, LengthMultinomial, Weighted
from streamtopics.dpp.noise import Background, Counting
from streamtopics.dpp.sets import PointSets
from tests.reference import dpp as reference

EXPECTED_IN_A_CELL = 10
LEAST_P = 1e-4
SILENT = Counting(0.0)


def as_sets(points, lists):
    """Sets of points by their places."""
    places = [place for some in lists for place in some]
    return PointSets(points[places], np.cumsum([0, *map(len, lists)]))


def multisets(n_points, most):
    """All of at most so many points, as lists of their places."""
    every = (combinations_with_replacement(range(n_points), n) for n in range(most + 1))
    return [list(multiset) for some in every for multiset in some]


class Listed(NamedTuple):
    """A measure, all its points, p and features of each."""

    measure: object
    points: np.ndarray
    p: np.ndarray
    Phi: np.ndarray


def bernoulli(V=3):
    pi = np.linspace(0.2, 0.6, V)
    X = reference.sentences(V)
    return Listed(Bernoulli(pi), X, reference.bernoulli_p(X, pi), X)


def items(V=8):
    return Listed(Items.of(V), np.arange(V), np.ones(V), np.eye(V))


def weighted(V=3):
    plain, s = bernoulli(V), np.linspace(0.0, 2.0, V)
    return Listed(Weighted(plain.measure, s), plain.points, plain.p, plain.Phi * s)


def lengths(V=3):
    pi, law = np.linspace(1, 3, V), np.array([0.1, 0.3, 0.0, 0.6])
    pi = pi / pi.sum()
    X = reference.bags(V, 3)
    n = X.sum(axis=1)
    p = law[n.astype(int)] * reference.multinomial_p(X, pi)
    return Listed(LengthMultinomial(law, pi), X, p, X / np.maximum(n, 1)[:, None])


LISTED = {"bernoulli": bernoulli(), "items": items(), "weighted": weighted(), "lengths": lengths()}


def kernel(V, r=2, gamma=0.0, seed=0):
    rng = np.random.default_rng(seed)
    theta = rng.exponential(size=r) + 0.1
    return Kernel(1.5 * rng.standard_normal((V, r)), theta, gamma)


def process(listed, gamma=0.0, noise=SILENT, r=2, seed=0):
    return Process(listed.measure, kernel(listed.Phi.shape[1], r, gamma, seed), noise)


def dense_of(listed, a_process):
    """L over the listed ground set; of Background noise its analogue, beta p."""
    noise = a_process.noise
    L = reference.dense(listed.p, listed.Phi, a_process.kernel.matrix)
    if isinstance(noise, Background):
        return L + noise.level * np.diag(listed.p)
    return L + noise.level * np.eye(len(L))


def codes(sets, places):
    """Each set as a number with the bits of the places of its points; -1 with repeats."""
    bits = np.zeros(len(sets), dtype=np.int64)
    repeated = np.zeros(len(sets), dtype=bool)
    owner = np.repeat(np.arange(len(sets)), sets.sizes)
    for o, place in zip(owner, places, strict=True):
        repeated[o] |= bool(bits[o] >> place & 1)
        bits[o] |= 1 << int(place)
    return np.where(repeated, -1, bits)


def chi_square_p(counts, probabilities):
    """p-value of the counts; cells of small expectation are put together."""
    n = counts.sum()
    expected = n * probabilities
    assert not counts[expected < 1e-9].any()
    thin = expected < EXPECTED_IN_A_CELL
    observed = np.append(counts[~thin], counts[thin].sum())
    wanted = np.append(expected[~thin], expected[thin].sum())
    used = wanted > 1e-9
    statistic = ((observed[used] - wanted[used]) ** 2 / wanted[used]).sum()
    return chi2.sf(statistic, max(used.sum() - 1, 1))


def assert_law(places, law):
    """That places are drawn from a law, whose sum need not be 1."""
    counts = np.bincount(places, minlength=len(law))
    assert chi_square_p(counts, law / law.sum()) > LEAST_P


def array(points):
    return points.toarray() if sparse.issparse(points) else points


def sigma(measure):
    """The moment of a measure's features."""
    return np.diag(measure.v) + measure.w0 @ measure.w0.T


def net(halves):
    """A derivative of the log-likelihood."""
    return halves.up - halves.down
