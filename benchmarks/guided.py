# SPDX-License-Identifier: BSD-3-Clause
"""Topics guided by two to five words a class, beside naive Bayes on the documents that hold one.

    python -m benchmarks.guided [--results FILE] [--seeds 0 1 2 3 4] [--methods NAME ...]
        [CORPUS ...]
    python -m benchmarks.guided --table doc/guided_table.rst

The seeds were written down from the names of the classes before anything was run. A fifth of
the documents is held out; accuracy there of the class whose topic is the greatest, and the share
of the seeds that are among the ten most probable words of their topic. tomotopy, if it is
installed, has the seeds as word priors and 200 sweeps. The table has mean accuracies over the
splits that a method was run on, and the mean gains over naive Bayes there: on all corpora, on
those that the defaults were chosen on, and on those that they were not. "In a stream" is
`partial_fit` of 2,000 documents at a time, "with shared seeds too" has seeds of several topics
beside the others; what labels do is told by `benchmarks.guided_labels`.
"""

import json
import time
from collections.abc import Callable
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from benchmarks import corpora
from benchmarks.results import (
    add,
    command,
    csv_table,
    differences,
    mean,
    of,
    parser_of,
    read,
)  # fmt: skip
from streamtopics import GuidedTopics
from streamtopics.text import NamedCounts

# Words of each class, and those that say something of several: written down before they were tried.
SEEDS, SHARED = json.loads(Path(__file__).with_name("guided_seeds.json").read_text()).values()
# What the defaults were chosen on; the other corpora confirm them.
CHOSEN_ON = ("newsgroups", "m10_titles")
KEY, FIGURES = ("corpus", "seed", "method"), ("accuracy", "seeds_kept", "seconds")


def labelled(corpus: str) -> tuple[list[str], np.ndarray]:
    """Texts and classes, of the documents that have one of the classes."""
    rows = corpora.rows(corpus)
    classes = np.array([str(row["label"]).rpartition("/")[2] for row in rows])
    kept = np.isin(classes, list(SEEDS[corpus]))
    return [row["text"] for row, keep in zip(rows, kept, strict=True) if keep], classes[kept]


class Task:
    """A split of a corpus, with the seeds that are among its words."""

    def __init__(self, corpus: str, seed: int):
        texts, classes = labelled(corpus)
        order = np.random.default_rng(seed).permutation(len(texts))
        n_test = len(texts) // 5
        vectorizer = CountVectorizer(stop_words="english", min_df=3, dtype=np.float32)
        X = vectorizer.fit_transform([texts[i] for i in order])
        self.train, self.test = X[n_test:], X[:n_test]
        self.truth = classes[order][:n_test]
        self.words = vectorizer.get_feature_names_out()
        known = set(self.words)
        self.seeds = {
            name: [word for word in words.split() if word in known]
            for name, words in SEEDS[corpus].items()
        }
        self.corpus, self.seed = corpus, seed
        self.names = np.array(list(self.seeds))
        columns = vectorizer.vocabulary_
        self.columns = [[columns[word] for word in words] for words in self.seeds.values()]

    def hits(self, X: sparse.csr_matrix) -> np.ndarray:
        """Seed tokens of each class in each document."""
        return np.column_stack([X[:, own].sum(axis=1).A1 for own in self.columns])

    def kept(self, topics: np.ndarray) -> float:
        """Share of the seeds among the ten most probable words of their topics."""
        top = [set(np.argsort(-row)[:10]) for row in topics]
        found = [word in top[k] for k, own in enumerate(self.columns) for word in own]
        return float(np.mean(found))


Method = Callable[[Task], tuple[np.ndarray, np.ndarray | None]]


