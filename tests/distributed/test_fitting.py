# SPDX-License-Identifier: BSD-3-Clause
"""Partitions learnt elsewhere: bits, order, faults and what is refused."""

import gc
import json
import os
import weakref
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from dask import array
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.pipeline import make_pipeline

from streamtopics import (
    GuidedTopics,
    HDPGibbsOnlineEM,
    MultiViewLDA,
    StreamingLDA,
    StreamingMixture,
    streams,
)
from streamtopics.distributed import (
    PartitionError,
    count_vocabulary,
    fit_partitions,
    fit_stream,
    transform_partitions,
)
from streamtopics.estimators import Schedule
from streamtopics.text import NamedCounts
from streamtopics.updates import SVB, DirichletProcess, PowerPrior
from tests.distributed.corpus import (
    COUNTER,
    LATE,
    ONE,
    PARTITIONS,
    PAST,
    SEED,
    SIZE,
    TEXTS,
    X,
    bits,
    experienced,
    minibatches,
    of_texts,
    serial,
)  # fmt: skip
from tests.distributed.engines import Now
from tests.plain import BPSLDA, SVBHPP, SVBLDA, GibbsOnlineEM, VariationalOnlineEM
from tests.small import COUNTS, stream_of

MODELS = {
    "default": StreamingLDA(5, **SEED),
    "gibbs": GibbsOnlineEM(5, **SEED),
    "variational": VariationalOnlineEM(5, **SEED),
    "svb": SVBLDA(5, **SEED),
    "bps": BPSLDA(5, **SEED),
    "forgets": StreamingLDA(5, update=PowerPrior(0.9), **SEED),
    "svi": StreamingLDA(5, update="svi", **SEED),
    "population": StreamingLDA(5, update="population_vb", **SEED),
    "mixture": StreamingMixture(5, **SEED),
    "kappa 1": GibbsOnlineEM(5, kappa=1.0, **SEED),
}
each_model = pytest.mark.parametrize("name", MODELS)
each_beginning = pytest.mark.parametrize("begin", [clone, experienced])
SMALL = [X[i : i + 40] for i in range(0, 760, 40)]


def fitted(name, client=None, partitions=PARTITIONS, begin=experienced, **settings):
    return fit_partitions(begin(MODELS[name]), partitions, client or Now(), **settings)


def n_seen(model):
    return getattr(model, "n_documents_seen_", 0)


@each_model
@each_beginning
def test_one_minibatch_at_a_time_is_the_serial_stream_bit_for_bit(name, begin):
    found = fitted(name, begin=begin, **ONE)
    assert bits(found) == bits(serial(MODELS[name], begin=begin))


@each_model
def test_the_beginning_of_a_stream_is_the_serial_one_bit_for_bit(name):
    """It is learnt where the model is, whatever the schedule."""
    client = Now()
    found = fitted(name, client, begin=clone, **LATE)
    assert bits(found) == bits(serial(MODELS[name]))
    assert client.n_begun["learn"] == 0
    fitted(name, client, **LATE)
    assert client.n_begun["learn"] == 5


@each_model
def test_long_rounds_that_nothing_comes_between_are_the_serial_stream(name):
    found = fitted(name, rounds=16, staleness=0)
    expected = serial(MODELS[name], begin=experienced)
    if name != "mixture":  # rounding decides which cluster a document has
        assert_allclose(found.components_, expected.components_, rtol=0.02, atol=1e-3)
    assert bits(found)[1][:2] == bits(expected)[1][:2]
    assert abs(found.score(X) - expected.score(X)) < 0.01


@each_model
def test_the_number_of_workers_changes_nothing(name):
    expected = bits(fitted(name, **LATE))
    for n in (1, 3):
        with ThreadPoolExecutor(n) as client:
            assert bits(fitted(name, client, **LATE)) == expected


@each_model
def test_all_documents_and_tokens_are_learnt_once(name):
    before, found = experienced(MODELS[name]), fitted(name, **LATE)
    assert found.n_documents_seen_ - before.n_documents_seen_ == X.shape[0]
    assert_allclose(found.n_tokens_seen_ - before.n_tokens_seen_, X.sum())
    assert np.isfinite(found.partial_fit(X[:10]).score(X))


def test_partitions_are_left_as_they_are_whatever_the_order_of_their_entries():
    """Of unsorted rows the words are the same, and nothing sorts them in place."""
    rng = np.random.default_rng(0)
    shuffled = [sparse.csr_matrix(part, copy=True) for part in PARTITIONS]
    for part in shuffled:
        for start, end in pairwise(part.indptr):
            order = start + rng.permutation(end - start)
            part.indices[start:end], part.data[start:end] = part.indices[order], part.data[order]
        part.has_sorted_indices = False
    before = [part.indices.copy() for part in shuffled]
    found = fitted("default", partitions=shuffled, **LATE)
    assert bits(found) == bits(fitted("default", **LATE))
    for part, indices in zip(shuffled, before, strict=True):
        np.testing.assert_array_equal(part.indices, indices)


