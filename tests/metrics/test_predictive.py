# SPDX-License-Identifier: BSD-3-Clause
"""Document completion against token-by-token twins, and what must not change it."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

from streamtopics import BPSLDA, SVBLDA, StreamingMixture
from streamtopics.datasets import make_lda_corpus
from streamtopics.messages import Minibatch
from streamtopics.metrics import (
    completion_split,
    log_predictive_probability,
    perplexity,
    predictive,
    unlike_known,
)
from streamtopics.text import NamedCounts

MODELS = [
    SVBLDA(n_components=3, random_state=0),
    BPSLDA(n_components=3, random_state=0),
    LatentDirichletAllocation(n_components=3, random_state=0),
]


def corpus(n_documents=120, n_features=30, mean=1.0, seed=0):
    """Counts of three overlapping topics; every tenth document is empty."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_features, 0.2), size=3)
    rates = rng.dirichlet(np.full(3, 0.5), size=n_documents) @ topics * n_features * mean
    rates[::10] = 0
    return sparse.csr_matrix(rng.poisson(rates).astype(np.float64))


def known_model(doc_topic, topic_word):
    return SimpleNamespace(transform=lambda X: doc_topic, components_=np.asarray(topic_word))


def tokens_of(row):
    return np.repeat(np.arange(row.shape[1]), row.toarray().ravel().astype(int)).tolist()


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_parts_add_up_to_the_counts_and_keep_their_type(dtype):
    whole, rng = corpus().astype(dtype), np.random.default_rng(0)
    fractions = sparse.random(
        200, 40, 0.5, "csr", dtype, rng, lambda size: rng.exponential(3, size)
    )
    assert_array_equal(
        completion_split(whole)[1].toarray(), completion_split(corpus())[1].toarray()
    )
    for X in (whole, fractions):
        observed, held_out = completion_split(X)
        assert observed.dtype == held_out.dtype == dtype
        assert_array_equal((observed + held_out).toarray(), X.toarray())
        assert observed.min() >= 0
        assert held_out.nnz > 0
        assert held_out.min() >= 0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_parts_of_data_frames_keep_double_precision(library):
    X = corpus() * 16_777_217
    frame = pytest.importorskip(library).DataFrame(X.toarray())
    for of_frame, expected in zip(completion_split(frame), completion_split(X), strict=True):
        assert of_frame.dtype == np.float64
        assert_array_equal(of_frame.toarray(), expected.toarray())


def test_a_fifth_is_held_out():
    X = corpus(n_documents=2000, mean=0.3)
    held_out = completion_split(X)[1]
    assert held_out.sum() / X.sum() == pytest.approx(0.2, abs=0.01)
    of_one_token = sparse.eye_array(3000, format="csr")
    assert completion_split(of_one_token)[1].nnz / 3000 == pytest.approx(0.2, abs=0.03)


def test_every_fifth_token_from_some_start():
    X = corpus()
    held_out = completion_split(X)[1]
    starts = set()
    for row, held in zip(X, held_out, strict=True):
        tokens = tokens_of(row)
        fits = [start for start in range(5) if tokens[start::5] == tokens_of(held)]
        assert fits
        if len(tokens) >= 5:
            starts.add(fits[0])
    assert starts == set(range(5))


@pytest.mark.parametrize("fraction", [1.0, 0.1, 1 / 3])
def test_a_row_is_split_alike_wherever_it_stands(fraction):
    X = corpus() * fraction
    order = np.random.default_rng(1).permutation(X.shape[0])
    for whole, part in zip(completion_split(X), completion_split(X[order]), strict=True):
        assert_array_equal(whole[order].toarray(), part.toarray())
    alone = sparse.vstack([completion_split(row)[1] for row in X])
    assert_array_equal(completion_split(X)[1].toarray(), alone.toarray())


def test_the_seed_changes_the_split():
    held_out = [completion_split(corpus(), seed)[1].toarray() for seed in (0, 1, 1)]
    assert (held_out[0] != held_out[1]).any()
    assert_array_equal(held_out[1], held_out[2])


