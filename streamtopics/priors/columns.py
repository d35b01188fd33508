# SPDX-License-Identifier: BSD-3-Clause
"""Columns of counts, and records of priors."""

import reprlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from streamtopics.utils.checks import check_integer, check_pseudo_counts
from streamtopics.utils.structure import check_structure, has_entries

Vocabulary = Mapping[str, int] | Collection[str]
Given = TypeVar("Given")
MOST_SHOWN = 6
# Mass of the default prior, in tokens for each word.
MASS_PER_WORD = 0.05


def word_columns(vocabulary: Vocabulary) -> Mapping[str, int]:
    """Return the column of each word, for a mapping to columns or a sequence of words."""
    columns = (
        vocabulary
        if isinstance(vocabulary, Mapping)
        else {word: column for column, word in enumerate(vocabulary)}
    )
    n, has_order = len(vocabulary), not isinstance(vocabulary, str | set | frozenset)
    if n == 0 or not has_order or sorted(columns.values()) != list(range(n)):
        raise ValueError(
            "vocabulary must give each word one column, 0 to n_features - 1, as a mapping or a "
            "sequence: vectorizer.vocabulary_ or vectorizer.get_feature_names_out(); got "
            f"{reprlib.repr(vocabulary)}"
        )
    return columns


def check_words(name: str, words: Any, *, ordered: bool = False) -> None:
    is_list = isinstance(words, Collection) and has_entries(words)
    is_list = is_list and not (ordered and isinstance(words, set | frozenset))
    if not is_list or not all(isinstance(word, str) for word in words):
        raise TypeError(f"{name} must be a list of words; got {reprlib.repr(words)}")


def needed(value: Given | None, reason: str) -> Given:
    if value is None:
        raise ValueError(reason)
    return value


@dataclass(frozen=True, eq=False)
class Columns:
    """Input of a word prior: counts, with names of columns and classes.

    Parameters
    ----------
    X : sparse matrix of shape (n_documents, n_features)
        The corpus of `fit`, or the first minibatch of `partial_fit`.
    feature_names : ndarray of shape (n_features,) or None
        The words, if known.
    n_components : int or None
        Number of topics, or classes, with a prior for each; None if all share one prior.
    y : ndarray of shape (n_documents,) or None
        Class of each document, in models with classes.
    classes : ndarray of shape (n_components,) or None
        Names of the classes in the order of the rows of the prior, if there are classes.
    """

    X: Any
    feature_names: np.ndarray | None = None
    n_components: int | None = None
    y: np.ndarray | None = None
    classes: np.ndarray | None = None

    def __post_init__(self) -> None:
        check_structure(self.X, "Columns")

    def vocabulary(self, prior: str, given: Vocabulary | None = None) -> Vocabulary:
        """Return `given` or, if None, the array `feature_names`; `word_columns` reads both.

        If both are None, raise an error about the prior called `prior`. Raise an error if `given`
        has a word in another column than X.
        """
        if given is None:
            return needed(
                self.feature_names,
                f"{prior} looks words up by name, but the columns of X have no names; count with "
                "streamtopics.text.NamedVectorizer(CountVectorizer()), pass X as a data frame, or "
                "name the columns: streamtopics.text.NamedCounts.of(X, "
                "vectorizer.get_feature_names_out()). A NamedVectorizer around "
                "StreamingCountVectorizer has to be fitted before the stream begins",
            )
        if self.feature_names is not None:
            known = word_columns(given)
            for column, word in enumerate(self.feature_names):
                if known.get(word, column) != column:
                    raise ValueError(
                        f"vocabulary has the word {word!r} in column {known[word]}, but X in "
                        f"column {column}; leave vocabulary out, as the columns of X have names"
                    )
        return given

    def counts(self, prior: str) -> Any:
        """Return X; if X has no documents, raise an error about the prior called `prior`."""
        check_integer(n_documents=self.X.shape[0], reason=f" in the first minibatch, for {prior}")
        return self.X


@runtime_checkable
class WordPrior(Protocol):
    """Protocol of word priors that are made from the counts in `fit`."""

    def resolve(self, columns: Columns) -> np.ndarray:
        """Return the prior for `columns`, of shape (n_features,) or (n_components, n_features)."""


class PriorRecord:
    def __repr__(self) -> str:
        values = [(field, self.__dict__[field.name]) for field in fields(self)]  # type: ignore[arg-type]
        shown = [
            f"{field.name}={_short(value)}" for field, value in values if value is not field.default
        ]
        return f"{type(self).__name__}({', '.join(shown)})"


def _short(value: object) -> str:
    """A representation of few entries, unsorted."""
    if not isinstance(value, Mapping):
        return reprlib.repr(value)
    shown = [f"{key!r}: {reprlib.repr(item)}" for key, item in islice(value.items(), MOST_SHOWN)]
    return "{" + ", ".join(shown + ["..."] * (len(value) > MOST_SHOWN)) + "}"


def resolved(prior: Any, columns: Columns) -> Any:
    """Return a prior as numbers, for a number, an array, a record or a callable.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.priors import Columns, resolved
    >>> columns = Columns(np.array([[4, 2], [8, 4]]), feature_names=np.array(["cat", "gnu"]))
    >>> resolved(lambda names, X: (names == "gnu") + 0.5, columns)
    array([0.5, 1.5])
    """
    if isinstance(prior, WordPrior):
        return prior.resolve(columns)
    return prior(columns.feature_names, columns.X) if callable(prior) else prior


@dataclass(frozen=True)
class Symmetric:
    """A Dirichlet parameter with equal entries for all topics, given by the sum of the entries.

    Parameters
    ----------
    mass : float
        Sum of the entries, in tokens, in [1e-10, 1e10]. With K topics each entry is mass / K.

    Examples
    --------
    >>> from streamtopics import SVBLDA
    >>> from streamtopics.priors import Symmetric
    >>> model = SVBLDA(4, doc_topic_prior=Symmetric(2.0), doc_topic_prior_update="fixed")
    >>> model.fit([[3, 1, 2]]).doc_topic_prior_
    array([0.5, 0.5, 0.5, 0.5])
    """

    mass: float

    def __post_init__(self) -> None:
        check_pseudo_counts(self, mass=self.mass)
