# SPDX-License-Identifier: BSD-3-Clause
"""The variational kernels against their plain twins, for every instruction set."""

from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import digamma

from streamtopics.kernels import select, supported, variational
from tests.kernels.variants import each, freeze, variants
from tests.reference import lda as exact
from tests.reference import variational as reference

KERNELS = variants("variational")
N_WORDS = 40
ACTIVE = [65, 100, 300]
COMPONENTS = [1, 2, 20, 64, *ACTIVE]
ALPHA = {
    "0.001": lambda k: np.full(k, 1e-3),
    "0.1": lambda k: np.full(k, 0.1),
    "10": lambda k: np.full(k, 10.0),
    "asymmetric": lambda k: np.random.default_rng(k).permutation(np.geomspace(1e-3, 10.0, k)),
}
# Rounding of a gamma: relative to itself, and in all to the tokens of its document.
RELATIVE = {np.float32: 1e-3, np.float64: 1e-10}
IN_ALL = {np.float32: 2e-5, np.float64: 1e-12}

each_kernel = each(KERNELS)


def each_variant(test):
    """Of each instruction set and precision."""
    return each_kernel(pytest.mark.parametrize("dtype", [np.float32, np.float64])(test))


def topics(rng, n_words, n_components, base=0.01, shape=0.3):
    """Weights as a model would make them: rows of exp(E[log beta]), largest entry 1."""
    lam = rng.gamma(shape, 10.0, (n_words, n_components)) + base
    return reference.exp_digamma_rows(lam, digamma(lam.sum(axis=0)))


def as_document(dense):
    columns = np.flatnonzero(dense)
    return columns, dense[columns].astype(np.float64)


def mixed_documents(rng, n_words):
    """Documents of all kinds, as pairs (columns, counts)."""
    return [
        *(as_document(scale * rng.poisson(0.7, n_words)) for scale in (1, 1, 1, 1, 0.37)),
        (np.array([], int), np.array([])),
        (np.array([3]), np.array([7.0])),
        (np.array([1, 4, 9, 30]), np.array([1e9, 2.0, 1e9, 5.0])),
        (np.array([0, 2, 5, 6, 7]), np.array([0.0, 3.0, 0.0, 0.0, 4.0])),
        (np.array([2, 3]), np.zeros(2)),
    ]


def drawn_documents(rng, lam, alpha, n_documents, n_tokens):
    """Documents from the model with topics lam (n_words, K)."""
    beta, thetas = lam / lam.sum(axis=0), rng.dirichlet(alpha, n_documents)
    return [as_document(rng.multinomial(n_tokens, beta @ theta)) for theta in thetas]


def csr(documents, dtype):
    """indptr, indices, counts."""
    lengths = [len(columns) for columns, _ in documents]
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    indices = np.concatenate([columns for columns, _ in documents]).astype(np.int32)
    counts = np.concatenate([counts for _, counts in documents]).astype(dtype)
    return indptr, indices, counts


def padded(kernel, rows, dtype):
    """Rows with zero columns up to the width that the kernels want."""
    out = np.zeros((len(rows), kernel.padded_width(rows.shape[1])), dtype)
    out[:, : rows.shape[1]] = rows
    return out


def run(kernel, arrays, weights, alpha, tol, max_iter, start=0, stop=None):
    """gamma and n_iter of infer_documents for a CSR minibatch and padded weights."""
    stop = len(arrays[0]) - 1 if stop is None else stop
    psi_alpha = digamma(alpha)
    shared = np.empty(len(weights))
    kernel.prior_weights(weights, psi_alpha, shared)
    freeze(*arrays, weights, alpha, psi_alpha, shared)
    gamma = np.full((stop - start, len(alpha)), np.nan, weights.dtype)
    n_iter = np.full(stop - start, -1, np.int32)
    kernel.infer_documents(
        *arrays, weights, alpha, psi_alpha, shared, start, stop, tol, max_iter, gamma, n_iter
    )
    return gamma, n_iter


