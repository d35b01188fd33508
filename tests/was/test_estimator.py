# SPDX-License-Identifier: BSD-3-Clause
"""The sentence topic model as an estimator: streams, inference, errors, and what it finds."""

import pickle
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from streamtopics import WASTopicModel
from streamtopics.was import SBP, WAS, HDPFranchise
from streamtopics.was.corpus import corpus_of
from streamtopics.was.estimator import distinct
from streamtopics.was.subtle import find_subtle
from tests.reference.subtle_corpus import make_subtle_corpus

SETTINGS = {"n_sweeps": 12, "n_burn_in": 6, "n_local_sweeps": 8, "random_state": 3}
PRIORS = {"was": WAS(b=0.5), "hdp": HDPFranchise(), "sbp": SBP(b=0.5, truncation=8)}
CORPUS = make_subtle_corpus(60, n_topics=5, n_features=80, subtle_share=0.02, random_state=0)
X = CORPUS.X


def model(n_components=5, **given):
    return WASTopicModel(n_components, **SETTINGS | given)


each_prior = pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)


@pytest.fixture(params=PRIORS.values(), ids=PRIORS)
def fitted(request):
    return model(prior=request.param).fit(X)


def test_sentences_come_back_in_the_rows_they_had(fitted):
    """Documents whose rows are apart keep the order of theirs."""
    rows = sparse.vstack([X[0], X[1]]).tocsr()
    groups = np.random.default_rng(0).permutation(np.repeat(["a", "b"], 12))
    found = fitted.transform_sentences(rows, groups=groups)
    for label in "ab":
        mine = groups == label
        assert_array_equal(found[mine], fitted.transform_sentences([rows[mine]]))


def test_the_first_minibatch_is_a_fit():
    first, fitted = model().partial_fit(X), model().fit(X)
    assert_array_equal(first.components_, fitted.components_)
    assert (first.n_iter_, fitted.n_iter_) == (0, 1)


def test_the_words_of_topics_may_have_a_prior_of_their_own():
    prior = np.where(np.arange(80) < 40, 1.0, 1e-3)
    by_array = model(topic_word_prior=prior).fit(X[:20])
    by_function = model(topic_word_prior=lambda names, X: prior).fit(X[:20])
    assert_array_equal(by_array.components_, by_function.components_)
    assert by_array.topic_word_[:, :40].sum() > model().fit(X[:20]).topic_word_[:, :40].sum()


@each_prior
def test_a_pickle_goes_on_where_the_stream_was_cut(prior):
    whole, cut = model(prior=prior), model(prior=prior)
    for start in range(0, 60, 20):
        whole.partial_fit(X[start : start + 20])
        cut = pickle.loads(pickle.dumps(cut.partial_fit(X[start : start + 20])))
    assert_array_equal(cut.components_, whole.components_)
    assert (whole.n_batch_iter_, whole.n_documents_seen_) == (3, 60)
    assert whole.n_tokens_seen_ == sum(x.sum() for x in X)


def test_a_later_minibatch_weighs_by_its_size():
    """After n documents, a step of (n / B + 1)^-kappa; the smoothing follows."""
    one = model().fit(X[:40]).set_params(kappa=1.0)
    before = one.components_ - one.topic_word_prior / 40
    one.partial_fit(X[40:50])
    lengths = [sum(x.sum() for x in part) for part in (X[:40], X[40:50])]
    mass = (one.components_ - one.topic_word_prior / 50).sum()
    assert_allclose(before.sum(), lengths[0] / 40)
    assert_allclose(mass, sum(lengths) / 50)


def test_a_stream_learns_as_well_as_the_corpus():
    many = {"n_sweeps": 60, "n_burn_in": 30, "n_local_sweeps": 20}
    stream, whole = model(**many), model(**many).fit(X)
    for start in [*range(0, 60, 15)] * 3:
        stream.partial_fit(X[start : start + 15])
    unigram = model(1, n_sweeps=2, n_burn_in=1).fit(X)
    assert whole.score(X) > unigram.score(X) + 0.5
    assert stream.score(X) > whole.score(X) - 0.15


def state(estimator):
    return estimator.components_.tobytes(), estimator.n_batch_iter_, estimator.n_atoms_.tobytes()


