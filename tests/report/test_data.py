# SPDX-License-Identifier: BSD-3-Clause
"""What a report says is what the model says."""

import json
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from streamtopics import SVBLDA, HDPVarGibbs, StreamingLDA, StreamingMixture, WASTopicModel, editing
from streamtopics.editing.records import KINDS
from streamtopics.metrics import CoherenceScorer, relevant_words
from streamtopics.metrics.similarity import affinities, nearest, places
from streamtopics.report import page, report
from streamtopics.report.curves import branches_of
from streamtopics.report.documents import RELEVANCE_GRID, word_table
from streamtopics.story.cells import Cells, labels_of
from streamtopics.text import StreamingCountVectorizer, StreamingPipeline
from streamtopics.updates import DirichletProcess
from tests.conventions.every import COUNTS
from tests.report.made import THEMES, Alarm, made
from tests.small import COUNTS as SMALL
from tests.small import SEA, SKY, stream_of


@pytest.fixture(scope="module")
def corpus():
    return made()


@pytest.fixture(scope="module")
def parts(corpus):
    """The model, the counts, the words of the columns and the topics of the documents."""
    vectorizer, model = corpus.pipeline[0], corpus.pipeline[-1]
    counts = vectorizer.transform(corpus.texts)
    return model, counts, vectorizer.get_feature_names_out(), model.transform(counts)


@pytest.fixture(scope="module")
def given(corpus):
    return {"texts": corpus.texts, "times": corpus.times, "n_words": 6}


@pytest.fixture(scope="module")
def data(corpus, given):
    return report(corpus.pipeline, **given)


@pytest.fixture(scope="module")
def months(corpus):
    """Each document's, of the eight that there are."""
    return np.array([day.month for day in corpus.times])


def means_by_month(values, months):
    return np.array([values[months == month].mean(axis=0) for month in range(1, 9)])


def holding(word, corpus):
    """Which documents have a word."""
    return np.array([word in text.lower().strip(".").split() for text in corpus.texts])


def ranked(data, topic, relevance):
    """The words as the page ranks them, by its formula."""
    value = np.log(topic.p) + (relevance - 1) * np.log(np.array(data.overall)[topic.words])
    order = np.lexsort((np.arange(len(value)), -value))[: data.n_words]
    return [data.words[topic.words[i]] for i in order]


@pytest.mark.parametrize("relevance", RELEVANCE_GRID)
def test_words_are_those_of_relevant_words_at_every_place_of_the_slider(data, parts, relevance):
    model, _, names, _ = parts
    wanted = relevant_words(model.topic_word_, model.topic_weights_, 6, relevance=relevance)
    for topic in data.topics:
        assert ranked(data, topic, relevance) == names[wanted[topic.id]].tolist()
        columns = [names.tolist().index(data.words[word]) for word in topic.words]
        assert_allclose(topic.p, model.topic_word_[topic.id, columns], rtol=1e-5)
    assert len({tuple(ranked(data, topic, 0.0)) for topic in data.topics}) == 3


def test_shares_over_time_are_means_over_the_documents(data, months, parts):
    wanted = means_by_month(parts[3], months)
    assert (data.unit, data.periods[0], data.least) == ("month", "2020-01", 10)
    for topic in data.topics:
        assert_allclose(topic.shares, wanted[:, topic.id], rtol=1e-5)
        assert (np.less(topic.low, topic.shares) & np.less(topic.shares, topic.high)).all()
    assert_array_equal(data.sizes, np.bincount(months)[1:])


