# SPDX-License-Identifier: BSD-3-Clause
"""Wrong parameters: clear errors, and nothing is changed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

from streamtopics import (
    BPSLDA,
    SVBLDA,
    GibbsOnlineEM,
    HDPGibbsOnlineEM,
    HDPVarGibbs,
    MultiViewLDA,
    StreamingLDA,
    WASTopicModel,
)
from streamtopics.base.validation import LEAST_COUNT
from streamtopics.local import Gibbs, Variational
from streamtopics.metrics import log_predictive_probability
from streamtopics.updates import SVB, Langevin, MeanDecay, PopulationVB, Rounds, StochasticVI

X = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])

WRONG = [
    ("n_components", 0),
    ("n_components", 2.5),
    ("batch_size", 0),
    ("max_iter", 0),
    ("n_jobs", "two"),
    ("random_state", "seed"),
    ("doc_topic_prior", 0.0),
    ("doc_topic_prior", -1.0),
    ("doc_topic_prior", np.inf),
    ("doc_topic_prior", "auto"),
    ("doc_topic_prior", [0.1, 0.1, 0.1]),
    ("doc_topic_prior", [0.1, 0.0]),
    ("topic_word_prior", 0.0),
    ("topic_word_prior", [1.0, np.nan, 1.0]),
    ("topic_word_prior", [1.0, -1.0, 1.0]),
    ("topic_word_prior", np.ones((3, 2))),
    ("topic_word_prior", np.ones((1, 2, 3))),
    ("boosting_scale", -0.1),
    ("boosting_scale", np.inf),
    ("boosting_scale", np.nan),
    ("boosting_scale", "much"),
    ("boosting_norm", "row"),
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_wrong_parameter(name, value, method):
    model = BPSLDA(n_components=2).set_params(**{name: value})
    with pytest.raises((ValueError, TypeError), match=name):
        getattr(model, method)(X)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize("prior", [0.5, [0.5, 0.25, 1.0], [[0.5, 1.0, 2.0], [0.25, 0.5, 0.5]]])
def test_shapes_of_the_word_prior(prior):
    model = SVBLDA(2, inference="variational", topic_word_prior=prior, random_state=0)
    model.partial_fit(np.zeros((1, 3)))
    assert_allclose(model.components_, np.broadcast_to(prior, (2, 3)))
    assert_allclose(model.prior_retention_, 1.0)
    model.partial_fit(X)
    assert_allclose(model.components_.sum(), np.broadcast_to(prior, (2, 3)).sum() + X.sum())


def test_the_prior_is_copied():
    prior = np.ones((2, 3))
    model = SVBLDA(n_components=2, topic_word_prior=prior, random_state=0).partial_fit(X)
    before = model.components_
    prior[:] = 100.0
    assert_allclose(model.components_, before)


def test_seeds_in_the_prior_decide_the_topics_of_the_first_minibatch():
    rng = np.random.default_rng(0)
    halves = [
        rng.poisson([3.0, 3.0, 0.0, 0.0], (40, 4)),
        rng.poisson([0.0, 0.0, 3.0, 3.0], (40, 4)),
    ]
    documents = np.vstack(halves)
    for first, second in [(0, 2), (3, 1)]:
        prior = np.full((2, 4), 0.1)
        prior[0, first] += 20
        prior[1, second] += 20
        model = SVBLDA(n_components=2, topic_word_prior=prior, random_state=0).fit(documents)
        learnt = model.components_ - prior
        assert learnt[0, first] > 10 * learnt[0, second]
        assert learnt[1, second] > 10 * learnt[1, first]


def test_top_words_want_a_name_for_each_feature():
    model = SVBLDA(n_components=2, random_state=0).fit(X)
    assert sorted(model.top_words(n_words=5)[0]) == [0, 1, 2]
    assert sorted(model.top_words(["a", "b", "c"], n_words=3)[1]) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="each of the 3 columns"):
        model.top_words(["a", "b"])


MODELS = {
    "SVBLDA": SVBLDA(2, random_state=0),
    "GibbsOnlineEM": GibbsOnlineEM(2, random_state=0),
    "HDPGibbsOnlineEM": HDPGibbsOnlineEM(2, random_state=0),
    "StreamingLDA": StreamingLDA(2, random_state=0),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("kind", [np.array, sparse.csr_matrix])
def test_counts_that_are_lost_in_rounding_are_refused(model, kind):
    """A count of 1e-310 once made all topics NaN for good."""
    model = clone(model).partial_fit(X)
    before = model.components_
    for small in (1e-310, 5e-324, 0.9 * LEAST_COUNT):
        with pytest.raises(ValueError, match=r"must have counts from 1e-30"):
            model.partial_fit(kind([[small, 0.0, 0.0], [1.0, 1.0, 0.0]]))
    assert_array_equal(model.components_, before)
    model.partial_fit(kind([[LEAST_COUNT, 0.0, 0.0], [1.0, 1.0, 0.0]]))
    for values in (model.components_, model.transform(X), model.score_samples(X)):
        assert np.isfinite(values).all()
    model.partial_fit(sparse.csr_matrix((np.zeros(1), ([0], [0])), shape=(2, 3)))


@pytest.mark.parametrize("kind", [np.longdouble, object, None])
def test_numbers_beyond_single_precision_are_refused_without_a_warning(kind):
    """Long doubles become doubles, others float32, in which they are infinite.

    A warning would be an error here.
    """
    large = [[10**300, 1, 0]] if kind is None else np.array([[1e300, 1.0, 0.0]], dtype=kind)
    model = SVBLDA(2, random_state=0).partial_fit(X)
    for call, given in (
        (model.partial_fit, large),
        (model.transform, large),
        (lambda given: log_predictive_probability(model, given), large),
        (WASTopicModel(n_sweeps=2, n_burn_in=1).fit, [large]),
    ):
        with pytest.raises(ValueError, match=r"infinity|more than 1e\+15|More than 1e\+15"):
            call(given)
    assert model.n_batch_iter_ == 1


LARGE = 2.0**24 + 1


def frames():
    """Data frames of double precision, of a number that single precision does not hold."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [LARGE, 0.0], "b": [1.0, 0.0]})
    yield frame
    yield frame.astype(pandas.SparseDtype("float64", 0.0))
    mixed = {"a": pandas.SparseDtype("float64", 0.0), "b": pandas.SparseDtype("int64", 0)}
    yield frame.astype(mixed)
    yield frame.astype("Float64")


