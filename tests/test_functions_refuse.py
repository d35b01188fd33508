# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of functions that were refused in words of another package, or not at all."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from streamtopics import StreamingLDA
from streamtopics.metrics import OpenVocabularyScorer, open_vocabulary_probability

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")


def test_a_vocabulary_leaves_some_probability_to_unknown_words():
    texts = [" ".join(map(chr, range(start, start + 100))) for start in range(0x4E00, 0x6188, 100)]
    vectorizer = CountVectorizer(token_pattern=r"\w")
    model = make_pipeline(vectorizer, StreamingLDA(2, random_state=0)).fit(texts)
    with pytest.raises(ValueError, match=r"n_characters=64 leaves no .* pass at least 5,001"):
        OpenVocabularyScorer()(model, texts)
    assert np.isfinite(open_vocabulary_probability(model, texts, n_characters=5001))
    pairs = ["ab ac ad ae af ag ah", "bc bd be bf bg bh bi"]
    model = make_pipeline(CountVectorizer(), StreamingLDA(2, random_state=0)).fit(pairs)
    with pytest.raises(ValueError, match=r"n_characters=2 .* pass at least 10, or None"):
        open_vocabulary_probability(model, pairs, n_characters=2)
    assert np.isfinite(open_vocabulary_probability(model, pairs, n_characters=10))
