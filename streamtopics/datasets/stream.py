# SPDX-License-Identifier: BSD-3-Clause
"""Minibatches from texts, files and matrices, read one at a time when they are asked for."""

from __future__ import annotations

import csv
import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from numbers import Integral
from pathlib import Path, PurePath
from typing import Any

from sklearn.utils import check_scalar

from streamtopics.structure import check_structure, is_sparse

TEXT_SUFFIXES = frozenset({".txt"})
JSON_SUFFIXES = frozenset({".json", ".jsonl", ".ndjson"})
# Columns of tables by suffix: how the csv module calls what is between them, and how people do.
TABLES = {".csv": ("excel", "commas"), ".tsv": ("excel-tab", "tabs")}
# Files that are read of a directory.
KNOWN_SUFFIXES = frozenset({*TEXT_SUFFIXES, *JSON_SUFFIXES, *TABLES})
SHOWN = 60


def iter_minibatches(
    source: Any,
    batch_size: int = 1000,
    *,
    vectorizer: Any = None,
    text_key: str = "text",
    encoding: str = "utf-8",
) -> Iterator[Any]:
    """Cut a source of documents into minibatches, lazily.

    Parameters
    ----------
    source : iterable of str, path, iterable of paths or matrix
        Texts or files of texts as in `read_texts`, or a matrix (dense, sparse or a
        data frame) of shape (n_documents, n_features), of which slices of rows are
        taken.
    batch_size : int, default=1000
        Number of documents in a minibatch; the last one may have fewer.
    vectorizer : object with `transform` or None, default=None
        Turns a list of texts into counts, for example a fitted
        :class:`~sklearn.feature_extraction.text.CountVectorizer`, or a
        ``HashingVectorizer(alternate_sign=False, norm=None)``. None leaves texts as they are.
    text_key, encoding : str, default="text" and "utf-8"
        As in `read_texts`.

    Returns
    -------
    minibatches : iterator
        Of what `vectorizer.transform` returns; without a vectorizer, of lists of str
        or of slices of the matrix. Nothing comes from a source without documents.

    Raises
    ------
    FileNotFoundError, TypeError, ValueError
        If `batch_size` is not a positive integer, a matrix comes together with a vectorizer, or
        the arrays of a sparse one do not fit; and as `read_texts`, also when a document is reached.

    See Also
    --------
    read_texts : The documents one by one.

    Examples
    --------
    >>> from streamtopics.datasets import iter_minibatches
    >>> list(iter_minibatches(["a stream", "of five", "texts", "in", "batches"], 2))
    [['a stream', 'of five'], ['texts', 'in'], ['batches']]

    One pass over a stream of any length, from a list, a generator or files:

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from streamtopics import SVBLDA
    >>> texts = ["red green", "blue red", "green green"]
    >>> vectorizer = CountVectorizer(vocabulary=["blue", "green", "red"])
    >>> model = SVBLDA(n_components=2, random_state=0)
    >>> for X in iter_minibatches(texts, 2, vectorizer=vectorizer):
    ...     model = model.partial_fit(X)
    >>> model.n_documents_seen_
    3
    """
    check_scalar(batch_size, "batch_size", Integral, min_val=1)
    if not _is_matrix(source):
        texts = read_texts(source, text_key=text_key, encoding=encoding)
        batches = _batches(texts, batch_size)
        return batches if vectorizer is None else map(vectorizer.transform, batches)
    if vectorizer is not None:
        raise ValueError(
            f"a vectorizer turns texts into counts, but source is a matrix of shape "
            f"{source.shape}; pass vectorizer=None"
        )
    check_structure(source, "iter_minibatches", "source")
    return _row_slices(source, batch_size)


