# SPDX-License-Identifier: BSD-3-Clause
"""The enumeration of topic models of sentences, against all that is known otherwise."""

from collections import Counter
from itertools import product
from math import exp, log

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln, logsumexp
from scipy.stats import chi2

from tests.reference import lda
from tests.reference.was_enumeration import (
    HDP,
    SBP,
    WAS,
    FixedTopics,
    IntegratedTopics,
    canonical,
    entry,
    flat,
    law,
    lengths_of,
    log_joint,
    log_likelihood,
    posterior,
    rounds,
    simulate,
    sizes,
)

pytestmark = pytest.mark.statistical

PRIORS = {
    "was": WAS(1.0, 1.0, 1.0),
    "was, uneven sticks": WAS((0.5, 1.5, 3.0), (1.0, 2.0, 0.3), 0.5),
    "hdp": HDP(0.5, 1.0),
    "hdp, other concentrations": HDP(2.0, 0.3),
    "sbp": SBP(1.0, 1.0, 3),
    "sbp, uneven sticks": SBP((0.5, 2.0), (1.0, 0.7), 3),
}
TOPIC_WORD = np.array([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]])
EXPECTED_IN_A_CELL = 10

each_prior = pytest.mark.parametrize("prior", PRIORS.values(), ids=PRIORS)


def laws_of(prior, lengths):
    """Probability of each configuration."""
    return {
        prior.canonical(tables, dishes): exp(prior.log_probability(tables, dishes))
        for tables, dishes in prior.configurations(lengths)
    }


def assert_chi_square(seen, law):
    """Counts of states against their law; rare states are put together."""
    n = sum(seen.values())
    assert set(seen) <= set(law)
    common = [state for state in law if n * law[state] >= EXPECTED_IN_A_CELL]
    observed = np.array([seen[state] for state in common] + [0.0])
    expected = np.array([n * law[state] for state in common] + [0.0])
    observed[-1], expected[-1] = n - observed.sum(), n - expected.sum()
    kept = expected > 1e-9 * n
    statistic = ((observed[kept] - expected[kept]) ** 2 / expected[kept]).sum()
    assert len(common) > 3
    assert chi2.sf(statistic, kept.sum() - 1) > 1e-4


# The prior


@each_prior
@pytest.mark.parametrize("lengths", [(3, 2, 2), (1, 0, 3), (4,), (1, 1, 1), (), (0,)])
def test_probabilities_sum_to_one(prior, lengths):
    assert_allclose(sum(laws_of(prior, lengths).values()), 1.0, rtol=1e-10)


@pytest.mark.parametrize("lengths", [(3, 2, 2), (1, 0, 3), (4,), (2, 2), (1, 1, 1)])
def test_number_of_configurations(lengths):
    """Of WAS, where the dishes tell the tables, as many as partitions of all words."""
    bell = {3: 5, 4: 15, 7: 877}[sum(lengths)]
    configurations = list(WAS(1.0, 1.0, 1.0).configurations(lengths))
    assert len(configurations) == bell
    assert len({canonical(*configuration) for configuration in configurations}) == bell
    atoms = list(SBP(1.0, 1.0, 2).configurations(lengths))
    assert len(atoms) == 2 ** sum(lengths)


def test_number_of_configurations_of_the_franchise():
    """Of two words: one table, or two with one or two dishes."""
    assert len(list(HDP(1.0, 1.0).configurations((2,)))) == 3
    assert len(list(WAS(1.0, 1.0, 1.0).configurations((2,)))) == 2


def test_configurations_are_canonical():
    for prior in (WAS(1.0, 1.0, 1.0), HDP(1.0, 1.0)):
        for tables, dishes in prior.configurations((3, 2)):
            assert canonical(tables, dishes) == (
                tuple(map(tuple, tables)),
                tuple(map(tuple, dishes)),
            )


def predictive_probabilities(g, a, b):
    """pi of the tables and xi, of Theorem 4, from the sizes before."""
    pi, xi = [], 1.0
    for j in range(len(g)):
        a_j, b_j, h = entry(a, j), entry(b, j), sum(g[j + 1 :])
        pi.append(xi * (a_j + g[j] - 1) / (a_j + b_j + g[j] + h - 1))
        xi *= (b_j + h) / (a_j + b_j + g[j] + h - 1)
    return pi, xi


@pytest.mark.parametrize("prior", [PRIORS["was"], PRIORS["was, uneven sticks"]])
def test_the_joint_is_the_product_of_the_predictive_probabilities(prior):
    for tables, dishes in prior.configurations((3, 2, 2)):
        total, seen = 0.0, [[] for _ in tables]
        for n, s in rounds(lengths_of(tables)):
            pi, xi = predictive_probabilities(sizes(seen[s]), prior.a, prior.b)
            assert_allclose(sum(pi) + xi, 1.0)
            table = tables[s][n]
            if table in seen[s]:
                total += log(pi[table])
            else:
                here = {dishes[s][t] for t in seen[s]}
                others = {dishes[r][t] for r in range(len(tables)) for t in seen[r]} - here
                new = dishes[s][table] not in others
                total += log(xi) + log(prior.zeta if new else 1.0) - log(len(others) + prior.zeta)
            seen[s].append(table)
        assert_allclose(prior.log_probability(tables, dishes), total, rtol=1e-12)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 2.5])
