# SPDX-License-Identifier: BSD-3-Clause
"""The Indian buffet compound Dirichlet process: sentences that have only some of the dishes.

A sentence has the dish l with chance r_l ~ Beta(alpha / J, 1), and then a number of words of
it that is NB(phi_l, 1/2), phi_l ~ Gamma(gamma, 1) (Williamson, Wang, Heller and Blei, 2010, with
J dishes instead of all that there are in the limit). Given the lengths of the sentences, the
shares of the dishes that a sentence has are Dirichlet(phi).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaln
from scipy.stats import gamma

from streamtopics.checks import check_range, check_whole
from streamtopics.kernels import was as kernel
from streamtopics.was.prior import Seats, choose
from streamtopics.was.stick_breaking import MOST_DISHES

LEAST_SHAPE, MOST_SHAPE = 1e-2, 1e3
# Values that r_l and phi_l are rounded to: the middles of so many parts of equal chance.
N_CHANCES, N_WEIGHTS = 64, 32
# What underflows is taken for this; powers of 2 below the last are none.
TINY, LARGE = 1e-100, 1e3
SWEEPS_OF_DRAW = 50


@dataclass(frozen=True)
class ICD:
    """The Indian buffet process compounded with a Dirichlet process.

    Under the `SBP` and the `HDP` every sentence has every dish; here a sentence has some, and
    dishes that few sentences have may have a high weight in these. All sentences that have a
    dish weigh it alike, up to chance.

    Its law is one of the seats given the lengths of all sentences, and does not say what the
    first words of a sentence do: there is no `log_likelihood` under it.

    Attributes
    ----------
    concentration : float
        About how many dishes a sentence has (the source's alpha).
    shape : float
        Shape of the gamma law of the dishes' weights, whose scale is 1 (the source's gamma).
    truncation : int
        Dishes of a document, J.
    """

    concentration: float = 1.0
    shape: float = 1.0
    truncation: int = 10
    # No law of a word given those before it.
    sequential: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_range(self, LEAST_SHAPE, MOST_SHAPE, concentration=self.concentration)
        check_range(self, LEAST_SHAPE, MOST_SHAPE, shape=self.shape)
        check_whole(self, truncation=self.truncation)
        check_range(self, 1, MOST_DISHES, truncation=self.truncation)

    def grid(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what r_l can be, (N_CHANCES,), and phi_l, (N_WEIGHTS,), all equally likely."""
        chances = _middles(N_CHANCES) ** (self.truncation / self.concentration)
        weights = gamma.ppf(_middles(N_WEIGHTS), self.shape)
        return np.maximum(chances, TINY), np.clip(weights, TINY, LARGE)

    def sampler(self, topics: Any, atom_prior: float) -> Any:
        """Return the compiled sampler; see `SentencePrior`."""
        return kernel.BuffetCompound(topics, atom_prior, *self.grid(), self.truncation)

    def draw_seats(self, sentence_lengths: Sequence[int], rng: np.random.Generator) -> Seats:
        """Draw a dish for each word by sweeps of Gibbs sampling, from dishes at random."""
        lengths = np.asarray(sentence_lengths, dtype=np.intp)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        dish = rng.integers(0, self.truncation, len(sentence))
        sizes = np.zeros((len(lengths), self.truncation))
        np.add.at(sizes, (sentence, dish), 1)
        grid = self.grid()
        for _ in range(SWEEPS_OF_DRAW):
            phi, presence = _draw_weights(sizes[lengths > 0], *grid, rng)
            for i, s in enumerate(sentence):
                sizes[s, dish[i]] -= 1
                dish[i] = choose(np.where(sizes[s] > 0, phi + sizes[s], phi * presence), rng)
                sizes[s, dish[i]] += 1
        pairs = sentence * self.truncation + dish
        _, first, table = np.unique(pairs, return_index=True, return_inverse=True)
        return Seats(first[table.ravel()].astype(np.int32), dish.astype(np.int32))


def _draw_weights(
    sizes: np.ndarray, chances: np.ndarray, weights: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw phi_l and p_l of the kernel, given the words of each dish, (n_sentences, J)."""
    absent = 1 - np.outer(chances, 1 - np.exp2(-weights))
    has = np.count_nonzero(sizes, axis=0)
    rise = gammaln(weights + sizes[..., None]) - gammaln(weights)
    log_p = (rise.sum(axis=0) - np.log(2) * np.outer(has, weights))[:, None]
    log_p = log_p + np.multiply.outer(has, np.log(chances))[..., None]
    log_p += np.multiply.outer(len(sizes) - has, np.log(absent))
    flat = log_p.reshape(len(has), -1)
    p = np.exp(flat - flat.max(axis=1, keepdims=True))
    r, w = np.divmod([choose(row, rng) for row in p], len(weights))
    return weights[w], chances[r] * np.exp2(-weights[w]) / absent[r, w]


def _middles(n: int) -> np.ndarray:
    """Return the middles of n equal parts of [0, 1]."""
    return np.asarray((np.arange(n) + 0.5) / n)
