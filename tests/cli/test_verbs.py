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
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

from streamtopics import StreamingLDA, TopicStream, editing, load, save
from streamtopics.cli import main
from streamtopics.cli.command import parser
from streamtopics.cli.console import _cells
from streamtopics.cli.verbs import VERBS
from streamtopics.text import StreamingCountVectorizer
from tests.cli.texts import WORDS, lines
from tests.small import SEA, SKY

SMALL = ("--topics", 2, "--max-share", 1, "--quiet")


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes lines to a file of the folder in which the command is called; its path."""

    def call(name, texts):
        path = tmp_path / name
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return path

    monkeypatch.chdir(tmp_path)
    return call


@pytest.fixture(params=["closed", "open"])
def fitted(request, tmp_path, write, run):
    texts, model = write("texts.txt", lines(400)), tmp_path / "texts.model"
    more = ["--vocabulary-from", "100"] if request.param == "open" else []
    run("fit", texts, *SMALL, "--batch-size", 100, "--model", model, *more)
    return texts, model


open_alone = pytest.mark.parametrize("fitted", ["open"], indirect=True)


def test_apply(fitted, run, tmp_path, monkeypatch):
    texts, model = fitted
    rows = [json.loads(line) for line in run("apply", model, texts)[0].splitlines()]
    assert len(rows) == 400
    assert (rows[3]["source"], rows[3]["line"]) == (str(texts), 4)
    for i, row in enumerate(rows):
        assert set(row["topics"][0]["label"].split()) <= set(WORDS["sea" if i % 2 else "sky"])
    zipped, table = tmp_path / "texts.txt.gz", tmp_path / "out.csv"
    zipped.write_bytes(gzip.compress(texts.read_bytes()))
    assert run("apply", model, zipped, "--output", table, "--leading", 1)[0] == ""
    with table.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    assert [int(row["topic_1"]) for row in found] == [row["topics"][0]["topic"] for row in rows]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ship wave\n")))
    assert json.loads(run("apply", model, "-")[0])["source"] in {"-", "standard input"}


def test_show(fitted, run):
    out, _ = run("show", fitted[1])
    assert "StreamingLDA" in out
    assert "n_components = 2" in out
    assert len(json.loads(run("show", fitted[1], "--json")[0])["topics"]) == 2


def test_score(fitted, run, write):
    _, model = fitted
    path = write("new.txt", [f"{text} balloon balloon balloon" for text in lines(50, seed=1)])
    out, err = run("score", model, path)
    assert "other words left out: 20.0%; 150 (balloon)" in err
    assert out.count("nats per word") == 2
    out, _ = run("score", model, write("unknown.txt", ["balloon kite"] * 20))
    assert "no word was held out" in out
    assert "20 documents, 0 words that the model knows" in out
    assert "coherence" not in out
    assert "nan" not in out


def test_the_share_of_unknown_words_is_that_of_all_minibatches(run, tmp_path, write):
    """Some of which have no known word at all, and some of which are smaller."""
    model, other = tmp_path / "texts.model", tmp_path / "new.model"
    run("fit", write("texts.txt", lines(400)), *SMALL, "--model", model)
    mixed = lines(2500, seed=1) + ["balloon kite " * 12] * 2500 + ["balloon"]
    for order in mixed, [mixed[i] for i in np.random.default_rng(0).permutation(len(mixed))]:
        texts = write("texts.txt", order)
        _, err = run("score", model, texts)
        assert "other words left out: 66.7%; 60,001 (balloon, kite)" in err
        assert "left out" not in run("update", model, texts, "--quiet", "--model", other)[1]


def test_update(fitted, run, tmp_path, write):
    _, model = fitted
    before, n, other = model.read_bytes(), load(model).n_documents_seen_, tmp_path / "other.model"
    path = write("new.txt", [f"{text} balloon" for text in lines(200, seed=1)])
    out, err = run("update", model, path, "--quiet", "--model", other)
    assert model.read_bytes() == before
    assert load(other).n_documents_seen_ == n + 200
    assert "200 new documents" in out
    assert "nats per word" in out
    assert "nan" not in out
    closed = "; 200 (balloon)" in err
    assert closed == ("balloon" not in load(other).pipeline_[0].get_feature_names_out())
    run("update", model, path, "--quiet")
    assert model.read_bytes() != before


def test_watch_goes_on_with_the_shortest_word_that_it_began_with(run, tmp_path):
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    given = ("watch", path, "--model", model, "--batch-size", 100, "--idle", 0.1, *SMALL[:-1])
    for more, word in (["--shortest", 2], "ab"), ([], "cd"):
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{word} ship e\n" * 100)
        run(*given, *more)
        words = set(load(model).pipeline_[0].get_feature_names_out())
        assert word in words
        assert "e" not in words


def test_a_closed_vocabulary_refuses_documents_of_other_words(run, tmp_path, write):
    """Of a pipeline that was fitted in Python, or a vectorizer of a stream that is frozen."""
    model, other = tmp_path / "closed.model", write("other.txt", ["violin trumpet"] * 20)
    frozen = FrozenEstimator(StreamingCountVectorizer(max_features=9).partial_fit(lines(100)))
    for words in (CountVectorizer(), frozen):
        save(make_pipeline(words, StreamingLDA(2, random_state=0)).fit(lines(100)), model)
        before = model.read_bytes()
        _, err = run("update", model, other, "--quiet", status=2)
        assert f"no word of these documents is in the closed vocabulary of {model}" in err
        assert model.read_bytes() == before


def test_files_that_are_no_models(run, tmp_path):
    path = tmp_path / "x.joblib"
    path.write_bytes(pickle.dumps({"a": 1}))
    for verb in (["show"], ["apply", "-"], ["score", "-"], ["update", "-"]):
        _, err = run(verb[0], path, *verb[1:], status=2)
        assert "it was written by another program" in err
        assert "Traceback" not in err


@open_alone
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
    for words, told in ((["--help"], "watch"), (["fit", "--help"], "--time-format")):
        with pytest.raises(SystemExit, match="0"):
            main(words)
        out = capsys.readouterr().out
        assert told in out
        assert not set("\ufffd\x1b") & set(out)


def test_no_documents_leave_the_file_that_was_there(fitted, run, write):
    empty, old = write("empty.jsonl", []), write("out.csv", ["OLD"])
    _, err = run("apply", fitted[1], empty, "--output", old, status=2)
    assert old.read_text(encoding="utf-8") == "OLD\n"
    assert f"there are no documents in {empty}; nothing was skipped" in err


@open_alone
def test_what_was_closed_before_prints_to_nowhere(fitted):
    texts, model = fitted
    for verb in (["apply", model, texts], ["show", model]):
        words = " ".join(map(shlex.quote, map(str, [sys.executable, "-m", "streamtopics", *verb])))
        done = subprocess.run(["sh", "-c", f"{words} >&-"], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_files_may_stand_behind_options(fitted, run, misused, tmp_path):
    texts, model = fitted
    page = tmp_path / "page.html"
    run("report", model, "--output", page, texts)
    assert "ship" in page.read_text(encoding="utf-8")
    said = misused("report", model, "--output", page, texts, "--unknown")
    assert "unrecognized arguments" in said


def _data_of(page):
    found = re.search(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found[1])


def _documents_in(data):
    return [document for topic in data["topics"] for document in topic["documents"]]


def test_a_report_says_where_each_document_is(fitted, run, tmp_path):
    texts, model = fitted
    page = tmp_path / "page.html"
    run("report", model, texts, "--output", page)
    data = _data_of(page)
    assert (data["n_documents"], data["sampled_from"]) == (400, None)
    documents = _documents_in(data)
    assert documents
    for document in documents:
        path, number = document["title"].rsplit(":", 1)
        assert str(texts).endswith(path.removeprefix("…"))
        assert "".join(document["parts"]) == lines(400)[int(number) - 1]


@pytest.mark.parametrize("more", [(), ("--vocabulary-from", 100, "--batch-size", 50)])
def test_times_groups_and_ids_come_with_the_documents(more, run, tmp_path, write):
    """Of fit, also where it streams, and of update; the documents held out for the score, too."""
    model = tmp_path / "t.model"
    months = np.sort(np.random.default_rng(0).integers(1, 6, 300))
    rows = [f"{i},2024-0{month}-17,{'ab'[i % 2]}" for i, month in enumerate(months)]
    both = zip(rows, lines(300), strict=True)
    table = write("t.csv", ["id,day,by,text", *(f"{row},{text}" for row, text in both)])
    read = (table, "--time-key", "day", "--group-key", "by", "--id-key", "id")
    out, _ = run("fit", *read, *more, *SMALL, "--model", model)
    place = out.index("* ship, ") if "* ship, " in out else out.index("has more of")
    assert place < out.index("topic  weight")
    assert f"{30 if not more else 10} documents held out" in out
    stream = load(model)
    totals = stream.totals(least=30)
    assert [period.label for period in totals.periods] == [f"2024-0{m}" for m in range(1, 6)]
    assert sorted(totals.groups) == ["a", "b"]
    assert totals.n.sum(axis=1).tolist() == np.bincount(months)[1:].tolist()
    assert {one.id for one in stream.documents} == {str(i) for i in range(300)}
    run("update", model, *read, "--quiet")
    assert load(model).totals().n.sum() == 600


def test_a_title_and_long_names_of_files(run, tmp_path, write):
    texts, page = write("a" * 150 + ".txt", lines(200)), tmp_path / "page.html"
    run("fit", texts, *SMALL, "--title", "Ships & planes", "--report", page)
    assert "<title>Ships &amp; planes</title>" in page.read_text(encoding="utf-8")
    data = _data_of(page)
    assert (data["n_documents"], data["sampled_from"]) == (200, None)
    places = [document["title"] for document in _documents_in(data)]
    assert all(re.fullmatch(r"…a+\.txt:\d+", place) for place in places)


def test_watch_goes_on_with_a_fitted_model(fitted, run, write):
    _, model = fitted
    path, n = write("feed.txt", lines(100, seed=1)), load(model).n_documents_seen_
    for _ in range(2):
        run("watch", path, "--model", model, "--idle", 0.1)
        assert load(model).n_documents_seen_ == n + 100


def test_new_texts_bring_new_words(fitted, run, write):
    """Also behind a corpus that was learnt at once: nothing of them is left out."""
    other = write("other.txt", [f"violin trumpet {'cello' * (i % 2)}" for i in range(100)])
    out, err = run("update", fitted[1], other, "--quiet")
    assert err == ""
    assert out.startswith("100 new documents\n")
    assert "* *" in out
    assert {"violin", "trumpet", "cello"} <= {*load(fitted[1]).pipeline_[0].vocabulary_}


@open_alone
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


def test_what_was_skipped_is_said(run, write):
    path = write("a.jsonl", [*(json.dumps({"text": t}) for t in lines(40)), "{", '{"body": 1}'])
    run("fit", path, *SMALL, status=2)
    _, err = run("fit", path, *SMALL, "--skip-bad")
    assert "documents read: 40; skipped: 2: 1 not JSON (first: " in err


@pytest.mark.parametrize(
    ("name", "content", "more", "remedy"),
    [
        ("a.jsonl", ['{"text": 7}'], "", "got 7 (int) (--skip-bad"),
        ("a.jsonl", ['{"text": "a", "day": "soon"}'], "--time-key day", "pass --time-format %d."),
        ("a.csv", ["id,Body", "1,a"], "--text-key body", "'Body'; pass --text-key Body, "),
        (
            "a.csv",
            ["text,n", "a,1", "b,2003-05-17"],
            "--time-key n",
            "3: times must be all dates or",
        ),
        ("a.csv", ["text,n", "a,1"], "--time-key date", "no 'date'; there is: 'text', 'n'"),
        ("a.csv", ["id;text", "1;a"], "--sep ,", "the fields of 'id;text'; pass --sep ';', for"),
        ("a.csv", ["text,day", "a,1"], "--time-key days", "'day'; pass --time-key day, "),
    ],
)
def test_what_cannot_be_read_comes_with_options(run, write, name, content, more, remedy):
    _, err = run("summarize", write(name, content), *more.split(), status=2)
    assert remedy in err
    assert err.rstrip().endswith("and counts, what cannot be read)") == ("--sep" not in remedy)


def test_a_folder_of_files_of_other_names(run, tmp_path, write):
    """The remedy that is named is one that there is."""
    for i, line in enumerate(lines(12)):
        write(f"{i}.md", [line])
    _, err = run("summarize", tmp_path, status=2)
    assert err.endswith("pass --format documents, for example\n")
    assert run("summarize", tmp_path, "--format", "documents")[0].startswith("12 documents")


@pytest.mark.parametrize(
    "arguments",
    [("show", "x"), ("fit", "a.txt", "--seeds", "x"), ("score", "x", "a.txt"), ("fit", "x"),
     ("update", "x", "a.txt"), ("watch", "x", "--model", "m")],
)  # fmt: skip
def test_files_that_are_missing(run, write, arguments):
    write("a.txt", ["sea"])
    _, err = run(*arguments, status=2)
    assert re.search("no (such )?file or directory", err, re.IGNORECASE)
    assert "x" in err.split("directory")[1] or "x: " in err


def test_seeds_that_are_unknown_words(run, write):
    seeds = write("seeds.json", ['{"sea": ["ship", "xyzzy"], "sky": ["plane"]}'])
    small = ["--seeds", seeds, "--max-share", 1, "--quiet"]
    _, err = run("fit", write("a.txt", lines(60)), *small)
    assert "the seeds ['xyzzy'] are in no column of X and do not count" in err


def test_a_table_that_grows_is_piped(run, tmp_path):
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"text\na\n"))
    _, err = run("watch", path, "--model", tmp_path / "m", "--idle", 0.1, status=2)
    assert "zcat FILE | streamtopics watch - --format jsonl" in err


WHOLE = "is not a whole number from 1 to 2,147,483,647"
PDF = "x.pdf is no kind of file to write; use one of html"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("fti a.txt", "invalid choice: 'fti' (choose from "),
        ("fit a.txt --topcis 3", "did you mean --topics?"),
        ("fit a.txt --encoding utf8x", "'utf8x' is not an encoding, such as utf-8"),
        ("fit a.csv --sep ab", "--sep: 'ab' is not one character, such as ';'"),
        ("fit b.csv --sep ,", "pass --sep $'\\t', for example\n"),
        ("fit a.txt --keep year", "--keep needs --documents-out FILE"),
        ("fit a.txt --report x.pdf", PDF),
        ("report m --output x.pdf", PDF),
        ("fit a.txt --estimator gibbsonlinem", "did you mean GibbsOnlineEM"),
        ("fit a.txt --estimator PowerPrior", "did you mean PowerPriorLDA"),
        ("fit a.txt --estimator xyzzy", "use one of BPSLDA"),
        ("fit --batch-size 1.5", f"argument --batch-size: '1.5' {WHOLE}"),
        ("fit --topics 0", f"argument --topics: '0' {WHOLE}"),
        ("fit --topics 2147483648", f"argument --topics: '2147483648' {WHOLE}"),
        ("fit --relevance 1.5", "'1.5' is not a number from 0 to 1"),
    ],
)
def test_options_that_are_misspelt_or_have_no_effect(misused, write, arguments, said):
    """Are told of in a line that names them."""
    for name, *content in (("a.txt", "sea"), ("a.csv", "text"), ("b.csv", "id\ttext", "1\tsea")):
        write(name, content)
    assert said in misused(*arguments.split())


def test_edits_of_a_file_are_carried_out(fitted, tmp_path, run):
    model, path, target = fitted[1], tmp_path / "edits.json", tmp_path / "edited.model"
    kept = editing.rename(load(model), 0, "salt water")
    strange = replace(kept, topics=(9,), leading=((("nowhere", 0.5), ("nothing", 0.5)),))
    path.write_text(editing.edits_to_json([kept, strange]), encoding="utf-8")
    out, _ = run("edit", model, path, "--model", target)
    assert out.startswith("rename   topic 0\nrename   refused: no topic has the words")
    assert "salt water" in run("show", target)[0]
    assert "salt water" not in run("show", model)[0]
    path.write_text("[]", encoding="utf-8")
    assert "not a file of edits" in run("edit", model, path, status=2)[1]


def test_unknown_values_of_kept_fields_are_null(tmp_path, capsys):
    save(TopicStream(2).fit(SEA + SKY), tmp_path / "m")
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "the sun", "score": NaN}\n{"text": "the sea", "score": 2}\n')
    assert main(["apply", str(tmp_path / "m"), str(path), "--keep", "score"]) == 0
    assert [json.loads(row)["score"] for row in capsys.readouterr().out.splitlines()] == [None, 2]


def test_signed_numbers_of_a_table_are_no_formulas():
    cells = _cells(["-0.5", "+3", "-1e-3", "=1", "-1+cmd", "@x", "-"])
    assert cells == "-0.5,+3,-1e-3,'=1,'-1+cmd,'@x,'-\n"
    assert _cells(["a\rb", "c\nd"]) == '"a\rb","c\nd"\n'


def test_kept_fields_are_json_and_clash_with_none(tmp_path, capsys):
    save(TopicStream(2).fit(SEA + SKY), tmp_path / "m")
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "sun", "x": Infinity, "n": {"v": NaN}, "topics": ["a"], "id": 7}\n')
    how = ["--keep", "x,n,topics,id", "--id-key", "x"]
    assert main(["apply", str(tmp_path / "m"), str(path), *how]) == 0
    row = json.loads(capsys.readouterr().out)
    found = [row[key] for key in ("x", "n", "kept_topics", "kept_id", "line")]
    assert found == [None, {"v": None}, ["a"], 7, 1]
