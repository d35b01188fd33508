# SPDX-License-Identifier: BSD-3-Clause
"""Mean-field inference of documents under several classes at once.

Each class has K topics of its own, and R topics are shared. A document under a class is
inferred by the fixed point of `variational.infer_two_blocks`, and has the same bound on
log p(words | class). Eight classes go through a document together, a class in each lane of the
vectors, so that its words are read once for eight and no sum runs across lanes. After two
sweeps every third one starts from an extrapolation.

Most classes lose from the start. At the third sweep, and at every third one after it, those are
given up whose bound, eight times what it gained since the last look and a margin are less than
the best bound; the others go on, until one is left or all have converged.

Weights of words are stored as [word][eight classes][topic][class], those of shared topics as
[word][topic].
"""
from cython cimport floating
from libc.math cimport lgamma
from libc.stdlib cimport free, malloc

from streamtopics.kernels._doors cimport check_documents, check_shapes

cdef extern from "_classes.h" nogil:
    enum:
        ST_EIGHT
    ctypedef struct st_two_blocks:
        Py_ssize_t start[3]
        const double *alpha
        double prior_mass[2]
        double share_prior[2]
        double constant
    ctypedef struct st_contest:
        Py_ssize_t n_classes
        Py_ssize_t max_sweeps
        const double *log_prior
        double margin
        double tol
    Py_ssize_t st_groups(Py_ssize_t n_classes) noexcept
    Py_ssize_t st_state_size(Py_ssize_t n_words, Py_ssize_t n_classes, Py_ssize_t n_own,
                             Py_ssize_t n) noexcept
    void st_classify_float(const st_two_blocks *blocks, const st_contest *contest,
                           const float *own, const float *shared, const int *words,
                           const float *counts, Py_ssize_t n_words, float *state,
                           const float **rows, int *lane, double *gain, double *bound) noexcept
    void st_classify_double(const st_two_blocks *blocks, const st_contest *contest,
                            const double *own, const double *shared, const int *words,
                            const double *counts, Py_ssize_t n_words, double *state,
                            const double **rows, int *lane, double *gain, double *bound) noexcept

CLASSES_TOGETHER = ST_EIGHT

# Bytes of a line of the processor's cache.
cdef enum:
    ALIGNED = 64

# Weights are at least this part of their word's largest, so that no product of two is 0.
cdef float LEAST_FLOAT = 1e-18
cdef double LEAST_DOUBLE = 1e-140


def spread(const double[:, ::1] x, const double[::1] scale, Py_ssize_t place,
           floating[:, :, :, ::1] own):
    """own[w, place // 8, k, place % 8] = x[w, k] * scale[k].

    IN x (n_words, K), scale (K,), the place of a class; OUT own (n_words, groups of eight
    classes, K, 8).
    """
    cdef Py_ssize_t n = own.shape[0], n_topics = own.shape[2], w, k
    cdef Py_ssize_t group = place // ST_EIGHT, lane = place % ST_EIGHT, row
    cdef floating *out
    if x.shape[0] != n or x.shape[1] != n_topics or scale.shape[0] != n_topics:
        raise ValueError("spread: the shapes of x, scale and own do not agree")
    if not (0 <= group < own.shape[1] and own.shape[3] == ST_EIGHT):
        raise ValueError("spread: own has no lane for this class")
    with nogil:
        row = own.shape[1] * n_topics * ST_EIGHT
        for w in range(n):
            out = &own[0, group, 0, lane] + w * row
            for k in range(n_topics):
                out[k * ST_EIGHT] = <floating> (x[w, k] * scale[k])


def scale_words(floating[:, :, :, ::1] own, floating[:, ::1] shared, Py_ssize_t n_classes,
                double[::1] factor):
    """Divide each word's weights by the largest of them, which is `factor`.

    IN and OUT own (n_words, groups, K, 8), of which lanes beyond the classes become 1, and shared
    (n_words, R); OUT factor (n_words,). No weight is left less than 1e-18 (float) or 1e-140.
    """
    cdef Py_ssize_t n = own.shape[0], row = own.shape[1] * own.shape[2] * ST_EIGHT
    cdef Py_ssize_t own_topics = own.shape[2], w, k, group, lane
    cdef floating largest, by, least
    cdef floating *first
    check_shapes(own.shape[3] == ST_EIGHT and shared.shape[0] == factor.shape[0] == n
                 and 0 <= n_classes <= own.shape[1] * ST_EIGHT, "scale_words")
    if floating is float:
        least = LEAST_FLOAT
    else:
        least = LEAST_DOUBLE
    with nogil:
        for w in range(n):
            for lane in range(n_classes, own.shape[1] * ST_EIGHT):
                group = lane // ST_EIGHT
                for k in range(own_topics):
                    own[w, group, k, lane % ST_EIGHT] = 0
            first = &own[w, 0, 0, 0]
            largest = 0
            for k in range(row):
                largest = first[k] if first[k] > largest else largest
            for k in range(shared.shape[1]):
                largest = shared[w, k] if shared[w, k] > largest else largest
            factor[w] = largest
            by = 1 / largest
            for k in range(row):
                first[k] = first[k] * by
                first[k] = first[k] if first[k] > least else least
            for k in range(shared.shape[1]):
                shared[w, k] = max(shared[w, k] * by, least)


