# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the lazy posterior c * eta + a * S, and the columns a minibatch uses.

The posterior has rows for the words that were seen: S (n, K), of which row 0 is zeros, and
places (V,), the row of each word or 0. See `posteriors.rows`.
"""
import numpy as np

from cython cimport floating
from libc.math cimport ldexp
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from streamtopics.kernels._doors cimport check_places
from streamtopics.kernels._minibatch import distinct
from streamtopics.kernels._random cimport mix, uint64, uniform

cdef extern from "_vector.h" nogil:
    void st_prefetch(const void *address) noexcept

cdef extern from "_bins.h":
    int ST_BINS, ST_MOMENTS
    void st_count_in_bins(const double *row, Py_ssize_t n, double scale, int sign,
                          long long *sums) noexcept nogil
    double st_largest_product(const double *x, const double *y, Py_ssize_t n) noexcept nogil

N_BINS, N_MOMENTS = ST_BINS, ST_MOMENTS

# Arguments of `Change`, and the last ones where there are no bins.
ARGUMENTS, NO_BINS = 12, (None, 0, None)

cdef enum:
    ROWS_AHEAD = 4

ctypedef fused index:
    int
    long long


cdef inline void prefetch(const double *row, Py_ssize_t n) noexcept nogil:
    """Ask for a row that will be read soon; the rows of a minibatch lie scattered."""
    cdef Py_ssize_t k
    for k in range(0, n, 8):
        st_prefetch(row + k)


def locate(const int[::1] places, const int[::1] words, Py_ssize_t n_rows):
    """The row of each word in an array of `n_rows`; 0 for a word that has none there.

    IN places (V,), words (n,).
    """
    cdef Py_ssize_t n = words.shape[0], i
    cdef int place
    check_places(words, places.shape[0], "word", "vocabulary")
    found = np.empty(n, dtype=np.int32)
    cdef int[::1] rows = found
    with nogil:
        for i in range(n):
            place = places[words[i]]
            rows[i] = place if place < n_rows else 0
    return found


def gather_rows(const double[:, ::1] S, const int[::1] rows, const int[::1] words,
                const double[::1] a, const double[::1] c, const double[:, ::1] eta,
                double[:, ::1] out):
    """out[i, k] = c[k] eta[w, k] + a[k] S[r, k] with w = words[i] and r = rows[i].

    IN S (n_rows, K), rows and words (n,), a and c (K,), eta (V or 1, K or 1); OUT out (n, K).
    """
    cdef Py_ssize_t n = words.shape[0], n_components = S.shape[1], i, k
    cdef Py_ssize_t row_step = eta.shape[0] > 1
    cdef bint one_for_all = eta.shape[1] == 1
    cdef double eta_w
    cdef const double *learnt
    cdef const double *prior
    cdef const double *a_k = &a[0]
    cdef const double *c_k = &c[0]
    cdef double *row
    if (rows.shape[0] != n or out.shape[0] != n or out.shape[1] != n_components
            or a.shape[0] != n_components or c.shape[0] != n_components
            or eta.shape[1] not in (1, n_components) or eta.shape[0] < 1):
        raise ValueError("gather_rows: the shapes of rows, words, S and out do not agree")
    check_places(rows, S.shape[0], "row", "store")
    if row_step:
        check_places(words, eta.shape[0], "word", "vocabulary")
    with nogil:
        for i in range(n):
            if i + ROWS_AHEAD < n:
                prefetch(&S[rows[i + ROWS_AHEAD], 0], n_components)
            row = &out[i, 0]
            learnt = &S[rows[i], 0]
            prior = &eta[words[i] * row_step, 0]
            if one_for_all:
                eta_w = prior[0]
                for k in range(n_components):
                    row[k] = c_k[k] * eta_w + a_k[k] * learnt[k]
            else:
                for k in range(n_components):
                    row[k] = c_k[k] * prior[k] + a_k[k] * learnt[k]


def scale_rows(const double[:, ::1] x, const double[::1] scale, floating[:, ::1] out):
    """out[i, k] = scale[k] x[i, k] / max_j scale[j] x[i, j], and zeros beyond.

    IN x (n, K) positive, scale (K,); OUT out (n, width), of which the columns after
    K become zero.
    """
    cdef Py_ssize_t n = x.shape[0], n_components = x.shape[1], i, k
    cdef double largest
    cdef const double *row
    cdef const double *scale_k = &scale[0]
    cdef floating *weights
    if (scale.shape[0] != n_components or out.shape[0] != n
            or out.shape[1] < n_components):
        raise ValueError("scale_rows: the shapes of x, scale and out do not agree")
    with nogil:
        for i in range(n):
            row = &x[i, 0]
            weights = &out[i, 0]
            largest = 1 / st_largest_product(row, scale_k, n_components)
            for k in range(n_components):
                weights[k] = <floating> (row[k] * scale_k[k] * largest)
            for k in range(n_components, out.shape[1]):
                weights[k] = 0


cdef class Written:
    """A change whose arguments are checked."""

    cdef void carry_out(self) noexcept:
        pass


include "_lists.pxi"


cdef class Change(Written):
    """S += scale * counts on `rows`, the rows of words from now on; new_mass is the sum of S then.

    Where any `fold` is not 1, all of S is multiplied by them first, row by row.

    Where there are `sums`, those of `count_in_bins` over all of S, they are kept; then nothing
    may be multiplied. `of_words` are those of the rows of words before, if they are known.

    IN words and rows (n,), distinct, no row being 0, counts (n, K) of float or double, scale (K,),
    fold (K,), S_mass (K,); IN and OUT S (n_rows, K), places (V,), sums (N_BINS, K, N_MOMENTS) or
    None; OUT new_mass (K,).

    Once checked, a change takes no memory, and cannot fail.
    """
    cdef double[:, ::1] S
    cdef int[::1] places
    cdef const int[::1] words, rows
    # The counts are one of these.
    cdef const float[:, ::1] singles
    cdef const double[:, ::1] doubles
    cdef const double[::1] scale, fold, S_mass
    cdef double[::1] new_mass
    cdef long long[:, :, ::1] sums
    cdef const long long[:, :, ::1] of_words
    cdef double bin_scale
    cdef bint is_single, folds
    cdef double *mass

    def __cinit__(self, double[:, ::1] S, int[::1] places, const int[::1] words,
                  const int[::1] rows, counts, const double[::1] scale, const double[::1] fold,
                  const double[::1] S_mass, double[::1] new_mass, long long[:, :, ::1] sums,
                  int exponent, const long long[:, :, ::1] of_words):
        cdef Py_ssize_t n_components = S.shape[1], k
        self.is_single = counts.dtype == np.float32
        if self.is_single:
            self.singles = counts
        else:
            self.doubles = counts
        if (counts.shape != (words.shape[0], n_components) or rows.shape[0] != words.shape[0]
                or scale.shape[0] != n_components or S_mass.shape[0] != n_components
                or fold.shape[0] != n_components or new_mass.shape[0] != n_components):
            raise ValueError("write: the shapes of words, rows, counts, scale or mass do not agree")
        check_places(words, places.shape[0], "word", "vocabulary")
        check_places(rows, S.shape[0], "row", "store")
        for k in range(rows.shape[0]):
            if rows[k] == 0:
                raise ValueError("write: row 0 is that of the words that were never seen")
        for k in range(n_components):
            self.folds |= fold[k] != 1.0
        if sums is not None:
            check_bins(sums, n_components)
            if self.folds:
                raise ValueError("write: the bins of S do not stand a fold")
            if of_words is not None:
                check_bins(of_words, n_components)
        self.S, self.places, self.words, self.rows = S, places, words, rows
        self.scale, self.fold, self.S_mass, self.new_mass = scale, fold, S_mass, new_mass
        self.sums, self.of_words, self.bin_scale = sums, of_words, ldexp(1.0, -exponent)
        self.mass = <double *> calloc(n_components + 1, sizeof(double))
        if self.mass == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.mass)

    cdef void carry_out(self) noexcept:
        """Write, once."""
        cdef Py_ssize_t n_components = self.S.shape[1], i, k
        cdef double *row
        if self.sums is not None and self.of_words is not None:
            for i in range(ST_BINS * n_components * ST_MOMENTS):
                (&self.sums[0, 0, 0])[i] -= (&self.of_words[0, 0, 0])[i]
        if self.folds:
            for i in range(self.S.shape[0]):
                row = &self.S[i, 0]
                for k in range(n_components):
                    row[k] *= self.fold[k]
        if self.is_single:
            write_rows[float](self, self.singles)
        else:
            write_rows[double](self, self.doubles)
        for k in range(n_components):
            self.new_mass[k] = self.fold[k] * self.S_mass[k] + self.scale[k] * self.mass[k]


cdef void write_rows(Change change, const floating[:, ::1] counts) noexcept:
    """Add to the rows of words and to the mass, and move the rows' values between bins."""
    cdef double[:, ::1] S = change.S
    cdef const int[::1] words = change.words, rows = change.rows
    cdef int[::1] places = change.places
    cdef Py_ssize_t n = words.shape[0], n_components = S.shape[1], i, k
    cdef double *row
    cdef double *mass = change.mass
    cdef const floating *learnt
    cdef const double *scale_k = &change.scale[0]
    cdef bint binned = change.sums is not None
    for i in range(n):
        if i + ROWS_AHEAD < n:
            prefetch(&S[rows[i + ROWS_AHEAD], 0], n_components)
        places[words[i]] = rows[i]
        row = &S[rows[i], 0]
        learnt = &counts[i, 0]
        if binned and change.of_words is None:
            st_count_in_bins(row, n_components, change.bin_scale, -1, &change.sums[0, 0, 0])
        for k in range(n_components):
            row[k] += scale_k[k] * learnt[k]
            mass[k] += learnt[k]
        if binned:
            st_count_in_bins(row, n_components, change.bin_scale, 1, &change.sums[0, 0, 0])


