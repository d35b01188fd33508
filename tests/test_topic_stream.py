# SPDX-License-Identifier: BSD-3-Clause
"""One object on raw text: what it learns, what it adds up, and what it says."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from copy import copy, deepcopy
from datetime import date, datetime, timedelta
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import streamtopics as st
from streamtopics import editing, load, save
from streamtopics.inspection import topic_table
from streamtopics.report import report
from streamtopics.saving.checks import check_held
from streamtopics.story import Finding, Findings
from streamtopics.story.cells import Cells
from streamtopics.story.evidence import sample_of
from streamtopics.streams import DriftMonitor, TopicTracker
from streamtopics.text import NamedVectorizer, StreamingCountVectorizer, StreamingPipeline
from streamtopics.topic_stream import estimator
from streamtopics.topic_stream.estimator import _moved
from streamtopics.updates.births import Lifetimes, TopicLifetime
from tests.small import SEA, SKY, stream_of

SUBJECTS = {
    "sea": "ship sail wave harbour tide anchor captain deck",
    "sky": "cloud plane pilot wing storm thunder rain wind",
    "soil": "farm field seed wheat plough harvest barn tractor",
    "gold": "bank loan money credit interest rate coin market",
}
NEW = "virus vaccine fever hospital doctor nurse patient dose"


class Corpus(NamedTuple):
    texts: list
    times: list
    groups: list

    @property
    def labels(self):
        return {"times": self.times, "groups": self.groups}

    def part(self, *cut):
        """Those of a slice."""
        return Corpus(*(values[slice(*cut)] for values in self))


def corpus(n=600, seed=0, burst=(), group=None):
    """Texts of four subjects over a year; a burst of a fifth; a group that prefers one."""
    rng = np.random.default_rng(seed)
    texts, times, groups = Corpus([], [], [])
    for i in range(n):
        day = date(2024, 1, 1) + timedelta(days=365 * i // n)
        own = rng.choice(["north", "south", "east"])
        subject = rng.choice([*SUBJECTS])
        if group is not None and own == group and rng.random() < 0.5:
            subject = "gold"
        words = SUBJECTS[subject]
        if day.month in burst and rng.random() < 0.4:
            words = NEW
        texts.append(" ".join(rng.choice(words.split(), 10)))
        times.append(day)
        groups.append(str(own))
    return Corpus(texts, times, groups)


def small(**parameters):
    words = StreamingCountVectorizer(max_features=60, min_df=2)
    return st.TopicStream(**{"n_components": 5, "vectorizer": words} | parameters)


def fitted(of, **parameters):
    return small(**parameters).fit(of.texts, **of.labels)


def streamed(model, texts, times, groups, size=100):
    for start in range(0, len(texts), size):
        part = Corpus(texts, times, groups).part(start, start + size)
        model.partial_fit(part.texts, **part.labels)
    return model


def test_a_burst_is_the_first_finding():
    [first, *_] = fitted(corpus(burst=(9,))).findings()
    assert first.kind == "grown"
    assert first.when == "from 2 September 2024 to 29 September 2024"
    named = {*first.words, *first.came}
    assert len(named & set(NEW.split())) >= 3
    assert first.interval[0] < first.share < first.interval[1]
    assert first.share_before < 0.02 < first.share
    assert str(first).startswith("*")


def test_findings_and_shares_use_the_names_of_seeds():
    seeds = {"the sea": ["ship", "wave"], "illness": ["virus", "doctor"]}
    model = st.GuidedTopics(seeds, n_unseeded=3, random_state=0)
    words = NamedVectorizer(CountVectorizer())
    stream = fitted(corpus(burst=(9,)), model=model, vectorizer=words)
    assert "illness" in {word for one in stream.findings() for word in one.words}
    assert {"the sea", "illness"} < {row.name for row in stream.shares("group")}


def test_a_burst_is_found_along_a_stream():
    found = streamed(small(), *corpus(burst=(9, 10))).findings()
    assert any({*one.words, *one.came} & set(NEW.split()) for one in found[:2])


def test_a_subject_that_stays_is_new_and_one_that_ends_is_gone():
    texts, times, _ = corpus(burst=range(7, 13))
    [first, *_] = small().fit(texts, times=times).findings()
    assert (first.kind, first.when) == ("new", "since 1 July 2024")
    [first, *_] = small().fit(texts[::-1], times=times).findings()
    assert first.kind == "gone"


def test_words_of_a_topic_that_change_are_one_finding():
    texts, times, _ = corpus()
    half = len(texts) // 2
    texts[half:] = [t.replace("ship", "yacht").replace("wave", "surf") for t in texts[half:]]
    stream = small(n_components=4).fit(texts, times=times)
    [first, *_] = stream.findings()
    assert first.kind == "changed"
    assert ({*first.came}, {*first.left}) == ({"yacht", "surf"}, {"ship", "wave"})
    assert "has changed its words since 1 July 2024" in str(first)
    editing.hide(stream, first.topic)
    assert {one.kind for one in stream.findings(None)} == {"new", "gone"}


def test_a_group_is_compared_within_periods_and_since_counts_all():
    years, groups = [2001] * 200 + [2002] * 200, ["B"] * 300 + ["A"] * 100
    texts = [t + " zebra" * (i < 100 or i >= 350) for i, t in enumerate(corpus(400).texts)]
    found = small().fit(texts, times=years, groups=groups).findings(None)
    assert [one.share_before for one in found if one.group == "A" and "zebra" in one.came] == [0]
    years = [2001 + i // 40 for i in range(378)]
    texts = [t + " zebra" * (280 <= i < 360) for i, t in enumerate(corpus(378).texts)]
    [first, *_] = small().fit(texts, times=years).findings()
    assert (first.when, first.n_documents, first.n_all) == ("since 2008", 80, 98)


def test_a_group_that_differs_is_named():
    texts, _, groups = corpus(group="south")
    [first, *_] = small().fit(texts, groups=groups).findings()
    assert (first.kind, first.group) == ("more", "south")
    assert {*first.words} <= set(SUBJECTS["gold"].split())
    assert first.n_all == groups.count("south")


def renamed(n=600):
    """A corpus with a yacht for each ship in the south."""
    texts, times, groups = corpus(n)
    pairs = zip(texts, groups, strict=True)
    texts = [t.replace("ship", "yacht") if one == "south" else t for t, one in pairs]
    return Corpus(texts, times, groups)


def test_the_documents_of_a_group_are_not_those_of_others():
    found = fitted(renamed(), n_components=4, n_documents=60).findings(None)
    [one] = [one for one in found if one.word == "yacht"]
    assert (one.group, one.share_before) == ("south", 0.0)


@pytest.mark.parametrize("learn", [fitted, lambda of, **given: streamed(small(**given), *of)])
def test_a_word_of_a_group_is_named(learn):
    texts, _, groups = of = renamed()
    stream = learn(of, n_components=4)
    [one] = [one for one in stream.findings(None) if one.word == "yacht"]
    assert (one.kind, one.group, one.when, one.periods) == ("more", "south", "", (-1, -1))
    own = [text for text, group in zip(texts, groups, strict=True) if group == "south"]
    n = sum("yacht" in text for text in own)
    assert (one.n_documents, one.n_all, one.share) == (n, len(own), n / len(own))
    assert one.interval[0] < one.share < one.interval[1]
    assert one.share_before == pytest.approx(0.0, abs=0.01)
    assert {*one.left} <= {"ship"}
    assert all("yacht" in stream.documents[place].text for place in one.documents)
    assert str(one).startswith(
        f"south has more of *yacht*: “yacht” is in {n} of {len(own)} documents"
    )


def test_the_order_of_groups_in_a_stream_makes_no_word_different():
    """New words have columns from when they are known, which is late for the group before."""
    texts, times, groups = corpus(900, burst=range(1, 13))
    order = sorted(range(900), key=lambda i: groups[i])
    stream = streamed(small(), *([values[i] for i in order] for values in (texts, times, groups)))
    assert not [one for one in stream.findings(None) if one.group is not None]


def test_words_of_groups_are_kept_and_follow_merges(tmp_path):
    stream = fitted(renamed(), n_components=4)
    save(stream, tmp_path / "a.model")
    again = load(tmp_path / "a.model")
    assert again.findings(None) == stream.findings(None)
    before = stream.totals().of_groups
    editing.merge(stream, [0, 1])
    assert (stream.totals().of_groups == before).all()
    assert any(one.word == "yacht" and one.group == "south" for one in stream.findings(None))


def test_a_report_shows_the_word_of_a_group_in_all_groups():
    of = renamed()
    page = fitted(of, n_components=4).report()
    [one] = [one for one in page.findings if one.word == "yacht"]
    for name, share, low, high in zip(page.groups, one.shares, one.low, one.high, strict=True):
        own = [text for text, group in zip(of.texts, of.groups, strict=True) if group == name]
        assert share == pytest.approx(np.mean(["yacht" in text for text in own]), rel=1e-5)
        assert low <= share <= high


def test_time_alone_makes_no_group_different():
    """A subject that begins late is in the groups of late documents; within periods all agree."""
    texts, times, _ = corpus(burst=(10, 11, 12))
    groups = ["early" if time.month < 7 else "late" for time in times]
    found = small().fit(texts, times=times, groups=groups).findings(None)
    assert found
    assert all(one.group is None for one in found)


def test_groups_of_other_subjects_make_no_change_in_time():
    """Documents of a period vary more than those of a group, and many groups differ."""
    words = np.array([f"w{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(620)])
    n, p = 0, 1.0 / np.arange(1, 301)
    for seed in range(5, 8):
        rng = np.random.default_rng(seed)
        texts, groups = [], rng.integers(8, size=1200)
        for group in groups:
            own = 300 + 40 * group + rng.integers(40, size=8)
            texts.append(" ".join(words[[*own, *rng.choice(300, 12, p=p / p.sum())]]))
        times = 2000 + rng.integers(20, size=1200)
        found = st.TopicStream(8).fit(texts, times=times, groups=groups).findings(None)
        assert any(one.group is not None for one in found)
        n += sum(one.group is None for one in found)
    assert n <= 1


def test_words_without_spaces_have_topics_each():
    cut = {"tokenizer": lambda text: [text[:2], text[3:]], "token_pattern": None}
    words = StreamingCountVectorizer(max_features=9, **cut)
    stream = st.TopicStream(2, vectorizer=words).fit(["船海 船海", "日月 日月", "船海中日月"] * 40)
    documents = [one for topic in stream.report().topics for one in topic.documents]
    (marks,) = [one.topics for one in documents if one.parts[1::2] == ["船海", "中", "日月"]]
    assert sorted(marks) == [-1, 0, 1]


def test_nothing_is_found_where_nothing_happens():
    assert sum(len(fitted(corpus(seed=seed)).findings(None)) for seed in range(10)) <= 2


def test_documents_without_a_time_count_for_their_groups():
    texts, times, groups = corpus(group="north")
    some = [None if i % 3 else time for i, time in enumerate(times)]
    stream = fitted(Corpus(texts, some, groups), n_components=4)
    assert stream.totals().n.sum() == 200
    assert sum(row.n_documents for row in stream.shares("group")) == 4 * 600
    for when in (some, [None] * 600):
        found = fitted(Corpus(texts, when, groups), n_components=4).findings(None)
        [first] = [one for one in found if one.group == "north" and one.kind == "more"]
        assert first.n_all == groups.count("north")


def test_learning_alone_makes_no_findings_along_a_stream():
    """Early documents have topics of a model that knows little, and new words no columns."""
    rng = np.random.default_rng(0)
    words = np.array([f"w{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(600)])
    p = 1 / np.arange(1, 601)
    stream = st.TopicStream(8)
    for i in range(30):
        texts = [" ".join(one) for one in words[rng.choice(600, (60, 20), p=p / p.sum())]]
        stream.partial_fit(texts, times=[date(2020, 1, 1) + timedelta(days=9 * i)] * 60)
    assert len(stream.findings(None)) <= 1
    texts, times, *_ = zip(*stream.documents, strict=True)
    assert report(stream, texts=texts, times=times, totals=stream.totals()).n_findings <= 1


def test_learning_after_documents_were_added_makes_no_findings():
    texts, words = corpus(900).texts, StreamingCountVectorizer(max_features=60, min_df=2)
    pipeline = StreamingPipeline([("w", words), ("t", st.StreamingLDA(5, random_state=0))])
    stream = st.TopicStream.from_pipeline(pipeline.partial_fit(texts[:20]))
    stream.add_documents(texts[20:460], times=[2000 + i // 44 for i in range(440)])
    stream.partial_fit(texts[460:], times=[2010 + i // 44 for i in range(440)])
    assert stream.findings(None) == ()


def test_words_are_those_of_the_tables():
    """And short lists are the beginning of longer ones."""
    stream = st.TopicStream(5, vectorizer=CountVectorizer()).fit(corpus().texts)
    found = stream.report()
    for row in topic_table(stream.pipeline_):
        assert stream.top_words()[row.topic] == row.words
        assert stream.top_words(3)[row.topic] == row.words[:3]
    assert found.n_words == len(row.words)


def test_findings_of_any_year_and_number():
    texts, _, groups = corpus(burst=(9,))
    times = np.datetime64("-0044-01-01") + np.arange(600) // 2
    stream = fitted(Corpus([*texts, "?"], np.append(times, times[-1:]), [*groups, "only"]))
    assert "-044" in stream.findings()[0].when
    assert stream.report().periods[0] == "week of -045-12-26"
    sample = sample_of(stream.totals(), np.eye(1), np.eye(1), np.zeros(1), ["new"], ["?"])
    assert sample.group.tolist() == [-1]
    with pytest.raises(ValueError, match="n must be"):
        stream.findings(-1)


def test_typical_documents_are_of_the_finding():
    texts, times, _ = corpus(burst=(9,))
    stream = small().fit(texts, times=times, ids=[f"d{i}" for i in range(600)])
    [first, *_] = stream.findings()
    chosen = [stream.documents[place] for place in first.documents]
    assert first.quote == chosen[0].text
    for one in chosen:
        assert set(one.text.split()) <= set(NEW.split())
        assert one.time[:7] == "2024-09"
        assert texts[int(one.id[1:])] == one.text


def test_the_order_of_a_corpus_is_no_time():
    stream = small().fit(corpus(burst=(9,)).texts)
    assert stream.findings(None) == ()
    later = corpus(200, 1, burst=range(1, 13)).texts
    [first, *_] = stream.partial_fit(later).findings()
    assert first.when.startswith("since document 60")


def test_findings_show_as_text_and_in_notebooks():
    texts, times, _ = corpus(burst=(9,))
    found = small().fit(texts, times=times).findings(3)
    assert len(found) <= 3
    assert all(isinstance(one, Finding) for one in found)
    assert str(found).startswith("1. *")
    assert found._repr_html_().startswith("<ol><li><em>")
    shown = Findings([found[0]._replace(kind="more", group="M*A*S*H", words=("sea",))])
    assert shown._repr_html_().startswith("<ol><li>M*A*S*H has more of <em>sea")
    assert str(small().fit(texts).findings(0)) == "Nothing stands out."


def test_totals_are_those_of_transform():
    texts, times, groups = of = corpus()
    stream = fitted(of)
    totals, shares = stream.totals(least=30), stream.transform(texts)
    months = [f"{time:%Y-%m}" for time in times]
    assert [period.label for period in totals.periods] == sorted(set(months))
    for t, period in enumerate(totals.periods):
        for g, group in enumerate(totals.groups):
            rows = [i for i, m in enumerate(months) if m == period.label and groups[i] == group]
            assert totals.sums[t, g] == pytest.approx(shares[rows].sum(axis=0), rel=1e-5)


def test_shares_are_rows_with_intervals():
    texts, _, groups = of = corpus()
    stream = fitted(of)
    shares = stream.transform(texts)[:, 2]
    rows = [row for row in stream.shares("group") if row.topic == 2]
    assert {row.group for row in rows} == {*groups}
    for row in rows:
        own = shares[np.array(groups) == row.group]
        assert row.n_documents == len(own)
        assert row.share == pytest.approx(own.mean(), rel=1e-5)
        assert row.low < row.share < row.high
    both = stream.shares("both", least=30)
    assert len(both) == 5 * 12 * 3
    assert sum(row.n_documents for row in both if row.topic == 0) == len(texts)
    assert all(row.group is None for row in stream.shares())
    with pytest.raises(ValueError, match="by must be one of"):
        stream.shares("week")


def test_documents_without_a_known_word_count_for_no_topic():
    texts, times, _ = corpus()
    stream = small().fit([*texts, "", "zzz"], times=[*times, times[-1], times[-1]])
    totals = stream.totals()
    assert totals.n.sum() == stream.n_documents_seen_ == len(texts) + 2
    assert totals.main.sum() == len(texts)
    assert totals.sums.sum() == pytest.approx(len(texts))


def test_fit_is_the_fit_of_its_parts():
    texts, *_ = corpus()
    stream = small(random_state=3).fit(texts)
    words = StreamingCountVectorizer(max_features=60, min_df=2).partial_fit(texts)
    topics = st.StreamingLDA(5, random_state=3).fit(words.transform(texts))
    assert (stream.pipeline_[-1].components_ == topics.components_).all()
    assert stream.score(texts) == topics.score(words.transform(texts))


def test_new_words_get_columns_after_fit():
    later = corpus(300, 1, burst=range(1, 13)).texts
    days = [date(2025, 1, 1) + timedelta(days=i) for i in range(300)]
    stream = fitted(corpus())
    for own in (slice(100), slice(100, 200), slice(200, 300)):
        stream.partial_fit(later[own], times=days[own])
    assert {*NEW.split()} <= {*stream.pipeline_[0].vocabulary_}
    found = stream.findings()
    assert {*found[0].came} & {*NEW.split()}
    assert found[0].when.startswith("since ")


def test_a_saved_stream_goes_on_with_the_same_bits(tmp_path):
    of = corpus(burst=(9,))
    whole, part = streamed(small(), *of), streamed(small(), *of.part(300))
    save(part, tmp_path / "stream")
    part = streamed(load(tmp_path / "stream"), *of.part(300, None))
    assert (whole.transform(of.texts) == part.transform(of.texts)).all()
    assert whole.findings(None) == part.findings(None)
    assert whole.documents == part.documents
    assert whole.tracker_.topics() == part.tracker_.topics()


def test_a_stream_with_documents_of_unknown_time_is_saved(tmp_path):
    texts = corpus(80).texts
    stream = st.TopicStream(2).partial_fit(texts[:60], times=range(2000, 2060))
    stream.partial_fit(texts[60:])
    save(stream, tmp_path / "a.model")
    assert load(tmp_path / "a.model").shares() == stream.shares()


def test_threads_make_no_difference():
    of = corpus(burst=(9,))
    one, two = (streamed(small(n_jobs=n), *of) for n in (1, 2))
    assert (one.transform(of.texts) == two.transform(of.texts)).all()
    assert one.findings(None) == two.findings(None)


def test_the_sample_is_every_document_alike():
    counts = np.zeros(300)
    for seed in range(30):
        stream = streamed(small(n_documents=50, random_state=seed), *corpus(300), size=75)
        kept = [one.id for one in stream.documents]
        assert kept == sorted(kept)
        assert len(kept) == 50
        counts[kept] += 1
    # Each is kept 5 times in the mean; a binomial count of 30 trials of 1/6.
    assert abs(counts[:150].mean() - 5) < 0.7
    assert counts.max() < 16
    streamed(stream.set_params(n_documents=300), *corpus(300))
    assert 25 < sum(one.id >= 300 for one in stream.documents) < 75


def test_no_document_need_be_kept():
    """But in a stream findings need them."""
    of = corpus(burst=(9,))
    [first, *_] = fitted(of, n_documents=0).findings()
    assert (first.documents, first.quote) == ((), "")
    stream = streamed(small(n_documents=0), *of)
    with pytest.raises(ValueError, match="n_documents is 0, but findings"):
        stream.findings()
    assert stream.report(findings=()).findings == []


def test_shares_follow_a_merge_and_its_undoing():
    stream = fitted(corpus())
    before = stream.totals()
    editing.merge(stream, [1, 3])
    after = stream.totals()
    assert after.sums[..., 1] == pytest.approx(before.sums[..., 1] + before.sums[..., 3])
    assert after.sums.shape[2] == 4
    [(_, table), *_] = stream.report().tables
    assert {row[1] for row in table.rows} == {"-1", "0", "1", "2", "3"}
    editing.undo(stream)
    assert (stream.totals().sums == before.sums).all()
    # Undone and edited otherwise, without a look in between.
    editing.merge(stream, [0, 1])
    assert stream.totals().sums[..., 0] == pytest.approx(before.sums[..., :2].sum(axis=2))
    editing.undo(stream)
    editing.merge(stream, [2, 4])
    assert stream.totals().sums[..., 2] == pytest.approx(before.sums[..., [2, 4]].sum(axis=2))


def test_shares_follow_edits_that_come_together_and_learning_goes_on():
    of = corpus()
    stream = fitted(of)
    before = stream.totals().sums
    editing.merge(stream, [0, 2])
    editing.split(stream, 1, of.texts)
    editing.merge(stream, [0, 3])
    after = stream.totals().sums
    assert after.sum() == pytest.approx(before.sum())
    assert after[..., 0] == pytest.approx(before[..., [0, 2, 4]].sum(axis=2))
    assert after[..., [1, 3]].sum(axis=2) == pytest.approx(before[..., 1], abs=1e-6)
    own = stream.transform(of.texts)[np.array(of.groups) == stream.totals().groups[0]]
    assert after[:, 0].sum(axis=0) == pytest.approx(own.sum(axis=0), rel=1e-5)
    streamed(stream, *of.part(90))
    assert stream.totals().n.sum() == 690
    assert stream.totals().sums.shape[2] == len(stream.top_words())


def test_findings_know_names_and_hidden_topics():
    texts, times, _ = corpus(burst=(9,))
    stream = small().fit(texts, times=times)
    [first, *_] = stream.findings()
    editing.rename(stream, first.topic, "epidemic")
    assert str(stream.findings()[0]).startswith("*epidemic* rose")
    editing.hide(stream, first.topic)
    assert all(one.topic != first.topic or one.word for one in stream.findings(None))


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize(
    ("X", "given", "match"),
    [
        ("one text", {}, "got one text, so pass"),
        (pd.DataFrame({"text": ["a", "b"]}), {}, "got a table, so pass one column"),
        (["a text", None], {}, "row 1 is None"),
        (["a", "b"], {"times": [1]}, "times must have an entry"),
        (["a", "b"], {"groups": [1]}, "groups must have an entry"),
        (["a", "b"], {"ids": [1]}, "ids must have an entry"),
        (["a", "b"], {"times": ["05/17/2003", "1"]}, "is neither a number nor a date"),
    ],
)
def test_a_call_that_is_refused_changes_nothing(method, X, given, match):
    texts, times, _ = corpus(200)
    stream = small().partial_fit(texts, times=times)
    before = stream.transform(texts)
    with pytest.raises((TypeError, ValueError), match=match):
        getattr(stream, method)(X, **given)
    assert (stream.transform(texts) == before).all()
    assert stream.n_documents_seen_ == 200


def test_a_first_minibatch_that_fails_begins_nothing():
    stream = small(model=st.StreamingLDA(5, update="no such rule"))
    with pytest.raises(TypeError, match="update"):
        stream.partial_fit(corpus(50).texts)
    assert not hasattr(stream, "pipeline_")


def state_of(stream, texts):
    """What a stream has learnt, added up and kept."""
    return [
        stream.transform(texts).tolist(), stream.totals().sums.tolist(), stream.documents,
        stream.totals().holders.tolist(), stream.top_words(), stream.n_documents_seen_,
        stream.tracker_.topics(), stream.monitor_.n_batches, stream.monitor_.documents,
        stream.pipeline_[0].get_feature_names_out().tolist(),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "owner", "name"),
    [
        ("fit", TopicTracker, "on_batch"), ("fit", Cells, "add"), ("fit", estimator, "sampled"),
        ("partial_fit", TopicTracker, "on_batch"), ("partial_fit", Cells, "add"),
        ("partial_fit", DriftMonitor, "learn"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_a_call_that_fails_halfway_changes_nothing(monkeypatch, method, owner, name, error):
    of = corpus(burst=(9,))
    texts, first, later = of.texts, of.part(400), of.part(400, None)
    stream = small().partial_fit(first.texts, **first.labels)
    before, parts, done = state_of(stream, texts), stream._parts(), getattr(owner, name)

    def fails(*args, **kwargs):
        done(*args, **kwargs)
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, fails)
        with pytest.raises(error):
            getattr(stream, method)(later.texts, **later.labels)
    assert state_of(stream, texts) == before
    stream.partial_fit(later.texts, **later.labels)
    assert all(one is other for one, other in zip(stream._parts(), parts, strict=True))
    whole = streamed(small().partial_fit(first.texts, **first.labels), *later, size=200)
    assert state_of(stream, texts) == state_of(whole, texts)


@pytest.mark.parametrize("copied", [copy, deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_learns_by_itself(copied):
    texts, times, _ = of = corpus(burst=(9,))
    stream = streamed(small(), *of.part(400))
    before, other, state = state_of(stream, texts), copied(stream), stream.__getstate__()
    assert state_of(other, texts) == before
    other.partial_fit(texts[400:], times=times[400:]).finish()
    editing.merge(other, [0, 1])
    assert state_of(stream, texts) == before
    assert other.n_documents_seen_ == 600
    stream.finish().__setstate__(state)
    assert state_of(stream, texts) == before


def test_threads_learn_one_after_the_other_and_others_look_on():
    of = corpus(800, burst=(9,))
    stream = streamed(small(), *of.part(100))

    def look():
        stream.findings()
        totals = stream.totals()
        assert totals.sums.sum() == pytest.approx(totals.n.sum())

    parts = [of.part(start, start + 50) for start in range(100, 800, 50)]
    with ThreadPoolExecutor(4) as threads:
        learnt = [threads.submit(streamed, stream, *part) for part in parts]
        looked = [threads.submit(look) for _ in range(10)]
        for one in (*learnt, *looked):
            one.result()
    assert stream.n_documents_seen_ == stream.totals().n.sum() == 800
    assert sorted(one.text for one in stream.documents) == sorted(of.texts)


def test_shares_follow_topics_that_come_and_go():
    """Rows of HDPs move, and a new cluster has nothing of that whose row it takes."""
    stream = streamed(small(model=st.HDPVarGibbs(random_state=0)), *corpus(900, burst=(9,)))
    assert stream.totals().sums.shape[2] == len(stream.top_words())
    assert stream.totals().sums.sum() <= 900.001
    old, new = (TopicLifetime(row, born, None, 9.0, ()) for row, born in ((0, 1), (2, 5)))
    before = Lifetimes(np.zeros(3), alive=(old,), n_batches=4)
    after = Lifetimes(np.zeros(3), alive=(old, new), n_batches=5)
    assert (_moved(before, after) == np.diag([1.0, 1.0, 0.0])).all()
    rows = Lifetimes(np.zeros(3), ids=np.arange(3)), Lifetimes(np.zeros(2), ids=np.array([2, 5]))
    assert _moved(*rows).tolist() == [[0, 0], [0, 0], [1, 0]]


def test_holders_are_of_the_words_that_have_the_columns():
    """Also after `finish`, which may give columns to other words."""
    of, later = corpus(), corpus(400, 1, burst=range(1, 13)).texts
    words = StreamingCountVectorizer(max_features=34, min_df=2, half_life=100)
    stream = streamed(small(vectorizer=words), *of)
    streamed(stream, later, [of.times[-1]] * 400, of.groups[:400])
    names = stream.pipeline_[0].get_feature_names_out()
    stream.finish()
    changed = names != stream.pipeline_[0].get_feature_names_out()
    assert changed.any()
    holders, frequency = stream.totals().holders, stream.pipeline_[0].document_frequency_
    assert holders.sum(axis=0)[changed] == pytest.approx(frequency[changed])


def test_documents_are_added_to_edited_topics():
    texts, times, _ = corpus()
    stream = small().fit(texts[:300], times=times[:300])
    editing.merge(stream, [1, 2])
    stream.add_documents(texts[300:], times=times[300:])
    assert stream.totals().sums.sum() == pytest.approx(600)
    editing.undo(stream)
    with pytest.raises(ValueError, match="documents were added after an edit that was undone"):
        stream.totals()


def test_names_of_topics_are_undone_after_learning():
    texts, times, _ = corpus()
    stream = small().partial_fit(texts[:300], times=times[:300])
    editing.rename(stream, 1, "sea")
    stream.partial_fit(texts[300:], times=times[300:])
    editing.undo(stream)
    assert stream.totals().n.sum() == 600
    editing.merge(stream, [1, 2])
    assert stream.totals().sums.shape[2] == 4


def test_frames_and_routing_of_scikit_learn_change_nothing(tmp_path):
    of = corpus()
    texts, plain = of.texts, streamed(small(), *of)
    with config_context(transform_output="pandas", enable_metadata_routing=True):
        stream = small().set_output(transform="pandas").set_partial_fit_request(times=True)
        save(streamed(stream, *of), tmp_path / "stream")
        editing.split(stream, 1, texts)
        assert stream.totals().n.sum() == 600
        assert isinstance(stream.transform(texts), pd.DataFrame)
    editing.undo(stream)
    stream.set_output(transform="default")
    assert state_of(stream, texts) == state_of(plain, texts)


def test_ids_are_kept_as_numbers_or_text():
    ids = [np.int64(7), "a", None, 1.5, 3]
    stream = st.TopicStream(2).fit(["red green blue"] * 5, ids=ids)
    assert [one.id for one in stream.documents] == [7, "a", "None", "1.5", 3]
    assert isinstance(stream.documents[0].id, int)
    for given, first in ((None, "document 1"), (ids, "document 7")):
        page = st.TopicStream(2).fit(["red green blue"] * 5, ids=given).report()
        assert page.topics[0].documents[0].title == first


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("model", [st.WASTopicModel(), st.RatingLDA(), st.AspectSentimentModel()])
def test_models_of_sentences_and_ratings_are_refused_by_name(method, model):
    with pytest.raises(TypeError, match=rf"got {type(model).__name__}"):
        getattr(small(model=model), method)(corpus(50).texts)


@pytest.mark.parametrize("name", ["_sums", "_n_documents"])
def test_a_damaged_stream_is_refused(name):
    stream = fitted(corpus(200))
    check_held(stream)
    vars(stream)[name] = {"_sums": ((), Cells.empty(5, 3)), "_n_documents": 12}[name]
    with pytest.raises(ValueError, match="the sums are not those of"):
        check_held(stream)


def test_any_model_and_any_vectorizer_will_do():
    texts, times, _ = corpus(burst=(9,))
    stream = small(model=st.StreamingMixture(5, random_state=0)).fit(texts, times=times)
    assert stream.findings()
    words = StreamingCountVectorizer(vocabulary=NEW.split())
    stream = small(vectorizer=words).fit(texts, times=times)
    assert stream.partial_fit(texts[:50], times=times[:50]).n_documents_seen_ == 650


def test_it_is_searched_over_as_any_estimator_is():
    search = GridSearchCV(small(), {"n_components": [1, 5]}, cv=2).fit(corpus(200).texts)
    assert search.best_params_ == {"n_components": 5}


def test_a_report_says_what_the_stream_knows(tmp_path):
    """Of all documents, of which a sixth is kept."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["sea", "ship", "wave", "sun", "sky"], 8)) for _ in range(300)]
    times = [f"2024-{1 + i // 60:02}" for i in range(300)]
    texts[240:] = [f"{text} storm storm storm" for text in texts[240:]]
    ids = [f"note {i}" for i in range(300)]
    stream = st.TopicStream(2, n_documents=50)
    stream.fit(texts, times=times, groups=["a", "b"] * 150, ids=ids)
    found = stream.report(tmp_path / "page.html", title="Weather")
    totals, kept = stream.totals(), stream.documents
    assert (found.n_documents, found.sampled_from, found.over_all) == (50, 300, True)
    assert found.periods == [period.label for period in totals.periods]
    assert found.sizes == totals.n.sum(axis=1).tolist()
    assert sorted(found.groups) == ["a", "b"]
    assert [one.text for one in found.findings] == [
        str(one._replace(quote="")) for one in stream.findings()
    ]
    assert any("storm" in one.text for one in found.findings)
    for said, one in zip(found.findings, stream.findings(), strict=True):
        assert [doc.title for doc in said.documents] == [kept[i].id for i in one.documents]
    assert found.holders[found.words.index("storm")] == 60
    assert sum(topic.n_documents for topic in found.topics) == 300
    assert "<title>Weather</title>" in (tmp_path / "page.html").read_text("utf-8")
    assert stream.report(findings=()).findings == []


