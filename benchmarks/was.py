# SPDX-License-Identifier: BSD-3-Clause
"""Words per second of WASTopicModel, by prior, and how the cost of a word grows.

`fit` as a whole, with the start and the reading of the counts: words times sweeps by the
seconds of the processor, the best of some runs on one thread, in which the models take turns.
The cost by number of documents is that of berkeleydb_je_statements, of which the documents
are drawn in random order, again and again where more are asked for than there are.

    STREAMTOPICS_DATA=... python -m benchmarks.was
"""

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks import corpora
from streamtopics import WASTopicModel
from streamtopics.was import SBP, WAS, HDPFranchise

# Priors of the sentences, by b.
MODELS = {
    "was": lambda b: WAS(b=b),
    "was, as last": lambda b: WAS(b=b, exact=False),
    "hdp": lambda b: HDPFranchise(table_concentration=b),
    "sbp, truncation 8": lambda b: SBP(b=b, truncation=8),
    "sbp, truncation 1": lambda b: SBP(b=b, truncation=1),
}
PRIORS = {
    "defaults": (0.5, {}),
    "a = b = kappa = eta = 1": (1.0, {"atom_prior": 1.0, "topic_word_prior": 1.0}),
}


def seconds(corpus: corpora.SentenceCounts, **parameters) -> float:
    """Of a fit."""
    n_sweeps = parameters["n_sweeps"]
    model = WASTopicModel(n_burn_in=n_sweeps // 2, random_state=0, **parameters)
    started = time.process_time()
    model.fit(corpus.X, groups=corpus.groups)
    return time.process_time() - started


def by_prior(options: argparse.Namespace) -> None:
    """Words per second and sweep of each model, at both settings."""
    corpus = corpora.sentences(options.corpus)
    work = corpus.X.sum() * options.sweeps
    print(
        f"{options.corpus}: {corpus.n_documents} documents, {corpus.X.shape[0]:,} sentences, "
        f"{corpus.X.sum():,} words; K = {options.components}, {options.sweeps} sweeps; words per "
        "second and sweep"
    )
    common = {"n_components": options.components, "n_sweeps": options.sweeps}
    settings = {
        (name, setting): common | others | {"prior": prior(b)}
        for name, prior in MODELS.items()
        for setting, (b, others) in PRIORS.items()
    }
    least = dict.fromkeys(settings, np.inf)
    for _ in range(options.runs):
        for key, parameters in settings.items():
            least[key] = min(least[key], seconds(corpus, **parameters))
    print(f"| prior | {' | '.join(PRIORS)} |\n{'|---' * (1 + len(PRIORS))}|")
    for name in MODELS:
        speeds = (f"{work / least[name, setting]:,.0f}" for setting in PRIORS)
        print(f"| {name} | {' | '.join(speeds)} |", flush=True)


def by_size(corpus: corpora.SentenceCounts, options: argparse.Namespace) -> None:
    """Nanoseconds per word and sweep of few and of many documents."""
    rng = np.random.default_rng(0)
    few, many = options.documents
    turns = -(-many // corpus.n_documents)
    order = np.concatenate([rng.permutation(corpus.n_documents) for _ in range(turns)])
    parts = [corpus.documents(order[:n]) for n in (few, many)]
    common = {"n_components": options.components, "n_sweeps": options.few_sweeps}
    print(
        f"\nberkeleydb_je_statements, {options.few_sweeps} sweeps, {parts[0].X.sum():,} and "
        f"{parts[1].X.sum():,} words; nanoseconds per word and sweep"
    )
    print(f"| prior | {few:,} documents | {many:,} documents | ratio |\n{'|---' * 4}|")
    for name, prior in MODELS.items():
        costs = []
        for part in parts:
            least = min(seconds(part, **common, prior=prior(0.5)) for _ in range(options.runs))
            costs.append(1e9 * least / part.X.sum() / options.few_sweeps)
        print(
            f"| {name} | {costs[0]:.0f} | {costs[1]:.0f} | {costs[1] / costs[0]:.2f} |", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="jhotdraw_statements")
    parser.add_argument("--components", type=int, default=20)
    parser.add_argument("--sweeps", type=int, default=50)
    parser.add_argument("--few-sweeps", type=int, default=10, help="for the growth")
    parser.add_argument("--documents", type=int, nargs=2, default=[200, 2000])
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    with threadpool_limits(limits=1):
        by_prior(options)
        corpus = corpora.sentences("berkeleydb_je_statements")
        by_size(corpus, options)


if __name__ == "__main__":
    main()
