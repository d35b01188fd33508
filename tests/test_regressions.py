# SPDX-License-Identifier: BSD-3-Clause
"""Defects that readers of the code found, each with the smallest call that showed it."""

import json
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from datetime import UTC, date, datetime
from tracemalloc import get_traced_memory, start, stop

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer

import streamtopics as st
from streamtopics import editing
from streamtopics.cli import main
from streamtopics.cli.console import _cells
from streamtopics.datasets import make_lda_corpus, make_rated_reviews, read_records
from streamtopics.distributed import fit_partitions, transform_partitions
from streamtopics.dpp import Items
from streamtopics.estimators import Schedule
from streamtopics.inspection import documents_of, plot_scores, plot_shares, shares_over_time
from streamtopics.inspection.n_components import matched_kappa
from streamtopics.local import Gibbs, OneTopic
from streamtopics.messages import Statistics
from streamtopics.metrics import topic_coherence, unlike_known
from streamtopics.models import BetaBinomial, GaussianMixture
from streamtopics.priors import seed_prior
from streamtopics.report import report
from streamtopics.streams import DriftMonitor, ScoreHistory, TimedBatch, TopicTracker, stream
from streamtopics.text import (
    NamedCounts,
    Phrases,
    StreamingCountVectorizer,
    StreamingPipeline,
    mark_negations,
)
from streamtopics.updates import MeanDecay, OnlineEM, Shares, Window
from streamtopics.was import HDPFranchise
from streamtopics.was.corpus import SentenceCorpus
from streamtopics.was.sampler import SamplerState, SentenceSampler

SEA, SKY = ["ship sea sail wind mast"] * 40, ["sun sky star moon cloud"] * 60
COUNTS = np.array([[4, 0, 1, 0], [0, 3, 0, 2]] * 20)
RATED = make_rated_reviews(300, n_features=60, n_components=3, random_state=0)
EDGES = [np.array([[3, 2, 0], [0, 1, 2]]), np.array([[0, 2, 3]])] * 5


def stream_of(times, groups=None, K=2):
    stream = st.TopicStream(K, random_state=0)
    return stream.partial_fit(SEA + SKY, times=times, groups=groups)


def test_the_first_of_january_is_a_date_of_its_stream():
    stream, days = st.TopicStream(2, random_state=0), ["2023-12-31", "2024-01-01", "2024-01-02"]
    for day in days:
        stream.partial_fit(SEA + SKY, times=[day] * 100)
    assert sorted({one.time for one in stream.documents}) == days
    assert stream.report().periods == days


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


def test_shares_over_time_reads_times_together():
    model = st.StreamingLDA(2, random_state=0).fit(COUNTS)
    for times in ([50_000_000, 150_000_000, 250_000_000], [0, 20000101, 40000000]):
        assert shares_over_time(model, COUNTS[:3], times).times == times
    days = shares_over_time(model, COUNTS[:2], [20240102, 20240101]).times
    assert days == [datetime(2024, 1, 1), datetime(2024, 1, 2)]


def test_totals_have_their_own_times():
    times = ["2024-01"] * 40 + ["2024-02"] * 60
    stream = stream_of(times)
    given = {"texts": (SEA + SKY)[::2], "totals": stream.totals(), "sampled_from": 100}
    with_times = report(stream.pipeline_, times=times[::2], **given)
    assert report(stream.pipeline_, **given).n_findings == with_times.n_findings > 0


def test_the_tracker_knows_the_time_of_a_corpus():
    stream = st.TopicStream(2).fit(SEA + SKY, times=["2024-05-01"] * 40 + ["2024-06-01"] * 60)
    for month in (7, 8, 9):
        stream.partial_fit(SEA + SKY, times=[f"2024-0{month}-01"] * 100)
    assert stream.tracker_.news("2024-08-01") is not None


# Edits and reports


def test_columns_without_a_word_are_on_no_page():
    shown = stream_of(None, K=4).report()
    assert shown.words
    assert not any(word.startswith("<free") for word in shown.words)


