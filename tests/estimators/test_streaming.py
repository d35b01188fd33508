# SPDX-License-Identifier: BSD-3-Clause
"""What a stream asks of an estimator, whatever its rule."""

import pickle
import signal
from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from streamtopics import StreamingLDA, StreamingMixture
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.local import Gibbs, OneTopic, Variational
from streamtopics.models.sources import NOISE
from streamtopics.updates import BPS, DampedNewton, Memory, OnlineEM, PowerPrior, Window
from tests import plain
from tests.estimators.table import CLASSES, QUICKER, by_merging, is_sampled, name_of, rows
from tests.interrupts import alarm_after
from tests.plain import BPSLDA, SVBHPP, SVBLDA, GibbsOnlineEM, VariationalOnlineEM
from tests.saving.state import parts_of

SEED = {"random_state": 3}
VARIANTS = [
    SVBLDA(n_components=70, schedule__n_rounds=2, **SEED),
    BPSLDA(n_components=7, boosting_scale=0.3, **SEED),
    BPSLDA(n_components=70, boosting_norm="topic", **SEED),
    GibbsOnlineEM(n_components=70, kappa=1.0, schedule__n_start_rounds=3, **SEED),
    GibbsOnlineEM(
        n_components=210, update_each_sweep=True, schedule__averaging="linear", **SEED
    ),
    VariationalOnlineEM(n_components=7, doc_topic_prior_update="gamma", **SEED),
    VariationalOnlineEM(
        n_components=70, update_each_sweep=True, schedule__averaging="uniform",
        max_local_iter=3, tau=5, **SEED,
    ),
    StreamingLDA.preset(
        "OnlineVBLDA", 7, update__step_size__tau=1, doc_topic_prior_update=DampedNewton(), **SEED
    ),
    StreamingLDA.preset("VarGibbsLDA", 70, update__n_documents=10_000, **SEED),
    SVBHPP(n_components=70, rate="topic", rate_starts=(0.5,), boosting_scale=0.1, **SEED),
    SVBHPP(n_components=6, rate="topic", rate_estimate="point", **SEED),
    StreamingLDA.preset("PowerPriorLDA", 7, update__rho=0.8, update__boost__scale=0.1, **SEED),
    StreamingLDA(
        7, update=Window(3), inference="variational", view="geometric_mean", max_iter=1, **SEED
    ),
    StreamingLDA(7, update=Window(2), schedule=Schedule(n_start_rounds=2), max_iter=1, **SEED),
    StreamingLDA(
        7, update="bps", inference="gibbs", topic_word_prior=0.02, schedule=Schedule(40),
        max_iter=1, **SEED,
    ),
    StreamingLDA(7, update=PowerPrior(Memory(500)), inference="one_topic", max_iter=1, **SEED),
    StreamingMixture(7, background=0.0, schedule=Schedule(None, 1.0), max_iter=1, **SEED),
]  # fmt: skip
CLASSED = [
    getattr(plain, name, kind)(4, **QUICKER.get(name, {}), **SEED) for name, kind in CLASSES.items()
]
ALL = [*rows(**SEED), *CLASSED, *VARIANTS]
# Whose topics do not depend on the first minibatch alone; others are merged from a common parent.
NOISY = [e for e in ALL if e._composition().start == NOISE]
ADDING = by_merging(NOISY, "sum")


def averages(model):
    """Whether its topics are an average of iterates."""
    return model._composition().schedule.averaging is not None


IN_ORDER = [e for e in by_merging(ALL, "decayed mean", "in order") if not averages(e)]
AVERAGING = [e for e in by_merging(ALL, "mean") if not averages(e)]


def test_the_table_has_what_adds_and_what_averages():
    assert {"SVB-Variational-7", "SVBLDA-4", "BPSLDA-70"} <= {name_of(e) for e in ADDING}
    assert {"GibbsOnlineEM-4", "OnlineEM-Variational-7"} <= {name_of(e) for e in IN_ORDER}
    assert {"GibbsOnlineEM-70"} <= {name_of(e) for e in AVERAGING}
    assert set(CLASSES) == {
        "BPSLDA", "GibbsOnlineEM", "SVBHPP", "SVBLDA", "StreamingMixture", "VariationalOnlineEM",
    }  # fmt: skip


