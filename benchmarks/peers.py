# SPDX-License-Identifier: BSD-3-Clause
"""SVBLDA beside the LDA of scikit-learn, gensim and tomotopy, in one run.

One pass over a corpus on one thread, the same priors and, as far as they can be
compared, the same tolerance of the local step; the models take turns, and the
medians and ratios are printed. The score is the log predictive probability by
document completion with each model's own inference of the proportions.

    STREAMTOPICS_DATA=... python -m benchmarks.peers --corpus newsgroups
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
from scipy import sparse
from sklearn.decomposition import LatentDirichletAllocation
from threadpoolctl import threadpool_limits

from benchmarks import corpora
from streamtopics.metrics.predictive import completion_split, per_token, token_log_probability
from tests.plain import SVBLDA

Fit = Callable[[sparse.csr_matrix], Callable[[sparse.csr_matrix], tuple[np.ndarray, np.ndarray]]]


def streamtopics(options: argparse.Namespace, n_jobs: int = 1) -> Fit:
    def fit(X):
        mean_length = X.sum() / X.shape[0]
        model = SVBLDA(
            options.components,
            doc_topic_prior=options.alpha,
            topic_word_prior=options.eta,
            batch_size=options.batch_size,
            local_tol=options.components * options.tol / mean_length,
            n_jobs=n_jobs,
            random_state=options.seed,
        ).fit(X)
        return lambda Z: (model.transform(Z), model.topic_word_)

    return fit


def scikit_learn(options: argparse.Namespace) -> Fit:
    def fit(X):
        model = LatentDirichletAllocation(
            options.components,
            learning_method="online",
            doc_topic_prior=options.alpha,
            topic_word_prior=options.eta,
            batch_size=options.batch_size,
            mean_change_tol=options.tol,
            max_iter=1,
            total_samples=X.shape[0],
            random_state=options.seed,
        ).fit(X)
        topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
        return lambda Z: (model.transform(Z), topics)

    return fit


def gensim(options: argparse.Namespace) -> Fit:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel

    def fit(X):
        model = LdaModel(
            Sparse2Corpus(X, documents_columns=False),
            num_topics=options.components,
            id2word={i: str(i) for i in range(X.shape[1])},
            alpha=[options.alpha] * options.components,
            eta=options.eta,
            chunksize=options.batch_size,
            passes=1,
            update_every=1,
            eval_every=None,
            gamma_threshold=options.tol,
            random_state=options.seed,
        )

        def infer(Z):
            gamma, _ = model.inference(list(Sparse2Corpus(Z, documents_columns=False)))
            return gamma / gamma.sum(axis=1, keepdims=True), model.get_topics()

        return infer

    return fit


def tomotopy(options: argparse.Namespace) -> Fit:
    import tomotopy as tp

    def documents(X):
        for row in X:
            yield np.repeat(row.indices, row.data.astype(int)).astype(str).tolist()

    def fit(X):
        model = tp.LDAModel(
            k=options.components, alpha=options.alpha, eta=options.eta, seed=options.seed
        )
        for words in documents(X):
            if words:
                model.add_doc(words)
        model.train(options.sweeps, workers=1)
        topics = np.zeros((options.components, X.shape[1]))
        columns = [int(word) for word in model.used_vocabs]
        for k in range(options.components):
            topics[k, columns] = model.get_topic_word_dist(k)

        def infer(Z):
            prior = np.full(options.components, 1 / options.components)
            rows = [model.make_doc(words) if words else None for words in documents(Z)]
            known = [row for row in rows if row is not None]
            model.infer(known, workers=1)
            theta = [prior if row is None else row.get_topic_dist() for row in rows]
            return np.array(theta), np.maximum(topics, 1e-12)

        return infer

    return fit


def measure(fit: Fit, X: sparse.csr_matrix, test: sparse.csr_matrix) -> tuple[float, float]:
    """Seconds of one fit, and the held-out score."""
    started = time.perf_counter()
    infer = fit(X)
    seconds = time.perf_counter() - started
    observed, held_out = completion_split(test)
    doc_topic, topic_word = infer(observed)
    log_probability = token_log_probability(doc_topic, topic_word, held_out)
    return seconds, per_token(log_probability, float(held_out.sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="newsgroups")
    parser.add_argument("--components", type=int, default=100)
    parser.add_argument("--batch-size", type=int, default=1000)
    parser.add_argument("--alpha", type=float, default=0.01)
    parser.add_argument("--eta", type=float, default=0.01)
    parser.add_argument("--tol", type=float, default=1e-3, help="mean change of gamma per topic")
    parser.add_argument("--sweeps", type=int, default=20, help="of tomotopy")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    options = parser.parse_args()

    train, test, _ = corpora.split(options.corpus, dtype=np.dtype(options.dtype).type)
    n_tokens = float(train.sum())
    _, held_out = completion_split(test)
    print(
        f"{options.corpus}: {train.shape[0]:,} documents, {n_tokens:,.0f} tokens, "
        f"{train.shape[1]:,} words, {options.dtype}; K = {options.components}, alpha = "
        f"{options.alpha}, eta = {options.eta}, batches of {options.batch_size}; unigram model "
        f"{corpora.unigram_score(train, held_out):.3f}"
    )
    fits = {
        "SVBLDA": streamtopics(options),
        "SVBLDA, 2 threads": streamtopics(options, n_jobs=2),
        "scikit-learn online": scikit_learn(options),
        "gensim": gensim(options),
        f"tomotopy, {options.sweeps} sweeps": tomotopy(options),
    }
    results = {name: [] for name in fits}
    with threadpool_limits(limits=1):
        for _ in range(options.runs):
            for name, fit in fits.items():
                results[name].append(measure(fit, train, test))
    print(f"{'':<22} {'seconds':>8} {'tokens/s':>12} {'SVBLDA is':>10} {'nats/token':>11}")
    ours = [seconds for seconds, _ in results["SVBLDA"]]
    for name, runs in results.items():
        seconds = statistics.median(s for s, _ in runs)
        ratio = statistics.median(s / own for (s, _), own in zip(runs, ours, strict=True))
        score = runs[0][1]
        speed = n_tokens / seconds
        print(f"{name:<22} {seconds:>8.2f} {speed:>12,.0f} {ratio:>9.2f}x {score:>11.4f}")


if __name__ == "__main__":
    main()