def count_in_bins(const double[:, ::1] S, const int[::1] rows, int exponent,
                  long long[:, :, ::1] sums):
    """Add the moments of the values in some rows to those of their bins.

    The bins are those of `posteriors.bins`.

    IN S (n_rows, K), not negative, rows (n,); IN and OUT sums (N_BINS, K, N_MOMENTS).

    NumPy equivalent, with the bin and the place in [-1, 1] of each value::

        moments = np.polynomial.chebyshev.chebvander(place, N_MOMENTS - 1)
        np.add.at(sums, (bin, topic), np.rint(2.0**36 * moments).astype(np.int64))
    """
    cdef Py_ssize_t n = rows.shape[0], n_components = S.shape[1], i
    cdef double scale = ldexp(1.0, -exponent)
    check_places(rows, S.shape[0], "row", "store")
    check_bins(sums, n_components)
    with nogil:
        for i in range(n):
            if i + ROWS_AHEAD < n:
                prefetch(&S[rows[i + ROWS_AHEAD], 0], n_components)
            st_count_in_bins(&S[rows[i], 0], n_components, scale, 1, &sums[0, 0, 0])


cdef int check_bins(const long long[:, :, ::1] sums, Py_ssize_t n_components) except -1:
    if (sums.shape[0] != ST_BINS or sums.shape[1] != n_components
            or sums.shape[2] != ST_MOMENTS):
        raise ValueError("the bins do not have the shape (N_BINS, K, N_MOMENTS)")
    return 0


