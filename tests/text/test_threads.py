# SPDX-License-Identifier: BSD-3-Clause
"""Pipelines and vectorizers in several threads: copies are of states that existed."""

import os
import pickle
import signal
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.pipeline import Pipeline

from streamtopics import load, save
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from streamtopics.text.vocabulary import SHARED
from streamtopics.utils.parallel import lock_of
from tests.plain import SVBLDA

pytestmark = pytest.mark.usefixtures("switching_often")
BATCHES = [
    [" ".join(f"w{10 * k + i}" for i in row) for row in rows]
    for k, rows in enumerate(np.random.default_rng(0).integers(0, 40, (30, 10, 60)))
]


def learns_first():
    words = StreamingCountVectorizer(max_features=50, half_life=20)
    steps = [("words", words), ("topics", SVBLDA(2, random_state=0))]
    return StreamingPipeline(steps).partial_fit(BATCHES[0])


def print_of_fit(pipeline):
    """What tells the states of its steps."""
    words, topics = (step for _, step in pipeline.steps)
    return *words.get_feature_names_out(), topics.components_.tobytes()


def print_of(pipeline):
    return pipeline.steps[0][1].n_documents_seen_, *print_of_fit(pipeline)


def saved(pipeline, path):
    save(pipeline, path)
    return load(path)


COPIES = {
    "pickle": lambda pipeline, path: pickle.loads(pickle.dumps(pipeline)),
    "copy": lambda pipeline, path: copy(pipeline),
    "deepcopy": lambda pipeline, path: deepcopy(pipeline),
    "file": saved,
}


def beside(learn, read):
    """What a function finds again and again while another thread learns, and at last."""
    learner = threading.Thread(target=learn)
    learner.start()
    found = [read()]
    while learner.is_alive():
        found.append(read())
    learner.join()
    return [*found, read()]


def others(pipeline):
    """Learns all other minibatches; the prints of the states between them."""
    return [print_of(pipeline.partial_fit(batch)) for batch in BATCHES[1:]]


@pytest.mark.parametrize("way", COPIES)
def test_copies_of_a_pipeline_have_steps_of_one_minibatch(way, tmp_path):
    serial = learns_first()
    states = [print_of(serial), *others(serial)]
    pipeline = learns_first()
    path = tmp_path / "pipeline.topics"
    copies = beside(lambda: others(pipeline), lambda: COPIES[way](pipeline, path))
    found = [print_of(one) for one in copies]
    assert set(found) <= set(states)
    assert found[-1] == states[-1]
    # What a copy learns is not the pipeline's.
    copies[-1].partial_fit(BATCHES[0])
    assert print_of(pipeline) == states[-1]


def test_copies_of_what_is_fitted_anew_are_of_one_fit():
    topics = SVBLDA(2, schedule__n_rounds=10, random_state=0)
    pipeline = StreamingPipeline([("words", StreamingCountVectorizer()), ("topics", topics)])
    parts = BATCHES[:2]
    states = {print_of_fit(clone(pipeline).fit(part)) for part in parts}
    pipeline.fit(parts[0])
    found = beside(
        lambda: [pipeline.fit(part) for part in parts * 10], lambda: print_of_fit(copy(pipeline))
    )
    assert set(found) <= states


def test_copies_of_an_inner_pipeline_are_whole_too():
    inner, serial = learns_first(), learns_first()
    outer = StreamingPipeline([("inner", inner)])
    states = {print_of(serial), *others(serial)}
    copies = beside(lambda: [outer.partial_fit(b) for b in BATCHES[1:]], lambda: copy(inner))
    assert {print_of(one) for one in copies} <= states


def test_copies_share_no_learning_step_of_a_pipeline_of_scikit_learn_within():
    words = StreamingCountVectorizer(max_features=50)
    front = Pipeline([("inner", Pipeline([("words", words), ("none", None)]))])
    pipeline = StreamingPipeline([("front", front), ("topics", SVBLDA(1, random_state=0))])
    again = copy(pipeline.partial_fit(BATCHES[0]))
    again.partial_fit(BATCHES[1])
    assert [step.n_documents_seen_ for step in (words, pipeline[-1], again[-1])] == [10, 10, 20]
    assert again.steps[0][1].steps[0][1].steps[0][1].n_documents_seen_ == 20


