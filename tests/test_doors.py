# SPDX-License-Identifier: BSD-3-Clause
"""What generated calls (`benchmarks.fuzz`) found that was refused in words of another package."""

import numpy as np
import pytest

from streamtopics import GuidedTopics, StreamingLDA
from streamtopics.text import StreamingPipeline

COUNTS = np.random.default_rng(0).poisson(1.0, (8, 6))


@pytest.mark.parametrize("other", [0.5, np.bool_(True), "a model"])
def test_only_models_are_merged(other):
    model = StreamingLDA(2, random_state=0).partial_fit(COUNTS)
    with pytest.raises(TypeError, match="other must be a StreamingLDA like the model"):
        model.merge(other)


@pytest.mark.parametrize("steps", [[], None])
def test_a_pipeline_without_steps_is_refused(steps):
    with pytest.raises(ValueError, match="StreamingPipeline has no steps"):
        StreamingPipeline(steps).partial_fit(["a soup"])
    with pytest.raises(ValueError, match="StreamingPipeline has no steps"):
        StreamingPipeline(steps).top_words()


@pytest.mark.parametrize("vocabulary", [7, iter(["a", "b"]), object()])
def test_a_vocabulary_is_a_collection(vocabulary):
    model = GuidedTopics({"one": ["a"]}, 1, vocabulary=vocabulary)
    with pytest.raises(TypeError, match="vocabulary must be a mapping of words to columns or a"):
        model.fit(COUNTS)
