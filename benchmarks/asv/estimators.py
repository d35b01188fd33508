# SPDX-License-Identifier: BSD-3-Clause
"""Time, memory and quality of the methods of the literature and the classes, on one stream."""

import numpy as np
from scipy import sparse

import streamtopics
from streamtopics import StreamingLDA
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators.presets import PRESETS

# Estimators that learn topics of counts alone, and the rows of the table that are no class.
CLASSES = {
    name: cls
    for name in streamtopics.__all__
    if issubclass(cls := getattr(streamtopics, name), StreamingTopicModel)
}
METHODS = [*CLASSES, *(name for name in PRESETS if name not in CLASSES)]


def make(name: str, n_components: int) -> StreamingTopicModel:
    """Return a method by its name."""
    if name in CLASSES:
        return CLASSES[name](n_components, random_state=0)
    return StreamingLDA.preset(name, n_components, random_state=0)


class Stream:
    """Twenty topics over 5,000 words, 4,000 documents of 60 words."""

    params = (METHODS, [20, 100], ["float32", "float64"])
    param_names = ("method", "n_components", "dtype")

    def setup(self, method, n_components, dtype):
        corpus = make_lda_corpus(n_documents=5000, n_components=20, n_features=5000, random_state=0)
        X = sparse.csr_matrix(corpus.X, dtype=np.dtype(dtype))
        self.train, self.test = X[:4000], X[4000:]
        self.model = make(method, n_components)
        self.fitted = make(method, n_components).fit(self.train)

    def time_fit(self, method, n_components, dtype):
        self.model.fit(self.train)

    def time_transform(self, method, n_components, dtype):
        self.fitted.transform(self.test)

    def peakmem_fit(self, method, n_components, dtype):
        self.model.fit(self.train)

    def track_score(self, method, n_components, dtype):
        return self.fitted.score(self.test)

    track_score.unit = "nats per token"
