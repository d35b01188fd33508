# SPDX-License-Identifier: BSD-3-Clause
"""Words of texts and how often each occurs in each text.

A text is folded first: into UTF-8 in lower case, in which a zero stands for each character that
is no part of a word, whatever the width of the text's characters. Words are then the runs
between zeros, found eight bytes at a time. They are numbered as they come, in a hash table of
which a word of up to 16 bytes takes half a cache line; an n-gram is the pair of the (n-1)-gram
before it and its last word. Nothing but the collection of the texts needs the GIL.

Phrases are pairs of neighbouring words that count as one. As long as the phrases are not known,
words are kept in order, and rows are counted from the words afterwards.
"""
import os
import weakref

import numpy as np

cimport cython
from libc.math cimport INFINITY as inf
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

from streamtopics.kernels._random cimport mix, uint64

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL
    unsigned int *PyUnicode_AsUCS4(
        object text, unsigned int *out, Py_ssize_t room, bint with_zero) except NULL
    Py_ssize_t PyUnicode_FindChar(
        object text, unsigned int ch, Py_ssize_t start, Py_ssize_t end, int direction) except -2

cdef extern from "_tokens.h" nogil:
    uint64 st_load(const unsigned char *text) noexcept
    uint64 st_reversed(uint64 x) noexcept
    int st_first_zero(uint64 x) noexcept
    void st_prefetch(const void *address) noexcept
    void st_fold_ascii(
        const unsigned char *text, Py_ssize_t n, unsigned char to_lower, unsigned char keep,
        unsigned char mark, unsigned char *out
    ) noexcept

cdef enum:
    MOST_COLUMNS = 0x7FFFFFFF
    # Zeros after a folded text, so that loads of eight bytes may begin anywhere in it.
    PADDING = 24
    # Marks the length of an entry that is an n-gram; the rest of the length is n.
    GRAM = 0x80000000
    # Characters that are copied before they are counted.
    WIDE_AT_ONCE = 0x100000
    N_CHARACTERS = 0x110000
    # Characters for which Python is asked together.
    PAGE = 256
    # Marks a decimal digit or an underscore.
    NO_LETTER = 0x80000000
    # Marks a character that becomes none or several.
    MANY = 0x80000000
    # Words that are looked up together, so that they wait for memory together.
    AT_ONCE = 32
    # Entries of rows that are put in order together.
    SORTED_AT_ONCE = 4096
    DIGIT = 1024
    # Stands for a digit or an underscore in words of letters alone.
    MARKED = 1
    # What words are runs of: word characters; letters; or word characters, if all are letters.
    WORD_CHARACTERS = 0
    LETTERS = 1
    LETTER_WORDS = 2
    # What a word may do in a phrase.
    BEGINS = 1
    ENDS = 2
    # Decays after which all words of a stream are brought to date.
    MOST_DECAYS = 256
    # Columns for one word more in a pool.
    POOLED = 32

include "_tokens_entries.pxi"
include "_tokens_letters.pxi"
include "_tokens_names.pxi"
include "_tokens_pairs.pxi"
include "_tokens_rows.pxi"
include "_tokens_columns.pxi"


