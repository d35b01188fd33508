# SPDX-License-Identifier: BSD-3-Clause
"""Where rounds meet parts of minibatches, ends of streams, tables, clocks and wrong input."""

import itertools
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from streamtopics import SVBLDA, GibbsOnlineEM, StreamingLDA
from streamtopics.distributed import PartitionError, fit_partitions, fit_stream
from streamtopics.estimators import Schedule
from streamtopics.streams import Checkpointer, resume
from streamtopics.updates import Memory, PopulationVB, PowerPrior
from tests.distributed.corpus import (
    LATE,
    PARTITIONS,
    SEED,
    TEXTS,
    X,
    bits,
    experienced,
    minibatches,
    of_texts,
    serial,
)
from tests.distributed.engines import Now

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


def test_a_merge_of_minibatches_in_parts_forgets_by_documents():
    update, schedule = PowerPrior(Memory(100)), Schedule(inner_batch_size=5)
    base = StreamingLDA(5, update=update, schedule=schedule, **SEED).partial_fit(X[:40])
    one, other = deepcopy(base), deepcopy(base)
    merged = one.partial_fit(X[40:80]).merge(other.partial_fit(X[80:120]), base=base)
    learnt = merged.posterior_.learnt_part.sum()
    parts = serial(base, [X[:40], X[40:80], X[80:120]]).posterior_.learnt_part.sum()
    assert_allclose(learnt, parts, rtol=0.02)
    left = np.exp(-40 / 100)
    expected = X[:40].sum() * left**2 + X[40:80].sum() * left + X[80:120].sum()
    assert_allclose(learnt, expected, rtol=0.2)


@pytest.mark.parametrize("doc_topic", ["fixed", "fixed_point", "gamma"])
def test_a_merge_with_a_copy_that_learnt_nothing_changes_nothing(doc_topic):
    model = GibbsOnlineEM(4, doc_topic_prior_update=doc_topic, **SEED)
    base = serial(model, itertools.islice(itertools.cycle(minibatches()), 80))
    one, other = deepcopy(base), deepcopy(base)
    one.partial_fit(X[:20])
    before = one.components_.copy(), one.doc_topic_prior_.copy()
    one.merge(other, base=base)
    assert_allclose(one.components_, before[0], rtol=1e-12)
    assert_allclose(one.doc_topic_prior_, before[1], rtol=1e-12)


def test_an_endless_stream_ends_where_a_callback_says():
    endless = itertools.cycle([X[:20]])
    for last in (1, 5):
        stop = [lambda _, info, n=last: info.batch >= n]
        found = fit_stream(SVBLDA(3, **SEED), endless, Now(), callbacks=stop)
        assert last <= found.n_batch_iter_ < last + 10


def run(path, model, batches, every, **schedule):
    """Bits of a stream that begins where the last checkpoint is, if there is one."""
    found = resume(path)
    model, done = (model, 0) if found is None else (found.model, found.n_batches)
    keeper = Checkpointer(path, every=every)
    return bits(fit_stream(model, batches, Now(), skip=done, callbacks=[keeper], **schedule))


MANY = [X[:100]] * 100
FEW = [*minibatches()]


@pytest.mark.parametrize(
    ("begin", "batches", "cut", "every", "rounds"),
    [
        (experienced, FEW, 18, 6, 4),
        (experienced, FEW, 24, 8, 4),
        # Minibatches of more documents than `batch_size` count as several.
        *((clone, MANY, cut, 4, 8) for cut in (48, 52, 56)),
    ],
)
def test_a_stream_from_here_is_resumed_with_the_same_bits(
    tmp_path, begin, batches, cut, every, rounds
):
    model, given = GibbsOnlineEM(5, **SEED), {"every": every, "rounds": rounds, "staleness": 2}
    expected = run(tmp_path / "whole", begin(model), batches, **given)
    run(tmp_path / "cut", begin(model), batches[:cut], **given)
    assert resume(tmp_path / "cut").n_batches == cut
    assert run(tmp_path / "cut", begin(model), batches, **given) == expected


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


TABLE = pd.DataFrame({"text": TEXTS, "stars": range(120)})


def test_files_and_tables_of_texts(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(TEXTS))
    for part in (str(path), TABLE):
        found = fit_partitions(of_texts(SVBLDA), [part], Now())[-1]
        assert (found.n_documents_seen_, found.n_tokens_seen_) == (120, 300)


@pytest.mark.parametrize(
    ("model", "partitions", "message"),
    [
        (of_texts(SVBLDA), TEXTS, "red green red"),
        (of_texts(SVBLDA), [TABLE.rename(columns={"text": "a"})], "names of columns would be read"),
        (SVBLDA(2, **SEED), [TEXTS], r"partition 0.*are not rows of counts.*pipeline"),
    ],
    ids=["no paths", "no column of texts", "no vectorizer"],
)
def test_what_cannot_be_read_as_texts_is_named(model, partitions, message):
    with pytest.raises(PartitionError, match=message):
        fit_partitions(model, partitions, Now())


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
    for given in ([*FEW[:9], ["a text"], *FEW], map(FEW[:9].__getitem__, range(12))):
        with pytest.raises(PartitionError, match="minibatch 9 could not be read") as error:
            fit_stream(model, given, Now(), rounds=4)
        assert error.value.n_batches == 9
