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

import argparse
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from benchmarks.results import append, read
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


def measured(corpus: str, K: int, learnt: int, seed: int, more: dict[str, Any]) -> dict[str, float]:
    """The figures of a candidate on a split."""
    split = documents(corpus, seed)
    X, half = split.train[:learnt], FIRST // 2

    def begun() -> StreamingMixture:
        return StreamingMixture(K, start="spectral", random_state=seed, **more)

    model = begun().fit(X)
    observed, held_out = halves(split.test)
    top = np.argsort(-model.topic_word_, axis=1, kind="stable")[:, :10]
    asked = np.flatnonzero([label is not None for label in split.test_labels])
    labels = split.test_labels[asked].astype(str)
    return {
        "score": model.held_out_log_probability(observed, held_out).sum() / held_out.sum(),
        "npmi": float(topic_coherence(top, split.train).mean()),
        "nmi": normalized_mutual_info_score(labels, model.predict(split.test)[asked]),
        "first_half": begun().partial_fit(X[:half]).score(X[half:FIRST]),
    }


def table(results: Path) -> str:
    """A row for each corpus and number of clusters."""
    rows = read(results)
    names = [*list(CANDIDATES)[1:], "chosen"]
    lines = [
        ".. csv-table:: Score (NPMI) of priors of clusters of short texts, less those of 0.02",
        f"   :header: corpus, K, documents, {', '.join(names)}",
        "",
    ]
    for place in PLACES:
        corpus, K, learnt = place.split(":")
        of: dict[str, dict[str, dict[str, str]]] = {}
        for row in rows:
            if (row["corpus"], row["K"], row["learnt"]) == (corpus, K, learnt):
                of.setdefault(row["seed"], {})[row["candidate"]] = row
        whole = [own for own in of.values() if len(own) == len(CANDIDATES)]
        cells = []
        for name in names:
            pairs = [(chosen(own) if name == "chosen" else own[name], own["0.02"]) for own in whole]
            score, npmi = (
                np.array([float(a[figure]) - float(b[figure]) for a, b in pairs])
                for figure in ("score", "npmi")
            )
            error = np.std(score, ddof=1) / len(score) ** 0.5 if len(score) > 1 else np.nan
            cells.append(f"{np.mean(score):+.3f} ± {error:.3f} ({np.mean(npmi):+.3f})")
        if whole:
            lines.append(
                "   "
                + ", ".join((f"``{corpus}``", K, learnt if int(learnt) == FEW else "all", *cells))
            )
    return "\n".join([*lines, ""])


def chosen(own: dict[str, dict[str, str]]) -> dict[str, str]:
    """The row of the candidate that predicts the second half of the first documents best."""
    return max(own.values(), key=lambda row: float(row["first_half"]))


def main() -> None:
    """Run what is missing, or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("places", nargs="*", default=PLACES, metavar="CORPUS:K:LEARNT")
    parser.add_argument("--results", type=Path, default=Path(__file__).with_suffix(".csv"))
    parser.add_argument("--seeds", type=int, nargs="+", default=list(range(5)))
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    if options.table:
        options.table.write_text(table(options.results), encoding="utf-8")
        return
    warnings.simplefilter("ignore")
    done = {tuple(row[field] for field in KEY) for row in read(options.results)}
    for place in options.places:
        corpus, K, learnt = place.split(":")
        for seed in options.seeds:
            for name, more in CANDIDATES.items():
                key = dict(zip(KEY, (corpus, K, learnt, str(seed), name), strict=True))
                if tuple(key.values()) not in done:
                    found = measured(corpus, int(K), int(learnt), seed, more)
                    row = key | {figure: f"{value:.4f}" for figure, value in found.items()}
                    append(options.results, (*KEY, *FIGURES), row)


if __name__ == "__main__":
    main()
