# SPDX-License-Identifier: BSD-3-Clause
"""The order of the guide's chapters and of the gallery."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GUIDE, EXAMPLES = ROOT / "doc" / "user_guide", ROOT / "doc" / "examples"
METHODS = [
    "choosing",
    "composition",
    "determinantal",
    "guided",
    "knowledge_classes",
    "knowledge_ratings",
    "knowledge_sentiment",
    "online_em",
    "priors",
    "sentences",
    "short_text",
    "streaming",
    "streaming_bayes",
    "summaries",
]
TASKS = ["first_steps", "streams", "guide", "sentences", "looking"]


@pytest.mark.parametrize("name", METHODS)
def test_a_chapter_begins_with_what_it_is_for(name):
    text = (GUIDE / f"{name}.rst").read_text(encoding="utf-8")
    when = re.search(r"^(\*\*)?When to use", text, flags=re.MULTILINE)
    assert when
    start = when.start()
    assert "and when not" in text[start : start + 60]
    assert "benchmarks/" in text[start : start + 2500]
    equation, example = text.find(".. math::"), text.find(">>> ")
    assert start < example
    assert equation == -1 or example < equation
    for part in ("Parameters", "Cost"):
        assert re.search(rf"^(\*\*)?{part}\b", text, flags=re.MULTILINE), part


@pytest.mark.parametrize("name", METHODS)
def test_benchmarks_that_are_named_are_there(name):
    text = (GUIDE / f"{name}.rst").read_text(encoding="utf-8")
    named = re.findall(r"``(benchmarks/[\w/]+\.py)", text)
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_gallery_has_a_part_for_each_task():
    conf = (ROOT / "doc" / "conf.py").read_text(encoding="utf-8")
    (order,) = re.findall(r"for part in \(([^)]*)\)", conf)
    parts = {path.parent.name for path in EXAMPLES.glob("*/plot_*.py")}
    assert parts == set(re.findall(r"\w+", order)) > set(TASKS)
    assert all((EXAMPLES / part / "GALLERY_HEADER.rst").exists() for part in parts)
    assert not list(EXAMPLES.glob("plot_*.py"))
    assert sum(len(list((EXAMPLES / part).glob("plot_*.py"))) for part in TASKS) >= 20
