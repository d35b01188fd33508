# SPDX-License-Identifier: BSD-3-Clause
"""The variational step beside scikit-learn's E-step: microseconds per document.

Both infer the proportions of the same documents under the same topics on one
thread, in float32, and sum their statistics; both stop a document when its
parameters change by less than --tol per topic (scikit-learn's `mean_change_tol`).
Documents are drawn from LDA: 100 tokens, 10,000 words. The models take turns.

    python -m benchmarks.variational
"""

import argparse
import statistics
import time

import numpy as np
from sklearn.decomposition import LatentDirichletAllocation
from threadpoolctl import threadpool_limits

from benchmarks.gibbs import given
from streamtopics.datasets import make_lda_corpus
from streamtopics.local import Variational
from streamtopics.utils.parallel import SERIAL


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--components", type=int, nargs="+", default=[20, 100, 500, 1000])
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    print(f"{'K':>5} {'streamtopics':>13} {'scikit-learn':>13} {'ratio':>7}   (medians)")
    for K in options.components:
        corpus = make_lda_corpus(
            options.documents, K, 10_000, mean_length=100, doc_topic_prior=5 / K,
            topic_word_prior=0.05, random_state=0,
        )  # fmt: skip
        X, smoothed = corpus.X.astype(np.float32), corpus.topic_word + 1e-8
        peer = LatentDirichletAllocation(
            K, doc_topic_prior=5 / K, mean_change_tol=options.tol, random_state=0
        ).partial_fit(X[:10])
        peer.exp_dirichlet_component_ = smoothed.astype(np.float32)
        minibatch, topics = given(X, smoothed, np.full(K, 5 / K))
        ours = Variational(tol=K * options.tol / 100, max_iter=100)
        seconds: tuple[list[float], list[float]] = [], []
        for _ in range(options.runs):
            start = time.process_time()
            ours.step(minibatch, topics, np.zeros(X.shape[0], np.uint64), SERIAL)
            middle = time.process_time()
            peer._e_step(X, cal_sstats=True, random_init=False)
            seconds[0].append(middle - start)
            seconds[1].append(time.process_time() - middle)
        mine, theirs = (1e6 * statistics.median(s) / X.shape[0] for s in seconds)
        ratio = statistics.median(b / a for a, b in zip(*seconds, strict=True))
        print(f"{K:5d} {mine:11.1f} us {theirs:11.1f} us {ratio:7.1f}", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
