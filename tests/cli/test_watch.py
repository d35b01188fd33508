# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics watch` while its file grows, under signals, and when it is killed."""

import importlib
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
from streamtopics.streams import DriftMonitor, resume
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from tests.cli import texts
from tests.cli.texts import WORDS
from tests.saving.state import is_same

PATIENCE = 60
# The command with less patience for a minibatch that is not full.
SOON = (
    "import streamtopics.cli as cli, streamtopics.cli.watch as w; w.PATIENCE = .5; exit(cli.main())"
)


def lines(n, kinds=("sea", "sky"), seed=0):
    return [f"{line}\n" for line in texts.lines(n, kinds, seed)]


def given(path, model, size, *more):
    options = ["--batch-size", size, "--topics", 2, "--max-share", 1, "--set", "n_jobs=1"]
    return [str(one) for one in ("watch", path, "--model", model, *options, *more)]


class Feed:
    """A file that grows, and the model that is learnt from it."""

    def __init__(self, folder, run):
        self.folder, self.run = folder, run
        self.path, self.model = folder / "feed.txt", folder / "feed.model"
        self.seeds = folder / "seeds.json"
        self.seeds.write_text('{"water": ["ship"], "air": ["plane"]}', encoding="utf-8")

    def append(self, *texts):
        with self.path.open("a", encoding="utf-8") as file:
            for text in texts:
                file.write(text)
                file.flush()

    def given(self, size, *more):
        return given(self.path, self.model, size, *more)

    def watch(self, *more, size=100, status=0):
        """Learn what there is, and end; what the command printed, and what it said."""
        return self.run(*self.given(size, "--idle", 0.1, *more), status=status)

    @property
    def n_learnt(self):
        return load(self.model).n_documents_seen_

    def uncut(self, size, *more):
        """The model of a run without a break, and the lines it printed, without their times."""
        model = self.folder / "uncut.model"
        out, _ = self.run(*given(self.path, model, size, "--idle", 0.1, *more))
        return load(model), without_times(out)


@pytest.fixture
def feed(tmp_path, run):
    return Feed(tmp_path, run)


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


def without_times(out):
    found = [line for line in out.splitlines() if "documents, " in line]
    return [line.split("  ", 1)[1].rstrip() for line in found]


def same(one, other):
    """Whether two streams have the same state, up to the ids of documents, which name files."""
    for model in (one, other):
        model._documents = tuple(kept._replace(id="") for kept in model._documents)
    return is_same(one, other)


def test_a_file_that_grows(feed, running):
    """No line is learnt twice, lost or cut in two: the model is that of all lines at once."""
    feed.append()
    texts = lines(150)
    half = len(texts[49]) // 2
    with running(feed.given(50)) as process:
        feed.append(*texts[:30])
        feed.append(*texts[30:49], texts[49][:half])
        assert process.is_silent()
        feed.append(texts[49][half:])
        assert "50 documents, nothing to score" in process.line()
        feed.append(*texts[50:])
        assert " documents, -" in process.line()
        assert " documents, -" in process.line()
        assert process.is_silent(0.2)
        status, err = process.end(signal.SIGTERM)
    assert status == 143, err
    assert "Traceback" not in err
    assert same(load(feed.model), feed.uncut(50)[0])


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


def test_a_second_signal_ends_at_once_and_says_how_to_go_on(feed, monkeypatch):
    feed.append(*lines(100))
    feed.watch()
    before = feed.model.read_bytes()

    def interrupted(model, batches, callbacks):
        next(batches)
        for _ in range(2):
            callbacks[1].on_signal(signal.SIGINT, None)

    monkeypatch.setattr(importlib.import_module("streamtopics.cli.watch"), "stream", interrupted)
    feed.append(*lines(100))
    _, err = feed.watch(status=130)
    assert f"goes on from the checkpoint in {feed.model}.checkpoints" in err
    assert feed.model.read_bytes() == before
    monkeypatch.undo()
    feed.watch()
    assert feed.n_learnt == 200


def test_an_alarm_where_the_stream_changes(feed):
    feed.append(*lines(2000), *lines(400, ("sea", "law"), seed=1))
    out, _ = feed.watch("--report", feed.folder / "r.html")
    found = [line for line in out.splitlines() if "documents, " in line or "ALARM" in line]
    places = [i for i, line in enumerate(found) if "ALARM" in line]
    assert places
    assert places[0] in (21, 22)  # behind the line of the first or the second changed minibatch
    assert len(places) <= 2
    topics = next(line for line in out.splitlines() if line.startswith("Topics: "))
    assert "shrunk (" in topics
    assert set(WORDS["sky"]) & set(topics.replace(")", " ").replace("(", " ").split())
    assert "nan" not in out


