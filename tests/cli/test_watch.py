# SPDX-License-Identifier: BSD-3-Clause
"""`streamtopics watch` while its file grows, under signals, and when it is killed."""

import itertools
import json
import pickle
import queue
import re
import shutil
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from datetime import datetime
from decimal import ROUND_FLOOR, Decimal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import Pipeline

from streamtopics import SVBLDA, StreamingLDA, load, save
from streamtopics.cli import main
from streamtopics.cli.model_file import CHECKSUMS
from streamtopics.cli.recent import _floor, add_recent, add_shares, nothing_recent, whole_stream
from streamtopics.datasets import Record
from streamtopics.saving.models import read, write
from streamtopics.streams import resume
from streamtopics.streams.checkpoint import CHECKPOINT
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline

KINDS = {
    "sea": ["ship", "harbour", "sailor", "wave", "anchor", "tide"],
    "sky": ["plane", "pilot", "cloud", "wing", "airport", "flight"],
    "law": ["court", "judge", "lawyer", "trial", "jury", "appeal"],
}
PATIENCE = 60


def lines(n, kinds=("sea", "sky"), seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(KINDS[kinds[i % 2]], 12)) + "\n" for i in range(n)]


def append(path, *texts, mode="a"):
    with path.open(mode, encoding="utf-8") as file:
        for text in texts:
            file.write(text)
            file.flush()


def given(path, model, size, *more):
    options = ["--batch-size", size, "--poll", 0.05, "--topics", 2, "--max-share", 1, "--jobs", 1]
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
    def running(arguments, **pipes):
        with python(["-m", "streamtopics", *arguments], **pipes) as process:
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


def bits(model):
    """A model as bytes, without what scikit-learn remembers of where the stop words are."""
    first = model.steps[0][1]
    for words in (first, getattr(first, "vectorizer", None), getattr(first, "vectorizer_", None)):
        if words is not None:
            vars(words).pop("_stop_words_id", None)
    return pickle.dumps(model)


def same(one, other):
    return bits(one) == bits(other)


def test_a_file_that_grows_is_moved_away_and_is_cut(tmp_path, capsys, running):
    """No line is learnt twice, lost or cut in two: the model is that of all lines at once."""
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    path.touch()
    texts = lines(200)
    half = len(texts[49]) // 2
    with running(given(path, model, 50)) as process:
        append(path, *texts[:30])
        append(path, *texts[30:49], texts[49][:half])
        assert process.is_silent()
        append(path, texts[49][half:])
        assert "50 documents, nothing to score" in process.line()
        append(path, *texts[50:90])
        moved = path.rename(tmp_path / "feed.txt.1")
        append(moved, *texts[90:95])
        append(path, *texts[95:100], mode="w")
        assert " documents, -" in process.line()
        time.sleep(0.3)
        append(path, *texts[100:150])
        assert " documents, -" in process.line()
        time.sleep(0.3)
        append(path, *texts[150:160], mode="w")
        time.sleep(0.3)
        append(path, *texts[160:])
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
    arguments = given("-", model, 1000, "--seconds", 0.5)
    with running(arguments, stdin=subprocess.PIPE) as process:
        process.process.stdin.write("".join(texts[:40]))
        process.process.stdin.flush()
        assert "40 documents" in process.line()
        process.process.stdin.write("".join(texts[40:]) + "half a li")
        process.process.stdin.flush()
        time.sleep(0.2)
        found, err = process.end(number)
    assert found == status, err
    assert "Traceback" not in err
    assert load(model)[-1].n_documents_seen_ == 50


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
    more = ["--every", 1, "--report-every", 1, "--report", report, "--idle", 0.1]
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
    assert {file.name[:11] for file in checkpoints.iterdir()} == {"checkpoint-", CHECKSUMS[:11]}


def _check_whole(file, seen):
    """Check a file that may go away meanwhile, as old checkpoints do."""
    if file.name.startswith(".streamtopics-") or file.suffix == ".txt" or file.is_dir():
        return
    try:
        data = file.read_bytes()
        if file.suffix == ".html":
            assert data.rstrip().endswith(b"</html>")
        elif file.name.startswith("checkpoint-"):
            read(file, kind=CHECKPOINT)
        elif file.name == CHECKSUMS:
            assert {len(one) for one in data.decode().split("\n")} == {64, 0}
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
    assert load(model)[-1].n_documents_seen_ < 600
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    capsys.readouterr()
    assert same(load(model), uncut(tmp_path, capsys, texts, 100)[0])


