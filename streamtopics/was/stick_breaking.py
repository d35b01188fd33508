# SPDX-License-Identifier: BSD-3-Clause
"""Truncated stick-breaking as a prior of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from streamtopics.kernels import was as kernel
from streamtopics.utils.checks import check_range, check_whole
from streamtopics.was.prior import (
    Seats,
    SentencePrior,
    Sticks,
    choose,
    keep_sticks,
    stick_parameters,
    stick_weights,
)

MOST_DISHES = 10_000


@dataclass(frozen=True)
class SBP(SentencePrior):
    """Truncated stick-breaking: each sentence weights the dishes of the document anew.

    A sentence draws sticks nu_l ~ Beta(a_l, b_l); the last stick is 1. Dish l, an atom (mixture of
    topics) of the document, has the weight nu_l prod_{i<l} (1 - nu_i) (Ishwaran and James, 2001).

    Attributes
    ----------
    a, b : float or sequence of float
        Parameters a_l, b_l of the sticks. The last number of a sequence holds for later sticks.
    truncation : int
        Number of dishes of a document; ten suffice for most documents. With 1 the model is latent
        Dirichlet allocation.
    """

    a: Sticks = 1.0
    b: Sticks = 1.0
    truncation: int = 10

    def __post_init__(self) -> None:
        keep_sticks(self)
        check_whole(self, truncation=self.truncation)
        check_range(self, 1, MOST_DISHES, truncation=self.truncation)

    def sampler(self, topics: Any, atom_prior: float) -> Any:
        sticks = stick_parameters(self.a, self.b, self.truncation)
        return kernel.StickBreaking(topics, atom_prior, *sticks)

    def draw_seats(self, sentence_lengths: Sequence[int], rng: np.random.Generator) -> Seats:
        a, b = stick_parameters(self.a, self.b, self.truncation)
        table, dish = np.zeros((2, int(np.sum(sentence_lengths))), np.int32)
        sticks, start = [], 0
        for length in map(int, sentence_lengths):
            theta = stick_weights(np.append(rng.beta(a, b)[:-1], 1.0))
            drawn = [choose(theta, rng) for _ in range(length)]
            dish[start : start + length] = drawn
            table[start : start + length] = [start + drawn.index(place) for place in drawn]
            sticks.append(theta)
            start += length
        return Seats(table, dish, sticks)
