# SPDX-License-Identifier: BSD-3-Clause
"""What the experiments of the BPS paper compute, beside plain twins."""

import numpy as np
import pytest
from scipy import sparse, stats

from benchmarks.papers import bps_case_1, bps_case_2, bps_case_3, bps_dirichlets, bps_sizes
from benchmarks.papers.bps_looks import looks, minibatches
from streamtopics import AspectSentimentModel
from streamtopics.priors import SeedWords
from streamtopics.updates import BPS, SVB


@pytest.mark.parametrize("n", [1, 2, 9, 10, 11, 250])
def test_streams_are_looked_at_first_and_last_and_at_most_ten_times(n):
    found = looks(n)
    assert {0, n - 1} <= found <= {*range(n)}
    assert len(found) == min(n, 10)
    assert max(np.diff(sorted(found)), default=1) <= np.ceil((n - 1) / 9) if n > 10 else True


def test_minibatches_are_all_of_the_stream():
    found = list(minibatches(1050, 100))
    rows = np.concatenate([np.arange(1050)[of] for of, *_ in found])
    assert (rows == np.arange(1050)).all()
    assert [seen for *_, seen in found][-2:] == [1000, 1050]
    assert [moment for _, _, moment, _ in found if moment] == ["first", "last"]
    assert all(look for _, look, moment, _ in found if moment)


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


def test_the_limit_of_the_coin_is_that_of_long_streams():
    prior_mean, noise, n = 0.5, 0.3, 10**9
    heads = (bps_case_1.THETA + noise - 2 * bps_case_1.THETA * noise) * n
    long = (prior_mean * (1 + bps_case_1.SCALE * n) + heads) / (1 + n * (1 + bps_case_1.SCALE))
    assert bps_case_1.limit(bps_case_1.SCALE, prior_mean, noise) == pytest.approx(long, rel=1e-8)


def test_noise_turns_over_as_many_flips_as_it_says():
    pairs = [bps_case_1.flipped(split, 0.3) for split in range(200)]
    share = np.mean([noisy != clean for noisy, clean in pairs])
    assert share == pytest.approx(0.3, abs=0.01)
    assert np.mean([clean for _, clean in pairs]) == pytest.approx(bps_case_1.THETA, abs=0.01)


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
        1, sentiments=sentiments, topic_word_prior=prior, boosting_scale=1.0, random_state=0
    ).fit(data.X)
    found = bps_case_2.accuracy(model, data.X, data.y)
    assert found == np.mean((model.predict(data.X) == "positive") == data.y) > 0.9
    nothing = np.empty(1, dtype=object)
    nothing[:] = [data.X[0] * 0]
    assert bps_case_2.accuracy(model, nothing, data.y[:1]) == 0.5


def test_splits_share_no_document_and_differ():
    one, other = (bps_case_3.split_of(bps_case_3.QUICK_SET, split, quick=True) for split in (0, 1))
    X, words = bps_case_3.counts(bps_case_3.QUICK_SET)
    assert one.train.shape == other.train.shape == (400, len(words))
    assert one.test.shape == (200, len(words))
    assert (one.test != other.test).nnz
    order = np.random.default_rng(0).permutation(X.shape[0])
    assert (one.test != X[order[:200]]).nnz == 0
    assert (one.train != X[order[200:600]]).nnz == 0


def test_sizes_of_reviews_are_those_of_the_sentences():
    data = bps_case_2.few()
    found = bps_sizes.reviews(data)
    lengths = [x.sum(axis=1) for x in data.X]
    assert found["reviews"] == found["positive"] + found["negative"] == len(data.X)
    assert found["words a review"] == pytest.approx(np.mean([one.sum() for one in lengths]))
    assert found["words a sentence"] == pytest.approx(np.concatenate(lengths).mean())
