# SPDX-License-Identifier: BSD-3-Clause
"""Samplers against the law of all sets, and conditioning against the dense kernel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics import LowRankDPP
from streamtopics.dpp.kernel import Kernel, Process, condition
from streamtopics.dpp.marginal import expected_size, marginal_kernel, marginals
from streamtopics.dpp.measures import Bernoulli, Fourier, Gaussian, Items, Poisson
from streamtopics.dpp.noise import Background, Counting
from streamtopics.dpp.sampling import _draw_in_turn, _orthogonalize, sample, size_probabilities
from streamtopics.dpp.sets import PointSets
from tests.dpp import cases
from tests.reference import dpp as reference

N_SETS = 60_000
ITEMS = Process(Items([1, 1, 0]), Kernel([[3, 1], [2, 9], [5, 7]], [1, 1]), Counting(0.0))
SETTINGS = [(0.0, Counting(0.0)), (0.4, Counting(0.0)), (0.3, Counting(0.15))]


def codes(case, sets):
    measure = getattr(case.measure, "measure", case.measure)
    return cases.codes(sets, measure.places(sets.points))


@pytest.mark.parametrize("name", ["bernoulli", "items"])
@pytest.mark.parametrize(("gamma", "noise"), SETTINGS)
def test_samples_have_the_law_of_all_sets(name, gamma, noise):
    case = cases.LISTED[name]
    process = cases.process(case, gamma, noise)
    sets = sample(process, N_SETS, np.random.default_rng(1))
    law = reference.probabilities(cases.dense_of(case, process))
    assert_allclose(law.sum(), 1, rtol=1e-10)
    cases.assert_law(codes(case, sets), law)


def test_samples_of_bags():
    case = cases.lengths(V=2)
    process = cases.process(case, 0.2)
    sets = sample(process, N_SETS, np.random.default_rng(1))
    rows = sets.points.toarray()
    places = [np.flatnonzero((case.points == row).all(axis=1))[0] for row in rows]
    law = reference.probabilities(cases.dense_of(case, process))
    cases.assert_law(cases.codes(sets, places), law)


@pytest.mark.parametrize("k", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("noise", [Counting(0.0), Counting(0.15)])
@pytest.mark.parametrize("name", ["bernoulli", "items"])
def test_samples_of_a_given_size(name, noise, k):
    case = cases.LISTED[name]
    process = cases.process(case, 0.4, noise, r=3)
    law = reference.probabilities(cases.dense_of(case, process))
    law = law * [len(X) == k for X in reference.subsets(8)]
    if law.sum() < 1e-12:
        with pytest.raises(ValueError, match=f"k is {k}, but no set.*its rank is 3"):
            sample(process, 5, np.random.default_rng(0), k=k)
        return
    sets = sample(process, 20_000, np.random.default_rng(3), k=k)
    assert (sets.sizes == k).all()
    cases.assert_law(codes(case, sets), law)


@pytest.mark.parametrize(("k", "n_sets", "gamma"), [(None, N_SETS, 0.3), (2, 20_000, 0.4)])
def test_samples_with_background(k, n_sets, gamma):
    case = cases.bernoulli()
    process = cases.process(case, gamma, Background(0.6))
    law = reference.background_probabilities(case.p, case.Phi, process.kernel.matrix, 0.6)
    law = law * [k in (None, len(X)) for X in reference.subsets(8)]
    sets = sample(process, n_sets, np.random.default_rng(3), k=k)
    # Sets that have a point twice are one cell.
    found, total = codes(case, sets), 1.0 if k is None else size_probabilities(process, k)[k]
    cases.assert_law(np.where(found < 0, len(law), found), np.append(law, total - law.sum()))


INFINITE = [Poisson([0.5, 1.0, 0.2]), Gaussian([0.5, 0.0, -1.0], [1.0, 2.0, 0.5]), Fourier(1, 1)]


@pytest.mark.parametrize("measure", INFINITE, ids=["poisson", "gaussian", "fourier"])
def test_sizes_on_infinite_ground_sets(measure):
    process = Process(measure, cases.kernel(3, 2, 0.2), Background(0.3))
    sets = sample(process, 20_000, np.random.default_rng(5))
    cases.assert_law(sets.sizes, size_probabilities(process, 12))
    # The mean of phi phi' over all points is that of the marginal kernel.
    x = measure.sample(200_000, np.random.default_rng(6))
    Phi, drawn = (cases.array(measure.features(points)) for points in (x, sets.points))
    A = process.kernel.matrix
    B = np.linalg.solve(np.eye(3) + A @ cases.sigma(measure), A)
    from_p = Phi.T @ (Phi * (0.3 + np.einsum("nv,vw,nw->n", Phi, B, Phi))[:, None]) / len(Phi)
    assert_allclose(drawn.T @ drawn / len(sets), from_p, atol=0.06 * np.abs(from_p).max())


def test_many_chunks_and_the_seed(monkeypatch):
    case = cases.bernoulli()
    process = cases.process(case, 0.4, Background(0.2))
    one, two = (sample(process, 500, np.random.default_rng(7)) for _ in range(2))
    assert_array_equal(one.points.toarray(), two.points.toarray())
    monkeypatch.setattr("streamtopics.dpp.sampling.MOST_NUMBERS", 300)
    monkeypatch.setattr("streamtopics.dpp.measures.bernoulli.MOST_NUMBERS", 300)
    sets = sample(process, 20_000, np.random.default_rng(8))
    cases.assert_law(sets.sizes, size_probabilities(process, 12))


@pytest.mark.parametrize(("most", "n_sets", "n_chunks"), [(2**14, 100, 3), (300, 5, 5)])
def test_chunks_are_small_where_sets_are_large(most, n_sets, n_chunks, monkeypatch):
    """With k points of each set come k^2 numbers, and k may be V."""
    entries = []

    def watched(measure, G, chosen, sizes, rng):
        entries.append(len(chosen) * int(sizes.max()) ** 2)
        return _draw_in_turn(measure, G, chosen, sizes, rng)

    monkeypatch.setattr("streamtopics.dpp.sampling._draw_in_turn", watched)
    monkeypatch.setattr("streamtopics.dpp.sampling.MOST_NUMBERS", most)
    process = Process(Items.of(20), Kernel(np.eye(20), np.full(20, 1e9)), Counting(0.0))
    sets = sample(process, n_sets, np.random.default_rng(0))
    assert (sets.sizes == 20).all()
    assert max(entries) <= max(most, 20**2)  # One set has as many, however few there may be.
    assert len(entries) == n_chunks


def test_a_direction_close_to_the_span_of_others_ends_at_right_angles_to_them():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    span = np.stack([Q[:3], Q[:3]])
    x = rng.standard_normal((2, 3)) @ Q[:3] + 1e-10 * rng.standard_normal((2, 3)) @ Q[3:]
    found = _orthogonalize(x, span)
    assert_allclose(np.einsum("njk,nk->nj", span, found), 0, atol=1e-14)
    assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-14)


def test_two_to_the_five_hundred_sentences():
    rng = np.random.default_rng(0)
    measure = Bernoulli(rng.uniform(0.002, 0.02, 500))
    for gamma in (0.0, 0.002):
        process = Process(measure, Kernel(rng.standard_normal((500, 12)), np.ones(12), gamma),
                          Background(1.0))  # fmt: skip
        sets = sample(process, 400, rng)
        mean = expected_size(process)
        assert abs(sets.sizes.mean() - mean) < 4.5 * np.sqrt(mean / 400)
        assert set(np.unique(sets.points.data)) == {1.0}
        assert sets[0].shape == (sets.sizes[0], 500)


def test_no_sets_no_columns_and_no_noise():
    measure = Items.of(4)
    nothing = Process(measure, Kernel(np.zeros((4, 0)), np.zeros(0)), Counting(0.0))
    rng = np.random.default_rng(0)
    assert sample(nothing, 3, rng).sizes.tolist() == [0, 0, 0]
    assert sample(nothing, 3, rng, k=0).sizes.tolist() == [0, 0, 0]
    assert len(sample(nothing, 0, rng)) == 0
    zero = Process(Bernoulli([0.5, 0.5]), Kernel(np.ones((2, 2)), np.zeros(2)), Background(0.0))
    assert sample(zero, 2, rng).points.shape == (0, 2)


@pytest.mark.parametrize("name", ["bernoulli", "items", "weighted"])
@pytest.mark.parametrize("gamma", [0.0, 0.4])
@pytest.mark.parametrize("given", [[5], [6, 3]])
def test_conditioning_equals_the_dense_law(name, gamma, given, monkeypatch):
    case = cases.LISTED[name]
    process = cases.process(case, gamma, r=3, seed=1)
    law = reference.conditioned(reference.probabilities(cases.dense_of(case, process)), given)
    rest = condition(process, case.points[given])
    L = cases.dense_of(case, rest)
    assert_allclose(reference.probabilities(L), law, atol=1e-10)
    assert_allclose(L[given], 0, atol=1e-10)
    expected = marginals(rest, case.points)
    monkeypatch.setattr(Kernel, "root", None)  # Of V rows and columns.
    assert_allclose(marginals(process, case.points, case.points[given]), expected, atol=1e-12)


def test_conditioning_on_items_with_noise():
    case = cases.items()
    process = cases.process(case, 0.4, Counting(0.2))
    law = reference.conditioned(reference.probabilities(cases.dense_of(case, process)), [2, 7])
    rest = condition(process, np.array([2, 7]))
    sets = sample(rest, N_SETS, np.random.default_rng(9))
    cases.assert_law(cases.codes(sets, sets.points), law)
    others = np.array([0, 1, 3, 4, 5, 6])
    keep = np.array([[i in X for i in range(8)] for X in reference.subsets(8)])
    for found in np.diag(marginal_kernel(rest, others)), marginals(process, others, [2, 7]):
        assert_allclose(found, law @ keep[:, others], rtol=1e-9)
    assert not marginals(process, [2, 7], [2, 7]).any()


def test_conditioning_with_background():
    """P(X with Y) / P(Y) as densities: both sides by determinants."""
    case = cases.bernoulli()
    process = cases.process(case, 0.3, Background(0.5))
    rest, given = condition(process, case.points[[3, 6]]), case.points[[3, 6]]
    A, B = process.kernel.matrix, rest.kernel.matrix
    assert_allclose(marginals(process, given, given), marginals(rest, given), rtol=1e-9)

    def weight(A, X):
        return np.linalg.det(0.5 * np.eye(len(X)) + case.Phi[X] @ A @ case.Phi[X].T)

    for X in ([1], [3], [1, 7], [3, 6], [2, 2, 5]):
        assert_allclose(weight(B, X), weight(A, [3, 6, *X]) / weight(A, [3, 6]), rtol=1e-10)


def test_conditioning_on_points_of_very_different_length():
    """Nothing is impossible only because it is small beside another point."""
    kernel = Kernel(np.diag([1.0, 1e-12, 1.0]), np.ones(3))
    rest = condition(Process(Items.of(3), kernel, Counting(0.0)), np.array([0, 1]))
    assert_allclose(rest.kernel.matrix, np.diag([0, 0, 1.0]), atol=1e-15)
    weights = Items([1.0, 1e-25, 2.0])
    rest = condition(Process(weights, Kernel(np.ones((3, 1)), [1.0]), Counting(0.5)), np.arange(2))
    L = np.diag([0.5, 0.5, 0.5]) + np.sqrt(np.outer(weights.p, weights.p))
    schur = L[2, 2] - L[2, :2] @ np.linalg.solve(L[:2, :2], L[:2, 2])
    assert_allclose(2 * rest.kernel.matrix[2, 2] + 0.5, schur, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda p, X: condition(p, X[[3, 3]]), "2 given points have probability 0.*Give each"),
        (lambda p, X: condition(p, X[[0]]), "1 given points have probability 0"),
        (lambda p, X: condition(condition(p, X[[3]]), X[[3]]), "1 given points have"),
        (lambda p, X: condition(condition(ITEMS, [0]), [0]), "1 given points have probability 0"),
        (lambda p, X: condition(ITEMS, [2]), "1 given points have probability 0"),
        (lambda p, X: marginals(ITEMS, [0], [2]), "1 given points have probability 0"),
        (lambda p, X: PointSets(X, [0, 3]), "indptr must start with 0.*the 8 points"),
        (lambda p, X: PointSets(X, [0, 9, 8]), "indptr must start with 0"),
    ],
)
def test_wrong_input(call, match):
    case = cases.bernoulli()
    with pytest.raises(ValueError, match=match):
        call(cases.process(case), case.points)


def test_all_items_may_be_given():
    X = (np.random.default_rng(0).random((200, 4)) < 0.5).astype(float)
    for ground_set in ("items", Items.of(4)):
        model = LowRankDPP(ground_set, 2, random_state=0, max_iter=5).fit(X)
        assert all(one.nnz == 0 for one in model.sample(2, given=[0, 1, 2, 3], random_state=0))
