# SPDX-License-Identifier: BSD-3-Clause
"""What is refused: what would give a wrong number or end the process, and what people get wrong.

A row is a name, a call that has to raise an error of a few kinds, and a word that the message has
to have. After it the model, where there is one, is as before.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import streamtopics as st
from streamtopics.dpp import PointSets
from streamtopics.estimators import Schedule
from streamtopics.inspection import documents_of, shares_over_time
from streamtopics.metrics import left_to_right, topic_diversity, topic_exclusivity
from streamtopics.models import GaussianMixture, LinearRegression
from streamtopics.priors import SeedWords, class_words_prior, zipf_prior
from streamtopics.report import report
from streamtopics.streams import DriftMonitor, TopicTracker
from streamtopics.text import NamedCounts, SentenceVectorizer, StreamingCountVectorizer
from streamtopics.updates import DirichletProcess
from tests.conventions.every import CLASSES, COUNTS, ITEMS, NAMES, RATINGS, SENTENCES, USERS, N, V

REFUSED = (ValueError, TypeError, OverflowError, NotFittedError)
TEXTS = ["a ship at sea", "the deep sea", "a plane in the sky"]
FRAME = pd.DataFrame(COUNTS, columns=NAMES)


def lda(**parameters):
    return st.SVBLDA(2, random_state=0, **parameters)


def learnt():
    return lda().fit(COUNTS)


def with_value(value):
    """Counts of which one is another value."""
    X = COUNTS.copy()
    X[3, 1] = value
    return X


def masked(values, hidden=2):
    """Values of which the first few are hidden: NumPy would read what is behind the mask."""
    return np.ma.masked_array(values, mask=np.arange(len(values)) < hidden)


def beyond(place):
    """A sparse matrix with a column outside of it."""
    X = sparse.coo_matrix(COUNTS)
    X.col = np.append(place, X.col[1:])
    return X


TWICE = sparse.csr_matrix(([1e15, 1e15, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 6))

# Of counts and containers: numbers would be wrong, or kernels read beyond arrays; more of them are
# in test_structure.py.
COUNTS_REFUSED = {
    "counts without room": (lambda: lda().fit(with_value(1e16)), "count"),
    "a count that is stored in two parts": (lambda: lda().fit(TWICE), "count"),
    "dates": (lambda: lda().fit(COUNTS.astype("datetime64[D]")), ""),
    "a column of dates": (
        lambda: lda().fit(FRAME.assign(when=pd.date_range("2020-01-01", periods=N))), ""),
    "counts with a mask": (lambda: lda().fit(np.ma.masked_greater(COUNTS, 2)), "masked"),
    "an index beyond, of coordinates": (lambda: lda().fit(beyond(10**8)), ""),
    "parts of counts where words are taken one by one": (
        lambda: st.WASTopicModel(2).fit([part * 0.5 for part in SENTENCES]), "whole|integer"),
    "pointers of sets that fall": (
        lambda: PointSets(np.arange(4), np.array([0, 3, 1, 4])), "decrease"),
    "columns to forget that are not there": (lambda: learnt().forget_words([V]), "column"),
    "columns to forget that are no columns": (lambda: learnt().forget_words([0.5]), "column"),
}  # fmt: skip

# Other words, other lengths, other shapes: what broadcasts would be another number.
SHAPES_REFUSED = {
    "a prior of more words": (lambda: lda(topic_word_prior=np.ones(V + 1)).fit(COUNTS), "prior"),
    "a prior of more topics": (lambda: lda(doc_topic_prior=np.ones(3)).fit(COUNTS), "prior"),
    "a prior of words with a mask": (
        lambda: lda(topic_word_prior=masked(np.ones(V))).fit(COUNTS), "masked"),
    "labels of fewer documents": (lambda: st.MultiViewLDA(2).fit(COUNTS, CLASSES[:3]), ""),
    "labels with a mask": (
        lambda: st.MultiViewLDA(2).fit(COUNTS, masked(ITEMS)), "masked"),
    "labels that are missing": (
        lambda: st.MultiViewLDA(2).fit(COUNTS, [*CLASSES[:-1], None]), "y"),
    "labels of a prior that are missing": (
        lambda: class_words_prior(COUNTS, [*[1.0] * (N - 1), np.nan]), "y"),
    "ratings of fewer documents": (lambda: st.RatingLDA(2).fit(COUNTS, RATINGS[:3]), ""),
    "missing ratings": (lambda: st.RatingLDA(2).fit(COUNTS, [*RATINGS[:-1], np.nan]), "NaN"),
    "items with a mask": (
        lambda: st.HiddenFactorsTopics(2).fit(COUNTS, RATINGS, items=masked(ITEMS), users=USERS),
        "masked"),
    "users of fewer documents": (
        lambda: st.HiddenFactorsTopics(2).fit(COUNTS, RATINGS, items=ITEMS, users=USERS[:3]),
        "users"),
    "a topic prior of a likelihood of another length": (
        lambda: left_to_right(COUNTS, np.full((1, V), 1 / V), [0.5, 0.5]), ""),
    "times of fewer documents": (
        lambda: shares_over_time(learnt(), COUNTS, np.arange(3)), "times"),
    "names of fewer columns": (lambda: learnt().top_words(NAMES[:3]), "feature_names"),
    "names of columns of counts": (lambda: NamedCounts.of(COUNTS, NAMES[:3]), ""),
    "a vocabulary in another order than the columns": (
        lambda: lda(topic_word_prior=SeedWords(
            {0: [str(NAMES[0])]}, 5.0, vocabulary=list(NAMES[::-1]))).fit(FRAME), "vocabulary"),
    "a vocabulary that was exchanged": (
        lambda: StreamingCountVectorizer(vocabulary=["sea"]).partial_fit(TEXTS).set_params(
            vocabulary=["sky"]).partial_fit(TEXTS), "vocabulary"),
    "seeds of no word": (
        lambda: lda(topic_word_prior=SeedWords({0: ["sheep"]}, 5.0)).fit(FRAME), "sheep"),
    "a seed of two topics": (
        lambda: lda(topic_word_prior=SeedWords({0: ["word1"], 1: ["word1"]}, 5.0)).fit(FRAME),
        "word1"),
    "a model of another kind to merge": (
        lambda: learnt().merge(st.StreamingMixture(2, random_state=0).fit(COUNTS)), "other"),
    "a model of other columns to merge": (lambda: learnt().merge(lda().fit(COUNTS[:, :3])), ""),
    "a number of topics that was changed": (
        lambda: learnt().set_params(n_components=3).partial_fit(COUNTS), "n_components"),
    "a class that was not announced": (
        lambda: st.MultiViewLDA(2).partial_fit(COUNTS, CLASSES, classes=["a", "b"]).partial_fit(
            COUNTS, ["c"] * N), "c"),
}  # fmt: skip

DATES = np.arange(N).astype("M8[D]")

# Settings and answers that would be taken for others.
OTHERS_REFUSED = {
    "dates as ratings": (lambda: st.SupervisedLDA(2).partial_fit(COUNTS, DATES), "dates"),
    "dates as weights": (lambda: topic_exclusivity(COUNTS.astype("M8[D]"), 3), "dates"),
    "a complex prior": (
        lambda: left_to_right(COUNTS, np.full((2, V), 1 / V), 0.1 + 5j), "real"),
    "no topics to compare": (lambda: topic_diversity([]), "words"),
    "words in place of topics": (lambda: topic_diversity(["ship", "sea"]), "sequence of topics"),
    "a topic counted from the end": (lambda: documents_of(learnt(), COUNTS, topic=-1), "topic"),
    "a budget that is no number": (lambda: TopicTracker(budget=np.nan), "budget"),
    "births that are averaged": (
        lambda: st.StreamingMixture(
            9, births=DirichletProcess(), schedule=Schedule(averaging="linear")).fit(COUNTS),
        "averaging to None"),
    "a share that is impossible": (
        lambda: st.MultiViewLDA(2, 1, local_share_prior=(-5.5, 1.0)).fit(COUNTS, CLASSES),
        "local_share_prior"),
    "items of 64 bits without a sign": (
        lambda: st.HiddenFactorsTopics(2).fit(
            COUNTS, RATINGS, items=ITEMS.astype(np.uint64) + np.uint64(2**63), users=USERS),
        "items must be .* too large"),
    "phrases by code of Python in sentences": (
        lambda: SentenceVectorizer(StreamingCountVectorizer(
            tokenizer=str.split, token_pattern=None, phrases=True)).fit([TEXTS]), "phrases need"),
    "a monitor without a seed": (lambda: DriftMonitor(random_state=None), "random_state"),
}  # fmt: skip

# Mistakes that people make.
MISTAKES = {
    "counts where texts are needed": (lambda: StreamingCountVectorizer().fit(COUNTS), "text"),
    "one text without its list": (lambda: StreamingCountVectorizer().fit("a ship"), "text"),
    "a text that is missing": (
        lambda: StreamingCountVectorizer().fit([*TEXTS, None]), "missing|None"),
    "lists of words where texts are needed": (
        lambda: StreamingCountVectorizer().fit([text.split() for text in TEXTS]), "analyzer"),
    "one matrix where sentences are needed": (lambda: st.WASTopicModel(2).fit(COUNTS), "sentences"),
    "ranks that are dates": (lambda: zipf_prior(np.arange(1, 5).astype("datetime64[D]")), ""),
}  # fmt: skip
ROWS = COUNTS_REFUSED | SHAPES_REFUSED | OTHERS_REFUSED | MISTAKES


@pytest.mark.parametrize("name", ROWS)
def test_what_is_refused(name):
    call, word = ROWS[name]
    with pytest.raises(REFUSED, match=word or None):
        call()


@pytest.mark.parametrize("make", [lda, lambda: st.StreamingLDA(2, random_state=0)])
@pytest.mark.parametrize("X", [with_value(-1.0), with_value(np.nan), COUNTS[:, :3], TEXTS])
def test_a_refused_minibatch_changes_nothing(make, X):
    model = make().partial_fit(COUNTS)
    before = pickle.dumps(model)
    with pytest.raises(REFUSED):
        model.partial_fit(X)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("wrong", ["abc", [["a"] * V], [[1] * V, [1]]])
def test_a_report_of_no_counts_is_not_written(wrong, tmp_path):
    with pytest.raises((TypeError, ValueError)):
        report(learnt(), tmp_path / "page.html", X=wrong, feature_names=NAMES)
    assert list(tmp_path.iterdir()) == []


def test_samples_that_have_no_finite_answer_are_refused():
    rows = np.array([[1e19, 1e19]] * 2)
    with pytest.raises(ValueError, match=r"too|extreme|infinite|solution"):
        st.StreamingBayes(LinearRegression()).fit(rows, np.ones(2))
    with pytest.raises(REFUSED):
        st.StreamingBayes(GaussianMixture(2), random_state=0).fit(with_value(np.inf))