def test_texts_are_counted_by_the_steps_of_a_pipeline_wherever_they_are(tmp_path):
    """At hand, in files, and behind a function that reads them."""
    parts = [TEXTS[:70], TEXTS[70:]]
    paths = [tmp_path / "0.jsonl", tmp_path / "1.jsonl"]
    for path, part in zip(paths, parts, strict=True):
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in part))
    counts = minibatches(map(COUNTER.transform, parts))
    expected = bits(serial(of_texts(GibbsOnlineEM)[-1], counts))
    for given, settings in (
        (parts, ONE),
        (parts, LATE),
        (paths, LATE),
        ([str(path) for path in paths], LATE),
        ([(0, 70), (70, 120)], {"read": lambda span: TEXTS[slice(*span)], **LATE}),
    ):
        found = fit_partitions(of_texts(GibbsOnlineEM), given, Now(), **settings)
        assert bits(found[-1]) == expected


def test_hashed_words_need_no_vocabulary():
    hashing = HashingVectorizer(n_features=2**8, alternate_sign=False, norm=None)
    model = make_pipeline(hashing, SVBLDA(2, **SEED))
    fit_partitions(model, [TEXTS, TEXTS], Now(), **LATE)
    assert model[-1].n_documents_seen_ == 240


def test_guided_topics_take_their_seeds_along():
    model = GuidedTopics({"warm": ["red", "pink"], "cold": ["blue"]}, **SEED)
    counts = NamedCounts.of(COUNTER.transform(TEXTS), COUNTER.get_feature_names_out())
    found = fit_partitions(clone(model), [counts], Now(), **ONE)
    assert bits(found) == bits(serial(model, minibatches([counts])))


def test_a_stream_of_minibatches_is_learnt_in_groups():
    sizes = np.cumsum([0, 30, 7, 60, 1, 100, 20, 20, 20, 90])
    batches = [X[a:b] for a, b in pairwise(sizes)]
    model = clone(MODELS["gibbs"])
    found = fit_stream(model, iter(batches), Now(), **ONE)
    assert found is model
    assert bits(found) == bits(serial(MODELS["gibbs"], batches))
    client = Now()
    longer = fit_stream(experienced(model), batches, client, rounds=4, staleness=2)
    assert longer.n_documents_seen_ == 7 * X.shape[0] + sizes[-1]
    assert client.n_begun["learn"] == 3
    with ThreadPoolExecutor(2) as client:
        again = fit_stream(experienced(model), batches, client, rounds=4, staleness=2)
    assert bits(again) == bits(longer)


def test_minibatches_of_a_stream_may_have_a_time_and_no_other_data():
    batches, kept = [streams.TimedBatch(X[:20], "May"), streams.TimedBatch(X[20:40], "June")], []
    seen = [lambda _, info: kept.append(info.time)]
    model = fit_stream(clone(MODELS["forgets"]), batches, Now(), **ONE, callbacks=seen)
    assert [record.time for record in model.drift_] == kept == ["May", "June"]


@pytest.mark.parametrize(
    ("begin", "schedule"),
    [(clone, LATE), (clone, ONE), (experienced, ONE)],
    ids=["beginning", "new", "late"],
)
def test_scores_are_of_what_was_not_learnt_yet(begin, schedule):
    history, usual = streams.ScoreHistory(), streams.ScoreHistory()
    fitted("gibbs", begin=begin, callbacks=[history], **schedule)
    streams.stream(begin(MODELS["gibbs"]), minibatches(), callbacks=[usual])
    assert [row[:4] for row in history.rows] == [row[:4] for row in usual.rows]
    assert_allclose([row.score for row in history.rows], [row.score for row in usual.rows])


def test_a_callback_ends_the_stream():
    model = fitted("svb", **ONE, callbacks=[lambda _, info: info.batch == 7])
    assert model.n_batch_iter_ == 8
    new = fitted("svb", begin=clone, **LATE, callbacks=[lambda _, info: info.batch == 7])
    assert new.n_batch_iter_ == 7
    late = fitted("svb", **LATE, callbacks=[lambda _, info: info.batch >= 7])
    assert 8 <= late.n_batch_iter_ < 17


