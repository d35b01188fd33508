# SPDX-License-Identifier: BSD-3-Clause
"""Streams of LDA against a plain NumPy stream, and what the update rules promise."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import digamma

from streamtopics.local import Gibbs, Variational
from streamtopics.local.step import minibatch_of
from streamtopics.messages import Statistics
from streamtopics.models import LDA
from streamtopics.models.lda import BoundedPrior, geometric_mean, visible_topics
from streamtopics.models.sources import NOISE, RandomStart
from streamtopics.posteriors import Blend, TopicPosterior
from streamtopics.utils.parallel import SERIAL
from tests.plain import BPSLDA, SVBLDA
from tests.reference import lda as reference
from tests.reference import variational

N_WORDS = 25
SWEEPS = 15


def minibatches(sizes=(12, 12, 12, 12), n_late=0):
    """Dense counts; the last word never occurs, others not in all, some not in the first."""
    rng = np.random.default_rng(17)
    batches = []
    for i, size in enumerate(sizes):
        batch = rng.poisson(rng.gamma(0.3, 3.0, (size, N_WORDS))).astype(float)
        batch[:, rng.permutation(N_WORDS)[: 3 * (i % 4)]] = 0.0
        batch[:, -1] = 0.0
        batch[:, N_WORDS - 1 - n_late :] *= i > 0
        batches.append(batch)
    batches[1][len(batches[1]) // 3] = 0.0
    batches[2] *= 0.5
    return batches


PRIORS = ["scalar", "(V,)", "(K, V)"]


def topic_word_prior(kind, n_components):
    """The prior as an estimator takes it."""
    rng = np.random.default_rng(23)
    return {
        "scalar": 0.2,
        "(V,)": rng.uniform(0.05, 2.0, N_WORDS),
        "(K, V)": rng.uniform(0.05, 2.0, (n_components, N_WORDS)),
    }[kind]


def by_word(prior, n_components):
    """The prior as an array (V, K)."""
    return np.broadcast_to(prior, (n_components, N_WORDS)).T.astype(np.float64)


def iterates(model, batches, dtype=np.float64):
    """lam (V, K) after partial_fit on each minibatch."""
    return [model.partial_fit(sparse.csr_matrix(b, dtype=dtype)).components_.T for b in batches]


def start_rows(model, eta):
    """Rows and masses that the first minibatch sees."""
    start = RandomStart(TopicPosterior(np.ascontiguousarray(eta), eta.shape), model.seed_)
    return start.rows(np.arange(len(eta), dtype=np.int32)), start.mass


def start_weights(model, eta):
    """The exp(E[log beta]) that the first minibatch sees."""
    rows, mass = start_rows(model, eta)
    return variational.exp_digamma_rows(rows, digamma(mass))


@pytest.mark.parametrize("cells", [1, 40, 40_000])
def test_factors_of_words_are_what_the_weights_lack(cells, monkeypatch):
    monkeypatch.setattr("streamtopics.models.lda.CELLS_PER_JOB", cells)
    lam = np.random.default_rng(0).gamma(0.5, 3.0, (N_WORDS, 3)) + 0.05
    source = TopicPosterior(lam, lam.shape, np.ones(3))
    minibatch = minibatch_of(sparse.csr_matrix(np.ones((2, N_WORDS))))
    found = visible_topics(geometric_mean, source, minibatch, SERIAL, log=geometric_mean.log)
    expected = digamma(lam) - digamma(lam.sum(axis=0))
    assert_allclose(np.log(found.weights[:, :3]) + found.log_factors[:, None], expected, rtol=1e-6)


def test_in_learning_the_prior_weighs_no_more_than_its_limit():
    posterior = TopicPosterior(np.full((1, 1), 5.0), (N_WORDS, 3), np.full(3, 0.5))
    batches = [minibatch_of(sparse.csr_matrix(batch)) for batch in minibatches()[:2]]
    local = Variational(0.0, 2)
    model = LDA(geometric_mean, local, local, 3, NOISE, prior_limit=0.1)
    first = model.learner(posterior, batches[0], SERIAL)(posterior)
    posterior.blend(Blend(1.0, 1.0, 0.0, first))
    found = model.learner(posterior, batches[1], SERIAL)(posterior)
    limited = model.topics(BoundedPrior(posterior, 0.1), batches[1], SERIAL)
    expected, _ = local.step(batches[1], limited, None, SERIAL)
    assert_array_equal(found.counts, expected.counts)
    whole = replace(model, prior_limit=None).learner(posterior, batches[1], SERIAL)(posterior)
    assert np.abs(found.counts - whole.counts).max() > 0.1


def test_documents_ahead_have_the_draws_of_as_many_that_were_learnt():
    fresh, later = (TopicPosterior(np.ones((1, 1)), (N_WORDS, 3), np.ones(3)) for _ in range(2))
    nothing = Statistics(np.empty(0, np.int32), np.empty((0, 3)), np.zeros(12))
    later.blend(Blend(1.0, 1.0, 0.0, nothing))
    minibatch = minibatch_of(sparse.csr_matrix(minibatches()[0]))

    def learnt(posterior, n_ahead):
        model = LDA(geometric_mean, Gibbs(2), Gibbs(2), 3, NOISE, n_ahead=n_ahead)
        return model.learner(posterior, minibatch, SERIAL)(posterior).counts

    assert_array_equal(learnt(fresh, 12), learnt(later, 0))
    assert_array_equal(learnt(fresh, 20), learnt(later, 8))
    assert np.abs(learnt(fresh, 12) - learnt(fresh, 0)).max() > 0.01


def settings(n_components, **others):
    fixed = {"inference": Variational(0.0, SWEEPS), "random_state": 3}
    return {"n_components": n_components} | fixed | others


CASES = [
    *product([2, 5], PRIORS, [1, 3], [{}], [np.float64]),
    *product([4], PRIORS, [1, 3], [{"scale": 0.3, "norm": "whole"}], [np.float64]),
    *product([4], PRIORS, [1, 3], [{"scale": 0.3, "norm": "topic"}], [np.float64]),
    # More topics than the dense path takes, and single precision.
    (70, "scalar", 1, {}, np.float64),
    *product([5], ["scalar"], [1, 3], [{}], [np.float32]),
]


@pytest.mark.parametrize(("n_components", "prior", "n_rounds", "boost", "dtype"), CASES)
def test_svb_and_bps_equal_the_reference_stream(n_components, prior, n_rounds, boost, dtype):
    given, batches = topic_word_prior(prior, n_components), minibatches()
    eta, alpha = by_word(given, n_components), np.linspace(0.2, 1.0, n_components)
    others = {f"boosting_{name}": value for name, value in boost.items()}
    kind = BPSLDA if boost else SVBLDA
    others |= {"schedule__n_rounds": n_rounds, "topic_word_prior": given, "doc_topic_prior": alpha}
    model = kind(**settings(n_components, **others))
    *_, lam = iterates(model, batches, dtype)
    expected = reference.stream(
        batches, start_weights(model, eta), eta, alpha, n_passes=n_rounds, max_iter=SWEEPS, **boost
    )
    if dtype is np.float32:
        assert np.abs(lam - expected).sum() < 1e-4 * np.concatenate(batches).sum()
    else:
        assert_allclose(lam, expected, rtol=1e-6 if n_components == 70 else 1e-7)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("n_rounds", [1, 3])
def test_the_random_start_leaves_no_trace(prior, n_rounds):
    """A word that never occurs keeps its prior exactly, under BPS its share of it."""
    given = topic_word_prior(prior, 4)
    eta, batches = by_word(given, 4), minibatches()
    never = sum(batch.sum(axis=0) for batch in batches) == 0
    same = settings(4, schedule__n_rounds=n_rounds, topic_word_prior=given)
    svb, bps = SVBLDA(**same), BPSLDA(boosting_scale=0.2, **same)
    assert never.any()
    assert_array_equal(iterates(svb, batches)[-1][never], eta[never])
    assert_array_equal(iterates(bps, batches)[-1][never], (bps.posterior_.c * eta)[never])


BY_WORD = np.linspace(0.1, 3.0, 4000)[:, None]


@pytest.mark.parametrize("eta", [np.full((1, 1), 0.5), BY_WORD, BY_WORD * np.linspace(0.5, 1, 6)])
def test_random_start_does_not_depend_on_the_other_words(eta):
    start = RandomStart(TopicPosterior(eta, (4000, 6)), 5)
    everything = start.rows(np.arange(4000, dtype=np.int32))
    rng = np.random.default_rng(0)
    for n in (1, 2, 50, 3999):
        words = np.sort(rng.choice(4000, n, replace=False)).astype(np.int32)
        assert_array_equal(start.rows(words), everything[words])
    assert start.rows(np.empty(0, np.int32)).shape == (0, 6)
