# SPDX-License-Identifier: BSD-3-Clause
"""Frames of libraries other than pandas."""

import numpy as np
import pytest

from streamtopics import GibbsOnlineEM
from streamtopics.datasets import make_lda_corpus
from streamtopics.inspection import document_frame, documents_of, to_frame
from streamtopics.metrics import completion_split

# They set variables of the environment when they are imported.
pytest.importorskip("narwhals")
polars = pytest.importorskip("polars")


def test_frames_of_polars():
    X = make_lda_corpus(n_documents=300, n_features=100, random_state=0).X
    model = GibbsOnlineEM(5, random_state=0).fit(X)
    frame = document_frame(model, X, n_topics=2, backend="polars")
    assert isinstance(frame, polars.DataFrame)
    assert frame.rows() == list(document_frame(model, X, n_topics=2).itertuples(False, None))
    rows = documents_of(model, X)
    assert to_frame(rows, backend="polars").rows() == [tuple(row) for row in rows]


@pytest.mark.parametrize("door", [completion_split, GibbsOnlineEM(5).fit])
def test_lazy_frames_are_refused_by_name(door):
    with pytest.raises(TypeError, match=r"is a lazy frame; pass X.collect\(\)"):
        door(polars.LazyFrame(np.ones((3, 4))))
