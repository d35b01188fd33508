# SPDX-License-Identifier: BSD-3-Clause
"""The table of the methods of the literature: its rows, and the classes that some of them are."""

from dataclasses import fields

import pytest
from numpy.testing import assert_array_equal

import streamtopics
from streamtopics import StreamingLDA
from streamtopics.datasets import make_lda_corpus
from streamtopics.estimators.presets import PRESETS
from tests.estimators.table import CLASSES

X = make_lda_corpus(n_documents=250, n_features=60, mean_length=20, random_state=0).X
NAMED = [name for name in PRESETS if hasattr(streamtopics, name)]
# Small enough for several steps.
STREAM = {"batch_size": 50, "random_state": 3}


def learnt(model):
    return model.components_, model.transform(X), model.score_samples(X), model.doc_topic_prior_


def test_every_class_of_lda_is_a_row():
    assert set(NAMED) == set(CLASSES) - {"StreamingMixture"}
    assert len(NAMED) == 5


@pytest.mark.parametrize("name", NAMED)
def test_a_preset_of_a_class_is_its_row(name):
    """Bit for bit, also where the batch size is that of the row."""
    kind = getattr(streamtopics, name)
    assert kind.preset(name).batch_size == StreamingLDA.preset(name).batch_size
    one, other = (of.preset(name, 4, **STREAM).fit(X) for of in (kind, StreamingLDA))
    assert (type(one), type(other)) == (kind, StreamingLDA)
    for of_class, of_row in zip(learnt(one), learnt(other), strict=True):
        assert_array_equal(of_class, of_row)
    for model in (one, other):
        model.partial_fit(X[:70])
    assert_array_equal(one.components_, other.components_)


def test_rows_are_as_published():
    gibbs = streamtopics.GibbsOnlineEM.preset("GibbsOnlineEM", 20, kappa=0.6)
    assert (gibbs.n_components, gibbs.kappa) == (20, 0.6)
    assert (gibbs.n_sweeps, gibbs.schedule.n_start_rounds) == (20, 1)
    row = PRESETS["VariationalOnlineEM"]
    assert row["update"].step_size.kappa == row["doc_topic_prior_update"].step_size.kappa == 0.5
    assert (row["inference"].max_iter, row["inference"].tol) == (20, 0.0)
    assert streamtopics.SVBHPP.preset("SVBHPP").rate_starts == (0.5,)


@pytest.mark.parametrize("row", PRESETS)
def test_fields_of_the_rule_are_parameters(row):
    model = StreamingLDA.preset(row)
    deep, shallow = model.get_params(deep=True), model.get_params(deep=False)
    update = PRESETS[row]["update"]
    for field in fields(update):
        assert deep[f"update__{field.name}"] == getattr(update, field.name)
    assert any(name.startswith("inference__") for name in deep)
    assert not any("__" in name for name in shallow)
    before = model._composition()
    assert model.set_params(**deep)._composition() == before
