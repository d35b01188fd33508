# SPDX-License-Identifier: BSD-3-Clause
"""Ratios of time of small minibatches, of many topics, of what watches a stream and of threads.

A hundred topics, and titles of about eight words out of 10,000, commit subjects, or one document
of 60 words out of 100,000. All run on one thread and learn each minibatch in turn; times are of
the processor, and a ratio is the median over minibatches, so that other work counts little. The
gain of a second thread is computed from the jobs of a fit on one thread; --wall also reads the
clock. --write keeps the ratios in `minibatch.csv`. --check ends with 1 if a ratio is a fifth above
the kept one, twice. Ratios are of one machine.

    STREAMTOPICS_DATA=... python -m benchmarks.minibatch [--wall | --write | --check]
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import LatentDirichletAllocation

from benchmarks import corpora, results
from benchmarks.scaling import short_documents
from streamtopics import StreamingLDA
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.streams import DriftMonitor, TopicTracker, stream
from streamtopics.updates import PowerPrior
from streamtopics.utils import parallel
from tests.plain import BAYESIAN, SVBHPP, SVBLDA, GibbsOnlineEM, VariationalOnlineEM

K, N_FIRST, N_WATCHED, SLOWER = 100, 8, 200, 1.2
TOPICS = K, 1000, 5000
RATIOS = Path(__file__).with_suffix(".csv")
MODELS: dict[str, StreamingTopicModel] = {
    "SVBLDA": SVBLDA(K, random_state=0),
    "StreamingLDA": StreamingLDA(K, random_state=0),
    "SVBHPP": SVBHPP(K, random_state=0),
    "power prior": StreamingLDA(K, update=PowerPrior(0.9), random_state=0, **BAYESIAN),
    "GibbsOnlineEM": GibbsOnlineEM(K, random_state=0),
    "VariationalOnlineEM": VariationalOnlineEM(K, random_state=0),
}
THREADED = {"newsgroups": 2400, "dblp_titles": 12_000}
# Seconds that it takes to hand jobs to another thread and to wait for it.
HANDED = 2e-4

Learners = dict[str, Callable[[sparse.csr_matrix], Any]]
Batches = list[sparse.csr_matrix]
# A name, milliseconds, and the ratio to those of another: its name and the ratio.
Cell = tuple[str, float, str, float]


def one_document(n_features: int, seed: int) -> sparse.csr_matrix:
    """A document of 60 different words."""
    words = np.sort(np.random.default_rng(seed).choice(n_features, 60, replace=False))
    return sparse.csr_matrix((np.ones(60, np.float32), words, [0, 60]), (1, n_features))


def in_turn(learners: Learners, batches: Batches) -> dict[str, np.ndarray]:
    """Milliseconds of each learner for each minibatch but the first ones."""
    taken: dict[str, list[float]] = {name: [] for name in learners}
    for X in batches:
        for name, learn in learners.items():
            start = time.thread_time()
            learn(X)
            taken[name].append(1e3 * (time.thread_time() - start))
    return {name: np.array(found[N_FIRST:]) for name, found in taken.items()}


def beside(title: str, taken: dict[str, np.ndarray], of: str) -> Iterator[Cell]:
    """All learners beside the one of this name."""
    for name, found in taken.items():
        if name != of:
            ratio = float(np.median(found / taken[of]))
            yield (f"{name}, {title}", float(np.median(found)), of, ratio)


def of_models(title: str, batches: Batches) -> Iterator[Cell]:
    """Models beside SVBLDA, which is beside scikit-learn."""
    first, *others = ({"SVBLDA": clone(MODELS["SVBLDA"]).partial_fit} for _ in MODELS)
    own = float(np.median(in_turn(first, batches)["SVBLDA"]))
    peer = LatentDirichletAllocation(K, learning_method="online", random_state=0)
    theirs = in_turn({"": peer.partial_fit}, [batches[0][:1]] * N_FIRST + batches[:4])[""]
    yield (f"SVBLDA, {title}", own, "scikit-learn", own / float(np.median(theirs)))
    # In pairs: what follows a slow model finds nothing in the processor's cache.
    for name, pair in zip([*MODELS][1:], others, strict=True):
        taken = in_turn(pair | {name: clone(MODELS[name]).partial_fit}, batches)
        yield from beside(title, taken, "SVBLDA")
    sampled = clone(MODELS["GibbsOnlineEM"]).fit(sparse.vstack(batches))
    taken = in_turn({"transform": sampled.transform, "GibbsOnlineEM": sampled.partial_fit}, batches)
    yield from beside(title, taken, "GibbsOnlineEM")


def of_topics(title: str, batches: Batches) -> Iterator[Cell]:
    """Many topics beside a hundred."""
    for name in ("SVBLDA", "StreamingLDA"):
        models = {f"{name}({k:,})": clone(MODELS[name]).set_params(n_components=k) for k in TOPICS}
        taken = in_turn({key: own.partial_fit for key, own in models.items()}, batches)
        yield from beside(title, taken, f"{name}({K})")


def of_watched(title: str, batches: Batches) -> Iterator[Cell]:
    """Learning with a monitor or a tracker beside learning alone, all minibatches together."""

    def streamed(model: StreamingTopicModel, callbacks: list[Any], X: sparse.csr_matrix) -> None:
        stream(model, [X], callbacks=callbacks)

    for name in ("StreamingLDA", "GibbsOnlineEM"):
        alone, monitored, tracked = (clone(MODELS[name]) for _ in range(3))
        learners: Learners = {
            name: partial(streamed, alone, []),
            f"{name}, monitor": partial(DriftMonitor().learn, monitored),
            f"{name}, tracker": partial(streamed, tracked, [TopicTracker()]),
        }
        totals = {key: found.sum()[None] for key, found in in_turn(learners, batches).items()}
        yield from beside(title, totals, name)


class Reckoned:
    """Runs jobs one by one, and keeps their time and what they would take on two threads."""

    def __init__(self) -> None:
        self.alone = self.together = 0.0

    def __call__(self, function: Callable[..., Any], jobs: Iterable[tuple[Any, ...]]) -> list[Any]:
        found, threads, n_jobs, before = [], [0.0, 0.0], 0, self.alone
        for job in jobs:
            start = time.thread_time()
            found.append(function(*job))
            seconds = time.thread_time() - start
            self.alone += seconds
            threads[threads.index(min(threads))] += seconds
            n_jobs += 1
        self.together += max(threads) + HANDED if n_jobs > 1 else self.alone - before
        return found


def of_threads(wall: bool) -> Iterator[Cell]:
    """Two threads beside one, in `fit` at the defaults."""
    for name, n_documents in THREADED.items():
        X = corpora.split(name).train[:n_documents]
        for kind in ("StreamingLDA", "SVBLDA", "GibbsOnlineEM"):
            model, found = MODELS[kind], []
            for _ in range(3):
                jobs = Reckoned()
                with patch.object(parallel, "SERIAL", parallel.Workers(jobs)):
                    start = time.thread_time()
                    clone(model).fit(X)
                    alone = time.thread_time() - start
                found.append((alone, alone - jobs.alone + jobs.together))
            alone, both = min(found)
            yield (f"{kind}, {name}, two threads", 1e3 * both, "one", both / alone)
            if wall:
                fits = {str(n): clone(model).set_params(n_jobs=n).fit for n in (1, 2)}
                runs = {n: partial(fit, X) for n, fit in fits.items()}
                one, two = results.least_seconds(runs, 5, time.perf_counter).values()
                yield (f"{kind}, {name}, two by the clock", 1e3 * two, "one", two / one)


def measured(wall: bool = False) -> Iterator[Cell]:
    """All cells."""
    batches = [short_documents(100, 10_000, seed) for seed in range(60)]
    for X in batches:
        X.sum_duplicates()
    larger = [sparse.vstack(batches[i : i + 10], format="csr") for i in range(0, 60, 3)]
    yield from of_models("100 titles", batches[:40])
    yield from of_models("1,000 titles", larger)
    yield from of_models("a document", [one_document(100_000, seed) for seed in range(40)])
    yield from of_topics("100 titles", batches[:16])
    X = corpora.split("commit_subjects").train
    X = X[np.random.default_rng(0).permutation(X.shape[0])]
    for size in (100, 1000):
        subjects = [X[i : i + size] for i in range(0, N_WATCHED * size, size)]
        yield from of_watched(f"{size:,} commit subjects", subjects)
    yield from of_threads(wall)


def printed(wall: bool) -> dict[str, float]:
    """The ratios of all cells."""
    found = {}
    for name, ms, of, found[name] in measured(wall):
        print(f"{name:<47}{ms:>9.3f} ms {found[name]:>9.4f} x {of}", flush=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for option in ("--wall", "--write", "--check"):
        parser.add_argument(option, action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    slower = found = printed(options.wall)
    if options.write:
        RATIOS.unlink(missing_ok=True)
        for name, ratio in found.items():
            results.append(RATIOS, ("name", "ratio"), {"name": name, "ratio": f"{ratio:.4f}"})
    known = {row["name"]: float(row["ratio"]) for row in results.read(RATIOS)}
    for again in range(2 * options.check):
        found = printed(False) if again and slower else found
        slower = {
            name: found[name] for name in slower if found[name] > SLOWER * known.get(name, np.inf)
        }
    for name in slower if options.check else ():
        print(f"slower: {name}, {found[name]:.4f} where {known[name]:.4f} is kept")
    return int(options.check and bool(slower))


if __name__ == "__main__":
    raise SystemExit(main())
