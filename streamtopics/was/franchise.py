# SPDX-License-Identifier: BSD-3-Clause
"""Chinese restaurant franchises as priors of sentences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.kernels import was as kernel
from streamtopics.utils.checks import check_range
from streamtopics.was.prior import LEAST, MOST, Seats, SentencePrior, choose

Numbers: TypeAlias = float | np.ndarray

# Numbers of words and tables up to which a law is checked for exchangeability.
MOST_CHECKED = 32
# Relative tolerance of weights.
CLOSE = 1e-6


class Franchise(SentencePrior, ABC):
    """Base class of priors of `WASTopicModel` that are Chinese restaurant franchises.

    The words of a sentence are grouped at tables, and the tables of a document by their dishes. A
    dish is an atom (mixture of topics) of the document. Words join tables one by one, and tables
    join dishes. After n members in T groups, the next member joins a group of m members with weight
    w(m), and a new group with weight u(n, T) (Gnedin and Pitman, 2006).

    Derive a frozen dataclass with methods for w (`join_table`, `join_dish`) and u (`open_table`,
    `open_dish`). They map float64 arrays to arrays of equal length, or to a number. The order of
    members must not matter, as with w(m) = m - d and u(n, T) = b + d T for any constants b and d.
    """

    @abstractmethod
    def join_table(self, n_words: Numbers) -> Numbers:
        """Return the weight with which a word joins a table of `n_words` >= 1 words."""

    @abstractmethod
    def open_table(self, n_words: Numbers, n_tables: Numbers) -> Numbers:
        """Return the weight of a new table after `n_words` words at `n_tables` tables."""

    @abstractmethod
    def open_dish(self, n_tables: Numbers, n_dishes: Numbers) -> Numbers:
        """Return the weight of a new dish after `n_tables` tables with `n_dishes` dishes."""

    def join_dish(self, n_tables: Numbers) -> Numbers:
        """Return the weight with which a table joins a dish of `n_tables` >= 1 tables."""
        return n_tables

    def sampler(self, topics: Any, atom_prior: float) -> Any:
        tables = partial(weight_arrays, self.join_table, self.open_table)
        dishes = partial(weight_arrays, self.join_dish, self.open_dish)
        return kernel.Franchise(topics, atom_prior, tables, dishes)

    def draw_seats(self, sentence_lengths: Sequence[int], rng: np.random.Generator) -> Seats:
        table, dish = np.zeros((2, int(np.sum(sentence_lengths))), np.int32)
        n_tables: list[int] = []
        i = 0
        for length in sentence_lengths:
            own: list[int] = []
            sizes: list[int] = []
            for _ in range(length):
                j = choose(_weights(sizes, self.join_table, self.open_table), rng)
                if j == len(own):
                    own.append(i)
                    sizes.append(0)
                    dish[i] = choose(_weights(n_tables, self.join_dish, self.open_dish), rng)
                    if dish[i] == len(n_tables):
                        n_tables.append(0)
                    n_tables[dish[i]] += 1
                sizes[j] += 1
                table[i], dish[i] = own[j], dish[own[j]]
                i += 1
        return Seats(table, dish)


@dataclass(frozen=True)
class HDPFranchise(Franchise):
    """The hierarchical Dirichlet process as a prior of sentences.

    A document draws G_0 ~ DP(dish_concentration, H), where H is the prior of a dish. A sentence s
    draws G_s ~ DP(table_concentration, G_0), and its words draw dishes from G_s. A table is a group
    of words of a sentence with one dish. Dishes are the atoms (topic mixtures) of the document.

    Attributes
    ----------
    table_concentration : float
        Weight of a new table in a sentence; a table with m words has weight m.
    dish_concentration : float
        Weight of a new dish; a dish on m tables of the document has weight m.
    """

    table_concentration: float = 0.5
    dish_concentration: float = 1.0

    def __post_init__(self) -> None:
        check_range(self, LEAST, MOST, table_concentration=self.table_concentration)
        check_range(self, LEAST, MOST, dish_concentration=self.dish_concentration)

    def join_table(self, n_words: Numbers) -> Numbers:
        return n_words

    def open_table(self, n_words: Numbers, n_tables: Numbers) -> Numbers:
        return self.table_concentration

    def open_dish(self, n_tables: Numbers, n_dishes: Numbers) -> Numbers:
        return self.dish_concentration


def weight_arrays(
    join: Callable[..., ArrayLike], open_: Callable[..., ArrayLike], n_members: int, n_groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """Tabulate w(m), (n_members + 1,), and u(n, T), (n_groups + 1, n_members + 1)."""
    names = f"{join.__qualname__} and {open_.__qualname__}"
    join_weights = np.zeros(n_members + 1)
    join_weights[1:] = join(np.arange(1.0, n_members + 1))
    open_weights = np.zeros((n_groups + 1, n_members + 1))
    open_weights[:1, :1] = open_(np.zeros(1), np.zeros(1))
    for n in range(1, min(n_groups, n_members) + 1):
        members = np.arange(float(n), n_members + 1)
        open_weights[n, n:] = open_(members, np.full(len(members), float(n)))
    is_finite = np.isfinite(join_weights.sum() + open_weights.sum()) and (open_weights >= 0).all()
    if not (is_finite and (join_weights[1:] > 0).all() and open_weights[0, 0] > 0):
        raise ValueError(
            f"{names} must return finite weights of at least 0, positive ones to join a group and "
            f"to open the first; got {join_weights} and {open_weights}"
        )
    if not exchangeable(join_weights[:MOST_CHECKED], open_weights[:MOST_CHECKED, :MOST_CHECKED]):
        raise ValueError(
            f"{names} must be the weights of an exchangeable law, but the probability of a seating "
            "depends on the order of its words. Weights n - d and b + d T are exchangeable for any "
            "b and d, n the words at a table and T the tables"
        )
    return join_weights, open_weights


def exchangeable(join_weights: np.ndarray, open_weights: np.ndarray) -> bool:
    """Tell whether the order of members does not matter, by tables from `weight_arrays`.

    w(m) must be linear, and u(n + 1, T) W(n + 1, T + 1) = u(n, T) W(n + 1, T), with W the sum of
    all weights.
    """
    groups, members = np.ogrid[: open_weights.shape[0], : open_weights.shape[1]]
    slope = join_weights[2] - join_weights[1]
    total = slope * members + (join_weights[1] - slope) * groups + open_weights
    one = open_weights[1:-1, 2:] * total[2:, 2:]
    other = open_weights[1:-1, 1:-1] * total[1:-1, 2:]
    possible = np.less_equal(groups, members)[1:-1, 1:-1]
    linear = np.abs(np.diff(join_weights[1:]) - slope) <= CLOSE * slope
    return bool(linear.all() and (np.abs(one - other) <= CLOSE * other)[possible].all())


def _weights(
    sizes: list[int], join: Callable[..., ArrayLike], open_: Callable[..., ArrayLike]
) -> np.ndarray:
    members = np.array(sizes, dtype=np.float64)
    return np.append(
        np.broadcast_to(join(members), members.shape), open_(members.sum(), len(sizes))
    )
