# SPDX-License-Identifier: BSD-3-Clause
"""Files that grow, are moved away or written anew, and where one goes on; and pipes."""

import os
import random
import signal
import threading
import time

import pytest

from streamtopics.datasets import Position, ReadingError, Skipped, follow, read_records


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


def test_a_file_that_is_moved_away_is_read_to_its_end(path):
    records = follow(path, poll=0, tell_waits=True)
    write(path, '"one"\n')
    assert texts_until_a_wait(records) == ["one"]
    moved = path.rename(path.with_name("feed.1"))
    assert texts_until_a_wait(records) == []  # there is none of this name
    write(moved, '"two"\n"the last"')
    write(path, '"new"\n')
    texts = texts_until_a_wait(records) + texts_until_a_wait(records)
    assert texts == ["two", "the last", "new"]
    assert records.position[:2] == (len('"new"\n'), 1)


@pytest.mark.parametrize("after", ['"n"\n', '"a new one that is longer than all of before"\n"b"\n'])
def test_a_file_that_is_written_anew_is_read_from_its_beginning(path, after):
    records = follow(path, poll=0, tell_waits=True)
    write(path, '"one"\n"two"\n"cut')
    assert texts_until_a_wait(records) == ["one", "two"]
    write(path, after, mode="w")
    texts = texts_until_a_wait(records) + texts_until_a_wait(records)
    assert texts == [line.strip('"') for line in after.splitlines()]


@pytest.mark.parametrize("before", [0, 1, 5])
@pytest.mark.parametrize("n_old", [5, 50_000])
def test_a_file_that_is_written_anew_while_nobody_looks(tmp_path, before, n_old):
    """Each record comes once, and none in part, while who reads is busy with one of before."""
    path = tmp_path / "feed.txt"
    write(path, "".join(f"old {i}\n" for i in range(n_old)) + "old and not complete")
    records = follow(path, poll=0, idle=0)
    old = [next(records).text for _ in range(before)]
    write(path, "".join(f"a brand new line {i}\n" for i in range(n_old)), mode="w")
    texts = old + [record.text for record in records]
    n = sum(text.startswith("old ") for text in texts)
    assert before <= n <= n_old
    assert texts[:n] == [f"old {i}" for i in range(n)]
    assert texts[n:] == [f"a brand new line {i}" for i in range(n_old)]


@pytest.mark.parametrize("size", [9, 2000, 200_000])
def test_a_file_without_a_complete_line_is_written_anew(path, size):
    records = follow(path, poll=0, tell_waits=True)
    write(path, '"' + "x" * size)
    assert texts_until_a_wait(records) == []
    write(path, '"new and longer"\n"' + "y" * size + '"\n', mode="w")
    texts = texts_until_a_wait(records) + texts_until_a_wait(records)
    assert texts == ["new and longer", "y" * size]


@pytest.mark.parametrize("content", ['"other"\n"text"\n"and more"\n', '"a"\n'])
def test_another_file_is_read_from_its_beginning(path, content):
    write(path, '"one"\n"two"\n')
    records = follow(path, idle=0)
    assert len(list(records)) == 2
    write(path, content, mode="w")
    again = follow(path, idle=0, position=records.position)
    assert [r.text for r in again] == [line.strip('"') for line in content.splitlines()]
    assert follow(path, position=(0, 0, 0)).position == Position()


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
    with pytest.raises(ReadingError, match="a text by itself has no 'day'"):
        next(follow(path, time_key="day", format="lines"))


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl.gz", "a.json", ""])
def test_what_cannot_be_followed(tmp_path, name):
    path = tmp_path / name
    if name:
        path.touch()
    with pytest.raises(ValueError, match="only plain text and JSON lines that are not compressed"):
        follow(path)


def test_a_missing_file(tmp_path):
    for path in (tmp_path / "none", str(tmp_path / "none")):
        with pytest.raises(FileNotFoundError, match=r"there is no file or directory .*none"):
            follow(path)


# Pipes


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes(tmp_path):
    """What was written is there at once, also what is in a buffer; the end is the end."""
    path = tmp_path / "pipe.txt"
    os.mkfifo(path)
    go_on, came = threading.Event(), []

    def writer():
        with path.open("wb", buffering=0) as pipe:
            pipe.write(b"one\ntwo\nthree\nfour\nfi")
            go_on.wait(60)
            pipe.write(b"ve\nlast")

    thread = threading.Thread(target=writer)
    thread.start()
    for record in follow(path, poll=0.01, tell_waits=True):
        if record is not None:
            came.append(record.text)
        elif len(came) == 4:
            go_on.set()
    thread.join()
    assert came == ["one", "two", "three", "four", "five", "last"]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_waiting_can_be_interrupted(path):
    write(path, '"one"\n')

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        records = follow(path, poll=60)
        assert next(records).text == "one"
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            next(records)
        assert time.monotonic() - start < 30
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert records.position.line == 1
