# SPDX-License-Identifier: BSD-3-Clause
"""Records of each format and compression, where each is, and what is said of those that are bad."""

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
    "": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress,
    ".zst": lambda content: zstd().compress(content),
}  # fmt: skip


def csv_of(rows, sep=","):
    cells = [("day", "text", "tag"), *((r["day"], f'"{r["text"]}"', r["tag"]) for r in rows)]
    return "".join(sep.join(row) + "\r\n" for row in cells)


# What is in a file, and on which line, or as which record, each text begins.
CONTENTS = {
    "a.jsonl": ("\n".join(map(json.dumps, ROWS)), [1, 2, 3]),
    "a.ndjson": ("\n\n".join(map(json.dumps, ROWS)) + "\n", [1, 3, 5]),
    "lines.json": ("\n".join(map(json.dumps, ROWS)), [1, 2, 3]),
    "array.json": (json.dumps(ROWS), [1, 2, 3]),
    "pretty.json": ("\ufeff\n" + json.dumps(ROWS, indent=2, ensure_ascii=False), [1, 2, 3]),
    "a.csv": (csv_of(ROWS), [2, 3, 5]),
    "a.tsv": (csv_of(ROWS, "\t"), [2, 3, 5]),
}


@pytest.fixture(name="write")
def writer(tmp_path):
    """Writes a file, compressed if its name says so, and returns its path."""

    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        content = content.encode() if isinstance(content, str) else content
        path.write_bytes(COMPRESS.get(path.suffix, bytes)(content))
        return path

    return write