def test_shares_of_a_sample_are_those_of_all_documents(data, corpus, parts):
    """And so are the numbers of documents that have a word."""
    _, counts, _, shares = parts
    labels = labels_of(240, corpus.times, None, "", 0)
    totals = Cells.empty(*parts[0].topic_word_.shape).add(labels, shares, counts).totals()
    some = {"texts": corpus.texts[::8], "times": corpus.times[::8], "n_words": 6}
    found = report(corpus.pipeline, totals=totals, **some)
    assert (found.n_documents, found.sampled_from, found.over_all) == (30, 240, True)
    assert (found.periods, found.sizes) == (data.periods, data.sizes)
    for topic, known in zip(found.topics, data.topics, strict=True):
        for name in ("shares", "low", "high"):
            assert_allclose(getattr(topic, name), getattr(known, name), rtol=1e-5)
    assert found.holders == data.holders == [holding(word, corpus).sum() for word in data.words]
    document = found.topics[0].documents[0]
    assert document.time == str(corpus.times[8 * document.row])
    sample = report(corpus.pipeline, texts=corpus.texts, sampled_from=999)
    assert (sample.holders, sample.over_all) == ([], False)


def test_findings_are_those_of_the_documents_with_their_curves(data, corpus, given):
    """The third theme begins half way: its topic rises, and its words came with it."""
    first = data.findings[0]
    assert (first.kind, first.group, data.periods[first.first]) == ("grown", None, "2020-05")
    law = data.topics[first.topic]
    assert {data.words[word] for word in law.words[:3]} <= {word for t in THEMES for word in t}
    assert law.change.startswith("rose since May 2020: ")
    assert set(law.came) <= set(THEMES[2])
    for document in first.documents:
        assert corpus.times[document.row].month >= 5
        assert set("".join(document.parts).lower().strip(".").split()) & set(THEMES[2])
    without = report(corpus.pipeline, **given, findings=[])
    assert (without.findings, without.n_findings, without.topics[0].change) == ([], 0, "")


def test_the_page_can_write_edits_that_the_model_takes(data, corpus):
    """By the leading words of its topics."""
    assert set(data.edits) < {*KINDS}
    a, b, c = ({"topics": [topic.id], "leading": [topic.leading]} for topic in data.topics)
    rows = [
        {"kind": "rename", "name": "ships", **a},
        {"kind": "exclude", "words": ["people"], **b},
        {"kind": "lock", **c},
    ]
    text = json.dumps({"format": "streamtopics edits", "edits": rows})
    model = deepcopy(corpus.pipeline)
    results = editing.apply_edits(model, editing.edits_from_json(text))
    assert [one.refused for one in results] == ["", "", ""]
    assert [one.rows for one in results] == [(topic.id,) for topic in data.topics]
    found = report(model, texts=corpus.texts)
    assert [topic.name for topic in found.topics if topic.id == data.topics[0].id] == ["ships"]
    assert [topic.id for topic in found.topics if topic.is_locked] == [data.topics[2].id]


def test_models_that_take_no_edits_offer_none(corpus, parts):
    """Or whose columns have names that only the report knows."""
    X, names = parts[1], parts[2]
    assert report(parts[0], feature_names=names).edits == ()
    assert report(parts[0]).edits == report(corpus.pipeline).edits
    assert report(WASTopicModel(2, random_state=0).fit([X[:3], X[3:5]])).edits == ()
    mixture = StreamingMixture(4, births=DirichletProcess(), random_state=0).partial_fit(X)
    assert set(report(mixture).edits) == {"rename", "hide", "exclude", "pull"}


def test_groups_have_shares_and_findings(corpus, parts):
    shares = parts[3]
    groups = ["north" if row.argmax() == 0 else "south" for row in shares]
    groups[0] = None
    found = report(corpus.pipeline, texts=corpus.texts, groups=groups)
    assert sorted(found.groups) == ["(no group)", "north", "south"]
    assert found.periods == []
    own = np.array(["(no group)" if one is None else one for one in groups])
    for topic in found.topics:
        wanted = [shares[own == name, topic.id].mean() for name in found.groups]
        assert_allclose(topic.by_group, wanted, rtol=1e-5)
        assert np.less(topic.group_low, topic.by_group).all()
        assert np.less(topic.by_group, topic.group_high).all()
    assert {one.group for one in found.findings} <= {"north", "south"}
    assert len(found.findings) > 0
    assert found.topics[0].documents[0].group in found.groups
    own, some = ["a" * 70] * 40 + ["b"] * 60, stream_of(None).pipeline_
    found = report(some, texts=SEA + SKY, groups=own)
    assert {one.group for one in found.findings} == {*found.groups}
    with pytest.raises(ValueError, match="groups must have an entry for each of the 240"):
        report(corpus.pipeline, texts=corpus.texts, groups=groups[:3])


