# SPDX-License-Identifier: BSD-3-Clause
"""The arguments of readers, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from streamtopics.checks import check_integer, check_one_of
from streamtopics.datasets.reading.formats import FORMATS
from streamtopics.datasets.reading.problems import How, Skipped
from streamtopics.structure import has_entries

OnBad: TypeAlias = Literal["raise", "skip"]
MAX_LINE = 2**24


def how_of(
    *,
    text_key: str,
    time_key: str | None,
    keys: Sequence[str],
    format: str | None,
    encoding: str,
    max_line: int,
    on_bad: str,
    skipped: Skipped | None,
) -> How:
    """Return how to read, if the arguments make sense."""
    if isinstance(keys, str):
        raise TypeError(f"keys must be a list of names; got the str {keys!r}: pass [{keys!r}]")
    if not has_entries(keys):
        raise TypeError(f"keys must be a list of names; got {keys!r}")
    if format is not None and not (isinstance(format, str) and format in FORMATS):
        raise ValueError(f"format must be None or one of {', '.join(FORMATS)}; got {format!r}")
    if not (skipped is None or isinstance(skipped, Skipped)):
        raise TypeError(f"skipped must be a Skipped, or None; got {skipped!r:.60}")
    check_integer(max_line=max_line)
    check_one_of(("raise", "skip"), on_bad=on_bad)
    _check_encoding(encoding)
    return How(
        text_key=text_key,
        time_key=time_key,
        keys=tuple(keys),
        format=format,
        encoding=encoding,
        max_line=max_line,
        skip_bad=on_bad == "skip",
        skipped=Skipped() if skipped is None else skipped,
    )


def _check_encoding(encoding: str) -> None:
    try:
        ends_alike = b"\n".decode(encoding) == "\n"
    except (TypeError, UnicodeDecodeError):
        ends_alike = False
    if not ends_alike:
        raise ValueError(
            f"files in the encoding {encoding!r} cannot be read line by line; convert them to UTF-8"
        )
