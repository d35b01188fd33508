# SPDX-License-Identifier: BSD-3-Clause
"""What generated calls (`benchmarks.fuzz`) found that was refused in words of another package."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, FunctionTransformer, Normalizer, PolynomialFeatures
from sklearn.utils import get_tags

from benchmarks.fuzz_made import AtOnce
from streamtopics import (
    SVBLDA,
    DPPSummarizer,
    GuidedTopics,
    HDPGibbsOnlineEM,
    HiddenFactorsTopics,
    LowRankDPP,
    MultiViewLDA,
    RatingLDA,
    StreamingBayes,
    StreamingLDA,
    SupervisedLDA,
    WASTopicModel,
)
from streamtopics.datasets import (
    iter_minibatches,
    load_docstrings,
    load_statements,
    make_dpp_sets,
    make_lda_corpus,
    make_rated_reviews,
    make_subtle_corpus,
    read_records,
)
from streamtopics.distributed import fit_partitions, learn_apart, score_partitions
from streamtopics.dpp import (
    Bernoulli,
    Counting,
    Fourier,
    Gaussian,
    Items,
    Kernel,
    LengthMultinomial,
    Poisson,
    Weighted,
)
from streamtopics.inspection import (
    compare_n_components,
    format_topics,
    label_topics,
    plot_curves,
    plot_document,
    plot_scores,
    plot_sentences,
    plot_shares,
    shares_over_time,
)
from streamtopics.local import Gibbs
from streamtopics.metrics import (
    CoherenceScorer,
    LeftToRightScorer,
    ParticleScorer,
    PerplexityScorer,
    PredictiveScorer,
    RougeScorer,
    completion_split,
    left_to_right,
    open_vocabulary_probability,
    perplexity,
    relevant_words,
    rouge,
    summary_redundancy,
    topic_coherence,
    topic_diversity,
    topic_exclusivity,
    topic_stability,
)
from streamtopics.models import GaussianMixture, LinearRegression
from streamtopics.priors import (
    SeedWords,
    SentimentWords,
    ZipfPrior,
    class_words_prior,
    seed_prior,
    zipf_prior,
)
from streamtopics.report import report, report_data
from streamtopics.streams import (
    Checkpointer,
    DriftMonitor,
    TimeSplit,
    TopicTracker,
    prequential_score,
    set_back,
    stream,
)
from streamtopics.streams.features import document_features
from streamtopics.text import (
    NamedCounts,
    SentenceVectorizer,
    StreamingCountVectorizer,
    StreamingPipeline,
    mark_negations,
)
from streamtopics.updates import SVB, FixedPoint, LearnsDocTopicPrior
from streamtopics.was import WAS, simulate, specific_comment_scores, weight_correlation

COUNTS = np.random.default_rng(0).poisson(1.0, (8, 6))
DATES = np.array(["2020-01-01", "2020-01-03"] * 4, dtype="datetime64[D]")


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


def test_a_correlation_of_too_little_is_nan_without_a_warning():
    for n_draws in (0, 1, 2):
        found = weight_correlation(WAS(), 2, n_draws, np.random.default_rng(n_draws))
        assert found.n_shared <= 2 * n_draws
        assert np.isnan(found.given_positions)


def learnt():
    return SVBLDA(2, random_state=0).fit(COUNTS)


def sentences():
    each = [sparse.csr_matrix(COUNTS[[row]], dtype=float) for row in range(4)]
    return WASTopicModel(2, n_sweeps=3, n_burn_in=1, random_state=0).fit(each), each


def broken(X):
    """A matrix with an entry outside of it, of which SciPy reads and writes beyond arrays."""
    X = sparse.coo_matrix(X, dtype=float)
    X.row = X.row.copy()
    X.row[0] = 2**30
    return X


NOTHING = np.array(3)
CLOSED = StreamingCountVectorizer().fit(["a few words"])
NO_COLUMNS = pd.DataFrame(index=range(2))
REFUSED = {
    "a parameter of a vectorizer that became wrong": (
        lambda: deepcopy(CLOSED).set_params(binary=COUNTS).transform(["a few words"]),
        ValueError, "'binary' parameter"),
    "what counts nothing": (
        lambda: list(read_records([{"text": "a"}], skipped=slice(1))), TypeError,
        "skipped must be a Skipped"),
    "keys that are no names": (
        lambda: list(read_records([{"text": "a"}], keys=range(2))), TypeError, "one is 0"),
    "a broken matrix gets names": (
        lambda: NamedCounts.of(broken(COUNTS), list("abcdef")), ValueError, "an entry in row"),
    "a broken partition": (
        lambda: learn_apart(learnt(), broken(COUNTS)), ValueError, "an entry in row"),
    "a partition of other words": (
        lambda: learn_apart(learnt(), COUNTS[:, :3]), ValueError, "documents have 3 columns"),
    "no partition": (
        lambda: learn_apart(learnt(), NOTHING), TypeError, "not rows of counts"),
    "no partitions": (
        lambda: fit_partitions(learnt(), None, AtOnce()),
        TypeError, "partitions must be an iterable"),
    "a broken matrix of sentences": (
        lambda: report(sentences()[0], "a.html", X=[broken(COUNTS)]),
        ValueError, "an entry in row"),
    "labels of a picture": (
        lambda: plot_shares([1], [[0.5]], None), TypeError, "labels must be a sequence"),
    "times of a picture": (
        lambda: plot_shares([[1]], [[0.5]], ["a"]), ValueError, "times must be 1-D"),
    "sentences of a picture": (
        lambda: plot_sentences([3], [[0.5]]), TypeError, "sentences must be a list of str"),
    "names in a picture": (
        lambda: plot_sentences(["a"], [[0.5]], labels="ab"), TypeError, "labels must be a seq"),
    "a size of letters": (
        lambda: plot_document(learnt(), "a", font_size="x"), ValueError, "font_size must be a pos"),
    "curves of another length": (
        lambda: plot_curves({"a": [1, 2]}, x=[1], xlabel="", ylabel=""),
        ValueError, "shape .1,. o"),
    "rows of no scores": (
        lambda: plot_scores([3]), TypeError, "rows must have n_documents and score"),
    "a window of no rows": (
        lambda: plot_scores([], window=0), ValueError, "window must be at least 1"),
    "a table of nothing": (
        lambda: format_topics(NOTHING), TypeError, "table must hold rows"),
    "texts of labels": (
        lambda: label_topics(learnt(), lambda words, texts: "a", X=COUNTS, texts=3.0), TypeError,
        "texts must be a sequence"),
    "texts of a report": (
        lambda: report(learnt(), "a.html", X=COUNTS, texts=NOTHING),
        TypeError, "texts must be a sequence"),
    "summaries of nothing": (
        lambda: rouge(NOTHING, NOTHING), TypeError, "summaries must have an entry"),
    "a summary of nothing": (
        lambda: summary_redundancy(None), TypeError, "summaries must be the sentences"),
    "a similarity": (
        lambda: topic_stability([1], similarity=sparse.eye(2)), ValueError, "similarity must be"),
    "weights of topics": (
        lambda: relevant_words(np.eye(2), ["a", "b"], relevance=0.5), TypeError,
        "topic_weights must hold numbers"),
    "complex counts": (
        lambda: completion_split(COUNTS * 1j), ValueError, "Complex data not supported"),
    "comments of nothing": (
        lambda: specific_comment_scores(*sentences()[0:1], sentences()[1][0], NOTHING), TypeError,
        "comments must be a list of matrices"),
    "sentences of a simulation": (
        lambda: simulate(["a"], WAS(), 0.1, np.eye(2), np.random.default_rng(0)), ValueError,
        "sentence_lengths must be whole numbers"),
    "draws of a correlation": (
        lambda: weight_correlation(WAS(), 2, "a", np.random.default_rng(0)), ValueError, "n_draws"),
    "a strength": (
        lambda: make_dpp_sets(3, strength="a"), ValueError, "strength must be positive"),
    "a ground set": (
        lambda: make_dpp_sets(3, [["items"]]), ValueError, "ground_set must be one of"),
    "an encoding": (
        lambda: list(iter_minibatches("a.txt", encoding=None)), TypeError, "encoding must be a"),
    "keys of records": (
        lambda: list(iter_minibatches("a.txt", keys=NOTHING)), (TypeError, ValueError), "keys"),
    "a source of nothing": (
        lambda: list(iter_minibatches(NOTHING)), TypeError, "source must be an iterable"),
    "a splitter": (
        lambda: SentenceVectorizer(splitter=True).fit(["a"]), TypeError, "splitter must be a func"),
    "a document of nothing": (
        lambda: SentenceVectorizer().fit([NOTHING]), TypeError, "a document must be a str or a"),
    "a type of counts": (
        lambda: StreamingCountVectorizer(dtype=1).fit(["a soup"]), TypeError, "dtype must be a ty"),
    "a local step for an update of alpha": (
        lambda: StreamingLDA(2, doc_topic_prior_update=Gibbs()).fit(COUNTS), TypeError,
        "doc_topic_prior_update must be one of"),
    "what happened in a stream": (
        lambda: Checkpointer("folder").on_batch(learnt(), "a"), TypeError, "must be a BatchInfo"),
    "a frame for a measure": (
        lambda: CoherenceScorer(pd.DataFrame({"a": [1]})), ValueError, "measure must be one of"),
    "a frame for settings": (
        lambda: report_data(learnt(), pd.DataFrame({"a": [1]})), TypeError, "settings must be"),
    "a frame for noise": (
        lambda: Counting(pd.DataFrame({"a": [1]})), ValueError, "level of Counting must be"),
    "a frame for a kernel": (
        lambda: Kernel(np.eye(2), [1, 1], pd.DataFrame({"a": [1]})), ValueError, "gamma of Kern"),
    "a matrix of texts": (
        lambda: label_topics(
            learnt(), lambda words, texts: "a", X=COUNTS, texts=sparse.csr_matrix(COUNTS)),
        TypeError, "texts must be a sequence"),
    "a seed of a topic": (
        lambda: SeedWords([3], 1.0), TypeError, "the seeds of topic 0 must be a list"),
    "a word of a sentiment": (
        lambda: SentimentWords({"good": 3}), TypeError, "the seeds of topic 'good' must be"),
    "a matrix for an order": (
        lambda: rouge(["a"], ["a"], order=sparse.eye(2)), ValueError, "order must be a number"),
    "a matrix for what to do with several": (
        lambda: rouge(["a"], ["a"], several=sparse.eye(2)), ValueError, "several must be one of"),
    "words of a correlation": (
        lambda: weight_correlation(WAS(), 2**70, 1, np.random.default_rng(0)), ValueError,
        "n_words must be a whole number from 0"),
    "numbers for words": (
        lambda: StreamingCountVectorizer(vocabulary=range(3)).fit(["a"]), TypeError,
        "vocabulary must be of words"),
    "weights of a process": (
        lambda: LowRankDPP(random_state=0).fit(sentences()[1]).sample(theta={"a": 1}),
        TypeError, "theta must hold numbers"),
    "an update with a state": (
        lambda: HDPGibbsOnlineEM(update=LearnsDocTopicPrior(SVB(), FixedPoint())).fit(COUNTS),
        ValueError, "update must be a rule of one step and no state"),
    "texts for targets": (
        lambda: StreamingBayes(LinearRegression()).fit(COUNTS, np.array(list("abcdefgh"))),
        ValueError, "y must hold numbers"),
    "classes of two kinds": (
        lambda: MultiViewLDA(random_state=0).fit(COUNTS, [0, 1] * 4).score(
            COUNTS, np.array([0.5, "a"] * 4, dtype=object)),
        ValueError, "mixes labels"),
    "a figure to draw in": (
        lambda: plot_curves({"a": [1]}, x=[1], xlabel="", ylabel="", ax=Figure()), TypeError,
        "ax must be Axes"),
    "a matrix since when": (
        lambda: StreamingCountVectorizer(max_features=3).partial_fit(["a b"]).names_since(COUNTS),
        TypeError, "n_documents must be a whole number"),
    "one number for documents": (
        lambda: list(TimeSplit().split(NOTHING, groups=[1])), TypeError, "must have a row for"),
    "one number for a minibatch": (
        lambda: prequential_score(learnt(), [NOTHING]), TypeError, "must have a row for each"),
    "a number beyond floating point": (
        lambda: Kernel([[10**400]], [1]), ValueError, "U must hold numbers of"),
    "topics whose words are no probabilities": (
        lambda: simulate([2], WAS(), 0.1, [[0.5, 0.7]], np.random.default_rng(0)), ValueError,
        "got sums from 1.2 to 1.2"),
    "a truth value for a number of particles": (
        lambda: left_to_right(COUNTS, np.full((2, 6), 1 / 6), [1, 1], n_particles=True), TypeError,
        "n_particles must be an integer"),
    "a truth value for a number of sets": (
        lambda: LowRankDPP("multinomial", max_iter=2).fit([COUNTS]).sample(True), ValueError,
        "n_sets must be a whole number"),
    "a truth value for a number of topics": (
        lambda: plot_shares([1], [[0.5]], ["a"], n_topics=True), TypeError,
        "n_topics must be an integer"),
    "one weight for all documents": (
        lambda: MultiViewLDA(random_state=0).fit(COUNTS, [0, 1] * 4).score(
            COUNTS, [0, 1] * 4, sample_weight=1.0),
        ValueError, "sample_weight must have a number for each document"),
    "topics of infinite words": (
        lambda: simulate([2], WAS(), 0.1, [[0.5, np.nan]], np.random.default_rng(0)), ValueError,
        "sum to 1; got"),
    "a class that is None": (
        lambda: class_words_prior(COUNTS, [None, "a"] * 4), ValueError, "y, passed to class_words"),
    "missing classes among texts": (
        lambda: class_words_prior(COUNTS, np.array([np.nan, "a"] * 4, dtype=object)), ValueError,
        "mixes labels of the types float, str"),
    "no class but None": (
        lambda: class_words_prior(COUNTS, [None] * 8), ValueError, "has labels that are None"),
    "classes of two kinds for a prior": (
        lambda: class_words_prior(COUNTS, ["a"] * 8, classes=[1, "a"]), ValueError,
        "classes, passed to class_words_prior, mixes"),
    "a matrix for classes of a prior": (
        lambda: class_words_prior(COUNTS, ["a"] * 8, classes=sparse.csr_matrix(COUNTS)), TypeError,
        "classes, passed to class_words_prior, must be a list of labels"),
    "a matrix for classes": (
        lambda: MultiViewLDA(random_state=0).partial_fit(
            COUNTS, [0, 1] * 4, classes=sparse.csr_matrix([[0, 1]])),
        TypeError, "classes, passed to MultiViewLDA.partial_fit, must be a list of labels"),
    "a list of classes of two kinds": (
        lambda: MultiViewLDA(random_state=0).fit(COUNTS, [1, "a"] * 4), ValueError,
        "y, passed to MultiViewLDA.fit, mixes labels of the types int, str"),
    "weights of which some are negative": (
        lambda: MultiViewLDA(random_state=0).fit(COUNTS, [0, 1] * 4).score(
            COUNTS, [0, 1] * 4, sample_weight=[2, -1] * 4),
        ValueError, "sample_weight must be 0 or more, .* its smallest is -1, its greatest 2"),
    "weights that are all 0": (
        lambda: MultiViewLDA(random_state=0).fit(COUNTS, [0, 1] * 4).score(
            COUNTS, [0, 1] * 4, sample_weight=[0.0] * 8),
        ValueError, "more than 0 for a document at least"),
    "texts for weights": (
        lambda: MultiViewLDA(random_state=0).fit(COUNTS, [0, 1] * 4).score(
            COUNTS, [0, 1] * 4, sample_weight=["a"] * 8),
        ValueError, "sample_weight must have a number for each document; got"),
    "a matrix of times": (
        lambda: shares_over_time(learnt(), COUNTS, sparse.csr_matrix(COUNTS)), TypeError,
        "times must be a list or an array"),
    "None and texts for targets": (
        lambda: StreamingBayes(LinearRegression()).fit(COUNTS, [None, "a"] * 4), ValueError,
        "y must hold numbers"),
    "targets of which some are None": (
        lambda: StreamingBayes(LinearRegression()).fit(COUNTS, [None, 1.0] * 4), ValueError,
        "y must hold numbers"),
    "a rating that is no number of floating point": (
        lambda: SupervisedLDA().fit(COUNTS, [10**400] * 8), ValueError,
        "y, passed to SupervisedLDA.fit, must be ratings"),
    "a prior that is no number of floating point": (
        lambda: RatingLDA(qualitative_prior=[10**400, 1]).fit(COUNTS, np.arange(8)), ValueError,
        "qualitative_prior must be two positive numbers"),
    "a weight that is no number of floating point": (
        lambda: MultiViewLDA(random_state=0).fit(COUNTS, [0, 1] * 4).score(
            COUNTS, [0, 1] * 4, sample_weight=[10**400] * 8),
        ValueError, "sample_weight must have a number for each document"),
    "dates for targets": (
        lambda: StreamingBayes(LinearRegression()).fit(COUNTS, DATES), ValueError,
        "y must hold numbers"),
    "dates for ratings": (
        lambda: SupervisedLDA().fit(COUNTS, DATES), ValueError,
        "dates and spans of time are no ratings; y, passed to SupervisedLDA.fit, must be ratings"),
    "dates of a time zone for ratings": (
        lambda: RatingLDA().fit(COUNTS, pd.to_datetime(pd.Series(DATES), utc=True)), ValueError,
        "dates and spans of time are no ratings"),
    "a list of dates for ratings": (
        lambda: RatingLDA().partial_fit(COUNTS, DATES.tolist()), ValueError,
        "y, passed to RatingLDA.partial_fit, must be ratings, one number for each row"),
    "no topics in colours": (
        lambda: plot_sentences(["a"], [[0.5, 0.5]], n_topics=0), ValueError,
        "n_topics must be at least 1; got 0"),
    "topics in colours, a word": (
        lambda: plot_sentences(["a"], [[0.5, 0.5]], n_topics="a"), TypeError,
        "n_topics must be an integer; got 'a'"),
    "shares of no topics": (
        lambda: plot_sentences(["a"], np.zeros((1, 0))), ValueError, "a column for each topic; g"),
    "a truth value for a number of words": (
        lambda: learnt().top_words(n_words=True), TypeError, "n_words must be an integer; got T"),
    "a truth value for a number of words of a process": (
        lambda: LowRankDPP("multinomial", max_iter=2).fit([COUNTS]).top_words(n_words=True),
        TypeError, "n_words must be an integer; got True"),
    "a truth value for a number of jobs": (
        lambda: left_to_right(COUNTS, np.full((2, 6), 1 / 6), [1, 1], n_jobs=True), TypeError,
        "n_jobs must be a whole number or None; got True"),
    "one number to split": (
        lambda: completion_split(np.float64(3)), ValueError, "cannot be .* it must be 2-D"),
    "one row to split": (
        lambda: completion_split([1, 2]), ValueError, "cannot be .* it must be 2-D"),
    "a frame of no columns for topics": (
        lambda: left_to_right(COUNTS, NO_COLUMNS, 1.0), ValueError, "topic_word, a data frame"),
    "a frame of no columns for weights of topics": (
        lambda: topic_exclusivity(NO_COLUMNS), ValueError, "topics, a data frame passed"),
    "a frame of no columns for a prior": (
        lambda: SVBLDA(2, topic_word_prior=NO_COLUMNS).fit(COUNTS), ValueError,
        "topic_word_prior, a data frame passed to a model, has no columns"),
    "relevant words of none": (
        lambda: relevant_words(NO_COLUMNS), ValueError, "topic_word must have shape"),
    "relevant words of no topics": (
        lambda: relevant_words(np.ones((0, 3)), relevance=0.5), ValueError, "topic_word must have"),
    "perplexity over no words": (
        lambda: perplexity(learnt(), np.zeros((3, 0))), ValueError, "X must have the columns that"),
    "likelihood over no words": (
        lambda: left_to_right(np.zeros((3, 0)), np.full((1, 6), 1 / 6), 1.0), ValueError,
        "X has 0 features, but topic_word has 6"),
    "coherence in no documents": (
        lambda: topic_coherence([[0, 1]], np.zeros((0, 6))), ValueError,
        "X must have documents and words; got 0 samples"),
    "bytes with negations": (
        lambda: mark_negations(b"x"), TypeError, "text must be a str; got b'x'"),
    "stability of a number": (
        lambda: topic_stability(3), TypeError, "models must be a list of at least two models; g"),
    "diversity of a number": (
        lambda: topic_diversity(3), TypeError, "topics must be the top words of each topic; got 3"),
    "a stream of a number": (
        lambda: stream(learnt(), 3), TypeError, "batches must be an iterable of minibatches; got"),
    "a number for packages": (
        lambda: load_docstrings(packages=3), TypeError, "packages must be a list of names; got 3"),
    "more topics than can be": (
        lambda: seed_prior({"one": ["a"]}, ["a"], 1.0, n_components=2**62), ValueError,
        "n_components must be at most"),
    "a position beyond all topics": (
        lambda: seed_prior({2**62: ["a"]}, ["a"], 1.0), TypeError, "positions .int from 0, below"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_by_name(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    door, error, match = REFUSED[case]
    with pytest.raises(error, match=match):
        door()


SEEDED = {
    "an LDA corpus": lambda seed: make_lda_corpus(5, random_state=seed).X,
    "sets": lambda seed: make_dpp_sets(2, random_state=seed).sets.points,
    "sentences": lambda seed: make_subtle_corpus(2, random_state=seed).sentence_topic,
    "reviews": lambda seed: make_rated_reviews(5, random_state=seed).X,
    "docstrings": lambda seed: load_docstrings(packages=["joblib"], random_state=seed).target,
    "statements": lambda seed: load_statements(packages=["joblib"], random_state=seed).target,
    "numbers of topics": lambda seed: compare_n_components(
        SVBLDA(), COUNTS, [2], n_splits=2, random_state=seed).rows[0].score,
    "draws": lambda seed: LowRankDPP("multinomial", max_iter=2, random_state=0).fit(
        [COUNTS]).sample(2, random_state=seed).points,
}  # fmt: skip


@pytest.mark.parametrize("door", SEEDED)
def test_seeds_are_refused_by_name(door):
    for seed in (2**63, 2**32, -1, 1.5, "a"):
        with pytest.raises(ValueError, match=f"random_state must be None, .*got {seed!r}"):
            SEEDED[door](seed)


@pytest.mark.parametrize("door", sorted(SEEDED.keys() - {"docstrings", "statements", "draws"}))
def test_seeds_of_all_kinds_are_taken(door):
    dense = [np.asarray(x.toarray() if sparse.issparse(x) else x) for x in (
        SEEDED[door](seed) for seed in (2**32 - 1, np.uint32(2**32 - 1),
        np.random.RandomState(2**32 - 1)))]  # fmt: skip
    np.testing.assert_array_equal(dense[0], dense[1])
    np.testing.assert_array_equal(dense[0], dense[2])
    SEEDED[door](None)


HUGE = 10**400
FILLED = {
    "X of a model": (lambda: learnt().fit([[HUGE, 1]]), "X"),
    "X of transform": (lambda: learnt().transform([[HUGE] * 6]), "X"),
    "X of a process": (lambda: LowRankDPP("multinomial").fit([[[HUGE, 1]]]), "X"),
    "X of samples": (lambda: StreamingBayes(LinearRegression()).fit([[HUGE]] * 3, [1] * 3), "X"),
    "y of samples": (
        lambda: StreamingBayes(LinearRegression()).fit([[1]] * 3, [HUGE] * 3), "y"),
    "X of a coherence": (lambda: topic_coherence([[0, 1]], [[HUGE, 1]]), "X"),
    "X of a scorer": (lambda: CoherenceScorer()(learnt(), [[HUGE] * 6]), "X"),
    "X of perplexity": (lambda: perplexity(learnt(), [[HUGE] * 6]), "X"),
    "topics of a measure": (lambda: topic_exclusivity([[HUGE, 1]]), "topics"),
    "X of a likelihood": (lambda: left_to_right([[HUGE, 1]], [[0.5, 0.5]], 1.0), "X"),
    "topics of a likelihood": (lambda: left_to_right([[1, 1]], [[HUGE, 1]], 1.0), "topic_word"),
    "a prior of a likelihood": (
        lambda: left_to_right([[1, 1]], [[0.5, 0.5]], [HUGE]), "doc_topic_prior"),
    "a prior of words": (
        lambda: SVBLDA(2, topic_word_prior=[HUGE] * 6).fit(COUNTS), "topic_word_prior"),
    "a prior of topics": (
        lambda: SVBLDA(2, doc_topic_prior=[HUGE, 1]).fit(COUNTS), "doc_topic_prior"),
    "a strength of seeds": (lambda: seed_prior({"a": ["x"]}, ["x"], HUGE), "strength"),
    "a base of seeds": (lambda: seed_prior({"a": ["x"]}, ["x"], 1.0, base=HUGE), "base"),
    "ranks": (lambda: zipf_prior([HUGE, 1]), "ranks"),
    "an exponent": (lambda: zipf_prior([2, 1], exponent=HUGE), "exponent"),
    "chances of words": (lambda: Bernoulli([HUGE, 0.5]), "pi"),
    "rates of words": (lambda: Poisson([HUGE, 0.5]), "lam"),
    "lengths": (lambda: LengthMultinomial([HUGE, 1], [0.5, 0.5]), "lengths"),
    "a mean": (lambda: Gaussian([HUGE], [1]), "mean"),
    "a variance": (lambda: Gaussian([1], [HUGE]), "variance"),
    "weights of items": (lambda: Items([HUGE, 1]), "p"),
    "weights of features": (lambda: Weighted(Items([1, 1]), [HUGE, 1]), "s"),
    "a prior of synthetic documents": (
        lambda: make_lda_corpus(5, doc_topic_prior=[HUGE] * 10), "doc_topic_prior"),
    "topics of synthetic documents": (
        lambda: make_lda_corpus(5, topic_word=[[HUGE, 1]]), "topic_word"),
    "a strength of sets": (lambda: make_dpp_sets(3, strength=HUGE), "strength"),
    "shares of times": (lambda: plot_shares([1], [[HUGE]], ["a"]), "shares"),
    "shares of sentences": (lambda: plot_sentences(["a"], [[HUGE, 1]]), "shares"),
    "letters": (lambda: plot_sentences(["a"], [[1, 0]], font_size=HUGE), "font_size"),
    "a curve": (lambda: plot_curves({"a": [HUGE]}, x=[1], xlabel="", ylabel=""), "x or curves"),
    "topics of a simulation": (
        lambda: simulate([2], WAS(), 0.1, [[HUGE]], np.random.default_rng(0)), "topic_word"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILLED)
def test_numbers_beyond_floating_point_are_refused_by_name(case):
    door, name = FILLED[case]
    with pytest.raises(ValueError, match=rf"(^|: ){name}\b"):
        door()


def test_more_than_there_can_be_of_texts_is_no_limit():
    texts = ["a ship at sea", "the deep sea"]
    plain = StreamingCountVectorizer(ngram_range=(1, 4)).fit(texts).get_feature_names_out()
    large = StreamingCountVectorizer(ngram_range=(1, 2**63), max_df=HUGE).fit(texts)
    np.testing.assert_array_equal(large.get_feature_names_out(), plain)
    with pytest.raises(ValueError, match="Try a lower min_df"):
        StreamingCountVectorizer(min_df=HUGE, max_df=HUGE).fit(texts)
    StreamingCountVectorizer(min_df=HUGE, max_df=HUGE, max_features=5).partial_fit(texts)


def test_partitions_stay_as_they_are(tmp_path):
    X = sparse.csr_matrix(COUNTS, dtype=float)
    twice = sparse.csr_matrix(
        (np.repeat(X.data, 2), np.repeat(X.indices, 2), X.indptr * 2), shape=X.shape
    )
    score_partitions(learnt(), [twice], AtOnce())
    report(learnt(), tmp_path / "a.html", X=twice)
    assert twice.nnz == 2 * X.nnz


@pytest.mark.parametrize("time", [1e300, -1e300, 2.0**53, 1e16])
def test_a_report_of_documents_of_one_huge_time(time, tmp_path):
    """A number to which one cannot be added is a period, too."""
    page = tmp_path / "page.html"
    report(learnt(), page, X=sparse.csr_matrix(COUNTS, dtype=float), times=[time] * len(COUNTS))
    assert f"{time:.10g}" in page.read_text()


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


def test_what_was_learnt_is_read_whatever_parameters_are_now():
    model = StreamingLDA(2, update="hpp", random_state=0).partial_fit(COUNTS)
    expected = model.drift_report(), model.retention_, model.effective_sample_size_
    for update in (True, np.zeros(2), pd.DataFrame({"a": [1]}), "online_em"):
        report, retention, size = (
            model.set_params(update=update).drift_report(),
            model.retention_,
            model.effective_sample_size_,
        )
        assert report == expected[0]
        np.testing.assert_array_equal(retention, expected[1])
        np.testing.assert_array_equal(size, expected[2])
    seeded = GuidedTopics({"one": ["x0"], "two": ["x1"]}, n_unseeded=1)
    assert seeded.n_components == 3
    assert seeded.set_params(n_unseeded="x").n_components == 2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": "ten"}, "n_components"),
        ({"inference": np.zeros(2)}, "inference"),
        ({"update": pd.DataFrame({"a": [1]})}, "update"),
    ],
)
def test_parameters_that_became_wrong_are_named(parameters, message):
    sound = StreamingLDA(2, update="svb", random_state=0).partial_fit(COUNTS)
    model = deepcopy(sound).set_params(**parameters)
    words = f"{message}.*must be"
    for door in (
        lambda: model.merge(deepcopy(model)),
        lambda: deepcopy(sound).merge(model),
        lambda: model.evidence_lower_bound(COUNTS),
        lambda: set_back(model, 1),
        lambda: learn_apart(model, [COUNTS]),
        lambda: document_features(model, sparse.csr_matrix(COUNTS, dtype=float)),
    ):
        with pytest.raises((ValueError, TypeError, AttributeError), match=words):
            door()
    with pytest.raises((ValueError, TypeError), match=f"^other: .*{message}"):
        deepcopy(sound).merge(model)


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_parameters_of_a_vectorizer_that_became_wrong_are_named(learn):
    vectorizer = getattr(StreamingCountVectorizer(max_features=5), learn)(["a few words"])
    for parameters, message in (
        ({"binary": "no"}, "'binary' parameter"),
        ({"token_pattern": "("}, "token_pattern must be a regular expression"),
        ({"token_pattern": None}, "token_pattern must be a regular expression"),
        ({"dtype": "words"}, "dtype must be"),
    ):
        changed = deepcopy(vectorizer).set_params(**parameters)
        with pytest.raises((ValueError, TypeError), match=message):
            changed.transform(["words words"])
        with pytest.raises((ValueError, TypeError), match=message):
            getattr(clone(changed), learn)(["words words"])
    assert vectorizer.set_params(binary=True).transform(["words words"]).max() == 1


def test_a_quality_that_became_wrong_leaves_what_was_learnt():
    summarizer = DPPSummarizer().fit(["One sentence. And another one."])
    before = summarizer.n_batch_iter_
    assert summarizer.set_params(quality=np.zeros(2)).n_batch_iter_ == before


def test_a_vocabulary_is_not_exchanged_under_a_model():
    """Its topics would be read by other words."""
    texts = ["sea ship sea deep", "sun sky sun blue"]
    for vectorizer in (
        StreamingCountVectorizer(max_features=6).partial_fit(texts),
        StreamingCountVectorizer(vocabulary=["sea", "sun"]).partial_fit(texts),
        StreamingCountVectorizer().fit(texts),
    ):
        before = vectorizer.get_feature_names_out().tolist()
        with pytest.raises(ValueError, match="vocabulary has other words or columns"):
            vectorizer.set_params(vocabulary=["ship", "sky"]).partial_fit(texts)
        assert vectorizer.get_feature_names_out().tolist() == before


WORDS_FIRST = ["aa aa xx", "bb bb xx", "cc cc xx", "dd dd xx", "ee ee xx"] * 20
WORDS_THEN = ["zz xx", "bb xx", "cc xx", "dd xx", "ee xx"] * 20


def topics_by_word(*between):
    words = StreamingCountVectorizer(max_features=6, half_life=20)
    steps = [("words", words), *between, ("topics", SVBLDA(1, random_state=0))]
    pipeline = StreamingPipeline(steps)
    for texts in [WORDS_FIRST, *[WORDS_THEN] * 3]:
        pipeline.partial_fit(texts)
    mass = pipeline[-1].components_[0]
    return dict(zip(pipeline[:-1].get_feature_names_out(), mass.round(6), strict=True))


def test_words_are_forgotten_where_a_step_between_has_moved_them():
    whole = topics_by_word()
    start = StreamingCountVectorizer(max_features=6).partial_fit(WORDS_FIRST)
    counts = start.transform(WORDS_FIRST)
    scaled = topics_by_word(("scaled", TfidfTransformer(norm=None, use_idf=False).fit(counts)))
    assert scaled == whole
    # It leaves out the word that all documents have, the first one.
    some = topics_by_word(("some", VarianceThreshold().fit(counts)))
    assert some == pytest.approx({word: whole[word] for word in some})
    assert len(some) == 5
    # What does not tell where columns are leaves them where they were.
    for step in (Normalizer(), Binarizer(), FunctionTransformer(accept_sparse=True)):
        words = StreamingCountVectorizer(max_features=6, half_life=20)
        pipeline = StreamingPipeline([("words", words), ("step", step), ("topics", SVBLDA(1))])
        for texts in [WORDS_FIRST, WORDS_THEN]:
            pipeline.partial_fit(texts)
        assert pipeline[-1].n_documents_seen_ == 200


def test_steps_that_cannot_forget_are_refused_before_anything_is_learnt():
    words = StreamingCountVectorizer(max_features=6)
    pipeline = StreamingPipeline([("words", words), ("labels", SGDClassifier())])
    with pytest.raises(TypeError, match="the last step 'labels', a SGDClassifier, has no forget"):
        pipeline.partial_fit(WORDS_FIRST, [0, 1, 0, 1, 0] * 20, classes=[0, 1])
    assert not hasattr(words, "vocabulary_")
    # A vocabulary that stays has nothing to forget.
    words = StreamingCountVectorizer(vocabulary=["aa", "bb"])
    pipeline = StreamingPipeline([("words", words), ("labels", SGDClassifier())])
    pipeline.partial_fit(WORDS_FIRST, [0, 1, 0, 1, 0] * 20, classes=[0, 1])
    pairs = PolynomialFeatures(2).fit(np.ones((1, 6)))
    words = StreamingCountVectorizer(max_features=6, half_life=20)
    pipeline = StreamingPipeline([("words", words), ("pairs", pairs), ("topics", SVBLDA(1))])
    with pytest.raises(TypeError, match="the step 'pairs', a PolynomialFeatures, does not tell"):
        pipeline.partial_fit(WORDS_FIRST)


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


def test_what_a_bayesian_model_offers_is_what_it_has_learnt():
    X = np.random.default_rng(0).normal(size=(30, 2))
    line = StreamingBayes(LinearRegression()).fit(X, X[:, 0])
    line.set_params(model=GaussianMixture(2))
    assert not hasattr(line, "predict_proba")
    with pytest.raises(AttributeError, match=r"LinearRegression.* has learnt, has no 'transform'"):
        line.transform(X)
    assert deepcopy(line).fit_transform(X).shape == (30, 2)
    mixture = StreamingBayes(GaussianMixture(2), random_state=0).fit(X)
    before = mixture.transform(X)
    mixture.set_params(model=LinearRegression())
    np.testing.assert_array_equal(mixture.transform(X), before)
    assert not hasattr(mixture, "fit_transform")
    with pytest.raises(ValueError, match=r"model is .* now"):
        mixture.partial_fit(X)


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


def test_an_equal_ground_set_goes_on_and_another_is_told_of():
    points = Fourier(1, 2).sample(40, np.random.default_rng(0))
    sets = [points[i : i + 2] for i in range(0, 40, 2)]
    model = LowRankDPP(Fourier(1, 2), 2, max_iter=2, random_state=0).fit(sets)
    model.set_params(ground_set=Fourier(1, 2)).partial_fit(sets)
    for changed, message in (
        ({"ground_set": Fourier(1, 3)}, "learnt with another Fourier"),
        ({"ground_set": "items"}, "learnt with another Fourier"),
        ({"n_components": 3}, "n_components is 3 now, but the model was started with 2"),
    ):
        with pytest.raises(ValueError, match=message):
            deepcopy(model).set_params(**changed).partial_fit(sets)


def test_a_thesis_of_another_size_is_refused_also_of_texts_without_words():
    texts = ["One sentence. And another one.", "Two sentences here. The other one."]
    model = DPPSummarizer(quality="thesis", n_components=2, max_iter=2, random_state=0).fit(texts)
    with pytest.raises(ValueError, match="n_components is 3 now"):
        model.set_params(n_components=3).partial_fit(["!!!"])


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
