# SPDX-License-Identifier: BSD-3-Clause
"""Mean-field local inference of supervised LDA with a Gaussian response.

A document has the response y ~ N(x' zbar, variance), zbar being the mean of its tokens'
topics, and N tokens: those of word u are n_u of the weight w_u, c_u = n_u w_u in all. With
m_u = x' phi_u and M = sum_u c_u m_u (McAuliffe and Blei 2008, by word instead of by token),

    phi_uk proportional to b_uk exp(E[log theta_k] + s_u x_k - w_u x_k^2 / (2 N^2 variance)),
    s_u = (y N - (M - c_u m_u) - (n_u - 1) w_u m_u) / (N^2 variance),

in which m_u depends on s_u: a root of an increasing function, by Newton's method, and by
bisection where that leaves the interval that holds the root.
"""
from libc.math cimport M_PI, fabs, log
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from streamtopics.kernels._doors cimport check_documents, check_shapes
from streamtopics.kernels._vector cimport st_add_double, st_dot_double, st_exp_digamma_double

cdef extern from "_supervised.h" nogil:
    double ST_NEAR
    void st_tilt(const double *e, const double *x, double s, double h, double shift, Py_ssize_t n,
                 double *out) noexcept
    double st_near(const double *base, const double *b, const double *x, double s, Py_ssize_t n,
                   double *out, double *first) noexcept

cdef enum:
    ROOT_STEPS = 100

# A part of a second moment that is smaller is left out.
cdef double NEGLIGIBLE = 1e-14
# What an exponent may be below 0 by for nothing.
cdef double FAR = 300
# Tokens that a document is inferred with at least, also as a share of the prior's mass, up to a
# bound: with fewer alpha + S is alpha, and exponents, which grow as 1 / N, have no digits behind
# the point. The response decides in such a document anyway, however short it is.
cdef double LEAST_TOKENS = 1e-12, LEAST_SHARE = 1e-8, MOST_OF_SHARE = 1e-6


cdef inline double steepest(const double *x, double s, double h, double least, double most,
                            Py_ssize_t n) noexcept nogil:
    """s x - h x^2 over the topics: the maximum, or not so far above it that exp(.) vanishes."""
    cdef double at = min(max(0.5 * s / h, least), most), best = (s - h * at) * at
    cdef Py_ssize_t k
    if h * (most - least) ** 2 > FAR:
        best = (s - h * x[0]) * x[0]
        for k in range(1, n):
            best = max(best, (s - h * x[k]) * x[k])
    return best


cdef struct Tilt:
    # Of e exp(s x - h x^2 - shift), the words of a document having about the same s.
    double s, h, shift, reach
    double *base


cdef double tilted(Tilt *tilt, const double *e, const double *b, const double *x,
                   const double *squares, double a, double slope, double h, double least,
                   double most, Py_ssize_t n, double *phi, double *mean, double *at) noexcept nogil:
    """phi, up to the sum that is returned, and mean = x' phi with s = a - slope * mean in `at`."""
    cdef double s = a - slope * mean[0], total, first, g, spread
    cdef double below = a - slope * most, above = a - slope * least
    cdef Py_ssize_t step
    for step in range(ROOT_STEPS):
        if h != tilt.h or not fabs(s - tilt.s) * tilt.reach <= ST_NEAR:
            tilt.s, tilt.h, tilt.shift = s, h, steepest(x, s, h, least, most, n)
            st_tilt(e, x, s, h, tilt.shift, n, tilt.base)
        total = st_near(tilt.base, b, x, s - tilt.s, n, phi, &first)
        mean[0] = first / total
        if slope == 0:
            break
        g = s - a + slope * mean[0]
        if fabs(g) * (most - least) < 1e-10 or step == ROOT_STEPS - 1:
            break
        spread = st_dot_double(squares, phi, n) / total - mean[0] * mean[0]
        if g > 0:
            above = s
        else:
            below = s
        s -= g / (1 + slope * (spread if spread > 0 else 0))
        if not below < s < above:
            s = 0.5 * (below + above)
    at[0] = s
    return total


