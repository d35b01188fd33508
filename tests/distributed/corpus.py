# SPDX-License-Identifier: BSD-3-Clause
"""A corpus in partitions, and the model of its minibatches one after another."""

import pickle
from functools import cache

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from streamtopics.datasets import make_lda_corpus

SIZE = 20
X = make_lda_corpus(n_documents=790, n_features=120, mean_length=30, random_state=0).X
# Minibatches do not reach from one partition to the next: the third has a short one.
PARTITIONS = [X[:200], X[200:400], X[400:590], X[590:590], X[590:]]
SEED = {"random_state": 0, "batch_size": SIZE}
LATE = {"rounds": 8, "staleness": 2}
ONE = {"rounds": 1, "staleness": 0}
COUNTER = CountVectorizer(vocabulary=["blue", "green", "pink", "red"])
TEXTS = ["red green red", "blue pink", "green blue blue", "pink red"] * 30

# So much that rounds of eight minibatches, two of them late, come next.
PAST = sparse.vstack([X] * 7, format="csr")


@cache
def _pickled(name, text):
    return pickle.dumps(pickle.loads(text).partial_fit(PAST))


def experienced(estimator):
    """A copy of an estimator that has learnt from all of `PAST`."""
    text = pickle.dumps(clone(estimator))
    return pickle.loads(_pickled(repr(estimator), text))


def of_texts(kind):
    """A pipeline that counts the words of `TEXTS`."""
    return make_pipeline(clone(COUNTER), kind(2, **SEED))


def minibatches(partitions=PARTITIONS, size=SIZE):
    for part in partitions:
        for start in range(0, part.shape[0], size):
            yield part[start : start + size]


def serial(estimator, batches=None, begin=clone):
    model = begin(estimator)
    for batch in minibatches() if batches is None else batches:
        model.partial_fit(batch)
    return model


def bits(model):
    posterior = model.posterior_
    arrays = [model.components_, model.doc_topic_prior_, posterior.c, posterior.mass]
    return [np.asarray(array).tobytes() for array in arrays], posterior.counters[:3]
