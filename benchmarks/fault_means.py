# SPDX-License-Identifier: BSD-3-Clause
"""What calls are disturbed by: an exception at a line of the package, or memory that is not there.

Each of them counts the places of a call where it could strike, and strikes at one. `Lines` is a
tracer. `Memory` has one allocation fail, by the library of `failing_malloc.c`: one that Python
makes for its objects or, where the library was there before all others, a `malloc` of the kernels.
NumPy's own are left alone: it does not look at all of them, and dies or says nothing of use.
"""

import ctypes
import dis
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Protocol

import streamtopics

PACKAGE = str(Path(streamtopics.__file__).parent) + os.sep
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


# Lines


class Lines:
    """An error at a line of the package that a call runs.

    What comes right after all that is within a `with` or a `try` counts for no line: tracers are
    told of it, but Python hands no signal on between the last call within and the first one after
    it, which frees a lock or closes a file.

    Parameters
    ----------
    error : type, default=KeyboardInterrupt
    watch : function or None, default=None
        Is called at each line.
    within : tuple of str
        How paths of files begin of which lines count; by default all of the package.
    """

    is_exact = True

    def __init__(
        self,
        error: type[BaseException] = KeyboardInterrupt,
        watch: Callable[[], None] | None = None,
        within: tuple[str, ...] = (PACKAGE,),
    ) -> None:
        self.error, self.watch, self.within, self.struck = error, watch, within, False
        self._strikes_at = self._n_lines = 0

    def during(self, call: Callable[[], Any], at: int = 0) -> int:
        """Make a call under the tracer; how many lines it ran."""
        self._strikes_at, self._n_lines, self.struck = at, 0, False
        before = sys.gettrace()
        sys.settrace(self._entered)
        try:
            call()
        finally:
            sys.settrace(before)
        return self._n_lines

    def _entered(self, frame: FrameType, event: str, arg: Any) -> Any:
        return self._traced if frame.f_code.co_filename.startswith(self.within) else None

    def _traced(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line" and frame.f_lasti not in exits_of(frame.f_code):
            self._n_lines += 1
            if self.watch is not None:
                self.watch()
            if self._n_lines == self._strikes_at:
                self.struck = True
                raise self.error
        return self._traced


@cache
def exits_of(code: CodeType) -> frozenset[int]:
    """Places in a function where what a `with` or a `try` covers has just ended well."""
    covered = dis.Bytecode(code).exception_entries
    begun = {(entry.start, entry.target) for entry in covered}
    ended = {entry.end for entry in covered if (entry.end, entry.target) not in begun}
    return frozenset(ended)


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
