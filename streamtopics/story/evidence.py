# SPDX-License-Identifier: BSD-3-Clause
"""Tests of topics and words: an outstanding stretch of time, and a difference between groups.

Given the numbers of documents of each period in a group and with a word, the number of documents of
the group with the word is a sum of hypergeometric variables (Cochran 1954). Each hypergeometric
variable is a sum of Bernoulli variables (Vatutin and Mikhailov 1982), so the tails are at most the
tails of a binomial variable with the same mean (Hoeffding 1956). The swings of the excess of a
group between periods are estimated in the kept documents.

A stream learns: topics change, and the documents of a word before its column have no times. Both
make changes without a change of the documents. So each change is tested again in the kept
documents, all with today's topics and words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import ndtr

from streamtopics.story.cells import OTHERS, Totals, indicators, places_in
from streamtopics.story.windows import chance, ratio, scan, stretches, tail

# Least number of documents with a word.
LEAST_HOLDERS = 5
# Least periods to estimate the swings of the excess of a group, and probability of a word to do so.
FEWEST_PERIODS, DOUBTFUL = 10, 0.05


class Sample(NamedTuple):
    """Kept documents: counts, topic shares, periods and groups."""

    counts: sparse.csr_matrix
    shares: np.ndarray
    period: np.ndarray  # -1 for an unknown time
    group: np.ndarray
    texts: Sequence[str]
    is_of_stream: bool = False  # Whether other documents had earlier topics and words


class Topics(NamedTuple):
    """Topics with the names used in findings."""

    words: Sequence[Sequence[str]]  # of each topic, the most telling first
    names: Sequence[str]  # of the columns
    of_words: np.ndarray  # (n_topics, n_columns): p(topic | word)
    hidden: frozenset[int] = frozenset()


def topics_of(model: Any, words: Sequence[Sequence[str]], names: Iterable[object]) -> Topics:
    """The topics of a model, each with a name or its words."""
    phi = model.topic_word_ * model.topic_weights_[:, None]
    of_words = phi / np.maximum(phi.sum(axis=0), 1e-300)
    hidden = frozenset(map(int, model.hidden_topics_))
    return Topics(words, [str(name) for name in names], of_words, hidden)


def sample_of(
    totals: Totals, counts: Any, shares: Any, times: np.ndarray, groups: Sequence[str],
    texts: Sequence[str], is_of_stream: bool = False,
) -> Sample:  # fmt: skip
    """Kept documents, in the periods and groups of all documents; see `positions` of times."""
    places = {name: place for place, name in enumerate(totals.groups)}
    group = [places.get(name, places.get(OTHERS, -1)) for name in groups]
    return Sample(
        sparse.csr_matrix(counts), np.asarray(shares, np.float64),
        places_in(totals.periods, times), np.array(group, np.intp), texts, is_of_stream,
    )  # fmt: skip


def with_kept_words(totals: Totals, sample: Sample) -> Totals:
    """Totals of a stream with the words of the kept documents, if all documents are kept."""
    n_periods, n_groups = totals.n.shape
    is_whole = len(sample.texts) == round(totals.of_all().n.sum()) and (sample.group >= 0).all()
    if not (sample.is_of_stream and is_whole):
        return totals
    has = (sample.counts > 0).astype(np.float64)
    period = np.where(sample.period < 0, n_periods, sample.period)
    holders, of_groups = (
        (indicators(rows, n) @ has).toarray()
        for rows, n in ((period, n_periods + 1), (sample.group, n_groups))
    )
    undated = totals.undated and (*totals.undated[:4], holders[-1:][: len(totals.undated[4])])
    return replace(totals, holders=holders[:-1], of_groups=of_groups, undated=undated)


class Data(NamedTuple):
    """The input of findings."""

    totals: Totals
    topics: Topics
    sample: Sample
    spread: np.ndarray  # of each topic: see `spread_of`


class Change(NamedTuple):
    """An outstanding topic, or word, in a stretch of periods or in a group."""

    place: int  # row of the topic, or column of the word
    first: int  # period, or group
    last: int
    z: float
    p: float


def words_had(words: Iterable[Change], data: Data) -> np.ndarray:
    """Number of some words in each kept document."""
    places = [word.place for word in words]
    return np.asarray((data.sample.counts[:, places] > 0).sum(axis=1), np.float64).ravel()


# Along the time


def changes_in_time(
    sums: np.ndarray, places: np.ndarray, totals: Totals, spread: np.ndarray
) -> list[Change]:
    """The outstanding stretch of some rows."""
    n = totals.n.sum(axis=1)
    if np.count_nonzero(n) < 2 or not len(places):
        return []
    found = scan(sums[places], n, spread[places])
    rows = zip(places.tolist(), *(values.tolist() for values in found), strict=True)
    return [Change(*row) for row in rows]


def again_in_time(change: Change, values: np.ndarray, sample: Sample) -> float:
    """The probability by chance of a change in the kept documents."""
    known = (sample.period >= 0) & (np.asarray(sample.counts.sum(axis=1)).ravel() > 0)
    n = np.bincount(sample.period[known]).astype(np.float64)
    x = np.bincount(sample.period[known], values[known])
    own = slice(change.first, change.last + 1)
    total, q = x.sum(), n[own].sum() / max(n.sum(), 1.0)
    if not total or (x[own].sum() > total * q) != (change.z > 0):
        return 1.0
    return min(1.0, chance(float(ratio(x[own].sum(), total, q)), total, n, *stretches(n)))


# Between groups


def _excess(
    own: np.ndarray, every: np.ndarray, part: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The total over groups, usual parts of the total, and deviations from the usual parts.

    `own` are sums of groups, `every` are sums of periods over all groups, and `part` are the parts
    of groups in the documents of periods.
    """
    total = every.sum(axis=0)
    q = np.clip(part.T @ every / np.maximum(total, 1e-300), 1e-12, 1.0 - 1e-12)
    z = np.sqrt(2.0 * np.maximum(ratio(own, total, q), 0.0))
    return total, q, np.where(own > total * q, z, -z)


