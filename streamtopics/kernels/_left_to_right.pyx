# SPDX-License-Identifier: BSD-3-Clause
"""Left-to-right evaluation of one document of latent Dirichlet allocation.

Particles read the tokens of a document in one random order. Before each token x_n a
particle draws some of its earlier topics again from their conditional,

    p(z_i = k | others, x_i) proportional to b_{x_i k} (alpha_k + N_k),

with N the particle's counts without z_i; then it notes

    p_n = sum_k b_{x_n k} (alpha_k + N_k) / (alpha_0 + n - 1)

and draws z_n in proportion to the terms of that sum (Wallach et al. 2009; Buntine
2009). Where the last topic has a proportion of its own, p ~ Beta(omega_1, omega_0), and
the others share the rest, theta ~ Dirichlet(alpha), the terms of these are instead

    b_{x_n k} (alpha_k + N_k) (omega_0 + M) / (alpha_0 + M),   M = sum_{k < K} N_k,

and that of the last b (omega_1 + N_K), all over omega_0 + omega_1 + n - 1.
"""
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from streamtopics.kernels._random cimport mix, uint64, uniform


cdef inline double predictive(const double *b, const double *alpha, const double *counts,
                              Py_ssize_t n_components, double *cumulative) noexcept nogil:
    """Running sums of b (alpha + counts); returns the last."""
    cdef double total = 0
    cdef Py_ssize_t k
    for k in range(n_components):
        total += b[k] * (alpha[k] + counts[k])
        cumulative[k] = total
    return total


cdef inline double split_predictive(const double *b, const double *alpha, const double *omega,
                                    const double *counts, Py_ssize_t n_components,
                                    double alpha_0, double n_tokens,
                                    double *cumulative) noexcept nogil:
    """The same where the last topic has a proportion of its own; alpha is that of the others."""
    cdef Py_ssize_t last = n_components - 1, k
    cdef double m = n_tokens - counts[last], scale = (omega[0] + m) / (alpha_0 + m)
    cdef double total = 0
    for k in range(last):
        total += scale * b[k] * (alpha[k] + counts[k])
        cumulative[k] = total
    total += b[last] * (omega[1] + counts[last])
    cumulative[last] = total
    return total


cdef inline int draw(const double *cumulative, Py_ssize_t n_components, double u) noexcept nogil:
    """The first topic whose running sum exceeds u times the last."""
    cdef Py_ssize_t k
    cdef double threshold = u * cumulative[n_components - 1]
    for k in range(n_components - 1):
        if cumulative[k] > threshold:
            return <int> k
    return <int> (n_components - 1)


def token_probabilities(const double[:, ::1] weights, int[::1] tokens, const double[::1] alpha,
                        Py_ssize_t n_resampled, uint64 seed, double[:, ::1] out,
                        const double[::1] omega=None):
    """out[r, n] = p_n of particle r, for the tokens in an order drawn from `seed`.

    IN weights (n_words, K), the words' probabilities in the topics; alpha (K,);
    n_resampled, how many earlier topics are drawn again before each token, with
    replacement, or -1 for all of them in order. IN and OUT tokens (n_tokens,), rows of
    `weights`, left in the order used. OUT out (n_particles, n_tokens). With omega (2,) the
    last column of `weights` has a proportion of its own, and alpha is (K - 1,).
    """
    cdef Py_ssize_t n_components = weights.shape[1], n_tokens = tokens.shape[0]
    cdef Py_ssize_t r, n, i, j, k, n_redrawn
    cdef int held
    cdef double alpha_0 = 0, total, prior_mass
    cdef bint split = omega is not None
    cdef uint64 state = mix(seed)
    cdef int *z = <int *> malloc((n_tokens + 1) * sizeof(int))
    cdef double *counts = <double *> malloc(2 * n_components * sizeof(double))
    if z == NULL or counts == NULL:
        free(z)
        free(counts)
        raise MemoryError()
    cdef double *cumulative = counts + n_components
    with nogil:
        for k in range(alpha.shape[0]):
            alpha_0 += alpha[k]
        prior_mass = omega[0] + omega[1] if split else alpha_0
        for n in range(n_tokens - 1, 0, -1):
            j = <Py_ssize_t> (uniform(&state) * (n + 1))
            held = tokens[n]
            tokens[n] = tokens[j]
            tokens[j] = held
        for r in range(out.shape[0]):
            state = mix(seed + <uint64> r + 1)
            memset(counts, 0, n_components * sizeof(double))
            for n in range(n_tokens):
                n_redrawn = n if n_resampled < 0 else (n_resampled if n > 0 else 0)
                for j in range(n_redrawn):
                    i = j if n_resampled < 0 else <Py_ssize_t> (uniform(&state) * n)
                    counts[z[i]] -= 1
                    if split:
                        split_predictive(&weights[tokens[i], 0], &alpha[0], &omega[0], counts,
                                         n_components, alpha_0, n - 1, cumulative)
                    else:
                        predictive(&weights[tokens[i], 0], &alpha[0], counts, n_components,
                                   cumulative)
                    z[i] = draw(cumulative, n_components, uniform(&state))
                    counts[z[i]] += 1
                if split:
                    total = split_predictive(&weights[tokens[n], 0], &alpha[0], &omega[0], counts,
                                             n_components, alpha_0, n, cumulative)
                else:
                    total = predictive(&weights[tokens[n], 0], &alpha[0], counts, n_components,
                                       cumulative)
                out[r, n] = total / (prior_mass + n)
                z[n] = draw(cumulative, n_components, uniform(&state))
                counts[z[n]] += 1
        free(z)
        free(counts)
