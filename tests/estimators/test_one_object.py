# SPDX-License-Identifier: BSD-3-Clause
"""One object over its life: changes of mind, copies, merging, forks; nothing is lost in silence."""

import copy
import multiprocessing
import sys
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from streamtopics import StreamingLDA
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.updates import MeanDecay, OnlineEM

X = make_lda_corpus(n_documents=300, n_features=50, n_components=3, random_state=0).X
ADDING = {"update": "svb", "start": "noise", "random_state": 0}


def test_the_alpha_of_both_is_in_a_merged_sum_whichever_came_first():
    start = StreamingLDA(3, topic_word_prior=0.02, batch_size=10, **ADDING)
    models = [clone(start).partial_fit(X[:10]), clone(start).fit(X[10:])]
    merged = [copy.deepcopy(models[i]).merge(models[1 - i]).doc_topic_prior_ for i in (0, 1)]
    assert_allclose(merged[0], merged[1])
    assert_array_equal(merged[0], models[1].doc_topic_prior_)


def test_what_is_merged_in_is_one_whole_state():
    other = StreamingLDA(3, **ADDING).fit(X[:100])
    stop = threading.Event()

    def learn():
        while not stop.is_set():
            other.partial_fit(X[:20])

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        for _ in range(20):
            merged = StreamingLDA(3, **ADDING).fit(X[:50]).merge(other).posterior_
            assert_allclose(merged.S.sum(axis=0), merged.learnt_mass)
            assert_allclose(merged.learnt_mass.sum(), merged.n_tokens, rtol=1e-5)
    finally:
        stop.set()
        thread.join()


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_does_not_wait_for_a_thread_that_it_does_not_have():
    model = StreamingLDA(3, random_state=0).fit(X)
    entered, leave = threading.Event(), threading.Event()

    def hold(names, X):
        entered.set()
        leave.wait(30)
        return np.full(X.shape[1], 0.1)

    thread = threading.Thread(target=model.set_params(topic_word_prior=hold).fit, args=(X,))
    thread.start()
    entered.wait(30)
    model.set_params(topic_word_prior=0.1)
    child = multiprocessing.get_context("fork").Process(target=model.partial_fit, args=(X[:20],))
    child.start()
    child.join(30)
    leave.set()
    thread.join()
    hung = child.is_alive()
    child.kill()
    assert not hung


@pytest.mark.parametrize(
    ("update", "growth"),
    [("svb", None), ("svb", 1.0), ("bps", 3.0), (OnlineEM(MeanDecay(1.0)), None)],
)
def test_a_stranger_is_no_base_of_a_merge(update, growth):
    """What it knows would be taken away from models that never learnt it."""
    X = make_lda_corpus(n_documents=500, n_features=60, random_state=0).X
    schedule = Schedule(growth=growth)
    new = StreamingLDA(3, update=update, schedule=schedule, inference="gibbs", random_state=0)
    first, stranger = (clone(new).partial_fit(part) for part in (X[:200], X[300:]))
    one, other = (copy.deepcopy(first).partial_fit(X[i : i + 50]) for i in (200, 250))
    before = one.components_.copy()
    with pytest.raises(ValueError, match="base must be the common ancestor"):
        one.merge(other, base=stranger)
    assert_array_equal(one.components_, before)
    assert one.merge(other, base=first).components_.min() > 0
