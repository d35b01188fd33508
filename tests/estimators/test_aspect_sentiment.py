# SPDX-License-Identifier: BSD-3-Clause
"""Sentiments of documents as an estimator: streams, inference, errors, and what it finds."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from streamtopics import AspectSentimentModel
from streamtopics.inspection import topic_table
from streamtopics.metrics import completion_split
from streamtopics.priors import seed_prior
from streamtopics.text import SentenceVectorizer
from streamtopics.updates import (
    BPS,
    SVB,
    Boost,
    Decay,
    EmpiricalPowerPrior,
    HierarchicalPowerPrior,
    MeanDecay,
    OnlineEM,
    PopulationVB,
    PowerPrior,
    Rounds,
    StochasticVI,
)
from tests.reference import asum as reference
from tests.reference import reviews

CORPUS = reviews.draw(120)
X, Y = CORPUS.X, np.array(["positive", "negative"])[CORPUS.sentiment]
N_WORDS = CORPUS.prior.shape[1]


def model(n_aspects=3, **given):
    settings = {"topic_word_prior": CORPUS.prior, "batch_size": 20, "random_state": 3}
    return AspectSentimentModel(n_aspects, **settings | given)


RULES = [
    None,
    Rounds(SVB(), 3),
    BPS(0.1, "whole"),
    PowerPrior(0.8, Boost(0.1)),
    HierarchicalPowerPrior("topic"),
    HierarchicalPowerPrior(rate_starts=(0.5,), boost=Boost(0.1, "topic")),
    EmpiricalPowerPrior(),
    PopulationVB(100.0, 0.2),
    StochasticVI(Decay(0.7, 1.0), 500),
]


@pytest.fixture(params=["em", "frank_wolfe"])
def fitted(request):
    return model(inference=request.param).fit(X)


# What it finds


@pytest.mark.parametrize("inference", ["em", "frank_wolfe"])
def test_generated_reviews_are_recovered(inference):
    corpus = reviews.draw(1000, seed=1)
    names = np.array(["positive", "negative"])[corpus.sentiment]
    estimator = model(topic_word_prior=corpus.prior, batch_size=100, inference=inference)
    estimator.fit(corpus.X)
    fresh = reviews.draw(1300, seed=1)
    assert (estimator.predict(corpus.X) == names).mean() > 0.93
    truth = np.array(["positive", "negative"])[fresh.sentiment[1000:]]
    assert (estimator.predict(fresh.X[1000:]) == truth).mean() > 0.93
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
        estimator = model(6, topic_word_prior=corpus.prior, boosting_scale=scale).fit(corpus.X)
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
    for e in range(3):
        prior[e, 3 * e] = 1.0
    documents = [
        np.eye(9, dtype=int)[[3 * e, 3 * e + 1 + d % 2]] for d in range(40) for e in range(3)
    ]
    estimator = model(2, sentiments=(-1, 0, 1), topic_word_prior=prior).fit(documents)
    assert_array_equal(estimator.predict(documents), np.tile([-1, 0, 1], 40))
    assert_array_equal(estimator.classes_, [-1, 0, 1])
    assert estimator.predict_proba(documents).shape == (120, 3)
    assert list(estimator.get_feature_names_out()) == ["-1_0", "-1_1", "0_0", "0_1", "1_0", "1_1"]
    top = estimator.top_words(n_words=3)
    assert 8 in top[estimator.topic_of(1, 0)] + top[estimator.topic_of(1, 1)]


@pytest.mark.parametrize("n_iter", [1, 4])
@pytest.mark.parametrize(
    ("inference", "find"), [("em", reference.em), ("frank_wolfe", reference.frank_wolfe)]
)
def test_inference_is_the_reference(inference, find, n_iter):
    """What the parameters of documents say reaches the local step."""
    priors = {"doc_sentiment_prior": 1.5, "doc_aspect_prior": 1.2}
    fitted = (
        model().fit(X).set_params(inference=inference, max_local_iter=n_iter, local_tol=0, **priors)
    )
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
    lengths = [len(x) for x in documents]
    observed, held_out = completion_split(sparse.csr_matrix(np.concatenate(documents)))
    groups = np.repeat(np.arange(7), lengths)
    theta = fitted.transform_sentences(observed, groups=groups)
    of_sentences = (held_out.toarray() * np.log(theta @ fitted.topic_word_)).sum(axis=1)
    expected = np.bincount(groups, of_sentences)
    assert_allclose(fitted.score_samples(documents), expected)
    assert_allclose(fitted.score(documents), expected.sum() / held_out.sum())


def test_top_words(fitted):
    names = [f"w{v}" for v in range(N_WORDS)]
    by_place, by_name = fitted.top_words(n_words=4), fitted.top_words(names, 4)
    assert len(by_place) == len(by_name) == 6
    for e, sentiment in enumerate(("positive", "negative")):
        for t in range(3):
            topic = fitted.topic_of(sentiment, t)
            assert topic == 3 * e + t
            best = np.argsort(-fitted.components_[topic], kind="stable")[:4]
            assert by_place[topic] == list(best)
            assert by_name[topic] == [names[v] for v in best]
    for wrong in (("good", 0), ("positive", 3), ("positive", -1), ("positive", 0.5)):
        with pytest.raises(ValueError, match=r"sentiment must be|aspect must be"):
            fitted.topic_of(*wrong)
    with pytest.raises(ValueError, match="n_words must be"):
        fitted.top_words(n_words=0)
    assert len(topic_table(fitted, names)) == 6


# Two forms of one corpus


def test_both_forms_of_sentences_are_the_same():
    rows = sparse.vstack([sparse.csr_matrix(x) for x in X[:40]])
    groups = np.repeat(np.arange(40), [len(x) for x in X[:40]])
    apart, together = model().fit(X[:40]), model().fit(rows, groups=groups)
    assert_array_equal(apart.components_, together.components_)
    for method in ("transform", "predict", "predict_proba", "transform_sentences", "score_samples"):
        assert_array_equal(getattr(apart, method)(X[:40]), getattr(apart, method)(rows, groups))
    assert apart.score(X[:40]) == together.score(rows, groups=groups)
    again = model().fit_transform(rows, groups=groups)
    assert_array_equal(again, apart.transform(X[:40]))
    later = model().fit(X[:40]).partial_fit(rows, groups=groups)
    assert_array_equal(later.components_, apart.partial_fit(X[:40]).components_)


def test_sentences_come_back_in_the_rows_they_had(fitted):
    rows, groups = np.concatenate([X[0], X[1]]), np.repeat(["a", "b"], [len(X[0]), len(X[1])])
    order = np.argsort(np.arange(len(rows)) % 3, kind="stable")
    found = fitted.transform_sentences(rows[order], groups=groups[order])
    for label in "ab":
        mine = groups[order] == label
        assert_array_equal(found[mine], fitted.transform_sentences([rows[order][mine]]))


# Streams


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


def test_online_em_takes_means():
    estimator = model(update=OnlineEM(MeanDecay(0.7))).fit(X)
    assert (estimator.predict(X) == Y).mean() > 0.75


def test_the_default_is_a_boost_and_0_is_svb():
    assert_array_equal(model().fit(X).components_,
                       model(update=BPS(0.5, "topic")).fit(X).components_)  # fmt: skip
    assert_array_equal(model(boosting_scale=0).fit(X).components_,
                       model(update=SVB()).fit(X).components_)  # fmt: skip
    whole = model(boosting_scale=0.5, boosting_norm="whole").fit(X)
    assert_array_equal(whole.components_, model(update=BPS(0.5)).fit(X).components_)


def test_knowledge_that_only_the_boost_has():
    flat = model(topic_word_prior=0.01, boosted_prior=CORPUS.prior, boosting_scale=0.3).fit(X)
    n_tokens = sum(x.sum() for x in X)
    assert_allclose(flat.components_.sum(), 0.01 * 6 * N_WORDS + 1.3 * n_tokens)
    seeds = CORPUS.prior[0] > 0.5
    own, other = flat.topic_word_[:3, seeds].sum(axis=1), flat.topic_word_[3:, seeds].sum(axis=1)
    assert own.min() > 2 * other.max()
    with pytest.warns(UserWarning, match="nothing boosts it"):
        model(boosted_prior=CORPUS.prior, boosting_scale=0).fit(X)


def test_no_bit_depends_on_the_number_of_threads(fitted):
    again = clone(fitted).set_params(n_jobs=3).fit(X)
    assert_array_equal(again.components_, fitted.components_)
    assert_array_equal(again.transform(X), fitted.transform(X))


def test_fit_forgets_what_was_learnt_before():
    once = model().fit(X[:40]).components_
    assert_array_equal(model().fit(X[50:]).fit(X[:40]).components_, once)
    twice = model(max_iter=2).fit(X[:40])
    assert_array_equal(twice.components_, model().fit(X[:40] * 2).components_)
    assert (twice.n_iter_, twice.n_batch_iter_) == (2, 4)
    assert twice.fit(X[:40]).n_iter_ == 2


def test_a_minibatch_of_one_document():
    one_left = model().fit(X[:41])
    assert (one_left.n_batch_iter_, one_left.n_documents_seen_) == (3, 41)
    stream = model().partial_fit(X[:20]).partial_fit(X[20:40]).partial_fit(X[40:41])
    assert_array_equal(stream.components_, one_left.components_)
    assert stream.n_tokens_seen_ == sum(x.sum() for x in X[:41])


def test_few_steps_are_told():
    for size in (60, 100):
        with pytest.warns(ConvergenceWarning, match=r"fewer than 5 steps.*n_rounds=10"):
            model(batch_size=size).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model(batch_size=100, max_iter=3).fit(X)
        model(batch_size=60, update=Rounds(BPS(0.2), 5)).fit(X)
        model(batch_size=60, update=HierarchicalPowerPrior()).fit(X)


def test_progress_is_shown(capsys):
    model(verbose=1).fit(X)
    assert "AspectSentimentModel" in capsys.readouterr().err


# Failures change nothing


def state(estimator):
    return pickle.dumps(estimator)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.ones((3, N_WORDS)), "groups"),
        ([np.full((2, N_WORDS), -1)], "Negative values"),
        ([np.full((2, N_WORDS), np.nan)], "NaN"),
        ([np.ones((2, N_WORDS - 1))], f"{N_WORDS - 1} features"),
        (["some text"], "SentenceVectorizer"),
    ],
)
def test_wrong_input_changes_nothing(wrong, message):
    fitted = model().fit(X)
    before = state(fitted)
    for method in (fitted.fit, fitted.partial_fit, fitted.transform, fitted.predict,
                   fitted.predict_proba, fitted.transform_sentences, fitted.score):  # fmt: skip
        if method == fitted.fit and "features" in message:
            continue
        with pytest.raises((ValueError, TypeError), match=message):
            method(wrong)
    assert state(fitted) == before


WRONG = [
    ("n_aspects", 0), ("n_aspects", 2.5), ("sentiments", ("good",)), ("sentiments", ("a", "a")),
    ("sentiments", ("a", 1)), ("sentiments", (True, False)), ("sentiments", "good"),
    ("topic_word_prior", 0), ("topic_word_prior", np.ones((3, N_WORDS))),
    ("topic_word_prior", np.ones(5)), ("boosted_prior", np.ones((3, N_WORDS))),
    ("boosted_prior", -1.0), ("boosting_scale", -0.1), ("boosting_scale", "much"),
    ("boosting_norm", "row"), ("update", "svb"), ("update", SVB), ("update", Boost(0.1)),
    ("doc_sentiment_prior", 0.5), ("doc_aspect_prior", 0.9), ("inference", "gibbs"),
    ("max_local_iter", 0), ("local_tol", -1.0), ("batch_size", 0), ("max_iter", 0),
    ("n_jobs", "two"), ("random_state", "seed"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), WRONG, ids=lambda value: repr(value)[:20])
def test_wrong_parameters_change_nothing(name, value):
    for method in ("fit", "partial_fit"):
        estimator = model().set_params(**{name: value})
        with pytest.raises((ValueError, TypeError), match=name):
            getattr(estimator, method)(X)
        assert not hasattr(estimator, "posterior_")
        assert not hasattr(estimator, "classes_")


def test_the_shape_of_a_prior_is_told_by_sentiments():
    with pytest.raises(ValueError, match=r"\(n_sentiments, n_features\)"):
        model(topic_word_prior=np.ones((3, N_WORDS))).fit(X)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_aspects": 5}, "n_aspects is 5 now, but the model was started with 3"),
        ({"sentiments": ("a", "b")}, r"\['a', 'b'\] now, but the model was started with"),
        ({"sentiments": ("a", "b", "c")}, "start anew with fit"),
        ({"update": SVB(), "boosting_scale": 0.2}, "set boosting_scale to None, or update"),
    ],
)
def test_what_cannot_change_in_mid_stream(changed, message):
    fitted = model().fit(X).set_params(**changed)
    before = state(fitted)
    with pytest.raises(ValueError, match=message):
        fitted.partial_fit(X)
    assert state(fitted) == before


def test_what_would_overflow_is_refused():
    fitted = model().fit(X)
    fitted.set_params(boosting_scale=1e10)
    before = state(fitted)
    with pytest.raises(ValueError, match="too extreme"):
        fitted.set_params(update=Extreme(), boosting_scale=None).partial_fit(X)
    fitted.set_params(update=None, boosting_scale=1e10)
    assert state(fitted) == before


class Extreme(BPS):
    """A rule whose blend is infinite."""

    def __init__(self):
        super().__init__(0.0)

    def step(self, posterior, learn, state):
        blend, state = super().step(posterior, learn, state)
        return type(blend)(1.0, 1.0, np.inf, blend.statistics), state


def test_an_interrupted_fit_leaves_the_model_as_it_was(fitted, monkeypatch):
    before = state(fitted)

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("streamtopics.local.asum.statistics", stop)
    monkeypatch.setattr("streamtopics.models.asum.statistics", stop)
    for method in (fitted.fit, fitted.partial_fit):
        with pytest.raises(KeyboardInterrupt):
            method(X)
        assert state(fitted) == before


def test_an_interrupted_fit_keeps_whole_minibatches(monkeypatch):
    expected, learn = model().fit(X[:40]), AspectSentimentModel._learn

    def stop_at_the_third(self, batch, pool):
        if self.n_batch_iter_ == 2:
            raise KeyboardInterrupt
        learn(self, batch, pool)

    monkeypatch.setattr(AspectSentimentModel, "_learn", stop_at_the_third)
    interrupted = model()
    with pytest.raises(KeyboardInterrupt):
        interrupted.fit(X)
    assert (interrupted.n_batch_iter_, interrupted.n_iter_) == (2, 0)
    assert_array_equal(interrupted.components_, expected.components_)


def test_what_is_not_fitted_says_so():
    for method in ("transform", "predict", "predict_proba", "transform_sentences", "score"):
        with pytest.raises(NotFittedError):
            getattr(model(), method)(X)


# Documents of all kinds


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
    assert_array_equal(found[0], fitted.transform(X[:1])[0])
    assert_array_equal(found[2], fitted.transform(X[1:2])[0])
    sentences = fitted.transform_sentences(mixed)
    assert_allclose(sentences.sum(axis=1), 1.0)
    start = len(X[0])
    assert_array_equal(sentences[start : start + 3], np.tile(found[2], (3, 1)))
    assert fitted.transform([]).shape == (0, 6)
    assert np.isnan(fitted.score(nothing))
    assert_array_equal(fitted.score_samples(nothing), 0.0)
    assert fitted.score_samples(nothing).dtype == np.float64
    before = fitted.components_
    assert_array_equal(fitted.partial_fit([]).components_, before)
    assert_array_equal(fitted.partial_fit(nothing).components_, before)
    assert fitted.n_batch_iter_ == 7
    empty_stream = model().partial_fit(nothing)
    assert_allclose(empty_stream.components_, np.repeat(CORPUS.prior, 3, axis=0))
    assert_array_equal(empty_stream.partial_fit(X).topic_word_, model().partial_fit(X).topic_word_)
    with pytest.raises(ValueError, match="fit needs at least one"):
        model().fit(sparse.csr_matrix((0, N_WORDS)), groups=[])


def test_rows_do_not_depend_on_each_other(fitted):
    whole, sentences = fitted.transform(X), fitted.transform_sentences(X)
    for d in (0, 17, 119):
        assert_array_equal(fitted.transform(X[d : d + 1])[0], whole[d])
    assert_array_equal(fitted.transform(X[::-1]), whole[::-1])
    assert_array_equal(fitted.transform_sentences(X[:1]), sentences[: len(X[0])])
    assert_array_equal(fitted.score_samples(X[5:7])[1], fitted.score_samples(X[6:7])[0])


def test_many_documents_are_inferred_a_part_at_a_time(fitted, monkeypatch):
    whole = fitted.transform(X), fitted.transform_sentences(X), fitted.score_samples(X)
    monkeypatch.setattr("streamtopics.estimators.aspect_sentiment.DOCUMENTS_AT_ONCE", 7)
    parts = fitted.transform(X), fitted.transform_sentences(X), fitted.score_samples(X)
    for part, expected in zip(parts, whole, strict=True):
        assert_array_equal(part, expected)


def test_inference_changes_nothing(fitted):
    before = state(fitted)
    fitted.transform(X), fitted.score(X), fitted.predict(X), fitted.transform_sentences(X)
    fitted.top_words(), fitted.score_samples(X)
    assert state(fitted) == before


def test_fractions_are_legal(fitted):
    half = [x / 2 for x in X[:30]]
    assert_allclose(fitted.partial_fit(half).n_tokens_seen_,
                    sum(x.sum() for x in X) + sum(x.sum() for x in half))  # fmt: skip
    assert_allclose(fitted.transform(half).sum(axis=1), 1.0)


def test_counts_of_any_size(fitted):
    large = [np.array(x) * 10**9 for x in X[:5]]
    assert np.isfinite(fitted.transform(large)).all()
    assert np.isfinite(fitted.partial_fit(large).components_).all()


def test_iterators_of_documents_are_read_once(fitted):
    assert_array_equal(fitted.transform(iter(X[:3])), fitted.transform(X[:3]))


def test_names_of_columns_are_kept_and_compared():
    names = np.array([f"w{v}" for v in range(N_WORDS)])
    frames = [pd.DataFrame(x, columns=names) for x in X[:20]]
    estimator = model().partial_fit(frames)
    assert_array_equal(estimator.feature_names_in_, names)
    assert estimator.top_words(n_words=1)[estimator.topic_of("negative", 1)][0] in names
    with pytest.raises(ValueError, match="feature names should match"):
        estimator.predict([frame[names[::-1]] for frame in frames])


# In scikit-learn

TEXTS = [
    "Good room. The staff was friendly. A great view!",
    "Bad food. The soup was cold. Poor service.",
] * 30


def test_in_a_pipeline():
    vectorizer = SentenceVectorizer(CountVectorizer(stop_words="english")).fit(TEXTS)
    words = vectorizer.get_feature_names_out()
    seeds = {"positive": ["good", "great"], "negative": ["bad", "poor"]}
    prior = seed_prior(seeds, words, 1.0, base=0.01)
    fixed = SentenceVectorizer(CountVectorizer(vocabulary=list(words)))
    pipeline = make_pipeline(fixed, model(2, topic_word_prior=prior, batch_size=10))
    pipeline.fit(TEXTS)
    said = pipeline.predict(["The staff was friendly.", "Cold soup and cold food."])
    assert_array_equal(said, ["positive", "negative"])
    assert list(pipeline.get_feature_names_out()) == [
        "positive_0", "positive_1", "negative_0", "negative_1",
    ]  # fmt: skip
    pipeline.set_output(transform="pandas")
    frame = pipeline.transform(TEXTS[:3])
    assert list(frame.columns) == list(pipeline.get_feature_names_out())


def test_the_boosting_scale_is_searched():
    scales = {"boosting_scale": [0, 0.1, 0.3, 1.0]}
    search = GridSearchCV(model(), scales, cv=3, error_score="raise").fit(X)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert len(set(scores)) == 4
    labelled = GridSearchCV(model(), scales, cv=3, scoring="accuracy", error_score="raise")
    assert labelled.fit(X, Y).best_score_ > 0.85
    nested = GridSearchCV(model(update=PowerPrior(0.5)), {"update__rho": [0.0, 1.0]}, cv=2)
    assert len(set(nested.fit(X).cv_results_["mean_test_score"])) == 2


def test_parameters_of_the_rule_are_parameters():
    estimator = model(update=PowerPrior(0.9, Boost(0.1)))
    assert estimator.get_params()["update__boost__scale"] == 0.1
    copy = clone(estimator).set_params(update__boost__scale=0.5, n_aspects=7)
    assert copy.update == PowerPrior(0.9, Boost(0.5))
    assert (copy.n_aspects, estimator.n_aspects) == (7, 3)
    with pytest.raises(ValueError, match="has no parameter 'speed'"):
        copy.set_params(update__speed=1)


def test_groups_are_routed():
    rows = np.concatenate(X[:40])
    groups = np.repeat(np.arange(40), [len(x) for x in X[:40]])
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(model().set_fit_request(groups=True)).fit(rows, groups=groups)
    assert_array_equal(pipeline[-1].components_, model().fit(X[:40]).components_)
