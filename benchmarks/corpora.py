# SPDX-License-Identifier: BSD-3-Clause
"""Real corpora for the benchmarks, from the folder STREAMTOPICS_DATA points to.

A corpus is a gzipped JSON-lines file `NAME.jsonl.gz` with a field "text", or "sentences" if it
comes cut into them.
"""

import gzip
import json
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics.datasets import load_docstrings, read_texts
from streamtopics.text import SentenceVectorizer

# A word of prose: three letters or more, no digits.
PROSE_WORD = r"\b[^\W\d_]{3,}\b"


class Split(NamedTuple):
    """Counts of a corpus, in stream order, with documents held out at random."""

    train: sparse.csr_matrix
    test: sparse.csr_matrix
    words: np.ndarray


class SentenceCounts(NamedTuple):
    """Counts of sentences, one row each, and the document of each row, 0, 1, ..."""

    X: sparse.csr_matrix
    groups: np.ndarray
    words: np.ndarray

    @property
    def n_documents(self) -> int:
        return int(self.groups[-1]) + 1

    def documents(self, chosen: np.ndarray) -> "SentenceCounts":
        """Some of the documents, in this order; one may come more than once."""
        starts = np.searchsorted(self.groups, np.arange(self.n_documents + 1))
        lengths = np.diff(starts)[chosen]
        rows = np.concatenate([np.arange(starts[d], starts[d + 1]) for d in chosen])
        return SentenceCounts(self.X[rows], np.repeat(np.arange(len(chosen)), lengths), self.words)


def folder() -> Path:
    """The folder of the corpora; exits with advice where there is none."""
    path = os.environ.get("STREAMTOPICS_DATA")
    if path is None or not Path(path).is_dir():
        sys.exit(
            "set STREAMTOPICS_DATA to a folder of corpora (NAME.jsonl.gz with a field 'text'); "
            f"it is {path!r} now"
        )
    return Path(path)


@cache
def enclosed(name: str) -> list[dict[str, Any]]:
    """Rows of a small corpus that comes with the documentation: real texts for quick runs."""
    path = Path(__file__).parents[1] / "doc" / "_static" / f"{name}.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def rows(name: str) -> list[dict[str, Any]]:
    """Documents of a corpus with their fields; newsgroups are both of its parts."""
    if name == "newsgroups":
        return rows("newsgroups_train") + rows("newsgroups_test")
    with gzip.open(folder() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def texts(name: str) -> list[str]:
    """All documents of a corpus; newsgroups are both of its parts, shuffled once."""
    if name == "docstrings":
        return load_docstrings().data
    if name == "newsgroups":
        both = texts("newsgroups_train") + texts("newsgroups_test")
        return [both[i] for i in np.random.default_rng(0).permutation(len(both))]
    return list(read_texts(folder() / f"{name}.jsonl.gz"))


def split(
    name: str,
    *,
    n_test: int = 1000,
    min_df: int = 2,
    max_features: int | None = None,
    seed: int = 0,
    dtype: type = np.float32,
) -> Split:
    """Document-term counts without English stop words, split at random."""
    documents = texts(name)
    vectorizer = CountVectorizer(
        stop_words="english", min_df=min_df, max_features=max_features, dtype=dtype
    )
    X = vectorizer.fit_transform(documents)
    test = np.zeros(len(documents), dtype=bool)
    test[np.random.default_rng(seed).choice(len(documents), n_test, replace=False)] = True
    return Split(X[~test], X[test], vectorizer.get_feature_names_out())


def sentences(name: str, *, n_documents: int | None = None, min_df: int = 5) -> SentenceCounts:
    """Counts of sentences, of a corpus or of documents spread evenly over it.

    Prose is cut by SentenceVectorizer and loses English stop words, words of less than three
    letters, and those of less than `min_df` of the documents. What comes as sentences was made
    ready before and keeps all words. Sentences without words are left out.
    """
    found = rows(name)
    if n_documents is not None:
        found = [found[i] for i in np.linspace(0, len(found) - 1, n_documents).astype(int)]
    field = "sentences" if "sentences" in found[0] else "text"
    if field == "sentences":
        counter = CountVectorizer(token_pattern=r"\S+")
    else:
        counter = CountVectorizer(stop_words="english", token_pattern=PROSE_WORD, min_df=min_df)
    vectorizer = SentenceVectorizer(counter)
    documents = vectorizer.fit_transform([row[field] for row in found])
    documents = [X[X.getnnz(axis=1) > 0] for X in documents]
    groups = np.repeat(np.arange(len(documents)), [X.shape[0] for X in documents])
    return SentenceCounts(
        sparse.vstack(documents, format="csr"), groups, vectorizer.get_feature_names_out()
    )


def unigram_score(train: sparse.csr_matrix, held_out: sparse.csr_matrix) -> float:
    """Nats per token of the word frequencies of `train`, each word counted 0.01 more."""
    frequency = np.asarray(train.sum(axis=0), dtype=np.float64).ravel() + 0.01
    log_probability = np.log(frequency / frequency.sum())
    return float((held_out @ log_probability).sum() / held_out.sum())
