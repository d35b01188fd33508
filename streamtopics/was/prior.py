# SPDX-License-Identifier: BSD-3-Clause
"""Priors of sentences over shared dishes: their laws, and draws from them.

The weight-agnostic hierarchical stick-breaking process of Das and Bhattacharyya seats
the words of each sentence at its own tables j = 1, 2, ..., of sizes g_j, with h_j words
at later ones. The next word goes to table j with probability

    pi_j = mu_j prod_{l<j} (1 - mu_l),   mu_j = (a_j + g_j - 1) / (a_j + b_j + g_j + h_j - 1),

and to a new one with xi = prod_l (1 - mu_l) (their Theorem 4). Of each table's words the
first counts for no stick: it was to open it, and the stick was broken then. A new
table gets each dish that is elsewhere in the document, but not in the sentence, with
weight 1, and a new dish with weight zeta. The sentences get their words in turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy.special import betaln

LEAST, MOST = 1e-10, 1e10
MOST_DISHES = 10_000
# What is left of the stick of a Dirichlet process when it is taken for all broken.
LEAST_STICK = 1e-12

Sticks = float | Sequence[float]


@dataclass(frozen=True)
class WAS:
    """The weight-agnostic hierarchical stick-breaking process.

    Attributes
    ----------
    a, b : float or sequence of float
        Of the sticks, Beta(a_j, b_j); the last of a sequence holds for all later ones.
        With a = 1 the words of a sentence go to tables as in a Chinese restaurant of
        concentration b.
    zeta : float
        Weight of a new dish, where each dish that there is has 1.
    exact : bool
        Whether a sampler accounts for the order of the words, by the rule of Metropolis
        and Hastings, or takes each word for the last of its sentence, which is a little
        faster and leads to too many dishes.
    """

    a: Sticks = 1.0
    b: Sticks = 1.0
    zeta: float = 1.0
    exact: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", _check_sticks("a", self.a))
        object.__setattr__(self, "b", _check_sticks("b", self.b))
        check_positive("zeta", self.zeta)
        if not isinstance(self.exact, bool | np.bool_):
            raise ValueError(f"exact must be True or False; got {self.exact!r}")


@dataclass(frozen=True)
class HDP:
    """The hierarchical Dirichlet process: G_s ~ DP(table, G_0), G_0 ~ DP(dish, H).

    Attributes
    ----------
    table_concentration : float
        Weight of a new table in a sentence, where each of its words has 1.
    dish_concentration : float
        Weight of a new dish, where each table of the document has 1.
    """

    table_concentration: float = 0.5
    dish_concentration: float = 1.0

    def __post_init__(self) -> None:
        check_positive("table_concentration", self.table_concentration)
        check_positive("dish_concentration", self.dish_concentration)


@dataclass(frozen=True)
class SBP:
    """Stick-breaking truncated to a number of dishes, with sticks for each sentence.

    Attributes
    ----------
    a, b : float or sequence of float
        Of the sticks, Beta(a_j, b_j); the last of a sequence holds for all later ones.
    truncation : int
        Dishes of a document.
    """

    a: Sticks = 1.0
    b: Sticks = 1.0
    truncation: int = 10

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", _check_sticks("a", self.a))
        object.__setattr__(self, "b", _check_sticks("b", self.b))
        whole = isinstance(self.truncation, int | np.integer) and self.truncation is not True
        if not (whole and 1 <= self.truncation <= MOST_DISHES):
            raise ValueError(
                f"truncation must be an integer from 1 to {MOST_DISHES}; got {self.truncation!r}. "
                "Ten dishes do for most documents"
            )


Prior = WAS | HDP | SBP


class Seats(NamedTuple):
    """Where the words of a document sit; words are numbered sentence by sentence.

    Attributes
    ----------
    table : ndarray of shape (n_words,)
        The number of the first word at the same table.
    dish : ndarray of shape (n_words,)
        The dish of that table.
    sticks : list of ndarray or None
        For each sentence the weights of its tables in the order of their first words,
        or of the dishes under SBP; None under the HDP.
    """

    table: np.ndarray
    dish: np.ndarray
    sticks: list[np.ndarray] | None


class Simulation(NamedTuple):
    """A document drawn from the model, each array of shape (n_words,).

    Attributes
    ----------
    words, topic, table, dish : ndarray
    proportions : ndarray of shape (n_dishes, K)
        The dishes.
    """

    words: np.ndarray
    topic: np.ndarray
    table: np.ndarray
    dish: np.ndarray
    proportions: np.ndarray


class WeightCorrelation(NamedTuple):
    """Correlation of the weights of a shared atom in two groups.

    Attributes
    ----------
    pooled : float
        Over all shared atoms.
    given_positions : float
        Within the pairs of positions that the atom can have among the two groups'
        sticks: what is left when these are known.
    n_shared : int
        Shared atoms that were seen.
    """

    pooled: float
    given_positions: float
    n_shared: int


def stick_parameters(a: Sticks, b: Sticks, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """a_j and b_j as arrays of the same length, the last repeated; cut to n if given."""
    arrays = [np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in (a, b)]
    length = max(map(len, arrays)) if n is None else n
    return tuple(np.append(x, np.full(max(0, length - len(x)), x[-1]))[:length] for x in arrays)


def table_probabilities(sizes: Sequence[int], a: Sticks, b: Sticks) -> tuple[np.ndarray, float]:
    """pi_j of the tables and xi of a new one (Theorem 4).

    Parameters
    ----------
    sizes : sequence of int
        Words at each table of a sentence, in the order of their first words.
    a, b : float or sequence of float

    Examples
    --------
    >>> from streamtopics.was.prior import table_probabilities
    >>> pi, xi = table_probabilities([2, 1], 1.0, 1.0)  # a Chinese restaurant
    >>> pi, round(xi, 12)
    (array([0.5 , 0.25]), 0.25)
    """
    g = np.asarray(sizes, dtype=np.float64)
    a, b = stick_parameters(a, b, len(g))
    mu = (a + g - 1) / (a + b + _from_here(g) - 1)
    left = np.cumprod(np.append(1.0, 1 - mu))
    return mu * left[:-1], float(left[-1])


def dish_probabilities(n_candidates: int, zeta: float) -> tuple[float, float]:
    """Of a new table: eta of each dish that the sentence lacks, and omega of a new one."""
    return 1 / (n_candidates + zeta), zeta / (n_candidates + zeta)


def log_seating(sizes: Sequence[int], a: Sticks, b: Sticks) -> float:
    """log prod_j B(a_j + g_j - 1, b_j + h_j) / B(a_j, b_j), of the words of a sentence.

    It is a function of the tables' sizes in the order of their first words.
    """
    g = np.asarray(sizes, dtype=np.float64)
    a, b = stick_parameters(a, b, len(g))
    return float((betaln(a + g - 1, b + _from_here(g) - g) - betaln(a, b)).sum())


def log_dishes(dishes: Sequence[int], sentences: Sequence[int], zeta: float) -> float:
    """log of zeta^L / prod_o (D_o - j_o + zeta), of the dishes of a document's tables.

    Parameters
    ----------
    dishes, sentences : sequence of int
        Of each table, in the order in which they were opened. L are the dishes, D_o
        those before the opening o, and j_o the tables of its sentence before it.
    zeta : float
    """
    total, seen, tables = 0.0, set(), {}
    for dish, sentence in zip(dishes, sentences, strict=True):
        n_before = tables.get(sentence, 0)
        total -= np.log(len(seen) - n_before + zeta)
        total += np.log(zeta) if dish not in seen else 0.0
        seen.add(dish)
        tables[sentence] = n_before + 1
    return float(total)


def round_robin(sentence_lengths: Sequence[int]) -> np.ndarray:
    """The words in the order of the process: each sentence in turn gets its next word.

    Words are numbered sentence by sentence.

    Examples
    --------
    >>> from streamtopics.was.prior import round_robin
    >>> round_robin([3, 0, 2])
    array([0, 3, 1, 4, 2])
    """
    lengths = np.asarray(sentence_lengths, dtype=np.intp)
    start = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.argsort(np.arange(lengths.sum()) - start, kind="stable")


def log_prior(
    sentence_lengths: Sequence[int], table: Sequence[int], dish: Sequence[int], prior: WAS
) -> float:
    """log p(seats and dishes of a document); table and dish of each word as in `Seats`."""
    lengths, table = np.asarray(sentence_lengths, dtype=np.intp), np.asarray(table)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    total = 0.0
    for s in range(len(lengths)):
        sizes = np.unique(table[sentence == s], return_counts=True)[1]
        total += log_seating(sizes, prior.a, prior.b)
    first = [i for i in round_robin(lengths) if table[i] == i]
    return total + log_dishes(
        np.asarray(dish)[first].tolist(), sentence[first].tolist(), prior.zeta
    )


def draw_seats(sentence_lengths: Sequence[int], prior: Prior, rng: np.random.Generator) -> Seats:
    """Seats and dishes of a document's words, from the prior.

    WAS and SBP break their sticks one by one, so that no predictive probability is used.
    """
    if isinstance(prior, WAS):
        return _draw_was(sentence_lengths, prior, rng)
    if isinstance(prior, HDP):
        return _draw_hdp(sentence_lengths, prior, rng)
    return _draw_sbp(sentence_lengths, prior, rng)


def simulate(
    sentence_lengths: Sequence[int],
    prior: Prior,
    kappa: float,
    topic_word: Any,
    rng: np.random.Generator,
) -> Simulation:
    """A document with sentences of these lengths.

    Parameters
    ----------
    sentence_lengths : sequence of int
    prior : WAS, HDP or SBP
    kappa : float
        Dirichlet parameter of the dishes, over topics.
    topic_word : array-like of shape (K, n_features)
        Word probabilities of the topics.
    rng : numpy.random.Generator

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.was.prior import WAS, simulate
    >>> topics = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    >>> document = simulate([4, 2], WAS(), 0.1, topics, np.random.default_rng(0))
    >>> document.words.shape, document.proportions.shape[1]
    ((6,), 2)
    """
    topic_word = np.asarray(topic_word, dtype=np.float64)
    seats = draw_seats(sentence_lengths, prior, rng)
    n_dishes = int(seats.dish.max(initial=-1)) + 1
    proportions = rng.dirichlet(np.full(len(topic_word), kappa), n_dishes)
    topic = [rng.choice(len(topic_word), p=proportions[dish]) for dish in seats.dish]
    words = [rng.choice(topic_word.shape[1], p=topic_word[k]) for k in topic]
    both = np.array([words, topic], np.int32)
    return Simulation(*both, seats.table, seats.dish, proportions)


def weight_correlation(
    prior: Prior, n_words: int, n_draws: int, rng: np.random.Generator, *, used: bool = False
) -> WeightCorrelation:
    """How the weights of an atom in two groups go together, in draws from the prior.

    Under WAS they are independent at given positions (Theorem 2 of Das and
    Bhattacharyya). The position of a shared atom is random, however, and an early dish
    is early in both groups, so that some correlation remains when all shared atoms are
    pooled. Under the HDP positions are those in G_0, and an atom that is heavy there is
    heavy in all groups.

    Parameters
    ----------
    prior : WAS, HDP or SBP
    n_words : int
        Of each of the two groups.
    n_draws : int
    rng : numpy.random.Generator
    used : bool, default=False
        Whether only the atoms count that both groups have a word of. Under WAS there
        are no others; under the HDP and SBP all atoms have a weight in all groups, and to
        look at those in use alone hides most of how they go together.
    """
    pairs = [pair for _ in range(n_draws) for pair in _shared_weights(prior, n_words, rng, used)]
    weights = np.array([pair[0] for pair in pairs]).reshape(-1, 2)
    positions = np.array([pair[1] for pair in pairs]).reshape(-1, 2)
    _, cell = np.unique(positions, axis=0, return_inverse=True)
    cell = cell.ravel()
    mean = np.column_stack([np.bincount(cell, w) / np.bincount(cell) for w in weights.T])
    return WeightCorrelation(
        _correlation(weights - weights.mean(axis=0)),
        _correlation(weights - mean[cell]),
        len(weights),
    )


def check_positive(name: str, value: Any) -> None:
    """Refuse what is no positive number of sensible size."""
    if not (isinstance(value, Real) and LEAST <= value <= MOST):
        raise ValueError(
            f"{name} must be a number between {LEAST:g} and {MOST:g}; got {value!r}. "
            "Values from 0.01 to 10 are usual"
        )


def _check_sticks(name: str, value: Any) -> float | tuple[float, ...]:
    """The number, or the sequence as a tuple."""
    if isinstance(value, Real):
        check_positive(name, value)
        return float(value)
    values = np.asarray(value)
    numbers = values.ndim == 1 and values.size > 0 and values.dtype.kind in "iuf"
    if not (numbers and (values >= LEAST).all() and (values <= MOST).all()):
        raise ValueError(
            f"{name} must be a number, or a sequence of at least one, between {LEAST:g} and "
            f"{MOST:g}; got {value!r}. The last one holds for all later sticks"
        )
    return tuple(values.astype(float).tolist())


def _from_here(g: np.ndarray) -> np.ndarray:
    """g_j + h_j."""
    return np.cumsum(g[::-1])[::-1]


def _at(values: float | tuple[float, ...], j: int) -> float:
    """The j-th parameter, the last repeated."""
    return values[min(j, len(values) - 1)] if isinstance(values, tuple) else values


def _draw_was(lengths: Sequence[int], prior: WAS, rng: np.random.Generator) -> Seats:
    """Tables by Eq. 9, dishes by Eq. 11 of Das and Bhattacharyya."""
    lengths = np.asarray(lengths, dtype=np.intp)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    tables = [[] for _ in lengths]
    sticks = [[] for _ in lengths]
    table, dish = np.zeros((2, len(sentence)), np.int32)
    n_dishes = 0
    for i in round_robin(lengths):
        own, v = tables[sentence[i]], sticks[sentence[i]]
        j = 0
        while j < len(own) and rng.random() >= v[j]:
            j += 1
        if j == len(own):
            own.append(i)
            v.append(rng.beta(_at(prior.a, j), _at(prior.b, j)))
            candidates = sorted(set(range(n_dishes)) - set(dish[own[:-1]].tolist()))
            place = int(rng.random() * (len(candidates) + prior.zeta))
            dish[i] = candidates[place] if place < len(candidates) else n_dishes
            n_dishes = max(n_dishes, dish[i] + 1)
        table[i], dish[i] = own[j], dish[own[j]]
    return Seats(table, dish, [_broken(np.array(v)) for v in sticks])


def _broken(v: np.ndarray) -> np.ndarray:
    """theta_j = v_j prod_{l<j} (1 - v_l)."""
    return v * np.cumprod(np.append(1.0, 1 - v))[: len(v)]


def _draw_hdp(lengths: Sequence[int], prior: HDP, rng: np.random.Generator) -> Seats:
    """The Chinese restaurant franchise, sentence after sentence."""
    table, dish = np.zeros((2, int(np.sum(lengths))), np.int32)
    servings = []
    i = 0
    for length in lengths:
        own, sizes = [], []
        for _ in range(length):
            j = _choose([*sizes, prior.table_concentration], rng)
            if j == len(own):
                own.append(i)
                sizes.append(0)
                dish[i] = _choose([*servings, prior.dish_concentration], rng)
                if dish[i] == len(servings):
                    servings.append(0)
                servings[dish[i]] += 1
            sizes[j] += 1
            table[i], dish[i] = own[j], dish[own[j]]
            i += 1
    return Seats(table, dish, None)


def _choose(weights: Sequence[float], rng: np.random.Generator) -> int:
    """A place in proportion to the weights."""
    running = np.cumsum(weights)
    return int(np.searchsorted(running[:-1], rng.random() * running[-1], side="right"))


def _draw_sbp(lengths: Sequence[int], prior: SBP, rng: np.random.Generator) -> Seats:
    """Sticks for each sentence, the last of them all that is left."""
    a, b = stick_parameters(prior.a, prior.b, prior.truncation)
    table, dish = np.zeros((2, int(np.sum(lengths))), np.int32)
    sticks, start = [], 0
    for length in lengths:
        theta = _broken(np.append(rng.beta(a, b)[:-1], 1.0))
        drawn = [_choose(theta, rng) for _ in range(length)]
        dish[start : start + length] = drawn
        table[start : start + length] = [start + drawn.index(place) for place in drawn]
        sticks.append(theta)
        start += length
    return Seats(table, dish, sticks)


def _shared_weights(
    prior: Prior, n_words: int, rng: np.random.Generator, used: bool
) -> list[tuple[tuple[float, float], tuple[int, int]]]:
    """Weights and positions of the atoms that two groups share, in one draw."""
    if isinstance(prior, HDP):
        pairs = _two_dirichlet_processes(prior, rng)
    else:
        seats = draw_seats([n_words, n_words], prior, rng)
        pairs = seats.sticks
    if not isinstance(prior, WAS):
        counts = [rng.multinomial(n_words, weights) if used else np.ones(1) for weights in pairs]
        places = np.flatnonzero(np.broadcast_to(np.minimum(*counts) > 0, len(pairs[0])))
        return [((pairs[0][place], pairs[1][place]), (place, place)) for place in places.tolist()]
    position = []
    for group in np.split(np.arange(2 * n_words), 2):
        first = group[seats.table[group] == group]
        position.append({dish: j for j, dish in enumerate(seats.dish[first].tolist())})
    places = [
        (position[0][dish], position[1][dish])
        for dish in sorted(position[0].keys() & position[1].keys())
    ]
    return [((pairs[0][i], pairs[1][j]), (i, j)) for i, j in places]


def _two_dirichlet_processes(prior: HDP, rng: np.random.Generator) -> list[np.ndarray]:
    """Weights of two groups; G_0 is broken until next to nothing is left."""
    weights, left = [], 1.0
    while left > LEAST_STICK:
        v = rng.beta(1.0, prior.dish_concentration)
        weights.append(v * left)
        left *= 1 - v
    shapes = prior.table_concentration * np.array(weights)
    return [_dirichlet(shapes, rng) for _ in range(2)]


def _dirichlet(alpha: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Dirichlet(alpha) whose entries may be so small that all gamma variates underflow.

    Gamma(alpha) is Gamma(alpha + 1) U^(1 / alpha).
    """
    log_gamma = np.log(rng.gamma(alpha + 1)) + np.log1p(-rng.random(len(alpha))) / alpha
    gamma = np.exp(log_gamma - log_gamma.max())
    return gamma / gamma.sum()


def _correlation(centred: np.ndarray) -> float:
    """Correlation of two columns whose means, or those of their cells, are 0."""
    first, second = centred.T
    return float((first * second).sum() / np.sqrt((first**2).sum() * (second**2).sum()))
