# SPDX-License-Identifier: BSD-3-Clause
"""Documents drawn from the model, and how the weights of its atoms go together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from streamtopics.utils.checks import SUM_TOLERANCE, check_truth, floats, is_whole
from streamtopics.utils.structure import has_entries
from streamtopics.was.corpus import MOST_WORDS
from streamtopics.was.prior import SentencePrior
from streamtopics.was.sampler import SentenceSampler

# How far the sum of probabilities may be from 1 for NumPy, which takes somewhat more.
EXACT = 1e-8


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
        Over all shared atoms; NaN where their weights do not vary, as those of one do not.
    given_positions : float
        Within the pairs of positions that the atom can have among the two groups'
        sticks: what is left when these are known. NaN where weights do not vary within them.
    n_shared : int
        Shared atoms that were seen.
    """

    pooled: float
    given_positions: float
    n_shared: int


def simulate(
    sentence_lengths: Sequence[int],
    prior: SentencePrior,
    atom_prior: float,
    topic_word: ArrayLike,
    rng: np.random.Generator,
) -> Simulation:
    """Draw a document with sentences of these lengths.

    Parameters
    ----------
    sentence_lengths : sequence of int
        Words of each sentence, at most 2**24 in all.
    prior : WAS, HDP, SBP or another prior of sentences
    atom_prior : float
        Dirichlet parameter of the dishes, over topics.
    topic_word : array-like of shape (K, n_features)
        Word probabilities of the topics.
    rng : numpy.random.Generator

    Returns
    -------
    document : Simulation

    Raises
    ------
    TypeError
        If `prior` is no prior, or `rng` no Generator.
    ValueError
        If `sentence_lengths` are not whole numbers of at least 0 or too many words, or
        `topic_word` no probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> from streamtopics.was import WAS, simulate
    >>> topics = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]
    >>> document = simulate([4, 2], WAS(), 0.1, topics, np.random.default_rng(0))
    >>> document.words.shape, document.proportions.shape[1]
    ((6,), 2)
    """
    SentenceSampler(prior, atom_prior)  # Checks both.
    _check_rng(rng)
    topic_word = _word_probabilities(topic_word)
    seats = prior.draw_seats(_whole_lengths(sentence_lengths), rng)
    n_dishes = int(seats.dish.max(initial=-1)) + 1
    proportions = rng.dirichlet(np.full(len(topic_word), atom_prior), n_dishes)
    topic = [rng.choice(len(topic_word), p=proportions[dish]) for dish in seats.dish]
    words = [rng.choice(topic_word.shape[1], p=topic_word[k]) for k in topic]
    return Simulation(
        np.array(words, np.int32), np.array(topic, np.int32), seats.table, seats.dish, proportions
    )


def _check_rng(rng: Any) -> None:
    if not isinstance(rng, np.random.Generator):
        raise TypeError(
            f"rng must be a numpy Generator, such as numpy.random.default_rng(0); got {rng!r:.60}"
        )


def _word_probabilities(given: ArrayLike) -> np.ndarray:
    """Rows that sum to 1 as closely as NumPy wants it."""
    topic_word = floats(given, "topic_word")
    if topic_word.ndim != 2 or not len(topic_word):
        raise ValueError(
            f"topic_word must have a row for each topic, one at least; got shape {topic_word.shape}"
        )
    with np.errstate(over="ignore", invalid="ignore"):
        sums = topic_word.sum(axis=1)
    if not (topic_word >= 0).all() or not (abs(sums - 1) <= SUM_TOLERANCE).all():
        raise ValueError(
            "topic_word must have rows of probabilities that sum to 1; got sums from "
            f"{sums.min(initial=np.inf):g} to {sums.max(initial=-np.inf):g}, and a least entry of "
            f"{topic_word.min(initial=np.inf):g}"
        )
    rounded = abs(sums - 1) > EXACT
    topic_word[rounded] /= sums[rounded, None]
    return topic_word


def _whole_lengths(sentence_lengths: Any) -> list[int]:
    given = list(sentence_lengths) if has_entries(sentence_lengths) else [sentence_lengths]
    lengths = [int(length) if is_whole(length) else -1 for length in given]
    if not has_entries(sentence_lengths) or min(lengths, default=0) < 0:
        raise ValueError(
            "sentence_lengths must be whole numbers of at least 0, one for each sentence; got "
            f"{sentence_lengths!r:.60}"
        )
    if sum(lengths) > MOST_WORDS:
        raise ValueError(
            f"sentence_lengths must be at most {MOST_WORDS:,} words in all; got "
            f"{sum(lengths):,}. Draw several documents"
        )
    return lengths


def weight_correlation(
    prior: Any, n_words: int, n_draws: int, rng: np.random.Generator, *, used: bool = False
) -> WeightCorrelation:
    """Estimate how the weights of an atom in two groups go together, from draws.

    Under WAS they are independent at given positions (Theorem 2 of Das and
    Bhattacharyya). The position of a shared atom is random, however, and an early dish
    is early in both groups, so that some correlation remains when all shared atoms are
    pooled. Under the HDP positions are those in G_0, and an atom that is heavy there is
    heavy in all groups.

    Parameters
    ----------
    prior : WAS, HDP or SBP
        Or another prior with a method ``shared_weights(n_words, rng, used)``.
    n_words : int
        Words of each of the two groups.
    n_draws : int
    rng : numpy.random.Generator
    used : bool, default=False
        Whether only the atoms count that both groups have a word of. Under WAS there
        are no others; under the HDP and SBP all atoms have a weight in all groups, and to
        look at those in use alone hides most of how they go together.

    Returns
    -------
    correlation : WeightCorrelation
    """
    if isinstance(prior, type) or not callable(getattr(prior, "shared_weights", None)):
        raise TypeError(f"prior must have a method shared_weights, as WAS() has; got {prior!r}")
    _check_rng(rng)
    for name, value in (("n_words", n_words), ("n_draws", n_draws)):
        if not (is_whole(value) and 0 <= value <= MOST_WORDS):
            raise ValueError(
                f"{name} must be a whole number from 0 to {MOST_WORDS:,}; got {value!r}"
            )
    check_truth(used=used)
    n_words, n_draws = int(n_words), int(n_draws)
    pairs = [pair for _ in range(n_draws) for pair in prior.shared_weights(n_words, rng, used)]
    weights = np.array([pair[0] for pair in pairs]).reshape(-1, 2)
    positions = np.array([pair[1] for pair in pairs]).reshape(-1, 2)
    if not len(pairs):
        return WeightCorrelation(np.nan, np.nan, 0)
    _, cell = np.unique(positions, axis=0, return_inverse=True)
    cell = cell.ravel()
    mean = np.column_stack([np.bincount(cell, w) / np.bincount(cell) for w in weights.T])
    return WeightCorrelation(
        _correlation(weights - weights.mean(axis=0)),
        _correlation(weights - mean[cell]),
        len(weights),
    )


def _correlation(centred: np.ndarray) -> float:
    """Correlate two columns whose means, overall or by cell, are 0."""
    first, second = centred.T
    spread = np.sqrt((first**2).sum() * (second**2).sum())
    return float((first * second).sum() / spread) if spread > 0 else np.nan
