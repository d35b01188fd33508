# SPDX-License-Identifier: BSD-3-Clause
"""Mean-field local inference of latent Dirichlet allocation.

One document with counts c_u of the words u is fitted by the fixed point

    gamma_k = alpha_k + e_k sum_u r_u b_uk,   e_k = exp(digamma(gamma_k)),
    r_u = c_u / sum_k e_k b_uk,

and the expected counts of a minibatch are n_wk = b_wk sum_d r_dw e_dk
(Blei, Ng and Jordan 2003, in the multiplicative form of Lee and Seung). The factor of a word in b,
and of a document in e, cancel; both keep every row inside the range of its type.

Rows of topics are padded to a whole number of vectors: `weights` has
`padded_width(K)` columns, of which those after K are zero.
"""
from cython cimport floating
from libc.math cimport exp, log
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from streamtopics.kernels._doors cimport check_documents, check_shapes
from streamtopics.kernels._vector cimport (
    add, dot, exp_digamma, extrapolate, st_psi_double, sweep, update,
)

cdef enum:
    LANES = 16
    PLAIN_SWEEPS = 5
    VERIFICATIONS = 3
    CARRIED_AFTER = 256
    ACTIVE_SET_BEYOND = 64

DENSE_UP_TO = ACTIVE_SET_BEYOND

# Offset of a padding column: takes its weight to the floor, whatever the others are.
cdef float UNUSED = 1e30


cdef inline Py_ssize_t padded(Py_ssize_t n) noexcept nogil:
    return (n + LANES - 1) // LANES * LANES


def padded_width(Py_ssize_t n_components):
    """Number of columns of a weights matrix for `n_components` topics."""
    return padded(n_components)


def exp_digamma_rows(const double[:, ::1] x, const double[::1] offset, floating[:, ::1] out):
    """out[i, k] proportional to exp(digamma(x[i, k]) - offset[k]) within each row.

    IN x (n, K) positive, offset (K,); OUT out (n, padded_width(K)). Each row is
    scaled so that its largest entry is 1; an entry below 2e-18 (float) or
    3e-148 (double) of it may come out as large as that.
    The relative error is below 1e-12 in float64 and below 1e-6 + 5e-7 / x in
    float32, where x is the smaller of an entry and the row's heaviest one.
    """
    cdef Py_ssize_t n = x.shape[0], n_components = x.shape[1], width = out.shape[1]
    cdef Py_ssize_t i, k
    check_shapes(offset.shape[0] == n_components and out.shape[0] == n
                 and width >= n_components, "exp_digamma_rows")
    cdef floating largest
    cdef floating *row
    cdef floating *scratch = <floating *> malloc(2 * width * sizeof(floating))
    if scratch == NULL:
        raise MemoryError()
    with nogil:
        for k in range(width):
            scratch[k] = 1
            scratch[width + k] = <floating> offset[k] if k < n_components else UNUSED
        for i in range(n):
            row = &out[i, 0]
            for k in range(n_components):
                scratch[k] = <floating> x[i, k]
            exp_digamma(scratch, scratch + width, row, width)
            largest = 0
            for k in range(n_components):
                largest = row[k] if row[k] > largest else largest
            largest = 1 / largest
            for k in range(n_components):
                row[k] = row[k] * largest
            for k in range(n_components, width):
                row[k] = 0
        free(scratch)


def prior_weights(const floating[:, ::1] weights, const double[::1] psi_alpha,
                  double[::1] out):
    """out[w] = sum_k weights[w, k] exp(psi_alpha[k] - max psi_alpha).

    What the topics outside a document's active set add to a word's denominator.
    """
    cdef Py_ssize_t n = weights.shape[0], width = weights.shape[1], w, k
    cdef double top = -1e300
    check_shapes(out.shape[0] == n and width >= psi_alpha.shape[0], "prior_weights")
    cdef floating *factor = <floating *> malloc(width * sizeof(floating))
    if factor == NULL:
        raise MemoryError()
    with nogil:
        for k in range(psi_alpha.shape[0]):
            top = max(top, psi_alpha[k])
        for k in range(width):
            factor[k] = <floating> exp(psi_alpha[k] - top) if k < psi_alpha.shape[0] else 0
        for w in range(n):
            out[w] = dot(&weights[w, 0], factor, width)
        free(factor)


