# SPDX-License-Identifier: BSD-3-Clause
# Included by _was.pyx: who sits where in one document, and the counts that follow from it.

cdef enum:
    LEAST_CAPACITY = 16
    NEVER = 2147483647


cdef class Seating:
    """The words of one document at tables, and the tables' dishes.

    A table is named by its first word, the earliest of its words in the sentence: its
    tables in the order of appearance are those names in increasing order. Words are
    numbered within the document, sentence by sentence; their times are their places in
    the round robin, in which each sentence in turn gets its next word. A dish is a row
    of topic counts; it is free when no table has it, and its counts are then 0, as they
    are in row `n_rows` and beyond.

    What is rebuilt for each document: of words `time`, `sentence` and, by time, `order`;
    of tables `dish`, `size`, their `place` among those of the sentence, and, by
    sentence, `tables`; of dishes how many tables they have (`servings`), when the first
    of these was opened (`born`), and the words of each topic (`counts[k, dish]`) and of
    all (`total[dish]`). `openings` are the tables by time. The last and `born` are kept
    up only if `timed`. `most_dishes` is 0 where there may be any number of them.
    """

    cdef Py_ssize_t n_topics, n_words, n_sentences, most_dishes, capacity
    cdef int n_rows, n_dishes, n_tables
    cdef bint timed
    cdef int[::1] word, topic, table, dish, size, place, tables, openings
    cdef int[::1] time, sentence, order, first_word, tables_of, customers
    cdef int[::1] servings, born
    cdef double[:, ::1] counts
    cdef double[::1] total

    def __init__(self, Py_ssize_t n_topics, Py_ssize_t most_dishes, bint timed):
        self.n_topics, self.most_dishes, self.timed = n_topics, most_dishes, timed
        self.make_room_for_dishes(LEAST_CAPACITY + most_dishes)
        self.make_room_for_words(0, 0)

    cdef int make_room_for_words(self, Py_ssize_t n_words, Py_ssize_t n_sentences) except -1:
        """Arrays for documents of up to that many words and sentences."""
        (self.word, self.topic, self.table, self.dish, self.size, self.place, self.tables,
         self.openings, self.time, self.sentence, self.order) = np.zeros(
            (11, n_words + 1), dtype=np.int32)
        (self.first_word, self.tables_of, self.customers) = np.zeros(
            (3, n_sentences + 1), dtype=np.int32)
        return 0

    cdef int make_room_for_dishes(self, Py_ssize_t capacity) except -1:
        """Rows for that many dishes, with what is known of those there are."""
        counts, total = np.zeros((self.n_topics, capacity)), np.zeros(capacity)
        servings, born = np.zeros(capacity, np.int32), np.full(capacity, NEVER, np.int32)
        if self.capacity > 0:
            counts[:, :self.capacity] = self.counts
            total[:self.capacity] = self.total
            servings[:self.capacity] = self.servings
            born[:self.capacity] = self.born
        self.counts, self.total, self.servings, self.born = counts, total, servings, born
        self.capacity = capacity
        return 0

    cdef int read(self, const Py_ssize_t[::1] sentences, Py_ssize_t first, Py_ssize_t last,
                  const int[::1] words, const int[::1] topic, const int[::1] table,
                  const int[::1] dish) except -1 nogil:
        """Take over the document of the sentences first .. last - 1, and its state.

        A word whose table is -1 has no seat yet.
        """
        cdef Py_ssize_t i, n, s, n_rows = 0, start = sentences[first]
        self.n_sentences, self.n_words = last - first, sentences[last] - start
        self.first_word[self.n_sentences] = <int> self.n_words
        for s in range(self.n_sentences):
            self.first_word[s] = <int> (sentences[first + s] - start)
            self.tables_of[s] = self.customers[s] = 0
            for i in range(self.first_word[s], sentences[first + s + 1] - start):
                self.sentence[i] = <int> s
        for i in range(self.n_words):
            self.word[i] = words[start + i]
            self.topic[i], self.table[i] = topic[start + i], table[start + i]
            self.dish[i] = dish[start + i]
            if self.table[i] >= 0:
                self.check(i)
                n_rows = max(n_rows, self.dish[i] + 1)
        self.number_times()
        self.clear(n_rows + 2)
        for n in range(self.n_words):
            i = self.order[n]
            if self.table[i] == i:
                self.open_table(i, self.dish[i])
            if self.table[i] >= 0:
                self.count(i, self.table[i], self.topic[i], 1)
        return 0

    cdef int check(self, Py_ssize_t i) except -1 nogil:
        """Refuse the state of a word that no sampler can have left."""
        cdef int first = self.table[i]
        if (first > i or first < self.first_word[self.sentence[i]] or self.table[first] != first
                or self.dish[i] != self.dish[first] or not 0 <= self.topic[i] < self.n_topics
                or not 0 <= self.dish[i] < (self.most_dishes or self.n_words)):
            with gil:
                raise ValueError(
                    f"word {i} of a document has topic {self.topic[i]}, table {first} and dish "
                    f"{self.dish[i]}, which cannot be; pass on the state as it was returned")
        return 0

    cdef void write(self, Py_ssize_t start, int[::1] topic, int[::1] table,
                    int[::1] dish) noexcept nogil:
        """Give the state back, with its dish for each word; word 0 is number `start` there."""
        cdef Py_ssize_t i
        for i in range(self.n_words):
            topic[start + i], table[start + i] = self.topic[i], self.table[i]
            dish[start + i] = self.dish[self.table[i]] if self.table[i] >= 0 else -1

    cdef void number_times(self) noexcept nogil:
        """Number the words by round and sentence; `place` serves as scratch."""
        cdef Py_ssize_t i, n, s
        cdef int start = 0, held
        for n in range(self.n_words):
            self.place[n] = 0
        for i in range(self.n_words):
            self.place[i - self.first_word[self.sentence[i]]] += 1
        for n in range(self.n_words):
            held = self.place[n]
            self.place[n] = start
            start += held
        for i in range(self.n_words):
            s = self.sentence[i]
            n = i - self.first_word[s]
            self.time[i] = self.place[n]
            self.order[self.place[n]] = <int> i
            self.place[n] += 1

    cdef int clear(self, Py_ssize_t capacity) except -1 nogil:
        """No dishes, and room for so many."""
        cdef Py_ssize_t k, row
        if capacity > self.capacity:
            with gil:
                self.make_room_for_dishes(2 * capacity)
        self.n_rows = self.n_dishes = self.n_tables = 0
        for row in range(self.capacity):
            self.servings[row] = 0
            self.born[row] = NEVER
            self.total[row] = 0
        for k in range(self.n_topics):
            for row in range(self.capacity):
                self.counts[k, row] = 0
        return 0

    cdef inline void count(self, Py_ssize_t i, int first, int k, int sign) noexcept nogil:
        """Add a word to a table's counts, or take it away."""
        cdef int row = self.dish[first]
        self.counts[k, row] += sign
        self.total[row] += sign
        self.size[first] += sign
        self.customers[self.sentence[i]] += sign

    cdef int free_row(self) noexcept nogil:
        """The first dish that no table has."""
        cdef int row = 0
        while self.servings[row] > 0:
            row += 1
        return row

    cdef int table_with(self, Py_ssize_t s, int row) noexcept nogil:
        """The first table of a sentence that has the dish, or -1."""
        cdef Py_ssize_t j, start = self.first_word[s]
        for j in range(start, start + self.tables_of[s]):
            if self.dish[self.tables[j]] == row:
                return self.tables[j]
        return -1

    cdef Py_ssize_t first_opening_from(self, int time) noexcept nogil:
        """Where in `openings` those begin that are not before a time."""
        cdef Py_ssize_t low = 0, high = self.n_tables, middle
        while low < high:
            middle = (low + high) // 2
            if self.time[self.openings[middle]] < time:
                low = middle + 1
            else:
                high = middle
        return low

    cdef void open_table(self, Py_ssize_t first, int row) noexcept nogil:
        """A table without words yet, with a dish."""
        cdef Py_ssize_t j, o, s = self.sentence[first], start = self.first_word[s]
        j = start + self.tables_of[s]
        while j > start and self.tables[j - 1] > first:
            self.tables[j] = self.tables[j - 1]
            self.place[self.tables[j]] += 1
            j -= 1
        self.tables[j] = <int> first
        self.place[first] = <int> (j - start)
        self.tables_of[s] += 1
        self.dish[first] = row
        self.size[first] = 0
        self.n_dishes += self.servings[row] == 0
        self.servings[row] += 1
        self.n_rows = max(self.n_rows, row + 1)
        if self.timed:
            o = self.first_opening_from(self.time[first])
            memmove(&self.openings[o + 1], &self.openings[o], (self.n_tables - o) * sizeof(int))
            self.openings[o] = <int> first
            self.born[row] = min(self.born[row], self.time[first])
        self.n_tables += 1

    cdef void close_table(self, Py_ssize_t first) noexcept nogil:
        """Take a table away, and its dish if no other table has it."""
        cdef Py_ssize_t j, o, s = self.sentence[first], start = self.first_word[s]
        cdef int row = self.dish[first]
        self.tables_of[s] -= 1
        for j in range(start + self.place[first], start + self.tables_of[s]):
            self.tables[j] = self.tables[j + 1]
            self.place[self.tables[j]] -= 1
        self.n_tables -= 1
        self.servings[row] -= 1
        self.n_dishes -= self.servings[row] == 0
        while self.n_rows > 0 and self.servings[self.n_rows - 1] == 0:
            self.n_rows -= 1
        if self.timed:
            o = self.first_opening_from(self.time[first])
            memmove(&self.openings[o], &self.openings[o + 1], (self.n_tables - o) * sizeof(int))
            if self.born[row] == self.time[first]:
                self.born[row] = self.first_time(row, o)

    cdef int first_time(self, int row, Py_ssize_t o) noexcept nogil:
        """When the dish first appears in the openings from number `o`."""
        if self.servings[row] > 0:
            while self.dish[self.openings[o]] != row:
                o += 1
            return self.time[self.openings[o]]
        return NEVER

    cdef void rename_table(self, Py_ssize_t first, Py_ssize_t new_first) noexcept nogil:
        """Another word is the table's earliest; it keeps its size and dish."""
        cdef Py_ssize_t i
        cdef int size = self.size[first], row = self.dish[first]
        self.close_table(first)
        self.open_table(new_first, row)
        self.size[new_first] = size
        for i in range(min(first, new_first), self.first_word[self.sentence[first] + 1]):
            if self.table[i] == first:
                self.table[i] = <int> new_first

    cdef void seat(self, Py_ssize_t i, int first, int row, int k) noexcept nogil:
        """Seat a word at a table, or at a new one (-1) with the dish `row`, with topic k."""
        if first < 0:
            first = <int> i
            self.open_table(i, row)
        elif first > i:
            self.rename_table(first, i)
            first = <int> i
        self.table[i] = first
        self.topic[i] = k
        self.count(i, first, k, 1)

    cdef void unseat(self, Py_ssize_t i) noexcept nogil:
        """Take a word away; its table is then that of its next word, or closed."""
        cdef Py_ssize_t following = i + 1
        cdef int first = self.table[i]
        self.count(i, first, self.topic[i], -1)
        self.table[i] = -1
        if first < i:
            return
        if self.size[first] == 0:
            self.close_table(first)
            return
        while self.table[following] != first:
            following += 1
        self.rename_table(first, following)
