# SPDX-License-Identifier: BSD-3-Clause
"""MultiViewLDA as a streaming classifier."""

import io
import pickle
import signal
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from streamtopics import MultiViewLDA
from streamtopics.datasets import load_docstrings
from streamtopics.local import all_classes, two_blocks
from streamtopics.posteriors.rows import Rows
from streamtopics.priors import class_words_prior
from tests.interrupts import alarm_after
from tests.parsed import packages_parsed_once

LABELS = np.array(["air", "land", "sea"])
ESTIMATORS = {
    "default": MultiViewLDA(random_state=3),
    "boosted": MultiViewLDA(2, 1, boosting_scale=0.3, random_state=3),
    "passes": MultiViewLDA(
        3, 2, boosting_scale=0.2, boosting_norm="topic", boosted_prior=class_words_prior,
        class_word_prior=0.1, n_rounds=3, random_state=3,
    ),
    "many": MultiViewLDA(40, 50, random_state=3, doc_topic_prior=0.1),
}  # fmt: skip


@pytest.fixture(params=ESTIMATORS.values(), ids=ESTIMATORS)
def estimator(request):
    return clone(request.param)


@pytest.fixture(scope="module", name="data")
def labelled_counts():
    """Counts over 200 words, of which each class prefers some, and labels; one row empty."""
    rng = np.random.default_rng(0)
    common, own = rng.gamma(0.3, 1.0, 200), rng.gamma(0.1, 1.0, (3, 200))
    codes = rng.choice(3, 500, p=[0.5, 0.3, 0.2])
    rates = 0.5 * common / common.sum() + 0.5 * (own / own.sum(axis=1, keepdims=True))[codes]
    dense = rng.poisson(rates * rng.integers(5, 40, (500, 1))).astype(np.float64)
    dense[7] = 0
    return sparse.csr_matrix(dense), LABELS[codes]


@pytest.fixture(name="X")
def counts(data):
    return data[0]


@pytest.fixture(name="y")
def labels(data):
    return data[1]


def bits(value):
    """All of the fitted state, with arrays as bytes."""
    if isinstance(value, MultiViewLDA):
        fitted = vars(value).keys() - value.get_params().keys()
        return {name: bits(getattr(value, name)) for name in fitted}
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, tuple | list):
        return [bits(part) for part in value]
    if isinstance(value, Rows):  # as it is saved: how much room it has is not of the state
        return bits(list(value.__getstate__().values()))
    if hasattr(value, "__dict__"):
        return {name: bits(part) for name, part in vars(value).items()}
    return value


def test_bits_tell_models_apart(X, y):
    model = MultiViewLDA(2, 1, random_state=0).partial_fit(X, y, LABELS)
    before = bits(model)
    assert bits(pickle.loads(pickle.dumps(model))) == before
    assert bits(model.partial_fit(X[:1], y[:1])) != before


