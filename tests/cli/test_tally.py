# SPDX-License-Identifier: BSD-3-Clause
"""What was read and what was left out, as every verb and the card of the report tell it."""

import json
import re
from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline

from streamtopics import load
from streamtopics.cli.reading import Tally
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer, stop_words

WORDS = [f"{first}{middle}{last}" for first in "bdfgj" for middle in "aeiou" for last in "klmnp"]


def texts(n, seed=0):
    """Words by rank, the first in nearly all documents, the last in few, and stop words."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, len(WORDS) + 1) ** 1.3
    drawn = [rng.choice(WORDS, 20, p=shares / shares.sum()) for _ in range(n)]
    return [" ".join(["the", "The and", *words]) for words in drawn]


def expected(documents, known):
    """Tokens of all words, of stop words, and of each word that is not known, counted by hand."""
    n = Counter(word for text in documents for word in re.findall(r"[a-z]{3,}", text.lower()))
    stop = {word: count for word, count in n.items() if word in stop_words("english")}
    others = Counter({word: n[word] for word in n.keys() - stop.keys() - set(known)})
    return n.total(), sum(stop.values()), others


@pytest.fixture(name="path")
def file_of_texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts(300)), encoding="utf-8")
    return path


def test_nothing_is_left_out_of_long_documents_by_default(run, tmp_path):
    """A word in each of them is no less a word."""
    path = tmp_path / "long.txt"
    path.write_text("\n".join([" ".join(WORDS[:40])] * 30), encoding="utf-8")
    out, err = run(path, "--topics", 2, "--quiet")
    assert err == ""
    assert "over a vocabulary of 40" in out


@pytest.mark.parametrize("more", [[], ["--vocabulary-from", 100]])
def test_tokens_that_limits_leave_out_are_counted(path, run, tmp_path, more):
    model = tmp_path / "m.model"
    limits = ["--min-documents", 12, "--max-share", 0.5, "--max-words", 30, *more]
    _, err = run(path, "--topics", 2, "--quiet", "--model", model, *limits)
    known = load(model).pipeline_[0].get_feature_names_out()
    n, n_stop, others = expected(texts(300), known)
    told = re.search(r"^documents read: .*$", err, re.MULTILINE)[0]
    assert f"documents read: 300; words read: {n:,}; stop words left out: {n_stop};" in told
    number, listed = re.search(r"left out: [\d.]+%; ([\d,]+) \(([^)]*)\)$", told).groups()
    assert "lower --min-documents, or raise --max-words or --max-share\n" in err
    if not more:
        share = others.total() / (n - n_stop)
        assert f"other words left out: {share:.1%}; {others.total():,} (" in told
        best = [count for _, count in others.most_common(5)]
        assert [others[word] for word in listed.split(", ")] == best
    else:  # A stream leaves out words that it has later, too.
        assert int(number.replace(",", "")) > 0


@pytest.mark.parametrize("verb", ["apply", "score", "report"])
def test_verbs_tell_what_a_model_does_not_know(path, run, tmp_path, verb):
    model, new = tmp_path / "m.model", tmp_path / "new.jsonl"
    run(path, "--topics", 2, "--quiet", "--model", model)
    lines = [json.dumps({"text": "balloon kite balloon ban and"})] * 9 + ["", '{"body": 1}']
    new.write_text("\n".join(lines), encoding="utf-8")
    more = ["--output", tmp_path / "page.html"] if verb == "report" else []
    _, err = run(verb, model, new, "--skip-bad", *more)
    told = (
        f"documents read: 9; skipped: 2: 1 empty lines (first: {new}, line 10), 1 no text "
        f"(first: {new}, line 11); words read: 45; stop words left out: 9; "
        "other words left out: 75.0%; 27 (balloon, kite)\n"
    )
    assert told in err
    assert "note: 75.0% of the words, stop words aside, were left out" in err
    if verb == "report":
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
        card = dict(dict(data["card"])["Read and left out"])
        assert "; ".join(f"{k.lower()}: {v}" for k, v in card.items()) + "\n" == told


def test_rows_without_a_text_keep_their_place_but_are_not_learnt(path, run, tmp_path):
    """Of a table and of JSON lines alike; "NULL" is a text there."""
    model, table, lines = (tmp_path / name for name in ("m.model", "a.csv", "a.jsonl"))
    run(path, "--topics", 2, "--quiet", "--model", model)
    table.write_text("id,text\n1,bak\n2,\n3,NULL\n4,bak bal\n", encoding="utf-8")
    words = [{"text": "bak"}, {"text": None}, {"text": " "}, {"text": "NULL"}]
    lines.write_text("\n".join(map(json.dumps, words)), encoding="utf-8")
    for file, first in ((table, 3), (lines, 2)):
        out, _ = run("apply", model, file)
        topics = [json.loads(line)["topics"] for line in out.splitlines()]
        assert [bool(found) for found in topics] == [True, False, False, True]
        told = f"documents read: 2; skipped: 2: 2 missing texts (first: {file}, line {first})"
        out, err = run("update", model, file, "--model", tmp_path / "new", "--quiet")
        assert told in err
        assert out.startswith("2 new documents\n")
    run("apply", model, table, "--output", tmp_path / "t.csv")
    rows = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    assert [line.count(",") for line in rows] == [8] * 5
    table.write_text("text\nNULL\n", encoding="utf-8")
    _, err = run("fit", table, status=2)
    assert f"skipped 1: 1 missing texts (first: {table}, line 2)" in err


def test_watch_passes_over_what_has_no_text(run, tmp_path):
    path, model = tmp_path / "a.jsonl", tmp_path / "w.model"
    given = [*({"text": text} for text in texts(60)), {"text": None}]
    path.write_text("".join(f"{json.dumps(one)}\n" for one in given), encoding="utf-8")
    watch = ["watch", path, "--model", model, "--topics", 2, "--idle", 0.1]
    _, err = run(*watch, "--batch-size", 30)
    assert f"documents read: 60; skipped: 1: 1 missing texts (first: {path}, line 61)" in err


def test_words_left_out_are_those_of_the_vectorizer_within():
    frozen = FrozenEstimator(StreamingCountVectorizer(min_df=2).fit(["sea sea sky", "sea"]))
    for own, n in ((frozen, 1), (make_pipeline(CountVectorizer()), 0)):
        tally = Tally()
        tally.add(NamedVectorizer(own).fit(["sea sky"]), ["sea sky"])
        assert (tally.n["documents"], tally.n["others"]) == (1, n)


def test_telling_raises_nothing_and_no_documents_are_told_of(run, capsys, tmp_path):
    Tally().tell()
    assert capsys.readouterr().err == ""
    path = tmp_path / "a.txt"
    path.write_text("\n\n", encoding="utf-8")
    told = f"no documents in {path}; skipped 2: 2 empty lines (first: {path}, line 1)"
    assert told in run("summarize", path, status=2)[1]


def test_summarize_tells_what_was_skipped(run, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text\nA storm hit the coast.\nNULL\n", encoding="utf-8")
    _, err = run("summarize", path, "--sentences", 1)
    assert err == f"documents read: 1; skipped: 1: 1 missing texts (first: {path}, line 3)\n"


def test_a_stream_that_goes_on_counts_on(run, tmp_path):
    """As one that was not cut; also what it skips."""
    told = []
    for parts in ([300], [100, 200]):
        path, model = tmp_path / f"{len(parts)}.txt", tmp_path / f"{len(parts)}.model"
        lines = [*texts(300)[:50], "", *texts(300)[50:]]
        for n in parts:
            taken, lines = lines[: n + 1], lines[n + 1 :]
            with path.open("a", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in taken)
            given = ["--batch-size", 100, "--idle", 0.1, "--max-words", 30]
            _, err = run("watch", path, "--model", model, "--topics", 2, *given)
        told.append(re.search(r"^documents read: .*$", err, re.MULTILINE)[0].replace(str(path), ""))
    assert told[0] == told[1]
    assert told[0].startswith("documents read: 300; skipped: 1: 1 empty lines (first: , line 51); ")