def infer(kernel, documents, weights, alpha, dtype, tol, max_iter):
    """gamma and n_iter for documents given as pairs."""
    weights = padded(kernel, weights, dtype)
    return run(kernel, csr(documents, dtype), weights, alpha, tol, max_iter)


def rounded(documents, weights, dtype):
    """What the kernel saw, in float64, without the words that do not occur."""
    weights = weights.astype(dtype).astype(np.float64)
    for columns, counts in documents:
        counts = counts.astype(dtype).astype(np.float64)
        yield counts[counts > 0], weights[columns[counts > 0]]


@lru_cache
def mixed_case(n_components, alpha, dtype, tol, max_iter):
    """Mixed documents, weights, alpha and the twin's gamma."""
    rng = np.random.default_rng(7)
    weights = topics(rng, N_WORDS, n_components)
    documents = mixed_documents(rng, N_WORDS)
    alpha = ALPHA[alpha](n_components)
    gamma = [
        reference.fixed_point(counts, rows, alpha, tol, max_iter)[0]
        for counts, rows in rounded(documents, weights, dtype)
    ]
    return documents, weights, alpha, np.array(gamma)


@lru_cache
def drawn_case(n_components, n_documents=8, n_tokens=150):
    """Documents of a model whose topics are well apart, its weights and its alpha."""
    rng = np.random.default_rng(n_components)
    lam = rng.gamma(0.05, 200.0, (200, n_components)) + 0.1
    alpha = np.full(n_components, 5.0 / n_components)
    weights = reference.exp_digamma_rows(lam, digamma(lam.sum(axis=0)))
    return drawn_documents(rng, lam, alpha, n_documents, n_tokens), weights, alpha


def tokens(documents):
    return np.array([counts.sum() for _, counts in documents])


def scaled_rows(kernel, x, offset, dtype):
    freeze(x, offset)
    out = np.full((len(x), kernel.padded_width(x.shape[1])), np.nan, dtype)
    kernel.exp_digamma_rows(x, offset, out)
    return out


def near_rows(low, high):
    """Rows of entries in low .. high whose exp(psi) are comparable."""
    rng = np.random.default_rng(1)
    x = 10 ** rng.uniform(np.log10(low), np.log10(high), (500, 1))
    x = x * np.exp(0.01 * rng.standard_normal((500, 20)))
    return np.clip(x, low, high)


def assert_as_accurate_as_stated(kernel, dtype, x, offset):
    expected = reference.exp_digamma_rows(x, offset)
    single = dtype is np.float32
    visible = expected > (1e-17 if single else 1e-147)
    out = scaled_rows(kernel, x, offset, dtype)[:, : x.shape[1]]
    error = 1e-6 + 5e-7 / x.min() if single else 1e-12
    assert_allclose(out[visible], expected[visible], rtol=error)


@each_variant
@pytest.mark.parametrize(
    ("low", "high"), [(1e-3, 1e-2), (1e-2, 0.1), (0.1, 1.0), (1.0, 10.0), (10.0, 1e9)]
)
def test_exp_digamma_is_as_accurate_as_stated(kernel, dtype, low, high):
    assert_as_accurate_as_stated(kernel, dtype, near_rows(low, high), np.zeros(20))


@each_variant
def test_exp_digamma_over_the_whole_range_of_a_row(kernel, dtype):
    for n_components in [1, 3, 16, 20, 65]:
        rng = np.random.default_rng(n_components)
        x = 10 ** rng.uniform(-3, 9, (500, n_components))
        for offset in [np.zeros(n_components), digamma(x.sum(axis=0))]:
            assert_as_accurate_as_stated(kernel, dtype, x, offset)


@each_variant
def test_tiny_entries_stay_below_the_stated_floor(kernel, dtype):
    floor = 2e-18 if dtype is np.float32 else 3e-148
    rng = np.random.default_rng(5)
    x = 10 ** rng.uniform(-3, 9, (2000, 3))
    expected = reference.exp_digamma_rows(x)
    tiny = expected < floor
    out = scaled_rows(kernel, x, np.zeros(3), dtype)[:, :3]
    assert tiny.sum() > 100
    assert out[tiny].min() >= 0
    assert out[tiny].max() <= floor * (1 + 1e-4)