def test_what_cannot_be_copied_deep_is_shared_by_copies():
    class Splits:
        """A function of a text that holds a module, of which there are no copies."""

        def __init__(self):
            self.module = np

        def __call__(self, text):
            return text.split()

    words = StreamingCountVectorizer(max_features=5, tokenizer=Splits(), token_pattern=None)
    pipeline = StreamingPipeline([("words", words), ("topics", SVBLDA(1, random_state=0))])
    again = copy(pipeline.partial_fit(["a b a"]))
    assert again.steps[0][1] is not words
    assert again.steps[0][1].tokenizer is words.tokenizer
    assert again.top_words() == pipeline.top_words()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_beside_a_thread_that_adds_words_goes_on():
    with lock_of(SHARED), ThreadPoolExecutor(1) as pool:
        process = pool.submit(forked_learner).result()
        assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0


def forked_learner():
    """A forked process that learns words, and is ended if it has to wait."""
    with warnings.catch_warnings():
        # That there are other threads is what is tested.
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process == 0:
        signal.alarm(10)
        pickle.dumps(StreamingCountVectorizer(max_features=5).partial_fit(["a b a"]))
        os._exit(0)
    return process


class FailsOnce(TransformerMixin, BaseEstimator):
    """Passes counts on, but for the first time that it is asked for those of four documents."""

    failed = False

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def get_feature_names_out(self, names=None):
        return names

    def transform(self, X):
        if X.shape[0] == 4 and not self.failed:
            self.failed = True
            raise OSError("once")
        return X


@pytest.mark.parametrize(
    "wrap", [lambda p: p, lambda p: p[:], lambda p: StreamingPipeline(p.steps)]
)
def test_words_are_forgotten_after_a_failure_also_of_steps_that_have_learnt(wrap):
    words = StreamingCountVectorizer(max_features=2, half_life=1, margin=1.0)
    last = [("once", FailsOnce()), ("topics", SVBLDA(1, random_state=0))]
    pipeline = StreamingPipeline([("words", words), *last])
    for _ in range(5):
        pipeline.partial_fit(["red green", "red green red"])
    pipeline = wrap(pipeline)
    with pytest.raises(OSError, match="once"):
        pipeline.partial_fit(["blue pink", "blue pink blue"] * 2)
    pipeline.partial_fit(["blue"])
    assert words.get_feature_names_out().tolist() == ["blue", "pink"]
    assert pipeline[-1].components_.round(2).tolist() == [[1.05, 0.05]]


def test_what_a_vectorizer_is_copied_by_does_not_change():
    words = StreamingCountVectorizer(max_features=5)
    before = words.__getstate__()
    names = [*before]
    words.partial_fit(["a b a"])
    assert [*before] == names


def test_no_minibatch_of_a_pipeline_is_lost():
    pipeline = learns_first()
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(pipeline.partial_fit, BATCHES))
    assert [step.n_documents_seen_ for _, step in pipeline.steps] == [310, 310]


def test_copies_of_a_vectorizer_beside_a_learner():
    """Vocabularies share a list of words that grows."""
    words = learns_first().steps[0][1]
    copies = beside(lambda: [words.partial_fit(b) for b in BATCHES[1:]], lambda: deepcopy(words))
    for one in copies:
        kept = one._vocabulary
        assert len(kept.words) == len(kept.places) == kept.n_words


def test_a_copy_has_no_words_of_later_minibatches():
    words = StreamingCountVectorizer(max_features=50, n_candidates=1000).partial_fit(BATCHES[0])
    before = words._vocabulary
    expected = pickle.dumps(words)
    words.partial_fit(BATCHES[1])
    assert len(before.words) > before.n_words
    words._vocabulary = before
    assert pickle.dumps(words) == expected
