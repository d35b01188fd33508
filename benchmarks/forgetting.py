# SPDX-License-Identifier: BSD-3-Clause
"""What forgetting costs, beside SVB with the same number of passes.

Minibatches of 1,000 documents of about 140 tokens, 72,000 words, 100 topics, one thread,
processor time of a minibatch after two others; the contestants and SVB take turns. The
passes that HPP takes are counted, and SVB is given as many. A few short documents are

    python benchmarks/forgetting.py --documents 100 --length 8 --words 100000
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from plain import SVBHPP, SVBLDA
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from streamtopics import StreamingLDA
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.estimators import Schedule
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
    """Median processor time of the minibatches after the first two."""
    times = []
    for X in batches:
        started = time.process_time()
        model.partial_fit(X)
        times.append(time.process_time() - started)
    return statistics.median(times[2:])


def contestants(n_components: int) -> dict[str, StreamingTopicModel]:
    """Ways to forget, by what the table calls them."""
    found = {"power prior": StreamingLDA.preset("PowerPriorLDA", n_components, random_state=0)}
    for rate in ("shared", "topic"):
        for starts in ((0.5,), (0.05, 0.95)):
            name = f"HPP, {rate} rate, {len(starts)} start(s)"
            found[name] = SVBHPP(n_components, rate=rate, rate_starts=starts, random_state=0)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--length", type=int, default=140)
    parser.add_argument("--words", type=int, default=72_000)
    parser.add_argument("--components", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    batches = [documents(options, seed) for seed in range(5)]
    print(f"{'':<30} {'passes':>7} {'ms':>8} {'SVB':>8} {'ratio':>6}")
    for name, model in contestants(options.components).items():
        original = Variational.step
        Variational.step, calls = count_calls(original)
        with threadpool_limits(limits=1):
            counted = clone(model)
            for n, X in enumerate(batches):
                calls[0] = 0 if n == 2 else calls[0]
                counted.partial_fit(X)
            passes, Variational.step = round(calls[0] / len(batches[2:])), original
            svb = SVBLDA(options.components, schedule=Schedule(n_rounds=passes), random_state=0)
            times = [
                (seconds(clone(model), batches), seconds(clone(svb), batches))
                for _ in range(options.runs)
            ]
        ours, theirs = (1e3 * statistics.median(column) for column in zip(*times, strict=True))
        ratio = statistics.median(a / b for a, b in times)
        print(f"{name:<30} {passes:>7} {ours:>8.1f} {theirs:>8.1f} {ratio:>6.2f}", flush=True)


if __name__ == "__main__":
    main()
