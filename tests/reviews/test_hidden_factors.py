# SPDX-License-Identifier: BSD-3-Clause
"""HiddenFactorsTopics as a whole: what it finds, and what it is as an estimator."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import r2_score

from streamtopics import HiddenFactorsTopics
from streamtopics.datasets import make_rated_reviews
from tests.reference.unrated import log_likelihood
from tests.small import RATED

DATA = make_rated_reviews(
    500, n_items=20, n_users=30, n_features=80, n_components=3, qualitative_share=0.05,
    random_state=0,
)  # fmt: skip
X, Y = DATA.X.astype(np.float64), DATA.ratings
WHOSE = {"items": DATA.item, "users": DATA.user}
KINDS = pytest.mark.parametrize("whose", [WHOSE, {}], ids=["items and users", "neither"])


def model(n_components=3, **settings):
    return HiddenFactorsTopics(
        n_components, **({"random_state": 0, "max_iter": 5, "max_gradient_iter": 6} | settings)
    )


def part(rows, whose=WHOSE):
    return {"X": X[rows], "y": Y[rows]} | {name: labels[rows] for name, labels in whose.items()}


def test_generated_topics_and_biases_are_recovered():
    found = model(max_iter=30).fit(X, Y, **WHOSE)
    distance = np.abs(found.topic_word_[:, None] - DATA.topic_word[None, :3]).sum(axis=2) / 2
    assert distance[linear_sum_assignment(distance)].max() < 0.25
    predicted = found.predict(X, **WHOSE)
    effects = DATA.item_effects[DATA.item] + DATA.user_effects[DATA.user]
    assert np.corrcoef(predicted, effects)[0, 1] > 0.8
    words = found.predict_words([3, 999])
    truth = DATA.profile_topic[3] @ DATA.topic_word[:3]
    assert np.abs(words[0] - truth).sum() / 2 < 0.2
    assert_allclose(words.sum(axis=1), 1)


@pytest.mark.parametrize("text_weight", [0.001, 0.1, 10.0])
@KINDS
def test_the_objective_falls(whose, text_weight):
    found = model(tol=0.0, max_iter=8, text_weight=text_weight).fit(**part(slice(None), whose))
    assert len(found.objective_) == 8
    assert np.diff(found.objective_).max() < 1e-9 * abs(found.objective_[0])
    assert found.objective_[-1] < found.objective_[0]


def test_known_items_predict_better():
    found = model().fit(**part(slice(0, 400)))
    test, items = X[400:], DATA.item[400:]
    informed = log_likelihood(found, test, items=items).sum()
    assert informed > log_likelihood(found, test, n_particles=20).sum()
    known = found.predict(test, items=items, users=DATA.user[400:])
    assert r2_score(Y[400:], known) > r2_score(Y[400:], found.predict(test)) + 0.1


def test_a_stream_learns():
    found, scores = model(), []
    test = part(slice(400, None))
    truth = test.pop("y")
    for batch in np.array_split(np.arange(400), 8):
        found.partial_fit(**part(batch))
        scores.append([r2_score(truth, found.predict(**test)), found.score(**test)])
    assert np.all(np.greater(scores[-1], scores[0]))
    assert_array_equal(found.items_.values[:, 4], np.bincount(DATA.item[:400], minlength=20))
    assert_allclose(found.items_.values[:, 5:].sum(), X[:400].sum())


def test_words_seen_before_count_in_the_proportions_of_an_item():
    """Where ratings weigh nothing, an item's proportions are those of all of its words."""
    found = model(text_weight=1e6, max_gradient_iter=200).fit(**part(slice(0, 400)))
    found_counts = found.items_.values[:, 5:]
    row = found_counts[:, 0].argmax()
    item, before = found.items_.labels[row], found_counts[row].copy()
    other = (X @ found.topic_word_[1]).argmax()
    found.partial_fit(X[[other]], Y[[other]], items=[item], users=DATA.user[[other]])
    counts = found.items_.values[row, 5:]
    own = (counts - before) / (counts - before).sum()
    proportions = found.transform(X[:1], items=[item])[0]
    assert np.abs(counts / counts.sum() - own).max() > 0.1
    assert_allclose(proportions, counts / counts.sum(), atol=0.02)


def test_users_and_items_are_held_by_what_was_seen_of_them():
    found = model(text_weight=1.0).fit(X, Y, **WHOSE)
    item, user = DATA.item[0], DATA.user[0]
    bias = found.users_.values[user, 0]
    theta = found.transform(X[:1], items=[item])[0]
    odd = np.where(found.topic_word_.argmax(axis=0) == theta.argmin(), 1.0, 0.0)[None, :]
    y = found.predict(X[:1], items=[item], users=[user]) + 10
    found.partial_fit(np.vstack([odd, odd]), np.repeat(y, 2), items=[item, 999], users=[user, 999])
    known, new = (found.users_.values[u, 0] for u in (user, found.users_.places([999])[0]))
    assert abs(known - bias) < new / 2
    k = theta.argmin()
    old, fresh = found.transform(np.zeros((2, 80)), items=[item, 999])
    assert old[k] < theta[k] + 0.2 < fresh[k]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_equal_ratings_and_a_large_penalty():
    # The search for the peakedness went so far out that the square of cosh had no room.
    X = np.random.default_rng(1).poisson(1.0, (12, 6))
    model = HiddenFactorsTopics(2, max_gradient_iter=3, factor_penalty=100, random_state=0)
    model.fit(X, np.zeros(12))
    assert_allclose(model.predict(X), 0.0, atol=1e-6)


@pytest.mark.filterwarnings("error")
def test_ratings_without_texts_warn_of_no_names():
    frame = pd.DataFrame(RATED.X.toarray(), columns=[f"w{i}" for i in range(60)])
    given = {"items": RATED.item.astype(str), "users": RATED.user}
    model = HiddenFactorsTopics(3, random_state=0, max_iter=3).fit(frame, RATED.ratings, **given)
    best, second = model.recommend(RATED.user[0], 2)
    assert model.recommend(RATED.user[0], 1, exclude=best.item) == [second]