cdef Py_ssize_t ascend(const floating *alpha, const floating *offset, const floating *prior_e,
                       floating top_psi, const floating *shared, const floating **rows,
                       const floating *counts, Py_ssize_t n_words, Py_ssize_t n, floating limit,
                       Py_ssize_t max_sweeps, Py_ssize_t n_plain, floating *scratch,
                       floating *gamma, floating *change) noexcept nogil:
    """Sweep over n topics until gamma moves less than `limit`; returns how often.

    After the first n_plain sweeps, gamma is extrapolated after every second one, if another
    follows: what is returned always comes of a sweep. Where `prior_e` is given, the topics
    are a part of all, and `shared` is what all of them add to the words' denominators at
    gamma = alpha.
    """
    cdef floating *e = scratch
    cdef floating *above_prior = scratch + n
    cdef floating *total = scratch + 2 * n
    cdef floating *first = scratch + 3 * n
    cdef floating *middle = scratch + 4 * n
    cdef floating scale
    cdef Py_ssize_t sweeps = 0, k
    change[0] = limit
    while sweeps < max_sweeps and not change[0] < limit:
        if sweeps >= n_plain:
            memcpy(middle if (sweeps - n_plain) % 2 else first, gamma, n * sizeof(floating))
        scale = exp_digamma(gamma, offset, e, n)
        if prior_e == NULL:
            sweep(e, <floating> 0, shared, rows, counts, n_words, n, total)
        else:
            scale = exp(top_psi - scale)
            for k in range(n):
                above_prior[k] = e[k] - scale * prior_e[k]
            sweep(above_prior, scale, shared, rows, counts, n_words, n, total)
        change[0] = update(alpha, e, total, n, gamma)
        sweeps += 1
        if (sweeps > n_plain and (sweeps - n_plain) % 2 == 0 and sweeps < max_sweeps
                and not change[0] < limit):
            extrapolate(first, middle, alpha, n, gamma)
    return sweeps


cdef Py_ssize_t select_active(const floating *gamma, const floating *alpha, Py_ssize_t n,
                              floating least, int *active) noexcept nogil:
    """The topics that hold more than `least`; returns how many."""
    cdef Py_ssize_t k, n_active = 0
    for k in range(n):
        if gamma[k] - alpha[k] > least:
            active[n_active] = k
            n_active += 1
    return n_active


cdef void take(const floating *row, const int *columns, Py_ssize_t n, Py_ssize_t n_padded,
               floating fill, floating *out) noexcept nogil:
    """out = row[columns], filled up to n_padded."""
    cdef Py_ssize_t j
    for j in range(n):
        out[j] = row[columns[j]]
    for j in range(n, n_padded):
        out[j] = fill


cdef Py_ssize_t ascend_active(const floating *alpha, const floating *offset,
                              const floating *prior_e, floating top_psi, const floating *shared,
                              const floating **rows, const floating *counts, Py_ssize_t n_words,
                              Py_ssize_t n, Py_ssize_t width, floating limit,
                              Py_ssize_t max_iter, bint plain, int *active,
                              const floating **active_rows, floating *scratch, floating *gamma,
                              floating *change) noexcept nogil:
    """`ascend` with most sweeps over the topics that matter; see `infer_documents`."""
    cdef Py_ssize_t n_plain = max_iter if plain else 0
    cdef floating *part = scratch + 5 * width
    cdef floating *own_alpha = part
    cdef floating *own_offset = part + width
    cdef floating *own_prior_e = part + 2 * width
    cdef floating *own_gamma = part + 3 * width
    cdef floating *own_rows = part + 4 * width
    cdef Py_ssize_t attempt, n_active, m, u, j, sweeps
    sweeps = ascend(alpha, offset, <floating *> NULL, top_psi, shared, rows, counts, n_words, width,
                    limit, min(<Py_ssize_t> PLAIN_SWEEPS, max_iter), PLAIN_SWEEPS, scratch, gamma,
                    change)
    for attempt in range(VERIFICATIONS):
        n_active = select_active(gamma, alpha, n, <floating> 0.1 * limit, active)
        m = padded(n_active)
        if change[0] < limit or sweeps + 1 >= max_iter or n_active == 0 or 4 * m > 3 * width:
            break
        for u in range(n_words):
            active_rows[u] = own_rows + u * m
            take(rows[u], active, n_active, m, <floating> 0, own_rows + u * m)
        take(alpha, active, n_active, m, <floating> 1, own_alpha)
        take(offset, active, n_active, m, UNUSED, own_offset)
        take(prior_e, active, n_active, m, <floating> 0, own_prior_e)
        take(gamma, active, n_active, m, <floating> 1, own_gamma)
        sweeps += ascend(own_alpha, own_offset, own_prior_e, top_psi, shared, active_rows, counts,
                         n_words, m, limit, max_iter - 1 - sweeps, n_plain, scratch, own_gamma,
                         change)
        memcpy(gamma, alpha, n * sizeof(floating))
        for j in range(n_active):
            gamma[active[j]] = own_gamma[j]
        sweeps += ascend(alpha, offset, <floating *> NULL, top_psi, shared, rows, counts, n_words,
                         width, 2 * limit, 1, n_plain, scratch, gamma, change)
        if change[0] < 2 * limit:
            return sweeps
    if change[0] < limit:
        return sweeps
    return sweeps + ascend(alpha, offset, <floating *> NULL, top_psi, shared, rows, counts,
                           n_words, width, limit, max_iter - sweeps, n_plain, scratch, gamma,
                           change)


