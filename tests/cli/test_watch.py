# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics watch` while its file grows, under signals, and when it is killed."""

import importlib
import itertools
import json
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest

from streamtopics import StreamingLDA, TopicStream, load, save
from streamtopics.cli import main
from streamtopics.streams import DriftMonitor, resume
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from tests.saving.state import is_same

KINDS = {
    "sea": ["ship", "harbour", "sailor", "wave", "anchor", "tide"],
    "sky": ["plane", "pilot", "cloud", "wing", "airport", "flight"],
    "law": ["court", "judge", "lawyer", "trial", "jury", "appeal"],
}
PATIENCE = 60
# The command with less patience for a minibatch that is not full.
SOON = (
    "import streamtopics.cli as cli, streamtopics.cli.watch as w; w.PATIENCE = .5; exit(cli.main())"
)


def lines(n, kinds=("sea", "sky"), seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(KINDS[kinds[i % 2]], 12)) + "\n" for i in range(n)]


def append(path, *texts, mode="a"):
    with path.open(mode, encoding="utf-8") as file:
        for text in texts:
            file.write(text)
            file.flush()


def given(path, model, size, *more):
    options = ["--batch-size", size, "--topics", 2, "--max-share", 1, "--set", "n_jobs=1"]
    return [str(one) for one in ("watch", path, "--model", model, *options, *more)]


