# SPDX-License-Identifier: BSD-3-Clause
"""The files of the guide to extending work as they stand, with all that is there already."""

import doctest
import importlib
import pickle
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import digamma
from scipy.stats import entropy, nbinom
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.utils.estimator_checks import check_estimator

from streamtopics import SVBLDA, StreamingBayes, StreamingLDA
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.estimators.presets import PLAIN as WHOLE
from streamtopics.local import Gibbs, Variational
from streamtopics.local.step import minibatch_of
from streamtopics.models import LDA, BetaBinomial
from streamtopics.models.lda import mean
from streamtopics.models.sources import NOISE
from streamtopics.posteriors import TopicPosterior
from streamtopics.updates import (
    BPS,
    SVB,
    Boost,
    FixedPoint,
    HierarchicalPowerPrior,
    PopulationVB,
    PowerPrior,
    Rule,
    StochasticVI,
)
from streamtopics.utils.parallel import workers
from tests.estimators.table import PLAIN

GUIDE = Path(__file__).parent.parent / "doc" / "extend"
FILES = sorted(path.stem for path in GUIDE.glob("*.py"))
MOST_LINES = 60
X = make_lda_corpus(n_documents=400, n_components=3, n_features=60, random_state=0).X
OTHER = make_lda_corpus(n_documents=400, n_components=3, n_features=60, random_state=1).X
STREAM = [source[start : start + 80] for source in (X, OTHER) for start in range(0, 400, 80)]
SETTINGS = PLAIN | {"batch_size": 50, "random_state": 0}


@pytest.fixture(autouse=True)
def guide(monkeypatch):
    monkeypatch.syspath_prepend(GUIDE)
    yield {name: importlib.import_module(name) for name in FILES}
    for name in FILES:
        del sys.modules[name]


@pytest.mark.parametrize("name", FILES)
def test_examples(name, guide):
    assert doctest.testmod(guide[name], optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_short(name):
    assert len((GUIDE / f"{name}.py").read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("page", sorted(GUIDE.glob("*.rst")), ids=lambda page: page.stem)
def test_what_a_page_includes_is_there(page):
    text = page.read_text(encoding="utf-8")
    included = re.findall(r"literalinclude:: (\S+)(?:\n.*\n +:pyobject: (\w+))?", text)
    assert included or page.stem == "index"
    for name, what in included:
        source = (page.parent / name).read_text(encoding="utf-8")
        assert not what or re.search(rf"^(class|def) {what}\b", source, flags=re.MULTILINE), what


@pytest.fixture(params=["rule", "local step", "view", "estimator"])
def extended(request, guide):
    """StreamingLDA with a part that a stranger wrote."""
    if request.param == "estimator":
        return guide["half_life"].HalfLifeLDA(3, random_state=0)
    settings = {
        "rule": {"update": guide["seasons"].Seasons()},
        "local step": {"inference": guide["point_estimates"].PointEstimates()},
        "view": {"update": "bps", "view": guide["tempered_mean"].TemperedMean(0.9)},
    }
    return StreamingLDA(3, random_state=0, **settings[request.param])


def test_a_part_is_cloned_pickled_and_found(extended):
    model = extended.set_params(batch_size=50)
    fitted = clone(model).fit(X)
    found = fitted.transform(X[:20])
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-6)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X[:20]), found)
    assert_array_equal(clone(model).set_params(n_jobs=2).fit(X).transform(X[:20]), found)
    unigram = -entropy(np.asarray(X.sum(axis=0)).ravel())
    assert fitted.score(X) > unigram + 0.1


def test_a_stream_that_was_cut_equals_the_uncut_one(extended):
    whole, cut = extended, clone(extended)
    for batch in STREAM:
        whole.partial_fit(batch)
        cut = pickle.loads(pickle.dumps(cut.partial_fit(batch)))
    assert_array_equal(cut.components_, whole.components_)


def test_a_season_that_carries_all_over_is_svb(guide):
    mine = StreamingLDA(3, update=guide["seasons"].Seasons(carried=1.0), **SETTINGS).fit(X)
    svb = StreamingLDA(3, update="svb", **SETTINGS).fit(X)
    assert_allclose(mine.components_, svb.components_)


