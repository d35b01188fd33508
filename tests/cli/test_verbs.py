# SPDX-License-Identifier: BSD-3-Clause
"""The verbs that take a fitted model, and those that need none."""

import csv
import gzip
import io
import json
import pickle
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from streamtopics import editing, load
from streamtopics.cli import main
from streamtopics.cli.command import parser
from streamtopics.cli.models import has_open_vocabulary
from streamtopics.cli.verbs import VERBS

WORDS = {
    "sea": ["ship", "harbour", "sailor", "wave", "anchor", "tide"],
    "sky": ["plane", "pilot", "cloud", "wing", "airport", "flight"],
}


def lines(n, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS["sea" if i % 2 else "sky"], 12)) for i in range(n)]


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture(params=["closed", "open"])
def fitted(request, tmp_path, capsys):
    texts, model = tmp_path / "texts.txt", tmp_path / "texts.model"
    texts.write_text("\n".join(lines(400)), encoding="utf-8")
    more = ["--vocabulary-from", "100"] if request.param == "open" else []
    given = ["--topics", 2, "--max-share", 1, "--batch-size", 100, "--quiet", "--model", model]
    status, _, err = run(capsys, "fit", texts, *given, *more)
    assert status == 0, err
    return texts, model


def test_apply(fitted, capsys, tmp_path, monkeypatch):
    texts, model = fitted
    status, out, err = run(capsys, "apply", model, texts)
    assert status == 0, err
    rows = [json.loads(line) for line in out.splitlines()]
    assert len(rows) == 400
    assert (rows[3]["source"], rows[3]["line"]) == (str(texts), 4)
    for i, row in enumerate(rows):
        assert set(row["topics"][0]["label"].split()) <= set(WORDS["sea" if i % 2 else "sky"])
    zipped = tmp_path / "texts.txt.gz"
    zipped.write_bytes(gzip.compress(texts.read_bytes()))
    table = tmp_path / "out.csv"
    status, out, _ = run(capsys, "apply", model, zipped, "--output", table, "--leading", 1)
    assert (status, out) == (0, "")
    with table.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert [int(row["topic_1"]) for row in found] == [row["topics"][0]["topic"] for row in rows]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ship wave\n")))
    status, out, _ = run(capsys, "apply", model, "-")
    assert status == 0
    assert json.loads(out)["source"] in {"-", "standard input"}


def test_show(fitted, capsys):
    status, out, _ = run(capsys, "show", fitted[1])
    assert status == 0
    assert "StreamingLDA" in out
    assert "n_components = 2" in out
    status, out, _ = run(capsys, "show", fitted[1], "--json")
    assert len(json.loads(out)["topics"]) == 2


def test_score(fitted, capsys, tmp_path):
    path = tmp_path / "new.txt"
    path.write_text("\n".join(f"{text} balloon balloon balloon" for text in lines(50, 1)))
    status, out, err = run(capsys, "score", fitted[1], path)
    assert status == 0, err
    assert "other words left out: 20.0%; 150 (balloon)" in err
    assert out.count("nats per word") == 2
    path.write_text("balloon\n", encoding="utf-8")
    status, out, _ = run(capsys, "score", fitted[1], path)
    assert status == 0
    assert "no word was held out" in out
    assert "nan" not in out


def test_the_share_of_unknown_words_is_that_of_all_minibatches(tmp_path, capsys):
    """Some of which have no known word at all, and some of which are smaller."""
    texts, model = tmp_path / "texts.txt", tmp_path / "texts.model"
    texts.write_text("\n".join(lines(400)), encoding="utf-8")
    given = ["--topics", 2, "--max-share", 1, "--quiet", "--model", model]
    assert run(capsys, "fit", texts, *given)[0] == 0
    mixed = lines(2500, 1) + ["balloon kite " * 12] * 2500 + ["balloon"]
    for order in mixed, [mixed[i] for i in np.random.default_rng(0).permutation(len(mixed))]:
        texts.write_text("\n".join(order), encoding="utf-8")
        status, _, err = run(capsys, "score", model, texts)
        assert status == 0, err
        assert "other words left out: 66.7%; 60,001 (balloon, kite)" in err
        more = ["--quiet", "--model", tmp_path / "new.model"]
        status, _, err = run(capsys, "update", model, texts, *more)
        assert status == 0, err
        assert "left out" not in err