class Running:
    """A process whose lines of output come with a deadline."""

    def __init__(self, process):
        self.process = process
        self.lines, self.errors = queue.Queue(), []
        self.threads = [
            threading.Thread(target=self._read_lines),
            threading.Thread(target=lambda: self.errors.extend(self.process.stderr)),
        ]
        for thread in self.threads:
            thread.start()

    def _read_lines(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def line(self):
        return self.lines.get(timeout=PATIENCE)

    def is_silent(self, seconds=0.5):
        time.sleep(seconds)
        return self.lines.empty() and self.process.poll() is None

    def end(self, number=None):
        """Send a signal, and return the exit status and what was said on standard error."""
        if number is not None:
            self.process.send_signal(number)
        status = self.process.wait(PATIENCE)
        for thread in self.threads:
            thread.join(PATIENCE)
        return status, "".join(self.errors)


@pytest.fixture(name="running")
def running_commands(python):
    """Start the command, kill it at the end, and wait until all it said is read."""

    @contextmanager
    def running(arguments, soon=False, **pipes):
        how = ["-c", SOON] if soon else ["-m", "streamtopics"]
        with python([*how, *arguments], **pipes) as process:
            found = Running(process)
            try:
                yield found
            finally:
                found.end(signal.SIGKILL)

    return running


def uncut(tmp_path, capsys, texts, size, *more):
    """The model of a run without a break, and the lines it printed, without their times."""
    path, model = tmp_path / "uncut.txt", tmp_path / "uncut.model"
    append(path, *texts, mode="w")
    status = main(given(path, model, size, "--idle", 0.1, *more))
    captured = capsys.readouterr()
    assert status == 0, captured.err
    return load(model), without_times(captured.out.splitlines())


def without_times(found):
    return [line.split("  ", 1)[1].rstrip() for line in found if "documents, " in line]


def same(one, other):
    """Whether two streams have the same state, up to the ids of documents, which name files."""
    for model in (one, other):
        model._documents = tuple(kept._replace(id="") for kept in model._documents)
    return is_same(one, other)


def test_a_file_that_grows(tmp_path, capsys, running):
    """No line is learnt twice, lost or cut in two: the model is that of all lines at once."""
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    path.touch()
    texts = lines(150)
    half = len(texts[49]) // 2
    with running(given(path, model, 50)) as process:
        append(path, *texts[:30])
        append(path, *texts[30:49], texts[49][:half])
        assert process.is_silent()
        append(path, texts[49][half:])
        assert "50 documents, nothing to score" in process.line()
        append(path, *texts[50:])
        assert " documents, -" in process.line()
        assert " documents, -" in process.line()
        assert process.is_silent(0.2)
        status, err = process.end(signal.SIGTERM)
    assert status == 143, err
    assert "Traceback" not in err
    assert same(load(model), uncut(tmp_path, capsys, texts, 50)[0])


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_standard_input_that_stays_open(tmp_path, number, status, running):
    """A minibatch comes after a time, and what came before the signal is learnt."""
    model = tmp_path / "feed.model"
    texts = lines(50)
    with running(given("-", model, 1000), stdin=subprocess.PIPE, soon=True) as process:
        process.process.stdin.write("".join(texts[:40]))
        process.process.stdin.flush()
        assert "40 documents" in process.line()
        process.process.stdin.write("".join(texts[40:]) + "half a li")
        process.process.stdin.flush()
        time.sleep(0.2)
        found, err = process.end(number)
    assert found == status, err
    assert "Traceback" not in err
    assert load(model).n_documents_seen_ == 50


def test_an_alarm_where_the_stream_changes(tmp_path, capsys):
    texts = [*lines(2000), *lines(400, ("sea", "law"), seed=1)]
    path = tmp_path / "feed.txt"
    append(path, *texts)
    model, report = tmp_path / "feed.model", tmp_path / "r.html"
    status = main(given(path, model, 100, "--idle", 0.1, "--report", report))
    captured = capsys.readouterr()
    assert status == 0, captured.err
    found = [line for line in captured.out.splitlines() if "documents, " in line or "ALARM" in line]
    places = [i for i, line in enumerate(found) if "ALARM" in line]
    assert places
    assert places[0] in (21, 22)  # behind the line of the first or the second changed minibatch
    assert len(places) <= 2
    topics = next(line for line in captured.out.splitlines() if line.startswith("Topics: "))
    assert "shrunk (" in topics
    assert set(KINDS["sky"]) & set(topics.replace(")", " ").replace("(", " ").split())
    assert "nan" not in captured.out


def test_an_alarm_of_a_closed_vocabulary_names_words(tmp_path, capsys):
    path, base = tmp_path / "feed.txt", tmp_path / "base.txt"
    append(base, *lines(300, ("sea", "sky")), *lines(300, ("law", "sky")))
    model = tmp_path / "feed.model"
    arguments = ["fit", base, "--topics", 3, "--max-share", 1, "--quiet", "--model", model]
    assert main([str(one) for one in arguments]) == 0
    append(path, *lines(2000), *lines(400, ("sea", "law"), seed=1))
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    out = capsys.readouterr().out
    words = next(line for line in out.splitlines() if line.startswith("Words: "))
    assert set(KINDS["law"]) & set(words.split())


def test_nothing_half_written_is_ever_seen(tmp_path, running):
    """Who looks at the folder during the run finds whole files, and no other is left."""
    path, model, report = tmp_path / "feed.txt", tmp_path / "feed.model", tmp_path / "r.html"
    append(path, *lines(900))
    more = ["--every", 1, "--report", report, "--idle", 0.1]
    checkpoints, seen = tmp_path / "feed.model.checkpoints", set()
    with running(given(path, model, 50, *more)) as process:
        while process.process.poll() is None:
            for file in [*tmp_path.iterdir(), *(checkpoints.iterdir() if seen else ())]:
                _check_whole(file, seen)
        status, err = process.end()
    assert status == 0, err
    assert {"feed.model", "r.html"} <= {name for name, _ in seen}
    assert len({data for name, data in seen if name == "r.html"}) > 2
    assert {file.name for file in tmp_path.iterdir()} == {
        "feed.txt", "feed.model", "r.html", "feed.model.checkpoints",
    }  # fmt: skip
    assert {file.name[:11] for file in checkpoints.iterdir()} == {"checkpoint-"}


def _check_whole(file, seen):
    """Check a file that may go away meanwhile, as old checkpoints do."""
    if file.name.startswith(".streamtopics-") or file.suffix == ".txt" or file.is_dir():
        return
    try:
        data = file.read_bytes()
        if file.suffix == ".html":
            assert data.rstrip().endswith(b"</html>")
        elif file.name.startswith("checkpoint-"):
            load(file)
        else:
            load(file)
    except FileNotFoundError:
        return
    seen.add((file.name, hash(data)))


@pytest.mark.parametrize(
    ("every", "after", "seeds"),
    [(1, 1, False), (1, 6, False), (3, 5, False), (3, 2, True), (3, 5, True)],
)
def test_killed_and_begun_again_it_ends_as_if_uncut(tmp_path, capsys, every, after, seeds, running):
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    (tmp_path / "seeds.json").write_text('{"water": ["ship"], "air": ["plane"]}', encoding="utf-8")
    more = ["--every", every, *(["--seeds", tmp_path / "seeds.json"] if seeds else [])]
    texts = lines(1000)
    append(path, *texts)
    with running(given(path, model, 100, *more)) as process:
        for _ in range(after):
            process.line()
        assert process.end(signal.SIGKILL)[0] == -signal.SIGKILL
    assert main(given(path, model, 100, "--idle", 0.1, *more)) == 0
    captured = capsys.readouterr()
    assert ("going on" in captured.err) == (after >= every)
    expected, printed = uncut(tmp_path, capsys, texts, 100, *more)
    assert same(load(model), expected)
    again = without_times(captured.out.splitlines())
    assert again == printed[-len(again) :]
    assert len(again) <= 10 - after // every * every


def test_a_reader_that_goes_away_costs_no_document(tmp_path, capsys, python):
    """As of a pager that was left: the place is kept, so that nothing is learnt twice."""
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    texts = lines(600)
    append(path, *texts)
    with python(["-m", "streamtopics", *given(path, model, 100)]) as process:
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait() == 0, err
    assert "Traceback" not in err
    assert load(model).n_documents_seen_ < 600
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    capsys.readouterr()
    assert same(load(model), uncut(tmp_path, capsys, texts, 100)[0])


def test_the_report_after_a_break_is_that_without_one(tmp_path, capsys):
    path, page = tmp_path / "feed.jsonl", tmp_path / "feed.html"
    texts = [
        json.dumps({"text": text.strip(), "year": 1950 + i // 10}) + "\n"
        for i, text in enumerate(lines(400))
    ]
    texts[390] = json.dumps({"text": "ship \ud800 wave", "year": 1989}) + "\n"
    more = ["--idle", 0.1, "--time-key", "year", "--report"]
    pages = []
    for cuts in ([400], [100, 300, 300, 400, 400]):
        model = tmp_path / f"{len(cuts)}.model"
        for before, end in itertools.pairwise([0, *cuts]):
            append(path, *texts[before:end], mode="a" if before else "w")
            assert main(given(path, model, 100, *more, page)) == 0
            pages.append(page.read_bytes())
    assert pages[0] == pages[-1] == pages[-2]
    assert pages[2] == pages[3]
    assert b'"n_documents":400' in pages[0]


@pytest.mark.parametrize("report", [False, True])
def test_a_checkpoint_is_of_bounded_size(tmp_path, capsys, monkeypatch, report):
    """Also with alarms; what a minibatch adds to it is some hundred bytes."""
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    often = partial(DriftMonitor, alpha=0.5)
    monkeypatch.setattr("streamtopics.topic_stream.estimator.DriftMonitor", often)
    words = StreamingCountVectorizer(max_features=50)
    save(TopicStream(2, vectorizer=words, n_documents=500), model)
    more = ["--idle", 0.1, *(["--report", tmp_path / "r.html"] if report else [])]
    sizes = []
    for n in (1500, 1000, 1000):
        append(path, *lines(n, seed=n))
        assert main(given(path, model, 50, *more)) == 0
        *_, newest = sorted((tmp_path / "feed.model.checkpoints").iterdir())
        sizes.append(newest.stat().st_size)
    assert len(resume(f"{model}.checkpoints").callbacks[1].rows) == 70
    first, second = np.diff(sizes)
    assert max(first, second) < 20 * 1500, sizes


def test_seeds_stay(tmp_path, capsys):
    """The vocabulary is that of the first minibatch, and what is gone on with keeps its own."""
    path, model, seeds = tmp_path / "feed.txt", tmp_path / "feed.model", tmp_path / "seeds.json"
    seeds.write_text('{"water": ["ship"], "air": ["plane"]}', encoding="utf-8")
    append(path, *lines(200))
    assert main(given(path, model, 100, "--idle", 0.1, "--seeds", seeds)) == 0
    append(path, *(f"balloon {line}" for line in lines(100)))
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    again = load(model).pipeline_
    assert [*again[-1].topic_names_] == ["water", "air"]
    assert again[-1].n_documents_seen_ == 300
    assert "balloon" not in again[0].get_feature_names_out()


def test_a_file_that_was_replaced_is_an_error(tmp_path, capsys):
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    append(path, *lines(200))
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    append(path.rename(tmp_path / "moved.txt"), *lines(100, seed=3))
    assert main(given(tmp_path / "moved.txt", model, 100, "--idle", 0.1)) == 0
    assert load(model).n_documents_seen_ == 300
    append(path, *lines(400, seed=1))
    capsys.readouterr()
    assert main(given(path, model, 100, "--idle", 0.1)) == 2
    assert "tail -F FILE | streamtopics watch -" in capsys.readouterr().err
    assert load(model).n_documents_seen_ == 300


def test_a_pipeline_that_was_saved_before_it_learnt(tmp_path, capsys):
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    append(path, *lines(100))
    words = StreamingCountVectorizer(max_features=50)
    save(StreamingPipeline([("words", words), ("topics", StreamingLDA(2))]), model)
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    assert load(model).n_documents_seen_ == 100


def test_a_pipe_has_no_place(tmp_path, capsys, python):
    """And leaves that in a file as it is."""
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    append(path, *lines(200))
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    with python(["-m", "streamtopics", *given("-", model, 100)], stdin=subprocess.PIPE) as process:
        _, err = process.communicate("".join(lines(100, seed=1)))
        assert process.returncode == 0, err
    append(path, *lines(100, seed=2))
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    assert load(model).n_documents_seen_ == 400


def test_documents_are_counted_on_from_those_of_fit(tmp_path, capsys):
    """Each once, though fit has seen them several times."""
    path, model, page = tmp_path / "feed.txt", tmp_path / "feed.model", tmp_path / "feed.html"
    append(path, *lines(200))
    fit = ["fit", path, "--topics", 2, "--max-share", 1, "--quiet", "--model", model]
    assert main([str(one) for one in [*fit, "--max-iter", 3, "--report", page]]) == 0
    assert '["Documents, in all passes","540"]' in page.read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    out, err = capsys.readouterr()
    assert "beginning with the model in " in err
    counts = [line.split(",")[0] for line in without_times(out.splitlines())]
    assert counts == ["300 documents", "400 documents"]
    append(path, *lines(50, seed=1))
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    out, err = capsys.readouterr()
    assert "going on from 400 documents" in err
    assert "450 documents, " in out
    assert load(model).n_documents_seen_ == 450


def test_findings_are_told_once(tmp_path, capsys):
    """Also by a command that goes on."""
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    told = []
    for n, kinds in ((1000, ("sea", "sky")), (600, ("sea", "law")), (200, ("sea", "law"))):
        append(path, *lines(n, kinds, seed=n))
        assert main(given(path, model, 100, "--every", 2, "--idle", 0.1)) == 0
        told.append([line for line in capsys.readouterr().out.splitlines() if line[:1] == "*"])
    assert not told[0]
    assert any({*KINDS["law"]} & {*re.findall("[a-z]+", line)} for line in told[1])
    place = resume(f"{model}.checkpoints").callbacks[0]
    keys = [tuple(one) for one in place["told"]]
    assert len(keys) == len({*keys}) == sum(map(len, told))


def test_what_came_over_a_pipe_before_a_bad_line_is_learnt(tmp_path, python):
    """Of a file it is left for the next time, when the line may be right."""
    model = tmp_path / "feed.model"
    good = [json.dumps({"text": text.strip()}) + "\n" for text in lines(150)]
    content = "".join([*good, '{"text": \n', *good])
    command = ["-m", "streamtopics", *given("-", model, 100, "--format", "jsonl")]
    with python(command, stdin=subprocess.PIPE) as process:
        out, err = process.communicate(content)
    assert process.returncode == 2
    assert "151" in err
    assert "Traceback" not in err
    assert out.count("documents, ") == 2
    assert load(model).n_documents_seen_ == 150
    path = tmp_path / "feed.jsonl"
    append(path, content)
    assert main(given(path, tmp_path / "other.model", 100, "--idle", 0.1)) == 2
    assert load(tmp_path / "other.model").n_documents_seen_ == 100


def test_a_model_without_a_word_is_told_of_once(tmp_path, capsys):
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    append(path, *("12 34 56\n" for _ in range(200)))
    assert main(given(path, model, 100, "--every", 1, "--idle", 0.1)) == 0
    err = capsys.readouterr().err
    assert err.count("note: the model has no word") == 1
    assert "--min-documents 1" in err
    append(path, *lines(100))
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    assert "has no word" not in capsys.readouterr().err


STRANGER = """
from dataclasses import dataclass

from streamtopics.updates import SVB


@dataclass(frozen=True)
class Own(SVB):
    pass
"""


def test_a_rule_of_a_stranger_is_watched_if_it_is_trusted(tmp_path, capsys, monkeypatch):
    (tmp_path / "of_another.py").write_text(STRANGER, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    own = importlib.import_module("of_another").Own
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    words = StreamingCountVectorizer(max_features=50, min_df=1)
    topics = StreamingLDA(2, update=own(), random_state=0)
    save(StreamingPipeline([("words", words), ("topics", topics)]), model)
    append(path, *lines(100))
    again = given(path, model, 50, "--idle", 0.1)
    assert main(again) == 2
    assert "names of_another.Own, not part of streamtopics" in capsys.readouterr().err
    trust = ["--trust", "of_another.Own"]
    for n in (100, 200):
        assert main([*again, *trust]) == 0
        assert load(model, trusted=[own]).n_documents_seen_ == n
        append(path, *lines(100))
    assert main(["show", str(model), *trust]) == 0
    assert "Own()" in capsys.readouterr().out
    monkeypatch.delitem(sys.modules, "of_another")
