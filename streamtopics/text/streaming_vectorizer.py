# SPDX-License-Identifier: BSD-3-Clause
"""Fast counts of words, for corpora and for streams."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sized
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import Tags, TransformerTags
from sklearn.utils._param_validation import Interval
from sklearn.utils.metadata_routing import UNUSED

from streamtopics.base.frame import check_unchanged
from streamtopics.text.counting import Counts, count
from streamtopics.text.named import StaysSparse, with_labels
from streamtopics.text.phrases import Phrases, PhraseTable, looked_at
from streamtopics.text.vocabulary import ClosedVocabulary, OpenVocabulary, Policy, joined
from streamtopics.utils.checks import MOST_WHOLE, HoldsPlainNumbers, warn_of_no_effect
from streamtopics.utils.output import LinksToReference
from streamtopics.utils.parallel import WithCache
from streamtopics.utils.records import keep
from streamtopics.utils.structure import row_labels, to_csr


class StreamingCountVectorizer(
    WithCache, LinksToReference, HoldsPlainNumbers, StaysSparse, CountVectorizer
):
    """Count words fast, with a vocabulary that can follow a stream.

    `fit` gives the words, columns and counts of scikit-learn's CountVectorizer, many times faster
    and on several threads. With `partial_fit` the vocabulary is open: `max_features` columns hold
    the words that are now frequent, in bounded memory.

    Compiled code cuts texts into words if `token_pattern` finds runs of word characters or letters,
    such as ``r"\\b\\w{3,}\\b"`` or ``r"\\b[^\\W\\d_]{3,}\\b"``. Slower Python code is used for
    other patterns or analyzers and if `tokenizer`, `preprocessor` or `strip_accents` is a function.

    Parameters
    ----------
    input, encoding, decode_error, strip_accents, lowercase, preprocessor, tokenizer, stop_words, \