def test_an_edit_that_cannot_be_done_is_skipped():
    model, other = (st.StreamingLDA(2, random_state=0).fit(COUNTS) for _ in range(2))
    edits = [editing.rename(other, 0, "sea"), editing.exclude(other, 1, [2])]
    edits.insert(1, editing.Edit("split", (1,), (other.edits_[1].leading[0],), n=2))
    results = editing.apply_edits(model, edits, X=np.ones((50, 9)))
    assert [bool(one.refused) for one in results] == [False, True, False]


def test_a_pipeline_of_merged_topics_goes_on_as_a_stream():
    stream = st.TopicStream(3, random_state=0).fit(SEA + SKY)
    editing.merge(stream, [0, 1])
    again = st.TopicStream.from_pipeline(stream.pipeline_).partial_fit(SEA + SKY)
    editing.rename(again, 0, "all")
    assert again.add_documents(SKY).totals().n.sum() == 160


# Rules


def test_a_delayed_mean_merges_by_what_is_remembered():
    base = st.StreamingLDA(1, update=OnlineEM(MeanDecay(0.5, 10)), inference="variational")
    rng, first = np.random.default_rng(0), None
    for p in [[0.5, 0.3, 0.2]] * 20 + [[0.1, 0.3, 0.6]] * 40:
        first = deepcopy(base) if p[0] == 0.5 else first
        base.partial_fit(rng.multinomial(200, p, size=50))
    merged = deepcopy(base).merge(deepcopy(base), base=first)
    assert_allclose(merged.topic_word_, base.topic_word_, atol=0.01)
    assert st.StreamingLDA(update=OnlineEM(MeanDecay(1.0, 10)))._composed().traits.merges == "mean"


def test_a_window_holds_its_minibatches_alone():
    X = make_lda_corpus(n_documents=1200, n_features=100, random_state=0).X
    step = Gibbs(5, rounding=0.3)
    model = st.StreamingLDA(50, update=Window(2), inference=step, start="noise", random_state=0)
    named = NamedCounts.of(X, np.array([f"w{i}" for i in range(100)], dtype=object))
    seeds = {"a": ["w0"], "b": ["w1"]}
    guided = st.GuidedTopics(seeds, update=Window(2), max_count=None, random_state=0)
    for i in range(0, 1200, 100):
        model.partial_fit(X[i : i + 100])
        guided.partial_fit(named[i : i + 100])
        for one in (model, guided):
            assert_allclose(one.posterior_.learnt_part.sum(), X[max(0, i - 100) : i + 100].sum())


def test_many_topics_of_an_hdp_are_not_kept_in_lists():
    X = make_lda_corpus(n_documents=60, n_features=50, random_state=0).X
    assert st.HDPGibbsOnlineEM(2000, random_state=0).fit(X).n_topics_ > 1


def test_documents_of_an_unnamed_topic_without_words_have_probabilities():
    rng, centres = np.random.default_rng(0), np.linalg.qr(np.ones((384, 1)), "complete")[0].T[1:4]
    k, names = rng.integers(3, size=300), np.array([f"w{i}" for i in range(18)], dtype=object)
    vectors = centres[k] + 0.03 * rng.normal(size=(300, 384))
    X = rng.poisson(np.kron(np.eye(3), np.full(6, 3.0))[k])
    guided = st.GuidedTopics(
        {"a": ["w0"], "b": ["w6"]}, 1, name_vectors={"a": centres[0], "b": centres[1]},
        inference=OneTopic(1.0, 0.3), random_state=0,
    )  # fmt: skip
    guided.fit(NamedCounts.of(sparse.csr_matrix(X), names), vectors=vectors)
    nothing = NamedCounts.of(sparse.csr_matrix((300, 18), dtype=int), names)
    assert_allclose(guided.predict_proba(nothing, vectors=vectors).sum(axis=1), 1, rtol=1e-6)


# Sentences, sets and reviews


@pytest.mark.parametrize(
    "model",
    [
        st.WASTopicModel(2, n_sweeps=4, n_burn_in=2, random_state=0),
        st.LowRankDPP(n_components=2, max_iter=2, random_state=0),
        st.AspectSentimentModel(2, random_state=0),
    ],
)
def test_an_iterator_is_fitted_and_transformed(model):
    assert_array_equal(model.fit_transform(iter(EDGES)), model.fit_transform(EDGES))


