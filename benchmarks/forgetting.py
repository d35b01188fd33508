# SPDX-License-Identifier: BSD-3-Clause
"""What learning how much to forget costs, beside SVB with the same number of passes.

Minibatches of 10,000 documents of about 100 tokens, 50,000 words, 100 topics, one
thread, processor time of the third minibatch; HPP and SVB take turns. The passes that
HPP takes are counted, and SVB is given as many.

    python benchmarks/forgetting.py
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from streamtopics import SVBHPP, SVBLDA
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.local import Variational


def documents(options: argparse.Namespace, seed: int) -> sparse.csr_matrix:
    """Words whose frequencies follow Zipf's law."""
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(options.length, options.documents)
    cells = np.minimum(rng.zipf(1.25, lengths.sum()) - 1, options.words - 1)
    rows = np.repeat(np.arange(options.documents), lengths)
    ones = np.ones(len(cells), np.float32)
    columns = (cells * 7919) % options.words
    return sparse.csr_matrix((ones, (rows, columns)), (options.documents, options.words))


def count_calls(function: Callable) -> tuple[Callable, list[int]]:
    """The function, and a list with the number of its calls."""
    calls = [0]

    def counted(*arguments, **named):
        calls[0] += 1
        return function(*arguments, **named)

    return counted, calls


def seconds(model: StreamingTopicModel, batches: list[sparse.csr_matrix]) -> float:
    """Processor time of the last minibatch."""
    for X in batches[:-1]:
        model.partial_fit(X)
    started = time.process_time()
    model.partial_fit(batches[-1])
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--words", type=int, default=50_000)
    parser.add_argument("--components", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    batches = [documents(options, seed) for seed in range(3)]
    print(f"{'rate':>8} {'starts':>14} {'passes':>7} {'HPP':>7} {'SVB':>7} {'ratio':>6}")
    for rate in ("shared", "topic"):
        for starts in ((0.5,), (0.05, 0.95)):
            hpp = SVBHPP(options.components, rate=rate, rate_starts=starts, random_state=0)
            original = Variational.step
            Variational.step, calls = count_calls(original)
            with threadpool_limits(limits=1):
                seconds(hpp, batches[:2])
                calls[0] = 0
                hpp.partial_fit(batches[2])
                passes, Variational.step = calls[0], original
                svb = SVBLDA(options.components, n_rounds=passes, random_state=0)
                times = []
                for _ in range(options.runs):
                    hpp = SVBHPP(options.components, rate=rate, rate_starts=starts, random_state=0)
                    times.append((seconds(hpp, batches), seconds(clone(svb), batches)))
            ours, theirs = (statistics.median(column) for column in zip(*times, strict=True))
            ratio = statistics.median(a / b for a, b in times)
            row = f"{rate:>8} {starts!s:>14} {passes:>7} {ours:>7.2f} {theirs:>7.2f} {ratio:>6.2f}"
            print(row, flush=True)


if __name__ == "__main__":
    main()
