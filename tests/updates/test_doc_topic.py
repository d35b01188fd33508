# SPDX-License-Identifier: BSD-3-Clause
"""The updates of alpha, with statistics that are given."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import digamma

from streamtopics.messages import Statistics
from streamtopics.posteriors import TopicPosterior
from streamtopics.updates import (
    SVB,
    LearnsDocTopicPrior,
    MeanDecay,
    OnlineEM,
    Rounds,
    ScaledDecay,
    Shares,
)
from streamtopics.updates.doc_topic import (
    LEAST_ALPHA,
    MOST_ALPHA,
    DampedNewton,
    Fixed,
    FixedPoint,
    GammaPrior,
    Learnt,
    newton_step,
    solve_alpha,
)
from tests.reference import doc_topic as reference
from tests.updates.given import take

UPDATES = [Fixed(), FixedPoint(), GammaPrior(), GammaPrior(3.0, 0.1), DampedNewton()]
LEARNING = UPDATES[1:]
AT_ONCE = [replace(update, burn_in=0) for update in LEARNING]
named = {"ids": repr}


class Alpha(NamedTuple):
    """alpha, and what is remembered."""

    alpha: np.ndarray
    memory: Any


def start(alpha):
    """Before the first minibatch."""
    return Alpha(np.array(alpha, np.float64), None)


def given_log_theta(log_theta, lengths=(60.0, 40.0)):
    """A minibatch that says nothing of words."""
    no_words = np.empty(0, np.int32), np.empty((0, len(log_theta)))
    return Statistics(*no_words, np.array(lengths), np.array(log_theta, np.float64))


def from_counts(alpha, counts):
    """What is said by documents of which n_dk is known."""
    return given_log_theta(reference.mean_log_theta(alpha, counts), counts.sum(axis=1))


def without_words(n_components, n_documents=3):
    silent = given_log_theta(np.zeros(n_components), np.zeros(n_documents))
    return replace(silent, log_theta=None)


def remembered(update, n_components, value):
    """A memory of the size that the update has."""
    size = n_components + isinstance(update, GammaPrior)
    return np.full(size, value) if isinstance(update, FixedPoint | GammaPrior) else None


def step(update, before, statistics, rate, n_batches):
    """A step of a given size."""
    if hasattr(update, "step_size"):
        update = replace(update, step_size=lambda n: rate)
    return Alpha(*update.step(before.alpha, before.memory, statistics, n_batches))


def expected_log_theta(alpha):
    return digamma(alpha) - digamma(alpha.sum())


def log_uniform(rng, low, high, size):
    return np.exp(rng.uniform(np.log(low), np.log(high), size))


def random_counts(seed, alpha, n_documents):
    """n_dk of documents of the model; the first is empty."""
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(40, n_documents) * (np.arange(n_documents) > 0)
    return rng.multinomial(lengths, rng.dirichlet(alpha, n_documents))


# The equation psi(alpha_k) - psi(alpha_0) = E[log theta_k].


@pytest.mark.parametrize("n_components", [2, 3, 20, 300])
@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_found_from_anywhere(n_components, seed):
    rng = np.random.default_rng(seed)
    alpha = log_uniform(rng, 2e-3, 50.0, n_components)
    mean = expected_log_theta(alpha)
    anywhere = log_uniform(rng, 1e-10, 1e10, n_components)
    even = np.full(n_components, 1 / n_components)
    for guess in [alpha, even, anywhere, even * 1e-300, even * 1e300]:
        assert_allclose(solve_alpha(mean, guess), alpha, rtol=2e-8)


@pytest.mark.parametrize("n_components", [2, 5, 60])
def test_newton_step_is_that_of_the_whole_matrix(n_components):
    rng = np.random.default_rng(1)
    alpha = log_uniform(rng, 1e-3, 100.0, n_components)
    mean = np.log(rng.dirichlet(np.ones(n_components)))
    expected = reference.newton_step(alpha, mean)
    assert_allclose(newton_step(alpha, mean), expected, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("update", UPDATES, **named)
@pytest.mark.parametrize("n_batches", [0, 50])
def test_nothing_is_learnt_without_words(update, n_batches):
    before = Alpha(np.array([0.2, 0.3]), remembered(update, 2, -1.5))
    after = step(update, before, without_words(2), 0.3, n_batches)
    assert_array_equal(after.alpha, before.alpha)
    assert_array_equal(after.memory, before.memory)


@pytest.mark.parametrize("update", LEARNING, **named)
def test_the_burn_in_leaves_no_trace(update):
    """It counts documents, whatever the size of the minibatches."""
    step_size = ScaledDecay(0.1, 0.0)
    late = streamed(replace(update, burn_in=90, step_size=step_size), n=5)
    for _ in range(3):
        assert_array_equal(next(late), [0.5, 0.5, 0.5])
    found, once = next(late), np.full(3, 0.5)
    counts = random_counts(3, TRUE, 30)
    posterior = TopicPosterior(np.ones((1, 1)), (1, 3), once)
    rule = LearnsDocTopicPrior(SVB(), replace(update, burn_in=0, step_size=step_size))
    blend, _ = rule.step(posterior, documents(counts), rule.init(posterior))
    assert np.all(found != 0.5)
    assert_array_equal(found, blend.alpha)


@pytest.mark.parametrize("update", AT_ONCE, **named)
def test_topics_that_are_all_alike_do_not_break_alpha(update):
    """Each document is spread evenly: the way to alpha without end, were there no bounds."""
    after = start([0.1] * 5)
    counts = np.full((20, 5), 12.0)
    for t in range(500):
        after = step(update, after, from_counts(after.alpha, counts), (t + 1) ** -0.5, t)
        assert np.all((after.alpha >= LEAST_ALPHA) & (after.alpha <= MOST_ALPHA))
    assert_allclose(after.alpha, after.alpha[0], rtol=1e-6)
    assert after.alpha[0] > 0.5


@st.composite
def steps(draw):
    n = draw(st.integers(1, 50))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    decades = draw(st.sampled_from([(-10, 10), (-10, -9), (9, 10), (-2, 1)]))
    alpha = 10 ** rng.uniform(*decades, n)
    depth = draw(st.sampled_from([(-12, 10), (9, 10), (-12, -6), (-1, 3)]))
    log_theta, past = (-(10 ** rng.uniform(*depth, n)) for _ in range(2))
    rate = draw(st.sampled_from([0.0, 1.0]) | st.floats(0.0, 1.0))
    lengths = 10 ** rng.uniform(-6, 6, 3) * draw(st.sampled_from([0.0, 1e-9, 1.0]))
    lengths[0] += 1e-12
    return alpha, log_theta, past, draw(st.booleans()), lengths, rate


EVENLY = np.log(np.full(4, 0.25))


@pytest.mark.parametrize("update", AT_ONCE, **named)
@settings(max_examples=300, deadline=None, database=None, derandomize=True)
@given(steps())
@example((np.full(4, 1e-10), np.full(4, -1e10), np.full(4, -1e10), True, np.array([9.0]), 0.5))
@example((np.full(4, 1e10), EVENLY, EVENLY, True, np.array([9.0]), 0.0))
@example((np.full(4, 1e10), EVENLY, EVENLY, True, np.array([1e-12]), 0.0))
def test_alpha_is_positive_and_finite_whatever_comes(update, drawn):
    alpha, log_theta, past, remembers, lengths, rate = drawn
    past = past if isinstance(update, FixedPoint) else np.append(-past, 1e-100)
    remembers = remembers and not isinstance(update, DampedNewton)
    before = Alpha(alpha, past if remembers else None)
    says = given_log_theta(log_theta, lengths)
    for array in (alpha, past, says.log_theta, says.lengths):
        array.setflags(write=False)
    after = step(update, before, says, rate, 5)
    assert after.alpha.dtype == np.float64
    if isinstance(update, DampedNewton) or (len(alpha) == 1 and not remembers):
        assert after.memory is None
    else:
        assert after.memory.dtype == np.float64
        assert after.memory.shape == remembered(update, len(alpha), 0.0).shape
        assert np.isfinite(after.memory).all()
    changed = after.alpha[after.alpha != alpha]
    assert np.all((changed >= LEAST_ALPHA) & (changed <= MOST_ALPHA))


TRUE = np.array([0.1, 0.4, 1.5])


@pytest.mark.parametrize(("shape", "inverse_scale"), [(1.0, 1.0), (3.0, 0.5), (1.0, 30.0)])
def test_gamma_prior_climbs_to_the_maximum_of_the_posterior(shape, inverse_scale):
    counts = random_counts(0, TRUE, 40)

    def log_posterior(alpha):
        return reference.gamma_prior_log_posterior(alpha, counts, shape, inverse_scale)

    update = GammaPrior(shape, inverse_scale, burn_in=0)
    after, values = start([3.0, 0.02, 0.5]), []
    for t in range(400):
        after = step(update, after, from_counts(after.alpha, counts), 1.0, t)
        values.append(log_posterior(after.alpha))
    assert np.all(np.diff(values) > -1e-9)
    assert values[5] > values[0] + 1
    best = minimize(lambda x: -log_posterior(np.exp(x)), np.zeros(3), options={"gtol": 1e-7})
    assert_allclose(after.alpha, np.exp(best.x), rtol=1e-5)


def test_gamma_prior_with_rate_one_over_t_is_the_plain_sum():
    update = GammaPrior(2.0, 5.0, burn_in=0)
    after = start([0.5, 0.5, 0.5])
    x, y = 0.0, 0.0
    for t in range(25):
        counts = random_counts(t, TRUE, 3 + t)
        more = reference.gamma_prior_sums(after.alpha, counts)
        x, y = x + more[0], y + more[1]
        after = step(update, after, from_counts(after.alpha, counts), 1 / (t + 1), t)
        assert_allclose(after.alpha, (2.0 - 1 + x) / (5.0 + y), rtol=1e-9)


@pytest.mark.parametrize("update", AT_ONCE, **named)
def test_alpha_is_recovered_from_a_stream(update):
    after = start([0.5, 0.5, 0.5])
    for t in range(300):
        counts = random_counts(t, TRUE, 60)
        after = step(update, after, from_counts(after.alpha, counts), (t + 1) ** -0.5, t)
    assert_allclose(after.alpha, TRUE, rtol=0.1)


def test_damped_newton_against_gensim():
    ldamodel = pytest.importorskip("gensim.models.ldamodel")
    rng = np.random.default_rng(0)
    update = DampedNewton(burn_in=0)
    after = start(TRUE)
    for t in range(30):
        log_theta = np.log(rng.dirichlet(TRUE * 2, 20)).mean(axis=0)
        expected = ldamodel.update_dir_prior(after.alpha.copy(), 20, log_theta, 0.2)
        after = step(update, after, given_log_theta(log_theta), 0.2, t)
        assert_allclose(after.alpha, expected, rtol=1e-7)
    assert np.all(after.alpha > TRUE)


def test_late_minibatches_that_said_nothing_leave_alpha_and_the_mean():
    update, alpha, memory = FixedPoint(burn_in=0), np.array([0.3, 0.5]), np.array([-1.0, -2.0])
    for said in (None, np.array([-2.0, -1.0])):
        learnt = Learnt((alpha, alpha), (said, said), 2, 1)
        assert update.delayed(alpha, memory, learnt, 3) == (alpha, memory)


def test_rounds_count_the_alpha_that_they_saw():
    """In every round an unused topic adds nothing, and no other less than that."""
    alpha, lengths = np.array([0.6, 0.6, 0.6]), np.array([25.0])
    counts = np.array([[20.0, 5.0, 0.0]])
    words, seen, sums = np.arange(1, dtype=np.int32), [], []

    def learn(source, *, warm=False):
        seen.append(source.alpha.copy())
        log_theta = reference.mean_log_theta(source.alpha, counts)
        return Statistics(words, counts, lengths, log_theta, alpha=source.alpha)

    posterior = TopicPosterior(np.ones((1, 1)), (1, 3), alpha)
    learns = LearnsDocTopicPrior(OnlineEM(MeanDecay(1.0)), GammaPrior(burn_in=0))
    rule = Rounds(learns, 5, warm=True)
    _, memory = take(rule, posterior, learn, rule.init(posterior))
    for before in seen:
        sums.append(before * (digamma(before + counts[0]) - digamma(before)))
    assert_allclose(memory[:-1], sums[-1], rtol=1e-10)
    assert memory[2] == pytest.approx(0, abs=1e-12)


def documents(counts):
    """A local step that knows n_dk, under whatever alpha it sees."""
    return lambda view, *, warm=False: replace(from_counts(view.alpha, counts), alpha=view.alpha)


def streamed(update, n=12):
    """alpha after each minibatch of a stream of documents of which n_dk is known."""
    posterior = TopicPosterior(np.ones((1, 1)), (1, 3), np.array([0.5, 0.5, 0.5]))
    rule = LearnsDocTopicPrior(SVB(), update)
    state = rule.init(posterior)
    for t in range(n):
        learn = documents(random_counts(t, TRUE, 30))
        state = take(rule, posterior, learn, state)
        yield posterior.alpha


RATES = [MeanDecay(1.0), MeanDecay(0.6), ScaledDecay(0.5, 0.3)]


@pytest.mark.parametrize("step_size", RATES, ids=repr)
@pytest.mark.parametrize("burn_in", [0, 4])
def test_fixed_point_around_a_rule(step_size, burn_in):
    """Minka's fixed point of the running mean of E[log theta]."""
    alpha, mean = np.full(3, 0.5), None
    for t, found in enumerate(streamed(FixedPoint(30 * burn_in, step_size))):
        log_theta = reference.mean_log_theta(alpha, random_counts(t, TRUE, 30))
        if t >= burn_in:
            rate = step_size(t)
            mean = log_theta if mean is None else (1 - rate) * mean + rate * log_theta
            alpha, _ = reference.minka_fixed_point(mean, alpha, 1e-13, 20_000)
        assert_allclose(found, alpha, rtol=1e-6)
    assert np.abs(alpha - 0.5).max() > 0.05


def test_a_fixed_alpha_is_left_to_the_rule():
    """Nothing is asked of the local step, and the blend has no alpha."""
    posterior = TopicPosterior(np.ones((1, 1)), (1, 3), np.array([0.1, 0.2, 0.3]))
    rule = LearnsDocTopicPrior(SVB(), Fixed())
    blend, state = rule.step(posterior, lambda view: without_words(3), rule.init(posterior))
    assert blend.alpha is None
    assert state == (None, None)


def test_unused_topics_take_no_more_of_alpha_than_the_floor():
    shares, none = np.eye(1, 1000)[0], np.zeros(0, np.int32)
    told = Statistics(none, np.zeros((0, 1000)), np.ones(9), shares=shares)
    alpha, memory = np.full(1000, 1e-3), None
    for t in range(50):
        alpha, memory = Shares().step(alpha, memory, told, t)
    assert_allclose([alpha.sum(), alpha[0]], [1, 0.99001])