def test_an_alarm_of_a_closed_vocabulary_names_words(feed, run):
    base = feed.folder / "base.txt"
    base.write_text("".join([*lines(300), *lines(300, ("law", "sky"))]), encoding="utf-8")
    run("fit", base, "--topics", 3, "--max-share", 1, "--quiet", "--model", feed.model)
    feed.append(*lines(2000), *lines(400, ("sea", "law"), seed=1))
    out, _ = feed.watch()
    words = next(line for line in out.splitlines() if line.startswith("Words: "))
    assert set(WORDS["law"]) & set(words.split())


def test_nothing_half_written_is_ever_seen(tmp_path, running):
    """Who looks at the folder during the run finds whole files, and no other is left."""
    path, model, report = tmp_path / "feed.txt", tmp_path / "feed.model", tmp_path / "r.html"
    path.write_text("".join(lines(900)), encoding="utf-8")
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
        else:
            load(file)
    except FileNotFoundError:
        return
    seen.add((file.name, hash(data)))


@pytest.mark.parametrize(
    ("every", "after", "seeds"),
    [(1, 1, False), (1, 6, False), (3, 5, False), (3, 2, True), (3, 5, True)],
)
def test_killed_and_begun_again_it_ends_as_if_uncut(feed, every, after, seeds, running):
    more = ["--every", every, *(["--seeds", feed.seeds] if seeds else [])]
    feed.append(*lines(1000))
    with running(feed.given(100, *more)) as process:
        for _ in range(after):
            process.line()
        assert process.end(signal.SIGKILL)[0] == -signal.SIGKILL
    out, err = feed.watch(*more)
    assert ("going on" in err) == (after >= every)
    expected, printed = feed.uncut(100, *more)
    assert same(load(feed.model), expected)
    again = without_times(out)
    assert again == printed[-len(again) :]
    assert len(again) <= 10 - after // every * every


def test_a_reader_that_goes_away_costs_no_document(feed, python):
    """As of a pager that was left: the place is kept, so that nothing is learnt twice."""
    feed.append(*lines(600))
    with python(["-m", "streamtopics", *feed.given(100)]) as process:
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait() == 0, err
    assert "Traceback" not in err
    assert feed.n_learnt < 600
    feed.watch()
    assert same(load(feed.model), feed.uncut(100)[0])


