# SPDX-License-Identifier: BSD-3-Clause
"""Gibbs sampling of sentence topic models: WAS, the HDP and truncated stick-breaking.

A document's words sit at tables, those of a sentence at the sentence's own; each table
has a dish, which tables of other sentences may have too; a dish is a Dirichlet(kappa)
vector of topic proportions, integrated out. Without the word at hand, the dish l of a
table, or a new one, gets the word w in proportion to prior_l q_l, and then topic k in
proportion to the k-th term of

    q_l = sum_k (m_kl + kappa) f_k / (m_l + K kappa),   f_k = (n_wk + eta_w) / (n_k + eta_.),

where m_kl are the words of topic k at tables with the dish, m_l their number, and n_wk,
n_k the words of all documents; or f_k are given weights. The priors are

    WAS  prior_l = pi_j for the dish of the sentence's j-th table,
                   xi / (|G| + zeta) for the |G| other dishes, xi zeta / (|G| + zeta) for
                   a new one, with the probabilities of Theorem 4 of Das and Bhattacharyya;
    HDP  prior_l = (g_l + gamma s_l / (s + alpha)) / (n + gamma), alpha instead of s_l for
                   a new one, with g_l of the n other words of the sentence at tables with
                   the dish and s_l of the document's s tables (Teh et al. 2006);
    SBP  prior_l = nu_l prod_{i<l} (1 - nu_i), nu_l = (a_l + g_l) / (a_l + b_l + g_l + h_l),
                   h_l = sum_{i>l} g_i, for a fixed number of dishes, the last with nu = 1.

The words under WAS are not exchangeable: its probabilities are those of a sentence's last
word. For other words they propose, and the proposal is accepted with the probability of
Metropolis and Hastings, unless `exact` is False. After each sweep the dish of each table
is drawn again, with all its words; not under SBP, whose dishes are in a fixed order.
"""
import numpy as np

from libc.math cimport exp, log
from libc.string cimport memmove

from streamtopics.kernels._random cimport mix, uint64, uniform

include "_was_seating.pxi"

cdef enum:
    # Words whose probabilities are multiplied before a logarithm is taken.
    WORDS_PER_LOG = 16

cpdef enum Prior:
    WAS
    HDP
    SBP


cdef inline Py_ssize_t draw(const double *weight, Py_ssize_t n, double threshold) noexcept nogil:
    """The first place whose running sum exceeds the threshold, else the last of weight."""
    cdef Py_ssize_t i
    for i in range(n):
        threshold -= weight[i]
        if threshold < 0:
            return i
    i = n - 1
    while i > 0 and weight[i] <= 0:
        i -= 1
    return i