@each_variant
def test_the_largest_entry_is_one_and_the_padding_zero(kernel, dtype):
    x = near_rows(1e-3, 1e9)
    out = scaled_rows(kernel, x, np.linspace(-3.0, 3.0, x.shape[1]), dtype)
    assert_allclose(out.max(axis=1), 1.0, rtol=2 * np.finfo(dtype).eps)
    assert out.shape[1] > x.shape[1]
    assert_array_equal(out[:, x.shape[1] :], 0.0)


@each_variant
def test_sweeps_equal_the_twin(kernel, dtype):
    """With tolerance 0 no topic is left out and no document stops early."""
    max_iter = 9 if dtype is np.float32 else 13
    for n_components in COMPONENTS:
        for name in ALPHA:
            documents, weights, alpha, expected = mixed_case(
                n_components, name, dtype, 0.0, max_iter
            )
            gamma, n_iter = infer(kernel, documents, weights, alpha, dtype, 0.0, max_iter)
            assert np.isfinite(gamma).all()
            assert (gamma > 0).all()
            assert (n_iter <= max_iter).all()
            assert_allclose(gamma, expected, rtol=RELATIVE[dtype])
            change = np.abs(gamma - expected).sum(axis=1)
            scale = tokens(documents) + alpha.sum()
            assert (change <= IN_ALL[dtype] * scale).all()


@each_variant
def test_gamma_holds_all_tokens(kernel, dtype):
    for n_components in COMPONENTS:
        for max_iter in [1, 2, 7, 200]:
            for tol in [0.0, 1e-3]:
                rng = np.random.default_rng(2)
                weights = topics(rng, N_WORDS, n_components)
                documents = mixed_documents(rng, N_WORDS)
                alpha = ALPHA["0.1"](n_components)
                gamma, _ = infer(kernel, documents, weights, alpha, dtype, tol, max_iter)
                rtol = 3e-6 if dtype is np.float32 else 1e-12
                expected = alpha.sum() + tokens(documents)
                assert_allclose(gamma.sum(axis=1, dtype=np.float64), expected, rtol=rtol)
                assert (gamma > 0).all()


@each_variant
def test_documents_of_few_tokens_in_flat_topics(kernel, dtype):
    """All of gamma is small here, and exp(psi(gamma)) far below the smallest number."""
    for n_components in [16, 20, 64, 65, 100, 200]:
        for count in [0.05, 0.25, 1.0]:
            for prior in [1e-3, 1.0 / n_components]:
                rng = np.random.default_rng(n_components)
                weights = rng.permutation(np.linspace(0.5, 1.0, n_components))[None]
                alpha = np.full(n_components, prior)
                document = (np.array([0]), np.array([count]))
                gamma, _ = infer(kernel, [document], weights, alpha, dtype, 1e-3, 200)
                [(counts, rows)] = rounded([document], weights, dtype)
                expected, _ = reference.fixed_point(counts, rows, alpha, 1e-3, 200)
                assert np.abs(gamma[0] - expected).sum() <= 2e-3 * count


@each_variant
def test_one_more_sweep_changes_less_than_the_tolerance(kernel, dtype):
    """Less than once the tolerance on the dense path, than twice it beyond 64 topics."""
    for n_components in [20, 64, 65, 100, 300, 500]:
        for tol in [1e-2, 1e-3, 1e-4]:
            documents, weights, alpha = drawn_case(n_components)
            gamma, n_iter = infer(kernel, documents, weights, alpha, dtype, tol, 1000)
            allowed = tol * (2 if n_components > kernel.DENSE_UP_TO else 1)
            rounding = 1e-5 if dtype is np.float32 else 1e-12
            assert (n_iter < 1000).all()
            for d, (counts, rows) in enumerate(rounded(documents, weights, dtype)):
                change = np.abs(reference.sweep(counts, rows, alpha, gamma[d]) - gamma[d]).sum()
                assert change <= (allowed + rounding) * counts.sum()


