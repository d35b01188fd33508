# SPDX-License-Identifier: BSD-3-Clause
"""Collapsed Gibbs sampling in the documents of latent Dirichlet allocation.

The conditionals are in _gibbs.h (Griffiths and Steyvers 2004, with the topics given). The expected
counts are averages of these probabilities over some sweeps t,

    n_wk = sum_n weight_n mean_t b_wk (alpha_k + N_k^t) / Z_n^t,

of which the part with alpha is one number for each word of a document, and the
other is zero but for the topics that the document holds.
"""
import numpy as np

from cython cimport floating, view
from libc.stdint cimport int64_t, intptr_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from streamtopics.kernels._doors cimport check_documents, check_shapes
from streamtopics.kernels._lists cimport (
    ST_GROUP, st_add_total, st_totals, st_write_totals, st_writer,
)

cdef enum:
    FEWER = 8  # times fewer values than topics, below which only their topics are touched

cdef extern from "_gibbs.h" nogil:
    enum:
        ST_LANES
        ST_PART
        ST_ALL_COLUMNS
    ctypedef struct st_list:
        char *data
        size_t n_bytes
    ctypedef struct st_lists:
        const int64_t *places
        const int *topics
        const double *counts
        const float *prior
        const float *scale
        const float *base
        const float *alpha
        const float *weight
        const float *prior_sums
        Py_ssize_t n_topics
        const int64_t *group
        uint64_t *index
        float *sums
        float *mass
    ctypedef struct st_job:
        const int *indptr
        const int *words
        const int *first_token
        const double *token_weight
        const uint64_t *seeds
        const float *weights
        const float *prior
        const float *mass
        const double *alpha
        const st_lists *lists
        double alpha_total
        Py_ssize_t n_topics
        Py_ssize_t width
        Py_ssize_t n_parts
        Py_ssize_t n_sweeps
        Py_ssize_t n_averaged
        int continued
        int averages
        int statistics
        int *z
        float *inverse
        int64_t *first_column
        int64_t *first_value
        st_list columns
        st_list values
        double *mean_counts
        double *log_theta
        double *held
        double *log_total
    void st_prior_mass(const float *row, const float *prior, Py_ssize_t width,
                       float *out) noexcept
    enum:
        ST_INDEXED
    int st_prepare_list(st_lists *lists, Py_ssize_t word) noexcept
    void st_add_mass(const st_lists *lists, Py_ssize_t word, double factor, double least,
                     uint64_t *state, st_totals *totals) noexcept
    double st_uniform_double(uint64_t *state) noexcept
    void *st_extend(st_list *list, size_t n_bytes) noexcept
    int st_gibbs_sample(st_job *job, Py_ssize_t n_documents) noexcept


def n_parts(Py_ssize_t width):
    """Number of columns of `prior_mass` for `width` columns of weights."""
    return (width + ST_PART - 1) // ST_PART


def prior_mass(const float[:, ::1] weights, const float[::1] prior, Py_ssize_t start,
               Py_ssize_t stop, float[:, ::1] out):
    """out[w, p] = sum of b_wk alpha_k over the first 32 (p + 1) topics, for start <= w < stop.

    IN weights (n_words, width), prior (width,), alpha and zeros; OUT out (n_words,
    n_parts(width)).
    """
    cdef Py_ssize_t w
    check_shapes(prior.shape[0] == weights.shape[1] and out.shape[0] == weights.shape[0]
                 and out.shape[1] == n_parts(prior.shape[0])
                 and 0 <= start <= stop <= out.shape[0], "prior_mass")
    with nogil:
        for w in range(start, stop):
            st_prior_mass(&weights[w, 0], &prior[0], weights.shape[1], &out[w, 0])


