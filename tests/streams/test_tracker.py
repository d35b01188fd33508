# SPDX-License-Identifier: BSD-3-Clause
"""Which topic is which along a stream, and what is new."""

import copy
import pickle
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics import (
    BPSLDA,
    SVBLDA,
    GibbsOnlineEM,
    GuidedTopics,
    HDPGibbsOnlineEM,
    StreamingBayes,
    StreamingLDA,
    StreamingMixture,
    TopicStream,
)
from streamtopics.streams import TimedBatch, TopicTracker, stream
from streamtopics.streams.tracking import identity
from streamtopics.streams.tracking import tracker as tracker_module
from streamtopics.streams.tracking.identity import (
    DENSE,
    Position,
    Rows,
    Snapshot,
    affinity_matrix,
    completed,
    distance,
    layout,
    match_topics,
    matching,
    probabilities_in,
    read_topics,
    sampled,
    thinned,
)
from streamtopics.text import NamedCounts, StreamingCountVectorizer, StreamingPipeline
from streamtopics.updates import DirichletProcess, Memory, PowerPrior
from tests import plain
from tests.saving.state import is_same
from tests.small import COUNTS, SEA, SKY
from tests.streams.topic_streams import (
    DRAWN,
    EVENT,
    KINDS,
    N_BATCHES,
    N_WORDS,
    documents,
    info_of,
    truth,
)

ALL = float("inf")
NONE = documents("none", 0, n=1)
MODELS = {
    "StreamingLDA": lambda: StreamingLDA(6, random_state=0),
    "GibbsOnlineEM": lambda: GibbsOnlineEM(6, kappa=0.5, random_state=0),
    "SVBLDA": lambda: SVBLDA(6, random_state=0),
    "BPSLDA": lambda: BPSLDA(6, boosting_scale=0.1, random_state=0),
    "StreamingMixture": lambda: StreamingMixture(6, random_state=0),
    "HDPGibbsOnlineEM": lambda: HDPGibbsOnlineEM(random_state=0),
}


def follow(model, kind="none", batches=range(N_BATCHES), tracker=None):
    """Learn minibatches of a stream and follow them."""
    tracker = TopicTracker(budget=ALL) if tracker is None else tracker
    for t in batches:
        X = documents(kind, t)
        tracker.on_batch(model.partial_fit(X), info_of(X, t, time=2000 + t))
    return tracker


def kept(model, X, ids, before):
    """Share of the tokens whose row has the id that it should."""
    shares = read_topics(model, X, 10, {}, None)["use"]
    return shares[ids == before].sum() / shares.sum()


def permuted(model, order):
    """A copy with its topics in another order."""
    out, hidden = copy.deepcopy(model), model._n_hidden
    posterior = out._commit.posterior
    whole = np.concatenate([np.arange(hidden), hidden + np.asarray(order)])
    permuted = posterior.with_topics(whole, posterior.alpha[whole])
    out._commit = replace(out._commit, posterior=permuted)
    return out


class Shown:
    """Stands for a model whose topics are the true ones, estimated from a number of tokens."""

    n_features_in_ = N_WORDS

    def __init__(self, kind, batch, order=None, n_tokens=20_000, seed=0):
        self.truth, rng = truth(kind, batch), np.random.default_rng([seed, batch])
        n = rng.multinomial(n_tokens, self.truth.shares)
        table = rng.multinomial(n, self.truth.topic_word)
        order = np.arange(len(n)) if order is None else rng.permutation(len(n))
        self.names = [self.truth.names[i] for i in order]
        self.table, self.use = (table / table.sum(axis=1, keepdims=True))[order], n[order]


@pytest.fixture
def shown(monkeypatch):
    """Have trackers look at what is shown to them."""

    def read(model, _, n_words, number, __):
        columns = np.argsort(-model.table, axis=1, kind="stable")[:, :n_words]
        found = np.zeros(len(columns), layout(n_words))
        found["row"], found["use"] = np.arange(len(columns)), model.use
        found["squares"] = model.use
        words = [number.setdefault(w, len(number)) for w in columns.ravel().tolist()]
        found["words"] = np.reshape(words, columns.shape)
        found["weights"] = np.take_along_axis(model.table, columns, axis=1)
        found["kept"] = found["weights"].sum(axis=1)
        found["weights"] /= found["kept"][:, None]
        return found

    monkeypatch.setattr(tracker_module, "check_has_topics", lambda model: None)
    monkeypatch.setattr(identity, "read_topics", read)


