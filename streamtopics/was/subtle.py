# SPDX-License-Identifier: BSD-3-Clause
"""Subtle topics, of which few sentences speak, and comments on a part of an article."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from streamtopics.base.sentences import Sentences, read_sentences
from streamtopics.utils.structure import has_entries


class SubtleTopic(NamedTuple):
    """A topic that is rare in the corpus and fills some sentences.

    Attributes
    ----------
    topic : int
    share : float
        Its share of the words of the corpus.
    n_sentences, n_documents : int
        Sentences that it dominates, and documents that they are in.
    words : list
        Its most probable words, or their columns.
    sentences : list of SubtleSentence
        The sentences that it dominates most.
    """

    topic: int
    share: float
    n_sentences: int
    n_documents: int
    words: list[Any]
    sentences: list[SubtleSentence]


class SubtleSentence(NamedTuple):
    """A sentence that a subtle topic dominates.

    Attributes
    ----------
    document : int
        The number of its document.
    sentence : int
        Its number in the document.
    proportion : float
        The topic's proportion of it.
    text : str or None
        Its text, where texts were given.
    """

    document: int
    sentence: int
    proportion: float
    text: str | None


def find_subtle(
    sentence_topic: np.ndarray,
    lengths: np.ndarray,
    max_share: float,
    min_proportion: float,
) -> list[tuple[int, float, np.ndarray]]:
    """Find topics with little of the words and most of some sentence, the rarest first.

    Each with its share and the sentences that it dominates, the most dominated first; those
    without words do not count.
    """
    total = lengths.sum()
    shares = lengths @ sentence_topic / total if total > 0 else np.ones(sentence_topic.shape[1])
    dominated = (sentence_topic >= min_proportion) & (lengths > 0)[:, None]
    found = []
    for k in np.argsort(shares, kind="stable"):
        sentences = np.flatnonzero(dominated[:, k])
        if shares[k] <= max_share and len(sentences):
            order = np.argsort(-sentence_topic[sentences, k], kind="stable")
            found.append((int(k), float(shares[k]), sentences[order]))
    return found


def shown(
    sentences: Sentences, rows: np.ndarray, proportions: np.ndarray, texts: Any
) -> list[SubtleSentence]:
    """Describe some sentences, by their rows, with a topic's proportion of every sentence."""
    found = []
    for row, d in zip(rows.tolist(), sentences.documents[rows].tolist(), strict=True):
        place = row - int(sentences.starts[d])
        text = None if texts is None else texts[d][place]
        found.append(SubtleSentence(d, place, float(proportions[row]), text))
    return found


def specific_comment_scores(estimator: Any, article: Any, comments: Sequence[Any]) -> np.ndarray:
    """Score how much each comment speaks to some sentences of an article and not to all of it.

    The similarity of a comment and a sentence is sum_k sqrt(theta_k phi_k) of their topic
    proportions (Bhattacharyya). The score is that of the comment's best sentence less the
    mean over the article's sentences, weighted by their words: near 0 for a comment on
    everything or on something else.

    Parameters
    ----------
    estimator : WASTopicModel
        A fitted one.
    article : matrix of shape (n_sentences, n_features)
        Counts of the article's sentences.
    comments : sequence of n_comments matrices of shape (n_sentences, n_features)
        Counts of the sentences of each comment.

    Returns
    -------
    scores : ndarray of shape (n_comments,), float64
        Between 0 and 1; more is more specific. 0 for a comment without known words.

    Raises
    ------
    TypeError
        If `estimator` is no topic model of sentences.
    NotFittedError
        If it is not fitted.
    ValueError
        If the article has no words.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics import WASTopicModel
    >>> from streamtopics.was import specific_comment_scores
    >>> main, aside = np.eye(2, dtype=int)[:, [0, 0, 0, 1, 1, 1]] * 2
    >>> articles = [np.array([main, main, main, aside])] * 20
    >>> model = WASTopicModel(2, n_sweeps=50, n_burn_in=25, random_state=0).fit(articles)
    >>> scores = specific_comment_scores(model, articles[0], [[main], [aside]])
    >>> bool(scores[1] > scores[0])
    True
    """
    if isinstance(estimator, type) or not hasattr(estimator, "transform_sentences"):
        raise TypeError(
            "estimator must be a fitted topic model of sentences, such as WASTopicModel; got "
            f"{estimator!r:.60}"
        )
    if not hasattr(estimator, "n_features_in_"):
        estimator.transform_sentences([article])  # It says that it is not fitted.
    n_words, caller = estimator.n_features_in_, "specific_comment_scores"
    if sparse.issparse(comments):
        raise TypeError(
            "comments must be a list with one matrix for each comment; got one sparse matrix. "
            "If each comment is one sentence, pass [row for row in matrix]"
        )
    if not has_entries(comments):
        raise TypeError(f"comments must be a list of matrices; got {comments!r:.60}")
    own = read_sentences([article], n_words=n_words, caller=caller)
    lengths = own.lengths
    if not lengths.sum() > 0:
        raise ValueError("article must have words that the model knows; all its counts are 0")
    comments = list(comments)
    if not comments:
        return np.zeros(0)
    read = read_sentences(comments, n_words=n_words, caller=caller)
    words = np.bincount(read.documents, read.lengths, read.n_documents)
    theta = np.sqrt(estimator.transform_sentences([article]))
    phi = np.sqrt(np.asarray(estimator.transform(comments)))
    similarity = (phi @ theta.T)[:, lengths > 0]
    known = words > 0
    weights = lengths[lengths > 0] / lengths.sum()
    return np.where(known, similarity.max(axis=1) - similarity @ weights, 0.0)


def check_texts(texts: Any, sentences: Sentences) -> None:
    """Refuse texts that are not those of the sentences."""
    if texts is None:
        return
    n_rows = np.diff(sentences.starts)
    if not (isinstance(texts, Sequence) and all(isinstance(t, list | tuple) for t in texts)):
        raise TypeError(
            "texts must be a list with the list of the sentences of each document, as "
            f"SentenceVectorizer.sentences makes it; got {type(texts).__name__}"
        )
    n_texts = [len(text) for text in texts]
    if not np.array_equal(n_texts, n_rows):
        raise ValueError(
            "texts must have the sentences of each document of X, as "
            f"SentenceVectorizer.sentences does; got {sum(n_texts)} sentences in "
            f"{len(n_texts)} documents for {n_rows.sum()} in {len(n_rows)}"
        )