cdef class Lists:
    """Topics of words in lists, with what draws from them need: see `_gibbs_lists.h`.

    IN places (n_words, 3), where each word's list begins in topics and counts, and its length;
    prior (n_words,); of_topics (5, K): scale, base, alpha, scale alpha, and running sums of base
    alpha. Topics ascend in each list.
    """
    cdef st_lists lists
    cdef object kept
    cdef readonly Py_ssize_t n_words

    def __cinit__(self, const int64_t[:, ::1] places, const int[::1] topics,
                  const double[::1] counts, const float[::1] prior,
                  const float[:, ::1] of_topics):
        cdef st_lists *own = &self.lists
        cdef Py_ssize_t n = prior.shape[0], n_topics = of_topics.shape[1], w
        cdef bint fits = (places.shape[0] == n and places.shape[1] == 3
                          and n_topics > ST_ALL_COLUMNS and topics.shape[0] == counts.shape[0]
                          and of_topics.shape[0] == 5)
        for w in range(n if fits else 0):
            fits &= places[w, 0] >= 0 and 0 <= places[w, 1] <= topics.shape[0] - places[w, 0]
        check_shapes(fits, "Lists")
        self.n_words, own.n_topics = n, n_topics
        is_long = np.asarray(places)[:, 1] > ST_INDEXED
        cdef Py_ssize_t n_groups = (n_topics + ST_GROUP - 1) // ST_GROUP
        cdef int64_t[::1] group = n_groups * (np.cumsum(is_long, dtype=np.int64) - is_long)
        cdef uint64_t[::1] index = np.empty(2 * n_groups * (n + 1), np.uint64)
        cdef float[::1] sums = np.empty(topics.shape[0], np.float32)
        cdef float[::1] mass = np.empty(n, np.float32)
        self.kept = (places, topics, counts, prior, of_topics, group, index, sums, mass)
        own.scale, own.base, own.alpha = &of_topics[0, 0], &of_topics[1, 0], &of_topics[2, 0]
        own.weight, own.prior_sums, own.index = &of_topics[3, 0], &of_topics[4, 0], &index[0]
        if n > 0:
            own.places, own.prior, own.group = &places[0, 0], &prior[0], &group[0]
            own.mass = &mass[0]
        if topics.shape[0] > 0:
            own.topics, own.counts, own.sums = &topics[0], &counts[0], &sums[0]

    def prepare(self, Py_ssize_t start, Py_ssize_t stop):
        """Prepare the lists of the words start .. stop; all have to be before they are used."""
        cdef Py_ssize_t w
        cdef bint fits = 0 <= start <= stop <= self.n_words
        with nogil:
            for w in range(start, stop if fits else start):
                fits = fits and st_prepare_list(&self.lists, w) == 0
        check_shapes(fits, "Lists.prepare")


cdef object taken(st_list *values, type dtype):
    """The values of a list as an array, to which its memory belongs now."""
    cdef view.array memory
    if values.n_bytes == 0:
        return np.empty(0, dtype)
    memory = <char[:values.n_bytes]> values.data
    memory.callback_free_data = free
    memset(values, 0, sizeof(st_list))
    return np.frombuffer(memoryview(memory), dtype)


cdef double *pointer(double[::1] values) noexcept:
    return NULL if values is None or values.shape[0] == 0 else &values[0]


