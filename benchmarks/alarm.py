# SPDX-License-Identifier: BSD-3-Clause
"""Does the alarm ring when a stream changes, and only then?

    python -m benchmarks.alarm [--corpora NAME ...] [--kinds KIND ...] [--sizes N ...]
        [--topics K ...] [--seeds 0 1 ...] [--shares S ...] [--budget SECONDS] [--peers]
        [--results FILE] [--table FILE]

Each case is a stream that `minibatches` makes of a corpus and a seed, and a `DriftMonitor` with
its defaults and GibbsOnlineEM go through it. A row of the file is one case; those that it has are
passed over, so that a run can be stopped and goes on. `--table` writes tables of the file.

* project: subjects of commits in order of time, eight minibatches of one project, three of another;
* injected: a class that comes with the ninth minibatch, as a share of it; documents are shuffled;
* dies: a class that has a share of the first eight minibatches, and none of the others;
* splits: a class whose share is halved after eight, for the sake of a new one;
* nothing: shuffled documents of one corpus;
* moves: documents in order of time, of corpora that do not change at once.

A hit is an alarm at one of the first two changed minibatches; a false alarm any alarm before, or in
a stream without a change, among the minibatches at which it could ring, from the sixth on. With
`--peers`: ADWIN of river on the held-out scores of the documents, in nats per token, and
`SVBHPP(n_topics)` where it keeps less than half of a topic. Settings were chosen on newsgroups and
commit_subjects.
"""

import argparse
import time
import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product, takewhile
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpora
from benchmarks.alarm_tables import tables
from benchmarks.results import add, command, parser_of, read
from streamtopics.streams import DriftMonitor
from tests.plain import SVBHPP, GibbsOnlineEM

BEFORE, AFTER, LONG = 8, 3, 20
LABELLED = ("newsgroups", "commit_subjects", "reuters21578", "search_snippets")
SHARES = (0.2, 0.1, 0.05, 0.02)
SIZES = {
    "newsgroups": (500, 1500),
    "commit_subjects": (300, 1500, 5000),
    "reuters21578": (300, 1500),
    "search_snippets": (300, 1000),
    "health_tweets": (300, 1500, 5000),
    "nips_abstracts": (300,),
}
FIGURES = (
    "what", "delay", "exact_delay",
    "n_tests", "n_false", "n_exact_false", "adwin_delay", "adwin_n_false", "hpp_delay",
    "hpp_n_false",
)  # fmt: skip


class Case(NamedTuple):
    """A stream and a model."""

    kind: str
    corpus: str
    share: float
    size: int
    n_topics: int
    seed: int


class Corpus(NamedTuple):
    """Counts of documents, in order of time where there is one, and their labels."""

    X: sparse.csr_matrix
    labels: np.ndarray


class Stream(NamedTuple):
    """Rows of minibatches, the number of the first that is changed, or None, and what changes."""

    X: sparse.csr_matrix
    rows: list[np.ndarray]
    change: int | None
    what: str

    @property
    def batches(self) -> list[sparse.csr_matrix]:
        return [self.X[rows] for rows in self.rows]


@cache
def corpus(name: str) -> Corpus:
    """Counts of a corpus."""
    rows = corpora.rows(name)
    if "time" in rows[0]:
        rows.sort(key=lambda row: row["time"])
    vectorizer = CountVectorizer(
        stop_words="english", token_pattern=r"\b[^\W\d_]{2,}\b", min_df=3, dtype=np.float32
    )
    X = vectorizer.fit_transform(row["text"] for row in rows).tocsr()
    return Corpus(X, np.array([str(row["label"]) for row in rows]))


