# SPDX-License-Identifier: BSD-3-Clause
"""How many topics: the numbers that `compare_n_components` chooses where classes are known.

    python -m benchmarks.n_components [CORPUS ...] [--numbers 2 3 4 ...] [--seeds 0 1]
        [--models NAME ...] [--file FILE]
    python -m benchmarks.n_components --table
    python -m benchmarks.n_components --show CORPUS [--numbers 5 10 20 40 80]

Documents and words are those of `benchmarks.text_quality`, at most 6,000 documents by the seed.
The table has the numbers that were chosen, a seed each, and how many of them are within a factor
of two of the number of classes. `--show` prints one comparison of StreamingLDA on all
documents. The rule was chosen on the first five corpora, the fifth after it had
failed there.
"""

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.results import append, read
from benchmarks.text_quality import MANY_DOCUMENTS, labelled_texts
from streamtopics import StreamingLDA, StreamingMixture
from streamtopics.inspection import compare_n_components

CHOOSE = ("dblp_titles", "m10_titles", "newsgroups", "wordnet_glosses", "search_snippets")
CONFIRM = ("bbc_news", "commit_subjects", "health_tweets", "webkb")
NUMBERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
MODELS = {"StreamingLDA": StreamingLDA, "StreamingMixture": StreamingMixture}
MOST_DOCUMENTS = 6000
FILE = Path(__file__).with_suffix(".csv")
KEY = ("corpus", "model", "seed")
FIELDS = (*KEY, "classes", "chosen", "worths")


def counts(name: str, seed: int | None) -> tuple[Any, int]:
    """Counts of some documents of a corpus, and its number of classes."""
    texts, labels = labelled_texts(name)
    words = CountVectorizer(
        stop_words="english",
        token_pattern=r"\b[^\W\d_]{2,}\b",
        min_df=5 if len(texts) > MANY_DOCUMENTS else 3,
        dtype=np.float32,
    )
    X = words.fit_transform(texts).tocsr()
    kept = np.flatnonzero(np.asarray(X.sum(axis=1)).ravel() >= 2)
    if seed is not None:
        kept = np.random.default_rng(seed).permutation(kept)[:MOST_DOCUMENTS]
    return X[kept], len({label for label in labels if label is not None})


def run(options: argparse.Namespace) -> None:
    """Add what is missing in the file."""
    for name in options.corpora:
        for seed in options.seeds:
            for model in options.models:
                key = dict(zip(KEY, (name, model, str(seed)), strict=True))
                if any(
                    all(row[field] == key[field] for field in KEY) for row in read(options.file)
                ):
                    continue
                X, n_classes = counts(name, seed)
                made = MODELS[model](start="spectral")
                found = compare_n_components(made, X, options.numbers, random_state=seed)
                worths = " ".join(f"{row.n_components}:{row.worth:.3f}" for row in found.rows)
                values = n_classes, found.chosen, worths
                append(options.file, FIELDS, key | dict(zip(FIELDS[3:], values, strict=True)))


def table(file: Path) -> str:
    """Rows of CSV: the numbers chosen for each corpus and model."""
    lines = ["corpus,classes,model,chosen,within a factor of two"]
    for name in (*CHOOSE, *CONFIRM):
        for model in MODELS:
            own = [row for row in read(file) if (row["corpus"], row["model"]) == (name, model)]
            if own:
                n_classes, chosen = int(own[0]["classes"]), [int(row["chosen"]) for row in own]
                n_near = sum(n_classes / 2 <= number <= 2 * n_classes for number in chosen)
                numbers = " ".join(map(str, chosen))
                lines.append(f"{name},{n_classes},{model},{numbers},{n_near} of {len(own)}")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing and print the table, or print one comparison."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpora", nargs="*", default=[*CHOOSE, *CONFIRM], metavar="CORPUS")
    parser.add_argument("--numbers", type=int, nargs="+", default=list(NUMBERS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--file", type=Path, default=FILE)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--show", metavar="CORPUS")
    options = parser.parse_args()
    if options.show:
        X, _ = counts(options.show, None)
        made = StreamingLDA(start="spectral")
        print(compare_n_components(made, X, options.numbers, random_state=0))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if not options.table:
            run(options)
    print(table(options.file))


if __name__ == "__main__":
    main()
