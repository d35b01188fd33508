# SPDX-License-Identifier: BSD-3-Clause
"""Collapsed Gibbs sampling against enumeration of all states of tiny documents.

Every law is exact: that of the start, of each sweep and of the posterior. Seeds are
fixed; the bounds are so wide that a correct sampler meets them for nearly all seeds.
"""

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import digamma
from scipy.stats import chi2

from streamtopics.local import Gibbs
from streamtopics.messages import Minibatch
from streamtopics.utils.parallel import SERIAL
from tests.local.test_one_topic import topics_of
from tests.reference import gibbs as reference

pytestmark = pytest.mark.statistical

N_BATCHES = 100
EXPECTED_IN_A_CELL = 10
GOLDEN = 0x9E3779B97F4A7C15
RELATIVE = {np.float32: 2e-5, np.float64: 1e-9}

each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


class Case(NamedTuple):
    """A document, the weights of all words of its minibatch, and alpha."""

    indices: list
    counts: list
    b: np.ndarray
    alpha: np.ndarray

    @property
    def tokens(self):
        return reference.tokens(self.indices, self.counts)

    @property
    def shape(self):
        """Of a law."""
        return (len(self.alpha),) * len(self.tokens[0])

    def start_law(self):
        return reference.start_law(*self.tokens, self.b, self.alpha)

    def visits(self):
        return reference.visits(*self.tokens, self.b, self.alpha)

    def posterior(self):
        return reference.posterior(self.tokens[0], self.b, self.alpha)

    def expectations(self, law):
        return reference.expectations(law, self.tokens[1], self.alpha)


def weights(rng, n_words, n_topics, scales=1.0):
    """Uneven weights, a fifth of them 0 and a fifth 1e-6."""
    b = rng.gamma(0.5, 1.0, (n_words, n_topics)) + 0.01
    kind = rng.random(b.shape)
    b[kind < 0.2] = 0.0
    b[kind > 0.8] = 1e-6
    b[:, 0] += 0.1
    return b * np.reshape(scales, (-1, 1))


def many_topics(n_topics, seed):
    rng = np.random.default_rng(seed)
    b = weights(rng, 3, n_topics, [1e-9, 1e9, 1.0])
    return b, rng.permutation(np.geomspace(0.1, 10.0, n_topics)) / n_topics


B = np.array([[0.7, 0.2, 1e-6], [0.0, 0.5, 0.5], [0.1, 0.1, 0.8], [0.6, 0.1, 0.1]])
B *= [[1e-12], [1.0], [1e12], [3.0]]
WIDE, SMALL, EVEN = np.array([[0.05, 0.7, 5.0], [0.05, 0.3, 0.05], [1.0, 1.0, 1.0]])
CASES = {
    "one token": Case([1], [1], B, WIDE),
    "a word four times": Case([0], [4], B, SMALL),
    "six tokens": Case([0, 2, 3], [3, 2, 1], B, WIDE),
    "six tokens, small alpha": Case([0, 1, 2], [2, 1, 3], B, SMALL),
    "three of K = 17": Case([0, 2], [2, 1], *many_topics(17, 1)),
    "a word twice, K = 40": Case([1], [2], *many_topics(40, 2)),
    "two words, K = 40": Case([0, 2], [1, 1], *many_topics(40, 3)),
    "a word twice, K = 250": Case([1], [2], *many_topics(250, 4)),
    "two words, K = 250": Case([0, 2], [1, 1], *many_topics(250, 5)),
}
FRACTIONS = {
    "fractions": Case([0, 1, 3], [0.5, 1.7, 2.25], B, SMALL),
    "fractions, wide alpha": Case([0, 2, 3], [0.01, 2.3, 1.2], B, WIDE),
    "fractions, K = 40": Case([0, 2], [1.25, 0.3], *many_topics(40, 6)),
}

ALL = CASES | FRACTIONS

each_case = pytest.mark.parametrize("name", CASES)
each_case_or_fraction = pytest.mark.parametrize("name", ALL)


def minibatch(documents, n_words, dtype):
    """Documents given as pairs of indices and counts."""
    lengths = [len(indices) for indices, _ in documents]
    return Minibatch(
        np.arange(n_words, dtype=np.int32),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32),
        np.concatenate([indices for indices, _ in documents]).astype(np.int32),
        np.concatenate([counts for _, counts in documents]).astype(dtype),
    )


