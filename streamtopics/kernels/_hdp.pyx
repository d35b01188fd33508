# SPDX-License-Identifier: BSD-3-Clause
"""Gibbs sampling of the documents of a minibatch under a hierarchical Dirichlet process.

A document's topics are Dirichlet(b pi_1, ..., b pi_T, b pi_u), where pi_u is the weight of
all topics that do not exist yet. Integrated over them, a token of word x goes

    to topic k        in proportion to (N_k + b pi_k) lam_xk / lam_k,
    to a new topic    in proportion to b pi_u eta_x / eta_.,

with N the document's counts without the token. A topic that is born in the minibatch
has lam = eta + C, C its counts in the minibatch, and takes Beta(1, concentration) of
pi_u; when it loses its last token it gives its weight back. The other topics keep their
lam, or add to it the counts of the document at hand (`own_counts`).
"""
import numpy as np

from libc.math cimport ceil, cos, log, pow, sqrt

from streamtopics.kernels._doors cimport check_documents, check_shapes
from streamtopics.kernels._random cimport draw, mix, uint64, uniform

cdef enum:
    MOST_CUSTOMERS = 1024
    MOST_DRAWS = 1000

# What is known of each topic, a row of an array each: its alpha = b pi, lam's mass and the
# inverse; in the document its counts, how many tokens these are and its tables; in the
# minibatch its tokens and tables.
cdef enum:
    ALPHA
    MASS
    SCALE
    COUNT
    TOKENS_HERE
    TABLES_HERE
    TOKENS
    TABLES
    N_ROWS

cdef double TWO_PI = 6.283185307179586
# By which part of itself a sum of weights, added and taken away, may be off.
cdef double ROUNDING = 1e-9


cdef inline double digamma(double x) noexcept nogil:
    """psi(x) for x > 0, to 1e-12."""
    cdef double below = 0, f
    cdef int _step
    for _step in range(8):
        if x < 8:
            below += 1 / x
            x += 1
    f = 1 / (x * x)
    return (log(x) - 0.5 / x - below
            - f * (1 / 12.0 - f * (1 / 120.0 - f * (1 / 252.0 - f * (1 / 240.0 - f / 132.0)))))


cdef inline double normal(uint64 *state) noexcept nogil:
    """N(0, 1), by Box and Muller."""
    cdef double radius = sqrt(-2 * log(1 - uniform(state)))
    return radius * cos(TWO_PI * uniform(state))


cdef inline double gamma(double shape, uint64 *state) noexcept nogil:
    """Gamma(shape, 1), by Marsaglia and Tsang (2000)."""
    cdef double boost = 1, x, v = 1, d, c
    cdef int _draw
    if shape < 1:
        boost = pow(1 - uniform(state), 1 / shape)
        shape += 1
    d = shape - 1 / 3.0
    c = 1 / sqrt(9 * d)
    for _draw in range(MOST_DRAWS):
        x = normal(state)
        v = (1 + c * x) * (1 + c * x) * (1 + c * x)
        if v > 0 and log(1 - uniform(state)) < 0.5 * x * x + d * (1 - v + log(v)):
            break
    # Nearly every draw is taken; of a shape that is no number none is.
    return boost * d * v


cdef inline double beta(double a, double b, uint64 *state) noexcept nogil:
    """Beta(a, b), for a >= 1."""
    cdef double x = gamma(a, state)
    return x / (x + gamma(b, state))


cdef inline double draw_tables(double c, double n, uint64 *state) noexcept nogil:
    """Tables of ceil(n) customers at concentration c; those beyond 1024 by expectation."""
    cdef double total = 0, i = 0
    cdef double last = min(ceil(n * (1 - ROUNDING)), <double> MOST_CUSTOMERS)
    while i < last:
        total += uniform(state) * (c + i) < c
        i += 1
    if n > MOST_CUSTOMERS:
        total += c * (digamma(c + n) - digamma(c + last))
    return total


