# SPDX-License-Identifier: BSD-3-Clause
"""Summaries of raw documents: what is chosen, what is learnt, and the face of scikit-learn."""

import pickle
from tracemalloc import get_traced_memory, start, stop

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from streamtopics import DPPSummarizer, LowRankDPP
from streamtopics.dpp.summary_kernel import centrality, weighted_units
from streamtopics.text import split_sentences
from tests.reference import dpp as reference

REVIEW = (
    "The soup was hot and the bread was fresh. We came by bus. The soup was hot and good! "
    "Our waiter was kind and quick. The bread was fresh. Outside it rained. The soup was hot and "
    "the bread was fresh. I would go there again for the soup and the waiter."
)
NEWS = [
    "The river rose in the night. The town closed the bridge. People slept in the school.",
    "The town opened the bridge. The river fell in the morning.",
    "A match was played in the town. The home team won the match.",
]
MODELS = {
    "default": DPPSummarizer(2),
    "words": DPPSummarizer(n_words=12),
    "counts": DPPSummarizer(2, vectorizer=CountVectorizer()),
    "tf-idf": DPPSummarizer(2, vectorizer=TfidfVectorizer(sublinear_tf=True)),
    "hashing": DPPSummarizer(2, vectorizer=HashingVectorizer(n_features=64)),
    "callable": DPPSummarizer(2, quality=lambda sentences, X: [len(s) for s in sentences]),
    "thesis": DPPSummarizer(2, quality="thesis", n_components=3, max_iter=2, random_state=0),
}
each_model = pytest.mark.parametrize("name", MODELS)


def fitted(name):
    return clone(MODELS[name]).fit([*NEWS, REVIEW])


def same(one, other):
    for x, y in zip(one, other, strict=True):
        assert x.sentences == y.sentences
        assert_array_equal(x.indices, y.indices)
        assert_array_equal(x.scores, y.scores)
        assert_array_equal(x.log_gains, y.log_gains)


def words_of(text):
    return set(CountVectorizer().build_analyzer()(text))


def frequency(word):
    """Of the documents of NEWS."""
    return sum(word in words_of(text) for text in NEWS)


def dense_kernel(sentences, power, weight=lambda word: 1.0):
    """L of the default kernel, word by word."""
    words = [words_of(sentence) for sentence in sentences]
    vocabulary = sorted(set().union(*words))
    Phi = np.array([[weight(w) * (w in own) for w in vocabulary] for own in words])
    Phi /= np.linalg.norm(Phi, axis=1, keepdims=True)
    mean = Phi.mean(axis=0)
    quality = Phi @ mean / np.linalg.norm(mean)
    return np.outer(quality, quality) ** (power / 2) * (Phi @ Phi.T), quality


def log_det(L, places):
    return np.linalg.slogdet(L[np.ix_(places, places)])[1]


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0, 5.0])
def test_is_greedy_on_the_dense_kernel(power):
    L, quality = dense_kernel(split_sentences(REVIEW), power)
    [found] = DPPSummarizer(3, quality_power=power).select([REVIEW])
    order = reference.greedy(L, 3)
    assert found.indices.tolist() == sorted(order)
    dets = [log_det(L, order[:n]) for n in range(4)]
    assert_allclose(found.log_gains, np.diff(dets)[np.argsort(order)], atol=1e-12)
    assert_allclose(found.scores, quality[found.indices])


def test_words_are_weighted_by_the_documents_learnt():
    model = DPPSummarizer(3).fit(NEWS)
    sentences = split_sentences(REVIEW)
    L, _ = dense_kernel(sentences, 2.0, lambda word: np.log(4 / (1 + frequency(word))) + 1)
    [found] = model.select([REVIEW])
    assert found.indices.tolist() == sorted(reference.greedy(L, 3))
    assert_allclose(found.log_gains.sum(), log_det(L, found.indices))
    assert model.document_frequency_.max() == 3  # "The", "in" and "town".
    assert model.n_documents_seen_ == 3


def test_the_weights_of_tf_idf_stay_as_they_are():
    models = [DPPSummarizer(8, vectorizer=v) for v in (CountVectorizer(), TfidfVectorizer())]
    [[counts], [tf_idf]] = [model.fit(NEWS).select([NEWS[0]]) for model in models]
    assert_allclose(counts.scores, tf_idf.scores)


