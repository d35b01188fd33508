# SPDX-License-Identifier: BSD-3-Clause
"""Estimators that forget: what they keep, what they report, and when they warn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics import StreamingLDA
from streamtopics.datasets import make_lda_corpus
from streamtopics.local import Variational
from streamtopics.updates import PopulationVB
from tests.plain import SVBHPP, SVBLDA

N_TOPICS, N_WORDS = 5, 300


def power_prior(n_components=2, rho=0.9, **parameters):
    return StreamingLDA.preset("PowerPriorLDA", n_components, update__rho=rho, **parameters)


def batch(topic_word, seed, n=400, length=200):
    alpha = np.full(len(topic_word), 0.5)
    return make_lda_corpus(
        n, mean_length=length, topic_word=topic_word, doc_topic_prior=alpha, random_state=seed
    ).X


def topics_before_and_after(seed):
    """Topics on words of their own, one of which takes three in ten of its words elsewhere."""
    rng = np.random.default_rng(seed)
    before = np.full((N_TOPICS, N_WORDS), 1e-4)
    for k in range(N_TOPICS):
        before[k, 40 * k : 40 * (k + 1)] = rng.dirichlet(np.ones(40))
    before /= before.sum(axis=1, keepdims=True)
    after = before.copy()
    elsewhere = np.full(N_WORDS, 1e-4)
    elsewhere[200:] = rng.dirichlet(np.ones(100))
    after[2] = 0.7 * before[2] + 0.3 * elsewhere / elsewhere.sum()
    return before, after


def learn_through_a_change(model, seed):
    """Six minibatches before the change and one after; returns the topic that changed."""
    before, after = topics_before_and_after(seed)
    for t in range(6):
        model.partial_fit(batch(before, 100 * seed + t), time=1990 + t)
    changed = int(np.argmax(model.topic_word_ @ before[2]))
    model.partial_fit(batch(after, 100 * seed + 6), time=1996)
    return changed


def test_rates_of_topics_forget_the_topic_that_changed_alone():
    """In most streams; in some the topic that changed is taken up by another one."""
    found = []
    settings = {"rate_starts": (0.95,), "doc_topic_prior": 0.5, "inference": Variational(1e-4, 100)}
    for seed in range(10):
        model = SVBHPP(N_TOPICS, rate="topic", random_state=seed, **settings)
        changed = learn_through_a_change(model, seed)
        found.append(model.retention_[changed] < 0.2)
        assert (np.delete(model.retention_, changed) > 0.8).all()
        assert (model.retention_history_[1:6] > 0.9).all()
    assert sum(found) >= 7


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_shared_rate_forgets_all(seed):
    model = SVBHPP(N_TOPICS, doc_topic_prior=0.5, random_state=seed)
    learn_through_a_change(model, seed)
    assert (model.retention_ < 0.2).all()
    assert (model.retention_history_[1:6] > 0.9).all()
    assert [record.batch for record in model.drift_] == [*range(1, 8)]
    assert model.drift_[0].time == 1990
    assert_array_equal(model.drift_[-1].retention, model.retention_)
    assert_allclose(model.drift_[-1].effective_sample_size, model.effective_sample_size_)


def test_history_is_bounded(monkeypatch):
    monkeypatch.setattr("streamtopics.updates.drift.KEPT_MINIBATCHES", 3)
    model = power_prior(random_state=0)
    for _ in range(5):
        model.partial_fit([[1.0, 2.0, 0.0]])
    assert [record.batch for record in model.drift_] == [3, 4, 5]
    assert model.retention_history_.shape == (3, 2)


def test_a_power_prior_that_keeps_all_is_svb():
    X = batch(topics_before_and_after(0)[0], 0, n=60, length=50)
    keeping = power_prior(4, 1.0, batch_size=20, random_state=0).fit(X)
    svb = SVBLDA(4, batch_size=20, random_state=0).fit(X)
    assert_array_equal(keeping.components_, svb.components_)


def test_a_population_never_counts_for_more_than_its_size():
    X = batch(topics_before_and_after(0)[0], 0, n=200, length=50)
    settings = {"update": PopulationVB(30, 0.5), "batch_size": 10, "random_state": 0}
    model = StreamingLDA.preset("PopulationVBLDA", 4, **settings).fit(X)
    mass = model.components_.sum() - 4 * N_WORDS * 0.05
    assert_allclose(mass, 30 * 50, rtol=0.1)


def test_what_is_forgotten_to_and_what_is_boosted_are_two_priors():
    """A seed word that the stream never says stays in its topic; without a boost it goes."""
    seeded = np.full((2, 20), 0.01)
    seeded[0, 19] = 1.0
    X = np.zeros((50, 20))
    X[:, :10] = np.random.default_rng(0).poisson(1.0, (50, 10))
    share = {}
    for scale in (0.0, 0.2):
        model = power_prior(
            2, 0.5, topic_word_prior=0.01, boosted_prior=seeded if scale else None,
            update__boost__scale=scale, random_state=0,
        )  # fmt: skip
        for _ in range(20):
            model.partial_fit(X)
        share[scale] = model.topic_word_[:, 19]
        boosts = scale * X.sum() / 0.5 / seeded.sum()
        assert_allclose(model.components_[:, 19], 0.01 + boosts * seeded[:, 19], rtol=1e-4)
    assert (share[0.0] < 1e-3).all()
    assert share[0.2][0] > 0.1 > share[0.2][1]


def test_an_update_that_is_too_extreme_leaves_no_record(monkeypatch):
    model = SVBHPP(2, random_state=0).partial_fit([[1.0, 2.0, 0.0]])
    monkeypatch.setattr("streamtopics.updates.Boost.weight", lambda *_: 1e300)
    with pytest.raises(ValueError, match="infinite or undefined"):
        model.set_params(boosting_scale=0.1).partial_fit([[1.0, 2.0, 0.0]])
    assert len(model.drift_) == model.n_batch_iter_ == 1


def test_bins_of_the_counts_leave_results_as_they_are(monkeypatch):
    """E[rho] by sums over bins is that of reading all words, but for rounding."""
    before, after = topics_before_and_after(0)
    data = [batch(before, t, n=20, length=20) for t in range(4)]
    data.append(batch(after, 9, n=20, length=20))
    models = []
    for least in (0, 10**9):
        monkeypatch.setattr("streamtopics.posteriors.rows.LEAST_WORDS", least)
        monkeypatch.setattr("streamtopics.posteriors.rows.SHARE", 1 if least == 0 else 2)
        model = SVBHPP(N_TOPICS, doc_topic_prior=0.5, random_state=0)
        for X in data:
            model.partial_fit(X)
        models.append(model)
    assert_allclose(models[0].retention_history_, models[1].retention_history_, rtol=1e-9)
    assert_allclose(models[0].components_, models[1].components_, rtol=1e-9)
