# SPDX-License-Identifier: BSD-3-Clause
"""The kernels of every minibatch against their NumPy equivalents."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from streamtopics.kernels import minibatch as kernel
from streamtopics.local.step import mix

LEAST, MOST = 1e-30, 1e15


def is_clean(X, n_columns):
    """NumPy twin of the kernel."""
    indptr, indices, data = X.indptr, X.indices, X.data
    if indptr[0] != 0 or not indptr[-1] == len(indices) == len(data):
        return False
    if np.any(np.diff(indptr) < 0):
        return False
    rises = np.diff(indices, prepend=-1) > 0
    rises[indptr[:-1][np.diff(indptr) > 0]] = True
    within = (indices >= 0) & (indices < n_columns)
    return bool(np.all(rises) and np.all(within) and np.all((data >= LEAST) & (data <= MOST)))


def a_matrix(seed, dtype=np.float32, index=np.int32):
    """Counts with empty rows, of indices in order."""
    rng = np.random.default_rng(seed)
    X = sparse.csr_matrix(rng.poisson(0.3, (12, 9)) * (rng.random((12, 1)) < 0.7), dtype=dtype)
    X.indptr, X.indices = X.indptr.astype(index), X.indices.astype(index)
    return X


def found(X, n_columns=9):
    return kernel.is_clean(X.indptr, X.indices, X.data, n_columns, LEAST, MOST)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("seed", range(3))
def test_a_matrix_in_order_is_clean_until_anything_is_wrong(dtype, index, seed):
    X = a_matrix(seed, dtype, index)
    assert found(X)
    assert is_clean(X, 9)
    assert not found(X, int(X.indices.max()))
    rng = np.random.default_rng(seed)
    verdicts = set()
    for _ in range(300):
        Y = X.copy()
        part = rng.choice(["indptr", "indices", "data"])
        array = getattr(Y, part)
        values = [-1, 0, 1, 8, 9] if part != "data" else [np.nan, np.inf, 0.0, -1.0, 2.0, 1e16]
        array[rng.integers(len(array))] = rng.choice(values)
        assert found(Y) == is_clean(Y, 9)
        verdicts.add(found(Y))
    assert verdicts == {True, False}


def test_rows_out_of_order_and_columns_twice_are_not_clean():
    data, ends = np.ones(2, np.float32), np.array([0, 2], np.int32)
    for columns, clean in (([3, 5], True), ([5, 3], False), ([3, 3], False)):
        X = np.array(columns, np.int32)
        assert kernel.is_clean(ends, X, data, 9, LEAST, MOST) == clean
    # The next row may begin before the last one ended.
    assert kernel.is_clean(np.array([0, 1, 2], np.int32), np.array([5, 3], np.int32), data, 9, 0, 1)


def test_ends_that_lead_out_of_the_arrays_are_not_followed():
    data, columns = np.ones(3, np.float32), np.arange(3, dtype=np.int32)
    for ends in ([0, 10**6, 3], [0, -(10**6), 3], [1, 2, 3], [0, 2, 2], [0, 2, 4], []):
        assert not kernel.is_clean(np.array(ends, np.int32), columns, data, 9, LEAST, MOST)
    assert not kernel.is_clean(np.array([0, 3], np.int32), columns, data[:2], 9, LEAST, MOST)


def test_distinct_columns_are_those_of_numpy():
    for dtype in [np.int32, np.int64]:
        for n in [0, 1, 2, 3, 17, 1000, 5000]:
            for highest in [1, 3, 255, 256, 65_536, 2**31 - 1]:
                columns = np.random.default_rng(n).integers(0, highest, n).astype(dtype)
                before = columns.copy()
                words, places = kernel.distinct(columns)
                expected, inverse = np.unique(columns, return_inverse=True)
                assert_array_equal(words, expected)
                assert_array_equal(places, inverse)
                assert words.dtype == places.dtype == np.int32
                assert_array_equal(columns, before)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 7, 20])
def test_scaled_counts_are_added(dtype, n):
    rng = np.random.default_rng(n)
    total, scale = rng.random((20, 5)), rng.random(5)
    counts, places = rng.random((n, 5)).astype(dtype), rng.permutation(20)[:n].astype(np.int32)
    expected = total.copy()
    expected[places] += scale * counts
    kernel.add_scaled(total, places, scale, counts)
    assert_array_equal(total, expected)


def test_places_and_shapes_that_do_not_fit_are_refused_before_anything_is_added():
    total, counts = np.zeros((4, 2)), np.ones((3, 2))
    places = np.array([0, 1, 3], np.int32)
    for place in (-1, 4):
        wrong = np.array([0, 1, place], np.int32)
        with pytest.raises(IndexError, match=f"no row {place}"):
            kernel.add_scaled(total, wrong, np.ones(2), counts)
    for scale, given in ((np.ones(3), counts), (np.ones(2), counts[:2]), (np.ones(2), counts.T)):
        with pytest.raises(ValueError, match="shapes"):
            kernel.add_scaled(total, places, scale, np.ascontiguousarray(given))
    assert not total.any()


@pytest.mark.parametrize(("seed", "first", "n"), [(0, 0, 5), (7, 2**40, 9), (2**31 - 2, 3, 0)])
def test_seeds_of_documents_are_mixed_from_seed_and_place(seed, first, n):
    places = np.arange(first, first + n, dtype=np.uint64)
    expected = mix(places ^ mix(np.array([seed], np.uint64)))
    assert_array_equal(kernel.document_seeds(seed, first, n), expected)
    assert kernel.document_seeds(seed, first, n).dtype == np.uint64
