# SPDX-License-Identifier: BSD-3-Clause
"""What is remembered along a stream whose vocabulary turns over is remembered as words."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import Binarizer, FunctionTransformer, Normalizer, PolynomialFeatures

from streamtopics import StreamingLDA, StreamingMixture, load, save
from streamtopics.streams import BatchInfo, DriftMonitor, TopicTracker
from streamtopics.streams.tracking.identity import probabilities_in
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from streamtopics.updates import DirichletProcess, Memory, PowerPrior
from tests.plain import SVBLDA


def texts_of(t, n=30):
    """Documents of two subjects, whose words are other ones in each minibatch."""
    rng = np.random.default_rng(t)
    return [" ".join(f"s{d % 2}t{t}w{w}" for w in rng.integers(0, 8, 12)) for d in range(n)]


def pipeline_of(topics):
    words = StreamingCountVectorizer(max_features=40, min_df=2, half_life=30)
    return StreamingPipeline([("words", words), ("topics", topics)])


MIXTURE = StreamingMixture(
    10, update=PowerPrior(Memory(60)), births=DirichletProcess(), random_state=0
)
LDA = StreamingLDA(2, update=PowerPrior(Memory(60)), random_state=0)


def lists_of(rows):
    """What reports of births say of each birth, whatever came later."""
    return {(row.topic, row.born): row.words for row in rows}


def test_words_of_births_are_those_of_the_day(tmp_path):
    births, born, turned_over = pipeline_of(MIXTURE), {}, 0
    for t in range(8):
        births.partial_fit(texts_of(t), time=t)
        names = births[0].get_feature_names_out()
        turned_over += len(births[0].recycled_)
        for key, words in lists_of(births[-1].births_report(names)).items():
            born.setdefault(key, words)
        if t == 4:  # A file keeps the words, too.
            save(births, tmp_path / "model")
            births = load(tmp_path / "model")
    assert turned_over > 40
    assert len(born) > 6
    names = births[0].get_feature_names_out()
    rows = births[-1].births_report(names)
    assert lists_of(rows) == born
    for row in rows:  # Also against the texts themselves: births have words of their own day.
        assert all(f"t{row.born_time}w" in word for word in row.words)
        assert all(word.startswith("s") for word in row.last_words)


def words_in(tracker):
    """The words of each topic in each snapshot."""
    return {
        one.position.batch: {
            topic: tracker._names(words, 10) for topic, words in probabilities_in(one).items()
        }
        for one in tracker._state.snapshots
    }


def test_words_of_the_tracker_and_the_monitor_are_those_of_the_day():
    model, tracker, monitor = pipeline_of(LDA), TopicTracker(budget=np.inf), DriftMonitor()
    seen, alarms = {}, {}
    for t in range(8):
        texts = texts_of(t, 60)
        monitor.learn(model, texts)
        seen_now = 60 * (t + 1), 720.0 * (t + 1)
        tracker.on_batch(model, BatchInfo(t + 1, texts, t, 60, 720.0, *seen_now, np.nan))
        seen[t + 1] = words_in(tracker)[t + 1]
        alarms |= {alarm.batch: str(alarm) for alarm in monitor.alarms if alarm.batch == t + 1}
    assert words_in(tracker) == seen
    assert {alarm.batch: str(alarm) for alarm in monitor.alarms} == alarms


@pytest.mark.parametrize(("words", "expected"), [(None, None), (["then"], "then")])
def test_words_of_columns_that_a_user_forgets(words, expected):
    X = np.repeat([[5.0, 0, 0, 3], [0, 5.0, 4, 0]], 20, axis=0)
    model = StreamingMixture(3, births=DirichletProcess(), random_state=0).partial_fit(X)
    names = np.array(["a", "b", "c", "d"], dtype=object)
    before = model.births_report(names)
    after = model.forget_words([1], words).births_report(names)
    for old, new in zip(before, after, strict=True):
        assert list(new.words) == [expected if word == "b" else word for word in old.words]
    assert any(expected in row.words for row in after)


# Words that a vectorizer forgets, through the steps between it and the topics

WORDS_FIRST = ["aa aa xx", "bb bb xx", "cc cc xx", "dd dd xx", "ee ee xx"] * 20
WORDS_THEN = ["zz xx", "bb xx", "cc xx", "dd xx", "ee xx"] * 20
LABELS = [0, 1, 0, 1, 0] * 20


def forgetting(*steps):
    words = StreamingCountVectorizer(max_features=6, half_life=20)
    return StreamingPipeline([("words", words), *steps, ("topics", SVBLDA(1, random_state=0))])


def topics_by_word(*between):
    pipeline = forgetting(*between)
    for texts in [WORDS_FIRST, *[WORDS_THEN] * 3]:
        pipeline.partial_fit(texts)
    mass = pipeline[-1].components_[0]
    return dict(zip(pipeline[:-1].get_feature_names_out(), mass.round(6), strict=True))


def test_words_are_forgotten_through_steps_that_keep_the_columns():
    counts = StreamingCountVectorizer(max_features=6).partial_fit_transform(WORDS_FIRST)
    scaled = TfidfTransformer(norm=None, use_idf=False).fit(counts)
    assert topics_by_word(("scaled", scaled)) == topics_by_word()
    for step in (Normalizer(), Binarizer(), FunctionTransformer(accept_sparse=True)):
        pipeline = forgetting(("step", step)).partial_fit(WORDS_FIRST).partial_fit(WORDS_THEN)
        assert pipeline[-1].n_documents_seen_ == 200


def test_steps_that_cannot_forget_are_refused_before_anything_is_learnt():
    words = StreamingCountVectorizer(max_features=6)
    pipeline = StreamingPipeline([("words", words), ("labels", SGDClassifier())])
    with pytest.raises(TypeError, match="the last step 'labels', a SGDClassifier, has no forget"):
        pipeline.partial_fit(WORDS_FIRST, LABELS, classes=[0, 1])
    assert not hasattr(words, "vocabulary_")
    # A vocabulary that stays has nothing to forget.
    words = StreamingCountVectorizer(vocabulary=["aa", "bb"])
    pipeline = StreamingPipeline([("words", words), ("labels", SGDClassifier())])
    pipeline.partial_fit(WORDS_FIRST, LABELS, classes=[0, 1])
    # Which of the remaining columns change is not known.
    counts = StreamingCountVectorizer(max_features=6).partial_fit_transform(WORDS_FIRST)
    for step, width in ((PolynomialFeatures(2), 28), (VarianceThreshold(), 5)):
        said = f"'other' must keep all 6 columns; {type(step).__name__} .* {width}"
        with pytest.raises(TypeError, match=said):
            forgetting(("other", step.fit(counts))).partial_fit(WORDS_FIRST)
