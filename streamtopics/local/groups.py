# SPDX-License-Identifier: BSD-3-Clause
"""Groups of documents that the present topics do not explain: candidates for new topics.

The clustering is a Dirichlet process. Document d of B goes to the best of

    (n_G / B) p(d | G)       of a group G of n_G others, if p(d | G) > p_0(d),
    e p_0(d)                 of a new group, e = concentration / (concentration + B),
    sum_k share_k p(d | k)   of the present topics, in no group

with p(w | G) = (n_Gw + s p_0w) / (n_G + s), without d itself, and p_0 a topic without documents. In
the last round s is the mean length of a document. This is the sampler of Yin et al. (2018),
"Model-based clustering of short text streams", at temperature 0. After a round, groups are joined
if the sum of log (n_G - 1) p(d | G) rises and p_0 explains the documents less well. Only documents
better explained by p_0 than by the topics take part.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from streamtopics.kernels import groups as kernel
from streamtopics.local.directions import summed
from streamtopics.local.step import Source
from streamtopics.messages import Groups, Minibatch
from streamtopics.posteriors import TopicPosterior
from streamtopics.utils.parallel import SERIAL, Workers, spans

DOCUMENTS_PER_JOB = 160
# Weights of p_0 in the rounds, as shares of a document: small groups stay apart at first.
ROUNDS = (0.1, 0.3, 1.0)
# Groups at once; most have a document or two and vanish.
MOST_GROUPS = 2048


@dataclass(frozen=True)
class Base:
    # (n_words,): p_0, the probabilities of words in an unlearnt topic
    words: np.ndarray
    background: np.ndarray  # (n_words,): probabilities of words in the background
    share: float  # Share of the tokens outside the background
    concentration: float  # Concentration of the Dirichlet process


def unexplained(
    minibatch: Minibatch,
    posterior: TopicPosterior,
    source: Source,
    share: float,
    concentration: float,
    least: float,
    workers: Workers,
) -> Groups:
    """Groups of at least `least` documents; without topics, all documents in one group.

    If `share` is below 1, the first topic of `source` is a background.
    """
    words, first = minibatch.words, int(share < 1)
    seen = minibatch.word_counts / max(minibatch.n_tokens, 1e-300)
    expected = posterior.prior_rows(words)[:, -1] / posterior.prior_mass[-1]
    alive = np.flatnonzero(posterior.alpha[first:] > 0)
    background, topics = seen, np.zeros((len(words), 0))
    if len(alive):
        rows = source.rows(words) / source.mass
        background = rows[:, 0] if first else seen
        topics = share * rows[:, first + alive] + (1 - share) * background[:, None]
    shares = posterior.alpha[first:][alive]
    log_shares = np.log(shares / max(shares.sum(), 1e-300))
    X = minibatch.matrix(minibatch.counts)
    base = Base(0.5 * expected + 0.5 * seen, background, share, concentration)
    groups = find_groups(X, known_by(X, np.log(topics), log_shares, workers), base, least)
    groups = replace(groups, needed=least)
    if not len(alive) and not groups.documents.size and minibatch.informative.any():
        n = np.array([float(np.count_nonzero(minibatch.informative))])
        members = np.zeros(minibatch.n_documents, int)
        groups = Groups(minibatch.word_counts[:, None], n, members)
    if minibatch.vectors is not None and groups.documents.size:
        q = groups.members[:, None] == np.arange(groups.documents.size)
        sums = summed(minibatch.vectors, q.astype(minibatch.vectors.dtype), SERIAL)
        groups = replace(groups, directions=sums)
    return groups


def known_by(
    X: sparse.csr_matrix, log_words: np.ndarray, log_shares: np.ndarray, workers: Workers
) -> np.ndarray:
    """Log probability of documents under topics, given log p(w | k), (n_words, n_topics)."""
    known = np.full(X.shape[0], -np.inf)

    def fill(start: int, stop: int) -> None:
        known[start:stop] = logsumexp(X[start:stop] @ log_words + log_shares, axis=1)

    if len(log_shares):
        workers.share(fill, spans(len(known), DOCUMENTS_PER_JOB))
    return known


def find_groups(X: sparse.csr_matrix, known: np.ndarray, base: Base, least: float) -> Groups:
    """Groups of at least `least` documents of a minibatch, the largest first.

    `known` is the log probability of each document under the present topics, -inf without topics.
    """
    X, n_documents = X.astype(np.float64), X.shape[0]
    X.eliminate_zeros()
    lengths = np.asarray(X.sum(axis=1)).ravel()
    common = (1 - base.share) * base.background
    alone = X @ np.log(base.share * base.words + common)
    rows = np.flatnonzero((alone > known) & (lengths > 0))
    if len(rows) < least:
        return Groups(np.zeros((X.shape[1], 0)), np.zeros(0), np.full(n_documents, -1))
    strength = lengths.sum() / np.count_nonzero(lengths)
    own, table = X[rows], np.empty(len(rows), np.int32)
    kernel.find_tables(
        own.indptr.astype(np.int32), own.indices.astype(np.int32), own.data, alone[rows],
        known[rows], base.words, common, base.share,
        np.log(base.concentration / (base.concentration + n_documents)), n_documents,
        strength * np.array(ROUNDS), MOST_GROUPS, table,
    )  # fmt: skip
    found, members = _groups_of(own, table, least), np.full(n_documents, -1)
    members[rows] = found.members
    return replace(found, members=members)


def _groups_of(X: sparse.csr_matrix, table: np.ndarray, least: float) -> Groups:
    """Groups with at least `least` documents; `table` is each document's group or -1."""
    assigned = np.flatnonzero(table >= 0)
    size = np.bincount(table[assigned], minlength=1).astype(np.float64)
    order = np.argsort(-size, kind="stable")
    chosen = order[size[order] >= least]
    shape = len(size), len(table)
    member = sparse.csr_matrix((np.ones(len(assigned)), (table[assigned], assigned)), shape)
    counts: np.ndarray = (member[chosen] @ X).toarray().T
    places = np.full(len(size) + 1, -1)
    places[chosen] = np.arange(len(chosen))
    return Groups(counts, size[chosen], places[table])
