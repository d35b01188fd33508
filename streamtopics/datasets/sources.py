# SPDX-License-Identifier: BSD-3-Clause
"""Source files of the installed Python packages, found and read without importing any."""

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

STANDARD_LIBRARY = "stdlib"
DEFAULT_PACKAGES = ("joblib", "numpy", "scipy", "sklearn", STANDARD_LIBRARY)

SKIPPED_FOLDERS = frozenset(
    {"test", "tests", "idlelib", "lib2to3", "ensurepip", "distutils", "pydoc_data", "turtledemo"}
    | {"externals", "vendor", "_vendor", "vendored", "_vendored"}
    | {"array_api_compat", "array_api_extra"}
)
SKIPPED_FILES = re.compile(r"test_.*|.*_test|conftest")
# What reading and parsing a file may raise.
UNREADABLE = (OSError, SyntaxError, ValueError, RecursionError, MemoryError)

Found = TypeVar("Found")


def read_packages(
    packages: Sequence[str], read: Callable[[str, ast.Module], Iterable[Found]]
) -> list[tuple[int, str, Found]]:
    """Return what `read` finds, after the place of the package and the dotted name of the module.

    It takes that name and the syntax tree; files that cannot be parsed are passed over.
    """
    sources = [source_files(package) for package in packages]
    found: list[tuple[int, str, Found]] = []
    enabled = gc.isenabled()
    gc.disable()  # syntax trees have no cycles, and the search takes half of the time
    try:
        for place, files in enumerate(sources):
            for module, path in files:
                with suppress(*UNREADABLE):
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
            f"packages names {package!r}, which is not installed here. Give the name that is "
            "imported, such as 'sklearn' for scikit-learn",
            name=package,
        )
    if spec.submodule_search_locations is None:
        is_source = spec.has_location and str(spec.origin).endswith(".py")
        return [(package, Path(str(spec.origin)))] if is_source else []
    folders = spec.submodule_search_locations
    return [file for folder in folders for file in _modules(Path(folder), (package,))]


def _modules(root: Path, prefix: tuple[str, ...]) -> Iterator[tuple[str, Path]]:
    """Dotted name and path of each module that can be imported by name, in sorted order."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(f for f in folders if f.isidentifier() and f not in SKIPPED_FOLDERS)
        parts = prefix + Path(folder).relative_to(root).parts
        for path in sorted(Path(folder, file) for file in files):
            stem = path.stem
            if path.suffix == ".py" and stem.isidentifier() and not SKIPPED_FILES.fullmatch(stem):
                yield ".".join(parts if stem == "__init__" else (*parts, stem)), path


def parse(path: Path) -> ast.Module:
    """The syntax tree of a file, without the warnings that its strings may cause."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(path.read_bytes())