def test_update(fitted, capsys, tmp_path):
    _, model = fitted
    before = model.read_bytes()
    path, other = tmp_path / "new.txt", tmp_path / "other.model"
    path.write_text("\n".join(f"{text} balloon" for text in lines(200, 1)), encoding="utf-8")
    status, out, err = run(capsys, "update", model, path, "--quiet", "--model", other)
    assert status == 0, err
    assert model.read_bytes() == before
    n = load(model).n_documents_seen_
    assert load(other).n_documents_seen_ == n + 200
    assert "200 new documents" in out
    assert "nats per word" in out
    closed = "; 200 (balloon)" in err
    assert closed == ("balloon" not in load(other).pipeline_[0].get_feature_names_out())
    assert run(capsys, "update", model, path, "--quiet")[0] == 0
    assert model.read_bytes() != before


def test_watch_goes_on_with_the_shortest_word_that_it_began_with(capsys, tmp_path):
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    given = ("watch", path, "--model", model, "--batch-size", 100, "--idle", 0.1,
             "--topics", 2, "--max-share", 1)  # fmt: skip
    for more, word in (["--shortest", 2], "ab"), ([], "cd"):
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{word} ship e\n" * 100)
        status, _, err = run(capsys, *given, *more)
        assert status == 0, err
        words = set(load(model).pipeline_[0].get_feature_names_out())
        assert word in words
        assert "e" not in words


def test_watch_goes_on_with_a_fitted_model(fitted, capsys, tmp_path):
    _, model = fitted
    path = tmp_path / "feed.txt"
    path.write_text("\n".join(lines(100, 1)) + "\n", encoding="utf-8")
    n = load(model).n_documents_seen_
    for expected in (100, 100):
        given = ("watch", path, "--model", model, "--idle", 0.1)
        main([str(one) for one in given])
        assert load(model).n_documents_seen_ == n + expected


def test_files_that_are_no_models(capsys, tmp_path):
    path = tmp_path / "x.joblib"
    path.write_bytes(pickle.dumps({"a": 1}))
    for verb in (["show"], ["apply", "-"], ["score", "-"], ["update", "-"]):
        status, _, err = run(capsys, verb[0], path, *verb[1:])
        assert status == 2
        assert "it was written by another program" in err
        assert "Traceback" not in err


@pytest.mark.parametrize("fitted", ["open"], indirect=True)
def test_a_full_disk_and_a_closed_pipe(fitted, python):
    texts, model = fitted
    command = ["-m", "streamtopics", "apply", str(model), str(texts)]
    with Path("/dev/full").open("w") as full, python(command, stdout=full) as process:
        _, err = process.communicate()
    assert process.returncode == 2
    assert "No space left" in err
    assert "Traceback" not in err
    with python(command) as process:
        # As `head -n 1` does.
        assert process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait() == 0, err
    assert "Traceback" not in err


def test_help_has_no_colours(monkeypatch, capsys):
    """From Python 3.14 on argparse has them on a terminal, where no escapes are let through."""
    assert not any(parser(verb).color for verb in VERBS)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    for words in (["--help"], ["fit", "--help"]):
        with pytest.raises(SystemExit):
            main(words)
    assert not set("\ufffd\x1b") & set(capsys.readouterr().out)


def test_no_documents_leave_the_file_that_was_there(fitted, capsys, tmp_path):
    _, model = fitted
    (tmp_path / "empty.jsonl").touch()
    old = tmp_path / "out.csv"
    old.write_text("OLD", encoding="utf-8")
    status, _, err = run(capsys, "apply", model, tmp_path / "empty.jsonl", "--output", old)
    assert (status, old.read_text(encoding="utf-8")) == (2, "OLD")
    assert f"there are no documents in {tmp_path / 'empty.jsonl'}; nothing was skipped" in err


