# SPDX-License-Identifier: BSD-3-Clause
"""Case study 4 of the BPS paper: MviewLDA as a classifier of streams of text.

Figures 15 and 16 of Nguyen et al. (2020) in kind: accuracy on the test documents through
the stream, by boosting scale and by size of the minibatches; K = 10 topics of each class,
R = 8 shared ones, 5000 seed words of each class at 0.5, the others at 0.01. The seeds are
those of all training documents, as in the paper, or of the first minibatch alone, which is
all that a stream has. Each split is an order of the stream. Beside it stand multinomial naive
Bayes and linear support vector machines.

    STREAMTOPICS_DATA=... python -m benchmarks.papers bps_case_4
"""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from benchmarks import corpora
from benchmarks.papers.bps_looks import minibatches
from benchmarks.papers.experiment import Cell, Experiment, Row, by_parts
from streamtopics import MultiViewLDA
from streamtopics.priors import class_words_prior
from streamtopics.updates import BPS

# Documents in a minibatch, the first of them for Figure 15.
SETS = {"newsgroups": (1000, 1500, 2000), "webkb": (200, 300, 400)}
SCALES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
SHOWN = 2000
SCALE_BY_SIZE = 0.4
SPLITS, SPLITS_OF_RIVALS = 11, 3
ALL, FIRST = "seeds of all", "seeds of the first minibatch"
# With the other priors of the paper too, 0.01, where the others have this package's defaults.
PAPER = "seeds of all, the paper's priors"
PRIORS = {"doc_topic_prior": 0.01, "topic_word_prior": 0.01}
OTHERS = "other classifiers"


class Labelled(NamedTuple):
    """Counts and labels, and which of the test documents the curves are drawn by."""

    X: sparse.csr_matrix
    y: np.ndarray
    test: sparse.csr_matrix
    target: np.ndarray
    shown: np.ndarray

    def ordered(self, seed: int) -> "Labelled":
        """With the training documents in an order of the seed's."""
        order = np.random.default_rng(seed).permutation(self.X.shape[0])
        return self._replace(X=self.X[order], y=self.y[order])


@cache
def load(name: str) -> Labelled:
    """The training documents and the test documents."""
    files = ["newsgroups_train", "newsgroups_test"] if name == "newsgroups" else [name]
    texts, labels = ([], []), ([], [])
    for file in files:
        for row in corpora.rows(file):
            part, _, label = row["label"].rpartition("/")
            is_test = file.endswith("_test") or part == "test"
            texts[is_test].append(row["text"])
            labels[is_test].append(label)
    stop_words = "english" if name == "newsgroups" else None  # webkb has lost its own.
    vectorizer = CountVectorizer(stop_words=stop_words, min_df=2, dtype=np.float32)
    X, test = vectorizer.fit_transform(texts[0]), vectorizer.transform(texts[1])
    shown = np.random.default_rng(0).permutation(test.shape[0])[:SHOWN]
    return Labelled(X, np.array(labels[0]), test, np.array(labels[1]), shown)


@cache
def few() -> Labelled:
    """Definitions of a dictionary, in four classes."""
    rows = corpora.enclosed("definitions")[:600]
    counter = CountVectorizer(stop_words="english", min_df=2, dtype=np.float32)
    X = counter.fit_transform([row["text"] for row in rows])
    y, shown = np.array([row["label"] for row in rows]), np.arange(200)
    return Labelled(X[200:], y[200:], X[:200], y[:200], shown)