@cython.final
cdef class Counted(Entries):
    """Counts of words in texts, a row each, and the words.

    IN min_length, characters of the shortest word; min_n and max_n, words of the shortest and the
    longest n-gram; stop_words, `Words`; alphabet, what words are runs of, by the pattern: 0,
    ``\\w``; 1, ``[^\\W\\d_]``; 2 the same with ``\\b`` on both sides, so that a run of ``\\w``
    counts if it has only letters; `keeps`, whether words are only kept, for `pairs` and `recount`.
    """

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
    cdef int min_n, max_n, alphabet
    # The first row of the document that the next row is a part of.
    cdef int first_row
    # Words in order, those that are no neighbours of the word before as -1 - word; ends of rows.
    cdef int *kept
    cdef Py_ssize_t *kept_ends
    cdef Py_ssize_t n_kept, kept_room, kept_ends_room
    cdef bint keeps
    # What the first words may do in phrases; the phrases, with their entries in place of counts;
    # the word that waits for the next; whether the last word was a stop word.
    cdef unsigned char *roles
    cdef Pairs phrases
    cdef int n_roles, waiting
    cdef bint was_stop

    def __cinit__(self, Py_ssize_t min_length, int min_n, int max_n,
                  Words stop_words=None, int alphabet=WORD_CHARACTERS, bint keeps=False):
        if not WORD_CHARACTERS <= alphabet <= LETTER_WORDS:
            raise ValueError(f"Counted: alphabet is {alphabet}, not 0, 1 or 2")
        self.alphabet = alphabet
        self.min_length, self.min_n, self.max_n = min_length, min_n, max_n
        self.keeps, self.waiting = keeps, -1
        self.before = <int *> malloc(max(max_n, 1) * sizeof(int))
        if self.before == NULL or not (stop_words is None or self.begin_with(stop_words)):
            raise MemoryError()
        self.n_stop = self.n_entries

    def __dealloc__(self):
        free(self.indices)
        free(self.counts)
        free(self.ends)
        free(self.names)
        free(self.spelled)
        free(self.before)
        free(self.kept)
        free(self.kept_ends)
        free(self.roles)
        pairs_freed(&self.phrases)

    @property
    def n_rows(self):
        """Texts counted."""
        return self._n_rows

    @property
    def n_words(self):
        """Distinct words counted, once they are sorted."""
        return self._n_words

    # Counting

    def count(self, list texts, const unsigned char[::1] lower, const unsigned char[::1] begins,
              Letters letters=None):
        """Count the words of texts, in lower case where `lower` says so: a row more for each.

        IN texts (n,) of str, lower (n,), begins (n,): whether a document begins with the text,
        of those in which the frequencies are counted; letters: what the characters of a text
        become, in the place of their lower case, if it has others than ASCII.
        """
        cdef Py_ssize_t n = len(texts), i = 0, first
        cdef bint enough = True
        cdef list are_ascii = list(map(str.isascii, texts))
        if lower.shape[0] != n or begins.shape[0] != n:
            raise ValueError(f"count: {lower.shape[0]}, {begins.shape[0]} flags for {n} texts")
        cdef Text *collected = <Text *> malloc(max(n, 1) * sizeof(Text))
        cdef Wide wide = Wide(NULL, 0, 0), scratch = Wide(NULL, 0, 0)
        if collected == NULL:
            raise MemoryError()
        try:
            while enough and i < n:
                first, wide.n = i, 0
                while i < n and wide.n < WIDE_AT_ONCE:
                    collect(texts[i], are_ascii[i] is True, lower[i], letters, &collected[i], &wide,
                            &scratch)
                    i += 1
                with nogil:
                    enough = self.count_texts(collected, first, i, begins, wide.characters)
            if not enough:
                raise MemoryError()
        finally:
            free(wide.characters)
            free(scratch.characters)
            free(collected)

    def count_tokens(self, tokens):
        """Count tokens that were found elsewhere: one row more.

        IN tokens, an iterable of str.
        """
        if not self.begun():
            raise MemoryError()
        self.first_row = <int> self._n_rows
        for token in tokens:
            if not isinstance(token, str):
                raise TypeError(
                    f"analyzer must return words of type str; got {token!r:.60}, a "
                    f"{type(token).__name__}")
            if not self.take(self.find_str(token), True):
                raise MemoryError()
        if not self.ended():
            raise MemoryError()

    cdef bint begun(self) noexcept nogil:
        """Whether there is memory for one more row."""
        cdef int k
        for k in range(self.max_n):
            self.before[k] = -1
        self.was_stop = True
        return grown(
            <void **> &self.ends, &self.ends_room, self._n_rows + 1, sizeof(Py_ssize_t)
        ) and (not self.keeps or grown(
            <void **> &self.kept_ends, &self.kept_ends_room, self._n_rows + 1, sizeof(Py_ssize_t)
        ))

    cdef bint ended(self) noexcept nogil:
        """End a row; whether there was memory for it."""
        if self.waiting >= 0 and self.count_entry(self.waiting) < 0:
            return False
        self.waiting = -1
        self.ends[self._n_rows] = self.n_counts
        if self.keeps:
            self.kept_ends[self._n_rows] = self.n_kept
        self._n_rows += 1
        return True

    cdef bint count_texts(self, const Text *texts, Py_ssize_t first, Py_ssize_t stop,
                          const unsigned char[::1] begins,
                          const unsigned int *wide) noexcept nogil:
        """Count the words of some texts; whether there was memory for it."""
        cdef Py_ssize_t i, longest = 0
        cdef bint enough = True
        for i in range(first, stop):
            longest = max(longest, texts[i].length * (1 if texts[i].ascii != NULL else 4))
        cdef unsigned char *folded = <unsigned char *> malloc(longest + PADDING)
        if folded == NULL:
            return False
        for i in range(first, stop):
            if begins[i]:
                self.first_row = <int> self._n_rows
            if not self.count_text(&texts[i], wide, folded):
                enough = False
                break
        free(folded)
        return enough

    cdef bint count_text(self, const Text *text, const unsigned int *wide,
                         unsigned char *folded) noexcept nogil:
        """Count the words of one text; whether there was memory for it."""
        cdef Py_ssize_t n = text.length
        cdef bint is_ascii = text.ascii != NULL
        if is_ascii:
            st_fold_ascii(
                text.ascii, n, 0x20 if text.lower else 0,
                0xFF if self.alphabet == WORD_CHARACTERS else 0,
                MARKED if self.alphabet == LETTER_WORDS else 0, folded)
        else:
            n = fold(wide + text.start, n, text.lower, self.alphabet, folded)
            if n < 0:
                return False
        memset(folded + n, 0, PADDING)
        return self.begun() and self.count_folded(folded, n, text.ascii) and self.ended()

    cdef bint count_folded(self, const unsigned char *text, Py_ssize_t n,
                           const unsigned char *source) noexcept nogil:
        """Count the runs between zeros; whether there was memory for it.

        IN source: the text before it was folded, NULL if it has more than ASCII.
        """
        cdef const unsigned char *begin = text
        cdef const unsigned char *end = text + n
        cdef const unsigned char *start
        cdef const unsigned char *last = NULL
        cdef bint is_ascii = source != NULL
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
            if self.alphabet == LETTER_WORDS and memchr(start, MARKED, length) != NULL:
                continue
            if length >= GRAM:
                return False
            words[found] = word_of(start, length)
            words[found].adjacent = start - 1 == last and (
                not is_ascii or is_joint(source[last - begin]))
            last = text
            st_prefetch(&self.slots[words[found].tag & self.mask])
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
                st_prefetch(&self.entries[entry])
        for i in range(n):
            entry = self.find(&words[i])
            if entry < 0:
                return False
            if entry < self.n_stop:
                self.was_stop = True
                continue
            if not self.take(entry, words[i].adjacent):
                return False
        return True

    cdef inline bint take(self, int word, bint adjacent) noexcept nogil:
        """Keep or count a word; whether there was memory for it."""
        adjacent = adjacent and not self.was_stop
        self.was_stop = False
        if self.keeps:
            if not grown(<void **> &self.kept, &self.kept_room, self.n_kept + 1, sizeof(int)):
                return False
            self.kept[self.n_kept] = word if adjacent else -1 - word
            self.n_kept += 1
            return True
        return self.count_word(word, adjacent) if self.max_n == 1 else self.count_grams(word)

    cdef inline bint count_word(self, int word, bint adjacent) noexcept nogil:
        """Count a word, or the phrase that it ends; whether there was memory for it."""
        cdef int before = self.waiting
        cdef uint64 place
        cdef unsigned char role = self.roles[word] if word < self.n_roles else 0
        if before >= 0:
            self.waiting = -1
            if adjacent and role & ENDS:
                place = place_of(&self.phrases, before, word)
                if self.phrases.pairs[place].key:
                    return self.count_entry(self.phrases.pairs[place].count) >= 0
            if self.count_entry(before) < 0:
                return False
        if role & BEGINS:
            self.waiting = word
            return True
        return self.count_entry(word) >= 0

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
        entry.frequency += entry.row < self.first_row
        entry.row = <int> self._n_rows
        entry.place = <int> (self.n_counts - start)
        self.indices[self.n_counts] = found
        self.counts[self.n_counts] = 1
        self.n_counts += 1
        return 0

    # Phrases

    def join(self, list phrases):
        """Count the pairs of words in a list, of two bytes each, as one from now on."""
        cdef int first, last, phrase
        cdef uint64 place
        cdef tuple one
        # Entries are numbered before there are roles for them.
        for one in phrases:
            self.find_bytes(one[0])
            self.find_bytes(one[1])
        pairs_freed(&self.phrases)
        free(self.roles)
        self.n_roles, self.roles = 0, <unsigned char *> calloc(max(self.n_entries, 1), 1)
        if self.roles == NULL or not pairs_begun(&self.phrases, 4 * len(phrases)):
            raise MemoryError()
        self.n_roles = <int> self.n_entries
        for one in phrases:
            first, last = self.find_bytes(one[0]), self.find_bytes(one[1])
            # A word that is spelled like the phrase has the same entry.
            phrase = self.find_bytes(one[0] + b" " + one[1])
            self.roles[first] |= BEGINS
            self.roles[last] |= ENDS
            place = place_of(&self.phrases, first, last)
            self.phrases.pairs[place].key = key_of(first, last)
            self.phrases.pairs[place].count = phrase

    def recount(self, const unsigned char[::1] begins):
        """Count the rows of the words that were kept anew, with the phrases of `join`."""
        cdef Py_ssize_t i, n_entries = self.n_entries
        cdef Seen *seen = <Seen *> calloc(max(n_entries, 1), sizeof(Seen))
        try:
            if not self.keeps or begins.shape[0] != self._n_rows:
                raise ValueError(
                    f"recount: {begins.shape[0]} flags for {self._n_rows} rows that were kept")
            # There are no more counts than words that were kept.
            if seen == NULL or not grown(
                <void **> &self.indices, &self.indices_room, self.n_kept + 1, sizeof(int)
            ) or not grown(<void **> &self.counts, &self.counts_room, self.n_kept + 1, sizeof(int)):
                raise MemoryError()
            with nogil:
                for i in range(self.n_roles):
                    seen[i].role = self.roles[i]
                self.count_kept(seen, begins)
                for i in range(n_entries):
                    self.entries[i].frequency = seen[i].frequency
        finally:
            free(seen)

    cdef void count_kept(self, Seen *seen, const unsigned char[::1] begins) noexcept nogil:
        """Count the words of all rows that were kept, as `count_word` does."""
        cdef Row row
        cdef Py_ssize_t r, i = 0, n = 0
        cdef int word, waiting = -1, phrase
        cdef uint64 place
        cdef const int *kept = self.kept
        row.indices, row.counts, row.first = self.indices, self.counts, 0
        for r in range(self._n_rows):
            row.row, row.start = <int> r + 1, n
            if begins[r]:
                row.first = row.row
            while i < self.kept_ends[r]:
                if i + 16 < self.n_kept:
                    st_prefetch(&seen[word_in(kept[i + 16])])
                word = word_in(kept[i])
                if waiting >= 0:
                    phrase = -1
                    if kept[i] >= 0 and seen[word].role & ENDS:
                        place = place_of(&self.phrases, waiting, word)
                        if self.phrases.pairs[place].key:
                            phrase = self.phrases.pairs[place].count
                    if phrase >= 0:
                        n = noted(row, &seen[phrase], phrase, n)
                    else:
                        n = noted(row, &seen[waiting], waiting, n)
                    waiting = -1
                    if phrase >= 0:
                        i += 1
                        continue
                if seen[word].role & BEGINS:
                    waiting = word
                else:
                    n = noted(row, &seen[word], word, n)
                i += 1
            if waiting >= 0:
                n = noted(row, &seen[waiting], waiting, n)
                waiting = -1
            self.ends[r] = n
        self.n_counts = n

    def pairs(self, const unsigned char[::1] rows):
        """Pairs of neighbours in some of the rows that were kept.

        IN rows (n_rows,): which. Returns their entries (n_pairs, 2), int32; how often each is
        there, int64; and how often each entry is there, (n_entries,), int64.
        """
        cdef Py_ssize_t row, most = 0, start
        cdef bint enough = True
        cdef Pairs pairs
        if not self.keeps or rows.shape[0] != self._n_rows:
            raise ValueError(f"pairs: {rows.shape[0]} flags for {self._n_rows} rows")
        totals = np.zeros(self.n_entries, dtype=np.int64)
        cdef long long[::1] total = totals
        with nogil:
            for row in range(self._n_rows):
                start = self.kept_ends[row - 1] if row else 0
                if rows[row]:
                    most += count_words_of(self.kept, start, self.kept_ends[row], total)
            enough = pairs_begun(&pairs, most)
            for row in range(self._n_rows):
                if enough and rows[row]:
                    start = self.kept_ends[row - 1] if row else 0
                    add_pairs(&pairs, self.kept, start, self.kept_ends[row])
        if not enough:
            raise MemoryError()
        try:
            words, counts = np.empty((pairs.n, 2), np.int32), np.empty(pairs.n, np.int64)
            write_pairs(&pairs, words, counts)
        finally:
            pairs_freed(&pairs)
        return words, counts, totals

    def joined(self):
        """Entries of the phrases that were counted, int32."""
        cdef uint64 place
        cdef int phrase
        cdef list found = []
        for place in range(self.phrases.mask + 1 if self.n_roles else 0):
            phrase = self.phrases.pairs[place].count
            if self.phrases.pairs[place].key and self.entries[phrase].frequency:
                found.append(phrase)
        return np.array(found, dtype=np.int32)

    def tags(self):
        """A number of each word that depends on its bytes alone: uint64."""
        out = np.zeros(self.n_entries, dtype=np.uint64)
        cdef uint64[::1] tag = out
        cdef Py_ssize_t i
        cdef unsigned int k
        cdef const Entry *entry
        for i in range(self.n_entries):
            entry = &self.entries[i]
            tag[i] = mix(entry.lo + entry.length)
            if 16 < entry.length < GRAM:
                for k in range(8, entry.length):
                    tag[i] = mix(tag[i] ^ self.long_words[entry.hi + k])
            elif entry.hi:
                tag[i] = mix(tag[i] ^ entry.hi)
        return out

    def spell_entry(self, int found):
        """The word of an entry."""
        if not 0 <= found < self.n_entries or self.entries[found].length >= GRAM:
            raise IndexError(f"spell_entry: entry {found} of {self.n_entries}")
        cdef bytearray out = bytearray(self.entries[found].length)
        self.write_word(found, out)
        return out.decode("utf-8", "surrogatepass")

    # Words

    def sort(self):
        """Spell the words that were counted and put them in order, after counting."""
        cdef bint enough
        free(self.names)
        free(self.spelled)
        self.names, self.spelled = NULL, NULL
        with nogil:
            enough = self.spell() and order(self.names, self._n_words, self.spelled)
        if not enough:
            raise MemoryError()

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
            if columns[row] == MOST_COLUMNS:
                raise ValueError(f"write: a column must be less than {MOST_COLUMNS}")
            n_columns = max(n_columns, columns[row] + 1)
        for row in range(self._n_rows):
            longest = max(longest, self.ends[row] - start)
            start = self.ends[row]
        cdef Py_ssize_t room = SORTED_AT_ONCE + longest
        cdef Item *items = <Item *> malloc(2 * room * sizeof(Item))
        cdef Py_ssize_t *starts = <Py_ssize_t *> malloc((self._n_rows + 1) * sizeof(Py_ssize_t))
        cdef Py_ssize_t written = -1
        cdef Rows rows
        rows.indices, rows.counts, rows.ends = self.indices, self.counts, self.ends
        rows.n = self._n_rows
        if items != NULL and starts != NULL:
            with nogil:
                written = write_rows(
                    &rows, &columns[0] if n_columns else NULL, n_columns, items, room, starts,
                    &indices[0] if n_columns else NULL, &counts[0] if n_columns else NULL,
                    indices.shape[0])
        free(items)
        free(starts)
        if written < 0:
            raise MemoryError()
        if written != indices.shape[0]:
            raise ValueError("write: indices and counts do not have the length that sizes says")


