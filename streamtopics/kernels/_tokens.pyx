# SPDX-License-Identifier: BSD-3-Clause
"""Words of texts and how often each occurs in each text.

A text is folded first: into UTF-8 in lower case, in which a zero stands for each character that
is no part of a word, whatever the width of the text's characters. Words are then the runs
between zeros, found eight bytes at a time. They are numbered as they come, in a hash table of
which a word of up to 16 bytes takes half a cache line; an n-gram is the pair of the (n-1)-gram
before it and its last word. Nothing but the collection of the texts needs the GIL.
"""
import os

import numpy as np

from cpython.object cimport PyObject
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from streamtopics.kernels._random cimport mix, uint64

cdef extern from "Python.h":
    PyObject *PyDict_GetItemWithError(object mapping, object key) except? NULL
    bint PyUnicode_IS_ASCII(object text)
    int PyUnicode_KIND(object text)
    void *PyUnicode_DATA(object text)
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    Py_ssize_t PyUnicode_FindChar(
        object text, unsigned int ch, Py_ssize_t start, Py_ssize_t end, int direction) except -2
    bint Py_UNICODE_ISALNUM(unsigned int ch) noexcept nogil
    unsigned int Py_UNICODE_TOLOWER(unsigned int ch) noexcept nogil

cdef extern from "_tokens.h":
    int st_ready(object text) except -1

cdef extern from "_tokens.h" nogil:
    uint64 st_load(const unsigned char *text) noexcept
    uint64 st_reversed(uint64 x) noexcept
    int st_first_zero(uint64 x) noexcept
    void ST_PREFETCH(const void *address) noexcept
    void st_fold_ascii(
        const unsigned char *text, Py_ssize_t n, unsigned char to_lower, unsigned char *out
    ) noexcept

cdef enum:
    # Zeros after a folded text, so that loads of eight bytes may begin anywhere in it.
    PADDING = 24
    # Marks the length of an entry that is an n-gram; the rest of the length is n.
    GRAM = 0x80000000
    N_TABLED = 0x10000
    # Words that are looked up together, so that they wait for memory together.
    AT_ONCE = 32
    # Names that are sorted by insertion.
    FEW = 12
    # Entries of rows that are put in order together.
    SORTED_AT_ONCE = 4096
    DIGIT = 1024

ctypedef fused character:
    unsigned char
    unsigned short
    unsigned int

# A word or an n-gram. Of words longer than 16 bytes, `hi` is where they start among the long
# ones; of n-grams, `lo` holds the entries of the (n-1)-gram and the word.
cdef struct Entry:
    uint64 lo
    uint64 hi
    unsigned int length
    int frequency
    int row
    int place

# A word as it is spelled; `prefix` are its first eight bytes, ordered as the bytes are.
cdef struct Name:
    uint64 prefix
    Py_ssize_t start
    Py_ssize_t length
    int entry
    int frequency

# A word to look up: what its entry has, and the bits of its hash that the table has.
cdef struct Word:
    uint64 lo
    uint64 hi
    uint64 tag
    const unsigned char *text
    unsigned int length

# How far the names of a part are merged; `words` is the word of each of its entries.
cdef struct Cursor:
    const Name *name
    const Name *first
    const Name *last
    const unsigned char *spelled
    int *words

cdef struct Item:
    int column
    int row
    int count

cdef struct Text:
    const void *data
    Py_ssize_t length
    int kind
    bint is_ascii
    bint lower

# No stranger can make words that all fall into one place of the table; results do not depend
# on it.
cdef uint64 SEED = int.from_bytes(os.urandom(8), "little")

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


cdef inline uint64 first_bytes(const unsigned char *text, Py_ssize_t n) noexcept nogil:
    """Up to eight bytes of a text with padding, zeros from the n-th on."""
    cdef uint64 x = st_load(text)
    return x if n >= 8 else x & ((<uint64> 1 << 8 * n) - 1)


cdef bint grown(void **array, Py_ssize_t *room, Py_ssize_t needed, Py_ssize_t size) noexcept nogil:
    """Whether there is room for `needed` items, made by doubling where there was not."""
    cdef Py_ssize_t wanted
    cdef void *moved
    if needed <= room[0]:
        return True
    wanted = max(2 * room[0], needed, 64)
    moved = realloc(array[0], wanted * size)
    if moved == NULL:
        return False
    array[0] = moved
    room[0] = wanted
    return True


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


