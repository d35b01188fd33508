# SPDX-License-Identifier: BSD-3-Clause
"""Findings in sentences, with an error rate: changes along a stream, differences of groups.

All topics and words are tested for an outstanding stretch of time (`windows`), and for groups.
Significant changes at a rate of false discoveries become findings, with the words of one subject
together. A true finding takes in many words, a false one a single word. So the rate is controlled
once more, for findings among all tests (Katsevich, Sabatti and Bogomolov 2023). Topics and words
have parts of the rate, because topics are few (Genovese, Roeder and Wasserman 2006).

A burst of few documents may have several rare words, none of them significant alone. If a part r of
all V words stand out at about the time of a word, the mean number of words with probabilities of p
or less, and with j - 1 such words of other documents at the same time, is by chance at most

    V p (V p r)^(j-1) / (j-1)!

The least value for j = 1, 2, ..., times 2^j for the choice of j, is V times the p of a finding.
"""

from __future__ import annotations

from calendar import month_name
from collections.abc import Callable, Iterable, Iterator
from html import escape
from re import sub
from typing import Any, NamedTuple

import numpy as np
from scipy.special import factorial

from streamtopics.story.cells import (
    LEAST_OF_PERIOD,
    Period,
    Totals,
    interval_of,
    spread_each,
    spread_of,
)
from streamtopics.story.evidence import (
    LEAST_HOLDERS,
    Change,
    Data,
    Sample,
    Topics,
    again_in_groups,
    again_in_time,
    changes_in_time,
    in_sample,
    topics_of_groups,
    words_had,
    words_of_groups,
)
from streamtopics.story.windows import significant
from streamtopics.text.splitting import goes_back

# Words of a topic and of a finding in sentences.
N_LABEL, N_WORDS = 3, 6
# Mean number of words by chance to look at: one is no finding, but several together may be.
BY_CHANCE = 4.0
# Parts of the error rate for topics and words along the time, and for both between groups.
PARTS = 0.1, 0.4, 0.1, 0.4
# Words belong together if they share this part of their stretches and of their documents.
SAME_TIME, SAME_DOCUMENTS = 0.5, 0.25
# A topic is new, or gone, with less than this part of its share on the other side.
LITTLE = 0.1
# Most words joined, documents of a finding, and characters of a quotation.
MOST_WORDS, N_TYPICAL, QUOTED = 400, 5, 140


