# SPDX-License-Identifier: BSD-3-Clause
"""Records of a monitor: the test of a minibatch, and at an alarm the topics and words changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtri
from scipy.stats import hypergeom

from streamtopics.streams.monitoring.relabelling import Comparison

# Words of a topic, topics of a kind and new words that are named, at most.
N_TOP, N_TOPICS, N_WORDS = 5, 10, 8


@dataclass(frozen=True)
class DriftTest:
    """The comparison of one minibatch with the documents held back before it.

    Attributes
    ----------
    batch, time : int, object
        Its place among the minibatches that the monitor was given, from 1, and when it is from.
    p_exact : float
        p-value by relabelling the documents; three times the least of three statistics.
    p_chart : float
        p-value beside the past of the stream, the least of three times those of the surprise and
        the use and thirty times that of the words; NaN while it is short.
    alarm : bool
        Whether both are less than `alpha`.
    """

    batch: int
    time: object
    p_exact: float
    p_chart: float
    alarm: bool


@dataclass(frozen=True)
class ChangedTopic:
    """A topic that has changed.

    Attributes
    ----------
    topic : int
    how : {"changed", "grown", "shrunk"}
        Its documents have words that it does not expect, or there are more or less of them.
    difference : float
        Between new and earlier documents, in standard errors.
    words : tuple of str
        Its most probable words, as it was learnt before.
    """

    topic: int
    how: str
    difference: float
    words: tuple[str, ...]


@dataclass(frozen=True)
class NewWord:
    """A word, or the number of a column, that more of the new documents have.

    `new` and `before` are how many have it, of the new and of the earlier ones.
    """

    word: str
    new: int
    before: int


@dataclass(frozen=True)
class NewTopic:
    """A subject that a minibatch has more documents of than the stream had before it.

    Attributes
    ----------
    words : tuple of str
        At most eight that its documents have more often than the earlier ones, the surest first.
    share, error : float
        The share of the new documents that are in its group, less that of the earlier ones, and
        its standard error, which does not know that the group was chosen.
    rows : tuple of int
        Places of its documents in the minibatch, the most typical first.
    """

    words: tuple[str, ...]
    share: float
    error: float
    rows: tuple[int, ...]


@dataclass(frozen=True)
class Alarm:
    """A change of a stream; `print` shows it in a few lines.

    Attributes
    ----------
    batch, time, p_exact, p_chart
        Of the minibatch that rang, as of `DriftTest`.
    n_new, n_before : int
        Documents that were compared.
    topics : tuple of ChangedTopic
        Those whose difference is beyond the level, divided by their number; at most ten of each
        kind, the greatest differences first.
    words : tuple of NewWord
        At most eight, at the level divided by the number of words, the surest first.
    new : tuple of NewTopic
        New subjects, the surest first; none where the change is of another kind.
    """

    batch: int
    time: object
    p_exact: float
    p_chart: float
    n_new: int
    n_before: int
    topics: tuple[ChangedTopic, ...]
    words: tuple[NewWord, ...]
    new: tuple[NewTopic, ...] = ()

    def __str__(self) -> str:
        when = "" if self.time is None else f" ({self.time})"
        lines = [
            f"Minibatch {self.batch}{when} differs from those before: p = {self.p_exact:.2g} "
            f"by relabelling, {self.p_chart:.2g} beside the past of the stream "
            f"({self.n_new} new documents, {self.n_before} earlier ones)."
        ]
        lines += [f"New: {' '.join(t.words)} ({t.share:.1%} of the documents)." for t in self.new]
        topics = [f"{t.topic} {t.how} ({' '.join(t.words)})" for t in self.topics[:N_TOP]]
        more = len(self.topics) - len(topics)
        if topics:
            lines.append(f"Topics: {', '.join(topics)}{f' and {more} more' if more else ''}.")
        if self.words:
            words = (f"{w.word} ({w.new}, before {w.before})" for w in self.words)
            lines.append(f"Words: {', '.join(words)}.")
        return "\n".join(lines)


def alarm_of(found: Mapping[str, Any]) -> Alarm:
    """The alarm that `dataclasses.asdict` has taken apart, from JSON or not."""
    topics = tuple(ChangedTopic(**t | {"words": tuple(t["words"])}) for t in found["topics"])
    words = tuple(NewWord(**word) for word in found["words"])
    new = tuple(
        NewTopic(**t | {"words": tuple(t["words"]), "rows": tuple(t["rows"])}) for t in found["new"]
    )
    return Alarm(**{**found, "topics": topics, "words": words, "new": new})


def changed_topics(
    found: Comparison, alpha: float, top_words: Sequence[Sequence[object]]
) -> tuple[ChangedTopic, ...]:
    """Topics whose differences are beyond the normal quantile of alpha over twice their number."""
    n_topics = len(found.surprise)
    beyond = -float(ndtri(alpha / (2 * n_topics)))
    topics = []
    for how, sign, values in (
        ("changed", 1, found.surprise),
        ("grown", 1, found.use),
        ("shrunk", -1, found.use),
    ):
        first = np.argsort(-sign * values, kind="stable")[:N_TOPICS]
        topics += [
            ChangedTopic(int(k), how, float(values[k]), tuple(map(str, top_words[k])))
            for k in first
            if sign * values[k] > beyond
        ]
    return tuple(sorted(topics, key=lambda topic: -abs(topic.difference)))


def new_words(
    new: sparse.csr_matrix, before: sparse.csr_matrix, alpha: float, names: Sequence[object] | None
) -> tuple[NewWord, ...]:
    """Words in more of the new documents than chance has it: the tail of the hypergeometric law."""
    n_new, n_before = new.shape[0], before.shape[0]
    in_new, in_before = (
        np.bincount(X.indices[X.data > 0], minlength=X.shape[1]) for X in (new, before)
    )
    words = np.flatnonzero(in_new)
    a, b = in_new[words], in_before[words]
    p = np.asarray(hypergeom.sf(a - 1, n_new + n_before, a + b, n_new))
    first = np.lexsort((words, -a, p))[:N_WORDS]
    return tuple(
        NewWord(str(words[i] if names is None else names[words[i]]), int(a[i]), int(b[i]))
        for i in first
        if p[i] < alpha / len(words)
    )
