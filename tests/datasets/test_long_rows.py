# SPDX-License-Identifier: BSD-3-Clause
"""Rows of tables with fields that are too long for csv, or for the limit: nothing is invented."""

import csv
import io
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from streamtopics.datasets import ReadingError, Skipped, read_records, read_texts
from streamtopics.streams.reading.problems import Origin
from streamtopics.streams.reading.rows import FURTHER, RowLines, fields_of
from tests.datasets.test_bad_files import peak_of
from tests.datasets.test_chunks import how

LINE = "inner line of a chapter\n"


def table(*cells):
    """Each cell as it is, with a good row before it and behind it."""
    rows = [f"good {i},{i}\n{cell},7\n" for i, cell in enumerate(cells)]
    return "text,id\n" + "".join(rows) + "good last,9\n"


def goods(n):
    return [*(f"good {i}" for i in range(n)), "good last"]


@pytest.fixture(name="path")
def csv_file(tmp_path):
    return tmp_path / "a.csv"


def test_long_cells_are_read(path):
    cell = LINE * 9000 + '"quoted", he said'
    quoted = '"' + cell.replace('"', '""') + '"'
    path.write_text(table(quoted, "short", quoted), encoding="utf-8")
    before = csv.field_size_limit()
    records = list(read_records(path, keys=["id"]))
    assert [r.text for r in records] == [
        "good 0", cell, "good 1", "short", "good 2", cell, "good last",
    ]  # fmt: skip
    assert [r.fields["id"] for r in records] == ["0", "7", "1", "7", "2", "7", "9"]
    n = 1 + cell.count("\n")
    assert [r.line for r in records] == [2, 3, 3 + n, 4 + n, 5 + n, 6 + n, 6 + 2 * n]
    assert csv.field_size_limit() == before


# What is in a cell, how often it is to be told of, and why.
WRONG = {
    "long": ('"' + LINE * 9000 + '"', "too long"),
    "quotes": ('"' + 'he said ""no"", ""so""\n' * 9000 + '"', "too long"),
    "pairs": ('"' + '""\n' * 99_000 + '"', "too long"),
    "long line first": ('"' + "x" * 3000 + "\n" + LINE * 9 + '"', "too long"),
    "long line within": ('"' + LINE + "x" * 3000 + "\n" + LINE + '"', "too long"),
    "long line last": ('"' + LINE * 9 + "x" * 3000 + '"', "too long"),
    "long line alone": ('"' + '""' + "x" * 3000 + '"', "too long"),
    "long line with marks": ('"' + "x" * 3000 + '""\n' + LINE + '""' + LINE + '"', "too long"),
    "bytes": ('"' + LINE + "\ufffd\n" + LINE * 9 + '"', "not utf-8"),
    "bytes in what is long": ('"' + LINE * 9000 + "\ufffd\n" + LINE + '"', "too long"),
    "another cell": ('"a" b,"' + LINE * 9 + '"', "no rows of a table"),
    "another long cell": ('"a" b,"' + LINE * 9000 + '"', "too long"),
    "a cell behind a long one": ('"' + "x\n" * 70_000 + '" b,"' + LINE + '"', None),
}


@pytest.mark.parametrize("name", WRONG)
def test_no_document_comes_from_within_a_cell(path, name):
    cell, reason = WRONG[name]
    content = table(cell, cell).encode().replace("\ufffd".encode(), b"\xff")
    path.write_bytes(content)
    skipped = Skipped()
    read = {"max_line": 2000 if reason else 2**24}
    assert list(read_texts(path, on_bad="skip", skipped=skipped, **read)) == goods(2)
    assert skipped.counts.pop(FURTHER, 0) == 2 * len(re.findall(r"\r?\n|\r", cell))
    assert skipped.counts == {reason or "no rows of a table": 2}
    with pytest.raises(ReadingError, match=r"a\.csv, line \d+: "):
        list(read_texts(path, **read))


def test_a_long_row_says_what_helps(path):
    path.write_text(table('"' + LINE * 9000 + '"'), encoding="utf-8")
    with pytest.raises(ReadingError, match="line 3: a row of more than 131072 characters") as error:
        list(read_texts(path, max_line=100))
    assert error.value.for_command_line().endswith("pass --max-line 524288, for example")
    assert len(list(read_texts(path, max_line=524288))) == 3
    path.write_text('"text\n' + LINE * 9000 + '",id\ngood,1\n', encoding="utf-8")
    with pytest.raises(ReadingError, match="line 1: the first row, of the names of the columns"):
        list(read_texts(path, max_line=100, on_bad="skip"))


def test_a_quotation_mark_that_is_never_closed(path):
    """Neither fills the memory, nor makes documents of what follows."""
    path.write_text("text\ngood\n" + '"' + "many words of a line\n" * 2**18, encoding="utf-8")
    skipped = Skipped()
    found = []
    texts = read_texts(path, max_line=2**20, on_bad="skip", skipped=skipped)
    assert peak_of(map(found.append, texts)) < 2**24
    assert found == ["good"]
    assert skipped.counts == {"too long": 1, FURTHER: 2**18 - 1}
    assert skipped.first[FURTHER] == f"{path}, line 4"


def test_memory_is_that_of_the_longest_row():
    """Of many short lines in a quotation mark, each of which would take fifty bytes more."""
    lines = (letter for letter in '"' + "a" * 250_000)
    rows = RowLines(lines, ",", how(), Origin("a.csv"), [])
    assert peak_of(rows.given) < 2**23
    assert (rows.opened, rows.end) == (1, 250_001)


def test_the_line_of_a_quotation_mark_that_is_not_closed(path):
    """Also behind a cell of several lines, which was closed."""
    for rows, line in ('"a\nb",1\nred,"2\nc\n', 4), ('"a\nb","1\nc\nd', 3), ("a,1\nb,'\n\"c", 4):
        path.write_text("text,id\n" + rows, encoding="utf-8")
        with pytest.raises(ReadingError, match=f"line {line}: no row of a table .unexpected end"):
            list(read_texts(path))
    path.write_text('text,id\n"a\nb","1' + "\nc" * 99_000, encoding="utf-8")
    with pytest.raises(ReadingError, match="line 3: a row of more than 131072 characters"):
        list(read_texts(path, max_line=9))


@given(st.lists(st.lists(st.text('",a\n\r'), min_size=2, max_size=2), max_size=5))
@settings(deadline=None)
def test_rows_are_those_of_csv_whatever_its_limit_is(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "limit.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text", "id"), *rows])
    before = csv.field_size_limit(1)
    try:
        records = list(read_records(path, keys=["id"]))
    finally:
        csv.field_size_limit(before)
    assert [[r.text, r.fields["id"]] for r in records] == [
        [a if a.strip() else "", b] for a, b in rows
    ]


@given(st.text('",a\n\r', min_size=1))
@settings(deadline=None)
def test_fields_are_those_of_csv(row):
    assume(row.strip("\r\n") and not row.endswith(("\n", "\r")))
    try:
        rows = list(csv.reader(io.StringIO(row + "\n", newline="\n"), strict=True))
    except csv.Error:
        rows = []
    assert fields_of(row + "\n", ",") == (rows[0] if len(rows) == 1 else None)
