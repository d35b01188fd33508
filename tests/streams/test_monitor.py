# SPDX-License-Identifier: BSD-3-Clause
"""The alarm: its exact layer, its chart, what it names, and the monitor along a stream."""

import pickle
import re
import tracemalloc
from itertools import combinations
from math import comb
from unittest import mock

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import FunctionTransformer

import streamtopics as st
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators import Schedule
from streamtopics.streams import Alarm, Checkpointer, DriftMonitor, resume, stream
from streamtopics.streams.monitoring import monitor as monitor_module
from streamtopics.streams.monitoring import statistics
from streamtopics.streams.monitoring.alarm import NewWord, changed_topics, new_words
from streamtopics.streams.monitoring.monitor import FAMILY, TIMES
from streamtopics.streams.monitoring.statistics import (
    N_CANDIDATES,
    BlockFeatures,
    Comparison,
    block_features,
    blocks,
    chart_p,
    compare,
    dispersed,
    permuted,
)
from streamtopics.text import NamedCounts, StreamingCountVectorizer, StreamingPipeline
from streamtopics.updates import DirichletProcess
from tests.interrupts import alarm_after
from tests.saving.state import parts_of

OLD = make_lda_corpus(n_documents=960, n_features=150, random_state=0).X
NEW = make_lda_corpus(n_documents=360, n_features=150, random_state=7).X
BATCHES = [OLD[i : i + 120] for i in range(0, 960, 120)]
AFTER = [NEW[i : i + 120] for i in range(0, 360, 120)]
STREAM = [*BATCHES, *AFTER]
MODELS = {
    "gibbs": lambda: st.GibbsOnlineEM(4, schedule=Schedule(n_start_rounds=2), random_state=0),
    "variational": lambda: st.VariationalOnlineEM(4, random_state=0),
    "default": lambda: st.StreamingLDA(4, random_state=0),
    "mixture": lambda: st.StreamingMixture(4, random_state=0),
    "births": lambda: st.StreamingMixture(20, births=DirichletProcess(), random_state=0),
    "hdp": lambda: st.HDPGibbsOnlineEM(4, random_state=0),
}


def taught(model, monitor, batches):
    for X in batches:
        monitor.learn(model, X)
    return model


def state(*both):
    """The bits of everything that goes on from here, of the model and the monitor."""
    return parts_of(both)


@pytest.mark.parametrize("name", MODELS)
def test_features_are_those_of_plain_loops(name):
    model = MODELS[name]()
    for X in BATCHES[:3]:
        model.partial_fit(X)
    X = sparse.vstack([BATCHES[3][:50], BATCHES[4]], format="csr")
    found = block_features(model, X, 50, np.random.default_rng(0))
    block, n_new, n_blocks = blocks(50, 120, np.random.default_rng(0))
    assert found.n_new == n_new
    phi = model._topics_of(np.arange(150, dtype=np.int32))[model._n_hidden :]
    phi[model.doc_topic_prior_ == 0] = 0
    use, surprise = np.full((2, n_blocks, len(phi)), 1e-99)
    lengths, words = np.zeros(n_blocks), np.zeros((n_blocks, 150))
    for d, row in enumerate(X.toarray()):
        own = np.flatnonzero(row)
        for w in own if block[d] >= 0 else ():
            k = phi[:, w].argmax()
            use[block[d], k] += 1 / np.sqrt(len(own))
            surprise[block[d], k] -= np.log(phi[k, w]) / np.sqrt(len(own))
            lengths[block[d]] += 1 / np.sqrt(len(own))
            words[block[d], w] += 1
    shares, means = use.sum(axis=0) / lengths.sum(), surprise.sum(axis=0) / use.sum(axis=0)
    assert_allclose(found.use, use - shares * lengths[:, None], atol=1e-9)
    assert_allclose(found.surprise, surprise - means * use, atol=1e-9)
    assert_array_equal(found.words, words[:, words.sum(axis=0) >= 5])


@pytest.mark.parametrize(("n_new", "n_before"), [(120, 192), (1000, 1600), (3, 40), (1, 1), (9, 2)])
def test_blocks_are_of_one_size_and_of_new_or_earlier_documents(n_new, n_before):
    """Else the labels of blocks were not exchangeable where those of documents are."""
    block, n_new_blocks, n_blocks = blocks(n_new, n_before, np.random.default_rng(0))
    used = block[block >= 0]
    size = np.bincount(used)
    assert len(size) == n_blocks
    assert (size == size[0]).all()
    assert (block[:n_new] < n_new_blocks).all()
    assert set(block[n_new:]) - {-1} == set(range(n_new_blocks, n_blocks))
    assert len(block) - len(used) <= 2 * (size[0] - 1)
    assert min(n_new_blocks, n_blocks - n_new_blocks) >= min(n_new, n_before, 8)


