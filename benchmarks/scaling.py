# SPDX-License-Identifier: BSD-3-Clause
"""What a minibatch costs as the vocabulary grows, and with many topics.

STREAMTOPICS_DATA=... python -m benchmarks.scaling
"""

import statistics
import time

import numpy as np
from scipy import sparse

from benchmarks import corpora
from streamtopics import StreamingLDA
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.local import Gibbs
from tests.plain import SVBLDA, GibbsOnlineEM, VariationalOnlineEM


def short_documents(n_documents: int, n_features: int, seed: int) -> sparse.csr_matrix:
    """Documents of about eight words whose frequencies follow Zipf's law."""
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(8, n_documents)
    cells = rng.zipf(1.3, 4 * lengths.sum())
    words = cells[cells <= n_features][: lengths.sum()] - 1
    scattered = (words * 7919) % n_features
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    ones = np.ones(len(scattered), np.float32)
    return sparse.csr_matrix((ones, scattered, indptr), shape=(n_documents, n_features))


def milliseconds(model: StreamingTopicModel, batches: list[sparse.csr_matrix]) -> float:
    """Median processor time of `partial_fit`, after the first ten."""
    taken = []
    for X in batches:
        started = time.process_time()
        model.partial_fit(X)
        taken.append(time.process_time() - started)
    return 1e3 * statistics.median(taken[10:])


def main() -> None:
    print("milliseconds for a minibatch of 100 documents of about 8 words")
    sizes = 10_000, 100_000, 1_000_000
    titles = [[short_documents(100, V, seed) for seed in range(60)] for V in sizes]
    print(f"{'words':<24}" + "".join(f"{V:>11,}" for V in sizes))
    for Model in (SVBLDA, GibbsOnlineEM, VariationalOnlineEM):
        for K in (20, 100):
            times = [milliseconds(Model(K, random_state=0), batches) for batches in titles]
            name = f"{Model.__name__}({K})"
            print(f"{name:<24}" + "".join(f"{ms:>11.2f}" for ms in times))
    print("\nof 100 newsgroup texts, by topics, in rows and in lists")
    X = corpora.split("newsgroups").train
    texts = [X[start : start + 100] for start in range(0, 2000, 100)]
    for K in (1000, 5000, 10_000):
        models = [StreamingLDA(K, inference=Gibbs(rounding=r), random_state=0) for r in (0.0, 0.01)]
        times = [milliseconds(model, texts) for model in models]
        print(f"{K:>10,} topics" + "".join(f"{ms:>11.2f}" for ms in times))


if __name__ == "__main__":
    main()