def write(list calls, list swaps):
    """Each `ListChange`, `Change` with each tuple, then each (dict, name, value) set in its dict.

    All in one call that holds the GIL: no Python code runs between the parts, so neither an
    exception, a signal handler nor another thread can find some of them done and others not. Nor
    can a lack of memory: what is needed is there before the first part, and to set a name that a
    dict has already takes none.
    """
    cdef dict namespace
    cdef Written change
    cdef list changes = list(calls)
    cdef Py_ssize_t i
    for i in range(len(calls)):
        arguments = calls[i]
        if isinstance(arguments, Written):
            continue
        if len(arguments) < ARGUMENTS:
            arguments = (*arguments, *NO_BINS)
        changes[i] = Change(*arguments)
    for change in changes:
        change.carry_out()
    for namespace, name, value in swaps:
        namespace[name] = value


def used_columns(const index[::1] indices, Py_ssize_t n_features):
    """The columns that occur in `indices`, sorted, and each index's place among them.

    Work and memory depend on the number of indices, not on `n_features`: a table
    with a place for each column is only used where it is small beside them.
    """
    cdef Py_ssize_t n = indices.shape[0], i, n_used = 0
    if n_features > 16 * n:
        return distinct(indices)
    cdef int[::1] table = np.zeros(n_features, dtype=np.int32)
    of_words, of_entries = np.empty(min(n, n_features), np.int32), np.empty(n, np.int32)
    cdef int[::1] used = of_words, places = of_entries
    with nogil:
        for i in range(n):
            table[indices[i]] = 1
        for i in range(n_features):
            if table[i]:
                table[i] = <int> n_used
                used[n_used] = <int> i
                n_used += 1
        for i in range(n):
            places[i] = table[indices[i]]
    return of_words[:n_used].copy(), of_entries


