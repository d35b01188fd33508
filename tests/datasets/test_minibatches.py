# SPDX-License-Identifier: BSD-3-Clause
"""Minibatches from each kind of source, and how little is read."""

from collections.abc import Iterator
from itertools import count

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics.datasets import iter_minibatches, read_texts

TEXTS = ["one text", "a second", "thé third", "number four", "the last"]


@pytest.mark.parametrize("kind", [list, tuple, iter, np.array, pd.Series])
def test_iterables_of_texts(kind):
    assert list(iter_minibatches(kind(TEXTS), 2)) == [TEXTS[:2], TEXTS[2:4], TEXTS[4:]]
    assert list(read_texts(kind(TEXTS))) == TEXTS


@pytest.mark.parametrize(
    "kind", [np.asarray, sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix, pd.DataFrame]
)
def test_matrices(kind):
    X = np.arange(10).reshape(5, 2)
    batches = list(iter_minibatches(kind(X), 2))
    assert [batch.shape for batch in batches] == [(2, 2), (2, 2), (1, 2)]
    dense = [b.toarray() if sparse.issparse(b) else np.asarray(b) for b in batches]
    np.testing.assert_array_equal(np.vstack(dense), X)


def test_rows_of_a_data_frame_are_taken_by_position():
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=[2.0, 1.0, 0.0])
    first, second = iter_minibatches(frame, 2)
    assert first["a"].tolist() == [1, 2]
    assert second["a"].tolist() == [3]


def test_files(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"text": "one"}\n')
    assert list(iter_minibatches(path, 1)) == [["one"]]


def test_a_vectorizer_makes_counts():
    vectorizer = CountVectorizer().fit(TEXTS)
    batches = list(iter_minibatches(TEXTS, 2, vectorizer=vectorizer))
    assert [batch.shape[0] for batch in batches] == [2, 2, 1]
    stacked = sparse.vstack(batches).toarray()
    np.testing.assert_array_equal(stacked, vectorizer.transform(TEXTS).toarray())


@pytest.mark.parametrize("source", [[], iter([]), np.empty((0, 3))])
def test_no_documents_no_minibatches(source):
    assert list(iter_minibatches(source)) == []


def test_a_stream_may_be_endless():
    numbers = count()
    batches = iter_minibatches((f"text {i}" for i in numbers), 3)
    assert isinstance(batches, Iterator)
    assert next(numbers) == 0
    assert next(batches) == ["text 1", "text 2", "text 3"]
    assert next(numbers) == 4
