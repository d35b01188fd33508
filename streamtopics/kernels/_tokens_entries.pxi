# SPDX-License-Identifier: BSD-3-Clause
# Included by _tokens.pyx: entries. Each word and n-gram gets a number, by a hash table with open
# addressing.

# A word or an n-gram. Of words longer than 16 bytes, `hi` is where they start among the long
# ones; of n-grams, `lo` holds the entries of the (n-1)-gram and the word.
cdef struct Entry:
    uint64 lo
    uint64 hi
    unsigned int length
    int frequency
    int row
    int place

# A word to look up: what its entry has, and the bits of its hash that the table has; whether the
# word before it is its neighbour.
cdef struct Word:
    uint64 lo
    uint64 hi
    uint64 tag
    const unsigned char *text
    unsigned int length
    bint adjacent

# No stranger can make words that all fall into one place of the table; results do not depend
# on it.
cdef uint64 SEED = int.from_bytes(os.urandom(8), "little")


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


cdef Word word_of(const unsigned char *text, Py_ssize_t n) noexcept nogil:
    """What is needed to look up a word of a text with padding."""
    cdef Word word
    cdef Py_ssize_t i
    word.lo, word.hi = first_bytes(text, n), 0
    word.text, word.length, word.adjacent = text, <unsigned int> n, False
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


cdef inline int entry_in(uint64 slot) noexcept nogil:
    """The entry that a slot of the table stands for, -1 for none."""
    return <int> (slot & <uint64> 0xFFFFFFFF) - 1


cdef class Entries:
    """Words and n-grams, numbered as they come, in a hash table."""

    cdef Entry *entries
    cdef Py_ssize_t n_entries, entries_room
    cdef uint64 *slots
    cdef uint64 mask
    cdef unsigned char *long_words
    cdef Py_ssize_t n_long, long_room

    def __cinit__(self, *args, **kwargs):
        self.mask = 1023
        self.slots = <uint64 *> calloc(self.mask + 1, sizeof(uint64))
        if self.slots == NULL:
            raise MemoryError()

    def __dealloc__(self):
        free(self.entries)
        free(self.slots)
        free(self.long_words)

    @cython.final
    cdef bint begin_with(self, Entries other) noexcept:
        """Begin with the entries of another; whether there was memory for it."""
        cdef uint64 *slots = <uint64 *> realloc(self.slots, (other.mask + 1) * sizeof(uint64))
        if slots == NULL:
            return False
        self.slots, self.mask = slots, other.mask
        memcpy(slots, other.slots, (other.mask + 1) * sizeof(uint64))
        if not grown(
            <void **> &self.entries, &self.entries_room, other.n_entries, sizeof(Entry)
        ) or not grown(<void **> &self.long_words, &self.long_room, other.n_long, 1):
            return False
        if other.n_entries:
            memcpy(self.entries, other.entries, other.n_entries * sizeof(Entry))
        if other.n_long:
            memcpy(self.long_words, other.long_words, other.n_long)
        self.n_entries, self.n_long = other.n_entries, other.n_long
        return True

    @cython.final
    cdef int find_str(self, str text) except -1:
        """The entry of a word, whatever its characters."""
        return self.find_bytes(text.encode("utf-8", "surrogatepass"))

    @cython.final
    cdef int find_bytes(self, bytes text) except -1:
        """The entry of a word, whatever its bytes."""
        cdef bytes padded = text + bytes(PADDING)
        cdef Word word = word_of(<const unsigned char *> padded, len(text))
        cdef int entry = self.find(&word)
        if entry < 0:
            raise MemoryError()
        return entry

    @cython.final
    cdef int find_gram(self, int prefix, int last, int n) noexcept nogil:
        """The entry of an n-gram: of the (n-1)-gram before it and its last word."""
        cdef Word gram
        gram.lo, gram.hi = <uint64> prefix << 32 | <uint64> last, 0
        gram.length, gram.text = <unsigned int> (GRAM | n), NULL
        gram.tag = mix(gram.lo ^ SEED ^ <uint64> n) >> 32
        return self.find(&gram)

    @cython.final
    cdef inline int find(self, const Word *word) noexcept nogil:
        """The entry of a word, a new one if need be; -1 if memory is out."""
        cdef uint64 place = 0
        cdef int found = self.known(word, &place)
        return found if found >= 0 else self.add(word, place)

    @cython.final
    cdef inline int known(self, const Word *word, uint64 *free_place) noexcept nogil:
        """The entry of a word; -1 if there is none, and where it would be in the table."""
        cdef uint64 place = word.tag & self.mask, slot
        cdef bint is_long = 16 < word.length < GRAM
        cdef int found
        cdef const Entry *entry
        while True:
            slot = self.slots[place]
            if slot == 0:
                free_place[0] = place
                return -1
            if slot >> 32 == word.tag:
                found = entry_in(slot)
                entry = &self.entries[found]
                if entry.lo == word.lo and entry.length == word.length and (
                    memcmp(self.long_words + entry.hi, word.text, word.length) == 0 if is_long
                    else entry.hi == word.hi
                ):
                    return found
            place = (place + 1) & self.mask

    @cython.final
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

    @cython.final
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

    @cython.final
    cdef Py_ssize_t spelled_length(self, int found) noexcept nogil:
        cdef Py_ssize_t length = 0
        while self.entries[found].length >= GRAM:
            length += 1 + self.entries[self.entries[found].lo & <uint64> 0xFFFFFFFF].length
            found = <int> (self.entries[found].lo >> 32)
        return length + self.entries[found].length

    @cython.final
    cdef void write_word(self, int found, unsigned char *out) noexcept nogil:
        """Write the bytes of a word."""
        cdef const Entry *entry = &self.entries[found]
        cdef unsigned int i
        if entry.length > 16:
            memcpy(out, self.long_words + entry.hi, entry.length)
            return
        for i in range(entry.length):
            out[i] = <unsigned char> ((entry.lo if i < 8 else entry.hi) >> 8 * (i & 7))