@pytest.mark.parametrize("words", [None, TfidfVectorizer(), NamedVectorizer(TfidfVectorizer())])
def test_a_report_follows_the_end_of_a_topic_and_needs_no_documents(words):
    stream = st.TopicStream(2, vectorizer=words, random_state=0).fit(SEA + SKY)
    editing.merge(stream, [0, 1])
    assert stream.partial_fit(SEA).report().n_topics == 1
    assert not report(stream.pipeline_, texts=[]).n_documents


def test_documents_that_are_added_count_and_teach_nothing():
    of = corpus()
    stream = fitted(of)
    before = stream.transform(of.texts)
    page = st.TopicStream.from_pipeline(stream.pipeline_)
    for part in (of.part(start, start + 100) for start in range(0, 600, 100)):
        page.add_documents(part.texts, **part.labels)
    assert (page.transform(of.texts) == before).all()
    one, other = page.totals(), stream.totals()
    assert one.periods == other.periods
    np.testing.assert_allclose(one.sums.sum(axis=1), other.sums.sum(axis=1), rtol=1e-5)


def test_a_pipeline_of_a_corpus_goes_on_with_its_words():
    texts = corpus().texts
    words, topics = StreamingCountVectorizer(min_df=2), st.StreamingLDA(4, random_state=0)
    stream = st.TopicStream.from_pipeline(make_pipeline(words, topics).fit(texts))
    n = topics.n_documents_seen_
    stream.partial_fit([f"{text} virus" for text in texts]).finish()
    assert topics.n_documents_seen_ == n + len(texts)
    assert "virus" not in words.vocabulary_
    between = make_pipeline(StreamingCountVectorizer(), FunctionTransformer(), st.StreamingLDA(4))
    with pytest.raises(ValueError, match="Leave out 'functiontransformer'"):
        st.TopicStream.from_pipeline(between)