def infer_documents(const int[::1] indptr, const int[::1] indices, const floating[::1] counts,
                    const floating[:, ::1] weights, const double[::1] alpha,
                    const double[::1] psi_alpha, const double[::1] prior_weights,
                    Py_ssize_t start, Py_ssize_t stop, double tol, Py_ssize_t max_iter,
                    floating[:, ::1] gamma, int[::1] n_iter, bint resume=False, bint plain=False):
    """gamma of the documents start .. stop, each from alpha + (its tokens) / K.

    With `resume` each starts from the gamma that is given instead. With `plain` no sweep is
    followed by an extrapolation, so that the bound never falls.

    IN the minibatch in CSR form over its own words, weights (n_words, width),
    alpha (K,), its digamma, prior_weights (n_words,) = sum_k b_wk exp(psi_alpha_k
    - max psi_alpha) (used beyond 64 topics), tol in tokens per token of the
    document; OUT gamma (stop - start, K), n_iter (stop - start,).

    A document stops when sum_k |change of gamma_k| < tol * tokens in a sweep; after five sweeps,
    every second one is followed by an extrapolation. Beyond 64 topics the topics that hold less
    than a tenth of that after a few sweeps are left out: there gamma_k = alpha_k up to that little,
    so their part of the denominator, exp(psi_alpha_k) b_uk, is a constant of the minibatch. A sweep
    over all topics verifies the result. If it moves more than twice the tolerance the document
    goes back, and in the end to sweeps over all topics.
    """
    cdef Py_ssize_t n = alpha.shape[0], width = weights.shape[1], longest = 0
    cdef Py_ssize_t d, u, k, j, n_words
    cdef floating change, limit, tokens, top_psi = -1e30
    cdef bint use_active = n > ACTIVE_SET_BEYOND
    cdef Py_ssize_t n_plain = max_iter if plain else PLAIN_SWEEPS
    check_documents(indptr, indices, counts.shape[0], start, stop, weights.shape[0],
                    "infer_documents")
    check_shapes(width >= n and psi_alpha.shape[0] == n and gamma.shape[1] == n
                 and gamma.shape[0] == n_iter.shape[0] == stop - start
                 and prior_weights.shape[0] == weights.shape[0], "infer_documents")
    for d in range(start, stop):
        longest = max(longest, indptr[d + 1] - indptr[d])
    cdef Py_ssize_t n_rows = 13 + longest * use_active
    cdef floating *block = <floating *> malloc((n_rows * width + 2 * longest) * sizeof(floating))
    cdef const floating **rows = <const floating **> malloc((2 * longest + 1) * sizeof(void *))
    cdef int *active = <int *> malloc(width * sizeof(int))
    if block == NULL or rows == NULL or active == NULL:
        free(block)
        free(rows)
        free(active)
        raise MemoryError()
    cdef floating *g = block
    cdef floating *prior = block + width
    cdef floating *prior_e = block + 2 * width
    cdef floating *offset = block + 3 * width
    cdef floating *own = block + 4 * width
    cdef floating *shared = own + longest
    cdef floating *scratch = shared + longest
    with nogil:
        for k in range(n):
            top_psi = max(top_psi, <floating> psi_alpha[k])
        for k in range(width):
            g[k] = 1
            prior[k] = <floating> alpha[k] if k < n else 1
            prior_e[k] = exp(<floating> psi_alpha[k] - top_psi) if k < n else 0
            offset[k] = 0 if k < n else UNUSED
        for d in range(start, stop):
            n_words = indptr[d + 1] - indptr[d]
            tokens = 0
            for u in range(n_words):
                j = indptr[d] + u
                own[u] = counts[j]
                rows[u] = &weights[indices[j], 0]
                shared[u] = <floating> prior_weights[indices[j]] if use_active else 0
                tokens += own[u]
            for k in range(n):
                g[k] = gamma[d - start, k] if resume else prior[k] + tokens / n
            limit = <floating> tol * tokens
            j = 0
            if tokens > 0 and use_active:
                j = ascend_active(prior, offset, prior_e, top_psi, shared, rows, own, n_words, n,
                                  width, limit, max_iter, plain, active, rows + longest, scratch,
                                  g, &change)
            elif tokens > 0:
                j = ascend(prior, offset, <floating *> NULL, top_psi, shared, rows, own, n_words,
                           width, limit, max_iter, n_plain, scratch, g, &change)
            n_iter[d - start] = <int> j
            for k in range(n):
                gamma[d - start, k] = g[k]
        free(block)
        free(rows)
        free(active)


