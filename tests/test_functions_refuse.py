# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of functions that were refused in words of another package, or not at all."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from streamtopics import SVBLDA, StreamingLDA
from streamtopics.inspection import (
    TopicLabel,
    compare_n_components,
    label_topics,
    plot_curves,
    plot_sentences,
    plot_shares,
)
from streamtopics.metrics import (
    OpenVocabularyScorer,
    open_vocabulary_probability,
    relevant_words,
    rouge,
    summary_redundancy,
    topic_exclusivity,
)
from streamtopics.priors import SeedWords, seed_prior, seed_pulls, zipf_prior

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def test_a_vocabulary_leaves_some_probability_to_unknown_words():
    texts = [" ".join(map(chr, range(start, start + 100))) for start in range(0x4E00, 0x6188, 100)]
    vectorizer = CountVectorizer(token_pattern=r"\w")
    model = make_pipeline(vectorizer, StreamingLDA(2, random_state=0)).fit(texts)
    with pytest.raises(ValueError, match=r"n_characters=64 leaves no .* pass at least 5,001"):
        OpenVocabularyScorer()(model, texts)
    assert np.isfinite(open_vocabulary_probability(model, texts, n_characters=5001))
    pairs = ["ab ac ad ae af ag ah", "bc bd be bf bg bh bi"]
    model = make_pipeline(CountVectorizer(), StreamingLDA(2, random_state=0)).fit(pairs)
    with pytest.raises(ValueError, match=r"n_characters=2 .* pass at least 10, or None"):
        open_vocabulary_probability(model, pairs, n_characters=2)
    assert np.isfinite(open_vocabulary_probability(model, pairs, n_characters=10))


LABEL = TopicLabel(0, "sea", ("a", "b"), (0.5, 0.25))
MALFORMED = [
    {"topic": -1}, {"topic": 0.0}, {"topic": True}, {"label": None}, {"words": ("a",)},
    {"words": (), "probabilities": ()}, {"words": "ab"}, {"words": (1, 2)}, {"words": None},
    {"probabilities": ("a", "b")}, {"probabilities": (0.0, 0.0)}, {"probabilities": (np.nan, 1)},
    {"probabilities": (1e308, 1e308)}, {"probabilities": 1.0},
]  # fmt: skip


@pytest.mark.parametrize("fields", MALFORMED, ids=str)
def test_labels_that_do_not_fit_are_refused(fields):
    model = SVBLDA(2, random_state=0).fit(np.eye(2))
    kept = label_topics(model, lambda *_: "new", ["a", "b"], before=[LABEL], change=1)
    assert kept[0] is LABEL
    with pytest.raises(ValueError, match="before must hold labels of a topic from 0 on"):
        label_topics(model, lambda *_: "new", ["a", "b"], before=[LABEL._replace(**fields)])


def test_spans_of_time_and_truth_values_are_no_shares():
    model = SVBLDA(2, random_state=0).fit(np.eye(2))
    for wrong in (np.timedelta64(0), True):
        with pytest.raises(ValueError, match="change must be in"):
            label_topics(model, lambda *_: "new", ["a", "b"], change=wrong)
        with pytest.raises(ValueError, match="relevance must be in"):
            relevant_words(np.eye(2), relevance=wrong)


@pytest.mark.parametrize("texts", [5, [None], ["a sea", b"a sky"], "a sea"])
def test_texts_of_labels_are_looked_at_before_all_else(texts):
    model = make_pipeline(CountVectorizer(), SVBLDA(2, random_state=0)).fit(["sea sky", "sky sun"])
    with pytest.raises(TypeError, match="texts must be a sequence of str"):
        label_topics(model, lambda *_: "new", texts=texts)


def test_tokenize_may_give_words_one_by_one():
    found = rouge(["a b"], ["a c"], tokenize=lambda text: (word for word in text.split()))
    assert_array_equal(found.f1, [0.5])
    sentences = [["a b", "a c"]]
    assert_array_equal(summary_redundancy(sentences, tokenize=lambda text: iter(text.split())), 0.5)


