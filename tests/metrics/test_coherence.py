# SPDX-License-Identifier: BSD-3-Clause
"""Coherence against the formulas, word by word, and against gensim.

gensim adds EPSILON to each joint probability where this package takes the limit; the twin does
either.
"""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics.metrics import topic_coherence
from streamtopics.priors import seed_prior

EPSILON = 1e-12
MEASURES = ["npmi", "c_v", "umass"]
OF_GENSIM = {"npmi": "c_npmi", "c_v": "c_v", "uci": "c_uci"}


@pytest.fixture(scope="module", name="X")
def counts_of_three_themes():
    """80 documents over 24 words in three themes; word 23 never occurs, word 22 always."""
    rng = np.random.default_rng(0)
    theme = rng.integers(3, size=80)
    counts = rng.poisson(np.where(np.arange(24) // 7 == theme[:, None], 0.9, 0.05))
    counts[:, 22] = 1 + rng.poisson(1, 80)
    counts[:, 23] = 0
    return sparse.csr_matrix(counts)


@pytest.fixture(scope="module")
def topics(X):
    """Themes, mixtures of them, and some with words that never meet."""
    rng = np.random.default_rng(1)
    themes = np.add.outer([0, 7, 14], np.arange(5))
    return np.vstack([themes, *(rng.permutation(22)[:5] for _ in range(10))])


def share(X, *words):
    return np.mean([all(document[word] > 0 for word in words) for document in X.toarray()])


def npmi(X, i, j, epsilon):
    joint = share(X, i, j)
    if epsilon == 0 and joint == 0:
        return -1.0
    if epsilon == 0 and joint == 1:
        return 0.0 if i != j else 1.0
    pmi = np.log((joint + epsilon) / (share(X, i) * share(X, j)))
    return pmi / -np.log(joint + epsilon)


def cosine(a, b):
    scale = np.sqrt(np.sum(a**2)) * np.sqrt(np.sum(b**2))
    return np.sum(a * b) / scale if scale > 0 else 0.0


def twin_npmi(topic, X, epsilon=0.0):
    return np.mean([npmi(X, i, j, epsilon) for i, j in combinations(topic, 2)])


def twin_c_v(topic, X, epsilon=0.0):
    def entry(i, j):
        known = share(X, i) > 0 and share(X, j) > 0
        return npmi(X, i, j, epsilon) if known else 0.0

    vectors = {i: np.array([entry(i, j) for j in topic]) for i in topic}
    whole = sum(vectors.values())
    return np.mean([cosine(vectors[i], whole) for i in topic])


def twin_umass(topic, X, smoothing=1.0):
    n_documents = X.shape[0]
    terms = []
    for earlier, later in combinations(topic, 2):
        given = share(X, earlier) * n_documents or n_documents
        terms.append(np.log((share(X, earlier, later) * n_documents + smoothing) / given))
    return np.mean(terms)


def twin_uci(topic, X, epsilon=EPSILON):
    pairs = list(combinations(topic, 2))
    ratios = [(share(X, i, j) + epsilon) / (share(X, i) * share(X, j)) for i, j in pairs]
    return np.mean(np.log(ratios))


def counts_in_windows(documents, size, n_words):
    """Presence of words 0 .. n_words - 1, a row for each window."""
    windows = [one[i : i + size] for one in documents for i in range(max(len(one) - size, 0) + 1)]
    return sparse.csr_matrix([[word in window for word in range(n_words)] for window in windows])


TWINS = {"npmi": twin_npmi, "c_v": twin_c_v, "umass": twin_umass, "uci": twin_uci}


@pytest.mark.parametrize("measure", MEASURES)
def test_equals_the_formulas(measure, X, topics):
    some = np.vstack([topics, [3, 22, 23, 1, 9], [23, 22, 8, 4, 15]])
    expected = [TWINS[measure](topic, X) for topic in some]
    assert_allclose(topic_coherence(some, X, measure=measure), expected, rtol=1e-10)


@pytest.fixture(scope="module", name="documents")
def texts_without_repeats():
    """60 texts, some of them short or empty, of words 0 .. 19 in themes and others in between."""
    rng = np.random.default_rng(2)
    texts = []
    for _ in range(60):
        themes = rng.permutation(20).reshape(4, 5)[: rng.integers(0, 4)].ravel()
        others = 20 + rng.choice(300, rng.integers(0, 160), replace=False)
        texts.append(rng.permutation([*themes, *others]).tolist())
    return texts


SOME = [[0, 1, 2, 3], [4, 9, 14, 19], [5, 16, 7, 18], [19, 0, 12, 6]]


@pytest.mark.parametrize("measure", ["npmi", "c_v", "uci"])
@pytest.mark.parametrize("window", ["auto", 2, 7, 1000])
def test_windows_and_epsilon_equal_gensim(measure, window, documents):
    gensim = pytest.importorskip("gensim.models")
    dictionary_class = pytest.importorskip("gensim.corpora").Dictionary
    texts = [[f"w{token}" for token in document] for document in documents]
    topics = [[f"w{word}" for word in topic] for topic in SOME]
    model = gensim.CoherenceModel(
        topics=topics, texts=texts, dictionary=dictionary_class(texts), topn=4, processes=1,
        coherence=OF_GENSIM[measure], window_size=None if window == "auto" else window,
    )  # fmt: skip
    options = {"measure": measure, "window": window, "epsilon": EPSILON}
    for kind, X in ((topics, texts), (SOME, documents), (SOME, map(np.array, documents))):
        got = topic_coherence(kind, X, **options)
        assert_allclose(got, model.get_coherence_per_topic(), rtol=1e-9)


@pytest.mark.parametrize("measure", list(TWINS))
@pytest.mark.parametrize("window", [2, 5, 30])
@pytest.mark.parametrize("epsilon", [None, 1e-3])
def test_windows_equal_the_formulas_also_with_repeats(measure, window, epsilon):
    rng = np.random.default_rng(3)
    documents = [rng.integers(0, 25, rng.integers(0, 40)).tolist() for _ in range(12)]
    X = counts_in_windows(documents, window, 20)
    options = {} if epsilon is None else {"epsilon": epsilon}
    if measure == "umass" and epsilon is not None:
        options = {"smoothing": epsilon * X.shape[0]}
    expected = [TWINS[measure](topic, X, **options) for topic in SOME]
    got = topic_coherence(SOME, documents, measure=measure, window=window, epsilon=epsilon)
    assert_allclose(got, expected, rtol=1e-10)
    over_counts = topic_coherence(SOME, X, measure=measure, epsilon=epsilon)
    assert_array_equal(got, over_counts)


def test_many_windows_are_read_in_parts(monkeypatch, documents):
    expected = topic_coherence(SOME, documents, window=3)
    monkeypatch.setattr("streamtopics.metrics.coherence.WINDOWS_AT_ONCE", 5)
    assert_array_equal(topic_coherence(SOME, documents, window=3), expected)


@pytest.mark.parametrize("measure", list(TWINS))
def test_windows_and_epsilon_are_finite_for_words_that_never_occur(measure):
    documents = [[0, 1, 0], [1]]
    topics, how = [[0, 7], [7, 8], [0, 1]], {"window": 2, "epsilon": EPSILON}
    got = topic_coherence(topics, documents, measure=measure, **how)
    assert np.isfinite(got).all()
    if measure == "npmi":
        assert got[:2].tolist() == [-1.0, -1.0]
    if measure == "uci":
        assert_allclose(got[1], np.log(EPSILON))


@pytest.mark.parametrize(
    ("X", "options", "error", "message"),
    [
        ("a text", {}, TypeError, "must be lists of tokens"),
        (["a text"], {}, TypeError, "it holds 'a text'"),
        (sparse.eye_array(2, format="csr"), {}, TypeError, "must be lists of tokens"),
        ([], {}, ValueError, "but X has none"),
        ([["a"]], {"measure": "umass"}, KeyError, "umass"),
    ],
)
def test_bad_documents_of_windows(X, options, error, message):
    with pytest.raises(error, match=message):
        topic_coherence([["a", "b"]], X, window="auto", **options)


def values(topics, X, **options):
    return {m: topic_coherence(topics, X, measure=m, **options).tolist() for m in MEASURES}


# Topics, counts, and what is to be had of each measure.
LIMITS = {
    "never meet": ([[0, 1]], np.eye(4), [-1.0], [0.0], [0.0]),
    "never occur": (
        [[0, 1], [1, 2], [2, 1]], np.eye(3)[:, [0, 0, 0]] * [1, 0, 0],
        [-1.0] * 3, [0.5, 0.0, 0.0], [0.0, -np.log(3), -np.log(3)],
    ),
    "are everywhere": (
        [[0, 1], [0, 2]], np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1]]),
        [0.0, 0.0], [np.sqrt(0.5)] * 2, [np.log(4 / 3), 0.0],
    ),
    "are only together": (
        [[0, 1]], np.repeat([[1, 1], [0, 0]], 3, axis=0), [1.0], [1.0], [np.log(4 / 3)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LIMITS)
def test_words_that(case):
    topics, X, *expected = LIMITS[case]
    for measure, wanted in zip(MEASURES, expected, strict=True):
        found = topic_coherence(topics, X, measure=measure)
        assert_allclose(found, wanted, rtol=1e-15 if measure == "npmi" else 1e-7)


@pytest.mark.parametrize("epsilon", [None, 1e-12, 0.01])
def test_uci_of_a_word_that_never_occurs_does_not_go_by_the_other_one(epsilon):
    """It is the least that there is, however rare the other one may be."""
    X = [[1, 0, 1, 1], [0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 1, 0]]
    topics = [[0, 1], [1, 0], [2, 1], [1, 3]]
    got = topic_coherence(topics, X, measure="uci", epsilon=epsilon)
    assert_allclose(got, np.log(epsilon or 1e-12), rtol=1e-15)
    # Of three pairs one is known.
    got = topic_coherence([[0, 1, 3]], X, measure="uci", epsilon=epsilon)
    known = topic_coherence([[0, 3]], X, measure="uci", epsilon=epsilon)
    assert_allclose(got, (2 * np.log(epsilon or 1e-12) + known) / 3)


@pytest.mark.parametrize("seed", range(20))
def test_always_finite_and_within_bounds(seed):
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 12), rng.integers(4, 10)
    X = rng.random(shape) < rng.choice([0, 0.1, 0.5, 0.9, 1], size=shape[1])
    topics = np.stack([rng.permutation(shape[1])[:4] for _ in range(6)])
    got = values(topics, X)
    for measure in ("npmi", "c_v"):
        assert np.abs(got[measure]).max() <= 1 + 1e-12
    umass = np.array(got["umass"])
    assert (umass >= -np.log(shape[0]) - 1e-12).all()
    assert (umass <= np.log(2)).all()


