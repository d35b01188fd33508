# SPDX-License-Identifier: BSD-3-Clause
"""Exclusivity of topics, how much of the use of their top words is their own.

With W_k the top words of topic k, those of probability 0 left out,

    exclusivity(k) = 1 / |W_k| sum over w in W_k of p(w | k) / sum_j p(w | j).
"""

import numpy as np

from streamtopics.metrics.predictive import topic_distributions
from streamtopics.metrics.relevance import relevant_words


def topic_exclusivity(topics: object, n_words: int = 10, *, relevance: float = 1.0) -> np.ndarray:
    """Share that each topic has of its top words' probability; to read with coherence.

    Parameters
    ----------
    topics : fitted topic model, or array-like of shape (n_topics, n_features)
        With `components_`, or these: weights of words, not negative, whose rows are scaled to
        sum to 1, so that a topic counts as much as another however many tokens it has.
    n_words : int, default=10
        Top words of each topic; the fewer, the higher the value, so compare equal numbers. A
        topic that has fewer words counts by these.
    relevance : float in [0, 1], default=1.0
        How they are ranked, as in `relevant_words`, with equal weights of topics.

    Returns
    -------
    exclusivity : ndarray of shape (n_topics,)
        In (0, 1], higher is better: 1 if no other topic has any of the words, 1 / n_topics if
        all topics are alike.

    Notes
    -----
    The mean of the exclusivity of words, phi in the source, which FREX there weighs with how
    frequent they are. Random words are exclusive too, and more topics share more words: it says
    nothing without coherence, and not how many topics there should be.

    References
    ----------
    J. M. Bischof, E. M. Airoldi (2012). Summarizing topical content with word frequency and
    exclusivity. ICML, 201-208.

    Examples
    --------
    >>> from streamtopics.metrics import topic_exclusivity
    >>> topic_exclusivity([[3, 1, 0, 0], [1, 0, 1, 2]], n_words=2)
    array([0.875, 0.625])
    """
    distributions = topic_distributions(topics)
    columns = relevant_words(distributions, n_words=n_words, relevance=relevance)
    total = distributions.sum(axis=0)
    own = np.take_along_axis(distributions, columns, axis=1)
    shares = np.divide(own, total[columns], out=np.zeros_like(own), where=own > 0)
    exclusivity: np.ndarray = shares.sum(axis=1) / np.count_nonzero(own, axis=1)
    return exclusivity
