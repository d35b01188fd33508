# SPDX-License-Identifier: BSD-3-Clause
"""Events planted in real corpora by time, to check that what is found is what happened.

    STREAMTOPICS_DATA=... python -m benchmarks.planted [-n 50]

prints the events that `events` names. Documents of a foreign subject, a class of another corpus,
are mixed into a sample of a corpus, which keeps its times and its own drift:

* burst: the subject is there in a window of one to three periods only;
* birth: it comes at some time and stays; death: it is there from the beginning until some time;
* words: it is there throughout, and a few of its words are replaced by others from some time on;
* group: it is there throughout, and falls more often into one group than into others.

All documents have a group, A to E, at random. Windows begin and end with periods.
"""

import argparse
import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import cache

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from benchmarks import corpora

KINDS = ("burst", "birth", "death", "words", "group")
# Shares of the subject, drawn evenly. Of a month 2 % is some ten documents here, and 8 % is news
# that nobody misses. A birth or a death has more documents to be seen by. A subject of which a part
# changes has to be large enough to be one topic of twenty.
SHARES = {
    "burst": (0.02, 0.08), "birth": (0.015, 0.05), "death": (0.015, 0.05), "words": (0.03, 0.06),
    "group": (0.03, 0.06),
}  # fmt: skip
# Fewer documents are not a subject, whatever their share.
LEAST_DOCUMENTS, MOST_PERIODS = 20, 3
# Share of the documents before a birth, a death or a change of words: there has to be enough
# on both sides to compare.
MOMENTS = (0.3, 0.7)
# How many of the subject's words are replaced: a topic hardly changes by one or two. The words that
# come are by their ranks known to most readers, and in two documents at most.
SWAPPED, RANKS, MOST_OF_A_RARE_WORD = (3, 5), (3000, 12_000), 2
# Shares of the groups, in random order: real groups are of unequal size. The group of the event is
# one that can have six times its share.
GROUPS = {"A": 0.3, "B": 0.25, "C": 0.2, "D": 0.14, "E": 0.11}
TIMES_AS_OFTEN, LARGEST_GROUP = (3.0, 6.0), 0.15
# A document should be told by its subject, not by its length.
MOST_WORDS, N_WORDS = 200, 8
WORD = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True)
class Source:
    """A sample of a corpus, within dates that have many documents a period, and its subjects."""

    size: int
    first: str
    last: str
    period: str
    foreign: str
    subjects: tuple[str, ...]


