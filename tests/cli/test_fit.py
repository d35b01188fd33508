# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics fit`, as a user calls it, also without the verb."""

import csv
import gzip
import json
import pickle
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import load
from streamtopics.cli import main
from tests.cli.texts import WORDS, lines
from tests.small import SEA, SKY

TEXTS = lines(400)
TWO = ("--topics", 2, "--quiet")


@pytest.fixture(scope="module")
def tweets(tmp_path_factory):
    """Four hundred documents, each about the sea or the sky."""
    path = tmp_path_factory.mktemp("tweets") / "tweets.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps({"text": text}) + "\n" for text in TEXTS)
    return path


@pytest.fixture
def fit(run):
    return partial(run, "--max-share", 1)


def words_in(path):
    """The words of a saved model, without columns that have none."""
    names = load(path).pipeline_[0].get_feature_names_out()
    return {name for name in names if not name.startswith("<free ")}


def test_main_job_on_a_file(tweets, fit, tmp_path):
    model = tmp_path / "model"
    out, err = fit(tweets, "--topics", 2, "--words", 5, "--batch-size", 40, "--model", model)
    assert "360 documents" in out
    assert "40 documents held out" in out
    rows = out.split("\ntopic ")[1].splitlines()[1:3]
    about = [{k for k, words in WORDS.items() if set(words) & set(row.split())} for row in rows]
    assert sorted(map(tuple, about)) == [("sea",), ("sky",)]
    alone = "one topic alone: -" + out.partition("one topic alone: -")[2].splitlines()[0]
    assert fit(tweets, "--topics", 1, "--quiet")[0].endswith(f"{alone}\n")
    assert "nan" not in out
    assert "documents" in err
    assert load(model).transform(["a ship and a wave"]).shape == (1, 2)


def test_seeds_name_topics(tweets, fit, tmp_path):
    seeds = tmp_path / "seeds.json"
    seeds.write_text(json.dumps({"water": ["ship"], "air": ["plane"]}), encoding="utf-8")
    words = {"water": WORDS["sea"], "air": WORDS["sky"]}
    for more in ([], ["--vocabulary-from", 200]):
        out, _ = fit(tweets, "--seeds", seeds, "--quiet", "--words", 6, *more)
        rows = [line for line in out.splitlines() if "water: " in line or "air: " in line]
        for row in rows:
            name = "water" if "water:" in row else "air"
            assert set(row.split(": ", 1)[1].split()) == set(words[name])
        assert len(rows) == 2
    seeds.write_text(json.dumps({"water": ["ship"]}), encoding="utf-8-sig")
    assert "water: " in fit(tweets, "--seeds", seeds, "--quiet")[0]
    for text, message in [("[]", "seeds must map names of topics"), ("{", f"{seeds} is not JSON")]:
        seeds.write_text(text, encoding="utf-8")
        assert message in fit(tweets, "--seeds", seeds, status=2)[1]
    several = fit(tweets, "--seeds", seeds, "--topics", "3,4", status=2)[1]
    assert "one number beside --seeds" in several


def test_what_is_written_is_about_the_texts(tweets, fit, tmp_path):
    documents, report = tmp_path / "d.jsonl", tmp_path / "r.html"
    for name in ("t.csv", "t.json", "t.jsonl"):
        fit(tweets, *TWO, "--topics-out", tmp_path / name, "--documents-out", documents)
    rows = [json.loads(line) for line in documents.read_text(encoding="utf-8").splitlines()]
    assert [row["line"] for row in rows] == list(range(1, 401))
    best = [row["topics"][0]["label"].split()[0] in WORDS["sea"] for row in rows]
    assert best == [i % 2 == 1 for i in range(400)]
    assert len(json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))) == 2
    fit(tweets, *TWO, "--report", report)
    assert "<title>" in report.read_text(encoding="utf-8")


