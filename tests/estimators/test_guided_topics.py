# SPDX-License-Identifier: BSD-3-Clause
"""Topics with names: classification by seeds, labels of a few, and what is refused."""

import warnings
from copy import deepcopy
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.naive_bayes import MultinomialNB

from streamtopics import GuidedTopics
from streamtopics.distributed.composites import apply_update, local_task, reader_of
from streamtopics.estimators import guided_topics
from streamtopics.local import Variational
from streamtopics.text import NamedCounts
from tests.local.test_hinted import ascent
from tests.small import COUNTS

K, V = 4, 60
NAMES = np.array([f"w{i:02}" for i in range(V)], dtype=object)
CLASSES = np.array(["sea", "air", "land", "fire"], dtype=object)
# The two most common words of each topic.
SEEDS = {name: [f"w{12 * k:02}", f"w{12 * k + 1:02}"] for k, name in enumerate(CLASSES)}
FAST = {"max_iter": 2, "random_state": 0}


def corpus(n=400, length=14, seed=0):
    """Documents mostly of one of four topics of twelve words, a fifth of other words."""
    rng = np.random.default_rng(seed)
    own = np.geomspace(4, 1, 12)
    beta = np.hstack([np.kron(np.eye(K), 0.8 * own / own.sum()), np.full((K, 12), 0.2 / 12)])
    z = rng.integers(0, K, n)
    theta = np.full((n, K), 0.05)
    theta[np.arange(n), z] = 0.85
    counts = np.array([rng.multinomial(length, p) for p in theta @ beta], float)
    return NamedCounts.of(sparse.csr_matrix(counts), NAMES), CLASSES[z]


X, Y = corpus()


def guided(seeds=SEEDS, **parameters):
    return GuidedTopics(seeds, **(FAST | parameters))


each_update = pytest.mark.parametrize("update", ["online_em", "svb", "power_prior"])
each_inference = pytest.mark.parametrize("inference", ["one_topic", "gibbs", "variational"])
each_most = pytest.mark.parametrize("most", [1, 2, None])


@each_update
@each_inference
def test_names_are_found_from_the_seeds_alone(update, inference):
    model = guided(update=update, inference=inference).fit(X)
    assert (model.predict(X) == Y).mean() > 0.9
    fresh, truth = corpus(length=8, seed=1)
    assert (model.predict(fresh) == truth).mean() > 0.85
    # Documents without any seed are known by the other words.
    columns = [int(w[1:]) for words in SEEDS.values() for w in words]
    without = np.asarray(fresh[:, columns].sum(axis=1)).ravel() == 0
    assert without.sum() > 30
    assert (model.predict(fresh)[without] == truth[without]).mean() > 0.7


def test_shapes_names_and_order():
    model = guided(n_unseeded=2).fit(X)
    assert_array_equal(model.topic_names_, CLASSES)
    assert_array_equal(model.classes_, np.unique(CLASSES))
    assert model.components_.shape == (6, V)
    theta, shares = model.transform(X), model.predict_proba(X)
    assert theta.shape == (400, 6)
    assert_allclose(theta.sum(axis=1), 1, rtol=1e-6)
    assert_allclose(shares.sum(axis=1), 1, rtol=1e-6)
    assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    assert_array_equal(model.predict(X), CLASSES[theta[:, :K].argmax(axis=1)])
    own = theta[:, np.argsort(CLASSES)]
    assert_allclose(shares, own / own.sum(axis=1, keepdims=True), rtol=1e-5)
    assert model.n_components == 6
    assert list(model.feature_names_in_) == list(NAMES)


@pytest.mark.parametrize("seed_weight", [0.0, 1.0, 2.5])
@each_most
def test_rows_are_inference_under_alpha_and_the_seeds_of_the_document(seed_weight, most):
    """By the fitted attributes alone: Dir(alpha_k + seed_weight * words that are seeds of k)."""
    step = Variational(tol=1e-13, max_iter=5000)
    parameters = {"seed_weight": seed_weight, "max_count": most}
    model = guided(inference=step, update="svb", **parameters).fit(X)
    theta = model.transform(X[:15])
    weights = model.topic_word_.T
    assert X[:15].toarray().max() > 2
    for d, row in enumerate(X[:15].toarray()):
        row = row if most is None else np.minimum(row, most)
        hints = [seed_weight * sum(row[int(w[1:])] for w in SEEDS[name]) for name in CLASSES]
        gamma, _ = ascent(row, weights, model.doc_topic_prior_ + hints)
        assert_allclose(theta[d], gamma / gamma.sum(), rtol=1e-6)