SOURCES = {
    # Tweets on health, and snippets of all subjects but health, one of which has few.
    "health_tweets": Source(
        12_000, "2013-04-01", "2015-03-31", "month", "search_snippets",
        ("1", "2", "3", "4", "7", "8"),
    ),
    # Subjects of commits, the shortest texts, and definitions of things.
    "commit_subjects": Source(
        12_000, "2012-01-01", "2014-12-31", "month", "wordnet_glosses",
        ("noun.animal", "noun.plant", "noun.body", "noun.substance"),
    ),
    # Newswire, long texts with gaps in time, and newsgroups.
    "reuters21578": Source(
        8000, "1987-02-26", "1987-10-20", "week", "newsgroups",
        ("rec.sport.hockey", "sci.space", "sci.med", "rec.autos", "soc.religion.christian",
         "comp.graphics", "sci.crypt", "talk.politics.mideast"),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Event:
    """What was planted, when and in which documents.

    Rows are those of the subject's documents; of "words" those in which a word was replaced, of
    "group" those in the group. Words stand for the subject; of "words" they are those that came.
    """

    kind: str
    rows: np.ndarray
    words: tuple[str, ...]
    # First and last date; of "group" None.
    when: tuple[date, date] | None
    group: str | None
    # Of "words": what went, and what came in its place.
    swapped: dict[str, str]


@dataclass(frozen=True)
class Planted:
    """Documents in order of time, with their times and groups, and the event among them."""

    texts: list[str]
    times: list[date]
    groups: list[str]
    event: Event


@dataclass(frozen=True)
class Material:
    """What an event is made of: documents with times, those of a subject and of others, words."""

    texts: list[str]
    times: list[date]
    period: str
    subject: list[str]
    others: list[str]
    rare: list[str]


def plant(corpus: str, kind: str, seed: int, *, still: bool = False) -> Planted:
    """Plant an event in one of the `SOURCES`; `still` if nothing else is to happen in it."""
    rng = np.random.default_rng([seed, zlib.crc32(f"{corpus} {kind}".encode())])
    given = material(corpus, rng)
    if still:
        order = np.random.default_rng(seed).permutation(len(given.texts))
        given = replace(given, texts=[given.texts[i] for i in order])
    return planted_in(given, kind, rng)


def events(n: int = 50) -> Iterator[tuple[str, str, int]]:
    """Yield corpus, kind and seed of so many events, corpora and kinds in turns."""
    for i in range(n):
        yield tuple(SOURCES)[i % len(SOURCES)], KINDS[i % len(KINDS)], i


def shuffled(planted: Planted, seed: int) -> Planted:
    """Permute times and groups over the documents, and put these in order of time again."""
    rng, n = np.random.default_rng(seed), len(planted.texts)
    order = rng.permutation(n)
    return Planted(
        [planted.texts[i] for i in order],
        planted.times,
        [planted.groups[i] for i in rng.permutation(n)],
        replace(planted.event, rows=np.flatnonzero(np.isin(order, planted.event.rows))),
    )


def planted_in(given: Material, kind: str, rng: np.random.Generator) -> Planted:
    """Plant an event in documents that are in order of time."""
    days = np.array(given.times, dtype="datetime64[D]")
    when = None if kind == "group" else window(kind, days, given.period, rng)
    first, last = days[[0, -1]] if when is None or kind == "words" else when
    places = days[(days >= first) & (days <= last)]
    share = rng.uniform(*SHARES[kind])
    n = max(round(share / (1 - share) * len(places)), LEAST_DOCUMENTS)
    if n > len(given.subject):
        raise ValueError(f"the subject has {len(given.subject)} documents, and {n} are needed.")
    subject = [given.subject[i] for i in rng.permutation(len(given.subject))[:n]]
    words, swapped = telling(subject, [*given.texts, *given.others]), dict[str, str]()
    new_days, carries = rng.choice(places, n), np.ones(n, dtype=bool)
    if kind == "words":
        swapped = swaps(words, subject, given, rng)
        words = tuple(swapped.values())
        later = [replaced(text, swapped) for text in subject]
        since = new_days >= when[0]
        carries = since & np.array([a != b for a, b in zip(subject, later, strict=True)])
        subject = [b if s else a for a, b, s in zip(subject, later, since, strict=True)]
    groups, own, group = drawn_groups(len(days), n, kind == "group", rng)
    if group is not None:
        carries = own == group
    texts, times = [*given.texts, *subject], np.concatenate([days, new_days])
    # By day, and within a day in random order.
    order = np.lexsort((rng.random(len(times)), times))
    rows = np.flatnonzero(np.concatenate([np.zeros(len(days), dtype=bool), carries])[order])
    dates = None if when is None else (when[0].item(), when[1].item())
    return Planted(
        [texts[i] for i in order],
        times[order].tolist(),
        np.concatenate([groups, own])[order].tolist(),
        Event(kind, rows, words, dates, group, swapped),
    )


def window(
    kind: str, days: np.ndarray, period: str, rng: np.random.Generator
) -> tuple[np.datetime64, np.datetime64]:
    """Draw the first and the last day of an event."""
    # Months, or weeks from Monday to Sunday: the first of January 1970 was a Thursday.
    is_month = period == "month"
    number = days.astype("M8[M]").astype(int) if is_month else (days.astype(int) + 3) // 7
    counts = np.bincount(number - number[0])
    if kind == "burst":
        length = rng.integers(1, MOST_PERIODS + 1)
        sums = np.convolve(counts, np.ones(length), "valid")
        # So many that the least documents are not more than the largest share.
        start = rng.choice(np.flatnonzero(sums >= LEAST_DOCUMENTS / SHARES[kind][1]))
        stop = start + length
    else:
        before = (np.cumsum(counts) - counts) / len(days)
        at = rng.choice(np.flatnonzero((before >= MOMENTS[0]) & (before <= MOMENTS[1])))
        start, stop = (0, at) if kind == "death" else (at, len(counts))
    edges = np.array([start, stop]) + number[0]
    edges = edges.astype("M8[M]").astype("M8[D]") if is_month else (7 * edges - 3).astype("M8[D]")
    return max(edges[0], days[0]), min(edges[1] - 1, days[-1])


def drawn_groups(
    n: int, n_own: int, differs: bool, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, str | None]:
    """Draw groups of documents and of those of the subject, which may fall into one more often."""
    names, sizes = np.array(list(GROUPS)), rng.permutation(list(GROUPS.values()))
    odds, group = sizes, None
    if differs:
        at = rng.choice(np.flatnonzero(sizes <= LARGEST_GROUP))
        inside, group = rng.uniform(*TIMES_AS_OFTEN) * sizes[at], str(names[at])
        odds = sizes * (1 - inside) / (1 - sizes[at])
        odds[at] = inside
    return rng.choice(names, n, p=sizes), rng.choice(names, n_own, p=odds), group


# Words


def frequencies(texts: Sequence[str]) -> Counter[str]:
    """In how many texts each word is."""
    return Counter(word for text in texts for word in set(WORD.findall(text.lower())))


def telling(subject: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    """Words that are frequent in documents of a subject, and less so in others."""
    inside, outside = frequencies(subject), frequencies(others)

    def weight(word: str) -> float:
        share, elsewhere = inside[word] / len(subject), (outside[word] + 1) / (len(others) + 1)
        return share * np.log(share / elsewhere)

    known = sorted(inside.keys() - ENGLISH_STOP_WORDS)
    return tuple(sorted(known, key=weight, reverse=True)[:N_WORDS])


def swaps(
    words: Sequence[str], subject: Sequence[str], given: Material, rng: np.random.Generator
) -> dict[str, str]:
    """Draw a rare word for each of some words, the most frequent ones in the subject."""
    inside, outside = frequencies(subject), frequencies(given.texts)
    coming = [w for w in given.rare if inside[w] + outside[w] <= MOST_OF_A_RARE_WORD]
    n = rng.integers(SWAPPED[0], SWAPPED[1] + 1)
    going = sorted(words, key=lambda word: inside[word], reverse=True)[:n]
    return dict(zip(going, rng.choice(coming, n, replace=False).tolist(), strict=True))


def replaced(text: str, swapped: dict[str, str]) -> str:
    """The text with other words."""
    return re.sub(r"[^\W\d_]+", lambda found: swapped.get(found[0].lower(), found[0]), text)


# Corpora


def material(corpus: str, rng: np.random.Generator) -> Material:
    """Draw documents of a corpus, and a foreign subject."""
    source = SOURCES[corpus]
    dated = [row for row in dated_texts(corpus) if source.first <= str(row[0]) <= source.last]
    sample = [dated[i] for i in np.sort(rng.permutation(len(dated))[: source.size])]
    foreign = {name: of_class(source.foreign, name) for name in source.subjects}
    own = foreign.pop(rng.choice(source.subjects))
    others = [text for texts_of_class in foreign.values() for text in texts_of_class]
    texts, times = [text for _, text in sample], [day for day, _ in sample]
    return Material(texts, times, source.period, own, others, words_by_rank())


@cache
def dated_texts(corpus: str) -> list[tuple[date, str]]:
    """Dates and texts of a corpus, in order of time."""
    rows = [(row["time"], row["text"]) for row in corpora.rows(corpus)]
    if isinstance(rows[0][0], int):
        return [(datetime.fromtimestamp(time, UTC).date(), text) for time, text in rows]
    return [(date.fromisoformat(time[:10]), text) for time, text in rows]


@cache
def of_class(corpus: str, label: str) -> list[str]:
    """Beginnings of the texts of a class."""
    texts = [row["text"].split() for row in corpora.rows(corpus) if row["label"] == label]
    return [" ".join(words[:MOST_WORDS]) for words in texts if words]


@cache
def words_by_rank() -> list[str]:
    """English words that are neither frequent nor outlandish."""
    with gzip.open(corpora.folder() / "word_ranks.txt.gz", "rt", encoding="utf-8") as lines:
        ranked = [line.split() for line in lines]
    rare = [words[1] for words in ranked if RANKS[0] <= int(words[0]) <= RANKS[1]]
    english = frequencies([row["text"] for row in corpora.rows("wordnet_glosses")])
    return [word for word in rare if len(word) > 4 and word in english]


def main() -> None:
    """Print the events."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", type=int, default=50)
    for corpus, kind, seed in events(parser.parse_args().n):
        planted = plant(corpus, kind, seed)
        event, n = planted.event, f"{len(planted.event.rows)} of {len(planted.texts):,}"
        when = "{} to {}".format(*event.when) if event.when else f"group {event.group}"
        words = [f"{old} -> {new}" for old, new in event.swapped.items()] or event.words
        print(f"{corpus:16s}{seed:3d} {kind:6s}{n:>14s}  {when:25s}{', '.join(words)}", flush=True)


if __name__ == "__main__":
    main()
