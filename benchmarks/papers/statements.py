# SPDX-License-Identifier: BSD-3-Clause
"""Source code as text: files are documents, statements are sentences, names are words.

Programs have topics that few statements speak of, such as the locks of a program that is
about something else, which is what models of subtle topics are for.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from streamtopics.datasets.docstrings import read_packages

PART_OF_A_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
SHORTEST = 3
OF_THE_LANGUAGE = frozenset({"self", "cls", "args", "kwargs", "none", "true", "false"})
NAMES = ("name", "id", "attr", "arg", "asname")

DESCR = """\
Statements of installed Python packages

{n_documents:,} source files, {n_sentences:,} statements, {n_words:,} words, from: {packages}.

One document for each source file, without tests and copies of other projects; one sentence
for each statement that has a name in it: the names, in order, cut where their parts meet
(MaskedArray, get_mask), in small letters. The files keep the licences of their packages,
and change with their versions.
"""


def load_statements(
    *,
    packages: Sequence[str] | None = None,
    min_statements: int = 10,
    shuffle: bool = True,
    random_state: Any = 0,
) -> Bunch:
    """Read the statements of installed packages, without importing them.

    Parameters
    ----------
    packages : sequence of str or None, default=None
        Names of top-level packages or modules as they are imported, and "stdlib" for
        the standard library, which None stands for.
    min_statements : int, default=10
        Files with fewer are left out.
    shuffle : bool, default=True
        Whether to put the documents in random order.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffle; a fixed one, so that the order is always the same.

    Returns
    -------
    corpus : Bunch
        With the attributes

        data : list of n_documents lists of str
            The statements of each file, as `SentenceVectorizer` takes them.
        modules : list of n_documents str
            Dotted name of each.
        target : ndarray of shape (n_documents,)
            Position of each document's package in `target_names`.
        target_names : list of str
            The packages.
        DESCR : str
            What the corpus is.
    """
    rng = check_random_state(random_state)
    packages = ["stdlib"] if packages is None else list(packages)
    found = [
        document
        for document in read_packages(packages, _statements)
        if len(document[2]) >= min_statements
    ]
    if shuffle:
        found = [found[i] for i in rng.permutation(len(found))]
    data = [statements for _, _, statements in found]
    return Bunch(
        data=data,
        modules=[module for _, module, _ in found],
        target=np.array([target for target, _, _ in found], dtype=np.int64),
        target_names=packages,
        DESCR=DESCR.format(
            n_documents=len(data),
            n_sentences=sum(map(len, data)),
            n_words=sum(len(text.split()) for statements in data for text in statements),
            packages=", ".join(packages),
        ),
    )


def _statements(module: str, tree: ast.Module) -> Iterator[list[str]]:
    """The words of each statement of a file."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.stmt)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    texts = [" ".join(_words(node)) for node in nodes]
    yield [text for text in texts if text]


def _words(statement: ast.stmt) -> Iterator[str]:
    """The parts of the names in a statement, without those of the statements in it."""
    for name in _names(statement):
        for part in PART_OF_A_NAME.findall(name):
            if len(part) >= SHORTEST and part.lower() not in OF_THE_LANGUAGE:
                yield part.lower()


def _names(node: ast.AST) -> list[str]:
    """Names in the order of the source, in which an attribute follows what it is one of."""
    children = [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)]
    own = [name for field in NAMES if isinstance(name := getattr(node, field, None), str)]
    of_children = [name for child in children for name in _names(child)]
    return [*of_children, *own] if isinstance(node, ast.Attribute) else [*own, *of_children]
