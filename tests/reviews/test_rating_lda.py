# SPDX-License-Identifier: BSD-3-Clause
"""RatingLDA as a whole: what it finds, and what it is as an estimator."""

from copy import deepcopy
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from streamtopics import RatingLDA
from streamtopics.datasets import make_rated_reviews
from tests.reference import left_to_right as exact_lda
from tests.reference.unrated import log_likelihood
from tests.small import RATED

DATA = make_rated_reviews(
    500, n_items=20, n_users=30, n_features=80, n_components=3, random_state=0
)
X, Y = DATA.X.astype(np.float64), DATA.ratings
WHOSE = {"items": DATA.item, "users": DATA.user}
KINDS = list(product(["document", "item", "user"], [False, True]))


def model(n_components=3, **settings):
    return RatingLDA(
        n_components, **({"random_state": 0, "max_iter": 8, "learn_priors": True} | settings)
    )


def part(rows):
    return X[rows], Y[rows], DATA.item[rows], DATA.user[rows]


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("profile", ["document", "item", "user"])
def test_generated_topics_are_recovered(profile, refine):
    data = make_rated_reviews(
        1500, n_features=100, n_components=3, profile=profile, doc_topic_prior=0.3, random_state=1
    )
    found = model(profile=profile, refine=refine, max_iter=50)
    found.fit(data.X, data.ratings, items=data.item, users=data.user)
    distance = np.abs(found.topic_word_[:, None] - data.topic_word[None]).sum(axis=2) / 2
    matched = linear_sum_assignment(distance[:3, :3])
    assert max(*distance[matched], distance[3, 3], distance[4, 4]) < 0.2
    omega = found.qualitative_prior_
    assert abs(omega[1] / omega.sum() - 0.2) < 0.06
    items = found.effects_.items
    assert np.corrcoef(items.values[:, 0], data.item_effects[items.labels])[0, 1] > 0.8


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize(("profile", "qualitative"), KINDS)
def test_the_bound_is_monotone(profile, qualitative, refine):
    settings = {"profile": profile, "qualitative": qualitative, "refine": refine}
    found = model(tol=0.0, max_iter=15, **settings).fit(X, Y, **WHOSE)
    assert len(found.objective_) >= 14
    assert np.diff(found.objective_).min() > -1e-9 * abs(found.objective_[-1])
    assert found.objective_[-1] > found.objective_[0]


@pytest.mark.parametrize("tokens", [[0], [1, 3, 3], [0, 2, 5, 5]])
def test_log_likelihood_of_a_known_profile_is_exact(tokens):
    few, y, *whose = part(slice(0, 60))
    found = model(2, profile="item").fit(few[:, :6].minimum(1), y, *whose)
    label = found.profiles_.labels[2]
    gamma = found.doc_topic_prior_ + found.profiles_.values[2]
    theta, topics = gamma / gamma.sum(), found.topic_word_
    positive = found._positive({"items": np.array([label])}, 1)[0]
    total = 0.0
    for psi, probability in zip(topics[2:], (positive, 1 - positive), strict=True):
        pair = np.array([theta @ topics[:2], psi])
        given_sign = exact_lda.log_likelihood(tokens, pair, found.qualitative_prior_)
        total += probability * np.exp(given_sign)
    document = np.bincount(tokens, minlength=6)[None, :]
    assert_allclose(log_likelihood(found, document, items=[label])[0], np.log(total), rtol=1e-9)


def test_predicted_words_of_new_pairs():
    for profile, qualitative in KINDS:
        found = model(profile=profile, qualitative=qualitative).fit(X, Y, **WHOSE)
        words = found.predict_words(items=[3, 999, 3], users=[5, 5, -1])
        assert words.shape == (3, 80)
        assert_allclose(words.sum(axis=1), 1)
        if profile == "user":
            assert (words[0] != words[2]).any()
        elif qualitative or profile == "item":
            assert_array_equal(words[0], words[2])
    with pytest.raises(ValueError, match="items, users or both"):
        found.predict_words()


def test_an_item_that_is_liked_is_praised():
    items = model(profile="item").fit(X, Y, **WHOSE)
    effects = items.effects_.items
    best_and_worst = effects.labels[effects.values[:, 0].argsort()[[-1, 0]]]
    best, worst = items.transform(np.zeros((2, 80)), items=best_and_worst)
    assert best[3] > 2 * best[4]
    assert worst[4] > 2 * worst[3]


def test_a_stream_learns():
    batches = np.array_split(np.arange(400), 8)
    found, scores = model(profile="item"), []
    for batch in batches:
        found.partial_fit(*part(batch))
        scores.append(found.score(X[400:], items=DATA.item[400:]))
    assert scores[-1] > scores[0] + 0.03
    assert_allclose(found.profiles_.values.sum(), X[:400].sum() * 0.9, rtol=0.1)


@pytest.mark.parametrize("profile", ["item", "user"])
def test_profiles_are_the_tokens_of_all_reviews(profile):
    whose = {"item": DATA.item, "user": DATA.user}[profile]
    whole, stream = (model(profile=profile, qualitative=False) for _ in range(2))
    for rows in (slice(0, 300), slice(300, 400), slice(400, 500)):
        stream.partial_fit(*part(rows))
    tokens = np.bincount(whose, np.asarray(X.sum(axis=1)).ravel())
    for found in (stream.profiles_, whole.fit(X, Y, **WHOSE).profiles_):
        assert_allclose(found.values.sum(axis=1), tokens[found.labels], rtol=1e-9)


@pytest.mark.parametrize(
    "change", [{"n_components": 4}, {"profile": "item"}, {"qualitative": False}]
)
def test_what_a_stream_cannot_change(change):
    found = model().partial_fit(X[:50], Y[:50])
    with pytest.raises(ValueError, match=next(iter(change))):
        found.set_params(**change).partial_fit(X[:50], Y[:50], items=DATA.item[:50])


@pytest.mark.parametrize("qualitative", [False, True])
def test_reviews_without_words_teach_no_priors_and_end_no_round_earlier(qualitative):
    more = sparse.vstack([RATED.X, sparse.csr_matrix((300, 60), dtype=RATED.X.dtype)], format="csr")
    model = RatingLDA(3, qualitative=qualitative, learn_priors=True, random_state=0)
    each = [deepcopy(model).fit(X, np.resize(RATED.ratings, X.shape[0])) for X in (RATED.X, more)]
    assert each[0].n_iter_ == each[1].n_iter_
    assert_allclose(each[0].objective_, each[1].objective_, rtol=1e-5)
    for name in ("doc_topic_prior_", "qualitative_prior_")[: 1 + qualitative]:
        assert_allclose(getattr(each[0], name), getattr(each[1], name), rtol=1e-6)
