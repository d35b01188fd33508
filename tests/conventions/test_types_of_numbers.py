# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of few bits, of the other order of bytes, or with a mask: they count as what they equal,
or are refused by name."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from streamtopics import (
    SVBLDA,
    AspectSentimentModel,
    HiddenFactorsTopics,
    MultiViewLDA,
    RatingLDA,
    StreamingBayes,
)
from streamtopics.base.sentences import read_sentences
from streamtopics.datasets import iter_minibatches
from streamtopics.dpp import PointSets
from streamtopics.inspection import shares_over_time
from streamtopics.metrics import (
    completion_split,
    left_to_right,
    log_predictive_probability,
    relevant_words,
    topic_coherence,
)
from streamtopics.models import GaussianMixture, LinearRegression
from streamtopics.priors import class_words_prior
from streamtopics.streams import TopicTracker, stream
from streamtopics.text import NamedCounts
from streamtopics.utils.times import periods_of
from streamtopics.was.corpus import corpus_of
from tests.conventions.every import COUNTS, ITEMS, NAMES, RATINGS, SENTENCES, USERS, N, V

# Each stored three, two and one times: in 8 bits their sums are others.
ROWS, COLUMNS = np.array([0, 0, 0, 0, 0, 1]), np.array([0, 0, 0, 1, 1, 2])
NARROW = ("uint8", "int8", "bool")


def stored_twice(kind, container):
    """Counts of 100, or 1, of which some are stored more than once."""
    value = np.array([1 if kind == "bool" else 100] * 6, kind)
    X = sparse.coo_matrix((value, (ROWS, COLUMNS)), shape=(2, 3))
    if container == "csr":
        return sparse.csr_matrix((value, COLUMNS, [0, 5, 6]), shape=(2, 3))
    return X


@pytest.mark.parametrize("container", ["coo", "csr"])
@pytest.mark.parametrize("kind", NARROW)
def test_entries_that_are_stored_twice_are_added_up_in_wide_numbers(kind, container):
    X, expected = stored_twice(kind, container), np.array([[3, 2, 0], [0, 0, 1]])
    expected = expected * (1 if kind == "bool" else 100)
    before = X.copy()
    wide = SVBLDA(2, random_state=0).fit(expected).components_
    assert_array_equal(SVBLDA(2, random_state=0).fit(X).components_, wide)
    assert_array_equal(NamedCounts.of(X, ["a", "b", "c"]).toarray(), expected)
    assert len(corpus_of(X, [2]).words) == expected.sum()
    assert_array_equal(
        class_words_prior(X, ["a", "b"], n_seeds=1),
        class_words_prior(expected.astype(np.float64), ["a", "b"], n_seeds=1),
    )
    assert X.dtype == before.dtype
    assert_array_equal(X.data, before.data)


class Holder:
    """An object that NumPy makes an array of, as it does of a tensor."""

    dtype = "float64"

    def __init__(self, X):
        self.X = np.asarray(X)
        self.shape = self.X.shape

    def __array__(self, dtype=None, copy=None):
        return self.X if dtype is None else self.X.astype(dtype)


# Between two numbers of 32 bits.
ODD = np.array([[2.0**24 + 1, 0.1], [3, 1]])
AS = {
    "list": ODD.tolist(),
    "tuple": tuple(map(tuple, ODD.tolist())),
    "object": ODD.astype(object),
    "frame of objects": pd.DataFrame(ODD.astype(object), columns=["a", "b"]),
    "array": Holder(ODD),
}


@pytest.mark.parametrize("kind", AS)
def test_doubles_stay_doubles_whatever_holds_them(kind):
    X = AS[kind]
    model, expected = SVBLDA(2, random_state=0).fit(X), SVBLDA(2, random_state=0).fit(ODD)
    assert_array_equal(model.components_, expected.components_)
    assert model.transform(X).dtype == np.float64
    scores = log_predictive_probability(model, X), log_predictive_probability(expected, ODD)
    assert_array_equal(*scores)
    assert_array_equal(read_sentences(X, [0, 1]).counts.toarray(), ODD)
    assert_array_equal(read_sentences([X, X]).counts.toarray(), [*ODD, *ODD])


