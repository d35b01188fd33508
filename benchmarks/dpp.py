# SPDX-License-Identifier: BSD-3-Clause
"""Speed of the low-rank DPP over all sentences of 500 words, on one thread.

core: seconds for 10,000 exact draws of sets of about ten sentences, with gamma and without;
milliseconds for the normaliser, alone and with its derivatives by U, theta and gamma, r = 10;
the median of some runs. Seconds are those of the processor.

estimator: LowRankDPP. Milliseconds to transform one review of ten sentences, the median over
reviews; then minutes and memory of `fit` on some numbers of reviews, each in a process of its
own. Memory is the peak during the fit, less what there was before it with the data: flat if it
grows with nothing but them.

    python -m benchmarks.dpp core
    STREAMTOPICS_DATA=... python -m benchmarks.dpp estimator
"""

import argparse
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from threadpoolctl import threadpool_limits

import streamtopics
from benchmarks import corpora
from streamtopics.dpp.kernel import (
    Kernel,
    Process,
    log_det,
    project,
    shrunk,
    slope_embedding,
    slope_gamma,
    slope_theta,
)
from streamtopics.dpp.measures import Bernoulli
from streamtopics.dpp.sampling import sample
from streamtopics.text import SentenceVectorizer
from tests.reference.dpp_sets import make_dpp_sets

V, N_SENTENCES = 500, 10


def median_seconds(action: Callable[[], object], n_runs: int) -> float:
    """Of one run."""
    seconds = []
    for _ in range(n_runs):
        started = time.process_time()
        action()
        seconds.append(time.process_time() - started)
    return statistics.median(seconds)


def draws(options: argparse.Namespace) -> None:
    """Seconds for exact sets of sentences."""
    made = make_dpp_sets(1, "exponential", n_features=V, n_components=12, random_state=0)
    print(f"{options.sets:,} sets of sentences of {V} words")
    print(f"| gamma | points of a set | seconds |\n{'|---' * 3}|")
    for gamma in (0.0, made.gamma):
        process = Process(made.measure, Kernel(made.U, made.theta, gamma), made.noise)
        started = time.process_time()
        sets = sample(process, options.sets, np.random.default_rng(0))
        seconds = time.process_time() - started
        print(f"| {gamma:g} | {sets.sizes.mean():.1f} | {seconds:.1f} |", flush=True)


def normalizer(U: np.ndarray, measure: Bernoulli, gamma: float) -> float:
    """log det(I + A Sigma) at theta = 1."""
    return float(log_det(project(measure, U, gamma, 1.0), np.ones(U.shape[1])))


def with_slopes(U: np.ndarray, measure: Bernoulli, gamma: float) -> tuple:
    """The same and its derivatives by theta, U and gamma."""
    theta, projected = np.ones(U.shape[1]), project(measure, U, gamma, 1.0)
    inner = shrunk(projected, theta)
    return (
        log_det(projected, theta),
        slope_theta(projected, theta),
        slope_embedding(projected, inner),
        slope_gamma(projected, inner, 1),
    )


def normalizers(options: argparse.Namespace) -> None:
    """Milliseconds for the sum over all sets."""
    made = make_dpp_sets(1, "exponential", n_features=V, n_components=10, random_state=0)
    print(f"\nnormaliser over sets of 2^{V} sentences, r = 10")
    for name, function in (("alone", normalizer), ("with derivatives", with_slopes)):
        seconds = median_seconds(
            lambda f=function: f(made.U, made.measure, made.gamma), options.runs
        )
        print(f"{name:<20} {1e3 * seconds:.3f} ms", flush=True)


class Reviews(NamedTuple):
    """Counts of sentences, those without words left out, and the review of each."""

    X: sparse.csr_matrix
    groups: np.ndarray

    def first(self, n_documents: int) -> "Reviews":
        """Those of the first reviews."""
        stop = np.searchsorted(self.groups, n_documents)
        return Reviews(self.X[:stop], self.groups[:stop])


