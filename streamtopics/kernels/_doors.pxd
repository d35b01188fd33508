# SPDX-License-Identifier: BSD-3-Clause
"""What kernels check at their door, as they read arrays without bounds checks."""


cdef inline int check_shapes(bint agree, str where) except -1:
    """Refuse arrays whose shapes do not agree."""
    if not agree:
        raise ValueError(where + ": the shapes of the arrays do not agree")
    return 0


cdef inline int check_places(const int[::1] places, Py_ssize_t n, str one, str whole) except -1:
    """Refuse numbers of words or rows that are outside of an array."""
    cdef Py_ssize_t i
    for i in range(places.shape[0]):
        if not 0 <= places[i] < n:
            raise IndexError(f"{one} {places[i]} is outside of the {whole} of {n}")
    return 0


cdef inline int check_documents(const int[::1] indptr, const int[::1] indices,
                                Py_ssize_t n_values, Py_ssize_t start, Py_ssize_t stop,
                                Py_ssize_t n_words, str where) except -1:
    """Refuse rows start .. stop of a CSR matrix that are outside of their arrays or the words."""
    cdef Py_ssize_t d, i
    cdef bint fits = 0 <= start <= stop < indptr.shape[0] and n_values >= indices.shape[0]
    if fits:
        fits = 0 <= indptr[start] and indptr[stop] <= indices.shape[0]
        for d in range(start, stop):
            fits &= indptr[d] <= indptr[d + 1]
    if fits:
        for i in range(indptr[start], indptr[stop]):
            fits &= 0 <= indices[i] < n_words
    return check_shapes(fits, where)
