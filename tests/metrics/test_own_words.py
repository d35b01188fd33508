# SPDX-License-Identifier: BSD-3-Clause
"""Scores with the words of the document itself, against token-by-token twins and their limits."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import gammaln
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from streamtopics import GuidedTopics, StreamingLDA, StreamingMixture
from streamtopics.metrics import completion_split, log_predictive_probability
from streamtopics.metrics.own_words import OwnWords
from streamtopics.metrics.predictive import _own_words

MODELS = [
    StreamingLDA(3, random_state=0),
    StreamingMixture(3, random_state=0),
    LatentDirichletAllocation(3, random_state=0),
]


def bursty(n_documents, weight=20.0, n_features=40, length=60, seed=0):
    """Counts of documents whose words come again, and some without a word."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(n_features, 0.3), size=3)
    words = weight * (rng.dirichlet(np.full(3, 0.3), size=n_documents) @ topics)
    own = rng.gamma(words + 1e-12)
    X = rng.poisson(length * own / own.sum(axis=1, keepdims=True))
    X[::17] = 0
    return sparse.csr_matrix(X.astype(np.float64))


def by_document(model, X, X_train, **more):
    return log_predictive_probability(model, X, predictive="document", X_train=X_train, **more)


def twin(doc_topic, topic_word, observed, held_out, weight):
    """Log probability of all held-out tokens, one after the other."""
    total = 0.0
    for theta, seen, asked in zip(doc_topic, observed.toarray(), held_out.toarray(), strict=True):
        for word in np.repeat(np.arange(len(asked)), asked.astype(int)):
            p = sum(share * topic[word] for share, topic in zip(theta, topic_word, strict=True))
            total += np.log((weight * p + seen[word]) / (weight + seen.sum()))
    return total


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_score_is_that_of_tokens_one_by_one_at_the_best_weight(model):
    X, X_train = bursty(40, seed=1), bursty(80)
    model.fit(X_train)
    parts = {}
    for name, of in (("test", X), ("train", X_train)):
        observed, held_out = completion_split(of)
        if isinstance(model, LatentDirichletAllocation):
            topics = model.components_ / model.components_.sum(axis=1, keepdims=True)
            parts[name] = model.transform(observed), topics, observed, held_out
        else:  # with the background, where there is one
            every = np.arange(X.shape[1], dtype=np.int32)
            shares = model._inferred(lambda pool, given=observed: model._infer(given, pool))
            parts[name] = shares, model._topics_of(every), observed, held_out
    weight = _own_words(model, X_train, 0, "X_train").fitted_weight()
    others = [twin(*parts["train"], weight * factor) for factor in (0.1, 0.95, 1.05, 10.0)]
    assert twin(*parts["train"], weight) > max(others)
    expected = twin(*parts["test"], weight) / parts["test"][-1].sum()
    assert by_document(model, X, X_train) == pytest.approx(expected, rel=1e-6)
    assert by_document(model, X, X_train) > log_predictive_probability(model, X) + 0.05


def entries(n=2000, seed=0):
    """Words of a Dirichlet process with the weight 30, one after another."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(0.01, 0.2, n)
    total = rng.integers(1, 200, n).astype(np.float64)
    counts = rng.binomial(total.astype(int), p).astype(np.float64)
    return p, counts, total


def test_the_limits_of_the_weight():
    p, n, total = entries()
    words = OwnWords(p, n, total, np.ones(len(p)))
    assert_allclose(words.log_probability(1e15), np.log(p).sum())
    seen = n > 0
    only = OwnWords(p[seen], n[seen], total[seen], np.ones(seen.sum()))
    assert_allclose(only.log_probability(0.0), np.log((n / total)[seen]).sum())
    unread = OwnWords(p, np.zeros(len(p)), np.zeros(len(p)), np.ones(len(p)))
    assert_allclose(unread.log_probability(3.0), np.log(p).sum())


def test_one_by_one_it_is_the_dirichlet_compound_multinomial():
    base, weight, counts = np.array([0.5, 0.3, 0.2]), 4.0, [3, 0, 2]
    seen, found = np.zeros(3), 0.0
    for word in np.repeat(np.arange(3), counts):
        row = (np.array([x]) for x in (base[word], seen[word], seen.sum(), 1.0))
        found += OwnWords(*row).log_probability(weight)
        seen[word] += 1
    a = weight * base
    exact = gammaln(weight) - gammaln(weight + 5) + (gammaln(a + counts) - gammaln(a)).sum()
    assert_allclose(found, exact)


@pytest.mark.parametrize("weight", [2.0, 30.0, 400.0])
def test_the_weight_is_found_again(weight):
    p, n, total = entries(200_000)
    asked = np.random.default_rng(1).random(len(p)) < (weight * p + n) / (weight + total)
    other = OwnWords(1 - p, total - n, total, (~asked).astype(float))
    own = OwnWords(p, n, total, asked.astype(float))
    both = OwnWords(*(np.concatenate(pair) for pair in zip(own, other, strict=True)))
    assert both.fitted_weight() == pytest.approx(weight, rel=0.1)


def test_where_no_word_comes_again_the_topics_predict_alone():
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix((rng.random((300, 50)) < 0.15).astype(float))
    model = StreamingLDA(3, random_state=0).fit(X)
    assert by_document(model, X, X) == pytest.approx(log_predictive_probability(model, X), abs=1e-6)


def test_pipelines_and_frames_are_scored_as_their_counts():
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["sea", "sky", "sun", "salt"], 9)) for _ in range(60)]
    counter = CountVectorizer()
    X = counter.fit_transform(texts)
    model = StreamingLDA(2, random_state=0).fit(X)
    expected = by_document(model, X[:20], X)
    pipe = make_pipeline(counter, model)
    assert by_document(pipe, texts[:20], texts) == pytest.approx(expected, abs=1e-6)
    frame = pd.DataFrame(X.toarray(), columns=counter.get_feature_names_out())
    named = StreamingLDA(2, random_state=0).fit(frame)
    assert by_document(named, frame[:20], frame) == pytest.approx(expected, abs=1e-6)
    guided = GuidedTopics({"water": ["sea"], "air": ["sky"]}, random_state=0)
    assert np.isfinite(by_document(guided.fit(frame), frame[:20], frame))


def test_documents_do_not_depend_on_their_order_or_each_other():
    X, X_train = bursty(40, seed=1), bursty(80)
    model = StreamingLDA(3, random_state=0).fit(X_train)
    order = np.random.default_rng(0).permutation(80)
    assert by_document(model, X, X_train[order]) == pytest.approx(by_document(model, X, X_train))
    assert by_document(model, X, X_train, random_state=1) != by_document(model, X, X_train)
    assert np.isnan(by_document(model, X[:1] * 0, X_train))


def test_what_does_not_go_together_is_refused():
    X = bursty(40)
    model = StreamingLDA(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"goes with X_train; got no X_train"):
        log_predictive_probability(model, X, predictive="document")
    with pytest.raises(ValueError, match=r"goes with X_train; got X_train with 'topics'"):
        log_predictive_probability(model, X, X_train=X)
    with pytest.raises(ValueError, match="predictive must be one of"):
        log_predictive_probability(model, X, predictive="cache")
    with pytest.raises(ValueError, match="X_train must have a token to hold out"):
        by_document(model, X, X[:3] * 0)
    with pytest.raises(ValueError, match=r"X_train must have the columns.*40 features.*got 7"):
        by_document(model, X, X[:, :7])
