# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of sentiments and aspects against its NumPy twin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics.kernels import asum
from tests.reference import asum as reference

METHODS = {False: reference.em, True: reference.frank_wolfe}


def documents(rng, lengths, n_words=12, n_topics=6, dtype=np.float64):
    """Sentences of documents, some of them empty, and log beta."""
    counts = rng.poisson(0.5, (sum(lengths), n_words)).astype(dtype)
    counts[::4] = 0
    log_beta = np.log(rng.dirichlet(np.full(n_topics, 0.3), n_words) + 1e-12)
    return counts, log_beta, np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)


def infer(counts, log_beta, starts, E, *, gamma=1.0, alpha=1.0, fw=False, tol=0.0, max_iter=5):
    X = sparse.csr_matrix(counts)
    for x in (X.data, X.indices, X.indptr, log_beta, starts):
        x.setflags(write=False)
    n, K = len(starts) - 1, log_beta.shape[1]
    out = np.empty((n, K)), np.empty((len(counts), K)), np.empty(n), np.empty(n, np.int32)
    asum.infer_documents(
        X.indptr, X.indices, X.data, log_beta, starts, E, gamma, alpha, fw, tol, max_iter, *out
    )
    return out


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("frank_wolfe", [False, True])
@pytest.mark.parametrize(("gamma", "alpha"), [(1.0, 1.0), (1.5, 1.0), (1.0, 2.0), (3.0, 1.2)])
@pytest.mark.parametrize("n_iter", [0, 1, 4, 30])
def test_the_kernel_is_its_twin(n_iter, gamma, alpha, frank_wolfe, dtype):
    rng = np.random.default_rng(n_iter)
    counts, log_beta, starts = documents(rng, [3, 1, 0, 7, 4], dtype=dtype)
    for E in (1, 2, 3, 6):
        psi, r, objective, n = infer(
            counts, log_beta, starts, E, gamma=gamma, alpha=alpha, fw=frank_wolfe, max_iter=n_iter
        )
        for d in range(len(starts) - 1):
            own = slice(starts[d], starts[d + 1])
            with_words = counts[own].sum(axis=1) > 0
            b = reference.log_likelihoods(counts[own], log_beta, E)
            if not len(b):
                assert_allclose(psi[d], 1 / 6)
                assert n[d] == 0
            else:
                # A document may stop sooner where nothing moves any more.
                pi, theta = METHODS[frank_wolfe](b, n_iter, gamma, alpha)
                assert_allclose(psi[d].reshape(E, -1), pi[:, None] * theta, atol=1e-12)
                expected = reference.responsibility(pi, theta, b).reshape(len(b), -1)
                assert_allclose(r[own][with_words], expected, atol=1e-12)
                value = reference.objective(pi, theta, b, gamma, alpha)
                assert_allclose(objective[d], value, rtol=1e-10)
            assert_array_equal(r[own][~with_words], np.tile(psi[d], ((~with_words).sum(), 1)))


@pytest.mark.parametrize(("gamma", "alpha"), [(1.0, 1.0), (2.5, 1.3)])
def test_gradients_against_finite_differences(gamma, alpha):
    rng = np.random.default_rng(0)
    counts, log_beta, _ = documents(rng, [8])
    b = reference.log_likelihoods(counts, log_beta, 2)
    pi, theta = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(3), 2)
    of_pi, of_theta = reference.gradients(pi, theta, b, gamma, alpha)
    h = 1e-6

    def slope(i):
        """In the i-th of all variables."""
        step = h * np.eye(8)[i]
        ends = [
            reference.objective(pi + s * step[:2], theta + s * step[2:].reshape(2, 3), b,
                                gamma, alpha)
            for s in (1, -1)
        ]  # fmt: skip
        return (ends[0] - ends[1]) / (2 * h)

    slopes = [slope(i) for i in range(8)]
    assert_allclose(slopes, np.concatenate([of_pi, of_theta.ravel()]), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("gamma", "alpha"), [(1.0, 1.0), (2.0, 1.5)])