def test_summaries_of_an_iterator_and_of_many_sentences():
    texts = ["A storm hit the coast. We stayed in."] * 3
    summarizer = st.DPPSummarizer(n_words=15)
    assert summarizer.fit_transform(iter(texts)).tolist() == summarizer.transform(texts).tolist()
    start()
    summarizer.digest([[f"word{i} of this"] for i in range(3000)])
    peak = get_traced_memory()[1]
    stop()
    assert peak < 3000 * 3000 * 8 / 2


def test_all_items_may_be_given():
    X = (np.random.default_rng(0).random((200, 4)) < 0.5).astype(float)
    for ground_set in ("items", Items.of(4)):
        model = st.LowRankDPP(ground_set, 2, random_state=0, max_iter=5).fit(X)
        assert all(one.nnz == 0 for one in model.sample(2, given=[0, 1, 2, 3], random_state=0))


class TwoDishes(HDPFranchise):
    """A document has at most two dishes."""

    def join_dish(self, n_tables):
        return n_tables + 1.0

    def open_dish(self, n_tables, n_dishes):
        return np.maximum(2.0 - n_dishes, 0.0)


def test_a_long_sentence_keeps_its_choice_where_no_dish_may_be_new():
    n, found, franchise = 900, [], TwoDishes(1e-3)
    words, dishes = (np.repeat(ids, n).astype(np.int32) for ids in ([0, 1, 2], [0, 1, 1]))
    corpus, first = SentenceCorpus(words, np.arange(4) * n, np.array([0, 3])), words * np.int32(n)
    for seed in np.arange(40, dtype=np.uint64):
        sampler, begun = SentenceSampler(franchise, 1e-3), SamplerState(words, first, dishes)
        how = {"n_sweeps": 1, "n_averaged": 1, "state": begun}
        done = sampler.fold_in(corpus, np.full((3, 3), 1e-9) + np.eye(3), np.array([seed]), **how)
        found.append(int(done.state.dish[n]))
    assert 5 <= found.count(0) <= 35


@pytest.mark.parametrize("qualitative", [False, True])
def test_reviews_without_words_end_no_round_earlier(qualitative):
    more = sparse.vstack([RATED.X, sparse.csr_matrix((300, 60), dtype=RATED.X.dtype)], format="csr")
    model = st.RatingLDA(3, qualitative=qualitative, learn_priors=True, random_state=0)
    each = [deepcopy(model).fit(X, np.resize(RATED.ratings, X.shape[0])) for X in (RATED.X, more)]
    assert each[0].n_iter_ == each[1].n_iter_
    assert_allclose(each[0].objective_, each[1].objective_, rtol=1e-5)


def test_explicit_zeros_and_lists_are_counts():
    class Theirs:
        components_ = np.array([[1.0, 1, 0, 0], [1, 1, 0, 0]])

        def transform(self, X):
            return np.full((X.shape[0], 2), 0.5)

    known = sparse.csr_matrix(np.array([[2.0, 3, 0, 0]] * 30))
    zero = sparse.csr_matrix(([2.0, 3, 0], [0, 1, 2], [0, 3]), shape=(1, 4))
    for each in (known, sparse.vstack([known, zero])):
        assert unlike_known(Theirs(), np.array([[0, 0, 1.0, 5]]), each, 0.1).tolist() == [True]
    model = LatentDirichletAllocation(2, random_state=0).fit(COUNTS)
    known, new = COUNTS[5:], COUNTS[:3]
    found = unlike_known(model, new.tolist(), known.tolist(), 0.1)
    assert_array_equal(found, unlike_known(model, new, known, 0.1))


# Texts, files and workers


def test_a_phrase_spelled_like_a_word_has_its_column():
    texts = ["credit|card|yak|zebra"] * 30 + ["credit card|zebra|apple|yak"] * 5 + ["apple|bee"] * 5
    words = StreamingCountVectorizer(
        tokenizer=lambda text: text.split("|"), token_pattern=None, phrases=Phrases(min_count=5)
    )
    X = words.fit_transform(texts)
    names = words.get_feature_names_out().tolist()
    assert len(names) == len(set(names))
    assert X[:, names.index("credit card")].sum() == 35
    assert_array_equal(X.toarray(), words.transform(texts).toarray())


