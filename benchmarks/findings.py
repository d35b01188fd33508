# SPDX-License-Identifier: BSD-3-Clause
"""Whether the findings of a stream are what was planted, and how often they are of nothing.

    python -m benchmarks.findings [-n 50] [--topics 20] [--stream 1000] [--still]

Each event of `benchmarks.planted` is to stand among the first five findings of its corpus. A
finding is of an event if it goes the right way, at the right time or in the right group, and half
of its documents, or two of its words, are the event's. In a copy with shuffled times and groups
every finding is of nothing.
"""

import argparse
from collections import Counter

import numpy as np

from benchmarks.planted import Event, Planted, events, plant, shuffled
from streamtopics import TopicStream
from streamtopics.story import Finding

N_SHOWN = 5
WAYS = {
    "burst": {"grown", "new"}, "birth": {"grown", "new"}, "death": {"fallen", "gone"},
    "words": {"changed", "grown", "new"}, "group": {"more"},
}  # fmt: skip


def learnt(planted: Planted, n_topics: int, batch: int) -> TopicStream:
    """What is learnt of the documents, at once or by minibatches."""
    stream, n = TopicStream(n_topics), len(planted.texts)
    if not batch:
        return stream.fit(planted.texts, times=planted.times, groups=planted.groups)
    for start in range(0, n, batch):
        own = slice(start, start + batch)
        stream.partial_fit(planted.texts[own], times=planted.times[own], groups=planted.groups[own])
    return stream


def is_of(finding: Finding, event: Event, stream: TopicStream) -> bool:
    """Whether a finding is of an event."""
    if finding.kind not in WAYS[event.kind] or finding.group != event.group:
        return False
    if event.when is not None:
        periods, (first, last) = stream.totals().periods, finding.periods
        starts = np.array([period.start for period in periods])
        end = starts[last + 1] if last + 1 < len(starts) else starts[-1] + np.diff(starts[-2:])[0]
        begun, over = (np.datetime64(day, "D") + i for i, day in enumerate(event.when))
        if event.kind == "death":
            # What is found is the time after it.
            begun, over = over, np.datetime64(stream.documents[-1].time[:10], "D")
        both = min(end, over) - max(starts[first], begun)
        either = max(end, over) - min(starts[first], begun)
        if both < 0.5 * either:
            return False
    words = {*finding.came, *finding.left, *finding.words} & {*event.words}
    rows, kept = {*event.rows.tolist()}, stream.documents
    own = [kept[place].id in rows for place in finding.documents]
    return len(words) >= 2 or (bool(own) and np.mean(own) >= 0.5)


def main() -> None:
    """Print where each event stands, and a table by kind."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", type=int, default=50)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--stream", type=int, default=0, help="documents in a minibatch (corpora)")
    parser.add_argument("--still", action="store_true", help="nothing else happens in the corpora")
    parser.add_argument("--verbose", action="store_true", help="the first findings of what failed")
    options = parser.parse_args()
    seen, hits, false = Counter[str](), Counter[str](), 0
    for corpus, kind, seed in events(options.n):
        planted = plant(corpus, kind, seed, still=options.still)
        stream = learnt(planted, options.topics, options.stream)
        found = stream.findings(None)
        places = [i for i, one in enumerate(found, 1) if is_of(one, planted.event, stream)]
        n_false = len(learnt(shuffled(planted, seed), options.topics, options.stream).findings(5))
        place, false = places[0] if places else 0, false + n_false
        seen[kind] += 1
        hits[kind] += 0 < place <= N_SHOWN
        print(f"{corpus:16s}{seed:3d} {kind:6s} place {place:3d} of {len(found):3d}, shuffled "
              f"{n_false}", flush=True)  # fmt: skip
        if options.verbose and not 0 < place <= N_SHOWN:
            print(*(f"    {one}" for one in found[:N_SHOWN]), planted.event.words, sep="\n")
    for kind in seen:
        print(f"{kind:8s}{hits[kind]} of {seen[kind]} among the first {N_SHOWN}")
    print(f"{'all':8s}{hits.total()} of {seen.total()}; {false} findings of shuffled copies")


if __name__ == "__main__":
    main()
