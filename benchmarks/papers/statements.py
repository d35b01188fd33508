# SPDX-License-Identifier: BSD-3-Clause
"""Source code as text: files are documents, statements are sentences, names are words."""

import ast
import re
from collections.abc import Iterator, Sequence

from streamtopics.datasets.docstrings import read_packages

PART_OF_A_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
SHORTEST, LEAST_STATEMENTS = 3, 10
OF_THE_LANGUAGE = frozenset({"self", "cls", "args", "kwargs", "none", "true", "false"})
NAMES = ("name", "id", "attr", "arg", "asname")


def statements_of(packages: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Modules of installed packages, which are not imported, and their statements that have names.

    "stdlib" is the standard library. Files of less than ten such statements are left out.
    """
    found = read_packages(packages, _statements)
    return [(module, texts) for _, module, texts in found if len(texts) >= LEAST_STATEMENTS]


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
