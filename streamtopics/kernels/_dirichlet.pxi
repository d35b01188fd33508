# SPDX-License-Identifier: BSD-3-Clause
"""Divergences between Dirichlet distributions, summed over the words."""
from cython cimport floating
from libc.stdlib cimport free, malloc

from streamtopics.kernels._doors cimport check_places
from streamtopics.kernels._vector cimport st_add_divergences


def add_divergences(const double[:, ::1] q, const double[:, ::1] p, const double[:, ::1] eta,
                    double[::1] from_p, double[::1] from_eta):
    """Add some words' terms of KL(Dir(q_k) || Dir(p_k)) and of KL(Dir(q_k) || Dir(eta_k)).

    IN q and p (n, K), eta (n or 1, K or 1), all positive; IN and OUT from_p and from_eta (K,).

    NumPy equivalent, without the parts that do not depend on q::

        psi = digamma(q)
        from_p += ((q - p) * psi - gammaln(q)).sum(axis=0)
        from_eta += ((q - eta) * psi - gammaln(q)).sum(axis=0)

    Where q = p the first adds -gammaln(p), which is what it lacks.
    """
    cdef Py_ssize_t n = q.shape[0], n_topics = q.shape[1], w
    cdef Py_ssize_t row_step = eta.shape[0] > 1, topic_step = eta.shape[1] > 1
    cdef double one = 1.0
    if (p.shape[0] != n or p.shape[1] != n_topics or from_p.shape[0] != n_topics
            or from_eta.shape[0] != n_topics or eta.shape[0] not in (1, n)
            or eta.shape[1] not in (1, n_topics)):
        raise ValueError("add_divergences: the shapes of q, p, eta or the sums do not agree")
    with nogil:
        for w in range(n):
            st_add_divergences(&q[w, 0], &p[w, 0], &eta[w * row_step, 0], topic_step, &one, 0,
                               n_topics, &from_p[0], &from_eta[0])


def add_divergences_of_rows(const double[:, ::1] S, const int[::1] rows,
                            const floating[:, ::1] counts, const double[:, ::1] coefficients,
                            double[::1] from_p, double[::1] from_eta,
                            const double[:, ::1] weights=None):
    """`add_divergences` of p = p_0 + p_1 S and q = q_0 + q_1 S + gain counts, in some rows of S.

    IN S (n_rows, K), rows (n,), counts (n, K), coefficients (6, K): p_0, p_1, q_0, q_1, gain and
    eta, weights (n, K) or None for ones; IN and OUT from_p and from_eta (K,).
    """
    cdef Py_ssize_t n = rows.shape[0], n_topics = S.shape[1], w, k
    cdef bint weighted = weights is not None
    cdef double one = 1.0
    cdef const double *weight = &one
    cdef const double *row
    if (counts.shape[0] != n or counts.shape[1] != n_topics or coefficients.shape[0] != 6
            or coefficients.shape[1] != n_topics or from_p.shape[0] != n_topics
            or from_eta.shape[0] != n_topics
            or weighted and (weights.shape[0] != n or weights.shape[1] != n_topics)):
        raise ValueError("add_divergences_of_rows: the shapes of the arguments do not agree")
    check_places(rows, S.shape[0], "row", "store")
    cdef double *p = <double *> malloc(2 * n_topics * sizeof(double))
    if p == NULL:
        raise MemoryError()
    cdef double *q = p + n_topics
    cdef const double *c = &coefficients[0, 0]
    with nogil:
        for w in range(n):
            row = &S[rows[w], 0]
            for k in range(n_topics):
                p[k] = c[k] + c[n_topics + k] * row[k]
                q[k] = (c[2 * n_topics + k] + c[3 * n_topics + k] * row[k]
                        + c[4 * n_topics + k] * counts[w, k])
            if weighted:
                weight = &weights[w, 0]
            st_add_divergences(q, p, c + 5 * n_topics, 1, weight, weighted, n_topics, &from_p[0],
                               &from_eta[0])
    free(p)
