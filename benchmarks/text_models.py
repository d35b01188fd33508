# SPDX-License-Identifier: BSD-3-Clause
"""The models that `text_quality.py` compares, of this package and of others, by one interface."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.decomposition import NMF, LatentDirichletAllocation

from streamtopics import StreamingLDA, StreamingMixture
from tests.plain import SVBLDA, GibbsOnlineEM

LEAST_PROBABILITY = 1e-12

Counts = sparse.csr_matrix
Proportions = Callable[[Counts], np.ndarray]


class Fitted(NamedTuple):
    """Topics of a fitted model, and functions that apply it."""

    topics: np.ndarray
    alpha: np.ndarray | None
    transform: Proportions
    # Proportions and topics with a background, where the model has one.
    own: Callable[[Counts], tuple[np.ndarray, np.ndarray]] | None = None
    note: str = ""


# A model reads the counts, and gives what trains it: only that is timed.
Train = Callable[[], Fitted]


def own(make: Callable[..., Any], X: Counts, K: int, seed: int, **kwargs: Any) -> Train:
    """An estimator of this package."""
    model = make(K, random_state=seed, **kwargs)

    def with_background(Z: Counts) -> tuple[np.ndarray, np.ndarray]:
        columns = np.arange(Z.shape[1], dtype=np.int32)
        return model._inferred(lambda pool: (model._infer(Z, pool), model._topics_of(columns)))

    def train() -> Fitted:
        model.fit(X)
        return Fitted(model.topic_word_, model.doc_topic_prior_, model.transform, with_background)

    return train


def scikit_learn(X: Counts, K: int, seed: int, **kwargs: Any) -> Train:
    """Variational Bayes: one pass of the online kind, if not told otherwise."""
    online = {"learning_method": "online", "max_iter": 1}
    model = LatentDirichletAllocation(K, random_state=seed, **online | kwargs)

    def train() -> Fitted:
        model.fit(X)
        topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
        return Fitted(topics, np.full(K, model.doc_topic_prior_), model.transform)

    return train


def scikit_learn_tuned(X: Counts, K: int, seed: int) -> Train:
    """The same with priors as StreamingLDA's."""
    return scikit_learn(X, K, seed, doc_topic_prior=3 / K, topic_word_prior=0.02, batch_size=128)


def gensim(X: Counts, K: int, seed: int, **kwargs: Any) -> Train:
    """One pass of gensim's online variational Bayes."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    def bags(Z: Counts) -> list[Any]:
        return list(Sparse2Corpus(Z, documents_columns=False))

    corpus, names = bags(X), {i: str(i) for i in range(X.shape[1])}

    def train() -> Fitted:
        model = LdaModel(corpus, K, names, passes=1, random_state=seed, eval_every=None, **kwargs)

        def transform(Z: Counts) -> np.ndarray:
            gamma, _ = model.inference(bags(Z))
            return gamma / gamma.sum(axis=1, keepdims=True)

        return Fitted(model.get_topics(), model.alpha, transform)

    return train


def tomotopy(
    X: Counts, K: int, seed: int, *, n_sweeps: int = 200, seconds: float | None = None,
    **priors: float,
) -> Train:  # fmt: skip
    """Sweeps of tomotopy's Gibbs sampler, so many or as many as the seconds allow."""
    import tomotopy as tp

    model = tp.LDAModel(k=K, seed=seed, **priors)
    for tokens in tokens_of(X[X.getnnz(axis=1) > 0]):
        model.add_doc(tokens.astype(str).tolist())

    def transform(Z: Counts) -> np.ndarray:
        theta = np.tile(model.alpha / np.sum(model.alpha), (Z.shape[0], 1))
        full = np.flatnonzero(Z.getnnz(axis=1))
        rows = [model.make_doc(tokens.astype(str).tolist()) for tokens in tokens_of(Z[full])]
        theta[full] = model.infer(rows, iterations=50, workers=1)[0]
        return theta

    def train() -> Fitted:
        start, n_done = time.process_time(), 0
        step = n_sweeps if seconds is None else 1
        while n_done < n_sweeps if seconds is None else time.process_time() - start < seconds:
            n_done += step
            model.train(step, workers=1)
        topics = np.zeros((K, X.shape[1]))
        columns = [int(word) for word in model.used_vocabs]
        topics[:, columns] = [model.get_topic_word_dist(k) for k in range(K)]
        return Fitted(topics, np.array(model.alpha), transform, note=f"{n_done} sweeps")

    return train


def nmf(make: Callable[..., Any], X: Counts, K: int, seed: int) -> Train:
    """Factors by the Kullback-Leibler divergence, with a millionth of each topic spread evenly."""
    model = make(K, beta_loss="kullback-leibler", random_state=seed)

    def train() -> Fitted:
        model.fit(X)
        mass = np.maximum(model.components_.sum(axis=1), LEAST_PROBABILITY)
        topics = (1 - 1e-6) * model.components_ / mass[:, None] + 1e-6 / X.shape[1]

        def transform(Z: Counts) -> np.ndarray:
            weights = model.transform(Z) * mass + 1e-8
            return weights / weights.sum(axis=1, keepdims=True)

        return Fitted(topics, None, transform)

    return train


