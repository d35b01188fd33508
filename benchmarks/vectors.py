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

import argparse
import json
import resource
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from benchmarks.results import append, read
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
RESULTS = Path(__file__).with_suffix(".csv")


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


def run(folder: Path, names: list[str], seeds: list[int], results: Path) -> None:
    """Add what is missing in the results."""
    for name in names:
        given = json.loads((folder / f"{name}.texts.json").read_text())
        for seed in seeds:
            own = split(given["texts"], given["labels"], seed)
            there = [kind for kind in KINDS if (folder / f"{name}.{kind}.npy").exists()]
            for kind in ("", *there):
                vectors, cost = None, 0.0
                if kind:
                    vectors = np.load(folder / f"{name}.{kind}.npy")
                    cost = json.loads((folder / f"{name}.{kind}.json").read_text())["seconds"]
                models = ["KMeans", "words and vectors"] if kind else ["words"]
                if kind == "sentence" and seed == 0:
                    models += ["BERTopic, KMeans", "BERTopic, defaults"]
                for model in models:
                    key = dict(zip(KEY, (name, kind, str(seed), model), strict=True))
                    if any(all(row[f] == key[f] for f in KEY) for row in read(results)):
                        continue
                    if model.startswith("BERTopic"):
                        found = bertopic(folder, name, own, model.split(", ")[1])
                    else:
                        found = measured(own, CORPORA[name], vectors, model, seed)
                    if found is not None:
                        found = {
                            f: f"{v:.4f}"
                            for f, v in (found | {"of_vectors": cost}).items()
                            if v != ""
                        }
                        append(results, (*KEY, *FIGURES), key | found)


def table(results: Path) -> str:
    """Means over the seeds, and paired differences in NMI of words and vectors from the others."""
    rows = read(results)
    lines = ["corpus,vectors,model,seeds," + ",".join(FIGURES) + ",less KMeans,less words"]
    for name in CORPORA:
        by_words = _by_seed(rows, name, "", "words")
        for kind in ("", *KINDS):
            here = [row for row in rows if (row["corpus"], row["vectors"]) == (name, kind)]
            for model in dict.fromkeys(row["model"] for row in here):
                own = [row for row in here if row["model"] == model]
                cells = []
                for figure in FIGURES:
                    values = [float(row[figure]) for row in own if row[figure]]
                    cells.append(f"{np.mean(values):.3f}" if values else "")
                if model == "words and vectors":
                    mine = _by_seed(rows, name, kind, model)
                    for other in (_by_seed(rows, name, kind, "KMeans"), by_words):
                        pairs = [mine[s] - other[s] for s in mine if s in other]
                        error = np.std(pairs, ddof=1) / len(pairs) ** 0.5 if len(pairs) > 1 else 0
                        cells.append(f"{np.mean(pairs):+.3f} ± {error:.3f}")
                lines.append(",".join((name, kind, model, str(len(own)), *cells)))
    return "\n".join(lines)


def _by_seed(rows: list[Any], *key: str) -> dict[str, float]:
    chosen = [row for row in rows if (row["corpus"], row["vectors"], row["model"]) == key]
    return {row["seed"]: float(row["nmi"]) for row in chosen}


def main() -> None:
    """Write the texts, run what is missing, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, default=list(CORPORA))
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(5)))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.prepare:
        prepare(options.folder)
        return
    if not options.table:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(options.folder, options.corpora, options.seeds, options.results)
    print(table(options.results))


if __name__ == "__main__":
    main()