def sample_documents(const int[::1] indptr, const int[::1] words, const int[::1] first_token,
                     const double[::1] token_weight, const uint64_t[::1] seeds,
                     const float[:, ::1] weights, const float[::1] prior,
                     const float[:, ::1] mass, const double[::1] alpha, Py_ssize_t n_sweeps,
                     Py_ssize_t n_averaged, bint continued, bint statistics, int[::1] z,
                     float[::1] inverse, int64_t[::1] first_column, int64_t[::1] first_value,
                     double[::1] mean_counts, double[::1] log_theta, Lists lists=None):
    """Sweep over the tokens of some documents; returns the arrays columns and values.

    IN documents in CSR form over the rows of `weights`, first_token (nnz + 1,) the
    place of each entry's first token, token_weight (nnz,), seeds (n_documents,),
    weights (n_words, width), prior (width,), mass = prior_mass(weights, prior), alpha
    (K,), `continued`, whether z is where the chains start, `statistics`, whether
    values are wanted. Prepared `lists` stand for weights, prior and mass. IN and OUT z (n_tokens,).

    OUT, of the statistics, averages over the last n_averaged sweeps: inverse (nnz,) is
    weight / Z summed over an entry's tokens. At columns[first_column[d]] is the number
    m of columns of document d and, after it, their topics, one of which may come several
    times: its columns are to be summed. The m values for its u-th entry, weight b N / Z
    summed over the tokens, start at first_value[d] + u m. Up to
    32 topics all of them are columns, in order, the values have alpha + N in place of
    N, and inverse is 0.

    OUT, if not None, averages over the same sweeps, or else of the last: mean_counts
    (n_documents * K,), zeros before, the statistics summed over a document's entries, or
    weights in the topics; log_theta (2 K + 1,), zeros before, sums over documents and
    sweeps of digamma(alpha_k + N_k) where N_k > 0, how many they are, and sum of
    digamma(alpha_0 + N).
    """
    cdef st_job job
    cdef int failed = 0
    cdef bint fits
    cdef Py_ssize_t n_documents = indptr.shape[0] - 1, n_topics = alpha.shape[0]
    if n_sweeps < 1 or not 0 <= n_averaged <= n_sweeps:
        raise ValueError("0 <= n_averaged <= n_sweeps and 1 <= n_sweeps are needed")
    cdef Py_ssize_t nnz = words.shape[0], i
    cdef Py_ssize_t width = (n_topics + ST_LANES - 1) // ST_LANES * ST_LANES
    if lists is None:
        width = weights.shape[1]
        fits = (n_topics <= width == prior.shape[0] and width % ST_LANES == 0
                and mass.shape[0] == weights.shape[0] and mass.shape[1] == n_parts(width))
    else:
        fits = lists.lists.n_topics == n_topics
    check_documents(indptr, words, token_weight.shape[0], 0, n_documents,
                    weights.shape[0] if lists is None else lists.n_words, "sample_documents")
    fits = (fits and first_token.shape[0] == nnz + 1 and n_documents <= seeds.shape[0]
            and first_token[0] == 0 and first_token[nnz] == z.shape[0]
            and inverse.shape[0] == nnz and indptr[0] == 0 and indptr[n_documents] == nnz
            and first_column.shape[0] == first_value.shape[0] == n_documents
            and (mean_counts is None or mean_counts.shape[0] in (0, n_documents * n_topics))
            and (log_theta is None or log_theta.shape[0] in (0, 2 * n_topics + 1)))
    if fits:
        for i in range(nnz):
            fits &= first_token[i] <= first_token[i + 1]
        for i in range(z.shape[0] if continued else 0):
            fits &= 0 <= z[i] < n_topics
    check_shapes(fits and (n_topics > 0 or z.shape[0] == 0), "sample_documents")
    memset(&job, 0, sizeof(st_job))
    if z.shape[0] > 0:
        job.indptr = &indptr[0]
        job.words = &words[0]
        job.first_token = &first_token[0]
        job.token_weight = &token_weight[0]
        job.seeds = &seeds[0]
        if lists is None:
            job.weights = &weights[0, 0]
            job.prior = &prior[0]
            job.mass = &mass[0, 0]
            job.n_parts = mass.shape[1]
        else:
            job.lists = &lists.lists
        job.alpha = &alpha[0]
        for i in range(n_topics):
            job.alpha_total += alpha[i]
        job.n_topics = n_topics
        job.width = width
        job.n_sweeps = n_sweeps
        job.n_averaged = n_averaged
        job.continued = continued
        job.statistics = statistics and n_averaged > 0
        job.z = &z[0]
        job.inverse = &inverse[0]
        job.first_column = &first_column[0]
        job.first_value = &first_value[0]
        job.mean_counts = pointer(mean_counts)
        job.averages = n_averaged > 0 and (statistics or job.mean_counts != NULL)
        job.log_theta = pointer(log_theta)
        if job.log_theta != NULL:
            job.held = job.log_theta + n_topics
            job.log_total = job.log_theta + 2 * n_topics
        with nogil:
            failed = st_gibbs_sample(&job, n_documents)
    try:
        if failed:
            raise MemoryError()
        return taken(&job.columns, np.int32), taken(&job.values, np.float32)
    finally:
        free(job.columns.data)
        free(job.values.data)


cdef inline void take_values(int64_t columns, double *total, floating *row) noexcept nogil:
    """Add the totals of a document's columns to the row, and make them 0."""
    cdef Py_ssize_t i, k
    cdef const int *column = <const int *> <intptr_t> columns
    if columns == 0:
        return
    for i in range(column[0]):
        k = column[i + 1]
        row[k] += <floating> total[k]
        total[k] = 0


