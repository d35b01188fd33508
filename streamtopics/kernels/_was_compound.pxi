# SPDX-License-Identifier: BSD-3-Clause
# Included by _was.pyx: the Indian buffet compound Dirichlet process of Williamson et al. (2010),
# with a fixed number of dishes. A sentence has the dish l with chance r_l, and then a number g_l
# of words of it that is negative binomial, NB(phi_l, 1/2). With all other words seated the next
# one gets the dish l with
#
#   prior_l ~ phi_l + g_l        if the sentence has words of it,
#             phi_l p_l          if not, p_l = r_l 2^-phi_l / (1 - r_l + r_l 2^-phi_l),
#
# where p_l is the chance that the sentence has the dish and no word of it so far.


cdef class BuffetCompound(Sampler):
    """Sentences that have some of the dishes, at weights that all which have them share.

    Given the seats the dishes are independent: before each sweep (r_l, phi_l) is drawn from

        p(r) p(phi) prod_s r 2^-phi Gamma(phi + g_s) / Gamma(phi)    over sentences with words of it
                    prod_s (1 - r + r 2^-phi)                        over the others,

    a law on finitely many pairs. Sentences without words do not count.

    IN topics and atom_prior as in `Sampler`; chances and weights, what r_l and phi_l can be, with
    the logarithms of their prior probabilities; n_dishes.
    """

    cdef Py_ssize_t longest
    cdef const double[::1] weights
    # Of chances and weights: log(1 - r + r 2^-phi).
    cdef double[:, ::1] log_absent
    # Of chances, of weights: log r, and log 2^-phi.
    cdef double[::1] log_chance, log_halved
    cdef const double[::1] log_p_chances, log_p_weights
    # Of words and weights: log Gamma(phi + g) / Gamma(phi).
    cdef double[:, ::1] rise
    # Of dishes and weights: log p(phi), and the sum of that over the sentences.
    cdef double[:, ::1] log_rise
    # Of dishes: phi_l and log p_l, phi_l p_l, and that divided by the largest p: the weights in a
    # sentence without words, where all may be too small for a number. Of pairs: probabilities.
    cdef double[::1] phi, log_presence, unseen, alone, of_pair

    def __init__(self, topics, double atom_prior, chances, weights, log_p_chances, log_p_weights,
                 Py_ssize_t n_dishes):
        self.weights, self.longest = weights, -1
        self.log_p_chances, self.log_p_weights = log_p_chances, log_p_weights
        self.log_chance, self.log_halved = np.log(chances), -np.log(2) * weights
        self.log_absent = np.log1p(np.outer(chances, np.expm1(self.log_halved)))
        self.of_pair = np.zeros(len(chances) * len(weights))
        self.log_rise = np.zeros((n_dishes, len(weights)))
        phi = (weights * np.exp(log_p_weights)).sum()
        chance = (chances * np.exp(log_p_chances)).sum()
        self.phi, self.log_presence = np.full((2, n_dishes), [[phi], [np.log(chance)]])
        self.unseen, self.alone = np.full((2, n_dishes), phi * chance)
        Sampler.__init__(self, topics, atom_prior, n_dishes)

    cdef int make_room(self, const Py_ssize_t[::1] documents, const Py_ssize_t[::1] sentences,
                       const int[::1] words) except -1:
        cdef Py_ssize_t longest = np.diff(sentences).max(initial=0)
        Sampler.make_room(self, documents, sentences, words)
        if longest > self.longest:
            self.rise = np.ascontiguousarray(rising_logs(self.weights, longest).T)
            self.longest = longest
        return 0

    cdef int sweep_words(self, Py_ssize_t start, double share, double[:, ::1] word_topic,
                         uint64 *state) except -1 nogil:
        self.draw_weights(state)
        return Sampler.sweep_words(self, start, share, word_topic, state)

    cdef void draw_weights(self, uint64 *state) noexcept nogil:
        """phi_l and p_l of each dish given the seats."""
        cdef Py_ssize_t j, row, s, n_sentences = 0
        cdef int first
        cdef double best
        for row in range(self.most_dishes):
            self.log_rise[row, :] = self.log_p_weights
        for s in range(self.n_sentences):
            n_sentences += self.tables_of[s] > 0
            for j in range(self.first_word[s], self.first_word[s] + self.tables_of[s]):
                first = self.tables[j]
                self.add_rise(&self.log_rise[self.dish[first], 0], self.size[first])
        for row in range(self.most_dishes):
            self.draw_pair(row, n_sentences, state)
            best = self.log_presence[row] if row == 0 else max(best, self.log_presence[row])
        for row in range(self.most_dishes):
            self.unseen[row] = self.phi[row] * exp(self.log_presence[row])
            self.alone[row] = self.phi[row] * exp(self.log_presence[row] - best)

    cdef inline void add_rise(self, double *log_rise, Py_ssize_t size) noexcept nogil:
        """Add log Gamma(phi + g) / Gamma(phi) of a table of g words."""
        cdef const double *rise = &self.rise[size, 0]
        cdef Py_ssize_t p
        for p in range(self.weights.shape[0]):
            log_rise[p] += rise[p]

    cdef void draw_pair(self, Py_ssize_t row, Py_ssize_t n_sentences, uint64 *state) noexcept nogil:
        """phi_l and p_l of a dish, which has `log_rise` and a table in each of its sentences."""
        cdef Py_ssize_t r, p, pair, n_weights = self.weights.shape[0], n = self.of_pair.shape[0]
        cdef double has = self.servings[row], lacks = n_sentences - has, best, total = 0, of_chance
        cdef double *of_weight = &self.log_rise[row, 0]
        cdef double *of_pair = &self.of_pair[0]
        for p in range(n_weights):
            of_weight[p] += has * self.log_halved[p]
        for r in range(self.log_chance.shape[0]):
            of_chance = has * self.log_chance[r] + self.log_p_chances[r]
            for p in range(n_weights):
                of_pair[r * n_weights + p] = (
                    of_weight[p] + of_chance + lacks * self.log_absent[r, p])
        best = of_pair[0]
        for pair in range(1, n):
            best = max(best, of_pair[pair])
        for pair in range(n):
            # Less than e^-40 of the best is lost in the rounding of the sum.
            of_pair[pair] = exp(of_pair[pair] - best) if of_pair[pair] > best - 40 else 0
            total += of_pair[pair]
        pair = draw(of_pair, n, uniform(state) * total)
        r, p = pair // n_weights, pair % n_weights
        self.phi[row] = self.weights[p]
        self.log_presence[row] = (
            self.log_chance[r] + self.log_halved[p] - self.log_absent[r, p])

    cdef int weigh_seats(self, Py_ssize_t s) except -1 nogil:
        """The weights of the dishes that the sentence has, and of those that it may have."""
        cdef Py_ssize_t j, row, start = self.first_word[s]
        cdef double total = 0
        for row in range(self.most_dishes):
            self.prior[row] = self.unseen[row] if self.tables_of[s] > 0 else self.alone[row]
        for j in range(start, start + self.tables_of[s]):
            row = self.dish[self.tables[j]]
            self.prior[row] = self.phi[row] + self.size[self.tables[j]]
        for row in range(self.most_dishes):
            total += self.prior[row]
        for row in range(self.most_dishes):
            self.prior[row] /= total
        return 0