def test_seeds_of_a_model_stay(tmp_path, capsys):
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    seeds, others = tmp_path / "seeds.json", tmp_path / "others.json"
    seeds.write_text('{"water": ["ship"], "air": ["plane"]}', encoding="utf-8")
    others.write_text('{"water": ["wave"], "air": ["plane"]}', encoding="utf-8")
    append(path, *lines(200))
    more = ["--idle", 0.1, "--seeds"]
    assert main(given(path, model, 100, *more, seeds)) == 0
    assert main(["update", str(model), str(path), "--seeds", str(seeds), "--quiet"]) == 0
    before = model.read_bytes()
    capsys.readouterr()
    for arguments in (
        given(path, model, 100, *more, others),
        ["update", str(model), str(path), "--seeds", str(others)],
        given(path, model, 100, "--idle", 0.1, "--checkpoints", tmp_path / "x", *more[2:], others),
    ):
        assert main(arguments) == 2
        assert "begun with other seeds" in capsys.readouterr().err
    plain = tmp_path / "plain.model"
    assert main(given(path, plain, 100, "--idle", 0.1)) == 0
    assert main(["update", str(plain), str(path), "--seeds", str(seeds)]) == 2
    assert "learnt without seeds" in capsys.readouterr().err
    assert model.read_bytes() == before


@pytest.mark.parametrize("verb", ["update", "fit"])
def test_a_model_that_was_written_since_is_not_replaced(tmp_path, capsys, verb):
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    append(path, *lines(300))
    again = given(path, model, 100, "--idle", 0.1)
    assert main(again) == 0
    fit = ["fit", path, "--topics", 3, "--max-share", 1, "--quiet", "--model", model]
    command = fit if verb == "fit" else ["update", model, path, "--quiet"]
    assert main([str(one) for one in command]) == 0
    before = model.read_bytes()
    capsys.readouterr()
    assert main(again) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert (
        f"{model} is not the model that was written along with the checkpoints in {model}.check"
        in err
    )
    for remedy in ("remove the checkpoints", "move the model away", "another --model"):
        assert remedy in err
    assert model.read_bytes() == before
    away = model.rename(tmp_path / "away.model")
    assert main(again) == 0
    assert load(model)[-1].n_documents_seen_ == 300
    away.replace(model)
    shutil.rmtree(f"{model}.checkpoints")
    n = load(model)[-1].n_documents_seen_
    assert main(again) == 0
    assert load(model)[-1].n_documents_seen_ == n + 300


def test_a_model_that_is_written_behind_a_first_checkpoint_is_not_replaced(tmp_path, capsys):
    """Also where the command has ended before it wrote a model itself."""
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    append(path, *lines(300))
    again = given(path, model, 100, "--idle", 0.1)
    assert main(again) == 0
    (tmp_path / "feed.model.checkpoints" / CHECKSUMS).unlink()
    assert main(again) == 2
    assert "is not the model that was written along with" in capsys.readouterr().err


@pytest.mark.parametrize("begun_with", ["nothing", "a model"])
@pytest.mark.parametrize("known", [False, True])
def test_ended_before_a_model_is_written_it_goes_on(
    tmp_path, capsys, monkeypatch, begun_with, known
):
    """Several times, behind the checkpoint, before or after the checksums are written."""
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    other = tmp_path / "uncut.model"
    if begun_with == "a model":
        append(path, *lines(100, seed=1))
        assert main(given(path, model, 100, "--idle", 0.1)) == 0
        shutil.rmtree(f"{model}.checkpoints")
        shutil.copy(model, other)
    texts = lines(600)
    append(path, *texts[:100], mode="w")

    def fail(value, where, *, kind, before):
        if known:
            before(b"of a model that is not written")
        raise OSError("as if it were killed")

    again = given(path, model, 100, "--every", 1, "--idle", 0.1)
    for i in range(1, 6):
        with monkeypatch.context() as patch:
            if i != 3:
                patch.setattr("streamtopics.cli.model_file.write", fail)
            assert main(again) == (0 if i == 3 else 2)
        append(path, *texts[100 * i : 100 * (i + 1)])
    capsys.readouterr()
    assert main(again) == 0
    assert "going on from" in capsys.readouterr().err
    append(tmp_path / "uncut.txt", *texts)
    assert main(given(tmp_path / "uncut.txt", other, 100, "--idle", 0.1)) == 0
    assert same(load(model), load(other))


