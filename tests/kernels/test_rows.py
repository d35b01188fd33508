# SPDX-License-Identifier: BSD-3-Clause
"""The row kernels against their NumPy equivalents."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics.kernels import rows
from tests.kernels.variants import freeze


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("n", "n_features"),
    [(1, 1), (1, 10**9), (7, 3), (500, 40), (500, 8000), (500, 8001), (500, 2**31 - 1), (3, 48)],
)
def test_used_columns(dtype, n, n_features):
    """From a few columns, each used often, to far more columns than indices."""
    rng = np.random.default_rng(n)
    for high in {1, min(n_features, 300), n_features}:
        indices = rng.integers(n_features - high, n_features, n).astype(dtype)
        words, places = rows.used_columns(indices, n_features)
        expected, inverse = np.unique(indices, return_inverse=True)
        assert_array_equal(words, expected)
        assert_array_equal(places, inverse)
        assert words.dtype == places.dtype == np.int32


@pytest.mark.parametrize("n_rows", [1, 3, 100])
@pytest.mark.parametrize("n", [0, 1, 9])
def test_locate(n_rows, n):
    rng = np.random.default_rng(n)
    places, words = np.zeros(30, np.int32), rng.integers(0, 30, n).astype(np.int32)
    places[::2] = rng.permutation(np.arange(1, 16))
    freeze(places, words)
    found = rows.locate(places, words, n_rows)
    assert found.dtype == np.int32
    assert_array_equal(found, np.where(places[words] < n_rows, places[words], 0))


@pytest.mark.parametrize("n_components", [1, 3, 16, 65])
@pytest.mark.parametrize("by_word", [True, False])
@pytest.mark.parametrize("by_topic", [True, False])
@pytest.mark.parametrize("n", [0, 1, 9])
def test_gather_rows(n_components, by_word, by_topic, n):
    rng = np.random.default_rng(n_components)
    S = rng.gamma(1.0, 5.0, (11, n_components))
    eta = rng.gamma(1.0, 1.0, (30 if by_word else 1, n_components if by_topic else 1))
    a, c = rng.uniform(0.1, 3.0, (2, n_components))
    words = np.sort(rng.choice(30, n, replace=False)).astype(np.int32)
    own = rng.integers(0, 11, n).astype(np.int32)
    freeze(S, own, eta, a, c, words)
    out = np.full((n, n_components), np.nan)
    rows.gather_rows(S, own, words, a, c, eta, out)
    expected = c * (eta[words] if by_word else eta) + a * S[own]
    assert_allclose(out, expected, rtol=1e-15)


def test_gathered_prior_is_exact_where_nothing_was_learnt():
    eta = np.array([[0.1], [1e-7], [3.3]])
    out, words, none = np.empty((3, 4)), np.arange(3, dtype=np.int32), np.zeros(3, np.int32)
    rows.gather_rows(np.zeros((1, 4)), none, words, np.full(4, 0.7), np.ones(4), eta, out)
    assert_array_equal(out, np.broadcast_to(eta, (3, 4)))


def add_rows(*arguments):
    """Write one change alone."""
    rows.write([arguments], [])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_components", [1, 3, 16, 65])
@pytest.mark.parametrize("n", [0, 1, 9])
def test_add_rows(dtype, n_components, n):
    rng = np.random.default_rng(n_components)
    S, places = rng.gamma(1.0, 5.0, (30, n_components)), np.zeros(50, np.int32)
    counts = rng.gamma(1.0, 2.0, (n, n_components)).astype(dtype)
    words = rng.choice(50, n, replace=False).astype(np.int32)
    own = rng.choice(np.arange(1, 30), n, replace=False).astype(np.int32)
    scale, mass, new_mass = rng.uniform(0.1, 3.0, (3, n_components))
    expected = S.copy()
    expected[own] += scale * counts.astype(np.float64)
    freeze(counts, words, own, scale, mass)
    before = S.copy()
    add_rows(S, places, words, own, counts, scale, np.ones(n_components), mass, new_mass)
    assert_allclose(new_mass, mass + scale * counts.sum(axis=0, dtype=np.float64), rtol=1e-12)
    assert_allclose(S, expected, rtol=1e-15)
    untouched = np.setdiff1d(np.arange(30), own)
    assert_array_equal(S[untouched], before[untouched])
    assert_array_equal(places[words], own)
    assert np.count_nonzero(places) == n


def test_add_rows_to_rows_that_hold_nothing_is_exact():
    S, places, new_mass = np.zeros((5, 2)), np.zeros(5, np.int32), np.empty(2)
    counts = np.array([[0.1, 1e-9], [7.0, 1e9]])
    words = np.array([4, 1], np.int32)
    add_rows(S, places, words, words, counts, np.ones(2), np.ones(2), np.zeros(2), new_mass)
    assert_array_equal(new_mass, counts.sum(axis=0))
    assert_array_equal(S[[4, 1]], counts)
    assert_array_equal(S[[0, 2, 3]], 0.0)


def add_rows_arguments(seed, dtype):
    """Arguments of add_rows, and what S and its sums are to be afterwards."""
    rng = np.random.default_rng(seed)
    V, K, n = 7 + seed, 2 + seed, 3
    places = np.zeros(2 * V, np.int32)
    S, counts = rng.gamma(1.0, 5.0, (V, K)), rng.gamma(1.0, 2.0, (n, K)).astype(dtype)
    words = np.sort(rng.choice(2 * V, n, replace=False)).astype(np.int32)
    own = 1 + rng.choice(V - 1, n, replace=False).astype(np.int32)
    scale, fold, mass = rng.uniform(0.1, 3.0, (3, K))
    wanted = S * fold
    wanted[own] += scale * counts
    sums = mass * fold + scale * counts.sum(axis=0, dtype=np.float64)
    return (S, places, words, own, counts, scale, fold, mass, np.zeros(K)), (wanted, sums)


@pytest.mark.parametrize("dtypes", [(), (np.float64,), (np.float32, np.float64, np.float32)])
def test_write(dtypes):
    calls = [add_rows_arguments(seed, dtype) for seed, dtype in enumerate(dtypes)]
    one, other = {"n": 0}, {}
    swaps = [(one, "n", 1), (other, "state", "new"), (one, "n", 2)]
    rows.write([arguments for arguments, _ in calls], swaps)
    for (S, places, words, own, *_, new_mass), (wanted, sums) in calls:
        assert_array_equal(places[words], own)
        assert_allclose(S, wanted, rtol=1e-14)
        assert_allclose(new_mass, sums, rtol=1e-14)
    assert (one, other) == ({"n": 2}, {"state": "new"})


def one_more(x):
    return np.append(x, 1.0)


def one_less(x):
    return x[:-1]


# The place of an argument of add_rows, and what makes it wrong.
WRONG = {
    "word": (2, lambda words: words + np.int32(100)), "words": (2, np.int64),
    "row": (3, lambda own: own + np.int32(100)), "row of all": (3, np.zeros_like),
    "rows": (3, one_less), "width": (4, lambda counts: counts[:, :-1].copy()),
    "length": (4, one_less), "dtype": (4, np.int64), "scale": (5, one_more),
    "short scale": (5, one_less), "fold": (6, one_less), "mass": (7, one_more),
    "short mass": (7, one_less), "new mass": (8, one_more),
}  # fmt: skip


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("wrong", WRONG)
def test_write_checks_all_before_it_writes(wrong, place):
    calls, swapped = [list(add_rows_arguments(seed, np.float64)[0]) for seed in range(3)], {}
    at, change = WRONG[wrong]
    calls[place][at] = change(calls[place][at])
    before = [[argument.copy() for argument in arguments] for arguments in calls]
    with pytest.raises((IndexError, TypeError, ValueError)):
        rows.write([tuple(arguments) for arguments in calls], [(swapped, "n", 1)])
    for arguments, old in zip(calls, before, strict=True):
        for argument, was in zip(arguments, old, strict=True):
            assert_array_equal(argument, was)
    assert swapped == {}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n_components", "width"), [(1, 1), (1, 16), (3, 16), (16, 16), (65, 80)])
@pytest.mark.parametrize("n", [0, 1, 9])
def test_scale_rows(dtype, n_components, width, n):
    rng = np.random.default_rng(n_components)
    x = rng.gamma(0.2, 5.0, (n, n_components)) + 1e-30
    scale = rng.uniform(1e-3, 3.0, n_components)
    freeze(x, scale)
    out = np.full((n, width), np.nan, dtype)
    rows.scale_rows(x, scale, out)
    y = x * scale
    expected = y / y.max(axis=1, keepdims=True) if n else y
    assert_allclose(out[:, :n_components], expected, rtol=4 * np.finfo(dtype).eps)
    assert_array_equal(out[:, n_components:], 0.0)
    if n:
        assert_allclose(out.max(axis=1), 1.0, rtol=2 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("factor", [1e-290, 1e-40, 1e40, 1e290])
def test_scale_rows_survives_any_scale(dtype, factor):
    """Weights that single precision does not hold are relative when it gets them."""
    out = np.empty((2, 3), dtype)
    x = np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 0.75]])
    rows.scale_rows(factor * x, np.array([1.0, 1.0, 0.5]), out)
    assert_allclose(out, [[0.5, 1.0, 1.0], [1.0, 1.0, 0.125]], rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("word", [-1, 5, 2**30])
def test_words_outside_of_the_vocabulary_are_refused(word):
    words, ones = np.array([0, word], np.int32), np.ones(2)
    with pytest.raises(IndexError, match=f"word {word} is outside"):
        rows.locate(np.zeros(5, np.int32), words, 1)
    given = words, ones, ones, np.ones((5, 1)), np.empty((2, 2))
    with pytest.raises(IndexError, match=f"word {word} is outside"):
        rows.gather_rows(np.ones((5, 2)), np.zeros(2, np.int32), *given)
    with pytest.raises(IndexError, match=f"row {word} is outside"):
        rows.gather_rows(np.ones((5, 2)), words, *given)


def moments(S, exponent):
    """The twin of count_in_bins, over all rows of S."""
    v = S * 2.0**-exponent
    m, e = np.frexp(v)
    m, e = 2 * m, e - 1
    upper = m >= 1.5
    above = v >= 1
    bins = np.where(above, np.minimum(1 + 2 * e + upper, rows.N_BINS - 1), 0)
    x = np.where(above, 4 * (m - 1.25 - 0.5 * upper), 2 * v - 1)
    values = np.rint(2.0**36 * np.polynomial.chebyshev.chebvander(x, rows.N_MOMENTS - 1))
    sums = np.zeros((rows.N_BINS, S.shape[1], rows.N_MOMENTS), np.int64)
    np.add.at(sums, (bins, np.broadcast_to(np.arange(S.shape[1]), S.shape)), values.astype(int))
    return sums


@pytest.mark.parametrize("n_components", [1, 3, 16])
@pytest.mark.parametrize("exponent", [-16, 0, 32])
def test_count_in_bins(n_components, exponent):
    rng = np.random.default_rng(n_components)
    S = 2.0**exponent * 10.0 ** rng.uniform(-5, 18, (200, n_components))
    S[::7] = 0.0
    S[1::7] = 2.0**exponent * rng.choice([1.0, 1.5, 2.0, 3.0], S[1::7].shape)
    sums = np.zeros((rows.N_BINS, n_components, rows.N_MOMENTS), np.int64)
    rows.count_in_bins(S, np.arange(200, dtype=np.int32), exponent, sums)
    expected = moments(S, exponent)
    assert_array_equal(sums[..., 0], expected[..., 0])
    assert np.abs(sums - expected).max() <= 200


@pytest.mark.parametrize("known", [True, False])
def test_add_rows_keeps_the_bins(known):
    arguments, _ = add_rows_arguments(3, np.float32)
    S, places, words, own, counts, scale, _, mass, new_mass = arguments
    first, fold = (places, words, own, counts, scale), np.ones(len(scale))
    wanted = S.copy()
    wanted[own] += scale * counts
    all_rows = np.arange(len(S), dtype=np.int32)
    before, after = np.zeros((2, rows.N_BINS, S.shape[1], rows.N_MOMENTS), np.int64)
    rows.count_in_bins(S, all_rows, -16, before)
    rows.count_in_bins(wanted, all_rows, -16, after)
    of_words = np.zeros_like(before)
    rows.count_in_bins(S, own, -16, of_words)
    kept = before, -16, of_words if known else None
    add_rows(S, *first, fold, mass, new_mass, *kept)
    assert_array_equal(before, after)
    with pytest.raises(ValueError, match="fold"):
        add_rows(S, *first, np.full(S.shape[1], 0.5), mass, new_mass, before, -16, None)
    with pytest.raises(ValueError, match="N_BINS"):
        add_rows(S, *first, fold, mass, new_mass, before[1:].copy(), -16, None)
    assert_array_equal(before, after)


def csr(dtype, n=7, n_columns=5):
    A = sparse.random_array((n, n_columns), density=0.4, random_state=0, format="csr", dtype=dtype)
    A.indptr, A.indices = A.indptr.astype(np.int32), A.indices.astype(np.int32)
    return A


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_are_those_of_scipy_to_the_bit(dtype):
    A, rng = csr(dtype), np.random.default_rng(0)
    x, out = rng.normal(size=(5, 3)).astype(dtype), np.full((4, 3), np.nan, dtype)
    rows.multiply(A.indptr, A.indices, A.data, x, 2, 6, out)
    assert_array_equal(out, (A @ x)[2:6])
    with pytest.raises(ValueError, match="do not agree"):
        rows.multiply(A.indptr, A.indices, A.data, x, 5, 9, out)
    with pytest.raises(ValueError, match="CSR"):
        rows.multiply(A.indptr, A.indices, A.data, x[:2].copy(), 2, 6, out)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_entries_by_column(dtype):
    A = csr(np.float64)
    A.data = np.arange(A.nnz).astype(dtype)
    starts, row_of = np.full(6, -1, np.int32), np.empty(A.nnz, np.int32)
    values = np.empty(A.nnz, dtype)
    rows.by_column(A.indptr, A.indices, A.data, starts, row_of, values)
    expected = A.tocsc()
    assert_array_equal(starts, expected.indptr)
    assert_array_equal(row_of, expected.indices)
    assert_array_equal(values, expected.data)
    with pytest.raises(ValueError, match="CSR"):
        rows.by_column(A.indptr, A.indices, A.data, starts[:3].copy(), row_of, values)
    with pytest.raises(ValueError, match="do not agree"):
        rows.by_column(A.indptr, A.indices, A.data, starts, row_of[1:].copy(), values)
