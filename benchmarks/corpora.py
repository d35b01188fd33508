# SPDX-License-Identifier: BSD-3-Clause
"""Real corpora for the benchmarks, from the folder STREAMTOPICS_DATA points to.

A corpus is a gzipped JSON-lines file `NAME.jsonl.gz` with a field "text".
"""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics.datasets import load_docstrings, read_texts


class Split(NamedTuple):
    """Counts of a corpus, in stream order, with documents held out at random."""

    train: sparse.csr_matrix
    test: sparse.csr_matrix
    words: np.ndarray


def folder() -> Path:
    """The folder of the corpora; exits with advice where there is none."""
    path = os.environ.get("STREAMTOPICS_DATA")
    if path is None or not Path(path).is_dir():
        sys.exit(
            "set STREAMTOPICS_DATA to a folder of corpora (NAME.jsonl.gz with a field 'text'); "
            f"it is {path!r} now"
        )
    return Path(path)


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


def unigram_score(train: sparse.csr_matrix, held_out: sparse.csr_matrix) -> float:
    """Nats per token of the word frequencies of `train`, each word counted 0.01 more."""
    frequency = np.asarray(train.sum(axis=0), dtype=np.float64).ravel() + 0.01
    log_probability = np.log(frequency / frequency.sum())
    return float((held_out @ log_probability).sum() / held_out.sum())
