# SPDX-License-Identifier: BSD-3-Clause
# Included by _tokens.pyx: columns. Which words of a stream have a column, at the cost of the words
# of a minibatch.
#
# All frequencies decay alike. A word is brought to date when it occurs, by the same products, in
# the same order, as if it had been in each step, so the bits are the same. Columns change hands
# where two orders begin: at the weakest words that have one, and at the strongest that have none.
# Words near there are in two pools. A bound for all other words decays as they do, and remains one,
# as products with one factor keep the order of numbers. When a step has to look beyond a pool, the
# pools are made anew in a pass over all words.

# A word by what it is compared by, then by its column or its place among the words.
cdef struct Ranked:
    double key
    int item

# The first words of an order, up to a bound, and some others. `beyond` is the least key above the
# bound's that was left out.
cdef struct Pool:
    Ranked *ranked
    Py_ssize_t n
    Py_ssize_t room
    Ranked bound
    double beyond

# What a step has overwritten: of a word its frequency, stamp and column (`other`); of a column its
# owner (`other`) and date, with a stamp of -1.
cdef struct Overwritten:
    double frequency
    long long since
    int item
    int stamp
    int other


cdef inline bint is_before(double key, int item, double other, int other_item) noexcept nogil:
    return key < other or (key == other and item < other_item)


cdef void sift(Ranked *heap, Py_ssize_t n, Py_ssize_t i) noexcept nogil:
    """Let an item of a heap sink to its place."""
    cdef Ranked one = heap[i]
    cdef Py_ssize_t child = 2 * i + 1
    while child < n:
        if child + 1 < n and is_before(heap[child + 1].key, heap[child + 1].item,
                                       heap[child].key, heap[child].item):
            child += 1
        if not is_before(heap[child].key, heap[child].item, one.key, one.item):
            break
        heap[i] = heap[child]
        i, child = child, 2 * child + 1
    heap[i] = one