def repeated(case, n, dtype):
    """A minibatch of one document n times."""
    return minibatch([(case.indices, case.counts)] * n, len(case.b), dtype)


def random_seeds(rng, n):
    return rng.integers(0, 2**64, n, np.uint64)


class Sampled(NamedTuple):
    """What n copies of a document gave."""

    z: np.ndarray  # (n, N)
    counts: np.ndarray  # (batches, n_words, K), per document
    log_theta: np.ndarray  # (batches, K), per document
    theta: np.ndarray | None  # (n, K); None if the start was given


LOG_THETA = frozenset({"log_theta"})


def kernel(dtype, case, n_sweeps, n_averaged, n, seed, start=None):
    step = Gibbs(n_sweeps, n_averaged)
    given = topics_of(case.b, case.alpha, dtype)
    seeds = random_seeds(np.random.default_rng(seed), n)
    size = n // N_BATCHES
    same = repeated(case, size, dtype)
    z, counts, log_theta = [], [], []
    for i in range(N_BATCHES):
        span = slice(i * size, (i + 1) * size)
        state = None if start is None else start[span].ravel().astype(np.int32)
        learnt, after = step.step(same, given, seeds[span], SERIAL, state, LOG_THETA)
        z.append(after.reshape(size, -1))
        counts.append(learnt.counts / size)
        log_theta.append(learnt.log_theta)
    theta = None
    if start is None:
        theta = step.doc_topic(repeated(case, n, dtype), given, seeds, SERIAL)
    return Sampled(np.concatenate(z), np.array(counts), np.array(log_theta), theta)


kernel_32, kernel_64 = (partial(kernel, dtype) for dtype in (np.float32, np.float64))


def twin(case, n_sweeps, n_averaged, n, seed, start=None):
    x, v = (np.tile(array, (n, 1)) for array in case.tokens)
    found = reference.sample(
        x, v, case.b, case.alpha, n_sweeps, n_averaged, np.random.default_rng(seed), start
    )

    def batches(values):
        return values.reshape(N_BATCHES, -1, *values.shape[1:]).mean(axis=1)

    counts = reference.by_word(batches(found.tokens), x[0], len(case.b))
    return Sampled(found.z, counts, batches(found.log_theta), found.theta)


SAMPLERS = {"kernel_32": kernel_32, "kernel_64": kernel_64, "twin": twin}
each_sampler = pytest.mark.parametrize("sampler", SAMPLERS.values(), ids=SAMPLERS)


def copies(sampler, case, n):
    """Fewer of what takes long; whole batches."""
    share = {kernel_32: 1, kernel_64: 2, twin: 8 if len(case.alpha) > 100 else 4}[sampler]
    return n // share // N_BATCHES * N_BATCHES


def assert_means(values, expected, largest, n):
    """The mean over the first axis is `expected`, within 5.5 standard errors.

    And within 16 of the n documents at the far end of the range `largest`: of rare
    events none may be seen, and then the values are all equal.
    """
    values = values.astype(float)  # the sum of 20,000 float32 is off by more than the bound
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    bound = 5.5 * error + 16 * largest / n + 1e-5 * np.abs(expected)
    distance = np.abs(values.mean(axis=0) - expected)
    assert (distance <= bound).all(), (distance / np.maximum(bound, 1e-300)).max()


def assert_expectations(found, case, exact, n):
    x, v = case.tokens
    counts = reference.by_word(exact.tokens, x, len(case.b))
    length, alpha_0 = v.sum(), case.alpha.sum()
    given = reference.by_word(v[:, None], x, len(case.b))
    assert_allclose(found.counts.sum(axis=2), np.tile(given[:, 0], (N_BATCHES, 1)), rtol=1e-5)
    assert_means(found.counts, counts, given, n)
    spread = digamma(case.alpha + length) - digamma(case.alpha)
    assert_means(found.log_theta, exact.log_theta, spread, n)
    if found.theta is not None:
        assert_allclose(found.theta.sum(axis=1), 1.0, rtol=1e-5)
        assert_means(found.theta, exact.theta, length / (alpha_0 + length), n)