def test_words_of_a_rare_phrase_keep_their_columns():
    words = StreamingCountVectorizer(min_df=7, phrases=Phrases(min_count=3, min_npmi=-1))
    texts = ["credit card"] * 6 + ["credit"] * 4
    assert words.fit(texts).get_feature_names_out().tolist() == ["credit"]


def test_rows_after_an_unreadable_line_have_their_own_number(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\n1,ok\n2,\xe9\xe9\n3,third\n4,"of\ntwo"\n5,last\n')
    found = [(one.fields["id"], one.line) for one in read_records(path, keys=["id"], on_bad="skip")]
    assert found == [("1", 2), ("3", 4), ("4", 5), ("5", 7)]


def test_unknown_values_of_kept_fields_are_null(tmp_path, capsys):
    st.save(st.TopicStream(2).fit(SEA + SKY), tmp_path / "m")
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "the sun", "score": NaN}\n{"text": "the sea", "score": 2}\n')
    assert main(["apply", str(tmp_path / "m"), str(path), "--keep", "score"]) == 0
    assert [json.loads(row)["score"] for row in capsys.readouterr().out.splitlines()] == [None, 2]


def test_signed_numbers_of_a_table_are_no_formulas():
    cells = _cells(["-0.5", "+3", "-1e-3", "=1", "-1+cmd", "@x", "-"])
    assert cells == "-0.5,+3,-1e-3,'=1,'-1+cmd,'@x,'-\n"


def test_a_page_counts_what_it_can_show():
    model = st.StreamingLDA(4, random_state=0).fit(COUNTS)
    editing.hide(model, 0)
    shown = report(model, X=COUNTS, alarms=[{"time": 2024.7, "n": 12345.5, "share": 0.123456}])
    assert shown.n_topics == len(shown.topics) == 3
    assert shown.tables[0][1].rows == (("2024.7", "12345.5", "0.1235"),)


def test_rows_of_living_topics_are_those_of_the_model():
    rng, model = np.random.default_rng(0), st.HDPVarGibbs(8, random_state=0)
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


def test_a_phrase_of_every_document_gets_its_column_in_a_stream():
    rng, fill = np.random.default_rng(0), [f"w{i}" for i in range(300)]
    parts = [[" ".join(rng.choice(fill, 6)) for _ in range(3)] for _ in range(1000)]
    texts = [", credit card, ".join(own) for own in parts]
    words = StreamingCountVectorizer(max_features=400, phrases=True, half_life=None)
    for i in range(0, 1000, 200):
        words.partial_fit(texts[i : i + 200])
    assert 800 <= words.document_frequency_[words.vocabulary_["credit card"]] <= 1000


def test_split_reads_columns_by_their_names():
    frame = pd.DataFrame(COUNTS, columns=[*"abcd"])
    model = st.StreamingLDA(2, random_state=0).fit(frame)
    with pytest.raises(ValueError, match="feature names should match"):
        editing.split(model, 0, frame[[*"dabc"]])


def test_splits_share_documents_of_an_iterator():
    words = ("ship sea sail", "sun sky star", "apple pear plum", "iron zinc lead")
    texts = [text for text in words for _ in range(60)]
    model, edited = (st.TopicStream(4, random_state=0).fit(texts) for _ in range(2))
    edits = [editing.merge(edited, [0, 1]), editing.merge(edited, [1, 2])]
    edits += [editing.split(edited, k, texts) for k in (0, 1)]
    assert not any(one.refused for one in editing.apply_edits(model, edits, X=iter(texts)))


def test_a_word_may_be_called_text():
    frame = pd.DataFrame(COUNTS, columns=["text", *"bcd"])
    with ThreadPoolExecutor(1) as client:
        model = fit_partitions(st.SVBLDA(2, random_state=0), [frame], client)
        [shares] = transform_partitions(model, [frame], client)
    assert_array_equal(shares, model.transform(frame))


