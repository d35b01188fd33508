# SPDX-License-Identifier: BSD-3-Clause
# Included by _tokens.pyx: rows. What was counted is put in order of the columns.

cdef struct Item:
    int column
    int row
    int count

# Rows of counts; those of row r end before the place ends[r].
cdef struct Rows:
    const int *indices
    const int *counts
    const Py_ssize_t *ends
    Py_ssize_t n


cdef Item *by_column(Item *items, Item *scratch, Py_ssize_t n, int n_columns) noexcept nogil:
    """Sort items by column, stably, a digit at a time; return where they are then."""
    cdef Py_ssize_t starts[DIGIT]
    cdef Py_ssize_t i, before, here
    cdef int shift = 0, digit
    while n_columns >> shift:
        memset(starts, 0, sizeof(starts))
        for i in range(n):
            starts[items[i].column >> shift & (DIGIT - 1)] += 1
        before = 0
        for digit in range(DIGIT):
            here = starts[digit]
            starts[digit] = before
            before += here
        for i in range(n):
            digit = items[i].column >> shift & (DIGIT - 1)
            scratch[starts[digit]] = items[i]
            starts[digit] += 1
        items, scratch = scratch, items
        shift += 10
        if shift > 30:
            break
    return items


cdef Py_ssize_t write_rows(
    const Rows *rows, const int *columns, int n_columns, Item *items, Py_ssize_t room,
    Py_ssize_t *starts, int *indices, int *counts, Py_ssize_t n_out
) noexcept nogil:
    """Some rows at a time: collect them, sort all by column, then part them again."""
    cdef Py_ssize_t row = 0, first, i = 0, k, n, at = 0, written = 0
    cdef Item *items_sorted
    while row < rows.n:
        first, n = row, 0
        while row < rows.n and (n < SORTED_AT_ONCE):
            starts[row - first] = written + n
            while i < rows.ends[row]:
                if n_columns and columns[rows.indices[i]] >= 0:
                    items[n].column = columns[rows.indices[i]]
                    items[n].row, items[n].count = <int> (row - first), rows.counts[i]
                    n += 1
                i += 1
            row += 1
        if written + n > n_out:
            return written + n
        items_sorted = by_column(items, items + room, n, n_columns - 1)
        for k in range(n):
            at = starts[items_sorted[k].row]
            starts[items_sorted[k].row] += 1
            indices[at], counts[at] = items_sorted[k].column, items_sorted[k].count
        written += n
    return written