def follow_truth(kind, order=None, seed=0, time=lambda t: t):
    """Follow true topics; return the tracker, and each topic's ids with its tokens by id."""
    tracker, tokens = TopicTracker(budget=ALL), {}
    for t in range(N_BATCHES):
        model = Shown(kind, t, order, seed=seed)
        tracker.on_batch(model, info_of(NONE, t, time(t)))
        for name, use, topic in zip(model.names, model.use, tracker.ids_.tolist(), strict=True):
            own = tokens.setdefault(name, {})
            own[topic] = own.get(topic, 0) + int(use)
    return tracker, tokens


@pytest.mark.parametrize("order", [None, "shuffled at each look"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_true_topics_keep_their_ids(shown, kind, order, seed):
    tracker, tokens = follow_truth(kind, order, seed)
    main = {name: max(own, key=own.get) for name, own in tokens.items()}
    right = sum(tokens[name][topic] for name, topic in main.items())
    assert right / sum(sum(own.values()) for own in tokens.values()) >= 0.95
    assert {main[f"lasting {k}"] for k in range(4)} == {
        row.topic for row in tracker.topics() if row.alive and row.born == 1 and row.share > 0.1
    } - {main[name] for name in main if not name.startswith("lasting")}


@pytest.mark.parametrize("order", [None, "shuffled at each look"])
def test_births_deaths_splits_and_merges_are_found_when_they_are(shown, order):
    row = {kind: {r.topic: r for r in follow_truth(kind, order)[0].topics()} for kind in KINDS}
    assert [len(row[kind]) for kind in KINDS] == [4, 5, 5, 5, 6, 6]
    assert all(r.alive and r.born == 1 for r in row["none"].values())
    assert all(r.alive for r in row["drifts"].values())
    born = row["born"][4]
    assert (born.born, born.born_time, born.split_from, born.alive) == (15, EVENT, None, True)
    dead = [r for r in row["dies"].values() if not r.alive]
    assert [(r.died, r.died_time, r.last_seen, r.merged_into) for r in dead] == [(15, 14, 14, None)]
    split = [r for r in row["splits"].values() if r.born > 1]
    assert [(r.born, r.alive) for r in split] == [(15, True)]
    whole = row["splits"][split[0].split_from]
    assert (whole.born, whole.alive) == (1, True)
    gone = [r for r in row["merges"].values() if not r.alive]
    assert [(r.died, r.split_from) for r in gone] == [(15, None)]
    into = row["merges"][gone[0].merged_into]
    assert (into.born, into.alive) == (1, True)


def test_a_topic_that_comes_back_has_its_id(shown):
    tracker = TopicTracker(budget=ALL)
    for t in (*range(EVENT + 6), *range(6)):
        tracker.on_batch(Shown("dies", t), info_of(NONE, t))
    rows = tracker.topics()
    assert [(row.alive, row.died, row.born) for row in rows] == [(True, None, 1)] * 5


def test_a_row_that_is_taken_over_is_another_topic_and_one_that_drifts_is_not(shown):
    def run(n):
        tracker = TopicTracker(budget=ALL)
        for t in range(60):
            model = Shown("none", t)
            share = np.clip((t - 20) / n, 0, 1)
            model.table[0] = (1 - share) * DRAWN[0] + share * DRAWN[5]
            tracker.on_batch(model, info_of(NONE, t))
        return tracker

    fast, slow = run(8), run(40)
    assert len(fast.topics()) == 5
    assert len(slow.topics()) == 4
    assert [row.alive for row in fast.topics()] == [False, True, True, True, True]
    # It is known for what it was.
    first = fast.topics()[0]
    assert set(first.words[:5]) == set(np.argsort(-DRAWN[0])[:5].tolist())
    words = [probabilities_in(snapshot)[0] for snapshot in slow._state.snapshots]
    assert len({*words[0][0][:10]} & {*words[-1][0][:10]}) < 3
    assert max(distance(*pair) for pair in pairwise(words)) < 0.5


def test_affinity_is_one_less_the_squared_hellinger_distance():
    p, q = np.random.default_rng(0).dirichlet(np.ones(6), 2)
    words = np.arange(6, dtype=np.int32)
    found = affinity_matrix([(words, p)], [(words, q), (words, p), (words + 6, p)])
    hellinger = 0.5 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum()
    assert_allclose(found, [[1 - hellinger, 1.0, 0.0]], atol=1e-15)


def hellinger(p, q):
    return np.sqrt(0.5 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=-1))


def leading(p, n):
    words = np.argsort(-p, kind="stable")[:n]
    return words.astype(np.int32), p[words]


def test_the_distance_is_hellingers_where_all_words_are_kept():
    for p, q in np.random.default_rng(1).dirichlet(np.full(8, 0.5), (20, 2)):
        assert_allclose(distance(leading(p, 8), leading(q, 8)), hellinger(p, q), rtol=1e-9)
    assert distance(leading(p, 8), leading(p, 8)) == 0
    # Of words that follow each other alike, only how much they are together tells.
    broad = np.append(0.5 * p, 0.5)
    words, few = np.arange(8, dtype=np.int32), np.append(0.9 * p, 0.1)
    expected = hellinger(np.array([0.9, 0.1]), np.array([0.5, 0.5]))
    assert_allclose(distance((words, few[:8]), (words, broad[:8])), expected)
    one, other = (words[:4], np.array([0.4, 0.3, 0.2, 0.1])), (words[4:], np.full(4, 0.25))
    assert distance(one, other) == 1
    assert np.isnan(distance(one, None))


def test_words_that_change_places_at_the_end_of_the_list_hardly_move_a_topic():
    p = 1.0 / np.arange(3, 203)
    p /= p.sum()
    q = p.copy()
    q[[29, 30]] = q[[30, 29]]
    q[40:60] *= 1.1
    assert distance(leading(p, 30), leading(q / q.sum(), 30)) < 0.01
    # What takes in other words is far from what it was.
    assert distance(leading(p, 30), leading(np.roll(p, 100), 30)) > 0.75
    # By hand: words 0 and 1 are kept of one, 0 and 2 of the other.
    one, other = (np.array([0, 1]), np.array([0.5, 0.3])), (np.array([0, 2]), np.array([0.6, 0.2]))
    kept = np.sqrt(0.5 * 0.6) + np.sqrt(0.3 * (2 * 0.2 - 0.3)) + np.sqrt(0.2 * 0.2)
    # Word 2 has all that is left of the first topic, and 0.1 is left of the second.
    assert_allclose(distance(one, other) ** 2, 1 - kept, rtol=1e-9)
    one = one[0], 0.5 * one[1]
    P, Q = 0.25 + 0.15 + 0.1, 0.6 + 0.2 + 0.15
    kept = np.sqrt(0.25 * 0.6) + np.sqrt(0.15 * 0.15) + np.sqrt(0.1 * 0.2)
    expected = kept * (1 + np.sqrt((1 - P) * (1 - Q) / (P * Q)))
    assert_allclose(distance(one, other) ** 2, 1 - expected, rtol=1e-9)


@pytest.mark.parametrize("n_words", [40, 500])
def test_topics_of_documents_of_one_law_do_not_change(n_words):
    """The distances told are near those of the whole topics, where thirty words are kept."""
    rng, model = np.random.default_rng(0), plain.SVBLDA(3, random_state=0)
    tracker = TopicTracker(budget=ALL)
    law, tables = rng.gamma(0.3, 3, size=(3, n_words)), []
    for t in range(8):
        X = rng.poisson(law[rng.integers(3, size=200)] * 20 / n_words).astype(float)
        tracker.on_batch(model.partial_fit(X), info_of(X, t, time=2000 + t))
        tables.append(model.topic_word_.copy())
    assert not [row for row in tracker.news(since=2003) if row.kind == "changed"]
    for t in range(4, 8):
        before, now = map(probabilities_in, tracker._state.snapshots[t - 1 : t + 1])
        moved = hellinger(tables[t], tables[t - 1])
        for row, topic in enumerate(tracker.ids_):
            assert abs(distance(before[topic], now[topic]) - moved[row]) < 0.03


def test_matching_is_the_best_above_the_threshold():
    affinity = np.array([[0.9, 0.8, 0.0], [0.85, 0.1, 0.5]])
    assert_array_equal(matching(affinity, 0.6), [1, 0, -1])
    assert_array_equal(matching(affinity, 0.82), [0, -1, -1])
    assert_array_equal(matching(np.zeros((0, 2)), 0.5), [-1, -1])


def test_only_a_part_of_it_completes_a_whole():
    words = np.arange(4, dtype=np.int32)
    one, two, other = (words, np.array([0.5, 0.5, 0, 0])), (words, np.array([0, 0, 0.5, 0.5])), (
        words + 4, np.full(4, 0.25),
    )  # fmt: skip
    whole = (words, np.full(4, 0.25))
    assert completed([other, whole], [other, one], two) == 1
    assert completed([whole], [one], other) == -1
    # A topic that lacks nothing is no whole of which a part has left.
    assert completed([whole], [whole], two) == -1
    assert completed([], [], two) == -1


@pytest.mark.parametrize("name", MODELS)
def test_ids_outlive_resume_restart_and_another_order(name):
    model = MODELS[name]()
    tracker = follow(model, batches=range(8))
    earlier = copy.deepcopy(model)
    follow(model, batches=range(8, 11), tracker=tracker)
    X, state, before = documents("none", 11), pickle.dumps((model, tracker)), tracker.ids_
    # Resumed: as uncut.
    again, resumed = pickle.loads(state)
    follow(again, batches=range(11, 14), tracker=resumed)
    follow(model, batches=range(11, 14), tracker=tracker)
    assert is_same(resumed._state, tracker._state)
    assert tracker.ids_.shape == model.topic_weights_.shape
    # In another order.
    model, tracker = pickle.loads(state)
    if name != "BPSLDA":
        order = np.random.default_rng(0).permutation(len(before))
        if name == "HDPGibbsOnlineEM":
            order = np.append(order[order != len(order) - 1], len(order) - 1)
        other = permuted(model, order)
        tracker.on_batch(other, info_of(X, 11))
        assert kept(other, X, tracker.ids_, before[order]) >= 0.95
    # An older one in its place.
    tracker = pickle.loads(state)[1]
    if name != "HDPGibbsOnlineEM":
        follow(earlier, batches=[11], tracker=tracker)
        assert kept(earlier, X, tracker.ids_, before) >= 0.95


@pytest.mark.parametrize("name", ["StreamingLDA", "GibbsOnlineEM", "SVBLDA", "StreamingMixture"])
def test_ids_outlive_a_merge(name):
    base = MODELS[name]()
    tracker = follow(base, batches=range(10))
    one, other = copy.deepcopy(base), copy.deepcopy(base)
    follow(one, batches=range(10, 12), tracker=tracker)
    for t in range(12, 14):
        other.partial_fit(documents("none", t))
    before, X = tracker.ids_, documents("none", 14)
    one.merge(other, base=base)
    tracker.on_batch(one, info_of(X, 14))
    assert kept(one, X, tracker.ids_, before) >= 0.95


def test_topics_with_names_are_followed_by_the_words_of_named_counts():
    names = [f"w{j}" for j in range(N_WORDS)]
    seeds = {f"topic {k}": [names[j] for j in np.argsort(-DRAWN[k])[:3]] for k in range(4)}
    model, tracker = GuidedTopics(seeds, random_state=0), TopicTracker(budget=ALL)

    def learn(model, tracker, batches):
        for t in batches:
            X = NamedCounts.of(documents("none", t), names)
            tracker.on_batch(model.partial_fit(X), info_of(X, t, time=t))

    learn(model, tracker, range(5))
    state = pickle.dumps((model, tracker))
    learn(model, tracker, range(5, 8))
    rows = {row.row: row for row in tracker.topics() if row.alive}
    for k, words in enumerate(seeds.values()):
        assert rows[k].born == 1
        assert len({*rows[k].words} & {*words}) >= 2
    model, resumed = pickle.loads(state)
    learn(model, resumed, range(5, 8))
    assert is_same(resumed._state, tracker._state)


def test_ids_outlive_a_model_that_is_fitted_again():
    model, other = (GibbsOnlineEM(4, random_state=seed) for seed in (0, 1))
    tracker = follow(model, batches=range(10))
    words, before = np.argsort(-model.topic_word_, axis=1)[:, :5], tracker.ids_
    for t in range(10):
        other.partial_fit(documents("none", t))
    tracker.on_batch(other, info_of(documents("none", 10), 10))
    after, found = tracker.ids_, np.argsort(-other.topic_word_, axis=1)[:, :5]
    assert set(before) == set(after) == {0, 1, 2, 3}
    for topic in range(4):
        first, second = words[before == topic][0], found[after == topic][0]
        assert len(set(first.tolist()) & set(second.tolist())) >= 4


def test_births_and_deaths_of_clusters_are_those_of_the_model():
    # Their places are free again, and others are born in them.
    rules = {"update": PowerPrior(Memory(500)), "births": DirichletProcess()}
    model = StreamingMixture(8, **rules, random_state=0)
    tracker = follow(model, "dies")
    rows, lives = tracker.topics(), model.births_
    assert [(row.born, row.died) for row in rows] == [(life.born, life.died) for life in lives]
    assert [row.died for row in rows].count(None) == 4
    # The one that died comes back, in whatever place.
    follow(model, "born", range(EVENT, N_BATCHES), tracker)
    alive = [row for row in tracker.topics() if row.alive]
    assert {row.row for row in alive} == {life.topic for life in model.births_ if not life.died}
    assert {row.topic for row in alive} >= set(range(5))


def test_a_row_that_learns_something_new_is_born():
    model = StreamingLDA(5, update=PowerPrior(Memory(750)), random_state=0)
    tracker = follow(model, "born")
    top = set(np.argsort(-DRAWN[4])[:8].tolist())
    born = [row for row in tracker.topics() if row.born > EVENT and set(row.words[:8]) & top]
    assert born
    assert all(EVENT < row.born <= EVENT + 6 for row in born if row.alive)
    news = tracker.news(2000 + EVENT - 1)
    assert any(row.kind in ("born", "split") and set(row.words[:8]) & top for row in news)


def test_words_are_followed_by_name_where_columns_change_hands():
    colours, nails = ["red green blue pink"], ["hammer nail saw file"]
    screws = ["drill screw tape glue"]
    words = StreamingCountVectorizer(max_features=8, half_life=30, n_candidates=20)
    topics = StreamingMixture(2, update=PowerPrior(Memory(60)), background=0, random_state=0)
    model = StreamingPipeline([("words", words), ("topics", topics)])
    tracker, recycled = TopicTracker(budget=ALL), []
    for t in range(24):
        texts = (colours + (nails if t < 12 else screws)) * 20
        model.partial_fit(texts)
        recycled += [t] * len(words.recycled_)
        info = info_of(NONE, t)._replace(X=texts, n_documents=40)
        tracker.on_batch(model, info)
    # The screws have the columns of the nails, and are another topic all the same.
    assert recycled == [12] * 4
    found = {" ".join(sorted(row.words[:4])): (row.born, row.died) for row in tracker.topics()}
    assert found == {
        "blue green pink red": (1, None),
        "file hammer nail saw": (1, 13),
        "drill glue screw tape": (13, None),
    }


@pytest.mark.parametrize("name", ["GibbsOnlineEM", "StreamingMixture", "StreamingLDA"])
def test_use_is_the_expected_number_of_tokens(name):
    model = MODELS[name]().fit(documents("none", 0))
    X = documents("none", 1, n=30)
    number = {}
    found = read_topics(model, X, 12, number, None)
    theta, phi, use = model.transform(X), model.topic_word_, np.zeros((30, 6))
    for d in range(30):
        for w, n in zip(X[d].indices, X[d].data, strict=True):
            use[d] += n * theta[d] * phi[:, w] / (theta[d] @ phi[:, w])
    assert_allclose(found["use"], use.sum(axis=0), rtol=1e-9)
    assert_allclose(found["squares"], (use**2).sum(axis=0), rtol=1e-9)
    columns = np.array(list(number))[found["words"]]
    assert columns.tolist() == [list(row) for row in model.top_words(n_words=12, relevance=1)]
    assert_allclose(found["weights"].sum(axis=1), 1.0)
    expected = np.take_along_axis(phi, columns, axis=1)
    assert_allclose(found["weights"], expected / expected.sum(axis=1, keepdims=True), rtol=1e-12)
    assert_allclose(found["kept"], expected.sum(axis=1), rtol=1e-12)


def test_documents_are_chosen_alike_from_any_container():
    X = documents("none", 0, n=50)
    dense, rows = X.toarray(), [str(i) for i in range(50)]
    chosen = sampled(rows, 7, 3)
    at = [int(row) for row in chosen]
    assert len(at) == 7
    assert at == sorted(set(at))
    assert sampled(rows, 7, 4) != chosen
    assert sampled(rows, 50, 0) is rows
    assert sampled(pytest.importorskip("pyarrow").array(rows), 7, 3).to_pylist() == chosen
    assert_array_equal(sampled(X, 7, 3).toarray(), dense[at])
    assert_array_equal(sampled(X.tocoo(), 7, 3).toarray(), dense[at])
    assert_array_equal(sampled(dense, 7, 3), dense[at])


@pytest.mark.parametrize("name", ["StreamingMixture", "GibbsOnlineEM", "HDPGibbsOnlineEM"])
def test_no_topic_is_born_before_there_are_words(name):
    words = StreamingCountVectorizer(max_features=9, min_df=3)
    model = StreamingPipeline([("words", words), ("topics", MODELS[name]())])
    tracker = TopicTracker(budget=ALL)
    for t, texts in enumerate((["red blue"], ["red"], ["red blue"] * 4)):
        model.partial_fit(texts)
        info = info_of(NONE, t)._replace(X=texts, n_documents=len(texts))
        tracker.on_batch(model, info)
        assert bool(tracker.topics()) == (t == 2)
    assert {row.born for row in tracker.topics()} == {3}


def test_minibatches_without_tokens_change_no_share():
    model = GibbsOnlineEM(4, random_state=0)
    tracker = follow(model, batches=range(5))
    before = [(row.topic, row.share, row.alive) for row in tracker.topics()]
    X = documents("none", 5) * 0
    for t in range(5, 9):
        tracker.on_batch(model.partial_fit(X), info_of(X, t))
    assert [(row.topic, row.share, row.alive) for row in tracker.topics()] == before
    assert_allclose(tracker.shares()[2].sum(axis=1), 1)


def snapshot_at(n, ids=(0,), use=1.0):
    topics = np.zeros(len(ids), layout(2))
    topics["id"], topics["row"], topics["weights"] = ids, np.arange(len(ids)), 0.5
    topics["use"] = topics["squares"] = use
    return Snapshot(Position(n, None, 100 * n), topics, len(ids) * use)


def test_snapshots_are_thinned_out_the_more_the_older_they_are():
    kept = ()
    for n in range(1, 1001):
        kept = thinned((*kept, snapshot_at(n)), 30)
        assert len(kept) <= 30
    batches = [snapshot.position.batch for snapshot in kept]
    assert batches[0] == 1
    assert batches[-DENSE:] == list(range(1001 - DENSE, 1001))
    assert sum(float(snapshot.topics["use"].sum()) for snapshot in kept) == 1000
    ages = 1000 - np.array(batches[1 : -DENSE + 1])
    gaps = np.diff(batches)[1 : len(ages)]
    # A gap is about in proportion to its age.
    assert (gaps <= 0.75 * ages[:-1]).all()
    assert (np.diff(gaps) <= 2 * gaps[:-1]).all()


def test_thinning_keeps_the_tokens_of_topics_that_have_gone():
    first, second = snapshot_at(2, (3, 5), 2.0), snapshot_at(3, (5, 6), 1.0)
    kept = thinned((snapshot_at(1), first, *(snapshot_at(n, (5, 6)) for n in range(3, 14))), 12)
    assert second.position == kept[1].position
    assert kept[1].topics["id"].tolist() == [5, 6, 3]
    assert kept[1].topics["row"].tolist() == [0, 1, -1]
    assert kept[1].topics["use"].tolist() == [3.0, 1.0, 2.0]
    assert kept[1].n_tokens == 6.0


def test_memory_is_bounded(shown, monkeypatch):
    monkeypatch.setattr(tracker_module, "N_SNAPSHOTS", 12)
    monkeypatch.setattr(tracker_module, "KEPT_WORDS", 10)
    tracker, sizes = TopicTracker(budget=ALL), []
    for t in range(160):
        model = Shown("none", t)
        # Every three looks other words take the place of all.
        model.table = np.roll(model.table, 13 * (t // 3), axis=1)
        tracker.on_batch(model, info_of(NONE, t))
        sizes.append(len(pickle.dumps(tracker._state._replace(known=()))))
    assert len(tracker._state.snapshots) == 12
    assert max(sizes[100:]) <= 1.3 * max(sizes[40:80])
    used = {int(w) for s in tracker._state.snapshots for w in s.topics["words"].ravel()}
    used |= {int(w) for topic in tracker._state.known for w in topic.words[0]}
    assert len(tracker._state.names) <= 2 * len(used) + 4 * 10


def test_shares_sum_to_one_and_follow_the_truth(shown):
    tracker, tokens = follow_truth("dies")
    assert [len(row.words) for row in tracker.topics()] == [10] * 5
    times, ids, shares = tracker.shares()
    assert times == list(range(N_BATCHES))
    assert ids.tolist() == [0, 1, 2, 3, 4]
    assert_allclose(shares.sum(axis=1), 1.0)
    other = max(tokens["other"], key=tokens["other"].get)
    assert_allclose(shares[:, ids == other].ravel()[[0, -1]], [0.2, 0.0], atol=0.02)


def test_news_name_what_happened(shown):
    since = EVENT - 1
    found = {kind: follow_truth(kind)[0].news(since, n_words=6) for kind in KINDS}
    assert [(row.kind, row.topic) for row in found["none"]] == []
    [born] = [row for row in found["born"] if row.kind == "born"]
    assert born.share_before == 0
    assert abs(born.share - 0.2) < 0.02
    assert set(born.words) == set(np.argsort(-DRAWN[4])[:6].tolist())
    [gone] = [row for row in found["dies"] if row.kind == "gone"]
    assert gone.share < 0.02
    assert abs(gone.share_before - 0.2) < 0.02
    [changed] = [row for row in found["drifts"] if row.kind == "changed"]
    assert changed.came
    assert changed.left
    assert set(changed.came) <= set(changed.words)
    assert not set(changed.left) & set(changed.words)
    assert [row.other is not None for row in found["splits"] if row.kind == "split"] == [True]
    assert [row.other is not None for row in found["merges"] if row.kind == "merged"] == [True]


def test_news_of_growth_are_no_noise():
    model = GibbsOnlineEM(4, random_state=0)
    tracker = follow(model)
    assert not [row for row in tracker.news(2000 + EVENT) if row.kind in ("grown", "shrunk")]
    # Half of the documents are of one topic.
    rng = np.random.default_rng(0)
    for t in range(N_BATCHES, N_BATCHES + 8):
        counts = documents("none", t).toarray()
        counts[::2] = [rng.multinomial(40, DRAWN[2] / DRAWN[2].sum()) for _ in counts[::2]]
        tracker.on_batch(model.partial_fit(counts), info_of(counts, t, time=2000 + t))
    [grown] = [row for row in tracker.news(2000 + N_BATCHES - 1) if row.kind == "grown"]
    assert grown.share > 1.5 * grown.share_before
    assert len(set(grown.words) & set(np.argsort(-DRAWN[2])[:10].tolist())) >= 8


def test_news_are_since_a_time_or_a_number_of_documents(shown):
    tracker, _ = follow_truth("dies")
    assert repr(tracker.news()) == repr(tracker.news(N_BATCHES - 2))
    by_time = repr(tracker.news(20))
    for t in (N_BATCHES, N_BATCHES + 1):
        tracker.on_batch(Shown("dies", t), info_of(NONE, t))
    assert tracker.shares()[0] == tracker.batches_ == list(range(1, N_BATCHES + 3))
    assert repr(tracker.news(N_BATCHES + 1)) == repr(tracker.news(N_BATCHES - 1))
    tracker, _ = follow_truth("dies", time=lambda t: None)
    assert repr(tracker.news(21)) == by_time


def test_looks_are_bounded_by_the_budget():
    counts = {}
    for budget in (1e-9, 10.0, ALL):
        model, tracker = GibbsOnlineEM(4, random_state=0), TopicTracker(budget=budget)
        follow(model, tracker=tracker, batches=range(40))
        counts[budget] = len(tracker.shares()[0])
        assert tracker.n_batches_ == 40
    assert counts[ALL] == 40
    assert counts[1e-9] == 8  # 1, 2, 3, 5, 8, 12, 18 and 27
    assert 8 <= counts[10.0] <= 40
    assert tracker.topics()[0].born == 1


def test_looks_that_are_far_apart_do_not_make_a_slow_topic_another_one():
    """Of thirty words three are new when the stream is a third longer, and no id is new."""
    known, snapshots, n_topics, batch = (), (), 0, 10.0
    for _ in range(24):
        first = round(10 * np.log(batch))
        words = np.arange(first, first + 30, dtype=np.int32), np.full(30, 1 / 30)
        now = Position(int(batch), None, int(batch))
        known, n_topics = match_topics(known, snapshots, Rows([words], np.ones(1), now), n_topics)
        topics = np.ones(1, layout(30))
        topics["id"], topics["words"], topics["weights"] = known[0].topic, *words
        snapshots += (Snapshot(now, topics, 1.0),)
        batch *= 1.2
    assert n_topics == 1


def test_what_cannot_be_followed_changes_nothing():
    model, tracker = GibbsOnlineEM(4, random_state=0), TopicTracker(budget=ALL)
    X = documents("none", 0)
    model.partial_fit(X)
    before = pickle.dumps(tracker._state)
    with pytest.raises(TypeError, match="estimator of topics over words"):
        tracker.on_batch(StreamingBayes("beta-binomial"), info_of(X, 0))
    with pytest.raises(TypeError, match="has no len"):
        tracker.on_batch(model, info_of(X, 0)._replace(X=iter([])))
    tracker.feature_names = ["one"]
    with pytest.raises(ValueError, match="feature"):
        tracker.on_batch(model, info_of(X, 0))
    assert pickle.dumps(tracker._state) == before


def test_wrong_questions_are_refused(shown):
    tracker = TopicTracker(budget=ALL)
    assert tracker.topics() == []
    assert tracker.shares()[2].shape == (0, 0)
    with pytest.raises(ValueError, match="needs two snapshots"):
        tracker.news()
    tracker, _ = follow_truth("none")
    with pytest.raises(ValueError, match=r"got since=-1, and 28 snapshots at \[0\]"):
        tracker.news(-1)


@pytest.mark.parametrize("kind", ["M8[D]", "M8[ns]", "U10", float])
@pytest.mark.parametrize(
    "since", ["2024-3-15", date(2024, 3, 15), datetime(2024, 3, 15, 0, 0, 0, 0, UTC)]
)
def test_news_since_any_date(shown, since, kind):
    days = np.datetime64("2024-03-01") + np.arange(N_BATCHES)
    times = (days.astype("M8[s]") if kind is float else days).astype(kind)
    tracker, _ = follow_truth("dies", time=lambda t: None if t == 2 else times[t])
    assert repr(tracker.news(since)) == repr(tracker.news(times[14]))


def test_topics_born_at_time_zero():
    tracker, model = TopicTracker(), StreamingLDA(2, random_state=0)
    stream(model, [TimedBatch(COUNTS, i) for i in range(3)], callbacks=[tracker])
    assert [row[2] for row in tracker._table()[2]] == [0, 0]


def test_a_minibatch_without_a_time_is_passed_over():
    found = TopicStream(2, random_state=0)
    for year in (2001, None, 2003):
        found.partial_fit(SEA + SKY, times=year and [year] * 100)
    assert found.tracker_.news(2001) == found.tracker_.news(2002)
