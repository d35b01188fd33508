# SPDX-License-Identifier: BSD-3-Clause
# Included by _tokens.pyx: names. Words as they are spelled are put in order, and merged where
# several counters found them.

# A word as it is spelled; `prefix` are its first eight bytes, ordered as the bytes are.
cdef struct Name:
    uint64 prefix
    Py_ssize_t start
    Py_ssize_t length
    int entry
    int frequency

# How far the names of a part are merged; `words` is the word of each of its entries.
cdef struct Cursor:
    const Name *name
    const Name *first
    const Name *last
    const unsigned char *spelled
    int *words


cdef inline int compare(const Name *a, const unsigned char *text_a, const Name *b,
                        const unsigned char *text_b) noexcept nogil:
    """Order of two names by code points, which is the order of their bytes."""
    cdef Py_ssize_t shorter = min(a.length, b.length)
    cdef int order
    if a.prefix != b.prefix:
        return 1 if a.prefix > b.prefix else -1
    if shorter > 8:
        order = memcmp(text_a + a.start + 8, text_b + b.start + 8, shorter - 8)
        if order:
            return order
    return (a.length > b.length) - (a.length < b.length)


cdef void sort_run(Name *names, Py_ssize_t start, Py_ssize_t stop, const unsigned char *spelled,
                   Name *scratch) noexcept nogil:
    """Sort names by merging."""
    cdef Py_ssize_t middle = (start + stop) // 2, i, j, k
    if stop - start < 2:
        return
    sort_run(names, start, middle, spelled, scratch)
    sort_run(names, middle, stop, spelled, scratch)
    memcpy(scratch + start, names + start, (middle - start) * sizeof(Name))
    i, j = start, middle
    for k in range(start, stop):
        if i == middle:
            break
        if j < stop and compare(&names[j], spelled, &scratch[i], spelled) < 0:
            names[k] = names[j]
            j += 1
        else:
            names[k] = scratch[i]
            i += 1


cdef bint order(Name *names, Py_ssize_t n, const unsigned char *spelled) noexcept nogil:
    """Sort the names; whether there was memory for it."""
    cdef Py_ssize_t i
    cdef Name *scratch = <Name *> malloc(max(n, 1) * sizeof(Name))
    if scratch == NULL:
        return False
    for i in range(n):
        names[i].prefix = st_reversed(first_bytes(spelled + names[i].start, names[i].length))
    sort_run(names, 0, n, spelled, scratch)
    free(scratch)
    return True


cdef Py_ssize_t merge_names(Cursor *cursors, Py_ssize_t n_parts, int *owner, int *place,
                            long long *frequency) noexcept nogil:
    """Take the least name of all parts until there is none left; return how many were taken."""
    cdef Py_ssize_t n = 0, p, best
    cdef const Name *least
    cdef const unsigned char *spelled
    cdef Cursor *cursor
    while True:
        best, least, spelled = -1, NULL, NULL
        for p in range(n_parts):
            cursor = &cursors[p]
            if cursor.name < cursor.last and (
                best < 0 or compare(cursor.name, cursor.spelled, least, spelled) < 0
            ):
                best, least, spelled = p, cursor.name, cursor.spelled
        if best < 0:
            return n
        owner[n], place[n] = <int> best, <int> (least - cursors[best].first)
        for p in range(best, n_parts):
            cursor = &cursors[p]
            if cursor.name < cursor.last and (
                p == best or compare(cursor.name, cursor.spelled, least, spelled) == 0
            ):
                cursor.words[cursor.name.entry] = <int> n
                frequency[n] += cursor.name.frequency
                cursor.name += 1
        n += 1