def infer_supervised(const int[::1] indptr, const int[::1] indices, const int[::1] n_tokens,
                     const double[::1] token_weight, const double[:, ::1] weights,
                     const double[::1] alpha, const double[::1] coefficients, double variance,
                     const double[::1] y, Py_ssize_t start, Py_ssize_t stop, double tol,
                     Py_ssize_t max_iter, double[:, ::1] gamma, double[:, ::1] topic_counts,
                     double[::1] bounds, double[:, ::1] counts, double[:, ::1] within):
    """gamma of the documents start .. stop, and their statistics.

    IN the documents in CSR form over their own words, of each entry the number of tokens
    and what one of them weighs; weights (n_words, K); alpha (K,); coefficients (K,), x above;
    y (n_documents,); tol in tokens per token of the document. IN and OUT gamma (n_documents, K),
    where to start. OUT topic_counts (n_documents, K), sum_u c_u phi_u; bounds (n_documents,),
    the bound but for -KL(q(theta) || p(theta)) - N digamma(sum_k gamma_k). Added to: counts
    (n_words, K), the expected tokens of words in topics, and within (K, K), the sums of
    (Diag(n_u w_u^2 phi_u) - n_u w_u^2 phi_u phi_u') / N^2. A document of next to no tokens has
    the gamma of a few more, and topic_counts and counts of its own.
    """
    cdef Py_ssize_t n = alpha.shape[0], d, u, k, sweep
    cdef double tokens, change, total, factor, a, slope, h, before, part, c, w, second
    cdef double least = 1e300, most = -1e300, logs, scale, spreads, shift, up
    cdef double mass = 0, prior_mean = 0, s
    cdef Py_ssize_t longest = 1
    cdef Tilt tilt
    check_documents(indptr, indices, min(n_tokens.shape[0], token_weight.shape[0]), start, stop,
                    weights.shape[0], "infer_supervised")
    check_shapes(weights.shape[1] == n and coefficients.shape[0] == n and gamma.shape[1] == n
                 and (topic_counts.shape[0] == gamma.shape[0] == bounds.shape[0] == y.shape[0]
                      >= stop) and topic_counts.shape[1] == n and counts.shape[1] == n
                 and counts.shape[0] == weights.shape[0]
                 and within.shape[0] == within.shape[1] == n, "infer_supervised")
    for d in range(start, stop):
        longest = max(longest, indptr[d + 1] - indptr[d])
    cdef double *block = <double *> malloc((7 * n + longest) * sizeof(double))
    if block == NULL:
        raise MemoryError()
    cdef double *e = block
    cdef double *phi = block + n
    cdef double *S = block + 2 * n
    cdef double *offset = block + 3 * n
    cdef double *squares = block + 4 * n
    cdef double *x = block + 5 * n
    cdef double *mean = block + 7 * n
    cdef bint last
    tilt.base = block + 6 * n
    memset(offset, 0, n * sizeof(double))
    with nogil:
        for k in range(n):
            x[k] = coefficients[k]
            squares[k] = x[k] * x[k]
            least = min(least, x[k])
            most = max(most, x[k])
            mass += alpha[k]
            prior_mean += alpha[k] * x[k]
        prior_mean /= mass
        tilt.reach = max(fabs(least), fabs(most))
        for d in range(start, stop):
            tokens = total = 0
            for u in range(indptr[d], indptr[d + 1]):
                tokens += n_tokens[u] * token_weight[u]
            bounds[d] = 0
            if tokens == 0:
                for k in range(n):
                    gamma[d, k] = alpha[k]
                    topic_counts[d, k] = 0
                continue
            up = max(1, max(min(LEAST_SHARE * mass, MOST_OF_SHARE), LEAST_TOKENS) / tokens)
            tokens *= up
            scale = 0
            for k in range(n):
                total += x[k] * (gamma[d, k] - alpha[k])
                scale += gamma[d, k] - alpha[k]
            # The start need not hold all the tokens.
            total = total * (tokens / scale) if scale > 0 else prior_mean * tokens
            for u in range(indptr[d + 1] - indptr[d]):
                mean[u] = total / tokens
            factor = 1 / (tokens * tokens * variance)
            change = tokens * tol + 1
            for sweep in range(max_iter + 1):
                last = sweep == max_iter or change < tol * tokens
                shift = st_exp_digamma_double(&gamma[d, 0], offset, e, n)
                memset(S, 0, n * sizeof(double))
                tilt.h = -1  # For other e.
                logs = spreads = 0
                for u in range(indptr[d], indptr[d + 1]):
                    w = token_weight[u] * up
                    c = n_tokens[u] * w
                    if c == 0:
                        continue
                    before = c * mean[u - indptr[d]]
                    a = (y[d] * tokens - (total - before)) * factor
                    slope = (n_tokens[u] - 1) * w * factor
                    h = 0.5 * w * factor
                    part = tilted(&tilt, e, &weights[indices[u], 0], x, squares, a, slope, h,
                                  least, most, n, phi, &mean[u - indptr[d]], &s)
                    total += c * mean[u - indptr[d]] - before
                    st_add_double(S, c / part, phi, n)
                    if last:
                        for k in range(n):
                            phi[k] /= part
                        second = st_dot_double(squares, phi, n)
                        logs += c * (log(part) + tilt.shift - s * mean[u - indptr[d]] + h * second)
                        spreads += c * w * (second - mean[u - indptr[d]] ** 2)
                        st_add_double(&counts[indices[u], 0], c / up, phi, n)
                        part = c * w / (tokens * tokens)
                        for k in range(n):
                            if part * phi[k] > NEGLIGIBLE:
                                within[k, k] += part * phi[k]
                                st_add_double(&within[k, 0], -part * phi[k], phi, n)
                if last:
                    break
                change = 0
                for k in range(n):
                    change += fabs(alpha[k] + S[k] - gamma[d, k])
                    gamma[d, k] = alpha[k] + S[k]
            for k in range(n):
                topic_counts[d, k] = S[k] / up
            bounds[d] = (logs + tokens * shift - 0.5 * log(2 * M_PI * variance) - 0.5 * (
                (y[d] - total / tokens) ** 2 / variance + spreads * factor))
        free(block)
