# SPDX-License-Identifier: BSD-3-Clause
"""What users looked for in the command and did not find once: each is a line."""

import gzip
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from streamtopics.cli import main
from tests.cli.texts import WORDS, lines

ROOT = Path(__file__).parent.parent.parent
SMALL = ["--topics", "2", "--max-share", "1", "--quiet"]
# A wish, the command, and what it prints.
WISHES = [
    ("choose the estimator", ["fit", "texts.txt", *SMALL, "--estimator", "GibbsOnlineEM",
      "--set", "kappa=0.6"], "weight"),
    ("a preset by name", ["fit", "texts.txt", *SMALL, "--estimator", "OnlineVBLDA"], "weight"),
    ("subfolders, .md and .csv.gz in them", ["fit", "folder", *SMALL], "540 documents"),
    ("time stamps", ["apply", "m.model", "t.csv.gz", "--text-key", "body", "--time-key", "day"],
      '"time": "2024-01-01T00:00:00'),
    ("JSON in letters, not escapes", ["apply", "m.model", "letters.csv", "--text-key", "body",
      "--id-key", "name"], '"d\u00e9j\u00e0"'),
    ("coherence", ["score", "m.model", "texts.txt"], "coherence of the topics (NPMI"),
    ("choose K", ["fit", "texts.txt", "--topics", "1,2,3", *SMALL[2:]], "chosen"),
    ("JSON arrays, pretty-printed", ["fit", "array.json", *SMALL], "270 documents"),
    ("a document of each topic", ["fit", "texts.txt", *SMALL], "\ntopic 0: "),
    ("where a document is", ["fit", "texts.txt", *SMALL], "  [texts.txt:"),
    ("the largest number may be too small", ["fit", "texts.txt", "--topics", "1,2", *SMALL[2:]],
      "The largest number was chosen: more might be better still"),
    ("one huge line has no score, not nan", ["fit", "huge.txt", *SMALL], "no word was held out"),
]  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Texts in many forms, and a model of them."""
    path, texts = tmp_path_factory.mktemp("wishes"), lines(300)
    table = "id,day,body\n" + "".join(f'{i},2024-01-01,"{text}"\n' for i, text in enumerate(texts))
    (path / "texts.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    (path / "huge.txt").write_text(" ".join(texts), encoding="utf-8")
    (path / "array.json").write_text(json.dumps([{"text": t} for t in texts], indent=1))
    (path / "t.csv.gz").write_bytes(gzip.compress(table.encode()))
    (path / "letters.csv").write_text("name,body\nd\u00e9j\u00e0,ship\n", encoding="utf-8")
    deep, other = path / "folder" / "deep" / "a.jsonl", table.replace("body", "text").encode()
    deep.parent.mkdir(parents=True)
    deep.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    (path / "folder" / "b.csv.gz").write_bytes(gzip.compress(other))
    assert main(["fit", str(path / "texts.txt"), *SMALL, "--model", str(path / "m.model")]) == 0
    return path


@pytest.fixture
def folder(files, monkeypatch):
    """The folder of the texts, in which the command is called."""
    monkeypatch.chdir(files)
    return files


@pytest.mark.parametrize(
    ("arguments", "expected"), [row[1:] for row in WISHES], ids=[row[0] for row in WISHES]
)
def test_wishes(folder, run, arguments, expected):
    out, err = run(*arguments)
    assert "nan" not in (out + err).lower().split()
    assert expected in out


@pytest.mark.parametrize(
    ("verb", "form"),
    [
        ("fit - --topics 2 --max-share 1", "lines"),
        ("apply m.model -", "lines"),
        ("score m.model -", "jsonl"),
        ("summarize -", "jsonl"),
        ("update m.model - --model n.model", "jsonl"),
    ],
)
def test_standard_input_without_a_warning(folder, verb, form, python):
    """In a process of its own, as a user calls it, with warnings as errors."""
    text = (folder / "texts.txt").read_text(encoding="utf-8")
    if form == "jsonl":
        text = "".join(json.dumps({"text": line}) + "\n" for line in text.splitlines())
    arguments = ["-m", "streamtopics", *verb.split(), "--format", form]
    with python(arguments, stdin=subprocess.PIPE) as process:
        out, err = process.communicate(text)
    assert process.returncode == 0, err
    assert "300" in out or "270" in out
    assert "nan" not in out.lower().split()


def test_a_report_of_a_saved_model_is_that_of_fit(folder, run):
    read = ["t.csv.gz", "--text-key", "body", "--time-key", "day"]
    _, err = run("report", "m.model", *read, "--output", "m.model", status=2)
    assert "m.model is read or written already" in err
    out, _ = run("report", "m.model", *read, "--output", "later.html")
    assert out == "report written to later.html\n"
    page = Path("later.html").read_text(encoding="utf-8")
    assert '"periods":["2024"],"sizes":[' in page
    assert "harbour" in page
    run("report", "m.model", "--output", "own.html")
    assert "texts.txt:" in Path("own.html").read_text(encoding="utf-8")


def test_labels_follow_the_relevance(run, monkeypatch, tmp_path):
    """A word of all documents names the topics by probability, but not by what sets them apart."""
    monkeypatch.chdir(tmp_path)
    rng, kinds = np.random.default_rng(0), [WORDS["sea"], WORDS["sky"]]
    texts = [" ".join(["common"] * 3 + list(rng.choice(kinds[i % 2], 5))) for i in range(200)]
    Path("texts.txt").write_text("\n".join(texts), encoding="utf-8")
    label = {}
    for relevance in "1", "0":
        more = ["--model", "m.model", "--relevance", relevance]
        run("fit", "texts.txt", *SMALL, "--documents-out", "d.csv", *more)
        label[relevance] = Path("d.csv").read_text(encoding="utf-8").splitlines()[1:]
        run("apply", "m.model", "texts.txt", "--output", "a.csv", "--relevance", relevance)
        assert Path("a.csv").read_text(encoding="utf-8").splitlines()[1:] == label[relevance]
    assert all(row.split(",")[5].startswith("common") for row in label["1"])
    assert not any(row.split(",")[5].startswith("common") for row in label["0"])
