# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the README's table."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks import start
from benchmarks.results import read
from benchmarks.text_models import OURS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CORPORA = {
    "commit subjects": "commit_subjects",
    "tweets on health": "health_tweets",
    "search snippets": "search_snippets",
    "BBC news": "bbc_news",
    "web pages": "webkb",
    "abstracts": "nips_abstracts",
    "newswire": "reuters21578",
    "film reviews": "rated_movie_reviews",
    "speeches": "presidential_speeches",
}
COLUMNS = [
    ["StreamingLDA"],
    ["tomotopy, 200 sweeps"],
    ["scikit-learn", "scikit-learn, tuned priors", "gensim", "gensim, alpha learnt"],
    ["NMF"],
    ["GSDMM", "bitermplus"],
]


@pytest.fixture(scope="module")
def measured():
    """Score, the better of both inferences, seconds and NMI of each model on each corpus."""
    text = (ROOT / "doc" / "text_quality_table.rst").read_text(encoding="utf-8")
    found = {}
    for part in text.split(".. csv-table:: ")[2:]:
        title, *lines = part.splitlines()
        rows = list(
            csv.reader((line.strip() for line in lines if line.strip()), skipinitialspace=True)
        )
        corpus, n_topics = title.removesuffix(" topics").split(", ")
        at = {row[0]: (max(float(row[1]), float(row[2])), row[9], row[7]) for row in rows[1:]}
        found[corpus, n_topics] = at
    return found


def agreement(corpus, n_topics):
    """NMI of the topics of held-out documents by models of two seeds."""
    rows = [
        row
        for row in read(Path(start.__file__).with_suffix(".csv"))
        if (row["corpus"], row["K"]) == (corpus, n_topics)
    ]
    return np.mean([float(row["agreement"]) for row in rows if row["model"] == "StreamingLDA"])


def test_the_table_is_what_was_measured(measured):
    rows = [line for line in README.splitlines() if re.match(r"\| [\w ]+, \d+ \|", line)]
    assert len(rows) == len(CORPORA)
    for row in rows:
        name, *cells, nmi, two_seeds = [cell.strip() for cell in row.strip("|").split("|")]
        corpus, n_topics = name.split(", ")
        there = measured[CORPORA[corpus], n_topics]
        bests = []
        for cell, models in zip(cells, COLUMNS, strict=True):
            best = max((there[model] for model in models if model in there), default=None)
            shown = re.sub(r"[*()]", "", cell).split()
            assert bool(shown) == (best is not None)
            if best is not None:
                assert float(shown[0]) == best[0], name
                assert abs(float(shown[1]) - float(best[1])) <= 0.51, name
                bests.append((float(shown[0]), "**" in cell))
        assert [bold for _, bold in bests] == [score == max(bests)[0] for score, _ in bests]
        of_others = [float(m[2]) for name, m in there.items() if m[2] and name not in OURS]
        shown = [there["StreamingLDA"][2], max(of_others)] if of_others else []
        assert np.allclose(
            [float(x) for x in nmi.split(",") if x], list(map(float, shown)), atol=0.0051
        )
        assert abs(float(two_seeds) - agreement(CORPORA[corpus], n_topics)) < 0.0051
