# SPDX-License-Identifier: BSD-3-Clause
"""Tables and pictures of topics."""

from datetime import datetime

import pytest
from numpy.testing import assert_allclose
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from streamtopics import SVBLDA, StreamingLDA
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.inspection import (
    format_topics,
    plot_topic_map,
    plot_topics,
    shares_over_time,
    topic_table,
)
from streamtopics.metrics import relevant_words
from tests.small import COUNTS

NAMES = [f"word{i}" for i in range(50)]


@pytest.fixture(scope="module")
def model():
    corpus = make_lda_corpus(n_documents=300, n_components=4, n_features=50, random_state=0)
    return SVBLDA(4, schedule=Schedule(n_rounds=5), random_state=0).fit(corpus.X)


@pytest.mark.parametrize("relevance", [0.0, 0.6, 1.0])
def test_topic_table_orders_topics_by_weight_and_words_by_relevance(model, relevance):
    table = topic_table(model, NAMES, n_words=6, relevance=relevance)
    weights = [row.weight for row in table]
    assert weights == sorted(weights, reverse=True)
    assert_allclose(sum(weights), 1.0)
    p, top = model.topic_word_, model.top_words(n_words=6, relevance=relevance)
    assert top == relevant_words(p, model.topic_weights_, 6, relevance=relevance).tolist()
    for row in table:
        assert row.words == [NAMES[column] for column in top[row.topic]]
        assert_allclose(row.probabilities, p[row.topic, top[row.topic]])
        assert row.prior_retention == model.prior_retention_[row.topic]
    assert topic_table(model) == topic_table(model, relevance=0.6)


def test_topic_table_as_text_and_as_frame(model):
    pandas = pytest.importorskip("pandas")
    table = topic_table(model, NAMES, n_words=3)
    text = format_topics(table, width=60)
    assert len(text.splitlines()) == 5
    assert max(map(len, text.splitlines())) <= 60
    assert list(pandas.DataFrame(table).columns)[:3] == ["topic", "weight", "prior_retention"]


@pytest.mark.parametrize("thing", ["x", 7, None, SVBLDA])
def test_things_that_are_no_models_are_refused(thing):
    for show in (topic_table, plot_topics):
        with pytest.raises(TypeError, match="estimator must be a fitted topic model of streamt"):
            show(thing)


def test_a_pipeline_is_its_model_and_its_words():
    vectorizer = CountVectorizer()
    texts = ["wind over the sea", "bread with salt", "salt in the sea"] * 3
    pipeline = make_pipeline(vectorizer, SVBLDA(2, random_state=0)).fit(texts)
    model, names = pipeline[-1], vectorizer.get_feature_names_out()
    assert topic_table(pipeline) == topic_table(model, names)
    other = [f"w{j}" for j in range(len(names))]
    assert topic_table(pipeline, other) == topic_table(model, other)
    axes = plot_topics(pipeline, n_words=3)
    assert [ax.get_title() for ax in axes] == [ax.get_title() for ax in plot_topics(model)]
    shown = {label.get_text() for ax in axes for label in ax.get_yticklabels()}
    assert shown <= set(names)
    written = {note.get_text().split()[1] for note in plot_topic_map(pipeline).texts}
    assert written <= set(names)


def test_shares_over_time_reads_times_together():
    model = StreamingLDA(2, random_state=0).fit(COUNTS)
    for times in ([50_000_000, 150_000_000, 250_000_000], [0, 20000101, 40000000]):
        assert shares_over_time(model, COUNTS[:3], times).times == times
    days = shares_over_time(model, COUNTS[:2], [20240102, 20240101]).times
    assert days == [datetime(2024, 1, 1), datetime(2024, 1, 2)]
