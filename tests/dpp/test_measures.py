# SPDX-License-Identifier: BSD-3-Clause
"""Base measures against lists of their points, and their tilted laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import chi2, kstest

from streamtopics.dpp.kernel import Kernel
from streamtopics.dpp.measures import (
    Bernoulli,
    Fourier,
    Gaussian,
    Items,
    LengthMultinomial,
    Poisson,
)
from streamtopics.dpp.measures.bags import NextWord
from streamtopics.dpp.measures.bernoulli import Gaps
from streamtopics.dpp.noise import Counting
from streamtopics.dpp.sets import PointSets
from streamtopics.dpp.totals import MOST_WORDS, WordCounts, WordsAndLengths, WordSets
from tests.dpp import cases
from tests.dpp.cases import LEAST_P, sigma
from tests.dpp.cases import array as dense
from tests.reference import dpp as reference

N_DRAWS = 40_000

listed = pytest.mark.parametrize("name", cases.LISTED)


def assert_absence(measure, without, p, Phi, atol):
    """The moments of the points without a word, among the other words."""
    diagonal, cross = measure.absence()
    for w, rows in enumerate(without.T):
        others = np.arange(without.shape[1]) != w
        expected = reference.moment(p[rows], Phi[rows])[np.ix_(others, others)]
        found = np.diag(diagonal[w] * measure.v) + cross[w] * measure.w0 @ measure.w0.T
        assert_allclose(found[np.ix_(others, others)], expected, atol=atol)


def places_of(points, among):
    """Where each drawn point is in a list."""
    points = dense(points)
    if points.ndim == 1:
        return points
    return np.array([np.flatnonzero((among == row).all(axis=1))[0] for row in points])


@listed
def test_moments_features_and_log_p_equal_the_list(name):
    case = cases.LISTED[name]
    assert_allclose(sigma(case.measure), reference.moment(case.p, case.Phi), atol=1e-14)
    assert_allclose(dense(case.measure.features(case.points)), case.Phi, rtol=1e-15)
    with np.errstate(divide="ignore"):
        assert_allclose(case.measure.log_p(case.points), np.log(case.p), rtol=1e-12, atol=1e-12)
    assert_allclose(case.measure.mass, case.p.sum(), rtol=1e-12)


@pytest.mark.parametrize("name", ["bernoulli", "weighted", "lengths"])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_and_dense_points_give_the_same(name, kind):
    case = cases.LISTED[name]
    points = kind(case.points)
    assert_array_equal(case.measure.log_p(points), case.measure.log_p(case.points))
    assert_allclose(dense(case.measure.features(points)), case.Phi)


@listed
def test_absence(name):
    case = cases.LISTED[name]
    has = case.points if name == "weighted" else case.Phi
    assert_absence(case.measure, has == 0, case.p, case.Phi, atol=1e-14)


@listed
def test_samples_have_the_law_of_the_list(name):
    case = cases.LISTED[name]
    drawn = places_of(case.measure.sample(N_DRAWS, np.random.default_rng(0)), case.points)
    cases.assert_law(drawn, case.p)


@listed
def test_tilted_samples_are_one_for_each_h(name):
    case = cases.LISTED[name]
    rng = np.random.default_rng(0)
    H = rng.standard_normal((3, case.Phi.shape[1]))[np.arange(9000) % 3]
    drawn = places_of(case.measure.sample_tilted(H, rng), case.points)
    for k in range(3):
        cases.assert_law(drawn[k::3], reference.tilted(case.p, case.Phi, H[k]))


@pytest.mark.parametrize("seed", range(5))
def test_the_tilted_law_of_bernoulli_is_exact(seed):
    """The product of the conditionals that the sampler inverts, on all 2^8 sentences."""
    rng = np.random.default_rng(seed)
    pi, h = rng.uniform(0.01, 0.99, 8), rng.standard_normal(8)
    X = reference.sentences(8)
    gaps, law = Gaps.of(pi, h[None]), []
    zero = np.zeros(1, dtype=int)

    def weight(start, end, a):
        return gaps.weight(zero, zero + start, zero + end, a)[0]

    for x in X:
        p, start, a = 1.0, 0, 0.0
        for word in np.flatnonzero(x):
            p *= (weight(start, word, a) - weight(start, word + 1, a)) / weight(start, start, a)
            start, a = word + 1, a + h[word]
        law.append(p * weight(start, 8, a) / weight(start, start, a))
    assert_allclose(law, reference.tilted(reference.bernoulli_p(X, pi), X, h), atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_tilted_law_of_words_is_exact(n):
    """The same for bags of n words, over all sequences."""
    rng = np.random.default_rng(n)
    pi, h = rng.dirichlet(np.ones(4)), rng.standard_normal(4)
    law, zero = NextWord.of(pi, h[None]), np.zeros(1, dtype=int)

    def shares(a, left):
        sums = [law.weight(zero, zero + w, zero + a, zero + left)[0] for w in range(4)]
        return np.diff([0.0, *sums]) / sums[-1]

    X = reference.bags(4, n)
    X = X[X.sum(axis=1) == n]
    found = dict.fromkeys(map(tuple, X), 0.0)
    for sequence in np.ndindex(*[4] * n):
        p, a = 1.0, 0.0
        for drawn, word in enumerate(sequence):
            p *= shares(a, n - drawn - 1)[word]
            a += h[word]
        found[tuple(np.bincount(sequence, minlength=4).astype(float))] += p
    expected = reference.tilted(reference.multinomial_p(X, pi), X, h)
    assert_allclose(list(found.values()), expected, atol=1e-12)


@pytest.mark.parametrize("lam", [[0.3, 0.8, 0.1], [0.05, 0.2, 0.02]])
def test_poisson_is_the_multinomial_of_poisson_length(lam):
    poisson = Poisson(lam)
    X = reference.bags(3, 14)
    p = np.exp(poisson.log_p(X))
    assert_allclose(p.sum(), 1, rtol=1e-9)
    assert_allclose(sigma(poisson), reference.moment(p, X), atol=1e-7)
    assert_absence(poisson, X == 0, p, X, atol=1e-7)
    rng = np.random.default_rng(3)
    h = rng.standard_normal(3)
    drawn = dense(poisson.sample_tilted(np.tile(h, (N_DRAWS, 1)), rng))
    law = reference.tilted(p, X, h) * (X.sum(axis=1) <= 6)
    cases.assert_law(places_of(drawn[drawn.sum(axis=1) <= 6], X), law)
    share = (drawn.sum(axis=1) <= 6).mean()
    assert abs(share - law.sum()) < 4.5 * np.sqrt(law.sum() * (1 - law.sum()) / N_DRAWS) + 1e-6


def test_gaussian():
    rng = np.random.default_rng(0)
    measure = Gaussian([0.5, -1.0, 2.0], [1.0, 0.25, 4.0])
    x = measure.sample(400_000, rng)
    assert_allclose(x.T @ x / len(x), sigma(measure), atol=0.06)
    z2 = (x[0] - measure.mean) ** 2 / measure.variance
    expected = -0.5 * np.sum(z2 + np.log(2 * np.pi * measure.variance))
    assert_allclose(measure.log_p(x[:1]), expected, rtol=1e-12)
    for h in np.array([[1.0, 2.0, -0.5], [0.0, 0.0, 1.0], [1.0, 0.5, 0.0]]):
        t = measure.sample_tilted(np.tile(h, (N_DRAWS, 1)), rng) @ h
        m, s2 = h @ measure.mean, h**2 @ measure.variance
        grid = np.linspace(m - 12 * np.sqrt(s2), m + 12 * np.sqrt(s2), 200_001)
        density = grid**2 * np.exp(-0.5 * (grid - m) ** 2 / s2)
        below = np.cumsum(density) / density.sum()
        assert kstest(t, lambda x, g=grid, b=below: np.interp(x, g, b)).pvalue > LEAST_P


def test_gaussian_given_the_projection():
    """Beside h'x a tilted vector is as Gaussian as before."""
    rng = np.random.default_rng(1)
    measure = Gaussian([0.5, -1.0], [1.0, 0.25])
    h, g = np.array([1.0, 2.0]), np.array([2.0, -4.0])  # g'Diag(s2)h = 0
    x = measure.sample_tilted(np.tile(h, (N_DRAWS, 1)), rng) @ g
    mean, deviation = g @ measure.mean, np.sqrt(g**2 @ measure.variance)
    assert kstest((x - mean) / deviation, "norm").pvalue > LEAST_P


