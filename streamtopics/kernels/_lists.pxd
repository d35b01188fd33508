# SPDX-License-Identifier: BSD-3-Clause
from libc.stdint cimport uint64_t

cdef extern from "_lists.h" nogil:
    enum:
        ST_GROUP
    ctypedef struct st_totals:
        double *sums
        uint64_t *bits
        Py_ssize_t n_groups
    void st_add_total(st_totals *totals, int topic, double value) noexcept
    ctypedef struct st_writer:
        const double *unit
        double least, most, place
        int *topics
        double *counts
        Py_ssize_t n
        double *change
    void st_write_totals(st_writer *to, st_totals *totals, const int *topics,
                         const double *counts, Py_ssize_t n) noexcept
