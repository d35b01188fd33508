# SPDX-License-Identifier: BSD-3-Clause
"""Files written whole or not at all."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

PARTS = ".streamtopics-*.part"


@contextmanager
def replace_file(path: Path) -> Iterator[Callable[[Any], object]]:
    """Yield a function that writes to a temporary file; the file replaces `path` at the end.

    After a failure the old file is unchanged.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise FileExistsError(errno.EEXIST, "This is no ordinary file", str(path))
    part = path.with_name(PARTS.replace("*", token_hex(8)))
    try:
        with part.open("xb") as file:
            yield file.write
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, part)
        part.replace(path)
    except BaseException as error:
        part.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(part)):
            error.filename = str(path)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Write the names in a folder to the disk, if the system can."""
    if os.name != "posix":
        return
    descriptor = -1
    try:
        os.fsync(descriptor := os.open(folder, os.O_RDONLY))
    finally:
        # In one line, because an interrupt between two would leave it open.
        os.close(descriptor) if descriptor >= 0 else None
