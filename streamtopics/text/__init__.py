# SPDX-License-Identifier: BSD-3-Clause
"""From texts to counts: sentences, a vectorizer that keeps them apart, and counts with names."""

from streamtopics.text.named import NamedCounts, NamedVectorizer
from streamtopics.text.sentence_vectorizer import SentenceVectorizer
from streamtopics.text.splitting import split_sentences

__all__ = ["NamedCounts", "NamedVectorizer", "SentenceVectorizer", "split_sentences"]
