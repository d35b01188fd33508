# SPDX-License-Identifier: BSD-3-Clause
"""Quality of the topics of streamtopics and of its peers, on texts, by one protocol.

    python -m benchmarks.text_quality [CORPUS:K | choose | confirm ...] [--results FILE]
        [--seeds 0 1 2] [--models NAME ...]
    python -m benchmarks.text_quality --table choose FILE

A line of CSV for each corpus, number of topics, seed and model; what stands in the results
already is not run again. `--table` writes means over the seeds that all models of a corpus were
run with, for one set of corpora, and before them how the default stands beside its peers: its
score less that of the peer that is best on the average, its NPMI and diversity less those of
tomotopy's 200 sweeps, with standard errors over the seeds, and with how many of them it is the
first of all packages in NMI and accuracy.

Words are of two letters or more, without English stop words and those of less than `min_df`
documents: five in a corpus of more than 15,000, else three. A fifth of the documents, at most
3,000, is held out by the seed, and documents of less than two words are left out. Each token of
a held-out document goes to one of two halves; the proportions are inferred from one, and the
other is scored, in nats per token:

* `score_common`, by one fixed point for all models, theta ~ alpha + sum of the
  responsibilities, with the model's own topics and alpha. Where a model has no alpha it is 1 / K;
  of a mixture, and of BTM, it is the weights of the topics.
* `score_own`, with the proportions that the model's own inference gives; of a model with one
  topic a document this is its predictive probability, with its background if it has one.

NPMI and C_V are those of the ten likeliest words over the documents learnt from. Purity and
NMI are of the likeliest topic against the labels of held-out documents; accuracy is that of a
logistic regression on the proportions of 6,000 documents learnt from. Seconds are CPU time of the
fit alone. Each fit has a process of its own, which is stopped after 240 of them.
"""

import argparse
import multiprocessing
import signal
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks import corpora
from benchmarks.results import add, of, read, spread
from benchmarks.text_models import (
    DEFAULT,
    EQUAL_TIME,
    LEAST_PROBABILITY,
    MODELS,
    OURS,
    Counts,
    Fitted,
    Proportions,
)
from streamtopics.metrics import topic_coherence, topic_diversity
from streamtopics.metrics.predictive import per_token, token_log_probability

SETS = {
    "choose": (
        "newsgroups:50", "imdb_unlabelled:50", "dblp_titles:50", "wordnet_glosses:50",
        "m10_titles:20",
    ),
    "confirm": (
        "commit_subjects:50", "health_tweets:50", "search_snippets:50", "reuters21578:50",
        "bbc_news:20", "nips_abstracts:20", "presidential_speeches:20",
        "rated_movie_reviews:20", "webkb:20",
    ),
}  # fmt: skip
MOST_DOCUMENTS = {"imdb_unlabelled": 20_000, "commit_subjects": 60_000, "wordnet_glosses": 60_000}
# Documents with a label that fewer have count as without one.
LEAST_OF_LABEL = {"reuters21578": 100}
MANY_DOCUMENTS, MOST_HELD_OUT, MOST_CLASSIFIED = 15_000, 3000, 6000
SHORT = 12
MOST_SECONDS, MOST_SECONDS_OF_GSDMM = 240.0, 60.0
KEY = ("corpus", "K", "seed", "model")
FIGURES = (
    "score_common", "score_own", "npmi", "c_v", "diversity", "purity", "nmi", "accuracy",
    "seconds",
)  # fmt: skip


class Documents(NamedTuple):
    """Counts to learn from and held-out ones, with labels, None where a document has none."""

    train: Counts
    test: Counts
    train_labels: np.ndarray
    test_labels: np.ndarray


# The documents


def labelled_texts(name: str) -> tuple[list[str], list[str | None]]:
    """Documents of a corpus, at most so many, spread evenly, and their classes."""
    texts, labels = corpora.texts(name), _labels(name)
    most = MOST_DOCUMENTS.get(name, len(texts))
    chosen = np.linspace(0, len(texts) - 1, min(most, len(texts))).astype(int)
    texts, labels = [texts[i] for i in chosen], [labels[i] for i in chosen]
    number = Counter(labels)
    least = LEAST_OF_LABEL.get(name, 1)
    return texts, [label if number[label] >= least else None for label in labels]