def read_texts(source: Any, *, text_key: str = "text", encoding: str = "utf-8") -> Iterator[str]:
    """Read documents one by one, lazily.

    Parameters
    ----------
    source : iterable of str, path or iterable of paths
        In an iterable a str or an object with `text_key` is a document and an
        :class:`os.PathLike`, such as :class:`pathlib.Path`, a file or directory. A str
        by itself is a path too. Files may be compressed by gzip, with a further
        suffix ".gz":

        - ".jsonl", ".ndjson" and ".json" have JSON on each line: an object with
          `text_key`, or a string. Empty lines are skipped, empty texts are not.
        - ".csv" and ".tsv" are tables with the names of the columns in the first row; the
          texts are in the column `text_key`. Fields are separated by commas or tabs; those in
          quotation marks may have more than one line. Empty rows are skipped, empty texts are
          not.
        - Any other file is plain text, with one document on each line but empty ones.
        - Of a directory, the files with one of the suffixes above or ".txt" are read, sorted by
          name, but for hidden ones. Here a ".txt" file as a whole is one document, even if it
          is empty. Subdirectories are not read.
    text_key : str, default="text"
        Where the text is in an object, or its column in a table.
    encoding : str, default="utf-8"
        Encoding of the files, in which lines end as in ASCII, unlike UTF-16 and UTF-32. A
        byte order mark is removed.

    Returns
    -------
    texts : iterator of str
        The documents, without the ends of their lines, but for those within a field.

    Raises
    ------
    FileNotFoundError
        If a path does not exist, found before anything is read but for iterators.
    LookupError
        If the encoding is not known.
    TypeError
        If the source is none of the above.
    ValueError
        If a file cannot be decompressed or decoded, a line is not JSON, an object or a
        table has no `text_key`, a row has fewer fields than that, or a text is not a string;
        with the file and the line. Also if a directory has nothing to read, or the first text
        is the name of a file.

    See Also
    --------
    iter_minibatches : The documents in minibatches.

    Examples
    --------
    >>> from streamtopics.datasets import read_texts
    >>> list(read_texts(["one text", {"text": "another", "year": 2024}]))
    ['one text', 'another']
    """
    _check_encoding(encoding)
    if isinstance(source, str | os.PathLike):
        return _path_texts(_existing(source), text_key, encoding)
    if isinstance(source, bytes | Mapping) or _is_matrix(source) or not hasattr(source, "__iter__"):
        raise TypeError(
            "source must be an iterable of texts, such as a list, or a path or an iterable of "
            f"paths; got {type(source).__name__}"
        )
    if isinstance(source, list | tuple):
        for item in source:
            if isinstance(item, os.PathLike):
                _existing(item)
    return _item_texts(source, text_key, encoding)


# Batches


def _is_matrix(source: Any) -> bool:
    return len(getattr(source, "shape", ())) == 2


def _row_slices(matrix: Any, batch_size: int) -> Iterator[Any]:
    rows = matrix.tocsr() if is_sparse(matrix) else getattr(matrix, "iloc", matrix)
    for start in range(0, matrix.shape[0], batch_size):
        yield rows[start : start + batch_size]


def _batches(texts: Iterator[str], batch_size: int) -> Iterator[list[str]]:
    while batch := list(islice(texts, batch_size)):
        yield batch


# Sources


def _item_texts(source: Iterable[Any], text_key: str, encoding: str) -> Iterator[str]:
    for number, item in enumerate(source, start=1):
        if isinstance(item, os.PathLike):
            yield from _path_texts(_existing(item), text_key, encoding)
            continue
        text = _text(item, text_key, None, number)
        if number == 1 and _kind(text) in KNOWN_SUFFIXES and _exists(text):
            raise ValueError(
                f"the first text of source is the name of a file, {text!r}; in an iterable a str "
                "is a text: pass pathlib.Path objects to read files"
            )
        yield text


def _path_texts(path: Path, text_key: str, encoding: str) -> Iterator[str]:
    if not path.is_dir():
        yield from _file_texts(path, text_key, encoding)
        return
    for file in _files_of(path):
        if _kind(file.name) in TEXT_SUFFIXES:
            yield "".join(_lines(file, encoding))
        else:
            yield from _file_texts(file, text_key, encoding)


def _files_of(folder: Path) -> list[Path]:
    """The files to read of a directory, sorted by name."""
    visible = (path for path in folder.iterdir() if not path.name.startswith("."))
    files = sorted(
        path for path in visible if _kind(path.name) in KNOWN_SUFFIXES and path.is_file()
    )
    if not files:
        raise ValueError(
            f"the directory {folder} has no files to read: none ends in "
            f"{', '.join(sorted(KNOWN_SUFFIXES))}, with or without .gz. Subdirectories are not "
            "entered; pass a list of their paths"
        )
    return files


def _file_texts(path: Path, text_key: str, encoding: str) -> Iterator[str]:
    """The documents in the lines of a file, or in a column of a table."""
    kind = _kind(path.name)
    if kind in TABLES:
        yield from _column_texts(path, text_key, encoding, *TABLES[kind])
    elif kind in JSON_SUFFIXES:
        for number, line in enumerate(_lines(path, encoding), start=1):
            if line.strip():
                yield _text(_json(line, path, number), text_key, path, number)
    else:
        for line in _lines(path, encoding):
            if line.strip():
                yield line.rstrip("\r\n")


