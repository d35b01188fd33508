# SPDX-License-Identifier: BSD-3-Clause
"""Log predictive probability of texts, including words unknown to the model."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from streamtopics.metrics.predictive import (
    check_components,
    held_out_log_probability,
    per_token,
    split_by,
    with_names_of,
)
from streamtopics.utils.checks import check_integer
from streamtopics.utils.steps import as_found, counted, last_step, names_of, steps_before
from streamtopics.utils.structure import from_arrow

UNKNOWN = -1
# The end of a word, which is before its first character too; characters of Unicode and the end.
END = -1
N_CODES = 0x110000 + 1


def open_vocabulary_probability(
    pipeline: Pipeline,
    texts: Sequence[str],
    *,
    n_characters: int | None = 64,
    random_state: int = 0,
) -> float:
    """Return the log predictive probability per held-out token, unknown words included.

    Use this score to compare vocabularies, because a score of known words alone prefers small
    vocabularies. The topic proportions theta are inferred from four fifths of the tokens of a text,
    the observed tokens. The remaining, held-out tokens are scored by the logarithm of

        (1 - u) sum_k E[theta_k] E[beta_kw]     for a known word w,
        u b(w) / (1 - sum_v b(v))               for an unknown word w; v are the known words.

    beta_kw is the probability of word w in topic k. u = (n_unknown + 1/2) / (n_observed + 1) is the
    share of unknown words among the observed tokens. b(w) is the probability of the spelling: each
    character, and the end of the word, is one of `n_characters` equally likely symbols.

    Parameters
    ----------
    pipeline : Pipeline
        Fitted pipeline of a vectorizer, such as `CountVectorizer`, and a topic model with
        `transform` and `components_`. Compare only pipelines that cut texts into the same tokens.
    texts : sequence of str
        New texts.
    n_characters : int or None, default=64
        Number of symbols, from 2 to 1,114,113; 64 is about the number of letters (both cases)
        and digits. None estimates the probability of each symbol, given the symbol before, from the
        observed words. Compare only scores with the same value.
    random_state : int, default=0
        Seed of the split. Other texts do not change the split of a text.

    Returns
    -------
    score : float
        Mean over the held-out tokens, in nats per token; higher is better. NaN without held-out
        tokens.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from streamtopics import StreamingLDA
    >>> from streamtopics.metrics import open_vocabulary_probability
    >>> texts = ["a ship at sea", "the deep sea", "a ship", "the sky", "stars in the sky"] * 20
    >>> for n in (1, 30):  # all eight words, or the four most frequent words
    ...     pipeline = make_pipeline(CountVectorizer(min_df=n), StreamingLDA(2, random_state=0))
    ...     print(round(open_vocabulary_probability(pipeline.fit(texts), [" ".join(texts)])))
    -2
    -7
    """
    if n_characters is not None:
        check_integer(least=2, most=N_CODES, n_characters=n_characters)
    if not (before := steps_before(pipeline)):
        raise TypeError(f"pipeline must lead from texts to a topic model; got {pipeline!r:.99}")
    first = before[0][1]
    vectorizer = getattr(first, "vectorizer_", first)
    model = last_step(pipeline)
    check_components(model)
    texts = list(from_arrow(texts))
    names = [str(name) for name in names_of(pipeline)]
    if n_characters is not None and np.exp(_uniform(n_characters, names)).sum() >= 1:
        raise ValueError(
            f"n_characters={n_characters} leaves no probability for unknown words; pass more than "
            "the distinct characters of the vocabulary, or None"
        )
    words, X = _all_counts(texts, vectorizer.build_analyzer())
    column_of = {name: column for column, name in enumerate(names)}
    columns = np.array([column_of.get(word, UNKNOWN) for word in words], dtype=np.intp)
    counts = counted(pipeline, texts)
    given, expected = sparse.csr_matrix(counts), _in_columns(X, columns, len(names))
    if given.shape != expected.shape or abs(given - expected).sum() > 0:
        raise ValueError(
            "the steps of pipeline before the model must give the counts of words, so that each "
            "token can be scored; leave out binary=True, phrases, tf-idf and steps that change "
            "columns"
        )
    observed, held_out = split_by(X, random_state, _keys(words))
    seen = with_names_of(counts, _in_columns(observed, columns, len(names)), model)
    known = _in_columns(held_out, columns, len(names))
    total = float(held_out_log_probability(model, seen, known).sum())

    is_unknown = columns == UNKNOWN
    share = (observed[:, is_unknown].sum() + 0.5) / (observed.sum() + 1.0)
    n_held_out = np.asarray(held_out.sum(axis=0), dtype=np.float64).ravel()
    n_unknown = n_held_out[is_unknown].sum()
    total += (n_held_out.sum() - n_unknown) * np.log1p(-share) + n_unknown * np.log(share)
    if n_characters is None:
        log_probability = partial(_alike, words[np.unique(observed.indices)].tolist())
    else:
        log_probability = partial(_uniform, n_characters)
    total += n_held_out[is_unknown] @ log_probability(words[is_unknown])
    total -= n_unknown * np.log1p(-np.exp(log_probability(names)).sum())
    return per_token(np.asarray(total), float(n_held_out.sum()))


@dataclass(frozen=True)
class OpenVocabularyScorer:
    """Scorer of pipelines that take raw texts, by `open_vocabulary_probability`.

    The score is NaN without held-out tokens. In a search over vocabularies, the largest vocabulary
    nearly always has the best score.

    Parameters
    ----------
    n_characters, random_state
        As in `open_vocabulary_probability`.
    """

    n_characters: int | None = 64
    random_state: int = 0

    def __call__(self, estimator: object, X: Any, y: object = None) -> float:
        return open_vocabulary_probability(as_found(estimator), X, **asdict(self))


def _all_counts(texts: list[str], analyzer: Any) -> tuple[np.ndarray, sparse.csr_matrix]:
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
    """A 32-bit hash of each word, so the split of a text ignores other texts."""
    keys = (crc32(str(word).encode("utf-8", "surrogatepass")) for word in words)
    return np.fromiter(keys, np.uint32, len(words))


def _in_columns(X: sparse.csr_matrix, columns: np.ndarray, n_columns: int) -> sparse.csr_matrix:
    known = np.flatnonzero(columns != UNKNOWN)
    moved = sparse.csr_matrix(
        (np.ones(len(known)), (known, columns[known])), shape=(X.shape[1], n_columns)
    )
    return sparse.csr_matrix(X @ moved)


def _uniform(n_characters: int, words: Sequence[str]) -> np.ndarray:
    lengths = np.array([max(1, len(word)) for word in words], dtype=np.float64)
    return np.asarray(-lengths * np.log(n_characters) - np.log(n_characters - 1))


def _alike(samples: Sequence[str], words: Sequence[str]) -> np.ndarray:
    """Log probability of words, spelled by the pairs of characters in `samples`.

    With counts n in the samples and N possible characters, c follows a with probability (n_ac +
    q_c) / (n_a + 1), q_c = (n_c + 1 / N) / (n + 1).
    """
    (before, after), _ = _pairs(samples)
    codes, next_code = np.unique(after, return_inverse=True)
    n_codes = len(codes)
    n_c = np.append(np.bincount(next_code, minlength=n_codes), 0.0)
    q = (n_c + 1 / N_CODES) / (n_c.sum() + 1)
    n_ac = np.zeros((n_codes + 1, n_codes + 1))
    np.add.at(n_ac, (_positions(codes, before), next_code), 1.0)
    log_p = np.log(n_ac + q) - np.log(n_ac.sum(axis=1, keepdims=True) + 1)
    (before, after), starts = _pairs(words)
    terms = log_p[_positions(codes, before), _positions(codes, after)]
    log_probability: np.ndarray = np.add.reduceat(terms, starts) if len(starts) else np.empty(0)
    # No word is without characters.
    end = _positions(codes, np.array([END]))[0]
    log_probability -= np.log1p(-np.exp(log_p[end, end]))
    return log_probability


def _pairs(words: Sequence[str]) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Each character, or end of a word, with the character before; and starts of words."""
    lengths = np.fromiter(map(len, words), np.intp, len(words))
    starts = np.cumsum(lengths + 1) - lengths - 1
    after = np.full(int((lengths + 1).sum()), END, dtype=np.int64)
    is_end = np.zeros(len(after), dtype=bool)
    is_end[starts + lengths] = True
    text = "".join(words).encode("utf-32-le", "surrogatepass")
    after[~is_end] = np.frombuffer(text, dtype="<u4")
    return ((np.append(END, after[:-1]) if len(after) else after), after), starts


def _positions(codes: np.ndarray, found: np.ndarray) -> np.ndarray:
    places = np.searchsorted(codes, found)
    known = places < len(codes)
    known[known] = codes[places[known]] == found[known]
    return np.where(known, places, len(codes))
