# SPDX-License-Identifier: BSD-3-Clause
"""What the documentation is built with, that needs no network: references elsewhere, equations."""

import importlib
import pydoc
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from sklearn.base import ClassifierMixin

DOC = Path(__file__).parent.parent / "doc"


@pytest.fixture(autouse=True)
def path_of_doc(monkeypatch):
    monkeypatch.syspath_prepend(DOC)


def test_names_of_other_projects_are_theirs():
    elsewhere = importlib.import_module("elsewhere")
    found = []
    for name, project in elsewhere.PROJECTS.items():
        head, _, packed = elsewhere.inventory(name, project).partition(b"using zlib.\n")
        assert head.startswith(b"# Sphinx inventory version 2\n")
        for line in zlib.decompress(packed).decode().splitlines():
            target, kind, priority, page, shown = line.split()
            if kind == "std:label":
                assert f"<{target}>" in ClassifierMixin.score.__doc__
                continue
            assert (kind.split(":")[0], priority, shown) == ("py", "1", "-")
            assert page.endswith(".html#$")
            assert pydoc.locate(target) is not None, target
            found.append(target)
    assert "sklearn.pipeline.Pipeline" in found
    assert len(found) == len(set(found))


def test_the_mapping_asks_the_project_first(tmp_path):
    elsewhere = importlib.import_module("elsewhere")
    for name, (url, (first, local)) in elsewhere.mapping(tmp_path).items():
        assert url == elsewhere.PROJECTS[name].url
        assert first is None
        assert Path(local).read_bytes() == elsewhere.inventory(name, elsewhere.PROJECTS[name])


@pytest.mark.parametrize(
    ("text", "lines"), [("a = b", 0), (r"a &= b \\ c &= d", 2), ("a = b\n\nc = d", 0)]
)
def test_equations_become_mathml(text, lines):
    nodes = pytest.importorskip("docutils.nodes")
    mathml = importlib.import_module("mathml")
    translator = SimpleNamespace(body=[])
    with pytest.raises(nodes.SkipNode):
        mathml.show_block(translator, nodes.math_block(text, text))
    written = "".join(translator.body)
    assert written.count("<math ") == 1 + text.count("\n\n")
    assert written.count("<mtr") == lines
    assert 'display="block"' in written


def test_an_equation_in_a_line():
    nodes = pytest.importorskip("docutils.nodes")
    mathml = importlib.import_module("mathml")
    translator = SimpleNamespace(body=[])
    with pytest.raises(nodes.SkipNode):
        mathml.show_inline(translator, nodes.math("", r"\beta_k"))
    assert "\u03b2" in translator.body[0]
    assert "block" not in translator.body[0]
