# SPDX-License-Identifier: BSD-3-Clause
"""How many topics: the figures against the functions they are of, the rule, and the picture."""

from itertools import combinations, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline

from streamtopics import StreamingLDA, TopicStream
from streamtopics.datasets import make_lda_corpus
from streamtopics.inspection import (
    NComponentsComparison,
    NComponentsRow,
    compare_n_components,
    plot_n_components,
)
from streamtopics.inspection.n_components import matched_kappa
from streamtopics.metrics import (
    completion_split,
    log_predictive_probability,
    relevant_words,
    topic_coherence,
    topic_diversity,
)
from streamtopics.priors import SeedWords
from streamtopics.text import NamedCounts, StreamingCountVectorizer, StreamingPipeline

NUMBERS = [2, 5, 20]


@pytest.fixture(scope="module", name="X")
def counts_of_five_topics():
    X = make_lda_corpus(n_documents=600, n_components=5, n_features=100, random_state=1).X
    return sparse.vstack([X, sparse.csr_matrix((300, 100), dtype=X.dtype)], "csr")


@pytest.fixture(scope="module")
def found(X):
    return compare_n_components(StreamingLDA(), X, NUMBERS, random_state=0)


def rows_of(gains, stabilities):
    rows = [
        NComponentsRow(k, gain - 7.0, 0.1, gain, 0.1, 0.5, stability, 1.0)
        for k, gain, stability in zip((10, 20, 40), gains, stabilities, strict=True)
    ]
    return NComponentsComparison(tuple(rows))


def without_seconds(found):
    return [row[:-1] for row in found.rows]


def test_finds_the_number_that_the_corpus_has(found):
    assert [row.n_components for row in found.rows] == NUMBERS
    assert found.best == found.chosen == 5
    assert found.rows[1].stability > 0.8


def test_figures_are_those_of_the_functions(X, found):
    generator = np.random.RandomState(0)
    order = generator.permutation(X.shape[0])
    seeds = generator.randint(np.iinfo(np.int32).max, size=3)
    models, tests = [], []
    for i, seed in enumerate(seeds):
        part = np.isin(np.arange(X.shape[0]), order[i::3])
        models.append(StreamingLDA(5, random_state=int(seed)).fit(X[~part]))
        tests.append(X[part])
    scores = list(map(log_predictive_probability, models, tests))
    tops = [relevant_words(model.components_) for model in models]
    row = found.rows[1]
    assert_allclose(row.score, np.mean(scores))
    assert_allclose(row.score_error, np.std(scores, ddof=1) / np.sqrt(3))
    assert_allclose(row.coherence, np.mean(list(map(topic_coherence, tops, tests))))
    assert_allclose(row.diversity, np.mean([topic_diversity(top) for top in tops]))
    topics = [model.transform(X).argmax(axis=1) for model in models]
    kappas = []
    for i, j in combinations(range(3), 2):
        asked = np.concatenate([order[i::3], order[j::3]])
        asked = asked[asked < 600]  # Those with words.
        kappas.append(plain_kappa(topics[i][asked].tolist(), topics[j][asked].tolist(), 5))
    assert_allclose(row.stability, np.mean(kappas))
    gains = []
    for score, test in zip(scores, tests, strict=True):
        learnt = X.sum(axis=0) - test.sum(axis=0)
        p = np.asarray(learnt).ravel() + 0.02
        held_out = completion_split(test)[1]
        gains.append(score - np.asarray(held_out @ np.log(p / p.sum())).sum() / held_out.sum())
    assert_allclose(row.gain, np.mean(gains))
    assert row.seconds > 0


def plain_kappa(one, other, n_topics):
    """Of all ways to match topics, the one with the most documents in the same."""
    n = len(one)
    matches = list(permutations(range(n_topics)))
    same = [sum(match[a] == b for a, b in zip(one, other, strict=True)) for match in matches]
    match = matches[int(np.argmax(same))]
    chance = sum(one.count(k) * other.count(match[k]) for k in range(n_topics)) / n**2
    return (max(same) / n - chance) / (1 - chance)


@pytest.mark.parametrize("n_topics", [2, 3, 5])
def test_agreement_is_kappa_over_all_matches(n_topics):
    rng = np.random.default_rng(n_topics)
    one = rng.integers(n_topics, size=60)
    other = np.where(rng.random(60) < 0.4, rng.integers(n_topics, size=60), (one + 1) % n_topics)
    found = matched_kappa(one, other)
    assert_allclose(found, plain_kappa(one.tolist(), other.tolist(), n_topics))
    assert matched_kappa(np.append(one, -1), np.append(other, 1)) == found
    assert matched_kappa(one, (one + 1) % n_topics) == pytest.approx(1.0)
    assert matched_kappa(np.zeros(9, int), np.zeros(9, int)) == 0.0


def test_all_but_seconds_depends_on_the_seed_alone(X, found):
    for n_jobs in (None, 2):
        numbers = iter([20, 2, 5, 5])
        again = compare_n_components(StreamingLDA(), X, numbers, random_state=0, n_jobs=n_jobs)
        assert without_seconds(again) == without_seconds(found)
    model = StreamingLDA(7)
    other = compare_n_components(model, X, [5], random_state=1)
    assert other.rows[0].score != found.rows[1].score
    assert model.n_components == 7
    assert not hasattr(model, "components_")


