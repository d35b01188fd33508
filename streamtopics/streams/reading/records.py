# SPDX-License-Identifier: BSD-3-Clause
"""Records: the text, the time and the other fields of what a reader found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from streamtopics.streams.reading.problems import How, Origin, ReadingError, likely, shown
from streamtopics.streams.reading.times import Time, Times

# What a reader of a format gives: whence, the number of the line, and a text or an object.
Found: TypeAlias = tuple[Origin, int, Any]


class Record(NamedTuple):
    """A document of a file, and where it was.

    Parameters
    ----------
    text : str
        The document.
    time : datetime, float, str or None
        Its time; None if no key of it was given.
    fields : dict
        The values of the other keys that were asked for, as they were found.
    source : str
        The path of the file, as it was given or found; "" for an item of an iterable.
    line : int
        The number of the line in the file where the document begins, of the row of a Parquet
        file, or of the item, from 1 on.
    """

    text: str
    time: Time | None
    fields: dict[str, Any]
    source: str
    line: int


def texts_of(found: Iterable[Found], how: How) -> Iterator[str]:
    """Yield the texts alone."""
    for origin, number, value in found:
        if type(value) is str:
            yield value
            continue
        try:
            text = text_of(value, how.text_key, origin, number)
        except ReadingError as error:
            how.bad(error)
        else:
            yield text


def records_of(found: Iterable[Found], how: How) -> Iterator[Record]:
    """Yield the texts with the times and the other fields."""
    times = Times()
    for origin, number, value in found:
        try:
            record = record_of(origin, number, value, how, times)
        except ReadingError as error:
            how.bad(error)
        else:
            yield record


def record_of(origin: Origin, number: int, value: Any, how: How, times: Times) -> Record:
    """Return a record; ReadingError if it has not all that is read."""
    text = value if type(value) is str else text_of(value, how.text_key, origin, number)
    time, fields = None, {}
    if how.time_key is not None:
        time = times.read(
            _field(value, how.time_key, "time_key", origin, number), origin.place(number)
        )
    if how.keys:
        fields = {key: _field(value, key, "", origin, number) for key in how.keys}
    return Record(text, time, fields, origin.name, number)


def text_of(value: Any, text_key: str, origin: Origin, number: int) -> str:
    """Return a document itself, or the one in an object, "" for None."""
    if type(value) is dict or isinstance(value, Mapping):
        if text_key not in value:
            raise _no_key("text", "text_key", text_key, value, origin.place(number))
        value = "" if value[text_key] is None else value[text_key]
    if not isinstance(value, str):
        remedy = "Convert it, or leave it out"
        if isinstance(value, list):
            remedy = "If these are words join them, if they are texts give each one by itself"
        raise ReadingError(
            "no text", origin.place(number),
            f"a text must be a str; got {shown(value)} ({type(value).__name__}). {remedy}",
        )  # fmt: skip
    return value


def _field(value: Any, key: str, setting: str, origin: Origin, number: int) -> Any:
    if type(value) is not dict and not isinstance(value, Mapping):
        raise ReadingError(
            f"no {key!r}", origin.place(number),
            f"a text by itself has no {key!r}: {shown(value)}. Write objects, such as "
            f'{{"text": "...", "{key}": ...}}, or do not ask for it',
        )  # fmt: skip
    if key not in value:
        raise _no_key(repr(key), setting, key, value, origin.place(number))
    return value[key]


def _no_key(
    what: str, setting: str, key: str, value: Mapping[Any, Any], place: str
) -> ReadingError:
    names = list(islice(value, 10))
    problem = (
        f"nothing under the key {key!r}; the keys are: {', '.join(map(repr, names)) or 'none'}"
    )
    for name in names:
        if isinstance(value[name], Mapping) and key in value[name]:
            remedy = f"it is within {name!r}; write these objects alone, as `jq -c .{name}` does"
            return ReadingError(f"no {what}", place, f"{problem}; {remedy}")
    if setting == "text_key":
        texts = [name for name in names if isinstance(value[name], str)]
        names = sorted(texts, key=lambda name: -len(value[name]))
    return ReadingError(f"no {what}", place, problem, *likely(key, names, setting))
