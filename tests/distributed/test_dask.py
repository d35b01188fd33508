# SPDX-License-Identifier: BSD-3-Clause
"""A cluster of two worker processes: its collections, and workers that die, hang or fail."""

import os
import signal
import time
from collections import Counter
from contextlib import suppress

import dask
import pandas
import pytest
from dask import bag, dataframe
from dask.distributed import Client, LocalCluster
from distributed.utils import get_mp_context
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer

from streamtopics import GibbsOnlineEM, StreamingLDA
from streamtopics.distributed import (
    PartitionError,
    count_vocabulary,
    fit_partitions,
    fit_stream,
    score_partitions,
    transform_partitions,
)
from tests.distributed.corpus import (
    LATE,
    ONE,
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

MODEL = GibbsOnlineEM(5, **SEED)


@pytest.fixture(scope="module")
def client():
    settings = {
        "distributed.comm.timeouts.connect": "5s",
        # Else a worker that is slow to start again is given up for good.
        "distributed.deploy.lost-worker-timeout": "10m",
        "distributed.worker.profile.enabled": False,
        "distributed.worker.multiprocessing-method": "forkserver",
    }
    with dask.config.set(settings):
        # Workers are forks of a process that has imported all that they need, in milliseconds.
        get_mp_context().set_forkserver_preload(["distributed.nanny", __name__])
        # They are forks of a process with threads, and might hang: none is waited for without end.
        cluster = LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0,
            death_timeout=60,
        )  # fmt: skip
        try:
            with Client(cluster) as client:
                yield client
        finally:
            # A worker that is starting again just now fails an assertion of older releases.
            with suppress(TimeoutError, AssertionError):
                cluster.close(timeout=60)


@pytest.fixture(autouse=True)
def all_workers(client):
    """Wait for the workers that come in the place of others, whose start has traces."""
    yield
    client.wait_for_workers(2, timeout=200)


@pytest.fixture(scope="module")
def expected():
    return bits(fit_partitions(experienced(MODEL), PARTITIONS, Now(), **LATE))


def test_processes_change_no_bit(client, expected):
    for engine in (client, client.get_executor(retries=1)):
        assert bits(fit_partitions(experienced(MODEL), PARTITIONS, engine, **LATE)) == expected
    assert bits(fit_partitions(clone(MODEL), PARTITIONS, client, **ONE)) == bits(serial(MODEL))


def test_a_base_that_workers_share_is_not_changed(client):
    """Tasks on one worker are given the same object, which each must copy before it learns."""
    first = StreamingLDA(5, inference="variational", **SEED)
    found = fit_partitions(clone(first), PARTITIONS, client, rounds=4, staleness=0)
    assert found.posterior_.n_batches == serial(first).posterior_.n_batches


def test_a_stream_from_here(client):
    found = fit_stream(experienced(MODEL), minibatches(), client, rounds=4)
    assert found.n_documents_seen_ == 8 * X.shape[0]
    assert bits(found) == bits(fit_stream(experienced(MODEL), minibatches(), Now(), rounds=4))


def test_collections_of_dask(client):
    model, parts = of_texts(GibbsOnlineEM), [TEXTS[:60], TEXTS[60:]]
    expected = bits(fit_partitions(clone(model), parts, Now(), **LATE)[-1])
    table = dataframe.from_pandas(pandas.DataFrame({"text": TEXTS}), npartitions=2)
    collections = [
        bag.from_sequence(TEXTS, npartitions=2),
        table,
        table["text"],
        [dask.delayed(part) for part in parts],
        client.scatter(parts),
    ]
    for i, one in enumerate(collections):
        engine = client if i else client.get_executor(retries=1)
        assert bits(fit_partitions(clone(model), one, engine, **LATE)[-1]) == expected


class Once:
    """Does something to the worker that first reads one of the partitions, and never again."""

    def __init__(self, folder, number, what):
        self.path, self.number, self.what = os.fspath(folder / f"{number}"), number, what

    def __call__(self, number):
        if number == self.number:
            try:
                os.close(os.open(self.path, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                self.what()
        return PARTITIONS[number]


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def hang():
    time.sleep(2.0)


@pytest.mark.parametrize("what", [die, hang])
@pytest.mark.parametrize("number", [0, 4])
def test_a_worker_that_dies_or_hangs_once_changes_no_bit(client, tmp_path, expected, what, number):
    read = Once(tmp_path, number, what)
    found = fit_partitions(experienced(MODEL), range(5), client, read=read, **LATE)
    assert bits(found) == expected


def test_data_that_died_with_its_worker_is_named(client):
    parts = client.scatter(PARTITIONS)
    for pid in client.run(os.getpid).values():
        os.kill(pid, signal.SIGKILL)
    with pytest.raises(PartitionError, match="partition 0 could not be read"):
        fit_partitions(clone(MODEL), parts, client, **LATE)
    found = fit_partitions(experienced(MODEL), PARTITIONS, client, **LATE)
    assert found.n_documents_seen_ == 8 * X.shape[0]


class Poison:
    """Kills each worker that reads one of the partitions, and leaves a file of each."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, number):
        if number == 3:
            (self.folder / str(os.getpid())).touch()
            die()
        return PARTITIONS[number]


def test_a_partition_that_kills_every_worker_is_named(client, tmp_path):
    """Dask begins it again three times by itself, and nobody else does.

    It blames all that a worker held when it died, and one that waited there may be given up first.
    """
    model = clone(MODEL)
    with pytest.raises(PartitionError, match=r"partition \d could not be read: Killed") as error:
        fit_partitions(model, range(5), client, read=Poison(tmp_path))
    assert len(list(tmp_path.iterdir())) == 4
    before = PARTITIONS[: error.value.number]
    assert getattr(model, "n_documents_seen_", 0) == sum(part.shape[0] for part in before)
    assert error.value.number <= 3
    found = fit_partitions(experienced(MODEL), PARTITIONS, client, **LATE)
    assert found.n_documents_seen_ == 8 * X.shape[0]


def test_words_are_counted_where_they_are(client):
    found = count_vocabulary(CountVectorizer(min_df=31), [TEXTS[:60], [], TEXTS[60:]], client)
    words = Counter(word for text in TEXTS for word in set(text.split()))
    assert found.get_feature_names_out().tolist() == sorted(w for w in words if words[w] >= 31)


def test_reading_on_workers(client):
    model = serial(MODEL)
    found = list(transform_partitions(model, PARTITIONS, client))
    assert [part.shape[0] for part in found] == [part.shape[0] for part in PARTITIONS]
    assert (found[1] == model.transform(PARTITIONS[1])).all()
    score = score_partitions(model, PARTITIONS, client)
    assert abs(score - model.score(X)) < 0.01
