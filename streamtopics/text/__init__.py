# SPDX-License-Identifier: BSD-3-Clause
"""From texts to counts: sentences, and a vectorizer that keeps them apart."""

from streamtopics.text.sentence_vectorizer import SentenceVectorizer
from streamtopics.text.splitting import split_sentences

__all__ = ["SentenceVectorizer", "split_sentences"]
