# SPDX-License-Identifier: BSD-3-Clause
"""`benchmarks.mutation`: what it changes, and that it tells a mutant that is killed from one that
survives."""

import ast
import csv
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.mutants import differs, mutants_of
from benchmarks.mutation import found_in, sample

ROOT = Path(__file__).parent.parent

TOY = '''"""A toy."""


def clipped(x: int) -> int:
    """At most ten."""
    if x > 10:
        return 10
    return x


def summed(items: list[int]) -> int:
    total = START
    for item in items:
        total += item
    return total


def unseen(x: int) -> int:
    return x - y


def stopped(n: int) -> int:
    while n:
        break
    return n


START = 0
'''
TESTS = """from toy.code import clipped, stopped, summed


def test_clipped():
    assert [clipped(3), clipped(20)] == [3, 10]


def test_summed():
    assert summed([1, 2]) == 3


def test_stopped():
    assert stopped(5) == 5
"""
WEAK = """from toy.code import clipped


def test_bound():
    assert clipped(10) <= 10
"""
TOY_FICKLE = """def fickle(x: int) -> int:
    return x + 1
"""
# It passes once in each copy.
FICKLE = """from pathlib import Path

from toy.fickle import fickle


def test_fickle():
    seen = Path("seen").exists()
    Path("seen").touch()
    assert fickle(1) == 2 and not seen
"""
BEYOND = {("x > 10", "(x >= 10)"), ("10", "11"), ("10", "9")}
SURVIVE = {("x - y", "(x + y)"), ("n", "True"), ("n", "False")}
ANYWAY = {("x + 1", "(x - 1)"), ("1", "2"), ("1", "0")}


def changes(text):
    """What replaces what in the mutants of a text."""
    return {(one.before, one.after) for one in mutants_of("code.py", text.encode())}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < b", {("a < b", "(a <= b)")}),
        ("a in b", {("a in b", "(a not in b)")}),
        ("a + b", {("a + b", "(a - b)")}),
        ("a and b", {("a and b", "(a or b)")}),
        ("not a", {("not a", "(a)")}),
        ("x = 0", {("0", "1"), ("0", "(-1)")}),
        ("x = 0.5", {("0.5", "1.0")}),
        ("x = True", {("True", "False")}),
        ("x = f(a, b, *c)", {("f(a, b, *c)", "(f(b, a, *c))")}),
        ("x = f(*a, b)", set()),
        ("x = max(a, b)", set()),
        ("x = np.minimum(a, 2)", {("2", "3"), ("2", "1")}),
        ("x = zip(a, b, strict=True)", {("zip(a, b, strict=True)", "(zip(b, a, strict=True))")}),
        ("x = f(a, copy=True)", {("True", "False")}),
        ("x[a:]", {("a:", "a + 1:"), ("a:", "a:-1")}),
        ("x = a if b else c", {("b", "True"), ("b", "False")}),
        ("for a in b:\n    break", {("break", "continue")}),
        ("self.a = b", {("self.a = b", "pass")}),
        ("a = b\na = c", {("a = c", "pass")}),
        ("if a:\n    raise ValueError(f'{b + 1} is wrong')",
         {("a", "True"), ("a", "False"), ("raise ValueError(f'{b + 1} is wrong')", "pass")}),
        ("def f(x: Literal[1]) -> Literal[2]:\n    'Of 3.'", set()),
        ("@cache(3)\ndef f(): ...", set()),
        ("raise NotImplementedError", set()),
        ("__all__ = ['a'][0:1]", set()),
        ("x = 'a' + b", set()),
        ("def __repr__(self):\n    return 1 + 1", set()),
        ("if TYPE_CHECKING:\n    a = 1", set()),
    ],
)  # fmt: skip
def test_what_is_changed(text, expected):
    assert changes(text) == expected


def test_all_mutants_of_the_package_compile_and_say_where_they_are():
    for path in sorted((ROOT / "streamtopics" / "updates").glob("*.py")):
        source = path.read_bytes()
        for one in mutants_of(path.name, source):
            assert " ".join(source[one.start : one.end].decode().split()) == one.before
            assert one.lines[0] <= one.line <= one.lines[1]
            ast.parse(one.applied(source))


def test_the_same_change_in_two_functions_and_twice_in_one_is_told_apart():
    text = (
        "class A:\n    def f():\n        x = 0.5\n        x = 0.5\n    def g():\n        x = 0.5\n"
    )
    found = [one for one in mutants_of("code.py", text.encode()) if one.before == "0.5"]
    assert [(one.function, one.occurrence) for one in found] == [("A.f", 1), ("A.f", 2), ("A.g", 1)]


