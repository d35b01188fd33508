# SPDX-License-Identifier: BSD-3-Clause
"""New subjects: groups of documents that a minibatch has more of than the documents before it.

The new and the earlier documents together are put into groups by k-means on vectors of the company
that their words keep, as a spectral start has them, and the groups into a binary tree by Ward's
method. Neither knows which documents are new. If a new document is as likely as an earlier one to
be in a node of the tree, then of the n documents of the node, out of N with m new ones,

    P(a or more are new) = sum over j >= a of C(m, j) C(N - m, n - j) / C(N, n).

Of the nodes with more than twice their earlier share, the one with the least probability is a new
subject if that is below the level over the number of nodes (Bonferroni). It is taken out with all
nodes that share a group with it, and the next one is looked for: the scan of a tree of
Kulldorff, Fang and Walsh (2003), at an exact level.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.stats import hypergeom

from streamtopics.models.spectral_start import k_means, vectors_of
from streamtopics.streams.monitoring.alarm import NewTopic, new_words

# Groups, the fewest documents that there are for each, and how many times its earlier share a new
# subject has.
N_GROUPS, LEAST_DOCUMENTS, TIMES = 40, 10, 2


def new_topics(
    new: sparse.csr_matrix,
    before: sparse.csr_matrix,
    alpha: float,
    names: Sequence[Any] | None,
    places: np.ndarray,
) -> tuple[NewTopic, ...]:
    """New subjects among new documents, the surest first, at a level for all nodes together.

    `places` are those of the new documents in the minibatch.
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
    # Most of its documents have to be on top of what there was.
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
    """Vectors and groups of documents, and nodes of the tree as truth values of their groups."""
    vectors = vectors_of(X, words.astype(np.int32))
    means = k_means(vectors, n_groups)
    nodes = list(np.eye(n_groups, dtype=bool))
    for one, other in linkage(means.cluster_centers_, "ward")[:-1, :2].astype(int):
        nodes.append(nodes[one] | nodes[other])
    return vectors, means.labels_, np.array(nodes)
