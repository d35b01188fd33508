# SPDX-License-Identifier: BSD-3-Clause
"""From texts to counts."""

from streamtopics.text.languages import Tokenizer, stop_words
from streamtopics.text.named import NamedCounts, NamedVectorizer
from streamtopics.text.negation import mark_negations
from streamtopics.text.phrases import Phrases
from streamtopics.text.pipeline import StreamingPipeline
from streamtopics.text.sentence_vectorizer import SentenceVectorizer
from streamtopics.text.splitting import split_sentences
from streamtopics.text.streaming_vectorizer import StreamingCountVectorizer

__all__ = [
    "NamedCounts",
    "NamedVectorizer",
    "Phrases",
    "SentenceVectorizer",
    "StreamingCountVectorizer",
    "StreamingPipeline",
    "Tokenizer",
    "mark_negations",
    "split_sentences",
    "stop_words",
]
