# SPDX-License-Identifier: BSD-3-Clause
"""What the documentation is built with, that needs no network: references elsewhere, equations."""

import importlib
import pydoc
import zlib
from pathlib import Path

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
