# SPDX-License-Identifier: BSD-3-Clause
"""The vocabulary of a stream: its counts, who gets a column, and its bounds."""

import pickle
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import SVBLDA, StreamingLDA
from streamtopics.text import (
    NamedVectorizer,
    SentenceVectorizer,
    StreamingCountVectorizer,
    StreamingPipeline,
)
from streamtopics.text.vocabulary import LONGEST, OpenVocabulary, Policy
from tests.small import SEA, SKY

DEFAULTS = {"half_life": None, "min_df": 1, "max_df": 1.0, "n_candidates": 10, "margin": 1.5}


def step(vocabulary, counts, n_documents, **given):
    words = sorted(counts)
    frequencies = np.array([counts[word] for word in words], dtype=np.int64)
    return vocabulary.step(words, frequencies, n_documents, Policy(**DEFAULTS | given))


def drawn(rng, n_documents, shift=0):
    """Texts of words by Zipf's law, the frequent ones others from time to time."""
    ranks = np.minimum(rng.zipf(1.3, (n_documents, 12)), 2000)
    return [" ".join(f"w{(r + shift) % 2000}" for r in row) for row in ranks]


def stream(n_batches=12):
    rng = np.random.default_rng(0)
    return [drawn(rng, 40, shift=50 * (t // 3)) for t in range(n_batches)]


class Exact:
    """Counts of documents by word, with decay, by plain sums."""

    def __init__(self, half_life):
        self.half_life, self.counts = half_life, defaultdict(float)
        self.weight = self.pairs = 0.0

    def add(self, texts):
        """Count texts; in how many of them each word is."""
        own = Counter(word for text in texts for word in set(text.split()))
        decay = 1.0 if self.half_life is None else 0.5 ** (len(texts) / self.half_life)
        self.weight = self.weight * decay + len(texts)
        self.pairs = self.pairs * decay + own.total()
        for word in self.counts:
            self.counts[word] *= decay
        for word, n in own.items():
            self.counts[word] += n
        return own


def frequencies(vocabulary):
    return dict(zip(vocabulary.words, vocabulary.table.frequency, strict=True))


def same(one, other):
    for name in ("words", "n_documents", "weight", "error_bound", "recycled", "phrases"):
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for mine, theirs in zip(one.table.arrays(), other.table.arrays(), strict=True):
        assert_array_equal(mine, theirs)


def check_consistent(vocabulary):
    """That the fields agree with one another."""
    assert len(set(vocabulary.words)) == len(vocabulary.words) == len(vocabulary.table.frequency)
    assert_array_equal(vocabulary.places.of(vocabulary.words), np.arange(len(vocabulary.words)))
    held = np.flatnonzero(vocabulary.table.owner >= 0)
    assert_array_equal(vocabulary.table.column[vocabulary.table.owner[held]], held)
    assert np.count_nonzero(vocabulary.table.column >= 0) == len(held)
    assert (vocabulary.table.frequency > 0).all()


@pytest.mark.parametrize("half_life", [None, 100.0])
def test_frequencies_of_columns_are_decayed_counts(half_life):
    """Against a plain sum over all documents seen, where nothing had to be dropped."""
    batches = stream()
    model = StreamingCountVectorizer(max_features=100, half_life=half_life, n_candidates=10_000)
    exact = Exact(half_life)
    for texts in batches:
        model.partial_fit(texts)
        exact.add(texts)
    expected = [exact.counts[word] for word in model.get_feature_names_out()]
    assert_allclose(model.document_frequency_, expected, rtol=1e-12)
    assert model._vocabulary.weight == pytest.approx(exact.weight)
    assert model._vocabulary.error_bound == 0
    assert model.n_documents_seen_ == sum(map(len, batches))


@pytest.mark.parametrize("n_candidates", [1, 7, 40])
@pytest.mark.parametrize("half_life", [None, 60.0])
def test_counts_are_never_too_large_and_not_much_too_small(n_candidates, half_life):
    """The bounds of Misra and Gries, with decay, for whatever is counted and what is not."""
    vocabulary, exact = OpenVocabulary.empty(5), Exact(half_life)
    given = {"n_candidates": n_candidates, "half_life": half_life}
    for texts in stream(20):
        vocabulary = step(vocabulary, exact.add(texts), len(texts), **given)
        check_consistent(vocabulary)
        found = frequencies(vocabulary)
        for word, n in exact.counts.items():
            assert found.get(word, 0.0) <= n * (1 + 1e-12)
            assert found.get(word, 0.0) >= n - vocabulary.error_bound - 1e-9
        assert vocabulary.error_bound <= exact.pairs / (n_candidates + 1)
    assert vocabulary.error_bound > 0


ODD, EVEN = np.arange(1, 402, 2), np.arange(2, 402, 2)


@pytest.mark.parametrize("n_candidates", [1, 7, 200])
@pytest.mark.parametrize(
    "order",
    [[ODD, EVEN[::-1]], [EVEN, ODD[::-1]], [ODD[::-1], EVEN[::-1]]],
    ids=["rising and falling", "from two", "falling twice"],
)
def test_the_most_frequent_candidates_are_kept(n_candidates, order):
    """Less the count of the first one that is not."""
    counts = {f"w{i:03}": n for i, n in enumerate(np.concatenate(order))} | {"the": 500}
    found = step(OpenVocabulary.empty(1), counts, 500, n_candidates=n_candidates)
    check_consistent(found)
    lost = 401 - n_candidates
    assert found.error_bound == lost
    expected = {word: n - lost for word, n in counts.items() if n > lost} | {"the": 500}
    assert frequencies(found) == expected


@pytest.mark.parametrize("n_columns", [1, 5])
def test_candidates_go_when_there_are_more_than_twice_those_that_count(n_columns):
    """However many columns wait for words that more documents use."""
    counts = {f"w{i:02}": 1 + i for i in range(20)}
    full = step(OpenVocabulary.empty(n_columns), counts, 500, min_df=100)
    assert frequencies(full) == counts
    found = step(full, {"w99": 50}, 500, min_df=100)
    check_consistent(found)
    expected = {f"w{i:02}": i - 10 for i in range(11, 20)} | {"w99": 39}
    assert frequencies(found) == expected


def test_memory_is_bounded_whatever_comes():
    """New words for ever, long ones too, and then the words that matter get their columns."""
    model = StreamingCountVectorizer(max_features=10, n_candidates=50)
    kept = " ".join(f"kept{i}" for i in range(10))
    for t in range(60):
        model.partial_fit([" ".join(f"new{t}x{i}" for i in range(200)) + " " + "y" * 5000, kept])
        vocabulary = model._vocabulary
        assert len(vocabulary.words) == len(vocabulary.places) <= 10 + 2 * 50
        assert max(map(len, vocabulary.words)) <= LONGEST
        check_consistent(vocabulary)
    assert set(model.get_feature_names_out()) == set(kept.split())


def test_words_of_more_than_256_characters_get_no_column():
    model = StreamingCountVectorizer(max_features=9).partial_fit(["x" * 257 + " " + "y" * 256])
    assert list(model.vocabulary_) == ["y" * 256]


def test_free_columns():
    model = StreamingCountVectorizer(max_features=3).partial_fit(["red"])
    assert list(model.get_feature_names_out()) == ["red", "<free 1>", "<free 2>"]
    assert_array_equal(model.document_frequency_, [1, 0, 0])
    assert model.vocabulary_ == {"red": 0}
    X = model.transform(["red red blue"])
    assert_array_equal(X.toarray(), [[2, 0, 0]])
    assert [list(row) for row in model.inverse_transform(X)] == [["red"]]
    assert_array_equal(model.partial_fit(["blue"]).recycled_, [])
    assert list(model.get_feature_names_out()) == ["red", "blue", "<free 2>"]


@pytest.mark.parametrize("margin", [1.0, 1.5, 3.0])
def test_a_column_changes_hands_when_another_word_is_so_much_more_frequent(margin):
    """The one that loses its column keeps its count, and gets it back by the same rule."""
    vocabulary = step(OpenVocabulary.empty(1), {"old": 2}, 2, margin=margin)
    for n in range(1, int(2 * margin) + 1):
        vocabulary = step(vocabulary, {"new": 1}, 1, margin=margin)
        assert vocabulary.names == ["old"], n
        assert not len(vocabulary.recycled)
    vocabulary = step(vocabulary, {"new": 1}, 1, margin=margin)
    assert vocabulary.names == ["new"]
    assert_array_equal(vocabulary.recycled, [0])
    n = int(2 * margin) + 1
    vocabulary = step(vocabulary, {"old": int(n * margin) - 2}, 99, margin=margin)
    assert vocabulary.names == ["new"]
    vocabulary = step(vocabulary, {"old": 1}, 1, margin=margin)
    assert vocabulary.names == ["old"]


@pytest.mark.parametrize("half_life", [50.0, 10.0])
def test_brute_force(half_life):
    """One exchange after the other, best against worst, gives the same columns."""
    rng = np.random.default_rng(0)
    vocabulary = OpenVocabulary.empty(8)
    for _ in range(50):
        counts = {f"w{i}": int(n) for i, n in enumerate(rng.poisson(1.0, 40)) if n}
        given = {"margin": 1.3, "min_df": 2, "half_life": half_life, "n_candidates": 1000}
        before, vocabulary = vocabulary, step(vocabulary, counts, 10, **given)
        check_consistent(vocabulary)
        frequency = frequencies(vocabulary)
        columns = [None if h < 0 else before.words[h] for h in before.table.owner]
        rest = [w for w in vocabulary.words if w not in columns and frequency[w] >= 2]
        for word in sorted(rest, key=lambda w: -frequency[w]):
            strength = [frequency.get(c, -1.0) for c in columns]
            strength = [0.0 if 0 <= n < 2 else n for n in strength]
            weakest = int(np.argmin(strength))
            if frequency[word] <= 1.3 * strength[weakest]:
                break
            columns[weakest] = word
        expected = [f"<free {i}>" if c is None else c for i, c in enumerate(columns)]
        assert vocabulary.names == expected
        held = np.flatnonzero(before.table.owner >= 0)
        changed = [c for c in held if before.names[c] != expected[c]]
        assert_array_equal(vocabulary.recycled, changed)


@pytest.mark.parametrize("max_df", [1.0, 0.5])
def test_no_word_has_a_column_while_there_are_fewer_documents_than_min_df(max_df):
    model = StreamingCountVectorizer(max_features=100, min_df=5, max_df=max_df, half_life=None)
    for texts in [["red sea", "blue sky"], ["red sky"], ["red", "red", "pink"]]:
        assert model.partial_fit_transform(texts).shape == (len(texts), 100)
        assert model.vocabulary_ == {}
    model.partial_fit(["red", *["a sky"] * 3, *["x"] * 4])
    assert model.vocabulary_ == {"red": 0, "sky": 1}


def test_a_word_in_one_document_is_not_too_frequent_for_a_share():
    model = StreamingCountVectorizer(max_features=9, max_df=0.25, half_life=None)
    assert set(model.partial_fit(["the red sea", "the sky"]).vocabulary_) == {"red", "sea", "sky"}
    assert set(model.partial_fit(["the red sun"]).vocabulary_) == {"sea", "sky", "sun"}
    model.partial_fit(["blue"] * 2 + ["sun"] * 2 + ["ship"] * 3)
    # Of ten documents, a quarter is more than one.
    assert set(model.vocabulary_) == {"blue", "red", "sea", "sky"}


def test_limits_that_never_fit_are_refused_in_a_stream():
    texts, said = ["red sea", "blue sky"], "max_df corresponds to < documents than min_df"
    for given in ({"min_df": 3, "max_df": 2}, {"min_df": 0.5, "max_df": 0.25}):
        model = StreamingCountVectorizer(max_features=9, **given)
        with pytest.raises(ValueError, match=said):
            model.partial_fit(texts)
        assert not hasattr(model, "vocabulary_")
    # As CountVectorizer does, of a corpus.
    with pytest.raises(ValueError, match=said):
        StreamingCountVectorizer(min_df=5).fit(texts)


def test_a_pipeline_learns_from_documents_none_of_whose_words_has_a_column():
    words = StreamingCountVectorizer(max_features=4, min_df=2)
    model = StreamingPipeline([("words", words), ("topics", SVBLDA(1, random_state=0))])
    for text in ["red sea", "sky", "red sky", "red"]:
        model.partial_fit([text])
    assert model.top_words(n_words=1) == [["red"]]
    assert model[-1].n_documents_seen_ == 4


@pytest.mark.parametrize("step", [CountVectorizer(), NamedVectorizer(), SentenceVectorizer()])
def test_a_step_that_is_not_fitted_and_cannot_learn_is_refused(step):
    model = StreamingPipeline([("words", step), ("topics", SVBLDA(1, random_state=0))])
    with pytest.raises(NotFittedError):
        model.partial_fit(["red sea"])
    assert not hasattr(model[-1], "components_")
    if not isinstance(step, SentenceVectorizer):
        step.fit(["red sea"])
        assert model.partial_fit(["red sea"])[-1].n_documents_seen_ == 1


def test_min_df_lets_in_and_max_df_puts_out():
    model = StreamingCountVectorizer(max_features=3, min_df=2, max_df=0.75, half_life=None)
    model.partial_fit(["rare the", "red the", "red", "sky"])
    assert list(model.vocabulary_) == ["red", "the"]
    model.partial_fit(["the sky"] * 6)
    # "the" is in 8 of 10 now, "sky" in 7.
    assert model.vocabulary_ == {"red": 0, "sky": 1}
    assert_array_equal(model.recycled_, [1])
    assert model.get_feature_names_out()[2] == "<free 2>"
    model.partial_fit(["zz"] * 10)
    assert list(model.get_feature_names_out()) == ["the", "sky", "zz"]


def test_a_word_that_is_put_out_has_the_column_of_one_that_is_not_known():
    vocabulary = step(OpenVocabulary.empty(2), {"red": 2, "sea": 1}, 2)
    assert_array_equal(vocabulary.columns_of(["red", "sea", "new"]), [0, 1, -1])
    vocabulary = step(vocabulary, {"red": 2}, 2, max_df=3)
    assert_array_equal(vocabulary.columns_of(["red", "sea", "new"]), [-1, 1, -1])


def test_a_candidate_that_is_too_frequent_puts_out_no_other_word():
    model = StreamingCountVectorizer(max_features=2, max_df=0.5, half_life=None)
    for _ in range(2):
        model.partial_fit(["the red", "the sky"])
        assert set(model.vocabulary_) == {"red", "sky"}


def test_with_room_for_all_it_counts_what_count_vectorizer_does():
    batches = stream(5)
    texts = [text for batch in batches for text in batch]
    model = StreamingCountVectorizer(max_features=5000, half_life=None)
    for batch in batches:
        model.partial_fit(batch)
    peer = CountVectorizer().fit(texts)
    assert set(model.vocabulary_) == set(peer.vocabulary_)
    order = [model.vocabulary_[word] for word in peer.get_feature_names_out()]
    assert_array_equal(model.transform(texts)[:, order].toarray(), peer.transform(texts).toarray())
    frequency = (peer.transform(texts) > 0).sum(axis=0).A1
    assert_array_equal(model.document_frequency_[order], frequency)


def test_columns_keep_their_words_while_they_are_not_recycled():
    model, history = StreamingCountVectorizer(max_features=60, half_life=80.0), {}
    n_changed, before = 0, ["<"] * 60
    for texts in stream(30):
        X = model.partial_fit_transform(texts)
        assert X.shape == (40, 60)
        assert_array_equal(X.toarray(), model.transform(texts).toarray())
        names = model.get_feature_names_out()
        lost = [c for c in range(60) if before[c] != names[c] and before[c][0] != "<"]
        assert_array_equal(model.recycled_, lost)
        n_changed, before = n_changed + len(lost), names
        history[model.n_documents_seen_] = names
    assert n_changed > 20
    for t, then in history.items():
        assert set(np.flatnonzero(then != names)) <= set(model.changed_since(t).tolist())
    assert_array_equal(model.changed_since(model.n_documents_seen_), [])
    assert len(model.changed_since(0)) == 60
    assert 0 < len(model.changed_since(model.n_documents_seen_ - 120)) < 60


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_cut_and_resumed_is_uncut(n_jobs, monkeypatch):
    monkeypatch.setattr("streamtopics.text.counting.CHARACTERS_A_PART", 100)
    uncut = StreamingCountVectorizer(max_features=50, half_life=100.0, n_candidates=40)
    cut = clone(uncut).set_params(n_jobs=n_jobs)
    for texts in stream(20):
        uncut.partial_fit(texts)
        cut = pickle.loads(pickle.dumps(cut)).partial_fit(texts)
        same(uncut._vocabulary, cut._vocabulary)
    assert uncut._vocabulary.error_bound > 0


def test_a_failed_step_changes_nothing():
    model = StreamingCountVectorizer(max_features=5).partial_fit(["red sea"])
    before = model._vocabulary
    for texts in ("red", ["red", 3], [b"\xff"]):
        with pytest.raises((ValueError, TypeError)):
            model.partial_fit(texts)
        assert model._vocabulary is before
    with pytest.raises(ValueError, match=r"max_features is 6 now, but .* started with 5"):
        model.set_params(max_features=6).partial_fit(["red"])
    with pytest.raises(ValueError, match="max_df corresponds to < documents"):
        model.set_params(max_features=5, min_df=10, max_df=2).partial_fit(["red"])
    with pytest.raises(ValueError, match="margin"):
        model.set_params(min_df=1, max_df=1.0, margin=0.5).partial_fit(["red"])
    assert model._vocabulary is before
    model.set_params(margin=1.0).partial_fit(["red"])
    assert model.n_documents_seen_ == 2


def test_a_step_that_was_overtaken_is_refused():
    def analyzer(text):
        if text == "slow":
            model.partial_fit(["quick"])
        return text.split()

    model = StreamingCountVectorizer(max_features=5, analyzer=analyzer).partial_fit(["red"])
    with pytest.raises(RuntimeError, match="learnt from another minibatch meanwhile"):
        model.partial_fit(["slow"])
    assert list(model.vocabulary_) == ["red", "quick"]
    assert model.n_documents_seen_ == 2


def test_a_step_does_not_change_the_one_before():
    """Though it shares its list of words; a second step from it is one from a copy."""
    first = step(OpenVocabulary.empty(2), {"a": 3, "b": 2, "c": 1}, 3)
    kept = pickle.loads(pickle.dumps(first))
    for new in ("d", "e"):
        after = step(first, {"c": 9, new: 8}, 9)
        expected = step(pickle.loads(pickle.dumps(kept)), {"c": 9, new: 8}, 9)
        same(after, expected)
        check_consistent(after)
        assert first.names == kept.names
        assert first.columns == kept.columns
        assert_array_equal(first.columns_of(["a", "c", "d", "e"]), [0, -1, -1, -1])
        again = step(after, {"d": 9, "e": 9}, 9)
        check_consistent(again)
        same(again, step(expected, {"d": 9, "e": 9}, 9))
    step(first, {"c": 9, "d": 8}, 9, n_candidates=1)
    assert first.words[: first.n_words] == kept.words


def test_steps_of_several_threads_from_one_vocabulary():
    first = step(OpenVocabulary.empty(50), {f"w{i}": 1 for i in range(50)}, 3)
    minibatches = [{f"t{t}x{i}": 2 for i in range(200)} for t in range(8)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda counts: step(first, counts, 9, n_candidates=999), minibatches))
    for vocabulary, counts in zip(found, minibatches, strict=True):
        check_consistent(vocabulary)
        assert set(vocabulary.words[50:]) == set(counts)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_no_documents_and_no_words(n_jobs):
    model = StreamingCountVectorizer(max_features=2, n_jobs=n_jobs).partial_fit([])
    assert model.n_documents_seen_ == 0
    model.partial_fit(["", "."])
    assert model.n_documents_seen_ == 2
    assert model.transform(["red"]).nnz == 0
    model.partial_fit(["red"]).partial_fit([])
    assert_array_equal(model.transform(["red"]).toarray(), [[1, 0]])
    assert model.transform([]).shape == (0, 2)


def test_a_vocabulary_that_was_given_stays():
    model = StreamingCountVectorizer(vocabulary=["red", "sea"]).partial_fit(["blue sky"] * 9)
    assert model.vocabulary_ == {"red": 0, "sea": 1}
    assert not hasattr(model, "n_documents_seen_")
    assert not hasattr(model, "recycled_")


def test_errors():
    with pytest.raises(ValueError, match="partial_fit needs max_features"):
        StreamingCountVectorizer().partial_fit(["red"])
    model = StreamingCountVectorizer(max_features=2)
    with pytest.raises(AttributeError, match="no recycled_ before partial_fit learns"):
        model.recycled_  # noqa: B018
    with pytest.raises(ValueError, match="cannot go on from the vocabulary of a corpus"):
        model.fit(["red sea"]).partial_fit(["red"])
    with pytest.raises(AttributeError, match="no changed_since"):
        model.changed_since(0)
    assert model.partial_fit is not None
    again = clone(model).partial_fit(["red sea sky"])
    assert list(again.fit(["blue"]).vocabulary_) == ["blue"]


def test_a_pipeline_has_no_words_of_free_columns():
    words = StreamingCountVectorizer(max_features=40)
    topics = StreamingLDA(2, random_state=0)
    model = StreamingPipeline([("words", words), ("topics", topics)]).partial_fit(SEA + SKY)
    assert all(len(own) > 4 and "<free" not in " ".join(own) for own in model.top_words(12))