def test_the_tree_puts_similar_topics_together_first():
    """With the words that both have."""
    topic_word = np.array([[0.4, 0.3, 0.3, 0, 0], [0.3, 0.4, 0.3, 0, 0], [0, 0, 0.1, 0.5, 0.4]])
    model = SVBLDA(3, random_state=0).partial_fit(np.ones((1, 5)))
    source = SimpleNamespace(topic_word=topic_word, weights=np.full(3, 1 / 3), names=list("abcde"))
    table = word_table(source, np.arange(3), 5)
    first, last = branches_of(affinities(topic_word), topic_word, source.weights, table)
    assert (first.left, first.right) == (0, 1)
    assert set(first.words) == {"a", "b", "c"}
    assert {last.left, last.right} == {2, 3}
    assert last.words == ["c"]
    assert_allclose(first.height, np.sqrt(1 - affinities(topic_word)[0, 1]), rtol=1e-5)
    assert len(report(model).branches) == 2


def test_documents_have_the_topic_and_are_ranked_by_share_and_words(data, corpus, parts):
    model, counts, _, doc_topic = parts
    overall = model.topic_weights_ @ model.topic_word_
    tokens = np.asarray(counts.sum(axis=1)).ravel()
    main = doc_topic.argmax(axis=1)
    for topic in data.topics:
        own = (main == topic.id) & (tokens >= np.median(tokens))
        lift = np.log(np.maximum(model.topic_word_[topic.id] / overall, 1e-3))
        telling = (counts @ lift) / tokens
        rows = np.flatnonzero(own)
        order = np.lexsort((rows, -telling[rows], -doc_topic[rows, topic.id].round(2)))
        assert [document.row for document in topic.documents] == rows[order][:5].tolist()
        assert topic.n_documents == np.sum(main == topic.id)
        for document in topic.documents:
            assert "".join(document.parts) == corpus.texts[document.row]
            assert document.time == str(corpus.times[document.row])
            assert_allclose(document.mix[0][1], doc_topic[document.row].max(), atol=1e-4)


def test_words_have_the_topic_that_explains_them_best(data, parts):
    model, _, names, doc_topic = parts
    column = {name: i for i, name in enumerate(names)}
    overall = model.topic_weights_ @ model.topic_word_
    place, seen = {topic.id: i for i, topic in enumerate(data.topics)}, set()
    for document in [document for topic in data.topics for document in topic.documents]:
        for word, found in zip(document.parts[1::2], document.topics, strict=True):
            w = column[word.lower()]
            k = (doc_topic[document.row] * model.topic_word_[:, w]).argmax()
            tells = model.topic_word_[k, w] > overall[w]
            assert found == (place[k] if tells else -1)
            seen.add(tells)
    assert seen == {True, False}


def test_counts_and_texts_say_the_same_as_a_pipeline(data, given, parts):
    model, counts, names, _ = parts
    again = report(model, X=counts, feature_names=names, **given)
    # The model itself does not know the words.
    assert again.topics == [replace(topic, leading=()) for topic in data.topics]
    assert (again.words, again.overall) == (data.words, data.overall)


def test_a_sample_is_of_so_many_documents(parts):
    model, counts, names, _ = parts
    for whole, said in ((None, None), (240, None), (241, 241), (np.int64(9000), 9000)):
        found = report(model, X=counts, feature_names=names, sampled_from=whole)
        assert (found.n_documents, found.sampled_from) == (240, said)


