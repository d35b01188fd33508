# SPDX-License-Identifier: BSD-3-Clause
"""Groups of documents that explain each other better than the topics there are explain them.

The tables of a Dirichlet process, by its conditional probabilities: document d of B goes where

    (n_G / B) p(d | G)       of a group G of n_G others, if p(d | G) > p_0(d),
    e p_0(d)                 of a new group, e = concentration / (concentration + B),
    sum_k share_k p(d | k)   of the topics there are, where it is in no group

is greatest, with p(w | G) = (n_Gw + s p_0w) / (n_G + s) less what d itself says, and s in the end
the mean length of a document. They are gone through in order, some times over, each time leaving
where they were; so it is the sampler of Yin et al. (2018), "Model-based clustering of short text
streams", at temperature 0. After each round two groups are made one where that raises
sum_d log (n_G - 1) p(d | G) and their documents explain each other better than p_0 does. Only
documents that p_0 explains better than all topics together take part.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from streamtopics.parallel import Workers, spans

DOCUMENTS_PER_JOB = 160
# Weights of p_0 in the rounds, as shares of a document: small groups stay apart at first.
ROUNDS = (0.1, 0.3, 1.0)
# Groups at once, of which most are of a document or two and come to nothing.
MOST_GROUPS = 2048


@dataclass(frozen=True)
class Base:
    """The distribution that groups are measured against.

    Attributes
    ----------
    words : ndarray of shape (n_words,)
        p_0, the probabilities of words in a topic that nothing is known of.
    background : ndarray of shape (n_words,)
        Probabilities of words in the background.
    share : float
        Share of the tokens that are not from the background.
    concentration : float
        Of the Dirichlet process.
    """

    words: np.ndarray
    background: np.ndarray
    share: float
    concentration: float


@dataclass(frozen=True)
class Groups:
    """Topics to be.

    Attributes
    ----------
    counts : ndarray of shape (n_words, n_groups), float64
        Tokens of the documents of each group.
    documents : ndarray of shape (n_groups,), float64
        How many these are.
    """

    counts: np.ndarray
    documents: np.ndarray


def known_by(
    X: sparse.csr_matrix, log_words: np.ndarray, log_shares: np.ndarray, workers: Workers
) -> np.ndarray:
    """Log probability of documents under topics, given those of words, (n_words, n_topics)."""
    known = np.full(X.shape[0], -np.inf)

    def fill(start: int, stop: int) -> None:
        known[start:stop] = logsumexp(X[start:stop] @ log_words + log_shares, axis=1)

    if len(log_shares):
        workers.share(fill, spans(len(known), DOCUMENTS_PER_JOB))
    return known


def find_groups(X: sparse.csr_matrix, known: np.ndarray, base: Base, least: float) -> Groups:
    """Groups in the documents of a minibatch.

    Parameters
    ----------
    X : csr_matrix of shape (n_documents, n_words)
        Their words.
    known : ndarray of shape (n_documents,)
        Log probability of each document under the topics there are, -inf where there are none.
    base : Base
    least : float
        Documents that a group needs.

    Returns
    -------
    groups : Groups
        The largest first.
    """
    X, n_documents = X.astype(np.float64), X.shape[0]
    lengths = np.asarray(X.sum(axis=1)).ravel()
    common = (1 - base.share) * base.background
    alone = X @ np.log(base.share * base.words + common)
    rows = np.flatnonzero((alone > known) & (lengths > 0))
    if len(rows) < least:
        return Groups(np.zeros((X.shape[1], 0)), np.zeros(0))
    strength = lengths.sum() / np.count_nonzero(lengths)
    tables = _Tables(X[rows], base, common, alone[rows])
    log_new = np.log(base.concentration / (base.concentration + n_documents))
    for weight in ROUNDS:
        tables.s = weight * strength
        for d, row in enumerate(rows):
            tables.leave(d)
            tables.enter(d, known[row], log_new, n_documents)
        tables.merge()
    size = tables.size
    order = np.argsort(-size, kind="stable")
    chosen = order[size[order] >= least]
    return Groups(tables.counts[:, chosen], size[chosen])


class _Tables:
    """Documents at tables, and what these have of each word."""

    def __init__(self, X: sparse.csr_matrix, base: Base, common: np.ndarray, alone: np.ndarray):
        self.X, self.share, self.prior, self.common = X, base.share, base.words, common
        self.alone = alone
        self.s = 1.0
        self.table = np.full(X.shape[0], -1)
        self.counts = np.zeros((X.shape[1], 0))
        self.mass, self.size = np.zeros(0), np.zeros(0)

    def _words(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        span = slice(self.X.indptr[d], self.X.indptr[d + 1])
        return self.X.indices[span], self.X.data[span]

    def leave(self, d: int) -> None:
        """Take a document from where it is."""
        if self.table[d] >= 0:
            self._add(d, self.table[d], -1.0)
            self.table[d] = -1

    def _add(self, d: int, k: int, sign: float) -> None:
        words, counts = self._words(d)
        self.counts[words, k] += sign * counts
        self.mass[k] += sign * counts.sum()
        self.size[k] += sign

    def enter(self, d: int, known: float, log_new: float, n: int) -> None:
        """Put a document where it is most probable, if that is at a table."""
        (words, counts), alone = self._words(d), self.alone[d]
        best, k = max(known, log_new + alone), -1
        if self.size.any():
            topic = (self.counts[words] + self.s * self.prior[words, None]) / (self.mass + self.s)
            with np.errstate(divide="ignore"):
                explained = counts @ np.log(self.share * topic + self.common[words, None])
                score = np.where(explained > alone, np.log(self.size / n) + explained, -np.inf)
            k = int(score.argmax())
            if score[k] > best:
                best = score[k]
            else:
                k = -1
        if k < 0 and known < best:
            k = self._free()
        if k >= 0:
            self._add(d, k, 1.0)
            self.table[d] = k

    def merge(self) -> None:
        """Make one of tables whose documents together explain each other better, small ones first.

        Each is tried with the table that explains its words best.
        """
        tables = np.flatnonzero(self.size > 0)
        log_topic = self._log_topics(tables)
        for k in tables[np.argsort(self.size[tables], kind="stable")]:
            open_ = (tables != k) & (self.size[tables] > 0)
            if not open_.any():
                return
            size = np.where(open_, self.size[tables], 1.0)
            words = np.flatnonzero(self.counts[:, k])
            explained = self.counts[words, k] @ log_topic[words]
            score = np.where(open_, explained + np.log(size), -np.inf)
            other = int(tables[score.argmax()])
            mine, theirs = (np.flatnonzero(self.table == j) for j in (k, other))
            both = np.concatenate([mine, theirs])
            explained, worth = self._explained(both)
            apart = self._explained(mine)[1] + self._explained(theirs)[1]
            if worth > apart and explained > self.alone[both].sum():
                for counted in (self.counts.T, self.mass, self.size):
                    counted[other] += counted[k]
                    counted[k] = 0.0
                self.table[mine] = other
                log_topic[:, tables == other] = self._log_topics(np.array([other]))

    def _log_topics(self, tables: np.ndarray) -> np.ndarray:
        topic = (self.counts[:, tables] + self.s * self.prior[:, None]) / (
            self.mass[tables] + self.s
        )
        found: np.ndarray = np.log(self.share * topic + self.common[:, None])
        return found

    def _explained(self, members: np.ndarray) -> tuple[float, float]:
        """Log probability of documents given each other, alone and with that of being together."""
        X, n = self.X[members], len(members)
        row = np.repeat(np.arange(n), np.diff(X.indptr))
        counts = np.bincount(X.indices, X.data, X.shape[1])
        mass = X.data.sum() - np.bincount(row, X.data, n)
        topic = (counts[X.indices] - X.data + self.s * self.prior[X.indices]) / (mass[row] + self.s)
        word = np.log(self.share * topic + self.common[X.indices])
        explained = float(X.data @ word)
        return explained, explained + n * np.log(max(n - 1, 1e-3))

    def _free(self) -> int:
        """An empty table, or -1 where there are too many."""
        empty = np.flatnonzero(self.size == 0)
        if len(empty):
            return int(empty[0])
        n = len(self.size)
        if n >= MOST_GROUPS:
            return -1
        more = max(n, 16)
        self.counts = np.hstack([self.counts, np.zeros((len(self.counts), more))])
        self.mass, self.size = (np.append(v, np.zeros(more)) for v in (self.mass, self.size))
        return n
