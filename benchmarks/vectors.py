# SPDX-License-Identifier: BSD-3-Clause
"""What vectors of the documents add to their words, beside k-means on the same vectors.

    python -m benchmarks.vectors --prepare FOLDER
    python benchmarks/embeddings.py vectors FOLDER         # in an environment of its own
    python benchmarks/embeddings.py bertopic FOLDER
    python -m benchmarks.vectors FOLDER [--corpora NAME ...] [--seeds 0 1 2 3 4]
    python -m benchmarks.vectors --table

Up to 6,000 documents of each corpus, of which a fifth is held out by the seed. Words are those of
`benchmarks.text_quality`, in three documents at least. "KMeans" is scikit-learn's with three starts
on the vectors scaled to length 1, "words" is StreamingMixture, "words and vectors" the same with
`vectors`. NMI is of documents held out, NPMI of ten words of each topic over the documents learnt
from, scores are in nats per held-out token. Seconds are of a processor, without those of the
vectors, which stand beside. Of BERTopic there is one seed, whose topics outside of all clusters
count as one.
"""

import json
import resource
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize

from benchmarks.results import add, command, mean, of, paired, parser_of, read
from benchmarks.text_quality import labelled_texts
from streamtopics import StreamingMixture
from streamtopics.metrics import topic_coherence

CHOOSE = {"m10_titles": 10, "dblp_titles": 4, "newsgroups": 20}
CONFIRM = {
    "search_snippets": 8, "health_tweets": 16, "commit_subjects": 10, "bbc_news": 5, "webkb": 4,
}  # fmt: skip
CORPORA = CHOOSE | CONFIRM
MOST = 6000
KINDS = ("static", "sentence")
KEY = ("corpus", "vectors", "seed", "model")
FIGURES = ("nmi", "npmi", "score", "seconds", "of_vectors", "memory")


class Split(NamedTuple):
    """Documents of a corpus, and which are held out."""

    X: Any
    words: np.ndarray
    labels: np.ndarray
    train: np.ndarray
    test: np.ndarray


def split(texts: list[str], labels: list[str | None], seed: int) -> Split:
    """Counts of the words, and the documents of two words or more, split by the seed."""
    counter = CountVectorizer(
        stop_words="english", token_pattern=r"\b[^\W\d_]{2,}\b", min_df=3, dtype=np.float32
    )
    X = counter.fit_transform(texts)
    kept = np.flatnonzero(np.asarray(X.sum(axis=1)).ravel() >= 2)
    order = np.random.default_rng(seed).permutation(kept)
    n = len(order) // 5
    words = counter.get_feature_names_out()
    return Split(X, words, np.array(labels, dtype=object), order[n:], order[:n])