def _labels(name: str) -> list[str | None]:
    """The class of each text of `corpora.texts`; years and ratings are none."""
    found = [row.get("label") for row in corpora.rows(name)]
    if name == "newsgroups":
        found = [found[i] for i in np.random.default_rng(0).permutation(len(found))]
    if name == "webkb":
        found = [label.split("/")[1] for label in found]
    return [label if isinstance(label, str) and label else None for label in found]


def counted(texts: list[str]) -> tuple[Counts, np.ndarray]:
    """Counts of the words, and the rows of documents with two or more."""
    vectorizer = CountVectorizer(
        stop_words="english",
        token_pattern=r"\b[^\W\d_]{2,}\b",
        min_df=5 if len(texts) > MANY_DOCUMENTS else 3,
        dtype=np.float32,
    )
    X = vectorizer.fit_transform(texts).tocsr()
    return X, np.flatnonzero(np.asarray(X.sum(axis=1)).ravel() >= 2)


@lru_cache(maxsize=1)
def documents(name: str, seed: int) -> Documents:
    """The documents of a corpus, split by the seed."""
    texts, labels = labelled_texts(name)
    X, kept = counted(texts)
    order = np.random.default_rng(seed).permutation(kept)
    n_held_out = min(len(order) // 5, MOST_HELD_OUT)
    held_out, learnt = order[:n_held_out], order[n_held_out:]
    words = np.flatnonzero(X[learnt].getnnz(axis=0))
    classes = np.array(labels, dtype=object)
    train, test = X[learnt][:, words], X[held_out][:, words]
    train.sort_indices()
    test.sort_indices()
    return Documents(train, test, classes[learnt], classes[held_out])


def halves(X: Counts) -> tuple[Counts, Counts]:
    """The tokens of each document in two parts, each token in one of them at random."""
    first = X.copy()
    first.data = np.random.default_rng(1).binomial(X.data.astype(int), 0.5).astype(X.dtype)
    second = X - first
    first.eliminate_zeros()
    return first, second


# The figures


def fold_in(X: Counts, topics: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Proportions of the documents by fixed point, from the topics and their prior alone."""
    totals = alpha.sum() + np.asarray(X.sum(axis=1), dtype=np.float64)
    theta = np.tile(alpha / alpha.sum(), (X.shape[0], 1))
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    of_token = np.ascontiguousarray(topics.T)[X.indices]
    for _ in range(60):
        ratios = X.data / np.einsum("ik,ik->i", theta[row], of_token)
        ratios = sparse.csr_matrix((ratios, X.indices, X.indptr), X.shape)
        new = (alpha + theta * (ratios @ topics.T)) / totals
        change, theta = np.abs(new - theta).max(), new
        if change < 1e-4:
            break
    return theta


def score(theta: np.ndarray, topics: np.ndarray, X: Counts) -> float:
    """Log probability of the tokens, nats per token."""
    topics = np.maximum(topics, LEAST_PROBABILITY)
    return per_token(token_log_probability(theta, topics, X), float(X.sum()))


def figures(fitted: Fitted, split: Documents) -> dict[str, float]:
    """All figures of a model but its time."""
    topics = np.maximum(np.asarray(fitted.topics, dtype=np.float64), LEAST_PROBABILITY)
    topics /= topics.sum(axis=1, keepdims=True)
    K = len(topics)
    alpha = np.full(K, 1 / K) if fitted.alpha is None else np.asarray(fitted.alpha, np.float64)
    observed, held_out = halves(split.test)
    own = fitted.own(observed) if fitted.own else (fitted.transform(observed), topics)
    top = np.argsort(-topics, axis=1, kind="stable")[:, :10]
    found = {
        "score_common": score(fold_in(observed, topics, alpha), topics, held_out),
        "score_own": score(*own, held_out),
        "npmi": float(topic_coherence(top, split.train).mean()),
        "c_v": float(topic_coherence(top, split.train, measure="c_v").mean()),
        "diversity": topic_diversity(top),
    }
    if any(label is not None for label in split.train_labels):
        found |= figures_of_labels(fitted.transform, split)
    return found


def figures_of_labels(transform: Proportions, split: Documents) -> dict[str, float]:
    """Return the figures that say how well the proportions tell the classes."""
    learnt, asked = (
        np.flatnonzero([label is not None for label in labels])
        for labels in (split.train_labels, split.test_labels)
    )
    learnt = learnt[:MOST_CLASSIFIED]
    learnt_labels = split.train_labels[learnt].astype(str)
    labels = split.test_labels[asked].astype(str)
    theta = transform(split.test[asked])
    clusters = theta.argmax(axis=1)
    shared = contingency_matrix(labels, clusters)
    classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    classifier.fit(transform(split.train[learnt]), learnt_labels)
    return {
        "purity": float(shared.max(axis=0).sum() / shared.sum()),
        "nmi": float(normalized_mutual_info_score(labels, clusters)),
        "accuracy": float(classifier.score(theta, labels)),
    }


FOR_SHORT = ("GSDMM", "bitermplus")


# The run


def measured(
    results: Path, corpus: str, n_topics: str, seed: int, name: str
) -> dict[str, Any] | None:
    """The figures of a model, by a process of its own."""
    split = documents(corpus, seed)
    if name in FOR_SHORT and split.train.sum() >= SHORT * split.train.shape[0]:
        return None
    kwargs: dict[str, Any] = {}
    if name == EQUAL_TIME:
        rows = of(read(results), corpus=corpus, K=n_topics, seed=seed, model=DEFAULT)
        if not rows or not rows[0]["seconds"]:
            print(f"{name}: run {DEFAULT} on {corpus}:{n_topics} first", flush=True)
            return None
        kwargs["seconds"] = float(rows[0]["seconds"])
    return apart(partial(_measured, split, int(n_topics), seed, name, kwargs))


def _measured(
    split: Documents, n_topics: int, seed: int, name: str, kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The figures of a model, which is fitted under a limit of CPU time."""
    train = MODELS[name](split.train, n_topics, seed, **kwargs)
    limit = MOST_SECONDS_OF_GSDMM if name == "GSDMM" else MOST_SECONDS
    signal.setitimer(signal.ITIMER_PROF, limit)
    start = time.process_time()
    fitted = train()
    seconds = time.process_time() - start
    signal.setitimer(signal.ITIMER_PROF, 0)
    return figures(fitted, split) | {"seconds": seconds, "note": fitted.note}


def apart(measure: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """The figures, by a process of its own; None if it failed, and says why."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(measure, sender))
    process.start()
    sender.close()
    try:
        found: dict[str, Any] | None = receiver.recv()
    except EOFError:
        found = None
    process.join()
    if process.exitcode == -signal.SIGPROF:
        return {"note": "stopped: too slow"}
    return found


def _send(measure: Callable[[], dict[str, Any]], sender: Connection) -> None:
    warnings.simplefilter("ignore")
    try:
        sender.send(measure())
    except Exception:
        traceback.print_exc()
        sender.send(None)


# The table

HEAD = (
    "model", "score (common fold-in)", "score (own inference)", "NPMI", "C_V", "diversity",
    "purity", "NMI", "accuracy", "CPU s", "n",
)  # fmt: skip
DIGITS = (3, 3, 3, 3, 2, 3, 3, 3, 1)
SAMPLER = "tomotopy, 200 sweeps"
BESIDE = (
    "texts, topics", "best peer in score", "score less the peer's", "NPMI less the sampler's",
    "diversity less the sampler's", "first in NMI", "first in accuracy",
)  # fmt: skip


def table(name: str, results: Path) -> str:
    """Tables in reStructuredText: the default beside its peers, then all models of each corpus."""
    rows = read(results)
    every = {place: _comparable(rows, *place.split(":")) for place in SETS[name]}
    every = {place: here for place, here in every.items() if here}
    lines = [".. csv-table:: The default beside its peers", f"   :header: {_quoted(BESIDE)}", ""]
    for place, here in every.items():
        if any(row["model"] not in OURS and row["seconds"] for row in here):
            lines.append(f"   {_quoted(_beside(place, here))}")
    for place, here in every.items():
        corpus, n_topics = place.split(":")
        lines += ["", f".. csv-table:: {corpus}, {n_topics} topics"]
        lines += [f"   :header: {_quoted(HEAD)}", ""]
        for model in MODELS:
            of_model = [row for row in here if row["model"] == model]
            if of_model:
                lines.append(f"   {_quoted((model, *_means(of_model)))}")
    return "\n".join(lines) + "\n"


def _comparable(rows: list[dict[str, str]], corpus: str, n_topics: str) -> list[dict[str, str]]:
    """The rows of a corpus with the seeds that every model has: splits differ more than models."""
    here = of(rows, corpus=corpus, K=n_topics)
    models = {row["model"] for row in here}
    seeds = ({row["seed"] for row in here if row["model"] == model} for model in models)
    common = set.intersection(*seeds) if here else set()
    return [row for row in here if row["seed"] in common]


def _beside(place: str, rows: list[dict[str, str]]) -> Iterator[str]:
    """Differences of the default to its peers, which are paired by the seeds."""
    by_seed: dict[str, dict[str, dict[str, str]]] = {}
    for row in rows:
        if row["seconds"]:
            by_seed.setdefault(row["seed"], {})[row["model"]] = row
    peers = {row["model"] for row in rows if row["seconds"]} - OURS
    scores = {
        model: [_better(of[model]) for of in by_seed.values() if model in of] for model in peers
    }
    best = max(peers, key=lambda model: float(np.mean(scores[model])))
    yield place.replace(":", ", ")
    yield best
    yield spread([_better(of[DEFAULT]) - _better(of[best]) for of in by_seed.values()])
    beside_sampler = [of for of in by_seed.values() if SAMPLER in of]
    for field in ("npmi", "diversity"):
        yield spread(
            [float(of[DEFAULT][field]) - float(of[SAMPLER][field]) for of in beside_sampler]
        )
    for field in ("nmi", "accuracy"):
        labelled = [of for of in by_seed.values() if of[DEFAULT][field]]
        first = sum(
            float(of[DEFAULT][field]) >= max(float(of[m][field]) for m in peers & set(of))
            for of in labelled
        )
        yield f"{first} of {len(labelled)}" if labelled else ""


def _better(row: dict[str, str]) -> float:
    """The better of the scores by the two inferences."""
    return max(float(row["score_common"]), float(row["score_own"]))


def _quoted(cells: Iterable[str]) -> str:
    return ", ".join(f'"{cell}"' for cell in cells)


def _means(rows: list[dict[str, str]]) -> Iterator[str]:
    """Means over the seeds of each figure, and the number of seeds; or why there are none."""
    done = [row for row in rows if row["seconds"]]
    if not done:
        yield rows[0]["note"]
        return
    for field, digits in zip(FIGURES, DIGITS, strict=True):
        values = [float(row[field]) for row in done if row[field]]
        yield f"{np.mean(values):.{digits}f}" if values else ""
    yield str(len(done)) + (f" ({len(rows) - len(done)} stopped)" if len(done) < len(rows) else "")


def main() -> None:
    """Run what is asked for and is not there yet, or write a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("places", nargs="*", metavar="CORPUS:K", default=["choose", "confirm"])
    parser.add_argument("--results", type=Path, default=Path(__file__).parent / "text_quality.csv")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--models", nargs="+", choices=list(MODELS), default=list(MODELS))
    parser.add_argument("--table", nargs=2, metavar=("SET", "FILE"))
    options = parser.parse_args()
    if options.table:
        name, path = options.table
        Path(path).write_text(table(name, options.results), encoding="utf-8")
        return
    places = [place for given in options.places for place in SETS.get(given, (given,))]
    cells = product(options.seeds, places, options.models)
    keys = ((*place.split(":"), seed, name) for seed, place, name in cells)
    with threadpool_limits(limits=1):
        add(options.results, KEY, (*FIGURES, "note"), keys, partial(measured, options.results))


if __name__ == "__main__":
    main()
