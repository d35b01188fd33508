# SPDX-License-Identifier: BSD-3-Clause
# Included by _was.pyx: the priors of the seats, as samplers. The next word of a sentence gets
# the dish l with
#
#   WAS        prior_l = pi_j for the dish of the sentence's j-th table,
#              xi / (|G| + zeta) for the |G| other dishes, xi zeta / (|G| + zeta) for a new
#              one, with the probabilities of Theorem 4 of Das and Bhattacharyya;
#   franchise  prior_l = (sum_t w(g_t) + u v(s_l) / v.) / (w. + u), the sum over the sentence's
#              tables t with the dish; w(g) is the weight of a table with g words, u that of a
#              new table, v(s) that of a dish which s tables of the document have; w. is the
#              sum over all tables, v. that over all dishes and a new one. Under the HDP of Teh
#              et al. (2006) w(g) = g, v(s) = s, and new ones have constant weights;
#   sticks     prior_l = nu_l prod_{i<l} (1 - nu_i), nu_l = (a_l + g_l) / (a_l + b_l + g_l + h_l),
#              h_l = sum_{i>l} g_i, for a fixed number of dishes, the last with nu = 1.


cdef class WeightAgnostic(Sampler):
    """WAS: each sentence breaks its own stick, and takes other dishes with equal chances.

    Its words are not exchangeable: the probabilities are those of a sentence's last word.
    For other words they propose, and the proposal is accepted with the probability of
    Metropolis and Hastings, unless `exact` is False.

    IN topics and atom_prior as in `Sampler`; a and b of the sticks, Beta(a_j, b_j), the last
    repeated; zeta, the weight of a new dish.
    """

    cdef bint exact
    cdef Py_ssize_t longest
    cdef double zeta
    cdef const double[::1] a, b
    cdef double[:, ::1] rise_a, rise_b, rise_ab
    # log(n + zeta) of numbers of dishes.
    cdef double[::1] log_dishes

    def __init__(self, topics, double atom_prior, const double[::1] a, const double[::1] b,
                 double zeta, bint exact):
        self.a, self.b, self.zeta, self.exact, self.longest = a, b, zeta, exact, -1
        Sampler.__init__(self, topics, atom_prior, 0, exact)

    cdef int make_room_for_dishes(self, Py_ssize_t capacity) except -1:
        Sampler.make_room_for_dishes(self, capacity)
        self.log_dishes = np.log(np.arange(capacity) + self.zeta)
        return 0

    cdef int make_room(self, const Py_ssize_t[::1] documents, const Py_ssize_t[::1] sentences,
                       const int[::1] words) except -1:
        cdef Py_ssize_t longest = np.diff(sentences).max(initial=0)
        Sampler.make_room(self, documents, sentences, words)
        if self.exact and longest > self.longest:
            first, second = np.asarray(self.a)[:longest + 1], np.asarray(self.b)[:longest + 1]
            self.rise_a = rising_logs(first, longest)
            self.rise_b = rising_logs(second, longest)
            self.rise_ab = rising_logs(first + second, longest)
            self.longest = longest
        return 0

    cdef int weigh_seats(self, Py_ssize_t s) except -1 nogil:
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
        return 0

    cdef int weigh_table(self, Py_ssize_t s) except -1 nogil:
        """1 for each dish that the sentence lacks, and zeta for a new one."""
        cdef Py_ssize_t j, row
        for row in range(self.n_rows):
            self.weight[row] = self.servings[row] > 0
        self.weight[self.n_rows] = self.zeta
        for j in range(self.first_word[s], self.first_word[s] + self.tables_of[s]):
            self.weight[self.dish[self.tables[j]]] = 0
        return 0

    cdef bint accepts(self, Py_ssize_t i, int new_row, int row, bint opened,
                      uint64 *state) noexcept nogil:
        """By Metropolis and Hastings, unless the proposal is the conditional.

        It is where the word follows an earlier one of its table before and after.
        """
        cdef int first
        if not self.exact:
            return True
        first = self.table_with(self.sentence[i], new_row)
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
        if opens:
            value -= self.log_opening(i, row)
        return value - log(self.prior[row])

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

    cdef double log_opening(self, Py_ssize_t i, int row) noexcept nogil:
        """What word i adds to the sum of log(D - j + zeta) by opening a table of the dish.

        The sum is over the tables as they are opened, with D dishes in the document before,
        and j tables in the sentence. A later opening of that table is none any more, until
        then later tables of the sentence have one more before them. Only where the dish is
        later known from another table, or from none, are there more dishes meanwhile.
        """
        cdef Py_ssize_t j, s = self.sentence[i], end = self.first_word[s] + self.tables_of[s]
        cdef int first, n
        cdef double value
        if self.born[row] > self.time[i]:
            return self.log_first_opening(i, row)
        j = self.first_word[s]
        while j < end and self.tables[j] < i:
            j += 1
        value = self.log_dishes[self.dishes_before(self.time[i]) - (j - self.first_word[s])]
        while j < end:
            first = self.tables[j]
            n = self.dishes_before(self.time[first]) - self.place[first]
            value -= self.log_dishes[n]
            if self.dish[first] == row:
                break
            value += self.log_dishes[n - 1]
            j += 1
        return value

    cdef inline int dishes_before(self, int time) noexcept nogil:
        """How many dishes the document has before a time."""
        cdef Py_ssize_t row
        cdef int n = 0
        for row in range(self.n_rows):
            n += self.born[row] < time
        return n

    cdef double log_first_opening(self, Py_ssize_t i, int row) noexcept nogil:
        """`log_opening` where the document has the dish later, or not at all."""
        cdef Py_ssize_t o, s = self.sentence[i]
        cdef int first, n_before = 0, n_dishes = self.dishes_before(self.time[i]), more = 1
        cdef double value
        cdef bint same, ahead = True, is_birth
        for o in range(self.first_word[s], self.first_word[s] + self.tables_of[s]):
            n_before += self.tables[o] < i
        value = self.log_dishes[n_dishes - n_before]
        for o in range(self.first_opening_from(self.time[i]), self.n_tables):
            first = self.openings[o]
            n_before = self.place[first]
            same = ahead and self.sentence[first] == s
            value -= self.log_dishes[n_dishes - n_before]
            if same and self.dish[first] == row:
                ahead = False
            else:
                value += self.log_dishes[n_dishes + more - n_before - same]
            is_birth = self.born[self.dish[first]] == self.time[first]
            n_dishes += is_birth
            if is_birth and self.dish[first] == row:
                more = 0
            if more == 0 and not ahead:
                break
        return value

    cdef bint accepts_dish(self, int first, int new_row, int row, uint64 *state) noexcept nogil:
        if self.servings[row] == 0:
            row = self.n_rows
        if not self.exact or new_row == row:
            return True
        return log(uniform(state)) < self.log_opening(first, row) - self.log_opening(first, new_row)