def minibatches(case: Case) -> Stream | None:
    """The stream of a case; None if the corpus has too few documents for it."""
    X, labels = corpus(case.corpus)
    rng = np.random.default_rng(
        [case.seed, zlib.crc32(f"{case.kind} {case.corpus} {case.size} {case.share}".encode())]
    )
    n, size, share = X.shape[0], case.size, case.share
    if case.kind in ("nothing", "moves"):
        length = min(LONG, n // size)
        order = rng.permutation(n)[: length * size]
        if case.kind == "moves":
            start = rng.integers(n - length * size + 1)
            order = np.arange(start, start + length * size)
        return Stream(X, np.split(order, length), None, "")
    if case.kind == "project":
        return project(X, labels, size, rng)
    n_after = {"injected": AFTER * share, "dies": 0.0, "splits": AFTER * share / 2}[case.kind]
    n_before = {"injected": 0.0, "dies": BEFORE * share, "splits": BEFORE * share}[case.kind]
    most = round(size * (n_before + (n_after if case.kind == "splits" else 0)))
    names, counts = np.unique(labels, return_counts=True)
    # Classes with enough documents, which are not all that there is.
    fit = names[(counts >= max(round(size * n_after), most)) & (names != "") & (counts < n / 2)]
    if len(fit) < 2:
        return None
    first, second = rng.choice(fit, 2, replace=False)
    return mixed(case, X, labels, (first, second), rng)


def project(
    X: sparse.csr_matrix, labels: np.ndarray, size: int, rng: np.random.Generator
) -> Stream | None:
    """One project and then another."""
    names, counts = np.unique(labels, return_counts=True)
    firsts = names[counts >= BEFORE * size]
    if len(firsts) == 0:
        return None
    first = rng.choice(firsts)
    second = rng.choice(names[(counts >= AFTER * size) & (names != first)])
    rows = list[np.ndarray]()
    for name, length in ((first, BEFORE), (second, AFTER)):
        own = np.flatnonzero(labels == name)
        start = rng.integers(len(own) - length * size + 1)
        rows += np.split(own[start : start + length * size], length)
    return Stream(X, rows, BEFORE, f"{first} -> {second}")


def mixed(
    case: Case,
    X: sparse.csr_matrix,
    labels: np.ndarray,
    classes: tuple[str, str],
    rng: np.random.Generator,
) -> Stream | None:
    """Shuffled minibatches in which classes have shares before and after a change."""
    first, second = classes
    shares = {
        "injected": [(0.0, case.share), (0.0, 0.0)],
        "dies": [(case.share, 0.0), (0.0, 0.0)],
        "splits": [(case.share, case.share / 2), (0.0, case.share / 2)],
    }[case.kind]
    own = [rng.permutation(np.flatnonzero(labels == name)) for name in classes]
    given = [first] if case.kind != "splits" else [first, second]
    others = rng.permutation(np.flatnonzero(~np.isin(labels, given)))
    taken, used, batches = [0, 0], 0, list[np.ndarray]()
    for t in range(BEFORE + AFTER):
        rows = list[np.ndarray]()
        for j in range(len(given)):
            n = round(case.size * shares[j][t >= BEFORE])
            rows.append(own[j][taken[j] : taken[j] + n])
            taken[j] += n
        n = case.size - sum(map(len, rows))
        rows.append(others[used : used + n])
        used += n
        batches.append(rng.permutation(np.concatenate(rows)))
    if used > len(others):
        return None
    return Stream(X, batches, BEFORE, " -> ".join(given) if len(given) > 1 else first)


def delay(rung: Iterable[int], change: int | None) -> int | str:
    """Minibatches after the change of the first alarm among the first two; empty if none."""
    hits = [t - change for t in rung if change is not None and 0 <= t - change < 2]
    return min(hits) if hits else ""


def false_ones(rung: Iterable[int], stream: Stream) -> int:
    """Alarms at which there was no change."""
    end = len(stream.batches) if stream.change is None else stream.change
    return sum(t < end for t in rung)


def run(case: Case, stream: Stream, *, peers: bool) -> dict[str, Any]:
    """Go through a stream."""
    model, monitor = GibbsOnlineEM(case.n_topics, random_state=case.seed), DriftMonitor()
    detector, adwin = adwin_detector() if peers else None, []
    for t, X in enumerate(stream.batches):
        if detector is not None and t > 0 and adwin_rings(detector, model, X):
            adwin.append(t)
        monitor.learn(model, X)
    tests = [test for test in monitor.tests if not np.isnan(test.p_chart)]
    exact = [test.batch - 1 for test in tests if test.p_exact < monitor.alpha]
    rung = [test.batch - 1 for test in tests if test.alarm]
    end = len(stream.batches) if stream.change is None else stream.change
    row: dict[str, Any] = {
        "what": stream.what,
        "delay": delay(rung, stream.change),
        "exact_delay": delay(exact, stream.change),
        "n_tests": sum(test.batch - 1 < end for test in tests),
        "n_false": false_ones(rung, stream),
        "n_exact_false": false_ones(exact, stream),
    }
    if detector is not None:
        late = [t for t in adwin if t >= 5]
        row |= {
            "adwin_delay": delay(late, stream.change),
            "adwin_n_false": false_ones(late, stream),
        }
    if peers:
        row |= hpp(case, stream)
    return row


def adwin_detector() -> Any:
    """ADWIN of river, or None where it is not installed."""
    try:
        from river.drift import ADWIN
    except ImportError:
        return None
    return ADWIN()


def adwin_rings(detector: Any, model: Any, X: sparse.csr_matrix) -> bool:
    """Whether ADWIN rings at some document of a minibatch."""
    rings = False
    for score in model.score_samples(X):
        if np.isfinite(score):
            detector.update(float(score))
            rings |= detector.drift_detected
    return rings


def hpp(case: Case, stream: Stream) -> dict[str, Any]:
    """Where SVBHPP keeps less than half of a topic."""
    model = SVBHPP(case.n_topics, random_state=case.seed)
    for t, X in enumerate(stream.batches):
        model.partial_fit(X, time=t)
    late = [r.time for r in model.drift_ if r.retention.min() < 0.5 and r.time >= 5]
    return {"hpp_delay": delay(late, stream.change), "hpp_n_false": false_ones(late, stream)}


def cases(options: argparse.Namespace) -> Iterator[Case]:
    """All cases, small models first."""
    shares = {"injected": SHARES, "dies": (0.2, 0.1), "splits": (0.2, 0.1)}
    for seed, n_topics, kind in product(options.seeds, options.topics, options.kinds):
        for name in options.corpora:
            known = {
                "project": name == "commit_subjects",
                "moves": name in ("health_tweets", "nips_abstracts"),
            }.get(kind, name in LABELLED)
            if known:
                sizes = [size for size in SIZES[name] if size in options.sizes]
                for size, share in product(sizes, shares.get(kind, (1.0,))):
                    if share in options.shares:
                        yield Case(kind, name, share, size, n_topics, seed)


def main() -> None:
    """Run cases, or write the tables."""
    parser = parser_of(__doc__, __file__)
    kinds = ["project", "injected", "dies", "splits", "nothing", "moves"]
    parser.add_argument("--corpora", nargs="+", default=list(SIZES), choices=list(SIZES))
    parser.add_argument("--kinds", nargs="+", default=kinds, choices=kinds)
    parser.add_argument("--sizes", nargs="+", type=int, default=[300, 500, 1000, 1500, 5000])
    parser.add_argument("--topics", nargs="+", type=int, default=[5, 20, 100])
    parser.add_argument("--budget", type=float, default=float("inf"), help="CPU seconds")
    parser.add_argument("--shares", nargs="+", type=float, default=[1.0, *SHARES])
    parser.add_argument("--peers", action="store_true")
    options = parser.parse_args()

    def measured(*key: Any) -> dict[str, Any] | None:
        stream = minibatches(case := Case(*key))
        return None if stream is None else run(case, stream, peers=options.peers)

    left = takewhile(lambda _: time.process_time() < options.budget, cases(options))
    command(
        options,
        lambda results: "\n".join(tables(read(results))),
        lambda: add(options.results, Case._fields, FIGURES, left, measured),
    )


if __name__ == "__main__":
    main()