def test_double_precision_stays_in_any_frame():
    for frame in frames():
        model = SVBLDA(2, random_state=0).partial_fit(frame)
        assert model.n_tokens_seen_ == LARGE + 1, frame.dtypes
        proportions = model.transform(frame)
        assert proportions.dtype == np.float64
        assert_array_equal(model.transform(frame.iloc[:1]), proportions[:1])


def test_single_precision_and_integers_are_single_in_any_frame():
    pandas = pytest.importorskip("pandas")
    for kind in (np.float32, np.int64, pandas.SparseDtype("float32", 0.0), "Float32"):
        frame = pandas.DataFrame(X).astype(kind)
        assert SVBLDA(2, random_state=0).fit(frame).transform(frame).dtype == np.float32


def test_double_precision_stays_in_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [LARGE], "b": [1.0]})
    assert SVBLDA(2, random_state=0).partial_fit(frame).n_tokens_seen_ == LARGE + 1


def test_double_precision_stays_in_frames_of_arrow_and_narwhals():
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    narwhals = pytest.importorskip("narwhals")
    frame = pandas.DataFrame({"a": [LARGE], "b": [1.0]})
    table = arrow.table({"a": [LARGE], "b": [1.0]})
    known = (frame.astype("double[pyarrow]"), table, narwhals.from_native(frame),
             narwhals.from_native(table))  # fmt: skip
    for given in known:
        model = SVBLDA(2, random_state=0).partial_fit(given)
        assert model.n_tokens_seen_ == LARGE + 1, type(given)
    single = frame.astype("float[pyarrow]")
    assert SVBLDA(2, random_state=0).fit(single).transform(single).dtype == np.float32


def test_a_frame_without_columns_is_refused():
    pandas = pytest.importorskip("pandas")
    for model in (SVBLDA(2), MultiViewLDA(1, 1)):
        given = () if isinstance(model, SVBLDA) else (["a", "b"], ["a", "b"])
        with pytest.raises(ValueError, match=r"X, a data frame passed to \S+, has no columns"):
            model.partial_fit(pandas.DataFrame(index=range(2)), *given)