def test_one_sentence_with_a_1_is_the_chinese_restaurant_process(alpha):
    was, hdp = WAS(1.0, alpha, 0.7), HDP(alpha, 1.0)
    for tables, dishes in was.configurations((5,)):
        g = sizes(tables[0])
        expected = len(g) * log(alpha) + gammaln(g).sum() + gammaln(alpha) - gammaln(alpha + 5)
        assert_allclose(was.log_probability(tables, dishes), expected)
    for tables in {canonical(*c)[0] for c in hdp.configurations((4,))}:
        n = len(set(tables[0]))
        served = [[list(d)] for d in product(range(n), repeat=n)]
        served = {canonical(tables, d) for d in served}
        total = logsumexp([hdp.log_probability(*map(list, c)) for c in served])
        one_each = was.log_probability(tables, [list(range(n))])
        assert_allclose(total, one_each)


def test_one_sentence_is_the_pitman_yor_process():
    sigma, theta, n = 0.3, 0.8, 5
    b = [theta + (j + 1) * sigma for j in range(n)]
    was = WAS(1 - sigma, b, 1.0)
    for tables, dishes in was.configurations((n,)):
        g = sizes(tables[0])
        expected = sum(log(theta + j * sigma) for j in range(1, len(g)))
        expected += sum(gammaln(size - sigma) - gammaln(1 - sigma) for size in g)
        expected -= sum(log(theta + i) for i in range(1, n))
        assert_allclose(was.log_probability(tables, dishes), expected)


def test_values_by_hand():
    """Tables of two and one words: v_1 is in it once, 1 - v_1 once, so E = 1 / 6."""
    was = WAS(1.0, 1.0, 1.0)
    assert_allclose(was.log_probability([["x", "x", "y"]], [{"x": 7, "y": 3}]), log(1 / 6))
    uneven = WAS([2.0, 5.0], [3.0, 1.0], 4.0)
    expected = (2 / 5) * (3 / 6)  # the first mean, then 1 - v given one more success
    assert_allclose(uneven.log_probability([[0, 0, 1]], [[0, 1]]), log(expected))
    sbp = SBP(1.0, 1.0, 2)
    assert_allclose(sbp.log_probability([[0, 0, 1]], [[0, 1]]), log(1 / 12))
    hdp = HDP(2.0, 3.0)
    seating = log(2 * (1 / 3) * (2 / 4) / 2)
    assert_allclose(hdp.log_probability([[0, 0, 1]], [[0, 1]]), seating + log(3 / 4))
    assert_allclose(hdp.log_probability([[0, 0, 1]], [[5, 5]]), seating + log(1 / 4))


@pytest.mark.parametrize("zeta", [0.1, 1.0, 5.0])
def test_when_a_table_was_opened_matters(zeta):
    """Tables at times 1 and 3 in one sentence, at time 2 in the other: WAS is not exchangeable."""
    was = WAS(1.0, 1.0, zeta)
    tables = [[0, 1], [0]]
    shares = [([0, 1], [0]), ([0, 1], [1]), ([0, 1], [2])]
    p = np.exp([was.log_probability(tables, list(dishes)) for dishes in shares])
    weights = np.array([1 + zeta, zeta, zeta**2])
    assert_allclose(p / p.sum(), weights / weights.sum())


def test_a_dish_twice_in_a_sentence():
    with pytest.raises(AssertionError, match="at most once"):
        WAS(1.0, 1.0, 1.0).log_probability([[0, 1]], [[0, 0]])


@each_prior
@pytest.mark.parametrize("lengths", [(3, 2), (2, 2, 1)])
def test_draws_with_explicit_sticks_have_the_law_of_the_enumeration(prior, lengths):
    rng = np.random.default_rng(len(lengths))
    seen = Counter(prior.canonical(*prior.simulate(lengths, rng)) for _ in range(20_000))
    assert_chi_square(seen, laws_of(prior, lengths))


# All of the model


@each_prior
def test_draws_of_words_and_topics_have_the_law_of_the_joint(prior):
    lengths, kappa = (2, 1), 0.4
    rng, topics_law = np.random.default_rng(0), FixedTopics(TOPIC_WORD)
    expected = {}
    for words in product(product(range(3), repeat=2), product(range(3), repeat=1)):
        evidence = exp(log_likelihood(words, prior, kappa, TOPIC_WORD))
        for state, p in law(words, prior, kappa, topics_law).items():
            expected[words, *state] = evidence * p
    assert_allclose(sum(expected.values()), 1.0, rtol=1e-10)
    seen = Counter()
    for _ in range(8_000):
        words, topics, *served = simulate(lengths, prior, kappa, TOPIC_WORD, rng)
        state = (tuple(map(tuple, words)), tuple(map(tuple, topics)), *prior.canonical(*served))
        seen[state] += 1
    assert_chi_square(seen, expected)


