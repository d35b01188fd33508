# SPDX-License-Identifier: BSD-3-Clause
"""The HTML representation of estimators: the link to the reference, and whether it is fitted."""

import re
from functools import cache
from pathlib import Path

import pytest
from sklearn.utils import estimator_html_repr, get_tags

import streamtopics
from tests.conventions.every import EVERY

ROOT = Path(streamtopics.__file__).parents[1]
each = pytest.mark.parametrize("name", EVERY)
LINK = re.compile(r'<a class="sk-estimator-doc-link[^"]*"[^>]* href="([^"]*)">\?')
BADGE = re.compile(r'<span class="sk-estimator-doc-link (\w*)">i<span>([\w ]*)</span>')


@cache
def pages_of_the_reference() -> set[str]:
    """The names under which the pages of doc/api list things."""
    pages, module = set(), ""
    texts = [p.read_text(encoding="utf-8") for p in sorted((ROOT / "doc" / "api").glob("*.rst"))]
    for line in "\n".join(texts).splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.removeprefix(".. currentmodule:: ")
        elif re.fullmatch(r" {3}[\w.]+", line):
            pages.add(f"{module}.{line.strip()}")
    return pages


@each
def test_the_badge_says_whether_it_is_fitted(name):
    case = EVERY[name]
    # What can do without fit counts as fitted, as in scikit-learn.
    needs_fit = get_tags(case.estimator).requires_fit
    before = ("", "Not fitted") if needs_fit else ("fitted", "Fitted")
    assert BADGE.findall(estimator_html_repr(case.made)) == [before]
    assert BADGE.findall(estimator_html_repr(case.fitted)) == [("fitted", "Fitted")]
