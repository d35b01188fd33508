# SPDX-License-Identifier: BSD-3-Clause
"""Whether the prior of clusters of short texts should be chosen by a part of the first minibatch.

    python -m benchmarks.short_prior [CORPUS:K:LEARNT ...] [--seeds 0 1 2 3 4] [--results FILE]
    python -m benchmarks.short_prior --table doc/short_prior_table.rst

`StreamingMixture` with start="spectral" learns 6,000 documents, or all, with each prior of its
clusters, and under update="bps". "first_half" is the score of the second half of the first 3,000
documents after learning the first half: what a choice would go by. Corpora, splits, scores, NPMI
and NMI are those of `benchmarks.start`. The table has the means of paired differences from 0.02,
with the standard errors of scores, and the same of the choice among all.
"""

from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.results import (
    add,
    command,
    csv_table,
    differences,
    of,
    paired,
    parser_of,
    read,
)  # fmt: skip
from benchmarks.text_quality import documents, halves
from streamtopics import StreamingMixture
from streamtopics.metrics import topic_coherence

CHOOSE = ("dblp_titles:4", "m10_titles:10", "wordnet_glosses:45", "dblp_titles:50", "m10_titles:50")
CONFIRM = (
    "commit_subjects:10", "health_tweets:16", "search_snippets:8", "commit_subjects:50",
    "health_tweets:50", "search_snippets:50",
)  # fmt: skip
# Learnt from as a whole.
WHOLE = ("commit_subjects:50", "health_tweets:50")
FEW, ALL, FIRST = 6000, 100_000, 3000
PLACES = [
    *(f"{place}:{FEW}" for place in (*CHOOSE, *CONFIRM)),
    *(f"{place}:{ALL}" for place in WHOLE),
]
CANDIDATES: dict[str, dict[str, Any]] = {
    "0.02": {},
    "0.05": {"topic_word_prior": 0.05},
    "0.1": {"topic_word_prior": 0.1},
    "0.2": {"topic_word_prior": 0.2},
    "bps": {"update": "bps"},
}
KEY = ("corpus", "K", "learnt", "seed", "candidate")
FIGURES = ("score", "npmi", "nmi", "first_half")


def measured(corpus: str, K: str, learnt: str, seed: int, candidate: str) -> dict[str, float]:
    """The figures of a candidate on a split."""
    split = documents(corpus, seed)
    X, half = split.train[: int(learnt)], FIRST // 2

    def begun() -> StreamingMixture:
        more = CANDIDATES[candidate]
        return StreamingMixture(int(K), start="spectral", random_state=seed, **more)

    model = begun().fit(X)
    observed, held_out = halves(split.test)
    score = model.held_out_log_probability(observed, held_out).sum() / held_out.sum()
    top = np.argsort(-model.topic_word_, axis=1, kind="stable")[:, :10]
    asked = np.flatnonzero([label is not None for label in split.test_labels])
    labels = split.test_labels[asked].astype(str)
    return {
        "score": float(score),
        "npmi": float(topic_coherence(top, split.train).mean()),
        "nmi": float(normalized_mutual_info_score(labels, model.predict(split.test)[asked])),
        "first_half": float(begun().partial_fit(X[:half]).score(X[half:FIRST])),
    }


def table(results: Path) -> str:
    """A row for each corpus and number of clusters."""
    rows, lines = read(results), []
    names = [*list(CANDIDATES)[1:], "chosen"]
    for place in PLACES:
        corpus, K, learnt = place.split(":")
        here = of(rows, corpus=corpus, K=K, learnt=learnt)
        by_seed = [of(here, seed=seed) for seed in dict.fromkeys(row["seed"] for row in here)]
        whole = [own for own in by_seed if len(own) == len(CANDIDATES)]
        # What predicts the second half of the first documents best.
        chosen = [max(own, key=lambda row: float(row["first_half"])) for own in whole]
        if not whole:
            continue
        base, cells = of(here, candidate="0.02"), []
        for name in names:
            own = chosen if name == "chosen" else of([*chain(*whole)], candidate=name)
            npmi = differences(own, base, "npmi").mean()
            cells.append(f"{paired(own, base, 'score')} ({npmi:+.3f})")
        lines.append((f"``{corpus}``", K, learnt if int(learnt) == FEW else "all", *cells))
    title = "Score (NPMI) of priors of clusters of short texts, less those of 0.02"
    return csv_table(title, ["corpus", "K", "documents", *names], lines)


def main() -> None:
    """Run what is missing, or write the table."""
    options = parser_of(__doc__, __file__, places=PLACES, metavar="CORPUS:K:LEARNT").parse_args()
    cells = product(options.places, options.seeds, CANDIDATES)
    keys = ((*place.split(":"), seed, name) for place, seed, name in cells)
    command(options, table, lambda: add(options.results, KEY, FIGURES, keys, measured))


if __name__ == "__main__":
    main()
