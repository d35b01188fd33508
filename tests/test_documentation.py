# SPDX-License-Identifier: BSD-3-Clause
"""Every example of the docstrings, the guide, the README and the gallery runs."""

import ast
import doctest
import importlib
import pkgutil
import re
import textwrap
import warnings
from pathlib import Path

import pytest
from matplotlib import pyplot
from sklearn.base import BaseEstimator

import streamtopics
from tests.parsed import packages_parsed_once

# What the documentation shows does not warn, of too few steps neither.
pytestmark = pytest.mark.filterwarnings("error")
ROOT = Path(__file__).parent.parent
DOC = ROOT / "doc"
README = (ROOT / "README.md").read_text(encoding="utf-8")
GUIDE = sorted([*DOC.glob("*.rst"), *DOC.glob("user_guide/*.rst"), *DOC.glob("extend/*.rst")])
IMPORTS = (ast.Import, ast.ImportFrom)
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(streamtopics.__path__, "streamtopics.")
    if "kernels" not in module.name and not module.name.endswith("__main__")
)


@pytest.fixture(autouse=True)
def packages_are_parsed_once():
    with packages_parsed_once():
        yield


def test_docstrings_have_examples():
    finder = doctest.DocTestFinder()
    found = [one for name in MODULES for one in finder.find(importlib.import_module(name))]
    assert sum(bool(one.examples) for one in found) > 100


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


@pytest.mark.parametrize("path", GUIDE, ids=lambda path: path.stem)
def test_guide_examples(path, monkeypatch):
    monkeypatch.chdir(DOC / "_static")  # Where the files are that the guide offers.
    assert doctest.testfile(str(path), module_relative=False, encoding="utf-8").failed == 0


@pytest.mark.parametrize("path", sorted(DOC.glob("user_guide/*.rst")), ids=lambda path: path.stem)
def test_an_example_stands_before_equations_and_tables(path):
    text = path.read_text(encoding="utf-8")
    example = re.search(r"^ *>>> |^\.\. code-block:: console", text, re.MULTILINE)
    other = re.search(r"^ *\.\. (math|include|\w+-table)::|^={4,} +=", text, re.MULTILINE)
    assert not example or not other or example.start() < other.start()


GALLERY = sorted((DOC / "examples").rglob("plot_*.py"))
STORIES = [path for path in GALLERY if path.stem.startswith("plot_story_")]


