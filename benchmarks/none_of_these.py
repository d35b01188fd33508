# SPDX-License-Identifier: BSD-3-Clause
"""How many documents `predict(..., reject=)` tells, of a model's own corpus and of others.

    python -m benchmarks.none_of_these [CORPUS ...] [--seeds 0 1 2 3 4]

Half of at most 5,000 documents of a corpus is learnt by StreamingMixture(20), a quarter is known,
and of the last quarter and of 600 documents of each other corpus it prints the share that gets -1
with reject=.05, beside the share without a known word: means over the seeds.
"""

import argparse

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks.text_quality import labelled_texts
from streamtopics import StreamingMixture

CORPORA = ("m10_titles", "search_snippets", "newsgroups", "health_tweets", "bbc_news")
MOST, N_OTHERS, REJECT = 5000, 600, 0.05


def some(name: str, seed: int, most: int) -> list[str]:
    """Some texts of a corpus."""
    texts, _ = labelled_texts(name)
    return [texts[i] for i in np.random.default_rng(seed).permutation(len(texts))[:most]]


def measured(name: str, others: list[str], seed: int) -> dict[str, tuple[float, float]]:
    """Shares told, and without a word, of held-out documents and of those of other corpora."""
    words = CountVectorizer(
        stop_words="english", token_pattern=r"\b[^\W\d_]{2,}\b", min_df=3, dtype=np.float32
    )
    X = words.fit_transform(some(name, seed, MOST)).tocsr()
    X = X[np.asarray(X.sum(axis=1)).ravel() > 0]
    half, known = X.shape[0] // 2, 3 * X.shape[0] // 4
    model = StreamingMixture(20, start="spectral", random_state=seed).fit(X[:half])
    asked = {name: X[known:]}
    asked |= {other: words.transform(some(other, seed, N_OTHERS)) for other in others}
    found = {}
    for other, documents in asked.items():
        told = model.predict(documents, reject=REJECT, known=X[half:known]) == -1
        empty = np.asarray(documents.sum(axis=1)).ravel() == 0
        found[other] = (float(told.mean()), float(empty.mean()))
    return found


def main() -> None:
    """Print a row for each corpus and each other one."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpora", nargs="*", default=list(CORPORA))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    options = parser.parse_args()
    print("learnt,asked,told,without a known word")
    for name in options.corpora:
        others = [other for other in options.corpora if other != name]
        rows = [measured(name, others, seed) for seed in options.seeds]
        for other in rows[0]:
            told, empty = np.mean([row[other] for row in rows], axis=0)
            print(f"{name},{other},{told:.3f},{empty:.3f}", flush=True)


if __name__ == "__main__":
    main()
