# SPDX-License-Identifier: BSD-3-Clause
"""Sentiments of documents as an estimator: streams, inference, errors, and what it finds."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from streamtopics import AspectSentimentModel, updates
from streamtopics.inspection import topic_table
from streamtopics.metrics import completion_split
from streamtopics.priors import seed_prior
from streamtopics.text import SentenceVectorizer
from streamtopics.updates import BPS, SVB, Boost, HierarchicalPowerPrior
from tests.reference import asum as reference
from tests.reference import reviews

CORPUS, NAMES = reviews.draw(120), np.array(["positive", "negative"])
X, Y = CORPUS.X, NAMES[CORPUS.sentiment]
N_WORDS = CORPUS.prior.shape[1]


def model(n_aspects=3, **given):
    settings = {"topic_word_prior": CORPUS.prior, "batch_size": 20, "random_state": 3}
    return AspectSentimentModel(n_aspects, **settings | given)


RULES = [
    None,
    updates.Rounds(SVB(), 3),
    BPS(0.1, "whole"),
    updates.PowerPrior(0.8, Boost(0.1)),
    HierarchicalPowerPrior("topic"),
    HierarchicalPowerPrior(rate_starts=(0.5,), boost=Boost(0.1, "topic")),
    updates.EmpiricalPowerPrior(),
    updates.PopulationVB(100.0, 0.2),
    updates.StochasticVI(updates.Decay(0.7, 1.0), 500),
]


@pytest.fixture(params=["em", "frank_wolfe"])
def fitted(request):
    return model(inference=request.param).fit(X)


@pytest.mark.parametrize("inference", ["em", "frank_wolfe"])
def test_generated_reviews_are_recovered(inference):
    corpus, fresh = reviews.draw(1000, seed=1), reviews.draw(1300, seed=1)
    estimator = model(topic_word_prior=corpus.prior, batch_size=100, inference=inference)
    estimator.fit(corpus.X)
    for documents, sentiment in (
        (corpus.X, corpus.sentiment),
        (fresh.X[1000:], fresh.sentiment[1000:]),
    ):
        assert (estimator.predict(documents) == NAMES[sentiment]).mean() > 0.93
    if inference == "em":
        distance = 0.5 * np.abs(corpus.topic_word[:, None] - estimator.topic_word_).sum(axis=2)
        found, matched = linear_sum_assignment(distance)
        assert distance[found, matched].max() < 0.35
        assert_array_equal(matched // 3, found // 3)


def test_boosting_keeps_the_knowledge_that_a_stream_washes_out():
    """Every topic keeps s / (1 + s) of the prior, and so of the words known of its sentiment."""
    corpus = reviews.draw(400, n_seeds=2, strength=0.01, base=1e-4, seed=3)
    seeds, least = corpus.prior > 0.005, {}
    known = np.repeat((corpus.prior * seeds).sum(axis=1) / corpus.prior.sum(axis=1), 6)
    for scale in (0, 0.4):
        estimator = model(6, topic_word_prior=corpus.prior, update=BPS(scale, "topic"))
        estimator.fit(corpus.X)
        in_topics = (estimator.topic_word_ * np.repeat(seeds, 6, axis=0)).sum(axis=1)
        least[scale] = (in_topics / known).min()
        kept = 0.4 / 1.4 if scale else 0.0
        assert_allclose(estimator.prior_retention_, kept, rtol=0.01, atol=0.01)
    assert least[0.4] > 0.4 / 1.4
    assert least[0] < 0.5 * least[0.4]


def test_sentiments_are_those_of_the_seeds():
    flipped = model(topic_word_prior=CORPUS.prior[::-1]).fit(X)
    accuracy = (model().fit(X).predict(X) == Y).mean()
    assert accuracy > 0.9
    assert (flipped.predict(X) == Y).mean() < 1 - accuracy + 0.05


def test_three_sentiments_by_numbers():
    prior = np.full((3, 9), 0.01)
    prior[[0, 1, 2], [0, 3, 6]] = 1.0
    eye = np.eye(9, dtype=int)
    documents = [eye[[3 * e, 3 * e + 1 + d % 2]] for d in range(40) for e in range(3)]
    estimator = model(2, sentiments=(-1, 0, 1), topic_word_prior=prior).fit(documents)
    assert_array_equal(estimator.predict(documents), np.tile([-1, 0, 1], 40))
    assert_array_equal(estimator.classes_, [-1, 0, 1])
    assert estimator.predict_proba(documents).shape == (120, 3)
    assert list(estimator.get_feature_names_out()) == ["-1_0", "-1_1", "0_0", "0_1", "1_0", "1_1"]
    top = estimator.top_words(n_words=3)
    assert 8 in top[4] + top[5]


@pytest.mark.parametrize("n_iter", [1, 4])
@pytest.mark.parametrize(
    ("inference", "find"), [("em", reference.em), ("frank_wolfe", reference.frank_wolfe)]
)
def test_inference_is_the_reference(inference, find, n_iter):
    """What the parameters of documents say reaches the local step."""
    priors = {"doc_sentiment_prior": 1.5, "doc_aspect_prior": 1.2}
    fitted = model().fit(X).set_params(inference=inference, **priors)
    fitted.set_params(max_local_iter=n_iter, local_tol=0)
    pi = fitted.predict_proba(X[:10])
    # The columns are sorted, the topics as they were given.
    for found, counts in zip(pi[:, ::-1], X[:10], strict=True):
        b = reference.log_likelihoods(counts, np.log(fitted.topic_word_.T), 2)
        assert_allclose(found, find(b, n_iter, 1.5, 1.2)[0], rtol=1e-9)


def test_prediction_is_the_marginal_of_the_joint(fitted):
    psi, pi = fitted.transform(X), fitted.predict_proba(X)
    assert_allclose(psi.sum(axis=1), 1.0)
    assert_array_equal(pi[:, ::-1], psi.reshape(-1, 2, 3).sum(axis=2))
    assert_array_equal(fitted.predict(X), np.array(["negative", "positive"])[pi.argmax(axis=1)])
    assert_array_equal(model().fit_transform(X), model().fit(X).transform(X))


def test_less_extreme_probabilities():
    proba = [model(doc_sentiment_prior=gamma).fit(X).predict_proba(X) for gamma in (1.0, 3.0)]
    assert (abs(proba[1] - 0.5) < 0.45).all()
    assert abs(proba[0] - 0.5).mean() > abs(proba[1] - 0.5).mean() + 0.1


def test_the_score_is_of_tokens_that_inference_did_not_see(fitted):
    """Each by the topics that the other tokens of its sentence and document tell."""
    documents = [X[0], np.zeros((2, N_WORDS)), *X[1:6]]
    observed, held_out = completion_split(sparse.csr_matrix(np.concatenate(documents)))
    groups = np.repeat(np.arange(7), [len(x) for x in documents])
    theta = fitted.transform_sentences(observed, groups=groups)
    of_sentences = (held_out.toarray() * np.log(theta @ fitted.topic_word_)).sum(axis=1)
    expected = np.bincount(groups, of_sentences)
    assert_allclose(fitted.score_samples(documents), expected)
    assert_allclose(fitted.score(documents), expected.sum() / held_out.sum())


def test_top_words(fitted):
    names = [f"w{v}" for v in range(N_WORDS)]
    best = np.argsort(-fitted.components_, axis=1, kind="stable")[:, :4]
    assert fitted.top_words(n_words=4, relevance=1) == best.tolist()
    by_name = fitted.top_words(names, 4, relevance=1)
    assert by_name == [[names[v] for v in topic] for topic in best]
    with pytest.raises(ValueError, match="n_words must be"):
        fitted.top_words(n_words=0)
    assert len(topic_table(fitted, names)) == 6


def test_both_forms_of_sentences_are_the_same():
    rows = sparse.vstack([sparse.csr_matrix(x) for x in X[:40]])
    groups = np.repeat(np.arange(40), [len(x) for x in X[:40]])
    apart, together = model().fit(X[:40]), model().fit(rows, groups=groups)
    assert_array_equal(apart.components_, together.components_)
    for method in ("transform", "predict", "predict_proba", "transform_sentences", "score_samples"):
        assert_array_equal(getattr(apart, method)(X[:40]), getattr(apart, method)(rows, groups))
    assert apart.score(X[:40]) == together.score(rows, groups=groups)
    assert_array_equal(model().fit_transform(rows, groups=groups), apart.transform(X[:40]))
    later = model().fit(X[:40]).partial_fit(rows, groups=groups)
    assert_array_equal(later.components_, apart.partial_fit(X[:40]).components_)


def test_sentences_come_back_in_the_rows_they_had(fitted):
    rows, groups = np.concatenate([X[0], X[1]]), np.repeat(["a", "b"], [len(X[0]), len(X[1])])
    order = np.argsort(np.arange(len(rows)) % 3, kind="stable")
    found = fitted.transform_sentences(rows[order], groups=groups[order])
    for label in "ab":
        mine = groups[order] == label
        assert_array_equal(found[mine], fitted.transform_sentences([rows[order][mine]]))


@pytest.mark.parametrize("update", RULES, ids=repr)
def test_any_rule_on_a_stream(update):
    """A pickle goes on where the stream was cut, and no bit depends on the threads."""
    whole = model(update=update).fit(X)
    cut = model(update=update, n_jobs=2)
    for start in range(0, 120, 20):
        cut = pickle.loads(pickle.dumps(cut)).partial_fit(X[start : start + 20])
    assert_array_equal(cut.components_, whole.components_)
    assert (cut.n_batch_iter_, cut.n_documents_seen_) == (6, 120)
    assert cut.n_tokens_seen_ == sum(x.sum() for x in X)
    assert (whole.predict(X) == Y).mean() > 0.75


def test_the_default_is_a_boost_and_0_is_svb():
    for one, rule in (model(), BPS(0.5, "topic")), (model().set_params(update__scale=0), SVB()):
        assert_array_equal(one.fit(X).components_, model(update=rule).fit(X).components_)


def test_knowledge_that_only_the_boost_has():
    flat = model(topic_word_prior=0.01, boosted_prior=CORPUS.prior, update=BPS(0.3, "topic")).fit(X)
    n_tokens = sum(x.sum() for x in X)
    assert_allclose(flat.components_.sum(), 0.01 * 6 * N_WORDS + 1.3 * n_tokens)
    seeds = CORPUS.prior[0] > 0.5
    own, other = flat.topic_word_[:3, seeds].sum(axis=1), flat.topic_word_[3:, seeds].sum(axis=1)
    assert own.min() > 2 * other.max()
    with pytest.warns(UserWarning, match="nothing boosts it"):
        model(boosted_prior=CORPUS.prior, update=SVB()).fit(X)


@pytest.mark.parametrize(("wrong", "message"), [
    (np.ones((3, N_WORDS)), "groups"),
    ([np.full((2, N_WORDS), -1)], "Negative values"),
    ([np.full((2, N_WORDS), np.nan)], "NaN"),
    ([np.ones((2, N_WORDS - 1))], f"{N_WORDS - 1} features"),
    (["some text"], "SentenceVectorizer"),
])  # fmt: skip
def test_wrong_input_changes_nothing(wrong, message):
    fitted = model().fit(X)
    before = pickle.dumps(fitted)
    for name in ("fit", "partial_fit", "transform", "predict", "predict_proba",
                 "transform_sentences", "score"):  # fmt: skip
        if name == "fit" and "features" in message:
            continue
        with pytest.raises((ValueError, TypeError), match=message):
            getattr(fitted, name)(wrong)
    assert pickle.dumps(fitted) == before


@pytest.mark.parametrize(("changed", "message"), [
    ({"n_aspects": 5}, "n_aspects is 5 now, but the model was started with 3"),
    ({"sentiments": ("a", "b")}, r"\['a', 'b'\] now, but the model was started with"),
    ({"sentiments": ("a", "b", "c")}, "start anew with fit"),
])  # fmt: skip
def test_what_cannot_change_in_mid_stream(changed, message):
    fitted = model().fit(X).set_params(**changed)
    before = pickle.dumps(fitted)
    with pytest.raises(ValueError, match=message):
        fitted.partial_fit(X)
    assert pickle.dumps(fitted) == before


def test_empty_documents_and_sentences(fitted):
    nothing = np.zeros((0, N_WORDS)), np.zeros((3, N_WORDS))
    assert_allclose(fitted.transform(nothing), 1 / 6)
    assert_allclose(fitted.predict_proba(nothing), 0.5)
    assert_array_equal(fitted.predict(nothing), ["negative", "negative"])
    no_documents = sparse.csr_matrix((0, N_WORDS))
    assert fitted.predict(no_documents, groups=[]).shape == (0,)
    assert fitted.predict_proba(no_documents, groups=[]).shape == (0, 2)
    mixed = [X[0], nothing[0], np.concatenate([nothing[1], X[1]]), nothing[1]]
    found = fitted.transform(mixed)
    assert_array_equal(found[[0, 2]], fitted.transform(X[:2]))
    sentences = fitted.transform_sentences(mixed)
    assert_allclose(sentences.sum(axis=1), 1.0)
    start = len(X[0])
    assert_array_equal(sentences[start : start + 3], np.tile(found[2], (3, 1)))
    assert fitted.transform([]).shape == (0, 6)
    assert np.isnan(fitted.score(nothing))
    assert_array_equal(fitted.score_samples(nothing), 0.0)
    assert fitted.score_samples(nothing).dtype == np.float64
    before = fitted.components_
    for batch in ([], nothing):
        assert_array_equal(fitted.partial_fit(batch).components_, before)
    assert fitted.n_batch_iter_ == 7
    empty_stream = model().partial_fit(nothing)
    assert_allclose(empty_stream.components_, np.repeat(CORPUS.prior, 3, axis=0))
    assert_array_equal(empty_stream.partial_fit(X).topic_word_, model().partial_fit(X).topic_word_)
    with pytest.raises(ValueError, match="fit needs at least one"):
        model().fit(no_documents, groups=[])


# In scikit-learn


def test_in_a_pipeline():
    texts = ["Good room. The staff was friendly. A great view!",
             "Bad food. The soup was cold. Poor service."] * 30  # fmt: skip
    vectorizer = SentenceVectorizer(CountVectorizer(stop_words="english")).fit(texts)
    words = vectorizer.get_feature_names_out()
    seeds = {"positive": ["good", "great"], "negative": ["bad", "poor"]}
    prior = seed_prior(seeds, words, 1.0, base=0.01)
    fixed = SentenceVectorizer(CountVectorizer(vocabulary=list(words)))
    pipeline = make_pipeline(fixed, model(2, topic_word_prior=prior, batch_size=10))
    pipeline.fit(texts)
    said = pipeline.predict(["The staff was friendly.", "Cold soup and cold food."])
    assert_array_equal(said, ["positive", "negative"])
    names = ["positive_0", "positive_1", "negative_0", "negative_1"]
    assert list(pipeline.get_feature_names_out()) == names
    frame = pipeline.set_output(transform="pandas").transform(texts[:3])
    assert list(frame.columns) == names
