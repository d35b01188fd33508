# SPDX-License-Identifier: BSD-3-Clause
"""Clusters that are born and die along streams of which it is known which come and go when."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics import StreamingMixture, load, save, updates
from streamtopics.estimators import Schedule
from streamtopics.updates import BPS, SVB, DirichletProcess, MeanDecay, Memory, OnlineEM, PowerPrior

V, N = 300, 240
NAMES = np.array([f"w{v}" for v in range(V)])
UPDATES = [
    PowerPrior(Memory(1500)), PowerPrior(0.8), OnlineEM(MeanDecay(0.5)), SVB(), BPS(0.05)
]  # fmt: skip
each_update = pytest.mark.parametrize("update", UPDATES, ids=str)
# Clusters of each minibatch: 3 goes with the fourth, 6 comes with the third, 7 with the sixth.
STREAM = [
    (0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5), (0, 1, 2, 3, 4, 5, 6), (0, 1, 2, 4, 5, 6),
    (0, 1, 2, 4, 5, 6), (0, 1, 2, 4, 5, 6, 7), (0, 1, 2, 4, 5, 6, 7), (0, 1, 2, 4, 5, 6, 7),
]  # fmt: skip


def minibatch(clusters, seed, n=N, length=7):
    """Documents of clusters of 24 words each, a fifth of whose words are of 60 others."""
    rng = np.random.default_rng(seed)
    z = rng.choice(clusters, n)
    own = 24 * z[:, None] + rng.integers(24, size=(n, length))
    common = 240 + rng.integers(60, size=(n, length))
    words = np.where(rng.random((n, length)) < 0.2, common, own)
    rows = np.repeat(np.arange(n), length)
    return sparse.csr_matrix((np.ones(n * length), (rows, words.ravel())), (n, V)), z


def streamed(model, stream=STREAM, seed=0):
    for t, clusters in enumerate(stream):
        model.partial_fit(minibatch(clusters, 100 * seed + t)[0], time=f"day {t + 1}")
    return model


def model(update=UPDATES[0], **given):
    settings = {"births": DirichletProcess(), "random_state": 0} | given
    return StreamingMixture(15, update=update, **settings)


def cluster_of(life):
    """The cluster that a life is of, by its words at birth."""
    words = np.array(life.words)
    return int(np.bincount(words[words < 240] // 24).argmax())


def the_dead(found):
    (dead,) = (life for life in found.births_ if life.died is not None)
    return dead


@each_update
@pytest.mark.parametrize("seed", [0, 1])
def test_clusters_that_come_and_go_are_found_when_they_do(update, seed):
    found = streamed(model(update), seed=seed)
    lives = {cluster_of(life): life for life in found.births_}
    assert len(found.births_) == len(lives) == 8
    assert {k: life.born for k, life in lives.items()} == dict.fromkeys(range(6), 1) | {6: 3, 7: 6}
    assert lives[3] == the_dead(found)
    assert lives[3].died in (4, 5)
    assert lives[3].died_time == f"day {lives[3].died}"
    assert (lives[6].born_time, found.n_alive_) == ("day 3", 7)


def test_those_that_stay_keep_their_places():
    early, late = streamed(model(), STREAM[:1]), streamed(model())
    lives = {cluster_of(life): life for life in late.births_}
    for life in early.births_:
        if cluster_of(life) != 3:
            same = lives[cluster_of(life)]
            assert (same.topic, same.born) == (life.topic, 1)
    X, z = minibatch(STREAM[-1], 99)
    place = {k: life.topic for k, life in lives.items()}
    assert np.mean(late.predict(X) == np.array([place[k] for k in z])) > 0.97


@pytest.mark.parametrize("seed", range(3))
def test_on_a_stream_that_stays_the_same_nothing_is_born_or_dies(seed):
    """At most one in ten minibatches."""
    found = streamed(model(), [tuple(range(10))] * 10, seed=seed + 7)
    later = [life for life in found.births_ if life.born > 1 or life.died is not None]
    assert len(later) <= 1
    assert 10 <= found.n_alive_ <= 11


def test_small_clusters_do_not_die_of_chance():
    """Of five documents to be expected some minibatches have none."""
    rng, found = np.random.default_rng(0), model()
    for t in range(12):
        X, _ = minibatch((0, 1), t, 200)
        few, _ = minibatch((2,), 50 + t, int(rng.poisson(5)) + 20 * (t == 0))
        found.partial_fit(sparse.vstack([X, few]).tocsr())
    assert [life.died for life in found.births_] == [None] * 3


def test_without_silence_only_forgetting_ends_a_life():
    quick = streamed(model(PowerPrior(Memory(300))))
    forgetting = DirichletProcess(silence=None)
    slow = streamed(model(PowerPrior(Memory(300)), births=forgetting), [*STREAM, *STREAM[-1:] * 3])
    died = [next(li.died for li in m.births_ if cluster_of(li) == 3) for m in (quick, slow)]
    assert died[0] < died[1]
    kept = model(SVB(), births=forgetting, schedule=Schedule(growth=1.0))
    streamed(kept, [*STREAM, *STREAM[-1:] * 3])
    assert all(life.died is None for life in kept.births_)


def test_a_place_is_given_to_another_cluster():
    stream = [(0, 1, 2)] * 2 + [(0, 1, 3)] * 2 + [(0, 1, 4)] * 2 + [(0, 1, 5)] * 2
    found = streamed(StreamingMixture(
        4, update=UPDATES[0], births=DirichletProcess(), random_state=0), stream)  # fmt: skip
    assert [cluster_of(life) for life in found.births_[-3:]] == [3, 4, 5]
    assert len({life.topic for life in found.births_}) <= 4
    assert found.n_alive_ == 3


def test_full_places_are_told_once_and_nothing_else_changes(recwarn, caplog):
    warnings.simplefilter("default")
    found = StreamingMixture(3, births=DirichletProcess(), random_state=0)
    caplog.set_level("INFO", "streamtopics")
    for t in range(4):
        found.partial_fit(minibatch(range(5 + t), t)[0])
        assert found.n_alive_ == 3
    (one,) = recwarn
    assert one.category is UserWarning
    assert str(one.message).startswith("all 3 clusters are taken, so that no more are born")
    assert len(caplog.messages) == 4
    assert caplog.messages[0] == "minibatch 1: 2 clusters not born"


@each_update
def test_a_dead_cluster_leaves_nothing_but_the_prior(update):
    found = streamed(model(update), STREAM[:5])
    alive = np.array([life.topic for life in found.births_ if life.died is None])
    posterior, free = found.posterior_, np.setdiff1d(np.arange(15), alive)
    assert the_dead(found).topic in free
    assert_array_equal(posterior.learnt_part[1:][free], 0.0)
    assert_allclose(posterior.c, posterior.c[0])
    assert_allclose(found.components_[free], posterior.c[0] * 0.02)
    assert_array_equal(found.weights_[free], 0.0)
    assert (found.weights_[alive] > 0.02).all()
    assert_array_equal(found.transform(minibatch(STREAM[4], 3)[0])[:, free], 0.0)


@pytest.mark.parametrize("inner_batch_size", [None, 50])
def test_seeds_of_new_clusters_leave_no_trace(inner_batch_size):
    """Each document and each token counts once."""
    found = model(SVB(), schedule=Schedule(inner_batch_size, 1.0, None))
    streamed(found, STREAM[:3])
    assert [life.born for life in found.births_] == [1] * 6 + [3]
    assert_allclose(found.posterior_.alpha[1:].sum(), 3 * N)
    assert_allclose(found.posterior_.learnt_part.sum(), 3 * N * 7)
    assert found.n_documents_seen_ == 3 * N


def test_documents_at_birth_are_those_of_the_minibatch():
    found = streamed(model(), STREAM[:3])
    z = minibatch(STREAM[2], 2)[1]
    assert_allclose(found.births_[-1].documents, np.sum(z == 6), atol=2)


def test_shares_are_those_of_the_stream():
    found = streamed(model(), [tuple(range(5))] * 5)
    z = np.concatenate([minibatch(range(5), t)[1] for t in range(5)])
    place = {cluster_of(life): life.topic for life in found.births_}
    shares = [found.weights_[place[k]] for k in range(5)]
    assert_allclose(shares, np.bincount(z) / len(z), atol=0.03)
    assert_allclose(found.weights_.sum(), 1)


def test_words_of_births_and_deaths():
    rows = streamed(model()).births_report(NAMES)
    (dead,) = (row for row in rows if row.died is not None)
    own = {f"w{v}" for v in range(72, 96)}
    for words in (dead.words, dead.last_words):
        assert len(own.intersection(words)) >= 8
    assert dead.words != dead.last_words
    assert all(row.last_words == () for row in rows if row.died is None)


@each_update
def test_a_stream_cut_and_resumed_equals_the_uncut_one(update):
    uncut, cut = streamed(model(update)), model(update)
    for t, clusters in enumerate(STREAM):
        cut = pickle.loads(pickle.dumps(cut))
        cut.partial_fit(minibatch(clusters, t)[0], time=f"day {t + 1}")
    assert_array_equal(uncut.components_, cut.components_)
    assert_array_equal(uncut.posterior_.alpha, cut.posterior_.alpha)
    assert uncut.births_ == cut.births_


@pytest.mark.parametrize("time", [pd.Timestamp("2024"), pd.Period("2024"), pd.NaT, pd.NA], ids=str)
def test_times_of_pandas_are_saved(time, tmp_path):
    found = model().partial_fit(minibatch((0,), 0)[0], time=time)
    save(found, tmp_path / "model")
    assert load(tmp_path / "model").births_ == found.births_


def test_deaths_are_drift_and_free_places_are_not():
    found = streamed(model())
    (record,) = (record for record in found.drift_ if record.retention.min() < 0.5)
    assert record.time == the_dead(found).died_time
    assert np.flatnonzero(record.retention == 0).tolist() == [the_dead(found).topic]


@pytest.mark.parametrize("update", [updates.HierarchicalPowerPrior(), updates.Window(3)], ids=str)
def test_rules_that_take_minibatches_whole_are_refused(update):
    with pytest.raises(ValueError, match="births need a rule for parts of a minibatch"):
        model(update, schedule=Schedule(None)).partial_fit(minibatch((0,), 0)[0])


def test_knowledge_of_places_is_refused():
    X, prior = minibatch((0,), 0)[0], np.full((15, V), 0.02)
    prior[0, 0] = 1.0
    for given in ({"boosted_prior": 0.1, "update": BPS(0.1)}, {"topic_word_prior": prior}):
        with pytest.raises(ValueError, match="clusters must share one prior"):
            model(**given).partial_fit(X)


def test_merging_is_refused():
    one, other = streamed(model(SVB()), STREAM[:1]), streamed(model(SVB()), STREAM[:1])
    before = one.components_
    with pytest.raises(TypeError, match="its topics have no fixed places"):
        one.merge(other)
    assert_array_equal(one.components_, before)


@pytest.mark.parametrize("then", [None, DirichletProcess(2.0, 20)])
def test_births_are_those_of_the_start(then):
    X = minibatch((0,), 0)[0]
    with pytest.raises(ValueError, match=r"births is .* now, but the model was started with"):
        model().partial_fit(X).set_params(births=then).partial_fit(X)
    with pytest.raises(ValueError, match=r"births is .* now, but the model was started with None"):
        model(births=None).partial_fit(X).set_params(births=DirichletProcess()).partial_fit(X)
