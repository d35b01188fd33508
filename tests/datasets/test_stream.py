# SPDX-License-Identifier: BSD-3-Clause
"""Minibatches from each kind of source, how little is read, and each error."""

import gzip
import json
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics.datasets import iter_minibatches, read_records, read_texts

TEXTS = ["one text", "a second", "thé third", "number four", "the last"]
JSON_LINES = "\n".join(json.dumps({"id": i, "text": text}) for i, text in enumerate(TEXTS))
PLAIN = "\n".join(TEXTS) + "\n"


@pytest.fixture(name="write")
def writer(tmp_path):
    """Writes a file, compressed if its name says so, and returns its path."""

    def write(name, content):
        content = content.encode() if isinstance(content, str) else content
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


# Every kind of source


@pytest.mark.parametrize("kind", [list, tuple, iter, np.array, pd.Series])
def test_iterables_of_texts(kind):
    assert list(iter_minibatches(kind(TEXTS), 2)) == [TEXTS[:2], TEXTS[2:4], TEXTS[4:]]
    assert list(read_texts(kind(TEXTS))) == TEXTS


@pytest.mark.parametrize("suffix", [".jsonl", ".ndjson", ".json", ".JSONL", ".jsonl.gz"])
@pytest.mark.parametrize("as_path", [str, Path])
def test_json_lines(write, suffix, as_path):
    path = write("texts" + suffix, JSON_LINES)
    assert list(read_texts(as_path(path))) == TEXTS


@pytest.mark.parametrize("name", ["texts.txt", "texts", "texts.text.gz", "texts.txt.gz"])
@pytest.mark.parametrize("as_path", [str, Path])
def test_plain_text(write, name, as_path):
    assert list(read_texts(as_path(write(name, PLAIN)))) == TEXTS


def test_a_list_of_paths_and_texts(write):
    paths = [write("b.txt", "b\n"), write("a.jsonl", '"a"\n'), write("c.txt.gz", "c\nd")]
    assert list(read_texts(paths)) == ["b", "a", "c", "d"]
    assert list(read_texts(path for path in paths)) == ["b", "a", "c", "d"]
    assert list(read_texts([paths[0], "a text", paths[1]])) == ["b", "a text", "a"]


def test_a_directory(write, tmp_path):
    write("folder/b.txt", "one document\non two lines\n")
    write("folder/a.jsonl", '"first"\n{"text": "second"}\n')
    write("folder/c.txt.gz", "compressed")
    write("folder/d.txt", "")
    write("folder/.hidden.txt", "hidden")
    write("folder/image.png", b"\xff")
    (tmp_path / "folder" / "e.txt").mkdir()
    expected = ["first", "second", "one document\non two lines\n", "compressed", ""]
    assert list(read_texts(tmp_path / "folder")) == expected
    assert list(read_texts([tmp_path / "folder"])) == expected
    assert list(iter_minibatches(str(tmp_path / "folder"), 3)) == [expected[:3], expected[3:]]


def test_lines(write):
    assert list(read_texts(write("a.txt", "\ufeff"))) == []
    text = "\ufeffwindows\r\n\r\n \n a\x0bb\u2028c \n\nlast"
    assert list(read_texts(write("a.txt", text))) == ["windows", " a\x0bb\u2028c ", "last"]
    lines = '\ufeff{"text": ""}\r\n\n"\\n"\n'
    assert list(read_texts(write("a.jsonl", lines))) == ["", "\n"]


def test_text_key_and_encoding(write):
    path = write("a.jsonl", '{"body": "été", "text": 1}\n'.encode("latin-1"))
    assert list(read_texts(path, text_key="body", encoding="latin-1")) == ["été"]
    batches = iter_minibatches(path, 1, text_key="body", encoding="latin-1")
    assert list(batches) == [["été"]]
    assert list(read_texts([{"body": "a"}, "b"], text_key="body")) == ["a", "b"]


