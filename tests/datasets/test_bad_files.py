# SPDX-License-Identifier: BSD-3-Clause
"""Files that are broken, hostile or large: what is said and skipped, and how little is kept."""

import bz2
import errno
import gc
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import tarfile
import tracemalloc
import warnings
from functools import cache
from itertools import islice

import pytest

from streamtopics.datasets import ReadingError, Skipped, follow, read_records, read_texts
from streamtopics.streams.reading import opening
from streamtopics.streams.reading.rows import FURTHER
from tests.datasets.test_records import COMPRESS

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
    "width": ("a.csv", b"text\na\nb,c\nd,\n", ["a", "d"], {"rows of another width": 1}, 3),
    "narrow": ("a.csv", b"n,text\n1,a\n2\n", ["a"], {"rows of another width": 1}, 3),
    "unclosed": ("a.csv", b'text\na\n"b\n', ["a"], {"no rows of a table": 1}, 3),
    "row": ("a.csv", b'text,n\n"a\n\xff \nb",1\nc,2\n', ["c"], {"not utf-8": 1}, 3),
    "row_end": ("a.csv", b'text\n"a\nb\xff"\nc\n"\xff\nd"\ne', ["c", "e"], {"not utf-8": 2}, 3),
    "long_row": (
        "a.csv", b'text\n"a\n' + b"x" * 300 + b'\nb"\n' + (b"x" * 300 + b"\n") * 2 + b"c\n\nd",
        ["c", "d"], {"too long": 3}, 3,
    ),
    "long_last_row": ("a.csv", b"text\na\n" + b"x" * 300, ["a"], {"too long": 1}, 3),
    "long": ("a.txt", b"a\n" + b"x" * 300 + b"\nb\n", ["a", "b"], {"too long": 1}, 2),
    "long_last": ("a.txt", b"a\n" + b"x" * 300, ["a"], {"too long": 1}, 2),
    "long_json": ("a.jsonl", b'"a"\n"' + b"x" * 300 + b'"\n"b"', ["a", "b"], {"too long": 1}, 2),
    "array_cut": ("a.json", b'["a",\n "b",\n "c', ["a", "b"], {"broken JSON arrays": 1}, 3),
    "array_end": ("a.json", b'["a",\n "b"\n', ["a", "b"], {"broken JSON arrays": 1}, 3),
    "array_comma": ("a.json", b'["a"\n "b"]', ["a"], {"broken JSON arrays": 1}, 2),
    "array_last": ("a.json", b'["a",\n]', ["a"], {"broken JSON arrays": 1}, 2),
    "array_after": ("a.json", b'["a"]\n["b"]', ["a"], {"broken JSON arrays": 1}, 2),
    "array_text": ("a.json", b'["a",\n{"body": "b"}, "c"]', ["a", "c"], {"no text": 1}, 2),
    "array_bytes": ("a.json", b'["a",\n "\xff"]', ["a"], {"not utf-8": 1}, 2),
    "array_number": ("a.json", b'["a",\n 12\xff]', ["a"], {"not utf-8": 1}, 2),
    "array_closed": ("a.json", b'["a"]\n\xff', ["a"], {"not utf-8": 1}, 2),
    "array_long": ("a.json", b'["a",\n "' + b"x" * 900 + b'"]', ["a"], {"too long": 1}, 2),
}  # fmt: skip


@pytest.fixture(name="bad", params=BAD)
def bad_file(request, tmp_path):
    name, content, *rest = BAD[request.param]
    (tmp_path / name).write_bytes(content)
    limit = 200 if "long" in request.param else 2**24
    return tmp_path / name, limit, *rest


def test_bad_records_are_skipped_and_counted(bad):
    path, max_line, texts, counts, line = bad
    skipped = Skipped()
    read = list(read_texts(path, max_line=max_line, on_bad="skip", skipped=skipped))
    reason = next(iter(counts))
    assert read == texts
    assert skipped.first[reason] == f"{path}, line {line}"
    assert {k: n for k, n in skipped.counts.items() if k in counts} == counts
    assert set(skipped.counts) <= {*counts, "empty lines", FURTHER}