@parametrize_with_checks([MultiViewLDA(2, 1, boosting_scale=0.2, boosted_prior=0.1, n_rounds=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


# The stream


def test_one_call_is_one_update(estimator, X, y):
    estimator.partial_fit(X[:300], y[:300], LABELS)
    assert (estimator.n_batch_iter_, estimator.n_documents_seen_) == (1, 300)
    assert estimator.n_tokens_seen_ == X[:300].sum()
    assert_array_equal(estimator.class_count_, [(y[:300] == label).sum() for label in LABELS])
    estimator.set_params(batch_size=100).fit(X[:450], y[:450])
    assert (estimator.n_batch_iter_, estimator.n_documents_seen_) == (5, 450)


def test_fit_is_partial_fit_over_batches_in_order(estimator, X, y):
    estimator.set_params(class_word_prior=class_words_prior(X, y))
    whole = clone(estimator).set_params(batch_size=200, max_iter=2).fit(X, y)
    for _ in range(2):
        for start in range(0, 500, 200):
            estimator.partial_fit(X[start : start + 200], y[start : start + 200], LABELS)
    if estimator.boosted_prior is None:  # Made of all documents in one, of the first in the other.
        assert_array_equal(whole.components_, estimator.components_)
    assert whole.n_iter_ == 2


def test_each_token_is_learnt_once(estimator, X, y):
    estimator.set_params(boosting_scale=0.0, boosted_prior=None).fit(X, y)
    assert_allclose(estimator.posterior_.learnt_part.sum(), X.sum(), rtol=1e-10)
    assert_allclose(estimator.topic_word_.sum(axis=1), 1.0)
    assert_allclose(estimator.topic_weights_.sum(), 1.0)


def test_words_of_a_class_are_learnt_by_its_topics_alone(X, y):
    only = np.flatnonzero(y == "land")
    model = MultiViewLDA(2, 1, class_word_prior=0.1, random_state=0)
    model.partial_fit(X[only], y[only], LABELS)
    learnt = model.posterior_.learnt_part
    assert (learnt[model.topic_class_ == 1] > 0).all()
    assert (learnt[model.topic_class_ == -1] > 0).all()
    assert not learnt[np.isin(model.topic_class_, [0, 2])].any()


@pytest.mark.parametrize("norm", ["whole", "topic"])
def test_only_the_topics_of_classes_are_boosted(X, y, norm):
    prior = class_words_prior(X, y)
    given = {"class_word_prior": prior, "boosting_norm": norm, "topic_word_prior": 0.02}
    model = MultiViewLDA(2, 3, boosting_scale=0.4, random_state=0, **given)
    own = np.arange(9) < 6
    for start in range(0, 500, 100):
        model.partial_fit(X[start : start + 100], y[start : start + 100], LABELS)
    posterior = model.posterior_
    assert_allclose(posterior.prior_part[~own], 0.02 * 200)
    added = posterior.prior_part[own] - np.repeat(prior.sum(axis=1), 2)
    assert_allclose(added.sum(), 0.4 * posterior.learnt_part[own].sum())
    if norm == "whole":
        assert_allclose(added / added[0], np.repeat(prior.sum(axis=1), 2) / prior[0].sum())
    else:
        assert_allclose(added, 0.4 * posterior.learnt_part[own])


def test_boosted_prior_is_what_a_boost_adds(X, y):
    model = MultiViewLDA(
        2,
        1,
        class_word_prior=0.3,
        boosted_prior=class_words_prior,
        boosting_scale=0.5,
        random_state=0,
    ).fit(X, y)
    assert_allclose(model.posterior_.parts[0].c, 1.0)
    assert (model.posterior_.parts[0].b > 0).all()
    mass = 6 * 200 * 0.3 + 1.5 * model.posterior_.learnt_part[:6].sum()
    assert_allclose(model.components_[:6].sum(), mass)
    with pytest.warns(UserWarning, match="boosting_scale above 0"):
        model.set_params(boosting_scale=0.0).fit(X, y)


def test_same_bits_for_any_number_of_jobs(estimator, X, y):
    wide = sparse.vstack([X] * 2).tocsr()
    models = [clone(estimator).set_params(n_jobs=n).fit(wide, np.tile(y, 2)) for n in (1, 2, 4)]
    for model in models[1:]:
        assert bits(model) == bits(models[0])
        assert_array_equal(model.predict_proba(X), models[0].predict_proba(X))
        assert_array_equal(model.transform(X), models[0].transform(X))


def test_resumed_stream_equals_the_uncut_one(estimator, X, y):
    uncut = clone(estimator)
    for start in range(0, 500, 100):
        batch = X[start : start + 100], y[start : start + 100], LABELS
        uncut.partial_fit(*batch)
        estimator = pickle.loads(pickle.dumps(estimator.partial_fit(*batch)))
    assert bits(estimator) == bits(uncut)


def test_rows_do_not_depend_on_each_other(estimator, X, y):
    estimator.fit(X, y)
    order = np.random.default_rng(0).permutation(500)
    for method in ("transform", "predict_log_proba"):
        whole = getattr(estimator, method)(X)
        assert_array_equal(getattr(estimator, method)(X[5]), whole[[5]])
        assert_array_equal(getattr(estimator, method)(X[order]), whole[order])


def test_many_documents_are_inferred_some_at_a_time(X, y, monkeypatch):
    model = MultiViewLDA(2, 1, random_state=0).fit(X, y)
    methods = "transform", "predict_log_proba", "predict"
    whole = [getattr(model, method)(X) for method in methods]
    monkeypatch.setattr("streamtopics.estimators.multi_view_lda.DOCUMENTS_AT_ONCE", 120)
    for method, expected in zip(methods, whole, strict=True):
        assert_array_equal(getattr(model, method)(X), expected)


def test_the_weights_of_many_classes_are_held_for_few_words_at_once(X, y, monkeypatch):
    model = MultiViewLDA(3, 1, random_state=0).fit(X, y)
    methods = "transform", "predict_log_proba", "predict"
    whole = [getattr(model, method)(X) for method in methods]
    held = []

    def class_weights(*args):
        weights = all_classes.class_weights(*args)
        held.append(len(weights.own))
        return weights

    monkeypatch.setattr("streamtopics.models.multi_view.class_weights", class_weights)
    monkeypatch.setattr("streamtopics.estimators.multi_view_lda.WEIGHTS_AT_ONCE", 3 * 3 * 100)
    for method, expected in zip(methods, whole, strict=True):
        held.clear()
        assert_array_equal(getattr(model, method)(X), expected)
        # A document may have more words by itself.
        assert max(held) <= max(100, np.diff(X.indptr).max())
        assert len(held) < 150
    monkeypatch.setattr("streamtopics.estimators.multi_view_lda.WEIGHTS_AT_ONCE", 1)
    assert_array_equal(model.predict(X[:9]), whole[2][:9])


def test_of_classes_that_were_never_seen_the_first_is_predicted():
    rng = np.random.default_rng(1)
    words = rng.dirichlet(np.full(400, 0.05), 11)
    y = rng.integers(11, size=1500)
    X = np.stack([rng.multinomial(rng.integers(0, 40), words[label]) for label in y])
    seen = np.flatnonzero(y[:800] < 4)
    model = MultiViewLDA(random_state=0).partial_fit(X[seen], y[seen], classes=np.arange(18))
    predicted = model.predict(X[800:])
    assert set(predicted) == {0, 1, 2, 3, 4}
    for method in (model.predict_proba, model.predict_log_proba):
        found = method(X[800:])
        assert_array_equal(found.argmax(axis=1), predicted)
        assert_array_equal(found[:, 5:], found[:, [4] * 13])


def test_prediction_changes_nothing(estimator, X, y):
    estimator.fit(X, y)
    before = bits(estimator)
    for method in ("transform", "predict", "predict_proba", "predict_log_proba"):
        getattr(estimator, method)(X)
    estimator.score(X, y)
    assert bits(estimator) == before


def test_what_is_predicted_fits_together(estimator, X, y):
    estimator.fit(X, y)
    probability = estimator.predict_proba(X)
    assert_allclose(probability.sum(axis=1), 1.0)
    assert_array_equal(estimator.predict(X), LABELS[probability.argmax(axis=1)])
    assert estimator.score(X, y) == (estimator.predict(X) == y).mean() > 0.8
    doc_topic = estimator.transform(X)
    assert doc_topic.shape == (500, estimator.components_.shape[0])
    assert_allclose(doc_topic.sum(axis=1), 1.0)
    for code in range(3):
        of_class = doc_topic[:, estimator.topic_class_ == code].sum(axis=1)
        assert (of_class <= probability[:, code] + 1e-9).all()
    assert estimator.transform(X.astype(np.float32)).dtype == np.float32


def test_a_document_without_words_has_the_shares_of_the_classes(estimator, X, y):
    estimator.fit(X, y)
    shares = (estimator.class_count_ + 1) / (500 + 3)
    assert_allclose(estimator.predict_proba(np.zeros((1, 200)))[0], shares)
    estimator.partial_fit(np.zeros((2, 200)), ["sea", "air"])
    assert estimator.n_documents_seen_ == 502


def test_a_document_without_words_has_the_share_prior_of_its_class(X, y):
    model = MultiViewLDA(2, 2, local_share_prior=(1, 3), random_state=0).fit(X, y)
    of_shared = model.transform(np.zeros((1, 200)))[0, model.topic_class_ == -1]
    assert_allclose(of_shared, 0.375)


def test_minibatches_without_rows(estimator, X, y):
    with pytest.raises(ValueError, match="has no documents"):
        estimator.partial_fit(X[:0], y[:0], LABELS)
    assert not estimator.__sklearn_is_fitted__()
    estimator.set_params(class_word_prior=0.1, boosted_prior=None)
    estimator.partial_fit(X[:0], y[:0], LABELS)
    assert estimator.n_batch_iter_ == 0
    assert_allclose(estimator.predict_proba(X[:2]), 1 / 3, atol=1e-6)
    assert estimator.predict(X[:0]).shape == (0,)
    assert estimator.predict_proba(X[:0]).shape == (0, 3)
    before = bits(estimator.partial_fit(X[:50], y[:50]))
    assert bits(estimator.partial_fit(X[:0], [])) == before


def test_a_class_may_come_late(X, y):
    model = MultiViewLDA(2, 1, class_word_prior=0.05, random_state=0)
    early = y != "sea"
    model.partial_fit(X[early], y[early], LABELS)
    assert model.class_count_[2] == 0
    assert (model.predict(X[early]) == "sea").mean() < 0.1
    for _ in range(3):
        model.partial_fit(X, y)
    assert (model.predict(X[~early]) == "sea").mean() > 0.7


# Labels


def test_classes_are_necessary_in_the_first_call(estimator, X, y):
    with pytest.raises(ValueError, match=r"classes is None in the first call.*pass classes="):
        estimator.partial_fit(X, y)
    assert not hasattr(estimator, "n_features_in_")


@pytest.mark.parametrize("first", [True, False])
def test_unseen_labels_are_refused(estimator, X, y, first):
    strange = np.where(np.arange(500) == 3, "moon", y)
    if not first:
        estimator.partial_fit(X, y, LABELS)
    before = bits(estimator)
    with pytest.raises(ValueError, match=r"y has the labels \['moon'\].*start anew"):
        estimator.partial_fit(X, strange, LABELS if first else None)
    assert bits(estimator) == before


def test_other_classes_in_mid_stream_are_refused(estimator, X, y):
    estimator.partial_fit(X, y, LABELS[::-1])
    assert_array_equal(estimator.classes_, LABELS)
    before = bits(estimator)
    with pytest.raises(ValueError, match=r"classes=\['air', 'sea'\] is not what the stream"):
        estimator.partial_fit(X, y, ["air", "sea"])
    assert bits(estimator) == before
    estimator.partial_fit(X, y, list(LABELS))


BAD_LABELS = {
    "none": (lambda y: None, "requires y to be passed"),
    "short": (lambda y: y[:-1], "inconsistent numbers of samples"),
    "mixed": (
        lambda y: np.array([1, *y[1:].tolist()], dtype=object),
        "y, passed to MultiViewLDA.*mixes texts",
    ),
    "two columns": (lambda y: np.stack([y, y], axis=1), "1d array"),
}


@pytest.mark.parametrize("bad", BAD_LABELS.values(), ids=BAD_LABELS)
def test_bad_labels_change_nothing(estimator, X, y, bad):
    make, message = bad
    estimator.partial_fit(X, y, LABELS)
    before = bits(estimator)
    for method in (estimator.fit, estimator.partial_fit):
        with pytest.raises(ValueError, match=message):
            method(X, make(y))
    assert bits(estimator) == before


def test_labels_may_be_numbers_and_their_order_does_not_matter(X, y):
    codes = np.searchsorted(LABELS, y)
    named = MultiViewLDA(2, 1, random_state=0).fit(X, y)
    numbered = MultiViewLDA(2, 1, random_state=0).fit(X, 10 * codes)
    assert_array_equal(numbered.components_, named.components_)
    assert_array_equal(numbered.predict(X), 10 * np.searchsorted(LABELS, named.predict(X)))


# What goes wrong

BAD_BATCHES = {
    "nan": (lambda X: np.where(np.arange(200) == 7, np.nan, X[:2].toarray()), "NaN"),
    "negative": (lambda X: -X[:2], "Negative values in data"),
    "features": (lambda X: X[:2, :5], "5 features.*200 features"),
}


@pytest.mark.parametrize("bad", BAD_BATCHES.values(), ids=BAD_BATCHES)
@pytest.mark.parametrize("method", ["partial_fit", "transform", "predict"])
def test_bad_counts_change_nothing(estimator, X, y, bad, method):
    make, message = bad
    estimator.partial_fit(X[:100], y[:100], LABELS)
    before = bits(estimator)
    labels = [y[:2]] if method == "partial_fit" else []
    with pytest.raises(ValueError, match=message):
        getattr(estimator, method)(make(X), *labels)
    assert bits(estimator) == before


def test_texts_are_refused_with_advice(estimator):
    with pytest.raises(TypeError, match="CountVectorizer"):
        estimator.fit(["a text", "another"], ["air", "sea"])


BAD_PARAMETERS = {
    "shape": ({"class_word_prior": np.ones((2, 200))}, r"\(n_classes, n_features\)"),
    "range": ({"class_word_prior": np.zeros(200)}, "class_word_prior must lie in"),
    "callable": ({"boosted_prior": lambda X, y, classes: [1.0], "boosting_scale": 1.0}, "boosted"),
    "callable of text": (
        {"class_word_prior": lambda X, y, classes: "words"},
        "class_word_prior must be pseudo-counts",
    ),
    "shared": ({"topic_word_prior": np.ones((3, 200))}, "topic_word_prior must have shape"),
    "share": ({"local_share_prior": (1.0,)}, r"local_share_prior must be two numbers.*\(1.0,\)"),
    "share 0": ({"local_share_prior": (1.0, 0.0)}, "local_share_prior must be two numbers"),
    "topics": ({"n_local_topics": 0}, "n_local_topics"),
    "jobs": ({"n_jobs": 0}, "n_jobs"),
}


@pytest.mark.parametrize("bad", BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_bad_parameters_leave_the_last_fit(X, y, bad):
    parameters, message = bad
    model = MultiViewLDA(2, 1, random_state=0)
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(**parameters).partial_fit(X, y, LABELS)
    before = bits(model.fit(X, y))
    with pytest.raises(ValueError, match=message):
        model.set_params(**parameters).fit(X, y)
    assert bits(model) == before


def test_the_numbers_of_topics_are_fixed_by_the_first_call(X, y):
    model = MultiViewLDA(2, 1, random_state=0).partial_fit(X, y, LABELS)
    before = bits(model)
    for name in ("n_local_topics", "n_global_topics"):
        with pytest.raises(ValueError, match=f"{name} is 7 now, but the model was started with"):
            clone_of(model).set_params(**{name: 7}).partial_fit(X, y)
    assert bits(model) == before
    model.set_params(n_local_topics=5).transform(X)


def clone_of(model):
    return pickle.loads(pickle.dumps(model))


def test_a_boost_without_bounds_changes_nothing(X, y):
    model = MultiViewLDA(2, 1, class_word_prior=1e-10, random_state=0).partial_fit(X, y, LABELS)
    model.set_params(boosting_scale=1e10)
    for _ in range(2):
        model.partial_fit(X, y)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.predict_log_proba(X)).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_interrupt_between_documents_changes_nothing(X, y, monkeypatch, n_jobs, error):
    model = MultiViewLDA(2, 1, random_state=3, n_jobs=n_jobs).partial_fit(X[:99], y[:99], LABELS)
    before, infer, calls = bits(model), two_blocks._infer_documents, []

    def interrupted(*arguments):
        calls.append(1)
        if len(calls) > 1:
            raise error
        return infer(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(two_blocks, "_infer_documents", interrupted)
        with pytest.raises(error):
            model.partial_fit(X, y)
        with pytest.raises(error):
            model.fit(X, y)
        unfitted = clone(model)
        with pytest.raises(error):
            unfitted.partial_fit(X, y, LABELS)
    assert bits(model) == before
    assert not hasattr(unfitted, "classes_")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_signals_at_any_moment_leave_whole_minibatches(X, y):
    model = MultiViewLDA(2, 1, random_state=3).partial_fit(X[:50], y[:50], LABELS)
    interrupted = 0
    for trial in range(100):
        documents, mass = model.n_documents_seen_, model.posterior_.learnt_part.sum()
        count = model.class_count_.sum()
        try:
            with alarm_after(1e-4 + 5e-5 * trial):
                model.partial_fit(X[50:150], y[50:150])
        except KeyboardInterrupt:
            interrupted += 1
        done = int(model.n_documents_seen_ > documents)
        assert model.n_documents_seen_ == documents + 100 * done
        assert model.class_count_.sum() == count + 100 * done
        learnt = model.posterior_.learnt_part.sum() - mass
        assert_allclose(learnt, done * X[50:150].sum(), atol=1e-6)
    assert interrupted > 0


def test_verbose_shows_progress_and_changes_nothing(X, y, capsys, monkeypatch):
    model = MultiViewLDA(2, 1, batch_size=100, random_state=0)
    quiet = clone(model).fit(X, y)
    assert capsys.readouterr().err == ""
    shown = clone(model).set_params(verbose=1).fit(X, y)
    assert "500/500" in capsys.readouterr().err
    assert_array_equal(shown.components_, quiet.components_)
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", closed)
    clone(model).set_params(verbose=1).fit(X, y)


# With scikit-learn's tools


@pytest.fixture(scope="module")
def docstrings():
    with packages_parsed_once():
        corpus = load_docstrings(packages=["numpy", "sklearn", "joblib"])
    return corpus.data[:1500], np.array(corpus.target_names)[corpus.target[:1500]]


def test_grid_search_over_the_boosting_scale_of_texts(docstrings):
    texts, packages = docstrings
    search = GridSearchCV(
        make_pipeline(
            CountVectorizer(stop_words="english", min_df=3),
            MultiViewLDA(4, 4, batch_size=200, random_state=0),
        ),
        {"multiviewlda__boosting_scale": [0, 0.2, 1.0]},
        cv=3,
    ).fit(texts, packages)
    scores = search.cv_results_["mean_test_score"]
    majority = max(np.unique(packages, return_counts=True)[1]) / len(packages)
    assert (scores > majority + 0.1).all()
    assert len(set(scores)) > 1
    assert set(search.predict(texts)) <= set(packages)


def test_about_as_good_as_naive_bayes_on_texts(docstrings):
    texts, packages = docstrings
    X = CountVectorizer(stop_words="english", min_df=3).fit_transform(texts)
    learnt, test = slice(0, 1000), slice(1000, None)
    model = MultiViewLDA(4, 4, batch_size=200, random_state=0).fit(X[learnt], packages[learnt])
    rival = MultinomialNB().fit(X[learnt], packages[learnt])
    assert model.score(X[test], packages[test]) > rival.score(X[test], packages[test]) - 0.02


def test_names(docstrings):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[9, 0, 1], [0, 8, 1], [7, 1, 0]], columns=["sea", "sky", "sun"])
    model = MultiViewLDA(1, 1, random_state=0).set_output(transform="pandas")
    model.fit(frame, ["water", "air", "water"])
    assert list(model.transform(frame).columns) == [f"multiviewlda{i}" for i in range(3)]
    assert model.top_words(n_words=1)[1] == ["sea"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame.rename(columns={"sea": "lake"}))
