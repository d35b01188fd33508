# SPDX-License-Identifier: BSD-3-Clause
"""What cannot be is refused by the name of the argument, in the words of the package."""

from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import sparse

from streamtopics import (
    SVBLDA,
    HDPGibbsOnlineEM,
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
    make_dpp_sets,
    read_records,
)
from streamtopics.distributed import fit_partitions, learn_apart
from streamtopics.dpp import (
    Counting,
    Kernel,
)
from streamtopics.inspection import (
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
    completion_split,
    left_to_right,
    perplexity,
    relevant_words,
    rouge,
    summary_redundancy,
    topic_coherence,
    topic_diversity,
    topic_exclusivity,
)
from streamtopics.models import LinearRegression
from streamtopics.priors import (
    SeedWords,
    SentimentWords,
    class_words_prior,
    seed_prior,
)
from streamtopics.report import report, report_data
from streamtopics.streams import (
    prequential_score,
)
from streamtopics.text import (
    NamedCounts,
    SentenceVectorizer,
    StreamingCountVectorizer,
    mark_negations,
)
from streamtopics.updates import SVB, FixedPoint, LearnsDocTopicPrior
from tests.distributed.engines import Now

COUNTS = np.random.default_rng(0).poisson(1.0, (8, 6))


DATES = np.array(["2020-01-01", "2020-01-03"] * 4, dtype="datetime64[D]")


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
        lambda: fit_partitions(learnt(), None, Now()),
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
    "weights of topics": (
        lambda: relevant_words(np.eye(2), ["a", "b"], relevance=0.5), TypeError,
        "topic_weights must hold numbers"),
    "complex counts": (
        lambda: completion_split(COUNTS * 1j), ValueError, "Complex data not supported"),
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
    "numbers for words": (
        lambda: StreamingCountVectorizer(vocabulary=range(3)).fit(["a"]), TypeError,
        "vocabulary must be of words"),
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
    "one number for a minibatch": (
        lambda: prequential_score(learnt(), [NOTHING]), TypeError, "must have a row for each"),
    "a number beyond floating point": (
        lambda: Kernel([[10**400]], [1]), ValueError, "U must hold numbers of"),
    "a truth value for a number of particles": (
        lambda: left_to_right(COUNTS, np.full((2, 6), 1 / 6), [1, 1], n_particles=True), TypeError,
        "n_particles must be an integer"),
    "a truth value for a number of topics": (
        lambda: plot_shares([1], [[0.5]], ["a"], n_topics=True), TypeError,
        "n_topics must be an integer"),
    "one weight for all documents": (
        lambda: MultiViewLDA(random_state=0).fit(COUNTS, [0, 1] * 4).score(
            COUNTS, [0, 1] * 4, sample_weight=1.0),
        ValueError, "sample_weight must have a number for each document"),
    "a class that is None": (
        lambda: class_words_prior(COUNTS, [None, "a"] * 4), ValueError, "y, passed to class_words"),
    "missing classes among texts": (
        lambda: class_words_prior(COUNTS, np.array([np.nan, "a"] * 4, dtype=object)), ValueError,
        "has labels that are nan"),
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
    "diversity of a number": (
        lambda: topic_diversity(3), TypeError, "topics must be the top words of each topic; got 3"),
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
