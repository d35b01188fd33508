# SPDX-License-Identifier: BSD-3-Clause
"""What calls are disturbed by: an exception at a line of the package, or memory that is not there.

Each of them counts the places of a call where it could strike, and strikes at one. `Lines` of
`tests.interrupts` is a tracer. `Memory` has one allocation fail, by the library of
`failing_malloc.c`: one that Python makes for its objects or, where the library was there before all
others, a `malloc` of the kernels.
NumPy's own are left alone: it does not look at all of them, and dies or says nothing of use.
"""

import ctypes
import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from tests.interrupts import PACKAGE

SOURCE = Path(__file__).with_name("failing_malloc.c")
# As the library numbers them.
KINDS = {"kernels": 1, "objects": 2}


class Means(Protocol):
    """What disturbs calls.

    Attributes
    ----------
    error : type
        What a disturbed call may raise.
    struck : bool
        Whether the last call was disturbed.
    is_exact : bool
        Whether it may raise nothing else: libraries say in their own words that Python has no
        memory.
    """

    error: type[BaseException]
    struck: bool
    is_exact: bool

    def during(self, call: Callable[[], Any], at: int = 0) -> int:
        """Make a call that is disturbed at a place, from 1; how many places it came to."""


# Memory


def compiled(folder: Path) -> Path:
    """The library that has allocations fail.

    Raises
    ------
    OSError
        If there is no gcc, or no glibc.
    """
    library = folder / "failing_malloc.so"
    command = ["gcc", "-O1", "-shared", "-fPIC", "-fno-builtin", "-o", library, SOURCE]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"{SOURCE.name} cannot be compiled: {done.stderr}")
    return library


def is_first(library: Path) -> bool:
    """Whether a library is there before all others, so that its `malloc` is that of the process."""
    return os.environ.get("LD_PRELOAD", "") == str(library)


class Memory:
    """An allocation that fails.

    Parameters
    ----------
    library : Path
        What `compiled` made.
    kind : {"kernels", "objects"}
    """

    error = MemoryError

    def __init__(self, library: Path, kind: str) -> None:
        if kind == "kernels" and not is_first(library):
            raise OSError(f"kernels fail where the process was started with LD_PRELOAD={library}")
        self._kind, self.struck, self.is_exact = KINDS[kind], False, kind == "kernels"
        names, found = ("faults_seen", "faults_at"), loaded(library)
        self._n_seen, self._strikes_at = (ctypes.c_long.in_dll(found, name) for name in names)
        self._counted = ctypes.c_int.in_dll(found, "faults_kind")

    def during(self, call: Callable[[], Any], at: int = 0) -> int:
        """Make a call of which an allocation fails; how many there were."""
        self._strikes_at.value, self._n_seen.value = at, 0
        self._counted.value = self._kind
        try:
            call()
        finally:
            self._counted.value = 0
            n_seen = self._n_seen.value
            self.struck = 0 < at <= n_seen
        return n_seen


@cache
def loaded(library: Path) -> ctypes.CDLL:
    """The library, told of Python's allocators and of where the kernels are."""
    found = ctypes.CDLL(str(library))
    api = ctypes.pythonapi
    hooks = [
        ctypes.cast(f, ctypes.c_void_p) for f in (api.PyMem_GetAllocator, api.PyMem_SetAllocator)
    ]
    found.faults_hook(*hooks)
    found.faults_tell_of_death()
    for line in Path("/proc/self/maps").read_text().splitlines():
        places, rights, *_, path = line.split(maxsplit=5)
        if "x" in rights and path.startswith(f"{PACKAGE}kernels"):
            bounds = (ctypes.c_void_p(int(place, 16)) for place in places.split("-"))
            if not found.faults_add_range(*bounds):
                raise OSError("there are more libraries than have room")
    return found
