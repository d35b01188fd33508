# SPDX-License-Identifier: BSD-3-Clause
"""Who may import whom: reads the imports and keeps the rooms apart."""

import ast
import re
from functools import cache
from pathlib import Path

import streamtopics

ROOT = Path(streamtopics.__file__).parent

# The rooms from the ground up; each may import those before it.
ROOMS = (
    "utils", "families", "messages", "kernels", "posteriors", "local", "priors", "metrics",
    "updates", "models", "base", "estimators", "reviews", "was", "text", "dpp", "saving",
    "streams", "editing", "inspection", "datasets", "distributed", "story", "report",
    "topic_stream", "__init__", "cli", "__main__",
)  # fmt: skip
# Rooms that import little of ours, or nothing.
SPARING = {
    "utils": {"kernels"},
    "families": {"utils"},
    "messages": set(),
    "kernels": set(),
    "updates": {"utils", "families", "messages", "posteriors"},
}
MAY_USE_SCIKIT_LEARN = {
    "base", "cli", "datasets", "distributed", "editing", "estimators", "inspection", "metrics",
    "saving", "streams", "text", "topic_stream", "utils",
}  # fmt: skip
FACES_OF_THEIR_OWN = {
    "models/spectral_start.py",  # k-means
    "dpp/estimator.py", "dpp/sets.py", "dpp/summarizer.py", "was/estimator.py", "reviews/base.py",
    "reviews/rating_lda.py", "reviews/supervised_lda.py",
    "reviews/hidden_factors.py",
}  # fmt: skip

FILES = sorted(ROOT.rglob("*.py"))


def room_of(path: Path) -> str:
    """The top-level module or package of ours that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def imported_modules(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    return modules


def imported_rooms(path: Path) -> set[str]:
    parts = [module.split(".") for module in imported_modules(path)]
    ours = [place[1:2] for place in parts if place[0] == "streamtopics"]
    return {place[0] if place and place[0] in ROOMS else "__init__" for place in ours}


def test_imports_run_one_way():
    for path in FILES:
        room = room_of(path)
        assert room in ROOMS, f"{room} is a new room; say in ROOMS where it stands"
        allowed = SPARING.get(room, set(ROOMS[: ROOMS.index(room)]))
        assert imported_rooms(path) - {room} <= allowed, path


def test_only_the_face_touches_scikit_learn():
    for path in FILES:
        uses = any(module.split(".")[0] == "sklearn" for module in imported_modules(path))
        face = path.relative_to(ROOT).as_posix() in FACES_OF_THEIR_OWN
        assert not uses or face or room_of(path) in MAY_USE_SCIKIT_LEARN, path


def test_tests_import_neither_benchmarks_nor_proof():
    """An sdist has neither, and its tests run with the package alone."""
    for path in Path(__file__).parent.rglob("*.py"):
        first = {module.split(".")[0] for module in imported_modules(path)}
        assert not first & {"benchmarks", "proof"}, path


def test_the_rules_are_not_vacuous():
    assert {"kernels", "messages"} <= imported_rooms(ROOT / "posteriors" / "dense.py")
    assert len(FILES) > 20
    assert {room_of(path) for path in FILES} == set(ROOMS)


def test_the_package_does_not_grow():
    """What is added pays for itself by what it replaces; lower the limit after a cut."""
    assert sum(path.read_text(encoding="utf-8").count("\n") for path in FILES) <= 39_550


def test_every_source_file_names_its_licence():
    for path in [*FILES, *ROOT.rglob("*.py?"), *ROOT.rglob("*.h")]:
        if path.suffix in {".py", ".pyx", ".pxd", ".pxi", ".h"} and path.stat().st_size:
            head = path.read_text(encoding="utf-8")[:100]
            assert "SPDX-License-Identifier: BSD-3-Clause" in head, path


def test_no_kernel_has_a_comprehension():
    """Short of memory, Cython 3.3 frees twice what a list comprehension cannot append."""
    kernels = [*ROOT.glob("kernels/*.pyx"), *ROOT.glob("kernels/*.pxi")]
    assert kernels
    for path in kernels:
        code = re.sub(r'""".*?"""', "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not re.findall(r"[(\[{][^\n]*\bfor\b[^\n]*\bin\b", code), path
