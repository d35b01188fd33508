# SPDX-License-Identifier: BSD-3-Clause
"""Findings in sentences, with an error rate: changes along a stream, differences of groups.

All topics and words are tested for an outstanding stretch of time (`windows`), and all topics for
groups. Significant changes at a rate of false discoveries become findings, with the words of one
subject together. A true finding takes in many words, a false one a single word. So the rate is
controlled once more, for findings among all tests (Katsevich, Sabatti and Bogomolov 2023).

A burst of few documents may have several rare words, none of them significant alone. If a part r of
all V words stand out at about the time of a word, the mean number of words with probabilities of p
or less, and with j - 1 such words of other documents at the same time, is by chance at most

    V p (V p r)^(j-1) / (j-1)!

The least value for j = 1, 2, ..., times 2^j for the choice of j, is V times the p of a finding.

Along a stream the model learns, and a word is counted from its column on. Both make changes without
a change of the documents. So a change must stand out again in the kept documents, all with today's
topics and words.
"""

from __future__ import annotations

from calendar import month_name
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import factorial, ndtr

from streamtopics.story.cells import (
    LEAST_OF_PERIOD,
    OTHERS,
    Period,
    Totals,
    interval_of,
    places_in,
    spread_each,
    spread_of,
)
from streamtopics.story.windows import chance, ratio, scan, significant, stretches, tail
from streamtopics.text.splitting import goes_back

# Least documents with a word, and words of a topic and of a finding in sentences.
LEAST_HOLDERS, N_LABEL, N_WORDS = 5, 3, 6
# Mean number of words by chance to look at: one is no finding, but several together may be.
BY_CHANCE = 4.0
# Least periods to estimate the swings of the excess of a group.
FEWEST_PERIODS = 10
# Words belong together if they share this part of their stretches and of their documents.
SAME_TIME, SAME_DOCUMENTS = 0.5, 0.25
# A topic is new, or gone, with less than this part of its share on the other side.
LITTLE = 0.1
# Most words joined, documents of a finding, and characters of a quotation.
MOST_WORDS, N_TYPICAL, QUOTED = 400, 5, 140


class Finding(NamedTuple):
    """A change or a difference; `str` makes a sentence.

    Attributes
    ----------
    kind : {"grown", "fallen", "new", "gone", "changed", "more", "less"}
        What happened along the stream; "changed" is about the words of a topic. "more" and "less"
        compare a group with all others.
    topic : int or None
        Row of the topic in the model; None for words of several topics.
    word : str or None
        Word of the share; None if the share is the topic's.
    words, came, left : tuple of str
        Words of the topic, words that became more frequent, and words that became less frequent.
    when : str
        The stretch of time, for example "in October 2025"; empty for a group.
    periods : tuple of (int, int)
        First and last period of the stretch; (-1, -1) for a group.
    group : str or None
    share : float
        Share of the documents in the stretch or group.
    interval : tuple of (float, float)
        95 % interval of the share.
    share_before : float
        Share of all other documents; for a group, of other documents of the same periods.
    n_documents, n_all : int
        Documents with the word, or with the topic as main topic, in the stretch or group, and all
        documents of the stretch or group.
    surprise, p : float
        Standard deviations from the usual value, and the probability by chance, corrected for the
        choice of the stretch.
    documents : tuple of int
        Places of typical documents in the sample, the most typical first.
    quote : str
        The beginning of the first of these documents.
    """

    kind: str
    topic: int | None
    word: str | None
    words: tuple[str, ...]
    came: tuple[str, ...]
    left: tuple[str, ...]
    when: str
    periods: tuple[int, int]
    group: str | None
    share: float
    interval: tuple[float, float]
    share_before: float
    n_documents: int
    n_all: int
    surprise: float
    p: float
    documents: tuple[int, ...] = ()
    quote: str = ""

    @property
    def n_moved(self) -> float:
        """Number of documents above, or below, the expectation by the share elsewhere."""
        return abs(self.share - self.share_before) * self.n_all

    def __str__(self) -> str:
        return sentence(self)


class Findings(tuple[Finding, ...]):
    """Findings in order; `print` shows one finding a line, and notebooks a list."""

    def __str__(self) -> str:
        lines = [f"{i}. {finding}" for i, finding in enumerate(self, start=1)]
        return "\n".join(lines) or "Nothing stands out."

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{escape(str(finding))}</li>" for finding in self)
        return f"<ol>{lines}</ol>" if lines else f"<p>{self}</p>"


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


class Change(NamedTuple):
    """An outstanding topic, or word, in a stretch of periods; or a topic in a group."""

    place: int  # row of the topic, or column of the word
    first: int  # period, or group
    last: int
    z: float
    p: float