def _swings(own: np.ndarray, every: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Dispersion of the excess of a group over periods, 1 by chance, and at least.

    Documents of one author come together, so the excess of a group swings.
    """
    usual = every * part
    usual = usual * (own.sum(axis=0) / np.maximum(usual.sum(axis=0), 1e-300))
    found = ((own - usual) ** 2 / (usual * (1.0 - part) + 0.5)).sum(axis=0)
    return np.asarray(np.maximum(found / (len(part) - 1), 1.0))


def _groups_of(totals: Totals) -> tuple[list[int], np.ndarray]:
    """The groups to compare, all with a name, and their parts of each period."""
    groups = [g for g, name in enumerate(totals.groups) if name and len(totals.groups) > 1]
    return groups, totals.n[:, groups] / np.maximum(totals.n.sum(axis=1, keepdims=True), 1.0)


def topics_of_groups(data: Data, visible: np.ndarray) -> list[Change]:
    """Tests of all topics in all groups, within periods, to cancel effects of time."""
    groups, part = _groups_of(data.totals)
    sums = data.totals.sums[..., visible] / data.spread[visible]
    every, sums = sums.sum(axis=1), sums[:, groups]
    total, q, z = _excess(sums.sum(axis=0), every, part)
    p = tail(sums.sum(axis=0), total, q, z > 0)
    if len(part) >= FEWEST_PERIODS:
        z = z / np.sqrt(_swings(sums, every[:, None], part[..., None]))
    p = np.minimum(2.0 * np.maximum(p, ndtr(-np.abs(z))), 1.0)
    return [
        Change(k, g, g, float(z[j, i]), float(p[j, i]))
        for i, k in enumerate(visible.tolist())
        for j, g in enumerate(groups)
    ]


def words_of_groups(data: Data) -> list[Change]:
    """Tests of all words in the most outstanding group of each word, within periods."""
    totals, (groups, part) = data.totals, _groups_of(data.totals)
    columns = np.flatnonzero(totals.of_groups.sum(axis=0) >= LEAST_HOLDERS)
    if not groups or not len(columns):
        return []
    own = totals.of_groups[groups][:, columns]
    total, q, z = _excess(own, totals.holders[:, columns], part)
    # Of two groups, the group with more.
    best = np.argmax(np.abs(z) * np.where(z > 0, 1.0 + 1e-9, 1.0), axis=0), np.arange(len(columns))
    z = z[best]
    p = 2.0 * len(groups) * np.maximum(tail(own[best], total, q[best], z > 0), ndtr(-np.abs(z)))
    each = zip(columns.tolist(), best[0].tolist(), z.tolist(), p.tolist(), strict=True)
    found = [Change(c, groups[g], groups[g], z, min(p, 1.0)) for c, g, z, p in each]
    # The dispersion is larger in all documents than in the kept part.
    times = max(totals.n.sum() / max(data.sample.counts.shape[0], 1), 1.0)
    for i in np.flatnonzero(p < DOUBTFUL).tolist() if len(part) >= FEWEST_PERIODS else ():
        swings = 1.0 + times * (float(_swings(*in_sample(found[i], data))) - 1.0)
        z = found[i].z / np.sqrt(swings)
        normal = min(2.0 * len(groups) * float(ndtr(-abs(z))), 1.0)
        found[i] = found[i]._replace(z=float(z), p=max(found[i].p, normal))
    return found


def in_sample(word: Change, data: Data) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kept documents with a word by period: of its group, of all, and the part of the group."""
    sample, n_periods = data.sample, len(data.totals.n)
    has, is_own = words_had([word], data) > 0, sample.group == word.first
    period = np.where(sample.period < 0, n_periods - 1, sample.period)
    own, every, n_own, n = (
        np.bincount(period, chosen, n_periods) for chosen in (has & is_own, has, is_own, None)
    )
    return own, every, n_own / np.maximum(n, 1.0)


def again_in_groups(word: Change, data: Data) -> float:
    """The probability by chance of a word of a group in the documents that are kept."""
    own, every, part = in_sample(word, data)
    total, q, z = _excess(own.sum(), every, part)
    found = 2.0 * float(tail(own.sum(), total, q, z > 0))
    return min(found, 1.0) if total and (z > 0) == (word.z > 0) else 1.0
