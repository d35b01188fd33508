# SPDX-License-Identifier: BSD-3-Clause
"""Coherence of topics, whether their top words occur in the same documents, and diversity.

A document is a set of words. With D(w) the number of documents that contain w
and p = D / (number of documents), for words i ranked after j,

    UMass  log (D(i, j) + smoothing) / D(j)
    NPMI   log (p(i, j) / p(i) p(j)) / -log p(i, j)
    C_V    cosine of v(i) and sum_j v(j),  v(i)_j = NPMI(i, j),

averaged over a topic's pairs or words (Mimno et al. 2011; Bouma 2009; Roeder et
al. 2015). Diversity is |union over k of W_k| / sum over k of |W_k|, with W_k the top words
of topic k (Dieng et al. 2020).
"""

from collections.abc import Sequence
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_array, check_non_negative

from streamtopics.structure import check_structure

MEASURES = ("npmi", "c_v", "umass")


def topic_coherence(
    topics: Any,
    X: Any,
    *,
    measure: str = "npmi",
    feature_names: Sequence[Any] | None = None,
    smoothing: float = 1.0,
) -> np.ndarray:
    """Coherence of each topic's top words over the documents of X; higher is better.

    Never NaN or infinite: words that do not meet have the limits given in the notes.

    Parameters
    ----------
    topics : array-like of shape (n_topics, n_top_words)
        The top words of each topic, the most probable first, as columns of X or, with
        `feature_names`, as words; at least two. Of weights: `np.argsort(-components)[:, :10]`.
    X : {array-like, sparse matrix} of shape (n_documents, n_features)
        Counts or weights, not negative, of which only whether one is positive matters; best
        of a large corpus other than that the topics were learnt from.
    measure : {"npmi", "c_v", "umass"}, default="npmi"
        "npmi" because its values mean the same in every corpus: from -1, never together,
        over 0, independent, to 1, only together. "umass" is at most about 0, without a lower
        bound; "c_v" lies in [-1, 1].
    feature_names : array-like of shape (n_features,), default=None
        The words of the columns of X; None if `topics` holds columns.
    smoothing : float, default=1.0
        Documents that "umass" adds to those in which two words meet, 1 as in its paper.

    Returns
    -------
    coherence : ndarray of shape (n_topics,)
        "umass" in nats, the others without unit.

    Raises
    ------
    TypeError
        If `topics` holds weights, or words without `feature_names`.
    ValueError
        If `topics` is not such a table, names a word twice in a topic or one that X lacks; if
        X is negative somewhere or has no documents; if another argument is out of range.

    Notes
    -----
    NPMI is -1 for two words that never meet or of which one never occurs, and 0 for two words
    that are in every document. In C_V the NPMI of a word with itself is 1, and the cosine of a
    word that never occurs is 0. In UMass a conditioning word that never occurs gives the least
    value that the corpus allows, log(smoothing / n_documents).

    UMass is the mean over pairs, not the sum. C_V is taken over whole documents, where its
    published form has windows of 110 tokens; it can be high for words that never meet.

    References
    ----------
    D. Mimno, H. Wallach, E. Talley, M. Leenders, A. McCallum (2011). Optimizing
    semantic coherence in topic models. EMNLP, 262-272 (UMass).

    G. Bouma (2009). Normalized (pointwise) mutual information in collocation
    extraction. GSCL, 31-40 (NPMI).

    M. Roeder, A. Both, A. Hinneburg (2015). Exploring the space of topic
    coherence measures. WSDM, 399-408 (C_V, and the others in one scheme).

    Examples
    --------
    >>> from streamtopics.metrics import topic_coherence
    >>> X = [[1, 2, 0, 0], [3, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 2]]
    >>> topic_coherence([[0, 1], [0, 2]], X).round(4).tolist()
    [0.415, -1.0]
    >>> names = ["ship", "sea", "tax", "law"]
    >>> topic_coherence([["ship", "sea"]], X, measure="umass", feature_names=names).round(4)
    array([0.4055])
    """
    check_measure(measure)
    if not (isinstance(smoothing, Real) and 0 < smoothing < np.inf):
        raise ValueError(f"smoothing must be a positive number, for example 1.0; got {smoothing!r}")
    check_structure(X, "topic_coherence")
    X = check_array(X, accept_sparse="csr", input_name="X")
    check_non_negative(X, "topic_coherence")
    columns = _check_columns(_check_table(topics), X.shape[1], feature_names)
    joint = _joint_counts(columns, X)
    if measure == "umass":
        return _umass(joint, X.shape[0], smoothing)
    return {"npmi": _npmi, "c_v": _c_v}[measure](joint, X.shape[0])


def check_measure(measure: str) -> None:
    """Raise ValueError unless it is one of MEASURES."""
    if measure not in MEASURES:
        raise ValueError(f"measure must be one of {', '.join(MEASURES)}; got {measure!r}")


def _check_table(topics: Any) -> np.ndarray:
    """Topics as a 2-D array of whatever they hold."""
    try:
        table = np.asarray(topics)
        shape = f"shape {table.shape}"
    except ValueError:
        table, shape = np.empty(0), "rows of different lengths"
    if table.ndim != 2 or table.shape[0] < 1 or table.shape[1] < 2:
        raise ValueError(
            "topics must have shape (n_topics, n_top_words): at least one topic, of at least 2 "
            f"words, and as many words in each; got {shape}"
        )
    return table


