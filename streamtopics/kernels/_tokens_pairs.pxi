# SPDX-License-Identifier: BSD-3-Clause
# Included by _tokens.pyx: pairs. Neighbouring words and how often each pair is there, in a hash
# table with open addressing.

# Two neighbouring words, and how often they are that.
cdef struct Pair:
    uint64 key
    int count

# Pairs; a key of zero is a free place.
cdef struct Pairs:
    Pair *pairs
    uint64 mask
    Py_ssize_t n


cdef bint pairs_begun(Pairs *pairs, Py_ssize_t most) noexcept nogil:
    """Make room for so many distinct pairs; whether there was memory for it."""
    pairs.mask, pairs.n = 1023, 0
    while pairs.mask < <uint64> (most + most // 4):
        pairs.mask = 2 * pairs.mask + 1
    pairs.pairs = <Pair *> calloc(pairs.mask + 1, sizeof(Pair))
    return pairs.pairs != NULL


cdef void pairs_freed(Pairs *pairs) noexcept nogil:
    """Give the memory of pairs back."""
    free(pairs.pairs)
    pairs.pairs = NULL


cdef inline int word_in(int kept) noexcept nogil:
    """A word that was kept, whether it is the neighbour of the word before or not."""
    return kept if kept >= 0 else -1 - kept


cdef inline uint64 key_of(int first, int last) noexcept nogil:
    """The key of a pair, which is not zero."""
    return <uint64> first << 32 | <uint64> (last + 1)


cdef inline uint64 place_of(const Pairs *pairs, int first, int last) noexcept nogil:
    """The place of a pair, or a free one."""
    cdef uint64 key = key_of(first, last), place = mix(key) & pairs.mask
    while pairs.pairs[place].key != key and pairs.pairs[place].key:
        place = (place + 1) & pairs.mask
    return place


cdef Py_ssize_t count_words_of(const int *kept, Py_ssize_t start, Py_ssize_t stop,
                               long long[::1] total) noexcept nogil:
    """Count the words of a row; return how many have a neighbour before."""
    cdef Py_ssize_t i, found = 0
    for i in range(start, stop):
        total[word_in(kept[i])] += 1
        found += kept[i] >= 0
    return found


cdef void add_pairs(Pairs *pairs, const int *kept, Py_ssize_t start,
                    Py_ssize_t stop) noexcept nogil:
    """Count the pairs of a row, several at a time so that they wait for memory together."""
    cdef uint64 keys[AT_ONCE]
    cdef uint64 places[AT_ONCE]
    cdef uint64 place
    cdef Py_ssize_t i = start
    cdef int before = 0, n, k, word
    while i < stop:
        n = 0
        while i < stop and n < AT_ONCE:
            word = kept[i]
            if word >= 0:
                keys[n] = key_of(before, word)
                places[n] = mix(keys[n]) & pairs.mask
                st_prefetch(&pairs.pairs[places[n]])
                n += 1
            before = word_in(word)
            i += 1
        for k in range(n):
            place = places[k]
            while pairs.pairs[place].key != keys[k] and pairs.pairs[place].key:
                place = (place + 1) & pairs.mask
            if pairs.pairs[place].key == 0:
                pairs.pairs[place].key = keys[k]
                pairs.n += 1
            pairs.pairs[place].count += 1


cdef void write_pairs(const Pairs *pairs, int[:, ::1] words, long long[::1] counts) noexcept:
    """Write the pairs and their counts."""
    cdef uint64 place, key
    cdef Py_ssize_t n = 0
    for place in range(pairs.mask + 1):
        key = pairs.pairs[place].key
        if key:
            words[n, 0], words[n, 1] = <int> (key >> 32), <int> (key & <uint64> 0xFFFFFFFF) - 1
            counts[n] = pairs.pairs[place].count
            n += 1


# Of an entry when rows are counted anew: one more than the last row that had it, its place there,
# the documents that have it, and what it may do in phrases.
cdef struct Seen:
    int row
    int place
    int frequency
    int role

# Where the counts of a row are written, and where they begin; one more than the row and than the
# first of its document.
cdef struct Row:
    int *indices
    int *counts
    Py_ssize_t start
    int row
    int first


cdef inline Py_ssize_t noted(Row row, Seen *seen, int found, Py_ssize_t n) noexcept nogil:
    """One more of an entry in a row that ends before n; return where it ends then."""
    cdef bint is_new = seen.row != row.row
    cdef Py_ssize_t place = n if is_new else row.start + seen.place
    row.indices[place] = found
    row.counts[place] = 1 + row.counts[place] * (not is_new)
    seen.frequency += seen.row < row.first
    seen.row, seen.place = row.row, <int> (place - row.start)
    return n + is_new
