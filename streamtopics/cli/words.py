# SPDX-License-Identifier: BSD-3-Clause
"""Makes the vectorizer that the options ask for."""

from __future__ import annotations

import re
from argparse import Namespace
from typing import Any

import numpy as np

from streamtopics.text import StreamingCountVectorizer


def letters(shortest: int) -> str:
    """Return the pattern of words, which are runs of so many letters or more."""
    return rf"(?u)\b[^\W\d_]{{{shortest},}}\b"


def vectorizer_for(options: Namespace, n_documents: int | None) -> StreamingCountVectorizer:
    """Return what counts words; of a corpus of so many documents, or None of a stream."""
    least = options.min_documents
    return StreamingCountVectorizer(
        stop_words=None if options.keep_stop_words else "english",
        token_pattern=letters(options.shortest),
        min_df=least if n_documents is None else min(least, max(1, n_documents // 2)),
        max_df=min(1.0, options.max_share),
        max_features=options.max_words,
        dtype=np.float32,
        n_jobs=options.jobs,
    )


def fit_words(words: Any, texts: list[str]) -> None:
    """Make the vocabulary of texts."""
    try:
        words.fit(texts)
    except ValueError as error:
        raise ValueError(
            f"no vocabulary could be made from the first {len(texts)} documents ({error}); "
            f"{_remedy(words, texts)}"
        ) from error


def _remedy(words: Any, texts: list[str]) -> str:
    pattern = getattr(words, "vectorizer", words).token_pattern
    if any(re.search(pattern, text) for text in texts):
        return "try --min-documents 1, --max-share 1, --keep-stop-words or --shortest 1"
    if any(re.search(letters(1), text) for text in texts):
        return "all words in them are shorter than --shortest says; try --shortest 1"
    return "there is no letter in them; name the field of the texts by --text-key, or other files"
