# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of the default start beside scikit-learn's, and beside the starts of before.

    python -m benchmarks.start [CORPUS:K ...] [--models NAME ...] [--seeds 0 1 2] [--results FILE]
    python -m benchmarks.start --table
    python -m benchmarks.start --first

Corpora, words, splits by the seed and figures are those of `benchmarks.text_quality`; here K is
the number of classes where the corpus has some. `agreement` is the NMI of the clusters of the
same held-out documents by two models, whose seeds differ by 1. "NMF" is scikit-learn's NMF of
tf-idf with the largest weight as the cluster, "LSA" is TruncatedSVD of tf-idf with 100 dimensions,
normalised, and KMeans.

"StreamingMixture, groups" and "StreamingLDA, documents" are the defaults of before, whose starts
are gone: these rows were measured with the last version that had them, on another machine, and
are not run again. Seconds are not compared with theirs.

`--first` prints the NMI of StreamingMixture on two sets by the sizes of the first and of later
minibatches and `n_start_documents`: means and standard errors over five seeds. The table has means
over the seeds, and of the paired differences from the default of before with standard errors.
"""

import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import normalized_mutual_info_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from benchmarks.results import add, command, mean, of, paired, parser_of, read
from benchmarks.text_quality import Documents, documents, halves
from streamtopics import StreamingLDA, StreamingMixture
from streamtopics.estimators import Schedule
from streamtopics.metrics import topic_coherence


def nmf(K: int, *, random_state: int) -> Any:
    """Factors of tf-idf."""
    return make_pipeline(
        TfidfTransformer(), NMF(K, random_state=random_state, init="nndsvda", max_iter=200)
    )


def lsa(K: int, *, random_state: int) -> Any:
    """Clusters of tf-idf in 100 dimensions; `transform` has minus the distances."""
    svd = TruncatedSVD(100, random_state=random_state)
    clusters = KMeans(K, n_init=3, random_state=random_state)
    return make_pipeline(TfidfTransformer(), svd, Normalizer(), clusters)


CHOOSE = (
    "newsgroups:20", "newsgroups:100", "dblp_titles:4", "wordnet_glosses:45", "m10_titles:10",
    "imdb_unlabelled:50",
)  # fmt: skip
CONFIRM = (
    "commit_subjects:10", "health_tweets:16", "search_snippets:8", "bbc_news:5", "webkb:4",
    "commit_subjects:50", "health_tweets:50", "search_snippets:50", "reuters21578:50",
    "bbc_news:20", "nips_abstracts:20", "presidential_speeches:20", "rated_movie_reviews:20",
    "webkb:20",
)  # fmt: skip
MODELS: dict[str, Any] = {
    "StreamingMixture": StreamingMixture, "StreamingLDA": StreamingLDA, "NMF": nmf, "LSA": lsa,
}  # fmt: skip
BEFORE = {"StreamingMixture": "StreamingMixture, groups", "StreamingLDA": "StreamingLDA, documents"}
KEY = ("corpus", "K", "seed", "model")
FIGURES = ("score", "npmi", "nmi", "agreement", "seconds")
KEPT = (0, 1000, 3000)


def clusters_of(model: Any, X: sparse.csr_matrix) -> np.ndarray:
    """The cluster of each document."""
    if hasattr(model, "predict"):
        return np.asarray(model.predict(X))
    return np.asarray(model.transform(X).argmax(axis=1))


def figures_of_topics(model: Any, split: Documents) -> dict[str, float]:
    """Held-out score and NPMI of a fitted model."""
    observed, held_out = halves(split.test)
    score = model.held_out_log_probability(observed, held_out).sum() / held_out.sum()
    top = np.argsort(-model.topic_word_, axis=1, kind="stable")[:, :10]
    return {"score": float(score), "npmi": float(topic_coherence(top, split.train).mean())}


def measured(corpus: str, K: str, seed: int, name: str) -> dict[str, float]:
    """The figures of a model of one seed, and how far one of the next seed agrees with it."""
    split = documents(corpus, seed)
    model, start = MODELS[name](int(K), random_state=seed), time.process_time()
    model.fit(split.train)
    found = {"seconds": time.process_time() - start}
    if hasattr(model, "topic_word_"):
        found |= figures_of_topics(model, split)
    own = clusters_of(model, split.test)
    asked = np.flatnonzero([label is not None for label in split.test_labels])
    if len(asked):
        labels = split.test_labels[asked].astype(str)
        found["nmi"] = float(normalized_mutual_info_score(labels, own[asked]))
    other = MODELS[name](int(K), random_state=seed + 1).fit(split.train)
    agreement = normalized_mutual_info_score(clusters_of(other, split.test), own)
    return found | {"agreement": float(agreement)}


def table(results: Path) -> str:
    """Rows of CSV: figures of each model on each corpus, and paired differences."""
    rows = read(results)
    lines = ["corpus,K,model," + ",".join(FIGURES)]
    for place in (*CHOOSE, *CONFIRM):
        corpus, K = place.split(":")
        here = of(rows, corpus=corpus, K=K)
        for name in dict.fromkeys(row["model"] for row in here):
            own = of(here, model=name)
            lines.append(",".join((corpus, K, name, *(mean(own, f) for f in FIGURES))))
            if name in BEFORE:
                before = of(here, model=BEFORE[name])
                cells = (paired(own, before, figure) for figure in FIGURES[:-1])
                lines.append(",".join((corpus, K, "  less that of before", *cells)))
    return "\n".join(lines)


def print_first() -> None:
    """Print what is found after first minibatches of some sizes, and after kept beginnings."""
    sizes = *((n, 1200, 0) for n in (200, 500, 1200, 3000, 10**9)), *((100, 100, n) for n in KEPT)
    for (corpus, K), settings in product((("search_snippets", 8), ("m10_titles", 10)), sizes):
        found = [_nmi_after(corpus, K, *settings, seed) for seed in range(5)]
        error = np.std(found, ddof=1) / len(found) ** 0.5
        shown = ",".join(map(str, (corpus, K, *settings)))
        print(f"{shown},{np.mean(found):.3f} ± {error:.3f}", flush=True)


def _nmi_after(corpus: str, K: int, n_first: int, size: int, kept: int, seed: int) -> float:
    split, schedule = documents(corpus, seed), Schedule(n_start_documents=kept)
    model = StreamingMixture(K, schedule=schedule, random_state=seed)
    model.partial_fit(split.train[:n_first])
    for at in range(n_first, split.train.shape[0], size):
        model.partial_fit(split.train[at : at + size])
    labels = split.test_labels.astype(str)
    return float(normalized_mutual_info_score(labels, model.predict(split.test)))


def main() -> None:
    """Run what is missing, or print the table."""
    parser = parser_of(__doc__, __file__, places=(*CHOOSE, *CONFIRM), models=MODELS)
    parser.add_argument("--first", action="store_true")
    options = parser.parse_args()
    if options.first:
        print_first()
        return
    cells = product(options.places, options.seeds, options.models)
    keys = ((*place.split(":"), seed, name) for place, seed, name in cells)
    command(options, table, lambda: add(options.results, KEY, FIGURES, keys, measured))


if __name__ == "__main__":
    main()
