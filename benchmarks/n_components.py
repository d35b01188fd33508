# SPDX-License-Identifier: BSD-3-Clause
"""How many topics: the numbers that `compare_n_components` chooses where classes are known.

    python -m benchmarks.n_components [CORPUS ...] [--numbers 2 3 4 ...] [--seeds 0 1]
        [--models NAME ...] [--results FILE]
    python -m benchmarks.n_components --table
    python -m benchmarks.n_components --show CORPUS [--numbers 5 10 20 40 80]

Documents and words are those of `benchmarks.text_quality`, at most 6,000 documents by the seed.
The table has the numbers that were chosen, a seed each, and how many of them are within a factor
of two of the number of classes. `--show` prints one comparison of StreamingLDA on all
documents. The rule was chosen on the first five corpora, the fifth after it had
failed there.
"""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.results import add, command, of, parser_of, read
from benchmarks.text_quality import counted, labelled_texts
from streamtopics import StreamingLDA, StreamingMixture
from streamtopics.inspection import compare_n_components

CHOOSE = ("dblp_titles", "m10_titles", "newsgroups", "wordnet_glosses", "search_snippets")
CONFIRM = ("bbc_news", "commit_subjects", "health_tweets", "webkb")
NUMBERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
MODELS = {"StreamingLDA": StreamingLDA, "StreamingMixture": StreamingMixture}
MOST_DOCUMENTS = 6000
KEY = ("corpus", "model", "seed")
FIELDS = (*KEY, "classes", "chosen", "worths")


def counts(name: str, seed: int | None) -> tuple[Any, int]:
    """Counts of some documents of a corpus, and its number of classes."""
    texts, labels = labelled_texts(name)
    X, kept = counted(texts)
    if seed is not None:
        kept = np.random.default_rng(seed).permutation(kept)[:MOST_DOCUMENTS]
    return X[kept], len({label for label in labels if label is not None})


def measured(model: str, numbers: list[int], corpus: str, seed: int) -> dict[str, Any]:
    """What is chosen, and what each number is worth."""
    X, n_classes = counts(corpus, seed)
    found = compare_n_components(MODELS[model](start="spectral"), X, numbers, random_state=seed)
    worths = " ".join(f"{row.n_components}:{row.worth:.3f}" for row in found.rows)
    return {"classes": n_classes, "chosen": found.chosen, "worths": worths}


def table(file: Path) -> str:
    """Rows of CSV: the numbers chosen for each corpus and model."""
    lines, rows = ["corpus,classes,model,chosen,within a factor of two"], read(file)
    for name, model in product((*CHOOSE, *CONFIRM), MODELS):
        if own := of(rows, corpus=name, model=model):
            n_classes, chosen = int(own[0]["classes"]), [int(row["chosen"]) for row in own]
            n_near = sum(n_classes / 2 <= number <= 2 * n_classes for number in chosen)
            numbers = " ".join(map(str, chosen))
            lines.append(f"{name},{n_classes},{model},{numbers},{n_near} of {len(own)}")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing and print the table, or print one comparison."""
    parser = parser_of(
        __doc__, __file__, places=(*CHOOSE, *CONFIRM), metavar="CORPUS", n_seeds=2, models=MODELS
    )
    parser.add_argument("--numbers", type=int, nargs="+", default=list(NUMBERS))
    parser.add_argument("--show", metavar="CORPUS")
    options = parser.parse_args()
    if options.show:
        X, _ = counts(options.show, None)
        made = StreamingLDA(start="spectral")
        print(compare_n_components(made, X, options.numbers, random_state=0))
        return

    def measure(corpus: str, model: str, seed: int) -> dict[str, Any]:
        return measured(model, options.numbers, corpus, seed)

    cells = product(options.places, options.models, options.seeds)
    command(options, table, lambda: add(options.results, KEY, FIELDS[3:], cells, measure))


if __name__ == "__main__":
    main()
