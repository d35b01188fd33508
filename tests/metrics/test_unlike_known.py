# SPDX-License-Identifier: BSD-3-Clause
"""Documents that are none of these: the conformal test against plain loops, and its level."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.decomposition import LatentDirichletAllocation

from streamtopics import StreamingLDA, StreamingMixture
from streamtopics.datasets import make_lda_corpus
from streamtopics.metrics import unlike_known
from streamtopics.text import NamedCounts
from tests.small import COUNTS

X = make_lda_corpus(n_documents=900, n_features=150, doc_topic_prior=0.1, random_state=0).X
LEARNT, KNOWN, NEW = X[:500], X[500:699], X[699:]
OTHER = make_lda_corpus(n_documents=100, n_features=150, random_state=5).X
NONE = sparse.csr_matrix((3, 150))


@pytest.fixture(scope="module", name="model")
def clusters():
    return StreamingMixture(5, random_state=0).fit(LEARNT)


@pytest.mark.parametrize("reject", [0.0, 0.005, 0.05, 0.3])
def test_it_is_the_rank_among_the_known_ones(model, reject):
    of_known = model.held_out_log_probability(KNOWN, KNOWN)
    mean = of_known.sum() / KNOWN.sum()

    def surprise(X):
        n = np.asarray(X.sum(axis=1)).ravel()
        return (model.held_out_log_probability(X, X) - mean * n) / np.sqrt(n)

    usual, mine = surprise(KNOWN), surprise(NEW)
    expected = [(1 + sum(u <= z for u in usual)) <= reject * 200 for z in mine]
    assert unlike_known(model, NEW, KNOWN, reject).tolist() == expected
    alike = [unlike_known(model, X, KNOWN, reject) for X in (KNOWN, KNOWN.astype(float))]
    assert_array_equal(*alike)


def test_at_most_the_share_of_documents_alike_is_told():
    """100 deals of 20 known ones: 5 % are told, and a hundredth more by chance once in 1,000."""
    rng, model = np.random.default_rng(0), StreamingLDA(5, random_state=0).fit(LEARNT)
    fresh, told = X[500:], 0
    for _ in range(100):
        order = rng.permutation(400)
        told += unlike_known(model, fresh[order[99:139]], fresh[order[:99]], 0.05).sum()
    assert 0.03 < told / 4000 < 0.065


def test_strange_documents_and_those_without_a_word_get_no_cluster(model):
    clusters = model.predict(sparse.vstack([NEW, OTHER, NONE]), reject=0.05, known=KNOWN)
    assert np.mean(clusters[: NEW.shape[0]] == -1) < 0.1
    assert np.mean(clusters[NEW.shape[0] : -3] == -1) > 0.9
    assert (clusters[-3:] == -1).all()
    kept = clusters >= 0
    plain = model.predict(sparse.vstack([NEW, OTHER, NONE]))
    assert (clusters[kept] == plain[kept]).all()
    assert (plain >= 0).all()
    only_empty = model.predict(sparse.vstack([NEW, NONE]), reject=0.0, known=KNOWN)
    assert (only_empty == -1).tolist() == [False] * NEW.shape[0] + [True] * 3


def test_names_other_models_and_known_documents_without_words(model):
    names = [f"w{i}" for i in range(150)]
    named = StreamingMixture(3, random_state=0).fit(NamedCounts.of(LEARNT, names))
    other, known = NamedCounts.of(OTHER, names), NamedCounts.of(KNOWN, names)
    assert (named.predict(other, reject=0.1, known=known) == -1).mean() > 0.9
    theirs = LatentDirichletAllocation(3, random_state=0, max_iter=2).fit(LEARNT)
    assert unlike_known(theirs, OTHER, KNOWN, 0.1).mean() > 0.8
    mixed, expected = sparse.vstack([NONE, KNOWN]), unlike_known(model, NEW, KNOWN, 0.1)
    assert (unlike_known(model, NEW, mixed, 0.1) == expected).all()


def test_what_is_refused(model):
    for reject in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match=r"reject must be a number in \[0, 1\]"):
            model.predict(NEW, reject=reject, known=KNOWN)
    with pytest.raises(ValueError, match=r"reject=0\.1 needs known documents"):
        model.predict(NEW, reject=0.1)
    with pytest.raises(ValueError, match="features"):
        model.predict(NEW, reject=0.1, known=KNOWN[:, :9])


def test_explicit_zeros_and_lists_are_counts():
    class Theirs:
        components_ = np.array([[1.0, 1, 0, 0], [1, 1, 0, 0]])

        def transform(self, X):
            return np.full((X.shape[0], 2), 0.5)

    known = sparse.csr_matrix(np.array([[2.0, 3, 0, 0]] * 30))
    zero = sparse.csr_matrix(([2.0, 3, 0], [0, 1, 2], [0, 3]), shape=(1, 4))
    for each in (known, sparse.vstack([known, zero])):
        assert unlike_known(Theirs(), np.array([[0, 0, 1.0, 5]]), each, 0.1).tolist() == [True]
    impossible = np.array([[2.0, 3, 1, 0]] * 10)
    each = np.vstack([known.toarray(), impossible])
    assert not unlike_known(Theirs(), impossible, each, 0.1).any()
    model = LatentDirichletAllocation(2, random_state=0).fit(COUNTS)
    known, new = COUNTS[5:], COUNTS[:3]
    found = unlike_known(model, new.tolist(), known.tolist(), 0.1)
    assert_array_equal(found, unlike_known(model, new, known, 0.1))