@pytest.mark.parametrize("fitted", ["open"], indirect=True)
def test_what_was_closed_before_prints_to_nowhere(fitted):
    texts, model = fitted
    for verb in (["apply", model, texts], ["show", model]):
        words = " ".join(map(shlex.quote, map(str, [sys.executable, "-m", "streamtopics", *verb])))
        done = subprocess.run(["sh", "-c", f"{words} >&-"], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_files_may_stand_behind_options(fitted, capsys, tmp_path):
    texts, model = fitted
    page = tmp_path / "page.html"
    status, _, err = run(capsys, "report", model, "--output", page, texts)
    assert status == 0, err
    assert "ship" in page.read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["report", str(model), "--output", str(page), str(texts), "--unknown"])
    assert "unrecognized arguments" in capsys.readouterr().err


def _data_of(page):
    found = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found[1])


def test_a_report_says_where_each_document_is(fitted, capsys, tmp_path):
    texts, model = fitted
    page, n = tmp_path / "page.html", len(texts.read_text(encoding="utf-8").splitlines())
    assert run(capsys, "report", model, texts, "--output", page)[0] == 0
    data = _data_of(page)
    assert (data["n_documents"], data["sampled_from"]) == (n, None)
    lines = texts.read_text(encoding="utf-8").splitlines()
    documents = [document for topic in data["topics"] for document in topic["documents"]]
    assert documents
    for document in documents:
        path, number = document["title"].rsplit(":", 1)
        assert str(texts).endswith(path.removeprefix("…"))
        assert "".join(document["parts"]) == lines[int(number) - 1]


@pytest.mark.parametrize("more", [(), ("--vocabulary-from", 100, "--batch-size", 50)])
def test_times_groups_and_ids_come_with_the_documents(more, capsys, tmp_path):
    """Of fit, also where it streams, and of update; the documents held out for the score, too."""
    texts, model, table = lines(300), tmp_path / "t.model", tmp_path / "t.csv"
    months = np.sort(np.random.default_rng(0).integers(1, 6, 300))
    rows = [f"{i},2024-0{month}-17,{'ab'[i % 2]}" for i, month in enumerate(months)]
    both = zip(rows, texts, strict=True)
    table.write_text("id,day,by,text\n" + "".join(f"{row},{t}\n" for row, t in both), "utf-8")
    read = ("--time-key", "day", "--group-key", "by", "--id-key", "id")
    given = (table, *read, *more, "--topics", 2, "--max-share", 1, "--quiet", "--model", model)
    out = run(capsys, "fit", *given)[1]
    place = out.index("* ship, ") if "* ship, " in out else out.index("has more of")
    assert place < out.index("topic  weight")
    assert f"{30 if not more else 10} documents held out" in out
    stream = load(model)
    totals = stream.totals(least=30)
    assert [period.label for period in totals.periods] == [f"2024-0{m}" for m in range(1, 6)]
    assert sorted(totals.groups) == ["a", "b"]
    assert totals.n.sum(axis=1).tolist() == np.bincount(months)[1:].tolist()
    assert {one.id for one in stream.documents} == {str(i) for i in range(300)}
    assert run(capsys, "update", model, table, *read, "--quiet")[0] == 0
    assert load(model).totals().n.sum() == 600


def test_a_title_and_long_names_of_files(capsys, tmp_path):
    texts, page = tmp_path / ("a" * 150 + ".txt"), tmp_path / "page.html"
    texts.write_text("\n".join(lines(200)) + "\n", encoding="utf-8")
    given = ("--topics", 2, "--max-share", 1, "--quiet", "--title", "Ships & planes")
    assert run(capsys, "fit", texts, *given, "--report", page)[0] == 0
    assert "<title>Ships &amp; planes</title>" in page.read_text(encoding="utf-8")
    data = _data_of(page)
    assert (data["n_documents"], data["sampled_from"]) == (200, None)
    places = [document["title"] for topic in data["topics"] for document in topic["documents"]]
    assert all(re.fullmatch(r"…a+\.txt:\d+", place) for place in places)


def test_new_texts_bring_new_words(fitted, capsys, tmp_path):
    """Also behind a corpus that was learnt at once: nothing of them is left out."""
    _, model = fitted
    other = tmp_path / "other.txt"
    other.write_text("".join(f"violin trumpet {'cello' * (i % 2)}\n" for i in range(100)), "utf-8")
    status, out, err = run(capsys, "update", model, other, "--quiet")
    assert (status, err) == (0, "")
    assert out.startswith("100 new documents\n")
    assert "* *" in out
    assert {"violin", "trumpet", "cello"} <= {*load(model).pipeline_[0].vocabulary_}