def start_plainly(estimator):
    """Let it start from the seed alone, not from the corpus, which `fit` sees and a stream not."""
    return estimator.set_params(start="noise") if hasattr(estimator, "start") else estimator


@pytest.fixture(params=ALL, ids=name_of)
def estimator(request):
    return clone(request.param)


@pytest.fixture(scope="module", name="X")
def counts():
    corpus = make_lda_corpus(n_documents=700, n_features=300, mean_length=25, random_state=0)
    return sparse.csr_matrix(corpus.X, dtype=np.float64)


@pytest.fixture(scope="module")
def fitted(X):
    """Copies of what an estimator is after `fit`, which it is told once."""
    kept = {}

    def fitted(estimator, dtype=X.dtype):
        key = pickle.dumps(clone(estimator)), np.dtype(dtype)
        if key not in kept:
            kept[key] = pickle.dumps(clone(estimator).fit(X.astype(dtype)))
        return pickle.loads(kept[key])

    return fitted


def streamed(model, X, size):
    for start in range(0, X.shape[0], size):
        model.partial_fit(X[start : start + size])
    return model


def test_one_call_is_one_update(estimator, X):
    estimator.set_params(batch_size=100)
    estimator.partial_fit(X[:450])
    n_batches = n_parts(estimator, 450)
    assert (estimator.n_batch_iter_, estimator.n_documents_seen_) == (n_batches, 450)
    assert estimator.n_tokens_seen_ == X[:450].sum()
    estimator.fit(X[:450])
    n_batches = sum(n_parts(estimator, min(100, 450 - n)) for n in range(0, 450, 100))
    assert (estimator.n_batch_iter_, estimator.n_documents_seen_) == (n_batches, 450)


def n_parts(estimator, n_documents):
    """Parts that a minibatch is cut into."""
    size = estimator._composition().inner_batch_size
    return 1 if size is None else -(-n_documents // size)


def test_fit_is_partial_fit_over_batches_in_order(estimator, X):
    start_plainly(estimator)
    whole = clone(estimator).set_params(batch_size=200, max_iter=2).fit(X)
    streamed(streamed(estimator, X, 200), X, 200)
    assert_array_equal(whole.components_, estimator.components_)


def test_fit_forgets_what_was_learnt_before(estimator, X, fitted):
    once = fitted(estimator).components_
    estimator.partial_fit(X[300:]).fit(X)
    assert_array_equal(estimator.components_, once)


@pytest.mark.parametrize(("dtype", "n_jobs"), [(np.float32, 2), (np.float64, 4)])
def test_same_bits_for_any_number_of_jobs(estimator, X, fitted, dtype, n_jobs):
    X, alone = X.astype(dtype), fitted(estimator, dtype).set_params(n_jobs=1)
    model = estimator.set_params(n_jobs=n_jobs).fit(X)
    assert_array_equal(model.components_, alone.components_)
    assert_array_equal(model.transform(X), alone.transform(X))
    assert model.score(X) == alone.score(X)


def test_transform_is_pure_and_rows_do_not_depend_on_each_other(estimator, X, fitted):
    estimator = fitted(estimator)
    before, whole = parts_of(estimator), estimator.transform(X)
    assert_array_equal(estimator.transform(X[5]), whole[[5]])
    order = np.random.default_rng(0).permutation(X.shape[0])
    assert_array_equal(estimator.transform(X[order]), whole[order])
    assert_allclose(whole.sum(axis=1), 1.0, rtol=1e-12)
    estimator.score(X)
    estimator.score_samples(X)
    assert parts_of(estimator) == before


def test_resumed_stream_equals_the_uncut_one(estimator, X):
    uncut = streamed(clone(estimator), X, 100)
    for start in range(0, 700, 100):
        estimator = pickle.loads(pickle.dumps(estimator.partial_fit(X[start : start + 100])))
    assert parts_of(estimator) == parts_of(uncut)


def test_failed_first_call_leaves_it_unfitted(estimator, X):
    estimator.set_params(topic_word_prior=np.ones(4))
    parameters = dict(vars(estimator))
    for call in (estimator.fit, estimator.partial_fit):
        with pytest.raises(ValueError, match="topic_word_prior must have shape"):
            call(X)
        assert vars(estimator).keys() == parameters.keys()


def interrupt_after(monkeypatch, n_calls):
    """Interrupt the local steps after some calls; returns a list of the calls."""
    calls = []
    for kind in (Variational, Gibbs, OneTopic):

        def interrupted(*arguments, step=kind.step, **options):
            calls.append(1)
            if len(calls) > n_calls:
                raise KeyboardInterrupt
            return step(*arguments, **options)

        monkeypatch.setattr(kind, "step", interrupted)
    return calls


def test_interrupted_fit_keeps_whole_minibatches(estimator, X, monkeypatch):
    start_plainly(estimator).set_params(batch_size=50)
    expected = clone(estimator)
    with monkeypatch.context() as patch:
        calls = interrupt_after(patch, np.inf)
        streamed(expected, X[:150], 50)
    interrupt_after(monkeypatch, len(calls))
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X)
    assert estimator.n_documents_seen_ == 150
    assert estimator.n_batch_iter_ == expected.n_batch_iter_
    monkeypatch.undo()
    assert_array_equal(estimator.components_, expected.components_)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs POSIX timers")