@pytest.mark.parametrize(
    "kind", [np.asarray, sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix, pd.DataFrame]
)
def test_matrices(kind):
    X = np.arange(10).reshape(5, 2)
    batches = list(iter_minibatches(kind(X), 2))
    assert [batch.shape for batch in batches] == [(2, 2), (2, 2), (1, 2)]
    dense = [b.toarray() if sparse.issparse(b) else np.asarray(b) for b in batches]
    np.testing.assert_array_equal(np.vstack(dense), X)


def test_rows_of_a_data_frame_are_taken_by_position():
    frame = pd.DataFrame({"a": [1, 2, 3]}, index=[2.0, 1.0, 0.0])
    first, second = iter_minibatches(frame, 2)
    assert first["a"].tolist() == [1, 2]
    assert second["a"].tolist() == [3]


def test_a_vectorizer_makes_counts():
    vectorizer = CountVectorizer().fit(TEXTS)
    batches = list(iter_minibatches(TEXTS, 2, vectorizer=vectorizer))
    assert [batch.shape[0] for batch in batches] == [2, 2, 1]
    stacked = sparse.vstack(batches).toarray()
    np.testing.assert_array_equal(stacked, vectorizer.transform(TEXTS).toarray())


@pytest.mark.parametrize("source", [[], iter([]), np.empty((0, 3))])
def test_no_documents_no_minibatches(source):
    assert list(iter_minibatches(source)) == []


def test_a_file_without_documents(write):
    assert list(iter_minibatches(write("a.txt", "\n\n"))) == []


TABLE = 'id,text,when\r\n1,"red, ""red"" sea\nand sky",2020\r\n\r\n2,,2021\n3, blue ,'


@pytest.mark.parametrize("name", ["a.csv", "a.CSV", "a.csv.gz", "a.tsv", "a.tsv.gz"])
def test_tables(write, name):
    """By a named column, with the lines of a quoted text, as the csv module reads them."""
    is_csv = "csv" in name.lower()
    commas = write(name, "\ufeff" + TABLE if is_csv else TABLE.replace(",", "\t"))
    expected = 'red, "red" sea\nand sky' if is_csv else 'red\t "red" sea\nand sky'
    assert list(read_texts(commas)) == [expected, "", " blue "]
    assert list(read_texts([commas, "else"], text_key="when")) == ["2020", "2021", "", "else"]
    assert list(iter_minibatches(commas, 2, text_key="id")) == [["1", "2"], ["3"]]


def test_missing_texts_of_tables_are_those_of_pandas(write):
    cells = ["a ship", "NULL", "NaN", "NA", "N/A", "", "None", "#N/A", "<NA>", "-1.#IND", "null"]
    cells += ["nan", "NULLS", "none", "Na", "Namibia", "n/a", "-nan", "1.#QNAN", "#NA", "0"]
    path = write("a.csv", "id,text\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    found = list(read_records(path, keys=["id"]))
    table = pd.read_csv(path).fillna("")
    assert [(record.fields["id"], record.text) for record in found] == [
        (str(i), text) for i, text in zip(table["id"], table["text"], strict=True)
    ]


def test_a_missing_text_of_json_is_null(write):
    path = write("a.jsonl", '{"text": null}\n{"text": ""}\n{"text": "NULL"}\n')
    assert list(read_texts(path)) == ["", "", "NULL"]


@pytest.mark.parametrize("content", ["", "text\n", "\n\ntext\n\n"])
def test_tables_without_rows(write, content):
    assert list(read_texts(write("a.csv", content))) == []


def test_tables_of_a_directory_and_their_encoding(write, tmp_path):
    write("folder/a.csv", "text\nété\n".encode("latin-1"))
    write("folder/b.tsv.gz", "id\ttext\n1\tsky")
    assert list(read_texts(tmp_path / "folder", encoding="latin-1")) == ["été", "sky"]


def test_tables_are_read_when_asked_for(write):
    rows = read_texts(write("a.csv", 'text\nred\n"never closed\n'))
    assert next(rows) == "red"
    with pytest.raises(ValueError, match=r"a\.csv, line 3: no row of a table \(unexpected end"):
        next(rows)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "id,body\n1,red\n", "a.csv: no column 'text'; .*commas, are: 'id', 'body'"),
        (
            "a.csv",
            "id;text\n1;red\n",
            "'id;text', has no commas, but semicolons.*Save it with commas, or",
        ),
        (
            "a.tsv",
            "id,text\n1,red\n",
            "'id,text', has no tabs, but commas, .*; pass format='csv', for",
        ),
        ("a.csv", "id,text\n1\n", r"line 2: a row of 1 fields, but the first row has 2: \['1'\]"),
        ("a.csv", 'text\n"red\nsea"\n"a" b\n', "line 4: no row of a table .*',' expected"),
        ("a.csv", f'text\n"{"red " * 40_000}" b\n', r"line 2: no row of a table \(wrong quot"),
    ],
)
def test_bad_tables(write, name, content, message):
    with pytest.raises(ValueError, match=message):
        list(read_texts(write(name, content)))


