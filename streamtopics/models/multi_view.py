# SPDX-License-Identifier: BSD-3-Clause
"""Multi-view LDA: documents of known classes, topics of each class and shared topics.

A word is of a topic of the document's class with probability v ~ Beta(share_prior), else of a
shared topic (Nguyen et al., 2020, section 5.4). The printed local inference has errors;
`local.two_blocks` derives it anew.
"""

from dataclasses import dataclass

import numpy as np

from streamtopics.local.step import document_seeds, of_rows
from streamtopics.local.two_blocks import AllClasses, TwoBlocks, class_weights
from streamtopics.messages import Minibatch, StackedStatistics, Statistics
from streamtopics.models.lda import allowed, geometric_mean, mean, visible_topics
from streamtopics.models.sources import RandomStart
from streamtopics.posteriors import Learn, Proposal, SideBySideProposal, Stacked, TopicPosterior
from streamtopics.utils.parallel import Workers

# Pseudo-count of each class.
CLASS_PRIOR = 1.0


@dataclass(frozen=True)
class CombinedTopics:
    own: TopicPosterior | Proposal | RandomStart
    shared: TopicPosterior | Proposal | RandomStart

    @property
    def alpha(self) -> np.ndarray:
        return np.concatenate([self.own.alpha, self.shared.alpha])

    @property
    def mass(self) -> np.ndarray:
        return np.concatenate([self.own.mass, self.shared.mass])

    def rows(self, words: np.ndarray) -> np.ndarray:
        blocks = self.own, self.shared
        found = np.concatenate([block.rows(words) for block in blocks], axis=1)
        found *= allowed(np.concatenate([block.prior_rows(words) for block in blocks], axis=1))
        return found


@dataclass(frozen=True)
class MultiView:
    """Topics of classes 0 to n_classes - 1, and shared topics.

    The posterior is a `Stacked` of a posterior for each class and one of shared topics.
    """

    local: TwoBlocks  # Local step; the first block are the topics of a class
    seed: int  # Of the random start

    def learner(
        self, posterior: Stacked, minibatch: Minibatch, codes: np.ndarray, workers: Workers
    ) -> Learn:
        present = np.unique(codes).tolist()
        of_classes = {j: of_rows(minibatch, np.flatnonzero(codes == j)) for j in present}

        def learn(source: Stacked | SideBySideProposal, *, warm: bool = False) -> StackedStatistics:
            blocks: tuple[TopicPosterior | Proposal, ...] = source.parts
            *own, shared = [self.start(block, i) for i, block in enumerate(blocks)]
            parts = []
            for j, (part, _) in of_classes.items():
                both = CombinedTopics(own[j], shared)
                parts.append((part, visible_topics(geometric_mean, both, part, workers)))
            documents = self.local.infer(parts, workers)
            counts = self.local.statistics(parts, documents, workers)
            n_own, dtype = self.local.n_first, minibatch.counts.dtype
            nothing = Statistics(np.empty(0, np.int32), np.empty((0, n_own), dtype), np.empty(0))
            by_class = [nothing] * len(own)
            common = np.zeros((len(minibatch.words), counts[0].shape[1] - n_own))
            for (j, (part, used)), found in zip(of_classes.items(), counts, strict=True):
                mine = np.ascontiguousarray(found[:, :n_own])
                by_class[j] = Statistics(part.words, mine, part.lengths)
                common[used] += found[:, n_own:]
            of_shared = Statistics(minibatch.words, common, minibatch.lengths)
            return StackedStatistics((*by_class, of_shared))

        return learn

    def start(
        self, block: TopicPosterior | Proposal, place: int
    ) -> TopicPosterior | Proposal | RandomStart:
        if isinstance(block, TopicPosterior) and block.knows_nothing:
            return RandomStart(block, int(document_seeds(self.seed, place, 1)[0]), scaled=True)
        return block

    def log_joint(
        self, posterior: Stacked, minibatch: Minibatch, margin: float, workers: Workers
    ) -> np.ndarray:
        """log p(y) plus the bound of log p(words | y), exact within `margin` nats of the best."""
        *own, shared = posterior.parts
        local = self.local
        inference = AllClasses(local.share_prior, local.tol, local.max_iter, margin)
        weights = class_weights(own, shared, minibatch, workers)
        alpha = CombinedTopics(own[0], shared).alpha
        seen = np.array([block.n_documents for block in own]) + CLASS_PRIOR
        return inference.log_joint(minibatch, weights, alpha, np.log(seen / seen.sum()), workers)

    def proportions(
        self, posterior: Stacked, minibatch: Minibatch, workers: Workers
    ) -> list[np.ndarray]:
        """E[theta] under each class, (n_documents, n_own + n_shared)."""
        *own, shared = posterior.parts
        doc_topic = []
        for block in own:
            topics = visible_topics(mean, CombinedTopics(block, shared), minibatch, workers)
            (documents,) = self.local.infer([(minibatch, topics)], workers)
            doc_topic.append(self.local.doc_topic(documents))
        return doc_topic
