# SPDX-License-Identifier: BSD-3-Clause
"""Every command of the page on the command line prints what the page shows."""

import doctest
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from streamtopics.cli import main
from streamtopics.kernels import instruction_set
from tests.fingerprints.make import path_of, read, surroundings

DOC = Path(__file__).parent.parent.parent / "doc"
PAGE = DOC / "user_guide" / "command_line.rst"
DATA = DOC / "_static" / "speeches.jsonl.gz"
HOW = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
RULE = DOC / "extend" / "seasons.py"
# A command that sets PYTHONPATH still finds this package.
FUNCTION = (
    'streamtopics() { PYTHONPATH="$PYTHONPATH:$HERE" '
    f'{sys.executable} -W error -m streamtopics "$@"; }}\n'
    f'python() {{ {sys.executable} -W error "$@"; }}\n'
)
CHECKER = doctest.OutputChecker()


def commands():
    """Each command of the page with the lines of output below it, and its Python, in order."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"\.\. code-block:: (console|python)\n\n((?:    .*\n|\n)+)", text)
    found = []
    for kind, block in blocks:
        if kind == "python":
            found.append([f"python -c {shlex.quote(dedent(block))}", []])
        else:
            _add_commands(block, found)
    return found


def _add_commands(block, found):
    for line in dedent(block).splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0][:-1] + line.lstrip("> ")
        else:
            found[-1][1].append(line.rstrip())


def _fits(expected, got):
    return CHECKER.check_output(expected.strip() + "\n", got.strip() + "\n", HOW)


def test_the_page_has_all_verbs():
    told = " ".join(command for command, _ in commands())
    for verb in ("fit", "update", "apply", "show", "watch", "summarize", "score", "report"):
        assert f"streamtopics {verb} " in told


@pytest.fixture(name="call")
def call_of_a_command(tmp_path, monkeypatch, capfd):
    """In this process where nothing is piped, which spares an import of everything each time."""
    for file in (DATA, RULE):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "warnoptions", ["error"])
    environment = {
        **os.environ, "HERE": os.pathsep.join(sys.path), "PYTHONPATH": os.pathsep.join(sys.path),
        "STREAMTOPICS_ISA": instruction_set, "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8",
    }  # fmt: skip

    def call(command):
        if command.startswith("streamtopics "):
            status = main(shlex.split(command)[1:])
            return status, *capfd.readouterr()
        ran = subprocess.run(
            ["bash", "-c", FUNCTION + command], env=environment, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=100,
        )  # fmt: skip
        return ran.returncode, ran.stdout, ran.stderr

    return call


def _kinds(lines):
    """The first word of each line at the margin, without figures. Tallies are counts: the whole."""
    return [
        line if line.startswith("documents read:") else re.sub(r"-?\d[\d.]*", "#", word)
        for line in lines
        if (word := re.split("[ ,]", line)[0])
    ]


def _as_shown(shown, out, err, exactly):
    """Whether lines were printed, on standard output or, each by itself, on standard error."""
    if not exactly:
        shown = _kinds(shown)
        out, err = ("\n".join(_kinds(text.splitlines())) for text in (out, err))
    said = err.splitlines()
    expected = [line for line in shown if line == "..." or not any(_fits(line, s) for s in said)]
    return _fits("\n".join(expected), out)


def test_what_the_page_shows(call):
    """To the digit where the figures were made; elsewhere lines of the same kind.

    From one last bit that differs, a sampler goes elsewhere for good.
    """
    made_with, _ = read(path_of("avx2"))
    exactly = instruction_set == "avx2" and made_with == surroundings()
    wrong = []
    for command, shown in commands():
        status, out, err = call(command)
        refused = bool(shown) and shown[0].startswith("streamtopics: ")
        well = status == (2 if refused else 0) and "Traceback" not in err
        if not (well and _as_shown(shown, out, err, exactly)):
            wrong.append(f"$ {command}\n{out}{err}[{status}]")
    assert not wrong, "\n\n".join(wrong)


def test_lines_of_a_kind():
    shown = ["648 documents, 14 words", "topic  weight", "    5  15.3%  world", "..."]
    assert _as_shown(shown, "7 documents, 1 words\ntopic  weight\n  1  2%  sea\nmore\n", "", False)
    assert not _as_shown(shown, "7 documents, 1 words\ntopic  weight\n  1  2%  sea\n", "", True)
    assert not _as_shown(shown, "7 documents, 1 words\nheld out: -6.1\n", "", False)
    assert not _as_shown(shown, "", "", False)
    tally = ["documents read: 7; words read: 9; ..."]
    assert _as_shown(tally, "", "documents read: 7; words read: 9; stop words: 2\n", False)
    assert not _as_shown(tally, "", "documents read: 7; words read: 8; stop words: 2\n", False)
