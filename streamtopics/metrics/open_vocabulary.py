# SPDX-License-Identifier: BSD-3-Clause
"""Log predictive probability of texts, with a charge for the words that a model does not know."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from streamtopics.metrics.predictive import (
    _contained_like,
    check_components,
    held_out_log_probability,
    per_token,
    split_by,
)
from streamtopics.utils.checks import check_integer
from streamtopics.utils.steps import as_found, counted, last_step, names_of, steps_before
from streamtopics.utils.structure import from_arrow

UNKNOWN = -1
# The end of a word, which is before its first character too; characters of Unicode and the end.
END = -1
N_SYMBOLS = 0x110000 + 1


def open_vocabulary_probability(
    pipeline: Pipeline,
    texts: Sequence[str],
    *,
    n_characters: int | None = 64,
    random_state: int = 0,
) -> float:
    """Log predictive probability per held-out token of texts, unknown words included.

    A score over the words of a vocabulary cannot choose the vocabulary: the fewer words there
    are, the easier each is to guess. Here all tokens of a text count. Four fifths are observed, as
    in `completion_split` but in the order of the alphabet, whatever the vocabulary and the other
    texts. The proportions are inferred from those that the model knows, and the other fifth is
    scored by

        (1 - u) sum_k E[theta_k] E[beta_kw]     for a word w of the vocabulary,
        u b(w) / (1 - sum_v b(v))               for another; v are the words of the vocabulary,

    where u is the share of unknown words among all observed tokens, (n_unknown + 1/2) /
    (n_observed + 1), and b spells a word: each of its characters, and its end, is one of
    `n_characters` equally likely symbols, and it has one character at least.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted; its first step splits texts into words and counts them, such as `CountVectorizer`,
        `NamedVectorizer` or `StreamingCountVectorizer`, and its last is a topic model with
        `transform` and `components_`. Only pipelines that split texts into the same words can be
        compared: their `stop_words`, `token_pattern`, `ngram_range` and the like must agree,
        their `min_df`, `max_df`, `max_features` and `vocabulary` may differ.
    texts : sequence of str
        Texts that the pipeline was not fitted on.
    n_characters : int or None, default=64
        Symbols that unknown words are spelled with, from 2 to 1,114,113: a word of n letters costs
        n log(n_characters) + log(n_characters - 1) nats. 64 is about letters of both cases and
        digits; too few for the characters of the vocabulary are refused. None spells as the
        observed words of these texts are spelled: with a character, or the end, in proportion to
        how often it follows the one before. Keep it the same for all that is compared.
    random_state : int, default=0
        Of the split into observed and held-out tokens.

    Returns
    -------
    score : float
        Mean over the held-out tokens of all texts, in nats per token; higher is better. NaN if
        there are none.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from streamtopics import StreamingLDA
    >>> from streamtopics.metrics import open_vocabulary_probability
    >>> texts = ["a ship at sea", "the deep sea", "a ship", "the sky", "stars in the sky"] * 20
    >>> scores = []
    >>> for min_df in (1, 30):
    ...     model = StreamingLDA(2, random_state=0)
    ...     pipeline = make_pipeline(CountVectorizer(min_df=min_df), model).fit(texts)
    ...     scores.append(open_vocabulary_probability(pipeline, texts))
    >>> scores[0] > scores[1]
    True
    """
    if n_characters is not None:
        check_integer(least=2, most=N_SYMBOLS, n_characters=n_characters)
    model, vectorizer = _model_and_vectorizer(pipeline)
    check_components(model)
    texts = list(from_arrow(texts))
    names = [str(name) for name in names_of(pipeline)]
    if n_characters is not None:
        _check_enough_characters(n_characters, names)
    words, X = _all_counts(texts, vectorizer.build_analyzer())
    column_of = {name: column for column, name in enumerate(names)}
    columns = np.array([column_of.get(word, UNKNOWN) for word in words], dtype=np.intp)
    counts = counted(pipeline, texts)
    _check_counts_of_words(counts, _in_columns(X, columns, len(names)))
    observed, held_out = split_by(X, random_state, _keys(words))
    seen = _contained_like(counts, _in_columns(observed, columns, len(names)))
    known = _in_columns(held_out, columns, len(names))
    total = float(held_out_log_probability(model, seen, known).sum())

    is_unknown = columns == UNKNOWN
    share = (observed[:, is_unknown].sum() + 0.5) / (observed.sum() + 1.0)
    n_held_out = np.asarray(held_out.sum(axis=0), dtype=np.float64).ravel()
    n_unknown = n_held_out[is_unknown].sum()
    total += (n_held_out.sum() - n_unknown) * np.log1p(-share) + n_unknown * np.log(share)
    if n_characters is None:
        spelled = partial(_alike, words[np.unique(observed.indices)].tolist())
    else:
        spelled = partial(_evenly, n_characters)
    total += n_held_out[is_unknown] @ spelled(words[is_unknown])
    total -= n_unknown * np.log1p(-np.exp(spelled(names)).sum())
    return per_token(np.asarray(total), float(n_held_out.sum()))


@dataclass(frozen=True)
class OpenVocabularyScorer:
    """Scorer by `open_vocabulary_probability`, of pipelines from texts.

    It compares models of different vocabularies, and nearly always picks the largest.

    Parameters
    ----------
    n_characters, random_state
        As in `open_vocabulary_probability`.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from streamtopics import StreamingLDA
    >>> from streamtopics.metrics import OpenVocabularyScorer
    >>> texts = ["a ship at sea", "the deep sea and the sky over the sea"] * 20
    >>> pipeline = make_pipeline(CountVectorizer(), StreamingLDA(2, random_state=0)).fit(texts)
    >>> OpenVocabularyScorer()(pipeline, texts) < 0
    True
    """

    n_characters: int | None = 64
    random_state: int = 0

    def __call__(self, estimator: object, X: Any, y: object = None) -> float:
        return open_vocabulary_probability(
            as_found(estimator), X, n_characters=self.n_characters, random_state=self.random_state
        )


def _model_and_vectorizer(pipeline: object) -> tuple[Any, Any]:
    """The last step, and what splits texts into words in the first."""
    before = steps_before(pipeline)
    if not before:
        raise TypeError(
            f"pipeline must be a Pipeline from texts to a topic model; got {pipeline!r:.99}"
        )
    first = before[0][1]
    return last_step(pipeline), getattr(first, "vectorizer_", first)


def _all_counts(texts: list[str], analyzer: Any) -> tuple[np.ndarray, sparse.csr_matrix]:
    """All words of texts, in the order of the alphabet, and their counts in each text."""
    column_of: dict[str, int] = {}
    indices, indptr = [], [0]
    for text in texts:
        indices += [column_of.setdefault(word, len(column_of)) for word in analyzer(text)]
        indptr.append(len(indices))
    words = np.array(list(column_of), dtype=object)
    order = np.argsort(words)
    column = np.empty(len(words), dtype=np.intp)
    column[order] = np.arange(len(words))
    shape = len(texts), len(words)
    X = sparse.csr_matrix((np.ones(len(indices)), column[indices], indptr), shape=shape)
    X.sum_duplicates()
    return words[order], X


def _keys(words: np.ndarray) -> np.ndarray:
    """A number for each word, of 32 bits, by which a text is split as it is beside any others."""
    keys = (crc32(str(word).encode("utf-8", "surrogatepass")) for word in words)
    return np.fromiter(keys, np.uint32, len(words))


def _in_columns(X: sparse.csr_matrix, columns: np.ndarray, n_columns: int) -> sparse.csr_matrix:
    """Counts with each column where `columns` says, without the unknown ones."""
    known = np.flatnonzero(columns != UNKNOWN)
    moved = sparse.csr_matrix(
        (np.ones(len(known)), (known, columns[known])), shape=(X.shape[1], n_columns)
    )
    return sparse.csr_matrix(X @ moved)


def _check_counts_of_words(counts: Any, expected: sparse.csr_matrix) -> None:
    """Refuse what is not the number of times that each word of the vocabulary is in each text."""
    given = sparse.csr_matrix(counts)
    if given.shape != expected.shape or abs(given - expected).sum() > 0:
        raise ValueError(
            "the steps of pipeline before the model must give the counts of words, so that each "
            "token can be scored; leave out binary=True, tf-idf and steps that change columns"
        )


def _evenly(n_characters: int, words: Sequence[str]) -> np.ndarray:
    """Log probability of words, (n_words,), spelled with equally likely characters."""
    lengths = np.array([max(1, len(word)) for word in words], dtype=np.float64)
    spelled: np.ndarray = -lengths * np.log(n_characters) - np.log(n_characters - 1)
    return spelled


def _check_enough_characters(n_characters: int, names: list[str]) -> None:
    """Refuse so few that nothing is left for words that are not in the vocabulary."""
    if np.exp(_evenly(n_characters, names)).sum() < 1:
        return
    raise ValueError(
        f"n_characters={n_characters} leaves no probability for unknown words; pass more than the "
        f"{len(set().union(*names)):,} distinct characters of the vocabulary, or None"
    )


def _alike(examples: Sequence[str], words: Sequence[str]) -> np.ndarray:
    """Log probability of words, (n_words,), spelled as examples are.

    A character c follows a with probability (n_ac + q_c) / (n_a + 1), where q is (n_c + 1 / N) /
    (n + 1), and N the number of all characters; so each that has never come has its share of one.
    """
    (before, after), _ = _pairs(examples)
    symbols, follower = np.unique(after, return_inverse=True)
    n_symbols = len(symbols)
    n_c = np.append(np.bincount(follower, minlength=n_symbols), 0.0)
    q = (n_c + 1 / N_SYMBOLS) / (n_c.sum() + 1)
    n_ac = np.zeros((n_symbols + 1, n_symbols + 1))
    np.add.at(n_ac, (_among(symbols, before), follower), 1.0)
    log_p = np.log(n_ac + q) - np.log(n_ac.sum(axis=1, keepdims=True) + 1)
    (before, after), starts = _pairs(words)
    terms = log_p[_among(symbols, before), _among(symbols, after)]
    spelled: np.ndarray = np.add.reduceat(terms, starts) if len(starts) else np.empty(0)
    # There is no word without characters.
    end = _among(symbols, np.array([END]))[0]
    spelled -= np.log1p(-np.exp(log_p[end, end]))
    return spelled


def _pairs(words: Sequence[str]) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Each character of words and their ends, after what is before; and where words start."""
    lengths = np.fromiter(map(len, words), np.intp, len(words))
    starts = np.cumsum(lengths + 1) - lengths - 1
    after = np.full(int((lengths + 1).sum()), END, dtype=np.int64)
    is_end = np.zeros(len(after), dtype=bool)
    is_end[starts + lengths] = True
    text = "".join(words).encode("utf-32-le", "surrogatepass")
    after[~is_end] = np.frombuffer(text, dtype="<u4")
    before = np.append(END, after[:-1]) if len(after) else after
    return (before, after), starts


def _among(symbols: np.ndarray, found: np.ndarray) -> np.ndarray:
    """The place of each symbol, their number for one that is not there."""
    places = np.searchsorted(symbols, found)
    known = places < len(symbols)
    known[known] = symbols[places[known]] == found[known]
    return np.where(known, places, len(symbols))
