# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments of the BPS paper compute, beside plain twins."""

import numpy as np
import pytest
from scipy import sparse, stats

from benchmarks.papers import bps_case_1, bps_case_2, bps_case_3, bps_dirichlets, bps_masses
from streamtopics import AspectSentimentModel
from streamtopics.metrics import completion_split
from streamtopics.priors import SeedWords
from streamtopics.updates import BPS, SVB


@pytest.mark.parametrize("prior_mean", bps_case_1.PRIOR_MEANS)
def test_the_coin_is_what_counting_gives(prior_mean):
    flips, _ = bps_case_1.flipped(3, 0.1)
    scale, n = bps_case_1.SCALE, bps_case_1.BATCH
    heads = np.r_[0, np.cumsum(flips.reshape(-1, n).sum(axis=1))]
    seen = np.arange(len(heads)) * n
    svb = (prior_mean + heads) / (1 + seen)
    bps = (prior_mean * (1 + scale * seen) + heads) / (1 + seen * (1 + scale))
    assert np.allclose(bps_case_1.trajectory(SVB(), prior_mean, flips), svb, rtol=1e-12)
    assert np.allclose(bps_case_1.trajectory(BPS(scale), prior_mean, flips), bps, rtol=1e-12)


@pytest.mark.parametrize("rate", bps_dirichlets.RATES)
def test_components_of_a_boosted_dirichlet(rate):
    rows = list(bps_dirichlets.EXPERIMENT.run({"rate": rate}, quick=True))
    parameter = rate * np.array(bps_dirichlets.ETA)
    for i, name in enumerate(("x1", "x2", "x3")):
        of = [row for row in rows if row["component"] == name]
        twin = stats.beta(parameter[i], parameter.sum() - parameter[i])
        x = np.array([row["x"] for row in of])
        assert np.allclose([row["density"] for row in of], twin.pdf(x), rtol=1e-10)
        assert of[0]["deviation"] == pytest.approx(twin.std(), rel=1e-12)
        assert of[0]["mean"] == pytest.approx(stats.dirichlet(parameter).mean()[i], rel=1e-12)
    # The mode is where no neighbour on the simplex is denser.
    modes = np.array([row["mode"] for row in rows[:: len(bps_dirichlets.PLACES)]])
    dirichlet = stats.dirichlet(parameter)
    assert modes.sum() == pytest.approx(1)
    for i, j in ((0, 1), (1, 2), (2, 0)):
        moved = modes.copy()
        moved[i] += 1e-3
        moved[j] -= 1e-3
        assert dirichlet.pdf(modes) > dirichlet.pdf(moved)


def test_seed_words_are_counted():
    X = np.empty(4, dtype=object)
    for d, words in enumerate(([2, 0], [0, 1], [1, 1], [3, 1])):
        X[d] = sparse.csr_matrix([[*words, 5]], dtype=float)
    seeds = {"positive": np.array([True, False, False]), "negative": np.array([False, True, False])}
    data = bps_case_2.Reviews(X, np.array([True, True, True, False]), seeds)
    # Right, wrong, even, wrong.
    assert bps_case_2.counted(data, 4, 0) == pytest.approx((1 + 0 + 0.5 + 0) / 4)


@pytest.mark.parametrize("sentiments", [("positive", "negative"), ("negative", "positive")])
def test_sentiments_are_right_where_the_prediction_is(sentiments):
    data = bps_case_2.few()
    words = np.arange(data.X[0].shape[1]).astype(str)
    seeds = {name: list(words[own]) for name, own in data.seeds.items()}
    prior = SeedWords(seeds, 10.0, vocabulary=list(words))
    model = AspectSentimentModel(
        1, sentiments=sentiments, topic_word_prior=prior, update=BPS(1.0, "topic"), random_state=0
    ).fit(data.X)
    found = bps_case_2.accuracy(model, data.X, data.y)
    assert found == np.mean((model.predict(data.X) == "positive") == data.y) > 0.9
    nothing = np.empty(1, dtype=object)
    nothing[:] = [data.X[0] * 0]
    assert bps_case_2.accuracy(model, nothing, data.y[:1]) == 0.5


def test_word_frequencies_are_those_of_the_documents_so_far():
    split = bps_case_3.split_of(bps_case_3.QUICK_SET, 0, quick=True)
    _, held_out = completion_split(split.test)
    for row in bps_case_3.rows(None, split, 100):
        counts = split.train[: row["seen"]].toarray().sum(axis=0) + 0.01
        logs = held_out.toarray() @ np.log(counts / counts.sum())
        assert row["score"] == pytest.approx(logs.sum() / held_out.sum(), rel=1e-6)


def test_a_mass_of_one_is_that_of_the_figures():
    cell = {"corpus": bps_case_3.QUICK_SET, "split": 0}
    mine = list(bps_masses.run(cell | {"mass": 1}, quick=True))
    theirs = bps_case_3.run(cell | {"kind": bps_case_3.ENGLISH}, quick=True)
    assert [row["final"] for row in mine] == [row["final"] for row in theirs if row["final"]]
