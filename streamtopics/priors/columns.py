# SPDX-License-Identifier: BSD-3-Clause
"""The columns of the counts that a prior is made for, and records of how it is made."""

import reprlib
from collections.abc import Collection, Mapping
from dataclasses import MISSING, dataclass, fields
from itertools import islice
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.utils.checks import LEAST_PRIOR, MOST_PRIOR, check_range, floats, is_number, plain
from streamtopics.utils.structure import check_structure, has_entries

Vocabulary = Mapping[str, int] | Collection[str]
MOST_SHOWN = 6
# Mass of the default prior, in tokens for each word.
MASS_PER_WORD = 0.05


def check_positive(**values: Any) -> None:
    """Refuse what is no number of tokens that a prior can have."""
    for name, value in values.items():
        if not (is_number(value) and LEAST_PRIOR <= plain(value) <= MOST_PRIOR):
            raise ValueError(
                f"{name} must be a number in [{LEAST_PRIOR:g}, {MOST_PRIOR:g}]; got {value!r:.60}"
            )


def vector(given: ArrayLike, name: str, least: float) -> np.ndarray:
    """A number for each word, none of them less than `least`."""
    values = floats(given, name)
    if values.ndim != 1 or not (np.isfinite(values).all() and (values >= least).all()):
        raise ValueError(
            f"{name} must have shape (n_features,), of finite numbers of at least {least:g}; got "
            f"{reprlib.repr(given)}"
        )
    return values


def word_columns(vocabulary: Vocabulary) -> Mapping[str, int]:
    """The column of each word."""
    is_order = isinstance(vocabulary, Collection) and has_entries(vocabulary)
    if not is_order or isinstance(vocabulary, str | set | frozenset):
        raise TypeError(
            "vocabulary must be a mapping of words to columns or a sequence of words; got "
            f"{reprlib.repr(vocabulary)}"
        )
    n = len(vocabulary)
    if not isinstance(vocabulary, Mapping):
        vocabulary = {word: column for column, word in enumerate(vocabulary)}
    if n == 0 or len(vocabulary) != n or sorted(vocabulary.values()) != list(range(n)):
        raise ValueError(
            "vocabulary must give each word one column, 0 to n_features - 1; it is empty, has "
            "repeated words or other columns. Pass vectorizer.vocabulary_ or "
            "vectorizer.get_feature_names_out()"
        )
    return vocabulary


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
                f"{prior} looks words up by name, but the columns of X have no names; count with "
                "streamtopics.text.NamedVectorizer(CountVectorizer()), whose counts carry the "
                "words, pass X as a data frame, or name the columns: "
                "streamtopics.text.NamedCounts.of(X, vectorizer.get_feature_names_out()). A "
                "NamedVectorizer around StreamingCountVectorizer has to be fitted before the "
                "stream begins"
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


@dataclass(frozen=True)
class Symmetric:
    """A Dirichlet prior with the same parameter for all topics, by what they sum to.

    As `doc_topic_prior` of a model it weighs as many tokens of a document whatever the number of
    topics, where a number is the parameter of each.

    Parameters
    ----------
    mass : float
        What the parameters sum to, in tokens, in [1e-10, 1e10].

    Examples
    --------
    >>> from streamtopics import StreamingLDA
    >>> from streamtopics.datasets import make_lda_corpus
    >>> from streamtopics.priors import Symmetric
    >>> X = make_lda_corpus(n_documents=50, n_features=40, random_state=0).X
    >>> model = StreamingLDA(4, doc_topic_prior=Symmetric(2.0), doc_topic_prior_update="fixed")
    >>> model.fit(X).doc_topic_prior_
    array([0.5, 0.5, 0.5, 0.5])
    """

    mass: float

    def __post_init__(self) -> None:
        check_range(self, LEAST_PRIOR, MOST_PRIOR, mass=self.mass)
