# SPDX-License-Identifier: BSD-3-Clause
"""Topics that are split, learn on as parts, and are merged again, beside never having been split.

    python -m benchmarks.editing [CORPUS ...] [--topics 0 5 10 15] [--n-components 20] [--seed 0]

A model learns the first half of a corpus in minibatches of 1,000 documents. Then a topic is split
into two, the second half is learnt, and the parts are merged. `split` and `merged` are differences
of the held-out score from a model that was never edited, in nats a token; `at once` is that of a
merge right after the split. `affinity` is Bhattacharyya's coefficient of the merged topic and the
same row of the other model. `found again` is the mean one of two topics that were merged, by
neighbouring numbers, and the parts of a split of that: 1 if they are the same topics.
"""

import argparse
from copy import deepcopy
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from benchmarks.corpora import split
from streamtopics import StreamingLDA, editing

BATCH = 1000


def learn(model: Any, X: sparse.csr_matrix) -> Any:
    for start in range(0, X.shape[0], BATCH):
        model.partial_fit(X[start : start + BATCH])
    return model


def affinities(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.sqrt(one) @ np.sqrt(other).T


def found_again(model: Any, topic: int, X: sparse.csr_matrix) -> float:
    pair = [topic, (topic + 1) % len(model.topic_weights_)]
    edited = deepcopy(model)
    editing.merge(edited, pair)
    editing.split(edited, topic - (pair[1] < topic), X)
    found = affinities(model.topic_word_[pair], edited.topic_word_[[topic - (pair[1] < topic), -1]])
    return float(found[linear_sum_assignment(-found)].mean())


def rows(name: str, topics: list[int], n_components: int, seed: int) -> None:
    train, test, _ = split(name, n_test=500, min_df=5, seed=seed)
    half = train.shape[0] // 2
    begun = learn(StreamingLDA(n_components, random_state=seed), train[:half])
    never = learn(deepcopy(begun), train[half:])
    base, score = begun.score(test), never.score(test)
    print(f"{name}: {score:.4f} nats a token, never split")
    print(f"{'topic':>5} {'weight':>7} {'at once':>9} {'split':>9} {'merged':>9} "
          f"{'affinity':>9} {'found again':>12}")  # fmt: skip
    for topic in topics:
        model = deepcopy(begun)
        editing.split(model, topic, train[:half])
        at_once = deepcopy(model)
        editing.merge(at_once, [topic, n_components])
        learn(model, train[half:])
        of_parts = model.score(test)
        editing.merge(model, [topic, n_components])
        affinity = affinities(never.topic_word_[[topic]], model.topic_word_[[topic]])[0, 0]
        print(
            f"{topic:>5} {never.topic_weights_[topic]:>7.3f} {at_once.score(test) - base:>9.5f} "
            f"{of_parts - score:>9.4f} {model.score(test) - score:>9.4f} {affinity:>9.4f} "
            f"{found_again(begun, topic, train[:half]):>12.3f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpora", nargs="*", default=["bbc_news", "newsgroups_train"])
    parser.add_argument("--topics", nargs="+", type=int, default=[0, 5, 10, 15])
    parser.add_argument("--n-components", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    for name in given.corpora:
        rows(name, given.topics, given.n_components, given.seed)


if __name__ == "__main__":
    main()
