# SPDX-License-Identifier: BSD-3-Clause
"""What users looked for in the command and did not find once: each is a line."""

import gzip
import json
import subprocess
import tomllib
from pathlib import Path

import numpy as np
import pytest

from streamtopics import load
from streamtopics.cli import main

ROOT = Path(__file__).parent.parent.parent
WORDS = [
    ["ship", "harbour", "sailor", "wave", "anchor", "tide"],
    ["plane", "pilot", "cloud", "wing", "airport", "flight"],
]
SMALL = ["--topics", "2", "--max-share", "1", "--quiet"]
# A wish, the command, and what it prints or the file that it writes.
WISHES = [
    ("choose the estimator", ["fit", "texts.txt", *SMALL, "--estimator", "GibbsOnlineEM",
      "--set", "kappa=0.6"], "weight"),
    ("a preset by name", ["fit", "texts.txt", *SMALL, "--estimator", "OnlineVBLDA"], "weight"),
    ("topics as CSV", ["fit", "texts.txt", *SMALL, "--topics-out", "t.csv"], Path("t.csv")),
    ("topics as JSON", ["fit", "texts.txt", *SMALL, "--topics-out", "t.json"], Path("t.json")),
    ("documents as CSV", ["fit", "texts.txt", *SMALL, "--documents-out", "d.csv"], Path("d.csv")),
    ("apply a saved model", ["apply", "m.model", "texts.txt"], '"topics": [{'),
    ("resume", ["update", "m.model", "texts.txt", "--quiet"], "300 new documents"),
    ("--encoding", ["fit", "latin.txt", *SMALL, "--encoding", "latin-1"], "d\u00e9j\u00e0"),
    ("subfolders, .md and .csv.gz in them", ["fit", "folder", *SMALL], "540 documents"),
    ("CSV columns", ["fit", "t.csv.gz", *SMALL, "--text-key", "body"], "270 documents"),
    ("time stamps", ["apply", "m.model", "t.csv.gz", "--text-key", "body", "--time-key", "day"],
      '"time": "2024-01-01T00:00:00'),
    ("JSON in letters, not escapes", ["apply", "m.model", "letters.csv", "--text-key", "body",
      "--id-key", "name"], '"d\u00e9j\u00e0"'),
    ("drift", ["watch", "texts.txt", "--model", "w.model", "--topics", "2", "--max-share", "1",
      "--idle", "0.1", "--batch-size", "100"],
      "300 documents, -"),
    ("seeds", ["fit", "texts.txt", "--max-share", "1", "--seeds", "seeds.json"], "water: "),
    ("HTML report", ["fit", "texts.txt", *SMALL, "--report", "r.html"], Path("r.html")),
    ("coherence", ["score", "m.model", "texts.txt"], "coherence of the topics (NPMI"),
    ("choose K", ["fit", "texts.txt", "--topics", "1,2,3", *SMALL[2:]], "chosen"),
    ("--max-iter", ["fit", "texts.txt", *SMALL, "--max-iter", "3", "--model", "i.model"],
      Path("i.model")),
    ("JSON arrays, pretty-printed", ["fit", "array.json", *SMALL], "270 documents"),
    ("a document of each topic", ["fit", "texts.txt", *SMALL], "\ntopic 0: "),
    ("a report of a saved model", ["report", "m.model", "texts.txt", "--output", "s.html"],
      Path("s.html")),
    ("a report of its own documents", ["report", "m.model", "--output", "n.html"], Path("n.html")),
    ("where a document is", ["fit", "texts.txt", *SMALL], "  [texts.txt:"),
    ("the largest number may be too small", ["fit", "texts.txt", "--topics", "1,2", *SMALL[2:]],
      "The largest number was chosen: more might be better still"),
    ("one huge line has no score, not nan", ["fit", "huge.txt", *SMALL], "no word was held out"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Texts in many forms, and a model of them."""
    path = tmp_path_factory.mktemp("wishes")
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS[i % 2], 12)) for i in range(300)]
    lines = "\n".join(texts) + "\n"
    table = "id,day,body\n" + "".join(f'{i},2024-01-01,"{text}"\n' for i, text in enumerate(texts))
    (path / "texts.txt").write_text(lines, encoding="utf-8")
    (path / "huge.txt").write_text(" ".join(texts), encoding="utf-8")
    (path / "latin.txt").write_text("d\u00e9j\u00e0 vu encore\n" * 40, encoding="latin-1")
    (path / "array.json").write_text(json.dumps([{"text": t} for t in texts], indent=1))
    (path / "seeds.json").write_text('{"water": ["ship"], "air": ["plane"]}')
    (path / "t.csv.gz").write_bytes(gzip.compress(table.encode()))
    (path / "letters.csv").write_text("name,body\nd\u00e9j\u00e0,ship\n", encoding="utf-8")
    (path / "folder" / "deep").mkdir(parents=True)
    (path / "folder" / "deep" / "a.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8"
    )
    (path / "folder" / "b.csv.gz").write_bytes(
        gzip.compress(table.replace("body", "text").encode())
    )
    assert main(["fit", str(path / "texts.txt"), *SMALL, "--model", str(path / "m.model")]) == 0
    return path


@pytest.mark.parametrize(
    ("arguments", "expected"), [row[1:] for row in WISHES], ids=[row[0] for row in WISHES]
)
def test_wishes(folder, arguments, expected, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    status = main(arguments)
    out, err = capsys.readouterr()
    assert status == 0, err
    assert "nan" not in (out + err).lower().split()
    if isinstance(expected, Path):
        assert expected.stat().st_size > 0
    else:
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
def test_standard_input_without_a_warning(folder, verb, form, python, monkeypatch):
    """In a process of its own, as a user calls it, with warnings as errors."""
    text = (folder / "texts.txt").read_text(encoding="utf-8")
    if form == "jsonl":
        text = "".join(json.dumps({"text": line}) + "\n" for line in text.splitlines())
    monkeypatch.chdir(folder)
    arguments = ["-m", "streamtopics", *verb.split(), "--format", form]
    with python(arguments, stdin=subprocess.PIPE) as process:
        out, err = process.communicate(text)
    assert process.returncode == 0, err
    assert "300" in out or "270" in out
    assert "nan" not in out.lower().split()


def test_a_report_of_a_saved_model_is_that_of_fit(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    read = ["t.csv.gz", "--text-key", "body", "--time-key", "day"]
    assert main(["report", "m.model", *read, "--output", "m.model"]) == 2
    assert "m.model is read or written already" in capsys.readouterr().err
    assert main(["report", "m.model", *read, "--output", "later.html"]) == 0
    assert capsys.readouterr().out == "report written to later.html\n"
    page = Path("later.html").read_text(encoding="utf-8")
    assert '"periods":["2024"],"sizes":[' in page
    assert "harbour" in page
    assert main(["report", "m.model", "--output", "own.html"]) == 0
    assert "texts.txt:" in Path("own.html").read_text(encoding="utf-8")


def test_labels_follow_the_relevance(monkeypatch, tmp_path):
    """A word of all documents names the topics by probability, but not by what sets them apart."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    texts = [" ".join(["common"] * 3 + list(rng.choice(WORDS[i % 2], 5))) for i in range(200)]
    Path("texts.txt").write_text("\n".join(texts), encoding="utf-8")
    label = {}
    for relevance in "1", "0":
        more = ["--documents-out", "d.csv", "--model", "m.model", "--relevance", relevance]
        assert main(["fit", "texts.txt", *SMALL, *more]) == 0
        label[relevance] = Path("d.csv").read_text(encoding="utf-8").splitlines()[1:]
        more = ["--output", "a.csv", "--relevance", relevance]
        assert main(["apply", "m.model", "texts.txt", *more]) == 0
        assert Path("a.csv").read_text(encoding="utf-8").splitlines()[1:] == label[relevance]
    assert all(row.split(",")[5].startswith("common") for row in label["1"])
    assert not any(row.split(",")[5].startswith("common") for row in label["0"])


def test_more_topics_than_documents_are_told_of(folder, capsys):
    assert main(["fit", str(folder / "huge.txt"), *SMALL]) == 0
    assert "more topics (2) than documents" in capsys.readouterr().err
    assert main(["fit", str(folder / "texts.txt"), *SMALL]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "usage", "wrong"),
    [
        (["fit", "--topics", "ten"], "fit [FILE ...] [OPTION ...]", "'ten' is not a whole number"),
        (["score"], "score MODEL FILE ... [OPTION ...]", "arguments are required: MODEL, FILE"),
    ],
)
def test_wrong_use_is_told_in_two_lines(capsys, arguments, usage, wrong):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first == f"usage: streamtopics {usage}"
    assert wrong in second


def test_the_number_of_passes(folder, tmp_path):
    path = tmp_path / "m.model"
    texts = str(folder / "texts.txt")
    assert main(["fit", texts, *SMALL, "--max-iter", "3", "--model", str(path)]) == 0
    assert load(path).pipeline_[-1].max_iter == 3


def test_version_and_console_script(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith("streamtopics ")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"]["streamtopics"].startswith("streamtopics.cli")


def test_near_names_of_estimators(folder, capsys):
    for wrong, right in [("gibbsonlinem", "GibbsOnlineEM"), ("PowerPrior", "PowerPriorLDA")]:
        assert main(["fit", str(folder / "texts.txt"), "--estimator", wrong]) == 2
        assert f"did you mean {right}" in capsys.readouterr().err
    assert main(["fit", str(folder / "texts.txt"), "--estimator", "xyzzy"]) == 2
    assert "use one of BPSLDA" in capsys.readouterr().err
