# SPDX-License-Identifier: BSD-3-Clause
"""The methods, corpora and measures of chapter 3 of Dupuy's thesis, for the experiments on it.

Streams are learnt in minibatches of 100, with P = 20 local iterations and, where it is free, the
step size 1/sqrt(t) (sections 3.5.1 and 3.5.2 of the thesis). All methods of a cell start from
the same topics, noise that depends on the split alone, and from alpha = 3 / K; only SGS, whose
alpha is fixed, has the mean of the alpha that G-OEM ends with.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpora
from benchmarks.papers.evidence import evidence_lower_bound
from benchmarks.papers.experiment import Cell
from streamtopics import GibbsOnlineEM, StreamingLDA, VariationalOnlineEM
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.datasets import make_lda_corpus
from streamtopics.local.variational import Variational
from streamtopics.messages import Minibatch, Topics
from streamtopics.metrics import left_to_right
from streamtopics.updates import DampedNewton, MeanDecay
from streamtopics.utils.parallel import Workers

N_SPLITS = 11
BATCH, SWEEPS, KAPPA, ALPHA_SUM = 100, 20, 0.5, 3.0
LENGTH, FREQUENT = 60, 1000
TRUE_ALPHA = 1.61 * np.array([5, 4, 3, 2, 2, 1.5, 1.5, 1, 1, 1]) / 22
N_TRUE = len(TRUE_ALPHA)
# Documents to learn from and held out.
SIZES = {"synthetic": (10_000, 250), "newsgroups": (10_000, 150), "imdb": (10_000, 150)}
CORPORA = tuple(SIZES)
# Short texts, so that the stream can be long; for its length alone.
SIZES["commits"] = (10_000, 500)
FILES = {
    "newsgroups": "newsgroups_train", "imdb": "imdb_unlabelled", "commits": "commit_subjects",
}  # fmt: skip
QUICK_SIZE, QUICK_LENGTH, QUICK_WORDS = (1200, 20), 15, 60
N_WORDS, N_PARTICLES = 10_000, 200


class Data(NamedTuple):
    """A stream and documents held out, of one split.

    Attributes
    ----------
    train, test : csr_matrix
    words : ndarray of str
    topic_word, alpha : ndarray or None
        Of the model that they were drawn from.
    """

    train: sparse.csr_matrix
    test: sparse.csr_matrix
    words: np.ndarray
    topic_word: np.ndarray | None = None
    alpha: np.ndarray | None = None


def by_split(
    topics: Mapping[str, Sequence[int]], few: Sequence[int] = (N_TRUE,), n_splits: int = N_SPLITS
) -> Callable[[bool], Iterator[Cell]]:
    """Return what yields corpora and numbers of topics, all of a split before the next.

    Quick runs have one split of the synthetic corpus, with few numbers of topics.
    """

    def cells(quick: bool) -> Iterator[Cell]:
        for split in range(1 if quick else n_splits):
            for corpus, numbers in ({"synthetic": few} if quick else topics).items():
                yield from ({"corpus": corpus, "K": K, "split": split} for K in numbers)

    return cells


@lru_cache(maxsize=2)
def data(corpus: str, split: int, quick: bool, *, whole: bool = False) -> Data:
    """The stream and the held-out documents of a split, in an order of its own.

    If `whole`, the stream goes on to the last document of the corpus.
    """
    if quick:
        words = np.array([f"word{i}" for i in range(QUICK_WORDS)])
        return drawn(None, words, split, QUICK_SIZE, QUICK_LENGTH)
    if corpus == "synthetic":
        topics, words = topics_of_newsgroups()
        return drawn(topics, words, split, SIZES[corpus], LENGTH)
    X, words = counts(FILES[corpus])
    n_train, n_test = SIZES[corpus]
    n_used = X.shape[0] if whole else n_train + n_test
    order = np.random.default_rng(split).permutation(X.shape[0])[:n_used]
    return Data(X[order[n_test:]], X[order[:n_test]], words)


def drawn(
    topics: np.ndarray | None, words: np.ndarray, split: int, size: tuple[int, int], length: float
) -> Data:
    """Documents drawn from ten topics, which are drawn themselves where there are none."""
    corpus = make_lda_corpus(
        sum(size),
        N_TRUE,
        len(words),
        topic_word=topics,
        doc_topic_prior=TRUE_ALPHA,
        mean_length=length,
        random_state=split,
    )
    X = corpus.X.astype(np.float32)
    return Data(X[size[1] :], X[: size[1]], words, corpus.topic_word, TRUE_ALPHA)


@lru_cache(maxsize=2)
def counts(name: str) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Counts of the most frequent words of a corpus, without English stop words."""
    vectorizer = CountVectorizer(stop_words="english", max_features=N_WORDS, dtype=np.float32)
    X = vectorizer.fit_transform(corpora.texts(name))
    return X[X.getnnz(axis=1) > 0], vectorizer.get_feature_names_out()