cdef void set_offsets(const double *prior_mass, const double *held, const double *share_prior,
                      Py_ssize_t n_local, Py_ssize_t n, floating *offset) noexcept nogil:
    """offset[k] = psi(sum gamma) - psi(v), over the block of topics that k is in."""
    cdef Py_ssize_t block, k
    cdef double value[2]
    for block in range(2):
        value[block] = (st_psi_double(prior_mass[block] + held[block])
                        - st_psi_double(share_prior[block] + held[block]))
    for k in range(n):
        offset[k] = <floating> value[k >= n_local]


cdef void sum_blocks(const floating *e, const floating *total, Py_ssize_t n_local, Py_ssize_t n,
                     double *held) noexcept nogil:
    """held[b] = sum of e[k] total[k], the tokens of topic k, over the topics of block b.

    Not the sum of gamma - alpha, which in single precision is lost beside a great alpha.
    """
    cdef Py_ssize_t k
    held[0] = held[1] = 0
    for k in range(n):
        held[k >= n_local] += <double> e[k] * total[k]


def infer_two_blocks(const int[::1] indptr, const int[::1] indices, const floating[::1] counts,
                     const floating[:, ::1] weights, const double[::1] alpha,
                     Py_ssize_t n_local, const double[::1] share_prior, Py_ssize_t start,
                     Py_ssize_t stop, double tol, Py_ssize_t max_iter, floating[:, ::1] gamma,
                     double[:, ::1] held, double[::1] log_sums, int[::1] n_iter):
    """gamma of the documents start .. stop, whose topics come in two blocks.

    A document draws the share of the first `n_local` topics, v ~ Beta(share_prior),
    and proportions within each block: coordinate ascent as in `infer_documents`, with

        e_k = exp(psi(gamma_k) - psi(sum gamma) + psi(v)),

    where the sum is over the topics of k's block, and v what the block holds and its
    part of share_prior.

    IN the minibatch in CSR form over its own words, weights (n_words, width), alpha
    (K,), share_prior (2,); OUT gamma (stop - start, K), held (stop - start, 2), the
    tokens of each block, log_sums (stop - start,) = sum_u c_u log sum_k e_k b_uk at the
    last gamma, n_iter (stop - start,).
    """
    cdef Py_ssize_t n = alpha.shape[0], width = weights.shape[1], longest = 0
    cdef Py_ssize_t d, u, k, n_words
    cdef floating change, limit, tokens, scale
    cdef double prior_mass[2]
    check_documents(indptr, indices, counts.shape[0], start, stop, weights.shape[0],
                    "infer_two_blocks")
    check_shapes(width >= n and 0 <= n_local <= n and share_prior.shape[0] == 2
                 and gamma.shape[1] == n and held.shape[1] == 2
                 and (gamma.shape[0] == held.shape[0] == log_sums.shape[0] == n_iter.shape[0]
                      == stop - start), "infer_two_blocks")
    for d in range(start, stop):
        longest = max(longest, indptr[d + 1] - indptr[d])
    cdef floating *block = <floating *> malloc((5 * width + 2 * longest) * sizeof(floating))
    cdef const floating **rows = <const floating **> malloc((longest + 1) * sizeof(void *))
    if block == NULL or rows == NULL:
        free(block)
        free(rows)
        raise MemoryError()
    cdef floating *g = block
    cdef floating *prior = block + width
    cdef floating *offset = block + 2 * width
    cdef floating *e = block + 3 * width
    cdef floating *total = block + 4 * width
    cdef floating *own = block + 5 * width
    cdef floating *none = own + longest
    with nogil:
        memset(none, 0, longest * sizeof(floating))
        prior_mass[0] = prior_mass[1] = 0
        for k in range(n):
            prior_mass[k >= n_local] += alpha[k]
        for k in range(width):
            g[k] = 1
            prior[k] = <floating> alpha[k] if k < n else 1
            offset[k] = UNUSED
        for d in range(start, stop):
            n_words = indptr[d + 1] - indptr[d]
            tokens = 0
            for u in range(n_words):
                own[u] = counts[indptr[d] + u]
                rows[u] = &weights[indices[indptr[d] + u], 0]
                tokens += own[u]
            for k in range(n):
                g[k] = prior[k] + tokens / n
            held[d - start, 0] = <double> tokens * n_local / n
            held[d - start, 1] = <double> tokens * (n - n_local) / n
            limit = <floating> tol * tokens
            change = limit
            n_iter[d - start] = 0
            while tokens > 0 and n_iter[d - start] < max_iter and not change < limit:
                set_offsets(prior_mass, &held[d - start, 0], &share_prior[0], n_local, n, offset)
                exp_digamma(g, offset, e, width)
                sweep(e, <floating> 0, none, rows, own, n_words, width, total)
                change = update(prior, e, total, width, g)
                sum_blocks(e, total, n_local, n, &held[d - start, 0])
                n_iter[d - start] += 1
            set_offsets(prior_mass, &held[d - start, 0], &share_prior[0], n_local, n, offset)
            scale = exp_digamma(g, offset, e, width)
            log_sums[d - start] = 0
            for u in range(n_words):
                if own[u] > 0:
                    log_sums[d - start] += own[u] * (log(<double> dot(e, rows[u], width)) + scale)
            for k in range(n):
                gamma[d - start, k] = g[k]
        free(block)
        free(rows)