def _check_columns(table: np.ndarray, n_features: int, feature_names: Any) -> np.ndarray:
    """Topics as columns of X, distinct in each topic."""
    columns = table if feature_names is None else _columns_of(table, n_features, feature_names)
    if columns.dtype.kind not in "iu":
        raise TypeError(
            f"topics must hold columns of X, which are integers; got {table.flat[0]!r}. Pass "
            "feature_names if it holds words; of weights take the top words first, for example "
            "np.argsort(-weights)[:, :10]"
        )
    if columns.min() < 0 or columns.max() >= n_features:
        out = columns.min() if columns.min() < 0 else columns.max()
        raise ValueError(
            f"topics must hold columns of X, from 0 to {n_features - 1}; got {out}. Count X with "
            "the vocabulary of the topics"
        )
    ordered = np.sort(columns, axis=1)
    repeats = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if repeats.size:
        raise ValueError(
            f"topics must name different words in each topic; topic {repeats[0]} repeats one: "
            f"{table[repeats[0]].tolist()}"
        )
    return columns


def _columns_of(table: np.ndarray, n_features: int, feature_names: Any) -> np.ndarray:
    """The column of each word."""
    column = {word: place for place, word in enumerate(np.asarray(feature_names).tolist())}
    if len(column) != n_features:
        raise ValueError(
            f"feature_names must name the {n_features} columns of X, each differently; got "
            f"{len(column)} different names"
        )
    missing = [word for word in table.ravel().tolist() if word not in column]
    if missing:
        raise ValueError(
            f"topics has words that feature_names lacks, such as {missing[0]!r} "
            f"({len(missing)} in all); count X with the vocabulary of the topics"
        )
    return np.array([[column[word] for word in topic] for topic in table.tolist()])


def _joint_counts(columns: np.ndarray, X: Any) -> np.ndarray:
    """D(i, j), with D(i) on the diagonal; of shape (n_topics, n_top_words, n_top_words)."""
    words, places = np.unique(columns, return_inverse=True)
    present = sparse.csc_matrix(X[:, words])
    present.sum_duplicates()
    present.eliminate_zeros()
    present.data = np.ones(present.nnz)
    topics = (present[:, topic] for topic in places.reshape(columns.shape))
    return np.stack([(topic.T @ topic).toarray() for topic in topics])


def _umass(joint: np.ndarray, n_documents: int, smoothing: float) -> np.ndarray:
    later, earlier = np.tril_indices(joint.shape[1], -1)
    given = np.diagonal(joint, axis1=1, axis2=2)[:, earlier]
    given = np.where(given > 0, given, n_documents)
    found: np.ndarray = np.log((joint[:, later, earlier] + smoothing) / given).mean(axis=1)
    return found


def _npmi_matrices(joint: np.ndarray, n_documents: int) -> np.ndarray:
    """NPMI of all pairs in each topic; (n_topics, n_top_words, n_top_words)."""
    occurs = np.diagonal(joint, axis1=1, axis2=2)
    meet = joint > 0
    joint = np.where(meet, joint, 1.0)
    expected = np.where(meet, occurs[:, :, None] * occurs[:, None, :] / n_documents, 1.0)
    information = np.log(n_documents / joint)
    npmi = np.where(meet, 0.0, -1.0)
    return np.divide(
        np.log(joint / expected), information, out=npmi, where=meet & (information > 0)
    )


def _npmi(joint: np.ndarray, n_documents: int) -> np.ndarray:
    later, earlier = np.tril_indices(joint.shape[1], -1)
    found: np.ndarray = _npmi_matrices(joint, n_documents)[:, later, earlier].mean(axis=1)
    return found


def _c_v(joint: np.ndarray, n_documents: int) -> np.ndarray:
    occurs = np.diagonal(joint, axis1=1, axis2=2) > 0
    vectors = _npmi_matrices(joint, n_documents) * (occurs[:, :, None] & occurs[:, None, :])
    place = np.arange(joint.shape[1])
    vectors[:, place, place] = occurs
    total = vectors.sum(axis=1)
    lengths = np.linalg.norm(vectors, axis=2) * np.linalg.norm(total, axis=1)[:, None]
    products = np.einsum("tij,tj->ti", vectors, total)
    cosines = np.divide(products, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    found: np.ndarray = cosines.mean(axis=1)
    return found


def topic_diversity(topics: Sequence[Sequence[Any]] | np.ndarray) -> float:
    """Share of distinct words among the top words of all topics; to read with coherence.

    Parameters
    ----------
    topics : sequence of n_topics sequences of words
        The top words of each topic, as words or as numbers of columns. The paper takes 25 of
        each; the fewer, the higher the value, so compare only equal numbers.

    Returns
    -------
    diversity : float
        In (0, 1]: 1 if no word comes twice, 1 / n_topics if all topics have the
        same words. Higher is better.

    Raises
    ------
    TypeError
        If `topics` is a string or a sequence of strings or numbers.
    ValueError
        If there are no words.

    References
    ----------
    A. B. Dieng, F. J. R. Ruiz, D. M. Blei (2020). Topic modeling in embedding
    spaces. TACL 8, 439-453.

    Examples
    --------
    >>> from streamtopics.metrics import topic_diversity
    >>> topic_diversity([["ship", "sea", "wind"], ["tax", "law", "sea"]])
    0.8333333333333334
    """
    if any(isinstance(topic, str) or not hasattr(topic, "__iter__") for topic in topics):
        raise TypeError(
            f"topics must be a sequence of topics, each a sequence of words; got {topics!r}. Put "
            "a single topic into a list"
        )
    words = list(chain.from_iterable(topics))
    if not words:
        raise ValueError(
            f"topics must have words; got {topics!r}. Pass at least one word of one topic"
        )
    return len(set(words)) / len(words)
