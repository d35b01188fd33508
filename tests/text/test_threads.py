# SPDX-License-Identifier: BSD-3-Clause
"""Pipelines and vectorizers in several threads: copies are of states that existed."""

import pickle
import sys
import threading
from copy import copy, deepcopy

import numpy as np
import pytest

from streamtopics import SVBLDA, load, save
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline

BATCHES = [
    [" ".join(f"w{10 * k + i}" for i in row) for row in rows]
    for k, rows in enumerate(np.random.default_rng(0).integers(0, 40, (30, 10, 60)))
]


@pytest.fixture(autouse=True)
def switching_often():
    """Threads that change places every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def learns_first():
    words = StreamingCountVectorizer(max_features=50, half_life=20)
    return StreamingPipeline([("words", words), ("topics", SVBLDA(2, random_state=0))]).partial_fit(
        BATCHES[0]
    )


def print_of(pipeline):
    """What tells the states of its steps."""
    words, topics = (step for _, step in pipeline.steps)
    return words.n_documents_seen_, *words.get_feature_names_out(), topics.components_.tobytes()


def saved(pipeline, path):
    save(pipeline, path)
    return load(path)


COPIES = {
    "pickle": lambda pipeline, path: pickle.loads(pickle.dumps(pipeline)),
    "copy": lambda pipeline, path: copy(pipeline),
    "deepcopy": lambda pipeline, path: deepcopy(pipeline),
    "file": saved,
}


def beside_a_learner(pipeline, read):
    """What a function finds again and again while another thread learns all other minibatches."""
    learner = threading.Thread(target=lambda: [pipeline.partial_fit(b) for b in BATCHES[1:]])
    learner.start()
    found = [read()]
    while learner.is_alive():
        found.append(read())
    learner.join()
    return [*found, read()]


@pytest.mark.parametrize("way", COPIES)
def test_copies_of_a_pipeline_have_steps_of_one_minibatch(way, tmp_path):
    serial = learns_first()
    states = [print_of(serial), *(print_of(serial.partial_fit(batch)) for batch in BATCHES[1:])]
    pipeline = learns_first()
    path = tmp_path / "pipeline.topics"
    copies = beside_a_learner(pipeline, lambda: COPIES[way](pipeline, path))
    found = [print_of(one) for one in copies]
    assert set(found) <= set(states)
    assert found[-1] == states[-1]
    # What a copy learns is not the pipeline's.
    copies[-1].partial_fit(BATCHES[0])
    assert print_of(pipeline) == states[-1]


def test_no_minibatch_of_a_pipeline_is_lost():
    pipeline = learns_first()
    learners = [
        threading.Thread(target=lambda i=i: [pipeline.partial_fit(b) for b in BATCHES[i::3]])
        for i in range(3)
    ]
    for learner in learners:
        learner.start()
    for learner in learners:
        learner.join()
    assert [step.n_documents_seen_ for _, step in pipeline.steps] == [310, 310]


def test_copies_of_a_vectorizer_beside_a_learner():
    """Vocabularies share a list of words that grows."""
    words = learns_first().steps[0][1]
    for one in beside_a_learner(words, lambda: deepcopy(words)):
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
