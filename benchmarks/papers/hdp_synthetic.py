# SPDX-License-Identifier: BSD-3-Clause
"""How many topics the HDP finds, and at what price: a stream of known topics.

The synthetic experiment of section 3.6 of Dupuy (2017): ten topics estimated on text
of the 1,000 most frequent words, a stream of 50,000 documents of Poisson(60) words from
an asymmetric alpha of sum 1.6, in minibatches of 100. The HDP starts from two topics.
Beside it stand LDA at the true number of topics and the truth, by left-to-right
perplexity on other documents.

    STREAMTOPICS_DATA=... python benchmarks/papers/hdp_synthetic.py [SET]
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

sys.path.insert(0, str(Path(__file__).parent.parent))
import corpora

from streamtopics import SVBLDA, GibbsOnlineEM, HDPGibbsOnlineEM, HDPVarGibbs
from streamtopics.datasets import make_lda_corpus
from streamtopics.metrics import left_to_right

N_TOPICS, N_WORDS, LENGTH, N_TEST = 10, 1000, 60, 1000
ALPHA = np.array([0.40, 0.30, 0.25, 0.20, 0.15, 0.10, 0.08, 0.06, 0.04, 0.03])
MODELS = {
    "GibbsOnlineEM": GibbsOnlineEM.preset(
        "GibbsOnlineEM", N_TOPICS, kappa=0.7, n_sweeps=5, schedule__n_start_rounds=10
    ),
    "HDPGibbsOnlineEM": HDPGibbsOnlineEM(),
    "HDPVarGibbs": HDPVarGibbs(),
}


def topics(name: str) -> np.ndarray:
    """Ten topics of a corpus, or ("drawn") of a Dirichlet distribution."""
    if name == "drawn":
        return np.random.default_rng(0).dirichlet(np.full(N_WORDS, 0.05), N_TOPICS)
    vectorizer = CountVectorizer(stop_words="english", max_features=N_WORDS)
    X = vectorizer.fit_transform(corpora.texts(name))
    own = {"doc_topic_prior": ALPHA.sum() / N_TOPICS, "max_iter": 3, "random_state": 0}
    return SVBLDA.preset("SVBLDA", N_TOPICS, **own).fit(X).topic_word_


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("set", nargs="?", default="imdb_train", help='a corpus, or "drawn"')
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--documents", type=int, default=50_000)
    options = parser.parse_args()
    topic_word = topics(options.set)
    print("| seed | model | active topics | topics | perplexity | seconds |\n" + "|---" * 6 + "|")
    for seed in range(options.seeds):
        X = make_lda_corpus(
            options.documents + N_TEST,
            mean_length=LENGTH,
            topic_word=topic_word,
            doc_topic_prior=ALPHA,
            random_state=seed,
        ).X
        train, test = X[N_TEST:], X[:N_TEST]

        def perplexity(topic_word, alpha, test=test):
            found = left_to_right(test, topic_word, alpha, n_particles=20, n_jobs=-1)
            return np.exp(-found.log_likelihood.sum() / test.sum())

        truth = perplexity(topic_word, ALPHA)
        print(f"| {seed} | truth | {N_TOPICS} | {N_TOPICS} | {truth:.2f} | |", flush=True)
        for name, model in MODELS.items():
            start = time.perf_counter()
            model.set_params(random_state=seed).fit(train)
            seconds = time.perf_counter() - start
            active = int((model.topic_weights_ > 0.01).sum())
            reached = perplexity(model.topic_word_, model.doc_topic_prior_)
            n_topics = len(model.topic_weights_)
            print(
                f"| {seed} | {name} | {active} | {n_topics} | {reached:.2f} | {seconds:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
