# SPDX-License-Identifier: BSD-3-Clause
"""How many dishes WAS finds with its exact sampler, and with every word taken for the last.

Documents drawn from the model itself, with a = b = zeta = 1: 20 documents of 12 sentences of
10 words from 8 topics over 300 words. Means per document over the corpora, and the standard
error of the differences from the truth; with the topics learnt on the way, and given.

    python benchmarks/papers/was_exact.py
"""

import argparse

import numpy as np
from scipy import sparse

from streamtopics import WASTopicModel
from streamtopics.was import WAS, corpus, sampler

N_DOCUMENTS, N_SENTENCES, LENGTH = 20, 12, 10
N_TOPICS, N_WORDS, KAPPA, ETA = 8, 300, 0.2, 0.05


def draw(seed: int) -> tuple[sparse.csr_matrix, np.ndarray, tuple[float, float]]:
    """Counts of the sentences, the topics, and dishes and tables per document."""
    rng = np.random.default_rng(seed)
    topic_word = rng.dirichlet(np.full(N_WORDS, ETA), N_TOPICS)
    lengths = [LENGTH] * N_SENTENCES
    drawn = [WAS().draw_seats(lengths, rng) for _ in range(N_DOCUMENTS)]
    words = np.concatenate([words_of(seats.dish, topic_word, rng) for seats in drawn])
    row = np.repeat(np.arange(N_DOCUMENTS * N_SENTENCES), LENGTH)
    X = sparse.csr_matrix((np.ones(len(words), np.int64), (row, words)), (row[-1] + 1, N_WORDS))
    n_dishes = np.mean([seats.dish.max() + 1 for seats in drawn])
    n_tables = np.mean([len(np.unique(seats.table)) for seats in drawn])
    return X, topic_word, (float(n_dishes), float(n_tables))


def words_of(dish: np.ndarray, topic_word: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a word for each seat: proportions of each dish, a topic, a word."""
    proportions = rng.dirichlet(np.full(len(topic_word), KAPPA), dish.max() + 1)
    topic = [rng.choice(len(topic_word), p=proportions[d]) for d in dish]
    return np.array([rng.choice(topic_word.shape[1], p=topic_word[k]) for k in topic])


def learnt(X: sparse.csr_matrix, exact: bool, n_sweeps: int, seed: int) -> tuple[float, float]:
    """Dishes and tables per document, with the topics integrated out."""
    model = WASTopicModel(
        N_TOPICS,
        prior=WAS(exact=exact),
        atom_prior=KAPPA,
        topic_word_prior=ETA,
        n_sweeps=n_sweeps,
        n_burn_in=n_sweeps // 2,
        random_state=seed,
    )
    model.fit(X, groups=np.repeat(np.arange(N_DOCUMENTS), N_SENTENCES))
    return float(model.n_atoms_.mean()), float(model.n_tables_.mean())


def given(
    X: sparse.csr_matrix, topic_word: np.ndarray, exact: bool, n_sweeps: int, seed: int
) -> tuple[float, float]:
    """Dishes and tables per document, under the true topics."""
    found = sampler.SentenceSampler(WAS(exact=exact), KAPPA).fold_in(
        corpus.corpus_of(X, [N_SENTENCES] * N_DOCUMENTS),
        topic_word.T,
        corpus.document_seeds(seed, 0, N_DOCUMENTS),
        n_sweeps=n_sweeps,
        n_averaged=n_sweeps // 2,
    )
    return float(found.n_dishes.mean()), float(found.n_tables.sum() / N_DOCUMENTS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    counts: dict[str, list[tuple[float, float]]] = {}
    for seed in range(options.seeds):
        X, topic_word, truth = draw(seed)
        counts.setdefault("truth", []).append(truth)
        for name, exact in (("exact", True), ("as last", False)):
            run = exact, options.sweeps, seed
            counts.setdefault(f"{name}, topics learnt", []).append(learnt(X, *run))
            counts.setdefault(f"{name}, topics given", []).append(given(X, topic_word, *run))
    print(f"| {options.seeds} corpora | dishes | tables |\n{'|---' * 3}|")
    for name, values in counts.items():
        mean = np.mean(values, axis=0)
        error = np.std(np.subtract(values, counts["truth"]), axis=0, ddof=1)
        cells = [
            f"{m:.1f} ± {e / len(values) ** 0.5:.1f}" for m, e in zip(mean, error, strict=True)
        ]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