@pytest.mark.parametrize("fitted", ["open"], indirect=True)
def test_a_reader_that_goes_away_costs_no_file(fitted, tmp_path, python):
    """What was learnt is written, though nobody reads on."""
    texts, model = fitted
    fit = f"fit {texts} --topics 2,3 --max-share 1 --quiet --model {tmp_path / 'new.model'}"
    update = f"update {model} {texts} --quiet --model {tmp_path / 'newer.model'}"
    for verb in fit, update:
        with python(["-m", "streamtopics", *verb.split()]) as process:
            process.stdout.close()
            err = process.stderr.read()
            assert process.wait() == 0, err
        assert "Traceback" not in err
    assert load(tmp_path / "new.model").pipeline_[-1].n_components in (2, 3)
    assert load(tmp_path / "newer.model").n_documents_seen_ > 400


def test_what_was_skipped_is_said(capsys, tmp_path):
    path = tmp_path / "a.jsonl"
    good = [json.dumps({"text": text}) for text in lines(40)]
    path.write_text("\n".join([*good, "{", '{"body": 1}']), encoding="utf-8")
    status, _, err = run(capsys, "fit", path, "--topics", 2, "--max-share", 1)
    assert status == 2
    status, _, err = run(capsys, "fit", path, "--topics", 2, "--max-share", 1, "--skip-bad")
    assert status == 0
    assert "documents read: 40; skipped: 2: 1 not JSON (first: " in err


@pytest.mark.parametrize(
    ("name", "content", "more", "remedy"),
    [
        ("a.jsonl", '{"text": 7}', [], "got 7 (int) (--skip-bad"),
        (
            "a.jsonl",
            '{"text": "a", "day": "soon"}',
            ["--time-key", "day"],
            "pass --time-format %d.",
        ),
        ("a.csv", "id,Body\n1,a", ["--text-key", "body"], "'Body'; pass --text-key Body, "),
        (
            "a.csv",
            "text,n\na,1",
            ["--time-key", "date"],
            "there is no 'date'; there is: 'text', 'n'",
        ),
        (
            "a.csv",
            "id;text\n1;a",
            ["--sep", ","],
            "between the fields of 'id;text'; pass --sep ';', for",
        ),
        ("a.csv", "text,day\na,1", ["--time-key", "days"], "'day'; pass --time-key day, "),
    ],
)
def test_what_cannot_be_read_comes_with_options(capsys, tmp_path, name, content, more, remedy):
    path = tmp_path / name
    path.write_text(content + "\n", encoding="utf-8")
    status, _, err = run(capsys, "summarize", path, *more)
    assert status == 2
    assert remedy in err
    assert err.rstrip().endswith("and counts, what cannot be read)") == ("--sep" not in remedy)


def test_a_folder_of_files_of_other_names(capsys, tmp_path):
    """The remedy that is named is one that there is."""
    for i, line in enumerate(lines(12)):
        (tmp_path / f"{i}.md").write_text(line, encoding="utf-8")
    status, _, err = run(capsys, "summarize", tmp_path)
    assert status == 2
    assert err.endswith("pass --format documents, for example\n")
    status, out, err = run(capsys, "summarize", tmp_path, "--format", "documents")
    assert status == 0, err
    assert out.startswith("12 documents")


@pytest.mark.parametrize(
    "arguments",
    [("show", "x"), ("fit", "a.txt", "--seeds", "x"), ("score", "x", "a.txt"), ("fit", "x"),
     ("update", "x", "a.txt"), ("watch", "x", "--model", "m")],
)  # fmt: skip
def test_files_that_are_missing(capsys, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("sea\n", encoding="utf-8")
    status, _, err = run(capsys, *arguments)
    assert status == 2
    assert re.search("no (such )?file or directory", err, re.IGNORECASE)
    assert "x" in err.split("directory")[1] or "x: " in err


def test_seeds_that_are_unknown_words(capsys, tmp_path):
    texts, seeds = tmp_path / "a.txt", tmp_path / "seeds.json"
    texts.write_text("\n".join(lines(60)), encoding="utf-8")
    seeds.write_text('{"sea": ["ship", "xyzzy"], "sky": ["plane"]}', encoding="utf-8")
    small = ["fit", texts, "--seeds", seeds, "--max-share", 1, "--quiet"]
    status, _, err = run(capsys, *small)
    assert status == 0
    assert "the seeds ['xyzzy'] are in no column of X and do not count" in err


def test_whole_numbers(capsys):
    for option, wrong in [("--batch-size", "1.5"), ("--topics", "0"), ("--topics", "2147483648")]:
        with pytest.raises(SystemExit):
            main(["fit", option, wrong])
        said = f"argument {option}: {wrong!r} is not a whole number from 1 to 2,147,483,647"
        assert said in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["fit", "--relevance", "1.5"])
    assert "'1.5' is not a number from 0 to 1" in capsys.readouterr().err


