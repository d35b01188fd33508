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

        p(r, phi) prod_s r 2^-phi Gamma(phi + g_s) / Gamma(phi)    over sentences with words of it
                  prod_s (1 - r + r 2^-phi)                        over the others,

    a law on finitely many pairs. Sentences without words do not count.

    Parameters
    ----------
    topics, atom_prior
        As in `Sampler`.
    chances, weights : ndarray, float64
        What r_l and phi_l can be; all pairs of them are equally likely beforehand.
    n_dishes : int
    """

    cdef Py_ssize_t longest
    cdef const double[::1] weights
    # Of chances and weights: log(1 - r + r 2^-phi), and p.
    cdef double[:, ::1] log_absent, presences
    # Of chances, of weights: log r, and log 2^-phi.
    cdef double[::1] log_chance, log_halved
    # Of weights and words: log Gamma(phi + g) / Gamma(phi).
    cdef double[:, ::1] rise
    # Of dishes and weights: the sum of that over the sentences.
    cdef double[:, ::1] log_rise
    # Of dishes: phi_l and p_l. Of pairs: their probabilities.
    cdef double[::1] phi, presence, of_pair

    def __init__(self, topics, double atom_prior, chances, weights, Py_ssize_t n_dishes):
        halved = np.exp2(-weights)
        self.weights, self.longest = weights, -1
        self.log_chance, self.log_halved = np.log(chances), -np.log(2) * weights
        absent = 1 - np.outer(chances, 1 - halved)
        self.log_absent, self.presences = np.log(absent), np.outer(chances, halved) / absent
        self.of_pair, self.log_rise = np.zeros(absent.size), np.zeros((n_dishes, len(weights)))
        self.phi, self.presence = np.full((2, n_dishes), [[weights.mean()], [chances.mean()]])
        Sampler.__init__(self, topics, atom_prior, n_dishes)

    cdef int make_room(self, const Py_ssize_t[::1] documents, const Py_ssize_t[::1] sentences,
                       const int[::1] words) except -1:
        cdef Py_ssize_t longest = np.diff(sentences).max(initial=0)
        Sampler.make_room(self, documents, sentences, words)
        if longest > self.longest:
            self.rise, self.longest = rising_logs(self.weights, longest), longest
        return 0

    cdef int sweep_words(self, Py_ssize_t start, double share, double[:, ::1] word_topic,
                         uint64 *state) except -1 nogil:
        self.draw_weights(state)
        return Sampler.sweep_words(self, start, share, word_topic, state)

    cdef void draw_weights(self, uint64 *state) noexcept nogil:
        """phi_l and p_l of each dish given the seats."""
        cdef Py_ssize_t j, p, row, s, n_sentences = 0
        cdef int first
        for row in range(self.most_dishes):
            for p in range(self.weights.shape[0]):
                self.log_rise[row, p] = 0
        for s in range(self.n_sentences):
            n_sentences += self.tables_of[s] > 0
            for j in range(self.first_word[s], self.first_word[s] + self.tables_of[s]):
                first = self.tables[j]
                for p in range(self.weights.shape[0]):
                    self.log_rise[self.dish[first], p] += self.rise[p, self.size[first]]
        for row in range(self.most_dishes):
            self.draw_pair(row, n_sentences, state)

    cdef void draw_pair(self, Py_ssize_t row, Py_ssize_t n_sentences, uint64 *state) noexcept nogil:
        """phi_l and p_l of a dish, which has `log_rise` and a table in each of its sentences."""
        cdef Py_ssize_t r, p, n_weights = self.weights.shape[0], n = self.of_pair.shape[0], pair
        cdef double has = self.servings[row], lacks = n_sentences - has, best = 0, total = 0
        for r in range(self.log_chance.shape[0]):
            for p in range(n_weights):
                pair = r * n_weights + p
                self.of_pair[pair] = (
                    self.log_rise[row, p] + has * (self.log_chance[r] + self.log_halved[p])
                    + lacks * self.log_absent[r, p])
                if pair == 0 or self.of_pair[pair] > best:
                    best = self.of_pair[pair]
        for pair in range(n):
            self.of_pair[pair] = exp(self.of_pair[pair] - best)
            total += self.of_pair[pair]
        pair = draw(&self.of_pair[0], n, uniform(state) * total)
        self.phi[row] = self.weights[pair % n_weights]
        self.presence[row] = self.presences[pair // n_weights, pair % n_weights]

    cdef int weigh_seats(self, Py_ssize_t s) except -1 nogil:
        """The weights of the dishes that the sentence has, and of those that it may have."""
        cdef Py_ssize_t j, row, start = self.first_word[s]
        cdef double total = 0
        for row in range(self.most_dishes):
            self.prior[row] = self.phi[row] * self.presence[row]
        for j in range(start, start + self.tables_of[s]):
            row = self.dish[self.tables[j]]
            self.prior[row] = self.phi[row] + self.size[self.tables[j]]
        for row in range(self.most_dishes):
            total += self.prior[row]
        for row in range(self.most_dishes):
            self.prior[row] /= total
        return 0
