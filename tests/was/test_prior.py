# SPDX-License-Identifier: BSD-3-Clause
"""Predictive probabilities, the joint law they multiply to, and draws from it."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from streamtopics.was import ICD, SBP, WAS, HDPFranchise
from streamtopics.was.prior import order_by_turn, stick_parameters
from tests.dpp.cases import chi_square_p
from tests.reference import was as reference
from tests.reference.was_law import log_prior

SENTENCE, OTHER = slice(12), slice(12, 24)
UNEVEN = WAS(a=(0.5, 1.5, 3.0), b=(1.0, 2.0, 0.3), zeta=0.5)

each_was = pytest.mark.parametrize("prior", [WAS(), WAS(zeta=5.0), UNEVEN], ids=str)


@pytest.mark.parametrize(("sigma", "theta"), [(0.0, 0.3), (0.0, 1.0), (0.0, 4.0), (0.3, 0.7)])
def test_sticks_of_pitman_and_yor(sigma, theta):
    """a_j = 1 - sigma, b_j = theta + j sigma; without sigma it is the Chinese restaurant."""
    sizes = np.array([3, 1, 5, 2])
    prior = WAS(1 - sigma, theta + sigma * np.arange(1, 5))
    own = [(first, size, first) for first, size in enumerate(sizes)]
    p = [option[0] for option in reference.options(prior, own, others=[])]
    expected = np.append(sizes - sigma, theta + 4 * sigma) / (sizes.sum() + theta)
    assert_allclose(p, expected, rtol=1e-13)


def test_the_last_parameter_holds_for_later_sticks():
    a, b = stick_parameters((1.0, 2.0), 3.0)
    assert_array_equal(a, [1, 2])
    assert_array_equal(b, [3, 3])
    assert_array_equal(stick_parameters((1.0, 2.0), 3.0, 4)[0], [1, 2, 2, 2])
    assert_array_equal(stick_parameters((1.0, 2.0), 3.0, 1)[0], [1])


@each_was
def test_the_prior_is_the_product_of_the_predictive_probabilities(prior):
    lengths = [3, 2, 2]
    found = list(reference.configurations(lengths, prior))
    assert len(found) == 877
    assert_allclose(sum(p for p, _, _ in found), 1.0, rtol=1e-12)
    for p, table, dish in found:
        assert_allclose(log_prior(lengths, table, dish, prior), np.log(p), rtol=0, atol=1e-12)


def test_sentences_get_their_words_in_turns():
    assert_array_equal(order_by_turn([2, 0, 3, 1]), [0, 2, 5, 1, 3, 4])
    assert len(order_by_turn([])) == 0


def canonical(table, dish, order):
    """Seats with the dishes numbered in the order of the process."""
    names = {}
    for i in order:
        names.setdefault(dish[i], len(names))
    return tuple(int(i) for i in table), tuple(names[d] for d in dish)


@pytest.mark.parametrize(
    "prior",
    [
        WAS(), UNEVEN, HDPFranchise(), HDPFranchise(2.0, 0.5), SBP(truncation=3),
        SBP((0.5, 2.0), 1.5, 2),
    ],
    ids=str,
)  # fmt: skip
def test_draws_have_the_law_of_the_predictive_probabilities(prior):
    """The draws break sticks, the law integrates over them."""
    lengths, n = [3, 2], 4000
    rng = np.random.default_rng(1)
    order = range(5) if isinstance(prior, HDPFranchise) else order_by_turn(lengths)
    law = Counter()
    for p, table, dish in reference.configurations(lengths, prior):
        law[canonical(table, dish, order)] += p
    seats = (prior.draw_seats(lengths, rng) for _ in range(n))
    drawn = Counter(canonical(one.table, one.dish.tolist(), order) for one in seats)
    assert drawn.keys() <= law.keys()
    counts = np.array([drawn[state] for state in law])
    assert chi_square_p(counts, np.array(list(law.values()))) > 1e-4


def test_weights_under_was_are_independent_at_given_positions():
    """Theorem 2 holds at fixed sticks; over all positions a correlation is left."""
    rng, weights, positions = np.random.default_rng(0), [], []
    for _ in range(1500):
        seats = WAS().draw_seats([12, 12], rng)
        opened = [seats.dish[s][seats.table[s] == np.arange(24)[s]] for s in (SENTENCE, OTHER)]
        _, *places = np.intersect1d(*opened, assume_unique=True, return_indices=True)
        weights.extend(zip(*(w[i] for w, i in zip(seats.sticks, places, strict=True)), strict=True))
        positions.extend(zip(*places, strict=True))
    weights, (_, cell) = np.array(weights), np.unique(positions, axis=0, return_inverse=True)
    cell = cell.ravel()
    mean = np.column_stack([np.bincount(cell, w) / np.bincount(cell) for w in weights.T])
    pooled, given = (np.corrcoef(centred.T)[0, 1] for centred in (weights, weights - mean[cell]))
    assert len(weights) > 2500
    assert abs(given) < 0.06
    assert given + 0.03 < pooled


@each_was
def test_the_sticks_of_a_sentence_use_up_its_mass(prior):
    """Theorem 3: P_n, the part of n sticks, comes to a distribution over dishes."""
    seats = prior.draw_seats([3000, 3000], np.random.default_rng(0))
    for place, weights in enumerate(seats.sticks):
        own = slice(3000 * place, 3000 * (place + 1))
        tables = seats.table[own] - own.start
        opened = np.flatnonzero(tables == np.arange(3000))
        # What n sticks leave falls to nothing, in the mean by b / (a + b) with each.
        left = 1 - np.cumsum(weights)
        assert (np.diff(left) < 0).all()
        assert 0 <= left[-1] < 0.01
        for n, distance in ((30, 0.5), (3000, 0.05)):
            shares = np.array([(tables[:n] == first).mean() for first in opened])
            assert 0.5 * np.abs(shares - weights).sum() < distance
    a, b = stick_parameters(prior.a, prior.b, 60)
    assert np.prod(b / (a + b)) < 1e-15


@pytest.mark.parametrize(
    ("kind", "arguments", "name"),
    [
        (WAS, {"a": 0.0}, "a of WAS must be"),
        (WAS, {"a": []}, "a of WAS must be"),
        (WAS, {"b": [float("nan")]}, "b of WAS must be"),
        (WAS, {"zeta": float("inf")}, "zeta of WAS must be"),
        (HDPFranchise, {"table_concentration": -1.0}, "table_concentration of HDPFranchise"),
        (SBP, {"truncation": 0}, "truncation of SBP must be"),
        (ICD, {"shape": float("nan")}, "shape of ICD must be"),
        (ICD, {"truncation": 2.5}, "truncation .* must be"),
    ],
)
def test_senseless_parameters_are_refused(kind, arguments, name):
    with pytest.raises(ValueError, match=name):
        kind(**arguments)


def test_priors_are_values():
    assert WAS(a=[1, 2]) == WAS(a=np.array([1.0, 2.0]))
    assert hash(SBP(b=[1.0])) == hash(SBP(b=(1.0,)))
