# SPDX-License-Identifier: BSD-3-Clause
"""Data and parameters far out, where numbers have no room: learnt without a warning, or refused."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from streamtopics import (
    SVBHPP,
    SVBLDA,
    LowRankDPP,
    MultiViewLDA,
    RatingLDA,
    StreamingBayes,
    StreamingLDA,
    StreamingMixture,
    SupervisedLDA,
)  # fmt: skip
from streamtopics.estimators import Schedule
from streamtopics.metrics import topic_coherence, topic_exclusivity
from streamtopics.models import (
    BetaBinomial,
    GaussianMixture,
    LinearRegression,
    MeanFieldRegression,
    NaiveBayesMixture,
)  # fmt: skip
from streamtopics.streams import DriftMonitor, TopicTracker, stream
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer
from streamtopics.updates import IncrementalVB, Langevin, Normal, PopulationVB, Window

X = np.random.default_rng(0).poisson(1.0, (8, 6)).astype(float)


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@pytest.mark.parametrize("rule", [Window(1), IncrementalVB(1, lambda t: 1.0)], ids=["all", "share"])
@pytest.mark.parametrize(("count", "prior"), [(1e15, 0.01), (1e9, 1e-8), (1e6, 1e-10)])
def test_what_a_window_takes_out_leaves_no_trace(rule, count, prior):
    large = count * (0.5 + 0.5 * np.random.default_rng(1).random((5, 6)))
    model = StreamingLDA(
        3, update=rule, topic_word_prior=prior, schedule=Schedule(growth=1), random_state=0
    )
    for part in (large, large[::-1], np.zeros((3, 6))):
        model.partial_fit(part)
    # What is left is the prior.
    assert_allclose(model.components_, prior, rtol=1e-6)
    assert_allclose(model.transform(X).sum(axis=1), 1)


def test_a_mixture_whose_first_minibatches_are_empty():
    # In what nothing was learnt from rounding left a mass of which a share was the prior.
    prior = np.random.default_rng(3).gamma(1.0, 1.0, (2, 6))
    for seed in range(20):
        model = StreamingMixture(
            2, update="population_vb", topic_word_prior=prior, random_state=seed, batch_size=5
        )
        model.partial_fit(np.zeros((8, 6))).partial_fit(np.zeros((5, 6))).partial_fit(X)
        assert np.isfinite(model.components_).all()


def test_a_limit_of_the_prior_that_is_next_to_nothing():
    tiny = np.zeros((8, 6))
    tiny[0, 3], tiny[6, 5] = 1e-7, 1e-29
    model = StreamingMixture(
        2, schedule=Schedule(prior_limit=1e-10), batch_size=2, max_iter=2, random_state=0
    )
    assert np.isfinite(model.fit(tiny).components_).all()


def test_a_count_that_is_stored_in_two_parts_has_the_bound_of_one():
    twice = sparse.csr_matrix(([1e15, 1e15, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 6))
    with pytest.raises(ValueError, match=r"X, passed to SVBLDA.fit, has a count of 2e"):
        SVBLDA(2, random_state=0).fit(twice)


def test_a_word_that_rounding_brings_below_those_that_it_leads():
    counts = np.array([[1.0, 1e-7, 0.0, 2.0, 2.0, 1e15]])
    model = SVBHPP(2, rate_prior=-1000.0, random_state=0).partial_fit(counts)
    assert np.isfinite(model.components_).all()


def test_a_tiny_prior_of_the_qualitative_topic():
    model = RatingLDA(2, qualitative_prior=(1e-10, 1.0), random_state=0).fit(1e6 * X, [1, 5] * 4)
    assert np.isfinite(model.objective_).all()


def test_ratings_far_from_the_first_ones_are_what_is_refused():
    model = SupervisedLDA(3, doc_topic_prior=1e-10, learn_priors=True, random_state=0)
    model.fit(X, [1, 2.0] * 4)
    with pytest.raises(ValueError, match=r"y, passed to SupervisedLDA.partial_fit, has a rating"):
        model.partial_fit(X, [1e49, -1e49] * 4).partial_fit(X, [1e49, -1e49] * 4)


def test_ratings_beyond_64_bits_are_refused():
    with pytest.raises(ValueError, match="y contains infinity"):
        RatingLDA(2).fit(X, np.full(8, np.longdouble("1e4000")))


def test_weights_without_a_finite_sum_are_refused():
    model = MultiViewLDA(2, max_iter=1, random_state=0).fit(X, ["a", "b"] * 4)
    with pytest.raises(ValueError, match="sample_weight must have a finite sum"):
        model.score(X, ["a", "b"] * 4, sample_weight=np.full(8, 1e308))
    with pytest.raises(ValueError, match="topics must have rows with a finite sum"):
        topic_exclusivity(np.full((3, 12), 1e308), 3)


def test_smoothing_that_is_nothing_is_refused():
    for name in ("smoothing", "epsilon"):
        with pytest.raises(ValueError, match=f"{name} must be"):
            topic_coherence([[0, 1]], X, measure="umass", **{name: 5e-324})


@pytest.mark.parametrize("documents", [[["w0", "w1"], ["w1"]], ["w0 w1", "w1"]])
def test_texts_need_a_window(documents):
    with pytest.raises(TypeError, match="X must be counts of words where window is None"):
        topic_coherence([["w0", "w1"]], documents, feature_names=["w0", "w1"])


@pytest.mark.parametrize("wrong", [[None], [1], None])
def test_what_is_no_text_is_refused_by_name(wrong):
    model = NamedVectorizer().fit(["a text"])
    for call in (NamedVectorizer().fit, NamedVectorizer().fit_transform, model.transform):
        with pytest.raises(
            (TypeError, ValueError), match=r"raw_documents must be|Iterable over raw"
        ):
            call(wrong)


def test_a_margin_has_a_bound():
    with pytest.raises(ValueError, match="margin"):
        StreamingCountVectorizer(max_features=3, margin=1.7e308).partial_fit(["red green"])


def test_callbacks_count_with_doubles():
    tracker = TopicTracker(budget=np.float16(0.1))
    stream(StreamingLDA(2, random_state=0), [2000 * X] * 12, callbacks=[tracker])
    for alpha in (1e-320, np.float16(6e-8)):
        with pytest.raises(ValueError, match="n_relabellings"):
            DriftMonitor(alpha=alpha)


# Priors

OUTSIDE = (5e-324, 1e-300, 1e300, 1.7e308)
FIELDS = [
    (BetaBinomial, "heads"), (BetaBinomial, "tails"), (GaussianMixture, "concentration"),
    (GaussianMixture, "mean_mass"), (GaussianMixture, "shape"), (GaussianMixture, "rate"),
    (LinearRegression, "rate"), (LinearRegression, "shape"), (LinearRegression, "precision"),
    (LinearRegression, "intercept_precision"), (MeanFieldRegression, "precision"),
    (MeanFieldRegression, "rate"), (MeanFieldRegression, "shape"),
    (MeanFieldRegression, "input_mean_mass"), (MeanFieldRegression, "input_rate"),
    (MeanFieldRegression, "input_shape"), (NaiveBayesMixture, "class_concentration"),
    (Normal, "precision"), (Langevin, "a"),
]  # fmt: skip


@pytest.mark.parametrize("value", OUTSIDE)
@pytest.mark.parametrize(("kind", "name"), FIELDS)
def test_priors_that_nothing_can_outweigh_or_see_are_refused(kind, name, value):
    with pytest.raises(ValueError, match=f"{name} of {kind.__name__} must be a number in"):
        kind(**{name: value})


@pytest.mark.parametrize("scale", [1e-50, 1e50])
def test_rates_in_the_units_of_the_data(scale):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((12, 2))
    y = rows @ [1.0, 2.0]
    for model in (LinearRegression(rate=scale), MeanFieldRegression(rate=scale)):
        found = StreamingBayes(model).fit(rows, y)
        assert np.isfinite(found.predict(rows)).all()
    for model in (GaussianMixture(2, rate=scale), GaussianMixture(2, mean_mass=1e-10)):
        assert np.isfinite(StreamingBayes(model, random_state=0).fit(rows).score(rows))


def test_a_population_has_a_size():
    with pytest.raises(ValueError, match="population_size of PopulationVB must be"):
        PopulationVB(1.7e308, 0.5)


# Determinantal processes


def test_sets_that_are_larger_than_the_ground_set():
    process = LowRankDPP("items", 2, random_state=0).fit(sparse.csr_matrix(X[:4, :3]))
    for k in (4, 5):
        with pytest.raises(ValueError, match=f"k is {k}, but no set of this process has so many"):
            process.sample_k(k, random_state=0)


def test_draws_that_never_end_are_refused():
    sentences = [np.array([[1e15, 0, 1.0], [0, 1e15, 1]]), np.full((1, 3), 1e15)]
    groups = np.array([0, 0, 1])
    words = LowRankDPP("poisson", 2, random_state=0, max_iter=2)
    words.fit(np.concatenate(sentences), groups=groups)
    with pytest.raises(ValueError, match=r"lam has .* words a sentence, too many"):
        words.sample(1, random_state=0)
    noisy = LowRankDPP("bernoulli", 2, noise_level=1e10, random_state=0)
    noisy.fit((X > 1).astype(float), groups=[0, 0, 1, 1, 2, 2, 3, 3])
    with pytest.raises(ValueError, match="draw fewer sets, or lower its level"):
        noisy.sample(2, random_state=0)


def test_theta_has_a_bound():
    process = LowRankDPP("items", 2, random_state=0).fit(sparse.csr_matrix(X[:4, :3]))
    with pytest.raises(ValueError, match="theta have r numbers from 0 to 1e"):
        process.marginals([0], [1e300, 1.0])
    assert np.isfinite(process.marginals([0], [1e100, 1e100]))
