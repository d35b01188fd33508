# SPDX-License-Identifier: BSD-3-Clause
"""What notebooks, `print` and the log show."""

import logging
from html.parser import HTMLParser

import numpy as np
import pytest
import sklearn

from streamtopics import GibbsOnlineEM, StreamingLDA, TopicStream
from streamtopics.streams import DriftMonitor, ScoreHistory, TimedBatch, TopicTracker, stream
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline

TEXTS = ["ship sea <b>"] * 30 + ["sun sky stars"] * 30


class Cells(HTMLParser):
    """The texts of a page, by tag."""

    def __init__(self, page):
        super().__init__()
        self.found, self.tag = {}, ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tag = tag

    def handle_data(self, data):
        self.found.setdefault(self.tag, []).append(data)


def counts(n=1):
    """Minibatches of 60 documents."""
    return np.random.default_rng(0).poisson(1.0, (n, 60, 20))


def test_callbacks():
    shown = TopicTracker(), DriftMonitor(), ScoreHistory()
    assert [repr(one) for one in shown] == [
        "<TopicTracker: 0 topics, 0 gone, after 0 minibatches>",
        "<DriftMonitor: 0 alarms in 0 minibatches, 0 documents held back>",
        "<ScoreHistory: 0 minibatches, nan nats per token>",
    ]
    batches = [TimedBatch(X, f"day {t}") for t, X in enumerate(counts(7), 1)]
    stream(GibbsOnlineEM(2, random_state=0), batches, callbacks=shown)
    tracker, monitor, history = (Cells(one._repr_html_()).found for one in shown)
    assert tracker["caption"] == ["TopicTracker: 2 topics, 0 gone, after 7 minibatches"]
    assert tracker["th"] == ["topic", "share", "born", "gone", "words"]
    assert len(tracker["td"]) == 2 * 4  # Nothing where a topic has gone.
    words = [one.words for one in shown[0].topics()]
    assert sorted(tracker["td"][3::4]) == sorted(", ".join(map(str, own)) for own in words)
    assert monitor["caption"] == ["DriftMonitor: 0 alarms in 7 minibatches, 0 documents held back"]
    assert history["td"][:2] == ["7", "day 7"]
    assert len(history["td"]) == 4 * 7


def test_alarms():
    rng = np.random.default_rng(0)
    monitor, model = DriftMonitor(), GibbsOnlineEM(2, random_state=0)
    for t in range(10):
        rates = np.repeat([2.0, 0.1], 10)[:: -1 if t == 9 else 1]
        monitor.learn(model, rng.poisson(rates, (100, 20)), time=t)
    found = Cells(monitor._repr_html_()).found
    assert found["caption"][0].startswith("DriftMonitor: 1 alarm in 10 minibatches")
    assert found["td"][:2] == ["10", "9"]


@pytest.mark.parametrize("kind", ["stream", "pipeline"])
def test_topics_of_texts(kind):
    words = StreamingCountVectorizer(max_features=10)
    pipeline = StreamingPipeline([("w", words), ("t", StreamingLDA(2, random_state=0))])
    model = TopicStream(2) if kind == "stream" else pipeline
    assert "<caption>" not in model._repr_html_()
    model.partial_fit(TEXTS)
    page = model._repr_html_()
    assert "<caption>2 topics</caption>" in page
    assert any("sky" in cell for cell in Cells(page).found["td"])
    assert "<caption>2 topics" in model._repr_mimebundle_()["text/html"]
    with sklearn.config_context(display="text"):
        assert [*model._repr_mimebundle_()] == ["text/plain"]
    assert repr(model).startswith(type(model).__name__)


def test_long_work_tells_of_itself(caplog):
    [X] = counts()
    model = StreamingLDA(2, batch_size=20, max_iter=1, random_state=0)
    caplog.set_level(logging.INFO, "streamtopics")
    model.fit(X)
    [line] = caplog.messages
    assert line.startswith("StreamingLDA: 60 documents, ")
    caplog.set_level(logging.DEBUG, "streamtopics")
    caplog.clear()
    model.fit(X)
    assert [one.levelname for one in caplog.records] == ["DEBUG"] * 3 + ["INFO"]
    caplog.clear()
    stream(model, [X[:20], X[20:]])
    assert [line[:26] for line in caplog.messages] == [
        "minibatch 1: 20 documents,", "minibatch 2: 40 documents,"
    ]  # fmt: skip
