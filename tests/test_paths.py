# SPDX-License-Identifier: BSD-3-Clause
"""Paths and documents that cannot be any are refused by name by all that reads or writes them."""

import numpy as np
import pytest

from streamtopics import SVBLDA
from streamtopics.report import report

X = np.random.default_rng(0).poisson(1.0, (30, 5))
NAMES = list("abcde")
MODEL = SVBLDA(2, random_state=0).fit(X)


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
    with pytest.raises((TypeError, ValueError)):
        report(MODEL, tmp_path / "page.html", X=wrong, feature_names=NAMES)
    assert list(tmp_path.iterdir()) == []