@pytest.mark.parametrize("kind", [CountVectorizer, StreamingCountVectorizer, NamedVectorizer])
def test_a_fitted_vectorizer_keeps_its_words_when_the_topics_begin(kind, tmp_path):
    texts = corpus().texts
    pipeline = make_pipeline(kind().fit(texts), st.StreamingLDA(4, random_state=0))
    save(pipeline, tmp_path / "model")
    words = pipeline[0].get_feature_names_out().tolist()
    for one in (pipeline, load(tmp_path / "model")):
        stream = st.TopicStream.from_pipeline(one)
        for learnt in (stream, clone(stream)):
            learnt.partial_fit([f"{text} virus" for text in texts[:40]])
            assert learnt.pipeline_[:-1].get_feature_names_out().tolist() == words


def test_news_since_a_time_that_is_a_text():
    stream = st.TopicStream(2, n_documents=0)
    for month, text in enumerate(["the ship sails at sea", "the sun and the sky"] * 2, 1):
        stream.partial_fit([text] * 40, times=[f"2014-0{month}-01"] * 40)
    since = datetime(2014, 2, 15)
    assert stream.tracker_.news("2014-02-15") == stream.tracker_.news(since) != []
    with pytest.raises(ValueError, match="since at or after the first"):
        stream.tracker_.news("2013-12-31")