cdef Word word_of(const unsigned char *text, Py_ssize_t n) noexcept nogil:
    """What is needed to look up a word of a text with padding."""
    cdef Word word
    cdef Py_ssize_t i
    word.lo, word.hi = first_bytes(text, n), 0
    word.text, word.length = text, <unsigned int> n
    word.tag = mix(word.lo ^ SEED)
    if n > 8:
        if n <= 16:
            word.hi = first_bytes(text + 8, n - 8)
            word.tag = mix(word.tag ^ word.hi)
        else:
            for i in range(8, n, 8):
                word.tag = mix(word.tag ^ first_bytes(text + i, n - i))
    word.tag >>= 32
    return word


cdef class Counted:
    """Counts of words in texts, a row each, and the words.

    Parameters
    ----------
    min_length : int
        Characters of the shortest word.
    min_n, max_n : int
        Words of the shortest and of the longest n-gram.
    stop_words : sequence of bytes
        Words that are passed over, in UTF-8.
    """

    cdef Entry *entries
    cdef Py_ssize_t n_entries, entries_room
    cdef uint64 *slots
    cdef uint64 mask
    cdef unsigned char *long_words
    cdef Py_ssize_t n_long, long_room
    cdef int *indices
    cdef int *counts
    cdef Py_ssize_t n_counts, indices_room, counts_room
    cdef Py_ssize_t *ends
    cdef Py_ssize_t _n_rows, ends_room
    cdef Name *names
    cdef unsigned char *spelled
    cdef Py_ssize_t _n_words
    cdef int *before
    cdef Py_ssize_t min_length, n_stop
    cdef int min_n, max_n

    def __cinit__(self, Py_ssize_t min_length, int min_n, int max_n, stop_words=()):
        self.min_length, self.min_n, self.max_n = min_length, min_n, max_n
        self.mask = 1023
        self.slots = <uint64 *> calloc(self.mask + 1, sizeof(uint64))
        self.before = <int *> malloc(max(max_n, 1) * sizeof(int))
        if self.slots == NULL or self.before == NULL:
            raise MemoryError()
        for word in stop_words:
            self.find_bytes(word)
        self.n_stop = self.n_entries

    def __dealloc__(self):
        free(self.entries)
        free(self.slots)
        free(self.long_words)
        free(self.indices)
        free(self.counts)
        free(self.ends)
        free(self.names)
        free(self.spelled)
        free(self.before)

    @property
    def n_rows(self):
        """Texts counted."""
        return self._n_rows

    @property
    def n_words(self):
        """Distinct words counted, once they are sorted."""
        return self._n_words

    # Entries

    cdef int find_bytes(self, bytes text) except -1:
        """The entry of a word, whatever its bytes."""
        cdef bytes padded = text + bytes(PADDING)
        cdef Word word = word_of(<const unsigned char *> padded, len(text))
        cdef int entry = self.find(&word)
        if entry < 0:
            raise MemoryError()
        return entry

    cdef int find_gram(self, int prefix, int last, int n) noexcept nogil:
        """The entry of an n-gram: of the (n-1)-gram before it and its last word."""
        cdef Word gram
        gram.lo, gram.hi = <uint64> prefix << 32 | <uint64> last, 0
        gram.length, gram.text = <unsigned int> (GRAM | n), NULL
        gram.tag = mix(gram.lo ^ SEED ^ <uint64> n) >> 32
        return self.find(&gram)

    cdef inline int find(self, const Word *word) noexcept nogil:
        """The entry of a word, a new one if need be; -1 if memory is out."""
        cdef uint64 place = word.tag & self.mask, slot
        cdef bint is_long = 16 < word.length < GRAM
        cdef int found
        cdef const Entry *entry
        while True:
            slot = self.slots[place]
            if slot == 0:
                return self.add(word, place)
            if slot >> 32 == word.tag:
                found = entry_in(slot)
                entry = &self.entries[found]
                if entry.lo == word.lo and entry.length == word.length and (
                    memcmp(self.long_words + entry.hi, word.text, word.length) == 0 if is_long
                    else entry.hi == word.hi
                ):
                    return found
            place = (place + 1) & self.mask

    cdef int add(self, const Word *word, uint64 place) noexcept nogil:
        """A new entry, in a free slot of the table; -1 if memory is out."""
        cdef int new = <int> self.n_entries
        cdef Entry *entry
        if new == 0x7FFFFFFF or not grown(
            <void **> &self.entries, &self.entries_room, new + 1, sizeof(Entry)
        ):
            return -1
        entry = &self.entries[new]
        entry.lo, entry.hi, entry.length = word.lo, word.hi, word.length
        entry.frequency, entry.row = 0, -1
        if 16 < word.length < GRAM:
            entry.hi = self.n_long
            if not grown(
                <void **> &self.long_words, &self.long_room, self.n_long + word.length, 1
            ):
                return -1
            memcpy(self.long_words + self.n_long, word.text, word.length)
            self.n_long += word.length
        self.n_entries += 1
        self.slots[place] = word.tag << 32 | <uint64> (new + 1)
        if <uint64> self.n_entries * 2 > self.mask and not self.widened():
            return -1
        return new

    cdef bint widened(self) noexcept nogil:
        """Twice as many slots; whether there was memory for them."""
        cdef uint64 mask = 2 * self.mask + 1, place, i
        cdef uint64 *slots = <uint64 *> calloc(mask + 1, sizeof(uint64))
        if slots == NULL:
            return False
        for i in range(self.mask + 1):
            if self.slots[i]:
                place = self.slots[i] >> 32 & mask
                while slots[place]:
                    place = (place + 1) & mask
                slots[place] = self.slots[i]
        free(self.slots)
        self.slots, self.mask = slots, mask
        return True

    # Counting

    def count(self, list texts, const unsigned char[::1] lower):
        """Count the words of texts, in lower case where `lower` says so: a row more for each.

        IN texts (n,) of str, lower (n,). Where the lower case of a letter depends on its
        neighbours, or is more than one character, Python makes it.
        """
        cdef Py_ssize_t n = len(texts), i, longest = 0
        cdef bint enough = True
        cdef str text
        cdef list lowered = []
        if lower.shape[0] != n:
            raise ValueError(f"count: {lower.shape[0]} flags for {n} texts")
        cdef Text *collected = <Text *> malloc(max(n, 1) * sizeof(Text))
        cdef unsigned char *folded = NULL
        if collected == NULL:
            raise MemoryError()
        try:
            for i in range(n):
                text = texts[i]
                st_ready(text)
                if lower[i] and not PyUnicode_IS_ASCII(text) and has_awkward_letters(text):
                    text = text.lower()
                    lowered.append(text)
                collected[i].data = PyUnicode_DATA(text)
                collected[i].length = PyUnicode_GET_LENGTH(text)
                collected[i].kind = PyUnicode_KIND(text)
                collected[i].is_ascii = PyUnicode_IS_ASCII(text)
                collected[i].lower = lower[i]
                longest = max(longest, bytes_at_most(&collected[i]))
            folded = <unsigned char *> malloc(longest + PADDING)
            if folded == NULL:
                raise MemoryError()
            with nogil:
                for i in range(n):
                    if not self.count_text(&collected[i], folded):
                        enough = False
                        break
            if not enough:
                raise MemoryError()
        finally:
            free(folded)
            free(collected)

    def count_tokens(self, tokens):
        """Count tokens that were found elsewhere: one row more.

        IN tokens, an iterable of str.
        """
        if not self.begun():
            raise MemoryError()
        for token in tokens:
            if not isinstance(token, str):
                raise TypeError(
                    f"analyzer must return words of type str; got {token!r:.60}, a "
                    f"{type(token).__name__}")
            if self.count_entry(self.find_bytes(token.encode("utf-8", "surrogatepass"))) < 0:
                raise MemoryError()
        self.ends[self._n_rows] = self.n_counts
        self._n_rows += 1

    cdef bint begun(self) noexcept nogil:
        """Whether there is memory for one more row."""
        cdef int k
        for k in range(self.max_n):
            self.before[k] = -1
        return grown(<void **> &self.ends, &self.ends_room, self._n_rows + 1, sizeof(Py_ssize_t))

    cdef bint count_text(self, const Text *text, unsigned char *folded) noexcept nogil:
        """Count the words of one text; whether there was memory for it."""
        cdef Py_ssize_t n = text.length
        if text.is_ascii:
            st_fold_ascii(
                <const unsigned char *> text.data, n, 0x20 if text.lower else 0, folded)
        elif text.kind == 1:
            n = fold(<const unsigned char *> text.data, n, text.lower, folded)
        elif text.kind == 2:
            n = fold(<const unsigned short *> text.data, n, text.lower, folded)
        else:
            n = fold(<const unsigned int *> text.data, n, text.lower, folded)
        memset(folded + n, 0, PADDING)
        if not self.begun() or not self.count_folded(folded, n, text.is_ascii):
            return False
        self.ends[self._n_rows] = self.n_counts
        self._n_rows += 1
        return True

    cdef bint count_folded(self, const unsigned char *text, Py_ssize_t n,
                           bint is_ascii) noexcept nogil:
        """Count the runs between zeros; whether there was memory for it."""
        cdef const unsigned char *end = text + n
        cdef const unsigned char *start
        cdef Word words[AT_ONCE]
        cdef Py_ssize_t length
        cdef int step, found = 0
        while True:
            while text < end and text[0] == 0:
                text += 1
            if text >= end:
                return self.count_words(words, found)
            start = text
            step = 8
            while step == 8:
                step = st_first_zero(st_load(text))
                text += step
            length = text - start
            if (length if is_ascii else n_characters(start, length)) < self.min_length:
                continue
            if length >= GRAM:
                return False
            words[found] = word_of(start, length)
            ST_PREFETCH(&self.slots[words[found].tag & self.mask])
            found += 1
            if found == AT_ONCE:
                if not self.count_words(words, found):
                    return False
                found = 0

    cdef bint count_words(self, const Word *words, int n) noexcept nogil:
        """Count words, one after the other; whether there was memory for it."""
        cdef int i, entry
        for i in range(n):
            entry = entry_in(self.slots[words[i].tag & self.mask])
            if entry >= 0:
                ST_PREFETCH(&self.entries[entry])
        for i in range(n):
            entry = self.find(&words[i])
            if entry < 0:
                return False
            if entry < self.n_stop:
                continue
            if self.max_n == 1:
                if self.count_entry(entry) < 0:
                    return False
            elif not self.count_grams(entry):
                return False
        return True

    cdef bint count_grams(self, int word) noexcept nogil:
        """Count the n-grams that end with a word; whether there was memory for it."""
        cdef int n
        for n in range(self.max_n, 1, -1):
            self.before[n - 1] = -1
            if self.before[n - 2] >= 0:
                self.before[n - 1] = self.find_gram(self.before[n - 2], word, n)
                if self.before[n - 1] < 0:
                    return False
                if n >= self.min_n and self.count_entry(self.before[n - 1]) < 0:
                    return False
        self.before[0] = word
        return self.min_n > 1 or self.count_entry(word) >= 0

    cdef inline int count_entry(self, int found) noexcept nogil:
        """One more of an entry in the row; -1 if memory is out."""
        cdef Entry *entry = &self.entries[found]
        cdef Py_ssize_t start = self.ends[self._n_rows - 1] if self._n_rows else 0
        if entry.row == self._n_rows:
            self.counts[start + entry.place] += 1
            return 0
        if not grown(
            <void **> &self.indices, &self.indices_room, self.n_counts + 1, sizeof(int)
        ) or not grown(
            <void **> &self.counts, &self.counts_room, self.n_counts + 1, sizeof(int)
        ):
            return -1
        entry.row = <int> self._n_rows
        entry.place = <int> (self.n_counts - start)
        entry.frequency += 1
        self.indices[self.n_counts] = found
        self.counts[self.n_counts] = 1
        self.n_counts += 1
        return 0

    # Words

    def sort(self):
        """Spell the words that were counted and put them in order; once, after counting."""
        cdef bint enough
        with nogil:
            enough = self.spell() and self.order()
        if not enough:
            raise MemoryError()

    cdef Py_ssize_t spelled_length(self, int found) noexcept nogil:
        cdef Py_ssize_t length = 0
        while self.entries[found].length >= GRAM:
            length += 1 + self.entries[self.entries[found].lo & <uint64> 0xFFFFFFFF].length
            found = <int> (self.entries[found].lo >> 32)
        return length + self.entries[found].length

    cdef void write_word(self, int found, unsigned char *out) noexcept nogil:
        """Write the bytes of a word."""
        cdef const Entry *entry = &self.entries[found]
        cdef unsigned int i
        if entry.length > 16:
            memcpy(out, self.long_words + entry.hi, entry.length)
            return
        for i in range(entry.length):
            out[i] = <unsigned char> ((entry.lo if i < 8 else entry.hi) >> 8 * (i & 7))

    cdef bint spell(self) noexcept nogil:
        """Write all words and n-grams that were counted; whether there was memory for it."""
        cdef Py_ssize_t size = 0, used = 0, n = 0, end
        cdef int i, at, word
        for i in range(<int> self.n_entries):
            if self.entries[i].frequency:
                size += self.spelled_length(i)
                n += 1
        self.names = <Name *> malloc(max(n, 1) * sizeof(Name))
        self.spelled = <unsigned char *> malloc(size + PADDING)
        if self.names == NULL or self.spelled == NULL:
            return False
        memset(self.spelled + size, 0, PADDING)
        n = 0
        for i in range(<int> self.n_entries):
            if not self.entries[i].frequency:
                continue
            self.names[n].entry, self.names[n].start = i, used
            self.names[n].length = self.spelled_length(i)
            self.names[n].frequency = self.entries[i].frequency
            used += self.names[n].length
            at, end = i, used
            while self.entries[at].length >= GRAM:
                word = <int> (self.entries[at].lo & <uint64> 0xFFFFFFFF)
                end -= self.entries[word].length
                self.write_word(word, self.spelled + end)
                end -= 1
                self.spelled[end] = 32
                at = <int> (self.entries[at].lo >> 32)
            self.write_word(at, self.spelled + end - self.entries[at].length)
            n += 1
        self._n_words = n
        return True

    cdef bint order(self) noexcept nogil:
        """Sort the names; whether there was memory for it."""
        cdef Py_ssize_t i, n = self._n_words
        cdef Name *scratch = <Name *> malloc(max(n, 1) * sizeof(Name))
        if scratch == NULL:
            return False
        for i in range(n):
            self.names[i].prefix = st_reversed(
                first_bytes(self.spelled + self.names[i].start, self.names[i].length))
        self.sort_run(0, n, scratch)
        free(scratch)
        return True

    cdef void sort_run(self, Py_ssize_t start, Py_ssize_t stop, Name *scratch) noexcept nogil:
        """Sort names by merging; runs of a few by insertion."""
        cdef Py_ssize_t middle = (start + stop) // 2, i, j, k
        cdef Name name
        if stop - start <= FEW:
            for i in range(start + 1, stop):
                name, j = self.names[i], i
                while j > start and self.comes_before(&name, &self.names[j - 1]):
                    self.names[j] = self.names[j - 1]
                    j -= 1
                self.names[j] = name
            return
        self.sort_run(start, middle, scratch)
        self.sort_run(middle, stop, scratch)
        memcpy(scratch + start, self.names + start, (middle - start) * sizeof(Name))
        i, j = start, middle
        for k in range(start, stop):
            if i == middle:
                break
            if j < stop and self.comes_before(&self.names[j], &scratch[i]):
                self.names[k] = self.names[j]
                j += 1
            else:
                self.names[k] = scratch[i]
                i += 1

    cdef inline bint comes_before(self, const Name *a, const Name *b) noexcept nogil:
        return compare(a, self.spelled, b, self.spelled) < 0

    def words(self, const int[::1] places):
        """The words at some places of the order, a list of str."""
        cdef Py_ssize_t i
        cdef const Name *name
        cdef list found = []
        for i in range(places.shape[0]):
            if places[i] < 0 or places[i] >= self._n_words:
                raise IndexError(f"words: place {places[i]} of {self._n_words}")
            name = &self.names[places[i]]
            found.append(
                self.spelled[name.start:name.start + name.length].decode("utf-8", "surrogatepass"))
        return found

    # Rows

    def sizes(self, const int[::1] columns):
        """How many of a row's entries have a column.

        IN columns (n_entries,), -1 for none; returns an array (n_rows,).
        """
        out = np.zeros(self._n_rows, dtype=np.int64)
        cdef long long[::1] found = out
        cdef Py_ssize_t i, row
        if columns.shape[0] != self.n_entries:
            raise ValueError(f"sizes: {columns.shape[0]} columns for {self.n_entries} entries")
        with nogil:
            i = 0
            for row in range(self._n_rows):
                while i < self.ends[row]:
                    found[row] += columns[self.indices[i]] >= 0
                    i += 1
        return out

    def write(self, const int[::1] columns, int[::1] indices, int[::1] counts):
        """Write the rows' columns, in order, and counts.

        IN columns (n_entries,), -1 for none; OUT indices and counts, (the sum of `sizes`,).
        """
        cdef Py_ssize_t longest = 0, row, start = 0
        cdef int n_columns = 0
        if columns.shape[0] != self.n_entries or indices.shape[0] != counts.shape[0]:
            raise ValueError("write: the shapes of columns, indices or counts do not agree")
        for row in range(self.n_entries):
            n_columns = max(n_columns, columns[row] + 1)
        for row in range(self._n_rows):
            longest = max(longest, self.ends[row] - start)
            start = self.ends[row]
        cdef Py_ssize_t room = SORTED_AT_ONCE + longest
        cdef Item *items = <Item *> malloc(2 * room * sizeof(Item))
        cdef Py_ssize_t *starts = <Py_ssize_t *> malloc((self._n_rows + 1) * sizeof(Py_ssize_t))
        cdef Py_ssize_t written = -1
        if items != NULL and starts != NULL:
            with nogil:
                written = self.write_rows(
                    &columns[0] if n_columns else NULL, n_columns, items, room, starts,
                    &indices[0] if n_columns else NULL, &counts[0] if n_columns else NULL,
                    indices.shape[0])
        free(items)
        free(starts)
        if written < 0:
            raise MemoryError()
        if written != indices.shape[0]:
            raise ValueError("write: indices and counts do not have the length that sizes says")

    cdef Py_ssize_t write_rows(
        self, const int *columns, int n_columns, Item *items, Py_ssize_t room, Py_ssize_t *starts,
        int *indices, int *counts, Py_ssize_t n_out
    ) noexcept nogil:
        """Some rows at a time: collect them, sort all by column, then part them again."""
        cdef Py_ssize_t row = 0, first, i = 0, k, n, at = 0, written = 0
        cdef Item *items_sorted
        while row < self._n_rows:
            first, n = row, 0
            while row < self._n_rows and (n < SORTED_AT_ONCE):
                starts[row - first] = written + n
                while i < self.ends[row]:
                    if n_columns and columns[self.indices[i]] >= 0:
                        items[n].column = columns[self.indices[i]]
                        items[n].row, items[n].count = <int> (row - first), self.counts[i]
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