# Laziness


def test_a_stream_may_be_endless():
    numbers = count()
    batches = iter_minibatches((f"text {i}" for i in numbers), 3)
    assert isinstance(batches, Iterator)
    assert next(numbers) == 0
    assert next(batches) == ["text 1", "text 2", "text 3"]
    assert next(numbers) == 4
    assert list(islice(read_texts(f"text {i}" for i in count()), 2)) == ["text 0", "text 1"]


def test_a_vectorizer_sees_one_minibatch_at_a_time():
    taken = count()
    texts = (f"text {next(taken)}" for _ in range(9))
    vectorizer = CountVectorizer(vocabulary=["text"])
    assert next(iter_minibatches(texts, 2, vectorizer=vectorizer)).sum() == 2
    assert next(taken) == 2


def test_later_lines_are_read_later(write):
    path = write("a.jsonl", '"good"\n"too"\nbad\n')
    batches = iter_minibatches([path], 2)
    assert next(batches) == ["good", "too"]
    with pytest.raises(ValueError, match="line 3"):
        next(batches)


# Errors


@pytest.mark.parametrize(
    ("name", "content", "line", "message"),
    [
        ("a.txt", b"fine\nna\xefve\n", 2, r"byte 0xef at position 3 of b'na\\xefve.*latin-1"),
        ("a.txt.gz", b"fine\nna\xefve\n", 2, "byte 0xef"),
        ("a.csv", b"text\nna\xefve\n", 2, "byte 0xef .*latin-1"),
        ("a.jsonl", b'"fine"\n\n"\xff"', 3, "byte 0xff"),
        ("a.jsonl", '"fine"\nnot json\n', 2, "not JSON .*column 1 .*'not json"),
        ("a.jsonl", '{"text": "cut', 1, "not JSON"),
        ("a.jsonl", '[\n"a"\n]\n', 1, "not JSON"),
        ("a.jsonl", '{"body": "b", "id": 1}\n', 1, "under the key 'text'.*'body', 'id'.*text_key"),
        ("a.jsonl", "{}\n", 1, "the keys are: none"),
        ("a.jsonl", '{"text": 7}\n', 1, r"must be a str; got 7 \(int\)"),
        ("a.jsonl", '"fine"\n7\n', 2, r"must be a str; got 7 \(int\)"),
        ("a.jsonl", '[["a"], "b"]', 1, "must be a str; got .* \\(list\\).*by itself"),
    ],
)
def test_bad_lines_are_named(write, name, content, line, message):
    path = write(name, content)
    with pytest.raises(ValueError, match=f"{name}, line {line}: .*{message}"):
        list(read_texts(path))


def test_bad_bytes_in_a_whole_document(write, tmp_path):
    write("folder/a.txt", b"fine\n\xff")
    with pytest.raises(ValueError, match=r"a\.txt, line 2: byte 0xff"):
        list(read_texts(tmp_path / "folder"))