def test_documents_without_texts_are_shown_by_their_words(parts):
    model, counts, names, _ = parts
    halves = np.repeat(counts.data / 2, 2), np.repeat(counts.indices, 2), counts.indptr * 2
    found = report(model, X=sparse.csr_matrix(halves), feature_names=names, n_documents=2)
    document = found.topics[0].documents[0]
    own = counts[document.row]
    shown = dict(zip(document.parts[1::2], document.parts[2::2], strict=True))
    assert set(shown) == set(names[own.indices])
    assert f"{max(own.data)}" in document.parts[2]
    assert not found.has_texts
    assert found.periods == []


def test_documents_that_are_equal_are_shown_once(corpus):
    texts = ["sea ship wave"] * 30 + ["bread oven flour"] * 30
    given = {"texts": texts}, {"X": corpus.pipeline[:-1].transform(texts)}
    for model, own in zip((corpus.pipeline, corpus.pipeline[-1]), given, strict=True):
        assert sum(len(topic.documents) for topic in report(model, **own).topics) == 2


def test_without_documents_there_are_words_alone(parts):
    model, _, names, _ = parts
    found = report(model, feature_names=names)
    assert not found.has_documents
    assert all(not topic.documents and not topic.n_documents for topic in found.topics)
    assert report(model).words[0] == "0"


def test_some_topics_of_many(parts):
    model = SVBLDA(20, random_state=0).partial_fit(parts[1])
    found = report(model, X=parts[1], n_topics=3, n_words=2)
    assert (len(found.topics), found.n_topics) == (3, 20)
    marks = [topic for one in found.topics for doc in one.documents for topic in doc.topics]
    assert set(marks) <= {-1, 0, 1, 2}
    assert all(0 <= place < 3 for topic in found.topics for place, _ in topic.documents[0].mix)


def test_documents_are_looked_at_some_at_a_time(data, corpus, given, monkeypatch):
    monkeypatch.setattr("streamtopics.report.documents.AT_ONCE", 37)
    again = report(corpus.pipeline, **given)
    assert [topic.documents for topic in again.topics] == [t.documents for t in data.topics]
    for topic, before in zip(again.topics, data.topics, strict=True):
        assert_allclose(topic.shares, before.shares, rtol=1e-5)
    assert again.findings == data.findings


@pytest.mark.parametrize("n", [1, 2])
def test_the_map_of_equal_or_single_topics_is_a_point(n):
    affinity = affinities(np.full((n, 10), 0.1))
    assert_allclose(places(affinity), 0.0, atol=1e-6)
    assert nearest(affinity) == ([[]] if n == 1 else [[1], [0]])


def test_similar_topics_are_the_nearest():
    topics = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.7, 0.2, 0.1]])
    assert [near[0] for near in nearest(affinities(topics))] == [2, 2, 0]


@dataclass(frozen=True)
class Life:
    topic: int
    born: int
    died: int | None
    words: tuple[str, ...]


def test_records_become_tables_the_newest_first(corpus, months):
    times = corpus.times
    alarms = [Alarm(times[8], 1, ["sea", "ship"], 0.01), Alarm(times[200], 2, ["law"], 1e-5)]
    lives = [Life(0, 1, None, ("a",)), {"topic": 4, "born": 3, "died": 9, "words": np.arange(30)}]
    found = report(corpus.pipeline, texts=corpus.texts, times=times, alarms=alarms, tracker=lives)
    (heading, births), (_, rung) = found.tables
    assert heading == "Topics of the stream"
    assert births.columns == ("topic", "born", "died", "words")
    assert births.rows[0] == ("4", "3", "9", "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …")
    assert births.rows[1] == ("0", "1", "", "a")
    assert rung.rows[0] == (str(times[200]), "2", "law", "1e-05")
    marks = [(one.kind, one.first, one.word) for one in found.alarms]
    assert marks == [("alarm", 0, "sea"), ("alarm", 6, "law")]
    assert all("law" in corpus.texts[doc.row].lower() for doc in found.alarms[1].documents)
    assert found.periods[1] == "2020-02"
    wanted = means_by_month(holding("law", corpus), months)
    assert_allclose(found.alarms[1].shares, wanted, rtol=1e-5)


