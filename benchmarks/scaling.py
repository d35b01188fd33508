# SPDX-License-Identifier: BSD-3-Clause
"""What a minibatch costs as the vocabulary grows.

python -m benchmarks.scaling
"""

import statistics
import time

import numpy as np
from scipy import sparse

from streamtopics.base.topic_model import StreamingTopicModel
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


def minibatch_milliseconds(model: StreamingTopicModel, n_features: int) -> float:
    """Median time of `partial_fit` on 100 short documents, after the first ten."""
    batches = [short_documents(100, n_features, seed) for seed in range(60)]
    seconds = []
    for X in batches:
        started = time.perf_counter()
        model.partial_fit(X)
        seconds.append(time.perf_counter() - started)
    return 1e3 * statistics.median(seconds[10:])


def main() -> None:
    print("milliseconds for a minibatch of 100 documents of about 8 words")
    sizes = 10_000, 100_000, 1_000_000
    print(f"{'words':<24}" + "".join(f"{n_features:>11,}" for n_features in sizes))
    for Model in (SVBLDA, GibbsOnlineEM, VariationalOnlineEM):
        for K in (20, 100):
            times = [minibatch_milliseconds(Model(K, random_state=0), size) for size in sizes]
            name = f"{Model.__name__}({K})"
            print(f"{name:<24}" + "".join(f"{ms:>11.2f}" for ms in times))


if __name__ == "__main__":
    main()
