# SPDX-License-Identifier: BSD-3-Clause
"""The clock of a model set back, and the fork at an alarm."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from streamtopics import (
    BPSLDA,
    GibbsOnlineEM,
    HDPGibbsOnlineEM,
    MultiViewLDA,
    StreamingLDA,
    StreamingMixture,
    VariationalOnlineEM,
)
from streamtopics.datasets import make_lda_corpus
from streamtopics.streams import AlarmFork, set_back
from streamtopics.updates import (
    BPS,
    SVB,
    AdaptiveRate,
    HierarchicalPowerPrior,
    MeanDecay,
    OnlineEM,
    PopulationVB,
    PowerPrior,
    Window,
)
from tests.interrupts import alarm_after

OLD = make_lda_corpus(n_documents=600, n_features=150, random_state=0).X
NEW = make_lda_corpus(n_documents=300, n_features=150, random_state=7).X
BATCHES = [OLD[i : i + 100] for i in range(0, 600, 100)]
AFTER = [NEW[i : i + 60] for i in range(0, 300, 60)]
MODELS = {
    "gibbs": lambda: GibbsOnlineEM(4, n_start_rounds=2, random_state=0),
    "variational": lambda: VariationalOnlineEM(4, random_state=0),
    "default": lambda: StreamingLDA(4, inner_batch_size=50, random_state=0),
    "mixture": lambda: StreamingMixture(4, random_state=0),
    "bps": lambda: BPSLDA(4, boosting_scale=0.2, random_state=0),
    "svi": lambda: StreamingLDA(4, update="svi", random_state=0),
}


def learnt(model, batches=BATCHES):
    for X in batches:
        model.partial_fit(X)
    return model


def state(model):
    """The bits of everything that goes on from here."""
    commit, posterior = model._commit, model.posterior_
    counters = posterior.n_batches, posterior.n_documents, posterior.n_tokens
    arrays = posterior.dense(), posterior.alpha, posterior.c, commit.state[1]
    bits = [None if values is None else values.tobytes() for values in arrays]
    return [*bits, counters, commit.uncounted]


def assert_same_bits(one, other):
    assert state(one) == state(other)


class At:
    """Rings when a minibatch starts with a given number of documents seen."""

    def __init__(self, *n_documents):
        self.n_documents = n_documents

    def __call__(self, model, X):
        return model.n_documents_seen_ in self.n_documents


# The clock


@pytest.mark.parametrize("name", MODELS)
def test_topics_counters_and_the_model_itself_stay(name):
    model = learnt(MODELS[name]())
    before = state(model)
    new = set_back(model, 200)
    counted = new.n_batch_iter_, new.n_documents_seen_, new.n_tokens_seen_
    assert counted[:2] == (model.n_batch_iter_, model.n_documents_seen_)
    assert_allclose(counted[2], model.n_tokens_seen_, rtol=1e-12)
    assert new.posterior_.n_batches == max(1, round(model.n_batch_iter_ / 3))
    assert_allclose(new.topic_weights_, model.topic_weights_, rtol=1e-12)
    new.partial_fit(AFTER[0])
    assert new.n_batch_iter_ > model.n_batch_iter_
    assert state(model) == before


def test_a_step_size_is_that_of_the_clock():
    model = learnt(StreamingLDA(3, update=OnlineEM(MeanDecay(0.7)), inner_batch_size=None))
    model.set_params(inference="gibbs", doc_topic_prior_update="fixed")
    new = set_back(model, 200)
    assert_array_equal(new.posterior_.dense(), model.posterior_.dense())
    before = model.posterior_
    blends = []
    for posterior in (new.posterior_, before):
        rule = model._composition().rule
        blend, _ = rule.step(posterior, lambda view, warm=False: FixedStatistics, (None, None))
        blends.append(blend)
    assert blends[0].retain == 1 - 3.0**-0.7
    assert blends[1].retain == 1 - 7.0**-0.7


class FixedStatistics:
    n_documents, n_tokens, mass = 10, 100.0, np.ones(3)


def test_sums_are_a_power_prior_step_without_documents():
    """lam is eta + n/N (lam - eta); a boost keeps its share."""
    for update in (SVB(), BPS(0.2)):
        model = learnt(StreamingLDA(3, update=update, growth=1, inner_batch_size=None))
        lam, eta = model.posterior_.dense(), model.posterior_.eta.item()
        new = set_back(model, 200)
        assert_allclose(new.posterior_.dense(), eta + 2 / 6 * (lam - eta), rtol=1e-12)
        assert_allclose(new.posterior_.mass, new.posterior_.dense().sum(axis=0), rtol=1e-12)
        tokens = sum(X.sum() for X in BATCHES)
        assert_allclose(new.posterior_.n_tokens, tokens / 3, rtol=1e-12)


def test_a_boost_of_other_knowledge_keeps_its_share():
    xi = np.random.default_rng(0).gamma(1.0, size=(3, OLD.shape[1]))
    model = learnt(StreamingLDA(3, update=BPS(0.5), boosted_prior=xi, inner_batch_size=None))
    new = set_back(model, 100)
    lam, eta = model.posterior_.dense(), model.posterior_.eta.item()
    assert_allclose(new.posterior_.dense(), eta + 1 / 6 * (lam - eta), rtol=1e-12)
    assert_allclose(new.posterior_.b, model.posterior_.b / 6, rtol=1e-12)


def test_growing_weights_are_those_after_fewer_tokens():
    """What was learnt before keeps (N / (N + n))^h of its share, N tokens after the reset."""
    power, n = 3.0, float(AFTER[0].sum())
    model = learnt(StreamingLDA(3, growth=power, prior_limit=None, inner_batch_size=None))
    for n_documents in (50, 400):
        new = set_back(model, n_documents)
        left = new.posterior_.n_tokens
        learnt_before = new.posterior_.a * new.posterior_.S
        new.partial_fit(AFTER[0])
        unseen = np.setdiff1d(np.arange(OLD.shape[1]), AFTER[0].indices)
        kept = new.posterior_.a * new.posterior_.S[unseen]
        factor = (left / (left + n)) ** power * (left + n) / left
        assert len(unseen)
        assert_allclose(kept, factor * learnt_before[unseen], rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", ["gibbs", "default", "svi"])
def test_a_clock_that_is_not_later_changes_nothing(name):
    model = learnt(MODELS[name]())
    new = set_back(model, 600)
    assert_same_bits(model, new)
    assert_same_bits(learnt(model, AFTER), learnt(new, AFTER))


def test_it_follows_a_change_faster():
    model = learnt(MODELS["gibbs"]())
    new = set_back(model, 100)
    for X in AFTER[:3]:
        model.partial_fit(X)
        new.partial_fit(X)
    assert new.score(AFTER[-1]) > model.score(AFTER[-1]) + 0.05


def test_a_model_that_finds_its_topics_can_be_set_back():
    model = learnt(HDPGibbsOnlineEM(3, random_state=0))
    new = set_back(model, 100).partial_fit(AFTER[0])
    assert new.posterior_.n_batches == 2
    assert new.n_batch_iter_ == 7


def test_averages_of_means_go_on_from_the_clock():
    model = learnt(GibbsOnlineEM(3, averaging="uniform", random_state=0))
    new = set_back(model, 200)
    assert_array_equal(new.topic_word_, model.topic_word_)
    before, iterate = new.components_, None
    new.partial_fit(AFTER[0])
    iterate = new.posterior_.dense().T
    assert_allclose(new.components_, 2 / 3 * before + 1 / 3 * iterate, rtol=1e-9)


def test_averages_of_minibatches_in_parts_go_on_in_proportion():
    """Of nine iterates of four parts each, a third count."""
    parameters = {"update": "online_em", "inference": "gibbs", "inner_batch_size": 15}
    model = StreamingLDA(3, averaging="uniform", random_state=0, **parameters)
    for _ in range(3):
        for X in AFTER[:3]:
            model.partial_fit(X)
    assert model.posterior_.n_batches == 36
    new = set_back(model, 180)
    assert new.posterior_.n_batches == 12
    assert_array_equal(new.topic_word_, model.topic_word_)
    before = new.components_
    new.partial_fit(AFTER[0])
    iterate = new.posterior_.dense().T
    assert_allclose(new.components_, 3 / 4 * before + 1 / 4 * iterate, rtol=1e-9)
    assert model._commit.average.n_iterates == 9


@pytest.mark.parametrize(
    "update",
    [PowerPrior(0.9), HierarchicalPowerPrior(), PopulationVB(1000, 0.1), Window(3), AdaptiveRate()],
    ids=lambda update: type(update).__name__,
)
def test_rules_without_a_clock_are_refused_by_name(update):
    model = StreamingLDA(2, update=update, inference="gibbs", random_state=0).partial_fit(OLD)
    before = state(model)
    with pytest.raises(ValueError, match=f"{type(update).__name__}.* has no clock.*use OnlineEM"):
        set_back(model)
    with pytest.raises(ValueError, match="has no clock"):
        AlarmFork(At()).learn(model, OLD)
    assert state(model) == before


def test_wrong_input_is_refused():
    model = learnt(MODELS["gibbs"]())
    with pytest.raises(ValueError, match=r"n_documents must be at least 1.*got 0"):
        set_back(model, 0)
    for wrong in (True, 1.5, "now"):
        with pytest.raises(TypeError, match="n_documents must be an integer"):
            set_back(model, wrong)
        with pytest.raises(TypeError, match="n_documents must be an integer"):
            AlarmFork(At(), n_documents=wrong)
    with pytest.raises(TypeError, match=r"estimator of topics over words.*MultiViewLDA"):
        set_back(MultiViewLDA())
    with pytest.raises(NotFittedError):
        set_back(GibbsOnlineEM())
    with pytest.raises(TypeError, match="alarm must be callable"):
        AlarmFork(True)
    averaged = StreamingLDA(2, averaging="uniform", random_state=0).partial_fit(OLD)
    with pytest.raises(ValueError, match=r"averaging is 'uniform'.*averaging=None"):
        set_back(averaged)
    with pytest.raises(ValueError, match="averaging is None now"):
        set_back(averaged.set_params(averaging=None))
    means = StreamingLDA(2, update=OnlineEM(), random_state=0).partial_fit(OLD)
    with pytest.raises(ValueError, match=r"update is SVB\(\) now"):
        set_back(means.set_params(update="svb"))


def test_merging_is_refused_where_what_is_shared_cannot_be_told():
    base = learnt(MODELS["gibbs"]())
    one, other = (pickle.loads(pickle.dumps(base)) for _ in range(2))
    one = set_back(one, 100).partial_fit(AFTER[0])
    other.partial_fit(AFTER[1])
    with pytest.raises(ValueError, match="clock of this model was set back"):
        one.merge(other, base=base)
    with pytest.raises(ValueError, match="clock of other was set back"):
        other.merge(one, base=base)
    base = set_back(base, 100)
    one, other = (pickle.loads(pickle.dumps(base)) for _ in range(2))
    merged = one.partial_fit(AFTER[0]).merge(other.partial_fit(AFTER[1]), base=base)
    assert merged.n_batch_iter_ == 8
    assert merged.n_documents_seen_ == 600 + 2 * 60


# The fork


def stream(model, fork, batches):
    for X in batches:
        fork.learn(model, X)
    return model


@pytest.mark.parametrize("name", ["gibbs", "default", "bps"])
def test_a_fork_is_two_models_of_which_the_better_one_goes_on(name):
    model, fork = MODELS[name](), AlarmFork(At(600), n_documents=100)
    stream(model, fork, [*BATCHES, AFTER[0]])
    plain = learnt(MODELS[name]())
    new = set_back(plain, 100).partial_fit(AFTER[0])
    plain.partial_fit(AFTER[0])
    assert_same_bits(model, new)
    assert_same_bits(fork.other, plain)
    fork.learn(model, AFTER[1])
    scores = new.score(AFTER[1]), plain.score(AFTER[1])
    better = new if scores[0] > scores[1] else plain
    assert fork.choices == ((plain.n_batch_iter_, *scores, scores[0] > scores[1]),)
    assert fork.other is None
    assert_same_bits(model, better.partial_fit(AFTER[1]))


def test_a_change_is_followed_and_a_false_alarm_is_not():
    model, fork = MODELS["gibbs"](), AlarmFork(At(600), n_documents=100)
    stream(model, fork, [*BATCHES, *AFTER])
    assert [choice.set_back for choice in fork.choices] == [True]
    many = make_lda_corpus(n_documents=3000, n_features=150, random_state=0).X
    many = [many[i : i + 50] for i in range(0, 3000, 50)]
    model, fork = (
        GibbsOnlineEM(4, n_start_rounds=1, random_state=0),
        AlarmFork(At(2500), n_documents=50),
    )
    stream(model, fork, many)
    assert [choice.set_back for choice in fork.choices] == [False]
    assert_same_bits(model, learnt(GibbsOnlineEM(4, n_start_rounds=1, random_state=0), many))


def test_without_a_fork_the_clock_is_set_back_at_once():
    model, fork = MODELS["gibbs"](), AlarmFork(At(600), n_documents=200, fork=False)
    stream(model, fork, [*BATCHES, *AFTER[:2]])
    expected = learnt(set_back(learnt(MODELS["gibbs"]()), 200), AFTER[:2])
    assert_same_bits(model, expected)
    assert fork.other is None
    assert fork.choices == ()


def test_without_alarms_it_is_partial_fit():
    model = stream(MODELS["default"](), AlarmFork(At()), BATCHES)
    assert_same_bits(model, learnt(MODELS["default"]()))


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("cut", [6, 7, 8])
@pytest.mark.parametrize("name", ["gibbs", "default"])
def test_a_stream_stopped_in_the_middle_of_a_fork_resumes_to_the_same_bits(name, cut, n_jobs):
    batches = [*BATCHES, *AFTER]
    model, fork = MODELS[name](), AlarmFork(At(600, 660), n_documents=100)
    stream(model, fork, batches)
    assert len(fork.choices) == 2
    part, half = MODELS[name]().set_params(n_jobs=n_jobs), AlarmFork(At(600, 660), n_documents=100)
    stream(part, half, batches[:cut])
    assert (half.other is not None) == (cut in (7, 8))
    part, half = pickle.loads(pickle.dumps((part, half)))
    stream(part, half, batches[cut:])
    assert_same_bits(part, model)
    assert half.choices == fork.choices


def test_documents_without_a_token_to_score_put_the_choice_off():
    one_word = sparse.csr_matrix(np.eye(5, OLD.shape[1]))
    model, fork = MODELS["gibbs"](), AlarmFork(At(600, 660), n_documents=100)
    stream(model, fork, [*BATCHES, AFTER[0]])
    assert np.isnan(model.score(one_word))
    plain = learnt(MODELS["gibbs"](), [*BATCHES, AFTER[0], one_word])
    # It rings again meanwhile, and what was never set back is still there to go on.
    fork.learn(model, one_word)
    assert_same_bits(fork.other, plain)
    assert fork.choices == ()
    fork.learn(model, one_word)
    assert_same_bits(fork.other, plain.partial_fit(one_word))
    fork.learn(model, AFTER[1])
    assert len(fork.choices) == 1


class Failing:
    """Rings once, and fails when it is told to."""

    def __init__(self, *at):
        self.at, self.fails = at, False

    def __call__(self, model, X):
        if self.fails:
            raise RuntimeError("the detector broke")
        return model.n_documents_seen_ in self.at


@pytest.mark.parametrize("n_done", [6, 7])
def test_a_call_that_fails_changes_nothing(n_done):
    batches = [*BATCHES, *AFTER]
    alarm = Failing(600)
    model, fork = MODELS["gibbs"](), AlarmFork(alarm, n_documents=100)
    stream(model, fork, batches[:n_done])

    def everything():
        other = None if fork.other is None else state(fork.other)
        return state(model), other, fork.choices

    before = everything()
    with pytest.raises(ValueError, match="features"):
        fork.learn(model, batches[n_done][:, :10])
    assert everything() == before
    alarm.fails = True
    with pytest.raises(RuntimeError, match="the detector broke"):
        fork.learn(model, batches[n_done])
    assert everything() == before
    alarm.fails = False
    stream(model, fork, batches[n_done:])
    plain, whole = MODELS["gibbs"](), AlarmFork(Failing(600), n_documents=100)
    assert_same_bits(model, stream(plain, whole, batches))
    assert fork.choices == whole.choices


def test_an_interrupt_leaves_a_whole_state():
    """Stopped anywhere, it goes on to the same bits, from before the minibatch or after it."""
    batches = [*BATCHES[:3], *AFTER[:2]]
    model, fork = MODELS["gibbs"](), AlarmFork(At(300), n_documents=100)
    ends = [pickle.dumps((model, fork))]
    for X in batches:
        fork.learn(model, X)
        ends.append(pickle.dumps((model, fork)))
    final, n_interrupted = model, 0
    for i in (3, 4):
        for seconds in np.geomspace(1e-4, 0.05, 25):
            model, fork = pickle.loads(ends[i])
            try:
                with alarm_after(seconds):
                    fork.learn(model, batches[i])
            except KeyboardInterrupt:
                n_interrupted += 1
            n_seen = model.n_documents_seen_
            done = [300, 360, 420].index(n_seen)
            assert done in (i - 3, i - 2)
            stream(model, fork, batches[3 + done :])
            assert_same_bits(model, final)
            assert len(fork.choices) == 1
    assert n_interrupted > 5


def test_only_one_model_learns_by_a_fork():
    model, fork = MODELS["gibbs"](), AlarmFork(At(600), n_documents=100)
    stream(model, fork, [*BATCHES, AFTER[0]])
    model.partial_fit(AFTER[1])
    before = state(model)
    with pytest.raises(ValueError, match=r"learnt from 720 documents, the copy .* from 660"):
        fork.learn(model, AFTER[2])
    assert state(model) == before