@each_variant
@pytest.mark.parametrize("n_components", [65, 100, 300])
@pytest.mark.parametrize("tol", [1e-3, 1e-5])
def test_the_active_set_finds_the_dense_fixed_point(kernel, dtype, n_components, tol):
    """As near as a point can be that a dense sweep moves by twice the tolerance."""
    documents, weights, alpha = drawn_case(n_components)
    gamma, _ = infer(kernel, documents, weights, alpha, dtype, tol, 5000)
    rounding = 1e-5 if dtype is np.float32 else 1e-12
    for d, (counts, rows) in enumerate(rounded(documents, weights, dtype)):
        expected, found = fixed_point_of_drawn(n_components, d, dtype), gamma[d].astype(float)
        change = (2 * tol + rounding) * counts.sum()
        allowed = reference.distance_bound(counts, rows, expected, found, change)
        assert np.abs(found - expected).sum() <= allowed
        onwards, _ = reference.fixed_point(counts, rows, alpha, 1e-9, 5000, start=found)
        assert np.abs(onwards - expected).sum() <= 1e-6 * counts.sum()


@lru_cache
def fixed_point_of_drawn(n_components, d, dtype):
    documents, weights, alpha = drawn_case(n_components)
    counts, rows = list(rounded(documents, weights, dtype))[d]
    gamma, n_iter = reference.fixed_point(counts, rows, alpha, 1e-11, 5000)
    assert n_iter < 5000
    return gamma


@each_variant
@pytest.mark.parametrize(
    ("n_components", "alpha", "n_tokens"), [(200, 0.25, 400), (200, 0.25, 20), (500, 2.0, 1000)]
)
def test_many_topics_with_a_little_each_do_converge(kernel, dtype, n_components, alpha, n_tokens):
    """Each of the topics left out holds little, all of them together do not."""
    rng = np.random.default_rng(n_components)
    lam = rng.gamma(0.05, 200.0, (200, n_components)) + 0.1
    alpha = np.full(n_components, alpha)
    weights = reference.exp_digamma_rows(lam, digamma(lam.sum(axis=0)))
    documents = drawn_documents(rng, lam, alpha, 6, n_tokens)
    tol, max_iter = 1e-3, 1000
    gamma, n_iter = infer(kernel, documents, weights, alpha, dtype, tol, max_iter)
    sweeps, changes = [], []
    for row, (counts, rows) in zip(gamma, rounded(documents, weights, dtype), strict=True):
        sweeps.append(reference.fixed_point(counts, rows, alpha, tol, max_iter)[1])
        changes.append(np.abs(reference.sweep(counts, rows, alpha, row) - row).sum())
    assert max(sweeps) < max_iter / 2
    assert n_iter.max() < max_iter
    assert (np.array(changes) <= (2 * tol + 1e-5) * n_tokens).all()


@each_variant
@pytest.mark.parametrize("n_components", [3, 20, 64, 100])
@pytest.mark.parametrize("alpha", ["0.1", "asymmetric"])
def test_every_sweep_raises_the_bound(kernel, dtype, n_components, alpha):
    """But one that comes after an extrapolation, which may lower it and is made up for."""
    rng = np.random.default_rng(11)
    weights = topics(rng, N_WORDS, n_components)
    documents = [as_document(rng.poisson(0.7, N_WORDS)) for _ in range(3)]
    alpha = ALPHA[alpha](n_components)
    seen, bounds = list(rounded(documents, weights, dtype)), np.empty((24, 3))
    for max_iter in range(1, 25):
        gamma, _ = infer(kernel, documents, weights, alpha, dtype, 0.0, max_iter)
        for d, case in enumerate(seen):
            bounds[max_iter - 1, d] = reference.bound(*case, alpha, gamma[d])
    steps = np.diff(bounds, axis=0)
    slack = np.abs(bounds).max() * (1e-6 if dtype is np.float32 else 1e-13)
    plain = np.ones(len(steps), bool)
    plain[reference.PLAIN_SWEEPS + 1 :: 2] = False
    assert plain[: reference.PLAIN_SWEEPS + 1].all()
    if n_components <= kernel.DENSE_UP_TO:
        assert steps[plain].min() >= -slack
    assert steps[: reference.PLAIN_SWEEPS].min() >= -slack
    assert (bounds[-1] >= bounds[reference.PLAIN_SWEEPS] - slack).all()
    assert (np.sum(steps, axis=0) > 0.01).all()