def test_checkpoints_of_a_release_that_knew_no_checksums_and_counted_no_words(tmp_path, capsys):
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    append(path, *lines(200))
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    folder = tmp_path / "feed.model.checkpoints"
    (folder / CHECKSUMS).unlink()
    for file in folder.iterdir():
        found = read(file, kind=CHECKPOINT)
        del found.callbacks[1]["model"], found.callbacks[1]["tally"]
        write(found, file, kind=CHECKPOINT)
    append(path, *lines(100, seed=1))
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    assert load(model)[-1].n_documents_seen_ == 300


def test_the_report_after_a_break_is_that_without_one(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("streamtopics.cli.recent.N_SHOWN", 250)
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
    assert b'"n_documents":250' in pages[0]
    data = json.loads(re.search(rb'id="data">(.*?)</script>', pages[0], re.DOTALL)[1])
    assert (data["sampled_from"], data["over_all"]) == (400, True)
    # The years of all that was read, and not of the last documents alone: 10 in a year, 50 in five.
    assert data["periods"] == [f"{year} to {year + 4}" for year in range(1950, 1990, 5)]
    assert data["sizes"] == [50] * 8
    told = [json.loads(line)["text"].lower().split() for line in texts]
    assert data["holders"] == [sum(word in one for one in told) for word in data["words"]]
    capsys.readouterr()
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    append(path, *texts[:100])
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    assert resume(tmp_path / "5.model.checkpoints").callbacks[1]["recent"] == nothing_recent()


def test_sums_of_a_stream_are_those_of_all_its_documents(monkeypatch):
    """Whatever the bins are, and a topic in another row takes its sums along."""
    monkeypatch.setattr("streamtopics.cli.recent.MOST_BINS", 90)
    texts = [text.strip() for text in lines(600)]
    hours = np.datetime64("2023-11-30T20") + 21 * np.arange(600)
    model = Pipeline([("words", CountVectorizer()), ("topics", SVBLDA(2, random_state=0))]).fit(
        texts
    )
    kept, tracker = nothing_recent(), SimpleNamespace(ids_=np.array([0, 1]))
    for start in range(0, 600, 100):
        part = slice(start, start + 100)
        records = [
            Record(*one, {}, "", 1) for one in zip(texts[part], hours[part].tolist(), strict=True)
        ]
        add_shares(kept, records, model, tracker)
    whole, months = whole_stream(kept, None), hours.astype("M8[M]")
    wanted = [
        model.transform(np.array(texts)[months == one]).mean(axis=0, dtype=float)
        for one in np.unique(months)
    ]
    assert len(kept["sums"][0]) <= 90
    assert whole.periods.labels == tuple(map(str, np.unique(months)))
    np.testing.assert_allclose(whole.shares.means(), wanted, rtol=1e-9)
    tracker.ids_ = np.array([1, 2])
    add_shares(kept, [Record(texts[0], datetime(2025, 6, 1), {}, "", 1)], model, tracker)
    found = whole_stream(kept, None).shares.means()
    np.testing.assert_allclose(found[: len(wanted), 0], np.array(wanted)[:, 1], rtol=1e-9)
    assert not found[: len(wanted), 1].any()
    add_shares(kept, [Record(texts[0], 7, {}, "", 1)], model, tracker)
    assert "all numbers or all dates" in kept["problem"]
    assert (kept["n_left_out"], whole_stream(kept, None).shares.n.sum()) == (1, 601)


def kept_of(*batches):
    """What is kept of minibatches of records with these times."""
    model = Pipeline([("words", CountVectorizer()), ("topics", SVBLDA(2, random_state=0))])
    texts, kept = lines(20), nothing_recent()
    model.fit(texts)
    for times in batches:
        records = [Record(texts[i % 20], time, {}, "", 1) for i, time in enumerate(times)]
        add_recent(kept, records)
        add_shares(kept, records, model, None)
    return kept


def test_running_numbers_stay_numbers_from_one_minibatch_to_the_next():
    kept = kept_of(range(190001, 190013), range(190013, 190025))
    assert (kept["n_left_out"], kept["sums"][1].sum()) == (0, 24)


def test_minibatches_with_times_of_another_kind_are_left_out():
    first = [datetime(2024, 1, 1)]
    kept = kept_of(first, [7], first)
    assert (kept["n_left_out"], kept["sums"][1].sum()) == (1, 2)
    assert [time is None for time in kept["times"]] == [False, True, False]


@pytest.mark.parametrize("level", range(13))
def test_bins_of_numbers_begin_where_decimals_do(level):
    """Compared with decimal arithmetic: .3 is not .2, and 1068 no fraction below it."""
    values = [0.3, 0.29, 0.7, 1068.0, 1234.3, -0.3, 57.0, 123456.7]
    step = Decimal(10) ** (level - 8) if level else Decimal("1e-9")
    wanted = [float((Decimal(str(v)) / step).to_integral_value(ROUND_FLOOR) * step) for v in values]
    assert _floor(np.array(values), level).tolist() == wanted


def test_dates_of_many_years_have_few_bins():
    kept = kept_of([datetime(year, 1, 1) for year in range(500, 2000)])
    assert (len(kept["sums"][0]), kept["sums"][1].tolist()) == (150, [10] * 150)


def test_the_last_documents_are_of_bounded_size(monkeypatch):
    monkeypatch.setattr("streamtopics.cli.recent.N_SHOWN", 4)
    monkeypatch.setattr("streamtopics.cli.recent.MOST_CHARACTERS", 10)
    recent = nothing_recent()
    add_recent(recent, [Record(text, time, {}, "", 1) for time, text in enumerate("abcdef", 1)])
    assert (recent["texts"], recent["times"]) == (["c", "d", "e", "f"], [3, 4, 5, 6])
    add_recent(recent, [Record("12345678", 7.0, {}, "", 1)])
    assert (recent["texts"], recent["times"]) == (["e", "f", "12345678"], [5, 6, 7])
    add_recent(recent, [Record("123456789 123", None, {}, "", 1)])
    assert (recent["texts"], recent["times"]) == (["123456789 123"], [None])
    assert recent["n_documents"] == 8


def test_files_in_turn_are_each_gone_on_with(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("streamtopics.cli.places.MOST_FILES", 3)
    model = tmp_path / "feed.model"

    def read_on(name, n_documents):
        assert main(given(name, model, 100, "--idle", 0.1)) == 0
        assert load(model)[-1].n_documents_seen_ == n_documents
        return capsys.readouterr().err

    for seed, name in enumerate("abcd"):
        append(tmp_path / name, *lines(100, seed=seed))
    assert "read" not in read_on("a", 100)
    assert f"b was not read before, as {tmp_path / 'a'} was; it is read from its" in read_on(
        "b", 200
    )
    assert "read" not in read_on("a", 200)
    append(tmp_path / "a", *lines(100, seed=5))
    assert "read" not in read_on(tmp_path / "a", 300)
    assert "read" not in read_on("b", 300)
    (tmp_path / "b").rename("moved")
    assert f"moved begins as {tmp_path / 'b'}, and is read from where" in read_on("moved", 300)
    append(tmp_path / "moved", *lines(100, seed=6))
    read_on("moved", 400)
    append(tmp_path / "moved", *lines(100, seed=7), mode="w")
    assert "moved is not the file that was read before" in read_on("moved", 500)
    read_on("c", 600)
    read_on("d", 700)
    assert sorted(resume(f"{model}.checkpoints").callbacks[1]["places"]) == [
        str(tmp_path / name) for name in ("c", "d", "moved")
    ]


def test_a_file_of_several_names_is_read_once(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to("a")
    model, n = tmp_path / "feed.model", 0

    def read_on(name, n_new):
        nonlocal n
        append(tmp_path / "a", *lines(n_new, seed=n)) if n_new else None
        n += n_new
        assert main(given(name, model, 50, "--idle", 0.1)) == 0
        assert load(model)[-1].n_documents_seen_ == n
        assert "read from where" not in capsys.readouterr().err

    for name, n_new in (("a", 100), ("sub/../a", 50), ("a", 0), ("link", 50), ("a", 0), ("a", 50)):
        read_on(name, n_new)
    # A name that comes back is that of the file that has it.
    (tmp_path / "a").rename("b")
    assert main(given("b", model, 50, "--idle", 0.1)) == 0
    append(tmp_path / "b", *lines(50, seed=9))
    assert main(given("b", model, 50, "--idle", 0.1)) == 0
    (tmp_path / "b").rename("a")
    assert main(given("a", model, 50, "--idle", 0.1)) == 0
    assert load(model)[-1].n_documents_seen_ == n + 50
    # One that only begins alike is another.
    head = (tmp_path / "a").read_text(encoding="utf-8")[:1200]
    append(tmp_path / "c", head + "x" * 100_000, *lines(50, seed=9))
    assert main(given("c", model, 1, "--idle", 0.1, "--max-line", 10**6)) == 0
    assert "c was not read before, as " in capsys.readouterr().err


def test_checkpoints_that_were_removed_are_forgotten(tmp_path, capsys):
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    append(path, *lines(200))
    again = given(path, model, 100, "--idle", 0.1)
    assert main(again) == 0
    assert main([str(one) for one in ("update", model, path, "--quiet")]) == 0
    for file in Path(f"{model}.checkpoints").glob("checkpoint-*"):
        file.unlink()
    assert main(["watch", str(tmp_path / "none"), *again[2:]]) != 0
    assert not Path(f"{model}.checkpoints", "model.checksums").exists()
    assert main(again) == 0
    assert load(model)[-1].n_documents_seen_ == 600


def test_a_pipeline_that_was_saved_before_it_learnt(tmp_path, capsys):
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    append(path, *lines(100))
    words = StreamingCountVectorizer(max_features=50)
    save(StreamingPipeline([("words", words), ("topics", StreamingLDA(2))]), model)
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    assert load(model)[-1].n_documents_seen_ == 100


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
    assert load(model)[-1].n_documents_seen_ == 400


@pytest.mark.parametrize(
    ("begun", "other"), [(["--alarm", 0], 0.05), ([], 0), (["--alarm", 0.05], 0.01)]
)
def test_another_alarm_than_that_of_the_checkpoints_is_refused(tmp_path, capsys, begun, other):
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    append(path, *lines(200))
    again = given(path, model, 100, "--idle", 0.1)
    assert main([*again, *map(str, begun)]) == 0
    before = model.read_bytes()
    append(path, *lines(100, seed=1))
    assert main([*again, "--alarm", str(other)]) == 2
    known = begun[1] if begun else 0.01
    assert f"--alarm is {other}, but the stream in {model}.checkpoints was begun with {known}" in (
        capsys.readouterr().err
    )
    assert model.read_bytes() == before
    assert main([*again, "--alarm", str(known)]) == 0
    assert main(again) == 0


def test_documents_of_the_stream_are_counted_without_those_of_fit(tmp_path, capsys):
    """Which has seen each of them several times."""
    path, model, page = tmp_path / "feed.txt", tmp_path / "feed.model", tmp_path / "feed.html"
    append(path, *lines(200))
    fit = ["fit", path, "--topics", 2, "--max-share", 1, "--quiet", "--model", model]
    assert main([str(one) for one in [*fit, "--max-iter", 3, "--report", page]]) == 0
    assert '["Documents learnt from, in all passes","540"]' in page.read_text(encoding="utf-8")
    capsys.readouterr()
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    out, err = capsys.readouterr()
    assert "learnt from 540 documents, in all passes" in err
    counts = [line.split(",")[0] for line in without_times(out.splitlines())]
    assert counts == ["100 documents", "200 documents"]
    append(path, *lines(50, seed=1))
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    out, err = capsys.readouterr()
    assert "going on from 200 documents" in err
    assert "250 documents, " in out
    assert load(model)[-1].n_documents_seen_ == 790


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
    assert load(model)[-1].n_documents_seen_ == 150
    path = tmp_path / "feed.jsonl"
    append(path, content)
    assert main(given(path, tmp_path / "other.model", 100, "--idle", 0.1)) == 2
    assert load(tmp_path / "other.model")[-1].n_documents_seen_ == 100


def test_a_model_without_a_word_is_told_of_once(tmp_path, capsys):
    path, model = tmp_path / "feed.txt", tmp_path / "feed.model"
    append(path, *("12 34 56\n" for _ in range(200)))
    assert main(given(path, model, 100, "--every", 1, "--idle", 0.1)) == 0
    err = capsys.readouterr().err
    assert err.count(f"note: the model in {model} has no word") == 1
    assert "--min-documents 1" in err
    append(path, *lines(100))
    assert main(given(path, model, 100, "--idle", 0.1)) == 0
    assert "has no word" not in capsys.readouterr().err
