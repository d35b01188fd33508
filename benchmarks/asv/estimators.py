# SPDX-License-Identifier: BSD-3-Clause
"""Time, memory and quality of every estimator on a synthetic stream."""

import numpy as np
from scipy import sparse

import streamtopics
from streamtopics.datasets import make_lda_corpus

ESTIMATORS = [name for name in streamtopics.__all__ if name.endswith("LDA")]


class Stream:
    """Twenty topics over 5,000 words, 4,000 documents of 60 words."""

    params = (ESTIMATORS, [20, 100], ["float32", "float64"])
    param_names = ("estimator", "n_components", "dtype")

    def setup(self, estimator, n_components, dtype):
        corpus = make_lda_corpus(n_documents=5000, n_components=20, n_features=5000, random_state=0)
        X = sparse.csr_matrix(corpus.X, dtype=np.dtype(dtype))
        self.train, self.test = X[:4000], X[4000:]
        self.model = getattr(streamtopics, estimator)(n_components, random_state=0)
        self.fitted = getattr(streamtopics, estimator)(n_components, random_state=0)
        self.fitted.fit(self.train)

    def time_fit(self, estimator, n_components, dtype):
        self.model.fit(self.train)

    def time_transform(self, estimator, n_components, dtype):
        self.fitted.transform(self.test)

    def peakmem_fit(self, estimator, n_components, dtype):
        self.model.fit(self.train)

    def track_score(self, estimator, n_components, dtype):
        return self.fitted.score(self.test)

    track_score.unit = "nats per token"
