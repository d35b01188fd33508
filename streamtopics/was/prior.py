# SPDX-License-Identifier: BSD-3-Clause
"""Priors of sentences: their protocol, and tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

LEAST, MOST = 1e-10, 1e10

Sticks = float | Sequence[float]


class Seats(NamedTuple):
    """Seats of the words of a document; words are numbered sentence by sentence.

    Attributes
    ----------
    table : ndarray of shape (n_words,), int32
        Number of the first word at the same table.
    dish : ndarray of shape (n_words,), int32
        Number of the table's dish within the document.
    sticks : list of ndarray or None
        Weights of each sentence's tables (of dishes under SBP), if any.
    """

    table: np.ndarray
    dish: np.ndarray
    sticks: list[np.ndarray] | None = None


class SentencePrior(Protocol):
    """A prior of the tables of a sentence's words and of the tables' dishes.

    Dishes are the atoms of a document. A prior is a frozen dataclass; its fields are parameters of
    the estimator. `sequential` is False if the prior cannot seat words one after another.
    """

    sequential: ClassVar[bool] = True

    def sampler(self, topics: Any, atom_prior: float) -> Any:
        """Return a Gibbs sampler of the tables, dishes and topics of documents.

        `topics` are either counts of words in topics, which the sampler changes in place, or fixed
        topics. `atom_prior` is the Dirichlet parameter of a dish over topics. The sampler has the
        methods `start` and `sweep` of `kernels.was.Sampler`.
        """

    def draw_seats(self, sentence_lengths: Sequence[int], rng: np.random.Generator) -> Seats:
        """Draw the table and the dish of each word of a document from the prior, as `Seats`."""


def keep_sticks(prior: Any) -> None:
    """Check a prior's `a` and `b`, and keep numbers or tuples."""
    for name in ("a", "b"):
        value = getattr(prior, name)
        values = np.asarray(value)
        numbers = values.ndim < 2 and values.size > 0 and values.dtype.kind in "iuf"
        values = values.astype(float) if numbers else values
        if not (numbers and (values >= LEAST).all() and (values <= MOST).all()):
            raise ValueError(
                f"{name} of {type(prior).__name__} must be a number, or a sequence of at least "
                f"one, between {LEAST:g} and {MOST:g}; got {value!r}. The last one holds for all "
                "later sticks"
            )
        kept = tuple(values.tolist()) if values.ndim else float(values)
        object.__setattr__(prior, name, kept)


def stick_parameters(a: Sticks, b: Sticks, n: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return a_j and b_j as arrays of one length, or of length n; last values are repeated."""
    arrays = [np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in (a, b)]
    length = max(map(len, arrays)) if n is None else n
    first, second = (np.append(x, np.full(max(0, length - len(x)), x[-1]))[:length] for x in arrays)
    return first, second


def stick_weights(sticks: ArrayLike) -> np.ndarray:
    """Return the weights theta_j = v_j prod_{l<j} (1 - v_l)."""
    v = np.asarray(sticks, dtype=np.float64)
    return np.asarray(v * np.cumprod(np.append(1.0, 1 - v))[: len(v)])


def choose(weights: ArrayLike, rng: np.random.Generator) -> int:
    """Draw an index in proportion to the weights."""
    running = np.cumsum(weights)
    return int(np.searchsorted(running[:-1], rng.random() * running[-1], side="right"))


def order_by_turn(sentence_lengths: ArrayLike) -> np.ndarray:
    """Order words as in the WAS process: sentences get words in turn."""
    lengths = np.asarray(sentence_lengths, dtype=np.intp)
    start = np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.argsort(np.arange(lengths.sum()) - start, kind="stable")