def test_linear_features_have_no_ratio_left():
    """Documents that are alike in all but their length have features of 0."""
    model = MODELS["variational"]().partial_fit(BATCHES[0]).partial_fit(BATCHES[1])
    X = sparse.vstack([BATCHES[2][:1]] * 40, format="csr").multiply(1 + np.arange(40)[:, None] % 3)
    found = block_features(model, X.tocsr(), 15, np.random.default_rng(0))
    assert_allclose(found.use, 0.0, atol=1e-10)
    assert_allclose(found.surprise, 0.0, atol=1e-10)


def standard(values):
    sd = values.std(axis=0, ddof=1)
    varies = sd > 1e-9 * np.abs(values).max(axis=0, initial=0.0)
    return np.where(varies, (values - values.mean(axis=0)) / np.where(varies, sd, 1.0), 0.0)


def prepared(surprise, use, words):
    """Columns of each kind, cut and standardised."""
    cut = [standard(np.clip(standard(part), -3, 3)) for part in (surprise, use)]
    return [*cut, standard(words)]


def without_difference(columns, new):
    return columns - np.where(new[:, None], columns[new].mean(axis=0), columns[~new].mean(axis=0))


def t(columns, new):
    root = np.sqrt(1 / new.sum() + 1 / (~new).sum())
    return (columns[new].mean(axis=0) - columns[~new].mean(axis=0)) / root


def three(of_surprise, of_use, of_words):
    of_words = np.sort(np.maximum(of_words, 0.0))[::-1][:8]
    squares = np.maximum(of_surprise, 0.0) ** 2, of_use**2, of_words**2
    return np.sqrt([part.sum() for part in squares])


def twin(surprise, use, words, new):
    """The statistics of one labelling, by the formulas."""
    return three(*(t(columns, new) for columns in prepared(surprise, use, words)))


def tiny(seed, n=8, n_topics=3, n_words=12):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(1.0, (n, n_words))
    return rng.standard_t(3, (n, n_topics)), rng.standard_t(3, (n, n_topics)), counts


def compared(surprise, use, words, labels):
    """The comparison under these labels."""
    features = BlockFeatures(int(labels[0].sum()), surprise, use, words)
    with mock.patch.object(statistics, "permuted", return_value=labels):
        return compare(features, len(labels) - 1, np.random.default_rng(0))


def all_labellings(n_new, n):
    rows = [np.isin(np.arange(n), chosen) for chosen in combinations(range(n), n_new)]
    return np.array(rows)


@pytest.mark.parametrize("seed", range(5))
def test_the_exact_layer_by_full_enumeration(seed):
    features, rows = tiny(seed), all_labellings(3, 8)
    new, every = rows[0], np.array([twin(*features, row) for row in rows])
    found = compared(*features, np.vstack([rows[:1], rows]))
    as_large = (every >= every[0] - 1e-9 * np.abs(every[0])).sum(axis=0)
    assert_allclose(found.p, (1 + as_large) / (1 + len(rows)), rtol=1e-12)
    # In standard deviations within the two groups.
    columns = prepared(*features)
    inner = [without_difference(own, new) for own in columns]
    parts = zip(columns, inner, strict=True)
    difference = [t(own, new) / rest.std(axis=0, ddof=1) for own, rest in parts]
    usual = np.array([three(*(t(standard(own), row) for own in inner)) for row in rows])
    z = (three(*difference) - usual.mean(axis=0)) / usual.std(axis=0)
    assert_allclose(found.z, z, rtol=1e-9)
    assert_allclose(found.surprise, difference[0], rtol=1e-9)
    assert_allclose(found.use, difference[1], rtol=1e-9)


def test_relabellings_are_drawn_from_all_of_them():
    """By chi-square over all 56; a false failure in a thousand."""
    labels = permuted(3, 5, 5600, np.random.default_rng(0))
    assert_array_equal(labels[0], np.arange(8) < 3)
    assert (labels.sum(axis=1) == 3).all()
    counts = np.unique(labels[1:] @ (1 << np.arange(8)), return_counts=True)[1]
    assert len(counts) == 56
    assert stats.chisquare(counts).pvalue > 1e-3


