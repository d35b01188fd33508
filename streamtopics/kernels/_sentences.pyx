# SPDX-License-Identifier: BSD-3-Clause
"""Sentences of a text, in one pass over its characters.

What the characters are is told by tables, and whether the full stop after a word belongs to an
abbreviation by a function of Python, which is asked only where it may: after one letter, after
a word with a full stop within, and after those of a list.
"""
cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL
    Py_ssize_t PyUnicode_GetLength(object text) except -1
    unsigned int *PyUnicode_AsUCS4Copy(object text) except NULL
    str PyUnicode_Substring(object text, Py_ssize_t start, Py_ssize_t end)
    void PyMem_Free(void *memory)

cdef enum:
    N_TABLED = 0x10000
    SPACE = 1
    MARK = 2
    CLOSING = 4
    OPENING = 8
    DASH = 16
    NEVER_FIRST = 32
    WIDE_STOP = 64
    WIDE_CLOSING = 128
    BULLET = 256
    JOINT = 512
    N_CHARACTERS = 0x110000
    # Characters for which Python is asked together.
    PAGE = 256
    # What Python says of a character; ASKED, that it was asked.
    ASKED = 1
    CAPITAL = 2
    SMALL = 4
    DIGIT = 8

# The characters of a text that has only ASCII, and those of any other.
ctypedef fused character:
    unsigned char
    unsigned int

cdef unsigned char SAID[N_CHARACTERS]

# Characters from `start` up to `stop`.
cdef struct Span:
    Py_ssize_t start
    Py_ssize_t stop


cdef class Splitter:
    """Splitter of texts into sentences.

    IN characters: marks that end sentences; quotes and brackets that close, or open; dashes;
    characters that no sentence begins with; marks that end one without a space, and what closes
    after them; what begins an item of a list; and what joins words to one. `suspects` are words,
    in small letters, for which is_abbreviated(before, after, has_capitals) is asked at a full
    stop; is_number(token) says whether a token is the number of an item.
    """

    cdef unsigned short kinds[N_TABLED]
    cdef frozenset suspects
    # By the first and the last letter of suspects, a bit for each length that they have.
    cdef unsigned int lengths[1024]
    cdef object is_abbreviated
    cdef object is_number

    def __cinit__(self, *, str marks, str closing, str opening, str dashes, str never_first,
                  str wide_stops, str wide_closing, str bullets, str joints, frozenset suspects,
                  object is_abbreviated, object is_number):
        cdef int c
        cdef Py_UCS4 one
        cdef str word
        self.suspects = suspects
        for word in suspects:
            if not word.isascii() or not 0 < len(word) < 32:
                raise ValueError(f"suspects must have 1 to 31 characters of ASCII; got {word!r}")
            c = (ord(word[0]) & 31) << 5 | ord(word[len(word) - 1]) & 31
            self.lengths[c] |= <unsigned int> 1 << len(word)
        self.is_abbreviated, self.is_number = is_abbreviated, is_number
        for c in range(N_TABLED):
            self.kinds[c] = SPACE if chr(c).isspace() else 0
        for kind, characters in (
            (MARK, marks), (CLOSING, closing), (OPENING, opening), (DASH, dashes),
            (NEVER_FIRST, never_first), (WIDE_STOP, wide_stops), (WIDE_CLOSING, wide_closing),
            (BULLET, bullets), (JOINT, joints),
        ):
            for one in characters:
                self.kinds[<int> one] |= <int> kind

    def split(self, text):
        """The sentences of a str, a list of str.

        Python equivalent: `split_sentences` of tests/reference/sentences.py.
        """
        cdef Py_ssize_t n = PyUnicode_GetLength(text)
        cdef unsigned int *characters
        if str.isascii(text):
            return sentences(
                self, <const unsigned char *> PyUnicode_AsUTF8AndSize(text, &n), n, text)
        characters = PyUnicode_AsUCS4Copy(text)
        try:
            return sentences(self, <const unsigned int *> characters, n, text)
        finally:
            PyMem_Free(characters)