@pytest.mark.parametrize(
    "content",
    [
        b"not compressed",
        gzip.compress(b"line\n" * 99, mtime=0)[:-9],
        b"",
        b"\x1f\x8b\x08" + b"?" * 40,
    ],
)
def test_bad_compression(tmp_path, content):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(content)
    if not content:
        assert list(read_texts(path)) == []
        return
    with pytest.raises(ValueError, match=r"a\.txt\.gz: ends in \.gz but cannot be decompressed"):
        list(read_texts(path))


@pytest.mark.parametrize("read", [read_texts, iter_minibatches])
@pytest.mark.parametrize("text", ["no such file", "", "long " * 2000, "zero \0 byte"])
def test_a_text_by_itself_is_no_source(read, text):
    with pytest.raises(FileNotFoundError, match=r"Pass texts as a list: \[text, ...\]") as caught:
        read(text)
    assert len(str(caught.value)) < 300


def test_missing_paths_are_found_before_anything_is_read(tmp_path):
    missing = tmp_path / "missing.txt"
    for source in [missing, ["text", missing], (missing,)]:
        with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
            read_texts(source)
    with pytest.raises(FileNotFoundError, match=r"missing\.txt"):
        next(read_texts(iter([missing])))


def test_a_directory_with_nothing_to_read(tmp_path):
    (tmp_path / "image.png").touch()
    with pytest.raises(ValueError, match=r"no files to read: none ends in \.csv, \.json, \.jsonl"):
        next(read_texts(tmp_path))


@pytest.mark.parametrize(("item", "name"), [(3, "int"), (None, "NoneType"), (b"b" * 99, "bytes")])
def test_items_that_are_no_texts(item, name):
    with pytest.raises(ValueError, match=rf"item 2 of source: a text must be a str.*\({name}\)"):
        list(read_texts(["text", item]))


def test_names_of_files_in_a_list_are_not_taken_for_texts(write):
    name = str(write("a.txt", PLAIN))
    with pytest.raises(ValueError, match=r"pass pathlib\.Path"):
        list(read_texts([name]))
    assert list(read_texts(["nosuchfile.txt", name])) == ["nosuchfile.txt", name]


@pytest.mark.parametrize("source", [3, None, b"bytes", {"data": ["text"]}, np.ones((2, 2))])
def test_sources_that_are_none(source):
    with pytest.raises(TypeError, match="source must be an iterable of texts"):
        read_texts(source)


@pytest.mark.parametrize("shape", [5, None])
def test_a_shape_that_is_none(shape):
    source = type("Source", (list,), {"shape": shape})(TEXTS)
    assert list(iter_minibatches(source, 9)) == [TEXTS]
    with pytest.raises(TypeError, match="source must be an iterable of texts"):
        iter_minibatches(type("Source", (), {"shape": shape})())


@pytest.mark.parametrize(
    "vectorizer", [5, CountVectorizer, pd.DataFrame({"words": ["a b"]}), pd.Series(["a b"])]
)
def test_a_vectorizer_transforms(vectorizer):
    with pytest.raises(TypeError, match="vectorizer must be an object with `transform`"):
        iter_minibatches(TEXTS, vectorizer=vectorizer)


def test_a_matrix_needs_no_vectorizer():
    with pytest.raises(ValueError, match=r"a matrix of shape \(2, 2\); pass vectorizer=None"):
        iter_minibatches(np.ones((2, 2)), vectorizer=CountVectorizer())


@pytest.mark.parametrize(
    ("batch_size", "error"), [(0, ValueError), (-1, ValueError), (2.0, TypeError), ("2", TypeError)]
)
def test_batch_size_is_checked_at_once(batch_size, error):
    with pytest.raises(error, match="batch_size"):
        iter_minibatches(TEXTS, batch_size)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "cp037"])
def test_encodings_without_ascii_lines(encoding):
    with pytest.raises(ValueError, match=f"'{encoding}' cannot be read line by line"):
        read_texts(TEXTS, encoding=encoding)


def test_an_unknown_encoding():
    with pytest.raises(LookupError, match="utf-9"):
        read_texts(TEXTS, encoding="utf-9")
