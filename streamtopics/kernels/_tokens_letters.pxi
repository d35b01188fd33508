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

# What a character becomes: itself or its lower case, 0 where that is no part of a word. Where only
# letters are wanted, that is no decimal digits and no underscore, MARKED stands for these.
cdef unsigned short AS_IT_IS[2][N_TABLED]
cdef unsigned short LOWERED[2][N_TABLED]


cdef inline unsigned int in_word(unsigned int c, bint letters) noexcept nogil:
    if c != 95 and not Py_UNICODE_ISALNUM(c):
        return 0
    return MARKED if letters and (c == 95 or Py_UNICODE_ISDECIMAL(c)) else c


cdef void fill_tables() noexcept:
    cdef int c, letters
    for letters in range(2):
        for c in range(N_TABLED):
            AS_IT_IS[letters][c] = <unsigned short> in_word(c, letters)
            LOWERED[letters][c] = <unsigned short> in_word(Py_UNICODE_TOLOWER(c), letters)


fill_tables()


cdef Py_ssize_t fold(
    const character *text, Py_ssize_t n, bint lower, int alphabet, unsigned char *out
) noexcept nogil:
    """Write a folded text; return how many bytes it takes."""
    cdef bint letters = alphabet != WORD_CHARACTERS
    cdef unsigned char mark = MARKED if alphabet == LETTER_WORDS else 0
    cdef const unsigned short *table = &LOWERED[letters][0] if lower else &AS_IT_IS[letters][0]
    cdef Py_ssize_t i
    cdef unsigned int c
    cdef unsigned char *start = out
    for i in range(n):
        c = text[i]
        if c < N_TABLED:
            c = table[c]
        else:
            c = in_word(Py_UNICODE_TOLOWER(c) if lower else c, letters)
        if c < 0x80:
            out[0] = mark if c == MARKED else <unsigned char> c
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
