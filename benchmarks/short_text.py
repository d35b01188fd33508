# SPDX-License-Identifier: BSD-3-Clause
"""Short documents in one pass: held-out score beside the unigram model's.

All estimators as they come, 100 topics, one pass over documents of five to
seven words; nats per held-out token by document completion, mean and standard
deviation over seeds.

    STREAMTOPICS_DATA=... python benchmarks/short_text.py [CORPUS ...]
"""

import argparse

import corpora
import numpy as np
from plain import SVBLDA, GibbsOnlineEM, VariationalOnlineEM
from sklearn.decomposition import LatentDirichletAllocation

from streamtopics.metrics import completion_split, log_predictive_probability

CORPORA = ["wordnet_glosses", "dblp_titles", "commit_subjects"]


def scores(name: str, split: corpora.Split, K: int, seed: int) -> float:
    """Score of one model, fitted to a corpus."""
    if name == "scikit-learn online":
        peer = LatentDirichletAllocation(
            K,
            learning_method="online",
            max_iter=1,
            batch_size=1000,
            total_samples=split.train.shape[0],
            random_state=seed,
        ).fit(split.train)
        return log_predictive_probability(peer, split.test)
    kind = {"G-OEM": GibbsOnlineEM, "V-OEM": VariationalOnlineEM, "SVB": SVBLDA}[name]
    return kind(K, random_state=seed).fit(split.train).score(split.test)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", default=CORPORA)
    parser.add_argument("--components", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for corpus in options.corpora:
        split = corpora.split(corpus)
        unigram = corpora.unigram_score(split.train, completion_split(split.test)[1])
        length = split.train.sum() / split.train.shape[0]
        print(f"{corpus}: {split.train.shape}, {length:.1f} tokens; unigram {unigram:.3f}")
        for name in ("G-OEM", "V-OEM", "SVB", "scikit-learn online"):
            found = [scores(name, split, options.components, seed) for seed in range(options.seeds)]
            print(f"  {name:<20} {np.mean(found):8.3f} +- {np.std(found):.3f}", flush=True)


if __name__ == "__main__":
    main()
