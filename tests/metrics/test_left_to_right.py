# SPDX-License-Identifier: BSD-3-Clause
"""Left-to-right evaluation against enumeration and against its twin."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import roots_sh_jacobi

from streamtopics.datasets import make_lda_corpus
from streamtopics.kernels import left_to_right as kernel
from streamtopics.metrics import left_to_right
from tests.reference import left_to_right as reference

ALPHA = np.array([0.3, 0.8, 0.5])
TOPIC_WORD = np.random.default_rng(0).dirichlet(np.full(4, 0.7), 3)
DOCUMENTS = [[0], [0, 0, 1], [2, 3, 1, 0, 0, 2], [1, 1, 1, 1, 1]]
X = np.array([np.bincount(tokens, minlength=4) for tokens in DOCUMENTS])
# The documents several times, each time of words of their own that have that share of the chances.
N_COPIES = 100
COPIES = sparse.block_diag([X] * N_COPIES, format="csr")
COPIED = np.tile(TOPIC_WORD / N_COPIES, N_COPIES)
EXACT = np.array([reference.log_likelihood(tokens, TOPIC_WORD, ALPHA) for tokens in DOCUMENTS])
FOUR = np.vstack([TOPIC_WORD, np.random.default_rng(1).dirichlet(np.ones(4))])


def assert_near(result, exact):
    distance = np.abs(result.log_likelihood - exact)
    assert (distance <= 4 * result.standard_error + 1e-12).all()


@pytest.mark.parametrize("n_resampled", [0, 1, 3, None])
def test_product_form_tends_to_the_enumerated_likelihood(n_resampled):
    result = left_to_right(X, TOPIC_WORD, ALPHA, n_particles=40_000, n_resampled=n_resampled)
    assert_allclose(result.log_likelihood[0], EXACT[0], rtol=1e-12)
    assert (result.standard_error < 0.005).all()
    assert_near(result, EXACT)


@pytest.mark.statistical
@pytest.mark.parametrize("n_resampled", [0, 2, None])
def test_product_form_is_unbiased_with_few_particles(n_resampled):
    how, seeds = {"n_particles": 2, "n_resampled": n_resampled}, range(3000 // N_COPIES)
    runs = (left_to_right(COPIES, COPIED, ALPHA, **how, random_state=s)[0] for s in seeds)
    estimates = np.concatenate([run.reshape(N_COPIES, -1) for run in runs])
    ratio = np.exp(estimates - EXACT) * N_COPIES ** X.sum(axis=1)
    error = ratio.std(axis=0) / np.sqrt(len(ratio))
    assert (np.abs(ratio.mean(axis=0) - 1) <= 4 * error + 1e-12).all()


def test_standard_error_is_the_spread_of_repeated_estimates():
    how = {"n_particles": 400, "n_resampled": 1}
    runs = [left_to_right(X, TOPIC_WORD, ALPHA, **how, random_state=s) for s in range(300)]
    found, stated = np.swapaxes(runs, 0, 1)[:, :, 1:]
    assert_allclose(stated.mean(axis=0), found.std(axis=0), rtol=0.2)


@pytest.mark.parametrize("n_resampled", [-1, 0, 2])
@pytest.mark.parametrize("seed", [0, 7, 2**64 - 2])
def test_kernel_equals_its_twin(n_resampled, seed):
    weights = np.ascontiguousarray(TOPIC_WORD.T)
    tokens = np.repeat(np.arange(4, dtype=np.int32), [3, 0, 5, 2])
    out = np.empty((6, 10))
    kernel.token_probabilities(weights, tokens.copy(), ALPHA, n_resampled, seed, out)
    expected = reference.token_probabilities(weights, tokens, ALPHA, n_resampled, seed, 6)
    assert_allclose(out, expected, rtol=1e-12)


def test_a_document_does_not_depend_on_the_others_or_on_the_threads():
    corpus = make_lda_corpus(n_documents=20, n_components=4, n_features=30, random_state=0)
    settings = {"n_particles": 10, "doc_topic_prior": 0.25}
    whole = left_to_right(corpus.X, corpus.topic_word, **settings)
    alone = left_to_right(corpus.X[7], corpus.topic_word, **settings)
    assert_array_equal(alone.log_likelihood, whole.log_likelihood[[7]])
    threads = left_to_right(corpus.X, corpus.topic_word, **settings, n_jobs=2)
    assert_array_equal(threads.log_likelihood, whole.log_likelihood)
    other = left_to_right(corpus.X, corpus.topic_word, **settings, random_state=1)
    assert (other.log_likelihood != whole.log_likelihood).all()


def test_edges():
    documents = sparse.csr_matrix([[0, 0, 0, 0], [2, 0, 0, 0]])
    result = left_to_right(documents, TOPIC_WORD, 0.1, n_particles=1)
    assert result.log_likelihood[0] == 0.0
    assert np.isnan(result.standard_error[1])
    impossible = left_to_right([[1, 1]], [[1.0, 0.0]], 0.1)
    assert impossible.log_likelihood[0] == -np.inf
    assert left_to_right(X[:0], TOPIC_WORD, 0.1).log_likelihood.shape == (0,)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X": X * 0.5}, "whole numbers"),
        ({"X": X[:, :3]}, "X has 3 features, but the topics have 4"),
        ({"topic_word": 2 * TOPIC_WORD}, "must be distributions"),
        ({"doc_topic_prior": 0.0}, "doc_topic_prior must be positive"),
        ({"doc_topic_prior": 0.1, "split_prior": [1.0, 0.0]}, "split_prior must be positive"),
        ({"X": [[1]], "topic_word": [[1.0]], "split_prior": 1.0}, "minimum of 2 is required"),
        ({"n_particles": 10**6 + 1}, "n_particles must be at most 1,000,000; got 1000001"),
        ({"random_state": 2**63}, "random_state must be at most 9,223"),
    ],
)
def test_wrong_arguments(change, message):
    arguments = {"X": X, "topic_word": TOPIC_WORD, "doc_topic_prior": ALPHA} | change
    with pytest.raises(ValueError, match=message):
        left_to_right(**arguments)


def test_a_topic_with_a_proportion_of_its_own():
    """With omega_0 the mass of the others it is one Dirichlet over all."""
    settings = {"n_particles": 20_000, "n_resampled": None}
    split = left_to_right(X, FOUR, ALPHA, split_prior=[ALPHA.sum(), 0.9], **settings)
    alpha = np.append(ALPHA, 0.9)
    assert_near(split, [reference.log_likelihood(t, FOUR, alpha) for t in DOCUMENTS])


def test_a_proportion_of_its_own_against_quadrature():
    omega = np.array([3.0, 2.0])
    p, weight = roots_sh_jacobi(12, omega.sum() - 1, omega[1])
    topics = [(1 - q) * FOUR[:3] + q * FOUR[3] for q in p]
    likelihoods = [
        [np.exp(reference.log_likelihood(tokens, beta, ALPHA)) for beta in topics]
        for tokens in DOCUMENTS
    ]
    settings = {"n_particles": 20_000, "n_resampled": 3}
    found = left_to_right(X, FOUR, ALPHA, split_prior=omega, **settings)
    assert_near(found, np.log(likelihoods @ weight / weight.sum()))


@pytest.mark.parametrize(
    ("longest", "n_particles", "most"), [(1e9, 100, 671088), (1e15, 20, 3355443), (99, 10**6, 67)]
)
def test_more_tokens_than_the_memory_takes_are_refused(longest, n_particles, most):
    message = f"{n_particles} particles can read {most} in a document; the longest has"
    with pytest.raises(ValueError, match=message):
        left_to_right([[1, 2], [0, longest]], [[0.5, 0.5]], 0.5, n_particles=n_particles)