cdef class Sampler(Seating):
    """Samples documents, one after the other.

    Parameters
    ----------
    prior : Prior
        Over the tables of sentences and their dishes.
    kappa : float
        Of the dishes, Dirichlet(kappa) over topics.
    a, b : ndarray, float64
        Of the sticks, Beta(a_j, b_j), the last repeated; under SBP as many as there are
        dishes; under the HDP not used.
    zeta : float
        Weight of a new dish: zeta under WAS, alpha under the HDP.
    gamma : float
        Weight of a new table under the HDP.
    exact : bool
        Whether proposals under WAS are accepted or refused, or taken all.
    longest : int
        Words of the longest sentence to come.
    word_topic : ndarray of shape (n_words, K), float64
        Counts n_wk, changed in place; or given weights f.
    topic_mass : ndarray of shape (K,), float64, or None
        Counts n_k, changed in place; None if weights are given.
    eta : ndarray of shape (n_words,), float64, or None
        Prior of the topics; None if weights are given.
    eta_mass : float
        Its sum over the whole vocabulary.
    """

    cdef int kind
    cdef bint exact, collapsed
    cdef Py_ssize_t longest
    cdef double kappa, zeta, gamma, eta_mass
    cdef const double[::1] a, b, eta
    cdef double[:, ::1] rise_a, rise_b, rise_ab
    cdef double[:, ::1] word_topic
    cdef double[::1] topic_mass
    # Scratch: of topics, of dishes, and log(n + zeta) of numbers of dishes.
    cdef double[::1] f, of_topic, added, prior, q, weight, likelihood, log_dishes

    def __init__(self, int prior, double kappa, const double[::1] a, const double[::1] b,
                 double zeta, double gamma, bint exact, Py_ssize_t longest,
                 double[:, ::1] word_topic, double[::1] topic_mass, const double[::1] eta,
                 double eta_mass):
        self.kind, self.exact, self.longest = prior, exact and prior == WAS, longest
        self.kappa, self.zeta, self.gamma = kappa, zeta, gamma
        self.a, self.b = a, b
        self.word_topic, self.topic_mass = word_topic, topic_mass
        self.eta, self.eta_mass, self.collapsed = eta, eta_mass, topic_mass is not None
        if self.collapsed and (eta.shape[0] != word_topic.shape[0]
                               or topic_mass.shape[0] != word_topic.shape[1]):
            raise ValueError("Sampler: the shapes of word_topic, topic_mass and eta do not agree")
        Seating.__init__(self, word_topic.shape[1], a.shape[0] if prior == SBP else 0, self.exact)
        self.f, self.of_topic, self.added = np.zeros((3, self.n_topics))
        if self.exact:
            n_levels = min(len(a), longest + 1)
            first, second = np.asarray(a)[:n_levels], np.asarray(b)[:n_levels]
            self.rise_a = rising_logs(first, longest)
            self.rise_b = rising_logs(second, longest)
            self.rise_ab = rising_logs(first + second, longest)

    cdef int make_room_for_dishes(self, Py_ssize_t capacity) except -1:
        Seating.make_room_for_dishes(self, capacity)
        self.prior, self.q, self.weight, self.likelihood = np.zeros((4, capacity))
        self.log_dishes = np.log(np.arange(capacity) + self.zeta)
        return 0

    def start(self, const Py_ssize_t[::1] documents, const Py_ssize_t[::1] sentences,
              const int[::1] words, const uint64[::1] seeds, int[::1] topic, int[::1] table,
              int[::1] dish, Py_ssize_t first, Py_ssize_t last, double[::1] log_probability):
        """Seat the words first .. last - 1 of each document, in the order of their times.

        Each is seated by the probabilities above, given those before it; for them they
        are exact under all the priors. Words from `first` have no seat yet (table -1).

        IN documents in CSR form over sentences, sentences in CSR form over words, seeds
        (n_documents,). IN and OUT topic, table, dish (n_words,). OUT log_probability
        (n_documents,), the sum of log p(word | words before it, and their seats).
        """
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

    def sweep(self, const Py_ssize_t[::1] documents, const Py_ssize_t[::1] sentences,
              const int[::1] words, const uint64[::1] seeds, int[::1] topic, int[::1] table,
              int[::1] dish, Py_ssize_t first_sweep, Py_ssize_t last_sweep, Py_ssize_t n_averaged,
              double[:, ::1] topic_mean, double[:, ::1] sentence_topic, double[::1] n_tables,
              double[::1] n_dishes):
        """Do the sweeps first_sweep .. last_sweep - 1 over each document.

        The last `n_averaged` of them add to what is averaged, an n_averaged-th each:
        p(topic | dish) of each word, the predictive distribution of each sentence's next
        word over topics, the tables of each sentence and the dishes of each document.

        IN as in `start`. IN and OUT topic, table, dish (n_words,); topic_mean
        (n_words, K), sentence_topic (n_sentences, K), n_tables (n_sentences,), n_dishes
        (n_documents,), or of any shape if n_averaged is 0.
        """
        cdef Py_ssize_t d, r, s
        cdef double share
        cdef uint64 state
        self.make_room(documents, sentences, words)
        with nogil:
            for d in range(documents.shape[0] - 1):
                s = documents[d]
                self.read(sentences, s, documents[d + 1], words, topic, table, dish)
                for r in range(first_sweep, last_sweep):
                    share = 1.0 / n_averaged if r >= last_sweep - n_averaged else 0
                    state = mix(mix(seeds[d]) + 2 * <uint64> r + 1)
                    self.sweep_words(sentences[s], share, topic_mean, &state)
                    if self.kind != SBP:
                        self.sweep_tables(&state)
                    if share > 0:
                        self.average(s, share, sentence_topic, n_tables)
                        n_dishes[d] += share * self.n_dishes
                self.write(sentences[s], topic, table, dish)

    cdef int make_room(self, const Py_ssize_t[::1] documents, const Py_ssize_t[::1] sentences,
                       const int[::1] words) except -1:
        """Room for the longest document and that of most sentences; checks words and sentences."""
        bounds = np.asarray(sentences)[np.asarray(documents)]
        highest = np.max(words, initial=-1)
        if highest >= self.word_topic.shape[0] or np.min(words, initial=0) < 0:
            raise ValueError(
                f"word {highest} is not among the {self.word_topic.shape[0]} that have topics")
        if self.exact and np.diff(sentences).max(initial=0) > self.longest:
            raise ValueError(f"a sentence is longer than the {self.longest} words announced")
        self.make_room_for_words(np.diff(bounds).max(initial=0),
                                 np.diff(documents).max(initial=0))
        return 0

    cdef int sweep_words(self, Py_ssize_t start, double share, double[:, ::1] topic_mean,
                         uint64 *state) except -1 nogil:
        """Draw table, dish and topic of each word that has a seat."""
        cdef Py_ssize_t i
        for i in range(self.n_words):
            if self.table[i] >= 0:
                self.sample_word(i, share, topic_mean, start + i, state)
        return 0

    cdef int sample_word(self, Py_ssize_t i, double share, double[:, ::1] topic_mean,
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
        if self.exact and not self.accepts(i, new_row, row, opened, state):
            new_row, k, first = row, topic, self.table_with(self.sentence[i], row)
        elif self.kind != SBP and new_row == self.n_rows:
            new_row = self.free_row()
        if share > 0:
            self.expect_topic(new_row, share, &topic_mean[n, 0])
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
        if self.kind != SBP and row == self.n_rows:
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
        """Dishes to choose from: the rows in use, and the next one for a new dish."""
        return self.most_dishes if self.kind == SBP else self.n_rows + 1

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
        cdef Py_ssize_t k, row, n = self.n_candidates()
        cdef double f, sum_f = 0, prior_mass = self.kappa * self.n_topics
        cdef double *q = &self.q[0]
        cdef const double *total = &self.total[0]
        cdef const double *counts
        for row in range(n):
            q[row] = 0
        for k in range(self.n_topics):
            f = self.word_topic[word, k]
            if self.collapsed:
                f = (f + self.eta[word]) / (self.topic_mass[k] + self.eta_mass)
            self.f[k] = f
            sum_f += f
            counts = &self.counts[k, 0]
            for row in range(n):
                q[row] += counts[row] * f
        for row in range(n):
            q[row] = (q[row] + self.kappa * sum_f) / (total[row] + prior_mass)

    cdef void weigh_seats(self, Py_ssize_t s) noexcept nogil:
        """prior_l of the next word of a sentence; they sum to 1."""
        if self.kind == WAS:
            self.weigh_was(s)
        elif self.kind == HDP:
            self.weigh_hdp(s)
        else:
            self.weigh_sbp(s)

    cdef void weigh_was(self, Py_ssize_t s) noexcept nogil:
        """Theorem 4: pi_j, and xi shared by the dishes that the sentence does not have."""
        cdef Py_ssize_t j, row, n_tables = self.tables_of[s], last = self.a.shape[0] - 1
        cdef const int *tables = &self.tables[self.first_word[s]]
        cdef double a, b, g, mass = self.customers[s], left = 1, share
        for j in range(n_tables):
            a, b, g = self.a[min(j, last)], self.b[min(j, last)], self.size[tables[j]]
            self.weight[j] = left * (a + g - 1) / (a + b + mass - 1)
            left *= (b + mass - g) / (a + b + mass - 1)
            mass -= g
        share = left / (self.n_dishes - n_tables + self.zeta)
        for row in range(self.n_rows):
            self.prior[row] = share if self.servings[row] > 0 else 0
        self.prior[self.n_rows] = share * self.zeta
        for j in range(n_tables):
            self.prior[self.dish[tables[j]]] = self.weight[j]

    cdef void weigh_hdp(self, Py_ssize_t s) noexcept nogil:
        """The Chinese restaurant franchise, tables of the same dish put together."""
        cdef Py_ssize_t j, row, start = self.first_word[s]
        cdef double scale = 1 / (self.customers[s] + self.gamma)
        cdef double share = scale * self.gamma / (self.n_tables + self.zeta)
        for row in range(self.n_rows):
            self.prior[row] = share * self.servings[row]
        self.prior[self.n_rows] = share * self.zeta
        for j in range(start, start + self.tables_of[s]):
            self.prior[self.dish[self.tables[j]]] += scale * self.size[self.tables[j]]

    cdef void weigh_sbp(self, Py_ssize_t s) noexcept nogil:
        """Truncated sticks, which are there before their first word."""
        cdef Py_ssize_t j, row, start = self.first_word[s], last = self.most_dishes - 1
        cdef double g, mass = self.customers[s], left = 1
        for row in range(last + 1):
            self.prior[row] = 0
        for j in range(start, start + self.tables_of[s]):
            self.prior[self.dish[self.tables[j]]] = self.size[self.tables[j]]
        for row in range(last):
            g = self.prior[row]
            self.prior[row] = left * (self.a[row] + g) / (self.a[row] + self.b[row] + mass)
            left *= (self.b[row] + mass - g) / (self.a[row] + self.b[row] + mass)
            mass -= g
        self.prior[last] = left

    cdef inline double weigh_topics(self, int row) noexcept nogil:
        """of_topic_k = (m_kl + kappa) f_k; returns the sum."""
        cdef Py_ssize_t k
        cdef double total = 0
        for k in range(self.n_topics):
            self.of_topic[k] = (self.counts[k, row] + self.kappa) * self.f[k]
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

    cdef int draw_table(self, Py_ssize_t s, int row, uint64 *state) noexcept nogil:
        """A table of the sentence that has the dish, or -1 for a new one."""
        cdef Py_ssize_t j, start = self.first_word[s]
        cdef double threshold
        if self.kind != HDP:
            return self.table_with(s, row)
        threshold = uniform(state) * self.prior[row] * (self.customers[s] + self.gamma)
        for j in range(start, start + self.tables_of[s]):
            if self.dish[self.tables[j]] == row:
                threshold -= self.size[self.tables[j]]
                if threshold < 0:
                    return self.tables[j]
        return -1

    cdef bint accepts(self, Py_ssize_t i, int new_row, int row, bint opened,
                      uint64 *state) noexcept nogil:
        """Whether word i, which has opened its table at the dish `row` or not, gets `new_row`.

        If it follows an earlier word of its table before and after, the proposal is its
        conditional.
        """
        cdef int first = self.table_with(self.sentence[i], new_row)
        if self.servings[row] == 0:
            row = self.n_rows
        if new_row == row or (not opened and 0 <= first < i):
            return True
        return log(uniform(state)) < self.log_excess(i, new_row) - self.log_excess(i, row)

    cdef double log_excess(self, Py_ssize_t i, int row) noexcept nogil:
        """log(p / prior_l), with p of all seats and dishes when word i gets the dish."""
        cdef int first = self.table_with(self.sentence[i], row)
        cdef int joined = 1 if first < 0 else self.size[first] + 1
        cdef bint opens = first < 0 or first > i
        cdef double value = log(self.zeta) if row == self.n_rows else 0
        value += self.log_sticks(i, row, joined, opens)
        return value - self.log_openings(i, row, opens) - log(self.prior[row])

    cdef inline double log_stick(self, int place, int g, int mass) noexcept nogil:
        """log of B(a + g - 1, b + h) / B(a, b), where g + h = mass."""
        cdef Py_ssize_t level = min(place, self.rise_a.shape[0] - 1)
        return (self.rise_a[level, g - 1] + self.rise_b[level, mass - g]
                - self.rise_ab[level, mass - 1])

    cdef double log_sticks(self, Py_ssize_t i, int row, int joined, bint opens) noexcept nogil:
        """log p(seats of the sentence), with word i at the table of the dish, `joined` in all.

        It is the sum of log B(a_j + g_j - 1, b_j + h_j) / B(a_j, b_j) over the tables j in
        the order of their first words; if the word is the first, the table comes there.
        """
        cdef Py_ssize_t j, s = self.sentence[i], start = self.first_word[s]
        cdef int first, place = 0, mass = self.customers[s] + 1
        cdef bint ahead = opens
        cdef double value = 0
        for j in range(start, start + self.tables_of[s]):
            first = self.tables[j]
            if ahead and first > i:
                value += self.log_stick(place, joined, mass)
                mass -= joined
                place += 1
                ahead = False
            if self.dish[first] != row:
                value += self.log_stick(place, self.size[first], mass)
                mass -= self.size[first]
                place += 1
            elif not opens:
                value += self.log_stick(place, joined, mass)
                mass -= joined
                place += 1
        return value + self.log_stick(place, joined, mass) if ahead else value

    cdef double log_openings(self, Py_ssize_t i, int row, bint opens) noexcept nogil:
        """sum of log(D - j + zeta) over the tables opened when word i is seated, or later.

        With D dishes in the document before the opening, and j tables in the sentence. If
        the word opens the table of the dish, a later opening of it is none any more, and
        later tables of the sentence have one more before them until then.
        """
        cdef Py_ssize_t o, s = self.sentence[i]
        cdef int first, time = self.time[i], n_dishes = 0, n_before = 0
        cdef double value = 0
        for o in range(self.n_rows):
            n_dishes += self.born[o] < time
        if opens:
            for o in range(self.first_word[s], self.first_word[s] + self.tables_of[s]):
                n_before += self.tables[o] < i
            value += self.log_dishes[n_dishes - n_before]
            n_dishes += self.born[row] > time
        for o in range(self.first_opening_from(time), self.n_tables):
            first = self.openings[o]
            n_before = self.place[first]
            if opens and self.sentence[first] == s:
                if self.dish[first] == row:
                    opens = False
                    continue
                n_before += 1
            value += self.log_dishes[n_dishes - n_before]
            n_dishes += self.dish[first] != row and self.born[self.dish[first]] == self.time[first]
        return value

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
        if self.exact and not self.accepts_dish(first, new_row, row, state):
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

    cdef int propose_dish(self, int first, uint64 *state) noexcept nogil:
        """A dish in proportion to its prior and the probability of the table's topics.

        The prior of a dish is under WAS 1, or 0 if the sentence has it, and zeta if it is
        new; under the HDP the number of its tables, and alpha.
        """
        cdef Py_ssize_t j, row, n = self.n_rows + 1, start = self.first_word[self.sentence[first]]
        cdef double best, total = 0
        for row in range(self.n_rows):
            self.weight[row] = self.servings[row] if self.kind == HDP else self.servings[row] > 0
        self.weight[self.n_rows] = self.zeta
        if self.kind == WAS:
            for j in range(start, start + self.tables_of[self.sentence[first]]):
                self.weight[self.dish[self.tables[j]]] = 0
        self.weigh_words(first)
        best = self.likelihood[self.n_rows]
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

        It is the sum of log (m_kl + kappa + c_k) / (m_l + K kappa + n), with c_k and n of
        the table's words before the one at hand.
        """
        cdef Py_ssize_t i, row, n = 0, end = self.first_word[self.sentence[first] + 1]
        cdef int k
        cdef double mass = self.kappa * self.n_topics
        self.q[:self.n_rows + 1] = 1
        self.likelihood[:self.n_rows + 1] = 0
        for i in range(first, end):
            if self.table[i] != first:
                continue
            k = self.topic[i]
            for row in range(self.n_rows + 1):
                self.q[row] *= ((self.counts[k, row] + self.kappa + self.added[k])
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

    cdef bint accepts_dish(self, int first, int new_row, int row, uint64 *state) noexcept nogil:
        """Whether a table, closed for the moment, moves to the dish `new_row` from `row`."""
        if self.servings[row] == 0:
            row = self.n_rows
        if new_row == row:
            return True
        return log(uniform(state)) < (self.log_openings(first, row, True)
                                      - self.log_openings(first, new_row, True))

    cdef void average(self, Py_ssize_t first, double share, double[:, ::1] sentence_topic,
                      double[::1] n_tables) noexcept nogil:
        """Add E[topic of the next word] of each sentence, and its tables."""
        cdef Py_ssize_t s, k, row
        cdef double mean, mass = self.kappa * self.n_topics
        for s in range(self.n_sentences):
            n_tables[first + s] += share * self.tables_of[s]
            self.weigh_seats(s)
            for row in range(self.n_candidates()):
                self.weight[row] = share * self.prior[row] / (self.total[row] + mass)
            for k in range(self.n_topics):
                mean = 0
                for row in range(self.n_candidates()):
                    mean += self.weight[row] * (self.counts[k, row] + self.kappa)
                sentence_topic[first + s, k] += mean


def rising_logs(const double[::1] x, Py_ssize_t most):
    """log Gamma(x_i + n) / Gamma(x_i) for n = 0 .. most, of shape (len(x), most + 1)."""
    logs = np.zeros((len(x), most + 1))
    np.cumsum(np.log(np.add.outer(x, np.arange(most))), axis=1, out=logs[:, 1:])
    return logs


def document_seeds(uint64 seed, uint64 first, Py_ssize_t n):
    """Seeds of the documents first .. first + n - 1, hashes of `seed` and their numbers."""
    cdef uint64[::1] out = np.empty(n, dtype=np.uint64)
    cdef Py_ssize_t i
    for i in range(n):
        out[i] = mix(mix(seed) + first + <uint64> i)
    return np.asarray(out)


def content_seeds(const Py_ssize_t[::1] documents, const Py_ssize_t[::1] sentences,
                  const int[::1] words):
    """Seeds of documents that depend on their sentences alone.

    IN documents (D + 1,), sentences (S + 1,), words (N,). The seed is that of nothing,
    hashed with each word and with the end of each sentence, in order.
    """
    cdef Py_ssize_t n = documents.shape[0] - 1, d, s, i
    cdef uint64[::1] out = np.empty(n, dtype=np.uint64)
    cdef uint64 seed
    for d in range(n):
        seed = 0
        for s in range(documents[d], documents[d + 1]):
            for i in range(sentences[s], sentences[s + 1]):
                seed = mix(seed + <uint64> words[i] + 2)
            seed = mix(seed + 1)
        out[d] = seed
    return np.asarray(out)
