# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a model are found in pipelines of any kind, and in pipelines within pipelines."""

import pytest
from numpy.testing import assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

from streamtopics import SVBLDA, StreamingLDA
from streamtopics.report import page, report
from streamtopics.streams import DriftMonitor, TopicTracker, stream
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from streamtopics.utils.steps import counted, last_step, names_of, steps_before, steps_of
from tests.report.made import made

TEXTS = made(120).texts


def lower(texts):
    return [text.lower() for text in texts]


def once_each(X):
    return X.sign()


def nested(kind=Pipeline):
    """A pipeline in which both the first step and the last one are pipelines."""
    front = [("clean", FunctionTransformer(lower)), ("none", "passthrough")]
    once = FunctionTransformer(once_each, feature_names_out="one-to-one")
    back = [("once", once), ("topics", StreamingLDA(3, random_state=0))]
    words = StreamingCountVectorizer(max_features=25)
    return kind([("texts", Pipeline(front)), ("words", words), ("model", kind(back))])


def flat(model):
    """The same steps, one after the other."""
    return type(model)(steps_of(model))


def test_steps_of_pipelines_are_taken_apart():
    model = nested()
    assert [name for name, _ in steps_of(model)] == ["clean", "none", "words", "once", "topics"]
    assert [name for name, _ in steps_before(model)] == ["clean", "words", "once"]
    assert last_step(model) is model[-1][-1]
    empty = Pipeline([])
    assert last_step(empty) is empty
    assert last_step(Pipeline([("words", CountVectorizer()), ("none", None)])) is None


def test_counts_and_names_are_those_of_the_pipeline():
    front = make_pipeline(CountVectorizer(), VarianceThreshold(0.5), TfidfTransformer())
    model = Pipeline([*front.steps, ("topics", SVBLDA(2, random_state=0))]).fit(TEXTS)
    front = model[:-1]
    assert_array_equal(counted(model, TEXTS).toarray(), front.transform(TEXTS).toarray())
    assert_array_equal(names_of(model), front.get_feature_names_out())
    assert 0 < len(names_of(model)) < len(model[0].get_feature_names_out())


def taught(model):
    """A model, a tracker and a monitor after a stream; words come and go."""
    tracker, monitor = TopicTracker(), DriftMonitor(alpha=0.1)
    batches = [[f"{text} new{i}" for text in TEXTS] for i in range(4)]
    return stream(model, batches, callbacks=[tracker, monitor]), tracker, monitor


@pytest.mark.filterwarnings("ignore")
def test_nested_pipelines_learn_and_are_read_as_flat_ones():
    one, other = nested(StreamingPipeline), flat(nested(StreamingPipeline))
    (one, *watched), (other, *watchers) = taught(one), taught(other)
    assert len(last_step(one).topic_word_) == 3
    assert_array_equal(last_step(one).topic_word_, last_step(other).topic_word_)
    assert one.top_words(3) == other.top_words(3)
    assert watched[0].topics() == watchers[0].topics()
    assert watched[0].topics()
    assert watched[1].tests == watchers[1].tests
    assert watched[1].tests
    assert page(report(one, texts=TEXTS)) == page(report(other, texts=TEXTS))
