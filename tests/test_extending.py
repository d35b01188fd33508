# SPDX-License-Identifier: BSD-3-Clause
"""The files of the guide to extending: a rule, a model and a local step work as they stand."""

import doctest
import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import digamma
from scipy.stats import entropy, nbinom
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.utils.estimator_checks import check_estimator

from streamtopics import SVBLDA, StreamingBayes
from streamtopics.datasets import make_lda_corpus
from streamtopics.models import LDA
from streamtopics.models.views import geometric_mean
from streamtopics.updates import SVB, HierarchicalPowerPrior

GUIDE = Path(__file__).parent.parent / "doc" / "extend"
FILES = sorted(path.stem for path in GUIDE.glob("*.py"))
X = make_lda_corpus(n_documents=400, n_components=3, n_features=60, random_state=0).X


@pytest.fixture(autouse=True)
def guide(monkeypatch):
    monkeypatch.syspath_prepend(GUIDE)
    yield {name: importlib.import_module(name) for name in FILES}
    for name in FILES:
        del sys.modules[name]


@pytest.mark.parametrize("name", FILES)
def test_examples(name, guide):
    assert doctest.testmod(guide[name], optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


@pytest.mark.parametrize("page", sorted(GUIDE.glob("*.rst")), ids=lambda page: page.stem)
def test_what_a_page_includes_is_there(page):
    names = re.findall(r"literalinclude:: (\S+)", page.read_text(encoding="utf-8"))
    assert names or page.stem == "index"
    for name in names:
        assert (page.parent / name).is_file(), name


# The rule


def test_a_season_that_carries_all_over_is_svb(guide):
    lda, settings = guide["seasons_lda"].SeasonsLDA, {"batch_size": 50, "random_state": 0}
    mine = lda(3, season_length=2, carried=1.0, **settings).fit(X)
    assert_array_equal(mine.components_, SVBLDA(3, **settings).fit(X).components_)


def test_a_season_that_carries_nothing_over_starts_from_the_prior(guide):
    flips = np.random.default_rng(0).integers(2, size=(6, 10, 2))
    model = StreamingBayes(guide["poisson_rates"].PoissonRates(), guide["seasons"].Seasons(2))
    for batch in flips:
        model.partial_fit(batch)
    alone = StreamingBayes(guide["poisson_rates"].PoissonRates(), SVB())
    for batch in flips[4:]:
        alone.partial_fit(batch)
    assert_allclose(model.posterior_["rates"], alone.posterior_["rates"])
    assert_array_equal(model.retention_history_[:, 0], [1, 1, 0, 1, 0, 1])


def test_the_estimator_is_one_of_scikit_learn(guide):
    check_estimator(guide["seasons_lda"].SeasonsLDA(), on_skip=None)


def test_its_parameters_are_checked(guide):
    model = guide["seasons_lda"].SeasonsLDA(carried=2.0)
    with pytest.raises(ValueError, match="carried"):
        model.fit(X)
    with pytest.raises(ValueError, match="length of Seasons must be at least 1"):
        guide["seasons"].Seasons(0)


# The model


def test_the_predictive_is_the_negative_binomial(guide):
    counts = np.array([[3.0], [1.0], [4.0]])
    model = StreamingBayes(guide["poisson_rates"].PoissonRates(0.5, 0.1)).fit(counts)
    ahead = np.arange(200.0)[:, None]
    found = model.score_samples(ahead)
    assert_allclose(found, nbinom.logpmf(ahead[:, 0], 0.5 + 8, (0.1 + 3) / (1.1 + 3)))
    assert_allclose(np.exp(found).sum(), 1.0)


def test_rules_find_the_drift_of_rates(guide):
    rng = np.random.default_rng(0)
    model = StreamingBayes(
        guide["poisson_rates"].PoissonRates(), HierarchicalPowerPrior("topic"), batch_size=100
    )
    model.fit(rng.poisson(np.repeat([[2.0, 9.0], [2.0, 3.0]], [500, 500], axis=0)))
    history = model.retention_history_
    assert history[5, 1] < 0.05 < 0.5 < history[5, 0]
    assert_allclose(model.model_.rates(model.posterior_), [2, 3], atol=0.3)


def test_fields_are_parameters_to_search(guide):
    model = StreamingBayes(guide["poisson_rates"].PoissonRates(), guide["seasons"].Seasons(5))
    rates = np.repeat([9.0, 3.0], 500)[:, None]
    counts = np.random.default_rng(0).poisson(rates)
    grid = {"update__carried": [0.0, 1.0], "model__shape": [0.1, 1.0]}
    search = GridSearchCV(
        model.set_params(batch_size=100), grid, cv=TimeSeriesSplit(3), error_score="raise"
    )
    assert search.fit(counts).best_params_["update__carried"] == 0.0


# The local step


def test_point_estimates_are_the_fixed_point_of_em(guide):
    step = guide["point_estimates"].PointEstimates

    class PointEstimateLDA(SVBLDA):
        def _model(self):
            return LDA(geometric_mean, step(200), step(200), self.seed_)

    model = PointEstimateLDA(3, batch_size=50, random_state=0).fit(X)
    found = model.transform(X)
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-6)
    lam = model.components_
    weights = np.exp(digamma(lam) - digamma(lam.sum(axis=1, keepdims=True)))
    for counts, theta in zip(X.toarray()[:5], found, strict=False):
        shares = theta[:, None] * weights
        tokens = (shares / shares.sum(axis=0) * counts).sum(axis=1) + model.doc_topic_prior_
        assert_allclose(theta, tokens / tokens.sum(), atol=1e-3)
    assert_array_equal(clone(model).fit(X).transform(X[:7]), found[:7])
    unigram = -entropy(np.asarray(X.sum(axis=0)).ravel())
    assert model.score(X) > unigram + 0.1