class Finding(NamedTuple):
    """A change over time, or a difference between groups; `str` writes a sentence about it.

    Attributes
    ----------
    kind : {"grown", "fallen", "new", "gone", "changed", "more", "less"}
        What happened; "changed" means that a topic changed its words. "more" and "less" compare a
        group with other groups.
    topic : int or None
        Row of the topic in the model; None if `came` and `left` are of several topics.
    word : str or None
        The word, if `share` is the share of documents with a word; None if `share` is of a topic.
    words, came, left : tuple of str
        Words of the topic; words that became more frequent; words that became less frequent.
    when : str
        The time of the change, for example "in October 2025". For a group: empty, or "in periods
        with other groups" if the other documents of the group are left out.
    periods : tuple of (int, int)
        First and last period of this time, as indices of `Totals.periods`; (-1, -1) for a group.
    group : str or None
        The compared group; None for a change over time.
    share : float
        Mean share of the topic in the documents of this time or group; for a word, the share of
        these documents with the word.
    interval : tuple of (float, float)
        95 % interval of the share.
    share_before : float
        The share to compare with. For a change over time: the share in all other documents. For a
        topic in a group: the share in other documents of the same periods. For a word in a group:
        the share expected if the group used the word as the other groups do in the same periods.
    n_documents, n_all : int
        `n_all` is the number of documents of this time or group. `n_documents` of them have the
        word or, without a word, the topic as main topic.
    surprise, p : float
        Distance of `share` from `share_before` in standard deviations, and the p-value.
    documents : tuple of int
        Indices of typical documents in the sample of texts, the most typical first.
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
        """Number of documents more or fewer than expected: n_all * abs(share - share_before)."""
        return abs(self.share - self.share_before) * self.n_all

    def __str__(self) -> str:
        return sentence(self)


class Findings(tuple[Finding, ...]):
    """Tuple of `Finding`, the most important first; `print` shows one numbered line for each."""

    def __str__(self) -> str:
        lines = [f"{i}. {finding}" for i, finding in enumerate(self, start=1)]
        return "\n".join(lines) or "Nothing stands out."

    def _repr_html_(self) -> str:
        lines = ""
        for one in self:
            group, told = escape(one.group or ""), escape(str(one))
            # With emphasis on the words of topics, after the name of a group.
            told = sub(r"\*(.+?)\*", r"<em>\1</em>", told.removeprefix(group), count=1)
            lines += f"<li>{group}{told}</li>"
        return f"<ol>{lines}</ol>" if lines else f"<p>{self}</p>"


class Subject(NamedTuple):
    """Words outstanding together in a stretch or group; the first leads."""

    words: tuple[Change, ...]
    topic: int | None  # topic of most of their mass, unless hidden
    p: float  # for all words together


def find(totals: Totals, topics: Topics, sample: Sample, level: float) -> list[Finding]:
    """All findings at a rate of false discoveries, in the order of surprise and documents."""
    cells = totals.n, totals.sums, totals.squares
    # Over time the documents of all groups vary together; between groups those of each group.
    spread = spread_of(*(each.sum(axis=1) for each in cells))
    within = spread_of(*(each.reshape(totals.n.size, *each.shape[2:]) for each in cells))
    data = Data(totals, topics, sample, spread)
    visible = np.array([k for k in range(len(topics.words)) if k not in topics.hidden], np.intp)
    columns = np.flatnonzero(totals.holders.sum(axis=0) >= LEAST_HOLDERS)
    of_all = data._replace(totals=totals.of_all(), spread=within)
    families = (
        changes_in_time(totals.sums.sum(axis=1).T, visible, totals, spread),
        changes_in_time(totals.holders.T, columns, totals, np.ones(totals.holders.shape[1])),
        topics_of_groups(of_all, visible), words_of_groups(of_all),
    )  # fmt: skip
    n_tests = max(sum(map(len, families)), 1)
    parts = sum(part for part, family in zip(PARTS, families, strict=True) if family)
    scales = [len(own) * parts / part for own, part in zip(families, PARTS, strict=True)]
    p = [[one.p * scale for one in own] for own, scale in zip(families, scales, strict=True)]
    # Many differences of groups would let changes by chance pass, so each kind has its own rate.
    changes, words = _chosen(p[0] + p[1], level, 1, *families[:2])
    contrasts, of_groups = _chosen(p[2] + p[3], level, 1, *families[2:])
    if sample.is_of_stream:
        has = (sample.counts > 0).astype(np.float64).tocsc()
        values = sample.shares / spread
        again = [again_in_time(c, values[:, c.place], sample) for c in changes]
        again += [again_in_time(c, has[:, c.place].toarray().ravel(), sample) for c in words]
        changes, words = _chosen(again, level, None, changes, words)
        again = [again_in_groups(c, of_all) for c in of_groups]
        of_groups = _chosen(again, level, None, of_groups)[0]
    else:
        words = _with_weak(words, families[1], n_tests)
        of_groups = _with_weak(of_groups, families[3], n_tests)
    subjects = _subjects(words, families[1], level / n_tests, data)
    along = _ranked(_told(changes, subjects, _of_topic, _of_subject, data), totals.n.sum())
    subjects = _subjects(of_groups, families[3], level / n_tests, of_all)
    # The group with the largest excess of each topic, or deficit.
    by_surprise = sorted(contrasts, key=lambda one: (one.z > 0, abs(one.z)))
    best = list({one.place: one for one in by_surprise}.values())
    told = _told(best, subjects, _of_topic_in_group, _in_group, of_all)
    # Shares of groups are of periods with other documents, so the sign may turn.
    between = _ranked(one for one in told if (one.share > one.share_before) == (one.kind == "more"))
    (along,) = _chosen([one.p * scales[one.word is not None] for one in along], level, 1, along)
    p_of = [one.p * scales[2 + (one.word is not None)] for one in between]
    (between,) = _chosen(p_of, level, 1, between)
    # In turn, so both kinds are seen.
    n = min(len(along), len(between))
    both = [one for pair in zip(along[:n], between[:n], strict=True) for one in pair]
    return [*both, *along[n:], *between[n:]]


def _chosen(p: list[float], level: float, n_tests: int | None, *families: Any) -> list[list[Any]]:
    kept = iter(significant(np.array(p), level, n_tests).tolist())
    return [[one for one in family if next(kept)] for family in families]


def _ranked(found: Iterable[Finding], n: float = np.inf) -> list[Finding]:
    # A change soon after the beginning has few documents before, and moved the few.
    def weight(one: Finding) -> float:
        part = n / one.n_all - 1.0 if 4 * one.n_all > 3 * n else 1.0
        return -abs(one.surprise) * float(np.log1p(one.n_moved * part))

    return sorted(found, key=weight)


def _with_weak(words: list[Change], all_words: list[Change], n_tests: int) -> list[Change]:
    """Significant words, and those of which several may be a finding together."""
    limit = max([BY_CHANCE / n_tests, *(one.p for one in words)])
    return [one for one in all_words if one.p <= limit]


# Subjects


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
        topic = None if topic in data.topics.hidden else topic
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


def _told(
    topics: list[Change], subjects: list[Subject], of_topic: Callable[..., Finding],
    of_subject: Callable[..., Finding], data: Data,
) -> Iterator[Finding]:  # fmt: skip
    """One finding of each outstanding topic, with its words, and of each other subject."""
    waiting = list(subjects)
    for topic in topics:
        own = [s for s in waiting if s.topic == topic.place and _same_time(topic, s.words[0])]
        waiting = [s for s in waiting if s not in own]
        yield of_topic(topic, [word for s in own for word in s.words], data)
    for i, one in enumerate(waiting):
        opposite = next((s for s in waiting[i + 1 :] if _are_opposite(one, s)), None)
        if opposite is not None:
            waiting.remove(opposite)
        yield of_subject(one, opposite, data)


def _are_opposite(one: Subject, other: Subject) -> bool:
    """Whether words of a topic come when other words of the topic go."""
    lead, turned = one.words[0], other.words[0]._replace(z=-other.words[0].z)
    return one.topic is not None and one.topic == other.topic and _same_time(lead, turned)


# Along the time


def _since(change: Change, totals: Totals, is_pair: bool = False) -> Change:
    """The change to the end if lasting; less at the beginning as more since, but for pairs."""
    n = totals.n.sum(axis=1)
    if (change.z > 0 and not is_pair) or n[: change.first].sum() > 0:
        return change._replace(last=len(n) - 1) if _lasts(change, totals) else change
    first = change.last + 1 + int(np.flatnonzero(n[change.last + 1 :])[0])
    return Change(change.place, first, len(n) - 1, -change.z, change.p)


def _turned(words: Iterable[Change]) -> tuple[Change, ...]:
    return tuple(word._replace(z=-word.z) for word in words)


def _of_topic(change: Change, words: list[Change], data: Data) -> Finding:
    k, totals, z = change.place, data.totals, change.z
    change = _since(change, totals)
    if change.z != z:
        words = [*_turned(words)]
    inside = _stretch(change, totals)
    n, sums = totals.n.sum(axis=1), totals.sums[:, :, k].sum(axis=1)
    share, before = _part(sums, n, inside), _part(sums, n, ~inside)
    kept = _kept_in(inside if change.z > 0 else ~inside, data)
    kind = _kind(change, share, before, totals)
    found = _of_share(change, words, data, kind, share, before, inside, kept)
    return found._replace(when=_when(change, totals), periods=(change.first, change.last))


def _of_share(
    change: Change, words: list[Change], data: Data, kind: str, share: float, before: float,
    cells: Any, kept: np.ndarray,
) -> Finding:  # fmt: skip
    """The finding of a share of a topic in cells: periods, or periods of a group."""
    k, totals = change.place, data.totals
    came, left = ([word for word in words if (word.z > 0) == up] for up in (True, False))
    weight = data.sample.shares[:, k] * (1.0 + words_had(came, data) if came else 1.0)
    n, sums, squares = (
        cube[cells].sum() for cube in (totals.n, totals.sums[..., k], totals.squares[..., k])
    )
    spread = spread_each(n, sums[None], squares[None], data.spread[k])
    low, high = interval_of(n, sums / max(n, 1.0), spread)
    return Finding(
        kind, k, None, _label(k, data), _named(came, data), _named(left, data), "", (-1, -1), None,
        share, (float(low[0]), float(high[0])), before,
        round(float(totals.main[cells][..., k].sum())), round(float(n)), change.z, change.p,
        *_quoted(data, kept, weight),
    )  # fmt: skip


def _of_subject(subject: Subject, opposite: Subject | None, data: Data) -> Finding:
    totals = data.totals
    lead = _since(subject.words[0], totals, opposite is not None)
    if lead.z != subject.words[0].z:
        subject = subject._replace(words=_turned(subject.words))
        opposite = opposite and opposite._replace(words=_turned(opposite.words))
    inside = _stretch(lead, totals)
    n, holders = totals.n.sum(axis=1), totals.holders[:, lead.place]
    share, before = _part(holders, n, inside), _part(holders, n, ~inside)
    kind = "changed" if opposite is not None else _kind(lead, share, before, totals)
    found = _of_words(
        subject, opposite, data, kind, before, holders[inside].sum(), n[inside].sum(),
        _kept_in(inside if lead.z > 0 else ~inside, data),
    )  # fmt: skip
    return found._replace(when=_when(lead, totals), periods=(lead.first, lead.last))


def _of_words(
    subject: Subject, opposite: Subject | None, data: Data, kind: str, before: float, x: float,
    n: float, kept: np.ndarray,
) -> Finding:  # fmt: skip
    """The finding of words, the first in x of n documents."""
    lead, k = subject.words[0], subject.topic
    came, left = (subject, opposite) if lead.z > 0 else (opposite, subject)
    came_words, left_words = ([] if one is None else list(one.words) for one in (came, left))
    low, high = interval_of(np.array(n), np.array(x / n), np.array(1.0))
    return Finding(
        kind, k, data.topics.names[lead.place], () if k is None else _label(k, data),
        _named(came_words, data), _named(left_words, data), "", (-1, -1), None, float(x / n),
        (float(low), float(high)), before, round(float(x)), round(float(n)), lead.z,
        min(subject.p, 1.0), *_quoted(data, kept, words_had(subject.words, data)),
    )  # fmt: skip


def _stretch(change: Change, totals: Totals) -> np.ndarray:
    t = np.arange(len(totals.periods))
    return (t >= change.first) & (t <= change.last)


def _part(sums: np.ndarray, n: np.ndarray, chosen: np.ndarray) -> float:
    return float(sums[chosen].sum() / max(n[chosen].sum(), 1.0))


def _lasts(change: Change, totals: Totals) -> bool:
    """Whether a change after the beginning lasts to the end, or to few documents before."""
    n_before, n_after = totals.n[: change.first].sum(), totals.n[change.last + 1 :].sum()
    return bool(n_before > 0 and n_after < 2 * LEAST_OF_PERIOD)


def _kind(change: Change, share: float, before: float, totals: Totals) -> str:
    """Return the kind of a change; only a lasting change is new or gone."""
    lasts = _lasts(change, totals)
    if change.z > 0:
        return "new" if lasts and before < LITTLE * share else "grown"
    return "gone" if lasts and share < LITTLE * before else "fallen"


# Between groups


def _of_topic_in_group(change: Change, words: list[Change], data: Data) -> Finding:
    g, totals = change.first, data.totals
    sums, n = totals.sums[:, :, change.place], totals.n[:, g]
    n_others = totals.n.sum(axis=1) - n
    # Only for periods with both; all others have their share when the group had documents.
    both = (n > 0) & (n_others > 0)
    of_others = (sums.sum(axis=1) - sums[:, g])[both] / n_others[both]
    share, others = _part(sums[:, g], n, both), _part(of_others * n[both], n[both], both[both])
    kind, kept = "more" if change.z > 0 else "less", (data.sample.group == g) == (change.z > 0)
    found = _of_share(change, words, data, kind, share, others, (both, g), kept)
    when = "" if (n_others[n > 0] > 0).all() else "in periods with other groups"
    return found._replace(group=totals.groups[g], when=when)


def _in_group(subject: Subject, opposite: Subject | None, data: Data) -> Finding:
    """The finding of words in a group without a finding of their topic there."""
    lead, totals = subject.words[0], data.totals
    g, n, holders = lead.first, totals.n.sum(axis=1), totals.holders[:, lead.place]
    n_own, x = totals.n[:, g], totals.of_groups[g, lead.place]
    own, *_ = in_sample(lead, data)
    both, left = (n_own > 0) & (n > n_own), holders - own * (x / max(own.sum(), 1.0))
    # The number of other documents with the word is known. The numbers by period are estimated.
    left = np.clip(left, 0.0, n - n_own)
    rest = max(holders.sum() - x - left[~both].sum(), 0.0) / max(left[both].sum(), 1e-300)
    of_others = np.minimum(left[both] * rest / (n - n_own)[both], 1.0)
    others = _part(of_others * n_own[both], n_own[both], both[both])
    kind, kept = "more" if lead.z > 0 else "less", (data.sample.group == g) == (lead.z > 0)
    found = _of_words(subject, opposite, data, kind, others, x, n_own.sum(), kept)
    return found._replace(group=totals.groups[g])


# Words


def _label(k: int, data: Data) -> tuple[str, ...]:
    return tuple(data.topics.words[k][:N_LABEL])


def _named(words: list[Change], data: Data) -> tuple[str, ...]:
    return tuple(data.topics.names[word.place] for word in words[:N_WORDS])


def _kept_in(periods: np.ndarray, data: Data) -> np.ndarray:
    # Documents of unknown time have period -1, the added last entry.
    return np.append(periods, False)[data.sample.period]


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


def _when(change: Change, totals: Totals) -> str:
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
        subject = topic if one.word is None else came if one.kind == "more" else left
        told = f"{subject}* {one.when}".rstrip()
        text = f"{one.group} has {one.kind} of *{told}: {share}, {other}."
    elif one.kind == "changed":
        words = f"{came} came, {left} went"
        text = f"*{topic}* has changed its words {one.when}: {words}; {share}, {other}."
    else:
        subject = topic if one.word is None else came or left
        text = f"*{subject}* {moved} {one.when}: {share}, {other}."
    if one.word is None or one.kind == "less":
        text += f" More frequent: {came}." if came else ""
    if one.word is None or one.kind == "more":
        text += f" Less frequent: {left}." if left else ""
    return f"{text} For example: “{one.quote}”" if one.quote else text
