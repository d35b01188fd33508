# SPDX-License-Identifier: BSD-3-Clause
"""Seeds of documents: of their place in the stream, and of what is in them."""

import numpy as np
from numpy.testing import assert_array_equal
from scipy import sparse

from streamtopics import GibbsOnlineEM
from streamtopics.local import Variational
from streamtopics.local.step import content_seeds, document_seeds, minibatch_of
from streamtopics.models import LDA
from streamtopics.models.lda import mean
from streamtopics.models.sources import NOISE
from streamtopics.posteriors import TopicPosterior
from streamtopics.updates import SVB
from streamtopics.utils.parallel import SERIAL
from tests.updates.given import take


def assert_looks_uniform(seeds):
    """Every bit is set in half of them, and neighbours share half of their bits."""
    assert seeds.dtype == np.uint64
    for words in (seeds, seeds[1:] ^ seeds[:-1]):
        bits = np.unpackbits(words.view(np.uint8)).reshape(-1, 64).mean(axis=0)
        assert np.abs(bits - 0.5).max() < 5 * 0.5 / len(words) ** 0.5


def test_documents_of_streams_have_seeds_of_their_own():
    streams = [document_seeds(seed, 0, 20_000) for seed in (0, 1, 2, 3, 2**31 - 2)]
    everything = np.concatenate(streams)
    assert len(np.unique(everything)) == len(everything)
    for seeds in streams:
        assert_looks_uniform(seeds)
    assert_looks_uniform(streams[0] ^ streams[1])


def test_a_learner_gives_documents_the_seeds_of_their_places_in_the_stream():
    seen = []

    class Recorder(Variational):
        def step(self, minibatch, topics, seeds, *others):
            seen.append(seeds)
            return super().step(minibatch, topics, seeds, *others)

    posterior = TopicPosterior(np.full((1, 1), 0.2), (6, 2), np.full(2, 0.5))
    model = LDA(mean, Recorder(0.0, 1), Variational(0.0, 1), 3, NOISE)
    for n in (5, 0, 2):
        minibatch = minibatch_of(sparse.csr_matrix(np.ones((n, 6))))
        take(SVB(), posterior, model.learner(posterior, minibatch, SERIAL))
    assert [len(seeds) for seeds in seen] == [5, 0, 2]
    assert_array_equal(np.concatenate(seen), document_seeds(3, 0, 7))


def seeds_of(X, dtype=np.float64):
    return content_seeds(minibatch_of(sparse.csr_matrix(X, dtype=dtype)))


def corpus(n=300, n_words=40):
    rng = np.random.default_rng(41)
    return rng.poisson(rng.gamma(0.2, 4.0, (n, n_words))) * rng.choice([1.0, 0.5, 3.25], (n, 1))


def test_any_change_of_a_document_changes_its_seed():
    documents = np.array([
        [0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [2, 0, 0, 0], [1, 1, 0, 0],
        [1, 2, 0, 0], [2, 1, 0, 0], [1, 0, 2, 0], [1, 2, 3, 0], [3, 2, 1, 0], [1.5, 2, 1, 0],
    ])  # fmt: skip
    assert len(np.unique(seeds_of(documents))) == len(documents)


def test_content_seeds_do_not_depend_on_the_company():
    X = corpus()
    seeds = seeds_of(X)
    order = np.random.default_rng(1).permutation(len(X))
    assert_array_equal(seeds_of(X[order]), seeds[order])
    for i in range(0, len(X), 50):
        assert_array_equal(seeds_of(X[i : i + 1]), seeds[i : i + 1])
    assert_array_equal(seeds_of(X[40:90]), seeds[40:90])


def test_content_seeds_do_not_depend_on_the_order_of_the_columns():
    rng = np.random.default_rng(2)
    X = sparse.csr_matrix(corpus())
    shuffled = X.copy()
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        order = start + rng.permutation(stop - start)
        shuffled.indices[start:stop] = X.indices[order]
        shuffled.data[start:stop] = X.data[order]
    shuffled.has_sorted_indices = False
    assert not np.array_equal(shuffled.indices, X.indices)
    assert_array_equal(content_seeds(minibatch_of(shuffled)), content_seeds(minibatch_of(X)))


def test_content_seeds_do_not_depend_on_zeros_that_are_stored():
    other = sparse.csr_matrix(([1.0, 0.0, 2.0], [0, 1, 2], [0, 3]), shape=(1, 3))
    assert_array_equal(content_seeds(minibatch_of(other)), seeds_of([[1, 0, 2]]))


def test_transform_does_not_depend_on_how_a_document_is_stored():
    X = np.random.default_rng(0).poisson(0.5, (200, 12)).astype(float)
    model = GibbsOnlineEM(5, random_state=0).fit(X)
    plain = sparse.csr_matrix(X[:1])
    data, indices = (np.r_[half[::-1], half] for half in (plain.data / 2, plain.indices))
    twice = sparse.csr_matrix((data, indices, [0, 2 * plain.nnz]), shape=(1, 12))
    assert_array_equal(model.transform(twice), model.transform(plain))
