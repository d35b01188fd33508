# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of Arrow are texts to all that takes texts, as lists of them are."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from streamtopics import SVBLDA, DPPSummarizer, GuidedTopics
from streamtopics.datasets import iter_minibatches
from streamtopics.inspection import shares_over_time
from streamtopics.metrics import open_vocabulary_probability, rouge
from streamtopics.report import report
from streamtopics.streams import stream
from streamtopics.text import (
    NamedVectorizer,
    SentenceVectorizer,
    StreamingCountVectorizer,
    StreamingPipeline,
)

arrow = pytest.importorskip("pyarrow")
TEXTS = ["The red sea. The sky is blue.", "A red boat sails.", "Sea and sky.", "A boat. A boat!"]
KINDS = {
    "plain": arrow.array(TEXTS),
    "large": arrow.array(TEXTS, arrow.large_string()),
    "chunked": arrow.chunked_array([TEXTS[:1], TEXTS[1:]]),
    "dictionary": arrow.array(TEXTS).dictionary_encode(),
}
WORDS = StreamingCountVectorizer(max_features=8)
MODEL = StreamingPipeline([("words", WORDS), ("topics", SVBLDA(2, random_state=0))])
FITTED = clone(MODEL).fit(TEXTS)
GUIDED = make_pipeline(NamedVectorizer(), GuidedTopics({"a": ["sea"]}, random_state=0))
# Of scikit-learn's own, which is given texts by this package.
PLAIN = make_pipeline(CountVectorizer(), SVBLDA(2, random_state=0)).fit(TEXTS)


def of_a_stream(texts, _):
    return clone(WORDS).partial_fit(texts).transform(texts).toarray()


def page_of(texts, path):
    report(PLAIN, path, texts=texts, titles=texts)
    return path.read_text("utf-8")


DOORS = {
    "words": lambda texts, _: clone(WORDS).fit_transform(texts).toarray(),
    "words of a stream": of_a_stream,
    "words by a function": lambda texts, _: (
        StreamingCountVectorizer(analyzer=str.split).fit_transform(texts).toarray()
    ),
    "named words": lambda texts, _: NamedVectorizer().fit(texts).transform(texts).toarray(),
    "named words at once": lambda texts, _: NamedVectorizer().fit_transform(texts).toarray(),
    "sentences": lambda texts, _: SentenceVectorizer().sentences(texts),
    "summaries": lambda texts, _: DPPSummarizer(1).fit(texts).transform(texts).tolist(),
    "a digest": lambda texts, _: DPPSummarizer(2).digest(texts),
    "a pipeline": lambda texts, _: clone(MODEL).fit(texts).transform(texts),
    "a pipeline of a stream": lambda texts, _: clone(MODEL).partial_fit(texts).score(texts),
    "guided topics": lambda texts, _: clone(GUIDED).fit(texts).transform(texts),
    "minibatches": lambda texts, _: list(iter_minibatches(texts, 3)),
    "a stream": lambda texts, _: stream(clone(MODEL), [texts]).transform(TEXTS),
    "shares": lambda texts, _: shares_over_time(FITTED, texts, [1, 1, 2, 2]).shares,
    "a score of texts": lambda texts, _: open_vocabulary_probability(FITTED, texts),
    "rouge": lambda texts, _: rouge(texts, texts),
    "a page": page_of,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("door", DOORS)
def test_arrays_of_arrow_are_texts(door, kind, tmp_path):
    found, expected = (DOORS[door](texts, tmp_path / "page.html") for texts in (KINDS[kind], TEXTS))
    np.testing.assert_equal(found, expected)