@cython.final
cdef class Words(Entries):
    """Words and their numbers, from 0 on. A word that comes again has the number that it had."""

    def __cinit__(self, list words):
        self.numbers(words, True)

    def __len__(self):
        return self.n_entries

    def extend(self, list words):
        """Number more words."""
        self.numbers(words, True)

    def of(self, list words):
        """The number of each word, -1 for one that has none: int32."""
        return self.numbers(words, False)

    cdef object numbers(self, list words, bint adds):
        """Look words up, some at a time so that they wait for memory together."""
        cdef Py_ssize_t n = len(words), i, k, m, size, used, room = 0
        cdef Py_ssize_t starts[AT_ONCE + 1]
        cdef Word some[AT_ONCE]
        cdef unsigned char *scratch = NULL
        cdef const unsigned char *text
        cdef uint64 place
        cdef list are_ascii = list(map(str.isascii, words))
        cdef bytes encoded
        out = np.empty(n, dtype=np.int32)
        cdef int[::1] found = out
        try:
            for i in range(0, n, AT_ONCE):
                m, used = min(AT_ONCE, n - i), 0
                for k in range(m):
                    if are_ascii[i + k] is True:
                        text = <const unsigned char *> PyUnicode_AsUTF8AndSize(words[i + k], &size)
                    else:
                        encoded = words[i + k].encode("utf-8", "surrogatepass")
                        text, size = encoded, len(encoded)
                    if size >= GRAM or not grown(
                        <void **> &scratch, &room, used + size + PADDING, 1
                    ):
                        raise MemoryError()
                    memcpy(scratch + used, text, size)
                    memset(scratch + used + size, 0, PADDING)
                    starts[k] = used
                    used += size + PADDING
                starts[m] = used
                for k in range(m):
                    some[k] = word_of(scratch + starts[k], starts[k + 1] - starts[k] - PADDING)
                    st_prefetch(&self.slots[some[k].tag & self.mask])
                for k in range(m):
                    found[i + k] = entry_in(self.slots[some[k].tag & self.mask])
                    if found[i + k] >= 0:
                        st_prefetch(&self.entries[found[i + k]])
                for k in range(m):
                    found[i + k] = self.find(&some[k]) if adds else self.known(&some[k], &place)
                    if adds and found[i + k] < 0:
                        raise MemoryError()
        finally:
            free(scratch)
        return out