def test_parameters_of_a_model_that_is_not_given():
    for name in ("model__update", "vectorizer__min_df"):
        with pytest.raises(ValueError, match=f"{name} is a parameter of .*, which is None; set"):
            st.TopicStream().set_params(**{name: 3})
    model = st.StreamingLDA(3)
    found = st.TopicStream().set_params(model=model, model__update="svi", n_documents=7)
    assert found.get_params()["model__update"] == "svi"
    assert found.n_documents == 7


def test_documents_held_back_for_the_alarm_are_earlier_documents_of_a_new_word():
    stream, numbers = st.TopicStream(2, n_documents=0), np.random.default_rng(0).permutation(60)
    batches = [["the ship sails at sea"] * 20 + ["the sun and the sky"] * 20 for _ in range(6)]
    for batch, n in zip(batches, (0, 1, 1, 1, 1, 12), strict=True):
        batch[10 : 10 + n] = ["the zebra sails at sea"] * n
        stream.partial_fit([batch[i] for i in numbers if i < 40])
    column = stream.pipeline_[0].vocabulary_["zebra"]
    assert stream._sums[1].holders[:, [column]].sum() == pytest.approx(16, abs=0.01)


def test_the_first_of_january_is_a_date_of_its_stream():
    stream, days = st.TopicStream(2, random_state=0), ["2023-12-31", "2024-01-01", "2024-01-02"]
    for day in days:
        stream.partial_fit(SEA + SKY, times=[day] * 100)
    assert sorted({one.time for one in stream.documents}) == days
    assert stream.report().periods == days