def test_signals_at_any_moment_leave_whole_minibatches(X):
    """Interrupts by a timer: each call is done or undone, with its counters."""
    model = SVBLDA(n_components=7, random_state=3).partial_fit(X[:50])
    interrupted = 0
    for trial in range(150):
        documents, tokens = model.n_documents_seen_, model.n_tokens_seen_
        mass = model.posterior_.S.sum()
        try:
            with alarm_after(1e-4 + 3e-5 * trial):
                model.partial_fit(X[50:150])
        except KeyboardInterrupt:
            interrupted += 1
        done = int(model.n_documents_seen_ > documents)
        assert model.n_documents_seen_ == documents + 100 * done
        assert model.n_tokens_seen_ == tokens + done * X[50:150].sum()
        assert_allclose(model.posterior_.S.sum() - mass, done * X[50:150].sum(), atol=1e-6)
    assert interrupted > 0


def with_empty_documents(X):
    return sparse.vstack([X[:50], sparse.csr_matrix((3, 300)), X[50:100]]).tocsr()


def test_empty_documents(estimator, X):
    with_empty = with_empty_documents(X)
    estimator.partial_fit(with_empty)
    assert estimator.n_documents_seen_ == 103
    prior = estimator.doc_topic_prior_ / estimator.doc_topic_prior_.sum()
    assert_allclose(estimator.transform(with_empty)[50:53], np.tile(prior, (3, 1)))
    assert_array_equal(estimator.score_samples(with_empty)[50:53], 0.0)


def test_empty_documents_teach_an_adding_model_nothing(X):
    estimator = SVBLDA(n_components=7, random_state=3).partial_fit(with_empty_documents(X))
    without = clone(estimator).partial_fit(X[:100])
    assert_array_equal(estimator.components_, without.components_)


def test_empty_batch_changes_nothing(estimator, X):
    estimator.partial_fit(X[:100])
    before = parts_of(estimator)
    estimator.partial_fit(X[:0]).partial_fit(np.empty((0, 300)))
    assert parts_of(estimator) == before
    assert estimator.transform(X[:0]).shape == (0, estimator.n_components)
    with pytest.raises(ValueError, match="0 sample"):
        estimator.fit(X[:0])


def test_single_and_double_precision_agree(estimator, X, fitted):
    double, single = fitted(estimator), fitted(estimator, np.float32)
    assert single.transform(X.astype(np.float32)).dtype == np.float32
    assert double.transform(X).dtype == np.float64
    assert_allclose(
        single.score(X), double.score(X), atol=5e-3 if not is_sampled(estimator) else 0.1
    )