@each_inference
@each_most
def test_topics_are_the_prior_the_seeds_and_the_words(inference, most):
    """With SVB: no hint and no label gets into the topics."""
    parameters = {"inference": inference, "seed_strength": 30.0, "max_count": most}
    model = guided(update="svb", max_iter=1, **parameters).fit(X, Y)
    base = 0.3 * V * K + 30.0 * K
    n_tokens = np.minimum(X.data, most or np.inf).sum()
    assert_allclose(model.components_.sum() - base, n_tokens, rtol=1e-6)
    for k, name in enumerate(CLASSES):
        columns = [int(w[1:]) for w in SEEDS[name]]
        assert np.all(model.components_[k, columns] >= 15.0)


def test_words_that_are_repeated_count_so_many_times():
    """Unless they are asked to count as often as they are there."""
    counts = sparse.csr_matrix(X)
    repeated, once, thrice = (
        NamedCounts.of(part, NAMES) for part in (counts * 3.0, counts.sign(), counts.sign() * 3.0)
    )
    first, second = (guided(max_count=1).fit(counts) for counts in (repeated, once))
    assert_array_equal(first.components_, second.components_)
    assert_array_equal(first.transform(repeated), first.transform(X))
    assert first.n_tokens_seen_ == 2 * X.nnz
    assert_array_equal(guided().fit(repeated).components_, guided().fit(thrice).components_)
    often, seldom = guided(max_count=None), guided(max_count=None)
    assert np.any(often.fit(repeated).components_ != seldom.fit(X).components_)
    assert often.n_tokens_seen_ == 6 * X.sum()


def test_a_document_with_seeds_is_divided_as_they_are(monkeypatch):
    """With one topic a document: the topics are those of the words beside each seed."""
    monkeypatch.setattr(guided_topics, "START_ROUNDS", 1)
    names = np.array(["a", "b", "x", "y"], dtype=object)
    counts = sparse.csr_matrix(
        np.array([[1.0, 0, 1, 0]] * 8 + [[0, 1.0, 0, 1]] * 8 + [[1.0, 1, 1, 1]])
    )
    model = GuidedTopics(
        {"A": ["a"], "B": ["b"]}, update="svb", topic_word_prior=1e-6, seed_strength=1e-6,
        max_iter=1, random_state=0,
    ).fit(NamedCounts.of(counts, names))  # fmt: skip
    expected = [[8.5, 0.5, 8.5, 0.5], [0.5, 8.5, 0.5, 8.5]]
    assert_allclose(model.components_, expected, rtol=1e-5)
    assert_allclose(model.doc_topic_prior_, [1.5, 1.5], rtol=1e-6)


def test_a_name_that_nothing_is_known_of_takes_little():
    seeds = SEEDS | {"ice": ["snow"]}
    with pytest.warns(UserWarning, match="ice"), pytest.warns(UserWarning, match="snow"):
        named = guided(seeds).fit(X)
    assert named.topic_weights_[4] < 0.05
    assert (named.predict(X) == Y).mean() > 0.9


def test_a_topic_without_a_name_takes_the_rest():
    three = {name: words for name, words in SEEDS.items() if name != "fire"}
    model = guided(three, n_unseeded=1).fit(X)
    rest = model.transform(X)[:, 3]
    assert rest[Y == "fire"].mean() > 0.5
    assert rest[Y != "fire"].mean() < 0.3


@each_inference
def test_labels_of_a_few_move_predictions(inference):
    """Where seeds do not occur, forty labels say which topic has which name."""
    dense = X.toarray()
    dense[:, 58:] = 0
    silent = NamedCounts.of(sparse.csr_matrix(dense), NAMES)
    seeds = SEEDS | {"sea": ["w58"], "air": ["w59"]}
    swapped = {"sea": "air", "air": "sea", "land": "land", "fire": "fire"}
    y, z = np.full((2, 400), None, dtype=object)
    y[:40], z[:40] = Y[:40], [swapped[name] for name in Y[:40]]
    true, turned = (guided(seeds, inference=inference).fit(silent, labels) for labels in (y, z))
    assert (true.predict(silent)[40:] == Y[40:]).mean() > 0.9
    assert (turned.predict(silent)[40:] == [swapped[name] for name in Y[40:]]).mean() > 0.9


