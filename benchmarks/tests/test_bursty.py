# SPDX-License-Identifier: BSD-3-Clause
"""`benchmarks.bursty`: counts that are damped, tables, the step of EM, and the table of results."""

from pathlib import Path

import numpy as np
from numpy.testing import assert_allclose
from scipy import sparse

from benchmarks.bursty import (
    FIGURES,
    KEY,
    MODELS,
    Model,
    as_they_are,
    damped,
    figures,
    models,
    stepped,
    table,
    tables,
)
from benchmarks.results import append
from benchmarks.text_quality import Documents
from streamtopics.metrics.predictive import token_log_probability
from tests.metrics.test_own_words import bursty

X = bursty(200)
ROOT = Path(__file__).parents[2]


def test_further_tokens_count_less():
    found = damped(sparse.csr_matrix([[1.0, 2.0, 3.0, 0.0]]))
    assert_allclose(found.toarray(), [[1, 1 + 1 / 2, 1 + 1 / 2 + 1 / 3, 0]])


def known():
    topics = np.random.default_rng(0).dirichlet(np.full(X.shape[1], 0.5), size=3)
    return Model(topics, np.full(3, 0.5), as_they_are)


def test_tables_are_those_of_a_chinese_restaurant():
    assert_allclose(tables(X, known(), 1e12).data, X.data, rtol=1e-3)
    assert_allclose(tables(X, known(), 1e-9).data, 1, rtol=1e-6)
    one = Model(np.array([[0.25, 0.75]]), np.ones(1), as_they_are)
    customers = sparse.csr_matrix([[4.0, 2.0]])
    # The next customer of a word of weight a opens a table with the probability a / (a + seated).
    expected = [sum(a / (a + seated) for seated in range(n)) for a, n in ((2.0, 4), (6.0, 2))]
    assert_allclose(tables(customers, one, 8.0).toarray(), [expected])


def test_a_step_of_em_is_one_over_all_tokens():
    model, found = known(), stepped(known(), X)
    theta, expected = model.transform(X), np.full(model.topics.shape, 0.02)
    for d, w in zip(*X.nonzero(), strict=True):
        share = theta[d] * model.topics[:, w]
        expected[:, w] += X[d, w] * share / share.sum()
    assert_allclose(found.topics, expected / expected.sum(axis=1, keepdims=True))
    before, after = (token_log_probability(theta, one.topics, X).sum() for one in (model, found))
    assert after > before


def test_words_that_come_again_are_told_by_documents_alone():
    nothing = np.full(200, None)
    split = Documents(X, bursty(80, seed=1), nothing, nothing[:80])
    found = {name: figures(model, split) for name, model in models(X, 3, seed=0)}
    assert set(found) == set(MODELS)
    for name, values in found.items():
        assert values["document"] > values["score"] + 0.1
        assert ("npmi" in values) == (name != "unigram")


def test_the_table_of_the_documentation_is_that_of_the_results():
    page = ROOT / "doc" / "measured" / "bursty.csv"
    told = "python -m benchmarks.bursty --table > doc/measured/bursty.csv"
    assert page.read_text(encoding="utf-8") == table(ROOT / "benchmarks" / "bursty.csv") + "\n", (
        told
    )


def test_differences_are_from_plain(tmp_path):
    path = tmp_path / "rows.csv"
    for seed, (plain, other) in enumerate([(-5.0, -4.9), (-6.0, -5.7)]):
        for name, score in (("plain", plain), ("tables", other)):
            row = dict(zip(KEY, ("a", "3", str(seed), name), strict=True)) | {"score": score}
            append(path, (*KEY, *FIGURES), row)
    lines = table(path).splitlines()
    assert "a,3,plain,-5.500,,,,," in lines
    # t of one degree of freedom is 12.706 at .975; the standard error is .1.
    assert lines[-1] == "a,3,  less plain,+0.200 ± 1.271,,,,,"
