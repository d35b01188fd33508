# SPDX-License-Identifier: BSD-3-Clause
"""Records of each format and compression: texts, times, fields and places, in order."""

import bz2
import gzip
import io
import json
import lzma
import os
import pickle
import sys
from datetime import date, datetime
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from streamtopics.datasets import ReadingError, Record, Skipped, read_records, read_texts

ROWS = [
    {"text": "red sea", "day": "2024-01-31", "tag": "a"},
    {"text": "blue\nsky, high", "day": "2024-02-01", "tag": "b"},
    {"text": "été \U0001f600", "day": "2024-02-01T10:30:00", "tag": ""},
]
TEXTS = [row["text"] for row in ROWS]
TIMES = [datetime(2024, 1, 31), datetime(2024, 2, 1), datetime(2024, 2, 1, 10, 30)]


def zstd():
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    return pytest.skip("needs Python 3.14 or backports.zstd")


COMPRESS = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: zstd().compress(content),
}


def csv_of(rows, comma=","):
    lines = [comma.join(("day", "text", "tag"))]
    lines += [comma.join((r["day"], '"' + r["text"] + '"', r["tag"])) for r in rows]
    return "\r\n".join(lines) + "\r\n"


CONTENTS = {
    "a.jsonl": ("\n".join(map(json.dumps, ROWS)), [1, 2, 3]),
    "a.ndjson": ("\n\n".join(map(json.dumps, ROWS)) + "\n", [1, 3, 5]),
    "lines.json": ("\n".join(map(json.dumps, ROWS)), [1, 2, 3]),
    "array.json": (json.dumps(ROWS), [1, 1, 1]),
    "pretty.json": ("\ufeff\n" + json.dumps(ROWS, indent=2, ensure_ascii=False), [3, 8, 13]),
    "a.csv": (csv_of(ROWS), [2, 3, 5]),
    "a.tsv": (csv_of(ROWS, "\t"), [2, 3, 5]),
}


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("name", CONTENTS)
def test_formats_and_compressions(tmp_path, name, suffix):
    content, numbers = CONTENTS[name]
    path = tmp_path / (name + suffix)
    path.write_bytes(COMPRESS[suffix](content.encode()))
    tags = [{"tag": row["tag"]} for row in ROWS]
    places = zip(TEXTS, TIMES, tags, [str(path)] * 3, numbers, strict=True)
    assert list(read_records(path, time_key="day", keys=["tag"])) == [Record(*p) for p in places]
    assert list(read_texts(str(path))) == TEXTS


@pytest.mark.parametrize("max_line", [28, 40, 64, 2**24])
@pytest.mark.parametrize("name", CONTENTS)
def test_where_chunks_end_makes_no_difference(tmp_path, name, max_line):
    """No more than a line is read at once, so small limits cut the file in many places."""
    content = CONTENTS[name][0].replace("2024-02-01T10:30:00", "2024-03-01")
    longest = max(map(len, content.encode().split(b"\n")))
    longest = 90 if name == "pretty.json" else longest  # a value
    path = tmp_path / name
    path.write_text(content, encoding="utf-8", newline="")
    records = list(read_records(path, time_key="day", max_line=max(max_line, longest)))
    assert [(r.text, r.line) for r in records] == list(zip(TEXTS, CONTENTS[name][1], strict=True))


def test_parquet(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    times = arrow.array([10**18 + 1, 2 * 10**18, 3 * 10**18], arrow.timestamp("ns"))
    table = arrow.table({"text": TEXTS, "tag": [1, None, 3], "when": times, "other": [0, 0, 0]})
    parquet.write_table(table, path, row_group_size=2)
    records = list(read_records(path, time_key="when", keys=["tag"]))
    assert [(r.text, r.fields["tag"], r.line) for r in records] == [
        (TEXTS[0], 1, 1), (TEXTS[1], None, 2), (TEXTS[2], 3, 3),
    ]  # fmt: skip
    assert records[0].time == datetime(2001, 9, 9, 1, 46, 40)
    assert list(read_texts(tmp_path)) == TEXTS
    with pytest.raises(ReadingError, match="no column 'body'; the columns are: 'text', 'tag'"):
        list(read_texts(path, text_key="body"))
    with pytest.raises(ReadingError, match=r"parquet, row 1: a text must be a str; got 1 \(int\)"):
        list(read_texts(path, text_key="tag"))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ReadingError, match="cannot be read as Parquet"):
        list(read_texts(path))
    with pytest.raises(ReadingError, match="must be a file"):
        list(read_texts("-", format="parquet"))