cdef enum:
    LEAST_GROUPS = 4


cdef class Restaurant:
    """Weights of joining a group, and of opening one, in tables that grow as they are needed.

    `weights(most_members, most_groups)` computes both: those of joining a group by its
    members, and those of opening one by the groups and the members that there are.
    """

    cdef object weights
    cdef double[::1] joining
    cdef double[:, ::1] opening

    def __init__(self, weights):
        self.weights = weights
        self.tabulate(LEAST_CAPACITY, LEAST_GROUPS)

    cdef int tabulate(self, Py_ssize_t n_members, Py_ssize_t n_groups) except -1:
        self.joining, self.opening = self.weights(n_members, n_groups)
        if self.joining.shape[0] <= n_members or (
                self.opening.shape[0] <= n_groups or self.opening.shape[1] <= n_members):
            raise ValueError("Restaurant: the tables of weights are too small")
        return 0

    cdef int reserve(self, Py_ssize_t n_members, Py_ssize_t n_groups) except -1 nogil:
        """See to it that the tables have so many members and groups."""
        cdef Py_ssize_t most_members = self.opening.shape[1] - 1
        cdef Py_ssize_t most_groups = self.opening.shape[0] - 1
        if n_members <= most_members and n_groups <= most_groups:
            return 0
        while most_members < n_members:
            most_members *= 2
        while most_groups < n_groups:
            most_groups *= 2
        with gil:
            self.tabulate(most_members, most_groups)
        return 0


