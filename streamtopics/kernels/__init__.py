# SPDX-License-Identifier: BSD-3-Clause
"""Compiled kernels: loops over documents, words and topics, without the GIL.

Some are compiled for each instruction set in `setup.py`; the widest of this processor is chosen at
import. The environment variable STREAMTOPICS_ISA (baseline, avx2 or avx512) asks for a narrower
one, to compare them or to get the same bits on different processors.
"""

import importlib
import os
from types import ModuleType

try:
    from streamtopics.kernels import _asum as asum
    from streamtopics.kernels import _dpp as dpp
    from streamtopics.kernels import _groups as groups
    from streamtopics.kernels import _hdp as hdp
    from streamtopics.kernels import _left_to_right as left_to_right
    from streamtopics.kernels import _minibatch as minibatch
    from streamtopics.kernels import _rows as rows
    from streamtopics.kernels import _sentences as sentences
    from streamtopics.kernels import _tokens as tokens
    from streamtopics.kernels import _was as was
    from streamtopics.kernels._cpu import supported
except ImportError as error:
    raise ImportError(
        "the compiled kernels of streamtopics are missing, or not for this Python. In a checkout "
        "run `pip install -e .`, which needs a C compiler; otherwise run Python elsewhere"
    ) from error

__all__ = [
    "asum",
    "classes",
    "dirichlet",
    "dpp",
    "gibbs",
    "groups",
    "hdp",
    "instruction_set",
    "left_to_right",
    "minibatch",
    "profiles",
    "rows",
    "select",
    "sentences",
    "supervised",
    "tokens",
    "variational",
    "was",
]


def select(name: str) -> ModuleType:
    """Import the kernel module `name` for the instruction set in use."""
    return importlib.import_module(f"streamtopics.kernels.{name}_{instruction_set}")


def _choose() -> str:
    available = supported()
    wanted = os.environ.get("STREAMTOPICS_ISA", available[0])
    if wanted not in available:
        raise ImportError(
            f"STREAMTOPICS_ISA={wanted!r} cannot run here; choose one of {available} or unset it"
        )
    return wanted


instruction_set = _choose()
classes = select("_classes")
dirichlet = select("_dirichlet")
gibbs = select("_gibbs")
profiles = select("_profiles")
supervised = select("_supervised")
variational = select("_variational")
