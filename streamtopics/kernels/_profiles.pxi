# SPDX-License-Identifier: BSD-3-Clause
"""Mean-field local inference of reviews with a qualitative topic beside those of a profile.

Reviews d share the proportions theta of a profile. A token of d is drawn from the topic
that the review's sign chose, with probability p_d1, or else from the topics of the profile:

    a_du = sum_k e_k b_uk,     s_du = x_d q_du / (a_du + x_d q_du),
    e_k = exp(E[log theta_k]), x_d = exp(digamma(pi_d1) - digamma(pi_d0)),

with q the weight of the word in the qualitative topic, and then

    pi_d1 = omega_1 + sum_u c_du s_du,     pi_d0 = omega_0 + sum_u c_du (1 - s_du),
    gamma_k = prior_k + e_k sum_du c_du (1 - s_du) / a_du b_uk.
"""
from cython cimport floating
from libc.math cimport exp, fabs, log
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from streamtopics.kernels._doors cimport check_documents, check_shapes
from streamtopics.kernels._vector cimport add, dot, exp_digamma, update


cdef inline double digamma(double x) noexcept nogil:
    """digamma(x) for x > 0, by the series in 1 / (x + n)^2."""
    cdef double below = 0, w
    cdef int _step
    for _step in range(10):
        if x < 10:
            below += 1 / x
            x += 1
    w = 1 / (x * x)
    return (log(x) - 0.5 / x - w * (1 / 12.0 - w * (1 / 120.0 - w * (1 / 252.0 - w * (
        1 / 240.0 - w / 132.0)))) - below)


cdef inline double share_of(double a, double q, double log_odds) noexcept nogil:
    """q exp(log_odds) / (a + q exp(log_odds))."""
    if log_odds > 0:
        return q / (a * exp(-log_odds) + q)
    q = q * exp(log_odds)
    return q / (a + q)


cdef inline double log_sum(double a, double q, double log_odds) noexcept nogil:
    """log(a + q exp(log_odds))."""
    if log_odds > 0:
        return log(a * exp(-log_odds) + q) + log_odds
    return log(a + q * exp(log_odds))


def infer_profiles(const int[::1] first, const int[::1] indptr, const int[::1] indices,
                   const floating[::1] counts, const floating[:, ::1] weights,
                   const int[::1] column, const double[:, ::1] prior, const double[::1] omega,
                   Py_ssize_t start, Py_ssize_t stop, double tol, Py_ssize_t max_iter,
                   bint learn, floating[:, ::1] gamma, floating[:, ::1] pi,
                   floating[::1] share, double[::1] log_sums):
    """gamma and pi of the profiles start .. stop and of their documents.

    IN first (n_profiles + 1,): the documents of profile g are first[g] .. first[g + 1];
    the documents in CSR form over their own words; weights (n_words, width), columns 0 .. K
    of which are the topics of the profiles and are followed by qualitative ones; column
    (n_documents,), that of the qualitative topic, or -1 for a document without;
    prior (n_profiles, K); omega (2,); tol in tokens per token of the profile; learn, whether
    gamma is found, or else is theta itself. IN and OUT gamma (n_profiles, K), where to start,
    and pi (n_documents, 2). OUT share (nnz,), the part of each entry that is qualitative, and
    log_sums (n_profiles,), sum_du c_du log(exp(E[log p_0]) a_du + exp(E[log p_1]) q_du).

    A profile is done when a sweep over its documents moves less than `tol` times its tokens.
    """
    cdef Py_ssize_t n = prior.shape[1], width = weights.shape[1], g, d, u, k, sweeps
    cdef double scale, log_odds, a, q, s, qualitative, tokens, in_all, change, sums
    cdef Py_ssize_t n_documents = column.shape[0]
    cdef bint fits = (0 <= start <= stop < first.shape[0] and n_documents < indptr.shape[0]
                      and n <= width
                      and prior.shape[0] == gamma.shape[0] == log_sums.shape[0] >= stop
                      and gamma.shape[1] == n and omega.shape[0] == 2
                      and pi.shape[0] == n_documents and pi.shape[1] == 2
                      and share.shape[0] == counts.shape[0])
    if fits:
        fits = 0 <= first[start] and first[stop] <= n_documents
        for g in range(start, stop):
            fits &= first[g] <= first[g + 1]
        for d in range(n_documents):
            fits &= -1 <= column[d] < width
    check_shapes(fits, "infer_profiles")
    check_documents(indptr, indices, counts.shape[0], first[start], first[stop], weights.shape[0],
                    "infer_profiles")
    cdef floating *block = <floating *> malloc(4 * width * sizeof(floating))
    if block == NULL:
        raise MemoryError()
    cdef floating *e = block
    cdef floating *total = block + width
    cdef floating *own = block + 2 * width
    cdef floating *offset = block + 3 * width
    cdef const floating *b
    cdef bint last
    memset(block, 0, 4 * width * sizeof(floating))
    with nogil:
        for g in range(start, stop):
            in_all = 0
            for u in range(indptr[first[g]], indptr[first[g + 1]]):
                in_all += counts[u]
            for k in range(n):
                own[k] = <floating> prior[g, k]
            change = tol * in_all + 1
            for sweeps in range(max_iter + 1):
                last = sweeps == max_iter or change < tol * in_all or (in_all == 0 and sweeps > 0)
                if learn:
                    scale = 0
                    for k in range(n):
                        scale += gamma[g, k]
                    scale = -digamma(scale)
                    scale += exp_digamma(&gamma[g, 0], offset, e, n)
                else:
                    scale = 0
                    for k in range(n):
                        e[k] = gamma[g, k]
                memset(total, 0, width * sizeof(floating))
                change = 0
                sums = 0
                for d in range(first[g], first[g + 1]):
                    log_odds = digamma(pi[d, 1]) - digamma(pi[d, 0]) - scale
                    qualitative = tokens = 0
                    for u in range(indptr[d], indptr[d + 1]):
                        b = &weights[indices[u], 0]
                        a = dot(e, b, width)
                        q = b[column[d]] if column[d] >= 0 else 0
                        s = share_of(a, q, log_odds) if column[d] >= 0 else 0
                        tokens += counts[u]
                        if last:
                            share[u] = <floating> s
                            sums += counts[u] * (
                                log_sum(a, q, log_odds) if column[d] >= 0 else log(a))
                        else:
                            qualitative += counts[u] * s
                            add(total, <floating> (counts[u] * (1 - s) / a), b, width)
                    if last:
                        sums += tokens * scale
                        if column[d] >= 0:
                            sums += tokens * (digamma(pi[d, 0]) - digamma(pi[d, 0] + pi[d, 1]))
                    elif column[d] >= 0:
                        change += fabs(omega[1] + qualitative - pi[d, 1])
                        pi[d, 1] = <floating> (omega[1] + qualitative)
                        # A tiny prior is not lost in many tokens that are then taken off.
                        pi[d, 0] = <floating> (omega[0] + (tokens - qualitative))
                if last:
                    log_sums[g] = sums
                    break
                if learn:
                    change += update(own, e, total, n, &gamma[g, 0])
        free(block)
