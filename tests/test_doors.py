# SPDX-License-Identifier: BSD-3-Clause
"""What generated calls (`benchmarks.fuzz`) found that was refused in words of another package."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from streamtopics import SVBLDA, GuidedTopics, LowRankDPP, StreamingLDA, WASTopicModel
from streamtopics.datasets import make_rated_reviews, make_subtle_corpus
from streamtopics.inspection import compare_n_components
from streamtopics.metrics import (
    LeftToRightScorer,
    ParticleScorer,
    PerplexityScorer,
    PredictiveScorer,
    completion_split,
    left_to_right,
    open_vocabulary_probability,
    rouge,
)
from streamtopics.priors import SeedWords, ZipfPrior, class_words_prior
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from streamtopics.was import WAS, weight_correlation

COUNTS = np.random.default_rng(0).poisson(1.0, (8, 6))


@pytest.mark.parametrize("other", [0.5, np.bool_(True), "a model"])
def test_only_models_are_merged(other):
    model = StreamingLDA(2, random_state=0).partial_fit(COUNTS)
    with pytest.raises(TypeError, match="other must be a StreamingLDA like the model"):
        model.merge(other)


@pytest.mark.parametrize("steps", [[], None, True])
def test_a_pipeline_without_steps_is_refused(steps):
    with pytest.raises(ValueError, match="StreamingPipeline has no steps"):
        StreamingPipeline(steps).partial_fit(["a soup"])
    with pytest.raises(ValueError, match="StreamingPipeline has no steps"):
        StreamingPipeline(steps).top_words()


@pytest.mark.parametrize("vocabulary", [7, iter(["a", "b"]), object()])
def test_a_vocabulary_is_a_collection(vocabulary):
    model = GuidedTopics({"one": ["a"]}, 1, vocabulary=vocabulary)
    with pytest.raises(TypeError, match="vocabulary must be a mapping of words to columns or a"):
        model.fit(COUNTS)


LONG, SHORT = (np.random.default_rng(1).poisson(1.0, (60, width)) for width in (80, 6))


@pytest.mark.parametrize(("first", "second"), [(LONG, SHORT), (SHORT, LONG)])
def test_fit_anew_chooses_anew(first, second):
    # What "auto" stands for was that of the first fit, whose number of topics was another.
    model = StreamingLDA(3, random_state=0).fit(first).fit(second)
    fresh = StreamingLDA(3, random_state=0).fit(second)
    np.testing.assert_array_equal(model.components_, fresh.components_)


@pytest.mark.parametrize("scorer", [LeftToRightScorer(), PerplexityScorer(), PredictiveScorer()])
def test_scorers_leave_what_they_are_passed(scorer):
    model = SVBLDA(2, n_rounds=10, random_state=0).fit(COUNTS)
    X = sparse.csr_array(COUNTS[:, ::-1].astype(float))
    X.indices = np.ascontiguousarray(5 - X.indices)
    X.has_sorted_indices = False
    before = X.indices.copy()
    scorer(model, X)
    np.testing.assert_array_equal(X.indices, before)
    assert LeftToRightScorer()(model, X) == pytest.approx(LeftToRightScorer()(model, X.toarray()))


@pytest.mark.parametrize("door", [completion_split, lambda X: class_words_prior(X, [0] * len(X))])
@pytest.mark.parametrize("X", [np.array([["a", "b"]]), np.ones((2, 2, 2)), np.ones((2, 2), "f2")])
def test_matrices_of_other_types_are_refused_by_name(door, X):
    with pytest.raises(ValueError, match="cannot be read as a matrix of numbers"):
        door(X)


def test_a_comparison_needs_a_matrix():
    with pytest.raises(ValueError, match="must be a matrix of documents by words"):
        compare_n_components(SVBLDA(), 7.0, [2])


@pytest.mark.parametrize("kind", [sparse.coo_matrix, sparse.bsr_matrix, sparse.dia_array])
def test_matrices_are_no_texts(kind):
    with pytest.raises(ValueError, match="raw text documents expected"):
        StreamingCountVectorizer().fit(kind(COUNTS))
    with pytest.raises(TypeError, match="Pass a list of such matrices"):
        ParticleScorer()(WASTopicModel(2), kind(COUNTS))


def test_one_number_is_no_texts():
    with pytest.raises(ValueError, match="raw text documents expected"):
        StreamingCountVectorizer().fit(np.array(3))


def test_a_prior_of_another_number_of_topics_is_refused():
    with pytest.raises(ValueError, match="doc_topic_prior must be a number, or one for each of 1"):
        left_to_right(COUNTS, np.full((1, 6), 1 / 6), [0.5, 0.5])


def test_tags_of_an_estimator_of_wrong_parameters_can_be_asked_for():
    assert get_tags(LowRankDPP(2)).input_tags.three_d_array


def test_a_process_without_sets_has_no_words():
    with pytest.raises(NotFittedError):
        LowRankDPP(n_components=2).top_words()


def test_scores_of_no_tokens_are_nan_without_a_warning():
    model = SVBLDA(2, random_state=0).fit(COUNTS)
    assert np.isnan(LeftToRightScorer()(model, np.zeros((0, 6))))
    sentences = [sparse.csr_matrix(COUNTS[[row]], dtype=float) for row in range(4)]
    model = WASTopicModel(2, n_sweeps=3, n_burn_in=1, random_state=0).fit(sentences)
    assert np.isnan(ParticleScorer()(model, []))


@pytest.mark.parametrize("other", [sparse.csr_matrix(COUNTS), np.array(["tokens"]), None])
def test_what_is_no_word_is_none_of_the_words(other):
    with pytest.raises(ValueError, match="counted must be 'tokens' or 'documents'"):
        ZipfPrior(counted=other)
    with pytest.raises(ValueError, match="form must be 'product' or 'wallach'"):
        left_to_right([[1, 0]], [[0.5, 0.5]], 0.5, form=other)
    with pytest.raises(ValueError, match="profile must be 'document', 'item' or 'user'"):
        make_rated_reviews(10, profile=other)
    with pytest.raises(ValueError, match="missing must be 'error' or 'ignore'"):
        SeedWords({"fire": ["blaze"]}, 1.0, missing=other)


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_synthetic_sentences_need_finite_numbers(value):
    for name in ("subtle_share", "purity", "topic_word_prior"):
        with pytest.raises(ValueError, match=name):
            make_subtle_corpus(2, **{name: value})


def test_texts_that_are_none_are_named():
    pipeline = make_pipeline(CountVectorizer(), SVBLDA(2, random_state=0))
    texts = ["a ship at sea", "the deep sea"]
    with pytest.raises(TypeError, match="texts must be strings, but that at 1 is None"):
        open_vocabulary_probability(pipeline.fit(texts), ["a ship", None])
    with pytest.raises(TypeError, match="tokenize must be a function of a text; got 3"):
        rouge(["a ship"], ["a ship"], tokenize=3)


def test_a_correlation_of_too_little_is_nan_without_a_warning():
    for n_draws in (0, 1, 2):
        found = weight_correlation(WAS(), 2, n_draws, np.random.default_rng(n_draws))
        assert found.n_shared <= 2 * n_draws
        assert np.isnan(found.given_positions)
