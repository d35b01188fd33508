# SPDX-License-Identifier: BSD-3-Clause
"""The file: safe with hostile texts, small whatever the corpus, the same for the same input."""

import json
import os
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp

from streamtopics import SVBLDA
from streamtopics.report import page, report
from streamtopics.report.writing import MOST_BYTES
from tests.report.made import HOSTILE, made, written


class Elements(HTMLParser):
    """The elements of a page, and what is in its scripts and styles."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.raw = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag in ("script", "style"):
            self.raw.append((tag, ""))

    def handle_data(self, text):
        if self.raw and self.cdata_elem:
            tag, before = self.raw[-1]
            self.raw[-1] = (tag, before + text)


@pytest.fixture(scope="module")
def hostile():
    return made(first=HOSTILE)


def data_of(text):
    """What the script of a page reads."""
    found = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1]
    assert "<" not in found
    return json.loads(found)


def test_texts_titles_and_names_are_never_markup(hostile, tmp_path):
    plain = Elements(page(report(made().pipeline)).decode())
    path = written(
        hostile.pipeline, tmp_path / "report.html", texts=hostile.texts, title=HOSTILE,
        titles=[HOSTILE] * 240, scores={HOSTILE: 1.0}, alarms=[{HOSTILE: HOSTILE}], date=HOSTILE,
    )  # fmt: skip
    text = path.read_text(encoding="utf-8")
    assert Elements(text).tags == plain.tags
    data = data_of(text)
    assert data["title"] == HOSTILE
    assert any(HOSTILE in d["title"] for topic in data["topics"] for d in topic["documents"])


def test_what_looks_like_a_slot_is_left_as_it_is():
    pipeline = made().pipeline
    text = page(report(pipeline, title="{{data}} {{script}} {{nothing}}")).decode()
    assert "<title>{{data}} {{script}} {{nothing}}</title>" in text
    assert Elements(text).tags.count("script") == 2


def test_the_policy_lets_the_own_script_and_style_alone_run(hostile):
    elements = Elements(page(report(hostile.pipeline)).decode())
    policy = next(value for name, value in elements.attributes if value and "default-src" in value)
    assert "default-src 'none'" in policy
    (_, style), _, (_, script) = elements.raw
    for source in (style, script):
        assert f"'sha256-{b64encode(sha256(source.encode()).digest()).decode()}'" in policy
    assert "'unsafe" not in policy


def test_nothing_is_fetched_and_nothing_is_parsed_from_data(hostile):
    text = page(report(hostile.pipeline)).decode()
    assert set(re.findall(r"https?://[^\s\"'<]+", text)) == {"http://www.w3.org/2000/svg"}
    elements = Elements(text)
    links = {value for name, value in elements.attributes if name in ("src", "href")}
    assert links <= {"data:,", "#main"}
    script = elements.raw[-1][1]
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert way not in script
    assert "url(" not in elements.raw[0][1]
    assert "@import" not in elements.raw[0][1]


def test_the_same_input_makes_the_same_bytes(hostile, tmp_path):
    given = {"texts": hostile.texts, "times": hostile.times, "date": "2026-01-31"}
    first = written(hostile.pipeline, tmp_path / "a.html", **given).read_bytes()
    again = made(first=HOSTILE)
    assert written(again.pipeline, tmp_path / "b.html", **given).read_bytes() == first


def test_text_that_is_no_unicode_is_written():
    one = made(first="\ud800 \x00 \u2028 end")
    text = page(report(one.pipeline, texts=one.texts * 2)).decode("utf-8")
    assert "\u2028" not in text


@pytest.fixture(scope="module")
def large():
    """A hundred thousand documents over a hundred topics, of hostile text."""
    rng = np.random.default_rng(0)
    n, n_words = 100_000, 5_000
    theme = rng.integers(100, size=n)
    columns = (theme[:, None] * 50 + rng.integers(50, size=(n, 12))).ravel()
    X = sp.csr_matrix((np.ones(12 * n), columns, np.arange(0, 12 * n + 1, 12)), (n, n_words))
    model = SVBLDA(100, random_state=0, n_jobs=1)
    for start in range(0, 20_000, 2_000):
        model.partial_fit(X[start : start + 2_000])
    texts = [f"{i} " + "<\u6587 w7 " * 100 for i in range(n)]
    return model, X, texts


def test_a_hundred_thousand_documents_make_less_than_two_megabytes(large, tmp_path):
    model, X, texts = large
    path = written(
        model, tmp_path / "report.html", X=X, texts=texts, times=np.arange(100_000),
        titles=["\u6587<" * 500] * 100_000, feature_names=[f"w<{i}" * 30 for i in range(5_000)],
        alarms=[{f"<{i}": "<" * 5_000 for i in range(40)}] * 10_000, n_documents=30, n_words=30,
    )  # fmt: skip
    assert 100_000 < path.stat().st_size <= MOST_BYTES
    data = data_of(path.read_text("utf-8"))
    assert len(data["topics"]) == 100
    assert data["n_documents"] == 100_000
    assert sum(len(topic["documents"]) for topic in data["topics"]) >= 100


def test_a_page_shows_less_until_it_fits(large, monkeypatch):
    model, X, texts = large
    found = report(model, X=X[:500], texts=texts[:500], alarms=[{"a": "b" * 80}] * 100)
    bare = [replace(topic, documents=[]) for topic in found.topics]
    bare = len(page(replace(found, topics=bare, findings=[], alarms=[], more_words=[])))
    whole, sizes = len(page(found)), set()
    for most in (whole, (whole + bare) // 2, bare + (whole - bare) // 6, bare):
        monkeypatch.setattr("streamtopics.report.writing.MOST_BYTES", most)
        content = page(found)
        assert len(content) <= most
        data = data_of(content.decode())
        n = len(data["topics"])
        for topic in data["topics"]:
            assert all(word < len(data["words"]) for word in topic["words"])
            assert all(other < n for other in topic["near"])
            for doc in topic["documents"]:
                assert len(doc["parts"]) == 2 * len(doc["topics"]) + 1
        sizes.add((n, sum(len(topic["documents"]) for topic in data["topics"])))
    assert len(sizes) >= 3
    monkeypatch.setattr("streamtopics.report.writing.MOST_BYTES", bare - 500)
    with pytest.raises(ValueError, match=r"without documents the page has .*; pass n_topics=50"):
        page(found)


def test_a_file_is_written_as_a_whole_or_not_at_all(hostile, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("before")

    def fails(*args):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="the disk is full"):
        report(hostile.pipeline, path)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "before"
    monkeypatch.undo()
    report(hostile.pipeline, str(path))
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_bytes().startswith(b"<!doctype html>")