cdef inline int entry_in(uint64 slot) noexcept nogil:
    """The entry that a slot of the table stands for, -1 for none."""
    return <int> (slot & <uint64> 0xFFFFFFFF) - 1


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


def places_of(dict places, list words):
    """The place of each word in a dict of int, -1 for one that is not there: int32.

    Python equivalent::

        np.array([places.get(word, -1) for word in words], dtype=np.int32)
    """
    out = np.empty(len(words), dtype=np.int32)
    cdef int[::1] found = out
    cdef Py_ssize_t i
    cdef PyObject *place
    for i in range(len(words)):
        place = PyDict_GetItemWithError(places, words[i])
        found[i] = -1 if place == NULL else <int> <object> place
    return out


def merge(list parts):
    """Words of several sorted parts in one order.

    Returns the number of words; for each part the word of each entry, int32, -1 where it was
    not counted; for each word a part that has it and its place there, int32; and the rows that
    have the word, int64.
    """
    cdef Py_ssize_t total = 0, n = 0, p, n_parts = len(parts)
    cdef Counted part
    cdef int[::1] one_map
    maps = [np.full((<Counted> part).n_entries, -1, dtype=np.int32) for part in parts]
    cdef Cursor *cursors = <Cursor *> malloc(max(n_parts, 1) * sizeof(Cursor))
    if cursors == NULL:
        raise MemoryError()
    for p in range(n_parts):
        part, one_map = parts[p], maps[p]
        cursors[p].name, cursors[p].spelled = part.names, part.spelled
        cursors[p].first, cursors[p].last = part.names, part.names + part._n_words
        cursors[p].words = &one_map[0] if part.n_entries else NULL
        total += part._n_words
    owners, places = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
    frequencies = np.zeros(total, dtype=np.int64)
    cdef int[::1] owner = owners, place = places
    cdef long long[::1] frequency = frequencies
    if total:
        with nogil:
            n = merge_names(cursors, n_parts, &owner[0], &place[0], &frequency[0])
    free(cursors)
    return n, maps, owners[:n], places[:n], frequencies[:n]


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
