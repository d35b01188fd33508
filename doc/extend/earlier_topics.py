# SPDX-License-Identifier: BSD-3-Clause
"""The topics of an earlier model as the word prior of a new model."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from streamtopics.priors.columns import word_columns


@dataclass(frozen=True)
class EarlierTopics:
    """`mass` pseudo-counts for each earlier topic, divided among words by their probabilities.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from streamtopics import StreamingLDA
    >>> from streamtopics.text import NamedVectorizer
    >>> prior = EarlierTopics(({"goal": 0.6, "team": 0.4}, {"tax": 0.7, "vote": 0.3}))
    >>> model = StreamingLDA(2, topic_word_prior=prior, start="noise", random_state=0)
    >>> pipeline = make_pipeline(NamedVectorizer(CountVectorizer()), model)
    >>> pipeline = pipeline.fit(["team and goal", "vote on a tax", "goal", "tax on tax"] * 10)
    >>> [words[0] for words in model.top_words(relevance=1)]
    ['goal', 'tax']
    """

    topics: tuple[Mapping[str, float], ...]
    mass: float = 50.0
    base: float = 0.02

    def resolve(self, columns):
        """Return the prior of the words in `columns`, of shape (n_topics, n_features)."""
        column = word_columns(columns.vocabulary("EarlierTopics"))
        prior = np.full((len(self.topics), columns.X.shape[1]), self.base)
        for row, topic in zip(prior, self.topics, strict=True):
            for word in topic.keys() & column.keys():
                row[column[word]] += self.mass * topic[word]
        return prior
