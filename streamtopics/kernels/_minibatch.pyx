# SPDX-License-Identifier: BSD-3-Clause
"""What is done for every minibatch outside of the local step: checks, its words, sums of parts."""
import numpy as np

from cython cimport floating
from libc.stdlib cimport calloc, free

from streamtopics.kernels._random cimport mix, uint64

ctypedef fused index:
    int
    long long

# 2 ** 32 over the golden ratio: the first bits of its multiples are well spread.
cdef unsigned int FIBONACCI = 2654435769
cdef uint64 GOLDEN = 0x9E3779B97F4A7C15


def is_clean(const index[::1] indptr, const index[::1] indices, const floating[::1] data,
             Py_ssize_t n_columns, double least, double most):
    """Whether arrays are those of a CSR matrix in order, with values in [least, most].

    In order: the columns of each row are within the matrix and rise.
    """
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, n = indices.shape[0], i, j
    cdef index before
    cdef bint found = True
    if n_rows < 0 or indptr[0] != 0 or indptr[n_rows] != n or data.shape[0] != n:
        return False
    for i in range(n_rows):
        found &= indptr[i] <= indptr[i + 1]
    if not found:
        return False
    with nogil:
        for i in range(n_rows):
            before = -1
            for j in range(indptr[i], indptr[i + 1]):
                found &= before < indices[j]
                before = indices[j]
            found &= before < n_columns
        for j in range(n):
            found &= least <= data[j] <= most
    return bool(found)


def distinct(const index[::1] columns):
    """The columns that occur, sorted, and the place of each among them.

    Columns are not negative and less than 2 ** 31. Work and memory depend on their number alone:
    they are found in a hash table of twice as many slots.
    """
    cdef Py_ssize_t n = columns.shape[0], n_slots = 2, n_used = 0, i, slot
    cdef int shift = 31
    while n_slots < 2 * n:
        n_slots *= 2
        shift -= 1
    found, own = np.empty(n, dtype=np.int32), np.empty(n, dtype=np.int32)
    cdef int[::1] places = found, used = own
    cdef int *slots = <int *> calloc(n_slots, sizeof(int))
    if slots == NULL:
        raise MemoryError()
    with nogil:
        for i in range(n):
            slot = <unsigned int> (<unsigned int> columns[i] * FIBONACCI) >> shift
            while slots[slot] != 0 and used[slots[slot] - 1] != columns[i]:
                slot = (slot + 1) & (n_slots - 1)
            if slots[slot] == 0:
                used[n_used] = <int> columns[i]
                n_used += 1
                slots[slot] = <int> n_used
            places[i] = slots[slot] - 1
        free(slots)
    order, rank = np.argsort(own[:n_used]), np.empty(n_used, dtype=np.int32)
    rank[order] = np.arange(n_used, dtype=np.int32)
    return own[order], rank[found]


def add_scaled(double[:, ::1] total, const int[::1] places, const double[::1] scale,
               const floating[:, ::1] counts):
    """total[places[i]] += scale * counts[i] for all i.

    IN places (n,) distinct, scale (K,), counts (n, K); IN and OUT total (m, K).
    """
    cdef Py_ssize_t n = places.shape[0], n_columns = total.shape[1], i, k
    cdef double *row
    cdef const floating *given
    cdef const double *scale_k = &scale[0]
    if (counts.shape[0] != n or counts.shape[1] != n_columns
            or scale.shape[0] != n_columns):
        raise ValueError("add_scaled: the shapes of places, scale and counts do not agree")
    for i in range(n):
        if not 0 <= places[i] < total.shape[0]:
            raise IndexError(f"add_scaled: there is no row {places[i]} of {total.shape[0]}")
    with nogil:
        for i in range(n):
            row = &total[places[i], 0]
            given = &counts[i, 0]
            for k in range(n_columns):
                row[k] += scale_k[k] * given[k]


def document_seeds(uint64 seed, uint64 first, Py_ssize_t n):
    """Seeds of the documents first .. first + n - 1: `local.step.mix` of places and seed."""
    found = np.empty(n, dtype=np.uint64)
    cdef uint64[::1] out = found
    cdef uint64 of_seed = mix(seed + GOLDEN)
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = mix(((first + <uint64> i) ^ of_seed) + GOLDEN)
    return found
