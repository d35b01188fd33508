# SPDX-License-Identifier: BSD-3-Clause
"""Coherence and diversity of topics' top tens, by the relevance that words are ranked by.

Fifty topics of StreamingLDA with its defaults learn from a random half of a corpus; NPMI is
over the other half. Means and standard deviations over seeds.

    STREAMTOPICS_DATA=... python benchmarks/top_words.py [--components 50] [--seeds 3] [CORPUS ...]
"""

import argparse

import corpora
import numpy as np
from scipy import sparse

from streamtopics import StreamingLDA
from streamtopics.metrics import relevant_words, topic_coherence, topic_diversity

CORPORA = ["newsgroups", "imdb_unlabelled", "dblp_titles", "m10_titles", "wordnet_glosses"]
RELEVANCES = (1.0, 0.8, 0.6, 0.4)


def halves(name: str) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Counts to learn from, in the order of the stream, and those to measure coherence over."""
    X = sparse.vstack(corpora.split(name, n_test=1)[:2], format="csr")
    half = np.zeros(X.shape[0], dtype=bool)
    half[np.random.default_rng(0).choice(len(half), len(half) // 2, replace=False)] = True
    return X[~half], X[half]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", default=CORPORA)
    parser.add_argument("--components", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    for name in options.corpora:
        train, other = halves(name)
        print(f"{name}: {train.shape[0]:,} documents, {train.shape[1]:,} words")
        found: dict[float, list[tuple[float, float]]] = {value: [] for value in RELEVANCES}
        for seed in range(options.seeds):
            model = StreamingLDA(options.components, random_state=seed).fit(train)
            for value in RELEVANCES:
                top = relevant_words(model.topic_word_, model.topic_weights_, relevance=value)
                figures = float(topic_coherence(top, other).mean()), topic_diversity(top)
                found[value].append(figures)
        for value, rows in found.items():
            (npmi, diversity), (npmi_sd, diversity_sd) = np.mean(rows, axis=0), np.std(rows, axis=0)
            print(
                f"  relevance {value:.1f}  NPMI {npmi:7.4f} +- {npmi_sd:.4f}  "
                f"diversity {diversity:.3f} +- {diversity_sd:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
