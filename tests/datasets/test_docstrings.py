# SPDX-License-Identifier: BSD-3-Clause
"""The corpus of documentation strings, on packages made for the test and on the real ones."""

import sys
from textwrap import dedent

import numpy as np
import pytest
from sklearn.utils import Bunch

from streamtopics.datasets import load_docstrings

RAISES = "raise RuntimeError('this module must not be imported')\n"
FILES = {
    "__init__.py": '"""The package itself, in a few words."""\n' + RAISES,
    "shapes.py": '''
        """Shapes and what they are for."""
        import warnings

        def area(shape):
            """The area of a shape, in squares."""
            def inner():
                """A function inside of a function."""

        async def wait():
            """Wait for a shape to come."""

        class Circle:
            """A round shape without any corner."""

            if True:
                @property
                def radius(self):
                    """Half of what is across."""
            else:
                radius = None

            class Part:
                """A part of a circle, an arc."""

        try:
            import nothing
        except ImportError:
            def nothing():
                """Nothing stands in for nothing here."""

        match len(warnings.__name__):
            case 1:
                def short():
                    """A short name is a match."""

        def undocumented():
            pass

        def brief():
            """Too brief."""

        value = "This string is not documentation at all."
        ''',
    "copies.py": '''
        def first():
            """The area of a shape, in squares."""

        def second():
            """
            The area of a shape, in squares.
            """
        ''',
    "broken.py": '"""This file has documentation but does not parse."""\ndef (:\n',
    "binary.py": b'"""\xff\xfe is not the encoding that this file says."""',
    "escape.py": '"""An escape that Python warns of: \\d is not one."""\n"\\w" is 1\n',
    "notes.txt": '"""Notes are not a module of the package."""',
    "deep/er/__init__.py": '"""A package below a package, in its folder."""',
    "tests/test_it.py": '"""Tests are not part of the corpus."""',
    "test_shapes.py": '"""Tests are not part of the corpus, here too."""',
    "conftest.py": '"""Fixtures are not part of the corpus."""',
    "externals/copy.py": '"""The copy of another project is left out."""',
    "not-a-module/file.py": '"""What has no dotted name is left out."""',
    "file-name.py": '"""What has no dotted name is left out, here too."""',
}
NAMES = ["fakepackage"] + [
    f"fakepackage.{name}"
    for name in (
        "copies.first", "escape", "shapes", "shapes.area.inner", "shapes.wait", "shapes.Circle",
        "shapes.Circle.radius", "shapes.Circle.Part", "shapes.nothing", "shapes.short", "deep.er",
    )
]  # fmt: skip


def write_package(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else dedent(content).encode())


@pytest.fixture(autouse=True)
def fake_packages(tmp_path, monkeypatch):
    """Two packages and a module that can be found, but raise when they are imported."""
    write_package(tmp_path / "fakepackage", FILES)
    write_package(tmp_path / "fakeempty", {"__init__.py": RAISES})
    write_package(tmp_path, {"fakemodule.py": '"""One module in one file."""\n' + RAISES})
    (tmp_path / "fakenamespace").mkdir()
    monkeypatch.syspath_prepend(tmp_path)


def load(*packages, min_words=4, **arguments):
    return load_docstrings(packages=packages, min_words=min_words, **arguments)


def text_of(docstring, tmp_path):
    """What the corpus makes of one documentation string."""
    (tmp_path / "fakemodule.py").write_text(f'r"""{dedent(docstring)}"""')
    (text,) = load("fakemodule", min_words=1).data
    return text


def test_finds_each_definition_once_and_in_order():
    corpus = load("fakepackage", shuffle=False)
    assert corpus.names == NAMES
    modules = [name.removeprefix("fakepackage") for name in corpus.modules[:6]]
    assert modules == ["", ".copies", ".escape", *[".shapes"] * 3]
    assert corpus.data[4] == "A function inside of a function."
    assert len(set(corpus.data)) == len(corpus.data)


def test_targets_are_the_packages():
    corpus = load("fakemodule", "fakepackage", "fakemodule", shuffle=False)
    assert isinstance(corpus, Bunch)
    assert corpus.target_names == ["fakemodule", "fakepackage"]
    np.testing.assert_array_equal(corpus.target, [0] + [1] * len(NAMES))
    assert corpus.names[0] == corpus.modules[0] == "fakemodule"
    assert f"{len(NAMES) + 1} documents" in corpus.DESCR
    assert "fakemodule, fakepackage" in corpus.DESCR


def test_min_words():
    assert "fakepackage.shapes.brief" in load("fakepackage", min_words=2).names
    assert min(len(text.split()) for text in load("fakepackage", min_words=6).data) == 6
    for corpus in (load("fakepackage", min_words=100), load("fakeempty")):
        assert corpus.data == []
        assert corpus.target.shape == (0,)


def test_the_shuffle_is_fixed():
    plain, other = load("fakepackage", shuffle=False), load("fakepackage", random_state=1)
    first, again = load("fakepackage"), load("fakepackage")
    assert first.data == again.data
    assert first.names == again.names
    assert plain.data != first.data != other.data
    assert sorted(first.data) == sorted(other.data) == sorted(plain.data)
    one, other = (dict(zip(c.names, c.data, strict=True)) for c in (first, plain))
    assert one == other


def test_doctests_are_removed(tmp_path):
    example = ">>> for i in range(2):\n...     print(i)\n0\n1"
    text = text_of(f"Before it.\n\n{example}\n\nAfter it.\n", tmp_path)
    assert text == "Before it.\n\nAfter it."


def test_markup_is_removed_and_prose_stays(tmp_path):
    text = text_of(
        r"""
        Uses :func:`numpy.dot`, :ref:`the guide <user_guide>` and :math:`x^2`.

        Notes
        -----
        .. math::

            \sum_i x_i

        .. versionadded:: 1.2
           It came late.
        %(example)s
        """,
        tmp_path,
    )
    assert " ".join(text.split()) == "Uses numpy.dot, the guide and . Notes 1.2 It came late."


@pytest.mark.parametrize(
    ("packages", "error", "message"),
    [
        (["fakepackage", "nosuchpackage"], ModuleNotFoundError, "'nosuchpackage', but no such"),
        (["sys"], ValueError, "'sys' has no Python source files"),
        (["fakenamespace"], ValueError, "'fakenamespace' has no Python source files"),
    ],
)
def test_errors(packages, error, message):
    with pytest.raises(error, match=message):
        load_docstrings(packages=packages)


def test_the_real_corpus():
    before = set(sys.modules)
    corpus = load_docstrings()
    assert set(sys.modules) == before
    assert len(corpus.data) > 8_000
    assert sum(len(text.split()) for text in corpus.data) > 600_000
    assert len(set(corpus.data)) == len(corpus.data)
    assert min(len(text.split()) for text in corpus.data) >= 10
    assert corpus.target_names == ["joblib", "numpy", "scipy", "sklearn", "stdlib"]
    assert set(corpus.target) == set(range(5))
    assert "sklearn.decomposition._lda.LatentDirichletAllocation" in corpus.names
    assert "json.encoder.JSONEncoder" in corpus.names
    for module in corpus.modules:
        assert not {"tests", "externals", "site-packages", "idlelib"} & set(module.split("."))
    halves = corpus.target[: len(corpus.target) // 2], corpus.target[len(corpus.target) // 2 :]
    shares = [np.bincount(half, minlength=5) / len(half) for half in halves]
    np.testing.assert_allclose(*shares, atol=0.05)
    assert not any(">>>" in text.split() for text in corpus.data)
