# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the lazy posterior c * eta + a * S, and the columns a minibatch uses."""
import numpy as np

from cython cimport floating
from libc.string cimport memcpy

ctypedef fused index:
    int
    long long


def gather_rows(const double[:, ::1] S, const int[::1] words, const double[::1] a,
                const double[::1] c, const double[:, ::1] eta, double[:, ::1] out):
    """out[i, k] = c[k] eta[w, k] + a[k] S[w, k] with w = words[i].

    IN S (V, K), words (n,), a and c (K,), eta (V or 1, K or 1); OUT out (n, K).

    NumPy equivalent::

        out[:] = c * np.broadcast_to(eta, S.shape)[words] + a * S[words]
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
    with nogil:
        for i in range(n):
            row = &out[i, 0]
            learnt = &S[words[i], 0]
            prior = &eta[words[i] * row_step, 0]
            if one_for_all:
                eta_w = prior[0]
                for k in range(n_components):
                    row[k] = c_k[k] * eta_w + a_k[k] * learnt[k]
            else:
                for k in range(n_components):
                    row[k] = c_k[k] * prior[k] + a_k[k] * learnt[k]


def add_rows(double[:, ::1] S, const int[::1] words, const floating[:, ::1] counts,
             const double[::1] scale, double[::1] state, const double[::1] new_state):
    """S[words] += scale * counts and state[:] = new_state, in one call.

    No Python code runs between the two, so neither an exception nor a signal
    handler can leave one done and the other not.

    IN words (n,) distinct, counts (n, K), scale (K,); IN and OUT S (V, K), state.
    """
    cdef Py_ssize_t n = words.shape[0], n_components = S.shape[1], i, k
    cdef double *row
    cdef const floating *learnt
    cdef const double *scale_k = &scale[0]
    if new_state.shape[0] != state.shape[0] or scale.shape[0] != n_components:
        raise ValueError("add_rows: shapes do not agree")
    with nogil:
        for i in range(n):
            row = &S[words[i], 0]
            learnt = &counts[i, 0]
            for k in range(n_components):
                row[k] += scale_k[k] * learnt[k]
        memcpy(&state[0], &new_state[0], state.shape[0] * sizeof(double))


def used_columns(const index[::1] indices, Py_ssize_t n_features):
    """The columns that occur in `indices`, sorted, and each index's place among them.

    Work and memory depend on the number of indices, not on `n_features`: a table
    with a place for each column is only used where it is small beside them.

    NumPy equivalent::

        words, places = np.unique(indices, return_inverse=True)
    """
    cdef Py_ssize_t n = indices.shape[0], i, n_used = 0
    if n_features > 16 * n:
        unique, inverse = np.unique(np.asarray(indices), return_inverse=True)
        return unique.astype(np.int32), inverse.astype(np.int32)
    cdef int[::1] table = np.zeros(n_features, dtype=np.int32)
    cdef int[::1] used = np.empty(min(n, n_features), dtype=np.int32)
    cdef int[::1] places = np.empty(n, dtype=np.int32)
    with nogil:
        for i in range(n):
            if table[indices[i]] == 0:
                table[indices[i]] = 1
                used[n_used] = <int> indices[i]
                n_used += 1
    columns = np.sort(np.asarray(used)[:n_used])
    used = columns
    with nogil:
        for i in range(n_used):
            table[used[i]] = <int> i
        for i in range(n):
            places[i] = table[indices[i]]
    return columns, np.asarray(places)
