# SPDX-License-Identifier: BSD-3-Clause
"""Online EM and stochastic variational inference of LDA against plain NumPy streams."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import digamma

from streamtopics import StreamingLDA
from streamtopics.local import Variational
from streamtopics.local.step import minibatch_of
from streamtopics.models import LDA
from streamtopics.models.lda import mean
from streamtopics.models.sources import NOISE, RandomStart
from streamtopics.posteriors import TopicPosterior
from streamtopics.updates import SVB, MeanDecay, OnlineEM
from streamtopics.utils.parallel import SERIAL, workers
from tests.plain import VariationalOnlineEM
from tests.reference import online_em as reference
from tests.reference import variational

N_WORDS = 20
SWEEPS = 12
ROUNDS = 4
STEPS = [(0.7, 0.0), (0.3, 2.0), (1.0, 0.0), (1.0, 6.0)]


# Data


def minibatches(sizes=(11, 4, 17, 9)):
    """Dense counts; the last word never occurs, others only from some minibatch on."""
    rng = np.random.default_rng(29)
    batches = []
    for i, size in enumerate(sizes):
        batch = rng.poisson(rng.gamma(0.3, 3.0, (size, N_WORDS))).astype(float)
        batch[:, rng.permutation(N_WORDS)[: 3 * (i % 4)]] = 0.0
        batch[:, -1] = 0.0
        batch[:, -4:] *= i > 0
        batches.append(batch)
    batches[1][2] = 0.0
    batches[2] *= 0.5
    return batches


def prior_of_topics(kind, n_components):
    """The prior as an estimator takes it."""
    rng = np.random.default_rng(31)
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


def frequentist_start(model, eta):
    """The M-step's beta that the first minibatch sees, up to a factor for each word."""
    start = RandomStart(TopicPosterior(np.ascontiguousarray(eta), eta.shape), model.seed_)
    return start.rows(np.arange(len(eta), dtype=np.int32)) / start.mass


def bayesian_start(model, eta):
    """The exp(E[log beta]) that the first minibatch sees."""
    start = RandomStart(TopicPosterior(np.ascontiguousarray(eta), eta.shape), model.seed_)
    rows = start.rows(np.arange(len(eta), dtype=np.int32))
    return variational.exp_digamma_rows(rows, digamma(start.mass))


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
    expected = list(expected)
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected, strict=True):
        assert_allclose(result, wanted, **tolerance)


# Against the reference streams


@pytest.mark.parametrize(("kappa", "tau"), STEPS)
@pytest.mark.parametrize("prior", ["scalar", "(V,)", "(K, V)"])
@pytest.mark.parametrize("boosted", [False, True])
def test_online_em_equals_the_reference_stream(kappa, tau, prior, boosted):
    given, batches = prior_of_topics(prior, 4), minibatches()
    eta, alpha = by_word(given, 4), np.linspace(0.2, 1.0, 4)
    n_sweeps = ROUNDS if boosted else SWEEPS
    model = online_em(
        kappa=kappa, tau=tau, topic_word_prior=given, doc_topic_prior=alpha,
        update_each_sweep=boosted, max_local_iter=n_sweeps,
    )  # fmt: skip
    results = iterates(model, batches)
    expected = reference.online_em(
        batches, frequentist_start(model, eta), eta, alpha, kappa=kappa, tau=tau,
        n_rounds=ROUNDS if boosted else None, max_iter=n_sweeps,
    )  # fmt: skip
    assert_all_close(results, expected, rtol=1e-7)


@pytest.mark.parametrize(("kappa", "tau"), STEPS)
@pytest.mark.parametrize("prior", ["scalar", "(V,)", "(K, V)"])
@pytest.mark.parametrize("n_documents", [None, 1000])
def test_stochastic_vi_equals_the_reference_stream(kappa, tau, prior, n_documents):
    given, batches = prior_of_topics(prior, 4), minibatches()
    eta, alpha = by_word(given, 4), np.linspace(0.2, 1.0, 4)
    model = online_vb(
        kappa=kappa, tau=tau, topic_word_prior=given, doc_topic_prior=alpha, n_documents=n_documents
    )
    results = iterates(model, batches)
    expected = reference.stochastic_vi(
        batches, bayesian_start(model, eta), eta, alpha, kappa=kappa, tau=tau,
        n_documents=n_documents, max_iter=SWEEPS,
    )  # fmt: skip
    assert_all_close(results, expected, rtol=1e-7)


@pytest.mark.parametrize("boosted", [False, True])
@pytest.mark.parametrize(("n_components", "dtype"), [(70, np.float64), (4, np.float32)], ids=str)
def test_streams_of_more_topics_than_the_dense_path_takes_and_in_single_precision(
    boosted, n_components, dtype
):
    batches, eta = minibatches((6, 3, 5)), by_word(0.2, n_components)
    alpha, n_sweeps = np.full(n_components, 0.05), ROUNDS if boosted else SWEEPS
    model = online_em(
        n_components, topic_word_prior=0.2, doc_topic_prior=0.05, update_each_sweep=boosted,
        max_local_iter=n_sweeps,
    )  # fmt: skip
    results = iterates(model, batches, dtype)
    expected = reference.online_em(
        batches, frequentist_start(model, eta), eta, alpha, kappa=0.7,
        n_rounds=ROUNDS if boosted else None, max_iter=n_sweeps,
    )  # fmt: skip
    error = {"atol": 2e-4 * batches[0].sum(axis=1).mean()} if dtype is np.float32 else {}
    assert_all_close(results, expected, **error or {"rtol": 1e-6})


# What the rules promise: the sum over the topics does not depend on the inference


def test_rounds_go_on_from_where_the_last_left_the_documents():
    batches = minibatches()
    few, many = (online_em(update_each_sweep=True, max_local_iter=n) for n in (3, 30))
    plain = online_em(max_local_iter=30)
    last = [iterates(model, batches)[-1] for model in (few, many, plain)]
    assert min(np.abs(last[0] - last[1]).max(), np.abs(last[1] - last[2]).max()) > 1e-3


# Incremental and 1 / t: the same where the scale of lam does not matter


def engine(rule, view, batches, n_components=4):
    """lam after every minibatch, of any rule with any view."""
    posterior = TopicPosterior(np.full((1, 1), 0.2), (N_WORDS, n_components), np.full(4, 0.5))
    local = Variational(0.0, SWEEPS)
    model = LDA(view, local, local, 3, NOISE)
    results = []
    with workers(None) as pool:
        for batch in batches:
            minibatch = minibatch_of(sparse.csr_matrix(batch))
            posterior.blend(
                rule.step(posterior, model.learner(posterior, minibatch, pool), None)[0]
            )
            results.append(posterior.dense())
    return results


def normalised(results):
    return [lam / lam.sum(axis=0) for lam in results]


def test_incremental_em_is_counting_under_the_frequentist_view():
    batches = minibatches((8,) * 6)
    em, counting = (engine(rule, mean, batches) for rule in (OnlineEM(MeanDecay(1.0)), SVB()))
    assert_all_close(normalised(em), normalised(counting), rtol=1e-9)
    for t, (a, b) in enumerate(zip(em, counting, strict=True), 1):
        assert_allclose(8 * t * a, b, rtol=1e-9)


# Gibbs


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