cdef class Sampler:
    """The topics as they stand while the documents of a minibatch are sampled in order.

    IN lam (n_words, T), rows of the topics' parameters for the minibatch's words, and mass (T,),
    their sums over all words; n_known, T, or 0 if nothing is known of the topics: the topics then
    count the minibatch's tokens like topics born in the minibatch; eta (n_words,), the prior of a
    topic, and its sum over all words; alpha (T,) = b pi: what alpha lacks to b is the weight of
    new topics; the concentration of pi, and b; tables (T,) or None: with tables a document has
    sticks of its own, from Beta(1 + tables_k, concentration + sum_{j > k} tables_j), in the place
    of `alpha`, and its tables are drawn, not expected.
    """

    cdef double b, concentration, eta_mass, alpha_new
    cdef bint own_counts, own_sticks
    cdef Py_ssize_t n_given, n_known, n_slots, capacity
    cdef const double[:, ::1] given
    cdef const double[::1] given_mass, eta, stick_tables
    cdef double[:, ::1] topic, lam, here, statistics
    cdef double[::1] weight, size
    cdef int[::1] z, entry

    def __init__(self, const double[:, ::1] lam, const double[::1] mass, Py_ssize_t n_known,
                 const double[::1] eta, double eta_mass, const double[::1] alpha,
                 double concentration, double doc_concentration, const double[::1] tables,
                 bint own_counts):
        cdef Py_ssize_t n_words = eta.shape[0], n_given = alpha.shape[0]
        if (lam.shape[0] != n_words or lam.shape[1] != n_given or mass.shape[0] != n_given
                or (tables is not None and tables.shape[0] != n_given)):
            raise ValueError("Sampler: the shapes of lam, mass, eta, alpha or tables do not agree")
        if not 0 <= n_known <= n_given:
            raise ValueError(f"Sampler: {n_known} of {n_given} topics are known")
        if n_given == 0:
            raise ValueError("Sampler: at least one topic is needed to start documents from")
        self.given, self.given_mass, self.eta, self.stick_tables = lam, mass, eta, tables
        self.n_given = self.n_slots = n_given
        self.n_known, self.eta_mass = n_known, eta_mass
        self.concentration, self.b = concentration, doc_concentration
        self.own_counts, self.own_sticks = own_counts, tables is not None
        self.capacity = n_given + 8
        # By these names, as np.asarray of a view copies it where there is no memory for another.
        topic = np.zeros((N_ROWS, self.capacity))
        rows = np.zeros((n_words, self.capacity))
        rows[:, :n_given] = lam
        topic[ALPHA, :n_given] = alpha
        topic[MASS, :n_given] = mass
        topic[SCALE, :n_given] = 1 / np.asarray(mass)
        self.topic, self.lam = topic, rows
        self.statistics = np.zeros((n_words, self.capacity))
        self.here = np.zeros((0, self.capacity))
        self.weight = np.zeros(self.capacity + 1)
        self.alpha_new = max(0.0, doc_concentration - np.sum(alpha))

    def results(self):
        """Expected counts (n_words, T'), tables (T',) and alpha (T',) of the topics used."""
        born = np.asarray(self.topic)[TOKENS, self.n_given:self.n_slots]
        used = np.append(np.arange(self.n_given), self.n_given + np.flatnonzero(born))
        topic = np.asarray(self.topic)[:, used]
        counts = np.ascontiguousarray(np.asarray(self.statistics)[:, used])
        return counts, topic[TABLES], topic[ALPHA]

    def sample(self, const int[::1] indptr, const int[::1] indices, const int[::1] n_tokens,
               const double[::1] token_weight, const uint64[::1] seeds, Py_ssize_t start,
               Py_ssize_t stop, int n_sweeps, int n_averaged):
        """Sample the documents start .. stop, and average the last n_averaged of n_sweeps.

        Averaged are the probabilities of the topics that there are, scaled so that they sum
        to 1; topics without tokens at the end are left out. IN documents in CSR form, n_tokens and
        token_weight (nnz,) of each entry, seeds (n_documents,).
        """
        cdef Py_ssize_t d, i, n, most_tokens = 0, most_entries = 0
        if not 1 <= n_averaged <= n_sweeps:
            raise ValueError("1 <= n_averaged <= n_sweeps is needed")
        check_documents(indptr, indices, min(n_tokens.shape[0], token_weight.shape[0]), start, stop,
                        self.eta.shape[0], "sample")
        check_shapes(stop <= seeds.shape[0], "sample")
        for d in range(start, stop):
            n = 0
            for i in range(indptr[d], indptr[d + 1]):
                n += n_tokens[i]
            most_tokens = max(most_tokens, n)
            most_entries = max(most_entries, indptr[d + 1] - indptr[d])
        self.z = np.empty(most_tokens, dtype=np.int32)
        self.entry = np.empty(most_tokens, dtype=np.int32)
        self.size = np.empty(most_tokens)
        self.here = np.zeros((most_entries, self.capacity))
        with nogil:
            for d in range(start, stop):
                i = indptr[d]
                if indptr[d + 1] > i:
                    self.document(&indices[i], &n_tokens[i], &token_weight[i], indptr[d + 1] - i,
                                  mix(seeds[d]), n_sweeps, n_averaged)

    cdef int document(self, const int *words, const int *parts, const double *part_weight,
                      Py_ssize_t n_entries, uint64 state, int n_sweeps,
                      int n_averaged) except -1 nogil:
        """Sample one document."""
        cdef Py_ssize_t n_tokens = self.read(parts, part_weight, n_entries), n, k
        cdef double total
        cdef int sweep
        cdef bint averaged
        if self.own_sticks:
            self.draw_sticks(&state)
        for n in range(n_tokens):
            total = self.weigh(words[self.entry[n]], False)
            self.seat(n, words, draw(&self.weight[0], self.n_slots, uniform(&state) * total))
        for sweep in range(n_sweeps):
            averaged = sweep >= n_sweeps - n_averaged
            for n in range(n_tokens):
                self.unseat(n, words)
                total = self.weigh(words[self.entry[n]], True)
                if averaged:
                    self.average(self.entry[n], self.size[n], total)
                self.weight[self.n_slots] = (
                    self.alpha_new * self.eta[words[self.entry[n]]] / self.eta_mass)
                total += self.weight[self.n_slots]
                k = draw(&self.weight[0], self.n_slots + 1, uniform(&state) * total)
                if k == self.n_slots:
                    k = self.birth(n_entries, &state)
                self.seat(n, words, k)
            self.count_tables(&state, 1.0 / n_averaged if averaged else 0.0)
            if self.own_sticks:
                self.draw_sticks(&state)
        self.leave(words, parts, part_weight, n_entries)
        return 0

    cdef Py_ssize_t read(self, const int *parts, const double *part_weight,
                         Py_ssize_t n_entries) noexcept nogil:
        """Entry and weight of each token; returns how many there are."""
        cdef Py_ssize_t i, _j, n = 0
        for i in range(n_entries):
            for _j in range(parts[i]):
                self.entry[n] = <int> i
                self.size[n] = part_weight[i]
                n += 1
        return n

    cdef inline double weigh(self, Py_ssize_t word, bint counted) noexcept nogil:
        """Weights of the topics for a token, without or with the document's counts."""
        cdef const double *alpha = &self.topic[ALPHA, 0]
        cdef const double *scale = &self.topic[SCALE, 0]
        cdef const double *count = &self.topic[COUNT, 0]
        cdef const double *lam = &self.lam[word, 0]
        cdef double *weight = &self.weight[0]
        cdef double total = 0
        cdef Py_ssize_t k, n = self.n_slots
        if counted:
            for k in range(n):
                weight[k] = (count[k] + alpha[k]) * (lam[k] * scale[k])
        else:
            for k in range(n):
                weight[k] = alpha[k] * (lam[k] * scale[k])
        for k in range(n):
            total += weight[k]
        return total

    cdef inline void average(self, Py_ssize_t entry, double size, double total) noexcept nogil:
        """Add the token's probabilities; those of a lone topic's last token may be all 0."""
        cdef Py_ssize_t k
        cdef double *here = &self.here[entry, 0]
        if total > 0:
            for k in range(self.n_slots):
                here[k] += self.weight[k] * (size / total)

    cdef inline void seat(self, Py_ssize_t n, const int *words, Py_ssize_t k) noexcept nogil:
        """Give a token to topic k."""
        self.z[n] = <int> k
        self.topic[COUNT, k] += self.size[n]
        self.topic[TOKENS_HERE, k] += 1
        self.topic[TOKENS, k] += 1
        if k >= self.n_known or self.own_counts:
            self.lam[words[self.entry[n]], k] += self.size[n]
            self.topic[MASS, k] += self.size[n]
            self.topic[SCALE, k] = 1 / self.topic[MASS, k]

    cdef inline void unseat(self, Py_ssize_t n, const int *words) noexcept nogil:
        """Take a token out of its topic; a topic born here dies with its last."""
        cdef Py_ssize_t k = self.z[n], word = words[self.entry[n]]
        self.topic[COUNT, k] -= self.size[n]
        self.topic[TOKENS_HERE, k] -= 1
        self.topic[TOKENS, k] -= 1
        if self.topic[TOKENS_HERE, k] == 0:
            self.topic[COUNT, k] = 0
        if k >= self.n_known or self.own_counts:
            self.lam[word, k] = max(self.lam[word, k] - self.size[n], self.eta[word])
            self.topic[MASS, k] = max(self.topic[MASS, k] - self.size[n], self.eta_mass)
            self.topic[SCALE, k] = 1 / self.topic[MASS, k]
        if k >= self.n_given and self.topic[TOKENS, k] == 0:
            self.alpha_new += self.topic[ALPHA, k]
            self.topic[ALPHA, k] = 0
            self.topic[SCALE, k] = 0

    cdef Py_ssize_t birth(self, Py_ssize_t n_entries, uint64 *state) except -1 nogil:
        """Break a new topic's weight off the rest; returns its place."""
        cdef Py_ssize_t i, k = self.n_given
        while k < self.n_slots and self.topic[TOKENS, k] > 0:
            k += 1
        if k == self.n_slots:
            if k == self.capacity:
                with gil:
                    self.grow()
            self.n_slots += 1
        self.topic[ALPHA, k] = beta(1, self.concentration, state) * self.alpha_new
        self.alpha_new -= self.topic[ALPHA, k]
        self.topic[MASS, k] = self.eta_mass
        self.topic[TABLES, k] = 0
        for i in range(self.lam.shape[0]):
            self.lam[i, k] = self.eta[i]
        for i in range(n_entries):
            self.here[i, k] = 0
        return k

    cdef int grow(self) except -1:
        """Make room for as many topics again."""
        cdef Py_ssize_t more = self.capacity
        topic = np.pad(self.topic, ((0, 0), (0, more)))
        lam = np.pad(self.lam, ((0, 0), (0, more)))
        here = np.pad(self.here, ((0, 0), (0, more)))
        statistics = np.pad(self.statistics, ((0, 0), (0, more)))
        weight = np.pad(self.weight, (0, more))
        self.topic, self.lam, self.here, self.statistics = topic, lam, here, statistics
        self.weight = weight
        self.capacity += more
        return 0

    cdef void count_tables(self, uint64 *state, double share) noexcept nogil:
        """The document's tables of each topic, and `share` of them to the minibatch's."""
        cdef double alpha, n
        cdef Py_ssize_t k
        for k in range(self.n_slots):
            alpha, n = self.topic[ALPHA, k], self.topic[COUNT, k]
            if n == 0:
                self.topic[TABLES_HERE, k] = 0
            elif self.own_sticks:
                self.topic[TABLES_HERE, k] = draw_tables(alpha, n, state)
            elif share > 0:
                self.topic[TABLES_HERE, k] = alpha * (digamma(alpha + n) - digamma(alpha))
            self.topic[TABLES, k] += share * self.topic[TABLES_HERE, k]

    cdef inline bint is_of_document(self, Py_ssize_t k) noexcept nogil:
        """Whether a topic was born in the document at hand."""
        return k >= self.n_given and self.topic[TOKENS_HERE, k] == self.topic[TOKENS, k]

    cdef void draw_sticks(self, uint64 *state) noexcept nogil:
        """The document's weights of topics, given its tables.

        A topic that was there before it has its stick's prior Beta(1 + tables, ..). One born in it
        was chosen by its weight, and with the first of its tables: given S of them its share of
        what the others leave is Beta(S, ..).
        """
        cdef double rest = self.b, later = self.concentration, tables, stick
        cdef Py_ssize_t k
        cdef bint born
        for k in range(self.n_slots):
            later += self.topic[TABLES_HERE, k]
            if k < self.n_given:
                later += self.stick_tables[k]
        for born in range(2):
            for k in range(self.n_slots):
                if k >= self.n_given and self.topic[TOKENS, k] == 0:
                    continue
                if self.is_of_document(k) != born:
                    continue
                tables = self.topic[TABLES_HERE, k]
                if k < self.n_given:
                    tables += self.stick_tables[k]
                later = max(later - tables, self.concentration)
                stick = beta(max(tables, 1.0) if born else 1 + tables, later, state)
                self.topic[ALPHA, k] = stick * rest
                rest -= self.topic[ALPHA, k]
        self.alpha_new = max(rest, 0.0)

    cdef void leave(self, const int *words, const int *parts, const double *part_weight,
                    Py_ssize_t n_entries) noexcept nogil:
        """Add the averages of the topics that are left, and make the others forget."""
        cdef Py_ssize_t i, k
        cdef double total
        for i in range(n_entries):
            total = 0
            for k in range(self.n_slots):
                if k >= self.n_given and self.topic[TOKENS, k] == 0:
                    self.here[i, k] = 0
                total += self.here[i, k]
            for k in range(self.n_slots):
                if total > 0:
                    self.statistics[words[i], k] += (
                        self.here[i, k] * (parts[i] * part_weight[i] / total))
                self.here[i, k] = 0
        for k in range(self.n_slots):
            self.topic[COUNT, k] = 0
            self.topic[TOKENS_HERE, k] = 0
            self.topic[TABLES_HERE, k] = 0
        if self.own_counts:
            for i in range(n_entries):
                for k in range(self.n_known):
                    self.lam[words[i], k] = self.given[words[i], k]
            for k in range(self.n_known):
                self.topic[MASS, k] = self.given_mass[k]
                self.topic[SCALE, k] = 1 / self.given_mass[k]