def test_a_season_starts_where_the_topics_change(guide):
    model = StreamingLDA(3, update=guide["seasons"].Seasons(carried=0.1), random_state=0)
    for batch in STREAM:
        model.partial_fit(batch)
    assert_array_equal(model.retention_history_[:, 0], [1, 1, 1, 1, 1, 0.1, 1, 1, 1, 1])


def test_a_season_that_carries_nothing_over_starts_from_the_prior(guide):
    rng = np.random.default_rng(0)
    counts = rng.poisson([[[2.0, 5.0]]] * 4 + [[[9.0, 1.0]]] * 3, size=(7, 100, 2))
    model = StreamingBayes(guide["poisson_rates"].PoissonRates(), guide["seasons"].Seasons())
    for batch in counts:
        model.partial_fit(batch)
    alone = StreamingBayes(guide["poisson_rates"].PoissonRates(), SVB())
    for batch in counts[4:]:
        alone.partial_fit(batch)
    assert_array_equal(model.retention_history_[:, 0], [1, 1, 1, 1, 0, 1, 1])
    assert_allclose(model.posterior_["rates"], alone.posterior_["rates"])


def test_its_state_is_what_finds_the_season(guide):
    """A rule whose state was lost would not be surprised."""
    posterior = BetaBinomial().posterior(np.zeros((9, 1)))
    rule, state = guide["seasons"].Seasons(), ()
    for flip in (0.0, 0.0, 1.0):
        flips = np.full((9, 1), flip)
        learn = BetaBinomial().learner(posterior, flips)
        assert rule.step(posterior, learn, ())[0].retain == 1
        blend, state = rule.step(posterior, learn, state)
        posterior.blend(blend)
    assert blend.retain == 0
    assert state == ()
    with pytest.raises(ValueError, match="carried of Seasons must be in"):
        guide["seasons"].Seasons(carried=2.0)


def test_the_estimator_is_one_of_scikit_learn(guide):
    check_estimator(guide["half_life"].HalfLifeLDA(), on_skip=None)


def test_the_estimator_is_a_composition(guide):
    settings = SETTINGS | {"start": "spectral", "schedule": Schedule(growth=1)}
    theirs = StreamingLDA(3, update=PowerPrior(0.5, Boost(0.2)), **settings).fit(X)
    given = {"half_life": 1, "prior_share": 0.2, "batch_size": 50, "random_state": 0}
    mine = guide["half_life"].HalfLifeLDA(3, **given)
    assert_array_equal(mine.fit(X).components_, theirs.components_)
    with pytest.raises(ValueError, match="half_life"):
        mine.set_params(half_life=0).fit(X)


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
    assert_array_equal(pickle.loads(pickle.dumps(model)).retention_history_, history)


def test_fields_are_parameters_to_search(guide):
    model = StreamingBayes(guide["poisson_rates"].PoissonRates(), guide["seasons"].Seasons())
    counts = np.random.default_rng(0).poisson(np.repeat([9.0, 3.0], 500)[:, None])
    grid = {"update__carried": [0.0, 1.0], "model__shape": [0.1, 1.0]}
    model.set_params(batch_size=100)
    search = GridSearchCV(model, grid, cv=TimeSeriesSplit(3), error_score="raise")
    assert search.fit(counts).best_params_["update__carried"] == 0.0


def test_point_estimates_are_the_fixed_point_of_em(guide):
    step = guide["point_estimates"].PointEstimates(200)
    model = SVBLDA(3, inference=step, view="geometric_mean", batch_size=50, random_state=0).fit(X)
    found = model.transform(X)
    lam = model.components_
    weights = np.exp(digamma(lam) - digamma(lam.sum(axis=1, keepdims=True)))
    for counts, theta in zip(X.toarray()[:5], found, strict=False):
        shares = theta[:, None] * weights
        tokens = (shares / shares.sum(axis=0) * counts).sum(axis=1) + model.doc_topic_prior_
        assert_allclose(theta, tokens / tokens.sum(), atol=1e-3)
    assert_array_equal(model.transform(X[:7]), found[:7])