@pytest.mark.gallery
@pytest.mark.parametrize("path", GALLERY, ids=lambda p: p.stem)
def test_gallery_examples(path, capsys, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    source = path.read_text(encoding="utf-8")
    monkeypatch.chdir(path.parent)  # As sphinx-gallery does.
    pyplot.close("all")
    exec(compile(source, path, "exec"), {"__name__": "__main__"})
    assert pyplot.get_fignums(), "a page of the gallery has a picture"
    pyplot.close("all")


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_a_story_is_eight_lines(path):
    """Imports included; of what the page prepares it takes the data alone."""
    cells = re.split(r"^# %%$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    starts = "# At most eight lines", "# Another process"
    told = [cell for cell in cells if cell.lstrip().startswith(starts)]
    lines = [line for cell in told for line in cell.splitlines() if line.split("#")[0].strip()]
    assert 2 <= len(lines) <= 8
    assert not [line for line in lines if ";" in line]
    others = ast.walk(ast.parse("\n".join(cell for cell in cells if cell not in told)))
    imported = [a for node in others if isinstance(node, IMPORTS) for a in node.names]
    within = [*ast.walk(ast.parse("\n".join(lines)))]
    own = [a for node in within if isinstance(node, IMPORTS) for a in node.names]
    used = {node.id for node in within if isinstance(node, ast.Name)}
    assert not used & ({a.asname or a.name for a in imported} - {a.asname or a.name for a in own})


def test_there_are_twelve_stories():
    told = {path.stem.removeprefix("plot_story_") for path in STORIES}
    assert told >= {
        "folder", "alarm", "seeds", "grid_search", "n_topics", "digest", "rare_topics",
        "sentiment", "classes", "recommender", "resume", "over_time",
    }  # fmt: skip


def test_the_table_of_methods_is_that_of_the_presets(monkeypatch):
    monkeypatch.syspath_prepend(DOC)
    tables = importlib.import_module("tables")
    assert tables.METHODS.read_text(encoding="utf-8") == tables.methods(), "run doc/tables.py"


def test_the_tables_of_measurements_are_those_of_the_files(monkeypatch):
    monkeypatch.syspath_prepend(DOC)
    tables = importlib.import_module("measured_tables")
    for name in ("headline", "alarm", "which"):
        written = getattr(tables, name.upper()).read_text(encoding="utf-8")
        assert written == getattr(tables, name)(), "run doc/measured_tables.py"


def test_figures_that_are_quoted_stand_on_the_pages_they_are_from(monkeypatch):
    monkeypatch.syspath_prepend(DOC)
    tables = importlib.import_module("measured_tables")
    pages = {p.stem: p.read_text(encoding="utf-8") for p in DOC.glob("measured/*.rst")}
    assert tables.not_on_their_page(pages.__getitem__) == []
    assert len(tables.not_on_their_page(lambda page: "")) > 20
    rest = [*DOC.glob("*_table.rst"), *DOC.glob("user_guide/*.rst"), tables.WHICH]
    annexes = "".join([*pages.values(), *(p.read_text(encoding="utf-8") for p in rest)])
    summary = (DOC / "measured.rst").read_text(encoding="utf-8")
    figures = set(re.findall(r"\d*\.\d+|\d+,\d+|\de-\d+", summary))
    assert len(figures) > 40
    assert {figure for figure in figures if figure not in annexes} == set()


def test_every_estimator_is_in_the_table_of_which_to_take():
    table = (DOC / "user_guide" / "which_table.inc").read_text(encoding="utf-8")
    public = [getattr(streamtopics, name) for name in streamtopics.__all__]
    estimators = [t for t in public if isinstance(t, type) and issubclass(t, BaseEstimator)]
    assert len(estimators) >= 19
    assert {t.__name__ for t in estimators if f"`~streamtopics.{t.__name__}`" not in table} == set()


def blocks(path, kind):
    """Blocks of code on a page of the guide, each with the heading that it stands under."""
    found, heading, lines = [], "", path.read_text(encoding="utf-8").split("\n")
    for i, line in enumerate(lines):
        if lines[i + 1 : i + 2] and re.fullmatch(r"[-=]{4,}", lines[i + 1]):
            heading = line
        if line == f".. code-block:: {kind}":
            after = (j for j in range(i + 2, len(lines)) if re.match(r"\S", lines[j]))
            end = next(after, len(lines))
            found.append((heading, textwrap.dedent("\n".join(lines[i + 1 : end])).strip()))
    return found


@pytest.mark.parametrize("package", ["sklearn", "gensim", "tomotopy"])
def test_code_of_other_packages_runs(package):
    pytest.importorskip(package)
    texts = streamtopics.datasets.load_docstrings(packages=["sklearn"]).data[:400]
    name = {"sklearn": "scikit-learn"}.get(package, package)
    code = dict(blocks(DOC / "user_guide" / "coming_from.rst", "python"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(code[name], name, "exec"), {"texts": texts})


@pytest.mark.parametrize("package", ["scikit-learn", "gensim", "tomotopy", "BERTopic"])
def test_our_code_beside_that_of_other_packages_stands_alone(package):
    """With nothing but the texts, as somebody runs it who has read one section."""
    page = (DOC / "user_guide" / "coming_from.rst").read_text(encoding="utf-8")
    section = re.search(rf"^{package}\n-+\n(.*?)(?=^\.\. _|\Z)", page, re.MULTILINE | re.DOTALL)[1]
    texts = streamtopics.datasets.load_docstrings(packages=["sklearn"]).data
    test = doctest.DocTestParser().get_doctest(section, {"texts": texts}, package, None, 0)
    assert len(test.examples) >= 8
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("room", ["local", "priors", "updates"])
def test_the_reference_names_all_that_is_public(room):
    """The page of the reference lists the classes of a room, with it or under its heading."""
    pages = (DOC / "api").glob("*.rst")
    listed = " ".join(page.read_text(encoding="utf-8") for page in pages).split()
    module = importlib.import_module(f"streamtopics.{room}")
    classes = {name for name in module.__all__ if isinstance(getattr(module, name), type)}
    lacking = {name for name in classes if not {name, f"{room}.{name}"} & set(listed)}
    assert not lacking


def test_the_output_in_the_readme_is_that_of_its_example(capsys, monkeypatch):
    """The findings stand below it as a list, with other breaks of lines."""
    ((code, shown),) = re.findall(
        r"```python\n(.*?)```\n.*?\n(1\. .*?)\n\n", README, flags=re.DOTALL
    )
    monkeypatch.chdir(ROOT)
    exec(compile(code, "README.md", "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out.split() == shown.split()


def test_links_of_the_readme_lead_somewhere():
    links = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(links) > 20
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_is_short_and_has_the_commands_that_are_run():
    assert README.count("\n") <= 150
    assert README.count("<!-- test command -->") == README.count("<!-- main job -->") == 1
