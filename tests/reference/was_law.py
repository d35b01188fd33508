# SPDX-License-Identifier: BSD-3-Clause
"""The law of the seats of WAS in closed form: predictive probabilities and the joint."""

import numpy as np
from scipy.special import betaln

from streamtopics.was.prior import order_by_turn, stick_parameters


def log_seating(sizes, a, b):
    """log prod_j B(a_j + g_j - 1, b_j + h_j) / B(a_j, b_j), of the words of a sentence.

    It is a function of the tables' sizes in the order of their first words.
    """
    g = np.asarray(sizes, dtype=np.float64)
    a, b = stick_parameters(a, b, len(g))
    return float((betaln(a + g - 1, b + from_here(g) - g) - betaln(a, b)).sum())


def log_dishes(dishes, sentences, zeta):
    """log of zeta^L / prod_o (D_o - j_o + zeta), of the dishes of a document's tables.

    Tables come in the order in which they were opened, with dish and sentence. L are the
    dishes, D_o those before the opening o, and j_o the tables of its sentence before it.
    """
    total, seen, tables = 0.0, set(), {}
    for dish, sentence in zip(dishes, sentences, strict=True):
        n_before = tables.get(sentence, 0)
        total -= np.log(len(seen) - n_before + zeta)
        total += np.log(zeta) if dish not in seen else 0.0
        seen.add(dish)
        tables[sentence] = n_before + 1
    return float(total)


def log_prior(sentence_lengths, table, dish, prior):
    """log p(seats and dishes of a document); table and dish of each word as in `Seats`."""
    lengths, table = np.asarray(sentence_lengths, dtype=np.intp), np.asarray(table)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    total = 0.0
    for s in range(len(lengths)):
        sizes = np.unique(table[sentence == s], return_counts=True)[1]
        total += log_seating(sizes, prior.a, prior.b)
    first = [i for i in order_by_turn(lengths) if table[i] == i]
    return total + log_dishes(
        np.asarray(dish)[first].tolist(), sentence[first].tolist(), prior.zeta
    )


def from_here(g):
    """g_j + h_j."""
    return np.cumsum(g[::-1])[::-1]
