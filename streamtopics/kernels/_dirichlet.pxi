# SPDX-License-Identifier: BSD-3-Clause
"""Divergences between Dirichlet distributions, summed over the words.

This file is compiled once for each instruction set; see `kernels.select`.
"""
from streamtopics.kernels._vector cimport st_add_divergences


def add_divergences(const double[:, ::1] q, const double[:, ::1] p, const double[:, ::1] eta,
                    double[::1] from_p, double[::1] from_eta):
    """Add some words' terms of KL(Dir(q_k) || Dir(p_k)) and of KL(Dir(q_k) || Dir(eta_k)).

    IN q and p (n, K), eta (n or 1, K or 1), all positive; IN and OUT from_p and
    from_eta (K,).

    NumPy equivalent, without the part of eta that does not depend on q::

        psi = digamma(q)
        from_p += (gammaln(p) - gammaln(q) + (q - p) * psi).sum(axis=0)
        from_eta += ((q - eta) * psi - gammaln(q)).sum(axis=0)
    """
    cdef Py_ssize_t n = q.shape[0], n_topics = q.shape[1], w
    cdef Py_ssize_t row_step = eta.shape[0] > 1, topic_step = eta.shape[1] > 1
    if (p.shape[0] != n or p.shape[1] != n_topics or from_p.shape[0] != n_topics
            or from_eta.shape[0] != n_topics or eta.shape[0] not in (1, n)
            or eta.shape[1] not in (1, n_topics)):
        raise ValueError("add_divergences: the shapes of q, p, eta or the sums do not agree")
    with nogil:
        for w in range(n):
            st_add_divergences(&q[w, 0], &p[w, 0], &eta[w * row_step, 0], topic_step, n_topics,
                               &from_p[0], &from_eta[0])
