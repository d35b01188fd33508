# SPDX-License-Identifier: BSD-3-Clause
"""The low-rank DPP as an estimator: forms of input, streams, inference, errors, recovery."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_info, threadpool_limits

from streamtopics import LowRankDPP
from streamtopics.dpp import learning
from streamtopics.dpp.batches import batch_sets
from streamtopics.dpp.learning import theta_steps
from streamtopics.dpp.marginal import telling_words
from streamtopics.dpp.measures import Bernoulli, Fourier, Gaussian, Weighted
from streamtopics.dpp.noise import Background
from streamtopics.dpp.sets import PointSets
from tests.dpp import cases
from tests.reference import dpp as reference
from tests.reference.dpp_sets import make_dpp_sets
from tests.small import COUNTS

DATA = make_dpp_sets(300, "exponential", n_features=12, noise=0.3, random_state=0)
X = [DATA.sets[i] for i in range(300)]
BASKETS = make_dpp_sets(400, n_features=12, n_components=3, noise=0.05, random_state=1)
POINTS, INDPTR = BASKETS.sets.points, BASKETS.sets.indptr
ITEMS = sparse.csr_matrix((np.ones(len(POINTS)), POINTS, INDPTR), shape=(400, 12))


each_theta = pytest.mark.parametrize("theta", ["shared", "document"])


def model(ground_set="bernoulli", n_components=4, **given):
    settings = {"max_iter": 3, "random_state": 0}
    return LowRankDPP(ground_set, n_components, **settings | given)


@pytest.fixture(scope="module")
def fitted():
    return model().fit(X)


@pytest.fixture(scope="module")
def of_items():
    return model("items").fit(ITEMS)


def test_fields_of_measures_and_noises_are_parameters():
    one = clone(LowRankDPP(Fourier(2, 1), noise=Background(1.0)))
    one.set_params(ground_set__degree=3, noise__level=2.0)
    assert (one.ground_set, one.noise) == (Fourier(2, 3), Background(2.0))
    assert one.get_params()["ground_set__degree"] == 3
    with pytest.raises(ValueError, match="'poisson', has no parameter 'p'"):
        LowRankDPP("poisson").set_params(ground_set__p=1.0)


@parametrize_with_checks([model("items", max_iter=1)])
def test_scikit_learn_checks(estimator, check):
    """Of items, the sets that are one matrix; those of others are in tests/conventions."""
    check(estimator)


@pytest.mark.parametrize(
    ("ground_set", "sets"),
    [
        ("poisson", X),
        ("multinomial", X),
        (Weighted(Bernoulli(np.full(12, 0.3)), np.linspace(0.5, 2.0, 12)), X),
        ("gaussian", [np.random.default_rng(i).normal(3, 2, (3, 5)) for i in range(40)]),
        (Gaussian(np.zeros(2), np.ones(2)), [np.ones((2, 2)), -np.ones((1, 2))] * 10),
        (Fourier(2, 1), [np.random.default_rng(i).random((3, 2)) for i in range(40)]),
    ],
)
def test_every_ground_set(ground_set, sets):
    fitted = model(ground_set, 3, max_iter=2).fit(sets).partial_fit(sets[:10])
    assert np.isfinite(fitted.score_samples(sets)).all()
    assert np.isfinite(fitted.gain_over_independent(sets)).all()
    theta = fitted.transform(sets)
    assert theta.shape == (len(sets), 3)
    assert (theta >= 0).all()
    drawn = fitted.sample(200, random_state=0)
    mean_size = np.mean([x.shape[0] for x in drawn])
    assert mean_size == pytest.approx(fitted.expected_size_, abs=0.6)
    assert fitted.transform(drawn).shape == (200, 3)
    assert (fitted.marginals(sets[0]) > 0).all()
    assert all(x.shape[0] == 2 for x in fitted.sample(3, k=2, given=sets[0][:1]))


@pytest.mark.parametrize("stacked", [False, True])
def test_vectors_keep_their_precision(stacked):
    """Lists of floats, and whole numbers that float32 does not have."""
    sets = [[[1e9 + 1, 0.1 + i]] * 2 for i in range(3)]
    X, groups = ([*sets[0], *sets[1], *sets[2]], [0, 0, 1, 1, 2, 2]) if stacked else (sets, None)
    measure = model("gaussian", 2, max_iter=1).fit(X, groups=groups).measure_
    assert_allclose(measure.mean, [1e9 + 1, 1.1], rtol=1e-15)
    whole = sparse.csr_matrix(np.array([[2**24 + 1, 1]]))
    assert model("gaussian", 2, max_iter=1).fit([whole]).measure_.mean[0] == 2**24 + 1


def test_moments_of_vectors_do_not_depend_on_the_minibatches():
    sets = [np.random.default_rng(i).normal(1e6, 2, (3, 4)) for i in range(40)]
    whole = model("gaussian", 2, max_iter=1).fit(sets).measure_
    stream = model("gaussian", 2)
    for start in range(0, 40, 7):
        stream.partial_fit(sets[start : start + 7])
    assert_allclose(stream.measure_.mean, whole.mean, rtol=1e-14)
    assert_allclose(stream.measure_.variance, np.concatenate(sets).var(axis=0), rtol=1e-8)
    small = model("gaussian", 2, max_iter=1).fit([1e-9 * one for one in sets]).measure_
    assert_allclose(1e18 * small.variance, whole.variance, rtol=1e-6)


@each_theta
def test_a_pickle_goes_on_where_the_stream_was_cut(theta):
    whole, cut = model(theta=theta), model(theta=theta)
    for start in range(0, 300, 100):
        whole.partial_fit(X[start : start + 100])
        cut = pickle.loads(pickle.dumps(cut.partial_fit(X[start : start + 100])))
    assert_array_equal(cut.components_, whole.components_)
    assert_array_equal(cut.transform(X), whole.transform(X))
    assert (whole.n_batch_iter_, whole.n_documents_seen_) == (3, 300)
    assert whole.n_sentences_seen_ == sum(x.shape[0] for x in X)


@each_theta
def test_no_bit_depends_on_the_number_of_threads(theta, monkeypatch):
    monkeypatch.setattr("streamtopics.dpp.batches.MOST_ENTRIES", 2**12)  # Several batches.
    one, three = model(theta=theta).fit(X), model(theta=theta, n_jobs=3).fit(X)
    assert_array_equal(three.components_, one.components_)
    assert_array_equal(three.transform(X), one.transform(X))
    assert_array_equal(three.score_samples(X), one.score_samples(X))
    assert_array_equal(three.partial_fit(X[:50]).components_, one.partial_fit(X[:50]).components_)


def test_a_stream_starts_with_its_first_point():
    nothing = [np.zeros((0, 12))] * 2
    late = model()
    for _ in range(20):
        late.partial_fit(nothing)
    assert_array_equal(late.partial_fit(X).components_, model().partial_fit(X).components_)
    assert late.partial_fit(nothing).n_documents_seen_ == 302


def test_what_can_be_changed_between_minibatches(fitted):
    later = pickle.loads(pickle.dumps(fitted))
    later.set_params(gamma=0.5, noise_level=2.0, theta="document").partial_fit(X[:5])
    assert (later.gamma_, later.noise_level_) == (0.5, 2.0)
    later.set_params(gamma=None, noise_level=None).partial_fit(X[:5])
    assert later.gamma_ != 0.5
    assert later.noise_level_ != 2.0


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_components", 7), ("noise", "counting")]
    + [("ground_set", kind) for kind in ("poisson", "items", Bernoulli(np.full(12, 0.3)))],
)
def test_what_cannot_be_changed_between_minibatches(fitted, name, value):
    before = state(fitted)
    other = pickle.loads(pickle.dumps(fitted)).set_params(**{name: value})
    with pytest.raises(ValueError, match=r"now, .*set \w+ back"):
        other.partial_fit(X[:5])
    assert state(other) == before
    assert_array_equal(other.transform(X[:5]), fitted.transform(X[:5]))


def test_a_minibatch_without_sets_teaches_nothing(fitted):
    before = state(fitted)
    assert state(fitted.partial_fit([])) == before
    assert state(fitted.partial_fit(sparse.csr_matrix((0, 12)), groups=[])) == before


def test_what_is_learnt_is_what_the_functions_of_learning_find():
    given = {"penalty": 0.02, "gamma": 0.05, "noise_level": 0.7}
    settings = learning.Settings(penalty=0.02, n_theta=3, learn_gamma=False, learn_level=False,
                                 max_iter=3, step_size=0.1, kappa=0.9)  # fmt: skip
    own = {"theta": "document", "max_local_iter": 3, "batch_size": 64}
    with pytest.warns(UserWarning, match="has no effect in fit, only in partial_fit"):
        fitted = model(**own, step_size=0.1, kappa=0.9, **given).fit(X)
    sets, rng = DATA.sets, np.random.default_rng(check_random_state(0).randint(2**31 - 1))
    measure = Bernoulli.from_sentences(sets.points)
    first = learning.start(measure, 4, sets.sizes.mean() / 2, Background(0.7), rng, gamma=0.05)
    first = replace(first, theta=np.ones((300, 4)))
    found = learning.fit(batch_sets(measure, sets), first, settings)
    mean = replace(found.parameters, theta=found.parameters.theta.mean(axis=0))
    assert fitted.objective_ == list(found.objective)
    assert_array_equal(fitted.components_, mean.U.T)
    assert_array_equal(fitted.theta_, mean.theta)
    data, parameters = batch_sets(measure, sets), fitted._commit.parameters
    theta = theta_steps(data, parameters, penalty=0.02, n_steps=3)
    assert_array_equal(fitted.transform(X), theta)

    minibatches = [batch_sets(measure, part) for part in sets.cut(64)]
    online = replace(learning.resume(minibatches, mean, settings), n_batches=300 / 10)
    first = next(sets.cut(10))
    measure = Bernoulli.from_sentences(sparse.vstack([sets.points, first.points]))
    online = learning.learn_minibatch(batch_sets(measure, first), online, settings)
    online = learning.balance_online(online)
    fitted.partial_fit(X[:10])
    assert_allclose(fitted.components_, online.parameters.U.T)
    assert_allclose(fitted.theta_, online.parameters.theta)


def state(estimator):
    learnt = estimator._commit
    return learnt.parameters.U.tobytes(), learnt.n_sets, estimator.n_features_in_


def test_inference_is_pure_and_each_set_by_itself(fitted):
    before, theta, scores = state(fitted), fitted.transform(X), fitted.score_samples(X)
    for i in range(0, 300, 37):
        assert_array_equal(fitted.transform([X[i]])[0], theta[i])
        assert fitted.score_samples([X[i]])[0] == scores[i]
    assert state(fitted) == before


def test_a_stream_learns_about_as_much_as_fit(fitted):
    stream = model()
    for start in [*range(0, 300, 30)] * 3:
        stream.partial_fit(X[start : start + 30])
    gain = fitted.gain_over_independent(X).mean()
    assert gain > 0.2
    assert stream.gain_over_independent(X).mean() > gain - 0.1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([["bread", "milk"]], "bread"),
        (np.full((2, 12), np.nan), "NaN"),
        (np.ones((2, 11)), "11 features"),
    ],
)
def test_wrong_baskets_change_nothing(of_items, wrong, message):
    before = state(of_items)
    for method in (of_items.partial_fit, of_items.transform):
        with pytest.raises((ValueError, TypeError), match=message):
            method(wrong)
    with pytest.raises(ValueError, match="leave groups out"):
        of_items.partial_fit(ITEMS, groups=np.zeros(400))
    assert state(of_items) == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ground_set": "words"}, "ground_set"),
        ({"n_components": 0}, "n_components"),
        ({"step_size": 2.0**31}, "step_size"),
        ({"ground_set": "poisson", "noise": "counting"}, "background"),
        ({"noise_level": 0.0, "gamma": 0.0, "n_components": 1}, "probability 0"),
    ],
)
def test_parameters_that_cannot_be(given, message):
    estimator = clone(model()).set_params(**given)
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)
    assert not estimator.__sklearn_is_fitted__()
    assert not hasattr(estimator, "n_features_in_")


@pytest.mark.parametrize("noise", ["counting", "background"])
def test_theta_of_sets_beyond_the_rank_under_a_noise_lost_by_rounding(noise):
    """Five rows of one column with a level of 1e-20 make a matrix that is singular."""
    fitted = model(n_components=2, noise=noise, noise_level=1e-20, gamma=0.0)
    fitted.fit([np.ones((1, 1)), np.zeros((0, 1))] * 3)
    more = replace(fitted._commit.parameters, noise=fitted._commit.parameters.noise.at(1e-6))
    odd, usual = np.ones((5, 1)), np.ones((1, 1))
    theta = fitted.transform([odd, usual])
    data = batch_sets(fitted.measure_, PointSets(odd, [0, 5]))
    expected = theta_steps(data, more, penalty=0.001, n_steps=30)
    assert_allclose(theta[:1], expected, rtol=1e-4)
    assert_array_equal(theta[1:], fitted.transform([usual]))


def test_the_probabilities_of_all_sets_of_items_sum_to_one():
    """Those of independent items, which have their shares, do so too."""
    every = reference.sentences(6)
    fitted = model("items", 3).fit(ITEMS[:, :6])
    log_p = fitted.score_samples(every)
    independent = np.exp(log_p - fitted.gain_over_independent(every))
    for p in (np.exp(log_p), independent):
        assert p.sum() == pytest.approx(1, abs=1e-10)
    assert_allclose(independent @ every, (ITEMS[:, :6].sum(axis=0).A1 + 0.5) / 401)


@pytest.mark.parametrize("ground_set", ["bernoulli", Weighted(Bernoulli([0.3, 0.6]), [1.0, 0.0])])
def test_the_probabilities_of_all_multisets_of_sentences_sum_to_one(ground_set):
    """Of two words, each sentence up to 13 times; how often it has a word does not count."""
    points, lists = np.array([[0, 0], [1, 0], [0, 2], [3, 1]]), cases.multisets(4, 13)
    fitted = model(ground_set, 2).fit([points[s] for s in [[1], [1, 2], [3, 3], [0, 1, 2]] * 20])
    law = np.exp(fitted.score_samples([points[s] for s in lists]))
    assert law.sum() == pytest.approx(1, abs=1e-5)
    assert law @ [len(s) for s in lists] == pytest.approx(fitted.expected_size_, abs=1e-3)
    assert_allclose(law @ [s.count(3) for s in lists], fitted.marginals(points[3:]), atol=1e-3)
    drawn = [sorted(x.toarray() @ [1, 2]) for x in fitted.sample(4000, random_state=0)]
    for s in ([1], [1, 1], [3, 3], [1, 2, 2]):
        assert np.mean([x == s for x in drawn]) == pytest.approx(law[lists.index(s)], abs=0.02)


def test_independent_sentences_are_the_model_without_its_kernel(fitted):
    level = fitted.n_sentences_seen_ / fitted.n_documents_seen_
    alone = model(noise_level=level, gamma=0.0, penalty=1e6, max_iter=20, tol=0).fit(X)
    assert np.linalg.norm(alone.components_) < 1e-3
    independent = fitted.score_samples(X) - fitted.gain_over_independent(X)
    assert_allclose(alone.score_samples(X), independent, atol=1e-3)


def test_repeated_sentences_are_repeated_among_independent_ones_too(fitted):
    row = X[0].toarray()[0]
    sets = [[row] * 3, [row, row, 1 - row]]
    independent = fitted.score_samples(sets) - fitted.gain_over_independent(sets)
    mean_size = fitted.n_sentences_seen_ / fitted.n_documents_seen_
    log_p = fitted.measure_.log_p(np.array([row, 1 - row])) + np.log(mean_size)
    expected = [3 * log_p[0] - np.log(6), 2 * log_p[0] + log_p[1] - np.log(2)]
    assert_allclose(independent, np.array(expected) - mean_size, rtol=1e-10)


def test_items_given_are_not_drawn_again(of_items):
    rest = of_items.sample(2000, given=[0, 5], random_state=0)
    assert rest[:, [0, 5]].nnz == 0
    share = rest.mean(axis=0).A1
    assert_allclose(of_items.marginals(np.arange(12), given=[0, 5]), share, atol=0.04)
    with pytest.raises(ValueError, match="integers from 0 to 11"):
        of_items.marginals([-1])


def test_odd_documents():
    one, rng = np.eye(12)[:1], np.random.default_rng(0)
    odd = [sparse.csr_matrix((0, 12)), np.zeros((3, 12)), np.ones((1, 12)),
           np.repeat(one, 5, axis=0), rng.integers(0, 2, (60, 12)), np.zeros((1, 12))]  # fmt: skip
    fitted = model().fit(X[:50] + odd).partial_fit(odd)
    theta = fitted.transform(odd)
    assert_array_equal(theta[0], 0)
    for found in (theta, fitted.score_samples(odd), fitted.gain_over_independent(odd)):
        assert np.isfinite(found).all()


def test_without_noise_what_cannot_be_is_told():
    fitted = model(noise_level=0.0, gamma=0.01, n_components=8).fit([X[0][:1], X[1][:1]])
    twice = [np.repeat(np.eye(12)[:1], 2, axis=0)]
    assert fitted.score_samples(twice)[0] == -np.inf
    with pytest.raises(ValueError, match="probability 0"):
        fitted.transform(twice)


def test_telling_words_by_enumeration():
    pi, u = np.array([0.4, 0.2, 0.9, 0.1]), np.array([2.0, -1.0, 0.8, 0.8])
    every = reference.sentences(4)
    p = reference.bernoulli_p(every, pi)

    def share(weight):
        return (p * weight) @ every / (p * weight).sum()

    P, P0 = share((every @ u) ** 2), share((every**2).sum(axis=1))
    order = np.argsort(-P * np.log(P / P0))
    for n in (1, 3, 9):
        assert_array_equal(telling_words(Bernoulli(pi), u[None], n)[0], order[:n])
    assert order.tolist() != np.argsort(-P).tolist()


def test_words_of_columns():
    """Column 0 wants word 2 and column 1 word 7: what top words and cosines say."""
    fitted = model("bernoulli", 2, max_iter=1).fit(X)
    U = np.zeros((12, 2))
    U[2, 0], U[7, 1], U[8, 1] = 3.0, -3.0, -1.0
    online, names = fitted._commit.posterior, [f"w{i}" for i in range(12)]
    object.__setattr__(online, "parameters", replace(online.parameters, U=U))
    assert [words[0] for words in fitted.top_words(names, 3)] == ["w2", "w7"]
    object.__setattr__(online, "parameters", replace(online.parameters, U=np.zeros((12, 2))))
    assert fitted.top_words() == [[], []]


def test_what_rises_without_bounds_ends_far_out():
    # Without a penalty the theta of a set of counts so large has no maximum.
    rng = np.random.default_rng(0)
    X, groups = 1e14 * (rng.random((20, 6)) < 0.4), np.repeat(np.arange(5), 4)
    estimator = LowRankDPP("poisson", 3, theta="document", penalty=0, random_state=0)
    assert np.isfinite(estimator.fit(X, groups=groups).theta_).all()


def test_points_of_a_process_have_names_of_columns():
    frame = pd.DataFrame(COUNTS, columns=[*"abcd"])
    process = LowRankDPP(n_components=2, random_state=0, max_iter=2).fit([frame[:3], frame[3:]])
    with pytest.raises(ValueError, match="feature names should match"):
        process.marginals(frame[[*"dcba"]])


def test_fits_in_several_threads_leave_the_number_of_threads_as_it_was():
    X = (np.random.default_rng(0).random((300, 8)) < 0.4).astype(int)
    model = LowRankDPP("items", 3, tol=0, random_state=0)
    fits = [(1, 100), (8, 300), (3, 200)]
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda one: clone(model).set_params(max_iter=one[0]).fit(X[: one[1]]), fits))
        found = {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
    assert found == {2}
