# SPDX-License-Identifier: BSD-3-Clause
"""Held-out scores of the estimators with their defaults, one pass, twenty topics.

SVBLDA and BPSLDA, and the same and other rules in StreamingLDA, beside scikit-learn's online
LDA with its own defaults (one pass and its ten) and the unigram model, in nats per held-out token:
the mean and the standard deviation over the seeds.

    STREAMTOPICS_DATA=... python benchmarks/defaults.py [--components 20] [--seeds 5] [CORPUS ...]
"""

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import corpora
import numpy as np
from plain import BPSLDA, SVBLDA
from sklearn.decomposition import LatentDirichletAllocation

from streamtopics import StreamingLDA
from streamtopics.estimators import Schedule
from streamtopics.metrics import completion_split, log_predictive_probability
from streamtopics.updates import Boost, PowerPrior

MODELS: dict[str, Callable[..., Any]] = {
    "SVBLDA": SVBLDA,
    "BPSLDA": BPSLDA,
    "SVBLDA, n_rounds=10": partial(SVBLDA, schedule=Schedule(n_rounds=10)),
    "StreamingLDA": StreamingLDA,
    "..., svb": partial(StreamingLDA, update="svb"),
    "..., bps": partial(StreamingLDA, update="bps"),
    "..., PP(0.95, 0.1)": partial(StreamingLDA, update=PowerPrior(0.95, Boost(0.1))),
    "scikit-learn online": partial(LatentDirichletAllocation, learning_method="online", max_iter=1),
    "scikit-learn, 10 passes": partial(LatentDirichletAllocation, learning_method="online"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpora", nargs="*", default=["docstrings", "newsgroups"])
    parser.add_argument("--components", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for name in options.corpora:
        train, test, _ = corpora.split(name)
        print(f"{name}: {train.shape[0]:,} documents, {train.shape[1]:,} words")
        unigram = corpora.unigram_score(train, completion_split(test)[1])
        print(f"  {'unigram model':<23} {unigram:.4f}")
        for label, make in MODELS.items():
            fitted = (
                make(options.components, random_state=seed).fit(train)
                for seed in range(options.seeds)
            )
            scores = np.array([log_predictive_probability(model, test) for model in fitted])
            shown = " ".join(f"{score:.4f}" for score in scores)
            print(f"  {label:<23} {scores.mean():.4f} +- {scores.std():.4f}  ({shown})", flush=True)


if __name__ == "__main__":
    main()