@pytest.mark.parametrize(
    ("name", "packages", "remedy"),
    [("a.parquet", ["pyarrow", "pyarrow.parquet"], "pip install pyarrow"),
     ("a.jsonl.zst", ["compression.zstd", "backports.zstd"], "pip install backports.zstd")],
)  # fmt: skip
def test_packages_that_are_not_installed(monkeypatch, tmp_path, name, packages, remedy):
    for package in packages:
        monkeypatch.setitem(sys.modules, package, None)
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(ImportError, match=remedy):
        list(read_texts(tmp_path / name))


# Standard input, and formats that are said


def stand_in(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize("source", ["-", Path("-"), [Path("-")]])
def test_standard_input(monkeypatch, source):
    stand_in(monkeypatch, b"one\n\ntwo")
    assert [tuple(r) for r in read_records(source)] == [
        ("one", None, {}, "standard input", 1),
        ("two", None, {}, "standard input", 3),
    ]
    assert not sys.stdin.closed


def test_the_format_of_standard_input_is_said(monkeypatch):
    stand_in(monkeypatch, b'{"text": "one"}\n')
    with pytest.raises(ReadingError, match=r"this is a JSON object.*pass format='jsonl'"):
        list(read_texts("-"))
    stand_in(monkeypatch, b'{"text": "one"}\n')
    assert list(read_texts("-", format="jsonl")) == ["one"]
    stand_in(monkeypatch, b'{"text": "one"}\n')
    assert list(read_texts("-", format="lines")) == ['{"text": "one"}']
    stand_in(monkeypatch, b'[{"text": "one"}, "two"]')
    assert list(read_texts("-", format="json")) == ["one", "two"]
    stand_in(monkeypatch, b"n,text\n1,one\n")
    assert list(read_texts("-", format="csv")) == ["one"]


def test_standard_input_that_is_closed(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ValueError, match="standard input, '-', is closed"):
        list(read_texts("-"))


def test_unknown_suffixes_are_lines_unless_they_are_json(tmp_path):
    path = tmp_path / "feed.log"
    path.write_text("{not json\n{}\n")
    assert list(read_texts(path)) == ["{not json", "{}"]
    path.write_text('\n{"text": "a"}\n')
    with pytest.raises(ReadingError, match=r"feed\.log, line 2: this is a JSON object"):
        list(read_texts(path))


# Folders


def test_folders_within_folders(tmp_path):
    for name, content in {
        "b/z.txt": "whole\nfile", "b/a.jsonl": '"in b"', "a.txt": "first", "c.csv": "text\nlast\n",
        "b.md": "not read", "b/c/d/deep.txt.gz": "deep", "b/.hidden.txt": "", ".git/x.txt": "",
        "none": "",
    }.items():  # fmt: skip
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(COMPRESS[".gz" if name.endswith("gz") else ""](content.encode()))
    (tmp_path / "loop").symlink_to(tmp_path)
    skipped = Skipped()
    read = list(read_records(tmp_path, skipped=skipped))
    assert [r.text for r in read] == ["first", "in b", "deep", "whole\nfile", "last"]
    assert read[2].source == str(tmp_path / "b" / "c" / "d" / "deep.txt.gz")
    assert skipped.counts == {
        "hidden files": 2, "files that end in .md": 1, "links to folders": 1,
        "files without suffix": 1,
    }  # fmt: skip
    assert skipped.total == 5
    assert skipped.first["files that end in .md"] == str(tmp_path / "b.md")
    assert f"1 files that end in .md (first: {tmp_path / 'b.md'})" in str(skipped)
    assert str(Skipped()) == "nothing was skipped"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_what_is_no_file_of_a_folder(tmp_path):
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / "b.txt").symlink_to("none.txt")
    (tmp_path / "c.txt").symlink_to("c.txt")
    os.mkfifo(tmp_path / "d.txt")
    skipped = Skipped()
    assert list(read_texts(tmp_path, skipped=skipped)) == ["a"]
    assert skipped.counts == {"links that lead nowhere": 2, "pipes, sockets or devices": 1}


