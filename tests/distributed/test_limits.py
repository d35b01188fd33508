# SPDX-License-Identifier: BSD-3-Clause
"""Where rounds meet parts of minibatches, ends of streams, tables, clocks and wrong input."""

import itertools
import pickle
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from dask import array
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from streamtopics import SVBLDA, GibbsOnlineEM, StreamingLDA
from streamtopics.distributed import PartitionError, fit_partitions, fit_stream
from streamtopics.estimators import Schedule
from streamtopics.streams import Checkpointer, resume
from streamtopics.updates import Memory, PopulationVB, PowerPrior
from tests.distributed.corpus import PARTITIONS, SIZE, X, bits, experienced, minibatches, serial
from tests.distributed.engines import Now

SEED = {"random_state": 0, "batch_size": SIZE}
LATE = {"rounds": 8, "staleness": 2}
FORGETTING = [PowerPrior(0.9), PowerPrior(Memory(100)), PopulationVB(500.0, 0.1)]


@pytest.mark.parametrize("update", FORGETTING, ids=str)
@pytest.mark.parametrize("inner", [None, 5])
@pytest.mark.parametrize("settings", [LATE, {"rounds": 8, "staleness": 0}], ids=str)
def test_minibatches_in_parts_are_forgotten_once(update, inner, settings):
    """What is left of all counts does not depend on what was inferred."""
    model = StreamingLDA(5, update=update, schedule=Schedule(inner_batch_size=inner), **SEED)
    found = fit_partitions(experienced(model), PARTITIONS, Now(), **settings)
    expected = serial(model, begin=experienced)
    assert_allclose(found.posterior_.mass.sum(), expected.posterior_.mass.sum(), rtol=1e-3)


def test_a_merge_where_minibatches_cannot_be_counted_is_refused():
    model = StreamingLDA(5, update=PowerPrior(0.9), schedule=Schedule(inner_batch_size=5), **SEED)
    base = model.partial_fit(X[:40])
    one, other = (pickle.loads(pickle.dumps(base)) for _ in range(2))
    with pytest.raises(ValueError, match=r"schedule=Schedule\(None\)"):
        one.partial_fit(X[40:80]).merge(other.partial_fit(X[80:120]), base=base)
    whole = clone(model).set_params(update=PowerPrior(Memory(100))).partial_fit(X[:40])
    one, other = (pickle.loads(pickle.dumps(whole)) for _ in range(2))
    merged = one.partial_fit(X[40:80]).merge(other.partial_fit(X[80:120]), base=whole)
    tokens = [X[a : a + 40].sum() for a in (0, 40, 80)]
    left = np.exp(-40 / 100)
    expected = tokens[0] * left**2 + tokens[1] * left + tokens[2]
    learnt = merged.posterior_.learnt_part.sum()
    parts = serial(clone(whole), [X[:40], X[40:80], X[80:120]]).posterior_.learnt_part.sum()
    assert_allclose(learnt, parts, rtol=0.02)
    assert_allclose(learnt, expected, rtol=0.2)


@pytest.mark.parametrize("doc_topic", ["fixed", "fixed_point", "gamma"])
def test_a_merge_with_a_copy_that_learnt_nothing_changes_nothing(doc_topic):
    model = GibbsOnlineEM(4, doc_topic_prior_update=doc_topic, **SEED)
    base = serial(model, itertools.islice(itertools.cycle(minibatches()), 80))
    one, other = (pickle.loads(pickle.dumps(base)) for _ in range(2))
    one.partial_fit(X[:20])
    before = one.components_.copy(), one.doc_topic_prior_.copy()
    one.merge(other, base=base)
    assert_allclose(one.components_, before[0], rtol=1e-12)
    assert_allclose(one.doc_topic_prior_, before[1], rtol=1e-12)


def test_an_endless_stream_ends_where_a_callback_says():
    endless = itertools.cycle([X[:20]])
    for last in (1, 5):
        found = fit_stream(
            SVBLDA(3, **SEED), endless, Now(), callbacks=[lambda _, info, n=last: info.batch >= n]
        )
        assert last <= found.n_batch_iter_ < last + 10


