# SPDX-License-Identifier: BSD-3-Clause
"""Proportions of the sentiments and aspects of documents, given the topics' words.

A sentence m of a document comes from one topic k = (e, t), aspect t of sentiment e, with
probability psi_k = pi_e theta_et, and its words from that topic:

    f(pi, theta) = sum_m log sum_k psi_k exp(b_mk) + (gamma - 1) sum_e log pi_e
                   + (alpha - 1) sum_k log theta_k,     b_mk = sum_w n_mw log beta_wk,

up to a constant. With the responsibilities r_mk proportional to psi_k exp(b_mk) and
c_k = sum_m r_mk, the gradient in theta_k is (c_k + alpha - 1) / theta_k and that in pi_e
(sum_t c_et + gamma - 1) / pi_e. EM takes the maximum of its lower bound,

    theta_et in proportion to c_et + alpha - 1,   pi_e in proportion to sum_t c_et + gamma - 1,

Frank-Wolfe goes a part 2 / (n + 3) of the way to the vertex of the greatest gradient, with
each theta_e and then with pi. Sentences without words take no part.
"""
from cython cimport floating
from libc.math cimport NAN, exp, fabs, isnan, log
from libc.stdlib cimport free, malloc

from streamtopics.kernels._doors cimport check_documents, check_shapes


cdef Py_ssize_t likelihoods(const int[::1] indptr, const int[::1] indices,
                            const floating[::1] counts, const double[:, ::1] log_beta,
                            Py_ssize_t first, Py_ssize_t last, double[:, ::1] likelihood,
                            double *best) noexcept nogil:
    """likelihood[m, k] = exp(b_mk - best_m), best_m the largest b_mk; how many have words.

    Of the sentences first .. last - 1; best_m is NaN where there are no words.
    """
    cdef Py_ssize_t K = log_beta.shape[1], m, i, k, n_with_words = 0
    cdef double n, largest
    cdef double *row
    cdef const double *of_word
    cdef bint empty
    for m in range(first, last):
        row = &likelihood[m, 0]
        empty = True
        for k in range(K):
            row[k] = 0
        for i in range(indptr[m], indptr[m + 1]):
            n = counts[i]
            if n > 0:
                empty = False
                of_word = &log_beta[indices[i], 0]
                for k in range(K):
                    row[k] += n * of_word[k]
        if empty:
            best[m - first] = NAN
            continue
        n_with_words += 1
        largest = row[0]
        for k in range(1, K):
            largest = max(largest, row[k])
        best[m - first] = largest
        for k in range(K):
            row[k] = exp(row[k] - largest)
    return n_with_words


cdef inline double dot(const double *a, const double *b, Py_ssize_t K) noexcept nogil:
    cdef double total = 0
    cdef Py_ssize_t k
    for k in range(K):
        total += a[k] * b[k]
    return total


cdef void expected(const double[:, ::1] likelihood, const double *best, Py_ssize_t first,
                   Py_ssize_t last, const double *psi, double *c) noexcept nogil:
    """c_k = sum_m r_mk."""
    cdef Py_ssize_t K = likelihood.shape[1], m, k
    cdef double scale
    cdef const double *row
    for k in range(K):
        c[k] = 0
    for m in range(first, last):
        if not isnan(best[m - first]):
            row = &likelihood[m, 0]
            scale = 1 / dot(psi, row, K)
            for k in range(K):
                c[k] += scale * row[k]
    for k in range(K):
        c[k] *= psi[k]


cdef double finish(double[:, ::1] likelihood, const double *best, Py_ssize_t first,
                   Py_ssize_t last, const double *pi, const double *theta, Py_ssize_t E,
                   double gamma, double alpha, const double *psi) noexcept nogil:
    """Turn the likelihoods into responsibilities; returns the objective."""
    cdef Py_ssize_t K = likelihood.shape[1], m, k
    cdef double total, objective = 0
    cdef double *row
    for m in range(first, last):
        row = &likelihood[m, 0]
        if isnan(best[m - first]):
            for k in range(K):
                row[k] = psi[k]
            continue
        total = dot(psi, row, K)
        objective += best[m - first] + log(total)
        for k in range(K):
            row[k] *= psi[k] / total
    if gamma > 1:
        for k in range(E):
            objective += (gamma - 1) * log(pi[k])
    if alpha > 1:
        for k in range(K):
            objective += (alpha - 1) * log(theta[k])
    return objective


cdef void maximise(const double *c, Py_ssize_t E, Py_ssize_t T, double gamma, double alpha,
                   double *pi, double *theta) noexcept nogil:
    """The step of EM.

    alpha - 1 is taken first: beside 1 a small c would be lost, and theta_e sum to 0.
    """
    cdef Py_ssize_t e, t
    cdef double of_sentiment, total = 0
    for e in range(E):
        of_sentiment = 0
        for t in range(T):
            of_sentiment += c[e * T + t]
        pi[e] = of_sentiment + (gamma - 1)
        total += pi[e]
        of_sentiment += T * (alpha - 1)
        if of_sentiment > 0:
            for t in range(T):
                theta[e * T + t] = (c[e * T + t] + (alpha - 1)) / of_sentiment
    for e in range(E):
        pi[e] /= total


