# SPDX-License-Identifier: BSD-3-Clause
"""The Gibbs local step beside tomotopy's collapsed sampler, in one run.

Each sampler draws the topics of all tokens of a corpus in every sweep; ours is given the topics'
words that one pass of GibbsOnlineEM finds in it, and includes the start of the chains and the
expected counts of the minibatch, tomotopy's learns the topics on the way and is timed after some
sweeps. Both take turns, on one thread; times are of the processor, the least of some runs.

    STREAMTOPICS_DATA=... python -m benchmarks.gibbs --components 20 100 1000
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks import corpora
from benchmarks.results import least_seconds
from streamtopics.kernels import variational
from streamtopics.local import Gibbs
from streamtopics.local.step import minibatch_of
from streamtopics.messages import Minibatch, Topics
from streamtopics.utils.parallel import Workers, workers
from tests.plain import GibbsOnlineEM


def learned(options: argparse.Namespace, n_components: int) -> tuple[Minibatch, Topics]:
    """Documents of a corpus, and the topics of one pass over it."""
    X = corpora.split(options.corpus, max_features=options.words).train
    model = GibbsOnlineEM(n_components, random_state=options.seed).fit(X)
    return given(X[: options.documents], model.topic_word_, model.doc_topic_prior_)


def given(
    X: sparse.csr_matrix, topic_word: np.ndarray, alpha: np.ndarray
) -> tuple[Minibatch, Topics]:
    """Documents and topics as the local step takes them."""
    minibatch = minibatch_of(X.astype(np.float32))
    weights = np.zeros((len(minibatch.words), variational.padded_width(len(alpha))), np.float32)
    weights[:, : len(alpha)] = topic_word.T[minibatch.words]
    return minibatch, Topics(weights / weights.max(axis=1, keepdims=True), alpha)


def streamtopics(
    minibatch: Minibatch, topics: Topics, step: Gibbs, some_workers: Workers
) -> Callable[[], None]:
    """A run of the whole local step."""
    seeds = np.arange(minibatch.n_documents, dtype=np.uint64)
    return lambda: step.step(minibatch, topics, seeds, some_workers)


def tomotopy(options: argparse.Namespace, minibatch: Minibatch, alpha: np.ndarray) -> Callable:
    """A run of n_sweeps iterations, after as many others."""
    import tomotopy as tp

    n_components = len(alpha)
    model = tp.LDAModel(k=n_components, alpha=alpha.tolist(), eta=0.01, seed=options.seed)
    model.optim_interval = 0
    for start, stop in zip(minibatch.indptr[:-1], minibatch.indptr[1:], strict=True):
        repeats = minibatch.counts[start:stop].astype(int)
        model.add_doc(np.repeat(minibatch.indices[start:stop], repeats).astype(str).tolist())
    model.train(options.sweeps, workers=1)
    return lambda: model.train(options.sweeps, workers=1)


def compare(options: argparse.Namespace) -> None:
    """Nanoseconds per token and sweep, beside tomotopy's."""
    print(
        f"{options.documents:,} documents of {options.corpus}, {options.words:,} words; "
        "nanoseconds per token and sweep"
    )
    print(f"{'K':>6} {'streamtopics':>13} {'tomotopy':>9} {'ratio':>6}   of P sweeps, A averaged")
    for n_components in options.components:
        minibatch, topics = learned(options, n_components)
        per_token = 1e9 / minibatch.n_tokens / options.sweeps
        step = Gibbs(options.sweeps, options.averaged)
        with workers(1) as alone:
            runs = {
                "streamtopics": streamtopics(minibatch, topics, step, alone),
                "tomotopy": tomotopy(options, minibatch, topics.alpha),
            }
            seconds = least_seconds(runs, options.runs, time.process_time)
        ours, theirs = (seconds[name] * per_token for name in runs)
        print(
            f"{n_components:>6} {ours:>13.1f} {theirs:>9.1f} {theirs / ours:>5.1f}x   "
            f"P = {options.sweeps}, A = {options.averaged}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--components", type=int, nargs="+", default=[20, 100, 1000])
    parser.add_argument("--corpus", default="newsgroups")
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--words", type=int, default=10_000)
    parser.add_argument("--sweeps", type=int, default=20)
    parser.add_argument("--averaged", type=int, default=5)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with threadpool_limits(limits=1):
        compare(options)


if __name__ == "__main__":
    main()
