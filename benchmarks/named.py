# SPDX-License-Identifier: BSD-3-Clause
"""The methods that have a name, at their defaults and as published, beside StreamingLDA.

    python -m benchmarks.named [CORPUS:K ...] [--seeds 0 1 2] [--models NAME ...] [--results FILE]
    python -m benchmarks.named --table
    python -m benchmarks.named --planted

Corpora, words, splits by the seed and scores are those of `benchmarks.start`: the held-out score
is in nats per token, NPMI of the ten likeliest words, and seconds of the processor. What stands in
the results is not run again. The table has means over the seeds, and the mean and the standard
error of the paired differences in score from StreamingLDA.

`--planted` prints of how many of 40 seeds the three topics of scikit-learn's nine planted
documents are found: those of `build_sparse_array` in the tests of its `LatentDirichletAllocation`,
in which nine words make three blocks.
"""

import time
import warnings
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import streamtopics
from benchmarks.results import add, command, mean, of, paired, parser_of, read
from benchmarks.start import figures_of_topics
from benchmarks.text_quality import documents
from streamtopics import StreamingLDA

CHOOSE = (
    "newsgroups:100", "imdb_unlabelled:50", "dblp_titles:50", "wordnet_glosses:50", "m10_titles:20",
)  # fmt: skip
CONFIRM = (
    "health_tweets:50", "commit_subjects:50", "search_snippets:50", "reuters21578:50",
    "bbc_news:20", "nips_abstracts:20", "presidential_speeches:20", "rated_movie_reviews:20",
    "webkb:20",
)  # fmt: skip
NAMES = "SVBLDA", "BPSLDA", "SVBHPP", "VariationalOnlineEM", "GibbsOnlineEM"
BASE, PUBLISHED = "StreamingLDA", ", as published"
MODELS = BASE, *NAMES, *(name + PUBLISHED for name in NAMES)
KEY, FIGURES = ("corpus", "K", "seed", "model"), ("score", "npmi", "seconds")
N_SEEDS, BLOCK = 40, 3


def made(name: str, n_components: int, seed: int) -> Any:
    """The estimator of a name."""
    if name == BASE:
        return StreamingLDA(n_components, start="spectral", random_state=seed)
    kind = getattr(streamtopics, name.removesuffix(PUBLISHED))
    if name.endswith(PUBLISHED):
        return kind.preset(kind.__name__, n_components, random_state=seed)
    return kind(n_components, random_state=seed)


def measured(corpus: str, n_components: str, seed: int, name: str) -> dict[str, float]:
    """Figures of a model of one seed."""
    split = documents(corpus, seed)
    model, start = made(name, int(n_components), seed), time.process_time()
    model.fit(split.train)
    seconds = time.process_time() - start
    return figures_of_topics(model, split) | {"seconds": seconds}


def table(results: Path) -> str:
    """Rows of CSV: figures of each model on each corpus, and differences in score."""
    rows = read(results)
    lines = ["corpus,K,model,seeds," + ",".join(FIGURES) + ",score less StreamingLDA's"]
    for place in (*CHOOSE, *CONFIRM):
        corpus, K = place.split(":")
        here = of(rows, corpus=corpus, K=K)
        for name in MODELS:
            if own := of(here, model=name):
                told = "" if name == BASE else paired(own, of(here, model=BASE), "score")
                means = (mean(own, figure) for figure in FIGURES)
                lines.append(",".join((corpus, K, name, str(len(own)), *means, told)))
    return "\n".join(lines)


def print_planted() -> None:
    """Print of how many seeds each finds the topics, three blocks of three words."""
    block = np.full((BLOCK, BLOCK), BLOCK)
    X = sparse.csr_matrix(sparse.block_diag([block] * BLOCK))
    blocks = np.arange(BLOCK * BLOCK).reshape(BLOCK, BLOCK).tolist()
    for name in MODELS:
        found = 0
        for seed in range(N_SEEDS):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = made(name, BLOCK, seed).fit(X)
            top = np.argsort(model.topic_word_, axis=1)[:, -BLOCK:]
            found += sorted(map(sorted, top.tolist())) == blocks
        print(f"{name}: {found} of {N_SEEDS}", flush=True)


def main() -> None:
    """Run what is missing, or print the table, or what is planted."""
    parser = parser_of(__doc__, __file__, places=(*CHOOSE, *CONFIRM), models=MODELS)
    parser.add_argument("--planted", action="store_true")
    options = parser.parse_args()
    if options.planted:
        print_planted()
        return
    cells = product(options.places, options.seeds, options.models)
    keys = ((*place.split(":"), seed, name) for place, seed, name in cells)
    command(options, table, lambda: add(options.results, KEY, FIGURES, keys, measured))


if __name__ == "__main__":
    main()
