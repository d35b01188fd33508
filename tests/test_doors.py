# SPDX-License-Identifier: BSD-3-Clause
"""What generated calls (`proof.fuzz`) found that was refused in words of another package."""

from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags

from streamtopics import (
    SVBLDA,
    GuidedTopics,
    HDPGibbsOnlineEM,
    HiddenFactorsTopics,
    LowRankDPP,
    MultiViewLDA,
    RatingLDA,
    StreamingLDA,
    SupervisedLDA,
    WASTopicModel,
)
from streamtopics.datasets import (
    make_rated_reviews,
    make_subtle_corpus,
)
from streamtopics.distributed import score_partitions
from streamtopics.estimators import Schedule
from streamtopics.inspection import (
    compare_n_components,
)
from streamtopics.metrics import (
    LeftToRightScorer,
    ParticleScorer,
    PerplexityScorer,
    PredictiveScorer,
    RougeScorer,
    completion_split,
    left_to_right,
    open_vocabulary_probability,
    rouge,
)
from streamtopics.priors import (
    SeedWords,
    ZipfPrior,
    class_words_prior,
)
from streamtopics.report import report
from streamtopics.streams import (
    DriftMonitor,
    TopicTracker,
    stream,
)
from streamtopics.text import (
    StreamingCountVectorizer,
    StreamingPipeline,
)
from tests.distributed.engines import Now

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


@pytest.mark.parametrize("scorer", [LeftToRightScorer(), PerplexityScorer(), PredictiveScorer()])
def test_scorers_leave_what_they_are_passed(scorer):
    model = SVBLDA(2, schedule=Schedule(n_rounds=10), random_state=0).fit(COUNTS)
    X = sparse.csr_array(COUNTS[:, ::-1].astype(float))
    X.indices = np.ascontiguousarray(5 - X.indices)
    X.has_sorted_indices = False
    before = X.indices.copy()
    scorer(model, X)
    np.testing.assert_array_equal(X.indices, before)
    assert LeftToRightScorer()(model, X) == pytest.approx(LeftToRightScorer()(model, X.toarray()))


@pytest.mark.parametrize("door", [completion_split, lambda X: class_words_prior(X, [0] * len(X))])
@pytest.mark.parametrize("X", [np.array([["a", "b"]]), np.ones((2, 2, 2)), [["a", 1]]])
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
    with pytest.raises(ValueError, match="form must be one of 'product', 'wallach'"):
        left_to_right([[1, 0]], [[0.5, 0.5]], 0.5, form=other)
    with pytest.raises(ValueError, match="profile must be one of 'document', 'item', 'user'"):
        make_rated_reviews(10, profile=other)
    with pytest.raises(ValueError, match="missing must be one of 'error', 'ignore'"):
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


def learnt():
    return SVBLDA(2, random_state=0).fit(COUNTS)


def test_partitions_stay_as_they_are(tmp_path):
    X = sparse.csr_matrix(COUNTS, dtype=float)
    twice = sparse.csr_matrix(
        (np.repeat(X.data, 2), np.repeat(X.indices, 2), X.indptr * 2), shape=X.shape
    )
    score_partitions(learnt(), [twice], Now())
    report(learnt(), tmp_path / "a.html", X=twice)
    assert twice.nnz == 2 * X.nnz


@pytest.mark.parametrize("time", [1e300, -1e300, -(2.0**53), 1e16])
def test_a_report_of_documents_of_one_huge_time(time, tmp_path):
    """A number to which one cannot be added is a period, too."""
    page = tmp_path / "page.html"
    report(learnt(), page, X=sparse.csr_matrix(COUNTS, dtype=float), times=[time] * len(COUNTS))
    assert (f"{time:.0f}" if abs(time) < 1e17 else f"{time:g}") in page.read_text()


def test_a_tracker_takes_indices_of_64_bits():
    X = sparse.csr_array(COUNTS, dtype=float)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    tracker = TopicTracker()
    stream(SVBLDA(2, random_state=0), [X, X], callbacks=[tracker])
    assert tracker.topics()


@pytest.mark.parametrize("shape", [(4,), (2, 2, 6)])
def test_sparse_arrays_of_other_than_two_axes_are_refused_by_name(shape, tmp_path):
    try:
        X = sparse.coo_array(np.ones(shape))
    except (TypeError, ValueError):
        X = None
    if X is None or X.ndim == 2:
        pytest.skip("this SciPy has sparse arrays of two axes only")
    for door in (
        completion_split,
        learnt().partial_fit,
        lambda X: report(learnt(), tmp_path / "a.html", X=X),
    ):
        with pytest.raises(ValueError, match=r"X, passed to .*, must be a 2-D matrix"):
            door(X)


