# SPDX-License-Identifier: BSD-3-Clause
"""Files that are there whole or not at all.

What is written has no name in the folder until it is complete and on the disk, where the system
can do that (Linux). Then it takes the place of the file before in one step. That takes a hidden
name, ``.streamtopics-*.part``, for an instant, and elsewhere from the beginning: a process that is
killed then leaves it behind.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from secrets import token_hex
from typing import Any


@contextmanager
def replacing(path: Path) -> Iterator[Callable[[Any], None]]:
    """Yield a function that takes the bytes of a file; it is at `path` when all is written.

    On failure the file that was there before, if any, is as it was, and nothing else is left.

    Parameters
    ----------
    path : Path
        If it is a symbolic link, what it points to is replaced.

    Raises
    ------
    OSError
        With the name of the file.
    """
    path = Path(os.path.realpath(path))
    try:
        mode = _mode_of(path)
        part = path.with_name(f".streamtopics-{token_hex(8)}.part")
        # An interrupt right after the file was opened is to leave none, either.
        try:
            with _opened(part) as file:
                try:
                    descriptor = file.fileno()
                    named = file.name == part
                    yield lambda data: _send(descriptor, data)
                    if mode is not None and hasattr(os, "fchmod"):
                        os.fchmod(descriptor, mode)
                    os.fsync(descriptor)
                    named = named or _name(descriptor, part, path)
                finally:
                    # Takes no memory, which what is at the end of `with` does.
                    file.close()
            if named:
                part.replace(path)
        except BaseException:
            with suppress(FileNotFoundError):
                part.unlink()
            raise
        sync_folder(path.parent)
    except OSError as error:
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error


def _mode_of(path: Path) -> int | None:
    """The permissions of the file to be replaced; None if there is none."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(mode):
        why = "There is something that is no ordinary file; choose another name"
        raise FileExistsError(errno.EEXIST, why)
    return stat.S_IMODE(mode)


def _opened(part: Path) -> FileIO:
    """A new file to write to, of the name of its folder where it has none yet."""
    if hasattr(os, "O_TMPFILE") and Path("/proc/self/fd").is_dir():
        # Not all file systems have files without a name.
        with suppress(OSError):
            return FileIO(str(part.parent), "wb", opener=_nameless)
    return FileIO(part, "xb")


def _nameless(folder: str, flags: int) -> int:
    """The descriptor of a new file without a name in a folder."""
    return os.open(folder, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o666)


def _name(descriptor: int, part: Path, path: Path) -> bool:
    """Give a file its name; whether it had to be another one, as there is a file before it."""
    try:
        _link(descriptor, path)
    except FileExistsError:
        _link(descriptor, part)
        return True
    return False


def _link(descriptor: int, path: Path) -> None:
    # Only with a folder, which does not matter here, is what the link points to given the name.
    os.link(f"/proc/self/fd/{descriptor}", path, src_dir_fd=descriptor)


def _send(descriptor: int, data: Any) -> None:
    """Write all of some bytes."""
    view = memoryview(data)
    while len(view):
        view = view[os.write(descriptor, view) :]


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can do that."""
    if os.name != "posix":
        return
    descriptor = -1
    try:
        os.fsync(descriptor := os.open(folder, os.O_RDONLY))
    finally:
        # In one line: between two an interrupt would leave it open.
        os.close(descriptor) if descriptor >= 0 else None
