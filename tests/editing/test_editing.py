# SPDX-License-Identifier: BSD-3-Clause
"""Edits of topics beside plain NumPy, their undo, and the learning that goes on after them."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics import (
    BPSLDA,
    SVBHPP,
    SVBLDA,
    GibbsOnlineEM,
    GuidedTopics,
    HDPVarGibbs,
    MultiViewLDA,
    StreamingLDA,
    StreamingMixture,
    TopicStream,
    editing,
    load,
    save,
    updates,
)
from streamtopics.datasets import make_lda_corpus
from streamtopics.distributed import fit_stream
from streamtopics.editing import EditError
from streamtopics.editing.records import TopicLabels
from streamtopics.estimators import Schedule
from streamtopics.streams import DriftMonitor
from streamtopics.text import NamedCounts
from tests.small import COUNTS

V, K = 80, 6
NAMES = np.array([f"w{v}" for v in range(V)])
X = NamedCounts.of(make_lda_corpus(900, n_components=K, n_features=V, random_state=0).X, NAMES)
NEW = X[600:]
MODELS = {
    "default": StreamingLDA(K),
    "sampled": StreamingLDA(K, inference="gibbs", doc_topic_prior_update="gamma"),
    "newton": StreamingLDA(K, inference="gibbs", doc_topic_prior_update=updates.DampedNewton()),
    "one topic": StreamingLDA(K, inference="one_topic"),
    "boosted": BPSLDA(K, boosting_norm="topic"),
    "online": GibbsOnlineEM(K),
    "published": StreamingLDA.preset("PowerPriorLDA", K),
    "rates": SVBHPP(K, rate="topic", rate_starts=(0.5,)),
    "seeded": SVBLDA(K, topic_word_prior=np.linspace(0.01, 0.1, K * V).reshape(K, V)),
    "mixture": StreamingMixture(K),
    "births": StreamingMixture(
        30, births=updates.DirichletProcess(), update=updates.PowerPrior(updates.Memory(5000))
    ),
}
each_model = pytest.mark.parametrize("name", MODELS)
of_fixed_rows = pytest.mark.parametrize("name", [name for name in MODELS if name != "births"])
EDITS = {
    "merge": lambda model: editing.merge(model, [3, 0, 1]),
    "split": lambda model: editing.split(model, 2, X[:600], n=3),
    "rename": lambda model: editing.rename(model, 1, "billing"),
    "hide": lambda model: editing.hide(model, [1, 2]),
    "lock": lambda model: editing.lock(model, 2),
    "exclude": lambda model: editing.exclude(model, 2, leading(model, 2)),
    "pull": lambda model: editing.pull(model, 2, leading(model, 0)),
}
each_edit = pytest.mark.parametrize("edit", EDITS)


def fitted(name="default"):
    return deepcopy(FITTED[name])


FITTED = {name: model.set_params(random_state=0).fit(X[:600]) for name, model in MODELS.items()}


def leading(model, row, n=3):
    return model.top_words(n_words=n)[row]


def columns_of(words):
    return [int(word[1:]) for word in words]


def counts(model):
    """Counts learnt, topics that are none to users included."""
    posterior = model.posterior_
    return (posterior.a * posterior.S).T


def bits(model):
    """All that was learnt, and what is said of it."""
    state, commit = model.posterior_._state, model._commit
    memory, lifetimes = commit.state[1], commit.lifetimes
    arrays = [state.S.dense(), state.S.words, *state[1:6], state.directions]
    arrays += [] if memory is None else [memory]
    arrays += [] if lifetimes is None else [lifetimes.silence]
    arrays += [part for one in commit.drift for part in (one.retention, one.effective_sample_size)]
    of_births = lifetimes and (lifetimes.alive, lifetimes.dead)
    return [one.tobytes() for one in arrays], state[6:9], of_births, labels(model)


def labels(model):
    """What is said of the topics; nothing if all was undone."""
    found = model._commit.edits and model._commit.edits.labels
    if found is None or found == TopicLabels((*range(len(found.topics)),), len(found.topics)):
        return None
    return found


def edited(name, edit):
    model = fitted(name)
    if edit in ("merge", "split", "lock") and name == "births":
        pytest.skip("clusters that come and go refuse it, which another test holds")
    EDITS[edit](model)
    return model


@of_fixed_rows
def test_merge_adds_counts_and_counts_the_prior_once(name):
    before, model = fitted(name), fitted(name)
    editing.merge(model, [3, 1])
    h = model._n_hidden
    expected = counts(before)
    expected[h + 3] += expected[h + 1]
    alpha, c = before.posterior_.alpha.copy(), before.posterior_.c.copy()
    alpha[h + 3] += alpha[h + 1]
    c[h + 3] = max(c[h + 3], c[h + 1])
    expected, alpha, c = (np.delete(one, h + 1, 0) for one in (expected, alpha, c))
    assert_allclose(counts(model), expected, rtol=1e-12)
    assert_allclose(model.posterior_.alpha, alpha, rtol=1e-12)
    assert_array_equal(model.posterior_.c, c)
    mass = model.posterior_
    assert_allclose(mass.learnt_part, counts(model).sum(axis=1))
    assert_allclose(mass.dense().sum(axis=0), mass.mass)
    assert model.topic_weights_.sum() == pytest.approx(1.0)


@of_fixed_rows
def test_split_divides_the_counts_of_each_word(name):
    before, model = fitted(name), edited(name, "split")
    h = model._n_hidden
    assert len(model.topic_weights_) == K + 2
    parts = counts(model)[[h + 2, h + K, h + K + 1]]
    assert parts.min() >= 0
    assert (parts.sum(axis=1) > 0).all()
    assert parts[0].sum() == parts.sum(axis=1).max()
    assert_allclose(parts.sum(axis=0), counts(before)[h + 2], rtol=1e-12)
    assert counts(model).sum() == pytest.approx(counts(before).sum(), rel=1e-12)
    assert model.posterior_.alpha.sum() == pytest.approx(before.posterior_.alpha.sum(), rel=1e-12)
    # Other topics have the same bits.
    assert_array_equal(
        np.delete(model.topic_word_[:K], 2, 0), np.delete(before.topic_word_[:K], 2, 0)
    )


def test_a_split_leaves_the_counts_as_they_are():
    given = X[:600].astype(np.float64)
    before = given.copy()
    editing.split(fitted(), 2, given)
    for name in ("data", "indices", "indptr"):
        assert_array_equal(getattr(given, name), getattr(before, name))


@of_fixed_rows
def test_merge_of_the_parts_is_the_topic(name):
    before, model = fitted(name), fitted(name)
    editing.split(model, 2, X[:600])
    editing.merge(model, [2, K])
    assert_allclose(model.components_, before.components_, rtol=1e-12)
    assert_allclose(model.doc_topic_prior_, before.doc_topic_prior_, rtol=1e-12)
    assert model.score(NEW) == pytest.approx(before.score(NEW), abs=1e-9)


@each_model
def test_pull_moves_all_tokens_of_words(name):
    before, model = fitted(name), edited(name, "pull")
    columns, expected = columns_of(leading(before, 0)), counts(before)
    moved = expected[:, columns].sum(axis=0)
    expected[:, columns] = 0.0
    expected[model._n_hidden + 2, columns] = moved
    assert_allclose(counts(model), expected, rtol=1e-12)


@each_model
def test_exclude_divides_tokens_in_proportion(name):
    before, model = fitted(name), edited(name, "exclude")
    words = leading(before, 2)
    expected, row = counts(before), model._n_hidden + 2
    others = np.arange(len(expected)) != row
    for column in columns_of(words):
        weights = expected[others, column]
        if not weights.any():
            weights = before.posterior_.dense()[column, others]
        expected[others, column] += expected[row, column] * weights / weights.sum()
        expected[row, column] = 0.0
    assert_allclose(counts(model), expected, rtol=1e-12)
    assert not {*words} & {*leading(model, 2, 20)}


@of_fixed_rows
def test_a_locked_topic_keeps_its_words_and_the_others_learn_the_same(name):
    free, model = fitted(name), edited(name, "lock")
    before = free.topic_word_[2]
    assert model.locked_topics_.tolist() == [2]
    for one in (free, model):
        one.partial_fit(NEW[:100])
    assert_allclose(model.topic_word_[2], before, rtol=1e-12)
    assert_array_equal(np.delete(model.components_, 2, 0), np.delete(free.components_, 2, 0))
    assert model.components_[2].sum() == pytest.approx(free.components_[2].sum(), rel=1e-12)
    editing.unlock(model, 2)
    assert np.abs(model.partial_fit(NEW[100:]).topic_word_[2] - before).max() > 1e-6


@each_model
def test_excluded_words_stay_away_and_no_token_is_lost(name):
    free, model = fitted(name), edited(name, "exclude")
    words, row = leading(free, 2), model._n_hidden + 2
    columns = columns_of(words)
    for one in (free, model):
        one.partial_fit(NEW[:150]).partial_fit(NEW[150:])
    assert not counts(model)[row, columns].any()
    if name not in ("rates", "boosted"):  # Rates, and boosts, depend on the topics.
        assert counts(model).sum() == pytest.approx(counts(free).sum(), rel=1e-7)
    editing.pull(model, 2, words)
    assert counts(model.partial_fit(NEW))[row, columns].all()


@each_model
@each_edit
def test_learning_goes_on_and_saved_is_as_not_saved(name, edit, tmp_path):
    model = edited(name, edit)
    save(model, tmp_path / "model")
    other, threads = load(tmp_path / "model"), pickle.loads(pickle.dumps(model))
    threads.set_params(n_jobs=2)
    for one in (model, other, threads):
        one.partial_fit(NEW)
    assert np.isfinite(model.score(NEW))
    assert bits(model) == bits(other) == bits(threads.set_params(n_jobs=None))
    assert [one.kind for one in other.edits_] == [edit]


@each_model
@each_edit
def test_undo_gives_the_same_bits(name, edit, tmp_path):
    before, model = fitted(name), edited(name, edit)
    save(model, tmp_path / "model")
    other = load(tmp_path / "model")
    for one in (model, other):
        assert editing.undo(one).kind == edit
        assert one.edits_ == []
        assert bits(one.partial_fit(NEW)) == bits(deepcopy(before).partial_fit(NEW))


@pytest.mark.parametrize("name", ["default", "mixture"])
def test_edits_are_undone_one_after_another(name):
    model, states = fitted(name), []
    order = ["rename", "merge", "hide", "split", "exclude", "merge", "pull", "rename"]
    for edit in order:
        states.append(bits(model))
        EDITS[edit](model)
    copy = deepcopy(model)
    for edit, state in reversed([*zip(order, states, strict=True)]):
        assert editing.undo(model).kind == edit
        assert bits(model) == state
    with pytest.raises(EditError, match="no edit is left"):
        editing.undo(model)
    # A copy has nothing in common with the model.
    model.partial_fit(NEW)
    while copy.edits_:
        editing.undo(copy)
    assert bits(copy.partial_fit(NEW)) == bits(model)


@pytest.mark.parametrize("edit", EDITS)
def test_after_learning_labels_alone_can_be_undone(edit):
    model = edited("default", edit)
    model.partial_fit(NEW)
    assert model._commit.edits.base is None
    if edit in ("rename", "hide", "lock"):
        editing.undo(model)
        assert not model.hidden_topics_.size
        assert not model.locked_topics_.size
        assert not hasattr(model, "topic_names_")
        return
    before = bits(model)
    with pytest.raises(EditError, match="has learnt since"):
        editing.undo(model)
    assert bits(model) == before
    assert len(model.edits_) == 1


def test_the_exclusion_of_a_word_never_learnt_can_be_undone():
    Y = X[:600].tolil()
    Y[:, 7] = 0
    model = StreamingLDA(K, random_state=0).fit(NamedCounts.of(Y.tocsr(), NAMES))
    editing.exclude(model, 1, ["w7"])
    model.partial_fit(NEW)
    assert model.posterior_.S[7, 1] == 0 < model.posterior_.S[7].max()
    editing.undo(model)
    assert model.partial_fit(NEW).posterior_.S[7, 1] > 0


def test_names_and_hidden_topics_follow_their_rows():
    model = fitted()
    assert not hasattr(model, "topic_names_")
    editing.rename(model, 5, "billing")
    editing.hide(model, 4)
    editing.lock(model, 0)
    editing.merge(model, [2, 1])
    assert model.topic_names_.tolist() == ["", "", "", "", "billing"]
    assert model.hidden_topics_.tolist() == [3]
    assert model.locked_topics_.tolist() == [0]
    editing.split(model, 3, X[:600])
    assert model.hidden_topics_.tolist() == [3, 5]
    editing.show(model, [3, 5])
    editing.merge(model, [0, 4])
    assert not hasattr(model, "topic_names_")
    assert not model.hidden_topics_.size
    assert [edit.topics for edit in model.edits_] == [
        (5,), (4,), (0,), (2, 1), (4,), (4, 6), (0, 5)
    ]  # fmt: skip
    assert model.n_components == K  # A clone starts as the model did.


def test_a_place_that_is_born_again_has_no_name():
    from tests.estimators.test_births import minibatch
    from tests.estimators.test_births import model as clusters

    model = clusters().set_params(n_components=8)
    for t in range(3):
        model.partial_fit(minibatch(range(6), t)[0])
    rows = [one.topic for one in model.births_ if one.died is None]
    for row in rows:
        editing.rename(model, row, f"cluster {row}")
    for t in range(12):
        model.partial_fit(minibatch((6, 7) if t < 6 else (7, 8, 9), 50 + t)[0])
    alive = {one.topic for one in model.births_ if one.died is None and one.born > 3}
    assert alive & {*rows}
    assert all(not model.topic_names_[row] for row in alive)


def test_a_column_with_another_word_is_not_excluded():
    model, columns = edited("default", "exclude"), columns_of(leading(fitted(), 2))
    model.forget_words(columns[:1])
    assert {column for _, column in model._commit.edits.labels.excluded} == {*columns[1:]}
    model.partial_fit(NEW)
    assert model.posterior_.S[columns[0], 2] > 0
    assert not model.posterior_.S[columns[1], 2]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda m: editing.merge(m, [3]), "two or more different rows"),
        (lambda m: editing.merge(m, [3, 3]), "different rows from 0 to 5"),
        (lambda m: editing.hide(m, 6), r"got 6"),
        (lambda m: editing.lock(m, [1.5]), "different rows"),
        (lambda m: editing.split(m, 1, X[:600], n=1), "at least 2; got 1"),
        (lambda m: editing.split(m, 1, X[:0]), "has 0 tokens in X"),
        (lambda m: editing.split(m, 1, None), "needs documents"),
        (lambda m: editing.rename(m, 1, 7), "name must be a str; got 7"),
        (lambda m: editing.exclude(m, 1, "w3"), "must be a list of words; got 'w3'"),
        (lambda m: editing.pull(m, 1, ["w3", "fyi"]), r"\['fyi'\] have no column"),
        (editing.undo, "no edit is left"),
    ],
)
def test_wrong_calls_change_nothing(call, said):
    model = fitted()
    before = bits(model)
    with pytest.raises(EditError, match=said):
        call(model)
    assert bits(model) == before
    assert model._commit.edits is None


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (GuidedTopics({"a": ["w1"], "b": ["w2"]}, random_state=0), "GuidedTopics cannot be edited"),
        (HDPVarGibbs(random_state=0), "topics of HDPVarGibbs"),
        (MultiViewLDA(2, 2, random_state=0), "topics of MultiViewLDA"),
        (StreamingLDA(3), "not fitted yet"),
        (StreamingLDA(3, update=updates.Window(5), schedule=Schedule(None, 1.0)), "statistics of"),
        (StreamingLDA.preset("LangevinLDA", 3, inference__n_sweeps=2), "adds noise"),
        (StreamingLDA(3, update="svi", schedule=Schedule(averaging="linear")), "averages of"),
    ],
    ids=str,
)
def test_other_models_are_refused_by_name(model, said):
    if said != "not fitted yet":
        y = np.arange(300) % 2
        model.fit(X[:300], *[y] * isinstance(model, MultiViewLDA))
    with pytest.raises((TypeError, ValueError), match=said):
        editing.rename(model, 0, "billing")


def test_models_that_were_edited_are_not_merged():
    base = SVBLDA(K, random_state=0).partial_fit(X[:300])
    one, other = deepcopy(base), deepcopy(base).partial_fit(X[300:600])
    editing.rename(one, 0, "billing")
    with pytest.raises(ValueError, match="this model has edited topics"):
        one.merge(other, base=base)
    with pytest.raises(ValueError, match="other has edited topics"):
        other.merge(one, base=base)
    editing.undo(one)
    assert one.merge(other, base=base).n_documents_seen_ == 600


@pytest.mark.parametrize("edit", ["merge", "split", "lock"])
def test_clusters_that_come_and_go_keep_their_places(edit):
    model = fitted("births")
    with pytest.raises(EditError, match=f"{edit} is not for clusters that come and go"):
        EDITS[edit](model)
    assert model._commit.edits is None


def test_parameters_that_the_stream_started_with_stay():
    model = fitted()
    editing.merge(model, [0, 1])
    with pytest.raises(ValueError, match="n_components is 5 now, but the model was started with 6"):
        model.set_params(n_components=5).partial_fit(NEW)


def test_hierarchical_rates_after_a_merge():
    model = StreamingLDA(K, update=updates.HierarchicalPowerPrior("topic"), random_state=0)
    model.partial_fit(X[:300]).partial_fit(X[300:600])
    editing.merge(model, [0, 1])
    assert model.retention_history_.shape == (0, K - 1)
    assert model.partial_fit(NEW).retention_.shape == (K - 1,)
    assert [(one.batch, len(one.effective_sample_size)) for one in model.drift_] == [(3, K - 1)]


def test_all_topics_are_merged():
    model = fitted()
    editing.merge(model, range(K))
    assert_allclose(model.topic_weights_, [1.0])
    assert np.isfinite(model.partial_fit(NEW).score(NEW))
    with pytest.raises(EditError, match="no other topic that is not locked"):
        editing.pull(model, 0, ["w1"])


@of_fixed_rows
def test_a_split_has_the_same_bits_with_threads(name):
    other = fitted(name).set_params(n_jobs=2)
    EDITS["split"](other)
    assert bits(other) == bits(edited(name, "split"))


def test_vectors_are_merged_and_divided():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(600, 5))
    model = StreamingMixture(4, random_state=0).fit(X[:600], vectors=vectors)
    before = model.posterior_.directions, model.posterior_.prior_directions
    editing.split(model, 1, X[:600])
    editing.merge(model, [1, 4])
    assert_allclose(model.posterior_.directions, before[0], rtol=1e-12)
    editing.merge(model, [3, 0])
    h = model._n_hidden
    merged = before[0][h + 3] + before[0][h] - before[1][h]
    assert_allclose(model.posterior_.directions[h + 2], merged, rtol=1e-12)
    assert model.partial_fit(X[:600], vectors=vectors).transform(X[:5]).shape == (5, 3)


def test_fit_starts_anew_without_the_edits():
    model = fitted()
    editing.merge(model, [0, 1])
    editing.rename(model, 0, "billing")
    assert model.fit(X[:600]).edits_ == []
    assert bits(model) == bits(fitted())


def test_a_monitor_goes_on_after_an_edit():
    monitor = DriftMonitor(random_state=0)
    model = StreamingLDA(K, random_state=0)
    for t in range(6):
        monitor.learn(model, X[150 * t : 150 * (t + 1)], time=t)
        if t == 3:
            editing.merge(model, [0, 1])
            editing.split(model, 2, X[:600])
    assert not monitor.alarms


@pytest.mark.parametrize("seed", range(4))
def test_many_edits_in_any_order(seed):
    """Edits lose no token of any word, and all since the last minibatch are undone."""
    rng, model, states = np.random.default_rng(seed), fitted("default"), []
    for _ in range(25):
        k = len(model.topic_weights_)
        row, other = map(int, rng.choice(k, 2, replace=False))
        word = leading(model, other, 1)
        edit = rng.choice([*EDITS, "show", "unlock", "learn", "undo"])
        if edit == "learn":
            at = rng.integers(NEW.shape[0] - 20)
            model.partial_fit(NEW[at : at + 20])
            states.clear()
            continue
        if edit == "undo" and states:
            assert editing.undo(model)
            assert bits(model) == states.pop()
        if edit == "undo" or (edit == "merge" and k == 3):
            continue
        of_words = counts(model).sum(axis=0)
        states.append(bits(model))
        given = {
            "merge": [[row, other]], "split": [row, X[:600]], "rename": [row, f"name {k}"],
            "exclude": [row, word], "pull": [row, word],
        }  # fmt: skip
        try:
            getattr(editing, edit)(model, *given.get(edit, [row]))
        except EditError:  # Too few tokens, or all others are locked.
            assert edit in ("split", "exclude", "pull")
            assert bits(model) == states.pop()
            continue
        assert_allclose(counts(model).sum(axis=0), of_words, rtol=1e-9)
        assert len({*model.topic_numbers_}) == len(model.topic_weights_)
        for topic, column in model._commit.edits.labels.excluded:
            free = {*model.topic_numbers_} - model._commit.edits.labels.locked
            for excluding in np.flatnonzero(model.topic_numbers_ == topic) if len(free) > 1 else ():
                assert counts(model)[model._n_hidden + excluding, column] == 0
    for state in reversed(states):
        editing.undo(model)
        assert bits(model) == state


def test_workers_learn_with_locked_topics():
    model = fitted()
    editing.merge(model, [4, 1])
    editing.lock(model, 2)
    editing.exclude(model, 0, leading(model, 0))
    before = model.topic_word_[2]
    columns = [column for _, column in model._commit.edits.labels.excluded]
    batches = [X[100 * t : 100 * (t + 1)] for t in range(9)]
    with ThreadPoolExecutor(2) as client:
        fit_stream(model, batches, client, rounds=2, staleness=1)
    assert model.n_batch_iter_ > 9
    assert_allclose(model.topic_word_[2], before, rtol=1e-12)
    assert not counts(model)[0, columns].any()


def test_an_edit_that_cannot_be_done_is_skipped():
    model, other = (StreamingLDA(2, random_state=0).fit(COUNTS) for _ in range(2))
    edits = [editing.rename(other, 0, "sea"), editing.exclude(other, 1, [2])]
    edits.insert(1, editing.Edit("split", (1,), (other.edits_[1].leading[0],), n=2))
    results = editing.apply_edits(model, edits, X=np.ones((50, 9)))
    assert [bool(one.refused) for one in results] == [False, True, False]


def test_split_reads_columns_by_their_names():
    frame = pd.DataFrame(COUNTS, columns=[*"abcd"])
    model = StreamingLDA(2, random_state=0).fit(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        editing.split(model, 0, frame[[*"dabc"]])


def test_splits_share_documents_of_an_iterator():
    words = ("ship sea sail", "sun sky star", "apple pear plum", "iron zinc lead")
    texts = [text for text in words for _ in range(60)]
    model, edited = (TopicStream(4, random_state=0).fit(texts) for _ in range(2))
    edits = [editing.merge(edited, [0, 1]), editing.merge(edited, [1, 2])]
    edits += [editing.split(edited, k, texts) for k in (0, 1)]
    assert not any(one.refused for one in editing.apply_edits(model, edits, X=iter(texts)))


def test_a_word_stays_in_one_topic():
    X = make_lda_corpus(500, n_components=3, n_features=60, random_state=0).X
    model = StreamingLDA(3, random_state=0).fit(X)
    for k in (0, 1):
        editing.exclude(model, k, [7])
    with pytest.raises(EditError, match="may have the word"):
        editing.exclude(model, 2, [7])


@pytest.mark.parametrize("edit", [editing.lock, lambda model, k: editing.merge(model, [k, 1])])
def test_edited_topics_end_the_beginning(edit):
    X = make_lda_corpus(600, n_components=4, n_features=60, random_state=0).X
    schedule = Schedule(n_start_documents=500)
    model = StreamingLDA(4, schedule=schedule, random_state=0).partial_fit(X[:150])
    edit(model, 0)
    before = model.topic_word_
    after = model.partial_fit(X[150:400]).topic_word_
    assert np.sqrt(before @ after.T).argmax(axis=1).tolist() == list(range(len(before)))
