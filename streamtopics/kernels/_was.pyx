# SPDX-License-Identifier: BSD-3-Clause
"""Gibbs sampling of sentence topic models: WAS, franchises such as the HDP, sticks, the buffet.

A document's words sit at tables, those of a sentence at the sentence's own; each table
has a dish, which tables of other sentences may have too; a dish is a Dirichlet(c) vector
of topic proportions, integrated out, where c is the `atom_prior` (the source's kappa).
Without the word at hand, the dish l of a table, or a new one, gets the word w in
proportion to prior_l q_l, and then topic k in proportion to the k-th term of

    q_l = sum_k (m_kl + c) f_k / (m_l + K c),   f_k = (n_wk + eta_w) / (n_k + eta_.),

where m_kl are the words of topic k at tables with the dish, m_l their number, and n_wk,
n_k the words of all documents; or f_k are given weights. `Sampler` does all this; prior_l
is that of its subclasses in _was_priors.pxi and _was_compound.pxi. After each sweep the dish
of each table is drawn again, with all its words, unless the dishes are fixed.
"""
import numpy as np

from libc.math cimport exp, log
from libc.string cimport memmove

from streamtopics.kernels._random cimport draw, mix, uint64, uniform

include "_was_seating.pxi"

cdef enum:
    # Words whose probabilities are multiplied before a logarithm is taken.
    WORDS_PER_LOG = 16


cdef inline void add_four(const double *counts, Py_ssize_t width, const double *f, Py_ssize_t n,
                          double *q) noexcept nogil:
    """q_l += sum_k m_kl f_k over four topics, rows of `width` counts, in their order."""
    cdef Py_ssize_t row
    cdef const double *m0 = counts
    cdef const double *m1 = counts + width
    cdef const double *m2 = counts + 2 * width
    cdef const double *m3 = counts + 3 * width
    for row in range(n):
        q[row] = q[row] + m0[row] * f[0] + m1[row] * f[1] + m2[row] * f[2] + m3[row] * f[3]