def test_a_local_step_reports_what_it_declares(guide):
    step = guide["point_estimates"].PointEstimates()
    model = StreamingLDA(3, inference=step, doc_topic_prior_update=FixedPoint(), random_state=0)
    alpha = model.set_params(batch_size=20).fit(X).doc_topic_prior_
    assert len(set(alpha)) == 3
    with pytest.raises(ValueError, match="needs 'shares', not reported by PointEstimates"):
        StreamingLDA(3, inference=step, doc_topic_prior_update="shares").fit(X)


@pytest.mark.parametrize("model", [StreamingLDA(2), StreamingBayes(BetaBinomial())])
def test_an_error_in_a_step_names_the_rule(model):
    @dataclass(frozen=True)
    class Mine(Rule):
        def step(self, posterior, learn, state):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        model.set_params(update=Mine()).partial_fit(np.eye(2))
    assert [note.partition("rule ")[2] for note in caught.value.__notes__] == [repr(Mine())]
    with pytest.raises(ValueError, match="NaN") as caught:
        model.set_params(update=SVB()).partial_fit(np.full((2, 2), np.nan))
    assert "__notes__" not in vars(caught.value)


def test_a_tempered_mean_of_power_one_is_the_mean(guide):
    lam = np.array([[1e-3, 50.0], [200.0, 3.0]])
    plain, out = np.empty((2, 8)), np.full((2, 8), np.nan)
    mean(lam, lam.sum(axis=0), plain)
    guide["tempered_mean"].TemperedMean(1.0)(lam, lam.sum(axis=0), out)
    assert_allclose(out, plain, rtol=1e-12)
    for power in (0.5, 0.0):
        guide["tempered_mean"].TemperedMean(power)(lam, lam.sum(axis=0), out)
        assert_allclose(out[:, :2], plain[:, :2] ** power)


RULES = (
    SVB(), BPS(0.1), PowerPrior(0.8), PopulationVB(300, 0.2), StochasticVI(),
    HierarchicalPowerPrior(),
)  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
@pytest.mark.parametrize("step", [Gibbs(), Variational()], ids=lambda step: type(step).__name__)
def test_without_a_cap_it_is_the_posterior_of_the_package(rule, step, guide):
    eta, alpha = np.full((60, 3), 0.1), np.full(3, 0.5)
    mine = guide["capped_topics"].CappedTopics(eta, alpha, np.inf)
    theirs = TopicPosterior(eta, (60, 3), alpha)
    model, counts = LDA(mean, step, step, 0, NOISE), X.astype(np.float64)
    for start in range(0, 400, 100):
        for posterior in (mine, theirs):
            with workers(None) as pool:
                learn = model.learner(posterior, minibatch_of(counts[start : start + 100]), pool)
                posterior.blend(rule.step(posterior, learn, rule.init(posterior))[0])
        assert_allclose(mine.lam, theirs.dense(), rtol=1e-5)
    assert (mine.n_batches, mine.n_tokens) == (theirs.n_batches, theirs.n_tokens)


def test_an_estimator_keeps_its_topics_in_it(guide):
    class CappedLDA(StreamingLDA):
        def _start(self, batch):
            super()._start(batch)
            shape = self.posterior_.shape
            eta = np.broadcast_to(self.posterior_.eta, shape)
            own = guide["capped_topics"].CappedTopics(eta, self.posterior_.alpha, 500.0)
            self._commit = replace(self._commit, posterior=own)

    settings = SETTINGS | {"schedule": replace(WHOLE, n_start_rounds=10)}
    model = CappedLDA(3, update=BPS(0.05), **settings).fit(X)
    learnt = model.components_ - 0.005
    assert (learnt.sum(axis=1) <= 500 * (1 + 1e-9)).all()
    assert learnt.sum() > 1000
    assert model.score(X) > StreamingLDA(1, update="svb").fit(X).score(X) + 0.1
    whole = model.components_
    X_bad = X[:50].astype(np.float64)
    X_bad.data[0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X_bad)
    assert_array_equal(model.components_, whole)