cdef void towards_vertex(double *x, const double *gradient, Py_ssize_t n,
                         double step) noexcept nogil:
    """x <- (1 - step) x + step v, v the vertex of the simplex of the greatest gradient."""
    cdef Py_ssize_t i, best = 0
    for i in range(n):
        if gradient[i] > gradient[best]:
            best = i
        x[i] *= 1 - step
    x[best] += step


cdef void climb_theta(double *c, Py_ssize_t E, Py_ssize_t T, double alpha, double step,
                      double *theta) noexcept nogil:
    """A step of Frank-Wolfe with each theta_e; c becomes the gradient."""
    cdef Py_ssize_t e, k
    for k in range(E * T):
        c[k] = (c[k] + (alpha - 1)) / theta[k]
    for e in range(E):
        towards_vertex(theta + e * T, c + e * T, T, step)


cdef void climb_pi(double *c, Py_ssize_t E, Py_ssize_t T, double gamma, double step,
                   double *pi) noexcept nogil:
    """A step of Frank-Wolfe with pi; the first entries of c become the gradient."""
    cdef Py_ssize_t e, t
    cdef double of_sentiment
    for e in range(E):
        of_sentiment = gamma - 1
        for t in range(T):
            of_sentiment += c[e * T + t]
        c[e] = of_sentiment / pi[e]
    towards_vertex(pi, c, E, step)


cdef double combine(const double *pi, const double *theta, Py_ssize_t E, Py_ssize_t T,
                    double *psi) noexcept nogil:
    """psi_et = pi_e theta_et; returns how much of it moved."""
    cdef Py_ssize_t e, t
    cdef double moved = 0, now
    for e in range(E):
        for t in range(T):
            now = pi[e] * theta[e * T + t]
            moved += fabs(now - psi[e * T + t])
            psi[e * T + t] = now
    return moved / 2


def infer_documents(const int[::1] indptr, const int[::1] indices, const floating[::1] counts,
                    const double[:, ::1] log_beta, const Py_ssize_t[::1] starts,
                    Py_ssize_t n_sentiments, double gamma, double alpha, bint frank_wolfe,
                    double tol, Py_ssize_t max_iter, double[:, ::1] psi,
                    double[:, ::1] responsibility, double[::1] objective, int[::1] n_iter):
    """Maximise f for each document, from equal proportions.

    A document is done when an iteration moves less than `tol` of psi, or after `max_iter`.

    IN indptr, indices, counts, sentences in CSR form; log_beta (n_words, K); starts
    (n_documents + 1,), the first sentence of each document; n_sentiments, of which each
    has K / n_sentiments topics, one after the other. OUT psi (n_documents, K),
    responsibility (n_sentences, K), r, for sentences without words psi; objective and n_iter
    (n_documents,).
    """
    cdef Py_ssize_t n_documents = starts.shape[0] - 1, K = log_beta.shape[1], E = n_sentiments
    cdef Py_ssize_t d, e, k, T, iteration, first, last, longest = 1
    if (psi.shape[0] != n_documents or psi.shape[1] != K or responsibility.shape[1] != K
            or responsibility.shape[0] != indptr.shape[0] - 1 or E < 1 or K % E != 0
            or objective.shape[0] != n_documents or n_iter.shape[0] != n_documents
            or starts[n_documents] != responsibility.shape[0]):
        raise ValueError("infer_documents: the shapes of the arrays do not agree")
    check_documents(indptr, indices, counts.shape[0], 0, indptr.shape[0] - 1, log_beta.shape[0],
                    "infer_documents")
    for d in range(n_documents):
        check_shapes(0 <= starts[d] <= starts[d + 1], "infer_documents")
    T = K // E
    for d in range(n_documents):
        longest = max(longest, starts[d + 1] - starts[d])
    cdef double *best = <double *> malloc((longest + 2 * K + E) * sizeof(double))
    if best == NULL:
        raise MemoryError()
    cdef double *c = best + longest
    cdef double *theta = c + K
    cdef double *pi = theta + K
    cdef double step, moved
    with nogil:
        for d in range(n_documents):
            first, last = starts[d], starts[d + 1]
            for e in range(E):
                pi[e] = 1.0 / E
            for k in range(K):
                theta[k] = 1.0 / T
                psi[d, k] = 1.0 / K
            n_iter[d] = 0
            if likelihoods(indptr, indices, counts, log_beta, first, last, responsibility, best):
                for iteration in range(max_iter):
                    n_iter[d] += 1
                    expected(responsibility, best, first, last, &psi[d, 0], c)
                    if frank_wolfe:
                        step = 2.0 / (iteration + 3)
                        climb_theta(c, E, T, alpha, step, theta)
                        moved = combine(pi, theta, E, T, &psi[d, 0])
                        expected(responsibility, best, first, last, &psi[d, 0], c)
                        climb_pi(c, E, T, gamma, step, pi)
                        moved += combine(pi, theta, E, T, &psi[d, 0])
                    else:
                        maximise(c, E, T, gamma, alpha, pi, theta)
                        moved = combine(pi, theta, E, T, &psi[d, 0])
                    if moved < tol:
                        break
            objective[d] = finish(responsibility, best, first, last, pi, theta, E, gamma, alpha,
                                  &psi[d, 0])
        free(best)