@pytest.mark.parametrize("classes", [[1, "a"], np.array([1, "a"], dtype=object)])
def test_classes_without_an_order_are_refused(classes):
    model = MultiViewLDA(1, 1)
    with pytest.raises(ValueError, match=r"classes, passed to .* of the types int, str"):
        model.partial_fit(X, ["a", "a"], classes=classes)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize(
    ("model", "name", "value"),
    [
        (SVBLDA(2), "n_components", True),
        (SVBLDA(2), "n_components", np.True_),
        (SVBLDA(2), "max_iter", True),
        (SVBLDA(2), "doc_topic_prior", True),
        (HDPGibbsOnlineEM(2), "kappa", False),
        (MultiViewLDA(1, 1), "n_local_topics", True),
        (MultiViewLDA(1, 1), "max_local_iter", 2**63),
        (SVBLDA(2), "n_components", 10**30),
        (SVBLDA(2), "batch_size", 2**63),
        (GibbsOnlineEM(2), "n_sweeps", 10**30),
        (HDPGibbsOnlineEM(2), "n_sweeps", 2**31),
        (HDPVarGibbs(2), "n_documents", 10**400),
        (GibbsOnlineEM(2), "tau", 10**400),
    ],
    ids=lambda value: repr(value)[:30],
)
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_numbers_that_no_kernel_can_count_are_refused_by_name(model, name, value, method):
    model = clone(model).set_params(**{name: value})
    given = (["a", "b"],) if isinstance(model, MultiViewLDA) else ()
    given += (["a", "b"],) if given and method == "partial_fit" else ()
    with pytest.raises((ValueError, TypeError), match=rf"^(The ')?{name}\b"):
        getattr(model, method)(X, *given)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("model", [SVBLDA(2), HDPGibbsOnlineEM(2), MultiViewLDA(1, 1)])
def test_no_jobs_are_refused_with_what_to_say_instead(model, method):
    """In our words: joblib's begin with the name, too."""
    model = clone(model).set_params(n_jobs=0)
    given = (["a", "b"],) if isinstance(model, MultiViewLDA) else ()
    given += (["a", "b"],) if given and method == "partial_fit" else ()
    with pytest.raises(ValueError, match=r"^n_jobs must .*-1 for one on each processor; got 0"):
        getattr(model, method)(X, *given)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Gibbs(10**30), "n_sweeps of Gibbs"),
        (lambda: Gibbs(5, 2**31), "n_averaged of Gibbs"),
        (lambda: Variational(max_iter=2**63), "max_iter of Variational"),
        (lambda: Variational(tol=10**400), "tol of Variational"),
        (lambda: StochasticVI(n_documents=10**400), "n_documents of StochasticVI"),
        (lambda: Langevin(n_documents=10**16), "n_documents of Langevin"),
        (lambda: PopulationVB(10**400, 0.1), "population_size of PopulationVB"),
        (lambda: MeanDecay(tau=10**400), "tau of MeanDecay"),
        (lambda: Rounds(SVB(), 10**30), "n_rounds of Rounds"),
    ],
)
def test_records_refuse_them_too(make, name):
    with pytest.raises(ValueError, match=f"^{name} must be .*; got 1?[0-9]+"):
        make()


def test_large_whole_numbers_that_can_be_counted_pass():
    assert StochasticVI(n_documents=10**12).n_documents == 10**12
    model = HDPVarGibbs(2, n_sweeps=2, n_documents=10**12, random_state=0).partial_fit(X)
    assert np.isfinite(model.components_).all()


def test_what_would_overflow_is_refused():
    model = BPSLDA(n_components=2, random_state=0).partial_fit(X)
    before = model.components_
    with pytest.raises(ValueError, match="boosting_scale"):
        model.set_params(boosting_scale=1e308).partial_fit(X * 1e6)
    with pytest.raises(ValueError, match="must have counts from"):
        model.set_params(boosting_scale=0.1).partial_fit(np.where(X > 2, 1e25, X))
    assert_allclose(model.components_, before)
    assert model.n_batch_iter_ == 1
