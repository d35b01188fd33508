# SPDX-License-Identifier: BSD-3-Clause
"""Texts and records of files, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from streamtopics.streams.reading.problems import Skipped
from streamtopics.streams.reading.records import Record, records_of, texts_of
from streamtopics.streams.reading.settings import MAX_LINE, OnBad, how_of
from streamtopics.streams.reading.sources import found_in


def read_texts(
    source: Any,
    *,
    text_key: str = "text",
    format: str | None = None,
    encoding: str = "utf-8",
    max_line: int = MAX_LINE,
    on_bad: OnBad = "raise",
    skipped: Skipped | None = None,
) -> Iterator[str]:
    """Read documents one by one, lazily.

    Parameters
    ----------
    source : iterable of str, path or iterable of paths
        In an iterable a str or an object with `text_key` is a document and an
        :class:`os.PathLike`, such as :class:`pathlib.Path`, a file or directory. A str
        by itself is a path too, and the path "-" is standard input. Files may be compressed, with
        a further suffix ".gz", ".bz2", ".xz" or ".zst" (the last one before Python 3.14 with
        ``backports.zstd``). The suffix says the format:

        - ".jsonl" and ".ndjson" have JSON on each line: an object with `text_key`, or a string.
          Empty lines are skipped, empty texts are not, and null is one.
        - ".json" may have the same, or an array of such values, over any number of lines.
        - ".csv" and ".tsv" are tables with the names of the columns in the first row; the
          texts are in the column `text_key`. Fields are separated by commas or tabs; those in
          quotation marks may have more than one line. Empty rows are skipped. Missing texts, which
          are "NULL", "NaN", "NA", "None" and the like, as in pandas, are read as empty ones.
        - ".parquet" are tables too, which ``pyarrow`` reads.
        - Any other file is plain text, with one document on each line but empty ones. If its
          suffix is not ".txt" and the first line is a JSON object, `format` must say that.
        - Of a directory and those in it, the files with one of the suffixes above or ".txt" are
          read, sorted by name in each, but for hidden ones. Here a ".txt" file as a whole is one
          document, even if it is empty. Links to directories are not followed.
    text_key : str, default="text"
        Where the text is in an object, or its column in a table.
    format : {"lines", "documents", "jsonl", "json", "csv", "tsv", "parquet"} or None, default=None
        The format of all files, whatever their names are. "lines" and "documents" are plain text,
        with a document on each line, or one in each file. None goes by suffixes, and standard
        input is lines.
    encoding : str, default="utf-8"
        Encoding of the files, in which lines end as in ASCII, unlike UTF-16 and UTF-32. A
        byte order mark is removed.
    max_line : int, default=16777216
        The most bytes that a line may have after decompression, or a file that is one document,
        or an item of a JSON array or a row of a table over all its lines, characters there (a row
        always may have 131,072). It bounds the memory that a broken or hostile file can take, and
        is far above any text that is one document. Rows of a Parquet file are not limited.
    on_bad : {"raise", "skip"}, default="raise"
        What is done about a record that cannot be read, or the rest of a file that is broken.
    skipped : Skipped or None, default=None
        Counts what was left out, such as empty lines, bad records, and files of a directory
        that have none of the suffixes.

    Returns
    -------
    texts : iterator of str
        The documents, without the ends of their lines, but for those within a field.

    Raises
    ------
    FileNotFoundError
        If a path does not exist, found before anything is read but for iterators.
    ImportError
        If a file needs a package that is not installed.
    LookupError
        If the encoding is not known.
    TypeError
        If the source is none of the above.
    ReadingError
        A ValueError. If a file cannot be decompressed or decoded, a line is not JSON or too long,
        an object or a table has no `text_key`, a row has another number of fields than the
        first one, or a text is not a string; with the file and the line. Also if a directory
        has nothing to read.
    ValueError
        If an argument is none of the above, or the first text is the name of a file.

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
    how = how_of(
        text_key=text_key, time_key=None, keys=(), format=format, encoding=encoding,
        max_line=max_line, on_bad=on_bad, skipped=skipped,
    )  # fmt: skip
    return texts_of(found_in(source, how), how)


def read_records(
    source: Any,
    *,
    text_key: str = "text",
    time_key: str | None = None,
    keys: Sequence[str] = (),
    format: str | None = None,
    encoding: str = "utf-8",
    max_line: int = MAX_LINE,
    on_bad: OnBad = "raise",
    skipped: Skipped | None = None,
) -> Iterator[Record]:
    """Read documents with their times, other fields and places, one by one, lazily.

    Parameters
    ----------
    source, text_key, format, encoding, max_line, on_bad, skipped
        As in `read_texts`.
    time_key : str or None, default=None
        Where the time is in an object or a table. A number, or a text that is one, is an int or
        a float, such as a year; but 20240131 is a datetime, and so are seconds since 1970 or
        thousandths of them, from 1973 on. A date as of ISO 8601 is a datetime in UTC, without a
        zone; any other text is refused. All must be of one kind.
    keys : sequence of str, default=()
        Other fields or columns to read, such as a label. Each record must have them, although
        they may be null or empty.

    Returns
    -------
    records : iterator of Record
        Each with text, time (None without `time_key`), fields (a dict of `keys`), source (the
        path) and line.

    Raises
    ------
    ReadingError
        A ValueError. As in `read_texts`; also if a time or one of `keys` is missing, as it is in
        plain text, a time is not finite, or of another kind than the first one.

    See Also
    --------
    read_texts : The documents alone, and what else may be raised.
    follow : The records of a file that grows.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from streamtopics.datasets import read_records
    >>> path = Path(tempfile.mkdtemp(), "news.csv")
    >>> _ = path.write_text("day,section,text\\n2024-01-31,sport,They won\\n")
    >>> record, = read_records(path, time_key="day", keys=["section"])
    >>> record.text, record.fields, record.line
    ('They won', {'section': 'sport'}, 2)
    >>> record.time
    datetime.datetime(2024, 1, 31, 0, 0)
    """
    how = how_of(
        text_key=text_key, time_key=time_key, keys=keys, format=format, encoding=encoding,
        max_line=max_line, on_bad=on_bad, skipped=skipped,
    )  # fmt: skip
    return records_of(found_in(source, how), how)
