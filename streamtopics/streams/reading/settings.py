# SPDX-License-Identifier: BSD-3-Clause
"""The arguments of readers, checked once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

from streamtopics.streams.reading.formats import FORMATS
from streamtopics.streams.reading.problems import How, Skipped
from streamtopics.utils.checks import check_integer, check_one_of
from streamtopics.utils.structure import has_entries

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
    for name, key in (("text_key", text_key), ("time_key", time_key)):
        if not (isinstance(key, str) or (key is None and name == "time_key")):
            raise TypeError(f"{name} must be the name of a field, a str; got {key!r:.60}")
    if isinstance(keys, str):
        raise TypeError(f"keys must be a list of names; got the str {keys!r}: pass [{keys!r}]")
    if not has_entries(keys) or isinstance(keys, Iterator):
        raise TypeError(f"keys must be a list of names; got {keys!r:.60}")
    if wrong := [key for key in keys if not isinstance(key, str)]:
        raise TypeError(f"keys must be names, each a str; one is {wrong[0]!r:.60}")
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
        max_line=int(max_line),  # one of NumPy with few bits would wrap around
        skip_bad=on_bad == "skip",
        skipped=Skipped() if skipped is None else skipped,
    )


def _check_encoding(encoding: str) -> None:
    if not isinstance(encoding, str):
        raise TypeError(f"encoding must be a name such as 'utf-8'; got {encoding!r:.60}")
    try:
        ends_alike = b"\n".decode(encoding) == "\n"
    except LookupError as error:
        raise LookupError(
            f"encoding must be one that Python knows, such as 'utf-8'; got {encoding!r:.60}"
        ) from error
    except ValueError:
        ends_alike = False
    if not ends_alike:
        raise ValueError(
            f"encoding: files in {encoding!r:.60} cannot be read line by line; convert them to "
            "UTF-8"
        )