@each_kernel
@pytest.mark.parametrize("n_components", [20, 64, 100, 300])
def test_extrapolation_saves_sweeps_and_loses_no_bound(kernel, n_components):
    """Beside plain sweeps to the same tolerance, over documents that the model has made.

    No more than a tenth of a nat on the average: one may come to another optimum.
    """
    documents, weights, alpha = drawn_case(n_components)
    gamma, n_iter = infer(kernel, documents, weights, alpha, np.float64, 1e-4, 2000)
    gain, plain_sweeps = [], []
    for d, seen in enumerate(rounded(documents, weights, np.float64)):
        plain, sweeps = reference.plain_fixed_point(*seen, alpha, 1e-4, 2000)
        plain_sweeps.append(sweeps)
        found, expected = (reference.bound(*seen, alpha, point) for point in (gamma[d], plain))
        gain.append(found - expected)
    assert np.mean(gain) > -0.1
    assert n_iter.mean() < 0.8 * np.mean(plain_sweeps)


TINY = {3: [[0], [0, 0, 1], [2, 3, 1, 0, 0, 2], [1] * 5], 70: [[0], [3, 3], [1, 2]]}


@each_variant
@pytest.mark.parametrize("n_components", TINY)
@pytest.mark.parametrize("alpha", [0.05, 1.0, "asymmetric"])
def test_the_bound_lies_below_the_likelihood(kernel, dtype, n_components, alpha):
    token_lists = TINY[n_components]
    rng = np.random.default_rng(n_components)
    beta = rng.dirichlet(np.full(4, 0.5), n_components)
    alpha = ALPHA[alpha](n_components) if alpha in ALPHA else np.full(n_components, alpha)
    documents = [as_document(np.bincount(tokens, minlength=4)) for tokens in token_lists]
    gamma, _ = infer(kernel, documents, beta.T, alpha, dtype, 1e-6, 2000)
    for row, document, words in zip(gamma, documents, token_lists, strict=True):
        counts, rows = document[1], beta.T[document[0]]
        bound = reference.bound(counts, rows, alpha, row)
        best, _ = reference.fixed_point(counts, rows, alpha, 1e-6, 2000)
        assert bound <= exact.log_likelihood(words, alpha, beta) + 1e-9
        assert_allclose(bound, reference.bound(counts, rows, alpha, best), atol=1e-4)


@each_variant
@pytest.mark.parametrize("n_components", [3, 64, 100])
def test_a_document_does_not_depend_on_the_others(kernel, dtype, n_components):
    rng = np.random.default_rng(9)
    weights = topics(rng, N_WORDS, n_components)
    documents = mixed_documents(rng, N_WORDS)
    alpha = ALPHA["asymmetric"](n_components)
    together, n_iter = infer(kernel, documents, weights, alpha, dtype, 1e-3, 40)
    order = rng.permutation(len(documents))
    shuffled, _ = infer(kernel, [documents[d] for d in order], weights, alpha, dtype, 1e-3, 40)
    assert_array_equal(shuffled, together[order])
    for d, (columns, counts) in enumerate(documents):
        alone = [(np.arange(len(columns)), counts)]
        gamma, sweeps = infer(kernel, alone, weights[columns], alpha, dtype, 1e-3, 40)
        assert_array_equal(gamma[0], together[d])
        assert sweeps[0] == n_iter[d]


def statistics(kernel, arrays, weights, exp_theta, n_components, cuts):
    by_word = sparse.csr_matrix(
        (arrays[2], arrays[1], arrays[0]), shape=(len(arrays[0]) - 1, len(weights))
    ).tocsc()
    freeze(by_word.indptr, by_word.indices, by_word.data, weights, exp_theta)
    out = np.full((len(weights), n_components), np.nan, weights.dtype)
    for start, stop in pairwise(cuts):
        kernel.word_statistics(
            by_word.indptr, by_word.indices, by_word.data, weights, exp_theta, start, stop, out
        )
    return out