def test_of_records_within_records_a_cell_has_the_first_field(corpus):
    alarm = {"batch": 3, "topics": (Life(4, 2, None, ("a", "b")), Life(5, 1, 9, ())), "rest": {}}
    table = report(corpus.pipeline, alarms=[alarm]).tables[0][1]
    assert table.columns == ("batch", "topics")
    assert table.rows == (("3", "4, 5"),)


def test_many_records_leave_the_last_ones(corpus):
    """A tracker and a monitor are asked for theirs."""
    records = [{"batch": i, "nothing": None} for i in range(500)]
    tracker, monitor = SimpleNamespace(topics=lambda: records), SimpleNamespace(alarms=records)
    tables = report(corpus.pipeline, tracker=tracker, alarms=monitor).tables
    assert [heading for heading, _ in tables] == ["Topics of the stream", "Alarms"]
    for _, table in tables:
        assert table.columns == ("batch",)
        assert (len(table.rows), table.rows[0], table.n_left_out) == (60, ("499",), 440)


def test_a_streaming_pipeline_has_a_report(corpus):
    words = StreamingCountVectorizer(max_features=20, min_df=2)
    pipeline = StreamingPipeline([("words", words), ("topics", StreamingLDA(3, random_state=0))])
    for start in range(0, 240, 60):
        pipeline.partial_fit(corpus.texts[start : start + 60], time=corpus.times[start])
    found = report(pipeline, texts=corpus.texts, times=corpus.times, n_words=3)
    for topic in found.topics:
        assert set(ranked(found, topic, 1.0)) == set(pipeline.top_words(3, relevance=1)[topic.id])
    marks = [mark for topic in found.topics for doc in topic.documents for mark in doc.topics]
    assert -1 in marks
    assert max(marks) >= 0


def test_births_of_the_model_are_shown(parts):
    model = StreamingMixture(5, births=DirichletProcess(), random_state=0)
    for start in range(0, 240, 60):
        model.partial_fit(parts[1][start : start + 60])
    found = report(model, feature_names=parts[2])
    assert found.tables[0][0] == "Births and deaths"
    assert len(found.tables[0][1].rows) == len(model.births_report())
    assert report(parts[0]).tables == []


def test_the_card_names_the_model_and_has_no_address_of_memory(corpus):
    model = StreamingLDA(3, random_state=0, topic_word_prior=lambda words, counts: 0.1)
    model.fit(corpus.pipeline[0].transform(corpus.texts))
    cards = dict(report(model, date="2026-01-31").card)
    said = dict(cards["Model"])["topics"]
    assert said.startswith("StreamingLDA(n_components=3, random_state=0, topic_word_prior=<functi")
    assert " at 0x" not in said
    assert ("Date", "2026-01-31") in cards["Report"]
    assert dict(cards["What it has learnt from"])["Topics"] == "3"
    assert {name for name, _ in cards["Versions"]} >= {"streamtopics", "numpy", "scikit-learn"}
    assert "Report" not in dict(report(model).card)
    told = report(model, intake={"Documents read": "3"}).card
    assert dict(told)["Read and left out"] == [("Documents read", "3")]


def test_scores_are_figures_or_courses(corpus):
    found = report(corpus.pipeline, scores={"one": -6.25, "many": [np.nan, -7, -6.5]}).scores
    assert found == [("one", [-6.25]), ("many", [None, -7.0, -6.5])]


def test_wrong_input_is_named(corpus):
    for wrong, message in (
        ({"texts": ["one"], "times": [1, 2]}, "times must have an entry for each of"),
        ({"texts": ["one"], "titles": ["a", "b"]}, "titles must have an entry for"),
        ({"times": [1]}, "times must have an entry for each of the 0 documents"),
    ):
        with pytest.raises(ValueError, match=message):
            report(corpus.pipeline, **wrong)
    with pytest.raises(ValueError, match="StreamingLDA cannot count words: pass X="):
        report(corpus.pipeline[-1], texts=["sea"])