@pytest.mark.parametrize("every", [6, 8])
def test_a_stream_from_here_is_resumed_with_the_same_bits(tmp_path, every):
    batches = list(minibatches())
    model = GibbsOnlineEM(5, **SEED)
    settings = {"rounds": 4, "staleness": 2}
    whole = Checkpointer(tmp_path / "whole", every=every)
    expected = bits(fit_stream(experienced(model), batches, Now(), callbacks=[whole], **settings))
    cut = Checkpointer(tmp_path / "cut", every=every)
    fit_stream(experienced(model), batches[: 3 * every], Now(), callbacks=[cut], **settings)
    found = resume(tmp_path / "cut")
    assert found.n_batches == 3 * every
    again = Checkpointer(tmp_path / "cut", every=every)
    rest = fit_stream(
        found.model, batches, Now(), skip=found.n_batches, callbacks=[again], **settings
    )
    assert bits(rest) == expected


def test_processes_of_the_standard_library_are_workers():
    begun = experienced(GibbsOnlineEM(3, **SEED))
    expected = bits(fit_partitions(deepcopy(begun), PARTITIONS, Now(), **LATE))
    model = StreamingLDA(3, update=PowerPrior(0.5), **SEED)
    with ProcessPoolExecutor(2) as client:
        found = fit_partitions(begun, PARTITIONS, client, **LATE)
        fit_partitions(model, PARTITIONS, client, **LATE)
    assert bits(found) == expected


def test_what_is_reported_of_a_round_is_what_a_minibatch_leaves():
    model = StreamingLDA(3, update=PowerPrior(0.9), **SEED)
    fit_partitions(model, PARTITIONS, Now(), rounds=8, staleness=0)
    assert_allclose(model.retention_, 0.9, rtol=1e-6)


# Texts and tables

TEXTS = ["red green red", "blue pink blue", "green blue blue", "pink red"] * 10


def of_texts():
    counter = CountVectorizer(vocabulary=["blue", "green", "pink", "red"])
    return make_pipeline(counter, SVBLDA(2, **SEED))


def test_a_str_is_a_path(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS))
    found = fit_partitions(of_texts(), [str(path)], Now())
    assert (found[-1].n_documents_seen_, found[-1].n_tokens_seen_) == (40, 110)
    with pytest.raises(PartitionError, match="red green red"):
        fit_partitions(of_texts(), TEXTS, Now())


def test_a_table_needs_a_column_of_texts():
    table = pd.DataFrame({"text": TEXTS, "stars": range(40)})
    assert fit_partitions(of_texts(), [table], Now())[-1].n_documents_seen_ == 40
    with pytest.raises(PartitionError, match=r"the names of columns would be read"):
        fit_partitions(of_texts(), [table[["text"]].rename(columns={"text": "body"})], Now())


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("past", [1, 100])
def test_columns_in_another_order_are_refused(rounds, past):
    table = pd.DataFrame(X[:200, :4].toarray(), columns=list("abcd"))
    batches = [table[:50], table[50:100], table[100:150][list("bacd")], table[150:]]
    model = SVBLDA(2, **SEED).partial_fit(pd.concat([table] * past))
    with pytest.raises(PartitionError, match="feature names"):
        fit_stream(model, batches, Now(), rounds=rounds)


def test_counts_in_other_forms_are_rows():
    model = SVBLDA(3, **SEED)
    expected = bits(fit_partitions(experienced(model), [X], Now(), **LATE))
    for other in (X.tocoo(), X.toarray()):
        assert bits(fit_partitions(experienced(model), [other], Now(), **LATE)) == expected


def test_blocks_of_columns_are_refused():
    blocks = array.from_array(X.toarray(), chunks=(100, 60))
    with pytest.raises(ValueError, match="rechunk"):
        fit_partitions(SVBLDA(3, **SEED), blocks, Now())


def test_more_columns_than_the_model_knows_are_refused_by_partition():
    wider = np.ones((20, X.shape[1] + 3))
    for model, message in [
        (SVBLDA(3, **SEED), "X has 123 features.* expecting 120"),
        (experienced(SVBLDA(3, **SEED)), "word 120 is outside of the vocabulary of 120"),
    ]:
        past = getattr(model, "n_documents_seen_", 0)
        with pytest.raises(PartitionError, match=rf"partition 1 .*{message}") as error:
            fit_partitions(model, [X[:320], wider], Now(), **LATE)
        assert error.value.number == 1
        assert model.n_documents_seen_ == past + 320


def test_the_minibatch_of_a_stream_is_named():
    batches = [X[:20]] * 9 + [np.full((3, X.shape[1]), -1.0)] + [X[:20]] * 3
    model = experienced(SVBLDA(3, **SEED))
    with pytest.raises(PartitionError, match="minibatches 8 to 11 could not be learnt") as error:
        fit_stream(model, batches, Now(), rounds=4, staleness=0)
    assert error.value.number == 8


# What is taken in
