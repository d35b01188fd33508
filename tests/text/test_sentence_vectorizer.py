# SPDX-License-Identifier: BSD-3-Clause
"""Documents to one matrix of sentences by words each."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from streamtopics import SVBLDA
from streamtopics.base.sentences import read_sentences
from streamtopics.datasets import iter_minibatches
from streamtopics.text import NamedCounts, SentenceVectorizer, StreamingCountVectorizer
from streamtopics.text.named import rows_apart

TEXTS = ["Red green. Blue red! Red.", "", "... !! Green red green?", "Blue. Blue. Blue."]
SENTENCES = [
    ["Red green.", "Blue red!", "Red."], [], ["... !!", "Green red green?"], ["Blue."] * 3,
]  # fmt: skip
COUNTS = [
    [[0, 1, 1], [1, 0, 1], [0, 0, 1]], np.empty((0, 3)), [[0, 0, 0], [0, 2, 1]], [[1, 0, 0]] * 3,
]  # fmt: skip

VECTORIZERS = {
    "none": None,
    "counts": CountVectorizer(),
    "pairs": CountVectorizer(ngram_range=(1, 2), stop_words="english", token_pattern=r"\w+"),
    "characters": CountVectorizer(analyzer="char_wb", ngram_range=(2, 3)),
    "tokenizer": CountVectorizer(tokenizer=str.split, token_pattern=None),
    "preprocessor": CountVectorizer(preprocessor=str.upper),
    "analyzer": CountVectorizer(analyzer=str.split),
    "compiled": StreamingCountVectorizer(stop_words="english", strip_accents="unicode"),
    "compiled pairs": StreamingCountVectorizer(ngram_range=(1, 2)),
    "compiled, in Python": StreamingCountVectorizer(analyzer="char_wb", ngram_range=(2, 3)),
    "vocabulary": CountVectorizer(vocabulary=["red", "blue"]),
    "tf-idf": TfidfVectorizer(),
    "hashing": HashingVectorizer(n_features=16),
}
each_vectorizer = pytest.mark.parametrize("name", VECTORIZERS)


def total(X):
    """The words of each document."""
    return np.array([matrix.toarray().sum(axis=0) for matrix in X])


def check_same(X, expected):
    """That each matrix is the same."""
    for matrix, those in zip(X, expected, strict=True):
        assert_array_equal(matrix.toarray(), those.toarray())
        assert_array_equal(matrix.indices, those.indices)
        assert matrix.dtype == those.dtype


def test_counts_of_sentences():
    X = SentenceVectorizer().fit_transform(TEXTS)
    assert X.shape == (4,)
    assert X.dtype == object
    for matrix, expected in zip(X, COUNTS, strict=True):
        assert sparse.issparse(matrix)
        assert matrix.format == "csr"
        assert_array_equal(matrix.toarray(), expected)
    assert_array_equal(read_sentences(X, whole=True).starts, [0, 3, 3, 5, 8])


@each_vectorizer
def test_rows_are_what_the_vectorizer_makes_of_the_sentences(name):
    model = SentenceVectorizer(VECTORIZERS[name])
    X = model.fit_transform(TEXTS)
    sentences = model.sentences(TEXTS)
    assert sentences == SENTENCES
    for matrix, those in zip(X, sentences, strict=True):
        assert matrix.shape[0] == len(those)
        for row, sentence in zip(matrix.toarray(), those, strict=True):
            assert_array_equal(row, model.vectorizer_.transform([sentence]).toarray()[0])
    check_same(clone(model).fit(TEXTS).transform(iter(TEXTS)), X)


@pytest.mark.parametrize(
    "kind", [list, tuple, iter, np.array, pd.Series, lambda x: np.array(x, object)]
)
def test_kinds_of_sequences(kind):
    assert_array_equal(total(SentenceVectorizer().fit_transform(kind(TEXTS)))[0], [1, 1, 3])


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_documents_may_be_lists_of_sentences(kind):
    model = SentenceVectorizer()
    documents = [kind(sentences) for sentences in SENTENCES if sentences]
    texts = [text for text in TEXTS if text]
    check_same(model.fit_transform(documents), model.transform(texts))
    assert model.sentences([[" Kept. As it is. ", ""]]) == [[" Kept. As it is. ", ""]]
    assert_array_equal(model.transform([["Red. Blue.", ""]])[0].toarray(), [[1, 0, 1], [0, 0, 0]])


def test_splitter():
    model = SentenceVectorizer(splitter=lambda text: text.split(";"))
    assert model.sentences(["Red. Green; blue", ""]) == [["Red. Green", " blue"], [""]]
    assert_array_equal(total(model.fit_transform(["red; red", "blue"])), [[0, 2], [1, 0]])


def test_nothing_to_transform():
    model = SentenceVectorizer().fit(TEXTS)
    assert model.transform([]).shape == (0,)
    assert [matrix.shape for matrix in model.transform(["", " "])] == [(0, 3), (0, 3)]


def test_document_frequency_is_not_that_of_sentences():
    texts = ["rare. rare. rare.", "other word.", "word."]
    model = SentenceVectorizer(CountVectorizer(min_df=2)).fit(texts)
    assert "rare" not in model.vectorizer_.vocabulary_
    alone, model = TfidfVectorizer(), SentenceVectorizer(TfidfVectorizer())
    assert_array_equal(model.fit(texts).vectorizer_.idf_, alone.fit(texts).idf_)


@pytest.mark.parametrize(
    "name", sorted(set(VECTORIZERS) - {"none", "pairs", "compiled pairs", "hashing", "analyzer"})
)
def test_without_ngrams_the_vocabulary_is_that_of_the_vectorizer_alone(name):
    model, alone = SentenceVectorizer(VECTORIZERS[name]), clone(VECTORIZERS[name])
    texts = ["Red green . Blue red !", "Green red green ?"]
    expected = alone.fit(texts).get_feature_names_out()
    assert_array_equal(model.fit(texts).get_feature_names_out(), expected)


def test_ngrams_end_with_the_sentence():
    model = SentenceVectorizer(CountVectorizer(ngram_range=(2, 2))).fit(["Red green. Blue red."])
    assert_array_equal(model.get_feature_names_out(), ["blue red", "red green"])


def test_a_vectorizer_with_an_analyzer_of_its_own():
    class Suffixes(CountVectorizer):
        def build_analyzer(self):
            analyze = super().build_analyzer()
            return lambda text: [word[-2:] for word in analyze(text)]

    model = SentenceVectorizer(Suffixes()).fit(["Red green."])
    assert_array_equal(model.get_feature_names_out(), ["ed", "en"])


# The face of scikit-learn


def document_counts(X):
    read = read_sentences(X)
    counts = np.zeros((read.n_documents, read.n_words))
    np.add.at(counts, read.documents, read.counts.toarray())
    return pd.DataFrame(counts, columns=[f"word{v}" for v in range(read.n_words)])


def test_pipeline():
    texts = [text for text in TEXTS if text] * 10
    counts = FunctionTransformer(document_counts)
    pipeline = make_pipeline(SentenceVectorizer(), counts, SVBLDA(2, random_state=0))
    assert pipeline.fit_transform(texts).shape == (30, 2)
    names = make_pipeline(SentenceVectorizer()).fit(texts).get_feature_names_out()
    assert_array_equal(names, ["blue", "green", "red"])
    pipeline.set_output(transform="pandas")
    assert list(pipeline.transform(texts)) == ["svblda0", "svblda1"]
    assert isinstance(pipeline[0].transform(texts), np.ndarray)


def test_minibatches_of_a_stream():
    hashing = HashingVectorizer(n_features=8, alternate_sign=False, norm=None)
    vectorizer = SentenceVectorizer(hashing).fit([])
    batches = list(iter_minibatches(iter(TEXTS), 3, vectorizer=vectorizer))
    assert [len(batch) for batch in batches] == [3, 1]
    assert batches[0][2].shape == (2, 8)


@pytest.mark.parametrize("documents", ["a text", b"a text", 3, None, np.array([["a", "b"]])])
def test_not_an_iterable(documents):
    with pytest.raises(TypeError, match=r"raw_documents must be an iterable of texts"):
        SentenceVectorizer().fit(documents)


@pytest.mark.parametrize("document", [None, np.nan, 3, b"bytes", {"text": "x"}, ["a", 3], [["a"]]])
def test_a_document_that_is_no_text(document):
    with pytest.raises(TypeError, match=r"must be a str or a list of str"):
        SentenceVectorizer().fit(["fine", document])


@pytest.mark.parametrize("splitter", [lambda text: text, lambda text: [1], lambda text: None])
def test_a_splitter_that_returns_something_else(splitter):
    with pytest.raises(TypeError, match=r"must be a str or a list of str"):
        SentenceVectorizer(splitter=splitter).fit(TEXTS)


@pytest.mark.parametrize("vectorizer", [CountVectorizer(input="filename"), SVBLDA(2)])
def test_a_vectorizer_of_another_kind(vectorizer):
    with pytest.raises(ValueError, match=r"vectorizer must be one of scikit-learn's for texts"):
        SentenceVectorizer(vectorizer).fit(TEXTS)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize(
    "settings",
    [{}, {"min_df": 2}, {"max_df": 0.5}, {"max_features": 2}, {"min_df": 2, "ngram_range": (1, 2)},
     {"max_df": 0.6, "stop_words": ["red"]},
     {"max_features": 2, "strip_accents": "unicode", "binary": True}],
)  # fmt: skip
def test_the_compiled_counter_learns_what_count_vectorizer_does(settings, n_jobs, monkeypatch):
    """Also where empty documents and many sentences lie at the cuts between threads."""
    monkeypatch.setattr("streamtopics.text.counting.CHARACTERS_A_PART", 10)
    ours = SentenceVectorizer(StreamingCountVectorizer(n_jobs=n_jobs, **settings))
    theirs = SentenceVectorizer(CountVectorizer(**settings))
    for texts in (
        [*TEXTS, "Σοφός ΣΟΦΟΣ. ΣΟΦΟΣ! \u0301a Red", "Οδός. Green"],
        ["", *TEXTS, "Red. " * 9, "", "N\u00e9 red. Red green. Blue!", "Green red.", ""],
    ):
        check_same(ours.fit_transform(texts), theirs.fit_transform(texts))
        assert ours.vectorizer_.vocabulary_ == theirs.vectorizer_.vocabulary_


@pytest.mark.parametrize("kind", [NamedCounts, sparse.csr_matrix])
def test_parts_of_a_matrix_are_what_slices_are(kind):
    rng = np.random.default_rng(0)
    X = kind(sparse.random(20, 9, 0.3, "csr", random_state=rng))
    names = np.array([f"w{i}" for i in range(9)], dtype=object)
    X = NamedCounts.of(X, names) if kind is NamedCounts else X
    starts = [0, 0, 3, 4, 4, 17, 19]
    for part, (start, stop) in zip(rows_apart(X, starts), pairwise(starts), strict=True):
        plain = X[start:stop]
        assert type(part) is type(plain) is kind
        for attribute in ("data", "indices", "indptr"):
            one, other = getattr(part, attribute), getattr(plain, attribute)
            assert_array_equal(one, other)
            assert one.dtype == other.dtype
            assert not np.shares_memory(one, getattr(X, attribute))
        assert part.shape == plain.shape
        assert part.has_canonical_format
        assert vars(plain).keys() <= vars(part).keys()
        assert_array_equal((part + part).toarray(), 2 * plain.toarray())
        again = pickle.loads(pickle.dumps(part))
        assert_array_equal(again.toarray(), plain.toarray())
        assert_array_equal(getattr(again, "feature_names", names), names)


@pytest.mark.parametrize(("counts", "names"), [(None, ["sea"]), ([[1, 0]], ["sea"])])
def test_counts_are_refused_without_numbers_or_with_other_names(counts, names):
    with pytest.raises((TypeError, ValueError), match=r"counts must be|must name 2 columns"):
        NamedCounts.of(counts, names)
