# SPDX-License-Identifier: BSD-3-Clause
"""Measures of summaries: ROUGE against references, and how much their sentences repeat.

With c(g) the count of an n-gram, of a summary S and a reference R

    hits = sum over g of min(c_S(g), c_R(g)),
    precision = hits / n-grams of S,    recall = hits / n-grams of R,

and F is their harmonic mean. ROUGE-L has in place of the hits the length of the longest
common subsequence of words (Lin 2004).
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from streamtopics.utils.checks import check_one_of, is_whole
from streamtopics.utils.structure import from_arrow, has_entries

WORD = re.compile(r"\w+")
SEVERAL = ("mean", "max", "jackknife")
STATISTICS = ("f1", "precision", "recall")
MOST_ORDER = 100


class Rouge(NamedTuple):
    """ROUGE of each summary.

    Attributes
    ----------
    precision, recall, f1 : ndarray of shape (n_documents,)
        In [0, 1]; higher is better.
    """

    precision: np.ndarray
    recall: np.ndarray
    f1: np.ndarray


def words_of(text: str) -> list[str]:
    """The words of a text in small letters: runs of letters, digits and underscores."""
    return WORD.findall(text.lower())


def rouge(
    summaries: Iterable[Any],
    references: Iterable[Any],
    *,
    order: int | str = 1,
    several: str = "mean",
    tokenize: Callable[[str], Iterable[str]] = words_of,
) -> Rouge:
    """Overlap of summaries with references.

    Parameters
    ----------
    summaries : iterable of str, or of lists of str
        One for each document, as a text or as the list of its sentences, which are
        joined.
    references : iterable of str, or of lists of str
        For each document a reference, or a list of several. Each is a text.
    order : int or "l", default=1
        ROUGE-N for n-grams of N words, at most 100, or ROUGE-L for the longest common subsequence.
    several : {"mean", "max", "jackknife"}, default="mean"
        What is made of several references: the mean of the scores; those of the reference
        of the highest F; or the mean of that over all ways to leave one reference out.
    tokenize : callable, default=words_of
        Takes a text and returns its words. The default has small letters and stems
        nothing; take ``list`` for Chinese or Japanese, and ``str.split`` for scripts that
        write vowels as marks, such as Devanagari.

    Returns
    -------
    rouge : Rouge
        A summary without words has 0 everywhere.

    Raises
    ------
    TypeError
        If summaries or references are not texts or are sets, or `tokenize` is no function or
        returns no words.
    ValueError
        If there are not as many of both, a document has no reference, or an option is
        unknown.

    Notes
    -----
    Longer summaries have a higher recall and a lower precision: compare F, or one length.

    References
    ----------
    C.-Y. Lin (2004). ROUGE: a package for automatic evaluation of summaries. Text
    Summarization Branches Out, 74-81.

    Examples
    --------
    >>> from streamtopics.metrics import rouge
    >>> summaries = [["The soup was hot."]]
    >>> references = [["The soup was good and hot.", "Good food."]]
    >>> found = rouge(summaries, references)
    >>> found.precision, found.recall.round(3), found.f1
    (array([0.5]), array([0.333]), array([0.4]))
    >>> rouge(summaries, references, order="l", several="max").f1
    array([0.8])
    """
    check_options(order, several)
    _check_tokenize(tokenize)
    for name, values in (("summaries", summaries), ("references", references)):
        if not has_entries(values):
            raise TypeError(
                f"{name} must have an entry for each document; got {values!r}. Put that of a "
                "single document into a list"
            )
        if isinstance(values, set | frozenset):
            raise TypeError(
                f"{name} must be in the order of the documents, which a set has not; got "
                f"{values!r:.60}. Put them into a list"
            )
    summaries, references = list(from_arrow(summaries)), list(from_arrow(references))
    if len(summaries) != len(references):
        raise ValueError(
            f"there must be references for each summary; got {len(references)} for "
            f"{len(summaries)} summaries"
        )
    rows = []
    for d, (summary, texts) in enumerate(zip(summaries, references, strict=True)):
        words = _words(tokenize, _joined(summary, d))
        scores = [_scores(words, _words(tokenize, text), order) for text in _references(texts, d)]
        rows.append(_combined(np.array(scores), several))
    return Rouge(*np.array(rows).reshape(-1, 3).T)


def summary_redundancy(
    summaries: Iterable[Sequence[str]], *, tokenize: Callable[[str], Iterable[str]] = words_of
) -> np.ndarray:
    """Overlap of the sentences of a summary with each other.

    For each sentence the highest ROUGE-1 F with another one of the summary, a number of 0
    for no common word to 1 for the same words, and the mean of that over its sentences.

    Parameters
    ----------
    summaries : iterable of lists of str
        The sentences of each summary.
    tokenize : callable, default=words_of
        As in `rouge`.

    Returns
    -------
    redundancy : ndarray of shape (n_documents,)
        Lower is better; 0 for summaries of less than two sentences.

    Examples
    --------
    >>> from streamtopics.metrics import summary_redundancy
    >>> summary_redundancy([["The soup was hot.", "The soup was good."], ["Good food."]])
    array([0.75, 0.  ])
    """
    _check_tokenize(tokenize)
    if not has_entries(summaries):
        raise TypeError(f"summaries must be the sentences of each document; got {summaries!r}")
    out = []
    for d, summary in enumerate(summaries):
        if not has_entries(summary) or not all(isinstance(text, str) for text in summary):
            raise TypeError(
                f"summaries must be lists of sentences, but that of document {d} is {summary!r}; "
                "put a single sentence into a list"
            )
        sentences = [_words(tokenize, text) for text in summary]
        highest = [
            max(_scores(one, other, 1)[2] for j, other in enumerate(sentences) if j != i)
            for i, one in enumerate(sentences)
            if len(sentences) > 1
        ]
        out.append(float(np.mean(highest)) if highest else 0.0)
    return np.array(out)


@dataclass(frozen=True)
class RougeScorer:
    """Scorer of a summarizer by the mean of `rouge` over documents, y being the references.

    NaN if there are no documents.

    Parameters
    ----------
    order : int or "l", default=1
    statistic : {"f1", "precision", "recall"}, default="f1"
        "f1", since the others can be raised by the length alone.
    several : {"mean", "max", "jackknife"}, default="mean"

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from streamtopics import DPPSummarizer
    >>> from streamtopics.metrics import RougeScorer
    >>> documents = ["The soup was hot. It rained."] * 4
    >>> references = [["Hot soup.", "The soup was hot"]] * 4
    >>> search = GridSearchCV(
    ...     DPPSummarizer(), {"n_sentences": [1, 2]}, scoring=RougeScorer(), cv=2
    ... )
    >>> search.fit(documents, references).best_params_
    {'n_sentences': 1}
    """

    order: int | str = 1
    statistic: str = "f1"
    several: str = "mean"

    def __post_init__(self) -> None:
        check_options(self.order, self.several)
        check_one_of(STATISTICS, statistic=self.statistic)

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        if y is None:
            raise ValueError(
                "RougeScorer needs y, the references of each document: pass them to fit of the "
                "search, or to cross_validate"
            )
        # Tables of data have a transform, too.
        if hasattr(estimator, "shape") or not hasattr(estimator, "transform"):
            raise TypeError(
                "estimator must be a fitted summarizer, such as DPPSummarizer, or a pipeline that "
                f"ends in one; got {type(estimator).__name__}"
            )
        found = rouge(estimator.transform(X), y, order=self.order, several=self.several)
        values = getattr(found, self.statistic)
        return float(values.mean()) if len(values) else np.nan


def check_options(order: int | str, several: str) -> None:
    """Raise ValueError unless `rouge` knows them."""
    is_number = is_whole(order) and 1 <= order <= MOST_ORDER
    if not is_number and not (isinstance(order, str) and order == "l"):
        raise ValueError(
            f"order must be a number of words from 1 to {MOST_ORDER}, or 'l'; got {order!r}"
        )
    check_one_of(SEVERAL, several=several)


def _check_tokenize(tokenize: Any) -> None:
    if not callable(tokenize):
        raise TypeError(f"tokenize must be a function of a text; got {tokenize!r:.60}")


def _words(tokenize: Callable[[str], Iterable[str]], text: str) -> list[str]:
    """The words that `tokenize` finds in a text; the characters of what is a str."""
    found = tokenize(text)
    words: list[Any] = list(found) if isinstance(found, str) or has_entries(found) else [None]
    if not all(isinstance(word, Hashable) and word is not None for word in words):
        raise TypeError(f"tokenize must return the words of a text; got {found!r:.60}")
    return words


def _joined(summary: Any, d: int) -> str:
    if isinstance(summary, str):
        return summary
    in_order = has_entries(summary) and not isinstance(summary, set | frozenset)
    sentences = list(summary) if in_order else [summary]
    if not all(isinstance(sentence, str) for sentence in sentences):
        raise TypeError(
            f"summaries must be texts or lists of sentences, but that of document {d} is "
            f"{summary!r}"
        )
    return " ".join(sentences)


def _references(texts: Any, d: int) -> list[str]:
    found = list(texts) if has_entries(texts) else [texts]
    if not found:
        raise ValueError(f"document {d} has no reference; leave it out")
    if not all(isinstance(text, str) for text in found):
        raise TypeError(
            f"references must be texts or lists of texts, but those of document {d} are {texts!r}"
        )
    return found


def _scores(words: Sequence[str], reference: Sequence[str], order: Any) -> tuple[float, ...]:
    """Precision, recall and F."""
    if order == "l":
        hits, n_own, n_theirs = common_subsequence(words, reference), len(words), len(reference)
    else:
        own, theirs = _grams(words, order), _grams(reference, order)
        hits, n_own, n_theirs = (own & theirs).total(), own.total(), theirs.total()
    precision = hits / n_own if n_own else 0.0
    recall = hits / n_theirs if n_theirs else 0.0
    return precision, recall, 2 * hits / (n_own + n_theirs) if hits else 0.0


def _grams(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[i:] for i in range(n)), strict=False))


def common_subsequence(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence, in words.

    Bit i of `rows` is 0 where the longest one of one[:i + 1] is longer than that of one[:i]
    (Hyyrö 2004).
    """
    places: dict[str, int] = {}
    for i, word in enumerate(one):
        places[word] = places.get(word, 0) | 1 << i
    everything = (1 << len(one)) - 1
    rows = everything
    for word in other:
        matches = rows & places.get(word, 0)
        rows = ((rows + matches) | (rows - matches)) & everything
    return len(one) - rows.bit_count()


def _combined(scores: np.ndarray, several: str) -> np.ndarray:
    """Combine the scores by each reference, of shape (n_references, 3)."""
    found: np.ndarray = scores.mean(axis=0)
    if several == "mean" or len(scores) == 1:
        return found
    best, second, *_ = scores[np.argsort(-scores[:, 2], kind="stable")]
    # Left out, the best one is missing once; then the second is the best.
    found = best if several == "max" else ((len(scores) - 1) * best + second) / len(scores)
    return found