@lru_cache(maxsize=1)
def topics_of_newsgroups() -> tuple[np.ndarray, np.ndarray]:
    """Ten topics of the most frequent words of the newsgroups, and these words."""
    X, words = counts(FILES["newsgroups"])
    frequent = np.sort(np.argsort(-X.sum(axis=0).A1, kind="stable")[:FREQUENT])
    own = {"kappa": 0.7, "n_sweeps": 5, "schedule__n_start_rounds": 10, "max_iter": 5}
    model = GibbsOnlineEM.preset("GibbsOnlineEM", N_TRUE, random_state=0, **own)
    model.fit(X[:, frequent])
    return model.topic_word_, words[frequent]


@dataclass(frozen=True)
class Setting:
    """What the methods of a cell have in common.

    Attributes
    ----------
    n_components : int
    n_documents : int
        Of the stream, for the methods that have to be told.
    seed : int
    n_sweeps : int
        P, iterations in a document.
    kappa : float
        Of the step size t^-kappa, where it is free.
    """

    n_components: int
    n_documents: int
    seed: int
    n_sweeps: int = SWEEPS
    kappa: float = KAPPA

    @property
    def common(self) -> dict[str, Any]:
        """Parameters of all estimators."""
        return {
            "n_components": self.n_components,
            "doc_topic_prior": ALPHA_SUM / self.n_components,
            "batch_size": BATCH,
            "random_state": self.seed,
            "n_jobs": 1,
        }


def g_oem(s: Setting, **others: Any) -> StreamingTopicModel:
    """Gibbs online EM."""
    own = {"kappa": s.kappa, "n_sweeps": s.n_sweeps, "schedule__n_start_rounds": 1}
    return GibbsOnlineEM.preset("GibbsOnlineEM", **s.common | own | others)


def v_oem(s: Setting, **others: Any) -> StreamingTopicModel:
    """Variational online EM."""
    own = {"kappa": s.kappa, "max_local_iter": s.n_sweeps, "local_tol": 0.0}
    return VariationalOnlineEM.preset("VariationalOnlineEM", **s.common | own | others)


def of_preset(name: str, s: Setting, **others: Any) -> StreamingTopicModel:
    """A method of the literature."""
    return StreamingLDA.preset(name, **s.common | others)


def ascent(s: Setting) -> dict[str, Any]:
    """Parameters of mean-field inference of P iterations."""
    return {"inference__max_iter": s.n_sweeps, "inference__tol": 0.0}


def stochastic(s: Setting) -> dict[str, Any]:
    """Parameters of natural gradient steps."""
    return {"update__n_documents": s.n_documents, "update__step_size__kappa": s.kappa}


class Plain(Variational):
    """Coordinate ascent by sweeps alone, which are not extrapolated to their limit."""

    def infer(
        self,
        minibatch: Minibatch,
        topics: Topics,
        workers: Workers,
        start: np.ndarray | None = None,
        plain: bool = True,
    ) -> np.ndarray:
        """gamma, whatever `plain` is."""
        return super().infer(minibatch, topics, workers, start, plain=True)


def olda(s: Setting, **others: Any) -> StreamingTopicModel:
    """Online VB, with alpha by Newton steps of the same step size."""
    newton = {"doc_topic_prior_update": DampedNewton(step_size=MeanDecay(s.kappa))}
    return of_preset("OnlineVBLDA", s, **stochastic(s) | ascent(s) | newton | others)


def svb(s: Setting, **others: Any) -> StreamingTopicModel:
    """Streaming VB, with alpha by Newton steps of its step size 1/t."""
    newton = {"doc_topic_prior_update": DampedNewton(step_size=MeanDecay(1.0))}
    return of_preset("SVBLDA", s, **ascent(s) | newton | others)


def var_gibbs(s: Setting, **others: Any) -> StreamingTopicModel:
    """Natural gradient steps with statistics of Gibbs sampling."""
    own = {"inference__n_sweeps": s.n_sweeps}
    return of_preset("VarGibbsLDA", s, **stochastic(s) | own | others)


def sgs(s: Setting, **others: Any) -> StreamingTopicModel:
    """Streaming Gibbs sampling."""
    return of_preset("StreamingGibbsLDA", s, inference__n_sweeps=s.n_sweeps, **others)


