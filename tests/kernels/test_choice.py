# SPDX-License-Identifier: BSD-3-Clause
"""Which kernels are imported, in processes of their own, and what is said where none can be."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import streamtopics
from streamtopics.kernels import _cpu

PACKAGE = Path(streamtopics.__file__).parent
COMPILED = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")


def run(code, instruction_set=None, folder=None):
    """What Python writes that is started in a folder, and its last line of errors."""
    environment = {k: v for k, v in os.environ.items() if k != "STREAMTOPICS_ISA"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    if instruction_set is not None:
        environment["STREAMTOPICS_ISA"] = instruction_set
    arguments = [sys.executable, "-c", code]
    done = subprocess.run(
        arguments, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    return done.stdout.strip(), done.stderr.strip().rpartition("\n")[2]


@pytest.mark.parametrize("wanted", [None, *_cpu.supported()])
def test_the_widest_instruction_set_or_the_one_asked_for(wanted):
    code = "from streamtopics import kernels; print(kernels.gibbs.__name__)"
    name = f"streamtopics.kernels._gibbs_{wanted or _cpu.supported()[0]}"
    assert run(code, wanted) == (name, "")


def test_an_instruction_set_that_is_not_there_is_refused():
    _, error = run("import streamtopics.kernels", "sse9")
    assert error.startswith("ImportError: STREAMTOPICS_ISA='sse9' cannot run here; choose one of [")


@pytest.mark.parametrize("name", ["avx2", "avx512"])
def test_a_kernel_for_another_processor_raises(name):
    """Where it would end the process, as `help("modules ...")` imports every module."""
    found = sorted(path.name.partition(".")[0] for path in PACKAGE.glob(f"kernels/_*_{name}.*so"))
    code = "from importlib import import_module\n" + "\n".join(
        f"try: import_module('streamtopics.kernels.{one}')\nexcept ImportError: print('{one}')"
        for one in found
    )
    refused = [] if name in _cpu.supported() else found
    assert run(code) == ("\n".join(refused), "")


def test_kernels_that_were_never_compiled(tmp_path):
    """As in a checkout that nobody has built."""
    shutil.copytree(PACKAGE, tmp_path / "streamtopics", ignore=COMPILED)
    _, error = run("from streamtopics import SVBLDA", folder=tmp_path)
    assert error.startswith("ImportError: the compiled kernels of streamtopics are missing")
    assert "`pip install -e .`" in error
