# SPDX-License-Identifier: BSD-3-Clause
"""Documents at the tables of a Dirichlet process, each at the most probable one.

A document d of length n_d goes to the table G of n_G others where

    log(n_G / n) + sum_w n_dw log(share (n_Gw + s p_w) / (n_G. + s) + common_w)

is greatest. What tables have of a word is kept as a list for each word, of the tables that have
it, so that only tables which share a word with a document are looked at: others explain it no
better than p does.
"""
import numpy as np

from libc.math cimport INFINITY, fmax, log

from streamtopics.kernels._doors cimport check_documents, check_shapes

# Below it a product of probabilities is taken the logarithm of.
cdef double LEAST_PRODUCT = 1e-250
cdef double LEAST_TERM = 1e-40


cdef struct Documents:
    # Of documents by words, and what p and the background say of the words.
    Py_ssize_t n
    const int *indptr
    const int *indices
    const double *counts
    const double *alone
    const double *known
    const double *p
    const double *common
    double share


cdef struct Tables:
    # Lists of tables for each word: place, documents and tokens of it.
    Py_ssize_t most
    const int *starts
    int *n_listed
    int *listed
    int *listed_documents
    double *listed_tokens
    # Of each table.
    double s
    double *mass
    int *size
    int *table
    # Of the tables at hand: which they are, their tokens of one word, and log probabilities.
    int *mark
    int *near
    double *has
    double *product
    double *score


cdef void add(Documents *D, Tables *T, Py_ssize_t d, int k, int sign) noexcept nogil:
    """Put document d to table k, or take it from there."""
    cdef Py_ssize_t i, at, last
    cdef int w
    for i in range(D.indptr[d], D.indptr[d + 1]):
        w = D.indices[i]
        last = T.starts[w] + T.n_listed[w]
        at = T.starts[w]
        while at < last and T.listed[at] != k:
            at += 1
        if at == last:
            T.listed[at] = k
            T.listed_documents[at] = 0
            T.listed_tokens[at] = 0
            T.n_listed[w] += 1
        T.listed_documents[at] += sign
        T.listed_tokens[at] += sign * D.counts[i]
        T.mass[k] += sign * D.counts[i]
        if T.listed_documents[at] == 0:
            last -= 1
            T.listed[at] = T.listed[last]
            T.listed_documents[at] = T.listed_documents[last]
            T.listed_tokens[at] = T.listed_tokens[last]
            T.n_listed[w] -= 1
    T.size[k] += sign
    if T.size[k] == 0:
        T.mass[k] = 0
    T.table[d] = k if sign > 0 else -1


cdef Py_ssize_t explain(Documents *D, Tables *T, const int *words, const double *counts,
                        Py_ssize_t n_words) noexcept nogil:
    """Log probability of words by each table that has one of them: their number.

    OUT T.near (n,), T.score (n_tables,).
    """
    cdef Py_ssize_t i, j, at, n_near = 0
    cdef int w, k
    cdef double term, n_w
    for i in range(n_words):
        w = words[i]
        for at in range(T.starts[w], T.starts[w] + T.n_listed[w]):
            k = T.listed[at]
            if not T.mark[k]:
                T.mark[k] = 1
                T.product[k] = 1
                T.score[k] = 0
                T.has[k] = 0
                T.near[n_near] = k
                n_near += 1
    for i in range(n_words):
        w = words[i]
        n_w = counts[i]
        for at in range(T.starts[w], T.starts[w] + T.n_listed[w]):
            T.has[T.listed[at]] = T.listed_tokens[at]
        for j in range(n_near):
            k = T.near[j]
            term = D.share * (T.has[k] + T.s * D.p[w]) / (T.mass[k] + T.s) + D.common[w]
            if n_w == 1 and term > LEAST_TERM:
                T.product[k] *= term
                if T.product[k] < LEAST_PRODUCT:
                    T.score[k] += log(T.product[k])
                    T.product[k] = 1
            else:
                T.score[k] += n_w * log(term)
        for at in range(T.starts[w], T.starts[w] + T.n_listed[w]):
            T.has[T.listed[at]] = 0
    for j in range(n_near):
        k = T.near[j]
        T.score[k] += log(T.product[k])
        T.mark[k] = 0
    return n_near


