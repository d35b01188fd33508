# SPDX-License-Identifier: BSD-3-Clause
"""Reviews of items by users, with ratings, of which the truth is known."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch, check_random_state, check_scalar

MEAN_RATING = 6.0
# Of a deviation, a length or a prior.
MOST = 1e10


def make_rated_reviews(
    n_documents: int = 1000,
    *,
    n_items: int = 50,
    n_users: int = 100,
    n_components: int = 5,
    n_features: int = 200,
    profile: str = "item",
    mean_length: float = 60,
    qualitative_share: float = 0.2,
    item_effect: float = 1.0,
    user_effect: float = 0.5,
    noise: float = 1.0,
    doc_topic_prior: float | None = None,
    topic_word_prior: float = 0.1,
    random_state: Any = None,
) -> Bunch:
    """Draw reviews that describe an item, and praise it or blame it.

    A rating is 6 + the effect of the user + that of the item + noise, all of them normal.
    Each word comes from the positive topic, where the last two are not below 0, or else
    from the negative one, with a probability p_d of the review, or else from a descriptive
    topic, in the proportions of the review's profile.

    Parameters
    ----------
    n_documents : int, default=1000
        Number of reviews, each of an item and a user drawn at random.
    n_items, n_users : int, default=50 and 100
    n_components : int, default=5
        Number of descriptive topics.
    n_features : int, default=200
        Number of words in the vocabulary.
    profile : {"document", "item", "user"}, default="item"
        Whose the proportions of descriptive topics are.
    mean_length : float, default=60
        Mean of the Poisson number of words in a review.
    qualitative_share : float, default=0.2
        Mean of p_d, in (0, 1); p_d ~ Beta, of the weight of ten words.
    item_effect, user_effect, noise : float, default=1.0, 0.5 and 1.0
        Standard deviations.
    doc_topic_prior : float or None, default=None
        Dirichlet parameter of the proportions; None is 1 / n_components.
    topic_word_prior : float, default=0.1
        Dirichlet parameter of all topics.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same reviews each time.

    Returns
    -------
    data : Bunch
        With the attributes

        X : csr_matrix of shape (n_documents, n_features), int64
            Word counts.
        ratings : ndarray of shape (n_documents,)
            What each review gave.
        item, user : ndarray of shape (n_documents,), int64
            To what, and by whom.
        signs : ndarray of shape (n_documents,), int64
            1 for praise and -1 for blame.
        topic_word : ndarray of shape (n_components + 2, n_features)
            The last two are the positive and the negative topic.
        profile_topic : ndarray of shape (n_profiles, n_components)
            Proportions, by item, user or review.
        qualitative : ndarray of shape (n_documents,)
            p_d.
        item_effects, user_effects : ndarray of shape (n_items,) and (n_users,)
            What they add to a rating.

    Raises
    ------
    ValueError
        If a number is out of its range.

    Examples
    --------
    >>> from streamtopics.datasets import make_rated_reviews
    >>> data = make_rated_reviews(100, random_state=0)
    >>> data.X.shape, data.topic_word.shape, data.profile_topic.shape
    ((100, 200), (7, 200), (50, 5))
    """
    if profile not in ("document", "item", "user"):
        raise ValueError(f"profile must be 'document', 'item' or 'user'; got {profile!r}")
    _check_numbers(
        sizes={
            "n_documents": n_documents, "n_items": n_items, "n_users": n_users,
            "n_components": n_components, "n_features": n_features,
        },
        deviations={"item_effect": item_effect, "user_effect": user_effect, "noise": noise},
        positive={
            "mean_length": mean_length, "topic_word_prior": topic_word_prior,
            "doc_topic_prior": 1.0 if doc_topic_prior is None else doc_topic_prior,
        },
    )  # fmt: skip
    inside: dict[str, Any] = {"min_val": 0, "max_val": 1, "include_boundaries": "neither"}
    check_scalar(qualitative_share, "qualitative_share", Real, **inside)
    alpha = 1 / n_components if doc_topic_prior is None else doc_topic_prior
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))
    items, users = (rng.integers(n, size=n_documents) for n in (n_items, n_users))
    item_effects = item_effect * rng.standard_normal(n_items)
    user_effects = user_effect * rng.standard_normal(n_users)
    opinion = item_effects[items] + noise * rng.standard_normal(n_documents)
    topic_word = rng.dirichlet(np.full(n_features, topic_word_prior), n_components + 2)
    owners, n_profiles = {
        "document": (np.arange(n_documents), n_documents),
        "item": (items, n_items),
        "user": (users, n_users),
    }[profile]
    profile_topic = rng.dirichlet(np.full(n_components, alpha), n_profiles)
    qualitative = rng.beta(10 * qualitative_share, 10 * (1 - qualitative_share), n_documents)
    signs = np.where(opinion >= 0, 1, -1)
    shares = _shares(profile_topic[owners], qualitative, signs)
    return Bunch(
        X=_counts(rng.poisson(mean_length, n_documents), shares, topic_word, rng),
        ratings=MEAN_RATING + user_effects[users] + opinion,
        item=items,
        user=users,
        signs=signs,
        topic_word=topic_word,
        profile_topic=profile_topic,
        qualitative=qualitative,
        item_effects=item_effects,
        user_effects=user_effects,
    )


def _shares(proportions: np.ndarray, qualitative: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Proportions of descriptive topics, praise and blame in each review."""
    descriptive = (1 - qualitative)[:, None] * proportions
    return np.column_stack([descriptive, qualitative * (signs > 0), qualitative * (signs < 0)])


def _counts(
    lengths: np.ndarray, shares: np.ndarray, topic_word: np.ndarray, rng: np.random.Generator
) -> sparse.csr_matrix:
    """Counts of words in reviews of these lengths."""
    rows = [
        rng.multinomial(n, share @ topic_word / (share @ topic_word).sum())
        for n, share in zip(lengths, shares, strict=True)
    ]
    return sparse.csr_matrix(np.array(rows, dtype=np.int64))


def _check_numbers(
    sizes: dict[str, Any], deviations: dict[str, Any], positive: dict[str, Any]
) -> None:
    """Whether they are in their ranges, by name: from 1 on, from 0 on, and above 0."""
    for name, size in sizes.items():
        check_scalar(size, name, Integral, min_val=1)
    for name, deviation in deviations.items():
        check_scalar(deviation, name, Real, min_val=0)
    for name, number in positive.items():
        check_scalar(number, name, Real, min_val=0, include_boundaries="neither")
    for name, number in (deviations | positive).items():
        if not number <= MOST:
            raise ValueError(f"{name} must be at most {MOST:g}; got {number!r}")