@pytest.mark.parametrize(
    ("gains", "stabilities", "best", "chosen"),
    [
        ([0.2, 0.5, 0.6], [0.9, 0.8, 0.3], 40, 20),
        ([0.2, 0.5, 0.6], [0.9, 0.8, 0.8], 40, 40),
        ([0.48, 0.5, 0.5], [0.8, 0.8, 0.8], 20, 10),
        ([0.47, 0.5, 0.5], [0.8, 0.8, 0.8], 20, 20),
        ([0.5, 0.5, 0.9], [0.8, 0.7, 0.8], 40, 10),
        ([-0.2, -0.1, 0.0], [0.9, 0.9, -0.1], 40, 10),
        ([0.09, 0.5, 0.5], [0.9, 0.8, 0.7], 20, 20),
    ],
)
def test_the_smallest_number_that_stands_out(gains, stabilities, best, chosen):
    comparison = rows_of(gains, stabilities)
    assert (comparison.best, comparison.chosen) == (best, chosen)


def test_as_text_and_as_frame(found):
    pandas = pytest.importorskip("pandas")
    lines = str(found).splitlines()
    assert len(lines) == 4
    assert [line.endswith("chosen") for line in lines] == [False, False, True, False]
    frame = pandas.DataFrame(found.rows).set_index("n_components")
    assert frame.loc[5, "score"] == found.rows[1].score


def test_the_picture(found, tmp_path):
    left, right = plot_n_components(found)
    assert_array_equal(left.lines[0].get_xdata(), NUMBERS)
    labels = [text.get_text() for text in right.get_legend().get_texts()]
    assert labels == ["stability", "gain x stability, of the highest", "coherence", "chosen: 5"]
    assert left.get_legend().get_texts()[0].get_text() == "chosen: 5"
    left.figure.savefig(tmp_path / "numbers.png")


@pytest.mark.parametrize("kind", [sparse.coo_matrix, sparse.csc_array, np.asarray, list, "frame"])
def test_kinds_of_counts(kind, X):
    dense = X[:60].toarray()
    if kind == "frame":
        kind = pytest.importorskip("pandas").DataFrame
    expected = compare_n_components(StreamingLDA(), X[:60], [2], random_state=0)
    got = compare_n_components(StreamingLDA(), kind(dense), [2], random_state=0)
    assert_allclose(without_seconds(got), without_seconds(expected), rtol=1e-5)


def test_models_of_scikit_learn_and_priors_that_want_names(X):
    theirs = LatentDirichletAllocation(learning_method="online", max_iter=1)
    assert len(compare_n_components(theirs, X, [2, 3], n_splits=2, random_state=0).rows) == 2
    names = [f"w{i}" for i in range(100)]
    ours = StreamingLDA(topic_word_prior=SeedWords([["w0", "w3"]], 10))
    frame = pytest.importorskip("polars").DataFrame(X.toarray(), schema=names)
    for named in NamedCounts.of(X, names), frame:
        assert compare_n_components(ours, named, [3], random_state=0).chosen == 3


@pytest.mark.parametrize("kind", ["pipeline", "scikit-learn's", "stream", "stream of a model"])
def test_from_texts(kind, X):
    texts = ["ship sea sails wind"] * 30 + ["sun sky stars moon"] * 30 + ["cat dog food bowl"] * 30
    words, topics = StreamingCountVectorizer(max_features=50), Pipeline([("a", StreamingLDA())])
    model = {
        "pipeline": StreamingPipeline([("words", words), ("topics", StreamingLDA())]),
        "scikit-learn's": Pipeline([("model", CountVectorizer()), ("topics", topics)]),
        "stream": TopicStream(),
        "stream of a model": Pipeline([("a", TopicStream(model=StreamingLDA()))]),
    }[kind]
    found = compare_n_components(model, texts, [2, 3], random_state=0)
    assert [row.n_components for row in found.rows] == [2, 3]
    assert found.rows[1].stability > 0.9
    told = "The largest number was chosen: more might be better still; try some."
    assert str(found).endswith(told) == (found.chosen == 3)
    # Most columns of a TopicStream have no word yet.
    assert found.chosen == 3 or "stream" in kind
    if kind == "scikit-learn's":
        # The same as of their counts, as all parts have all words.
        X = CountVectorizer().fit_transform(texts)
        other = compare_n_components(StreamingLDA(), X, [2, 3], random_state=0)
        assert without_seconds(found) == without_seconds(other)


def test_what_is_refused(X):
    with pytest.raises(ValueError, match="n_splits must be at least 2; got 1"):
        compare_n_components(StreamingLDA(), X, [2], n_splits=1)
    for numbers in ([], [2.5]):
        with pytest.raises((TypeError, ValueError), match="n_components must be"):
            compare_n_components(StreamingLDA(), X, numbers)
    with pytest.raises(ValueError, match="no token to predict"):
        compare_n_components(StreamingLDA(), np.eye(20, 30), [2], random_state=0)


def test_one_topic_agrees_with_itself_by_chance_alone():
    assert {matched_kappa(np.zeros(n, int), np.zeros(n, int)) for n in range(1, 700)} == {0.0}
