# SPDX-License-Identifier: BSD-3-Clause
"""Records of how much minibatches left of a model that forgets, and where its topics moved."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from streamtopics.posteriors import TOO_EXTREME, Blend, TopicPosterior
from streamtopics.posteriors.topics import first_of_equals, leading

KEPT_MINIBATCHES = 1000
TOP_WORDS = 10
# Times as many cells as lead, of which it costs less to look for the leading ones than to sort all.
MANY = 2


@dataclass(frozen=True)
class Retention:
    """Shares that the rule kept at one minibatch, which has a number, from 1, and maybe a time."""

    _holds = "retention: nan"
    batch: int
    time: Any
    # (n_components,), without what weights that grow along the stream take.
    retention: np.ndarray


R = TypeVar("R", bound=Retention)


def kept_records(records: tuple[R, ...], record: R) -> tuple[R, ...]:
    """The records with one more, at most a thousand."""
    return (*records[1 - KEPT_MINIBATCHES :], record)


@dataclass(frozen=True)
class Drift(Retention):
    """Change of the topics by one minibatch."""

    _holds = "retention: K; effective_sample_size: K; moved: K; top_words: i4 K * >=0"
    # (n_components,): mass of the posterior afterwards, in tokens, the prior's included.
    effective_sample_size: np.ndarray
    # (n_components,): total variation distance between a topic's mean before and after, in [0, 1].
    moved: np.ndarray
    # (n_components, n): columns of the leading words afterwards, the most probable first.
    top_words: np.ndarray
    # Columns of `top_words` that stand for another word by now, with their word then, or None.
    renamed: tuple[tuple[int, Any], ...] = ()

    def with_names(self, names: dict[int, Any]) -> "Drift":
        """The record after columns have changed hands, which stood for `names` until then."""
        own = names.keys() & set(self.top_words.ravel().tolist()) - dict(self.renamed).keys()
        found = tuple((column, names[column]) for column in sorted(own))
        return replace(self, renamed=self.renamed + found) if own else self

    def words(self, topic: int, names: np.ndarray) -> list[Any]:
        """The words of a topic, by column."""
        then = dict(self.renamed)
        return [then.get(c, names[c]) for c in np.sort(self.top_words[topic]).tolist()]


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


def drift_of(
    posterior: TopicPosterior,
    blend: Blend,
    time: object,
    last: Drift | None = None,
    n_hidden: int = 0,
) -> Drift:
    """Record of what `blend` is about to do to a posterior, without its first `n_hidden` topics.

    Words without statistics keep their order if their priors are alike; then only the words with
    statistics and the leading ones of `last` are read.
    """
    own = slice(n_hidden, None)
    mass = posterior.after(blend).mass[own]
    if not np.isfinite(mass).all():
        raise ValueError(TOO_EXTREME)
    retain = np.broadcast_to(np.asarray(blend.retain, np.float64), posterior.n_nodes)[own]
    n = min(TOP_WORDS, posterior.shape[0])
    top = _old_top(posterior, retain, last, n)
    seen, known = None, None if blend.statistics.takes_back else top
    if known is not None and posterior.is_alike and blend.noise is None:
        seen = _seen_from(known, posterior, blend, n_hidden)
    moved, top_words = seen or _seen_from_all(known, posterior, blend, n_hidden, n)
    kept = np.broadcast_to(np.asarray(blend.reported_retention, np.float64), posterior.n_nodes)
    return Drift(posterior.n_batches + 1, time, kept[own].copy(), mass, moved, top_words)


def _seen_from(
    top: np.ndarray, posterior: TopicPosterior, blend: Blend, n_hidden: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """How far topics move, and their leading words, if words without statistics keep their order.

    None if rounding brings a word below those that it leads.
    """
    k, n = top.shape
    topics = np.broadcast_to(np.arange(k)[:, None], top.shape)
    values = posterior.decayed(blend, top, topics + n_hidden)
    least = np.concatenate([np.full(n_hidden, np.inf), values.min(axis=1)])
    moved, words = posterior.moved(blend, least)
    unchanged = ~np.isin(top, blend.statistics.words)
    found = [(topics[unchanged], top[unchanged], values[unchanged])]
    for some, _, after in posterior.changes(blend, words):
        leads = after >= least
        if len(some) >= n and np.count_nonzero(leads) > MANY * top.size:
            # The first minibatch lifts all of its words over those that lead before it.
            bound = np.partition(after, len(some) - n, axis=0)[len(some) - n]
            least = np.maximum(least, bound)
            leads = after >= least
        places, own = np.nonzero(leads)
        found.append((own - n_hidden, some[places], after[places, own]))
    if np.bincount(np.concatenate([one[0] for one in found]), minlength=k).min() < n:
        return None
    return moved[n_hidden:], leading(n, *map(np.concatenate, zip(*found, strict=True)))


def _seen_from_all(
    top: np.ndarray | None, posterior: TopicPosterior, blend: Blend, n_hidden: int, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """How far topics move, and their n leading words, read from all words."""
    own = slice(n_hidden, None)
    old_mass, mass = posterior.mass[own], posterior.after(blend).mass[own]
    moved, least = np.zeros((2, len(mass)))
    if top is not None:
        topics = np.arange(len(mass))[:, None] + n_hidden
        least = posterior.decayed(blend, top, topics).min(axis=1)
    found = []
    for words, before, after in posterior.changes(blend):
        before, after = before[:, own] / old_mass, after[:, own]
        moved += np.abs(after / mass - before).sum(axis=0)
        if top is None and len(words) >= n:
            bound = np.partition(after, len(words) - n, axis=0)[len(words) - n]
            least = np.maximum(least, bound)
        places, topics = np.nonzero(first_of_equals(after, least, n))
        found.append((topics, words[places], after[places, topics]))
    return 0.5 * moved, leading(n, *map(np.concatenate, zip(*found, strict=True)))


def _old_top(
    posterior: TopicPosterior, retain: np.ndarray, last: Drift | None, n: int
) -> np.ndarray | None:
    """Columns of the n leading words of each topic before an update; None if they are unknown."""
    # The first ones of a topic that knows nothing, or of which nothing is kept.
    first = np.broadcast_to(np.arange(n, dtype=np.int32), (len(retain), n))
    if posterior.knows_nothing:
        return first
    if last is None or not posterior.c.all() or last.top_words.shape != first.shape:
        return None
    return np.where(retain[:, None] > 0, last.top_words, first)


def drift_table(records: Sequence[Drift], names: np.ndarray) -> list[DriftRow]:
    """A row for each minibatch and topic; words are gained and lost among the top ones."""
    rows = []
    for last, record in zip([None, *records], records, strict=False):
        numbers = zip(record.retention, record.effective_sample_size, record.moved, strict=True)
        for k, (retention, size, moved) in enumerate(numbers):
            words = record.words(k, names)
            old = words if last is None else last.words(k, names)
            gained = [word for word in words if word not in old]
            lost = [word for word in old if word not in words]
            own = float(retention), float(size), float(moved)
            rows.append(DriftRow(record.batch, record.time, k, *own, gained, lost))
    return rows