def assert_law(observed, law):
    """Chi-square of observed numbers (S, M), each row against a law (S, M).

    Cells where few are expected are put together within their row.
    """
    observed, law = np.atleast_2d(observed), np.atleast_2d(law)
    assert (observed[law == 0] == 0).all(), "an impossible state"
    statistic, freedom = 0.0, 0
    for seen, p in zip(observed, law, strict=True):
        expected = seen.sum() * p
        few = expected < EXPECTED_IN_A_CELL
        seen = np.append(seen[~few], seen[few].sum())
        expected = np.append(expected[~few], expected[few].sum())
        if expected[-1] < EXPECTED_IN_A_CELL and len(expected) > 1:
            seen[-2] += seen[-1]
            expected[-2] += expected[-1]
            seen, expected = seen[:-1], expected[:-1]
        statistic += ((seen - expected) ** 2 / expected).sum()
        freedom += len(seen) - 1
    if freedom:
        assert chi2.sf(statistic, freedom) > 1e-6, (statistic, freedom)


def assert_states(z, law):
    """z (n, N) against the law of the state, of each token, of pairs of blocks and of ties."""
    n_topics, n_tokens = law.shape[0], law.ndim
    state = np.ravel_multi_index(tuple(z.T), law.shape)
    assert_law(np.bincount(state, minlength=law.size), law.ravel())
    if n_topics < 16:
        return
    for n in range(n_tokens):
        p = law.sum(axis=tuple(m for m in range(n_tokens) if m != n))
        assert_law(np.bincount(z[:, n], minlength=n_topics), p)
    for block in (8, 64):
        coarse = law
        for axis in range(n_tokens):
            coarse = np.add.reduceat(coarse, np.arange(0, n_topics, block), axis=axis)
        cell = np.ravel_multi_index(tuple(z.T // block), coarse.shape)
        assert_law(np.bincount(cell, minlength=coarse.size), coarse.ravel())
    places = np.indices(law.shape)
    tied = law[(places == places[0]).all(axis=0)].sum()
    ties = (z == z[:, :1]).all(axis=1).sum()
    assert_law([ties, len(z) - ties], [tied, 1 - tied])


def drawn(law, n, seed):
    """States (n, N) from a law."""
    cells = np.random.default_rng(seed).choice(law.size, n, p=law.ravel())
    return np.stack(np.unravel_index(cells, law.shape), axis=1)


@pytest.mark.parametrize("name", ["six tokens", "two words, K = 40"])
def test_the_posterior_is_invariant(name):
    case = ALL[name]
    law = case.posterior()
    assert_allclose(law.sum(), 1.0, rtol=1e-12)
    assert_allclose(reference.sweep(law, case.visits()), law, rtol=1e-9, atol=1e-300)


def test_expectations_by_going_through_the_states():
    case = FRACTIONS["fractions"]
    law, (_, v) = case.start_law(), case.tokens
    by_token, log_theta, theta = 0.0, 0.0, 0.0
    for z, p in np.ndenumerate(law):
        one_hot = v[:, None] * np.eye(3)[list(z)]
        posterior = case.alpha + one_hot.sum(axis=0)
        by_token += p * one_hot
        log_theta += p * (digamma(posterior) - digamma(posterior.sum()))
        theta += p * posterior / posterior.sum()
    exact = case.expectations(law)
    assert_allclose(exact.tokens, by_token, rtol=1e-12)
    assert_allclose(exact.log_theta, log_theta, rtol=1e-12)
    assert_allclose(exact.theta, theta, rtol=1e-12)


def long_enough(case):
    return 48 if len(case.alpha) < 100 else 26


@each_sampler
@each_case
@pytest.mark.parametrize("n_averaged", [0, 10])
def test_long_chains_have_the_posterior(sampler, name, n_averaged):
    case, law = ALL[name], ALL[name].posterior()
    n = copies(sampler, case, 10_000)
    found = sampler(case, long_enough(case), n_averaged, n, 1)
    assert_states(found.z, law)
    assert_expectations(found, case, case.expectations(law), n)


@pytest.mark.parametrize("name", CASES)
def test_long_chains_are_long_enough(name):
    """What is left of the start is far below what the test above can see."""
    case, law = ALL[name], ALL[name].posterior()
    last, mean = reference.chain(case.start_law(), case.visits(), long_enough(case), 10)
    assert np.abs(last - law).sum() < 2e-3
    near, exact = case.expectations(mean), case.expectations(law)
    assert np.abs(near.tokens - exact.tokens).max() < 1e-3


@lru_cache
def short_chain(name, n_sweeps, n_averaged):
    case = ALL[name]
    last, mean = reference.chain(case.start_law(), case.visits(), n_sweeps, n_averaged)
    return last, case.expectations(mean)


@each_sampler
@each_case_or_fraction
@pytest.mark.parametrize(
    ("n_sweeps", "n_averaged"), [(1, 0), (1, 1), (2, 1), (2, 2), (3, 2), (4, 0)]
)
def test_short_chains_have_the_law_of_start_and_sweeps(sampler, name, n_sweeps, n_averaged):
    case = ALL[name]
    last, exact = short_chain(name, n_sweeps, n_averaged)
    n = copies(sampler, case, 20_000)
    found = sampler(case, n_sweeps, n_averaged, n, 2)
    assert_states(found.z, last)
    assert_expectations(found, case, exact, n)


@each_sampler
@each_case
def test_a_sweep_leaves_the_posterior_as_it_is(sampler, name):
    case, law = ALL[name], ALL[name].posterior()
    n = copies(sampler, case, 40_000)
    found = sampler(case, 1, 1, n, 3, drawn(law, n, 4))
    assert_states(found.z, law)
    assert_expectations(found, case, case.expectations(law), n)


@each_sampler
@each_case_or_fraction
@pytest.mark.parametrize("n_sweeps", [1, 2])
def test_transitions(sampler, name, n_sweeps):
    """Sweeps from every state, or from 16 of them, impossible ones among them."""
    case = ALL[name]
    size = np.prod(case.shape)
    cells = np.arange(size) if size <= 16 else np.random.default_rng(5).permutation(size)[:16]
    states = np.stack(np.unravel_index(cells, case.shape), axis=1)
    each = copies(sampler, case, 48_000 // len(cells))
    start = np.tile(states, (each, 1))
    found = sampler(case, n_sweeps, 1, len(start), 6, start)
    laws = [
        reference.chain(reference.point_law(z, len(case.alpha)), case.visits(), n_sweeps, 1)[0]
        for z in states
    ]
    after = np.ravel_multi_index(tuple(found.z.T), case.shape).reshape(each, len(cells))
    observed = np.stack([np.bincount(column, minlength=size) for column in after.T])
    assert_law(observed, np.stack([law.ravel() for law in laws]))
    exact = case.expectations(sum(laws) / len(laws))
    assert_expectations(found, case, exact, len(start))


@each_sampler
@pytest.mark.parametrize("n_averaged", [0, 1, 2, 3])
def test_the_last_sweeps_are_averaged(sampler, n_averaged):
    """From a state far away, so that each sweep has another law."""
    case = CASES["six tokens, small alpha"]
    z = np.zeros(len(case.tokens[0]), int)
    law = reference.point_law(z, 3)
    last, mean = reference.chain(law, case.visits(), 3, n_averaged)
    found = sampler(case, 3, n_averaged, 20_000, 7, np.tile(z, (20_000, 1)))
    assert_states(found.z, last)
    assert_expectations(found, case, case.expectations(mean), 20_000)


def documents_of_all_kinds(rng, n_words):
    """Whole numbers, fractions, empty ones, zeros that are stored, one word."""
    documents = []
    for scale in (1.0, 1.0, 0.37, 1.0, 2.6):
        dense = scale * rng.poisson(0.8, n_words)
        documents.append((np.flatnonzero(dense), dense[dense > 0]))
    documents.insert(1, (np.array([], int), np.array([])))
    documents.insert(4, (np.array([0, 2, 5]), np.array([0.0, 3.0, 0.0])))
    documents += [(np.array([3]), np.array([70.0])), (np.array([2, 3]), np.zeros(2))]
    return documents


def tokens_of(documents, dtype):
    """x and v of each document, of the counts as they were stored."""
    return [reference.tokens(indices, counts.astype(dtype)) for indices, counts in documents]


def pieces(z, documents, dtype):
    """z of each document."""
    sizes = [len(x) for x, _ in tokens_of(documents, dtype)]
    assert z.dtype == np.int32
    assert z.shape == (sum(sizes),)
    return np.split(z, np.cumsum(sizes)[:-1])


@each_dtype
@pytest.mark.parametrize("n_topics", [1, 3, 16, 17, 40, 250])
@pytest.mark.parametrize("n_averaged", [0, 1])
def test_statistics_follow_from_the_states_before_and_after(dtype, n_topics, n_averaged):
    rng = np.random.default_rng(n_topics)
    documents = documents_of_all_kinds(rng, 30)
    b = weights(rng, 30, n_topics).astype(dtype).astype(float)
    alpha = rng.permutation(np.geomspace(0.05, 5.0, n_topics))
    n_tokens = sum(len(x) for x, _ in tokens_of(documents, dtype))
    before = rng.integers(0, n_topics, n_tokens).astype(np.int32)
    before.flags.writeable = False
    given = minibatch(documents, 30, dtype), topics_of(b, alpha, dtype)
    seeds = random_seeds(rng, len(documents))
    learnt, after = Gibbs(1, n_averaged).step(*given, seeds, SERIAL, before, LOG_THETA)

    counts, log_theta = np.zeros(b.shape), []
    states = (pieces(z, documents, dtype) for z in (before, after))
    for (x, v), old, new in zip(tokens_of(documents, dtype), *states, strict=True):
        if not len(x):
            continue
        assert (b[x, new] > 0).all()
        shares = np.eye(n_topics)[new]
        if n_averaged:
            shares = reference.conditionals_between(old, new, x, v, b, alpha)
        counts += reference.by_word(v[:, None] * shares, x, 30)
        totals = np.bincount(new, weights=v, minlength=n_topics)
        log_theta.append(digamma(alpha + totals) - digamma(alpha.sum() + v.sum()))
    rtol = RELATIVE[dtype]
    assert_array_equal(learnt.words, given[0].words)
    single = RELATIVE[np.float32] if n_averaged else rtol
    assert_allclose(learnt.counts, counts, rtol=single, atol=single)
    assert_allclose(learnt.log_theta, np.mean(log_theta, axis=0), rtol=50 * rtol, atol=rtol)
    lengths = [counts.astype(dtype).sum(dtype=np.float64) for _, counts in documents]
    assert learnt.lengths.dtype == np.float64
    assert_allclose(learnt.lengths, lengths, rtol=1e-12)


@each_dtype
def test_totals_do_not_drift(dtype):
    """log_theta after many sweeps over tokens of odd weights, where rounding adds up."""
    rng = np.random.default_rng(8)
    documents = [(np.arange(40), rng.gamma(2.0, 3.0, 40))]
    b, alpha = rng.gamma(1.0, 1.0, (40, 20)), np.full(20, 0.01)
    learnt, z = Gibbs(200, 1).step(
        minibatch(documents, 40, dtype), topics_of(b, alpha, dtype), random_seeds(rng, 1), SERIAL,
        report=LOG_THETA,
    )  # fmt: skip
    ((_, v),) = tokens_of(documents, dtype)
    totals = np.bincount(z, weights=v, minlength=20)
    exact = digamma(alpha + totals) - digamma(alpha.sum() + v.sum())
    assert_allclose(learnt.log_theta, exact, rtol=1e-3)


def generated(rng, n, n_tokens, b, alpha):
    """x and z (n, n_tokens) from the model with topics b, sorted by word."""
    theta = rng.dirichlet(alpha, n)
    z = np.stack([reference.draw(theta, rng) for _ in range(n_tokens)], axis=1)
    x = np.stack([reference.draw(b.T[column], rng) for column in z.T], axis=1)
    order = np.argsort(x, axis=1, kind="stable")
    return np.take_along_axis(x, order, axis=1), np.take_along_axis(z, order, axis=1)


def features(x, z, b, n_topics):
    """Of each document: its tokens by group of topics, ties, topics, log weights, neighbours."""
    totals = np.zeros((len(z), n_topics))
    np.add.at(totals, (np.arange(len(z))[:, None], z), 1.0)
    groups = np.add.reduceat(totals, np.arange(0, n_topics, 16), axis=1)
    single = [
        (totals**2).sum(axis=1),
        (totals > 0).sum(axis=1),
        totals.max(axis=1),
        np.log(b[x, z]).sum(axis=1),
        (z[:, 1:] == z[:, :-1]).sum(axis=1),
    ]
    return np.column_stack([groups, *single])


@pytest.mark.parametrize("n_topics", [20, 100, 250])
@pytest.mark.parametrize("sampler", [np.float32, np.float64, "twin"])
def test_documents_from_the_model_keep_their_law(sampler, n_topics):
    """With z from the model, z | x is exact; sweeps leave the law of (x, z) as it is."""
    if sampler == "twin" and n_topics > 20:
        pytest.skip("slow")
    n, n_tokens, n_words = 2000, 40, 60
    rng = np.random.default_rng(n_topics)
    b = rng.dirichlet(np.full(n_words, 0.2), n_topics).T + 1e-6
    b /= b.sum(axis=0)
    alpha = rng.permutation(np.geomspace(0.01, 1.0, n_topics))
    x, z = generated(rng, n, n_tokens, b, alpha)
    if sampler == "twin":
        found = reference.sample(x, np.ones(x.shape), b, alpha, 2, 1, rng, z)
        after, log_theta = found.z, found.log_theta.reshape(N_BATCHES, -1, n_topics).mean(axis=1)
    else:
        after, log_theta, size = [], [], n // N_BATCHES
        for words, old in zip(np.split(x, N_BATCHES), np.split(z, N_BATCHES), strict=True):
            documents = [np.unique(row, return_counts=True) for row in words]
            given = minibatch(documents, n_words, sampler), topics_of(b, alpha, sampler)
            state = old.ravel().astype(np.int32)
            seeds = random_seeds(rng, size)
            learnt, new = Gibbs(2, 1).step(*given, seeds, SERIAL, state, LOG_THETA)
            after.append(new.reshape(size, -1))
            log_theta.append(learnt.log_theta)
        after, log_theta = np.concatenate(after), np.array(log_theta)
    assert (after != z).mean() > 0.1
    change = features(x, after, b, n_topics) - features(x, z, b, n_topics)
    assert_means(change, 0.0, 0.0, n)
    exact = digamma(alpha) - digamma(alpha.sum())
    assert_means(log_theta, exact, digamma(alpha + n_tokens) - digamma(alpha), n)


@each_sampler
def test_a_count_beyond_1024_is_1024_tokens_of_more_weight(sampler):
    """One sweep of one word and two topics, all in the first: who has moved is enough to know."""
    m, v, alpha, row = 1024, 3000 / 1024, np.array([40.0, 90.0]), np.array([0.7, 0.3])
    moved, law = np.arange(m + 1), np.zeros(m + 1)
    law[0] = 1.0
    for _ in range(m):
        stay = row[0] * (alpha[0] + v * np.maximum(m - 1 - moved, 0))
        go = row[1] * (alpha[1] + v * moved)
        p = go / (go + stay)
        law = law * (1 - p) + np.append(0.0, (law * p)[:-1])
    mean = law @ moved
    case = Case([0], [3000.0], row[None], alpha)
    n = 1000
    found = sampler(case, 1, 1, n, 9, np.zeros((n, m), int))
    assert found.z.shape == (n, m)
    seen = found.z.sum(axis=1)
    spread = np.sqrt(law @ (moved - mean) ** 2)
    assert abs(seen.mean() - mean) < 5 * spread / np.sqrt(n)
    assert_allclose(seen.std(), spread, rtol=0.15)
    assert_allclose(found.counts.sum(axis=(1, 2)), 3000.0, rtol=1e-5)
    assert_means(found.counts[:, 0], v * np.array([m - mean, mean]), 0.0, n)


@pytest.mark.parametrize("apart", [1, 2, 2**32, 2**63, GOLDEN, 2**64 - GOLDEN])
@pytest.mark.parametrize("n_tokens", [1, 2, 3])
def test_documents_of_different_seeds_are_independent(apart, n_tokens):
    n = 20_000
    case = Case([0], [n_tokens], np.ones((1, 3)), EVEN)
    first = random_seeds(np.random.default_rng(10), n)
    seeds = np.stack([first, first + np.uint64(apart)], axis=1).ravel()
    given = repeated(case, 2 * n, np.float32), topics_of(case.b, case.alpha, np.float32)
    _, z = Gibbs(1, 0).step(*given, seeds, SERIAL)
    last, _ = reference.chain(case.start_law(), case.visits(), 1, 0)
    both = np.ravel_multi_index(tuple(z.reshape(n, -1).T), last.shape * 2)
    law = np.multiply.outer(last, last).ravel()
    assert_law(np.bincount(both, minlength=law.size), law)
