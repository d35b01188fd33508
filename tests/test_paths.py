# SPDX-License-Identifier: BSD-3-Clause
"""Paths and documents that cannot be any are refused by name by all that reads or writes them."""

import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from streamtopics import SVBLDA, load, save
from streamtopics.distributed import learn_apart
from streamtopics.report import report
from streamtopics.report.rows import cell
from streamtopics.streams import Checkpointer, resume

X = np.random.default_rng(0).poisson(1.0, (30, 5))
NAMES = list("abcde")
MODEL = SVBLDA(2, random_state=0).fit(X)
DOORS = {
    "save": lambda path: save(MODEL, path),
    "load": load,
    "report": lambda path: report(MODEL, path, X=X, feature_names=NAMES),
    "Checkpointer": Checkpointer,
    "resume": resume,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("wrong", [5, None, [], b"a", "a\0b"], ids=repr)
def test_what_is_no_path_is_refused(door, wrong):
    with pytest.raises((TypeError, ValueError), match=r"^path must be"):
        DOORS[door](wrong)


@pytest.mark.skipif(os.name == "nt", reason="there any text can be encoded")
def test_a_text_that_no_file_system_takes_is_refused():
    with pytest.raises(ValueError, match=r"^path must be what a file can be called"):
        load("\ud800")


@pytest.mark.parametrize("kind", ["object", "float16"])
def test_a_report_reads_counts_of_any_type(kind, tmp_path):
    pages = []
    for counts in (X, X.astype(kind)):
        path = report(MODEL, tmp_path / "page.html", X=counts, feature_names=NAMES)
        pages.append(Path(path).read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.parametrize("wrong", ["abc", [["a"] * 5], [[1, 2, 3, 4, 5], [1]]])
def test_a_report_names_what_are_no_counts(wrong, tmp_path):
    with pytest.raises((TypeError, ValueError), match="X, passed to report, cannot be read"):
        report(MODEL, tmp_path / "page.html", X=wrong, feature_names=NAMES)
    assert list(tmp_path.iterdir()) == []


def test_a_report_names_wrong_labels(tmp_path):
    with pytest.raises(TypeError, match="labels must be"):
        report(MODEL, tmp_path / "page.html", X=X, labels=5, feature_names=NAMES)


def test_numbers_that_no_cell_holds():
    assert cell(Fraction(10**400)) == cell(10**5000) == "too large to show"
    assert (cell(10**20), cell(Fraction(1, 4)), cell(np.inf)) == (str(10**20), "0.25", "inf")


@pytest.mark.parametrize("wrong", [None, 5])
def test_partitions_are_documents(wrong):
    model = SVBLDA(2, random_state=0).fit(X)
    with pytest.raises(TypeError, match="partitions must each be documents"):
        learn_apart(model, wrong)
