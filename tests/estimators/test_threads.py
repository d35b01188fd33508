# SPDX-License-Identifier: BSD-3-Clause
"""One object and several threads: no minibatch is lost, and reads are of states that existed."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from copy import copy, deepcopy
from unittest.mock import Mock

import joblib
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from streamtopics import SVBLDA, GibbsOnlineEM, HDPGibbsOnlineEM, StreamingLDA
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.text import StreamingCountVectorizer
from streamtopics.updates import PowerPrior
from streamtopics.utils.parallel import lock_of
from tests.interrupts import is_free

pytestmark = pytest.mark.usefixtures("switching_often")
MODELS = {
    "online EM": GibbsOnlineEM(5, schedule=Schedule(), random_state=0),
    "averaged": GibbsOnlineEM(5, schedule=Schedule(averaging="linear"), random_state=0),
    "SVB": SVBLDA(5, inference="variational", random_state=0),
    "forgetting": StreamingLDA(5, update=PowerPrior(0.9), schedule=Schedule(), random_state=0),
    "HDP": HDPGibbsOnlineEM(2, n_sweeps=5, random_state=0),
}
X = make_lda_corpus(1200, n_features=400, mean_length=30, random_state=0).X.astype(np.float64)
BATCHES = [X[start : start + 50] for start in range(0, 1200, 50)]
NEW = X[:20]


@pytest.fixture(params=MODELS.values(), ids=MODELS)
def model(request):
    return clone(request.param)


def all_at_once(tasks):
    """Run each function in a thread of its own; what one raises is raised."""
    barrier = threading.Barrier(len(tasks))

    def run(task):
        barrier.wait()
        return task()

    with ThreadPoolExecutor(len(tasks)) as pool:
        return [done.result() for done in [pool.submit(run, task) for task in tasks]]


@pytest.mark.parametrize("n_threads", [2, 4])
def test_no_minibatch_is_lost(model, n_threads):
    model.partial_fit(BATCHES[0])

    def learner(first):
        return lambda: [model.partial_fit(batch) for batch in BATCHES[1 + first :: n_threads]]

    all_at_once([learner(first) for first in range(n_threads)])
    assert (model.n_batch_iter_, model.n_documents_seen_) == (len(BATCHES), 1200)
    assert model.n_tokens_seen_ == X.sum()
    posterior = model.posterior_
    assert_allclose(posterior.S.sum(axis=0), posterior.learnt_mass, rtol=1e-9)
    assert_allclose(model.topic_word_.sum(axis=1), 1.0, rtol=1e-9)
    if isinstance(model, SVBLDA):
        assert_allclose(posterior.learnt_part.sum(), X.sum(), rtol=1e-9)


READS = {
    "topic_word_": lambda model: model.topic_word_,
    "components_": lambda model: model.components_,
    "topic_weights_": lambda model: model.topic_weights_,
    "transform": lambda model: model.transform(NEW),
    "score_samples": lambda model: model.score_samples(NEW),
}


def prints(model):
    return {name: joblib.hash(np.ascontiguousarray(read(model))) for name, read in READS.items()}


@pytest.mark.parametrize("n_readers", [1, 3])
def test_reads_beside_a_learner_are_of_states_that_existed(model, n_readers):
    serial, states = clone(model), []
    for batch in BATCHES:
        states.append(prints(serial.partial_fit(batch)))
    known = {name: {state[name] for state in states} for name in READS}
    model.partial_fit(BATCHES[0])
    over = threading.Event()

    def learner():
        try:
            for batch in BATCHES[1:]:
                model.partial_fit(batch)
        finally:
            over.set()

    def reader():
        found, last = [], False
        while not last:
            last = over.is_set()
            found.append(prints(model))
        return found

    _, *read = all_at_once([learner, *[reader] * n_readers])
    for found in read:
        assert found[-1] == states[-1]
        for name in READS:
            assert {one[name] for one in found} <= known[name], name


def test_no_lock_is_held_where_memory_is_short(monkeypatch):
    """Where a stack of what is to be left had no memory for one thing more."""
    model, other = (SVBLDA(5, start="noise", random_state=0).partial_fit(NEW) for _ in range(2))
    monkeypatch.setattr(ExitStack, "_push_cm_exit", Mock(side_effect=MemoryError))
    with suppress(MemoryError):
        model.merge(other)
    assert is_free(model)
    assert is_free(other)


class Compared(StreamingLDA):
    """Has no hash, and equals every other."""

    def __eq__(self, other):
        return isinstance(other, Compared)


class ComparedWords(StreamingCountVectorizer):
    def __eq__(self, other):
        return isinstance(other, ComparedWords)


def test_estimators_that_compare_equal_share_no_lock_and_no_check():
    few, many = Compared(2, random_state=0).fit(NEW), Compared(3, random_state=0).fit(NEW)
    assert lock_of(few) is not lock_of(many)
    assert few.transform(NEW).shape[1] == 2
    assert ComparedWords(max_features=2).partial_fit(["a word"]).n_documents_seen_ == 1
    with pytest.raises(ValueError, match="n_components"):
        Compared(-1).fit(NEW)


@pytest.mark.parametrize("again", [clone, copy, deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copy_has_a_lock_of_its_own_and_learns_alike(again):
    model = StreamingLDA(2, random_state=0).partial_fit(NEW)
    other = again(model)
    assert vars(other).keys() <= vars(model).keys() - {"_cache"}
    assert lock_of(other) is not lock_of(model)
    if again is not clone:
        expected = model.partial_fit(NEW).components_
        np.testing.assert_array_equal(other.partial_fit(NEW).components_, expected)
