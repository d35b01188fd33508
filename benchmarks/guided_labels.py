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

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.naive_bayes import MultinomialNB

from benchmarks.results import Rows, add, command, csv_table, mean, of, parser_of, read, spread
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
KEY, FIGURES = ("corpus", "most", "seed"), ("naive_bayes", "all_labels", "some_labels", "stream")


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


def measured(corpus: str, most: str, seed: int) -> dict[str, float]:
    """Accuracies on a split."""
    split = documents(corpus, seed)
    rows, test = (
        np.flatnonzero([label is not None for label in labels])
        for labels in (split.train_labels, split.test_labels)
    )
    rows = rows[: int(most)]
    X, y, truth = split.train[rows], split.train_labels[rows], split.test_labels[test]
    X_test = split.test[test]
    some = np.where(np.random.default_rng(seed).random(len(y)) < SHARE, y, None)

    def accuracy(model: Any, counts: Any) -> float:
        return float(np.mean(model.predict(counts) == truth))

    named = NamedCounts.of(X_test, [f"w{i}" for i in range(X.shape[1])])
    naive = MultinomialNB(alpha=0.1).fit(X, y.astype(str))
    return {
        "naive_bayes": accuracy(naive, X_test),
        "all_labels": accuracy(guided(X, y), named),
        "some_labels": accuracy(guided(X, some), named),
        "stream": accuracy(guided(X, some, SIZE), named),
    }


def less(rows: Rows, one: str, other: str) -> str:
    """Mean and standard error of the differences of two figures."""
    return spread([float(row[one]) - float(row[other]) for row in rows])


def table(results: Path) -> str:
    """A row for each corpus."""
    rows, lines = read(results), []
    for place in PLACES:
        corpus, most = place.split(":")
        own = of(rows, corpus=corpus, most=most)
        if len(own) > 1:
            lines.append((
                f"``{corpus}``" + " (long)" * (int(most) == ALL), mean(own, "naive_bayes"),
                mean(own, "all_labels"), less(own, "all_labels", "naive_bayes"),
                mean(own, "some_labels"), mean(own, "stream"), less(own, "stream", "some_labels"),
            ))  # fmt: skip
    head = ("corpus", "naive Bayes", "GuidedTopics", "less naive Bayes", "with 5 % of labels",
            "the same in a stream", "stream less fit")  # fmt: skip
    return csv_table("Accuracy on held-out documents, from labels alone", head, lines)


def main() -> None:
    """Run what is asked for and is not there yet, or write the table."""
    options = parser_of(__doc__, __file__, places=PLACES, metavar="CORPUS:MOST").parse_args()
    cells = product(options.places, options.seeds)
    keys = ((*place.split(":"), seed) for place, seed in cells)
    command(options, table, lambda: add(options.results, KEY, FIGURES, keys, measured))


if __name__ == "__main__":
    main()