cdef void enter(Documents *D, Tables *T, Py_ssize_t d, double log_new,
                double log_n) noexcept nogil:
    """Put a document where it is most probable, if that is at a table."""
    cdef Py_ssize_t start = D.indptr[d], n_near, j
    cdef int k, best_k = -1
    cdef double alone = D.alone[d], best = -INFINITY, other, score
    n_near = explain(D, T, D.indices + start, D.counts + start, D.indptr[d + 1] - start)
    for j in range(n_near):
        k = T.near[j]
        if T.score[k] > alone:
            score = log(<double> T.size[k]) - log_n + T.score[k]
            if score > best or (score == best and k < best_k):
                best, best_k = score, k
    other = fmax(D.known[d], log_new + alone)
    if best > other:
        add(D, T, d, best_k, 1)
    elif D.known[d] < log_new + alone:
        k = 0
        while k < T.most and T.size[k] > 0:
            k += 1
        if k < T.most:
            add(D, T, d, k, 1)


cdef void explained(Documents *D, Tables *T, const int *first, const int *next, int k, int other,
                    double *of_words, double *fit, double *alone) noexcept nogil:
    """Log probability of the documents of one table or two, given each other, and of each alone.

    `of_words` (n_words,) has their tokens.
    """
    cdef Py_ssize_t i
    cdef int d, t, at
    cdef double length, total = T.mass[k] + (T.mass[other] if other >= 0 else 0)
    fit[0] = alone[0] = 0
    for at in range(2):
        t = k if at == 0 else other
        d = first[t] if t >= 0 else -1
        while d >= 0:
            length = 0
            for i in range(D.indptr[d], D.indptr[d + 1]):
                length += D.counts[i]
            for i in range(D.indptr[d], D.indptr[d + 1]):
                fit[0] += D.counts[i] * log(
                    D.share * (of_words[D.indices[i]] - D.counts[i] + T.s * D.p[D.indices[i]])
                    / (total - length + T.s) + D.common[D.indices[i]])
            alone[0] += D.alone[d]
            d = next[d]


cdef Py_ssize_t count(Documents *D, const int *first, const int *next, int k, int *words,
                      double *of_words, double sign) noexcept nogil:
    """Add the tokens of a table to `of_words`, or take them away; its words go to `words`."""
    cdef Py_ssize_t i, n = 0
    cdef int d = first[k]
    while d >= 0:
        for i in range(D.indptr[d], D.indptr[d + 1]):
            if sign > 0 and of_words[D.indices[i]] == 0 and words != NULL:
                words[n] = D.indices[i]
                n += 1
            of_words[D.indices[i]] += sign * D.counts[i]
            if sign < 0:
                of_words[D.indices[i]] = 0
        d = next[d]
    return n


cdef double togetherness(int n) noexcept nogil:
    """n log(n - 1): what it is worth to documents to be at one table."""
    return n * log(fmax(n - 1.0, 1e-3))


cdef bint unite(Documents *D, Tables *T, int *first, int *next, int k, int other,
                double *of_words) noexcept nogil:
    """Whether the documents of two tables explain each other better than apart, and than p does.

    `of_words` has the tokens of table k, and none of `other` afterwards.
    """
    cdef double mine, theirs, both, alone, none
    explained(D, T, first, next, k, -1, of_words, &mine, &none)
    count(D, first, next, other, NULL, of_words, 1)
    explained(D, T, first, next, k, other, of_words, &both, &alone)
    count(D, first, next, k, NULL, of_words, -1)
    count(D, first, next, other, NULL, of_words, -1)
    count(D, first, next, other, NULL, of_words, 1)
    explained(D, T, first, next, other, -1, of_words, &theirs, &none)
    count(D, first, next, other, NULL, of_words, -1)
    mine += togetherness(T.size[k]) + togetherness(T.size[other])
    return both + togetherness(T.size[k] + T.size[other]) > mine + theirs and both > alone


