# SPDX-License-Identifier: BSD-3-Clause
"""The ridge ANOVA against its closed form, and the reduced ratings."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from streamtopics.reviews.effects import (
    NO_EFFECTS,
    effects_of,
    learn_effects,
    probability_of_positive,
    reduced_ratings,
)

RNG = np.random.default_rng(0)
USERS, ITEMS = RNG.integers(6, size=80), RNG.integers(9, size=80) + 100
Y = 6 + RNG.standard_normal(6)[USERS] + RNG.standard_normal(9)[ITEMS - 100]
Y = Y + 0.5 * RNG.standard_normal(80)


def closed_form(y, users, items, penalty):
    design = np.column_stack(
        [np.ones(len(y)), *(users == u for u in range(6)), *(items == c for c in range(100, 109))]
    ).astype(float)
    ridge = np.diag([0.0] + [penalty] * 15)
    return np.linalg.solve(design.T @ design + ridge, design.T @ y)


def test_from_nothing_it_is_the_ridge_regression():
    effects, signs = learn_effects(NO_EFFECTS, Y, USERS, ITEMS, 2.0)
    expected = closed_form(Y, USERS, ITEMS, 2.0)
    assert_allclose(effects.mean, expected[0], rtol=1e-8)
    assert_allclose(effects.users.values[:, 0], expected[1:7], rtol=1e-7)
    assert_allclose(effects.items.values[:, 0], expected[7:], rtol=1e-7)
    assert_array_equal(effects.items.values[:, 1], np.bincount(ITEMS - 100))
    residual = Y - expected[0] - expected[1:7][USERS] - expected[7:][ITEMS - 100]
    assert_allclose(effects.deviation, np.sqrt((residual**2).mean()), rtol=1e-8)
    assert_array_equal(signs, np.where(Y - expected[0] - expected[1:7][USERS] >= 0, 1, -1))
    assert effects.n_positive == (signs > 0).sum()


def test_labels_may_be_strings_and_in_any_order():
    names = np.array([f"user {u}" for u in range(6)])
    effects, _ = learn_effects(NO_EFFECTS, Y, names[USERS], ITEMS, 2.0)
    same, _ = learn_effects(NO_EFFECTS, Y, USERS, ITEMS, 2.0)
    assert_allclose(effects_of(effects.users, names, 6), same.users.values[:, 0])
    assert effects_of(effects.users, np.array(["nobody"]), 1)[0] == 0


def test_what_was_learnt_is_held_by_its_ratings():
    first, signs = learn_effects(NO_EFFECTS, Y, USERS, ITEMS, 2.0)
    few, after = learn_effects(first, Y[:3] + 30, None, None, 2.0)
    assert_allclose(few.mean, first.mean + (Y[:3] + 30 - first.mean).sum() / (len(Y) + 3))
    assert few.n == len(Y) + 3
    assert few.n_positive == np.sum(signs > 0) + np.sum(after > 0)
    assert_allclose(few.squares, first.squares + ((Y[:3] + 30 - few.mean) ** 2).sum())


def test_an_effect_is_held_by_its_ratings_and_the_penalty():
    """A rating more moves mean and effect to the minimum of the weighted squares."""
    first, _ = learn_effects(NO_EFFECTS, Y, None, ITEMS, 2.0)
    row = first.items.places(ITEMS[:1])[0]
    effect, n_ratings = first.items.values[row]
    after, _ = learn_effects(first, np.array([30.0]), None, ITEMS[:1], 2.0)
    design = np.array([[1.0, 1.0]])
    weight = np.diag([float(len(Y)), 2.0 + n_ratings])
    error = 30.0 - first.mean - effect
    step = np.linalg.solve(design.T @ design + weight, design[0] * error)
    assert_allclose([after.mean - first.mean, after.items.values[row, 0] - effect], step)


def test_without_users_or_items_it_is_the_mean():
    effects, signs = learn_effects(NO_EFFECTS, Y, None, None, 1.0)
    assert_allclose(effects.mean, Y.mean())
    assert_array_equal(signs, np.where(Y.mean() <= Y, 1, -1))
    assert_allclose(probability_of_positive(effects, None, 3), np.mean(signs > 0))


def test_equal_ratings_are_not_below_their_mean():
    y = np.full(7, 0.1)
    effects, signs = learn_effects(NO_EFFECTS, y, None, None, 1.0)
    assert (signs == 1).all()
    assert (reduced_ratings(effects, y - 0.01, None) == -1).all()
    effects, _ = learn_effects(NO_EFFECTS, y, np.arange(7) % 2, np.arange(7) % 3, 1.0)
    assert_allclose(probability_of_positive(effects, np.arange(3), 3), 1)


@pytest.mark.parametrize(("scale", "offset"), [(1e-8, 0.0), (1e-3, 1e6), (1e8, 0.0)])
def test_signs_depend_on_no_scale(scale, offset):
    expected, signs = learn_effects(NO_EFFECTS, Y, USERS, ITEMS, 1.0)
    effects, found = learn_effects(NO_EFFECTS, offset + scale * Y, USERS, ITEMS, 1.0)
    assert_array_equal(found, signs)
    assert_allclose(effects.deviation, scale * expected.deviation, rtol=1e-6)
    positive, same = (probability_of_positive(e, ITEMS, 80) for e in (effects, expected))
    assert_allclose(positive, same, rtol=1e-4)


@pytest.mark.parametrize("rating", [0.0, 0.1, 1e6 + 0.1])
def test_equal_ratings_are_positive_through_a_stream(rating):
    effects = NO_EFFECTS
    for _ in range(3):
        effects, signs = learn_effects(effects, np.full(80, rating), USERS, ITEMS, 1.0)
        assert (signs == 1).all()
    assert_allclose(probability_of_positive(effects, ITEMS, 80), 1)


def test_probability_of_a_positive_review():
    effects, signs = learn_effects(NO_EFFECTS, Y, USERS, ITEMS, 1.0)
    found = probability_of_positive(effects, np.array([103, 555]), 2)
    level = effects.items.values[3, 0] / effects.deviation
    assert_allclose(found, [norm.cdf(level), np.mean(signs > 0)], rtol=1e-6)
