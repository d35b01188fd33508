# SPDX-License-Identifier: BSD-3-Clause
"""Determinantal point processes: Gram matrices of sets, monotone steps for their theta."""
from libc.math cimport fabs
from libc.stdlib cimport calloc, free, malloc

ctypedef fused index:
    int
    long long


def grams(const index[::1] indptr, const index[::1] indices, const double[::1] data,
          Py_ssize_t n_columns, double[:, :, ::1] G):
    """Inner products of n rows each of a CSR matrix, for m sets of rows.

    IN indptr (m n + 1,) of these rows, indices and data of all; OUT G (m, n, n).
    """
    cdef Py_ssize_t m = G.shape[0], n = G.shape[1], s, i, j, k, first
    cdef double total
    if G.shape[2] != n or indptr.shape[0] != m * n + 1:
        raise ValueError("grams: the shapes of indptr and G do not agree")
    if m * n == 0:
        return
    if indptr[0] < 0 or indptr[m * n] > indices.shape[0] or indices.shape[0] != data.shape[0]:
        raise ValueError("grams: indptr, indices and data do not agree")
    for k in range(indptr[0], indptr[m * n]):
        if indices[k] < 0 or indices[k] >= n_columns:
            raise IndexError(f"column {indices[k]} is outside of the {n_columns} columns")
    cdef double *row = <double *> calloc(n_columns + 1, sizeof(double))
    if row == NULL:
        raise MemoryError()
    with nogil:
        for s in range(m):
            first = s * n
            for i in range(n):
                for k in range(indptr[first + i], indptr[first + i + 1]):
                    row[indices[k]] += data[k]
                for j in range(i, n):
                    total = 0
                    for k in range(indptr[first + j], indptr[first + j + 1]):
                        total += row[indices[k]] * data[k]
                    G[s, i, j] = total
                    G[s, j, i] = total
                for k in range(indptr[first + i], indptr[first + i + 1]):
                    row[indices[k]] = 0
    free(row)


cdef void diagonal(const double *S, const double *weights, Py_ssize_t r, double *work,
                   double *out) noexcept nogil:
    """out[k] = [(I + S W)^-1 S]_kk, W = Diag(weights), by elimination with row pivoting.

    IN S (r, r), weights (r,); scratch work (r, 2 r); OUT out (r,).
    """
    cdef Py_ssize_t i, j, k, pivot, width = 2 * r
    cdef double factor, largest
    cdef double *row
    cdef double *top
    for i in range(r):
        row = work + i * width
        for j in range(r):
            row[j] = S[i * r + j] * weights[j]
            row[r + j] = S[i * r + j]
        row[i] += 1
    for k in range(r):
        pivot = k
        largest = fabs(work[k * width + k])
        for i in range(k + 1, r):
            if fabs(work[i * width + k]) > largest:
                pivot = i
                largest = fabs(work[i * width + k])
        top = work + k * width
        if pivot != k:
            row = work + pivot * width
            for j in range(k, width):
                factor = top[j]
                top[j] = row[j]
                row[j] = factor
        for i in range(k + 1, r):
            row = work + i * width
            factor = row[k] / top[k]
            for j in range(k + 1, width):
                row[j] -= factor * top[j]
    # The solution of row i, from the last, in place; out only needs columns up to i.
    for i in range(r - 1, -1, -1):
        row = work + i * width
        for k in range(i + 1, r):
            top = work + k * width
            factor = row[k]
            for j in range(i + 1):
                row[r + j] -= factor * top[r + j]
        for j in range(i + 1):
            row[r + j] /= row[i]
        out[i] = row[r + i]


def theta_steps(const double[:, :, ::1] Q, const double[:, ::1] P, double penalty,
                Py_ssize_t n_steps, double[:, ::1] theta):
    """`n_steps` times, for each set i and all k at once,

        theta_ik *= [(I + Q_i D)^-1 Q_i]_kk / ([(I + P Th)^-1 P]_kk + penalty)

    with Th = Diag(theta_i) and D = Th less what it was at the start; theta_ik stays where
    the denominator is 0.

    IN Q (n, r, r) and P (r, r) symmetric and positive semidefinite; IN and OUT theta (n, r).
    """
    cdef Py_ssize_t n = Q.shape[0], r = P.shape[0], i, k, _step
    cdef double below
    if (Q.shape[1] != r or Q.shape[2] != r or P.shape[1] != r or theta.shape[0] != n
            or theta.shape[1] != r):
        raise ValueError("theta_steps: the shapes of Q, P and theta do not agree")
    if n == 0 or r == 0:
        return
    cdef double *work = <double *> malloc((2 * r + 4) * r * sizeof(double))
    if work == NULL:
        raise MemoryError()
    cdef double *first = work + 2 * r * r
    cdef double *change = first + r
    cdef double *up = change + r
    cdef double *down = up + r
    with nogil:
        for i in range(n):
            for k in range(r):
                first[k] = theta[i, k]
            for _step in range(n_steps):
                for k in range(r):
                    change[k] = theta[i, k] - first[k]
                diagonal(&Q[i, 0, 0], change, r, work, up)
                diagonal(&P[0, 0], &theta[i, 0], r, work, down)
                for k in range(r):
                    below = down[k] + penalty
                    if below > 0:
                        theta[i, k] *= max(up[k], 0.0) / below
    free(work)