def of_first(n: int, X: sparse.csr_matrix, y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The class prior by the first n documents."""
    return class_words_prior(X[:n], y[:n], classes=classes)


class StreamedSVM:
    """A linear SVM by stochastic gradients, on tf-idf whose idf the first minibatch gives."""

    def __init__(self, seed: int):
        self.tfidf = TfidfTransformer(sublinear_tf=True)
        self.svm = SGDClassifier(random_state=seed)

    def partial_fit(self, X: sparse.csr_matrix, y: np.ndarray, classes: np.ndarray) -> None:
        """One pass over a minibatch."""
        if not hasattr(self.tfidf, "idf_"):
            self.tfidf.fit(X)
        self.svm.partial_fit(self.tfidf.transform(X), y, classes=classes)

    def score(self, X: sparse.csr_matrix, y: np.ndarray) -> float:
        """Accuracy."""
        return self.svm.score(self.tfidf.transform(X), y)


def views(data: Labelled, kind: str, sizes: tuple[int, ...]) -> Iterator[tuple[str, int, Any]]:
    """Multi-view models by name and size of minibatches; the scale goes first."""
    prior = partial(of_first, sizes[0]) if kind == FIRST else class_words_prior(data.X, data.y)
    grid = [(scale, sizes[0]) for scale in SCALES]
    if kind != FIRST:
        grid += [(scale, size) for size in sizes[1:] for scale in (0.0, SCALE_BY_SIZE)]
    for scale, size in grid:
        name = f"BPS, s = {scale:g}" if scale else "SVB"
        model = MultiViewLDA(10, 8, class_word_prior=prior, update=BPS(scale))
        yield name, size, model.set_params(**PRIORS) if kind == PAPER else model


def machines(split: int) -> Iterator[tuple[str, Any]]:
    """Other classifiers that learn a stream."""
    for alpha in (1.0, 0.1, 0.01):
        yield f"naive Bayes, alpha = {alpha:g}", MultinomialNB(alpha=alpha)
    yield "linear SVM by SGD, counts", SGDClassifier(random_state=split)
    yield "linear SVM by SGD, tf-idf", StreamedSVM(split)
    yield "MviewLDA, flat prior", MultiViewLDA(10, 8, class_word_prior=0.01, random_state=split)


def all_at_once(data: Labelled) -> float:
    """Accuracy of a linear SVM that sees all training documents at once, as often as it likes."""
    machine = make_pipeline(TfidfTransformer(sublinear_tf=True), LinearSVC(random_state=0))
    return float(machine.fit(data.X, data.y).score(data.test, data.target))


def rows(model: Any, data: Labelled, size: int) -> Iterator[Row]:
    """Accuracy through a stream, and at its end."""
    classes = np.unique(data.y)
    for batch, look, moment, seen in minibatches(data.X.shape[0], size):
        model.partial_fit(data.X[batch], data.y[batch], classes=classes)
        if look:
            shown = float(model.score(data.test[data.shown], data.target[data.shown]))
            final = float(model.score(data.test, data.target)) if moment == "last" else ""
            yield {"seen": seen, "moment": moment, "accuracy": shown, "final": final}


def run(cell: Cell, quick: bool) -> Iterator[Row]:
    """All models of a kind on an order of a corpus."""
    split, sizes = cell["split"], (200, 100) if quick else SETS[cell["corpus"]]
    data = (few() if quick else load(cell["corpus"])).ordered(split)
    if cell["kind"] != OTHERS:
        for method, size, model in views(data, cell["kind"], sizes):
            model.set_params(random_state=split, n_jobs=2)
            for row in rows(model, data, size):
                yield {"method": method, "size": size, **row}
        return
    for method, model in machines(split):
        for row in rows(model, data, sizes[0]):
            yield {"method": method, "size": sizes[0], **row}
    end = {"seen": data.X.shape[0], "moment": "", "accuracy": "", "final": all_at_once(data)}
    yield {"method": "linear SVM, all at once, tf-idf", "size": sizes[0], **end}


PARTS = {PAPER: SPLITS, ALL: SPLITS, OTHERS: SPLITS, FIRST: SPLITS_OF_RIVALS}
EXPERIMENT = Experiment(
    "bps_case_4",
    ("corpus", "kind", "method", "size", "split", "seen", "moment"),
    ("accuracy", "final"),
    by_parts("kind", PARTS, SETS, "definitions"),
    run,
)