def in_each_order(shards, parent, orders):
    """Three shards made one."""
    return [
        deepcopy(shards[i]).merge(shards[j], base=parent).merge(shards[k], base=parent)
        for i, j, k in orders
    ]


@pytest.mark.parametrize("estimator", ADDING, ids=name_of)
def test_merging_shards_is_exact_and_in_any_order(estimator, X):
    parent = clone(estimator).partial_fit(X[:200])
    shards = [deepcopy(parent).partial_fit(part) for part in (X[200:325], X[325:450], X[450:])]
    results = in_each_order(shards, parent, [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
    expected = sum(s.components_ for s in shards) - 2 * parent.components_
    for merged in results:
        assert_allclose(merged.components_, expected, rtol=1e-10, atol=1e-12)
        assert_allclose(merged.posterior_.mass, merged.components_.sum(axis=1))
        assert (merged.n_batch_iter_, merged.n_documents_seen_) == (4, 700)
        assert_allclose(merged.n_tokens_seen_, X.sum())
    results[0].partial_fit(X[:10])


@pytest.mark.parametrize("estimator", AVERAGING, ids=name_of)
def test_merging_running_means_does_not_depend_on_the_order(estimator, X):
    parent = clone(estimator).partial_fit(X[:100])
    shards = [deepcopy(parent).partial_fit(X[start : start + 200]) for start in (100, 300, 500)]
    one, other = in_each_order(shards, parent, [(0, 1, 2), (2, 0, 1)])
    assert_allclose(one.components_, other.components_, rtol=1e-9)
    assert_allclose(one.doc_topic_prior_, other.doc_topic_prior_, rtol=1e-9)
    assert_allclose(one.topic_word_.sum(axis=1), 1.0)
    one.partial_fit(X[:10])


@pytest.mark.parametrize("estimator", IN_ORDER, ids=name_of)
def test_rules_that_forget_take_in_what_the_other_learnt_after_their_own(estimator, X):
    parent = clone(estimator).partial_fit(X[:100]).partial_fit(X[100:200])
    left, right = (
        deepcopy(parent).partial_fit(X[200:300]),
        streamed(deepcopy(parent), X[300:600], 100),
    )
    alone = deepcopy(parent).merge(right, base=parent)
    assert_allclose(alone.components_, right.components_, rtol=1e-9)
    assert_array_equal(alone.doc_topic_prior_, right.doc_topic_prior_)
    seen = parts_of([right, parent])
    merged = deepcopy(left).merge(right, base=parent)
    assert parts_of([right, parent]) == seen
    rule, posteriors = merged._composition().rule, [m.posterior_ for m in (left, right, parent)]
    mine, theirs, old = (p.a * p.S for p in posteriors)
    now, then, before = (p.counters for p in posteriors)
    kept, weight = rule.decay(before, then)
    later = now.plus(posteriors[1].since(posteriors[2], kept))
    kept_now, weight_now = rule.decay(now, later)
    expected = kept_now * mine + weight_now / weight * (theirs - kept * old)
    found = merged.posterior_
    assert_allclose(found.a * found.S, expected, rtol=1e-8, atol=1e-12)
    assert (merged.n_batch_iter_, merged.n_documents_seen_) == (6, 600)
    assert np.isfinite(merged.partial_fit(X[600:]).score(X))


@pytest.mark.parametrize("kind", ["SinglePassLDA", "StreamingGibbsLDA"])
def test_merging_minibatches_of_unequal_size_is_exact(kind, X):
    parent = StreamingLDA.preset(kind, 4, random_state=0).partial_fit(X[:300])
    one, other = (streamed(deepcopy(parent), part, 50) for part in (X[300:500], X[500:]))
    merged = deepcopy(one).merge(other, base=parent)
    assert (merged.n_batch_iter_, merged.n_documents_seen_) == (9, 700)
    parts = [(one.posterior_, 1), (other.posterior_, 1), (parent.posterior_, -1)]
    expected = sum(sign * p.n_batches * p.a * p.S for p, sign in parts) / 9
    assert_allclose(merged.posterior_.a * merged.posterior_.S, expected, rtol=1e-10, atol=1e-12)
    assert merged.posterior_.S.min() > -1e-12
    whole = streamed(deepcopy(parent), X[300:], 50)
    assert_allclose(merged.posterior_.c, whole.posterior_.c, rtol=1e-12)
    assert np.isfinite(merged.score(X))


def test_models_are_merged_as_they_learnt_whatever_parameters_are_now(X):
    """Means are not added up, nor topics matched that did not start alike."""
    kinds = {"inference": "gibbs", "random_state": 0}
    mean = StreamingLDA(3, update=OnlineEM(), start="noise", **kinds)
    means = [clone(mean).partial_fit(X) for _ in range(2)]
    one, other = (deepcopy(model).set_params(update="svb") for model in means)
    with pytest.raises(ValueError, match=r"^this model: update is SVB\(\) now"):
        one.merge(other)
    one = deepcopy(means[0])
    with pytest.raises(ValueError, match=r"^other: update is SVB\(\) now"):
        one.merge(other)
    with pytest.raises(ValueError, match="n_components"):
        one.set_params(n_components=1).merge(means[1])
    first = StreamingLDA(3, update="svb", **kinds).partial_fit(X[:0])
    own = [deepcopy(first).partial_fit(part) for part in (X[:100], X[100:])]
    # Before anything is learnt the start may still be chosen.
    late = [deepcopy(first).set_params(start="noise").partial_fit(X[:100]) for _ in range(2)]
    for more in (X[:0], X[:50]):
        for model in own:
            model.set_params(start="noise").partial_fit(more)
        for model in (own[0], late[0]):
            with pytest.raises(ValueError, match="documents of its own"):
                model.merge(own[1])
    late[0].merge(late[1])
    assert late[0].n_documents_seen_ == 200
    with pytest.raises(NotFittedError, match=r"^other has learnt nothing yet"):
        late[0].merge(clone(late[0]))


WHOLE = {"inference": "gibbs", "random_state": 0, "schedule": Schedule(None, 1)}


def test_what_the_other_learnt_counts_by_its_own_rule(X):
    """As if its minibatches came after those of this model, under the rule that they had."""
    base = StreamingLDA(3, update=PowerPrior(0.9), start="noise", **WHOLE).partial_fit(X[:100])
    mine = deepcopy(base).partial_fit(X[100:150])
    other = deepcopy(base).set_params(update=PowerPrior(0.5)).partial_fit(X[150:])
    merged = deepcopy(mine).merge(other, base=base)
    in_order = deepcopy(mine).set_params(update=PowerPrior(0.5)).partial_fit(X[150:])
    assert_allclose(merged.posterior_.mass.sum(), in_order.posterior_.mass.sum(), rtol=1e-6)
    parts = deepcopy(base).set_params(schedule__inner_batch_size=20).partial_fit(X[150:])
    with pytest.raises(ValueError, match=r"learn with schedule=Schedule\(None\)"):
        deepcopy(mine).merge(parts, base=base)
    # Where it learnt nothing there is nothing to count.
    idle = deepcopy(base).partial_fit(X[:0])
    other = deepcopy(mine).set_params(schedule__inner_batch_size=20).merge(idle, base=base)
    assert parts_of(other._commit) == parts_of(mine._commit)


@pytest.mark.parametrize("after", [PowerPrior(0.9), "svb", BPS(0.1)])
def test_models_may_learn_by_another_rule_than_their_ancestor(after, X):
    before = PowerPrior(0.9) if after == "svb" else "svb"
    base = StreamingLDA(3, update=before, **WHOLE).partial_fit(X[:100]).set_params(update=after)
    mine, other = (deepcopy(base).partial_fit(part) for part in (X[100:150], X[150:]))
    merged = deepcopy(mine).merge(other, base=base)
    in_order = deepcopy(mine).partial_fit(X[150:])
    assert_allclose(merged.posterior_.mass.sum(), in_order.posterior_.mass.sum(), rtol=1e-6)
    # Also where one of them learnt nothing.
    idle = deepcopy(base).merge(base, base=base)
    assert_allclose(idle.posterior_.mass, base.posterior_.mass, rtol=1e-12)
    only = deepcopy(base).merge(other, base=base)
    assert_allclose(only.posterior_.mass, other.posterior_.mass, rtol=1e-6)


@pytest.mark.parametrize("estimator", ADDING + AVERAGING + IN_ORDER, ids=name_of)
def test_merge_refuses_what_does_not_fit(estimator, X):
    def new(X, **changed):
        return clone(estimator).set_params(**changed).partial_fit(X)

    model, other_class = new(X), BPSLDA if type(estimator).__name__ == "SVBLDA" else SVBLDA
    before, other_seed = parts_of(model), new(X, random_state=4)
    with pytest.raises(TypeError, match="other must be a"):
        model.merge(other_class(estimator.n_components).partial_fit(X))
    with pytest.raises(ValueError, match="number of features or of topics"):
        model.merge(new(X[:, :20]))
    with pytest.raises(ValueError, match="base must be the common ancestor"):
        model.merge(new(X[:10]), base=new(X[:300]))
    for base in (None, new(X[:0], random_state=5)):
        with pytest.raises(ValueError, match="other random topics"):
            model.merge(other_seed, base=base)
    with pytest.raises(TypeError, match="got NoneType"):
        model.merge(None)
    with pytest.raises(ValueError, match="another prior"):
        model.merge(new(X, topic_word_prior=0.2))
    assert parts_of(model) == before


def test_verbose_shows_progress_and_changes_nothing(estimator, X, capsys):
    quiet = clone(estimator).set_params(batch_size=100).fit(X)
    assert capsys.readouterr().err == ""
    estimator.set_params(batch_size=100, verbose=1).fit(X)
    shown = capsys.readouterr().err
    assert "700/700" in shown
    assert "tokens/s" in shown
    assert "nats/token" in shown
    assert_array_equal(estimator.components_, quiet.components_)


def test_fit_warns_of_too_few_steps(X):
    with pytest.warns(ConvergenceWarning, match="set schedule__n_rounds to about 10"):
        SVBLDA(random_state=0).fit(X)
    with pytest.warns(ConvergenceWarning, match="SVBLDA.fit makes fewer than 5 steps"):
        SVBLDA(random_state=0, max_iter=2, batch_size=350).fit(X)
    with pytest.warns(ConvergenceWarning, match="GibbsOnlineEM.fit makes fewer"):
        GibbsOnlineEM(random_state=0, batch_size=700, schedule__n_start_rounds=1).fit(X)
    GibbsOnlineEM(random_state=0, batch_size=700).fit(X)
    enough = {"schedule__n_rounds": 5}, {"batch_size": 140}, {"max_iter": 5}
    for steps in (*enough, {"max_iter": 2, "batch_size": 234}):
        SVBLDA(random_state=0, **steps).fit(X)
    SVBLDA(1).fit(X)
    SVBLDA(random_state=0).partial_fit(X)


BAD_BATCHES = {
    "nan": (lambda X: np.where(np.arange(300) == 7, np.nan, X[:2].toarray()), "NaN"),
    "infinite": (lambda X: np.where(np.arange(300) == 7, np.inf, X[:2].toarray()), "infinity"),
    "negative": (lambda X: -X[:2], "Negative values in data"),
    "features": (lambda X: X[:, :5], "5 features.*300 features"),
}


def test_bad_input_changes_nothing(estimator, X):
    for make, message in BAD_BATCHES.values():
        estimator.partial_fit(X[:100])
        before = parts_of(estimator)
        for method in ("partial_fit", "transform", "score"):
            with pytest.raises(ValueError, match=message):
                getattr(estimator, method)(make(X))
            assert parts_of(estimator) == before, method
        estimator.partial_fit(X[100:200])


def test_failed_fit_leaves_the_last_one(estimator, X, fitted):
    estimator = fitted(estimator)
    before = parts_of(estimator)
    with pytest.raises(ValueError, match="Negative values"):
        estimator.fit(-X[:, :7])
    assert parts_of(estimator) == before
