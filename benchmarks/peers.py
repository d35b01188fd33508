# SPDX-License-Identifier: BSD-3-Clause
"""One pass over a corpus beside scikit-learn, gensim and tomotopy, in one run.

    STREAMTOPICS_DATA=... python -m benchmarks.peers --corpus newsgroups
    STREAMTOPICS_DATA=... python -m benchmarks.peers --online-em --components 20 100

SVBLDA, with the same priors for all and, as far as they can be compared, the same tolerance of the
local step; with --online-em `GibbsOnlineEM`, as it comes, beside what a user would pick instead:
scikit-learn's online LDA with its defaults and with the best priors that were found for it (alpha
summing to 2, eta 1), tomotopy, which learns its priors, and others.

From a CSR matrix to topics, on one thread; the models take turns, and medians of the seconds and
ratios are printed. The score is the log predictive probability by document completion with
each model's own inference of the proportions.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.decomposition import MiniBatchNMF
from threadpoolctl import threadpool_limits

from benchmarks import corpora
from benchmarks.text_models import (
    LEAST_PROBABILITY,
    Counts,
    Train,
    gensim,
    nmf,
    own,
    scikit_learn,
    tomotopy,
)
from streamtopics.metrics.predictive import completion_split, per_token, token_log_probability
from tests.plain import SVBLDA, GibbsOnlineEM, VariationalOnlineEM

# The counts, the number of topics and a seed.
Models = dict[str, Callable[[Counts, int, int], Train]]


def with_same_priors(K: int, mean_length: float) -> Models:
    """SVBLDA and others like it; the tolerance is of the mean change of gamma over the topics."""
    alpha = eta = 0.01
    size, tol = 1000, 1e-3
    priors = {"doc_topic_prior": alpha, "topic_word_prior": eta, "batch_size": size}
    svb = partial(own, SVBLDA, inference__tol=K * tol / mean_length, **priors)
    return {
        "SVBLDA": svb,
        "SVBLDA, 2 threads": partial(svb, n_jobs=2),
        "scikit-learn online": partial(scikit_learn, mean_change_tol=tol, **priors),
        "gensim": partial(gensim, alpha=[alpha] * K, eta=eta, chunksize=size, gamma_threshold=tol),
        "tomotopy, 20 sweeps": partial(tomotopy, n_sweeps=20, alpha=alpha, eta=eta),
    }


def of_online_em(K: int, mean_length: float) -> Models:
    """GibbsOnlineEM and what else there is."""
    best = {"doc_topic_prior": 2 / K, "topic_word_prior": 1.0}
    one_pass = partial(MiniBatchNMF, batch_size=1000, max_iter=1)
    return {
        "G-OEM, 1 pass": partial(own, GibbsOnlineEM),
        "G-OEM, 2 passes": partial(own, GibbsOnlineEM, max_iter=2),
        "G-OEM, 5 passes": partial(own, GibbsOnlineEM, max_iter=5),
        "V-OEM, 1 pass": partial(own, VariationalOnlineEM),
        "scikit-learn, defaults": scikit_learn,
        "scikit-learn, best priors": partial(scikit_learn, **best),
        "scikit-learn, batch 1000": partial(scikit_learn, batch_size=1000),
        "gensim": partial(gensim, alpha=[1 / K] * K, eta=1 / K),
        "scikit-learn NMF, KL": partial(nmf, one_pass),
        "tomotopy, 20 sweeps": partial(tomotopy, n_sweeps=20, alpha=0.1, eta=0.01),
        "tomotopy, 100 sweeps": partial(tomotopy, n_sweeps=100, alpha=0.1, eta=0.01),
    }


def measure(train: Callable[[], Train], test: Counts) -> tuple[float, float]:
    """Seconds of one fit, and the held-out score."""
    started = time.perf_counter()
    fitted = train()()
    seconds = time.perf_counter() - started
    observed, held_out = completion_split(test)
    topics = np.maximum(fitted.topics, LEAST_PROBABILITY)
    log_probability = token_log_probability(fitted.transform(observed), topics, held_out)
    return seconds, per_token(log_probability, float(held_out.sum()))


def compare(models: Models, split: corpora.Split, K: int, options: argparse.Namespace) -> None:
    """Print a line for each model; ratios are to the first one."""
    X, results = split.train, {name: list[tuple[float, float]]() for name in models}
    with threadpool_limits(limits=1):
        for _ in range(options.runs):
            for name, model in models.items():
                results[name].append(measure(partial(model, X, K, options.seed), split.test))
    print(f"K = {K:<22} {'seconds':>8} {'tokens/s':>12} {'ratio':>7} {'nats/token':>11}")
    first = next(iter(results.values()))
    for name, runs in results.items():
        seconds = statistics.median(s for s, _ in runs)
        ratio = statistics.median(s / t for (s, _), (t, _) in zip(runs, first, strict=True))
        score = np.mean([score for _, score in runs])
        print(
            f"{name:<26} {seconds:>8.2f} {X.sum() / seconds:>12,.0f} {ratio:>6.2f}x {score:>11.4f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--online-em", action="store_true")
    parser.add_argument("--corpus", default="newsgroups")
    parser.add_argument("--components", type=int, nargs="+", default=[100])
    parser.add_argument("--max-features", type=int, help="the most frequent words only")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    split = corpora.split(options.corpus, max_features=options.max_features)
    X, (_, held_out) = split.train, completion_split(split.test)
    unigram = corpora.unigram_score(X, held_out)
    print(
        f"{options.corpus}: {X.shape[0]:,} documents, {X.sum():,.0f} tokens, {X.shape[1]:,} words; "
        f"unigram model {unigram:.3f}"
    )
    models = of_online_em if options.online_em else with_same_priors
    for K in options.components:
        compare(models(K, X.sum() / X.shape[0]), split, K, options)


if __name__ == "__main__":
    main()
