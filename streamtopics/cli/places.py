# SPDX-License-Identifier: BSD-3-Clause
"""Places in the files that `watch` has read with one model, by the path of each."""

from __future__ import annotations

from pathlib import Path

from streamtopics.cli.telling import note
from streamtopics.streams.reading.growing import Position, place_at

MOST_FILES = 1000

# By the absolute path, the file that was read last at the end.
Places = dict[str, tuple[int, int, int]]


def place_of_file(places: Places, path: Path) -> tuple[int, int, int] | None:
    """Return where to go on in a file, None for its beginning, and say what is not expected."""
    known = places.get(str(path.resolve()))
    if not places or (known and _fits(path, known)):
        return known
    if known:
        note(
            f"{path} is not the file that was read before: it is shorter or begins with other "
            "bytes; it is read from its beginning"
        )
        return None
    for other, place in reversed(places.items()):
        if place[0] and _fits(path, place) and _ends_a_line(path, place[0]):
            note(f"{path} begins as {other}, and is read from where that was")
            if not Path(other).exists():
                # It was renamed.
                del places[other]
            return place
    last = next(reversed(places))
    note(f"{path} was not read before, as {last} was; it is read from its beginning")
    return None


def keep_place(places: Places, path: Path, position: tuple[int, int, int]) -> None:
    """Keep the place in a file, and drop that of the file that was read longest ago."""
    places.pop(str(path.resolve()), None)
    places[str(path.resolve())] = position
    while len(places) > MOST_FILES:
        del places[next(iter(places))]


def _ends_a_line(path: Path, offset: int) -> bool:
    """Whether a line ends at this place of a file."""
    with path.open("rb") as file:
        file.seek(offset - 1)
        return file.read(1) in {b"\n", b"\r"}


def _fits(path: Path, place: tuple[int, int, int]) -> bool:
    """Whether a file has what was read, by its first bytes and its length."""
    return place_at(path, Position(*place)).offset == place[0]
