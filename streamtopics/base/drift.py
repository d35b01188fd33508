# SPDX-License-Identifier: BSD-3-Clause
"""Records of what minibatches did to the topics of a model that forgets.

Where a rule may keep less than all of the posterior, an estimator notes, for each of the
last minibatches, how much was kept and where the topics moved, and calls back when one was
all but forgotten.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from streamtopics.posteriors import TOO_EXTREME, Blend, TopicPosterior

KEPT_MINIBATCHES = 1000
TOP_WORDS = 10


@dataclass(frozen=True)
class Drift:
    """Change of the topics by one minibatch.

    Attributes
    ----------
    batch : int
        Its number, from 1.
    time : object
        As passed to `partial_fit`; None otherwise.
    retention : ndarray of shape (n_components,)
        Share of the posterior before it that was kept.
    effective_sample_size : ndarray of shape (n_components,)
        Mass of the posterior after it, in tokens, the prior's included.
    moved : ndarray of shape (n_components,)
        Total variation distance between a topic's mean before and after, in [0, 1].
    top_words : ndarray of shape (n_components, n)
        Columns of the most probable words after it, the most probable first.
    """

    batch: int
    time: Any
    retention: np.ndarray
    effective_sample_size: np.ndarray
    moved: np.ndarray
    top_words: np.ndarray

    def without(self, n_first: int) -> "Drift":
        """The record without the first topics."""
        names = ("retention", "effective_sample_size", "moved", "top_words")
        return replace(self, **{name: getattr(self, name)[n_first:] for name in names})


class DriftRow(NamedTuple):
    """One topic in one minibatch, for people or for a DataFrame."""

    batch: int
    time: Any
    topic: int
    retention: float
    effective_sample_size: float
    moved: float
    gained: list[Any]
    lost: list[Any]


def observe(posterior: TopicPosterior, blend: Blend, time: Any) -> Drift:
    """Record of what `blend` is about to do to a posterior."""
    old_mass, mass = posterior.mass, posterior.after(blend).mass
    if not np.isfinite(mass).all():
        raise ValueError(TOO_EXTREME)
    n = min(TOP_WORDS, posterior.shape[0])
    moved, least = np.zeros((2, len(mass)))
    leaders = []
    for words, before, after in posterior.changes(blend):
        before /= old_mass
        moved += np.abs(after / mass - before).sum(axis=0)
        if len(words) >= n:
            nth = np.partition(after, len(words) - n, axis=0)[len(words) - n]
            least = np.maximum(least, nth)
        places, topics = np.nonzero(_first_of_equals(after, least, n))
        leaders.append((topics, words[places], after[places, topics]))
    return Drift(
        posterior.n_batches + 1,
        time,
        np.broadcast_to(np.asarray(blend.retain, dtype=np.float64), mass.shape).copy(),
        mass,
        0.5 * moved,
        _leading(n, *map(np.concatenate, zip(*leaders, strict=True))),
    )


def _first_of_equals(values: np.ndarray, least: np.ndarray, n: int) -> np.ndarray:
    """Which values are at least the `least` of their column; of those equal to it, n do.

    Topics that nothing is known of have the same value everywhere.
    """
    chosen: np.ndarray = values >= least
    if np.count_nonzero(chosen) > 4 * n * len(least):
        equal = values == least
        chosen &= ~equal | (np.cumsum(equal, axis=0) <= n)
    return chosen


def _leading(n: int, topics: np.ndarray, words: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The n words of the largest values of each topic, of equal ones the first."""
    order = np.lexsort((words, -values, topics))
    first = np.searchsorted(topics[order], np.arange(topics.max() + 1))
    found: np.ndarray = words[order][first[:, None] + np.arange(n)]
    return found


def drift_table(records: Sequence[Drift], names: np.ndarray) -> list[DriftRow]:
    """A row for each minibatch and topic; words are gained and lost among the top ones."""
    rows = []
    for last, record in zip([None, *records], records, strict=False):
        for k, words in enumerate(record.top_words):
            old = words if last is None else last.top_words[k]
            gained, lost = np.setdiff1d(words, old), np.setdiff1d(old, words)
            rows.append(
                DriftRow(
                    record.batch,
                    record.time,
                    k,
                    float(record.retention[k]),
                    float(record.effective_sample_size[k]),
                    float(record.moved[k]),
                    list(names[gained]),
                    list(names[lost]),
                )
            )
    return rows


def kept_records(records: tuple[Drift, ...], record: Drift) -> tuple[Drift, ...]:
    """The records with one more, at most a thousand."""
    return (*records[1 - KEPT_MINIBATCHES :], record)