@pytest.mark.parametrize("step", [480, 40, 120])
def test_minibatches_make_no_difference_to_periods_of_fractions(step):
    times, texts = np.repeat(2024 + np.arange(12) / 12, 40), SEA * 6 + (SKY * 4)
    stream = st.TopicStream(2, random_state=0)
    for i in range(0, 480, step):
        stream.partial_fit(texts[i : i + step], times=times[i : i + step])
    periods = stream.totals().periods
    assert len(periods) > 12
    assert periods[0].start == 2024
    assert [str(one.when) for one in stream.findings() if one.topic == 0][:1] == ["since 2024.5"]


def test_the_tracker_knows_the_time_of_a_corpus():
    stream = st.TopicStream(2).fit(SEA + SKY, times=["2024-05-01"] * 40 + ["2024-06-01"] * 60)
    for month in (7, 8, 9):
        stream.partial_fit(SEA + SKY, times=[f"2024-0{month}-01"] * 100)
    assert stream.tracker_.news("2024-08-01") is not None


def test_a_pipeline_of_merged_topics_goes_on_as_a_stream():
    stream = st.TopicStream(3, random_state=0).fit(SEA + SKY)
    editing.merge(stream, [0, 1])
    again = st.TopicStream.from_pipeline(stream.pipeline_).partial_fit(SEA + SKY)
    editing.rename(again, 0, "all")
    assert again.add_documents(SKY).totals().n.sum() == 160


