# SPDX-License-Identifier: BSD-3-Clause
"""Ray, where it is installed: the bits of the other engines, and errors by their own names."""

import pytest
from sklearn.base import clone

from streamtopics import GibbsOnlineEM
from streamtopics.distributed import PartitionError, count_vocabulary, fit_partitions
from streamtopics.text import StreamingCountVectorizer
from tests.distributed.corpus import PARTITIONS, SIZE, bits
from tests.distributed.engines import Now

MODEL = GibbsOnlineEM(5, batch_size=SIZE, random_state=0)


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield ray
    ray.shutdown()


@pytest.mark.filterwarnings("ignore")
def test_ray_changes_no_bit(ray):
    for late in ({"rounds": 8, "staleness": 2}, {"rounds": 1, "staleness": 0}):
        expected = bits(fit_partitions(clone(MODEL), PARTITIONS, Now(), **late))
        assert bits(fit_partitions(clone(MODEL), PARTITIONS, ray, **late)) == expected


@pytest.mark.filterwarnings("ignore")
def test_an_error_has_its_own_name(ray):
    def read(number):
        if number == 2:
            raise ValueError("no such bucket")
        return PARTITIONS[number]

    model = clone(MODEL)
    with pytest.raises(PartitionError, match="3 times failed: ValueError: no such bucket") as error:
        fit_partitions(model, range(5), ray, read=read)
    assert type(error.value.__cause__) is ValueError
    assert "\n" not in str(error.value)
    assert model.n_documents_seen_ == 400


@pytest.mark.filterwarnings("ignore")
def test_a_partition_that_kills_its_workers_is_begun_three_times(ray, tmp_path):
    """By this package alone: Ray would begin each attempt three times more."""

    def read(number):
        import os
        import signal

        if number == 2:
            (tmp_path / str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return PARTITIONS[number]

    with pytest.raises(PartitionError, match=r"partition 2 .*3 times .*WorkerCrashed") as error:
        fit_partitions(clone(MODEL), range(5), ray, read=read, patience=60.0)
    assert error.value.number == 2
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.filterwarnings("ignore")
def test_a_hung_task_is_begun_elsewhere_and_let_go(ray, tmp_path):
    def read(number):
        import time

        if number == 1 and not (tmp_path / "hung").exists():
            (tmp_path / "hung").touch()
            time.sleep(20)
        return PARTITIONS[number]

    late = {"rounds": 8, "staleness": 2}
    expected = bits(fit_partitions(clone(MODEL), PARTITIONS, Now(), **late))
    found = fit_partitions(clone(MODEL), range(5), ray, read=read, patience=0.5, **late)
    assert bits(found) == expected


@pytest.mark.filterwarnings("ignore")
def test_words_are_counted(ray):
    texts = [["red green", "red blue"], ["green red", "pink"]]
    found = count_vocabulary(StreamingCountVectorizer(min_df=2), texts, ray)
    assert found.get_feature_names_out().tolist() == ["green", "red"]