def test_many_relabellings_take_little_memory():
    labels = np.tile(np.arange(64) < 9, (40_000, 1))
    tracemalloc.start()
    statistics.differences(np.ones((64, 2)), labels)
    assert tracemalloc.get_traced_memory()[1] < labels.size
    tracemalloc.stop()


def test_p_values_are_those_of_enumeration_up_to_chance():
    """Within four standard errors, for five sets of features and each statistic."""
    rows = all_labellings(4, 8)
    for seed in range(5):
        features = tiny(seed)
        every = np.array([twin(*features, row) for row in rows])
        share = (every >= every[0] - 1e-9 * np.abs(every[0])).mean(axis=0)
        found = compared(*features, permuted(4, 4, 2000, np.random.default_rng(seed)))
        assert (np.abs(found.p - share) < 4 * np.sqrt(share * (1 - share) / 2000) + 1e-3).all()


def test_p_values_of_exchangeable_documents_are_valid_and_uniform():
    """600 draws of documents with heavy tails, as many p-values a statistic.

    A false failure: 1e-3 for uniformity by Kolmogorov and Smirnov (with steps of 1/100), for
    each of three statistics, and 1e-4 for each level by the binomial law.
    """
    rng, found = np.random.default_rng(3), []
    for _ in range(600):
        counts = rng.poisson(rng.lognormal(-1.0, 1.0, 40), (30, 40))
        features = rng.lognormal(size=(30, 4)), rng.standard_t(2, (30, 4)), counts
        found.append(compared(*features, permuted(12, 18, 99, rng)).p)
    for p in np.transpose(found):
        assert stats.kstest(p - rng.uniform(0, 0.01, 600), "uniform").pvalue > 1e-3
        for level in (0.01, 0.05, 0.1, 0.3):
            assert (p <= level).sum() <= stats.binom.isf(1e-4, 600, level)


def test_each_statistic_sees_what_it_is_for():
    rng = np.random.default_rng(0)
    labels = permuted(50, 50, 399, rng)
    for j in range(3):
        surprise, use = rng.normal(size=(2, 100, 6))
        counts = rng.poisson(0.3, (100, 30))
        if j == 2:
            counts[:10, :3] += 2
        else:
            # A little in each topic, as documents of an unknown class are.
            (surprise, use)[j][:50] += 0.5
        p = compared(surprise, use, counts, labels).p
        assert p.argmin() == j
        assert p[j] < 0.01
    # Less surprise is no change, nor are words that are gone.
    gone = np.outer(~labels[0], np.ones(6))
    assert compared(gone, use * 0, gone, labels).p.min() > 0.5


def test_more_relabellings_are_drawn_where_the_first_hundred_may_be_too_few():
    """And only there; the p-value is that of all of them."""
    rng, drawn, inner = np.random.default_rng(0), [], permuted
    with mock.patch.object(statistics, "permuted", lambda *a: drawn.append(a[2]) or inner(*a)):
        surprise, use = rng.normal(size=(2, 40, 3))
        alike = BlockFeatures(15, surprise, use, np.zeros((40, 0)))
        assert compare(alike, 399, rng).p.min() > 0.04
        assert drawn == [99]
        use[:15] += 5.0
        assert compare(alike._replace(use=use), 399, rng).p[1] == 1 / 400
    assert drawn == [99, 99, 300]


def test_the_words_are_those_that_differ_most_between_blocks():
    rng = np.random.default_rng(0)
    words = rng.poisson(3.0, (20, N_CANDIDATES + 50))
    words[:, 7] = np.arange(20)
    found = dispersed(words)
    ratio = words.var(axis=0) / words.mean(axis=0)
    assert_array_equal(found[:, 0], words[:, 7])
    assert_array_equal(found, words[:, np.argsort(-ratio, kind="stable")[:N_CANDIDATES]])
    assert dispersed(words[:, :0]).shape == (20, 0)


def test_the_statistic_does_not_depend_on_the_order():
    features, rng = tiny(0, 40), np.random.default_rng(1)
    order = np.concatenate([rng.permutation(15), 15 + rng.permutation(25)])
    one = compared(*features, permuted(15, 25, 999, rng))
    other = compared(*(values[order] for values in features), permuted(15, 25, 999, rng))
    assert_allclose(other.surprise, one.surprise, rtol=1e-9)
    assert_allclose(other.use, one.use, rtol=1e-9)
    # Other relabellings: within four standard errors of their difference.
    assert (np.abs(one.p - other.p) < 4 * np.sqrt(2 * 0.25 / 999)).all()


