# SPDX-License-Identifier: BSD-3-Clause
"""Every estimator of topics has a report of real reviews, or is refused with a remedy."""

import gzip
import json
import os
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

import streamtopics
from streamtopics import (
    BPSLDA,
    SVBHPP,
    SVBLDA,
    AspectSentimentModel,
    GibbsOnlineEM,
    GuidedTopics,
    HDPGibbsOnlineEM,
    HDPVarGibbs,
    HiddenFactorsTopics,
    MultiViewLDA,
    RatingLDA,
    StreamingLDA,
    StreamingMixture,
    SupervisedLDA,
    VariationalOnlineEM,
    WASTopicModel,
)
from streamtopics.report import page, report
from streamtopics.text import (
    NamedCounts,
    SentenceVectorizer,
    StreamingCountVectorizer,
    StreamingPipeline,
)
from streamtopics.updates import DirichletProcess
from tests.report.made import written

DATA = Path(os.environ.get("STREAMTOPICS_DATA", "no folder"))
pytestmark = [
    pytest.mark.skipif(not DATA.is_dir(), reason="STREAMTOPICS_DATA is no folder of corpora"),
    # 120 reviews are few, and some models say so.
    pytest.mark.filterwarnings("ignore"),
]
WORDS = {"token_pattern": "[a-z]{3,}", "stop_words": "english", "max_features": 400}
MODELS = [
    SVBLDA(4), BPSLDA(4), SVBHPP(4), GibbsOnlineEM(4), VariationalOnlineEM(4), StreamingLDA(4),
    StreamingMixture(4), StreamingMixture(births=DirichletProcess()),
    GuidedTopics({"pictures": ["scene", "look"], "story": ["story", "plot"]}),
    HDPGibbsOnlineEM(6), HDPVarGibbs(6), MultiViewLDA(1, 2), AspectSentimentModel(2),
    SupervisedLDA(4), RatingLDA(4), HiddenFactorsTopics(3), WASTopicModel(4),
]  # fmt: skip
IDS = [f"{type(model).__name__}{i}" for i, model in enumerate(MODELS)]
OF_SENTENCES = (AspectSentimentModel, WASTopicModel)


class Reviews(NamedTuple):
    """Reviews as models take them."""

    texts: list[str]
    ratings: np.ndarray
    counts: Any
    sentences: list[Any]
    names: list[str]
    names_of_sentences: list[str]


