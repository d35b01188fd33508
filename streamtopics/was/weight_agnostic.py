# SPDX-License-Identifier: BSD-3-Clause
"""The weight-agnostic hierarchical stick-breaking process.

With g_j words at table j of a sentence and h_j at later tables, the next word goes to j with
probability

    pi_j = mu_j prod_{l<j} (1 - mu_l),   mu_j = (a_j + g_j - 1) / (a_j + b_j + g_j + h_j - 1),

else to a new table (theorem 4 of the paper). The first word of a table is not counted. The
sentences get their words in turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamtopics.kernels import was as kernel
from streamtopics.utils.checks import check_range
from streamtopics.was.prior import (
    LEAST,
    MOST,
    Seats,
    SentencePrior,
    Sticks,
    keep_sticks,
    order_by_turn,
    stick_parameters,
    stick_weights,
)


@dataclass(frozen=True)
class WAS(SentencePrior):
    """The weight-agnostic hierarchical stick-breaking process.

    The words of a sentence are grouped at tables. Each table has a dish, an atom (topic mixture) of
    the document. A new table gets a new dish with weight zeta, or, with weight 1 each, a dish of
    the document not yet in the sentence.

    Attributes
    ----------
    a, b : float or sequence of float
        Table j of a sentence takes a Beta(a_j, b_j) part of the weight left by earlier tables. The
        last number of a sequence holds for all later tables. If a = 1, a sentence of n
        words has about b log(1 + n / b) tables.
    zeta : float
        Weight of a new dish.
    exact : bool
        Whether Metropolis-Hastings steps correct the sampler for the order of words. False is a
        little faster and finds too many dishes.

    References
    ----------
    M. Das and C. Bhattacharyya, "WAS: Weight-agnostic hierarchical stick-breaking process".
    """

    a: Sticks = 1.0
    b: Sticks = 1.0
    zeta: float = 1.0
    exact: bool = True

    def __post_init__(self) -> None:
        keep_sticks(self)
        check_range(self, LEAST, MOST, zeta=self.zeta)

    def sampler(self, topics: Any, atom_prior: float) -> Any:
        sticks = stick_parameters(self.a, self.b)
        return kernel.WeightAgnostic(topics, atom_prior, *sticks, self.zeta, bool(self.exact))

    def draw_seats(self, sentence_lengths: Sequence[int], rng: np.random.Generator) -> Seats:
        """Draw tables by Eq. 9 and dishes by Eq. 11, stick by stick."""
        lengths = np.asarray(sentence_lengths, dtype=np.intp)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        a, b = stick_parameters(self.a, self.b, max(1, int(lengths.max(initial=0))))
        tables: list[list[int]] = [[] for _ in lengths]
        sticks: list[list[float]] = [[] for _ in lengths]
        table, dish = np.zeros((2, len(sentence)), np.int32)
        n_dishes = 0
        for i in order_by_turn(lengths).tolist():
            own, v = tables[sentence[i]], sticks[sentence[i]]
            j = 0
            while j < len(own) and rng.random() >= v[j]:
                j += 1
            if j == len(own):
                own.append(i)
                v.append(rng.beta(a[j], b[j]))
                candidates = sorted(set(range(n_dishes)) - set(dish[own[:-1]].tolist()))
                place = int(rng.random() * (len(candidates) + self.zeta))
                dish[i] = candidates[place] if place < len(candidates) else n_dishes
                n_dishes = max(n_dishes, int(dish[i]) + 1)
            table[i], dish[i] = own[j], dish[own[j]]
        return Seats(table, dish, [stick_weights(v) for v in sticks])