def test_bad_records_are_refused_with_their_place(bad):
    path, max_line, _, counts, line = bad
    with pytest.raises(ReadingError, match=f"{path}, line {line}: ") as caught:
        list(read_texts(path, max_line=max_line))
    assert caught.value.reason == next(iter(counts))
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (b"text,pr\xe9\n", "not utf-8"),
        (b'text,"n"m\n', "no rows of a table"),
        (b"text," + b"x" * 200 + b"\n", "too long"),
        (b"text" * 200, "too long"),
    ],
)
def test_a_bad_header_is_refused_always(tmp_path, header, reason):
    path = tmp_path / "a.csv"
    path.write_bytes(header + b"one,1\ntwo,2\n")
    for on_bad in ("raise", "skip"):
        with pytest.raises(ReadingError, match=r"line 1: ") as caught:
            list(read_texts(path, max_line=100, on_bad=on_bad))
        assert caught.value.reason == reason
    assert "the first row, of the names of the columns, cannot be read" in str(caught.value)


def test_good_records_before_a_bad_one_come_first(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\nb\n\xff\n")
    texts = read_texts(path)
    assert [next(texts), next(texts)] == ["a", "b"]
    with pytest.raises(ReadingError, match="line 3: byte 0xff at position 1"):
        next(texts)


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "shift_jis", "utf-8-sig", "koi8-r"])
def test_bad_bytes_of_an_array_are_found_wherever_chunks_end(tmp_path, encoding):
    path = tmp_path / "a.json"
    path.write_bytes(b'["ab",\n"cd",\n"\xff\xff"]')
    if encoding == "koi8-r":
        assert list(read_texts(path, encoding=encoding))[:2] == ["ab", "cd"]
        return
    for max_line in (5, 7, 99):
        with pytest.raises(ReadingError, match=f"line 3: byte 0xff .* is not {encoding}"):
            list(read_texts(path, encoding=encoding, max_line=max_line))