class Subject(NamedTuple):
    """Words outstanding together; the first leads."""

    words: tuple[Change, ...]
    topic: int | None  # topic of most of their mass
    p: float  # for all words together


class Data(NamedTuple):
    """The input of findings."""

    totals: Totals
    topics: Topics
    sample: Sample
    spread: np.ndarray  # of each topic: see `spread_of`


def find(totals: Totals, topics: Topics, sample: Sample, level: float) -> list[Finding]:
    """All findings at a rate of false discoveries, in the order of surprise and documents."""
    n_topics = len(topics.words)
    spread = spread_of(
        totals.n.ravel(),
        *(cube.reshape(totals.n.size, n_topics) for cube in (totals.sums, totals.squares)),
    )
    data = Data(totals, topics, sample, spread)
    visible = np.array([k for k in range(n_topics) if k not in topics.hidden], np.intp)
    columns = np.flatnonzero(totals.holders.sum(axis=0) >= LEAST_HOLDERS)
    changes = _changes(totals.sums.sum(axis=1).T, visible, totals, spread)
    words = _changes(totals.holders.T, columns, totals, np.ones(totals.holders.shape[1]))
    of_all = data._replace(totals=totals.of_all())
    contrasts = _contrasts(of_all, visible)
    p = [one.p for family in (changes, words, contrasts) for one in family]
    all_words, n_tests = words, max(len(p), 1)
    changes, words, contrasts = _chosen(p, level, None, changes, words, contrasts)
    if sample.is_of_stream:
        has = (sample.counts > 0).astype(np.float64).tocsc()
        again = [_again(c, sample.shares[:, c.place] / spread[c.place], sample) for c in changes]
        again += [_again(c, has[:, c.place].toarray().ravel(), sample) for c in words]
        changes, words = _chosen(again, level, None, changes, words)
    else:
        limit = max([BY_CHANCE / n_tests, *(one.p for one in words)])
        words = [one for one in all_words if one.p <= limit]
    subjects = _subjects(words, all_words, level / n_tests, data)
    along = _ranked(_along_time(changes, subjects, data))
    between = _ranked(_between_groups(contrasts, of_all))
    p = [one.p for one in (*along, *between)]
    along, between = _chosen(p, level, n_tests, along, between)
    # In turn, so both kinds are seen.
    n = min(len(along), len(between))
    both = [one for pair in zip(along[:n], between[:n], strict=True) for one in pair]
    return [*both, *along[n:], *between[n:]]


def _chosen(p: list[float], level: float, n_tests: int | None, *families: Any) -> list[list[Any]]:
    """The significant changes of some families."""
    kept = iter(significant(np.array(p), level, n_tests).tolist())
    return [[one for one in family if next(kept)] for family in families]


def _ranked(found: Iterable[Finding]) -> list[Finding]:
    return sorted(found, key=lambda one: -abs(one.surprise) * np.log1p(one.n_moved))


# Along the time


def _changes(
    sums: np.ndarray, places: np.ndarray, totals: Totals, spread: np.ndarray
) -> list[Change]:
    """The outstanding stretch of some rows."""
    n = totals.n.sum(axis=1)
    if np.count_nonzero(n) < 2 or not len(places):
        return []
    found = scan(sums[places], n, spread[places])
    rows = zip(places.tolist(), *(values.tolist() for values in found), strict=True)
    return [Change(*row) for row in rows]


def _again(change: Change, values: np.ndarray, sample: Sample) -> float:
    """The probability by chance of a change in the kept documents."""
    known = (sample.period >= 0) & (np.asarray(sample.counts.sum(axis=1)).ravel() > 0)
    n = np.bincount(sample.period[known]).astype(np.float64)
    x = np.bincount(sample.period[known], values[known])
    own = slice(change.first, change.last + 1)
    total, q = x.sum(), n[own].sum() / max(n.sum(), 1.0)
    if not total or (x[own].sum() > total * q) != (change.z > 0):
        return 1.0
    return min(1.0, chance(float(ratio(x[own].sum(), total, q)), total, n, *stretches(n)))