@pytest.mark.parametrize(("name", "value"), [("n_burn_in", 12), ("prior", object())])
def test_wrong_parameters_are_refused(name, value):
    with pytest.raises(ValueError, match=name):
        model(**{name: value}).fit(X)


WORDS = [("was", WAS(b=0.5)), ("hdp", HDPFranchise()), ("sbp", SBP(b=0.5))]


@pytest.mark.parametrize(("word", "prior"), WORDS)
def test_a_word_stands_for_a_prior(word, prior):
    by_word, by_record = model(prior=word).fit(X[:20]), model(prior=prior).fit(X[:20])
    assert_array_equal(by_word.components_, by_record.components_)
    assert by_word.get_params().keys() == by_record.get_params().keys()


@pytest.mark.parametrize("estimator", [model(), model(prior=WAS(b=0.5))], ids=["word", "record"])
def test_fields_of_the_prior_are_parameters(estimator):
    assert estimator.get_params()["prior__zeta"] == 1.0
    assert clone(estimator).set_params(prior__b=2.0).prior == WAS(b=2.0)
    search = GridSearchCV(estimator, {"prior__b": [0.5, 50.0]}, cv=2, error_score="raise")
    assert search.fit(X[:20]).best_params_["prior__b"] in (0.5, 50.0)


def test_empty_documents_and_sentences(fitted):
    nothing = np.zeros((0, 80)), np.zeros((3, 80))
    assert_allclose(fitted.transform(nothing), 0.2)
    mixed = [X[0], nothing[0], sparse.vstack([X[1], nothing[1]]), nothing[1]]
    found = fitted.transform(mixed)
    assert_array_equal(found[0], fitted.transform(X[:1])[0])
    assert_allclose(found.sum(axis=1), 1.0)
    sentences = fitted.transform_sentences(mixed)
    assert sentences.shape == (12 + 15 + 3, 5)
    assert_allclose(sentences.sum(axis=1), 1.0)
    assert_array_equal(fitted.log_likelihood(nothing), 0.0)
    fitted.partial_fit(mixed)
    assert_array_equal(fitted.n_atoms_[[1, 3]], 0.0)
    assert np.isnan(fitted.score(nothing))
    batches = fitted.n_batch_iter_
    assert fitted.partial_fit([]).n_batch_iter_ == batches
    empty_stream = model().partial_fit(nothing)
    assert_allclose(empty_stream.topic_word_, 1 / 80)
    assert empty_stream.partial_fit(X).score(X) < 0


@pytest.mark.parametrize("count", [2.0**24 + 2, 1e9, 1e12])
def test_counts_beyond_the_budget_are_refused_before_they_are_words(fitted, count):
    before = state(fitted)
    document = np.r_[count, np.zeros(79)][None]
    tracemalloc.start()
    for method in (fitted.fit, fitted.partial_fit, fitted.transform, fitted.log_likelihood):
        with pytest.raises(ValueError, match=r"words, but at most 16,777,216 .* at once"):
            method([document])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10e6
    assert state(fitted) == before


def test_particles_beyond_the_budget_are_refused(fitted, monkeypatch):
    with pytest.raises(ValueError, match=r"n_particles .* must be a whole number from 1 to"):
        fitted.log_likelihood(X[:1], n_particles=10**6 + 1)
    monkeypatch.setattr("streamtopics.was.sampler.MOST_WORDS", 10**5)
    with pytest.raises(ValueError, match=r"n_particles=100000 copies .* Use score"):
        fitted.log_likelihood(X[:1], n_particles=10**5)


def test_subtle_topics_are_found_with_their_sentences():
    how = {"n_features": 150, "subtle_share": 0.02, "purity": 1.0, "random_state": 2}
    corpus = make_subtle_corpus(150, n_topics=5, n_subtle=1, **how)
    estimator = model(n_sweeps=150, n_burn_in=100, n_local_sweeps=30).fit(corpus.X)
    found = estimator.subtle_topics(corpus.X, n_sentences=1000, min_proportion=0.6)
    overlap = np.minimum(estimator.topic_word_, corpus.topic_word[-1]).sum(axis=1)
    best = max(found, key=lambda topic: overlap[topic.topic])
    assert overlap[best.topic] > 0.8
    assert best.share < 0.05
    told = {(s.document, s.sentence) for s in best.sentences}
    true = set(zip(*np.nonzero(corpus.sentence_topic == corpus.subtle[0]), strict=True))
    assert len(told) == best.n_sentences
    assert len(told & true) > 0.8 * max(len(told), len(true))