def statistics_case(kernel, n_components, dtype):
    """CSR arrays, weights and exp_theta, both padded, and the documents' gamma."""
    rng = np.random.default_rng(n_components)
    documents = mixed_documents(rng, N_WORDS)
    weights = topics(rng, N_WORDS, n_components).astype(dtype)
    gamma = rng.gamma(1.0, 3.0, (len(documents), n_components)) + 0.3
    exp_theta = scaled_rows(kernel, gamma, np.zeros(n_components), dtype)
    return csr(documents, dtype), padded(kernel, weights, dtype), exp_theta, gamma


def dense(arrays):
    shape = (len(arrays[0]) - 1, N_WORDS)
    matrix = sparse.csr_matrix((arrays[2], arrays[1], arrays[0]), shape=shape)
    return matrix.toarray().astype(np.float64)


@each_variant
@pytest.mark.parametrize("n_components", COMPONENTS)
def test_word_statistics_equal_the_twin(kernel, dtype, n_components):
    arrays, weights, exp_theta, gamma = statistics_case(kernel, n_components, dtype)
    out = statistics(kernel, arrays, weights, exp_theta, n_components, [0, N_WORDS])
    counts = dense(arrays)
    expected = reference.word_statistics(counts, weights[:, :n_components], gamma)
    rtol = 2e-5 if dtype is np.float32 else 1e-11
    assert_allclose(out, expected, rtol=rtol, atol=np.finfo(dtype).tiny)
    rtol = 2e-6 if dtype is np.float32 else 1e-12
    assert_allclose(out.sum(dtype=np.float64), counts.sum(), rtol=rtol)
    assert_allclose(out.sum(axis=1, dtype=np.float64), counts.sum(axis=0), rtol=rtol)


@each_variant
def test_word_statistics_where_words_and_documents_share_no_topic(kernel, dtype):
    """The weights meet where both are at their floor: still finite, nothing lost."""
    weights = scaled_rows(kernel, np.array([[500.0, 1e-3], [1e-3, 500.0]]), np.zeros(2), dtype)
    exp_theta = scaled_rows(kernel, np.array([[1e9, 1e-3], [1e-3, 1e9]]), np.zeros(2), dtype)
    arrays = csr([(np.arange(2), np.array([1e9, 1e9]))] * 2, dtype)
    out = statistics(kernel, arrays, weights, exp_theta, 2, [0, 2])
    assert np.isfinite(out).all()
    assert_allclose(out.sum(axis=1), 2e9, rtol=1e-6)


def test_the_widest_instruction_set_can_be_selected_by_name():
    assert "baseline" in KERNELS
    assert select("_variational") is variational
    assert variational in KERNELS.values()


@pytest.mark.parametrize("name", supported()[:-1])
@pytest.mark.parametrize("n_components", [3, 20, 64, 100])
@pytest.mark.parametrize(
    ("dtype", "max_iter", "rtol"),
    [
        # As far as nothing is extrapolated; each extrapolation takes differences of differences.
        (np.float32, reference.PLAIN_SWEEPS + 2, 2e-5),
        (np.float64, reference.PLAIN_SWEEPS + 2, 1e-12),
        (np.float64, reference.PLAIN_SWEEPS + 7, 1e-10),
    ],
)
def test_instruction_sets_agree(name, n_components, dtype, max_iter, rtol):
    results = []
    for kernel in (KERNELS["baseline"], KERNELS[name]):
        arrays, weights, exp_theta, _ = statistics_case(kernel, n_components, dtype)
        alpha = ALPHA["asymmetric"](n_components)
        gamma, n_iter = run(kernel, arrays, weights, alpha, 0.0, max_iter)
        counts = statistics(kernel, arrays, weights, exp_theta, n_components, [0, N_WORDS])
        shared = np.empty(len(weights))
        kernel.prior_weights(weights, digamma(alpha), shared)
        results.append((exp_theta, gamma, n_iter, counts, shared))
    for baseline, wide in zip(*results, strict=True):
        assert_allclose(wide, baseline, rtol=rtol)