cdef class Franchise(Sampler):
    """Exchangeable words at the tables of each sentence, exchangeable tables at the dishes.

    IN topics and atom_prior as in `Sampler`; tables and dishes, the weights of a sentence's tables
    by their words, and of a document's dishes by their tables, as `Restaurant` has them.
    """

    cdef Restaurant tables_by_words, dishes_by_tables
    # The sum of the weights of the sentence's tables and of a new one.
    cdef double total_of_tables

    def __init__(self, topics, double atom_prior, tables, dishes):
        Sampler.__init__(self, topics, atom_prior)
        self.tables_by_words, self.dishes_by_tables = Restaurant(tables), Restaurant(dishes)

    cdef int weigh_seats(self, Py_ssize_t s) except -1 nogil:
        """Tables of the same dish put together."""
        cdef Py_ssize_t j, row, start = self.first_word[s]
        cdef double opening, scale, share, total = 0
        self.tables_by_words.reserve(self.customers[s], self.tables_of[s])
        opening = self.tables_by_words.opening[self.tables_of[s], self.customers[s]]
        for j in range(start, start + self.tables_of[s]):
            total += self.tables_by_words.joining[self.size[self.tables[j]]]
        self.total_of_tables = total + opening
        scale = 1 / self.total_of_tables
        self.weigh_table(s)
        total = 0
        for row in range(self.n_rows + 1):
            total += self.weight[row]
        share = scale * opening / total
        for row in range(self.n_rows + 1):
            self.prior[row] = share * self.weight[row]
        for j in range(start, start + self.tables_of[s]):
            self.prior[self.dish[self.tables[j]]] += (
                scale * self.tables_by_words.joining[self.size[self.tables[j]]])
        return 0

    cdef int weigh_table(self, Py_ssize_t s) except -1 nogil:
        """Dishes by the tables of the document that have them."""
        cdef Py_ssize_t row
        self.dishes_by_tables.reserve(self.n_tables, self.n_dishes)
        for row in range(self.n_rows):
            self.weight[row] = self.dishes_by_tables.joining[self.servings[row]]
        self.weight[self.n_rows] = self.dishes_by_tables.opening[self.n_dishes, self.n_tables]
        return 0

    cdef int draw_table(self, Py_ssize_t s, int row, uint64 *state) noexcept nogil:
        """One of the sentence's tables that have the dish by their weights, or a new one."""
        cdef Py_ssize_t j, start = self.first_word[s]
        cdef double threshold = uniform(state) * self.prior[row] * self.total_of_tables
        for j in range(start, start + self.tables_of[s]):
            if self.dish[self.tables[j]] == row:
                threshold -= self.tables_by_words.joining[self.size[self.tables[j]]]
                if threshold < 0:
                    return self.tables[j]
        return -1


cdef class StickBreaking(Sampler):
    """Truncated sticks over a fixed number of dishes, which are there before their first word.

    IN topics and atom_prior as in `Sampler`; a and b (n_dishes,) of the sticks, Beta(a_l, b_l).
    """

    cdef const double[::1] a, b

    def __init__(self, topics, double atom_prior, const double[::1] a, const double[::1] b):
        self.a, self.b = a, b
        Sampler.__init__(self, topics, atom_prior, a.shape[0])

    cdef int weigh_seats(self, Py_ssize_t s) except -1 nogil:
        """nu_l and what is left of the stick, dish by dish."""
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
        return 0


def rising_logs(const double[::1] x, Py_ssize_t most):
    """log Gamma(x_i + n) / Gamma(x_i) for n = 0 .. most, of shape (len(x), most + 1)."""
    logs = np.zeros((len(x), most + 1))
    np.cumsum(np.log(np.add.outer(x, np.arange(most))), axis=1, out=logs[:, 1:])
    return logs
