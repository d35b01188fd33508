# SPDX-License-Identifier: BSD-3-Clause
"""English text that is on every machine: the documentation of the installed Python packages.

Each documentation string of a module, class or function is a document. They are
read from source files by `ast`; no package is imported.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch, check_random_state, check_scalar

from streamtopics.datasets.sources import (
    DEFAULT_PACKAGES,
    UNREADABLE,
    check_packages,
    no_garbage_collection,
    parse,
    source_files,
)

DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
STATEMENTS = ("body", "handlers", "cases", "orelse", "finalbody")

NOT_PROSE = [
    # A doctest: its prompt lines and the output, which ends at an empty line.
    (re.compile(r"^[ \t]*>>>.*(?:\n[ \t]*\S.*)*", re.M), ""),
    # Formulas, programs and tables of contents, with the lines indented under them.
    (
        re.compile(
            r"^([ \t]*)\.\. +(?:math|code|code-block|plot|parsed-literal|testsetup|autosummary"
            r"|toctree|currentmodule|index)::.*(?:\n(?:\1[ \t]+.*|[ \t]*$))*",
            re.M,
        ),
        "",
    ),
    # The names of other directives, whose contents are prose.
    (re.compile(r"^[ \t]*\.\. +[\w:-]+::", re.M), ""),
    # Formulas in a line; then other roles, of which the text stays.
    (re.compile(r":math:`[^`]*`"), ""),
    (re.compile(r":[\w:+.-]+:`([^`<]*)(?:<[^`>]*>)?`"), r"\1"),
    # Rules under headings; places that are filled in at import.
    (re.compile(r"^[ \t]*([-=~^*#+_])\1{2,}[ \t]*$", re.M), ""),
    (re.compile(r"%\(\w+\)s"), ""),
    (re.compile(r"\n\s*\n"), "\n\n"),
]

DESCR = """\
Documentation strings of installed Python packages

{n_documents:,} documents, {n_words:,} words, from: {packages}.

One document for each module, class, function or method with a documentation string,
read from the source files, without tests and copies of other projects. Doctests,
displayed formulas and markup are removed. The texts keep the licences of their
packages, and change with their versions.
"""


class _Document(NamedTuple):
    target: int
    module: str
    name: str
    text: str


def load_docstrings(
    *,
    packages: Sequence[str] | None = None,
    min_words: int = 10,
    shuffle: bool = True,
    random_state: Any = 0,
) -> Bunch:
    """Read the documentation strings of installed packages, without importing them.

    An English corpus of one subject with many parts, which needs no download: by
    default about 12,000 documents and 1.3 million words, read in about five
    seconds. It depends on the installed versions; with these fixed, it is the same
    each time. Files that cannot be parsed, tests, copies of other projects and
    repeated texts are left out; compiled modules have no documents.

    Parameters
    ----------
    packages : sequence of str or None, default=None
        Names of top-level packages or modules as they are imported, and "stdlib" for
        the standard library. None is joblib, numpy, scipy, sklearn and stdlib, which
        are there wherever this package is.
    min_words : int, default=10
        Shorter documents are left out: many of them are one repeated phrase. Words
        are what white space separates, after the removal of what is not prose.
    shuffle : bool, default=True
        Whether to put the documents in random order, so that the packages do not
        come one after the other in a stream. Otherwise they are sorted by package,
        file and line.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffle; a fixed one, so that the order is always the same.

    Returns
    -------
    corpus : Bunch
        With the attributes

        data : list of n_documents str
            The texts.
        target : ndarray of shape (n_documents,)
            Position of each document's package in `target_names`.
        target_names : list of str
            The packages.
        modules : list of n_documents str
            Dotted name of the module of each document.
        names : list of n_documents str
            Dotted name, with the module, of what each document describes.
        DESCR : str
            What the corpus is.

    Raises
    ------
    ModuleNotFoundError
        If a package is not installed.
    TypeError, ValueError
        If `packages` is one str, is empty, names a submodule or names something
        that has no Python source files.

    Examples
    --------
    >>> from streamtopics.datasets import load_docstrings
    >>> corpus = load_docstrings(packages=["joblib"])
    >>> len(corpus.data) == len(corpus.target) == len(corpus.names)
    True
    >>> "joblib.parallel.Parallel" in corpus.names
    True
    """
    check_scalar(min_words, "min_words", Integral, min_val=1)
    rng = check_random_state(random_state)
    packages = list(DEFAULT_PACKAGES) if packages is None else check_packages(packages)
    sources = [source_files(package) for package in packages]
    with no_garbage_collection():
        documents = [d for d in _documents(sources) if len(d.text.split()) >= min_words]
    if shuffle:
        documents = [documents[i] for i in rng.permutation(len(documents))]
    data = [d.text for d in documents]
    return Bunch(
        data=data,
        target=np.array([d.target for d in documents], dtype=np.int64),
        target_names=packages,
        modules=[d.module for d in documents],
        names=[d.name for d in documents],
        DESCR=DESCR.format(
            n_documents=len(data),
            n_words=sum(len(text.split()) for text in data),
            packages=", ".join(packages),
        ),
    )


# Documents


def _documents(sources: list[list[tuple[str, Path]]]) -> Iterator[_Document]:
    """The documents of each package's files, each text only once."""
    seen = set()
    for target, files in enumerate(sources):
        for module, path in files:
            for name, docstring in _docstrings(module, path):
                text = _prose(docstring)
                if text not in seen:
                    seen.add(text)
                    yield _Document(target, module, name, text)


def _docstrings(module: str, path: Path) -> list[tuple[str, str]]:
    """Dotted names and documentation strings in a file; none if it cannot be parsed."""
    try:
        return list(_documented(module, parse(path)))
    except UNREADABLE:
        return []


def _documented(name: str, node: ast.AST) -> Iterator[tuple[str, str]]:
    """Dotted names and documentation strings of a node and those in it, in source order."""
    if isinstance(node, DOCUMENTED) and (docstring := ast.get_docstring(node)):
        yield name, docstring
    for field in STATEMENTS:
        for child in getattr(node, field, ()):
            named = isinstance(child, DOCUMENTED)
            yield from _documented(f"{name}.{child.name}" if named else name, child)


def _prose(docstring: str) -> str:
    for pattern, replacement in NOT_PROSE:
        docstring = pattern.sub(replacement, docstring)
    return docstring.strip()