@each_model
def test_sentences_come_in_the_order_of_the_document(name):
    model = fitted(name)
    summaries = model.transform(NEWS)
    assert summaries.shape == (3,)
    for text, chosen, summary in zip(NEWS, model.select(NEWS), summaries, strict=True):
        sentences = split_sentences(text)
        assert (np.diff(chosen.indices) > 0).all()
        assert summary == [sentences[i] for i in chosen.indices] == list(chosen.sentences)
        assert np.isfinite([chosen.scores, chosen.log_gains]).all()
        assert 0 < len(summary) <= 2


@each_model
def test_each_document_by_itself_and_again_the_same(name):
    model = fitted(name)
    state = pickle.dumps((model.document_frequency_, model.n_documents_seen_))
    documents = [*NEWS, REVIEW, "", "zzz"]
    together = model.select(documents)
    same(together, [model.select([text])[0] for text in documents])
    same(together, model.select(iter(documents)))
    same(together, fitted(name).select(documents))
    assert state == pickle.dumps((model.document_frequency_, model.n_documents_seen_))


@each_model
def test_repeated_sentences_are_taken_once(name):
    model = fitted(name).set_params(n_sentences=9, n_words=None)
    documents = [["The river rose."] * 4, ["The river rose.", "The town slept."] * 3, ["7"] * 3]
    for summary, most in zip(model.transform(documents), [1, 2, 1], strict=True):
        assert 0 < len(set(summary)) == len(summary) <= most


@each_model
def test_nothing_to_choose_from(name):
    model = fitted(name)
    assert model.transform([]).shape == (0,)
    assert model.transform(["", " \n", []]).tolist() == [[], [], []]
    assert model.transform([["", " "]]).tolist() == [[]]


@each_model
def test_without_a_known_word_the_first_sentences(name):
    model = fitted(name)
    documents = [["1", "", "2", "1", "... ?! .", "3"], ["", "1"], ["?"]]
    if name == "callable":  # Which has a choice by length.
        model.set_params(quality=lambda sentences, X: np.ones(len(sentences)))
    summaries = model.transform(documents).tolist()
    assert summaries == [["1", "2", "3"] if name == "words" else ["1", "2"], ["1"], []]
    if name in {"counts", "tf-idf", "thesis"}:
        assert model.transform(["Xxx yyy. Zzz! Xxx yyy."])[0] == ["Xxx yyy.", "Zzz!"]


def test_sentences_without_a_known_word_come_in_no_other_document():
    model = DPPSummarizer(3, vectorizer=CountVectorizer()).fit(NEWS)
    assert model.transform(["Xxx yyy. The river fell. Zzz."])[0] == ["The river fell."]


def test_budget_in_words():
    sentences = split_sentences(REVIEW)
    for n_words in (2, 4, 9, 20, 1000):
        [summary] = DPPSummarizer(1, n_words=n_words).transform([REVIEW])
        used = sum(len(sentence.split()) for sentence in summary)
        assert used <= n_words
        left = set(sentences) - set(summary)
        assert all(len(sentence.split()) > n_words - used for sentence in left)
    short = DPPSummarizer(n_words=1).transform([REVIEW, "Rain. It rained."])
    assert short.tolist() == [[], ["Rain."]]
    assert DPPSummarizer(n_words=2).transform([["1 2 3", "4 5"]]).tolist() == [["4 5"]]


def test_pieces_of_sentences_count_less():
    sentences = [", the soup was hot .", "The soup was hot, my friends say.", "It rained a lot."]
    assert DPPSummarizer(1).transform([sentences])[0] == [sentences[1]]
    assert DPPSummarizer(1, fragment_weight=1.0).transform([sentences])[0] == [sentences[0]]
    small = [sentence.lower() for sentence in sentences[1:]]
    whole = DPPSummarizer(1, fragment_weight=1.0).select([small])
    assert DPPSummarizer(1).select([small])[0].indices == whole[0].indices
    assert len(DPPSummarizer(9, fragment_weight=0.0).transform([sentences])[0]) == 2


def test_a_callable_sees_sentences_and_features():
    seen = []

    def by_length(sentences, X):
        seen.append((sentences, X))
        return [len(sentence) for sentence in sentences]

    model = DPPSummarizer(1, quality=by_length, quality_power=50.0)
    longest = [max(split_sentences(text), key=len) for text in NEWS]
    assert model.transform(NEWS).tolist() == [[sentence] for sentence in longest]
    sentences, X = seen[0]
    assert sentences == split_sentences(NEWS[0])
    assert_allclose(X.multiply(X).sum(axis=1), 1.0)