METHODS: dict[str, Callable[[Setting], StreamingTopicModel]] = {
    "G-OEM": g_oem,
    "V-OEM++": lambda s: v_oem(s, update_each_sweep=True),
    "OLDA": olda,
    "VarGibbs": var_gibbs,
    "SVB": svb,
    "SPLDA": lambda s: of_preset(
        "SinglePassLDA", s, schedule__n_rounds=s.n_sweeps, inference__tol=0.0
    ),
    "SGS": sgs,
    "LDS": lambda s: of_preset("LangevinLDA", s, update__n_documents=s.n_documents),
    "V-OEM": v_oem,
    "G-OEM++": lambda s: g_oem(s, update_each_sweep=True),
    "OLDA, P = 10": lambda s: olda(replace(s, n_sweeps=10), inference=Plain()),
    "OLDA, P = 100": lambda s: olda(replace(s, n_sweeps=100), inference=Plain()),
    "SGS, smoothing 1": lambda s: sgs(s, topic_word_prior=1.0),
    "SVB, prior 0.5": lambda s: svb(s, topic_word_prior=0.5),
    "VarGibbs, prior 0.5": lambda s: var_gibbs(s, topic_word_prior=0.5),
    "G-OEM, decay 0.7": lambda s: g_oem(s, kappa=0.7, n_sweeps=5, schedule__n_start_rounds=10),
    "V-OEM, decay 0.7": lambda s: v_oem(s, kappa=0.7, max_local_iter=20, local_tol=1e-3),
}
THESIS = ("G-OEM", "V-OEM++", "OLDA", "VarGibbs", "SVB", "SPLDA", "SGS", "LDS")
# Methods whose alpha is the mean of G-OEM's, which comes before them.
AT_MEAN_ALPHA = ("SGS", "SGS, smoothing 1")
BOUNDED = ("OLDA", "SVB")


class Reached(NamedTuple):
    """A model on the way through a stream.

    Attributes
    ----------
    method : str
    model : StreamingTopicModel
    documents : int
        That it has seen.
    seconds : float
        Of the processor, in learning so far.
    """

    method: str
    model: StreamingTopicModel
    documents: int
    seconds: float


def runs(
    names: Sequence[str], setting: Setting, train: sparse.csr_matrix, marks: Sequence[int] = ()
) -> Iterator[Reached]:
    """Learn a stream by one method after another, and stop at some numbers of documents."""
    mean_alpha = np.nan
    for name in names:
        model = METHODS[name](setting)
        if name in AT_MEAN_ALPHA:
            model.set_params(doc_topic_prior=mean_alpha)
        for documents, seconds in through(model, train, marks or [train.shape[0]]):
            yield Reached(name, model, documents, seconds)
        if name == "G-OEM":
            mean_alpha = float(model.doc_topic_prior_.mean())


def through(
    model: StreamingTopicModel, train: sparse.csr_matrix, marks: Sequence[int]
) -> Iterator[tuple[int, float]]:
    """Learn in minibatches, over again where the stream ends; yield documents and seconds.

    At the first minibatch that reaches a mark, and for no longer than to the last.
    """
    n, seconds, ahead = train.shape[0], 0.0, sorted(marks)
    done = 0
    while ahead:
        start = done % n
        part = train[start : start + BATCH]
        begun = time.process_time()
        model.partial_fit(part)
        seconds += time.process_time() - begun
        done += part.shape[0]
        if done >= ahead[0]:
            ahead = [mark for mark in ahead if mark > done]
            yield done, seconds


def marks_of(n_documents: int, quick: bool) -> list[int]:
    """Numbers of documents at which methods are compared on their way."""
    marks = (200, 600) if quick else (1000, 2000, 5000)
    return [*(mark for mark in marks if mark < n_documents), n_documents]


def perplexity(model: StreamingTopicModel, X: sparse.csr_matrix) -> float:
    """Nats per document of held-out documents, by left-to-right evaluation."""
    return perplexity_of(model.topic_word_, model.doc_topic_prior_, X)


def perplexity_of(topic_word: np.ndarray, alpha: np.ndarray, X: sparse.csr_matrix) -> float:
    """The same of given topics."""
    found = left_to_right(X, topic_word, alpha, n_particles=N_PARTICLES, n_jobs=1)
    return -float(found.log_likelihood.mean())


def bound(method: str, model: StreamingTopicModel, X: sparse.csr_matrix) -> float | str:
    """The evidence lower bound of those that maximise it; nothing of the others."""
    return evidence_lower_bound(model, X) if method.partition(",")[0] in BOUNDED else ""
