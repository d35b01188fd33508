# SPDX-License-Identifier: BSD-3-Clause
"""Texts, records and minibatches from files."""

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
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import closing, suppress
from datetime import date, datetime
from difflib import get_close_matches
from importlib import import_module
from itertools import chain, islice
from pathlib import Path, PurePath
from typing import Any, Literal, NamedTuple, TypeAlias

from streamtopics.utils.checks import check_integer, check_one_of
from streamtopics.utils.structure import check_structure, from_arrow, is_sparse, take_rows
from streamtopics.utils.times import read_time

Source: TypeAlias = str | os.PathLike[str] | Iterable[Any]
OnBad: TypeAlias = Literal["raise", "skip"]
Lines: TypeAlias = Iterator[tuple[int, str]]  # with their numbers
Rows: TypeAlias = Iterator[tuple[int, Any]]  # texts or objects, with line numbers

STANDARD_INPUT = "-"
SUFFIXES = {
    ".txt": "lines", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv",
    ".tsv": "tsv", ".parquet": "parquet", ".xlsx": "xlsx",
}  # fmt: skip
OPEN: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": None}
ZSTD = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
# Undecodable bytes, as read by `errors="surrogateescape"`.
INVALID = re.compile("[\udc80-\udcff]")
# Texts of a table for a missing value, as in pandas.
MISSING = frozenset(("", "#N/A", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"))
BLOCK = 2**20
# Forms of dates proposed in messages, the first that fits.
TIME_FORMATS = [
    f"{day}{time}"
    for day in ("%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%d.%m.%y")
    for time in ("", " %H:%M", " %H:%M:%S", ", %H:%M")
]


class ReadingError(ValueError):
    """Raised if a file or a record cannot be read.

    `Skipped` counts errors by `reason`. `place` and `problem` tell people where and what failed.
    `setting` names an argument of `read_records` that may help, with the value `value`.
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
    """Skipped records by reason: their number (`counts`), and the place of the first (`first`)."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.first: dict[str, str] = {}

    def add(self, reason: str, place: str) -> None:
        """Count a record skipped for `reason` at `place`, a file and line as text."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.first.setdefault(reason, place)

    def __str__(self) -> str:
        if not self.counts:
            return "nothing was skipped"
        said = (f"{n} {reason} (first: {self.first[reason]})" for reason, n in self.counts.items())
        return f"skipped {sum(self.counts.values())}: " + ", ".join(said)


class Record(NamedTuple):
    """A document read from a file, with its time, other fields and place.

    Attributes
    ----------
    text, time, fields : str, datetime or float or None, dict
        `fields` has the values of the `keys` of `read_records`.
    source, line : str, int
        Path of the file, or "" without a file; and number of the line, record or item, from 1.
    """

    text: str
    time: datetime | float | None
    fields: dict[str, Any]
    source: str
    line: int


class Reading(NamedTuple):
    text_key: str = "text"
    time_key: str | None = None
    keys: Sequence[str] = ()
    format: str | None = None
    sep: str | None = None
    time_format: str | None = None
    encoding: str = "utf-8"
    on_bad: str = "raise"
    skipped: Skipped | None = None
    only_texts: bool = False
    name: str = ""
    unit: str = "item"

    def of(self, path: Path) -> Reading:
        kind = self.format or SUFFIXES.get(kind_of(path.name)) or ("csv" if self.sep else None)
        name = "standard input" if str(path) == STANDARD_INPUT else str(path)
        unit = {"json": "record", "parquet": "row", "xlsx": "row"}.get(kind or "", "line")
        return self._replace(format=kind, name=name, unit=unit)

    def place(self, number: int) -> str:
        return f"{self.name}, {self.unit} {number}" if self.name else f"item {number} of source"

    def error(self, reason: str, number: int, problem: str, *remedy: str) -> ReadingError:
        return ReadingError(reason, self.place(number), problem, *remedy)

    def skip(self, reason: str, place: str) -> None:
        if self.skipped is not None:
            self.skipped.add(reason, place)

    def bad(self, error: ReadingError) -> None:
        if self.on_bad == "raise":
            raise error
        self.skip(error.reason, error.place)

    def record(self, number: int, value: object) -> Record:
        if not self.keys and self.time_key is None:  # mostly, and fast
            text = value.get(self.text_key) if type(value) is dict else value
            if type(text) is str:
                return Record(text, None, {}, self.name, number)
        time = None
        text = self._field(number, value, self.text_key, "text_key")
        text = "" if text is None else text
        if not isinstance(text, str):
            problem = f"a text must be a str; got {text!r:.60} ({type(text).__name__})"
            raise self.error("no text", number, problem)
        fields = {key: self._field(number, value, key, "") for key in self.keys}
        if self.time_key is not None:
            time = self._time(number, self._field(number, value, self.time_key, "time_key"))
        return Record(text, time, fields, self.name, number)

    def _field(self, number: int, row: object, key: str, setting: str) -> Any:
        """Return the value of a key; dots lead into objects."""
        of_text = setting == "text_key"
        if of_text and not isinstance(row, Mapping):
            return row
        values: Mapping[str, Any] = row if isinstance(row, Mapping) else {}
        found: Any = values
        for part in (key,) if key in values else key.split("."):
            if not isinstance(found, Mapping) or part not in found:
                listed = ", ".join(map(repr, list(values)[:10])) or f"{row!r:.60}"
                meant = _similar_keys(key, values, of_text) if setting else []
                remedy = [setting, meant[0]] if meant else []
                reason = "no text" if of_text else f"no {key!r}"
                problem = f"there is no {key!r}; there is: {listed}"
                raise self.error(reason, number, problem, *remedy)
            found = found[part]
        return found

    def _time(self, number: int, value: object) -> datetime | float:
        try:
            if self.time_format is not None and not isinstance(value, date):
                value = datetime.strptime(str(value).strip(), self.time_format)
            return read_time(value)
        except (ArithmeticError, TypeError, ValueError) as error:
            problem = f"a time must be a number or a date such as 2003-05-17; got {value!r:.60}"
            raise self.error("no time", number, problem, *_time_formats(value)) from error


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
    source : path or iterable
        A file or folder; "-" is standard input. An iterable has documents, each a str or a dict
        with `text_key`, or files and folders, each a :class:`pathlib.Path`.
    text_key : str, default="text"
        Key or column of the text. Dots lead into nested objects: "user.name".
    format : {"lines", "documents", "jsonl", "json", "csv", "tsv", "parquet", "xlsx"} or None, \
default=None
        None goes by the suffix of the file, before ".gz", ".bz2", ".xz" or ".zst". A file with
        another suffix has a document on each line; but a ".txt" file in a folder is one document.
        "json" is an array, or JSON on each line. In a table a missing text is "".
    sep : str or None, default=None
        Separator of a table. None is a tab in ".tsv", otherwise a comma or, if the first line has
        no comma, a semicolon, tab or bar.
    encoding : str, default="utf-8"
    on_bad : {"raise", "skip"}, default="raise"
        Whether an unreadable record raises a `ReadingError` or is skipped. Of a record of several
        lines, only the lines in another encoding are skipped.
    skipped : Skipped or None, default=None
        Counter of skipped records: empty lines, bad records, files with other suffixes.

    Examples
    --------
    >>> from streamtopics.datasets import read_texts
    >>> list(read_texts(["one text", {"text": "another", "year": 2024}]))
    ['one text', 'another']
    """
    how = Reading(text_key, None, (), format, sep, None, encoding, on_bad, skipped, True)
    return _read(source, how)


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
    """Read documents lazily, one by one, with the time, other fields, file and line of each.

    Parameters
    ----------
    source, text_key, format, sep, encoding, on_bad, skipped
        As in `read_texts`.
    time_key : str or None, default=None
        Key of the time: a year, an ISO 8601 date, 20240131, or seconds since 1970.
    keys : sequence of str, default=()
        Other keys, required in each record.
    time_format : str or None, default=None
        Form of times for `datetime.strptime`, for example "%d.%m.%Y".

    Examples
    --------
    >>> from streamtopics.datasets import read_records
    >>> row = {"day": "31.01.2024", "section": "sport", "text": "They won"}
    >>> record, = read_records([row], time_key="day", time_format="%d.%m.%Y", keys=["section"])
    >>> record.text, str(record.time), record.fields
    ('They won', '2024-01-31 00:00:00', {'section': 'sport'})
    """
    how = Reading(text_key, time_key, keys, format, sep, time_format, encoding, on_bad, skipped)
    return _read(source, how)


def iter_minibatches(
    source: Any, batch_size: int = 1000, *, vectorizer: Any = None
) -> Iterator[Any]:
    """Cut documents into minibatches, lazily.

    Parameters
    ----------
    source : path, iterable or matrix
        Texts or files as in `read_texts`, or the rows of a matrix or data frame.
    batch_size : int, default=1000
        Number of documents in a minibatch; the last minibatch may have fewer.
    vectorizer : object with `transform` or None, default=None
        Turns texts into counts, for example a fitted
        :class:`~sklearn.feature_extraction.text.CountVectorizer`.

    Returns
    -------
    minibatches : iterator
        Counts, or lists of str without a vectorizer; slices if `source` is a matrix.

    Examples
    --------
    >>> from streamtopics.datasets import iter_minibatches
    >>> list(iter_minibatches(["a stream", "of five", "texts", "in", "batches"], 2))
    [['a stream', 'of five'], ['texts', 'in'], ['batches']]
    """
    check_integer(batch_size=batch_size)
    n = int(batch_size)  # A NumPy integer with few bits would wrap around.
    batches: Iterator[Any]
    if is_matrix(source):
        check_structure(source, "iter_minibatches", "source")
        X = source.tocsr() if is_sparse(source) else source
        batches = (take_rows(X, slice(i, i + n)) for i in range(0, source.shape[0], n))
    else:
        texts = read_texts(source)
        batches = iter(lambda: list(islice(texts, n)), [])
    return batches if vectorizer is None else map(vectorizer.transform, batches)


def is_matrix(source: object) -> bool:
    shape = getattr(source, "shape", None)
    return isinstance(shape, Sized) and len(shape) == 2


def existing(path: str | os.PathLike[str]) -> Path:
    name = os.fspath(path)
    if name != STANDARD_INPUT and not os.path.exists(name):  # noqa: PTH110 - a Path may raise
        remedy = ". Pass texts as a list: [text, ...]" if isinstance(path, str) else ""
        raise FileNotFoundError(f"there is no file or directory {name!r:.100}{remedy}")
    return Path(name)


def kind_of(name: str) -> str:
    path = PurePath(name.lower())
    return PurePath(path.stem).suffix if path.suffix in OPEN else path.suffix


# From a source to the lines of a file: records, or texts if only texts are read


def _read(source: Source, reading: Reading) -> Iterator[Any]:
    check_one_of(("raise", "skip"), on_bad=reading.on_bad)
    check_one_of((*SUFFIXES.values(), "documents"), format=reading.format or "lines")
    if isinstance(source, str | os.PathLike):
        return _read_path(existing(source), reading)
    if isinstance(source, bytes | Mapping) or is_matrix(source):
        raise TypeError(
            "source must be an iterable of texts, such as a list, or a path or an iterable of "
            f"paths; got {type(source).__name__}"
        )
    return _read_items(iter(from_arrow(source)), reading)


def _read_items(items: Iterator[Any], reading: Reading) -> Iterator[Any]:
    for number, item in enumerate(items, start=1):
        if isinstance(item, os.PathLike):
            yield from _read_path(existing(item), reading)
            continue
        is_name = number == 1 and isinstance(item, str) and kind_of(item) in SUFFIXES
        if is_name and os.path.exists(item):  # noqa: PTH110
            raise ValueError(f"{item!r} is a text in an iterable; pass pathlib.Path to read files")
        yield from _read_rows(iter([(number, item)]), reading)


def _read_path(path: Path, reading: Reading) -> Iterator[Any]:
    if str(path) == STANDARD_INPUT or not path.is_dir():
        yield from _read_file(path, reading.of(path))
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
        yield from _read_file(file, own)


def _read_file(path: Path, reading: Reading) -> Iterator[Any]:
    suffix, encoding = path.suffix.lower(), reading.encoding
    if reading.format in BINARY:
        try:
            yield from _read_rows(BINARY[reading.format](path, reading), reading)
        except Exception as error:  # of pyarrow or openpyxl
            if isinstance(error, ImportError | ReadingError) or getattr(error, "errno", None):
                raise
            problem = f"this cannot be read as {reading.format} ({error})"
            reading.bad(ReadingError("broken file", reading.name, problem))
        return
    encoding = "utf-8-sig" if encoding.lower() in ("utf-8", "utf8") else encoding
    how: dict[str, Any] = {"encoding": encoding, "errors": "surrogateescape", "newline": "\n"}
    opener = OPEN.get(suffix, open)
    if suffix == ".zst":
        opener = _needed(ZSTD, "backports.zstd").open
    is_input = str(path) == STANDARD_INPUT
    with io.TextIOWrapper(sys.stdin.buffer, **how) if is_input else opener(path, "rt", **how) as f:
        is_plain = opener is open and path.is_file() and FORMATS[reading.format] is _plain
        if is_plain and reading.only_texts and encoding == "utf-8-sig":
            yield from _plain_texts(f, reading)
            return
        yield from _read_rows(FORMATS[reading.format](_lines(f, reading), reading), reading)


def _read_rows(rows: Rows, reading: Reading) -> Iterator[Any]:
    key, only_texts = reading.text_key, reading.only_texts
    for number, value in rows:
        text = value.get(key) if type(value) is dict else value
        if only_texts and type(text) is str:  # mostly, and fast
            yield text
            continue
        try:
            record = reading.record(number, value)
        except ReadingError as error:
            reading.bad(error)
        else:
            yield record.text if only_texts else record


def _lines(file: Iterable[str], reading: Reading, first: int = 1) -> Lines:
    number = first - 1
    try:
        for number, line in enumerate(file, start=first):
            if line.isascii() or not (bad := INVALID.search(line)):
                yield number, line
                continue
            known = "utf-16" if line[:2] in ("\udcff\udcfe", "\udcfe\udcff") else "cp1252"
            known = "latin-1" if known == reading.encoding else known
            reason, byte = f"not {reading.encoding}", ord(bad[0]) - 0xDC00
            problem = f"byte 0x{byte:02x} at position {bad.start() + 1} is {reason}"
            reading.bad(reading.error(reason, number, problem, "encoding", known))
            if reading.format in ("csv", "tsv") and line.count('"') % 2:
                yield number, '"\n'  # A field of several lines begins or ends all the same.
    except Exception as error:  # of several decompressors
        # A ReadingError is told; an error with a number is of the disk, not of the contents.
        if isinstance(error, ReadingError | MemoryError) or getattr(error, "errno", None):
            raise
        problem = f"cannot be decompressed or decoded ({error}); fetch it again, or rename it"
        reading.bad(reading.error("broken file", number + 1, problem))
        if reading.format == "documents":
            yield 0, ""  # tells that the text is cut


# Formats


def _plain(lines: Lines, reading: Reading) -> Rows:
    for number, line in lines:
        if line.isspace():
            reading.skip("empty lines", reading.place(number))
            continue
        if number == 1 and reading.format is None and line.startswith('{"'):
            problem = f"this looks like JSON: {line!r:.60}; say so, or that it is 'lines'"
            raise reading.error("not named JSON", 1, problem, "format", "jsonl")
        yield number, line.rstrip("\r\n")


def _plain_texts(file: Any, reading: Reading) -> Iterator[str]:
    first, skipped = 1, reading.skipped
    while block := file.readlines(BLOCK if first > 1 else 1):
        whole = "".join(block)
        is_good = first > 1 and (whole.isascii() or not INVALID.search(whole))
        if is_good and (skipped is None or not any(map(str.isspace, block))):
            yield from [line.rstrip("\r\n") for line in block if not line.isspace()]
        else:
            yield from (text for _, text in _plain(_lines(block, reading, first), reading))
        first += len(block)


def _json_lines(lines: Lines, reading: Reading) -> Rows:
    for number, line in _plain(lines, reading):
        try:
            line = line.strip()
            value, end = DECODER.raw_decode(line)  # faster than `json.loads`
            value = value if end == len(line) else json.loads(line)
        except (ValueError, RecursionError) as error:
            reading.bad(reading.error("not JSON", number, f"not JSON ({error}): {line!r:.60}"))
        else:
            yield number, value


def _json(lines: Lines, reading: Reading) -> Rows:
    number, line = next((one for one in lines if not one[1].isspace()), (1, "\n"))
    if not line.lstrip().startswith("["):
        yield from _json_lines(chain([(number, line)], lines), reading)
        return
    try:
        values = json.loads(line + "".join(line for _, line in lines))
    except (ValueError, RecursionError) as error:
        reading.bad(ReadingError("not JSON", reading.name, f"not JSON ({error}): {line!r:.60}"))
    else:
        yield from enumerate(values, start=1)


def _table(lines: Lines, reading: Reading) -> Rows:
    """Read the rows of a table; the first names the columns."""
    head = next(lines, (1, ""))
    lines, common = chain([head], lines), "\t" if reading.format == "tsv" else ","
    sep = reading.sep or next((c for c in f"{common};\t|" if c in head[1]), common)
    begin, names = 0, list[str]()

    def given() -> Iterator[str]:
        nonlocal begin
        for at, line in lines:
            begin = begin or at
            yield line

    csv.field_size_limit(2**27)
    rows = csv.reader(given(), delimiter=sep, strict=True)
    while True:
        begin = 0
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            problem = f"no row of a table ({error}); quotation marks in a field are doubled"
            reading.bad(reading.error("no rows of a table", begin, problem))
            continue
        if not row:
            reading.skip("empty lines", reading.place(begin))
        elif not names:
            names = row
            for other in ";\t|,":
                if len(row) == 1 and other in row[0]:
                    problem = f"there is no {sep!r} between the fields of {row[0]!r:.60}"
                    raise reading.error("no columns", begin, problem, "sep", other)
        elif any(row[len(names) :]):
            problem = f"a row of {len(row)} fields, but the first row has {len(names)}"
            problem += f"; put fields with {sep!r} in them in quotation marks: {row!r:.60}"
            reading.bad(reading.error("rows of more fields", begin, problem))
        else:
            fields = dict(zip(names, row, strict=False))
            if fields.get(reading.text_key, ".") in MISSING:
                fields[reading.text_key] = ""
            yield begin, fields


def _time_formats(value: object) -> list[str]:
    for form in TIME_FORMATS:
        with suppress(ValueError):
            datetime.strptime(str(value).strip(), form)
            return ["time_format", form]
    return ["time_format", TIME_FORMATS[0]]


def _similar_keys(key: str, values: Mapping[str, Any], of_text: bool) -> list[str]:
    """Keys possibly meant: nested, spelled alike, or with long texts."""
    lower = {str(name).lower(): str(name) for name in reversed(list(values))}
    inner = [name for name in values if isinstance(values[name], Mapping)]
    found = [f"{name}.{key}" for name in inner if key in values[name]]
    found += [lower[name] for name in get_close_matches(key.lower(), lower, n=1)]
    texts = [name for name in values if of_text and isinstance(values[name], str)]
    return found + sorted(texts, key=lambda name: -len(values[name]))


def _needed(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(f"files of this kind need {package}: pip install {package}") from error


def _documents(lines: Lines, reading: Reading) -> Rows:
    found = dict(lines)
    if 0 not in found:
        yield 1, "".join(found.values())


def _arrow_rows(path: Path, reading: Reading) -> Rows:
    with _needed("pyarrow.parquet", "pyarrow").ParquetFile(path) as file:
        wanted = {key for key in (reading.text_key, reading.time_key, *reading.keys) if key}
        names = wanted if wanted <= set(file.schema_arrow.names) else file.schema_arrow.names
        batches = file.iter_batches(1000, columns=list(names))
        yield from enumerate((row for batch in batches for row in batch.to_pylist()), start=1)


def _excel_rows(path: Path, reading: Reading) -> Rows:
    """Read the first sheet of a workbook; the first row names the columns."""
    openpyxl, names = _needed("openpyxl", "openpyxl"), list[str]()
    with closing(openpyxl.load_workbook(path, read_only=True, data_only=True)) as book:
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # The stored dimensions may be wrong.
        for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
            if all(cell is None for cell in cells):
                reading.skip("empty lines", reading.place(number))
            elif not names:
                names = ["" if cell is None else str(cell) for cell in cells]
            else:
                row = {name: None for name in names if name} | dict(zip(names, cells, strict=False))
                if isinstance(row.get(reading.text_key), int | float):
                    row[reading.text_key] = str(row[reading.text_key])
                yield number, row


DECODER = json.JSONDecoder()
BINARY = {"parquet": _arrow_rows, "xlsx": _excel_rows}
FORMATS = {
    None: _plain, "lines": _plain, "documents": _documents, "jsonl": _json_lines, "json": _json,
    "csv": _table, "tsv": _table,
}  # fmt: skip


def record_of_line(line: str, reading: Reading, number: int) -> Record | None:
    """Return the record of a line, None if skipped."""
    rows = FORMATS[reading.format](_lines([line], reading, number), reading)
    return next(_read_rows(rows, reading), None)