def test_the_kernel_of_the_thesis():
    """L = (p p)^(power / 2) phi' A phi, with A as learnt and the document's own theta."""
    model = fitted("thesis")
    X = model.vectorizer_.transform([REVIEW])[0]
    for power in (None, 0.0, 0.5):
        [found] = model.set_params(quality_power=power).select([REVIEW])
        candidates = model._candidates(split_sentences(REVIEW), X, None, model.thesis_)
        Phi = (X > 0).toarray().astype(float)
        pi = model.thesis_.measure_.pi
        log_p = Phi @ np.log(pi) + (1 - Phi) @ np.log1p(-pi)
        q = np.exp(0.5 * (1.0 if power is None else power) * log_p)
        L = q[:, None] * (Phi @ candidates.kernel.matrix @ Phi.T) * q
        assert found.indices.tolist() == sorted(reference.greedy(L, 2))
        assert_allclose(found.scores, log_p[found.indices])


def test_the_thesis_is_learnt_by_the_estimator():
    model = fitted("thesis").partial_fit(["The soup?! Xyz. Hot bread.", ""])
    vectorizer = model.vectorizer_
    corpus = vectorizer.transform([*NEWS, REVIEW])
    how = {"theta": "document", "penalty": 0.01, "max_iter": 2, "random_state": 0}
    alone = LowRankDPP(n_components=3, **how).fit([X[X.sum(axis=1).A1 > 0] for X in corpus])
    alone.partial_fit(list(vectorizer.transform([["The soup", "Hot bread"], []])))
    assert_array_equal(model.thesis_.components_, alone.components_)
    assert_array_equal(model.thesis_.theta_, alone.theta_)


@pytest.mark.parametrize("name", ["default", "words", "hashing", "callable"])
def test_parts_of_a_stream_add_up(name):
    whole = fitted(name)
    parts = clone(MODELS[name]).partial_fit(NEWS[:1]).partial_fit([]).partial_fit(NEWS[1:])
    parts.partial_fit([REVIEW])
    assert_array_equal(parts.document_frequency_, whole.document_frequency_)
    assert parts.n_documents_seen_ == whole.n_documents_seen_ == 4
    same(parts.select(NEWS), whole.select(NEWS))


def test_words_are_those_of_the_first_part():
    model = DPPSummarizer(vectorizer=CountVectorizer()).partial_fit(NEWS[:1])
    words = list(model.vectorizer_.get_feature_names_out())
    model.partial_fit(NEWS[1:])
    assert list(model.vectorizer_.get_feature_names_out()) == words
    assert model.document_frequency_[words.index("the")] == 3
    assert "match" not in words


@each_model
def test_a_failed_part_changes_nothing(name):
    model = fitted(name)
    before, documents = pickle.dumps(model.select(NEWS)), vars(model).copy()
    with pytest.raises(TypeError, match="must be a str or a list of str"):
        model.partial_fit(["It rained.", None])
    with pytest.raises(ValueError, match="quality_power"):
        clone(model).set_params(quality_power=-1).fit(NEWS)
    with pytest.raises(TypeError, match="must be a str or a list of str"):
        model.fit(["It rained.", 3])
    assert vars(model) == documents
    assert pickle.dumps(model.select(NEWS)) == before


def test_the_thesis_goes_on_only_as_it_began():
    model = fitted("thesis")
    n_batches = model.thesis_.n_batch_iter_
    assert model.partial_fit(["", "?"]).thesis_.n_batch_iter_ == n_batches
    assert model.set_params(penalty=0.5).partial_fit(NEWS).thesis_.penalty == 0.5
    with pytest.raises(ValueError, match=r"n_components is 4 now, .* set n_components back"):
        model.set_params(n_components=4).partial_fit(NEWS)
    other = fitted("counts").set_params(quality="thesis")
    for method in (other.partial_fit, other.transform):
        with pytest.raises(ValueError, match="quality is 'thesis' now"):
            method(NEWS)


def test_a_sentence_needs_a_word_of_content():
    texts = ["... ?! .", "It was what it was. Rain fell.", "So it is."]
    assert DPPSummarizer(1).transform(texts).tolist() == [[], ["Rain fell."], ["So it is."]]


def test_a_digest_has_no_sentence_that_goes_on_from_another():
    texts = ["They came home late. But the storm took the roof.", "The storm took the roof off."]
    [found] = DPPSummarizer().digest(texts * 2, n_sentences=1)
    assert found[:3] == (1, 0, "The storm took the roof off.")
    assert DPPSummarizer().digest(["But it was not to be."])[0].sentence == "But it was not to be."


