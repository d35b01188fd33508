# SPDX-License-Identifier: BSD-3-Clause
"""The sampler of the HDP against its twin and against enumeration."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import beta, chisquare, kstest

from streamtopics.kernels import hdp as kernel
from streamtopics.local.step import cut
from streamtopics.messages import Minibatch
from tests.reference import hdp as reference

TOPIC_WORD = np.array([[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
TOKENS = [0, 0, 1, 2]
ETA = np.full(3, 0.1)


def arrays(documents):
    """CSR arrays of lists of (word, count)."""
    indptr = np.cumsum([0] + [len(document) for document in documents], dtype=np.int32)
    entries = [entry for document in documents for entry in document]
    indices = np.array([word for word, _ in entries], dtype=np.int32)
    return indptr, indices, np.array([float(count) for _, count in entries])


def kernel_sample(documents, lam, mass, n_known, eta, eta_mass, alpha, concentration, b, tables,
                  own_counts, seeds, n_sweeps, n_averaged, jobs=1):  # fmt: skip
    sampler = kernel.Sampler(
        lam, mass, n_known, eta, eta_mass, alpha, concentration, b, tables, own_counts
    )
    indptr, indices, counts = arrays(documents)
    tokens = cut(Minibatch(np.arange(len(lam), dtype=np.int32), indptr, indices, counts))
    given = indptr, indices, *tokens, np.asarray(seeds, np.uint64)
    edges = np.linspace(0, len(documents), jobs + 1).astype(int)
    for start, stop in itertools.pairwise(edges):
        sampler.sample(*given, start, stop, n_sweeps, n_averaged)
    return sampler.results()


def minibatch(n_documents=12, n_words=30, fractions=True):
    rng = np.random.default_rng(3)
    documents = []
    for d in range(n_documents):
        words = np.sort(rng.choice(n_words, 8 if d % 5 else 0, replace=False))
        counts = rng.integers(1, 4, len(words)).astype(float)
        if fractions:
            counts[::3] *= 0.37
        documents.append(list(zip(words.tolist(), counts.tolist(), strict=True)))
    return documents


def settings(bayesian, n_known, concentration=3.0):
    """Arguments of both samplers for two topics over 30 words."""
    rng = np.random.default_rng(0)
    eta = np.full(30, 0.05)
    lam = eta[:, None] + rng.gamma(0.3, 3.0, (30, 2)) * (n_known > 0)
    return {
        "lam": lam,
        "mass": lam.sum(axis=0) + 1.0,
        "n_known": n_known,
        "eta": eta,
        "eta_mass": eta.sum() + 1.0,
        "alpha": np.array([0.6, 0.3]),
        "concentration": concentration,
        "b": 2.0,
        "tables": np.array([4.0, 1.0]) if bayesian else None,
        "own_counts": bayesian,
        "n_sweeps": 8,
        "n_averaged": 2,
    }


@pytest.mark.parametrize("bayesian", [False, True])
@pytest.mark.parametrize("n_known", [0, 2])
@pytest.mark.parametrize("fractions", [False, True])
def test_sampler_equals_its_twin(bayesian, n_known, fractions):
    documents = minibatch(fractions=fractions)
    given = settings(bayesian, n_known)
    seeds = [5, 2**64 - 1, *range(10)]
    found = kernel_sample(documents, **given, seeds=seeds)
    expected = reference.sample(documents, **given, seeds=seeds)
    for ours, theirs in zip(found, expected, strict=True):
        assert_allclose(ours, theirs, rtol=1e-8, atol=1e-12)
    assert len(found[1]) > 2


@pytest.mark.parametrize("bayesian", [False, True])
def test_no_token_is_lost_whatever_is_born_or_dies(bayesian):
    documents = minibatch(200)
    seeds = np.arange(200)
    given = settings(bayesian, 2, concentration=30.0)
    counts, tables, alpha = kernel_sample(documents, **given, seeds=seeds)
    _indptr, indices, sizes = arrays(documents)
    assert_allclose(counts.sum(axis=1), np.bincount(indices, sizes, 30), rtol=1e-12)
    assert (tables >= 0).all()
    assert (alpha[2:] > 0).all()
    assert alpha.sum() < 2.0
    assert len(alpha) > 10
    again = kernel_sample(documents, **given, seeds=seeds, jobs=7)
    assert_array_equal(again[0], counts)


def sampled_counts(*given):
    """Of the tokens and two topics, in long chains."""
    documents = [[(0, 2), (1, 1), (2, 1)]]
    chains = (kernel_sample(documents, *given, [seed], 1100, 1000) for seed in range(40))
    return [counts[:, :2] for counts, *_ in chains]


def test_fixed_topics_give_the_enumerated_counts():
    alpha = np.array([0.7, 0.4])
    lam = np.ascontiguousarray(TOPIC_WORD.T)
    found = sampled_counts(lam, np.ones(2), 2, ETA, 0.3, alpha, 1.0, 1.1, None, False)
    exact = reference.expected_counts(TOKENS, TOPIC_WORD, [alpha], [1.0])
    error = np.std(found, axis=0) / 40**0.5
    assert (error < 0.005).all()
    assert (np.abs(np.mean(found, axis=0) - exact) < 4 * error).all()


def test_sticks_of_documents_give_the_enumerated_counts():
    """pibar_1 ~ Beta(1 + t_1, t_2 + concentration) is integrated; pibar_2 is 1."""
    t, concentration, b = np.array([1.5, 2.0]), 1e-4, 1.3
    lam = 1e9 * np.ascontiguousarray(TOPIC_WORD.T)
    mass, alpha = np.full(2, 1e9), np.full(2, 0.65)
    found = sampled_counts(lam, mass, 2, ETA, 0.3, alpha, concentration, b, t, True)
    nodes, weights = np.polynomial.legendre.leggauss(60)
    stick = (nodes + 1) / 2
    weights = weights * beta.pdf(stick, 1 + t[0], t[1] + concentration)
    alphas = b * np.column_stack([stick, 1 - stick])
    exact = reference.expected_counts(TOKENS, TOPIC_WORD, alphas, weights)
    error = np.std(found, axis=0) / 40**0.5
    assert (error < 0.006).all()
    assert (np.abs(np.mean(found, axis=0) - exact) < 4 * error + 1e-3).all()


@pytest.mark.parametrize("n", [1, 2, 7])
def test_drawn_tables_have_antoniaks_distribution(n):
    b = 1.7
    much, given = np.full(1, 1e9), (1, ETA[:1], 1.0, np.full(1, b), 1e-9, b)
    chains = (
        kernel_sample([[(0, n)]], much[None], much, *given, much, True, [seed], 1, 1)
        for seed in range(4000)
    )
    drawn = np.array([tables[0] for _, tables, _ in chains])
    expected = 4000 * reference.table_distribution(b, n)
    observed = np.bincount(drawn.astype(int), minlength=n + 1)
    possible = expected > 0
    assert observed[~possible].sum() == 0
    assert chisquare(observed[possible], expected[possible]).pvalue > 1e-3 or n == 1


def test_a_topic_that_is_born_has_the_weight_of_its_tables():
    """That of one table, which chose it by its weight: Beta(1, concentration)."""
    lam, t, concentration, b = np.array([[0.5], [1e6]]), np.array([1.0]), 1.5, 2.0
    given = lam, lam.sum(axis=0), 1, np.full(2, 0.5), 1.0, np.array([0.8]), concentration, b, t
    shares = []
    for seed in range(1500):
        alpha = kernel_sample([[(0, 1)]], *given, True, [seed], 3, 1)[2]
        shares += [alpha[1] / (b - alpha[0])] if len(alpha) > 1 else []
    assert len(shares) > 1400
    assert kstest(shares, beta(1, concentration).cdf).pvalue > 1e-3
    assert kstest(shares, beta(2, concentration).cdf).pvalue < 1e-100


@pytest.mark.parametrize("weight", [1e-12, 1e-9, 1e-3])
def test_an_occupied_topic_has_a_table(weight):
    given = settings(bayesian=True, n_known=2)
    _, tables, _ = kernel_sample([[(0, weight)]], **given, seeds=[1])
    assert tables.sum() == 1


def test_wrong_shapes_are_refused():
    with pytest.raises(ValueError, match="do not agree"):
        kernel.Sampler(np.ones((3, 2)), np.ones(3), 2, ETA, 0.3, np.ones(2), 1.0, 3.0, None, False)


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, -1e300, 1e300])
@pytest.mark.parametrize("name", ["lam", "mass", "alpha", "concentration", "tables"])
def test_numbers_that_are_none_end(name, number):
    """Draws and sums that no number satisfies are given up."""
    given = settings(True, 2)
    given[name] = np.full_like(given[name], number) if np.ndim(given[name]) else number
    seeds = np.arange(12, dtype=np.uint64)
    kernel_sample(minibatch(), **given, seeds=seeds)