def test_a_tensor_keeps_its_doubles():
    torch = pytest.importorskip("torch")
    kept = read_sentences([torch.tensor(ODD)]).counts
    assert_array_equal(kept.toarray(), ODD)
    assert read_sentences([torch.tensor(ODD, dtype=torch.float32)]).counts.dtype == np.float32


@pytest.mark.parametrize("kind", ["float16", ">f8", ">f4", ">i4", "object", "longdouble"])
def test_all_numbers_are_read_by_all_that_reads_counts(kind):
    X = COUNTS.astype(kind)
    frame = pd.DataFrame(X)
    expected = SVBLDA(3, random_state=0).fit(COUNTS).components_
    for given in (X, frame):
        found = SVBLDA(3, random_state=0).fit(given).components_
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        observed, held_out = completion_split(given)
        assert_array_equal((observed + held_out).toarray(), COUNTS)
        assert_array_equal(NamedCounts.of(given, [f"w{j}" for j in range(V)]).toarray(), COUNTS)
    tracker = TopicTracker()
    stream(SVBLDA(3, random_state=0), iter_minibatches(X, 8), callbacks=[tracker])
    assert tracker.n_batches_ == 3


def test_what_has_no_room_in_64_bits_is_refused():
    X = COUNTS.astype(object)
    X[0, 0] = 10**400
    with pytest.raises(ValueError, match=r"counts, passed to NamedCounts.of, .* too large"):
        NamedCounts.of(X, NAMES)
    for call in (lambda: completion_split(X), lambda: class_words_prior(X, ["a"] * N)):
        with pytest.raises(ValueError, match=r"X, passed to .* too large"):
            call()


def test_double_precision_stays_in_the_other_order_of_bytes():
    X = COUNTS + 0.123456789123
    expected = SVBLDA(3, random_state=0).fit(X)
    other = SVBLDA(3, random_state=0).fit(X.astype(">f8"))
    assert_array_equal(other.components_, expected.components_)
    assert other.transform(X.astype(">f8")).dtype == np.float64


def test_indices_of_sentences_may_be_unsigned():
    documents = [sparse.csr_matrix(np.ones((2, 3))) for _ in range(4)]
    expected = AspectSentimentModel(2, random_state=0).fit(documents).components_
    for document in documents:
        document.indices = document.indices.astype(np.uint64)
        document.indptr = document.indptr.astype(np.uint64)
    found = AspectSentimentModel(2, random_state=0).fit(documents).components_
    assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", ["uint8", "int8", "float16", "int64"])
def test_words_are_as_relevant_in_tables_of_few_bits(kind):
    table = np.random.default_rng(0).integers(20, 100, (20, 40))
    weights = np.arange(100, 120)
    expected = relevant_words(table.astype(float), n_words=9, relevance=0.3, topic_weights=weights)
    given = {"n_words": 9, "relevance": 0.3, "topic_weights": weights.astype(kind)}
    assert_array_equal(relevant_words(table.astype(kind), **given), expected)


def test_flags_can_be_topics():
    assert_array_equal(relevant_words(np.eye(3, dtype=bool), n_words=1), [[0], [1], [2]])


@pytest.mark.parametrize("kind", ["uint8", "uint64", "int64"])
def test_pointers_of_sets_do_not_decrease(kind):
    with pytest.raises(ValueError, match="not decrease"):
        PointSets(np.arange(4), np.array([0, 3, 1, 4], kind))
    with pytest.raises(TypeError, match="Cannot cast"):
        PointSets(np.arange(4), np.array([0.0, 1.7, 4.0]))


def test_missing_times_of_pandas_are_not_known():
    of = periods_of(pd.Series(["2020-01-01", None], dtype="string")).of
    assert of.tolist() == [0, -1]
    text = np.array(["2020-01-01", None], np.dtypes.StringDType(na_object=None))
    assert periods_of(text).of.tolist() == [0, -1]
    assert shares_over_time(SVBLDA(1).fit(COUNTS), COUNTS[:2], text).times == ["2020-01-01"]
    masked = np.ma.masked_array([1, 2, 9999], mask=[0, 0, 1])
    assert periods_of(masked).labels == ("1", "2")


