# SPDX-License-Identifier: BSD-3-Clause
"""Shares of topics by period and group, and findings, as shown on the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from streamtopics.inspection.periods import STEPS
from streamtopics.metrics import relevant_words
from streamtopics.report.documents import Document, Source, Statistics, WordTable, shortened, show
from streamtopics.story.cells import Period, Totals, interval_of, labels_of, places_in, spread_each
from streamtopics.story.evidence import sample_of, topics_of, with_kept_words
from streamtopics.story.findings import Finding, find

# Most findings, alarms and groups on a page, words in a topic's name, new words, and alarm
# documents.
MOST_FINDINGS, MOST_ALARMS, MOST_GROUPS, N_WORDS, N_CAME, N_TYPICAL = 10, 20, 24, 10, 3, 3
# Share of false findings, and relevance in the ranking of the words of a branch.
LEVEL, RELEVANCE = 0.05, 0.6
NO_GROUP, LONGEST_GROUP = "(no group)", 60


class Shares(NamedTuple):
    """Mean shares of topics in rows of documents, with intervals; NaN without documents."""

    share: np.ndarray
    low: np.ndarray  # The 95 % interval
    high: np.ndarray


class Curves(NamedTuple):
    periods: tuple[Period, ...]
    sizes: list[int]
    shares: Shares  # (n_periods, n_topics)
    groups: list[str]
    group_rows: np.ndarray  # of the totals
    group_sizes: list[int]
    by_group: Shares  # (n_groups, n_topics)
    n_main: np.ndarray  # Documents with each topic as main topic


@dataclass(frozen=True)
class Statement:
    """A finding as shown on the page."""

    text: str
    quote: str
    kind: str
    topic: int | None  #: Place in `Report.topics`
    word: str | None
    first: int  #: First and last period of the finding; -1 for a group
    last: int
    group: str | None
    shares: list[float | None]  #: Documents of each period, or group, with the word
    low: list[float | None]
    high: list[float | None]
    documents: list[Document] = field(repr=False)


@dataclass(frozen=True)
class Branch:
    """Two joined topics or branches; branches are numbered after the topics."""

    left: int
    right: int
    height: float  #: Mean distance between the topics of both
    words: list[str]  #: That both have


def digits(value: float) -> float:
    """Round a number to six digits."""
    return float(f"{value:.6g}")


def written(values: np.ndarray) -> list[float | None]:
    """Round numbers to six digits; None for NaN."""
    return [None if np.isnan(value) else digits(value) for value in values]


def fields_of(record: object) -> dict[str, Any] | None:
    """A mapping, named tuple or dataclass as a dict; otherwise None."""
    if isinstance(record, Mapping):
        return {str(key): value for key, value in record.items()}
    if is_dataclass(record) and not isinstance(record, type):
        return dict(vars(record))
    return record._asdict() if hasattr(record, "_asdict") else None


# Shares


def shares_of(n: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> Shares:
    means = sums / np.where(n > 0, n, np.nan)[:, None]
    return Shares(means, *interval_of(n[:, None], means, spread_each(n, sums, squares)))


def curves_of(totals: Totals, findings: Sequence[Finding]) -> Curves:
    """Shares by period, and in the largest groups.

    Documents without times have no periods, unless findings are about their order.
    """
    along = any(one.group is None for one in findings)
    has_times = along or any(period.unit != "order" for period in totals.periods)
    periods, rows = totals.periods if has_times else (), slice(None if has_times else 0)
    n, every = totals.n[rows].sum(axis=1), totals.of_all()
    of_groups, cubes = every.n.sum(axis=0), (every.sums, every.squares)
    # Groups with findings, then the largest groups.
    told = np.isin(totals.groups, [one.group for one in findings[:MOST_FINDINGS] if one.group])
    order = np.lexsort((-of_groups, ~told))[: MOST_GROUPS if len(of_groups) > 1 else 0]
    largest = order[np.argsort(-of_groups[order], kind="stable")]
    return Curves(
        periods, n.astype(int).tolist(),
        shares_of(n, totals.sums[rows].sum(axis=1), totals.squares[rows].sum(axis=1)),
        [shortened(totals.groups[g] or NO_GROUP, LONGEST_GROUP) for g in largest], largest,
        of_groups[largest].astype(int).tolist(),
        shares_of(of_groups[largest], *(cube.sum(axis=0)[largest] for cube in cubes)),
        np.rint(every.main.sum(axis=(0, 1))),
    )  # fmt: skip


def place_of(periods: tuple[Period, ...], time: Any) -> int | None:
    """The period of a time, or None."""
    try:
        kind = "date" if isinstance(periods[0].start, np.datetime64) else "number"
        times = labels_of(1, [time], None, kind, 0).times
    except (IndexError, TypeError, ValueError):
        return None
    place, last = int(places_in(periods, times)[0]), periods[-1]
    if place < 0:
        return None
    steps = [step for step in STEPS if step.name == last.unit]
    ends = [step.starts(step.of(np.array([last.start])) + 1)[0] for step in steps]
    if not ends and len(periods) > 1:
        ends = [2 * last.start - periods[-2].start]
    return None if ends and times[0] >= ends[0] else place


# Findings


def find_in(source: Source, found: Statistics, totals: Totals) -> list[Finding]:
    """Findings about the documents; without times only differences between groups."""
    rows, names, labels = found.rows, source.names, source.labels
    top = relevant_words(source.topic_word, source.weights, N_WORDS, relevance=RELEVANCE)
    words = [
        [str(names[i]) for i in own if p[i]] for own, p in zip(top, source.topic_word, strict=True)
    ]
    for k, name in enumerate(source.topic_names):
        words[k] = [name] if name else words[k]
    times = labels.times[rows]
    in_order = all(period.unit == "order" for period in totals.periods)
    if in_order != (labels.kind == "order"):
        times = np.full(len(rows), np.nan)
    sample = sample_of(
        totals, source.counts[rows], found.shares, times,
        [labels.groups[row] for row in rows],
        [""] * len(rows) if source.texts is None else [source.texts[row] for row in rows],
        # Findings in given totals are tested again in documents with times.
        is_of_stream=not found.cells.kind and bool((times == times).any()),
    )  # fmt: skip
    totals = with_kept_words(totals, sample)
    each = find(totals, topics_of(source.model, words, names), sample, LEVEL)
    if in_order:
        each = [one for one in each if one.group is not None]
    return [one._replace(documents=tuple(rows[list(one.documents)].tolist())) for one in each]


def alarms_in(
    alarms: Iterable[object], source: Source, found: Statistics, curves: Curves
) -> list[Finding]:
    """Alarms as findings about their periods, with documents that hold their words."""
    columns = {str(name): column for column, name in enumerate(source.names)}
    own_period, each = places_in(curves.periods, source.labels.times[found.rows]), []
    for alarm in (fields_of(one) or {} for one in alarms):
        period = place_of(curves.periods, alarm.get("time"))
        if period is None:
            continue
        named = alarm.get("words") or ()
        named = [named] if isinstance(named, str) else list(named)
        told = [one[0] if isinstance(one, tuple) else str(one) for one in named]
        known = [columns[word] for word in told if word in columns]
        rows = found.rows[own_period == period]
        n = np.asarray((source.counts[rows][:, known] > 0).sum(axis=1)).ravel()
        best = rows[np.argsort(-n, kind="stable")[: min(N_TYPICAL, int((n > 0).sum()))]]
        each.append(Finding(
            "alarm", None, next((word for word in told if word in columns), None),
            tuple(told[:N_WORDS]), (), (), curves.periods[period].label, (period, period), None,
            0.0, (0.0, 0.0), 0.0, 0, 0, 0.0, 0.0, tuple(best.tolist()),
        ))  # fmt: skip
    return each[-MOST_ALARMS:]


def statements_of(
    findings: Sequence[Finding], source: Source, totals: Totals, place: np.ndarray,
    group_rows: np.ndarray,
) -> list[Statement]:  # fmt: skip
    rows = [row for one in findings for row in one.documents]
    documents = iter(show(source, rows, place))
    columns = {str(name): column for column, name in enumerate(source.names)}
    n, n_of_groups = totals.n.sum(axis=1), totals.of_all().n.sum(axis=0)[group_rows]
    found = []
    for one in findings:
        curve: list[list[float | None]] = [[], [], []]
        if one.word in columns:
            has, of = totals.holders[:, columns[one.word]], n
            if one.group is not None:
                has, of = totals.of_groups[group_rows, columns[one.word]], n_of_groups
            share = has / np.where(of > 0, of, np.nan)
            each = (share, *interval_of(of, share, np.array(1.0)))
            curve = [written(values) for values in each]
        text = str(one._replace(quote=""))
        if one.kind == "alarm":
            words = ", ".join(one.words) or "Alarm"
            text = f"*{words}*: documents in {one.when} differ from those before."
        topic = None if one.topic is None else int(place[one.topic])
        found.append(Statement(
            text, one.quote, one.kind, None if topic == -1 else topic, one.word, *one.periods,
            one.group and shortened(one.group, LONGEST_GROUP), curve[0], curve[1], curve[2],
            [next(documents) for _ in one.documents],
        ))  # fmt: skip
    return found


def change_of(k: int, findings: Sequence[Finding]) -> tuple[str, list[str]]:
    """The change of a topic over time in a few words, and its new words."""
    own = [one for one in findings if one.topic == k and one.group is None]
    came = list(dict.fromkeys(word for one in own for word in one.came))[:N_CAME]
    for one in own:
        if one.word is None:
            moved = {"grown": "rose", "fallen": "fell"}.get(one.kind, one.kind)
            return f"{moved} {one.when}: {one.share:.1%}, otherwise {one.share_before:.1%}", came
    return "", came


# Topics put together


def branches_of(
    affinity: np.ndarray, topic_word: np.ndarray, weights: np.ndarray, table: WordTable
) -> list[Branch]:
    """The tree of topics, by average linkage of Hellinger distances.

    The words of a branch are frequent in both parts, by the geometric mean.
    """
    if len(affinity) < 2:
        return []
    distances = np.sqrt(1.0 - affinity)
    joined = linkage(squareform(distances, checks=False), "average")
    each, mass, found = [*topic_word[:, table.columns]], weights.tolist(), []
    for a, b, height, _ in joined.tolist():
        left, right = int(a), int(b)
        common = np.sqrt(each[left] * each[right])
        known = np.flatnonzero(common > 0)
        value = np.log(common[known]) + (RELEVANCE - 1.0) * np.log(table.overall[known])
        best = known[np.argsort(-value, kind="stable")[:4]]
        found.append(Branch(left, right, digits(height), [table.words[i] for i in best]))
        both = max(mass[left] + mass[right], 1e-300)
        each.append((mass[left] * each[left] + mass[right] * each[right]) / both)
        mass.append(both)
    return found