def test_labels_alone_are_enough():
    """No seed is needed, nor missed, of a topic whose documents have labels; as naive Bayes."""
    fresh, truth = corpus(length=5, seed=1)
    bare = GuidedTopics({name: [] for name in CLASSES}, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = clone(bare).fit(X, Y)
    naive = MultinomialNB(alpha=0.1).fit(sparse.csr_matrix(X), Y.astype(str))
    by_naive = naive.predict(sparse.csr_matrix(fresh))
    assert (model.predict(fresh) == truth).mean() >= (by_naive == truth).mean() - 0.005
    with pytest.warns(UserWarning, match=r"no seed of \['fire'\] .* no document has such a label"):
        clone(bare).fit(X[Y != "fire"], Y[Y != "fire"])


def test_labels_do_not_reach_into_prediction():
    """`predict` sees documents, not what they were labelled."""
    wrong = np.full(400, None, dtype=object)
    wrong[0] = CLASSES[(list(CLASSES).index(Y[0]) + 1) % K]
    assert guided().fit(X, wrong).predict(X[:1])[0] == Y[0]


@pytest.mark.parametrize("y", [["sea", "moon"] + [None] * 398, [1.0] * 400])
def test_an_unknown_label_is_refused(y):
    with pytest.raises((ValueError, TypeError)) as raised:
        guided().fit(X, y)
    text = str(raised.value)
    assert "moon" in text or "1.0" in text
    assert "sea" in text


def test_a_seed_without_a_column_does_not_count():
    """The pseudo-counts of a topic are shared among the seeds that it has."""
    seeds = SEEDS | {"sea": [*SEEDS["sea"], "whale"]}
    with pytest.warns(UserWarning, match=r"the seeds \['whale'\] are in no column of X"):
        model = guided(seeds).fit(X)
    assert_array_equal(model.components_, guided().fit(X).components_)
    assert "whale" not in {row.word for row in model.seed_report()}


def test_a_seed_of_several_topics_is_shared():
    """Its pseudo-tokens and its part of the pseudo-counts are divided between them."""
    seeds = {"sea": ["w00", "w48"], "air": ["w12", "w48"], "land": ["w24"], "fire": ["w36"]}
    given = {"update": "svb", "seed_strength": 30.0, "seed_weight": 3.0, "topic_word_prior": 0.5}
    model = guided(seeds, **given).fit(X)
    # 30 in all, two parts for a seed of its own and one for half of another.
    expected = np.zeros((V, K))
    expected[[0, 12, 24, 36], range(K)] = [20.0, 20.0, 30.0, 30.0]
    expected[48, :2] = 10.0
    assert_allclose(model.posterior_.eta, 0.5 + expected, rtol=1e-12)
    document = np.zeros((1, V))
    document[0, [0, 48]] = 1, 2
    hints = model._minibatch(sparse.csr_matrix(document)).hints.toarray()
    assert_allclose(hints, [[3.0 + 3.0, 3.0, 0.0, 0.0]])
    assert (model.predict(X) == Y).mean() > 0.9
    shares = {(row.topic, row.word) for row in model.seed_report()}
    assert {("sea", "w48"), ("air", "w48")} <= shares
    # In another order of topics, and of words, it is the same.
    turned = {name: words[::-1] for name, words in reversed(seeds.items())}
    other = guided(turned, **given).fit(X)
    assert_allclose(other.components_, model.components_[::-1], rtol=1e-6)


@pytest.mark.parametrize("change", ["word", "name", "more"])
def test_seeds_cannot_change_in_mid_stream(change):
    model = guided().partial_fit(X[:100])
    before = model.components_
    other = {
        "word": SEEDS | {"sea": ["w00", "w05"]},
        "name": {("ocean" if n == "sea" else n): words for n, words in SEEDS.items()},
        "more": SEEDS | {"ice": ["w50"]},
    }[change]
    with pytest.raises(ValueError, match="seeds"):
        model.set_params(seeds=other).partial_fit(X[100:])
    assert_array_equal(model.components_, before)
    assert_array_equal(model.topic_names_, CLASSES)
    # In another order they are the same.
    model.set_params(seeds=dict(reversed(SEEDS.items()))).partial_fit(X[100:])
    assert_array_equal(model.topic_names_, CLASSES)
    expected = guided().partial_fit(X[:100]).partial_fit(X[100:])
    assert_array_equal(model.components_, expected.components_)
    with pytest.raises(ValueError, match="set inference back"):
        model.set_params(inference="gibbs").partial_fit(X)


def test_the_report_says_what_became_of_the_seeds():
    model = guided().fit(X)
    report = model.seed_report()
    assert {(row.topic, row.word) for row in report} == {
        (name, word) for name, words in SEEDS.items() for word in words
    }
    for row in report:
        k, w = list(CLASSES).index(row.topic), list(NAMES).index(row.word)
        order = np.argsort(-model.topic_word_[k], kind="stable")
        assert row.rank == 1 + list(order).index(w) <= 6
        assert_allclose(row.probability, model.topic_word_[k, w], rtol=1e-9)
        assert 0.7 < row.own_share <= 1


def part(start, stop, labels):
    return X[start:stop], None if labels is None else labels[start:stop]


def streamed(model, ends=(100, 200, 300, 400), labels=Y):
    for start, stop in pairwise((0, *ends)):
        model.partial_fit(*part(start, stop, labels))
    return model


@each_update
@pytest.mark.parametrize("labels", [None, np.where(np.arange(400) % 5, None, Y)], ids=["", "y"])
def test_a_stream_is_as_fit_over_the_same_minibatches(update, labels):
    whole = guided(update=update, batch_size=150, max_iter=1).fit(X, labels)
    stream = streamed(guided(update=update, n_start_documents=0), (150, 300, 400), labels)
    assert_array_equal(stream.components_, whole.components_)
    assert_array_equal(stream.predict(X), whole.predict(X))


@pytest.mark.parametrize("ends", [(150, 300, 400), (150, 370), (70,)], ids=str)
def test_a_short_rest_goes_with_the_minibatch_before(ends):
    """Online EM would let it weigh as much as a whole one."""
    n = ends[-1]
    whole = guided(batch_size=150, max_iter=1).fit(X[:n], Y[:n])
    assert whole.n_batch_iter_ == len(ends)
    stream = streamed(guided(n_start_documents=0), ends)
    assert_array_equal(whole.components_, stream.components_)


@pytest.mark.parametrize("update", ["online_em", "svb", "bps"])
@each_inference
@pytest.mark.parametrize("labels", [None, np.where(np.arange(400) % 7, None, Y)], ids=["", "y"])
def test_the_beginning_of_a_stream_is_as_fit(update, inference, labels):
    """Bit for bit, after each minibatch that makes it a tenth longer."""
    settings = {"update": update, "inference": inference, "max_iter": 1}
    stream = guided(**settings)
    for number, (start, stop) in enumerate(pairwise((0, 100, 250, 400)), 1):
        stream.partial_fit(*part(start, stop, labels))
        whole = guided(**settings).fit(*part(0, stop, labels))
        assert_array_equal(stream.components_, whole.components_)
        assert_array_equal(stream.doc_topic_prior_, whole.doc_topic_prior_)
        assert_array_equal(stream.predict_proba(X), whole.predict_proba(X))
        assert stream.n_batch_iter_ == number
        assert stream.n_documents_seen_ == stop
        assert stream.n_tokens_seen_ == whole.n_tokens_seen_


@pytest.mark.parametrize(("parameters", "learn"), [
    ({}, lambda model: model.fit(X)),
    ({"n_start_documents": 0}, streamed),
    ({"update": "power_prior"}, streamed),
], ids=["a corpus", "none are wanted", "a rule that forgets"])  # fmt: skip
def test_no_documents_are_kept(parameters, learn):
    model = learn(guided(**parameters))
    assert model._commit.begun is None
    assert model.partial_fit(X[:100])._commit.begun is None


def test_what_is_learnt_beside_the_documents_ends_the_beginning():
    """They do not have it: learning them anew would lose it."""
    model = streamed(guided())
    assert model._commit.begun is not None
    assert model.forget_words([3])._commit.begun.X[:, [3]].nnz == 0
    model = streamed(guided())
    n = model.n_documents_seen_
    model.merge(streamed(guided()))
    assert model._commit.begun is None
    assert model.n_documents_seen_ == 2 * n
    reader, other = reader_of(streamed(guided())), streamed(guided())
    minibatch = reader._read("partial_fit", reset=False, X=X[:50]).minibatch
    assert reader._commit.begun is None
    apply_update(other, local_task(other, minibatch.words).run([minibatch]))
    assert other._commit.begun is None
    assert other.n_documents_seen_ == 450


def test_parts_of_a_stream_are_merged():
    first = guided(update="svb", n_start_documents=200).partial_fit(X[:200])
    left, right = (deepcopy(first).partial_fit(part) for part in (X[200:300], X[300:]))
    merged = left.merge(right, base=first)
    assert merged.n_documents_seen_ == 400
    assert (merged.predict(X) == Y).mean() > 0.9


@pytest.mark.parametrize("change", ["names", "order", "words"])
def test_models_of_other_topics_are_not_merged(change):
    seeds = {
        "names": dict(zip(CLASSES[::-1], SEEDS.values(), strict=True)),
        "order": dict(reversed(SEEDS.items())),
        "words": SEEDS | {"sea": ["w00", "w05"]},
    }[change]
    model = guided(update="svb").partial_fit(X[:200])
    other = guided(seeds, update="svb").partial_fit(X[200:])
    before = model.components_
    with pytest.raises(ValueError, match=r"other (was started with the names|has another prior)"):
        model.merge(other)
    assert_array_equal(model.components_, before)


def test_topics_with_labels_alone_need_no_names_of_columns():
    model = GuidedTopics({"a": [], "b": []}, random_state=0).fit(COUNTS, ["a", "b"] * 20)
    assert model.predict(COUNTS[:2]).tolist() == ["a", "b"]


def test_sets_of_seeds_are_the_same_in_each_process():
    words = [f"w{i}" for i in range(40)]
    for one in ({*words}, words[::-1]):
        assert guided_topics._frozen({"a": one}) == guided_topics._frozen({"a": words})
