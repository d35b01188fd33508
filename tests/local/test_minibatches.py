# SPDX-License-Identifier: BSD-3-Clause
"""Parts of minibatches, and settings of what reads them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from streamtopics.local.step import equal_parts, minibatch_of, part
from streamtopics.messages import Minibatch


def minibatch_of_lengths(lengths):
    """Documents with so many entries."""
    n = int(np.sum(lengths))
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return Minibatch(np.zeros(1, np.int32), indptr, np.zeros(n, np.int32), np.ones(n, np.float32))


@pytest.mark.parametrize(
    "lengths",
    [[], [0], [0, 0, 0], [5000], [0, 5000, 0], [1] * 700, [3000, *[0] * 5, *[10] * 90], [40] * 500],
)
@pytest.mark.parametrize("least", [1, 100, 10**6])
def test_parts_are_of_all_documents_in_order(lengths, least):
    parts = equal_parts(minibatch_of_lengths(lengths), least)
    assert parts[0][0] == 0
    assert parts[-1][1] == len(lengths)
    assert all(before[1] == after[0] for before, after in pairwise(parts))
    assert len(parts) <= 32
    assert len(parts) == 1 or all(start < stop for start, stop in parts)


def test_parts_have_about_as_many_entries_however_long_documents_are():
    lengths = np.random.default_rng(0).geometric(0.02, 400)
    parts = equal_parts(minibatch_of_lengths(lengths), 1000)
    entries = np.array([lengths[start:stop].sum() for start, stop in parts])
    assert len(parts) == round(lengths.sum() / 1000)
    assert np.abs(entries - lengths.sum() / len(parts)).max() <= lengths.max()
    assert equal_parts(minibatch_of_lengths(lengths), 10**6) == [(0, 400)]


def test_a_part_has_the_hints_of_its_documents():
    hints = sparse.csr_matrix(np.arange(8.0).reshape(4, 2))
    whole = replace(minibatch_of_lengths([1, 2, 0, 3]), hints=hints)
    some, _ = part(whole, 1, 3)
    np.testing.assert_array_equal(some.hints.toarray(), [[2, 3], [4, 5]])
    assert part(minibatch_of_lengths([1, 2]), 0, 1)[0].hints is None


def test_more_entries_than_32_bits_number_are_refused():
    """Pointers of 64 bits would have gone round, and other documents been learnt."""
    X = sparse.csr_matrix(np.eye(3))
    X.indptr = np.array([0, 1, 2, 2**31])
    with pytest.raises(ValueError, match=r"a minibatch of X has 2,147,483,648 .*batch_size"):
        minibatch_of(X)