cdef void describe(const double[::1] alpha, Py_ssize_t n_own, const double[::1] share_prior,
                   st_two_blocks *blocks) noexcept:
    """Set what all documents and classes have in common."""
    cdef Py_ssize_t k, b
    blocks.start[0], blocks.start[1], blocks.start[2] = 0, n_own, alpha.shape[0]
    blocks.alpha = &alpha[0]
    blocks.constant = lgamma(share_prior[0] + share_prior[1])
    for b in range(2):
        blocks.share_prior[b] = share_prior[b]
        blocks.prior_mass[b] = 0
        for k in range(blocks.start[b], blocks.start[b + 1]):
            blocks.prior_mass[b] += alpha[k]
            blocks.constant -= lgamma(alpha[k])
        blocks.constant += lgamma(blocks.prior_mass[b]) - lgamma(share_prior[b])


def classify(const int[::1] indptr, const int[::1] indices, const floating[::1] counts,
             const floating[:, :, :, ::1] own, const floating[:, ::1] shared,
             const double[::1] alpha, const double[::1] share_prior, const double[::1] log_prior,
             Py_ssize_t start, Py_ssize_t stop, double tol, Py_ssize_t max_iter, double margin,
             double[:, ::1] bound):
    """log p(class) and the bound on log p(words | class) of the documents start .. stop.

    IN the minibatch in CSR form over its own words, the weights of `spread` and `scale_words`,
    alpha (K + R,), share_prior (2,), log_prior (n_classes,), tol and max_iter as in
    `infer_two_blocks`, and the margin, in nats, within which of the best class a class has to be
    for its bound to matter, infinity for all; OUT bound (stop - start, n_classes). Where one
    class is left its bound is not the last one, nor is that of a class that was given up: they
    are further apart than the margin for sure, as far as that can be known from the gains.
    """
    cdef Py_ssize_t n = alpha.shape[0], n_classes = log_prior.shape[0], longest = 1, d, first
    cdef Py_ssize_t n_groups = st_groups(n_classes)
    cdef st_two_blocks blocks
    cdef st_contest contest
    check_documents(indptr, indices, counts.shape[0], start, stop, own.shape[0], "classify")
    check_shapes(n == own.shape[2] + shared.shape[1] and shared.shape[0] == own.shape[0]
                 and own.shape[1] == n_groups and own.shape[3] == ST_EIGHT
                 and share_prior.shape[0] == 2 and bound.shape[0] == stop - start
                 and bound.shape[1] == n_classes and n_classes > 0, "classify")
    describe(alpha, own.shape[2], share_prior, &blocks)
    contest.n_classes, contest.max_sweeps = n_classes, max_iter
    contest.log_prior, contest.margin, contest.tol = &log_prior[0], margin, tol
    for d in range(start, stop):
        longest = max(longest, indptr[d + 1] - indptr[d])
    cdef Py_ssize_t n_numbers = st_state_size(longest, n_classes, own.shape[2], n)
    cdef void *block = malloc(n_numbers * sizeof(floating) + ALIGNED)
    cdef floating *state = <floating *> ((<size_t> block + ALIGNED) // ALIGNED * ALIGNED)
    cdef const floating **rows = <const floating **> malloc(
        (longest + 7) * (n_groups + 1) * sizeof(void *))
    cdef int *lane = <int *> malloc(2 * n_groups * ST_EIGHT * sizeof(int))
    cdef double *gain = <double *> malloc((n_classes + n * ST_EIGHT) * sizeof(double))
    # Of a minibatch without a word, or of an empty document that is the last, nothing is read.
    cdef const int *words = &indices[0] if indices.shape[0] else NULL
    cdef const floating *numbers = &counts[0] if counts.shape[0] else NULL
    cdef const floating *of_own = &own[0, 0, 0, 0] if own.shape[0] else NULL
    cdef const floating *of_shared = &shared[0, 0] if shared.shape[0] else NULL
    try:
        if block == NULL or rows == NULL or lane == NULL or gain == NULL:
            raise MemoryError()
        with nogil:
            for d in range(start, stop):
                first = indptr[d]
                if floating is float:
                    st_classify_float(
                        &blocks, &contest, of_own, of_shared, words + first, numbers + first,
                        indptr[d + 1] - first, state, rows, lane, gain, &bound[d - start, 0])
                else:
                    st_classify_double(
                        &blocks, &contest, of_own, of_shared, words + first, numbers + first,
                        indptr[d + 1] - first, state, rows, lane, gain, &bound[d - start, 0])
    finally:
        free(block)
        free(rows)
        free(lane)
        free(gain)
