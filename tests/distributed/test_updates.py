# SPDX-License-Identifier: BSD-3-Clause
"""Updates that are learnt apart from a model and taken in by hand."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from streamtopics import SVBHPP, SVBLDA, GibbsOnlineEM, StreamingLDA, editing
from streamtopics.distributed import apply_update, compute_update, fit_partitions
from streamtopics.local import Gibbs
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from streamtopics.updates import SVB, PowerPrior
from tests.distributed.corpus import COUNTER, SEED, SIZE, TEXTS, X, bits, of_texts, serial
from tests.distributed.engines import Now
from tests.small import SEA

MODELS = {
    "default": StreamingLDA(5, **SEED),
    "gibbs": GibbsOnlineEM(5, **SEED),
    "svb": SVBLDA(5, **SEED),
    "forgets": StreamingLDA(5, update=PowerPrior(0.9), **SEED),
}
each_model = pytest.mark.parametrize("name", MODELS)


@each_model
def test_minibatches_taken_in_next_leave_the_bits_of_partial_fit(name):
    batches = [X[:100], X[100:120], X[120:133], X[133:150]]
    model = serial(MODELS[name], batches[:1])
    for batch in batches[1:]:
        before = bits(model)
        update = compute_update(model, batch)
        assert bits(model) == before
        assert apply_update(model, pickle.loads(pickle.dumps(update))) is model
    assert bits(model) == bits(serial(MODELS[name], batches))


@each_model
def test_rounds_by_hand_are_those_of_fit_partitions(name):
    """Four rounds of two minibatches each, as many as the schedule has under way."""
    first = serial(MODELS[name], [X[i : i + SIZE] for i in range(0, 640, SIZE)])
    parts = [X[640 + i : 680 + i] for i in (0, 40, 80)]
    expected = fit_partitions(deepcopy(first), parts, Now(), rounds=2, staleness=0)
    model = deepcopy(first)
    for part in parts:
        apply_update(model, compute_update(model, part))
    assert bits(model) == bits(expected)
    late = fit_partitions(deepcopy(first), parts[:2], Now(), rounds=2, staleness=1)
    updates = [compute_update(first, part, n_ahead=40 * i) for i, part in enumerate(parts[:2])]
    for update in updates:
        apply_update(first, update)
    assert bits(first) == bits(late)


def test_documents_ahead_leave_the_seeds_that_a_document_has_in_the_stream():
    model = serial(StreamingLDA(5, inference=Gibbs(), update=SVB(), **SEED), [X[:100]])

    def learnt(documents, n_ahead=0):
        statistics = compute_update(model, documents, n_ahead=n_ahead).blend.statistics
        found = np.zeros((X.shape[1], 5))
        found[statistics.words] = statistics.counts
        return found

    whole, first, then = X[100:120], X[100:108], X[108:120]
    assert_allclose(learnt(first) + learnt(then, 8), learnt(whole), rtol=1e-6, atol=1e-6)
    assert abs(learnt(first) + learnt(then) - learnt(whole)).max() > 0.1


def test_a_pipeline_counts_the_words():
    model, counts = of_texts(SVBLDA), COUNTER.transform(TEXTS)
    model[-1].partial_fit(counts)
    alone = deepcopy(model[-1])
    apply_update(model, compute_update(model, TEXTS))
    apply_update(alone, compute_update(alone, counts))
    assert bits(model[-1]) == bits(alone)
    assert alone.n_documents_seen_ == 240
    assert alone.n_batch_iter_ == 7
    assert_allclose(alone.n_tokens_seen_, 2 * counts.sum())


def test_an_update_of_topics_or_words_that_have_moved_is_refused():
    words = StreamingCountVectorizer(max_features=4, half_life=20)
    model = StreamingPipeline([("w", words), ("t", SVBLDA(2, **SEED))]).partial_fit(TEXTS)
    update = compute_update(model, TEXTS)
    apply_update(model.partial_fit(TEXTS), update)
    with pytest.raises(ValueError, match=r"moved .* blue, green, pink, red;"):
        apply_update(model.partial_fit(SEA * 9), update)
    update = compute_update(topics := serial(MODELS["svb"], [X[:100]]), X[:100])
    editing.merge(topics, [0, 1])
    editing.split(topics, 0, X)
    with pytest.raises(ValueError, match=r"moved .* 1, 2, 3, 4;"):
        apply_update(topics, update)


def update_of(estimator, counts):
    """What an estimator that knows 200 documents learns from others."""
    return compute_update(clone(estimator).partial_fit(counts[:200]), counts[200:])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda _: compute_update(SVBLDA(2), X), NotFittedError, "not fitted"),
        (lambda _: compute_update(SVBHPP(2).fit(X), X), ValueError, "does not define merging"),
        (lambda svb: compute_update(svb, X[:0]), ValueError, "documents is empty"),
        (lambda svb: compute_update(svb, ["red"]), TypeError, "are not rows of counts"),
        (lambda svb: compute_update(svb, X, n_ahead=-1), ValueError, "n_ahead"),
        (
            lambda svb: apply_update(svb, update_of(SVBLDA(4, **SEED), X)),
            ValueError,
            "of 4 topics, .* but this model of 5",
        ),
        (
            lambda svb: apply_update(svb, update_of(svb, X.toarray().repeat(2, axis=1))),
            ValueError,
            "this model of 5, 120",
        ),
        (
            lambda svb: apply_update(svb, update_of(svb, X)),
            ValueError,
            "and 200 documents, but this model of 5, 120 and 100",
        ),
    ],
)
def test_what_is_not_learnt_apart_or_taken_in_leaves_the_model_as_it_is(call, error, message):
    model = serial(MODELS["svb"], [X[:100]])
    before = bits(model)
    with pytest.raises(error, match=message):
        call(model)
    assert bits(model) == before