@pytest.mark.parametrize("measure", ["npmi", "c_v"])
def test_order_and_size_do_not_matter(measure, X, topics):
    expected = topic_coherence(topics, X, measure=measure)
    tenfold = sparse.vstack([X] * 10, format="csr")
    for ordered, counts in ((topics[:, ::-1], X), (topics, tenfold)):
        got = topic_coherence(ordered, counts, measure=measure)
        assert_allclose(got, expected, rtol=1e-10)


@pytest.mark.parametrize("measure", MEASURES)
def test_only_presence_matters(measure, X, topics):
    expected = topic_coherence(topics, X, measure=measure)
    for other in (X > 0, X * 0.01, X.toarray(), sparse.csr_array(X), X.tocoo(), X.tocsc()):
        assert_array_equal(topic_coherence(topics, other, measure=measure), expected)


def test_entries_that_are_zero_repeated_or_out_of_order():
    X = sparse.csr_matrix(([1, 2, 1, 0, 1, 3], [1, 0, 1, 2, 2, 0], [0, 4, 5, 6]), shape=(3, 3))
    before = [array.copy() for array in (X.data, X.indices, X.indptr)]
    assert not X.has_canonical_format
    got, expected = (values([[0, 1, 2]], matrix) for matrix in (X, X.toarray()))
    assert got == expected
    for now, then in zip((X.data, X.indices, X.indptr), before, strict=True):
        assert_array_equal(now, then)


