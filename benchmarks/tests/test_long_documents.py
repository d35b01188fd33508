# SPDX-License-Identifier: BSD-3-Clause
"""`benchmarks.long_documents`: the rules are those of the command, and figures are right."""

import numpy as np
import pytest

from benchmarks import long_documents
from benchmarks.long_documents import KEY, RULES, cut, interval, measured, options_of, table
from benchmarks.results import append
from streamtopics.cli.parsers import parser

COMMON = ("today", "people")
GROUPS = (("tax", "budget", "money", "dollar"), ("army", "war", "peace", "navy"))


def texts(n: int) -> list[str]:
    """Documents of two subjects, in which two words are everywhere."""
    rng = np.random.default_rng(0)
    return [" ".join([*rng.choice(GROUPS[i % 2], 12), *rng.choice(COMMON, 6)]) for i in range(n)]


def test_what_is_kept_is_the_default_of_the_command():
    default = parser().parse_args(["fit", "-", "--topics", "10"])
    kept = options_of("kept", 0)
    assert (kept.max_share, kept.relevance) == (default.max_share, default.relevance)


def test_a_word_of_every_document_is_left_out_by_one_rule(monkeypatch):
    monkeypatch.setitem(RULES, "left out", ["--max-share", "0.6", "--relevance", "0.6"])
    monkeypatch.setattr(long_documents, "N_PRINTED", 3)
    found = measured(texts(200), seed=0)
    assert found["kept"]["left_out"] == 0
    assert found["left out"]["left_out"] == pytest.approx(6 / 18)
    for figures in found.values():
        # No better than if the subject of each document were known, no worse than eight words.
        assert -np.log(8) - 0.05 < figures["score"] < -np.log(4) + 0.1
        assert abs(figures["score"] - figures["score_own"]) < 0.05
        assert figures["npmi"] > 0.2
    # Of windows too: only words of a subject and those of all documents meet.
    assert found["left out"]["windows"] > 0.2


def test_texts_are_cut_evenly(monkeypatch):
    monkeypatch.setattr(long_documents, "MOST_DOCUMENTS", 3)
    assert cut(["a", "b", "c", "d", "e"]) == ["a", "c", "e"]
    assert cut(["a", "b"]) == ["a", "b"]


def test_differences_are_paired_by_the_seed(tmp_path):
    path = tmp_path / "rows.csv"
    for seed, (before, now) in enumerate([(0.1, 0.3), (0.5, 0.6), (0.2, 0.5)]):
        for rule, npmi in (("kept", now), ("left out", before)):
            figures = {
                "left_out": 0.0,
                "npmi": npmi,
                "windows": 0.0,
                "score": -npmi,
                "score_own": 1.0,
            }
            append(path, (*KEY, *figures), {"corpus": "a", "seed": seed, "rule": rule} | figures)
    last = table(path).splitlines()[-1]
    # t of two degrees of freedom is 4.303 at .975; the standard error of .2, .1, .3 is .0577.
    assert last == "a,  difference,0,+0.200 ± 0.248,0,-0.200 ± 0.248,0".replace(
        ",0", ",+0.000 ± 0.000"
    )
    assert interval(np.array([0.25])) == "+0.250"