@pytest.mark.parametrize("until", [7, 20, 33])
@each_beginning
def test_a_stream_that_is_resumed_equals_the_uncut_one(tmp_path, monkeypatch, until, begin):
    keeper = streams.Checkpointer(tmp_path / "whole", every=5)
    expected = fitted("gibbs", begin=begin, **LATE, callbacks=[keeper])

    def stop(model, info):
        if info.batch >= until:
            raise KeyboardInterrupt

    monkeypatch.setattr("streamtopics.streams.checkpoint.N_KEPT", 100)
    keeper = streams.Checkpointer(tmp_path / "cut", every=5)
    with pytest.raises(KeyboardInterrupt):
        fitted("gibbs", begin=begin, **LATE, callbacks=[stop, keeper])
    # What was written when it ended is no place where nothing was under way.
    places = sorted((tmp_path / "cut").glob("*.model"))
    found = streams.resume(tmp_path / "cut")
    if found.n_batches % 5:
        places[-1].unlink()
        found = streams.resume(tmp_path / "cut")
    keeper = streams.Checkpointer(tmp_path / "cut", every=5)
    again = fit_partitions(
        found.model, PARTITIONS, Now(), **LATE, skip=found.n_batches, callbacks=[keeper]
    )
    assert bits(again) == bits(expected)


def test_a_partition_that_was_learnt_is_forgotten_at_once():
    """Its counts are on a worker as long as this process has a handle of them."""
    counts = []

    class Keeping(Now):
        def submit(self, function, /, *arguments):
            future = super().submit(function, *arguments)
            if function.__name__ == "read_partition":
                counts.append(weakref.ref(future.result()[0]))
            return future

    def n_kept(model, info):
        kept.append(sum(one() is not None for one in counts))

    kept = []
    gc.collect()
    gc.disable()
    try:
        fitted("svb", Keeping(), SMALL, rounds=2, staleness=1, callbacks=[n_kept])
    finally:
        gc.enable()
    # Those of a round, and of what is read ahead.
    assert 1 <= max(kept) <= 6


def test_a_round_may_be_of_several_partitions():
    client = Now()
    found = fitted("gibbs", client, SMALL, **LATE)
    assert client.n_begun == {"read_partition": 19, "learn": 5}
    assert found.n_documents_seen_ == 7 * X.shape[0] + 760
    whole = fitted("gibbs", partitions=[X[:760]], **LATE)
    assert bits(found) == bits(whole)
    with ThreadPoolExecutor(3) as client:
        assert bits(fitted("gibbs", client, SMALL, **LATE)) == bits(found)


@pytest.mark.parametrize("where", ["in `read`", "of the iterable"])
@pytest.mark.parametrize("bad", [0, 5, 7, 8, 11, 18])
@each_beginning
def test_what_comes_before_a_partition_that_fails_is_learnt(where, bad, begin):
    def read(number):
        if number == bad:
            raise OSError("no such bucket")
        return SMALL[number]

    numbers = range(19)
    given = [numbers, read] if where == "in `read`" else [map(read, numbers), None]
    model = begin(MODELS["gibbs"])
    before = n_seen(model)
    with pytest.raises(PartitionError, match=rf"partition {bad} .*no such bucket") as error:
        fit_partitions(model, given[0], Now(), read=given[1], **LATE)
    assert error.value.number == bad
    assert isinstance(error.value.__cause__, OSError)
    assert n_seen(model) == before + 40 * bad


def test_no_more_is_begun_than_a_window_of_partitions():
    class Counting(Now):
        def run(self, function, arguments):
            if function.__name__ == "learn":
                ahead.append(self.n_begun["read_partition"] - 4 * len(ahead))
            return super().run(function, arguments)

    ahead = []
    fitted("svb", Counting(), [X[i : i + 20] for i in range(0, 400, 20)], rounds=4, staleness=1)
    assert len(ahead) == 5
    assert max(ahead) <= 4 + 3


def test_a_worker_that_cannot_be_replaced_is_an_error_that_names_the_partition():
    model, expected = (experienced(MODELS["svb"]) for _ in range(2))
    said = "partition 0 could not be read: Broken"
    with ProcessPoolExecutor(1) as client, pytest.raises(PartitionError, match=said) as error:
        fit_partitions(model, range(5), client, read=dies, skip=3)
    assert (error.value.number, error.value.n_batches) == (0, 3)
    assert bits(model) == bits(expected)


def dies(number):
    os._exit(1)