def test_periods_of_numbers_begin_at_any_number():
    times = np.repeat(np.arange(-1, 11), 50)
    for step, first in ((600, 0), (50, 50)):
        found = st.TopicStream(2).partial_fit(SEA[:1] * 50 * bool(first), times=[0] * first)
        for i in range(0, 600, step):
            found.partial_fit(SKY[:1] * step, times=times[i : i + step])
        assert [one.label for one in found.totals().periods] == [str(i) for i in range(-1, 11)]


def test_a_corpus_without_times_ends_where_the_stream_begins():
    found = st.TopicStream(2).fit((SEA + SKY) * 20)
    for _ in range(5):
        found.partial_fit(SEA + SKY)
    totals = found.totals()
    assert len(totals.periods) > 10
    assert (totals.n > 0).all()
    assert totals.periods[0].label == f"documents 1 to {totals.n[0].sum():,.0f}"


def test_words_of_a_pipeline_have_holders_in_its_stream_alone():
    words, seed = StreamingCountVectorizer(max_features=6, min_df=2), SEA[:1] * 100
    topics = st.StreamingLDA(2, random_state=0)
    learnt = StreamingPipeline([("words", words), ("topics", topics)]).partial_fit(seed)
    for _ in range(9):
        learnt.partial_fit(seed + ["ship zebra yak"] * 30)
    found, part = st.TopicStream.from_pipeline(learnt), ["zebra yak"] * 20 + ["ship"] * 20
    while not {"zebra", "yak"} <= set(found.pipeline_[0].vocabulary_):
        found.partial_fit(part, times=[0] * 40)
    n = found.totals().holders[:, found.pipeline_[0].vocabulary_["yak"]].sum()
    assert n <= 0.7 * found.n_documents_seen_


