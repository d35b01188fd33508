# SPDX-License-Identifier: BSD-3-Clause
# Included by _tokens.pyx: letters. Texts are folded into UTF-8 with zeros between the words.

ctypedef fused character:
    unsigned char
    unsigned short
    unsigned int

cdef struct Text:
    const void *data
    Py_ssize_t length
    int kind
    bint is_ascii
    bint lower

# What a character becomes: itself or its lower case, 0 where that is no part of a word.
cdef unsigned short AS_IT_IS[N_TABLED]
cdef unsigned short LOWERED[N_TABLED]


cdef inline unsigned int in_word(unsigned int c) noexcept nogil:
    return c if c == 95 or Py_UNICODE_ISALNUM(c) else 0


cdef void fill_tables() noexcept:
    cdef int c
    for c in range(N_TABLED):
        AS_IT_IS[c] = <unsigned short> in_word(c)
        LOWERED[c] = <unsigned short> in_word(Py_UNICODE_TOLOWER(c))


fill_tables()


cdef Py_ssize_t fold(
    const character *text, Py_ssize_t n, bint lower, unsigned char *out
) noexcept nogil:
    """Write a folded text; return how many bytes it takes."""
    cdef const unsigned short *table = &LOWERED[0] if lower else &AS_IT_IS[0]
    cdef Py_ssize_t i
    cdef unsigned int c
    cdef unsigned char *start = out
    for i in range(n):
        c = text[i]
        if c < N_TABLED:
            c = table[c]
        else:
            c = in_word(Py_UNICODE_TOLOWER(c) if lower else c)
        if c < 0x80:
            out[0] = <unsigned char> c
            out += 1
        elif c < 0x800:
            out[0] = <unsigned char> (0xC0 | c >> 6)
            out[1] = <unsigned char> (0x80 | c & 0x3F)
            out += 2
        elif c < 0x10000:
            out[0] = <unsigned char> (0xE0 | c >> 12)
            out[1] = <unsigned char> (0x80 | c >> 6 & 0x3F)
            out[2] = <unsigned char> (0x80 | c & 0x3F)
            out += 3
        else:
            out[0] = <unsigned char> (0xF0 | c >> 18)
            out[1] = <unsigned char> (0x80 | c >> 12 & 0x3F)
            out[2] = <unsigned char> (0x80 | c >> 6 & 0x3F)
            out[3] = <unsigned char> (0x80 | c & 0x3F)
            out += 4
    return out - start


cdef inline Py_ssize_t n_characters(const unsigned char *word, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, found = 0
    for i in range(n):
        found += (word[i] & 0xC0) != 0x80
    return found


cdef bint has_awkward_letters(str text) except -1:
    """Whether the lower case of a letter depends on others, or is more than one."""
    cdef Py_ssize_t n = PyUnicode_GET_LENGTH(text)
    if PyUnicode_KIND(text) == 1:
        return False
    return (PyUnicode_FindChar(text, 0x130, 0, n, 1) >= 0
            or PyUnicode_FindChar(text, 0x3A3, 0, n, 1) >= 0)


cdef Py_ssize_t bytes_at_most(const Text *text) noexcept:
    """Bytes that a folded text can take."""
    return text.length if text.is_ascii else text.length * min(text.kind + 1, 4)