@pytest.mark.parametrize("returned", [None, 5, [["a"]], [None]], ids=str)
def test_tokenize_must_return_words(returned):
    with pytest.raises(TypeError, match="tokenize must return the words of a text"):
        rouge(["a b"], ["a c"], tokenize=lambda text: returned)
    with pytest.raises(TypeError, match="tokenize must return the words of a text"):
        summary_redundancy([["a b", "a c"]], tokenize=lambda text: returned)
    with pytest.raises(TypeError, match="tokenize must be a function of a text"):
        summary_redundancy([["a b", "a c"]], tokenize=returned)


HALVES = [[0.5, 0.5], [0.2, 0.8]]
PICTURES = {
    "no mapping": (lambda: plot_curves([], x=[1.0], xlabel="", ylabel=""), "curves must map"),
    "ragged": (lambda: plot_curves({}, x=[[1], [2, 3]], xlabel="", ylabel=""), "x must be 1-D"),
    "ragged curve": (
        lambda: plot_curves({"a": [[1], [2, 3]]}, x=[1, 2], xlabel="", ylabel=""), "must be 1-D"),
    "huge shares": (lambda: plot_shares([1], [[1e308, 1e308]], "ab"), "shares must be finite"),
    "infinite shares": (lambda: plot_shares([1], [[np.inf, 1]], "ab"), "shares must be finite"),
    "huge times": (lambda: plot_shares([-1e308, 1e308], HALVES, "ab"), "times must be finite"),
    "huge numbers": (
        lambda: plot_shares([1, 2], HALVES, "ab", n_documents=[1e308, 1e308]), "n_documents must"),
    "counts": (lambda: plot_sentences(["a", "b"], [[1e308, 1e308], [0, 1]]), "shares must be in"),
    "no shares": (lambda: plot_sentences(["a", "b"], [[np.nan, 1], [0, 1]]), "shares must be in"),
    "letters": (lambda: plot_sentences(["a", "b"], HALVES, font_size=1e300), "at most 1,000"),
}  # fmt: skip


@pytest.mark.parametrize("case", PICTURES)
def test_pictures_of_what_has_no_place_are_refused(case):
    door, message = PICTURES[case]
    error = TypeError if case == "no mapping" else ValueError
    with pytest.raises(error, match=message):
        door()


def test_priors_are_numbers_of_tokens():
    for numbers in ({"strength": 1e308, "base": 1e308}, {"strength": 5e-324}):
        for door in (seed_prior, seed_pulls, SeedWords):
            vocabulary = [["a", "b"]] * (door is not SeedWords)
            with pytest.raises(ValueError, match=r"strength must be a number in \[1e-10, 1e\+10\]"):
                door({"sea": ["a"]}, *vocabulary, **numbers)
    with pytest.raises(ValueError, match=r"mass must be a number in \[1e-10, 1e\+10\]"):
        zipf_prior([1, 2], mass=5e-324)
    for ranks in ([1, 2, 3e300], [1, 1e240]):
        with pytest.raises(
            ValueError, match=r"leaves nothing for the last rank, .*e.*; 1 is usual"
        ):
            zipf_prior(ranks)
    assert zipf_prior([1, 1e200], mass=1e-10).min() > 0


def test_ragged_lists_are_refused_by_name():
    with pytest.raises(ValueError, match="X, passed to compare_n_components, must have rows of"):
        compare_n_components(StreamingLDA(), [[1, 2], [3]], [1, 2], n_splits=2)
    for topics in (["ab", "cd"], [[1, 2], [3]]):
        with pytest.raises(TypeError, match="topics must hold numbers"):
            topic_exclusivity(topics)


def test_times_of_16_bits_are_drawn():
    pytest.importorskip("matplotlib")
    plot_shares(np.array([1.0, 2.0], np.float16), HALVES, ["a", "b"])