def gsdmm(X: Counts, K: int, seed: int, *, alpha: float = 0.1, beta: float = 0.1) -> Train:
    """Ten sweeps of collapsed Gibbs sampling of one topic a document (Yin and Wang 2014)."""
    rng = np.random.default_rng(seed)
    V = X.shape[1]
    tokens = list(tokens_of(X))
    # The how manieth token of its word each token is, and of its document.
    repeats = [beta + np.arange(len(w)) - np.searchsorted(w, w) for w in tokens]
    places = [V * beta + np.arange(len(w))[:, None] for w in tokens]

    def train() -> Fitted:
        topic = rng.integers(0, K, len(tokens))
        counts = np.zeros((V, K))
        for w, k in zip(tokens, topic, strict=True):
            np.add.at(counts[:, k], w, 1)
        n, mass = np.bincount(topic, minlength=K) + alpha, counts.sum(axis=0)
        for _ in range(10):
            for d, w in enumerate(tokens):
                move(w, topic[d], -1, counts, n, mass)
                odds = (counts[w] + repeats[d][:, None]) / (mass + places[d])
                log_p = np.log(n) + np.log(odds).sum(axis=0)
                p = np.exp(log_p - log_p.max()).cumsum()
                topic[d] = min(int(np.searchsorted(p, rng.random() * p[-1])), K - 1)
                move(w, topic[d], 1, counts, n, mass)
        topics, weights = ((counts + beta) / (mass + V * beta)).T, n / n.sum()

        def transform(Z: Counts) -> np.ndarray:
            log_p = Z @ np.log(topics).T + np.log(weights)
            p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
            return p / p.sum(axis=1, keepdims=True)

        return Fitted(topics, weights, transform)

    return train


def move(
    w: np.ndarray, k: int, sign: int, counts: np.ndarray, n: np.ndarray, mass: np.ndarray
) -> None:
    """Put a document into a topic of `gsdmm`, or take it out."""
    np.add.at(counts[:, k], w, sign)
    n[k] += sign
    mass[k] += sign * len(w)


def bitermplus(X: Counts, K: int, seed: int) -> Train:
    """A hundred sweeps of the biterm topic model, with its scikit-learn class's priors."""
    import bitermplus as bp

    words = np.arange(X.shape[1]).astype(str)
    model = bp.BTM(X.astype(int), words, T=K, alpha=50 / K, beta=0.01, seed=seed)
    biterms = bp.get_biterms([tokens.astype(np.int32) for tokens in tokens_of(X)])

    def transform(Z: Counts) -> np.ndarray:
        full = np.flatnonzero(Z.getnnz(axis=1))
        theta = np.tile(model.theta_, (Z.shape[0], 1))
        rows = [tokens.astype(np.int32) for tokens in tokens_of(Z[full])]
        found = np.asarray(model.transform(rows, verbose=False))
        known = np.isfinite(found).all(axis=1) & (found.sum(axis=1) > 0)
        theta[full[known]] = found[known]
        return theta / theta.sum(axis=1, keepdims=True)

    def train() -> Fitted:
        model.fit(biterms, iterations=100, verbose=False)
        return Fitted(np.asarray(model.matrix_topics_words_), model.theta_, transform)

    return train


def tokens_of(X: Counts) -> Iterator[np.ndarray]:
    """The words of each document as columns, in order, repeated by their counts."""
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        order = np.argsort(X.indices[start:stop], kind="stable")
        yield np.repeat(X.indices[start:stop][order], X.data[start:stop][order].astype(int))


DEFAULT, EQUAL_TIME = "StreamingLDA", "tomotopy, equal time"
MODELS: dict[str, Callable[..., Train]] = {
    DEFAULT: partial(own, StreamingLDA),
    "StreamingLDA, gibbs": partial(own, StreamingLDA, inference="gibbs"),
    # Keeps a tenth of the prior's weight in the topics.
    "StreamingLDA, bps": partial(own, StreamingLDA, update="bps"),
    "StreamingMixture": partial(own, StreamingMixture),
    "GibbsOnlineEM": partial(own, GibbsOnlineEM),
    "SVBLDA": partial(own, SVBLDA),
    "scikit-learn": scikit_learn,
    "scikit-learn, tuned priors": scikit_learn_tuned,
    "gensim": gensim,
    "gensim, alpha learnt": partial(gensim, alpha="auto", eta=0.02),
    "tomotopy, 200 sweeps": tomotopy,
    EQUAL_TIME: tomotopy,
    "NMF": partial(nmf, partial(NMF, solver="mu", init="nndsvda", max_iter=60)),
    "GSDMM": gsdmm,
    "bitermplus": bitermplus,
}
OURS = frozenset(
    {
        DEFAULT, "StreamingLDA, gibbs", "StreamingLDA, bps", "StreamingMixture", "GibbsOnlineEM",
        "SVBLDA",
    }
)  # fmt: skip
