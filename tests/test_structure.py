# SPDX-License-Identifier: BSD-3-Clause
"""Matrices whose arrays or counts do not fit are refused by name wherever they come in."""

import json
import re

import numpy as np
import pytest
from scipy import sparse

from streamtopics.structure import check_structure

NAMED = re.compile(r"\b(X|documents|raw_documents|source)\b")


def test_everything_public_that_takes_a_matrix_looks_at_its_arrays_and_counts(python):
    """In a process of its own, since what is not refused may end it."""
    with python(["-m", "tests.malformed"]) as process:
        out, errors = process.communicate()
    lines = [json.loads(line) for line in out.splitlines()]
    assert process.wait() == 0, (lines[-1:], errors[-2000:])
    found = [line for line in lines if "error" in line]
    right = [line for line in found if line["case"] == "right"]
    assert [line for line in right if line["error"] != "none"] == []
    spoilt = [line for line in found if line["case"] != "right"]
    kinds = {"TypeError", "ValueError"}
    wrong = [x for x in spoilt if x["error"] not in kinds or not NAMED.search(x["message"])]
    assert wrong == []
    doors = {line["door"] for line in found}
    assert {"class_words_prior", "iter_minibatches", "left_to_right", "SVBLDA.score"} <= doors
    assert len(spoilt) >= 10 * len(doors) > 1000
    counts = {line["door"] for line in found if line["case"] == "a count of 1e-40"}
    assert {"completion_split", "topic_coherence", "AspectSentimentModel.score", "report"} <= counts
    assert len(counts) > 100


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr", "coo", "lil", "dia", "dok"])
def test_what_fits_passes(kind):
    for shape in ((4, 6), (0, 6), (4, 0)):
        check_structure(sparse.csr_matrix(np.ones(shape)).asformat(kind), "here")
        check_structure(sparse.csr_array(np.zeros(shape)).asformat(kind), "here")


@pytest.mark.parametrize("place", [-1, 6])
def test_coordinates_and_blocks_are_looked_at_too(place):
    X = sparse.coo_matrix(np.eye(6))
    X.col[2] = place
    with pytest.raises(ValueError, match=f"X, a COO matrix passed to here, .* column {place}, but"):
        check_structure(X, "here")
    X = sparse.bsr_matrix(np.ones((6, 6)), blocksize=(2, 2))
    X.indices[0] = place
    with pytest.raises(ValueError, match=f"a BSR matrix .* column of blocks {place}, but only 3"):
        check_structure(X, "here")


def test_coordinates_that_are_too_few_are_refused():
    X = sparse.coo_matrix(np.eye(6))
    X.data = X.data[:3].copy()
    with pytest.raises(ValueError, match="coordinates that do not fit its 3 stored entries"):
        check_structure(X, "here")


def test_what_is_no_matrix_is_left_to_others():
    for thing in ([[1.0]], "text", None, sparse.coo_array(np.ones(3))):
        check_structure(thing, "here")
