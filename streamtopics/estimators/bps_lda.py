# SPDX-License-Identifier: BSD-3-Clause
"""LDA with a prior that a stream does not wash out."""

import numpy as np
from numbers import Real

from streamtopics.base import StreamingTopicModel
from streamtopics.local import Variational
from streamtopics.models import LDA
from streamtopics.updates import BPS
from streamtopics.validation import Interval, StrOptions


class BPSLDA(StreamingTopicModel):
    _parameter_constraints = StreamingTopicModel._parameter_constraints | {
        "boosting_scale": [Interval(Real, 0, np.inf, closed="left")],
        "boosting_norm": [StrOptions({"whole", "topic"})],
    }

    def __init__(
        self,
        n_components=10,
        *,
        boosting_scale=0.1,
        boosting_norm="whole",
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
        self.boosting_scale = boosting_scale
        self.boosting_norm = boosting_norm
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
        return BPS(self.boosting_scale, self.boosting_norm, self.n_passes)

    def _model(self):
        return LDA(self.doc_topic_prior_, Variational(self.tol, self.max_local_iter), self.seed_)
