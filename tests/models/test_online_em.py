# SPDX-License-Identifier: BSD-3-Clause
"""Online EM and stochastic variational inference of LDA against plain NumPy streams."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics import StreamingLDA
from streamtopics.local import Variational
from streamtopics.local.step import minibatch_of
from streamtopics.models import LDA
from streamtopics.models.lda import mean
from streamtopics.models.sources import NOISE
from streamtopics.posteriors import TopicPosterior
from streamtopics.updates import SVB, MeanDecay, OnlineEM
from streamtopics.utils.parallel import SERIAL
from tests.models.test_lda import (
    N_WORDS,
    PRIORS,
    by_word,
    iterates,
    minibatches,
    start_rows,
    start_weights,
    topic_word_prior,
)  # fmt: skip
from tests.plain import VariationalOnlineEM
from tests.reference import online_em as reference
from tests.updates.given import take

SWEEPS = 12
ROUNDS = 4
STEPS = [(0.7, 0.0), (0.3, 2.0), (1.0, 0.0), (1.0, 6.0)]


def start_beta(model, eta):
    """The M-step's beta that the first minibatch sees, up to a factor for each word."""
    rows, mass = start_rows(model, eta)
    return rows / mass


def online_em(n_components=4, **others):
    fixed = {"max_local_iter": SWEEPS, "local_tol": 0.0, "random_state": 5}
    fixed["doc_topic_prior_update"] = "fixed"
    return VariationalOnlineEM(n_components, **fixed | others)


def online_vb(n_components=4, **others):
    """Stochastic variational inference; `kappa`, `tau` and `n_documents` are of its rule."""
    names = {name: f"update__step_size__{name}" for name in ("kappa", "tau")}
    names["n_documents"] = "update__n_documents"
    others = {names.get(name, name): value for name, value in others.items()}
    fixed = {"inference": Variational(0.0, SWEEPS), "doc_topic_prior": None, "random_state": 5}
    return StreamingLDA.preset("OnlineVBLDA", n_components, **fixed | others)


def assert_all_close(results, expected, **tolerance):
    for result, wanted in zip(results, expected, strict=True):
        assert_allclose(result, wanted, **tolerance)


CASES = [
    *product([4], [np.float64], STEPS, PRIORS),
    # More topics than the dense path takes, and single precision.
    (70, np.float64, (0.7, 0.0), "scalar"),
    (4, np.float32, (0.7, 0.0), "scalar"),
]


@pytest.mark.parametrize(("n_components", "dtype", "step", "prior"), CASES)
@pytest.mark.parametrize("boosted", [False, True])
def test_online_em_equals_the_reference_stream(n_components, dtype, step, prior, boosted):
    given, batches = topic_word_prior(prior, n_components), minibatches((11, 4, 17, 9), 3)
    eta, alpha = by_word(given, n_components), np.linspace(0.2, 1.0, n_components)
    n_sweeps, (kappa, tau) = ROUNDS if boosted else SWEEPS, step
    model = online_em(
        n_components, kappa=kappa, tau=tau, topic_word_prior=given, doc_topic_prior=alpha,
        update_each_sweep=boosted, max_local_iter=n_sweeps,
    )  # fmt: skip
    results = iterates(model, batches, dtype)
    expected = reference.online_em(
        batches, start_beta(model, eta), eta, alpha, kappa=kappa, tau=tau,
        n_rounds=ROUNDS if boosted else None, max_iter=n_sweeps,
    )  # fmt: skip
    error = {"atol": 2e-4 * batches[0].sum(axis=1).mean()} if dtype is np.float32 else {}
    assert_all_close(results, expected, **error or {"rtol": 1e-6 if n_components == 70 else 1e-7})


@pytest.mark.parametrize(("kappa", "tau"), STEPS)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("n_documents", [None, 1000])
def test_stochastic_vi_equals_the_reference_stream(kappa, tau, prior, n_documents):
    given, batches = topic_word_prior(prior, 4), minibatches((11, 4, 17, 9), 3)
    eta, alpha = by_word(given, 4), np.linspace(0.2, 1.0, 4)
    model = online_vb(
        kappa=kappa, tau=tau, topic_word_prior=given, doc_topic_prior=alpha, n_documents=n_documents
    )
    results = iterates(model, batches)
    expected = reference.stochastic_vi(
        batches, start_weights(model, eta), eta, alpha, kappa=kappa, tau=tau,
        n_documents=n_documents, max_iter=SWEEPS,
    )  # fmt: skip
    assert_all_close(results, expected, rtol=1e-7)


def under_means(rule, batches):
    """lam after every minibatch, of any rule under the frequentist view."""
    posterior = TopicPosterior(np.full((1, 1), 0.2), (N_WORDS, 4), np.full(4, 0.5))
    local = Variational(0.0, SWEEPS)
    model = LDA(mean, local, local, 3, NOISE)
    for batch in batches:
        minibatch = minibatch_of(sparse.csr_matrix(batch))
        take(rule, posterior, model.learner(posterior, minibatch, SERIAL))
        yield posterior.dense()


def test_incremental_em_is_counting_under_the_frequentist_view():
    batches = minibatches((8,) * 6)
    em, counting = (under_means(rule, batches) for rule in (OnlineEM(MeanDecay(1.0)), SVB()))
    assert_all_close([8 * t * lam for t, lam in enumerate(em, 1)], counting, rtol=1e-9)


def hard_counts(model, batches):
    """Sum of the counts that single Gibbs samples of each minibatch give, by hand."""
    total = 0.0
    for batch in batches:
        minibatch = minibatch_of(sparse.csr_matrix(batch))
        learn = model._composition().model(model.seed_).learner(model.posterior_, minibatch, SERIAL)
        counts = np.zeros((batch.shape[1], model.n_components))
        counts[minibatch.words] = learn(model.posterior_).counts
        total = total + counts
        model.partial_fit(batch)
    return total


def test_streaming_gibbs_is_incremental_em_on_samples():
    """s_t = s_{t-1} + E[S], as the source has it, and the running mean are one method."""
    batches = np.random.default_rng(0).poisson(0.4, (5, 20, 25)).astype(float)
    model = StreamingLDA.preset("StreamingGibbsLDA", 4, topic_word_prior=0.3, random_state=1)
    model.partial_fit(batches[0][:0])
    counts = hard_counts(model, batches)
    assert_array_equal(counts, np.round(counts))
    assert counts.sum() == batches.sum()
    expected = (counts + 0.3) / (counts + 0.3).sum(axis=0)
    assert_allclose(model.topic_word_.T, expected, rtol=1e-9)
