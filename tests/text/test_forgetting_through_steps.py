# SPDX-License-Identifier: BSD-3-Clause
"""Words that a vectorizer forgets, through the steps between it and the topics."""

import pytest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import Binarizer, FunctionTransformer, Normalizer, PolynomialFeatures

from streamtopics.text import (
    StreamingCountVectorizer,
    StreamingPipeline,
)
from tests.plain import SVBLDA

WORDS_FIRST = ["aa aa xx", "bb bb xx", "cc cc xx", "dd dd xx", "ee ee xx"] * 20


WORDS_THEN = ["zz xx", "bb xx", "cc xx", "dd xx", "ee xx"] * 20


def topics_by_word(*between):
    words = StreamingCountVectorizer(max_features=6, half_life=20)
    steps = [("words", words), *between, ("topics", SVBLDA(1, random_state=0))]
    pipeline = StreamingPipeline(steps)
    for texts in [WORDS_FIRST, *[WORDS_THEN] * 3]:
        pipeline.partial_fit(texts)
    mass = pipeline[-1].components_[0]
    return dict(zip(pipeline[:-1].get_feature_names_out(), mass.round(6), strict=True))


def test_words_are_forgotten_through_steps_that_keep_the_columns():
    whole = topics_by_word()
    start = StreamingCountVectorizer(max_features=6).partial_fit(WORDS_FIRST)
    counts = start.transform(WORDS_FIRST)
    scaled = topics_by_word(("scaled", TfidfTransformer(norm=None, use_idf=False).fit(counts)))
    assert scaled == whole
    for step in (Normalizer(), Binarizer(), FunctionTransformer(accept_sparse=True)):
        words = StreamingCountVectorizer(max_features=6, half_life=20)
        pipeline = StreamingPipeline([("words", words), ("step", step), ("topics", SVBLDA(1))])
        for texts in [WORDS_FIRST, WORDS_THEN]:
            pipeline.partial_fit(texts)
        assert pipeline[-1].n_documents_seen_ == 200


def test_steps_that_cannot_forget_are_refused_before_anything_is_learnt():
    words = StreamingCountVectorizer(max_features=6)
    pipeline = StreamingPipeline([("words", words), ("labels", SGDClassifier())])
    with pytest.raises(TypeError, match="the last step 'labels', a SGDClassifier, has no forget"):
        pipeline.partial_fit(WORDS_FIRST, [0, 1, 0, 1, 0] * 20, classes=[0, 1])
    assert not hasattr(words, "vocabulary_")
    # A vocabulary that stays has nothing to forget.
    words = StreamingCountVectorizer(vocabulary=["aa", "bb"])
    pipeline = StreamingPipeline([("words", words), ("labels", SGDClassifier())])
    pipeline.partial_fit(WORDS_FIRST, [0, 1, 0, 1, 0] * 20, classes=[0, 1])
    # Which of the remaining columns change is not known.
    counts = StreamingCountVectorizer(max_features=6).partial_fit_transform(WORDS_FIRST)
    for step, width in ((PolynomialFeatures(2), 28), (VarianceThreshold(), 5)):
        words = StreamingCountVectorizer(max_features=6, half_life=20)
        pipeline = StreamingPipeline(
            [("words", words), ("other", step.fit(counts)), ("topics", SVBLDA(1))]
        )
        kind = type(step).__name__
        with pytest.raises(TypeError, match=f"'other' must keep all 6 columns; {kind} .* {width}"):
            pipeline.partial_fit(WORDS_FIRST)
