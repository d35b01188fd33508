# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of short texts: against a batch EM of the formulas, and by known clusters."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.metrics import normalized_mutual_info_score as nmi
from sklearn.pipeline import make_pipeline

from streamtopics import StreamingMixture
from streamtopics.estimators import Schedule
from streamtopics.local import OneTopic
from streamtopics.updates import BPS, SVB, Memory, OnlineEM, PowerPrior, Window

V, K = 300, 20
UPDATES = [SVB(), BPS(0.05), OnlineEM(), PowerPrior(Memory(3000))]
each_update = pytest.mark.parametrize("update", UPDATES, ids=lambda u: type(u).__name__)


def corpus(n=2000, length=6, background=0.2, seed=0):
    """Documents of clusters of 12 words each, a share of whose words is of 60 others."""
    rng = np.random.default_rng(seed)
    beta = np.zeros((K, V))
    for k in range(K):
        beta[k, 12 * k : 12 * k + 12] = rng.dirichlet(np.full(12, 2.0))
    common = np.append(np.zeros(240), rng.dirichlet(np.full(60, 1.0)))
    z = rng.choice(K, n, p=rng.dirichlet(np.full(K, 10.0)))
    X = rng.multinomial(length, (1 - background) * beta[z] + background * common).astype(float)
    return sparse.csr_matrix(X), z, beta


X, Z, BETA = corpus()
SMALL = X[:400]
SEEDS = range(4)


def test_fit_predict_is_fit_and_predict():
    found = StreamingMixture(K, random_state=0).fit_predict(SMALL)
    model = StreamingMixture(K, random_state=0).fit(SMALL)
    assert_array_equal(found, model.predict(SMALL))
    piped = make_pipeline("passthrough", StreamingMixture(K, random_state=0))
    assert_array_equal(piped.fit_predict(SMALL, Z[:400]), found)


@cache
def batch_em(seed, n_iter=40, share=0.8):
    """Clusters by plain EM over the whole corpus, started from documents."""
    D, rng = X.toarray(), np.random.default_rng(seed)
    background, pi = D.sum(axis=0) / D.sum(), np.full(K, 1 / K)
    beta = 0.7 * background + 0.3 * D[rng.choice(len(D), K, replace=False)] / 6
    for _ in range(n_iter):
        own = share * beta
        m = own + (1 - share) * background + 1e-300
        log_q = np.log(pi) + X @ np.log(m).T
        q = np.exp(log_q - logsumexp(log_q, axis=1, keepdims=True))
        tokens = q.T @ D
        learnt = own / m * tokens
        background = (tokens - learnt).sum(axis=0) / (tokens - learnt).sum()
        beta = (learnt + 0.02) / (learnt + 0.02).sum(axis=1, keepdims=True)
        pi = q.mean(axis=0)
    return q.argmax(axis=1)


@each_update
def test_known_clusters_are_found(update):
    """As well as by EM over the whole, which also leaves two clusters as one at times."""
    by_em = [nmi(Z, batch_em(seed)) for seed in SEEDS]
    found = [
        StreamingMixture(K, update=update, random_state=seed).fit(X).predict(X) for seed in SEEDS
    ]
    assert np.mean([nmi(Z, own) for own in found]) > max(0.95, np.mean(by_em) - 0.01)
    assert np.mean([len(np.unique(own)) for own in found]) >= K - 2


def test_the_background_has_the_words_that_all_have():
    model = StreamingMixture(K, random_state=0).fit(X)
    assert_allclose(model.background_.sum(), 1)
    assert model.background_[240:].sum() > 0.6
    common = model.topic_word_[:, 240:].sum(axis=1)
    assert np.median(common) < 0.1
    assert model.weights_ @ common < 0.1
    without = StreamingMixture(K, background=0.0, random_state=0).fit(X)
    assert np.isnan(without.background_).all()
    assert without.background_.shape == (V,)
    assert nmi(Z, without.predict(X)) > 0.8


def test_weights_are_as_unequal_as_the_clusters():
    """But for the floor of one percent, which all have together; the prior knows which is which."""
    large, small = np.flatnonzero(Z == 0), np.flatnonzero(Z == 1)[:10]
    rows = np.random.default_rng(0).permutation(np.concatenate([large[:90], small]))
    prior = 0.02 + 2.0 * (BETA[:2] > 0)
    model = StreamingMixture(2, topic_word_prior=prior, max_iter=6, random_state=0).fit(X[rows])
    assert_allclose(model.weights_, [0.9, 0.1], atol=0.03)
    assert model.weights_.min() > 0.01 / 2