cdef inline unsigned short kind_of(Splitter self, character c) noexcept:
    return self.kinds[c] if sizeof(character) < 4 or c < N_TABLED else 0


cdef inline unsigned char said(character c) except 0:
    if SAID[c] == 0:
        learn_page(c // PAGE)
    return SAID[c]


cdef int learn_page(unsigned int page) except -1:
    """Ask Python what the characters of a page are."""
    cdef unsigned int c
    cdef str one
    for c in range(page * PAGE, (page + 1) * PAGE):
        one = chr(c)
        SAID[c] = (
            ASKED | (CAPITAL if one.lower() != one else 0) | (SMALL if one.islower() else 0)
            | (DIGIT if one.isdigit() else 0)
        )
    return 0


cdef list sentences(Splitter self, const character *text, Py_ssize_t n, object whole):
    """Read token after token; end a sentence where it must and where two tokens say so.

    A piece is what stands in the text as it will in the sentence, with one space after each token.
    """
    cdef list found = [], pieces = []
    cdef Span token, before, piece
    cdef Py_ssize_t i = 0, n_tokens = 0, gap
    cdef int n_lines
    cdef bint is_wide = False, must_end, has_capitals = any_capital(text, n)
    before.start = before.stop = piece.start = 0
    while True:
        gap, n_lines = i, 0
        while i < n and kind_of(self, text[i]) & SPACE:
            n_lines += is_line_end(text, i, n)
            i += 1
        if i == n:
            break
        token.start, must_end = i, is_wide or n_lines > 1
        while i < n and not kind_of(self, text[i]) & (SPACE | WIDE_STOP):
            i += 1
        is_wide = i < n and kind_of(self, text[i]) & WIDE_STOP
        while i < n and kind_of(self, text[i]) & WIDE_STOP:
            i += 1
        while is_wide and i < n and kind_of(self, text[i]) & WIDE_CLOSING:
            i += 1
        token.stop = i
        if n_tokens and (
            must_end or (n_lines == 1 and is_bullet(self, text, &token, n))
            or (kind_of(self, text[before.stop - 1]) & (MARK | CLOSING)
                and ends(self, text, &before, &token, has_capitals, whole)
                and not (n_tokens == 1 and self.is_number(spelled(whole, &before))))
        ):
            piece.stop, n_tokens = before.stop, 0
            found.append(joined(pieces, whole, &piece))
        if n_tokens == 0:
            piece.start = token.start
        elif token.start - gap > 1 or text[gap] != 32:
            piece.stop = before.stop
            pieces.append(spelled(whole, &piece))
            piece.start = token.start
        before, n_tokens = token, n_tokens + 1
    if n_tokens:
        piece.stop = before.stop
        found.append(joined(pieces, whole, &piece))
    return found


cdef bint any_capital(const character *text, Py_ssize_t n) except -1:
    cdef Py_ssize_t i
    for i in range(n):
        if said(text[i]) & CAPITAL:
            return True
    return False


cdef inline bint is_line_end(const character *text, Py_ssize_t i, Py_ssize_t n) noexcept:
    """Whether a line ends here; a carriage return before a line feed is a part of that."""
    return text[i] == 10 or (text[i] == 13 and not (i + 1 < n and text[i + 1] == 10))


cdef bint is_bullet(
    Splitter self, const character *text, const Span *token, Py_ssize_t n
) noexcept:
    """Whether a token at the beginning of a line begins an item."""
    cdef Py_ssize_t after = token.stop
    if after - token.start != 1 or after == n or not kind_of(self, text[token.start]) & BULLET:
        return False
    return kind_of(self, text[after]) & SPACE and text[after] != 10 and text[after] != 13


cdef str spelled(object whole, const Span *span):
    return PyUnicode_Substring(whole, span.start, span.stop)


cdef str joined(list pieces, object whole, const Span *last):
    """A sentence of pieces with one space between, which are there no more then."""
    cdef str sentence = spelled(whole, last)
    if pieces:
        pieces.append(sentence)
        sentence = " ".join(pieces)
        pieces.clear()
    return sentence


cdef bint ends(Splitter self, const character *text, const Span *token, const Span *following,
               bint has_capitals, object whole) except -1:
    """Whether a sentence ends between two tokens of a line."""
    cdef Py_ssize_t body = token.stop, stem, head = following.start
    cdef bint is_small, is_ellipsis = True
    cdef Py_ssize_t i
    while body > token.start and kind_of(self, text[body - 1]) & CLOSING:
        body -= 1
    if body > token.start and text[token.stop - 1] == 93 and said(text[body - 1]) & DIGIT:
        # Without the mark of a note: "end.[1]".
        while body > token.start and in_note(text[body - 1]):
            body -= 1
    stem = body
    while stem > token.start and kind_of(self, text[stem - 1]) & MARK:
        stem -= 1
        is_ellipsis = is_ellipsis and (text[stem] == 46 or text[stem] == 0x2026)
    if stem == body or not may_be_first(self, text, following, &head):
        return False
    is_small = has_capitals and head < following.stop and said(text[head]) & SMALL
    if body - stem > 1 or text[stem] != 46:
        if is_ellipsis:
            return has_capitals and not is_small
        return body == token.stop or not is_small
    if is_small:
        return False
    i = following.start
    if text[i] == 40 or text[i] == 91:
        # "et al. (2003)" goes on.
        if head < following.stop and said(text[head]) & DIGIT:
            return False
    return not is_abbreviation(self, text, token.start, stem, head, following.stop, has_capitals,
                               whole)


cdef inline bint in_note(character c) noexcept:
    return (48 <= c and c <= 57) or c == 91 or c == 93


cdef bint may_be_first(
    Splitter self, const character *text, const Span *token, Py_ssize_t *head
) noexcept:
    """Whether a sentence may begin with a token; `head` is where its word begins."""
    cdef Py_ssize_t i = token.start
    while i < token.stop and kind_of(self, text[i]) & OPENING:
        i += 1
    head[0] = i
    if i < token.stop:
        return not kind_of(self, text[i]) & NEVER_FIRST
    for i in range(token.start, token.stop):
        if not kind_of(self, text[i]) & DASH:
            return False
    return True


cdef bint is_abbreviation(Splitter self, const character *text, Py_ssize_t start, Py_ssize_t stem,
                          Py_ssize_t head, Py_ssize_t stop, bint has_capitals,
                          object whole) except -1:
    """Whether the full stop at `stem` is that of an abbreviation alone."""
    cdef Span before, word, after
    cdef Py_ssize_t i
    cdef bint is_suspect
    while start < stem and kind_of(self, text[start]) & OPENING:
        start += 1
    word.start, word.stop = start, stem
    for i in range(start, stem):
        if kind_of(self, text[i]) & JOINT:
            word.start = i + 1
    is_suspect = stem - word.start == 1
    for i in range(word.start, stem):
        is_suspect = is_suspect or text[i] == 46
    if not is_suspect and not (
        may_be_suspect(self, text, &word)
        and spelled(whole, &word).lower() in self.suspects
    ):
        return False
    before.start, before.stop, after.start, after.stop = start, stem, head, stop
    return self.is_abbreviated(
        spelled(whole, &before), spelled(whole, &after), has_capitals)


cdef bint may_be_suspect(Splitter self, const character *text, const Span *word) noexcept:
    """Whether a suspect is as long and has such letters at its ends, for all that ASCII tells."""
    cdef Py_ssize_t length = word.stop - word.start
    cdef unsigned int first, last
    if length == 0 or length > 31:
        return False
    first, last = text[word.start], text[word.stop - 1]
    return first > 127 or last > 127 or self.lengths[(first & 31) << 5 | last & 31] >> length & 1
