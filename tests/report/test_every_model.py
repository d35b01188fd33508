# SPDX-License-Identifier: BSD-3-Clause
"""Every estimator of topics has a report, which says what it does, or is refused by name."""

import gzip
import json
import os
from copy import deepcopy
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

import streamtopics as st
from streamtopics.report import page, report
from streamtopics.text import SentenceVectorizer, StreamingCountVectorizer, StreamingPipeline
from streamtopics.updates import DirichletProcess
from tests.conventions.every import EVERY, NAMES, TEXTS

DATA = Path(os.environ.get("STREAMTOPICS_DATA", "no folder"))
BIRTHS = st.StreamingMixture(births=DirichletProcess(), random_state=0)
CASES = {name: case for name, case in EVERY.items() if case.X is not TEXTS}
CASES["births"] = replace(EVERY["StreamingMixture"], estimator=BIRTHS)
NO_TOPICS = {"LowRankDPP", "StreamingBayes"}
MERGEABLE = (
    "SVBLDA", "BPSLDA", "GibbsOnlineEM", "VariationalOnlineEM", "StreamingLDA", "StreamingMixture",
)  # fmt: skip
# Some models say that documents are few.
pytestmark = pytest.mark.filterwarnings("ignore")


def check(found, model, documents, names):
    """The report says of topics, words and documents what the model does."""
    shares = np.asarray(model.transform(documents), np.float64)
    main = np.bincount(shares.argmax(axis=1), minlength=shares.shape[1])
    heaviest = np.argsort(-model.topic_weights_, kind="stable")
    assert [topic.id for topic in found.topics] == heaviest.tolist()
    place = {name: j for j, name in enumerate(names)}
    # Of the first topics, where others have none.
    given = dict(enumerate(getattr(model, "topic_names_", ())))
    for topic in found.topics:
        assert topic.name == given.get(topic.id, "")
        columns = [place[found.words[i]] for i in topic.words]
        assert len(columns) >= found.n_words
        assert_allclose(topic.p, model.topic_word_[topic.id, columns], rtol=1e-5)
        assert_allclose(topic.weight, model.topic_weights_[topic.id], rtol=1e-5)
        assert_allclose(topic.prior, model.prior_retention_[topic.id], rtol=1e-5, atol=1e-12)
        assert topic.n_documents == main[topic.id]
        assert bool(topic.documents) <= bool(topic.n_documents)
        for document in topic.documents:
            assert_allclose(document.mix[0][1], shares[document.row].max(), atol=6e-5)
    assert found.n_documents == len(shares)
    assert sum(len(topic.documents) for topic in found.topics) > 0
    coloured = {k for topic in found.topics for d in topic.documents for k in d.topics}
    assert max(coloured) >= 0 or (main > 0).sum() == 1
    # A topic alone has no word that it says more often than all topics together.
    assert max(coloured) == -1 or len(found.topics) > 1


@pytest.mark.parametrize("name", CASES)
def test_a_report_is_what_the_model_says_before_and_after_a_file(name, tmp_path):
    model, X = CASES[name].fitted, CASES[name].X
    if name in NO_TOPICS:
        with pytest.raises(TypeError, match="estimator must be a fitted topic model"):
            report(model, X=X)
        return
    settings = {
        "X": X, "texts": TEXTS, "feature_names": NAMES, "n_words": 5, "times": np.arange(24) // 6
    }  # fmt: skip
    found = report(model, **settings)
    check(found, model, X, NAMES)
    st.save(model, tmp_path / "model")
    assert page(report(st.load(tmp_path / "model"), **settings)) == page(found)


@pytest.mark.parametrize("name", MERGEABLE)
def test_a_merged_model_has_a_report(name):
    whole, X = CASES[name].fitted, CASES[name].X
    base = clone(whole).partial_fit(X[:8])
    one, other = deepcopy(base).partial_fit(X[8:16]), deepcopy(base).partial_fit(X[16:])
    settings = {"X": X, "feature_names": NAMES, "n_words": 5}
    before = report(one, **settings)
    merged = one.merge(other, base=base)
    found = report(merged, **settings)
    check(found, merged, X, NAMES)
    assert found.topics != before.topics


@pytest.fixture(params=["made", "real"])
def texts(request):
    if request.param == "made":
        return TEXTS
    if not DATA.is_dir():
        pytest.skip("STREAMTOPICS_DATA is no folder of corpora")
    with gzip.open(DATA / "rated_movie_reviews.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"][:900] for line in islice(lines, 120)]


COUNTING = StreamingCountVectorizer(max_features=400, stop_words="english")
CUTTING = SentenceVectorizer(CountVectorizer(stop_words="english", max_features=400))


@pytest.mark.parametrize(
    ("front", "topics"),
    [
        (COUNTING, st.StreamingMixture(4)),
        (COUNTING, st.HDPGibbsOnlineEM(6)),
        (CUTTING, st.WASTopicModel(4)),
        (CUTTING, st.AspectSentimentModel(2)),
    ],
    ids=lambda step: type(step).__name__,
)
def test_pipelines_over_texts_have_a_report(front, topics, texts, tmp_path):
    steps = [("words", front), ("topics", topics.set_params(random_state=0))]
    model = clone(StreamingPipeline(steps)).fit(texts)
    found = report(model, texts=texts, n_words=5)
    check(found, model[-1], model[:-1].transform(texts), model[0].get_feature_names_out())
    for document in [document for topic in found.topics for document in topic.documents]:
        shown, whole = "".join(document.parts), texts[document.row]
        assert shown.strip()
        assert shown == whole if len(whole) < 500 else whole.startswith(shown.rstrip(" \u2026"))
    st.save(model, tmp_path / "model")
    assert page(report(st.load(tmp_path / "model"), texts=texts, n_words=5)) == page(found)
