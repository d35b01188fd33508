# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics fit`, as a user calls it, also without the verb."""

import csv
import gzip
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import load
from streamtopics.cli import main

WORDS = {
    "sea": ["ship", "harbour", "sailor", "wave", "anchor", "tide"],
    "sky": ["plane", "pilot", "cloud", "wing", "airport", "flight"],
}


@pytest.fixture(scope="module")
def tweets(tmp_path_factory):
    """Four hundred documents, each about the sea or the sky."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("tweets") / "tweets.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as out:
        for i in range(400):
            words = rng.choice(WORDS["sea" if i % 2 else "sky"], 12)
            out.write(json.dumps({"text": " ".join(words)}) + "\n")
    return path


def words_in(path):
    """The words of a saved model, without columns that have none."""
    names = load(path).pipeline_[0].get_feature_names_out()
    return {name for name in names if not name.startswith("<free ")}


def run(capsys, *arguments):
    status = main(["--max-share", "1", *(str(argument) for argument in arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_main_job_on_a_file(tweets, capsys, tmp_path):
    model = tmp_path / "model"
    given = ("--topics", 2, "--words", 5, "--batch-size", 40, "--model", model)
    status, out, err = run(capsys, tweets, *given)
    assert status == 0, err
    assert "360 documents" in out
    assert "40 documents held out" in out
    known = WORDS["sea"] + WORDS["sky"]
    table = out.split("\ntopic ")[1]
    rows = list(table.splitlines()[1:3])
    assert all(any(word in row for word in known) for row in rows)
    about = [{k for k, words in WORDS.items() if set(words) & set(row.split())} for row in rows]
    assert sorted(map(tuple, about)) == [("sea",), ("sky",)]
    assert "one topic alone: -" in out
    assert "nan" not in out
    assert "documents" in err
    pipeline = load(model)
    assert pipeline.transform(["a ship and a wave"]).shape == (1, 2)


def test_vocabulary_from_the_first_documents(tweets, capsys):
    status, out, _ = run(capsys, tweets, "--topics", 2, "--vocabulary-from", 100, "--quiet")
    assert status == 0
    assert "390 documents" in out
    assert "10 documents held out" in out


def test_seeds_name_topics(tweets, capsys, tmp_path):
    seeds = tmp_path / "seeds.json"
    seeds.write_text(json.dumps({"water": ["ship"], "air": ["plane"]}), encoding="utf-8")
    for more in ([], ["--vocabulary-from", 200]):
        status, out, err = run(capsys, tweets, "--seeds", seeds, "--quiet", "--words", 6, *more)
        assert status == 0, err
        rows = [line for line in out.splitlines() if "water: " in line or "air: " in line]
        words = {"water": WORDS["sea"], "air": WORDS["sky"]}
        for row in rows:
            name = "water" if "water:" in row else "air"
            assert set(row.split(": ", 1)[1].split()) == set(words[name])
        assert len(rows) == 2
    seeds.write_text(json.dumps({"water": ["ship"]}), encoding="utf-8-sig")
    status, out, err = run(capsys, tweets, "--seeds", seeds, "--quiet")
    assert status == 0, err
    assert "water: " in out
    for text, message in [("[]", "seeds must map names of topics"), ("{", f"{seeds} is not JSON")]:
        seeds.write_text(text, encoding="utf-8")
        status, _, err = run(capsys, tweets, "--seeds", seeds)
        assert status == 2
        assert message in err


def test_what_is_written_is_about_the_texts(tweets, capsys, tmp_path):
    names = ["t.csv", "t.json", "t.jsonl"]
    for name in names:
        given = ("--topics", 2, "--quiet", "--topics-out", tmp_path / name)
        documents = tmp_path / "d.jsonl"
        status, _, err = run(capsys, tweets, *given, "--documents-out", documents)
        assert status == 0, err
    rows = [json.loads(line) for line in documents.read_text(encoding="utf-8").splitlines()]
    assert [row["line"] for row in rows] == list(range(1, 401))
    best = [row["topics"][0]["label"].split()[0] in WORDS["sea"] for row in rows]
    assert best == [i % 2 == 1 for i in range(400)]
    table = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert len(table) == 2
    report = tmp_path / "r.html"
    status, _, err = run(capsys, tweets, "--topics", 2, "--quiet", "--report", report)
    assert status == 0, err
    assert "<title>" in report.read_text(encoding="utf-8")


def test_texts_do_not_command_the_terminal(capsys, tmp_path):
    path = tmp_path / "\x1b]0;owned\x07\u202e.txt"
    line = "\x1b]0;owned\x07 ship \x9b31m wave \u202e anchor tide\n"
    path.write_text(line * 40, encoding="utf-8")
    status, out, err = run(capsys, path, "--topics", 2, "--quiet")
    assert status == 0, err
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
def test_files_that_cannot_be_read(capsys, tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    status, _, err = run(capsys, tmp_path / name)
    assert status == 2
    assert said in err


def test_parameters_that_there_are_not(tweets, capsys):
    status, _, err = run(capsys, tweets, "--quiet", "--set", "kapa=0.6")
    assert status == 2
    assert "Invalid parameter 'kapa'" in err


def test_a_name_that_is_empty_is_no_folder(tweets, capsys, monkeypatch):
    """As of a variable of the shell that is not set."""
    monkeypatch.chdir(tweets.parent)
    for files in ([""], [tweets, ""]):
        status, out, err = run(capsys, *files, "--quiet")
        assert (status, out) == (2, "")
        assert "the name of a file is empty" in err


def test_a_table(tweets, capsys, tmp_path):
    """Only the texts are read of it, and a wrong column is an error that names those there are."""
    with gzip.open(tweets, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    path = tmp_path / "tweets.csv"
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["colour", "body"])
        writer.writerows(["green", text] for text in texts)
    model = tmp_path / "model"
    given = (path, "--topics", 2, "--quiet")
    status, out, err = run(capsys, *given, "--text-key", "body", "--model", model)
    assert status == 0, err
    assert "360 documents" in out
    words = words_in(model)
    assert words == {*WORDS["sea"], *WORDS["sky"]}
    status, _, err = run(capsys, *given)
    assert status == 2
    assert "there is no 'text'; there is: 'colour', 'body'; pass --text-key body, for" in err


def test_an_encoding(capsys, tmp_path):
    """The error for a file in another encoding tells of the option that reads it."""
    path, model = tmp_path / "latin.txt", tmp_path / "model"
    path.write_bytes("d\u00e9j\u00e0 entendu\nun d\u00e9but\n".encode("latin-1") * 30)
    status, _, err = run(capsys, path, "--quiet")
    assert status == 2
    assert "--encoding cp1252" in err
    given = ("--encoding", "cp1252", "--topics", 2, "--quiet", "--model", model)
    status, _, err = run(capsys, path, *given)
    assert status == 0, err
    assert words_in(model) == {"d\u00e9j\u00e0", "entendu", "d\u00e9but"}


def test_words_are_those_of_count_vectorizer(tweets, capsys, tmp_path):
    """What is counted, and what the fitted pipeline counts once it is read again."""
    run(capsys, tweets, "--topics", 2, "--model", tmp_path / "m", "--quiet")
    words, topics = load(tmp_path / "m").pipeline_
    with gzip.open(tweets, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    parameters = CountVectorizer().get_params()
    other = CountVectorizer(**{name: getattr(words, name) for name in parameters})
    X, expected = words.transform(texts), other.fit_transform(texts)
    columns = [words.vocabulary_[word] for word in other.get_feature_names_out()]
    assert len(columns) == len(words.vocabulary_)
    assert words.token_pattern == r"(?u)\b[^\W\d_]{3,}\b"
    assert X.dtype == expected.dtype == np.float32
    assert abs(X[:, columns] - expected).sum() == 0
    assert topics.transform(X).shape == (400, 2)


def test_short_words(capsys, tmp_path):
    """Of two letters, as most are in Korean, and of one; the message says what helps."""
    path, model = tmp_path / "short.txt", tmp_path / "model"
    korean = [
        "\uc131\uc7a5 \uc740\ud589 \uacbd\uc81c \uae08",
        "\ubc14\ub2e4 \uc120\uc6d0 \ud56d\uad6c",
    ]
    path.write_text("\n".join(korean * 40), encoding="utf-8")
    given = (path, "--topics", 2, "--quiet", "--model", model)
    status, _, err = run(capsys, *given)
    assert status == 2
    assert "or --shortest 1" in err
    for shortest, words in {1: 7, 2: 6}.items():
        status, out, err = run(capsys, *given, "--shortest", shortest)
        assert (status, err) == (0, "")
        assert f"over a vocabulary of {words}" in out
        assert words_in(model) <= set(" ".join(korean).split())
    status, _, err = run(capsys, *given, "--shortest", 2**31 - 1)
    assert status == 2
    path.write_text("all 1\nall 2\n", encoding="utf-8")
    assert "--max-share 1, --stop-words none or --shortest 1" in run(capsys, *given)[2]
    path.write_text("1 2\n3 4\n", encoding="utf-8")
    assert "there is no letter in them" in run(capsys, *given)[2]


@pytest.mark.parametrize("target", ["nowhere/x.csv", ".", "x.foo"])
def test_targets_that_cannot_be_written_are_found_at_once(tweets, capsys, tmp_path, target):
    status, out, err = run(capsys, tweets, "--topics-out", tmp_path / target)
    assert status == 2
    assert out == ""
    assert "reading" not in err


def test_help_as_a_module(python, capsys):
    with python(["-m", "streamtopics", "--help"]) as process:
        out, _ = process.communicate()
    assert process.returncode == 0
    assert "watch" in out
    with pytest.raises(SystemExit):
        main(["fit", "--help"])
    assert "--time-format" in capsys.readouterr().out


def test_same_run_twice_gives_the_same_model(tweets, capsys, tmp_path):
    models = []
    for name in ("one", "two"):
        run(capsys, tweets, "--topics", 2, "--model", tmp_path / name, "--quiet")
        models.append(load(tmp_path / name).pipeline_[-1])
    assert pickle.dumps(models[0]) == pickle.dumps(models[1])


def test_times_that_are_no_dates(capsys, tmp_path, monkeypatch):
    """Are refused with what helps."""
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{1 + i % 12:02}.05.2024,ship wave {'sea' * (i % 2)}\n" for i in range(60))
    Path("t.csv").write_text("day,text\n" + rows, encoding="utf-8")
    read = ["t.csv", "--time-key", "day"]
    more = ["--topics", "2", "--max-share", "1", "--quiet", "--model", "m.model"]
    more += ["--documents-out", "d.csv", "--report", "r.html"]
    assert main(["fit", *read, *more]) == 2
    assert "pass --time-format %d.%m.%Y, for example" in capsys.readouterr().err
    assert main(["fit", *read, "--time-format", "%d.%m.%Y", *more]) == 0
    assert "2024-05-12T00:00:00" in Path("d.csv").read_text(encoding="utf-8")
    assert load("m.model").documents[0].time == "2024-05-01"
    with Path("t.csv").open("a", encoding="utf-8") as file:
        file.write("1999,ship\n")
    assert main(["update", "m.model", "t.csv", "--time-key", "day", "--skip-bad"]) == 2
    assert "the documents before came with dates as times" in capsys.readouterr().err


def test_columns_that_come_out_again(tweets, capsys, tmp_path):
    """The id first, and those to keep beside the topics, of fit and of apply alike."""
    with gzip.open(tweets, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file][:60]
    path, model = tmp_path / "t.jsonl", tmp_path / "m.model"
    rows = [
        {"id": f"t{i}", "n": i, "user": {"name": "Ann"}, "text": t} for i, t in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    columns = ["--id-key", "id", "--keep", "n,user.name"]
    out = tmp_path / "d.csv"
    given = (path, "--topics", 2, "--quiet", "--model", model, "--documents-out", out)
    for more in ([], ["--vocabulary-from", 20]):
        assert run(capsys, *given, *columns, *more)[0] == 0
        with out.open(encoding="utf-8", newline="") as file:
            found = list(csv.DictReader(file))
        assert list(found[0])[:7] == ["id", "source", "line", "time", "n", "user.name", "topic_1"]
        assert [row["id"] for row in found] == [row["id"] for row in rows]
    assert main(["apply", str(model), str(path), *columns]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["id"], row["n"], row["user.name"]) for row in found] == [
        (f"t{i}", i, "Ann") for i in range(60)
    ]
    assert main(["apply", str(model), str(path), "--keep", "m"]) == 2
    assert "there is no 'm'; there is: 'id', 'n', 'user', 'text'" in capsys.readouterr().err
