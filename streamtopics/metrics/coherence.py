# SPDX-License-Identifier: BSD-3-Clause
"""Coherence of topics."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_array

from streamtopics.utils.checks import check_integer, check_not_masked, check_number, check_one_of
from streamtopics.utils.structure import check_reach, from_arrow, holds_text, is_sparse, to_csr

MEASURES = ("npmi", "c_v", "umass", "uci")
WINDOWS = {"npmi": 10, "uci": 10, "c_v": 110}
RATIO_EPSILON = 1e-12
WINDOWS_AT_ONCE = 1 << 16


def topic_coherence(
    topics: ArrayLike,
    X: object,
    *,
    measure: str = "npmi",
    feature_names: ArrayLike | None = None,
    epsilon: float | None = None,
    window: int | Literal["auto"] | None = None,
) -> np.ndarray:
    """Return the coherence of each topic: how often the top words occur in the same documents.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_top_words)
        Top words of each topic, the most probable first, as column numbers of X, for example from
        `relevant_words`. If `feature_names` or `window` is given, the words themselves.
    X : {array-like, sparse matrix} of shape (n_documents, n_features), or iterable of documents
        Word counts; with `window`, the list of tokens of each document. A large corpus other than
        the training documents is best.
    measure : {"npmi", "c_v", "umass", "uci"}, default="npmi"
        "npmi" and "c_v" lie in [-1, 1], "umass" is at most about 0, "uci" is unbounded.
    feature_names : array-like of shape (n_features,), default=None
        Words of the columns of X, if `topics` holds words.
    epsilon : float or None, default=None
        Number added to the joint probability of two words. None adds 1e-12 for "uci",
        1 / n_documents for "umass", and nothing for "npmi" and "c_v".
    window : int, "auto" or None, default=None
        Length, in tokens, of sliding windows that replace documents. "auto" is 110 for "c_v", as in
        the paper, and 10 for the other measures.

    Returns
    -------
    coherence : ndarray of shape (n_topics,)
        Finite; higher is better. In nats for "umass" and "uci".

    Notes
    -----
    p(w) is the share of documents with word w, and p(i, j) the share with both words, plus
    `epsilon`. For a word i and a more probable word j of the topic,

        UMass  log (p(i, j) / p(j))
        UCI    log (p(i, j) / (p(i) p(j)))
        NPMI   log (p(i, j) / (p(i) p(j))) / -log p(i, j)
        C_V    cosine of v(i) and the sum of all v(j), with v(i)_j = NPMI(i, j) for all words j.

    The result is the mean over pairs of words, or over words i for C_V. Without `epsilon`, NPMI is
    -1 for words never together. For a word that never occurs, UCI is log(epsilon), and p(j) in
    UMass is 1. ``window="auto", epsilon=1e-12`` gives gensim's values if no window repeats a word.

    References
    ----------
    D. Mimno, H. Wallach, E. Talley, M. Leenders, A. McCallum (2011). Optimizing
    semantic coherence in topic models. EMNLP, 262-272 (UMass).

    D. Newman, J. H. Lau, K. Grieser, T. Baldwin (2010). Automatic evaluation of topic
    coherence. NAACL, 100-108 (UCI).

    G. Bouma (2009). Normalized (pointwise) mutual information in collocation
    extraction. GSCL, 31-40 (NPMI).

    M. Roeder, A. Both, A. Hinneburg (2015). Exploring the space of topic
    coherence measures. WSDM, 399-408 (C_V, and a common scheme of all measures).

    Examples
    --------
    >>> from streamtopics.metrics import topic_coherence
    >>> X = [[1, 2, 0, 0], [3, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 2]]
    >>> topic_coherence([[0, 1], [0, 2]], X).round(4).tolist()
    [0.415, -1.0]
    >>> documents = ["the ship at sea".split(), "a law of the sea".split()]
    >>> topic_coherence([["ship", "sea"]], documents, measure="uci", window=3).round(4)
    array([0.2231])
    """
    check_one_of(MEASURES, measure=measure)
    if epsilon is not None:
        check_number(least=1e-100, most=1.0, epsilon=epsilon)
        epsilon = float(epsilon)
    check_not_masked(topics, "topic_coherence", "topics")
    table = check_array(
        topics, dtype=None, ensure_all_finite=False, ensure_min_features=2, input_name="topics"
    )
    if window is None:
        columns, parts = _documents(table, X, feature_names)
    elif feature_names is not None:
        raise ValueError(
            "feature_names name columns of X, but with window X has lists of words; leave them out"
        )
    else:
        width = WINDOWS[measure] if window == "auto" else window
        check_integer(least=2, window=width)
        column = {word: place for place, word in enumerate(dict.fromkeys(table.ravel().tolist()))}
        columns, parts = _looked_up(table, column), _window_counts(X, column, int(width))
    ordered = np.sort(columns, axis=1)
    repeats = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if repeats.size:
        raise ValueError(f"topic {repeats[0]} repeats a word: {table[repeats[0]].tolist()}")
    joint, n_documents = np.zeros((*columns.shape, columns.shape[1])), 0
    for part in parts:
        joint = joint + _joint_counts(columns, part)
        n_documents += part.shape[0]
    check_integer(n_documents=n_documents, reason=", but X has none")
    if measure == "c_v":
        return _c_v(joint, n_documents, epsilon)
    if measure == "umass":
        marginal = np.diagonal(joint, axis1=1, axis2=2)[:, None, :]
        added = epsilon * n_documents if epsilon else 1.0
        values = np.log((joint + added) / np.where(marginal > 0, marginal, n_documents))
    elif measure == "uci":
        values, _ = _log_ratios(joint, n_documents, RATIO_EPSILON if epsilon is None else epsilon)
    else:
        values = _normalized_ratios(joint, n_documents, epsilon)
    later, earlier = np.tril_indices(values.shape[1], -1)
    return np.asarray(values[:, later, earlier].mean(axis=1))


def _documents(
    table: np.ndarray, X: object, names: ArrayLike | None
) -> tuple[np.ndarray, Iterable[sparse.csr_matrix]]:
    if holds_text(X):
        raise TypeError(
            "X must be counts of words if window is None, but topic_coherence got text; count "
            "the words first, or pass documents as lists of words with window='auto'"
        )
    counts = to_csr(X, "topic_coherence", default=np.float64)
    check_reach(counts, "topic_coherence")
    columns, n_features = table, counts.shape[1]
    if names is not None:
        column = {word: place for place, word in enumerate(np.asarray(names).tolist())}
        columns, n_features = _looked_up(table, column), len(column)
    is_column = columns.dtype.kind in "iu" and columns.min() >= 0 and columns.max() < n_features
    if not is_column or n_features != counts.shape[1]:
        raise ValueError(
            f"topics must hold columns of X, from 0 to {counts.shape[1] - 1}, or, with as many "
            f"distinct feature_names, words; got {table[0].tolist()}. Of weights take "
            "relevant_words(weights)"
        )
    return columns, [counts]


def _looked_up(table: np.ndarray, column: Mapping[Any, int]) -> np.ndarray:
    return np.array([[column[word] for word in topic] for topic in table.tolist()])


def _window_counts(
    documents: Any, column: Mapping[Any, int], window: int
) -> Iterator[sparse.csr_matrix]:
    """Yield counts of words in windows, in matrices of shape (n_windows, len(column)).

    Tokens without a column keep their places in windows.
    """
    places: list[np.ndarray] = []
    words: list[np.ndarray] = []
    n = 0
    for document in from_arrow(documents):
        if isinstance(document, str | bytes) or is_sparse(document):
            raise TypeError(f"with window, X must be lists of tokens; it holds {document!r:.60}")
        tokens = list(document)
        width = min(window, len(tokens))
        n_windows = max(1, len(tokens) - window + 1)
        known = np.array([p for p, token in enumerate(tokens) if token in column], dtype=np.int64)
        starts = known[:, None] - np.arange(width)
        token, step = np.nonzero((starts >= 0) & (starts < n_windows))
        places.append(n + starts[token, step])
        words.append(np.array([column[tokens[p]] for p in known], dtype=np.int64)[token])
        n += n_windows
        if n >= WINDOWS_AT_ONCE:
            yield _matrix(places, words, (n, len(column)))
            places, words, n = [], [], 0
    if n:
        yield _matrix(places, words, (n, len(column)))


def _matrix(
    places: list[np.ndarray], words: list[np.ndarray], shape: tuple[int, int]
) -> sparse.csr_matrix:
    row, word = np.concatenate(places), np.concatenate(words)
    return sparse.csr_matrix((np.ones(len(row)), (row, word)), shape=shape)


def _joint_counts(columns: np.ndarray, X: sparse.csr_matrix) -> np.ndarray:
    """Numbers of documents with words i and j, (n_topics, n_top_words, n_top_words)."""
    words, places = np.unique(columns, return_inverse=True)
    present = sparse.csc_matrix(X[:, words])
    present.sum_duplicates()
    present.eliminate_zeros()
    present.data = np.ones(present.nnz)
    topics = (present[:, topic] for topic in places.reshape(columns.shape))
    return np.stack([(topic.T @ topic).toarray() for topic in topics])


def _normalized_ratios(joint: np.ndarray, n_documents: int, epsilon: float | None) -> np.ndarray:
    """NPMI(i, j), of shape (n_topics, n_top_words, n_top_words)."""
    marginal = np.diagonal(joint, axis1=1, axis2=2)
    if epsilon is not None:
        ratio, norm = _log_ratios(joint, n_documents, epsilon)
        known = (marginal[:, :, None] > 0) & (marginal[:, None, :] > 0)
        normalized = np.where(known, 0.0, -1.0)
        return np.asarray(np.divide(ratio, norm, out=normalized, where=known & (norm != 0)))
    both = joint > 0
    joint = np.where(both, joint, 1.0)
    expected = np.where(both, marginal[:, :, None] * marginal[:, None, :] / n_documents, 1.0)
    norm = np.log(n_documents / joint)
    normalized = np.where(both, 0.0, -1.0)
    ratio = np.log(joint / expected)
    return np.asarray(np.divide(ratio, norm, out=normalized, where=both & (norm > 0)))


def _log_ratios(
    joint: np.ndarray, n_documents: int, epsilon: float
) -> tuple[np.ndarray, np.ndarray]:
    """log ((p(i, j) + epsilon) / p(i) p(j)), or log(epsilon); and -log (p(i, j) + epsilon)."""
    marginal = np.diagonal(joint, axis1=1, axis2=2) / n_documents
    apart = marginal[:, :, None] * marginal[:, None, :]
    together = np.log(joint / n_documents + epsilon)
    return together - np.log(np.where(apart > 0, apart, 1.0)), -together


def _c_v(joint: np.ndarray, n_documents: int, epsilon: float | None) -> np.ndarray:
    present = np.diagonal(joint, axis1=1, axis2=2) > 0
    vectors = _normalized_ratios(joint, n_documents, epsilon)
    vectors = vectors * (present[:, :, None] & present[:, None, :])
    if epsilon is None:
        place = np.arange(joint.shape[1])
        vectors[:, place, place] = present
    total = vectors.sum(axis=1)
    lengths = np.linalg.norm(vectors, axis=2) * np.linalg.norm(total, axis=1)[:, None]
    products = np.einsum("tij,tj->ti", vectors, total)
    similarity = np.divide(products, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.asarray(similarity.mean(axis=1))