def test_texts_do_not_command_the_terminal(fit, tmp_path):
    path = tmp_path / "\x1b]0;owned\x07\u202e.txt"
    line = "\x1b]0;owned\x07 ship \x9b31m wave \u202e anchor tide\n"
    path.write_text(line * 40, encoding="utf-8")
    out, err = fit(path, *TWO)
    assert "ship" in out
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*out, *err}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("latin.txt", "d\u00e9j\u00e0 vu\n".encode("latin-1"), "latin.txt, line 1: byte 0xe9"),
        ("broken.jsonl", b'{"text": "fine"}\n{"text": \n', "broken.jsonl, line 2: not JSON"),
        ("empty.txt", b"", "empty.txt; nothing was skipped"),
        ("blank.txt", b"1 2 3\n4 5 6\n", "no vocabulary could be made"),
    ],
)
def test_files_that_cannot_be_read(fit, tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    assert said in fit(tmp_path / name, status=2)[1]


def test_parameters_that_there_are_not(tweets, fit):
    assert "Invalid parameter 'kapa'" in fit(tweets, *TWO, "--set", "kapa=0.6", status=2)[1]


def test_a_name_that_is_empty_is_no_folder(tweets, fit, monkeypatch):
    """As of a variable of the shell that is not set."""
    monkeypatch.chdir(tweets.parent)
    for files in ([""], [tweets, ""]):
        out, err = fit(*files, "--quiet", status=2)
        assert out == ""
        assert "the name of a file is empty" in err


def test_a_table(fit, tmp_path):
    """Only the texts are read of it, and a wrong column is an error that names those there are."""
    path, model = tmp_path / "tweets.csv", tmp_path / "model"
    path.write_text("colour,body\n" + "".join(f"green,{text}\n" for text in TEXTS))
    out, _ = fit(path, *TWO, "--text-key", "body", "--model", model)
    assert "360 documents" in out
    assert words_in(model) == {*WORDS["sea"], *WORDS["sky"]}
    _, err = fit(path, *TWO, status=2)
    assert "there is no 'text'; there is: 'colour', 'body'; pass --text-key body, for" in err


def test_an_encoding(fit, tmp_path):
    """The error for a file in another encoding tells of the option that reads it."""
    path, model = tmp_path / "latin.txt", tmp_path / "model"
    path.write_bytes("d\u00e9j\u00e0 entendu\nun d\u00e9but\n".encode("latin-1") * 30)
    assert "--encoding cp1252" in fit(path, "--quiet", status=2)[1]
    fit(path, "--encoding", "cp1252", *TWO, "--model", model)
    assert words_in(model) == {"d\u00e9j\u00e0", "entendu", "d\u00e9but"}


def test_words_are_those_of_count_vectorizer(tweets, fit, tmp_path):
    """What is counted, and what the fitted pipeline counts once it is read again."""
    fit(tweets, *TWO, "--model", tmp_path / "m")
    words, topics = load(tmp_path / "m").pipeline_
    parameters = CountVectorizer().get_params()
    other = CountVectorizer(**{name: getattr(words, name) for name in parameters})
    X, expected = words.transform(TEXTS), other.fit_transform(TEXTS)
    columns = [words.vocabulary_[word] for word in other.get_feature_names_out()]
    assert len(columns) == len(words.vocabulary_)
    assert words.token_pattern == r"(?u)\b[^\W\d_]{3,}\b"
    assert X.dtype == expected.dtype == np.float32
    assert abs(X[:, columns] - expected).sum() == 0
    assert topics.transform(X).shape == (400, 2)


def test_short_words(fit, tmp_path):
    """Of two letters, as most are in Korean, and of one; the message says what helps."""
    path, model = tmp_path / "short.txt", tmp_path / "model"
    korean = [
        "\uc131\uc7a5 \uc740\ud589 \uacbd\uc81c \uae08",
        "\ubc14\ub2e4 \uc120\uc6d0 \ud56d\uad6c",
    ]
    path.write_text("\n".join(korean * 40), encoding="utf-8")
    given = (path, *TWO, "--model", model)
    assert "or --shortest 1" in fit(*given, status=2)[1]
    for shortest, words in {1: 7, 2: 6}.items():
        out, err = fit(*given, "--shortest", shortest)
        assert err == ""
        assert f"over a vocabulary of {words}" in out
        assert words_in(model) <= set(" ".join(korean).split())
    fit(*given, "--shortest", 2**31 - 1, status=2)
    path.write_text("all 1\nall 2\n", encoding="utf-8")
    assert "--max-share 1, --stop-words none or --shortest 1" in fit(*given, status=2)[1]
    path.write_text("1 2\n3 4\n", encoding="utf-8")
    assert "there is no letter in them" in fit(*given, status=2)[1]


@pytest.mark.parametrize("target", ["nowhere/x.csv", ".", "x.foo"])
def test_targets_that_cannot_be_written_are_found_at_once(tweets, fit, tmp_path, target):
    out, err = fit(tweets, "--topics-out", tmp_path / target, status=2)
    assert out == ""
    assert "reading" not in err


def test_same_run_twice_gives_the_same_model(tweets, fit, tmp_path):
    models = []
    for name in ("one", "two"):
        fit(tweets, *TWO, "--model", tmp_path / name)
        models.append(pickle.dumps(load(tmp_path / name).pipeline_[-1]))
    assert models[0] == models[1]


def test_times_that_are_no_dates(run, tmp_path, monkeypatch):
    """Are refused with what helps."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{1 + i % 12:02}.05.2024,ship wave {'sea' * (i % 2)}\n" for i in range(60))
    Path("t.csv").write_text("day,text\n" + rows, encoding="utf-8")
    read = ["t.csv", "--time-key", "day"]
    more = [*TWO, "--max-share", 1, "--model", "m.model"]
    more += ["--documents-out", "d.csv", "--report", "r.html"]
    assert "pass --time-format %d.%m.%Y, for example" in run("fit", *read, *more, status=2)[1]
    run("fit", *read, "--time-format", "%d.%m.%Y", *more)
    assert "2024-05-12T00:00:00" in Path("d.csv").read_text(encoding="utf-8")
    assert load("m.model").documents[0].time == "2024-05-01"
    with Path("t.csv").open("a", encoding="utf-8") as file:
        file.write("1999,ship\n")
    _, err = run("update", "m.model", *read, "--skip-bad", status=2)
    assert "the documents before came with dates as times" in err


def test_columns_that_come_out_again(run, fit, tmp_path):
    """The id first, and those to keep beside the topics, of fit and of apply alike."""
    path, model, out = tmp_path / "t.jsonl", tmp_path / "m.model", tmp_path / "d.csv"
    rows = [
        {"id": f"t{i}", "n": i, "user": {"name": "Ann"}, "text": text}
        for i, text in enumerate(TEXTS[:60])
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    columns = ["--id-key", "id", "--keep", "n,user.name"]
    for more in ([], ["--vocabulary-from", 20]):
        fit(path, *TWO, "--model", model, "--documents-out", out, *columns, *more)
        with out.open(encoding="utf-8", newline="") as file:
            found = list(csv.DictReader(file))
        assert list(found[0])[:7] == ["id", "source", "line", "time", "n", "user.name", "topic_1"]
        assert [row["id"] for row in found] == [row["id"] for row in rows]
    found = [json.loads(line) for line in run("apply", model, path, *columns)[0].splitlines()]
    assert [(row["id"], row["n"], row["user.name"]) for row in found] == [
        (f"t{i}", i, "Ann") for i in range(60)
    ]
    _, err = run("apply", model, path, "--keep", "m", status=2)
    assert "there is no 'm'; there is: 'id', 'n', 'user', 'text'" in err


def test_documents_held_out_by_fit_have_no_later_time(tmp_path, capsys):
    rows = [{"text": text, "id": i % 3} for i, text in enumerate(SEA * 9 + SKY * 6)]
    path, model = tmp_path / "c.jsonl", str(tmp_path / "m")
    path.write_text("\n".join(map(json.dumps, rows)))
    how = ["--group-key", "id", "--quiet", "--max-share", "1", "--model", model]
    assert main(["fit", str(path), "--topics", "2", *how]) == 0
    assert len(load(model).totals().periods) == 1
    assert not load(model).findings()