def _subjects(
    words: list[Change], all_words: list[Change], sure: float, data: Data
) -> list[Subject]:
    """Words of the same time and, unless both are weak, of the same documents or topic."""
    left = sorted(words, key=lambda one: -abs(one.z))[:MOST_WORDS]
    places = np.array([one.place for one in left], np.intp)
    has = (data.sample.counts[:, places] > 0).astype(np.float64).tocsc()
    common = (has.T @ has).toarray()
    main = data.topics.of_words[:, places]
    found: list[Subject] = []
    waiting = list(range(len(left)))
    while waiting:
        lead, own, others = waiting[0], list[int](), list[int]()
        for i in waiting:
            together = common[lead, i] >= SAME_DOCUMENTS * min(common[lead, lead], common[i, i])
            together &= common[lead, i] > 0
            alike = main[:, lead].argmax() == main[:, i].argmax()
            alike &= min(main[:, lead].max(), main[:, i].max()) > 0.5
            alike |= min(left[lead].p, left[i].p) > sure
            same = i == lead or (_same_time(left[lead], left[i]) and (together or alike))
            (own if same else others).append(i)
        mass = main[:, own].mean(axis=1)
        topic = int(mass.argmax()) if mass.max() > 0.5 else None
        one = own[:1] if data.sample.is_of_stream else own
        p = _together([left[i] for i in one], common[np.ix_(one, one)], all_words)
        found.append(Subject(tuple(left[i] for i in own), topic, p))
        waiting = others
    return found


def _together(own: list[Change], common: np.ndarray, words: list[Change]) -> float:
    """The probability by chance of words outstanding at one time: see above."""
    first, *others = sorted(range(len(own)), key=lambda i: own[i].p)
    apart = [first]
    for i in others:
        least = SAME_DOCUMENTS * np.minimum(common[i, i], common[apart, apart])
        if common[i, i] >= 2 and (common[i, apart] < least).all():
            apart.append(i)
    part = np.mean([_same_time(own[0], one) for one in words]) if len(apart) > 1 else 1.0
    n, j = len(words) * np.array([own[i].p for i in apart]), np.arange(1, len(apart) + 1)
    return float(np.min((2 * n) ** j * part ** (j - 1) / factorial(j - 1)) / len(words))


def _same_time(one: Change, other: Change) -> bool:
    """Whether both stand out in the same direction, in stretches that mostly overlap."""
    overlap = min(one.last, other.last) - max(one.first, other.first) + 1
    union = max(one.last, other.last) - min(one.first, other.first) + 1
    return (one.z > 0) == (other.z > 0) and overlap >= SAME_TIME * union


def _along_time(topics: list[Change], subjects: list[Subject], data: Data) -> Iterator[Finding]:
    """One finding of each changed topic, with its words, and of each other subject."""
    waiting = list(subjects)
    for topic in topics:
        own = [s for s in waiting if s.topic == topic.place and _same_time(topic, s.words[0])]
        waiting = [s for s in waiting if s not in own]
        yield _of_topic(topic, [word for s in own for word in s.words], data)
    for i, one in enumerate(waiting):
        opposite = next((s for s in waiting[i + 1 :] if _are_opposite(one, s)), None)
        if opposite is not None:
            waiting.remove(opposite)
        yield _of_subject(one, opposite, data)


def _are_opposite(one: Subject, other: Subject) -> bool:
    """Whether words of a topic come when other words of the topic go."""
    lead, turned = one.words[0], other.words[0]._replace(z=-other.words[0].z)
    return one.topic is not None and one.topic == other.topic and _same_time(lead, turned)


def _of_topic(change: Change, words: list[Change], data: Data) -> Finding:
    """The finding of a topic with a changed share."""
    k, totals = change.place, data.totals
    inside = _stretch(change, totals)
    n, sums = totals.n.sum(axis=1), totals.sums[:, :, k].sum(axis=1)
    share, before = _part(sums, n, inside), _part(sums, n, ~inside)
    low, high = _interval(k, inside, data)
    up, first = change.z > 0, [word for word in words if word.z > 0]
    others = [word for word in words if word.z <= 0]
    typical = _typical(data, inside if up else ~inside, data.sample.shares[:, k], words)
    return Finding(
        _kind(change, share, before, totals), k, None, _label(k, data), _named(first, data),
        _named(others, data), _when(change, totals), (change.first, change.last), None,
        share, (low, high), before,
        round(float(totals.main[inside, :, k].sum())), round(float(n[inside].sum())),
        change.z, change.p, *typical,
    )  # fmt: skip