def test_empty_documents_are_legal():
    model = SVBLDA(2, random_state=0).partial_fit(COUNTS)
    found = report(model, X=COUNTS[:4] * 0, times=[1, 2, 2, 3])
    assert found.n_documents == 4
    assert all(topic.shares == [0, 0, 0] for topic in found.topics)
    assert page(found)
    assert report(model, X=COUNTS[:0]).n_documents == 0


@pytest.mark.parametrize("times", [[None] * 50 + ["2024-01"] * 25 + ["2024-02"] * 25, [None] * 100])
def test_a_report_counts_documents_without_a_time(times):
    groups = ["a"] * 20 + ["b"] * 30 + ["a"] * 30 + ["b"] * 20
    stream = stream_of(times, groups)
    rows = [[one.share for one in stream.shares("group") if one.topic == k] for k in (0, 1)]
    own = report(stream.pipeline_, texts=SEA + SKY, times=times, groups=groups)
    for found in (stream.report(), own):
        assert sorted(topic.n_documents for topic in found.topics) == [40, 60]
        assert dict(zip(found.words, found.holders, strict=True))["sea"] == 40
        assert found.group_sizes == [50, 50]
        for topic in found.topics:
            assert_allclose(topic.by_group, rows[topic.id], rtol=1e-4)


def test_totals_have_their_own_times():
    times = ["2024-01"] * 40 + ["2024-02"] * 60
    stream = stream_of(times)
    given = {"texts": (SEA + SKY)[::2], "totals": stream.totals(), "sampled_from": 100}
    with_times = report(stream.pipeline_, times=times[::2], **given)
    assert report(stream.pipeline_, **given).n_findings == with_times.n_findings > 0


def test_columns_without_a_word_are_on_no_page():
    stream = stream_of(None, K=4)
    shown = stream.partial_fit(SEA).partial_fit(SKY).report()
    assert shown.words
    assert "<free" not in repr((shown.words, shown.tables, shown.alarms))


def test_a_page_counts_what_it_can_show():
    model = StreamingLDA(4, random_state=0).fit(SMALL)
    editing.hide(model, 0)
    shown = report(model, X=SMALL, alarms=[{"time": 2024.7, "n": 12345.5, "share": 0.123456}])
    assert shown.n_topics == len(shown.topics) == 3
    assert shown.tables[0][1].rows == (("2024.7", "12345.5", "0.1235"),)
    shown = report(model, X=SMALL, times=np.arange(40) * 1e7, alarms=[{"time": 1.5e8}])
    assert len(shown.alarms) == 1


def test_a_report_reads_columns_by_their_names():
    frame = pd.DataFrame(SMALL, columns=[*"abcd"])
    model = StreamingLDA(2, random_state=0).fit(frame)
    assert report(model, X=frame).n_documents == len(frame)
    for read in (partial(report, model), partial(CoherenceScorer(n_words=2), model)):
        with pytest.raises(ValueError, match="feature names should match"):
            read(X=frame[[*"badc"]])


def test_rows_of_living_topics_are_those_of_the_model():
    rng, model = np.random.default_rng(0), HDPVarGibbs(8, random_state=0)
    for t in range(24):
        p = np.full((3, 200), 0.002)
        for j in range(3):
            p[j, ((t // 8 * 3 + j) * 12 + np.arange(12)) % 200] = 1
        model.partial_fit(
            np.array([rng.multinomial(25, p[i % 3] / p[i % 3].sum()) for i in range(25)])
        )
    [(_, table)] = report(model).tables
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    living = {int(one["topic"]): int(one["row"]) for one in rows if one["row"] != "-1"}
    assert all(model.topic_ids_[row] == number for number, row in living.items())
    assert len(rows) > len(living) > 0


def test_thousands_of_documents_without_a_time_may_come_first():
    X = sparse.csr_matrix(np.tile(SMALL[:2], (4120, 1)))
    model = StreamingLDA(2, random_state=0).fit(X[:40])
    assert report(model, X=X, times=[None] * 8192 + [2001] * 48).periods == ["2001"]