def test_columns_that_do_not_vary_say_nothing():
    labels = permuted(5, 5, 199, np.random.default_rng(0))
    found = compared(np.full((10, 2), 0.1), np.full((10, 2), 7.3), np.full((10, 2), 1), labels)
    assert_array_equal(found.p, 1.0)
    assert_array_equal(found.z, 0.0)


def moving(m):
    """Statistics of m minibatches, of which one is far off, and those of the next."""
    rng, scale = np.random.default_rng(m), np.array([3.0, 1.0, 0.3])
    past, z = scale * rng.normal(size=(m, 3)) + 5, scale * rng.normal(size=3) + 9
    past[0, 0] += 100
    return past, z


def bursts(n):
    return np.where(np.arange(20)[:, None] < n, 5.0, 0.0), np.array([5.0])


PASTS = {f"{m} that move": moving(m) for m in (3, 4, 9, 20)} | {
    "one burst": bursts(1),
    "nine bursts": bursts(9),
    "none that moves": (np.full((20, 3), 2.0), np.array([2.0, 3.0, 6.0])),
}


@pytest.mark.parametrize("name", PASTS)
def test_the_chart_is_the_predictive_law_of_student(name):
    past, z = PASTS[name]
    m, found = len(past), chart_p(past, z)
    for j, own in enumerate(past.T):
        reach = 3 * stats.median_abs_deviation(own, scale=1 / 1.4826)
        # Where most are equal bursts are not cut off.
        if m >= 4 and reach:
            own = own.clip(np.median(own) - reach, np.median(own) + reach)
        squares = ((own - own.mean()) ** 2).sum()
        if squares > stats.chi2.ppf(0.95, m - 1):
            f, s = m - 1, np.sqrt(squares / (m - 1))
        else:
            f, s = m + 9, np.sqrt(max(1.0, (10 + squares) / (9 + m)))
        expected = stats.t.sf(z[j], f, loc=own.mean(), scale=s * np.sqrt(1 + 1 / m))
        assert_allclose(found[j], expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("sd", "m", "level"),
    [(0.3, 6, 0.0), (1.0, 3, 0.01), (1.0, 20, 0.01), (3.0, 3, 0.05), (2.0, 6, 0.027),
     (2.0, 9, 0.019), (30.0, 20, 0.011)],
)  # fmt: skip
def test_the_level_of_the_chart_for_independent_normal_statistics(sd, m, level):
    """As the guide says, within four standard errors of 20,000 draws and a tenth."""
    draws = np.random.default_rng(0).normal(5.0, sd, size=(m + 1, 20_000))
    share = (chart_p(draws[:-1], draws[-1]) < 0.01).mean()
    assert share <= 1.1 * level + 4 * np.sqrt(level / 20_000)
    if sd > 1:
        assert share > 0.7 * level


@pytest.mark.parametrize(("m", "share"), [(3, 0.085), (6, 0.037), (20, 0.012)])
def test_the_share_of_rings_of_the_three_statistics_together(m, share):
    """As the guide says: the worst over how much a stream moves, within four standard errors."""
    rng, worst = np.random.default_rng(0), 0.0
    for sd in (1.0, 2.0, 3.0, 30.0):
        draws = rng.normal(5.0, sd, size=(m + 1, 30_000))
        p = chart_p(draws[:-1], draws[-1]).reshape(-1, FAMILY)
        worst = max(worst, float(((TIMES * p).min(axis=1) < 0.01).mean()))
    assert 0.6 * share < worst < share + 4 * np.sqrt(share / 10_000)


def test_topics_are_named_at_a_level_for_all_of_them():
    n = 50
    limit = stats.norm.isf(0.01 / (2 * n))
    surprise, use = np.zeros(n), np.zeros(n)
    surprise[3], surprise[4] = limit + 0.01, limit - 0.01
    use[5], use[6], use[7] = limit + 1, -limit - 2, -limit + 0.01
    words = [["a", k] for k in range(n)]
    found = changed_topics(Comparison(None, None, surprise, use), 0.01, words)
    assert [(t.topic, t.how) for t in found] == [(6, "shrunk"), (5, "grown"), (3, "changed")]
    assert found[0].words == ("a", "6")


