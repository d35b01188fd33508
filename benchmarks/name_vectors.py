# SPDX-License-Identifier: BSD-3-Clause
"""Names of classes as vectors in `GuidedTopics`, beside the nearest name and k-means from names.

    python -m benchmarks.vectors --prepare FOLDER
    python -m benchmarks.name_vectors --prepare FOLDER
    python benchmarks/embeddings.py vectors FOLDER         # in an environment of its own
    python benchmarks/embeddings.py names FOLDER
    python -m benchmarks.name_vectors FOLDER [--corpora NAME ...] [--seeds 0 1 2 3 4]
    python -m benchmarks.name_vectors --table

Documents, words and splits are those of `benchmarks.vectors`, vectors those of its sentence
transformer, and seed words those of `benchmarks.guided`. The names were written down from what the
corpora say of their classes, before anything was run. Accuracy is that of documents held out;
seconds are of a processor, without those of the vectors. "Naive Bayes" learns the words of the
documents learnt from, with the nearest name as label, "k-means" starts from the names. The weight
of a name, 30 documents, and the power of vectors, .1, were chosen on m10_titles.
"""

import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.naive_bayes import MultinomialNB
from sklearn.preprocessing import normalize

from benchmarks.guided import SEEDS
from benchmarks.results import add, command, mean, of, paired, parser_of, read
from benchmarks.vectors import Split, split
from streamtopics import GuidedTopics
from streamtopics.text import NamedCounts

NAMES = {
    "m10_titles": {
        "0": "agriculture", "1": "archaeology", "2": "biology", "3": "computer science",
        "4": "financial economics", "5": "industrial engineering", "6": "material science",
        "7": "petroleum chemistry", "8": "physics", "9": "social science",
    },
    "search_snippets": {
        "1": "business", "2": "computers", "3": "culture, arts and entertainment",
        "4": "education and science", "5": "engineering", "6": "health",
        "7": "politics and society", "8": "sports",
    },
    "bbc_news": {
        "business": "business", "entertainment": "entertainment", "politics": "politics",
        "sport": "sport", "tech": "technology",
    },
    "commit_subjects": {
        "rails": "ruby on rails", "libav": "libav", "mpv": "mpv media player", "git": "git",
        "curl": "curl", "twisted": "twisted", "puppet": "puppet", "numpy": "numpy", "vim": "vim",
        "haproxy": "haproxy",
    },
}  # fmt: skip
METHODS = (
    "nearest name", "naive Bayes on the nearest name", "k-means from names",
    "GuidedTopics, names", "GuidedTopics, seed words", "GuidedTopics, names and seed words",
)  # fmt: skip
FIELDS = ("corpus", "seed", "method", "accuracy", "seconds")


def predicted(
    own: Split, E: np.ndarray, N: np.ndarray, corpus: str, method: str, seed: int
) -> np.ndarray:
    """Classes of the documents held out; the rows of N are vectors of the names."""
    train, test = own.train, own.test
    names = np.array(list(NAMES[corpus]), dtype=object)
    nearest = (normalize(E) @ normalize(N).T).argmax(axis=1)
    if method == "nearest name":
        return names[nearest[test]]
    if method.startswith("naive Bayes"):
        model = MultinomialNB(alpha=0.3).fit(own.X[train], nearest[train])
        return names[model.predict(own.X[test])]
    if method.startswith("k-means"):
        means = KMeans(len(N), init=normalize(N), n_init=1).fit(normalize(E[train]))
        return names[means.predict(normalize(E[test]))]
    seeds: dict[str, list[str]] = {name: [] for name in names}
    if "seed words" in method:
        known = set(own.words)
        seeds = {name: [w for w in SEEDS[corpus][name].split() if w in known] for name in names}
    X = NamedCounts.of(own.X, own.words)
    by_name = "names" in method
    guided = GuidedTopics(seeds, name_vectors=N if by_name else None, random_state=seed)
    learnt, held_out = (E[some] if by_name else None for some in (train, test))
    return guided.fit(X[train], vectors=learnt).predict(X[test], vectors=held_out)


def run(folder: Path, corpus: str, seeds: list[int], results: Path) -> None:
    """Add what is missing in the results of a corpus."""
    given = json.loads((folder / f"{corpus}.texts.json").read_text())
    E, N = (np.load(folder / f"{corpus}.{kind}.npy") for kind in ("sentence", "names"))

    def measure(corpus: str, seed: int, method: str) -> dict[str, Any] | None:
        if "seed words" in method and corpus not in SEEDS:
            return None
        own = split(given["texts"], given["labels"], seed)
        start = time.process_time()
        found = predicted(own, E, N, corpus, method, seed)
        seconds = time.process_time() - start
        right = float(np.mean(found == own.labels[own.test]))
        return {"accuracy": right, "seconds": f"{seconds:.2f}"}

    add(results, FIELDS[:3], FIELDS[3:], product([corpus], seeds, METHODS), measure)


def table(results: Path) -> str:
    """Mean accuracies, gains over the nearest name paired by split with errors, and seconds."""
    rows = read(results)
    lines = ["corpus,method,splits,accuracy,gain,seconds"]
    for corpus, method in product(NAMES, METHODS):
        if own := of(rows, corpus=corpus, method=method):
            gain = paired(own, of(rows, corpus=corpus, method=METHODS[0]), "accuracy")
            said = f"{mean(own, 'accuracy')},{gain},{mean(own, 'seconds', 2)}"
            lines.append(f'{corpus},"{method}",{len(own)},{said}')
    return "\n".join(lines)


def main() -> None:
    """Write the names, run what is missing, or print the table."""
    parser = parser_of(__doc__, __file__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--corpora", nargs="+", choices=NAMES, default=list(NAMES))
    options = parser.parse_args()
    if options.prepare:
        for corpus, names in NAMES.items():
            place = options.folder / f"{corpus}.names.json"
            place.write_text(json.dumps(list(names.values())))
        return

    def run_all() -> None:
        for corpus in options.corpora:
            run(options.folder, corpus, options.seeds, options.results)

    command(options, table, run_all)


if __name__ == "__main__":
    main()
