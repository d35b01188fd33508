# SPDX-License-Identifier: BSD-3-Clause
"""Texts and records of files, one by one: what the standard library and pyarrow read."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from datetime import datetime
from difflib import get_close_matches
from importlib import import_module
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple, TypeAlias

from streamtopics.utils.checks import check_one_of
from streamtopics.utils.structure import from_arrow
from streamtopics.utils.times import read_time

Source: TypeAlias = str | os.PathLike[str] | Iterable[Any]
OnBad: TypeAlias = Literal["raise", "skip"]
Lines: TypeAlias = Iterator[tuple[int, str]]  # with their numbers
Rows: TypeAlias = Iterator[tuple[int, Any]]  # texts or objects, with the number of the line of each

STANDARD_INPUT = "-"
SUFFIXES = {
    ".txt": "lines", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv",
    ".tsv": "tsv", ".parquet": "parquet",
}  # fmt: skip
OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": None}
# Bytes that are not of the encoding, as `errors="surrogateescape"` reads them.
UNDECODED = re.compile("[\udc80-\udcff]")
# Texts of a table that stand for none, as pandas has them.
MISSING = frozenset(("", "#N/A", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"))


class ReadingError(ValueError):
    """A file or a record that cannot be read as it was asked for.

    Parameters
    ----------
    reason, place, problem : str
        In a few words, by which `Skipped` counts; the file and the line; a sentence.
    setting, value : str, default=""
        Name of the argument of `read_records` that may help, if any, and an example of a value.
    """

    def __init__(
        self, reason: str, place: str, problem: str, setting: str = "", value: str = ""
    ) -> None:
        super().__init__(reason, place, problem, setting, value)
        self.reason, self.place, self.problem = reason, place, problem
        self.setting, self.value = setting, value

    def __str__(self) -> str:
        remedy = f"; pass {self.setting}={self.value!r}, for example" if self.setting else ""
        return f"{self.place}: {self.problem}{remedy}"


class Skipped:
    """Counts what readers left out, and why.

    Attributes
    ----------
    counts : dict of str to int
        How often, by reason, in the order in which they came first.
    first : dict of str to str
        The first place of each reason: a file, or a file and a line.
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.first: dict[str, str] = {}

    def add(self, reason: str, place: str) -> None:
        """Count one more."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.first.setdefault(reason, place)

    def __str__(self) -> str:
        if not self.counts:
            return "nothing was skipped"
        said = (f"{n} {reason} (first: {self.first[reason]})" for reason, n in self.counts.items())
        return f"skipped {sum(self.counts.values())}: " + ", ".join(said)


class Record(NamedTuple):
    """A document of a file, and where it was.

    Parameters
    ----------
    text : str
    time : datetime, float or None
    fields : dict
        The values of the other keys that were asked for, as they were found.
    source : str
        The path of the file; "" for an item of an iterable.
    line : int
        The number of the line where the document begins, from 1 on; of the record in a JSON array
        or a Parquet file, or of the item.
    """

    text: str
    time: datetime | float | None
    fields: dict[str, Any]
    source: str
    line: int


class Reading(NamedTuple):
    """How a source is read, the name of a file of it, and the unit that its records have."""

    text_key: str = "text"
    time_key: str | None = None
    keys: Sequence[str] = ()
    format: str | None = None
    sep: str | None = None
    time_format: str | None = None
    encoding: str = "utf-8"
    on_bad: str = "raise"
    skipped: Skipped | None = None
    name: str = ""
    unit: str = "item"

    def of(self, path: Path) -> Reading:
        """Return how a file is read."""
        kind = self.format or SUFFIXES.get(kind_of(path.name)) or ("csv" if self.sep else None)
        name = "standard input" if str(path) == STANDARD_INPUT else str(path)
        unit = {"json": "record", "parquet": "row"}.get(kind or "", "line")
        return self._replace(format=kind, name=name, unit=unit)

    def place(self, number: int) -> str:
        """Name a record, for messages."""
        return f"{self.name}, {self.unit} {number}" if self.name else f"item {number} of source"

    def skip(self, reason: str, place: str) -> None:
        """Count what is left out."""
        if self.skipped is not None:
            self.skipped.add(reason, place)

    def bad(self, error: ReadingError) -> None:
        """Raise the error, or count it, as was asked for."""
        if self.on_bad == "raise":
            raise error
        self.skip(error.reason, error.place)

    def record(self, number: int, value: object) -> Record:
        """Return a record; ReadingError if it has not all that is read."""
        if not self.keys and self.time_key is None:  # mostly, and fast
            text = value.get(self.text_key) if type(value) is dict else value
            if type(text) is str:
                return Record(text, None, {}, self.name, number)
        place, time = self.place(number), None
        text = self._field(value, self.text_key, "text_key", place)
        text = "" if text is None else text
        if not isinstance(text, str):
            problem = f"a text must be a str; got {text!r:.60} ({type(text).__name__}). "
            problem += "Convert it, join words and give each text by itself, or leave it out"
            raise ReadingError("no text", place, problem)
        fields = {key: self._field(value, key, "", place) for key in self.keys}
        if self.time_key is not None:
            time = self._time(self._field(value, self.time_key, "time_key", place), place)
        return Record(text, time, fields, self.name, number)

    def _field(self, row: object, key: str, setting: str, place: str) -> Any:
        """Return the value of a key; dots lead into objects, where no key has them itself."""
        if not isinstance(row, Mapping):
            if setting == "text_key":
                return row
            problem = f"a text by itself has no {key!r}: {row!r:.60}; write JSON lines or a table"
            raise ReadingError(f"no {key!r}", place, problem)
        found: Any = row
        for part in (key,) if key in row else key.split("."):
            if not isinstance(found, Mapping) or part not in found:
                raise _no_field(key, setting, row, place)
            found = found[part]
        return found

    def _time(self, value: object, place: str) -> datetime | float:
        try:
            if self.time_format is not None:
                return datetime.strptime(str(value).strip(), self.time_format)
            return read_time(value)
        except (ArithmeticError, TypeError, ValueError) as error:
            problem = (
                f"a time must be a number or a date; got {value!r:.60}. Write it as 2003-05-17"
            )
            remedy = "time_format", "%d.%m.%Y"
            raise ReadingError("no time", place, f"{problem}, or say its form", *remedy) from error


def _no_field(key: str, setting: str, row: Mapping[str, Any], place: str) -> ReadingError:
    """Return the error for a row without a field, with the one that may be meant."""
    lower = {str(name).lower(): str(name) for name in reversed(list(row))}
    meant = [f"{name}.{key}" for name in row if isinstance(row[name], Mapping) and key in row[name]]
    meant += [lower[name] for name in get_close_matches(key.lower(), lower, n=1)]
    if setting == "text_key":
        texts = [name for name in row if isinstance(row[name], str)]
        meant += sorted(texts, key=lambda name: -len(row[name]))
    what, listed = "text" if setting == "text_key" else repr(key), map(repr, list(row)[:10])
    problem = f"there is no {key!r}; there is: {', '.join(listed) or 'nothing'}"
    remedy = (setting, meant[0]) if setting and meant else ()
    return ReadingError(f"no {what}", place, problem, *remedy)


def read_texts(
    source: Source,
    *,
    text_key: str = "text",
    format: str | None = None,
    sep: str | None = None,
    encoding: str = "utf-8",
    on_bad: OnBad = "raise",
    skipped: Skipped | None = None,
) -> Iterator[str]:
    """Read documents one by one, lazily.

    Parameters
    ----------
    source : iterable of str, path or iterable of paths
        In an iterable a str or an object with `text_key` is a document and a
        :class:`pathlib.Path` a file or directory. A str by itself is a path too, and the path "-"
        is standard input. Files may be compressed, with a further suffix ".gz", ".bz2", ".xz" or
        ".zst" (before Python 3.14 with ``backports.zstd``). The suffix says the format:

        - ".jsonl" and ".ndjson" have JSON on each line: an object with `text_key`, or a string.
        - ".json" may have the same, or one array of such values, which is read as a whole.
        - ".csv" and ".tsv" are tables with the names of the columns in the first row. Missing
          texts, such as "NULL" and "NaN", are read as empty ones.
        - ".parquet" are tables too, which ``pyarrow`` reads.
        - Any other file is plain text, with one document on each line but empty ones.
        - Of a directory and those in it, the files with one of the suffixes above or ".txt" are
          read, sorted by name, but for hidden ones. Here a ".txt" file as a whole is one document.
    text_key : str, default="text"
        Where the text is in an object, or its column in a table. Dots lead into objects:
        "user.name".
    format : {"lines", "documents", "jsonl", "json", "csv", "tsv", "parquet"} or None, default=None
        The format of all files. "lines" and "documents" are plain text, with a document on each
        line, or one in each file. None goes by suffixes, and standard input is lines.
    sep : str or None, default=None
        What separates the fields of a table, such as ";"; None is a comma, or a tab in ".tsv".
    encoding : str, default="utf-8"
    on_bad : {"raise", "skip"}, default="raise"
        What is done about a record that cannot be read.
    skipped : Skipped or None, default=None
        Counts what was left out: empty lines, bad records, files with other suffixes.

    Returns
    -------
    texts : iterator of str

    Raises
    ------
    FileNotFoundError, TypeError, ValueError
        If there is no such file, or the source or an argument is none of the above.
    ReadingError
        A ValueError that names file, line and a remedy, of what cannot be read.

    See Also
    --------
    iter_minibatches : The documents in minibatches.
    read_records : The documents with their times and other fields.

    Examples
    --------
    >>> from streamtopics.datasets import read_texts
    >>> list(read_texts(["one text", {"text": "another", "year": 2024}]))
    ['one text', 'another']
    """
    found = read_records(
        source, text_key=text_key, format=format, sep=sep, encoding=encoding, on_bad=on_bad,
        skipped=skipped,
    )  # fmt: skip
    return (record[0] for record in found)


def read_records(
    source: Source,
    *,
    text_key: str = "text",
    time_key: str | None = None,
    keys: Sequence[str] = (),
    format: str | None = None,
    sep: str | None = None,
    time_format: str | None = None,
    encoding: str = "utf-8",
    on_bad: OnBad = "raise",
    skipped: Skipped | None = None,
) -> Iterator[Record]:
    """Read documents with their times, other fields and places, one by one, lazily.

    Parameters
    ----------
    source, text_key, format, sep, encoding, on_bad, skipped
        As in `read_texts`.
    time_key : str or None, default=None
        Where the time is in an object or a table: a number such as a year, a date as of ISO 8601,
        20240131, or seconds since 1970.
    keys : sequence of str, default=()
        Other fields or columns to read, such as a label. Each record must have them, although
        they may be null or empty.
    time_format : str or None, default=None
        How times are written, as `datetime.strptime` has it: "%d.%m.%Y".

    Returns
    -------
    records : iterator of Record

    Raises
    ------
    FileNotFoundError, TypeError, ReadingError
        As in `read_texts`; also if a time or one of `keys` is missing, or no time can be read.

    See Also
    --------
    read_texts : The documents alone.
    follow : The records of a file that grows.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from streamtopics.datasets import read_records
    >>> path = Path(tempfile.mkdtemp(), "news.csv")
    >>> _ = path.write_text("day;section;text\\n31.01.2024;sport;They won\\n")
    >>> record, = read_records(
    ...     path, time_key="day", time_format="%d.%m.%Y", keys=["section"], sep=";"
    ... )
    >>> record.text, str(record.time), record.fields, record.line
    ('They won', '2024-01-31 00:00:00', {'section': 'sport'}, 2)
    """
    check_one_of(("raise", "skip"), on_bad=on_bad)
    check_one_of((*SUFFIXES.values(), "documents"), format=format or "lines")
    reading = Reading(text_key, time_key, keys, format, sep, time_format, encoding, on_bad, skipped)
    if isinstance(source, str | os.PathLike):
        return _records_at(existing(source), reading)
    if isinstance(source, bytes | Mapping) or is_matrix(source):
        raise TypeError(
            "source must be an iterable of texts, such as a list, or a path or an iterable of "
            f"paths; got {type(source).__name__}"
        )
    return _records_in(iter(from_arrow(source)), reading)


def is_matrix(source: object) -> bool:
    """Tell whether a source has rows and columns."""
    shape = getattr(source, "shape", None)
    return isinstance(shape, Sized) and len(shape) == 2


def existing(path: str | os.PathLike[str]) -> Path:
    """Return a path of which there is a file, a folder or standard input."""
    name = os.fspath(path)
    if name != STANDARD_INPUT and not _exists(name):
        remedy = ". Pass texts as a list: [text, ...]" if isinstance(path, str) else ""
        raise FileNotFoundError(f"there is no file or directory {name!r:.100}{remedy}")
    return Path(name)


def _exists(name: str) -> bool:
    return os.path.exists(name)  # noqa: PTH110 - that of a Path raises for long texts


def kind_of(name: str) -> str:
    """Return the suffix of a file name, without that of compression."""
    path = PurePath(name.lower())
    return PurePath(path.stem).suffix if path.suffix in OPENERS else path.suffix


# From a source to the lines of a file


def _records_in(items: Iterator[Any], reading: Reading) -> Iterator[Record]:
    for number, item in enumerate(items, start=1):
        if isinstance(item, os.PathLike):
            yield from _records_at(existing(item), reading)
            continue
        if number == 1 and isinstance(item, str) and kind_of(item) in SUFFIXES and _exists(item):
            raise ValueError(
                f"the first text of source is the name of a file, {item!r}; in an iterable a str "
                "is a text: pass pathlib.Path objects to read files"
            )
        yield from _records_of(iter([(number, item)]), reading)


def _records_of(rows: Rows, reading: Reading) -> Iterator[Record]:
    for number, value in rows:
        try:
            record = reading.record(number, value)
        except ReadingError as error:
            reading.bad(error)
        else:
            yield record


def _records_at(path: Path, reading: Reading) -> Iterator[Record]:
    if str(path) == STANDARD_INPUT or not path.is_dir():
        yield from _records_of(_rows(path, reading.of(path)), reading.of(path))
        return
    files = []
    for file in sorted(Path(root, name) for root, _, names in os.walk(path) for name in names):
        kind = kind_of(file.name)
        if any(part.startswith(".") for part in file.relative_to(path).parts):
            reading.skip("hidden files", str(file))
        elif reading.format is None and kind not in SUFFIXES:
            reading.skip(f"files that end in {kind or 'no suffix'}", str(file))
        else:
            files.append(file)
    if not files:
        problem = f"no files to read: none ends in {', '.join(SUFFIXES)}, or compressed"
        raise ReadingError("nothing to read", str(path), problem, "format", "documents")
    for file in files:
        own = reading.of(file)
        if reading.format is None and own.format == "lines":
            own = own._replace(format="documents")
        yield from _records_of(_rows(file, own), own)


def _rows(path: Path, reading: Reading) -> Rows:
    if reading.format == "parquet":
        yield from _parquet_rows(path, reading)
        return
    is_utf8 = reading.encoding.lower() in ("utf-8", "utf8")
    how: dict[str, Any] = {
        "encoding": "utf-8-sig" if is_utf8 else reading.encoding,
        "errors": "surrogateescape", "newline": "\n",
    }  # fmt: skip
    suffix = path.suffix.lower()
    opener = OPENERS.get(suffix, open)
    if suffix == ".zst":
        opener = _needed("backports.zstd", "compression.zstd", "backports.zstd").open
    is_input = str(path) == STANDARD_INPUT
    with io.TextIOWrapper(sys.stdin.buffer, **how) if is_input else opener(path, "rt", **how) as f:
        yield from FORMATS[reading.format](_lines(f, reading), reading)


def _needed(package: str, *names: str) -> Any:
    """Import the first of the modules that there is."""
    for name in names:
        with suppress(ImportError):
            return import_module(name)
    raise ImportError(f"files of this format need {package}; run `pip install {package}`")


def _lines(file: Iterable[str], reading: Reading, first: int = 1) -> Lines:
    """Yield the lines that can be decoded, with their ends and numbers."""
    number = first - 1
    try:
        for number, line in enumerate(file, start=first):
            if line.isascii() or not (bad := UNDECODED.search(line)):
                yield number, line
                continue
            start, known = bad.start(), "latin-1"
            if line[:2] in ("\udcff\udcfe", "\udcfe\udcff"):
                known = "utf-16"
            problem = (
                f"byte 0x{ord(line[start]) - 0xDC00:02x} at position {start + 1} is not "
                f"{reading.encoding}. If it is text, not a PDF, a spreadsheet or compressed"
            )
            reason, place = f"not {reading.encoding}", reading.place(number)
            reading.bad(ReadingError(reason, place, problem, "encoding", known))
    except (EOFError, OSError, UnicodeError, lzma.LZMAError, zlib.error) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the disk, not what is on it
            raise
        problem = f"cannot be decompressed or decoded ({error}); fetch it again, or rename it"
        reading.bad(ReadingError("broken file", reading.place(number + 1), problem))


# Formats


def _plain(lines: Lines, reading: Reading) -> Rows:
    for number, line in lines:
        if line.isspace():
            reading.skip("empty lines", reading.place(number))
            continue
        if number == 1 and reading.format is None and line.startswith('{"'):
            problem = f"this looks like JSON: {line!r:.60}; say so, or that it is 'lines'"
            raise ReadingError("not named JSON", reading.place(1), problem, "format", "jsonl")
        yield number, line.rstrip("\r\n")


def _json_lines(lines: Lines, reading: Reading) -> Rows:
    for number, line in lines:
        if line.isspace():
            reading.skip("empty lines", reading.place(number))
            continue
        try:
            line = line.strip()
            value, end = DECODER.raw_decode(line)  # faster than `json.loads`
            value = value if end == len(line) else json.loads(line)
        except (ValueError, RecursionError) as error:
            reading.bad(_not_json(error, line, reading.place(number)))
        else:
            yield number, value


def _not_json(error: Exception, text: str, place: str) -> ReadingError:
    problem = f"not JSON ({error}): {text!r:.60}. Each line must be one JSON object or string, or "
    return ReadingError("not JSON", place, f"{problem}a file that ends in .json one array")


def _json(lines: Lines, reading: Reading) -> Rows:
    """Read the values of one array, or else of each line."""
    number, line = next((one for one in lines if not one[1].isspace()), (1, "\n"))
    if not line.lstrip().startswith("["):
        yield from _json_lines(chain([(number, line)], lines), reading)
        return
    try:
        values = json.loads(line + "".join(line for _, line in lines))
    except (ValueError, RecursionError) as error:
        reading.bad(_not_json(error, line, reading.name))
    else:
        yield from enumerate(values, start=1)


def _table(lines: Lines, reading: Reading) -> Rows:
    """Read the rows under one with the names of the columns."""
    sep = reading.sep or ("\t" if reading.format == "tsv" else ",")
    number, names = 0, list[str]()

    def given() -> Iterator[str]:
        nonlocal number
        for at, line in lines:
            number = at
            yield line

    csv.field_size_limit(2**27)
    rows = csv.reader(given(), delimiter=sep, strict=True)
    while True:
        begin = number + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            problem = (
                f"no row of a table ({error}). Fields with quotation marks, {sep!r} or ends of "
                "lines in them are in quotation marks, which are doubled within"
            )
            reading.bad(ReadingError("no rows of a table", reading.place(begin), problem))
            continue
        if not row:
            reading.skip("empty lines", reading.place(begin))
        elif not names:
            names = row
            for other in ";\t|,":
                if len(row) == 1 and other in row[0]:
                    problem = f"there is no {sep!r} between the fields of {row[0]!r:.60}"
                    raise ReadingError("no columns", reading.place(begin), problem, "sep", other)
        elif any(row[len(names) :]):
            problem = (
                f"a row of {len(row)} fields, but the first row has {len(names)}: {row!r:.100}. "
                f"Put fields with {sep!r} in them in quotation marks, or leave the row out"
            )
            reading.bad(ReadingError("rows of more fields", reading.place(begin), problem))
        else:
            fields = dict(zip(names, row, strict=False))
            if fields.get(reading.text_key, ".") in MISSING:
                fields[reading.text_key] = ""
            yield begin, fields


def _documents(lines: Lines, reading: Reading) -> Rows:
    """Read a file as one document."""
    yield 1, "".join(line for _, line in lines)


def _parquet_rows(path: Path, reading: Reading) -> Rows:
    """Read the rows of a file, some at a time."""
    parquet = _needed("pyarrow", "pyarrow.parquet")
    with parquet.ParquetFile(path) as file:
        wanted = {key for key in (reading.text_key, reading.time_key, *reading.keys) if key}
        names = wanted if wanted <= set(file.schema_arrow.names) else file.schema_arrow.names
        batches = file.iter_batches(1000, columns=list(names))
        yield from enumerate((row for batch in batches for row in batch.to_pylist()), start=1)


DECODER = json.JSONDecoder()
FORMATS = {
    None: _plain, "lines": _plain, "documents": _documents, "jsonl": _json_lines, "json": _json,
    "csv": _table, "tsv": _table,
}  # fmt: skip


def record_of_line(line: str, reading: Reading, number: int) -> Record | None:
    """Return the record of one line, None of one that is left out."""
    rows = FORMATS[reading.format](_lines([line], reading, number), reading)
    return next(_records_of(rows, reading), None)