def _column_texts(
    path: Path, text_key: str, encoding: str, dialect: str, between: str
) -> Iterator[str]:
    """The documents in a column of a table, whose first row has the names of the columns."""
    rows = csv.reader(_lines(path, encoding), dialect, strict=True)
    place, number = None, 1
    try:
        for row in rows:
            if row and place is None:
                place = _place_of(text_key, row, path, between)
            elif row and place is not None:
                if place >= len(row):
                    raise ValueError(
                        f"{_where(path, number)}: a row of {len(row)} fields has none in the "
                        f"column {text_key!r}, number {place + 1}: {_shown(row)}. Complete it, "
                        "or leave it out"
                    )
                yield row[place]
            number = rows.line_num + 1
    except csv.Error as error:
        raise ValueError(
            f"{_where(path, number)}: no row of a table ({error}). Fields are separated by "
            f"{between}, and those with quotation marks, {between} or ends of lines in them are in "
            "quotation marks, which are doubled within; for longer fields call "
            "csv.field_size_limit, or convert the file to JSON lines. If it has a plain text on "
            "each line, it should end in .txt"
        ) from error


def _place_of(text_key: str, names: list[str], path: Path, between: str) -> int:
    if text_key not in names:
        shown = ", ".join(_shown(name) for name in names[:10])
        raise ValueError(
            f"{path}: no column {text_key!r}; the columns of the first row, between {between}, "
            f"are: {shown}. Pass the right one as text_key; if the file has a plain text on each "
            "line, it should end in .txt"
        )
    return names.index(text_key)


def _existing(path: str | os.PathLike[str]) -> Path:
    name = os.fspath(path)
    if _exists(name):
        return Path(name)
    if isinstance(path, str):
        raise FileNotFoundError(
            f"source is a str, so it must be the path of a file or directory, but there is none "
            f"with this name: {_shown(path)}. Pass texts as a list: [text, ...]"
        )
    raise FileNotFoundError(f"there is no file or directory {name!r}")


def _exists(name: str) -> bool:
    try:
        return name != "" and Path(name).exists()
    except OSError:  # for example a text that is too long to be a path
        return False


def _kind(name: str) -> str:
    """The suffix of a file name, without that of gzip."""
    return PurePath(name.lower().removesuffix(".gz")).suffix


# Lines


def _lines(path: Path, encoding: str) -> Iterator[str]:
    """Each line of a file, with its end."""
    is_gzip = path.name.lower().endswith(".gz")
    try:
        with gzip.open(path) if is_gzip else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    text = line.decode(encoding)
                except UnicodeDecodeError as error:
                    raise ValueError(
                        _undecoded(error, line, encoding, _where(path, number))
                    ) from error
                yield text.removeprefix("\ufeff") if number == 1 else text
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path} ends in .gz but cannot be decompressed ({error}); it may be incomplete, or "
            "not be compressed by gzip: fetch it again, or rename it"
        ) from error


def _where(path: Path | None, number: int) -> str:
    return f"item {number} of source" if path is None else f"{path}, line {number}"


def _undecoded(error: UnicodeDecodeError, line: bytes, encoding: str, where: str) -> str:
    return (
        f"{where}: byte 0x{line[error.start]:02x} at position {error.start + 1} of {_shown(line)} "
        f"is not {encoding}; pass the encoding of the file, for example encoding='latin-1' "
        "(on the command line --encoding latin-1), or convert it"
    )


def _check_encoding(encoding: str) -> None:
    try:
        ends_alike = b"\n".decode(encoding) == "\n"
    except UnicodeDecodeError:
        ends_alike = False
    if not ends_alike:
        raise ValueError(
            f"files in the encoding {encoding!r} cannot be read line by line; convert them to UTF-8"
        )


def _json(line: str, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(
            f"{_where(path, number)}: not JSON ({error}): {_shown(line)}. Each line "
            "must be one JSON object or string; a file of plain text should end in .txt"
        ) from error


def _text(value: Any, text_key: str, path: Path | None, number: int) -> str:
    """A document itself, or the one in an object: a line of a file, or an item of the source."""
    if isinstance(value, Mapping):
        if text_key not in value:
            keys = ", ".join(map(repr, islice(value, 10))) or "none"
            raise ValueError(
                f"{_where(path, number)}: no text under the key {text_key!r}; the keys are: "
                f"{keys}. Pass the right one as text_key"
            )
        value = value[text_key]
    if not isinstance(value, str):
        remedy = "Convert it, or leave it out"
        if isinstance(value, list):
            remedy = "If these are words join them, if they are texts give each one by itself"
        raise ValueError(
            f"{_where(path, number)}: a text must be a str; got {_shown(value)} "
            f"({type(value).__name__}). {remedy}"
        )
    return value


def _shown(value: Any) -> str:
    """A short form of what came, for messages."""
    shown = repr(value[: SHOWN + 1] if isinstance(value, str | bytes) else value)
    return shown if len(shown) <= SHOWN else shown[:SHOWN] + "..."