@each_update
@pytest.mark.parametrize("background", [0.2, 0.0])
def test_shapes_and_sums(update, background):
    model = StreamingMixture(K, update=update, background=background, random_state=0).fit(SMALL)
    theta, found = model.transform(SMALL), model.predict(SMALL)
    assert_allclose(theta.sum(axis=1), 1, rtol=1e-6)
    assert np.all(theta >= 0)
    assert_array_equal(found, theta.argmax(axis=1))
    assert found.dtype == np.int64
    assert np.all(model.components_ > 0)
    assert_allclose(model.topic_word_, model.components_ / model.components_.sum(axis=1)[:, None])
    assert model.weights_.shape == model.topic_weights_.shape == (K,)
    assert -np.log(V) < model.score(X[400:800]) < 0


def test_rows_are_the_posterior_of_the_model_that_was_learnt():
    """theta_dk ~ alpha_k prod_w (.8 beta_kw + .2 b_w)^n_dw, by the fitted attributes alone."""
    model = StreamingMixture(K, random_state=0).fit(SMALL)
    m = 0.8 * model.topic_word_ + 0.2 * model.background_
    log_q = np.log(model.weights_) + X[:60] @ np.log(m).T
    q = np.exp(log_q - logsumexp(log_q, axis=1, keepdims=True))
    assert_allclose(model.transform(X[:60]), q, rtol=1e-8, atol=1e-12)


def test_the_right_number_of_clusters_scores_best():
    held_out = X[1500:]
    scores = [StreamingMixture(k, random_state=0).fit(X[:1500]).score(held_out) for k in (2, K)]
    assert scores[1] > scores[0] + 0.3


def test_a_seed_word_in_the_prior_says_which_cluster_is_which():
    order = np.random.default_rng(3).permutation(K)
    prior = np.full((K, V), 0.02)
    for k, cluster in enumerate(order):
        prior[k, np.argsort(-BETA[cluster])[:3]] = 3
    model = StreamingMixture(K, topic_word_prior=prior, random_state=0).fit(X)
    assert (order[model.predict(X)] == Z).mean() > 0.9


@each_update
def test_parts_of_their_own_accord_are_of_150_documents(update):
    auto = StreamingMixture(K, update=update, random_state=0)
    said = clone(auto).set_params(schedule=Schedule(150)).fit(SMALL)
    assert_array_equal(auto.fit(SMALL).components_, said.components_)
    assert_array_equal(auto.weights_, said.weights_)


@pytest.mark.parametrize(("update", "size"), [("hpp", 150), ("mhpp", 150), (Window(3), None)])
def test_rules_of_a_whole_minibatch_take_it_whole_unless_they_settle_a_rate(update, size):
    auto = StreamingMixture(K, update=update, batch_size=200, max_iter=1, random_state=0)
    said = clone(auto).set_params(schedule=Schedule(size)).fit(SMALL)
    assert_array_equal(auto.fit(SMALL).components_, said.components_)
    assert (auto.posterior_.n_batches == 2) == (size is None)


def test_documents_without_words_count_but_start_nothing(monkeypatch):
    sizes, plainly, empty = [], OneTopic.step, sparse.csr_matrix((50, V))

    def counted(self, minibatch, *args, **kwargs):
        sizes.append(minibatch.n_documents)
        return plainly(self, minibatch, *args, **kwargs)

    model = StreamingMixture(K, random_state=0).partial_fit(empty)
    monkeypatch.setattr(OneTopic, "step", counted)
    seen = [model.n_documents_seen_]
    seen += [model.partial_fit(part).n_documents_seen_ for part in (X[:1000], empty)]
    assert max(sizes) <= 150
    assert seen == [50, 1050, 1100]


def test_no_token_is_lost():
    model = StreamingMixture(K, random_state=0).fit(SMALL)
    assert model.n_iter_ == 2
    assert_allclose(model.n_tokens_seen_, 2 * SMALL.sum())
    assert_allclose(model.posterior_.learnt_part.sum(), 2 * SMALL.sum(), rtol=1e-9)
    assert model.components_.sum() < model.posterior_.mass.sum()


@pytest.mark.parametrize(("parameters", "words"), [
    ({"background": 1.0}, ["background", "1.0"]),
    ({"background": -0.1}, ["background", "-0.1"]),
    ({"topic_word_prior": 0.0}, ["topic_word_prior", "0.0"]),
    ({"update": "forget"}, ["update", "forget", "power_prior"]),
    ({"update": SVB}, ["update", "SVB", "PowerPrior(0.9)"]),
    ({"update": Window(3), "schedule": Schedule(150)}, ["inner_batch_size", "Window", "None"]),
    ({"schedule": 0.5}, ["schedule", "0.5"]),
    ({"schedule": Schedule(growth=3.0), "update": "svi"}, ["StochasticVI", "schedule__growth"]),
], ids=str)  # fmt: skip
def test_wrong_parameters_are_refused_by_name_value_and_remedy(parameters, words):
    with pytest.raises((ValueError, TypeError)) as raised:
        StreamingMixture(**({"n_components": 5} | parameters)).fit(SMALL)
    for word in words:
        assert word in str(raised.value)