cdef class Sampler(Seating):
    """Samples documents, one after the other, under the prior of a subclass.

    A subclass has `weigh_seats`. Unless its dishes are fixed (`most_dishes` > 0) it has
    `weigh_table` too; it has `draw_table` if tables of a sentence may have the same dish,
    and `accepts` and `accepts_dish` if `weigh_seats` is only a proposal.

    IN topics, with counts (n_words, K), mass (K,), eta (n_words,) and eta_mass: the counts n_wk
    and n_k, changed in place, and the prior of the topics with its sum over the whole vocabulary.
    If `mass` and `eta` are None the counts are given weights f. atom_prior; most_dishes, 0 if
    there may be any number; `timed`, whether to keep up when tables are opened.
    """

    cdef bint collapsed
    cdef double atom_prior, eta_mass
    cdef const double[::1] eta
    cdef double[:, ::1] word_topic
    cdef double[::1] topic_mass
    # Scratch: of topics, and of dishes.
    cdef double[::1] f, of_topic, added, prior, q, weight, likelihood

    def __init__(self, topics, double atom_prior, Py_ssize_t most_dishes=0, bint timed=False):
        self.atom_prior = atom_prior
        self.word_topic, self.topic_mass = topics.counts, topics.mass
        self.eta, self.eta_mass = topics.eta, topics.eta_mass
        self.collapsed = self.topic_mass is not None
        if self.collapsed and (self.eta.shape[0] != self.word_topic.shape[0]
                               or self.topic_mass.shape[0] != self.word_topic.shape[1]):
            raise ValueError("Sampler: the shapes of counts, mass and eta do not agree")
        Seating.__init__(self, self.word_topic.shape[1], most_dishes, timed)
        self.f, self.of_topic, self.added = np.zeros((3, self.n_topics))

    # The prior

    cdef int weigh_seats(self, Py_ssize_t s) except -1 nogil:
        """Fill `prior`: prior_l of the next word of a sentence; they sum to 1."""
        with gil:
            raise NotImplementedError("Sampler has no prior; use a subclass")

    cdef int weigh_table(self, Py_ssize_t s) except -1 nogil:
        """Fill `weight`: the weight of each dish for one more table of a sentence."""
        with gil:
            raise NotImplementedError("Sampler has no prior; use a subclass")

    cdef int draw_table(self, Py_ssize_t s, int row, uint64 *state) noexcept nogil:
        """A table of the sentence that has the dish, or -1 for a new one."""
        return self.table_with(s, row)

    cdef bint accepts(self, Py_ssize_t i, int new_row, int row, bint opened,
                      uint64 *state) noexcept nogil:
        """Whether word i, which had opened its table at the dish `row` or not, gets `new_row`."""
        return True

    cdef bint accepts_dish(self, int first, int new_row, int row, uint64 *state) noexcept nogil:
        """Whether a table, closed for the moment, moves to the dish `new_row` from `row`."""
        return True

    # Documents

    def start(self, corpus, const uint64[::1] seeds, seats, Py_ssize_t first, Py_ssize_t last,
              double[::1] log_probability):
        """Seat the words first .. last - 1 of each document, in the order of their times.

        The probabilities above, given the words before, are exact under all the priors. Words
        from `first` have no seat yet (table -1).

        IN corpus, with documents in CSR form over sentences, sentences in CSR form over
        words, and words; seeds (n_documents,). IN and OUT seats, with topic, table and dish
        (n_words,). OUT log_probability (n_documents,), the sum of log p(word | words before
        it, and their seats).
        """
        cdef const Py_ssize_t[::1] documents = corpus.documents, sentences = corpus.sentences
        cdef const int[::1] words = corpus.words
        cdef int[::1] topic = seats.topic, table = seats.table, dish = seats.dish
        cdef Py_ssize_t d, n
        cdef uint64 state
        self.make_room(documents, sentences, words)
        with nogil:
            for d in range(documents.shape[0] - 1):
                self.read(sentences, documents[d], documents[d + 1], words, topic, table, dish)
                state = mix(mix(seeds[d]) + 2 * <uint64> first)
                log_probability[d] = 0
                for n in range(first, min(last, self.n_words)):
                    log_probability[d] += self.add_word(self.order[n], &state)
                self.write(sentences[documents[d]], topic, table, dish)

    def sweep(self, corpus, const uint64[::1] seeds, seats, Py_ssize_t first_sweep,
              Py_ssize_t last_sweep, Py_ssize_t n_averaged=0, means=None):
        """Do the sweeps first_sweep .. last_sweep - 1 over each document.

        The last `n_averaged` of them add to `means`, an n_averaged-th each: p(topic | dish)
        of each word, the predictive distribution of each sentence's next word over topics,
        the tables of each sentence and the dishes of each document.

        IN corpus, seeds, as in `start`. IN and OUT seats; means, with word_topic (n_words, K),
        sentence_topic (n_sentences, K), n_tables (n_sentences,), n_dishes (n_documents,), or
        None if n_averaged is 0.
        """
        cdef const Py_ssize_t[::1] documents = corpus.documents, sentences = corpus.sentences
        cdef const int[::1] words = corpus.words
        cdef int[::1] topic = seats.topic, table = seats.table, dish = seats.dish
        cdef double[:, ::1] word_topic = None, sentence_topic = None
        cdef double[::1] n_tables = None, n_dishes = None
        cdef Py_ssize_t d, r, s
        cdef double share
        cdef uint64 state
        if n_averaged > 0:
            word_topic, sentence_topic = means.word_topic, means.sentence_topic
            n_tables, n_dishes = means.n_tables, means.n_dishes
        self.make_room(documents, sentences, words)
        with nogil:
            for d in range(documents.shape[0] - 1):
                s = documents[d]
                self.read(sentences, s, documents[d + 1], words, topic, table, dish)
                for r in range(first_sweep, last_sweep):
                    share = 1.0 / n_averaged if r >= last_sweep - n_averaged else 0
                    state = mix(mix(seeds[d]) + 2 * <uint64> r + 1)
                    self.sweep_words(sentences[s], share, word_topic, &state)
                    if self.most_dishes == 0:
                        self.sweep_tables(&state)
                    if share > 0:
                        self.average(s, share, sentence_topic, n_tables)
                        n_dishes[d] += share * self.n_dishes
                self.write(sentences[s], topic, table, dish)

    cdef int make_room_for_dishes(self, Py_ssize_t capacity) except -1:
        Seating.make_room_for_dishes(self, capacity)
        self.prior, self.q, self.weight, self.likelihood = np.zeros((4, capacity))
        return 0

    cdef int make_room(self, const Py_ssize_t[::1] documents, const Py_ssize_t[::1] sentences,
                       const int[::1] words) except -1:
        """Room for the longest document and that of most sentences; checks words and sentences."""
        bounds = np.asarray(sentences)[np.asarray(documents)]
        highest = np.max(words, initial=-1)
        if highest >= self.word_topic.shape[0] or np.min(words, initial=0) < 0:
            raise ValueError(
                f"word {highest} is not among the {self.word_topic.shape[0]} that have topics")
        self.make_room_for_words(np.diff(bounds).max(initial=0),
                                 np.diff(documents).max(initial=0))
        return 0

    cdef int sweep_words(self, Py_ssize_t start, double share, double[:, ::1] word_topic,
                         uint64 *state) except -1 nogil:
        """Draw table, dish and topic of each word that has a seat."""
        cdef Py_ssize_t i
        for i in range(self.n_words):
            if self.table[i] >= 0:
                self.sample_word(i, share, word_topic, start + i, state)
        return 0

    cdef int sample_word(self, Py_ssize_t i, double share, double[:, ::1] word_topic,
                         Py_ssize_t n, uint64 *state) except -1 nogil:
        """Draw table, dish and topic of a word given all the others."""
        cdef int topic = self.topic[i], row = self.dish[self.table[i]], new_row, first, k
        cdef bint opened = self.table[i] == i
        cdef double total
        self.unseat(i)
        self.learn(i, topic, -1)
        total = self.weigh_dishes(i)
        new_row = <int> draw(&self.weight[0], self.n_candidates(), uniform(state) * total)
        k = self.draw_topic(new_row, state)
        first = self.draw_table(self.sentence[i], new_row, state)
        if not self.accepts(i, new_row, row, opened, state):
            new_row, k, first = row, topic, self.table_with(self.sentence[i], row)
        elif self.most_dishes == 0 and new_row == self.n_rows:
            new_row = self.free_row()
        if share > 0:
            self.expect_topic(new_row, share, &word_topic[n, 0])
        self.seat(i, first, new_row, k)
        self.learn(i, k, 1)
        return 0

    cdef double add_word(self, Py_ssize_t i, uint64 *state) except? -1 nogil:
        """Seat a word given those before it; returns the log of its probability."""
        cdef int row, first, k
        cdef double total = self.weigh_dishes(i)
        row = <int> draw(&self.weight[0], self.n_candidates(), uniform(state) * total)
        k = self.draw_topic(row, state)
        first = self.draw_table(self.sentence[i], row, state)
        if self.most_dishes == 0 and row == self.n_rows:
            row = self.free_row()
        self.seat(i, first, row, k)
        self.learn(i, k, 1)
        return log(total)

    cdef inline void learn(self, Py_ssize_t i, int k, int sign) noexcept nogil:
        """Count a word for a topic, or no longer."""
        if self.collapsed:
            self.word_topic[self.word[i], k] += sign
            self.topic_mass[k] += sign

    cdef inline Py_ssize_t n_candidates(self) noexcept nogil:
        """Dishes to choose from: all that are fixed, or the rows in use and one for a new dish."""
        return self.most_dishes if self.most_dishes > 0 else self.n_rows + 1

    cdef int make_room_for_one(self) except -1 nogil:
        """A row beyond that of a new dish."""
        if self.n_rows + 2 > self.capacity:
            with gil:
                self.make_room_for_dishes(2 * self.capacity)
        return 0

    cdef double weigh_dishes(self, Py_ssize_t i) except -1 nogil:
        """weight_l = prior_l q_l for a word without a seat; returns their sum."""
        cdef Py_ssize_t row
        cdef double total = 0
        self.make_room_for_one()
        self.weigh_seats(self.sentence[i])
        self.predict(self.word[i])
        for row in range(self.n_candidates()):
            self.weight[row] = self.prior[row] * self.q[row]
            total += self.weight[row]
        return total

    cdef void predict(self, Py_ssize_t word) noexcept nogil:
        """f_k and q_l of a word."""
        cdef Py_ssize_t k, row, n = self.n_candidates(), K = self.n_topics
        cdef double sum_f = 0, prior_mass = self.atom_prior * K, eta
        cdef double *q = &self.q[0]
        cdef double *f = &self.f[0]
        cdef const double *total = &self.total[0]
        cdef const double *mass
        cdef const double *of_word = &self.word_topic[word, 0]
        if self.collapsed:
            eta, mass = self.eta[word], &self.topic_mass[0]
            for k in range(K):
                f[k] = (of_word[k] + eta) / (mass[k] + self.eta_mass)
        else:
            for k in range(K):
                f[k] = of_word[k]
        for k in range(K):
            sum_f += f[k]
        for row in range(n):
            q[row] = 0
        for k in range(0, K - 3, 4):
            add_four(&self.counts[k, 0], self.capacity, f + k, n, q)
        for k in range(K // 4 * 4, K):
            for row in range(n):
                q[row] += self.counts[k, row] * f[k]
        for row in range(n):
            q[row] = (q[row] + self.atom_prior * sum_f) / (total[row] + prior_mass)

    cdef inline double weigh_topics(self, int row) noexcept nogil:
        """of_topic_k = (m_kl + c) f_k; returns the sum."""
        cdef Py_ssize_t k
        cdef double total = 0
        for k in range(self.n_topics):
            self.of_topic[k] = (self.counts[k, row] + self.atom_prior) * self.f[k]
            total += self.of_topic[k]
        return total

    cdef inline int draw_topic(self, int row, uint64 *state) noexcept nogil:
        """A topic given the dish."""
        cdef double total = self.weigh_topics(row)
        return <int> draw(&self.of_topic[0], self.n_topics, uniform(state) * total)

    cdef inline void expect_topic(self, int row, double share, double *out) noexcept nogil:
        """Add p(topic | dish) of a word."""
        cdef Py_ssize_t k
        cdef double scale = share / self.weigh_topics(row)
        for k in range(self.n_topics):
            out[k] += scale * self.of_topic[k]

    cdef int sweep_tables(self, uint64 *state) except -1 nogil:
        """Draw the dish of each table."""
        cdef Py_ssize_t j, s
        for s in range(self.n_sentences):
            for j in range(self.first_word[s], self.first_word[s] + self.tables_of[s]):
                self.sample_dish(self.tables[j], state)
        return 0

    cdef int sample_dish(self, int first, uint64 *state) except -1 nogil:
        """Draw the dish of a table given all its words' topics."""
        cdef int row = self.dish[first], new_row, size = self.size[first]
        self.move_words(first, row, -1)
        self.close_table(first)
        self.make_room_for_one()
        new_row = self.propose_dish(first, state)
        if not self.accepts_dish(first, new_row, row, state):
            new_row = row
        elif new_row == self.n_rows:
            new_row = self.free_row()
        self.open_table(first, new_row)
        self.size[first] = size
        self.move_words(first, new_row, 1)
        return 0

    cdef void move_words(self, int first, int row, int sign) noexcept nogil:
        """Add the topics of a table's words to a dish, or take them away."""
        cdef Py_ssize_t i
        for i in range(first, self.first_word[self.sentence[first] + 1]):
            if self.table[i] == first:
                self.counts[self.topic[i], row] += sign
                self.total[row] += sign

    cdef int propose_dish(self, int first, uint64 *state) except -1 nogil:
        """A dish in proportion to its weight and the probability of the table's topics."""
        cdef Py_ssize_t row, n = self.n_rows + 1
        cdef double best, total = 0
        self.weigh_table(self.sentence[first])
        self.weigh_words(first)
        best = -1e300
        for row in range(n):
            if self.weight[row] > 0:
                best = max(best, self.likelihood[row])
        for row in range(n):
            if self.weight[row] > 0:
                self.weight[row] *= exp(self.likelihood[row] - best)
            total += self.weight[row]
        return <int> draw(&self.weight[0], n, uniform(state) * total)

    cdef void weigh_words(self, int first) noexcept nogil:
        """likelihood_l = log p(topics of a table's words) under each dish.

        It is the sum of log (m_kl + c + c_k) / (m_l + K c + n), with c_k and n of
        the table's words before the one at hand.
        """
        cdef Py_ssize_t i, row, n = 0, end = self.first_word[self.sentence[first] + 1]
        cdef int k
        cdef double mass = self.atom_prior * self.n_topics
        self.q[:self.n_rows + 1] = 1
        self.likelihood[:self.n_rows + 1] = 0
        for i in range(first, end):
            if self.table[i] != first:
                continue
            k = self.topic[i]
            for row in range(self.n_rows + 1):
                self.q[row] *= ((self.counts[k, row] + self.atom_prior + self.added[k])
                                / (self.total[row] + mass + n))
            self.added[k] += 1
            n += 1
            if n % WORDS_PER_LOG == 0:
                self.take_logs()
        self.take_logs()
        self.added[:] = 0

    cdef inline void take_logs(self) noexcept nogil:
        """Move the factors collected in `q` to their logarithm."""
        cdef Py_ssize_t row
        for row in range(self.n_rows + 1):
            self.likelihood[row] += log(self.q[row])
            self.q[row] = 1

    cdef int average(self, Py_ssize_t first, double share, double[:, ::1] sentence_topic,
                     double[::1] n_tables) except -1 nogil:
        """Add E[topic of the next word] of each sentence, and its tables."""
        cdef Py_ssize_t s, k, row
        cdef double mean, mass = self.atom_prior * self.n_topics
        for s in range(self.n_sentences):
            n_tables[first + s] += share * self.tables_of[s]
            self.weigh_seats(s)
            for row in range(self.n_candidates()):
                self.weight[row] = share * self.prior[row] / (self.total[row] + mass)
            for k in range(self.n_topics):
                mean = 0
                for row in range(self.n_candidates()):
                    mean += self.weight[row] * (self.counts[k, row] + self.atom_prior)
                sentence_topic[first + s, k] += mean
        return 0


include "_was_priors.pxi"
include "_was_compound.pxi"


def content_seeds(const Py_ssize_t[::1] documents, const Py_ssize_t[::1] sentences,
                  const int[::1] words):
    """Seeds of documents that depend on their sentences alone.

    IN documents (D + 1,), sentences (S + 1,), words (N,). The seed is that of nothing,
    hashed with each word and with the end of each sentence, in order.
    """
    cdef Py_ssize_t n = documents.shape[0] - 1, d, s, i
    found = np.empty(n, dtype=np.uint64)
    cdef uint64[::1] out = found
    cdef uint64 seed
    for d in range(n):
        seed = 0
        for s in range(documents[d], documents[d + 1]):
            for i in range(sentences[s], sentences[s + 1]):
                seed = mix(seed + <uint64> words[i] + 2)
            seed = mix(seed + 1)
        out[d] = seed
    return found