def test_a_digest_has_sentences_that_go_on_if_asked_for():
    texts = ["If its lens breaks, the lens is mended.", "The lens is good.", "But the lens broke."]
    assert {one.document for one in DPPSummarizer().digest(texts)} == {1}
    everything = DPPSummarizer(fragment_weight=1.0).digest(texts)
    assert {one.document for one in everything} == {0, 1, 2}


@pytest.mark.parametrize("documents", [NEWS, [NEWS[0], *NEWS]])
def test_digest_is_greedy_on_the_distinct_sentences(documents):
    sentences = [s for text in NEWS for s in split_sentences(text)]
    L, quality = dense_kernel(sentences, 2.0, lambda word: np.log(5 / (1 + frequency(word))))
    places = sorted(reference.greedy(L, 3))
    digest = DPPSummarizer(3).fit(NEWS).digest(documents)
    assert [found.sentence for found in digest] == [sentences[i] for i in places]
    assert_allclose([found.score for found in digest], quality[places])
    assert_allclose(sum(found.log_gain for found in digest), log_det(L, places))
    for found in digest:
        assert split_sentences(documents[found.document])[found.index] == found.sentence


def test_digest_before_fit_weights_by_its_own_documents():
    assert DPPSummarizer(3).digest(NEWS) == DPPSummarizer(3).fit(NEWS).digest(NEWS)
    assert DPPSummarizer(9).digest(["It rained. It rained a lot."])[1].index == 1
    assert DPPSummarizer().digest([]) == DPPSummarizer().digest(["", "?"])[1:] == []
    assert DPPSummarizer(3).partial_fit([]).digest(NEWS) == DPPSummarizer(3).digest(NEWS)
    tf_idf = DPPSummarizer(3, vectorizer=TfidfVectorizer()).fit(NEWS)
    assert len(tf_idf.digest(NEWS)) == 3


@each_model
def test_needs_no_fit_but_for_what_has_to_be_learnt(name):
    model = clone(MODELS[name])
    assert model.__sklearn_tags__().requires_fit == (name in {"counts", "tf-idf", "thesis"})
    if model.__sklearn_tags__().requires_fit:
        for method in (model.transform, model.digest):
            with pytest.raises(NotFittedError):
                method(NEWS)
    else:
        assert len(model.transform(NEWS)) == 3
        assert not hasattr(model, "vectorizer_")


def test_what_is_fixed_when_learning_starts():
    model = DPPSummarizer(9).fit(NEWS)
    before = model.select(NEWS)
    model.set_params(vectorizer=CountVectorizer())
    same(model.select(NEWS), before)


def test_wrong_callable():
    with pytest.raises(ValueError, match=r"quality must return .* each of the 3 sentences"):
        DPPSummarizer(quality=lambda sentences, X: [1.0]).transform(NEWS)


def test_qualities_of_signed_features_are_not_negative():
    signed = weighted_units(sparse.csr_matrix([[1.0], [1.0], [-1.0]]), None)
    assert centrality(signed).tolist() == [1.0, 1.0, 0.0]


def test_summaries_of_an_iterator_and_of_many_sentences():
    texts = ["A storm hit the coast. We stayed in."] * 3
    summarizer = DPPSummarizer(n_words=15)
    assert summarizer.fit_transform(iter(texts)).tolist() == summarizer.transform(texts).tolist()
    start()
    summarizer.digest([[f"word{i} of this"] for i in range(3000)])
    peak = get_traced_memory()[1]
    stop()
    assert peak < 3000 * 3000 * 8 / 2


def test_a_quality_knows_the_columns_of_the_vectorizer():
    docs = ["The soup was hot. The bus was late.", "The waiter was kind. It rained."]
    liked = np.where(CountVectorizer().fit(docs).get_feature_names_out() == "waiter", 2.0, 1.0)
    how = {"vectorizer": CountVectorizer(), "quality": lambda sentences, X: X @ liked}
    found = DPPSummarizer(1, **how).fit(docs).transform(docs)
    assert found[1] == ["The waiter was kind."]
    how["quality"] = lambda sentences, X: np.not_equal(sentences, "zzz")
    assert DPPSummarizer(**how).fit(docs).transform([["xxx", "zzz"]])[0] == ["xxx"]