def test_bytecode_decides_whether_a_mutant_is_one():
    assert not differs(b"x = 1", b"x = (1)\n\n")
    assert differs(b"x = 1", b"x = 1.0")
    assert differs(b"def f(): return 0.0", b"def f(): return -0.0")
    assert not differs(b"x = 1", b"x = = 1")


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    """A checkout with a package of five functions, one of which no test calls."""
    root = tmp_path_factory.mktemp("checkout")
    for folder in ("toy", "tests", "benchmarks"):
        (root / folder).mkdir()
    (root / "toy" / "__init__.py").touch()
    (root / "toy" / "code.py").write_text(TOY)
    (root / "toy" / "fickle.py").write_text(TOY_FICKLE)
    (root / "tests" / "test_code.py").write_text(TESTS)
    (root / "tests" / "test_bound.py").write_text(WEAK)
    (root / "tests" / "test_fickle.py").write_text(FICKLE)
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-q'\n")
    return root


def run(root, *arguments):
    """What the command prints for the toy."""
    pytest.importorskip("coverage", reason="coverage is in the extra `dev`")
    places = ("--root", str(root), "--areas", "toy", "--tests", "tests", "--patience", "2")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.mutation", *places, *arguments],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def rows(root):
    """Survivors that are written down, by what they replace with what."""
    with (root / "benchmarks" / "mutation.csv").open() as file:
        return {(row["before"], row["after"]): row for row in csv.DictReader(file)}


def write(root, survivors):
    """Write judgements beside survivors, as a reader would by hand."""
    with (root / "benchmarks" / "mutation.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, next(iter(survivors.values())).keys())
        writer.writeheader()
        writer.writerows(survivors.values())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants are run in forks")
def test_killed_and_surviving_mutants_are_told_apart(toy):
    said = run(toy, "--sample", "0")
    survivors = rows(toy)
    assert survivors.keys() == BEYOND | SURVIVE | ANYWAY
    # What is returned beyond the bound is tested, the bound itself is not.
    assert survivors["10", "11"]["code"] == "if x > 10:"
    assert survivors["10", "11"]["tests"] == "4 of 4"
    assert survivors["10", "11"]["function"] == "clipped"
    assert "toy/code.py:19:12: x - y -> (x + y) (never run, 0 of 0 tests): not judged" in said
    assert "total += item -> pass: killed tests/test_code.py::test_summed" in said
    assert "break -> continue: killed the time was over" in said
    assert "x + 1 -> (x - 1): fails without it, too tests/test_fickle.py::test_fickle" in said
    assert (toy / "toy" / "code.py").read_text() == TOY

    # What was judged is not run again, and the judgements by hand stay.
    survivors["x > 10", "(x >= 10)"]["judgement"] = "equivalent: both return ten"
    write(toy, survivors)
    said = run(toy, "--sample", "0")
    assert "killed" not in said
    assert "(survived, 4 of 4 tests): equivalent: both return ten" in said
    n = sum(len(mutants_of("code.py", text.encode())) for text in (TOY, TOY_FICKLE))
    assert f"{n - 9} of {n}, {(n - 9) / n:.1%}; without 1 equivalent" in said
    assert rows(toy) == survivors

    # A test that is stronger by now runs again, and what it kills goes; verdicts of others stay.
    strong = WEAK.replace("clipped(10) <= 10", "[clipped(10), clipped(11)] == [10, 10]")
    (toy / "tests" / "test_bound.py").write_text(strong)
    said = run(toy, "--sample", "0")
    assert "10 -> 11: killed tests/test_bound.py::test_bound" in said
    assert "test_summed" not in said
    assert ("10", "11") not in rows(toy)
    assert rows(toy)["x > 10", "(x >= 10)"]["judgement"] == "equivalent: both return ten"


def test_a_larger_sample_begins_with_the_smaller_and_has_a_share_of_each_stratum():
    mutants = found_in(ROOT, ["streamtopics/updates"])
    order = list(sample(mutants, 3))
    assert len(order) == len(set(order)) == len(mutants)
    assert order == list(sample(mutants, 3)) != list(sample(mutants, 4))
    of_all, of_some = (Counter(one.path for one in some) for some in (mutants, order[:100]))
    for path, n in of_all.items():
        assert abs(of_some[path] - n * 100 / len(mutants)) < 3
