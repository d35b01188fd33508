# SPDX-License-Identifier: BSD-3-Clause
"""Measures of summaries: ROUGE against references, and repetition among sentences."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from streamtopics.utils.checks import check_integer, check_one_of
from streamtopics.utils.structure import from_arrow

WORD = re.compile(r"\w+")
SEVERAL = ("mean", "max")
MOST_ORDER = 100


class Rouge(NamedTuple):
    """ROUGE of each summary: arrays of shape (n_documents,) in [0, 1]; higher is better."""

    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray


def words_of(text: str) -> list[str]:
    """Lower-case words of a text: runs of letters, digits and underscores."""
    return WORD.findall(text.lower())


def rouge(
    summaries: Iterable[str | Sequence[str]],
    references: Iterable[str | Sequence[str]],
    *,
    order: int | str = 1,
    several: str = "mean",
    tokenize: Callable[[str], Iterable[str]] = words_of,
) -> Rouge:
    """Return ROUGE scores: precision, recall and F1 of the n-grams shared with references.

    Parameters
    ----------
    summaries : iterable of str, or of lists of str
        For each document a summary, as a text or a list of sentences.
    references : iterable of str, or of lists of str
        For each document a reference text, or a list of reference texts.
    order : int or "l", default=1
        Length of the n-grams (ROUGE-N), at most 100; or "l" for the longest common subsequence.
    several : {"mean", "max"}, default="mean"
        Use of several references of a document: "mean" averages the scores over the references,
        "max" takes the scores for the reference with the highest F1.
    tokenize : callable, default=words_of
        Maps a text to words. The default lower-cases without stemming. Use ``list`` for Chinese or
        Japanese, and ``str.split`` for scripts with vowel marks, for example Devanagari.

    Returns
    -------
    rouge : Rouge
        Arrays `precision`, `recall` and `f1` of shape (n_documents,). F1 is the harmonic mean of
        precision and recall. Longer summaries have higher recall and lower precision, so compare
        F1. For a summary without words all scores are 0.

    References
    ----------
    C.-Y. Lin (2004). ROUGE: a package for automatic evaluation of summaries. Text
    Summarization Branches Out, 74-81.

    Examples
    --------
    >>> from streamtopics.metrics import rouge
    >>> found = rouge([["The soup was hot."]], [["The soup was good and hot.", "Good food."]])
    >>> found.precision, found.recall.round(3), found.f1
    (array([0.5]), array([0.333]), array([0.4]))
    """
    check_one_of(SEVERAL, several=several)
    if isinstance(order, str):
        check_one_of(["l"], order=order)
    else:
        check_integer(most=MOST_ORDER, order=order)
    if isinstance(summaries, str) or isinstance(references, str):
        raise TypeError("summaries and references must be lists, with an entry for each document")
    rows = []
    for summary, texts in zip(from_arrow(summaries), from_arrow(references), strict=True):
        sentences = [summary] if isinstance(summary, str) else summary
        words = [word for sentence in sentences for word in tokenize(sentence)]
        of_document = [texts] if isinstance(texts, str) else list(texts)
        scores = np.array([_scores(words, list(tokenize(text)), order) for text in of_document])
        rows.append(scores.mean(axis=0) if several == "mean" else scores[scores[:, 2].argmax()])
    return Rouge(*np.array(rows).reshape(-1, 3).T)


def summary_redundancy(
    summaries: Iterable[Sequence[str]], *, tokenize: Callable[[str], Iterable[str]] = words_of
) -> np.ndarray:
    """Return how far the sentences of each summary repeat each other.

    For each sentence the highest ROUGE-1 F1 with another sentence of the summary is taken. The
    redundancy is the mean of these values: 0 without common words, 1 for equal sentences.

    Parameters
    ----------
    summaries : iterable of lists of str
        The sentences of each summary.
    tokenize : callable, default=words_of
        As in `rouge`.

    Returns
    -------
    redundancy : ndarray of shape (n_summaries,)
        Lower is better; 0 for fewer than two sentences.

    Examples
    --------
    >>> from streamtopics.metrics import summary_redundancy
    >>> summary_redundancy([["The soup was hot.", "The soup was good."], ["Good food."]])
    array([0.75, 0.  ])
    """
    out = []
    for summary in from_arrow(summaries):
        if isinstance(summary, str):
            raise TypeError("summaries must be lists of sentences; put a single one into a list")
        sentences = [list(tokenize(text)) for text in summary]
        highest = [
            max(_scores(one, other, 1)[2] for j, other in enumerate(sentences) if j != i)
            for i, one in enumerate(sentences)
            if len(sentences) > 1
        ]
        out.append(float(np.mean(highest)) if highest else 0.0)
    return np.array(out)


@dataclass(frozen=True)
class RougeScorer:
    """Scorer of summarizers by the mean F1 of `rouge`.

    X has the documents, and y the reference summaries. The score is NaN without documents.

    Parameters
    ----------
    order, several
        As in `rouge`.

    Examples
    --------
    >>> from streamtopics import DPPSummarizer
    >>> from streamtopics.metrics import RougeScorer
    >>> X, y = ["It rained. The sun shone."], ["It rained."]  # the summary has both sentences
    >>> round(RougeScorer()(DPPSummarizer(2), X, y), 3)  # precision 2 / 5, recall 1
    0.571
    """

    order: int | str = 1
    several: str = "mean"

    def __call__(self, estimator: Any, X: object, y: Any = None) -> float:
        found = rouge(estimator.transform(X), y, order=self.order, several=self.several)
        return float(found.f1.mean()) if len(found.f1) else np.nan


def _scores(words: Sequence[str], reference: Sequence[str], order: int | str) -> tuple[float, ...]:
    if isinstance(order, str):
        hits, n_own, n_theirs = longest_common(words, reference), len(words), len(reference)
    else:
        own, theirs = _ngrams(words, order), _ngrams(reference, order)
        hits, n_own, n_theirs = (own & theirs).total(), own.total(), theirs.total()
    precision = hits / n_own if n_own else 0.0
    recall = hits / n_theirs if n_theirs else 0.0
    return precision, recall, 2 * hits / (n_own + n_theirs) if hits else 0.0


def _ngrams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[i:] for i in range(n)), strict=False))


def longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of the longest common subsequence, in words.

    Bit i of `rows` is 0 if word i lengthens the subsequence (Hyyrö 2004).
    """
    places: dict[str, int] = {}
    for i, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << i
    mask = (1 << len(one)) - 1
    rows = mask
    for word in other:
        matches = rows & places.get(word, 0)
        rows = ((rows + matches) | (rows - matches)) & mask
    return len(one) - rows.bit_count()
