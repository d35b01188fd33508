# SPDX-License-Identifier: BSD-3-Clause
"""Synthetic reviews of items by users, with ratings and known truth."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch, check_random_state

from streamtopics.utils.checks import check_integer, check_number, check_one_of, check_tokens

MEAN_RATING = 6.0


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
    random_state: int | np.random.RandomState | None = None,
) -> Bunch:
    """Draw reviews that describe an item, with praise or blame.

    A rating is 6 + the effect of the user + the effect of the item + noise. A review is praise if
    the effect of the item + noise is at least 0, otherwise blame. A word of review d comes from the
    topic of praise or of blame with probability p_d, otherwise from a descriptive topic.

    Parameters
    ----------
    n_documents : int, default=1000
        Reviews, each of a random item and user.
    n_items, n_users : int, default=50 and 100
    n_components, n_features : int, default=5 and 200
        Descriptive topics, and words in the vocabulary.
    profile : {"document", "item", "user"}, default="item"
        Whether each review, each item or each user has its own proportions of descriptive topics.
    mean_length : float, default=60
        Mean number of words in a review. The number has a Poisson distribution.
    qualitative_share : float, default=0.2
        Mean of p_d, in (0, 1). p_d has a Beta distribution with pseudo-counts that sum to 10.
    item_effect, user_effect, noise : float, default=1.0, 0.5 and 1.0
        Standard deviations of the effects and the noise, all normally distributed.
    doc_topic_prior : float or None, default=None
        Dirichlet parameter of the proportions; None is 1 / n_components.
    topic_word_prior : float, default=0.1
        Dirichlet parameter of all topics.
    random_state : int, RandomState instance or None, default=None

    Returns
    -------
    data : Bunch
        With the attributes

        X : csr_matrix of shape (n_documents, n_features), int64
            Word counts.
        ratings, item, user : ndarray of shape (n_documents,)
            Rating, item and user of each review.
        signs : ndarray of shape (n_documents,), int64
            1 for praise and -1 for blame.
        topic_word : ndarray of shape (n_components + 2, n_features)
            Word probabilities of the topics. The last two topics are of praise and of blame.
        profile_topic : ndarray of shape (n_profiles, n_components)
            Proportions of descriptive topics of each item, user or review; see `profile`.
        qualitative : ndarray of shape (n_documents,)
            p_d.
        item_effects, user_effects : ndarray of shape (n_items,) and (n_users,)
            Effect of each item and user on the rating.

    Examples
    --------
    >>> from streamtopics.datasets import make_rated_reviews
    >>> data = make_rated_reviews(100, random_state=0)
    >>> data.X.shape, data.topic_word.shape, data.profile_topic.shape
    ((100, 200), (7, 200), (50, 5))
    """
    check_one_of(("document", "item", "user"), profile=profile)
    check_integer(n_documents=n_documents, n_items=n_items, n_users=n_users)
    check_integer(n_components=n_components, n_features=n_features)
    alpha = 1 / n_components if doc_topic_prior is None else doc_topic_prior
    check_tokens(doc_topic_prior=alpha, topic_word_prior=topic_word_prior)
    check_number(least=0, most=1e6, item_effect=item_effect, user_effect=user_effect, noise=noise)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1, size=4))
    item, user = (rng.integers(n, size=n_documents) for n in (n_items, n_users))
    item_effects = rng.normal(0, item_effect, n_items)
    user_effects = rng.normal(0, user_effect, n_users)
    latent = item_effects[item] + rng.normal(0, noise, n_documents)
    signs = np.where(latent >= 0, 1, -1)
    topic_word = rng.dirichlet(np.full(n_features, topic_word_prior), int(n_components) + 2)
    owner = {"item": item, "user": user, "document": np.arange(n_documents)}[profile]
    n_owners = {"item": n_items, "user": n_users, "document": n_documents}[profile]
    profile_topic = rng.dirichlet(np.full(n_components, alpha), n_owners)
    share = float(qualitative_share)
    qualitative = rng.beta(10 * share, 10 * (1 - share), n_documents)
    lengths = rng.poisson(mean_length, n_documents)
    descriptive = (1 - qualitative)[:, None] * profile_topic[owner]
    shares = np.column_stack([descriptive, qualitative * (signs > 0), qualitative * (signs < 0)])
    rows = [
        rng.multinomial(n, share @ topic_word / (share @ topic_word).sum())
        for n, share in zip(lengths, shares, strict=True)
    ]
    return Bunch(
        X=sparse.csr_matrix(np.array(rows, dtype=np.int64)),
        ratings=MEAN_RATING + user_effects[user] + latent,
        item=item,
        user=user,
        signs=signs,
        item_effects=item_effects,
        user_effects=user_effects,
        topic_word=topic_word,
        profile_topic=profile_topic,
        qualitative=qualitative,
    )