def word_statistics(const int[::1] indptr, const int[::1] documents, const floating[::1] counts,
                    const floating[:, ::1] weights, const floating[:, ::1] exp_theta,
                    Py_ssize_t start, Py_ssize_t stop, floating[:, ::1] out,
                    double[::1] log_sums=None):
    """out[w, k] = b_wk sum_d r_dw e_dk for the words start .. stop.

    IN the minibatch in CSC form, weights (n_words, width), exp_theta
    (n_documents, width); OUT out (n_words, K) and, if given, log_sums (n_words,), the
    logarithms of each word's sums over the topics. The sum runs over the documents
    in order, so the result does not depend on how the words are divided, and is
    carried on in float64 after every 256 of them.
    """
    cdef Py_ssize_t n_components = out.shape[1], width = weights.shape[1]
    cdef Py_ssize_t w, j, k
    cdef const floating *b
    cdef const floating *e
    cdef floating sum_of_topics
    cdef double logs
    cdef bint logs_wanted = log_sums is not None
    check_documents(indptr, documents, counts.shape[0], start, stop, exp_theta.shape[0],
                    "word_statistics")
    check_shapes(width >= n_components and exp_theta.shape[1] == width
                 and out.shape[0] == weights.shape[0] and stop <= out.shape[0]
                 and (not logs_wanted or log_sums.shape[0] == out.shape[0]), "word_statistics")
    cdef floating *total = <floating *> malloc(width * sizeof(floating))
    cdef double *carried = <double *> malloc(n_components * sizeof(double))
    if total == NULL or carried == NULL:
        free(total)
        free(carried)
        raise MemoryError()
    with nogil:
        for w in range(start, stop):
            b = &weights[w, 0]
            memset(total, 0, width * sizeof(floating))
            memset(carried, 0, n_components * sizeof(double))
            logs = 0
            for j in range(indptr[w], indptr[w + 1]):
                e = &exp_theta[documents[j], 0]
                sum_of_topics = dot(e, b, width)
                add(total, counts[j] / sum_of_topics, e, width)
                if logs_wanted:
                    logs += counts[j] * log(<double> sum_of_topics)
                if (j + 1 - indptr[w]) % CARRIED_AFTER == 0:
                    for k in range(n_components):
                        carried[k] += total[k]
                    memset(total, 0, width * sizeof(floating))
            for k in range(n_components):
                out[w, k] = <floating> (b[k] * (carried[k] + total[k]))
            if logs_wanted:
                log_sums[w] = logs
        free(total)
        free(carried)