def test_em_never_goes_down_and_stays_above_frank_wolfe(gamma, alpha):
    counts, log_beta, starts = documents(np.random.default_rng(1), [5] * 40)
    priors = {"gamma": gamma, "alpha": alpha}

    def objectives(fw, n_iter):
        return infer(counts, log_beta, starts, 2, fw=fw, max_iter=n_iter, **priors)[2]

    path = np.array([objectives(False, n) for n in range(0, 60, 3)])
    assert (np.diff(path, axis=0) > -1e-10).all()
    assert (path[-1] > path[0] + 0.1).mean() > 0.9
    best = objectives(False, 5000)
    for n in (10, 20, 100):
        gaps = [best - objectives(fw, n) for fw in (False, True)]
        assert gaps[0].mean() < 0.5 * gaps[1].mean()
    assert (best >= objectives(True, 3000) - 1e-3).all()


def test_the_maximum_does_not_depend_on_the_factors():
    """With flat priors it is that of a concave function of psi: no slope at the end is above M."""
    counts, log_beta, starts = documents(np.random.default_rng(2), [6] * 10)
    psi, *_ = infer(counts, log_beta, starts, 2, max_iter=20000)
    for d, own in enumerate(counts.reshape(10, 6, -1)):
        b = reference.log_likelihoods(own, log_beta, 1)[:, 0]
        slopes = np.exp(b - np.log(np.exp(b) @ psi[d])[:, None]).sum(axis=0)
        assert (slopes <= len(b) * (1 + 1e-3)).all()
        assert_allclose(slopes[psi[d] > 1e-3], len(b), rtol=1e-3)


@pytest.mark.parametrize(("fw", "E"), [(False, 2), (True, 1), (True, 6)])
@pytest.mark.parametrize("tol", [1e-1, 2e-2])
def test_a_document_stops_when_less_than_tol_of_it_moves(tol, fw, E):
    """Frank-Wolfe where only theta, or only pi, can move: else it moves them in turn."""
    counts, log_beta, starts = documents(np.random.default_rng(4), [6] * 20)
    n = infer(counts, log_beta, starts, E, fw=fw, tol=tol, max_iter=200)[3]
    psi = np.array([infer(counts, log_beta, starts, E, fw=fw, max_iter=k)[0] for k in range(201)])
    moved = 0.5 * abs(np.diff(psi, axis=0)).sum(axis=2)
    assert (moved < tol).any(axis=0).all()
    assert_array_equal(n, (moved < tol).argmax(axis=0) + 1)


def test_zeros_that_are_stored_are_no_words():
    log_beta = np.log(np.random.default_rng(6).dirichlet(np.ones(4), 3))
    stored = np.array([0.0, 1.0, 0.0, 2.0])
    indptr, indices = np.array([0, 1, 4], np.int32), np.array([1, 0, 1, 2], np.int32)
    out = np.empty((1, 4)), np.empty((2, 4)), np.empty(1), np.empty(1, np.int32)
    asum.infer_documents(
        indptr, indices, stored, log_beta, np.array([0, 2], np.intp), 2, 1.0, 1.0, False, 0.0, 5,
        *out,
    )  # fmt: skip
    expected = infer(np.array([[0.0, 0, 0], [1, 0, 2]]), log_beta, np.array([0, 2], np.intp), 2)
    for found, other in zip(out, expected, strict=True):
        assert_array_equal(found, other)


@pytest.mark.parametrize("far", [1.0, 20.0, 40.0, 80.0, 500.0])
def test_proportions_sum_to_1_however_improbable_a_sentiment_is(far):
    """One sentence, of the first sentiment but for exp(-far), and a flat prior of the aspects."""
    log_beta = np.array([[0.0, -1.0, -far, -far - 2.0]])
    psi, r, *_ = infer(np.ones((1, 1)), log_beta, np.array([0, 1], np.intp), 2, gamma=3.0)
    assert_allclose(psi.sum(), 1.0)
    assert_allclose(psi[0, 2:].sum(), (r[0, 2:].sum() + 2) / 5, rtol=1e-2)
    assert_allclose(psi[0, 3] / psi[0, 2], np.exp(-2 * 5), rtol=1e-6)
