# SPDX-License-Identifier: BSD-3-Clause
"""Words by which topics are shown, at every place of the slider."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streamtopics.metrics import relevant_words

# Places of the slider: `relevance` of `relevant_words`.
RELEVANCES = tuple(i / 10 for i in range(11))
# Characters of a word.
LONGEST_WORD = 40


@dataclass(frozen=True)
class WordTable:
    """The words that some topic leads with, at some place of the slider.

    Attributes
    ----------
    columns : ndarray of shape (n_words,)
        Their columns in the model, ascending.
    words : tuple of str
        As shown, cut where they are long.
    overall : tuple of float
        p(w), the probability of each in all topics together.
    own : tuple of ndarray
        For each topic, the places in `columns` of the words that it may lead with, ascending.
    probabilities : tuple of ndarray
        p(w | k) of these.
    """

    columns: np.ndarray
    words: tuple[str, ...]
    overall: np.ndarray
    own: tuple[np.ndarray, ...]
    probabilities: tuple[np.ndarray, ...]


def word_table(
    topic_word: np.ndarray, weights: np.ndarray, names: np.ndarray, shown: np.ndarray, n_words: int
) -> WordTable:
    """Words of the topics `shown`: of each, those first at one of `RELEVANCES`.

    The n of them with the highest ``r log p(w | k) + (1 - r) log (p(w | k) / p(w))`` are those of
    `streamtopics.metrics.relevant_words` with ``relevance=r``, so that a page can rank them anew.
    """
    ranked = [relevant_words(topic_word, weights, n_words, relevance=r)[shown] for r in RELEVANCES]
    leads = [np.unique(np.concatenate([by_one[i] for by_one in ranked])) for i in range(len(shown))]
    leads = [own[topic_word[k, own] > 0] for k, own in zip(shown, leads, strict=True)]
    columns = np.unique(np.concatenate([np.empty(0, np.intp), *leads]))
    return WordTable(
        columns,
        tuple(shortened(str(names[column]), LONGEST_WORD) for column in columns),
        weights @ topic_word[:, columns],
        tuple(np.searchsorted(columns, own) for own in leads),
        tuple(topic_word[k, own] for k, own in zip(shown, leads, strict=True)),
    )


def shortened(text: str, n: int) -> str:
    """At most n characters of a text, the last one an ellipsis where it is cut."""
    return text if len(text) <= n else text[: n - 1].rstrip() + "…"
