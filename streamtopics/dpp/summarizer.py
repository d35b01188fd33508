# SPDX-License-Identifier: BSD-3-Clause
"""Extractive summaries of raw documents as an estimator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from streamtopics.base.frame import Commit, StreamingEstimator, check_same
from streamtopics.base.glossary import documented
from streamtopics.base.validation import COMMON_CONSTRAINTS, POSITIVE_INT, Interval, StrOptions
from streamtopics.dpp.arrays import Floats, Places
from streamtopics.dpp.estimator import NOT_NEGATIVE, LowRankDPP
from streamtopics.dpp.summary_kernel import (
    Candidates,
    centrality,
    cosine_candidates,
    count_documents,
    counts_of_nearest,
    distinct_units,
    greedy_map,
    inverse_document_frequency,
    known_sentences,
    plain_idf,
    thesis_candidates,
    weighted_units,
)
from streamtopics.text import SentenceVectorizer
from streamtopics.text.splitting import goes_back, has_content, is_fragment
from streamtopics.utils.parallel import Workers
from streamtopics.utils.records import keep, of_record
from streamtopics.utils.steps import unwrap
from streamtopics.utils.structure import in_memory

Documents: TypeAlias = Sequence[sparse.csr_matrix] | NDArray[np.object_]

DEFAULT_POWER, THESIS_POWER = 2.0, 1.0
THESIS_WORDS = 500


@dataclass(frozen=True)
class Texts:
    documents: list[list[str]]
    features: Documents
    vectorizer: SentenceVectorizer

    @property
    def n_documents(self) -> int:
        return len(self.documents)


@dataclass(frozen=True, eq=False, kw_only=True)
class SummaryCommit(Commit):
    """Learnt state of `DPPSummarizer`; before any learning only the vectorizer."""

    _holds = "document_frequency: i * >=0; n_documents: >=0; n_batches: >=0"
    posterior: None = None
    vectorizer: SentenceVectorizer
    document_frequency: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    n_documents: int = 0
    thesis: LowRankDPP | None = None
    n_batches: int = 0

    def weights(self, law: Callable[..., Floats], X: Documents = ()) -> Floats | None:
        """Weights of words; before any learning those by the documents X."""
        is_tfidf = isinstance(unwrap(self.vectorizer.vectorizer_), TfidfVectorizer)
        if is_tfidf or not (self.n_documents or len(X)):
            return None
        known = self.document_frequency if self.n_documents else count_documents(X, X[0].shape[1])
        return law(known, self.n_documents or len(X))

    def after(self, batch: Texts, thesis: LowRankDPP | None) -> Self:
        found = count_documents(batch.features, len(self.document_frequency))
        return replace(
            self, document_frequency=self.document_frequency + found, thesis=thesis,
            n_documents=self.n_documents + batch.n_documents, n_batches=self.n_batches + 1,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Summary:
    """The chosen sentences of a document, in the order of the document.

    Attributes
    ----------
    indices : ndarray of shape (n_chosen,), int
        Positions of the sentences in the document.
    sentences : tuple of n_chosen str
        The chosen sentences.
    scores : ndarray of shape (n_chosen,)
        Quality of each sentence; with ``quality="thesis"`` the log probability, in nats.
    log_gains : ndarray of shape (n_chosen,)
        Increase of the log determinant of the kernel, in nats, by each sentence. The sentence
        chosen first has the largest.
    """

    indices: Places
    sentences: tuple[str, ...]
    scores: Floats
    log_gains: Floats


class DigestSentence(NamedTuple):
    """A sentence chosen by `DPPSummarizer.digest`.

    Attributes
    ----------
    document, index : int
        Position of the document in the input, and of the sentence in the document.
    sentence : str
        The sentence.
    score, log_gain : float
        Quality, and increase of the log determinant, as in `Summary`.
    n_documents : int
        Number of documents nearest to this sentence of the digest, by a cosine above 0.
    """

    document: int
    index: int  # type: ignore[assignment]  # In place of tuple.index.
    sentence: str
    score: float
    log_gain: float
    n_documents: int


@documented
class DPPSummarizer(TransformerMixin, StreamingEstimator, auto_wrap_output_keys=None):
    """Extractive summaries: central, mutually different sentences of a document.

    Sentences are chosen one by one, to make the determinant of their kernel
    ``L_ij = (q_i q_j)^(power / 2) S_ij`` large. q_i is the quality of sentence i. S_ij is the
    similarity of two sentences, the cosine of their features. `fit` learns document frequencies, so
    that rare words weigh more; with the default parameters `fit` is optional. With
    ``quality="thesis"`` `fit` also learns S, by `LowRankDPP`.

    Parameters
    ----------
    n_sentences : int, default=5
        Maximal number of sentences of a summary.
    n_words : int or None, default=None
        Maximal number of words of a summary, separated by white space; used instead of
        `n_sentences`. Sentences with more words than remain are skipped.
    vectorizer : CountVectorizer, TfidfVectorizer, HashingVectorizer or None, default=None
        Makes features of sentences; a copy is fitted. None hashes words of two letters or more to
        2^18 binary columns; with ``quality="thesis"`` None counts the 500 most frequent words.
    quality : {"centrality", "thesis"} or callable, default="centrality"
        Quality q of a sentence. "centrality" is the cosine between the features of the sentence and
        their mean over the document. "thesis" is the probability p of the sentence's words in a
        `LowRankDPP`, as in Dupuy (2017). A callable gets the sentences of a document and a CSR
        matrix of their features, with rows of Euclidean length 1 or 0. The callable returns a
        number of at least 0 for each sentence; 0 excludes a sentence.
    quality_power : float or None, default=None
        The power in the kernel L. None is 2, but 1 for ``quality="thesis"``, as in Dupuy (2017).
    fragment_weight : float, default=0.5
        Factor of the centrality of sentences that start with a small letter or a comma. If the
        factor is below 1, `digest` leaves out sentences that continue an earlier sentence, such as
        "But it was not to be.", unless all sentences do.
    n_components, penalty, max_iter : int, default=10; float, default=0.01; int, default=10
        As in `LowRankDPP`, used only with ``quality="thesis"``.
    random_state : int, RandomState instance or None, default=None
        Seed of the `LowRankDPP` for ``quality="thesis"``.

    Attributes
    ----------
    vectorizer_ : SentenceVectorizer
        The fitted vectorizer.
    document_frequency_ : ndarray of shape (n_features,)
        Number of learnt documents that have each word.
    n_documents_seen_, n_batch_iter_ : int
        Numbers of learnt documents and minibatches.
    thesis_ : LowRankDPP or None
        The model learnt for ``quality="thesis"``, else None.

    Notes
    -----
    A word in df of N learnt documents has the weight ``log((1 + N) / (1 + df)) + 1``. Features of a
    TfidfVectorizer get no further weights. Sentences without a known word or, with "centrality", of
    English stop words alone, are chosen only if the document has no other sentences.

    References
    ----------
    C. Dupuy (2017), "Inference and applications for topic models", section 4.4.

    Examples
    --------
    >>> from streamtopics import DPPSummarizer
    >>> review = (
    ...     "The soup was hot and good. We came by bus. The soup was good! The waiter was kind, "
    ...     "and the fish was good and fresh. It rained."
    ... )
    >>> summarizer = DPPSummarizer(n_sentences=2)
    >>> summarizer.transform([review])[0]
    ['The soup was hot and good.', 'The waiter was kind, and the fish was good and fresh.']
    >>> [summary] = summarizer.select([review])
    >>> summary.indices, summary.scores.round(2)
    (array([0, 3]), array([0.8 , 0.71]))
    """

    n_sentences: int
    n_words: int | None
    vectorizer: Any
    quality: str | Callable[[list[str], sparse.csr_matrix], ArrayLike]
    quality_power: float | None
    fragment_weight: float
    n_components: int
    penalty: float
    # Texts come alone, without metadata.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"raw_documents": UNUSED}
    __metadata_request__partial_fit: ClassVar[dict[str, Any]] = {"raw_documents": UNUSED}
    __metadata_request__transform: ClassVar[dict[str, Any]] = {"raw_documents": UNUSED}
    _commit: SummaryCommit
    _parameter_constraints: ClassVar[dict[str, Any]] = COMMON_CONSTRAINTS | {
        "n_sentences": [POSITIVE_INT],
        "n_words": [None, Interval(Integral, 1, None, closed="left")],
        "vectorizer": "no_validation",
        "quality": [StrOptions({"centrality", "thesis"}), callable],
        "quality_power": [None, Interval(Real, 0, 1e6, closed="both")],
        "fragment_weight": [Interval(Real, 0, 1, closed="both")],
        "penalty": [NOT_NEGATIVE],
    }

    def __init__(
        self,
        n_sentences: int = 5,
        *,
        n_words: int | None = None,
        vectorizer: CountVectorizer | HashingVectorizer | None = None,
        quality: str | Callable[[list[str], sparse.csr_matrix], ArrayLike] = "centrality",
        quality_power: float | None = None,
        fragment_weight: float = 0.5,
        n_components: int = 10,
        penalty: float = 0.01,
        max_iter: int = 10,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        keep(self, locals())

    # Learning

    def fit(self, raw_documents: Iterable[Any], y: Any = None) -> Self:
        """Learn the words and their document frequencies from all documents, from scratch.

        {parameters, raw_documents, y_ignored}

        {returns_self}
        """
        return self._fit(raw_documents=raw_documents)

    def partial_fit(self, raw_documents: Iterable[Any], y: Any = None) -> Self:
        """Learn document frequencies from a minibatch. The first call fixes the vocabulary.

        A failed call changes nothing.

        {parameters, raw_documents, y_ignored}

        {returns_self}
        """
        return self._partial_fit(raw_documents=raw_documents)

    def _read(self, method: str, *, reset: bool, raw_documents: Iterable[Any]) -> Texts:
        new = SentenceVectorizer(self._inner_vectorizer())
        vectorizer = new if reset else self._commit.vectorizer
        sentences = vectorizer.sentences(raw_documents)
        if reset:
            vectorizer.fit(sentences)
        return Texts(sentences, vectorizer.transform(sentences), vectorizer)

    def _start(self, batch: Texts) -> None:
        thesis = None
        if self._by_thesis:
            thesis = LowRankDPP(
                n_components=self.n_components, theta="document", penalty=self.penalty,
                max_iter=self.max_iter, tol=0.01, random_state=self.random_state,
            )  # fmt: skip
        n_features = batch.vectorizer.transform([[""]])[0].shape[1]
        nothing = np.zeros(n_features, dtype=np.int64)
        self._commit = SummaryCommit(
            vectorizer=batch.vectorizer, document_frequency=nothing, thesis=thesis
        )

    def _check(self, before: SummaryCommit | None) -> None:
        if before is not None and self._by_thesis:
            check_same(self, n_components=self._checked_thesis(before).n_components)

    def _learn_all(self, batch: Texts, pool: Workers) -> None:
        thesis = self._commit.thesis
        if thesis is not None:
            thesis.fit(known_sentences(batch.features))
        self._commit = replace(self._commit.after(batch, thesis), n_iter=1)

    def _learn(self, batch: Texts, pool: Workers) -> None:
        thesis = self._commit.thesis
        if self._by_thesis and thesis is not None and any(X.nnz for X in batch.features):
            thesis = copy(thesis)
            thesis.set_params(n_components=self.n_components, penalty=self.penalty)
            thesis.partial_fit(known_sentences(batch.features))
        self._commit = self._commit.after(batch, thesis)

    # Summaries

    def fit_transform(self, raw_documents: Iterable[Any], y: Any = None) -> NDArray[np.object_]:
        """Call `fit`, and return the result of `transform` on the same documents."""
        raw_documents = in_memory(raw_documents)
        return self.fit(raw_documents).transform(raw_documents)

    def transform(self, raw_documents: Iterable[Any]) -> NDArray[np.object_]:
        """Return the summary of each document as a list of sentences.

        {parameters, raw_documents}

        Returns
        -------
        summaries : ndarray of shape (n_documents,), of objects
            Lists of the chosen sentences, in the order of the document.
        """
        chosen = self.select(raw_documents)
        out = np.empty(len(chosen), dtype=object)
        for d, summary in enumerate(chosen):
            out[d] = list(summary.sentences)
        return out

    def select(self, raw_documents: Iterable[Any]) -> list[Summary]:
        """Return the chosen sentences of each document, with their positions and scores.

        {parameters, raw_documents}

        Returns
        -------
        summaries : list of Summary
            The summary of each document.
        """
        known = self._known()
        documents = known.vectorizer.sentences(raw_documents)
        features = known.vectorizer.transform(documents)
        weights = known.weights(inverse_document_frequency)
        return [
            self._choose(sentences, X, weights, known.thesis, (self.n_sentences, self.n_words))
            for sentences, X in zip(documents, features, strict=True)
        ]

    def digest(
        self, raw_documents: Iterable[Any], *, n_sentences: int | None = None
    ) -> list[DigestSentence]:
        """Return central, mutually different sentences of many documents: one joint summary.

        Repeated sentences count once. A word in df of N learnt documents has the weight
        ``log((2 + N) / (1 + df))``. Before `fit`, df and N are counted in the given
        documents.

        {parameters, raw_documents}
        n_sentences : int or None, default=None
            Maximal number of sentences. None takes `n_words` or `n_sentences` of the estimator.

        Returns
        -------
        digest : list of DigestSentence
            The chosen sentences, in the order of the documents.

        Examples
        --------
        >>> from streamtopics import DPPSummarizer
        >>> news = ["A storm hit the coast. We stayed in.", "The storm hit the coast."]
        >>> [found] = DPPSummarizer().digest(news, n_sentences=1)
        >>> found.document, found.sentence, found.n_documents
        (0, 'A storm hit the coast.', 2)
        """
        known = self._known()
        documents = known.vectorizer.sentences(raw_documents)
        first: dict[str, tuple[int, int]] = {}
        for d, sentences in enumerate(documents):
            for i, sentence in enumerate(sentences):
                first.setdefault(sentence, (d, i))
        if self.fragment_weight < 1:
            first = {text: where for text, where in first.items() if not goes_back(text)} or first
        X = known.vectorizer.transform([list(first), *documents])
        limits = (self.n_sentences, self.n_words) if n_sentences is None else (n_sentences, None)
        weights = known.weights(plain_idf, X[1:])
        found = self._choose(list(first), X[0], weights, known.thesis, limits)
        stands_for = counts_of_nearest(X[0][found.indices], list(X[1:]), weights)
        numbers = (found.scores.tolist(), found.log_gains.tolist(), stands_for.tolist())
        values = zip(found.sentences, *numbers, strict=True)
        return [DigestSentence(*first[text], text, *rest) for text, *rest in values]

    def set_output(self, *, transform: str | None = None) -> Self:
        """Do nothing, and return the estimator: summaries do not fit into a data frame."""
        return self

    def _choose(
        self, sentences: list[str], X: sparse.csr_matrix, weights: Floats | None,
        thesis: LowRankDPP | None, limits: tuple[int, int | None],
    ) -> Summary:  # fmt: skip
        if not sentences:
            return Summary(np.zeros(0, dtype=np.intp), (), np.zeros(0), np.zeros(0))
        candidates = self._candidates(sentences, X, weights, thesis)
        n_sentences, n_words = limits
        limit: dict[str, Any] = {"n_points": n_sentences}
        if n_words is not None:
            costs = np.array([len(s.split()) for s in sentences])
            limit = {"n_points": n_words, "costs": costs, "budget": n_words}
        found = greedy_map(
            candidates.kernel, candidates.features, log_quality=candidates.log_quality, **limit
        )
        order = np.argsort(found.chosen)
        indices = found.chosen[order]
        texts = tuple(sentences[i] for i in indices)
        return Summary(indices, texts, candidates.quality[indices], found.log_gains[order])

    def _candidates(
        self, sentences: list[str], X: sparse.csr_matrix, weights: Floats | None,
        thesis: LowRankDPP | None,
    ) -> Candidates:  # fmt: skip
        power = self.quality_power
        if power is None:
            power = THESIS_POWER if self._by_thesis else DEFAULT_POWER
        if X.count_nonzero() == 0:
            quality = np.array([float(any(map(str.isalnum, text))) for text in sentences])
            if callable(self.quality):
                quality *= self._quality_of(sentences, X, X)
            return cosine_candidates(distinct_units(sentences), quality, power)
        if self._by_thesis and thesis is not None:
            return thesis_candidates(thesis, X, power)
        units = weighted_units(X, weights)
        return cosine_candidates(units, self._quality_of(sentences, units, X), power)

    def _quality_of(self, sentences: list[str], units: sparse.csr_matrix, X: Any) -> Floats:
        if callable(self.quality):
            # A callable knows the columns of the vectorizer.
            features = sparse.csr_matrix((units.data, X.indices, X.indptr), X.shape)
            given: Floats = np.asarray(self.quality(list(sentences), features), dtype=np.float64)
            if given.shape != (len(sentences),) or not ((given >= 0) & (given < np.inf)).all():
                raise ValueError(
                    "quality must return a finite number of at least 0 for each of the "
                    f"{len(sentences)} sentences; got {given!r:.200}"
                )
            return given
        pieces = np.array([is_fragment(sentence) for sentence in sentences])
        quality = centrality(units) * np.where(pieces, self.fragment_weight, 1.0)
        of_content = quality * [has_content(sentence) for sentence in sentences]
        return of_content if of_content.any() else quality

    # What is known

    vectorizer_ = of_record("vectorizer", "The fitted vectorizer of sentences.")
    document_frequency_ = of_record("document_frequency", "Number of learnt documents by word.")
    n_documents_seen_ = of_record("n_documents", "Number of learnt documents.")
    thesis_ = of_record("thesis", 'The `LowRankDPP` learnt for ``quality="thesis"``, else None.')

    @property
    def _by_thesis(self) -> bool:
        return isinstance(self.quality, str) and self.quality == "thesis"

    def _inner_vectorizer(self) -> Any:
        if self.vectorizer is not None:
            return self.vectorizer
        if self._by_thesis:
            return CountVectorizer(max_features=THESIS_WORDS)
        return HashingVectorizer(
            n_features=2**18, binary=True, norm=None, alternate_sign=False, dtype=np.float64
        )

    def _known(self) -> SummaryCommit:
        self._validate_params()
        if self.__sklearn_is_fitted__():
            if self._by_thesis:
                self._checked_thesis(self._commit)
            return self._commit
        if self._requires_fit:
            check_is_fitted(self)
        return SummaryCommit(vectorizer=SentenceVectorizer(self._inner_vectorizer()).fit([]))

    def _checked_thesis(self, known: SummaryCommit) -> LowRankDPP:
        if known.thesis is None:
            raise ValueError(
                "quality is 'thesis' now, but was another when this estimator learnt; call fit "
                "again, or set quality back"
            )
        return known.thesis

    @property
    def _requires_fit(self) -> bool:
        return self._by_thesis or not isinstance(
            unwrap(self._inner_vectorizer()), HashingVectorizer
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self._requires_fit
        return tags
