# SPDX-License-Identifier: BSD-3-Clause
"""Counts of words in texts by compiled code, on several threads, or in Python."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise, permutations
from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import (
    CountVectorizer,
    strip_accents_ascii,
    strip_accents_unicode,
)

from streamtopics.kernels import tokens as kernel
from streamtopics.text.phrases import Pairs, pairs_of
from streamtopics.utils.checks import MOST_WHOLE
from streamtopics.utils.parallel import workers
from streamtopics.utils.structure import from_arrow

# Patterns of all runs of word characters, or of letters, of a least length.
LETTER = "|".join(map("".join, permutations((r"\\W", r"\\d", "_"))))
WORD_PATTERN = re.compile(
    rf"(?:\(\?u\))?(\\b)?(\\w|\[\^(?:{LETTER})\])(?:(\2*)\+|\{{([1-9][0-9]*),\}})(\\b)?"
)
# The compiled counter's runs: word characters, letters, and word characters that are all letters.
WORD_CHARACTERS, LETTERS, LETTER_WORDS = range(3)
# Characters worth the start of a thread.
CHARACTERS_A_PART = 200_000
# Texts between Python's checks for signals.
TEXTS_AT_ONCE = 4096
# Letters without accents, by the parameter: in lower case first, as in scikit-learn.
WITHOUT_ACCENTS = {
    ("ascii", 0): kernel.Letters(strip_accents_ascii),
    ("ascii", 1): kernel.Letters(lambda letter: strip_accents_ascii(letter.lower())),
    ("unicode", 0): kernel.Letters(strip_accents_unicode),
    ("unicode", 1): kernel.Letters(lambda letter: strip_accents_unicode(letter.lower())),
}


@dataclass(frozen=True)
class Counts:
    """Counts of the words of texts, with all words sorted."""

    parts: list[Any]  # Rows of consecutive texts; a document of sentences has several
    begins: list[np.ndarray]  # For each part, the first rows of documents
    maps: list[np.ndarray]  # For each part the word of each entry, -1 for none
    owners: np.ndarray  # For each word a part that has it,
    places: np.ndarray  # and its place in the part
    frequencies: np.ndarray  # Documents with the word
    n_documents: int
    n_jobs: int | None

    def words(self, chosen: np.ndarray | None = None) -> list[str]:
        owners, places = self.owners, self.places
        if chosen is not None:
            owners, places = owners[chosen], places[chosen]
        if len(self.parts) == 1:
            one: list[str] = self.parts[0].words(places)
            return one
        found = np.empty(len(owners), object)
        for p, part in enumerate(self.parts):
            found[owners == p] = part.words(places[owners == p])
        words: list[str] = found.tolist()
        return words

    def pairs(self, looked: np.ndarray) -> Pairs:
        """Count pairs of neighbours in the documents marked by `looked`."""
        documents = np.cumsum(np.concatenate(self.begins)) - 1
        ends = np.cumsum([len(begins) for begins in self.begins])[:-1]
        rows = np.split(looked[documents] if len(documents) else looked[:0], ends)
        return pairs_of(self.parts, rows, int(looked.sum()))

    def joined(self, phrases: Iterable[str]) -> Counts:
        """Count again, with some pairs of neighbours as one word."""
        with workers(self.n_jobs if len(self.parts) > 1 else 1) as pool:
            jobs = zip(self.parts, self.begins, strict=True)
            pool.share(_recounted, [(*job, _spelled(phrases)) for job in jobs])
        return _merged(self.parts, self.begins, self.n_documents, self.n_jobs)

    def phrases(self) -> np.ndarray:
        found = [m[part.joined()] for part, m in zip(self.parts, self.maps, strict=True)]
        return np.unique(np.concatenate(found))

    def totals(self, words: np.ndarray, dtype: Any) -> np.ndarray:
        """Tokens of some words."""
        columns = np.full(len(self.owners), -1, dtype=np.int32)
        columns[words] = np.arange(len(words), dtype=np.int32)
        return np.asarray(self.matrix(columns, len(words), dtype).sum(axis=0)).ravel()

    def matrix(self, columns: np.ndarray, n_columns: int, dtype: Any) -> sparse.csr_matrix:
        """Counts by the column of each word, -1 for none."""
        known = np.append(columns, np.int32(-1)).astype(np.int32)
        maps = [known[of_entries] for of_entries in self.maps]
        with workers(self.n_jobs if len(self.parts) > 1 else 1) as pool:
            jobs = list(zip(self.parts, maps, strict=True))
            sizes = np.concatenate(pool.share(lambda part, m: part.sizes(m), jobs))
            indptr = np.concatenate([[0], np.cumsum(sizes)])
            indices, data = np.empty((2, int(indptr[-1])), dtype=np.int32)
            ends = indptr[np.cumsum([0] + [part.n_rows for part in self.parts])]
            spans = [slice(*ends[i : i + 2]) for i in range(len(jobs))]
            pool.share(
                lambda part, m, span: part.write(m, indices[span], data[span]),
                [(*job, span) for job, span in zip(jobs, spans, strict=True)],
            )
        counts = data.astype(dtype, copy=False)
        return sparse.csr_matrix((counts, indices, indptr), shape=(len(sizes), n_columns))


def check_no_frame(raw_documents: object) -> None:
    # A lazy frame warns when its columns are requested.
    if hasattr(type(raw_documents), "columns"):
        raise TypeError(
            f"raw_documents must be texts; of a {type(raw_documents).__name__} the names of "
            'columns would be read: pass a column, such as frame["text"]'
        )


def count(
    vectorizer: CountVectorizer,
    raw_documents: Iterable[Any],
    n_jobs: int | None,
    phrases: Iterable[str] | None = (),
) -> Counts:
    """Count the words of documents as a vectorizer reads them.

    Pairs of neighbours in `phrases` count as one word; None stores words for `Counts.joined`.
    """
    check_no_frame(raw_documents)
    if isinstance(raw_documents, str):
        raise ValueError("Iterable over raw text documents expected, string object received.")
    raw_documents = from_arrow(raw_documents)
    if word_rule(vectorizer) is None:
        analyze = vectorizer.build_analyzer()
        counter = kernel.Counted(1, 1, 1, keeps=phrases is None)
        if phrases:
            counter.join(_spelled(phrases))
        for document in raw_documents:
            counter.count_tokens(analyze(document))
        counter.sort()
        return _merged([counter], [np.ones(counter.n_rows, dtype=np.uint8)], counter.n_rows, 1)
    texts = _texts_of(vectorizer, list(raw_documents))
    begins = np.ones(len(texts), dtype=np.uint8)
    return _compiled(vectorizer, texts, begins, len(texts), n_jobs, phrases)


def count_sentences(
    vectorizer: CountVectorizer,
    documents: list[list[str]],
    n_jobs: int | None,
    phrases: Iterable[str] | None = (),
) -> Counts:
    """Count the words of sentences, with documents of each word."""
    texts = _texts_of(vectorizer, list(chain.from_iterable(documents)))
    begins = np.zeros(len(texts), dtype=np.uint8)
    lengths = np.fromiter(map(len, documents), np.int64, len(documents))
    begins[(np.cumsum(lengths) - lengths)[lengths > 0]] = 1
    return _compiled(vectorizer, texts, begins, len(documents), n_jobs, phrases)


def _compiled(
    vectorizer: Any, texts: list[str], begins: np.ndarray, n_documents: int, n_jobs: int | None,
    phrases: Iterable[str] | None,
) -> Counts:  # fmt: skip
    """Count the words of texts; `begins` marks first texts of documents."""
    shortest, char_kind = cast(tuple[int, int], word_rule(vectorizer))
    lower = bool(vectorizer.lowercase)
    letters = WITHOUT_ACCENTS.get((vectorizer.strip_accents, lower))
    # No text has this many words; the time and memory of a word grow with the longest n-gram.
    most = min(max(map(len, texts), default=0) + 1, MOST_WHOLE)
    sizes = (min(n, most) for n in vectorizer.ngram_range)
    given = shortest, *sizes, _stop_words(vectorizer), char_kind, phrases is None
    pairs = _spelled(phrases or ())
    with workers(n_jobs) as pool:
        spans = _parts(texts, begins, pool.n)
        how = partial(_counted, lower=lower, letters=letters, pairs=pairs)
        parts = pool.share(
            how, [(kernel.Counted(*given), texts[span], begins[span]) for span in spans]
        )
    return _merged(parts, [begins[span] for span in spans], n_documents, n_jobs)


def _stop_words(vectorizer: Any) -> Any:
    """The compiled stop words, stored until the parameter changes."""
    words = vectorizer.get_stop_words() or frozenset()
    held, compiled = vectorizer._cache.get("stop_words", (None, None))
    if held is not words and held != words:
        # Warns of stop words that match no word.
        vectorizer.build_analyzer()
        compiled = kernel.Words([word for word in words if isinstance(word, str)])
        vectorizer._cache["stop_words"] = words, compiled
    return compiled


def _merged(
    parts: list[Any], begins: list[np.ndarray], n_documents: int, n_jobs: int | None
) -> Counts:
    _, maps, owners, places, frequencies = kernel.merge(parts)
    return Counts(parts, begins, maps, owners, places, frequencies, n_documents, n_jobs)


def _spelled(phrases: Iterable[str]) -> list[tuple[bytes, ...]]:
    return [tuple(phrase.encode("utf-8", "surrogatepass").split(b" ")) for phrase in phrases]


def _recounted(counter: Any, begins: np.ndarray, pairs: list[tuple[bytes, ...]]) -> None:
    counter.join(pairs)
    counter.recount(begins)
    counter.sort()


def _parts(texts: list[str], begins: np.ndarray, n_threads: int) -> list[slice]:
    """Cut into whole documents of about equally many characters by thread."""
    if n_threads == 1:
        return [slice(0, len(texts))]
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    total = int(ends[-1]) if len(ends) else 0
    n_parts = max(1, min(n_threads, total // CHARACTERS_A_PART))
    rows = np.searchsorted(ends, [total * i // n_parts for i in range(1, n_parts)])
    starts = np.append(np.flatnonzero(begins), len(texts))
    cuts = starts[np.searchsorted(starts, rows)]
    return [slice(*pair) for pair in pairwise([0, *cuts.tolist(), len(texts)])]


def _counted(
    counter: Any, texts: list[str], begins: np.ndarray, *, lower: bool, letters: Any,
    pairs: list[tuple[bytes, ...]],
) -> Any:  # fmt: skip
    if pairs:
        counter.join(pairs)
    for start in range(0, len(texts), TEXTS_AT_ONCE):
        span = slice(start, start + TEXTS_AT_ONCE)
        small = np.full(len(texts[span]), lower, dtype=np.uint8)
        counter.count(texts[span], small, begins[span], letters)
    counter.sort()
    return counter


def word_rule(vectorizer: CountVectorizer) -> tuple[int, int] | None:
    """Length of the shortest word, and the alphabet; None if compiled code cannot find words."""
    v: Any = vectorizer
    given = v.preprocessor is not None or v.tokenizer is not None or callable(v.strip_accents)
    if given or v.analyzer != "word" or v.token_pattern is None:
        return None
    # A subclass may cut texts in its own way.
    for name in ("build_analyzer", "build_preprocessor", "build_tokenizer"):
        if getattr(getattr(v, name), "__func__", None) is not getattr(CountVectorizer, name):
            return None
    found = WORD_PATTERN.fullmatch(v.token_pattern)
    if found is None or v.ngram_range[0] < 1:
        return None
    before, char, more, least, after = found.groups()
    shortest = int(least) if least else 1 + len(more) // len(char)
    if char == r"\w":
        return shortest, WORD_CHARACTERS
    # A pattern with one side alone is a rule of its own.
    if (before is None) != (after is None):
        return None
    return shortest, LETTERS if before is None else LETTER_WORDS


def _texts_of(vectorizer: Any, documents: list[Any]) -> list[str]:
    if vectorizer.input == "content" and set(map(type, documents)) <= {str}:
        return documents
    texts = [vectorizer.decode(document) for document in documents]
    for place, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(
                f"raw_documents must be str or bytes; document {place} is {text!r:.60}. Fill "
                "missing texts by '', and pass analyzer=list for lists of words"
            )
    return list(map(str, texts))
