# SPDX-License-Identifier: BSD-3-Clause
"""Every command of the page on the command line prints what the page shows."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from streamtopics.kernels import _cpu

DOC = Path(__file__).parent.parent.parent / "doc"
PAGE = DOC / "user_guide" / "command_line.rst"
DATA = DOC / "_static" / "speeches.jsonl.gz"
HOW = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FUNCTION = f'streamtopics() {{ {sys.executable} -W error -m streamtopics "$@"; }}\n'
CHECKER = doctest.OutputChecker()


def commands():
    """Each command of the page with the lines of output below it, in order."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"\.\. code-block:: console\n\n((?:    .*\n|\n)+)", text)
    lines = [line[4:].rstrip() for block in blocks for line in block.splitlines()]
    found = []
    for line in lines:
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0][:-1] + line.lstrip("> ")
        else:
            found[-1][1].append(line)
    return found


def _fits(expected, got):
    return CHECKER.check_output(expected.strip() + "\n", got.strip() + "\n", HOW)


def test_the_page_has_all_verbs():
    told = " ".join(command for command, _ in commands())
    for verb in ("fit", "update", "apply", "show", "watch", "summarize", "score"):
        assert f"streamtopics {verb} " in told


@pytest.mark.skipif("avx2" not in _cpu.supported(), reason="the figures are those of AVX2")
def test_what_the_page_shows(tmp_path):
    """In a folder with the speeches; what comes on standard error may be shown."""
    shutil.copy(DATA, tmp_path)
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "STREAMTOPICS_ISA": "avx2",
        "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    wrong = []
    for command, shown in commands():
        ran = subprocess.run(
            ["bash", "-c", FUNCTION + command], cwd=tmp_path, env=environment, text=True,
            stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=100,
        )  # fmt: skip
        said = ran.stderr.splitlines()
        expected = [
            line for line in shown if line == "..." or not any(_fits(line, one) for one in said)
        ]
        if "Traceback" in ran.stderr or not _fits("\n".join(expected), ran.stdout):
            wrong.append(f"$ {command}\n{ran.stdout}{ran.stderr}")
    assert not wrong, "\n\n".join(wrong)
