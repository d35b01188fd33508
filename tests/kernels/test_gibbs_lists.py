# SPDX-License-Identifier: BSD-3-Clause
"""The Gibbs step on topics of words in lists: exact posteriors, and rounding that is unbiased."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.local import Gibbs
from streamtopics.local.gibbs import _average, _Seen
from streamtopics.messages import Topics, WordLists
from streamtopics.utils.parallel import SERIAL, workers
from tests.kernels.test_gibbs import (  # noqa: F401
    LOG_THETA,
    assert_posterior,
    each_kernel,
    mixed_minibatch,
    one_document,
    posterior,
    random_seeds,
    run,
    tokens_of,
    word_totals,
)


def make_lists(rng, n_words, n_topics, density=0.3, alpha=None, least=0.0):
    """Topics in lists, with other lists between them, and their weights as an array."""
    counts = rng.gamma(0.3, 4.0, (n_words, n_topics)) + 0.05
    counts *= rng.random((n_words, n_topics)) < density
    scale, base = rng.uniform(0.5, 2.0, (2, n_topics))
    prior = rng.uniform(0.01, 0.03, n_words)
    alpha = np.full(n_topics, 2.0 / n_topics) if alpha is None else alpha
    of_words, topics = np.nonzero(counts)
    length = np.count_nonzero(counts, axis=1)
    order = np.argsort(-of_words, kind="stable")  # The last word first
    first = np.cumsum(length[::-1])[::-1] - length
    places = np.column_stack((first, length, length)).astype(np.int64)
    topics, own = topics[order].astype(np.int32), counts[of_words, topics][order]
    lists = WordLists(places, topics, own, scale, base, prior, least)
    return Topics(lists, alpha), prior[:, None] * base + scale * counts


@pytest.mark.parametrize(
    ("n_topics", "counts", "density"), [(40, (1, 2), 0.2), (70, (1, 1), 0.8), (205, (1, 1), 0.05)]
)
def test_posterior(each_kernel, n_topics, counts, density):  # noqa: F811
    """What chains expect is what all assignments counted out give."""
    rng = np.random.default_rng(n_topics)
    alpha = rng.gamma(1.0, 1.0 / n_topics, n_topics) + 0.02
    topics, weights = make_lists(rng, len(counts), n_topics, density, alpha)
    expected = posterior(counts, weights, alpha)
    assert_posterior(Gibbs(100, 90), topics, counts, 4000, *expected)


@pytest.mark.parametrize("n_topics", [33, 64, 300])
def test_no_token_is_lost(each_kernel, n_topics):  # noqa: F811
    rng = np.random.default_rng(1)
    minibatch, (topics, _) = mixed_minibatch(rng), make_lists(rng, 60, n_topics)
    statistics, z = run(Gibbs(4, 2), minibatch, topics, report=LOG_THETA)
    assert_allclose(statistics.counts.sum(axis=1), word_totals(minibatch), rtol=1e-5)
    last, z = run(Gibbs(4, 0), minibatch, topics)
    tokens = tokens_of(minibatch)
    counts = np.zeros((60, n_topics))
    weight = np.repeat(minibatch.counts.astype(float) / tokens, tokens)
    np.add.at(counts, (np.repeat(minibatch.indices, tokens), z), weight)
    assert_allclose(last.counts.toarray(), counts, rtol=1e-12)


def test_words_stay_in_the_only_topic_that_they_may_have(each_kernel):  # noqa: F811
    rng = np.random.default_rng(2)
    minibatch, (topics, _) = mixed_minibatch(rng), make_lists(rng, 60, 200, 0.005)
    lists = replace(topics.weights, prior=np.where(topics.weights.places[:, 1] > 0, 0.0, 1.0))
    _, z = run(Gibbs(4, 2), minibatch, Topics(lists, topics.alpha))
    tokens = tokens_of(minibatch)
    for word, topic in zip(np.repeat(minibatch.indices, tokens), z, strict=True):
        first, length, _ = lists.places[word]
        own = lists.topics[first : first + length]
        assert topic in own or not len(own)


def test_the_bits_depend_on_nothing_else():
    """Neither workers nor other documents, and a chain goes on from where it was."""
    rng = np.random.default_rng(3)
    minibatch, (topics, _) = mixed_minibatch(rng, 200), make_lists(rng, 60, 120, least=0.1)
    step = Gibbs(3, 2)
    alone, z = run(step, minibatch, topics, report=LOG_THETA)
    with workers(3) as threads:
        found, others = run(step, minibatch, topics, None, threads, LOG_THETA)
    assert_array_equal(found.counts.toarray(), alone.counts.toarray())
    assert_array_equal(found.log_theta, alone.log_theta)
    assert_array_equal(others, z)
    seeds = random_seeds(200)
    theta = step.doc_topic(minibatch, topics, seeds, SERIAL)
    for d in (0, 1, 3, 199):
        own = step.doc_topic(one_document(minibatch, d), topics, seeds[d : d + 1], SERIAL)
        assert_array_equal(theta[d : d + 1], own)
    again = [run(Gibbs(1, 1), minibatch, topics, z)[1] for _ in range(2)]
    assert_array_equal(*again)
    assert (again[0] == z).mean() > 0.2


def test_rounding_is_right_on_average_and_keeps_the_tokens_of_words():
    rng, least = np.random.default_rng(4), 0.3
    minibatch, (topics, _) = mixed_minibatch(rng), make_lists(rng, 60, 50)
    step, seen = Gibbs(4, 2), _Seen.of(topics, SERIAL)
    given = minibatch, topics, seen, random_seeds(20), SERIAL, None, True, False
    parts = step._run(*given)

    def found(topics, seed):
        seeds = np.array([seed], np.uint64)
        return _average(minibatch, topics, seen, parts, seeds, SERIAL)

    exact = found(topics, 0).toarray()
    rough = Topics(replace(topics.weights, least=least), topics.alpha)
    drawn = np.array([found(rough, seed).toarray() for seed in range(2000)])
    assert drawn[drawn > 0].min() >= 0.99 * least / 3
    totals = exact.sum(axis=1)
    assert np.all(np.abs(drawn.sum(axis=2) - totals) <= 1e-5 * totals + least + least / 3)
    error = drawn.std(axis=0) / np.sqrt(len(drawn)) + 1e-5 * exact + 1e-3
    assert np.all(np.abs(drawn.mean(axis=0) - exact) < 5 * error)


@pytest.mark.parametrize("wrong", ["order", "topic", "length", "place"])
def test_lists_that_do_not_fit_are_refused(wrong):
    rng = np.random.default_rng(5)
    minibatch, (topics, _) = mixed_minibatch(rng), make_lists(rng, 60, 40)
    lists = topics.weights
    names, places = lists.topics.copy(), lists.places.copy()
    first, length, _ = places.T
    place = first[np.argmax(length)]
    if wrong == "order":
        names[place] = names[place + 1]
    elif wrong == "topic":
        names[place + length.max() - 1] = 40
    elif wrong == "length":
        length[0] += 1000
    else:
        first[0] = -1
    bad = replace(lists, topics=names, places=places)
    with pytest.raises(ValueError, match="do not agree"):
        run(Gibbs(2, 1), minibatch, Topics(bad, topics.alpha))