def test_a_format_reads_all_files_of_a_folder(tmp_path):
    (tmp_path / "a.md").write_text("one\ntwo")
    with pytest.raises(ReadingError, match=r"which end in \.md.*pass format='documents'"):
        list(read_texts(tmp_path))
    assert list(read_texts(tmp_path, format="documents")) == ["one\ntwo"]
    assert list(read_texts(tmp_path, format="lines")) == ["one", "two"]


# Times


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-01-31", datetime(2024, 1, 31)),
        ("2024-01-31T10:00:00Z", datetime(2024, 1, 31, 10)),
        (" 2024-01-31 ", datetime(2024, 1, 31)),
        (date(2024, 1, 31), datetime(2024, 1, 31)),
        (datetime(2024, 1, 31, 5), datetime(2024, 1, 31, 5)),
        (1999, 1999),
        ("1999", 1999),
        ("1999.0", 1999.0),
        (1999.0, 1999.0),
        (2**64, 2**64),
        ("20240131", datetime(2024, 1, 31)),
        (20240131, datetime(2024, 1, 31)),
        ("20241301", 20241301),
        # Of 13 digits fromisoformat would make a day of the year 1712.
        ("1712121200000", datetime(2024, 4, 3, 5, 13, 20)),
        (1712121200, datetime(2024, 4, 3, 5, 13, 20)),
        ("2024/1/31", datetime(2024, 1, 31)),
        ("2024-01", datetime(2024, 1, 1)),
        (1.5, 1.5),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.datetime64("2024-01-31T05"), datetime(2024, 1, 31, 5)),
        (np.datetime64(10**18, "ns"), datetime(2001, 9, 9, 1, 46, 40)),
    ],
)
def test_times(value, expected):
    (record,) = read_records([{"text": "a", "t": value}], time_key="t")
    assert record.time == expected
    assert type(record.time) is type(expected)


NO_TIMES = [None, "", True, [1], "nan", float("inf"), "1e999", 10**400]
NO_TIMES += ["Q3 of 2020", "05/06/2024", "2024_01", "1_000.5", "2024-13"]
NO_TIMES += [pd.NaT, np.datetime64("NaT"), np.datetime64("20000-01-01"), np.timedelta64(1, "s")]


@pytest.mark.parametrize("value", NO_TIMES)
def test_no_times(value):
    with pytest.raises(ReadingError, match="item 1 of source: a time must be"):
        list(read_records([{"text": "a", "t": value}], time_key="t"))


@pytest.mark.parametrize(
    ("first", "second", "kinds"),
    [
        ("2024-01-31", 5, "a number.*is a date"),
        (5, "2024-05", "a date.*is a number"),
    ],
)
def test_times_of_two_kinds(first, second, kinds):
    items = [{"text": "a", "t": first}, {"text": "b", "t": second}, {"text": "c", "t": first}]
    with pytest.raises(ReadingError, match=f"item 2 of source: the time .* is {kinds}.*one way"):
        list(read_records(items, time_key="t"))
    skipped = Skipped()
    kept = read_records(items, time_key="t", on_bad="skip", skipped=skipped)
    assert [r.text for r in kept] == ["a", "c"]
    assert skipped.counts == {"another kind of time": 1}


# Fields


def test_fields_that_are_not_there(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "tag": null}\n{"text": "b"}\n"c"\n{"tag": 1}\n')
    records = read_records(path, keys=["tag"])
    assert next(records).fields == {"tag": None}
    with pytest.raises(ReadingError, match=r"line 2: nothing under the key 'tag'.*are: 'text'$"):
        next(records)
    skipped = Skipped()
    assert len(list(read_records(path, keys=["tag"], on_bad="skip", skipped=skipped))) == 1
    assert skipped.counts == {"no 'tag'": 2, "no text": 1}
    assert skipped.first == {"no 'tag'": f"{path}, line 2", "no text": f"{path}, line 4"}
    with pytest.raises(ReadingError, match="item 1 of source: a text by itself has no 'tag': 'c'"):
        list(read_records(["c"], keys=["tag"]))


