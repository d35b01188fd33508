# SPDX-License-Identifier: BSD-3-Clause
"""Documentation strings of installed packages, as a corpus of English text."""

from __future__ import annotations

import ast
import gc
import os
import re
import sysconfig
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

import numpy as np
from sklearn.utils import Bunch, check_random_state

from streamtopics.utils.checks import check_integer

STANDARD_LIBRARY = "stdlib"
DEFAULT_PACKAGES = ("joblib", "numpy", "scipy", "sklearn", STANDARD_LIBRARY)

SKIPPED_FOLDERS = frozenset(
    {"test", "tests", "idlelib", "lib2to3", "ensurepip", "distutils", "pydoc_data", "turtledemo"}
    | {"externals", "vendor", "_vendor", "vendored", "_vendored"}
    | {"array_api_compat", "array_api_extra"}
)
SKIPPED_FILES = re.compile(r"test_.*|.*_test|conftest")
# Possible errors in reading and parsing a file.
PARSE_ERRORS = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)

Found = TypeVar("Found")

DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
BODY_FIELDS = ("body", "handlers", "cases", "orelse", "finalbody")

REPLACEMENTS = [
    # A doctest: prompt lines and output, up to an empty line.
    (re.compile(r"^[ \t]*>>>.*(?:\n[ \t]*\S.*)*", re.M), ""),
    # Formulas, programs and tables of contents, with indented lines below.
    (
        re.compile(
            r"^([ \t]*)\.\. +(?:math|code|code-block|plot|parsed-literal|testsetup|autosummary"
            r"|toctree|currentmodule|index)::.*(?:\n(?:\1[ \t]+.*|[ \t]*$))*",
            re.M,
        ),
        "",
    ),
    # Names of other directives, with prose inside.
    (re.compile(r"^[ \t]*\.\. +[\w:-]+::", re.M), ""),
    # Formulas in a line; then other roles, replaced by their text.
    (re.compile(r":math:`[^`]*`"), ""),
    (re.compile(r":[\w:+.-]+:`([^`<]*)(?:<[^`>]*>)?`"), r"\1"),
    # Rules under headings; placeholders filled at import.
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


def load_docstrings(
    *,
    packages: Sequence[str] | None = None,
    min_words: int = 10,
    shuffle: bool = True,
    random_state: int | np.random.RandomState | None = 0,
) -> Bunch:
    """Read the documentation strings of installed packages, without importing them.

    The default packages have about 12,000 documents with 1.3 million words, and take about five
    seconds. Tests, copies of other projects and repeated texts are left out.

    Parameters
    ----------
    packages : sequence of str or None, default=None
        Import names, or "stdlib". None is joblib, numpy, scipy, sklearn and stdlib.
    min_words : int, default=10
        Least number of words of a document.
    shuffle : bool, default=True
        Whether to mix the documents; otherwise they are sorted by package, file and line.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffle.

    Returns
    -------
    corpus : Bunch
        With the attributes

        data : list of n_documents str
            The texts.
        target : ndarray of shape (n_documents,)
            Index of each document's package in `target_names`.
        target_names : list of str
            The packages.
        modules, names : list of n_documents str
            Dotted names of each document's module and object.
        DESCR : str
            Description of the corpus.

    Examples
    --------
    >>> from streamtopics.datasets import load_docstrings
    >>> corpus = load_docstrings(packages=["joblib"])
    >>> "joblib.parallel.Parallel" in corpus.names
    True
    """
    check_integer(min_words=min_words)
    rng = check_random_state(random_state)
    packages = list(dict.fromkeys(DEFAULT_PACKAGES if packages is None else packages))
    documents: dict[str, tuple[int, str, str]] = {}
    for target, module, (name, docstring) in read_packages(packages, _documented):
        for pattern, replacement in REPLACEMENTS:
            docstring = pattern.sub(replacement, docstring)
        documents.setdefault(docstring.strip(), (target, module, name))
    data = [text for text in documents if len(text.split()) >= min_words]
    if shuffle:
        data = [data[i] for i in rng.permutation(len(data))]
    found = [documents[text] for text in data]
    return Bunch(
        data=data,
        target=np.array([target for target, _, _ in found], dtype=np.int64),
        target_names=packages,
        modules=[module for _, module, _ in found],
        names=[name for _, _, name in found],
        DESCR=DESCR.format(
            n_documents=len(data),
            n_words=sum(len(text.split()) for text in data),
            packages=", ".join(packages),
        ),
    )


def _documented(name: str, node: ast.AST) -> Iterator[tuple[str, str]]:
    """Dotted names and docstrings of a node and its inner nodes, in source order."""
    if isinstance(node, DOCUMENTED) and (docstring := ast.get_docstring(node)):
        yield name, docstring
    for field in BODY_FIELDS:
        for child in getattr(node, field, ()):
            named = isinstance(child, DOCUMENTED)
            yield from _documented(f"{name}.{child.name}" if named else name, child)


def read_packages(
    packages: Sequence[str], read: Callable[[str, ast.Module], Iterable[Found]]
) -> list[tuple[int, str, Found]]:
    """Results of `read` for the name and the syntax tree of each module.

    A result comes with the index of the package and the name of the module.
    """
    sources = [source_files(package) for package in packages]
    found: list[tuple[int, str, Found]] = []
    enabled = gc.isenabled()
    gc.disable()  # syntax trees have no cycles, and the search takes half of the time
    try:
        for place, files in enumerate(sources):
            for module, path in files:
                with suppress(*PARSE_ERRORS):
                    tree = parse(path)
                    found += [(place, module, document) for document in read(module, tree)]
    finally:
        if enabled:
            gc.enable()
    return found


def source_files(package: str) -> list[tuple[str, Path]]:
    """Dotted module name and path of each source file of a package."""
    if package == STANDARD_LIBRARY:
        files = list(_modules(Path(sysconfig.get_path("stdlib")), ()))
    else:
        files = _package_files(package)
    if not files:
        raise ValueError(f"{package!r} has no Python source files to read documentation from")
    return files


def _package_files(package: str) -> list[tuple[str, Path]]:
    spec = find_spec(package)
    if spec is None:
        raise ModuleNotFoundError(
            f"packages names {package!r}, but no such package is installed. Give import names, "
            "such as 'sklearn' for scikit-learn",
            name=package,
        )
    if spec.submodule_search_locations is None:
        is_source = spec.has_location and str(spec.origin).endswith(".py")
        return [(package, Path(str(spec.origin)))] if is_source else []
    folders = spec.submodule_search_locations
    return [file for folder in folders for file in _modules(Path(folder), (package,))]


def _modules(root: Path, prefix: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f.isidentifier() and f not in SKIPPED_FOLDERS)
        parts = prefix + Path(folder).relative_to(root).parts
        for path in sorted(Path(folder, file) for file in files):
            name = path.stem
            if path.suffix == ".py" and name.isidentifier() and not SKIPPED_FILES.fullmatch(name):
                yield ".".join(parts if name == "__init__" else (*parts, name)), path


def parse(path: Path) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(path.read_bytes())
