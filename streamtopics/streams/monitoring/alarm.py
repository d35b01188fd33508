# SPDX-License-Identifier: BSD-3-Clause
"""Tests and alarms of a `DriftMonitor`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.special import ndtri
from scipy.stats import hypergeom

from streamtopics.models.spectral_start import k_means, vectors_of
from streamtopics.streams.monitoring.statistics import Comparison
from streamtopics.text.vocabulary import is_free

# Most words of a topic, topics of a kind and new words in an alarm.
N_TOP, N_TOPICS, N_WORDS = 5, 10, 8
# Groups, fewest documents of each, and ratio of a new subject's share to its earlier share.
N_GROUPS, LEAST_DOCUMENTS, TIMES = 40, 10, 2


class DriftTest(NamedTuple):
    """A comparison of one minibatch with the documents held back before.

    Attributes
    ----------
    batch, time : int, object
        Number of the minibatch, from 1, as counted by the monitor; and time of the minibatch.
    p_exact, p_chart, alarm : float, float, bool
        p-value of the permutation test, and p-value of the control chart (NaN before three earlier
        tests). `alarm` tells whether both are less than `alpha`.
    """

    batch: int
    time: object
    p_exact: float
    p_chart: float
    alarm: bool


class ChangedTopic(NamedTuple):
    """A topic that changed in a minibatch, found in an `Alarm`.

    Attributes
    ----------
    topic, words : int, tuple of str
        Row in the model, and top words before the minibatch was learnt.
    how : {"changed", "grown", "shrunk"}
        "changed": the topic has less probable words in new documents than in earlier documents.
        "grown" or "shrunk": new documents have more, or fewer, words of the topic.
    difference : float
        Mean over new documents minus mean over earlier documents, in standard errors. If "changed",
        the -log probability of the topic's words is compared, otherwise the number of these words.
    """

    topic: int
    how: str
    difference: float
    words: tuple[str, ...]


class NewWord(NamedTuple):
    """A word (or column) of an `Alarm`, in `new` new documents and `before` earlier documents."""

    word: str
    new: int
    before: int


class NewTopic(NamedTuple):
    """A group of similar documents (a subject) with a larger share in a minibatch than before.

    Attributes
    ----------
    words, rows : tuple of str, tuple of int
        At most eight words of the subject, the most significant first; and rows of its documents in
        the minibatch, the most typical first.
    share, error : float
        The subject's share of the minibatch minus its share of earlier documents; and the standard
        error of this difference.
    """

    words: tuple[str, ...]
    share: float
    error: float
    rows: tuple[int, ...]


class Alarm(NamedTuple):
    """A change of a stream found by a `DriftMonitor`; `print` shows a summary.

    Attributes
    ----------
    batch, time, p_exact, p_chart
        As in `DriftTest`.
    n_new, n_before : int
        Numbers of compared documents: `n_new` of the minibatch, and `n_before` of the documents
        that the monitor held back from earlier minibatches.
    topics, words, new : tuple of ChangedTopic, of NewWord, of NewTopic
        Changed topics, at most ten of each kind (field `how` of `ChangedTopic`); words in more
        documents than before, at most eight; and new subjects. The most significant are first.
    """

    batch: int
    time: object
    p_exact: float
    p_chart: float
    n_new: int
    n_before: int
    topics: tuple[ChangedTopic, ...]
    words: tuple[NewWord, ...]
    new: tuple[NewTopic, ...] = ()

    def __str__(self) -> str:
        when = "" if self.time is None else f" ({self.time})"
        lines = [
            f"Minibatch {self.batch}{when} differs from those before: p = {self.p_exact:.2g} "
            f"by relabelling, {self.p_chart:.2g} beside the past of the stream "
            f"({self.n_new} new documents, {self.n_before} earlier ones)."
        ]
        for topic in self.new:
            part = len(topic.rows) / self.n_new
            lines.append(f"New: {' '.join(topic.words)} ({part:.1%} of the documents).")
        topics = [f"{t.topic} {t.how} ({' '.join(t.words)})" for t in self.topics[:N_TOP]]
        more = len(self.topics) - len(topics)
        if topics:
            lines.append(f"Topics: {', '.join(topics)}{f' and {more} more' if more else ''}.")
        if self.words:
            words = (f"{w.word} ({w.new}, before {w.before})" for w in self.words)
            lines.append(f"Words: {', '.join(words)}.")
        return "\n".join(lines)


def alarm_of(row: Sequence[Any]) -> Alarm:
    *numbers, topics, words, new = row
    found = (
        tuple(ChangedTopic(k, how, d, tuple(top)) for k, how, d, top in topics),
        tuple(NewWord(*word) for word in words),
        tuple(NewTopic(tuple(top), share, error, tuple(rows)) for top, share, error, rows in new),
    )
    return Alarm._make([*numbers, *found])


def changed_topics(
    found: Comparison, alpha: float, top_words: Sequence[Sequence[object]]
) -> tuple[ChangedTopic, ...]:
    """Topics with a difference at the level alpha / (2 n_topics)."""
    n_topics = len(found.surprise)
    limit = -float(ndtri(alpha / (2 * n_topics)))
    words = [[w for w in map(str, own) if not is_free(w)] for own in top_words]
    topics = []
    kinds = ("changed", 1, found.surprise), ("grown", 1, found.use), ("shrunk", -1, found.use)
    for how, sign, values in kinds:
        first = np.argsort(-sign * values, kind="stable")[:N_TOPICS]
        topics += [
            ChangedTopic(int(k), how, float(values[k]), tuple(words[k]))
            for k in first
            if sign * values[k] > limit
        ]
    return tuple(sorted(topics, key=lambda topic: -abs(topic.difference)))


def new_words(
    new: sparse.csr_matrix, before: sparse.csr_matrix, alpha: float, names: Sequence[object] | None
) -> tuple[NewWord, ...]:
    """Words in more new documents than by chance (hypergeometric)."""
    n_new, n_before = new.shape[0], before.shape[0]
    in_new, in_before = (
        np.bincount(X.indices[X.data > 0], minlength=X.shape[1]) for X in (new, before)
    )
    words = np.flatnonzero(in_new)
    a, b = in_new[words], in_before[words]
    p = np.asarray(hypergeom.sf(a - 1, n_new + n_before, a + b, n_new))
    first = np.lexsort((words, -a, p))[:N_WORDS]
    return tuple(
        NewWord(str(words[i] if names is None else names[words[i]]), int(a[i]), int(b[i]))
        for i in first
        if p[i] < alpha / len(words)
    )


def new_topics(
    new: sparse.csr_matrix,
    before: sparse.csr_matrix,
    alpha: float,
    names: Sequence[Any] | None,
    places: np.ndarray,
) -> tuple[NewTopic, ...]:
    """New subjects among new documents at `places` in the minibatch, the surest first.

    Ward's method makes a binary tree of groups of documents. The node with the least hypergeometric
    probability of so many new documents is a subject, if the probability is below alpha over the
    number of nodes; and so on without these groups (Kulldorff, Fang and Walsh, 2003).
    """
    m = new.shape[0]
    X = sparse.vstack([new, before], format="csr").astype(np.float64)
    X.eliminate_zeros()
    columns = np.unique(X.indices)
    n_groups = min(N_GROUPS, X.shape[0] // LEAST_DOCUMENTS)
    if n_groups < 2 or len(columns) < 2:
        return ()
    vectors, labels, nodes = _tree(X[:, columns], columns, n_groups)
    a, b = (nodes @ np.bincount(part, minlength=n_groups) for part in (labels[:m], labels[m:]))
    n = np.array([m, len(labels) - m])
    log_p = np.asarray(hypergeom.logsf(a - 1, len(labels), a + b, m))
    # Most documents of the subject must be in excess of the earlier share.
    came = a * n[1] > TIMES * b * n[0]
    free, found = came & (log_p < np.log(alpha / len(nodes))), []
    while free.any():
        k = np.flatnonzero(free)[np.argmin(log_p[free])]
        free &= ~(nodes & nodes[k]).any(axis=1)
        rows = np.flatnonzero(nodes[k][labels[:m]])
        typical = vectors[rows] @ vectors[rows].sum(axis=0)
        words = tuple(word.word for word in new_words(new[rows], before, np.inf, names))
        rows = places[rows[np.argsort(-typical, kind="stable")]]
        shares = np.array([a[k], b[k]]) / n
        error = float(np.sqrt((shares * (1 - shares) / n).sum()))
        found.append(NewTopic(words, float(shares[0] - shares[1]), error, tuple(rows.tolist())))
    return tuple(found)


def _tree(
    X: sparse.csr_matrix, words: np.ndarray, n_groups: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vectors and groups of documents, and the groups below each node."""
    vectors = vectors_of(X, words.astype(np.int32))
    means = k_means(vectors, n_groups)
    nodes = list(np.eye(n_groups, dtype=bool))
    for one, other in linkage(means.cluster_centers_, "ward")[:-1, :2].astype(int):
        nodes.append(nodes[one] | nodes[other])
    return vectors, means.labels_, np.array(nodes)
