# SPDX-License-Identifier: BSD-3-Clause
"""`python -m streamtopics`, as a user calls it."""

import csv
import gzip
import json
import pickle
import subprocess
import sys

import joblib
import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics.__main__ import main

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


def run(capsys, *arguments):
    status = main(["--max-share", "1", *(str(argument) for argument in arguments)])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_main_job_on_a_file(tweets, capsys, tmp_path):
    picture, model = tmp_path / "topics.png", tmp_path / "model.joblib"
    status, out, err = run(
        capsys,
        tweets,
        "--topics",
        2,
        "--words",
        5,
        "--batch-size",
        40,
        "--picture",
        picture,
        "--model",
        model,
    )
    assert status == 0, err
    assert "360 documents" in out
    assert "40 documents held out" in out
    known = WORDS["sea"] + WORDS["sky"]
    rows = [line for line in out.splitlines() if any(word in line for word in known)]
    about = [{k for k, words in WORDS.items() if set(words) & set(row.split())} for row in rows]
    assert sorted(map(tuple, about)) == [("sea",), ("sky",)]
    for name in ("StreamingLDA", "SVBLDA", "one topic"):
        assert name in out
    assert picture.stat().st_size > 1000
    assert "documents" in err
    pipeline = joblib.load(model)
    assert pipeline.transform(["a ship and a wave"]).shape == (1, 2)


def test_quiet_and_flat_prior(tweets, capsys):
    status, out, err = run(capsys, tweets, "--topics", 2, "--prior", "flat", "--quiet")
    assert status == 0
    assert err == ""
    assert "StreamingLDA" in out


def test_vocabulary_from_the_first_documents(tweets, capsys):
    status, out, _ = run(capsys, tweets, "--topics", 2, "--vocabulary-from", 100, "--quiet")
    assert status == 0
    assert "390 documents" in out
    assert "10 documents held out" in out


def test_files_that_cannot_be_read(capsys, tmp_path):
    missing = tmp_path / "missing.txt"
    status, _, err = run(capsys, missing)
    assert status == 2
    assert str(missing) in err
    latin = tmp_path / "latin.txt"
    latin.write_bytes("d\u00e9j\u00e0 vu\n".encode("latin-1"))
    status, _, err = run(capsys, latin)
    assert status == 2
    assert "latin.txt" in err
    assert "not utf-8" in err
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"text": "fine"}\n{"text": \n', encoding="utf-8")
    status, _, err = run(capsys, broken)
    assert status == 2
    assert "broken.jsonl" in err
    assert "2" in err
    empty = tmp_path / "empty.txt"
    empty.write_text("", encoding="utf-8")
    status, _, err = run(capsys, empty)
    assert status == 2
    assert "no documents" in err
    blank = tmp_path / "blank.txt"
    blank.write_text("1 2 3\n4 5 6\n", encoding="utf-8")
    status, _, err = run(capsys, blank)
    assert status == 2
    assert "vocabulary" in err


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
    words = set(joblib.load(model)[0].get_feature_names_out())
    assert words == {*WORDS["sea"], *WORDS["sky"]}
    status, _, err = run(capsys, *given)
    assert status == 2
    assert "no column 'text'" in err
    assert "'colour', 'body'" in err


def test_an_encoding(capsys, tmp_path):
    """The error for a file in another encoding tells of the option that reads it."""
    path, model = tmp_path / "latin.txt", tmp_path / "model"
    path.write_bytes("d\u00e9j\u00e0 entendu\nun d\u00e9but\n".encode("latin-1") * 30)
    status, _, err = run(capsys, path, "--quiet")
    assert status == 2
    assert "--encoding latin-1" in err
    given = ("--encoding", "latin-1", "--topics", 2, "--quiet", "--model", model)
    status, _, err = run(capsys, path, *given)
    assert status == 0, err
    words = joblib.load(model)[0].get_feature_names_out()
    assert set(words) == {"d\u00e9j\u00e0", "entendu", "d\u00e9but"}


def test_words_are_those_of_count_vectorizer(tweets, capsys, tmp_path):
    """What is counted, and what the fitted pipeline counts once it is read again."""
    run(capsys, tweets, "--topics", 2, "--max-words", 9, "--model", tmp_path / "m", "--quiet")
    words, topics = joblib.load(tmp_path / "m")
    with gzip.open(tweets, "rt", encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    parameters = CountVectorizer().get_params()
    other = CountVectorizer(**{name: getattr(words, name) for name in parameters})
    X, expected = words.transform(texts), other.fit_transform(texts)
    assert words.vocabulary_ == other.vocabulary_
    assert X.dtype == expected.dtype == np.float32
    assert abs(X - expected).sum() == 0
    assert topics.transform(X).shape == (400, 2)


@pytest.mark.parametrize("target", ["nowhere/x.png", ".", "x.foo"])
def test_targets_that_cannot_be_written_are_found_at_once(tweets, capsys, tmp_path, target):
    status, out, err = run(capsys, tweets, "--picture", tmp_path / target)
    assert status == 2
    assert out == ""
    assert "reading" not in err


@pytest.mark.parametrize(
    "option",
    [
        ["--topics", "0"],
        ["--boosting-scale", "-1"],
        ["--prior", "x"],
        ["--topics", "ten"],
        ["--jobs", "0"],
        ["--jobs", "two"],
        ["--encoding", "utf-9"],
        ["--encoding", "rot13"],
    ],
)
def test_wrong_options(option, capsys):
    with pytest.raises(SystemExit) as stop:
        main(option)
    assert stop.value.code == 2
    assert option[0] in capsys.readouterr().err


def test_help_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "streamtopics", "--help"], capture_output=True, text=True, check=True
    )
    assert "FILE" in done.stdout
    assert "--boosting-scale" in done.stdout


def test_same_run_twice_gives_the_same_model(tweets, capsys, tmp_path):
    models = []
    for name in ("one", "two"):
        run(capsys, tweets, "--topics", 2, "--model", tmp_path / name, "--quiet")
        models.append(joblib.load(tmp_path / name)[-1])
    assert pickle.dumps(models[0]) == pickle.dumps(models[1])


def test_relevance_of_the_words_shown(tweets, capsys):
    status, out, _ = run(capsys, tweets, "--topics", 2, "--relevance", "0.6", "--quiet")
    assert status == 0
    assert "ship" in out
    with pytest.raises(SystemExit):
        run(capsys, tweets, "--relevance", "1.5")
    assert "'1.5' is more than 1" in capsys.readouterr().err