HIDDEN = np.ma.masked_array(COUNTS, mask=COUNTS > 2)
HIDDEN_NAMES = np.ma.masked_array(NAMES, mask=np.arange(V) < 1)
LABELS = np.ma.masked_array(np.arange(N) % 2, mask=np.arange(N) < 2)
REVIEWS = {"items": ITEMS, "users": USERS}


def recommending():
    return HiddenFactorsTopics(2, max_iter=1).fit(COUNTS, RATINGS, **REVIEWS)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("X", lambda: SVBLDA(2).fit(HIDDEN)),
        ("X", lambda: StreamingBayes(GaussianMixture(2)).fit(HIDDEN)),
        ("y", lambda: HiddenFactorsTopics(2).fit(
            COUNTS, np.ma.masked_array(RATINGS, mask=np.arange(N) < 5), **REVIEWS)),
        ("items", lambda: HiddenFactorsTopics(2).fit(
            COUNTS, RATINGS, items=np.ma.masked_array(ITEMS, mask=ITEMS > 1), users=USERS)),
        ("y", lambda: MultiViewLDA(2).fit(COUNTS, LABELS)),
        ("y", lambda: MultiViewLDA(2).fit(COUNTS, LABELS.data).score(COUNTS, LABELS)),
        ("classes", lambda: MultiViewLDA(2).partial_fit(
            COUNTS, LABELS.data, classes=np.ma.masked_array([0, 1], mask=[0, 1]))),
        ("sample_weight", lambda: MultiViewLDA(2).fit(COUNTS, LABELS.data).score(
            COUNTS, LABELS.data, sample_weight=LABELS)),
        ("y", lambda: class_words_prior(COUNTS, LABELS)),
        ("classes", lambda: class_words_prior(COUNTS, LABELS.data, classes=LABELS[:2])),
        ("y", lambda: StreamingBayes(LinearRegression()).fit(COUNTS, LABELS)),
        ("columns", lambda: SVBLDA(2).fit(COUNTS).forget_words(LABELS)),
        ("feature_names", lambda: SVBLDA(2).fit(COUNTS).top_words(HIDDEN_NAMES)),
        ("feature_names", lambda: NamedCounts.of(COUNTS, HIDDEN_NAMES)),
        ("topics", lambda: topic_coherence(LABELS[None], COUNTS)),
        ("feature_names", lambda: topic_coherence(
            [["b", "c"]], COUNTS, feature_names=HIDDEN_NAMES)),
        ("topic_word", lambda: relevant_words(HIDDEN)),
        ("topic_weights", lambda: relevant_words([[0.5, 0.5]] * 2, LABELS[1:3], relevance=0.3)),
        ("doc_topic_prior", lambda: left_to_right([[1, 2]], [[0.5, 0.5]] * 2, LABELS[1:3])),
        ("user", lambda: recommending().recommend(np.ma.masked_array([1], mask=[1]))),
        ("qualitative_prior", lambda: RatingLDA(2, qualitative_prior=LABELS[1:3] + 1).fit(
            COUNTS, RATINGS, **REVIEWS)),
    ],
)  # fmt: skip
def test_masked_entries_are_refused(name, call):
    with pytest.raises(ValueError, match=rf"\b{name}.*masked entries"):
        call()


def test_a_word_may_be_called_mask():
    frame = pd.DataFrame(COUNTS, columns=["_mask", *"bcdefghij"])
    model = SVBLDA(2, random_state=0).fit(frame)
    assert_array_equal(model.components_, SVBLDA(2, random_state=0).fit(COUNTS).components_)
    assert periods_of(pd.Series([1, 2], name="_mask")).labels == ("1", "2")


def test_a_mask_of_nothing_is_none():
    X = np.ma.masked_array(COUNTS, mask=False)
    assert_array_equal(SVBLDA(2, random_state=0).fit(X).components_,
                       SVBLDA(2, random_state=0).fit(COUNTS).components_)  # fmt: skip
    assert len(SENTENCES) == N