def test_subtle_topics_tell_words_and_texts(fitted):
    texts = [[f"{d}.{s}" for s in range(12)] for d in range(60)]
    texts = pytest.importorskip("pandas").Series(texts, index=range(60)[::-1])
    names = np.array([f"w{v}" for v in range(80)])
    how = {"max_share": 1.0, "n_words": 3, "n_sentences": 2}
    found = fitted.subtle_topics(X, texts=texts, feature_names=names, **how)
    assert found
    assert [t.share for t in found] == sorted(t.share for t in found)
    for topic in found:
        assert topic.words == fitted.top_words(names, 3)[topic.topic]
        assert 1 <= len(topic.sentences) <= 2
        assert all(s.text == f"{s.document}.{s.sentence}" for s in topic.sentences)
        assert min(s.proportion for s in topic.sentences) >= 0.5


def test_find_subtle():
    """Two of three topics are rare; one of these dominates two sentences of one document."""
    theta = np.array([[0.9, 0.1, 0.0], [0.4, 0.6, 0.0], [0.3, 0.7, 0.0], [0.0, 0.0, 1.0]])
    lengths = np.array([20.0, 2.0, 1.0, 0.0])
    found = find_subtle(theta, lengths, max_share=0.2, min_proportion=0.5)
    assert [(k, sentences.tolist()) for k, _, sentences in found] == [(1, [2, 1])]
    assert_allclose(found[0][1], (20 * 0.1 + 2 * 0.6 + 0.7) / 23)
    for limits in ({"max_share": 0.16, "min_proportion": 0.5},
                   {"max_share": 0.2, "min_proportion": 0.8}):  # fmt: skip
        assert find_subtle(theta, lengths, **limits) == []


def test_topics_with_less_than_half_of_an_even_share_are_subtle(fitted):
    shares = [topic.share for topic in fitted.subtle_topics(X, min_proportion=0.01)]
    everything = fitted.subtle_topics(X, min_proportion=0.01, max_share=1.0)
    limit = 0.1 if everything[0].share <= 0.1 else 0.2
    assert shares == [topic.share for topic in everything if topic.share <= limit]
    for topic in everything:
        told = fitted.transform_sentences(X)[:, topic.topic] >= 0.01
        assert topic.n_sentences == told.sum()
        assert topic.n_documents == len(np.unique(np.repeat(np.arange(60), 12)[told]))


def test_where_no_topic_has_half_of_an_even_share_those_below_it_are_subtle():
    """Sentences of a hundred words, each of one of five topics, about as many of each."""
    rng = np.random.default_rng(0)
    topic = rng.permutation(np.repeat(np.arange(5), [28, 30, 30, 30, 32]))
    counts = rng.poisson(np.repeat(np.eye(5), 4, axis=1)[topic] * 25)
    documents = np.arange(150) // 5
    estimator = model(n_sweeps=60, n_burn_in=30).fit(counts, groups=documents)
    found = estimator.subtle_topics(counts, groups=documents)
    shares = [topic.share for topic in found]
    assert 0 < len(found) < 5
    assert 0.1 < shares[0] <= shares[-1] <= 0.2
    assert estimator.subtle_topics(counts, groups=documents, max_share=0.1) == []
    assert found == estimator.subtle_topics(counts, groups=documents, max_share=0.2)


def test_distinct_labels_are_counted_in_each_document():
    corpus = corpus_of(sparse.csr_matrix([[2, 1], [0, 0], [1, 3], [0, 1]]), [1, 1, 2])
    found = distinct(corpus, np.array([7, 7, 0, 0, 7, 1, 7, 3]))
    assert_array_equal(found, [2, 0, 4])
    empty = corpus_of(sparse.csr_matrix((1, 2)), [1])
    assert_array_equal(distinct(empty, np.array([], np.int32)), [0])