def _of_subject(subject: Subject, opposite: Subject | None, data: Data) -> Finding:
    """The finding of words without a topic of changed share."""
    lead, totals, k = subject.words[0], data.totals, subject.topic
    inside = _stretch(lead, totals)
    n, holders = totals.n.sum(axis=1), totals.holders[:, lead.place]
    share, before = _part(holders, n, inside), _part(holders, n, ~inside)
    low, high = interval_of(n[inside].sum(), np.array(share), np.array(1.0))
    came, left = (subject, opposite) if lead.z > 0 else (opposite, subject)
    came_words, left_words = ([] if one is None else list(one.words) for one in (came, left))
    kind = "changed" if opposite is not None else _kind(lead, share, before, totals)
    places = np.array([word.place for word in subject.words])
    weight = np.asarray((data.sample.counts[:, places] > 0).sum(axis=1), np.float64).ravel()
    typical = _typical(data, inside if lead.z > 0 else ~inside, weight, [])
    return Finding(
        kind, k, data.topics.names[lead.place], () if k is None else _label(k, data),
        _named(came_words, data), _named(left_words, data), _when(lead, totals),
        (lead.first, lead.last), None, share, (float(low), float(high)), before,
        round(float(holders[inside].sum())), round(float(n[inside].sum())),
        lead.z, min(subject.p, 1.0), *typical,
    )  # fmt: skip


def _interval(k: int, chosen: Any, data: Data) -> tuple[float, float]:
    """The 95 % interval of the share of a topic in some periods, or periods and groups."""
    totals = data.totals
    n, sums, squares = (
        cube[chosen].sum(axis=tuple(range(cube[chosen].ndim)))
        for cube in (totals.n, totals.sums[..., k], totals.squares[..., k])
    )
    spread = spread_each(n, sums[None], squares[None], data.spread[k])
    low, high = interval_of(n, sums / max(n, 1.0), spread)
    return float(low[0]), float(high[0])


def _stretch(change: Change, totals: Totals) -> np.ndarray:
    """Whether each period is in the stretch of a change."""
    t = np.arange(len(totals.periods))
    return (t >= change.first) & (t <= change.last)


def _part(sums: np.ndarray, n: np.ndarray, chosen: np.ndarray) -> float:
    return float(sums[chosen].sum() / max(n[chosen].sum(), 1.0))


def _lasts(change: Change, totals: Totals) -> bool:
    """Whether a change lasts to the end, or to few documents before."""
    return bool(totals.n[change.last + 1 :].sum() < 2 * LEAST_OF_PERIOD)


def _kind(change: Change, share: float, before: float, totals: Totals) -> str:
    """Return the kind of a change; only a lasting change is new or gone."""
    lasts = _lasts(change, totals)
    if change.z > 0:
        return "new" if lasts and before < LITTLE * share else "grown"
    return "gone" if lasts and share < LITTLE * before else "fallen"


# Between groups


def _contrasts(data: Data, visible: np.ndarray) -> list[Change]:
    """Tests of all topics in all groups, within periods, to cancel effects of time."""
    totals, found = data.totals, list[Change]()
    if len(totals.groups) < 2:
        return []
    n = totals.n.sum(axis=1, keepdims=True)
    part = totals.n / np.maximum(n, 1.0)
    # Documents of unknown group count only among all others.
    groups = [g for g, name in enumerate(totals.groups) if name]
    for k in visible.tolist():
        sums = totals.sums[:, :, k] / data.spread[k]
        total = sums.sum()
        expected = (sums.sum(axis=1, keepdims=True) * part).sum(axis=0)
        own = sums.sum(axis=0)
        q = np.clip(expected / max(total, 1e-300), 1e-12, 1.0 - 1e-12)
        up = own > expected
        z = np.where(up, 1.0, -1.0) * np.sqrt(2.0 * np.maximum(ratio(own, total, q), 0.0))
        # Documents of one author come together, so the excess of a group swings.
        usual = sums.sum(axis=1, keepdims=True) * part * (own / np.maximum(expected, 1e-300))
        swings = ((sums - usual) ** 2 / (usual * (1.0 - part) + 0.5)).sum(axis=0)
        if len(n) >= FEWEST_PERIODS:
            z /= np.sqrt(np.maximum(swings / (len(n) - 1), 1.0))
        p = 2.0 * np.maximum(tail(own, total, q, up), ndtr(-np.abs(z)))
        found += [Change(k, g, g, float(z[g]), min(float(p[g]), 1.0)) for g in groups]
    return found