@pytest.mark.parametrize(
    "since", ["2024-03-15", date(2024, 3, 15), datetime(2024, 3, 15, 0, 0, 0, 0, UTC)]
)
def test_news_since_any_date(since):
    stream = st.TopicStream(2, random_state=0)
    for month in range(1, 6):
        times = None if month == 2 else [f"2024-0{month}-01"] * 100
        stream.partial_fit(SEA + SKY, times=times)
    assert stream.tracker_.news(since) == stream.tracker_.news(datetime(2024, 3, 1))


def test_topics_born_at_time_zero():
    tracker, model = TopicTracker(), st.StreamingLDA(2, random_state=0)
    stream(model, [TimedBatch(COUNTS, i) for i in range(3)], callbacks=[tracker])
    assert [row[2] for row in tracker._table()[2]] == [0, 0]


def test_arrow_lists_and_lists_of_seeds():
    tokens = [["the", "ship", "at", "sea"], ["a", "law", "of", "the", "sea"]]
    pairs, arrow = [["ship", "sea"]], pytest.importorskip("pyarrow").array(tokens)
    assert topic_coherence(pairs, arrow, window=3) == topic_coherence(pairs, tokens, window=3)
    found = seed_prior([["ship"], ["plane"]], ["plane", "ship", "sun"], 5.0, base=0.5)
    assert found.tolist() == [[0.5, 5.5, 0.5], [5.5, 0.5, 0.5]]


def test_a_beginning_learnt_anew_counts_its_parts():
    X = make_lda_corpus(n_documents=1500, n_features=100, mean_length=30, random_state=0).X
    odd, found = np.zeros((10, 100), int), []
    odd[:, 0] = 30
    for n in (0, 5000):
        schedule = Schedule(n_start_rounds=10, n_start_documents=n)
        model = st.GibbsOnlineEM(5, schedule=schedule, random_state=0).partial_fit(X)
        found.append(model.partial_fit(odd).components_[:, 0].sum() / model.components_.sum())
    assert_allclose(found[0], found[1], rtol=0.2)


def test_averages_keep_the_vectors():
    rng, k = np.random.default_rng(0), np.arange(600) % 2
    vectors = np.eye(3)[k] + 0.05 * rng.normal(size=(600, 3))
    X = rng.poisson(np.array([[2, 2, 0.1, 0.1], [0.1, 0.1, 2, 2]])[k])
    model = st.StreamingMixture(2, schedule=Schedule(averaging="uniform"), random_state=0)
    shares = model.fit(X, vectors=vectors).transform(0 * X, vectors=vectors)
    assert abs((shares.argmax(axis=1) == k).mean() - 0.5) > 0.45


def test_unused_topics_take_no_more_of_alpha_than_the_floor():
    shares, none = np.eye(1, 1000)[0], np.zeros(0, np.int32)
    told = Statistics(none, np.zeros((0, 1000)), np.ones(9), shares=shares)
    alpha, memory = np.full(1000, 1e-3), None
    for t in range(50):
        alpha, memory = Shares().step(alpha, memory, told, t)
    assert_allclose([alpha.sum(), alpha[0]], [1, 0.99001])


def test_steps_are_parts_of_minibatches(recwarn):
    X = make_lda_corpus(n_documents=2400, n_features=60, random_state=0).X
    st.StreamingLDA(5, start="noise", max_iter=1, random_state=0).fit(X)
    assert not [one for one in recwarn if "fewer than" in str(one.message)]


def test_minibatches_without_a_word_stay_recorded():
    model = st.StreamingLDA(2, update="power_prior", random_state=0)
    model.partial_fit(0 * COUNTS, time="mon").partial_fit(COUNTS, time="tue")
    assert [one.time for one in model.drift_] == ["mon", "tue"]


def test_scores_weigh_whole_minibatches_beside_a_monitor():
    batches, history = np.random.default_rng(0).poisson(1.0, (8, 60, 20)), ScoreHistory()
    stream(st.GibbsOnlineEM(2), [*batches], callbacks=[history, DriftMonitor()])
    assert [(one.n_documents, one.n_tokens) for one in history.rows] == [
        (60, X.sum()) for X in batches
    ]


