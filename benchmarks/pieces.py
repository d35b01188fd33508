# SPDX-License-Identifier: BSD-3-Clause
"""What the defaults of `StreamingLDA` are made of: each piece left out, and the local step by the
length of the documents.

    python -m benchmarks.pieces [--results FILE] [--seeds 0 1]
    python -m benchmarks.pieces --table doc/pieces_table.rst

A line of CSV for each cell: held-out score in nats per token of 1,000 documents, NPMI and
diversity of the ten most probable words, and the share of the topics that is owed to the prior.
What stands in FILE already is not run again. "newsgroups@25" are newsgroups of which each document
has 25 of its words, drawn at random.
"""

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import corpora
from benchmarks.composition import counts, figures
from benchmarks.results import add, command, csv_table, mean, of, parser_of, read
from streamtopics import StreamingLDA, StreamingMixture
from streamtopics.estimators import Schedule
from tests.plain import GibbsOnlineEM

KEY = ("part", "corpus", "K", "seed", "model")
FIGURES = ("score", "npmi", "diversity", "prior", "seconds")
LEFT_OUT: dict[str, dict[str, Any]] = {
    "default": {},
    "growth=1": {"schedule": Schedule(growth=1.0)},
    "start='noise'": {"start": "noise"},
    "inner_batch_size=None": {"schedule": Schedule(None)},
    "prior_limit=None": {"schedule": Schedule(prior_limit=None)},
    "topic_word_prior=0.05": {"topic_word_prior": 0.05},
    "n_start_rounds=10": {"schedule": Schedule(n_start_rounds=10)},
    "update='bps'": {"update": "bps"},
    "update='online_em'": {"update": "online_em"},
}
OF_LDA: dict[str, dict[str, Any]] = {
    "doc_topic_prior_update='fixed'": {"doc_topic_prior_update": "fixed"},
    "view='mean'": {"view": "mean"},
    "view='geometric_mean'": {"view": "geometric_mean"},
    "inference='gibbs'": {"inference": "gibbs"},
}
OF_MIXTURE: dict[str, dict[str, Any]] = {
    "inference='gibbs'": {"inference": "gibbs"},
    "no background": {"background": 0.0},
}
PLACES = {
    "newsgroups:20": OF_LDA, "newsgroups:100": OF_LDA, "imdb_unlabelled:50": OF_LDA,
    "m10_titles:20": OF_MIXTURE, "dblp_titles:100": OF_MIXTURE, "wordnet_glosses:100": OF_MIXTURE,
}  # fmt: skip
LENGTHS = (6, 10, 15, 25, 40, 80)
LOCAL_STEPS = ("one_topic", "gibbs", "variational")


@cache
def split(corpus: str, seed: int) -> corpora.Split:
    """Counts; of documents cut to some number of their words, if the name says so."""
    name, _, length = corpus.partition("@")
    whole = counts(name, seed)
    if not length:
        return whole
    rng = np.random.default_rng(seed)
    return whole._replace(
        train=_cut(whole.train, int(length), rng), test=_cut(whole.test, int(length), rng)
    )


def _cut(X: sparse.csr_matrix, length: int, rng: np.random.Generator) -> sparse.csr_matrix:
    """At most so many tokens of each document, drawn at random."""
    rows = []
    for row in X:
        tokens = np.repeat(row.indices, row.data.astype(int))
        rows.append(rng.permutation(tokens)[:length])
    columns = np.concatenate(rows)
    ends = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    found = sparse.csr_matrix((np.ones(len(columns), np.float32), columns, ends), X.shape)
    found.sum_duplicates()
    return found


def cells(seeds: list[int]) -> Iterator[tuple[str, str, int, int, str, Any]]:
    """Part, corpus, number of topics, seed, name of the model, and the model."""
    for seed in seeds:
        for place, own in PLACES.items():
            corpus, k = place.split(":")
            for name, parameters in (LEFT_OUT | own).items():
                kind = StreamingMixture if "background" in parameters else StreamingLDA
                model = kind(int(k), random_state=seed, **parameters)
                yield "pieces", corpus, int(k), seed, name, model
            model = GibbsOnlineEM(int(k), random_state=seed)
            yield "pieces", corpus, int(k), seed, "GibbsOnlineEM", model
        for length in LENGTHS:
            for k in (20, 100):
                for step in LOCAL_STEPS:
                    # One pass for all, however few the tokens.
                    model = StreamingLDA(k, inference=step, max_iter=1, random_state=seed)
                    yield "lengths", f"newsgroups@{length}", k, seed, step, model


def measured(
    model: Any, part: str, corpus: str, n_topics: int, seed: int, name: str
) -> dict[str, float]:
    """The figures of a model."""
    found = figures(model, split(corpus, seed))
    return found | {"prior": float(model.prior_retention_ @ model.topic_weights_)}


def table(results: Path) -> str:
    """Tables of means over the seeds, in reStructuredText."""
    rows = read(results)
    parts = {
        "pieces": ("Each piece left out: score / NPMI / diversity", ("score", "npmi", "diversity")),
        "lengths": ("Score by words a document", ("score",)),
    }
    tables = []
    for part, (title, names) in parts.items():
        here = of(rows, part=part)
        places = list(dict.fromkeys((row["corpus"], row["K"]) for row in here))
        lines = []
        for name in dict.fromkeys(row["model"] for row in here):
            line = [f'"{name}"']
            for corpus, K in places:
                own = of(here, model=name, corpus=corpus, K=K)
                shown = (mean(own, figure, 2 + (figure == "score")) for figure in names if own)
                line.append(" / ".join(shown))
            lines.append(line)
        n_seeds = len({row["seed"] for row in here})
        head = ["model", *(f"{corpus} {K}" for corpus, K in places)]
        tables.append(csv_table(f"{title} (n = {n_seeds})", head, lines))
    return "\n".join(tables)


def main() -> None:
    """Run what is not there yet, or write the tables."""
    options = parser_of(__doc__.replace("\n", " ", 1), __file__, n_seeds=2).parse_args()

    def run() -> None:
        for *key, model in cells(options.seeds):
            add(options.results, KEY, FIGURES, [key], partial(measured, model))

    command(options, table, run)


if __name__ == "__main__":
    main()
