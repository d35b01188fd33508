# SPDX-License-Identifier: BSD-3-Clause
"""Paths and documents that cannot be any are refused by name by all that reads or writes them."""

import os

import numpy as np
import pytest

from streamtopics import SVBLDA, load, save
from streamtopics.distributed import learn_apart
from streamtopics.report import report
from streamtopics.streams import Checkpointer, resume

X = np.random.default_rng(0).poisson(1.0, (30, 5))
NAMES = list("abcde")
MODEL = SVBLDA(2, random_state=0).fit(X)
DOORS = {
    "save": lambda path: save(MODEL, path),
    "load": load,
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
        path = tmp_path / "page.html"
        report(MODEL, path, X=counts, feature_names=NAMES)
        pages.append(path.read_bytes())
    assert pages[0] == pages[1]


@pytest.mark.parametrize("wrong", ["abc", [["a"] * 5], [[1, 2, 3, 4, 5], [1]]])
def test_a_report_names_what_are_no_counts(wrong, tmp_path):
    with pytest.raises((TypeError, ValueError), match="X, passed to report, cannot be read"):
        report(MODEL, tmp_path / "page.html", X=wrong, feature_names=NAMES)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wrong", [None, 5])
def test_partitions_are_documents(wrong):
    model = SVBLDA(2, random_state=0).fit(X)
    with pytest.raises(TypeError, match="partitions must each be documents"):
        learn_apart(model, wrong)
