# SPDX-License-Identifier: BSD-3-Clause
"""The order of the guide's chapters and of the gallery."""

import re
from pathlib import Path

import pytest

from benchmarks.papers.ledger import items

ROOT = Path(__file__).parents[2]
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
OFFERED = GUIDE.parent / "_static"
TASKS = ["first_steps", "streams", "guide", "sentences", "looking"]


@pytest.mark.parametrize("name", METHODS)
def test_a_chapter_begins_with_what_it_is_for(name):
    text = (GUIDE / f"{name}.rst").read_text(encoding="utf-8")
    when = re.search(r"^(\*\*)?When to use", text, flags=re.MULTILINE)
    assert when
    start = when.start()
    assert "and when not" in text[start : start + 60]
    assert re.search(r"benchmarks[./]|/measured", text[start : start + 2500])
    equation, example = text.find(".. math::"), text.find(">>> ")
    assert example > 0
    assert equation == -1 or example < equation
    for part in ("Parameters", "Cost"):
        assert re.search(rf"^(\*\*)?{part}\b", text, flags=re.MULTILINE), part


@pytest.mark.parametrize("name", METHODS)
def test_a_chapter_begins_with_words(name):
    text = (GUIDE / f"{name}.rst").read_text(encoding="utf-8")
    first = text[text.index(">>> ") :].split("\n\n")[0]
    read = re.findall(r'"([\w.]+\.gz)"', first)
    assert read or re.search(r'"[A-Z][a-z ]+\."', first), "the first example is of texts"
    assert all((OFFERED / file).exists() and f"/{file}>`" in text for file in read)


@pytest.mark.parametrize("name", METHODS)
def test_a_cost_is_seconds_of_a_benchmark(name):
    text = (GUIDE / f"{name}.rst").read_text(encoding="utf-8")
    (after,) = re.findall(r"^(?:Cost\n[-~]{4,}|\*\*Cost\.\*\*)(.*)", text, re.DOTALL | re.MULTILINE)
    cost = re.split(r"\n[^\n]+\n[-~]{4,}\n|\n\*\*", after)[0]
    assert re.search(r"\d\s(?:CPU\s)?(?:milli|micro)?seconds", cost)
    assert re.search(r"benchmarks[./]", cost)


def test_files_that_are_offered_have_a_source():
    sources = (OFFERED / "SOURCES.txt").read_text(encoding="utf-8")
    files = [path.name for path in OFFERED.glob("*.gz")]
    assert files
    assert [name for name in files if f"\n{name}\n" not in sources] == []


PAGES = [*sorted((ROOT / "doc").glob("*.rst")), *sorted((ROOT / "doc").glob("*/*.rst"))]


def test_benchmarks_that_are_named_are_there_and_can_be_run():
    for page in [ROOT / "README.md", *PAGES]:
        text = page.read_text(encoding="utf-8")
        named = re.findall(r"``((?:benchmarks|proof|tests)/[\w/]+\.py)", text)
        assert [path for path in named if not (ROOT / path).exists()] == []
        of_the_ledger = {name for one in items() for name in (one.name, one.experiment)} | {"NAME"}
        for module, arguments in re.findall(
            r"python -m ((?:benchmarks|proof)[\w.]*)([\w -]*)", text
        ):
            path = ROOT / module.replace(".", "/")
            file = path / "__main__.py" if path.is_dir() else path.with_suffix(".py")
            assert "__main__" in file.read_text(encoding="utf-8"), module
            if module == "benchmarks.papers":
                wanted = arguments.partition("--")[0].split()
                assert set(wanted) <= of_the_ledger, arguments


def test_the_gallery_has_a_part_for_each_task():
    conf = (ROOT / "doc" / "conf.py").read_text(encoding="utf-8")
    (order,) = re.findall(r"for part in \(([^)]*)\)", conf)
    parts = {path.parent.name for path in EXAMPLES.glob("*/plot_*.py")}
    assert parts == set(re.findall(r"\w+", order)) > set(TASKS)
    assert all((EXAMPLES / part / "GALLERY_HEADER.rst").exists() for part in parts)
    assert not list(EXAMPLES.glob("plot_*.py"))
    assert sum(len(list((EXAMPLES / part).glob("plot_*.py"))) for part in TASKS) >= 20
