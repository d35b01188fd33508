# SPDX-License-Identifier: BSD-3-Clause
"""The kernels that are compiled for several instruction sets."""

from importlib import import_module

import pytest

from streamtopics.kernels import supported


def variants(name):
    """The modules of a kernel, by their instruction sets."""
    return {isa: import_module(f"streamtopics.kernels._{name}_{isa}") for isa in supported()}


def freeze(*arrays):
    """Let nobody write into arrays, as into those of files in memory."""
    for array in arrays:
        array.flags.writeable = False


def each(kernels):
    """Run a test with the kernel of each instruction set."""
    return pytest.mark.parametrize("kernel", kernels.values(), ids=kernels)
