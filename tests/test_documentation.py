# SPDX-License-Identifier: BSD-3-Clause
"""Every example of the docstrings, the guide, the README and the gallery runs."""

import ast
import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import streamtopics

# What the documentation shows does not warn, of too few steps neither.
pytestmark = pytest.mark.filterwarnings("error")
ROOT = Path(__file__).parent.parent
DOC = ROOT / "doc"
GUIDE = sorted([*DOC.glob("*.rst"), *DOC.glob("user_guide/*.rst"), *DOC.glob("extend/*.rst")])
IMPORTS = (ast.Import, ast.ImportFrom)
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(streamtopics.__path__, "streamtopics.")
    if "kernels" not in module.name and not module.name.endswith("__main__")
)


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def test_docstrings_have_examples():
    finder = doctest.DocTestFinder()
    tests = (test for name in MODULES for test in finder.find(importlib.import_module(name)))
    assert sum(bool(test.examples) for test in tests) >= 12


@pytest.mark.parametrize("path", GUIDE, ids=lambda path: path.stem)
def test_guide_examples(path):
    assert doctest.testfile(str(path), module_relative=False, encoding="utf-8").failed == 0


@pytest.mark.parametrize("path", sorted((DOC / "examples").glob("plot_*.py")), ids=lambda p: p.stem)
def test_gallery_examples(path, capsys, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    source = path.read_text(encoding="utf-8")
    exec(compile(source, path, "exec"), {"__name__": "__main__"})


STORIES = sorted((DOC / "examples").glob("plot_story_*.py"))


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


@pytest.mark.parametrize("room", ["local", "priors", "updates"])
def test_the_reference_names_all_that_is_public(room):
    """The page of the reference lists the classes of a room, with it or under its heading."""
    listed = (DOC / "api.rst").read_text(encoding="utf-8").split()
    module = importlib.import_module(f"streamtopics.{room}")
    classes = {name for name in module.__all__ if isinstance(getattr(module, name), type)}
    lacking = {name for name in classes if not {name, f"{room}.{name}"} & set(listed)}
    assert lacking <= {"SeedPull"}


def test_readme_examples(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {"__name__": "__main__"})