def test_an_iterator_of_texts_is_fitted_and_transformed():
    stream = st.TopicStream(2, random_state=0)
    assert stream.fit_transform(iter(SEA + SKY), times=["2024-01-01"] * 100).shape == (100, 2)
    assert {row.topic for row in stream.shares("group")} == {0, 1}
    editing.hide(stream, 0)
    assert {row.topic for row in stream.shares("group")} == {1}


def test_documents_before_a_column_are_counted_in_their_group():
    """Fewer than five of the first minibatch have the word, so it has no column yet."""
    rng, groups = np.random.default_rng(0), ["a", "b"] * 50
    known = ["ship", "sea", "sun", "sky", "moon", "law", "tax"]
    base = [" ".join(rng.choice(known, 5)) for _ in groups]
    stream, n = st.TopicStream(2, random_state=0), 0
    for places in ([], range(1, 81, 20), *[range(1, 100, 5)] * 7):
        own = [i for i in places if groups[i] == "b"]
        texts = [text + " zebra" * (i in own) for i, text in enumerate(base)]
        stream.partial_fit(texts, groups=groups)
        n += len(own)
    [found] = (one for one in stream.finish().findings(None) if one.word == "zebra" and one.group)
    assert (found.group, found.n_documents, found.share_before) == ("b", n, 0)
    found = [one.shares for one in stream.report().findings if one.word == "zebra" and one.group]
    assert [min(shares) for shares in found] == [0]


def test_numbers_are_times_as_written():
    times = np.repeat([0.5, 0.7, 123456784], [30, 30, 40])
    one, other = (stream_of(own).totals() for own in (times, times.astype(np.float32)))
    assert one.periods == other.periods
    assert (one.n == other.n).all()
    assert stream_of(range(100)).add_documents(SEA[:2], times=["2e8", None]).totals().n.sum() == 101