cdef void heapify(Ranked *heap, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n // 2 - 1, -1, -1):
        sift(heap, n, i)


cdef Ranked popped(Pool *heap) noexcept nogil:
    """Take the first item out of a heap."""
    cdef Ranked first = heap.ranked[0]
    heap.n -= 1
    heap.ranked[0] = heap.ranked[heap.n]
    sift(heap.ranked, heap.n, 0)
    return first


cdef double nth_key(double *keys, Py_ssize_t n, Py_ssize_t nth) noexcept nogil:
    """The key at a place when they are in order; it moves them."""
    cdef Py_ssize_t first = 0, last = n - 1, i, j
    cdef double pivot
    while first < last:
        pivot = keys[first + (last - first) // 2]
        i, j = first, last
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        if nth <= j:
            last = j
        elif nth >= i:
            first = i
        else:
            break
    return keys[nth]


cdef inline bint room_for(Pool *pool, Py_ssize_t n) noexcept nogil:
    return grown(<void **> &pool.ranked, &pool.room, n, sizeof(Ranked))


cdef class Store:
    """The arrays of a stream, which a step changes, and what the last step has overwritten."""

    cdef Py_ssize_t n_words, n_columns, n_free, first_free
    cdef Py_ssize_t frequency_room, stamp_room, column_room, position_room
    cdef double *frequency
    # Of each word the number of decays that its frequency has had.
    cdef int *stamp
    cdef int *column
    # Of each word its place in the pool that it is in, -1 for none.
    cdef int *position
    cdef int *owner
    cdef long long *since
    cdef double decays[MOST_DECAYS]
    cdef int n_decays
    cdef Overwritten *old
    cdef Py_ssize_t n_old, old_room, old_words
    cdef int old_decays
    # Documents seen before and after the last step; -1 if there was none.
    cdef long long documents, now
    cdef long long version
    # Columns by frequency, and words without one by the negative of theirs. How many words the
    # pools were made for, 0 if they were not made.
    cdef Pool weak
    cdef Pool strong
    cdef Py_ssize_t pooled, least
    # Words below the least frequency that gets a column are in the way of none, whatever they
    # have: they go by their columns, and the pool has those up to `last_below`. Where they are
    # many it has all words up to there, and there is no bound.
    cdef Py_ssize_t last_below
    cdef bint by_value
    cdef double low
    cdef double high
    # What a step is about to do: columns that go to the first of the strong words.
    cdef Pool candidates
    cdef Pool weakest
    cdef Pool chosen
    cdef Pool taken

    def __cinit__(self):
        self.documents, self.high = -1, inf

    def __dealloc__(self):
        free(self.frequency)
        free(self.stamp)
        free(self.column)
        free(self.position)
        free(self.owner)
        free(self.since)
        free(self.old)
        free(self.weak.ranked)
        free(self.strong.ranked)
        free(self.candidates.ranked)
        free(self.weakest.ranked)
        free(self.chosen.ranked)
        free(self.taken.ranked)

    cdef bint words_room(self, Py_ssize_t n) noexcept nogil:
        """Whether there is room for so many words."""
        return (
            grown(<void **> &self.frequency, &self.frequency_room, n, sizeof(double))
            and grown(<void **> &self.stamp, &self.stamp_room, n, sizeof(int))
            and grown(<void **> &self.column, &self.column_room, n, sizeof(int))
            and grown(<void **> &self.position, &self.position_room, n, sizeof(int)))

    cdef bint columns_room(self, Py_ssize_t n) noexcept nogil:
        """Whether there is room for all columns."""
        self.owner = <int *> malloc(max(n, 1) * sizeof(int))
        self.since = <long long *> malloc(max(n, 1) * sizeof(long long))
        self.n_columns = n
        return self.owner != NULL and self.since != NULL

    cdef bint copy_before(self, Store other) noexcept:
        """Copy what there was before the last step; whether there was memory for it."""
        cdef Py_ssize_t n = self.n_words
        if not (other.words_room(n) and other.columns_room(self.n_columns)):
            return False
        if n:
            memcpy(other.frequency, self.frequency, n * sizeof(double))
            memcpy(other.stamp, self.stamp, n * sizeof(int))
            memcpy(other.column, self.column, n * sizeof(int))
        memcpy(other.owner, self.owner, self.n_columns * sizeof(int))
        memcpy(other.since, self.since, self.n_columns * sizeof(long long))
        memcpy(other.decays, self.decays, sizeof(self.decays))
        other.take_back(self.old, self.n_old, self.old_words, self.old_decays)
        other.version, other.least = self.version - 1, self.least
        return True

    cdef void take_back(self, const Overwritten *old, Py_ssize_t n, Py_ssize_t n_words,
                        int n_decays) noexcept nogil:
        """Write what was overwritten, the last first."""
        cdef const Overwritten *one
        while n:
            n -= 1
            one = &old[n]
            if one.stamp < 0:
                self.owner[one.item], self.since[one.item] = one.other, one.since
            else:
                self.frequency[one.item] = one.frequency
                self.stamp[one.item], self.column[one.item] = one.stamp, one.other
        self.n_words, self.n_decays, self.pooled, self.high = n_words, n_decays, 0, inf
        self.documents, self.n_old = -1, 0
        self.count_free()

    cdef void count_free(self) noexcept nogil:
        cdef Py_ssize_t c
        self.n_free, self.first_free = 0, 0
        for c in range(self.n_columns):
            self.n_free += self.owner[c] < 0

    cdef inline double value(self, int word) noexcept nogil:
        """The frequency of a word now."""
        cdef double found = self.frequency[word]
        cdef int k
        for k in range(self.stamp[word], self.n_decays):
            found *= self.decays[k]
        return found

    cdef void values(self, double *out) noexcept nogil:
        """Write the frequencies of all words now, many at a time where they lag alike."""
        cdef Py_ssize_t i = 0, k, j, n
        cdef int stamp
        cdef double factor
        while i < self.n_words:
            stamp, n = self.stamp[i], 0
            while i + n < self.n_words and n < 64 and self.stamp[i + n] == stamp:
                out[i + n] = self.frequency[i + n]
                n += 1
            for k in range(stamp, self.n_decays):
                factor = self.decays[k]
                for j in range(i, i + n):
                    out[j] *= factor
            i += n

    cdef inline void note_word(self, int word) noexcept nogil:
        """Note what a word is before it is changed; there is room."""
        cdef Overwritten *one = &self.old[self.n_old]
        one.item, one.frequency, one.stamp = word, self.frequency[word], self.stamp[word]
        one.other = self.column[word]
        self.n_old += 1

    cdef inline void note_column(self, int column) noexcept nogil:
        cdef Overwritten *one = &self.old[self.n_old]
        one.item, one.stamp, one.since = column, -1, self.since[column]
        one.other = self.owner[column]
        self.n_old += 1

    # A step

    cdef bint step(self, const int[::1] places, const double[::1] counts, double decay,
                   double low, double high, double margin, long long now,
                   long long documents) noexcept nogil:
        """Take a step; if memory is out nothing has changed, and it returns False.

        With a margin of 0 no column changes hands.
        """
        self.old_words, self.n_old = self.n_words, 0
        if self.n_decays == MOST_DECAYS or self.is_short(decay, low):
            self.values(self.frequency)
            memset(self.stamp, 0, self.n_words * sizeof(int))
            self.n_decays = 0
        self.old_decays = self.n_decays
        self.documents, self.now = documents, now
        if not self.counted(places, counts, decay):
            self.take_back(self.old, self.n_old, self.old_words, self.old_decays)
            return False
        if margin == 0:
            self.high = inf
        else:
            if not self.given(places, decay, low, high, margin, now):
                self.take_back(self.old, self.n_old, self.old_words, self.old_decays)
                return False
        self.version += 1
        return True

    cdef inline bint is_short(self, double decay, double low) noexcept nogil:
        """Whether words that are not in the pool fall below the least frequency."""
        return self.pooled == 0 or self.weak.n > 4 * self.pooled or (
            self.weak.bound.key * decay < low if self.by_value
            else False
        ) or (self.last_below < self.n_columns and low < self.low * decay)

    cdef bint counted(self, const int[::1] places, const double[::1] counts,
                      double decay) noexcept nogil:
        """Decay all frequencies, and add the counts of some words; whether there was memory."""
        cdef Py_ssize_t i, n = places.shape[0], n_words = self.n_words
        cdef int word
        for i in range(n):
            n_words = max(n_words, places[i] + 1)
        if not self.words_room(n_words) or not grown(
            <void **> &self.old, &self.old_room, n, sizeof(Overwritten)
        ):
            return False
        for i in range(self.n_words, n_words):
            self.frequency[i], self.stamp[i] = 0.0, self.n_decays
            self.column[i], self.position[i] = -1, -1
        if decay != 1.0:
            self.decays[self.n_decays] = decay
            self.n_decays += 1
            decayed(&self.weak, decay)
            decayed(&self.strong, decay)
            self.low *= decay
            self.high *= decay
            if decay == 0.0:
                # A bound may have been infinite.
                self.pooled, self.high = 0, inf
        self.n_words = n_words
        for i in range(n):
            word = places[i]
            self.note_word(word)
            self.frequency[word] = self.value(word) + counts[i]
            self.stamp[word] = self.n_decays
        if not room_for(&self.strong, self.strong.n + n) or not room_for(
            &self.weak, self.weak.n + n
        ):
            return False
        for i in range(n if self.pooled else 0):
            self.rank(places[i], self.frequency[places[i]])
        return True

    cdef void rank(self, int word, double value) noexcept nogil:
        """Put a word where it belongs, into its pool or not; there is room."""
        cdef int column = self.column[word], at = self.position[word]
        cdef Pool *pool = &self.weak if column >= 0 else &self.strong
        cdef double key = value if column >= 0 else -value
        cdef int item = column if column >= 0 else word
        if at >= 0:
            pool.ranked[at].key = key
        elif not is_before(pool.bound.key, pool.bound.item, key, item) or (
            column >= 0 and not self.by_value and column <= self.last_below
        ):
            pool.ranked[pool.n].key, pool.ranked[pool.n].item = key, item
            self.position[word] = <int> pool.n
            pool.n += 1
        elif key > pool.bound.key:
            pool.beyond = min(pool.beyond, key)

    cdef void leave(self, int word) noexcept nogil:
        """Take a word out of its pool, before its column changes."""
        cdef Pool *pool = &self.weak if self.column[word] >= 0 else &self.strong
        cdef int at = self.position[word]
        cdef Ranked last
        if at < 0:
            return
        pool.n -= 1
        last = pool.ranked[pool.n]
        pool.ranked[at] = last
        self.position[self.owner[last.item] if self.column[word] >= 0 else last.item] = at
        self.position[word] = -1

    cdef bint given(self, const int[::1] places, double decay, double low, double high,
                    double margin, long long now) noexcept nogil:
        """Give columns that are free, or whose word is too frequent or too rare, to others."""
        cdef Py_ssize_t i, least = self.least + self.n_columns // POOLED
        cdef int word
        cdef bint made = False
        # A word that was not too frequent and did not occur is so if the limit has fallen more
        # than it did.
        if high < self.high:
            for i in range(self.n_columns):
                word = self.owner[i]
                if word >= 0 and self.value(word) > high and not self.put_out(word, now):
                    return False
        else:
            for i in range(places.shape[0]):
                word = places[i]
                if self.column[word] >= 0 and self.frequency[word] > high:
                    if not self.put_out(word, now):
                        return False
        self.high = high
        if self.is_short(1.0, low):
            made = True
            if not self.pool(least, low, high):
                return False
        while True:
            i = self.plan(low, high, margin)
            if i >= 0:
                break
            if i == -2 or not self.pool(4 * self.pooled if made else least, low, high):
                return False
            made = True
        if not room_for(&self.strong, self.strong.n + self.taken.n) or not room_for(
            &self.weak, self.weak.n + self.taken.n
        ) or not grown(<void **> &self.old, &self.old_room, self.n_old + 3 * self.taken.n,
                       sizeof(Overwritten)):
            return False
        for i in range(self.taken.n):
            self.give(self.chosen.ranked[i].item, self.taken.ranked[i].item, now)
        i = self.pooled
        return self.strong.n <= 4 * i or self.shorten(&self.strong, i + self.n_above(high))

    cdef Py_ssize_t n_above(self, double high) noexcept nogil:
        cdef Py_ssize_t i, found = 0
        for i in range(self.strong.n):
            found += -self.strong.ranked[i].key > high
        return found

    cdef bint put_out(self, int word, long long now) noexcept nogil:
        """Take the column of a word; whether there was memory for it."""
        cdef int column = self.column[word]
        if not grown(<void **> &self.old, &self.old_room, self.n_old + 2, sizeof(Overwritten)):
            return False
        if not room_for(&self.strong, self.strong.n + 1):
            return False
        self.note_word(word)
        self.note_column(column)
        if self.pooled:
            self.leave(word)
        self.column[word], self.owner[column], self.since[column] = -1, -1, now
        self.n_free += 1
        self.first_free = min(self.first_free, column)
        if self.pooled:
            self.rank(word, self.value(word))
        return True

    cdef void give(self, int word, int column, long long now) noexcept nogil:
        """Give a column to a word; there is room."""
        cdef int loser = self.owner[column]
        cdef double value = self.value(word), lost
        self.note_column(column)
        self.note_word(word)
        if loser >= 0:
            lost = self.value(loser)
            self.note_word(loser)
            self.leave(loser)
            self.column[loser] = -1
            self.rank(loser, lost)
        else:
            self.n_free -= 1
            self.first_free = column + 1
        self.leave(word)
        self.owner[column], self.column[word], self.since[column] = word, column, now
        self.rank(word, value)

    # Pools

    cdef bint pool(self, Py_ssize_t n, double low, double high) noexcept nogil:
        """Make the pools anew, for so many words each; whether there was memory for it."""
        cdef double *now = <double *> malloc(max(self.n_words, 1) * sizeof(double))
        cdef Py_ssize_t i, below = 0, n_above = 0
        cdef int word
        cdef bint enough = now != NULL
        if not enough or not room_for(&self.weak, self.n_columns - self.n_free) or not room_for(
            &self.strong, self.n_words - (self.n_columns - self.n_free)
        ):
            free(now)
            return False
        self.values(now)
        self.weak.n, self.strong.n, self.low = 0, 0, low
        self.weak.bound.key, self.weak.bound.item, self.weak.beyond = inf, 0x7FFFFFFF, inf
        self.strong.bound.key, self.strong.bound.item, self.strong.beyond = inf, 0x7FFFFFFF, inf
        self.last_below = self.n_columns
        # Those below come first, by column.
        for i in range(self.n_columns):
            word = self.owner[i]
            if word >= 0 and now[word] < low:
                if below == n:
                    self.last_below = self.weak.ranked[below - 1].item
                    break
                self.weak.ranked[below].key, self.weak.ranked[below].item = now[word], <int> i
                below += 1
        self.weak.n = below
        self.by_value = self.last_below > 4 * n or self.last_below == self.n_columns
        for i in range(self.n_columns if self.by_value else self.last_below):
            word = self.owner[i]
            if word >= 0 and now[word] >= low:
                self.weak.ranked[self.weak.n].key = now[word]
                self.weak.ranked[self.weak.n].item = <int> i
                self.weak.n += 1
        for i in range(self.n_words):
            self.position[i] = -1
            if self.column[i] < 0:
                self.strong.ranked[self.strong.n].key = -now[i]
                self.strong.ranked[self.strong.n].item = <int> i
                self.strong.n += 1
                n_above += now[i] > high
        free(now)
        self.pooled = n
        if self.by_value:
            if not self.shorten(&self.weak, below + n):
                return False
        else:
            self.weak.bound.key = -inf
        if not self.shorten(&self.strong, n_above + n):
            return False
        for i in range(self.weak.n):
            self.position[self.owner[self.weak.ranked[i].item]] = <int> i
        for i in range(self.strong.n):
            self.position[self.strong.ranked[i].item] = <int> i
        return True

    cdef bint shorten(self, Pool *pool, Py_ssize_t n) noexcept nogil:
        """Leave the first n of a pool; whether there was memory for it."""
        cdef Py_ssize_t i, n_ties = 0, kept = 0
        cdef double last
        cdef double *keys
        cdef Ranked one
        cdef int item
        if n >= pool.n:
            return True
        keys = <double *> malloc(pool.n * sizeof(double))
        if keys == NULL:
            return False
        for i in range(pool.n):
            keys[i] = pool.ranked[i].key
        last = nth_key(keys, pool.n, n - 1)
        kept = n
        for i in range(pool.n):
            kept -= pool.ranked[i].key < last
            if pool.ranked[i].key == last:
                keys[n_ties] = pool.ranked[i].item
                n_ties += 1
        item = <int> nth_key(keys, n_ties, kept - 1)
        free(keys)
        if pool.bound.key > last:
            pool.beyond = min(pool.beyond, pool.bound.key)
        pool.bound.key, pool.bound.item = last, item
        kept = 0
        for i in range(pool.n):
            one = pool.ranked[i]
            # In the pool of the weak, a word below is one however frequent it is.
            if is_before(last, item, one.key, one.item):
                if one.key > last:
                    pool.beyond = min(pool.beyond, one.key)
                if pool == &self.strong:
                    self.position[one.item] = -1
                continue
            pool.ranked[kept] = one
            if pool == &self.strong:
                self.position[one.item] = <int> kept
            kept += 1
        pool.n = kept
        return True

    cdef inline bint is_sure(self, const Pool *pool, const Ranked *one) noexcept nogil:
        """Whether no word that is not in the pool comes before one that is."""
        return one.key < pool.bound.key or (
            one.key == pool.bound.key and one.item <= pool.bound.item
            and pool.beyond > pool.bound.key)

    cdef int plan(self, double low, double high, double margin) noexcept nogil:
        """Find words for columns, the strongest first, and columns for them.

        First those that are free, in order; then those of the weakest words. Returns -1 if the
        pools do not reach as far, -2 if memory is out, else 0.
        """
        cdef bint is_all = self.strong.bound.key > -low, below
        cdef double bar, least = margin * self.weak.bound.key, value, limit
        cdef Py_ssize_t i, n_columns = self.n_columns, column = self.first_free
        cdef Ranked one, other
        cdef Pool *found = &self.candidates
        self.chosen.n, self.taken.n, self.candidates.n, self.weakest.n = 0, 0, 0, 0
        if not room_for(found, self.strong.n) or not room_for(&self.weakest, self.weak.n):
            return -2
        if self.last_below < n_columns:
            least = 0
        for i in range(self.weak.n if self.n_free == 0 and least > 0 else 0):
            bar = self.weak.ranked[i].key
            least = min(least, 0 if bar < low else margin * bar)
        for i in range(self.strong.n):
            value = -self.strong.ranked[i].key
            if low <= value <= high and (self.n_free or value > least):
                found.ranked[found.n] = self.strong.ranked[i]
                found.n += 1
        heapify(found.ranked, found.n)
        i = min(self.n_free, found.n)
        if not room_for(&self.chosen, found.n) or not room_for(&self.taken, found.n):
            return -2
        while self.chosen.n < i:
            one = popped(found)
            if not is_all and not self.is_sure(&self.strong, &one):
                return -1
            while self.owner[column] >= 0:
                column += 1
            self.chosen.ranked[self.chosen.n] = one
            self.taken.ranked[self.taken.n].item = <int> column
            self.chosen.n += 1
            self.taken.n += 1
            column += 1
        if not is_all and i < self.n_free:
            return -1
        if is_all and found.n == 0:
            return 0
        # Of others it is known that they are no stronger than the bound.
        limit = -found.ranked[0].key if found.n else -self.strong.bound.key
        for i in range(self.weak.n):
            bar = self.weak.ranked[i].key
            bar = 0 if bar < low else margin * bar
            if bar < limit:
                one.key, one.item = bar, self.weak.ranked[i].item
                self.weakest.ranked[self.weakest.n] = one
                self.weakest.n += 1
        heapify(self.weakest.ranked, self.weakest.n)
        while True:
            one.key, one.item = self.strong.bound.key, -1
            if found.n:
                one = popped(found)
            if is_all and one.item < 0:
                return 0
            if not is_all and (one.item < 0 or not self.is_sure(&self.strong, &one)):
                one.key, one.item = self.strong.bound.key, -1
            value = -one.key
            other.key, other.item = min(limit, margin * self.weak.bound.key), -1
            if self.weakest.n:
                other = popped(&self.weakest)
                i = self.position[self.owner[other.item]]
                below = self.weak.ranked[i].key < low
                if below:
                    if other.item > self.last_below:
                        return -1
                elif self.last_below < n_columns:
                    return -1
                elif not (other.key < margin * self.weak.bound.key or (
                    self.is_sure(&self.weak, &self.weak.ranked[i])
                    and margin * self.weak.beyond > other.key
                )):
                    other.key, other.item = margin * self.weak.bound.key, -1
            elif self.last_below < n_columns:
                return -1
            if value <= other.key:
                return 0
            if one.item < 0 or other.item < 0:
                return -1
            self.chosen.ranked[self.chosen.n] = one
            self.taken.ranked[self.taken.n] = other
            self.chosen.n += 1
            self.taken.n += 1


cdef void decayed(Pool *pool, double decay) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(pool.n):
        pool.ranked[i].key *= decay
    pool.bound.key *= decay
    pool.beyond *= decay


cdef class Columns:
    """Words of a stream, how frequent they are, and which of them have columns: a state of it.

    IN frequency and column (n_words,), -1 for none; owner (n_columns,), the word that has the
    column, -1 for none; since (n_columns,), documents seen when the column last changed hands;
    pool, words of a pool, at least.
    """

    cdef Store store
    cdef long long version
    # A weak reference to the state before, which has the same store until the next step.
    cdef object before
    cdef object __weakref__

    def __cinit__(self, frequency=None, column=None, owner=None, since=None, pool=1024):
        if frequency is not None:
            self.fill(frequency, column, owner, since)
            self.store.least = pool

    cdef int fill(self, const double[::1] frequency, const int[::1] column,
                  const int[::1] owner, const long long[::1] since) except -1:
        cdef Py_ssize_t n = frequency.shape[0], n_columns = owner.shape[0], i
        cdef Store store = Store()
        if column.shape[0] != n or since.shape[0] != n_columns:
            raise ValueError(f"Columns: {n} frequencies and {column.shape[0]} columns, "
                             f"{n_columns} owners and {since.shape[0]} dates")
        if not (store.words_room(n) and store.columns_room(n_columns)):
            raise MemoryError()
        for i in range(n):
            store.frequency[i], store.column[i], store.stamp[i] = frequency[i], column[i], 0
        for i in range(n_columns):
            store.owner[i], store.since[i] = owner[i], since[i]
        store.n_words = n
        store.count_free()
        self.store = store
        return 0

    cdef Store at(self):
        """The store as it was then."""
        cdef Store other
        while self.store.version != self.version:
            # Whoever goes on meanwhile, in another thread, copies for this state first.
            other = Store()
            if self.store.version != self.version:
                if not self.store.copy_before(other):
                    raise MemoryError()
                self.store = other
        return self.store

    @property
    def n_words(self):
        """Words that are counted."""
        return self.at().n_words

    @property
    def n_held(self):
        """Words that have a column."""
        return self.at().n_columns - self.store.n_free

    @property
    def n_columns(self):
        """Columns."""
        return self.store.n_columns

    def step(self, const int[::1] places, const double[::1] counts, double decay, double low,
             double high, double margin, long long documents, long long now):
        """Return the state after a minibatch; this one stays as it is.

        IN places (n,): of distinct words, new ones from `n_words` on; counts (n,): documents that
        have them; documents, now: documents seen before, and with the minibatch. The least and
        the greatest frequency of a word with a column, and the factor by which a word has to be
        more frequent than one whose column it takes; 0 leaves all columns as they are.

        Python equivalent: `tests.reference.columns.step`.
        """
        cdef Columns earlier = None if self.before is None else self.before()
        cdef Columns after = Columns()
        cdef Py_ssize_t i, n = places.shape[0]
        cdef Store store
        if counts.shape[0] != places.shape[0]:
            raise ValueError(f"step: {counts.shape[0]} counts of {places.shape[0]} words")
        after.before = weakref.ref(self)
        if earlier is not None:
            earlier.at()
        # From here on there is nothing of Python, so no other thread runs.
        store = after.store = self.at()
        for i in range(n):
            if not 0 <= places[i] < store.n_words + n:
                raise IndexError(f"step: word {places[i]} of {store.n_words}")
        if not store.step(places, counts, decay, low, high, margin, now, documents):
            raise MemoryError()
        after.version = store.version
        return after

    def changed(self):
        """Columns that changed hands in the last step, int64, and which of them had a word."""
        cdef Store store = self.at()
        cdef Py_ssize_t i
        found, had = [], []
        for i in range(store.n_old):
            if store.old[i].stamp < 0:
                found.append(store.old[i].item)
                had.append(store.old[i].other >= 0)
        columns, first = np.unique(np.array(found, np.int64), return_index=True)
        return columns, np.array(had, dtype=bool)[first]

    def changed_since(self, long long n_documents):
        """Columns that changed hands since so many documents had been seen: int64."""
        cdef Store store = self.at()
        if 0 <= store.documents <= n_documents:
            return self.changed()[0][:0 if n_documents >= store.now else None]
        return np.flatnonzero(self.since > n_documents)

    @property
    def frequency(self):
        """How frequent each word is: float64."""
        cdef Store store = self.at()
        found = np.empty(store.n_words)
        cdef double[::1] frequency = found
        if store.n_words:
            store.values(&frequency[0])
        return found

    @property
    def column(self):
        """The column of each word, -1 for none: int32."""
        return self.of_words(np.arange(self.at().n_words, dtype=np.int32))

    @property
    def owner(self):
        """The word of each column, -1 for none: int32."""
        return self.owners(np.arange(self.n_columns, dtype=np.int64))[0]

    @property
    def since(self):
        """Documents seen when each column last changed hands: int64."""
        cdef Store store = self.at()
        cdef Py_ssize_t i
        found = np.empty(store.n_columns, np.int64)
        cdef long long[::1] since = found
        for i in range(store.n_columns):
            since[i] = store.since[i]
        return found

    def arrays(self):
        """The arrays of which the state can be made again."""
        return self.frequency, self.column, self.owner, self.since

    def of_words(self, const int[::1] places):
        """The columns of words, -1 for none and for words that are not counted: int32."""
        cdef Store store = self.at()
        cdef Py_ssize_t i
        found = np.full(places.shape[0], -1, dtype=np.int32)
        cdef int[::1] column = found
        for i in range(places.shape[0]):
            if 0 <= places[i] < store.n_words:
                column[i] = store.column[places[i]]
        return found

    def owners(self, const long long[::1] columns):
        """The words of columns, -1 for none: int32; and how frequent they are."""
        cdef Store store = self.at()
        cdef Py_ssize_t i
        found, frequencies = np.empty(columns.shape[0], np.int32), np.zeros(columns.shape[0])
        cdef int[::1] owner = found
        cdef double[::1] frequency = frequencies
        for i in range(columns.shape[0]):
            if not 0 <= columns[i] < store.n_columns:
                raise IndexError(f"owners: column {columns[i]} of {store.n_columns}")
            owner[i] = store.owner[columns[i]]
            if 0 <= owner[i] < store.n_words:
                frequency[i] = store.value(owner[i])
        return found, frequencies
