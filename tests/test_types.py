# SPDX-License-Identifier: BSD-3-Clause
"""Public signatures accept what the documentation passes: pyright reads its examples."""

import ast
import json
import re
import subprocess
import sys
from doctest import DocTestParser
from pathlib import Path

import pytest

import streamtopics
from streamtopics.base.glossary import PLACE, _paragraphs

pytest.importorskip("pyright", reason="pyright is in the extra `dev`")

PACKAGE = Path(streamtopics.__file__).parent
ROOT = Path(__file__).parent.parent
DOC = ROOT / "doc"
SETTINGS = {
    "typeCheckingMode": "basic",
    "pythonVersion": "3.11",
    "extraPaths": [str(PACKAGE.parent)],
    # What pyright would guess from the sources of libraries without types is often wrong.
    "stubPath": str(ROOT / "typings"),
    "useLibraryCodeForTypes": False,
    "reportMissingModuleSource": False,
    # An example shows a value by naming it, and need not prove that it is not None.
    "reportUnusedExpression": False,
    "reportOptionalMemberAccess": False,
    "reportOptionalSubscript": False,
}


def doctests(text):
    """The code of a text's examples."""
    return "".join(example.source for example in DocTestParser().get_examples(text))


def docstrings(path):
    """The docstrings of a module, by name."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text = PLACE.sub(_paragraphs, ast.get_docstring(node) or "")
            yield getattr(node, "name", "module"), text


def examples():
    """The code of all examples, by the name of a module for it."""
    for path in sorted(PACKAGE.rglob("*.py")):
        place = "_".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for i, (name, text) in enumerate(docstrings(path)):
            yield f"{place}_{i}_{name}", doctests(text)
    for path in sorted(DOC.rglob("*.rst")):
        yield f"guide_{path.stem}", doctests(path.read_text(encoding="utf-8"))
    for path in sorted([*DOC.glob("examples/*/*.py"), *DOC.glob("extend/*.py")]):
        yield path.stem, path.read_text(encoding="utf-8")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for i, block in enumerate(re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)):
        yield f"readme_{i}", block


def shown(error):
    """One of pyright's errors, in a line."""
    place = f"{Path(error['file']).stem}, line {error['range']['start']['line'] + 1}"
    return f"{place}: {error['message'].splitlines()[0]}"


@pytest.mark.patience(900)
def test_examples_fit_the_signatures(tmp_path):
    found = {name: code for name, code in examples() if code}
    assert len(found) > 100
    for name, code in found.items():
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"]
    run = subprocess.run(
        [*command, "--project", str(tmp_path)], capture_output=True, text=True, check=False
    )
    report = json.loads(run.stdout)
    assert report["summary"]["filesAnalyzed"] == len(found)
    wrong = [shown(one) for one in report["generalDiagnostics"] if one["severity"] == "error"]
    assert not wrong, "\n".join(wrong)
