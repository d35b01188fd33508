# SPDX-License-Identifier: BSD-3-Clause
"""The callbacks of scikit-learn along `fit`."""

import numpy as np
import pytest
from sklearn.base import clone

from streamtopics import MultiViewLDA, RatingLDA, StreamingBayes, WASTopicModel
from streamtopics.datasets import make_lda_corpus
from streamtopics.models import BetaBinomial
from tests.plain import SVBLDA

callback = pytest.importorskip("sklearn.callback")

X = make_lda_corpus(n_documents=100, n_features=60, random_state=0).X
MODEL = SVBLDA(3, batch_size=30, max_iter=2, random_state=0)


class Tasks:
    """Writes down what it is told, and may end `fit` or fail."""

    max_propagation_depth = None

    def __init__(self, ends_at=None, fails_at=None):
        self.ends_at, self.fails_at, self.calls, self.copies = ends_at, fails_at, [], []

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.calls.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None):
        self.calls.append(("begin", context.task_name, context.task_id, X is not None))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.calls.append(("end", context.task_name, context.task_id))
        if context.task_name == "minibatch":
            self.copies.append(fitted_estimator)
            if context.task_id == self.fails_at:
                raise KeyboardInterrupt
            return context.task_id == self.ends_at
        return False


def minibatches(calls):
    return [task[2] for task in calls if task[:2] == ("end", "minibatch")]


def same(model, expected):
    np.testing.assert_array_equal(model.components_, expected.components_)


def test_callbacks_are_told_of_each_minibatch():
    tasks = Tasks()
    model = clone(MODEL).set_callbacks(tasks).fit(X)
    assert minibatches(tasks.calls) == list(range(8)), "two passes over four minibatches"
    assert tasks.calls[:3] == ["setup", ("begin", "fit", 0, True), ("begin", "minibatch", 0, True)]
    assert tasks.calls[-2:] == [("end", "fit", 0), "teardown"]
    assert [copy.n_batch_iter_ for copy in tasks.copies] == list(range(1, 9))
    plain = clone(MODEL).fit(X)
    same(model, plain)
    assert model.n_iter_ == 2
    assert vars(model).keys() - vars(plain).keys() == {"_skl_callbacks"}
    # Copies that later steps leave alone.
    first = SVBLDA(3, batch_size=30, random_state=0).fit(X[:30])
    same(tasks.copies[0], first)
    assert tasks.copies[0].score(X) == first.score(X)


def test_a_callback_ends_fit_after_a_minibatch():
    tasks = Tasks(ends_at=1)
    model = clone(MODEL).set_callbacks(tasks).fit(X)
    assert (model.n_batch_iter_, model.n_iter_) == (2, 0)
    assert tasks.calls[-1] == "teardown"
    same(model, SVBLDA(3, batch_size=30, random_state=0).fit(X[:60]))


def test_an_interrupt_in_a_callback_leaves_whole_minibatches():
    tasks = Tasks(fails_at=2)
    model = clone(MODEL).set_callbacks(tasks)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert tasks.calls[-1] == "teardown"
    assert model.n_batch_iter_ == 3
    assert not {"_callback_fit_ctx", "_skl_callbacks_to_teardown"} & vars(model).keys()
    same(model.set_callbacks().fit(X), clone(MODEL).fit(X))


@pytest.mark.parametrize(("model", "data", "n_minibatches"), [
    (MultiViewLDA(1, 1, batch_size=40, max_iter=1), (X, np.arange(100) % 2), 3),
    (StreamingBayes(BetaBinomial(), batch_size=50), (np.ones((100, 2)),), 2),
    (WASTopicModel(2, n_sweeps=2, n_burn_in=1), ([X[:5].toarray(), X[5:9].toarray()],), 0),
    (RatingLDA(2, max_iter=1), (X, np.ones(100), np.arange(100), np.arange(100)), 0),
], ids=lambda given: type(given).__name__)  # fmt: skip
def test_other_models_have_the_task_of_a_fit_too(model, data, n_minibatches):
    tasks = Tasks()
    model.set_callbacks(tasks).fit(*data)
    assert len(minibatches(tasks.calls)) == n_minibatches
    assert [call[0] for call in tasks.calls if call[1] == "fit"] == ["begin", "end"]