def test_a_table_that_grows_is_piped(capsys, tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"text\na\n"))
    status, _, err = run(capsys, "watch", path, "--model", tmp_path / "m", "--idle", 0.1)
    assert status == 2
    assert "zcat FILE | streamtopics watch - --format jsonl" in err


def test_nothing_is_learnt_of_unknown_words(fitted, capsys, tmp_path):
    """A closed vocabulary has no column for them; an open one begins to count them."""
    other = tmp_path / "other.txt"
    other.write_text("violin trumpet\n" * 20, encoding="utf-8")
    _, model = fitted
    before = model.read_bytes()
    status, out, err = run(capsys, "update", model, other, "--quiet")
    if has_open_vocabulary(load(model).pipeline_):
        assert status == 0
        return
    assert status == 2
    assert out == ""
    assert f"no word of these documents is in the closed vocabulary of {model}" in err
    assert model.read_bytes() == before


def test_texts_of_which_the_model_knows_no_word(fitted, capsys, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("violin trumpet\n" * 20, encoding="utf-8")
    _, model = fitted
    status, out, err = run(capsys, "score", model, other)
    assert status == 0, err
    assert "20 documents, 0 words that the model knows" in out
    assert "coherence" not in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["fti", "a.txt"], "invalid choice: 'fti' (choose from "),
        (["fit", "a.txt", "--topcis", "3"], "did you mean --topics?"),
        (["fit", "a.txt", "--encoding", "utf8x"], "'utf8x' is not an encoding, such as utf-8"),
        (["fit", "a.csv", "--sep", "ab"], "--sep: 'ab' is not one character, such as ';'"),
        (["fit", "b.csv", "--sep", ","], "pass --sep $'\\t', for example\n"),
        (["fit", "a.txt", "--keep", "year"], "--keep needs --documents-out FILE"),
        (
            ["fit", "a.txt", "--report", "x.pdf"],
            "x.pdf is no kind of file to write; use one of html",
        ),
        (
            ["report", "m", "--output", "x.pdf"],
            "x.pdf is no kind of file to write; use one of html",
        ),
    ],
)
def test_options_that_are_misspelt_or_have_no_effect(
    tmp_path, monkeypatch, capsys, arguments, said
):
    """Are told of in a line that names them."""
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("sea\n", encoding="utf-8")
    Path("a.csv").write_text("text\nsea\n", encoding="utf-8")
    Path("b.csv").write_text("id\ttext\n1\tsea\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="2"):
        sys.exit(main(arguments))
    assert said in capsys.readouterr().err


def test_edits_of_a_file_are_carried_out(fitted, tmp_path, capsys):
    model, path, target = fitted[1], tmp_path / "edits.json", tmp_path / "edited.model"
    edited = load(model)
    kept = editing.rename(edited, 0, "salt water")
    strange = replace(kept, topics=(9,), leading=((("nowhere", 0.5), ("nothing", 0.5)),))
    path.write_text(editing.edits_to_json([kept, strange]), encoding="utf-8")
    status, out, _ = run(capsys, "edit", model, path, "--model", target)
    assert status == 0
    assert out.startswith("rename   topic 0\nrename   refused: no topic has the words")
    assert "salt water" in run(capsys, "show", target)[1]
    assert "salt water" not in run(capsys, "show", model)[1]
    path.write_text("[]", encoding="utf-8")
    status, _, err = run(capsys, "edit", model, path)
    assert status != 0
    assert "not a file of edits" in err