@pytest.fixture(scope="module")
def reviews():
    with gzip.open(DATA / "rated_movie_reviews.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in islice(lines, 120)]
    texts = [row["text"][:900] for row in rows]
    words, sentences = CountVectorizer(**WORDS), SentenceVectorizer(CountVectorizer(**WORDS))
    counts, parts = words.fit_transform(texts), sentences.fit_transform(texts)
    ratings = np.array([float(row["label"]) for row in rows])
    names = (one.get_feature_names_out().tolist() for one in (words, sentences))
    return Reviews(texts, ratings, counts, parts, *names)


def learnt(model, reviews):
    """The model after all reviews, the documents that it takes, and their words."""
    model, y = clone(model).set_params(random_state=0), reviews.ratings
    whose = {"items": np.arange(120) % 10, "users": np.arange(120) % 12}
    if isinstance(model, OF_SENTENCES):
        return model.fit(reviews.sentences), reviews.sentences, reviews.names_of_sentences
    if isinstance(model, GuidedTopics):
        named = NamedCounts.of(reviews.counts, reviews.names)
        return model.fit(named), named, reviews.names
    if isinstance(model, MultiViewLDA):
        model.fit(reviews.counts, y > np.median(y))
    elif isinstance(model, HiddenFactorsTopics | RatingLDA):
        model.fit(reviews.counts, y, **whose)
    elif isinstance(model, SupervisedLDA):
        model.fit(reviews.counts, y)
    else:
        model.fit(reviews.counts)
    return model, reviews.counts, reviews.names


def check(found, model, documents, names):
    """The report says of topics, words and documents what the model does."""
    shares = np.asarray(model.transform(documents), np.float64)
    main = np.bincount(shares.argmax(axis=1), minlength=shares.shape[1])
    heaviest = np.argsort(-model.topic_weights_, kind="stable")
    assert [topic.id for topic in found.topics] == heaviest.tolist()
    place = {name: j for j, name in enumerate(names)}
    for topic in found.topics:
        columns = [place[found.words[i]] for i in topic.words]
        assert len(columns) >= found.n_words
        assert_allclose(topic.p, model.topic_word_[topic.id, columns], rtol=1e-5)
        assert_allclose(topic.weight, model.topic_weights_[topic.id], rtol=1e-5)
        assert_allclose(topic.prior, model.prior_retention_[topic.id], rtol=1e-5, atol=1e-12)
        assert topic.n_documents == main[topic.id]
        assert bool(topic.documents) <= bool(topic.n_documents)
        for document in topic.documents:
            assert_allclose(document.mix[0][1], shares[document.row].max(), atol=6e-5)
    assert sum(len(topic.documents) for topic in found.topics) > 0
    coloured = {k for topic in found.topics for d in topic.documents for k in d.topics}
    # A topic alone has no word that it says more often than all topics together.
    assert (max(coloured) >= 0) == ((main > 0).sum() > 1)


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_a_report_is_what_the_model_says_before_and_after_a_file(model, reviews, tmp_path):
    model, documents, names = learnt(model, reviews)
    settings = {
        "X": documents, "texts": reviews.texts, "feature_names": names, "n_words": 5,
        "times": np.arange(120) // 30,
    }  # fmt: skip
    found = report(model, **settings)
    check(found, model, documents, names)
    streamtopics.save(model, tmp_path / "model")
    again = report(streamtopics.load(tmp_path / "model"), **settings)
    assert page(again) == page(found)


MERGEABLE = [
    SVBLDA(4), BPSLDA(4), GibbsOnlineEM(4), VariationalOnlineEM(4), StreamingLDA(4),
    StreamingMixture(4),
]  # fmt: skip


@pytest.mark.parametrize("model", MERGEABLE, ids=lambda model: type(model).__name__)
def test_a_merged_model_has_a_report(model, reviews):
    whole, documents, names = learnt(model, reviews)
    base = clone(whole).partial_fit(documents[:40])
    one = deepcopy(base).partial_fit(documents[40:80])
    other = deepcopy(base).partial_fit(documents[80:])
    settings = {"X": documents, "feature_names": names, "n_words": 5}
    before = report(one, **settings)
    merged = one.merge(other, base=base)
    found = report(merged, **settings)
    check(found, merged, documents, names)
    assert found.topics != before.topics


@pytest.mark.parametrize("model", [StreamingMixture(4), WASTopicModel(4), HDPGibbsOnlineEM(6)])
def test_pipelines_over_reviews_have_a_report(model, reviews, tmp_path):
    words = CountVectorizer(**WORDS)
    front = StreamingCountVectorizer(max_features=400, stop_words="english")
    if isinstance(model, OF_SENTENCES):
        front = SentenceVectorizer(words)
    topics = clone(model).set_params(random_state=0)
    model = StreamingPipeline([("words", front), ("topics", topics)]).fit(reviews.texts)
    settings = {"texts": reviews.texts, "n_words": 5}
    found = report(model, **settings)
    check(found, model[-1], model[:-1].transform(reviews.texts), model[0].get_feature_names_out())
    streamtopics.save(model, tmp_path / "model")
    assert page(report(streamtopics.load(tmp_path / "model"), **settings)) == page(found)


@pytest.mark.browser
@pytest.mark.parametrize("model", [AspectSentimentModel(2), HiddenFactorsTopics(3)])
def test_a_report_opens_in_a_browser(model, reviews, browser, tmp_path):
    model, documents, names = learnt(model, reviews)
    path = written(
        model, tmp_path / "report.html", X=documents, texts=reviews.texts,
        feature_names=names, times=np.arange(120) // 30,
    )  # fmt: skip
    opened, wrong = browser.new_page(), []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda message: wrong.append(message.text))
    opened.goto(path.as_uri())
    for i in reversed(range(len(model.topic_weights_))):
        opened.locator(".topic h3 button").nth(i).click()
        assert opened.locator("#words li").count() == 10
    opened.get_by_role("button", name="Colour words by topic").first.click(timeout=2000)
    opened.close()
    assert wrong == []
