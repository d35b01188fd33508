# SPDX-License-Identifier: BSD-3-Clause
"""The columns of the counts that a prior is made for, and records of how it is made."""

import reprlib
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import numpy as np

from streamtopics.utils.checks import is_whole
from streamtopics.utils.structure import check_structure, has_entries

Vocabulary = Mapping[str, int] | Collection[str]
MOST_SHOWN = 6


def word_columns(vocabulary: Vocabulary) -> Mapping[str, int]:
    """The column of each word."""
    if isinstance(vocabulary, str):
        raise TypeError(
            f"vocabulary must be a mapping of words to columns or a sequence of words; got the "
            f"string {vocabulary!r}"
        )
    if isinstance(vocabulary, set | frozenset):
        raise TypeError("vocabulary must have an order; got a set. Pass the words by column")
    if not isinstance(vocabulary, Collection) or not has_entries(vocabulary):
        raise TypeError(
            "vocabulary must be a mapping of words to columns or a sequence of words; got a "
            f"{type(vocabulary).__name__}"
        )
    n = len(vocabulary)
    _check_all(
        vocabulary, lambda word: isinstance(word, str), "hold words",
        "decode bytes, and of a Series from words to columns pass its to_dict()",
    )  # fmt: skip
    if not isinstance(vocabulary, Mapping):
        vocabulary = {word: column for column, word in enumerate(vocabulary)}
    _check_all(
        vocabulary.values(), is_whole, "map words to columns, as whole numbers",
        "make an int of each",
    )  # fmt: skip
    if not vocabulary:
        raise ValueError("vocabulary is empty; fit the vectorizer on some documents first")
    if len(vocabulary) != n or sorted(vocabulary.values()) != list(range(n)):
        raise ValueError(
            "vocabulary must give each word one column, 0 to n_features - 1; it has repeated words "
            "or other columns. Pass vectorizer.vocabulary_ or vectorizer.get_feature_names_out()"
        )
    return vocabulary


def _check_all(
    values: Iterable[Any], is_right: Callable[[Any], bool], what: str, remedy: str
) -> None:
    """Refuse a vocabulary that has a wrong value."""
    for value in values:
        if not is_right(value):
            raise TypeError(
                f"vocabulary must {what}; got {value!r:.60}, of type {type(value).__name__}; "
                f"{remedy}"
            )


def check_words(name: str, words: Any) -> None:
    """Refuse what is no list of words: one text, or what can be gone through only once."""
    is_list = isinstance(words, Collection) and has_entries(words)
    if not is_list or not all(isinstance(word, str) for word in words):
        raise TypeError(f"{name} must be a list of words; got {reprlib.repr(words)}")


@dataclass(frozen=True, eq=False)
class Columns:
    """The counts that a model is fitted to, and what is known of them.

    Parameters
    ----------
    X : sparse matrix of shape (n_documents, n_features)
        The corpus of `fit`, or the first minibatch of `partial_fit`.
    feature_names : ndarray of shape (n_features,) or None
        The words, where the model knows them.
    n_components : int or None
        How many topics, or groups of topics, may have priors of their own; None where all
        share one.
    y : ndarray of shape (n_documents,) or None
        The class of each document, where the model learns from classes.
    classes : ndarray of shape (n_components,) or None
        The names of the groups of topics, where these have names.
    """

    X: Any
    feature_names: np.ndarray | None = None
    n_components: int | None = None
    y: np.ndarray | None = None
    classes: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_structure(self.X, "Columns")

    def vocabulary(self, prior: str, given: Vocabulary | None = None) -> Vocabulary:
        """The words by column, as given or of X; an error if they are unknown or in other columns.

        Names of X that are other words do not count: a data frame may have numbered its columns.
        """
        if given is not None:
            known = {} if self.feature_names is None else word_columns(given)
            for column, word in enumerate([] if self.feature_names is None else self.feature_names):
                if known.get(word, column) != column:
                    raise ValueError(
                        f"vocabulary has the word {word!r} in column {known[word]}, but X in "
                        f"column {column}; leave vocabulary out, as the columns of X have names"
                    )
            return given
        if self.feature_names is None:
            raise ValueError(
                f"{prior} looks words up by name, but the columns of X have no names; count "
                "with streamtopics.text.NamedVectorizer(StreamingCountVectorizer()), or with "
                "NamedVectorizer around scikit-learn's CountVectorizer(): their counts carry "
                "the words. Or pass X as a data frame, or give SeedWords or GuidedTopics "
                "vocabulary=vectorizer.get_feature_names_out(). The vocabulary has to be known "
                "before: in a StreamingPipeline fit the NamedVectorizer first, on the first "
                "documents, for the columns of StreamingCountVectorizer.partial_fit change their "
                "words"
            )
        return self.feature_names

    def counts(self, prior: str) -> Any:
        """X; an error if it has no documents to make a prior of."""
        if self.X.shape[0] == 0:
            raise ValueError(
                f"{prior} is to be made of the first minibatch, but that has no documents; start "
                "with one that has, or pass a prior"
            )
        return self.X


@runtime_checkable
class WordPrior(Protocol):
    """A word prior that is made when a model is fitted."""

    def resolve(self, columns: Columns) -> np.ndarray:
        """The prior of these columns, of shape (n_features,) or (n_components, n_features)."""


class PriorRecord:
    """Base of the records: shows the fields that were set, long ones cut short."""

    def __repr__(self) -> str:
        shown = [
            f"{field.name}={_short(getattr(self, field.name))}"
            for field in fields(self)  # type: ignore[arg-type]
            if field.default is MISSING or getattr(self, field.name) is not field.default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def _short(value: Any) -> str:
    """A representation of few entries; those of a mapping in their order."""
    if not isinstance(value, Mapping):
        return reprlib.repr(value)
    shown = [f"{key!r}: {reprlib.repr(item)}" for key, item in islice(value.items(), MOST_SHOWN)]
    return "{" + ", ".join(shown + ["..."] * (len(value) > MOST_SHOWN)) + "}"


def resolved(prior: Any, columns: Columns) -> Any:
    """The prior as numbers: of a record or a callable, what it makes of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.priors import Columns, ZipfPrior, resolved
    >>> columns = Columns(np.array([[4, 2], [8, 4]]), feature_names=np.array(["cat", "gnu"]))
    >>> resolved(ZipfPrior(mass=3.0, exponent=1.0), columns)
    array([2., 1.])
    >>> resolved(lambda names, X: (names == "gnu") + 0.5, columns)
    array([0.5, 1.5])
    >>> resolved(0.1, columns)
    0.1
    """
    if isinstance(prior, WordPrior):
        return prior.resolve(columns)
    return prior(columns.feature_names, columns.X) if callable(prior) else prior