def test_words_in_place_of_columns(X, topics):
    names = np.array([f"w{word}" for word in range(24)])
    expected = topic_coherence(topics, X)
    for words in (names[topics], names[topics].tolist(), names.astype(object)[topics]):
        assert_array_equal(topic_coherence(words, X, feature_names=names), expected)


@pytest.mark.parametrize(
    ("topics", "options", "error", "message"),
    [
        ([[0, 1]], {"window": 1}, ValueError, "window must be at least 2; got 1"),
        ([[0.5, 0.1], [0.2, 0.3]], {}, ValueError, r"Of weights take relevant_words"),
        ([["w0", "w1"]], {}, ValueError, r"with as many distinct feature_names, words; got .*'w0'"),
        ([[0, 24]], {}, ValueError, r"from 0 to 23, .*got \[0, 24\]"),
        ([[0, -1]], {}, ValueError, r"from 0 to 23, .*got \[0, -1\]"),
        ([[0, 1], [2, 2]], {}, ValueError, r"topic 1 repeats a word: \[2, 2\]"),
        ([["a", "b"]], {"feature_names": ["a", "b"]}, ValueError, "as many distinct feature_names"),
    ],
)
def test_bad_arguments(topics, options, error, message, X):
    with pytest.raises(error, match=message):
        topic_coherence(topics, X, **options)


def test_arrow_lists_and_lists_of_seeds():
    tokens = [["the", "ship", "at", "sea"], ["a", "law", "of", "the", "sea"]]
    pairs, arrow = [["ship", "sea"]], pytest.importorskip("pyarrow").array(tokens)
    assert topic_coherence(pairs, arrow, window=3) == topic_coherence(pairs, tokens, window=3)
    found = seed_prior([["ship"], ["plane"]], ["plane", "ship", "sun"], 5.0, base=0.5)
    assert found.tolist() == [[0.5, 5.5, 0.5], [5.5, 0.5, 0.5]]