BLOCKS = array.from_array(X.toarray(), chunks=(100, 60))
AVERAGES = StreamingLDA(3, update="svb", schedule=Schedule(averaging="linear"))


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"partitions": X}, TypeError, r"got a csr_matrix; pass \[partition\]"),
        ({"partitions": "corpus.txt"}, TypeError, "an iterable of partitions"),
        ({"client": 3}, TypeError, "client must be an executor of concurrent.futures"),
        ({"rounds": 0}, ValueError, "rounds"),
        ({"staleness": -1}, ValueError, "staleness"),
        ({"skip": -1}, ValueError, "skip"),
        ({"skip": 1000}, ValueError, "the partitions have 40 minibatches"),
        ({"callbacks": [streams.DriftMonitor()]}, TypeError, "needs the documents"),
        ({"callbacks": [streams.TopicTracker()]}, TypeError, "needs the documents"),
        ({"callbacks": [3]}, TypeError, "callback"),
        ({"model": MultiViewLDA()}, TypeError, "estimator of topics over words"),
        ({"model": COUNTER}, TypeError, "partial_fit"),
        ({"model": stream_of(None)}, TypeError, "use its partial_fit"),
        ({"partitions": BLOCKS}, ValueError, "rechunk"),
        ({"model": SVBHPP(3)}, ValueError, "does not define merging"),
        ({"model": StreamingLDA(3, update="hpp")}, ValueError, "`merges` is None"),
        ({"model": AVERAGES}, ValueError, "averages its iterates"),
        ({"model": StreamingMixture(3, births=DirichletProcess())}, TypeError, "no fixed places"),
        ({"model": HDPGibbsOnlineEM()}, TypeError, "no fixed places"),
    ],
)
def test_wrong_arguments_are_refused(settings, error, message):
    given = {"model": clone(MODELS["svb"]), "partitions": PARTITIONS, "client": Now()} | settings
    model = given["model"]
    with pytest.raises(error, match=message):
        fit_partitions(**given)
    assert not hasattr(model, "components_")


@each_beginning
def test_an_error_of_a_callback_is_raised_whatever_others_say(begin):
    def fails(model, info):
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk is full"):
        fitted("svb", begin=begin, callbacks=[lambda *_: True, fails], **LATE)


@each_beginning
@pytest.mark.parametrize("bad", [3, 7, 12])
def test_what_cannot_be_learnt_is_named_and_the_stream_goes_on_after_it(begin, bad):
    wrong = [part.copy() for part in SMALL]
    wrong[bad].data[:] = -1
    model, expected = begin(MODELS["svb"]), fitted("svb", partitions=SMALL, begin=begin, **LATE)
    before = n_seen(model)
    with pytest.raises(PartitionError, match=r"partitions? \d+.* could not be learnt") as error:
        fit_partitions(model, wrong, Now(), **LATE)
    assert error.value.number <= bad < error.value.number + 4
    assert n_seen(model) == before + SIZE * error.value.n_batches
    assert 2 * bad - 8 <= error.value.n_batches <= 2 * bad
    if begin is clone:
        assert (error.value.number, error.value.n_batches) == (bad, 2 * bad)
    fit_partitions(model, SMALL, Now(), **LATE, skip=error.value.n_batches)
    assert model.n_documents_seen_ == expected.n_documents_seen_


def test_counts_that_are_small_beside_what_was_learnt_are_not_lost():
    model = clone(MODELS["svb"]).partial_fit(X * 1e8)
    before = model.posterior_.mass.sum()
    fit_partitions(model, PARTITIONS, Now(), rounds=8, staleness=0)
    assert_allclose(model.posterior_.mass.sum() - before, X.sum(), rtol=0.01)


def test_threads_need_to_pickle_nothing():
    class Local(SVB):
        """A rule that cannot be pickled."""

    model = StreamingLDA(3, update=Local(), **SEED).partial_fit(PAST)
    with ThreadPoolExecutor(2) as client:
        found = fit_partitions(model, PARTITIONS, client, **LATE)
    assert found.n_documents_seen_ == 8 * X.shape[0]


def test_a_word_may_be_called_text():
    frame = pd.DataFrame(COUNTS, columns=["text", *"bcd"])
    with ThreadPoolExecutor(1) as client:
        model = fit_partitions(SVBLDA(2, random_state=0), [frame], client)
        [shares] = transform_partitions(model, [frame], client)
    assert_array_equal(shares, model.transform(frame))


@pytest.mark.parametrize("name", ["gibbs", "forgets", "default"])
def test_empty_minibatches_of_a_stream_are_skipped(name):
    batches = [X[:0], *SMALL[:3], X[:0], X[:0], SMALL[3], X[:0], SMALL[4]]
    short = [batch[:, ::9] for batch in batches]
    found = fit_stream(clone(MODELS[name]), short, Now(), **ONE)
    assert bits(found) == bits(serial(MODELS[name], short))


def test_a_given_vocabulary_stays_as_it_is():
    words = CountVectorizer(vocabulary=["sun", "sea", "sky"])
    with ThreadPoolExecutor(1) as client:
        found = count_vocabulary(words, [["sea sea sun", "sea"]], client)
    assert found.get_feature_names_out().tolist() == ["sun", "sea", "sky"]