cdef void merge(Documents *D, Tables *T, const int *order, Py_ssize_t n_tables, int *first,
                int *next, int *words, double *tokens, double *of_words) noexcept nogil:
    """Make one of tables whose documents together explain each other better, small ones first.

    Each is tried with the table that explains its words best, of those that have one of them.
    """
    cdef Py_ssize_t d, i, j, n_words, n_near
    cdef int k, t, other, document
    cdef double score, best
    for k in range(T.most):
        first[k] = -1
    for d in range(D.n - 1, -1, -1):
        if T.table[d] >= 0:
            next[d] = first[T.table[d]]
            first[T.table[d]] = <int> d
    for i in range(n_tables):
        k = order[i]
        n_words = count(D, first, next, k, words, of_words, 1)
        for j in range(n_words):
            tokens[j] = of_words[words[j]]
        n_near = explain(D, T, words, tokens, n_words)
        best, other = -INFINITY, -1
        for j in range(n_near):
            t = T.near[j]
            if t != k:
                score = T.score[t] + log(<double> T.size[t])
                if score > best or (score == best and t < other):
                    best, other = score, t
        if other >= 0 and unite(D, T, first, next, k, other, of_words):
            document = first[k]
            while document >= 0:
                t = next[document]
                add(D, T, document, k, -1)
                add(D, T, document, other, 1)
                next[document] = first[other]
                first[other] = document
                document = t
            first[k] = -1
        else:
            for j in range(n_words):
                of_words[words[j]] = 0


def find_tables(const int[::1] indptr, const int[::1] indices, const double[::1] counts,
                const double[::1] alone, const double[::1] known, const double[::1] p,
                const double[::1] common, double share, double log_new, double n_documents,
                const double[::1] strengths, int most, int[::1] table):
    """Seat documents, and merge tables, once for each weight s in `strengths`.

    IN indptr (n + 1,), indices and counts of documents by words; alone and known (n,), the log
    probability of each under p and under the topics there are; p and common (n_words,); log_new,
    the log of the prior probability of a new table; n_documents, of which each table has a share;
    most, tables at once. OUT table (n,), -1 for documents that are at none.
    """
    cdef Py_ssize_t n = alone.shape[0], n_words = p.shape[0], nnz = indices.shape[0], d, i
    cdef Documents D
    cdef Tables T
    cdef double log_n = log(n_documents)
    if n == 0 or nnz == 0:
        table[:] = -1
        return
    check_documents(indptr, indices, counts.shape[0], 0, n, n_words, "find_tables")
    check_shapes(indptr[0] == 0 and indptr[n] == nnz and known.shape[0] == table.shape[0] == n
                 and common.shape[0] == n_words, "find_tables")
    most = min(most, n)
    cdef int[::1] starts = np.searchsorted(np.sort(indices), np.arange(n_words)).astype(np.int32)
    cdef int[:, ::1] of_lists = np.zeros((2, nnz), np.int32)
    cdef int[::1] n_listed = np.zeros(n_words, np.int32)
    cdef int[:, ::1] of_tables = np.zeros((4, most), np.int32)
    cdef int[:, ::1] of_merge = np.zeros((2, max(n, n_words)), np.int32)
    cdef double[::1] listed_tokens = np.zeros(nnz)
    cdef double[:, ::1] values = np.zeros((4, most))
    cdef double[:, ::1] of_words = np.zeros((2, n_words))
    cdef int[::1] order
    D = Documents(n, &indptr[0], &indices[0], &counts[0], &alone[0], &known[0], &p[0], &common[0],
                  share)
    T = Tables(most, &starts[0], &n_listed[0], &of_lists[0, 0], &of_lists[1, 0],
               &listed_tokens[0], 1.0, &values[0, 0], &of_tables[0, 0], &table[0],
               &of_tables[1, 0], &of_tables[2, 0], &values[1, 0], &values[2, 0], &values[3, 0])
    for d in range(n):
        table[d] = -1
    for i in range(strengths.shape[0]):
        T.s = strengths[i]
        with nogil:
            for d in range(n):
                if table[d] >= 0:
                    add(&D, &T, d, table[d], -1)
                enter(&D, &T, d, log_new, log_n)
        size = np.asarray(of_tables[0])
        tables = np.flatnonzero(size).astype(np.int32)
        if tables.size:
            order = tables[np.argsort(size[tables], kind="stable")]
            with nogil:
                merge(&D, &T, &order[0], order.shape[0], &of_tables[3, 0], &of_merge[0, 0],
                      &of_merge[1, 0], &of_words[0, 0], &of_words[1, 0])
