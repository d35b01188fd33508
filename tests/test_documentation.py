# SPDX-License-Identifier: BSD-3-Clause
"""Every example of the docstrings, the guide, the README and the gallery runs."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import streamtopics

ROOT = Path(__file__).parent.parent
DOC = ROOT / "doc"
GUIDE = sorted([*DOC.glob("*.rst"), *DOC.glob("user_guide/*.rst"), *DOC.glob("extend/*.rst")])
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