def naive_bayes(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
    """Naive Bayes trained on the documents that hold a seed."""
    hits = task.hits(task.train)
    some = hits.max(axis=1) > 0
    model = MultinomialNB().fit(task.train[some], hits[some].argmax(axis=1))
    topics = np.zeros((len(task.names), task.train.shape[1]))
    topics[model.classes_] = np.exp(model.feature_log_prob_)
    return task.names[model.predict(task.test)], topics


def naive_bayes_of_words(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
    """Naive Bayes as `GuidedTopics` counts and smooths, on the documents that hold a seed."""
    hits = task.hits(task.train)
    some = hits.max(axis=1) > 0
    model = MultinomialNB(alpha=0.3).fit(task.train[some].sign(), hits[some].argmax(axis=1))
    return task.names[model.predict(task.test.sign())], None


def counted(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
    """The class of the most seed tokens."""
    return task.names[task.hits(task.test).argmax(axis=1)], None


def guided(**parameters: Any) -> Method:
    """`GuidedTopics`."""

    def run(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
        model = GuidedTopics(task.seeds, random_state=task.seed, **parameters)
        model.fit(NamedCounts.of(task.train, task.words))
        return model.predict(NamedCounts.of(task.test, task.words)), model.topic_word_

    return run


def guided_with_shared(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
    """`GuidedTopics`, with seeds of several topics beside those of one."""
    seeds = {name: list(words) for name, words in task.seeds.items()}
    for word in sorted(SHARED[task.corpus].keys() & set(task.words)):
        for name in SHARED[task.corpus][word].split():
            seeds[name] += [word] * (word not in seeds[name])
    model = GuidedTopics(seeds, random_state=task.seed)
    model.fit(NamedCounts.of(task.train, task.words))
    return model.predict(NamedCounts.of(task.test, task.words)), model.topic_word_


def in_stream(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
    """`GuidedTopics`, of minibatches of 2,000 documents."""
    model = GuidedTopics(task.seeds, random_state=task.seed)
    for start in range(0, task.train.shape[0], 2000):
        model.partial_fit(NamedCounts.of(task.train[start : start + 2000], task.words))
    return model.predict(NamedCounts.of(task.test, task.words)), model.topic_word_


def tomotopy(task: Task) -> tuple[np.ndarray, np.ndarray | None]:
    """tomotopy's LDA with word priors."""
    import tomotopy as tp

    model = tp.LDAModel(k=len(task.names), seed=task.seed)
    for k, own in enumerate(task.columns):
        for column in own:
            prior = [1.0 if j == k else 0.01 for j in range(len(task.names))]
            model.set_word_prior(task.words[column], prior)
    for row in task.train:
        model.add_doc(np.repeat(task.words[row.indices], row.data.astype(int)).tolist())
    model.train(200, workers=1)
    topics = np.zeros((len(task.names), len(task.words)))
    places = {word: i for i, word in enumerate(task.words)}
    for k in range(len(task.names)):
        topics[k, [places[w] for w in model.used_vocabs]] = model.get_topic_word_dist(k)
    documents = [
        model.make_doc(np.repeat(task.words[row.indices], row.data.astype(int)).tolist())
        if row.nnz
        else None
        for row in task.test
    ]
    found = model.infer([d for d in documents if d is not None], iterations=100)[0]
    shares = np.zeros((len(documents), len(task.names)))
    shares[[i for i, d in enumerate(documents) if d is not None]] = found
    return task.names[shares.argmax(axis=1)], topics


METHODS: dict[str, Method] = {
    "counting seeds": counted,
    "naive Bayes on seed hits": naive_bayes,
    "the same, words once, smoothing 0.3": naive_bayes_of_words,
    "GuidedTopics": guided(),
    "GuidedTopics in a stream": in_stream,
    "GuidedTopics, with shared seeds too": guided_with_shared,
    "GuidedTopics, Gibbs sampling": guided(inference="gibbs"),
    "tomotopy, word priors": tomotopy,
}


@lru_cache(maxsize=1)
def task_of(corpus: str, seed: int) -> Task:
    """A split, which all methods have."""
    return Task(corpus, seed)


def measured(corpus: str, seed: int, method: str) -> dict[str, str] | None:
    """The figures of a method on a split; none of a package that is not there."""
    task = task_of(corpus, seed)
    start = time.process_time()
    try:
        predicted, topics = METHODS[method](task)
    except ImportError as error:
        print(f"{method}: {error}")
        return None
    seconds = time.process_time() - start
    return {
        "accuracy": f"{np.mean(predicted == task.truth):.4f}",
        "seeds_kept": "" if topics is None else f"{task.kept(topics):.4f}",
        "seconds": f"{seconds:.2f}",
    }


def table(results: Path) -> str:
    """A table of mean accuracies, and of gains over naive Bayes; the least is of any corpus."""
    rows, lines = read(results), []
    known = dict.fromkeys(row["corpus"] for row in rows)
    for method in METHODS:
        own = {corpus: of(rows, corpus=corpus, method=method) for corpus in known}
        base = {c: of(rows, corpus=c, method="naive Bayes on seed hits") for c in known}
        gains = {c: differences(own[c], base[c], "accuracy").mean() for c in known}
        shown = [mean(own[corpus], "accuracy") for corpus in known]
        of_gains = (
            np.mean([*gains.values()]),
            np.mean([gains[corpus] for corpus in known if corpus in CHOSEN_ON]),
            np.mean([gains[corpus] for corpus in known if corpus not in CHOSEN_ON]),
            min(gains.values()),
        )
        lines.append([f'"{method}"', *shown, *(f"{gain:+.3f}" for gain in of_gains)])
    head = ("method", *known, "mean gain", "gain where chosen", "gain elsewhere", "smallest gain")
    return csv_table("Accuracy on held-out documents", head, lines)


def main() -> None:
    """Run what is asked for and is not there yet."""
    parser = parser_of(__doc__, __file__, places=list(SEEDS), metavar="CORPUS")
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    options = parser.parse_args()
    cells = product(options.places, options.seeds, options.methods)
    command(options, table, lambda: add(options.results, KEY, FIGURES, cells, measured))


if __name__ == "__main__":
    main()