def lattice(axis, m):
    """All points of a grid in m dimensions."""
    return np.stack([x.ravel() for x in np.meshgrid(*[axis] * m, indexing="ij")], axis=1)


@pytest.mark.parametrize(("m", "degree"), [(1, 0), (1, 3), (2, 2), (3, 1)])
def test_fourier(m, degree):
    measure = Fourier(m, degree)
    n = 4 * degree + 3
    grid = lattice(np.arange(n) / n, m)
    Phi = measure.features(grid)
    assert_allclose(Phi.T @ Phi / len(grid), sigma(measure), atol=1e-12)
    assert measure.frequencies.shape == (Phi.shape[1], m)
    rng = np.random.default_rng(degree)
    h = rng.standard_normal(Phi.shape[1])
    x = measure.sample_tilted(np.tile(h, (N_DRAWS, 1)), rng)
    assert x.min() >= 0
    assert x.max() <= 1
    fine = lattice((np.arange(48) + 0.5) / 48, m)
    density = (measure.features(fine) @ h) ** 2
    drawn, cells = (np.ravel_multi_index((at * 4).astype(int).T, [4] * m) for at in (x, fine))
    cases.assert_law(drawn, np.bincount(cells, density))


def test_fourier_frequencies_make_a_stationary_kernel():
    measure = Fourier(2, 3)
    a = 1.0 / (1 + measure.frequencies.sum(axis=1))
    rng = np.random.default_rng(0)
    x, y, shift = rng.random((1, 2)), rng.random((1, 2)), rng.random(2)
    one, two = (measure.features(x + s) * a @ measure.features(y + s).T for s in (0, shift))
    assert_allclose(one, two, rtol=1e-12)


