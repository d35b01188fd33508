# SPDX-License-Identifier: BSD-3-Clause
"""Speed of the low-rank DPP over all sentences of 500 words, on one thread.

core: seconds for 10,000 exact draws of sets of about ten sentences, with gamma and without;
milliseconds for the normaliser, alone and with its derivatives by U, theta and gamma, r = 10;
the median of some runs. Seconds are those of the processor.

estimator: LowRankDPP. Milliseconds to transform one review of ten sentences, the median over
reviews.

    python -m benchmarks.dpp core
    STREAMTOPICS_DATA=... python -m benchmarks.dpp estimator
"""

import argparse
import statistics
import time
from collections.abc import Callable
from itertools import pairwise
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
    model.fit(reviews.X, groups=reviews.groups)
    starts = np.flatnonzero(np.diff(reviews.groups, prepend=-1))
    long_enough = [s for s, e in pairwise(starts) if e - s >= N_SENTENCES]
    documents = [[reviews.X[start : start + N_SENTENCES]] for start in long_enough[:200]]
    seconds = [median_seconds(lambda x=x: model.transform(x), 3) for x in documents]
    print(f"transform of one review of {N_SENTENCES} sentences, median of {len(seconds)}: "
          f"{1e3 * statistics.median(seconds):.3f} ms", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["core", "estimator"])
    parser.add_argument("--sets", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--corpus", default="imdb_unlabelled")
    parser.add_argument("--documents", type=int, default=12_500)
    parser.add_argument("--components", type=int, default=10)
    options = parser.parse_args()
    if options.what == "estimator":
        reviews = read_reviews(options.corpus, options.documents)
        with threadpool_limits(limits=1):
            transform(reviews, options)
        return
    with threadpool_limits(limits=1):
        draws(options)
        normalizers(options)


if __name__ == "__main__":
    main()
