# SPDX-License-Identifier: BSD-3-Clause
"""Files that grow, and where one goes on; what was cut or replaced is an error."""

import os
import random
import signal
import sys
import time

import pytest

from streamtopics.datasets import ReadingError, Skipped, follow, read_records
from tests.interrupts import alarm_after


@pytest.fixture(name="path")
def growing_file(tmp_path):
    path = tmp_path / "feed.jsonl"
    path.touch()
    return path


def write(path, text, mode="a"):
    with path.open(mode, encoding="utf-8", newline="") as file:
        file.write(text)


def texts_until_a_wait(records):
    """What comes before nothing new has, which is told of by None."""
    return [record.text for record in iter(records.__next__, None)]


def test_lines_come_when_they_are_complete(path):
    records = follow(path, poll=0, tell_waits=True)
    assert texts_until_a_wait(records) == []
    write(path, '"one"\n"tw')
    assert texts_until_a_wait(records) == ["one"]
    assert texts_until_a_wait(records) == []
    write(path, 'o"\r\n\n"three"\n')
    assert texts_until_a_wait(records) == ["two", "three"]
    assert records.position[:2] == (len('"one"\n"two"\r\n\n"three"\n'), 4)
    records.close()
    assert list(records) == []


@pytest.mark.parametrize("suffix", [".jsonl", ".txt"])
def test_a_complete_file_gives_what_read_records_does(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes('\ufeff"one"\r\n\n \n"two \u2028 "\n"three"\n'.encode())
    assert list(follow(path, idle=0)) == list(read_records(path))


def test_going_on_from_any_record_gives_the_rest(path):
    rng = random.Random(0)
    texts = ["x" * rng.randrange(400) + "é" for _ in range(30)]
    write(path, "".join(f'"{text}"\n' for text in texts) + '"not comp')
    for n in range(31):
        records = follow(path, idle=0)
        before = [next(records).text for _ in range(n)]
        rest = list(follow(path, idle=0, position=tuple(records.position)))
        records.close()
        assert before + [record.text for record in rest] == texts
        assert [record.line for record in rest] == list(range(n + 1, 31))


def test_the_end_after_a_time_without_news(path):
    write(path, '"one"\n')
    start = time.monotonic()
    assert [r.text for r in follow(path, poll=0.01, idle=0.1)] == ["one"]
    assert time.monotonic() - start >= 0.1


@pytest.mark.parametrize(
    "after", ['"n"\n', '"other"\n"text"\n', '"a new one that is longer than all of before"\n"b"\n']
)
@pytest.mark.parametrize("n", [1, 2, 20_000])
def test_a_file_that_is_cut_or_replaced_is_an_error(path, after, n):
    """While it is followed, and for who goes on at a place."""
    records = follow(path, poll=0, tell_waits=True)
    write(path, '"first"\n' * n + '"cut')
    assert texts_until_a_wait(records) == ["first"] * n
    path.rename(path.with_name("feed.1"))
    write(path, after)
    for one in (records, follow(path, idle=0, position=records.position)):
        with pytest.raises(ReadingError, match="was cut, or is another file than before"):
            next(one)
    rest = follow(path.with_name("feed.1"), idle=0, position=records.position, format="jsonl")
    assert list(rest) == []


def test_long_lines(path):
    write(path, '"one"\n"' + "x" * 400_000 + '"\n"two"\n')
    assert [(len(r.text), r.line) for r in follow(path, idle=0)] == [(3, 1), (400_000, 2), (3, 3)]


def test_bad_lines(path):
    path.write_bytes(b'"a"\n{\n\xff\n{"body": "b"}\n{"text": "c", "day": "2024-01-01"}\n')
    skipped = Skipped()
    (record,) = follow(path, time_key="day", idle=0, on_bad="skip", skipped=skipped)
    assert (record.text, record.time.year, record.line) == ("c", 2024, 5)
    assert skipped.counts == {"no 'day'": 1, "not JSON": 1, "not utf-8": 1, "no text": 1}
    with pytest.raises(ReadingError, match=r"feed\.jsonl, line 2: not JSON"):
        list(follow(path, idle=0))


def test_what_is_not_named_json(tmp_path):
    path = tmp_path / "feed.log"
    path.write_text('{"text": "a"}\n')
    with pytest.raises(ReadingError, match=r"feed\.log, line 1: this looks like JSON"):
        next(follow(path))
    assert [r.text for r in follow(path, idle=0, format="jsonl")] == ["a"]
    assert [r.text for r in follow(path, idle=0, format="lines")] == ['{"text": "a"}']
    with pytest.raises(ReadingError, match="there is no 'day'"):
        next(follow(path, time_key="day", format="lines"))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl.gz", "a.json", ""])
def test_what_cannot_be_followed(tmp_path, name):
    path = tmp_path / name
    if name:
        path.touch()
    with pytest.raises(ValueError, match="only regular, uncompressed files"):
        follow(path)


@pytest.mark.parametrize("position", [(-1, 0, 0), (0, 2**70, 0), (0.5, 0, 0)])
def test_a_position_that_is_none(path, position):
    write(path, "one\n")
    with pytest.raises((TypeError, ValueError), match="position must be "):
        follow(path, position=position)
    with pytest.raises(ReadingError, match=r"position \(9, 1, 0\)"):
        next(follow(path, position=(9, 1, 0)))


def test_a_missing_file(tmp_path):
    for path in (tmp_path / "none", str(tmp_path / "none")):
        with pytest.raises(FileNotFoundError, match=r"there is no file or directory .*none"):
            follow(path)


def test_standard_input(monkeypatch):
    """What was written is there at once, also what is in a buffer; the end is the end."""
    ours, theirs = os.pipe()
    with os.fdopen(ours, encoding="utf-8") as file:
        monkeypatch.setattr(sys, "stdin", file)
        os.write(theirs, b"one\ntwo\nfi")
        records = follow("-", poll=0.01, tell_waits=True)
        assert texts_until_a_wait(records) == ["one", "two"]
        os.write(theirs, b"ve\nlast")
        assert texts_until_a_wait(records) == ["five"]
        os.close(theirs)
        assert [record.text for record in records] == ["last"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_waiting_can_be_interrupted(path):
    write(path, '"one"\n')
    records = follow(path, poll=60)
    assert next(records).text == "one"
    start = time.monotonic()
    with alarm_after(0.2), pytest.raises(KeyboardInterrupt):
        next(records)
    assert time.monotonic() - start < 30
    assert records.position[1] == 1