token_pattern, ngram_range, analyzer, vocabulary, binary, dtype
        As in scikit-learn's CountVectorizer.
    max_df : float in [0, 1] or int, default=1.0
        As in CountVectorizer. In a stream a word loses its column if its document frequency,
        decayed by `half_life`, exceeds `max_df`. A share of less than one document counts as one.
    min_df : float in [0, 1] or int, default=1
        As in CountVectorizer. In a stream a word can get a column if its decayed document frequency
        reaches `min_df`. If `min_df` is a count m and `max_df` a share s, no word gets a column in
        the first m / s documents: m documents would be more than a share s of them.
    max_features : int or None, default=None
        As in CountVectorizer. Required for `partial_fit`: the number of columns.
    half_life : float or None, default=100_000
        In a stream a document counts half after `half_life` later documents; None is infinity.
    n_candidates : int or None, default=None
        In a stream also words without a column are counted, as candidates for columns. At least
        this number of words is counted. None is `max_features`.
    margin : float, default=1.5
        In a stream a candidate takes the column of a rarer word if the candidate is more than
        `margin` times as frequent.
    phrases : bool or Phrases, default=False
        Whether to count two neighbouring words often found together, such as "credit card", as one
        word. True is ``Phrases()``. Between neighbours is a space, a newline or a hyphen; if Python
        code cuts the texts (see above), anything, such as a comma or a stop word.
    n_jobs : int or None, default=None
        Number of threads; results are the same for any number.

    Attributes
    ----------
    vocabulary_, fixed_vocabulary_ : dict, bool
        The column of each word, and whether `vocabulary` was given.
    recycled_ : ndarray of int64
        Columns that lost a word in the last minibatch; pass them to a model's `forget_words`.
    n_documents_seen_ : int
        Number of documents seen in a stream.
    document_frequency_ : ndarray of shape (max_features,), float64
        In a stream, decayed document frequency of each column's word; 0 for columns without a word.

    Notes
    -----
    In a stream words of more than 256 characters get no column, and columns without a word are
    named "<free 0>". `fit` ignores `half_life`, `margin` and `n_candidates`, with a warning.

    Examples
    --------
    >>> from streamtopics.text import StreamingCountVectorizer
    >>> vectorizer = StreamingCountVectorizer(max_features=3)
    >>> vectorizer.partial_fit(["red green", "red blue"]).get_feature_names_out()
    array(['red', 'blue', 'green'], dtype=object)
    >>> vectorizer.partial_fit(["red pink", "pink", "pink"]).recycled_
    array([1])
    >>> vectorizer.transform(["pink pink blue red"]).toarray()
    array([[1, 2, 0]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CountVectorizer._parameter_constraints,
        "half_life": [None, Interval(Real, 0, None, closed="neither")],
        "n_candidates": [None, Interval(Integral, 1, MOST_WHOLE, closed="both")],
        "margin": [Interval(Real, 1, 1e10, closed="both")],
        "phrases": ["boolean", Phrases],
        "n_jobs": [None, Integral],
    }
    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {"raw_documents": UNUSED}
    _vocabulary: ClosedVocabulary | OpenVocabulary | None = None
    half_life: float | None
    n_candidates: int | None
    margin: float
    phrases: bool | Phrases
    n_jobs: int | None

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: str | Callable[[str], str] | None = None,
        lowercase: bool = True,
        preprocessor: Callable[[Any], Any] | None = None,
        tokenizer: Callable[[Any], list[str]] | None = None,
        stop_words: str | list[str] | None = None,
        token_pattern: str | None = r"(?u)\b\w\w+\b",
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: str | Callable[[Any], Iterable[str]] = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: object = None,
        binary: bool = False,
        dtype: Any = np.int64,
        half_life: float | None = 100_000,
        n_candidates: int | None = None,
        margin: float = 1.5,
        phrases: bool | Phrases = False,
        n_jobs: int | None = None,
    ) -> None:
        keep(self, locals())

    def fit(self, raw_documents: Iterable[Any], y: object = None) -> Self:
        self._learn(raw_documents)
        return self

    def fit_transform(self, raw_documents: Iterable[Any], y: object = None) -> sparse.csr_matrix:
        counts, columns = self._learn(raw_documents)
        X, labels = self._matrix(counts, columns), row_labels(raw_documents)
        return X if labels is None else with_labels(X, labels)

    def transform(self, raw_documents: Iterable[Any]) -> sparse.csr_matrix:
        vocabulary = self._fitted()
        self._check_parameters()
        phrases = joined(vocabulary) if self.phrases else ()
        counts = count(self, raw_documents, self.n_jobs, phrases)
        columns = vocabulary.columns_of(counts.words())
        X, labels = self._matrix(counts, columns, vocabulary.n_columns), row_labels(raw_documents)
        return X if labels is None else with_labels(X, labels)

    def partial_fit(self, raw_documents: Iterable[Any], y: object = None) -> Self:
        """Learn the currently frequent words from a minibatch of a stream.

        A call that raises an error changes nothing. Learning in two threads at once is an error.
        """
        self._follow(raw_documents)
        return self

    def partial_fit_transform(
        self, raw_documents: Iterable[Any], y: object = None
    ) -> sparse.csr_matrix:
        """Learn from a minibatch, and return counts of shape (n_documents, max_features)."""
        return self._matrix(*self._follow(raw_documents))

    def _learn(
        self, raw_documents: Any, counted: Callable[..., Counts] = count
    ) -> tuple[Counts, np.ndarray]:
        """Set the vocabulary of a corpus; return counts, and columns of words."""
        self._check_parameters()
        warn_of_no_effect(self, "half_life", "margin", "n_candidates")
        given = self._given(warns=True)
        counts = counted(self, raw_documents, self.n_jobs, None if self.phrases else ())
        if given is not None:
            columns = given.columns_of(counts.words())
        else:
            table = self._looked(PhraseTable.empty(), counts) if self.phrases else None
            counts, kept = self._with_columns(counts, table)
            if not len(kept):
                raise ValueError("empty vocabulary: no terms remain; try a lower min_df")
            columns = np.full(len(counts.owners), -1, dtype=np.int32)
            columns[kept] = np.arange(len(kept), dtype=np.int32)
            given = ClosedVocabulary(counts.words(kept), table)
        self._vocabulary = given
        return counts, columns

    def _with_columns(self, counts: Counts, table: PhraseTable | None) -> tuple[Counts, np.ndarray]:
        """Counts, and the words with a column; other phrases are two words."""
        if table is None:
            return counts, self._worth_a_column(counts)
        phrases = set(table.names.values())
        while True:
            counts = counts.joined(sorted(phrases))
            kept = self._worth_a_column(counts)
            found = counts.phrases()
            lost = found[np.isin(found, kept, invert=True, kind="table")]
            if not len(lost):
                return counts, kept
            phrases.difference_update(counts.words(lost))

    def _looked(
        self, table: PhraseTable, counts: Counts, n_before: int | None = None
    ) -> PhraseTable:
        rule = self.phrases if isinstance(self.phrases, Phrases) else Phrases()
        found = counts.pairs(looked_at(n_before, counts.n_documents))
        return table.step(found, rule, n_before or 0, self.half_life)

    def _worth_a_column(self, counts: Counts) -> np.ndarray:
        """Places of the words allowed by `min_df`, `max_df` and `max_features`."""
        low, high = self._policy().limits(counts.n_documents)
        kept = np.flatnonzero((counts.frequencies >= low) & (counts.frequencies <= high))
        if self.max_features is not None and len(kept) > self.max_features:
            total = counts.frequencies[kept] if self.binary else counts.totals(kept, self.dtype)
            # Equal words in the order of CountVectorizer.
            kept = np.sort(kept[(-total).argsort()[: self.max_features]])
        return kept

    def _follow(self, raw_documents: Iterable[Any]) -> tuple[Counts, np.ndarray]:
        """Take a step of a stream; return counts, and columns of words."""
        before = self._vocabulary
        self._check_parameters()
        given = self._given(warns=before is None)
        vocabulary = given or before
        if given is not None and before is not None and given.names != before.names:
            raise ValueError("vocabulary has other words now; start anew with fit or a clone")
        if self.max_features is None and given is None:
            raise ValueError(
                "partial_fit needs max_features, the number of columns, such as 20_000; it is None"
            )
        if vocabulary is None:
            vocabulary = OpenVocabulary.empty(int(self.max_features or 0))
        elif given is None and isinstance(vocabulary, ClosedVocabulary):
            raise ValueError(
                "partial_fit cannot go on from the vocabulary of a corpus; use a clone, or "
                "TopicStream().fit"
            )
        elif given is None:
            check_unchanged("max_features", self.max_features, vocabulary.n_columns)
        counts, vocabulary = self._counted_along(raw_documents, vocabulary)
        words = counts.words()
        if isinstance(vocabulary, OpenVocabulary):
            vocabulary = vocabulary.step(
                words, counts.frequencies, counts.n_documents, self._policy()
            )
        columns = vocabulary.columns_of(words)
        if self._vocabulary is not before:
            raise RuntimeError(
                "the vectorizer has learnt from another minibatch meanwhile, in another thread"
            )
        self._vocabulary = vocabulary
        return counts, columns

    def _counted_along(
        self, raw_documents: Iterable[Any], vocabulary: ClosedVocabulary | OpenVocabulary
    ) -> tuple[Counts, ClosedVocabulary | OpenVocabulary]:
        """Counts of a minibatch, and the vocabulary with new phrases."""
        if not self.phrases or not isinstance(vocabulary, OpenVocabulary):
            return count(self, raw_documents, self.n_jobs), vocabulary
        documents = raw_documents if isinstance(raw_documents, Sized) else list(raw_documents)
        n_before = vocabulary.n_documents
        table = vocabulary.phrases or PhraseTable.empty()
        if not looked_at(n_before, len(documents)).any():
            # A phrase without a column is not counted, so it gets none before the next look.
            vocabulary = vocabulary.offered([*table.names.values()], 0.0)
            return count(self, documents, self.n_jobs, joined(vocabulary)), vocabulary
        counts = count(self, documents, self.n_jobs, None)
        table = self._looked(table, counts, n_before)
        vocabulary = replace(vocabulary, phrases=table)
        phrases, names = joined(vocabulary), [*table.names.values()]
        every = counts.joined(names)
        found = every.phrases()
        # A phrase may be in a document several times.
        once = every.frequencies[found] / every.totals(found, np.int64)
        shares = dict(zip(every.words(found), once.tolist(), strict=True))
        # The step of the vocabulary decays what is offered.
        age = min(counts.n_documents / (self.half_life or np.inf), 1000)
        weight = vocabulary.weight * 2.0**-age + counts.n_documents
        often = table.frequencies(weight) * [shares.get(name, 0.0) for name in names]
        # Rounding must not exceed the number of documents.
        estimates = np.minimum(often, weight * (1 - 1e-12)) * 2.0**age
        vocabulary = vocabulary.offered(names, estimates)
        return counts.joined(phrases), vocabulary

    def __getstate__(self) -> dict[str, Any]:
        """The state in a new dict, safe from later learning."""
        return dict(super().__getstate__())

    def _policy(self) -> Policy:
        n = int(self.n_candidates or self.max_features or 0)
        return Policy(self.half_life, self.min_df, self.max_df, n, self.margin)

    @property
    def recycled_(self) -> np.ndarray:
        return self._stream("recycled_").recycled

    @property
    def n_documents_seen_(self) -> int:
        return self._stream("n_documents_seen_").n_documents

    @property
    def document_frequency_(self) -> np.ndarray:
        table = self._stream("document_frequency_").table
        return np.asarray(table.owners(np.arange(table.n_columns))[1])

    def changed_since(self, n_documents: int) -> np.ndarray:
        """Return columns that got or lost a word since `n_documents` documents were seen."""
        return np.asarray(self._stream("changed_since").table.changed_since(n_documents))

    def _check_parameters(self) -> None:
        own = vars(self).items()
        parameters = {name: value for name, value in own if name.strip("_") == name}
        known = self._cache.get("checked", {})
        if all(known.get(name, known) is value for name, value in parameters.items()):
            return
        self._validate_params()
        self._validate_ngram_range()
        kind = np.dtype(self.dtype)
        if kind.kind not in "biuf" or not (self.binary or kind.kind == "b" or kind.itemsize >= 4):
            raise TypeError(
                f"dtype must be a type of numbers of 4 bytes or more, such as np.int64; got {kind}"
            )
        among_words = tuple(self.ngram_range) == (1, 1) and self.analyzer not in ("char", "char_wb")
        if self.phrases and (not among_words or self.vocabulary is not None):
            raise ValueError(
                f"phrases={self.phrases!r} are found among single words; leave ngram_range at "
                "(1, 1), analyzer at 'word' and vocabulary at None"
            )
        # The checks take longer than counting a short text.
        self._cache["checked"] = parameters

    def _given(self, warns: bool = False) -> ClosedVocabulary | None:
        if warns:
            self._warn_for_unused_params()
        if self.vocabulary is None:
            return None
        given: Any = self.vocabulary
        # CountVectorizer sorts only Python's own two kinds of sets.
        given = set(given) if isinstance(given, frozenset) else given
        # CountVectorizer sets attributes, but a failed call must not.
        checked: Any = CountVectorizer(vocabulary=given)
        checked._validate_vocabulary()
        words = sorted(checked.vocabulary_, key=checked.vocabulary_.__getitem__)
        if isinstance(given, str) or not all(isinstance(word, str) for word in words):
            raise TypeError(f"vocabulary must be of words, each a str; got {given!r:.60}")
        if warns and self.lowercase and any(map(str.isupper, "".join(words))):
            warnings.warn(
                "Upper case characters found in vocabulary while 'lowercase' is True. These "
                "entries will not be matched with any documents",
                UserWarning,
                stacklevel=4,
            )
        # NumPy's strings are a type of their own.
        return ClosedVocabulary(list(map(str, words)))

    def _fitted(self) -> ClosedVocabulary | OpenVocabulary:
        found = self._vocabulary or self._given()
        if found is None:
            raise NotFittedError("Vocabulary not fitted or provided: call fit or partial_fit first")
        return found

    def _stream(self, name: str) -> OpenVocabulary:
        found = self._vocabulary
        if not isinstance(found, OpenVocabulary):
            raise AttributeError(f"there is no {name} before partial_fit learns a vocabulary")
        return found

    def _matrix(
        self, counts: Counts, columns: np.ndarray, n_columns: int | None = None
    ) -> sparse.csr_matrix:
        n_columns = self._fitted().n_columns if n_columns is None else n_columns
        X = counts.matrix(columns, n_columns, self.dtype)
        if self.binary:
            X.data.fill(1)
        return X

    @property  # type: ignore[misc]  # It is not set.
    def vocabulary_(self) -> dict[str, int]:
        return self._fitted().columns

    @property
    def fixed_vocabulary_(self) -> bool:  # type: ignore[override]  # It is not set.
        return self.vocabulary is not None

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        return np.asarray(self._fitted().names, dtype=object)

    def inverse_transform(self, X: object) -> list[np.ndarray]:
        names = np.asarray(self._fitted().names)
        rows = to_csr(X, "inverse_transform")
        return [names[np.sort(row.indices[row.data != 0])] for row in rows]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return self._vocabulary is not None or self.vocabulary is not None