def word_statistics(const int[::1] indptr, const int[::1] documents, const int[::1] entries,
                    const int[::1] first_entry, const float[:, ::1] weights,
                    const float[::1] prior, const float[::1] inverse,
                    const int64_t[::1] columns, const int64_t[::1] values, Py_ssize_t start,
                    Py_ssize_t stop, floating[:, ::1] out, Lists lists=None,
                    const uint64_t[::1] seeds=None, double drawn=0, double least=0,
                    int[::1] lengths=None):
    """out[w, k] = b_wk alpha_k sum_d inverse_dw + sum_d values_dwk for the words start .. stop.

    IN the minibatch in CSC form, with the CSR place of each of its entries; first_entry
    (n_documents + 1,), its CSR indptr; of each document the addresses of its columns
    and of its values, 0 where it has none, and the rest as in `sample_documents`, over
    all documents. OUT out (n_words, K).
    The sums run over the documents in order, in float64; where a word has far fewer values
    than there are topics, only their topics are touched.

    With `lists` in place of weights, prior and out, it returns the topics and the values of the
    words. A value of less than `least` becomes so much or 0 at random, with the value as the mean;
    the part with alpha is added as draws of `drawn` before. If these are 0 nothing is rounded.
    IN seeds (n_words,); OUT lengths (n_words,), those of the lists.
    """
    cdef bint listed = lists is not None, enough = True, fits
    cdef Py_ssize_t n_topics = lists.lists.n_topics if listed else out.shape[1]
    cdef Py_ssize_t w, j, k, i, u, n, n_values
    cdef double total_inverse
    cdef float factor
    cdef const int *column
    cdef const float *value
    cdef uint64_t state
    cdef st_totals totals
    cdef st_writer to
    cdef st_list of_topics, of_values
    check_documents(indptr, documents, entries.shape[0], start, stop, columns.shape[0],
                    "word_statistics")
    check_documents(indptr, entries, entries.shape[0], start, stop, inverse.shape[0],
                    "word_statistics")
    if listed:
        fits = stop <= lists.n_words == lengths.shape[0] == seeds.shape[0]
    else:
        fits = (stop <= out.shape[0] and out.shape[0] == weights.shape[0]
                and n_topics <= weights.shape[1] == prior.shape[0])
    check_shapes(fits and values.shape[0] == columns.shape[0] == first_entry.shape[0] - 1,
                 "word_statistics")
    memset(&of_topics, 0, sizeof(st_list))
    memset(&of_values, 0, sizeof(st_list))
    memset(&to, 0, sizeof(st_writer))
    to.least = to.most = least
    totals.n_groups = (n_topics + ST_GROUP - 1) // ST_GROUP
    cdef double[::1] sums = np.zeros(n_topics + 1)
    cdef uint64_t[::1] bits = np.zeros(totals.n_groups + 1, np.uint64)
    totals.sums, totals.bits = &sums[0], &bits[0]
    cdef double *total = totals.sums
    with nogil:
        for w in range(start, stop):
            total_inverse = 0
            n_values = 0
            for j in range(indptr[w], indptr[w + 1]):
                if columns[documents[j]] == 0:
                    continue
                column = <const int *> <intptr_t> columns[documents[j]]
                n = column[0]
                n_values += n
                u = entries[j] - first_entry[documents[j]]
                value = <const float *> <intptr_t> values[documents[j]] + u * n
                total_inverse += inverse[entries[j]]
                if listed:
                    for i in range(n):
                        st_add_total(&totals, column[i + 1], value[i])
                elif n_topics <= ST_ALL_COLUMNS:
                    for i in range(n_topics):
                        total[i] += value[i]
                else:
                    for i in range(n):
                        total[column[i + 1]] += value[i]
            if listed:
                to.topics = <int *> st_extend(&of_topics, n_topics * sizeof(int))
                to.counts = <double *> st_extend(&of_values, n_topics * sizeof(double))
                enough = to.topics != NULL and to.counts != NULL
                if not enough:
                    break
                state = seeds[w]
                st_add_mass(&lists.lists, w, total_inverse, drawn, &state, &totals)
                to.place, to.n = st_uniform_double(&state) * least, 0
                st_write_totals(&to, &totals, NULL, NULL, 0)
                lengths[w] = <int> to.n
                of_topics.n_bytes -= (n_topics - to.n) * sizeof(int)
                of_values.n_bytes -= (n_topics - to.n) * sizeof(double)
            elif FEWER * n_values < n_topics:
                factor = <float> total_inverse
                for k in range(n_topics):
                    out[w, k] = factor * (weights[w, k] * prior[k])
                for j in range(indptr[w], indptr[w + 1]):
                    take_values(columns[documents[j]], total, &out[w, 0])
            else:
                for k in range(n_topics):
                    out[w, k] = <floating> (total[k] + total_inverse * (weights[w, k] * prior[k]))
                memset(total, 0, n_topics * sizeof(double))
    try:
        if not enough:
            raise MemoryError()
        return taken(&of_topics, np.int32), taken(&of_values, np.float64)
    finally:
        free(of_topics.data)
        free(of_values.data)
