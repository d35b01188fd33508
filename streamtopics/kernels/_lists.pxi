# SPDX-License-Identifier: BSD-3-Clause
"""Counts of words by topic as lists, of which each has the topics that its word has in order.

The list of word w begins at places[w, 0] of the arrays topics and counts, has places[w, 1] entries
and, where it may be changed in place, room for places[w, 2]. See `posteriors.lists`.
"""

from streamtopics.kernels._lists cimport (
    ST_GROUP, st_add_total, st_totals, st_write_totals, st_writer,
)


def merge_lists(const long long[:, ::1] places, const int[::1] topics, const double[::1] counts,
                const int[::1] words, const int[::1] indptr, const int[::1] added_topics,
                const double[::1] added, const double[::1] scale, const double[::1] unit,
                double least, tuple seed, int[::1] new_topics, double[::1] new_counts,
                long long[:, ::1] new_places, double[::1] change, Py_ssize_t n_used,
                bint in_place):
    """The lists of words plus `scale` times what is added, where they are or from n_used on.

    A count of less than `least` tokens, which is its product with `unit`, becomes so many or 0, at
    random with its value as the mean: see `_lists.h`.

    IN places (n, 3) of the lists of the words (n,), in topics and counts; in CSR form what is
    added, topics in any order; scale, unit (K,); a seed of whole numbers, with which each word
    draws a number of its own. OUT new_topics and new_counts, which may be the old ones, and are
    if lists that fit stay `in_place`; new_places (n, 3); change (K,), the sums of the counts then
    less those of before. Returns n_used then.
    """
    cdef Py_ssize_t n = words.shape[0], n_topics = scale.shape[0], i, j, k, most, needed = n_used
    cdef bint fits = (places.shape[0] == new_places.shape[0] == n == indptr.shape[0] - 1
                      and places.shape[1] == new_places.shape[1] == 3 and indptr[0] == 0
                      and added.shape[0] == added_topics.shape[0] == indptr[n]
                      and unit.shape[0] == change.shape[0] == n_topics
                      and counts.shape[0] == topics.shape[0]
                      and new_counts.shape[0] == new_topics.shape[0])
    for i in range(n if fits else 0):
        most = places[i, 1] + indptr[i + 1] - indptr[i]
        if not in_place or most > places[i, 2]:
            needed += most + most // 2 * in_place
        fits &= (indptr[i] <= indptr[i + 1] and places[i, 0] >= 0 and 0 <= places[i, 1]
                 and max(places[i, 1], places[i, 2]) <= topics.shape[0] - places[i, 0])
    # What is written behind a list is written over.
    cdef int[::1] own_topics = np.empty(n_topics + 1, np.int32)
    cdef double[::1] own_counts = np.empty(n_topics + 1)
    if not fits or needed >= new_topics.shape[0]:
        raise ValueError("merge_lists: the shapes of the arguments do not agree")
    check_places(added_topics, n_topics, "topic", "model")
    cdef st_totals totals
    totals.n_groups = (n_topics + ST_GROUP - 1) // ST_GROUP
    cdef double[::1] sums = np.zeros(n_topics)
    cdef uint64_t[::1] bits = np.zeros(totals.n_groups, np.uint64)
    totals.sums, totals.bits = &sums[0], &bits[0]
    cdef uint64 state, key = 0
    # Before the first update there are no entries.
    cdef const int *old_topics = NULL
    cdef const double *old_counts = NULL
    if topics.shape[0] > 0:
        old_topics, old_counts = &topics[0], &counts[0]
    cdef st_writer to
    to.unit, to.change = &unit[0], &change[0]
    to.least, to.most = least, np.max(least / np.asarray(unit))
    for part in seed:
        key = mix(key ^ <uint64> (part & 0xFFFFFFFFFFFFFFFF))
    change[:] = 0
    with nogil:
        for i in range(n):
            for j in range(indptr[i], indptr[i + 1]):
                k = added_topics[j]
                st_add_total(&totals, <int> k, scale[k] * added[j])
            state = key ^ mix(words[i])
            j = places[i, 0] if places[i, 1] > 0 else 0
            to.place, to.n = uniform(&state) * least, 0
            to.topics = &own_topics[0] if in_place else &new_topics[n_used]
            to.counts = &own_counts[0] if in_place else &new_counts[n_used]
            st_write_totals(&to, &totals, old_topics + j, old_counts + j, places[i, 1])
            new_places[i, 0], new_places[i, 1], new_places[i, 2] = places[i, 0], to.n, places[i, 2]
            if not in_place or to.n > places[i, 2]:
                new_places[i, 0], new_places[i, 2] = n_used, to.n + to.n // 2 * in_place
                n_used += new_places[i, 2]
            if in_place and to.n > 0:
                memcpy(&new_topics[new_places[i, 0]], to.topics, to.n * sizeof(int))
                memcpy(&new_counts[new_places[i, 0]], to.counts, to.n * sizeof(double))
    return n_used


cdef class ListChange(Written):
    """New places of the lists of some words: to carry it out takes no memory, and cannot fail."""
    cdef long long[:, ::1] places
    cdef const int[::1] words
    cdef const long long[:, ::1] new_places

    def __cinit__(self, long long[:, ::1] places, const int[::1] words,
                  const long long[:, ::1] new_places):
        check_places(words, places.shape[0], "word", "vocabulary")
        if (words.shape[0] != new_places.shape[0] or places.shape[1] != 3
                or new_places.shape[1] != 3):
            raise ValueError("ListChange: the shapes of the arguments do not agree")
        self.places, self.words, self.new_places = places, words, new_places

    cdef void carry_out(self) noexcept:
        cdef Py_ssize_t i, j
        for i in range(self.words.shape[0]):
            for j in range(3):
                self.places[self.words[i], j] = self.new_places[i, j]