def stand_in(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("name", CONTENTS)
def test_formats_and_compressions(write, name, suffix):
    content, numbers = CONTENTS[name]
    path = write(name + suffix, content)
    tags = [{"tag": row["tag"]} for row in ROWS]
    places = zip(TEXTS, TIMES, tags, [str(path)] * 3, numbers, strict=True)
    assert list(read_records(path, time_key="day", keys=["tag"])) == [Record(*p) for p in places]
    assert list(read_texts(str(path))) == TEXTS


def test_parquet(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    times = arrow.array([10**18, 2 * 10**18, 3 * 10**18], arrow.timestamp("ns"))
    table = arrow.table({"text": TEXTS, "tag": [1, None, 3], "when": times, "other": [0, 0, 0]})
    parquet.write_table(table, path, row_group_size=2)
    records = list(read_records(path, time_key="when", keys=["tag"]))
    found = [(r.text, r.fields["tag"], r.line) for r in records]
    assert found == [*zip(TEXTS, [1, None, 3], [1, 2, 3], strict=True)]
    assert records[0].time == datetime(2001, 9, 9, 1, 46, 40)
    assert list(read_texts(tmp_path)) == TEXTS
    with pytest.raises(ReadingError, match="row 1: there is no 'body'; there is: 'text', 'tag'"):
        list(read_texts(path, text_key="body"))
    with pytest.raises(ReadingError, match=r"parquet, row 1: a text must be a str; got 1 \(int\)"):
        list(read_texts(path, text_key="tag"))


def test_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    path, book = tmp_path / "a.xlsx", openpyxl.Workbook()
    rows = [
        ["text", "day", None, "Betrag"], ["Müsli", datetime(2025, 5, 17), "x", 1.5], [None] * 4,
        [2024, "18.05.2025", None, None], [None, datetime(2025, 5, 19)],
    ]  # fmt: skip
    for row in rows:
        book.active.append(row)
    book.create_sheet("other").append(["text"])
    book.save(path)
    found, skipped = {"time_key": "day", "time_format": "%d.%m.%Y", "keys": ["Betrag"]}, Skipped()
    records = list(read_records(path, skipped=skipped, **found))
    assert [(r.text, r.time.day, r.fields["Betrag"], r.line) for r in records] == [
        ("Müsli", 17, 1.5, 2), ("2024", 18, None, 4), ("", 19, None, 5),
    ]  # fmt: skip
    assert skipped.counts == {"empty lines": 1}
    with pytest.raises(ReadingError, match="row 2: there is no 'body'; there is: 'text', 'day'"):
        list(read_texts(path, text_key="body"))
    for broken in (path, path.with_suffix(".parquet")):
        broken.write_bytes(b"noise")
        with pytest.raises(ReadingError, match=f"{broken.name}: this cannot be read as"):
            list(read_texts(broken))
        assert list(read_texts(broken, on_bad="skip")) == []


def test_a_german_export(write):
    content = 'Nr.;Datum;Text;Betrag\r\n1;17.05.2025 13:45;"„Müsli“; 5 €";0,50\r\n'
    path = write("a.csv", content.encode("cp1252"))
    how = {"text_key": "Text", "time_key": "Datum", "keys": ["Betrag"]}
    with pytest.raises(ReadingError, match="pass encoding='cp1252'"):
        list(read_records(path, **how))
    how["encoding"] = "cp1252"
    with pytest.raises(ReadingError, match=r"pass time_format='%d.%m.%Y %H:%M'"):
        list(read_records(path, **how))
    (record,) = read_records(path, time_format="%d.%m.%Y %H:%M", **how)
    assert record.text == "„Müsli“; 5 €"
    assert (record.time, record.fields) == (datetime(2025, 5, 17, 13, 45), {"Betrag": "0,50"})
    rows = [{"text": "", "day": "1.1.2024 0:30 +0300"}]
    (zoned,) = read_records(rows, time_key="day", time_format="%d.%m.%Y %H:%M %z")
    assert zoned.time == datetime(2023, 12, 31, 21, 30)


def test_lines(write):
    assert list(read_texts(write("a.txt", "\ufeff"))) == []
    text = "\ufeffwindows\r\n\r\n \n a\x0bb\u2028c \n\nlast"
    assert list(read_texts(write("a.txt", text))) == ["windows", " a\x0bb\u2028c ", "last"]
    block = ["a b", " c\r", "", "\u00e9", "", *["line of some length"] * 70_000, " ", "x"] * 2
    path, skipped = write("b.txt", "\n".join(block)), Skipped()
    records = list(read_records(path, skipped=skipped))
    for again in (None, Skipped()):
        assert list(read_texts(path, skipped=again)) == [record.text for record in records]
    assert (again.counts, again.first) == (skipped.counts, skipped.first)
    lines = '\ufeff{"text": ""}\r\n\n"\\n"\n {"text": "a"} \n'
    assert list(read_texts(write("a.jsonl", lines))) == ["", "\n", "a"]


@pytest.mark.parametrize("source", ["-", Path("-"), [Path("-")]])
def test_standard_input(monkeypatch, source):
    stand_in(monkeypatch, b"one\n\ntwo")
    expected = [(text, None, {}, "standard input", n) for text, n in (("one", 1), ("two", 3))]
    assert [tuple(record) for record in read_records(source)] == expected


def test_the_format_of_standard_input_is_said(monkeypatch):
    def read(content, **how):
        stand_in(monkeypatch, content)
        return list(read_texts("-", **how))

    with pytest.raises(ReadingError, match=r"line 1: this looks like JSON.*pass format='jsonl'"):
        read(b'{"text": "one"}\n')
    assert read(b'{"text": "one"}\n', format="jsonl") == ["one"]
    assert read(b'{"text": "one"}\n', format="lines") == ['{"text": "one"}']
    assert read(b'[{"text": "one"}, "two"]', format="json") == ["one", "two"]
    assert read(b"n;text\n1;one\n", sep=";") == ["one"]
    assert read(b"one\ntwo", format="documents") == ["one\ntwo"]


def test_a_list_of_paths_and_texts(write):
    paths = [write("b.txt", "b\n"), write("a.jsonl", '"a"\n'), write("c.txt.gz", "c\nd")]
    assert list(read_texts(paths)) == ["b", "a", "c", "d"]
    assert list(read_texts(path for path in paths)) == ["b", "a", "c", "d"]
    assert list(read_texts([paths[0], "a text", {"text": "c"}])) == ["b", "a text", "c"]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_folders_within_folders(write, tmp_path):
    for name, content in {
        "b/z.txt": "whole\nfile", "b/a.jsonl": '"in b"', "a.txt": "first", "c.csv": "text\nlast\n",
        "b.md": "not read", "b/c/d/deep.txt.gz": "deep", "b/.hidden.txt": "", ".git/x.txt": "",
        "none": "",
    }.items():  # fmt: skip
        write(name, content)
    (tmp_path / "loop").symlink_to(tmp_path)
    skipped = Skipped()
    read = list(read_records(tmp_path, skipped=skipped))
    assert [r.text for r in read] == ["first", "in b", "deep", "whole\nfile", "last"]
    assert read[2].source == str(tmp_path / "b" / "c" / "d" / "deep.txt.gz")
    others = {"files that end in .md": 1, "files that end in no suffix": 1}
    assert skipped.counts == {"hidden files": 2} | others
    assert f"1 files that end in .md (first: {tmp_path / 'b.md'})" in str(skipped)
    assert str(Skipped()) == "nothing was skipped"


def test_a_format_reads_all_files_of_a_folder(write, tmp_path):
    write("a.md", "one\ntwo")
    with pytest.raises(ReadingError, match=r"no files to read.*pass format='documents'"):
        list(read_texts(tmp_path))
    assert list(read_texts(tmp_path, format="documents")) == ["one\ntwo"]
    assert list(read_texts(tmp_path, format="lines")) == ["one", "two"]


def test_separators(write):
    path = write("a.csv", "id;text\n1;red, blue\n")
    assert list(read_texts(path)) == list(read_texts(path, sep=";")) == ["red, blue"]
    path = write("a.csv", '"Name, first";"text"\n1;red\n')
    with pytest.raises(ReadingError, match="quotation marks"):
        list(read_texts(path))
    assert list(read_texts(write("t.csv", "id\ttext\n1\tred\n"))) == ["red"]
    assert list(read_texts(write("a.dat", "id|text\n1|red\n"), sep="|")) == ["red"]
    with pytest.raises(ReadingError, match=r"no ';' between the fields.*pass sep='\\t'"):
        list(read_texts(write("b.csv", "id\ttext\n1\tred\n"), sep=";"))


def test_missing_texts_of_tables_are_empty(write):
    cells = ["a ship", "NULL", "NaN", "NA", "N/A", "", "None", "null", "NULLS", "none", "0"]
    path = write("a.csv", "id,text\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    table = pd.read_csv(path).fillna("")
    assert list(read_texts(path)) == table["text"].tolist()
    path = write("a.jsonl", '{"text": null}\n{"text": ""}\n{"text": "NULL"}\n')
    assert list(read_texts(path)) == ["", "", "NULL"]


@pytest.mark.parametrize("content", ["", "text\n", "\n\ntext\n\n"])
def test_tables_without_rows(write, content):
    assert list(read_texts(write("a.csv", content))) == []


def test_dots_lead_into_objects(write):
    path = write("a.jsonl", '{"user": {"name": "Ann", "a.b": 1}, "body": {"text": "hi"}}\n')
    (record,) = read_records(path, text_key="body.text", keys=["user.name"])
    assert (record.text, record.fields) == ("hi", {"user.name": "Ann"})
    with pytest.raises(ReadingError, match=r"there is: 'user', 'body'"):
        list(read_texts(path))
    (record,) = read_records([{"a.b": "a text", "a": {"b": "not this"}}], text_key="a.b")
    assert record.text == "a text"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-01-31", datetime(2024, 1, 31)),
        ("2024-01-31T10:00:00+01:00", datetime(2024, 1, 31, 9)),
        (date(2024, 1, 31), datetime(2024, 1, 31)),
        (1999, 1999),
        ("1999.0", 1999.0),
        ("20240131", datetime(2024, 1, 31)),
        (1712121200, datetime(2024, 4, 3, 5, 13, 20)),
        (np.datetime64("2024-01-31T05"), datetime(2024, 1, 31, 5)),
    ],
)
def test_times(value, expected):
    (record,) = read_records([{"text": "a", "t": value}], time_key="t")
    assert record.time == expected


def test_how_times_are_written_is_said(write):
    path = write("a.csv", "day,text\n17.05.2025,a\n01.06.2025,b\nsoon,c\n")
    with pytest.raises(ReadingError, match=r"line 2: a time must be.*pass time_format='%d.%m.%Y'"):
        list(read_records(path, time_key="day"))
    how = {"time_key": "day", "time_format": "%d.%m.%Y", "on_bad": "skip"}
    found = read_records(path, skipped=(skipped := Skipped()), **how)
    assert [record.time for record in found] == [datetime(2025, 5, 17), datetime(2025, 6, 1)]
    assert skipped.counts == {"no time": 1}


@pytest.mark.parametrize("value", [None, "", True, [1], "nan", float("inf"), "Q3 of 2020", pd.NaT])
def test_no_times(value):
    with pytest.raises(ReadingError, match="item 1 of source: a time must be"):
        list(read_records([{"text": "a", "t": value}], time_key="t"))


def test_fields_that_are_not_there(write):
    path = write("a.jsonl", '{"text": "a", "tag": null}\n{"text": "b"}\n"c"\n{"tag": 1}\n')
    records = read_records(path, keys=["tag"])
    assert next(records).fields == {"tag": None}
    with pytest.raises(ReadingError, match=r"line 2: there is no 'tag'; there is: 'text'$"):
        next(records)
    skipped = Skipped()
    assert len(list(read_records(path, keys=["tag"], on_bad="skip", skipped=skipped))) == 1
    assert skipped.counts == {"no 'tag'": 2, "no text": 1}


# What is kept of each bad file, why the rest is not, and where that is first.
BAD = {
    "not_json": ("a.jsonl", b'"a"\n{"text": \n[1] x\n"b"\n', ["a", "b"], {"not JSON": 2}, 2),
    "deep": ("a.jsonl", b'"a"\n' + b"[" * 99999 + b'\n"b"', ["a", "b"], {"not JSON": 1}, 2),
    "digits": ("a.jsonl", b'"a"\n' + b"1" * 9999 + b'\n"b"', ["a", "b"], {"not JSON": 1}, 2),
    "no_text": ("a.jsonl", b'{}\n{"text": 1}\n["b"]\n"c"', ["c"], {"no text": 3}, 1),
    "bytes": ("a.jsonl", b'"a"\n"\xff"\n\n"b"', ["a", "b"], {"not utf-8": 1, "empty lines": 1}, 2),
    "bytes_plain": ("a.txt", b"a\n\xff\n\nb\r\n", ["a", "b"], {"not utf-8": 1}, 2),
    "bytes_csv": ("a.csv", b"text\na\n\xff\nb\n\nc\n", ["a", "b", "c"], {"not utf-8": 1}, 3),
    "quotes": ("a.csv", b'text\na\n"b" c\nd\n', ["a", "d"], {"no rows of a table": 1}, 3),
    "width": ("a.csv", b"text\na\nb,c\nd,\n", ["a", "d"], {"rows of more fields": 1}, 3),
    "narrow": ("a.csv", b"n,text\n1,a\n2\n", ["a"], {"no text": 1}, 3),
    "unclosed": ("a.csv", b'text\na\n"b\n', ["a"], {"no rows of a table": 1}, 3),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_records(write, name):
    name, content, texts, counts, line = BAD[name]
    path, skipped = write(name, content), Skipped()
    assert list(read_texts(path, on_bad="skip", skipped=skipped)) == texts
    assert {k: n for k, n in skipped.counts.items() if k in counts} == counts
    assert set(skipped.counts) <= {*counts, "empty lines"}
    with pytest.raises(ReadingError, match=f"{path}, line {line}: ") as caught:
        list(read_texts(path))
    assert caught.value.reason == next(iter(counts))
    assert len(str(caught.value)) < 600
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("content", ['["a", "b"', '["a",]', '["a"]\n["b"]', "[" * 99999])
def test_bad_arrays(write, content):
    with pytest.raises(ReadingError, match=r"a\.json: not JSON"):
        list(read_texts(write("a.json", content)))


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le"])
def test_encodings(write, encoding):
    path = write("a.csv", "text\nété\n".encode(encoding))
    assert list(read_texts(path, encoding=encoding)) == ["été"]
    if encoding != "utf-16-le":
        with pytest.raises(ReadingError, match=f"pass encoding='{encoding}'"):
            list(read_texts(path))
    with pytest.raises(LookupError, match="unknown encoding"):
        list(read_texts(path, encoding="utf-9"))


@pytest.mark.parametrize("suffix", [*COMPRESS][1:])
@pytest.mark.parametrize("kind", ["cut", "noise"])
def test_broken_compression(tmp_path, suffix, kind):
    whole = COMPRESS[suffix](os.urandom(50_000).hex().encode() + b"\nlast")
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(whole[: len(whole) // 2] if kind == "cut" else b"noise" * 9)
    with pytest.raises(ReadingError, match=rf"a\.txt\{suffix}, line 1: cannot be decompressed"):
        list(read_texts(path))
    skipped = Skipped()
    (tmp_path / "b.txt").write_text("good")
    assert list(read_texts(tmp_path, on_bad="skip", skipped=skipped)) == ["good"]
    assert skipped.counts == {"broken file": 1}


def test_good_records_before_a_bad_one_come_first(write):
    texts = read_texts(write("a.txt", b"a\nb\n\xff\n"))
    assert [next(texts), next(texts)] == ["a", "b"]
    with pytest.raises(ReadingError, match="line 3: byte 0xff at position 1"):
        next(texts)


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ('{"id": "a7", "comment_text": "a ship"}', "comment_text"),
        ('{"lang": "en", "said": "a ship at sea", "by": null}', "said"),
    ],
)
def test_the_key_that_may_be_meant_is_named(write, content, key):
    path = write("a.jsonl", content)
    with pytest.raises(ReadingError, match=f"pass text_key='{key}'") as caught:
        list(read_texts(path))
    assert (caught.value.setting, caught.value.value) == ("text_key", key)
    assert len(list(read_texts(path, text_key=key))) == 1


@pytest.mark.parametrize("text", ["no such file", "", "long " * 2000, "zero \0 byte"])
def test_a_text_by_itself_is_no_source(text):
    with pytest.raises(FileNotFoundError, match=r"Pass texts as a list: \[text, ...\]") as caught:
        read_texts(text)
    assert len(str(caught.value)) < 300


def test_missing_paths(tmp_path):
    for source in (tmp_path / "missing.txt", ["text", tmp_path / "missing.txt"]):
        with pytest.raises(FileNotFoundError, match=r"missing\.txt'$"):
            list(read_texts(source))


@pytest.mark.parametrize(("item", "name"), [(3, "int"), (b"b" * 99, "bytes"), (["a"], "list")])
def test_items_that_are_no_texts(item, name):
    with pytest.raises(ReadingError, match=rf"item 2 of source: a text must be a str.*\({name}\)"):
        list(read_texts(["text", item]))


def test_names_of_files_in_a_list_are_not_taken_for_texts(write):
    name = str(write("a.txt", "a text"))
    with pytest.raises(ValueError, match=r"pass pathlib\.Path"):
        list(read_texts([name]))
    assert list(read_texts(["nosuchfile.txt", name])) == ["nosuchfile.txt", name]


@pytest.mark.parametrize("source", [b"bytes", {"data": ["text"]}, np.ones((2, 2)), pd.DataFrame()])
def test_sources_that_are_none(source):
    with pytest.raises(TypeError, match="source must be an iterable of texts"):
        read_texts(source)


def test_rows_after_an_unreadable_line_have_their_own_number(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,ok\n2,\xe9\xe9\n3,third\n4,"of\ntwo"\n5,last\n')
    found = [(one.fields["id"], one.line) for one in read_records(path, keys=["id"], on_bad="skip")]
    assert found == [("1", 2), ("3", 4), ("4", 5), ("5", 7)]


def test_a_bad_line_with_one_quotation_mark_loses_no_other_rows(tmp_path):
    path = tmp_path / "mix.csv"
    rows = b"".join(b"%d,plain %d\n" % (i, i) for i in range(3, 103))
    path.write_bytes(b'id,text\n1,"good\nstart"\n2,"two lines\nol\xe9"\n' + rows)
    assert len(list(read_records(path, on_bad="skip"))) == 102