def test_lengths_are_kept_up_to_a_million_words():
    def seen(n):
        return WordsAndLengths.none(2).plus(PointSets(sparse.csr_matrix([[n, 0], [0, 1]]), [0, 2]))

    assert seen(MOST_WORDS).lengths[[1, MOST_WORDS]].tolist() == [1, 1]
    with pytest.raises(ValueError, match="a sentence of 1000001 words"):
        seen(MOST_WORDS + 1)


def test_words_that_a_row_has_twice_are_one_word():
    """A CSR matrix may have an entry in two parts."""
    parts = sparse.csr_matrix((np.ones(4), [1, 1, 0, 2], [0, 3, 4]), shape=(2, 3))
    whole = sparse.csr_matrix(np.array([[1, 2, 0], [0, 0, 1]]))
    for measure in (Bernoulli([0.2, 0.3, 0.4]), Poisson([0.2, 0.3, 0.4]),
                    LengthMultinomial([0.1, 0.5, 0.1, 0.3], [0.2, 0.3, 0.5])):  # fmt: skip
        assert_allclose(measure.log_p(parts), measure.log_p(whole), rtol=1e-15)
        assert_allclose(dense(measure.features(parts)), dense(measure.features(whole)))
    assert parts.nnz == 4
    assert_allclose(Bernoulli.from_sentences(parts).pi, [0.5, 0.5, 0.5])


