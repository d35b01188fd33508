# SPDX-License-Identifier: BSD-3-Clause
"""Questions to a model: documents, frames, labels, posteriors, recommendations, digests."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize

from streamtopics import (
    SVBLDA,
    DPPSummarizer,
    GibbsOnlineEM,
    HiddenFactorsTopics,
    StreamingBayes,
    StreamingLDA,
)
from streamtopics.datasets import make_lda_corpus, make_rated_reviews
from streamtopics.dpp.summary_kernel import counts_of_nearest
from streamtopics.inspection import (
    compare_n_components,
    document_frame,
    documents_of,
    label_topics,
    posterior_table,
    shares_over_time,
    similar_documents,
    to_frame,
    topic_frame,
    topic_table,
)
from streamtopics.models import (
    BetaBinomial,
    GaussianMixture,
    LinearRegression,
    MeanFieldRegression,
    NaiveBayesMixture,
)

X = make_lda_corpus(n_documents=300, n_features=100, random_state=0).X
TEXTS = ["the sea is blue and wide", "blue waves of the sea", "bread and salt", "salt on bread"] * 5


@pytest.fixture(scope="module")
def model():
    return GibbsOnlineEM(5, random_state=0).fit(X)


def test_documents_of_a_topic_are_those_of_its_largest_shares(model):
    shares = model.transform(X)
    found = documents_of(model, X, n_documents=4)
    assert [row.topic for row in found] == np.repeat(range(5), 4).tolist()
    for k in range(5):
        assert [row for row in found if row.topic == k] == documents_of(model, X, k, n_documents=4)
        of_topic = [row.share for row in found if row.topic == k]
        assert_allclose(of_topic, np.sort(shares[:, k])[::-1][:4])
        assert [shares[row.document, k] for row in found if row.topic == k] == of_topic
    assert len(documents_of(model, X[:3], 0, n_documents=9)) == 3


def test_equal_shares_are_in_the_order_of_the_documents():
    one = StreamingLDA(1).fit(X)
    assert [row.document for row in documents_of(one, X, n_documents=3)] == [0, 1, 2]


def test_similar_documents_by_the_definition(model):
    shares = model.transform(X)
    found = similar_documents(model, X, X[[5, 9]], n_documents=300)
    assert [row.query for row in found] == [0] * 300 + [1] * 300
    for row in found[::7]:
        affinity = np.sqrt(shares[row.document] * shares[[5, 9][row.query]]).sum()
        assert_allclose(row.similarity, affinity, rtol=1e-6)
    assert found[0].document == 5
    assert found[300].document == 9
    values = [row.similarity for row in found[:300]]
    assert values == sorted(values, reverse=True)


def test_a_pipeline_answers_for_texts():
    vectorizer = CountVectorizer(stop_words="english")
    pipeline = make_pipeline(vectorizer, StreamingLDA(2, random_state=0, max_iter=30)).fit(TEXTS)
    found = similar_documents(pipeline, TEXTS, ["waves of the blue sea"], n_documents=10)
    assert {row.document % 4 for row in found} == {0, 1}
    assert document_frame(pipeline, TEXTS, n_topics=2).shape == (40, 3)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((5,), IndexError, "topic must be from 0 to 4; got 5"),
        ((1.0,), TypeError, "topic must be a whole number"),
        ((True,), TypeError, "topic must be a whole number"),
    ],
)
def test_wrong_topics_are_refused(model, arguments, error, message):
    with pytest.raises(error, match=message):
        documents_of(model, X, *arguments)


def test_what_gives_no_shares_is_refused(model):
    with pytest.raises(ValueError, match="n_documents must be at least 1; got 0"):
        documents_of(model, X, n_documents=0)
    with pytest.raises(TypeError, match="estimator must be a fitted topic model"):
        documents_of(GibbsOnlineEM, X)
    with pytest.raises(ValueError, match=r"sum to 1; PCA\.transform does not"):
        documents_of(PCA(2).fit(X.toarray()), X.toarray())
    with pytest.raises(NotFittedError):
        documents_of(GibbsOnlineEM(), X)


# Frames


def test_frames_have_the_fields_of_the_rows(model):
    rows = topic_table(model, n_words=3)
    frame = topic_frame(model, n_words=3)
    assert frame.columns.tolist() == list(rows[0]._fields)
    assert frame.equals(pd.DataFrame(rows))
    assert to_frame(iter(rows)).equals(frame)


def test_frames_of_records_that_are_no_rows(model):
    found = shares_over_time(model, X, np.arange(X.shape[0]) % 3 + 2001)
    frame = to_frame(found)
    assert frame.columns.tolist() == ["time", "topic", "share", "n_documents"]
    table = frame.pivot(index="time", columns="topic", values="share")
    assert table.index.tolist() == found.times
    assert_array_equal(table, found.shares)
    assert_array_equal(frame.groupby("time").n_documents.first(), found.n_documents)
    compared = compare_n_components(GibbsOnlineEM(random_state=0), X[:60], [2, 3], n_splits=2)
    assert to_frame(compared).equals(pd.DataFrame(compared.rows))


def test_leading_topics_of_documents(model):
    shares = model.transform(X)
    frame = document_frame(model, X, n_topics=2)
    assert len(frame) == 600
    assert_allclose(frame.share[::2], shares.max(axis=1))
    assert (frame.topic[::2] == shares.argmax(axis=1)).all()
    assert len(document_frame(model, X, n_topics=99)) == 1500


def test_wrong_tables_are_refused(model):
    with pytest.raises(TypeError, match="table must have rows"):
        to_frame([])
    with pytest.raises(TypeError, match="one kind of named tuples"):
        to_frame([(1, 2)])
    with pytest.raises(TypeError, match="one kind of named tuples"):
        to_frame([*topic_table(model), *documents_of(model, X)])
    for make in (to_frame, lambda x, **k: document_frame(model, X, **k)):
        with pytest.raises(ValueError, match="backend must be one of 'pandas', 'polars'"):
            make(topic_table(model), backend="excel")


def test_a_missing_library_is_named(model, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "narwhals", None)
    with pytest.raises(ImportError, match="needs narwhals; run `pip install narwhals polars`"):
        topic_frame(model, backend="polars")


# Labels


def test_labels_stay_until_the_words_have_changed():
    names = [f"w{j}" for j in range(100)]
    model = GibbsOnlineEM(5, random_state=0).partial_fit(X[:100])
    asked = []

    def label(words, sentences):
        asked.append((words, sentences))
        return f"label {len(asked)}"

    first = label_topics(model, label, names, n_words=4)
    assert [row.label for row in first] == [f"label {k}" for k in range(1, 6)]
    tops = model.top_words(names, 4)
    assert [words for words, _ in asked] == tops
    assert all(sentences == [] for _, sentences in asked)
    model.partial_fit(X[100:200])
    assert label_topics(model, label, names, before=first, change=1.0) == first
    assert len(asked) == 5
    again = label_topics(model, label, names, before=first, change=0.0)
    assert all(now.label != then.label for now, then in zip(again, first, strict=True))
    moved = [
        1 - sum(min(p, now[w]) for w, p in zip(then.words, then.probabilities, strict=True))
        / sum(then.probabilities)
        for then, now in zip(
            first,
            [dict(zip(names, row, strict=True)) for row in model.topic_word_],
            strict=True,
        )
    ]  # fmt: skip
    limit = float(np.median(moved))
    some = label_topics(model, label, names, before=first, change=limit)
    kept = [now.label == then.label for now, then in zip(some, first, strict=True)]
    assert kept == [bool(m <= limit) for m in moved]
    assert 0 < sum(kept) < 5


def test_evidence_comes_from_the_documents_of_the_topic():
    vectorizer = CountVectorizer()
    counts = vectorizer.fit_transform(TEXTS)
    model = StreamingLDA(2, random_state=0, max_iter=5).fit(counts)
    seen = {}

    def label(words, sentences):
        seen[words[0]] = sentences
        return words[0]

    names = vectorizer.get_feature_names_out()
    label_topics(model, label, names, X=counts, texts=TEXTS, n_sentences=1)
    for sentences in seen.values():
        assert len(sentences) == 1
        assert sentences[0] in TEXTS
    with pytest.raises(ValueError, match="texts must be those of the 20 documents; got 3"):
        label_topics(model, label, names, X=counts, texts=TEXTS[:3])
    with pytest.raises(ValueError, match="X and texts go together"):
        label_topics(model, label, names, texts=TEXTS)
    with pytest.raises(TypeError, match="texts must be a sequence of str, such as a list"):
        label_topics(model, label, names, X=counts, texts=set(TEXTS))
    given = label_topics(model, label, names, X=counts, texts=TEXTS, n_sentences=1)
    evidence = dict(seen)
    seen.clear()
    pipeline = make_pipeline(vectorizer, model)
    again = label_topics(pipeline, label, texts=TEXTS, n_sentences=1)
    assert (again, seen) == (given, evidence)
    assert label_topics(pipeline, label, before=again) == again


def test_wrong_labels_are_refused(model):
    with pytest.raises(TypeError, match=r"label must return a str; got None for topic 0"):
        label_topics(model, lambda words, sentences: None)
    with pytest.raises(TypeError, match="label must be callable"):
        label_topics(model, "sport")
    with pytest.raises(ValueError, match=r"change must be in \[0, 1\]"):
        label_topics(model, lambda words, sentences: "", change=2)


# Posteriors of small models

RNG = np.random.default_rng(0)
SAMPLES = RNG.normal(5, 2, (200, 2))
TARGETS = SAMPLES @ [1.0, -2.0] + RNG.normal(size=200)
CLASSES = (TARGETS > -5).astype(float)


@pytest.mark.parametrize(
    ("small", "y", "n_rows"),
    [
        (BetaBinomial(), None, 2),
        (LinearRegression(), TARGETS, 4),
        (LinearRegression(fit_intercept=False), TARGETS, 3),
        (MeanFieldRegression(), TARGETS, 2 * 2 + 3 + 1),
        (GaussianMixture(n_components=3, mean=5.0), None, 3 + 3 * 2 * 2),
        (NaiveBayesMixture(mixture=GaussianMixture(mean=5.0)), CLASSES, 2 + 4 + 2 * 2 * 2 * 2),
    ],
)
def test_a_row_for_each_number_of_a_model(small, y, n_rows):
    data = (SAMPLES > 5).astype(float) if isinstance(small, BetaBinomial) else SAMPLES
    table = posterior_table(StreamingBayes(small, random_state=0).fit(data, y), ["a", "b"])
    assert len(table) == n_rows
    assert len({(row.block, row.parameter, row.place) for row in table}) == n_rows
    assert all(row.low < row.mean < row.high for row in table)
    wide = posterior_table(StreamingBayes(small, random_state=0).fit(data, y), interval=0.999)
    assert all(a.low < b.low and b.high < a.high for a, b in zip(wide, table, strict=True))
    assert {row.feature for row in wide} <= {"x0", "x1", "intercept", None}


def test_posterior_of_a_regression_is_that_of_its_own_reading():
    model = StreamingBayes(LinearRegression()).fit(SAMPLES, TARGETS)
    rows = posterior_table(model, ["a", "b"])
    assert [row.feature for row in rows] == ["a", "b", "intercept", None]
    coefficients = LinearRegression().coefficients(model.posterior_)
    assert_allclose([row.mean for row in rows[:3]], coefficients)
    # As least squares has it, as there are many data.
    design = np.column_stack([SAMPLES, np.ones(200)])
    rest = TARGETS - design @ coefficients
    error = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * (rest @ rest) / 200)
    assert_allclose([row.deviation for row in rows[:3]], error, rtol=0.05)


def test_means_of_mixtures_are_where_the_data_are():
    mixture = GaussianMixture(n_components=1, mean=4.0)
    for small, y in ((mixture, None), (NaiveBayesMixture(mixture=mixture), CLASSES)):
        rows = posterior_table(StreamingBayes(small, random_state=0).fit(SAMPLES, y))
        means = [r.mean for r in rows if (r.block, r.parameter) == ("components", "mean")]
        assert_allclose(np.mean(means), SAMPLES.mean(), atol=0.5)


def test_the_weight_of_a_single_component_is_one():
    mixture = GaussianMixture(n_components=1, mean=4.0)
    for small, y in ((mixture, None), (NaiveBayesMixture(mixture=mixture), CLASSES)):
        rows = posterior_table(StreamingBayes(small, random_state=0).fit(SAMPLES, y))
        weights = [row[4:] for row in rows if row.block == "weights"]
        assert set(weights) == {(1.0, 0.0, 1.0, 1.0)}


def test_the_column_of_groups_is_no_feature():
    groups = np.column_stack([np.arange(200) % 2, SAMPLES])
    small = GaussianMixture(1, mean=5.0, n_groups=2, group_column=0)
    rows = posterior_table(StreamingBayes(small).fit(groups), ["day", "a", "b"])
    assert {row.feature for row in rows} == {None, "a", "b"}


def test_wrong_arguments_of_a_posterior_table(model):
    fitted = StreamingBayes(BetaBinomial()).fit(np.eye(2))
    with pytest.raises(TypeError, match="estimator must be a fitted StreamingBayes"):
        posterior_table(model)
    with pytest.raises(ValueError, match="interval must be between 0 and 1"):
        posterior_table(fitted, interval=95)
    with pytest.raises(ValueError, match="feature_names must be those of 2 columns; got 1"):
        posterior_table(fitted, ["a"])
    with pytest.raises(NotFittedError):
        posterior_table(StreamingBayes(BetaBinomial()))


# Recommendations and digests


@pytest.fixture(scope="module")
def rated():
    data = make_rated_reviews(600, n_features=100, n_components=3, random_state=0)
    model = HiddenFactorsTopics(3, random_state=0, max_iter=5)
    return data, model.fit(data.X, data.ratings, items=data.item, users=data.user)


def test_recommended_items_are_those_of_the_best_predictions(rated):
    data, model = rated
    labels = model.items_.labels
    users = np.repeat(data.user[0], len(labels))
    ratings = model.predict(items=labels, users=users)
    empty = data.X[: len(labels)] * 0
    assert (ratings == model.predict(empty, items=labels, users=users)).all()
    found = model.recommend(data.user[0], n_items=5)
    assert_allclose([row.rating for row in found], np.sort(ratings)[::-1][:5])
    best = found[0].item
    assert model.recommend(data.user[0], n_items=4, exclude=[best]) == found[1:]
    everything = model.recommend(data.user[0], n_items=10**6)
    assert sorted(row.item for row in everything) == labels.tolist()


def test_users_without_ratings_get_what_an_average_user_likes(rated):
    data, model = rated
    unknown = int(data.user.max()) + 1
    assert model.recommend(unknown, n_items=3) == model.recommend(unknown + 1, n_items=3)


def test_wrong_recommendations_are_refused(rated):
    _, model = rated
    with pytest.raises(ValueError, match="n_items must be a whole number above 0; got 0"):
        model.recommend(1, n_items=0)
    with pytest.raises(ValueError, match="users were integers before, but recommend got strings"):
        model.recommend("me")
    for several in ([1, 2], []):
        with pytest.raises(ValueError, match=r"user must be the label of one user.*for each user"):
            model.recommend(several)
    with pytest.raises(ValueError, match="exclude were integers before"):
        model.recommend(1, exclude=["that"])
    with pytest.raises(ValueError, match="predict needs X, items or users"):
        model.predict()
    with pytest.raises(NotFittedError):
        HiddenFactorsTopics().recommend(1)


def test_documents_that_a_sentence_of_a_digest_stands_for():
    news = ["Red wine was good.", "The trains are late.", "Hm!", "Late again: the trains!"]
    digest = DPPSummarizer().digest(news * 3, n_sentences=9)
    assert [found.n_documents for found in digest] == [3, 3, 3, 3]
    two = DPPSummarizer().digest([*news, "Trains: late, late.", "12"], n_sentences=2)
    counts = {found.sentence: found.n_documents for found in two}
    # Those without a word of trains are left out.
    assert sum(counts.values()) == 3


def test_counts_of_nearest_by_the_definition():
    rng = np.random.default_rng(0)
    features = sparse.random(40, 12, density=0.2, random_state=1, format="csr")
    chosen, weights = features[:4], rng.random(12)
    ends = [4, 9, 9, 20, 21, 40]
    documents = [features[i:j] for i, j in pairwise(ends)]
    units = normalize(features.toarray() * weights)
    expected = np.zeros(4, int)
    for i, j in pairwise(ends):
        cosines = (units[i:j] @ units[:4].T).max(axis=0, initial=0.0)
        expected[cosines.argmax()] += cosines.max() > 0
    assert counts_of_nearest(chosen, documents, weights).tolist() == expected.tolist()
    assert expected.sum() == 4
    assert counts_of_nearest(chosen, [], weights).tolist() == [0] * 4
    assert counts_of_nearest(chosen[:0], documents, weights).tolist() == []


def test_texts_of_a_series_are_taken_by_their_places():
    X = sparse.csr_matrix([[9, 0], [9, 0], [0, 9], [0, 9]])
    texts = ["Apples are red.", "Apples are good.", "Zebras are striped.", "Zebras run."]
    model = SVBLDA(2, random_state=0).fit(X)
    found = []
    for given in (texts, pd.Series(texts, index=[3, 2, 1, 0])):
        seen = []

        def label(words, texts, seen=seen):
            seen.append(texts)
            return words[0]

        label_topics(model, label, ["apples", "zebras"], X=X, texts=given)
        found.append(seen)
    assert found[0] == found[1]
    assert found[0][0]