@pytest.mark.parametrize("n_documents", [0, 3])
def test_scores_are_doubles_where_nothing_is_held_out(n_documents):
    nothing = sparse.csr_matrix((n_documents, 6))
    for part in completion_split(nothing):
        assert (part.shape, part.nnz) == (nothing.shape, 0)
    X = np.random.default_rng(0).poisson(1.0, (30, 6))
    model, other = SVBLDA(2).fit(X), LatentDirichletAllocation(2).fit(X)
    found = [predictive.held_out_log_probability(one, nothing, nothing) for one in (model, other)]
    if n_documents:
        found.append(model.score_samples(nothing))
    for scores in found:
        assert (scores.dtype, scores.shape) == (np.float64, (n_documents,))
        assert not scores.any()
    none = np.empty(0, np.int32)
    batch = Minibatch(np.arange(4, dtype=np.int32), np.zeros(3, np.int64), none, np.empty(0))
    assert batch.word_counts.dtype == batch.lengths.dtype == np.float64


def scrambled(X):
    """X with each count in two halves, columns in reverse, and a zero ahead of each row."""
    data = np.concatenate([[0.0, *row.data[::-1] / 2, *row.data / 2] for row in X])
    indices = np.concatenate([[0, *row.indices[::-1], *row.indices] for row in X])
    return sparse.csr_matrix((data, indices, 2 * X.indptr + np.arange(len(X.indptr))), X.shape)


def test_canonical_or_not_the_split_is_the_same_and_the_input_stays():
    X = corpus()
    other = scrambled(X)
    assert not other.has_canonical_format
    before = [array.copy() for array in (other.data, other.indices, other.indptr)]
    for got, expected in zip(completion_split(other), completion_split(X), strict=True):
        assert_array_equal(got.toarray(), expected.toarray())
    for now, then in zip((other.data, other.indices, other.indptr), before, strict=True):
        assert_array_equal(now, then)


def test_token_log_probability_is_the_sum_over_tokens(monkeypatch):
    rng = np.random.default_rng(0)
    X, theta, beta = corpus(), rng.dirichlet([1] * 3, 120), rng.dirichlet([1] * 30, 3)
    p = theta @ beta
    expected = [sum(np.log(p[d, w]) for w in tokens_of(row)) for d, row in enumerate(X)]
    got = predictive.token_log_probability(theta, beta, X)
    assert_allclose(got, expected, rtol=1e-12)
    monkeypatch.setattr(predictive, "ENTRIES_AT_ONCE", 7)
    assert_array_equal(predictive.token_log_probability(theta, beta, X), got)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("seed", [0, 3])
def test_score_by_hand(model, seed):
    X, test = corpus(), corpus(seed=1)
    model.fit(X)
    observed, held_out = completion_split(test, seed)
    theta = model.transform(observed)
    beta = model.components_ / model.components_.sum(axis=1, keepdims=True)
    p = theta @ beta
    terms = [np.log(p[d, w]) for d, row in enumerate(held_out) for w in tokens_of(row)]
    assert len(terms) == held_out.sum()
    for measure, expected in (
        (log_predictive_probability, np.mean(terms)), (perplexity, np.exp(-np.mean(terms)))
    ):  # fmt: skip
        assert measure(model, test, random_state=seed) == pytest.approx(expected, rel=1e-12)


NAMES = [f"w{i}" for i in range(30)]
FORMS = {
    "csr": lambda X: X, "sparray": sparse.csr_array, "dense": lambda X: X.toarray(),
    "int": lambda X: X.astype(np.int64), "float32": lambda X: X.astype(np.float32),
    "scrambled": scrambled, "NamedCounts": lambda X: NamedCounts.of(X, NAMES),
    "DataFrame": lambda X: pd.DataFrame(X.toarray(), columns=NAMES),
    "sparse DataFrame": lambda X: pd.DataFrame.sparse.from_spmatrix(X, columns=NAMES),
    "polars": lambda X: pytest.importorskip("polars").DataFrame(X.toarray(), schema=NAMES),
}  # fmt: skip