@pytest.mark.parametrize("suffix", [suffix for suffix in COMPRESS if suffix])
@pytest.mark.parametrize("kind", ["cut", "noise"])
def test_broken_compression(tmp_path, suffix, kind):
    whole = COMPRESS[suffix](os.urandom(50_000).hex().encode() + b"\nlast")
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(whole[: len(whole) // 2] if kind == "cut" else b"noise" * 9)
    with pytest.raises(ReadingError, match=rf"a\.txt\{suffix}: ends in \{suffix} but cannot be"):
        list(read_texts(path))
    skipped = Skipped()
    (tmp_path / "b.txt").write_text("good")
    assert list(read_texts(tmp_path, on_bad="skip", skipped=skipped))[-1] == "good"
    assert skipped.counts == {"broken file": 1}


class Failing(io.BytesIO):
    """A file on a disk that fails after the first kilobyte."""

    def read1(self, size=-1):
        return super().read1(1000) or self.fail()

    def read(self, size=-1):
        return super().read(min(size, 1000)) or self.fail()

    def fail(self):
        raise OSError(errno.EIO, os.strerror(errno.EIO))


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_a_disk_that_fails_is_not_a_broken_file(tmp_path, monkeypatch, suffix):
    """The file may be as it was written: to fetch it again is no remedy."""
    whole = COMPRESS[suffix](os.urandom(50_000).hex().encode())
    path = tmp_path / f"a.txt{suffix}"
    path.touch()
    module = {".gz": gzip, ".bz2": bz2, ".xz": lzma}.get(suffix)
    if module is None:
        monkeypatch.setattr(opening, "byte_stream", lambda path: Failing(whole[:3000]))
    else:
        ways = {suffix: lambda: compression._replace(open=lambda path: module.open(broken))}
        compression, broken = opening.COMPRESSIONS[suffix](), Failing(whole[:3000])
        monkeypatch.setattr(opening, "COMPRESSIONS", ways)
    with pytest.raises(OSError, match="Input/output error") as error:
        list(read_texts(path, on_bad="skip"))
    assert error.value.errno == errno.EIO


@pytest.mark.parametrize("suffix", [suffix for suffix in COMPRESS if suffix])
def test_what_is_cut_is_not_given(tmp_path, suffix):
    """As a document, as the last of the lines, or as a value."""
    numbers = [int.from_bytes(os.urandom(30), "big") for _ in range(3000)]
    lines = [f'{{"text": "{number}"}}' for number in numbers]
    for name, content in {
        "a.txt": "\n".join(lines), "folder/b.txt": lines[0], "folder/c.json": f"[{','.join(lines)}",
    }.items():  # fmt: skip
        path = tmp_path / (name + suffix)
        path.parent.mkdir(exist_ok=True)
        whole = COMPRESS[suffix](content.encode())
        path.write_bytes(whole[: len(whole) * 2 // 3])
    (tmp_path / "folder" / f"d.txt{suffix}").write_bytes(b"plain\n")
    skipped = Skipped()
    found = list(read_texts(tmp_path / f"a.txt{suffix}", on_bad="skip", skipped=skipped))
    assert found == lines[: len(found)]
    found = list(read_texts(tmp_path / "folder", on_bad="skip", skipped=skipped))
    assert found == [str(number) for number in numbers[: len(found)]]
    assert skipped.counts == {"broken file": 4}


def _tar(content):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for i in range(3):
            info = tarfile.TarInfo(f"{i}.txt")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def _utf_16(name):
    return lambda content: content.decode().encode(name)


NO_TEXT = {
    "gzip": (
        gzip.compress,
        "compressed \\(gzip\\), not text; pipe it through zcat, or name it .gz",
    ),
    "bzip2": (COMPRESS[".bz2"], "compressed .*bzcat, or name it .bz2"),
    "xz": (COMPRESS[".xz"], "compressed .*xzcat, or name it .xz"),
    "zstd": (COMPRESS[".zst"], "compressed .*zstdcat, or name it .zst"),
    "zip": (lambda content: b"PK\x03\x04\n\n" + content, "zip archive.*; unpack it"),
    "tar": (_tar, "an archive, not text; unpack it"),
    "7z": (lambda content: b"7z\xbc\xaf\x27\x1c" + content, "an archive.*; unpack it"),
    "rar": (lambda content: b"Rar!\x1a\x07\x01\x00" + content, "an archive.*; unpack it"),
    "png": (lambda content: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\n" + content, "a picture, not text"),
    "utf_16": (_utf_16("utf-16"), "UTF-16 or binary, .* `iconv -f UTF-16 -t UTF-8 FILE`"),
    "utf_16_le": (_utf_16("utf-16-le"), "UTF-16 or binary"),
    "utf_16_be": (_utf_16("utf-16-be"), "UTF-16 or binary"),
    "binary": (lambda content: b"\x7fELF\x02\x01\x01\0" + content, "UTF-16 or binary"),
    "utf_32": (_utf_16("utf-32"), "UTF-16 or binary"),
    "pdf": (
        lambda content: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n" + content,
        "a PDF.*; extract its text",
    ),
}


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
@pytest.mark.parametrize("kind", NO_TEXT)
def test_what_is_no_text_is_named(tmp_path, kind, encoding, monkeypatch):
    """Also where the name says otherwise, or the encoding has all bytes."""
    make, message = NO_TEXT[kind]
    content = make(b'{"text": "a ship at sea"}\n' * 99)
    for name in ("a.txt", "a.jsonl", "a.json", "a.csv", "a.log", "folder/a.txt", "b.txt.gz"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(content) if name == "b.txt.gz" else content)
        source = path.parent if "/" in name else path
        with pytest.raises(ReadingError, match=rf"{path}: is .*{message}"):
            list(read_texts(source, encoding=encoding))
        skipped = Skipped()
        read = {"encoding": encoding, "on_bad": "skip", "skipped": skipped}
        assert list(read_texts(source, **read)) == []
        assert skipped.counts == {"not text": 1}
        with pytest.raises(ReadingError, match=rf"{path}: is .*{message}"):
            list(read_records(source, encoding=encoding, time_key="date"))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    with pytest.raises(ReadingError, match=rf"standard input: is .*{message}"):
        list(read_texts("-", format="jsonl"))
    (tmp_path / "a.jsonl").write_bytes(content + b"\n")
    for on_bad in ("raise", "skip"):
        with pytest.raises(ReadingError, match=rf"a\.jsonl: is .*{message}"):
            list(follow(tmp_path / "a.jsonl", idle=0, encoding=encoding, on_bad=on_bad))


def test_utf_16_without_a_letter_of_ascii_ends_the_file(tmp_path):
    """It has no zero byte, but its mark; a later line may be text by chance."""
    path = tmp_path / "a.txt"
    path.write_bytes("\u6d77\u8239\u0a41\u4141\u410a\u4141".encode("utf-16"))
    skipped = Skipped()
    assert list(read_texts(path, on_bad="skip", skipped=skipped)) == []
    assert skipped.counts == {"not text": 1}
    with pytest.raises(ReadingError, match=rf"{path}, line 1: is UTF-16 or binary"):
        list(read_texts(path))


def test_texts_that_begin_as_files_do(tmp_path):
    path = tmp_path / "a.txt"
    for text in ("BZh91 is a name", "PK is one, too", "%PDF- begins such files"):
        path.write_text(text)
        assert list(read_texts(path)) == [text]


# Limits of memory


def test_the_longest_line(tmp_path):
    path = tmp_path / "a.txt"
    for before in range(8):
        content = "a\n" * before + "x" * 100 + "\nb\n" + "y" * 100
        path.write_text(content)
        assert len(list(read_texts(path, max_line=100))) == before + 3
        path.write_text(content.replace("x" * 100, "x" * 101))
        with pytest.raises(ReadingError, match=f"line {before + 1}: a line of more than 100 bytes"):
            list(read_texts(path, max_line=100))
        assert len(list(read_texts(path, max_line=100, on_bad="skip"))) == before + 2


def test_the_longest_document(tmp_path):
    (tmp_path / "a.txt").write_text("x\n" * 50)
    assert list(read_texts(tmp_path, max_line=100)) == ["x\n" * 50]
    (tmp_path / "a.txt").write_text("x\n" * 51)
    with pytest.raises(ReadingError, match=r"a\.txt: a document of more than 100 bytes.*=400"):
        list(read_texts(tmp_path, max_line=100))


def peak_of(texts, n=None):
    tracemalloc.start()
    try:
        for _ in islice(texts, n):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize(
    "name", ["bomb.txt", "bomb.jsonl", "bomb.csv", "bomb.json", "folder/x.txt"]
)
def test_a_bomb_does_not_fill_the_memory(tmp_path, name, suffix):
    """A line of 32 MB, where 1 MB is allowed; some formats need several copies of a line."""
    path = tmp_path / (name + suffix)
    path.parent.mkdir(exist_ok=True)
    start = {"bomb.json": b'["', "bomb.csv": b'text\n"'}.get(name, b'"')
    path.write_bytes(bomb(start, suffix))
    source = path.parent if "/" in name else path
    skipped = Skipped()
    texts = read_texts(source, max_line=2**20, on_bad="skip", skipped=skipped)
    assert peak_of(texts) < 2**24
    assert skipped.counts == {"too long": 1}


@cache
def bomb(start, suffix):
    return COMPRESS[suffix](start + b"x" * 2**25)


LONG = "of many words " * 40
FORMATS = {
    "a.txt": lambda i: f"text {i} {LONG}\n",
    "a.jsonl": lambda i: json.dumps({"text": f"text {i} {LONG}"}) + "\n",
    "a.csv": lambda i: f"text {i} {LONG}\n" if i else "text\n",
    "a.json": lambda i: f'{"," if i else "["}"text {i} {LONG}"',
}


@pytest.mark.parametrize("name", FORMATS)
def test_memory_does_not_grow_with_the_file(tmp_path, name):
    """Of 1 MB and of 9 MB of text; read at once, the larger one would take 9 MB at least."""
    peaks = []
    for n in (2000, 16_000):
        path = tmp_path / name
        lines = "".join(FORMATS[name](i) for i in range(n))
        path.write_text(lines + ("]" if name == "a.json" else ""))
        peaks.append(peak_of(read_texts(path)))
    assert peaks[1] < peaks[0] + 2**20
    assert peaks[1] < 2**22


def test_memory_does_not_grow_with_a_parquet_file(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    texts = [f"text number {i} of many" for i in range(100_000)]
    parquet.write_table(arrow.table({"text": texts}), path, row_group_size=5000)
    assert peak_of(read_texts(path)) < 2**21


def test_no_more_is_read_than_is_needed(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"line\n" * 10**6)[:-9])
    assert list(islice(read_texts(path), 3)) == ["line"] * 3


# Files are closed


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("name", FORMATS)
def test_files_are_closed_when_nobody_reads_on(tmp_path, name, suffix):
    path = tmp_path / (name + suffix)
    lines = "".join(FORMATS[name](i) for i in range(9))
    path.write_bytes(COMPRESS[suffix](lines.encode()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        records = read_records(path)
        next(records)
        del records
        with pytest.raises(ReadingError):
            list(read_texts(path, max_line=3))
        gc.collect()


def test_nothing_is_left_open_at_the_end_of_a_process(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'"a"\n"b"\n'))
    code = (
        "import sys; from streamtopics.datasets import read_records, follow\n"
        "records = read_records(sys.argv[1]); next(records)\n"
        "lines = follow(sys.argv[2], idle=0); next(lines)"
    )
    (tmp_path / "b.txt").write_text("a\nb\n")
    command = [sys.executable, "-W", "error", "-X", "dev", "-c", code, path, tmp_path / "b.txt"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stderr == ""
