# SPDX-License-Identifier: BSD-3-Clause
"""Subtle topics."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class SubtleTopic(NamedTuple):
    """A topic rare in the corpus and dominant in some sentences.

    Attributes
    ----------
    topic : int
    share : float
        Share of the words of the corpus.
    n_sentences, n_documents : int
        Sentences dominated by the topic, and their documents.
    words : list
        The most probable words, or their columns.
    sentences : list of SubtleSentence
        The most dominated sentences.
    """

    topic: int
    share: float
    n_sentences: int
    n_documents: int
    words: list[Any]
    sentences: list[SubtleSentence]


class SubtleSentence(NamedTuple):
    """A sentence dominated by a subtle topic.

    Attributes
    ----------
    document, sentence : int
        Number of the document, and of the sentence in the document.
    proportion : float
        Proportion of the topic in the sentence.
    text : str or None
        The sentence, if texts were given.
    """

    document: int
    sentence: int
    proportion: float
    text: str | None


def find_subtle(
    sentence_topic: np.ndarray, lengths: np.ndarray, max_share: float, min_proportion: float
) -> list[tuple[int, float, np.ndarray]]:
    """Return topics with few words that dominate a sentence, the rarest first.

    Each topic comes with its share and sentences, the most dominated first.
    """
    total = lengths.sum()
    shares = lengths @ sentence_topic / total if total > 0 else np.ones(sentence_topic.shape[1])
    dominated = (sentence_topic >= min_proportion) & (lengths > 0)[:, None]
    found = []
    for k in np.argsort(shares, kind="stable"):
        sentences = np.flatnonzero(dominated[:, k])
        if shares[k] <= max_share and len(sentences):
            order = np.argsort(-sentence_topic[sentences, k], kind="stable")
            found.append((int(k), float(shares[k]), sentences[order]))
    return found
