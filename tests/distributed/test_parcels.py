# SPDX-License-Identifier: BSD-3-Clause
"""What travels, and the memory of who learns it."""

import os
import pickle
import sys

import numpy as np
import pytest

from streamtopics import GibbsOnlineEM
from streamtopics.distributed.composites import local_task
from streamtopics.distributed.parcels import packed
from tests.distributed.corpus import X, experienced


def test_a_parcel_has_the_object_and_does_not_copy_its_arrays():
    value = {"counts": np.arange(10**5, dtype=np.float32), "name": "a", "some": np.arange(3)[::2]}
    parcel = packed(value)
    assert len(parcel.head) < 1000
    assert any(np.shares_memory(one, value["counts"]) for one in parcel.arrays)
    for way in (parcel, pickle.loads(pickle.dumps(parcel, protocol=5))):
        found = way.opened()
        assert found["name"] == "a"
        assert found["counts"].dtype == np.float32
        np.testing.assert_array_equal(found["counts"], value["counts"])
        np.testing.assert_array_equal(found["some"], value["some"])


@pytest.mark.parametrize("single", [False, True])
def test_a_task_that_travelled_finds_the_same(single):
    """Also where its arrays may not be written to."""
    model = experienced(GibbsOnlineEM(5, batch_size=20, random_state=0))
    batches = [model._read("partial_fit", reset=False, X=X[a : a + 20]).minibatch for a in (0, 20)]
    words = np.unique(np.concatenate([batch.words for batch in batches]))
    task = local_task(model, words, single=single)
    sent = packed(task)
    for array in sent.arrays:
        array.flags.writeable = False
    found, expected = sent.opened().run(batches), task.run(batches)
    counts = expected.blend.statistics.counts
    assert counts.dtype == (np.float32 if single else np.float64)
    assert found.blend.statistics.counts.tobytes() == counts.tobytes()
    assert found.blend.statistics.words.tobytes() == expected.blend.statistics.words.tobytes()


KEEPS = "from streamtopics.distributed.memory import keep_memory; print(keep_memory())"
GLIBC = sys.platform.startswith("linux") and "glibc" in os.confstr("CS_GNU_LIBC_VERSION").lower()


@pytest.mark.parametrize(
    ("threshold", "keeps"), [("65536", GLIBC), ("1000000", False), (None, False)]
)
def test_memory_is_kept_where_dask_would_give_it_back(threshold, keeps, monkeypatch, python):
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    if threshold is not None:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", threshold)
    with python(["-c", KEEPS]) as process:
        assert process.communicate() == (f"{keeps}\n", "")
        assert process.wait() == 0