def merge(list parts):
    """Words of several sorted parts in one order.

    Returns the number of words; for each part the word of each entry, int32, -1 where it was
    not counted; for each word a part that has it and its place there, int32; and the rows that
    have the word, int64.
    """
    cdef Py_ssize_t total = 0, n = 0, p, n_parts = len(parts)
    cdef Counted part
    cdef int[::1] one_map
    # Not a comprehension: short of memory, Cython 3.3 frees twice what it cannot append.
    maps = [None] * n_parts
    for p in range(n_parts):
        part = parts[p]
        maps[p] = np.full(part.n_entries, -1, dtype=np.int32)
        total += part._n_words
    owners, places = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
    frequencies = np.zeros(total, dtype=np.int64)
    cdef int[::1] owner = owners, place = places
    cdef long long[::1] frequency = frequencies
    cdef Cursor *cursors = <Cursor *> malloc(max(n_parts, 1) * sizeof(Cursor))
    if cursors == NULL:
        raise MemoryError()
    try:
        for p in range(n_parts):
            part, one_map = parts[p], maps[p]
            cursors[p].name, cursors[p].spelled = part.names, part.spelled
            cursors[p].first, cursors[p].last = part.names, part.names + part._n_words
            cursors[p].words = &one_map[0] if part.n_entries else NULL
        if total:
            with nogil:
                n = merge_names(cursors, n_parts, &owner[0], &place[0], &frequency[0])
    finally:
        free(cursors)
    return n, maps, owners[:n], places[:n], frequencies[:n]
