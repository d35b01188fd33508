# SPDX-License-Identifier: BSD-3-Clause
# Included by _tokens.pyx: letters. Texts are folded into UTF-8 with zeros between the words.

# A text: where its characters are if all are ASCII, otherwise the place of their copies among
# those of others.
cdef struct Text:
    const unsigned char *ascii
    Py_ssize_t start
    Py_ssize_t length
    bint lower

# Copies of characters.
cdef struct Wide:
    unsigned int *characters
    Py_ssize_t n
    Py_ssize_t room

# One more than what a character becomes: itself or its lower case, or 0 where that is no part of a
# word. Python was not asked yet where there is a 0.
cdef unsigned int AS_IT_IS[N_CHARACTERS]
cdef unsigned int LOWERED[N_CHARACTERS]


cdef unsigned int in_word(str one) except 0:
    if one == "_" or one.isdecimal():
        return ord(one) + 1 | NO_LETTER
    return ord(one) + 1 if one.isalnum() else 1


cdef bint learn_page(unsigned int page) noexcept with gil:
    """Ask Python what the characters of a page are; whether there was memory for it."""
    cdef unsigned int c
    cdef str one
    try:
        for c in range(page * PAGE, (page + 1) * PAGE):
            one = chr(c)
            AS_IT_IS[c] = in_word(one)
            LOWERED[c] = in_word(one.lower()[:1])
    except MemoryError:
        return False
    return True


cdef Py_ssize_t fold(
    const unsigned int *text, Py_ssize_t n, bint lower, int alphabet, unsigned char *out
) noexcept nogil:
    """Write a folded text; return how many bytes it takes, or -1 if memory is out."""
    cdef unsigned int mark = MARKED if alphabet == LETTER_WORDS else 0
    cdef const unsigned int *table = &LOWERED[0] if lower else &AS_IT_IS[0]
    cdef Py_ssize_t i
    cdef unsigned int c
    cdef unsigned char *start = out
    for i in range(n):
        c = table[text[i]] - 1
        if c >= N_CHARACTERS:
            if c + 1 == 0:
                if not learn_page(text[i] // PAGE):
                    return -1
                c = table[text[i]] - 1
            if c & NO_LETTER:
                c = c ^ NO_LETTER if alphabet == WORD_CHARACTERS else mark
        if c == 0 and not is_joint(text[i]):
            # No neighbours: between those is one zero.
            out[0], out[1] = 0, 0
            out += 2
        elif c < 0x80:
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


cdef inline bint is_joint(unsigned int c) noexcept nogil:
    """Whether words with this character between them are neighbours."""
    return c == 0x20 or c == 0x0A or c == 0x2D


cdef inline Py_ssize_t n_characters(const unsigned char *word, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i, found = 0
    for i in range(n):
        found += (word[i] & 0xC0) != 0x80
    return found


cdef bint has_awkward_letters(str text) except -1:
    """Whether the lower case of a letter depends on others, or is more than one."""
    cdef Py_ssize_t n = len(text)
    return (PyUnicode_FindChar(text, 0x130, 0, n, 1) >= 0
            or PyUnicode_FindChar(text, 0x3A3, 0, n, 1) >= 0)


cdef int collect(str text, bint is_ascii, bint lower, Text *collected, Wide *wide) except -1:
    """Find the characters of a text, or copy them to those of others if it has more than ASCII.

    Where the lower case of a letter depends on its neighbours, or is more than one character,
    Python makes it.
    """
    collected.lower, collected.ascii = lower, NULL
    if is_ascii:
        collected.ascii = <const unsigned char *> PyUnicode_AsUTF8AndSize(
            text, &collected.length)
        return 0
    if lower and has_awkward_letters(text):
        text = text.lower()
    collected.start, collected.length = wide.n, len(text)
    if not grown(<void **> &wide.characters, &wide.room, wide.n + collected.length,
                 sizeof(unsigned int)):
        raise MemoryError()
    PyUnicode_AsUCS4(text, wide.characters + wide.n, collected.length, False)
    wide.n += collected.length
    return 0