def test_words_are_named_by_the_hypergeometric_tail():
    rng = np.random.default_rng(0)
    new, before = (rng.random((60, 30)) < 0.2) * 2.0, (rng.random((80, 30)) < 0.2) * 1.0
    new[:40, 4] = 1
    a, b = (new[:, 4] > 0).sum(), (before[:, 4] > 0).sum()
    found = new_words(sparse.csr_matrix(new), sparse.csr_matrix(before), 0.01, None)
    assert found == (NewWord("4", a, b),)
    table = [[a, 60 - a], [b, 80 - b]]
    assert stats.fisher_exact(table, alternative="greater").pvalue < 0.01 / 30

    # By chance nearly never: 200 times no change, at 1 % each.
    rung = 0
    for _ in range(200):
        X = sparse.csr_matrix((rng.random((100, 20)) < 0.3) * 1.0)
        rung += bool(new_words(X[:50], X[50:], 0.01, None))
    assert rung <= stats.binom.isf(1e-4, 200, 0.01)


@pytest.mark.parametrize(("a", "b"), [(9, 0), (9, 3), (20, 4), (1, 0), (5, 5)])
def test_the_level_of_a_new_word_is_the_exact_tail(a, b):
    """All ways to label documents are counted: at least `a` of those with the word are new."""
    n_new, n_before = 20, 30
    draws = range(a, min(a + b, n_new) + 1)
    tails = [comb(a + b, k) * comb(n_new + n_before - a - b, n_new - k) for k in draws]
    p = sum(tails) / comb(n_new + n_before, n_new)
    new, before = ((np.arange(n) < k)[:, None] * 3.0 for n, k in ((n_new, a), (n_before, b)))
    new, before = sparse.csr_matrix(new), sparse.csr_matrix(before)
    assert new_words(new, before, p * (1 - 1e-9), ["ship"]) == ()
    assert new_words(new, before, p * (1 + 1e-9), ["ship"]) == (NewWord("ship", a, b),)


@pytest.mark.parametrize("name", MODELS)
def test_a_change_rings_at_once_and_nothing_is_lost(name):
    model, monitor = MODELS[name](), DriftMonitor()
    taught(model, monitor, STREAM)
    assert [alarm.batch for alarm in monitor.alarms] == [9]
    assert monitor.n_batches == 11
    assert [test.batch for test in monitor.tests] == list(range(3, 12))
    assert model.n_documents_seen_ == 1320 - monitor.n_held_back
    monitor.finish(model)
    assert monitor.n_held_back == 0
    assert model.n_documents_seen_ == 1320
    assert_allclose(model.n_tokens_seen_, OLD.sum() + NEW.sum(), rtol=1e-6)
    monitor.finish(model)
    assert model.n_documents_seen_ == 1320


def test_the_record_can_be_read():
    names = [f"word{i}" for i in range(150)]
    model, monitor = MODELS["gibbs"](), DriftMonitor()
    for t, X in enumerate(STREAM):
        monitor.learn(model, NamedCounts.of(X, names), time=2001 + t)
    (alarm,) = monitor.alarms
    assert isinstance(alarm, Alarm)
    assert alarm.time == 2009
    assert alarm.p_exact < 0.01 > alarm.p_chart
    assert (alarm.n_new, alarm.n_before) == (120, 168)
    form = r"Minibatch 9 \(2009\) differs from those before: p = .*\n"
    assert re.fullmatch(form + r"New: word.*\nTopics: .*\nWords: word.*", str(alarm))
    assert all(word.new / 120 > word.before / 120 for word in alarm.words)


def test_a_quiet_stream_does_not_ring_and_memory_is_bounded(monkeypatch):
    """80 tests at a level of one in a hundred; more than 5 by chance: less than 1 in 1000."""
    monkeypatch.setattr(monitor_module, "KEPT", 30)
    X = make_lda_corpus(n_documents=8200, n_features=100, random_state=2).X
    model, monitor = st.VariationalOnlineEM(3, random_state=0), DriftMonitor()
    for i in range(82):
        monitor.learn(model, X[100 * i : 100 * (i + 1)])
        assert monitor.n_held_back <= 160
        assert len(monitor.past) <= 20
    assert len(monitor.alarms) <= 5
    assert len(monitor.tests) == 30
    assert len(pickle.dumps(monitor)) < 100_000


