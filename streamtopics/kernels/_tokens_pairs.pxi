# SPDX-License-Identifier: BSD-3-Clause
# Included by _tokens.pyx: pairs. Neighbouring words and how often each pair is there, in a hash
# table with open addressing.

# Pairs; a key of zero is a free place.
cdef struct Pairs:
    uint64 *keys
    int *counts
    uint64 mask
    Py_ssize_t n


cdef bint pairs_begun(Pairs *pairs, Py_ssize_t most) noexcept nogil:
    """Make room for so many distinct pairs; whether there was memory for it."""
    pairs.mask, pairs.n = 1023, 0
    while pairs.mask < <uint64> (most + most // 2):
        pairs.mask = 2 * pairs.mask + 1
    pairs.keys = <uint64 *> calloc(pairs.mask + 1, sizeof(uint64))
    pairs.counts = <int *> calloc(pairs.mask + 1, sizeof(int))
    if pairs.keys == NULL or pairs.counts == NULL:
        pairs_freed(pairs)
        return False
    return True


cdef void pairs_freed(Pairs *pairs) noexcept nogil:
    """Give the memory of pairs back."""
    free(pairs.keys)
    free(pairs.counts)
    pairs.keys, pairs.counts = NULL, NULL


cdef inline uint64 key_of(int first, int last) noexcept nogil:
    """The key of a pair, which is not zero."""
    return <uint64> first << 32 | <uint64> (last + 1)


cdef inline uint64 place_of(const Pairs *pairs, int first, int last) noexcept nogil:
    """The place of a pair, or a free one."""
    cdef uint64 key = key_of(first, last), place = mix(key) & pairs.mask
    while pairs.keys[place] != key and pairs.keys[place]:
        place = (place + 1) & pairs.mask
    return place


cdef Py_ssize_t count_words_of(const int *kept, Py_ssize_t start, Py_ssize_t stop,
                               long long[::1] total) noexcept nogil:
    """Count the words of a row; return how many have a neighbour before."""
    cdef Py_ssize_t i, found = 0
    for i in range(start, stop):
        total[kept[i] if kept[i] >= 0 else -1 - kept[i]] += 1
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
                ST_PREFETCH(&pairs.keys[places[n]])
                ST_PREFETCH(&pairs.counts[places[n]])
                n += 1
            before = word if word >= 0 else -1 - word
            i += 1
        for k in range(n):
            place = places[k]
            while pairs.keys[place] != keys[k] and pairs.keys[place]:
                place = (place + 1) & pairs.mask
            if pairs.keys[place] == 0:
                pairs.keys[place] = keys[k]
                pairs.n += 1
            pairs.counts[place] += 1


cdef void write_pairs(const Pairs *pairs, int[:, ::1] words, long long[::1] counts) noexcept:
    """Write the pairs and their counts."""
    cdef uint64 place
    cdef Py_ssize_t n = 0
    for place in range(pairs.mask + 1):
        if pairs.keys[place]:
            words[n, 0] = <int> (pairs.keys[place] >> 32)
            words[n, 1] = <int> (pairs.keys[place] & <uint64> 0xFFFFFFFF) - 1
            counts[n] = pairs.counts[place]
            n += 1