def test_new_words_do_not_end_the_beginning():
    words = StreamingCountVectorizer(max_features=40)
    topics = st.StreamingMixture(2, schedule=Schedule(n_start_documents=999), random_state=0)
    model = StreamingPipeline([("words", words), ("topics", topics)])
    for i in range(4):
        model.partial_fit([f"{text} new{i}" for text in SEA + SKY])
    assert topics._commit.begun.n_documents == 400
    topics.forget_words([words.vocabulary_["sea"]])
    assert topics._commit.begun.n_tokens == 400 * 6 - 160


def test_periods_of_numbers_begin_at_any_number():
    times = np.repeat(np.arange(-1, 11), 50)
    for step, first in ((600, 0), (50, 50)):
        found = st.TopicStream(2).partial_fit(SEA[:1] * 50 * bool(first), times=[0] * first)
        for i in range(0, 600, step):
            found.partial_fit(SKY[:1] * step, times=times[i : i + step])
        assert [one.label for one in found.totals().periods] == [str(i) for i in range(-1, 11)]


def test_thousands_of_documents_without_a_time_may_come_first():
    X = sparse.csr_matrix(np.tile(COUNTS[:2], (4120, 1)))
    model = st.StreamingLDA(2, random_state=0).fit(X[:40])
    assert report(model, X=X, times=[None] * 8192 + [2001] * 48).periods == ["2001"]


def test_a_corpus_without_times_ends_where_the_stream_begins():
    found = st.TopicStream(2).fit((SEA + SKY) * 20)
    for _ in range(5):
        found.partial_fit(SEA + SKY)
    n = found.totals().n.sum(axis=1)
    assert len(n) > 10
    assert (n > 0).all()


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


def test_labels_of_a_series_are_by_position():
    pytest.importorskip("matplotlib")
    months = pd.Series(["a", "b", "c"], index=[5, 6, 7])
    assert plot_shares(months, np.full((3, 2), 0.5), ["x", "y"]) is not None


def test_points_of_a_process_have_names_of_columns():
    frame = pd.DataFrame(COUNTS, columns=[*"abcd"])
    process = st.LowRankDPP(n_components=2, random_state=0, max_iter=2).fit([frame[:3], frame[3:]])
    with pytest.raises(ValueError, match="feature names should match"):
        process.marginals(frame[[*"dcba"]])


def test_a_quality_knows_the_columns_of_the_vectorizer():
    docs = ["The soup was hot. The bus was late.", "The waiter was kind. It rained."]
    liked = np.where(CountVectorizer().fit(docs).get_feature_names_out() == "waiter", 2.0, 1.0)
    how = {"vectorizer": CountVectorizer(), "quality": lambda sentences, X: X @ liked}
    found = st.DPPSummarizer(1, **how).fit(docs).transform(docs)
    assert found[1] == ["The waiter was kind."]


@pytest.mark.filterwarnings("error")
def test_ratings_without_texts_warn_of_no_names():
    frame = pd.DataFrame(RATED.X.toarray(), columns=[f"w{i}" for i in range(60)])
    given = {"items": RATED.item, "users": RATED.user}
    model = st.HiddenFactorsTopics(3, random_state=0, max_iter=3).fit(frame, RATED.ratings, **given)
    assert len(model.recommend(RATED.user[0], 1)) == 1


def test_components_of_a_first_sample_come_apart():
    rng = np.random.default_rng(0)
    X = rng.permutation(np.concatenate([rng.normal(c, 0.3, (100, 1)) for c in (-6, 0, 6)]))
    model = st.StreamingBayes(GaussianMixture(3), random_state=0).partial_fit(X[:1])
    for i in range(1, 300, 10):
        model.partial_fit(X[i : i + 10])
    assert len(np.unique(model.posterior_["weights"])) == 3


def test_a_pipeline_has_no_words_of_free_columns():
    words = StreamingCountVectorizer(max_features=40)
    topics = st.StreamingLDA(2, random_state=0)
    model = StreamingPipeline([("words", words), ("topics", topics)]).partial_fit(SEA + SKY)
    assert all(len(own) > 4 and "<free" not in " ".join(own) for own in model.top_words(12))


