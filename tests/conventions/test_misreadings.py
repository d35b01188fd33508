# SPDX-License-Identifier: BSD-3-Clause
"""What would be read as something else: missing labels, dates, words of other columns."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline

from streamtopics import SVBLDA, AspectSentimentModel, GuidedTopics, MultiViewLDA
from streamtopics.priors import SeedWords, SentimentWords, class_words_prior, zipf_prior
from streamtopics.text import SentenceVectorizer
from streamtopics.utils.checks import floats
from tests.conventions.every import COUNTS, NAMES, N, V

polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
LABELS = ["a", "b"] * (N // 2)
SOME = [*LABELS[:-1], None]


def missing():
    """Labels of which one is missing, as each library says so, and how a message shows it."""
    yield [*LABELS[:-1], np.nan], "nan"
    yield [*[1.0, 2.0] * (N // 2 - 1), 1.0, np.nan], "nan"
    yield pd.Series(SOME, dtype="string"), "<NA>"
    yield pd.Categorical(SOME), "nan"
    yield pd.array([*[1, 2] * (N // 2 - 1), 1, None], dtype="Int64"), "<NA>"
    yield np.array([*["2020-01-01"] * (N - 1), "NaT"], dtype="datetime64[D]"), "NaT"
    yield pyarrow.array(SOME), "None"
    yield polars.Series(SOME), "None"


def test_missing_labels_are_refused_by_name():
    for labels, shown in missing():
        match = rf"y, passed to \S+, has labels that are {shown}"
        with pytest.raises(ValueError, match=match):
            MultiViewLDA(2).fit(COUNTS, labels)
        with pytest.raises(ValueError, match=match):
            class_words_prior(COUNTS, labels)


@pytest.mark.parametrize("column", [np.array, pd.DataFrame])
def test_labels_in_a_column_are_looked_at_too(column):
    for labels, match in (
        ([["a"], [1.0]] * (N // 2), "mixes labels of the types float, str"),
        ([["a"], [None]] * (N // 2), "has labels that are (None|nan)"),
    ):
        y = column(labels) if column is pd.DataFrame else column(labels, dtype=object)
        with pytest.raises(ValueError, match=f"y, passed to MultiViewLDA.fit, {match}"):
            MultiViewLDA(2).fit(COUNTS, y)


def test_labels_of_other_libraries_are_those_that_they_equal():
    expected = MultiViewLDA(2, random_state=0).fit(COUNTS, LABELS)
    kinds = [pyarrow.array(LABELS), pyarrow.chunked_array([LABELS]), pd.Categorical(LABELS)]
    if hasattr(np.dtypes, "StringDType"):
        kinds.append(np.array(LABELS, dtype=np.dtypes.StringDType()))
    for labels in kinds:
        found = MultiViewLDA(2, random_state=0).fit(COUNTS, labels)
        assert_array_equal(found.classes_, expected.classes_)
        assert_array_equal(found.components_, expected.components_)
    # NumPy would make codes of characters of them.
    with pytest.raises(TypeError, match="labels of the type StringScalar of PyArrow; pass the arr"):
        MultiViewLDA(2).fit(COUNTS, list(kinds[0]))


@pytest.mark.parametrize("kind", ["datetime64[D]", "timedelta64[D]"])
def test_dates_and_spans_of_time_are_no_numbers(kind):
    model = MultiViewLDA(2).fit(COUNTS, LABELS)
    for call in (
        lambda: SVBLDA(2).fit(COUNTS.astype(kind)),
        lambda: SVBLDA(2, topic_word_prior=np.ones(V).astype(kind)).fit(COUNTS),
        lambda: SVBLDA(2, doc_topic_prior=np.ones(2).astype(kind)).fit(COUNTS),
        lambda: model.score(COUNTS, LABELS, sample_weight=np.ones(N).astype(kind)),
        lambda: zipf_prior(np.arange(1, 5).astype(kind)),
        lambda: floats(np.ones(3).astype(kind), "values"),
    ):
        with pytest.raises((TypeError, ValueError), match=r"dates |must hold numbers"):
            call()


def test_columns_of_dates_are_refused_by_name():
    dates = pd.date_range("2020-01-01", periods=N)
    for when in (dates, dates - dates[0], dates.to_period("D")):
        frame = pd.DataFrame({"n": 1, "when": when})
        with pytest.raises(TypeError, match=r"X, a data frame .* in its column 'when' dates"):
            SVBLDA(2).fit(frame)
    with pytest.raises(TypeError, match=r"X, a data frame .* in its column 'when' dates"):
        SVBLDA(2).fit(polars.DataFrame({"n": [1] * N, "when": dates.to_numpy()}))


def test_what_holds_no_counts_is_refused_by_name():
    for X in ({"a": 1}, [[{}]]):
        with pytest.raises(TypeError, match=r"X, passed to .*fit, must be .* of counts: float"):
            SVBLDA(2).fit(X)


def test_a_vocabulary_that_puts_words_into_other_columns_than_X_is_refused():
    frame, turned = pd.DataFrame(COUNTS, columns=NAMES), list(NAMES[::-1])
    word = str(NAMES[0])
    for model in (
        GuidedTopics({"one": [word]}, 1, vocabulary=turned),
        SVBLDA(2, topic_word_prior=SeedWords({0: [word]}, 5.0, vocabulary=turned)),
        SVBLDA(2, topic_word_prior=SentimentWords(
            {0: [word], 1: turned[:1]}, 5.0, vocabulary=turned)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"vocabulary has the word '{word}' in column {V - 1}"):
            model.fit(frame)
    # Names that are no words of it are numbers of columns, or so.
    numbered = pd.DataFrame(COUNTS, columns=[f"column {i}" for i in range(V)])
    GuidedTopics({"one": [word]}, 1, vocabulary=turned).fit(numbered)


def test_seeds_of_classes_that_are_numbers_are_by_their_names():
    frame = pd.DataFrame(COUNTS, columns=[f"w{j}" for j in range(V)])
    y = np.arange(N) % 2 + 1
    fits = [
        MultiViewLDA(1, class_word_prior=SeedWords(seeds, 50.0), random_state=0).fit(frame, labels)
        for seeds in ({1: ["w0"], 2: ["w1"]}, {2: ["w1"], 1: ["w0"]})
        for labels in (y, y.astype(float), y.tolist())
    ]
    for model in fits[1:]:
        assert_array_equal(model.components_, fits[0].components_)
    # A list is by place, as are numbers where classes have names.
    for seeds, labels in (
        ([["w0"], ["w1"]], y),
        ({0: ["w0"], 1: ["w1"]}, y.astype(str)),
        ({"1": ["w0"], "2": ["w1"]}, y),
    ):
        prior = SeedWords(seeds, 50.0)
        model = MultiViewLDA(1, class_word_prior=prior, random_state=0).fit(frame, labels)
        assert_array_equal(model.components_, fits[0].components_)
    with pytest.raises(
        ValueError, match=r"seeds are given for \[0\], .* the classes \[1, 2\]; use"
    ):
        MultiViewLDA(1, class_word_prior=SeedWords({0: ["w0"], 1: ["w1"]}, 50.0)).fit(frame, y)


@pytest.mark.parametrize("sentiments", [(1, 0), (1, -1), ("positive", "negative"), ("c", "a", "b")])
@pytest.mark.parametrize("prior", [SentimentWords, lambda words: SeedWords(words, 1.0)])
def test_sentiments_are_by_their_names_and_sorted_where_scorers_ask(sentiments, prior):
    words = [f"word{j}" for j in range(len(sentiments))]
    texts = [f"{word} {word}. {word} here" for word in words] * 6
    truth = list(sentiments) * 6
    model = make_pipeline(
        SentenceVectorizer(),
        AspectSentimentModel(
            1, sentiments=sentiments, batch_size=6, random_state=0,
            topic_word_prior=prior({n: [w] for n, w in zip(sentiments, words, strict=True)}),
        ),
    )  # fmt: skip
    assert cross_val_score(model, texts, truth, scoring="accuracy", cv=2).tolist() == [1, 1]
    found = cross_val_predict(model, texts, truth, method="predict_proba", cv=2)
    assert log_loss(truth, found) < 0.5
    model.fit(texts)
    assert_array_equal(model[-1].sentiment_names_, sentiments)
    assert_array_equal(model.classes_, sorted(sentiments))
    assert_array_equal(model.predict(texts), truth)
    assert [model[-1].topic_of(name, 0) for name in sentiments] == [*range(len(sentiments))]