def prepare(folder: Path) -> None:
    """Write the texts, and the split of seed 0."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, K in CORPORA.items():
        texts, labels = labelled_texts(name)
        chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[:MOST])
        texts, labels = [texts[i] for i in chosen], [labels[i] for i in chosen]
        own = split(texts, labels, 0)
        row = {"texts": texts, "labels": labels, "K": K}
        row |= {"train": own.train.tolist(), "test": own.test.tolist()}
        (folder / f"{name}.texts.json").write_text(json.dumps(row))


def told(own: Split, clusters: Any) -> float:
    """NMI of the clusters of the documents held out with their labels."""
    labels = own.labels[own.test]
    asked = np.array([label is not None for label in labels])
    found = np.asarray(clusters)[asked]
    return float(normalized_mutual_info_score(labels[asked].astype(str), found))


def coherence(own: Split, topics: np.ndarray) -> float:
    """Mean NPMI of topics, given as columns of ten words each."""
    return float(topic_coherence(topics, own.X[own.train]).mean())


def measured(own: Split, K: int, vectors: np.ndarray | None, model: str, seed: int) -> Any:
    """The figures of a model."""
    train, test = own.train, own.test
    start = time.process_time()
    if model == "KMeans":
        assert vectors is not None
        E = normalize(vectors)
        means = KMeans(K, n_init=3, random_state=seed).fit(E[train])
        found = {"seconds": time.process_time() - start}
        return found | {"nmi": told(own, means.predict(E[test]))}
    learnt, held_out = (None if vectors is None else vectors[some] for some in (train, test))
    mixture = StreamingMixture(K, start="spectral", random_state=seed)
    mixture.fit(own.X[train], vectors=learnt)
    found = {"seconds": time.process_time() - start}
    top = np.argsort(-mixture.topic_word_, axis=1, kind="stable")[:, :10]
    return found | {
        "nmi": told(own, mixture.predict(own.X[test], vectors=held_out)),
        "score": mixture.score(own.X[test], vectors=held_out),
        "npmi": coherence(own, top),
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def bertopic(folder: Path, name: str, own: Split, how: str) -> dict[str, float] | None:
    """The figures of BERTopic, if it has run."""
    place = folder / f"{name}.bertopic-{how}.json"
    if not place.exists():
        return None
    found = json.loads(place.read_text())
    columns = {word: i for i, word in enumerate(own.words)}
    topics = [[columns[w] for w in words if w in columns][:10] for words in found["words"]]
    whole = np.array([topic for topic in topics if len(topic) == 10])
    nmi = told(own, found["clusters"])
    return {"nmi": nmi, "npmi": coherence(own, whole)} | {
        name: found[name] for name in ("seconds", "memory")
    }


def run(folder: Path, name: str, seeds: list[int], results: Path) -> None:
    """Add what is missing in the results of a corpus."""
    given = json.loads((folder / f"{name}.texts.json").read_text())

    def measure(name: str, kind: str, seed: int, model: str) -> dict[str, float] | None:
        own = split(given["texts"], given["labels"], seed)
        vectors = np.load(folder / f"{name}.{kind}.npy") if kind else None
        if model.startswith("BERTopic"):
            found = bertopic(folder, name, own, model.split(", ")[1])
        else:
            found = measured(own, CORPORA[name], vectors, model, seed)
        cost = json.loads((folder / f"{name}.{kind}.json").read_text()) if kind else {}
        return found and found | {"of_vectors": cost.get("seconds", 0.0)}

    there = [kind for kind in KINDS if (folder / f"{name}.{kind}.npy").exists()]
    cells = []
    for seed, kind in product(seeds, ("", *there)):
        models = ["KMeans", "words and vectors"] if kind else ["words"]
        if kind == "sentence" and seed == 0:
            models += ["BERTopic, KMeans", "BERTopic, defaults"]
        cells += [(name, kind, seed, model) for model in models]
    add(results, KEY, FIGURES, cells, measure)


def table(results: Path) -> str:
    """Means over the seeds, and paired differences in NMI of words and vectors from the others."""
    rows = read(results)
    lines = ["corpus,vectors,model,seeds," + ",".join(FIGURES) + ",less KMeans,less words"]
    for name, kind in product(CORPORA, ("", *KINDS)):
        here = of(rows, corpus=name, vectors=kind)
        for model in dict.fromkeys(row["model"] for row in here):
            own = of(here, model=model)
            cells = [mean(own, figure) for figure in FIGURES]
            if model == "words and vectors":
                by_words = of(rows, corpus=name, vectors="", model="words")
                cells += [
                    paired(own, other, "nmi") for other in (of(here, model="KMeans"), by_words)
                ]
            lines.append(",".join((name, kind, model, str(len(own)), *cells)))
    return "\n".join(lines)


def main() -> None:
    """Write the texts, run what is missing, or print the table."""
    parser = parser_of(__doc__, __file__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    options = parser.parse_args()
    if options.prepare:
        prepare(options.folder)
        return

    def run_all() -> None:
        for name in options.corpora:
            run(options.folder, name, options.seeds, options.results)

    command(options, table, run_all)


if __name__ == "__main__":
    main()
