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


cdef class Letters:
    """What each character becomes before words are found, whatever its neighbours are.

    `become` takes a str of one character, and returns a str. Each character is asked for once.
    """

    # Of each character 0 before `become` was asked; one more than the character that it becomes;
    # or MANY and a place among the others, where their number stands and then they.
    cdef unsigned int *table
    cdef unsigned int *others
    cdef Py_ssize_t n_others, others_room
    cdef object become

    def __cinit__(self, become):
        self.become = become
        self.table = <unsigned int *> calloc(N_CHARACTERS, sizeof(unsigned int))
        if self.table == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.table)
        free(self.others)

    cdef int ask(self, unsigned int page) except -1:
        """Ask what the characters of a page become."""
        cdef unsigned int c
        cdef Py_ssize_t k, n
        cdef str text
        for c in range(page * PAGE, (page + 1) * PAGE):
            text = self.become(chr(c))
            n = len(text)
            if n == 1:
                self.table[c] = ord(text) + 1
                continue
            if not grown(<void **> &self.others, &self.others_room, self.n_others + n + 1,
                         sizeof(unsigned int)):
                raise MemoryError()
            self.others[self.n_others] = <unsigned int> n
            for k in range(n):
                self.others[self.n_others + 1 + k] = ord(text[k])
            self.table[c] = MANY | <unsigned int> self.n_others
            self.n_others += n + 1
        return 0

    cdef int write(self, const unsigned int *text, Py_ssize_t n, Wide *out) except -1:
        """Add what the characters of a text become."""
        cdef Py_ssize_t i, k
        cdef unsigned int found
        if not grown(<void **> &out.characters, &out.room, out.n + n, sizeof(unsigned int)):
            raise MemoryError()
        for i in range(n):
            found = self.table[text[i]]
            if found == 0:
                self.ask(text[i] // PAGE)
                found = self.table[text[i]]
            if found < MANY:
                out.characters[out.n] = found - 1
                out.n += 1
                continue
            found ^= MANY
            k = self.others[found]
            if not grown(<void **> &out.characters, &out.room, out.n + k + n - i,
                         sizeof(unsigned int)):
                raise MemoryError()
            memcpy(out.characters + out.n, self.others + found + 1, k * sizeof(unsigned int))
            out.n += k
        return 0


cdef int collect(str text, bint is_ascii, bint lower, Letters letters, Text *collected,
                 Wide *wide, Wide *scratch) except -1:
    """Find the characters of a text, or copy them to those of others if it has more than ASCII.

    Where the lower case of a letter depends on its neighbours, or is more than one character,
    Python makes it.
    """
    cdef Py_ssize_t n
    collected.lower, collected.ascii = lower, NULL
    if is_ascii:
        collected.ascii = <const unsigned char *> PyUnicode_AsUTF8AndSize(
            text, &collected.length)
        return 0
    if lower and has_awkward_letters(text):
        text = text.lower()
    collected.start, n = wide.n, len(text)
    if letters is not None:
        if not grown(<void **> &scratch.characters, &scratch.room, n, sizeof(unsigned int)):
            raise MemoryError()
        PyUnicode_AsUCS4(text, scratch.characters, n, False)
        letters.write(scratch.characters, n, wide)
        collected.lower, collected.length = False, wide.n - collected.start
        return 0
    collected.length = n
    if not grown(<void **> &wide.characters, &wide.room, wide.n + collected.length,
                 sizeof(unsigned int)):
        raise MemoryError()
    PyUnicode_AsUCS4(text, wide.characters + wide.n, collected.length, False)
    wide.n += collected.length
    return 0
