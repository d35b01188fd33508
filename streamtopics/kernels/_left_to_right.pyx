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

from streamtopics.kernels._doors cimport check_shapes
from streamtopics.kernels._random cimport mix, uint64, uniform


cdef enum:
    # Particles that go through a document side by side: a sum over the topics waits for
    # itself, but not for the sums of others.
    TOGETHER = 8
    # Of more running sums than two of these, only each such one is looked at first.
    STRIDE = 8


cdef inline void predictive(const double **b, const double *alpha, const double *counts,
                            Py_ssize_t n_components, double *cumulative,
                            double *total) noexcept nogil:
    """Running sums of b (alpha + counts) of each particle, whose last is `total`."""
    cdef Py_ssize_t k, p
    cdef double sums[TOGETHER]
    for p in range(TOGETHER):
        sums[p] = 0
    for k in range(n_components):
        for p in range(TOGETHER):
            sums[p] += b[p][k] * (alpha[k] + counts[k * TOGETHER + p])
            cumulative[k * TOGETHER + p] = sums[p]
    for p in range(TOGETHER):
        total[p] = sums[p]


cdef inline void split_predictive(const double **b, const double *alpha, const double *omega,
                                  const double *counts, Py_ssize_t n_components,
                                  double alpha_0, double n_tokens, double *cumulative,
                                  double *total) noexcept nogil:
    """The same where the last topic has a proportion of its own; alpha is that of the others."""
    cdef Py_ssize_t last = n_components - 1, k, p
    cdef double m
    cdef double scale[TOGETHER]
    for p in range(TOGETHER):
        m = n_tokens - counts[last * TOGETHER + p]
        scale[p] = (omega[0] + m) / (alpha_0 + m)
        total[p] = 0
    for k in range(last):
        for p in range(TOGETHER):
            total[p] += scale[p] * b[p][k] * (alpha[k] + counts[k * TOGETHER + p])
            cumulative[k * TOGETHER + p] = total[p]
    for p in range(TOGETHER):
        total[p] += b[p][last] * (omega[1] + counts[last * TOGETHER + p])
        cumulative[last * TOGETHER + p] = total[p]


cdef inline void draw(const double *cumulative, Py_ssize_t n_components, uint64 *state,
                      int *topic) noexcept nogil:
    """The first topic whose running sum exceeds a random part of the last, of each particle."""
    cdef Py_ssize_t k, p, stride = STRIDE if n_components > 2 * STRIDE else 1
    cdef double threshold[TOGETHER]
    cdef long long below[TOGETHER]
    for p in range(TOGETHER):
        threshold[p] = uniform(state + p) * cumulative[(n_components - 1) * TOGETHER + p]
        below[p] = 0
    # The sums do not fall, so those that do not exceed it come first: whole strides, and what is
    # left of the next.
    k = stride - 1
    while k < n_components - 1:
        for p in range(TOGETHER):
            below[p] += stride * (not cumulative[k * TOGETHER + p] > threshold[p])
        k += stride
    for p in range(TOGETHER):
        k = <Py_ssize_t> below[p]
        while k < n_components - 1 and not cumulative[k * TOGETHER + p] > threshold[p]:
            k += 1
        topic[p] = <int> k


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
    cdef Py_ssize_t n_particles = out.shape[0], group, r, n, i, j, k, p, n_redrawn
    cdef Py_ssize_t place[TOGETHER]
    cdef int held
    cdef int topic[TOGETHER]
    cdef double alpha_0 = 0, prior_mass
    cdef double total[TOGETHER]
    cdef bint split = omega is not None, fits
    cdef uint64 order = mix(seed)
    cdef uint64 state[TOGETHER]
    cdef const double *b[TOGETHER]
    fits = (out.shape[1] == n_tokens and n_components >= 1 and n_resampled >= -1
            and alpha.shape[0] == n_components - split and (not split or omega.shape[0] == 2))
    for n in range(n_tokens):
        fits &= 0 <= tokens[n] < weights.shape[0]
    check_shapes(fits, "token_probabilities")
    cdef int *z = <int *> malloc((n_tokens + 1) * TOGETHER * sizeof(int))
    cdef double *counts = <double *> malloc(2 * n_components * TOGETHER * sizeof(double))
    if z == NULL or counts == NULL:
        free(z)
        free(counts)
        raise MemoryError()
    cdef double *cumulative = counts + n_components * TOGETHER
    with nogil:
        for k in range(alpha.shape[0]):
            alpha_0 += alpha[k]
        prior_mass = omega[0] + omega[1] if split else alpha_0
        for n in range(n_tokens - 1, 0, -1):
            j = <Py_ssize_t> (uniform(&order) * (n + 1))
            held = tokens[n]
            tokens[n] = tokens[j]
            tokens[j] = held
        # Beyond the last particle there may be some that nobody asks for.
        for group in range((n_particles + TOGETHER - 1) // TOGETHER):
            r = group * TOGETHER
            for p in range(TOGETHER):
                state[p] = mix(seed + <uint64> (r + p) + 1)
            memset(counts, 0, n_components * TOGETHER * sizeof(double))
            for n in range(n_tokens):
                n_redrawn = n if n_resampled < 0 else (n_resampled if n > 0 else 0)
                for j in range(n_redrawn + 1):
                    for p in range(TOGETHER):
                        i = n
                        if j < n_redrawn:
                            i = j if n_resampled < 0 else <Py_ssize_t> (uniform(state + p) * n)
                            counts[z[i * TOGETHER + p] * TOGETHER + p] -= 1
                        place[p], b[p] = i, &weights[tokens[i], 0]
                    if split:
                        split_predictive(b, &alpha[0], &omega[0], counts, n_components, alpha_0,
                                         n - (j < n_redrawn), cumulative, total)
                    else:
                        predictive(b, &alpha[0], counts, n_components, cumulative, total)
                    draw(cumulative, n_components, state, topic)
                    for p in range(TOGETHER):
                        z[place[p] * TOGETHER + p] = topic[p]
                        counts[topic[p] * TOGETHER + p] += 1
                for p in range(min(<Py_ssize_t> TOGETHER, n_particles - r)):
                    out[r + p, n] = total[p] / (prior_mass + n)
        free(z)
        free(counts)