def _between_groups(contrasts: list[Change], data: Data) -> Iterator[Finding]:
    """One finding of each topic: the group with the largest excess, or deficit."""
    totals, best = data.totals, dict[int, Change]()
    for one in sorted(contrasts, key=lambda c: (c.z < 0, -abs(c.z))):
        best.setdefault(one.place, one)
    for k, one in best.items():
        g, sums = one.first, totals.sums[:, :, k]
        n, n_others = totals.n[:, g], totals.n.sum(axis=1) - totals.n[:, g]
        # Only for periods with both; otherwise all others have their share when the group had
        # documents.
        both = (n > 0) & (n_others > 0)
        of_others = (sums.sum(axis=1) - sums[:, g])[both] / n_others[both]
        share, others = _part(sums[:, g], n, both), _part(of_others * n[both], n[both], both[both])
        if (share > others) != (one.z > 0):
            continue
        own = data.sample.group == g
        typical = _quoted(data, own if one.z > 0 else ~own, data.sample.shares[:, k])
        yield Finding(
            "more" if one.z > 0 else "less", k, None, _label(k, data), (), (), "", (-1, -1),
            totals.groups[g], share, _interval(k, (both, g), data), others,
            round(float(totals.main[both, g, k].sum())), round(float(n[both].sum())),
            one.z, one.p, *typical,
        )  # fmt: skip


# Words


def _label(k: int, data: Data) -> tuple[str, ...]:
    return tuple(data.topics.words[k][:N_LABEL])


def _named(words: list[Change], data: Data) -> tuple[str, ...]:
    return tuple(data.topics.names[word.place] for word in words[:N_WORDS])


def _typical(
    data: Data, periods: np.ndarray, weight: np.ndarray, words: list[Change]
) -> tuple[tuple[int, ...], str]:
    """Documents of some periods with most of a topic and of its words."""
    own = data.sample.period >= 0
    own[own] = periods[data.sample.period[own]]
    places = [word.place for word in words if word.z > 0]
    if places:
        n = np.asarray((data.sample.counts[:, places] > 0).sum(axis=1), np.float64).ravel()
        weight = weight * (1.0 + n)
    return _quoted(data, own, weight)


def _quoted(data: Data, own: np.ndarray, weight: np.ndarray) -> tuple[tuple[int, ...], str]:
    """Places of the documents of most weight, and the beginning of one, preferably a sentence."""
    rows = np.flatnonzero(own & (weight > 0))
    order = rows[np.argsort(-weight[rows], kind="stable")][:N_TYPICAL]
    if not len(order):
        return (), ""
    texts = [" ".join(data.sample.texts[row].split()) for row in order]
    text = next((text for text in texts if not goes_back(text)), texts[0])
    if len(text) > QUOTED:
        text = text[: QUOTED + 1].rsplit(" ", 1)[0][:QUOTED] + "…"
    return tuple(order.tolist()), text


# Sentences


def _when(change: Change, totals: Totals) -> str:
    """A stretch of periods in words."""
    first, last = totals.periods[change.first], totals.periods[change.last]
    (begin, _), (_, end) = _ends(first), _ends(last)
    if _lasts(change, totals) and change.first < len(totals.periods) - 1:
        return f"since {begin}"
    return f"in {begin}" if begin == end else f"from {begin} to {end}"


def _ends(period: Period) -> tuple[str, str]:
    """The beginning and the end of a period in words: months and days by name."""
    if period.unit == "week":
        return _date(str(period.start)[:10]), _date(str(period.start + np.timedelta64(6, "D"))[:10])
    if period.unit in ("month", "day"):
        return (_date(period.label),) * 2
    begin, _, end = period.label.replace("documents", "document").partition(" to ")
    return begin, end or begin


def _date(text: str) -> str:
    # Years before 1 have a minus.
    year, month, *day = text[1:].split("-")
    return " ".join([*(str(int(one)) for one in day), month_name[int(month)], text[0] + year])


def sentence(one: Finding) -> str:
    """A finding in one to three sentences."""
    topic, came, left = (", ".join(words) for words in (one.words, one.came, one.left))
    low, high = one.interval
    interval = f"95 % interval {low:.1%} to {high:.1%}"
    counted = f"{one.n_documents:,} of {one.n_all:,} documents"
    moved = {"grown": "rose", "fallen": "fell"}.get(one.kind, f"is {one.kind}")
    if one.word is not None:
        share = f"“{one.word}” is in {counted} ({one.share:.1%}; {interval})"
        other = f"otherwise in {one.share_before:.1%}"
    else:
        share = f"{one.share:.1%} on average ({interval}; the main topic of {counted})"
        other = f"otherwise {one.share_before:.1%}"
    if one.group is not None:
        text = f"{one.group} has {one.kind} of *{topic}*: {share}, {other}."
    elif one.kind == "changed":
        words = f"{came} came, {left} went"
        text = f"*{topic}* has changed its words {one.when}: {words}; {share}, {other}."
    else:
        subject = topic if one.word is None else came or left
        text = f"*{subject}* {moved} {one.when}: {share}, {other}."
    if one.word is None:
        text += f" More frequent: {came}." if came else ""
        text += f" Less frequent: {left}." if left else ""
    return f"{text} For example: “{one.quote}”" if one.quote else text
