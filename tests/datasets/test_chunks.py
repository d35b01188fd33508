# SPDX-License-Identifier: BSD-3-Clause
"""Lines, tables and arrays cut into chunks anywhere are what plain Python makes of the whole."""

import csv
import io
import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamtopics.datasets import Skipped, read_records
from streamtopics.streams.reading import json_values, lines
from streamtopics.streams.reading.growing import Event, Place, complete_lines
from streamtopics.streams.reading.problems import Origin
from streamtopics.streams.reading.settings import how_of
from streamtopics.streams.reading.tables import MISSING

ORIGIN = Origin("a")
BYTES = st.binary(max_size=60) | st.text("ab\n\ré\u2028\U0001f600", max_size=60).map(str.encode)
TEXT = st.text('ab"[]{},:\\\n é\u2028\U0001f600', max_size=8)
JSON = st.recursive(
    TEXT | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
CUTS = st.lists(st.integers(0, 60), max_size=12)


def how(max_line=2**24):
    return how_of(
        text_key="text", time_key=None, keys=(), format=None, encoding="utf-8",
        max_line=max_line, on_bad="skip", skipped=Skipped(),
    )  # fmt: skip


def pieces(content, cuts):
    edges = [0, *sorted(cuts), len(content)]
    return [p for a, b in pairwise(edges) if (p := content[a:b])]


def lines_of(content, max_line):
    """What plain Python makes of it: number and text of the lines that are not bad, and counts."""
    found, counts = [], {}
    kept = content.split(b"\n")
    for number, line in enumerate(kept[:-1] if not kept[-1] else kept, start=1):
        if len(line) > max_line:
            counts["too long"] = counts.get("too long", 0) + 1
            continue
        try:
            text = line.decode()
        except UnicodeDecodeError:
            counts["not utf-8"] = counts.get("not utf-8", 0) + 1
        else:
            found.append((number, text.removeprefix("\ufeff") if number == 1 else text))
    return found, counts


@given(BYTES, CUTS, st.integers(1, 30))
@settings(deadline=None)
def test_lines(content, cuts, max_line):
    """Chunks are no larger than a line may be."""
    chunks = [
        c[i : i + max_line] for c in pieces(content, cuts) for i in range(0, len(c), max_line)
    ]
    reading = how(max_line)
    found = [
        (first + i, text)
        for first, block in lines.text_lines(iter(chunks), reading, ORIGIN)
        for i, text in enumerate(block)
    ]
    assert (found, reading.skipped.counts) == lines_of(content, max_line)


@given(BYTES, CUTS, st.integers(1, 30))
@settings(deadline=None)
def test_lines_of_a_file_that_grows(content, cuts, max_line):
    chunks = [Event.WAITED, *pieces(content, cuts), Event.WAITED, Event.ENDED]
    place, reading, found = Place(), how(max_line), []
    for line in complete_lines(iter(chunks), place, reading, ORIGIN):
        if line is not None:
            assert content[: place.offset].endswith(line)
            assert place.start == content[: place.offset]
            found.append((place.line, line.removesuffix(b"\n")))
    kept = content.split(b"\n")
    expected = list(enumerate(kept[:-1] if not kept[-1] else kept, start=1))
    assert found == [(n, line) for n, line in expected if len(line) <= max_line]
    assert reading.skipped.total == len(expected) - len(found)


@example([1.5e-5, 10, -0.5], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], None, True)
@given(st.lists(JSON, max_size=5), CUTS, st.sampled_from([None, 1]), st.booleans())
@settings(deadline=None)
def test_arrays(values, cuts, indent, is_ascii):
    content = json.dumps(values, indent=indent, ensure_ascii=is_ascii)
    reading = how()
    buffer = json_values.Buffer(iter(pieces(content, cuts)))
    found = list(json_values._values_of_array(buffer, reading, ORIGIN))
    assert [value for _, _, value in found] == values
    assert reading.skipped.total == 0
    whole = json_values.Buffer(iter([content]))
    assert [f[1] for f in json_values._values_of_array(whole, how(), ORIGIN)] == [
        number for _, number, _ in found
    ]


@given(st.lists(JSON, min_size=1, max_size=4), st.data())
@settings(deadline=None)
def test_arrays_that_are_cut(values, data):
    """Give some of the values, in order, and say that the rest is broken."""
    content = json.dumps(values)
    content = content[: data.draw(st.integers(1, len(content) - 1))]
    reading = how()
    buffer = json_values.Buffer(iter(pieces(content, data.draw(CUTS))))
    found = [value for _, _, value in json_values._values_of_array(buffer, reading, ORIGIN)]
    whole = found[:-1] if found and isinstance(found[-1], int | float) else found
    assert whole == values[: len(whole)]
    assert reading.skipped.counts == {"broken JSON arrays": 1}


@pytest.fixture(name="folder", scope="module")
def one_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


@given(rows=st.lists(st.tuples(TEXT, TEXT), max_size=6), end=st.sampled_from(["\n", "\r\n"]))
@settings(deadline=None)
def test_tables(folder, rows, end):
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=end).writerows([("text", "tag"), *rows])
    path = Path(folder, "a.csv")
    path.write_text(out.getvalue(), encoding="utf-8", newline="")
    longest = max(map(len, out.getvalue().encode().split(b"\n")))
    found = list(read_records(path, keys=["tag"], max_line=longest))
    expected = [("" if text.strip() in MISSING else text, tag) for text, tag in rows]
    assert [(r.text, r.fields["tag"]) for r in found] == expected
    reader = csv.reader(io.StringIO(out.getvalue(), newline=""))
    lines = [1 + number for number in ends_before(reader)][1:]
    assert [r.line for r in found] == lines


def ends_before(reader):
    """The line on which the row before each one ends."""
    number = 0
    for _ in reader:
        yield number
        number = reader.line_num
