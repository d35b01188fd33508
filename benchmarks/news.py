# SPDX-License-Identifier: BSD-3-Clause
"""Does an alarm name the new subject, and nothing where there is none?

    python -m benchmarks.news [CORPUS:SIZE ...] [--seeds 0 1 ...] [--results FILE]
    python -m benchmarks.news --table

Streams are those of `benchmarks.alarm`, in minibatches of SIZE: "injected", where a class comes
with the ninth minibatch as a share of it, and "nothing", shuffled documents. Models are
StreamingLDA(20) and StreamingMixture(20) with their defaults under a DriftMonitor with its own.

An alarm at one of the first two changed minibatches names the class if most documents of its first
new subject are of the class, and at least half of the subject's words are twice as frequent
among the documents of the class as among the others of the corpus. `wrong` counts the new subjects
of which most documents are of other classes. In the table, precision is the share of
the subject's documents that are of the class, recall the share of the class that is in it, and
"nothing" has the new subjects that shuffled streams were given. The settings were chosen on
newsgroups and titles of m10 and dblp.
"""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.alarm import Case, Stream, corpus, minibatches
from benchmarks.results import add, command, mean, of, parser_of, read
from streamtopics import StreamingLDA, StreamingMixture
from streamtopics.streams import DriftMonitor, NewTopic

CHOOSE = (
    "newsgroups:500", "newsgroups:1500", "m10_titles:300", "dblp_titles:500", "dblp_titles:1500",
)  # fmt: skip
CONFIRM = (
    "reuters21578:300", "reuters21578:1500", "search_snippets:300", "search_snippets:1000",
    "commit_subjects:1500",
)  # fmt: skip
STREAMS = (("injected", 0.2), ("injected", 0.1), ("nothing", 1.0))
MODELS = {"StreamingLDA": StreamingLDA, "StreamingMixture": StreamingMixture}
# Topics, and seeds of streams that do not change.
N_TOPICS, N_QUIET = 20, 4
KEY = ("kind", "share", "corpus", "size", "model", "seed")
COUNTED, TESTED = ("rang", "named", "wrong"), ("n_tests", "n_alarms")
FIGURES = ("rang", "named", "wrong", "precision", "recall", "excess", "n_tests", "n_alarms")


def measured(case: Case, stream: Stream, model: Any) -> dict[str, Any]:
    """Go through a stream, and say what was named."""
    monitor = DriftMonitor()
    for X in stream.batches:
        monitor.learn(model, X)
    if stream.change is None:
        wrong = sum(len(alarm.new) for alarm in monitor.alarms)
        n_tests = sum(not np.isnan(test.p_chart) for test in monitor.tests)
        return {"wrong": wrong, "n_tests": n_tests, "n_alarms": len(monitor.alarms)}
    X, labels = corpus(case.corpus)
    found: dict[str, Any] = {"rang": 0, "named": 0, "wrong": 0}
    for alarm in monitor.alarms:
        if not 0 <= alarm.batch - 1 - stream.change < 2:
            continue
        of_class = labels[stream.rows[alarm.batch - 1]] == stream.what
        right = [of_class[list(new.rows)].mean() > 0.5 for new in alarm.new]
        found["rang"] = 1
        found["wrong"] += len(right) - sum(right)
        if right and not found["named"]:
            first = alarm.new[0]
            own = of_class[list(first.rows)]
            found |= {
                "named": int(right[0] and told(first, X, labels == stream.what)),
                "precision": f"{own.mean():.3f}",
                "recall": f"{own.sum() / of_class.sum():.3f}",
                "excess": f"{first.share:.3f}",
            }
    return found


def told(new: NewTopic, X: Any, of_class: np.ndarray) -> bool:
    """Whether half of the words are twice as frequent in documents of the class."""
    columns = [int(word) for word in new.words]
    inside, outside = (
        np.asarray((X[rows][:, columns] > 0).mean(axis=0)).ravel() for rows in (of_class, ~of_class)
    )
    return bool(np.mean(inside > 2 * outside) >= 0.5)


def run(places: list[str], seeds: list[int], results: Path) -> None:
    """Run the cases that the file lacks."""
    cells = [
        (kind, share, *place.split(":"), model, seed)
        for place, seed, (kind, share), model in product(places, seeds, STREAMS, MODELS)
        if kind != "nothing" or seed < N_QUIET
    ]

    def measure(kind: str, share: float, name: str, size: str, model: str, seed: int) -> Any:
        case = Case(kind, name, share, int(size), N_TOPICS, seed)
        if (stream := minibatches(case)) is None:
            return None
        return measured(case, stream, MODELS[model](N_TOPICS, random_state=seed))

    add(results, KEY, FIGURES, cells, measure)


def table(results: Path) -> str:
    """Rows of CSV: how many rang, how many were named, and what was named without a change."""
    rows = read(results)
    lines = ["corpus,size,model,share,streams,rang,named,wrong,precision,recall,excess"]
    places = [place.split(":") for place in (*CHOOSE, *CONFIRM)]
    for (name, size), (kind, share), model in product(places, STREAMS, MODELS):
        own = of(rows, kind=kind, share=share, corpus=name, size=size, model=model)
        if not own:
            continue
        sums = {field: sum(int(row[field] or 0) for row in own) for field in (*COUNTED, *TESTED)}
        if kind == "nothing":
            n_tests, rang = (sums[field] for field in TESTED)
            lines.append(
                f"{name},{size},{model},nothing,{n_tests} tests,{rang},,{sums['wrong']},,,"
            )
            continue
        cells = [str(sums[field]) for field in COUNTED]
        cells += [mean(own, field, 2) or "nan" for field in ("precision", "recall", "excess")]
        lines.append(",".join((name, size, model, str(share), str(len(own)), *cells)))
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, and print the table."""
    options = parser_of(
        __doc__, __file__, places=(*CHOOSE, *CONFIRM), metavar="CORPUS:SIZE", n_seeds=8
    ).parse_args()
    command(options, table, lambda: run(options.places, options.seeds, options.results))


if __name__ == "__main__":
    main()