@pytest.mark.parametrize("model", MODELS[:2], ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("form", FORMS)
def test_equals_the_score_method(model, form):
    X, test = (FORMS[form](corpus(seed=seed)) for seed in (0, 1))
    model.fit(X)
    assert log_predictive_probability(model, test) == pytest.approx(model.score(test), rel=1e-7)
    if form in {"DataFrame", "sparse DataFrame", "polars"}:
        for one in model, MODELS[2].fit(X):
            assert not unlike_known(one, test, test, 0.001).all()
            for measure in log_predictive_probability, lambda *some: unlike_known(*some, X, 0.1):
                with pytest.raises(ValueError, match="names should match"):
                    measure(one, test[NAMES[::-1]])


def test_equals_the_score_with_the_mean_topics_and_proportions():
    test, model = corpus(seed=1), MODELS[0].fit(corpus())
    observed, held_out = completion_split(test)
    log_p = np.log(model.transform(observed) @ model.topic_word_)
    by_document = np.asarray(held_out.multiply(log_p).sum(axis=1)).ravel()
    assert model.score(test) == pytest.approx(by_document.sum() / held_out.sum(), rel=1e-12)
    assert_allclose(model.score_samples(test), by_document, rtol=1e-12)


def test_a_model_that_knows_nothing_has_the_perplexity_of_chance():
    X = corpus()
    model = known_model(np.full((120, 4), 0.25), np.full((4, 30), 7.0))
    assert log_predictive_probability(model, X) == pytest.approx(-np.log(30))
    assert perplexity(model, X) == pytest.approx(30)


def test_the_truth_scores_best():
    rng = np.random.default_rng(0)
    theta, beta = rng.dirichlet([0.5] * 3, 500), rng.dirichlet([0.1] * 20, 3)
    p = theta @ beta
    X = sparse.csr_matrix(rng.multinomial(100, p))
    truth = log_predictive_probability(known_model(theta, beta), X)
    entropy = -(p * np.log(np.where(p > 0, p, 1))).sum(axis=1).mean()
    assert truth == pytest.approx(-entropy, abs=0.03)
    blurred = known_model(0.8 * theta + 0.2 / 3, beta)
    assert log_predictive_probability(blurred, X) < truth


def test_limits():
    X = sparse.csr_matrix(np.full((2, 3), 5))
    impossible = known_model(np.ones((2, 1)), [[1.0, 1.0, 0.0]])
    assert log_predictive_probability(impossible, X) == -np.inf
    assert perplexity(impossible, X) == np.inf
    fair = known_model(np.ones((2, 1)), [[1.0, 1.0, 1.0]])
    for measure, nothing in (log_predictive_probability, X * 0), (perplexity, X[:0]):
        assert np.isnan(measure(fair, nothing))


def test_a_pipeline_is_scored_on_what_its_steps_make():
    pipeline = make_pipeline(Binarizer(), SVBLDA(n_components=2)).fit(corpus())
    counts = Binarizer().transform(corpus())
    for measure in (log_predictive_probability, perplexity):
        assert measure(pipeline, corpus()) == measure(pipeline[-1], counts)
        assert measure(pipeline, corpus()) != measure(pipeline[-1], corpus())


def test_no_proportions():
    theirs = NMF(n_components=2, init="random", random_state=0, max_iter=1000).fit(corpus())
    for model in theirs, known_model(np.array([[1.5, -0.5]]), np.ones((2, 30))):
        with pytest.raises(ValueError, match="must give proportions"):
            log_predictive_probability(model, corpus())


def test_bad_components():
    theta = np.full((120, 2), 0.5)
    for weight, match in (0.0, "a finite mass"), (-1.0, r"Negative values.*components_"):
        with pytest.raises(ValueError, match=match):
            log_predictive_probability(known_model(theta, [[1.0] * 30, [weight] * 30]), corpus())
    with pytest.raises(ValueError, match="X has 29 features, but the topics have 30"):
        log_predictive_probability(known_model(theta, np.ones((2, 30))), corpus()[:, :29])


@pytest.mark.parametrize("container", [np.array, sparse.csr_matrix])
def test_no_documents_of_another_width_are_refused(container):
    model = LatentDirichletAllocation(1, random_state=0).fit(np.eye(3))
    with pytest.raises(ValueError, match="X has 5 features, but the topics have 3"):
        perplexity(model, container(np.empty((0, 5))))
    assert np.isnan(perplexity(model, container(np.empty((0, 3)))))


def test_a_background_takes_part_in_the_score():
    """What a model predicts with is not its topics alone."""
    texts = make_lda_corpus(n_documents=400, n_features=60, mean_length=8, random_state=0).X
    model = StreamingMixture(4, background=0.4, random_state=0).fit(texts)
    assert log_predictive_probability(model, texts) == pytest.approx(model.score(texts), rel=1e-12)
    observed, held_out = completion_split(texts)
    own = model.held_out_log_probability(observed, held_out)
    assert_allclose(own, model.score_samples(texts), rtol=1e-12)
    topics = SimpleNamespace(components_=model.components_, transform=model.transform)
    assert log_predictive_probability(topics, texts) != pytest.approx(model.score(texts), rel=1e-3)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.held_out_log_probability(observed, held_out[:3])
