# SPDX-License-Identifier: BSD-3-Clause
"""Documents made of sentences are read in both forms, and mistakes are named."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from streamtopics import WASTopicModel
from streamtopics.base.sentences import read_sentences
from streamtopics.text import NamedCounts

ROWS = np.array([[1, 0, 2], [0, 1, 0], [0, 0, 0], [3, 1, 1]], float)
DOCUMENTS = [ROWS[:1], ROWS[1:1], ROWS[1:4]]

CONTAINERS = {
    "lists": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "int64": lambda X: X.astype(np.int64),
    "bool and counts": lambda X: X.astype(bool) if X.max(initial=0) == 1 else X,
    "Fortran order": np.asfortranarray,
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csc_array,
    "coo_matrix": sparse.coo_matrix,
    "lil_matrix": sparse.lil_matrix,
    "DataFrame": pd.DataFrame,
}


def each(containers):
    return pytest.mark.parametrize("make", containers.values(), ids=containers)


def long_indices(X):
    X = sparse.csr_matrix(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def unsorted_duplicates(X):
    """CSR with each entry in two halves, columns backwards."""
    data, indices, indptr = [], [], [0]
    for row in np.asarray(X):
        columns = np.flatnonzero(row)[::-1]
        indices += [*columns, *columns]
        data += [*row[columns] / 2] * 2
        indptr.append(len(data))
    return sparse.csr_matrix((data, np.array(indices, int), indptr), shape=np.shape(X))


FORMS = CONTAINERS | {"int64 indices": long_indices, "unsorted duplicates": unsorted_duplicates}


@each(FORMS)
def test_one_matrix_for_each_document(make):
    read = read_sentences([make(X) for X in DOCUMENTS])
    assert_array_equal(read.counts.toarray(), ROWS)
    assert_array_equal(read.starts, [0, 1, 1, 4])
    assert_array_equal(read.documents, [0, 2, 2, 2])
    assert (read.n_documents, read.n_words) == (3, 3)
    assert read.rows is None
    assert isinstance(read.counts, sparse.csr_matrix)
    assert read.counts.has_canonical_format


def test_documents_of_different_kinds():
    documents = [sparse.csc_matrix(ROWS[:1]), pd.DataFrame(ROWS[1:2]), ROWS[2:].tolist(), []]
    read = read_sentences(documents)
    assert_array_equal(read.counts.toarray(), ROWS)
    assert_array_equal(read.starts, [0, 1, 2, 4, 4])


def test_an_array_of_three_axes_is_a_sequence():
    read = read_sentences(np.stack([ROWS, ROWS]))
    assert_array_equal(read.starts, [0, 4, 8])


@pytest.mark.parametrize("documents", [[], [[]], [[], []], np.empty(0, object)], ids=repr)
def test_no_sentences_at_all(documents):
    read = read_sentences(documents, n_words=5)
    assert read.counts.shape == (0, 5)
    assert_array_equal(read.starts, np.zeros(len(documents) + 1))
    with pytest.raises(ValueError, match=r"0 feature"):
        read_sentences(documents)


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (["f4", "f4", "f4"], np.float32),
        (["i8", "f4", "u1"], np.float32),
        (["f4", "i8", "f8"], np.float64),
    ],
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_float64_stays(dtypes, expected, container):
    documents = [container(X.astype(t)) for X, t in zip(DOCUMENTS, dtypes, strict=True)]
    assert read_sentences(documents).counts.dtype == expected


FRAMES = {
    "pandas": lambda rows: pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(rows)),
    "polars": lambda rows: pytest.importorskip("polars").DataFrame(rows, schema=[*"abc"]),
}
each_frame = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


@each_frame
def test_float64_stays_in_data_frames(frame):
    """Whose types of numbers NumPy does not know; integers are exact beyond those of float32."""
    rows = ROWS * 16_777_217
    grouped = read_sentences(frame(rows), [0, 0, 1, 1])
    for read in (grouped, read_sentences([frame(rows[:2]), frame(rows[2:])])):
        assert read.counts.dtype == np.float64
        assert_array_equal(read.counts.toarray(), rows)
    assert read_sentences([frame(ROWS.astype(np.float32))]).counts.dtype == np.float32


@each_frame
def test_a_fraction_in_a_data_frame_is_no_whole_number(frame):
    """In float32 it would be one."""
    with pytest.raises(ValueError, match="whole"):
        WASTopicModel(n_sweeps=2, n_burn_in=1).fit([frame(ROWS * (1 + 1e-9))])


@each(FORMS)
@pytest.mark.parametrize("labels", [[0, 0, 7, 7], list("bbaa"), [(1, 2), (1, 2), (0,), (0,)]])
def test_one_matrix_with_groups(make, labels):
    read = read_sentences(make(ROWS), labels)
    assert_array_equal(read.counts.toarray(), ROWS)
    assert_array_equal(read.starts, [0, 2, 4])
    assert read.rows is None


@pytest.mark.parametrize("groups", [list("baab"), np.array(list("baab")), pd.Series(list("baab"))])
def test_documents_are_in_the_order_of_their_first_rows(groups):
    read = read_sentences(ROWS, groups)
    assert_array_equal(read.counts.toarray(), ROWS[[0, 3, 1, 2]])
    assert_array_equal(read.starts, [0, 2, 4])
    assert_array_equal(read.rows, [0, 3, 1, 2])


def test_results_come_back_in_the_order_of_the_rows():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, (200, 6)).astype(float)
    read = read_sentences(X, rng.integers(0, 20, 200))
    assert_array_equal(read.as_passed(read.counts.toarray()), X)
    assert_array_equal(read.as_passed(read.counts.sum(axis=1).A1), X.sum(axis=1))
    in_order = read_sentences(X, np.arange(200) // 9)
    assert_array_equal(in_order.as_passed(in_order.counts.toarray()), X)


def test_a_column_of_a_data_frame_whose_index_is_not_in_order():
    frame = pd.DataFrame(ROWS, index=[3, 0, 1, 2])
    frame["review"] = ["x", "y", "x", "y"]
    read = read_sentences(frame[[0, 1, 2]], frame["review"])
    assert_array_equal(read.rows, [0, 2, 1, 3])


@pytest.mark.parametrize("form", ["grouped", "listed"])
def test_what_is_passed_is_left_alone(form):
    X = unsorted_duplicates(ROWS)
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    before = X.data.copy(), X.indices.copy(), X.indptr.copy()
    read = read_sentences(X, [1, 0, 1, 0]) if form == "grouped" else read_sentences([X])
    assert read.counts.nnz == np.count_nonzero(ROWS)
    for array, old in zip((X.data, X.indices, X.indptr), before, strict=True):
        assert_array_equal(array, old)


NAMED = [
    lambda rows, names: NamedCounts.of(rows, [*names]),
    lambda rows, names: pd.DataFrame(rows, columns=[*names]),
    lambda rows, names: pytest.importorskip("pyarrow").table(dict(zip(names, rows.T, strict=True))),
]


@pytest.mark.parametrize("first", NAMED)
@pytest.mark.parametrize("other", NAMED)
def test_names_of_all_documents_are_compared(first, other):
    documents = [ROWS, first(ROWS, "abc"), other(ROWS, "abc"), pd.DataFrame(ROWS).to_numpy()]
    assert read_sentences(documents).n_documents == 4
    for strange in (other(ROWS[:, ::-1], "cba"), other(ROWS, "xyz")):
        with pytest.raises(ValueError, match=r"X\[4\].*columns with other names"):
            read_sentences([*documents, strange])