def test_at_most_so_many_documents_are_compared(monkeypatch):
    sizes, inner = [], statistics.block_features
    monkeypatch.setattr(
        statistics, "block_features", lambda m, X, *a: sizes.append(X.shape[0]) or inner(m, X, *a)
    )
    monkeypatch.setattr(monitor_module, "MAX_DOCUMENTS", 50)
    taught(MODELS["gibbs"](), DriftMonitor(), BATCHES[:5])
    assert sizes == [24 + 50, 48 + 50, 50 + 50]


def test_documents_of_one_word_are_judged():
    rng = np.random.default_rng(0)

    def batch(low):
        return sparse.csr_matrix(np.eye(20)[rng.integers(low, low + 10, 200)])

    model, monitor = MODELS["mixture"](), DriftMonitor()
    taught(model, monitor, [*(batch(0) for _ in range(10)), batch(10)])
    assert [alarm.batch for alarm in monitor.alarms] == [11]


def test_empty_documents_minibatches_and_single_documents_are_harmless():
    model, monitor = MODELS["gibbs"](), DriftMonitor()
    nothing = sparse.csr_matrix((40, 150))
    taught(model, monitor, [BATCHES[0], nothing, BATCHES[1], nothing, nothing, OLD[:0], OLD[:1]])
    monitor.finish(model)
    assert model.n_documents_seen_ == 361
    assert all(test.p_exact > 0 for test in monitor.tests)


@pytest.mark.parametrize("size", [1, 2])
def test_minibatches_of_one_or_two_documents_are_learnt_and_not_tested(size):
    model, monitor = MODELS["gibbs"](), DriftMonitor()
    taught(model, monitor, [OLD[i : i + size] for i in range(0, 20, size)])
    assert (model.n_documents_seen_, monitor.n_held_back, monitor.tests) == (20, 0, ())


def test_dense_rows_and_integers_are_the_same_stream():
    one, other = ((MODELS["gibbs"](), DriftMonitor()) for _ in range(2))
    for X in BATCHES[:4]:
        one[1].learn(one[0], X.astype(np.float32))
        other[1].learn(other[0], X.toarray().astype(np.float32))
    assert state(*one) == state(*other)


def test_bits_do_not_depend_on_jobs_but_on_the_seed():
    found = []
    for n_jobs, seed in ((1, 0), (2, 0), (1, 5)):
        monitor = DriftMonitor(random_state=seed)
        model = taught(MODELS["gibbs"]().set_params(n_jobs=n_jobs), monitor, STREAM[:9])
        # As text: NaN equals itself in no record from Python 3.13 on.
        kept = (model.posterior_.dense().tobytes(), monitor.past.tobytes())
        found.append((*kept, repr(monitor.tests)))
    assert found[0] == found[1]
    assert found[0] != found[2]


@pytest.mark.parametrize("name", ["gibbs", "default"])
def test_a_stream_that_is_stopped_anywhere_goes_on_to_the_same_bits(name):
    model, monitor = MODELS[name](), DriftMonitor()
    ends = []
    for X in STREAM:
        ends.append(pickle.dumps((model, monitor)))
        monitor.learn(model, X)
    final = state(model, monitor)
    assert len(monitor.alarms) == 1
    for i in (0, 1, 4, 8, 9, 10):
        again = pickle.loads(ends[i])
        taught(*again, STREAM[i:])
        assert state(*again) == final


def texts(words, n, seed):
    rng = np.random.default_rng(seed)
    return [
        " ".join(rng.choice(words[:6] if rng.random() < 0.5 else words[6:], 8)) for _ in range(n)
    ]


ANIMALS = ["cat", "dog", "cow", "hen", "fox", "owl", "pig", "rat", "ant", "bee", "elk", "yak"]
METALS = [
    *("iron", "zinc", "gold", "lead", "copper", "silver"),
    *("tin", "nickel", "cobalt", "steel", "chrome", "brass"),
]


def pipeline(max_features):
    words = StreamingCountVectorizer(max_features=max_features)
    return StreamingPipeline([("words", words), ("topics", MODELS["gibbs"]())])


def test_a_pipeline_over_texts_is_watched():
    model, monitor = pipeline(100), DriftMonitor()
    # Metals are known from the start, so that they are in the vocabulary.
    monitor.learn(model, [*texts(ANIMALS, 50, 0), *texts(METALS, 50, 1)])
    for i in range(8):
        monitor.learn(model, texts(ANIMALS, 100, 10 + i))
    monitor.learn(model, iter(texts(METALS, 100, 30)))
    assert [alarm.batch for alarm in monitor.alarms] == [10]
    assert {word.word for word in monitor.alarms[0].words} <= set(METALS)
    assert len(monitor.alarms[0].words) == 8
    monitor.finish(model)
    assert model[-1].n_documents_seen_ == 1000


