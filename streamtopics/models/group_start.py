# SPDX-License-Identifier: BSD-3-Clause
"""A start from groups of documents that explain each other, for models of one topic a document."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from streamtopics.local.groups import Base, find_groups
from streamtopics.messages import Minibatch
from streamtopics.models.sources import DOCUMENTS, ODDS_OF_DOCUMENT, Source, Table
from streamtopics.posteriors import TopicPosterior
from streamtopics.seeds import content_seeds, mix

# Documents for each topic that groups are looked for among.
DOCUMENTS_FOR_TOPIC = 30
LEAST_DOCUMENTS = 2.0


@dataclass(frozen=True)
class GroupStart:
    """Each topic starts as the words of the minibatch mixed with those of a group of documents.

    The groups are those of `streamtopics.local.groups`, the largest first, under a Dirichlet
    process whose concentration is the number of topics, among thirty documents for each topic,
    or as many as the first part of the minibatch has.
    Of ten documents chosen at random two are often of the same topic, so that another topic has
    none; groups hardly miss a topic that has enough documents. Where there are fewer groups than
    topics, the others start as in `DocumentStart`, and where that starts at random, all do.

    Parameters
    ----------
    share : float
        Share of the words of a document that are from its own topic, not from the background.
    """

    share: float = 1.0
    of_seed: ClassVar[bool] = False

    def __call__(
        self, prior: TopicPosterior, minibatch: Minibatch, seed: int, n_background: int = 0
    ) -> Source:
        """Rows 100 (1 + .3 / .7 p(w | group of k) / p(w))."""
        start = DOCUMENTS(prior, minibatch, seed, n_background)
        if not isinstance(start, Table):
            return start
        n_topics = prior.n_nodes - n_background
        frequency = minibatch.word_counts / minibatch.n_tokens
        expected = prior.prior_rows(minibatch.words)[:, -1] / prior.prior_mass[-1]
        base = Base(0.5 * expected + 0.5 * frequency, frequency, self.share, float(n_topics))
        # Hashes of contents and seed choose, and order: no order of documents.
        keys = mix(content_seeds(minibatch) ^ mix(np.array([seed], np.uint64)))
        order = np.argsort(keys, kind="stable")
        chosen = order[minibatch.lengths[order] > 0][: DOCUMENTS_FOR_TOPIC * n_topics]
        X = minibatch.matrix(minibatch.counts)[chosen]
        found = find_groups(X, np.full(len(chosen), -np.inf), base, LEAST_DOCUMENTS)
        counts = found.counts[:, :n_topics]
        of_words = np.where(frequency > 0, frequency, 1.0)[:, None]
        values = start.values.copy()
        values[:, n_background : n_background + counts.shape[1]] = 100.0 * (
            1.0 + ODDS_OF_DOCUMENT * counts / counts.sum(axis=0) / of_words
        )
        return replace(start, values=values)