@pytest.mark.parametrize("totals", [WordSets, WordCounts, WordsAndLengths])
def test_measures_that_are_learnt(totals):
    X = sparse.csr_matrix(np.array([[1, 0, 2], [0, 0, 1], [0, 0, 0], [3, 0, 1]]))
    parts = PointSets(X[:2], [0, 2]), PointSets(X[2:], [0, 1, 2])
    measure = totals.none(3).plus(parts[0]).plus(parts[1]).measure
    whole = totals.none(3).plus(PointSets(X, [0, 4])).measure
    for name, value in vars(whole).items():
        assert_allclose(vars(measure)[name], value)
    parameter = measure.lam if totals is WordCounts else measure.pi
    seen, n = {WordSets: ([2, 0, 3], 5), WordCounts: ([4, 0, 4], 4),
               WordsAndLengths: ([4, 0, 4], 9.5)}[totals]  # fmt: skip
    assert_allclose(parameter * n - (np.array(seen) + 0.5), 0, atol=1e-14)
    nothing = totals.none(3).plus(PointSets(X[:0], [0])).measure
    for learnt in (measure, nothing):
        assert np.isfinite(learnt.log_p(np.array([[9, 0, 4], [0, 0, 0]]))).all()


def test_points_are_not_changed():
    X = sparse.csr_matrix(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]]))
    before = X.copy()
    for name in ("bernoulli", "weighted", "lengths"):
        cases.LISTED[name].measure.features(X)
        cases.LISTED[name].measure.log_p(X)
    assert_array_equal(X.toarray(), before.toarray())


def test_rare_words_far_down_the_vocabulary():
    """2^2000 sentences: words have the expected frequency, and nobody is forgotten."""
    rng = np.random.default_rng(0)
    pi = np.full(2000, 1e-3)
    h = np.where(np.arange(2000) % 2, 1.0, 0.0)
    X = Bernoulli(pi).sample_tilted(np.tile(h, (2000, 1)), rng)
    odd, even = X[:, 1::2].sum(axis=1), X[:, ::2].sum(axis=1)
    assert odd.min() >= 1
    mean = 5 / 2  # Of a binomial n with mean 1 and weight n^2, E[n^3] / E[n^2].
    assert abs(odd.mean() - mean) < 0.1
    assert abs(even.mean() - 1) < 0.1
    assert chi2.sf(X[:, 1::2].sum(axis=0).A1.var() * 999 / (2000 * mean / 1000), 999) > LEAST_P


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: Bernoulli([0.5, 1.0]), "pi must be .* strictly between 0 and 1"),
        (lambda: Items([1.0, -1.0]), "p must be a finite weight of at least 0"),
        (lambda: Kernel([[np.nan]], [1.0]), "U must be a finite matrix"),
        (lambda: Kernel([[1.0]], [-1.0]), "theta have r numbers from 0"),
        (lambda: Kernel([[1.0]], [1.0], -0.5), "gamma of Kernel must be .* at least 0; got -0.5"),
        (lambda: Counting(np.inf), "level of Counting must be a finite"),
        (lambda: LengthMultinomial([0.5, 0.4], [1.0]), "lengths must be probabilities"),
        (lambda: LengthMultinomial([0.0, 1.0], [1.0, 0.0]), "pi must.*none of them 0"),
        (lambda: LengthMultinomial([0.0, 1.0], [1.0]).log_p([[0.5]]), "whole counts.*Weighted"),
    ],
)
def test_wrong_input(make, match):
    with pytest.raises(ValueError, match=match):
        make()


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_a_draw_ends_also_of_numbers_that_are_none(number):
    """A proposal is never kept then."""
    H, rng = np.full((3, 2), number), np.random.default_rng(0)
    with np.errstate(invalid="ignore"):
        drawn = Gaussian(np.zeros(2), np.ones(2)).sample_tilted(H, rng)
    assert drawn.shape == (3, 2)
