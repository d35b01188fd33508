# SPDX-License-Identifier: BSD-3-Clause
"""Statements of source files as sentences, on a package made for the test."""

from textwrap import dedent

import numpy as np
import pytest

from streamtopics.datasets import load_statements
from streamtopics.text import SentenceVectorizer

SOURCE = '''
"""A docstring has no names."""
import numpy as np
from os.path import join as join_paths

THREE = 3

@decorated(by=this)
class HTTPServer(BaseServer):
    def get_x(self, maskedArray: Type = None, *args, **kwargs):
        """Nor has this."""
        if maskedArray.is_valid and (inner := probe()):
            return [element for element in inner]
        1 + 1
        while waiting: self.wait_for(seconds=2); break
'''
EXPECTED = [
    "numpy",
    "join join paths",
    "three",
    "http server base server decorated this",
    "get masked array type",
    "masked array valid inner probe",
    "element element inner",
    "waiting",
    "wait for seconds",
]


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "made_up_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("", encoding="utf-8")
    (folder / "server.py").write_text(dedent(SOURCE), encoding="utf-8")
    (folder / "short.py").write_text("first = second\n", encoding="utf-8")
    (folder / "broken.py").write_text("def (:\n" * 20, encoding="utf-8")
    for i in range(6):
        (folder / f"more{i}.py").write_text(f"name = other_{'abc'[i % 3]}xyz\n" * 12, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    return folder.name


def test_statements_are_sentences_of_the_names_in_them(package):
    corpus = load_statements(packages=[package], min_statements=1, shuffle=False)
    found = corpus.data[corpus.modules.index(f"{package}.server")]
    assert found == EXPECTED
    assert corpus.modules == sorted(corpus.modules)
    assert f"{package}.short" in corpus.modules
    assert f"{package}.broken" not in corpus.modules
    assert f"{package}" not in corpus.modules


def test_short_files_are_left_out(package):
    corpus = load_statements(packages=[package], shuffle=False)
    assert corpus.modules == [f"{package}.more{i}" for i in range(6)]
    assert corpus.data[1] == ["name other bxyz"] * 12
    assert "6 source files, 72 statements, 216 words" in corpus.DESCR


def test_order_is_random_but_always_the_same(package):
    first, again = (load_statements(packages=[package]) for _ in range(2))
    other = load_statements(packages=[package], random_state=1)
    assert first.modules == again.modules != other.modules
    assert sorted(first.modules) == sorted(other.modules)
    for module, statements in zip(other.modules, other.data, strict=True):
        assert statements == first.data[first.modules.index(module)]


def test_several_packages_are_told_apart(package):
    corpus = load_statements(packages=["joblib", package], shuffle=False)
    assert corpus.target_names == ["joblib", package]
    names = np.array(corpus.target_names)[corpus.target]
    assert [m.split(".")[0] for m in corpus.modules] == names.tolist()


def test_the_vectorizer_takes_them(package):
    data = load_statements(packages=[package]).data
    X = SentenceVectorizer().fit_transform(data)
    assert [x.shape[0] for x in X] == [12] * 6


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"packages": "joblib"}, TypeError),
        ({"packages": []}, ValueError),
        ({"packages": ["no_such_package_at_all"]}, ModuleNotFoundError),
        ({"min_statements": 0}, ValueError),
    ],
    ids=str,
)
def test_wrong_arguments(wrong, error):
    with pytest.raises(error, match=next(iter(wrong))):
        load_statements(**wrong)
