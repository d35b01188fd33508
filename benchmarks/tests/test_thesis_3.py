# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments on online EM compute: bounds, starts, rivals, assignments of topics."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import digamma, gammaln

from benchmarks.papers import online_em_methods as methods
from benchmarks.papers.experiment import Experiment
from benchmarks.papers.ledger import experiment
from benchmarks.papers.online_em_topics import assigned, divergences
from streamtopics.local.step import minibatch_of
from streamtopics.posteriors import TopicPosterior

K, V = 3, 12
SETTING = methods.Setting(K, 300, 5, n_sweeps=4)
EXPERIMENTS = ["", "_curves", "_steps", "_tau", "_alpha", "_hdp", "_passes", "_topics", "_data"]


@pytest.fixture(scope="module")
def X():
    counts = np.random.default_rng(0).poisson(0.8, (300, V)).astype(np.float32)
    counts[7] = 0
    return sparse.csr_matrix(counts)


def bound_by_hand(model, X):
    """The bound, document by document and word by word, with q(z) written out."""
    alpha, lam, total = model.doc_topic_prior_, model.components_, 0.0
    log_beta = digamma(lam) - digamma(lam.sum(axis=1))[:, None]
    for row, theta in zip(X.toarray(), model.transform(X.astype(float)), strict=True):
        gamma = theta * (alpha.sum() + row.sum())
        log_theta = digamma(gamma) - digamma(gamma.sum())
        for v, count in enumerate(row):
            phi = np.exp(log_theta + log_beta[:, v])
            phi /= phi.sum()
            total += count * (phi @ (log_theta + log_beta[:, v] - np.log(phi)))
        for sign, of in ((1, alpha), (-1, gamma)):
            normaliser = gammaln(of.sum()) - gammaln(of).sum()
            total += sign * (normaliser + (of - 1) @ log_theta)
    return total / X.sum()


@pytest.mark.parametrize("name", ["OLDA", "SVB"])
def test_the_bound_is_its_definition_with_the_best_proportions(X, name):
    model = methods.METHODS[name](SETTING).fit(X)
    found, at_transforms = methods.bound(f"{name}, P = 10", model, X), bound_by_hand(model, X)
    assert at_transforms - 1e-9 < found < at_transforms + 1e-3
    assert methods.bound("G-OEM", model, X) == ""


def test_all_methods_start_from_the_same_topics_and_alpha(X):
    minibatch, seen = minibatch_of(X), []
    for make in methods.METHODS.values():
        model = make(SETTING)
        assert_array_equal(model.doc_topic_prior, 1.0)
        composition, eta = model._composition(), np.full((1, 1), model.topic_word_prior or 0.05)
        posterior = TopicPosterior(eta, (V, K), np.ones(K), None, model._draw_seed())
        source = composition.start(posterior, minibatch, posterior.seed)
        weights = np.zeros((V, K), np.float64)
        composition.view(source.rows(np.arange(V)), source.mass, weights)
        seen.append(weights / weights.sum(axis=1, keepdims=True))
    for weights in seen[1:]:
        assert_allclose(weights, seen[0], rtol=1e-2)
    # They tell the topics apart by more than that.
    assert np.abs(seen[0] * K - 1).max() > 0.1


def test_methods_are_run_as_the_thesis_has_them(X):
    last = {one.method: one.model for one in methods.runs(methods.THESIS, SETTING, X)}
    g_oem = last["G-OEM"].doc_topic_prior_
    assert_allclose(last["SGS"].doc_topic_prior_, g_oem.mean())
    assert last["SVB"].doc_topic_prior_update.step_size(9) == 0.1
    assert last["OLDA"].doc_topic_prior_update.step_size(24) == 0.2
    assert last["OLDA"].update.n_documents == last["LDS"].update.n_documents == 300
    assert last["OLDA"].update.step_size(24) == 0.2
    assert last["OLDA"].inference.max_iter == last["SVB"].inference.max_iter == 4
    assert last["LDS"].inference.n_sweeps == 200
    for name in methods.THESIS:
        assert last[name].n_batch_iter_ == 3


def test_alpha_moves_where_it_is_learnt():
    found = methods.data("synthetic", 0, True)
    setting = methods.Setting(4, found.train.shape[0], 0, n_sweeps=3)
    moved = {
        one.method
        for one in methods.runs(("G-OEM", "OLDA", "VarGibbs", "SVB"), setting, found.train)
        if np.ptp(one.model.doc_topic_prior_) > 0
    }
    assert moved == {"G-OEM", "OLDA", "SVB"}


def test_a_stream_in_parts_is_the_stream(X):
    whole = methods.g_oem(SETTING).fit(X)
    model, reached = methods.g_oem(SETTING), []
    for documents, seconds in methods.through(model, X, [120, 300, 500]):
        reached.append(documents)
        assert seconds > 0
        if documents == 300:
            assert_array_equal(model.components_, whole.components_)
    assert reached == [200, 300, 500]
    twice = methods.g_oem(SETTING, max_iter=2).fit(X)
    again = methods.g_oem(SETTING)
    assert [documents for documents, _ in methods.through(again, X, [600])] == [600]
    assert_array_equal(again.components_, twice.components_)


def test_topics_are_assigned_at_the_least_cost():
    rng = np.random.default_rng(0)
    p, q = rng.dirichlet(np.ones(V), 5), rng.dirichlet(np.ones(V), 5)
    costs = divergences(p, q)
    by_hand = [[sum(a * np.log(a / b)) for b in q] for a in p]
    assert_allclose(costs, by_hand)
    best = min(permutations(range(5)), key=lambda order: costs[np.arange(5), list(order)].sum())
    assert_array_equal(assigned(p, q), best)
    order = rng.permutation(5)
    assert_array_equal(assigned(p[order], p), order)


@pytest.mark.parametrize("part", EXPERIMENTS)
def test_each_has_a_cell_of_each_split(part):
    one = experiment(f"online_em{part}")
    assert isinstance(one, Experiment)
    cells = list(one.cells(False))
    assert len({tuple(cell.items()) for cell in cells}) == len(cells)
    if "split" in one.keys:
        assert {cell["split"] for cell in cells} == set(range(methods.N_SPLITS))
    assert all(cell.keys() <= {*one.keys} for cell in cells)
