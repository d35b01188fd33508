# SPDX-License-Identifier: BSD-3-Clause
"""Coherence against the formulas, word by word, and against gensim.

gensim adds EPSILON to each joint probability where this package takes the limit;
the twin does either, so both are held to it, and each other where no pair of
words is without a document.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from streamtopics.metrics import topic_coherence

EPSILON = 1e-12
MEASURES = ["npmi", "c_v", "umass"]


@pytest.fixture(scope="module", name="X")
def counts_of_three_themes():
    """80 documents over 24 words in three themes; word 23 never occurs, word 22 always."""
    rng = np.random.default_rng(0)
    rates = np.full((80, 24), 0.05)
    for document, theme in enumerate(rng.integers(3, size=80)):
        rates[document, 7 * theme : 7 * theme + 7] = 0.9
    counts = rng.poisson(rates)
    counts[:, 22] = 1 + rng.poisson(1, 80)
    counts[:, 23] = 0
    return sparse.csr_matrix(counts)


@pytest.fixture(scope="module")
def topics(X):
    """Themes, mixtures of them, and some with words that never meet."""
    rng = np.random.default_rng(1)
    themes = [np.arange(7 * theme, 7 * theme + 5) for theme in range(3)]
    return np.stack(themes + [rng.permutation(22)[:5] for _ in range(10)])


def meeting(topics, X):
    present = (X.toarray() > 0).astype(int)
    joint = present.T @ present
    return np.array([(joint[np.ix_(topic, topic)] > 0).all() for topic in topics])


# The twin


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


TWINS = {"npmi": twin_npmi, "c_v": twin_c_v, "umass": twin_umass}


@pytest.mark.parametrize("measure", MEASURES)
def test_equals_the_formulas(measure, X, topics):
    some = np.vstack([topics, [3, 22, 23, 1, 9], [23, 22, 8, 4, 15]])
    expected = [TWINS[measure](topic, X) for topic in some]
    np.testing.assert_allclose(topic_coherence(some, X, measure=measure), expected, rtol=1e-10)


@pytest.mark.parametrize("smoothing", [0.01, 5])
def test_smoothing_of_umass(smoothing, X, topics):
    expected = [twin_umass(topic, X, smoothing) for topic in topics]
    got = topic_coherence(topics, X, measure="umass", smoothing=smoothing)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


# gensim


@pytest.fixture(scope="module")
def gensim_coherence(X):
    """Coherence of topics by gensim, whose one window is the whole document."""
    gensim_models = pytest.importorskip("gensim.models")
    dictionary_class = pytest.importorskip("gensim.corpora").Dictionary
    texts = [[f"w{word}" for word in row.nonzero()[1]] for row in X]
    dictionary = dictionary_class(texts)
    corpus = [dictionary.doc2bow(text) for text in texts]

    def coherence(topics, measure):
        return gensim_models.CoherenceModel(
            topics=[[f"w{word}" for word in topic] for topic in topics],
            texts=texts,
            corpus=corpus,
            dictionary=dictionary,
            window_size=X.shape[1] + 1,
            coherence=measure,
            topn=topics.shape[1],
            processes=1,
        ).get_coherence_per_topic()

    return coherence


@pytest.mark.parametrize("measure", ["npmi", "c_v"])
def test_equals_gensim_where_all_pairs_meet(measure, X, topics, gensim_coherence):
    topics = topics[meeting(topics, X)]
    assert len(topics) >= 5
    expected = gensim_coherence(topics, {"npmi": "c_npmi", "c_v": "c_v"}[measure])
    np.testing.assert_allclose(topic_coherence(topics, X, measure=measure), expected, atol=1e-9)


@pytest.mark.parametrize("measure", ["npmi", "c_v"])
def test_the_twin_with_epsilon_equals_gensim_everywhere(measure, X, topics, gensim_coherence):
    assert not meeting(topics, X).all()
    expected = gensim_coherence(topics, {"npmi": "c_npmi", "c_v": "c_v"}[measure])
    got = [TWINS[measure](topic, X, EPSILON) for topic in topics]
    np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_umass_with_gensims_smoothing_equals_gensim(X, topics, gensim_coherence):
    expected = gensim_coherence(topics, "u_mass")
    got = topic_coherence(topics, X, measure="umass", smoothing=EPSILON * X.shape[0])
    np.testing.assert_allclose(got, expected, rtol=1e-10)


# Limits


def values(topics, X, **options):
    return {m: topic_coherence(topics, X, measure=m, **options).tolist() for m in MEASURES}


def test_words_that_never_meet():
    got = values([[0, 1]], np.eye(4))
    assert got["npmi"] == [-1.0]
    assert got["c_v"] == [0.0]
    assert got["umass"] == [np.log(1 / 1)]


def test_words_that_never_occur():
    got = values([[0, 1], [1, 2], [2, 1]], np.eye(3)[:, [0, 0, 0]] * [1, 0, 0])
    assert got["npmi"] == [-1.0] * 3
    np.testing.assert_allclose(got["c_v"], [0.5, 0, 0])
    np.testing.assert_allclose(got["umass"], [0.0, -np.log(3), -np.log(3)])


def test_words_that_are_everywhere():
    X = np.array([[1, 1, 1], [1, 1, 0], [1, 1, 1]])
    got = values([[0, 1], [0, 2]], X)
    assert got["npmi"] == [0.0, 0.0]
    np.testing.assert_allclose(got["c_v"], [np.sqrt(0.5)] * 2)
    np.testing.assert_allclose(got["umass"], [np.log(4 / 3), 0.0])


def test_words_that_are_only_together():
    got = values([[0, 1]], np.repeat([[1, 1], [0, 0]], 3, axis=0))
    np.testing.assert_allclose(got["npmi"], 1.0)
    np.testing.assert_allclose(got["c_v"], 1.0)


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


# What does and does not matter


def test_themes_are_more_coherent_than_mixtures(X, topics):
    for coherence in values(topics, X).values():
        assert min(coherence[:3]) > max(coherence[3:])


@pytest.mark.parametrize("measure", ["npmi", "c_v"])
def test_order_and_size_do_not_matter(measure, X, topics):
    expected = topic_coherence(topics, X, measure=measure)
    tenfold = sparse.vstack([X] * 10, format="csr")
    for got in (
        topic_coherence(topics[:, ::-1], X, measure=measure),
        topic_coherence(topics, tenfold, measure=measure),
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_each_topic_is_on_its_own(X, topics):
    whole = topic_coherence(topics, X)
    alone = np.concatenate([topic_coherence(topics[[t]], X) for t in range(len(topics))])
    np.testing.assert_allclose(whole, alone, rtol=1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_only_presence_matters(measure, X, topics):
    expected = topic_coherence(topics, X, measure=measure)
    for other in (X > 0, X * 0.01, X.toarray(), sparse.csr_array(X), X.tocoo(), X.tocsc()):
        np.testing.assert_array_equal(topic_coherence(topics, other, measure=measure), expected)


def test_entries_that_are_zero_repeated_or_out_of_order():
    X = sparse.csr_matrix(
        (np.array([1, 2, 1, 0, 1, 3]), np.array([1, 0, 1, 2, 2, 0]), np.array([0, 4, 5, 6])),
        shape=(3, 3),
    )
    before = [array.copy() for array in (X.data, X.indices, X.indptr)]
    assert not X.has_canonical_format
    got, expected = (values([[0, 1, 2]], matrix) for matrix in (X, X.toarray()))
    assert got == expected
    for now, then in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_words_in_place_of_columns(X, topics):
    names = np.array([f"w{word}" for word in range(24)])
    expected = topic_coherence(topics, X)
    for words in (names[topics], names[topics].tolist(), names.astype(object)[topics]):
        np.testing.assert_array_equal(topic_coherence(words, X, feature_names=names), expected)


# What is refused


@pytest.mark.parametrize(
    ("topics", "options", "error", "message"),
    [
        ([[0, 1]], {"measure": "pmi"}, ValueError, r"npmi, c_v, umass; got 'pmi'"),
        ([[0, 1]], {"smoothing": 0}, ValueError, r"smoothing must be a positive number.*got 0"),
        ([[0, 1]], {"smoothing": np.nan}, ValueError, "smoothing must be .* got nan"),
        ([0, 1], {}, ValueError, r"\(n_topics, n_top_words\).*got shape \(2,\)"),
        ([[0], [1]], {}, ValueError, r"at least 2 words.*got shape \(2, 1\)"),
        ([], {}, ValueError, r"at least one topic.*got shape \(0,\)"),
        ([[0, 1], [1, 2, 3]], {}, ValueError, "rows of different lengths"),
        ([[0.5, 0.1], [0.2, 0.3]], {}, TypeError, r"got .*0\.5.*np\.argsort"),
        ([["w0", "w1"]], {}, TypeError, r"got .*'w0'.*Pass feature_names"),
        ([[0, 24]], {}, ValueError, "from 0 to 23; got 24"),
        ([[0, -1]], {}, ValueError, "from 0 to 23; got -1"),
        ([[0, 1], [2, 2]], {}, ValueError, r"topic 1 repeats one: \[2, 2\]"),
        ([["a", "b"]], {"feature_names": ["a", "b"]}, ValueError, r"24 columns of X.*got 2"),
        (
            [["a", "z"]],
            {"feature_names": list("abcdefghijklmnopqrstuvwx")},
            ValueError,
            r"feature_names lacks, such as 'z' \(1 in all\)",
        ),
    ],
)
def test_bad_arguments(topics, options, error, message, X):
    with pytest.raises(error, match=message):
        topic_coherence(topics, X, **options)


def test_bad_documents(X):
    with pytest.raises(ValueError, match="Negative values in data"):
        topic_coherence([[0, 1]], -X)
    with pytest.raises(ValueError, match="0 sample"):
        topic_coherence([[0, 1]], X[:0])