@each_prior
@pytest.mark.parametrize(
    "topic_law", [FixedTopics(TOPIC_WORD), IntegratedTopics(2, 3, 0.3)], ids=["fixed", "integrated"]
)
def test_expectations_are_those_of_the_law(prior, topic_law):
    """Also with labels of any kind, and for what the joint of one document gives."""
    words, kappa = [[0, 2], [2, 1]], 0.6
    found = posterior([words], prior, kappa, topic_law)
    expected = dict.fromkeys(found._fields[1:], 0.0)
    for (topics, tables, dishes), p in law(words, prior, kappa, topic_law).items():
        y = np.array(flat(topics))
        table = np.array([(s, t) for s, z in enumerate(tables) for t in z])
        served = [
            dict(zip(dict.fromkeys(z), d, strict=True)) for z, d in zip(tables, dishes, strict=True)
        ]
        dish = np.array([served[s][t] for s, t in table])
        expected["n_tables"] += p * len(np.unique(table, axis=0))
        expected["n_dishes"] += p * len(np.unique(dish))
        expected["same_table"] += p * (table[:, None] == table).all(axis=2)
        expected["same_dish"] += p * (dish[:, None] == dish)
        expected["same_topic"] += p * (y[:, None] == y)
        expected["topic"] += p * np.eye(2)[y]
    for name, value in expected.items():
        assert_allclose(getattr(found, name), np.reshape(value, getattr(found, name).shape))


def test_labels_do_not_matter():
    words, topics = [[[0, 1, 1], [2]]], [[[0, 1, 0], [1]]]
    for prior in (PRIORS["was, uneven sticks"], PRIORS["hdp"]):
        one = [[0, 1, 0], [0]], [[0, 1], [1]]
        other = [["b", "a", "b"], ["z"]], [{"a": "x", "b": 9}, {"z": "x"}]
        law_of_topics = IntegratedTopics(2, 3, 0.3)
        values = [
            log_joint(words, topics, [tables], [dishes], prior, 0.5, law_of_topics)
            for tables, dishes in (one, other)
        ]
        assert_allclose(*values)


@each_prior
def test_evidence_of_all_words_sums_to_one(prior):
    for topic_law in (FixedTopics(TOPIC_WORD), IntegratedTopics(2, 3, 0.3)):
        total = 0.0
        for words in product(range(3), repeat=4):
            documents = [[[words[0], words[1]], [words[2]]], [[], [words[3]]]]
            total += exp(posterior(documents, prior, 0.5, topic_law).log_evidence)
        assert_allclose(total, 1.0, rtol=1e-10)


@each_prior
def test_documents_with_fixed_topics_are_independent(prior):
    documents = [[[0, 2]], [], [[1], [1, 2]]]
    topic_law = FixedTopics(TOPIC_WORD)
    together = posterior(documents, prior, 0.5, topic_law)
    alone = [posterior([document], prior, 0.5, topic_law) for document in documents]
    assert_allclose(together.log_evidence, sum(p.log_evidence for p in alone))
    assert_allclose(together.n_tables, [p.n_tables[0] for p in alone])
    assert_allclose(together.topic, np.concatenate([p.topic for p in alone]))
    assert_allclose(together.same_dish[2:, 2:], alone[2].same_dish)
    assert_allclose(together.same_dish[:2, 2:], 0.0)


def test_one_atom_is_lda():
    """With one atom all words of a document share a Dirichlet(kappa)."""
    document, kappa = [[0, 2], [1, 2]], 0.4
    expected = lda.log_likelihood(flat(document), np.full(2, kappa), TOPIC_WORD)
    assert_allclose(log_likelihood(document, SBP(1.0, 1.0, 1), kappa, TOPIC_WORD), expected)
    nearly = HDP(1e-9, 1e-9)
    assert_allclose(log_likelihood(document, nearly, kappa, TOPIC_WORD), expected, rtol=1e-6)


def test_many_dishes_leave_each_table_its_own():
    """Large zeta: no dish is shared; small b: a sentence is one table."""
    document = [[0, 2, 2], [1, 2]]
    prior = WAS(1.0, 1e-9, 1e9)
    each = [lda.log_likelihood(sentence, np.full(2, 0.4), TOPIC_WORD) for sentence in document]
    assert_allclose(log_likelihood(document, prior, 0.4, TOPIC_WORD), sum(each), rtol=1e-6)


@pytest.mark.parametrize(
    "prior", [PRIORS["was"], PRIORS["was, uneven sticks"]], ids=["even", "uneven"]
)
def test_a_document_to_test_samplers_with(prior):
    found = posterior([[[0, 0, 1], [0, 1]]], prior, 1.0, IntegratedTopics(2, 2, 1.0))
    assert 2 < found.n_tables[0] < 5
    assert 1 < found.n_dishes[0] < found.n_tables[0]
    for pairs in (found.same_table, found.same_dish, found.same_topic):
        assert_allclose(pairs, pairs.T)
        assert_allclose(np.diag(pairs), 1.0)
    assert (found.same_table <= found.same_dish + 1e-12).all()
    assert_allclose(found.same_table[:3, 3:], 0.0)
    assert_allclose(found.topic, 0.5)
