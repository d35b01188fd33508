# SPDX-License-Identifier: BSD-3-Clause
"""The files of every format so far load, and the models in them say what they said."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from streamtopics import load
from streamtopics.saving.upgrades import FORMAT
from tests.saving.make_files import COUNTS, FILES, LABELS, POINTS, TEXTS, said_by

PATHS = sorted(FILES.rglob("*.model"))
GOES_ON = {
    "MultiViewLDA": (COUNTS, LABELS),
    "StreamingBayes": (POINTS,),
    "StreamingPipeline": (TEXTS,),
    "WASTopicModel": ([COUNTS[:4], COUNTS[4:8]],),
}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_before_loads_and_goes_on(path):
    model = load(path)
    said = np.load(path.parent / "said.npz")
    for i, found in enumerate(said_by(path.stem, model)):
        # Inference has other last bits on other processors.
        assert_allclose(found, said[f"{path.stem} {i}"], rtol=1e-5, atol=1e-8)
    n_documents = documents_seen_by(model)
    model.partial_fit(*GOES_ON.get(path.stem, (COUNTS,)))
    assert documents_seen_by(model) > n_documents


def documents_seen_by(model):
    learner = model[-1] if hasattr(model, "steps") else model
    return learner.posterior_.n_documents


def test_there_are_files_of_each_format():
    assert {path.parent.name for path in PATHS} == {f"format_{n + 1}" for n in range(FORMAT)}
    assert len(PATHS) >= 5 * FORMAT