def test_topics_with_labels_alone_need_no_names_of_columns():
    model = st.GuidedTopics({"a": [], "b": []}, random_state=0).fit(COUNTS, ["a", "b"] * 20)
    assert model.predict(COUNTS[:2]).tolist() == ["a", "b"]


@pytest.mark.parametrize(("n", "kind"), [(1, "uniform"), (2, "linear")])
def test_averages_of_a_window_are_means_of_its_topics(n, kind):
    rng, found, schedule = np.random.default_rng(0), [], Schedule(averaging=kind)
    how = {"inference": "variational", "random_state": 0}
    model = st.StreamingLDA(2, update=Window(n), schedule=schedule, **how)
    for _ in range(6):
        found.append(model.partial_fit(rng.poisson(0.5, (30, 40))).posterior_.dense().T.copy())
    weights = np.ones(6) if kind == "uniform" else np.arange(1, 7)
    assert_allclose(model.components_, np.average(found, axis=0, weights=weights))
    bayes = st.StreamingBayes(BetaBinomial(), Window(n))
    for _ in range(4):
        bayes.partial_fit(rng.random((100, 1)) < 0.5)
    assert bayes.retention_history_.ravel().tolist() == [1, 1 - (n == 1), 1 - 1 / n, 1 - 1 / n]


def test_documents_held_out_by_fit_have_no_later_time(tmp_path, capsys):
    rows = [{"text": text, "id": i % 3} for i, text in enumerate(SEA * 9 + SKY * 6)]
    path, model = tmp_path / "c.jsonl", str(tmp_path / "m")
    path.write_text("\n".join(map(json.dumps, rows)))
    how = ["--group-key", "id", "--quiet", "--max-share", "1", "--model", model]
    assert main(["fit", str(path), "--topics", "2", *how]) == 0
    assert len(st.load(model).totals().periods) == 1
    assert not st.load(model).findings()


def test_a_bad_line_with_one_quotation_mark_loses_no_other_rows(tmp_path):
    path = tmp_path / "mix.csv"
    rows = b"".join(b"%d,plain %d\n" % (i, i) for i in range(3, 103))
    path.write_bytes(b'id,text\n1,"good\nstart"\n2,"two lines\nol\xe9"\n' + rows)
    assert len(list(read_records(path, on_bad="skip"))) == 102


def test_kept_fields_are_json_and_clash_with_none(tmp_path, capsys):
    st.save(st.TopicStream(2).fit(SEA + SKY), tmp_path / "m")
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "sun", "x": Infinity, "n": {"v": NaN}, "topics": ["a"], "line": 7}\n')
    assert main(["apply", str(tmp_path / "m"), str(path), "--keep", "x,n,topics,line"]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["x"], row["n"], row["kept_topics"], row["kept_line"]) == (
        None,
        {"v": None},
        ["a"],
        7,
    )
    assert row["line"] == 1


def test_a_negation_ends_with_its_paragraph():
    assert (
        mark_negations("Certainly not\n\nGreat camera, not\ngood")
        == "certainly not\n\ngreat camera, notgood"
    )


def test_one_topic_agrees_with_itself_by_chance_alone():
    assert {matched_kappa(np.zeros(n, int), np.zeros(n, int)) for n in range(1, 700)} == {0.0}


def test_scores_are_drawn_at_the_documents_seen():
    pytest.importorskip("matplotlib")
    history, model = ScoreHistory(), st.SVBLDA(2, random_state=0)
    stream(model, [COUNTS], callbacks=[history])
    assert plot_scores(history.rows).lines[0].get_xdata().size == 0
    stream(model, [COUNTS] * 2, callbacks=[history])
    assert plot_scores(history.rows).lines[0].get_xdata().tolist() == [80, 120]


def test_a_search_among_no_documents_finds_none():
    model = st.StreamingLDA(2, random_state=0).fit(COUNTS)
    assert all(len(one) == 0 for one in documents_of(model, COUNTS[:0]))


def test_a_name_that_is_refused_is_not_offered():
    with pytest.raises(TypeError, match="update must be") as caught:
        st.HDPGibbsOnlineEM(update="power_prior").fit(COUNTS)
    assert str(caught.value).count("power_prior") == 1
