# SPDX-License-Identifier: BSD-3-Clause
"""The words of a vocabulary and their columns."""

from collections.abc import Collection, Mapping

Vocabulary = Mapping[str, int] | Collection[str]


def word_columns(vocabulary: Vocabulary) -> Mapping[str, int]:
    """The column of each word."""
    if isinstance(vocabulary, str):
        raise TypeError(
            f"vocabulary must be a mapping of words to columns or a sequence of words; got the "
            f"string {vocabulary!r}"
        )
    if isinstance(vocabulary, set | frozenset):
        raise TypeError("vocabulary must have an order; got a set. Pass the words by column")
    n = len(vocabulary)
    if not isinstance(vocabulary, Mapping):
        vocabulary = {word: column for column, word in enumerate(vocabulary)}
    if not vocabulary:
        raise ValueError("vocabulary is empty; fit the vectorizer on some documents first")
    if len(vocabulary) != n or sorted(vocabulary.values()) != list(range(n)):
        raise ValueError(
            "vocabulary must give each word one column, 0 to n_features - 1; it has repeated words "
            "or other columns. Pass vectorizer.vocabulary_ or vectorizer.get_feature_names_out()"
        )
    return vocabulary
