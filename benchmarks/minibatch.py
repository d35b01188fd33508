# SPDX-License-Identifier: BSD-3-Clause
"""Time of small minibatches, and of two threads, beside scikit-learn and gensim.

Hundred topics. A minibatch is 100 or 1,000 titles of about eight words out of 10,000, or one
document of 60 words out of 100,000. All run on one thread of one process; milliseconds are the
least of the processor's time that any minibatch took after the first ones, so that what else runs
on the machine counts little.

With --threads instead the gain of a second thread in a fit, by the clock, the least of five times
each; this needs two idle processors.

    STREAMTOPICS_DATA=... python -m benchmarks.minibatch [--threads]
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import LatentDirichletAllocation

from benchmarks import corpora
from benchmarks.scaling import short_documents
from streamtopics import StreamingLDA
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.streams import DriftMonitor, TopicTracker, stream
from streamtopics.updates import PowerPrior
from tests.plain import BAYESIAN, SVBHPP, SVBLDA, GibbsOnlineEM, VariationalOnlineEM

K = 100
MODELS: dict[str, StreamingTopicModel] = {
    "StreamingLDA": StreamingLDA(K, random_state=0),
    "SVBLDA": SVBLDA(K, random_state=0),
    "SVBHPP": SVBHPP(K, random_state=0),
    "power prior": StreamingLDA(K, update=PowerPrior(0.9), random_state=0, **BAYESIAN),
    "GibbsOnlineEM": GibbsOnlineEM(K, random_state=0),
    "VariationalOnlineEM": VariationalOnlineEM(K, random_state=0),
}
# Documents of a corpus that threads are measured with, and topics.
THREADED = {"newsgroups": 2400, "dblp_titles": 12_000, "m10_titles": 6000}
TOPICS = (20, 100)


def one_document(n_features: int, seed: int) -> sparse.csr_matrix:
    """A document of 60 different words."""
    words = np.sort(np.random.default_rng(seed).choice(n_features, 60, replace=False))
    return sparse.csr_matrix((np.ones(60, np.float32), words, [0, 60]), (1, n_features))


def gensim_learner(X: sparse.csr_matrix) -> Callable[[sparse.csr_matrix], None] | None:
    """The function that lets gensim learn from a minibatch; None where it is not installed."""
    try:
        from gensim.matutils import Sparse2Corpus
        from gensim.models import LdaModel
    except ImportError:
        return None
    names = dict.fromkeys(range(X.shape[1]), "")
    first = list(Sparse2Corpus(X, documents_columns=False))
    model = LdaModel(first, K, id2word=names, random_state=0)
    return lambda X: model.update(list(Sparse2Corpus(X, documents_columns=False)))


def least_milliseconds(
    learn: Callable[[sparse.csr_matrix], Any], batches: list[sparse.csr_matrix], n_first: int
) -> float:
    """The least time that any of the minibatches took but for the first ones."""
    taken = []
    for X in batches:
        start = time.thread_time()
        learn(X)
        taken.append(1e3 * (time.thread_time() - start))
    return min(taken[n_first:])


def print_minibatches(title: str, batches: list[sparse.csr_matrix]) -> None:
    """A line for each model: milliseconds, and the ratio to scikit-learn's."""
    peer = LatentDirichletAllocation(K, learning_method="online", random_state=0)
    found = {"scikit-learn": least_milliseconds(peer.partial_fit, batches[:4], 1)}
    gensim = gensim_learner(batches[0])
    if gensim is not None:
        found["gensim"] = least_milliseconds(gensim, batches[:4], 1)
    for name, own in MODELS.items():
        found[name] = least_milliseconds(clone(own).partial_fit, batches, 8)
    print(title)
    for name, ms in found.items():
        print(f"  {name:<22}{ms:>9.3f} ms {ms / found['scikit-learn']:>9.5f} of scikit-learn's")
    model = clone(MODELS["SVBLDA"])
    for X in batches:
        model.partial_fit(X)
    ms = least_milliseconds(lambda _: model.top_words(), batches[:6], 1)
    print(f"  {'SVBLDA.top_words':<22}{ms:>9.3f} ms")
    sampled = clone(MODELS["GibbsOnlineEM"]).fit(sparse.vstack(batches))
    ms = least_milliseconds(sampled.transform, batches[:6], 1)
    print(f"  {'GibbsOnlineEM.transform':<22}{ms:>9.3f} ms", flush=True)


def print_watched(size: int) -> None:
    """A line for each model: what a monitor and a tracker take, as shares of learning."""
    X = corpora.split("commit_subjects").train
    X = X[np.random.default_rng(0).permutation(X.shape[0])[: 40 * size]]
    batches = [X[i : i + size] for i in range(0, X.shape[0], size)]
    print(f"watched, minibatches of {size} shuffled commit subjects")
    for name in ("StreamingLDA", "GibbsOnlineEM"):
        taken = []
        for callbacks in ([], [DriftMonitor()], [TopicTracker()]):
            start = time.thread_time()
            stream(clone(MODELS[name]), batches, callbacks=callbacks)
            taken.append(time.thread_time() - start)
        monitor, tracker = (seconds / taken[0] - 1 for seconds in taken[1:])
        print(f"  {name:<22} monitor {monitor:.0%}, tracker {tracker:.0%} of learning", flush=True)


def clocked_gain(model: StreamingTopicModel, X: sparse.csr_matrix) -> float:
    """Time of a fit on one thread over that on two, by the clock."""
    least = {}
    for _ in range(5):
        for n_jobs in (1, 2):
            start = time.perf_counter()
            clone(model).set_params(n_jobs=n_jobs).fit(X)
            seconds = time.perf_counter() - start
            least[n_jobs] = min(seconds, least.get(n_jobs, np.inf))
    return least[1] / least[2]


def print_threads() -> None:
    """A line for each corpus, number of topics and model."""
    print("fit with the defaults: gain of a second thread, by the clock")
    for name, n_documents in THREADED.items():
        X = corpora.split(name).train[:n_documents]
        for k, kind in product(TOPICS, (StreamingLDA, SVBLDA, GibbsOnlineEM)):
            gain = clocked_gain(kind(k, random_state=0), X)
            print(f"  {name:<12}{kind.__name__:<15}K = {k:<4}{gain:>6.2f}x", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", action="store_true", help="needs two idle processors")
    if parser.parse_args().threads:
        print_threads()
        return
    titles = partial(short_documents, 100, 10_000)
    batches = [titles(seed) for seed in range(60)]
    for X in batches:
        X.sum_duplicates()
    print_minibatches("100 titles of about 8 words, out of 10,000", batches)
    larger = [sparse.vstack(batches[i : i + 10], format="csr") for i in range(0, 60, 4)]
    print_minibatches("1,000 such titles", larger)
    for size in (100, 1000):
        print_watched(size)
    single = [one_document(100_000, seed) for seed in range(60)]
    print_minibatches("a document of 60 words, out of 100,000", single)


if __name__ == "__main__":
    main()
