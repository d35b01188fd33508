# SPDX-License-Identifier: BSD-3-Clause
"""Viewers of other packages take the estimators as they are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from streamtopics import GibbsOnlineEM, StreamingLDA, StreamingMixture
from streamtopics.text import StreamingCountVectorizer

WORDS = ["ship", "harbour", "sailor", "wave", "plane", "pilot", "cloud", "wing"]


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(0)
    halves = [WORDS[:4], WORDS[4:]]
    texts = [" ".join(rng.choice(halves[i % 2], 20)) for i in range(200)]
    vectorizer = StreamingCountVectorizer()
    return vectorizer.fit_transform(texts), vectorizer


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [StreamingLDA, GibbsOnlineEM, StreamingMixture])
def test_pyldavis(corpus, kind):
    viewer = pytest.importorskip("pyLDAvis.lda_model")
    X, vectorizer = corpus
    model = kind(3, random_state=0).fit(X)
    found = viewer.prepare(model, X, vectorizer, n_jobs=1, sort_topics=False)
    lengths = np.asarray(X.sum(axis=1)).ravel()
    shares = lengths @ model.transform(X)
    assert_allclose(found.topic_coordinates.Freq, 100 * shares / shares.sum(), rtol=1e-5)
    assert set(found.topic_info.Term) == set(WORDS)


@pytest.mark.filterwarnings("ignore")
def test_topicwizard(corpus, capsys):
    pipelines = pytest.importorskip("topicwizard.pipeline")
    X, vectorizer = corpus
    names = vectorizer.get_feature_names_out()
    texts = [" ".join(np.repeat(names[row.indices], row.data)) for row in X]
    model = StreamingLDA(3, random_state=0)
    pipeline = pipelines.make_topic_pipeline(StreamingCountVectorizer(), model).fit(texts)
    found = pipeline.prepare_topic_data(texts)
    assert_allclose(found["document_topic_matrix"], model.transform(X))
    assert_allclose(found["topic_term_matrix"], model.components_)
    assert found["vocab"].tolist() == names.tolist()
