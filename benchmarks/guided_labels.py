# SPDX-License-Identifier: BSD-3-Clause
"""Topics guided by labels alone: beside naive Bayes with all labels, and in a stream with some.

    python -m benchmarks.guided_labels [--results FILE] [--seeds 0 1 2 3 4] [CORPUS:MOST ...]
    python -m benchmarks.guided_labels --table doc/guided_labels_table.rst

Documents and splits are those of `benchmarks.text_quality`, at most so many of a corpus, of those
that have a class; the long ones are streams that go on when their beginning, of 20,000 documents,
is over. Accuracy is that of held-out documents, `MultinomialNB(alpha=0.1)` is scikit-learn's on
the same counts, and a stream is `partial_fit` of 2,000 documents at a time. The table has means
over the seeds, and the means of paired differences with their standard errors.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.naive_bayes import MultinomialNB

from benchmarks.results import append, read
from benchmarks.text_quality import documents
from streamtopics import GuidedTopics
from streamtopics.text import NamedCounts

CHOSEN_ON = ("newsgroups", "dblp_titles", "wordnet_glosses", "m10_titles")
CONFIRMED_ON = (
    "commit_subjects", "health_tweets", "search_snippets", "reuters21578", "bbc_news", "webkb",
)  # fmt: skip
LONG = ("dblp_titles", "wordnet_glosses", "commit_subjects", "health_tweets")
MANY, ALL, SHARE, SIZE = 12_000, 100_000, 0.05, 2000
PLACES = [
    *(f"{corpus}:{MANY}" for corpus in (*CHOSEN_ON, *CONFIRMED_ON)),
    *(f"{corpus}:{ALL}" for corpus in LONG),
]
FIELDS = ("corpus", "most", "seed", "naive_bayes", "all_labels", "some_labels", "stream")


def guided(X: Any, y: np.ndarray, size: int | None = None) -> GuidedTopics:
    """The model of these documents, in minibatches of a stream if a size is given."""
    words = [f"w{i}" for i in range(X.shape[1])]
    names = sorted({label for label in y if label is not None})
    model = GuidedTopics({name: [] for name in names}, random_state=0)
    if size is None:
        return model.fit(NamedCounts.of(X, words), y)
    for start in range(0, X.shape[0], size):
        part = slice(start, start + size)
        model.partial_fit(NamedCounts.of(X[part], words), y[part])
    return model


def measured(corpus: str, most: int, seed: int) -> dict[str, Any]:
    """Accuracies on a split."""
    split = documents(corpus, seed)
    rows, test = (
        np.flatnonzero([label is not None for label in labels])
        for labels in (split.train_labels, split.test_labels)
    )
    rows = rows[:most]
    X, y, truth = split.train[rows], split.train_labels[rows], split.test_labels[test]
    X_test = split.test[test]
    words = [f"w{i}" for i in range(X.shape[1])]
    some = np.where(np.random.default_rng(seed).random(len(y)) < SHARE, y, None)

    def accuracy(model: Any, counts: Any) -> str:
        return f"{np.mean(model.predict(counts) == truth):.4f}"

    named = NamedCounts.of(X_test, words)
    naive = MultinomialNB(alpha=0.1).fit(X, y.astype(str))
    return {
        "corpus": corpus,
        "most": most,
        "seed": seed,
        "naive_bayes": accuracy(naive, X_test),
        "all_labels": accuracy(guided(X, y), named),
        "some_labels": accuracy(guided(X, some), named),
        "stream": accuracy(guided(X, some, SIZE), named),
    }


def paired(rows: list[dict[str, str]], one: str, other: str) -> str:
    """Mean and standard error of the differences."""
    found = [float(row[one]) - float(row[other]) for row in rows]
    return f"{np.mean(found):+.3f} ± {np.std(found, ddof=1) / len(found) ** 0.5:.3f}"


def table(results: Path) -> str:
    """A row for each corpus."""
    rows = read(results)
    lines = [
        ".. csv-table:: Accuracy on held-out documents, from labels alone",
        "   :header: corpus, naive Bayes, all labels, less naive Bayes, 5 % of labels, "
        "in a stream, less fit",
        "",
    ]
    for place in PLACES:
        corpus, most = place.split(":")
        own = [row for row in rows if (row["corpus"], row["most"]) == (corpus, most)]
        if len(own) > 1:
            mean = {name: np.mean([float(row[name]) for row in own]) for name in FIELDS[3:]}
            cells = [
                f"``{corpus}``" + " (long)" * (int(most) == ALL),
                f"{mean['naive_bayes']:.3f}", f"{mean['all_labels']:.3f}",
                paired(own, "all_labels", "naive_bayes"), f"{mean['some_labels']:.3f}",
                f"{mean['stream']:.3f}", paired(own, "stream", "some_labels"),
            ]  # fmt: skip
            lines.append("   " + ", ".join(cells))
    return "\n".join([*lines, ""])


def main() -> None:
    """Run what is asked for and is not there yet, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("places", nargs="*", default=PLACES, metavar="CORPUS:MOST")
    parser.add_argument("--seeds", nargs="*", type=int, default=list(range(5)))
    parser.add_argument("--results", type=Path, default=Path(__file__).with_suffix(".csv"))
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    if options.table:
        options.table.write_text(table(options.results), encoding="utf-8")
        return
    done = {(row["corpus"], row["most"], row["seed"]) for row in read(options.results)}
    for place in options.places:
        corpus, most = place.split(":")
        for seed in options.seeds:
            if (corpus, most, str(seed)) not in done:
                append(options.results, FIELDS, measured(corpus, int(most), seed))


if __name__ == "__main__":
    main()