ctypedef fused number:
    int
    float
    double


def by_column(const int[::1] indptr, const int[::1] indices, const number[::1] values,
              int[::1] starts, int[::1] row_of, number[::1] sorted_values):
    """The entries of a CSR matrix by column, in the order of their rows.

    IN indptr (n + 1,), indices and values (nnz,); OUT starts (n_columns + 1,), row_of and
    sorted_values (nnz,).
    """
    cdef Py_ssize_t n = indptr.shape[0] - 1, n_columns = starts.shape[0] - 1, i, j
    cdef int place
    check_csr(indptr, indices, values.shape[0], n_columns)
    if row_of.shape[0] != indices.shape[0] or sorted_values.shape[0] != indices.shape[0]:
        raise ValueError("by_column: the shapes of the arguments do not agree")
    starts[:] = 0
    with nogil:
        for j in range(indices.shape[0]):
            starts[indices[j] + 1] += 1
        for i in range(n_columns):
            starts[i + 1] += starts[i]
        for i in range(n):
            for j in range(indptr[i], indptr[i + 1]):
                place = starts[indices[j]]
                starts[indices[j]] = place + 1
                row_of[place] = <int> i
                sorted_values[place] = values[j]
        for i in range(n_columns, 0, -1):
            starts[i] = starts[i - 1]
        starts[0] = 0


def multiply(const int[::1] indptr, const int[::1] indices, const floating[::1] values,
             const floating[:, ::1] x, Py_ssize_t start, Py_ssize_t stop, floating[:, ::1] out):
    """out = A x for the rows start .. stop of a CSR matrix A.

    IN indptr (n + 1,), indices and values (nnz,), x (n_columns, K); OUT out (stop - start, K).
    """
    cdef Py_ssize_t n_columns = x.shape[1], i, j, k
    cdef const floating *row
    cdef floating *sums
    check_csr(indptr, indices, values.shape[0], x.shape[0])
    if (not 0 <= start <= stop < indptr.shape[0] or out.shape[0] != stop - start
            or out.shape[1] != n_columns):
        raise ValueError("multiply: the shapes of the arguments do not agree")
    out[:] = 0
    with nogil:
        for i in range(start, stop):
            sums = &out[i - start, 0]
            for j in range(indptr[i], indptr[i + 1]):
                row = &x[indices[j], 0]
                for k in range(n_columns):
                    sums[k] += values[j] * row[k]


cdef int check_csr(const int[::1] indptr, const int[::1] indices, Py_ssize_t n_values,
                   Py_ssize_t n_columns) except -1:
    cdef Py_ssize_t i
    cdef bint fits = indptr.shape[0] > 0 and indptr[0] == 0
    if fits:
        fits = indptr[indptr.shape[0] - 1] == indices.shape[0] == n_values
        for i in range(indptr.shape[0] - 1):
            fits = fits and indptr[i] <= indptr[i + 1]
        for i in range(indices.shape[0]):
            fits = fits and 0 <= indices[i] < n_columns
    if not fits:
        raise ValueError("the arrays are not those of a CSR matrix of this shape")
    return 0
