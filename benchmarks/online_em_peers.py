# SPDX-License-Identifier: BSD-3-Clause
"""GibbsOnlineEM, as it comes, beside what a user would pick instead, in one run.

From a CSR matrix to topics, on one thread; the models take turns, and the
medians of seconds and ratios are printed. scikit-learn's online LDA has its
defaults, and the best priors that were found for it (alpha summing to 2, eta 1);
tomotopy learns its priors. The score is the log predictive probability by
document completion with each model's own inference of the proportions.

    STREAMTOPICS_DATA=... python -m benchmarks.online_em_peers --components 20 100
"""

import argparse
import statistics
from types import SimpleNamespace

import numpy as np
from scipy import sparse
from sklearn.decomposition import LatentDirichletAllocation, MiniBatchNMF
from threadpoolctl import threadpool_limits

from benchmarks import corpora, peers
from streamtopics.base.topic_model import StreamingTopicModel
from streamtopics.metrics import completion_split
from tests.plain import GibbsOnlineEM, VariationalOnlineEM


def ours(estimator: StreamingTopicModel) -> peers.Fit:
    def fit(X: sparse.csr_matrix):
        model = estimator.fit(X)
        return lambda Z: (model.transform(Z), model.topic_word_)

    return fit


def scikit_learn(K: int, **settings: float) -> peers.Fit:
    def fit(X: sparse.csr_matrix):
        model = LatentDirichletAllocation(
            K,
            learning_method="online",
            max_iter=1,
            total_samples=X.shape[0],
            random_state=0,
            **settings,
        ).fit(X)
        topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
        return lambda Z: (model.transform(Z), topics)

    return fit


def nmf(K: int) -> peers.Fit:
    def fit(X: sparse.csr_matrix):
        model = MiniBatchNMF(
            K,
            beta_loss="kullback-leibler",
            batch_size=1000,
            max_iter=1,
            random_state=0,
        ).fit(X)
        mass = model.components_.sum(axis=1, keepdims=True)
        topics = (model.components_ + 1e-6 * mass / X.shape[1]) / (mass * (1 + 1e-6))

        def infer(Z: sparse.csr_matrix):
            weights = model.transform(Z) * mass.T + 1e-8
            return weights / weights.sum(axis=1, keepdims=True), topics

        return infer

    return fit


def contestants(K: int, sweeps: list[int]) -> dict[str, peers.Fit]:
    gensim = SimpleNamespace(
        components=K, alpha=1 / K, eta=1 / K, batch_size=2000, tol=1e-3, seed=0
    )
    fits = {
        "G-OEM, 1 pass": ours(GibbsOnlineEM(K, random_state=0)),
        "G-OEM, 2 passes": ours(GibbsOnlineEM(K, random_state=0, max_iter=2)),
        "G-OEM, 5 passes": ours(GibbsOnlineEM(K, random_state=0, max_iter=5)),
        "V-OEM, 1 pass": ours(VariationalOnlineEM(K, random_state=0)),
        "scikit-learn, defaults": scikit_learn(K),
        "scikit-learn, best priors": scikit_learn(K, doc_topic_prior=2 / K, topic_word_prior=1.0),
        "scikit-learn, batch 1000": scikit_learn(K, batch_size=1000),
        "gensim": peers.gensim(gensim),
        "scikit-learn NMF, KL": nmf(K),
    }
    for n in sweeps:
        options = SimpleNamespace(components=K, alpha=0.1, eta=0.01, seed=0, sweeps=n)
        fits[f"tomotopy, {n} sweeps"] = peers.tomotopy(options)
    return fits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="newsgroups")
    parser.add_argument("--components", type=int, nargs="+", default=[20, 100])
    parser.add_argument("--max-features", type=int, help="the most frequent words only")
    parser.add_argument("--sweeps", type=int, nargs="*", default=[20, 100], help="of tomotopy")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    train, test, _ = corpora.split(options.corpus, max_features=options.max_features)
    _, held_out = completion_split(test)
    print(
        f"{options.corpus}: {train.shape[0]:,} documents, {train.sum():,.0f} tokens, "
        f"{train.shape[1]:,} words; unigram model {corpora.unigram_score(train, held_out):.3f}"
    )
    for K in options.components:
        fits = contestants(K, options.sweeps)
        results = {name: [] for name in fits}
        with threadpool_limits(limits=1):
            for _ in range(options.runs):
                for name, fit in fits.items():
                    results[name].append(peers.measure(fit, train, test))
        print(f"K = {K:<22} {'seconds':>8} {'of G-OEM':>9} {'nats/token':>11}", flush=True)
        one_pass = [seconds for seconds, _ in results["G-OEM, 1 pass"]]
        for name, runs in results.items():
            seconds = statistics.median(s for s, _ in runs)
            ratio = statistics.median(s / own for (s, _), own in zip(runs, one_pass, strict=True))
            score = np.mean([score for _, score in runs])
            print(f"{name:<26} {seconds:>8.2f} {ratio:>8.1f}x {score:>11.4f}", flush=True)


if __name__ == "__main__":
    main()