def test_one_text_is_no_minibatch():
    model, monitor = pipeline(9), DriftMonitor()
    monitor.learn(model, texts(ANIMALS, 60, 0))
    for wrong in (ANIMALS[0], BATCHES[0]):
        with pytest.raises(TypeError, match="X must be the texts of documents"):
            monitor.learn(model, wrong)
    assert monitor.n_batches == 1


def test_a_word_counts_once_in_a_document_though_a_step_returns_it_twice():
    def twice(X):
        parts = np.repeat(X.data / 2.0, 2), np.repeat(X.indices, 2), 2 * X.indptr
        return sparse.csr_matrix(parts, shape=X.shape)

    found = []
    for step in (None, twice):
        words = CountVectorizer(vocabulary=[*ANIMALS, *METALS], dtype=np.float64)
        last = [("step", FunctionTransformer(step)), ("topics", MODELS["gibbs"]())]
        model, monitor = StreamingPipeline([("words", words), *last]), DriftMonitor()
        taught(model, monitor, [texts(ANIMALS, 60, i) for i in range(9)] + [texts(METALS, 60, 9)])
        found.append((monitor.past.tobytes(), monitor.alarms))
    assert found[0] == found[1]
    assert all(word.new <= 60 for word in found[0][1][0].words)


def test_a_checkpoint_at_the_end_is_of_all_that_came(tmp_path):
    """It is written before the monitor learns what it holds back, which it then has there too."""
    monitor = DriftMonitor(random_state=0)
    keeper = Checkpointer(tmp_path, every=5, also=[monitor])
    model = stream(MODELS["gibbs"](), BATCHES[:7], callbacks=[monitor, keeper])
    found = resume(tmp_path)
    assert found.n_batches == 7
    (again,) = found.callbacks
    assert again.n_held_back > 0
    again.finish(found.model)
    assert state(found.model, again) == state(model, monitor)


def test_wrong_minibatches_change_nothing():
    model, monitor = MODELS["gibbs"](), DriftMonitor()
    empty = state(model, monitor)
    with pytest.raises(ValueError, match="egative"):
        monitor.learn(model, -BATCHES[0])
    assert state(model, monitor) == empty
    taught(model, monitor, BATCHES[:5])
    before = state(model, monitor)
    for wrong, match in ((-BATCHES[5], "egative"), (BATCHES[5][:, :99], "features")):
        with pytest.raises(ValueError, match=match):
            monitor.learn(model, wrong)
        assert state(model, monitor) == before


def test_a_model_that_fails_to_learn_leaves_the_monitor(monkeypatch):
    model, monitor = MODELS["gibbs"](), DriftMonitor()
    taught(model, monitor, STREAM[:8])
    before = state(model, monitor)

    def fail(*args, **kwargs):
        raise RuntimeError("no more room")

    with monkeypatch.context() as patch:
        patch.setattr(st.GibbsOnlineEM, "_learn", fail)
        for learn in (lambda: monitor.learn(model, STREAM[8]), lambda: monitor.finish(model)):
            with pytest.raises(RuntimeError, match="no more room"):
                learn()
            assert state(model, monitor) == before
    monitor.learn(model, STREAM[8])
    assert len(monitor.alarms) == 1


def test_an_interrupt_finds_both_before_the_minibatch_or_after_it():
    """Stopped anywhere, it goes on to the same bits."""
    model, monitor = MODELS["gibbs"](), DriftMonitor()
    starts, ends = [], []
    for X in STREAM[:10]:
        starts.append(pickle.dumps((model, monitor)))
        monitor.learn(model, X)
        ends.append(state(model, monitor))
    n_interrupted = 0
    for i in (5, 8, 9):
        for seconds in np.geomspace(2e-4, 0.03, 25):
            model, monitor = pickle.loads(starts[i])
            before = state(model, monitor)
            try:
                with alarm_after(seconds):
                    monitor.learn(model, STREAM[i])
            except KeyboardInterrupt:
                n_interrupted += 1
            assert state(model, monitor) in (before, ends[i])
    assert n_interrupted > 5
