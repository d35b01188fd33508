# SPDX-License-Identifier: BSD-3-Clause
"""Who may import whom: reads the imports and keeps the rooms apart."""

import ast
import re
from functools import cache
from pathlib import Path

import streamtopics

ROOT = Path(streamtopics.__file__).parent

# Each room and the rooms of ours that it may import, beside itself.
ALLOWED = {
    "kernels": set(),
    "families": set(),
    "messages": set(),
    "progress": set(),
    "checks": set(),
    "documentation": set(),
    "locks": set(),
    "output": set(),
    "parallel": set(),
    "periods": {"times"},
    "steps": {"structure"},
    "times": {"checks"},
    "structure": {"checks"},
    "records": set(),
    "priors": {"checks", "structure"},
    "typing": {"priors"},
    "posteriors": {"kernels", "messages"},
    "seeds": {"kernels", "messages"},
    "local": {"checks", "kernels", "messages", "parallel"},
    "updates": {"checks", "families", "messages", "posteriors"},
    "models": {
        "checks", "families", "kernels", "local", "locks", "messages", "parallel", "posteriors",
        "seeds",
    },
    "metrics": {"checks", "kernels", "parallel", "steps", "structure", "validation"},
    "was": {
        "base", "checks", "kernels", "messages", "output", "parallel", "posteriors", "progress",
        "sentences", "structure", "typing", "updates", "validation",
    },
    "dpp": {
        "base", "checks", "kernels", "output", "parallel", "records", "sentences", "steps",
        "structure", "text", "validation",
    },
    "datasets": {"checks", "dpp", "structure", "times"},
    "validation": {"checks", "kernels", "priors", "structure"},
    "sentences": {"validation"},
    "text": {
        "checks", "documentation", "kernels", "locks", "output", "parallel", "steps", "structure",
    },
    "base": {
        "checks", "documentation", "local", "locks", "messages", "metrics", "models", "output",
        "parallel", "posteriors", "progress", "records", "sentences", "typing", "updates",
        "validation",
    },
    "reviews": {
        "base", "checks", "families", "kernels", "local", "messages", "metrics", "models",
        "output", "parallel", "posteriors", "progress", "records", "typing", "updates",
        "validation",
    },
    "estimators": {
        "base", "checks", "families", "local", "messages", "metrics", "models", "output",
        "parallel", "posteriors", "priors", "progress", "records", "sentences", "structure",
        "typing", "updates", "validation",
    },
    "inspection": {
        "base", "checks", "dpp", "metrics", "parallel", "periods", "steps", "structure", "times",
    },
    "streams": {
        "base", "checks", "kernels", "local", "locks", "metrics", "models", "parallel", "periods",
        "times",
        "posteriors", "progress", "saving", "steps", "structure", "text",
    },
    "saving": {"checks", "families", "posteriors", "text"},
    "distributed": {"base", "checks", "datasets", "steps", "streams", "structure", "updates"},
    "report": {
        "__init__", "checks", "metrics", "periods", "saving", "steps", "structure",
        "times",
    },
    # Rooms that users reach as attributes, for those who check types.
    "__init__": {
        "datasets", "distributed", "dpp", "estimators", "inspection", "metrics", "priors",
        "reviews", "saving", "streams", "text", "updates", "was",
    },
    "cli": {
        "__init__", "datasets", "dpp", "estimators", "inspection", "metrics", "periods", "priors",
        "progress", "report", "saving", "streams", "text", "times",
    },
    "__main__": {"cli"},
}  # fmt: skip
MAY_USE_SCIKIT_LEARN = {
    "base", "cli", "datasets", "distributed", "estimators", "inspection", "metrics", "output",
    "saving", "steps", "streams", "text", "validation",
}  # fmt: skip
FACES_OF_THEIR_OWN = {
    "models/spectral_start.py",  # k-means
    "dpp/estimator.py", "dpp/learnt.py", "dpp/summarizer.py", "was/estimator.py", "reviews/base.py",
    "reviews/checks.py", "reviews/rating_lda.py", "reviews/supervised_lda.py",
    "reviews/hidden_factors.py",
}  # fmt: skip

FILES = sorted(ROOT.rglob("*.py"))


def room_of(path: Path) -> str:
    """The top-level module or package of ours that a file belongs to."""
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


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
    rooms = set()
    for module in imported_modules(path):
        parts = module.split(".")
        if parts[0] != "streamtopics":
            continue
        is_room = len(parts) > 1 and parts[1] in ALLOWED
        rooms.add(parts[1] if is_room else "__init__")
    return rooms


def test_imports_run_the_way_the_design_says():
    for path in FILES:
        room = room_of(path)
        assert room in ALLOWED, f"{room} is a new room; say in ALLOWED what it may import"
        assert imported_rooms(path) - {room} <= ALLOWED[room], path


def test_only_the_face_touches_scikit_learn():
    for path in FILES:
        uses = any(module.split(".")[0] == "sklearn" for module in imported_modules(path))
        face = path.relative_to(ROOT).as_posix() in FACES_OF_THEIR_OWN
        assert not uses or face or room_of(path) in MAY_USE_SCIKIT_LEARN, path


def test_the_rules_are_not_vacuous():
    assert {"kernels", "messages"} <= imported_rooms(ROOT / "posteriors" / "dense.py")
    assert len(FILES) > 20
    assert {room_of(path) for path in FILES} <= ALLOWED.keys()


def test_imports_run_one_way():
    """The rooms can be put in an order in which each imports those before it alone."""
    left, placed = dict(ALLOWED), set()
    while left:
        next_ones = {room for room, allowed in left.items() if allowed <= placed}
        assert next_ones, f"these import each other in a circle: {sorted(left)}"
        placed |= next_ones
        left = {room: allowed for room, allowed in left.items() if room not in placed}


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