def test_the_report_after_a_break_is_that_without_one(tmp_path, run):
    path, page = tmp_path / "feed.jsonl", tmp_path / "feed.html"
    texts = [
        json.dumps({"text": text.strip(), "year": 1950 + i // 10}) + "\n"
        for i, text in enumerate(lines(400))
    ]
    texts[390] = json.dumps({"text": "ship \ud800 wave", "year": 1989}) + "\n"
    # Skipped, since the first times are numbers.
    texts.insert(300, json.dumps({"text": "ship", "year": "1980-05-17"}) + "\n")
    more = ["--idle", 0.1, "--time-key", "year", "--report", page, "--skip-bad"]
    pages = []
    for cuts in ([401], [100, 300, 300, 401, 401]):
        for end in cuts:
            path.write_text("".join(texts[:end]), encoding="utf-8")
            run(*given(path, tmp_path / f"{len(cuts)}.model", 100, *more))
            pages.append(page.read_bytes())
    assert pages[0] == pages[-1] == pages[-2]
    assert pages[2] == pages[3]
    assert b'"n_documents":400' in pages[0]


@pytest.mark.parametrize("report", [False, True])
def test_a_checkpoint_is_of_bounded_size(feed, monkeypatch, report):
    """Also with alarms; what a minibatch adds to it is some hundred bytes."""
    often = partial(DriftMonitor, alpha=0.5)
    monkeypatch.setattr("streamtopics.topic_stream.estimator.DriftMonitor", often)
    words = StreamingCountVectorizer(max_features=50)
    save(TopicStream(2, vectorizer=words, n_documents=500), feed.model)
    more = ["--report", feed.folder / "r.html"] if report else []
    sizes = []
    for n in (1500, 1000, 1000):
        feed.append(*lines(n, seed=n))
        feed.watch(*more, size=50)
        *_, newest = sorted((feed.folder / "feed.model.checkpoints").iterdir())
        sizes.append(newest.stat().st_size)
    assert len(resume(f"{feed.model}.checkpoints").callbacks[1].rows) == 70
    first, second = np.diff(sizes)
    assert max(first, second) < 20 * 1500, sizes


def test_seeds_stay(feed):
    """The vocabulary is that of the first minibatch, and what is gone on with keeps its own."""
    feed.append(*lines(200))
    feed.watch("--seeds", feed.seeds, "--topics", 3)
    feed.append(*(f"balloon {line}" for line in lines(100)))
    feed.watch()
    again = load(feed.model).pipeline_
    assert [*again[-1].topic_names_][:2] == ["water", "air"]
    assert again[-1].n_documents_seen_ == 300
    assert "balloon" not in again[0].get_feature_names_out()


def test_a_file_that_was_replaced_is_an_error(feed):
    before = feed.path
    feed.append(*lines(200))
    feed.watch()
    feed.path = before.rename(feed.folder / "moved.txt")
    feed.append(*lines(100, seed=3))
    feed.watch()
    assert feed.n_learnt == 300
    feed.path = before
    feed.append(*lines(400, seed=1))
    assert "tail -F FILE | streamtopics watch -" in feed.watch(status=2)[1]
    assert feed.n_learnt == 300


def test_a_pipe_has_no_place(feed, python):
    """And leaves that in a file as it is."""
    feed.append(*lines(200))
    feed.watch()
    command = ["-m", "streamtopics", *given("-", feed.model, 100)]
    with python(command, stdin=subprocess.PIPE) as process:
        _, err = process.communicate("".join(lines(100, seed=1)))
        assert process.returncode == 0, err
    feed.append(*lines(100, seed=2))
    feed.watch()
    assert feed.n_learnt == 400


def test_documents_are_counted_on_from_those_of_fit(feed, run):
    """Each once, though fit has seen them several times."""
    page = feed.folder / "feed.html"
    feed.append(*lines(200))
    fit = ["fit", feed.path, "--topics", 2, "--max-share", 1, "--quiet", "--model", feed.model]
    run(*fit, "--max-iter", 3, "--report", page)
    assert '["Documents, in all passes","540"]' in page.read_text(encoding="utf-8")
    out, err = feed.watch()
    assert "beginning with the model in " in err
    counts = [line.split(",")[0] for line in without_times(out)]
    assert counts == ["300 documents", "400 documents"]
    feed.append(*lines(50, seed=1))
    out, err = feed.watch()
    assert "going on from 400 documents" in err
    assert "450 documents, " in out
    assert feed.n_learnt == 450


def test_findings_are_told_once(feed):
    """Also by a command that goes on."""
    told = []
    for n, kinds in ((1000, ("sea", "sky")), (600, ("sea", "law")), (200, ("sea", "law"))):
        feed.append(*lines(n, kinds, seed=n))
        out, _ = feed.watch("--every", 2)
        told.append([line for line in out.splitlines() if line[:1] == "*"])
    assert not told[0]
    assert any({*WORDS["law"]} & {*re.findall("[a-z]+", line)} for line in told[1])
    place = resume(f"{feed.model}.checkpoints").callbacks[0]
    keys = [tuple(one) for one in place["told"]]
    assert len(keys) == len({*keys}) == sum(map(len, told))


def test_what_came_over_a_pipe_before_a_bad_line_is_learnt(tmp_path, python, run):
    """Of a file it is left for the next time, when the line may be right."""
    path, model, other = (tmp_path / name for name in ("feed.jsonl", "feed.model", "other.model"))
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
    path.write_text(content, encoding="utf-8")
    run(*given(path, other, 100, "--idle", 0.1), status=2)
    assert load(other).n_documents_seen_ == 100


def test_a_model_without_a_word_is_told_of_once(feed):
    feed.append(*["12 34 56\n"] * 200)
    _, err = feed.watch("--every", 1)
    assert err.count("note: the model has no word") == 1
    assert "--min-documents 1" in err
    feed.append(*lines(100))
    assert "has no word" not in feed.watch()[1]


STRANGER = """
from dataclasses import dataclass

from streamtopics.updates import SVB


@dataclass(frozen=True)
class Own(SVB):
    pass
"""


def test_a_rule_of_a_stranger_is_watched_if_it_is_trusted(feed, run, monkeypatch):
    """In a pipeline that was saved before it learnt."""
    (feed.folder / "of_another.py").write_text(STRANGER, encoding="utf-8")
    monkeypatch.syspath_prepend(feed.folder)
    own = importlib.import_module("of_another").Own
    words = StreamingCountVectorizer(max_features=50, min_df=1)
    topics = StreamingLDA(2, update=own(), random_state=0)
    save(StreamingPipeline([("words", words), ("topics", topics)]), feed.model)
    feed.append(*lines(100))
    _, err = feed.watch(size=50, status=2)
    assert "names of_another.Own, not part of streamtopics" in err
    trust = ["--trust", "of_another.Own"]
    for n in (100, 200):
        feed.watch(*trust, size=50)
        assert load(feed.model, trusted=[own]).n_documents_seen_ == n
        feed.append(*lines(100))
    assert "Own()" in run("show", feed.model, *trust)[0]
    monkeypatch.delitem(sys.modules, "of_another")


def test_skipped_records_are_counted_once(feed):
    rows = [json.dumps({"text": text}) for text in texts.lines(20)] + ['{"text": ""}'] * 3
    path = feed.folder / "feed.jsonl"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    for _ in range(2):
        _, told = feed.run(*given(path, feed.model, 10, "--min-documents", 1, "--idle", 0.1))
        assert "skipped: 3: 3 missing texts" in told