@pytest.mark.parametrize("name", ["a.txt", "a.log"])
def test_plain_text_has_no_fields(tmp_path, name):
    (tmp_path / name).write_text("a\n")
    for source in (tmp_path / name, tmp_path):
        with pytest.raises(ReadingError, match=r"no 'day' beside the text|no files to read"):
            list(read_records(source, time_key="day", on_bad="skip"))


def test_columns_by_name(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,day,text\na,1,b\n")
    with pytest.raises(ReadingError, match=r"more than one column 'text'.*another name") as error:
        list(read_texts(path))
    assert "text-key" not in error.value.for_command_line()
    assert list(read_texts(path, text_key="day")) == ["1"]
    with pytest.raises(ReadingError, match="no column 'tag'"):
        list(read_records(path, text_key="day", keys=["tag"], on_bad="skip"))


def test_parquet_columns_of_one_name(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = arrow.table([["a"], ["b"], ["c"]], names=["text", "day", "text"])
    parquet.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(ReadingError, match=r"more than one column 'text'.*another name") as error:
        list(read_texts(tmp_path / "a.parquet"))
    assert "text-key" not in error.value.for_command_line()
    assert list(read_texts(tmp_path / "a.parquet", text_key="day")) == ["b"]


# Arguments, and errors in the words of who reads them


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"format": "xml"}, "format must be None or one of lines, documents, jsonl.*got 'xml'"),
        ({"max_line": 0}, "max_line must be at least 1; got 0"),
        ({"on_bad": "ignore"}, "on_bad must be one of 'raise', 'skip'; got 'ignore'"),
    ],
)
def test_arguments_are_checked_at_once(arguments, message):
    for read in (read_texts, read_records):
        with pytest.raises(ValueError, match=message):
            read(["a"], **arguments)


def test_keys_are_a_list_and_lines_have_whole_numbers_of_bytes():
    with pytest.raises(TypeError, match=r"max_line must be an integer; got 1\.5"):
        read_texts(["a"], max_line=1.5)
    with pytest.raises(TypeError, match=r"keys must be a list.*pass \['tag'\]"):
        read_records(["a"], keys="tag")


def test_a_limit_of_few_bits_does_not_wrap_around(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("x" * 101)
    with pytest.raises(ReadingError, match="max_line=400"):
        list(read_texts(path, max_line=np.int8(100)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("text_key", ["a"]), ("text_key", None), ("time_key", 5),
        ("keys", ["a", 1]), ("keys", (name for name in "ab")), ("encoding", None),
    ],
)  # fmt: skip
def test_names_are_text(name, value):
    with pytest.raises(TypeError, match=f"^{name} must be"):
        read_records(["a"], **{name: value})


@pytest.mark.parametrize(
    "encoding", ["undefined", "punycode", "a\0b", "\ud800", "xyz", "", "rot13"]
)
def test_encodings_that_are_none(encoding):
    with pytest.raises((LookupError, ValueError), match=r"^encoding"):
        read_texts(["a"], encoding=encoding)


def test_remedies_in_the_words_of_the_caller(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'"a"\n"\xe9"\n')
    with pytest.raises(ReadingError) as caught:
        list(read_texts(path))
    error = caught.value
    assert error.place == f"{path}, line 2"
    assert str(error).endswith("pass encoding='latin-1', for example")
    assert error.for_command_line().endswith("pass --encoding latin-1, for example")
    with pytest.raises(ReadingError) as caught:
        list(read_texts([{"body": "a"}]))
    assert str(caught.value).endswith("pass text_key='body', for example")
    assert caught.value.for_command_line().endswith("pass --text-key body, for example")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)
    assert copy.reason == error.reason == "not utf-8"