@pytest.mark.parametrize("index", ["int8", "int16", "uint32"])
def test_indices_of_other_types_are_learnt_from(index):
    X = sparse.csr_matrix(COUNTS, dtype=float)
    narrow = X.copy()
    narrow.indices, narrow.indptr = X.indices.astype(index), X.indptr.astype(index)
    for model in SVBLDA(2, random_state=0), HDPGibbsOnlineEM(random_state=0):
        expected = clone(model).partial_fit(X).topic_word_
        np.testing.assert_array_equal(model.partial_fit(narrow).topic_word_, expected)
    y = [0, 1] * 4
    np.testing.assert_array_equal(class_words_prior(narrow, y), class_words_prior(X, y))


def test_booleans_are_counts(tmp_path):
    X = COUNTS > 0
    observed, held_out = completion_split(X)
    np.testing.assert_array_equal((observed + held_out).toarray(), X)
    report(learnt(), tmp_path / "a.html", X=X)
    assert (tmp_path / "a.html").stat().st_size


def test_a_scorer_of_no_summaries_is_nan_without_a_warning():
    class Nothing:
        def transform(self, X):
            return []

    assert np.isnan(RougeScorer()(Nothing(), [], []))


@pytest.mark.parametrize(
    ("model", "needs"),
    [
        (WASTopicModel(2), "sentences"),
        (MultiViewLDA(2, 2), "labels"),
        (RatingLDA(2), "labels or ratings"),
    ],
)
def test_a_monitor_says_what_it_cannot_look_at(model, needs):
    with pytest.raises(TypeError, match=f"counts alone; .* needs {needs}"):
        DriftMonitor().learn(model, COUNTS)
    assert not hasattr(model, "n_documents_seen_") or not model.__sklearn_is_fitted__()


def test_a_rating_that_overflows_is_named():
    """Where it does not it is learnt from, as any."""
    data = make_rated_reviews(60, n_features=30, n_components=2, random_state=0)
    start = SupervisedLDA(2, max_iter=2, random_state=0).fit(data.X[:30], data.ratings[:30])
    said = []
    for far in (1e76, 1e85, 1e100, -1e100):
        model, ratings = deepcopy(start), np.where(np.arange(30) == 3, far, data.ratings[30:])
        try:
            model.partial_fit(data.X[30:], ratings)
        except ValueError as error:
            said.append(str(error))
    assert said
    assert all(one.startswith("y, passed to SupervisedLDA.partial_fit, has a") for one in said)


def test_items_to_leave_out_may_be_a_set():
    data = make_rated_reviews(60, n_features=30, n_components=2, random_state=0)
    whose = {"items": data.item, "users": data.user}
    model = HiddenFactorsTopics(2, max_iter=2, random_state=0).fit(data.X, data.ratings, **whose)
    seen = data.item[:5].tolist()
    user = data.user[0]
    assert model.recommend(user, exclude=set(seen)) == model.recommend(user, exclude=seen)
    with pytest.raises(ValueError, match="exclude must be a list of labels"):
        model.recommend(user, exclude=[[seen[0]]])
    with pytest.raises(ValueError, match="exclude must be a list of labels"):
        model.recommend(user, exclude=[seen, seen[0]])
    with pytest.raises(ValueError, match=r"users were (integers|strings) before"):
        model.recommend("nobody" if isinstance(seen[0], int) else 0)


def test_labels_that_numpy_would_change_are_refused():
    data = make_rated_reviews(60, n_features=30, n_components=2, random_state=0)
    whose = {"items": data.item.astype(str), "users": data.user.astype(str)}
    model = HiddenFactorsTopics(2, max_iter=1, random_state=0).fit(data.X, data.ratings, **whose)
    with pytest.raises(ValueError, match="exclude must be integers or strings, without missing"):
        model.recommend(whose["users"][0], exclude=[np.nan, whose["items"][0]])
    with pytest.raises(ValueError, match=r"users must not end in a NUL.*got '1\\x00'"):
        model.recommend("1\0")
    with pytest.raises(ValueError, match="items must not end in a NUL"):
        model.fit(data.X, data.ratings, items=["a", "a\0"] * 30, users=whose["users"])
