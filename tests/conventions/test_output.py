# SPDX-License-Identifier: BSD-3-Clause
"""Data frames as output: rows are the documents that they were, and results stay arrays."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

import streamtopics as st
from streamtopics.text import NamedVectorizer, SentenceVectorizer, StreamingCountVectorizer
from tests.conventions.every import EVERY

TEXTS = ["a ship at sea. the sea", "a plane. the sky and a plane"] * 10
FRAME = pd.DataFrame({"text": TEXTS, "place": np.arange(20.0), "kind": ["sea", "sky"] * 10})
SHUFFLED = FRAME.sample(frac=1.0, random_state=0)
WAS = st.WASTopicModel(2, n_sweeps=5, n_burn_in=2, n_local_sweeps=2, random_state=0)
STREAM = StreamingCountVectorizer()
PIPELINES = {
    "named": (NamedVectorizer(), st.SVBLDA(2, random_state=0)),
    "named by itself": (NamedVectorizer(STREAM), st.StreamingLDA(2, random_state=0)),
    "stream": (STREAM, st.SVBLDA(2, random_state=0)),
    "classes": (NamedVectorizer(CountVectorizer()), st.MultiViewLDA(2, random_state=0)),
    "ratings": (NamedVectorizer(), st.SupervisedLDA(2, random_state=0)),
    "sentences": (SentenceVectorizer(), WAS),
    "sentiments": (SentenceVectorizer(), st.AspectSentimentModel(1, random_state=0)),
    "sets": (SentenceVectorizer(), st.LowRankDPP(n_components=2, max_iter=1, random_state=0)),
}


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("rows", [slice(None), slice(4, 16)], ids=["all", "a fold"])
@pytest.mark.filterwarnings("ignore")
def test_rows_are_joined_to_those_of_their_documents(name, rows):
    table = SHUFFLED.iloc[rows]
    topics = make_pipeline(*deepcopy(PIPELINES[name]))
    parts = [("topics", topics, "text"), ("place", "passthrough", ["place"])]
    y = table["place"] if name == "ratings" else table["kind"]
    expected = ColumnTransformer(parts).fit(table, y)
    framed = ColumnTransformer(parts).set_output(transform="pandas").fit(table, y)
    for found in (framed.transform(table), framed.fit_transform(table, y)):
        assert_array_equal(found.index, table.index)
        assert_array_equal(found.to_numpy(), expected.transform(table))
    assert_array_equal(found["place__place"], table["place"])


@pytest.mark.parametrize("name", ["WASTopicModel", "AspectSentimentModel", "LowRankDPP"])
def test_rows_of_documents_have_the_labels_of_their_first_rows(name):
    case = EVERY[name]
    lengths = [X.shape[0] for X in case.X]
    rows = np.vstack([X.toarray() for X in case.X])
    groups = np.repeat(np.arange(len(lengths)), lengths)
    order = np.random.default_rng(0).permutation(len(rows))
    labels = np.array([f"row{i}" for i in range(len(rows))])
    frame = pd.DataFrame(rows, labels, [f"w{j}" for j in range(rows.shape[1])]).iloc[order]
    first = dict(zip(groups[order][::-1], frame.index[::-1], strict=True))
    model = case.made.fit(frame, groups=groups[order])
    expected = model.transform(frame, groups=groups[order])
    model.set_output(transform="pandas")
    for given in (groups[order], iter(groups[order])):
        found = model.transform(frame, groups=given)
        assert_array_equal(found, expected)
        assert_array_equal(found.columns, model.get_feature_names_out())
        assert_array_equal(found.index, [first[group] for group in dict.fromkeys(groups[order])])


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_other_results_stay_what_they_are(name, library):
    pytest.importorskip(library)
    case = EVERY[name]
    model = case.fitted
    framed = deepcopy(model).set_output(transform=library)
    whose = {k: v for k, v in case.given.items() if k in {"items", "users"}}
    for method in (
        "predict", "predict_proba", "score", "score_samples", "predict_words",
        "transform_sentences", "log_likelihood",
    ):  # fmt: skip
        if not hasattr(model, method):
            continue
        given = () if method == "predict_words" else (case.X,)
        given += (case.y,) if method == "score" and case.y is not None else ()
        expected = getattr(model, method)(*given, **whose)
        found = getattr(framed, method)(*given, **whose)
        assert type(found) is type(expected)
        assert_array_equal(found, expected)