def read_reviews(name: str, n_documents: int) -> Reviews:
    """The sentences of reviews over their most frequent words."""
    counter = CountVectorizer(
        stop_words="english", token_pattern=corpora.PROSE_WORD, max_features=V
    )
    matrices = SentenceVectorizer(counter).fit_transform(corpora.texts(name)[:n_documents])
    groups = np.repeat(np.arange(len(matrices)), [X.shape[0] for X in matrices])
    X = sparse.vstack(list(matrices), format="csr")
    kept = X.getnnz(axis=1) > 0
    return Reviews(X[kept], groups[kept])


def transform(reviews: Reviews, options: argparse.Namespace) -> None:
    """Milliseconds for a review of ten sentences."""
    model = streamtopics.LowRankDPP(
        ground_set="bernoulli", n_components=options.components, random_state=0
    )
    few = reviews.first(options.documents[0])
    model.fit(few.X, groups=few.groups)
    starts = np.flatnonzero(np.diff(few.groups, prepend=-1))
    long_enough = [s for s, e in pairwise(starts) if e - s >= N_SENTENCES]
    documents = [[few.X[start : start + N_SENTENCES]] for start in long_enough[:200]]
    seconds = [median_seconds(lambda x=x: model.transform(x), 3) for x in documents]
    print(f"transform of one review of {N_SENTENCES} sentences, median of {len(seconds)}: "
          f"{1e3 * statistics.median(seconds):.3f} ms", flush=True)  # fmt: skip


def memory(name: str) -> float:
    """VmRSS, now, or VmHWM, the peak, of this process in megabytes."""
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith(name)) / 1e3


def fit_alone(path: str, components: int, n_jobs: int) -> tuple[float, float, float]:
    """Seconds, and megabytes before and at the peak."""
    model = streamtopics.LowRankDPP(
        ground_set="bernoulli", n_components=components, n_jobs=n_jobs, random_state=0
    )
    with np.load(path) as parts:
        csr = (parts["data"], parts["indices"], parts["indptr"])
        X, groups = sparse.csr_matrix(csr, shape=(len(csr[2]) - 1, V)), parts["groups"]
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before, started = memory("VmRSS"), time.perf_counter()
    model.fit(X, groups=groups)
    return time.perf_counter() - started, before, memory("VmHWM")


def fits(reviews: Reviews, options: argparse.Namespace) -> None:
    """Minutes and memory of each number of reviews."""
    print(f"fit, r = {options.components}, {options.jobs} threads")
    print(f"| reviews | sentences | minutes | MB before | MB at the peak | more |\n{'|---' * 6}|")
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        for n_documents in options.documents:
            part, path = reviews.first(n_documents), str(Path(folder) / "part.npz")
            X = part.X
            np.savez(path, data=X.data, indices=X.indices, indptr=X.indptr, groups=part.groups)
            with ProcessPoolExecutor(1, mp_context=context) as alone:
                job = alone.submit(fit_alone, path, options.components, options.jobs)
                seconds, before, peak = job.result()
            cells = [f"{n_documents:,}", f"{X.shape[0]:,}", f"{seconds / 60:.1f}"]
            cells += [f"{before:.0f}", f"{peak:.0f}", f"{peak - before:.0f}"]
            print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["core", "estimator"])
    parser.add_argument("--sets", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--corpus", default="imdb_unlabelled")
    parser.add_argument("--documents", type=int, nargs="+", default=[12_500, 25_000, 50_000])
    parser.add_argument("--components", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.what == "estimator":
        reviews = read_reviews(options.corpus, max(options.documents))
        with threadpool_limits(limits=1):
            transform(reviews, options)
        fits(reviews, options)
        return
    with threadpool_limits(limits=1):
        draws(options)
        normalizers(options)


if __name__ == "__main__":
    main()
