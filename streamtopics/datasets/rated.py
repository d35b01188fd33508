# SPDX-License-Identifier: BSD-3-Clause
"""Reviews of items by users, with ratings, of which the truth is known."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch, check_random_state, check_scalar

from streamtopics.utils.checks import MOST_WHOLE, check_integer, check_one_of, check_seed, plain

MEAN_RATING = 6.0
# Of a deviation, a length or a prior.
LEAST, MOST = 1e-3, 1e10


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
        Dirichlet parameter of the proportions, at least 1e-3; None is 1 / n_components.
    topic_word_prior : float, default=0.1
        Dirichlet parameter of all topics, at least 1e-3.
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
    TypeError
        If an argument is no number, or no integer where it counts things.
    ValueError
        If a number is out of its range, or `profile` is unknown.

    Examples
    --------
    >>> from streamtopics.datasets import make_rated_reviews
    >>> data = make_rated_reviews(100, random_state=0)
    >>> data.X.shape, data.topic_word.shape, data.profile_topic.shape
    ((100, 200), (7, 200), (50, 5))
    """
    check_one_of(("document", "item", "user"), profile=profile)
    check_integer(
        most=MOST_WHOLE, n_documents=n_documents, n_items=n_items, n_users=n_users,
        n_components=n_components, n_features=n_features,
    )  # fmt: skip
    mean_length, qualitative_share = plain(mean_length), plain(qualitative_share)
    doc_topic_prior, topic_word_prior = plain(doc_topic_prior), plain(topic_word_prior)
    alpha = 1 / int(n_components) if doc_topic_prior is None else doc_topic_prior
    deviations = {"item_effect": item_effect, "user_effect": user_effect, "noise": noise}
    deviations = {name: plain(deviation) for name, deviation in deviations.items()}
    priors = {"topic_word_prior": topic_word_prior}
    if doc_topic_prior is not None:
        priors["doc_topic_prior"] = doc_topic_prior
    _check_numbers(deviations, mean_length, priors, qualitative_share)
    check_seed(random_state)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))
    sizes = {"item": n_items, "user": n_users}
    judged = _judged(n_documents, sizes, tuple(deviations.values()), rng)
    topic_word = rng.dirichlet(np.full(n_features, topic_word_prior), int(n_components) + 2)
    owners = judged.get(profile, np.arange(n_documents))
    profile_topic = rng.dirichlet(np.full(n_components, alpha), sizes.get(profile, n_documents))
    share = float(qualitative_share)
    qualitative = rng.beta(10 * share, 10 * (1 - share), n_documents)
    lengths, proportions = rng.poisson(mean_length, n_documents), profile_topic[owners]
    return Bunch(
        X=_counts(lengths, proportions, qualitative, judged["signs"], topic_word, rng),
        topic_word=topic_word,
        profile_topic=profile_topic,
        qualitative=qualitative,
        **judged,
    )


def _judged(
    n_documents: int,
    sizes: dict[str, int],
    deviations: tuple[float, ...],
    rng: np.random.Generator,
) -> dict[str, np.ndarray]:
    """Items and users, their effects, and the signs and ratings of the reviews."""
    items, users = (rng.integers(n, size=n_documents) for n in sizes.values())
    item_effects, user_effects = (
        deviation * rng.standard_normal(n)
        for deviation, n in zip(deviations[:2], sizes.values(), strict=True)
    )
    opinion = item_effects[items] + deviations[2] * rng.standard_normal(n_documents)
    return {
        "ratings": MEAN_RATING + user_effects[users] + opinion,
        "item": items,
        "user": users,
        "signs": np.where(opinion >= 0, 1, -1),
        "item_effects": item_effects,
        "user_effects": user_effects,
    }


def _counts(
    lengths: np.ndarray,
    proportions: np.ndarray,
    qualitative: np.ndarray,
    signs: np.ndarray,
    topic_word: np.ndarray,
    rng: np.random.Generator,
) -> sparse.csr_matrix:
    """Counts of words in reviews of these lengths and proportions of descriptive topics."""
    descriptive = (1 - qualitative)[:, None] * proportions
    shares = np.column_stack([descriptive, qualitative * (signs > 0), qualitative * (signs < 0)])
    rows = [
        rng.multinomial(n, share @ topic_word / (share @ topic_word).sum())
        for n, share in zip(lengths, shares, strict=True)
    ]
    return sparse.csr_matrix(np.array(rows, dtype=np.int64))


def _check_numbers(
    deviations: dict[str, Any], mean_length: Any, priors: dict[str, Any], qualitative_share: Any
) -> None:
    """Refuse deviations below 0, others near 0, a share not in (0, 1), and large numbers."""
    for name, deviation in deviations.items():
        check_scalar(deviation, name, Real, min_val=0)
    for name, number in priors.items():
        check_scalar(number, name, Real, min_val=LEAST)
    check_scalar(mean_length, "mean_length", Real, min_val=0, include_boundaries="neither")
    for name, number in (deviations | priors | {"mean_length": mean_length}).items():
        if not number <= MOST:
            raise ValueError(f"{name} must be at most {MOST:g}; got {number!r}")
    inside: dict[str, Any] = {"min_val": 0, "max_val": 1, "include_boundaries": "neither"}
    check_scalar(qualitative_share, "qualitative_share", Real, **inside)
    if np.isnan(qualitative_share):
        raise ValueError("qualitative_share must be a number between 0 and 1; got nan")
