# SPDX-License-Identifier: BSD-3-Clause
"""LDA learnt by streaming variational Bayes."""

from streamtopics.base import StreamingTopicModel
from streamtopics.local import Variational
from streamtopics.models import LDA
from streamtopics.updates import SVB


class SVBLDA(StreamingTopicModel):
    def __init__(
        self,
        n_components=10,
        *,
        doc_topic_prior=None,
        topic_word_prior=None,
        n_passes=1,
        max_local_iter=100,
        tol=1e-3,
        batch_size=1000,
        max_iter=1,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_components = n_components
        self.doc_topic_prior = doc_topic_prior
        self.topic_word_prior = topic_word_prior
        self.n_passes = n_passes
        self.max_local_iter = max_local_iter
        self.tol = tol
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _rule(self):
        return SVB(n_passes=self.n_passes)

    def _model(self):
        return LDA(self.doc_topic_prior_, Variational(self.tol, self.max_local_iter), self.seed_)
